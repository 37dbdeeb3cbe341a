//! AArch64 at EL1, guests on SP_EL0: the way back is an exception return.
//!
//! A Linux process on this instruction set would need a way back without ELR and SPSR.

use crate::preempt::preempted;
use crate::trap::trapped;
use core::arch::naked_asm;

/// Registers of an interrupted context.
#[allow(missing_docs, reason = "named as the manual names them")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Registers {
    pub elr: u64,
    pub spsr: u64,
    /// SP_EL0.
    pub sp: u64,
    /// x29.
    pub fp: u64,
    pub x0: u64,
    pub x1: u64,
}

impl Registers {
    /// Makes a context that a fault stopped in Wasm code ([`is_wasm`](crate::is_wasm)) go on in the engine,
    /// which ends the thread.
    pub fn divert_trap(&mut self) {
        self.x0 = self.elr;
        self.x1 = self.fp;
        self.sp &= !15;
        self.elr = trapped as *const () as u64;
    }

    /// Makes a context for which [`on_interrupt`](crate::on_interrupt) answered
    /// [`Interrupt::Preempt`](crate::Interrupt::Preempt) give up the CPU; resumed, it goes on where it was.
    ///
    /// # Safety
    /// The registers are those of a context interrupted in Wasm code, which uses nothing below its stack
    /// pointer, and the memory there is its stack.
    pub unsafe fn divert_preempt(&mut self) {
        self.sp -= 32;
        // SAFETY: by the caller's promise this is free stack; its headroom has room for the frame.
        unsafe { (self.sp as *mut [u64; 4]).write([self.elr, self.spsr, self.x0, self.x1]) };
        self.elr = preempt as *const () as u64;
    }
}

/// Saves every register, gives up the CPU, and returns to the interrupted code. On entry the stack holds,
/// upwards: elr, spsr, x0, x1.
#[unsafe(naked)]
unsafe extern "C" fn preempt() {
    naked_asm!(
        "sub sp, sp, #784",
        "stp x2, x3, [sp, #16]",
        "stp x4, x5, [sp, #32]",
        "stp x6, x7, [sp, #48]",
        "stp x8, x9, [sp, #64]",
        "stp x10, x11, [sp, #80]",
        "stp x12, x13, [sp, #96]",
        "stp x14, x15, [sp, #112]",
        "stp x16, x17, [sp, #128]",
        "stp x18, x19, [sp, #144]",
        "stp x20, x21, [sp, #160]",
        "stp x22, x23, [sp, #176]",
        "stp x24, x25, [sp, #192]",
        "stp x26, x27, [sp, #208]",
        "stp x28, x29, [sp, #224]",
        "mrs x0, fpcr",
        "mrs x1, fpsr",
        "stp x30, x0, [sp, #240]",
        "str x1, [sp, #256]",
        "add x4, sp, #272",
        "stp q0, q1, [x4], #32",
        "stp q2, q3, [x4], #32",
        "stp q4, q5, [x4], #32",
        "stp q6, q7, [x4], #32",
        "stp q8, q9, [x4], #32",
        "stp q10, q11, [x4], #32",
        "stp q12, q13, [x4], #32",
        "stp q14, q15, [x4], #32",
        "stp q16, q17, [x4], #32",
        "stp q18, q19, [x4], #32",
        "stp q20, q21, [x4], #32",
        "stp q22, q23, [x4], #32",
        "stp q24, q25, [x4], #32",
        "stp q26, q27, [x4], #32",
        "stp q28, q29, [x4], #32",
        "stp q30, q31, [x4], #32",
        "mov x0, x29",
        "bl {preempted}",
        "add x4, sp, #272",
        "ldp q0, q1, [x4], #32",
        "ldp q2, q3, [x4], #32",
        "ldp q4, q5, [x4], #32",
        "ldp q6, q7, [x4], #32",
        "ldp q8, q9, [x4], #32",
        "ldp q10, q11, [x4], #32",
        "ldp q12, q13, [x4], #32",
        "ldp q14, q15, [x4], #32",
        "ldp q16, q17, [x4], #32",
        "ldp q18, q19, [x4], #32",
        "ldp q20, q21, [x4], #32",
        "ldp q22, q23, [x4], #32",
        "ldp q24, q25, [x4], #32",
        "ldp q26, q27, [x4], #32",
        "ldp q28, q29, [x4], #32",
        "ldp q30, q31, [x4], #32",
        "ldp x30, x0, [sp, #240]",
        "ldr x1, [sp, #256]",
        "msr fpcr, x0",
        "msr fpsr, x1",
        "ldp x2, x3, [sp, #16]",
        "ldp x4, x5, [sp, #32]",
        "ldp x6, x7, [sp, #48]",
        "ldp x8, x9, [sp, #64]",
        "ldp x10, x11, [sp, #80]",
        "ldp x12, x13, [sp, #96]",
        "ldp x14, x15, [sp, #112]",
        "ldp x16, x17, [sp, #128]",
        "ldp x18, x19, [sp, #144]",
        "ldp x20, x21, [sp, #160]",
        "ldp x22, x23, [sp, #176]",
        "ldp x24, x25, [sp, #192]",
        "ldp x26, x27, [sp, #208]",
        "ldp x28, x29, [sp, #224]",
        "add sp, sp, #784",
        // An exception from here on would overwrite what the return needs.
        "msr daifset, #2",
        "ldp x0, x1, [sp]",
        "msr elr_el1, x0",
        "msr spsr_el1, x1",
        "ldp x0, x1, [sp, #16]",
        "add sp, sp, #32",
        "eret",
        preempted = sym preempted,
    )
}

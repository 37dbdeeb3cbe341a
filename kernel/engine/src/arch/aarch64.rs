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

/// General registers that the handler has not saved: x2 to x30.
macro_rules! integer {
    () => {
        concat!(
            "2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, ",
            "16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30",
        )
    };
}

/// Vector registers.
macro_rules! vector {
    () => {
        concat!(
            "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, ",
            "16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
        )
    };
}

/// Saves every register, gives up the CPU, and returns to the interrupted code. On entry the stack holds,
/// upwards: elr, spsr, x0, x1. The frame below it: fpcr, fpsr, x2 to x30 at 8 times their number, the vector
/// registers from 256 on.
#[unsafe(naked)]
unsafe extern "C" fn preempt() {
    naked_asm!(
        "sub sp, sp, #768",
        concat!(".irp n, ", integer!()),
        "str x\\n, [sp, #(8 * \\n)]",
        ".endr",
        concat!(".irp n, ", vector!()),
        "str q\\n, [sp, #(256 + 16 * \\n)]",
        ".endr",
        "mrs x0, fpcr",
        "mrs x1, fpsr",
        "stp x0, x1, [sp]",
        "mov x0, x29",
        "bl {preempted}",
        "ldp x0, x1, [sp]",
        "msr fpcr, x0",
        "msr fpsr, x1",
        concat!(".irp n, ", vector!()),
        "ldr q\\n, [sp, #(256 + 16 * \\n)]",
        ".endr",
        concat!(".irp n, ", integer!()),
        "ldr x\\n, [sp, #(8 * \\n)]",
        ".endr",
        "add sp, sp, #768",
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

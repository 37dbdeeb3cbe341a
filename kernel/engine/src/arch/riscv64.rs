//! RISC-V (RV64GC) in supervisor mode: the way back is `sret`.
//!
//! Every register is saved, because a thread may be preempted between any two instructions. The siblings of
//! this file have the same items; `arch.rs` picks one.

use crate::preempt::preempted;
use crate::trap::trapped;
use core::arch::naked_asm;

/// Registers of an interrupted context.
#[allow(missing_docs, reason = "named as the manual names them")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Registers {
    pub sepc: u64,
    pub sstatus: u64,
    pub sp: u64,
    /// The frame pointer, s0.
    pub fp: u64,
    pub t0: u64,
    pub a0: u64,
    pub a1: u64,
}

impl Registers {
    /// Makes a context that a fault stopped in Wasm code ([`is_wasm`](crate::is_wasm)) go on in the engine,
    /// which ends the thread.
    pub fn divert_trap(&mut self) {
        self.a0 = self.sepc;
        self.a1 = self.fp;
        self.sp &= !15;
        self.sepc = trapped as *const () as u64;
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
        unsafe { (self.sp as *mut [u64; 3]).write([self.sepc, self.sstatus, self.t0]) };
        self.sepc = preempt as *const () as u64;
    }
}

/// Saves every register, gives up the CPU, and returns to the interrupted code. On entry the stack holds,
/// upwards: sepc, sstatus, t0.
#[unsafe(naked)]
unsafe extern "C" fn preempt() {
    naked_asm!(
        // The assembler is not told what the target has.
        ".option push",
        ".option arch, +d",
        "addi sp, sp, -544",
        "sd x1, 8(sp)",
        "sd x3, 24(sp)",
        "sd x4, 32(sp)",
        "sd x6, 48(sp)",
        "sd x7, 56(sp)",
        "sd x8, 64(sp)",
        "sd x9, 72(sp)",
        "sd x10, 80(sp)",
        "sd x11, 88(sp)",
        "sd x12, 96(sp)",
        "sd x13, 104(sp)",
        "sd x14, 112(sp)",
        "sd x15, 120(sp)",
        "sd x16, 128(sp)",
        "sd x17, 136(sp)",
        "sd x18, 144(sp)",
        "sd x19, 152(sp)",
        "sd x20, 160(sp)",
        "sd x21, 168(sp)",
        "sd x22, 176(sp)",
        "sd x23, 184(sp)",
        "sd x24, 192(sp)",
        "sd x25, 200(sp)",
        "sd x26, 208(sp)",
        "sd x27, 216(sp)",
        "sd x28, 224(sp)",
        "sd x29, 232(sp)",
        "sd x30, 240(sp)",
        "sd x31, 248(sp)",
        "fsd f0, 256(sp)",
        "fsd f1, 264(sp)",
        "fsd f2, 272(sp)",
        "fsd f3, 280(sp)",
        "fsd f4, 288(sp)",
        "fsd f5, 296(sp)",
        "fsd f6, 304(sp)",
        "fsd f7, 312(sp)",
        "fsd f8, 320(sp)",
        "fsd f9, 328(sp)",
        "fsd f10, 336(sp)",
        "fsd f11, 344(sp)",
        "fsd f12, 352(sp)",
        "fsd f13, 360(sp)",
        "fsd f14, 368(sp)",
        "fsd f15, 376(sp)",
        "fsd f16, 384(sp)",
        "fsd f17, 392(sp)",
        "fsd f18, 400(sp)",
        "fsd f19, 408(sp)",
        "fsd f20, 416(sp)",
        "fsd f21, 424(sp)",
        "fsd f22, 432(sp)",
        "fsd f23, 440(sp)",
        "fsd f24, 448(sp)",
        "fsd f25, 456(sp)",
        "fsd f26, 464(sp)",
        "fsd f27, 472(sp)",
        "fsd f28, 480(sp)",
        "fsd f29, 488(sp)",
        "fsd f30, 496(sp)",
        "fsd f31, 504(sp)",
        "csrr t0, fcsr",
        "sd t0, 520(sp)",
        "mv a0, s0",
        "call {preempted}",
        "ld t0, 520(sp)",
        "csrw fcsr, t0",
        "fld f0, 256(sp)",
        "fld f1, 264(sp)",
        "fld f2, 272(sp)",
        "fld f3, 280(sp)",
        "fld f4, 288(sp)",
        "fld f5, 296(sp)",
        "fld f6, 304(sp)",
        "fld f7, 312(sp)",
        "fld f8, 320(sp)",
        "fld f9, 328(sp)",
        "fld f10, 336(sp)",
        "fld f11, 344(sp)",
        "fld f12, 352(sp)",
        "fld f13, 360(sp)",
        "fld f14, 368(sp)",
        "fld f15, 376(sp)",
        "fld f16, 384(sp)",
        "fld f17, 392(sp)",
        "fld f18, 400(sp)",
        "fld f19, 408(sp)",
        "fld f20, 416(sp)",
        "fld f21, 424(sp)",
        "fld f22, 432(sp)",
        "fld f23, 440(sp)",
        "fld f24, 448(sp)",
        "fld f25, 456(sp)",
        "fld f26, 464(sp)",
        "fld f27, 472(sp)",
        "fld f28, 480(sp)",
        "fld f29, 488(sp)",
        "fld f30, 496(sp)",
        "fld f31, 504(sp)",
        "ld x1, 8(sp)",
        "ld x3, 24(sp)",
        "ld x4, 32(sp)",
        "ld x6, 48(sp)",
        "ld x7, 56(sp)",
        "ld x8, 64(sp)",
        "ld x9, 72(sp)",
        "ld x10, 80(sp)",
        "ld x11, 88(sp)",
        "ld x12, 96(sp)",
        "ld x13, 104(sp)",
        "ld x14, 112(sp)",
        "ld x15, 120(sp)",
        "ld x16, 128(sp)",
        "ld x17, 136(sp)",
        "ld x18, 144(sp)",
        "ld x19, 152(sp)",
        "ld x20, 160(sp)",
        "ld x21, 168(sp)",
        "ld x22, 176(sp)",
        "ld x23, 184(sp)",
        "ld x24, 192(sp)",
        "ld x25, 200(sp)",
        "ld x26, 208(sp)",
        "ld x27, 216(sp)",
        "ld x28, 224(sp)",
        "ld x29, 232(sp)",
        "ld x30, 240(sp)",
        "ld x31, 248(sp)",
        "addi sp, sp, 544",
        // A trap from here on would overwrite what the return needs.
        "csrci sstatus, 2",
        "ld t0, 0(sp)",
        "csrw sepc, t0",
        // Back to supervisor mode (SPP), with interrupts on (SPIE), as they were.
        "li t0, 0x120",
        "csrs sstatus, t0",
        "ld t0, 16(sp)",
        "addi sp, sp, 32",
        "sret",
        ".option pop",
        preempted = sym preempted,
    )
}

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

/// Integer registers but zero, sp, and t0, which the handler has saved.
macro_rules! integer {
    () => {
        concat!(
            "1, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, ",
            "16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
        )
    };
}

/// Floating-point registers.
macro_rules! float {
    () => {
        concat!(
            "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, ",
            "16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
        )
    };
}

/// Saves every register, gives up the CPU, and returns to the interrupted code. On entry the stack holds,
/// upwards: sepc, sstatus, t0. The frame below it: fcsr, x1 to x31 at 8 times their number, then f0 to f31.
#[unsafe(naked)]
unsafe extern "C" fn preempt() {
    naked_asm!(
        // The assembler knows nothing of the target's extensions in such a function.
        ".option push",
        ".option arch, +d",
        "addi sp, sp, -512",
        concat!(".irp n, ", integer!()),
        "sd x\\n, 8 * \\n(sp)",
        ".endr",
        concat!(".irp n, ", float!()),
        "fsd f\\n, 256 + 8 * \\n(sp)",
        ".endr",
        "csrr t0, fcsr",
        "sd t0, 0(sp)",
        "mv a0, s0",
        "call {preempted}",
        "ld t0, 0(sp)",
        "csrw fcsr, t0",
        concat!(".irp n, ", float!()),
        "fld f\\n, 256 + 8 * \\n(sp)",
        ".endr",
        concat!(".irp n, ", integer!()),
        "ld x\\n, 8 * \\n(sp)",
        ".endr",
        "addi sp, sp, 512",
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

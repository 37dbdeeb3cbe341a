//! x86-64, in any ring: the way back is `popfq` and `ret`, so it works for a Linux process and for a kernel.
//!
//! The CPU must have XSAVE, enabled. Saved are the x87, SSE and AVX states: `CpuFeature` knows no more.

use crate::preempt::preempted;
use crate::trap::trapped;
use core::arch::naked_asm;

/// Direction flag: clear in every function's code.
const DIRECTION: u64 = 1 << 10;

/// Registers of an interrupted context.
#[allow(missing_docs, reason = "named as the manual names them")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Registers {
    pub rip: u64,
    pub rsp: u64,
    pub rbp: u64,
    pub rflags: u64,
    pub rax: u64,
    pub rdi: u64,
    pub rsi: u64,
}

impl Registers {
    /// Makes a context that a fault stopped in Wasm code ([`is_wasm`](crate::is_wasm)) go on in the engine,
    /// which ends the thread.
    pub fn divert_trap(&mut self) {
        self.rdi = self.rip;
        self.rsi = self.rbp;
        // As after a call: aligned but for the return address.
        self.rsp = (self.rsp & !15) - 8;
        self.rflags &= !DIRECTION;
        self.rip = trapped as *const () as u64;
    }

    /// Makes a context for which [`on_interrupt`](crate::on_interrupt) answered
    /// [`Interrupt::Preempt`](crate::Interrupt::Preempt) give up the CPU; resumed, it goes on where it was.
    ///
    /// # Safety
    /// The registers are those of a context interrupted in Wasm code, which uses nothing below its stack
    /// pointer, and the memory there is its stack.
    pub unsafe fn divert_preempt(&mut self) {
        for word in [self.rip, self.rflags, self.rax] {
            self.rsp -= 8;
            // SAFETY: by the caller's promise this is free stack; its headroom has room for the frame.
            unsafe { (self.rsp as *mut u64).write(word) };
        }
        self.rip = preempt as *const () as u64;
    }
}

/// Saves every register, gives up the CPU, and returns to the interrupted code. On entry the stack holds,
/// upwards: rax, rflags, rip.
#[unsafe(naked)]
unsafe extern "C" fn preempt() {
    naked_asm!(
        "push rcx",
        "push rdx",
        "push rbx",
        "push rbp",
        "push rsi",
        "push rdi",
        "push r8",
        "push r9",
        "push r10",
        "push r11",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov rdi, rbp",
        "mov rbp, rsp",
        // The XSAVE area: 512 bytes legacy, 64 header, 256 AVX; its header must be zero.
        "sub rsp, 832",
        "and rsp, -64",
        "xor eax, eax",
        "mov [rsp + 512], rax",
        "mov [rsp + 520], rax",
        "mov [rsp + 528], rax",
        "mov [rsp + 536], rax",
        "mov [rsp + 544], rax",
        "mov [rsp + 552], rax",
        "mov [rsp + 560], rax",
        "mov [rsp + 568], rax",
        "mov eax, 7",
        "xor edx, edx",
        "xsave [rsp]",
        "cld",
        "call {preempted}",
        "mov eax, 7",
        "xor edx, edx",
        "xrstor [rsp]",
        "mov rsp, rbp",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop r11",
        "pop r10",
        "pop r9",
        "pop r8",
        "pop rdi",
        "pop rsi",
        "pop rbp",
        "pop rbx",
        "pop rdx",
        "pop rcx",
        "pop rax",
        "popfq",
        "ret",
        preempted = sym preempted,
    )
}

//! From a vector to Rust and back: every general register is saved, no vector register, because the kernel is
//! compiled without them.

use super::handle;
use core::arch::naked_asm;

/// What a handler finds on its stack.
#[repr(C)]
pub struct Frame {
    _r15_to_r8: [u64; 8],
    pub rdi: u64,
    pub rsi: u64,
    pub rbp: u64,
    _rbx_rdx_rcx: [u64; 3],
    pub rax: u64,
    pub vector: u64,
    pub code: u64,
    pub rip: u64,
    _cs: u64,
    pub rflags: u64,
    pub rsp: u64,
    _ss: u64,
}

/// The entry of a vector for which the CPU pushes no error code.
#[unsafe(naked)]
pub unsafe extern "C" fn plain<const VECTOR: u8>() {
    naked_asm!("push 0", "push {}", "jmp {}", const VECTOR as u64, sym common)
}

/// The entry of a vector for which it does.
#[unsafe(naked)]
pub unsafe extern "C" fn with_code<const VECTOR: u8>() {
    naked_asm!("push {}", "jmp {}", const VECTOR as u64, sym common)
}

#[unsafe(naked)]
unsafe extern "C" fn common() {
    naked_asm!(
        "push rax",
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
        "mov rdi, rsp",
        "cld",
        "call {handle}",
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
        "add rsp, 16",
        "iretq",
        handle = sym handle,
    )
}

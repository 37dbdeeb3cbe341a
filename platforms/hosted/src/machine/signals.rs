//! Signals: a fault in Wasm code becomes a trap of the guest, an interrupt in Wasm code a preemption. A fault
//! anywhere else is a bug of the kernel: it is reported, and the process dies of it.
//!
//! Handlers run on an alternate stack and only divert the interrupted context; what follows happens outside
//! the signal, on the thread's own stack, where it may suspend or unwind.

use super::context::Context;
use super::{cpu, report, timer};
use core::ffi::{c_int, c_void};
use core::mem::zeroed;
use core::ptr::null_mut;
use satrap_engine::{Interrupt, is_wasm, on_interrupt};
use std::io;

/// The preemption interrupt. By default it is ignored, so that none can kill a thread that is no CPU.
pub const PREEMPT: c_int = libc::SIGURG;

const FAULTS: [c_int; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE];

/// Bytes of an alternate stack: a signal frame with every vector register is about 4 KiB, a report needs more.
const ALTERNATE: usize = 64 << 10;

/// Installs the handlers, for the whole process.
pub fn install() {
    for fault in FAULTS {
        handle(fault, on_fault as *const () as usize);
    }
    handle(PREEMPT, on_preempt as *const () as usize);
    report::prepare();
}

fn handle(signal: c_int, handler: usize) {
    // SAFETY: zero is a valid `sigaction`, and both handlers have the signature that `SA_SIGINFO` asks for.
    let result = unsafe {
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = handler;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
        libc::sigaddset(&mut action.sa_mask, PREEMPT);
        libc::sigaction(signal, &action, null_mut())
    };
    // It fails only for signals that do not exist or cannot be handled; ours can.
    assert_eq!(result, 0, "signal {signal}: {}", io::Error::last_os_error());
}

extern "C" fn on_preempt(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: `errno` belongs to the code that was interrupted.
    let errno = unsafe { *libc::__errno_location() };
    // SAFETY: our own third argument.
    let mut context = unsafe { Context::new(context) };
    match on_interrupt(cpu::words(), context.pc()) {
        Interrupt::Defer => {}
        // SAFETY: the engine says that the context is in Wasm code, which runs on a stack of the engine's and
        // has no red zone.
        Interrupt::Preempt => context.change(|registers| unsafe { registers.divert_preempt() }),
        Interrupt::Retry => timer::interrupt_soon(),
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: our own third argument.
    let mut context = unsafe { Context::new(context) };
    if is_wasm(context.pc()) {
        context.change(satrap_engine::arch::Registers::divert_trap);
        return;
    }
    // SAFETY: with `SA_SIGINFO` Linux passes a valid `siginfo_t`; a fault's has an address.
    let address = unsafe { (*info).si_addr() } as usize;
    report::fault(signal, context.pc(), address);
    // SAFETY: the default action needs no memory. On return the fault happens again, and kills the process.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

/// The alternate stack of a thread.
pub struct AlternateStack {
    _memory: Box<[u8]>,
    before: libc::stack_t,
}

impl AlternateStack {
    /// Gives the calling thread one.
    pub fn install() -> io::Result<AlternateStack> {
        let mut memory = vec![0; ALTERNATE].into_boxed_slice();
        let stack = libc::stack_t {
            ss_sp: memory.as_mut_ptr().cast(),
            ss_flags: 0,
            ss_size: memory.len(),
        };
        let mut before = libc::stack_t {
            ss_sp: null_mut(),
            ss_flags: libc::SS_DISABLE,
            ss_size: 0,
        };
        // SAFETY: the memory lives until `drop` has taken it back from Linux.
        if unsafe { libc::sigaltstack(&stack, &mut before) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(AlternateStack {
            _memory: memory,
            before,
        })
    }
}

impl Drop for AlternateStack {
    fn drop(&mut self) {
        // SAFETY: what the thread had before, on the same thread: a `CpuThread` cannot leave it.
        unsafe { libc::sigaltstack(&self.before, null_mut()) };
    }
}

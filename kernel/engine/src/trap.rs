//! Traps: from a fault in Wasm code, or the wish to kill, to an [`ExitStatus`].
//!
//! The machine reports a fault with its place; if that is Wasm code, the thread unwinds to where it was
//! entered and its process ends with the reason. Anything else is the machine's own fault and not handled
//! here.

use crate::coroutine::{Control, running};
use core::fmt;
use core::mem::transmute;
use satrap_abi::{ExitStatus, Trap};
use satrap_kernel::engine::End;
use satrap_sync::{AtomicUsize, Ordering};

/// wasmtime's handler: program counter, frame pointer, whether there is a fault address, the fault address.
/// It returns only if the fault is not Wasm's.
pub(crate) type Handler = extern "C" fn(usize, usize, bool, usize);

/// The handler's address, or 0.
static HANDLER: AtomicUsize = AtomicUsize::new(0);

/// Remembers wasmtime's handler.
pub(crate) fn install(handler: Handler) {
    HANDLER.store(handler as usize, Ordering::Release);
}

/// Whether wasmtime has given its handler, hence whether it uses the symbols of this crate.
pub(crate) fn installed() -> bool {
    HANDLER.load(Ordering::Acquire) != 0
}

/// Enters wasmtime's handler, which leaves this stack for the point where Wasm was entered. The fault address
/// is withheld: the code at `pc` already says what kind of trap it is, and for a guest's own fault the engine
/// would only look it up for a message.
fn enter_handler(pc: usize, frame_pointer: usize) {
    let handler = HANDLER.load(Ordering::Acquire);
    if handler != 0 {
        // SAFETY: only `install` stores here, and it stores a `Handler`.
        unsafe { transmute::<usize, Handler>(handler)(pc, frame_pointer, false, 0) };
    }
}

/// Where a fault in Wasm code goes on, outside the exception, on the faulting stack.
pub(crate) extern "C" fn trapped(pc: usize, frame_pointer: usize) -> ! {
    enter_handler(pc, frame_pointer);
    panic!("fault at {pc:#x}, in Wasm code but not at a trap: an error of the compiler or of the engine");
}

/// Ends the running thread, which was preempted: wasmtime unwinds as if its code had trapped.
pub(crate) fn unwind(frame_pointer: usize) -> ! {
    let pc = running().map_or(0, Control::trap_pc);
    enter_handler(pc, frame_pointer);
    panic!("the trap at {pc:#x} that the artifact names is none");
}

/// The error with which a kernel call ends its thread.
#[derive(Debug)]
struct Ended(ExitStatus);

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl core::error::Error for Ended {}

/// The error that unwinds through wasmtime and comes out of [`status`] again.
#[cold]
pub(crate) fn error(end: End) -> wasmtime::Error {
    wasmtime::Error::new(Ended(end.0))
}

/// How a thread ended whose Wasm code returned with this error.
pub(crate) fn status(control: &Control, error: &wasmtime::Error) -> ExitStatus {
    if control.dying() {
        return ExitStatus::Killed;
    }
    match error.downcast_ref::<Ended>() {
        Some(Ended(status)) => *status,
        None => ExitStatus::Trap(error.downcast_ref().map_or(Trap::Other, |trap| kind(*trap))),
    }
}

fn kind(trap: wasmtime::Trap) -> Trap {
    use wasmtime::Trap as Wasm;
    match trap {
        Wasm::UnreachableCodeReached => Trap::Unreachable,
        Wasm::MemoryOutOfBounds => Trap::MemoryOutOfBounds,
        Wasm::StackOverflow => Trap::StackOverflow,
        Wasm::IntegerDivisionByZero => Trap::DivisionByZero,
        Wasm::IntegerOverflow | Wasm::BadConversionToInteger => Trap::IntegerOverflow,
        Wasm::IndirectCallToNull | Wasm::BadSignature => Trap::BadIndirectCall,
        Wasm::TableOutOfBounds => Trap::TableOutOfBounds,
        _ => Trap::Other,
    }
}

//! Preemption: only Wasm code is ever interrupted, so kernel code needs no preemption-safe locks and compiled
//! code no epoch checks, which cost up to 46 % (DESIGN §3).
//!
//! The platform's handler asks [`on_interrupt`]; if the answer is to preempt, it makes the interrupted context
//! go on in the trampoline of [`arch`](crate::arch), which saves every register and calls [`preempted`].

use crate::code;
use crate::coroutine::pause;
use crate::machine::Cpu;
use crate::trap;
use satrap_kernel::engine::{Pause, Resume};
use satrap_sync::Ordering;

/// What the handler of a preemption interrupt is to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interrupt {
    /// Nothing: no thread runs. The next one that this CPU runs gets the interrupt, so that none is lost
    /// between the timer's arming and the thread's first instruction.
    Defer,
    /// Divert the interrupted context to the preemption trampoline.
    Preempt,
    /// Call [`Machine::interrupt_soon`](crate::Machine::interrupt_soon): a thread runs, but in the kernel. It
    /// gives up the CPU when its kernel call returns; but the call may have been about to return just now.
    Retry,
}

/// Answers a preemption interrupt that hit this CPU, whose words are `cpu`, at `pc`. Safe in any handler.
pub fn on_interrupt(cpu: &Cpu, pc: usize) -> Interrupt {
    // SAFETY: the control of a running coroutine is alive, and we interrupted the CPU that runs it.
    let Some(control) = (unsafe { cpu.running.get().as_ref() }) else {
        cpu.interrupted.store(true, Ordering::Relaxed);
        return Interrupt::Defer;
    };
    if code::is_function(pc) {
        return Interrupt::Preempt;
    }
    control.set_pending();
    Interrupt::Retry
}

/// Called by the trampoline on the interrupted stack, with the interrupted frame pointer. Returns when the
/// thread may go on.
pub(crate) extern "C" fn preempted(frame_pointer: usize) {
    if pause(Pause::Preempted) == Resume::Die {
        trap::unwind(frame_pointer);
    }
}

//! Coroutines: one for each thread, so that a kernel call can suspend in the middle and the executor can run
//! something else.
//!
//! The switch is `corosensei`'s: inlined at both ends, so that no return instruction is predicted wrongly on the
//! other stack. `suspend` and what calls it in the kernel stay shallow for the same reason.
//!
//! A coroutine may be resumed on another CPU than before. What wasmtime keeps for each CPU, one word, is
//! therefore the coroutine's own and swapped in and out like a register.

use crate::machine::{Cpu, cpu, machine};
use crate::stack::{Stack, Stacks};
use alloc::sync::Arc;
use core::cell::Cell;
use core::mem::ManuallyDrop;
use core::ptr::{null, null_mut};
use corosensei::{CoroutineResult, Yielder};
use satrap_abi::ExitStatus;
use satrap_kernel::engine::{Pause, Resume};
use satrap_sync::{AtomicBool, Ordering};

type Fiber = corosensei::Coroutine<Resume, Pause, ExitStatus, Stack>;
type Switch = Yielder<Resume, Pause>;

/// What a coroutine, its owner and the interrupt handler of its CPU share.
pub(crate) struct Control {
    /// The way out, valid while the coroutine is alive and has started.
    switch: Cell<*const Switch>,
    /// wasmtime's word while the coroutine does not run.
    wasmtime: Cell<*mut u8>,
    /// An interrupt came while it could not be preempted.
    pending: AtomicBool,
    /// It was told to die.
    dying: Cell<bool>,
    /// Address of an instruction of its program that traps.
    trap_pc: usize,
}

// SAFETY: the cells are used by whoever runs the coroutine, on one CPU at a time; moving it between CPUs goes
// through its owner, which orders the accesses. The interrupt handler touches only `pending`.
unsafe impl Sync for Control {}
// SAFETY: as above; the raw pointers lead to the coroutine's own stack.
unsafe impl Send for Control {}

impl Control {
    pub(crate) fn new(trap_pc: usize) -> Arc<Control> {
        Arc::new(Control {
            switch: Cell::new(null()),
            wasmtime: Cell::new(null_mut()),
            pending: AtomicBool::new(false),
            dying: Cell::new(false),
            trap_pc,
        })
    }

    /// Whether it should give up the CPU at the next chance. Costs one load in every kernel call.
    #[inline(always)]
    pub(crate) fn pending(&self) -> bool {
        self.pending.load(Ordering::Relaxed)
    }

    /// Asks it to give up the CPU at the next chance. Called in its own CPU's interrupt handler.
    pub(crate) fn set_pending(&self) {
        self.pending.store(true, Ordering::Relaxed);
    }

    /// Whether it was told to die.
    pub(crate) fn dying(&self) -> bool {
        self.dying.get()
    }

    /// Address of an instruction that traps.
    pub(crate) fn trap_pc(&self) -> usize {
        self.trap_pc
    }
}

/// A coroutine that has not finished, or has and waits to be dropped.
pub(crate) struct Coroutine {
    fiber: ManuallyDrop<Fiber>,
    control: Arc<Control>,
    stacks: Arc<Stacks>,
}

// SAFETY: what stands on its stack is the body, which is `Send`, and frames of wasmtime and of the kernel,
// which keep nothing of the CPU across a suspension (see the module's documentation).
unsafe impl Send for Coroutine {}

impl Coroutine {
    /// A coroutine that will run `body` on `stack`. The body learns from the first resumption whether it is to
    /// run at all.
    pub(crate) fn new(
        control: Arc<Control>,
        stack: Stack,
        stacks: Arc<Stacks>,
        body: impl FnOnce(Resume) -> ExitStatus + Send + 'static,
    ) -> Coroutine {
        let shared = control.clone();
        let fiber = Fiber::with_stack(stack, move |switch: &Switch, first| {
            shared.switch.set(switch);
            body(first)
        });
        Coroutine {
            fiber: ManuallyDrop::new(fiber),
            control,
            stacks,
        }
    }

    /// Runs it until it pauses.
    #[inline]
    pub(crate) fn resume(&mut self, how: Resume) -> Pause {
        let control = &*self.control;
        control.pending.store(false, Ordering::Relaxed);
        control.dying.set(control.dying.get() || how == Resume::Die);
        // The caller is the executor, which stays on its CPU: the words are the same before and after.
        let cpu = cpu();
        let outer = enter(cpu, control);
        if cpu.interrupted.load(Ordering::Relaxed) {
            cpu.interrupted.store(false, Ordering::Relaxed);
            control.set_pending();
            machine().interrupt_soon();
        }
        let result = self.fiber.resume(how);
        leave(cpu, control, outer);
        match result {
            CoroutineResult::Return(status) => Pause::Finished(status),
            CoroutineResult::Yield(pause) => pause,
        }
    }
}

impl Drop for Coroutine {
    fn drop(&mut self) {
        while !self.fiber.done() {
            self.resume(Resume::Die);
        }
        // SAFETY: it is not used again.
        let fiber = unsafe { ManuallyDrop::take(&mut self.fiber) };
        self.stacks.give(fiber.into_stack());
    }
}

/// Words of the coroutine, or of the plain kernel code, that resumed another.
struct Outer {
    wasmtime: *mut u8,
    running: *const Control,
}

#[inline(always)]
fn enter(cpu: &Cpu, control: &Control) -> Outer {
    Outer {
        wasmtime: cpu.wasmtime.replace(control.wasmtime.get()),
        running: cpu.running.replace(control),
    }
}

#[inline(always)]
fn leave(cpu: &Cpu, control: &Control, outer: Outer) {
    cpu.running.set(outer.running);
    control.wasmtime.set(cpu.wasmtime.replace(outer.wasmtime));
}

/// Inside a coroutine: gives the CPU back to its owner until it is resumed. Not inlined, so that no caller
/// keeps anything of this CPU across it.
#[inline(never)]
pub(crate) fn pause(why: Pause) -> Resume {
    // SAFETY: the running coroutine's control is alive, and it has set its way out before its body began.
    unsafe {
        let control = cpu().running.get();
        assert!(!control.is_null(), "suspended outside a thread");
        (*(*control).switch.get()).suspend(why)
    }
}

/// The coroutine that runs on this CPU.
pub(crate) fn running() -> Option<&'static Control> {
    // SAFETY: while a coroutine runs, its owner holds the control; callers use it only during that time.
    unsafe { cpu().running.get().as_ref() }
}

//! Native stacks: one for each thread, guarded below, pooled because making one costs several system calls.
//!
//! The pool is bounded; beyond it, stacks are given back to the machine. `coroutine.rs` runs on them,
//! `machine.rs` is where their pages come from.

use crate::machine::{Protection, machine};
use alloc::vec::Vec;
use core::ptr::NonNull;
use corosensei::stack::StackPointer;
use satrap_abi::Errno;
use satrap_sync::SpinLock;

/// Inaccessible bytes below a stack. As large as the largest page, and more than any kernel function's frame.
const GUARD: usize = 64 << 10;
/// Bytes of a stack that Wasm code leaves alone: for kernel calls, saved registers (the preemption frame is
/// about 1 KiB), and the engine's trap handling.
pub(crate) const HEADROOM: usize = 64 << 10;
/// Smallest stack in bytes: as much for Wasm code as for the kernel.
const SIZE_MIN: usize = 2 * HEADROOM;
/// Largest stack in bytes.
const SIZE_MAX: usize = 64 << 20;
/// Idle stacks that are kept.
const IDLE_MAX: usize = 64;

/// A stack with its guard.
pub(crate) struct Stack {
    bottom: NonNull<u8>,
    size: usize,
}

// SAFETY: it is memory that its owner alone uses.
unsafe impl Send for Stack {}

impl Stack {
    fn new(size: usize) -> Result<Stack, Errno> {
        let bottom = machine().reserve(GUARD + size)?;
        let stack = Stack { bottom, size };
        // SAFETY: within the reservation just made; from here on `stack` gives it back.
        unsafe { machine().protect(bottom.add(GUARD), size, Protection::ReadWrite) }?;
        Ok(stack)
    }

    /// Address below which Wasm code must not grow the stack.
    pub(crate) fn wasm_limit(&self) -> usize {
        self.bottom.addr().get() + GUARD + HEADROOM
    }
}

// SAFETY: the pages between are the stack's alone, aligned to their size, with the guard below them.
unsafe impl corosensei::stack::Stack for Stack {
    fn base(&self) -> StackPointer {
        self.bottom.addr().saturating_add(GUARD + self.size)
    }

    fn limit(&self) -> StackPointer {
        self.bottom.addr()
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: reserved by `new`; the owner of a stack drops it when nothing runs on it any more.
        unsafe { machine().release(self.bottom, GUARD + self.size) };
    }
}

/// Idle stacks.
#[derive(Default)]
pub(crate) struct Stacks {
    idle: SpinLock<Vec<Stack>>,
}

impl Stacks {
    /// A stack of at least `size` bytes.
    pub(crate) fn take(&self, size: u32) -> Result<Stack, Errno> {
        let size = (size as usize).max(SIZE_MIN).next_multiple_of(GUARD);
        if size > SIZE_MAX {
            return Err(Errno::TooLarge);
        }
        let mut idle = self.idle.lock();
        match idle.iter().rposition(|stack| stack.size == size) {
            Some(place) => Ok(idle.swap_remove(place)),
            None => {
                drop(idle);
                Stack::new(size)
            }
        }
    }

    /// Takes back a stack on which nothing runs any more.
    pub(crate) fn give(&self, stack: Stack) {
        let mut idle = self.idle.lock();
        if idle.len() < IDLE_MAX {
            idle.push(stack);
        }
    }
}

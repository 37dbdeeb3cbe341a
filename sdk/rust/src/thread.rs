//! Threads of this process.
//!
//! Threads of one process take turns: one runs until it blocks in a kernel call (a receive, a wait, a sleep,
//! a join, `yield_now`), and only then another does; the timer preempts the whole process. So between two
//! blocking calls a thread has the process's memory to itself. Two consequences: a `std::sync::Mutex` is
//! never contended unless it is held across a blocking call, which panics the next thread that locks it; and
//! `thread_local!` values are shared by all threads of the process.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::Error;
use crate::raw::{self, ThreadBody, calls};

/// Stack of a thread, in bytes of linear memory, if [`Builder::stack_size`] does not say otherwise. (The
/// native stack beneath it is the manifest's `stack`.)
pub const STACK_SIZE: usize = 256 << 10;

/// Stacks of ended threads, kept for the next ones.
static IDLE_STACKS: Mutex<Vec<Stack>> = Mutex::new(Vec::new());

/// Most stacks kept; more are freed.
const IDLE_STACKS_MAX: usize = 16;

/// Starts a thread. It is detached when the handle is dropped.
pub fn spawn<T, F>(body: F) -> Result<JoinHandle<T>, Error>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Builder::new().spawn(body)
}

/// Starts threads with a stack of another size.
#[derive(Clone, Debug)]
pub struct Builder {
    stack_size: usize,
}

impl Builder {
    /// The defaults.
    pub const fn new() -> Builder {
        Builder {
            stack_size: STACK_SIZE,
        }
    }

    /// Bytes of stack, rounded up to 16. Nothing guards a stack's end: a thread that overruns it writes over
    /// the heap.
    pub const fn stack_size(self, bytes: usize) -> Builder {
        Builder { stack_size: bytes }
    }

    /// Starts a thread.
    pub fn spawn<T, F>(&self, body: F) -> Result<JoinHandle<T>, Error>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let result = Arc::new(Mutex::new(None));
        let slot = result.clone();
        let stack = Stack::take(self.stack_size);
        let top = stack.top();
        let body = ThreadBody::new(move || {
            let value = body();
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
            // From here to the thread's end is no kernel call, so no other thread can take the stack yet.
            stack.retire();
        });
        let id = calls::thread_spawn(body, top)?;
        Ok(JoinHandle { id, result })
    }
}

impl Default for Builder {
    fn default() -> Builder {
        Builder::new()
    }
}

/// A thread that was started, and its result to come.
pub struct JoinHandle<T> {
    id: u32,
    result: Arc<Mutex<Option<T>>>,
}

impl<T> JoinHandle<T> {
    /// The thread's id.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Waits for the thread's end and takes its result. (A thread that panics ends the whole process.)
    pub fn join(self) -> Result<T, Error> {
        calls::check(raw::thread_join(self.id as i32))?;
        let value = self.result.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The body stores its value before it returns, and only then does the kernel answer a join.
        Ok(value.expect("a joined thread has left its result"))
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread {}", self.id)
    }
}

/// Lets the other threads that are ready run first.
pub fn yield_now() {
    raw::yield_now();
}

/// The caller's thread id; the main thread is 0.
pub fn id() -> u32 {
    raw::thread_id().unsigned_abs()
}

/// Sets the caller's priority class: 0 runs first, 3 last. The manifest's `priority` is what it starts with.
pub fn set_priority(class: u8) -> Result<(), Error> {
    calls::check(raw::thread_priority(class.into()))?;
    Ok(())
}

/// Memory that a thread uses as its stack: never read or written as a vector.
struct Stack(Vec<u128>);

impl Stack {
    const WORD: usize = size_of::<u128>();

    /// An idle stack that is large enough, or a new one.
    fn take(bytes: usize) -> Stack {
        let words = bytes.div_ceil(Stack::WORD).max(1);
        let mut idle = IDLE_STACKS.lock().unwrap_or_else(PoisonError::into_inner);
        match idle.iter().position(|stack| stack.0.capacity() >= words) {
            Some(index) => idle.swap_remove(index),
            None => Stack(Vec::with_capacity(words)),
        }
    }

    /// The address where the stack begins: it grows downwards. Aligned as a `u128`, to 16 bytes.
    fn top(&self) -> *const u8 {
        self.0.as_ptr().wrapping_add(self.0.capacity()).cast()
    }

    /// Keeps the stack for the next thread. Its memory must stay until this thread has ended, so when enough
    /// are kept the oldest goes, never this one.
    fn retire(self) {
        let mut idle = IDLE_STACKS.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() == IDLE_STACKS_MAX {
            idle.swap_remove(0);
        }
        idle.push(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_is_aligned_and_used_again() {
        let stack = Stack::take(100_000);
        let top = stack.top();
        assert_eq!(top.addr() % 16, 0);
        assert!(top.addr() - stack.0.as_ptr().addr() >= 100_000);
        stack.retire();
        assert_eq!(Stack::take(50_000).top(), top);
    }
}

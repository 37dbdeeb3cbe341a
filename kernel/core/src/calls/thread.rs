//! Threads of a process.
//!
//! Their number is limited for each process, and the stacks of their Wasm code are the guest's own memory.
//! `spawn.rs` starts them, `executor.rs` runs them.

use super::{CallContext, value};
use crate::{
    cpu::CLASSES,
    engine::{Call, Entry},
    platform::Platform,
    spawn,
};
use satrap_abi::Errno;

impl<P: Platform> CallContext<P> {
    pub(super) fn spawn(&self, function: u32, argument: u32, stack_top: u32) -> Result<u32, Errno> {
        let entry = Entry::Thread {
            function,
            argument,
            stack_top,
        };
        // The process may have moved since it began. From now on it has two threads and moves no more.
        spawn::thread(&self.satellite, &self.process, self.task.cpu(), entry)
    }

    /// Waits for a thread to end; one that has ended already is no error.
    pub(super) fn join(&self, thread: u32) -> Call {
        if thread == self.thread {
            return Ok(Errno::Invalid.to_result());
        }
        let joined = self
            .process
            .threads
            .lock()
            .live
            .get(&thread)
            .map(|(_, joined)| joined.clone());
        let Some(joined) = joined else { return Ok(0) };
        let ended = || match self.process.threads.lock().live.contains_key(&thread) {
            true => Err(Errno::WouldBlock),
            false => Ok(0),
        };
        Ok(value(self.wait_event(
            satrap_abi::call::FOREVER,
            &joined,
            ended,
        )?))
    }

    pub(super) fn set_priority(&self, class: u32) -> Result<(), Errno> {
        // A guest may lower its class and raise it again, but never above what its manifest says.
        if class as usize >= CLASSES || class < u32::from(self.process.priority) {
            return Err(Errno::Invalid);
        }
        self.task.set_class(class as u8);
        Ok(())
    }
}

//! The engine of the models. A program's only byte says what its threads do until they are told to die.
//!
//! Neighbour: `machine.rs` interrupts them.

use super::machine::{Machine, Signal, current};
use crate::{
    CallContext,
    engine::{Access, Calls as _, Engine, Entry, LinearMemory, Pause, Program, Resume, Thread},
};
use alloc::sync::Arc;
use satrap_abi::{Errno, ExitStatus, limits::WASM_PAGE};
use satrap_region::Region;

/// What a thread does when it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Puppet {
    /// It waits in a kernel call for what never comes.
    Waits = 0,
    /// It computes and never pauses by itself.
    Computes = 1,
    /// It starts another thread, which waits, and then waits itself.
    Doubles = 2,
}

/// The engine; it knows when a CPU is preempted.
pub(super) struct Puppets(pub(super) Arc<[Signal]>);

/// A page of memory.
pub(super) struct Page(Region);

/// A thread.
pub(super) struct Strings {
    puppet: Puppet,
    preempted: Arc<[Signal]>,
    calls: CallContext<Machine>,
}

impl Engine for Puppets {
    type Program = Puppet;
    type Memory = Page;
    type Thread = Strings;
    type Calls = CallContext<Machine>;

    fn load(&self, artifact: &[u8]) -> Result<Puppet, Errno> {
        match artifact {
            [0] => Ok(Puppet::Waits),
            [1] => Ok(Puppet::Computes),
            [2] => Ok(Puppet::Doubles),
            _ => Err(Errno::Invalid),
        }
    }

    fn new_memory(&self, _: &Puppet) -> Result<Arc<Page>, Errno> {
        Ok(Arc::new(Page(Region::from_heap(WASM_PAGE as usize))))
    }

    fn new_thread(
        &self,
        &puppet: &Puppet,
        _: Arc<Page>,
        entry: Entry,
        _: u32,
        calls: CallContext<Machine>,
    ) -> Result<Strings, Errno> {
        let further = entry != Entry::Main;
        Ok(Strings {
            puppet: if further { Puppet::Waits } else { puppet },
            preempted: self.0.clone(),
            calls,
        })
    }

    fn suspend() -> Resume {
        unreachable!("puppets make no kernel calls")
    }
}

impl Thread for Strings {
    fn resume(&mut self, how: Resume) -> Pause {
        match (how, self.puppet) {
            (Resume::Die, _) => Pause::Finished(ExitStatus::Killed),
            (Resume::Run, Puppet::Waits) => Pause::Suspended,
            (Resume::Run, Puppet::Computes) => {
                self.preempted[current().expect("a thread runs on a CPU")].take();
                Pause::Preempted
            }
            (Resume::Run, Puppet::Doubles) => {
                assert!(self.calls.thread_spawn(0, 0, 0).is_ok_and(|thread| thread > 0));
                Pause::Suspended
            }
        }
    }
}

impl Program for Puppet {
    fn initial_pages(&self) -> u32 {
        1
    }

    fn maximum_pages(&self) -> Option<u32> {
        None
    }

    fn contracts(&self) -> &[u8] {
        &[]
    }

    fn segment(&self, _: u32) -> Option<&[u8]> {
        None
    }
}

impl LinearMemory for Page {
    fn region(&self) -> &Region {
        &self.0
    }

    fn commit(&self, _: u64) -> Result<(), Errno> {
        Ok(())
    }

    fn map(&self, _: u32, _: &Region, _: u32, _: Access) -> Result<(), Errno> {
        Err(Errno::Unsupported)
    }

    fn unmap(&self, _: u32, _: u32) {}
}

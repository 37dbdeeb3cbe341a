//! Linear memory: what the installer makes of `memory.copy` and its kin (DESIGN §5). Ranges reach over heap
//! and window; outside both they trap, as the instructions do.

use super::CallContext;
use crate::{
    engine::{Access, Call, End, LinearMemory, Program},
    platform::Platform,
};
use satrap_abi::{Errno, ExitStatus, Trap};

impl<P: Platform> CallContext<P> {
    fn trap(&self) -> End {
        End(ExitStatus::Trap(Trap::MemoryOutOfBounds))
    }

    #[inline]
    pub(super) fn copy(&self, to: u32, from: u32, length: u32) -> Call<()> {
        let process = &*self.process;
        let checked = process
            .check(from, length, Access::ReadOnly)
            .and_then(|()| process.check(to, length, Access::ReadWrite));
        checked.map_err(|_| self.trap())?;
        let region = process.memory.region();
        region
            .copy_to(from as usize, region, to as usize, length as usize)
            .map_err(|_| self.trap())
    }

    #[inline]
    pub(super) fn fill(&self, to: u32, value: u32, length: u32) -> Call<()> {
        self.process
            .check(to, length, Access::ReadWrite)
            .map_err(|_| self.trap())?;
        self.process
            .memory
            .region()
            .fill(to as usize, length as usize, value as u8)
            .map_err(|_| self.trap())
    }

    pub(super) fn init(&self, segment: u32, to: u32, from: u32, length: u32) -> Call<()> {
        let dropped = self.process.table.lock().dropped.contains(&segment);
        let bytes = if dropped {
            Some(&[][..])
        } else {
            self.process.program.segment(segment)
        };
        let end = u64::from(from) + u64::from(length);
        let source = bytes.and_then(|bytes| bytes.get(from as usize..usize::try_from(end).ok()?));
        source
            .ok_or(Errno::Invalid)
            .and_then(|source| self.process.write(to, source))
            .map_err(|_| self.trap())
    }

    /// Remembers that a segment is gone. Only of one that there is: numbers without end would fill the kernel.
    pub(super) fn drop_segment(&self, segment: u32) {
        if self.process.program.segment(segment).is_some() {
            self.process.table.lock().dropped.insert(segment);
        }
    }
}

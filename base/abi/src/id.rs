//! Ids. Every id that can be reused carries a generation, so that a restarted peer or a recycled slot is
//! never mistaken for its predecessor (DESIGN §4).

use core::fmt;
use serde::{Deserialize, Serialize};

/// Number of a satellite kernel: `/kernel/N`. 0 is the coordinator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct KernelId(pub u16);

impl KernelId {
    /// The coordinator's own number.
    pub const COORDINATOR: KernelId = KernelId(0);
}

impl fmt::Display for KernelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A process, unique for the life of the coordinator: assigned by it and never reused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct ProcessId(pub u64);

impl fmt::Display for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A place in a table and the generation of what stands there: 32 bits each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Slot {
    /// Place in the table.
    pub index: u32,
    /// How often the place was given out before.
    pub generation: u32,
}

impl Slot {
    /// Index in the low half, generation in the high half.
    pub const fn pack(self) -> u64 {
        self.index as u64 | (self.generation as u64) << 32
    }

    /// Reverse of [`Slot::pack`].
    pub const fn unpack(word: u64) -> Slot {
        Slot {
            index: word as u32,
            generation: (word >> 32) as u32,
        }
    }
}

/// A block of a satellite's exchange heap, in that satellite's table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct BlockId(pub Slot);

/// One end of a remote channel, in the table of the satellite that holds it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct ChannelId(pub Slot);

/// A 256-bit content hash (BLAKE3): of a program, an artifact, or a contract.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Digest(pub [u8; 32]);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..6].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

//! The layout of a satellite's export: all the memory that it shows to its peers, which it alone writes.
//!
//! Its size is fixed at boot, and nothing of a peer's export is believed unchecked. Neighbours: `ring.rs`,
//! `attention.rs`.
//!
//! # Layout
//!
//! | offset | what |
//! |---|---|
//! | 0 | identity: magic, layout version, kernel, generation, length |
//! | 128 | attention word |
//! | 4 KiB | for each peer 128 bytes: how far this satellite has consumed that peer's ring |
//! | 12 KiB | for each peer 16 KiB: the ring to that peer |
//! | 1 MiB + 12 KiB, rounded up to 4 KiB, or to 2 MiB in an export of 8 MiB or more | exchange heap |
//!
//! What several peers read lies 128 bytes apart, because processors fetch lines in pairs.

use crate::{Epoch, OwnAttention, PeerAttention, Receiver, Sender};
use core::fmt;
use satrap_abi::KernelId;
use satrap_region::{LINE, Lines, OutOfRange, Region, Word};
use satrap_sync::Ordering::{Acquire, Release};

/// Satellites that a machine can have, the coordinator included: kernel numbers are below it.
pub const PEERS_MAX: usize = 64;
/// Slots of a ring between two satellites.
pub const RING_SLOTS: usize = 256;

const MAGIC: u64 = u64::from_le_bytes(*b"SATRAPEX");
const VERSION: u64 = 1;
/// Offsets of the identity's words.
const IDENTITY: [usize; 4] = [0, 8, 16, 24];
const ATTENTION: usize = 128;
const CONSUMED: usize = 4 << 10;
const CONSUMED_STRIDE: usize = 128;
const RINGS: usize = CONSUMED + PEERS_MAX * CONSUMED_STRIDE;
const RING_BYTES: usize = RING_SLOTS * LINE;
const RINGS_END: usize = RINGS + PEERS_MAX * RING_BYTES;
/// Exports at least as long align their heap for large pages.
const LARGE: usize = 8 << 20;

/// A ring's producer end between satellites.
pub type RegionSender = Sender<Lines>;
/// A ring's consumer end between satellites.
pub type RegionReceiver = Receiver<Lines>;

/// Why an export cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExportError {
    /// Shorter than its header, its rings and one page of heap, or not aligned to a cache line.
    TooSmall,
    /// A kernel number of 64 or more.
    KernelTooLarge(KernelId),
    /// What stands there is no export, or one of another layout version.
    Foreign,
    /// It says to be of another kernel, generation or length than the coordinator said.
    Mismatch,
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExportError::TooSmall => f.write_str("too small for an export, or not aligned"),
            ExportError::KernelTooLarge(kernel) => write!(f, "kernel {kernel}; {PEERS_MAX} are possible"),
            ExportError::Foreign => f.write_str("not an export of this layout version"),
            ExportError::Mismatch => f.write_str("the export of another kernel, generation or length"),
        }
    }
}

impl core::error::Error for ExportError {}

impl From<OutOfRange> for ExportError {
    fn from(_: OutOfRange) -> ExportError {
        ExportError::TooSmall
    }
}

/// A region checked to hold an export, and whose it is.
struct Layout {
    region: Region,
    kernel: KernelId,
    generation: u32,
    heap: Region,
}

impl Layout {
    fn new(region: Region, kernel: KernelId, generation: u32) -> Result<Layout, ExportError> {
        if usize::from(kernel.0) >= PEERS_MAX {
            return Err(ExportError::KernelTooLarge(kernel));
        }
        let start = RINGS_END.next_multiple_of(if region.len() >= LARGE { 2 << 20 } else { 4 << 10 });
        let heap = region.part(
            start,
            region.len().checked_sub(start).ok_or(ExportError::TooSmall)?,
        )?;
        if heap.len() < 4 << 10 || !region.base().addr().is_multiple_of(LINE) {
            return Err(ExportError::TooSmall);
        }
        Ok(Layout {
            region,
            kernel,
            generation,
            heap,
        })
    }

    fn identity(&self) -> [u64; IDENTITY.len()] {
        let kernel = u64::from(self.kernel.0) | u64::from(self.generation) << 32;
        [MAGIC, VERSION, kernel, self.region.len() as u64]
    }

    fn lines(&self, offset: usize, count: usize) -> Result<Lines, ExportError> {
        Ok(Lines::new(&self.region, offset, count)?)
    }

    fn ring_to(&self, peer: &Layout) -> Result<Lines, ExportError> {
        self.lines(RINGS + usize::from(peer.kernel.0) * RING_BYTES, RING_SLOTS)
    }

    fn consumed_from(&self, peer: &Layout) -> Result<Lines, ExportError> {
        self.lines(CONSUMED + usize::from(peer.kernel.0) * CONSUMED_STRIDE, 1)
    }
}

/// A satellite's own export.
pub struct Export(Layout);

impl Export {
    /// Makes `region` the export of `kernel`, in its `generation`. The header is wiped, each ring when it is
    /// taken; the heap is left as it is.
    pub fn format(region: Region, kernel: KernelId, generation: u32) -> Result<Export, ExportError> {
        let layout = Layout::new(region, kernel, generation)?;
        layout.region.fill(0, RINGS, 0)?;
        let identity = layout.identity();
        for (&offset, value) in IDENTITY.iter().zip(identity).rev() {
            // SYNC POINT export-format: pairs with export-open; the magic, stored last, says that all is there.
            Word::new(&layout.region, offset)?.store(value, Release);
        }
        Ok(Export(layout))
    }

    /// The attention word. To be taken once.
    pub fn attention(&self) -> Result<OwnAttention<Lines>, ExportError> {
        Ok(OwnAttention::new(self.0.lines(ATTENTION, 1)?))
    }

    /// The sending end of the ring to `peer`: slots here, consumed index in the peer's export. To be taken
    /// once for each generation of the peer.
    pub fn ring_to(&self, peer: &PeerExport) -> Result<RegionSender, ExportError> {
        let (own, peer) = (&self.0, &peer.0);
        let epoch = Epoch::between(own.generation, peer.generation);
        Ok(Sender::new(own.ring_to(peer)?, peer.consumed_from(own)?, epoch))
    }

    /// The receiving end of the ring from `peer`: slots in the peer's export, consumed index here. To be
    /// taken once for each generation of the peer.
    pub fn ring_from(&self, peer: &PeerExport) -> Result<RegionReceiver, ExportError> {
        let (own, peer) = (&self.0, &peer.0);
        let epoch = Epoch::between(peer.generation, own.generation);
        Ok(Receiver::new(peer.ring_to(own)?, own.consumed_from(peer)?, epoch))
    }

    /// The exchange heap.
    pub fn heap(&self) -> &Region {
        &self.0.heap
    }
}

/// A peer's export, as we may read it.
pub struct PeerExport(Layout);

impl PeerExport {
    /// Checks that `region` is the export of `kernel` in its `generation`, as the coordinator said.
    pub fn open(region: Region, kernel: KernelId, generation: u32) -> Result<PeerExport, ExportError> {
        let layout = Layout::new(region, kernel, generation)?;
        let mut seen = [0; IDENTITY.len()];
        for (word, &offset) in seen.iter_mut().zip(&IDENTITY) {
            // SYNC POINT export-open: pairs with export-format.
            *word = Word::new(&layout.region, offset)?.load(Acquire);
        }
        let expected = layout.identity();
        if seen[..2] != expected[..2] {
            Err(ExportError::Foreign)
        } else if seen != expected {
            Err(ExportError::Mismatch)
        } else {
            Ok(PeerExport(layout))
        }
    }

    /// The peer's attention word.
    pub fn attention(&self) -> Result<PeerAttention<Lines>, ExportError> {
        Ok(PeerAttention::new(self.0.lines(ATTENTION, 1)?))
    }

    /// The peer's exchange heap. What it says must be checked as anything that a peer writes.
    pub fn heap(&self) -> &Region {
        &self.0.heap
    }

    /// Whose it is.
    pub fn kernel(&self) -> KernelId {
        self.0.kernel
    }

    /// Which of the kernels of that number.
    pub fn generation(&self) -> u32 {
        self.0.generation
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Attention, FrameReceiver, FrameSender};

    fn open(memory: &[Region; 2], generations: [u32; 2]) -> [PeerExport; 2] {
        [0, 1].map(|i| PeerExport::open(memory[i].clone(), KernelId(i as u16 + 1), generations[i]).unwrap())
    }

    #[test]
    fn frames_pass_between_two_exports_and_restarts_are_noticed() {
        let memory = [0, 1].map(|_| Region::from_heap(2 << 20));
        let first = Export::format(memory[0].clone(), KernelId(1), 0).unwrap();
        for generation in 0..3 {
            let second = Export::format(memory[1].clone(), KernelId(2), generation).unwrap();
            let seen = open(&memory, [0, generation]);
            let mut to_second = first.ring_to(&seen[1]).unwrap();
            let mut from_first = second.ring_from(&seen[0]).unwrap();
            let mut to_first = second.ring_to(&seen[0]).unwrap();
            let mut from_second = first.ring_from(&seen[1]).unwrap();
            assert!(from_first.is_empty() && from_second.is_empty());
            for number in 0..300 {
                to_second.send(&[number << 8]).unwrap();
                to_first.send(&[number << 8, 1]).unwrap();
                assert_eq!(from_first.take().unwrap().unwrap().header_word() >> 8, number);
                assert_eq!(from_second.take().unwrap().unwrap().words()[1], 1);
            }
            // Left behind for the next generation, which must not see it.
            to_second.send(&[7]).unwrap();
            to_first.send(&[7]).unwrap();
        }
    }

    #[test]
    fn an_export_of_another_identity_is_refused() {
        let memory = Region::from_heap(2 << 20);
        let open = |kernel, generation| PeerExport::open(memory.clone(), KernelId(kernel), generation).err();
        assert_eq!(open(3, 1), Some(ExportError::Foreign));
        Export::format(memory.clone(), KernelId(3), 1).unwrap();
        assert_eq!(open(3, 1), None);
        assert_eq!(open(4, 1), Some(ExportError::Mismatch));
        assert_eq!(open(3, 2), Some(ExportError::Mismatch));
        assert_eq!(open(64, 1), Some(ExportError::KernelTooLarge(KernelId(64))));
        let half = memory.part(0, 3 << 19).unwrap();
        assert_eq!(
            PeerExport::open(half, KernelId(3), 1).err(),
            Some(ExportError::Mismatch)
        );
    }

    #[test]
    fn a_region_without_room_for_a_heap_is_refused() {
        let small = Region::from_heap(RINGS_END);
        assert_eq!(
            Export::format(small, KernelId(1), 0).err(),
            Some(ExportError::TooSmall)
        );
        let enough = Region::from_heap(RINGS_END.next_multiple_of(4 << 10) + (4 << 10));
        assert_eq!(
            Export::format(enough, KernelId(1), 0).unwrap().heap().len(),
            4 << 10
        );
    }

    #[test]
    fn a_large_export_aligns_its_heap_for_large_pages() {
        let memory = Region::from_heap(8 << 20);
        let export = Export::format(memory.clone(), KernelId(1), 0).unwrap();
        let offset = export.heap().base().addr() - memory.base().addr();
        assert!(offset.is_multiple_of(2 << 20));
    }

    #[test]
    fn a_peer_reads_the_attention_word() {
        let memory = Region::from_heap(2 << 20);
        let own = Export::format(memory.clone(), KernelId(1), 0)
            .unwrap()
            .attention()
            .unwrap();
        let seen = PeerExport::open(memory, KernelId(1), 0)
            .unwrap()
            .attention()
            .unwrap();
        own.set(Attention::Polling);
        assert_eq!(seen.look(), None);
        own.set(Attention::Parked);
        assert_eq!(seen.look(), Some(Attention::Parked));
        assert_eq!(seen.look(), None, "rung once for a setting");
        own.set(Attention::Busy);
        assert_eq!(seen.look(), Some(Attention::Busy));
    }
}

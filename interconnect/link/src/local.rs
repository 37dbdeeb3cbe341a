//! Rings inside one satellite: the queue of a local channel, over the satellite's own heap.
//!
//! The same algorithm as between satellites, over `satrap_sync`'s atomics, so that loom can try every
//! interleaving of it.

use crate::{Epoch, Memory, Receiver, Sender};
use alloc::sync::Arc;
use satrap_sync::{AtomicU64, Ordering};

/// Words of a line.
const WORDS: usize = 8;

/// One cache line.
#[repr(align(64))]
struct Line([AtomicU64; WORDS]);

/// Lines of the satellite's own heap.
#[derive(Clone)]
pub struct LocalLines(Arc<[Line]>);

/// The producer's end of a local ring.
pub type LocalSender = Sender<LocalLines>;
/// The consumer's end of a local ring.
pub type LocalReceiver = Receiver<LocalLines>;

/// A ring of `slots` slots, a power of two from 2 to 2^16: room for as many frames of up to 7 words, or half
/// as many of up to 14.
///
/// # Panics
/// If `slots` is another number.
pub fn local_ring(slots: usize) -> (LocalSender, LocalReceiver) {
    let lines = LocalLines::new(slots);
    let consumed = LocalLines::new(1);
    (
        Sender::new(lines.clone(), consumed.clone(), Epoch::ONLY),
        Receiver::new(lines, consumed, Epoch::ONLY),
    )
}

impl LocalLines {
    /// `count` zeroed lines.
    ///
    /// # Panics
    /// If `count` is no power of two.
    pub fn new(count: usize) -> LocalLines {
        assert!(count.is_power_of_two(), "lines come in powers of two");
        LocalLines(
            (0..count)
                .map(|_| Line(core::array::from_fn(|_| AtomicU64::new(0))))
                .collect(),
        )
    }

    #[inline(always)]
    fn word(&self, line: usize, word: usize) -> &AtomicU64 {
        &self.0[line & (self.0.len() - 1)].0[word & (WORDS - 1)]
    }
}

impl Memory for LocalLines {
    #[inline(always)]
    fn lines(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn load(&self, line: usize, word: usize, order: Ordering) -> u64 {
        self.word(line, word).load(order)
    }

    #[inline(always)]
    fn store(&self, line: usize, word: usize, value: u64, order: Ordering) {
        self.word(line, word).store(value, order);
    }
}

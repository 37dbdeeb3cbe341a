//! Pools: buffers that a producer writes and its consumer reads in place, mapped once, so that a message of
//! any size costs a descriptor (DESIGN §5).
//!
//! The pool lies in its producer's exchange heap, which only the producer's satellite writes; a consumer in
//! another satellite maps the same pages through the producer's export. Each buffer is in one hand at a time.

use crate::{event::Event, foreign::ForeignLoan, heap::Block};
use alloc::{boxed::Box, sync::Arc};
use satrap_abi::Errno;
use satrap_region::Region;
use satrap_sync::{AtomicU32, Ordering};

/// Most buffers of one pool.
pub(crate) const BUFFERS_MAX: u32 = 4096;
/// Buffers start at cache lines.
const LINE: u32 = 64;

/// In whose hand a buffer is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
enum Holder {
    Free = 0,
    Producer = 1,
    Travelling = 2,
    Consumer = 3,
}

/// What keeps a pool's pages.
enum Memory {
    Own(Block),
    Foreign { _loan: ForeignLoan },
}

/// A pool, shared by its two sides.
pub(crate) struct Pool {
    /// Pages that both sides map; of this satellite or of a peer.
    pages: Region,
    /// What keeps the pages: the producer's block, or the loan of a peer's.
    memory: Memory,
    /// Bytes between two buffers.
    pub(crate) stride: u32,
    holders: Box<[AtomicU32]>,
    /// Signalled when a buffer comes free.
    pub(crate) freed: Event,
}

impl Pool {
    /// The bytes that a pool of `count` buffers of `size` needs, and its stride.
    pub(crate) fn layout(size: u32, count: u32) -> Result<(u32, u32), Errno> {
        if size == 0 || count == 0 || count > BUFFERS_MAX {
            return Err(Errno::Invalid);
        }
        let stride = size.checked_next_multiple_of(LINE).ok_or(Errno::TooLarge)?;
        let total = stride.checked_mul(count).ok_or(Errno::TooLarge)?;
        let total = total
            .checked_next_multiple_of(crate::heap::PAGE as u32)
            .ok_or(Errno::TooLarge)?;
        Ok((total, stride))
    }

    /// The producer's pool, in a block of its own.
    pub(crate) fn new(block: Block, stride: u32, count: u32) -> Result<Arc<Pool>, Errno> {
        let pages = block.pages()?;
        Ok(Pool::over(pages, Memory::Own(block), stride, count))
    }

    /// A peer's pool, seen through its export.
    pub(crate) fn foreign(pages: Region, loan: ForeignLoan, stride: u32, count: u32) -> Arc<Pool> {
        Pool::over(pages, Memory::Foreign { _loan: loan }, stride, count)
    }

    fn over(pages: Region, memory: Memory, stride: u32, count: u32) -> Arc<Pool> {
        let holders = (0..count).map(|_| AtomicU32::new(Holder::Free as u32)).collect();
        Arc::new(Pool {
            pages,
            memory,
            stride,
            holders,
            freed: Event::default(),
        })
    }

    /// The pages to map.
    pub(crate) fn pages(&self) -> &Region {
        &self.pages
    }

    /// Where it lies in its satellite's exchange heap, for the peer that is to map it.
    pub(crate) fn offset(&self) -> Option<u64> {
        match &self.memory {
            Memory::Own(block) => Some(block.offset()),
            Memory::Foreign { .. } => None,
        }
    }

    /// How many buffers it has.
    pub(crate) fn count(&self) -> u32 {
        self.holders.len() as u32
    }

    fn pass(&self, index: u32, from: Holder, to: Holder) -> Result<(), Errno> {
        let holder = self.holders.get(index as usize).ok_or(Errno::Invalid)?;
        holder
            .compare_exchange(from as u32, to as u32, Ordering::AcqRel, Ordering::Relaxed)
            .map(drop)
            .map_err(|_| Errno::Invalid)
    }

    /// The producer takes a free buffer.
    pub(crate) fn acquire(&self) -> Result<u32, Errno> {
        let is_free = |index: u32| {
            // The plain load spares those that others hold.
            self.holders[index as usize].load(Ordering::Relaxed) == Holder::Free as u32
                && self.pass(index, Holder::Free, Holder::Producer).is_ok()
        };
        (0..self.count())
            .find(|&index| is_free(index))
            .ok_or(Errno::WouldBlock)
    }

    /// The producer sends a buffer. Only one that it holds, and no more bytes than it has.
    pub(crate) fn send(&self, index: u32, len: u32) -> Result<(), Errno> {
        if len > self.stride {
            return Err(Errno::Invalid);
        }
        self.pass(index, Holder::Producer, Holder::Travelling)
    }

    /// Undoes [`Pool::send`]: the message did not leave.
    pub(crate) fn keep(&self, index: u32) {
        let _ = self.pass(index, Holder::Travelling, Holder::Producer);
    }

    /// The consumer receives a buffer.
    pub(crate) fn receive(&self, index: u32) -> Result<(), Errno> {
        self.pass(index, Holder::Travelling, Holder::Consumer)
    }

    /// A peer's buffer arrives by a link: it belongs to the consumer now, whatever was believed before.
    pub(crate) fn arrive(&self, index: u32, len: u32) -> Result<(), Errno> {
        let holder = self.holders.get(index as usize).ok_or(Errno::Invalid)?;
        if len > self.stride
            || holder.swap(Holder::Travelling as u32, Ordering::AcqRel) != Holder::Free as u32
        {
            return Err(Errno::Protocol);
        }
        Ok(())
    }

    /// The consumer is done with a buffer. Its producer must be told: by `freed`, if it is on this satellite.
    pub(crate) fn release(&self, index: u32) -> Result<(), Errno> {
        self.pass(index, Holder::Consumer, Holder::Free)
    }

    /// The consumer's satellite says that it is done with a buffer.
    pub(crate) fn returned(&self, index: u32) -> Result<(), Errno> {
        self.pass(index, Holder::Travelling, Holder::Free)?;
        self.freed.signal();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heap::ExchangeHeap;

    fn pool(count: u32) -> Arc<Pool> {
        let heap = ExchangeHeap::new(Region::from_heap(1 << 16));
        let (total, stride) = Pool::layout(100, count).unwrap();
        Pool::new(heap.alloc(total).unwrap(), stride, count).unwrap()
    }

    #[test]
    fn a_buffer_is_in_one_hand_at_a_time() {
        let pool = pool(1);
        let index = pool.acquire().unwrap();
        assert_eq!(pool.acquire(), Err(Errno::WouldBlock));
        pool.send(index, 100).unwrap();
        assert_eq!(pool.send(index, 100), Err(Errno::Invalid));
        assert_eq!(pool.release(index), Err(Errno::Invalid));
        pool.receive(index).unwrap();
        pool.release(index).unwrap();
        assert_eq!(pool.acquire(), Ok(index));
    }

    #[test]
    fn a_buffer_beyond_the_pool_is_refused() {
        assert_eq!(pool(2).send(2, 1), Err(Errno::Invalid));
        assert_eq!(Pool::layout(u32::MAX, 2), Err(Errno::TooLarge));
        assert_eq!(Pool::layout(0, 1), Err(Errno::Invalid));
    }
}

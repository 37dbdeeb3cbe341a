//! A block on loan: it lies in a peer's exchange heap until it is copied or dropped.

use crate::{
    heap::{Block, ExchangeHeap},
    link::Link,
    rmp::{copy_block, header, kind},
};
use alloc::sync::Arc;
use satrap_abi::Errno;

/// A peer's block, named by a message that has not been received yet.
pub struct ForeignBlock {
    link: Arc<Link>,
    slot: u64,
    offset: u64,
    len: u32,
}

impl ForeignBlock {
    /// A block whose range was checked against the peer's exchange heap.
    pub(crate) fn new(link: Arc<Link>, slot: u64, offset: u64, len: u32) -> ForeignBlock {
        ForeignBlock {
            link,
            slot,
            offset,
            len,
        }
    }

    /// Its length in bytes.
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// Copies it into `heap`; the peer is told when this value is dropped. A dead peer's memory stays mapped as
    /// long as its link is held, so that what it sent before can still be copied (DESIGN §13).
    pub(crate) fn copy(&self, heap: &Arc<ExchangeHeap>) -> Result<Block, Errno> {
        copy_block(&self.link, heap, self.offset, self.len)
    }
}

impl Drop for ForeignBlock {
    fn drop(&mut self) {
        self.link.post(&[&[header(kind::LOAN_RETURNED, 0, 0), self.slot]]);
    }
}

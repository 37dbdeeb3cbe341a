//! Memory on loan: it lies in a peer's exchange heap until this satellite says that it is done with it.
//!
//! Whatever happens to the borrower, dropping the loan returns it: a satellite cannot keep a peer's memory by
//! dying process by process. `rmp` makes loans from what arrives; `heap.rs` is the lender's side.

use crate::{
    heap::{Block, ExchangeHeap},
    link::Link,
    rmp::{header, kind},
};
use alloc::sync::Arc;
use satrap_abi::Errno;

/// A peer's block or pool. Dropping it gives it back.
pub(crate) struct ForeignLoan {
    link: Arc<Link>,
    slot: u64,
}

impl ForeignLoan {
    pub(crate) fn new(link: Arc<Link>, slot: u64) -> ForeignLoan {
        ForeignLoan { link, slot }
    }
}

impl Drop for ForeignLoan {
    fn drop(&mut self) {
        self.link.post(&[&[header(kind::LOAN_RETURNED, 0, 0), self.slot]]);
    }
}

/// A peer's block, named by a message that has not been received yet.
pub struct ForeignBlock {
    loan: ForeignLoan,
    offset: u64,
    len: u32,
}

impl ForeignBlock {
    /// A block whose range was checked against the peer's exchange heap.
    pub(crate) fn new(loan: ForeignLoan, offset: u64, len: u32) -> ForeignBlock {
        ForeignBlock { loan, offset, len }
    }

    /// Its length in bytes.
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// Copies it into `heap`: the only copy of a remote message's payload (Helios §3.6). A dead peer's memory
    /// stays mapped as long as its link is held, so that what it sent before can still be copied (DESIGN §13).
    pub(crate) fn copy(&self, heap: &Arc<ExchangeHeap>) -> Result<Block, Errno> {
        let block = heap.alloc_for_overwrite(self.len)?;
        block.copy_from(0, &self.loan.link.heap, self.offset as usize, self.len)?;
        Ok(block)
    }
}

//! Takes all that it may have, and says how much that was.
//!
//! It gives nothing back itself, so that its kernel has to. `checkers/limits.rs` judges.

use crate::{engine::Guest, facts::Fact};
use satrap_abi::Errno;
use satrap_kernel::engine::End;

/// Takes blocks, then threads, until it is refused more.
pub fn main(guest: &mut Guest) -> Result<i32, End> {
    let mut blocks = Vec::new();
    let refused = loop {
        match guest.block(&[1; 64])? {
            Ok(block) => blocks.push(block),
            Err(errno) => break errno,
        }
    };
    let mut threads = 1;
    while guest.spawn(0, 0, threads)?.is_ok() {
        threads += 1;
    }
    let process = guest.process();
    // A kernel that is short of memory refuses for its own sake.
    if refused == Errno::LimitReached {
        guest.state(Fact::Full(process, blocks.len() as u32, threads));
    }
    Ok(0)
}

/// A further thread: it stays until the process ends.
pub fn wait_for_main(guest: &mut Guest) -> Result<i32, End> {
    let _ = guest.join(0)?;
    Ok(0)
}

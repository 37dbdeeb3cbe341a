//! Entropy from the kernel.
//!
//! The platform supplies it; a simulated one by its seed, so nothing here may keep a state of its own.

use crate::Error;
use crate::raw::calls;

/// Fills a slice with unpredictable bytes.
pub fn fill(bytes: &mut [u8]) -> Result<(), Error> {
    Ok(calls::random(bytes)?)
}

/// An unpredictable number.
pub fn next() -> Result<u64, Error> {
    let mut bytes = [0; 8];
    fill(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

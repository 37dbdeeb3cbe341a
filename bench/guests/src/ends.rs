//! The first and the last cache line of a payload: what is touched of one that is read in place.
//!
//! The work is the same at every size, so that a bench by size shows what the channel costs.

const LINE: usize = 64;

/// Writes into both.
pub fn mark(payload: &mut [u8], value: u8) {
    if let [first, .., last] = payload {
        *first = value;
        *last = !value;
    }
}

/// Their bytes added up, eight at a time.
pub fn sum(payload: &[u8]) -> u64 {
    let len = payload.len();
    line(&payload[..LINE.min(len)]).wrapping_add(line(&payload[len - LINE.min(len)..]))
}

fn line(bytes: &[u8]) -> u64 {
    let words = bytes
        .chunks_exact(8)
        .map(|word| word.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)));
    words.fold(0, u64::wrapping_add)
}

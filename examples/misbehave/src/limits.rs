//! Deeds that take all there is. Every limit answers with an error, and the process lives on to report it.
//!
//! Neighbours: `messages` (limits of a channel), `wild` (what ends in a trap).

use std::time::Duration;

use satrap::{Block, println, thread, time};

/// Far above any default limit, so that a kernel without limits is found out.
const TRIES_MAX: usize = 1_000_000;

/// Takes until refused, and says when that was.
fn take<T, E: ToString>(what: &str, mut one: impl FnMut() -> Result<T, E>) -> Result<(), String> {
    let mut taken = Vec::new();
    for count in 0..TRIES_MAX {
        match one() {
            Ok(thing) => taken.push(thing),
            Err(error) => {
                println!("{what}: refused after {count}: {}", error.to_string());
                return Ok(());
            }
        }
    }
    Err(format!("{what}: {TRIES_MAX} and no limit"))
}

pub fn grow() -> Result<(), String> {
    const MEBIBYTE: usize = 1 << 20;
    take("mebibytes", || {
        let mut memory = Vec::<u8>::new();
        memory.try_reserve_exact(MEBIBYTE).map(|()| memory)
    })
}

pub fn threads() -> Result<(), String> {
    let small = thread::Builder::new().stack_size(1 << 10);
    take("threads", || {
        small.spawn(|| time::sleep(Duration::from_secs(3600)))
    })?;
    satrap::exit(0)
}

pub fn blocks() -> Result<(), String> {
    take("blocks", || Block::alloc(4 << 10))
}

//! A hostile peer: any frames, between what a guest does with the channels, blocks and pools that it shares with
//! that peer.
//!
//! The kernel resets the link at the first frame that no correct kernel sends. Nothing panics, an honest peer's
//! channel works to the end, and nothing is left when all is over. `kernel/core/src/rmp` is under test.

#![no_main]
#![forbid(unsafe_code)]

mod kernel;

use kernel::{Move, World};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|moves: Vec<Move>| {
    World::new().play(moves.into_iter());
});

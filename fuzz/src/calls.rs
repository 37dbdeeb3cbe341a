//! A hostile guest: any kernel call, with any pointer, handle and message, on memory that it has written what it
//! likes into.
//!
//! The kernel answers each with a result or ends the guest; nothing panics, a peer's channel to another process
//! works to the end, and nothing is left when all is over. `kernel/core/src/calls` is under test.

#![no_main]
#![forbid(unsafe_code)]

mod kernel;

use kernel::guest::Any;
use kernel::{Move, World};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|moves: Vec<Any>| {
    World::new().play(moves.into_iter().map(Move::Guest));
});

//! Views of memory that somebody else may write: exports of peers, linear memories of guests.
//!
//! A [`Region`] never yields a reference to its bytes: they are copied out once, validated once, then trusted
//! (DESIGN §4, STYLE habit 6). Every access is checked against the region's length. This is the only crate of
//! the portable kernel that holds raw pointers.

#![no_std]

extern crate alloc;

mod lines;
mod region;
mod word;

pub use lines::{LINE, LINE_WORDS, Lines};
pub use region::{Backing, OutOfRange, Owner, Region};
pub use word::Word;

//! The smallest program: one line on the console.
//!
//! `satrap::main!` makes the function the entry that the kernel calls.

#![forbid(unsafe_code)]

use satrap::{println, process};

satrap::main!(main);

fn main() {
    println!("hello from satellite {}", process::kernel());
}

//! The smallest program: one line on the console.

#![forbid(unsafe_code)]

use satrap::{println, process};

satrap::main!(main);

fn main() {
    println!("hello from satellite {}", process::kernel());
}

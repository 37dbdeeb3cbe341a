//! The satrap command.

fn main() {}

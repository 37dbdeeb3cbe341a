//! The benches: every figure beside its baseline of the same run.

fn main() {}

//! Build, test, tidy, ci.

fn main() {}

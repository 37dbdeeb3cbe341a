//! The hosted platform: a satellite kernel as a pinned Linux process.

fn main() {}

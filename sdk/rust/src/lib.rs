//! What a Rust guest links: typed endpoints, blocks, threads.

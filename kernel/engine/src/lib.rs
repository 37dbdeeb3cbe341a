//! The Wasm engine behind the kernel's trait.

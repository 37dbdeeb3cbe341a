//! Phase two of compilation: Wasm in, authenticated native artifact out.

fn main() {}

//! Tells the linker where the kernel lies.
//!
//! `kernel.ld` alone decides: the kernel is not relocated, whatever the target does by default.

fn main() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/kernel.ld");
    println!("cargo::rerun-if-changed={script}");
    println!("cargo::rustc-link-arg-bins=-T{script}");
    println!("cargo::rustc-link-arg-bins=--no-pie");
}

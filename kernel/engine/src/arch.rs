//! One module for each instruction set: how an interrupted context goes on in the engine instead.
//!
//! A handler copies the registers that a diversion needs into [`Registers`], calls one of its methods, and
//! writes them back; leaving the exception then continues on the interrupted stack, where the engine may
//! suspend or unwind.

#[cfg_attr(target_arch = "aarch64", path = "arch/aarch64.rs")]
#[cfg_attr(target_arch = "riscv64", path = "arch/riscv64.rs")]
#[cfg_attr(target_arch = "x86_64", path = "arch/x86_64.rs")]
mod isa;

pub use isa::Registers;

//! The Wasm engine behind the kernel's trait: wasmtime without `std`, run on coroutines of our own.
//!
//! A platform supplies a [`Machine`], makes one [`Wasmtime`], and gives faults and preemption interrupts that
//! hit Wasm code to [`arch::Registers`]. Everything here is the same on every platform; `arch` holds one
//! module for each instruction set. Neighbours: `kernel/core` (the traits), `coordinator/compiler` (makes the
//! artifacts), `platforms/*` (the machines).

#![no_std]

extern crate alloc;

pub mod arch;
mod calls;
mod code;
mod config;
mod coroutine;
mod engine;
mod machine;
mod memory;
mod preempt;
mod program;
mod stack;
mod symbols;
mod thread;
mod trap;

pub use code::is_wasm;
pub use engine::{StartError, Wasmtime};
pub use machine::{Cpu, Image, Machine, Protection};
pub use memory::ProcessMemory;
pub use preempt::{Interrupt, on_interrupt};
pub use program::Program;
pub use thread::Thread;

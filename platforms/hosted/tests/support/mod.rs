//! What the engine's tests share: the real compiler as a child process, and a mock of the kernel.

#![allow(dead_code, unused_imports, reason = "each test program uses a part of it")]

mod compile;
mod kernel;
mod mock;

pub use compile::{KEY, artifact};
pub use kernel::{Process, engine, finish, now, on_cpu, preempt_after};
pub use mock::Mock;

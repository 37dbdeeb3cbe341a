//! Whole kernels in one thread, virtual time, one seed, and checkers (DESIGN §14).
//!
//! The kernels, their links and their rings are the real ones; simulated are time, doorbells, the engine
//! (programs are closures) and the coordinator. One seed decides everything, so that a failure repeats. Start
//! reading at [`run()`], then `world.rs` (the event loop), `machine/` (what a kernel stands on), `engine/` (how
//! guests run), `workload/` (what they do), `checkers/` (what must hold), `sabotage.rs` (how each checker is
//! shown to fail).

#![forbid(unsafe_code)]

mod checkers;
mod contracts;
mod coordinator;
mod engine;
mod events;
mod facts;
mod machine;
mod rng;
mod run;
mod sabotage;
mod scenario;
mod stage;
mod trace;
mod workload;
mod world;

pub use run::{Failure, Outcome, run};
pub use sabotage::Sabotage;
pub use scenario::{SCENARIOS, Scenario};

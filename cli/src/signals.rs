//! Ctrl-C and its kin: the first asks for a clean end, the second ends at once.
//!
//! The handler only sets a flag; the commands that take long look at it.

use crate::failure::{Failure, Result};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    flag,
};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Exit code after Ctrl-C: as after SIGINT.
pub const INTERRUPTED: u8 = 130;

/// The signals that ask a command to end.
pub const ENDING: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// Whether the user has asked for the end.
#[derive(Clone)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from here on.
    pub fn listen() -> Result<Interrupt> {
        let asked = Arc::new(AtomicBool::new(false));
        for signal in ENDING {
            // Registered first, so that it sees the flag as the signal before left it.
            flag::register_conditional_shutdown(signal, INTERRUPTED.into(), asked.clone())
                .and_then(|_| flag::register(signal, asked.clone()))
                .map_err(|error| Failure::new(format!("cannot listen for signals: {error}")))?;
        }
        Ok(Interrupt(asked))
    }

    /// Whether it came.
    pub fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

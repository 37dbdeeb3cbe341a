//! Ctrl-C: the first asks for a clean end, the second ends at once.
//!
//! The handler only sets a flag; `load.rs` looks at it between uploads, `main.rs` cleans up.

use signal_hook::{consts::TERM_SIGNALS, flag};
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Exit code after Ctrl-C, as shells have it.
pub const INTERRUPTED: u8 = 130;

/// Whether the user has asked for the end.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from here on.
    ///
    /// # Errors
    /// The system refuses handlers.
    pub fn listen() -> io::Result<Interrupt> {
        let asked = Interrupt::default();
        for &signal in TERM_SIGNALS {
            // Registered first, so that it sees the flag as the signal before left it.
            flag::register_conditional_shutdown(signal, INTERRUPTED.into(), asked.0.clone())?;
            flag::register(signal, asked.0.clone())?;
        }
        Ok(asked)
    }

    /// Whether it came.
    pub fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

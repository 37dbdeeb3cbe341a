//! How things look on a terminal. Nothing here talks to a coordinator.
//!
//! Results go out through `output`; what is drawn live is in `progress` and in `commands/top`.

pub mod console;
pub mod output;
pub mod progress;
pub mod style;
pub mod table;
pub mod units;

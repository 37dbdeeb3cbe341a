//! How things look on a terminal. Nothing here talks to a coordinator.

pub mod console;
pub mod output;
pub mod progress;
pub mod style;
pub mod table;
pub mod units;

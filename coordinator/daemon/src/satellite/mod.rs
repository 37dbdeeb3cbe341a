//! Satellites as operating-system objects: a launcher that starts them, and the control socket to each.
//!
//! Another kind of satellite (a virtual machine, a card) is another launcher beside `hosted`.

mod hosted;
mod launcher;
mod socket;

pub use hosted::HostedLauncher;
pub use launcher::{Launched, Launcher};
pub use socket::{ControlSocket, Received, SendFailure, pair};

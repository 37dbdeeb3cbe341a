//! The control API: what may be asked of a coordinator, and the JSON that answers.
//!
//! One [`Call`] is one request, whether it comes over the Unix socket as HTTP or from the same process, so
//! that the command line is written once against [`Control`]. Every answer is a sequence of JSON values: one
//! for a question, many for a stream. Neighbours: `http` carries calls, `service` answers them.

mod call;
mod control;
mod event;
mod types;

pub use call::{Call, Method};
pub use control::{ApiError, Control, Flow};
pub use event::{Data, Event, InstallResult, Stage};
pub use types::{
    App, AppState, Channel, InstallRequest, Kernel, KernelState, Name, PlaceRequest, Placement, Process,
    ProcessState, RunRequest, Source, Status, exit_code,
};

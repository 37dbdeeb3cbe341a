//! One face for a coordinator in this process and for one behind a socket.
//!
//! Neighbours: `service` is the near one, `http::Client` the far one.

use super::{
    App, Call, Channel, Event, InstallRequest, Kernel, Name, PlaceRequest, Placement, Process, RunRequest,
    Status,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::fmt;

/// Why a call failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ApiError {
    /// HTTP status; 0 when no answer came at all.
    #[serde(skip)]
    pub status: u16,
    /// What is wrong, whose fault it is and what to do. May have several lines (a manifest's diagnostics).
    pub error: String,
}

impl ApiError {
    /// An error with an HTTP status.
    pub fn new(status: u16, error: impl Into<String>) -> ApiError {
        ApiError {
            status,
            error: error.into(),
        }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.error)
    }
}

impl std::error::Error for ApiError {}

/// Whether the receiver of a stream wants more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Enough: the stream ends, and with it what it is attached to.
    Stop,
}

/// A coordinator, near or far. The typed calls stand on `dyn Control`.
pub trait Control: Send + Sync {
    /// Makes a call and hands each value of its answer to `sink`. Returns when the answer ends or `sink` has
    /// had enough. While a stream is silent, `sink` is called with [`Value::Null`] from time to time (at
    /// least each 200 ms), so that a caller who must stop can say so.
    fn exchange(&self, call: Call, sink: &mut dyn FnMut(Value) -> Flow) -> Result<(), ApiError>;
}

impl dyn Control + '_ {
    /// The first value of an answer.
    pub fn ask<T: DeserializeOwned>(&self, call: Call) -> Result<T, ApiError> {
        let mut answer = None;
        self.exchange(call, &mut |value| {
            if value.is_null() {
                return Flow::Continue;
            }
            answer = Some(value);
            Flow::Stop
        })?;
        let answer = answer.ok_or_else(|| ApiError::new(0, "the coordinator closed the connection"))?;
        serde_json::from_value(answer)
            .map_err(|error| ApiError::new(0, format!("the coordinator's answer is not understood: {error}")))
    }

    /// Makes a streaming call. `sink` gets each event, and `None` from time to time while there is none.
    /// An [`Event::Failed`] is not handed on but returned as the error.
    pub fn events(&self, call: Call, sink: &mut dyn FnMut(Option<Event>) -> Flow) -> Result<(), ApiError> {
        let mut failure = None;
        self.exchange(call, &mut |value| {
            if value.is_null() {
                return sink(None);
            }
            match serde_json::from_value(value) {
                Ok(Event::Failed { error }) => {
                    failure = Some(ApiError::new(400, error));
                    Flow::Stop
                }
                Ok(event) => sink(Some(event)),
                Err(error) => {
                    failure = Some(ApiError::new(0, format!("an event is not understood: {error}")));
                    Flow::Stop
                }
            }
        })?;
        failure.map_or(Ok(()), Err)
    }

    /// The whole system at a glance.
    pub fn status(&self) -> Result<Status, ApiError> {
        self.ask(Call::Status)
    }

    /// Satellites with fresh figures.
    pub fn kernels(&self) -> Result<Vec<Kernel>, ApiError> {
        self.ask(Call::Kernels)
    }

    /// Processes with fresh figures.
    pub fn processes(&self) -> Result<Vec<Process>, ApiError> {
        self.ask(Call::Processes)
    }

    /// Applications.
    pub fn apps(&self) -> Result<Vec<App>, ApiError> {
        self.ask(Call::Apps)
    }

    /// Names that begin with `prefix`, sorted.
    pub fn names(&self, prefix: &str) -> Result<Vec<Name>, ApiError> {
        let prefix = prefix.to_owned();
        self.ask(Call::Names { prefix })
    }

    /// Endpoints with fresh figures.
    pub fn channels(&self) -> Result<Vec<Channel>, ApiError> {
        self.ask(Call::Channels)
    }

    /// Where an application's processes would go, and why.
    pub fn place(&self, request: PlaceRequest) -> Result<Placement, ApiError> {
        self.ask(Call::Place(request))
    }

    /// Compiles into the cache.
    pub fn install(
        &self,
        request: InstallRequest,
        sink: &mut dyn FnMut(Option<Event>) -> Flow,
    ) -> Result<(), ApiError> {
        self.events(Call::Install(request), sink)
    }

    /// Runs an application. Attached: until its end; the last event is [`Event::AppEnded`]. A `sink` that stops
    /// ends it.
    pub fn run(
        &self,
        request: RunRequest,
        sink: &mut dyn FnMut(Option<Event>) -> Flow,
    ) -> Result<(), ApiError> {
        self.events(Call::Run(request), sink)
    }

    /// Ends an application.
    pub fn end_app(&self, app: u64) -> Result<(), ApiError> {
        self.ask::<Value>(Call::EndApp(app)).map(drop)
    }

    /// Kills a process. Its restart policy does not apply.
    pub fn kill(&self, process: u64) -> Result<(), ApiError> {
        self.ask::<Value>(Call::Kill(process)).map(drop)
    }

    /// Ends everything, then the coordinator.
    pub fn shutdown(&self) -> Result<(), ApiError> {
        self.ask::<Value>(Call::Shutdown).map(drop)
    }
}

//! A coordinator in this process: started, asked, served, and ended by dropping it.
//!
//! Neighbours: `config` (what it is started with), `runtime` (its threads), `service` (its answers), `http`
//! (its socket).

use crate::{
    api::{ApiError, Call, Control, Flow},
    config::{Config, StartError},
    executive::{Executive, Settings},
    http::{self, ServeError},
    install::{Cache, Installer, KeyFile},
    runtime::Shared,
    service::Service,
    topology::Machine,
};
use serde_json::Value;
use std::{
    path::Path,
    sync::Arc,
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// A coordinator with its satellites. Dropping it ends every process and every satellite.
pub struct Coordinator {
    service: Arc<Service>,
    events: Option<JoinHandle<()>>,
}

/// Ends a coordinator's [`serve`](Coordinator::serve) from another thread.
#[derive(Clone)]
pub struct Stopper(Arc<Service>);

impl Stopper {
    /// As `POST /v1/shutdown` does.
    pub fn stop(&self) {
        self.0.stop();
    }
}

impl Coordinator {
    /// Starts the satellites and returns while they boot; whatever needs them waits by itself.
    pub fn start(config: Config) -> Result<Coordinator, StartError> {
        let began = Instant::now();
        let machine = Machine::discover()?;
        let division = machine.divide(config.satellites);
        let cache = Cache::open(config.cache).map_err(StartError::Cache)?;
        let key = KeyFile::load_or_create(&config.key).map_err(StartError::Key)?;
        let installer = Installer::new(cache, key, config.compiler, machine.cpus());
        let settings = Settings {
            key: installer.key(),
            export: config.export,
        };
        let executive = Executive::new(settings);
        let shared = Shared::new(executive, config.launcher, Arc::new(installer), began)?;
        shared.act(|executive, now| {
            if let Some(warning) = division.warning {
                executive.record_mut().notice(warning);
            }
            executive.boot(now, division.sets);
        });
        let events = shared.start()?;
        Ok(Coordinator {
            service: Arc::new(Service::new(shared)?),
            events: Some(events),
        })
    }

    /// Waits until no satellite boots any more. Returns the time from the start to the last one's
    /// registration; none if one failed or the limit passed.
    pub fn wait_ready(&self, limit: Duration) -> Option<Duration> {
        let shared = self.service.shared();
        shared.wait(limit, |executive| {
            executive.is_settled().then(|| executive.up_after())
        })?
    }

    /// Serves the control API on a Unix socket that only its owner can open, until [`Stopper::stop`] or a
    /// shutdown by the API.
    ///
    /// # Errors
    /// The socket cannot be made, or another coordinator has it.
    pub fn serve(&self, socket: &Path) -> Result<(), ServeError> {
        http::serve(&self.service, socket)
    }

    /// Something that ends [`serve`](Self::serve).
    pub fn stopper(&self) -> Stopper {
        Stopper(self.service.clone())
    }
}

impl Control for Coordinator {
    fn exchange(&self, call: Call, sink: &mut dyn FnMut(Value) -> Flow) -> Result<(), ApiError> {
        self.service.exchange(call, sink)
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        self.service
            .shared()
            .act(|executive, now| executive.shut_down(now));
        if let Some(events) = self.events.take() {
            // A panic of the event loop was already reported on standard error.
            let _ = events.join();
        }
    }
}

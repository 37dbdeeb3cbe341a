//! The machine (a coordinator in this process and its satellites) and the application on it.
//!
//! Programs are in `SATRAP_BIN_DIR` or beside this one, guests in `SATRAP_GUESTS` or in `guests` beside the
//! folder of this program. `./x` sets both.

use crate::interrupt::Interrupt;
use satrap_coordinator::{
    Config, Coordinator,
    api::{Control, Event, Flow, InstallRequest, RunRequest, Source},
};
use std::{
    env,
    error::Error,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// What goes wrong, in words.
pub type Failure = Box<dyn Error + Send + Sync>;

/// How long the application may take to listen, installed as it is.
const START_PATIENCE: Duration = Duration::from_secs(20);
/// How long satellites may take to boot.
const BOOT_PATIENCE: Duration = Duration::from_secs(10);
/// How often a wait looks whether the user has asked for the end.
const LOOK: Duration = Duration::from_millis(50);

const MANIFEST: &str = include_str!("../../Satrap.toml");

/// The application's manifest, its programs where the guests were built to.
pub fn source() -> Source {
    let beside = || {
        let program = env::current_exe().unwrap_or_default();
        program.ancestors().nth(2).unwrap_or(&program).join("guests")
    };
    let guests = env::var_os("SATRAP_GUESTS").map_or_else(beside, PathBuf::from);
    Source::Manifest {
        text: MANIFEST.to_owned(),
        file: "apps/png/Satrap.toml".to_owned(),
        base: guests,
    }
}

/// A coordinator and its satellites. They end with it.
pub struct Machine {
    coordinator: Arc<Coordinator>,
}

impl Machine {
    /// Starts so many satellites. Returns the machine and the time until all were registered.
    ///
    /// # Errors
    /// A satellite does not come up, or programs are missing.
    pub fn start(satellites: usize) -> Result<(Machine, Duration), Failure> {
        let config = Config {
            satellites: Some(satellites),
            ..Config::from_environment()?
        };
        let coordinator = Arc::new(Coordinator::start(config)?);
        match coordinator.wait_ready(BOOT_PATIENCE) {
            Some(time) => Ok((Machine { coordinator }, time)),
            None => {
                let control: &dyn Control = &*coordinator;
                let notices = control.status()?.notices;
                Err(format!("the satellites do not come up: {}", notices.join("; ")).into())
            }
        }
    }

    /// The control API.
    pub fn control(&self) -> &dyn Control {
        &*self.coordinator
    }

    /// Compiles the application's programs, or finds them in the cache.
    ///
    /// # Errors
    /// A program is missing or refused, or the user has asked for the end.
    pub fn install(&self, interrupt: &Interrupt, mut show: impl FnMut(&Event)) -> Result<(), Failure> {
        let request = InstallRequest {
            sources: vec![source()],
        };
        self.control().install(request, &mut |event| {
            event.iter().for_each(&mut show);
            match interrupt.came() {
                true => Flow::Stop,
                false => Flow::Continue,
            }
        })?;
        check(interrupt)
    }

    /// Starts the application on a port that the system chooses.
    ///
    /// # Errors
    /// It does not come to listen, or the user has asked for the end.
    pub fn run(&self, overrides: &[String], interrupt: &Interrupt) -> Result<Service, Failure> {
        let request = RunRequest {
            source: source(),
            args: vec!["--port".into(), "0".into()],
            overrides: overrides.to_vec(),
            attached: true,
        };
        let (sender, events) = mpsc::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let (coordinator, stopped) = (self.coordinator.clone(), stop.clone());
        let runner = thread::Builder::new()
            .name("run".into())
            .spawn(move || follow(&*coordinator, request, &sender, &stopped))?;
        let mut service = Service {
            port: 0,
            placed: Vec::new(),
            events,
            stop,
            runner: Some(runner),
        };
        service.await_port(interrupt)?;
        Ok(service)
    }
}

/// Runs the application and passes on what happens, until it ends or shall end.
fn follow(control: &dyn Control, request: RunRequest, sender: &Sender<Event>, stop: &AtomicBool) {
    let result = control.run(request, &mut |event| {
        // Nobody listens any more: then the end has been asked for.
        let heard = event.is_none_or(|event| sender.send(event).is_ok());
        match heard && !stop.load(Ordering::Relaxed) {
            true => Flow::Continue,
            false => Flow::Stop,
        }
    });
    if let Err(error) = result {
        let error = error.to_string();
        let _ = sender.send(Event::Failed { error });
    }
}

fn check(interrupt: &Interrupt) -> Result<(), Failure> {
    if interrupt.came() {
        Err("interrupted".into())
    } else {
        Ok(())
    }
}

/// Where a process was placed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placed {
    /// Its name in the application.
    pub name: String,
    /// Its satellite.
    pub kernel: u16,
    /// Why.
    pub reason: String,
}

/// The running application. It ends with this.
pub struct Service {
    port: u16,
    placed: Vec<Placed>,
    events: Receiver<Event>,
    stop: Arc<AtomicBool>,
    runner: Option<JoinHandle<()>>,
}

impl Service {
    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its processes, in the order in which they were placed.
    pub fn placed(&self) -> &[Placed] {
        &self.placed
    }

    /// Waits for an event that is wanted. `None` when it does not come in time.
    pub fn await_event(&self, patience: Duration, wanted: impl Fn(&Event) -> bool) -> Option<Event> {
        let deadline = Instant::now() + patience;
        loop {
            let rest = deadline.saturating_duration_since(Instant::now());
            let event = self.events.recv_timeout(rest).ok()?;
            if wanted(&event) {
                return Some(event);
            }
        }
    }

    fn await_port(&mut self, interrupt: &Interrupt) -> Result<(), Failure> {
        let deadline = Instant::now() + START_PATIENCE;
        let mut said = String::new();
        while Instant::now() < deadline {
            check(interrupt)?;
            match self.events.recv_timeout(LOOK) {
                Ok(Event::Placed {
                    name, kernel, reason, ..
                }) => {
                    self.placed.push(Placed { name, kernel, reason });
                }
                Ok(Event::Output { data, .. }) => {
                    said += &String::from_utf8_lossy(data.bytes());
                    if let Some(port) = port(&said) {
                        self.port = port;
                        return Ok(());
                    }
                }
                Ok(Event::Failed { error }) => return Err(error.into()),
                Ok(Event::AppEnded { code, .. }) => {
                    return Err(format!("the application ended with code {code}: {said}").into());
                }
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        Err(format!("the application does not listen: {said}").into())
    }
}

/// The port, once a whole line says it.
fn port(said: &str) -> Option<u16> {
    let (_, rest) = said.split_once("listening on port ")?;
    rest.split_once('\n')?.0.trim().parse().ok()
}

impl Drop for Service {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(runner) = self.runner.take() {
            // A panic of the thread was already reported on standard error.
            let _ = runner.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_read_only_once_its_line_is_whole() {
        assert_eq!(port("hello\nlistening on port 80"), None);
        assert_eq!(port("hello\nlistening on port 8080\n"), Some(8080));
    }
}

//! The service behind the control API: each call answered from the executive, whoever asks.
//!
//! Long work (compiling, waiting) is done on the caller's thread, never under the executive's lock.

use crate::{
    api::{
        ApiError, Call, Control, Event, Flow, InstallRequest, PlaceRequest, Placement, RunRequest, Status,
    },
    deploy,
    executive::{AppRefusal, Executive, MemberState},
    install::Program,
    record::{Cursor, Filter},
    runtime::Shared,
};
use rustix::event::{EventfdFlags, eventfd};
use satrap_abi::{ProcessId, artifact::Target};
use serde::Serialize;
use serde_json::Value;
use std::{
    cell::Cell,
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::Duration,
};

/// Longest silence of a stream: then its receiver is asked whether it still listens.
const HEARTBEAT: Duration = Duration::from_millis(100);
/// How long satellites may take to answer with their figures; older figures are shown of one that does not.
const FIGURES_TIMEOUT: Duration = Duration::from_millis(200);
/// How long processes may take to end; longer only if their satellite hangs, which its own end shows.
const END_PATIENCE: Duration = Duration::from_secs(1);
/// How long an explanation waits for satellites that boot.
const BOOT_PATIENCE: Duration = Duration::from_secs(5);

/// Answers calls.
pub struct Service {
    shared: Arc<Shared>,
    /// Readable once the coordinator shall stop.
    stop: OwnedFd,
    socket: OnceLock<PathBuf>,
}

impl Service {
    /// A service over a running executive.
    pub fn new(shared: Arc<Shared>) -> io::Result<Service> {
        Ok(Service {
            shared,
            stop: eventfd(0, EventfdFlags::CLOEXEC)?,
            socket: OnceLock::new(),
        })
    }

    /// The executive and its lock.
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Readable once the coordinator shall stop.
    pub fn stop_signal(&self) -> &OwnedFd {
        &self.stop
    }

    /// Asks the coordinator to stop.
    pub fn stop(&self) {
        // Fails only if it was asked 2^64 times.
        let _ = rustix::io::write(&self.stop, &1u64.to_ne_bytes());
    }

    /// Says on which socket this is served, for `status`.
    pub fn set_socket(&self, socket: &Path) {
        // A second socket does not change what `status` shows.
        let _ = self.socket.set(socket.to_owned());
    }

    fn status(&self) -> Status {
        let socket = self.socket.get().cloned();
        self.fresh(|executive, now| Status {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            uptime_ms: now.as_millis() as u64,
            socket,
            up_us: executive.up_after().map(|up| up.as_micros() as u64),
            kernels: executive.kernels(),
            apps: executive.apps(now),
            notices: executive.record().notices(),
        })
    }

    /// Looks at the executive once every satellite has told its figures.
    fn fresh<T>(&self, look: impl FnOnce(&Executive, Duration) -> T) -> T {
        self.shared.act(|executive, _| executive.ask_figures());
        self.shared.wait(FIGURES_TIMEOUT, |executive| {
            (!executive.awaits_figures()).then_some(())
        });
        self.shared.look(look)
    }

    /// What programs are compiled for: the platforms of this machine's satellites.
    fn targets(&self) -> [Target; 1] {
        [self.shared.launcher().target()]
    }

    fn install(&self, request: &InstallRequest, sink: Sink<'_>) -> Result<(), ApiError> {
        let mut programs = Vec::new();
        for source in &request.sources {
            let plan = deploy::plan(source, &[], &[])?;
            programs.extend(plan.processes.into_iter().map(|process| process.program));
        }
        self.compile(&programs, sink)?;
        Ok(())
    }

    /// Compiles, telling `sink` and the record. `None` once `sink` has had enough.
    fn compile(&self, paths: &[PathBuf], sink: Sink<'_>) -> Result<Option<Vec<Arc<Program>>>, ApiError> {
        let mut flow = Flow::Continue;
        let result = self
            .shared
            .installer()
            .install(paths, &self.targets(), &mut |event| {
                if let Some(event) = &event {
                    self.shared
                        .act(|executive, _| executive.record_mut().event(event.clone()));
                }
                if flow == Flow::Continue {
                    flow = sink(event.as_ref().map_or(Value::Null, value));
                }
                flow == Flow::Continue
            });
        match result {
            Ok(programs) => Ok(Some(programs)),
            Err(_) if flow == Flow::Stop => Ok(None),
            Err(error) => Err(ApiError::new(422, error.to_string())),
        }
    }

    fn run(&self, request: RunRequest, sink: Sink<'_>) -> Result<(), ApiError> {
        let mut plan = deploy::plan(&request.source, &request.args, &request.overrides)?;
        plan.attached = request.attached;
        let paths: Vec<PathBuf> = plan
            .processes
            .iter()
            .map(|process| process.program.clone())
            .collect();
        let Some(programs) = self.compile(&paths, sink)? else {
            return Ok(());
        };
        deploy::check_contracts(&plan, &programs)?;
        let started = self.shared.act(|executive, now| {
            let cursor = executive.record().end();
            executive.start_app(now, plan, programs).map(|app| (app, cursor))
        });
        let (app, cursor) = started.map_err(refusal)?;
        let filter = Filter {
            events: true,
            app: Some(app),
            logs: None,
        };
        if !request.attached {
            let complete = |executive: &Executive| is_started(executive, app);
            return self.stream(cursor, &filter, complete, is_end, sink);
        }
        let result = self.attend(app, cursor, &filter, sink);
        self.end(app);
        result
    }

    /// Ends an attached application, and returns when it has ended: whoever left may start it again at once.
    fn end(&self, app: u64) {
        // It cannot be forgotten before it is detached.
        let _ = self.shared.act(|executive, now| executive.end_app(now, app));
        self.shared.wait(END_PATIENCE, |executive| {
            let ended = executive.app(app).is_none_or(|app| app.ended.is_some());
            (ended || executive.is_stopping()).then_some(())
        });
        self.shared.act(|executive, _| executive.detach(app));
    }

    /// Streams an application to its end. A reader so slow that the end has left the record meanwhile is told
    /// of it all the same.
    fn attend(&self, app: u64, cursor: Cursor, filter: &Filter, sink: Sink<'_>) -> Result<(), ApiError> {
        let over = Cell::new(false);
        let mut watched = |value: Value| {
            let flow = sink(value);
            over.set(over.get() || flow == Flow::Stop);
            flow
        };
        let last = |event: &Event| {
            over.set(over.get() || is_end(event));
            is_end(event)
        };
        let end = |executive: &Executive| executive.app(app)?.exit_code();
        self.stream(
            cursor,
            filter,
            |executive| end(executive).is_some(),
            last,
            &mut watched,
        )?;
        let code = self.shared.look(|executive, _| end(executive));
        if let (false, Some(code)) = (over.get(), code) {
            sink(value(&Event::AppEnded { app, code }));
        }
        Ok(())
    }

    /// Hands on what is recorded, in order, until `last` comes, `complete` holds with nothing left to read, or
    /// the receiver has had enough.
    fn stream(
        &self,
        mut cursor: Cursor,
        filter: &Filter,
        complete: impl Fn(&Executive) -> bool,
        last: impl Fn(&Event) -> bool,
        sink: Sink<'_>,
    ) -> Result<(), ApiError> {
        loop {
            let found = self.shared.wait(HEARTBEAT, |executive| {
                let events = executive.record().read(&mut cursor, filter);
                let over = executive.is_stopping() || complete(executive);
                (!events.is_empty() || over).then(|| (events, executive.is_stopping(), complete(executive)))
            });
            let (events, stopping, complete) = found.unwrap_or_default();
            if events.is_empty() && complete {
                return Ok(());
            }
            if events.is_empty() && stopping {
                return Err(ApiError::new(503, "the coordinator is shutting down"));
            }
            if events.is_empty() && sink(Value::Null) == Flow::Stop {
                return Ok(());
            }
            for event in events {
                if sink(value(&event)) == Flow::Stop || last(&event) {
                    return Ok(());
                }
            }
        }
    }

    fn logs(&self, process: Option<&str>, follow: bool, sink: Sink<'_>) -> Result<(), ApiError> {
        let (logs, cursor) = self.shared.look(|executive, _| {
            let logs = executive.logs_of(process);
            (logs, executive.record().start())
        });
        if logs.is_empty()
            && let Some(process) = process
        {
            let text = format!("there is no process `{process}`; `satrap ps` lists them");
            return Err(ApiError::new(404, text));
        }
        let filter = Filter {
            events: false,
            app: None,
            logs: Some(logs),
        };
        self.stream(cursor, &filter, |_| !follow, |_| false, sink)
    }

    fn place(&self, request: &PlaceRequest) -> Result<Placement, ApiError> {
        let plan = deploy::plan(&request.source, &[], &request.overrides)?;
        let requests: Vec<_> = plan
            .processes
            .into_iter()
            .map(|process| process.request)
            .collect();
        self.shared
            .wait(BOOT_PATIENCE, |executive| executive.is_settled().then_some(()));
        let world = self.fresh(|executive, _| executive.world());
        let plan = satrap_placement::plan(&world, &requests);
        Ok(Placement {
            explanation: plan.to_string(),
            refused: plan.refusals.len(),
            plan: value(&plan),
        })
    }

    fn kill(&self, process: u64) -> Result<Value, ApiError> {
        let killed = self
            .shared
            .act(|executive, now| executive.kill(now, ProcessId(process)));
        killed
            .map(|()| done())
            .map_err(|reason| ApiError::new(404, reason))
    }

    fn end_app(&self, app: u64) -> Result<Value, ApiError> {
        let ended = self.shared.act(|executive, now| executive.end_app(now, app));
        ended
            .map(|()| done())
            .map_err(|reason| ApiError::new(404, reason))
    }

    fn events(&self, sink: Sink<'_>) -> Result<(), ApiError> {
        let filter = Filter {
            events: true,
            app: None,
            logs: None,
        };
        let cursor = self.shared.look(|executive, _| executive.record().end());
        self.stream(cursor, &filter, |_| false, |_| false, sink)
    }
}

type Sink<'a> = &'a mut dyn FnMut(Value) -> Flow;

impl Control for Service {
    fn exchange(&self, call: Call, sink: Sink<'_>) -> Result<(), ApiError> {
        let answer = match call {
            Call::Install(request) => return self.install(&request, sink),
            Call::Run(request) => return self.run(request, sink),
            Call::Events => return self.events(sink),
            Call::Logs { process, follow } => return self.logs(process.as_deref(), follow, sink),
            Call::Status => value(&self.status()),
            Call::Kernels => self.fresh(|executive, _| value(&executive.kernels())),
            Call::Processes => self.fresh(|executive, now| {
                let apps = executive.apps(now);
                value(&apps.into_iter().flat_map(|app| app.processes).collect::<Vec<_>>())
            }),
            Call::Apps => self.fresh(|executive, now| value(&executive.apps(now))),
            Call::Names { prefix } => self
                .shared
                .look(|executive, _| value(&executive.list_names(&prefix))),
            Call::Channels => self.fresh(|executive, _| value(&executive.channels())),
            Call::Place(request) => value(&self.place(&request)?),
            Call::EndApp(app) => self.end_app(app)?,
            Call::Kill(process) => self.kill(process)?,
            Call::Shutdown => {
                // Answered first: the process may end as soon as it is asked to.
                sink(done());
                self.stop();
                return Ok(());
            }
        };
        sink(answer);
        Ok(())
    }
}

fn is_end(event: &Event) -> bool {
    matches!(event, Event::AppEnded { .. })
}

/// Whether every process of an application runs or has run.
fn is_started(executive: &Executive, app: u64) -> bool {
    let begun = |state| {
        matches!(
            state,
            MemberState::Running | MemberState::Ending | MemberState::Exited
        )
    };
    executive
        .app(app)
        .is_none_or(|app| app.members.iter().all(|member| begun(member.state)))
}

fn refusal(refusal: AppRefusal) -> ApiError {
    let status = match refusal {
        AppRefusal::Registered { .. } => 409,
        AppRefusal::Stopping | AppRefusal::TooMany => 503,
        AppRefusal::TooLarge | AppRefusal::Empty => 422,
    };
    ApiError::new(status, refusal.to_string())
}

fn done() -> Value {
    Value::Object(serde_json::Map::new())
}

/// Our own types always have a JSON form: their map keys are strings.
fn value<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or(Value::Null)
}

//! `satrap up`: starts a coordinator that outlives the command.
//!
//! The command starts itself again as `up --detached`, in a session of its own, and waits on a pipe for one
//! line that says how it went. What the detached coordinator and its satellites have to say later goes to a
//! log beside the socket.

use super::status;
use crate::{
    arguments::Up,
    connect,
    context::Context,
    failure::{Failure, Result, plain},
    signals::ENDING,
    ui::output,
};
use satrap_coordinator::{
    Client, Coordinator,
    api::{Control, KernelState, Status},
};
use serde::{Deserialize, Serialize};
use signal_hook::iterator::Signals;
use std::{
    env,
    fs::{self, File},
    io::{self, BufRead, BufReader},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

/// How long satellites may take to boot.
const BOOT_MAX: Duration = Duration::from_secs(10);
/// How often we look whether the socket is there, once the satellites are.
const SOCKET_EVERY: Duration = Duration::from_micros(200);

/// How the detached coordinator's start went, in one line of JSON.
#[derive(Serialize, Deserialize)]
enum Report {
    Ready(Box<Status>),
    Failed(Failure),
}

/// Starts it.
pub fn execute(context: &Context, up: &Up) -> Result<u8> {
    if up.detached {
        return Ok(detached(context, up));
    }
    if let Ok(client) = Client::connect(&context.socket) {
        return Err(already(&client));
    }
    if up.foreground {
        serve(context, up, |status| announce(context, status))?;
        return Ok(0);
    }
    let status = detach(context, up)?;
    context.timings.mark("satellites registered");
    announce(context, &status)?;
    Ok(0)
}

fn already(client: &Client) -> Failure {
    let control: &dyn Control = client;
    let who = match control.status() {
        Ok(status) => format!(" (process {}, satellites: {})", status.pid, status.kernels.len()),
        Err(_) => String::new(),
    };
    Failure::new(format!("a coordinator is running already{who}"))
        .help("look at it with `satrap status`, end it with `satrap down`, or take another --socket")
}

fn announce(context: &Context, status: &Status) -> Result {
    if context.json {
        return output::json(status);
    }
    output::text(&status::satellites(status, context.out))
}

/// Starts this program again, apart from the terminal, and waits until it is ready.
fn detach(context: &Context, up: &Up) -> Result<Status> {
    let cannot = |error: io::Error| Failure::new(format!("cannot start a coordinator: {}", plain(&error)));
    let (log, log_path) = open_log(&context.socket)?;
    let mut command = Command::new(env::current_exe().map_err(cannot)?);
    command
        .args(["up", "--detached", "--socket"])
        .arg(&context.socket);
    if let Some(satellites) = up.satellites.satellites {
        command.args(["--satellites", &satellites.to_string()]);
    }
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .map_err(cannot)?;
    context.timings.mark("detached");
    let mut line = String::new();
    if let Some(pipe) = child.stdout.take() {
        BufReader::new(pipe).read_line(&mut line).map_err(cannot)?;
    }
    match serde_json::from_str(&line) {
        Ok(Report::Ready(status)) => Ok(*status),
        Ok(Report::Failed(failure)) => Err(failure),
        Err(_) => Err(Failure::new("the coordinator ended while it started")
            .help(format!("its last words are in {}", log_path.display()))),
    }
}

/// A new log beside the socket, in a folder for its owner alone.
fn open_log(socket: &Path) -> Result<(File, PathBuf)> {
    let path = socket.with_extension("log");
    let cannot =
        |error: io::Error| Failure::new(format!("cannot write {}: {}", path.display(), plain(&error)));
    if let Some(folder) = path.parent() {
        let mut builder = fs::DirBuilder::new();
        builder
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(cannot)?;
    }
    let log = File::create(&path).map_err(cannot)?;
    Ok((log, path))
}

/// The coordinator's own life, apart from the terminal.
fn detached(context: &Context, up: &Up) -> u8 {
    // Fails only for the leader of a process group, which a freshly spawned process is not.
    let _ = rustix::process::setsid();
    let result = serve(context, up, |status| {
        output::json(&Report::Ready(Box::new(status.clone())))?;
        hang_up()
    });
    match result {
        Ok(()) => 0,
        Err(failure) => {
            failure.print(context.err, context.json);
            let code = failure.code();
            // Whoever waited is gone; the log has it too.
            let _ = output::json(&Report::Failed(failure));
            code
        }
    }
}

/// Closes the pipe to whoever started us.
fn hang_up() -> Result {
    let null = File::options().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(null).map_err(io::Error::from)?;
    Ok(())
}

/// A coordinator until it is told to stop. `ready` hears once every satellite is registered and the socket
/// can be used.
fn serve(context: &Context, up: &Up, ready: impl FnOnce(&Status) -> Result + Send) -> Result {
    let coordinator = connect::own(context, up.satellites)?;
    let stopper = coordinator.stopper();
    let mut signals = Signals::new(ENDING)
        .map_err(|error| Failure::new(format!("cannot listen for signals: {}", plain(&error))))?;
    let (handle, signalled) = (signals.handle(), stopper.clone());
    let over = AtomicBool::new(false);
    let socket = context.socket.as_path();
    thread::scope(|scope| {
        scope.spawn(move || signals.forever().for_each(|_| signalled.stop()));
        let readiness = scope.spawn(|| {
            let result = settle(&coordinator, &over).and_then(|status| ready(&status));
            if result.is_err() {
                stopper.stop();
            }
            result
        });
        let served = coordinator.serve(socket);
        over.store(true, Ordering::Relaxed);
        handle.close();
        let readiness = readiness
            .join()
            .unwrap_or_else(|_| Err(Failure::new("the coordinator could not tell whether it is ready")));
        served.map_err(Failure::from).and(readiness)
    })
}

/// Waits for the satellites, then for the socket.
fn settle(coordinator: &Coordinator, over: &AtomicBool) -> Result<Status> {
    let all = coordinator.wait_ready(BOOT_MAX).is_some();
    let control: &dyn Control = coordinator;
    // Our own: another coordinator may have been quicker and answer on the same socket.
    let status = loop {
        let status = control.status()?;
        if status.socket.is_some() {
            break status;
        }
        if over.load(Ordering::Relaxed) {
            return Err(Failure::new("the coordinator was ended while it started"));
        }
        thread::sleep(SOCKET_EVERY);
    };
    if all { Ok(status) } else { Err(not_all(&status)) }
}

fn not_all(status: &Status) -> Failure {
    let missing = |kernel: &&satrap_coordinator::api::Kernel| kernel.state != KernelState::Running;
    let missing: Vec<String> = status
        .kernels
        .iter()
        .filter(missing)
        .map(|kernel| kernel.id.to_string())
        .collect();
    let mut text = format!("satellites that did not start: {}", missing.join(", "));
    for notice in &status.notices {
        text += &format!("\n  {notice}");
    }
    Failure::new(text)
}

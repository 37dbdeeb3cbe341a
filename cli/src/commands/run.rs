//! `satrap run`: an application or a program, attached to this terminal until it ends.
//!
//! With no coordinator running, one lives in this process for the length of the run.

use super::source;
use crate::{
    arguments::Run,
    connect,
    context::Context,
    failure::{Failure, Result},
    signals::{INTERRUPTED, Interrupt},
    ui::{console::Console, output, progress::Progress},
};
use satrap_coordinator::api::{Control, Event, Flow, RunRequest, Source};
use std::time::{Duration, Instant};

/// How long an application may take to end after Ctrl-C.
const PATIENCE: Duration = Duration::from_secs(2);
/// Exit code of an application that was killed.
const KILLED: i32 = 137;

/// Runs it. The exit code is the application's.
pub fn execute(context: &Context, run: Run) -> Result<u8> {
    let source = source::read(&run.file)?;
    let single = matches!(source, Source::Program(_));
    let control = if run.detach {
        Box::new(connect::running(context)?)
    } else {
        connect::any(context, run.satellites)?
    };
    let interrupt = Interrupt::listen()?;
    let request = RunRequest {
        source,
        args: run.args,
        overrides: run.affinity.overrides,
        attached: !run.detach,
    };
    let mut view = View {
        context,
        control: &*control,
        interrupt: &interrupt,
        verbose: run.verbose || run.detach,
        detached: run.detach,
        console: Console::new(!single, context.out, context.err),
        progress: Progress::new(context.err),
        told: false,
        app: None,
        leave: None,
        outcome: None,
    };
    control.run(request, &mut |event| view.take(event))?;
    context.timings.mark("application ended");
    let outcome = view.finish();
    drop(control);
    context.timings.mark("coordinator left");
    outcome
}

/// What the user sees of a run.
struct View<'a> {
    context: &'a Context,
    control: &'a dyn Control,
    interrupt: &'a Interrupt,
    verbose: bool,
    detached: bool,
    console: Console,
    progress: Progress,
    /// Whether the user was told of something that is not as it should be.
    told: bool,
    /// The application, once it is there.
    app: Option<u64>,
    /// Until when its end is waited for, once that was asked for.
    leave: Option<Instant>,
    /// How it ended: the exit code, or why it could not be shown any more.
    outcome: Option<Result<u8>>,
}

impl View<'_> {
    fn take(&mut self, event: Option<Event>) -> Flow {
        if self.interrupt.came() && self.leave() == Flow::Stop {
            self.outcome = Some(Ok(INTERRUPTED));
            return Flow::Stop;
        }
        let Some(event) = event else {
            self.progress.tick();
            return Flow::Continue;
        };
        match self.show(event) {
            Ok(()) => Flow::Continue,
            Err(failure) => {
                self.outcome = Some(Err(failure));
                Flow::Stop
            }
        }
    }

    /// Ends the application before this command, so that it can be started again at once.
    fn leave(&mut self) -> Flow {
        let left = match (self.leave, self.app) {
            (Some(limit), _) => Instant::now() < limit,
            (None, Some(app)) if !self.detached => {
                self.leave = Some(Instant::now() + PATIENCE);
                self.control.end_app(app).is_ok()
            }
            (None, _) => false,
        };
        if left { Flow::Continue } else { Flow::Stop }
    }

    fn show(&mut self, event: Event) -> Result {
        self.progress.event(&event);
        self.mark(&event);
        match event {
            Event::AppStarted { app, .. } => self.app = Some(app),
            Event::AppEnded { .. } if self.leave.is_some() => self.outcome = Some(Ok(INTERRUPTED)),
            Event::AppEnded { code, .. } => self.outcome = Some(Ok(shell_code(code))),
            _ => {}
        }
        if self.context.json {
            return output::json(&event);
        }
        match event {
            // As when `satrap kill` ends it all: then no process's end says why.
            Event::AppEnded { code, .. } if code == KILLED && !self.told && self.leave.is_none() => {
                self.tell("the application was killed");
                Ok(())
            }
            Event::Output {
                name,
                stream,
                data,
                lost,
                ..
            } => self.console.write(&name, stream, data.bytes(), lost),
            Event::Placed { name, reason, .. } => {
                self.console.know(&name);
                self.say(&format!("{name}: {reason}"));
                Ok(())
            }
            Event::ProcessStarted { name, process, .. } => {
                self.say(&format!("{name} runs as process {process}"));
                Ok(())
            }
            Event::ProcessExited {
                name,
                status,
                restart_ms,
                ..
            } => self.exited(&name, &status, restart_ms),
            Event::Notice { text, .. } => {
                self.tell(&text);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// An end by exit code speaks for itself; any other is explained.
    fn exited(&mut self, name: &str, status: &str, restart_ms: Option<u64>) -> Result {
        self.console.end(name)?;
        let ordinary = status.starts_with("exited") || status.starts_with("ended with");
        match restart_ms {
            Some(0) => self
                .console
                .notice(&format!("{name}: {status}; starts again at once")),
            Some(ms) => self
                .console
                .notice(&format!("{name}: {status}; starts again in {ms} ms")),
            None if !ordinary => self.tell(&format!("{name}: {status}")),
            None => self.say(&format!("{name}: {status}")),
        }
        Ok(())
    }

    /// Says why the application may end.
    fn tell(&mut self, text: &str) {
        self.told = true;
        self.console.notice(text);
    }

    fn say(&self, text: &str) {
        if self.verbose {
            self.console.notice(text);
        }
    }

    fn mark(&self, event: &Event) {
        let what = match event {
            Event::InstallFinished { .. } => "installed",
            Event::Placed { .. } => "placed",
            Event::ProcessStarted { .. } => "process started",
            Event::Output { .. } => "output",
            Event::ProcessExited { .. } => "process exited",
            _ => return,
        };
        self.context.timings.mark(what);
    }

    fn finish(mut self) -> Result<u8> {
        self.progress.clear();
        let left = self.console.end_all();
        match self.outcome {
            Some(Ok(code)) => left.map(|()| code),
            Some(Err(failure)) => Err(failure),
            None if self.detached => Ok(0),
            None => Err(Failure::new("the coordinator ended before the application did")),
        }
    }
}

/// What a shell sees of a code: its low 8 bits, but never success of what did not succeed.
fn shell_code(code: i32) -> u8 {
    match code.to_le_bytes()[0] {
        0 if code != 0 => 1,
        low => low,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_never_looks_like_success_to_a_shell() {
        assert_eq!([0, 7, 134, -1, 256].map(shell_code), [0, 7, 134, 255, 1]);
    }
}

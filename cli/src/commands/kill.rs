//! `satrap kill`: a process, or every process of an application.
//!
//! A name that fits several processes is refused with all of them listed, so that nothing dies by accident.
//! `ps.rs` lists what can be named.

use super::ps;
use crate::{
    arguments::Kill,
    connect,
    context::Context,
    failure::{Failure, Result},
    ui::output,
};
use satrap_coordinator::api::{App, AppState, Control, Process, ProcessState};
use serde::Serialize;

/// What was meant.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Target {
    App { id: u64, name: String },
    Process { id: u64, name: String },
}

/// Kills it.
pub fn execute(context: &Context, kill: &Kill) -> Result {
    let client = connect::running(context)?;
    let control: &dyn Control = &client;
    let target = resolve(&control.apps()?, &kill.target)?;
    let text = match &target {
        Target::App { id, name } => {
            control.end_app(*id)?;
            format!("application {name} is being ended\n")
        }
        Target::Process { id, name } => {
            control.kill(*id)?;
            format!("process {id} ({name}) is being killed\n")
        }
    };
    if context.json {
        return output::json(&target);
    }
    output::text(&text)
}

/// Finds what `wanted` names: a process's id, an application, or a process by either of its names.
fn resolve(apps: &[App], wanted: &str) -> Result<Target> {
    let live = |process: &&Process| process.state != ProcessState::Exited;
    let processes: Vec<&Process> = apps.iter().flat_map(|app| &app.processes).filter(live).collect();
    if let Ok(id) = wanted.parse::<u64>() {
        let found = processes.iter().find(|process| process.id == id);
        return found
            .map(|process| self::process(process))
            .ok_or_else(|| unknown(wanted));
    }
    // A program that is its own application has its name, and is meant as a process.
    let whole = processes
        .iter()
        .filter(|process| ps::full_name(process) == wanted);
    if let [process] = whole.collect::<Vec<_>>().as_slice() {
        return Ok(self::process(process));
    }
    let named: Vec<&App> = apps
        .iter()
        .filter(|app| app.name == wanted && app.state != AppState::Ended)
        .collect();
    match named.as_slice() {
        [app] => {
            return Ok(Target::App {
                id: app.id,
                name: app.name.clone(),
            });
        }
        [] => {}
        several => return Err(ambiguous(wanted, several.iter().flat_map(|app| &app.processes))),
    }
    let named: Vec<&Process> = processes
        .into_iter()
        .filter(|process| process.name == wanted)
        .collect();
    match named.as_slice() {
        [process] => Ok(self::process(process)),
        [] => Err(unknown(wanted)),
        several => Err(ambiguous(wanted, several.iter().copied())),
    }
}

fn process(process: &Process) -> Target {
    Target::Process {
        id: process.id,
        name: ps::full_name(process),
    }
}

fn unknown(wanted: &str) -> Failure {
    Failure::new(format!("no process and no application is called `{wanted}`")).help("`satrap ps` lists them")
}

fn ambiguous<'a>(wanted: &str, found: impl Iterator<Item = &'a Process>) -> Failure {
    let ids: Vec<String> = found
        .map(|process| format!("{} ({})", process.id, ps::full_name(process)))
        .collect();
    Failure::new(format!(
        "`{wanted}` may be any of the processes {}",
        ids.join(", ")
    ))
    .help("name one by its number")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{testing, ui::style::Style};

    fn apps() -> Vec<App> {
        let tool = Process {
            app_name: "tool".into(),
            name: "tool".into(),
            ..testing::process(6, 0)
        };
        vec![
            testing::app(1, "app", vec![testing::process(4, 0), testing::process(5, 0)]),
            testing::app(2, "tool", vec![tool]),
            testing::app(3, "twin", vec![testing::process(7, 0)]),
            testing::app(4, "twin", vec![testing::process(8, 0), testing::process(9, 0)]),
        ]
    }

    fn meant(wanted: &str) -> String {
        match resolve(&apps(), wanted) {
            Ok(Target::App { id, .. }) => format!("app {id}"),
            Ok(Target::Process { id, .. }) => format!("process {id}"),
            Err(failure) => failure.render(Style::plain()),
        }
    }

    #[test]
    fn processes_and_applications_are_found_by_number_and_name() {
        let wanted = ["5", "p5", "app/p5", "app", "tool"];
        let found = ["process 5", "process 5", "process 5", "app 1", "process 6"];
        assert_eq!(wanted.map(meant), found);
    }

    #[test]
    fn what_is_not_there_or_not_one_is_refused() {
        assert_eq!(
            meant("nobody"),
            "error: no process and no application is called `nobody`\n help: `satrap ps` lists them\n"
        );
        assert_eq!(
            meant("twin"),
            "error: `twin` may be any of the processes 7 (app/p7), 8 (app/p8), 9 (app/p9)\n help: name one by its \
             number\n"
        );
    }
}

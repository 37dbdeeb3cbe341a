//! `satrap kill`: a process, or every process of an application.

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
    let is = |process: &&&Process| process.name == wanted || ps::full_name(process) == wanted;
    let named: Vec<&Process> = processes.iter().filter(is).copied().collect();
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

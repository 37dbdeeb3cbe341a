//! `satrap ps`: the processes.
//!
//! Other commands name and colour processes through the functions here.

use crate::{
    arguments::Ps,
    connect,
    context::Context,
    failure::Result,
    ui::{
        output,
        style::{Colour, Style},
        table::{Align, Cell, Table, optional},
        units,
    },
};
use satrap_coordinator::api::{Control, Process, ProcessState};
use std::time::Duration;

/// Lists them.
pub fn execute(context: &Context, ps: &Ps) -> Result {
    let client = connect::running(context)?;
    let control: &dyn Control = &client;
    let mut processes = control.processes()?;
    processes.retain(|process| ps.all || process.state != ProcessState::Exited);
    if context.json {
        return output::json(&processes);
    }
    output::text(&render(&processes, context.out))
}

/// `application/process`, or one name for a program that is its own application.
pub fn full_name(process: &Process) -> String {
    if process.app_name == process.name {
        return process.name.clone();
    }
    format!("{}/{}", process.app_name, process.name)
}

/// A state and its colour.
pub fn state(process: &Process) -> Cell {
    let (text, colour) = match process.state {
        ProcessState::Waiting => ("waiting", Colour::Warning),
        ProcessState::Starting => ("starting", Colour::Warning),
        ProcessState::Running => ("running", Colour::Good),
        ProcessState::Ending => ("ending", Colour::Warning),
        ProcessState::Exited => ("exited", Colour::Dim),
    };
    Cell::new(text, colour)
}

fn render(processes: &[Process], style: Style) -> String {
    let mut table = Table::new([
        ("PROCESS", Align::Right),
        ("NAME", Align::Left),
        ("SATELLITE", Align::Right),
        ("STATE", Align::Left),
        ("CLASS", Align::Right),
        ("THREADS", Align::Right),
        ("MEMORY", Align::Right),
        ("CPU", Align::Right),
        ("AGE", Align::Right),
        ("RESTARTS", Align::Right),
        ("LAST END", Align::Left),
    ]);
    for process in processes {
        // Of what has no place there are no figures.
        let placed = !matches!(process.state, ProcessState::Waiting | ProcessState::Exited);
        let figure = |text: String| optional(placed.then_some(text));
        table.row([
            optional(Some(process.id).filter(|id| *id != 0)),
            full_name(process).into(),
            optional(process.kernel),
            state(process),
            process.priority.into(),
            figure(process.threads.to_string()),
            figure(units::bytes(process.memory)),
            figure(units::duration(Duration::from_nanos(process.cpu_ns))),
            units::ms(process.age_ms).into(),
            process.restarts.into(),
            process.exit.clone().unwrap_or_default().into(),
        ]);
    }
    table.render(style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn each_process_has_a_line() {
        let waiting = Process {
            id: 0,
            kernel: None,
            state: ProcessState::Waiting,
            exit: Some("trapped: call stack exhausted".into()),
            restarts: 2,
            ..testing::process(12, 0)
        };
        let tool = Process {
            app_name: "tool".into(),
            name: "tool".into(),
            ..testing::process(7, 2_500_000_000)
        };
        let expected = "\
PROCESS  NAME     SATELLITE  STATE    CLASS  THREADS   MEMORY    CPU     AGE  RESTARTS  LAST END
      7  tool             1  running      1        1  7.0 MiB  2.5 s  1m 01s         0
      -  app/p12          -  waiting      1        -        -      -  1m 01s         2  trapped: call stack exhausted
";
        assert_eq!(render(&[tool, waiting], Style::plain()), expected);
    }
}

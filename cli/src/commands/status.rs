//! `satrap status`: the whole system at a glance.
//!
//! `kernels.rs`, `ps.rs` and `ns.rs` show its parts in full.

use super::kernels;
use crate::{
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
use satrap_coordinator::api::{App, AppState, Control, Kernel, KernelState, Status};
use std::time::Duration;

/// Ended applications that are shown; `--json` has all that are remembered.
const ENDED_SHOWN: usize = 5;

/// Shows it.
pub fn execute(context: &Context) -> Result {
    let client = connect::running(context)?;
    let control: &dyn Control = &client;
    let status = control.status()?;
    if context.json {
        return output::json(&status);
    }
    output::text(&render(&status, context.out))
}

/// Everything.
pub fn render(status: &Status, style: Style) -> String {
    let mut text = header(status, style) + "\n" + &satellites(status, style);
    if !status.apps.is_empty() {
        text += &format!("\n{}", applications(&status.apps, style));
    }
    if !status.notices.is_empty() {
        text += &format!("\n{}\n", style.paint(Colour::Bold, "notices"));
        for notice in &status.notices {
            text += &format!("  {} {notice}\n", style.paint(Colour::Warning, "!"));
        }
    }
    text
}

fn header(status: &Status, style: Style) -> String {
    let mut text = format!(
        "{} {}, process {}, up for {}\n",
        style.paint(Colour::Bold, "coordinator"),
        status.version,
        status.pid,
        units::ms(status.uptime_ms)
    );
    if let Some(socket) = &status.socket {
        text += &format!(
            "{}      {}\n",
            style.paint(Colour::Bold, "socket"),
            socket.display()
        );
    }
    text
}

/// How many satellites are up and how fast, and a line for each: also what `up` prints.
pub fn satellites(status: &Status, style: Style) -> String {
    let running = |kernel: &&Kernel| kernel.state == KernelState::Running;
    let (up, all) = (
        status.kernels.iter().filter(running).count(),
        status.kernels.len(),
    );
    let count = match (up, all) {
        (1, 1) => "1 satellite is up".to_owned(),
        (up, all) if up == all => format!("{all} satellites are up"),
        (up, all) => format!("{up} of {all} satellites are up"),
    };
    let time = status
        .up_us
        .map(|us| format!(", registered in {}", units::duration(Duration::from_micros(us))));
    let colour = if up == all { Colour::Good } else { Colour::Bad };
    let line = style.paint(colour, &count) + &time.unwrap_or_default();
    format!("{line}\n{}", kernels::short(&status.kernels, style))
}

/// Those that live, and the last that have ended.
fn applications(apps: &[App], style: Style) -> String {
    let ended = apps.iter().filter(|app| app.state == AppState::Ended).count();
    let mut hidden = ended.saturating_sub(ENDED_SHOWN);
    let mut table = Table::new([
        ("APP", Align::Right),
        ("NAME", Align::Left),
        ("VERSION", Align::Left),
        ("STATE", Align::Left),
        ("PROCESSES", Align::Right),
        ("AGE", Align::Right),
        ("EXIT", Align::Right),
    ]);
    for app in apps {
        if app.state == AppState::Ended && hidden > 0 {
            hidden -= 1;
            continue;
        }
        let (state, colour) = match app.state {
            AppState::Running => ("running", Colour::Good),
            AppState::Ending => ("ending", Colour::Warning),
            AppState::Ended => ("ended", Colour::Dim),
        };
        table.row([
            app.id.into(),
            app.name.clone().into(),
            optional(Some(&app.version).filter(|version| !version.is_empty())),
            Cell::new(state, colour),
            app.processes.len().into(),
            units::ms(app.age_ms).into(),
            optional(app.exit_code),
        ]);
    }
    table.render(style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn the_whole_system_is_on_one_page() {
        let expected = "\
coordinator 0.1.0, process 4000, up for 2m 05s
socket      /run/s.sock

2 satellites are up, registered in 12 ms
SATELLITE  STATE    PLATFORM       CPUS  NODE  LOAD  PROCESSES   PID    BOOT
        1  running  hosted-x86_64  0        0   0 %          1  4001  9.0 ms
        2  running  hosted-x86_64  1        0  50 %          1  4002  9.0 ms

APP  NAME  VERSION  STATE    PROCESSES     AGE  EXIT
  3  png   1.0.0    running          1  1m 01s     -

notices
  ! cores are shared
";
        assert_eq!(render(&testing::status(), Style::plain()), expected);
    }

    #[test]
    fn of_what_has_ended_only_the_last_is_shown() {
        let ended = |id| App {
            state: AppState::Ended,
            ..testing::app(id, "old", Vec::new())
        };
        let apps: Vec<App> = [testing::app(1, "long", Vec::new())]
            .into_iter()
            .chain((2..20).map(ended))
            .collect();
        let text = applications(&apps, Style::plain());
        let shown: Vec<&str> = text.lines().skip(1).map(|line| line[..3].trim()).collect();
        assert_eq!(shown, ["1", "15", "16", "17", "18", "19"]);
    }

    #[test]
    fn a_satellite_that_is_down_is_counted() {
        let mut status = testing::status();
        status.kernels[1].state = KernelState::Restarting;
        status.kernels[1].generation = 3;
        let text = satellites(&status, Style::plain());
        assert!(text.starts_with("1 of 2 satellites are up"), "{text}");
        assert!(text.contains("\n      2.3  restarting  "), "{text}");
    }
}

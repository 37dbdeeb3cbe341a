//! `satrap status`: the whole system at a glance.

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

fn applications(apps: &[App], style: Style) -> String {
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

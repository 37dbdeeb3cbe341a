//! `satrap kernels`: the satellite kernels and their figures.
//!
//! `status.rs` shows the same kernels in short, through the functions here.

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
use satrap_coordinator::api::{Control, Kernel, KernelState};
use std::time::Duration;

/// Shows them.
pub fn execute(context: &Context) -> Result {
    let client = connect::running(context)?;
    let control: &dyn Control = &client;
    let kernels = control.kernels()?;
    if context.json {
        return output::json(&kernels);
    }
    output::text(&long(&kernels, context.out))
}

/// A state and its colour.
pub fn state(state: KernelState) -> Cell {
    let (text, colour) = match state {
        KernelState::Booting => ("booting", Colour::Warning),
        KernelState::Running => ("running", Colour::Good),
        KernelState::Restarting => ("restarting", Colour::Warning),
        KernelState::Failed => ("failed", Colour::Bad),
    };
    Cell::new(text, colour)
}

/// Which satellite it is: its number, and how many had it before, if any.
pub fn number(kernel: &Kernel) -> String {
    match kernel.generation {
        0 => kernel.id.to_string(),
        generation => format!("{}.{generation}", kernel.id),
    }
}

/// Where it runs and what it does.
pub fn short(kernels: &[Kernel], style: Style) -> String {
    let mut table = Table::new([
        ("SATELLITE", Align::Right),
        ("STATE", Align::Left),
        ("PLATFORM", Align::Left),
        ("CPUS", Align::Left),
        ("NODE", Align::Right),
        ("LOAD", Align::Right),
        ("PROCESSES", Align::Right),
        ("PID", Align::Right),
        ("BOOT", Align::Right),
    ]);
    for kernel in kernels {
        table.row([
            number(kernel).into(),
            state(kernel.state),
            optional(Some(&kernel.platform).filter(|platform| !platform.is_empty())),
            units::ranges(&kernel.cpus).into(),
            optional(kernel.node),
            units::percent(kernel.load).into(),
            kernel.processes.into(),
            optional(kernel.pid),
            optional(
                kernel
                    .boot_us
                    .map(|us| units::duration(Duration::from_micros(us))),
            ),
        ]);
    }
    table.render(style)
}

/// What it has done since its start.
fn long(kernels: &[Kernel], style: Style) -> String {
    let mut table = Table::new([
        ("SATELLITE", Align::Right),
        ("STATE", Align::Left),
        ("CPUS", Align::Left),
        ("LOAD", Align::Right),
        ("PROCESSES", Align::Right),
        ("UPTIME", Align::Right),
        ("BUSY", Align::Right),
        ("SWITCHES", Align::Right),
        ("PREEMPTIONS", Align::Right),
        ("PARKS", Align::Right),
        ("DOORBELLS", Align::Right),
        ("EXCHANGE", Align::Right),
    ]);
    for kernel in kernels {
        let stats = kernel.stats.as_ref();
        table.row([
            number(kernel).into(),
            state(kernel.state),
            units::ranges(&kernel.cpus).into(),
            units::percent(kernel.load).into(),
            kernel.processes.into(),
            optional(stats.map(|stats| units::duration(Duration::from_nanos(stats.uptime)))),
            optional(stats.map(|stats| units::duration(Duration::from_nanos(stats.busy)))),
            optional(stats.map(|stats| units::count(stats.switches as f64))),
            optional(stats.map(|stats| units::count(stats.preemptions as f64))),
            optional(stats.map(|stats| units::count(stats.parks as f64))),
            optional(stats.map(|stats| units::count(stats.doorbells as f64))),
            optional(stats.map(|stats| units::bytes(stats.exchange_used))),
        ]);
    }
    table.render(style)
}

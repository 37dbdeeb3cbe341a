//! `satrap place`: where an application's processes would go, and why. Nothing is started.
//!
//! The figures are those that the coordinator itself places by (Helios figure 3); `deploy/placement` has
//! them.

use super::source;
use crate::{
    arguments::Place,
    connect,
    context::Context,
    failure::{Failure, Result},
    ui::{
        output,
        style::Style,
        table::{Align, Table},
    },
};
use satrap_coordinator::api::{PlaceRequest, Placement};
use serde::Deserialize;

/// The part of a serialised `satrap_placement::Plan` that the short form shows.
#[derive(Deserialize)]
struct Plan {
    decisions: Vec<Decision>,
}

#[derive(Deserialize)]
struct Decision {
    process: String,
    kernel: u16,
    decided_by: String,
}

/// Shows it. Fails when a process can go nowhere.
pub fn execute(context: &Context, place: Place) -> Result<u8> {
    let source = source::read(&place.file)?;
    let control = connect::any(context, place.satellites)?;
    let overrides = place.affinity.overrides;
    let placement = control.place(PlaceRequest { source, overrides })?;
    if context.json {
        output::json(&placement)?;
    } else if place.explain {
        output::text(&placement.explanation)?;
    } else {
        output::text(&short(&placement, context.out)?)?;
    }
    match placement.refused {
        0 => Ok(0),
        _ => Err(refused(&placement, place.explain)),
    }
}

fn refused(placement: &Placement, explained: bool) -> Failure {
    let failure = Failure::new(format!(
        "processes that can be placed nowhere: {}",
        placement.refused
    ));
    if explained {
        failure
    } else {
        failure.help("--explain says why")
    }
}

fn short(placement: &Placement, style: Style) -> Result<String> {
    let plan: Plan = serde_json::from_value(placement.plan.clone()).map_err(|error| {
        Failure::new(format!("the coordinator's answer is not understood: {error}"))
            .help("are satrap and it of the same version?")
    })?;
    let mut table = Table::new([
        ("PROCESS", Align::Left),
        ("SATELLITE", Align::Right),
        ("DECIDED BY", Align::Left),
    ]);
    for decision in plan.decisions {
        let by = words(&decision.decided_by);
        table.row([decision.process.into(), decision.kernel.into(), by.into()]);
    }
    Ok(table.render(style))
}

/// The pass of Helios figure 3 that decided, by its name in JSON, as the explanation words it.
fn words(pass: &str) -> String {
    match pass {
        "platform" | "positive" | "negative" => format!("{pass} affinity"),
        "only-kernel" => "being the only satellite".to_owned(),
        "number" => "satellite number".to_owned(),
        "load" => "CPU load".to_owned(),
        other => other.replace('-', " "),
    }
}

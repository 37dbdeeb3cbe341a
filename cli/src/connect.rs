//! The coordinator that a command talks to: the running one, or one of its own for as long as it lasts.
//!
//! Commands see the trait `Control` and not which of the two it is; `coordinator/daemon` has both.

use crate::{
    arguments::Satellites,
    context::Context,
    failure::{Failure, Result},
};
use satrap_coordinator::{Client, Config, ConnectError, Coordinator, api::Control};
use std::io;

/// The running coordinator.
pub fn running(context: &Context) -> Result<Client> {
    let client = Client::connect(&context.socket)?;
    context.timings.mark("connected");
    Ok(client)
}

/// The running coordinator, or else one in this process, which ends with the value.
pub fn any(context: &Context, satellites: Satellites) -> Result<Box<dyn Control>> {
    match Client::connect(&context.socket) {
        Ok(client) => {
            check_satellites(&client, satellites)?;
            context.timings.mark("connected");
            Ok(Box::new(client))
        }
        Err(ConnectError::NotRunning(_)) => Ok(Box::new(own(context, satellites)?)),
        Err(error) => Err(error.into()),
    }
}

/// Starts a coordinator in this process.
pub fn own(context: &Context, satellites: Satellites) -> Result<Coordinator> {
    let config = Config::from_environment().map_err(|error| not_found(&error))?;
    let satellites = satellites.satellites.map(usize::from);
    let coordinator = Coordinator::start(Config { satellites, ..config })?;
    context.timings.mark("coordinator started");
    Ok(coordinator)
}

fn not_found(error: &io::Error) -> Failure {
    Failure::new(format!("cannot find the folder of this program: {error}"))
        .help("name the folder of satrap-hosted and satrap-compiler with SATRAP_BIN_DIR")
}

/// A number of satellites was asked for that the running coordinator does not have.
fn check_satellites(client: &Client, wanted: Satellites) -> Result {
    let Some(wanted) = wanted.satellites.map(usize::from) else {
        return Ok(());
    };
    let control: &dyn Control = client;
    match control.kernels()?.len() {
        present if present == wanted => Ok(()),
        present => Err(Failure::usage(format!(
            "--satellites {wanted}: a coordinator with {present} is running already"
        ))
        .help(format!(
            "leave the option out, or `satrap down` and `satrap up --satellites {wanted}`"
        ))),
    }
}

//! The commands, one file for each. A command returns its exit code, or why it failed.
//!
//! Commands talk to the coordinator through `connect.rs` and print through `ui`; `arguments.rs` says what
//! they take.

mod contract;
mod down;
mod install;
mod kernels;
mod kill;
mod logs;
mod ns;
mod place;
mod ps;
mod run;
mod source;
mod status;
mod top;
mod up;

use crate::{
    arguments::{Arguments, Command, Contract},
    context::Context,
    failure::Result,
    ui::output,
};
use clap::CommandFactory;
use clap_complete::Shell;

/// Does what was asked.
pub fn execute(context: &Context, command: Command) -> Result<u8> {
    match command {
        Command::Up(up) => up::execute(context, &up),
        Command::Run(run) => run::execute(context, run),
        Command::Install(install) => install::execute(context, &install),
        Command::Place(place) => place::execute(context, place),
        Command::Logs(logs) => logs::execute(context, logs),
        Command::Down => down::execute(context).map(done),
        Command::Status => status::execute(context).map(done),
        Command::Kernels => kernels::execute(context).map(done),
        Command::Ps(ps) => ps::execute(context, &ps).map(done),
        Command::Ns(ns) => ns::execute(context, &ns).map(done),
        Command::Kill(kill) => kill::execute(context, &kill).map(done),
        Command::Top => top::execute(context).map(done),
        Command::Contract(Contract::Check { files }) => contract::check(context, &files),
        Command::Completions { shell } => completions(shell).map(done),
    }
}

/// The exit code of what just works.
fn done((): ()) -> u8 {
    0
}

fn completions(shell: Shell) -> Result {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "satrap", &mut script);
    output::bytes(&script)
}

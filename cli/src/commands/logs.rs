//! `satrap logs`: what processes wrote, from the beginning as far as it is kept.
//!
//! Lines of several processes carry their names, and `--follow` waits for more. `ui/console.rs` writes them.

use crate::{
    arguments::Logs,
    connect,
    context::Context,
    failure::Result,
    signals::{INTERRUPTED, Interrupt},
    ui::{console::Console, output},
};
use satrap_coordinator::api::{Call, Control, Event, Flow};

/// Prints it: verbatim for one process, with names for all.
pub fn execute(context: &Context, logs: Logs) -> Result<u8> {
    let client = connect::running(context)?;
    let control: &dyn Control = &client;
    let interrupt = Interrupt::listen()?;
    let mut console = Console::new(logs.process.is_none(), context.out, context.err);
    let mut shown = Ok(());
    let call = Call::Logs {
        process: logs.process,
        follow: logs.follow,
    };
    control.events(call, &mut |event| {
        if interrupt.came() {
            return Flow::Stop;
        }
        if let Some(event) = event {
            shown = show(context, &mut console, &event);
        }
        match shown {
            Ok(()) => Flow::Continue,
            Err(_) => Flow::Stop,
        }
    })?;
    shown?;
    console.end_all()?;
    Ok(if interrupt.came() { INTERRUPTED } else { 0 })
}

fn show(context: &Context, console: &mut Console, event: &Event) -> Result {
    if context.json {
        return output::json(event);
    }
    match event {
        Event::Output {
            name,
            stream,
            data,
            lost,
            ..
        } => console.write(name, *stream, data.bytes(), *lost),
        _ => Ok(()),
    }
}

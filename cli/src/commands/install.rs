//! `satrap install`: compiles programs into the cache.
//!
//! Compiling shows its progress and is done once for each content; `run.rs` installs the same way.

use super::source;
use crate::{
    arguments::{Install, Satellites},
    connect,
    context::Context,
    failure::Result,
    signals::{INTERRUPTED, Interrupt},
    ui::{
        output,
        progress::{Progress, file_name},
        style::Colour,
        units,
    },
};
use satrap_coordinator::api::{Event, Flow, InstallRequest, InstallResult};

/// Compiles them all.
pub fn execute(context: &Context, install: &Install) -> Result<u8> {
    let sources = install.files.iter().map(|file| source::read(file));
    let sources = sources.collect::<Result<Vec<_>>>()?;
    // Whose satellites they are compiled for does not matter: one is enough to know the platform.
    let control = connect::any(context, Satellites { satellites: None })?;
    let interrupt = Interrupt::listen()?;
    let mut progress = Progress::new(context.err);
    let mut failed = None;
    let request = InstallRequest { sources };
    control.install(request, &mut |event| {
        if interrupt.came() {
            return Flow::Stop;
        }
        let Some(event) = event else {
            progress.tick();
            return Flow::Continue;
        };
        progress.event(&event);
        match show(context, &event) {
            Ok(()) => Flow::Continue,
            Err(failure) => {
                failed = Some(failure);
                Flow::Stop
            }
        }
    })?;
    progress.clear();
    match failed {
        Some(failure) => Err(failure),
        None if interrupt.came() => Ok(INTERRUPTED),
        None => Ok(0),
    }
}

fn show(context: &Context, event: &Event) -> Result {
    if context.json {
        return output::json(event);
    }
    let Event::InstallFinished {
        program,
        target,
        result,
    } = event
    else {
        return Ok(());
    };
    let name = file_name(program);
    let how = match result {
        InstallResult::Cached => context.out.paint(Colour::Dim, "in the cache already"),
        InstallResult::Compiled { ms } => {
            let how = format!("compiled in {}", units::ms(*ms));
            context.out.paint(Colour::Good, &how)
        }
        // The call itself fails with the compiler's words.
        InstallResult::Failed(_) => return Ok(()),
    };
    output::text(&format!("{name}: {how}, for {target}\n"))
}

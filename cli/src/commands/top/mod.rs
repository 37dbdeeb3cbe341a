//! `satrap top`: satellites, processes and channels, live.
//!
//! Once a second the coordinator is asked for counters; `model` turns two samples into rates, `view` draws
//! them. With `--json` each set of rates is a line, without a terminal.

mod model;
mod view;

use crate::{
    connect,
    context::Context,
    failure::{Failure, Result, plain},
    signals::Interrupt,
    ui::output,
};
use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use model::{Rates, Sample};
use ratatui::DefaultTerminal;
use satrap_coordinator::{Client, api::Control};
use std::{
    io::{self, IsTerminal},
    thread,
    time::{Duration, Instant},
};
use view::View;

/// Time between two samples.
const EVERY: Duration = Duration::from_secs(1);
/// The first rates come sooner, so that the screen does not start empty.
const FIRST: Duration = Duration::from_millis(200);
/// How often a stream of JSON looks whether it shall end.
const NAP: Duration = Duration::from_millis(50);

/// Shows them until the user has seen enough.
pub fn execute(context: &Context) -> Result {
    let client = connect::running(context)?;
    if context.json {
        return stream(&client);
    }
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        return Err(
            Failure::usage("`top` needs a terminal").help("--json prints the figures, a line a second")
        );
    }
    let first = sample(&client)?;
    let mut terminal = ratatui::try_init().map_err(|error| screen(&error))?;
    let result = watch(&client, first, &mut terminal);
    ratatui::restore();
    result
}

fn screen(error: &io::Error) -> Failure {
    Failure::new(format!("cannot use the terminal: {}", plain(error)))
}

fn sample(client: &Client) -> Result<Sample> {
    let control: &dyn Control = client;
    Ok(Sample {
        at: Instant::now(),
        kernels: control.kernels()?,
        processes: control.processes()?,
        channels: control.channels()?,
    })
}

fn stream(client: &Client) -> Result {
    let interrupt = Interrupt::listen()?;
    let mut last = sample(client)?;
    let mut due = Instant::now() + FIRST;
    while !interrupt.came() {
        thread::sleep(NAP.min(due.saturating_duration_since(Instant::now())));
        if Instant::now() < due {
            continue;
        }
        let next = sample(client)?;
        output::json(&Rates::between(&last, &next))?;
        (last, due) = (next, Instant::now() + EVERY);
    }
    Ok(())
}

fn watch(client: &Client, first: Sample, terminal: &mut DefaultTerminal) -> Result {
    let mut view = View::new(Rates::between(&first, &first));
    let mut last = first;
    let mut due = Instant::now() + FIRST;
    loop {
        terminal
            .draw(|frame| view.draw(frame))
            .map_err(|error| screen(&error))?;
        let left = due.saturating_duration_since(Instant::now());
        if event::poll(left).map_err(|error| screen(&error))? {
            if let Event::Key(key) = event::read().map_err(|error| screen(&error))?
                && key.kind != KeyEventKind::Release
                && press(&mut view, key)
            {
                return Ok(());
            }
            continue;
        }
        let next = sample(client)?;
        view.update(Rates::between(&last, &next));
        (last, due) = (next, Instant::now() + EVERY);
    }
}

/// Does what a key says. Returns whether it says to leave.
fn press(view: &mut View, key: KeyEvent) -> bool {
    match key.code {
        KeyCode::Char('q') => return true,
        KeyCode::Char('c') => return key.modifiers.contains(KeyModifiers::CONTROL),
        KeyCode::Char('s') => view.sort(),
        KeyCode::Down | KeyCode::Char('j') => view.select(1),
        KeyCode::Up | KeyCode::Char('k') => view.select(-1),
        KeyCode::Esc => view.select_none(),
        _ => {}
    }
    false
}

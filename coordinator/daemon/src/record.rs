//! The record of what happened and what was printed: one order, bounded memory, readers of any speed.
//!
//! A reader that falls behind misses the oldest output and is told how much. Neighbour: `journal`.

use crate::{
    api::{Data, Event},
    journal::{Journal, Sequence},
};
use satrap_abi::{ProcessId, control::Stream};
use std::collections::BTreeMap;

/// Events kept.
pub const EVENTS_MAX: usize = 4096;
/// Console output kept of each process, in bytes, bookkeeping included.
pub const LOG_MAX: usize = 256 << 10;
/// The same for a process whose output somebody waits for: a slow terminal must fall far behind to miss any.
pub const ATTACHED_LOG_MAX: usize = 64 << 20;
/// Notices kept for `status`.
pub const NOTICES_MAX: usize = 32;
/// What an entry of a log costs beside its text, in bytes.
const ENTRY: usize = 96;
/// Most entries that one read returns, so that no reader holds the coordinator for long.
const READ_MAX: usize = 512;

/// One process of one application, over all its restarts.
pub type LogId = (u64, usize);

#[derive(Debug)]
struct Output {
    time_ms: u64,
    process: ProcessId,
    stream: Stream,
    bytes: Vec<u8>,
    /// Bytes that the same process wrote before.
    before: u64,
}

#[derive(Debug)]
struct Log {
    name: String,
    written: u64,
    journal: Journal<Output>,
}

/// Everything that readers can read.
#[derive(Debug)]
pub struct Record {
    /// The sequence given out last.
    last: Sequence,
    events: Journal<Event>,
    logs: BTreeMap<LogId, Log>,
    notices: Journal<String>,
}

/// Where a reader is.
#[derive(Clone, Debug, Default)]
pub struct Cursor {
    after: Option<Sequence>,
    /// For each log, how many bytes were written up to the last entry that this reader saw.
    seen: BTreeMap<LogId, u64>,
}

/// What a reader wants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Filter {
    /// Whether it wants events: all of them, or only those of `app`.
    pub events: bool,
    /// Only this application.
    pub app: Option<u64>,
    /// Logs of these, or every log of `app`.
    pub logs: Option<Vec<LogId>>,
}

impl Default for Record {
    fn default() -> Record {
        Record {
            last: 0,
            events: Journal::new(EVENTS_MAX),
            logs: BTreeMap::new(),
            notices: Journal::new(NOTICES_MAX),
        }
    }
}

impl Record {
    /// Writes an event; a notice is kept for `status` too.
    pub fn event(&mut self, event: Event) {
        let sequence = self.sequence();
        if let Event::Notice { app, text } = &event {
            let about = app.map_or_else(String::new, |app| format!("app {app}: "));
            self.notices.push(sequence, 1, about + text);
        }
        self.events.push(sequence, 1, event);
    }

    /// Tells the operator something.
    pub fn notice(&mut self, text: impl Into<String>) {
        let text = text.into();
        self.event(Event::Notice { app: None, text });
    }

    /// Tells the operator, and whoever waits for the application, something about it.
    pub fn notice_about(&mut self, app: u64, text: impl Into<String>) {
        let (app, text) = (Some(app), text.into());
        self.event(Event::Notice { app, text });
    }

    /// Notices, oldest first.
    pub fn notices(&self) -> Vec<String> {
        self.notices.after(None).map(|(_, text)| text.clone()).collect()
    }

    /// Opens the log of a process.
    pub fn open_log(&mut self, log: LogId, name: &str, attached: bool) {
        let size = if attached { ATTACHED_LOG_MAX } else { LOG_MAX };
        let log_of_process = Log {
            name: name.to_owned(),
            written: 0,
            journal: Journal::new(size),
        };
        self.logs.insert(log, log_of_process);
    }

    /// Nobody waits for the application's output any more: its logs shrink.
    pub fn detach_logs(&mut self, app: u64) {
        for (_, log) in self.logs.range_mut((app, 0)..=(app, usize::MAX)) {
            log.journal.set_weight_max(LOG_MAX);
        }
    }

    /// Forgets the logs of an application.
    pub fn close_logs(&mut self, app: u64) {
        self.logs.retain(|(owner, _), _| *owner != app);
    }

    /// Writes console output. A log that is not open loses it.
    pub fn output(&mut self, log: LogId, process: ProcessId, stream: Stream, bytes: Vec<u8>, time_ms: u64) {
        let sequence = self.sequence();
        let Some(log) = self.logs.get_mut(&log) else {
            return;
        };
        let before = log.written;
        log.written += bytes.len() as u64;
        let weight = bytes.len() + ENTRY;
        let output = Output {
            time_ms,
            process,
            stream,
            bytes,
            before,
        };
        log.journal.push(sequence, weight, output);
    }

    /// A cursor that reads only what comes from now on.
    pub fn end(&self) -> Cursor {
        Cursor {
            after: Some(self.last),
            seen: self.logs.iter().map(|(id, log)| (*id, log.written)).collect(),
        }
    }

    /// A cursor that reads what is kept.
    pub fn start(&self) -> Cursor {
        let oldest = |log: &Log| {
            log.journal
                .after(None)
                .next()
                .map_or(0, |(_, output)| output.before)
        };
        Cursor {
            after: None,
            seen: self.logs.iter().map(|(id, log)| (*id, oldest(log))).collect(),
        }
    }

    /// Takes what came since the cursor, in order, at most some hundred entries at a time.
    pub fn read(&self, cursor: &mut Cursor, filter: &Filter) -> Vec<Event> {
        let mut found: Vec<(Sequence, Event)> = Vec::new();
        if filter.events {
            let wanted = |event: &Event| filter.app.is_none() || app_of(event) == filter.app;
            let events = self.events.after(cursor.after).filter(|(_, event)| wanted(event));
            found.extend(
                events
                    .take(READ_MAX)
                    .map(|(sequence, event)| (sequence, event.clone())),
            );
        }
        let mut written = BTreeMap::new();
        for (id, log) in &self.logs {
            if !filter.wants_log(*id) {
                continue;
            }
            for (sequence, output) in log.journal.after(cursor.after).take(READ_MAX) {
                found.push((sequence, log.event(*id, sequence, output)));
                written.insert(sequence, (*id, output.before, output.bytes.len() as u64));
            }
        }
        found.sort_by_key(|(sequence, _)| *sequence);
        found.truncate(READ_MAX);
        for (sequence, event) in &mut found {
            cursor.after = Some(*sequence);
            if let (Some((id, before, length)), Event::Output { lost, .. }) = (written.get(sequence), event) {
                let seen = cursor.seen.insert(*id, before + length).unwrap_or(0);
                *lost = before.saturating_sub(seen);
            }
        }
        found.into_iter().map(|(_, event)| event).collect()
    }

    fn sequence(&mut self) -> Sequence {
        self.last += 1;
        self.last
    }
}

impl Log {
    fn event(&self, (app, _): LogId, sequence: Sequence, output: &Output) -> Event {
        Event::Output {
            sequence,
            time_ms: output.time_ms,
            app,
            process: output.process.0,
            name: self.name.clone(),
            stream: match output.stream {
                Stream::Out => 1,
                Stream::Err => 2,
            },
            data: Data::new(&output.bytes),
            lost: 0,
        }
    }
}

impl Filter {
    fn wants_log(&self, id: LogId) -> bool {
        match &self.logs {
            Some(logs) => logs.contains(&id),
            None => self.app == Some(id.0),
        }
    }
}

fn app_of(event: &Event) -> Option<u64> {
    match event {
        Event::AppStarted { app, .. }
        | Event::Placed { app, .. }
        | Event::ProcessStarted { app, .. }
        | Event::ProcessExited { app, .. }
        | Event::AppEnded { app, .. } => Some(*app),
        Event::Notice { app, .. } => *app,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: LogId = (1, 0);

    fn filter() -> Filter {
        Filter {
            events: true,
            app: Some(1),
            logs: None,
        }
    }

    fn write(record: &mut Record, text: &str) {
        record.output(LOG, ProcessId(3), Stream::Out, text.as_bytes().to_vec(), 0);
    }

    fn told(event: &Event) -> String {
        match event {
            Event::Output { data, lost, .. } => format!("{}+{lost}", String::from_utf8_lossy(data.bytes())),
            Event::AppEnded { code, .. } => format!("end {code}"),
            other => format!("{other:?}"),
        }
    }

    fn read(record: &Record, cursor: &mut Cursor) -> Vec<String> {
        record.read(cursor, &filter()).iter().map(told).collect()
    }

    #[test]
    fn output_and_events_come_in_the_order_in_which_they_were_written() {
        let mut record = Record::default();
        record.open_log(LOG, "hello", true);
        record.event(Event::AppEnded { app: 1, code: 8 });
        let mut cursor = record.end();
        write(&mut record, "a");
        record.event(Event::AppEnded { app: 2, code: 9 });
        write(&mut record, "b");
        record.event(Event::AppEnded { app: 1, code: 0 });
        assert_eq!(read(&record, &mut cursor), ["a+0", "b+0", "end 0"]);
        assert_eq!(read(&record, &mut cursor), [""; 0]);
    }

    #[test]
    fn a_slow_reader_is_told_how_much_it_missed() {
        let mut record = Record::default();
        record.open_log(LOG, "hello", false);
        let mut cursor = record.end();
        let mut total = 0;
        for _ in 0..10_000 {
            write(&mut record, "1234567890");
            total += 10;
        }
        let mut missed = 0;
        let mut got = 0;
        loop {
            let events = record.read(&mut cursor, &filter());
            if events.is_empty() {
                break;
            }
            for event in events {
                let Event::Output { data, lost, .. } = event else {
                    panic!()
                };
                got += data.bytes().len() as u64;
                missed += lost;
            }
        }
        assert!(missed > 0);
        assert_eq!(got + missed, total);
    }

    #[test]
    fn a_reader_from_the_start_misses_nothing_of_what_is_kept() {
        let mut record = Record::default();
        record.open_log(LOG, "hello", false);
        for _ in 0..10_000 {
            write(&mut record, "x");
        }
        let mut cursor = record.start();
        assert_eq!(read(&record, &mut cursor)[0], "x+0");
    }
}

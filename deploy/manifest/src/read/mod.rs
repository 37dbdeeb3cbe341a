//! Reading: from text to a checked [`Manifest`].
//!
//! Each module reads one part and reports what is wrong with it, then goes on with a default, so that one
//! run finds everything; a manifest comes out only if nothing was reported. `check` looks across processes.

mod check;
mod fields;
mod process;

use std::ops::Range;

use toml::de::DeTable;

use crate::diagnostic::{Diagnostics, Report};
use crate::model::{Application, Manifest, Parsed, Process};
use crate::name::{check_identifier, check_version};
use check::Marks;
use fields::Fields;

/// Longest manifest, in bytes.
pub const MANIFEST_MAX: usize = 1 << 20;
/// Most processes of one application, instances counted.
pub const PROCESSES_MAX: u32 = 1024;
/// Most instances of one process.
pub const INSTANCES_MAX: u32 = PROCESSES_MAX;
/// Most restarts within a minute that can be asked for.
pub const RESTARTS_MAX: u32 = 1000;
/// Longest arguments of one process, in bytes, all together.
pub const ARGS_MAX: usize = 64 << 10;

impl Manifest {
    /// Reads and checks a manifest. `file` is only for the diagnostics.
    ///
    /// # Errors
    /// [`Diagnostics`]: everything that is wrong, with the place.
    pub fn parse(file: &str, text: &str) -> Result<Parsed, Diagnostics> {
        let mut report = Report::new(file, text);
        let manifest = read(&mut report, text);
        match manifest {
            Some(manifest) if !report.has_errors() => Ok(Parsed {
                manifest,
                warnings: report.finish(),
            }),
            _ => Err(Diagnostics(report.finish())),
        }
    }
}

/// `None` only after an error was reported.
fn read(report: &mut Report<'_>, text: &str) -> Option<Manifest> {
    if text.len() > MANIFEST_MAX {
        let message = format!("a manifest of {} bytes is longer than {MANIFEST_MAX}", text.len());
        report.error(0..0, message);
        return None;
    }
    let (root, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        // An error without a place is one about the whole text.
        report.error(error.span().unwrap_or(0..0), error.message());
    }
    if !errors.is_empty() {
        // What could be saved from a broken text is not worth more errors.
        return None;
    }
    let mut marks = Marks::default();
    let mut fields = Fields::new(root.get_ref(), 0..0, "the manifest".to_string());
    let application = application(&mut fields, report);
    let processes = processes(&mut fields, report, &mut marks);
    fields.finish(report);
    let manifest = Manifest {
        application: application?,
        processes,
    };
    marks.check(&manifest, report);
    Some(manifest)
}

fn application(root: &mut Fields<'_>, report: &mut Report<'_>) -> Option<Application> {
    let Some(mut fields) = root.table("application", report) else {
        if !root.has("application") {
            report
                .error(0..0, "there is no `[application]`")
                .help("start the file with `[application]` and `name = \"...\"`");
        }
        return None;
    };
    let name = fields.required_name("name", report, check_identifier);
    let version = fields.name("version", report, check_version);
    let description = fields.string("description", report);
    fields.finish(report);
    Some(Application {
        name: name.map(|name| name.text).unwrap_or_default(),
        version: version.map_or("0.0.0".to_string(), |version| version.text),
        description: description
            .map(|description| description.text)
            .unwrap_or_default(),
    })
}

fn processes(root: &mut Fields<'_>, report: &mut Report<'_>, marks: &mut Marks) -> Vec<Process> {
    let tables = root.tables("process", report);
    if tables.is_empty() && !root.has("process") {
        let help = "add `[[process]]` with a `name` and a `program`";
        report.error(0..0, "the application has no process").help(help);
    }
    let processes: Vec<Process> = tables
        .into_iter()
        .map(|fields| process::read(fields, report, marks))
        .collect();
    check_number(&processes, marks, report);
    processes
}

/// An application has a bounded number of processes.
fn check_number(processes: &[Process], marks: &Marks, report: &mut Report<'_>) {
    let number: u64 = processes.iter().map(|process| u64::from(process.instances)).sum();
    if number > u64::from(PROCESSES_MAX) {
        let at: Range<usize> = marks.last_process().unwrap_or(0..0);
        report
            .error(
                at,
                format!("the application has {number} processes, instances counted"),
            )
            .label(format!("at most {PROCESSES_MAX} can be started"));
    }
}

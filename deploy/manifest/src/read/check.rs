//! What must hold between processes: names and registered paths are unique, and a channel's path is not a
//! slip of the pen for a registered one.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

use super::fields::Text;
use crate::diagnostic::Report;
use crate::instance::with_instance;
use crate::model::Manifest;
use crate::suggest::nearest;

/// Most paths that an application can register, each instance's counted.
const PATHS_MAX: u64 = 1 << 16;
/// Most paths on either side that are looked through for slips of the pen; it is a courtesy, not a check.
const COMPARED_MAX: usize = 256;

/// Where the things that are compared stand in the text. Indices of processes are those of the manifest.
#[derive(Default)]
pub(crate) struct Marks {
    processes: Vec<Range<usize>>,
    registers: Vec<(usize, Text)>,
    channels: Vec<Text>,
}

/// Registered paths as the instances have them, with the process and the place of each.
type Registered<'m> = BTreeMap<String, (usize, &'m Text)>;

impl Marks {
    /// The process that all following marks belong to.
    pub(crate) fn process(&mut self, at: Range<usize>) {
        self.processes.push(at);
    }

    /// A path that it registers.
    pub(crate) fn register(&mut self, path: &Text) {
        self.registers.push((self.processes.len() - 1, path.clone()));
    }

    /// The path of one of its channels.
    pub(crate) fn channel(&mut self, path: &Text) {
        self.channels.push(path.clone());
    }

    pub(crate) fn last_process(&self) -> Option<Range<usize>> {
        self.processes.last().cloned()
    }

    /// Checks everything.
    pub(crate) fn check(&self, manifest: &Manifest, report: &mut Report<'_>) {
        self.check_processes(manifest, report);
        if self.few_enough_paths(manifest, report) {
            let registered = self.check_registers(manifest, report);
            self.check_channels(&registered, report);
        }
    }

    fn check_processes(&self, manifest: &Manifest, report: &mut Report<'_>) {
        let mut first: BTreeMap<&str, &Range<usize>> = BTreeMap::new();
        for (process, at) in manifest.processes.iter().zip(&self.processes) {
            match first.entry(&process.name) {
                Entry::Vacant(entry) => {
                    entry.insert(at);
                }
                // A missing or illegal name has been reported already.
                Entry::Occupied(_) if process.name.is_empty() => {}
                Entry::Occupied(entry) => {
                    let line = report.line(entry.get().start);
                    report
                        .error(at.clone(), format!("two processes are called `{}`", process.name))
                        .label(format!("the first is on line {line}"))
                        .help("for copies of one program, write `instances = N`");
                }
            }
        }
    }

    fn few_enough_paths(&self, manifest: &Manifest, report: &mut Report<'_>) -> bool {
        let instances = |process: usize| u64::from(manifest.processes[process].instances);
        let paths: u64 = self
            .registers
            .iter()
            .map(|(process, _)| instances(*process))
            .sum();
        let fits = paths <= PATHS_MAX;
        if let Some((_, last)) = self.registers.last().filter(|_| !fits) {
            report
                .error(
                    last.at.clone(),
                    format!("the application registers {paths} paths"),
                )
                .label(format!(
                    "at most {PATHS_MAX} are possible, each instance's counted"
                ));
        }
        fits
    }

    fn check_registers(&self, manifest: &Manifest, report: &mut Report<'_>) -> Registered<'_> {
        let mut registered = Registered::new();
        for (process, text) in &self.registers {
            let instances = manifest.processes[*process].instances;
            let clash = (0..instances).find_map(|number| {
                match registered.entry(with_instance(&text.text, number)) {
                    Entry::Vacant(entry) => {
                        entry.insert((*process, text));
                        None
                    }
                    // Instances of one process offer the same service together.
                    Entry::Occupied(entry) if std::ptr::eq(entry.get().1, text) => None,
                    Entry::Occupied(entry) => Some((entry.key().clone(), *entry.get())),
                }
            });
            if let Some((path, (owner, other))) = clash {
                let line = report.line(other.at.start);
                let owner = &manifest.processes[owner].name;
                report
                    .error(text.at.clone(), format!("`{path}` is registered twice"))
                    .label(format!("process `{owner}` registers it on line {line}"));
            }
        }
        registered
    }

    /// A path that nobody here registers may be a system service; one that differs from a registered path
    /// in a letter is more likely a slip.
    fn check_channels(&self, registered: &Registered<'_>, report: &mut Report<'_>) {
        let foreign = self
            .channels
            .iter()
            .filter(|path| !registered.contains_key(&with_instance(&path.text, 0)));
        for path in foreign.take(COMPARED_MAX) {
            let near = nearest(
                &path.text,
                registered.keys().take(COMPARED_MAX).map(String::as_str),
            );
            if near.is_some() {
                report
                    .warning(
                        path.at.clone(),
                        format!("no process here registers `{}`", path.text),
                    )
                    .did_you_mean(near);
            }
        }
    }
}

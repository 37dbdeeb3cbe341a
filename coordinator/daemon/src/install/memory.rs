//! Programs that were installed before: one that has not changed is started again without being read.
//!
//! Reading, hashing and authenticating a program takes longer than to start it. A file counts as unchanged
//! while its stamp does; neighbour: `jobs` does the work for all others.

use super::Program;
use satrap_abi::artifact::Target;
use std::{
    collections::BTreeMap,
    fs::Metadata,
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// Programs remembered.
const PROGRAMS_MAX: usize = 1024;
/// A file that changed less than this ago may change again without a new stamp: file systems' clocks are coarse.
const SETTLED: Duration = Duration::from_secs(1);

/// Which contents a file has. The change time cannot be set back, unlike the modification time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    /// Since the Unix epoch.
    changed: Duration,
}

impl Stamp {
    fn of(path: &Path) -> io::Result<Stamp> {
        path.metadata().map(|metadata| Stamp::new(&metadata))
    }

    fn new(metadata: &Metadata) -> Stamp {
        let seconds = u64::try_from(metadata.ctime()).unwrap_or(0);
        let nanoseconds = u32::try_from(metadata.ctime_nsec()).unwrap_or(0);
        Stamp {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            changed: Duration::new(seconds, nanoseconds),
        }
    }

    fn is_settled(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.is_ok_and(|now| now.saturating_sub(self.changed) >= SETTLED)
    }
}

/// The stamps of a program's file and of its artifacts' files.
type Stamps = Vec<Stamp>;

/// The memory of an installer.
#[derive(Debug, Default)]
pub(super) struct Memory(Mutex<BTreeMap<PathBuf, (Stamps, Arc<Program>)>>);

/// What is known of files before they are read.
pub(super) struct Before(Vec<Option<Stamp>>);

impl Memory {
    /// The programs at `paths`, if all of them are known for all `targets` and none has changed.
    pub fn recall(&self, paths: &[PathBuf], targets: &[Target]) -> Option<Vec<Arc<Program>>> {
        let known = self.lock();
        let unchanged = |path: &PathBuf| {
            let (stamps, program) = known.get(path)?;
            let complete = targets
                .iter()
                .all(|target| program.artifacts.contains_key(target));
            let now = stamps_of(Stamp::of(path).ok()?, program)?;
            (complete && now == *stamps).then(|| program.clone())
        };
        paths.iter().map(unchanged).collect()
    }

    /// To be taken before the files are read.
    pub fn before(paths: &[PathBuf]) -> Before {
        Before(paths.iter().map(|path| Stamp::of(path).ok()).collect())
    }

    /// Remembers programs that were installed, in the order of `before`.
    pub fn learn(&self, before: &Before, programs: &[Arc<Program>]) {
        let mut known = self.lock();
        for (stamp, program) in before.0.iter().zip(programs) {
            let Some(stamps) = stamp.and_then(|stamp| stamps_of(stamp, program)) else {
                continue;
            };
            if stamps.iter().all(Stamp::is_settled) {
                if known.len() >= PROGRAMS_MAX {
                    known.clear();
                }
                known.insert(program.path.clone(), (stamps, program.clone()));
            }
        }
    }

    /// Forgets a program.
    pub fn forget(&self, path: &Path) {
        self.lock().remove(path);
    }

    /// A panic under the lock leaves a map that is whole.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<PathBuf, (Stamps, Arc<Program>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// None if an artifact is not in the cache any more.
fn stamps_of(source: Stamp, program: &Program) -> Option<Stamps> {
    let artifacts = program.artifacts.values();
    let artifacts = artifacts.map(|artifact| Stamp::of(&artifact.path).ok());
    std::iter::once(Some(source)).chain(artifacts).collect()
}

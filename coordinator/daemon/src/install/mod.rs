//! Installation, phase two of compilation (DESIGN §9): a program's Wasm becomes one authenticated artifact for
//! each target, found in a content-addressed cache or made by the compiler in a process of its own.
//!
//! The coordinator never links the compiler and never believes an artifact whose MAC is wrong: it is removed
//! and made again. Neighbours: `cache` (files), `key` (the secret), `compile` (the child), `jobs` (in parallel),
//! `memory` (what need not be read again).

mod cache;
mod compile;
mod jobs;
mod key;
mod memory;
mod program;

pub use cache::{Cache, PROGRAM_MAX};
pub use compile::{COMPILE_TIMEOUT, Compiler};
pub use key::{KeyError, KeyFile};
pub use program::{Contract, Program, StoredArtifact};

use crate::api::{Event, InstallResult};
use memory::Memory;
use satrap_abi::artifact::{CpuFeatures, Key, Target, cache_name, source_digest};
use std::{fmt, fs, path::Path, path::PathBuf, sync::Arc, sync::atomic::AtomicBool};

/// Why a program was not installed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InstallError {
    /// The program.
    pub program: PathBuf,
    /// What is wrong and what to do.
    pub reason: String,
}

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.program.display(), self.reason)
    }
}

impl std::error::Error for InstallError {}

/// Makes artifacts, or finds them.
#[derive(Debug)]
pub struct Installer {
    cache: Cache,
    key: Key,
    compiler: Compiler,
    /// Compilers that run at once.
    parallel: usize,
    memory: Memory,
}

impl Installer {
    /// An installer over a cache, a key and a compiler, with `parallel` (at least 1) compilers at once.
    pub fn new(cache: Cache, key: KeyFile, compiler: PathBuf, parallel: usize) -> Installer {
        Installer {
            compiler: Compiler::new(compiler, key.path),
            cache,
            key: key.key,
            parallel: parallel.max(1),
            memory: Memory::default(),
        }
    }

    /// The key under which satellites authenticate artifacts.
    pub fn key(&self) -> Key {
        self.key
    }

    /// Installs programs for targets, in parallel, telling `sink` how it goes. A `sink` that returns false
    /// stops it. The result holds one program for each path, in order.
    ///
    /// # Errors
    /// The first program that cannot be read or compiled.
    pub fn install(
        &self,
        paths: &[PathBuf],
        targets: &[Target],
        sink: &mut dyn FnMut(Option<Event>) -> bool,
    ) -> Result<Vec<Arc<Program>>, InstallError> {
        if let Some(programs) = self.memory.recall(paths, targets) {
            tell_cached(&programs, sink);
            return Ok(programs);
        }
        let before = Memory::before(paths);
        let programs = jobs::run(self, paths, targets, sink)?;
        self.memory.learn(&before, &programs);
        Ok(programs)
    }

    /// Removes a program's artifacts from the cache and makes them again: a satellite has refused one.
    pub fn repair(&self, program: &Program) -> Result<Arc<Program>, InstallError> {
        self.memory.forget(&program.path);
        for artifact in program.artifacts.values() {
            // Gone already is as good as removed; a file that stays is caught by the next refusal.
            let _ = fs::remove_file(&artifact.path);
        }
        let targets: Vec<Target> = program.artifacts.keys().copied().collect();
        let mut programs = self.install(std::slice::from_ref(&program.path), &targets, &mut |_| true)?;
        let made_again = programs.pop().ok_or_else(|| InstallError {
            program: program.path.clone(),
            reason: "was not compiled again".into(),
        })?;
        Ok(made_again)
    }

    /// Finds or makes one artifact. Says whether it was in the cache.
    fn artifact(
        &self,
        path: &Path,
        wasm: &[u8],
        target: Target,
        progress: compile::Progress<'_>,
        stop: &AtomicBool,
    ) -> Result<(StoredArtifact, bool), String> {
        let name = cache_name(&source_digest(wasm), target, CpuFeatures::baseline(target.isa));
        let kept = self.cache.path(&name);
        if let Some(found) = StoredArtifact::open(&kept, &self.key)? {
            return Ok((found, true));
        }
        let fresh = self.cache.temporary(&name)?;
        self.compiler.run(path, target, &fresh, progress, stop)?;
        fs::rename(&fresh, &kept).map_err(|error| format!("cannot write {}: {error}", kept.display()))?;
        let made = StoredArtifact::open(&kept, &self.key)?;
        made.map(|made| (made, false)).ok_or_else(|| {
            "the compiler's artifact is not authentic; is another satrap using another key on this cache?"
                .into()
        })
    }
}

/// Each program once, whatever runs it.
fn tell_cached(programs: &[Arc<Program>], sink: &mut dyn FnMut(Option<Event>) -> bool) {
    for (index, program) in programs.iter().enumerate() {
        if programs[..index].iter().any(|other| Arc::ptr_eq(other, program)) {
            continue;
        }
        for target in program.artifacts.keys() {
            sink(Some(Event::InstallFinished {
                program: program.path.display().to_string(),
                target: target.to_string(),
                result: InstallResult::Cached,
            }));
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;

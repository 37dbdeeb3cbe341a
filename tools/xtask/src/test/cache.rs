//! Remembers which steps have passed, keyed by a hash of everything that could change their result: the
//! contents of their input files, the commands, the compiler, and the ways to compile for other targets.
//!
//! Only successes are remembered. The memory lies below `target`, so a clean build forgets it.

use super::count::Count;
use super::steps::{Inputs, Step};
use crate::crates::Crates;
use crate::failure::{About, Result};
use crate::process;
use crate::repo::Repo;
use std::collections::HashMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The memory of passed steps.
pub struct Cache {
    folder: PathBuf,
    compiler: String,
    /// Each file's hash: several steps share inputs.
    files: HashMap<PathBuf, u64>,
}

impl Cache {
    /// The cache of this repository.
    pub fn new(repo: &Repo) -> Result<Cache> {
        let folder = repo.target("x/passed");
        fs::create_dir_all(&folder).about(folder.display())?;
        let compiler = process::output(process::command("rustc").arg("-Vv")).unwrap_or_default();
        let way = std::env::var("SATRAP_TOOLCHAIN").unwrap_or_default();
        Ok(Cache {
            folder,
            compiler: compiler + &way,
            files: HashMap::new(),
        })
    }

    /// The key of a step's present state; `None` for one that is never remembered.
    pub fn key(
        &mut self,
        repo: &Repo,
        crates: &Crates,
        step: &Step,
        commands: &[Command],
    ) -> Result<Option<String>> {
        let folders = match step.inputs {
            Inputs::Unbounded => return Ok(None),
            Inputs::Everything => vec![String::new()],
            Inputs::Packages(names) => with_root(crates.closure(names)),
            Inputs::Found(find) => {
                let names = find(repo)?;
                with_root(crates.closure(&names.iter().map(String::as_str).collect::<Vec<_>>()))
            }
        };
        let mut hasher = DefaultHasher::new();
        self.compiler.hash(&mut hasher);
        for command in commands {
            process::describe(command).hash(&mut hasher);
        }
        for folder in folders {
            for file in repo.files(&folder)?.into_iter().filter(|file| matters(file)) {
                self.content(repo, &file)?.hash(&mut hasher);
                file.hash(&mut hasher);
            }
        }
        Ok(Some(format!("{:016x}", hasher.finish())))
    }

    /// What the step counted when it last passed, if that was in the state `key`.
    pub fn recall(&self, step: &str, key: &str) -> Option<Count> {
        let text = fs::read_to_string(self.folder.join(step)).ok()?;
        let (known, passed) = text.trim().split_once(' ')?;
        let passed = passed.parse().ok()?;
        (known == key).then_some(Count { passed, failed: 0 })
    }

    /// The step has passed in the state `key`.
    pub fn remember(&self, step: &str, key: &str, count: Count) -> Result<()> {
        let path = self.folder.join(step);
        fs::write(&path, format!("{key} {}\n", count.passed)).about(path.display())
    }

    fn content(&mut self, repo: &Repo, file: &Path) -> Result<u64> {
        if let Some(known) = self.files.get(file) {
            return Ok(*known);
        }
        let mut hasher = DefaultHasher::new();
        fs::read(repo.path(file)).about(file.display())?.hash(&mut hasher);
        let hash = hasher.finish();
        self.files.insert(file.to_path_buf(), hash);
        Ok(hash)
    }
}

/// The root's own manifest decides about profiles, lints and versions of every crate.
fn with_root(mut folders: Vec<String>) -> Vec<String> {
    folders.extend([
        "Cargo.toml".to_string(),
        "Cargo.lock".to_string(),
        ".cargo/config.toml".to_string(),
    ]);
    folders
}

/// Prose outside a crate's sources changes no test but tidy's, which is never remembered.
fn matters(file: &Path) -> bool {
    !file.starts_with("docs") && file.extension().is_none_or(|extension| extension != "md")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch;

    fn write(root: &Path, file: &str, text: &str) {
        let path = root.join(file);
        fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("make the folder");
        fs::write(path, text).expect("write");
    }

    fn commands(_: &Repo, _: &Crates) -> Result<Vec<Command>> {
        Ok(Vec::new())
    }

    const STEP: Step = Step {
        name: "probe",
        proves: "",
        needs: &[],
        programs: false,
        inputs: Inputs::Packages(&["a"]),
        minutes: 1,
        commands,
    };

    fn key(root: &Path) -> String {
        let repo = Repo::at(root);
        let crates = Crates::read(&repo).expect("read the workspace");
        let mut cache = Cache::new(&repo).expect("open the cache");
        cache
            .key(&repo, &crates, &STEP, &[])
            .expect("read the inputs")
            .expect("this step is remembered")
    }

    #[test]
    fn a_key_changes_with_the_inputs_and_their_dependencies_only() {
        let root = scratch("cache");
        write(
            &root,
            "Cargo.toml",
            "[workspace]\nmembers = [\"a\", \"b\", \"c\"]\ndefault-members = []\n",
        );
        write(
            &root,
            "a/Cargo.toml",
            "[package]\nname = \"a\"\n[dependencies]\nb.workspace = true\n",
        );
        write(&root, "b/Cargo.toml", "[package]\nname = \"b\"\n");
        write(&root, "c/Cargo.toml", "[package]\nname = \"c\"\n");
        write(&root, "b/src/lib.rs", "one");
        let first = key(&root);
        write(&root, "c/src/lib.rs", "no input of a");
        write(&root, "a/README.md", "prose");
        assert_eq!(key(&root), first);
        write(&root, "b/src/lib.rs", "two");
        assert_ne!(key(&root), first);
    }

    #[test]
    fn only_the_very_state_that_passed_is_recalled() {
        let repo = Repo::at(&scratch("recall"));
        let cache = Cache::new(&repo).expect("open the cache");
        let count = Count { passed: 7, failed: 0 };
        cache.remember("probe", "k1", count).expect("write");
        assert_eq!(cache.recall("probe", "k1"), Some(count));
        assert_eq!(cache.recall("probe", "k2"), None);
        assert_eq!(cache.recall("other", "k1"), None);
    }
}

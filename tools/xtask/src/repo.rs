//! Where things are: the repository's root, its build outputs, and the files that people wrote.
//!
//! Files are found by walking the folders rather than by asking git, so that an unpacked archive works too.

use crate::failure::{About, Failure, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// The repository.
pub struct Repo {
    root: PathBuf,
    target: PathBuf,
}

impl Repo {
    /// The repository that this program belongs to: `./x` says where, `cargo xtask` runs inside it.
    pub fn find() -> Result<Repo> {
        let start = match std::env::var_os("SATRAP_ROOT") {
            Some(root) => PathBuf::from(root),
            None => std::env::current_dir().about("the current folder")?,
        };
        let root = start
            .ancestors()
            .find(|folder| folder.join("tools/xtask/Cargo.toml").exists())
            .ok_or_else(|| Failure::new("not inside Satrap's repository"))?;
        let target = match std::env::var_os("CARGO_TARGET_DIR") {
            Some(target) => std::path::absolute(&target).about("CARGO_TARGET_DIR")?,
            None => root.join("target"),
        };
        Ok(Repo {
            root: root.to_path_buf(),
            target,
        })
    }

    /// A repository at `root`, for tests.
    #[cfg(test)]
    pub fn at(root: &Path) -> Repo {
        Repo {
            root: root.to_path_buf(),
            target: root.join("target"),
        }
    }

    /// Its root folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path below the root.
    pub fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root.join(relative)
    }

    /// A path below the folder of build outputs.
    pub fn target(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.target.join(relative)
    }

    /// The folder of the programs `satrap`, `satrap-hosted`, `satrap-compiler`.
    pub fn programs(&self) -> PathBuf {
        self.target("release")
    }

    /// The folder of the compiled guests, each `NAME.wasm`.
    pub fn guests(&self) -> PathBuf {
        self.target("guests")
    }

    /// Whether a file or folder exists below the root.
    pub fn has(&self, relative: &str) -> bool {
        self.path(relative).exists()
    }

    /// Every file below `folder` (relative to the root) that a person wrote, relative to the root, sorted.
    pub fn files(&self, folder: &str) -> Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        let start = self.path(folder);
        if start.is_file() {
            found.push(PathBuf::from(folder));
        } else if start.is_dir() {
            self.walk(&start, &mut found)?;
        }
        found.sort();
        Ok(found)
    }

    fn walk(&self, folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
        for entry in fs::read_dir(folder).about(folder.display())? {
            let entry = entry.about(folder.display())?;
            let path = entry.path();
            let kind = entry.file_type().about(path.display())?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if kind.is_dir() && !is_output_folder(&path, &name, &self.target) {
                self.walk(&path, found)?;
            } else if kind.is_file() && !is_output_file(&name) {
                found.push(path.strip_prefix(&self.root).unwrap_or(&path).to_path_buf());
            }
        }
        Ok(())
    }
}

/// Keep in step with `.gitignore`.
fn is_output_folder(path: &Path, name: &str, target: &Path) -> bool {
    path == target
        || name == "target"
        || name.starts_with("target-")
        || matches!(
            name,
            ".git" | "out" | "corpus" | "artifacts" | "node_modules" | "book"
        )
}

fn is_output_file(name: &str) -> bool {
    name.ends_with(".wasm") || name.ends_with(".orig") || name.ends_with('~')
}

/// An empty folder for the test `name`.
#[cfg(test)]
pub fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("satrap-xtask-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the temporary folder takes another");
    folder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_walk_finds_sources_and_leaves_outputs() {
        let root = scratch("walk");
        for file in [
            "src/a.rs",
            "target/debug/b.rs",
            "src/c.wasm",
            ".git/config",
            ".ci/run",
        ] {
            let path = root.join(file);
            fs::create_dir_all(path.parent().expect("every one lies in a folder")).expect("make the folder");
            fs::write(path, "x").expect("write");
        }
        let files = Repo::at(&root).files("").expect("walk");
        assert_eq!(files, [PathBuf::from(".ci/run"), PathBuf::from("src/a.rs")]);
    }
}

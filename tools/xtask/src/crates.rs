//! The crates of this repository, read from their `Cargo.toml`: folders, dependencies, programs.
//!
//! Everything that must know "all crates" asks here: build groups, guests, loom, tidy's layers, the test cache.

use crate::failure::{About, Failure, Result};
use crate::repo::Repo;
use crate::toml::{self, Entry};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

/// One crate.
pub struct Crate {
    /// The package's name.
    pub name: String,
    /// Its folder, relative to the root, with forward slashes.
    pub folder: String,
    /// Packages of this repository that it depends on, with the line that says so; not those for tests.
    pub dependencies: Vec<(String, usize)>,
    /// Those for its tests.
    pub dev_dependencies: Vec<String>,
    /// Its manifest's entries.
    pub entries: Vec<Entry>,
}

impl Crate {
    /// Whether `[package.metadata.satrap] guest = true` stands in its manifest.
    pub fn is_guest(&self) -> bool {
        self.value("package.metadata.satrap", "guest") == Some("true")
    }

    /// The text of `key` in `section`.
    pub fn value(&self, section: &str, key: &str) -> Option<&str> {
        self.entries
            .iter()
            .find(|e| e.section == section && e.key == key)
            .map(Entry::text)
    }

    /// Its explicit `[[kind]]` targets, by `key`.
    pub fn targets(&self, kind: &str, key: &str) -> Vec<&str> {
        let section = format!("[{kind}]");
        self.entries
            .iter()
            .filter(|e| e.section == section && e.key == key)
            .map(Entry::text)
            .collect()
    }

    /// The names of the programs it builds.
    pub fn programs(&self, repo: &Repo) -> Result<Vec<String>> {
        let mut names: BTreeSet<String> = self
            .targets("bin", "name")
            .iter()
            .map(|n| n.to_string())
            .collect();
        let renamed = self.targets("bin", "path").contains(&"src/main.rs");
        if repo.has(&format!("{}/src/main.rs", self.folder)) && !renamed {
            names.insert(self.name.clone());
        }
        for file in repo.files(&format!("{}/src/bin", self.folder))? {
            names.extend(file.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
        Ok(names.into_iter().collect())
    }
}

/// All crates of the workspace, by name.
pub struct Crates {
    by_name: BTreeMap<String, Crate>,
    default: BTreeSet<String>,
}

impl Crates {
    /// Reads them.
    pub fn read(repo: &Repo) -> Result<Crates> {
        let root = toml::parse(&read(repo, "Cargo.toml")?);
        let folders = |key: &str| -> Result<Vec<String>> {
            let entry = root.iter().find(|e| e.section == "workspace" && e.key == key);
            let entry = entry.ok_or_else(|| Failure::new(format!("Cargo.toml: no workspace.{key}")))?;
            expand(repo, &entry.strings())
        };
        let default: BTreeSet<String> = folders("default-members")?.into_iter().collect();
        let mut by_name = BTreeMap::new();
        let mut names = BTreeSet::new();
        for folder in folders("members")? {
            let parsed = parse(repo, &folder)?;
            if default.contains(&folder) {
                names.insert(parsed.name.clone());
            }
            by_name.insert(parsed.name.clone(), parsed);
        }
        Ok(Crates {
            by_name,
            default: names,
        })
    }

    /// All of them, by name.
    pub fn all(&self) -> impl Iterator<Item = &Crate> {
        self.by_name.values()
    }

    /// Those that a plain `cargo build` builds.
    pub fn host(&self) -> impl Iterator<Item = &Crate> {
        self.all().filter(|each| self.default.contains(&each.name))
    }

    /// The guests.
    pub fn guests(&self) -> impl Iterator<Item = &Crate> {
        self.all().filter(|each| each.is_guest())
    }

    /// The arguments that give every test of the host crates the features without which cargo leaves it out.
    pub fn test_features(&self) -> Vec<String> {
        let required = self.host().flat_map(|each| {
            let tests = each
                .entries
                .iter()
                .filter(|e| e.section == "[test]" && e.key == "required-features");
            tests.flat_map(|e| {
                e.strings()
                    .into_iter()
                    .map(|feature| format!("{}/{feature}", each.name))
            })
        });
        let required: BTreeSet<String> = required.collect();
        required
            .into_iter()
            .flat_map(|feature| ["--features".to_string(), feature])
            .collect()
    }

    /// The crate called `name`.
    pub fn get(&self, name: &str) -> Option<&Crate> {
        self.by_name.get(name)
    }

    /// The folders that `packages` are built and tested from: their own and those of all they depend on.
    pub fn closure(&self, packages: &[&str]) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let mut open: Vec<&str> = packages.to_vec();
        while let Some(name) = open.pop() {
            let Some(each) = self.get(name) else { continue };
            if seen.insert(each.folder.clone()) {
                open.extend(each.dependencies.iter().map(|(name, _)| name.as_str()));
                if packages.contains(&name) {
                    open.extend(each.dev_dependencies.iter().map(String::as_str));
                }
            }
        }
        seen.into_iter().collect()
    }
}

/// Resolves the `folder/*` of a members list.
fn expand(repo: &Repo, patterns: &[&str]) -> Result<Vec<String>> {
    let mut folders = Vec::new();
    for pattern in patterns {
        let Some(parent) = pattern.strip_suffix("/*") else {
            folders.push(pattern.to_string());
            continue;
        };
        for entry in fs::read_dir(repo.path(parent)).about(parent)? {
            let name = entry.about(parent)?.file_name().to_string_lossy().into_owned();
            if repo.has(&format!("{parent}/{name}/Cargo.toml")) {
                folders.push(format!("{parent}/{name}"));
            }
        }
    }
    Ok(folders)
}

fn parse(repo: &Repo, folder: &str) -> Result<Crate> {
    let manifest = format!("{folder}/Cargo.toml");
    let entries = toml::parse(&read(repo, &manifest)?);
    let name = entries
        .iter()
        .find(|e| e.section == "package" && e.key == "name")
        .map(|e| e.text().to_string())
        .ok_or_else(|| Failure::new(format!("{manifest}: the package has no name")))?;
    let mut dependencies = Vec::new();
    let mut dev_dependencies = Vec::new();
    for entry in &entries {
        let Some((kind, package)) = dependency(entry) else {
            continue;
        };
        match kind {
            "dev-dependencies" => dev_dependencies.push(package),
            _ => dependencies.push((package, entry.line)),
        }
    }
    Ok(Crate {
        name,
        folder: folder.to_string(),
        dependencies,
        dev_dependencies,
        entries,
    })
}

/// The kind and package that an entry depends on, in any of the ways Cargo has to write it.
fn dependency(entry: &Entry) -> Option<(&'static str, String)> {
    for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
        let section = entry.section.as_str();
        let plain = section
            .strip_suffix(kind)
            .is_some_and(|before| before.is_empty() || before.ends_with('.'));
        if plain {
            let name = entry.key.split('.').next().unwrap_or(&entry.key);
            return Some((kind, entry.field("package").unwrap_or(name).to_string()));
        }
        // `[dependencies.name]`: any of its keys says that the dependency is there.
        if let Some(at) = section.find(&format!("{kind}.")) {
            let clean = at == 0 || section[..at].ends_with('.');
            if clean {
                return Some((kind, section[at + kind.len() + 1..].to_string()));
            }
        }
    }
    None
}

fn read(repo: &Repo, path: &str) -> Result<String> {
    fs::read_to_string(repo.path(path)).about(path)
}

/// The folder `relative` lies in, or the nearest above it within the repository, that has the file `name`.
pub fn nearest(repo: &Repo, relative: &str, name: &str) -> Option<PathBuf> {
    let start = repo.path(relative);
    start
        .ancestors()
        .take_while(|folder| folder.starts_with(repo.root()))
        .find(|folder| folder.join(name).exists())
        .map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_a_dependency_is_seen() {
        let text = "[dependencies]\na.workspace = true\nb = { package = \"real-b\", path = \"..\" }\n\
                    [target.'cfg(loom)'.dependencies]\nc = \"1\"\n[dev-dependencies]\nd = \"1\"\n\
                    [dependencies.e]\nversion = \"1\"\n[package.metadata]\nf = 1\n";
        let found: Vec<_> = toml::parse(text).iter().filter_map(dependency).collect();
        let expect = [
            ("dependencies", "a"),
            ("dependencies", "real-b"),
            ("dependencies", "c"),
            ("dev-dependencies", "d"),
            ("dependencies", "e"),
        ];
        assert_eq!(found, expect.map(|(kind, name)| (kind, name.to_string())));
    }

    #[test]
    fn a_closure_holds_what_is_depended_on_and_no_more() {
        let repo = Repo::find().expect("the tests run inside the repository");
        let crates = Crates::read(&repo).expect("read the workspace");
        assert_eq!(crates.closure(&["satrap-region"]), ["base/region", "base/sync"]);
    }
}

//! `./x tidy`: the repository checks its own taste (the rules that rustfmt and clippy do not know).
//!
//! `RULES` is the table: to add a rule, add a row. Each rule looks at the whole `Tree` and returns findings.
//! Exemptions stand in `tools/xtask/tidy.toml`, counted for each file, and may only shrink.

mod docs;
mod exemptions;
mod header;
mod layers;
mod lexer;
mod panics;
mod promises;
mod reach;
mod size;
mod source;
mod unsafety;
mod words;

use crate::crates::Crates;
use crate::failure::{About, Failure, Result};
use crate::repo::Repo;
use source::Source;
use std::fs;

/// One thing that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file, relative to the root.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what to do.
    pub message: String,
}

/// A finding at a line of a file.
fn finding(file: &str, line: usize, message: impl Into<String>) -> Finding {
    Finding {
        file: file.to_string(),
        line,
        message: message.into(),
    }
}

/// Everything that the rules look at.
pub struct Tree<'a> {
    repo: &'a Repo,
    crates: Crates,
    /// The Rust files.
    rust: Vec<Source>,
    /// Other text: path and content.
    other: Vec<(String, String)>,
}

/// A rule: its name, which `tidy.toml` uses too, and its check.
struct Rule {
    name: &'static str,
    check: fn(&Tree) -> Vec<Finding>,
}

const RULES: &[Rule] = &[
    Rule {
        name: "header",
        check: header::check,
    },
    Rule {
        name: "function-length",
        check: size::functions,
    },
    Rule {
        name: "file-length",
        check: size::files,
    },
    Rule {
        name: "cfg-in-function",
        check: size::conditions,
    },
    Rule {
        name: "layers",
        check: layers::check,
    },
    Rule {
        name: "lints",
        check: layers::lints,
    },
    Rule {
        name: "unsafe-address",
        check: unsafety::addresses,
    },
    Rule {
        name: "safety-comment",
        check: unsafety::comments,
    },
    Rule {
        name: "unfinished",
        check: words::unfinished,
    },
    Rule {
        name: "machine-path",
        check: words::machine_paths,
    },
    Rule {
        name: "panic",
        check: panics::check,
    },
    Rule {
        name: "dead-file",
        check: reach::check,
    },
    Rule {
        name: "link",
        check: docs::links,
    },
    Rule {
        name: "command",
        check: docs::commands,
    },
    Rule {
        name: "block",
        check: docs::blocks,
    },
    Rule {
        name: "promise",
        check: promises::check,
    },
];

/// `./x tidy`
pub fn run(repo: &Repo, arguments: &[String]) -> Result<()> {
    if !arguments.is_empty() {
        return Err(Failure::usage("usage: ./x tidy"));
    }
    let findings = check(repo)?;
    for (rule, Finding { file, line, message }) in &findings {
        println!("{file}:{line}: {message} [{rule}]");
    }
    match findings.len() {
        0 => Ok(()),
        count => Err(Failure::new(format!(
            "{count} findings; CONTRIBUTING.md has the rules"
        ))),
    }
}

/// All findings that are not exempt, each with its rule, by file.
fn check(repo: &Repo) -> Result<Vec<(&'static str, Finding)>> {
    let tree = Tree::read(repo)?;
    let mut all = Vec::new();
    for rule in RULES {
        all.extend(
            (rule.check)(&tree)
                .into_iter()
                .map(|finding| (rule.name, finding)),
        );
    }
    let names: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
    let mut left = exemptions::apply(repo, &names, all)?;
    left.sort_by(|a, b| a.1.cmp(&b.1));
    Ok(left)
}

impl<'a> Tree<'a> {
    fn read(repo: &'a Repo) -> Result<Tree<'a>> {
        let mut tree = Tree {
            repo,
            crates: Crates::read(repo)?,
            rust: Vec::new(),
            other: Vec::new(),
        };
        for path in repo.files("")? {
            let bytes = fs::read(repo.path(&path)).about(path.display())?;
            let path = path.to_string_lossy().into_owned();
            match String::from_utf8(bytes) {
                Ok(text) if path.ends_with(".rs") => tree.rust.push(Source::new(&path, text)),
                Ok(text) => tree.other.push((path, text)),
                Err(_) => {}
            }
        }
        for path in reach::test_modules(&tree) {
            let found = tree.rust.iter_mut().find(|source| source.path == path);
            found.into_iter().for_each(Source::mark_test);
        }
        Ok(tree)
    }

    fn source(&self, path: &str) -> Option<&Source> {
        self.rust.iter().find(|source| source.path == path)
    }
}

/// What one rule says about a tree of the given files, for the rules' tests.
#[cfg(test)]
fn verdict(name: &str, rule: fn(&Tree) -> Vec<Finding>, files: &[(&str, &str)]) -> Vec<String> {
    let root = crate::repo::scratch(name);
    let members: Vec<String> = files
        .iter()
        .filter_map(|(path, _)| {
            path.strip_suffix("/Cargo.toml")
                .map(|folder| format!("\"{folder}\""))
        })
        .collect();
    let manifest = format!(
        "[workspace]\nmembers = [{}]\ndefault-members = []\n",
        members.join(", ")
    );
    for (path, text) in [("Cargo.toml", manifest.as_str())].iter().chain(files) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("make the folder");
        fs::write(path, text).expect("write");
    }
    let repo = Repo::at(&root);
    let tree = Tree::read(&repo).expect("read the tree");
    rule(&tree)
        .into_iter()
        .map(|f| format!("{}:{}: {}", f.file, f.line, f.message))
        .collect()
}

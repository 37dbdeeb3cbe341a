//! No dead file: every Rust file is a root of some target, or a module of one, or included by one.
//!
//! Follows `mod name;`, `#[path]`, also within `cfg_attr`, modules in inline modules, and `include!`.

use super::source::Source;
use super::{Finding, Tree, finding};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// A `mod name;`.
struct Declaration {
    /// The files that it may mean.
    candidates: Vec<String>,
    /// Whether it stands under `#[cfg(test)]`.
    test: bool,
}

/// Files that no target reaches.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut open: Vec<String> = tree
        .rust
        .iter()
        .map(|s| s.path.clone())
        .filter(|path| is_root(tree, path))
        .collect();
    let mut reached: BTreeSet<String> = BTreeSet::new();
    while let Some(path) = open.pop() {
        let Some(source) = tree.source(&path) else {
            continue;
        };
        if reached.insert(path) {
            open.extend(
                declarations(tree, source)
                    .into_iter()
                    .flat_map(|declaration| declaration.candidates),
            );
            open.extend(included(source));
        }
    }
    let dead = tree.rust.iter().filter(|source| !reached.contains(&source.path));
    dead.map(|source| finding(&source.path, 1, "dead: no target reaches this file"))
        .collect()
}

/// Files of modules that are declared for tests only, and of all modules in them.
pub fn test_modules(tree: &Tree) -> BTreeSet<String> {
    let all = tree.rust.iter().flat_map(|source| declarations(tree, source));
    let mut open: Vec<String> = all
        .filter(|declaration| declaration.test)
        .flat_map(|declaration| declaration.candidates)
        .collect();
    let mut found = BTreeSet::new();
    while let Some(path) = open.pop() {
        let inner = tree
            .source(&path)
            .map_or(Vec::new(), |source| declarations(tree, source));
        if found.insert(path) {
            open.extend(inner.into_iter().flat_map(|declaration| declaration.candidates));
        }
    }
    found
}

fn is_root(tree: &Tree, path: &str) -> bool {
    tree.crates.all().any(|each| {
        let Some(inner) = path.strip_prefix(&format!("{}/", each.folder)) else {
            return false;
        };
        let named = ["lib", "[bin]", "[test]", "[bench]", "[example]"];
        let explicit = each.entries.iter().any(|e| {
            named.contains(&e.section.as_str()) && e.key == "path" && e.text() == inner
                || e.section == "package" && e.key == "build" && e.text() == inner
        });
        explicit || matches!(inner, "src/lib.rs" | "src/main.rs" | "build.rs") || is_discovered(inner)
    })
}

/// What Cargo finds by itself: `FOLDER/name.rs` and `FOLDER/name/main.rs`.
fn is_discovered(inner: &str) -> bool {
    let folders = ["src/bin/", "tests/", "benches/", "examples/"];
    folders
        .iter()
        .filter_map(|folder| inner.strip_prefix(folder))
        .any(|rest| {
            let depth = rest.matches('/').count();
            depth == 0 || (depth == 1 && rest.ends_with("/main.rs"))
        })
}

fn declarations(tree: &Tree, source: &Source) -> Vec<Declaration> {
    let mut found = Vec::new();
    for at in source.words("mod") {
        let rest = source.code[at + 3..].trim_start();
        let name: String = rest
            .chars()
            .take_while(|c| *c == '_' || c.is_alphanumeric())
            .collect();
        if name.is_empty() || !rest[name.len()..].trim_start().starts_with(';') {
            continue;
        }
        let before = source.code[..at].rfind([';', '{', '}']).map_or(0, |end| end + 1);
        let attributes = &source.text[before..at];
        let outer = inline_modules(source, at);
        let mut folder = module_folder(tree, &source.path);
        folder.extend(outer);
        let mut candidates: Vec<String> = attribute_paths(attributes)
            .map(|path| {
                normal(
                    &Path::new(&source.path)
                        .parent()
                        .unwrap_or(Path::new(""))
                        .join(path),
                )
            })
            .collect();
        if candidates.is_empty() {
            candidates = vec![
                normal(&folder.join(format!("{name}.rs"))),
                normal(&folder.join(&name).join("mod.rs")),
            ];
        }
        let code = &source.code[before..at];
        let test = code.contains("cfg(test)") || code.contains("cfg(all(test,");
        found.push(Declaration { candidates, test });
    }
    found
}

/// The names of the inline modules around a byte, from the outermost.
fn inline_modules(source: &Source, at: usize) -> Vec<String> {
    let mut names = Vec::new();
    for start in source.words("mod").take_while(|start| *start < at) {
        let rest = &source.code[start + 3..];
        let Some(open) = rest.find(['{', ';']) else {
            continue;
        };
        let opens = rest.as_bytes()[open] == b'{';
        if opens && source.matching(start + 3 + open) > at {
            names.push(rest[..open].trim().to_string());
        }
    }
    names
}

/// Where the modules of a file lie: beside a root or `mod.rs`, else in a folder with the file's name.
fn module_folder(tree: &Tree, path: &str) -> PathBuf {
    let path = Path::new(path);
    let parent = path.parent().unwrap_or(Path::new("")).to_path_buf();
    let stem = path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default();
    if stem == "mod" || is_root(tree, &path.to_string_lossy()) {
        parent
    } else {
        parent.join(stem)
    }
}

fn attribute_paths(attributes: &str) -> impl Iterator<Item = &str> {
    attributes
        .split("path = \"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
}

/// The files that `include!` and `include_str!` name.
fn included(source: &Source) -> Vec<String> {
    let folder = Path::new(&source.path).parent().unwrap_or(Path::new(""));
    let mut found = Vec::new();
    for name in ["include!(", "include_str!("] {
        for (at, _) in source.code.match_indices(name) {
            let argument = source.text[at + name.len()..].trim_start();
            let literal = argument.strip_prefix('"').and_then(|rest| rest.split('"').next());
            found.extend(literal.map(|path| normal(&folder.join(path))));
        }
    }
    found
}

/// The path without `.` and `..`.
fn normal(path: &Path) -> String {
    let mut parts: Vec<String> = Vec::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(parts.pop()),
            Component::Normal(name) => parts.push(name.to_string_lossy().into_owned()),
            _ => {}
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::super::verdict;
    use super::check;

    #[test]
    fn a_file_that_no_target_reaches_is_found_and_no_other() {
        let files = [
            (
                "a/Cargo.toml",
                "[package]\nname = \"a\"\n[[bin]]\nname = \"t\"\npath = \"targets/t.rs\"\n",
            ),
            (
                "a/src/lib.rs",
                "mod one;\n#[cfg_attr(x, path = \"odd.rs\")]\nmod two;\nmod in_line {\n    mod three;\n}\n",
            ),
            (
                "a/src/one.rs",
                "// mod dead;\nmod four;\ninclude!(\"five.rs\");\n",
            ),
            ("a/src/one/four.rs", ""),
            ("a/src/five.rs", ""),
            ("a/src/odd.rs", ""),
            ("a/src/in_line/three.rs", ""),
            ("a/tests/x.rs", "mod help;\n"),
            ("a/tests/help/mod.rs", ""),
            ("a/targets/t.rs", ""),
            ("a/src/dead.rs", ""),
        ];
        assert_eq!(
            verdict("reach", check, &files),
            ["a/src/dead.rs:1: dead: no target reaches this file"]
        );
    }
}

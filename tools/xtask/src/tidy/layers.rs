//! Dependencies point strictly downward, by folder (DESIGN §15); crates of one folder may use each other.
//!
//! What a crate's tests depend on is free. Every crate takes part in the workspace's lints.

use super::{Finding, Tree, finding};

/// Folders from the bottom to the top; the longest match decides.
const LAYERS: &[(&str, u8)] = &[
    ("base", 0),
    ("contracts", 1),
    ("deploy", 1),
    ("interconnect/link", 1),
    ("interconnect", 2),
    ("kernel", 2),
    ("sdk", 2),
    ("platforms", 3),
    ("coordinator", 3),
    ("services", 3),
    ("sim", 3),
    ("cli", 4),
    ("apps", 4),
    ("bench", 4),
    ("examples", 4),
    ("fuzz", 4),
    ("tests", 4),
    ("tools", 4),
];

/// Dependencies that point up or sideways.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for each in tree.crates.all() {
        let manifest = format!("{}/Cargo.toml", each.folder);
        let Some(own) = layer(&each.folder) else {
            let message = "its folder has no layer; give it one in tools/xtask/src/tidy/layers.rs";
            found.push(finding(&manifest, 1, message));
            continue;
        };
        for (name, line) in &each.dependencies {
            let Some(other) = tree.crates.get(name) else {
                continue;
            };
            let below = layer(&other.folder).is_some_and(|layer| layer < own);
            if !below && top(&other.folder) != top(&each.folder) {
                let message = format!(
                    "{} must not depend on {}: layers point downward",
                    each.folder, other.folder
                );
                found.push(finding(&manifest, *line, message));
            }
        }
    }
    found
}

/// Crates that keep out of the workspace's lints.
pub fn lints(tree: &Tree) -> Vec<Finding> {
    let outside = tree
        .crates
        .all()
        .filter(|each| each.value("lints", "workspace") != Some("true"));
    outside
        .map(|each| {
            finding(
                &format!("{}/Cargo.toml", each.folder),
                1,
                "add [lints] workspace = true",
            )
        })
        .collect()
}

fn layer(folder: &str) -> Option<u8> {
    let within =
        |prefix: &str| folder == prefix || folder.strip_prefix(prefix).is_some_and(|r| r.starts_with('/'));
    let matches = LAYERS.iter().filter(|(prefix, _)| within(prefix));
    matches
        .max_by_key(|(prefix, _)| prefix.len())
        .map(|(_, layer)| *layer)
}

fn top(folder: &str) -> &str {
    folder.split('/').next().unwrap_or(folder)
}

#[cfg(test)]
mod tests {
    use super::super::verdict;
    use super::*;

    const BASE: &str = "[package]\nname = \"base\"\n[dependencies]\nkernel.workspace = true\n";
    const KERNEL: &str =
        "[package]\nname = \"kernel\"\n[lints]\nworkspace = true\n[dependencies]\nlink = \"1\"\n";
    const LINK: &str =
        "[package]\nname = \"link\"\n[lints]\nworkspace = true\n[dev-dependencies]\nkernel = \"1\"\n";

    #[test]
    fn a_dependency_upward_is_found_and_one_of_tests_is_free() {
        let files = [
            ("base/abi/Cargo.toml", BASE),
            ("kernel/core/Cargo.toml", KERNEL),
            ("interconnect/link/Cargo.toml", LINK),
        ];
        let found = verdict("layers", check, &files);
        assert_eq!(
            found,
            ["base/abi/Cargo.toml:4: base/abi must not depend on kernel/core: layers point downward"]
        );
        assert_eq!(
            verdict("lints", lints, &files),
            ["base/abi/Cargo.toml:1: add [lints] workspace = true"]
        );
    }

    #[test]
    fn a_folder_without_a_layer_is_found() {
        let found = verdict(
            "layer",
            check,
            &[("odd/Cargo.toml", "[package]\nname = \"odd\"\n")],
        );
        assert!(found[0].contains("has no layer"), "{found:?}");
    }
}

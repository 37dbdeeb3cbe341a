//! Unsafe has an address (DESIGN §15): it may stand only below `ADDRESSES`, each time with a reason.
//!
//! A crate with no address forbids it in every root; a crate with an address for a part denies it there, so
//! that the part must allow it in view. Clippy checks the comments too, but only on the host's code.

use super::source::Source;
use super::{Finding, Tree, finding};
use crate::crates::Crate;

/// Prefixes of the paths where unsafe code may stand.
const ADDRESSES: &[&str] = &[
    // Pointers into memory that somebody else writes.
    "base/region/",
    // The cell that a lock guards, and the one that a task's state guards: the same CPU instruction that says
    // that a task runs gives its executor what it runs.
    "base/sync/src/lock.rs",
    "base/sync/src/run.rs",
    // The engine's symbols, and running native code.
    "kernel/engine/",
    // System calls, page tables, assembly.
    "platforms/",
    // The kernel's imports, as a guest sees them.
    "sdk/rust/src/raw",
    // A guest that breaks out on purpose, to show that it cannot.
    "examples/misbehave/src/wild.rs",
];

/// How far above an unsafe block its reason may begin.
const NEAR: usize = 8;

fn is_address(path: &str) -> bool {
    ADDRESSES.iter().any(|address| path.starts_with(address))
}

/// Unsafe code elsewhere, and crates that do not rule it out.
pub fn addresses(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for source in tree.rust.iter().filter(|source| !is_address(&source.path)) {
        for at in source.words("unsafe") {
            let message =
                "unsafe code may not stand here; its addresses are in tools/xtask/src/tidy/unsafety.rs";
            found.push(finding(&source.path, source.line(at), message));
        }
    }
    for each in tree.crates.all() {
        found.extend(
            roots(tree, each)
                .into_iter()
                .filter_map(|root| undenied(tree, each, root)),
        );
    }
    found
}

/// The files that a crate's library and programs start with.
fn roots<'a>(tree: &'a Tree, each: &Crate) -> Vec<&'a Source> {
    let mut paths = vec![
        format!("{}/src/lib.rs", each.folder),
        format!("{}/src/main.rs", each.folder),
    ];
    paths.extend(
        each.targets("bin", "path")
            .iter()
            .map(|path| format!("{}/{path}", each.folder)),
    );
    let programs = format!("{}/src/bin/", each.folder);
    tree.rust
        .iter()
        .filter(|source| paths.contains(&source.path) || source.path.starts_with(&programs))
        .collect()
}

fn undenied(tree: &Tree, each: &Crate, root: &Source) -> Option<Finding> {
    let folder = format!("{}/", each.folder);
    if is_address(&folder) {
        return None;
    }
    let within = |path: &str| path.starts_with(&folder);
    let partly = ADDRESSES.iter().any(|address| within(address))
        || tree
            .rust
            .iter()
            .any(|source| within(&source.path) && source.words("unsafe").next().is_some());
    let level = if partly { "deny" } else { "forbid" };
    let attribute = format!("#![{level}(unsafe_code)]");
    let denied = root.code.contains(&attribute) || root.code.contains("#![forbid(unsafe_code)]");
    (!denied).then(|| finding(&root.path, 1, format!("add {attribute}")))
}

/// Unsafe blocks and implementations without a reason.
pub fn comments(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for source in &tree.rust {
        for at in source.words("unsafe") {
            let next = source.code[at + "unsafe".len()..].trim_start();
            let line = source.line(at);
            let explained = || {
                let above = source.comments_between(line.saturating_sub(NEAR), line);
                above.into_iter().any(|comment| comment.contains("SAFETY:"))
            };
            if (next.starts_with('{') || next.starts_with("impl")) && !explained() {
                found.push(finding(
                    &source.path,
                    line,
                    "unsafe without a // SAFETY: comment above it",
                ));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::verdict;
    use super::*;

    const PACKAGE: &str = "[package]\nname = \"a\"\n";

    #[test]
    fn unsafe_code_outside_its_addresses_is_found() {
        let files = [
            ("cli/Cargo.toml", PACKAGE),
            (
                "cli/src/main.rs",
                "#![forbid(unsafe_code)]\n// unsafe\nfn a() { unsafe { b() } }\n",
            ),
            ("platforms/hosted/src/x.rs", "unsafe { b() }\n"),
        ];
        let found = verdict("addresses", addresses, &files);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("cli/src/main.rs:3: unsafe code may not stand here"));
    }

    #[test]
    fn a_crate_that_does_not_rule_it_out_is_found() {
        let files = [
            ("cli/Cargo.toml", PACKAGE),
            ("cli/src/main.rs", "fn main() {}\n"),
            ("base/sync/Cargo.toml", "[package]\nname = \"b\"\n"),
            ("base/sync/src/lib.rs", "//! x\n"),
        ];
        let found = verdict("undenied", addresses, &files);
        assert_eq!(
            found,
            [
                "cli/src/main.rs:1: add #![forbid(unsafe_code)]",
                "base/sync/src/lib.rs:1: add #![deny(unsafe_code)]"
            ]
        );
    }

    #[test]
    fn an_unsafe_block_without_a_reason_is_found() {
        let text = "fn a() {\n    // SAFETY: b is safe.\n    unsafe { b() }\n}\n";
        let bad = "fn a() {\n    unsafe { b() }\n}\nunsafe fn c() {}\n";
        let found = verdict("safety", comments, &[("a.rs", text), ("b.rs", bad)]);
        assert_eq!(found, ["b.rs:2: unsafe without a // SAFETY: comment above it"]);
    }
}

//! The specification keeps its word: the tests, files of tests, steps and fuzz targets that it names are there.
//!
//! A filter that matches nothing passes, so that a promise would go unchecked once its test has another name.
//! `docs.rs` beside it looks at the commands of all documents.

use super::{Finding, Tree, finding, source::Source};
use crate::fuzz;
use crate::test::STEPS;

const SPECIFICATION: &str = "SPECIFICATION.md";

/// Checks that do not exist, and promises without one that are not pending.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    let text = tree.other.iter().find(|(path, _)| path == SPECIFICATION);
    for (number, line) in text.iter().flat_map(|(_, text)| text.lines().enumerate()) {
        let Some(cell) = checks(line) else { continue };
        let mut report = |message: String| found.push(finding(SPECIFICATION, number + 1, message));
        if !cell.contains('`') && !cell.contains("**pending**") {
            report("a promise has a check, or is **pending**".into());
        }
        for span in cell.split('`').skip(1).step_by(2) {
            wrong(tree, span).into_iter().for_each(&mut report);
        }
    }
    found
}

/// The last cell of a row that begins with a promise's number.
fn checks(line: &str) -> Option<&str> {
    let mut cells = line.trim().strip_prefix('|')?.strip_suffix('|')?.split('|');
    let (major, minor) = cells.next()?.trim().split_once('.')?;
    let numbered = [major, minor].iter().all(|part| part.parse::<u32>().is_ok());
    cells.next_back().filter(|_| numbered)
}

/// What is wrong with one check.
fn wrong(tree: &Tree, span: &str) -> Vec<String> {
    let words: Vec<&str> = span.split_whitespace().collect();
    match words[..] {
        ["cargo", "test", ref rest @ ..] => cargo_test(tree, rest),
        ["./x", "test", step] if !STEPS.iter().any(|each| each.name == step) => {
            vec![format!("there is no step {step} of ./x test")]
        }
        [name] if is_name(name) && !tests(tree, "").any(|test| test == name) => {
            let target = tree.crates.get(fuzz::PACKAGE);
            let known = target.is_some_and(|each| each.targets("bin", "name").contains(&name));
            (!known)
                .then(|| format!("there is no test or fuzz target {name}"))
                .into_iter()
                .collect()
        }
        _ => Vec::new(),
    }
}

/// `cargo test -p PACKAGE [--test FILE]... [--doc] [NAME]`
fn cargo_test(tree: &Tree, words: &[&str]) -> Vec<String> {
    let ["-p", package, rest @ ..] = words else {
        return vec!["say which package with -p".into()];
    };
    let Some(package) = tree.crates.get(package) else {
        return vec![format!("there is no package {package}")];
    };
    let folder = format!("{}/", package.folder);
    let mut found = Vec::new();
    let mut rest = rest.iter();
    while let Some(word) = rest.next() {
        match *word {
            "--doc" => {}
            "--test" => {
                let file = rest.next().unwrap_or(&"");
                let places = [
                    format!("{folder}tests/{file}.rs"),
                    format!("{folder}tests/{file}/main.rs"),
                ];
                if !tree.rust.iter().any(|source| places.contains(&source.path)) {
                    found.push(format!("{folder} has no tests/{file}.rs"));
                }
            }
            name if tests(tree, &folder).any(|test| test == name) => {}
            name => found.push(format!("{folder} has no test {name}")),
        }
    }
    found
}

fn is_name(word: &str) -> bool {
    word.chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// The names of the tests below a folder that are run.
fn tests<'t>(tree: &'t Tree, folder: &'t str) -> impl Iterator<Item = &'t str> {
    let below = tree
        .rust
        .iter()
        .filter(move |source| source.path.starts_with(folder));
    below.flat_map(tests_of)
}

fn tests_of(source: &Source) -> impl Iterator<Item = &str> {
    let after = source.code.split("#[test]").skip(1);
    after.filter_map(|mut rest| {
        rest = rest.trim_start();
        while let Some(attribute) = rest.strip_prefix("#[") {
            if attribute.starts_with("ignore") {
                return None;
            }
            rest = attribute.split_once(']')?.1.trim_start();
        }
        let name = rest.strip_prefix("fn ")?;
        name.split(|c: char| !c.is_alphanumeric() && c != '_').next()
    })
}

#[cfg(test)]
mod tests {
    use super::super::verdict;
    use super::*;

    const MANIFEST: (&str, &str) = ("a/Cargo.toml", "[package]\nname = \"a\"\n");
    const RUST: (&str, &str) = (
        "a/tests/it.rs",
        "#[test]\n#[cfg(unix)]\nfn it_holds() {}\n#[test]\n#[ignore = \"slow\"]\nfn it_sleeps() {}\nfn helper() {}\n",
    );

    fn verdict_on(scratch: &str, cell: &str) -> Vec<String> {
        let text = format!("| # | promise | check |\n|---|---|---|\n| 1.1 | It holds. | {cell} |\n");
        verdict(scratch, check, &[MANIFEST, RUST, (SPECIFICATION, &text)])
    }

    #[test]
    fn a_check_that_is_there_is_no_finding() {
        for cell in [
            "`cargo test -p a it_holds`; `./x test host`: `it_holds`",
            "`cargo test -p a --test it`; `cargo test -p a --doc`",
            "**pending**",
            "`./x bench rmp/size`",
        ] {
            assert_eq!(verdict_on("promise-kept", cell), [""; 0], "{cell}");
        }
    }

    #[test]
    fn a_check_that_is_not_there_is_found() {
        for (cell, word) in [
            ("", "**pending**"),
            ("`cargo test -p b it_holds`", "package b"),
            ("`cargo test -p a it_hol`", "no test it_hol"),
            ("`cargo test -p a --test its`", "tests/its.rs"),
            ("`./x test dance`", "step dance"),
            ("`./x test host`: `it_sleeps`", "target it_sleeps"),
            ("`./x test host`: `helper`", "target helper"),
        ] {
            let found = verdict_on("promise-broken", cell);
            assert!(found.len() == 1 && found[0].contains(word), "{cell}: {found:?}");
        }
    }
}

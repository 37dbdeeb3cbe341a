//! Documents keep their word: links lead to files that exist, commands of `./x` are commands, and a code block
//! that says `file=PATH` is that file.
//!
//! A manifest that such a command names must exist too; what is built first need not.

use super::{Finding, Tree, finding};
use crate::COMMANDS;
use std::path::Path;

/// Links to files that do not exist.
pub fn links(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in documents(tree) {
        let folder = Path::new(path).parent().unwrap_or(Path::new(""));
        for (number, line) in prose(text) {
            for target in link_targets(&line) {
                let file = target.split(['#', '?']).next().unwrap_or("");
                let elsewhere = target.contains("://") || target.starts_with("mailto:") || file.is_empty();
                if !elsewhere && !tree.repo.path(folder).join(file).exists() {
                    found.push(finding(path, number, format!("the link leads nowhere: {target}")));
                }
            }
        }
    }
    found
}

/// Commands that do not exist.
pub fn commands(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in documents(tree) {
        for (number, line) in text.lines().enumerate() {
            for (at, _) in line.match_indices("./x ") {
                let words = line[at + 4..]
                    .split(['`', '#', '|', ';', '&', ')'])
                    .next()
                    .unwrap_or("");
                found.extend(misnamed(tree, words).map(|message| finding(path, number + 1, message)));
            }
        }
    }
    found
}

/// What is wrong with the words after `./x`.
fn misnamed(tree: &Tree, words: &str) -> Option<String> {
    let mut words = words.split_whitespace();
    let name = words.next()?;
    // A name in capitals stands for any command; `--help` and `help` are no rows of the table.
    let general = name.chars().all(|c| !c.is_lowercase()) || matches!(name, "help" | "--help" | "-h");
    let name = name.trim_end_matches([',', '.', ':']);
    if !general && !COMMANDS.iter().any(|command| command.name == name) {
        return Some(format!("there is no command ./x {name}"));
    }
    let missing = words.find(|word| word.ends_with(".toml") && word.contains('/') && !tree.repo.has(word));
    missing.map(|word| format!("the command names a file that is not there: {word}"))
}

/// Code blocks that are not the file that they name.
pub fn blocks(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in documents(tree) {
        for (number, file, block) in named_blocks(text) {
            let differs = match std::fs::read_to_string(tree.repo.path(Path::new(file))) {
                Ok(text) => (text != block).then(|| format!("the block is not {file}, which it names")),
                Err(_) => Some(format!("the block names a file that is not there: {file}")),
            };
            found.extend(differs.map(|message| finding(path, number, message)));
        }
    }
    found
}

/// Blocks that name a file: where each begins, the file, and what it holds.
fn named_blocks(text: &str) -> Vec<(usize, &str, String)> {
    let mut blocks = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let Some((_, file)) = line
            .strip_prefix("```")
            .and_then(|info| info.split_once(" file="))
        else {
            continue;
        };
        let inner = lines
            .by_ref()
            .map(|(_, line)| line)
            .take_while(|line| *line != "```");
        blocks.push((at + 1, file.trim(), inner.flat_map(|line| [line, "\n"]).collect()));
    }
    blocks
}

fn documents<'a>(tree: &'a Tree) -> impl Iterator<Item = (&'a str, &'a str)> {
    let text = tree.other.iter().filter(|(path, _)| path.ends_with(".md"));
    text.map(|(path, text)| (path.as_str(), text.as_str()))
}

/// The numbered lines outside code blocks, with code spans blanked.
fn prose(text: &str) -> Vec<(usize, String)> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            let outside: Vec<&str> = line.split('`').step_by(2).collect();
            lines.push((number + 1, outside.join("_")));
        }
    }
    lines
}

/// The targets of `[text](target)` and `[name]: target`.
fn link_targets(line: &str) -> Vec<&str> {
    let inline = line
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', ' ']).next());
    let mut targets: Vec<&str> = inline.collect();
    if line.starts_with('[') {
        targets.extend(
            line.split_once("]: ")
                .and_then(|(_, rest)| rest.split_whitespace().next()),
        );
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::super::verdict;
    use super::*;

    #[test]
    fn a_link_to_no_file_is_found_outside_code() {
        let text = "[a](b.md) [c](gone.md#x) [d](https://e.f) [g](#h)\n`[i](gone.md)`\n```\n[j](gone.md)\n```\n[k]: gone\n";
        let found = verdict("links", links, &[("docs/a.md", text), ("docs/b.md", "")]);
        assert_eq!(
            found,
            [
                "docs/a.md:1: the link leads nowhere: gone.md#x",
                "docs/a.md:6: the link leads nowhere: gone"
            ]
        );
    }

    #[test]
    fn a_command_that_does_not_exist_is_found() {
        let text =
            "Run `./x test`, `./x COMMAND`, `./x dance`.\n\n    ./x satrap run apps/none/Satrap.toml\n";
        let found = verdict("commands", commands, &[("README.md", text)]);
        assert_eq!(found.len(), 2);
        assert!(found[0].ends_with("there is no command ./x dance"));
        assert!(found[1].ends_with("that is not there: apps/none/Satrap.toml"));
    }

    #[test]
    fn a_block_that_is_not_the_file_that_it_names_is_found() {
        let text = "```rust file=a.rs\nfn a() {}\n```\n\n```rust file=b.rs\nfn b() {}\n```\n```rust file=c.rs\n```\n";
        let files = [
            ("README.md", text),
            ("a.rs", "fn a() {}\n"),
            ("b.rs", "fn b() { }\n"),
        ];
        assert_eq!(
            verdict("blocks", blocks, &files),
            [
                "README.md:5: the block is not b.rs, which it names",
                "README.md:8: the block names a file that is not there: c.rs"
            ]
        );
    }
}

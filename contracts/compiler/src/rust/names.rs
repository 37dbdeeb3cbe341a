//! Names in Rust, and the refusal of those that generated code could not tell apart.
//!
//! WIT's names are kebab-case and may be Rust's keywords; two that become one in Rust are an error at the
//! contract's line, not one in generated code.

use crate::Diagnostic;
use crate::model::Package;
use crate::source::Source;
use std::collections::HashSet;

const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait",
    "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Names that generated modules use themselves.
const TAKEN: &[&str] = &["Client", "Service", "Option", "Result", "String", "Vec"];

/// `kebab-case` as `snake_case`.
pub(super) fn snake(name: &str) -> String {
    name.replace('-', "_").to_ascii_lowercase()
}

/// A name of a field, a parameter or a module.
pub(super) fn field(name: &str) -> String {
    let name = snake(name);
    match &*name {
        "self" | "super" | "crate" => format!("{name}_"),
        _ if KEYWORDS.contains(&&*name) => format!("r#{name}"),
        _ => name,
    }
}

/// A name of a type or a case.
pub(super) fn pascal(name: &str) -> String {
    let capital = |part: &str| {
        let (first, rest) = part.split_at(part.len().min(1));
        first.to_ascii_uppercase() + &rest.to_ascii_lowercase()
    };
    let name: String = name.split('-').map(capital).collect();
    if name == "Self" { "Self_".into() } else { name }
}

/// A name of a constant.
pub(super) fn constant(name: &str) -> String {
    snake(name).to_ascii_uppercase()
}

/// Refuses names that two things would share.
pub(super) fn check(source_name: &str, text: &str, package: &Package) -> Result<(), Vec<Diagnostic>> {
    let mut source = Source::new(source_name, text);
    for interface in &package.interfaces {
        let mut names: HashSet<String> = TAKEN.iter().map(|&name| name.to_owned()).collect();
        for decl in package
            .types
            .iter()
            .filter(|decl| decl.interface == interface.name)
        {
            reserve(&mut source, &mut names, "type", &decl.name, &pascal(&decl.name));
        }
        let mut names: HashSet<String> = HashSet::new();
        let states = interface.contract.iter().flat_map(|contract| &contract.states);
        for state in states {
            for suffix in ["", "Message", "Reply"] {
                reserve(
                    &mut source,
                    &mut names,
                    "state",
                    &state.name,
                    &(pascal(&state.name) + suffix),
                );
            }
        }
    }
    source.finish().map(drop)
}

fn reserve(source: &mut Source<'_>, names: &mut HashSet<String>, kind: &str, name: &str, rust: &str) {
    if names.insert(rust.to_owned()) {
        return;
    }
    let at = find_word(source.text(), name).unwrap_or(0);
    let message = format!("{kind} `{name}` would be called `{rust}` in Rust, and that name is taken");
    source.error_with_help(&(at..at + name.len()), message, "rename it");
}

/// Where a name stands alone.
fn find_word(text: &str, word: &str) -> Option<usize> {
    let part = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
    let bytes = text.as_bytes();
    let mut places = text.match_indices(word).map(|(at, _)| at);
    places.find(|&at| {
        !part(at.checked_sub(1).and_then(|before| bytes.get(before))) && !part(bytes.get(at + word.len()))
    })
}

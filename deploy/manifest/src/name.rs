//! Which names are legal: identifiers (applications, processes, channels), paths of the namespace,
//! platforms, contracts.

use std::fmt;

use satrap_abi::limits::NAME_MAX;

/// Longest identifier, in bytes.
pub const IDENTIFIER_MAX: usize = 64;

/// Why a name is not legal, in half a sentence: "it is empty".
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Illegal(pub String);

impl fmt::Display for Illegal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Illegal {}

fn illegal(why: impl Into<String>) -> Result<(), Illegal> {
    Err(Illegal(why.into()))
}

/// A letter, then letters, digits, `-` and `_`; at most [`IDENTIFIER_MAX`] bytes. ASCII only, and no dot:
/// the dot parts a process from its instance and from its channel.
///
/// # Errors
/// [`Illegal`] says why.
pub fn check_identifier(name: &str) -> Result<(), Illegal> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    match name.chars().next() {
        None => illegal("it is empty"),
        Some(first) if !first.is_ascii_alphabetic() => illegal("it does not start with a letter"),
        _ if name.len() > IDENTIFIER_MAX => illegal(format!("it is longer than {IDENTIFIER_MAX} bytes")),
        _ => check_characters(name, allowed, "letters, digits, `-` and `_`"),
    }
}

/// A path of the namespace: `/`, then parts joined by `/`, each of ASCII letters, digits, `-`, `_` and `.`,
/// none of them empty, `.` or `..`; at most [`NAME_MAX`] bytes.
///
/// # Errors
/// [`Illegal`] says why.
pub fn check_path(path: &str) -> Result<(), Illegal> {
    let Some(parts) = path.strip_prefix('/') else {
        return illegal("it does not start with `/`");
    };
    if path.len() > NAME_MAX {
        return illegal(format!("it is longer than {NAME_MAX} bytes"));
    }
    parts.split('/').try_for_each(|part| match part {
        "" => illegal("a part between two `/` is empty"),
        "." | ".." => illegal(format!("`{part}` is not a name")),
        _ => check_characters(part, is_path_character, "letters, digits, `-`, `_` and `.`"),
    })
}

/// A platform: letters, digits, `-`, `_` and `.`; at most [`IDENTIFIER_MAX`] bytes.
pub(crate) fn check_platform(name: &str) -> Result<(), Illegal> {
    match name.len() {
        0 => illegal("it is empty"),
        1..=IDENTIFIER_MAX => check_characters(name, is_path_character, "letters, digits, `-`, `_` and `.`"),
        _ => illegal(format!("it is longer than {IDENTIFIER_MAX} bytes")),
    }
}

/// A contract, as WIT names an interface: `namespace:package/interface`, and `@` with a version if wished.
pub(crate) fn check_contract(name: &str) -> Result<(), Illegal> {
    let (name, version) = match name.split_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (name, None),
    };
    let parts = name.split_once(':').and_then(|(space, rest)| {
        let (package, interface) = rest.split_once('/')?;
        Some([space, package, interface])
    });
    let Some(parts) = parts else {
        return illegal("it is not of the form `namespace:package/interface@version`");
    };
    parts.iter().try_for_each(|part| match check_identifier(part) {
        Ok(()) => Ok(()),
        Err(why) => illegal(format!("in `{part}`, {why}")),
    })?;
    version.map_or(Ok(()), check_version)
}

/// A semantic version.
pub(crate) fn check_version(version: &str) -> Result<(), Illegal> {
    match semver::Version::parse(version) {
        Ok(_) => Ok(()),
        Err(why) => illegal(format!("`{version}` is not a version like `1.0.0`: {why}")),
    }
}

fn is_path_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.')
}

fn check_characters(name: &str, allowed: fn(char) -> bool, which: &str) -> Result<(), Illegal> {
    match name.chars().find(|&character| !allowed(character)) {
        None => Ok(()),
        Some(character) => illegal(format!("{character:?} is not one of {which}")),
    }
}

/// A legal identifier that looks like the name of the file at `path`.
pub(crate) fn identifier_from(path: &str) -> String {
    let file = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = file.strip_suffix(".wasm").unwrap_or(file);
    let legal = |c: char| {
        if c.is_ascii_alphanumeric() || c == '_' {
            c
        } else {
            '-'
        }
    };
    let name: String = stem.chars().map(legal).take(IDENTIFIER_MAX).collect();
    let name = name.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    if name.is_empty() {
        "program".to_string()
    } else {
        name.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_namespace_are_told_from_others() {
        for path in ["/a", "/png/decoder", "/dev/nic0", "/a.b/c_d-e"] {
            assert_eq!(check_path(path), Ok(()), "{path}");
        }
        for path in ["", "a", "/", "/a/", "//a", "/a b", "/a/../b", "/.", "/ä", "/a\0"] {
            assert!(check_path(path).is_err(), "{path:?}");
        }
        assert!(check_path(&format!("/{}", "x".repeat(NAME_MAX))).is_err());
    }

    #[test]
    fn identifiers_are_told_from_others() {
        for name in ["a", "front-end", "B2_c"] {
            assert_eq!(check_identifier(name), Ok(()), "{name}");
        }
        for name in ["", "2b", "-a", "a.b", "a b", "é", &"x".repeat(65)] {
            assert!(check_identifier(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn contracts_are_told_from_others() {
        for name in ["satrap:png/store@1.0.0", "a:b/c", "a:b/c@0.1.0-rc.1"] {
            assert_eq!(check_contract(name), Ok(()), "{name}");
        }
        for name in [
            "", "store", "a:b", "a/b:c", "a:b/c@1", ":b/c", "a:b/c@", "a:b/c/d",
        ] {
            assert!(check_contract(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn a_file_without_a_manifest_gets_a_legal_name() {
        let names = [
            ("dir/hello.wasm", "hello"),
            ("7zip.wasm", "zip"),
            ("é", "program"),
            ("a.b", "a-b"),
            ("", "program"),
        ];
        for (path, name) in names {
            assert_eq!(identifier_from(path), name);
            assert_eq!(check_identifier(name), Ok(()));
        }
    }
}

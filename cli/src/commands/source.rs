//! The files that a command line names: read early, so that a wrong name costs nothing.
//!
//! A single program stands for an application of one process. `run.rs`, `install.rs` and `place.rs` start
//! here.

use crate::failure::{Failure, Result};
use satrap_coordinator::api::Source;
use std::{io, path::Path};

/// Reads a manifest, or finds a program.
pub fn read(path: &Path) -> Result<Source> {
    let source = Source::read(path).map_err(|error| cannot(path, &error))?;
    match &source {
        Source::Program(program) if program.is_dir() => {
            Err(Failure::new(format!("{} is a folder", path.display()))
                .help("name an application's manifest (.toml) or a program (.wasm)"))
        }
        _ => Ok(source),
    }
}

fn cannot(path: &Path, error: &io::Error) -> Failure {
    let failure = Failure::file(path, error);
    let other = path.with_extension("wasm");
    if error.kind() == io::ErrorKind::NotFound && other != path && other.is_file() {
        return failure.help(format!("did you mean {}?", other.display()));
    }
    failure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_and_a_folder_are_named() {
        let failure = read(Path::new("no/such.wasm")).expect_err("it is not there");
        let style = crate::ui::style::Style::plain();
        assert_eq!(
            failure.render(style),
            "error: cannot read no/such.wasm: no such file or directory\n"
        );
        let failure = read(Path::new(".")).expect_err("a folder is no program");
        assert!(
            failure
                .render(style)
                .starts_with("error: . is a folder\n help: name an")
        );
    }
}

//! Where Satrap's programs are: in `SATRAP_BIN_DIR`, or beside this one.
//!
//! `./x bench` sets the variable; whoever starts the program by hand has them in one folder.

use crate::failure::{About, Result};
use std::path::PathBuf;

/// The path of a program by its name.
pub fn find(name: &str) -> Result<PathBuf> {
    let folder = match std::env::var_os("SATRAP_BIN_DIR") {
        Some(folder) => PathBuf::from(folder),
        None => std::env::current_exe()
            .about("finding this program")?
            .parent()
            .map(PathBuf::from)
            .unwrap_or_default(),
    };
    Ok(folder.join(name))
}

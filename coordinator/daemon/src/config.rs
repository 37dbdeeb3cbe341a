//! What a coordinator is started with, and where it finds its parts.
//!
//! The environment is read here and nowhere else, but for the socket's path in `http::address`.

use crate::{
    install::{Cache, KeyError, KeyFile},
    satellite::{HostedLauncher, Launcher},
};
use std::{env, fmt, io, path::PathBuf};

/// Size of each satellite's export by default, in bytes. It is address space until used.
pub const EXPORT_DEFAULT: u64 = 512 << 20;

/// What a coordinator is started with.
pub struct Config {
    /// How many satellites; none means one for each NUMA node.
    pub satellites: Option<usize>,
    /// Starts them.
    pub launcher: Box<dyn Launcher>,
    /// The program `satrap-compiler`.
    pub compiler: PathBuf,
    /// Folder of the artifact cache.
    pub cache: PathBuf,
    /// File of the artifact key.
    pub key: PathBuf,
    /// Size of each satellite's export, in bytes.
    pub export: u64,
}

impl Config {
    /// Hosted satellites, with everything where the environment says: programs in `SATRAP_BIN_DIR` or beside
    /// the running program, the cache in `SATRAP_CACHE` or the user's cache folder.
    ///
    /// # Errors
    /// The running program's own path is not known.
    pub fn from_environment() -> io::Result<Config> {
        let folder = match env::var_os("SATRAP_BIN_DIR") {
            Some(folder) => PathBuf::from(folder),
            None => env::current_exe()?
                .parent()
                .map(PathBuf::from)
                .unwrap_or_default(),
        };
        let cache = Cache::default_folder();
        Ok(Config {
            satellites: None,
            launcher: Box::new(HostedLauncher::new(folder.join("satrap-hosted"))),
            compiler: folder.join("satrap-compiler"),
            key: KeyFile::default_path(&cache),
            cache,
            export: EXPORT_DEFAULT,
        })
    }
}

/// Why a coordinator did not start.
#[derive(Debug)]
pub enum StartError {
    /// The cores that we may use cannot be found out, or a thread or descriptor cannot be had.
    System(io::Error),
    /// The cache cannot be used.
    Cache(String),
    /// The artifact key cannot be used.
    Key(KeyError),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::System(error) => write!(f, "cannot start the coordinator: {error}"),
            StartError::Cache(reason) => f.write_str(reason),
            StartError::Key(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StartError {}

impl From<io::Error> for StartError {
    fn from(error: io::Error) -> StartError {
        StartError::System(error)
    }
}

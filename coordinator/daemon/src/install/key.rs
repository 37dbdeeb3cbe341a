//! The secret under which artifacts are authenticated: made at first use, readable by its owner alone.
//!
//! Whoever knows it can make a satellite run any code, so a key that others may know is refused.

use satrap_abi::artifact::Key;
use std::{
    env, fmt, fs,
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

/// The key, and the file that holds it.
#[derive(Clone, Debug)]
pub struct KeyFile {
    /// The file, for the compiler.
    pub path: PathBuf,
    /// Its 32 bytes.
    pub key: Key,
}

/// Why there is no key.
#[derive(Debug)]
pub enum KeyError {
    /// The file cannot be read or made.
    Io(PathBuf, io::Error),
    /// Others may read or change it, or it is not ours.
    Exposed(PathBuf),
    /// It is not 32 bytes long.
    Length(PathBuf),
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyError::Io(path, error) => write!(f, "cannot use the artifact key {}: {error}", path.display()),
            KeyError::Exposed(path) => {
                let path = path.display();
                write!(
                    f,
                    "the artifact key {path} may be known to others: it must be owned by you with mode 600; remove \
                     it, and every program is compiled again under a new one"
                )
            }
            KeyError::Length(path) => {
                let path = path.display();
                write!(
                    f,
                    "the artifact key {path} is not 32 bytes long; remove it, and a new one is made"
                )
            }
        }
    }
}

impl std::error::Error for KeyError {}

impl KeyFile {
    /// `$XDG_STATE_HOME/satrap/key`, `~/.local/state/satrap/key`, or a file in the cache.
    pub fn default_path(cache: &Path) -> PathBuf {
        let named = |variable| {
            env::var_os(variable)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        // A cache of its own has a key of its own, so that tests and users never share one unasked.
        if env::var_os("SATRAP_CACHE").is_some() {
            return cache.join("key");
        }
        named("XDG_STATE_HOME")
            .or_else(|| named("HOME").map(|home| home.join(".local/state")))
            .map_or_else(|| cache.join("key"), |state| state.join("satrap/key"))
    }

    /// Reads the key, or makes it.
    pub fn load_or_create(path: &Path) -> Result<KeyFile, KeyError> {
        let io = |error| KeyError::Io(path.to_owned(), error);
        match fs::File::open(path) {
            Ok(file) => read(path, file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create(path).map_err(io)?;
                read(path, fs::File::open(path).map_err(io)?)
            }
            Err(error) => Err(io(error)),
        }
    }
}

fn read(path: &Path, mut file: fs::File) -> Result<KeyFile, KeyError> {
    let io = |error| KeyError::Io(path.to_owned(), error);
    let metadata = file.metadata().map_err(io)?;
    let own = metadata.uid() == rustix::process::geteuid().as_raw();
    if !own || metadata.mode() & 0o077 != 0 {
        return Err(KeyError::Exposed(path.to_owned()));
    }
    let mut key = Key::default();
    if metadata.len() != key.len() as u64 {
        return Err(KeyError::Length(path.to_owned()));
    }
    file.read_exact(&mut key).map_err(io)?;
    Ok(KeyFile {
        path: path.to_owned(),
        key,
    })
}

/// Writes a new key under a name of its own and links it into place, so that of two coordinators that start
/// at once both use the same key, and nobody reads half of one.
fn create(path: &Path) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut key = Key::default();
    let mut filled = 0;
    while filled < key.len() {
        filled += rustix::rand::getrandom(&mut key[filled..], rustix::rand::GetRandomFlags::empty())?;
    }
    let fresh = path.with_extension(format!("new-{}", std::process::id()));
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&fresh)?;
    let linked = file.write_all(&key).and_then(|()| fs::hard_link(&fresh, path));
    fs::remove_file(&fresh)?;
    match linked {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

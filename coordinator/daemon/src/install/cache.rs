//! The content-addressed cache: a folder of artifacts, each named by everything that it depends on.
//!
//! Nothing in it is trusted: every artifact is authenticated when it is opened.

use std::{
    env, fs,
    io::{self, Read},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

/// Largest Wasm program, in bytes.
pub const PROGRAM_MAX: u64 = 256 << 20;

/// The folder. Files in it are complete: they are written elsewhere and renamed.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// Opens or makes the folder, closed to others.
    pub fn open(folder: PathBuf) -> Result<Cache, String> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)
            .map_err(|error| {
                let folder = folder.display();
                format!("cannot make the cache {folder}: {error}; name another with SATRAP_CACHE")
            })?;
        Ok(Cache { folder })
    }

    /// `$SATRAP_CACHE`, `$XDG_CACHE_HOME/satrap`, `~/.cache/satrap`, or a folder of this user below the
    /// temporary one.
    pub fn default_folder() -> PathBuf {
        let named = |variable| {
            env::var_os(variable)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        named("SATRAP_CACHE")
            .or_else(|| named("XDG_CACHE_HOME").map(|home| home.join("satrap")))
            .or_else(|| named("HOME").map(|home| home.join(".cache/satrap")))
            .unwrap_or_else(|| {
                let user = rustix::process::getuid().as_raw();
                env::temp_dir().join(format!("satrap-cache-{user}"))
            })
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the artifact of that name is kept.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A path on the same file system for an artifact that is being made, unlike any other.
    pub fn temporary(&self, name: &str) -> Result<PathBuf, String> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let folder = self.folder.join("tmp");
        fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Ok(folder.join(format!("{name}.{}.{count}", std::process::id())))
    }
}

/// Reads a file of at most `limit` bytes.
pub(super) fn read_bounded(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = fs::File::open(path)?;
    let size = file.metadata()?.len().min(limit);
    // Bounded by `limit`, which fits memory.
    let mut bytes = Vec::with_capacity(size as usize + 1);
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let reason = format!("it is larger than {} MiB", limit >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
    }
    Ok(bytes)
}

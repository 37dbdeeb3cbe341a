//! The socket's place: a folder and a socket for its owner alone, one coordinator at a time.
//!
//! A lock beside the socket says who serves it: it ends with its process, so nothing stale can hold it.

use rustix::fs::{FlockOperation, flock};
use std::{
    env, fmt, fs,
    io::{self, Write},
    os::unix::{
        fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
        net::UnixListener,
    },
    path::{Path, PathBuf},
};

/// `$SATRAP_SOCKET`, `$XDG_RUNTIME_DIR/satrap/control.sock`, or `/tmp/satrap-UID/control.sock`.
pub fn default_path() -> PathBuf {
    let named = |variable| {
        env::var_os(variable)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    named("SATRAP_SOCKET")
        .or_else(|| named("XDG_RUNTIME_DIR").map(|folder| folder.join("satrap/control.sock")))
        .unwrap_or_else(|| {
            let user = rustix::process::getuid().as_raw();
            PathBuf::from(format!("/tmp/satrap-{user}/control.sock"))
        })
}

/// Why the control API cannot be served.
#[derive(Debug)]
pub enum ServeError {
    /// Another coordinator serves this socket; its process, if known.
    Taken(PathBuf, Option<u32>),
    /// The folder is not ours alone.
    Exposed(PathBuf),
    /// The operating system refuses.
    Io(PathBuf, io::Error),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServeError::Taken(path, pid) => {
                let pid = pid.map_or(String::new(), |pid| format!(" (process {pid})"));
                let path = path.display();
                write!(
                    f,
                    "a coordinator{pid} already serves {path}; end it with `satrap down`, or take another socket \
                     with --socket"
                )
            }
            ServeError::Exposed(folder) => {
                let folder = folder.display();
                write!(
                    f,
                    "others could reach the control socket: {folder} must be owned by you with mode 700; correct it \
                     or take another socket with --socket"
                )
            }
            ServeError::Io(path, error) => write!(f, "cannot serve {}: {error}", path.display()),
        }
    }
}

impl std::error::Error for ServeError {}

/// A bound socket. It is removed with this; the lock goes with the process, however that ends.
pub(super) struct Address {
    pub listener: UnixListener,
    path: PathBuf,
    _lock: fs::File,
}

impl Address {
    /// Takes the lock beside the socket, clears away what a dead coordinator left, and listens.
    pub fn bind(path: &Path) -> Result<Address, ServeError> {
        let io = |error| ServeError::Io(path.to_owned(), error);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(io)?;
        check_folder(folder)
            .map_err(io)?
            .then_some(())
            .ok_or_else(|| ServeError::Exposed(folder.to_owned()))?;
        let lock = lock(path)?;
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(io(error)),
            _ => {}
        }
        let listener = UnixListener::bind(path).map_err(io)?;
        // Between the two calls only the folder's mode guards the socket; that is enough by itself.
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(io)?;
        listener.set_nonblocking(true).map_err(io)?;
        Ok(Address {
            listener,
            path: path.to_owned(),
            _lock: lock,
        })
    }
}

impl Drop for Address {
    fn drop(&mut self) {
        // A socket that stays is cleared away by the next coordinator.
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether a folder is ours and closed to others.
fn check_folder(folder: &Path) -> io::Result<bool> {
    let metadata = fs::metadata(folder)?;
    let own = metadata.uid() == rustix::process::geteuid().as_raw();
    Ok(own && metadata.mode() & 0o077 == 0)
}

fn lock(socket: &Path) -> Result<fs::File, ServeError> {
    let path = socket.with_extension("lock");
    let io = |error| ServeError::Io(path.clone(), error);
    let opened = fs::OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(&path);
    let mut file = opened.map_err(io)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => {
            let pid = fs::read_to_string(&path)
                .ok()
                .and_then(|text| text.trim().parse().ok());
            return Err(ServeError::Taken(socket.to_owned(), pid));
        }
        Err(error) => return Err(io(error.into())),
    }
    file.set_len(0).map_err(io)?;
    writeln!(file, "{}", std::process::id()).map_err(io)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = env::temp_dir().join(format!("satrap-address-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn only_the_owner_can_open_the_socket_and_it_goes_with_its_server() {
        let folder = folder("owner");
        let path = folder.join("control.sock");
        let address = Address::bind(&path).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&path)), (0o700, 0o600));
        drop(address);
        assert!(!path.exists());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_second_coordinator_is_refused_and_a_dead_ones_socket_is_replaced() {
        let folder = folder("second");
        let path = folder.join("control.sock");
        let first = Address::bind(&path).unwrap();
        let refused = Address::bind(&path).err().unwrap().to_string();
        assert!(
            refused.contains(&std::process::id().to_string()) && refused.contains("satrap down"),
            "{refused}"
        );
        drop(first);
        drop(UnixListener::bind(&path).unwrap());
        assert!(path.exists(), "a stale socket is there");
        assert!(Address::bind(&path).is_ok());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_folder_that_others_can_enter_is_refused() {
        let folder = folder("exposed");
        fs::create_dir_all(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(matches!(
            Address::bind(&folder.join("s")),
            Err(ServeError::Exposed(_))
        ));
        fs::remove_dir_all(folder).unwrap();
    }
}

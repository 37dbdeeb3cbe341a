//! What can go wrong for a program: a kernel call was refused, or the peer sent what its contract does not
//! describe.

use std::fmt;

use satrap_abi::Errno;

use crate::wire::Malformed;

/// Why an operation failed.
#[derive(Clone, PartialEq, Eq)]
pub enum Error {
    /// The kernel refused a call.
    Kernel(Errno),
    /// The kernel refused to find or to register a name.
    Name {
        /// What was asked for: `bind` or `register`.
        action: &'static str,
        /// The channel's name, or the path.
        name: String,
        /// Why not.
        errno: Errno,
    },
    /// The peer's bytes are not what the contract says. The kernel checks a message's tag, size and handles;
    /// what is inside (a string's encoding, a variant's case) only the receiver can check.
    Malformed(Malformed),
}

impl Error {
    /// The kernel's reason, unless it was not the kernel that refused.
    pub fn errno(&self) -> Option<Errno> {
        match self {
            Error::Kernel(errno) | Error::Name { errno, .. } => Some(*errno),
            Error::Malformed(_) => None,
        }
    }

    /// Whether the deadline passed first, or there was nothing yet and the call was asked not to wait.
    pub fn is_late(&self) -> bool {
        matches!(self.errno(), Some(Errno::TimedOut | Errno::WouldBlock))
    }

    /// Whether the channel has ended: the peer closed it, or died, alone or with its satellite.
    pub fn is_closed(&self) -> bool {
        matches!(
            self.errno(),
            Some(Errno::Closed | Errno::PeerDied | Errno::KernelDied)
        )
    }
}

impl From<Errno> for Error {
    #[inline]
    fn from(errno: Errno) -> Error {
        Error::Kernel(errno)
    }
}

impl From<Malformed> for Error {
    #[inline]
    fn from(malformed: Malformed) -> Error {
        Error::Malformed(malformed)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Kernel(errno) => errno.fmt(f),
            Error::Name { action, name, errno } => write!(f, "cannot {action} `{name}`: {errno}"),
            Error::Malformed(malformed) => malformed.fmt(f),
        }
    }
}

/// The same text as `Display`: it is what Rust prints when an `unwrap` fails or `main` returns an error.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_name_is_named() {
        let error = Error::Name {
            action: "bind",
            name: "store".into(),
            errno: Errno::Denied,
        };
        assert_eq!(
            error.to_string(),
            "cannot bind `store`: the manifest does not grant this"
        );
    }

    #[test]
    fn lateness_and_closing_are_told_apart() {
        for late in [Errno::TimedOut, Errno::WouldBlock] {
            assert!(Error::from(late).is_late() && !Error::from(late).is_closed());
        }
        for closed in [Errno::Closed, Errno::PeerDied, Errno::KernelDied] {
            assert!(Error::from(closed).is_closed() && !Error::from(closed).is_late());
        }
    }
}

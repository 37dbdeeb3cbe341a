//! Socket calls between the host and the exchange heap, in place.
//!
//! Blocks are memory that others may write, so no reference to their bytes exists, not even for the length of a
//! system call: the calls are made with their addresses. Neighbour: `connection`.

use satrap_region::Region;
use std::{io, net::TcpStream, os::fd::AsRawFd};

fn counted(result: isize) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// Receives into a region, as far as bytes are there; 0 at the end of the stream.
pub(super) fn receive(socket: &TcpStream, into: &Region) -> io::Result<usize> {
    // SAFETY: the region is mapped for writing for as long as it is borrowed, and Linux writes no further than
    // its length; nobody has a reference to its bytes.
    counted(unsafe {
        libc::recv(
            socket.as_raw_fd(),
            into.base().cast(),
            into.len(),
            libc::MSG_DONTWAIT,
        )
    })
}

/// Sends from a region, as far as there is room.
pub(super) fn send(socket: &TcpStream, from: &Region) -> io::Result<usize> {
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: the region is mapped for as long as it is borrowed, and Linux reads no further than its length.
    counted(unsafe { libc::send(socket.as_raw_fd(), from.base().cast(), from.len(), flags) })
}

//! The control socket: one frame a packet, file descriptors beside it, never a wait.
//!
//! What a satellite sends is decoded once and believed only then; what it does not take yet stays in a
//! bounded queue here, so that one stuck satellite cannot hold up the coordinator.

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use rustix::{cmsg_space, io::Errno};
use satrap_abi::control::{FRAME_MAX, ToCoordinator, ToSatellite, decode, encode};
use std::{
    collections::VecDeque,
    fmt, io,
    io::{IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::Arc,
};

/// Most file descriptors beside one frame.
pub const FILES_MAX: usize = 4;
/// Most bytes that wait for one satellite.
pub const BACKLOG_MAX: usize = 16 << 20;

/// Both ends of a control socket, closed on exec.
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )?)
}

/// One end, with what is still to be sent.
#[derive(Debug)]
pub struct ControlSocket {
    socket: Arc<OwnedFd>,
    backlog: VecDeque<Packet>,
    backlog_bytes: usize,
}

#[derive(Debug)]
struct Packet {
    bytes: Vec<u8>,
    files: Vec<Arc<OwnedFd>>,
}

/// What a look at the socket found.
#[derive(Debug)]
pub enum Received {
    /// A frame and its file descriptors.
    Frame(ToCoordinator, Vec<OwnedFd>),
    /// Nothing yet.
    Nothing,
    /// The other end is closed.
    Closed,
    /// Not a frame of the protocol, and why.
    Garbage(String),
}

/// Why a frame cannot be sent at all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SendFailure {
    /// It is larger than a frame may be.
    TooLarge,
    /// The satellite does not read: too many bytes wait for it.
    Stuck,
    /// The other end is closed.
    Closed,
    /// The operating system refuses.
    System(String),
}

impl fmt::Display for SendFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SendFailure::TooLarge => write!(f, "a control frame would be larger than {FRAME_MAX} bytes"),
            SendFailure::Stuck => write!(
                f,
                "it has stopped reading its control socket ({BACKLOG_MAX} bytes wait)"
            ),
            SendFailure::Closed => f.write_str("it closed its control socket"),
            SendFailure::System(error) => write!(f, "its control socket failed: {error}"),
        }
    }
}

impl ControlSocket {
    /// Takes over an end of a [`pair`].
    pub fn new(socket: OwnedFd) -> ControlSocket {
        ControlSocket {
            socket: Arc::new(socket),
            backlog: VecDeque::new(),
            backlog_bytes: 0,
        }
    }

    /// The descriptor, to poll it without holding the socket.
    pub fn descriptor(&self) -> Arc<OwnedFd> {
        self.socket.clone()
    }

    /// Whether something waits for the other end to read.
    pub fn has_backlog(&self) -> bool {
        !self.backlog.is_empty()
    }

    /// Sends a frame, now or when there is room.
    pub fn send(&mut self, frame: &ToSatellite, files: Vec<Arc<OwnedFd>>) -> Result<(), SendFailure> {
        let bytes = encode(frame).map_err(|_| SendFailure::TooLarge)?;
        self.backlog_bytes += bytes.len();
        self.backlog.push_back(Packet { bytes, files });
        self.flush()
    }

    /// Sends what waits, as far as there is room.
    pub fn flush(&mut self) -> Result<(), SendFailure> {
        while let Some(packet) = self.backlog.front() {
            match transmit(&self.socket, packet) {
                Ok(()) => {
                    self.backlog_bytes -= packet.bytes.len();
                    self.backlog.pop_front();
                }
                Err(Errno::AGAIN | Errno::NOBUFS) if self.backlog_bytes > BACKLOG_MAX => {
                    return Err(SendFailure::Stuck);
                }
                Err(Errno::AGAIN | Errno::NOBUFS) => return Ok(()),
                Err(Errno::PIPE | Errno::CONNRESET) => return Err(SendFailure::Closed),
                Err(error) => return Err(SendFailure::System(error.to_string())),
            }
        }
        Ok(())
    }

    /// Takes the next frame, if there is one. `buffer` is scratch of at least [`FRAME_MAX`] bytes.
    pub fn receive(&self, buffer: &mut [u8]) -> Received {
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(FILES_MAX))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let received = loop {
            let mut slices = [IoSliceMut::new(buffer)];
            match recvmsg(&self.socket, &mut slices, &mut ancillary, flags) {
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Received::Nothing,
                Err(Errno::CONNRESET) => return Received::Closed,
                Err(error) => return Received::Garbage(error.to_string()),
                Ok(received) => break received,
            }
        };
        let files = files(&mut ancillary);
        if received.bytes == 0 {
            return Received::Closed;
        }
        if received
            .flags
            .intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC)
        {
            return Received::Garbage("a control frame was too large or carried too many files".into());
        }
        match decode(&buffer[..received.bytes]) {
            Ok(frame) => Received::Frame(frame, files),
            Err(error) => Received::Garbage(error.to_string()),
        }
    }
}

fn transmit(socket: &OwnedFd, packet: &Packet) -> Result<(), Errno> {
    let files: Vec<BorrowedFd<'_>> = packet.files.iter().map(|file| file.as_fd()).collect();
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(FILES_MAX))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(&files)) {
        return Err(Errno::TOOBIG);
    }
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    loop {
        match sendmsg(socket, &[IoSlice::new(&packet.bytes)], &mut ancillary, flags) {
            Err(Errno::INTR) => {}
            other => return other.map(drop),
        }
    }
}

fn files(ancillary: &mut RecvAncillaryBuffer<'_>) -> Vec<OwnedFd> {
    let rights = |message| match message {
        RecvAncillaryMessage::ScmRights(files) => Some(files),
        _ => None,
    };
    ancillary.drain().filter_map(rights).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use satrap_abi::KernelId;
    use std::io::Write;

    fn sockets() -> (ControlSocket, OwnedFd) {
        let (ours, theirs) = pair().unwrap();
        (ControlSocket::new(ours), theirs)
    }

    fn receive(socket: &ControlSocket) -> Received {
        socket.receive(&mut vec![0; FRAME_MAX])
    }

    fn write(socket: &OwnedFd, bytes: &[u8]) {
        rustix::net::send(socket, bytes, SendFlags::empty()).unwrap();
    }

    #[test]
    fn a_frame_arrives_with_its_files() {
        let (mut ours, theirs) = sockets();
        let (reader, writer) = std::io::pipe().unwrap();
        let files = vec![Arc::new(OwnedFd::from(writer))];
        ours.send(&ToSatellite::StatsRequest, files).unwrap();
        let mut buffer = [0; 64];
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(FILES_MAX))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let got = recvmsg(
            &theirs,
            &mut [IoSliceMut::new(&mut buffer)],
            &mut ancillary,
            RecvFlags::empty(),
        )
        .unwrap();
        assert_eq!(decode(&buffer[..got.bytes]), Ok(ToSatellite::StatsRequest));
        let mut arrived = files_of(&mut ancillary);
        assert_eq!(arrived.len(), 1);
        drop(ours);
        std::fs::File::from(arrived.remove(0)).write_all(b"x").unwrap();
        assert_eq!(std::io::read_to_string(reader).unwrap(), "x");
    }

    fn files_of(ancillary: &mut RecvAncillaryBuffer<'_>) -> Vec<OwnedFd> {
        super::files(ancillary)
    }

    #[test]
    fn silence_garbage_and_the_end_are_told_apart() {
        let (ours, theirs) = sockets();
        assert!(matches!(receive(&ours), Received::Nothing));
        write(&theirs, &[255; 100]);
        assert!(matches!(receive(&ours), Received::Garbage(_)));
        write(
            &theirs,
            &encode(&ToCoordinator::Unregister { service: 3 }).unwrap(),
        );
        assert!(matches!(
            receive(&ours),
            Received::Frame(ToCoordinator::Unregister { service: 3 }, _)
        ));
        drop(theirs);
        assert!(matches!(receive(&ours), Received::Closed));
    }

    #[test]
    fn a_satellite_that_never_reads_is_found_out() {
        let (mut ours, _theirs) = sockets();
        let frame = ToSatellite::ListReply {
            request: 1,
            names: vec!["/x".repeat(30_000)],
        };
        let failure = (0..1000).find_map(|_| ours.send(&frame, Vec::new()).err());
        assert_eq!(failure, Some(SendFailure::Stuck));
    }

    #[test]
    fn what_waited_is_sent_in_order_once_there_is_room() {
        let (mut ours, theirs) = sockets();
        let down = |generation| ToSatellite::PeerDown {
            kernel: KernelId(1),
            generation,
        };
        for generation in 0..5000 {
            ours.send(&down(generation), Vec::new()).unwrap();
        }
        assert!(ours.has_backlog());
        let mut buffer = [0; 64];
        for generation in 0..5000 {
            let (_, length) = rustix::net::recv(&theirs, &mut buffer[..], RecvFlags::empty()).unwrap();
            assert_eq!(decode(&buffer[..length]), Ok(down(generation)));
            ours.flush().unwrap();
        }
    }
}

//! The satellite's end of the control socket: one frame a packet, file descriptors beside it.
//!
//! Any CPU sends; the notifier receives. A frame that the socket cannot take waits here, in order, so that the
//! kernel never blocks. A guest's console output alone is held back by waiting: whoever floods it waits.

use rustix::{
    cmsg_space,
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
        SendFlags, recvmsg, sendmsg,
    },
};
use satrap_abi::control::{FRAME_MAX, ToCoordinator, ToSatellite, decode, encode};
use std::{
    collections::VecDeque,
    io::{IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::Mutex,
};

/// Most file descriptors beside one frame.
const FILES_MAX: usize = 4;
/// Frames that may wait before console output waits instead.
const BACKLOG_SOFT: usize = 256;
/// How long console output waits for a coordinator that does not read, before it is given up.
const CONSOLE_PATIENCE: Timespec = Timespec {
    tv_sec: 1,
    tv_nsec: 0,
};

/// The control socket.
pub(crate) struct Control {
    socket: OwnedFd,
    backlog: Mutex<VecDeque<Vec<u8>>>,
}

/// What the coordinator sent.
pub(crate) enum Received {
    Frame(Box<ToSatellite>, Vec<OwnedFd>),
    Nothing,
    /// The coordinator is gone, or speaks another protocol.
    Closed,
}

impl Control {
    pub(crate) fn new(socket: OwnedFd) -> Control {
        Control {
            socket,
            backlog: Mutex::new(VecDeque::new()),
        }
    }

    /// The descriptor to poll.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Sends a frame, now or when there is room.
    pub(crate) fn send(&self, frame: &ToCoordinator) {
        // Every frame of the kernel is far below the limit; a console line is cut by `CONSOLE_MAX`.
        let Ok(bytes) = encode(frame) else { return };
        if matches!(frame, ToCoordinator::Console { .. }) && self.waiting() > BACKLOG_SOFT {
            self.wait_for_room();
        }
        let mut backlog = self.lock();
        if !backlog.is_empty() || self.transmit(&bytes, &[]) == Err(Errno::AGAIN) {
            backlog.push_back(bytes);
        }
    }

    /// Sends the first frame, with file descriptors. The socket is empty then.
    pub(crate) fn send_with(&self, frame: &ToCoordinator, files: &[BorrowedFd<'_>]) -> Result<(), Errno> {
        let bytes = encode(frame).map_err(|_| Errno::TOOBIG)?;
        self.transmit(&bytes, files)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Vec<u8>>> {
        // A panic while it was held leaves the queue whole.
        self.backlog
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// How many frames wait.
    pub(crate) fn waiting(&self) -> usize {
        self.lock().len()
    }

    fn wait_for_room(&self) {
        let mut fds = [PollFd::new(&self.socket, PollFlags::OUT)];
        let _ = poll(&mut fds, Some(&CONSOLE_PATIENCE));
        self.flush();
    }

    /// Sends what waits, as far as there is room.
    pub(crate) fn flush(&self) {
        let mut backlog = self.lock();
        while let Some(bytes) = backlog.front() {
            if self.transmit(bytes, &[]) == Err(Errno::AGAIN) {
                return;
            }
            backlog.pop_front();
        }
    }

    fn transmit(&self, bytes: &[u8], files: &[BorrowedFd<'_>]) -> Result<(), Errno> {
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(FILES_MAX))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !files.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(files)) {
            return Err(Errno::TOOBIG);
        }
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        loop {
            match sendmsg(&self.socket, &[IoSlice::new(bytes)], &mut ancillary, flags) {
                Err(Errno::INTR) => {}
                Err(Errno::NOBUFS) => return Err(Errno::AGAIN),
                other => return other.map(drop),
            }
        }
    }

    /// Takes the next frame, if there is one.
    pub(crate) fn receive(&self) -> Received {
        let mut buffer = vec![0; FRAME_MAX + 1];
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(FILES_MAX))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let length = loop {
            let mut slices = [IoSliceMut::new(&mut buffer)];
            match recvmsg(&self.socket, &mut slices, &mut ancillary, flags) {
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Received::Nothing,
                Err(_) => return Received::Closed,
                Ok(received) => break received.bytes,
            }
        };
        let files = ancillary
            .drain()
            .flat_map(|message| match message {
                RecvAncillaryMessage::ScmRights(files) => files.collect::<Vec<_>>(),
                _ => Vec::new(),
            })
            .collect();
        // An empty packet is the end of the socket; a frame that does not decode is a coordinator of another
        // version. Either way there is nobody left to obey.
        match decode(&buffer[..length]) {
            Ok(frame) if length > 0 => Received::Frame(Box::new(frame), files),
            _ => Received::Closed,
        }
    }
}

//! The notifier: a thread of its own that waits for the coordinator and for peers' interrupts, so that the CPUs
//! need not. It sleeps nearly always.

use crate::{bells::PeerBells, control::Received, export::SharedMemory, platform::Hosted};
use rustix::event::{PollFd, PollFlags, poll};
use satrap_abi::{
    Digest, Errno, KernelId,
    control::{ToCoordinator, ToSatellite},
};
use satrap_kernel::{LinkParts, Platform, Satellite};
use satrap_link::{AttentionDoorbell, Export, PeerExport};
use std::{
    fs::File,
    io::{self, Read},
    os::fd::OwnedFd,
    sync::Arc,
};

/// Largest artifact that is loaded, in bytes.
const ARTIFACT_MAX: u64 = 1 << 30;

/// The notifier's view of its satellite.
pub(crate) struct Notifier {
    pub(crate) satellite: Arc<Satellite<Hosted>>,
    pub(crate) export: Export,
}

impl Notifier {
    /// Serves until the coordinator is gone; then the satellite shuts down.
    pub(crate) fn run(self) {
        let platform = self.satellite.platform().clone();
        loop {
            let mut interest = PollFlags::IN;
            if platform.control.waiting() > 0 {
                interest |= PollFlags::OUT;
            }
            let control = platform.control.fd();
            let interrupted = platform.interrupted.fd();
            let mut fds = [
                PollFd::from_borrowed_fd(control, interest),
                PollFd::from_borrowed_fd(interrupted, PollFlags::IN),
            ];
            if poll(&mut fds, None).is_err() {
                continue;
            }
            let (at_control, at_bell) = (fds[0].revents(), fds[1].revents());
            if at_bell.contains(PollFlags::IN) {
                platform.interrupted.drain();
                platform.interrupt(0);
            }
            if at_control.contains(PollFlags::OUT) {
                platform.control.flush();
            }
            if at_control.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) && !self.serve() {
                self.satellite.shut_down();
                return;
            }
        }
    }

    /// Answers what the coordinator has sent. False when it is gone.
    fn serve(&self) -> bool {
        loop {
            match self.satellite.platform().control.receive() {
                Received::Frame(frame, files) => self.obey(*frame, files),
                Received::Nothing => return true,
                Received::Closed => return false,
            }
        }
    }

    fn obey(&self, frame: ToSatellite, files: Vec<OwnedFd>) {
        let platform = self.satellite.platform();
        match frame {
            ToSatellite::PeerUp {
                kernel,
                generation,
                export,
            } => {
                if let Err(error) = self.connect(kernel, generation, export, files) {
                    let reason = error.to_string();
                    platform.send_control(ToCoordinator::LinkFailed {
                        kernel,
                        generation,
                        reason,
                    });
                }
            }
            ToSatellite::Load { artifact, length } => {
                let result = self.load(artifact, length, files);
                platform.send_control(ToCoordinator::Loaded { artifact, result });
            }
            frame => self.satellite.control(frame),
        }
    }

    fn connect(&self, kernel: KernelId, generation: u32, length: u64, files: Vec<OwnedFd>) -> io::Result<()> {
        let Ok([memory, park, interrupt]) = <[OwnedFd; 3]>::try_from(files) else {
            return Err(io::Error::other("a peer came without its export and doorbells"));
        };
        let memory = SharedMemory::open(memory, length as usize)?;
        let peer = PeerExport::open(memory.region().clone(), kernel, generation).map_err(io::Error::other)?;
        let attention = peer.attention().map_err(io::Error::other)?;
        let bells = PeerBells::new(park, interrupt, self.satellite.platform().doorbells.clone());
        self.satellite.link_up(LinkParts {
            kernel,
            generation,
            sender: Box::new(self.export.ring_to(&peer).map_err(io::Error::other)?),
            receiver: Box::new(self.export.ring_from(&peer).map_err(io::Error::other)?),
            doorbell: Box::new(AttentionDoorbell::new(attention, bells)),
            heap: peer.heap().clone(),
        });
        Ok(())
    }

    fn load(&self, digest: Digest, length: u64, files: Vec<OwnedFd>) -> Result<(), Errno> {
        let file = files.into_iter().next().ok_or(Errno::Invalid)?;
        if length > ARTIFACT_MAX {
            return Err(Errno::TooLarge);
        }
        let mut artifact = Vec::with_capacity(length as usize);
        let read = File::from(file).take(length).read_to_end(&mut artifact);
        if read.ok() != Some(length as usize) {
            return Err(Errno::Invalid);
        }
        self.satellite.load(digest, &artifact)
    }
}

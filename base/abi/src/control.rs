//! The control protocol between the coordinator and each satellite kernel.
//!
//! Frames are postcard. On the hosted platform they travel over a Unix socket that also carries the file
//! descriptors which a frame announces; a card uses its link. Namespace calls follow Helios §3.5: a bind
//! request is forwarded to the service's kernel, which makes the channel directly with the client's kernel.

use crate::{ChannelId, Digest, Errno, ExitStatus, KernelId, ProcessId, limits::Limits};
use alloc::{string::String, vec::Vec};
use serde::{Deserialize, Serialize};

/// Largest frame, in bytes. A decoder refuses more.
pub const FRAME_MAX: usize = 128 << 10;

/// Matches an answer to its question; chosen by the asker.
pub type RequestId = u64;

/// A service that a satellite kernel registered: its place in that kernel's table with generation.
pub type ServiceId = u64;

/// What a satellite kernel owns, and nothing else is discovered (Pisces §4.1).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ResourceMap {
    /// Its number.
    pub kernel: KernelId,
    /// How many kernels had this number before it.
    pub generation: u32,
    /// Its CPUs, by the platform's numbers.
    pub cpus: Vec<u32>,
    /// Bytes of memory that it alone writes and peers may read: exchange heap and its halves of the rings.
    pub export: u64,
    /// Key under which artifacts are authenticated.
    pub key: [u8; 32],
}

/// A channel that a manifest grants to a process.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ChannelGrant {
    /// The name that the program uses.
    pub name: String,
    /// Path in the namespace of the service that it is bound to.
    pub path: String,
}

/// What to start.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProcessSpec {
    /// Its id.
    pub process: ProcessId,
    /// Its name, for people.
    pub name: String,
    /// The program, by the digest of its artifact; loaded before by [`ToSatellite::Load`].
    pub artifact: Digest,
    /// Arguments; the first is the program's name.
    pub args: Vec<String>,
    /// Limits.
    pub limits: Limits,
    /// Channels that it may bind.
    pub channels: Vec<ChannelGrant>,
    /// Paths that it may register.
    pub registers: Vec<String>,
    /// Whether it may bind, look up and register anything (a program run from the command line without a
    /// manifest, by its owner's wish).
    pub unrestricted: bool,
    /// Scheduling class, 0 the highest of 4.
    pub priority: u8,
}

/// Where a bound channel leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Bound {
    /// The service's kernel.
    pub kernel: KernelId,
    /// Generation of that kernel.
    pub generation: u32,
    /// The service's end of the channel, in that kernel's table.
    pub channel: ChannelId,
}

/// From the coordinator to a satellite kernel.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ToSatellite {
    /// First frame: what the satellite owns.
    Boot(ResourceMap),
    /// A peer has come. Hosted: its export and its doorbells travel as file descriptors.
    PeerUp {
        /// The peer.
        kernel: KernelId,
        /// Its generation.
        generation: u32,
        /// Size of its export in bytes.
        export: u64,
    },
    /// A peer is gone: close every channel to it, forget its generation.
    PeerDown {
        /// The peer.
        kernel: KernelId,
        /// Its generation.
        generation: u32,
    },
    /// Load a program. Hosted: the artifact travels as one file descriptor, `length` bytes.
    Load {
        /// Digest of the artifact's bytes.
        artifact: Digest,
        /// Its size in bytes.
        length: u64,
    },
    /// Start a process.
    Spawn(ProcessSpec),
    /// End a process.
    Kill(ProcessId),
    /// A client asks for a channel to a service of this kernel.
    Connect {
        /// The client's request, to be sent back.
        request: RequestId,
        /// The service.
        service: ServiceId,
        /// The client's kernel.
        client: KernelId,
        /// Generation of that kernel.
        generation: u32,
        /// The client process.
        process: ProcessId,
        /// The client's end of the channel, in the table of its kernel.
        channel: ChannelId,
    },
    /// Answer to [`ToCoordinator::Bind`].
    BindReply {
        /// The request.
        request: RequestId,
        /// Where it leads, or why not.
        result: Result<Bound, Errno>,
    },
    /// Answer to [`ToCoordinator::Register`].
    RegisterReply {
        /// The request.
        request: RequestId,
        /// Whether the name is now its owner's.
        result: Result<(), Errno>,
    },
    /// Answer to [`ToCoordinator::List`]: names, sorted.
    ListReply {
        /// The request.
        request: RequestId,
        /// Full paths.
        names: Vec<String>,
    },
    /// Asks for [`ToCoordinator::Stats`].
    StatsRequest,
    /// End every process, then the kernel.
    Shutdown,
}

/// Message counts of all endpoints that a process has or had under one name to one kernel.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ChannelStats {
    /// The process that holds them.
    pub process: u64,
    /// How many are open.
    pub endpoints: u32,
    /// The name under which the process bound or registered it.
    pub name: String,
    /// The peer's kernel; equal to the own number for a local channel.
    pub peer: u16,
    /// Messages sent.
    pub sent: u64,
    /// Messages received.
    pub received: u64,
    /// Payload bytes sent, blocks and pool buffers included.
    pub bytes_sent: u64,
    /// Payload bytes received.
    pub bytes_received: u64,
    /// Payload bytes that the kernel had to copy for them.
    pub bytes_copied: u64,
    /// Payload copies that the kernel made.
    pub copies: u64,
}

impl ChannelStats {
    /// Adds what others have counted.
    pub fn add(&mut self, others: &ChannelStats) {
        self.endpoints += others.endpoints;
        self.sent += others.sent;
        self.received += others.received;
        self.bytes_sent += others.bytes_sent;
        self.bytes_received += others.bytes_received;
        self.bytes_copied += others.bytes_copied;
        self.copies += others.copies;
    }
}

/// Figures of one process.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ProcessStats {
    /// Its id.
    pub process: u64,
    /// Time that its threads ran, in ns.
    pub cpu: u64,
    /// Linear memory, stacks and exchange heap charged to it, in bytes.
    pub memory: u64,
    /// Live threads.
    pub threads: u32,
    /// Open handles.
    pub handles: u32,
}

/// Figures of one satellite kernel. Counters run from its start.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct KernelStats {
    /// Time since its start, in ns.
    pub uptime: u64,
    /// Time that its CPUs ran processes or tasks, in ns, all CPUs added.
    pub busy: u64,
    /// Context switches.
    pub switches: u64,
    /// Preemptions by the timer.
    pub preemptions: u64,
    /// Times that a CPU parked.
    pub parks: u64,
    /// Doorbells that it rang.
    pub doorbells: u64,
    /// Exchange heap in use, in bytes.
    pub exchange_used: u64,
    /// Each process.
    pub processes: Vec<ProcessStats>,
    /// Each endpoint.
    pub channels: Vec<ChannelStats>,
}

/// Which of a process's output streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// From a satellite kernel to the coordinator.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ToCoordinator {
    /// It runs, and what it is. Hosted: its export and its doorbells travel as file descriptors.
    Ready {
        /// Platform name, such as `hosted-x86_64`.
        platform: String,
        /// Size of its export in bytes.
        export: u64,
    },
    /// [`ToSatellite::Load`] is done.
    Loaded {
        /// The artifact.
        artifact: Digest,
        /// Whether it may be spawned now.
        result: Result<(), Errno>,
    },
    /// [`ToSatellite::Spawn`] is done.
    Spawned {
        /// The process.
        process: ProcessId,
        /// Whether it runs.
        result: Result<(), Errno>,
    },
    /// A process has ended, and nothing is left of it.
    Exited {
        /// The process.
        process: ProcessId,
        /// How.
        status: ExitStatus,
    },
    /// A process wrote to its console.
    Console {
        /// The process.
        process: ProcessId,
        /// Which stream.
        stream: Stream,
        /// What it wrote.
        bytes: Vec<u8>,
    },
    /// Put a name into the namespace.
    Register {
        /// Chosen by the kernel.
        request: RequestId,
        /// Who asks.
        process: ProcessId,
        /// The path.
        path: String,
        /// Hash of the contract that the service exports.
        contract: Digest,
        /// The service.
        service: ServiceId,
    },
    /// Take the service's name out again.
    Unregister {
        /// The service.
        service: ServiceId,
    },
    /// Ask for a channel to a service, now or when it appears.
    Bind {
        /// Chosen by the kernel.
        request: RequestId,
        /// Who asks.
        process: ProcessId,
        /// The path.
        path: String,
        /// Hash of the contract that the client imports.
        contract: Digest,
        /// The client's end, in the table of its kernel.
        channel: ChannelId,
        /// Whether to wait until the name appears.
        wait: bool,
    },
    /// Forget a [`ToCoordinator::Bind`] that still waits: its process gave up or died.
    BindCancel {
        /// The request.
        request: RequestId,
    },
    /// Answer to [`ToSatellite::Connect`].
    ConnectReply {
        /// The client's kernel.
        client: KernelId,
        /// The client's request.
        request: RequestId,
        /// The service's end, or why not.
        result: Result<ChannelId, Errno>,
    },
    /// List the names below a prefix.
    List {
        /// Chosen by the kernel.
        request: RequestId,
        /// Prefix, such as `/kernel/`.
        prefix: String,
    },
    /// A peer wrote garbage; the link to it is reset.
    LinkFailed {
        /// The peer.
        kernel: KernelId,
        /// Its generation.
        generation: u32,
        /// What was wrong.
        reason: String,
    },
    /// Answer to [`ToSatellite::StatsRequest`].
    Stats(KernelStats),
}

/// Encodes a frame.
pub fn encode<T: Serialize>(frame: &T) -> Result<Vec<u8>, FrameError> {
    let bytes = postcard::to_allocvec(frame).map_err(|_| FrameError::Malformed)?;
    if bytes.len() > FRAME_MAX {
        Err(FrameError::TooLarge)
    } else {
        Ok(bytes)
    }
}

/// Decodes a frame; trailing bytes are refused.
pub fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, FrameError> {
    if bytes.len() > FRAME_MAX {
        return Err(FrameError::TooLarge);
    }
    match postcard::take_from_bytes(bytes) {
        Ok((frame, [])) => Ok(frame),
        _ => Err(FrameError::Malformed),
    }
}

/// Why a frame was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameError {
    /// Longer than [`FRAME_MAX`].
    TooLarge,
    /// Not a frame of this protocol.
    Malformed,
}

impl core::fmt::Display for FrameError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            FrameError::TooLarge => "control frame too large",
            FrameError::Malformed => "malformed control frame",
        })
    }
}

impl core::error::Error for FrameError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_survives_the_wire() {
        let frame = ToSatellite::PeerDown {
            kernel: KernelId(3),
            generation: 7,
        };
        assert_eq!(decode::<ToSatellite>(&encode(&frame).unwrap()), Ok(frame));
    }

    #[test]
    fn trailing_bytes_are_refused() {
        let mut bytes = encode(&ToSatellite::Shutdown).unwrap();
        bytes.push(0);
        assert_eq!(decode::<ToSatellite>(&bytes), Err(FrameError::Malformed));
    }
}

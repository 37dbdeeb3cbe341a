//! What the workload reports and the checkers judge: plain statements of what happened, by whom.
//!
//! The workload never judges and the checkers never act, so that neither can hide a fault of the other.

use crate::events::Life;
use satrap_abi::{Errno, ProcessId, control::ProcessStats, limits::Limits};

/// One direction of one channel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Stream {
    /// The channel: unique in a run, chosen by its client, a new one for each bind.
    pub channel: u64,
    /// Whether this is the client's way to the service.
    pub to_service: bool,
}

/// A block as somebody saw it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockPrint {
    /// Its stamp: unique in a run.
    pub stamp: u64,
    /// Digest of its bytes.
    pub print: u64,
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Fact {
    /// A process runs, under these limits.
    Started(ProcessId, Life, Limits),
    /// A process has ended.
    Ended(ProcessId),
    /// A kernel is dead, and every process on it.
    KernelDied(Life),
    /// A message is about to be sent.
    Sending(Stream, u64, Option<BlockPrint>),
    /// The kernel has taken that message.
    Sent(Stream, u64),
    /// A message was received.
    Received(Stream, u64, Option<BlockPrint>),
    /// The receiver was told that nothing more comes, and why.
    Over(Stream, Errno),
    /// A process has a new block.
    BlockMade(u64, ProcessId),
    /// A process gives a block away.
    BlockLeaves(u64, ProcessId),
    /// The kernel did not take it: the process has it still.
    BlockStays(u64, ProcessId),
    /// A process received a block.
    BlockArrived(u64, ProcessId),
    /// A process has closed a block.
    BlockFreed(u64, ProcessId),
    /// A process took a client's channel from its service.
    Accepted(ProcessId, u32),
    /// It has closed that channel.
    Dismissed(ProcessId, u32),
    /// A process's service has this name.
    Registered(ProcessId, String),
    /// What a kernel counts for a process.
    Usage(ProcessStats),
    /// What a process counted when its kernel refused more: handles, threads.
    Full(ProcessId, u32, u32),
    /// A guest panicked.
    Panicked(ProcessId, String),
    /// A kernel has reset a link for what its peer sent.
    LinkFailed(Life, Life, String),
}

//! Faults that no kernel is meant to survive, done on purpose: each shows that a checker can fail.
//!
//! They are done where the real thing would happen: in a link's frames, a doorbell, a control frame.

/// How a run is broken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sabotage {
    /// It is not.
    None,
    /// Links drop messages.
    DropMessages,
    /// Links deliver messages twice.
    RepeatMessages,
    /// Links swap neighbouring messages of a channel.
    SwapMessages,
    /// Links deliver messages with blocks twice: the block has two owners then.
    RepeatBlocks,
    /// Blocks change on their way.
    SpoilBlocks,
    /// Links drop the news that a block was copied.
    KeepLoans,
    /// Links drop the news that a channel was closed.
    DropCloses,
    /// Every doorbell is lost, the repeated ones too.
    LoseBells,
    /// CPUs of one kernel do not wake each other.
    LoseWakes,
    /// The coordinator does not hear that names are withdrawn, nor that processes end.
    KeepNames,
    /// Kernels are told higher limits than the checkers.
    RaiseLimits,
}

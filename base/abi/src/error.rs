//! Errors of kernel calls, and how a process can end.
//!
//! Each names the culprit (guest, peer, operator or us) and is exact for its operation; numbers are part of the
//! ABI and never change their meaning. `call.rs` says which call returns which; `control.rs` carries exits.

use core::fmt;
use serde::{Deserialize, Serialize};

macro_rules! errnos {
    ($($name:ident = $code:literal, $text:literal;)*) => {
        /// Why a kernel call was refused. A call returns the negated code; 0 and above mean success.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
        #[repr(i32)]
        pub enum Errno {
            $(#[doc = $text] $name = $code,)*
        }

        impl Errno {
            /// The error that a call's negative result stands for.
            pub const fn from_result(result: i32) -> Option<Errno> {
                match result.wrapping_neg() {
                    $($code => Some(Errno::$name),)*
                    _ => None,
                }
            }

            /// What it means, in one sentence without a full stop.
            pub const fn describe(self) -> &'static str {
                match self {
                    $(Errno::$name => $text,)*
                }
            }
        }
    };
}

errnos! {
    Invalid = 1, "an argument is out of its range";
    BadPointer = 2, "a pointer leaves the process's memory";
    BadHandle = 3, "the handle does not name an open object of the right kind";
    WouldBlock = 4, "nothing is there yet, and the call was asked not to wait";
    TimedOut = 5, "the deadline passed";
    Closed = 6, "the other side closed the channel";
    PeerDied = 7, "the process on the other side died";
    KernelDied = 8, "the satellite kernel on the other side died";
    Protocol = 9, "the contract does not allow this message in this state";
    ContractMismatch = 10, "the two sides' contracts differ";
    NotFound = 11, "no such name";
    NameTaken = 12, "the name is taken";
    Denied = 13, "the manifest does not grant this";
    NoMemory = 14, "the satellite is out of memory";
    LimitReached = 15, "a limit of the process is reached";
    TooLarge = 16, "the message or block is larger than allowed";
    Killed = 17, "the process is being ended";
    Unsupported = 18, "this platform cannot do that";
}

impl Errno {
    /// What a kernel call returns for this error.
    pub const fn to_result(self) -> i32 {
        -(self as i32)
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.describe())
    }
}

impl core::error::Error for Errno {}

/// What a guest did that no program may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Trap {
    /// The `unreachable` instruction: in Rust a panic or an abort.
    Unreachable,
    /// A load or store outside linear memory.
    MemoryOutOfBounds,
    /// The guest's call stack is exhausted.
    StackOverflow,
    /// An integer division by zero.
    DivisionByZero,
    /// An integer overflow, or a float that fits no integer.
    IntegerOverflow,
    /// An indirect call of a null or foreign function, or one with another signature.
    BadIndirectCall,
    /// A table access outside the table.
    TableOutOfBounds,
    /// Any other trap of the engine.
    Other,
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Trap::Unreachable => "unreachable code was reached (a panic or an abort)",
            Trap::MemoryOutOfBounds => "memory access out of bounds",
            Trap::StackOverflow => "call stack exhausted",
            Trap::DivisionByZero => "integer division by zero",
            Trap::IntegerOverflow => "integer overflow",
            Trap::BadIndirectCall => "indirect call to a wrong function",
            Trap::TableOutOfBounds => "table access out of bounds",
            Trap::Other => "trap",
        })
    }
}

/// How a process ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ExitStatus {
    /// `main` returned or `exit` was called; 0 is success.
    Code(i32),
    /// It trapped.
    Trap(Trap),
    /// The operator or its parent ended it.
    Killed,
    /// Its satellite kernel died under it.
    KernelDied,
    /// It could not be started.
    SpawnFailed(Errno),
}

impl ExitStatus {
    /// Whether the process did what it was asked.
    pub const fn is_success(self) -> bool {
        matches!(self, ExitStatus::Code(0))
    }
}

impl fmt::Display for ExitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExitStatus::Code(code) => write!(f, "exited with {code}"),
            ExitStatus::Trap(trap) => write!(f, "trapped: {trap}"),
            ExitStatus::Killed => f.write_str("killed"),
            ExitStatus::KernelDied => f.write_str("its satellite kernel died"),
            ExitStatus::SpawnFailed(errno) => write!(f, "could not start: {errno}"),
        }
    }
}

//! Events: what happens in the system, as `GET /v1/events` and an attached run tell it, one JSON object a line.
//!
//! Neighbour: `record` keeps them in order, for readers of any speed.

use serde::{Deserialize, Serialize};

/// What a compiler works on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Checking the module.
    Validate,
    /// Rewriting it for the kernel.
    Rewrite,
    /// Making native code, which takes most of the time.
    Compile,
    /// The artifact is written.
    Done,
}

impl Stage {
    /// How far an installation is that has come to this stage, 0 to 100.
    pub const fn percent(self) -> u8 {
        match self {
            Stage::Validate => 0,
            Stage::Rewrite => 10,
            Stage::Compile => 20,
            Stage::Done => 100,
        }
    }
}

/// How an installation ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InstallResult {
    /// It was in the cache.
    Cached,
    /// It was compiled.
    Compiled {
        /// How long that took, in ms.
        ms: u64,
    },
    /// It was refused, with the compiler's words.
    Failed(String),
}

/// Bytes that a process wrote: text where they are UTF-8, numbers where not, so that nothing is lost.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Data {
    /// UTF-8.
    Text(String),
    /// Anything else.
    Bytes(Vec<u8>),
}

impl Data {
    /// Takes the cheaper form that loses nothing.
    pub fn new(bytes: &[u8]) -> Data {
        match std::str::from_utf8(bytes) {
            Ok(text) => Data::Text(text.to_owned()),
            Err(_) => Data::Bytes(bytes.to_vec()),
        }
    }

    /// The bytes as they were written.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Data::Text(text) => text.as_bytes(),
            Data::Bytes(bytes) => bytes,
        }
    }
}

/// One event.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A satellite is ready.
    SatelliteUp {
        /// Its number.
        kernel: u16,
        /// Its generation.
        generation: u32,
        /// Its platform.
        platform: String,
        /// From launch to ready, in µs.
        boot_us: u64,
    },
    /// A satellite is gone.
    SatelliteDown {
        /// Its number.
        kernel: u16,
        /// Its generation.
        generation: u32,
        /// Why.
        reason: String,
    },
    /// An installation begins.
    InstallStarted {
        /// The program's path.
        program: String,
        /// For which target.
        target: String,
        /// Which of how many, from 1.
        index: usize,
        /// How many programs and targets there are.
        total: usize,
    },
    /// An installation goes on.
    InstallProgress {
        /// The program's path.
        program: String,
        /// For which target.
        target: String,
        /// What is done now.
        stage: Stage,
        /// How far the whole is, 0 to 100.
        percent: u8,
    },
    /// An installation has ended.
    InstallFinished {
        /// The program's path.
        program: String,
        /// For which target.
        target: String,
        /// How.
        result: InstallResult,
    },
    /// An application begins.
    AppStarted {
        /// Its id.
        app: u64,
        /// Its name.
        name: String,
    },
    /// A process was given its place.
    Placed {
        /// Its application.
        app: u64,
        /// Its id.
        process: u64,
        /// Its name.
        name: String,
        /// Its kernel.
        kernel: u16,
        /// Why.
        reason: String,
    },
    /// A process runs.
    ProcessStarted {
        /// Its application.
        app: u64,
        /// Its id.
        process: u64,
        /// Its name.
        name: String,
        /// Its kernel.
        kernel: u16,
    },
    /// A process wrote to its console, or some of what it wrote was lost.
    Output {
        /// Place in the order of everything written.
        sequence: u64,
        /// Since the Unix epoch, in ms.
        time_ms: u64,
        /// Its application.
        app: u64,
        /// Its id.
        process: u64,
        /// Its name.
        name: String,
        /// 1 or 2.
        stream: u8,
        /// What it wrote.
        data: Data,
        /// Bytes that this reader missed before these because it was slow.
        lost: u64,
    },
    /// A process has ended.
    ProcessExited {
        /// Its application.
        app: u64,
        /// Its id.
        process: u64,
        /// Its name.
        name: String,
        /// How, in words.
        status: String,
        /// The exit code for that.
        code: i32,
        /// When it is started again, in ms from now; none if it is not.
        restart_ms: Option<u64>,
    },
    /// Every process of an application has ended.
    AppEnded {
        /// Its id.
        app: u64,
        /// Its exit code.
        code: i32,
    },
    /// A name appeared.
    NameRegistered {
        /// Full path.
        path: String,
        /// Its owner's kernel.
        kernel: u16,
    },
    /// A name is gone.
    NameRemoved {
        /// Full path.
        path: String,
    },
    /// Something that the operator should know.
    Notice {
        /// The application that it is about, if it is about one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        app: Option<u64>,
        /// What, and what to do about it.
        text: String,
    },
    /// A stream failed; the last event of its answer.
    Failed {
        /// Why, and what to do about it.
        error: String,
    },
}

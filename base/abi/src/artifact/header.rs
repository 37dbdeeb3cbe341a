//! The header: everything about a program that a satellite kernel must know to run it.
//!
//! Plain data: `seal` writes it, `open` checks every field that others index by, `kernel/engine` reads it.

use super::{CpuFeatures, Target};
use crate::Digest;
use alloc::{string::String, vec::Vec};
use core::ops::Range;
use serde::{Deserialize, Serialize};

/// A range of bytes of the payload, which begins at the first multiple of
/// [`NATIVE_ALIGN`](super::NATIVE_ALIGN) behind the header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Span {
    /// Where it begins.
    pub offset: u32,
    /// Its length in bytes.
    pub length: u32,
}

impl Span {
    /// As a range of indices into the payload.
    pub const fn range(self) -> Range<usize> {
        self.offset as usize..self.offset as usize + self.length as usize
    }
}

/// Bytes that stand in linear memory before the program runs; all others are 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ImageRange {
    /// Their address.
    pub address: u32,
    /// The bytes.
    pub bytes: Span,
}

/// How a program is entered, after the start function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Entry {
    /// `satrap_main: () -> i32`, whose result is the exit code.
    SatrapMain,
    /// `_start: () -> ()`; returning from it means exit code 0.
    Start,
    /// `main: (i32, i32) -> i32`, called with no arguments; its result is the exit code.
    Main,
}

impl Entry {
    /// Each entry; the first that a program exports is taken.
    pub const ALL: [Entry; 3] = [Entry::SatrapMain, Entry::Start, Entry::Main];

    /// Name of the export.
    pub const fn name(self) -> &'static str {
        match self {
            Entry::SatrapMain => "satrap_main",
            Entry::Start => "_start",
            Entry::Main => "main",
        }
    }
}

/// What stands before the payload, in postcard.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Header {
    /// What the native code was made for.
    pub target: Target,
    /// CPU features without which it must not run.
    pub features: CpuFeatures,
    /// The engine: [`engine::VERSION`](super::engine::VERSION).
    pub engine: String,
    /// Digest of the Wasm module as the program's author made it.
    pub source: Digest,
    /// Pages of linear memory before the program runs, below
    /// [`HEAP_PAGES_MAX`](crate::limits::HEAP_PAGES_MAX).
    pub pages_initial: u32,
    /// Pages that linear memory may grow to, by the program's own declaration; at most
    /// [`HEAP_PAGES_MAX`](crate::limits::HEAP_PAGES_MAX). The process's limits may be tighter.
    pub pages_max: u32,
    /// What stands in linear memory at first: by address, without overlaps.
    pub image: Vec<ImageRange>,
    /// Data segments for `memory_init`, by the program's own index. An active segment is empty here: by the
    /// rules of WebAssembly it is dropped once it stands in memory.
    pub segments: Vec<Span>,
    /// Whether [`export::STACK`](super::export::STACK) is there.
    pub stack_pointer: bool,
    /// Whether [`export::TABLE`](super::export::TABLE) is there.
    pub table: bool,
    /// Whether [`export::START`](super::export::START) is there.
    pub start: bool,
    /// Whether [`export::THREAD`](super::export::THREAD) is there.
    pub thread: bool,
    /// How the program is entered.
    pub entry: Entry,
    /// Offset in the text section of an instruction that the engine knows to trap. A thread that is to be
    /// killed while preempted is made to seem to have stopped there.
    pub trap_offset: u32,
    /// Kernel calls that the program itself imports, by name, sorted.
    pub imports: Vec<String>,
    /// Contents of its [`CONTRACT_SECTION`](crate::call::CONTRACT_SECTION)s, joined.
    pub contracts: Span,
    /// The engine's ELF image; its offset is 0.
    pub native: Span,
}

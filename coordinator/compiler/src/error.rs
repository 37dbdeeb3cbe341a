//! Why a program was refused. Each message says what is wrong and where, in terms of the program.
//!
//! Messages continue a sentence that begins with the program's file name.

use satrap_abi::artifact::SealError;
use satrap_abi::call::MODULE;
use satrap_abi::limits::{HEAP_PAGES_MAX, WASM_PAGE};
use std::fmt;

/// Why a program was refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CompileError {
    /// Longer than [`PROGRAM_MAX`](crate::PROGRAM_MAX) bytes.
    TooLarge(usize),
    /// It is not a WebAssembly module at all; what it seems to be instead.
    NotModule(&'static str),
    /// Not valid WebAssembly, or it uses a proposal that is off.
    Invalid {
        /// What the validator says.
        message: String,
        /// Where in the file.
        offset: usize,
    },
    /// It imports something from another module than the kernel's.
    ForeignImport {
        /// The module.
        module: String,
        /// The item.
        name: String,
    },
    /// It imports from a WASI module.
    Wasi {
        /// The module.
        module: String,
        /// The item.
        name: String,
    },
    /// It imports something that the kernel does not have.
    UnknownCall(String),
    /// It imports a kernel call with another type.
    CallType {
        /// The call.
        name: String,
        /// The type it has.
        expected: String,
        /// The type with which it is imported.
        found: String,
    },
    /// Its memory begins at more pages than fit below the window.
    MemoryTooLarge(u64),
    /// Its tables hold more elements than [`TABLE_ELEMENTS_MAX`](crate::TABLE_ELEMENTS_MAX).
    TablesTooLarge(u64),
    /// An active data segment leaves the initial memory.
    DataOutOfBounds {
        /// Index of the segment.
        segment: u32,
        /// Where it begins.
        address: u32,
        /// Its length in bytes.
        length: usize,
        /// Size of the initial memory in bytes.
        memory: u64,
    },
    /// It exports a name that belongs to the installer.
    ReservedExport(String),
    /// It exports an entry with another type.
    EntryType {
        /// The export.
        name: &'static str,
        /// The type it must have.
        expected: &'static str,
        /// The type it has.
        found: String,
    },
    /// It exports none of the entries.
    NoEntry,
    /// It starts threads, but has no stack pointer that could be set for them.
    NoStackPointer,
    /// The code generator gave up.
    CodeGeneration(String),
    /// The result cannot be sealed.
    Seal(SealError),
}

impl CompileError {
    /// The part of `Display` that speaks of memory and tables.
    fn fmt_size(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompileError::MemoryTooLarge(pages) => write!(
                f,
                "it wants {} MiB of memory at its start; at most {} MiB are below the window",
                pages.saturating_mul(u64::from(WASM_PAGE)) >> 20,
                (u64::from(HEAP_PAGES_MAX) * u64::from(WASM_PAGE)) >> 20
            ),
            CompileError::TablesTooLarge(elements) => write!(
                f,
                "its tables hold {elements} elements; at most {} are allowed",
                crate::TABLE_ELEMENTS_MAX
            ),
            CompileError::DataOutOfBounds {
                segment,
                address,
                length,
                memory,
            } => write!(
                f,
                "data segment {segment} ({length} bytes at {address:#x}) leaves the initial memory \
                 of {memory:#x} bytes"
            ),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompileError::TooLarge(length) => {
                write!(
                    f,
                    "the program has {length} bytes; at most {} are allowed",
                    crate::PROGRAM_MAX
                )
            }
            CompileError::NotModule(seems) => write!(f, "not a WebAssembly module but {seems}"),
            CompileError::Invalid { message, offset } => {
                write!(f, "not valid WebAssembly: {message} (at offset {offset:#x})")
            }
            CompileError::ForeignImport { module, name } => {
                write!(
                    f,
                    "it imports `{name}` from `{module}`; programs may import only from `{MODULE}`"
                )
            }
            CompileError::Wasi { module, name } => write!(
                f,
                "it imports `{name}` from `{module}`: WASI programs are not supported yet; \
                 build for wasm32-unknown-unknown with Satrap's SDK"
            ),
            CompileError::UnknownCall(name) => write!(f, "`{MODULE}` has no function `{name}`"),
            CompileError::CallType {
                name,
                expected,
                found,
            } => {
                write!(
                    f,
                    "`{name}` of `{MODULE}` is {expected}, but the program imports it as {found}"
                )
            }
            CompileError::MemoryTooLarge(_)
            | CompileError::TablesTooLarge(_)
            | CompileError::DataOutOfBounds { .. } => self.fmt_size(f),
            CompileError::ReservedExport(name) => {
                write!(
                    f,
                    "it exports `{name}`, a name that is reserved for the installer"
                )
            }
            CompileError::EntryType {
                name,
                expected,
                found,
            } => {
                write!(f, "its export `{name}` must be {expected}, but is {found}")
            }
            CompileError::NoEntry => {
                f.write_str("it exports none of `satrap_main`, `_start` and `main`, so it cannot be started")
            }
            CompileError::NoStackPointer => f.write_str(
                "it exports `satrap_thread` but has no stack pointer (a mutable i32 global), \
                 so its threads would share one stack",
            ),
            CompileError::CodeGeneration(message) => write!(f, "code generation failed: {message}"),
            CompileError::Seal(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CompileError {}

impl From<wasmparser::BinaryReaderError> for CompileError {
    fn from(error: wasmparser::BinaryReaderError) -> CompileError {
        CompileError::Invalid {
            message: error.message().to_owned(),
            offset: error.offset(),
        }
    }
}

impl From<SealError> for CompileError {
    fn from(error: SealError) -> CompileError {
        CompileError::Seal(error)
    }
}

//! How the engine is configured. The compiler and every satellite's engine take all of it from here: an
//! artifact made under other settings is refused by the engine, or worse, is not.

/// The engine and its version, which an artifact must match exactly.
pub const VERSION: &str = "wasmtime 48.0.8";

/// Address space that each linear memory reserves, in bytes: all that a 32-bit index reaches, the window
/// included, so that loads and stores need no bounds check (DESIGN §5).
pub const MEMORY_RESERVATION: u64 = 4 << 30;

/// Inaccessible bytes behind the reservation. An access whose constant offset is larger is compiled with an
/// explicit check against [`MEMORY_RESERVATION`].
pub const MEMORY_GUARD: u64 = 32 << 20;

/// A linear memory never moves. It also means that compiled code never reads the memory's current length, of
/// which each thread's instance holds a copy of its own that a growth elsewhere would leave stale.
pub const MEMORY_MAY_MOVE: bool = false;

/// No guard below a linear memory: indices are unsigned.
pub const GUARD_BEFORE_MEMORY: bool = false;

/// Memory is initialised by the kernel from [`Header::image`](super::Header::image), never by the engine.
pub const MEMORY_INIT_COW: bool = false;

/// Tables are filled on first use: making an instance, which every thread does, stays cheap.
pub const TABLE_LAZY_INIT: bool = true;

/// Traps are faults that the platform's handler gives to the engine.
pub const SIGNALS_BASED_TRAPS: bool = true;

/// Preemption is by interrupt, so compiled code counts neither epochs nor fuel (DESIGN §3).
pub const EPOCH_INTERRUPTION: bool = false;

/// See [`EPOCH_INTERRUPTION`].
pub const CONSUME_FUEL: bool = false;

/// Most native stack that Wasm code may use, in bytes, on a thread with the default
/// [`Limits::stack`](crate::limits::Limits): the rest is headroom for kernel calls and saved state.
pub const WASM_STACK: usize = 192 << 10;

/// A WebAssembly proposal, and whether programs may use it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Proposal {
    /// Its name, as wasmtime's `Config::wasm_*` and wasmparser's `WasmFeatures` spell it, in lower case.
    pub name: &'static str,
    /// Whether it is on.
    pub enabled: bool,
}

const fn on(name: &'static str) -> Proposal {
    Proposal { name, enabled: true }
}

const fn off(name: &'static str) -> Proposal {
    Proposal { name, enabled: false }
}

/// Each proposal that the engine knows how to switch. On is what LLVM emits for wasm32 by default or on
/// request, and what costs the engine nothing.
pub const PROPOSALS: &[Proposal] = &[
    on("mutable_global"),
    on("saturating_float_to_int"),
    on("sign_extension"),
    on("multi_value"),
    on("bulk_memory"),
    on("reference_types"),
    on("simd"),
    on("relaxed_simd"),
    on("tail_call"),
    on("extended_const"),
    on("floats"),
    off("threads"),
    off("shared_everything_threads"),
    off("exceptions"),
    off("legacy_exceptions"),
    off("gc"),
    off("gc_types"),
    off("function_references"),
    off("stack_switching"),
    off("memory64"),
    off("multi_memory"),
    off("custom_page_sizes"),
    off("wide_arithmetic"),
    off("component_model"),
];

/// Whether programs may use a proposal of [`PROPOSALS`]; one that is not listed is off.
pub const fn enabled(name: &str) -> bool {
    let mut i = 0;
    while i < PROPOSALS.len() {
        if same(PROPOSALS[i].name, name) {
            return PROPOSALS[i].enabled;
        }
        i += 1;
    }
    false
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

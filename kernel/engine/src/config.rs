//! The engine's configuration: everything comes from `satrap_abi::artifact::engine`, from which the compiler
//! takes it too.

use crate::machine::machine;
use crate::memory::Memories;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use satrap_abi::artifact::{CpuFeature, engine};
use wasmtime::{Config, WasmFeatures};

/// The configuration, or the name of a Wasm proposal that this wasmtime does not know.
pub(crate) fn config() -> Result<Config, String> {
    let mut config = Config::new();
    for proposal in engine::PROPOSALS {
        let flag = WasmFeatures::from_name(&proposal.name.to_ascii_uppercase())
            .ok_or_else(|| format!("wasmtime knows no Wasm proposal named {}", proposal.name))?;
        config.wasm_features(flag, proposal.enabled);
    }
    config
        .memory_reservation(engine::MEMORY_RESERVATION)
        .memory_guard_size(engine::MEMORY_GUARD)
        .memory_may_move(engine::MEMORY_MAY_MOVE)
        .guard_before_linear_memory(engine::GUARD_BEFORE_MEMORY)
        .memory_init_cow(engine::MEMORY_INIT_COW)
        .table_lazy_init(engine::TABLE_LAZY_INIT)
        .signals_based_traps(engine::SIGNALS_BASED_TRAPS)
        .epoch_interruption(engine::EPOCH_INTERRUPTION)
        .consume_fuel(engine::CONSUME_FUEL)
        // Walking the guest's stack for a message would make every trap dearer, and reads its frames.
        .wasm_backtrace_max_frames(None)
        .with_host_memory(Arc::new(Memories));
    // SAFETY: `has_feature` tells the truth, and artifacts carry the features that they need, which `load`
    // compares; among them is SSE4.1, without which x86 code would call floating-point helpers of the kernel.
    unsafe {
        config.detect_host_feature(has_feature);
        config.x86_float_abi_ok(true);
    }
    Ok(config)
}

/// Whether the CPUs have a feature; `None` if it is unknown here, which refuses code that needs it.
fn has_feature(name: &str) -> Option<bool> {
    CpuFeature::from_name(name).map(|feature| machine().features().contains(feature))
}

//! Code generation: the engine's ahead-of-time compiler, under the settings that every satellite expects.
//!
//! The settings stand in `satrap_abi::artifact::engine`, from which `kernel/engine` takes them too.

use crate::{CompileError, module};
use object::{Object, ObjectSection};
use satrap_abi::artifact::{CpuFeature, CpuFeatures, Target, engine};
use wasmparser::WasmFeatures;
use wasmtime::{Config, Engine, OptLevel};
use wasmtime_environ::{CompiledTrap, Trap, obj::ELF_WASMTIME_TRAPS};

/// Native code for one target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Native {
    /// The engine's ELF image.
    pub image: Vec<u8>,
    /// Offset in the text section of an instruction that is known to trap.
    pub trap_offset: u32,
}

/// Generates native code for a rewritten module.
pub(crate) fn generate(wasm: &[u8], target: Target, features: CpuFeatures) -> Result<Native, CompileError> {
    let failed = |error: wasmtime::Error| CompileError::CodeGeneration(format!("{error:#}"));
    let config = config(target, features).map_err(failed)?;
    let image = Engine::new(&config)
        .and_then(|engine| engine.precompile_module(wasm))
        .map_err(failed)?;
    let trap_offset = trap_offset(&image)
        .ok_or_else(|| CompileError::CodeGeneration("no trap instruction was registered".to_owned()))?;
    Ok(Native { image, trap_offset })
}

fn config(target: Target, features: CpuFeatures) -> wasmtime::Result<Config> {
    let mut config = Config::new();
    config.target(target.triple())?;
    config
        .cranelift_opt_level(OptLevel::Speed)
        .wasm_features(WasmFeatures::all(), false)
        .wasm_features(module::features(), true)
        .memory_reservation(engine::MEMORY_RESERVATION)
        .memory_guard_size(engine::MEMORY_GUARD)
        .memory_may_move(engine::MEMORY_MAY_MOVE)
        .guard_before_linear_memory(engine::GUARD_BEFORE_MEMORY)
        .memory_init_cow(engine::MEMORY_INIT_COW)
        .table_lazy_init(engine::TABLE_LAZY_INIT)
        .signals_based_traps(engine::SIGNALS_BASED_TRAPS)
        .epoch_interruption(engine::EPOCH_INTERRUPTION)
        .consume_fuel(engine::CONSUME_FUEL)
        .concurrency_support(false)
        // Neither is needed to run, to trap, or to unwind: the engine walks frame pointers.
        .generate_address_map(false)
        .native_unwind_info(false);
    features
        .iter()
        .filter(|feature| feature.isa() == target.isa)
        .for_each(|feature| enable(&mut config, feature));
    Ok(config)
}

/// Lets the compiler use a CPU feature.
#[expect(unsafe_code, reason = "the engine's only way to name CPU features")]
fn enable(config: &mut Config, feature: CpuFeature) {
    // SAFETY: the flag names a feature of the CPU, not a property of the generated code that the engine relies
    // on. The artifact's header lists it, and a satellite whose CPU lacks it refuses the artifact.
    unsafe { config.cranelift_flag_enable(flag(feature)) };
}

const fn flag(feature: CpuFeature) -> &'static str {
    match feature {
        CpuFeature::Sse3 => "has_sse3",
        CpuFeature::Ssse3 => "has_ssse3",
        CpuFeature::Sse41 => "has_sse41",
        CpuFeature::Sse42 => "has_sse42",
        CpuFeature::Popcnt => "has_popcnt",
        CpuFeature::Bmi1 => "has_bmi1",
        CpuFeature::Bmi2 => "has_bmi2",
        CpuFeature::Lzcnt => "has_lzcnt",
        CpuFeature::Fma => "has_fma",
        CpuFeature::Avx => "has_avx",
        CpuFeature::Avx2 => "has_avx2",
    }
}

/// Where the engine registered the first `unreachable`. There is one at least: the function that the rewrite
/// adds for it.
fn trap_offset(image: &[u8]) -> Option<u32> {
    let file = object::read::elf::ElfFile64::<object::Endianness>::parse(image).ok()?;
    let section = file.section_by_name(ELF_WASMTIME_TRAPS)?;
    let unreachable = CompiledTrap::Normal(Trap::UnreachableCodeReached);
    let mut traps = wasmtime_environ::iterate_traps(section.data().ok()?)?;
    traps
        .find(|(_, trap)| *trap == unreachable)
        .map(|(offset, _)| offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_generates_code_with_a_registered_trap() {
        let wasm = wat::parse_str("(module (memory 1) (func (export \"satrap:trap\") unreachable))").unwrap();
        for target in Target::ALL {
            let native = generate(&wasm, target, CpuFeatures::baseline(target.isa)).unwrap();
            assert!(native.image.starts_with(b"\x7fELF"), "{target}");
        }
    }

    #[test]
    fn every_cpu_feature_is_known_to_the_code_generator() {
        let wasm = wat::parse_str("(module (func (export \"satrap:trap\") unreachable))").unwrap();
        for feature in CpuFeature::ALL {
            let target = Target::new(feature.isa(), false);
            let features = CpuFeatures::baseline(target.isa).with(*feature);
            assert!(generate(&wasm, target, features).is_ok(), "{}", feature.name());
        }
    }
}

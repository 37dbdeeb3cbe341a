//! Phase two of compilation, at install (DESIGN §9, Helios §2.4): a WebAssembly program in, an authenticated
//! native artifact out, one for each target.
//!
//! `module` validates and takes apart, `check` judges, `rewrite` puts memory into the kernel's hands, `native`
//! generates code, and `satrap_abi::artifact` seals. Programs are hostile: whatever the bytes, the answer is an
//! artifact or an exact error. Neighbours: the coordinator runs the binary of this crate as a child process
//! with limits; `kernel/engine` loads what it makes.

#![deny(unsafe_code)]

mod check;
mod constant;
mod error;
mod image;
mod module;
mod native;
mod rewrite;
mod stack;

pub use error::CompileError;

use check::Findings;
use module::Module;
use rewrite::Rewritten;
use satrap_abi::Digest;
use satrap_abi::artifact::{self, CpuFeature, CpuFeatures, Key, Parts, Target, cache_name, source_digest};

/// Longest program, in bytes.
pub const PROGRAM_MAX: usize = 128 << 20;

/// Most elements of all tables of a program together; each takes 8 bytes of the satellite in each thread.
pub const TABLE_ELEMENTS_MAX: u64 = 1 << 20;

/// What [`Program::prepare_with`] is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Validating the module, and checking what it imports and exports.
    Validate,
    /// Rewriting it.
    Rewrite,
}

/// A program that has been validated, judged and rewritten: ready for any target.
#[derive(Clone, Debug)]
pub struct Program {
    source: Digest,
    findings: Findings,
    rewritten: Rewritten,
    contracts: Vec<u8>,
}

impl Program {
    /// Validates a WebAssembly module, checks what it imports and exports, and rewrites it.
    ///
    /// # Errors
    ///
    /// Whatever is wrong with the program; see [`CompileError`].
    pub fn prepare(wasm: &[u8]) -> Result<Program, CompileError> {
        Program::prepare_with(wasm, |_| ())
    }

    /// As [`Program::prepare`], and says when each stage begins.
    ///
    /// # Errors
    ///
    /// Whatever is wrong with the program; see [`CompileError`].
    pub fn prepare_with(wasm: &[u8], mut report: impl FnMut(Stage)) -> Result<Program, CompileError> {
        report(Stage::Validate);
        let module = Module::parse(wasm)?;
        let findings = check::check(&module)?;
        let stack_pointer = stack::find(&module)?;
        if findings.thread && stack_pointer.is_none() {
            return Err(CompileError::NoStackPointer);
        }
        report(Stage::Rewrite);
        let rewritten = rewrite::rewrite(&module, findings.pages_initial, stack_pointer)?;
        Ok(Program {
            source: source_digest(wasm),
            findings,
            rewritten,
            contracts: module.contracts,
        })
    }

    /// The rewritten module, for those who wish to look.
    pub fn rewritten(&self) -> &[u8] {
        &self.rewritten.wasm
    }

    /// Generates native code for a target, and seals the artifact. [`CpuFeatures::baseline`] is added to
    /// `features`; those of other instruction sets are left out.
    ///
    /// # Errors
    ///
    /// [`CompileError::CodeGeneration`] if the code generator gives up (a function too large for it, for
    /// instance), [`CompileError::Seal`] if the artifact would be too large.
    pub fn compile(&self, target: Target, features: CpuFeatures, key: &Key) -> Result<Vec<u8>, CompileError> {
        let features = effective(target, features);
        let native = native::generate(&self.rewritten.wasm, target, features)?;
        let parts = Parts {
            target,
            features,
            source: self.source,
            pages_initial: self.findings.pages_initial,
            pages_max: self.findings.pages_max,
            image: &self.rewritten.data.image,
            segments: &self.rewritten.data.segments,
            stack_pointer: self.rewritten.stack_pointer,
            table: self.rewritten.table,
            start: self.rewritten.start,
            thread: self.findings.thread,
            entry: self.findings.entry,
            trap_offset: native.trap_offset,
            imports: self.findings.imports.clone(),
            contracts: &self.contracts,
            native: &native.image,
        };
        Ok(artifact::seal(parts, key)?)
    }

    /// Name of the artifact in the cache.
    pub fn cache_name(&self, target: Target, features: CpuFeatures) -> String {
        cache_name(&self.source, target, effective(target, features))
    }
}

/// Compiles a program for one target, with the features that every CPU of its instruction set must have.
///
/// # Errors
///
/// Whatever is wrong with the program; see [`CompileError`].
pub fn compile(wasm: &[u8], target: Target, key: &Key) -> Result<Vec<u8>, CompileError> {
    Program::prepare(wasm)?.compile(target, CpuFeatures::NONE, key)
}

/// The features that code really is made for: what was asked, if the instruction set has it, and the baseline.
pub fn effective(target: Target, features: CpuFeatures) -> CpuFeatures {
    let baseline = CpuFeatures::baseline(target.isa);
    features
        .iter()
        .filter(|feature| feature.isa() == target.isa)
        .fold(baseline, CpuFeatures::with)
}

/// The features of the CPU that this runs on.
pub fn host_features() -> CpuFeatures {
    CpuFeature::ALL
        .iter()
        .copied()
        .filter(|feature| host_has(*feature))
        .collect()
}

#[cfg(target_arch = "x86_64")]
fn host_has(feature: CpuFeature) -> bool {
    match feature {
        CpuFeature::Sse3 => is_x86_feature_detected!("sse3"),
        CpuFeature::Ssse3 => is_x86_feature_detected!("ssse3"),
        CpuFeature::Sse41 => is_x86_feature_detected!("sse4.1"),
        CpuFeature::Sse42 => is_x86_feature_detected!("sse4.2"),
        CpuFeature::Popcnt => is_x86_feature_detected!("popcnt"),
        CpuFeature::Bmi1 => is_x86_feature_detected!("bmi1"),
        CpuFeature::Bmi2 => is_x86_feature_detected!("bmi2"),
        CpuFeature::Lzcnt => is_x86_feature_detected!("lzcnt"),
        CpuFeature::Fma => is_x86_feature_detected!("fma"),
        CpuFeature::Avx => is_x86_feature_detected!("avx"),
        CpuFeature::Avx2 => is_x86_feature_detected!("avx2"),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn host_has(feature: CpuFeature) -> bool {
    let _ = feature;
    false
}

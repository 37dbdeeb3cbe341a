//! The artifact: what phase two of compilation makes of a program for one target, and what a satellite
//! kernel loads (DESIGN §9, Helios §2.4).
//!
//! `coordinator/compiler` seals artifacts, `kernel/engine` opens them. Both must agree on the file's layout
//! ([`Header`]), on what the rewritten module exports ([`export`]), on which kernel calls exist ([`calls`])
//! and on how the engine is configured ([`engine`]). A satellite runs native code only if it is authentic:
//! the key is tried before anything else in the file is believed.

pub mod calls;
pub mod engine;
pub mod export;
mod header;
mod open;
mod seal;
mod target;

pub use header::{Entry, Header, ImageRange, Span};
pub use open::{Artifact, ArtifactError};
pub use seal::{Parts, SealError, seal};
pub use target::{CpuFeature, CpuFeatures, Isa, Target};

use crate::Digest;
use alloc::{format, string::String};

/// First bytes of an artifact; the last digit is the format's version.
pub const MAGIC: [u8; 8] = *b"SATRAPA1";

/// Largest artifact, in bytes.
pub const ARTIFACT_MAX: usize = 512 << 20;

/// Native code begins at a multiple of this offset in the file, so that a mapped artifact can run in place
/// (the largest page size of the targets).
pub const NATIVE_ALIGN: usize = 64 << 10;

/// Raised whenever the rewrite or the artifact changes in a way that makes cached artifacts stale.
pub const REVISION: u32 = 2;

/// The key with which the coordinator authenticates artifacts.
pub type Key = [u8; 32];

/// Digest of a program's Wasm bytes: [`Header::source`].
pub fn source_digest(wasm: &[u8]) -> Digest {
    Digest(*blake3::hash(wasm).as_bytes())
}

/// Name of an artifact in the content-addressed cache: it changes with the program, the target, the CPU
/// features, the engine and [`REVISION`], and with nothing else. The coordinator finds a cached artifact by it
/// without starting the compiler.
pub fn cache_name(source: &Digest, target: Target, features: CpuFeatures) -> String {
    let mut hash = blake3::Hasher::new_derive_key("satrap artifact cache name");
    hash.update(&source.0);
    hash.update(&features.bits().to_le_bytes());
    hash.update(&REVISION.to_le_bytes());
    hash.update(target.triple().as_bytes());
    hash.update(engine::VERSION.as_bytes());
    format!("{}.{}.satrap", hash.finalize().to_hex(), target.triple())
}

#[cfg(test)]
mod tests;

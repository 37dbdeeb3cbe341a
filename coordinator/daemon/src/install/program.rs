//! An installed program: its artifacts by target, and the contracts that it speaks.
//!
//! Neighbours: the executive sends the file to satellites, `contracts` explains with the texts.

use super::cache::read_bounded;
use satrap_abi::Digest;
use satrap_abi::artifact::{ARTIFACT_MAX, Artifact, Key, Target};
use std::{
    collections::BTreeMap,
    fs, io,
    os::fd::{AsRawFd, OwnedFd},
    path::Path,
    path::PathBuf,
    sync::Arc,
};

/// A contract in a program's contract section.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contract {
    /// Its name, such as `satrap:png/store@1.0.0`.
    pub name: String,
    /// What two sides compare.
    pub digest: Digest,
    /// What the digest is made of.
    pub text: String,
}

/// An authentic artifact in the cache.
#[derive(Clone, Debug)]
pub struct StoredArtifact {
    /// Its file, for removal.
    pub path: PathBuf,
    /// The same, open for reading. [`StoredArtifact::reopen`] is what a satellite is sent.
    pub file: Arc<OwnedFd>,
    /// Its size in bytes.
    pub length: u64,
    /// Digest of its bytes.
    pub digest: Digest,
    /// Contracts of the program.
    pub contracts: Vec<Contract>,
}

/// A program that can be spawned.
#[derive(Clone, Debug)]
pub struct Program {
    /// The Wasm file.
    pub path: PathBuf,
    /// Its native forms.
    pub artifacts: BTreeMap<Target, StoredArtifact>,
}

impl Program {
    /// Its name: the file's, without the extension.
    pub fn name(&self) -> String {
        let stem = self.path.file_stem().unwrap_or_default();
        stem.to_string_lossy().into_owned()
    }

    /// Contracts, the same for every target.
    pub fn contracts(&self) -> &[Contract] {
        self.artifacts
            .values()
            .next()
            .map_or(&[], |artifact| &artifact.contracts)
    }

    /// The artifact for a satellite of that platform.
    pub fn for_platform(&self, platform: &str) -> Option<&StoredArtifact> {
        let wanted = target_of(platform)?;
        self.artifacts.get(&wanted)
    }
}

/// The target of a platform: `hosted-x86_64`, or `x86_64` on bare metal.
fn target_of(platform: &str) -> Option<Target> {
    let (hosted, isa) = match platform.strip_prefix("hosted-") {
        Some(isa) => (true, isa),
        None => (false, platform),
    };
    Target::ALL.into_iter().find(|target| {
        let triple = target.triple().split('-').next().unwrap_or_default();
        target.hosted == hosted && (triple == isa || triple.strip_suffix("gc") == Some(isa))
    })
}

impl StoredArtifact {
    /// The file with a read position of its own: satellites that share one would read past each other. It
    /// works even when the cache was emptied meanwhile.
    pub fn reopen(&self) -> Arc<OwnedFd> {
        let opened = fs::File::open(format!("/proc/self/fd/{}", self.file.as_raw_fd()));
        // Without /proc the satellites' reads must not depend on the position.
        opened.map_or_else(|_| self.file.clone(), |file| Arc::new(file.into()))
    }

    /// Opens and authenticates an artifact. `None` if there is none; one that is not authentic is removed, as
    /// though it had never been there.
    ///
    /// # Errors
    /// The file is there and cannot be read.
    pub fn open(path: &Path, key: &Key) -> Result<Option<StoredArtifact>, String> {
        let bytes = match read_bounded(path, ARTIFACT_MAX as u64) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
        };
        let Ok(artifact) = Artifact::parse(&bytes, key) else {
            fs::remove_file(path).map_err(|error| format!("cannot remove {}: {error}", path.display()))?;
            return Ok(None);
        };
        let file =
            fs::File::open(path).map_err(|error| format!("cannot open {}: {error}", path.display()))?;
        Ok(Some(StoredArtifact {
            path: path.to_owned(),
            file: Arc::new(file.into()),
            length: bytes.len() as u64,
            digest: Digest(*blake3::hash(&bytes).as_bytes()),
            contracts: contracts(artifact.contracts()),
        }))
    }
}

/// Contracts that parse; a program whose section is malformed simply cannot explain a mismatch.
fn contracts(section: &[u8]) -> Vec<Contract> {
    let entries = satrap_table::entries(section).flatten();
    let contract = |entry: satrap_table::Entry<'_>| {
        let table = entry.parse().ok()?;
        Some(Contract {
            name: table.name().to_owned(),
            digest: table.digest(),
            text: entry.text.to_owned(),
        })
    };
    entries.filter_map(contract).collect()
}

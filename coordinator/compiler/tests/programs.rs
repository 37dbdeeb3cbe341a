//! Real programs: whatever Rust guests have been built compile for every target.

mod common;

use common::{KEY, artifact_for};
use satrap_abi::artifact::{Artifact, CpuFeatures, Target};
use std::path::{Path, PathBuf};

/// Where guests are built: `SATRAP_GUESTS`, or the workspace's own target folder.
fn guests() -> Vec<PathBuf> {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/wasm32-unknown-unknown/guest");
    let folder = std::env::var_os("SATRAP_GUESTS").map_or(default, PathBuf::from);
    let entries = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let wasm = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "wasm"));
    wasm.collect()
}

#[test]
fn guests_compile_for_every_target() {
    let guests = guests();
    if guests.is_empty() {
        let insists = std::env::var_os("SATRAP_E2E").is_some_and(|value| value == "1");
        assert!(!insists, "no guests are built");
        eprintln!("skipped: no guests are built");
    }
    for path in guests {
        let wasm = std::fs::read(&path).unwrap();
        for target in Target::ALL {
            let file = artifact_for(&wasm, target);
            let artifact = Artifact::parse(&file, &KEY).unwrap();
            artifact.fits(target, CpuFeatures::baseline(target.isa)).unwrap();
            assert!(artifact.header().stack_pointer, "{}", path.display());
        }
    }
}

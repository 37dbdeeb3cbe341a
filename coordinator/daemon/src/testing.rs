//! What the tests of several modules need: an authentic artifact.
//!
//! The integration tests include this file too.

use satrap_abi::Digest;
use satrap_abi::artifact::{CpuFeatures, Entry, Key, Parts, Target, seal};

/// An artifact under `key` for this machine, with that native code and contract section.
pub fn artifact(key: &Key, native: &[u8], contracts: &[u8]) -> Vec<u8> {
    let parts = Parts {
        target: Target::hosted_here(),
        features: CpuFeatures::NONE,
        source: Digest([0; 32]),
        pages_initial: 0,
        pages_max: 1,
        image: &[],
        segments: &[],
        stack_pointer: false,
        table: false,
        start: false,
        thread: false,
        entry: Entry::Main,
        trap_offset: 0,
        imports: vec![],
        contracts,
        native,
    };
    seal(parts, key).expect("the parts agree with each other")
}

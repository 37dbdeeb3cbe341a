//! Which optional features the CPU has. Asked once: under a hypervisor CPUID costs microseconds, and the
//! engine asks for every feature of every program that it loads.

use satrap_abi::artifact::{CpuFeature, CpuFeatures};
use std::sync::OnceLock;

/// The features of this CPU.
pub fn here() -> CpuFeatures {
    static FEATURES: OnceLock<CpuFeatures> = OnceLock::new();
    *FEATURES.get_or_init(|| {
        assert!(
            is_x86_feature_detected!("xsave"),
            "preemption needs a CPU with XSAVE"
        );
        CpuFeature::ALL
            .iter()
            .copied()
            .filter(|feature| has(*feature))
            .collect()
    })
}

fn has(feature: CpuFeature) -> bool {
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

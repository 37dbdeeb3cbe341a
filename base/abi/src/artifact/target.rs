//! What native code is made for: an instruction set, what it runs on, and the CPU's optional features.
//!
//! A new instruction set is one more [`Isa`]; packages need no change (Helios §2.4).

use alloc::{string::String, vec::Vec};
use core::fmt;
use serde::{Deserialize, Serialize};

/// Instruction set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Isa {
    /// 64-bit x86.
    X86_64,
    /// 64-bit Arm.
    Aarch64,
    /// 64-bit RISC-V with the general extensions and compressed instructions.
    Riscv64,
}

/// An instruction set, and whether the satellite is a Linux process (hosted) or owns the machine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Target {
    /// The instruction set.
    pub isa: Isa,
    /// Whether the satellite is a process of Linux.
    pub hosted: bool,
}

impl Target {
    /// Each target.
    pub const ALL: [Target; 6] = [
        Target::new(Isa::X86_64, true),
        Target::new(Isa::X86_64, false),
        Target::new(Isa::Aarch64, true),
        Target::new(Isa::Aarch64, false),
        Target::new(Isa::Riscv64, true),
        Target::new(Isa::Riscv64, false),
    ];

    /// A target.
    pub const fn new(isa: Isa, hosted: bool) -> Target {
        Target { isa, hosted }
    }

    /// A hosted satellite on the machine that this code was built for.
    pub const fn hosted_here() -> Target {
        let isa = match () {
            () if cfg!(target_arch = "aarch64") => Isa::Aarch64,
            () if cfg!(target_arch = "riscv64") => Isa::Riscv64,
            () => Isa::X86_64,
        };
        Target::new(isa, true)
    }

    /// Its target triple. The engine compares architecture and operating system with its own.
    pub const fn triple(self) -> &'static str {
        match (self.isa, self.hosted) {
            (Isa::X86_64, true) => "x86_64-unknown-linux-gnu",
            (Isa::X86_64, false) => "x86_64-unknown-none",
            (Isa::Aarch64, true) => "aarch64-unknown-linux-gnu",
            (Isa::Aarch64, false) => "aarch64-unknown-none",
            (Isa::Riscv64, true) => "riscv64gc-unknown-linux-gnu",
            (Isa::Riscv64, false) => "riscv64gc-unknown-none-elf",
        }
    }

    /// The target with that triple.
    pub fn from_triple(triple: &str) -> Option<Target> {
        Target::ALL.into_iter().find(|target| target.triple() == triple)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.triple())
    }
}

macro_rules! cpu_features {
    ($($name:ident = $bit:literal, $isa:ident, $text:literal;)*) => {
        /// An optional feature of a CPU that native code may need.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u8)]
        pub enum CpuFeature {
            $(#[doc = $text] $name = $bit,)*
        }

        impl CpuFeature {
            /// Each feature.
            pub const ALL: &[CpuFeature] = &[$(CpuFeature::$name,)*];

            /// Its name, as `std::is_x86_feature_detected` and its like spell it.
            pub const fn name(self) -> &'static str {
                match self { $(CpuFeature::$name => $text,)* }
            }

            /// The instruction set that has it.
            pub const fn isa(self) -> Isa {
                match self { $(CpuFeature::$name => Isa::$isa,)* }
            }
        }
    };
}

cpu_features! {
    Sse3 = 0, X86_64, "sse3";
    Ssse3 = 1, X86_64, "ssse3";
    Sse41 = 2, X86_64, "sse4.1";
    Sse42 = 3, X86_64, "sse4.2";
    Popcnt = 4, X86_64, "popcnt";
    Bmi1 = 5, X86_64, "bmi1";
    Bmi2 = 6, X86_64, "bmi2";
    Lzcnt = 7, X86_64, "lzcnt";
    Fma = 8, X86_64, "fma";
    Avx = 9, X86_64, "avx";
    Avx2 = 10, X86_64, "avx2";
}

impl CpuFeature {
    /// The feature of that name.
    pub fn from_name(name: &str) -> Option<CpuFeature> {
        CpuFeature::ALL
            .iter()
            .copied()
            .find(|feature| feature.name() == name)
    }
}

/// A set of CPU features.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct CpuFeatures(u64);

impl CpuFeatures {
    /// None: what every CPU of the instruction set can do.
    pub const NONE: CpuFeatures = CpuFeatures(0);

    /// What code for an instruction set may count on unless told otherwise. On x86-64 it is SSE4.1, without
    /// which rounding would call the engine's floating-point helpers, and what every CPU with it also has.
    pub fn baseline(isa: Isa) -> CpuFeatures {
        match isa {
            Isa::X86_64 => [CpuFeature::Sse3, CpuFeature::Ssse3, CpuFeature::Sse41]
                .into_iter()
                .collect(),
            Isa::Aarch64 | Isa::Riscv64 => CpuFeatures::NONE,
        }
    }

    /// With one more.
    pub const fn with(self, feature: CpuFeature) -> CpuFeatures {
        CpuFeatures(self.0 | 1 << feature as u8)
    }

    /// Whether one is in it.
    pub const fn contains(self, feature: CpuFeature) -> bool {
        self.0 >> feature as u8 & 1 == 1
    }

    /// Those that are not in `other`.
    pub const fn minus(self, other: CpuFeatures) -> CpuFeatures {
        CpuFeatures(self.0 & !other.0)
    }

    /// Whether it is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// One bit for each feature, as an artifact holds them.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Each feature in it that this version knows.
    pub fn iter(self) -> impl Iterator<Item = CpuFeature> {
        CpuFeature::ALL
            .iter()
            .copied()
            .filter(move |feature| self.contains(*feature))
    }
}

impl FromIterator<CpuFeature> for CpuFeatures {
    fn from_iter<T: IntoIterator<Item = CpuFeature>>(features: T) -> CpuFeatures {
        features.into_iter().fold(CpuFeatures::NONE, CpuFeatures::with)
    }
}

impl fmt::Display for CpuFeatures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(CpuFeature::name).collect();
        let text = if names.is_empty() {
            String::from("none")
        } else {
            names.join(",")
        };
        f.write_str(&text)
    }
}

impl fmt::Debug for CpuFeatures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

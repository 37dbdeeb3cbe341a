//! Randomness: BLAKE3 in counter mode with fast key erasure, seeded by the CPU's generator and by the jitter of
//! slow reads. Without the generator the jitter alone must do, and the kernel says so at boot.

use crate::cpu::{cpuid, cycles, random};
use crate::devices::apic::jitter;
use satrap_sync::SpinLock;

/// CPUID leaf 1, `ecx`: the CPU has RDRAND.
const RDRAND: u32 = 1 << 30;
/// Numbers drawn from the CPU's generator; each may take some tries.
const DRAWS: usize = 16;
const TRIES: usize = 32;
/// Measurements of jitter, beside the CPU's generator and without it.
const SAMPLES: [usize; 2] = [64, 4096];

static KEY: SpinLock<[u8; 32]> = SpinLock::new([0; 32]);

/// Seeds the generator. Returns whether the CPU has one of its own.
pub fn start() -> bool {
    let mut seed = blake3::Hasher::new();
    let generator = cpuid(1, 0).ecx & RDRAND != 0;
    if generator {
        let draw = || (0..TRIES).find_map(|_| random());
        let drawn = core::iter::repeat_with(draw).take(DRAWS).flatten();
        drawn.for_each(|number| {
            seed.update(&number.to_le_bytes());
        });
    }
    for _ in 0..SAMPLES[usize::from(!generator)] {
        seed.update(&(jitter() ^ cycles().rotate_left(32)).to_le_bytes());
    }
    *KEY.lock() = *seed.finalize().as_bytes();
    generator
}

/// Fills `bytes`. The key that made them is gone when it returns.
pub fn fill(bytes: &mut [u8]) {
    let mut key = KEY.lock();
    let mut stream = blake3::Hasher::new_keyed(&key).finalize_xof();
    stream.fill(&mut *key);
    stream.fill(bytes);
}

//! The PC as the machine beneath the engine. Pages come from `memory`, faults and preemption from `traps`.
//!
//! Neighbour: `satrap_engine::Machine`, which says what is wanted.

use crate::cpu::{cpuid, enable_xsave};
use crate::devices::apic;
use crate::memory::{self, FRAME, Rights};
use crate::traps;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ptr::{NonNull, copy_nonoverlapping, with_exposed_provenance_mut};
use satrap_abi::Errno;
use satrap_abi::artifact::{CpuFeature, CpuFeatures, Isa, Target};
use satrap_engine::{Cpu, Image, Machine, Protection};
use satrap_kernel::engine::Access;
use satrap_region::Backing;
use satrap_sync::{AtomicU64, Ordering};

/// The machine for [`Wasmtime::new`](satrap_engine::Wasmtime::new).
pub static PC: Pc = Pc;

/// This machine.
pub struct Pc;

/// Bits of [`CpuFeatures`] that the CPU has.
static FEATURES: AtomicU64 = AtomicU64::new(0);

static WORDS: Cpu = Cpu::new();

/// The words of this CPU, of which there is one.
#[inline(never)]
pub fn words() -> &'static Cpu {
    &WORDS
}

/// What the engine cannot do without.
#[derive(Clone, Copy, Debug)]
pub struct Missing(pub &'static str);

/// Finds out what the CPU can do, and switches the vector registers on for guests.
pub fn start() -> Result<(), Missing> {
    const XSAVE: u32 = 1 << 26;
    const AVX: u32 = 1 << 28;
    let (one, seven, extended) = (cpuid(1, 0), cpuid(7, 0), cpuid(0x8000_0001, 0));
    if one.ecx & XSAVE == 0 {
        return Err(Missing("XSAVE, which preemption needs"));
    }
    let avx = one.ecx & AVX != 0;
    // SAFETY: asked above.
    unsafe { enable_xsave(if avx { 7 } else { 3 }) };
    let has = |feature: &CpuFeature| match feature {
        CpuFeature::Sse3 => one.ecx & 1 != 0,
        CpuFeature::Ssse3 => one.ecx >> 9 & 1 != 0,
        CpuFeature::Sse41 => one.ecx >> 19 & 1 != 0,
        CpuFeature::Sse42 => one.ecx >> 20 & 1 != 0,
        CpuFeature::Popcnt => one.ecx >> 23 & 1 != 0,
        CpuFeature::Bmi1 => seven.ebx >> 3 & 1 != 0,
        CpuFeature::Bmi2 => seven.ebx >> 8 & 1 != 0,
        CpuFeature::Lzcnt => extended.ecx >> 5 & 1 != 0,
        CpuFeature::Fma => avx && one.ecx >> 12 & 1 != 0,
        CpuFeature::Avx => avx,
        CpuFeature::Avx2 => avx && seven.ebx >> 5 & 1 != 0,
    };
    let features: CpuFeatures = CpuFeature::ALL.iter().copied().filter(has).collect();
    FEATURES.store(features.bits(), Ordering::Relaxed);
    Ok(())
}

fn rights(protection: Protection) -> Rights {
    match protection {
        Protection::None => Rights::None,
        Protection::Read => Rights::Read,
        Protection::ReadWrite => Rights::ReadWrite,
        Protection::ReadExecute => Rights::ReadExecute,
    }
}

/// An image's pages, behind a thin pointer that serves as its name.
type Pages = Box<Vec<u8>>;

// SAFETY: `memory` does what is asked; page 0 is unmapped (`memory/map.rs`); `traps` diverts faults and
// interrupts in Wasm code. x86 keeps instruction fetch coherent with stores.
unsafe impl Machine for Pc {
    fn target(&self) -> Target {
        Target::new(Isa::X86_64, false)
    }

    fn features(&self) -> CpuFeatures {
        let bits = FEATURES.load(Ordering::Relaxed);
        let has = |feature: &CpuFeature| bits >> *feature as u8 & 1 == 1;
        CpuFeature::ALL.iter().copied().filter(has).collect()
    }

    fn cpu(&self) -> &'static Cpu {
        words()
    }

    fn page_size(&self) -> usize {
        FRAME
    }

    fn start_traps(&self) {
        traps::start();
    }

    fn interrupt_soon(&self) {
        apic::preempt_soon();
    }

    fn reserve(&self, bytes: usize) -> Result<NonNull<u8>, Errno> {
        memory::reserve(bytes)
    }

    unsafe fn release(&self, base: NonNull<u8>, bytes: usize) {
        // SAFETY: the caller's promise.
        unsafe { memory::release(base.addr().get(), bytes) }
    }

    unsafe fn protect(&self, base: NonNull<u8>, bytes: usize, protection: Protection) -> Result<(), Errno> {
        // SAFETY: the caller's promise.
        unsafe { memory::protect(base.addr().get(), bytes, rights(protection)) }
    }

    unsafe fn reset(&self, base: NonNull<u8>, bytes: usize, protection: Protection) -> Result<(), Errno> {
        // SAFETY: the caller's promise.
        unsafe {
            memory::clear(base.addr().get(), bytes)?;
            memory::protect(base.addr().get(), bytes, rights(protection))
        }
    }

    unsafe fn map(
        &self,
        at: NonNull<u8>,
        _source: NonNull<u8>,
        backing: Backing,
        bytes: usize,
        access: Access,
    ) -> Result<(), Errno> {
        let rights = match access {
            Access::ReadOnly => Rights::Read,
            Access::ReadWrite => Rights::ReadWrite,
        };
        // SAFETY: the caller's promise; a backing's offset is a physical address (`boot.rs`).
        unsafe { memory::share(at.addr().get(), backing.offset, bytes, rights) }
    }

    fn image(&self, bytes: &[u8]) -> Result<Image, Errno> {
        let mut pages = Vec::new();
        pages
            .try_reserve_exact(bytes.len())
            .map_err(|_| Errno::NoMemory)?;
        pages.extend_from_slice(bytes);
        Ok(Image(Box::into_raw(Box::new(pages)).expose_provenance() as u64))
    }

    unsafe fn map_image(&self, image: Image, at: NonNull<u8>, bytes: usize) -> Result<(), Errno> {
        // SAFETY: `image` made it, and whoever names it has not dropped it.
        let pages: &Vec<u8> = unsafe { &*with_exposed_provenance_mut(image.0 as usize) };
        if bytes != pages.len() {
            return Err(Errno::Invalid);
        }
        // SAFETY: the caller's promise; behind `reset` the pages are there and writable.
        unsafe {
            self.reset(at, bytes, Protection::ReadWrite)?;
            copy_nonoverlapping(pages.as_ptr(), at.as_ptr(), bytes);
        }
        Ok(())
    }

    fn drop_image(&self, image: Image) {
        // SAFETY: `image` gave it away, and it is dropped once.
        drop::<Pages>(unsafe { Box::from_raw(with_exposed_provenance_mut(image.0 as usize)) });
    }
}

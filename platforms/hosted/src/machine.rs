//! Linux as the machine beneath the engine: pages by `mmap`, faults and preemption by signals, one timer for
//! each CPU thread.
//!
//! Every thread that runs guests enters through [`CpuThread::enter`]. Neighbour: `satrap_engine::Machine`,
//! which says what is wanted.

mod context;
mod cpu;
mod features;
mod memory;
mod report;
mod signals;
mod timer;

pub use cpu::{CpuThread, Interrupter};

use core::ptr::NonNull;
use satrap_abi::Errno;
use satrap_abi::artifact::{CpuFeatures, Target};
use satrap_engine::{Cpu, Image, Machine, Protection};
use satrap_kernel::engine::Access;
use satrap_region::Backing;

/// This process as a machine.
pub struct Linux;

/// The machine for [`Wasmtime::new`](satrap_engine::Wasmtime::new).
pub static LINUX: Linux = Linux;

// SAFETY: `memory` is `mmap` and does what is asked; Linux maps nothing at address 0; `signals` diverts faults
// and interrupts in Wasm code.
unsafe impl Machine for Linux {
    fn target(&self) -> Target {
        Target::hosted_here()
    }

    fn features(&self) -> CpuFeatures {
        features::here()
    }

    fn cpu(&self) -> &'static Cpu {
        cpu::words()
    }

    fn page_size(&self) -> usize {
        memory::PAGE
    }

    fn start_traps(&self) {
        signals::install();
    }

    fn interrupt_soon(&self) {
        timer::interrupt_soon();
    }

    fn reserve(&self, bytes: usize) -> Result<NonNull<u8>, Errno> {
        memory::reserve(bytes)
    }

    unsafe fn release(&self, base: NonNull<u8>, bytes: usize) {
        // SAFETY: the caller's promise.
        unsafe { memory::release(base, bytes) }
    }

    unsafe fn protect(&self, base: NonNull<u8>, bytes: usize, protection: Protection) -> Result<(), Errno> {
        // SAFETY: the caller's promise.
        unsafe { memory::protect(base, bytes, protection) }
    }

    unsafe fn reset(&self, base: NonNull<u8>, bytes: usize, protection: Protection) -> Result<(), Errno> {
        // SAFETY: the caller's promise.
        unsafe { memory::reset(base, bytes, protection) }
    }

    unsafe fn map(
        &self,
        at: NonNull<u8>,
        source: NonNull<u8>,
        backing: Backing,
        bytes: usize,
        access: Access,
    ) -> Result<(), Errno> {
        // SAFETY: the caller's promise.
        unsafe { memory::map(at, source, backing, bytes, access) }
    }

    fn image(&self, bytes: &[u8]) -> Result<Image, Errno> {
        memory::image(bytes)
    }

    unsafe fn map_image(&self, image: Image, at: NonNull<u8>, bytes: usize) -> Result<(), Errno> {
        // SAFETY: the caller's promise.
        unsafe { memory::map_image(image, at, bytes) }
    }

    fn drop_image(&self, image: Image) {
        memory::drop_image(image);
    }
}

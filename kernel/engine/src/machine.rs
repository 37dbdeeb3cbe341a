//! The porting surface: what a machine must be able to do for the engine. A platform implements [`Machine`]
//! once, with no knowledge of wasmtime; `symbols` turns it into the C symbols that wasmtime asks for.

use crate::coroutine::Control;
use crate::memory::ProcessMemory;
use core::cell::{Cell, UnsafeCell};
use core::ptr::{NonNull, null, null_mut};
use satrap_abi::Errno;
use satrap_abi::artifact::{CpuFeatures, Target};
use satrap_kernel::engine::Access;
use satrap_region::Backing;
use satrap_sync::{AtomicBool, SpinLock};

/// How pages may be used. No page is ever writable and executable at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protection {
    /// Every access faults.
    None,
    /// Loads.
    Read,
    /// Loads and stores.
    ReadWrite,
    /// Loads and execution. On machines whose instruction cache is not coherent, giving this protection also
    /// makes the bytes visible to instruction fetch on every CPU.
    ReadExecute,
}

/// The machine's name for a memory image: a file descriptor, an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Image(pub u64);

/// What the engine asks of the machine. Sizes and addresses are multiples of [`Machine::page_size`].
///
/// # Safety
/// Memory must behave as described. Address 0 must be unmapped: compiled bounds checks load from it in order
/// to fault. Faults and preemption interrupts in Wasm code must reach [`arch::Registers`](crate::arch).
pub unsafe trait Machine: Sync {
    /// What artifacts must be made for.
    fn target(&self) -> Target;

    /// Optional features that the CPUs have and whose registers preemption saves. Cheap: asked often.
    fn features(&self) -> CpuFeatures;

    /// The words of the calling CPU. Must not be inlined into its caller or folded with another call: a
    /// coroutine may call it, move to another CPU, and call it again within one function.
    fn cpu(&self) -> &'static Cpu;

    /// Size of a page in bytes, at most 64 KiB.
    fn page_size(&self) -> usize;

    /// Makes faults reach [`arch::Registers`](crate::arch); called once, before any Wasm code runs.
    fn start_traps(&self);

    /// Interrupts the calling CPU after some 50 µs, in the place of whatever its preemption timer was armed
    /// for.
    fn interrupt_soon(&self);

    /// Reserves address space in which every access faults.
    fn reserve(&self, bytes: usize) -> Result<NonNull<u8>, Errno>;

    /// Gives address space back, with whatever is mapped there.
    ///
    /// # Safety
    /// It came from [`Machine::reserve`], and nobody uses it any more.
    unsafe fn release(&self, base: NonNull<u8>, bytes: usize);

    /// Changes the protection of private pages. Pages that become accessible for the first time are zero.
    ///
    /// # Safety
    /// The range lies in one reservation, and nobody relies on its former protection.
    unsafe fn protect(&self, base: NonNull<u8>, bytes: usize, protection: Protection) -> Result<(), Errno>;

    /// Replaces whatever stands there by fresh private pages: zero, once they are accessible.
    ///
    /// # Safety
    /// As for [`Machine::protect`], and nobody relies on the contents.
    unsafe fn reset(&self, base: NonNull<u8>, bytes: usize, protection: Protection) -> Result<(), Errno>;

    /// Maps the pages that stand at `source` a second time; `backing` says where they come from. Writable only
    /// if they are writable at `source`.
    ///
    /// # Safety
    /// As for [`Machine::reset`]; `bytes` are mapped at `source`, and come from `backing`.
    unsafe fn map(
        &self,
        at: NonNull<u8>,
        source: NonNull<u8>,
        backing: Backing,
        bytes: usize,
        access: Access,
    ) -> Result<(), Errno>;

    /// Keeps a copy of `bytes` (whole pages) from which [`Machine::map_image`] makes private copies.
    fn image(&self, bytes: &[u8]) -> Result<Image, Errno>;

    /// Puts a private, readable and writable copy of an image there; on write, where the machine can.
    ///
    /// # Safety
    /// As for [`Machine::reset`]; `bytes` is the image's length.
    unsafe fn map_image(&self, image: Image, at: NonNull<u8>, bytes: usize) -> Result<(), Errno>;

    /// Forgets an image. Copies of it live on.
    fn drop_image(&self, image: Image);
}

/// What the engine remembers for each CPU: on the hosted platform, for each thread.
pub struct Cpu {
    /// The word that wasmtime calls thread-local storage.
    pub(crate) wasmtime: Cell<*mut u8>,
    /// The coroutine that runs, or null.
    pub(crate) running: Cell<*const Control>,
    /// An interrupt came while no coroutine ran; it is for the next one.
    pub(crate) interrupted: AtomicBool,
    /// The memory for the instance being made, or null; borrowed for that time.
    pub(crate) memory: Cell<*const ProcessMemory>,
}

// SAFETY: `Machine::cpu` hands a CPU's words to that CPU alone, and the interrupt handlers that read them run
// there too. `Sync` only lets a platform keep them in a static table.
unsafe impl Sync for Cpu {}

impl Cpu {
    /// The words of a CPU that runs nothing.
    pub const fn new() -> Cpu {
        Cpu {
            wasmtime: Cell::new(null_mut()),
            running: Cell::new(null()),
            interrupted: AtomicBool::new(false),
            memory: Cell::new(null()),
        }
    }
}

impl Default for Cpu {
    fn default() -> Cpu {
        Cpu::new()
    }
}

struct Installed {
    writer: SpinLock<()>,
    machine: UnsafeCell<Option<&'static dyn Machine>>,
}

// SAFETY: written once, under the lock, by `install`; readers come after an `install` of their own thread or
// hold something made after it (an engine, a thread), which orders them behind the write.
unsafe impl Sync for Installed {}

static INSTALLED: Installed = Installed {
    writer: SpinLock::new(()),
    machine: UnsafeCell::new(None),
};

/// Makes `machine` the machine of this program. The first one stays: there is only one beneath us.
pub(crate) fn install(machine: &'static dyn Machine) {
    let _writer = INSTALLED.writer.lock();
    // SAFETY: the lock admits one writer, and the value is written only while nobody can be reading it.
    unsafe {
        if (*INSTALLED.machine.get()).is_none() {
            *INSTALLED.machine.get() = Some(machine);
        }
    }
}

/// The machine.
#[inline]
pub(crate) fn machine() -> &'static dyn Machine {
    // SAFETY: see `Installed`: the value does not change any more.
    match unsafe { *INSTALLED.machine.get() } {
        Some(machine) => machine,
        // Everything that leads here begins with `Wasmtime::new`, which installs it first.
        None => unreachable!("the engine is used before Wasmtime::new"),
    }
}

/// The words of this CPU.
#[inline]
pub(crate) fn cpu() -> &'static Cpu {
    machine().cpu()
}

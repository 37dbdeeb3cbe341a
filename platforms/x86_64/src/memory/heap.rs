//! The kernel's heap: one arena of fixed size, so that what the kernel itself may use is known from the start.
//!
//! What processes use comes from `frames.rs` instead, and is refused to them before the kernel is short.

use core::alloc::{GlobalAlloc, Layout};
use core::ops::Range;
use core::ptr::{null_mut, with_exposed_provenance_mut};
use satrap_sync::SpinLock;
use talc::DefaultBinning;
use talc::base::Talc;
use talc::source::Manual;

struct Heap(SpinLock<Talc<Manual, DefaultBinning>>);

#[global_allocator]
static HEAP: Heap = Heap(SpinLock::new(Talc::new(Manual)));

/// Gives the heap its memory.
///
/// # Safety
/// Nobody else uses the range, which is mapped and writable; called once.
pub unsafe fn start(range: Range<usize>) {
    let base = with_exposed_provenance_mut(range.start);
    // SAFETY: the caller's promise.
    unsafe { HEAP.0.lock().claim(base, range.len()) };
}

// SAFETY: talc hands out disjoint memory of the asked size and alignment; the lock makes its caller the only one.
// Interrupt handlers do not allocate, so the lock is never waited for by whoever interrupted its holder.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller asks for a size above zero.
        unsafe { self.0.lock().allocate(layout) }.map_or(null_mut(), |memory| memory.as_ptr())
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller gives back what `alloc` gave it, with its layout.
        unsafe { self.0.lock().deallocate(memory, layout) }
    }
}

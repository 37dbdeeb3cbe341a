//! The C symbols that wasmtime's `custom-*` features ask for, on top of [`Machine`](crate::Machine).
//!
//! Signatures: wasmtime's `runtime/vm/sys/custom/capi.rs`. Without its `std` feature wasmtime uses nothing
//! else of the machine, so the same build runs on bare metal and as a Linux process.

use crate::machine::{Protection, cpu, machine};
use crate::trap::{self, Handler};
use core::ptr::{NonNull, null_mut};
use satrap_abi::Errno;
use satrap_sync::{AtomicUsize, Ordering, relax};

const READ: u32 = 1 << 0;
const WRITE: u32 = 1 << 1;
const EXECUTE: u32 = 1 << 2;
/// What a failing call returns; wasmtime only tells it from 0.
const FAILED: i32 = 12;

fn protection(flags: u32) -> Protection {
    match (flags & READ != 0, flags & WRITE != 0, flags & EXECUTE != 0) {
        (false, false, false) => Protection::None,
        (_, true, _) => Protection::ReadWrite,
        (_, false, true) => Protection::ReadExecute,
        (true, false, false) => Protection::Read,
    }
}

fn status(result: Result<(), Errno>) -> i32 {
    result.map_or(FAILED, |()| 0)
}

#[unsafe(no_mangle)]
extern "C" fn wasmtime_tls_get(_slot: usize) -> *mut u8 {
    cpu().wasmtime.get()
}

#[unsafe(no_mangle)]
extern "C" fn wasmtime_tls_set(_slot: usize, word: *mut u8) {
    cpu().wasmtime.set(word);
}

#[unsafe(no_mangle)]
extern "C" fn wasmtime_init_traps(handler: Handler) -> i32 {
    trap::install(handler);
    machine().start_traps();
    0
}

#[unsafe(no_mangle)]
extern "C" fn wasmtime_page_size() -> usize {
    machine().page_size()
}

#[unsafe(no_mangle)]
extern "C" fn wasmtime_mmap_new(bytes: usize, flags: u32, result: &mut *mut u8) -> i32 {
    let Ok(base) = machine().reserve(bytes) else {
        return FAILED;
    };
    // SAFETY: reserved above for this caller alone.
    let protected = unsafe { machine().protect(base, bytes, protection(flags)) };
    if protected.is_err() {
        // SAFETY: as above, and not given out.
        unsafe { machine().release(base, bytes) };
        return FAILED;
    }
    *result = base.as_ptr();
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn wasmtime_mmap_remap(base: *mut u8, bytes: usize, flags: u32) -> i32 {
    match NonNull::new(base) {
        // SAFETY: wasmtime remaps only what `wasmtime_mmap_new` gave it.
        Some(base) => status(unsafe { machine().reset(base, bytes, protection(flags)) }),
        None => FAILED,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn wasmtime_munmap(base: *mut u8, bytes: usize) -> i32 {
    match NonNull::new(base) {
        // SAFETY: wasmtime unmaps what `wasmtime_mmap_new` gave it, once.
        Some(base) => unsafe { machine().release(base, bytes) },
        None => return FAILED,
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn wasmtime_mprotect(base: *mut u8, bytes: usize, flags: u32) -> i32 {
    match NonNull::new(base) {
        // SAFETY: wasmtime protects only what `wasmtime_mmap_new` gave it.
        Some(base) => status(unsafe { machine().protect(base, bytes, protection(flags)) }),
        None => FAILED,
    }
}

/// Memory images are the kernel's business (`memory`), so wasmtime is told that there are none.
#[unsafe(no_mangle)]
extern "C" fn wasmtime_memory_image_new(_: *const u8, _: usize, result: &mut *mut u8) -> i32 {
    *result = null_mut();
    0
}

#[unsafe(no_mangle)]
extern "C" fn wasmtime_memory_image_map_at(_: *mut u8, _: *mut u8, _: usize) -> i32 {
    FAILED
}

#[unsafe(no_mangle)]
extern "C" fn wasmtime_memory_image_free(_: *mut u8) {}

// Locks. Kernel code is never preempted and never suspends while wasmtime holds a lock, so holders run and
// spinning is right (as in `satrap_sync::SpinLock`). A lock word of 0 is free and needs no destructor.

const WRITER: usize = usize::MAX;

/// # Safety
/// `word` is a lock of wasmtime's: aligned, alive, and only touched through these functions.
unsafe fn lock_word<'a>(word: *mut usize) -> &'a AtomicUsize {
    // SAFETY: the caller's promise.
    unsafe { AtomicUsize::from_ptr(word) }
}

/// Spins until `next` of the word's value can be stored.
fn acquire(word: &AtomicUsize, next: impl Fn(usize) -> Option<usize>) {
    loop {
        let value = word.load(Ordering::Relaxed);
        // SYNC POINT wasmtime-lock-acquire: pairs with wasmtime-lock-release.
        if let Some(taken) = next(value)
            && word
                .compare_exchange_weak(value, taken, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
        {
            return;
        }
        relax();
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn wasmtime_sync_lock_acquire(lock: *mut usize) {
    // SAFETY: wasmtime passes its own lock.
    acquire(unsafe { lock_word(lock) }, |value| (value == 0).then_some(WRITER));
}

#[unsafe(no_mangle)]
unsafe extern "C" fn wasmtime_sync_lock_release(lock: *mut usize) {
    // SYNC POINT wasmtime-lock-release.
    // SAFETY: wasmtime passes its own lock.
    unsafe { lock_word(lock) }.store(0, Ordering::Release);
}

#[unsafe(no_mangle)]
extern "C" fn wasmtime_sync_lock_free(_: *mut usize) {}

#[unsafe(no_mangle)]
unsafe extern "C" fn wasmtime_sync_rwlock_read(lock: *mut usize) {
    // SAFETY: wasmtime passes its own lock.
    acquire(unsafe { lock_word(lock) }, |readers| {
        (readers != WRITER).then(|| readers + 1)
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn wasmtime_sync_rwlock_read_release(lock: *mut usize) {
    // SYNC POINT wasmtime-lock-release.
    // SAFETY: wasmtime passes its own lock.
    unsafe { lock_word(lock) }.fetch_sub(1, Ordering::Release);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn wasmtime_sync_rwlock_write(lock: *mut usize) {
    // SAFETY: wasmtime passes its own lock.
    acquire(unsafe { lock_word(lock) }, |value| (value == 0).then_some(WRITER));
}

#[unsafe(no_mangle)]
unsafe extern "C" fn wasmtime_sync_rwlock_write_release(lock: *mut usize) {
    // SYNC POINT wasmtime-lock-release.
    // SAFETY: wasmtime passes its own lock.
    unsafe { lock_word(lock) }.store(0, Ordering::Release);
}

#[unsafe(no_mangle)]
extern "C" fn wasmtime_sync_rwlock_free(_: *mut usize) {}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::sync::atomic::AtomicBool;

    /// A reader that finds a writer waits for it, and neither is confused with the other.
    #[test]
    fn a_reader_waits_for_the_writer() {
        let lock = AtomicUsize::new(0);
        let written = AtomicBool::new(false);
        // SAFETY: `lock` lives to the end of the test and is only touched through these functions.
        unsafe { wasmtime_sync_rwlock_write(lock.as_ptr()) };
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    // SAFETY: as above.
                    unsafe { wasmtime_sync_rwlock_read(lock.as_ptr()) };
                    assert!(
                        written.load(Ordering::Relaxed),
                        "a reader came before the writer left"
                    );
                    // SAFETY: as above.
                    unsafe { wasmtime_sync_rwlock_read_release(lock.as_ptr()) };
                });
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
            written.store(true, Ordering::Relaxed);
            // SAFETY: as above.
            unsafe { wasmtime_sync_rwlock_write_release(lock.as_ptr()) };
        });
        assert_eq!(lock.load(Ordering::Relaxed), 0, "the lock is free again");
    }
}

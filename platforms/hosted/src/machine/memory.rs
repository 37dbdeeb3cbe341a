//! Pages. A region's backing and a memory image are file descriptors of memfds.
//!
//! Sizes and addresses are whole pages, checked by the engine that asks; failure is an error number and never
//! a panic. The engine's stacks, linear memories and code all come from here.

use core::ffi::{c_int, c_void};
use core::ptr::{NonNull, null_mut};
use satrap_abi::Errno;
use satrap_engine::{Image, Protection};
use satrap_kernel::engine::Access;
use satrap_region::Backing;
use std::fs::File;
use std::io::Write;
use std::os::fd::{FromRawFd, IntoRawFd, RawFd};

/// Size of a page; every Linux that this platform is built for has it.
pub const PAGE: usize = 4096;

/// Reservations are not counted as memory: only pages that are touched are.
const PRIVATE: c_int = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;

const fn flags(protection: Protection) -> c_int {
    match protection {
        Protection::None => libc::PROT_NONE,
        Protection::Read => libc::PROT_READ,
        Protection::ReadWrite => libc::PROT_READ | libc::PROT_WRITE,
        Protection::ReadExecute => libc::PROT_READ | libc::PROT_EXEC,
    }
}

/// What the last failed system call means to the kernel.
fn last_error() -> Errno {
    match std::io::Error::last_os_error().raw_os_error() {
        Some(libc::ENOMEM | libc::EAGAIN | libc::ENFILE | libc::EMFILE | libc::ENOSPC) => Errno::NoMemory,
        Some(libc::EACCES | libc::EPERM) => Errno::Denied,
        _ => Errno::Invalid,
    }
}

fn check(result: c_int) -> Result<(), Errno> {
    if result == 0 { Ok(()) } else { Err(last_error()) }
}

/// # Safety
/// As for `mmap`: with `MAP_FIXED` the range is the caller's to replace.
unsafe fn mmap(
    at: *mut u8,
    bytes: usize,
    protection: c_int,
    flags: c_int,
    descriptor: RawFd,
    offset: u64,
) -> Result<NonNull<u8>, Errno> {
    let offset = offset.try_into().map_err(|_| Errno::Invalid)?;
    // SAFETY: the caller's promise.
    let result = unsafe { libc::mmap(at.cast(), bytes, protection, flags, descriptor, offset) };
    if result == libc::MAP_FAILED {
        return Err(last_error());
    }
    NonNull::new(result.cast()).ok_or(Errno::NoMemory)
}

/// See [`satrap_engine::Machine::reserve`].
pub fn reserve(bytes: usize) -> Result<NonNull<u8>, Errno> {
    // SAFETY: Linux chooses an unused range.
    unsafe { mmap(null_mut(), bytes, libc::PROT_NONE, PRIVATE, -1, 0) }
}

/// # Safety
/// See [`satrap_engine::Machine::release`].
pub unsafe fn release(base: NonNull<u8>, bytes: usize) {
    // SAFETY: the caller's promise.
    let result = unsafe { libc::munmap(base.as_ptr().cast::<c_void>(), bytes) };
    debug_assert_eq!(result, 0, "munmap: {}", std::io::Error::last_os_error());
}

/// # Safety
/// See [`satrap_engine::Machine::protect`].
pub unsafe fn protect(base: NonNull<u8>, bytes: usize, protection: Protection) -> Result<(), Errno> {
    // SAFETY: the caller's promise.
    check(unsafe { libc::mprotect(base.as_ptr().cast::<c_void>(), bytes, flags(protection)) })
}

/// # Safety
/// See [`satrap_engine::Machine::reset`].
pub unsafe fn reset(base: NonNull<u8>, bytes: usize, protection: Protection) -> Result<(), Errno> {
    let fixed = PRIVATE | libc::MAP_FIXED;
    // SAFETY: the caller's promise.
    unsafe { mmap(base.as_ptr(), bytes, flags(protection), fixed, -1, 0) }.map(drop)
}

/// # Safety
/// See [`satrap_engine::Machine::map`].
pub unsafe fn map(
    at: NonNull<u8>,
    source: NonNull<u8>,
    backing: Backing,
    bytes: usize,
    access: Access,
) -> Result<(), Errno> {
    match access {
        Access::ReadOnly => {
            let descriptor = backing.object.try_into().map_err(|_| Errno::Invalid)?;
            let fixed = libc::MAP_SHARED | libc::MAP_FIXED;
            // SAFETY: the caller's promise.
            unsafe {
                mmap(
                    at.as_ptr(),
                    bytes,
                    libc::PROT_READ,
                    fixed,
                    descriptor,
                    backing.offset,
                )
            }
            .map(drop)
        }
        // SAFETY: the caller's promise.
        Access::ReadWrite => unsafe { mirror(at, source, bytes) },
    }
}

/// Maps shared pages a second time, as writable as they are. An export is sealed against new writable mappings
/// (DESIGN §4), but its owner may double the one that it has: `mremap` of nothing copies a shared mapping.
///
/// # Safety
/// The range at `at` is the caller's to replace, and `bytes` are mapped at `source`.
unsafe fn mirror(at: NonNull<u8>, source: NonNull<u8>, bytes: usize) -> Result<(), Errno> {
    let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
    // SAFETY: the caller's promise.
    let result = unsafe {
        libc::mremap(
            source.as_ptr().cast(),
            0,
            bytes,
            flags,
            at.as_ptr().cast::<c_void>(),
        )
    };
    if result == libc::MAP_FAILED {
        Err(last_error())
    } else {
        Ok(())
    }
}

/// See [`satrap_engine::Machine::image`].
pub fn image(bytes: &[u8]) -> Result<Image, Errno> {
    // SAFETY: the name is a C string.
    let descriptor = unsafe { libc::memfd_create(c"satrap-image".as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(last_error());
    }
    // SAFETY: just made, and owned by nobody else.
    let mut file = unsafe { File::from_raw_fd(descriptor) };
    file.write_all(bytes).map_err(|_| Errno::NoMemory)?;
    Ok(Image(file.into_raw_fd() as u64))
}

/// # Safety
/// See [`satrap_engine::Machine::map_image`].
pub unsafe fn map_image(image: Image, at: NonNull<u8>, bytes: usize) -> Result<(), Errno> {
    let fixed = libc::MAP_PRIVATE | libc::MAP_FIXED;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the caller's promise.
    unsafe { mmap(at.as_ptr(), bytes, protection, fixed, image.0 as RawFd, 0) }.map(drop)
}

/// See [`satrap_engine::Machine::drop_image`].
pub fn drop_image(image: Image) {
    // SAFETY: `image` gave it away, and it is dropped once.
    drop(unsafe { File::from_raw_fd(image.0 as RawFd) });
}

//! This satellite's export and its peers': memory files that one process writes and the others map read-only.
//!
//! The single-writer rule (DESIGN §4) is enforced by Linux: once the owner has mapped its export, the file is
//! sealed against any further writable mapping.

use rustix::{
    fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create},
    mm::{MapFlags, ProtFlags, mmap, munmap},
};
use satrap_region::{Backing, Region};
use std::{
    ffi::c_void,
    io,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
    ptr::{NonNull, null_mut},
    sync::Arc,
};

/// A mapping, undone when the last region over it is dropped, and the file behind it.
struct Mapping {
    base: *mut c_void,
    len: usize,
    file: OwnedFd,
}

// SAFETY: the pointer is only used to unmap.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `base` and `len` are of the `mmap` in `map`, and no region is left over it.
        let _ = unsafe { munmap(self.base, self.len) };
    }
}

/// A memory file, mapped.
pub struct SharedMemory {
    mapping: Arc<Mapping>,
    region: Region,
}

impl SharedMemory {
    /// A new export of `len` bytes, sealed so that nobody else can ever write it.
    ///
    /// # Errors
    /// Linux has no memory, address space or descriptor left.
    pub fn create(len: usize) -> io::Result<SharedMemory> {
        let file = memfd_create("satrap-export", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&file, len as u64)?;
        let export = map(file, len, ProtFlags::READ | ProtFlags::WRITE)?;
        let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::FUTURE_WRITE;
        fcntl_add_seals(export.file(), seals)?;
        Ok(export)
    }

    /// A peer's export of `len` bytes, to be read only: a write through it ends this process.
    ///
    /// # Errors
    /// The file cannot be mapped.
    pub fn open(file: OwnedFd, len: usize) -> io::Result<SharedMemory> {
        map(file, len, ProtFlags::READ)
    }

    /// The bytes.
    pub fn region(&self) -> &Region {
        &self.region
    }

    /// The file.
    pub fn file(&self) -> BorrowedFd<'_> {
        self.mapping.file.as_fd()
    }
}

fn map(file: OwnedFd, len: usize, protection: ProtFlags) -> io::Result<SharedMemory> {
    // SAFETY: a new mapping at a place that the kernel chooses.
    let base = unsafe { mmap(null_mut(), len, protection, MapFlags::SHARED, &file, 0) }?;
    let backing = Backing {
        object: file.as_raw_fd() as u64,
        offset: 0,
    };
    let mapping = Arc::new(Mapping { base, len, file });
    let start = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
    // SAFETY: `mapping` keeps the bytes mapped as long as the region lives. A peer's export is mapped without
    // write permission: a write would be a bug of ours and ends this satellite alone.
    let region = unsafe { Region::from_raw(start, len, Some(backing), mapping.clone()) };
    Ok(SharedMemory { mapping, region })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: usize = 1 << 16;

    #[test]
    fn only_its_owner_can_write_an_export() {
        let own = SharedMemory::create(LENGTH).unwrap();
        let file = || own.file().try_clone_to_owned().unwrap();
        assert!(map(file(), LENGTH, ProtFlags::READ | ProtFlags::WRITE).is_err());
        assert!(rustix::io::pwrite(own.file(), b"x", 0).is_err());
        assert!(ftruncate(own.file(), 0).is_err());
        let peer = SharedMemory::open(file(), LENGTH).unwrap();
        own.region().write(64, b"satrap").unwrap();
        let mut seen = [0; 6];
        peer.region().read(64, &mut seen).unwrap();
        assert_eq!(&seen, b"satrap");
    }
}

//! The window: pages of others in the upper half of a process's memory.

mod support;

use satrap_abi::{Errno, ExitStatus, Trap, limits::WINDOW_START};
use satrap_kernel::engine::{Access, LinearMemory as _};
use satrap_region::{Backing, Region};
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;
use support::Process;

const PAGES: usize = 4 << 12;

/// A region of a memfd, mapped here, that the platform can map again.
fn shared() -> Region {
    struct Mapping(usize, #[allow(dead_code, reason = "kept open")] File);
    impl Drop for Mapping {
        fn drop(&mut self) {
            // SAFETY: mapped below, and the last region is gone.
            unsafe { libc::munmap(self.0 as *mut _, PAGES) };
        }
    }
    // SAFETY: the name is a C string; the descriptor is ours alone.
    let file = unsafe { File::from_raw_fd(libc::memfd_create(c"test".as_ptr(), libc::MFD_CLOEXEC)) };
    file.set_len(PAGES as u64).expect("the file grows");
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let descriptor = file.as_raw_fd();
    // SAFETY: Linux chooses the place.
    let base = unsafe { libc::mmap(null_mut(), PAGES, protection, libc::MAP_SHARED, descriptor, 0) };
    assert_ne!(base, libc::MAP_FAILED);
    let backing = Backing {
        object: descriptor as u64,
        offset: 0,
    };
    let owner = Arc::new(Mapping(base as usize, file));
    // SAFETY: `owner` keeps the pages mapped.
    unsafe {
        Region::from_raw(
            NonNull::new(base.cast()).expect("mapped"),
            PAGES,
            Some(backing),
            owner,
        )
    }
}

/// A process whose `main` has this body.
fn process(body: &str) -> Process {
    Process::new(&format!(
        r#"(module (memory (export "memory") 1) (func (export "satrap_main") (result i32) {body}))"#
    ))
}

const LOAD: &str = "(i32.load (i32.const 0x80001004))";
const STORE: &str = "(i32.store (i32.const 0x80001004) (i32.const 77)) (i32.const 0)";

#[test]
fn plain_loads_and_stores_reach_a_mapped_page() {
    let source = shared();
    source.write(0x1004, &42u32.to_le_bytes()).expect("in range");
    let reader = process(LOAD);
    reader
        .memory
        .map(WINDOW_START, &source, PAGES as u32, Access::ReadOnly)
        .expect("it maps");
    assert_eq!(reader.run(), ExitStatus::Code(42));
    let writer = process(STORE);
    writer
        .memory
        .map(WINDOW_START, &source, PAGES as u32, Access::ReadWrite)
        .expect("it maps");
    assert_eq!(writer.run(), ExitStatus::Code(0));
    assert_eq!(reader.run(), ExitStatus::Code(77));
}

#[test]
fn a_part_of_a_region_maps_from_its_own_offset() {
    let source = shared();
    source.write(0x3004, &5u32.to_le_bytes()).expect("in range");
    let reader = process(LOAD);
    let part = source.part(0x3000, 0x1000).expect("in range");
    reader
        .memory
        .map(WINDOW_START + 0x1000, &part, 0x1000, Access::ReadOnly)
        .expect("it maps");
    assert_eq!(reader.run(), ExitStatus::Code(5));
}

#[test]
fn a_store_to_a_read_only_page_traps() {
    let process = process(STORE);
    process
        .memory
        .map(WINDOW_START, &shared(), PAGES as u32, Access::ReadOnly)
        .expect("it maps");
    assert_eq!(process.run(), ExitStatus::Trap(Trap::MemoryOutOfBounds));
}

#[test]
fn an_unmapped_page_traps_again() {
    let process = process(LOAD);
    assert_eq!(process.run(), ExitStatus::Trap(Trap::MemoryOutOfBounds));
    process
        .memory
        .map(WINDOW_START, &shared(), PAGES as u32, Access::ReadWrite)
        .expect("it maps");
    assert_eq!(process.run(), ExitStatus::Code(0));
    process.memory.unmap(WINDOW_START, PAGES as u32);
    assert_eq!(process.run(), ExitStatus::Trap(Trap::MemoryOutOfBounds));
}

#[test]
fn a_mapping_that_is_not_in_the_window_or_not_whole_pages_is_refused() {
    let (memory, source) = (process("(i32.const 0)").memory, shared());
    let map = |at, length| memory.map(at, &source, length, Access::ReadOnly);
    assert_eq!(map(WINDOW_START - 0x1000, 0x1000), Err(Errno::Invalid));
    assert_eq!(map(WINDOW_START + 1, 0x1000), Err(Errno::Invalid));
    assert_eq!(map(WINDOW_START, 100), Err(Errno::Invalid));
    assert_eq!(map(WINDOW_START, 0), Err(Errno::Invalid));
    assert_eq!(map(WINDOW_START, PAGES as u32 + 0x1000), Err(Errno::Invalid));
    assert_eq!(map(0xffff_f000, 0x2000), Err(Errno::Invalid));
    let heap = Region::from_heap(PAGES);
    assert_eq!(
        memory.map(WINDOW_START, &heap, 0x1000, Access::ReadOnly),
        Err(Errno::Unsupported)
    );
}

#[test]
fn the_heap_never_grows_into_the_window() {
    let memory = process("(i32.const 0)").memory;
    assert_eq!(
        memory.commit(u64::from(WINDOW_START) + 0x1_0000),
        Err(Errno::Invalid)
    );
}

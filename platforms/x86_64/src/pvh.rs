//! What the loader hands over (Xen's PVH boot protocol): the memory, one module, and a command line.
//!
//! The loader is trusted, as firmware is: what it says is read in place.

use crate::memory::{RamRange, TOP};
use core::ffi::CStr;
use core::ptr::with_exposed_provenance;

/// Start info, version 1.
#[repr(C)]
pub struct StartInfo {
    magic: u32,
    version: u32,
    _flags: u32,
    modules: u32,
    modules_address: u64,
    command_line: u64,
    _acpi: u64,
    memory_map: u64,
    memory_entries: u32,
    _reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Module {
    address: u64,
    size: u64,
    _command_line: u64,
    _reserved: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct MemoryEntry {
    address: u64,
    size: u64,
    kind: u32,
    _reserved: u32,
}

const MAGIC: u32 = 0x336e_c578;
const RAM: u32 = 1;
/// Most memory ranges that are looked at.
const RANGES_MAX: usize = 64;

impl StartInfo {
    /// The start info at `address`.
    ///
    /// # Safety
    /// `address` is what the loader passed, and memory is mapped one to one.
    pub unsafe fn at(address: usize) -> Option<&'static StartInfo> {
        // SAFETY: by the protocol it is there, and stays as long as nobody writes over it: the kernel uses only
        // memory behind its own image.
        let info: &StartInfo = unsafe { &*with_exposed_provenance(address) };
        (info.magic == MAGIC && info.version >= 1).then_some(info)
    }

    /// The command line.
    pub fn command_line(&self) -> &'static str {
        if self.command_line == 0 {
            return "";
        }
        // SAFETY: by the protocol, a string that ends with NUL; it stays as the start info does.
        let text = unsafe { CStr::from_ptr(with_exposed_provenance(self.command_line as usize)) };
        text.to_str().unwrap_or("")
    }

    /// The first module.
    pub fn module(&self) -> Option<&'static [u8]> {
        if self.modules == 0 {
            return None;
        }
        // SAFETY: by the protocol there is a list of as many modules, and each is where it says.
        unsafe {
            let module: Module = *with_exposed_provenance(self.modules_address as usize);
            let start = with_exposed_provenance(module.address as usize);
            Some(core::slice::from_raw_parts(start, module.size as usize))
        }
    }

    fn entries(&self) -> &'static [MemoryEntry] {
        let count = (self.memory_entries as usize).min(RANGES_MAX);
        // SAFETY: by the protocol there is a list of as many entries.
        unsafe { core::slice::from_raw_parts(with_exposed_provenance(self.memory_map as usize), count) }
    }

    /// Ranges of memory that can be mapped one to one.
    pub fn ram(&self) -> impl Iterator<Item = RamRange> + Clone + use<> {
        let usable = |entry: &&MemoryEntry| entry.kind == RAM && entry.address < TOP as u64;
        let range = |entry: &MemoryEntry| {
            let end = (entry.address + entry.size).min(TOP as u64);
            entry.address as usize..end as usize
        };
        self.entries().iter().filter(usable).map(range)
    }
}

//! Deeds with pointers that lead out of the process's memory.
//!
//! The program's only unsafe code: the engine must stop the load, and the kernel check every pointer.

use std::hint::black_box;

use satrap::{Errno, println, raw};

/// Below the window, where no linear memory reaches by default.
const BEYOND: usize = 0x7FFF_0000;

/// The last bytes of the address space: length and address together wrap around.
const EDGE: usize = 0xFFFF_FFF0;

/// The shortest block that can be mapped.
const BLOCK_LEN: u32 = 4096;

pub fn read_out_of_bounds() -> Result<(), String> {
    let wild = black_box(BEYOND) as *const u8;
    // SAFETY: none; the engine must turn this load into a trap.
    let byte = unsafe { wild.read_volatile() };
    Err(format!("read {byte} at {BEYOND:#x}"))
}

/// One call for each way in which the kernel takes a pointer.
pub fn wild_pointers() -> Result<(), String> {
    for address in [BEYOND, EDGE] {
        let (bytes, words) = (address as *mut u8, address as *mut u32);
        let block = raw::block_alloc(BLOCK_LEN).unsigned_abs();
        // SAFETY: none; the kernel must check every pointer of every call. A pointer that passed would be
        // written through, and the deed reports it.
        let results = unsafe {
            [
                ("random", raw::random(bytes, 64)),
                ("console_write", raw::console_write(1, bytes, 64)),
                ("args_read", raw::args_read(bytes)),
                ("bind", raw::bind(bytes, 64, bytes, words, 0)),
                ("register", raw::register(bytes, 64, bytes, words)),
                ("list", raw::list(bytes, 64, bytes, 64)),
                ("channel", raw::channel(bytes, words.cast())),
                ("wait", raw::wait(words, 16, 0)),
                ("block_read", raw::block_read(block, 0, bytes, 64)),
                ("block_write", raw::block_write(block, 0, bytes, 64)),
                ("block_map", raw::block_map(block, words)),
            ]
        };
        for (call, result) in results {
            let refused = Errno::from_result(result) == Some(Errno::BadPointer);
            println!(
                "{call}({address:#x}): {}",
                if refused { "refused" } else { "NOT REFUSED" }
            );
            if !refused {
                return Err(format!(
                    "{call} took the pointer {address:#x} and answered {result}"
                ));
            }
        }
    }
    Ok(())
}

//! The kernel's side of the tests' kernel calls. What no test uses answers `Unsupported`.

use satrap_abi::limits::WASM_PAGE;
use satrap_abi::{Errno, ExitStatus, Trap};
use satrap_engine::{ProcessMemory, Program, Wasmtime};
use satrap_kernel::engine::{Call, Calls, End, Engine as _, LinearMemory as _, Program as _, Resume};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Mocks that are alive.
static LIVE: AtomicUsize = AtomicUsize::new(0);

/// Kernel calls of one thread.
pub struct Mock {
    program: Program<Mock>,
    memory: Arc<ProcessMemory>,
    pages: Arc<AtomicU32>,
}

impl Mock {
    pub fn new(program: Program<Mock>, memory: Arc<ProcessMemory>, pages: Arc<AtomicU32>) -> Mock {
        LIVE.fetch_add(1, Ordering::Relaxed);
        Mock {
            program,
            memory,
            pages,
        }
    }

    /// How many are alive.
    pub fn live() -> usize {
        LIVE.load(Ordering::Relaxed)
    }

    /// Whether a range lies in the heap.
    fn check(&self, at: u32, length: u32) -> Call<()> {
        let end = u64::from(at) + u64::from(length);
        if end <= u64::from(self.memory_bytes()) {
            Ok(())
        } else {
            Err(End(ExitStatus::Trap(Trap::MemoryOutOfBounds)))
        }
    }

    fn memory_bytes(&self) -> u32 {
        self.pages.load(Ordering::Relaxed) * WASM_PAGE
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

fn unsupported() -> Call {
    Ok(Errno::Unsupported.to_result())
}

impl Calls for Mock {
    fn null(&mut self) {}

    fn exit(&mut self, code: i32) -> End {
        End(ExitStatus::Code(code))
    }

    fn yield_now(&mut self) -> Call<()> {
        match Wasmtime::<Mock>::suspend() {
            Resume::Run => Ok(()),
            Resume::Die => Err(End(ExitStatus::Killed)),
        }
    }

    fn clock_now(&mut self) -> i64 {
        super::now() as i64
    }

    fn clock_wall(&mut self) -> i64 {
        0
    }

    /// Keeps the CPU, in the kernel, for `deadline` ns.
    fn sleep_until(&mut self, deadline: u64) -> Call {
        let end = Instant::now() + Duration::from_nanos(deadline);
        while Instant::now() < end {
            std::hint::spin_loop();
        }
        Ok(0)
    }

    /// Ends the thread as a kernel call does that finds a wild pointer in an instruction's place.
    fn random(&mut self, pointer: u32, length: u32) -> Call {
        self.check(pointer, length).map(|()| 0)
    }

    fn console_write(&mut self, _: u32, _: u32, _: u32) -> Call {
        unsupported()
    }

    fn args_len(&mut self) -> i32 {
        0
    }

    fn args_read(&mut self, _: u32) -> Call {
        unsupported()
    }

    fn process_id(&mut self) -> i64 {
        1
    }

    fn kernel_id(&mut self) -> i32 {
        1
    }

    fn memory_size(&mut self) -> u32 {
        self.pages.load(Ordering::Relaxed)
    }

    fn memory_grow(&mut self, pages: u32) -> i32 {
        let old = self.pages.load(Ordering::Relaxed);
        let new = u64::from(old) + u64::from(pages);
        if new > u64::from(self.program.maximum_pages().unwrap_or(u32::MAX)) {
            return -1;
        }
        match self.memory.commit(new * u64::from(WASM_PAGE)) {
            Ok(()) => {
                self.pages.store(new as u32, Ordering::Relaxed);
                old as i32
            }
            Err(_) => -1,
        }
    }

    fn memory_copy(&mut self, to: u32, from: u32, length: u32) -> Call<()> {
        self.check(to, length)?;
        self.check(from, length)?;
        let region = self.memory.region();
        let copied = region.copy_to(from as usize, region, to as usize, length as usize);
        assert_eq!(copied, Ok(()));
        Ok(())
    }

    fn memory_fill(&mut self, to: u32, value: u32, length: u32) -> Call<()> {
        self.check(to, length)?;
        let filled = self
            .memory
            .region()
            .fill(to as usize, length as usize, value as u8);
        assert_eq!(filled, Ok(()));
        Ok(())
    }

    fn memory_init(&mut self, segment: u32, to: u32, from: u32, length: u32) -> Call<()> {
        self.check(to, length)?;
        let program = self.program.clone();
        let bytes = program
            .segment(segment)
            .and_then(|bytes| bytes.get(from as usize..from as usize + length as usize))
            .ok_or(End(ExitStatus::Trap(Trap::MemoryOutOfBounds)))?;
        assert_eq!(self.memory.region().write(to as usize, bytes), Ok(()));
        Ok(())
    }

    fn data_drop(&mut self, _: u32) {}

    fn thread_spawn(&mut self, _: u32, _: u32, _: u32) -> Call {
        unsupported()
    }

    fn thread_join(&mut self, _: u32) -> Call {
        unsupported()
    }

    fn thread_id(&mut self) -> i32 {
        0
    }

    fn thread_priority(&mut self, _: u32) -> Call {
        unsupported()
    }

    fn bind(&mut self, _: u32, _: u32, _: u32, _: u32, _: u64) -> Call {
        unsupported()
    }

    fn register(&mut self, _: u32, _: u32, _: u32, _: u32) -> Call {
        unsupported()
    }

    fn accept(&mut self, _: u32, _: u32, _: u64) -> Call {
        unsupported()
    }

    fn list(&mut self, _: u32, _: u32, _: u32, _: u32) -> Call {
        unsupported()
    }

    fn channel(&mut self, _: u32, _: u32) -> Call {
        unsupported()
    }

    fn send(&mut self, _: u32, _: u32, _: u64) -> Call {
        unsupported()
    }

    fn recv(&mut self, _: u32, _: u32, _: u64) -> Call {
        unsupported()
    }

    fn call(&mut self, _: u32, _: u32, _: u64) -> Call {
        unsupported()
    }

    fn wait(&mut self, _: u32, _: u32, _: u64) -> Call {
        unsupported()
    }

    fn close(&mut self, _: u32) -> Call {
        unsupported()
    }

    fn block_alloc(&mut self, _: u32) -> Call {
        unsupported()
    }

    fn block_len(&mut self, _: u32) -> Call {
        unsupported()
    }

    fn block_read(&mut self, _: u32, _: u32, _: u32, _: u32) -> Call {
        unsupported()
    }

    fn block_write(&mut self, _: u32, _: u32, _: u32, _: u32) -> Call {
        unsupported()
    }

    fn block_map(&mut self, _: u32, _: u32) -> Call {
        unsupported()
    }

    fn pool_create(&mut self, _: u32, _: u32, _: u32, _: u32) -> Call {
        unsupported()
    }

    fn pool_acquire(&mut self, _: u32, _: u64) -> Call {
        unsupported()
    }

    fn pool_release(&mut self, _: u32, _: u32) -> Call {
        unsupported()
    }
}

//! Segments, the task state that names the handlers' stacks, and the interrupt table: made once, never freed.
//!
//! The segments of `entry.s` lie in read-only memory; the CPU marks a task state in its table as busy, so that
//! the table moves here.

use super::vectors;
use alloc::boxed::Box;
use alloc::vec;
use core::arch::asm;

/// Bytes of a handler's stack: a handler that ends the machine formats text.
const STACK: usize = 16 << 10;
/// Selector of the task state, behind code and data.
const TASK: u16 = 0x18;

/// The task state segment; only the stacks are used.
#[repr(C, packed(4))]
struct TaskState {
    _reserved: u32,
    _ring_stacks: [u64; 3],
    _reserved_too: u64,
    stacks: [u64; 7],
    _reserved_last: u64,
    _ports: u32,
}

/// What `lgdt` and `lidt` read.
#[repr(C, packed)]
struct Pointer {
    limit: u16,
    base: u64,
}

fn pointer<T>(table: &'static T) -> Pointer {
    Pointer {
        limit: (size_of::<T>() - 1) as u16,
        base: (table as *const T) as u64,
    }
}

/// Makes exceptions and interrupts reach [`super::handle`].
pub fn start() {
    let task = Box::leak(Box::new(task_state()));
    let segments: &[u64; 5] = Box::leak(Box::new(segments(task)));
    let vectors: &[vectors::Descriptor; 256] = Box::leak(Box::new(vectors::table()));
    let (segments, vectors) = (pointer(segments), pointer(vectors));
    // SAFETY: the tables live for ever, and the new segments are the old ones and one more.
    unsafe {
        asm!("lgdt [{}]", in(reg) &segments, options(nostack, preserves_flags));
        asm!("ltr {:x}", in(reg) TASK, options(nostack, preserves_flags));
        asm!("lidt [{}]", in(reg) &vectors, options(nostack, preserves_flags));
    }
}

fn task_state() -> TaskState {
    let top = || {
        Box::leak(vec![0u128; STACK / 16].into_boxed_slice())
            .as_ptr_range()
            .end as u64
    };
    let mut stacks = [0; 7];
    for stack in [
        vectors::STACK_FAULT,
        vectors::STACK_DOUBLE_FAULT,
        vectors::STACK_INTERRUPT,
    ] {
        stacks[stack as usize - 1] = top();
    }
    TaskState {
        _reserved: 0,
        _ring_stacks: [0; 3],
        _reserved_too: 0,
        stacks,
        _reserved_last: 0,
        _ports: (size_of::<TaskState>() as u32) << 16,
    }
}

fn segments(task: &'static TaskState) -> [u64; 5] {
    let base = (task as *const TaskState) as u64;
    let limit = size_of::<TaskState>() as u64 - 1;
    let low = limit | (base & 0xff_ffff) << 16 | 0x89 << 40 | (base >> 24 & 0xff) << 56;
    [0, 0x00af_9b00_0000_ffff, 0x00cf_9300_0000_ffff, low, base >> 32]
}

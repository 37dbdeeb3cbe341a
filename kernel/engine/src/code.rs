//! Which addresses are Wasm code. Interrupt and fault handlers ask, on any CPU at any instant, so readers take
//! no lock; programs come and go rarely, and a writer replaces the whole table.
//!
//! Only the bodies of Wasm functions can be preempted: in the trampolines between them and the kernel, the
//! engine's record of the stack is in motion.

use alloc::{boxed::Box, sync::Arc, vec::Vec};
use core::ops::Range;
use core::ptr::{null_mut, with_exposed_provenance_mut};
use satrap_sync::{AtomicUsize, Ordering, SpinLock, relax};

/// The code of one program.
struct Code {
    text: Range<usize>,
    /// Function bodies as offsets in the text, ascending and disjoint.
    functions: Box<[Range<u32>]>,
}

/// Keeps a program's code in the table.
pub(crate) struct Registration(Arc<Code>);

/// Address of the table, a `Vec<Arc<Code>>` ordered by address, or 0.
static TABLE: AtomicUsize = AtomicUsize::new(0);
/// Readers between their entry and their exit.
static READERS: AtomicUsize = AtomicUsize::new(0);
static WRITER: SpinLock<()> = SpinLock::new(());

impl Registration {
    /// Registers a program: its text, and its function bodies as offsets and lengths.
    pub(crate) fn new(text: Range<usize>, functions: impl Iterator<Item = (usize, usize)>) -> Registration {
        let mut functions: Vec<Range<u32>> = functions
            .map(|(offset, length)| offset as u32..(offset + length) as u32)
            .collect();
        functions.sort_unstable_by_key(|function| function.start);
        let code = Arc::new(Code {
            text,
            functions: functions.into_boxed_slice(),
        });
        update(|table| {
            let place = table.partition_point(|other| other.text.start < code.text.start);
            table.insert(place, code.clone());
        });
        Registration(code)
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        update(|table| table.retain(|other| !Arc::ptr_eq(other, &self.0)));
    }
}

/// Replaces the table by a changed copy, and frees the old one when nobody reads it any more.
fn update(change: impl FnOnce(&mut Vec<Arc<Code>>)) {
    let _writer = WRITER.lock();
    let old: *mut Vec<Arc<Code>> = with_exposed_provenance_mut(TABLE.load(Ordering::Relaxed));
    // SAFETY: a table is freed only below, under the lock that we hold.
    let mut table = unsafe { old.as_ref() }.cloned().unwrap_or_default();
    change(&mut table);
    let new = if table.is_empty() {
        null_mut()
    } else {
        Box::into_raw(Box::new(table))
    };
    // SYNC POINT code-publish: pairs with code-enter. In the one order of these operations, a reader that
    // enters after we saw no readers sees the new table.
    TABLE.swap(new.expose_provenance(), Ordering::SeqCst);
    while READERS.load(Ordering::SeqCst) != 0 {
        relax();
    }
    if !old.is_null() {
        // SAFETY: it came from `Box::into_raw`, is unpublished, and by the wait above no reader is left.
        drop(unsafe { Box::from_raw(old) });
    }
}

/// Runs `question` on the code at `pc`; `false` if there is none. Safe in any handler: it neither waits nor
/// allocates.
fn ask(pc: usize, question: impl FnOnce(&Code) -> bool) -> bool {
    // SYNC POINT code-enter: pairs with code-publish.
    READERS.fetch_add(1, Ordering::SeqCst);
    let table: *const Vec<Arc<Code>> = with_exposed_provenance_mut(TABLE.load(Ordering::SeqCst));
    // SAFETY: entered above, so a writer that unpublishes this table waits for us before it frees it.
    let answer = unsafe { table.as_ref() }.is_some_and(|table| {
        let behind = table.partition_point(|code| code.text.start <= pc);
        behind
            .checked_sub(1)
            .and_then(|place| table.get(place))
            .is_some_and(|code| pc < code.text.end && question(code))
    });
    READERS.fetch_sub(1, Ordering::SeqCst);
    answer
}

/// Whether `pc` lies in compiled Wasm code, trampolines included: faults there belong to the guest.
pub fn is_wasm(pc: usize) -> bool {
    ask(pc, |_| true)
}

/// Whether `pc` lies in the body of a Wasm function.
pub(crate) fn is_function(pc: usize) -> bool {
    ask(pc, |code| {
        let offset = (pc - code.text.start) as u32;
        let behind = code
            .functions
            .partition_point(|function| function.start <= offset);
        behind
            .checked_sub(1)
            .is_some_and(|place| offset < code.functions[place].end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bodies_of_registered_functions_can_be_preempted() {
        let base = 0x7777_0000_0000;
        let code = Registration::new(base..base + 0x1000, [(0x80, 0x20), (0x40, 0x10)].into_iter());
        assert!(is_wasm(base) && is_wasm(base + 0xfff) && !is_wasm(base + 0x1000) && !is_wasm(base - 1));
        for (offset, function) in [
            (0, false),
            (0x40, true),
            (0x4f, true),
            (0x50, false),
            (0x9f, true),
            (0xa0, false),
        ] {
            assert_eq!(is_function(base + offset), function, "{offset:#x}");
        }
        drop(code);
        assert!(!is_wasm(base + 0x40));
    }
}

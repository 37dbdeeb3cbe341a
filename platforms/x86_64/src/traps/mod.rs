//! Exceptions and interrupts. A fault in Wasm code becomes a trap of the guest, the timer in Wasm code a
//! preemption; a fault anywhere else is a bug of the kernel, which ends the machine.
//!
//! Handlers run on stacks of their own (IST) and only divert the interrupted context: what follows happens
//! outside the exception, on the guest's own stack, where it may suspend or unwind.

mod entry;
mod segments;
mod vectors;

pub use segments::start;

use crate::cpu::fault_address;
use crate::devices::apic;
use crate::machine;
use entry::Frame;
use satrap_engine::arch::Registers;
use satrap_engine::{Interrupt, is_wasm, on_interrupt};

/// Vectors of the faults that Wasm code can cause: division, invalid opcode (traps), page, x87, vectors.
const FAULTS: [u64; 5] = [0, 6, PAGE_FAULT, 16, 19];
const PAGE_FAULT: u64 = 14;
const TIMER: u64 = apic::TIMER as u64;
const SPURIOUS: u64 = apic::SPURIOUS as u64;

/// Called by every vector, with interrupts held back.
extern "C" fn handle(frame: &mut Frame) {
    match frame.vector {
        TIMER => on_timer(frame),
        SPURIOUS => {}
        vector if FAULTS.contains(&vector) && is_wasm(frame.rip as usize) => {
            change(frame, Registers::divert_trap);
        }
        _ => die(frame),
    }
}

fn on_timer(frame: &mut Frame) {
    apic::end_of_interrupt();
    if apic::is_alarm() {
        return;
    }
    match on_interrupt(machine::words(), frame.rip as usize) {
        Interrupt::Defer => {}
        // SAFETY: the engine says that the context is in Wasm code, which runs on a stack of the engine's and
        // has no red zone.
        Interrupt::Preempt => change(frame, |registers| unsafe { registers.divert_preempt() }),
        Interrupt::Retry => apic::preempt_soon(),
    }
}

/// Changes the registers that a diversion needs.
fn change(frame: &mut Frame, change: impl FnOnce(&mut Registers)) {
    let mut registers = Registers {
        rip: frame.rip,
        rsp: frame.rsp,
        rbp: frame.rbp,
        rflags: frame.rflags,
        rax: frame.rax,
        rdi: frame.rdi,
        rsi: frame.rsi,
    };
    change(&mut registers);
    frame.rip = registers.rip;
    frame.rsp = registers.rsp;
    frame.rbp = registers.rbp;
    frame.rflags = registers.rflags;
    frame.rax = registers.rax;
    frame.rdi = registers.rdi;
    frame.rsi = registers.rsi;
}

fn die(frame: &Frame) -> ! {
    panic!(
        "exception {} (code {:#x}) at {:#x}, stack {:#x}, address {:#x}",
        frame.vector,
        frame.code,
        frame.rip,
        frame.rsp,
        fault_address(),
    )
}

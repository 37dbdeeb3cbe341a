//! The local APIC: one timer that fires once. It serves two masters, preemption and sleep; never both, because
//! a CPU sleeps only when it has nothing to preempt.

use crate::cpu::{cycles, outb, read_msr, wait_for_interrupt, write_msr};
use crate::devices::clock;
use core::ptr::{read_volatile, with_exposed_provenance_mut, write_volatile};
use satrap_sync::{AtomicBool, AtomicU64, Ordering};

/// Where its registers are; `memory/map.rs` maps them uncached.
pub const REGISTERS: usize = 0xfee0_0000;
/// Vectors of the timer's interrupt and of interrupts that were withdrawn.
pub const TIMER: u8 = 32;
pub const SPURIOUS: u8 = 255;

const BASE: u32 = 0x1b;
const ENABLED: u64 = 1 << 11;
const END_OF_INTERRUPT: usize = 0xb0;
const SPURIOUS_VECTOR: usize = 0xf0;
const SOFTWARE_ENABLED: u32 = 1 << 8;
const TIMER_VECTOR: usize = 0x320;
const INITIAL_COUNT: usize = 0x380;
const CURRENT_COUNT: usize = 0x390;
const DIVISION: usize = 0x3e0;
const BY_16: u32 = 3;
/// Mask registers of the old interrupt controllers, whose interrupts nobody wants.
const OLD_CONTROLLERS: [u16; 2] = [0x21, 0xa1];
/// Time after which a preemption that hit the kernel comes again, in ns: long enough to cost little, short
/// beside any time slice.
const SOON: u64 = 50_000;
/// How long the timer's rate is measured, in ns.
const MEASURED: u64 = 2_000_000;

/// The timer's ticks in each ms.
static RATE: AtomicU64 = AtomicU64::new(1);
/// When the running guest is to be preempted, in ns of the clock; `u64::MAX` for never.
static PREEMPT_AT: AtomicU64 = AtomicU64::new(u64::MAX);
/// The timer is lent to a sleeper.
static ALARM: AtomicBool = AtomicBool::new(false);

fn read(register: usize) -> u32 {
    // SAFETY: the registers are mapped, and reading these changes nothing.
    unsafe { read_volatile(with_exposed_provenance_mut(REGISTERS + register)) }
}

fn write(register: usize, value: u32) {
    // SAFETY: the registers are mapped; they concern interrupts only.
    unsafe { write_volatile(with_exposed_provenance_mut(REGISTERS + register), value) }
}

/// Starts it, and measures its rate against the clock.
pub fn start() {
    // SAFETY: ports of interrupt controllers, and a register that every 64-bit CPU has.
    unsafe {
        OLD_CONTROLLERS.into_iter().for_each(|port| outb(port, 0xff));
        write_msr(BASE, read_msr(BASE) | ENABLED);
    }
    write(SPURIOUS_VECTOR, SOFTWARE_ENABLED | u32::from(SPURIOUS));
    write(DIVISION, BY_16);
    write(TIMER_VECTOR, u32::from(TIMER));
    write(INITIAL_COUNT, u32::MAX);
    let start = clock::now();
    while clock::now() - start < MEASURED {
        core::hint::spin_loop();
    }
    let ticks = u64::from(u32::MAX - read(CURRENT_COUNT));
    let elapsed = (clock::now() - start).max(1);
    write(INITIAL_COUNT, 0);
    RATE.store((ticks * 1_000_000 / elapsed).max(1), Ordering::Relaxed);
}

/// Ends the handling of an interrupt.
pub fn end_of_interrupt() {
    write(END_OF_INTERRUPT, 0);
}

/// Sets when the running guest is to be preempted; it may come earlier, after a minute or so at most.
pub fn preempt_at(deadline: Option<u64>) {
    PREEMPT_AT.store(deadline.unwrap_or(u64::MAX), Ordering::Relaxed);
    fire_at(deadline.unwrap_or(u64::MAX));
}

/// Makes the timer fire soon to preempt.
pub fn preempt_soon() {
    fire_at(clock::now() + SOON);
}

/// Sleeps until an interrupt comes: at `deadline` at the latest. Called with interrupts held back, returns with
/// them coming.
pub fn sleep_until(deadline: Option<u64>) {
    ALARM.store(true, Ordering::Relaxed);
    fire_at(deadline.unwrap_or(u64::MAX));
    wait_for_interrupt();
    ALARM.store(false, Ordering::Relaxed);
    let preemption = PREEMPT_AT.load(Ordering::Relaxed);
    fire_at(if preemption > clock::now() {
        preemption
    } else {
        u64::MAX
    });
}

/// Whether the timer fired to end a sleep.
pub fn is_alarm() -> bool {
    ALARM.load(Ordering::Relaxed)
}

fn fire_at(deadline: u64) {
    let count = match deadline {
        // A count of 0 stops the timer.
        u64::MAX => 0,
        _ => {
            let delay = u128::from(deadline.saturating_sub(clock::now()));
            let ticks = delay * u128::from(RATE.load(Ordering::Relaxed)) / 1_000_000;
            u32::try_from(ticks).unwrap_or(u32::MAX).max(1)
        }
    };
    write(INITIAL_COUNT, count);
}

/// Something that no program can foresee: how long a slow register takes to answer.
pub fn jitter() -> u64 {
    let start = cycles();
    let _ = read(CURRENT_COUNT);
    cycles() - start
}

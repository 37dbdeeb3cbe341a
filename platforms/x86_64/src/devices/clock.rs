//! Time: the time stamp counter, whose rate the hypervisor or the CPU states, or else the interval timer of the
//! PC measures.

use crate::cpu::{cpuid, cycles, inb, outb};
use crate::devices::rtc;
use satrap_sync::{AtomicU64, Ordering};

/// CPUID leaf in which hypervisors state the counter's rate in kHz.
const HYPERVISOR: u32 = 0x4000_0010;
/// The interval timer's rate in Hz, and its ports: channel 2, commands, and the gate of channel 2.
const PIT_RATE: u64 = 1_193_182;
const PIT_CHANNEL_2: u16 = 0x42;
const PIT_COMMAND: u16 = 0x43;
const PIT_GATE: u16 = 0x61;
/// How many of the interval timer's ticks are measured: 10 ms.
const TICKS: u16 = 11_932;
/// Readings of the interval timer before it is taken to be absent.
const TRIES: u32 = 10_000_000;
/// The rate that is assumed when nobody knows it.
const ASSUMED_KHZ: u64 = 1_000_000;

/// Rate of the counter in kHz.
static RATE: AtomicU64 = AtomicU64::new(ASSUMED_KHZ);
/// The counter at boot.
static START: AtomicU64 = AtomicU64::new(0);
/// Wall-clock time at boot, in ns since the Unix epoch.
static EPOCH: AtomicU64 = AtomicU64::new(0);

/// Starts the clock.
pub fn start() {
    let rate = stated().or_else(measured).unwrap_or(ASSUMED_KHZ);
    RATE.store(rate, Ordering::Relaxed);
    START.store(cycles(), Ordering::Relaxed);
    EPOCH.store(rtc::seconds().unwrap_or(0) * 1_000_000_000, Ordering::Relaxed);
}

/// Time since boot, in ns.
#[inline]
pub fn now() -> u64 {
    let elapsed = cycles().wrapping_sub(START.load(Ordering::Relaxed));
    (u128::from(elapsed) * 1_000_000 / u128::from(RATE.load(Ordering::Relaxed))) as u64
}

/// Time since the Unix epoch, in ns.
pub fn wall() -> u64 {
    EPOCH.load(Ordering::Relaxed) + now()
}

fn stated() -> Option<u64> {
    let hypervisor = u64::from(cpuid(HYPERVISOR, 0).eax);
    let crystal = cpuid(0x15, 0);
    let product = u64::from(crystal.ecx) * u64::from(crystal.ebx);
    let cpu = product.checked_div(u64::from(crystal.eax)).unwrap_or(0) / 1000;
    [hypervisor, cpu].into_iter().find(|&rate| rate != 0)
}

fn measured() -> Option<u64> {
    // SAFETY: the interval timer touches no memory; its channel 2 drives the loudspeaker, which stays off.
    unsafe {
        outb(PIT_GATE, inb(PIT_GATE) & !2 | 1);
        outb(PIT_COMMAND, 0xb0);
        outb(PIT_CHANNEL_2, 0xff);
        outb(PIT_CHANNEL_2, 0xff);
    }
    let start = cycles();
    (0..TRIES).find(|_| pit() <= u16::MAX - TICKS)?;
    let elapsed = cycles() - start;
    Some(elapsed * PIT_RATE / (u64::from(TICKS) * 1000)).filter(|&rate| rate > 0)
}

/// What is left of channel 2's count.
fn pit() -> u16 {
    // SAFETY: as in `measured`.
    unsafe {
        outb(PIT_COMMAND, 0x80);
        u16::from_le_bytes([inb(PIT_CHANNEL_2), inb(PIT_CHANNEL_2)])
    }
}

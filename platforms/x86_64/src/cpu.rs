//! The instructions of ring 0 that Rust has no name for.
//!
//! Thin: what they are for stands where they are used, mostly in `devices` and `memory`.

use core::arch::asm;
pub use core::arch::x86_64::{__cpuid_count as cpuid_leaf, _rdtsc, CpuidResult};

/// Result of CPUID; leaves that the CPU does not have read as zero.
pub fn cpuid(leaf: u32, subleaf: u32) -> CpuidResult {
    let highest = cpuid_leaf(leaf & 0xf000_0000, 0).eax;
    if leaf <= highest {
        cpuid_leaf(leaf, subleaf)
    } else {
        CpuidResult {
            eax: 0,
            ebx: 0,
            ecx: 0,
            edx: 0,
        }
    }
}

/// The time stamp counter.
#[inline]
pub fn cycles() -> u64 {
    // SAFETY: every 64-bit CPU has it, and it is not disabled in ring 0.
    unsafe { _rdtsc() }
}

/// Writes a byte to an I/O port.
///
/// # Safety
/// What the device behind the port does with it must not break memory.
pub unsafe fn outb(port: u16, value: u8) {
    // SAFETY: the caller's promise.
    unsafe { asm!("out dx, al", in("dx") port, in("al") value, options(nomem, nostack, preserves_flags)) }
}

/// Reads a byte from an I/O port.
///
/// # Safety
/// As for [`outb`].
pub unsafe fn inb(port: u16) -> u8 {
    let value;
    // SAFETY: the caller's promise.
    unsafe { asm!("in al, dx", in("dx") port, out("al") value, options(nomem, nostack, preserves_flags)) }
    value
}

/// Writes a model-specific register.
///
/// # Safety
/// The register exists, and the value keeps the kernel running.
pub unsafe fn write_msr(register: u32, value: u64) {
    let (low, high) = (value as u32, (value >> 32) as u32);
    // SAFETY: the caller's promise.
    unsafe { asm!("wrmsr", in("ecx") register, in("eax") low, in("edx") high, options(nostack)) }
}

/// Reads a model-specific register.
///
/// # Safety
/// The register exists.
pub unsafe fn read_msr(register: u32) -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: the caller's promise.
    unsafe { asm!("rdmsr", in("ecx") register, out("eax") low, out("edx") high, options(nostack)) }
    u64::from(low) | u64::from(high) << 32
}

/// Makes `root` the page table.
///
/// # Safety
/// It maps everything that the kernel uses.
pub unsafe fn set_page_table(root: u64) {
    // SAFETY: the caller's promise.
    unsafe { asm!("mov cr3, {}", in(reg) root, options(nostack)) }
}

/// Forgets what this CPU remembers of the page at `address`.
pub fn flush_page(address: usize) {
    // SAFETY: it only costs another look at the page table.
    unsafe { asm!("invlpg [{}]", in(reg) address, options(nostack, preserves_flags)) }
}

/// The address of the last page fault.
pub fn fault_address() -> u64 {
    let address;
    // SAFETY: reading it changes nothing.
    unsafe { asm!("mov {}, cr2", out(reg) address, options(nomem, nostack, preserves_flags)) }
    address
}

/// Lets XSAVE work for the state components `mask`.
///
/// # Safety
/// The CPU has XSAVE and those components.
pub unsafe fn enable_xsave(mask: u32) {
    const OSXSAVE: u64 = 1 << 18;
    // SAFETY: the caller's promise.
    unsafe {
        asm!("mov {t}, cr4", "or {t}, {bit}", "mov cr4, {t}", t = out(reg) _, bit = const OSXSAVE);
        asm!("xsetbv", in("ecx") 0, in("eax") mask, in("edx") 0, options(nostack));
    }
}

/// A random number of the CPU's own generator, which it must have; `None` if it has none ready.
pub fn random() -> Option<u64> {
    let (value, ready): (u64, u8);
    // SAFETY: the caller has asked CPUID, and it touches registers only.
    unsafe { asm!("rdrand {}", "setc {}", out(reg) value, out(reg_byte) ready, options(nomem, nostack)) }
    (ready != 0).then_some(value)
}

/// Lets interrupts come.
pub fn enable_interrupts() {
    // SAFETY: the handlers are installed before the first caller comes here, and they only divert Wasm code.
    unsafe { asm!("sti", options(nostack)) }
}

/// Holds interrupts back.
pub fn disable_interrupts() {
    // SAFETY: nothing waits for an interrupt but `wait_for_interrupt`, which lets them come.
    unsafe { asm!("cli", options(nostack)) }
}

/// Lets interrupts come and sleeps until one has. None is lost between the two: `sti` takes effect only behind
/// the instruction that follows it.
pub fn wait_for_interrupt() {
    // SAFETY: as for `enable_interrupts`.
    unsafe { asm!("sti", "hlt", options(nostack)) }
}

/// Stops this CPU for good.
pub fn stop() -> ! {
    loop {
        // SAFETY: nothing is to happen any more.
        unsafe { asm!("cli", "hlt", options(nomem, nostack)) }
    }
}

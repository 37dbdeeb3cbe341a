//! The end of the machine: QEMU's debug device hands a code to whoever started the emulator; a real machine
//! without the device resets.

use crate::cpu::{outb, stop};

/// Port of QEMU's `isa-debug-exit`, as `boot` places it.
const DEBUG_EXIT: u16 = 0xf4;
/// The keyboard controller's command port, and its command to reset the machine.
const CONTROLLER: u16 = 0x64;
const RESET: u8 = 0xfe;

/// Why the machine ends. QEMU exits with twice the number and one.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum End {
    /// The last process ended with success: QEMU exits with 33.
    Success = 16,
    /// The last process failed, trapped or was killed: 35.
    Failure = 17,
    /// The kernel could not start, or panicked: 37.
    Panic = 18,
}

/// Ends the machine.
pub fn off(end: End) -> ! {
    // SAFETY: nothing runs behind this.
    unsafe {
        outb(DEBUG_EXIT, end as u8);
        outb(CONTROLLER, RESET);
    }
    stop()
}

//! The last words of a kernel that faulted: signal, addresses, backtrace. Written in a signal handler, so
//! without allocation and straight to standard error.

use core::ffi::{c_int, c_void};
use core::fmt::{self, Write};
use core::ptr::null_mut;

const FRAMES_MAX: usize = 64;

/// Loads what a backtrace needs, while allocating is still allowed.
pub fn prepare() {
    let mut frame = [null_mut::<c_void>(); 1];
    // SAFETY: the buffer has room for the one frame asked for.
    unsafe { libc::backtrace(frame.as_mut_ptr(), 1) };
}

/// Reports a fault outside Wasm code. Addresses of the backtrace are for `addr2line`.
pub fn fault(signal: c_int, pc: usize, address: usize) {
    let name = match signal {
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGBUS => "SIGBUS",
        libc::SIGILL => "SIGILL",
        libc::SIGFPE => "SIGFPE",
        _ => "signal",
    };
    // Nobody is left to be told that standard error is closed.
    let _ = writeln!(
        StandardError,
        "satrap-hosted: the kernel faulted ({name} at {pc:#x}, address {address:#x}); this is a bug"
    );
    let mut frames = [null_mut::<c_void>(); FRAMES_MAX];
    // SAFETY: the buffer has room for as many frames as are asked for, and holds `count` of them after.
    unsafe {
        let count = libc::backtrace(frames.as_mut_ptr(), FRAMES_MAX as c_int);
        libc::backtrace_symbols_fd(frames.as_ptr(), count, libc::STDERR_FILENO);
    }
}

/// Standard error without locks and buffers.
struct StandardError;

impl Write for StandardError {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // SAFETY: the text is readable for its length.
        let written = unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
        if written < 0 { Err(fmt::Error) } else { Ok(()) }
    }
}

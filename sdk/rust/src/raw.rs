//! The kernel ABI: every function of the import module `satrap:kernel@1`. This list is normative; SDKs for
//! other languages copy it, and `kernel/engine` checks a program's imports against it.
//!
//! Pointers are offsets into the caller's linear memory, checked by the kernel on every call. A result of
//! type `i32` is 0 or positive for success and a negated [`Errno`](crate::Errno) otherwise. A *deadline* is
//! an absolute [`clock_now`] time: `u64::MAX` waits for ever, 0 never waits.
//!
//! All of the SDK's unsafe code is in this file and in its folder: `calls` makes safe functions of the list,
//! `view` turns mapped addresses into slices, `entry` is what the kernel calls.

use crate::Message;

pub(crate) mod calls;
mod entry;
pub(crate) mod view;

#[cfg_attr(target_family = "wasm", path = "raw/wasm.rs")]
#[cfg_attr(not(target_family = "wasm"), path = "raw/host.rs")]
#[macro_use]
mod declare;

pub(crate) use entry::ThreadBody;

kernel_calls! {
    /// Does nothing: the price of a kernel call, for benches.
    safe fn null();
    /// Ends the process with a code; 0 is success. Never returns.
    safe fn exit(code: i32);
    /// Lets the other threads that are ready run first.
    safe fn yield_now();
    /// Monotonic time in nanoseconds, the same on every satellite of the machine.
    safe fn clock_now() -> u64;
    /// Nanoseconds since the Unix epoch.
    safe fn clock_wall() -> u64;
    /// Waits until the deadline has passed.
    safe fn sleep_until(deadline: u64) -> i32;
    /// Fills `len` bytes with entropy.
    unsafe fn random(to: *mut u8, len: u32) -> i32;
    /// Writes one or more lines to stream 1 (output) or 2 (errors), at most 64 KiB a call.
    unsafe fn console_write(stream: i32, text: *const u8, len: u32) -> i32;
    /// Bytes that [`args_read`] writes.
    safe fn args_len() -> i32;
    /// Writes all arguments, each ended by a NUL; the first is the program's name.
    unsafe fn args_read(to: *mut u8) -> i32;
    /// The caller's process id, unique on the machine and never reused.
    safe fn process_id() -> u64;
    /// The number of the satellite kernel that the process runs on: N of `/kernel/N`.
    safe fn kernel_id() -> i32;

    /// Starts a thread: a new instance over the same memory, with its stack pointer at `stack_top` (16-byte
    /// aligned), in which `satrap_thread(function, argument)` is called. Returns the thread's id.
    unsafe fn thread_spawn(function: usize, argument: *mut (), stack_top: *const u8) -> i32;
    /// Waits until the thread has returned. Each thread can be joined once.
    safe fn thread_join(thread: i32) -> i32;
    /// The caller's thread id; the main thread is 0.
    safe fn thread_id() -> i32;
    /// Sets the caller's priority class: 0 (runs first) to 3 (runs last).
    safe fn thread_priority(class: i32) -> i32;

    /// Connects to a service: `name` is a channel of the manifest or, where the process may, an absolute
    /// path. Waits until the service is there. `contract` is 32 bytes; `out` receives an endpoint handle.
    unsafe fn bind(name: *const u8, len: u32, contract: *const u8, out: *mut u32, deadline: u64) -> i32;
    /// Registers a name of the manifest's `registers`; `out` receives a service handle.
    unsafe fn register(path: *const u8, len: u32, contract: *const u8, out: *mut u32) -> i32;
    /// Takes the next client of a service; `out` receives an endpoint handle.
    unsafe fn accept(service: u32, out: *mut u32, deadline: u64) -> i32;
    /// Writes the names below `prefix`, each ended by a NUL, as far as they fit; returns the bytes needed.
    unsafe fn list(prefix: *const u8, prefix_len: u32, to: *mut u8, len: u32) -> i32;
    /// Makes a channel whose two ends the caller holds; `out` receives the client's and the service's end.
    unsafe fn channel(contract: *const u8, out: *mut [u32; 2]) -> i32;
    /// Sends a message. Its handles and buffer leave the caller, unless the call fails.
    unsafe fn send(endpoint: u32, message: *const Message, deadline: u64) -> i32;
    /// Receives the next message into the place given.
    unsafe fn recv(endpoint: u32, message: *mut Message, deadline: u64) -> i32;
    /// [`send`], then [`recv`] into the same place, as one kernel call.
    unsafe fn call(endpoint: u32, message: *mut Message, deadline: u64) -> i32;
    /// Waits until one of `count` endpoints or services has something to take, or is closed; returns its
    /// index, the lowest if there are several.
    unsafe fn wait(handles: *const u32, count: u32, deadline: u64) -> i32;
    /// Closes an endpoint or a service, or frees a block.
    safe fn close(handle: u32) -> i32;

    /// A zeroed block of `len` bytes in the exchange heap; returns its handle.
    safe fn block_alloc(len: u32) -> i32;
    /// The block's length: what [`block_alloc`] was asked for.
    safe fn block_len(block: u32) -> i32;
    /// Copies out of a block.
    unsafe fn block_read(block: u32, offset: u32, to: *mut u8, len: u32) -> i32;
    /// Copies into a block.
    unsafe fn block_write(block: u32, offset: u32, from: *const u8, len: u32) -> i32;
    /// Maps the block into the window, page-aligned, until it is sent or closed; `out` receives the address.
    unsafe fn block_map(block: u32, out: *mut u32) -> i32;

    /// Gives the endpoint's sending direction a pool of `count` buffers; `out` receives the address of the
    /// first. Buffer i is at `out + i * stride`, where the stride is `size` rounded up to 64 bytes.
    unsafe fn pool_create(endpoint: u32, size: u32, count: u32, out: *mut u32) -> i32;
    /// Producer: the index of a free buffer, which is now the caller's to write.
    safe fn pool_acquire(endpoint: u32, deadline: u64) -> i32;
    /// Consumer: the received buffer has been read and may be used again.
    safe fn pool_release(endpoint: u32, index: u32) -> i32;
}

/// The NUL-terminated strings in `bytes`, as the kernel writes arguments and names.
pub(crate) fn strings(bytes: &[u8]) -> Vec<String> {
    let mut parts: Vec<String> = bytes
        .split(|byte| *byte == 0)
        .map(|part| String::from_utf8_lossy(part).into_owned())
        .collect();
    parts.pop_if(|last| last.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::strings;

    #[test]
    fn strings_end_at_their_nul() {
        assert_eq!(strings(b"png\0--port\0\x38\0"), ["png", "--port", "8"]);
        assert_eq!(strings(b"empty\0\0"), ["empty", ""]);
        assert!(strings(b"").is_empty());
    }
}

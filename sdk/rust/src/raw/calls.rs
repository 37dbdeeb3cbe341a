//! A safe function for each kernel call that takes pointers; results become `Result`s. The other calls of
//! the list are safe as they stand.
//!
//! One invariant carries every `SAFETY:` comment here (I1): a pointer and a length handed to the kernel come
//! from one Rust reference, borrowed for the whole call, mutably where the kernel writes.

use satrap_abi::Errno;

use super::ThreadBody;
use crate::Message;

type Result<T> = core::result::Result<T, Errno>;

/// A kernel call's result: 0 and above pass, anything else is an error. A code that this SDK does not know
/// comes from a newer kernel.
pub fn check(result: i32) -> Result<u32> {
    u32::try_from(result).map_err(|_| Errno::from_result(result).unwrap_or(Errno::Unsupported))
}

/// A slice's length as the ABI counts. Linear memory has 4 GiB, so a guest's slices always fit.
fn length(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

pub fn random(into: &mut [u8]) -> Result<()> {
    // SAFETY: I1.
    check(unsafe { super::random(into.as_mut_ptr(), length(into.len())) }).map(drop)
}

pub fn console_write(stream: i32, text: &[u8]) -> Result<()> {
    // SAFETY: I1.
    check(unsafe { super::console_write(stream, text.as_ptr(), length(text.len())) }).map(drop)
}

/// All arguments, each ended by a NUL.
pub fn args() -> Result<Vec<u8>> {
    let len = check(super::args_len())?;
    let mut bytes = vec![0; len as usize];
    // SAFETY: I1; the kernel writes `args_len` bytes, and arguments never change.
    check(unsafe { super::args_read(bytes.as_mut_ptr()) })?;
    Ok(bytes)
}

pub fn bind(name: &str, contract: &[u8; 32], deadline: u64) -> Result<u32> {
    let mut handle = 0;
    // SAFETY: I1.
    check(unsafe {
        super::bind(
            name.as_ptr(),
            length(name.len()),
            contract.as_ptr(),
            &mut handle,
            deadline,
        )
    })?;
    Ok(handle)
}

pub fn register(path: &str, contract: &[u8; 32]) -> Result<u32> {
    let mut handle = 0;
    // SAFETY: I1.
    check(unsafe { super::register(path.as_ptr(), length(path.len()), contract.as_ptr(), &mut handle) })?;
    Ok(handle)
}

pub fn accept(service: u32, deadline: u64) -> Result<u32> {
    let mut handle = 0;
    // SAFETY: I1.
    check(unsafe { super::accept(service, &mut handle, deadline) })?;
    Ok(handle)
}

/// Writes what fits of the names below `prefix`, and returns how many bytes all of them need.
pub fn list(prefix: &str, into: &mut [u8]) -> Result<usize> {
    let (from, to) = (prefix.as_ptr(), into.as_mut_ptr());
    // SAFETY: I1, for both slices.
    check(unsafe { super::list(from, length(prefix.len()), to, length(into.len())) }).map(|len| len as usize)
}

/// Handles of the client's end and of the service's end.
pub fn channel(contract: &[u8; 32]) -> Result<[u32; 2]> {
    let mut ends = [0; 2];
    // SAFETY: I1.
    check(unsafe { super::channel(contract.as_ptr(), &mut ends) })?;
    Ok(ends)
}

pub fn send(endpoint: u32, message: &Message, deadline: u64) -> Result<()> {
    // SAFETY: I1; `Message` has the ABI's layout.
    check(unsafe { super::send(endpoint, message, deadline) }).map(drop)
}

pub fn recv(endpoint: u32, message: &mut Message, deadline: u64) -> Result<()> {
    // SAFETY: I1; `Message` has the ABI's layout, and any bytes are a valid one.
    check(unsafe { super::recv(endpoint, message, deadline) }).map(drop)
}

pub fn call(endpoint: u32, message: &mut Message, deadline: u64) -> Result<()> {
    // SAFETY: I1; as in `recv`.
    check(unsafe { super::call(endpoint, message, deadline) }).map(drop)
}

pub fn wait(handles: &[u32], deadline: u64) -> Result<usize> {
    // SAFETY: I1.
    check(unsafe { super::wait(handles.as_ptr(), length(handles.len()), deadline) })
        .map(|index| index as usize)
}

pub fn block_read(block: u32, offset: u32, into: &mut [u8]) -> Result<()> {
    // SAFETY: I1.
    check(unsafe { super::block_read(block, offset, into.as_mut_ptr(), length(into.len())) }).map(drop)
}

pub fn block_write(block: u32, offset: u32, bytes: &[u8]) -> Result<()> {
    // SAFETY: I1.
    check(unsafe { super::block_write(block, offset, bytes.as_ptr(), length(bytes.len())) }).map(drop)
}

/// Address of the mapped block.
pub fn block_map(block: u32) -> Result<u32> {
    let mut address = 0;
    // SAFETY: I1.
    check(unsafe { super::block_map(block, &mut address) })?;
    Ok(address)
}

/// Address of the pool's first buffer.
pub fn pool_create(endpoint: u32, size: u32, count: u32) -> Result<u32> {
    let mut address = 0;
    // SAFETY: I1.
    check(unsafe { super::pool_create(endpoint, size, count, &mut address) })?;
    Ok(address)
}

/// Starts a thread that runs `body` on a stack that ends at `stack_top`, whose memory the body itself keeps
/// until it has run.
pub fn thread_spawn(body: ThreadBody, stack_top: *const u8) -> Result<u32> {
    let argument = body.into_raw();
    // SAFETY: I2 of `ThreadBody`: the kernel hands the argument to `satrap_thread` once, or fails.
    let started = check(unsafe { super::thread_spawn(0, argument, stack_top) });
    if started.is_err() {
        // SAFETY: I2: the call failed, so no thread was given the argument.
        drop(unsafe { ThreadBody::from_raw(argument) });
    }
    started
}

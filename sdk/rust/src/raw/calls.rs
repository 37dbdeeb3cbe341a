//! A safe function for each kernel call that takes pointers; results become `Result`s. The other calls of
//! the list are safe as they stand.
//!
//! Two invariants carry the `SAFETY:` comments here. I1: a pointer and a length handed to the kernel come
//! from one Rust reference, borrowed for the whole call, mutably where the kernel writes. I4: a call that
//! succeeded may have written all of the place that it was given; what the ABI does not say of its bytes is
//! unspecified, but there.

use satrap_abi::Errno;
use satrap_abi::call::message as layout;
use satrap_abi::limits::HANDLES_MAX;

use super::ThreadBody;
use crate::Message;
use crate::wire::{Fixed, Place};

type Result<T> = core::result::Result<T, Errno>;

/// A kernel call's result: 0 and above pass, anything else is an error. A code that this SDK does not know
/// comes from a newer kernel.
#[inline]
pub fn check(result: i32) -> Result<u32> {
    u32::try_from(result).map_err(|_| refusal(result))
}

#[cold]
fn refusal(result: i32) -> Errno {
    Errno::from_result(result).unwrap_or(Errno::Unsupported)
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

/// Receives into a place that need not hold anything yet.
#[inline]
pub fn recv_into(endpoint: u32, place: &mut Place, deadline: u64) -> Result<&mut Message> {
    // SAFETY: I1; `Message` has the ABI's layout.
    check(unsafe { super::recv(endpoint, place.as_mut_ptr(), deadline) })?;
    // SAFETY: I4; any bytes are a valid message.
    Ok(unsafe { place.assume_init_mut() })
}

#[inline]
pub fn send_fixed<const N: usize, const H: usize>(
    endpoint: u32,
    message: Fixed<N, H>,
    deadline: u64,
) -> Result<()> {
    let mut place = Place::uninit();
    lay_out(message, &mut place);
    // SAFETY: I1; `Message` has the ABI's layout, and what the kernel reads of it was laid out.
    check(unsafe { super::send(endpoint, place.as_ptr(), deadline) }).map(drop)
}

/// The answer takes the message's place.
#[inline]
pub fn call_fixed<const N: usize, const H: usize>(
    endpoint: u32,
    message: Fixed<N, H>,
    place: &mut Place,
    deadline: u64,
) -> Result<&mut Message> {
    lay_out(message, place);
    // SAFETY: I1; as in `send_fixed` and `recv_into`.
    check(unsafe { super::call(endpoint, place.as_mut_ptr(), deadline) })?;
    // SAFETY: I4; any bytes are a valid message.
    Ok(unsafe { place.assume_init_mut() })
}

/// Writes of a message what the kernel reads: the head, the inline arguments, and the handles if there are
/// any; the rest of its 96 bytes would cost more than these. In whole words, as the kernel reads them: a
/// processor forwards a store to a load of the same place and size, and stalls where several stores make up
/// what is loaded.
#[inline]
fn lay_out<const N: usize, const H: usize>(message: Fixed<N, H>, place: &mut Place) {
    let place = place.as_mut_ptr();
    let put = |offset: usize, word: u64| {
        // SAFETY: the words written below end within the place that is borrowed here: the fields' offsets are
        // the layout's, and `Fixed` has made sure at compile time that `N` and `H` fit into its fields.
        unsafe {
            place
                .cast::<u8>()
                .add(offset)
                .cast::<u64>()
                .write_unaligned(word.to_le())
        }
    };
    let lengths = u64::from(message.inline_len) << 16 | (H as u64) << 24;
    put(
        layout::TAG,
        u64::from(message.tag) | lengths | u64::from(message.buffer) << 32,
    );
    put(layout::BUFFER_ADDRESS, u64::from(message.buffer_len) << 32);
    if H > 0 {
        let mut handles = [0; HANDLES_MAX];
        handles[..H].copy_from_slice(&message.handles);
        put(
            layout::HANDLES,
            u64::from(handles[0]) | u64::from(handles[1]) << 32,
        );
        put(
            layout::HANDLES + 8,
            u64::from(handles[2]) | u64::from(handles[3]) << 32,
        );
    }
    for (index, word) in message.inline.as_chunks().0.iter().enumerate() {
        put(layout::INLINE + 8 * index, u64::from_le_bytes(*word));
    }
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

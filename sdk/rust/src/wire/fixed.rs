//! Messages that are their fixed part and nothing more: numbers, handles and at most one pool buffer, inline.
//!
//! Their size and the number of their handles are known when the contract is compiled, so that writing one is
//! a few stores and reading one is a comparison and a few loads. The bytes are the ones that [`Writer`] makes
//! and [`Reader`] takes; whatever else arrives is left to `Reader`, which says what is wrong with it.
//! Neighbours: `values.rs` (the kinds of values), `raw/calls.rs` (where a [`Fixed`] is laid out).
//!
//! [`Writer`]: super::Writer
//! [`Reader`]: super::Reader

use super::super::{Block, Buffer, Endpoint, Error, Message};
use super::{Layout, Malformed, close};
use std::mem::MaybeUninit;

/// Where the kernel puts a message, without anything in it before.
pub type Place = MaybeUninit<Message>;

/// A value that is its fixed part: it has no tail, and no handle moves with it.
pub trait Plain: Layout + Sized {
    /// Writes the value at the offset `at` of a body of zeroes, which is long enough.
    fn write(&self, body: &mut [u8], at: usize);

    /// Reads the value at the offset `at`.
    ///
    /// # Errors
    ///
    /// The body ends too early, or the bytes are no such value.
    fn read(body: &[u8], at: usize) -> Result<Self, Malformed>;
}

/// Something whose handle moves with a message.
pub trait Carried {
    /// Gives up the handle.
    fn into_raw(self) -> u32;

    /// Takes over a handle that came with a message.
    fn from_raw(handle: u32) -> Self;
}

macro_rules! carried {
    ($($type:ty;)*) => {$(
        impl Carried for $type {
            #[inline]
            fn into_raw(self) -> u32 {
                self.into_raw()
            }

            #[inline]
            fn from_raw(handle: u32) -> Self {
                <$type>::from_raw(handle)
            }
        }
    )*};
}

carried! {
    Block;
    Endpoint;
}

/// A message with `H` handles and a body of at most `N` bytes, `N` being a multiple of a word: the kernel
/// reads whole words, and the last one shall not tell what stood on the stack.
#[derive(Debug)]
pub struct Fixed<const N: usize, const H: usize> {
    pub(crate) tag: u16,
    pub(crate) inline_len: u8,
    pub(crate) buffer: u32,
    pub(crate) buffer_len: u32,
    pub(crate) handles: [u32; H],
    pub(crate) inline: [u8; N],
}

impl<const N: usize, const H: usize> Fixed<N, H> {
    /// A message whose body is `inline_len` zeroes.
    #[inline]
    pub fn new(tag: u16, inline_len: u8) -> Fixed<N, H> {
        const { assert!(N.is_multiple_of(8) && N <= 64 && H <= 4) };
        Fixed {
            tag,
            inline_len,
            buffer: 0,
            buffer_len: 0,
            handles: [0; H],
            inline: [0; N],
        }
    }

    /// Writes a value at an offset.
    #[inline]
    pub fn put(&mut self, at: usize, value: &impl Plain) {
        value.write(&mut self.inline, at);
    }

    /// Attaches handle number `index`, and names it at an offset.
    #[inline]
    pub fn attach(&mut self, at: usize, index: u32, carried: impl Carried) {
        self.handles[index as usize] = carried.into_raw();
        self.put(at, &index);
    }

    /// Attaches the message's pool buffer.
    #[inline]
    pub fn buffer(&mut self, buffer: Buffer) {
        (self.buffer, self.buffer_len) = buffer.into_parts();
    }
}

/// The body of a received message that has exactly `N` bytes inline, and `H` handles.
///
/// That a pool buffer came, or none, is for the kernel to see to, and for [`claim_buffer`](super::claim_buffer).
#[inline]
pub fn body<const N: usize, const H: u8>(message: &Message) -> Option<&[u8; N]> {
    // Both at once: they are neighbours in the message.
    let lengths = u16::from_le_bytes([message.inline_len, message.handle_count]);
    let expected = const { u16::from_le_bytes([N as u8, H]) };
    message.inline.first_chunk().filter(|_| lengths == expected)
}

/// The error of a message that cannot come in this state.
#[cold]
pub fn wrong_tag() -> Error {
    Malformed::Tag.into()
}

/// Receives the next message.
///
/// # Errors
///
/// The kernel's.
#[inline]
pub fn recv<'m>(endpoint: &Endpoint, place: &'m mut Place) -> Result<&'m mut Message, Error> {
    endpoint.recv_into(place)
}

/// [`recv`] with a deadline.
///
/// # Errors
///
/// The kernel's.
#[inline]
pub fn recv_until<'m>(
    endpoint: &Endpoint,
    place: &'m mut Place,
    deadline: u64,
) -> Result<&'m mut Message, Error> {
    endpoint.recv_into_until(place, deadline)
}

/// Sends a message. If that fails, what it carries is closed.
///
/// # Errors
///
/// The kernel's.
#[inline]
pub fn send_fixed<const N: usize, const H: usize>(
    endpoint: &Endpoint,
    message: Fixed<N, H>,
) -> Result<(), Error> {
    let handles = message.handles;
    endpoint
        .send_fixed(message)
        .inspect_err(|_| handles.into_iter().for_each(close))
}

/// Sends a message and receives the next one: one kernel call. If that fails, what the message carried is
/// closed, as [`call`](super::call) does.
///
/// # Errors
///
/// The kernel's.
#[inline]
pub fn call_fixed<'m, const N: usize, const H: usize>(
    endpoint: &Endpoint,
    message: Fixed<N, H>,
    place: &'m mut Place,
) -> Result<&'m mut Message, Error> {
    let handles = message.handles;
    endpoint
        .call_fixed(message, place)
        .inspect_err(|_| handles.into_iter().for_each(close))
}

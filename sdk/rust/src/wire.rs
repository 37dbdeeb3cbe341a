//! The encoding of messages, called by the code that the contract compiler generates.
//!
//! Principles: there is one encoding of each value, so the reader demands each piece of the tail exactly
//! where the writer puts it, and no input can name a byte twice or make the reader allocate more than a
//! small multiple of the body; nothing allocates for a message of numbers, and the general way of this file
//! is not even taken for it (`fixed.rs`). What is decoded comes from a hostile peer. Neighbours:
//! `contracts/compiler` (computes the same layout), `base/abi` (the message).
//!
//! # Layout
//!
//! The layout is the component model's canonical one (little-endian, natural alignment), with offsets from
//! the start of the body instead of pointers: first the parameters, like a record (the *fixed part*), then
//! the *tail*, which holds the contents of strings and lists in the order in which they are met. A body of
//! at most 64 bytes is inline; a longer one is *spilled* into a block, the message's first handle, and no
//! byte is inline. `list<u8>` of a page or more travels in a block of its own (DESIGN §5).

#[path = "wire/bytes.rs"]
mod bytes;
#[path = "wire/fixed.rs"]
mod fixed;
#[path = "wire/values.rs"]
mod values;

pub use bytes::{Body, Bytes};
pub use fixed::{Carried, Fixed, Place, Plain, body, call_fixed, recv, recv_until, send_fixed, wrong_tag};

use super::{Block, Buffer, Endpoint, Error, Message, ReceivedBuffer};
use std::fmt;

/// Bytes of a message that travel in line.
const INLINE: usize = 64;
/// A `list<u8>` of at least this many bytes travels in a block of its own.
pub const PAGE: usize = 4096;
/// Longest body, in bytes: the longest block.
pub const BODY_MAX: usize = 256 << 20;
/// In the offset of a `list<u8>`: the bytes are in a block, whose index is in the other bits.
const IN_BLOCK: u32 = 1 << 31;

/// Why a body does not decode: the peer broke the encoding, or a value cannot be encoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Malformed {
    /// The message is not one that can come in this state.
    Tag,
    /// The body ends before the value does.
    Short,
    /// Bytes follow the last value.
    Trailing,
    /// A string or list is not where the encoding puts it.
    Misplaced,
    /// A string is not UTF-8.
    Text,
    /// A number is not a Unicode scalar value.
    Char,
    /// A bool is neither 0 nor 1.
    Bool,
    /// A variant or an enum has no such case.
    Case,
    /// A flags type has no such flag.
    Flags,
    /// A handle is missing, named twice, or not named at all.
    Handle,
    /// A block's length is not the one that was stated.
    BlockLength,
    /// The body does not fit into a block, or into this process.
    TooLarge,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Malformed::Tag => "a message that cannot come in this state",
            Malformed::Short => "a message that ends too early",
            Malformed::Trailing => "bytes after the end of a message",
            Malformed::Misplaced => "a string or list in the wrong place of a message",
            Malformed::Text => "a string that is not UTF-8",
            Malformed::Char => "a character that is no Unicode scalar value",
            Malformed::Bool => "a bool that is neither 0 nor 1",
            Malformed::Case => "a case that the type does not have",
            Malformed::Flags => "a flag that the type does not have",
            Malformed::Handle => "a handle that is missing or unclaimed",
            Malformed::BlockLength => "a block of another length than stated",
            Malformed::TooLarge => "a message that is too large",
        })
    }
}

impl std::error::Error for Malformed {}

/// How many bytes a value takes in the fixed part, and where it may start.
pub trait Layout {
    /// Bytes, a multiple of the alignment.
    const SIZE: usize;
    /// A power of two, at most 8.
    const ALIGN: usize;
}

/// A value that can be written. A reference where the value may be used again; the value itself where it
/// holds blocks or endpoints, which move with the message.
pub trait Encode {
    /// Writes the value at the offset `at` of the body, and what hangs from it to the tail.
    ///
    /// # Errors
    ///
    /// There is no memory for a block, or the body becomes too large.
    fn encode(self, writer: &mut Writer<'_>, at: usize) -> Result<(), Error>;
}

/// A value that can be read.
pub trait Decode: Layout + Sized {
    /// Reads the value at the offset `at` of the body.
    ///
    /// # Errors
    ///
    /// [`Malformed`], or a kernel call on a block failed.
    fn decode(reader: &mut Reader<'_>, at: usize) -> Result<Self, Error>;
}

/// The next multiple of `align`, a power of two.
pub const fn align_up(offset: usize, align: usize) -> usize {
    (offset + align - 1) & !(align - 1)
}

/// Writes one message's body. What it attached is closed again unless [`Writer::finish`] succeeds.
#[derive(Debug)]
pub struct Writer<'m> {
    message: &'m mut Message,
    /// The body, once it is spilled.
    heap: Vec<u8>,
    len: usize,
    spilled: bool,
    blocks: u8,
    finished: bool,
}

impl<'m> Writer<'m> {
    /// A body with a fixed part of `fixed` bytes, of which up to `blocks` byte lists may get blocks.
    #[inline]
    pub fn new(message: &'m mut Message, fixed: usize, blocks: u8) -> Writer<'m> {
        message.handle_count = 0;
        message.buffer = 0;
        let spilled = fixed > INLINE;
        let heap = if spilled { vec![0; fixed] } else { Vec::new() };
        Writer {
            message,
            heap,
            len: fixed,
            spilled,
            blocks,
            finished: false,
        }
    }

    #[inline]
    fn body(&mut self) -> &mut [u8] {
        if self.spilled {
            &mut self.heap
        } else {
            &mut self.message.inline
        }
    }

    /// Writes a value into a part of the body that is already reserved.
    #[inline]
    pub fn put(&mut self, at: usize, value: &impl Plain) {
        value.write(self.body(), at);
    }

    /// Adds `len` zeroed bytes to the tail, and says where they are.
    ///
    /// # Errors
    ///
    /// [`Malformed::TooLarge`].
    fn reserve(&mut self, len: usize, align: usize) -> Result<usize, Error> {
        let at = align_up(self.len, align);
        let end = at
            .checked_add(len)
            .filter(|&end| end <= BODY_MAX)
            .ok_or(Malformed::TooLarge)?;
        if end > INLINE && !self.spilled {
            self.heap = self.message.inline[..self.len].to_vec();
            self.spilled = true;
        }
        if self.spilled {
            self.heap.resize(end, 0);
        } else {
            self.message.inline[self.len..end].fill(0);
        }
        self.len = end;
        Ok(at)
    }

    /// Reserves a list's elements in the tail and writes its offset and count at `at`.
    fn begin_list(&mut self, at: usize, count: usize, size: usize, align: usize) -> Result<usize, Error> {
        let bytes = count.checked_mul(size).ok_or(Malformed::TooLarge)?;
        let start = if bytes == 0 {
            0
        } else {
            self.reserve(bytes, align)?
        };
        // Both fit: `reserve` keeps the body, and so the count of elements of a byte or more, under 2^31.
        self.put(at, &(start as u32));
        self.put(at + 4, &(count as u32));
        Ok(start)
    }

    fn put_text(&mut self, at: usize, bytes: &[u8]) -> Result<(), Error> {
        let start = self.begin_list(at, bytes.len(), 1, 1)?;
        self.body()[start..start + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn put_bytes(&mut self, at: usize, bytes: &[u8]) -> Result<(), Error> {
        if !self.wants_block(bytes.len()) {
            return self.put_text(at, bytes);
        }
        let mut block = Block::alloc(bytes.len())?;
        block.write(0, bytes)?;
        self.put_block(at, block);
        Ok(())
    }

    /// Whether a byte list of this length travels in a block of its own.
    fn wants_block(&self, len: usize) -> bool {
        len >= PAGE && self.blocks > 0
    }

    fn put_block(&mut self, at: usize, block: Block) {
        let len = block.len() as u32;
        let index = self.attach(block.into_raw());
        self.blocks -= 1;
        self.put(at, &(IN_BLOCK | index));
        self.put(at + 4, &len);
    }

    /// Attaches a handle and returns its number in the body. The contract bounds how many there are.
    fn attach(&mut self, handle: u32) -> u32 {
        let index = self.message.handle_count;
        self.message.handles[index as usize] = handle;
        self.message.handle_count += 1;
        index as u32
    }

    /// Attaches the message's pool buffer.
    pub fn buffer(&mut self, buffer: Buffer) {
        buffer.attach(self.message);
    }

    /// Completes the message.
    ///
    /// # Errors
    ///
    /// There is no memory for the block of a spilled body.
    #[inline]
    pub fn finish(mut self) -> Result<(), Error> {
        if self.spilled {
            self.spill()?;
        } else {
            self.message.inline_len = self.len as u8;
        }
        self.finished = true;
        Ok(())
    }

    #[cold]
    fn spill(&mut self) -> Result<(), Error> {
        let mut block = Block::alloc(self.heap.len())?;
        block.write(0, &self.heap)?;
        self.message
            .handles
            .copy_within(0..self.message.handle_count as usize, 1);
        self.message.handles[0] = block.into_raw();
        self.message.handle_count += 1;
        self.message.inline_len = 0;
        Ok(())
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        if !self.finished {
            close_handles(self.message);
        }
    }
}

/// Reads one message's body. Handles that were not claimed are closed when it is dropped.
#[derive(Debug)]
pub struct Reader<'m> {
    inline: &'m [u8],
    /// The body, if it was spilled.
    heap: Option<Vec<u8>>,
    /// The handles that the body may name; each is taken once.
    handles: [Option<u32>; 4],
    /// End of what was read of the tail.
    cursor: usize,
}

impl<'m> Reader<'m> {
    /// Takes a received message's handles and opens its body, whose fixed part has `fixed` bytes.
    ///
    /// # Errors
    ///
    /// [`Malformed::Short`], or the block of a spilled body cannot be read.
    #[inline]
    pub fn open(message: &'m mut Message, fixed: usize) -> Result<Reader<'m>, Error> {
        let count = std::mem::take(&mut message.handle_count) as usize;
        let handles = std::array::from_fn(|index| (index < count).then_some(message.handles[index]));
        let inline = &message.inline[..INLINE.min(message.inline_len as usize)];
        let mut reader = Reader {
            inline,
            heap: None,
            handles,
            cursor: fixed,
        };
        if inline.is_empty() && fixed > 0 {
            reader.unspill()?;
        }
        if reader.body().len() < fixed {
            Err(Malformed::Short.into())
        } else {
            Ok(reader)
        }
    }

    #[cold]
    fn unspill(&mut self) -> Result<(), Error> {
        let block = Block::from_raw(self.handles[0].take().ok_or(Malformed::Short)?);
        self.handles.rotate_left(1);
        self.heap = Some(read_block(&block)?);
        Ok(())
    }

    #[inline]
    fn body(&self) -> &[u8] {
        self.heap.as_deref().unwrap_or(self.inline)
    }

    /// Reads a value.
    ///
    /// # Errors
    ///
    /// As [`Plain::read`].
    #[inline]
    pub fn get<T: Plain>(&self, at: usize) -> Result<T, Malformed> {
        T::read(self.body(), at)
    }

    /// Reads an offset and a count at `at`, checks them, and moves past the elements.
    fn list(&mut self, at: usize, size: usize, align: usize) -> Result<(usize, usize), Malformed> {
        let start = self.get::<u32>(at)? as usize;
        let count = self.get::<u32>(at + 4)? as usize;
        if count == 0 {
            return if start == 0 {
                Ok((0, 0))
            } else {
                Err(Malformed::Misplaced)
            };
        }
        let bytes = count
            .checked_mul(size)
            .filter(|&bytes| bytes > 0)
            .ok_or(Malformed::Misplaced)?;
        let end = start.checked_add(bytes).ok_or(Malformed::Short)?;
        if start != align_up(self.cursor, align) {
            return Err(Malformed::Misplaced);
        }
        if end > self.body().len() {
            return Err(Malformed::Short);
        }
        self.cursor = end;
        Ok((start, count))
    }

    fn text(&mut self, at: usize) -> Result<&[u8], Malformed> {
        let (start, count) = self.list(at, 1, 1)?;
        Ok(&self.body()[start..start + count])
    }

    /// Takes the handle that the body names by this number.
    fn handle(&mut self, index: u32) -> Result<u32, Malformed> {
        let slot = self.handles.get_mut(index as usize).ok_or(Malformed::Handle)?;
        slot.take().ok_or(Malformed::Handle)
    }

    /// Checks that the body and the handles were used up.
    ///
    /// # Errors
    ///
    /// [`Malformed::Trailing`] or [`Malformed::Handle`].
    #[inline]
    pub fn finish(self) -> Result<(), Error> {
        if self.cursor != self.body().len() {
            return Err(Malformed::Trailing.into());
        }
        if self.handles.iter().any(Option::is_some) {
            Err(Malformed::Handle.into())
        } else {
            Ok(())
        }
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        self.handles.iter_mut().filter_map(Option::take).for_each(close);
    }
}

/// A block's contents, without trusting that they fit into this process.
fn read_block(block: &Block) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(block.len())
        .map_err(|_| Malformed::TooLarge)?;
    bytes.resize(block.len(), 0);
    block.read(0, &mut bytes)?;
    Ok(bytes)
}

/// Closes whatever a handle names: the kernel's `close` is the same for all kinds.
fn close(handle: u32) {
    drop(Endpoint::from_raw(handle));
}

/// Closes the handles of a message that was not sent.
fn close_handles(message: &mut Message) {
    let count = std::mem::take(&mut message.handle_count) as usize;
    message.handles[..count].iter().copied().for_each(close);
}

/// Sends a complete message. If that fails, what it carries is closed.
///
/// # Errors
///
/// The kernel's.
#[inline]
pub fn send(endpoint: &Endpoint, message: &mut Message) -> Result<(), Error> {
    endpoint.send(message).inspect_err(|_| close_handles(message))
}

/// Sends a complete message and receives the next one into the same place: one kernel call. If that fails,
/// what the message carried is closed. It may have been sent before the failure; closing it is harmless
/// then, because the generation in a handle keeps it from naming anything else.
///
/// # Errors
///
/// The kernel's.
#[inline]
pub fn call(endpoint: &Endpoint, message: &mut Message) -> Result<(), Error> {
    endpoint.call(message).inspect_err(|_| close_handles(message))
}

/// Takes the pool buffer that arrived with a message.
///
/// # Errors
///
/// None came, or it is not one of this endpoint's pool.
pub fn claim_buffer(endpoint: &Endpoint, message: &Message) -> Result<ReceivedBuffer, Error> {
    endpoint.claim_buffer(message)
}

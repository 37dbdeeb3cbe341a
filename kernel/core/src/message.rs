//! A message inside the kernel, and how it stands in the words of a ring.
//!
//! A message is taken apart and checked once where it enters, from a guest or a link, and trusted from then
//! on. `calls` copies it from and to guests; `rmp` from and to rings.

use crate::{
    endpoint::Endpoint,
    heap::{Block, ExchangeHeap},
    rmp::ForeignBlock,
};
use alloc::{boxed::Box, sync::Arc};
use satrap_abi::{Errno, limits::HANDLES_MAX};
use satrap_link::{Frame, FrameHeader, FrameReceiver};
use satrap_table::HandleKind;

/// Words of inline arguments.
pub(crate) const INLINE_WORDS: usize = 8;
/// Header flag: a word with a pool buffer's index and length follows the inline arguments.
const FLAG_BUFFER: u8 = 1;

/// Something whose ownership moves with a message.
pub enum Capability {
    /// A block of this satellite's exchange heap.
    Block(Block),
    /// A block that still lies in a peer's exchange heap, to be copied when the message is received.
    Foreign(ForeignBlock),
    /// One end of a channel.
    Endpoint(Box<Endpoint>),
}

impl Capability {
    /// What the contract calls it.
    pub(crate) fn kind(&self) -> HandleKind {
        match self {
            Capability::Block(_) | Capability::Foreign(_) => HandleKind::Block,
            Capability::Endpoint(_) => HandleKind::Endpoint,
        }
    }

    /// Payload bytes that it stands for.
    pub(crate) fn payload(&self) -> u64 {
        match self {
            Capability::Block(block) => u64::from(block.len()),
            Capability::Foreign(block) => u64::from(block.len()),
            Capability::Endpoint(_) => 0,
        }
    }

    /// The block that it is, copied into `heap` if it still lies with a peer (Helios §3.6).
    ///
    /// # Errors
    /// [`Errno::BadHandle`] for an endpoint, [`Errno::NoMemory`] when the heap is full.
    pub fn into_block(self, heap: &Arc<ExchangeHeap>) -> Result<Block, Errno> {
        match self {
            Capability::Block(block) => Ok(block),
            Capability::Foreign(foreign) => foreign.copy(heap),
            Capability::Endpoint(_) => Err(Errno::BadHandle),
        }
    }
}

/// The capabilities of one message, in order.
pub(crate) type Cargo = [Option<Capability>; HANDLES_MAX];

/// A pool buffer that travels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BufferRef {
    /// Its index in the pool.
    pub index: u32,
    /// How many of its bytes are meant.
    pub len: u32,
}

/// A message.
#[derive(Default)]
pub struct Message {
    /// Which message of the contract.
    pub tag: u16,
    /// Bytes of inline arguments, at most 64.
    pub inline_len: u8,
    /// Inline arguments, little-endian.
    pub inline: [u64; INLINE_WORDS],
    /// Pool buffer that travels.
    pub buffer: Option<BufferRef>,
    /// Blocks and endpoints that travel, if any.
    pub(crate) cargo: Option<Box<Cargo>>,
}

impl Message {
    /// A message with nothing in it but its tag.
    pub fn new(tag: u16) -> Message {
        Message {
            tag,
            ..Message::default()
        }
    }

    /// How many capabilities travel.
    pub(crate) fn handle_count(&self) -> usize {
        self.cargo
            .as_ref()
            .map_or(0, |cargo| cargo.iter().flatten().count())
    }

    /// The kinds of the capabilities, in order.
    pub(crate) fn kinds(&self, into: &mut [HandleKind; HANDLES_MAX]) -> usize {
        let cargo = self.cargo.as_deref().into_iter().flatten().flatten();
        into.iter_mut()
            .zip(cargo)
            .map(|(kind, capability)| *kind = capability.kind())
            .count()
    }

    /// Adds a capability; false when there are too many.
    pub fn push(&mut self, capability: Capability) -> bool {
        let cargo = self.cargo.get_or_insert_default();
        match cargo.iter_mut().find(|place| place.is_none()) {
            Some(place) => {
                *place = Some(capability);
                true
            }
            None => false,
        }
    }

    /// Takes the capabilities out, in order.
    pub fn take_capabilities(&mut self) -> impl Iterator<Item = Capability> + use<> {
        let cargo = self.cargo.take().map(|cargo| *cargo).unwrap_or_default();
        cargo.into_iter().flatten()
    }

    /// Payload bytes, wherever they lie.
    pub(crate) fn payload(&self) -> u64 {
        let cargo = self.cargo.as_deref().into_iter().flatten().flatten();
        let buffer = self.buffer.map_or(0, |buffer| u64::from(buffer.len));
        u64::from(self.inline_len) + buffer + cargo.map(Capability::payload).sum::<u64>()
    }

    /// Writes it as a frame of `kind` behind `prefix` words; returns how many words it has.
    pub(crate) fn encode(&self, kind: u8, prefix: &[u64], words: &mut [u64; 14]) -> usize {
        let header = FrameHeader {
            kind,
            tag: self.tag,
            inline_len: self.inline_len,
            handle_count: self.handle_count() as u8,
            flags: if self.buffer.is_some() { FLAG_BUFFER } else { 0 },
        };
        words[0] = header.pack();
        words[1..1 + prefix.len()].copy_from_slice(prefix);
        let mut len = 1 + prefix.len();
        let inline = usize::from(self.inline_len).div_ceil(8);
        words[len..len + inline].copy_from_slice(&self.inline[..inline]);
        len += inline;
        if let Some(buffer) = self.buffer {
            words[len] = u64::from(buffer.index) | u64::from(buffer.len) << 32;
            len += 1;
        }
        len
    }

    /// Reads it from a frame with `prefix` words before its arguments; how many capabilities belong to it is
    /// the second result. `None` if the frame is too short for what its header says.
    pub(crate) fn decode(header: FrameHeader, prefix: usize, words: &[u64]) -> Option<(Message, usize)> {
        let mut message = Message {
            tag: header.tag,
            inline_len: header.inline_len,
            ..Message::default()
        };
        let inline = usize::from(header.inline_len).div_ceil(8);
        let at = 1 + prefix;
        message.inline[..inline].copy_from_slice(words.get(at..at + inline)?);
        if header.flags & FLAG_BUFFER != 0 {
            let word = *words.get(at + inline)?;
            message.buffer = Some(BufferRef {
                index: word as u32,
                len: (word >> 32) as u32,
            });
        }
        Some((message, usize::from(header.handle_count)))
    }

    /// Reads the next message of a local ring. Only this kernel writes such rings, so that a malformed frame
    /// is a bug of ours: it ends the channel, not the kernel.
    pub(crate) fn take(ring: &mut impl FrameReceiver) -> Result<Option<(Message, usize)>, Broken> {
        let Some(frame) = ring.receive().map_err(|_| Broken)? else {
            return Ok(None);
        };
        Message::from_frame(&frame, 0).map(Some)
    }

    /// Reads a message from a frame.
    pub(crate) fn from_frame(frame: &Frame, prefix: usize) -> Result<(Message, usize), Broken> {
        let header = frame.header().map_err(|_| Broken)?;
        Message::decode(header, prefix, frame.words()).ok_or(Broken)
    }
}

/// A frame that is no message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Broken;

//! A message inside the kernel, and how it stands in the words of a ring.
//!
//! A message is taken apart and checked once where it enters, from a guest or a link, and trusted from then
//! on. `calls` copies it from and to guests; `rmp` from and to rings.

use crate::{
    endpoint::Endpoint,
    heap::{Block, ExchangeHeap, footprint_of},
    rmp::ForeignBlock,
};
use alloc::{boxed::Box, sync::Arc};
use satrap_abi::{
    Errno,
    limits::{HANDLES_MAX, INLINE_MAX},
};
use satrap_link::Frame;
#[cfg(doc)]
use satrap_link::FrameHeader;
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

    /// Bytes of the exchange heap that its receiver pays for.
    fn footprint(&self) -> u64 {
        match self {
            Capability::Block(block) => block.footprint(),
            Capability::Foreign(block) => footprint_of(block.len()),
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

/// A message, kept as the frame in which it travels: it is written into its owner's memory once and copied
/// from there to a ring and from a ring to there, never by value.
///
/// | word | what |
/// |---|---|
/// | 0 | [`FrameHeader`]: tag, lengths, flags |
/// | 1 | on a link whom it is for; inside a satellite the protocol's state after it |
/// | 2 .. | inline arguments, as many words as they fill |
/// | last | pool buffer that travels, index and length, if there is one |
#[derive(Default)]
pub struct Message {
    frame: Frame,
    /// Blocks and endpoints that travel, if any.
    pub(crate) cargo: Option<Box<Cargo>>,
}

/// Where the inline arguments begin.
const INLINE: usize = 2;
/// Positions of the header's fields ([`FrameHeader`]).
const TAG: u32 = 16;
const INLINE_LEN: u32 = 32;
const HANDLE_COUNT: u32 = 40;
const FLAGS: u32 = 48;

impl Message {
    /// A message with nothing in it but its tag.
    pub fn new(tag: u16) -> Message {
        let mut message = Message::default();
        message.begin(tag, 0);
        message
    }

    /// Makes it a message with this tag and room for inline arguments, and nothing else.
    #[inline(always)]
    pub(crate) fn begin(&mut self, tag: u16, inline_len: u8) {
        self.frame.array_mut()[0] = u64::from(tag) << TAG | u64::from(inline_len) << INLINE_LEN;
        self.cargo = None;
    }

    #[inline(always)]
    fn header(&self) -> u64 {
        self.frame.array()[0]
    }

    /// Which message of the contract.
    #[inline(always)]
    pub fn tag(&self) -> u16 {
        (self.header() >> TAG) as u16
    }

    /// Bytes of inline arguments, at most 64.
    #[inline(always)]
    pub fn inline_len(&self) -> u8 {
        (self.header() >> INLINE_LEN) as u8
    }

    #[inline(always)]
    fn inline_words(&self) -> usize {
        usize::from(self.inline_len()).div_ceil(8).min(INLINE_WORDS)
    }

    /// Inline arguments, little-endian.
    #[inline(always)]
    pub fn inline(&self) -> &[u64] {
        &self.frame.array()[INLINE..INLINE + self.inline_words()]
    }

    /// Inline arguments, to be written.
    #[inline(always)]
    pub(crate) fn inline_mut(&mut self) -> &mut [u64] {
        let words = self.inline_words();
        &mut self.frame.array_mut()[INLINE..INLINE + words]
    }

    /// Replaces the inline arguments, before a buffer is added; false when they are more than 64 bytes.
    pub fn set_inline(&mut self, bytes: &[u8]) -> bool {
        if bytes.len() > INLINE_MAX {
            return false;
        }
        let others = self.header() & !(0xff << INLINE_LEN);
        self.frame.array_mut()[0] = others | (bytes.len() as u64) << INLINE_LEN;
        for (word, chunk) in self.inline_mut().iter_mut().zip(bytes.chunks(8)) {
            let mut whole = [0; 8];
            whole[..chunk.len()].copy_from_slice(chunk);
            *word = u64::from_le_bytes(whole);
        }
        true
    }

    /// Pool buffer that travels.
    #[inline(always)]
    pub fn buffer(&self) -> Option<BufferRef> {
        if !self.has_buffer() {
            return None;
        }
        let word = self.frame.array()[INLINE + self.inline_words()];
        Some(BufferRef {
            index: word as u32,
            len: (word >> 32) as u32,
        })
    }

    /// Whether a pool buffer travels.
    #[inline(always)]
    pub(crate) fn has_buffer(&self) -> bool {
        self.header() >> FLAGS & u64::from(FLAG_BUFFER) != 0
    }

    /// Adds a pool buffer, after the inline arguments.
    #[inline]
    pub fn set_buffer(&mut self, buffer: BufferRef) {
        let place = INLINE + self.inline_words();
        let words = self.frame.array_mut();
        words[place] = u64::from(buffer.index) | u64::from(buffer.len) << 32;
        words[0] |= u64::from(FLAG_BUFFER) << FLAGS;
    }

    /// How many capabilities its header names.
    #[inline(always)]
    pub(crate) fn named_handles(&self) -> usize {
        usize::from((self.header() >> HANDLE_COUNT) as u8)
    }

    /// How many capabilities travel.
    pub(crate) fn handle_count(&self) -> usize {
        self.cargo
            .as_ref()
            .map_or(0, |cargo| cargo.iter().flatten().count())
    }

    /// The kinds of the capabilities, in order.
    #[inline(always)]
    pub(crate) fn kinds(&self, into: &mut [HandleKind; HANDLES_MAX]) -> usize {
        let Some(cargo) = self.cargo.as_deref() else {
            return 0;
        };
        into.iter_mut()
            .zip(cargo.iter().flatten())
            .map(|(kind, capability)| *kind = capability.kind())
            .count()
    }

    /// Adds a capability; false when there are too many.
    pub fn push(&mut self, capability: Capability) -> bool {
        let cargo = self.cargo.get_or_insert_default();
        let Some(place) = cargo.iter_mut().find(|place| place.is_none()) else {
            return false;
        };
        *place = Some(capability);
        self.count_handles();
        true
    }

    /// Takes the capabilities out, in order.
    pub fn take_capabilities(&mut self) -> impl Iterator<Item = Capability> + use<> {
        let cargo = self.cargo.take().map(|cargo| *cargo).unwrap_or_default();
        self.count_handles();
        cargo.into_iter().flatten()
    }

    /// Writes into the header how many capabilities there are.
    fn count_handles(&mut self) {
        let count = self.handle_count() as u64;
        let others = self.header() & !(0xff << HANDLE_COUNT);
        self.frame.array_mut()[0] = others | count << HANDLE_COUNT;
    }

    /// Payload bytes, wherever they lie.
    #[inline]
    pub(crate) fn payload(&self) -> u64 {
        let cargo = self.cargo.as_deref().into_iter().flatten().flatten();
        let buffer = self.buffer().map_or(0, |buffer| u64::from(buffer.len));
        u64::from(self.inline_len()) + buffer + cargo.map(Capability::payload).sum::<u64>()
    }

    /// Bytes of the exchange heap that its receiver pays for.
    pub(crate) fn footprint(&self) -> u64 {
        let cargo = self.cargo.as_deref().into_iter().flatten().flatten();
        cargo.map(Capability::footprint).sum()
    }

    /// Says of what kind its frame is and whom it is for.
    #[inline]
    pub(crate) fn address(&mut self, kind: u8, destination: u64) {
        let words = self.frame.array_mut();
        words[0] = words[0] & !0xff00 | u64::from(kind) << 8;
        words[1] = destination;
    }

    /// Says in which state the contract is after it; it has been checked.
    #[inline(always)]
    pub(crate) fn leads_to(&mut self, state: u8) {
        self.frame.array_mut()[1] = u64::from(state);
    }

    /// The contract's state after it.
    #[inline(always)]
    pub(crate) fn state(&self) -> u8 {
        self.frame.array()[1] as u8
    }

    /// How many words its header speaks of.
    #[inline(always)]
    fn len(&self) -> usize {
        INLINE + self.inline_words() + usize::from(self.has_buffer())
    }

    /// The words that travel.
    #[inline(always)]
    pub(crate) fn words(&self) -> &[u64] {
        &self.frame.array()[..self.len()]
    }

    /// Where a ring puts the next message. What was there before is gone.
    #[inline(always)]
    pub(crate) fn frame_mut(&mut self) -> &mut Frame {
        &mut self.frame
    }

    /// The frame in which it arrived.
    #[inline(always)]
    pub(crate) fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Whether the frame in which it arrived has the length that its header says.
    #[inline]
    pub(crate) fn is_whole(&self) -> bool {
        self.len() == self.frame.word_count()
    }
}

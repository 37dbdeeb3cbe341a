//! The encoding of messages for a native driver: the same bytes as `sdk/rust/src/wire.rs` makes.
//!
//! A body of at most 64 bytes is inline; a longer one is a block, the message's first handle. A byte list of a
//! page or more has a block of its own. What is decoded comes from a guest: each piece must stand exactly where
//! the encoding puts it. Neighbours: `messages` (the contracts' messages), `build.rs` (their layout).

use satrap_abi::{Errno, limits::INLINE_MAX};
use satrap_kernel::{Block, Capability, ExchangeHeap, Message};
use std::sync::Arc;

/// A byte list of at least this many bytes travels in a block of its own.
const PAGE: usize = 4096;
/// In the offset of a byte list: the bytes are in the block whose index is in the other bits.
const IN_BLOCK: u32 = 1 << 31;

/// Bytes that a message carries, wherever they lie.
pub(super) enum Bytes {
    /// In the message itself: an array, and the part of it that is meant.
    Inline([u8; INLINE_MAX], usize, usize),
    /// In a block: from this offset, this many.
    Block(Block, u32, u32),
}

impl Bytes {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        match self {
            Bytes::Inline(_, _, len) => *len,
            Bytes::Block(_, _, len) => *len as usize,
        }
    }
}

enum Body {
    Inline([u8; INLINE_MAX], usize),
    Spilled(Block),
}

/// Reads one message's body.
pub(super) struct Reader {
    body: Body,
    handles: Vec<Option<Block>>,
    /// End of what was read of the tail.
    cursor: usize,
}

impl Reader {
    /// Takes the blocks of a received message (no message to a driver of ours carries endpoints) and opens its
    /// body, whose fixed part has `fixed` bytes.
    pub(super) fn open(
        mut message: Message,
        fixed: usize,
        heap: &Arc<ExchangeHeap>,
    ) -> Result<Reader, Errno> {
        let mut handles = Vec::new();
        for capability in message.take_capabilities() {
            handles.push(Some(capability.into_block(heap)?));
        }
        let len = usize::from(message.inline_len());
        let body = if len == 0 && fixed > 0 {
            if handles.is_empty() {
                return Err(Errno::Protocol);
            }
            // Just filled: each place holds a block.
            Body::Spilled(handles.remove(0).ok_or(Errno::Protocol)?)
        } else {
            let mut bytes = [0; INLINE_MAX];
            for (chunk, word) in bytes.chunks_exact_mut(8).zip(message.inline()) {
                chunk.copy_from_slice(&word.to_le_bytes());
            }
            Body::Inline(bytes, len)
        };
        let reader = Reader {
            body,
            handles,
            cursor: fixed,
        };
        if reader.len() < fixed {
            return Err(Errno::Protocol);
        }
        Ok(reader)
    }

    fn len(&self) -> usize {
        match &self.body {
            Body::Inline(_, len) => *len,
            Body::Spilled(block) => block.len() as usize,
        }
    }

    /// Bytes of the body.
    pub(super) fn get<const N: usize>(&self, at: usize) -> Result<[u8; N], Errno> {
        let mut bytes = [0; N];
        match &self.body {
            Body::Inline(body, len) => {
                let body = body[..*len].get(at..at + N).ok_or(Errno::Protocol)?;
                bytes.copy_from_slice(body);
            }
            Body::Spilled(block) => block.read(at as u32, &mut bytes).map_err(|_| Errno::Protocol)?,
        }
        Ok(bytes)
    }

    /// A `u32` parameter.
    pub(super) fn u32(&self, at: usize) -> Result<u32, Errno> {
        self.get(at).map(u32::from_le_bytes)
    }

    /// The message's one byte list, at `at` of the fixed part; nothing follows it.
    pub(super) fn bytes(mut self, at: usize) -> Result<Bytes, Errno> {
        let (offset, count) = (self.u32(at)?, self.u32(at + 4)?);
        if offset & IN_BLOCK != 0 {
            let index = (offset & !IN_BLOCK) as usize;
            let block = self.handles.get_mut(index).and_then(Option::take);
            let block = block.ok_or(Errno::Protocol)?;
            if block.len() != count || (count as usize) < PAGE {
                return Err(Errno::Protocol);
            }
            self.finish()?;
            return Ok(Bytes::Block(block, 0, count));
        }
        if count == 0 {
            return if offset == 0 {
                self.finish()?;
                Ok(Bytes::Inline([0; INLINE_MAX], 0, 0))
            } else {
                Err(Errno::Protocol)
            };
        }
        let start = offset as usize;
        if start != self.cursor || start + count as usize != self.len() {
            return Err(Errno::Protocol);
        }
        if self.handles.iter().any(Option::is_some) {
            return Err(Errno::Protocol);
        }
        Ok(match self.body {
            Body::Inline(bytes, _) => Bytes::Inline(bytes, start, count as usize),
            Body::Spilled(block) => Bytes::Block(block, offset, count),
        })
    }

    /// Checks that the body and the handles were used up.
    pub(super) fn finish(&self) -> Result<(), Errno> {
        if self.cursor != self.len() || self.handles.iter().any(Option::is_some) {
            return Err(Errno::Protocol);
        }
        Ok(())
    }
}

/// Writes one message.
pub(super) struct Writer<'h> {
    tag: u16,
    body: Vec<u8>,
    handles: Vec<Capability>,
    heap: &'h Arc<ExchangeHeap>,
}

impl<'h> Writer<'h> {
    /// A message whose fixed part has `fixed` bytes.
    pub(super) fn new(tag: u16, fixed: usize, heap: &'h Arc<ExchangeHeap>) -> Writer<'h> {
        Writer {
            tag,
            body: vec![0; fixed],
            handles: Vec::new(),
            heap,
        }
    }

    /// Writes bytes of the fixed part.
    pub(super) fn put<const N: usize>(mut self, at: usize, bytes: [u8; N]) -> Self {
        self.body[at..at + N].copy_from_slice(&bytes);
        self
    }

    /// A string, or a byte list that is shorter than a page: its bytes follow in the tail.
    pub(super) fn text(mut self, at: usize, bytes: &[u8]) -> Self {
        let start = if bytes.is_empty() { 0 } else { self.body.len() };
        self.body.extend(bytes);
        // Reasons and addresses are short, lists of a page or more go another way.
        self.put(at, (start as u32).to_le_bytes())
            .put(at + 4, (bytes.len() as u32).to_le_bytes())
    }

    /// A byte list.
    pub(super) fn bytes(self, at: usize, bytes: &[u8]) -> Result<Self, Errno> {
        if bytes.len() < PAGE {
            return Ok(self.text(at, bytes));
        }
        let len = u32::try_from(bytes.len()).map_err(|_| Errno::TooLarge)?;
        let block = self.heap.alloc_for_overwrite(len)?;
        block.write(0, bytes)?;
        let index = self.handles.len() as u32;
        let mut writer = self.put(at, (IN_BLOCK | index).to_le_bytes());
        writer.handles.push(Capability::Block(block));
        Ok(writer.put(at + 4, len.to_le_bytes()))
    }

    /// A block or an endpoint.
    pub(super) fn handle(mut self, at: usize, handle: Capability) -> Self {
        let index = self.handles.len() as u32;
        self.handles.push(handle);
        self.put(at, index.to_le_bytes())
    }

    /// The message.
    pub(super) fn finish(self) -> Result<Message, Errno> {
        let mut message = Message::new(self.tag);
        if self.body.len() <= INLINE_MAX {
            message.set_inline(&self.body);
        } else {
            let block = self.heap.alloc_for_overwrite(self.body.len() as u32)?;
            block.write(0, &self.body)?;
            message.push(Capability::Block(block));
        }
        for handle in self.handles {
            message.push(handle);
        }
        Ok(message)
    }
}

//! What one message may carry: bytes in line, blocks, endpoints, a pool buffer.
//!
//! The rule follows from the message's parameters alone (`contracts/compiler` derives it), so that the
//! kernel can refuse a misshapen message before the peer sees it. Its check is part of the hot path.

use crate::table::Violation;
use satrap_abi::limits::{HANDLES_MAX, INLINE_MAX};

/// What kind of object a handle in a message names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HandleKind {
    /// A block of the exchange heap.
    Block,
    /// One end of a channel.
    Endpoint,
}

/// Whether a pool buffer travels with a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BufferRule {
    /// Never.
    Refused,
    /// Always.
    Required,
}

/// What a message carries, apart from its tag.
///
/// A body is its parameters' fixed part and, after it, the tail: the contents of strings and lists. A body
/// of at most 64 bytes is inline. A longer one is *spilled*: no inline byte, and one more block, the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageRule {
    /// Fewest inline bytes when the body is inline: its fixed part.
    pub inline_min: u8,
    /// Most inline bytes, at most 64; 0 where the fixed part alone is longer.
    pub inline_max: u8,
    /// Whether the body may be spilled to a block.
    pub spill: bool,
    /// Fewest blocks, a spilled body's not counted.
    pub blocks_min: u8,
    /// Most blocks, a spilled body's not counted.
    pub blocks_max: u8,
    /// Fewest endpoints.
    pub endpoints_min: u8,
    /// Most endpoints.
    pub endpoints_max: u8,
    /// Whether a pool buffer travels.
    pub buffer: BufferRule,
}

impl MessageRule {
    /// A message that carries nothing.
    pub const EMPTY: MessageRule = MessageRule {
        inline_min: 0,
        inline_max: 0,
        spill: false,
        blocks_min: 0,
        blocks_max: 0,
        endpoints_min: 0,
        endpoints_max: 0,
        buffer: BufferRule::Refused,
    };

    /// Bytes of a rule in a table.
    pub(crate) const SIZE: usize = 8;

    /// Whether its numbers agree with one another and with the limits of a message.
    pub(crate) fn is_sound(&self) -> bool {
        let handles = self.blocks_max as usize + self.endpoints_max as usize + self.spill as usize;
        self.inline_min <= self.inline_max
            && self.inline_max as usize <= INLINE_MAX
            && self.blocks_min <= self.blocks_max
            && self.endpoints_min <= self.endpoints_max
            && handles <= HANDLES_MAX
    }

    /// Checks what a message carries. Most messages carry numbers alone: they take the short way.
    #[inline]
    pub(crate) fn check(
        &self,
        inline_len: usize,
        handles: &[HandleKind],
        buffer: bool,
    ) -> Result<(), Violation> {
        let inline =
            inline_len.wrapping_sub(self.inline_min as usize) <= (self.inline_max - self.inline_min) as usize;
        let spilled = inline_len == 0 && self.spill;
        if !inline && !spilled {
            return Err(Violation::InlineLength);
        }
        if buffer != (self.buffer == BufferRule::Required) {
            return Err(Violation::Buffer);
        }
        let none_needed = self.blocks_min | self.endpoints_min | spilled as u8 == 0;
        if handles.is_empty() && none_needed {
            return Ok(());
        }
        self.check_handles(handles, spilled)
    }

    fn check_handles(&self, handles: &[HandleKind], spilled: bool) -> Result<(), Violation> {
        let blocks = handles.iter().filter(|&&kind| kind == HandleKind::Block).count();
        let endpoints = handles.len() - blocks;
        let extra = spilled as usize;
        let fits = blocks >= self.blocks_min as usize + extra
            && blocks <= self.blocks_max as usize + extra
            && endpoints >= self.endpoints_min as usize
            && endpoints <= self.endpoints_max as usize;
        if fits { Ok(()) } else { Err(Violation::Handles) }
    }

    pub(crate) fn to_bytes(self) -> [u8; MessageRule::SIZE] {
        [
            self.inline_min,
            self.inline_max,
            self.spill as u8,
            self.blocks_min,
            self.blocks_max,
            self.endpoints_min,
            self.endpoints_max,
            (self.buffer == BufferRule::Required) as u8,
        ]
    }

    pub(crate) fn from_bytes(bytes: [u8; MessageRule::SIZE]) -> Option<MessageRule> {
        let [
            inline_min,
            inline_max,
            spill,
            blocks_min,
            blocks_max,
            endpoints_min,
            endpoints_max,
            buffer,
        ] = bytes;
        if spill > 1 || buffer > 1 {
            return None;
        }
        let rule = MessageRule {
            inline_min,
            inline_max,
            spill: spill == 1,
            blocks_min,
            blocks_max,
            endpoints_min,
            endpoints_max,
            buffer: if buffer == 1 {
                BufferRule::Required
            } else {
                BufferRule::Refused
            },
        };
        rule.is_sound().then_some(rule)
    }
}

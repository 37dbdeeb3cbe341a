//! A frame: one message between two satellite kernels, 1 to 14 words, header first.
//!
//! The ring reads only the count of words in the header's lowest byte; the rest is the kernels' business and
//! is validated by [`FrameHeader::unpack`]. What the further words mean depends on `kind` (`kernel/core`).

use core::fmt;
use satrap_abi::limits::{HANDLES_MAX, INLINE_MAX};

/// Most words of a frame: two slots of seven.
pub const FRAME_WORDS_MAX: usize = 14;

/// A frame in its reader's or writer's own memory. A ring copies it in and out; nobody else moves it.
#[derive(Clone, Copy, Default, Debug)]
pub struct Frame {
    words: [u64; FRAME_WORDS_MAX],
}

impl Frame {
    /// A frame that begins with this header and has no other word yet.
    #[inline]
    pub fn new(header: FrameHeader) -> Frame {
        let mut frame = Frame::default();
        frame.words[0] = header.pack() | 1;
        frame
    }

    /// Its words, header included: 1 to 14.
    #[inline]
    pub fn words(&self) -> &[u64] {
        &self.words[..self.word_count().min(FRAME_WORDS_MAX)]
    }

    /// Its words as an array; those beyond its length are meaningless.
    #[inline(always)]
    pub fn array(&self) -> &[u64; FRAME_WORDS_MAX] {
        &self.words
    }

    /// Its words as an array, to be changed. The lowest byte of the first counts them.
    #[inline(always)]
    pub fn array_mut(&mut self) -> &mut [u64; FRAME_WORDS_MAX] {
        &mut self.words
    }

    /// How many words, header included: 1 to 14.
    #[inline]
    pub fn word_count(&self) -> usize {
        usize::from(self.words[0] as u8)
    }

    /// Its first word, as the sender wrote it but for the count of words.
    #[inline]
    pub fn header_word(&self) -> u64 {
        self.words[0]
    }

    /// Its header, validated.
    #[inline]
    pub fn header(&self) -> Result<FrameHeader, HeaderError> {
        FrameHeader::unpack(self.words[0])
    }
}

/// The first word of a frame.
///
/// | bits | field |
/// |---|---|
/// | 0..8 | count of words, written by the ring |
/// | 8..16 | `kind` |
/// | 16..32 | `tag` |
/// | 32..40 | `inline_len` |
/// | 40..48 | `handle_count` |
/// | 48..56 | `flags` |
/// | 56..64 | zero |
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FrameHeader {
    /// What the frame is: message, acknowledgement, close ... The kernel numbers them.
    pub kind: u8,
    /// Which message of the contract.
    pub tag: u16,
    /// Bytes of inline arguments, up to [`INLINE_MAX`].
    pub inline_len: u8,
    /// Handles that travel, up to [`HANDLES_MAX`].
    pub handle_count: u8,
    /// Bits whose meaning depends on `kind`.
    pub flags: u8,
}

impl FrameHeader {
    /// As a frame's first word, with the count of words left to the ring.
    #[inline]
    pub const fn pack(self) -> u64 {
        (self.kind as u64) << 8
            | (self.tag as u64) << 16
            | (self.inline_len as u64) << 32
            | (self.handle_count as u64) << 40
            | (self.flags as u64) << 48
    }

    /// Reverse of [`FrameHeader::pack`].
    ///
    /// # Errors
    /// A field beyond its limit, or a bit that no version defines.
    #[inline]
    pub const fn unpack(word: u64) -> Result<FrameHeader, HeaderError> {
        let header = FrameHeader {
            kind: (word >> 8) as u8,
            tag: (word >> 16) as u16,
            inline_len: (word >> 32) as u8,
            handle_count: (word >> 40) as u8,
            flags: (word >> 48) as u8,
        };
        if header.inline_len as usize > INLINE_MAX {
            Err(HeaderError::InlineLen(header.inline_len))
        } else if header.handle_count as usize > HANDLES_MAX {
            Err(HeaderError::HandleCount(header.handle_count))
        } else if word >> 56 != 0 {
            Err(HeaderError::Reserved((word >> 56) as u8))
        } else {
            Ok(header)
        }
    }
}

/// What is wrong with a peer's header; carries what was seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeaderError {
    /// More inline bytes than a message can have.
    InlineLen(u8),
    /// More handles than a message can carry.
    HandleCount(u8),
    /// Undefined bits are set.
    Reserved(u8),
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeaderError::InlineLen(seen) => {
                write!(f, "frame with {seen} inline bytes; {INLINE_MAX} are possible")
            }
            HeaderError::HandleCount(seen) => {
                write!(f, "frame with {seen} handles; {HANDLES_MAX} are possible")
            }
            HeaderError::Reserved(seen) => write!(f, "frame with undefined header bits {seen:#04x}"),
        }
    }
}

impl core::error::Error for HeaderError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_survives_packing() {
        let header = FrameHeader {
            kind: 3,
            tag: 0xabcd,
            inline_len: 64,
            handle_count: 4,
            flags: 0x81,
        };
        assert_eq!(FrameHeader::unpack(header.pack() | 14), Ok(header));
    }

    #[test]
    fn a_header_beyond_a_limit_is_refused_by_name() {
        assert_eq!(FrameHeader::unpack(65 << 32), Err(HeaderError::InlineLen(65)));
        assert_eq!(FrameHeader::unpack(5 << 40), Err(HeaderError::HandleCount(5)));
        assert_eq!(FrameHeader::unpack(1 << 56), Err(HeaderError::Reserved(1)));
    }
}

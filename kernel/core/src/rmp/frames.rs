//! Frames of remote message passing: their kinds and how words are packed.
//!
//! Every frame's second word says whom it is for: a [`super::RemoteEnd`] of the receiver, or a loan of it.

use crate::link::LinkFault;
use alloc::string::String;
use satrap_link::FrameHeader;

/// Kinds of frames. A capability's frame comes before the message that it belongs to.
pub(crate) mod kind {
    pub(crate) const MESSAGE: u8 = 1;
    pub(crate) const BLOCK: u8 = 2;
    pub(crate) const ENDPOINT: u8 = 3;
    pub(crate) const OPENED: u8 = 4;
    pub(crate) const LOAN_RETURNED: u8 = 5;
    pub(crate) const CREDIT: u8 = 6;
    pub(crate) const CLOSE: u8 = 7;
    pub(crate) const POOL: u8 = 8;
    pub(crate) const BUFFER_RETURNED: u8 = 9;
}

/// A frame's header word; `position` is the place of a capability among its message's.
pub(crate) fn header(kind: u8, tag: u16, position: u8) -> u64 {
    FrameHeader {
        kind,
        tag,
        inline_len: 0,
        handle_count: position,
        flags: 0,
    }
    .pack()
}

/// A peer that breaks the rules.
pub(crate) fn fault<T>(reason: &str) -> Result<T, LinkFault> {
    Err(LinkFault(String::from(reason)))
}

/// Offset in lines of 64 bytes (34 bits) and length (29 bits).
pub(crate) fn pack_place(offset: u64, len: u32) -> u64 {
    offset >> 6 | u64::from(len) << 34
}

/// Reverse of [`pack_place`].
pub(crate) fn unpack_place(word: u64) -> (u64, u32) {
    ((word & ((1 << 34) - 1)) << 6, (word >> 34) as u32)
}

/// A digest from its words.
pub(crate) fn words_to_bytes(words: [u64; 4]) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (chunk, word) in bytes.chunks_exact_mut(8).zip(words) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// A digest as words.
pub(crate) fn bytes_to_words(bytes: [u8; 32]) -> [u64; 4] {
    let mut words = [0; 4];
    for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = chunk
            .iter()
            .rev()
            .fold(0, |word, &byte| word << 8 | u64::from(byte));
    }
    words
}

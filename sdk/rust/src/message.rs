//! A message as the kernel sees it in a program's memory: plain data, no ownership. Programs use the typed
//! endpoints that [`contract!`](crate::contract) generates; this is what those are made of.

use std::mem::offset_of;

use satrap_abi::call::message as layout;
use satrap_abi::limits::{HANDLES_MAX, INLINE_MAX};

/// 96 bytes that a kernel call reads and writes at once.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Message {
    /// Which message of the contract.
    pub tag: u16,
    /// Bytes of inline arguments, up to 64.
    pub inline_len: u8,
    /// Handles that travel, up to 4.
    pub handle_count: u8,
    /// 0, or 1 + the index of the pool buffer that travels.
    pub buffer: u32,
    /// Where the receiver finds that buffer; written by the kernel.
    pub(crate) buffer_address: u32,
    /// Bytes of the buffer that are meant.
    pub(crate) buffer_len: u32,
    /// Handles of blocks and endpoints, which move from the sender's table to the receiver's.
    pub handles: [u32; HANDLES_MAX],
    /// Inline arguments.
    pub inline: [u8; INLINE_MAX],
}

impl Message {
    /// A message with a tag and nothing else.
    pub const fn new(tag: u16) -> Message {
        Message {
            tag,
            inline_len: 0,
            handle_count: 0,
            buffer: 0,
            buffer_address: 0,
            buffer_len: 0,
            handles: [0; HANDLES_MAX],
            inline: [0; INLINE_MAX],
        }
    }
}

const _: () = {
    assert!(offset_of!(Message, tag) == layout::TAG);
    assert!(offset_of!(Message, inline_len) == layout::INLINE_LEN);
    assert!(offset_of!(Message, handle_count) == layout::HANDLE_COUNT);
    assert!(offset_of!(Message, buffer) == layout::BUFFER);
    assert!(offset_of!(Message, buffer_address) == layout::BUFFER_ADDRESS);
    assert!(offset_of!(Message, buffer_len) == layout::BUFFER_LEN);
    assert!(offset_of!(Message, handles) == layout::HANDLES);
    assert!(offset_of!(Message, inline) == layout::INLINE);
    assert!(size_of::<Message>() == layout::SIZE);
};

//! Messages between guest memory and the kernel: the layout is `satrap_abi::call::message`.
//!
//! A message is copied out of guest memory once and validated; its handles leave the sender's table for as long
//! as it is being sent, and come back under their old numbers if it cannot be.

use super::{CallContext, pool::buffer_address, writable};
use crate::{
    message::{BufferRef, Capability, Message},
    platform::Platform,
    process::{Handle, Held, Table},
};
use satrap_abi::{
    Errno, Slot,
    call::message::{
        BUFFER, BUFFER_ADDRESS, BUFFER_LEN, HANDLE_COUNT, HANDLES, INLINE, INLINE_LEN, SIZE, TAG,
    },
    limits::{HANDLES_MAX, INLINE_MAX},
};

/// A guest's message as it stands in its memory: bytes, and nothing believed.
pub(super) struct Alleged {
    bytes: [u8; SIZE],
}

/// The handles of a message that is being sent.
#[derive(Default)]
pub(super) struct Lifted {
    slots: [Option<Slot>; HANDLES_MAX],
}

fn word(bytes: &[u8; SIZE], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

impl Alleged {
    fn handle(&self, position: usize) -> u32 {
        word(&self.bytes, HANDLES + 4 * position)
    }

    fn handle_count(&self) -> usize {
        usize::from(self.bytes[HANDLE_COUNT])
    }

    /// Tag, inline arguments and pool buffer, checked.
    fn message(&self) -> Result<Message, Errno> {
        let inline_len = self.bytes[INLINE_LEN];
        if usize::from(inline_len) > INLINE_MAX || self.handle_count() > HANDLES_MAX {
            return Err(Errno::TooLarge);
        }
        let mut message = Message::new(u16::from_le_bytes([self.bytes[TAG], self.bytes[TAG + 1]]));
        message.inline_len = inline_len;
        let words = usize::from(inline_len).div_ceil(8);
        for (index, chunk) in self.bytes[INLINE..].chunks_exact(8).take(words).enumerate() {
            message.inline[index] = chunk
                .iter()
                .rev()
                .fold(0, |word, &byte| word << 8 | u64::from(byte));
        }
        let buffer = word(&self.bytes, BUFFER);
        if buffer != 0 {
            message.buffer = Some(BufferRef {
                index: buffer - 1,
                len: word(&self.bytes, BUFFER_LEN),
            });
        }
        Ok(message)
    }
}

impl Lifted {
    /// Takes the handles that `alleged` names out of the table and into `message`.
    fn lift(
        &mut self,
        table: &mut Table,
        alleged: &Alleged,
        message: &mut Message,
        through: u32,
    ) -> Result<(), Errno> {
        for position in 0..alleged.handle_count() {
            let handle = alleged.handle(position);
            if handle == through {
                return Err(Errno::Invalid);
            }
            let (slot, held) = table.lift(handle)?;
            match capability(held) {
                Ok(capability) => {
                    message.push(capability);
                    self.slots[position] = Some(slot);
                }
                Err(held) => {
                    table.settle(slot, Some(held));
                    return Err(Errno::Invalid);
                }
            }
        }
        Ok(())
    }

    /// After the message has left, or has not: then `message` still holds what was lifted.
    fn settle(&self, table: &mut Table, message: &mut Message) {
        let mut cargo = message
            .cargo
            .take()
            .map(|cargo| *cargo)
            .unwrap_or_default()
            .into_iter()
            .flatten();
        for slot in self.slots.iter().flatten() {
            table.settle(*slot, cargo.next().map(handle));
        }
    }
}

/// What may travel: not a service, not a mapped block, not an endpoint whose pool is mapped.
fn capability(handle: Handle) -> Result<Capability, Handle> {
    match handle {
        Handle::Block(block, None) => Ok(Capability::Block(block)),
        Handle::Endpoint(held) if held.endpoint.may_move() => Ok(Capability::Endpoint(held.endpoint)),
        other => Err(other),
    }
}

fn handle(capability: Capability) -> Handle {
    match capability {
        Capability::Block(block) => Handle::Block(block, None),
        Capability::Endpoint(endpoint) => Handle::Endpoint(Held::new(endpoint)),
        // Only a received message holds foreign blocks, and those are copied before they become handles.
        Capability::Foreign(_) => unreachable!("a foreign block was never in a table"),
    }
}

impl<P: Platform> CallContext<P> {
    /// Reads a message and takes its handles.
    pub(super) fn load(&self, pointer: u32, through: u32) -> Result<(Message, Lifted), Errno> {
        let mut alleged = Alleged { bytes: [0; SIZE] };
        self.process.read(pointer, &mut alleged.bytes)?;
        let mut message = alleged.message()?;
        let mut lifted = Lifted::default();
        if alleged.handle_count() > 0 {
            let mut table = self.process.table.lock();
            self.unmap_blocks(&mut table, &alleged);
            if let Err(errno) = lifted.lift(&mut table, &alleged, &mut message, through) {
                lifted.settle(&mut table, &mut message);
                return Err(errno);
            }
        }
        Ok((message, lifted))
    }

    /// A block that is sent leaves the sender's window.
    fn unmap_blocks(&self, table: &mut Table, alleged: &Alleged) {
        for position in 0..alleged.handle_count() {
            if let Ok(Handle::Block(_, mapped)) = table.get_mut(alleged.handle(position))
                && let Some(at) = mapped.take()
            {
                self.process.window.lock().unmap(&*self.process.memory, at);
            }
        }
    }

    /// After sending, or failing to.
    #[inline]
    pub(super) fn settle(&self, lifted: &Lifted, message: &mut Message) {
        if lifted.slots[0].is_some() {
            lifted.settle(&mut self.process.table.lock(), message);
        }
    }

    /// Hands a received message over to the guest. What cannot be handed over comes back with the reason.
    pub(super) fn store(
        &self,
        table: &mut Table,
        endpoint: u32,
        mut message: Message,
        pointer: u32,
    ) -> Result<(), (Errno, Message)> {
        if let Err(errno) = writable(&self.process, pointer, SIZE) {
            return Err((errno, message));
        }
        if message.cargo.is_some()
            && let Err(errno) = self.make_room(table, endpoint, &mut message)
        {
            return Err((errno, message));
        }
        let mut bytes = [0; SIZE];
        bytes[TAG..TAG + 2].copy_from_slice(&message.tag.to_le_bytes());
        bytes[INLINE_LEN] = message.inline_len;
        let words = usize::from(message.inline_len).div_ceil(8);
        for (chunk, word) in bytes[INLINE..].chunks_exact_mut(8).zip(&message.inline[..words]) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        if let Some(buffer) = message.buffer
            && let Err(errno) = self.place_buffer(table, endpoint, buffer, &mut bytes)
        {
            return Err((errno, message));
        }
        bytes[HANDLE_COUNT] = self.place_handles(table, &mut message, &mut bytes);
        // The range was found writable above, and only this thread changes the process's memory.
        let _ = self.process.write(pointer, &bytes);
        Ok(())
    }

    /// Copies blocks that lie with a peer, once, heap to heap (Helios §3.6), and makes sure that all handles
    /// will fit.
    fn make_room(&self, table: &mut Table, endpoint: u32, message: &mut Message) -> Result<(), Errno> {
        let (count, bytes) = (message.handle_count() as u32, message.payload());
        if !table.has_room(count, bytes, &self.process.limits) {
            return Err(Errno::LimitReached);
        }
        for place in message.cargo.as_deref_mut().into_iter().flatten() {
            if let Some(Capability::Foreign(foreign)) = place {
                let block = foreign.copy(&self.satellite.rmp.heap)?;
                if let Ok(held) = table.endpoint(endpoint) {
                    held.endpoint.stats.copies += 1;
                    held.endpoint.stats.bytes_copied += u64::from(block.len());
                }
                *place = Some(Capability::Block(block));
            }
        }
        Ok(())
    }

    fn place_buffer(
        &self,
        table: &mut Table,
        endpoint: u32,
        buffer: BufferRef,
        bytes: &mut [u8; SIZE],
    ) -> Result<(), Errno> {
        let address = buffer_address(&self.process, table.endpoint(endpoint)?, buffer.index)?;
        bytes[BUFFER..BUFFER + 4].copy_from_slice(&(buffer.index + 1).to_le_bytes());
        bytes[BUFFER_ADDRESS..BUFFER_ADDRESS + 4].copy_from_slice(&address.to_le_bytes());
        bytes[BUFFER_LEN..BUFFER_LEN + 4].copy_from_slice(&buffer.len.to_le_bytes());
        Ok(())
    }

    fn place_handles(&self, table: &mut Table, message: &mut Message, bytes: &mut [u8; SIZE]) -> u8 {
        let mut count = 0;
        for capability in message
            .cargo
            .take()
            .into_iter()
            .flat_map(|cargo| *cargo)
            .flatten()
        {
            // Room was made for all of them under the same lock.
            let Ok(number) = table.insert(handle(capability)) else {
                continue;
            };
            let at = HANDLES + 4 * usize::from(count);
            bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
            count += 1;
        }
        count
    }
}

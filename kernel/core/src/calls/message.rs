//! Messages between guest memory and the kernel: the layout is `satrap_abi::call::message`.
//!
//! A message is copied out of guest memory once and validated; its handles leave the sender's table for as long
//! as it is being sent, and come back under their old numbers if it cannot be.

use super::{CallContext, pool::buffer_address, writable};
use crate::{
    engine::Access,
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

/// The head of a guest's message as it stands in its memory, and its handles: nothing is believed yet.
struct Alleged {
    /// Tag, lengths, pool buffer: [`HEAD`] words.
    head: [u64; HEAD],
    handles: [u64; HANDLES_MAX / 2],
}

/// Words before the handles.
const HEAD: usize = HANDLES / 8;

/// The handles of a message that is being sent.
#[derive(Default)]
pub(super) struct Lifted {
    slots: [Option<Slot>; HANDLES_MAX],
}

impl Alleged {
    /// The little-endian field of `bytes` bytes at offset `at` of the head.
    #[inline(always)]
    fn field(&self, at: usize, bytes: usize) -> u64 {
        (self.head[at / 8] >> (8 * (at % 8))) & (u64::MAX >> (64 - 8 * bytes))
    }

    #[inline(always)]
    fn handle_count(&self) -> usize {
        self.field(HANDLE_COUNT, 1) as usize
    }

    fn handle(&self, position: usize) -> u32 {
        (self.handles[position / 2] >> (32 * (position % 2))) as u32
    }

    /// Pool buffer that travels.
    #[inline(always)]
    fn buffer(&self) -> Option<BufferRef> {
        let index = (self.field(BUFFER, 4) as u32).checked_sub(1)?;
        let len = self.field(BUFFER_LEN, 4) as u32;
        Some(BufferRef { index, len })
    }
}

/// A message's head, as a guest will read it.
#[derive(Default)]
struct Head([u64; HEAD]);

impl Head {
    #[inline(always)]
    fn put(&mut self, at: usize, value: u64) {
        self.0[at / 8] |= value << (8 * (at % 8));
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
        Handle::Endpoint(held) if held.endpoint.may_move() => {
            held.endpoint.hand_over();
            Ok(Capability::Endpoint(held.endpoint))
        }
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
    /// Reads a message and takes its handles. Each of its bytes is read once.
    #[inline]
    pub(super) fn load(&self, pointer: u32, through: u32, message: &mut Message) -> Result<Lifted, Errno> {
        let process = &*self.process;
        process.check(pointer, SIZE as u32, Access::ReadOnly)?;
        let mut alleged = Alleged {
            head: [0; HEAD],
            handles: [0; HANDLES_MAX / 2],
        };
        process.read_words(pointer, &mut alleged.head)?;
        let inline_len = alleged.field(INLINE_LEN, 1) as usize;
        if inline_len > INLINE_MAX || alleged.handle_count() > HANDLES_MAX {
            return Err(Errno::TooLarge);
        }
        message.begin(alleged.field(TAG, 2) as u16, inline_len as u8);
        process.read_words(pointer + INLINE as u32, message.inline_mut())?;
        if let Some(buffer) = alleged.buffer() {
            message.set_buffer(buffer);
        }
        if alleged.handle_count() == 0 {
            return Ok(Lifted::default());
        }
        process.read_words(pointer + HANDLES as u32, &mut alleged.handles)?;
        self.lift(&alleged, message, through)
    }

    #[inline(never)]
    fn lift(&self, alleged: &Alleged, message: &mut Message, through: u32) -> Result<Lifted, Errno> {
        let mut lifted = Lifted::default();
        let mut table = self.process.table.lock();
        self.unmap_blocks(&mut table, alleged);
        match lifted.lift(&mut table, alleged, message, through) {
            Ok(()) => Ok(lifted),
            Err(errno) => {
                lifted.settle(&mut table, message);
                Err(errno)
            }
        }
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
    #[inline(always)]
    pub(super) fn settle(&self, lifted: &Lifted, message: &mut Message) {
        if lifted.slots[0].is_some() {
            lifted.settle(&mut self.process.table.lock(), message);
        }
    }

    /// Hands a received message over to the guest. On an error the message is still whole.
    #[inline]
    pub(super) fn store(
        &self,
        table: &mut Table,
        endpoint: u32,
        message: &mut Message,
        pointer: u32,
    ) -> Result<(), Errno> {
        writable(&self.process, pointer, SIZE)?;
        let mut head = Head::default();
        if message.cargo.is_some() {
            self.make_room(table, endpoint, message)?;
        }
        if let Some(buffer) = message.buffer() {
            self.place_buffer(table, endpoint, buffer, &mut head)?;
        }
        // The range was found writable above, and only this thread changes the process's memory.
        let process = &*self.process;
        process.write_words(pointer + INLINE as u32, message.inline())?;
        if message.cargo.is_some() {
            let mut handles = [0; HANDLES_MAX / 2];
            head.put(HANDLE_COUNT, place_handles(table, message, &mut handles));
            process.write_words(pointer + HANDLES as u32, &handles)?;
        }
        head.put(TAG, u64::from(message.tag()));
        head.put(INLINE_LEN, u64::from(message.inline_len()));
        process.write_words(pointer, &head.0)
    }

    /// Copies blocks that lie with a peer, once, heap to heap (Helios §3.6), and makes sure that all handles
    /// will fit.
    fn make_room(&self, table: &mut Table, endpoint: u32, message: &mut Message) -> Result<(), Errno> {
        let (count, bytes) = (message.handle_count() as u32, message.footprint());
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
        head: &mut Head,
    ) -> Result<(), Errno> {
        let address = buffer_address(&self.process, table.endpoint(endpoint)?, buffer.index)?;
        head.put(BUFFER, u64::from(buffer.index + 1));
        head.put(BUFFER_ADDRESS, u64::from(address));
        head.put(BUFFER_LEN, u64::from(buffer.len));
        Ok(())
    }
}

/// Moves the capabilities into the table and their numbers into `into`; returns how many there are.
fn place_handles(table: &mut Table, message: &mut Message, into: &mut [u64; HANDLES_MAX / 2]) -> u64 {
    let mut count = 0;
    for capability in message.take_capabilities() {
        // Room was made for all of them under the same lock.
        let Ok(number) = table.insert(handle(capability)) else {
            continue;
        };
        into[count / 2] |= u64::from(number) << (32 * (count % 2));
        count += 1;
    }
    count as u64
}

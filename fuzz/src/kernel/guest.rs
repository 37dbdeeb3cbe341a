//! The guest: a thread that makes the kernel calls it is told to, with pointers, handles and messages that may be
//! wrong in every way. What a call gives it, it can use in the next.

use super::{
    ANSWER, ITEM, PICTURE,
    machine::{Memory, Stage, WINDOW},
};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use satrap_abi::call::{FOREVER, message};
use satrap_abi::limits::{CHANNEL_DEPTH, WINDOW_START};
use satrap_abi::{Digest, Errno, ExitStatus};
use satrap_kernel::engine::{Call as Outcome, Calls, LinearMemory, Pause, Resume, Thread};
use std::sync::Arc;

/// The service that the guest registers, and the one that it binds to: the hostile peer's.
pub const SERVICE: &str = "/a";
const BOUND: &str = "/b";

/// Where things stand in the guest's memory.
const CONTRACT: u32 = 0;
const NAMES: [u32; 2] = [64, 96];
const OUT: u32 = 128;
const MESSAGES: u32 = 256;
/// How often one kernel call may wait.
const WAITS: u32 = 4;
/// Most handles that it remembers.
const HANDLES: usize = 64;

/// What the guest does next.
#[derive(Debug)]
pub enum Act {
    /// Registers its service, under this contract.
    Prepare(Digest),
    /// Takes one handle of every kind, and lends memory to the hostile peer.
    Equip,
    /// Attacks.
    Any(Any),
    /// Sees that its channels to dead peers have ended.
    Mourn,
}

/// What a hostile guest does next.
#[derive(Arbitrary, Debug)]
pub enum Any {
    /// Writes a word into its memory.
    Poke(Pointer, u64),
    /// Lays a message out there.
    Write(Alleged),
    /// Calls the kernel.
    Call(Call),
}

/// An address.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Pointer {
    /// One of the four messages.
    Message(u8),
    /// In the first page.
    Low(u16),
    /// Around the end of the memory that it has at its start.
    End(i8),
    /// In the window.
    Window(u16),
    /// Around the end of the window's first page.
    WindowEnd(i8),
    /// Anything.
    Raw(u32),
}

/// A handle.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Handle {
    /// One that the guest got.
    Known(u8),
    /// Anything.
    Raw(u32),
}

/// A deadline.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Deadline {
    Now,
    Soon(u8),
    Never,
}

/// A message as the guest writes it.
#[derive(Arbitrary, Debug)]
pub struct Alleged {
    place: u8,
    tag: u8,
    inline_len: u8,
    handle_count: u8,
    buffer: u8,
    buffer_len: u32,
    handles: [Handle; 4],
}

/// A kernel call.
#[derive(Arbitrary, Debug)]
pub enum Call {
    Yield,
    SleepUntil(Deadline),
    Random(Pointer, u32),
    Console(u8, Pointer, u32),
    Args(Pointer),
    Grow(u16),
    Copy(Pointer, Pointer, u32),
    Fill(Pointer, u32, u32),
    Init(u8, Pointer, u32, u32),
    Drop(u8),
    Spawn(u32),
    Join(u8),
    Priority(u8),
    Bind(Pointer, u32, Pointer, Pointer, Deadline),
    Register(Pointer, u32, Pointer, Pointer),
    Accept(Handle, Pointer, Deadline),
    List(Pointer, u32, Pointer, u32),
    Channel(Pointer, Pointer),
    Send(Handle, Pointer, Deadline),
    Receive(Handle, Pointer, Deadline),
    Ask(Handle, Pointer, Deadline),
    Wait(Pointer, u8, Deadline),
    Close(Handle),
    BlockAlloc(u32),
    BlockLen(Handle),
    BlockRead(Handle, u32, Pointer, u32),
    BlockWrite(Handle, u32, Pointer, u32),
    BlockMap(Handle, Pointer),
    PoolCreate(Handle, u16, u16, Pointer),
    PoolAcquire(Handle, Deadline),
    PoolRelease(Handle, u32),
}

/// A thread of the guest.
pub struct Actor<C> {
    script: Stage,
    memory: Arc<Memory>,
    calls: C,
    handles: Vec<u32>,
    /// Those of channels to the hostile peer: its client's, and the one that was bound to its service.
    remote: [u32; 2],
}

impl<C> Actor<C> {
    /// A thread that follows the script.
    pub fn new(script: Stage, memory: Arc<Memory>, calls: C) -> Actor<C> {
        let (handles, remote) = (Vec::new(), [0; 2]);
        Actor {
            script,
            memory,
            calls,
            handles,
            remote,
        }
    }
}

impl<C: Calls> Thread for Actor<C> {
    fn resume(&mut self, how: Resume) -> Pause {
        if how == Resume::Die {
            return Pause::Finished(ExitStatus::Killed);
        }
        self.script.allow_waits(WAITS);
        let act = self.script.next();
        let done = act.map_or(Ok(()), |act| self.act(act)).and_then(|()| {
            self.script.allow_waits(1);
            self.calls.yield_now()
        });
        done.map_or_else(|end| Pause::Finished(end.0), |()| Pause::Suspended)
    }
}

impl<C: Calls> Actor<C> {
    fn act(&mut self, act: Act) -> Outcome<()> {
        match act {
            Act::Prepare(contract) => self.prepare(contract),
            Act::Equip => self.equip(),
            Act::Any(Any::Poke(at, word)) => {
                self.put(self.at(at), &word.to_le_bytes());
                Ok(())
            }
            Act::Any(Any::Write(alleged)) => {
                self.write(&alleged);
                Ok(())
            }
            Act::Any(Any::Call(call)) => self.call(&call),
            Act::Mourn => self.mourn(),
        }
    }

    /// What came before the end is received, and then the end.
    fn mourn(&mut self) -> Outcome<()> {
        for endpoint in self.remote {
            let mut received = 0;
            for _ in 0..=CHANNEL_DEPTH {
                received = self.calls.recv(endpoint, MESSAGES, 0)?;
                if received != 0 {
                    break;
                }
                self.received(endpoint, received, MESSAGES);
            }
            let ended = received != 0 && received != Errno::WouldBlock.to_result();
            assert!(ended, "a channel outlives its peer");
        }
        Ok(())
    }

    fn prepare(&mut self, contract: Digest) -> Outcome<()> {
        self.put(CONTRACT, &contract.0);
        for (at, name) in NAMES.into_iter().zip([SERVICE, BOUND]) {
            self.put(at, name.as_bytes());
        }
        let registered = self
            .calls
            .register(NAMES[0], SERVICE.len() as u32, CONTRACT, OUT)?;
        assert_eq!(registered, 0);
        self.got(OUT);
        Ok(())
    }

    /// An endpoint whose client the hostile peer has, one whose service it has, a channel of its own, blocks, a
    /// pool; a block is on its way to the hostile peer, and so is a buffer of the pool.
    fn equip(&mut self) -> Outcome<()> {
        assert_eq!(self.calls.accept(self.handles[0], OUT, 0)?, 0);
        self.got(OUT);
        assert_eq!(
            self.calls.bind(NAMES[1], BOUND.len() as u32, CONTRACT, OUT, 0)?,
            0
        );
        self.got(OUT);
        let bound = self.handles[2];
        self.remote = [self.handles[1], bound];
        assert_eq!(self.calls.channel(CONTRACT, OUT)?, 0);
        self.got(OUT);
        self.got(OUT + 4);
        for length in [1, 64, 5000] {
            let block = self.block(length)?;
            self.given(block);
        }
        assert_eq!(self.calls.pool_create(bound, 100, 4, OUT)?, 0);
        let buffer = self.calls.pool_acquire(bound, 0)?;
        assert_eq!(buffer, 0);
        let block = self.block(100)?;
        let item = [u32::from(ITEM) | 1 << 24, 0, 0, 0, block as u32];
        let picture = [u32::from(PICTURE), 1 + buffer as u32, 0, 100, 0];
        for words in [item, picture] {
            for (at, word) in (MESSAGES..).step_by(4).zip(words) {
                self.put(at, &word.to_le_bytes());
            }
            assert_eq!(self.calls.send(bound, MESSAGES, 0)?, 0);
        }
        Ok(())
    }

    fn block(&mut self, length: u32) -> Outcome {
        let block = self.calls.block_alloc(length)?;
        assert!(block > 0);
        Ok(block)
    }

    fn at(&self, pointer: Pointer) -> u32 {
        const PAGE: u32 = 64 << 10;
        match pointer {
            Pointer::Message(place) => MESSAGES + u32::from(place % 4) * 128,
            Pointer::Low(at) => u32::from(at),
            Pointer::End(by) => PAGE.wrapping_add_signed(i32::from(by)),
            Pointer::Window(at) => WINDOW_START + u32::from(at),
            Pointer::WindowEnd(by) => (WINDOW_START + 4096).wrapping_add_signed(i32::from(by)),
            Pointer::Raw(at) => at,
        }
    }

    fn handle(&self, handle: Handle) -> u32 {
        match handle {
            Handle::Known(number) => {
                let count = self.handles.len().max(1);
                self.handles
                    .get(usize::from(number) % count)
                    .copied()
                    .unwrap_or(0)
            }
            Handle::Raw(handle) => handle,
        }
    }

    fn deadline(&mut self, deadline: Deadline) -> u64 {
        match deadline {
            Deadline::Now => 0,
            Deadline::Soon(by) => self.calls.clock_now() as u64 + u64::from(by) * 1_000,
            Deadline::Never => FOREVER,
        }
    }

    /// As Wasm code stores: only to memory that there is.
    fn put(&self, at: u32, bytes: &[u8]) {
        if at < WINDOW_START.saturating_add(WINDOW) {
            let _ = self.memory.region().write(at as usize, bytes);
        }
    }

    fn word(&self, at: u32) -> u32 {
        let mut bytes = [0; 4];
        let _ = self.memory.region().read(at as usize, &mut bytes);
        u32::from_le_bytes(bytes)
    }

    /// A call has put a handle there.
    fn got(&mut self, at: u32) {
        self.given(self.word(at) as i32);
    }

    /// A call has returned a handle.
    fn given(&mut self, handle: i32) {
        if handle > 0 && self.handles.len() < HANDLES {
            self.handles.push(handle as u32);
        }
    }

    fn write(&self, alleged: &Alleged) {
        let mut bytes = [0x5a; message::SIZE];
        bytes[message::TAG] = alleged.tag % 6;
        bytes[message::TAG + 1] = 0;
        bytes[message::INLINE_LEN] = alleged.inline_len % 70;
        bytes[message::HANDLE_COUNT] = alleged.handle_count % 6;
        let words = [
            (message::BUFFER, u32::from(alleged.buffer % 8)),
            (message::BUFFER_LEN, alleged.buffer_len % 200),
        ];
        let handles = (message::HANDLES..)
            .step_by(4)
            .zip(alleged.handles.map(|each| self.handle(each)));
        for (at, word) in words.into_iter().chain(handles) {
            bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        self.put(self.at(Pointer::Message(alleged.place)), &bytes);
    }

    /// What a received message brought. The hostile peer's are only those that the contract lets it send.
    fn received(&mut self, endpoint: u32, result: i32, at: u32) {
        if result == 0 {
            let (tag, count) = (self.word(at) as u16, (self.word(at) >> 24).min(4));
            let from_service = endpoint == self.remote[1];
            let allowed = !self.remote.contains(&endpoint) || (tag == ANSWER) == from_service;
            assert!(allowed && tag <= ANSWER, "a forbidden message came through");
            (0..count).for_each(|number| self.got(at + message::HANDLES as u32 + 4 * number));
        }
    }

    fn call(&mut self, call: &Call) -> Outcome<()> {
        match *call {
            Call::Yield => return self.calls.yield_now(),
            Call::SleepUntil(deadline) => {
                let deadline = self.deadline(deadline);
                self.calls.sleep_until(deadline)?;
            }
            Call::Random(at, length) => drop(self.calls.random(self.at(at), length)?),
            Call::Console(stream, at, length) => {
                self.calls.console_write(stream.into(), self.at(at), length)?;
            }
            Call::Args(at) => drop(self.calls.args_read(self.at(at))?),
            Call::Grow(pages) => drop(self.calls.memory_grow(pages.into())),
            Call::Copy(to, from, length) => {
                return self.calls.memory_copy(self.at(to), self.at(from), length);
            }
            Call::Fill(to, value, length) => return self.calls.memory_fill(self.at(to), value, length),
            Call::Init(segment, to, from, length) => {
                return self.calls.memory_init(segment.into(), self.at(to), from, length);
            }
            Call::Drop(segment) => self.calls.data_drop(segment.into()),
            Call::Spawn(stack) => drop(self.calls.thread_spawn(0, 0, stack)?),
            Call::Join(thread) => drop(self.calls.thread_join(thread.into())?),
            Call::Priority(class) => drop(self.calls.thread_priority(class.into())?),
            _ => return self.call_for_handles(call),
        }
        Ok(())
    }

    fn call_for_handles(&mut self, call: &Call) -> Outcome<()> {
        match *call {
            Call::Bind(name, length, contract, out, deadline) => {
                let (deadline, out) = (self.deadline(deadline), self.at(out));
                self.calls
                    .bind(self.at(name), length, self.at(contract), out, deadline)?;
                self.got(out);
            }
            Call::Register(path, length, contract, out) => {
                let out = self.at(out);
                self.calls
                    .register(self.at(path), length, self.at(contract), out)?;
                self.got(out);
            }
            Call::Accept(service, out, deadline) => {
                let (deadline, out) = (self.deadline(deadline), self.at(out));
                self.calls.accept(self.handle(service), out, deadline)?;
                self.got(out);
            }
            Call::List(prefix, length, buffer, capacity) => {
                self.calls
                    .list(self.at(prefix), length, self.at(buffer), capacity)?;
            }
            Call::Channel(contract, out) => {
                let out = self.at(out);
                self.calls.channel(self.at(contract), out)?;
                self.got(out);
                self.got(out.wrapping_add(4));
            }
            Call::Wait(handles, count, deadline) => {
                let (deadline, count) = (self.deadline(deadline), u32::from(count));
                // Some counts are large enough to overflow.
                let count = count.checked_sub(200).map_or(count, |n| u32::MAX / (1 + n));
                self.calls.wait(self.at(handles), count, deadline)?;
            }
            Call::Close(handle) => drop(self.calls.close(self.handle(handle))?),
            _ => return self.call_for_payload(call),
        }
        Ok(())
    }

    fn call_for_payload(&mut self, call: &Call) -> Outcome<()> {
        match *call {
            Call::Send(endpoint, at, deadline) => {
                let deadline = self.deadline(deadline);
                self.calls.send(self.handle(endpoint), self.at(at), deadline)?;
            }
            Call::Receive(endpoint, at, deadline) => {
                let (deadline, at) = (self.deadline(deadline), self.at(at));
                let endpoint = self.handle(endpoint);
                let result = self.calls.recv(endpoint, at, deadline)?;
                self.received(endpoint, result, at);
            }
            Call::Ask(endpoint, at, deadline) => {
                let (deadline, at) = (self.deadline(deadline), self.at(at));
                let endpoint = self.handle(endpoint);
                let result = self.calls.call(endpoint, at, deadline)?;
                self.received(endpoint, result, at);
            }
            Call::BlockAlloc(length) => {
                let block = self.calls.block_alloc(length)?;
                self.given(block);
            }
            Call::BlockLen(block) => drop(self.calls.block_len(self.handle(block))?),
            Call::BlockRead(block, offset, at, length) => {
                self.calls
                    .block_read(self.handle(block), offset, self.at(at), length)?;
            }
            Call::BlockWrite(block, offset, at, length) => {
                self.calls
                    .block_write(self.handle(block), offset, self.at(at), length)?;
            }
            Call::BlockMap(block, out) => drop(self.calls.block_map(self.handle(block), self.at(out))?),
            Call::PoolCreate(endpoint, size, count, out) => {
                let (size, count) = (size.into(), count.into());
                self.calls
                    .pool_create(self.handle(endpoint), size, count, self.at(out))?;
            }
            Call::PoolAcquire(endpoint, deadline) => {
                let deadline = self.deadline(deadline);
                self.calls.pool_acquire(self.handle(endpoint), deadline)?;
            }
            Call::PoolRelease(endpoint, index) => {
                self.calls.pool_release(self.handle(endpoint), index)?;
            }
            _ => {}
        }
        Ok(())
    }
}

//! What a guest's closure holds: the kernel calls over a small memory, as an SDK would offer them.
//!
//! Before each call other CPUs may run, the thread may be preempted, and a dead kernel's thread stops for good.
//! After a call nothing comes between its return and what the guest says about it, so that a crash never
//! separates the two.

use super::{
    SimMemory,
    coroutine::{Signal, pass},
};
use crate::{
    contracts::Contract,
    facts::Fact,
    machine::{Host, SimPlatform},
    rng::Rng,
};
use satrap_abi::{
    Errno, ExitStatus, ProcessId,
    call::{FOREVER, message},
};
use satrap_kernel::{
    CallContext,
    engine::{Calls, End, LinearMemory, Pause, Resume},
};
use std::sync::Arc;

/// Where things stand in a thread's part of the memory.
mod place {
    /// A message.
    pub const MESSAGE: u32 = 0;
    /// Results that a call writes.
    pub const OUT: u32 = 128;
    /// A contract's digest.
    pub const DIGEST: u32 = 160;
    /// A name.
    pub const NAME: u32 = 256;
    /// Handles to wait for.
    pub const HANDLES: u32 = 512;
    /// Bytes of a block.
    pub const BYTES: u32 = 1024;
    /// Size of a thread's part.
    pub const SIZE: u32 = 8192;
}

/// Most bytes of a block.
pub const BLOCK_MAX: u32 = place::SIZE - place::BYTES;

/// Result of a call: what it gives or why not, or the end of the thread.
pub type Calling<T> = Result<Result<T, Errno>, End>;

/// A message as a guest writes and reads it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Letter {
    /// Which message of the contract.
    pub tag: u16,
    /// Bytes of inline arguments.
    pub inline: usize,
    /// Inline arguments.
    pub words: [u64; 8],
    /// Handles of what travels.
    pub handles: Vec<u32>,
}

impl Letter {
    /// The message of this name, with arguments.
    pub fn new(contract: &Contract, name: &str, words: &[u64], handles: &[u32]) -> Letter {
        let (tag, inline) = contract.message(name);
        let mut letter = Letter {
            tag,
            inline,
            handles: handles.to_vec(),
            ..Letter::default()
        };
        letter.words[..words.len()].copy_from_slice(words);
        letter
    }
}

/// A thread of a guest.
pub struct Guest {
    /// Its own chance.
    pub rng: Rng,
    /// The argument that it was spawned with.
    pub argument: u32,
    host: Arc<Host>,
    memory: Arc<SimMemory>,
    calls: CallContext<SimPlatform>,
    scratch: u32,
}

fn given<T>(result: i32, value: impl FnOnce(u32) -> T) -> Result<T, Errno> {
    match Errno::from_result(result) {
        Some(errno) => Err(errno),
        None => Ok(value(result as u32)),
    }
}

impl Guest {
    /// A thread whose part of the memory begins at `scratch`.
    pub fn new(
        host: Arc<Host>,
        memory: Arc<SimMemory>,
        calls: CallContext<SimPlatform>,
        argument: u32,
        scratch: u32,
    ) -> Guest {
        let rng = host.stage.rng().fork();
        Guest {
            rng,
            argument,
            host,
            memory,
            calls,
            scratch,
        }
    }

    // ---- between calls ----

    /// Lets others run, as time and interrupts would.
    fn breathe(&mut self) -> Result<(), End> {
        let killed = Err(End(ExitStatus::Killed));
        let stage = &self.host.stage;
        stage.pass(self.rng.between(50, 400));
        if self.rng.chance(stage.scenario.interludes) {
            pass(Signal::Interlude);
        }
        if self.host.is_dead() {
            return killed;
        }
        let due = self
            .host
            .current()
            .is_some_and(|cpu| self.host.take_preemption(cpu));
        let preempted = due || self.rng.chance(stage.scenario.preempted);
        if preempted && pass(Signal::Pause(Pause::Preempted)) == Resume::Die {
            return killed;
        }
        if self.host.is_dead() { killed } else { Ok(()) }
    }

    /// States a fact.
    pub fn state(&self, fact: Fact) {
        self.host.stage.state(fact);
    }

    /// Its process.
    pub fn process(&mut self) -> ProcessId {
        ProcessId(self.calls.process_id() as u64)
    }

    /// Virtual time in ns.
    pub fn now(&self) -> u64 {
        self.host.stage.now()
    }

    /// The arguments of its process; the first is the program's name.
    pub fn args(&mut self) -> Result<Vec<String>, End> {
        self.breathe()?;
        let length = self.calls.args_len().min((place::SIZE - place::BYTES) as i32);
        self.calls.args_read(self.at(place::BYTES))?;
        let mut bytes = vec![0; length as usize];
        self.get(place::BYTES, &mut bytes);
        let text = String::from_utf8_lossy(&bytes);
        Ok(text.split_terminator('\0').map(str::to_owned).collect())
    }

    // ---- memory ----

    fn at(&self, place: u32) -> u32 {
        self.scratch + place
    }

    /// Guests write within their page only, by construction.
    fn put(&self, place: u32, bytes: &[u8]) -> u32 {
        let at = self.at(place);
        let _ = self.memory.region().write(at as usize, bytes);
        at
    }

    fn get(&self, place: u32, bytes: &mut [u8]) {
        let _ = self.memory.region().read(self.at(place) as usize, bytes);
    }

    fn word(&self, place: u32) -> u32 {
        let mut bytes = [0; 4];
        self.get(place, &mut bytes);
        u32::from_le_bytes(bytes)
    }

    fn put_letter(&self, letter: &Letter) -> u32 {
        let mut bytes = [0; message::SIZE];
        bytes[message::TAG..][..2].copy_from_slice(&letter.tag.to_le_bytes());
        bytes[message::INLINE_LEN] = letter.inline as u8;
        bytes[message::HANDLE_COUNT] = letter.handles.len() as u8;
        for (place, handle) in bytes[message::HANDLES..].chunks_exact_mut(4).zip(&letter.handles) {
            place.copy_from_slice(&handle.to_le_bytes());
        }
        for (place, word) in bytes[message::INLINE..].chunks_exact_mut(8).zip(letter.words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        self.put(place::MESSAGE, &bytes)
    }

    fn get_letter(&self) -> Letter {
        let mut bytes = [0; message::SIZE];
        self.get(place::MESSAGE, &mut bytes);
        let handle = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let count = usize::from(bytes[message::HANDLE_COUNT]);
        let mut letter = Letter {
            tag: u16::from_le_bytes([bytes[0], bytes[1]]),
            inline: usize::from(bytes[message::INLINE_LEN]),
            handles: bytes[message::HANDLES..]
                .chunks_exact(4)
                .take(count)
                .map(handle)
                .collect(),
            ..Letter::default()
        };
        for (word, bytes) in letter
            .words
            .iter_mut()
            .zip(bytes[message::INLINE..].chunks_exact(8))
        {
            *word = bytes
                .iter()
                .rev()
                .fold(0, |word, &byte| word << 8 | u64::from(byte));
        }
        letter
    }

    // ---- names ----

    /// Binds a path.
    pub fn bind(&mut self, path: &str, contract: &Contract, deadline: u64) -> Calling<u32> {
        self.breathe()?;
        let name = self.put(place::NAME, path.as_bytes());
        let digest = self.put(place::DIGEST, &contract.digest.0);
        let out = self.at(place::OUT);
        let result = self.calls.bind(name, path.len() as u32, digest, out, deadline)?;
        Ok(given(result, |_| self.word(place::OUT)))
    }

    /// Registers a path.
    pub fn register(&mut self, path: &str, contract: &Contract) -> Calling<u32> {
        self.breathe()?;
        let name = self.put(place::NAME, path.as_bytes());
        let digest = self.put(place::DIGEST, &contract.digest.0);
        let out = self.at(place::OUT);
        let result = self.calls.register(name, path.len() as u32, digest, out)?;
        Ok(given(result, |_| self.word(place::OUT)))
    }

    /// Takes the next client.
    pub fn accept(&mut self, service: u32, deadline: u64) -> Calling<u32> {
        self.breathe()?;
        let out = self.at(place::OUT);
        let result = self.calls.accept(service, out, deadline)?;
        Ok(given(result, |_| self.word(place::OUT)))
    }

    // ---- channels ----

    /// A channel within the process: the client's end and the service's.
    pub fn channel(&mut self, contract: &Contract) -> Calling<(u32, u32)> {
        self.breathe()?;
        let digest = self.put(place::DIGEST, &contract.digest.0);
        let result = self.calls.channel(digest, self.at(place::OUT))?;
        Ok(given(result, |_| {
            (self.word(place::OUT), self.word(place::OUT + 4))
        }))
    }

    /// Sends, waiting for room.
    pub fn send(&mut self, endpoint: u32, letter: &Letter) -> Calling<()> {
        self.breathe()?;
        let pointer = self.put_letter(letter);
        let result = self.calls.send(endpoint, pointer, FOREVER)?;
        Ok(given(result, |_| ()))
    }

    /// Receives, waiting until the deadline.
    pub fn recv(&mut self, endpoint: u32, deadline: u64) -> Calling<Letter> {
        self.breathe()?;
        let pointer = self.at(place::MESSAGE);
        let result = self.calls.recv(endpoint, pointer, deadline)?;
        Ok(given(result, |_| self.get_letter()))
    }

    /// Waits until one of these is ready; its place.
    pub fn wait(&mut self, handles: &[u32], deadline: u64) -> Calling<usize> {
        self.breathe()?;
        let bytes: Vec<u8> = handles.iter().flat_map(|handle| handle.to_le_bytes()).collect();
        let pointer = self.put(place::HANDLES, &bytes);
        let result = self.calls.wait(pointer, handles.len() as u32, deadline)?;
        Ok(given(result, |place| place as usize))
    }

    /// Closes a handle.
    pub fn close(&mut self, handle: u32) -> Calling<()> {
        self.breathe()?;
        Ok(given(self.calls.close(handle)?, |_| ()))
    }

    // ---- blocks ----

    /// A block of these bytes.
    pub fn block(&mut self, bytes: &[u8]) -> Calling<u32> {
        self.breathe()?;
        let length = bytes.len() as u32;
        let block = match given(self.calls.block_alloc(length)?, |block| block) {
            Ok(block) => block,
            Err(errno) => return Ok(Err(errno)),
        };
        let pointer = self.put(place::BYTES, bytes);
        let result = self.calls.block_write(block, 0, pointer, length)?;
        Ok(given(result, |_| block))
    }

    /// The bytes of a block.
    pub fn block_bytes(&mut self, block: u32) -> Calling<Vec<u8>> {
        self.breathe()?;
        let length = match given(self.calls.block_len(block)?, |length| length) {
            Ok(length) => length,
            Err(errno) => return Ok(Err(errno)),
        };
        let mut bytes = vec![0; length as usize];
        let result = self.calls.block_read(block, 0, self.at(place::BYTES), length)?;
        self.get(place::BYTES, &mut bytes);
        Ok(given(result, |_| bytes))
    }

    // ---- time and threads ----

    /// Sleeps for so many ns.
    pub fn sleep(&mut self, ns: u64) -> Result<(), End> {
        self.breathe()?;
        let deadline = self.now() + ns;
        self.calls.sleep_until(deadline).map(drop)
    }

    /// Lets the other threads of this CPU run.
    pub fn yield_now(&mut self) -> Result<(), End> {
        self.breathe()?;
        self.calls.yield_now()
    }

    /// Starts a thread of the program in the `part`th part of the memory; 0 is the main thread's.
    pub fn spawn(&mut self, function: u32, argument: u32, part: u32) -> Calling<u32> {
        self.breathe()?;
        let result = self.calls.thread_spawn(function, argument, part * place::SIZE)?;
        Ok(given(result, |thread| thread))
    }

    /// Waits for a thread's end.
    pub fn join(&mut self, thread: u32) -> Calling<()> {
        self.breathe()?;
        Ok(given(self.calls.thread_join(thread)?, |_| ()))
    }
}

/// Parts of the memory: the main thread's, and one for each further thread.
pub const PARTS: u32 = satrap_abi::limits::WASM_PAGE / place::SIZE;

//! The kernel calls: what guests ask of the kernel. Each checks what the guest alleges once, and answers with
//! an exact error; none of them can harm the satellite.
//!
//! What a satellite owns is answered here and never leaves it (Helios §2.1, Pisces §3.1); the namespace alone
//! is a question to the coordinator.

mod block;
mod channel;
mod memory;
mod message;
mod namespace;
mod pool;
mod thread;

use crate::{
    cpu::Patience,
    engine::{Access, Call, Calls, End, Engine, Resume},
    event::Event,
    message::Message,
    platform::Platform,
    process::Process,
    rmp::{KnownLinks, RemoteEnd},
    satellite::Satellite,
    task::Task,
};
use alloc::{boxed::Box, sync::Arc, vec, vec::Vec};
use core::{
    cell::{Cell, RefCell},
    task::Waker,
};
use satrap_abi::{
    Digest, Errno, ExitStatus,
    control::{Stream, ToCoordinator},
    limits::CONSOLE_MAX,
};
use satrap_sync::{Ordering, relax};

/// Messages that a thread sends between two looks at the links.
const ATTEND_EVERY: u32 = 8;
/// How often a thread that polls for something from another satellite looks at the links before it looks
/// elsewhere.
const TURNS: u32 = 32;
/// Most random bytes that one call gives.
const RANDOM_MAX: u32 = 64 << 10;

/// What a kernel call waits for.
trait Awaited<T> {
    /// Looks whether it is there; [`Errno::WouldBlock`] if not. If it is not and there is a waker, leaves that
    /// where a change will find it, and looks once more.
    fn look(&mut self, waker: Option<&Waker>) -> Result<T, Errno>;

    /// Whether it can only come from another satellite.
    fn comes_by_a_link(&self) -> bool {
        false
    }

    /// Takes a message that has just come in, if it is what is awaited.
    #[inline]
    fn take(&mut self, _end: &RemoteEnd, _message: &mut Message) -> Option<Result<T, Errno>> {
        None
    }
}

impl<T, F: FnMut(Option<&Waker>) -> Result<T, Errno>> Awaited<T> for F {
    #[inline(always)]
    fn look(&mut self, waker: Option<&Waker>) -> Result<T, Errno> {
        self(waker)
    }
}

/// The kernel calls of one thread.
pub struct CallContext<P: Platform> {
    satellite: Arc<Satellite<P>>,
    process: Arc<Process<P>>,
    task: Arc<Task<P>>,
    waker: Waker,
    thread: u32,
    /// The message that the thread sends or receives: made once, because clearing one takes longer than
    /// filling it.
    message: Cell<Option<Box<Message>>>,
    /// Messages sent since the thread last looked at the links.
    unattended: Cell<u32>,
    links: RefCell<KnownLinks>,
}

impl<P: Platform> CallContext<P> {
    pub(crate) fn new(
        satellite: Arc<Satellite<P>>,
        process: Arc<Process<P>>,
        task: &Arc<Task<P>>,
        thread: u32,
    ) -> CallContext<P> {
        let waker = Waker::from(task.clone());
        CallContext {
            satellite,
            process,
            task: task.clone(),
            waker,
            thread,
            message: Cell::default(),
            unattended: Cell::default(),
            links: RefCell::default(),
        }
    }

    /// The thread's place for a message. Give it back with [`CallContext::keep`].
    #[inline(always)]
    fn message(&self) -> Box<Message> {
        self.message.take().unwrap_or_default()
    }

    #[inline(always)]
    fn keep(&self, message: Box<Message>) {
        self.message.set(Some(message));
    }

    /// Gives the CPU away until something wakes the thread; it looks again then.
    #[inline(always)]
    fn suspend(&self) -> Result<(), End> {
        match P::Engine::suspend() {
            Resume::Run => Ok(()),
            Resume::Die => Err(End(self.process.fate())),
        }
    }

    /// Waits until what is awaited gives something else than [`Errno::WouldBlock`], or the deadline passes.
    #[inline(always)]
    fn wait_until<T>(&self, deadline: u64, mut awaited: impl Awaited<T>) -> Result<Result<T, Errno>, End> {
        let mut polls = self.polls();
        // One place that looks, so that all of it is compiled into this function.
        loop {
            match awaited.look((!polls && deadline != 0).then_some(&self.waker)) {
                Err(Errno::WouldBlock) if deadline != 0 => {}
                done => return Ok(done),
            }
            if core::mem::take(&mut polls) {
                if let Some(done) = self.poll_for(&mut awaited) {
                    return Ok(done);
                }
            } else if self.sleep(deadline)? {
                return Ok(Err(Errno::TimedOut));
            }
        }
    }

    /// Whether it makes sense to poll before the thread gives its CPU away: somebody else may bring what it
    /// waits for, and nobody else wants the CPU.
    #[inline]
    fn polls(&self) -> bool {
        let others = self.satellite.cpus.len() > 1 || self.satellite.rmp.has_links();
        others && self.satellite.cpus[self.task.cpu()].ready() == 0
    }

    /// Suspends until woken or until the deadline; whether the deadline has passed.
    #[inline(always)]
    fn sleep(&self, deadline: u64) -> Result<bool, End> {
        if deadline == satrap_abi::call::FOREVER {
            return self.suspend().map(|()| false);
        }
        self.doze(deadline)
    }

    #[inline(never)]
    fn doze(&self, deadline: u64) -> Result<bool, End> {
        if self.satellite.platform().now() >= deadline {
            return Ok(true);
        }
        let timers = &self.satellite.cpus[self.task.cpu()].timers;
        let key = timers.arm(deadline, &self.waker);
        let resumed = self.suspend();
        timers.cancel(key);
        resumed.map(|()| false)
    }

    /// While nothing else can run here, looks for a while before it gives the CPU away: what comes from another
    /// CPU or satellite is then met by a thread that is still on its stack. `None` if nothing came.
    #[inline(never)]
    fn poll_for<T>(&self, awaited: &mut impl Awaited<T>) -> Option<Result<T, Errno>> {
        let platform = self.satellite.platform();
        let cpu = &self.satellite.cpus[self.task.cpu()];
        let mut links = self.links.borrow_mut();
        links.refresh(&self.satellite.rmp);
        let turns = match awaited.comes_by_a_link() {
            true => TURNS.div_ceil(links.len().max(1) as u32),
            false => 0,
        };
        let mut patience = Patience::new(platform.poll_budget());
        while let Some(now) = patience.turn(&**platform) {
            if cpu.ready() > 0 || self.process.is_dying() {
                return None;
            }
            if !links.is_empty() {
                cpu.looks.store(true, Ordering::Relaxed);
            }
            if turns == 0 {
                relax();
            }
            let mut taken = None;
            for link in links.iter() {
                self.satellite.poll_link(link, turns, &mut |end, message| {
                    if taken.is_none() {
                        taken = awaited.take(end, message);
                        return taken.is_some();
                    }
                    false
                });
            }
            match taken.unwrap_or_else(|| awaited.look(None)) {
                Err(Errno::WouldBlock) => {}
                result => return Some(result),
            }
            if cpu.timers.next().is_some_and(|deadline| deadline <= now) {
                break;
            }
        }
        cpu.polled.store(true, Ordering::Relaxed);
        None
    }

    /// After a message was sent: looks at the links now and then. Who sends much is answered much (credits,
    /// loans that come back), and the peers need not ring for it.
    #[inline(always)]
    fn attend(&self) {
        let unattended = self.unattended.get() + 1;
        self.unattended.set(unattended);
        if unattended >= ATTEND_EVERY {
            self.unattended.set(0);
            if self.satellite.rmp.has_links() {
                self.look_at_links();
            }
        }
    }

    #[inline(never)]
    fn look_at_links(&self) {
        let cpu = &self.satellite.cpus[self.task.cpu()];
        cpu.looks.store(true, Ordering::Relaxed);
        let mut links = self.links.borrow_mut();
        links.refresh(&self.satellite.rmp);
        for link in links.iter() {
            self.satellite.poll_link(link, 0, &mut |_, _| false);
        }
    }

    /// Waits for one event.
    fn wait_event<T>(
        &self,
        deadline: u64,
        event: &Event,
        mut ready: impl FnMut() -> Result<T, Errno>,
    ) -> Result<Result<T, Errno>, End> {
        self.wait_until(deadline, |waker: Option<&Waker>| match (ready(), waker) {
            (Err(Errno::WouldBlock), Some(waker)) => {
                event.announce(waker);
                ready()
            }
            (done, _) => done,
        })
    }

    fn read_bytes(&self, pointer: u32, length: u32, max: usize) -> Result<Vec<u8>, Errno> {
        if length as usize > max {
            return Err(Errno::TooLarge);
        }
        let mut bytes = vec![0; length as usize];
        self.process.read(pointer, &mut bytes)?;
        Ok(bytes)
    }

    fn read_digest(&self, pointer: u32) -> Result<Digest, Errno> {
        let mut digest = [0; 32];
        self.process.read(pointer, &mut digest)?;
        Ok(Digest(digest))
    }

    fn write_word(&self, pointer: u32, word: u32) -> Result<(), Errno> {
        self.process.write(pointer, &word.to_le_bytes())
    }
}

/// What the guest sees of a result without a value.
fn done(result: Result<(), Errno>) -> i32 {
    result.map_or_else(Errno::to_result, |()| 0)
}

/// What the guest sees of a result with a handle, a length or an index.
fn value(result: Result<u32, Errno>) -> i32 {
    result.map_or_else(Errno::to_result, |value| value as i32)
}

impl<P: Platform> Calls for CallContext<P> {
    #[inline(always)]
    fn null(&mut self) {}

    fn exit(&mut self, code: i32) -> End {
        let status = ExitStatus::Code(code);
        self.satellite.end_process(&self.process, status);
        End(status)
    }

    fn yield_now(&mut self) -> Call<()> {
        self.waker.wake_by_ref();
        self.suspend()
    }

    fn clock_now(&mut self) -> i64 {
        self.satellite.platform().now() as i64
    }

    fn clock_wall(&mut self) -> i64 {
        self.satellite.platform().wall_clock() as i64
    }

    fn sleep_until(&mut self, deadline: u64) -> Call {
        while !self.sleep(deadline)? {}
        Ok(0)
    }

    fn random(&mut self, pointer: u32, length: u32) -> Call {
        if length > RANDOM_MAX {
            return Ok(Errno::TooLarge.to_result());
        }
        let mut bytes = vec![0; length as usize];
        self.satellite.platform().random(&mut bytes);
        Ok(done(self.process.write(pointer, &bytes)))
    }

    fn console_write(&mut self, stream: u32, pointer: u32, length: u32) -> Call {
        let stream = match stream {
            1 => Stream::Out,
            2 => Stream::Err,
            _ => return Ok(Errno::Invalid.to_result()),
        };
        let bytes = match self.read_bytes(pointer, length, CONSOLE_MAX) {
            Ok(bytes) => bytes,
            Err(errno) => return Ok(errno.to_result()),
        };
        let process = self.process.id;
        self.satellite.platform().send_control(ToCoordinator::Console {
            process,
            stream,
            bytes,
        });
        Ok(length as i32)
    }

    fn args_len(&mut self) -> i32 {
        self.process.args.len() as i32
    }

    fn args_read(&mut self, pointer: u32) -> Call {
        Ok(done(self.process.write(pointer, &self.process.args)))
    }

    fn process_id(&mut self) -> i64 {
        self.process.id.0 as i64
    }

    fn kernel_id(&mut self) -> i32 {
        i32::from(self.satellite.kernel.0)
    }

    fn memory_size(&mut self) -> u32 {
        self.process.pages()
    }

    fn memory_grow(&mut self, pages: u32) -> i32 {
        self.process.grow(pages).map_or(-1, |old| old as i32)
    }

    fn memory_copy(&mut self, to: u32, from: u32, length: u32) -> Call<()> {
        self.copy(to, from, length)
    }

    fn memory_fill(&mut self, to: u32, value: u32, length: u32) -> Call<()> {
        self.fill(to, value, length)
    }

    fn memory_init(&mut self, segment: u32, to: u32, from: u32, length: u32) -> Call<()> {
        self.init(segment, to, from, length)
    }

    fn data_drop(&mut self, segment: u32) {
        self.drop_segment(segment);
    }

    fn thread_spawn(&mut self, function: u32, argument: u32, stack_top: u32) -> Call {
        Ok(value(self.spawn(function, argument, stack_top)))
    }

    fn thread_join(&mut self, thread: u32) -> Call {
        self.join(thread)
    }

    fn thread_id(&mut self) -> i32 {
        self.thread as i32
    }

    fn thread_priority(&mut self, class: u32) -> Call {
        Ok(done(self.set_priority(class)))
    }

    fn bind(&mut self, name: u32, length: u32, contract: u32, out: u32, deadline: u64) -> Call {
        self.bind_name((name, length), contract, out, deadline)
    }

    fn register(&mut self, path: u32, length: u32, contract: u32, out: u32) -> Call {
        self.register_path((path, length), contract, out)
    }

    fn accept(&mut self, service: u32, out: u32, deadline: u64) -> Call {
        self.accept_client(service, out, deadline)
    }

    fn list(&mut self, prefix: u32, length: u32, buffer: u32, capacity: u32) -> Call {
        self.list_names((prefix, length), (buffer, capacity))
    }

    fn channel(&mut self, contract: u32, out: u32) -> Call {
        Ok(done(self.make_channel(contract, out)))
    }

    fn send(&mut self, endpoint: u32, message: u32, deadline: u64) -> Call {
        self.send_message(endpoint, message, deadline)
    }

    fn recv(&mut self, endpoint: u32, message: u32, deadline: u64) -> Call {
        self.receive_message(endpoint, message, deadline)
    }

    fn call(&mut self, endpoint: u32, message: u32, deadline: u64) -> Call {
        let sent = self.send_message(endpoint, message, deadline)?;
        if sent != 0 {
            Ok(sent)
        } else {
            self.receive_message(endpoint, message, deadline)
        }
    }

    fn wait(&mut self, handles: u32, count: u32, deadline: u64) -> Call {
        self.wait_any(handles, count, deadline)
    }

    fn close(&mut self, handle: u32) -> Call {
        let taken = self.process.table.lock().remove(handle);
        Ok(done(taken.map(|handle| self.close_one(handle))))
    }

    fn block_alloc(&mut self, length: u32) -> Call {
        Ok(value(self.alloc_block(length)))
    }

    fn block_len(&mut self, block: u32) -> Call {
        Ok(value(
            self.process.table.lock().block(block).map(|block| block.len()),
        ))
    }

    fn block_read(&mut self, block: u32, offset: u32, pointer: u32, length: u32) -> Call {
        Ok(done(self.read_block(block, offset, (pointer, length))))
    }

    fn block_write(&mut self, block: u32, offset: u32, pointer: u32, length: u32) -> Call {
        Ok(done(self.write_block(block, offset, (pointer, length))))
    }

    fn block_map(&mut self, block: u32, out: u32) -> Call {
        let mapped = writable(&self.process, out, 4).and_then(|()| self.map_block(block));
        Ok(done(mapped.and_then(|at| self.write_word(out, at))))
    }

    fn pool_create(&mut self, endpoint: u32, size: u32, count: u32, out: u32) -> Call {
        let made = writable(&self.process, out, 4).and_then(|()| self.create_pool(endpoint, size, count));
        Ok(done(made.and_then(|at| self.write_word(out, at))))
    }

    fn pool_acquire(&mut self, endpoint: u32, deadline: u64) -> Call {
        self.acquire_buffer(endpoint, deadline)
    }

    fn pool_release(&mut self, endpoint: u32, index: u32) -> Call {
        Ok(done(self.release_buffer(endpoint, index)))
    }
}

/// Whether a whole range may be written, checked before something irrevocable is done.
fn writable<P: Platform>(process: &Process<P>, pointer: u32, length: usize) -> Result<(), Errno> {
    process.check(pointer, length as u32, Access::ReadWrite)
}

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
mod wait;

use crate::{
    engine::{Access, Call, Calls, End},
    message::Message,
    platform::Platform,
    process::Process,
    rmp::KnownLinks,
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

/// Most random bytes that one call gives.
const RANDOM_MAX: u32 = 64 << 10;

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

//! A kernel in a few lines, for the tests: channels within one thread, each message checked against the
//! contract's table as a satellite does.
//!
//! It offers what generated code and `wire.rs` expect of the crate `satrap`, and nothing else. A `recv`
//! that would wait is an error, because nobody else runs.

use satrap_table::{HandleKind, Side, Table};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::rc::Rc;

#[path = "../../../rust/src/wire.rs"]
pub mod wire;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Error {
    Malformed(wire::Malformed),
    Violation(satrap_table::Violation),
    WouldBlock,
    Closed,
    BadHandle,
}

impl Error {
    pub fn is_late(&self) -> bool {
        *self == Error::WouldBlock
    }
}

impl From<wire::Malformed> for Error {
    fn from(malformed: wire::Malformed) -> Error {
        Error::Malformed(malformed)
    }
}

#[derive(Clone, Debug)]
pub struct Message {
    pub tag: u16,
    pub inline_len: u8,
    pub handle_count: u8,
    pub buffer: u32,
    pub buffer_len: u32,
    pub handles: [u32; 4],
    pub inline: [u8; 64],
}

impl Message {
    pub const fn new(tag: u16) -> Message {
        Message {
            tag,
            inline_len: 0,
            handle_count: 0,
            buffer: 0,
            buffer_len: 0,
            handles: [0; 4],
            inline: [0; 64],
        }
    }
}

/// What stands where nothing was written.
fn unspecified() -> Message {
    Message {
        tag: 0xaaaa,
        inline_len: 0xaa,
        handle_count: 0xaa,
        buffer: 0xaaaa,
        buffer_len: 0xaaaa,
        handles: [0xaaaa; 4],
        inline: [0xaa; 64],
    }
}

/// The message as it stands in a program's memory.
fn lay_out<const N: usize, const H: usize>(fixed: wire::Fixed<N, H>) -> Message {
    let mut message = Message {
        tag: fixed.tag,
        inline_len: fixed.inline_len,
        handle_count: H as u8,
        buffer: fixed.buffer,
        buffer_len: fixed.buffer_len,
        ..unspecified()
    };
    message.handles[..H].copy_from_slice(&fixed.handles);
    message.inline[..N].copy_from_slice(&fixed.inline);
    message
}

struct Channel {
    table: Rc<Table>,
    state: Cell<u8>,
    queues: [RefCell<VecDeque<Message>>; 2],
    open: [Cell<bool>; 2],
}

enum Object {
    Block(Vec<u8>),
    Endpoint(Side, Rc<Channel>),
}

/// Everything that handles name, and the tables that are known.
#[derive(Default)]
struct Kernel {
    next: Cell<u32>,
    objects: RefCell<HashMap<u32, Object>>,
    tables: RefCell<HashMap<[u8; 32], Rc<Table>>>,
    /// What a hostile sender does to its messages after they were encoded.
    sabotage: Cell<Option<fn(&mut Message)>>,
    calls: Cell<usize>,
}

thread_local! {
    static KERNEL: Kernel = Kernel::default();
}

fn with<T>(run: impl FnOnce(&Kernel) -> T) -> T {
    KERNEL.with(run)
}

fn insert(object: Object) -> u32 {
    with(|kernel| {
        kernel.next.set(kernel.next.get() + 1);
        kernel.objects.borrow_mut().insert(kernel.next.get(), object);
        kernel.next.get()
    })
}

fn close(handle: u32) {
    let object = with(|kernel| kernel.objects.borrow_mut().remove(&handle));
    if let Some(Object::Endpoint(side, channel)) = object {
        channel.open[side as usize].set(false);
    }
}

/// How many handles are open: what is left at the end of a test was leaked.
pub fn open_handles() -> usize {
    with(|kernel| kernel.objects.borrow().len())
}

/// Kernel calls on endpoints so far.
pub fn calls() -> usize {
    with(|kernel| kernel.calls.get())
}

/// Changes each message that is sent from now on.
pub fn sabotage(change: Option<fn(&mut Message)>) {
    with(|kernel| kernel.sabotage.set(change));
}

/// Makes a contract known, as the kernel learns it from a program's section.
pub fn learn(entry: &[u8]) {
    let table = satrap_table::entries(entry)
        .next()
        .unwrap()
        .unwrap()
        .parse()
        .unwrap();
    with(|kernel| {
        kernel
            .tables
            .borrow_mut()
            .insert(table.digest().0, Rc::new(table))
    });
}

pub fn channel(contract: &[u8; 32]) -> Result<(Endpoint, Endpoint), Error> {
    let table =
        with(|kernel| kernel.tables.borrow().get(contract).cloned()).expect("the contract was learnt");
    let channel = Rc::new(Channel {
        table,
        state: Cell::new(Table::START),
        queues: Default::default(),
        open: [Cell::new(true), Cell::new(true)],
    });
    let end = |side| Endpoint(insert(Object::Endpoint(side, channel.clone())));
    Ok((end(Side::Client), end(Side::Service)))
}

macro_rules! owned_handle {
    ($name:ident) => {
        #[derive(Debug)]
        pub struct $name(u32);

        impl $name {
            pub fn from_raw(handle: u32) -> $name {
                $name(handle)
            }

            pub fn into_raw(self) -> u32 {
                let handle = self.0;
                std::mem::forget(self);
                handle
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                close(self.0);
            }
        }
    };
}

owned_handle!(Endpoint);
owned_handle!(Block);

impl Endpoint {
    fn channel(&self) -> Result<(Side, Rc<Channel>), Error> {
        with(|kernel| match kernel.objects.borrow().get(&self.0) {
            Some(Object::Endpoint(side, channel)) => Ok((*side, channel.clone())),
            _ => Err(Error::BadHandle),
        })
    }

    pub fn send(&self, message: &mut Message) -> Result<(), Error> {
        with(|kernel| kernel.calls.set(kernel.calls.get() + 1));
        self.deliver(message)
    }

    fn deliver(&self, message: &mut Message) -> Result<(), Error> {
        let (side, channel) = self.channel()?;
        if let Some(change) = with(|kernel| kernel.sabotage.get()) {
            change(message);
        }
        let kind = |handle: &u32| match with(|kernel| kernel.objects.borrow().get(handle).map(is_block)) {
            Some(true) => Ok(HandleKind::Block),
            Some(false) => Ok(HandleKind::Endpoint),
            None => Err(Error::BadHandle),
        };
        let handles = &message.handles[..message.handle_count as usize];
        let kinds = handles.iter().map(kind).collect::<Result<Vec<_>, _>>()?;
        let (inline, buffer) = (message.inline_len as usize, message.buffer != 0);
        let next = channel
            .table
            .step(channel.state.get(), side, message.tag, inline, &kinds, buffer);
        let next = next.map_err(Error::Violation)?;
        if !channel.open[side.peer() as usize].get() {
            return Err(Error::Closed);
        }
        channel.state.set(next);
        channel.queues[side.peer() as usize]
            .borrow_mut()
            .push_back(message.clone());
        Ok(())
    }

    pub fn recv(&self, message: &mut Message) -> Result<(), Error> {
        with(|kernel| kernel.calls.set(kernel.calls.get() + 1));
        self.collect(message)
    }

    fn collect(&self, message: &mut Message) -> Result<(), Error> {
        let (side, channel) = self.channel()?;
        let next = channel.queues[side as usize].borrow_mut().pop_front();
        match next {
            Some(next) => *message = next,
            None if channel.open[side.peer() as usize].get() => return Err(Error::WouldBlock),
            None => return Err(Error::Closed),
        }
        Ok(())
    }

    pub fn recv_into<'m>(&self, place: &'m mut wire::Place) -> Result<&'m mut Message, Error> {
        let message = place.write(unspecified());
        self.recv(message)?;
        Ok(message)
    }

    pub fn recv_into_until<'m>(
        &self,
        place: &'m mut wire::Place,
        _deadline: u64,
    ) -> Result<&'m mut Message, Error> {
        self.recv_into(place)
    }

    pub fn send_fixed<const N: usize, const H: usize>(
        &self,
        message: wire::Fixed<N, H>,
    ) -> Result<(), Error> {
        self.send(&mut lay_out(message))
    }

    pub fn call_fixed<'m, const N: usize, const H: usize>(
        &self,
        message: wire::Fixed<N, H>,
        place: &'m mut wire::Place,
    ) -> Result<&'m mut Message, Error> {
        let message = place.write(lay_out(message));
        self.call(message)?;
        Ok(message)
    }

    /// Nobody can answer between the halves of a call here, so answers are queued beforehand.
    pub fn call(&self, message: &mut Message) -> Result<(), Error> {
        with(|kernel| kernel.calls.set(kernel.calls.get() + 1));
        self.deliver(message)?;
        SERVER.with(|server| {
            if let Some(serve) = server.borrow_mut().as_mut() {
                serve();
            }
        });
        self.collect(message)
    }

    pub fn claim_buffer(&self, message: &Message) -> Result<ReceivedBuffer, Error> {
        match message.buffer {
            0 => Err(Error::BadHandle),
            index => Ok(ReceivedBuffer {
                index: index - 1,
                len: message.buffer_len,
            }),
        }
    }
}

type Server = Box<dyn FnMut()>;

thread_local! {
    static SERVER: RefCell<Option<Server>> = const { RefCell::new(None) };
}

/// Sets what runs between the halves of a call: the other side.
pub fn serve(server: impl FnMut() + 'static) {
    SERVER.with(|slot| *slot.borrow_mut() = Some(Box::new(server)));
}

fn is_block(object: &Object) -> bool {
    matches!(object, Object::Block(_))
}

impl Block {
    pub fn alloc(len: usize) -> Result<Block, Error> {
        assert!(len > 0, "a block has at least one byte");
        Ok(Block(insert(Object::Block(vec![0; len]))))
    }

    fn with_bytes<T>(&self, run: impl FnOnce(&mut Vec<u8>) -> T) -> Result<T, Error> {
        with(|kernel| match kernel.objects.borrow_mut().get_mut(&self.0) {
            Some(Object::Block(bytes)) => Ok(run(bytes)),
            _ => Err(Error::BadHandle),
        })
    }

    pub fn len(&self) -> usize {
        self.with_bytes(|bytes| bytes.len()).unwrap_or(0)
    }

    pub fn write(&mut self, offset: usize, from: &[u8]) -> Result<(), Error> {
        self.with_bytes(|bytes| bytes[offset..offset + from.len()].copy_from_slice(from))
    }

    pub fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), Error> {
        self.with_bytes(|bytes| into.copy_from_slice(&bytes[offset..offset + into.len()]))
    }
}

pub struct Buffer {
    pub index: u32,
    pub len: u32,
}

impl Buffer {
    pub fn attach(self, message: &mut Message) {
        (message.buffer, message.buffer_len) = self.into_parts();
    }

    pub fn into_parts(self) -> (u32, u32) {
        (self.index + 1, self.len)
    }
}

#[derive(PartialEq, Eq, Debug)]
pub struct ReceivedBuffer {
    pub index: u32,
    pub len: u32,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// Names are not tested here: every test makes its channels by itself.
pub fn bind(_name: &str, _contract: &[u8; 32]) -> Result<Endpoint, Error> {
    Err(Error::Closed)
}

pub fn bind_until(name: &str, contract: &[u8; 32], _deadline: u64) -> Result<Endpoint, Error> {
    bind(name, contract)
}

#[derive(Debug)]
pub struct Service;

impl Service {
    pub fn register(_path: &str, _contract: &[u8; 32]) -> Result<Service, Error> {
        Err(Error::Closed)
    }

    pub fn accept(&self) -> Result<Endpoint, Error> {
        Err(Error::Closed)
    }

    pub fn accept_until(&self, _deadline: u64) -> Result<Endpoint, Error> {
        self.accept()
    }
}

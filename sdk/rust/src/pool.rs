//! Pools: buffers that the producer writes and the consumer reads in place, so that a message of any size
//! costs a descriptor (DESIGN §5).
//!
//! A pool belongs to one endpoint and one direction. A buffer is the producer's from [`Pool::acquire`] until
//! it is sent, and the consumer's from then until its [`ReceivedBuffer`] is dropped.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;
use std::sync::Arc;

use satrap_abi::Errno;

use crate::handle::Handle;
use crate::raw::{self, calls, view::View};
use crate::time::FOREVER;
use crate::{Endpoint, Error, Message};

/// Buffers start at multiples of a cache line.
const ALIGNMENT: u32 = 64;

/// The producer's side of a pool.
#[derive(Clone, Debug)]
pub struct Pool {
    shared: Rc<Shared>,
}

#[derive(Debug)]
struct Shared {
    endpoint: Arc<Handle>,
    base: u32,
    size: u32,
    /// Buffers that were acquired and dropped unsent. The kernel has them as acquired still.
    spare: RefCell<Vec<u32>>,
}

impl Pool {
    /// Gives `endpoint`'s sending direction `count` buffers of `size` bytes. Once for each endpoint.
    pub fn new(endpoint: &Endpoint, size: usize, count: usize) -> Result<Pool, Error> {
        let size = u32::try_from(size).map_err(|_| Errno::TooLarge)?;
        let count = u32::try_from(count).map_err(|_| Errno::TooLarge)?;
        let endpoint = endpoint.handle().clone();
        let base = calls::pool_create(endpoint.number(), size, count)?;
        Ok(Pool {
            shared: Rc::new(Shared {
                endpoint,
                base,
                size,
                spare: RefCell::default(),
            }),
        })
    }

    /// A free buffer; waits until the consumer has released one.
    pub fn acquire(&self) -> Result<Buffer, Error> {
        self.acquire_until(FOREVER)
    }

    /// [`Pool::acquire`] with a deadline.
    pub fn acquire_until(&self, deadline: u64) -> Result<Buffer, Error> {
        let spare = self.shared.spare.borrow_mut().pop();
        let index = match spare {
            Some(index) => index,
            None => calls::check(raw::pool_acquire(self.shared.endpoint.number(), deadline))?,
        };
        let stride = self.shared.size.next_multiple_of(ALIGNMENT);
        let address = index
            .checked_mul(stride)
            .and_then(|offset| offset.checked_add(self.shared.base));
        // I3: the kernel mapped the pool at `base` and gave out buffer `index` of it; `Buffer` keeps the
        // endpoint open.
        let view = View::new(address.ok_or(Errno::Invalid)?, self.shared.size as usize)?;
        Ok(Buffer {
            view,
            index,
            shared: Some(self.shared.clone()),
        })
    }
}

/// A pool buffer that its producer fills: a mutable slice. Dropped unsent, it goes back to the pool.
#[derive(Debug)]
pub struct Buffer {
    view: View,
    index: u32,
    /// `None` once the buffer is attached to a message.
    shared: Option<Rc<Shared>>,
}

impl Buffer {
    /// Sends only the first `len` bytes.
    pub fn truncate(&mut self, len: usize) {
        self.view.truncate(len);
    }

    /// Lets the buffer travel with a message.
    pub fn attach(self, message: &mut Message) {
        (message.buffer, message.buffer_len) = self.into_parts();
    }

    /// What a message says of the buffer that travels with it: 1 + its index, and its length.
    #[inline]
    pub(crate) fn into_parts(mut self) -> (u32, u32) {
        self.shared = None;
        // A buffer's length fits: the pool's creation took it as a `u32`.
        (1 + self.index, self.view.len() as u32)
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.view.bytes()
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.view.bytes_mut()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.take() {
            shared.spare.borrow_mut().push(self.index);
        }
    }
}

/// A pool buffer that arrived with a message: a slice, read where the producer wrote it, and released to the
/// producer when it is dropped.
#[derive(Debug)]
pub struct ReceivedBuffer {
    view: View,
    index: u32,
    endpoint: Arc<Handle>,
}

impl ReceivedBuffer {
    /// The buffer that `message`, just received through `endpoint`, brought.
    pub(crate) fn claim(endpoint: Arc<Handle>, message: &Message) -> Result<ReceivedBuffer, Error> {
        let index = message.buffer.checked_sub(1).ok_or(Errno::Invalid)?;
        // I3: the kernel wrote address and length when it delivered the message (no other code can set them),
        // and the buffer is ours until released; `endpoint` keeps the pool mapped.
        let view = View::new(message.buffer_address, message.buffer_len as usize)?;
        Ok(ReceivedBuffer {
            view,
            index,
            endpoint,
        })
    }
}

impl Deref for ReceivedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.view.bytes()
    }
}

impl Drop for ReceivedBuffer {
    fn drop(&mut self) {
        // It fails only when the channel is closed, and then nobody waits for the buffer.
        raw::pool_release(self.endpoint.number(), self.index);
    }
}

//! Pools: the producer's and the consumer's calls.
//!
//! A producer acquires a buffer and sends its index, the consumer reads it in place and releases it; no byte
//! is copied. The kernel's own `pool.rs` counts who has which; `window.rs` shows the pool to the process.

use super::{CallContext, value};
use crate::{
    engine::{Access, Call},
    platform::Platform,
    pool::Pool,
    process::{Held, Process},
};
use alloc::sync::Arc;
use satrap_abi::Errno;

impl<P: Platform> CallContext<P> {
    pub(super) fn create_pool(&self, endpoint: u32, size: u32, count: u32) -> Result<u32, Errno> {
        let (total, stride) = Pool::layout(size, count)?;
        let footprint = u64::from(total.checked_next_power_of_two().ok_or(Errno::TooLarge)?);
        let mut table = self.process.table.lock();
        if table.endpoint(endpoint)?.endpoint.pool_out().is_some() {
            return Err(Errno::LimitReached);
        }
        table.charge(footprint, &self.process.limits)?;
        let held = table.endpoint(endpoint)?;
        let made = self.map_pool(held, total, stride, count);
        match made {
            Ok(_) => held.pool_charge = footprint,
            Err(_) => table.discharge(footprint),
        }
        made
    }

    fn map_pool(&self, held: &mut Held, total: u32, stride: u32, count: u32) -> Result<u32, Errno> {
        let pool = Pool::new(self.satellite.rmp.heap.alloc(total)?, stride, count)?;
        let mut window = self.process.window.lock();
        let at = window.map(&*self.process.memory, pool.pages(), Access::ReadWrite)?;
        if let Err(errno) = held.endpoint.set_pool(pool) {
            window.unmap(&*self.process.memory, at);
            return Err(errno);
        }
        held.pool_out_at = Some(at);
        Ok(at)
    }

    pub(super) fn acquire_buffer(&self, endpoint: u32, deadline: u64) -> Call {
        let pool = self
            .process
            .table
            .lock()
            .endpoint(endpoint)
            .and_then(|held| pool_of(held));
        let pool = match pool {
            Ok(pool) => pool,
            Err(errno) => return Ok(errno.to_result()),
        };
        Ok(value(self.wait_event(deadline, &pool.freed, || pool.acquire())?))
    }

    pub(super) fn release_buffer(&self, endpoint: u32, index: u32) -> Result<(), Errno> {
        self.process
            .table
            .lock()
            .endpoint(endpoint)?
            .endpoint
            .release_buffer(index)
    }
}

fn pool_of(held: &Held) -> Result<Arc<Pool>, Errno> {
    held.endpoint.pool_out().cloned().ok_or(Errno::Invalid)
}

/// Where the consumer finds a buffer: its pool is mapped read-only when the first buffer arrives.
pub(super) fn buffer_address<P: Platform>(
    process: &Process<P>,
    held: &mut Held,
    index: u32,
) -> Result<u32, Errno> {
    let pool = held.endpoint.pool_in().ok_or(Errno::Invalid)?;
    let base = match held.pool_in_at {
        Some(at) => at,
        None => {
            let at = process
                .window
                .lock()
                .map(&*process.memory, pool.pages(), Access::ReadOnly)?;
            *held.pool_in_at.insert(at)
        }
    };
    Ok(base + index * pool.stride)
}

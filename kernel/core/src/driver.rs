//! Drivers: native tasks that serve a channel by contract, as processes do (DESIGN §1).
//!
//! A driver holds endpoints as a process does and is bound by the same contracts and limits; only its code is
//! trusted. The host's TCP in `platforms/hosted/src/net` is one.

use crate::{
    endpoint::Endpoint, namespace::Answer, platform::Platform, satellite::Satellite, service::Service,
};
use alloc::{boxed::Box, string::String, sync::Arc};
use core::{
    future::{Future, poll_fn},
    pin::Pin,
    task::Poll,
};
use satrap_abi::{
    Errno, ProcessId,
    control::{ServiceId, ToCoordinator},
};
use satrap_table::Table;

/// What a driver's task is.
pub type DriverTask = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The process id under which a kernel's own drivers appear.
pub const KERNEL_PROCESS: ProcessId = ProcessId(0);

/// A driver's service.
pub struct DriverService<P: Platform> {
    satellite: Arc<Satellite<P>>,
    service: Arc<Service>,
    id: ServiceId,
}

impl<P: Platform> DriverService<P> {
    /// Registers `path` in the namespace.
    ///
    /// # Errors
    /// [`Errno::NameTaken`], [`Errno::LimitReached`].
    pub async fn register(
        satellite: &Arc<Satellite<P>>,
        path: &str,
        contract: Arc<Table>,
    ) -> Result<DriverService<P>, Errno> {
        let digest = contract.digest();
        let service = Service::new(path, contract);
        let id = satellite.add_service(service.clone())?;
        let driver = DriverService {
            satellite: satellite.clone(),
            service,
            id,
        };
        let (request, pending) = satellite.requests.open();
        satellite.platform().send_control(ToCoordinator::Register {
            request,
            process: KERNEL_PROCESS,
            path: String::from(path),
            contract: digest,
            service: id,
        });
        let answer = poll_fn(|context| {
            pending.answered.announce(context.waker());
            pending.take().map_or(Poll::Pending, Poll::Ready)
        });
        match answer.await {
            Answer::Registered => Ok(driver),
            Answer::Refused(errno) => Err(errno),
            _ => Err(Errno::Invalid),
        }
    }

    /// The next client.
    pub async fn accept(&self) -> Box<Endpoint> {
        poll_fn(|context| {
            self.service.arrived.announce(context.waker());
            self.service.accept().map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

impl<P: Platform> Drop for DriverService<P> {
    fn drop(&mut self) {
        self.satellite.remove_service(self.id);
    }
}

//! Names: bind, register, list. These alone ask another kernel, the coordinator (Helios §3.5).
//!
//! A bind waits until the service appears or its deadline passes, and compares contracts by digest.
//! `service.rs` is what a registered name stands for.

use super::{CallContext, done, writable};
use crate::{
    engine::{Call, End},
    namespace::{Answer, Request},
    platform::Platform,
    process::Handle,
    rmp::RemoteEnd,
    service::Service,
};
use alloc::{
    boxed::Box,
    string::{String, ToString},
    sync::Arc,
};
use satrap_abi::{
    Digest, Errno,
    call::FOREVER,
    control::{RequestId, ToCoordinator},
    limits::NAME_MAX,
};
use satrap_table::{Side, Table};

impl<P: Platform> CallContext<P> {
    fn read_name(&self, (pointer, length): (u32, u32)) -> Result<String, Errno> {
        let bytes = self.read_bytes(pointer, length, NAME_MAX)?;
        String::from_utf8(bytes).map_err(|_| Errno::Invalid)
    }

    /// Waits for the answer to a question, or gives up.
    fn await_answer(&self, id: RequestId, request: &Request, deadline: u64) -> Result<Answer, End> {
        let look = || request.take().ok_or(Errno::WouldBlock);
        // A question that need not wait is still a question: its answer takes a moment.
        let deadline = if deadline == 0 { FOREVER } else { deadline };
        let answer = self.wait_event(deadline, &request.answered, look);
        if !matches!(answer, Ok(Ok(_))) {
            let answered = !self.satellite.requests.cancel(id);
            if answered && let Some(late) = request.take() {
                self.satellite.decline(late);
            }
            self.satellite
                .platform()
                .send_control(ToCoordinator::BindCancel { request: id });
        }
        Ok(answer?.unwrap_or_else(Answer::Refused))
    }

    pub(super) fn bind_name(&self, name: (u32, u32), contract: u32, out: u32, deadline: u64) -> Call {
        let prepared = writable(&self.process, out, 4).and_then(|()| {
            let name = self.read_name(name)?;
            let path = self.process.resolve(&name)?;
            let digest = self.read_digest(contract)?;
            let contract = self.satellite.rmp.contract(&digest).ok_or(Errno::NotFound)?;
            Ok((name, path, contract))
        });
        let (name, path, contract) = match prepared {
            Ok(prepared) => prepared,
            Err(errno) => return Ok(errno.to_result()),
        };
        let opened = self.satellite.rmp.open(&contract, Side::Client, Table::START);
        let (channel, shadow, endpoint) = match opened {
            Ok(opened) => opened,
            Err(errno) => return Ok(errno.to_result()),
        };
        let (request, pending) = self.satellite.requests.open();
        let (process, contract, wait) = (self.process.id, contract.digest(), deadline != 0);
        let question = ToCoordinator::Bind {
            request,
            process,
            path,
            contract,
            channel,
            wait,
        };
        self.satellite.platform().send_control(question);
        let answer = self.await_answer(request, &pending, deadline)?;
        let bound = self.connect(answer, &shadow, endpoint);
        Ok(done(
            bound.and_then(|endpoint| self.hand_over(endpoint.named(&name), out)),
        ))
    }

    fn connect(
        &self,
        answer: Answer,
        shadow: &RemoteEnd,
        endpoint: Box<crate::Endpoint>,
    ) -> Result<Box<crate::Endpoint>, Errno> {
        match answer {
            Answer::Local(endpoint) => Ok(endpoint),
            Answer::Remote(bound) => {
                let joined = self.satellite.join(shadow, bound);
                joined.inspect_err(|_| self.satellite.decline(answer))?;
                Ok(endpoint)
            }
            Answer::Refused(errno) => Err(errno),
            Answer::Registered | Answer::Names(_) => Err(Errno::Invalid),
        }
    }

    pub(super) fn register_path(&self, path: (u32, u32), contract: u32, out: u32) -> Call {
        let prepared = writable(&self.process, out, 4).and_then(|()| {
            let path = self.read_name(path)?;
            if !self.process.may_register(&path) {
                return Err(Errno::Denied);
            }
            let digest = self.read_digest(contract)?;
            let contract = self.satellite.rmp.contract(&digest).ok_or(Errno::NotFound)?;
            Ok((Service::new(&path, contract), digest))
        });
        match prepared.and_then(|(service, digest)| Ok((self.enter(&service)?, service, digest))) {
            Ok((handle, service, digest)) => self.publish(handle, &service, digest, out),
            Err(errno) => Ok(errno.to_result()),
        }
    }

    /// Makes the service and its handle; nobody knows its name yet.
    fn enter(&self, service: &Arc<Service>) -> Result<(u32, u64), Errno> {
        let mut table = self.process.table.lock();
        if table.names >= self.process.limits.names {
            return Err(Errno::LimitReached);
        }
        let id = self.satellite.add_service(service.clone())?;
        match table.insert(Handle::Service(id, service.clone())) {
            Ok(handle) => {
                table.names += 1;
                Ok((handle, id))
            }
            Err(_) => {
                drop(table);
                self.satellite.remove_service(id);
                Err(Errno::LimitReached)
            }
        }
    }

    fn publish(&self, (handle, id): (u32, u64), service: &Service, contract: Digest, out: u32) -> Call {
        let (request, pending) = self.satellite.requests.open();
        let (process, path) = (self.process.id, service.path.to_string());
        let question = ToCoordinator::Register {
            request,
            process,
            path,
            contract,
            service: id,
        };
        self.satellite.platform().send_control(question);
        let registered = match self.await_answer(request, &pending, FOREVER)? {
            Answer::Registered => self.write_word(out, handle),
            Answer::Refused(errno) => Err(errno),
            _ => Err(Errno::Invalid),
        };
        if registered.is_err()
            && let Ok(taken) = self.process.table.lock().remove(handle)
        {
            self.close_one(taken);
        }
        Ok(done(registered))
    }

    pub(super) fn list_names(&self, prefix: (u32, u32), (buffer, capacity): (u32, u32)) -> Call {
        let prefix = match self.read_name(prefix) {
            Ok(prefix) => prefix,
            Err(errno) => return Ok(errno.to_result()),
        };
        let (request, pending) = self.satellite.requests.open();
        self.satellite
            .platform()
            .send_control(ToCoordinator::List { request, prefix });
        let names = match self.await_answer(request, &pending, FOREVER)? {
            Answer::Names(names) => names,
            Answer::Refused(errno) => return Ok(errno.to_result()),
            _ => return Ok(Errno::Invalid.to_result()),
        };
        let mut bytes = names.join("\0").into_bytes();
        bytes.push(0);
        let fits = bytes.len().min(capacity as usize);
        Ok(match self.process.write(buffer, &bytes[..fits]) {
            Ok(()) => bytes.len() as i32,
            Err(errno) => errno.to_result(),
        })
    }
}

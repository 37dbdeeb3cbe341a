//! The namespace's frames: permission first, then the namespace's word, then its actions.
//!
//! A faulty kernel can thus harm no names but those of its own processes.

use super::Executive;
use crate::{
    api::Event,
    namespace::{Action, Bind, KernelLife, Object},
};
use satrap_abi::control::{FRAME_MAX, RequestId, ToCoordinator, ToSatellite};
use satrap_abi::{Digest, Errno, ProcessId};

/// Bytes of names that one answer to `List` holds: the rest of a frame is its head.
const LIST_MAX: usize = FRAME_MAX - 4096;
/// The process under which a kernel's own drivers appear.
const KERNEL: ProcessId = ProcessId(0);
/// Folders whose names the drivers of kernels may register.
const DRIVERS: [&str; 1] = ["/net/"];

impl Executive {
    pub(super) fn naming(&mut self, from: KernelLife, frame: ToCoordinator) {
        match frame {
            ToCoordinator::Register {
                request,
                process,
                path,
                contract,
                service,
            } => {
                let object = Object::Service {
                    process,
                    service,
                    contract,
                };
                let result = self.register(from, process, path, object);
                self.send(from, ToSatellite::RegisterReply { request, result });
            }
            ToCoordinator::Unregister { service } => {
                let actions = self.names.unregister(from, service);
                self.perform(actions);
            }
            ToCoordinator::Bind {
                request,
                process,
                path,
                contract,
                channel,
                wait,
            } => {
                let client = from;
                self.bind(Bind {
                    client,
                    request,
                    process,
                    path,
                    contract,
                    channel,
                    wait,
                });
            }
            ToCoordinator::BindCancel { request } => self.names.cancel(from, request),
            ToCoordinator::ConnectReply {
                client,
                request,
                result,
            } => {
                let actions = self.names.connected(from, client, request, result);
                self.perform(actions);
            }
            ToCoordinator::List { request, prefix } => self.list(from, request, &prefix),
            // The rest is not about names; `frame` has seen to it.
            _ => {}
        }
    }

    pub(super) fn perform(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Connect { to, service, bind } => {
                    let connect = ToSatellite::Connect {
                        request: bind.request,
                        service,
                        client: bind.client.kernel,
                        generation: bind.client.generation,
                        process: bind.process,
                        channel: bind.channel,
                    };
                    self.send(to, connect);
                }
                Action::Reply { to, request, result } => {
                    self.send(to, ToSatellite::BindReply { request, result });
                }
                Action::Mismatch { bind, exported } => self.explain_mismatch(&bind, exported),
                Action::Registered { path, owner } => {
                    let kernel = owner.kernel.0;
                    self.record.event(Event::NameRegistered { path, kernel });
                }
                Action::Removed { path } => self.record.event(Event::NameRemoved { path }),
            }
        }
    }

    /// A process of that kernel may register what its manifest names, and the kernel's own drivers what stands
    /// below [`DRIVERS`]. The kernel has checked that too; but a faulty kernel must not take the names of others.
    fn register(
        &mut self,
        from: KernelLife,
        process: ProcessId,
        path: String,
        object: Object,
    ) -> Result<(), Errno> {
        let granted = match process {
            KERNEL => DRIVERS.iter().any(|folder| path.starts_with(folder)),
            process => self
                .member_of(from, process)
                .is_some_and(|member| member.plan.may_register(&path)),
        };
        if !granted {
            return Err(Errno::Denied);
        }
        let actions = self.names.register(from, path, object)?;
        self.perform(actions);
        Ok(())
    }

    fn bind(&mut self, bind: Bind) {
        let member = self.member_of(bind.client, bind.process);
        if member.is_some_and(|member| member.plan.may_bind(&bind.path)) {
            let actions = self.names.bind(bind);
            return self.perform(actions);
        }
        let denied = ToSatellite::BindReply {
            request: bind.request,
            result: Err(Errno::Denied),
        };
        self.send(bind.client, denied);
    }

    /// Answers with as many names as a frame holds.
    fn list(&mut self, from: KernelLife, request: RequestId, prefix: &str) {
        let mut room = LIST_MAX;
        let fits = |(path, _): &(&str, _)| {
            // Its length takes two bytes at most.
            let size = path.len() + 2;
            let fits = size <= room;
            room = room.saturating_sub(size);
            fits
        };
        let names = self.names.list(prefix).take_while(fits);
        let names = names.map(|(path, _)| path.to_owned()).collect();
        self.send(from, ToSatellite::ListReply { request, names });
    }

    fn explain_mismatch(&mut self, bind: &Bind, exported: Digest) {
        let client = self
            .member(bind.process)
            .map_or("a process", |member| member.plan.process_name());
        let reason = self.contracts.explain(bind.contract, exported);
        let text = format!(
            "{client} (process {}) cannot bind {}: {reason}",
            bind.process, bind.path
        );
        self.tell_about(bind.process, text);
    }
}

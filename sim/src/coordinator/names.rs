//! The namespace, as `coordinator/daemon/src/namespace.rs` keeps it: calls return the frames to be sent.
//!
//! It does no I/O and knows no time; `mod.rs` beside it delivers what it returns.

use crate::events::Life;
use satrap_abi::{
    ChannelId, Digest, Errno, KernelId, ProcessId,
    control::{Bound, RequestId, ServiceId, ToSatellite},
};
use std::collections::BTreeMap;

/// A frame to be sent.
pub struct Action {
    /// To whom.
    pub to: Life,
    /// What.
    pub frame: ToSatellite,
}

/// A bind as its kernel asked for it.
#[derive(Clone)]
pub struct Bind {
    /// The client's kernel.
    pub client: Life,
    /// Chosen by that kernel.
    pub request: RequestId,
    /// The client process.
    pub process: ProcessId,
    /// The wanted path.
    pub path: String,
    /// The contract that the client imports.
    pub contract: Digest,
    /// The client's end.
    pub channel: ChannelId,
    /// Whether to wait until the name appears.
    pub wait: bool,
}

struct Entry {
    owner: Life,
    process: ProcessId,
    service: ServiceId,
    contract: Digest,
}

/// The names, and the binds that are under way.
#[derive(Default)]
pub struct Namespace {
    entries: BTreeMap<String, Entry>,
    waiting: Vec<Bind>,
    connecting: Vec<(Life, Bind)>,
}

fn reply(bind: &Bind, result: Result<Bound, Errno>) -> Action {
    let request = bind.request;
    Action {
        to: bind.client,
        frame: ToSatellite::BindReply { request, result },
    }
}

impl Namespace {
    /// Adds a service, and connects those who wait for it.
    pub fn register(
        &mut self,
        owner: Life,
        process: ProcessId,
        path: String,
        (service, contract): (ServiceId, Digest),
    ) -> Result<Vec<Action>, Errno> {
        if self.entries.contains_key(&path) {
            return Err(Errno::NameTaken);
        }
        let entry = Entry {
            owner,
            process,
            service,
            contract,
        };
        self.entries.insert(path.clone(), entry);
        let woken: Vec<Bind> = self.waiting.extract_if(.., |bind| bind.path == path).collect();
        Ok(woken.into_iter().flat_map(|bind| self.bind(bind)).collect())
    }

    /// Takes a service's name out.
    pub fn unregister(&mut self, owner: Life, service: ServiceId) -> Vec<Action> {
        self.entries
            .retain(|_, entry| entry.owner != owner || entry.service != service);
        Vec::new()
    }

    /// Asks for a channel to a service.
    pub fn bind(&mut self, bind: Bind) -> Vec<Action> {
        let Some(entry) = self.entries.get(&bind.path) else {
            if !bind.wait {
                return vec![reply(&bind, Err(Errno::NotFound))];
            }
            self.waiting.push(bind);
            return Vec::new();
        };
        if entry.contract != bind.contract {
            return vec![reply(&bind, Err(Errno::ContractMismatch))];
        }
        let frame = ToSatellite::Connect {
            request: bind.request,
            service: entry.service,
            client: bind.client.kernel,
            generation: bind.client.generation,
            process: bind.process,
            channel: bind.channel,
        };
        let to = entry.owner;
        self.connecting.push((to, bind));
        vec![Action { to, frame }]
    }

    /// The answer of a service's kernel.
    pub fn connected(
        &mut self,
        from: Life,
        client: KernelId,
        request: RequestId,
        result: Result<ChannelId, Errno>,
    ) -> Vec<Action> {
        let asked = |(service, bind): &(Life, Bind)| {
            *service == from && bind.client.kernel == client && bind.request == request
        };
        let Some(place) = self.connecting.iter().position(asked) else {
            return Vec::new();
        };
        let (_, bind) = self.connecting.swap_remove(place);
        let withdrawn = matches!(result, Err(Errno::NotFound | Errno::Closed | Errno::PeerDied));
        let served = self
            .entries
            .get(&bind.path)
            .is_some_and(|entry| entry.owner == from);
        if withdrawn && bind.wait && !served {
            // The service was withdrawn while the request was on its way: wait for the next.
            return self.bind(bind);
        }
        let bound = |channel| Bound {
            kernel: from.kernel,
            generation: from.generation,
            channel,
        };
        vec![reply(&bind, result.map(bound))]
    }

    /// Forgets a bind that waits.
    pub fn cancel(&mut self, client: Life, request: RequestId) {
        self.waiting
            .retain(|bind| bind.client != client || bind.request != request);
    }

    /// A process is gone: its names vanish, its waiting binds are forgotten.
    pub fn process_gone(&mut self, owner: Life, gone: ProcessId) -> Vec<Action> {
        self.waiting
            .retain(|bind| bind.client != owner || bind.process != gone);
        self.entries
            .retain(|_, entry| entry.owner != owner || entry.process != gone);
        Vec::new()
    }

    /// A kernel is gone: its names vanish, its binds are forgotten, binds to it fail or wait.
    pub fn kernel_gone(&mut self, gone: Life) -> Vec<Action> {
        self.waiting.retain(|bind| bind.client != gone);
        self.connecting.retain(|(_, bind)| bind.client != gone);
        self.entries.retain(|_, entry| entry.owner != gone);
        let orphans: Vec<(Life, Bind)> = self
            .connecting
            .extract_if(.., |(service, _)| *service == gone)
            .collect();
        let orphan = |(_, bind): (Life, Bind)| match bind.wait {
            true => self.bind(bind),
            false => vec![reply(&bind, Err(Errno::KernelDied))],
        };
        orphans.into_iter().flat_map(orphan).collect()
    }

    /// Every name and its process.
    pub fn list(&self) -> impl Iterator<Item = (&str, ProcessId)> {
        self.entries
            .iter()
            .map(|(path, entry)| (path.as_str(), entry.process))
    }
}

//! The namespace: one tree of names for the whole machine (DESIGN §7), as a pure state machine.
//!
//! It does no I/O and knows no time: calls return the [`Action`]s to be done, in order. Binding follows
//! Helios §3.5: the request is forwarded to the service's kernel, which makes the channel directly with the
//! client's kernel; the namespace only remembers who waits for what. Every answer is given exactly once.

use satrap_abi::control::{Bound, RequestId, ServiceId};
use satrap_abi::{ChannelId, Digest, Errno, KernelId, ProcessId, limits::NAME_MAX};
use std::collections::BTreeMap;

/// Most names in the tree.
pub const NAMES_MAX: usize = 1 << 16;
/// Most binds of one kernel that wait or connect at once.
pub const BINDS_MAX: usize = 4096;

/// One life of a kernel: its number and its generation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct KernelLife {
    /// Its number.
    pub kernel: KernelId,
    /// How many kernels had this number before it.
    pub generation: u32,
}

/// What stands behind a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Object {
    /// A kernel itself.
    Kernel,
    /// A service that a process registered.
    Service {
        /// The process.
        process: ProcessId,
        /// The service, in its kernel's table.
        service: ServiceId,
        /// The contract that it exports.
        contract: Digest,
    },
}

/// An entry. It vanishes when its owner withdraws it or dies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The owner's kernel.
    pub owner: KernelLife,
    /// What it is.
    pub object: Object,
    /// Attributes, such as a kernel's platform.
    pub attributes: BTreeMap<String, String>,
}

/// A bind as its kernel asked for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bind {
    /// The client's kernel.
    pub client: KernelLife,
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

/// What has to be done now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// Ask the service's kernel for its end of the channel.
    Connect {
        /// The service's kernel.
        to: KernelLife,
        /// The service.
        service: ServiceId,
        /// For whom.
        bind: Bind,
    },
    /// Answer the client's kernel.
    Reply {
        /// The client's kernel.
        to: KernelLife,
        /// Its request.
        request: RequestId,
        /// Where it leads, or why not.
        result: Result<Bound, Errno>,
    },
    /// Tell the operator that two contracts differ.
    Mismatch {
        /// The refused bind.
        bind: Bind,
        /// The contract that the service exports.
        exported: Digest,
    },
    /// A name appeared.
    Registered {
        /// The name.
        path: String,
        /// Its owner's kernel.
        owner: KernelLife,
    },
    /// A name is gone.
    Removed {
        /// The name.
        path: String,
    },
}

/// The tree, and the binds that are under way.
#[derive(Default, Debug)]
pub struct Namespace {
    entries: BTreeMap<String, Entry>,
    /// Binds of names that do not exist yet, in the order in which they came.
    waiting: Vec<Bind>,
    /// Binds forwarded to a service's kernel, with that kernel.
    connecting: Vec<(KernelLife, Bind)>,
}

/// Whether a path is one that the tree can hold: absolute, no empty or dot segment, at most [`NAME_MAX`] bytes.
pub fn is_valid(path: &str) -> bool {
    path.len() <= NAME_MAX
        && path.bytes().all(|byte| byte.is_ascii_graphic())
        && path
            .strip_prefix('/')
            .is_some_and(|rest| rest.split('/').all(|part| !matches!(part, "" | "." | "..")))
}

impl Namespace {
    /// Puts a kernel into the tree as `/kernel/N`.
    pub fn add_kernel(&mut self, life: KernelLife, attributes: BTreeMap<String, String>) -> Vec<Action> {
        let path = format!("/kernel/{}", life.kernel);
        let entry = Entry {
            owner: life,
            object: Object::Kernel,
            attributes,
        };
        self.entries.insert(path.clone(), entry);
        vec![Action::Registered { path, owner: life }]
    }

    /// Puts a service into the tree, and connects those who wait for it.
    ///
    /// # Errors
    /// `Invalid` for a bad path, `Denied` below `/kernel`, `NameTaken`, `LimitReached` when the tree is full.
    pub fn register(
        &mut self,
        owner: KernelLife,
        path: String,
        object: Object,
    ) -> Result<Vec<Action>, Errno> {
        if !is_valid(&path) {
            return Err(Errno::Invalid);
        }
        if path == "/kernel" || path.starts_with("/kernel/") {
            return Err(Errno::Denied);
        }
        if self.entries.contains_key(&path) {
            return Err(Errno::NameTaken);
        }
        if self.entries.len() >= NAMES_MAX {
            return Err(Errno::LimitReached);
        }
        let entry = Entry {
            owner,
            object,
            attributes: BTreeMap::new(),
        };
        self.entries.insert(path.clone(), entry);
        let woken: Vec<Bind> = self.waiting.extract_if(.., |bind| bind.path == path).collect();
        let mut actions = vec![Action::Registered { path, owner }];
        actions.extend(woken.into_iter().flat_map(|bind| self.bind(bind)));
        Ok(actions)
    }

    /// Takes a service's names out.
    pub fn unregister(&mut self, owner: KernelLife, service: ServiceId) -> Vec<Action> {
        self.remove(|entry| {
            entry.owner == owner
                && matches!(entry.object, Object::Service { service: own, .. } if own == service)
        })
    }

    /// Asks for a channel to a service.
    pub fn bind(&mut self, bind: Bind) -> Vec<Action> {
        let refuse = |bind: &Bind, errno| Action::Reply {
            to: bind.client,
            request: bind.request,
            result: Err(errno),
        };
        if !is_valid(&bind.path) {
            return vec![refuse(&bind, Errno::Invalid)];
        }
        if self.binds_of(bind.client) >= BINDS_MAX {
            return vec![refuse(&bind, Errno::LimitReached)];
        }
        let Some(entry) = self.entries.get(&bind.path) else {
            if !bind.wait {
                return vec![refuse(&bind, Errno::NotFound)];
            }
            self.waiting.push(bind);
            return Vec::new();
        };
        match entry.object {
            Object::Kernel => vec![refuse(&bind, Errno::Unsupported)],
            Object::Service { contract, .. } if contract != bind.contract => {
                let reply = refuse(&bind, Errno::ContractMismatch);
                let exported = contract;
                vec![Action::Mismatch { bind, exported }, reply]
            }
            Object::Service { service, .. } => {
                let to = entry.owner;
                self.connecting.push((to, bind.clone()));
                vec![Action::Connect { to, service, bind }]
            }
        }
    }

    /// The answer of a service's kernel. One that nobody asked for is ignored.
    pub fn connected(
        &mut self,
        from: KernelLife,
        client: KernelId,
        request: RequestId,
        result: Result<ChannelId, Errno>,
    ) -> Vec<Action> {
        let asked = |(service, bind): &(KernelLife, Bind)| {
            *service == from && bind.client.kernel == client && bind.request == request
        };
        let Some(place) = self.connecting.iter().position(asked) else {
            return Vec::new();
        };
        let (_, bind) = self.connecting.swap_remove(place);
        let withdrawn = matches!(result, Err(Errno::NotFound | Errno::Closed | Errno::PeerDied));
        if withdrawn && bind.wait && !self.is_served_by(&bind.path, from) {
            // The service was withdrawn while the request was on its way: wait for the next.
            return self.bind(bind);
        }
        vec![Action::Reply {
            to: bind.client,
            request,
            result: result.map(|channel| Bound {
                kernel: from.kernel,
                generation: from.generation,
                channel,
            }),
        }]
    }

    /// Forgets a bind that waits. One that is being connected is answered all the same: its kernel closes the
    /// channel, since only it can.
    pub fn cancel(&mut self, client: KernelLife, request: RequestId) {
        self.waiting
            .retain(|bind| bind.client != client || bind.request != request);
    }

    /// A process is gone: its names vanish, its waiting binds are forgotten.
    pub fn process_gone(&mut self, owner: KernelLife, gone: ProcessId) -> Vec<Action> {
        self.waiting
            .retain(|bind| bind.client != owner || bind.process != gone);
        self.remove(|entry| {
            entry.owner == owner && matches!(entry.object, Object::Service { process, .. } if process == gone)
        })
    }

    /// A kernel is gone: its names vanish, its binds are forgotten, binds that it was connecting fail with
    /// `KernelDied`, or wait for the service's next life if they said that they would wait.
    pub fn kernel_gone(&mut self, gone: KernelLife) -> Vec<Action> {
        self.waiting.retain(|bind| bind.client != gone);
        self.connecting.retain(|(_, bind)| bind.client != gone);
        let mut actions = self.remove(|entry| entry.owner == gone);
        let orphans: Vec<_> = self
            .connecting
            .extract_if(.., |(service, _)| *service == gone)
            .collect();
        for (_, bind) in orphans {
            if bind.wait {
                actions.extend(self.bind(bind));
            } else {
                actions.push(Action::Reply {
                    to: bind.client,
                    request: bind.request,
                    result: Err(Errno::KernelDied),
                });
            }
        }
        actions
    }

    /// The entry of that exact path.
    pub fn lookup(&self, path: &str) -> Option<&Entry> {
        self.entries.get(path)
    }

    /// Entries whose path begins with `prefix`, sorted by path.
    pub fn list<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a Entry)> {
        self.entries
            .range(prefix.to_owned()..)
            .take_while(move |(path, _)| path.starts_with(prefix))
            .map(|(path, entry)| (path.as_str(), entry))
    }

    /// Binds that wait or connect for that kernel.
    fn binds_of(&self, client: KernelLife) -> usize {
        let connecting = self.connecting.iter().map(|(_, bind)| bind);
        let all = self.waiting.iter().chain(connecting);
        all.filter(|bind| bind.client == client).count()
    }

    fn is_served_by(&self, path: &str, kernel: KernelLife) -> bool {
        self.entries.get(path).is_some_and(|entry| entry.owner == kernel)
    }

    fn remove(&mut self, mut unwanted: impl FnMut(&Entry) -> bool) -> Vec<Action> {
        self.entries
            .extract_if(.., |_, entry| unwanted(entry))
            .map(|(path, _)| Action::Removed { path })
            .collect()
    }
}

#[cfg(test)]
#[path = "namespace_tests.rs"]
mod tests;

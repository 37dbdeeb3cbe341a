//! The satellite kernel as a whole: what its CPUs share, and how it answers the coordinator.
//!
//! It is sovereign over its own processes, memory and channels; the coordinator is asked for names only, and
//! it goes on running what it has when nobody answers (DESIGN §13).

use crate::{
    cpu::Cpu,
    driver::DriverTask,
    endpoint,
    engine::{Engine, Program as _},
    heap::ExchangeHeap,
    link::{Link, LinkParts},
    namespace::{Answer, Requests},
    platform::Platform,
    process::{Handle, Process, ProgramOf},
    rmp::{KnownLinks, Offer, RemoteEnd, Rmp, header, kind},
    service::Service,
    slab::Slab,
    task::{Body, Task},
};
use alloc::{boxed::Box, collections::BTreeMap, string::String, sync::Arc, vec::Vec};
use satrap_abi::{
    ChannelId, Digest, Errno, ExitStatus, KernelId, ProcessId, Slot,
    control::{Bound, KernelStats, RequestId, ServiceId, ToCoordinator, ToSatellite},
};
use satrap_region::Region;
use satrap_sync::{AtomicBool, AtomicUsize, Ordering, SpinLock};
use satrap_table::{Side, Table};

/// Most services of one satellite.
const SERVICES_MAX: u32 = 1 << 16;

/// A satellite kernel.
pub struct Satellite<P: Platform> {
    platform: Arc<P>,
    pub(crate) kernel: KernelId,
    pub(crate) cpus: Box<[Arc<Cpu<P>>]>,
    pub(crate) rmp: Arc<Rmp>,
    pub(crate) requests: Requests,
    programs: SpinLock<BTreeMap<Digest, ProgramOf<P>>>,
    processes: SpinLock<BTreeMap<ProcessId, Arc<Process<P>>>>,
    services: SpinLock<Slab<Arc<Service>>>,
    next_cpu: AtomicUsize,
    stopping: AtomicBool,
    started: u64,
}

impl<P: Platform> Satellite<P> {
    /// A kernel over `heap`, the exchange heap part of its export. It runs once its executors do.
    pub fn new(platform: Arc<P>, kernel: KernelId, heap: Region) -> Arc<Satellite<P>> {
        let started = platform.now();
        let satellite = Arc::new(Satellite {
            kernel,
            cpus: (0..platform.cpus()).map(|_| Arc::new(Cpu::new())).collect(),
            rmp: Rmp::new(ExchangeHeap::new(heap)),
            requests: Requests::default(),
            programs: SpinLock::default(),
            processes: SpinLock::default(),
            services: SpinLock::new(Slab::new(SERVICES_MAX)),
            next_cpu: AtomicUsize::new(0),
            stopping: AtomicBool::new(false),
            started,
            platform,
        });
        let weak = Arc::downgrade(&satellite);
        satellite.rmp.set_spawner(Arc::new(move |future| {
            if let Some(satellite) = weak.upgrade() {
                satellite.spawn_task(future);
            }
        }));
        satellite
    }

    /// The platform beneath it.
    pub fn platform(&self) -> &Arc<P> {
        &self.platform
    }

    /// Its exchange heap.
    pub fn heap(&self) -> &Arc<ExchangeHeap> {
        &self.rmp.heap
    }

    // ---- scheduling ----

    /// Puts a task that may run into its CPU's queue, and wakes that CPU if it sleeps.
    #[inline]
    pub(crate) fn enqueue(&self, task: Arc<Task<P>>) {
        let index = task.cpu();
        let cpu = &self.cpus[index];
        let runs = cpu.push(task);
        if self.platform.current_cpu() == Some(index) {
            if runs {
                cpu.arm(&self.platform, index, crate::cpu::QUANTUM);
            }
        } else if cpu.parked.take() {
            self.platform.unpark(index);
        } else if runs && !cpu.is_armed() {
            self.platform.interrupt(index);
        }
    }

    /// Runs a future as a kernel task: a driver, a relay.
    pub fn spawn_task(self: &Arc<Self>, future: DriverTask) {
        let task = Task::new(self.clone(), None, self.next_cpu(), 1);
        task.consist_of(Body::Future(future));
        alloc::task::Wake::wake(task);
    }

    fn next_cpu(&self) -> usize {
        self.next_cpu.fetch_add(1, Ordering::Relaxed) % self.cpus.len()
    }

    /// For an idle CPU: a task that has waited behind a running one on another CPU.
    pub(crate) fn steal_for(&self, index: usize, patience: u64) -> Option<Arc<Task<P>>> {
        for (other, cpu) in self.cpus.iter().enumerate() {
            let since = cpu.running_since.load(Ordering::Relaxed);
            if other == index || cpu.ready() == 0 || since == 0 {
                continue;
            }
            let ran = self.platform.ticks().saturating_sub(since);
            if self.platform.nanoseconds_in(ran) < patience {
                continue;
            }
            let movable = |task: &Task<P>| {
                task.thread
                    .as_ref()
                    .is_none_or(|(process, _)| process.threads.lock().live.len() == 1)
            };
            if let Some(task) = cpu.steal(movable) {
                task.move_to(index);
                return Some(task);
            }
        }
        None
    }

    /// Whether it has shut down: told to, and nothing is left.
    pub(crate) fn has_stopped(&self) -> bool {
        self.stopping.load(Ordering::Acquire) && self.processes.lock().is_empty()
    }

    // ---- links ----

    /// A peer satellite has come.
    pub fn link_up(&self, parts: LinkParts) {
        self.rmp.link_up(parts);
        self.kick();
    }

    /// A peer satellite is gone.
    pub fn link_down(&self, kernel: KernelId, generation: u32) {
        self.rmp.link_down(kernel, generation);
    }

    /// Takes in what a link brought, or brings while this looks at most `turns` times; a peer that writes
    /// garbage loses the link.
    pub(crate) fn poll_link(&self, link: &Arc<Link>, turns: u32, offer: &mut Offer<'_>) -> bool {
        match self.rmp.poll(link, turns, offer) {
            Ok(any) => any,
            Err(fault) => {
                self.accuse(link, fault.0);
                true
            }
        }
    }

    /// A peer's kernel broke the rules: its link is reset, and the coordinator is told why.
    pub(crate) fn accuse(&self, link: &Link, reason: String) {
        let (kernel, generation) = (link.kernel, link.generation);
        self.rmp.link_down(kernel, generation);
        self.platform.send_control(ToCoordinator::LinkFailed {
            kernel,
            generation,
            reason,
        });
    }

    /// Says where a shadow endpoint's channel leads.
    ///
    /// # Errors
    /// [`Errno::KernelDied`] if that peer is gone, or if another has spoken for it, which is reset then.
    pub(crate) fn join(&self, shadow: &RemoteEnd, bound: Bound) -> Result<(), Errno> {
        let link = self
            .rmp
            .link(bound.kernel, bound.generation)
            .ok_or(Errno::KernelDied)?;
        shadow.connect(bound.channel, &link).map_err(|other| {
            self.accuse(&other, String::from("frames for a channel of another satellite"));
            Errno::KernelDied
        })
    }

    /// Takes in what all links have brought. Returns whether there was anything.
    pub(crate) fn poll_links(&self, links: &mut KnownLinks) -> bool {
        links.refresh(&self.rmp);
        let poll = |any, link| self.poll_link(link, 0, &mut |_, _| false) | any;
        links.iter().fold(false, poll)
    }

    /// Makes every CPU look around. One that is about to run a thread has looked already and may not show yet
    /// that it runs, so that all are interrupted that do not sleep.
    fn kick(&self) {
        for (index, cpu) in self.cpus.iter().enumerate() {
            if cpu.parked.take() {
                self.platform.unpark(index);
            } else {
                self.platform.interrupt(index);
            }
        }
    }

    // ---- programs and processes ----

    /// Loads an artifact under its digest, and learns the contracts that it carries.
    pub fn load(&self, digest: Digest, artifact: &[u8]) -> Result<(), Errno> {
        let program = self.platform.engine().load(artifact)?;
        for entry in satrap_table::entries(program.contracts()) {
            let table = entry
                .and_then(|entry| entry.parse())
                .map_err(|_| Errno::Invalid)?;
            self.rmp.learn(table);
        }
        self.programs.lock().insert(digest, program);
        Ok(())
    }

    /// Makes a contract known that a driver serves.
    pub fn learn(&self, table: Table) -> Arc<Table> {
        self.rmp.learn(table)
    }

    /// The processes, by id.
    pub(crate) fn process(&self, id: ProcessId) -> Option<Arc<Process<P>>> {
        self.processes.lock().get(&id).cloned()
    }

    /// Adds a new process.
    pub(crate) fn admit(&self, process: Arc<Process<P>>) {
        self.processes.lock().insert(process.id, process);
    }

    /// Removes a process that never ran.
    pub(crate) fn forget(&self, id: ProcessId) {
        self.processes.lock().remove(&id);
    }

    /// Gives back what a process held.
    pub(crate) fn close_handle(&self, process: &Process<P>, handle: Handle, reason: Errno) {
        match handle {
            Handle::Endpoint(held) => {
                let mut window = process.window.lock();
                for at in [held.pool_out_at, held.pool_in_at].into_iter().flatten() {
                    window.unmap(&*process.memory, at);
                }
                drop(window);
                process.remember(&held.endpoint, self.kernel);
                held.endpoint.close(reason);
            }
            Handle::Service(id, _) => self.remove_service(id),
            Handle::Block(block, mapped_at) => {
                if let Some(at) = mapped_at {
                    process.window.lock().unmap(&*process.memory, at);
                }
                drop(block);
            }
        }
    }

    /// The program with this digest.
    pub(crate) fn program(&self, digest: &Digest) -> Result<ProgramOf<P>, Errno> {
        self.programs.lock().get(digest).cloned().ok_or(Errno::NotFound)
    }

    /// The CPU for a new process: each in turn.
    pub(crate) fn choose_cpu(&self) -> usize {
        self.next_cpu()
    }

    /// Ends a process; its threads unwind as soon as they can be stopped.
    pub(crate) fn end_process(&self, process: &Process<P>, status: ExitStatus) {
        process.doom(status);
        let threads: Vec<_> = process
            .threads
            .lock()
            .live
            .values()
            .map(|(task, _)| task.clone())
            .collect();
        for task in threads {
            let cpu = task.cpu();
            alloc::task::Wake::wake(task);
            if self.platform.current_cpu() != Some(cpu) {
                self.platform.interrupt(cpu);
            }
        }
        process.yields_turn(|held| self.enqueue(held));
    }

    /// The executor: a thread has ended.
    pub(crate) fn thread_ended(&self, task: &Arc<Task<P>>, status: ExitStatus) {
        let Some((process, number)) = &task.thread else {
            return;
        };
        // First, for a process with one thread left may move to another CPU, and take turns there.
        process.yields_turn(|held| self.enqueue(held));
        let mut threads = process.threads.lock();
        let ended = threads.live.remove(number);
        let last = threads.live.is_empty();
        drop(threads);
        if let Some((_, joined)) = ended {
            joined.signal();
        }
        if (*number == 0 || !status.is_success()) && !process.is_dying() {
            self.end_process(process, status);
        }
        if last {
            self.process_ended(process);
        }
    }

    /// Nothing of the process runs any more: what it held is given back, and the coordinator is told.
    fn process_ended(&self, process: &Process<P>) {
        let status = process.fate();
        let reason = if status.is_success() {
            Errno::Closed
        } else {
            Errno::PeerDied
        };
        let handles = process.table.lock().drain();
        for handle in handles {
            self.close_handle(process, handle, reason);
        }
        self.processes.lock().remove(&process.id);
        self.platform.send_control(ToCoordinator::Exited {
            process: process.id,
            status,
        });
        if self.stopping.load(Ordering::Acquire) {
            self.kick();
        }
    }

    // ---- services ----

    /// Adds a service; it is reachable once the coordinator has its name.
    pub(crate) fn add_service(&self, service: Arc<Service>) -> Result<ServiceId, Errno> {
        self.services
            .lock()
            .insert(service)
            .map(Slot::pack)
            .map_err(|_| Errno::LimitReached)
    }

    /// Takes a service away, with its name.
    pub(crate) fn remove_service(&self, id: ServiceId) {
        let service = self.services.lock().remove(Slot::unpack(id));
        if let Some(service) = service {
            service.close();
            self.platform
                .send_control(ToCoordinator::Unregister { service: id });
        }
    }

    /// Answers [`ToSatellite::Connect`]: makes the channel directly with the client's kernel (Helios §3.5).
    fn connect(
        &self,
        (request, client): (RequestId, (KernelId, u32)),
        service: ServiceId,
        channel: ChannelId,
    ) -> Result<ChannelId, Errno> {
        let service = self
            .services
            .lock()
            .get(Slot::unpack(service))
            .cloned()
            .ok_or(Errno::NotFound)?;
        if client.0 == self.kernel {
            let (client_end, service_end) = endpoint::channel(&service.contract);
            service.offer(service_end.named(&service.path))?;
            let _ = self.requests.answer(request, Answer::Local(client_end));
            return Ok(channel);
        }
        let (id, shadow, service_end) = self.rmp.open(&service.contract, Side::Service, Table::START)?;
        let (kernel, generation) = client;
        let bound = Bound {
            kernel,
            generation,
            channel,
        };
        self.join(&shadow, bound)?;
        service.offer(service_end.named(&service.path))?;
        Ok(id)
    }

    // ---- the coordinator ----

    /// Answers a frame of the coordinator. Frames that need the platform's hands (`Boot`, `PeerUp`, `PeerDown`,
    /// `Load`) are the platform's business: it calls [`Satellite::link_up`] and its kin.
    pub fn control(self: &Arc<Self>, frame: ToSatellite) {
        match frame {
            ToSatellite::Spawn(spec) => {
                let process = spec.process;
                let result = crate::spawn::process(self, spec);
                self.platform
                    .send_control(ToCoordinator::Spawned { process, result });
            }
            ToSatellite::Kill(id) => {
                if let Some(process) = self.process(id) {
                    self.end_process(&process, ExitStatus::Killed);
                }
            }
            ToSatellite::Connect {
                request,
                service,
                client,
                generation,
                channel,
                ..
            } => {
                let result = self.connect((request, (client, generation)), service, channel);
                self.platform.send_control(ToCoordinator::ConnectReply {
                    client,
                    request,
                    result,
                });
            }
            ToSatellite::BindReply { request, result } => self.bound(request, result),
            ToSatellite::RegisterReply { request, result } => {
                let answer = result.map_or_else(Answer::Refused, |()| Answer::Registered);
                let _ = self.requests.answer(request, answer);
            }
            ToSatellite::ListReply { request, names } => {
                let _ = self.requests.answer(request, Answer::Names(names));
            }
            ToSatellite::StatsRequest => self.platform.send_control(ToCoordinator::Stats(self.stats())),
            ToSatellite::Shutdown => self.shut_down(),
            ToSatellite::PeerDown { kernel, generation } => self.link_down(kernel, generation),
            ToSatellite::Boot(_) | ToSatellite::PeerUp { .. } | ToSatellite::Load { .. } => {}
        }
    }

    fn bound(&self, request: RequestId, result: Result<Bound, Errno>) {
        let answer = result.map_or_else(Answer::Refused, Answer::Remote);
        if let Err(late) = self.requests.answer(request, answer) {
            self.decline(late);
        }
    }

    /// The client gave up before it saw the answer: the service must learn that nobody comes.
    pub(crate) fn decline(&self, answer: Answer) {
        if let Answer::Remote(bound) = answer
            && let Some(link) = self.rmp.link(bound.kernel, bound.generation)
        {
            link.post(&[&[
                header(kind::CLOSE, 0, 0),
                bound.channel.0.pack(),
                Errno::Closed as u64,
            ]]);
        }
    }

    /// Ends every process, then the kernel.
    pub fn shut_down(&self) {
        let processes: Vec<_> = self.processes.lock().values().cloned().collect();
        self.stopping.store(true, Ordering::Release);
        processes
            .iter()
            .for_each(|process| self.end_process(process, ExitStatus::Killed));
        self.kick();
    }

    /// Its figures.
    pub fn stats(&self) -> KernelStats {
        let processes: Vec<_> = self.processes.lock().values().cloned().collect();
        let sum = |of: fn(&Cpu<P>) -> u64| self.cpus.iter().map(|cpu| of(cpu)).sum::<u64>();
        let now = self.platform.now();
        let ticks = self.platform.ticks();
        // A thread that has run alone for long has not been charged since it was dispatched.
        let uncharged: Vec<(u64, u64)> = self.cpus.iter().map(|cpu| cpu.uncharged(ticks)).collect();
        let figures = |process: &Arc<Process<P>>| {
            let mut stats = process.stats();
            let running = uncharged.iter().filter(|(owner, _)| *owner == stats.process);
            let ticks = process.time() + running.map(|(_, spent)| spent).sum::<u64>();
            stats.cpu = self.platform.nanoseconds_in(ticks);
            stats
        };
        let channels = processes.iter().flat_map(|process| process.traffic(self.kernel));
        KernelStats {
            uptime: now - self.started,
            busy: self.platform.nanoseconds_in(
                sum(|cpu| cpu.busy.load(Ordering::Relaxed))
                    + uncharged.iter().map(|(_, spent)| spent).sum::<u64>(),
            ),
            switches: sum(|cpu| cpu.switches.load(Ordering::Relaxed)),
            preemptions: sum(|cpu| cpu.preemptions.load(Ordering::Relaxed)),
            parks: sum(|cpu| cpu.parks.load(Ordering::Relaxed)),
            doorbells: self.platform.doorbells(),
            exchange_used: self.rmp.heap.used(),
            processes: processes.iter().map(figures).collect(),
            channels: channels.collect(),
        }
    }
}

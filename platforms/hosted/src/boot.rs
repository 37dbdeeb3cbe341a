//! From a control socket to a running satellite: the coordinator says what the satellite owns, and nothing else
//! is discovered (Pisces §4.1).

use crate::{
    bells::Eventfd,
    control::{Control, Received},
    cpus::{self, CpuHandle},
    export::SharedMemory,
    machine::LINUX,
    net,
    notifier::Notifier,
    platform::{Hosted, NAME, monotonic},
    ticks::Ticks,
};
use rustix::event::{PollFd, PollFlags, poll};
use satrap_abi::control::{ResourceMap, ToCoordinator, ToSatellite};
use satrap_engine::Wasmtime;
use satrap_kernel::{Executor, Satellite};
use satrap_link::Export;
use std::{fmt, io, os::fd::OwnedFd, sync::Arc, thread};

/// Why a satellite could not start.
#[derive(Debug)]
pub enum BootError {
    /// The first frame was not a resource map.
    NoResources,
    /// The resource map names no CPU.
    NoCpus,
    /// Linux refused something.
    System(&'static str, io::Error),
    /// The engine cannot run here.
    Engine(String),
}

impl fmt::Display for BootError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BootError::NoResources => f.write_str("the coordinator did not say what this satellite owns"),
            BootError::NoCpus => f.write_str("the coordinator assigned no CPU to this satellite"),
            BootError::System(what, error) => write!(f, "{what}: {error}"),
            BootError::Engine(error) => write!(f, "the engine cannot run here: {error}"),
        }
    }
}

impl std::error::Error for BootError {}

fn system<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> BootError {
    move |error| BootError::System(what, error.into())
}

/// Runs a satellite until its coordinator ends it or is gone.
///
/// # Errors
/// [`BootError`] when it cannot start. Once it runs, only the end of its last process ends it.
pub fn run(socket: OwnedFd) -> Result<(), BootError> {
    let control = Arc::new(Control::new(socket));
    let resources = first_frame(&control)?;
    if resources.cpus.is_empty() {
        return Err(BootError::NoCpus);
    }
    let memory = SharedMemory::create(resources.export as usize).map_err(system("cannot make the export"))?;
    let export = Export::format(memory.region().clone(), resources.kernel, resources.generation)
        .map_err(|error| BootError::System("cannot format the export", io::Error::other(error)))?;
    let attention = export
        .attention()
        .map_err(|error| BootError::Engine(error.to_string()))?;
    let engine =
        Wasmtime::new(&LINUX, resources.key).map_err(|error| BootError::Engine(error.to_string()))?;
    let cpus = resources
        .cpus
        .iter()
        .map(|_| CpuHandle::new())
        .collect::<io::Result<Vec<_>>>();
    let platform = Arc::new(Hosted {
        engine,
        cpus: cpus.map_err(system("cannot make a doorbell"))?,
        interrupted: Eventfd::new().map_err(system("cannot make a doorbell"))?,
        control,
        attention,
        doorbells: Arc::default(),
        ticks: Ticks::starting(monotonic()),
    });
    let satellite = Satellite::new(platform.clone(), resources.kernel, export.heap().clone());
    announce(&platform, &memory, resources.export)?;
    net::start(&satellite, resources.kernel);
    let notifier = Notifier {
        satellite: satellite.clone(),
        export,
    };
    thread::Builder::new()
        .name("notifier".into())
        .spawn(move || notifier.run())
        .map_err(system("cannot start the notifier"))?;
    run_cpus(&satellite, &resources)
}

fn first_frame(control: &Control) -> Result<ResourceMap, BootError> {
    loop {
        let mut fds = [PollFd::from_borrowed_fd(control.fd(), PollFlags::IN)];
        let _ = poll(&mut fds, None);
        match control.receive() {
            Received::Nothing => {}
            Received::Frame(frame, _) => match *frame {
                ToSatellite::Boot(resources) => return Ok(resources),
                _ => return Err(BootError::NoResources),
            },
            Received::Closed => return Err(BootError::NoResources),
        }
    }
}

fn announce(platform: &Hosted, memory: &SharedMemory, export: u64) -> Result<(), BootError> {
    let ready = ToCoordinator::Ready {
        platform: NAME.into(),
        export,
    };
    // CPU 0 answers the doorbells of the whole satellite.
    let files = [
        memory.file(),
        platform.cpus[0].bell.fd(),
        platform.interrupted.fd(),
    ];
    platform
        .control
        .send_with(&ready, &files)
        .map_err(system("cannot reach the coordinator"))
}

fn run_cpus(satellite: &Arc<Satellite<Hosted>>, resources: &ResourceMap) -> Result<(), BootError> {
    let mut others = Vec::new();
    for (index, &core) in resources.cpus.iter().enumerate().skip(1) {
        let satellite = satellite.clone();
        let cpu = thread::Builder::new()
            .name(format!("cpu{index}"))
            .spawn(move || run_cpu(&satellite, index, core));
        others.push(cpu.map_err(system("cannot start a CPU's thread"))?);
    }
    run_cpu(satellite, 0, resources.cpus[0])?;
    for cpu in others {
        // A panic in the kernel aborts the process, so that a thread that can be joined has returned.
        if let Ok(result) = cpu.join() {
            result?;
        }
    }
    Ok(())
}

fn run_cpu(satellite: &Arc<Satellite<Hosted>>, index: usize, core: u32) -> Result<(), BootError> {
    satellite.platform().cpus[index]
        .enter(index, core)
        .map_err(system("cannot become a CPU"))?;
    Executor::new(satellite.clone(), index).run();
    cpus::leave();
    Ok(())
}

//! A fake satellite: a thread that speaks the control protocol over a real control socket.
//!
//! It answers boot, loads and spawns as a satellite does; everything else a test does through [`Fake`].

#[path = "../../src/testing.rs"]
mod artifacts;

use rustix::event::{EventfdFlags, eventfd};
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, recv, send, sendmsg};
use satrap_abi::KernelId;
use satrap_abi::artifact::Target;
use satrap_abi::control::{FRAME_MAX, ToCoordinator, ToSatellite, decode, encode};
use satrap_coordinator::api::{Control, Event, Flow, RunRequest, Source};
use satrap_coordinator::satellite::{Launched, Launcher, pair};
use satrap_coordinator::{Config, Coordinator};
use std::{
    fs, io,
    mem::MaybeUninit,
    os::fd::{AsFd, OwnedFd},
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    sync::mpsc,
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

/// The longest that a test waits for anything.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// One life of one fake satellite.
pub struct Fake {
    /// Its number.
    pub kernel: KernelId,
    /// Its life.
    pub generation: u32,
    socket: Arc<OwnedFd>,
    frames: mpsc::Receiver<ToSatellite>,
}

/// Starts fakes, and hands them to the test as they boot.
pub struct FakeLauncher {
    born: Mutex<mpsc::Sender<Fake>>,
}

impl Launcher for FakeLauncher {
    fn target(&self) -> Target {
        Target::hosted_here()
    }

    fn launch(&self, kernel: KernelId) -> io::Result<Launched> {
        let (ours, theirs) = pair()?;
        let socket = Arc::new(theirs);
        let born = self.born.lock().unwrap().clone();
        thread::spawn(move || live(kernel, socket, &born));
        Ok(Launched {
            socket: ours,
            child: None,
        })
    }
}

/// The fake's own life: boots, obeys, and passes on every frame, until its socket ends.
fn live(kernel: KernelId, socket: Arc<OwnedFd>, born: &mpsc::Sender<Fake>) {
    let (frames, inbox) = mpsc::channel();
    let mut inbox = Some(inbox);
    let mut buffer = vec![0; FRAME_MAX];
    while let Ok((_, length @ 1..)) = recv(&socket, &mut buffer[..], RecvFlags::empty()) {
        let frame: ToSatellite = decode(&buffer[..length]).unwrap();
        match &frame {
            ToSatellite::Boot(resources) => {
                become_ready(&socket, resources.export);
                let (generation, frames) = (resources.generation, inbox.take().unwrap());
                let _ = born.send(Fake {
                    kernel,
                    generation,
                    socket: socket.clone(),
                    frames,
                });
            }
            ToSatellite::Load { artifact, .. } => {
                tell(
                    &socket,
                    &ToCoordinator::Loaded {
                        artifact: *artifact,
                        result: Ok(()),
                    },
                );
            }
            ToSatellite::Spawn(spec) => {
                tell(
                    &socket,
                    &ToCoordinator::Spawned {
                        process: spec.process,
                        result: Ok(()),
                    },
                );
            }
            ToSatellite::Kill(process) => {
                let status = satrap_abi::ExitStatus::Killed;
                tell(
                    &socket,
                    &ToCoordinator::Exited {
                        process: *process,
                        status,
                    },
                );
            }
            ToSatellite::StatsRequest => tell(&socket, &ToCoordinator::Stats(Default::default())),
            ToSatellite::Shutdown => return shut(&socket),
            _ => {}
        }
        let _ = frames.send(frame);
    }
}

fn become_ready(socket: &OwnedFd, export: u64) {
    let ready = ToCoordinator::Ready {
        platform: format!("hosted-{}", std::env::consts::ARCH),
        export,
    };
    let files: Vec<OwnedFd> = (0..3)
        .map(|_| eventfd(0, EventfdFlags::CLOEXEC).unwrap())
        .collect();
    let files: Vec<_> = files.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    assert!(ancillary.push(SendAncillaryMessage::ScmRights(&files)));
    let bytes = encode(&ready).unwrap();
    let _ = sendmsg(
        socket,
        &[io::IoSlice::new(&bytes)],
        &mut ancillary,
        SendFlags::NOSIGNAL,
    );
}

/// A coordinator that is gone already need not be told.
fn tell(socket: &OwnedFd, frame: &ToCoordinator) {
    let _ = send(socket, &encode(frame).unwrap(), SendFlags::NOSIGNAL);
}

fn shut(socket: &OwnedFd) {
    let _ = rustix::net::shutdown(socket, rustix::net::Shutdown::Both);
}

impl Fake {
    /// Says something to the coordinator.
    pub fn say(&self, frame: &ToCoordinator) {
        tell(&self.socket, frame);
    }

    /// Says something that is no frame.
    pub fn say_garbage(&self) {
        send(&self.socket, &[0xff; 200], SendFlags::NOSIGNAL).unwrap();
    }

    /// Dies, as seen from the other end.
    pub fn die(&self) {
        shut(&self.socket);
    }

    /// Waits for a frame of a kind; others are passed over.
    pub fn expect<T>(&self, mut wanted: impl FnMut(ToSatellite) -> Option<T>) -> T {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let frame = self.frames.recv_timeout(left).expect("the frame did not come");
            if let Some(found) = wanted(frame) {
                return found;
            }
        }
    }
}

/// A coordinator with fake satellites, and a folder that goes with it.
pub struct World {
    /// The coordinator.
    pub coordinator: Arc<Coordinator>,
    /// The folder.
    pub folder: PathBuf,
    born: mpsc::Receiver<Fake>,
}

impl World {
    /// A coordinator with two fake satellites and a compiler that always has an artifact ready.
    pub fn new(name: &str) -> World {
        let folder = std::env::temp_dir().join(format!("satrap-coordinator-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let key = satrap_coordinator::install::KeyFile::load_or_create(&folder.join("key")).unwrap();
        fs::write(folder.join("made"), artifacts::artifact(&key.key, b"code", b"")).unwrap();
        let compiler = folder.join("compiler");
        let script = format!(
            "#!/bin/sh\nwhile [ $# -gt 1 ]; do [ $1 = --output ] && output=$2; shift; done\ncp {}/made \"$output\"\n",
            folder.display()
        );
        fs::write(&compiler, script).unwrap();
        fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(folder.join("program.wasm"), b"wasm").unwrap();
        let (sender, born) = mpsc::channel();
        let config = Config {
            satellites: Some(2),
            launcher: Box::new(FakeLauncher {
                born: Mutex::new(sender),
            }),
            compiler,
            cache: folder.join("cache"),
            key: key.path,
            export: 1 << 20,
        };
        let coordinator = Arc::new(Coordinator::start(config).unwrap());
        World {
            coordinator,
            folder,
            born,
        }
    }

    /// The next satellite that boots.
    pub fn next(&self) -> Fake {
        self.born
            .recv_timeout(PATIENCE)
            .expect("no satellite was launched")
    }

    /// Both first satellites, by number.
    pub fn both(&self) -> [Fake; 2] {
        let mut both = [self.next(), self.next()];
        both.sort_by_key(|fake| fake.kernel);
        self.coordinator.wait_ready(PATIENCE).expect("both are ready");
        both
    }

    /// The coordinator's calls.
    pub fn control(&self) -> &dyn Control {
        &*self.coordinator
    }

    /// A run request of a manifest, all of whose programs are `program.wasm`.
    pub fn manifest(&self, processes: &str, attached: bool) -> RunRequest {
        let text = format!("[application]\nname = \"app\"\n{processes}");
        let source = Source::Manifest {
            text,
            file: "app.toml".into(),
            base: self.folder.clone(),
        };
        RunRequest {
            source,
            args: vec![],
            overrides: vec![],
            attached,
        }
    }

    /// Starts an application that nobody waits for, and returns its id and its events.
    pub fn start(&self, processes: &str) -> (u64, Vec<Event>) {
        let mut events = Vec::new();
        let request = self.manifest(processes, false);
        let collect = &mut |event| {
            events.extend(event);
            Flow::Continue
        };
        self.control().run(request, collect).unwrap();
        let app = events.iter().find_map(|event| match event {
            Event::AppStarted { app, .. } => Some(*app),
            _ => None,
        });
        (app.expect("it was started"), events)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Where each process was placed: name, id, kernel.
pub fn placed(events: &[Event]) -> Vec<(String, u64, u16)> {
    let place = |event: &Event| match event {
        Event::Placed {
            name,
            process,
            kernel,
            ..
        } => Some((name.clone(), *process, *kernel)),
        _ => None,
    };
    let mut placed: Vec<_> = events.iter().filter_map(place).collect();
    placed.sort();
    placed
}

/// Waits until something holds.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "{what}: it never came");
        thread::sleep(Duration::from_millis(1));
    }
}

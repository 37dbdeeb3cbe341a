//! The executive without a world: frames in by hand, effects out into a list, time set by the test.
//!
//! Each test is a story of a few frames. Neighbour: `tests/coordinator` plays some of them on real sockets.

use super::{apps::ENDED_MAX, *};
use crate::{
    api::{AppState, Event, ProcessState, Source},
    deploy,
    install::StoredArtifact,
    record::{Cursor, Filter},
    topology::CoreSet,
};
use satrap_abi::artifact::Target;
use satrap_abi::control::{Bound, KernelStats, Stream};
use satrap_abi::{ChannelId, Digest, Errno, ExitStatus, Slot};
use std::{fs::File, path::PathBuf, time::Duration};

const PLATFORM: &str = if cfg!(target_arch = "aarch64") {
    "hosted-aarch64"
} else {
    "hosted-x86_64"
};
const CONTRACT: Digest = Digest([1; 32]);

struct Bench {
    executive: Executive,
    now: Now,
    sent: Vec<(KernelLife, ToSatellite)>,
    launched: Vec<KernelLife>,
    closed: Vec<KernelLife>,
    repairs: Vec<Arc<Program>>,
    cursor: Cursor,
}

fn life(kernel: u16, generation: u32) -> KernelLife {
    KernelLife {
        kernel: KernelId(kernel),
        generation,
    }
}

fn null() -> OwnedFd {
    File::open("/dev/null").unwrap().into()
}

fn program(digest: u8) -> Arc<Program> {
    let artifact = StoredArtifact {
        path: PathBuf::from("/nowhere"),
        file: Arc::new(null()),
        length: 10,
        digest: Digest([digest; 32]),
        contracts: Vec::new(),
    };
    Arc::new(Program {
        path: PathBuf::from("/apps/program.wasm"),
        artifacts: [(Target::hosted_here(), artifact)].into(),
    })
}

impl Bench {
    /// Two satellites, launched and not ready.
    fn booting() -> Bench {
        let mut bench = Bench {
            executive: Executive::new(Settings {
                key: [0; 32],
                export: 1 << 20,
            }),
            now: Now::ZERO,
            sent: Vec::new(),
            launched: Vec::new(),
            closed: Vec::new(),
            repairs: Vec::new(),
            cursor: Cursor::default(),
        };
        let set = |cpu| CoreSet {
            cpus: vec![cpu],
            node: Some(0),
        };
        bench.executive.boot(bench.now, vec![set(0), set(1)]);
        bench.settle();
        bench
    }

    fn running() -> Bench {
        let mut bench = Bench::booting();
        bench.ready(life(1, 0));
        bench.ready(life(2, 0));
        bench.sent.clear();
        bench
    }

    fn settle(&mut self) {
        for effect in self.executive.take_effects() {
            match effect {
                Effect::Launch(life) => self.launched.push(life),
                Effect::Send(to, frame, _) => self.sent.push((to, frame)),
                Effect::Load(to, artifact) => {
                    let (artifact, length) = (artifact.digest, artifact.length);
                    self.sent.push((to, ToSatellite::Load { artifact, length }));
                }
                Effect::Close(life) => self.closed.push(life),
                Effect::Repair(program) => self.repairs.push(program),
            }
        }
    }

    fn frame(&mut self, from: KernelLife, frame: ToCoordinator) {
        self.executive.frame(self.now, from, frame, Vec::new());
        self.settle();
    }

    fn ready(&mut self, from: KernelLife) {
        let frame = ToCoordinator::Ready {
            platform: PLATFORM.into(),
            export: 1 << 20,
        };
        self.executive
            .frame(self.now, from, frame, vec![null(), null(), null()]);
        self.settle();
    }

    fn lost(&mut self, gone: KernelLife) {
        self.executive.lost(self.now, gone, "a test");
        self.settle();
    }

    fn tick(&mut self, milliseconds: u64) {
        self.now += Duration::from_millis(milliseconds);
        self.executive.tick(self.now);
        self.settle();
    }

    /// Starts a manifest's processes, all of the same program.
    fn start(&mut self, processes: &str, attached: bool) -> u64 {
        let text = format!("[application]\nname = \"app\"\n{processes}");
        let source = Source::Manifest {
            text,
            file: "app.toml".into(),
            base: "/apps".into(),
        };
        let mut plan = deploy::plan(&source, &[], &[]).unwrap();
        plan.attached = attached;
        let programs = plan.processes.iter().map(|_| program(7)).collect();
        let app = self.executive.start_app(self.now, plan, programs).unwrap();
        self.settle();
        app
    }

    /// Answers every load and spawn, as satellites do.
    fn obey(&mut self) {
        while !self.sent.is_empty() {
            for (from, frame) in std::mem::take(&mut self.sent) {
                match frame {
                    ToSatellite::Load { artifact, .. } => {
                        self.frame(
                            from,
                            ToCoordinator::Loaded {
                                artifact,
                                result: Ok(()),
                            },
                        );
                    }
                    ToSatellite::Spawn(spec) => {
                        let process = spec.process;
                        self.frame(
                            from,
                            ToCoordinator::Spawned {
                                process,
                                result: Ok(()),
                            },
                        );
                    }
                    ToSatellite::Kill(process) => self.exit(process.0, ExitStatus::Killed),
                    _ => {}
                }
            }
        }
    }

    fn exit(&mut self, process: u64, status: ExitStatus) {
        let process = ProcessId(process);
        let from = self.executive.member(process).unwrap().kernel.unwrap();
        self.frame(from, ToCoordinator::Exited { process, status });
    }

    /// The application's processes: name, id, kernel, state.
    fn processes(&self, app: u64) -> Vec<(String, u64, Option<u16>, ProcessState)> {
        let apps = self.executive.apps(self.now);
        let app = apps.into_iter().find(|each| each.id == app).unwrap();
        app.processes
            .into_iter()
            .map(|each| (each.name, each.id, each.kernel, each.state))
            .collect()
    }

    fn app(&self, app: u64) -> crate::api::App {
        self.executive
            .apps(self.now)
            .into_iter()
            .find(|each| each.id == app)
            .unwrap()
    }

    fn events(&mut self) -> Vec<Event> {
        let filter = Filter {
            events: true,
            app: None,
            logs: None,
        };
        self.executive.record().read(&mut self.cursor, &filter)
    }

    fn register(&mut self, from: KernelLife, process: u64, path: &str) -> Result<(), Errno> {
        let process = ProcessId(process);
        let path = path.to_owned();
        self.frame(
            from,
            ToCoordinator::Register {
                request: 5,
                process,
                path,
                contract: CONTRACT,
                service: 50,
            },
        );
        match self.sent.iter().find_map(|(_, frame)| match frame {
            ToSatellite::RegisterReply { request: 5, result } => Some(*result),
            _ => None,
        }) {
            Some(result) => result,
            None => panic!("no answer"),
        }
    }

    fn bind(&mut self, from: KernelLife, process: u64, path: &str, contract: Digest) {
        self.frame(
            from,
            ToCoordinator::Bind {
                request: 9,
                process: ProcessId(process),
                path: path.to_owned(),
                contract,
                channel: channel(3),
                wait: true,
            },
        );
    }
}

fn channel(index: u32) -> ChannelId {
    ChannelId(Slot { index, generation: 0 })
}

const ONE: &str = "[[process]]\nname = \"one\"\nprogram = \"one.wasm\"\n";
const PAIR: &str = "
    [[process]]
    name = \"client\"
    program = \"client.wasm\"
    channels.service = { path = \"/service\", affinity = -1 }
    [[process]]
    name = \"service\"
    program = \"service.wasm\"
    registers = [\"/service\"]
    restart = \"on-failure\"
    restart-limit = 3
";

#[test]
fn satellites_are_introduced_to_each_other_and_registered() {
    let mut bench = Bench::booting();
    assert_eq!(bench.launched, [life(1, 0), life(2, 0)]);
    assert!(matches!(&bench.sent[0], (_, ToSatellite::Boot(map)) if map.cpus == [0] && map.generation == 0));
    bench.sent.clear();
    bench.ready(life(1, 0));
    assert!(bench.sent.is_empty());
    bench.ready(life(2, 0));
    let up = |(to, frame): &(KernelLife, ToSatellite)| match frame {
        ToSatellite::PeerUp { kernel, .. } => (to.kernel.0, kernel.0),
        other => panic!("{other:?}"),
    };
    assert_eq!(bench.sent.iter().map(up).collect::<Vec<_>>(), [(2, 1), (1, 2)]);
    let names = bench.executive.list_names("/kernel/");
    assert_eq!(
        names.iter().map(|name| name.path.as_str()).collect::<Vec<_>>(),
        ["/kernel/1", "/kernel/2"]
    );
    assert_eq!(names[0].attributes["platform"], PLATFORM);
}

#[test]
fn a_program_started_while_satellites_boot_is_placed_when_they_are_ready() {
    let mut bench = Bench::booting();
    let app = bench.start(ONE, true);
    bench.ready(life(1, 0));
    assert_eq!(bench.processes(app)[0].3, ProcessState::Waiting);
    bench.ready(life(2, 0));
    bench.obey();
    assert_eq!(bench.processes(app)[0].3, ProcessState::Running);
}

#[test]
fn a_program_is_loaded_once_on_each_satellite_and_then_spawned() {
    let mut bench = Bench::running();
    let three = "[[process]]\nname = \"x\"\nprogram = \"x.wasm\"\ninstances = 4\nargs = [\"-v\"]\n";
    bench.start(three, false);
    let loads = bench
        .sent
        .iter()
        .filter(|(_, frame)| matches!(frame, ToSatellite::Load { .. }));
    assert_eq!(loads.count(), 2);
    bench.sent.clear();
    bench.frame(
        life(1, 0),
        ToCoordinator::Loaded {
            artifact: Digest([7; 32]),
            result: Ok(()),
        },
    );
    let specs = bench.sent.iter().filter_map(|(_, frame)| match frame {
        ToSatellite::Spawn(spec) => Some(spec),
        _ => None,
    });
    let specs: Vec<_> = specs.collect();
    assert_eq!(specs.len(), 2);
    assert_eq!(specs[0].args, ["program", "-v"]);
}

#[test]
fn affinity_decides_and_the_exit_code_is_the_first_failure() {
    let mut bench = Bench::running();
    let app = bench.start(PAIR, false);
    bench.obey();
    let placed = bench.processes(app);
    assert_ne!(placed[0].2, placed[1].2, "affinity -1 keeps them apart");
    bench.exit(placed[0].1, ExitStatus::Code(3));
    assert_eq!(bench.app(app).state, AppState::Running);
    bench.exit(placed[1].1, ExitStatus::Code(0));
    assert_eq!(
        (bench.app(app).state, bench.app(app).exit_code),
        (AppState::Ended, Some(3))
    );
}

#[test]
fn an_attached_application_ends_with_its_last_client() {
    let mut bench = Bench::running();
    let app = bench.start(PAIR, true);
    bench.obey();
    bench.exit(bench.processes(app)[0].1, ExitStatus::Code(0));
    bench.obey();
    assert_eq!(
        (bench.app(app).state, bench.app(app).exit_code),
        (AppState::Ended, Some(0))
    );
}

#[test]
fn a_bind_makes_a_channel_between_two_satellites() {
    let mut bench = Bench::running();
    let app = bench.start(PAIR, false);
    bench.obey();
    let placed = bench.processes(app);
    let (client, service) = (life(placed[0].2.unwrap(), 0), life(placed[1].2.unwrap(), 0));
    bench.bind(client, placed[0].1, "/service", CONTRACT);
    assert!(bench.sent.is_empty(), "it waits for the name");
    assert_eq!(bench.register(service, placed[1].1, "/service"), Ok(()));
    let connect = bench.sent.iter().find_map(|(to, frame)| match frame {
        ToSatellite::Connect {
            service: 50,
            client,
            request: 9,
            channel,
            ..
        } => Some((*to, *client, *channel)),
        _ => None,
    });
    assert_eq!(connect, Some((service, client.kernel, channel(3))));
    let (request, client_kernel) = (9, client.kernel);
    bench.sent.clear();
    bench.frame(
        service,
        ToCoordinator::ConnectReply {
            client: client_kernel,
            request,
            result: Ok(channel(8)),
        },
    );
    let bound = Bound {
        kernel: service.kernel,
        generation: 0,
        channel: channel(8),
    };
    assert_eq!(
        bench.sent,
        [(
            client,
            ToSatellite::BindReply {
                request,
                result: Ok(bound)
            }
        )]
    );
}

#[test]
fn a_kernels_own_drivers_register_below_their_folders_only() {
    let mut bench = Bench::running();
    let (kernel, driver) = (life(1, 0), 0);
    assert_eq!(bench.register(kernel, driver, "/net/tcp"), Ok(()));
    bench.sent.clear();
    assert_eq!(bench.register(kernel, driver, "/service"), Err(Errno::Denied));
}

#[test]
fn nobody_registers_or_binds_what_the_manifest_does_not_grant() {
    let mut bench = Bench::running();
    let app = bench.start(PAIR, false);
    bench.obey();
    let placed = bench.processes(app);
    let client = life(placed[0].2.unwrap(), 0);
    assert_eq!(
        bench.register(client, placed[0].1, "/service"),
        Err(Errno::Denied)
    );
    bench.sent.clear();
    assert_eq!(
        bench.register(client, placed[1].1, "/service"),
        Err(Errno::Denied),
        "another kernel's process"
    );
    bench.sent.clear();
    bench.bind(client, placed[0].1, "/elsewhere", CONTRACT);
    let denied = ToSatellite::BindReply {
        request: 9,
        result: Err(Errno::Denied),
    };
    assert_eq!(bench.sent, [(client, denied)]);
}

#[test]
fn differing_contracts_are_shown_to_the_operator() {
    let mut bench = Bench::running();
    let app = bench.start(PAIR, false);
    bench.obey();
    let placed = bench.processes(app);
    bench
        .register(life(placed[1].2.unwrap(), 0), placed[1].1, "/service")
        .unwrap();
    bench.sent.clear();
    let client = life(placed[0].2.unwrap(), 0);
    bench.bind(client, placed[0].1, "/service", Digest([2; 32]));
    let refused = ToSatellite::BindReply {
        request: 9,
        result: Err(Errno::ContractMismatch),
    };
    assert_eq!(bench.sent, [(client, refused)]);
    let notices = bench.executive.record().notices();
    assert!(
        notices
            .last()
            .unwrap()
            .contains("client (process 2) cannot bind /service"),
        "{notices:?}"
    );
}

#[test]
fn a_failed_process_is_started_again_with_pauses_until_its_limit() {
    let mut bench = Bench::running();
    let app = bench.start(PAIR, false);
    let mut ids = Vec::new();
    for _ in 0..4 {
        bench.obey();
        let (_, id, _, state) = bench.processes(app)[1].clone();
        assert_eq!(state, ProcessState::Running);
        ids.push(id);
        bench.exit(id, ExitStatus::Code(1));
        bench.tick(500);
    }
    ids.dedup();
    assert_eq!(ids.len(), 4, "each life has an id of its own");
    assert_eq!(bench.processes(app)[1].3, ProcessState::Exited);
    assert!(
        bench
            .executive
            .record()
            .notices()
            .last()
            .unwrap()
            .contains("more than 3 times")
    );
}

#[test]
fn a_dead_satellite_takes_its_names_and_is_started_again_with_its_processes() {
    let mut bench = Bench::running();
    let app = bench.start(PAIR, false);
    bench.obey();
    let placed = bench.processes(app);
    let gone = life(placed[1].2.unwrap(), 0);
    let other = life(placed[0].2.unwrap(), 0);
    bench.register(gone, placed[1].1, "/service").unwrap();
    bench.sent.clear();
    bench.lost(gone);
    let down = ToSatellite::PeerDown {
        kernel: gone.kernel,
        generation: 0,
    };
    assert!(bench.sent.contains(&(other, down)));
    assert!(bench.executive.list_names("/service").is_empty());
    assert_eq!(bench.closed, [gone]);
    let next = life(gone.kernel.0, 1);
    assert_eq!(bench.launched.last(), Some(&next));
    assert_eq!(
        bench.processes(app)[1].3,
        ProcessState::Waiting,
        "it is not crowded onto the other satellite"
    );
    bench.ready(next);
    bench.obey();
    let again = bench.processes(app);
    assert_eq!(
        (again[1].2, again[1].3),
        (Some(gone.kernel.0), ProcessState::Running)
    );
    assert_eq!(again[0].1, placed[0].1, "the other process goes on");
}

#[test]
fn a_process_without_a_policy_dies_with_its_satellite() {
    let mut bench = Bench::running();
    let app = bench.start(ONE, true);
    bench.obey();
    bench.lost(life(bench.processes(app)[0].2.unwrap(), 0));
    assert_eq!(
        (bench.app(app).state, bench.app(app).exit_code),
        (AppState::Ended, Some(70))
    );
}

#[test]
fn what_an_earlier_life_says_is_not_heard() {
    let mut bench = Bench::running();
    bench.lost(life(1, 0));
    bench.ready(life(1, 1));
    bench.sent.clear();
    bench.frame(
        life(1, 0),
        ToCoordinator::List {
            request: 1,
            prefix: "/".into(),
        },
    );
    bench.lost(life(1, 0));
    assert!(bench.sent.is_empty());
    assert_eq!(bench.closed, [life(1, 0)]);
}

#[test]
fn a_satellite_that_dies_again_and_again_stays_down_and_its_work_moves() {
    let mut bench = Bench::running();
    let app = bench.start(PAIR, false);
    bench.obey();
    let kernel = bench.processes(app)[1].2.unwrap();
    for generation in 0..20 {
        bench.lost(life(kernel, generation));
        bench.ready(life(kernel, generation + 1));
        bench.tick(12_000);
    }
    assert_eq!(
        bench.launched.last(),
        Some(&life(kernel, 20)),
        "one death each 12 s is never too many"
    );
    for generation in 20..40 {
        bench.lost(life(kernel, generation));
        for _ in 0..110 {
            if bench.launched.last() == Some(&life(kernel, generation)) {
                bench.tick(100);
            }
        }
    }
    assert!(
        bench
            .executive
            .record()
            .notices()
            .iter()
            .any(|notice| notice.contains("stays down"))
    );
    bench.obey();
    let (_, _, place, state) = bench.processes(app)[1].clone();
    assert_eq!(state, ProcessState::Running);
    assert_ne!(place, Some(kernel));
}

#[test]
fn a_satellite_that_is_never_ready_is_given_up_and_tried_again() {
    let mut bench = Bench::booting();
    bench.ready(life(2, 0));
    bench.tick(BOOT_TIMEOUT.as_millis() as u64);
    assert_eq!(bench.closed, [life(1, 0)]);
    assert_eq!(bench.launched.last(), Some(&life(1, 1)));
}

#[test]
fn a_satellite_that_comes_without_its_files_is_replaced() {
    let mut bench = Bench::booting();
    bench.frame(
        life(1, 0),
        ToCoordinator::Ready {
            platform: PLATFORM.into(),
            export: 1,
        },
    );
    assert_eq!(
        (bench.closed.last(), bench.launched.last()),
        (Some(&life(1, 0)), Some(&life(1, 1)))
    );
}

#[test]
fn a_refused_artifact_is_made_again_once() {
    let mut bench = Bench::running();
    let app = bench.start(ONE, true);
    let refuse = |bench: &mut Bench, digest| {
        let from = bench.sent[0].0;
        let artifact = Digest([digest; 32]);
        bench.sent.clear();
        bench.frame(
            from,
            ToCoordinator::Loaded {
                artifact,
                result: Err(Errno::Invalid),
            },
        );
    };
    refuse(&mut bench, 7);
    assert_eq!(bench.repairs.len(), 1);
    let old = bench.repairs.remove(0);
    bench.executive.repaired(bench.now, &old, Ok(program(8)));
    bench.settle();
    assert!(matches!(&bench.sent[0].1, ToSatellite::Load { artifact, .. } if artifact.0 == [8; 32]));
    refuse(&mut bench, 8);
    assert!(bench.repairs.is_empty());
    assert_eq!(
        (bench.app(app).state, bench.app(app).exit_code),
        (AppState::Ended, Some(126))
    );
}

#[test]
fn an_application_that_can_go_nowhere_says_so_and_ends() {
    let mut bench = Bench::running();
    let app = bench.start(&format!("{PAIR}\nplatforms = {{ \"riscv64\" = 1 }}\n"), true);
    assert_eq!(
        (bench.app(app).state, bench.app(app).exit_code),
        (AppState::Ended, Some(126))
    );
    assert!(bench.sent.is_empty(), "nothing of it runs");
    let notices = bench.executive.record().notices();
    assert!(notices[0].contains("prefers riscv64"), "{notices:?}");
}

#[test]
fn a_killed_process_is_not_started_again_and_a_whole_application_can_be_ended() {
    let mut bench = Bench::running();
    let app = bench.start(PAIR, false);
    bench.obey();
    let service = bench.processes(app)[1].1;
    bench.executive.kill(bench.now, ProcessId(service)).unwrap();
    bench.settle();
    bench.obey();
    assert_eq!(bench.processes(app)[1].3, ProcessState::Exited);
    bench.executive.end_app(bench.now, app).unwrap();
    bench.settle();
    bench.obey();
    assert_eq!(bench.app(app).state, AppState::Ended);
    assert!(bench.executive.kill(bench.now, ProcessId(service)).is_err());
    assert!(bench.executive.end_app(bench.now, 99).is_err());
}

#[test]
fn an_application_that_has_ended_keeps_its_exit_code() {
    let mut bench = Bench::running();
    let app = bench.start(ONE, true);
    bench.obey();
    let id = bench.processes(app)[0].1;
    bench.exit(id, ExitStatus::Code(0));
    bench.executive.end_app(bench.now, app).unwrap();
    assert_eq!(bench.app(app).exit_code, Some(0));
}

#[test]
fn the_last_words_of_a_long_run_outlast_many_short_ones() {
    let mut bench = Bench::running();
    let long = bench.start(ONE, true);
    bench.obey();
    for _ in 0..=ENDED_MAX {
        let short = bench.start(ONE, false);
        bench.obey();
        bench.exit(bench.processes(short)[0].1, ExitStatus::Code(0));
    }
    let id = bench.processes(long)[0].1;
    bench.exit(id, ExitStatus::Code(0));
    assert!(
        bench.executive.app(long).is_some(),
        "its reader has not come to the end"
    );
    bench.executive.detach(long);
    assert!(
        bench.executive.app(long).is_none(),
        "it ended at the same time as others and began before them"
    );
    assert_eq!(bench.executive.apps.len(), ENDED_MAX);
}

#[test]
fn output_is_recorded_in_order_before_the_end() {
    let mut bench = Bench::running();
    let app = bench.start(ONE, true);
    bench.obey();
    let (_, id, kernel, _) = bench.processes(app)[0].clone();
    let from = life(kernel.unwrap(), 0);
    let (process, stream, bytes) = (ProcessId(id), Stream::Out, b"hello\n".to_vec());
    bench.frame(
        from,
        ToCoordinator::Console {
            process,
            stream,
            bytes,
        },
    );
    bench.exit(id, ExitStatus::Code(0));
    let filter = Filter {
        events: true,
        app: Some(app),
        logs: None,
    };
    let events = bench.executive.record().read(&mut Cursor::default(), &filter);
    let tail = &events[events.len() - 3..];
    assert!(matches!(&tail[0], Event::Output { data, lost: 0, .. } if data.bytes() == b"hello\n"));
    assert!(matches!(&tail[1], Event::ProcessExited { code: 0, .. }));
    assert!(matches!(&tail[2], Event::AppEnded { code: 0, .. }));
}

#[test]
fn load_comes_from_two_samples_and_an_idle_machine_is_left_alone() {
    let mut bench = Bench::running();
    assert_eq!(bench.executive.next_deadline(), None);
    bench.start(ONE, false);
    bench.obey();
    bench.tick(1000);
    assert!(
        bench
            .sent
            .iter()
            .any(|(_, frame)| *frame == ToSatellite::StatsRequest)
    );
    let figures = |uptime, busy| {
        ToCoordinator::Stats(KernelStats {
            uptime,
            busy,
            ..KernelStats::default()
        })
    };
    bench.frame(life(1, 0), figures(1_000_000_000, 0));
    bench.frame(life(1, 0), figures(2_000_000_000, 750_000_000));
    let load = bench.executive.kernels()[0].load;
    assert!((load - 0.75).abs() < 1e-9, "{load}");
}

#[test]
fn a_shutdown_asks_first_and_kills_what_stays() {
    let mut bench = Bench::running();
    bench.executive.shut_down(bench.now);
    bench.settle();
    assert_eq!(
        bench
            .sent
            .iter()
            .filter(|(_, frame)| *frame == ToSatellite::Shutdown)
            .count(),
        2
    );
    bench.lost(life(1, 0));
    assert_eq!(bench.closed, [life(1, 0)]);
    bench.tick(STOP_TIMEOUT.as_millis() as u64);
    assert_eq!(bench.closed, [life(1, 0), life(2, 0)]);
    assert_eq!(bench.launched.len(), 2, "nothing is launched again");
}

fn accusation(kernel: u16, generation: u32) -> ToCoordinator {
    ToCoordinator::LinkFailed {
        kernel: KernelId(kernel),
        generation,
        reason: "bad sequence".to_owned(),
    }
}

#[test]
fn an_accused_satellite_starts_anew() {
    let mut bench = Bench::running();
    bench.frame(life(1, 0), accusation(2, 0));
    assert_eq!(bench.closed, [life(2, 0)]);
    assert!(bench.events().iter().any(|event| matches!(
        event,
        Event::SatelliteDown { kernel: 2, reason, .. } if reason.contains("bad sequence")
    )));
}

#[test]
fn whoever_accuses_a_second_time_starts_anew_as_well() {
    let mut bench = Bench::running();
    bench.frame(life(1, 0), accusation(2, 0));
    // Of a life that is over nothing new can be said.
    bench.frame(life(1, 0), accusation(2, 0));
    assert_eq!(bench.closed, [life(2, 0)]);
    bench.tick(5_000);
    bench.ready(life(2, 1));
    bench.frame(life(1, 0), accusation(2, 1));
    assert_eq!(bench.closed, [life(2, 0), life(2, 1), life(1, 0)]);
}

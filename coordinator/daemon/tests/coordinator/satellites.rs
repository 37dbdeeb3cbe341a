//! The coordinator with fake satellites on real control sockets: launch, bind, death, restart, garbage.
//!
//! Times are real here: a satellite's death must be known everywhere within 100 ms.

use crate::support::{World, eventually, placed};
use satrap_abi::control::{Bound, Stream, ToCoordinator, ToSatellite};
use satrap_abi::{ChannelId, Digest, ExitStatus, ProcessId, Slot};
use satrap_coordinator::api::{AppState, Event, Flow, KernelState, RunRequest, Source};
use std::time::{Duration, Instant};

const PAIR: &str = "
    [[process]]
    name = \"client\"
    program = \"program.wasm\"
    channels.store = { path = \"/app/store\", affinity = -1 }
    [[process]]
    name = \"store\"
    program = \"program.wasm\"
    registers = [\"/app/store\"]
    restart = \"on-failure\"
";

fn channel(index: u32) -> ChannelId {
    ChannelId(Slot { index, generation: 0 })
}

fn register(process: u64) -> ToCoordinator {
    ToCoordinator::Register {
        request: 1,
        process: ProcessId(process),
        path: "/app/store".into(),
        contract: Digest([3; 32]),
        service: 40,
    }
}

fn bind(process: u64) -> ToCoordinator {
    ToCoordinator::Bind {
        request: 2,
        process: ProcessId(process),
        path: "/app/store".into(),
        contract: Digest([3; 32]),
        channel: channel(5),
        wait: true,
    }
}

#[test]
fn satellites_come_up_registered_and_linked() {
    let world = World::new("up");
    let [one, two] = world.both();
    let peer = |frame| match frame {
        ToSatellite::PeerUp {
            kernel,
            generation,
            export,
        } => Some((kernel, generation, export)),
        _ => None,
    };
    assert_eq!(one.expect(peer), (two.kernel, 0, 1 << 20));
    assert_eq!(two.expect(peer), (one.kernel, 0, 1 << 20));
    let names: Vec<_> = world
        .control()
        .names("/kernel/")
        .unwrap()
        .into_iter()
        .map(|name| name.path)
        .collect();
    assert_eq!(names, ["/kernel/1", "/kernel/2"]);
    assert!(world.control().status().unwrap().up_us.is_some());
}

#[test]
fn a_bind_becomes_a_channel_made_by_the_two_satellites_alone() {
    let world = World::new("bind");
    let both = world.both();
    let (_, events) = world.start(PAIR);
    let placed = placed(&events);
    let [(_, client_id, client), (_, store_id, store)] = &placed[..] else {
        panic!("{placed:?}")
    };
    assert_ne!(client, store);
    let at = |kernel: u16| both.iter().find(|fake| fake.kernel.0 == kernel).unwrap();
    let (client, store) = (at(*client), at(*store));
    client.say(&bind(*client_id));
    store.say(&register(*store_id));
    let request = store.expect(|frame| match frame {
        ToSatellite::Connect {
            request,
            service: 40,
            client: from,
            channel: end,
            ..
        } => {
            assert_eq!((from, end), (client.kernel, channel(5)));
            Some(request)
        }
        _ => None,
    });
    store.say(&ToCoordinator::ConnectReply {
        client: client.kernel,
        request,
        result: Ok(channel(6)),
    });
    let bound = client.expect(|frame| match frame {
        ToSatellite::BindReply { request: 2, result } => Some(result),
        _ => None,
    });
    assert_eq!(
        bound,
        Ok(Bound {
            kernel: store.kernel,
            generation: 0,
            channel: channel(6)
        })
    );
}

#[test]
fn the_death_of_a_satellite_is_known_everywhere_within_a_tenth_of_a_second() {
    let world = World::new("death");
    let both = world.both();
    let (_, events) = world.start(PAIR);
    let placed = placed(&events);
    let (_, store_id, kernel) = placed[1];
    let [(dead, alive)] = [match kernel {
        1 => (&both[0], &both[1]),
        _ => (&both[1], &both[0]),
    }];
    dead.say(&register(store_id));
    eventually("the name", || !world.control().names("/app/").unwrap().is_empty());
    let began = Instant::now();
    dead.die();
    alive.expect(|frame| match frame {
        ToSatellite::PeerDown {
            kernel,
            generation: 0,
        } if kernel == dead.kernel => Some(()),
        _ => None,
    });
    assert!(world.control().names("/app/").unwrap().is_empty());
    let next = world.next();
    assert_eq!((next.kernel, next.generation), (dead.kernel, 1));
    let spec = next.expect(|frame| match frame {
        ToSatellite::Spawn(spec) => Some(spec),
        _ => None,
    });
    let took = began.elapsed();
    assert_eq!(spec.name, "store");
    assert_ne!(spec.process.0, store_id);
    assert!(took < Duration::from_millis(100), "it took {took:?}");
}

#[test]
fn a_satellite_that_sends_garbage_is_replaced_and_reported() {
    let world = World::new("garbage");
    let [one, two] = world.both();
    one.say_garbage();
    two.expect(|frame| match frame {
        ToSatellite::PeerDown { kernel, .. } if kernel == one.kernel => Some(()),
        _ => None,
    });
    let next = world.next();
    assert_eq!((next.kernel, next.generation), (one.kernel, 1));
    let notices = world.control().status().unwrap().notices;
    assert!(
        notices.iter().any(|notice| notice.contains("garbage")),
        "{notices:?}"
    );
    eventually("the new life", || {
        world.control().kernels().unwrap()[0].state == KernelState::Running
    });
}

#[test]
fn an_attached_run_tells_everything_and_ends_with_the_programs_code() {
    let world = World::new("attached");
    let both = world.both();
    let request = RunRequest {
        source: Source::Program(world.folder.join("program.wasm")),
        args: vec!["-v".into()],
        overrides: vec![],
        attached: true,
    };
    let mut events = Vec::new();
    let collect = &mut |event: Option<Event>| {
        if let Some(Event::ProcessStarted { process, kernel, .. }) = &event {
            let satellite = &both[usize::from(*kernel) - 1];
            let (process, status) = (ProcessId(*process), ExitStatus::Code(7));
            let (stream, bytes) = (Stream::Out, b"hi\n".to_vec());
            satellite.say(&ToCoordinator::Console {
                process,
                stream,
                bytes,
            });
            satellite.say(&ToCoordinator::Exited { process, status });
        }
        events.extend(event);
        Flow::Continue
    };
    world.control().run(request, collect).unwrap();
    let output = events.iter().flat_map(|event| match event {
        Event::Output { data, .. } => data.bytes().to_vec(),
        _ => Vec::new(),
    });
    let output: Vec<u8> = output.collect();
    assert_eq!(output, b"hi\n");
    assert!(
        matches!(events.last(), Some(Event::AppEnded { code: 7, .. })),
        "{events:?}"
    );
}

#[test]
fn an_attached_run_ends_when_its_caller_has_had_enough() {
    let world = World::new("enough");
    let both = world.both();
    let mut kernel = None;
    let stop_when_started = &mut |event: Option<Event>| match event {
        Some(Event::ProcessStarted { kernel: place, .. }) => {
            kernel = Some(place);
            Flow::Stop
        }
        _ => Flow::Continue,
    };
    let one = "[[process]]\nname = \"one\"\nprogram = \"program.wasm\"\n";
    world
        .control()
        .run(world.manifest(one, true), stop_when_started)
        .unwrap();
    let satellite = &both[usize::from(kernel.unwrap()) - 1];
    satellite.expect(|frame| matches!(frame, ToSatellite::Kill(_)).then_some(()));
    eventually("the end", || {
        world.control().apps().unwrap()[0].state == AppState::Ended
    });
}

#[test]
fn placement_is_explained_without_running_anything() {
    let world = World::new("place");
    let _both = world.both();
    let source = world.manifest(PAIR, false).source;
    let overrides = vec!["client.store=3".into()];
    let request = satrap_coordinator::api::PlaceRequest { source, overrides };
    let placement = world.control().place(request).unwrap();
    assert_eq!(placement.refused, 0);
    assert!(
        placement.explanation.contains("positive affinity"),
        "{}",
        placement.explanation
    );
    assert!(world.control().apps().unwrap().is_empty());
}

#[test]
fn figures_and_processes_can_be_seen_and_a_process_killed() {
    let world = World::new("figures");
    let _both = world.both();
    let (app, events) = world.start(PAIR);
    let processes = world.control().processes().unwrap();
    assert_eq!(processes.len(), 2);
    assert!(
        processes
            .iter()
            .all(|process| process.app == app && process.placement.contains("kernel"))
    );
    let (_, client, _) = placed(&events)[0];
    world.control().kill(client).unwrap();
    eventually("the kill", || {
        world.control().processes().unwrap()[0].exit_code == Some(137)
    });
    assert_eq!(world.control().kill(999).unwrap_err().status, 404);
    world.control().end_app(app).unwrap();
    eventually("the end", || {
        world.control().apps().unwrap()[0].state == AppState::Ended
    });
}

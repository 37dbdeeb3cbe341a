//! `kill -9` on a satellite: its names vanish everywhere within 100 ms, and it is started again.
//!
//! Alone in its file, so that no other test takes the processor while it looks at the clock.

mod support;

use rustix::process::Signal;
use serde_json::Value;
use std::time::{Duration, Instant};
use support::{World, find, number, signal, until};

/// How soon the names of a dead satellite must be gone (SPECIFICATION.md).
const GONE: Duration = Duration::from_millis(100);
/// Crashes; the one in the middle counts, because a busy machine may be late once.
const ROUNDS: usize = 3;

/// Starts again whenever it dies, on whatever satellite there is.
const SERVICE: &str = r#"
[application]
name = "waiter"
version = "1.0.0"

[[process]]
name = "service"
program = "echo-service.wasm"
registers = ["/example/echo"]
restart = "always"
"#;

#[test]
fn a_dead_satellites_names_are_gone_within_100_ms() {
    let Some(world) = World::new("crash") else { return };
    world.json(&["up", "--satellites", "2"]);
    let manifest = world.application(SERVICE, &["echo-service"]);
    assert_eq!(world.run(&["run", "--detach", &manifest]).code, 0);
    let mut times: Vec<Duration> = (0..ROUNDS).map(|_| crash(&world)).collect();
    times.sort();
    println!("names were gone after {times:?}");
    assert!(times[ROUNDS / 2] <= GONE, "{times:?}");
}

/// Kills the satellite that has the service. Returns how long its names were still to be seen.
fn crash(world: &World) -> Duration {
    let name = until("the service is there", || {
        find(&world.json(&["ns"]), "path", &"/example/echo".into()).cloned()
    });
    let kernels = world.json(&["kernels"]);
    let kernel = find(&kernels, "id", &name["kernel"]).expect("a name has an owner");
    let life = (name["kernel"].clone(), number(&name["generation"]));
    let killed = Instant::now();
    signal(number(&kernel["pid"]) as u32, Signal::KILL);
    until("its names are gone", || {
        (!owns(&world.json(&["ns"]), &life)).then_some(())
    });
    let time = killed.elapsed();
    until("it is back", || {
        let kernels = world.json(&["kernels"]);
        let kernel = find(&kernels, "id", &life.0)?;
        (kernel["state"] == "running" && number(&kernel["generation"]) > life.1).then_some(())
    });
    time
}

fn owns(names: &Value, (kernel, generation): &(Value, u64)) -> bool {
    let mut names = names.as_array().expect("an array").iter();
    names.any(|name| name["kernel"] == *kernel && number(&name["generation"]) == *generation)
}

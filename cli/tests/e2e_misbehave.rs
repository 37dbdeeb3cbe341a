//! Each misdeed ends as it should, and the satellite that it was done on goes on.
//!
//! A coordinator stays up through all of them, so that harm to it would be seen. Neighbour: `examples/misbehave`.

mod support;

use serde_json::Value;
use std::{thread::sleep, time::Duration};
use support::{World, ended, number, until};

/// A deed, the exit code of its process, and what is said about it.
const DEEDS: [(&str, i32, &str); 9] = [
    ("stack", 134, "trapped: call stack exhausted"),
    ("oob", 134, "trapped: memory access out of bounds"),
    ("unreachable", 134, "trapped: unreachable code was reached"),
    ("grow", 0, "mebibytes: refused after"),
    ("threads", 0, "threads: refused after"),
    ("blocks", 0, "blocks: refused after"),
    ("wild-pointer", 0, "block_map(0xfffffff0): refused"),
    ("protocol", 0, "refused: the contract does not allow this message"),
    ("flood", 0, "messages: refused after"),
];

#[test]
fn every_misdeed_harms_its_own_process_alone() {
    let Some(world) = World::new("deeds") else { return };
    let before = satellite(&world.json(&["up", "--satellites", "1"])["kernels"]);
    let (misbehave, hello) = (world.guest("misbehave"), world.guest("hello"));
    for (deed, code, words) in DEEDS {
        let ended = world.run(&["run", &misbehave, deed]);
        assert_eq!(ended.code, code, "{deed}: {ended:?}");
        assert!(
            (ended.out.clone() + &ended.err).contains(words),
            "{deed}: {ended:?}"
        );
        let after = world.run(&["run", &hello]);
        assert_eq!(after.out, "hello from satellite 1\n", "after {deed}: {after:?}");
    }
    assert_eq!(
        satellite(&world.json(&["kernels"])),
        before,
        "it is the same satellite"
    );
}

#[test]
fn a_process_that_never_calls_the_kernel_shares_its_core_and_is_killed() {
    let Some(world) = World::new("loop") else { return };
    let before = satellite(&world.json(&["up", "--satellites", "1"])["kernels"]);
    let endless = world.start(&["run", &world.guest("misbehave"), "loop"]);
    until("it runs", || {
        let processes = world.json(&["ps"]);
        (processes[0]["state"] == "running").then_some(())
    });
    assert_eq!(
        world.run(&["run", &world.guest("hello")]).out,
        "hello from satellite 1\n"
    );
    let killed = world.run(&["kill", "misbehave"]);
    assert_eq!(killed.code, 0, "{killed:?}");
    let endless = ended(endless);
    assert_eq!(
        (endless.code, endless.err.as_str()),
        (137, "satrap: misbehave: killed\n")
    );
    assert_eq!(
        satellite(&world.json(&["kernels"])),
        before,
        "it is the same satellite"
    );
}

#[test]
fn a_thread_that_runs_alone_is_not_interrupted() {
    let Some(world) = World::new("alone") else { return };
    world.json(&["up", "--satellites", "2"]);
    let endless = world.guest("misbehave");
    let run = world.run(&["run", "--detach", &endless, "loop"]);
    assert_eq!(run.code, 0, "{run:?}");
    let preemptions = || {
        let kernels = world.json(&["kernels"]);
        let each = kernels.as_array().expect("an array").iter();
        each.map(|kernel| number(&kernel["stats"]["preemptions"]))
            .sum::<u64>()
    };
    // At first the peers rely on it to look at their links; after a millisecond they ring instead.
    until("nothing interrupts it for a second", || {
        let before = preemptions();
        sleep(Duration::from_secs(1));
        (preemptions() == before).then_some(())
    });
    assert!(world.json(&["ps"])[0]["cpu_ns"].as_u64() > Some(500_000_000));
}

/// Process and generation of the only satellite.
fn satellite(kernels: &Value) -> (u64, u64) {
    (number(&kernels[0]["pid"]), number(&kernels[0]["generation"]))
}

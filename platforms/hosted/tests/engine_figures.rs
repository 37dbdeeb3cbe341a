//! What the engine costs. Run it by itself, optimised, and read it:
//! `cargo test --release -p satrap-hosted --test engine_figures -- --ignored --nocapture`.

mod support;

use satrap_abi::ExitStatus;
use satrap_kernel::engine::{Engine as _, Pause, Resume, Thread as _};
use std::hint::black_box;
use std::time::{Duration, Instant};
use support::{Process, artifact, engine, finish, on_cpu, preempt_after};

const SAMPLES: usize = 101;

/// Prints the median of some samples, each of `rounds` rounds.
fn median(what: &str, rounds: u32, mut sample: impl FnMut()) {
    let mut times: Vec<Duration> = (0..SAMPLES)
        .map(|_| {
            let start = Instant::now();
            sample();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    let nanoseconds = times[SAMPLES / 2].as_nanos() as f64 / f64::from(rounds);
    println!("{what:40} {nanoseconds:10.1} ns");
}

fn program(body: &str) -> Process {
    Process::new(&format!(
        r#"(module
            (import "satrap:kernel@1" "null" (func $null))
            (import "satrap:kernel@1" "process_id" (func $id (result i64)))
            (import "satrap:kernel@1" "args_read" (func $refused (param i32) (result i32)))
            (import "satrap:kernel@1" "yield_now" (func $yield))
            (memory (export "memory") 16)
            (data (i32.const 1024) "image")
            (func (export "satrap_main") (result i32) (local $i i32) {body}))"#
    ))
}

/// A million times, and once more every time that it is resumed.
fn million(call: &str) -> Process {
    program(&format!(
        "(loop $forever
            (local.set $i (i32.const 1000000))
            (loop $again {call} (br_if $again (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))
            (call $yield)
            (br $forever))
        unreachable"
    ))
}

fn kernel_calls() {
    for (what, call) in [
        ("nothing (the loop itself)", ""),
        ("null kernel call", "(call $null)"),
        ("kernel call with a result", "(drop (call $id))"),
        (
            "kernel call that may fail",
            "(drop (call $refused (i32.const 0)))",
        ),
    ] {
        let mut thread = million(call).main();
        median(what, 1_000_000, || {
            assert_eq!(thread.resume(Resume::Run), Pause::Suspended)
        });
    }
}

fn switches() {
    let mut thread = program("(loop $again (call $yield) (br $again)) unreachable").main();
    median("suspend and resume", 1000, || {
        for _ in 0..1000 {
            assert_eq!(thread.resume(Resume::Run), Pause::Suspended);
        }
    });
    let mut thread = program("(loop $again (br $again)) unreachable").main();
    on_cpu(|cpu| {
        let tick = Duration::from_micros(100);
        median("preempted time slice of 100000 ns", 1, || {
            assert_eq!(preempt_after(cpu, &mut thread, tick), Pause::Preempted);
        });
    });
}

fn lives() {
    let ending = program("(i32.const 0)");
    median("memory and its end", 1, || {
        drop(black_box(engine().new_memory(&ending.program)))
    });
    median("thread and its end", 1, || drop(black_box(ending.main())));
    median("process: spawn, exit, end", 1, || {
        assert_eq!(
            finish(&mut Process::of(&ending.program).main()),
            ExitStatus::Code(0)
        );
    });
    for (what, body) in [
        ("the same with a trap: unreachable", "unreachable"),
        ("the same with a trap: page fault", "(i32.load (i32.const -4))"),
    ] {
        let process = program(body);
        median(what, 1, || {
            black_box(finish(&mut Process::of(&process.program).main()));
        });
    }
    let file = artifact(r#"(module (memory (export "memory") 1) (func (export "_start")))"#);
    median("load and unload a small program", 1, || {
        drop(black_box(engine().load(&file)))
    });
}

#[test]
#[ignore = "it measures; see the module's documentation"]
fn figures() {
    on_cpu(|_| {
        kernel_calls();
        switches();
        lives();
    });
}

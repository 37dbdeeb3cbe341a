//! Nothing is left of a guest, however it ended. In a program of its own, because it counts the mappings of
//! the whole process.

mod support;

use satrap_abi::{ExitStatus, Trap};
use satrap_kernel::engine::{Pause, Resume, Thread as _};
use std::fs;
use std::time::Duration;
use support::{Mock, Process, finish, on_cpu, preempt_after};

const TICK: Duration = Duration::from_micros(300);

/// Mappings of this process that are not the allocator's.
fn mappings() -> usize {
    let maps = fs::read_to_string("/proc/self/maps").expect("it is readable");
    maps.lines().count()
}

fn program(body: &str) -> Process {
    Process::new(&format!(
        r#"(module
            (import "satrap:kernel@1" "yield_now" (func $yield))
            (memory (export "memory") 4)
            (data (i32.const 0) "image")
            (func $fib (param i64) (result i64)
                (if (result i64) (i64.lt_u (local.get 0) (i64.const 2)) (then (local.get 0))
                    (else (i64.add (call $fib (i64.sub (local.get 0) (i64.const 1)))
                        (call $fib (i64.sub (local.get 0) (i64.const 2)))))))
            (func (export "satrap_main") (result i32) {body}))"#
    ))
}

#[test]
fn a_hundred_deaths_of_each_kind_leave_nothing() {
    let endless = program("(loop $again (br $again)) unreachable");
    let recursive = program("(drop (call $fib (i64.const 90))) (i32.const 0)");
    let waiting = program("(call $yield) (i32.const 0)");
    let trapping = program("(i32.load (i32.const -1))");
    let ending = program("(i32.const 3)");
    on_cpu(|cpu| {
        let round = || {
            for runaway in [&endless, &recursive] {
                let mut thread = Process::of(&runaway.program).main();
                assert_eq!(preempt_after(cpu, &mut thread, TICK), Pause::Preempted);
                assert_eq!(preempt_after(cpu, &mut thread, TICK), Pause::Preempted);
                assert_eq!(thread.resume(Resume::Die), Pause::Finished(ExitStatus::Killed));
            }
            let mut suspended = Process::of(&waiting.program).main();
            assert_eq!(suspended.resume(Resume::Run), Pause::Suspended);
            drop(suspended);
            drop(Process::of(&waiting.program).main());
            let trapped = ExitStatus::Trap(Trap::MemoryOutOfBounds);
            assert_eq!(finish(&mut Process::of(&trapping.program).main()), trapped);
            assert_eq!(
                finish(&mut Process::of(&ending.program).main()),
                ExitStatus::Code(3)
            );
        };
        (0..3).for_each(|_| round());
        let before = mappings();
        (0..100).for_each(|_| round());
        assert_eq!(Mock::live(), 0);
        let after = mappings();
        assert!(after <= before + 2, "{before} mappings before, {after} after");
    });
    let programs = mappings();
    drop((endless, recursive, waiting, trapping, ending));
    assert!(mappings() < programs, "the programs' code is still mapped");
    a_thousand_processes_live_at_once();
}

fn a_thousand_processes_live_at_once() {
    let first =
        program("(i32.store (i32.const 65536) (i32.const 1)) (call $yield) (i32.load8_u (i32.const 1))");
    let before = mappings();
    on_cpu(|_| {
        let processes: Vec<Process> = (0..1000).map(|_| Process::of(&first.program)).collect();
        let mut threads: Vec<_> = processes.iter().map(Process::main).collect();
        for thread in &mut threads {
            assert_eq!(thread.resume(Resume::Run), Pause::Suspended);
        }
        for thread in &mut threads {
            assert_eq!(finish(thread), ExitStatus::Code(i32::from(b'm')));
        }
    });
    assert_eq!(Mock::live(), 0);
    // The pool keeps some idle stacks: two mappings each.
    assert!(
        mappings() < before + 150,
        "{before} mappings before, {} after",
        mappings()
    );
}

//! Suspending, preempting, moving and killing threads.

mod support;

use satrap_abi::{ExitStatus, Trap};
use satrap_kernel::engine::{Entry, Pause, Resume, Thread as _};
use std::thread;
use std::time::Duration;
use support::{Process, finish, on_cpu, preempt_after};

const TICK: Duration = Duration::from_millis(1);

/// A module with these functions, and the kernel calls that the tests make.
fn module(functions: &str) -> String {
    format!(
        r#"(module
            (import "satrap:kernel@1" "null" (func $null))
            (import "satrap:kernel@1" "yield_now" (func $yield))
            (import "satrap:kernel@1" "sleep_until" (func $busy (param i64) (result i32)))
            (memory (export "memory") 1 16)
            (global $__stack_pointer (mut i32) (i32.const 1024))
            {functions})"#
    )
}

fn process(functions: &str) -> Process {
    Process::new(&module(functions))
}

const FOREVER: &str = r#"(func (export "satrap_main") (result i32) (loop $again (br $again)) unreachable)"#;

#[test]
fn a_suspended_thread_goes_on_where_it_was() {
    let process = process(
        r#"(func (export "satrap_main") (result i32) (local $sum i32) (local $i i32)
            (loop $again
                (call $yield)
                (local.set $sum (i32.add (local.get $sum) (local.get $i)))
                (local.set $i (i32.add (local.get $i) (i32.const 1)))
                (br_if $again (i32.lt_u (local.get $i) (i32.const 100))))
            (local.get $sum))"#,
    );
    on_cpu(|_| {
        let mut thread = process.main();
        for _ in 0..100 {
            assert_eq!(thread.resume(Resume::Run), Pause::Suspended);
        }
        assert_eq!(
            thread.resume(Resume::Run),
            Pause::Finished(ExitStatus::Code(4950))
        );
    });
}

#[test]
fn an_endless_loop_is_preempted_again_and_again() {
    let process = process(FOREVER);
    on_cpu(|cpu| {
        let mut thread = process.main();
        for _ in 0..20 {
            assert_eq!(preempt_after(cpu, &mut thread, TICK), Pause::Preempted);
        }
        assert_eq!(thread.resume(Resume::Die), Pause::Finished(ExitStatus::Killed));
    });
}

#[test]
fn preemption_keeps_every_register() {
    // Sums of eight integer and eight vector accumulators, all live across the loop.
    let process = process(
        r#"(func $work (param $n i32) (result i64)
            (local $a i64) (local $b i64) (local $c i64) (local $d i64) (local $e i64) (local $f i64)
            (local $v v128) (local $w v128) (local $x v128) (local $y v128) (local $z f64)
            (local.set $z (f64.const 1.5))
            (loop $again
                (local.set $a (i64.add (i64.mul (local.get $a) (i64.const 6364136223846793005)) (i64.const 1)))
                (local.set $b (i64.xor (local.get $b) (i64.rotl (local.get $a) (i64.const 13))))
                (local.set $c (i64.add (local.get $c) (local.get $b)))
                (local.set $d (i64.sub (local.get $d) (i64.shr_u (local.get $c) (i64.const 7))))
                (local.set $e (i64.xor (local.get $e) (local.get $d)))
                (local.set $f (i64.add (local.get $f) (i64.popcnt (local.get $e))))
                (local.set $v (i64x2.add (local.get $v) (i64x2.splat (local.get $a))))
                (local.set $w (v128.xor (local.get $w) (local.get $v)))
                (local.set $x (i32x4.add (local.get $x) (local.get $w)))
                (local.set $y (i16x8.sub (local.get $y) (local.get $x)))
                (local.set $z (f64.add (f64.mul (local.get $z) (f64.const 0.999999)) (f64.const 0.25)))
                (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
            (i64.xor (i64.add (local.get $f) (local.get $e))
                (i64.xor (i64x2.extract_lane 0 (local.get $y))
                    (i64.xor (i64x2.extract_lane 1 (local.get $y)) (i64.reinterpret_f64 (local.get $z))))))
        (func (export "satrap_main") (result i32) (local $r i64)
            (local.set $r (call $work (i32.const 60000000)))
            (i32.wrap_i64 (i64.xor (local.get $r) (i64.shr_u (local.get $r) (i64.const 32)))))"#,
    );
    on_cpu(|cpu| {
        let undisturbed = finish(&mut process.main());
        let mut threads = [process.main(), process.main()];
        let mut ended = [None; 2];
        let mut preemptions = 0;
        while ended.contains(&None) {
            for (thread, ended) in threads
                .iter_mut()
                .zip(&mut ended)
                .filter(|(_, ended)| ended.is_none())
            {
                match preempt_after(cpu, thread, TICK / 4) {
                    Pause::Finished(status) => *ended = Some(status),
                    _ => preemptions += 1,
                }
            }
        }
        assert!(preemptions > 20, "only {preemptions} preemptions");
        assert_eq!(ended, [Some(undisturbed); 2]);
    });
}

#[test]
fn an_interrupt_in_the_kernel_waits_until_the_call_returns() {
    let process = process(
        r#"(func (export "satrap_main") (result i32)
            (drop (call $busy (i64.const 20000000)))
            (loop $again (br $again)) unreachable)"#,
    );
    on_cpu(|cpu| {
        let mut thread = process.main();
        let start = support::now();
        assert_eq!(preempt_after(cpu, &mut thread, TICK), Pause::Preempted);
        assert!(
            support::now() - start >= 20_000_000,
            "it was preempted within the kernel call"
        );
        assert_eq!(thread.resume(Resume::Die), Pause::Finished(ExitStatus::Killed));
    });
}

#[test]
fn a_loop_of_kernel_calls_is_preempted_too() {
    let process = process(
        r#"(func (export "satrap_main") (result i32) (loop $again (call $null) (br $again)) unreachable)"#,
    );
    on_cpu(|cpu| {
        let mut thread = process.main();
        for _ in 0..200 {
            assert_eq!(preempt_after(cpu, &mut thread, TICK / 10), Pause::Preempted);
        }
    });
}

#[test]
fn an_interrupt_while_no_guest_runs_is_for_the_next_one() {
    let process = process(FOREVER);
    on_cpu(|cpu| {
        let mut thread = process.main();
        for _ in 0..20 {
            cpu.set_timer(Some(1));
            thread::sleep(TICK);
            assert_eq!(thread.resume(Resume::Run), Pause::Preempted);
        }
    });
}

#[test]
fn another_thread_can_interrupt_a_cpu() {
    let process = process(FOREVER);
    on_cpu(|cpu| {
        let interrupter = cpu.interrupter();
        let mut thread = process.main();
        let other = thread::spawn(move || {
            thread::sleep(TICK * 5);
            interrupter.interrupt();
        });
        assert_eq!(thread.resume(Resume::Run), Pause::Preempted);
        other.join().expect("it interrupts");
    });
}

#[test]
fn a_thread_killed_while_suspended_runs_no_more_guest_code() {
    let process = process(
        r#"(func (export "satrap_main") (result i32)
            (call $yield)
            (i32.store (i32.const 0) (i32.const 1))
            (i32.const 0))"#,
    );
    on_cpu(|_| {
        let mut thread = process.main();
        assert_eq!(thread.resume(Resume::Run), Pause::Suspended);
        assert_eq!(thread.resume(Resume::Die), Pause::Finished(ExitStatus::Killed));
    });
    let mut word = [9; 4];
    use satrap_kernel::engine::LinearMemory as _;
    process.memory.region().read(0, &mut word).expect("in range");
    assert_eq!(word, [0; 4]);
}

#[test]
fn a_thread_killed_before_it_ran_never_runs() {
    let process = process(FOREVER);
    on_cpu(|_| {
        assert_eq!(
            process.main().resume(Resume::Die),
            Pause::Finished(ExitStatus::Killed)
        )
    });
}

#[test]
fn a_thread_moves_between_cpus() {
    // It traps at the end, so that the engine's own state must have moved along.
    let process = process(
        r#"(func (export "satrap_main") (result i32) (local $i i32)
            (loop $again
                (call $yield)
                (local.set $i (i32.add (local.get $i) (i32.const 1)))
                (br_if $again (i32.lt_u (local.get $i) (i32.const 16))))
            unreachable)"#,
    );
    let mut thread = process.main();
    for _ in 0..16 {
        thread = thread::spawn(move || {
            on_cpu(|_| assert_eq!(thread.resume(Resume::Run), Pause::Suspended));
            thread
        })
        .join()
        .expect("it suspends");
    }
    let status = on_cpu(|_| thread.resume(Resume::Run));
    assert_eq!(status, Pause::Finished(ExitStatus::Trap(Trap::Unreachable)));
}

#[test]
fn a_preempted_thread_moves_between_cpus() {
    let process = process(FOREVER);
    let mut thread = process.main();
    for _ in 0..16 {
        thread = thread::spawn(move || {
            on_cpu(|cpu| assert_eq!(preempt_after(cpu, &mut thread, TICK), Pause::Preempted));
            thread
        })
        .join()
        .expect("it is preempted");
    }
    assert_eq!(
        on_cpu(|_| thread.resume(Resume::Die)),
        Pause::Finished(ExitStatus::Killed)
    );
}

#[test]
fn threads_of_a_process_share_its_memory() {
    let process = process(
        r#"(table $table 2 funcref)
        (elem (i32.const 1) $put)
        (type $unary (func (param i32)))
        (func $put (param i32)
            (i32.store (global.get $__stack_pointer) (local.get 0)))
        (func (export "satrap_thread") (param $function i32) (param $argument i32)
            (call_indirect $table (type $unary) (local.get $argument) (local.get $function)))
        (func (export "satrap_main") (result i32)
            (call $yield)
            (i32.add (i32.load (i32.const 2048)) (i32.load (i32.const 4096))))"#,
    );
    let spawn = |stack_top, argument| {
        process.thread(Entry::Thread {
            function: 1,
            argument,
            stack_top,
        })
    };
    on_cpu(|_| {
        let mut main = process.main();
        assert_eq!(main.resume(Resume::Run), Pause::Suspended);
        assert_eq!(finish(&mut spawn(2048, 40)), ExitStatus::Code(0));
        assert_eq!(finish(&mut spawn(4096, 2)), ExitStatus::Code(0));
        assert_eq!(main.resume(Resume::Run), Pause::Finished(ExitStatus::Code(42)));
    });
}

#[test]
fn threads_take_turns_on_one_cpu() {
    let process = process(r#"(func (export "satrap_main") (result i32) (call $yield) unreachable)"#);
    on_cpu(|_| {
        let (mut one, mut other) = (process.main(), process.main());
        assert_eq!(one.resume(Resume::Run), Pause::Suspended);
        assert_eq!(other.resume(Resume::Run), Pause::Suspended);
        let trapped = Pause::Finished(ExitStatus::Trap(Trap::Unreachable));
        assert_eq!(one.resume(Resume::Run), trapped);
        assert_eq!(other.resume(Resume::Run), trapped);
    });
}

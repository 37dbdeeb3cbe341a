//! Many guests on more CPU threads than there are CPUs, each resumed by whoever is free, preempted at 10 kHz,
//! calling the kernel, suspending, trapping and being killed. Every result must be as if it had been alone.

mod support;

use satrap_abi::{ExitStatus, Trap};
use satrap_engine::Thread;
use satrap_hosted::machine::CpuThread;
use satrap_kernel::engine::{Pause, Resume, Thread as _};
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;
use support::{Mock, Process, on_cpu, preempt_after};

const CPUS: usize = 4;
const GUESTS: u32 = 240;
const TICK: Duration = Duration::from_micros(100);

/// Mixes numbers in integer and vector registers, calls the kernel, recurses, and ends by its `tail`.
fn program(tail: &str) -> Process {
    Process::new(&format!(
        r#"(module
            (import "satrap:kernel@1" "null" (func $null))
            (import "satrap:kernel@1" "yield_now" (func $yield))
            (memory (export "memory") 2 8)
            (func $fib (param i64) (result i64)
                (if (result i64) (i64.lt_u (local.get 0) (i64.const 2)) (then (local.get 0))
                    (else (i64.add (call $fib (i64.sub (local.get 0) (i64.const 1)))
                        (call $fib (i64.sub (local.get 0) (i64.const 2)))))))
            (func $mix (param $n i32) (result i32) (local $a i64) (local $v v128) (local $f f64)
                (loop $again
                    (local.set $a (i64.add (i64.mul (local.get $a) (i64.const 6364136223846793005)) (i64.const 7)))
                    (local.set $v (i32x4.add (local.get $v) (i64x2.splat (local.get $a))))
                    (local.set $f (f64.add (f64.mul (local.get $f) (f64.const 0.999)) (f64.const 0.5)))
                    (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
                (i32.xor (i32.wrap_i64 (i64.reinterpret_f64 (local.get $f)))
                    (i32.xor (i32x4.extract_lane 1 (local.get $v)) (i32x4.extract_lane 2 (local.get $v)))))
            (func (export "satrap_main") (result i32) (local $i i32) (local $sum i32)
                (loop $rounds
                    (local.set $sum (i32.add (local.get $sum) (call $mix (i32.const 200000))))
                    (local.set $sum (i32.add (local.get $sum) (i32.wrap_i64 (call $fib (i64.const 18)))))
                    (call $null)
                    (if (i32.and (local.get $i) (i32.const 1)) (then (call $yield)))
                    (drop (memory.grow (i32.const 1)))
                    (memory.fill (i32.const 65536) (local.get $i) (i32.const 65536))
                    (local.set $sum (i32.add (local.get $sum) (i32.load (i32.const 131068))))
                    (br_if $rounds (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 6))))
                {tail}))"#
    ))
}

/// A guest, and how it must end: `None` if it is to be killed after some slices.
struct Guest {
    thread: Thread,
    expected: Option<ExitStatus>,
    slices: u32,
}

/// Runs guests until none is left.
fn serve(cpu: &CpuThread, guests: &Mutex<VecDeque<Guest>>, left: &AtomicU32, preemptions: &AtomicU32) {
    while left.load(Ordering::Relaxed) > 0 {
        let next = guests.lock().expect("no server panics").pop_front();
        let Some(mut guest) = next else {
            thread::yield_now();
            continue;
        };
        guest.slices += 1;
        let (pause, expected) = match guest.expected {
            None if guest.slices > 3 => (guest.thread.resume(Resume::Die), Some(ExitStatus::Killed)),
            expected => (preempt_after(cpu, &mut guest.thread, TICK), expected),
        };
        match pause {
            Pause::Finished(status) => {
                assert_eq!(Some(status), expected);
                left.fetch_sub(1, Ordering::Relaxed);
            }
            Pause::Preempted | Pause::Suspended => {
                preemptions.fetch_add(u32::from(pause == Pause::Preempted), Ordering::Relaxed);
                guests.lock().expect("no server panics").push_back(guest);
            }
        }
    }
}

#[test]
fn guests_that_share_cpus_never_notice_each_other() {
    let returning = program("(local.get $sum)");
    let trapping = program("(i32.load (i32.const -8))");
    let endless = program("(loop $again (br $again)) unreachable");
    let alone = returning.run();
    assert!(matches!(alone, ExitStatus::Code(_)), "{alone:?}");
    let guests = Mutex::new(VecDeque::new());
    for number in 0..GUESTS {
        let (process, expected) = match number % 3 {
            0 => (&returning, Some(alone)),
            1 => (&trapping, Some(ExitStatus::Trap(Trap::MemoryOutOfBounds))),
            _ => (&endless, None),
        };
        let thread = Process::of(&process.program).main();
        guests.lock().expect("it is new").push_back(Guest {
            thread,
            expected,
            slices: 0,
        });
    }
    let (left, preemptions) = (AtomicU32::new(GUESTS), AtomicU32::new(0));
    thread::scope(|scope| {
        for _ in 0..CPUS {
            scope.spawn(|| on_cpu(|cpu| serve(cpu, &guests, &left, &preemptions)));
        }
    });
    let preemptions = preemptions.into_inner();
    assert!(preemptions > GUESTS, "only {preemptions} preemptions");
    assert_eq!(Mock::live(), 0);
}

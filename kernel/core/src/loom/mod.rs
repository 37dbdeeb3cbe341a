//! Every interleaving of the run queue, of waking a task and of putting a CPU to sleep, in whole kernels.
//!
//! `RUSTFLAGS="--cfg loom" cargo test --release -p satrap-kernel --lib -- loom`. The kernel is the real one, with
//! its executors; `machine.rs` is beneath it and `puppets.rs` runs in it. Models are small enough to end.

mod events;
mod machine;
mod puppets;

use crate::{Executor, Platform, Satellite, Step, event::Event};
use alloc::{boxed::Box, string::String, sync::Arc, vec::Vec};
use core::{future::poll_fn, sync::atomic as plain, task::Poll};
use loom::{model::Builder, thread};
use machine::Machine;
use puppets::Puppet;
use satrap_abi::{
    Digest, KernelId, ProcessId,
    control::{ProcessSpec, ToSatellite},
    limits::Limits,
};
use satrap_region::Region;
use satrap_sync::{AtomicBool, AtomicU32, Ordering};

type Kernel = Arc<Satellite<Machine>>;

fn explore(preemptions: usize, test: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 10_000;
    builder.check(test);
}

fn kernel(cpus: usize) -> Kernel {
    Satellite::new(
        Arc::new(Machine::new(cpus)),
        KernelId(1),
        Region::from_heap(64 << 10),
    )
}

/// The calling thread becomes a CPU, until the kernel shuts down.
fn run(kernel: &Kernel, cpu: usize) {
    machine::enter(cpu);
    Executor::new(kernel.clone(), cpu).run();
}

fn spawn(kernel: &Kernel, puppet: Puppet) {
    let artifact = Digest([puppet as u8; 32]);
    kernel.load(artifact, &[puppet as u8]).unwrap();
    kernel.control(ToSatellite::Spawn(ProcessSpec {
        process: ProcessId(1),
        name: String::new(),
        artifact,
        args: Vec::new(),
        limits: Limits::DEFAULT,
        channels: Vec::new(),
        registers: Vec::new(),
        unrestricted: false,
        priority: 1,
    }));
}

/// A task that shuts the kernel down.
fn end_by_task(kernel: &Kernel) {
    let own = kernel.clone();
    kernel.spawn_task(Box::pin(async move { own.shut_down() }));
}

#[test]
fn a_task_that_comes_from_outside_wakes_a_sleeping_cpu() {
    explore(4, || {
        let kernel = kernel(1);
        let other = kernel.clone();
        let outside = thread::spawn(move || end_by_task(&other));
        run(&kernel, 0);
        outside.join().unwrap();
    });
}

/// A CPU that sleeps as soon as it finds nothing to do.
#[test]
#[should_panic(expected = "deadlock")]
fn a_cpu_that_does_not_look_once_more_is_seen_to_fail() {
    explore(4, || {
        let kernel = kernel(1);
        let other = kernel.clone();
        let outside = thread::spawn(move || end_by_task(&other));
        machine::enter(0);
        let mut executor = Executor::new(kernel.clone(), 0);
        loop {
            match executor.step() {
                Step::Ran => {}
                Step::Idle(deadline) => {
                    kernel.cpus[0].parked.announce();
                    kernel.platform().park(0, deadline);
                    kernel.cpus[0].parked.withdraw();
                }
                Step::Stopped => break,
            }
        }
        outside.join().unwrap();
    });
}

/// Something that happens once.
#[derive(Default)]
struct Happening {
    event: Event,
    happened: AtomicBool,
}

impl Happening {
    fn happen(&self) {
        self.happened.store(true, Ordering::Relaxed);
        self.event.signal();
    }

    fn look(&self) -> Poll<()> {
        match self.happened.load(Ordering::Relaxed) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

/// A task that waits for something, and then shuts the kernel down.
fn wait_for(kernel: &Kernel, happening: &Arc<Happening>) {
    let (own, happening) = (kernel.clone(), happening.clone());
    kernel.spawn_task(Box::pin(async move {
        poll_fn(|context| {
            happening.event.announce(context.waker());
            happening.look()
        })
        .await;
        own.shut_down();
    }));
}

#[test]
fn what_a_task_waits_for_wakes_it_on_its_sleeping_cpu() {
    explore(4, || {
        let kernel = kernel(1);
        let happening = Arc::new(Happening::default());
        wait_for(&kernel, &happening);
        let outside = thread::spawn(move || happening.happen());
        run(&kernel, 0);
        outside.join().unwrap();
    });
}

/// A task that looks before it says that it waits.
#[test]
#[should_panic(expected = "deadlock")]
fn a_task_that_looks_too_early_is_seen_to_fail() {
    explore(4, || {
        let kernel = kernel(1);
        let happening = Arc::new(Happening::default());
        let (own, waited) = (kernel.clone(), happening.clone());
        kernel.spawn_task(Box::pin(async move {
            poll_fn(|context| {
                let looked = waited.look();
                waited.event.announce(context.waker());
                looked
            })
            .await;
            own.shut_down();
        }));
        let outside = thread::spawn(move || happening.happen());
        run(&kernel, 0);
        outside.join().unwrap();
    });
}

#[test]
fn a_task_on_one_cpu_wakes_a_task_on_another() {
    explore(3, || {
        let kernel = kernel(2);
        let happening = Arc::new(Happening::default());
        wait_for(&kernel, &happening);
        kernel.spawn_task(Box::pin(async move { happening.happen() }));
        let other = kernel.clone();
        let second = thread::spawn(move || run(&other, 1));
        run(&kernel, 0);
        second.join().unwrap();
    });
}

#[test]
fn a_process_that_waits_for_ever_hears_that_it_must_end() {
    explore(4, || {
        let kernel = kernel(1);
        spawn(&kernel, Puppet::Waits);
        let other = kernel.clone();
        let outside = thread::spawn(move || other.shut_down());
        run(&kernel, 0);
        outside.join().unwrap();
    });
}

#[test]
fn a_process_that_computes_for_ever_hears_that_it_is_killed() {
    explore(3, || {
        let kernel = kernel(1);
        spawn(&kernel, Puppet::Computes);
        let other = kernel.clone();
        let outside = thread::spawn(move || {
            other.control(ToSatellite::Kill(ProcessId(1)));
            other.platform().exited.take();
            other.shut_down();
        });
        run(&kernel, 0);
        outside.join().unwrap();
    });
}

#[test]
fn the_last_process_to_end_stops_every_cpu() {
    explore(2, || {
        let kernel = kernel(2);
        spawn(&kernel, Puppet::Waits);
        end_by_task(&kernel);
        let other = kernel.clone();
        let second = thread::spawn(move || run(&other, 1));
        run(&kernel, 0);
        second.join().unwrap();
    });
}

#[test]
fn a_task_that_is_queued_behind_one_that_computes_gets_its_turn() {
    explore(4, || {
        let kernel = kernel(1);
        spawn(&kernel, Puppet::Computes);
        let other = kernel.clone();
        let outside = thread::spawn(move || end_by_task(&other));
        run(&kernel, 0);
        outside.join().unwrap();
    });
}

#[test]
fn a_timer_that_has_fired_is_not_relied_upon() {
    explore(4, || {
        let kernel = kernel(1);
        machine::enter(0);
        spawn(&kernel, Puppet::Computes);
        let computing = kernel.cpus[0].pop(|| 1).expect("it was queued");
        kernel.cpus[0].arm(kernel.platform(), 0, 1);
        kernel.platform().fire(0);
        let other = kernel.clone();
        let outside = thread::spawn(move || end_by_task(&other));
        kernel.cpus[0].disarmed();
        let alone = kernel.cpus[0].ready() == 0;
        outside.join().unwrap();
        assert!(!alone || kernel.platform().fires(0), "the task waits for ever");
        drop(computing);
    });
}

#[test]
fn a_task_that_waits_behind_another_runs_once_wherever_it_is_taken() {
    static STOLEN: plain::AtomicUsize = plain::AtomicUsize::new(0);
    explore(2, || {
        let kernel = kernel(2);
        let ran = Arc::new(AtomicU32::new(0));
        let (own, runs) = (kernel.clone(), ran.clone());
        // In turn: the first and the third on CPU 0, the second on CPU 1.
        kernel.spawn_task(Box::pin(async move { own.platform().pass(1_000_000) }));
        kernel.spawn_task(Box::pin(async {}));
        let own = kernel.clone();
        kernel.spawn_task(Box::pin(async move {
            runs.fetch_add(1, Ordering::Relaxed);
            STOLEN.fetch_add(
                usize::from(machine::current() == Some(1)),
                plain::Ordering::Relaxed,
            );
            own.shut_down();
        }));
        let other = kernel.clone();
        let second = thread::spawn(move || run(&other, 1));
        run(&kernel, 0);
        second.join().unwrap();
        assert_eq!(ran.load(Ordering::Relaxed), 1);
        assert_eq!(kernel.cpus.iter().map(|cpu| cpu.ready()).sum::<usize>(), 0);
    });
    assert!(
        STOLEN.load(plain::Ordering::Relaxed) > 0,
        "the model never came to it"
    );
}

#[test]
fn a_new_thread_starts_on_the_cpu_to_which_its_process_has_moved() {
    explore(0, || {
        let kernel = kernel(2);
        let own = kernel.clone();
        kernel.spawn_task(Box::pin(async move {
            own.platform().pass(1_000_000);
            machine::enter(1);
            assert_eq!(
                Executor::new(own.clone(), 1).step(),
                Step::Ran,
                "it takes the thread"
            );
            machine::enter(0);
            // Threads of one process run in turn: both are CPU 1's now.
            assert_eq!([0, 1].map(|cpu: usize| own.cpus[cpu].ready()), [0, 1]);
        }));
        kernel.spawn_task(Box::pin(async {}));
        spawn(&kernel, Puppet::Doubles);
        machine::enter(1);
        assert_eq!(
            Executor::new(kernel.clone(), 1).step(),
            Step::Ran,
            "the empty task"
        );
        machine::enter(0);
        assert_eq!(Executor::new(kernel.clone(), 0).step(), Step::Ran);
        kernel.shut_down();
        run(&kernel, 1);
        run(&kernel, 0);
    });
}

//! `satrap-bench-iceoryx2 BYTES TRIPS CORE CORE`: iceoryx2's ping-pong as its publish-subscribe benchmark makes it.
//!
//! Two pinned participants, two services, a loaned sample there and one back, receiving by polling, nothing
//! copied. Prints the nanoseconds of one way, which is half a round trip. Unlike the original, both ends of a
//! payload are written, as Satrap's guests do; and where both participants share a core the one that polls
//! yields it, since otherwise each trip would last a time slice of the scheduler. Neighbour:
//! `bench/src/benches/iceoryx2.rs` runs it.

#![deny(unsafe_code)]

use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::*;
use iceoryx2::sample_mut::SampleMut;
use iceoryx2::service::port_factory::publish_subscribe::PortFactory;
use rustix::thread::{CpuSet, sched_setaffinity};
use std::error::Error;
use std::sync::Barrier;
use std::thread::{scope, yield_now};
use std::time::Instant;

type Failure = Box<dyn Error + Send + Sync>;
type Channel = PortFactory<ipc::Service, [u8], ()>;

/// Trips before those that are measured.
const WARM_UP: u64 = 1000;
/// The median of so many batches counts, as in Satrap's guests.
const BATCHES: u64 = 256;

/// What the command line asks for.
#[derive(Clone, Copy)]
struct Task {
    bytes: usize,
    trips: u64,
    cores: [usize; 2],
}

fn main() -> Result<(), Failure> {
    set_log_level(LogLevel::Error);
    let numbers: Vec<u64> = std::env::args()
        .skip(1)
        .map(|word| word.parse())
        .collect::<Result<_, _>>()?;
    let [bytes, trips, first, second] = numbers[..] else {
        return Err("usage: satrap-bench-iceoryx2 BYTES TRIPS CORE CORE".into());
    };
    let task = Task {
        bytes: bytes as usize,
        trips,
        cores: [first as usize, second as usize],
    };
    println!("{:.1}", ping_pong(task)?);
    Ok(())
}

/// Nanoseconds of one way.
fn ping_pong(task: Task) -> Result<f64, Failure> {
    let node = NodeBuilder::new().create::<ipc::Service>()?;
    let (there, back) = (channel(&node, "there")?, channel(&node, "back")?);
    let ready = Barrier::new(2);
    scope(|scope| {
        let answering = scope.spawn(|| answer(task, &there, &back, &ready));
        let asked = scope.spawn(|| ask(task, &there, &back, &ready)).join();
        let answered = answering.join();
        answered.map_err(|_| "the answering participant panicked")??;
        asked.map_err(|_| "the asking participant panicked")?
    })
}

/// A service with the settings of iceoryx2's benchmark.
fn channel(node: &Node<ipc::Service>, direction: &str) -> Result<Channel, Failure> {
    let name = format!("satrap-bench-{}-{direction}", std::process::id());
    let service = node
        .service_builder(&ServiceName::new(&name)?)
        .publish_subscribe::<[u8]>()
        .max_publishers(1)
        .max_subscribers(1)
        .history_size(0)
        .subscriber_max_buffer_size(1)
        .enable_safe_overflow(true)
        .create()?;
    Ok(service)
}

/// One side: where it sends, where it receives, and how it waits.
struct Participant {
    sender: Publisher<ipc::Service, [u8], ()>,
    receiver: Subscriber<ipc::Service, [u8], ()>,
    bytes: usize,
    yields: bool,
}

impl Participant {
    fn new(task: Task, core: usize, to: &Channel, from: &Channel) -> Result<Participant, Failure> {
        let mut set = CpuSet::new();
        set.set(core);
        sched_setaffinity(None, &set)?;
        Ok(Participant {
            sender: to
                .publisher_builder()
                .initial_max_slice_len(task.bytes)
                .create()?,
            receiver: from.subscriber_builder().create()?,
            bytes: task.bytes,
            yields: task.cores[0] == task.cores[1],
        })
    }

    /// A sample with both ends written.
    #[allow(unsafe_code)]
    fn sample(&self) -> Result<SampleMut<ipc::Service, [u8], ()>, Failure> {
        let mut sample = self.sender.loan_slice_uninit(self.bytes)?;
        if let [first, .., last] = sample.payload_mut() {
            first.write(1);
            last.write(2);
        }
        // SAFETY: the payload lies in shared memory that Linux has zeroed, and every byte is a valid `u8`.
        Ok(unsafe { sample.assume_init() })
    }

    /// Polls until a sample comes, and reads its first byte.
    fn receive(&self) -> Result<u8, Failure> {
        loop {
            if let Some(sample) = self.receiver.receive()? {
                return Ok(sample.payload()[0]);
            }
            if self.yields {
                yield_now();
            }
        }
    }
}

fn ask(task: Task, there: &Channel, back: &Channel, ready: &Barrier) -> Result<f64, Failure> {
    let own = Participant::new(task, task.cores[0], there, back);
    // Even after a failure, so that the other side does not wait for ever.
    ready.wait();
    let own = own?;
    let mut sample = own.sample()?;
    let length = task.trips.div_ceil(BATCHES).max(1);
    let mut batches = Vec::new();
    let mut start = Instant::now();
    for trip in 1..=WARM_UP + task.trips {
        sample.send()?;
        // As in the original: the next sample is loaned while this one travels.
        sample = own.sample()?;
        own.receive()?;
        if trip == WARM_UP {
            start = Instant::now();
        } else if trip > WARM_UP && (trip - WARM_UP).is_multiple_of(length) {
            batches.push(start.elapsed());
            start = Instant::now();
        }
    }
    batches.sort();
    let median = batches.get(batches.len() / 2).ok_or("no trips were asked for")?;
    Ok(median.as_nanos() as f64 / (length * 2) as f64)
}

fn answer(task: Task, there: &Channel, back: &Channel, ready: &Barrier) -> Result<(), Failure> {
    let own = Participant::new(task, task.cores[1], back, there);
    ready.wait();
    let own = own?;
    for _ in 0..WARM_UP + task.trips {
        let sample = own.sample()?;
        own.receive()?;
        sample.send()?;
    }
    Ok(())
}

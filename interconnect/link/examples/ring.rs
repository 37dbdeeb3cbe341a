//! What a message costs: local push and pop, streaming and round trips between two cores.
//!
//! `cargo run --release -p satrap-link --example ring [cpu cpu]`. The two cores hand a bare cache line to and
//! fro in the same run, sample by sample, because only ratios carry over from machine to machine. All figures
//! are ns; each is the median of many short samples, with the best beside it.

use satrap_abi::KernelId;
use satrap_link::{
    Attention, AttentionDoorbell, Bell, Doorbell, Export, FrameReceiver, FrameSender, LocalReceiver,
    LocalSender, PeerExport, RegionReceiver, RegionSender, local_ring,
};
use satrap_region::{LINE, Lines, Region};
use std::hint::{black_box, spin_loop};
use std::sync::atomic::Ordering::{Acquire, Release};
use std::time::Instant;

const SAMPLES: usize = 301;
const ROUNDS: u64 = 1_000;
const STREAM: u64 = 10_000;
const LOCAL_BATCH: u64 = 32;
const LOCAL_BATCHES: u64 = 1_000;

/// Times of one measure, in ns an operation.
struct Series(&'static str, Vec<f64>);

impl Series {
    fn new(name: &'static str) -> Series {
        Series(name, Vec::new())
    }

    fn add(&mut self, start: Instant, operations: u64) {
        self.1.push(start.elapsed().as_nanos() as f64 / operations as f64);
    }

    fn median(&mut self) -> f64 {
        self.1.sort_by(f64::total_cmp);
        self.1[self.1.len() / 2]
    }

    fn print(&mut self) {
        let median = self.median();
        println!("{:<44} {median:>8.1} {:>8.1}", self.0, self.1[0]);
    }
}

/// One core's ends of everything that leads to the other.
struct Station {
    to: RegionSender,
    from: RegionReceiver,
    own_line: Lines,
    peer_line: Lines,
}

fn main() {
    let mut cpus = std::env::args()
        .skip(1)
        .map(|arg| arg.parse().expect("usage: ring [cpu cpu]"));
    let (near, far) = (cpus.next().unwrap_or(0), cpus.next().unwrap_or(1));
    pin(near);
    println!("{:<44} {:>8} {:>8}   (ns)", "", "median", "best");
    local();
    notify();
    let (mut here, mut there) = stations();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            pin(far);
            answer(&mut there);
        });
        ask(&mut here);
    });
}

fn pin(cpu: usize) {
    let mut set = rustix::thread::CpuSet::new();
    set.set(cpu);
    rustix::thread::sched_setaffinity(None, &set).expect("pinning to the CPU named");
}

fn stations() -> (Station, Station) {
    let kernels = [KernelId(1), KernelId(2)];
    let memory = kernels.map(|_| Region::from_heap(2 << 20));
    let own =
        [0, 1].map(|i| Export::format(memory[i].clone(), kernels[i], 0).expect("the region is large enough"));
    let seen = [0, 1]
        .map(|i| PeerExport::open(memory[i].clone(), kernels[i], 0).expect("the export was just formatted"));
    let lines =
        [0, 1].map(|_| Lines::new(&Region::from_heap(2 * LINE), 0, 1).expect("the region has two lines"));
    let station = |own_number: usize| Station {
        to: own[own_number]
            .ring_to(&seen[1 - own_number])
            .expect("both kernels have a ring"),
        from: own[own_number]
            .ring_from(&seen[1 - own_number])
            .expect("both kernels have a ring"),
        own_line: lines[own_number].clone(),
        peer_line: lines[1 - own_number].clone(),
    };
    (station(0), station(1))
}

/// The near core's script; [`answer`] is its counterpart, step for step.
fn ask(here: &mut Station) {
    let mut raw = Series::new("bare line, round trip");
    let mut small = Series::new("ring, round trip, 7 words");
    let mut large = Series::new("ring, round trip, 14 words");
    let mut stream = Series::new("ring, streaming, 7 words");
    let mut stream_large = Series::new("ring, streaming, 14 words");
    for sample in 0..SAMPLES as u64 {
        let start = Instant::now();
        for round in 1..=ROUNDS {
            let token = sample * ROUNDS + round;
            here.own_line.store(0, 0, token, Release);
            wait_for(&here.peer_line, token);
        }
        raw.add(start, ROUNDS);
        for (words, series) in [(7, &mut small), (14, &mut large)] {
            let start = Instant::now();
            for round in 0..ROUNDS {
                send(&mut here.to, round, words);
                black_box(receive(&mut here.from));
            }
            series.add(start, ROUNDS);
        }
        for (words, series) in [(7, &mut stream), (14, &mut stream_large)] {
            let start = Instant::now();
            for round in 0..STREAM {
                send(&mut here.to, round, words);
            }
            receive(&mut here.from);
            series.add(start, STREAM);
        }
    }
    let base = raw.median();
    for series in [&mut raw, &mut small, &mut large, &mut stream, &mut stream_large] {
        series.print();
    }
    println!(
        "{:<44} {:>8.2}",
        "ring / bare line, 7 words",
        small.median() / base
    );
}

fn answer(there: &mut Station) {
    for sample in 0..SAMPLES as u64 {
        for round in 1..=ROUNDS {
            let token = sample * ROUNDS + round;
            wait_for(&there.peer_line, token);
            there.own_line.store(0, 0, token, Release);
        }
        for words in [7, 14] {
            for round in 0..ROUNDS {
                black_box(receive(&mut there.from));
                send(&mut there.to, round, words);
            }
        }
        for _ in [7, 14] {
            for _ in 0..STREAM {
                black_box(receive(&mut there.from));
            }
            send(&mut there.to, 0, 1);
        }
    }
}

fn wait_for(line: &Lines, token: u64) {
    while line.load(0, 0, Acquire) != token {
        spin_loop();
    }
}

fn send(to: &mut RegionSender, value: u64, words: usize) {
    let frame = [value; 14];
    while to.send(&frame[..words]).is_err() {
        spin_loop();
    }
}

fn receive(from: &mut RegionReceiver) -> u64 {
    while from.is_empty() {
        spin_loop();
    }
    from.take()
        .expect("the peer sends no garbage")
        .expect("a frame is there")
        .words()[0]
}

fn local() {
    let (mut sender, mut receiver) = local_ring(128);
    let names = [
        (4, "local push, 4 words", "local pop, 4 words"),
        (7, "local push, 7 words", "local pop, 7 words"),
        (14, "local push, 14 words", "local pop, 14 words"),
    ];
    for (words, push_name, pop_name) in names {
        let (mut push, mut pop) = (Series::new(push_name), Series::new(pop_name));
        for _ in 0..SAMPLES {
            local_sample(&mut sender, &mut receiver, words, &mut push, &mut pop);
        }
        push.print();
        pop.print();
    }
    let mut both = Series::new("local push + pop in turn, 7 words");
    for _ in 0..SAMPLES {
        let start = Instant::now();
        for round in 0..LOCAL_BATCH * LOCAL_BATCHES {
            sender
                .send(&black_box([round; 14])[..7])
                .expect("the ring has room");
            black_box(receiver.take().expect("the sender sends no garbage"));
        }
        both.add(start, LOCAL_BATCH * LOCAL_BATCHES);
    }
    both.print();
}

fn local_sample(
    sender: &mut LocalSender,
    receiver: &mut LocalReceiver,
    words: usize,
    push: &mut Series,
    pop: &mut Series,
) {
    let frame = black_box([7; 14]);
    let (mut pushing, mut popping) = (0, 0);
    for _ in 0..LOCAL_BATCHES {
        let start = Instant::now();
        for _ in 0..LOCAL_BATCH {
            sender
                .send(black_box(&frame[..words]))
                .expect("the ring has room");
        }
        let between = Instant::now();
        for _ in 0..LOCAL_BATCH {
            black_box(
                receiver
                    .take()
                    .expect("the peer sends no garbage")
                    .expect("a frame is there")
                    .words()[0],
            );
        }
        pushing += (between - start).as_nanos();
        popping += between.elapsed().as_nanos();
        receiver.acknowledge();
    }
    let operations = (LOCAL_BATCH * LOCAL_BATCHES) as f64;
    push.1.push(pushing as f64 / operations);
    pop.1.push(popping as f64 / operations);
}

struct Silent;

impl Bell for Silent {
    fn wake(&self) {
        unreachable!("the peer polls");
    }

    fn interrupt(&self) {
        unreachable!("the peer polls");
    }
}

fn notify() {
    let memory = Region::from_heap(2 << 20);
    let own = Export::format(memory.clone(), KernelId(1), 0).expect("the region is large enough");
    own.attention()
        .expect("the export has its word")
        .set(Attention::Polling);
    let seen = PeerExport::open(memory, KernelId(1), 0).expect("the export was just formatted");
    let doorbell = AttentionDoorbell::new(seen.attention().expect("the export has its word"), Silent);
    let mut series = Series::new("notify a polling peer, word in own cache");
    for _ in 0..SAMPLES {
        let start = Instant::now();
        for _ in 0..ROUNDS {
            doorbell.notify();
        }
        series.add(start, ROUNDS);
    }
    series.print();
}

//! Every interleaving of the ring and of the doorbell protocol, in models small enough to end.
//!
//! `RUSTFLAGS="--cfg loom" cargo test --release -p satrap-link --test loom`

#![cfg(loom)]

use loom::{
    model::Builder,
    sync::{Arc, Mutex},
    thread,
};
use satrap_link::*;
use satrap_sync::Ordering;

fn explore(test: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(4);
    builder.check(test);
}

/// A frame whose every word follows from its number.
fn frame(number: u64, words: usize) -> Vec<u64> {
    (0..words as u64).map(|word| number << 16 | word << 8).collect()
}

fn ring<M: Memory + Clone>(slots: M, consumed: M) -> (Sender<M>, Receiver<M>) {
    (
        Sender::new(slots.clone(), consumed.clone(), Epoch::ONLY),
        Receiver::new(slots, consumed, Epoch::ONLY),
    )
}

fn send_all(mut sender: impl FrameSender, lengths: &[usize]) {
    for (number, &words) in lengths.iter().enumerate() {
        while sender.send(&frame(number as u64, words)).is_err() {
            thread::yield_now();
        }
    }
}

fn receive_all(mut receiver: impl FrameReceiver, lengths: &[usize]) {
    for (number, &words) in lengths.iter().enumerate() {
        let taken = loop {
            match receiver.take().expect("no frame is stale") {
                Some(frame) => break frame,
                None => thread::yield_now(),
            }
        };
        let sent = frame(number as u64, words);
        assert_eq!(taken.words()[0], sent[0] | words as u64, "a stale header");
        assert_eq!(taken.words()[1..], sent[1..], "stale words");
    }
}

/// A producer and a consumer on two threads, over two slots.
fn exchange<M: Memory + Clone + Send + 'static>(make: fn(usize) -> M, lengths: &'static [usize]) {
    explore(move || {
        let (sender, receiver) = ring(make(2), make(1));
        let producer = thread::spawn(move || send_all(sender, lengths));
        receive_all(receiver, lengths);
        producer.join().unwrap();
    });
}

#[test]
fn short_frames_pass_a_ring_that_fills() {
    exchange(LocalLines::new, &[2, 1, 2, 1]);
}

#[test]
fn long_frames_pass_a_ring_that_fills() {
    exchange(LocalLines::new, &[8, 14, 8]);
}

#[test]
fn long_frames_after_short_ones_wrap_the_end() {
    exchange(LocalLines::new, &[1, 8, 1, 8]);
}

#[test]
fn a_frame_seen_is_a_frame_that_can_be_taken() {
    explore(|| {
        let (mut sender, mut receiver) = local_ring(2);
        let producer = thread::spawn(move || sender.send(&frame(1, 9)));
        if !receiver.is_empty() {
            let taken = receiver.take().unwrap().expect("it was seen");
            assert_eq!(taken.words()[8], frame(1, 9)[8]);
        }
        producer.join().unwrap().unwrap();
    });
}

/// Memory whose releases are lost: what the ring would be if it published by a plain store.
#[derive(Clone)]
struct Unordered(LocalLines);

impl Unordered {
    fn new(count: usize) -> Unordered {
        Unordered(LocalLines::new(count))
    }
}

impl Memory for Unordered {
    fn lines(&self) -> usize {
        self.0.lines()
    }

    fn load(&self, line: usize, word: usize, order: Ordering) -> u64 {
        self.0.load(line, word, order)
    }

    fn store(&self, line: usize, word: usize, value: u64, _order: Ordering) {
        self.0.store(line, word, value, Ordering::Relaxed);
    }
}

#[test]
#[should_panic(expected = "stale")]
fn a_ring_that_publishes_without_release_is_seen_to_fail() {
    exchange(Unordered::new, &[2, 2, 2]);
}

/// A bell that only remembers that it was rung. A mutex, as an eventfd is the host kernel's: loom would also
/// try orders of a swap and a store that no machine has.
#[derive(Clone)]
struct Rung(Arc<Mutex<bool>>);

impl Bell for Rung {
    fn wake(&self) {
        *self.0.lock().unwrap() = true;
    }

    fn interrupt(&self) {
        self.wake();
    }
}

impl Rung {
    fn new() -> Rung {
        Rung(Arc::new(Mutex::new(false)))
    }

    fn empty(&self) -> bool {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// The doorbell as it is.
fn correct(word: LocalLines, bell: Rung) -> impl Doorbell + Send {
    AttentionDoorbell::new(PeerAttention::new(word), bell)
}

/// A doorbell that looks at the word without a fence after publishing.
struct Unfenced(LocalLines, Rung);

impl Doorbell for Unfenced {
    fn notify(&self) {
        if self.0.load(0, 0, Ordering::Acquire) & 3 != Attention::Polling as u64 {
            self.1.wake();
        }
    }

    fn repeat(&self) {
        self.notify();
    }
}

/// How the receiver goes to sleep: sets its word and looks, or the other way round.
type FallAsleep = fn(&OwnAttention<LocalLines>, &LocalReceiver) -> bool;

fn set_then_look(attention: &OwnAttention<LocalLines>, receiver: &LocalReceiver) -> bool {
    attention.set(Attention::Parked);
    receiver.is_empty()
}

fn look_then_set(attention: &OwnAttention<LocalLines>, receiver: &LocalReceiver) -> bool {
    let empty = receiver.is_empty();
    attention.set(Attention::Parked);
    empty
}

/// A sender sends `frames` and notifies after each; a receiver parks when it finds nothing. Once the sender
/// has finished, a receiver that is parked with frames in its ring must have been rung.
fn sleeper_is_rung<D: Doorbell + Send + 'static>(
    frames: u64,
    doorbell: fn(LocalLines, Rung) -> D,
    fall_asleep: FallAsleep,
) {
    explore(move || {
        let word = LocalLines::new(1);
        let attention = OwnAttention::new(word.clone());
        attention.set(Attention::Polling);
        let bell = Rung::new();
        let doorbell = doorbell(word, bell.clone());
        let (mut sender, mut receiver) = local_ring(4);
        let producer = thread::spawn(move || {
            for number in 0..frames {
                sender.send(&frame(number, 1)).unwrap();
                doorbell.notify();
            }
        });
        let (mut taken, mut asleep) = (0, false);
        // A receiver that did not fall asleep in three attempts is awake, and will look again.
        for _ in 0..3 {
            asleep = fall_asleep(&attention, &receiver) && !bell.empty();
            if asleep {
                break;
            }
            bell.empty();
            attention.set(Attention::Polling);
            while receiver.take().unwrap().is_some() {
                taken += 1;
            }
        }
        producer.join().unwrap();
        let left = !receiver.is_empty();
        assert!(
            !(asleep && left) || bell.empty(),
            "asleep with a frame in its ring after {taken} taken"
        );
    });
}

#[test]
fn a_sleeper_with_frames_was_rung() {
    sleeper_is_rung(1, correct, set_then_look);
}

#[test]
fn a_sleeper_that_wakes_and_sleeps_again_was_rung_again() {
    sleeper_is_rung(3, correct, set_then_look);
}

#[test]
#[should_panic(expected = "asleep with a frame")]
fn a_receiver_that_looks_before_it_says_so_is_seen_to_fail() {
    sleeper_is_rung(1, correct, look_then_set);
}

#[test]
#[should_panic(expected = "asleep with a frame")]
fn a_doorbell_without_a_fence_is_seen_to_fail() {
    sleeper_is_rung(1, Unfenced, set_then_look);
}

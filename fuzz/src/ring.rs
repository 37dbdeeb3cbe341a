//! A ring whose sender is hostile: it writes what it likes, where it likes, between correct frames.
//!
//! The receiver takes frames of 1 to 14 words or reports garbage, and then keeps to it: a broken ring is never
//! trusted again. Neighbours: `interconnect/link/src/ring.rs` is under test; `export.rs`, `frame.rs`.

#![no_main]
#![forbid(unsafe_code)]

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use satrap_abi::KernelId;
use satrap_link::{Export, FRAME_WORDS_MAX, FrameReceiver, FrameSender, PeerExport};
use satrap_region::Region;
use std::cell::OnceCell;

const SIZE: usize = 2 << 20;
/// Where a peer's rings lie in its export: one of 16 KiB for each satellite.
const RINGS: usize = 12 << 10;
const RING_BYTES: usize = 16 << 10;

/// What the peer does next.
#[derive(Arbitrary, Debug)]
enum Act {
    /// Sends as a correct sender does.
    Send { words: u8, value: u64 },
    /// Writes a word anywhere in the ring.
    Scribble { word: u16, value: u64 },
    /// Writes near the place that the receiver looks at next.
    ScribbleNext { word: u8, value: u64 },
    /// Adds to a word near that place: sequence numbers are hard to guess.
    Add { word: u8, by: i8 },
    /// Lets the receiver take one.
    Receive,
}

thread_local! {
    static REGIONS: OnceCell<[Region; 2]> = const { OnceCell::new() };
}

fuzz_target!(|acts: Vec<Act>| {
    REGIONS.with(|regions| {
        let regions = regions.get_or_init(|| [(); 2].map(|()| Region::from_heap(SIZE)));
        play(regions, &acts);
    });
});

fn play(regions: &[Region; 2], acts: &[Act]) {
    let kernels = [KernelId(1), KernelId(2)];
    let [own, peer] = [0, 1]
        .map(|i| Export::format(regions[i].clone(), kernels[i], 0).expect("the region is large enough"));
    let [own_seen, peer_seen] =
        [0, 1].map(|i| PeerExport::open(regions[i].clone(), kernels[i], 0).expect("formatted just now"));
    let mut sender = peer.ring_to(&own_seen).expect("each kernel has a ring");
    let mut receiver = own.ring_from(&peer_seen).expect("each kernel has a ring");
    let ring = RINGS + RING_BYTES * usize::from(kernels[0].0);
    let (mut broken, mut next) = (false, 0);
    for act in acts {
        match act {
            Act::Send { words, value } => {
                let _ = sender.send(&[*value; FRAME_WORDS_MAX][..1 + usize::from(*words) % FRAME_WORDS_MAX]);
            }
            Act::Scribble { word, value } => write(&regions[1], ring, usize::from(*word), *value),
            Act::ScribbleNext { word, value } => {
                write(&regions[1], ring, next + usize::from(*word % 24), *value)
            }
            Act::Add { word, by } => {
                let place = next + usize::from(*word % 24);
                let value = read(&regions[1], ring, place).wrapping_add_signed(i64::from(*by));
                write(&regions[1], ring, place, value);
            }
            Act::Receive => match receiver.take() {
                Ok(Some(frame)) => {
                    assert!(!broken, "a broken ring was trusted again");
                    assert!((1..=FRAME_WORDS_MAX).contains(&frame.words().len()));
                    let _ = frame.header();
                    next += 8 * frame.words().len().div_ceil(7);
                }
                Ok(None) => {}
                Err(garbage) => {
                    assert!(!garbage.to_string().is_empty());
                    assert!(receiver.take().is_err(), "garbage is not forgotten");
                    broken = true;
                }
            },
        }
        if broken {
            return;
        }
    }
}

fn read(region: &Region, ring: usize, word: usize) -> u64 {
    let mut bytes = [0; 8];
    region
        .read(ring + word * 8 % RING_BYTES, &mut bytes)
        .expect("within the ring");
    u64::from_le_bytes(bytes)
}

fn write(region: &Region, ring: usize, word: usize, value: u64) {
    region
        .write(ring + word * 8 % RING_BYTES, &value.to_le_bytes())
        .expect("within the ring");
}

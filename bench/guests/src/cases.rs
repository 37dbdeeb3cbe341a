//! What `bench-lmp-client` can send, and how it is timed. Neighbour: `server.rs` answers.
//!
//! Time is taken inside the guest, around all messages of a case at once, so that the clock costs nothing.

use std::time::Duration;

use satrap::{Block, Error, Pool, time};

use crate::{batches, bench, ends};

/// Messages of `bytes` bytes, `count` times; returns the nanoseconds of each.
pub type Case = fn(bytes: usize, count: u64) -> Result<f64, Error>;

/// Every case by its name on the command line.
pub const CASES: &[(&str, Case)] = &[
    ("inline", inline),
    ("idle", idle),
    ("block", block),
    ("pool", pool),
    ("toss", toss),
    ("stream", stream),
];

/// Messages before those that are measured.
const WARM_UP: u64 = 1000;
const BUFFERS: usize = 4;
/// Blocks between two looks at the clock: enough that the last one's way does not count.
const BURST: u64 = 32;
/// Long enough for both satellites to have gone to sleep.
const PAUSE: Duration = Duration::from_millis(2);

/// The case of that name.
pub fn find(name: &str) -> Option<Case> {
    CASES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, case)| *case)
}

/// Makes the trips and returns how long each of those after the warm-up took.
fn measure(count: u64, trip: &mut dyn FnMut(u64) -> Result<(), Error>) -> Result<f64, Error> {
    (0..WARM_UP.min(count)).try_for_each(&mut *trip)?;
    batches::each(count, trip)
}

/// 32 bytes of arguments there and back.
fn inline(_: usize, count: u64) -> Result<f64, Error> {
    let mut server = bench::Client::bind("lmp")?;
    measure(count, &mut |number| {
        let (echoed, ..) = server.ping(number, 1, 2, 3)?;
        assert_eq!(echoed, number, "the server answers another question");
        Ok(())
    })
}

/// The same, each after a pause in which both sides fall asleep. The median.
fn idle(_: usize, count: u64) -> Result<f64, Error> {
    let mut server = bench::Client::bind("lmp")?;
    let mut trips = Vec::new();
    for number in 0..count {
        time::sleep(PAUSE);
        let start = time::now();
        server.ping(number, 1, 2, 3)?;
        trips.push(start.elapsed());
    }
    Ok(batches::median(trips))
}

/// One block travels to and fro. Neither side reads it.
fn block(bytes: usize, count: u64) -> Result<f64, Error> {
    let mut server = bench::Client::bind("lmp")?;
    let mut block = Some(Block::alloc(bytes)?);
    measure(count, &mut |_| {
        if let Some(sent) = block.take() {
            block = Some(server.pass(sent)?);
        }
        Ok(())
    })
}

/// A pooled buffer there, its sum back.
fn pool(bytes: usize, count: u64) -> Result<f64, Error> {
    let mut server = bench::Client::bind("lmp")?;
    let pool = Pool::new(server.endpoint(), bytes, BUFFERS)?;
    measure(count, &mut |number| {
        let mut data = pool.acquire()?;
        ends::mark(&mut data, number as u8);
        let expected = ends::sum(&data);
        assert_eq!(server.look(data)?, expected, "the server read something else");
        Ok(())
    })
}

/// A pooled buffer there, a pooled buffer back: what iceoryx2's ping-pong does.
fn toss(bytes: usize, count: u64) -> Result<f64, Error> {
    let mut server = bench::Client::bind("lmp")?;
    let pool = Pool::new(server.endpoint(), bytes, BUFFERS)?;
    measure(count, &mut |number| {
        let mut data = pool.acquire()?;
        ends::mark(&mut data, number as u8);
        let answer = server.toss(data)?;
        assert_eq!(answer[0], number as u8, "the server answers another question");
        Ok(())
    })
}

/// New blocks one way, as many under way as the channel lets be. Each burst ends when all have arrived.
fn stream(bytes: usize, count: u64) -> Result<f64, Error> {
    let mut server = Some(bench::Client::bind("lmp")?);
    let each = batches::each(count.div_ceil(BURST), |_| {
        let Some(mut state) = server.take() else {
            return Ok(());
        };
        for _ in 0..BURST {
            state = state.send_pour(Block::alloc(bytes)?)?;
        }
        state.ping(0, 0, 0, 0)?;
        server = Some(state);
        Ok::<(), Error>(())
    })?;
    Ok(each / BURST as f64)
}

//! `bench-lmp-client CASE BYTES N`: N round trips through `bench-lmp-server`. The cases: `inline` (32 bytes of
//! arguments, whatever BYTES says), `block` (a moved block that comes back) and `pool` (a pooled buffer that
//! the server reads in place).

#![forbid(unsafe_code)]

mod arguments;
mod ends;

use std::time::Duration;

use satrap::{Block, Error, Pool, println, time};

satrap::contract!("bench.wit");
satrap::main!(main);

/// Round trips before those that are measured.
const WARM_UP: u64 = 1000;
const BUFFERS: usize = 4;

type Trip<'a> = dyn FnMut(u64) -> Result<(), Error> + 'a;

fn main() -> Result<(), String> {
    let case = satrap::args()
        .into_iter()
        .nth(1)
        .unwrap_or_else(|| "inline".into());
    let bytes = usize::try_from(arguments::number(2, 64)?).map_err(|error| error.to_string())?;
    let trips = arguments::number(3, 100_000)?;
    let elapsed = match case.as_str() {
        "inline" => inline(trips),
        "block" => block(bytes, trips),
        "pool" => pool(bytes, trips),
        _ => return Err(format!("there is no case `{case}`: inline, block or pool")),
    };
    let elapsed = elapsed.map_err(|error| error.to_string())?;
    println!(
        "case={case} bytes={bytes} trips={trips} ns={} ns_per_trip={:.1}",
        elapsed.as_nanos(),
        elapsed.as_nanos() as f64 / trips as f64,
    );
    Ok(())
}

/// Makes the trips and returns how long those after the warm-up took.
fn measure(trips: u64, trip: &mut Trip<'_>) -> Result<Duration, Error> {
    (0..WARM_UP.min(trips)).try_for_each(&mut *trip)?;
    let start = time::now();
    (0..trips).try_for_each(trip)?;
    Ok(start.elapsed())
}

fn inline(trips: u64) -> Result<Duration, Error> {
    let mut server = bench::Client::bind("lmp")?;
    measure(trips, &mut |number| {
        let (echoed, ..) = server.ping(number, 1, 2, 3)?;
        assert_eq!(echoed, number, "the server answers another question");
        Ok(())
    })
}

/// One block travels to and fro. Neither side reads it.
fn block(bytes: usize, trips: u64) -> Result<Duration, Error> {
    let mut server = bench::Client::bind("lmp")?;
    let mut block = Some(Block::alloc(bytes)?);
    measure(trips, &mut |_| {
        if let Some(sent) = block.take() {
            block = Some(server.pass(sent)?);
        }
        Ok(())
    })
}

fn pool(bytes: usize, trips: u64) -> Result<Duration, Error> {
    let mut server = bench::Client::bind("lmp")?;
    let pool = Pool::new(server.endpoint(), bytes, BUFFERS)?;
    measure(trips, &mut |number| {
        let mut data = pool.acquire()?;
        data[0] = number as u8;
        data[bytes - 1] = !number as u8;
        let expected = ends::sum(&data);
        assert_eq!(server.look(data)?, expected, "the server read something else");
        Ok(())
    })
}

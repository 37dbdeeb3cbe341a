//! Four threads share the search for primes, then show that threads of one process take turns.
//!
//! Results come back by `join`; what is shared is in an `Arc<Mutex>`, as anywhere.

#![forbid(unsafe_code)]

use std::sync::{Arc, Mutex};

use satrap::{Error, println, thread};

satrap::main!(main);

const THREADS: u64 = 4;
const LIMIT: u64 = 40_000;

fn main() -> Result<(), Error> {
    count_primes()?;
    take_turns()
}

/// Each thread searches a share of the numbers and returns its count.
fn count_primes() -> Result<(), Error> {
    let searches: Vec<_> = (0..THREADS)
        .map(|share| {
            thread::spawn(move || {
                (2 + share..LIMIT)
                    .step_by(THREADS as usize)
                    .filter(is_prime)
                    .count()
            })
        })
        .collect::<Result<_, _>>()?;
    let mut total = 0;
    for search in searches {
        total += search.join()?;
    }
    println!("{total} primes below {LIMIT}");
    Ok(())
}

fn is_prime(number: &u64) -> bool {
    (2..)
        .take_while(|divisor| divisor * divisor <= *number)
        .all(|divisor| !number.is_multiple_of(divisor))
}

/// A thread keeps the process's memory to itself until it blocks or yields, so the order is always the same.
fn take_turns() -> Result<(), Error> {
    let turns = Arc::new(Mutex::new(Vec::new()));
    let players: Vec<_> = (0..THREADS)
        .map(|player| {
            let turns = turns.clone();
            thread::spawn(move || {
                for _ in 0..3 {
                    // Never held across a call that blocks: the lock is always free.
                    turns.lock().expect("no thread panics with it").push(player);
                    thread::yield_now();
                }
            })
        })
        .collect::<Result<_, _>>()?;
    for player in players {
        player.join()?;
    }
    println!("turns: {:?}", turns.lock().expect("no thread panics with it"));
    Ok(())
}

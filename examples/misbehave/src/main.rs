//! `misbehave DEED`: does what no program may do, so that tests can see that it alone suffers.
//!
//! Deeds that end in a trap never return. Deeds that reach a limit print where, and end with code 0: the
//! refusal is an ordinary error to whoever asked. Unsafe code is in `wild`, whose purpose it is.

#![deny(unsafe_code)]

mod limits;
mod messages;
#[allow(unsafe_code, reason = "a hostile program would not ask")]
mod wild;

use std::hint::black_box;

satrap::main!(main);

/// A deed: its name, what it does, and how.
type Deed = (&'static str, &'static str, fn() -> Result<(), String>);

const DEEDS: &[Deed] = &[
    ("loop", "never ends and never calls the kernel", endless_loop),
    ("stack", "recurses without end", overflow_stack),
    ("oob", "reads beyond its memory", wild::read_out_of_bounds),
    ("unreachable", "panics", || panic!("as asked")),
    ("grow", "takes memory until it is refused", limits::grow),
    ("threads", "starts threads until it is refused", limits::threads),
    ("blocks", "takes blocks until it is refused", limits::blocks),
    (
        "wild-pointer",
        "hands the kernel pointers beyond its memory",
        wild::wild_pointers,
    ),
    (
        "protocol",
        "sends a message that its contract does not allow",
        messages::break_protocol,
    ),
    ("flood", "sends messages that nobody receives", messages::flood),
];

fn main() -> Result<(), String> {
    let wanted = satrap::args().into_iter().nth(1).unwrap_or_default();
    match DEEDS.iter().find(|(name, ..)| *name == wanted) {
        Some((_, _, deed)) => deed(),
        None => Err(format!("say which deed:\n{}", deeds())),
    }
}

fn deeds() -> String {
    DEEDS
        .iter()
        .map(|(name, what, _)| format!("  {name:<14}{what}\n"))
        .collect()
}

fn endless_loop() -> Result<(), String> {
    let mut turns = 0_u64;
    loop {
        turns = black_box(turns.wrapping_add(1));
    }
}

fn overflow_stack() -> Result<(), String> {
    #[expect(unconditional_recursion, reason = "that is the deed")]
    fn dive(depth: u64) -> u64 {
        black_box(dive(black_box(depth + 1))) + 1
    }
    Err(format!("the stack had room for {} calls", dive(0)))
}

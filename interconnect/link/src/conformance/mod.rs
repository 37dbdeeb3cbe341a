//! The conformance suite: what every ring and every doorbell must do, whatever carries it.
//!
//! An implementation supplies a fixture and calls [`ring`] or [`doorbell`] from its tests; nothing in the
//! suite knows which it is. A check that fails panics with what it expected. That each check can fail is
//! shown by deliberately broken implementations in `tests/broken_rings.rs` and `tests/broken_doorbells.rs`.

pub mod doorbells;
pub mod rings;

use core::time::Duration;
use std::{thread, time::Instant};

pub use doorbells::DoorbellFixture;
pub use rings::RingFixture;

/// Runs every check of [`rings`].
pub fn ring<F: RingFixture>() {
    rings::frames_arrive_unchanged_and_in_order::<F>();
    rings::a_full_ring_refuses_and_loses_nothing::<F>();
    rings::a_long_frame_waits_for_two_free_slots::<F>();
    rings::an_empty_ring_gives_nothing::<F>();
    rings::consumption_is_declared_to_the_sender::<F>();
    rings::an_impossible_word_count_is_garbage::<F>();
    rings::a_skipped_sequence_is_garbage::<F>();
    rings::a_foreign_second_slot_is_garbage::<F>();
    rings::a_new_epoch_forgets_the_old_one::<F>();
    rings::half_a_frame_is_never_seen::<F>();
    rings::two_threads_lose_and_repeat_nothing::<F>();
}

/// Runs every check of [`doorbells`].
pub fn doorbell<F: DoorbellFixture>() {
    doorbells::a_polling_receiver_is_not_rung::<F>();
    doorbells::a_parked_receiver_is_woken::<F>();
    doorbells::a_busy_receiver_is_interrupted::<F>();
    doorbells::a_bell_rung_before_the_park_ends_it::<F>();
    doorbells::each_setting_is_rung_once::<F>();
    doorbells::a_repeated_bell_rings_again::<F>();
    doorbells::no_wake_up_is_lost::<F>();
}

/// Tries until it succeeds; false after two seconds, when the other thread has failed.
fn soon(mut attempt: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    loop {
        if (0..1_000).any(|_| attempt()) {
            return true;
        }
        if start.elapsed() > Duration::from_secs(2) {
            return false;
        }
        thread::yield_now();
    }
}

//! Each checker can fail: the protocol is broken on purpose, and the right checker says so.
//!
//! Without this, a checker that never looks would pass as well as one that never finds anything.

use satrap_sim::{Sabotage, Scenario, run};

/// Runs seeds of a broken scenario until this checker is the first to fail, and the same seeds unbroken. What
/// is broken may show elsewhere too: a process that hears nothing of an end does not end either.
fn fails(scenario: &str, sabotage: Sabotage, checker: &str) {
    let sound = Scenario::named(scenario).unwrap();
    let broken = sound.clone().with(sabotage);
    for seed in 1..200 {
        assert_eq!(run(&sound, seed, false).failure, None);
        let failure = run(&broken, seed, false).failure;
        if failure.is_some_and(|failure| failure.checker == checker) {
            return;
        }
    }
    panic!("{checker} did not notice {sabotage:?} in 200 seeds");
}

#[test]
fn a_lost_message_is_noticed() {
    fails("flow", Sabotage::DropMessages, "delivery");
}

#[test]
fn a_doubled_message_is_noticed() {
    fails("flow", Sabotage::RepeatMessages, "delivery");
}

#[test]
fn a_reordered_message_is_noticed() {
    fails("flow", Sabotage::SwapMessages, "delivery");
}

#[test]
fn a_block_with_two_owners_is_noticed() {
    fails("flow", Sabotage::RepeatBlocks, "blocks");
}

#[test]
fn a_changed_block_is_noticed() {
    fails("flow", Sabotage::SpoilBlocks, "delivery");
}

#[test]
fn a_block_that_is_never_freed_is_noticed() {
    fails("flow", Sabotage::KeepLoans, "leftovers");
}

#[test]
fn a_channel_that_never_ends_is_noticed() {
    fails("calm", Sabotage::DropCloses, "closings");
}

#[test]
fn lost_doorbells_that_are_never_repeated_are_noticed() {
    fails("flow", Sabotage::LoseBells, "wake-ups");
}

#[test]
fn a_lost_wake_up_within_a_kernel_is_noticed() {
    fails("calm", Sabotage::LoseWakes, "wake-ups");
}

#[test]
fn a_name_that_outlives_its_service_is_noticed() {
    fails("crashes", Sabotage::KeepNames, "names");
}

#[test]
fn a_process_beyond_its_limits_is_noticed() {
    fails("calm", Sabotage::RaiseLimits, "limits");
}

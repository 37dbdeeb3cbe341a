//! Runs repeat from their seed, and sound kernels keep every promise in every scenario.

use satrap_sim::{SCENARIOS, Scenario, run};

#[test]
fn the_same_seed_gives_the_same_trace() {
    for scenario in SCENARIOS {
        for seed in 1..20 {
            let (first, second) = (run(scenario, seed, false), run(scenario, seed, false));
            assert_eq!(first, second);
        }
    }
}

#[test]
fn another_seed_gives_another_trace() {
    let scenario = Scenario::named("mixed").unwrap();
    assert_ne!(run(&scenario, 1, false).digest, run(&scenario, 2, false).digest);
}

#[test]
fn every_scenario_keeps_every_promise() {
    for scenario in SCENARIOS {
        for seed in 1..40 {
            let outcome = run(scenario, seed, false);
            assert_eq!(outcome.failure, None, "scenario {} seed {seed}", scenario.name);
        }
    }
}

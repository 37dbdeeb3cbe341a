//! Properties: the decision equals the slow reference's; more affinity never drives a process away; the
//! change that the explanation names really moves the process, and no smaller one does.

mod support;

use proptest::prelude::*;
use satrap_abi::KernelId;
use satrap_placement::{Change, Request, World, choose, order, place};
use support::{any_request, any_world, process, reference, with_channel};

/// The request with one affinity set, by the name that an override gives it.
fn with_number(request: &Request, number: &str, value: i32) -> Request {
    let mut request = request.clone();
    match number.strip_prefix("p.").expect("a number of process p") {
        "self" => request.self_affinity = value,
        name => match name.strip_prefix("platform:") {
            Some(platform) => {
                request
                    .platforms
                    .insert(platform.to_string(), value.unsigned_abs());
            }
            None => {
                let channel = request.channels.iter_mut().find(|channel| channel.name == name);
                channel.expect("a channel").affinity = value;
            }
        },
    }
    request
}

/// Every affinity of the request, by name, with its value and the least that it may be.
fn numbers(world: &World, request: &Request) -> Vec<(String, i32, i32)> {
    let mut all = vec![("p.self".to_string(), request.self_affinity, i32::MIN)];
    all.extend(
        request
            .channels
            .iter()
            .map(|c| (format!("p.{}", c.name), c.affinity, i32::MIN)),
    );
    for platform in world.kernels.iter().flat_map(|kernel| &kernel.platforms) {
        let value = request.platforms.get(platform).map_or(0, |&value| value as i32);
        all.push((format!("p.platform:{platform}"), value, 0));
    }
    all
}

/// Size of the smallest change to one affinity, up to `limit`, that brings the process to `kernel`.
fn by_brute_force(world: &World, request: &Request, kernel: KernelId, limit: i32) -> Option<i32> {
    let numbers = numbers(world, request);
    (1..=limit).find(|&size| {
        numbers.iter().any(|(number, value, least)| {
            [value - size, value + size]
                .into_iter()
                .filter(|to| to >= least)
                .any(|to| reference(world, &with_number(request, number, to)) == Some(kernel))
        })
    })
}

fn size(change: &Change) -> i32 {
    (change.to - change.from).abs()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_decision_is_the_references(world in any_world(), request in any_request()) {
        let decided = place(&world, &request).ok().map(|decision| decision.kernel);
        prop_assert_eq!(decided, reference(&world, &request));
        prop_assert_eq!(decided, choose(&world, &request).ok());
    }

    #[test]
    fn the_order_of_kernels_does_not_matter(world in any_world(), request in any_request()) {
        let mut turned = world.clone();
        turned.kernels.reverse();
        prop_assert_eq!(place(&world, &request), place(&turned, &request));
    }

    /// With one more copy of a liked service on the chosen kernel, it stays the chosen one.
    #[test]
    fn more_of_what_it_likes_keeps_a_process_where_it_is(world in any_world(), request in any_request()) {
        if let Ok(kernel) = choose(&world, &request) {
            for channel in request.channels.iter().filter(|channel| channel.affinity > 0) {
                let mut world = world.clone();
                // Another channel to the same path with a negative affinity would be worsened too.
                let disliked = request.channels.iter().any(|c| c.path == channel.path && c.affinity < 0);
                if !disliked {
                    *world.services.entry(channel.path.clone()).or_default().entry(kernel).or_default() += 1;
                    prop_assert_eq!(choose(&world, &request), Ok(kernel));
                }
            }
        }
    }

    #[test]
    fn every_change_named_moves_the_process_and_none_is_smaller(world in any_world(), request in any_request()) {
        let Ok(decision) = place(&world, &request) else { return Ok(()) };
        for candidate in &decision.candidates {
            let brute = by_brute_force(&world, &request, candidate.kernel, 24);
            match &candidate.wins_if {
                Some(change) => {
                    prop_assert_eq!(change.kernel, candidate.kernel);
                    let changed = with_number(&request, &change.number, change.to);
                    prop_assert_eq!(reference(&world, &changed), Some(candidate.kernel));
                    prop_assert!(brute.is_none_or(|brute| size(change) == brute), "{:?} {:?}", change, brute);
                    prop_assert!(size(change) > 24 || brute.is_some());
                }
                None if candidate.kernel == decision.kernel => {}
                None => prop_assert_eq!(brute, None),
            }
        }
        let smallest = decision.smallest_change().map(size);
        prop_assert_eq!(smallest, decision.candidates.iter().filter_map(|c| c.wins_if.as_ref()).map(size).min());
    }

    /// Each process comes once; and one comes before a service of its own only if that service depends on it.
    #[test]
    fn the_order_is_a_permutation_with_services_first(edges in proptest::collection::vec((0usize..6, 0usize..6), 0..10)) {
        let mut requests: Vec<Request> = (0..6)
            .map(|i| Request { registers: vec![format!("/{i}")], ..process(&format!("p{i}")) })
            .collect();
        let mut reach = [[false; 6]; 6];
        for &(client, service) in &edges {
            requests[client] = with_channel(requests[client].clone(), "s", &format!("/{service}"), 0);
            reach[client][service] = true;
        }
        for k in 0..6 {
            for i in 0..6 {
                for j in 0..6 {
                    reach[i][j] |= reach[i][k] && reach[k][j];
                }
            }
        }
        let order = order(&requests);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        prop_assert_eq!(sorted, (0..6).collect::<Vec<_>>());
        let at = |process: usize| order.iter().position(|&each| each == process).expect("a permutation");
        for i in 0..6 {
            for j in 0..6 {
                if reach[i][j] && !reach[j][i] {
                    prop_assert!(at(j) < at(i), "{} depends on {}: {:?}", i, j, order);
                }
                // Alike in what they depend on, and neither waits for the other: by position.
                if i < j && reach[i] == reach[j] && reach[i][j] == reach[j][i] {
                    prop_assert!(at(i) < at(j), "{} before {}: {:?}", i, j, order);
                }
            }
        }
    }
}

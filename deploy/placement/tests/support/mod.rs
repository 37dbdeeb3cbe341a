//! Worlds and requests for the tests, and a reference implementation of figure 3.
//!
//! The reference shares no code with the library: it goes through the paper's text (§3.7.3) sentence by
//! sentence, filtering lists, and explains nothing.

#![allow(dead_code, reason = "each test program uses its part")]

use std::collections::BTreeMap;

use proptest::prelude::*;
use satrap_abi::KernelId;
use satrap_placement::{Channel, Counts, Kernel, Request, World};

/// A kernel with one CPU.
pub fn kernel(id: u16, platform: &str, load: f64) -> Kernel {
    Kernel {
        id: KernelId(id),
        platforms: vec![platform.to_string()],
        cpus: 1,
        load,
        fresh: 0,
    }
}

/// Idle kernels 1 to `count`, all x86.
pub fn idle(count: u16) -> World {
    World {
        kernels: (1..=count).map(|id| kernel(id, "x86", 0.0)).collect(),
        ..World::default()
    }
}

/// One copy of a service on a kernel.
pub fn with_service(mut world: World, path: &str, kernel: u16) -> World {
    *world
        .services
        .entry(path.to_string())
        .or_default()
        .entry(KernelId(kernel))
        .or_default() += 1;
    world
}

/// A process without wishes.
pub fn process(name: &str) -> Request {
    Request {
        process: name.to_string(),
        name: name.to_string(),
        group: format!("app/{name}"),
        ..Request::default()
    }
}

/// The process, with a channel.
pub fn with_channel(mut request: Request, name: &str, path: &str, affinity: i32) -> Request {
    request.channels.push(Channel {
        name: name.to_string(),
        path: path.to_string(),
        affinity,
    });
    request
}

/// Helios §3.7.3, slowly. `None` is its error.
pub fn reference(world: &World, request: &Request) -> Option<KernelId> {
    let mut left: Vec<&Kernel> = world.kernels.iter().collect();
    // "Helios starts with the platform with the highest affinity value and searches for satellite kernels
    // with matching platforms. If none exist, then it moves to the next preferred platform."
    let mut values: Vec<u32> = request
        .platforms
        .values()
        .copied()
        .filter(|&value| value > 0)
        .collect();
    values.sort_unstable();
    values.reverse();
    if !values.is_empty() {
        let liked = |kernel: &Kernel, value: u32| {
            request
                .platforms
                .iter()
                .any(|(name, v)| *v == value && kernel.platforms.contains(name))
        };
        let value = values
            .into_iter()
            .find(|&value| left.iter().any(|kernel| liked(kernel, value)))?;
        left.retain(|kernel| liked(kernel, value));
    }
    for sign in [1, -1] {
        let sum = |kernel: &Kernel| -> i64 {
            let mut sum = 0;
            let at = |counts: Option<&Counts>| counts.map_or(0, |c| *c.get(&kernel.id).unwrap_or(&0));
            for channel in &request.channels {
                for _ in 0..at(world.services.get(&channel.path)) {
                    sum += i64::from(if channel.affinity * sign > 0 {
                        channel.affinity
                    } else {
                        0
                    });
                }
            }
            for _ in 0..at(world.copies.get(&request.group)) {
                sum += i64::from(if request.self_affinity * sign > 0 {
                    request.self_affinity
                } else {
                    0
                });
            }
            sum
        };
        let best = left.iter().map(|kernel| sum(kernel)).max()?;
        left.retain(|kernel| sum(kernel) == best);
    }
    let load = |kernel: &Kernel| kernel.load + f64::from(kernel.fresh) / f64::from(kernel.cpus);
    let least = left.iter().map(|kernel| load(kernel)).reduce(f64::min)?;
    left.into_iter()
        .filter(|kernel| load(kernel) == least)
        .map(|kernel| kernel.id)
        .min()
}

const PLATFORMS: [&str; 3] = ["x86", "arm", "riscv"];
const PATHS: [&str; 3] = ["/a", "/b", "/c"];

fn any_kernel(id: u16) -> impl Strategy<Value = Kernel> {
    let platforms = proptest::sample::subsequence(PLATFORMS.to_vec(), 1..=2);
    (platforms, 1u32..4, 0u8..4, 0u32..3).prop_map(move |(platforms, cpus, load, fresh)| Kernel {
        id: KernelId(id),
        platforms: platforms.into_iter().map(str::to_string).collect(),
        cpus,
        load: f64::from(load) / 4.0,
        fresh,
    })
}

fn any_counts() -> impl Strategy<Value = Counts> {
    proptest::collection::btree_map((1u16..6).prop_map(KernelId), 0u32..4, 0..4)
}

/// Up to five kernels, in any order, with copies of three services on them.
pub fn any_world() -> impl Strategy<Value = World> {
    let kernels = (1u16..6)
        .prop_flat_map(|count| (1..=count).map(any_kernel).collect::<Vec<_>>())
        .prop_shuffle();
    (kernels, proptest::collection::vec(any_counts(), 3), any_counts()).prop_map(|(kernels, counts, own)| {
        World {
            kernels,
            services: PATHS.iter().map(|path| path.to_string()).zip(counts).collect(),
            copies: BTreeMap::from([("app/p".to_string(), own)]),
        }
    })
}

/// A process `p` with wishes about those platforms and services.
pub fn any_request() -> impl Strategy<Value = Request> {
    let platforms = proptest::collection::btree_map(proptest::sample::select(&PLATFORMS), 0u32..4, 0..3);
    let channels = proptest::collection::vec((proptest::sample::select(&PATHS), -4i32..5), 0..4);
    (platforms, channels, -3i32..4).prop_map(|(platforms, channels, self_affinity)| {
        let mut request = process("p");
        request.platforms = platforms
            .into_iter()
            .map(|(name, value)| (name.to_string(), value))
            .collect();
        for (index, (path, affinity)) in channels.into_iter().enumerate() {
            request = with_channel(request, &format!("c{index}"), path, affinity);
        }
        Request {
            self_affinity,
            ..request
        }
    })
}

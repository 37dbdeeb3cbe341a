//! Helios figure 3 by example, each from a sentence of §3.7, and the order of whole applications.

mod support;

use satrap_abi::KernelId;
use satrap_placement::{Pass, Refusal, Request, Verdict, World, order, place, plan};
use support::{idle, kernel, process, with_channel, with_service};

fn two_platforms() -> World {
    let kernels = vec![
        kernel(1, "x86", 0.9),
        kernel(2, "arm", 0.0),
        kernel(3, "x86", 0.1),
    ];
    World {
        kernels,
        ..World::default()
    }
}

fn preferring(platforms: &[(&str, u32)]) -> Request {
    let platforms = platforms
        .iter()
        .map(|(name, affinity)| (name.to_string(), *affinity))
        .collect();
    Request {
        platforms,
        ..process("p")
    }
}

#[track_caller]
fn expect(world: &World, request: &Request, kernel: u16, pass: Pass) {
    let decision = place(world, request).expect("a place");
    assert_eq!(
        (decision.kernel, decision.decided_by),
        (KernelId(kernel), pass),
        "\n{decision}"
    );
}

#[test]
fn the_only_kernel_is_taken_whatever_is_wished() {
    let request = with_channel(process("p"), "a", "/a", -5);
    expect(&with_service(idle(1), "/a", 1), &request, 1, Pass::OnlyKernel);
}

#[test]
fn a_single_kernel_of_the_preferred_platform_ends_the_search() {
    expect(
        &two_platforms(),
        &preferring(&[("arm", 2), ("x86", 1)]),
        2,
        Pass::Platform,
    );
}

#[test]
fn a_missing_platform_yields_to_the_next_preferred_one() {
    expect(
        &two_platforms(),
        &preferring(&[("gpu", 9), ("arm", 1)]),
        2,
        Pass::Platform,
    );
}

#[test]
fn no_kernel_of_any_preferred_platform_is_an_error() {
    let refusal = place(&two_platforms(), &preferring(&[("gpu", 1), ("riscv", 2)])).expect_err("none");
    let Refusal::NoPlatform {
        preferred, available, ..
    } = &refusal
    else {
        panic!("{refusal}")
    };
    assert_eq!(preferred, &["riscv", "gpu"]);
    assert_eq!(available, &["arm", "x86"]);
}

#[test]
fn no_kernel_at_all_is_an_error() {
    let refusal = place(&World::default(), &process("p")).expect_err("none");
    assert_eq!(
        refusal.to_string(),
        "cannot place `p`: there is no satellite kernel"
    );
}

#[test]
fn a_platform_preference_is_honoured_whatever_other_affinities_say() {
    let world = with_service(two_platforms(), "/a", 1);
    let request = with_channel(preferring(&[("arm", 1)]), "a", "/a", 1000);
    expect(&world, &request, 2, Pass::Platform);
}

#[test]
fn positive_affinities_are_summed_for_each_kernel() {
    let world = with_service(with_service(with_service(idle(3), "/a", 2), "/b", 3), "/c", 3);
    let request = with_channel(process("p"), "a", "/a", 3);
    let request = with_channel(with_channel(request, "b", "/b", 2), "c", "/c", 2);
    expect(&world, &request, 3, Pass::Positive);
}

#[test]
fn positive_affinity_goes_before_negative_and_is_not_summed_with_it() {
    let world = with_service(with_service(idle(2), "/a", 1), "/b", 1);
    let request = with_channel(with_channel(process("p"), "a", "/a", 1), "b", "/b", -100);
    expect(&world, &request, 1, Pass::Positive);
}

#[test]
fn negative_affinity_avoids_the_service_and_where_it_cannot_the_least_is_taken() {
    let request = with_channel(with_channel(process("p"), "a", "/a", -2), "b", "/b", -1);
    expect(&with_service(idle(2), "/a", 1), &request, 2, Pass::Negative);
    expect(
        &with_service(with_service(idle(2), "/a", 1), "/b", 2),
        &request,
        2,
        Pass::Negative,
    );
}

#[test]
fn negative_affinity_stays_within_the_preferred_platform() {
    // §3.7.2: the process is not offloaded to a processor slower than the developer intended.
    let world = with_service(two_platforms(), "/a", 3);
    let world = World {
        kernels: world.kernels[1..].to_vec(),
        ..world
    };
    expect(
        &world,
        &with_channel(preferring(&[("x86", 1)]), "a", "/a", -1),
        3,
        Pass::Platform,
    );
}

#[test]
fn the_least_loaded_kernel_breaks_the_tie_and_the_lowest_number_the_next() {
    expect(&two_platforms(), &process("p"), 2, Pass::Load);
    expect(&two_platforms(), &preferring(&[("x86", 1)]), 3, Pass::Load);
    expect(&idle(3), &process("p"), 1, Pass::Number);
}

#[test]
fn negative_self_affinity_spreads_copies_and_positive_gathers_them() {
    let copies = |affinity| -> Vec<u16> {
        let copy = |i| Request {
            process: format!("p.{i}"),
            self_affinity: affinity,
            registers: vec!["/p".to_string()],
            ..process("p")
        };
        let requests: Vec<Request> = (0..5).map(copy).collect();
        let plan = plan(&idle(3), &requests);
        plan.decisions.iter().map(|decision| decision.kernel.0).collect()
    };
    assert_eq!(copies(-1), [1, 2, 3, 1, 2]);
    assert_eq!(copies(1), [1, 1, 1, 1, 1]);
}

#[test]
fn processes_started_at_once_do_not_pile_up_on_one_kernel() {
    let requests: Vec<Request> = (0..4).map(|i| process(&format!("p{i}"))).collect();
    let kernels: Vec<u16> = plan(&idle(2), &requests)
        .decisions
        .iter()
        .map(|d| d.kernel.0)
        .collect();
    assert_eq!(kernels, [1, 2, 1, 2]);
}

#[test]
fn services_are_placed_before_their_clients() {
    let client = with_channel(process("client"), "s", "/s", 1);
    let service = Request {
        registers: vec!["/s".to_string()],
        ..process("service")
    };
    let requests = [client, process("other"), service];
    assert_eq!(order(&requests), [1, 2, 0]);
    let plan = plan(&idle(2), &requests);
    assert_eq!(
        plan.of("client").map(|d| d.kernel),
        plan.of("service").map(|d| d.kernel)
    );
    assert_eq!(plan.of("client").map(|d| d.decided_by), Some(Pass::Positive));
}

#[test]
fn a_circle_of_services_goes_by_the_manifests_order_and_its_clients_wait() {
    let serving = |name: &str, on: &str| {
        let request = with_channel(process(name), "peer", on, 0);
        Request {
            registers: vec![format!("/{name}")],
            ..request
        }
    };
    let requests = [
        serving("outside", "/b"),
        serving("c", "/b"),
        serving("b", "/c"),
        serving("own", "/own"),
    ];
    assert_eq!(order(&requests), [1, 2, 0, 3]);
}

#[test]
fn an_application_is_placed_as_far_as_possible_and_all_refusals_are_told() {
    let lost = |name: &str| Request {
        process: name.to_string(),
        ..preferring(&[("gpu", 1)])
    };
    let plan = plan(&idle(1), &[lost("a"), process("fine"), lost("b")]);
    assert_eq!((plan.decisions.len(), plan.refusals.len()), (1, 2));
}

#[test]
fn the_explanation_says_where_each_candidate_fell_out_and_what_would_change_it() {
    let world = World {
        kernels: vec![
            kernel(1, "x86", 0.12),
            kernel(2, "x86", 0.5),
            kernel(3, "riscv", 0.0),
            kernel(4, "x86", 0.6),
        ],
        ..World::default()
    };
    let world = with_service(
        with_service(with_service(world, "/mail/store", 1), "/fs", 2),
        "/fs",
        4,
    );
    let request = with_channel(preferring(&[("x86", 2)]), "store", "/mail/store", -1);
    let decision = place(&world, &with_channel(request, "fs", "/fs", 0)).expect("a place");
    let verdicts: Vec<Verdict> = decision.candidates.iter().map(|each| each.verdict).collect();
    let out = Verdict::Out;
    assert_eq!(
        verdicts,
        [
            out(Pass::Negative),
            Verdict::Chosen,
            out(Pass::Platform),
            out(Pass::Load)
        ]
    );
    let expected = "\
p -> kernel 2, decided by CPU load
  kernel  platforms  platform  positive  negative   load  verdict                  would win with
    1     x86               2         0        -1  12.0%  out: negative -1 < 0     --affinity p.store=0
  * 2     x86               2         0         0  50.0%  chosen
    3     riscv             0         0         0   0.0%  out: platform 0 < 2      --affinity p.platform:x86=0
    4     x86               2         0         0  60.0%  out: load 60.0% > 50.0%
  on kernel 1: store -1 x 1 copy of /mail/store = -1
  smallest change that moves it: --affinity p.store=0 (now -1) -> kernel 1
";
    assert_eq!(decision.to_string(), expected, "\n{decision}");
    let json = serde_json::to_value(&decision).expect("plain data");
    assert_eq!(json["candidates"][0]["verdict"]["out"], "negative");
    assert_eq!(json["candidates"][0]["wins_if"]["number"], "p.store");
}

#[test]
fn a_client_waits_for_the_whole_circle_behind_its_service() {
    let serving = |name: &str, on: &str| {
        let request = with_channel(process(name), "peer", on, 0);
        Request {
            registers: vec![format!("/{name}")],
            ..request
        }
    };
    let client = with_channel(process("client"), "x", "/x", 0);
    let requests = [serving("x", "/y"), client, serving("y", "/x")];
    assert_eq!(order(&requests), [0, 2, 1]);
}

#[test]
fn a_thousand_processes_are_ordered_and_explained_without_delay() {
    let copy = |i: usize| {
        let request = with_channel(
            process(&format!("p{i}")),
            "next",
            &format!("/{}", (i + 1) % 1000),
            1,
        );
        Request {
            registers: vec![format!("/{i}"), "/all".to_string()],
            ..with_channel(request, "all", "/all", -1)
        }
    };
    let requests: Vec<Request> = (0..1000).map(copy).collect();
    assert_eq!(plan(&idle(16), &requests).decisions.len(), 1000);
}

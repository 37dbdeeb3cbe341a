//! Behaviour of the namespace, by example and by random operations.
//!
//! The random test follows every bind from its question to its one answer.

use super::*;
use proptest::prelude::*;
use satrap_abi::Slot;
use std::collections::BTreeSet;

const A: KernelLife = life(1, 0);
const B: KernelLife = life(2, 0);
const CONTRACT: Digest = Digest([7; 32]);

const fn life(kernel: u16, generation: u32) -> KernelLife {
    KernelLife {
        kernel: KernelId(kernel),
        generation,
    }
}

fn channel(index: u32) -> ChannelId {
    ChannelId(Slot { index, generation: 0 })
}

fn service(process: u64, service: ServiceId) -> Object {
    Object::Service {
        process: ProcessId(process),
        service,
        contract: CONTRACT,
    }
}

fn bind(client: KernelLife, request: RequestId, wait: bool) -> Bind {
    Bind {
        client,
        request,
        process: ProcessId(9),
        path: "/png/store".into(),
        contract: CONTRACT,
        channel: channel(3),
        wait,
    }
}

fn replies(actions: &[Action]) -> Vec<Result<Bound, Errno>> {
    let reply = |action: &Action| match action {
        Action::Reply { result, .. } => Some(*result),
        _ => None,
    };
    actions.iter().filter_map(reply).collect()
}

fn with_store() -> Namespace {
    let mut names = Namespace::default();
    names.register(A, "/png/store".into(), service(5, 50)).unwrap();
    names
}

#[test]
fn a_bind_is_forwarded_to_the_service_and_its_answer_back() {
    let mut names = with_store();
    let asked = bind(B, 77, false);
    let connect = Action::Connect {
        to: A,
        service: 50,
        bind: asked.clone(),
    };
    assert_eq!(names.bind(asked), [connect]);
    let actions = names.connected(A, B.kernel, 77, Ok(channel(8)));
    let bound = Bound {
        kernel: A.kernel,
        generation: 0,
        channel: channel(8),
    };
    assert_eq!(replies(&actions), [Ok(bound)]);
    assert_eq!(names.connected(A, B.kernel, 77, Ok(channel(8))), []);
}

#[test]
fn a_waiting_bind_is_connected_when_the_name_appears() {
    let mut names = Namespace::default();
    assert_eq!(names.bind(bind(B, 1, true)), []);
    let actions = names.register(A, "/png/store".into(), service(5, 50)).unwrap();
    assert!(matches!(
        actions[..],
        [Action::Registered { .. }, Action::Connect { .. }]
    ));
}

#[test]
fn a_bind_that_does_not_wait_is_told_that_there_is_no_such_name() {
    let mut names = Namespace::default();
    assert_eq!(replies(&names.bind(bind(B, 1, false))), [Err(Errno::NotFound)]);
}

#[test]
fn differing_contracts_do_not_bind_and_the_operator_is_told() {
    let mut names = with_store();
    let mut wrong = bind(B, 1, true);
    wrong.contract = Digest([8; 32]);
    let actions = names.bind(wrong);
    assert!(matches!(&actions[0], Action::Mismatch { exported, .. } if *exported == CONTRACT));
    assert_eq!(replies(&actions), [Err(Errno::ContractMismatch)]);
}

#[test]
fn a_taken_name_a_bad_name_and_a_kernels_name_are_refused() {
    let mut names = with_store();
    let mut register = |path: &str| names.register(B, path.into(), service(6, 60)).unwrap_err();
    assert_eq!(register("/png/store"), Errno::NameTaken);
    assert_eq!(register("/kernel/3"), Errno::Denied);
    for bad in [
        "",
        "/",
        "png",
        "/a//b",
        "/a/../b",
        "/a/",
        "/a b",
        &"/a".repeat(200),
    ] {
        assert_eq!(register(bad), Errno::Invalid, "{bad}");
    }
}

#[test]
fn names_vanish_with_their_process_and_with_their_kernel() {
    let mut names = with_store();
    names.register(A, "/other".into(), service(6, 60)).unwrap();
    names.add_kernel(A, BTreeMap::new());
    let removed = |path: &str| Action::Removed { path: path.into() };
    assert_eq!(names.process_gone(A, ProcessId(5)), [removed("/png/store")]);
    assert_eq!(names.kernel_gone(A), [removed("/kernel/1"), removed("/other")]);
    assert_eq!(names.list("").count(), 0);
}

#[test]
fn an_older_generation_cannot_touch_the_names_of_its_successor() {
    let mut names = Namespace::default();
    names.register(life(1, 1), "/x".into(), service(5, 50)).unwrap();
    assert_eq!(names.kernel_gone(A), []);
    assert_eq!(names.unregister(A, 50), []);
    assert_eq!(names.list("/").count(), 1);
}

#[test]
fn a_bind_in_flight_fails_when_the_services_kernel_dies_unless_it_waits() {
    let mut names = with_store();
    names.bind(bind(B, 1, false));
    names.bind(bind(B, 2, true));
    assert_eq!(replies(&names.kernel_gone(A)), [Err(Errno::KernelDied)]);
    let actions = names
        .register(life(1, 1), "/png/store".into(), service(8, 51))
        .unwrap();
    assert!(matches!(&actions[1], Action::Connect { bind, .. } if bind.request == 2));
}

#[test]
fn a_service_withdrawn_while_a_bind_travels_lets_it_wait_for_the_next() {
    let mut names = with_store();
    names.bind(bind(B, 1, true));
    names.unregister(A, 50);
    assert_eq!(names.connected(A, B.kernel, 1, Err(Errno::NotFound)), []);
    let actions = names.register(B, "/png/store".into(), service(8, 51)).unwrap();
    assert!(matches!(actions[1], Action::Connect { to: B, .. }));
}

#[test]
fn a_cancelled_bind_is_never_connected() {
    let mut names = Namespace::default();
    names.bind(bind(B, 1, true));
    names.cancel(B, 1);
    let actions = names.register(A, "/png/store".into(), service(5, 50)).unwrap();
    assert!(matches!(actions[..], [Action::Registered { .. }]));
}

#[test]
fn one_kernel_cannot_pile_up_binds_without_limit() {
    let mut names = Namespace::default();
    for request in 0..BINDS_MAX as u64 {
        assert_eq!(names.bind(bind(B, request, true)), []);
    }
    assert_eq!(
        replies(&names.bind(bind(B, 1 << 40, true))),
        [Err(Errno::LimitReached)]
    );
    assert_eq!(names.bind(bind(A, 1, true)), []);
}

#[test]
fn a_list_holds_what_begins_with_the_prefix_in_order() {
    let mut names = Namespace::default();
    for path in ["/b", "/a/2", "/a/1", "/aa"] {
        names.register(A, path.into(), service(1, 1)).unwrap();
    }
    let listed: Vec<_> = names.list("/a/").map(|(path, _)| path).collect();
    assert_eq!(listed, ["/a/1", "/a/2"]);
}

#[derive(Clone, Debug)]
enum Step {
    Register(u16, u8),
    Unregister(u16, u8),
    Bind(u16, u8, bool),
    Cancel(u16, usize),
    Connected(u16, usize, bool),
    KernelGone(u16),
}

fn step() -> impl Strategy<Value = Step> {
    let kernel = 1..4u16;
    let path = 0..4u8;
    prop_oneof![
        (kernel.clone(), path.clone()).prop_map(|(k, p)| Step::Register(k, p)),
        (kernel.clone(), path.clone()).prop_map(|(k, p)| Step::Unregister(k, p)),
        (kernel.clone(), path, any::<bool>()).prop_map(|(k, p, w)| Step::Bind(k, p, w)),
        (kernel.clone(), any::<usize>()).prop_map(|(k, i)| Step::Cancel(k, i)),
        (kernel.clone(), any::<usize>(), any::<bool>()).prop_map(|(k, i, ok)| Step::Connected(k, i, ok)),
        kernel.prop_map(Step::KernelGone),
    ]
}

proptest! {
    /// Whatever happens: no bind is answered twice, none of a dead kernel is answered, nothing is asked of a
    /// dead kernel, and once every kernel is gone nothing is left.
    #[test]
    fn every_bind_is_answered_at_most_once_and_nothing_outlives_its_owner(
        steps in prop::collection::vec(step(), 0..80)
    ) {
        let mut names = Namespace::default();
        let mut generations = [0u32; 4];
        let mut open = BTreeSet::new();
        let mut asked: Vec<(KernelLife, Bind)> = Vec::new();
        for (index, step) in steps.into_iter().enumerate() {
            let current = |kernel: u16| life(kernel, generations[usize::from(kernel)]);
            let path = |path: u8| format!("/{path}");
            let request = index as u64;
            let actions = match step {
                Step::Register(kernel, name) => {
                    let object = service(u64::from(name), u64::from(name));
                    names.register(current(kernel), path(name), object).unwrap_or_default()
                }
                Step::Unregister(kernel, name) => names.unregister(current(kernel), u64::from(name)),
                Step::Bind(kernel, name, wait) => {
                    let client = current(kernel);
                    open.insert((client, request));
                    names.bind(Bind { path: path(name), ..bind(client, request, wait) })
                }
                Step::Cancel(kernel, pick) => {
                    names.cancel(current(kernel), pick as u64 % 80);
                    Vec::new()
                }
                Step::Connected(kernel, pick, ok) => {
                    let mine: Vec<_> = asked.iter().filter(|(to, _)| *to == current(kernel)).collect();
                    if mine.is_empty() { continue }
                    let (to, bind) = mine[pick % mine.len()].clone();
                    let result = if ok { Ok(channel(1)) } else { Err(Errno::NotFound) };
                    names.connected(to, bind.client.kernel, bind.request, result)
                }
                Step::KernelGone(kernel) => {
                    let gone = current(kernel);
                    generations[usize::from(kernel)] += 1;
                    open.retain(|(client, _)| *client != gone);
                    names.kernel_gone(gone)
                }
            };
            for action in actions {
                let alive = |life: KernelLife| generations[usize::from(life.kernel.0)] == life.generation;
                match action {
                    Action::Reply { to, request, .. } => prop_assert!(open.remove(&(to, request))),
                    Action::Connect { to, bind, .. } => {
                        prop_assert!(alive(to) && alive(bind.client));
                        asked.push((to, bind));
                    }
                    _ => {}
                }
            }
        }
        for kernel in 1..4u16 {
            names.kernel_gone(life(kernel, generations[usize::from(kernel)]));
        }
        prop_assert_eq!(names.list("").count(), 0);
        prop_assert!(names.waiting.is_empty() && names.connecting.is_empty());
    }
}

//! Two satellites' remote message passing, joined by real rings over heap memory and driven by hand.

use super::{RemoteEnd, Rmp, header, kind};
use crate::{
    BufferRef, Capability, Endpoint, ExchangeHeap, LinkParts, Message,
    link::{ARRIVALS_MAX, Link, LinkFault, Loan},
    pool::Pool,
};
use alloc::{boxed::Box, sync::Arc, vec, vec::Vec};
use satrap_abi::{Digest, Errno, KernelId, limits::CHANNEL_DEPTH};
use satrap_link::{Doorbell, Export, PeerExport};
use satrap_region::Region;
use satrap_table::{BufferRule, MessageRule, Side, Spec, StateSpec, Table, TransitionSpec};

const ITEM: u16 = 0;
const PICTURE: u16 = 1;
const ASK: u16 = 2;
const ANSWER: u16 = 3;

struct Silent;

impl Doorbell for Silent {
    fn notify(&self) {}

    fn repeat(&self) {}
}

/// The client sends items and pictures as it likes, or asks, and then the service answers.
fn spec() -> Spec {
    let plain = MessageRule {
        inline_max: 64,
        ..MessageRule::EMPTY
    };
    let item = MessageRule {
        blocks_max: 2,
        endpoints_max: 2,
        ..plain
    };
    let picture = MessageRule {
        buffer: BufferRule::Required,
        ..plain
    };
    let next = |tag, next| TransitionSpec { tag, next };
    Spec {
        name: "test:rmp/any@1.0.0".into(),
        text_digest: Digest([0; 32]),
        rules: vec![item, picture, plain, plain],
        states: vec![
            StateSpec {
                sender: Side::Client,
                transitions: vec![next(ITEM, 0), next(PICTURE, 0), next(ASK, 1)],
            },
            StateSpec {
                sender: Side::Service,
                transitions: vec![next(ANSWER, 0)],
            },
        ],
    }
}

fn contract() -> Table {
    Table::parse(&spec().encode().unwrap()).unwrap()
}

/// One satellite of a pair.
struct Half {
    rmp: Arc<Rmp>,
    link: Arc<Link>,
    contract: Arc<Table>,
}

fn export(kernel: u16) -> (Region, Export) {
    let region = Region::from_heap(4 << 20);
    let export = Export::format(region.clone(), KernelId(kernel), 1).unwrap();
    (region, export)
}

fn parts(own: &Export, peer: &Region, peer_kernel: u16) -> LinkParts {
    let peer = PeerExport::open(peer.clone(), KernelId(peer_kernel), 1).unwrap();
    LinkParts {
        kernel: KernelId(peer_kernel),
        generation: 1,
        sender: Box::new(own.ring_to(&peer).unwrap()),
        receiver: Box::new(own.ring_from(&peer).unwrap()),
        doorbell: Box::new(Silent),
        heap: peer.heap().clone(),
    }
}

fn half(own: &Export, peer: &Region, peer_kernel: u16) -> Half {
    let rmp = Rmp::new(ExchangeHeap::new(own.heap().clone()));
    rmp.link_up(parts(own, peer, peer_kernel));
    let link = rmp.link(KernelId(peer_kernel), 1).unwrap();
    let contract = rmp.learn(contract());
    Half { rmp, link, contract }
}

impl Half {
    fn poll(&self) -> Result<bool, &'static str> {
        self.rmp
            .poll(&self.link, 0, &mut |_, _| false)
            .map_err(|LinkFault(reason)| &*reason.leak())
    }

    fn open(&self, side: Side) -> (satrap_abi::ChannelId, Arc<RemoteEnd>, Box<Endpoint>) {
        self.rmp.open(&self.contract, side, Table::START).unwrap()
    }
}

/// A channel from a client on the first to a service on the second.
fn channel() -> (Half, Half, Box<Endpoint>, Box<Endpoint>) {
    let ((a_memory, a_export), (b_memory, b_export)) = (export(1), export(2));
    let (a, b) = (half(&a_export, &b_memory, 2), half(&b_export, &a_memory, 1));
    let (client_id, client_end, client) = a.open(Side::Client);
    let (service_id, service_end, service) = b.open(Side::Service);
    assert!(client_end.connect(service_id, &a.link).is_ok());
    assert!(service_end.connect(client_id, &b.link).is_ok());
    (a, b, client, service)
}

fn item(number: u64) -> Message {
    let mut message = Message::new(ITEM);
    message.set_inline(&number.to_le_bytes());
    message
}

#[test]
fn messages_arrive_once_and_in_order() {
    let (_a, b, mut client, mut service) = channel();
    (0..10).for_each(|number| client.try_send(&mut item(number)).unwrap());
    b.poll().unwrap();
    for number in 0..10 {
        assert_eq!(
            service.try_recv().ok().map(|message| message.inline()[0]),
            Some(number)
        );
    }
    assert_eq!(service.try_recv().err(), Some(Errno::WouldBlock));
}

#[test]
fn a_sender_waits_for_credit_and_goes_on_when_it_comes() {
    let (a, b, mut client, mut service) = channel();
    let sent = (0..)
        .take_while(|&number| client.try_send(&mut item(number)).is_ok())
        .count();
    assert_eq!(sent as u32, CHANNEL_DEPTH);
    while b.poll().unwrap() {}
    while service.try_recv().is_ok() {}
    a.poll().unwrap();
    assert_eq!(client.try_send(&mut item(0)), Ok(()));
}

#[test]
fn a_block_is_copied_once_and_the_lender_gets_it_back() {
    let (a, b, mut client, mut service) = channel();
    let block = a.rmp.heap.alloc(5000).unwrap();
    block.write(4990, b"satrap").unwrap();
    let mut message = item(1);
    message.push(Capability::Block(block));
    client.try_send(&mut message).unwrap();
    assert!(a.rmp.heap.used() > 0, "on loan until the peer has copied it");
    b.poll().unwrap();
    let mut received = service.try_recv().ok().unwrap();
    let Some(Capability::Foreign(foreign)) = received.cargo.take().unwrap()[0].take() else {
        panic!("no block came");
    };
    let copy = foreign.copy(&b.rmp.heap).unwrap();
    drop(foreign);
    a.poll().unwrap();
    assert_eq!(a.rmp.heap.used(), 0);
    let mut bytes = [0; 6];
    copy.read(4990, &mut bytes).unwrap();
    assert_eq!((copy.len(), &bytes), (5000, b"satrap"));
}

#[test]
fn a_block_sent_to_a_closed_channel_comes_back() {
    let (a, b, mut client, service) = channel();
    drop(service);
    let mut message = item(1);
    message.push(Capability::Block(a.rmp.heap.alloc(64).unwrap()));
    client.try_send(&mut message).unwrap();
    b.poll().unwrap();
    a.poll().unwrap();
    assert_eq!(a.rmp.heap.used(), 0);
    assert_eq!(client.try_recv().err(), Some(Errno::Closed));
}

#[test]
fn what_was_sent_before_the_end_comes_before_the_end() {
    let (_a, b, mut client, mut service) = channel();
    client.try_send(&mut item(7)).unwrap();
    client.close(Errno::PeerDied);
    b.poll().unwrap();
    assert_eq!(
        service.try_recv().ok().map(|message| message.inline()[0]),
        Some(7)
    );
    assert_eq!(service.try_recv().err(), Some(Errno::PeerDied));
}

#[test]
fn a_message_out_of_order_never_leaves() {
    let (_a, b, mut client, mut service) = channel();
    assert_eq!(client.try_send(&mut Message::new(ANSWER)), Err(Errno::Protocol));
    assert_eq!(service.try_send(&mut Message::new(ANSWER)), Err(Errno::Protocol));
    client.try_send(&mut Message::new(ASK)).unwrap();
    assert_eq!(client.try_send(&mut item(1)), Err(Errno::Protocol));
    b.poll().unwrap();
    assert_eq!(service.try_recv().ok().map(|message| message.tag()), Some(ASK));
    assert_eq!(service.try_send(&mut Message::new(ANSWER)), Ok(()));
}

#[test]
fn a_message_is_taken_as_it_comes_only_if_none_waits_before_it() {
    let (_a, b, mut client, mut service) = channel();
    let offered = |service: &mut Endpoint| {
        let mut taken = Vec::new();
        let mut offer = |end: &RemoteEnd, message: &mut Message| {
            let takes = service.is_next_of(end);
            if takes {
                service.take_in(message).unwrap();
                taken.push(message.inline()[0]);
            }
            takes
        };
        assert!(b.rmp.poll(&b.link, 0, &mut offer).is_ok());
        taken
    };
    client.try_send(&mut item(1)).unwrap();
    assert_eq!(offered(&mut service), [1]);
    client.try_send(&mut item(2)).unwrap();
    b.poll().unwrap();
    client.try_send(&mut item(3)).unwrap();
    assert_eq!(offered(&mut service), []);
    let mut received = || service.try_recv().map(|message| message.inline()[0]).ok();
    assert_eq!((received(), received(), received()), (Some(2), Some(3), None));
}

#[test]
fn a_dead_peer_ends_its_channels() {
    let (a, _b, mut client, _service) = channel();
    let mut message = item(1);
    message.push(Capability::Block(a.rmp.heap.alloc(64).unwrap()));
    client.try_send(&mut message).unwrap();
    a.rmp.link_down(KernelId(2), 1);
    assert_eq!(client.try_recv().err(), Some(Errno::KernelDied));
    assert_eq!(client.try_send(&mut item(2)), Err(Errno::KernelDied));
    assert_eq!(a.rmp.heap.used(), 0, "what it had on loan is free");
}

#[test]
fn a_pool_stays_on_loan_until_its_consumer_is_gone() {
    let (a, b, mut client, mut service) = channel();
    let (total, stride) = Pool::layout(100, 2).unwrap();
    client
        .set_pool(Pool::new(a.rmp.heap.alloc(total).unwrap(), stride, 2).unwrap())
        .unwrap();
    let index = client.pool_out().unwrap().acquire().unwrap();
    let mut message = Message::new(PICTURE);
    message.set_buffer(BufferRef { index, len: 100 });
    client.try_send(&mut message).unwrap();
    b.poll().unwrap();
    assert_eq!(
        service.try_recv().ok().and_then(|m| m.buffer()),
        Some(BufferRef { index, len: 100 })
    );
    service.release_buffer(index).unwrap();
    a.poll().unwrap();
    assert_eq!(client.pool_out().unwrap().acquire(), Ok(index));
    drop(client);
    b.poll().unwrap();
    assert!(a.rmp.heap.used() > 0, "the consumer may still have it mapped");
    drop(service);
    // A link lets go of a channel's end when it is looked at and nothing comes.
    b.poll().unwrap();
    a.poll().unwrap();
    a.poll().unwrap();
    assert_eq!(a.rmp.heap.used(), 0);
}

#[test]
fn a_peer_that_keeps_what_it_was_lent_loses_the_link() {
    let (a, _b, _client, _service) = channel();
    let (total, stride) = Pool::layout(100, 2).unwrap();
    let pool = Pool::new(a.rmp.heap.alloc(total).unwrap(), stride, 2).unwrap();
    let lend = || a.link.lend(Loan::Pool { _pool: pool.clone() });
    while lend().is_ok() {
        assert_eq!(a.poll(), Ok(false));
    }
    assert_eq!(a.poll(), Err("it keeps what it was lent"));
}

#[test]
fn a_message_is_charged_what_its_blocks_take_of_the_heap() {
    let (a, b, mut client, mut service) = channel();
    let mut message = item(1);
    for len in [65, 4096] {
        message.push(Capability::Block(a.rmp.heap.alloc(len).unwrap()));
    }
    assert_eq!(message.footprint(), 128 + 4096);
    client.try_send(&mut message).unwrap();
    b.poll().unwrap();
    let received = service.try_recv().unwrap_or_else(|errno| panic!("{errno:?}"));
    assert_eq!(
        received.footprint(),
        128 + 4096,
        "also while they lie with the peer"
    );
}

#[test]
fn an_endpoint_with_a_message_to_be_taken_yet_stays() {
    let (_a, b, mut client, mut service) = channel();
    client.try_send(&mut item(1)).unwrap();
    b.poll().unwrap();
    let mut message = service.try_recv().unwrap_or_else(|errno| panic!("{errno:?}"));
    assert!(service.may_move());
    service.put_back(&mut message);
    assert!(!service.may_move());
    assert!(service.try_recv().is_ok() && service.may_move());
}

#[test]
fn garbage_is_a_fault_of_the_link() {
    let garbage: [&[u64]; 7] = [
        &[header(99, 0, 0), 1],
        &[header(kind::MESSAGE, 0, 0)],
        &[header(kind::BLOCK, 0, 0), 1, 1, u64::MAX],
        &[header(kind::POOL, 0, 0), 1, 0, 0, 1],
        &[header(kind::CREDIT, 0, 0), 1 << 32, u64::from(CHANNEL_DEPTH)],
        &[header(kind::CREDIT, 0, 0), 1 << 32, u64::MAX],
        &[header(kind::BUFFER_RETURNED, 0, 0), 1 << 32, 0],
    ];
    for frame in garbage {
        let (a, b, _client, _service) = channel();
        a.link.post(&[frame]);
        assert!(b.poll().is_err(), "{frame:x?}");
    }
}

#[test]
fn a_forged_message_is_a_fault_of_the_link() {
    let (a, b, _client, _service) = channel();
    // A message that the contract does not allow in this state, as a faulty kernel would send it.
    a.link.post(&[&[header(kind::MESSAGE, ANSWER, 0), 1 << 32]]);
    assert!(b.poll().is_err());
}

#[test]
fn an_end_without_a_known_reason_is_an_end() {
    let again = [Errno::WouldBlock as u64, Errno::TimedOut as u64];
    for reason in [0, 1 << 31, u64::MAX].into_iter().chain(again) {
        let (a, b, _client, mut service) = channel();
        a.link.post(&[&[header(kind::CLOSE, 0, 0), 1 << 32, reason]]);
        b.poll().unwrap();
        assert_eq!(service.try_recv().err(), Some(Errno::Closed), "{reason:x}");
    }
}

#[test]
fn a_second_pool_is_a_fault_of_the_link() {
    let (a, b, _client, _service) = channel();
    let pool = [header(kind::POOL, 0, 0), 1 << 32, 0, 64 | 1 << 32, 1];
    a.link.post(&[&pool]);
    b.poll().unwrap();
    a.link.post(&[&pool]);
    assert!(b.poll().is_err(), "the first may be mapped already");
}

#[test]
fn a_peer_that_speaks_for_another_is_found_out() {
    let [(a_memory, a), (b_memory, b), (c_memory, c)] = [1, 2, 3].map(export);
    let (own, _right) = (half(&a, &b_memory, 2), half(&b, &a_memory, 1));
    let wrong = half(&c, &a_memory, 1);
    own.rmp.link_up(parts(&a, &c_memory, 3));
    let (id, end, _client) = own.open(Side::Client);
    wrong
        .link
        .post(&[&[header(kind::MESSAGE, ANSWER, 0), id.0.pack()]]);
    let from_wrong = own.rmp.link(KernelId(3), 1).unwrap();
    let _ = own.rmp.poll(&from_wrong, 0, &mut |_, _| false);
    let joined = end.connect(id, &own.link);
    assert!(joined.is_err_and(|link| Arc::ptr_eq(&link, &from_wrong)));
}

/// Sends the client's end of a channel from one satellite to the other. Returns it, and the end that stayed.
fn travel(
    (a, b): (&Half, &Half),
    (client, service): (&mut Endpoint, &mut Endpoint),
    contract: &Arc<Table>,
) -> (Box<Endpoint>, Box<Endpoint>) {
    let (near, far) = crate::channel(contract);
    let mut message = item(1);
    message.push(Capability::Endpoint(near));
    client.try_send(&mut message).unwrap();
    b.poll().unwrap();
    let mut received = service.try_recv().ok().unwrap();
    let Some(Capability::Endpoint(moved)) = received.cargo.take().unwrap()[0].take() else {
        panic!("no endpoint came");
    };
    a.poll().unwrap();
    (moved, far)
}

#[test]
fn an_endpoint_that_cannot_be_received_comes_closed_and_its_message_whole() {
    let (a, b, mut client, mut service) = channel();
    a.rmp.set_spawner(Arc::new(drop));
    // A guest may hold an endpoint whose contract only its own satellite has loaded.
    let mut spec = spec();
    spec.name = "test:rmp/strange@1.0.0".into();
    let strange = a.rmp.learn(Table::parse(&spec.encode().unwrap()).unwrap());
    let (mut moved, _far) = travel((&a, &b), (&mut client, &mut service), &strange);
    assert_eq!(moved.try_recv().err(), Some(Errno::Closed));
    assert_eq!(moved.try_send(&mut item(1)), Err(Errno::Closed));
    client.try_send(&mut item(2)).unwrap();
    assert!(b.poll().is_ok(), "the link has done nothing wrong");
    assert!(service.try_recv().is_ok());
    // Nor is there room without end.
    let all: Vec<_> = (0..ARRIVALS_MAX).map(|_| b.link.arrival()).collect();
    assert!(all.iter().all(Option::is_some));
    let known = a.contract.clone();
    let (mut moved, _far) = travel((&a, &b), (&mut client, &mut service), &known);
    assert_eq!(moved.try_recv().err(), Some(Errno::Closed));
    drop(all);
    let (mut moved, _far) = travel((&a, &b), (&mut client, &mut service), &known);
    assert_eq!(moved.try_recv().err(), Some(Errno::WouldBlock));
}

#[test]
fn an_endpoint_that_travels_goes_on_working() {
    let (a, b, mut client, mut service) = channel();
    let tasks: Arc<satrap_sync::SpinLock<Vec<_>>> = Arc::default();
    let spawned = tasks.clone();
    a.rmp
        .set_spawner(Arc::new(move |future| spawned.lock().push(future)));
    let contract = a.contract.clone();
    let (mut moved, mut far) = travel((&a, &b), (&mut client, &mut service), &contract);
    moved.try_send(&mut item(5)).unwrap();
    let mut context = core::task::Context::from_waker(core::task::Waker::noop());
    for _ in 0..3 {
        a.poll().unwrap();
        tasks
            .lock()
            .iter_mut()
            .for_each(|task| assert!(task.as_mut().poll(&mut context).is_pending()));
        b.poll().unwrap();
    }
    assert_eq!(far.try_recv().ok().map(|message| message.inline()[0]), Some(5));
}

//! Generated code, wire encoding and contract table together: whole conversations over a small kernel that
//! checks every message against the table.

#[allow(dead_code, reason = "each test crate uses a part of it")]
#[path = "runtime/mod.rs"]
mod satrap;

satrap_macros::contract!("tests/store.wit", crate::satrap);

use satrap::wire::Bytes;
use satrap::{Block, Error};
use satrap_table::Violation;
use store::client::{ScanningMessage, ScanningReply};
use store::service::StartMessage;

fn channel() -> (store::Client, store::service::Start) {
    satrap::learn(&store::ENTRY);
    store::channel().unwrap()
}

fn envelope() -> types::Envelope {
    types::Envelope {
        sender: "ann@a".into(),
        to: vec!["bob@b".into(), "cyd@c".into()],
    }
}

/// Answers one delivery on a channel of its own; the body as it arrived.
fn deliver(body: impl Into<satrap::wire::Body<'static>>) -> Bytes {
    let (client, service) = channel();
    let scanning = client.send_deliver(&envelope(), body).unwrap();
    let StartMessage::Deliver {
        envelope: arrived,
        body,
        next,
    } = service.recv().unwrap()
    else {
        panic!("another message")
    };
    assert_eq!(arrived, envelope());
    let _service = next.send_stored(7).unwrap();
    assert!(matches!(
        scanning.recv(),
        Ok(ScanningMessage::Stored { id: 7, .. })
    ));
    body
}

#[test]
fn bodies_of_all_sizes_arrive() {
    for len in [0, 1, 5, 40, 64, 65, 1000, 4095, 4096, 4097, 100_000] {
        let bytes: Vec<u8> = (0..len).map(|index| index as u8).collect();
        let arrived = deliver(Bytes::from(bytes.clone()));
        assert_eq!(arrived.len(), len);
        assert_eq!(arrived.into_vec().unwrap(), bytes);
    }
    assert_eq!(satrap::open_handles(), 0);
}

#[test]
fn a_page_or_more_travels_in_a_block_of_its_own() {
    assert!(deliver(Bytes::from(vec![1; 4095])).into_block().is_err());
    let block = deliver(Bytes::from(vec![1; 4096])).into_block().unwrap();
    assert_eq!(block.len(), 4096);
}

#[test]
fn a_block_moves_without_a_copy() {
    let mut block = Block::alloc(5000).unwrap();
    block.write(0, b"content").unwrap();
    let handle = block.into_raw();
    let arrived = deliver(Block::from_raw(handle)).into_block().unwrap();
    assert_eq!(arrived.into_raw(), handle, "the very same block");
}

#[test]
fn an_exchange_is_one_kernel_call_and_keeps_the_state() {
    let (mut client, service) = channel();
    let mut service = Some(service);
    satrap::serve(move || {
        let Ok(StartMessage::Peek { id, next }) = service.take().unwrap().recv() else {
            panic!("no peek")
        };
        service = Some(next.send_contents(id as u32 + 1, &None).unwrap());
    });
    for id in 0..3 {
        let before = satrap::calls();
        let (size, body) = client.peek(id).unwrap();
        assert_eq!((size, body.is_none()), (id as u32 + 1, true));
        // One of the client, two of the service.
        assert_eq!(satrap::calls() - before, 3);
    }
    client.note("a message that comes back to its state").unwrap();
    client.send_quit().unwrap();
}

#[test]
fn an_exchange_with_a_block_is_one_kernel_call_too_and_leaks_nothing_when_nobody_answers() {
    let (mut client, service) = channel();
    satrap::serve(|| {});
    let (calls, handles) = (satrap::calls(), satrap::open_handles());
    let unanswered = client.deliver(&envelope(), vec![0; 9000].as_slice()).unwrap_err();
    assert_eq!(unanswered, Error::WouldBlock);
    assert_eq!(satrap::calls() - calls, 1);
    drop(service);
    assert!(satrap::open_handles() <= handles);
}

#[test]
fn several_answers_are_told_apart() {
    let (mut client, service) = channel();
    let mut service = Some(service);
    satrap::serve(move || {
        let Ok(StartMessage::Deliver { next, .. }) = service.take().unwrap().recv() else {
            panic!("no mail")
        };
        service = Some(next.send_rejected("no such user", 550).unwrap());
    });
    match client.deliver(&envelope(), b"hello").unwrap() {
        ScanningReply::Rejected { reason, code } => assert_eq!((&*reason, code), ("no such user", 550)),
        ScanningReply::Stored { .. } => panic!("stored"),
    }
}

#[test]
fn a_service_answers_and_waits_for_the_next_request_in_one_call() {
    let (client, service) = channel();
    let peeking = client.send_peek(1).unwrap();
    let Ok(StartMessage::Peek { next, .. }) = service.recv() else {
        panic!("no peek")
    };
    let held = std::cell::RefCell::new(Some(peeking));
    satrap::serve(move || {
        let (_, client) = held.take().unwrap().recv().unwrap();
        client.send_quit().unwrap();
    });
    assert!(matches!(
        next.send_contents_and_recv(9, &None),
        Ok(StartMessage::Quit)
    ));
}

#[test]
fn a_late_receive_gives_the_state_back() {
    let (client, service) = channel();
    let service = service.recv_until(0).unwrap().unwrap_err();
    client.send_quit().unwrap();
    assert!(matches!(service.recv_until(0), Ok(Ok(StartMessage::Quit))));
}

#[test]
fn what_was_sent_before_closing_still_arrives() {
    let (mut client, service) = channel();
    client.note("last words").unwrap();
    drop(client);
    let Ok(StartMessage::Note { text, next }) = service.recv() else {
        panic!("no note")
    };
    assert_eq!(text, "last words");
    assert_eq!(next.recv().unwrap_err(), Error::Closed);
}

#[test]
fn a_failed_send_leaks_nothing() {
    let (client, service) = channel();
    drop(service);
    let before = satrap::open_handles();
    assert_eq!(
        client
            .send_deliver(&envelope(), vec![0; 9000].as_slice())
            .unwrap_err(),
        Error::Closed
    );
    assert_eq!(
        satrap::open_handles(),
        before - 1,
        "the client's end closed, the blocks freed"
    );
}

#[test]
fn the_kernel_refuses_what_the_types_would_not_let_through() {
    let (client, _service) = channel();
    let endpoint = satrap::Endpoint::from_raw(client.endpoint_number());
    let forged = store::service::Start::from(endpoint);
    let mut message = satrap::Message::new(6);
    message.inline_len = 8;
    let refused = forged.endpoint().send(&mut message).unwrap_err();
    assert_eq!(refused, Error::Violation(Violation::WrongState));
    std::mem::forget(forged);
}

impl store::Client {
    /// The handle's number, to forge another state from.
    fn endpoint_number(&self) -> u32 {
        format!("{:?}", self.endpoint())
            .trim_matches(|c: char| !c.is_ascii_digit())
            .parse()
            .unwrap()
    }
}

/// What a hostile client can do to a message whose shape the kernel accepts, and what the service says.
#[test]
fn a_hostile_body_is_refused_and_everything_closed() {
    use satrap::wire::Malformed;
    type Change = fn(&mut satrap::Message);
    let cases: [(Change, Malformed); 6] = [
        (|message| message.inline[0] = 9, Malformed::Misplaced),
        (|message| message.inline[4] = 60, Malformed::Short),
        (|message| message.inline[4] = 3, Malformed::Trailing),
        (|message| message.inline[8] = 0xff, Malformed::Text),
        (|message| message.inline[4..8].fill(0), Malformed::Misplaced),
        (|message| message.inline[0..8].fill(0), Malformed::Trailing),
    ];
    for (change, expected) in cases {
        let (mut client, service) = channel();
        satrap::sabotage(Some(change));
        client.note("text").unwrap();
        satrap::sabotage(None);
        assert_eq!(service.recv().unwrap_err(), Error::Malformed(expected));
        drop(client);
        assert_eq!(satrap::open_handles(), 0);
    }
}

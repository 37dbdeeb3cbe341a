//! The driver's encoding and the SDK's are one: each reads what the other writes, over the contract's table.

use super::{
    messages::{connection as native, tcp as native_tcp},
    wire::Bytes as Payload,
};
use net::{connection, tcp};
use satrap_kernel::{Capability, ExchangeHeap, Message};
use satrap_region::Region;
use std::sync::Arc;

#[allow(
    dead_code,
    missing_docs,
    unused_imports,
    reason = "the SDK's test kernel, of which a part is used here"
)]
#[path = "../../../../sdk/macros/tests/runtime/mod.rs"]
pub mod satrap;

#[allow(
    missing_docs,
    dead_code,
    unused_imports,
    reason = "generated; a part is used here"
)]
mod net {
    satrap_macros::contract!("../../services/net/net.wit", crate::net::wire_tests::satrap);
}

fn heap() -> Arc<ExchangeHeap> {
    ExchangeHeap::new(Region::from_heap(1 << 22))
}

/// What the SDK sent, as the kernel would deliver it.
fn delivered(endpoint: &satrap::Endpoint, heap: &Arc<ExchangeHeap>) -> Message {
    let mut sent = satrap::Message::new(0);
    endpoint.recv(&mut sent).unwrap();
    let mut message = Message::new(sent.tag);
    assert!(message.set_inline(&sent.inline[..usize::from(sent.inline_len)]));
    for &handle in &sent.handles[..sent.handle_count as usize] {
        let block = satrap::Block::from_raw(handle);
        let mut bytes = vec![0; block.len()];
        block.read(0, &mut bytes).unwrap();
        let copy = heap.alloc(bytes.len() as u32).unwrap();
        copy.write(0, &bytes).unwrap();
        message.push(Capability::Block(copy));
    }
    message
}

/// Sends what the driver wrote; an endpoint in it is replaced by `endpoint`.
fn send(message: Message, through: &satrap::Endpoint, endpoint: Option<satrap::Endpoint>) {
    let mut message = message;
    let mut sent = satrap::Message::new(message.tag());
    sent.inline_len = message.inline_len();
    for (chunk, word) in sent.inline.chunks_exact_mut(8).zip(message.inline()) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    let mut endpoint = endpoint;
    for capability in message.take_capabilities() {
        let handle = match capability {
            Capability::Block(block) => {
                let mut bytes = vec![0; block.len() as usize];
                block.read(0, &mut bytes).unwrap();
                let mut copy = satrap::Block::alloc(bytes.len()).unwrap();
                copy.write(0, &bytes).unwrap();
                copy.into_raw()
            }
            _ => endpoint.take().unwrap().into_raw(),
        };
        sent.handles[sent.handle_count as usize] = handle;
        sent.handle_count += 1;
    }
    through.send(&mut sent).unwrap();
}

fn bytes_of(payload: &Payload) -> Vec<u8> {
    match payload {
        Payload::Inline(bytes, start, len) => bytes[*start..start + len].to_vec(),
        Payload::Block(block, offset, len) => {
            let mut bytes = vec![0; *len as usize];
            block.read(*offset, &mut bytes).unwrap();
            bytes
        }
    }
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|index| index as u8).collect()
}

const LENGTHS: [usize; 10] = [1, 5, 56, 57, 64, 1000, 4087, 4095, 4096, 100_000];

#[test]
fn a_listener_understands_the_sdk_and_is_understood() {
    satrap::learn(&tcp::ENTRY);
    satrap::learn(&connection::ENTRY);
    let heap = heap();
    let (client, service) = tcp::channel().unwrap();
    let driver = service.endpoint();
    let opening = client.send_listen(8080, tcp::Reach::Network).unwrap();
    let listen = native_tcp::Request::decode(delivered(driver, &heap), &heap).unwrap();
    let (port, reach) = (8080, native_tcp::Reach::Network);
    assert_eq!(listen, native_tcp::Request::Listen { port, reach });
    let reason = "the port is taken, and this reason does not fit into one message";
    send(native_tcp::failed(reason, &heap).unwrap(), driver, None);
    let tcp::client::OpeningMessage::Failed { reason: told, next } = opening.recv().unwrap() else {
        panic!("another message")
    };
    assert_eq!(told, reason);

    let opening = next.send_listen(0, tcp::Reach::Machine).unwrap();
    delivered(driver, &heap);
    send(native_tcp::listening(4711, &heap).unwrap(), driver, None);
    let tcp::client::OpeningMessage::Listening { port: 4711, next } = opening.recv().unwrap() else {
        panic!("another message")
    };
    let accepting = next.send_accept().unwrap();
    let accept = native_tcp::Request::decode(delivered(driver, &heap), &heap).unwrap();
    assert_eq!(accept, native_tcp::Request::Accept);
    let (theirs, _ours) = satrap_kernel::channel(&Arc::new(
        satrap_table::Table::parse(super::messages::CONNECTION).unwrap(),
    ));
    let (end, _other) = satrap::channel(&connection::DIGEST).unwrap();
    let accepted = native_tcp::accepted(theirs, "192.0.2.1:49152", &heap).unwrap();
    send(accepted, driver, Some(end));
    let tcp::client::AcceptingMessage::Accepted { peer, .. } = accepting.recv().unwrap() else {
        panic!("another message")
    };
    assert_eq!(peer, "192.0.2.1:49152");
}

#[test]
fn a_connection_takes_and_gives_bytes_of_any_length() {
    satrap::learn(&connection::ENTRY);
    let heap = heap();
    let (mut client, service) = connection::channel().unwrap();
    let driver = service.endpoint();
    for len in LENGTHS {
        let writing = client.send_write(&pattern(len)).unwrap();
        let request = native::Request::decode(delivered(driver, &heap), &heap).unwrap();
        let native::Request::Write { bytes } = request else {
            panic!("another message")
        };
        assert_eq!(bytes_of(&bytes), pattern(len), "{len} bytes");
        send(native::written(len as u32, &heap).unwrap(), driver, None);
        let connection::client::WritingMessage::Written { count, next } = writing.recv().unwrap() else {
            panic!("another message")
        };
        assert_eq!(count as usize, len);

        let reading = next.send_read(len as u32).unwrap();
        let request = native::Request::decode(delivered(driver, &heap), &heap).unwrap();
        assert!(matches!(request, native::Request::Read { max } if max as usize == len));
        send(native::data(&pattern(len), &heap).unwrap(), driver, None);
        let connection::client::ReadingMessage::Data { bytes, next } = reading.recv().unwrap() else {
            panic!("another message")
        };
        assert_eq!(bytes.into_vec().unwrap(), pattern(len), "{len} bytes");
        client = next;
    }
    assert_eq!(heap.used(), 0);
}

#[test]
fn a_block_is_received_and_a_request_for_it_understood() {
    satrap::learn(&connection::ENTRY);
    let heap = heap();
    let (client, service) = connection::channel().unwrap();
    let receiving = client.send_receive(7, 100).unwrap();
    let request = native::Request::decode(delivered(service.endpoint(), &heap), &heap).unwrap();
    assert!(matches!(
        request,
        native::Request::Receive {
            space: 7,
            length: 100
        }
    ));
    let block = heap.alloc(107).unwrap();
    send(native::received(block, &heap).unwrap(), service.endpoint(), None);
    let connection::client::ReceivingMessage::Received { bytes, .. } = receiving.recv().unwrap() else {
        panic!("another message")
    };
    assert_eq!(bytes.len(), 107);
}

#[test]
fn bytes_that_stand_elsewhere_or_are_left_over_are_refused() {
    satrap::learn(&connection::ENTRY);
    let heap = heap();
    let corruptions: [fn(&mut Vec<u8>); 4] = [
        |body| body[0] += 1,
        |body| body[4] += 1,
        |body| body.push(0),
        |body| body[3] |= 1 << 7,
    ];
    for corrupt in corruptions {
        let (client, service) = connection::channel().unwrap();
        let _writing = client.send_write(b"hello").unwrap();
        let mut message = delivered(service.endpoint(), &heap);
        let words = message.inline().iter().flat_map(|word| word.to_le_bytes());
        let mut body: Vec<u8> = words.take(usize::from(message.inline_len())).collect();
        corrupt(&mut body);
        assert!(message.set_inline(&body));
        assert!(native::Request::decode(message, &heap).is_err());
    }
}

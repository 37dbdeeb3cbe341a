//! Every type of the wire, there and back, and arbitrary bytes in place of true ones.

#[allow(dead_code, reason = "each test crate uses a part of it")]
#[path = "runtime/mod.rs"]
mod satrap;

satrap_macros::contract!("tests/values.wit", crate::satrap);

use proptest::prelude::*;
use satrap::wire::{Bytes, Decode, Encode, Layout, Reader, Writer};
use satrap::{Block, Buffer, Error, Message, ReceivedBuffer};
use values::client::Start;
use values::service::StartMessage;
use values::{Attachment, Color, Inner, Nested, Rights, Shape, Wrapped};

fn channel() -> (Start, values::service::Start) {
    satrap::learn(&values::ENTRY);
    values::channel().unwrap()
}

fn inner(letter: char) -> Inner {
    Inner {
        small: 3,
        letter,
        on: true,
    }
}

fn nested() -> Nested {
    Nested {
        tag: 200,
        inner: inner('ß'),
        names: vec![String::new(), "one".into(), "größer".into()],
        shapes: vec![
            Shape::Point,
            Shape::Circle(-0.5),
            Shape::Polygon(vec![(1, -2), (i16::MAX, i16::MIN)]),
            Shape::Named("square".into()),
        ],
        maybe: Some(inner('\u{10ffff}')),
        outcome: Err("no".into()),
        nothing: Ok(()),
        pair: (1, u64::MAX),
    }
}

#[test]
fn every_type_comes_back_as_it_was() {
    let (client, service) = channel();
    let rights = Rights::READ | Rights::A9;
    let checked = client
        .send_everything(
            -1,
            i16::MIN,
            i32::MIN,
            i64::MIN,
            1.5,
            f64::MAX,
            &nested(),
            Color::DarkBlue,
            rights,
        )
        .unwrap();
    let StartMessage::Everything {
        a,
        b,
        c,
        d,
        e,
        f,
        nested: arrived,
        color,
        rights,
        next,
    } = service.recv().unwrap()
    else {
        panic!("another message")
    };
    assert_eq!(
        (a, b, c, d, e, f),
        (-1, i16::MIN, i32::MIN, i64::MIN, 1.5, f64::MAX)
    );
    assert_eq!((&arrived, color), (&nested(), Color::DarkBlue));
    assert!(rights.contains(Rights::READ) && !rights.contains(Rights::WRITE));
    let _service = next
        .send_everything_back(&arrived, color, rights, &[1, 2, u64::MAX])
        .unwrap();
    let ((back, color, rights, ids), _client) = checked.recv().unwrap();
    assert_eq!(
        (back, color, rights.bits(), ids),
        (nested(), Color::DarkBlue, 0x101, vec![1, 2, u64::MAX])
    );
}

#[test]
fn numbers_are_inline_and_touch_no_block() {
    let (client, service) = channel();
    let before = satrap::open_handles();
    let sums = client
        .send_numbers(1, 2, 3, true, 'x', Color::Green, Some(4))
        .unwrap();
    assert_eq!(satrap::open_handles(), before);
    let StartMessage::Numbers {
        a,
        b,
        c,
        flag,
        letter,
        color,
        some,
        next,
    } = service.recv().unwrap()
    else {
        panic!("another message")
    };
    assert_eq!(
        (a, b, c, flag, letter, color, some),
        (1, 2, 3, true, 'x', Color::Green, Some(4))
    );
    let _service = next.send_sum(10).unwrap();
    assert_eq!(sums.recv().unwrap().0, 10);
}

#[test]
fn blocks_and_typed_endpoints_move_with_a_message() {
    let (client, service) = channel();
    satrap::learn(&helper::ENTRY);
    let (to, helper) = helper::channel().unwrap();
    let mut block = Block::alloc(3).unwrap();
    block.write(0, b"abc").unwrap();
    let carried = client
        .send_carry(Attachment {
            label: "x".repeat(100),
            block: Some(block),
            to,
        })
        .unwrap();
    let StartMessage::Carry { attachment, next } = service.recv().unwrap() else {
        panic!("another message")
    };
    let pinged = attachment.to.send_ping(5).unwrap();
    let (n, helper) = helper.recv().unwrap();
    let helper = helper.send_pong(n + 1).unwrap();
    let (n, to) = pinged.recv().unwrap();
    assert_eq!((n, attachment.label.len()), (6, 100));
    let mut bytes = [0; 3];
    attachment.block.unwrap().read(0, &mut bytes).unwrap();
    assert_eq!(&bytes, b"abc");
    let service = next
        .send_carry_back(Attachment {
            label: String::new(),
            block: None,
            to,
        })
        .unwrap();
    let (attachment, client) = carried.recv().unwrap();
    assert!(attachment.block.is_none());
    drop((attachment, client, service, helper));
    assert_eq!(satrap::open_handles(), 0);
}

#[test]
fn as_many_byte_lists_as_fit_get_blocks_and_the_rest_stays_in_the_body() {
    let (client, service) = channel();
    let page = |byte: u8| vec![byte; 5000];
    let wrapped = [Wrapped { body: page(3).into() }, Wrapped { body: page(4).into() }];
    let kept = client.send_bodies(&page(1), &page(2), &wrapped, "text").unwrap();
    let StartMessage::Bodies {
        first,
        second,
        wrapped,
        message,
        next,
    } = service.recv().unwrap()
    else {
        panic!("another message")
    };
    assert_eq!(message, "text");
    let in_block = |bytes: &Bytes| bytes.get().is_none();
    assert_eq!(
        (in_block(&first), in_block(&second), in_block(&wrapped[0].body)),
        (true, true, true)
    );
    assert!(
        !in_block(&wrapped[1].body),
        "four handles: three lists and the body"
    );
    let _service = next.send_bodies_back(first, second, &wrapped, "back").unwrap();
    let ((first, second, wrapped, _), _client) = kept.recv().unwrap();
    let all = [first, second]
        .into_iter()
        .chain(wrapped.into_iter().map(|wrapped| wrapped.body));
    for (byte, bytes) in (1..).zip(all) {
        assert_eq!(bytes.into_vec().unwrap(), page(byte));
    }
}

#[test]
fn a_pool_buffer_is_handed_over_by_number() {
    let (client, service) = channel();
    let drained = client.send_fill(9, Buffer { index: 5, len: 9 }).unwrap();
    let StartMessage::Fill { len, frame, next } = service.recv().unwrap() else {
        panic!("another message")
    };
    assert_eq!((len, frame), (9, ReceivedBuffer { index: 5, len: 9 }));
    next.send_drained_all(len).unwrap();
    assert_eq!(drained.recv().unwrap(), 9);
}

#[test]
fn a_fixed_part_above_a_cache_line_is_spilled() {
    let (mut client, service) = channel();
    client.wide((1, 2, 3, 4, 5, 6, 7, 8), 9).unwrap();
    let StartMessage::Wide { a, b, .. } = service.recv().unwrap() else {
        panic!("another message")
    };
    assert_eq!((a, b), ((1, 2, 3, 4, 5, 6, 7, 8), 9));
}

#[test]
fn names_that_mean_something_in_rust_are_still_names() {
    let (mut client, service) = channel();
    client.keywords(1, 2, 3, 4, 5, 6).unwrap();
    let StartMessage::Keywords {
        r#type,
        next_,
        self_,
        reader,
        next,
        ..
    } = service.recv().unwrap()
    else {
        panic!("another message")
    };
    assert_eq!((r#type, next_, self_, reader), (1, 2, 3, 4));
    drop(next);
}

/// Writes one value as a message of its own.
fn write<T: Layout>(value: impl Encode) -> Message {
    let mut message = Message::new(0);
    let mut writer = Writer::new(&mut message, T::SIZE, 0);
    value.encode(&mut writer, 0).unwrap();
    writer.finish().unwrap();
    message
}

/// Reads one value from the message of its own.
fn read<T: Decode>(message: &mut Message) -> Result<T, Error> {
    let mut reader = Reader::open(message, T::SIZE)?;
    let value = T::decode(&mut reader, 0)?;
    reader.finish()?;
    Ok(value)
}

/// A message with this body, spilled if it is long.
fn body(bytes: &[u8]) -> Message {
    let mut message = Message::new(0);
    if (1..=64).contains(&bytes.len()) {
        message.inline[..bytes.len()].copy_from_slice(bytes);
        message.inline_len = bytes.len() as u8;
    } else if !bytes.is_empty() {
        let mut block = Block::alloc(bytes.len()).unwrap();
        block.write(0, bytes).unwrap();
        message.handles[0] = block.into_raw();
        message.handle_count = 1;
    }
    message
}

/// The body that a message carries.
fn bytes_of(message: &Message) -> Vec<u8> {
    if message.inline_len > 0 {
        return message.inline[..message.inline_len as usize].to_vec();
    }
    let block = Block::from_raw(message.handles[0]);
    let mut bytes = vec![0; block.len()];
    block.read(0, &mut bytes).unwrap();
    _ = block.into_raw();
    bytes
}

#[test]
fn the_layout_is_the_canonical_one() {
    assert_eq!((<Inner as Layout>::SIZE, <Inner as Layout>::ALIGN), (12, 4));
    assert_eq!((<Shape as Layout>::SIZE, <Shape as Layout>::ALIGN), (16, 8));
    assert_eq!((<Option<Inner>>::SIZE, <Result<u32, String>>::SIZE), (16, 12));
    assert_eq!(
        (<(u8, u64)>::SIZE, <(u8, u64)>::ALIGN, <Result<(), ()>>::SIZE),
        (16, 8, 1)
    );
    // Offsets 0, 4, 16, 24, 32, 48, 60, 64; 80 bytes.
    assert_eq!((<Nested as Layout>::SIZE, <Nested as Layout>::ALIGN), (80, 8));
    let message = write::<Option<u16>>(Some(0x1234_u16));
    assert_eq!(bytes_of(&message), [1, 0, 0x34, 0x12]);
    let message = write::<(u8, String)>(&(7_u8, "hi".to_owned()));
    assert_eq!(
        bytes_of(&message),
        [7, 0, 0, 0, 12, 0, 0, 0, 2, 0, 0, 0, b'h', b'i']
    );
}

fn shapes() -> impl Strategy<Value = Shape> {
    prop_oneof![
        Just(Shape::Point),
        any::<f64>().prop_map(Shape::Circle),
        prop::collection::vec(any::<(i16, i16)>(), 0..5).prop_map(Shape::Polygon),
        any::<String>().prop_map(Shape::Named),
    ]
}

prop_compose! {
    fn inners()(small: u8, letter: char, on: bool) -> Inner {
        Inner { small, letter, on }
    }
}

prop_compose! {
    fn nesteds()(
        tag: u8,
        inner in inners(),
        names in prop::collection::vec(any::<String>(), 0..4),
        shapes in prop::collection::vec(shapes(), 0..4),
        maybe in prop::option::of(inners()),
        outcome in any::<Result<u32, String>>(),
        nothing in any::<Result<(), ()>>(),
        pair: (u8, u64),
    ) -> Nested {
        Nested { tag, inner, names, shapes, maybe, outcome, nothing, pair }
    }
}

proptest! {
    #[test]
    fn every_value_comes_back(value in nesteds()) {
        let mut message = write::<Nested>(&value);
        prop_assert_eq!(read::<Nested>(&mut message).unwrap(), value);
        prop_assert_eq!(satrap::open_handles(), 0);
    }

    /// There is one encoding of each value: what decodes is what its value encodes to, padding aside.
    #[test]
    fn what_decodes_encodes_to_as_many_bytes(value in nesteds(), at: prop::sample::Index, byte: u8) {
        let mut bytes = bytes_of(&write::<Nested>(&value));
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(value) = read::<Nested>(&mut body(&bytes)) {
            prop_assert_eq!(bytes_of(&write::<Nested>(&value)).len(), bytes.len());
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic_and_leak_nothing(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let before = satrap::open_handles();
        let _ = read::<Nested>(&mut body(&bytes));
        let _ = read::<Vec<Shape>>(&mut body(&bytes));
        let _ = read::<Bytes>(&mut body(&bytes));
        let _ = read::<Attachment>(&mut body(&bytes));
        let _ = read::<Vec<Vec<String>>>(&mut body(&bytes));
        prop_assert_eq!(satrap::open_handles(), before);
    }

    /// Small numbers in all the places where offsets, counts and cases stand: nearly true bodies.
    #[test]
    fn nearly_true_bytes_never_panic_and_leak_nothing(words in prop::collection::vec(0..40u32, 1..40)) {
        let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        let before = satrap::open_handles();
        let _ = read::<Nested>(&mut body(&bytes));
        let _ = read::<Vec<Shape>>(&mut body(&bytes));
        let _ = read::<Attachment>(&mut body(&bytes));
        let _ = read::<Vec<Vec<String>>>(&mut body(&bytes));
        prop_assert_eq!(satrap::open_handles(), before);
    }
}

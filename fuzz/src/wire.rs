//! A message's body, as a hostile peer of a guest wrote it, read as values of every kind.
//!
//! Reading ends with the value or an error, and what could be read says the same when written and read again:
//! there is one encoding of each value. Neighbour: `sdk/rust/src/wire.rs` is under test, without a kernel.

#![no_main]
#![forbid(unsafe_code)]

use libfuzzer_sys::fuzz_target;
use satrap::Message;
use satrap::wire::{Decode, Encode, Layout, Reader, Writer};

fuzz_target!(|input: (u8, &[u8])| {
    let (kind, bytes) = input;
    match kind % 8 {
        0 => there_and_back::<u64>(bytes),
        1 => there_and_back::<(u8, u32, bool)>(bytes),
        2 => there_and_back::<String>(bytes),
        3 => there_and_back::<Vec<u16>>(bytes),
        4 => there_and_back::<Vec<String>>(bytes),
        5 => there_and_back::<Option<(char, String)>>(bytes),
        6 => there_and_back::<Result<Vec<Option<u8>>, String>>(bytes),
        _ => there_and_back::<(String, Vec<Vec<u8>>, i64)>(bytes),
    }
});

fn there_and_back<T>(bytes: &[u8])
where
    T: Decode + PartialEq + std::fmt::Debug,
    for<'a> &'a T: Encode,
{
    let mut message = Message::new(0);
    let length = bytes.len().min(message.inline.len());
    message.inline[..length].copy_from_slice(&bytes[..length]);
    message.inline_len = length as u8;
    let Some(value) = read::<T>(&mut message) else {
        return;
    };
    let mut written = Message::new(0);
    let mut writer = Writer::new(&mut written, T::SIZE, 0);
    if (&value)
        .encode(&mut writer, 0)
        .and_then(|()| writer.finish())
        .is_ok()
    {
        assert_eq!(read::<T>(&mut written), Some(value), "it changed on the way");
    }
}

fn read<T: Decode + Layout>(message: &mut Message) -> Option<T> {
    let mut reader = Reader::open(message, T::SIZE).ok()?;
    let value = T::decode(&mut reader, 0).ok()?;
    reader.finish().ok()?;
    Some(value)
}

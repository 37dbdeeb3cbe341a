//! An artifact: as a stranger would forge it, and as the holder of the key might by mistake make it.
//!
//! A file that is not authentic is refused before anything of it is believed; one that is, with a header made of
//! garbage, gives only ranges that lie within it. Neighbour: `base/abi/src/artifact` is under test.

#![no_main]
#![forbid(unsafe_code)]

use libfuzzer_sys::fuzz_target;
use satrap_abi::artifact::{Artifact, Key, MAGIC, NATIVE_ALIGN};

const KEY: Key = [7; 32];
/// Bytes of the magic, of the header's length, and of the MAC.
const PREFIX: usize = MAGIC.len() + 4;
const MAC: usize = 32;

fuzz_target!(|data: &[u8]| {
    assert!(Artifact::parse(data, &KEY).is_err(), "forged");
    let (payload, header) = data
        .split_first()
        .map_or((0, data), |(first, rest)| (usize::from(*first), rest));
    let file = signed(header, payload);
    if let Ok(artifact) = Artifact::parse(&file, &KEY) {
        let within = |bytes: &[u8]| assert!(bytes.len() <= payload);
        within(artifact.native());
        within(artifact.contracts());
        artifact.image().for_each(|(_, bytes)| within(bytes));
        (0..).map_while(|index| artifact.segment(index)).for_each(within);
    }
    let mut broken = file;
    let place = data.len() % (broken.len() - MAC);
    broken[place] ^= 1;
    assert!(
        Artifact::parse(&broken, &KEY).is_err(),
        "one bit was changed, and nobody noticed"
    );
});

/// An authentic file with this header, and a payload of as many bytes.
fn signed(header: &[u8], payload: usize) -> Vec<u8> {
    let length = u32::try_from(header.len()).expect("an input is at most 64 KiB long");
    let mut file = [&MAGIC[..], &length.to_le_bytes(), header].concat();
    file.resize(
        (PREFIX + header.len()).next_multiple_of(NATIVE_ALIGN) + payload,
        0,
    );
    let mac = blake3::keyed_hash(&KEY, &file);
    file.extend_from_slice(mac.as_bytes());
    file
}

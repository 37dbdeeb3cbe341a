//! A frame's header word, as a peer wrote it: refused, or within every limit and the same when packed again.
//!
//! Neighbours: `interconnect/link/src/frame.rs` is under test; `ring.rs` feeds what stands before it.

#![no_main]
#![forbid(unsafe_code)]

use libfuzzer_sys::fuzz_target;
use satrap_abi::limits::{HANDLES_MAX, INLINE_MAX};
use satrap_link::FrameHeader;

fuzz_target!(|word: u64| {
    match FrameHeader::unpack(word) {
        Ok(header) => {
            assert!(usize::from(header.inline_len) <= INLINE_MAX);
            assert!(usize::from(header.handle_count) <= HANDLES_MAX);
            assert_eq!(
                header.pack(),
                word & !0xff,
                "all but the count of words, which is the ring's"
            );
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});

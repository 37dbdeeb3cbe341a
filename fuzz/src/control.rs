//! Control frames between coordinator and satellite, both ways.
//!
//! What decodes survives the way back: it encodes, and the encoding decodes to the same. Neighbour:
//! `base/abi/src/control.rs` is under test.

#![no_main]
#![forbid(unsafe_code)]

use libfuzzer_sys::fuzz_target;
use satrap_abi::control::{FrameError, ToCoordinator, ToSatellite, decode, encode};

fuzz_target!(|data: &[u8]| {
    if let Ok(frame) = decode::<ToSatellite>(data) {
        match encode(&frame) {
            Ok(bytes) => assert_eq!(decode::<ToSatellite>(&bytes), Ok(frame)),
            Err(error) => assert_eq!(error, FrameError::TooLarge),
        }
    }
    if let Ok(frame) = decode::<ToCoordinator>(data) {
        let Ok(bytes) = encode(&frame) else { return };
        // Compared as bytes: a load that is no number is not equal to itself.
        let again = decode::<ToCoordinator>(&bytes).map(|frame| encode(&frame));
        assert_eq!(again, Ok(Ok(bytes)));
    }
});

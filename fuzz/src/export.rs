//! A peer's export, as a hostile peer made it: refused, or all its parts lie within it.
//!
//! The region may have any size, and its first pages hold the input over what a correct peer wrote. Neighbours:
//! `interconnect/link/src/export.rs` is under test; `ring.rs` goes on from an export that opens.

#![no_main]
#![forbid(unsafe_code)]

use libfuzzer_sys::fuzz_target;
use satrap_abi::KernelId;
use satrap_link::{Export, PeerExport};
use satrap_region::Region;
use std::cell::OnceCell;

/// Bytes of the exports: rings, and a heap.
const SIZE: usize = 2 << 20;
/// Bytes of the identity, which a correct peer writes first.
const IDENTITY: usize = 32;

thread_local! {
    static REGIONS: OnceCell<[Region; 2]> = const { OnceCell::new() };
}

fuzz_target!(|input: (u16, u16, u32, bool, &[u8])| {
    let (size, kernel, generation, correct, bytes) = input;
    let kernel = KernelId(kernel);
    REGIONS.with(|regions| {
        let [own, peer] = regions.get_or_init(|| [(); 2].map(|()| Region::from_heap(SIZE)));
        let own = Export::format(own.clone(), KernelId(1), 0).expect("our own export is large enough");
        let skip = if correct { IDENTITY } else { 0 };
        let _ = Export::format(peer.clone(), kernel, generation);
        peer.write(skip, &bytes[..bytes.len().min(SIZE - skip)])
            .expect("cut to fit");
        if let Ok(opened) = PeerExport::open(peer.clone(), kernel, generation) {
            assert!(opened.kernel() == kernel && opened.generation() == generation);
            assert!(opened.heap().len() < SIZE);
            let _ = (opened.attention(), own.ring_to(&opened), own.ring_from(&opened));
        }
        // One that is cut short, whatever it says of itself.
        let part = peer.part(0, usize::from(size) * 32).expect("2 MiB and less");
        assert!(part.len() == SIZE || PeerExport::open(part, kernel, generation).is_err());
    });
});

//! Links between satellites, and the queue of every local channel: rings (state), doorbells (trigger), the
//! layout of a satellite's export, and the conformance suite that each ring and doorbell runs unchanged.
//!
//! Single-writer rule (DESIGN §4): a producer writes only its slots, a consumer only its index, each in
//! memory of its own. What comes from a peer is copied out once, validated once, then trusted.
//! Neighbours: `base/region` lends the shared lines, `kernel/core` drives rings and parks its CPUs,
//! `platforms/*` supply the bells.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(feature = "conformance")]
extern crate std;

pub mod attention;
#[cfg(feature = "conformance")]
pub mod conformance;
mod export;
mod frame;
mod local;
mod memory;
mod ring;
mod transport;

pub use attention::{Attention, AttentionDoorbell, Bell, OwnAttention, PeerAttention};
pub use export::{Export, ExportError, PEERS_MAX, PeerExport, RING_SLOTS, RegionReceiver, RegionSender};
pub use frame::{FRAME_WORDS_MAX, Frame, FrameHeader, HeaderError};
pub use local::{LocalLines, LocalReceiver, LocalSender, local_ring};
pub use memory::Memory;
pub use ring::{Epoch, Receiver, SLOT_PAYLOAD, Sender};
pub use transport::{Doorbell, FrameReceiver, FrameSender, Full, Garbage};

//! The messages of `services/net/net.wit`, as the driver receives and sends them.
//!
//! Tags and offsets come from the contract (`build.rs`); the encoding is `wire`'s.

use super::wire::{Bytes, Reader, Writer};
use satrap_abi::Errno;
use satrap_kernel::{Block, Capability, Endpoint, ExchangeHeap, Message};
use std::sync::Arc;

/// Tables, tags and offsets.
mod contract {
    include!(concat!(env!("OUT_DIR"), "/net_contracts.rs"));
}

pub(super) use contract::{connection::TABLE as CONNECTION, tcp::TABLE as TCP};

type Heap = Arc<ExchangeHeap>;

/// `satrap:net/tcp`: a listener.
pub(super) mod tcp {
    use super::{Capability, Endpoint, Errno, Heap, Message, Reader, Writer, contract::tcp as layout};

    /// Who can reach a listener.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(crate) enum Reach {
        Machine,
        Network,
    }

    /// What a client asks of a listener.
    #[derive(PartialEq, Eq, Debug)]
    pub(crate) enum Request {
        Listen { port: u16, reach: Reach },
        Accept,
    }

    impl Request {
        pub(crate) fn decode(message: Message, heap: &Heap) -> Result<Request, Errno> {
            match message.tag() {
                layout::listen::TAG => {
                    let reader = Reader::open(message, layout::listen::FIXED, heap)?;
                    let port = u16::from_le_bytes(reader.get(layout::listen::PORT)?);
                    let reach = match reader.get(layout::listen::REACH)? {
                        [0] => Reach::Machine,
                        [1] => Reach::Network,
                        _ => return Err(Errno::Protocol),
                    };
                    reader.finish()?;
                    Ok(Request::Listen { port, reach })
                }
                layout::accept::TAG => {
                    Reader::open(message, layout::accept::FIXED, heap)?.finish()?;
                    Ok(Request::Accept)
                }
                _ => Err(Errno::Protocol),
            }
        }
    }

    pub(crate) fn listening(port: u16, heap: &Heap) -> Result<Message, Errno> {
        Writer::new(layout::listening::TAG, layout::listening::FIXED, heap)
            .put(layout::listening::PORT, port.to_le_bytes())
            .finish()
    }

    pub(crate) fn failed(reason: &str, heap: &Heap) -> Result<Message, Errno> {
        Writer::new(layout::failed::TAG, layout::failed::FIXED, heap)
            .text(layout::failed::REASON, reason.as_bytes())
            .finish()
    }

    pub(crate) fn accepted(connection: Box<Endpoint>, peer: &str, heap: &Heap) -> Result<Message, Errno> {
        Writer::new(layout::accepted::TAG, layout::accepted::FIXED, heap)
            .handle(layout::accepted::CONNECTION, Capability::Endpoint(connection))
            .text(layout::accepted::PEER, peer.as_bytes())
            .finish()
    }

    pub(crate) fn exhausted(reason: &str, heap: &Heap) -> Result<Message, Errno> {
        Writer::new(layout::exhausted::TAG, layout::exhausted::FIXED, heap)
            .text(layout::exhausted::REASON, reason.as_bytes())
            .finish()
    }
}

/// `satrap:net/connection`: a byte stream each way.
pub(super) mod connection {
    use super::{
        Block, Bytes, Capability, Errno, Heap, Message, Reader, Writer, contract::connection as layout,
    };

    /// What a client asks of a connection.
    pub(crate) enum Request {
        Read { max: u32 },
        Receive { space: u32, length: u32 },
        Write { bytes: Bytes },
        Shutdown,
    }

    impl Request {
        pub(crate) fn decode(message: Message, heap: &Heap) -> Result<Request, Errno> {
            match message.tag() {
                layout::read::TAG => {
                    let reader = Reader::open(message, layout::read::FIXED, heap)?;
                    let max = reader.u32(layout::read::MAX)?;
                    reader.finish()?;
                    Ok(Request::Read { max })
                }
                layout::receive::TAG => {
                    let reader = Reader::open(message, layout::receive::FIXED, heap)?;
                    let space = reader.u32(layout::receive::SPACE)?;
                    let length = reader.u32(layout::receive::LENGTH)?;
                    reader.finish()?;
                    Ok(Request::Receive { space, length })
                }
                layout::write::TAG => {
                    let reader = Reader::open(message, layout::write::FIXED, heap)?;
                    let bytes = reader.bytes(layout::write::BYTES)?;
                    Ok(Request::Write { bytes })
                }
                layout::shutdown::TAG => {
                    Reader::open(message, layout::shutdown::FIXED, heap)?.finish()?;
                    Ok(Request::Shutdown)
                }
                _ => Err(Errno::Protocol),
            }
        }
    }

    pub(crate) fn data(bytes: &[u8], heap: &Heap) -> Result<Message, Errno> {
        Writer::new(layout::data::TAG, layout::data::FIXED, heap)
            .bytes(layout::data::BYTES, bytes)?
            .finish()
    }

    pub(crate) fn received(block: Block, heap: &Heap) -> Result<Message, Errno> {
        Writer::new(layout::received::TAG, layout::received::FIXED, heap)
            .handle(layout::received::BYTES, Capability::Block(block))
            .finish()
    }

    pub(crate) fn finished(heap: &Heap) -> Result<Message, Errno> {
        Writer::new(layout::finished::TAG, layout::finished::FIXED, heap).finish()
    }

    pub(crate) fn written(count: u32, heap: &Heap) -> Result<Message, Errno> {
        Writer::new(layout::written::TAG, layout::written::FIXED, heap)
            .put(layout::written::COUNT, count.to_le_bytes())
            .finish()
    }

    pub(crate) fn failed(reason: &str, heap: &Heap) -> Result<Message, Errno> {
        Writer::new(layout::failed::TAG, layout::failed::FIXED, heap)
            .text(layout::failed::REASON, reason.as_bytes())
            .finish()
    }
}

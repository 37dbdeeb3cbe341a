//! Wires: the two rings and the doorbell of a link, with what can befall them.
//!
//! A dead kernel's frames and bells go nowhere. Sabotage works on whole messages: the frames of the
//! capabilities that travel and, last, the message's own (`kernel/core/src/rmp/frames.rs`).

use super::Host;
use crate::{
    events::{Event, Life},
    sabotage::Sabotage,
};
use satrap_kernel::LinkParts;
use satrap_link::{
    AttentionDoorbell, Bell, Export, ExportError, Frame, FrameHeader, FrameReceiver, FrameSender, Full,
    Garbage, PeerExport, RegionReceiver, RegionSender,
};
use satrap_region::Region;
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// Kinds of frames, as `kernel/core` numbers them.
mod kind {
    pub const MESSAGE: u8 = 1;
    pub const BLOCK: u8 = 2;
    pub const LOAN_RETURNED: u8 = 5;
    pub const CLOSE: u8 = 7;
}

/// How often sabotage strikes, per mille of the frames that it could spoil.
const STRIKES: u32 = 200;

/// The link of `host` to a peer, whose export is `memory`.
pub fn link(
    host: &Arc<Host>,
    own: &Export,
    peer: Life,
    memory: Region,
    bells: &Arc<AtomicU64>,
) -> Result<LinkParts, ExportError> {
    let export = PeerExport::open(memory, peer.kernel, peer.generation)?;
    let bell = SimBell {
        host: host.clone(),
        peer,
        bells: bells.clone(),
    };
    let sender = WireOut {
        ring: own.ring_to(&export)?,
        host: host.clone(),
        heap: own.heap().clone(),
        message: Vec::new(),
        held: None,
    };
    let receiver = WireIn {
        ring: own.ring_from(&export)?,
        host: host.clone(),
    };
    Ok(LinkParts {
        kernel: peer.kernel,
        generation: peer.generation,
        sender: Box::new(sender),
        receiver: Box::new(receiver),
        doorbell: Box::new(AttentionDoorbell::new(export.attention()?, bell)),
        heap: export.heap().clone(),
    })
}

/// A peer's bell: it rings after a while, or never.
struct SimBell {
    host: Arc<Host>,
    peer: Life,
    bells: Arc<AtomicU64>,
}

impl SimBell {
    fn ring(&self, event: Event) {
        let stage = &self.host.stage;
        if self.host.is_dead() {
            return;
        }
        self.bells.fetch_add(1, Relaxed);
        let mut rng = stage.rng();
        let lost = rng.chance(stage.scenario.lost_bells) || stage.suffers(Sabotage::LoseBells);
        let delay = rng.between(500, 40_000);
        drop(rng);
        if !lost {
            stage.after(delay, event);
        }
    }
}

impl Bell for SimBell {
    fn wake(&self) {
        self.ring(Event::Wake(self.peer, 0));
    }

    fn interrupt(&self) {
        self.ring(Event::Interrupt(self.peer, 0));
    }
}

/// The receiving ring: a dead kernel takes nothing, and declares nothing taken.
struct WireIn {
    ring: RegionReceiver,
    host: Arc<Host>,
}

impl FrameReceiver for WireIn {
    fn receive(&mut self, into: &mut Frame) -> Result<bool, Garbage> {
        if self.host.is_dead() {
            return Ok(false);
        }
        self.ring.receive(into)
    }

    fn is_empty(&self) -> bool {
        self.host.is_dead() || self.ring.is_empty()
    }

    fn acknowledge(&mut self) {
        if !self.host.is_dead() {
            self.ring.acknowledge();
        }
    }
}

/// The sending ring.
struct WireOut {
    ring: RegionSender,
    host: Arc<Host>,
    /// This kernel's exchange heap, for sabotage.
    heap: Region,
    /// The frames of the message that is being sent.
    message: Vec<Vec<u64>>,
    /// A message held back so that it comes after the next of its channel.
    held: Option<Vec<u64>>,
}

impl FrameSender for WireOut {
    fn send(&mut self, frame: &[u64]) -> Result<(), Full> {
        if self.host.is_dead() {
            return Ok(());
        }
        if self.host.stage.suffers(Sabotage::None) {
            return self.ring.send(frame);
        }
        self.spoil(frame)
    }

    fn has_unconsumed(&mut self) -> bool {
        !self.host.is_dead() && self.ring.has_unconsumed()
    }
}

impl WireOut {
    fn spoil(&mut self, frame: &[u64]) -> Result<(), Full> {
        // What is no frame of a kernel's is not ours to spoil either.
        let Ok(header) = FrameHeader::unpack(frame[0] & !0xff) else {
            return self.ring.send(frame);
        };
        let plain = header.kind == kind::MESSAGE && header.handle_count == 0;
        let strikes = self.host.stage.rng().chance(STRIKES);
        match self.host.stage.scenario.sabotage {
            Sabotage::DropMessages if plain && strikes => return Ok(()),
            Sabotage::KeepLoans if header.kind == kind::LOAN_RETURNED => return Ok(()),
            Sabotage::DropCloses if header.kind == kind::CLOSE => return Ok(()),
            Sabotage::SwapMessages => return self.swap(frame, plain, plain && strikes),
            Sabotage::SpoilBlocks if header.kind == kind::BLOCK && strikes => self.spoil_block(frame),
            _ => {}
        }
        self.ring.send(frame)?;
        self.message.push(frame.to_vec());
        if header.kind == kind::MESSAGE {
            let message = std::mem::take(&mut self.message);
            let repeats = match self.host.stage.scenario.sabotage {
                Sabotage::RepeatMessages => plain,
                Sabotage::RepeatBlocks => !plain,
                _ => false,
            };
            if repeats && strikes {
                // A full ring spares the message.
                for frame in &message {
                    let _ = self.ring.send(frame);
                }
            }
        } else if header.kind != kind::BLOCK {
            self.message.clear();
        }
        Ok(())
    }

    /// Holds a message back until the next of its channel has passed it. Other frames do not pass.
    fn swap(&mut self, frame: &[u64], plain: bool, hold: bool) -> Result<(), Full> {
        let passes = self.held.as_ref().is_some_and(|held| held[1] == frame[1]);
        if hold && self.held.is_none() {
            self.held = Some(frame.to_vec());
            return Ok(());
        }
        if passes && !plain {
            self.let_go();
        }
        self.ring.send(frame)?;
        if passes && plain {
            self.let_go();
        }
        Ok(())
    }

    /// Sends what was held back. A full ring loses it, which is worse than being late.
    fn let_go(&mut self) {
        if let Some(held) = self.held.take() {
            let _ = self.ring.send(&held);
        }
    }

    /// Changes a block's first bytes: the place is packed as offset in lines and length.
    fn spoil_block(&self, frame: &[u64]) {
        let offset = (frame[3] & ((1 << 34) - 1)) << 6;
        let _ = self.heap.fill(offset as usize + 16, 8, 0xee);
    }
}

//! Every message at most once, in order, whole; and none lost on a channel whose ends both lived.
//!
//! Messages of a stream are numbered from 0. A receiver that is told of an end other than a kernel's death has
//! received everything that the sender's kernel took before (DESIGN §5 "Closing").

use super::Checker;
use crate::facts::{BlockPrint, Fact, Stream};
use satrap_abi::Errno;
use std::collections::BTreeMap;

#[derive(Default)]
struct Progress {
    /// What was or is being sent, by number.
    sending: Vec<Option<BlockPrint>>,
    /// How many the kernel took.
    sent: u64,
    /// How many were received.
    received: u64,
}

/// The checker.
#[derive(Default)]
pub struct Delivery {
    streams: BTreeMap<Stream, Progress>,
}

impl Checker for Delivery {
    fn name(&self) -> &'static str {
        "delivery"
    }

    fn observe(&mut self, fact: &Fact) -> Result<(), String> {
        match *fact {
            Fact::Sending(stream, number, block) => self.sending(stream, number, block),
            Fact::Sent(stream, number) => {
                self.of(stream).sent = number + 1;
                Ok(())
            }
            Fact::Received(stream, number, block) => self.received(stream, number, block),
            Fact::Over(stream, reason) => self.over(stream, reason),
            _ => Ok(()),
        }
    }
}

impl Delivery {
    fn of(&mut self, stream: Stream) -> &mut Progress {
        self.streams.entry(stream).or_default()
    }

    fn sending(&mut self, stream: Stream, number: u64, block: Option<BlockPrint>) -> Result<(), String> {
        let progress = self.of(stream);
        progress.sending.truncate(number as usize);
        if progress.sending.len() as u64 != number {
            return Err(format!("{stream:?}: the workload skipped to number {number}"));
        }
        progress.sending.push(block);
        Ok(())
    }

    fn received(&mut self, stream: Stream, number: u64, block: Option<BlockPrint>) -> Result<(), String> {
        let progress = self.of(stream);
        let due = progress.received;
        if number < due {
            return Err(format!(
                "{stream:?}: message {number} came twice, or after message {}",
                due - 1
            ));
        }
        if number > due {
            return Err(format!("{stream:?}: message {due} is missing, {number} came"));
        }
        let Some(sent) = progress.sending.get(number as usize) else {
            return Err(format!("{stream:?}: message {number} came, which nobody sent"));
        };
        if *sent != block {
            return Err(format!(
                "{stream:?}: message {number} had {sent:?} when sent, {block:?} when received"
            ));
        }
        progress.received += 1;
        Ok(())
    }

    fn over(&mut self, stream: Stream, reason: Errno) -> Result<(), String> {
        let progress = self.of(stream);
        let whole = matches!(reason, Errno::Closed | Errno::PeerDied);
        if whole && progress.received < progress.sent {
            let (received, sent) = (progress.received, progress.sent);
            return Err(format!(
                "{stream:?}: ended with {reason:?} after {received} of {sent} messages"
            ));
        }
        Ok(())
    }
}

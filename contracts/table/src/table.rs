//! The table in memory, and the step that the kernel takes for every message.
//!
//! Each row of the matrix belongs to a state and a side, so one lookup answers both "is it your turn" and
//! "may this message come now". A refusal is explained on the cold path.

use crate::format::{self, Spec, TableError};
use crate::rule::{HandleKind, MessageRule};
use alloc::boxed::Box;
use core::fmt;
use satrap_abi::Digest;

/// Which end of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Side {
    /// The end that bound the name; its messages are marked `?` in a protocol.
    Client = 0,
    /// The end that registered the name; its messages are marked `!`.
    Service = 1,
}

impl Side {
    /// The other end.
    pub const fn peer(self) -> Side {
        match self {
            Side::Client => Side::Service,
            Side::Service => Side::Client,
        }
    }
}

/// Why a message was refused: the sender broke its contract.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Violation {
    /// The conversation has ended.
    Ended,
    /// In this state the other side sends.
    NotYourTurn,
    /// The contract has no message with this tag.
    UnknownMessage,
    /// The message exists, but not in this state.
    WrongState,
    /// The length of the inline part is not one that the message's parameters can have.
    InlineLength,
    /// The number or kinds of handles are not the message's.
    Handles,
    /// A pool buffer is missing, or comes unasked.
    Buffer,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Violation::Ended => "the conversation has ended",
            Violation::NotYourTurn => "the other side sends in this state",
            Violation::UnknownMessage => "the contract has no such message",
            Violation::WrongState => "the contract does not allow this message in this state",
            Violation::InlineLength => "the inline part has a length that this message cannot have",
            Violation::Handles => "the message carries other handles than its contract says",
            Violation::Buffer => "a pool buffer is missing or comes unasked",
        })
    }
}

impl core::error::Error for Violation {}

/// In a row of the matrix: this message is not allowed here.
pub(crate) const REFUSED: u8 = u8::MAX;

/// A contract's table, parsed and checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    name: Box<str>,
    digest: Digest,
    text_digest: Digest,
    /// The side that sends in each state; the end is not among them.
    senders: Box<[Side]>,
    /// `matrix[(state * 2 + side) * messages + tag]`: the next state, or `REFUSED`.
    matrix: Box<[u8]>,
    rules: Box<[MessageRule]>,
}

impl Table {
    /// The state of a new channel.
    pub const START: u8 = 0;

    /// Parses a table that a guest supplied. Nothing in it is believed.
    ///
    /// # Errors
    ///
    /// What is wrong with it, and where. No input makes it allocate more than a few times its own length.
    pub fn parse(bytes: &[u8]) -> Result<Table, TableError> {
        let spec = format::decode(bytes)?;
        Ok(Table::build(&spec, Digest(*blake3::hash(bytes).as_bytes())))
    }

    fn build(spec: &Spec, digest: Digest) -> Table {
        let messages = spec.rules.len();
        let mut matrix = alloc::vec![REFUSED; spec.states.len() * 2 * messages].into_boxed_slice();
        for (state, entry) in spec.states.iter().enumerate() {
            let row = (state * 2 + entry.sender as usize) * messages;
            for transition in &entry.transitions {
                matrix[row + transition.tag as usize] = transition.next;
            }
        }
        Table {
            name: spec.name.as_str().into(),
            digest,
            text_digest: spec.text_digest,
            senders: spec.states.iter().map(|state| state.sender).collect(),
            matrix,
            rules: spec.rules.as_slice().into(),
        }
    }

    /// The contract's name, as in `satrap:mail/store@1.0.0`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Identifies the contract: BLAKE3 of the table's bytes, which contain [`Table::text_digest`].
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// BLAKE3 of the contract's canonical text.
    pub fn text_digest(&self) -> Digest {
        self.text_digest
    }

    /// How many states there are, the end not counted.
    pub fn states(&self) -> u8 {
        // `format::decode` refuses more than `STATES_MAX` of them.
        self.senders.len() as u8
    }

    /// How many messages there are; tags count from 0.
    pub fn messages(&self) -> u16 {
        // `format::decode` refuses more than `MESSAGES_MAX` of them.
        self.rules.len() as u16
    }

    /// What the message with this tag carries.
    pub fn rule(&self, tag: u16) -> Option<&MessageRule> {
        self.rules.get(tag as usize)
    }

    /// The state after `sender` sends a message with these contents in `state`. This is the hot path.
    ///
    /// # Errors
    ///
    /// How the sender breaks the contract. The state is then unchanged.
    #[inline]
    pub fn step(
        &self,
        state: u8,
        sender: Side,
        tag: u16,
        inline_len: usize,
        handles: &[HandleKind],
        buffer: bool,
    ) -> Result<u8, Violation> {
        let Some(rule) = self.rules.get(tag as usize) else {
            return Err(Violation::UnknownMessage);
        };
        let row = (state as usize * 2 + sender as usize) * self.rules.len();
        match self.matrix.get(row + tag as usize) {
            Some(&next) if next != REFUSED => {
                rule.check(inline_len, handles, buffer)?;
                Ok(next)
            }
            _ => Err(self.explain(state, sender)),
        }
    }

    /// Why a message that exists may not be sent by this side in this state.
    #[cold]
    fn explain(&self, state: u8, sender: Side) -> Violation {
        match self.senders.get(state as usize) {
            None => Violation::Ended,
            Some(&turn) if turn != sender => Violation::NotYourTurn,
            Some(_) => Violation::WrongState,
        }
    }

    /// Whether it is this side's turn. Never true in the end state.
    #[inline]
    pub fn may_send(&self, state: u8, side: Side) -> bool {
        self.senders.get(state as usize) == Some(&side)
    }

    /// Whether the conversation is over in this state.
    #[inline]
    pub fn is_end(&self, state: u8) -> bool {
        state as usize >= self.senders.len()
    }
}

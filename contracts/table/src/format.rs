//! The table in bytes: written by the contract compiler, read by the kernel from a program that may lie.
//!
//! All numbers are little-endian. `magic "SATRAPC1"`, `states u8`, `messages u16`, `name length u8`, name,
//! digest of the canonical text (32), then for each state `sender u8` and its row (one byte a message: the
//! next state, `states` for the end, 255 for refused), then for each message its rule (8 bytes). The length
//! is exact.

use crate::rule::MessageRule;
use crate::table::{REFUSED, Side};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use satrap_abi::Digest;

/// First bytes of a table; the digit is the format's version.
const MAGIC: &[u8; 8] = b"SATRAPC1";
/// Most states of a contract, the end not counted.
pub const STATES_MAX: usize = 64;
/// Most messages of a contract.
pub const MESSAGES_MAX: usize = 256;

/// Why bytes are not a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableError {
    /// It does not start with the magic of this version.
    Magic,
    /// It ends too early.
    Truncated,
    /// Bytes follow its end.
    TrailingBytes,
    /// It has no state, or more than [`STATES_MAX`].
    StateCount,
    /// It has no message, or more than [`MESSAGES_MAX`].
    MessageCount,
    /// The name is empty or not UTF-8.
    Name,
    /// The sender of a state is neither side.
    Sender,
    /// A transition leads to a state that does not exist.
    Transition,
    /// A state allows no message at all.
    Stuck,
    /// A message's rule contradicts itself or the limits of a message.
    Rule,
    /// An entry's canonical text is not UTF-8, or not the one that the table names.
    Text,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TableError::Magic => "not a contract table of this version",
            TableError::Truncated => "the contract table ends too early",
            TableError::TrailingBytes => "bytes follow the contract table",
            TableError::StateCount => "no state, or too many",
            TableError::MessageCount => "no message, or too many",
            TableError::Name => "the contract's name is empty or not UTF-8",
            TableError::Sender => "the sender of a state is neither side",
            TableError::Transition => "a transition leads to no state",
            TableError::Stuck => "a state allows no message",
            TableError::Rule => "a message's rule is unsound",
            TableError::Text => "the canonical text is not the table's",
        })
    }
}

impl core::error::Error for TableError {}

/// What a table says, in the form that the compiler builds. It may be unsound until it is parsed again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spec {
    /// The contract's name, 1 to 255 bytes.
    pub name: String,
    /// BLAKE3 of the canonical text.
    pub text_digest: Digest,
    /// The states; the first is the start. The end is the number `states.len()`.
    pub states: Vec<StateSpec>,
    /// What each message carries, by tag.
    pub rules: Vec<MessageRule>,
}

/// One state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StateSpec {
    /// The one side that sends in it.
    pub sender: Side,
    /// What it may send, and what follows.
    pub transitions: Vec<TransitionSpec>,
}

/// One message of a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TransitionSpec {
    /// Which message.
    pub tag: u16,
    /// The state after it.
    pub next: u8,
}

impl Spec {
    /// The table's bytes.
    ///
    /// # Errors
    ///
    /// Whatever [`Table::parse`](crate::Table::parse) would say of them.
    pub fn encode(&self) -> Result<Vec<u8>, TableError> {
        let name_len = u8::try_from(self.name.len()).map_err(|_| TableError::Name)?;
        let states = u8::try_from(self.states.len()).map_err(|_| TableError::StateCount)?;
        let messages = u16::try_from(self.rules.len()).map_err(|_| TableError::MessageCount)?;
        let mut bytes = MAGIC.to_vec();
        bytes.push(states);
        bytes.extend(messages.to_le_bytes());
        bytes.push(name_len);
        bytes.extend(self.name.as_bytes());
        bytes.extend(self.text_digest.0);
        for state in &self.states {
            bytes.push(state.sender as u8);
            bytes.extend(state.row(self.rules.len())?);
        }
        bytes.extend(self.rules.iter().flat_map(|rule| rule.to_bytes()));
        decode(&bytes)?;
        Ok(bytes)
    }
}

impl StateSpec {
    fn row(&self, messages: usize) -> Result<Vec<u8>, TableError> {
        let mut row = alloc::vec![REFUSED; messages];
        for transition in &self.transitions {
            *row.get_mut(transition.tag as usize)
                .ok_or(TableError::Transition)? = transition.next;
        }
        Ok(row)
    }
}

/// Reads a table, checking everything.
pub(crate) fn decode(bytes: &[u8]) -> Result<Spec, TableError> {
    let mut input = Input(bytes);
    if input.take(MAGIC.len())? != MAGIC {
        return Err(TableError::Magic);
    }
    let states = input.byte()? as usize;
    let messages = u16::from_le_bytes(input.array()?) as usize;
    if states == 0 || states > STATES_MAX {
        return Err(TableError::StateCount);
    }
    if messages == 0 || messages > MESSAGES_MAX {
        return Err(TableError::MessageCount);
    }
    let name_len = input.byte()? as usize;
    let name = core::str::from_utf8(input.take(name_len)?).map_err(|_| TableError::Name)?;
    if name.is_empty() {
        return Err(TableError::Name);
    }
    let spec = Spec {
        name: name.into(),
        text_digest: Digest(input.array()?),
        states: (0..states)
            .map(|_| input.state(states, messages))
            .collect::<Result<_, _>>()?,
        rules: (0..messages).map(|_| input.rule()).collect::<Result<_, _>>()?,
    };
    if input.0.is_empty() {
        Ok(spec)
    } else {
        Err(TableError::TrailingBytes)
    }
}

/// What is left to read.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], TableError> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or(TableError::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], TableError> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(TableError::Truncated)?;
        self.0 = rest;
        Ok(*taken)
    }

    fn byte(&mut self) -> Result<u8, TableError> {
        Ok(self.array::<1>()?[0])
    }

    fn state(&mut self, states: usize, messages: usize) -> Result<StateSpec, TableError> {
        let sender = match self.byte()? {
            0 => Side::Client,
            1 => Side::Service,
            _ => return Err(TableError::Sender),
        };
        let row = self.take(messages)?;
        if row.iter().any(|&next| next != REFUSED && next as usize > states) {
            return Err(TableError::Transition);
        }
        let allowed = row.iter().enumerate().filter(|&(_, &next)| next != REFUSED);
        let transitions: Vec<_> = allowed
            .map(|(tag, &next)| TransitionSpec {
                tag: tag as u16,
                next,
            })
            .collect();
        if transitions.is_empty() {
            return Err(TableError::Stuck);
        }
        Ok(StateSpec { sender, transitions })
    }

    fn rule(&mut self) -> Result<MessageRule, TableError> {
        MessageRule::from_bytes(self.array()?).ok_or(TableError::Rule)
    }
}

//! What the kernels counted on each channel of the application.
//!
//! They are the coordinator's own counters, summed up by kind of channel. `load.rs` measures what clients
//! see; `screen.rs` shows both.

use satrap_coordinator::api::Channel;
use std::collections::BTreeMap;

/// Counters of one kind of channel, all clients together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Messages, both ways.
    pub messages: u64,
    /// Payload bytes, both ways.
    pub bytes: u64,
    /// Payload copies that kernels made.
    pub copies: u64,
    /// Bytes of those copies.
    pub copied: u64,
}

/// Counters by channel, such as `front - decoder`.
pub type Channels = BTreeMap<String, Counters>;

/// Sums up what has been counted. Messages and bytes are counted at the client's end; copies where the receiver is.
pub fn channels(counted: &[Channel]) -> Channels {
    let mut sums = Channels::new();
    for channel in counted {
        let holder = channel.process_name.rsplit('/').next().unwrap_or_default();
        let (name, is_client) = name(holder, &channel.name);
        let sum = sums.entry(name).or_default();
        if is_client {
            sum.messages += channel.sent + channel.received;
            sum.bytes += channel.bytes_sent + channel.bytes_received;
        }
        sum.copies += channel.copies;
        sum.copied += channel.bytes_copied;
    }
    sums
}

/// The channel's two ends, and whether the holder is the client. A service's end has the path of the service.
fn name(holder: &str, end: &str) -> (String, bool) {
    match end.strip_prefix("/png/") {
        Some(service) => (format!("front - {service}"), false),
        None if end.starts_with("satrap:net/") || end.is_empty() => (format!("{holder} - net"), true),
        None => (format!("{holder} - {end}"), true),
    }
}

/// All of them together.
pub fn total(channels: &Channels) -> Counters {
    channels.values().fold(Counters::default(), |sum, each| Counters {
        messages: sum.messages + each.messages,
        bytes: sum.bytes + each.bytes,
        copies: sum.copies + each.copies,
        copied: sum.copied + each.copied,
    })
}

//! One end of a conversation: numbers what it sends, says what it sees, and keeps the books of blocks.
//!
//! It holds no opinion: what it sees goes to `checkers` as facts. `echo.rs` and `flow.rs` hold conversations
//! through it.

use crate::{
    contracts::Contract,
    engine::{BLOCK_MAX, Calling, Guest, Letter},
    facts::{BlockPrint, Fact, Stream},
    rng::{Rng, print_of},
};
use satrap_abi::{Errno, call::FOREVER};
use satrap_kernel::engine::End;

/// A block in a guest's hand.
#[derive(Clone, Copy, Debug)]
pub struct Parcel {
    handle: u32,
    stamp: u64,
    print: u64,
}

/// A received message.
pub struct Word {
    /// Its name in the contract.
    pub name: String,
    /// Its block.
    pub parcel: Option<Parcel>,
    /// Its endpoint.
    pub endpoint: Option<u32>,
    /// The arguments after channel and number.
    pub more: [u64; 2],
}

/// One end of a conversation.
pub struct Line {
    /// The endpoint.
    pub endpoint: u32,
    contract: &'static Contract,
    /// The conversation's number; the service learns it from the first message.
    channel: Option<u64>,
    is_client: bool,
    sent: u64,
    /// The endpoint is another's now.
    given: bool,
}

impl Line {
    /// The client's end.
    pub fn client(guest: &mut Guest, endpoint: u32, contract: &'static Contract) -> Line {
        Line {
            endpoint,
            contract,
            channel: Some(guest.rng.next()),
            is_client: true,
            sent: 0,
            given: false,
        }
    }

    /// The service's end.
    pub fn service(guest: &mut Guest, endpoint: u32, contract: &'static Contract) -> Line {
        let process = guest.process();
        guest.state(Fact::Accepted(process, endpoint));
        Line {
            endpoint,
            contract,
            channel: None,
            is_client: false,
            sent: 0,
            given: false,
        }
    }

    /// The client's end of a conversation that another began: its channel, and how many messages were sent.
    pub fn inherited(endpoint: u32, contract: &'static Contract, [channel, sent]: [u64; 2]) -> Line {
        Line {
            endpoint,
            contract,
            channel: Some(channel),
            is_client: true,
            sent,
            given: false,
        }
    }

    fn outward(&self) -> Stream {
        Stream {
            channel: self.channel.unwrap_or_default(),
            to_service: self.is_client,
        }
    }

    fn inward(&self) -> Stream {
        Stream {
            to_service: !self.is_client,
            ..self.outward()
        }
    }

    /// Sends a message without a block.
    pub fn say(&mut self, guest: &mut Guest, name: &str) -> Calling<()> {
        self.send(guest, name, None, &[])
    }

    /// Sends a message with an endpoint, which is closed if it cannot be sent.
    pub fn hand(&mut self, guest: &mut Guest, name: &str, endpoint: u32) -> Calling<()> {
        let sent = self.send(guest, name, None, &[endpoint])?;
        if sent.is_err() {
            let _ = guest.close(endpoint)?;
        }
        Ok(sent)
    }

    /// Gives the client's end of another conversation away, or keeps it.
    pub fn bequeath(&mut self, guest: &mut Guest, begun: &mut Line) -> Calling<()> {
        let more = [begun.outward().channel, begun.sent];
        let sent = self.send_all(guest, "inherit", None, (&more, &[begun.endpoint]))?;
        begun.given = sent.is_ok();
        Ok(sent)
    }

    /// Sends a message with a block, which is freed if it cannot be sent.
    pub fn give(&mut self, guest: &mut Guest, name: &str, parcel: Parcel) -> Calling<()> {
        let sent = self.send(guest, name, Some(parcel), &[parcel.handle])?;
        if sent.is_err() {
            free(guest, parcel)?;
        }
        Ok(sent)
    }

    fn send(
        &mut self,
        guest: &mut Guest,
        name: &str,
        parcel: Option<Parcel>,
        handles: &[u32],
    ) -> Calling<()> {
        let stamp = parcel.map(|parcel| parcel.stamp);
        self.send_all(guest, name, parcel, (stamp.as_slice(), handles))
    }

    fn send_all(
        &mut self,
        guest: &mut Guest,
        name: &str,
        parcel: Option<Parcel>,
        (more, handles): (&[u64], &[u32]),
    ) -> Calling<()> {
        let (stream, number, process) = (self.outward(), self.sent, guest.process());
        let stamp = parcel.map_or(0, |parcel| parcel.stamp);
        let words: Vec<u64> = [stream.channel, number].iter().chain(more).copied().collect();
        let letter = Letter::new(self.contract, name, &words, handles);
        let block = parcel.map(|parcel| BlockPrint {
            stamp: parcel.stamp,
            print: parcel.print,
        });
        guest.state(Fact::Sending(stream, number, block));
        if parcel.is_some() {
            guest.state(Fact::BlockLeaves(stamp, process));
        }
        let sent = guest.send(self.endpoint, &letter)?;
        if sent.is_ok() {
            guest.state(Fact::Sent(stream, number));
            self.sent += 1;
        } else if parcel.is_some() {
            guest.state(Fact::BlockStays(stamp, process));
        }
        Ok(sent)
    }

    /// Receives a message, waiting until the deadline. Every error but a deadline's is the end.
    pub fn hear(&mut self, guest: &mut Guest, deadline: u64) -> Calling<Word> {
        let letter = match guest.recv(self.endpoint, deadline)? {
            Ok(letter) => letter,
            Err(errno) => {
                self.note_end(guest, errno);
                return Ok(Err(errno));
            }
        };
        let [channel, number, stamp, ..] = letter.words;
        let known = *self.channel.get_or_insert(channel);
        assert_eq!(known, channel, "a message of another channel");
        let name = self.contract.name(letter.tag).to_owned();
        let handle = letter.handles.first().copied();
        let carries_block = name.ends_with("-block");
        let mut word = Word {
            name,
            parcel: None,
            endpoint: handle.filter(|_| !carries_block),
            more: [letter.words[2], letter.words[3]],
        };
        if carries_block && let Some(handle) = handle {
            word.parcel = Some(arrived(guest, handle, stamp)?);
        }
        let block = word.parcel.map(|parcel| BlockPrint {
            stamp: parcel.stamp,
            print: parcel.print,
        });
        guest.state(Fact::Received(self.inward(), number, block));
        Ok(Ok(word))
    }

    fn note_end(&self, guest: &Guest, errno: Errno) {
        let over = matches!(errno, Errno::Closed | Errno::PeerDied | Errno::KernelDied);
        if over && self.channel.is_some() {
            guest.state(Fact::Over(self.inward(), errno));
        }
        assert!(
            over || matches!(errno, Errno::TimedOut | Errno::LimitReached | Errno::NoMemory),
            "receiving ended with {errno:?}"
        );
    }

    /// Closes it, unless it was given away.
    pub fn close(self, guest: &mut Guest) -> Result<(), End> {
        if self.given {
            return Ok(());
        }
        let closed = guest.close(self.endpoint)?;
        assert_eq!(closed, Ok(()), "an endpoint that could not be closed");
        if !self.is_client {
            let process = guest.process();
            guest.state(Fact::Dismissed(process, self.endpoint));
        }
        Ok(())
    }
}

/// A block of chance content, or none where the process or its kernel has no room for it.
pub fn parcel(guest: &mut Guest) -> Result<Option<Parcel>, End> {
    let (stamp, length) = (guest.rng.next(), guest.rng.between(1, u64::from(BLOCK_MAX)));
    let mut content = Rng::new(stamp);
    let bytes: Vec<u8> = (0..length).map(|_| content.next() as u8).collect();
    let process = guest.process();
    let Ok(handle) = guest.block(&bytes)? else {
        return Ok(None);
    };
    guest.state(Fact::BlockMade(stamp, process));
    let print = print_of(&bytes);
    Ok(Some(Parcel { handle, stamp, print }))
}

/// Closes a block.
pub fn free(guest: &mut Guest, parcel: Parcel) -> Result<(), End> {
    let closed = guest.close(parcel.handle)?;
    assert_eq!(closed, Ok(()), "a block that could not be closed");
    let process = guest.process();
    guest.state(Fact::BlockFreed(parcel.stamp, process));
    Ok(())
}

fn arrived(guest: &mut Guest, handle: u32, stamp: u64) -> Result<Parcel, End> {
    let process = guest.process();
    guest.state(Fact::BlockArrived(stamp, process));
    let bytes = guest.block_bytes(handle)?.unwrap_or_default();
    Ok(Parcel {
        handle,
        stamp,
        print: print_of(&bytes),
    })
}

/// Does `converse` with a service until so many conversations went well; those that broke are tried again.
pub fn converse_often(
    guest: &mut Guest,
    contract: &'static Contract,
    times: u64,
    mut converse: impl FnMut(&mut Guest, &mut Line) -> Calling<()>,
) -> Result<i32, End> {
    let path = guest.args()?.swap_remove(1);
    let mut left = times;
    while left > 0 {
        let patience = if guest.rng.chance(200) {
            guest.now() + 200_000
        } else {
            FOREVER
        };
        if let Ok(endpoint) = guest.bind(&path, contract, patience)? {
            let mut line = Line::client(guest, endpoint, contract);
            let went = converse(guest, &mut line)?;
            line.close(guest)?;
            left -= u64::from(went.is_ok());
        }
        let pause = guest.rng.between(1_000, 100_000);
        guest.sleep(pause)?;
    }
    Ok(0)
}

/// Registers the process's path; its predecessor's name may still be there for a moment.
pub fn register(guest: &mut Guest, contract: &'static Contract) -> Result<u32, End> {
    let path = guest.args()?.swap_remove(1);
    loop {
        match guest.register(&path, contract)? {
            Ok(service) => {
                let process = guest.process();
                guest.state(Fact::Registered(process, path));
                return Ok(service);
            }
            Err(errno) => assert_eq!(errno, Errno::NameTaken, "registering a path"),
        }
        guest.sleep(50_000)?;
    }
}

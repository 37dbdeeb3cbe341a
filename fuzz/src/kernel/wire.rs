//! Links whose other side is the fuzzer: what the kernel sends is kept, and what it receives is anything at all.
//!
//! Some frames no kernel may let pass, and this knows them: `mod.rs` looks whether the link was reset.

use super::{ANSWER, ASK, channel};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use satrap_abi::{ChannelId, KernelId, Slot};
use satrap_kernel::LinkParts;
use satrap_link::{Doorbell, FRAME_WORDS_MAX, FrameHeader, FrameReceiver, FrameSender, Full, Garbage};
use satrap_region::Region;
use satrap_table::Table;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Ends of channels, in the tables of the peers.
pub const HONEST_CHANNEL: ChannelId = channel(7);
pub const SERVED_CHANNEL: ChannelId = channel(5);
pub const BOUND_CHANNEL: ChannelId = channel(6);

/// The peers' exchange heaps.
const HEAP: usize = 64 << 10;
/// Most frames of the kernel that are remembered.
const MEMORY: usize = 256;

/// Kinds of frames (`kernel/core/src/rmp/frames.rs`).
mod kind {
    pub const MESSAGE: u8 = 1;
    pub const BLOCK: u8 = 2;
    pub const ENDPOINT: u8 = 3;
    pub const OPENED: u8 = 4;
    pub const LOAN_RETURNED: u8 = 5;
    pub const CREDIT: u8 = 6;
    pub const CLOSE: u8 = 7;
    pub const POOL: u8 = 8;
    pub const BUFFER_RETURNED: u8 = 9;
}

/// A frame on its way to the kernel.
#[derive(Clone, Debug)]
pub struct Frame {
    words: [u64; FRAME_WORDS_MAX],
    /// Whether it is for an end that the kernel has had when it was made.
    meant: bool,
}

impl Frame {
    fn new(header: FrameHeader, rest: &[u64]) -> Frame {
        let mut words = [0; FRAME_WORDS_MAX];
        let count = rest.len().min(FRAME_WORDS_MAX - 1);
        words[0] = header.pack() & !0xff | (count as u64 + 1);
        words[1..=count].copy_from_slice(&rest[..count]);
        Frame { words, meant: false }
    }

    /// A correct question over a channel of the kernel.
    pub fn asking(to: ChannelId) -> Frame {
        let header = FrameHeader {
            kind: kind::MESSAGE,
            tag: ASK,
            ..FrameHeader::default()
        };
        Frame::new(header, &[to.0.pack()])
    }

    fn words(&self) -> &[u64] {
        &self.words[..usize::from(self.words[0] as u8)]
    }

    fn kind(&self) -> u8 {
        (self.words[0] >> 8) as u8
    }

    /// Whether it is wrong whatever came before it.
    fn is_nonsense(&self) -> bool {
        let header = FrameHeader::unpack(self.words[0]);
        match (self.kind(), self.words()) {
            _ if header.is_err() => true,
            (kind, words) if !(kind::MESSAGE..=kind::BUFFER_RETURNED).contains(&kind) || words.len() < 2 => {
                true
            }
            (kind::BLOCK, &[_, _, _, place, ..]) => !within(place, place >> 34),
            (kind::POOL, &[_, _, place, shape, _, ..]) => {
                let (stride, count) = (shape & u64::from(u32::MAX), shape >> 32);
                let impossible = stride == 0 || !stride.is_multiple_of(64) || !(1..=4096).contains(&count);
                let pages = stride.saturating_mul(count).div_ceil(4096).saturating_mul(4096);
                impossible || !within(place, pages) || !(place << 6).is_multiple_of(4096)
            }
            _ => false,
        }
    }
}

/// A message of the hostile peer: `what` is its tag, its bytes of arguments, and its count of capabilities.
fn message(to: u64, what: (u8, u8, u8), buffer: Option<(u8, u8)>) -> Frame {
    let (tag, inline, handles) = what;
    let header = FrameHeader {
        kind: kind::MESSAGE,
        tag: u16::from(tag % 6),
        inline_len: inline % 70,
        handle_count: handles % 6,
        flags: u8::from(buffer.is_some()),
    };
    let mut rest = vec![to];
    rest.resize(1 + usize::from(header.inline_len).div_ceil(8), 0x5a);
    rest.extend(buffer.map(|(index, length)| u64::from(index % 8) | u64::from(length) << 32));
    Frame::new(header, &rest)
}

/// Whether so many bytes at a packed place lie in a peer's exchange heap.
fn within(place: u64, length: u64) -> bool {
    ((place & ((1 << 34) - 1)) << 6).saturating_add(length) <= HEAP as u64
}

/// A frame as the hostile peer makes it up: of the shape that a correct kernel gives it, or of none.
#[derive(Arbitrary, Debug)]
pub enum Forged {
    /// A message: which, how many bytes of arguments, how many capabilities, a pool buffer and its length.
    Message(To, u8, u8, u8, Option<(u8, u8)>),
    /// A block in some place of the next message: its loan, where it lies.
    Block(To, u8, Word, Extent),
    /// An endpoint in some place of the next message: which side, its peer, its state, whether of the contract.
    Endpoint(To, u8, bool, Word, u8, bool),
    /// The other side of an endpoint.
    Opened(To, Word),
    /// The peer is done with a loan.
    LoanReturned(Word),
    /// Messages were taken.
    Credit(To, Word),
    /// A channel is over.
    Close(To, Reason),
    /// A pool: where it lies, its stride and count, its loan.
    Pool(To, Extent, Word),
    /// A pool's buffer is free.
    BufferReturned(To, Word),
    /// Another header word, and other words.
    Other(u64, Vec<Word>),
    /// Some kind, and words that do not fit it.
    Shapeless(u8, Vec<Word>),
}

/// Whom a frame is for.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum To {
    /// One of the kernel's ends of its channels to this peer.
    End(u8),
    /// Anybody.
    Word(Word),
}

/// A part of the peer's exchange heap.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Extent {
    /// At some page, of so many pieces with so many lines: a block, or a pool's buffers.
    Within(u8, u8, u8),
    /// A place and a pool's stride and count, which may be anything.
    Words(Word, Word),
}

/// Why a channel is over.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Reason {
    /// The code of an error, or of none.
    Code(u8),
    /// Anything.
    Word(Word),
}

/// A word of a forged frame: often one that means something.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Word {
    /// One of the kernel's ends of its channels to this peer.
    End(u8),
    /// A small number.
    Small(u8),
    /// An id of a channel or of a loan.
    Id { index: u8, generation: u8 },
    /// A word of a frame that the kernel has sent.
    Seen { frame: u8, word: u8 },
    /// A place in an exchange heap.
    Place { line: u16, length: u32 },
    /// A pool's stride and count.
    Shape { lines: u8, count: u8 },
    /// Anything.
    Raw(u64),
}

/// One link, as its peer sees it.
pub struct Wire {
    /// The digest of the contract that all channels have, in words.
    contract: [u64; 4],
    to_kernel: Mutex<VecDeque<Frame>>,
    from_kernel: Mutex<Vec<Vec<u64>>>,
    tally: Mutex<Tally>,
    cut: AtomicBool,
}

/// What has gone over a wire.
#[derive(Default)]
struct Tally {
    /// The kernel has sent so many messages.
    messages: u64,
    /// It has been given so many credits for each of its ends.
    credits: BTreeMap<u64, u64>,
    /// It has been told of so many pools for each of its ends.
    pools: BTreeMap<u64, u64>,
    /// Ends that may be closed by now.
    closed: BTreeSet<u64>,
    /// It has closed an end, but nobody knows which.
    closes: bool,
    /// A frame that no kernel may let pass has come.
    wrong: bool,
}

impl Wire {
    /// A link of the kernel to `peer`, which knows the contract.
    pub fn new(peer: KernelId, contract: &Table) -> (Arc<Wire>, LinkParts) {
        let digest = contract.digest().0;
        let word = |at: usize| {
            let bytes = digest[8 * at..8 * at + 8].iter().rev();
            bytes.fold(0, |word, &byte| word << 8 | u64::from(byte))
        };
        let wire = Arc::new(Wire {
            contract: [0, 1, 2, 3].map(word),
            to_kernel: Mutex::default(),
            from_kernel: Mutex::default(),
            tally: Mutex::default(),
            cut: AtomicBool::new(false),
        });
        let parts = LinkParts {
            kernel: peer,
            generation: 1,
            sender: Box::new(End(wire.clone())),
            receiver: Box::new(End(wire.clone())),
            doorbell: Box::new(Mute),
            heap: Region::from_heap(HEAP),
        };
        (wire, parts)
    }

    /// Sends a frame to the kernel.
    pub fn put(&self, frame: Frame) {
        lock(&self.to_kernel).push_back(frame);
    }

    /// The link was reset: the kernel looks at it no more.
    pub fn cut(&self) {
        self.cut.store(true, Ordering::Relaxed);
    }

    /// Whether the kernel has taken a frame that it may not let pass.
    pub fn is_wrong(&self) -> bool {
        let tally = lock(&self.tally);
        let more = |counts: &BTreeMap<u64, u64>, most: u64| {
            let mut open = counts.iter().filter(|(end, _)| !tally.closed.contains(end));
            open.any(|(_, count)| *count > most)
        };
        let lavish = more(&tally.credits, tally.messages) || more(&tally.pools, 1);
        tally.wrong || lavish && !tally.closes
    }

    /// The kernel takes a frame.
    fn taken(&self, frame: &Frame) {
        let mut tally = lock(&self.tally);
        tally.wrong |= frame.is_nonsense();
        match (frame.kind(), frame.words()) {
            (kind::CREDIT, &[_, end, count, ..]) if frame.meant => {
                let sum = tally.credits.entry(end).or_default();
                *sum = sum.saturating_add(count);
            }
            (kind::POOL, &[_, end, _, _, _, ..]) if frame.meant => {
                *tally.pools.entry(end).or_default() += 1;
            }
            (kind::CLOSE, &[_, end, ..]) => drop(tally.closed.insert(end)),
            _ => {}
        }
    }

    /// What a forged frame is in words. `ends` are the kernel's ends of its channels to this peer.
    pub fn forge(&self, forged: &Forged, ends: &[ChannelId]) -> Frame {
        let mut frame = self.shape(forged, ends);
        frame.meant = ends.iter().any(|end| end.0.pack() == frame.words[1]);
        frame
    }

    fn shape(&self, forged: &Forged, ends: &[ChannelId]) -> Frame {
        let word = |word: &Word| self.word(*word, ends);
        let whom = |to: &To| match *to {
            To::End(index) => self.word(Word::End(index), ends),
            To::Word(word) => self.word(word, ends),
        };
        let frame = |kind, position, rest: &[u64]| {
            let handle_count = position % 6;
            let header = FrameHeader {
                kind,
                handle_count,
                ..FrameHeader::default()
            };
            Frame::new(header, rest)
        };
        match forged {
            Forged::Message(to, tag, inline, handles, buffer) => {
                message(whom(to), (*tag, *inline, *handles), *buffer)
            }
            Forged::Block(to, position, loan, extent) => {
                let (place, _) = self.extent(*extent, ends);
                frame(kind::BLOCK, *position, &[whom(to), word(loan), place])
            }
            Forged::Endpoint(to, position, service, peer, state, known) => {
                let [a, b, c, d] = if *known { self.contract } else { [7; 4] };
                let rest = [whom(to), word(peer), u64::from(state % 4), a, b, c, d];
                let mut frame = frame(kind::ENDPOINT, *position, &rest);
                frame.words[0] |= u64::from(*service) << 16;
                frame
            }
            Forged::Opened(to, peer) => frame(kind::OPENED, 0, &[whom(to), word(peer)]),
            Forged::LoanReturned(loan) => frame(kind::LOAN_RETURNED, 0, &[word(loan)]),
            Forged::Credit(to, count) => frame(kind::CREDIT, 0, &[whom(to), word(count)]),
            Forged::Close(to, Reason::Code(code)) => frame(kind::CLOSE, 0, &[whom(to), u64::from(code % 20)]),
            Forged::Close(to, Reason::Word(reason)) => frame(kind::CLOSE, 0, &[whom(to), word(reason)]),
            Forged::Pool(to, extent, loan) => {
                let (place, shape) = self.extent(*extent, ends);
                frame(kind::POOL, 0, &[whom(to), place, shape, word(loan)])
            }
            Forged::BufferReturned(to, index) => frame(kind::BUFFER_RETURNED, 0, &[whom(to), word(index)]),
            Forged::Other(header, words) => {
                let mut frame = frame(0, 0, &words.iter().map(word).collect::<Vec<_>>());
                frame.words[0] |= header & !0xff;
                frame
            }
            Forged::Shapeless(kind, words) => {
                frame(kind % 11, 0, &words.iter().map(word).collect::<Vec<_>>())
            }
        }
    }

    /// Place and shape.
    fn extent(&self, extent: Extent, ends: &[ChannelId]) -> (u64, u64) {
        match extent {
            Extent::Within(page, lines, count) => {
                let stride = (1 + u64::from(lines % 4)) << 6;
                let count = 1 + u64::from(count % 4);
                // Few do not begin at a page.
                let line = u64::from(page % 16) << 6 | u64::from(page / 240);
                (line | (stride * count) << 34, stride | count << 32)
            }
            Extent::Words(place, shape) => (self.word(place, ends), self.word(shape, ends)),
        }
    }

    fn word(&self, word: Word, ends: &[ChannelId]) -> u64 {
        match word {
            Word::End(index) => {
                let end = ends.get(usize::from(index) % ends.len().max(1));
                end.map_or(0, |end| end.0.pack())
            }
            Word::Small(number) => u64::from(number),
            Word::Id { index, generation } => {
                let (index, generation) = (u32::from(index % 16), u32::from(generation % 4));
                Slot { index, generation }.pack()
            }
            Word::Seen { frame, word } => {
                let seen = lock(&self.from_kernel);
                let frame = seen.get(usize::from(frame) % seen.len().max(1));
                frame.map_or(0, |frame| frame[usize::from(word) % frame.len()])
            }
            Word::Place { line, length } => u64::from(line) | u64::from(length) << 34,
            Word::Shape { lines, count } => u64::from(lines) << 6 | u64::from(count) << 32,
            Word::Raw(word) => word,
        }
    }

    /// Whether the kernel has sent an answer over the honest peer's channel.
    pub fn was_answered(&self) -> bool {
        lock(&self.from_kernel).iter().any(|frame| {
            let header = FrameHeader::unpack(frame[0]);
            header.is_ok_and(|header| header.kind == kind::MESSAGE && header.tag == ANSWER)
                && frame.get(1) == Some(&HONEST_CHANNEL.0.pack())
        })
    }
}

/// The kernel's side of a wire.
struct End(Arc<Wire>);

impl FrameSender for End {
    fn send(&mut self, frame: &[u64]) -> Result<(), Full> {
        assert!(
            (1..=FRAME_WORDS_MAX).contains(&frame.len()),
            "the ring would panic"
        );
        let kind = (frame[0] >> 8) as u8;
        let mut tally = lock(&self.0.tally);
        tally.messages += u64::from(kind == kind::MESSAGE);
        tally.closes |= kind == kind::CLOSE;
        let mut sent = lock(&self.0.from_kernel);
        if sent.len() < MEMORY {
            sent.push(frame.to_vec());
        }
        Ok(())
    }

    fn has_unconsumed(&mut self) -> bool {
        false
    }
}

impl FrameReceiver for End {
    fn receive(&mut self, into: &mut satrap_link::Frame) -> Result<bool, Garbage> {
        assert!(
            !self.0.cut.load(Ordering::Relaxed),
            "a link that was reset is read on"
        );
        let next = lock(&self.0.to_kernel).pop_front();
        if let Some(frame) = &next {
            self.0.taken(frame);
            *into.array_mut() = frame.words;
        }
        Ok(next.is_some())
    }

    fn is_empty(&self) -> bool {
        lock(&self.0.to_kernel).is_empty()
    }

    fn acknowledge(&mut self) {}
}

struct Mute;

impl Doorbell for Mute {
    fn notify(&self) {}

    fn repeat(&self) {}
}

/// One thread runs all of it.
pub fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().expect("nobody panics with the lock held")
}

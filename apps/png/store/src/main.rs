//! The store, at `/png/store`: remembers the newest pictures, as far as its memory goes.
//!
//! One loop for all clients. Neighbours: `memory` is the bound, `front` the client.

#![forbid(unsafe_code)]

mod memory;

use satrap::{Error, Source, eprintln};
use store::Entry;
use store::service::{Start, StartMessage};

use memory::Memory;
use types::{ColorType, Picture};

satrap::contract!("../png.wit");
satrap::main!(main);

/// Bytes of histograms and thumbnails that are kept.
const KEPT_MAX: usize = 32 << 20;
/// Longest list that is given, whatever is asked for.
const LIST_MAX: u32 = 1000;

fn main() -> Result<(), Error> {
    let service = store::Service::register("/png/store")?;
    let mut memory = Memory::new(KEPT_MAX);
    let mut clients: Vec<Start> = Vec::new();
    loop {
        match ready(&service, &clients)? {
            None => clients.push(service.accept()?),
            Some(index) => {
                // Who was served goes to the end of the queue.
                match serve(clients.remove(index), &mut memory) {
                    Ok(client) => clients.push(client),
                    Err(error) if error.is_closed() => {}
                    Err(error) => eprintln!("a client is dropped: {error}"),
                }
            }
        }
    }
}

/// Waits for a new client (`None`) or for a question of one that is there.
fn ready(service: &store::Service, clients: &[Start]) -> Result<Option<usize>, Error> {
    let mut sources: Vec<&dyn Source> = vec![service.service()];
    sources.extend(clients.iter().map(|client| client.endpoint() as &dyn Source));
    Ok(satrap::wait(&sources)?.checked_sub(1))
}

fn serve(client: Start, memory: &mut Memory<Kept>) -> Result<Start, Error> {
    match client.recv()? {
        StartMessage::Keep { picture, next } => {
            let kept = Kept::new(picture)?;
            let digest = kept.digest.clone();
            next.send_kept(memory.keep(&digest, kept.bytes_kept(), kept))
        }
        StartMessage::Recent { limit, next } => {
            let newest = memory.recent().take(limit.min(LIST_MAX) as usize);
            let entries: Vec<Entry> = newest.map(|(id, kept)| kept.entry(id)).collect();
            next.send_listed(&entries)
        }
        StartMessage::Find { id, next } => match memory.find(id) {
            Some(kept) => next.send_found(&kept.picture()),
            None => next.send_unknown(),
        },
    }
}

/// A picture, its bytes in this process's own memory: what came in blocks would count against the limits of
/// the exchange heap for as long as it is kept.
struct Kept {
    width: u32,
    height: u32,
    color: ColorType,
    bit_depth: u8,
    interlaced: bool,
    bytes: u32,
    digest: Vec<u8>,
    histogram: Vec<u32>,
    thumbnail: Vec<u8>,
}

impl Kept {
    fn new(picture: Picture) -> Result<Kept, Error> {
        let Picture {
            width,
            height,
            color,
            bit_depth,
            interlaced,
            bytes,
            digest,
            histogram,
            thumbnail,
        } = picture;
        let (digest, thumbnail) = (digest.into_vec()?, thumbnail.into_vec()?);
        Ok(Kept {
            width,
            height,
            color,
            bit_depth,
            interlaced,
            bytes,
            digest,
            histogram,
            thumbnail,
        })
    }

    fn bytes_kept(&self) -> usize {
        size_of::<Kept>() + self.digest.len() + 4 * self.histogram.len() + self.thumbnail.len()
    }

    fn entry(&self, id: u64) -> Entry {
        let (width, height, color, bytes) = (self.width, self.height, self.color, self.bytes);
        Entry {
            id,
            width,
            height,
            color,
            bytes,
            digest: self.digest[..].into(),
        }
    }

    fn picture(&self) -> Picture {
        Picture {
            width: self.width,
            height: self.height,
            color: self.color,
            bit_depth: self.bit_depth,
            interlaced: self.interlaced,
            bytes: self.bytes,
            digest: self.digest[..].into(),
            histogram: self.histogram.clone(),
            thumbnail: self.thumbnail[..].into(),
        }
    }
}

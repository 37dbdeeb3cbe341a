//! A bounded memory of results: the oldest make room for the new.
//!
//! It knows nothing of pictures, only what each thing weighs. Neighbour: `main` keeps pictures in it.

use std::collections::VecDeque;

/// Keeps things under numbers that are never used twice. A thing with the digest of one that is still kept is
/// the same thing and keeps its number.
#[derive(Debug)]
pub struct Memory<T> {
    kept: VecDeque<Kept<T>>,
    next_id: u64,
    bytes: usize,
    bytes_max: usize,
}

#[derive(Debug)]
struct Kept<T> {
    id: u64,
    digest: Vec<u8>,
    bytes: usize,
    thing: T,
}

impl<T> Memory<T> {
    /// A memory that keeps things of so many bytes together.
    pub fn new(bytes_max: usize) -> Memory<T> {
        Memory {
            kept: VecDeque::new(),
            next_id: 1,
            bytes: 0,
            bytes_max,
        }
    }

    /// Keeps a thing that takes `bytes`, and returns its number. The newest is always kept, even if it alone
    /// is larger than the bound.
    pub fn keep(&mut self, digest: &[u8], bytes: usize, thing: T) -> u64 {
        if let Some(same) = self.kept.iter().find(|kept| kept.digest == digest) {
            return same.id;
        }
        let id = self.next_id;
        self.next_id += 1;
        self.bytes += bytes;
        self.kept.push_back(Kept {
            id,
            digest: digest.to_vec(),
            bytes,
            thing,
        });
        while self.bytes > self.bytes_max && self.kept.len() > 1 {
            let oldest = self.kept.pop_front().map_or(0, |kept| kept.bytes);
            self.bytes -= oldest;
        }
        id
    }

    /// The thing with this number, if it is still kept.
    pub fn find(&self, id: u64) -> Option<&T> {
        // Numbers only grow, so the queue is sorted by them.
        let place = self.kept.binary_search_by_key(&id, |kept| kept.id).ok()?;
        Some(&self.kept[place].thing)
    }

    /// What is kept, the newest first.
    pub fn recent(&self) -> impl Iterator<Item = (u64, &T)> {
        self.kept.iter().rev().map(|kept| (kept.id, &kept.thing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_make_room_and_their_numbers_are_not_used_again() {
        let mut memory = Memory::new(25);
        let ids: Vec<u64> = (0..4_u8)
            .map(|digest| memory.keep(&[digest], 10, digest))
            .collect();
        assert_eq!(ids, [1, 2, 3, 4]);
        assert_eq!(memory.recent().collect::<Vec<_>>(), [(4, &3), (3, &2)]);
        assert_eq!((memory.find(2), memory.find(3)), (None, Some(&2)));
    }

    #[test]
    fn the_same_digest_is_the_same_thing() {
        let mut memory = Memory::new(100);
        assert_eq!(
            memory.keep(b"same", 10, "first"),
            memory.keep(b"same", 10, "second")
        );
        assert_eq!(memory.recent().count(), 1);
    }

    #[test]
    fn one_thing_larger_than_the_bound_is_kept_until_the_next() {
        let mut memory = Memory::new(10);
        memory.keep(b"huge", 50, ());
        assert_eq!(memory.recent().count(), 1);
        memory.keep(b"small", 1, ());
        assert_eq!(memory.recent().map(|(id, ())| id).collect::<Vec<_>>(), [2]);
    }
}

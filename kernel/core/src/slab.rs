//! A table whose places carry generations: an old id never finds a new object (DESIGN §4).
//!
//! It has a limit, never moves what it holds, and gives a place out again only with the next generation.
//! Handles, threads, channels and loans are all slots of some slab.

use alloc::vec::Vec;
use satrap_abi::Slot;

/// Objects by [`Slot`].
pub(crate) struct Slab<T> {
    entries: Vec<Entry<T>>,
    free: Vec<u32>,
    limit: u32,
    len: u32,
}

struct Entry<T> {
    generation: u32,
    value: Option<T>,
}

impl<T> Slab<T> {
    /// An empty table for at most `limit` objects.
    pub(crate) fn new(limit: u32) -> Slab<T> {
        Slab {
            entries: Vec::new(),
            free: Vec::new(),
            limit,
            len: 0,
        }
    }

    /// How many objects there are.
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// Whether an insertion would be refused.
    pub(crate) fn is_full(&self) -> bool {
        self.len >= self.limit
    }

    /// Puts an object in, unless the table is full; then it comes back.
    pub(crate) fn insert(&mut self, value: T) -> Result<Slot, T> {
        if self.is_full() {
            return Err(value);
        }
        self.len += 1;
        if let Some(index) = self.free.pop() {
            let entry = &mut self.entries[index as usize];
            entry.value = Some(value);
            return Ok(Slot {
                index,
                generation: entry.generation,
            });
        }
        self.entries.push(Entry {
            generation: 1,
            value: Some(value),
        });
        Ok(Slot {
            index: self.entries.len() as u32 - 1,
            generation: 1,
        })
    }

    fn entry(&self, slot: Slot) -> Option<&Entry<T>> {
        self.entries
            .get(slot.index as usize)
            .filter(|entry| entry.generation == slot.generation)
    }

    /// The slot of what now stands at `index`.
    #[inline]
    pub(crate) fn current(&self, index: u32) -> Option<Slot> {
        let entry = self.entries.get(index as usize)?;
        entry.value.is_some().then_some(Slot {
            index,
            generation: entry.generation,
        })
    }

    /// What now stands at `index`, and its slot.
    #[inline(always)]
    pub(crate) fn at_mut(&mut self, index: u32) -> Option<(Slot, &mut T)> {
        let entry = self.entries.get_mut(index as usize)?;
        let generation = entry.generation;
        let slot = Slot { index, generation };
        entry.value.as_mut().map(|value| (slot, value))
    }

    /// The object, if it is still that one.
    #[inline]
    pub(crate) fn get(&self, slot: Slot) -> Option<&T> {
        self.entry(slot)?.value.as_ref()
    }

    /// Takes the object out; its slot is never valid again.
    pub(crate) fn remove(&mut self, slot: Slot) -> Option<T> {
        let entry = self
            .entries
            .get_mut(slot.index as usize)
            .filter(|e| e.generation == slot.generation)?;
        let value = entry.value.take()?;
        entry.generation = entry.generation.wrapping_add(1);
        self.free.push(slot.index);
        self.len -= 1;
        Some(value)
    }

    /// Takes the object out but keeps its place, until [`Slab::settle`] decides.
    pub(crate) fn lift(&mut self, slot: Slot) -> Option<T> {
        let entry = self
            .entries
            .get_mut(slot.index as usize)
            .filter(|e| e.generation == slot.generation)?;
        entry.value.take()
    }

    /// After [`Slab::lift`]: the object comes back under its old slot, or is gone for good.
    pub(crate) fn settle(&mut self, slot: Slot, value: Option<T>) {
        let entry = &mut self.entries[slot.index as usize];
        entry.value = value;
        if entry.value.is_none() {
            entry.generation = entry.generation.wrapping_add(1);
            self.free.push(slot.index);
            self.len -= 1;
        }
    }

    /// Every object with its slot.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Slot, &T)> {
        self.entries.iter().enumerate().filter_map(|(index, entry)| {
            let slot = Slot {
                index: index as u32,
                generation: entry.generation,
            };
            entry.value.as_ref().map(|value| (slot, value))
        })
    }

    /// Takes every object out that `gone` names.
    pub(crate) fn drain_where(&mut self, mut gone: impl FnMut(&T) -> bool) -> Vec<T> {
        let slots: Vec<Slot> = self
            .iter()
            .filter(|(_, value)| gone(value))
            .map(|(slot, _)| slot)
            .collect();
        slots.into_iter().filter_map(|slot| self.remove(slot)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_slot_never_finds_a_new_object() {
        let mut slab = Slab::new(4);
        let old = slab.insert('a').unwrap();
        assert_eq!(slab.remove(old), Some('a'));
        let new = slab.insert('b').unwrap();
        assert_eq!(old.index, new.index);
        assert_eq!(slab.get(old), None);
        assert_eq!(slab.get(new), Some(&'b'));
        assert_eq!(slab.remove(old), None);
    }

    #[test]
    fn a_full_table_gives_the_object_back() {
        let mut slab = Slab::new(1);
        slab.insert(1).unwrap();
        assert_eq!(slab.insert(2), Err(2));
    }
}

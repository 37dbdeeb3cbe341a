//! A bounded journal: what was written last, each with its place in the order, for readers of any speed.
//!
//! Writers never wait and memory never grows: a reader that falls behind misses the oldest. Used for events and
//! for the console output of each process; `record` tells a reader how much it missed.

use std::collections::VecDeque;

/// Place in the order of everything written.
pub type Sequence = u64;

/// A ring of records with a bounded weight.
#[derive(Debug)]
pub struct Journal<T> {
    records: VecDeque<Record<T>>,
    weight: usize,
    weight_max: usize,
}

#[derive(Debug)]
struct Record<T> {
    sequence: Sequence,
    weight: usize,
    value: T,
}

impl<T> Journal<T> {
    /// An empty journal which holds records up to that weight in all.
    pub fn new(weight_max: usize) -> Journal<T> {
        Journal {
            records: VecDeque::new(),
            weight: 0,
            weight_max,
        }
    }

    /// Changes how much is held.
    pub fn set_weight_max(&mut self, weight_max: usize) {
        self.weight_max = weight_max;
        self.trim();
    }

    /// Writes a record. Sequences must rise from one call to the next.
    pub fn push(&mut self, sequence: Sequence, weight: usize, value: T) {
        self.records.push_back(Record {
            sequence,
            weight,
            value,
        });
        self.weight += weight;
        self.trim();
    }

    /// Records after `cursor`, oldest first, each with its sequence.
    pub fn after(&self, cursor: Option<Sequence>) -> impl Iterator<Item = (Sequence, &T)> {
        let first = self
            .records
            .partition_point(|record| cursor.is_some_and(|cursor| record.sequence <= cursor));
        self.records
            .range(first..)
            .map(|record| (record.sequence, &record.value))
    }

    fn trim(&mut self) {
        // The newest record always stays, so that one large record is seen by a reader who is awake.
        while self.weight > self.weight_max && self.records.len() > 1 {
            if let Some(record) = self.records.pop_front() {
                self.weight -= record.weight;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_sees_what_came_after_its_cursor() {
        let mut journal = Journal::new(100);
        for sequence in [1, 4, 9] {
            journal.push(sequence, 10, sequence);
        }
        let read = |cursor| journal.after(cursor).map(|(_, value)| *value).collect::<Vec<_>>();
        assert_eq!(read(None), [1, 4, 9]);
        assert_eq!(read(Some(4)), [9]);
        assert_eq!(read(Some(5)), [9]);
        assert_eq!(read(Some(9)), [0u64; 0]);
    }

    #[test]
    fn the_oldest_records_go_when_the_weight_is_reached() {
        let mut journal = Journal::new(25);
        for sequence in 0..5 {
            journal.push(sequence, 10, ());
        }
        let kept: Vec<_> = journal.after(None).map(|(sequence, ())| sequence).collect();
        assert_eq!(kept, [3, 4]);
    }

    #[test]
    fn one_record_over_the_limit_is_kept_until_the_next() {
        let mut journal = Journal::new(5);
        journal.push(1, 50, 'a');
        assert_eq!(journal.after(None).count(), 1);
        journal.push(2, 1, 'b');
        assert_eq!(
            journal.after(None).map(|(_, value)| *value).collect::<String>(),
            "b"
        );
    }
}

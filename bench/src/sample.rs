//! Measuring two sides fairly: in turns, so that whatever the machine does meanwhile falls on both.
//!
//! Medians, because one preemption by the host would spoil a mean; the spread is half the distance between the
//! quartiles, relative to the median.

use crate::failure::Result;
use std::time::Instant;

/// As many as the guests have.
const BATCHES: u64 = 256;

/// What one side measured, round by round.
#[derive(Clone, Debug, Default)]
pub struct Samples(Vec<f64>);

impl Samples {
    /// Adds one.
    pub fn push(&mut self, value: f64) {
        self.0.push(value);
    }

    /// The median; 0 of nothing.
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// Half the distance between the quartiles, relative to the median.
    pub fn spread(&self) -> f64 {
        let median = self.median();
        if median == 0.0 {
            return 0.0;
        }
        (self.quantile(0.75) - self.quantile(0.25)) / 2.0 / median
    }

    /// Every value changed by `f`: to another unit, or from a time to a rate.
    pub fn map(&self, f: impl FnMut(f64) -> f64) -> Samples {
        Samples(self.0.iter().copied().map(f).collect())
    }

    /// Linear between neighbours.
    fn quantile(&self, part: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let Some(last) = sorted.len().checked_sub(1) else {
            return 0.0;
        };
        let at = part * last as f64;
        let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
        below + (above - below) * at.fract()
    }
}

/// One side of a comparison: measures once and returns the figure.
pub type Side<'a> = Box<dyn FnMut() -> Result<f64> + 'a>;

/// Takes `rounds` samples of each side in turns: A B A B. Each side's first figure is warm-up and dropped.
pub fn interleave<const N: usize>(rounds: usize, mut sides: [Side<'_>; N]) -> Result<[Samples; N]> {
    let mut samples = [const { Samples(Vec::new()) }; N];
    for round in 0..=rounds {
        for (side, samples) in sides.iter_mut().zip(&mut samples) {
            let figure = side()?;
            if round > 0 {
                samples.push(figure);
            }
        }
    }
    Ok(samples)
}

/// Nanoseconds for each of about `count` calls of `f` in the median batch, as the guests measure: where the
/// machine's host takes the core away, it spoils a batch and not the figure.
pub fn time_each(count: u64, mut f: impl FnMut()) -> f64 {
    let length = count.div_ceil(BATCHES).max(1);
    let mut batches = Samples::default();
    for _ in 0..count.div_ceil(length) {
        let start = Instant::now();
        (0..length).for_each(|_| f());
        batches.push(start.elapsed().as_nanos() as f64 / length as f64);
    }
    batches.median()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_lies_between_the_middle_two() {
        assert_eq!(Samples(vec![4.0, 1.0, 3.0, 2.0]).median(), 2.5);
        assert_eq!(Samples(vec![]).median(), 0.0);
    }

    #[test]
    fn one_outlier_does_not_move_the_spread() {
        assert_eq!(Samples(vec![10.0, 10.0, 10.0, 10.0, 900.0]).spread(), 0.0);
    }

    #[test]
    fn sides_take_turns_and_the_first_round_is_dropped() {
        let order = std::cell::RefCell::new(String::new());
        let side = |name: char| -> Side<'_> {
            let order = &order;
            Box::new(move || {
                order.borrow_mut().push(name);
                Ok(order.borrow().len() as f64)
            })
        };
        let [a, b] = interleave(2, [side('a'), side('b')]).unwrap();
        assert_eq!(*order.borrow(), "ababab");
        assert_eq!((a.median(), b.median()), (4.0, 5.0));
    }
}

//! One figure of the table, beside its baseline and its goal.
//!
//! A ratio is of two series taken in the same run, in turns. `sample.rs` makes the series, `report.rs` the
//! table and the JSON of figures.

use crate::sample::Samples;
use serde::Serialize;
use std::fmt;

/// What a figure must reach.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    /// Value over baseline, at most.
    RatioAtMost(f64),
    /// Value over baseline, at least.
    RatioAtLeast(f64),
    /// The value itself, at most, in the figure's unit.
    AtMost(f64),
    /// Nothing: the figure is there to explain others.
    None,
}

/// A figure of the table; its fields are the keys of `--json`.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// The bench.
    pub bench: &'static str,
    /// Which case of it.
    pub case: String,
    /// The median.
    pub value: f64,
    /// The unit of value and baseline.
    pub unit: &'static str,
    /// What the baseline is.
    pub baseline: String,
    /// The baseline's median.
    pub baseline_value: f64,
    /// Value over baseline.
    pub ratio: f64,
    /// The goal in words; none where there is none.
    pub goal: Option<String>,
    /// Whether it was reached; none where there is no goal.
    pub met: Option<bool>,
    /// Half the distance between the quartiles, relative to the median.
    pub spread: f64,
    /// The same of the baseline.
    pub baseline_spread: f64,
}

/// What a figure is about.
pub struct Subject {
    /// The bench.
    pub bench: &'static str,
    /// Which case of it.
    pub case: String,
    /// The unit of value and baseline.
    pub unit: &'static str,
    /// What the baseline is.
    pub baseline: String,
}

impl Subject {
    /// The figure that the samples give.
    pub fn figure(self, value: &Samples, baseline: &Samples, goal: Goal) -> Figure {
        let ratio = value.median() / baseline.median();
        Figure {
            bench: self.bench,
            case: self.case,
            value: value.median(),
            baseline: self.baseline,
            baseline_value: baseline.median(),
            ratio,
            goal: goal.words(self.unit),
            met: goal.met(value.median(), ratio),
            unit: self.unit,
            spread: value.spread(),
            baseline_spread: baseline.spread(),
        }
    }
}

impl Goal {
    fn met(self, value: f64, ratio: f64) -> Option<bool> {
        match self {
            Goal::RatioAtMost(most) => Some(ratio <= most),
            Goal::RatioAtLeast(least) => Some(ratio >= least),
            Goal::AtMost(most) => Some(value <= most),
            Goal::None => None,
        }
    }

    fn words(self, unit: &str) -> Option<String> {
        match self {
            Goal::RatioAtMost(most) if most < 1.0 => Some(format!("ratio <= 1/{}", Number(1.0 / most))),
            Goal::RatioAtMost(most) => Some(format!("ratio <= {}", Number(most))),
            Goal::RatioAtLeast(least) => Some(format!("ratio >= {}", Number(least))),
            Goal::AtMost(most) => Some(format!("<= {} {unit}", Number(most))),
            Goal::None => None,
        }
    }
}

/// A number with three significant digits and no more.
pub struct Number(pub f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.abs().max(1e-9).log10().floor();
        let decimals = (2.0 - magnitude).clamp(0.0, 6.0) as usize;
        let text = format!("{:.decimals$}", self.0);
        let text = match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.'),
            false => &text,
        };
        f.pad(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(value: f64, baseline: f64, goal: Goal) -> Figure {
        let samples = |value| {
            let mut samples = Samples::default();
            samples.push(value);
            samples
        };
        let subject = Subject {
            bench: "abi",
            case: "null".into(),
            unit: "ns",
            baseline: "getppid".into(),
        };
        subject.figure(&samples(value), &samples(baseline), goal)
    }

    #[test]
    fn a_goal_is_met_at_its_bound_and_missed_beyond() {
        assert_eq!(figure(4.0, 100.0, Goal::RatioAtMost(0.04)).met, Some(true));
        assert_eq!(figure(4.1, 100.0, Goal::RatioAtMost(0.04)).met, Some(false));
        assert_eq!(figure(7.0, 10.0, Goal::RatioAtLeast(0.7)).met, Some(true));
        assert_eq!(figure(51.0, 10.0, Goal::AtMost(50.0)).met, Some(false));
        assert_eq!(figure(51.0, 10.0, Goal::None).met, None);
    }

    #[test]
    fn goals_read_as_the_table_of_the_benches_states_them() {
        assert_eq!(
            Goal::RatioAtMost(1.0 / 25.0).words("ns").unwrap(),
            "ratio <= 1/25"
        );
        assert_eq!(Goal::AtMost(50.0).words("ms").unwrap(), "<= 50 ms");
    }

    #[test]
    fn numbers_keep_three_digits() {
        let text = |number: f64| Number(number).to_string();
        assert_eq!(text(0.012345), "0.0123");
        assert_eq!(text(3.8), "3.8");
        assert_eq!(text(123.4), "123");
        assert_eq!(text(51234.0), "51234");
        assert_eq!(text(0.0), "0");
    }
}

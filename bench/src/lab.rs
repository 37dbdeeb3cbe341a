//! What every bench is given: the cores, how thorough to be, where the guests are, and a voice.
//!
//! Sides that are compared take turns, so that a noisy neighbour hits both. Every file of `benches` works in
//! it; `system.rs` is the Satrap that it starts.

use crate::failure::{Failure, Result};
use crate::pin;
use crate::sample::{Samples, Side, interleave};
use crate::system::System;
use std::path::PathBuf;

/// The place where benches measure.
pub struct Lab {
    cores: Vec<usize>,
    quick: bool,
    guests: PathBuf,
}

impl Lab {
    /// Over the cores that this process may use and the guests of `SATRAP_GUESTS`.
    pub fn new(quick: bool) -> Result<Lab> {
        let guests = std::env::var_os("SATRAP_GUESTS").ok_or_else(|| {
            Failure::new("SATRAP_GUESTS must name the folder of the guests' .wasm files; ./x bench sets it")
        })?;
        Ok(Lab {
            cores: pin::cores()?,
            quick,
            guests: guests.into(),
        })
    }

    /// The core of what is measured on one core: the last, which the host disturbs least.
    pub fn core(&self) -> usize {
        // There is at least one, or `pin::cores` had failed.
        self.cores.last().copied().unwrap_or_default()
    }

    /// The cores of what is measured on two.
    pub fn pair(&self) -> Result<[usize; 2]> {
        match self.cores[..] {
            [first, second, ..] => Ok([first, second]),
            _ => Err(Failure::new("this bench needs two cores, and there is one")),
        }
    }

    /// One satellite on one core.
    pub fn one(&self) -> Result<System> {
        System::start(&[self.core()], 1, self.guests.clone())
    }

    /// Satellites that share two cores.
    pub fn on_pair(&self, satellites: usize) -> Result<System> {
        System::start(&self.pair()?, satellites, self.guests.clone())
    }

    /// Path of a guest.
    pub fn guest(&self, name: &str) -> PathBuf {
        self.guests.join(format!("{name}.wasm"))
    }

    /// How often to repeat within a round: `count`, or a part of it when quick.
    pub fn count(&self, count: u64) -> u64 {
        match self.quick {
            true => (count / 10).max(1),
            false => count,
        }
    }

    /// Measures the sides in turns, in as many rounds as this run has.
    pub fn compare<const N: usize>(&self, sides: [Side<'_>; N]) -> Result<[Samples; N]> {
        interleave(self.rounds(), sides)
    }

    /// How often `compare` calls each side.
    pub fn samples(&self) -> u64 {
        self.rounds() as u64 + 1
    }

    fn rounds(&self) -> usize {
        if self.quick { 3 } else { 9 }
    }
}

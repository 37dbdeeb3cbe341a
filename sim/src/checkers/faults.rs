//! Nobody finds fault: no kernel calls a peer's frames garbage while kernels and links are sound, no guest
//! panics.

use super::Checker;
use crate::facts::Fact;

/// The checker.
pub struct NoFaults;

impl Checker for NoFaults {
    fn name(&self) -> &'static str {
        "faults"
    }

    fn observe(&mut self, fact: &Fact) -> Result<(), String> {
        match fact {
            Fact::LinkFailed(at, from, reason) => {
                Err(format!("{at:?} has reset its link to {from:?}: {reason}"))
            }
            Fact::Panicked(process, text) => Err(format!("process {process} panicked: {text}")),
            _ => Ok(()),
        }
    }
}

//! The contracts of installed programs, so that a refused bind can be explained (DESIGN §5).
//!
//! It only explains; whether two contracts fit is decided by their digests alone.

use crate::install::{Contract, Program};
use satrap_abi::Digest;
use std::collections::BTreeMap;

/// Most contracts remembered; more are simply not explained.
pub const CONTRACTS_MAX: usize = 4096;

/// Contracts by digest.
#[derive(Default, Debug)]
pub struct ContractBook {
    known: BTreeMap<Digest, Contract>,
}

impl ContractBook {
    /// Remembers the contracts of a program.
    pub fn add(&mut self, program: &Program) {
        for contract in program.contracts() {
            if self.known.len() < CONTRACTS_MAX {
                self.known.insert(contract.digest, contract.clone());
            }
        }
    }

    /// The name of a contract.
    pub fn name(&self, digest: Digest) -> Option<&str> {
        self.known.get(&digest).map(|contract| contract.name.as_str())
    }

    /// Why the contract that a client imports and the one that a service exports do not fit.
    pub fn explain(&self, imported: Digest, exported: Digest) -> String {
        let (Some(client), Some(service)) = (self.known.get(&imported), self.known.get(&exported)) else {
            return format!("the client's contract is {imported:?}, the service's {exported:?}");
        };
        if client.name != service.name {
            return format!("the client speaks {}, the service {}", client.name, service.name);
        }
        let difference = satrap_table::first_difference(&client.text, &service.text);
        let difference = difference.unwrap_or_else(|| "their tables differ".into());
        format!(
            "both speak {}, but the client (one side) and the service (the other) differ: {difference}",
            client.name
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contract(name: &str, digest: u8, text: &str) -> Contract {
        Contract {
            name: name.into(),
            digest: Digest([digest; 32]),
            text: text.into(),
        }
    }

    fn book(contracts: [Contract; 2]) -> ContractBook {
        ContractBook {
            known: contracts.map(|contract| (contract.digest, contract)).into(),
        }
    }

    #[test]
    fn the_first_difference_of_two_versions_is_named() {
        let one = contract("mail", 1, "deliver(u64)\nquit()\n");
        let other = contract("mail", 2, "deliver(u32)\nquit()\n");
        let reason = book([one, other]).explain(Digest([1; 32]), Digest([2; 32]));
        assert!(
            reason.contains("deliver(u64)") && reason.contains("deliver(u32)"),
            "{reason}"
        );
    }

    #[test]
    fn two_different_contracts_are_told_by_name() {
        let reason =
            book([contract("mail", 1, ""), contract("png", 2, "")]).explain(Digest([1; 32]), Digest([2; 32]));
        assert_eq!(reason, "the client speaks mail, the service png");
    }
}

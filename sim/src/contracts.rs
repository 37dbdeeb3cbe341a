//! The contracts of the workload, from the same compiler as everybody's.
//!
//! They are compiled once, when first used, to the tables that real guests would carry. `contracts.wit` is
//! the text; the files of `workload` speak them.

use satrap_abi::Digest;
use satrap_table::encode_entry;
use std::sync::LazyLock;

/// A contract that guests use.
#[derive(Clone, Debug)]
pub struct Contract {
    /// Its identity.
    pub digest: Digest,
    messages: Vec<(String, usize)>,
}

/// All contracts of the workload.
pub struct Contracts {
    /// Question and answer.
    pub echo: Contract,
    /// Many messages one way.
    pub flow: Contract,
    /// Endpoints for others.
    pub broker: Contract,
    /// Conversations for others.
    pub heir: Contract,
    /// The custom section that a program which uses them all carries.
    pub section: Vec<u8>,
}

/// The contracts, compiled once.
pub static CONTRACTS: LazyLock<Contracts> = LazyLock::new(compile);

impl Contract {
    /// The tag of a message and the bytes of its fixed part.
    ///
    /// # Panics
    /// If the contract has no such message: a slip in the workload.
    pub fn message(&self, name: &str) -> (u16, usize) {
        let place = self.messages.iter().position(|(own, _)| own == name);
        let place = place.expect("the workload names messages of its contracts only");
        (place as u16, self.messages[place].1)
    }

    /// The name of the message with this tag.
    pub fn name(&self, tag: u16) -> &str {
        self.messages.get(usize::from(tag)).map_or("?", |(name, _)| name)
    }
}

fn compile() -> Contracts {
    let checked = satrap_contract::check("contracts.wit", include_str!("contracts.wit"));
    let package = checked
        .expect("the file beside this one is a valid contract")
        .package;
    let mut section = Vec::new();
    let mut contract = |name: &str| {
        let found = package.interfaces.iter().find(|interface| interface.name == name);
        let contract = found.and_then(|interface| interface.contract.as_ref());
        let contract = contract.expect("the file declares this contract");
        section.extend(encode_entry(&contract.table, &contract.text));
        let message = |message: &satrap_contract::Message| (message.name.clone(), message.fixed);
        Contract {
            digest: contract.digest,
            messages: contract.messages.iter().map(message).collect(),
        }
    };
    let (echo, flow) = (contract("echo"), contract("flow"));
    let (broker, heir) = (contract("broker"), contract("heir"));
    Contracts {
        echo,
        flow,
        broker,
        heir,
        section,
    }
}

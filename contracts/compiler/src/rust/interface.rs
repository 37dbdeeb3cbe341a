//! The module of one interface: its types, its contract, and its messages.
//!
//! `states.rs` beside it makes the states' types, `types.rs` the data types, `message.rs` what writes and reads
//! a message; the encoding that they call is `sdk/rust/src/wire.rs`.

use super::code::Code;
use super::names::{constant, field, pascal};
use super::{Generator, Scope};
use crate::model::{Contract, Interface, Message};
use satrap_table::encode_entry;

impl Generator<'_> {
    pub(super) fn interface(&self, code: &mut Code, interface: &Interface) {
        let scope = Scope {
            interface: &interface.name,
            prefix: "",
        };
        code.docs(&interface.docs);
        code.add("#[allow(dead_code, missing_docs, unused_imports, unused_variables, clippy::all)]");
        code.add(format!("pub mod {} {{", field(&interface.name)));
        code.add(format!("use {};\n\n", self.options.runtime));
        for decl in self
            .package
            .types
            .iter()
            .filter(|decl| decl.interface == interface.name)
        {
            self.declaration(code, decl);
        }
        if let Some(contract) = &interface.contract {
            identity(code, contract);
            listener(code, contract);
            for (tag, message) in contract.messages.iter().enumerate() {
                self.message(code, tag, message, scope);
            }
            self.sides(code, contract, &interface.name);
        }
        code.add("}\n\n");
    }

    fn message(&self, code: &mut Code, tag: usize, message: &Message, scope: Scope<'_>) {
        let label = constant(&message.name);
        code.add(format!(
            "/// Tag of the message `{}`.\nconst {label}: u16 = {tag};\n\n",
            message.name
        ));
        self.assert_layouts(
            code,
            message.parameters.iter().map(|parameter| &parameter.ty),
            scope,
        );
        self.encoding(code, message, scope);
    }
}

/// The contract's name, its digest, and the section by which the kernel learns its table.
fn identity(code: &mut Code, contract: &Contract) {
    let entry = encode_entry(&contract.table, &contract.text);
    code.add(format!(
        "/// The contract's name.\npub const NAME: &str = {:?};\n\n",
        contract.name
    ));
    code.add("/// What both sides must agree on: hash of the contract's table and text.");
    code.add(format!(
        "pub const DIGEST: [u8; 32] = {:?};\n\n",
        contract.digest.0
    ));
    code.add("/// The contract's entry in the section from which the kernel takes its table.");
    code.add(format!(
        "pub const ENTRY: [u8; {}] = *b\"{}\";\n\n",
        entry.len(),
        entry.escape_ascii()
    ));
    code.add("#[cfg(target_arch = \"wasm32\")]\n#[used]\n#[unsafe(link_section = \"satrap.contract\")]");
    code.add(format!("static SECTION: [u8; {}] = ENTRY;\n\n", entry.len()));
}

/// What a service listens with, and the shorthand for both ends at once.
fn listener(code: &mut Code, contract: &Contract) {
    let start = pascal(&contract.states[0].name);
    code.add(format!(
        "/// The client's end of a new channel.\npub type Client = client::{start};\n\n\
         /// A registered name of this contract, where clients arrive.\n#[derive(Debug)]\n\
         pub struct Service(satrap::Service);\n\n\
         impl Service {{\n\
         /// Registers an absolute path. The name vanishes when this is dropped.\n\
         pub fn register(path: &str) -> Result<Service, satrap::Error> {{\n\
         satrap::Service::register(path, &DIGEST).map(Service)\n}}\n\n\
         /// Waits for the next client.\n\
         pub fn accept(&self) -> Result<service::{start}, satrap::Error> {{\n\
         self.0.accept().map(service::{start}::from)\n}}\n\n\
         /// [`Service::accept`] with a deadline; see [`satrap::Error::is_late`].\n\
         pub fn accept_until(&self, deadline: u64) -> Result<service::{start}, satrap::Error> {{\n\
         self.0.accept_until(deadline).map(service::{start}::from)\n}}\n\n\
         /// The untyped service, to wait on.\n\
         pub fn service(&self) -> &satrap::Service {{\n&self.0\n}}\n}}\n\n\
         /// Both ends of a new channel.\n\
         pub fn channel() -> Result<(client::{start}, service::{start}), satrap::Error> {{\n\
         let (client_, service_) = satrap::channel(&DIGEST)?;\n\
         Ok((client_.into(), service_.into()))\n}}\n\n"
    ));
}

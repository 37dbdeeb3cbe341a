//! The contract compiler: WIT with a protocol, its checks and its code generator (DESIGN §5).
//!
//! A contract is a WIT interface whose functions are the messages, with the protocol in its documentation
//! comment. [`check()`] reads and checks a file and makes each contract's canonical text, table and digest;
//! [`generate`] adds the Rust code. Principles: several errors at once, each at its line and column; one
//! normal form, so that only differences that matter change a digest. Neighbours: `contracts/table` (the
//! table's format), `sdk/rust/src/wire.rs` (what generated code calls), `sdk/macros` (`contract!`).
//! Blocks, pool buffers and endpoints are resources of `contracts/channel.wit`.

#![forbid(unsafe_code)]

mod canonical;
mod check;
mod diagnostic;
mod model;
mod protocol;
mod resolve;
mod rust;
mod shape;
mod source;
mod state;

pub use diagnostic::{Diagnostic, Severity};
pub use model::{
    Case, Contract, EndpointRole, Field, Interface, Layout, Message, Package, Parameter, Shape, State,
    Target, Transition, Type, TypeBody, TypeDecl,
};
pub use rust::Options;

/// The WIT file that declares `block`, `buffer` and `endpoint`; it is always there to be `use`d.
pub const CHANNEL_WIT: &str = include_str!("../../channel.wit");

/// A file that passed its checks.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Its interfaces, with table and text of each contract.
    pub package: Package,
    /// What is allowed but probably a mistake.
    pub warnings: Vec<Diagnostic>,
}

/// The code for a file.
#[derive(Clone, Debug)]
pub struct Generated {
    /// Rust: a module for each interface.
    pub rust: String,
    /// The file's interfaces, with table and text of each contract.
    pub package: Package,
    /// What is allowed but probably a mistake.
    pub warnings: Vec<Diagnostic>,
}

/// Reads and checks a WIT file. `source_name` appears in diagnostics only; nothing is read from disk.
///
/// # Errors
///
/// Everything that is wrong with it, in the order of the file, warnings included.
pub fn check(source_name: &str, text: &str) -> Result<Checked, Vec<Diagnostic>> {
    check::check(source_name, text)
}

/// Checks a WIT file and generates Rust that links the crate `satrap`.
///
/// # Errors
///
/// Everything that is wrong with it, in the order of the file, warnings included.
pub fn generate(source_name: &str, text: &str) -> Result<Generated, Vec<Diagnostic>> {
    generate_with(source_name, text, &Options::default())
}

/// [`generate`] with options.
///
/// # Errors
///
/// As [`generate`].
pub fn generate_with(source_name: &str, text: &str, options: &Options) -> Result<Generated, Vec<Diagnostic>> {
    let Checked { package, warnings } = check(source_name, text)?;
    let rust = rust::generate(source_name, text, &package, options)?;
    Ok(Generated {
        rust,
        package,
        warnings,
    })
}

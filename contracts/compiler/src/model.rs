//! A checked contract: what the canonical text, the table and the generated code are made from.
//!
//! Plain data. Aliases are resolved, messages are sorted by name (a message's place is its tag), states are
//! in the order in which they are reached from the start.

use satrap_abi::Digest;
use satrap_table::{MessageRule, Side};

/// A WIT package: one file.
#[derive(Clone, Debug)]
pub struct Package {
    /// As in `satrap:mail@1.0.0`.
    pub name: String,
    /// Its interfaces, in the order of the file.
    pub interfaces: Vec<Interface>,
    /// The types that they declare; a type comes after those that it is made of.
    pub types: Vec<TypeDecl>,
}

/// A WIT interface: a contract, or only types for others.
#[derive(Clone, Debug)]
pub struct Interface {
    /// Name within the package.
    pub name: String,
    /// Its documentation without the protocol.
    pub docs: String,
    /// Its contract, if it has messages.
    pub contract: Option<Contract>,
}

/// Messages and their order.
#[derive(Clone, Debug)]
pub struct Contract {
    /// As in `satrap:mail/store@1.0.0`.
    pub name: String,
    /// By name; the place is the tag.
    pub messages: Vec<Message>,
    /// The start first.
    pub states: Vec<State>,
    /// The normal form that is hashed and compared.
    pub text: String,
    /// What the kernel enforces, with the digest of `text`.
    pub table: Vec<u8>,
    /// Digest of `table`: the identity of the contract.
    pub digest: Digest,
}

/// A message: a function of the interface.
#[derive(Clone, Debug)]
pub struct Message {
    /// Name of the function.
    pub name: String,
    /// Its documentation.
    pub docs: String,
    /// What it carries.
    pub parameters: Vec<Parameter>,
    /// Bytes of the fixed part.
    pub fixed: usize,
    /// What the kernel allows it to carry.
    pub rule: MessageRule,
    /// How many of its byte lists may travel in blocks of their own.
    pub byte_blocks: u8,
}

/// A parameter of a message.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Where it stands in the fixed part; a pool buffer stands nowhere and has 0.
    pub offset: usize,
}

/// A state: one side sends, the other waits.
#[derive(Clone, Debug)]
pub struct State {
    /// Its name.
    pub name: String,
    /// The side that sends.
    pub sender: Side,
    /// What it may send, by message name.
    pub transitions: Vec<Transition>,
}

/// A message of a state and what follows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transition {
    /// Place in [`Contract::messages`].
    pub message: usize,
    /// What follows.
    pub target: Target,
}

/// Where a conversation goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// Place in [`Contract::states`].
    State(usize),
    /// It is over.
    End,
}

/// Which end of another channel travels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EndpointRole {
    /// The client's.
    Client,
    /// The service's.
    Service,
}

/// A type of the wire.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Type {
    /// `bool`
    Bool,
    /// `u8`
    U8,
    /// `u16`
    U16,
    /// `u32`
    U32,
    /// `u64`
    U64,
    /// `s8`
    S8,
    /// `s16`
    S16,
    /// `s32`
    S32,
    /// `s64`
    S64,
    /// `f32`
    F32,
    /// `f64`
    F64,
    /// `char`
    Char,
    /// `string`
    String,
    /// `list<u8>`, which may travel in a block of its own.
    Bytes,
    /// Any other `list<T>`.
    List(Box<Type>),
    /// `option<T>`
    Option(Box<Type>),
    /// `result<T, E>`; a side that is missing is the empty tuple.
    Result(Box<Type>, Box<Type>),
    /// `tuple<...>`
    Tuple(Vec<Type>),
    /// Place in [`Package::types`].
    Named(usize),
    /// `block`
    Block,
    /// `buffer`
    Buffer,
    /// `endpoint`, of a contract if the alias names one: an interface of this package, or a full name.
    Endpoint(Option<(EndpointRole, String)>),
}

/// A named type.
#[derive(Clone, Debug)]
pub struct TypeDecl {
    /// The interface that declares it.
    pub interface: String,
    /// Its name.
    pub name: String,
    /// Its documentation.
    pub docs: String,
    /// What it is.
    pub body: TypeBody,
    /// Its size and what it holds.
    pub shape: Shape,
}

/// What a named type is.
#[derive(Clone, Debug)]
pub enum TypeBody {
    /// Named fields.
    Record(Vec<Field>),
    /// One of several cases, of which some have a payload.
    Variant(Vec<Case>),
    /// One of several names.
    Enum(Vec<Case>),
    /// Any of up to 32 names.
    Flags(Vec<Case>),
}

/// A field of a record.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its documentation.
    pub docs: String,
    /// Its type.
    pub ty: Type,
    /// Where it stands in the record.
    pub offset: usize,
}

/// A case of a variant, an enum or a flags type.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// Its documentation.
    pub docs: String,
    /// Its payload, in variants only.
    pub ty: Option<Type>,
}

/// Size and alignment in bytes, as the component model's canonical layout has them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// A multiple of the alignment.
    pub size: usize,
    /// 1, 2, 4 or 8.
    pub align: usize,
}

/// All that the wire needs to know of a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Its fixed part.
    pub layout: Layout,
    /// Whether strings or lists hang from it.
    pub tail: bool,
    /// Whether it holds a `list<u8>`.
    pub bytes: bool,
    /// Whether it holds a float, so that equality is not total.
    pub floats: bool,
    /// Fewest and most blocks.
    pub blocks: (usize, usize),
    /// Fewest and most endpoints.
    pub endpoints: (usize, usize),
    /// How many pool buffers it names.
    pub buffers: usize,
}

impl Shape {
    /// Whether its fixed part is all there is: nothing hangs from it and nothing moves with it.
    pub fn is_plain(&self) -> bool {
        !self.tail && !self.has_handles()
    }

    /// Whether blocks, endpoints or buffers move with it, so that it can be given only once.
    pub fn has_handles(&self) -> bool {
        self.blocks.1 + self.endpoints.1 + self.buffers > 0
    }
}

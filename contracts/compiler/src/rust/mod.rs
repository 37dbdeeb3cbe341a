//! The generator of Rust: one module for each interface, one type for each state of each side.
//!
//! In a state where a side sends there is a method for each message, which consumes the state and returns
//! the next; in a state where it waits there is `recv`. So a wrong order does not compile. Local names end
//! in an underscore, which no name of a contract does. Neighbours: `sdk/rust/src/wire` (what the code
//! calls), `sdk/macros` (the usual way to it).

mod code;
mod interface;
mod message;
mod names;
mod states;
mod types;

use crate::Diagnostic;
use crate::model::{Contract, EndpointRole, Package, Type};
use code::Code;
use names::{field, pascal};

/// How to generate.
#[derive(Clone, Debug)]
pub struct Options {
    /// Path of the runtime. Its last segment must be `satrap`.
    pub runtime: String,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            runtime: "::satrap".into(),
        }
    }
}

/// Generates the modules of a package.
pub(crate) fn generate(
    source_name: &str,
    text: &str,
    package: &Package,
    options: &Options,
) -> Result<String, Vec<Diagnostic>> {
    names::check(source_name, text, package)?;
    let generator = Generator { package, options };
    let mut code = Code::default();
    for interface in &package.interfaces {
        generator.interface(&mut code, interface);
    }
    Ok(code.finish())
}

/// What every part of the generator needs.
#[derive(Clone, Copy, Debug)]
struct Generator<'g> {
    package: &'g Package,
    options: &'g Options,
}

/// The module in which a type is named.
#[derive(Clone, Copy, Debug)]
struct Scope<'g> {
    /// Name of the interface.
    interface: &'g str,
    /// Nothing in the interface's own module, `super::` in those of its two sides.
    prefix: &'static str,
}

impl Generator<'_> {
    /// The Rust type that holds a value.
    fn owned(&self, ty: &Type, scope: Scope<'_>) -> String {
        let inner = |ty: &Type| self.owned(ty, scope);
        match ty {
            Type::Bool => "bool".into(),
            Type::U8 => "u8".into(),
            Type::U16 => "u16".into(),
            Type::U32 => "u32".into(),
            Type::U64 => "u64".into(),
            Type::S8 => "i8".into(),
            Type::S16 => "i16".into(),
            Type::S32 => "i32".into(),
            Type::S64 => "i64".into(),
            Type::F32 => "f32".into(),
            Type::F64 => "f64".into(),
            Type::Char => "char".into(),
            Type::String => "String".into(),
            Type::Bytes => "satrap::wire::Bytes".into(),
            Type::List(item) => format!("Vec<{}>", inner(item)),
            Type::Option(value) => format!("Option<{}>", inner(value)),
            Type::Result(ok, err) => format!("Result<{}, {}>", inner(ok), inner(err)),
            Type::Tuple(items) => tuple(items.iter().map(inner)),
            Type::Named(index) => self.named(*index, scope),
            Type::Block => "satrap::Block".into(),
            Type::Buffer => "satrap::ReceivedBuffer".into(),
            Type::Endpoint(of) => self.endpoint(of.as_ref(), scope),
        }
    }

    fn named(&self, index: usize, scope: Scope<'_>) -> String {
        let decl = &self.package.types[index];
        let name = pascal(&decl.name);
        if decl.interface == scope.interface {
            format!("{}{name}", scope.prefix)
        } else {
            format!("{}super::{}::{name}", scope.prefix, field(&decl.interface))
        }
    }

    /// A typed endpoint is the start state of its contract; one of another package has no type here.
    fn endpoint(&self, of: Option<&(EndpointRole, String)>, scope: Scope<'_>) -> String {
        let typed = of.and_then(|(role, name)| Some((role, name, self.contract(name)?)));
        let Some((role, name, contract)) = typed else {
            return "satrap::Endpoint".into();
        };
        let role = match role {
            EndpointRole::Client => "client",
            EndpointRole::Service => "service",
        };
        let start = pascal(&contract.states[0].name);
        format!("{}super::{}::{role}::{start}", scope.prefix, field(name))
    }

    fn contract(&self, interface: &str) -> Option<&Contract> {
        let mut interfaces = self.package.interfaces.iter();
        interfaces
            .find(|candidate| candidate.name == interface)?
            .contract
            .as_ref()
    }

    /// The Rust type of a parameter that is sent: borrowed where nothing moves.
    fn sent(&self, ty: &Type, scope: Scope<'_>) -> String {
        let shape = self.package.shape(ty);
        match ty {
            Type::String => "&str".into(),
            Type::Bytes => "satrap::wire::Body<'_>".into(),
            Type::Buffer => "satrap::Buffer".into(),
            Type::List(item) => format!("&[{}]", self.owned(item, scope)),
            _ if shape.has_handles() || self.is_copy(ty) => self.owned(ty, scope),
            _ => format!("&{}", self.owned(ty, scope)),
        }
    }

    /// Asserts that the compiler and the runtime lay out generic types in the same way.
    fn assert_layouts<'t>(&self, code: &mut Code, types: impl Iterator<Item = &'t Type>, scope: Scope<'_>) {
        for ty in types.filter(|ty| matches!(ty, Type::Option(_) | Type::Result(..) | Type::Tuple(_))) {
            let (name, layout) = (self.owned(ty, scope), self.package.shape(ty).layout);
            code.add(format!(
                "const _: () = assert!(<{name} as satrap::wire::Layout>::SIZE == {});",
                layout.size
            ));
            code.add(format!(
                "const _: () = assert!(<{name} as satrap::wire::Layout>::ALIGN == {});\n\n",
                layout.align
            ));
        }
    }

    /// Whether a value is a few bytes that can be copied.
    fn is_copy(&self, ty: &Type) -> bool {
        let is_copy = match ty {
            Type::Named(index) => types::is_copy(&self.package.types[*index]),
            _ => true,
        };
        is_copy && !self.package.shape(ty).tail
    }
}

/// A tuple type or expression of these.
fn tuple(items: impl Iterator<Item = String>) -> String {
    let items: Vec<_> = items.collect();
    if items.len() == 1 {
        format!("({},)", items[0])
    } else {
        format!("({})", items.join(", "))
    }
}

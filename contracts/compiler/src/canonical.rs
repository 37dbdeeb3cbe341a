//! The canonical text of a contract: what is hashed, and what two sides that differ compare line by line.
//!
//! One item to a line. Documentation, aliases, the order of declarations and the interface that a type was
//! taken from make no difference; names, types, the order of fields and cases, and the protocol do.

use crate::model::{Case, EndpointRole, Message, Package, State, Target, Type, TypeBody, TypeDecl};
use satrap_table::Side;
use std::fmt::Write;

/// Version of the encoding (`sdk/rust/src/wire`): a change of it changes every digest.
const WIRE: u32 = 1;

/// Writes the text of the contract with this name.
pub(crate) fn text(package: &Package, name: &str, messages: &[Message], states: &[State]) -> String {
    let mut types = Vec::new();
    for parameter in messages.iter().flat_map(|message| &message.parameters) {
        collect(package, &parameter.ty, &mut types);
    }
    types.sort_by_key(|&index| (&package.types[index].name, &package.types[index].interface));
    let printer = Printer {
        package,
        types: &types,
    };
    let mut text = format!("contract {name}\nwire {WIRE}\n");
    for &index in &types {
        text += &format!(
            "type {} = {}\n",
            printer.type_name(index),
            printer.body(&package.types[index])
        );
    }
    for message in messages {
        let parameters = message
            .parameters
            .iter()
            .map(|p| format!("{}: {}", p.name, printer.ty(&p.ty)));
        text += &format!("message {}({})\n", message.name, join(parameters, ", "));
    }
    for state in states {
        text += &printer.state(state, messages, states);
    }
    text
}

/// The named types that a type is made of, each once.
fn collect(package: &Package, ty: &Type, found: &mut Vec<usize>) {
    match ty {
        Type::List(inner) | Type::Option(inner) => collect(package, inner, found),
        Type::Result(ok, err) => [ok, err].into_iter().for_each(|ty| collect(package, ty, found)),
        Type::Tuple(items) => items.iter().for_each(|ty| collect(package, ty, found)),
        Type::Named(index) if !found.contains(index) => {
            found.push(*index);
            match &package.types[*index].body {
                TypeBody::Record(fields) => {
                    fields.iter().for_each(|field| collect(package, &field.ty, found))
                }
                TypeBody::Variant(cases) => {
                    cases
                        .iter()
                        .filter_map(|case| case.ty.as_ref())
                        .for_each(|ty| collect(package, ty, found));
                }
                TypeBody::Enum(_) | TypeBody::Flags(_) => {}
            }
        }
        _ => {}
    }
}

fn join(items: impl Iterator<Item = String>, separator: &str) -> String {
    items.collect::<Vec<_>>().join(separator)
}

struct Printer<'p> {
    package: &'p Package,
    types: &'p [usize],
}

impl Printer<'_> {
    /// A type's name, with its interface only where the name alone is not clear.
    fn type_name(&self, index: usize) -> String {
        let decl = &self.package.types[index];
        let same = self
            .types
            .iter()
            .filter(|&&other| self.package.types[other].name == decl.name);
        if same.count() > 1 {
            format!("{}.{}", decl.interface, decl.name)
        } else {
            decl.name.clone()
        }
    }

    fn ty(&self, ty: &Type) -> String {
        match ty {
            Type::Bool => "bool".into(),
            Type::U8 => "u8".into(),
            Type::U16 => "u16".into(),
            Type::U32 => "u32".into(),
            Type::U64 => "u64".into(),
            Type::S8 => "s8".into(),
            Type::S16 => "s16".into(),
            Type::S32 => "s32".into(),
            Type::S64 => "s64".into(),
            Type::F32 => "f32".into(),
            Type::F64 => "f64".into(),
            Type::Char => "char".into(),
            Type::String => "string".into(),
            Type::Bytes => "list<u8>".into(),
            Type::List(item) => format!("list<{}>", self.ty(item)),
            Type::Option(value) => format!("option<{}>", self.ty(value)),
            Type::Result(ok, err) => format!("result<{}, {}>", self.ty(ok), self.ty(err)),
            Type::Tuple(items) => format!("tuple<{}>", join(items.iter().map(|ty| self.ty(ty)), ", ")),
            Type::Named(index) => self.type_name(*index),
            Type::Block => "block".into(),
            Type::Buffer => "buffer".into(),
            Type::Endpoint(None) => "endpoint".into(),
            Type::Endpoint(Some((EndpointRole::Client, of))) => format!("client<{}>", self.contract(of)),
            Type::Endpoint(Some((EndpointRole::Service, of))) => format!("service<{}>", self.contract(of)),
        }
    }

    /// The full name of a contract that was named within its package.
    fn contract(&self, of: &str) -> String {
        let (package, version) = self
            .package
            .name
            .split_once('@')
            .unwrap_or((&self.package.name, ""));
        match (of.contains(':'), version) {
            (true, _) => of.to_owned(),
            (false, "") => format!("{package}/{of}"),
            (false, version) => format!("{package}/{of}@{version}"),
        }
    }

    fn body(&self, decl: &TypeDecl) -> String {
        let case = |case: &Case| match &case.ty {
            Some(ty) => format!("{}({})", case.name, self.ty(ty)),
            None => case.name.clone(),
        };
        let list = |cases: &[Case]| join(cases.iter().map(case), ", ");
        match &decl.body {
            TypeBody::Record(fields) => {
                let fields = fields
                    .iter()
                    .map(|field| format!("{}: {}", field.name, self.ty(&field.ty)));
                format!("record {{ {} }}", join(fields, ", "))
            }
            TypeBody::Variant(cases) => format!("variant {{ {} }}", list(cases)),
            TypeBody::Enum(cases) => format!("enum {{ {} }}", list(cases)),
            TypeBody::Flags(cases) => format!("flags {{ {} }}", list(cases)),
        }
    }

    fn state(&self, state: &State, messages: &[Message], states: &[State]) -> String {
        let mark = if state.sender == Side::Client { '?' } else { '!' };
        let mut line = format!("state {} =", state.name);
        for (index, step) in state.transitions.iter().enumerate() {
            let target = match step.target {
                Target::State(target) => &*states[target].name,
                Target::End => "end",
            };
            let separator = if index > 0 { " |" } else { "" };
            // Writing to a string cannot fail.
            let _ = write!(
                line,
                "{separator} {mark}{} -> {target}",
                messages[step.message].name
            );
        }
        line + "\n"
    }
}

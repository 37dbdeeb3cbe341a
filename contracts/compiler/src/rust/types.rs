//! Records, variants, enums and flags, and how they are written and read.
//!
//! Offsets come from `shape.rs`, so that the code and the table agree on them; `interface.rs` uses the types
//! in messages, and `sdk/rust/src/wire.rs` reads and writes their parts.

use super::code::Code;
use super::names::{constant, field, pascal};
use super::{Generator, Scope};
use crate::model::{Case, Field, Type, TypeBody, TypeDecl};
use crate::shape::{flags_size, payload_offset, tag_size};

/// Whether a type is one small number.
pub(super) fn is_copy(decl: &TypeDecl) -> bool {
    matches!(decl.body, TypeBody::Enum(_) | TypeBody::Flags(_))
}

/// The unsigned integer of so many bytes.
fn unsigned(size: usize) -> &'static str {
    match size {
        1 => "u8",
        2 => "u16",
        _ => "u32",
    }
}

impl Generator<'_> {
    /// Declares a type and implements the three traits of the wire for it.
    pub(super) fn declaration(&self, code: &mut Code, decl: &TypeDecl) {
        let scope = Scope {
            interface: &decl.interface,
            prefix: "",
        };
        let name = pascal(&decl.name);
        code.docs(&decl.docs);
        match &decl.body {
            TypeBody::Record(fields) => self.record(code, decl, &name, fields, scope),
            TypeBody::Variant(cases) => self.variant(code, decl, &name, cases, scope),
            TypeBody::Enum(cases) => enumeration(code, &name, cases),
            TypeBody::Flags(cases) => flags(code, &name, cases),
        }
        match &decl.body {
            TypeBody::Record(fields) => {
                self.assert_layouts(code, fields.iter().map(|field| &field.ty), scope);
            }
            TypeBody::Variant(cases) => {
                self.assert_layouts(code, cases.iter().filter_map(|case| case.ty.as_ref()), scope);
            }
            TypeBody::Enum(_) | TypeBody::Flags(_) => {}
        }
        let layout = decl.shape.layout;
        code.add(format!("impl satrap::wire::Layout for {name} {{"));
        code.add(format!("const SIZE: usize = {};", layout.size));
        code.add(format!("const ALIGN: usize = {};", layout.align));
        code.add("}\n\n");
    }

    /// What can be derived: nothing more than `Debug` for what holds blocks, endpoints or bytes.
    fn derives(&self, decl: &TypeDecl) -> &'static str {
        let moves = decl.shape.has_handles() || decl.shape.bytes;
        match (moves, decl.shape.floats) {
            (true, _) => "#[derive(Debug)]",
            (false, true) => "#[derive(Clone, PartialEq, Debug)]",
            (false, false) => "#[derive(Clone, PartialEq, Eq, Debug)]",
        }
    }

    fn record(&self, code: &mut Code, decl: &TypeDecl, name: &str, fields: &[Field], scope: Scope<'_>) {
        code.add(self.derives(decl));
        code.add(format!("pub struct {name} {{"));
        for part in fields {
            code.docs(&part.docs);
            code.add(format!(
                "pub {}: {},",
                field(&part.name),
                self.owned(&part.ty, scope)
            ));
        }
        code.add("}\n\n");
        let names: Vec<_> = fields.iter().map(|part| field(&part.name)).collect();
        let mut body = format!("let {name} {{ {} }} = self;\n", names.join(", "));
        for (part, name) in fields.iter().zip(&names) {
            body += &format!(
                "satrap::wire::Encode::encode({name}, writer_, at_ + {})?;\n",
                part.offset
            );
        }
        encode(code, name, &(body + "Ok(())"), decl.shape.has_handles());
        let mut body = format!("Ok({name} {{\n");
        for (part, name) in fields.iter().zip(&names) {
            body += &format!(
                "{name}: satrap::wire::Decode::decode(reader_, at_ + {})?,\n",
                part.offset
            );
        }
        decode(code, name, &(body + "})"));
    }

    fn variant(&self, code: &mut Code, decl: &TypeDecl, name: &str, cases: &[Case], scope: Scope<'_>) {
        code.add(self.derives(decl));
        code.add(format!("pub enum {name} {{"));
        for case in cases {
            code.docs(&case.docs);
            let payload = case.ty.as_ref().map(|ty| format!("({})", self.owned(ty, scope)));
            code.add(format!("{}{},", pascal(&case.name), payload.unwrap_or_default()));
        }
        code.add("}\n\n");
        let payloads = |ty: &Option<Type>| ty.as_ref().map(|ty| self.package.shape(ty));
        let shapes: Vec<_> = cases.iter().map(|case| payloads(&case.ty)).collect();
        let tag = tag_size(cases.len());
        let at = payload_offset(tag, &shapes);
        let mut writes = String::from("match self {\n");
        let mut reads = format!("match {}::from_le_bytes(reader_.get(at_)?) {{\n", unsigned(tag));
        for (number, case) in cases.iter().enumerate() {
            let case_name = pascal(&case.name);
            let put = format!("writer_.put(at_, {number}{}.to_le_bytes());", unsigned(tag));
            match case.ty {
                Some(_) => {
                    writes += &format!("{name}::{case_name}(value_) => {{\n{put}\n");
                    writes += &format!("satrap::wire::Encode::encode(value_, writer_, at_ + {at})?;\n}}\n");
                    let value = format!("satrap::wire::Decode::decode(reader_, at_ + {at})?");
                    reads += &format!("{number} => Ok({name}::{case_name}({value})),\n");
                }
                None => {
                    writes += &format!("{name}::{case_name} => {{\n{put}\n}}\n");
                    reads += &format!("{number} => Ok({name}::{case_name}),\n");
                }
            }
        }
        encode(code, name, &(writes + "}\nOk(())"), decl.shape.has_handles());
        decode(
            code,
            name,
            &(reads + "_ => Err(satrap::wire::Malformed::Case.into()),\n}"),
        );
    }
}

fn enumeration(code: &mut Code, name: &str, cases: &[Case]) {
    let repr = unsigned(tag_size(cases.len()));
    code.add("#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]");
    code.add(format!("#[repr({repr})]"));
    code.add(format!("pub enum {name} {{"));
    let mut reads = format!("match {repr}::from_le_bytes(reader_.get(at_)?) {{\n");
    for (number, case) in cases.iter().enumerate() {
        code.docs(&case.docs);
        code.add(format!("{} = {number},", pascal(&case.name)));
        reads += &format!("{number} => Ok({name}::{}),\n", pascal(&case.name));
    }
    code.add("}\n\n");
    encode(
        code,
        name,
        &format!("writer_.put(at_, (*self as {repr}).to_le_bytes());\nOk(())"),
        false,
    );
    decode(
        code,
        name,
        &(reads + "_ => Err(satrap::wire::Malformed::Case.into()),\n}"),
    );
}

fn flags(code: &mut Code, name: &str, cases: &[Case]) {
    let repr = unsigned(flags_size(cases.len()));
    let all = u32::MAX >> (32 - cases.len());
    code.add("#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]");
    code.add(format!("pub struct {name}({repr});\n\n"));
    code.add(format!("impl {name} {{"));
    code.add("/// No flag.");
    code.add(format!("pub const NONE: {name} = {name}(0);"));
    code.add("/// Every flag.");
    code.add(format!("pub const ALL: {name} = {name}({all:#x});"));
    for (bit, case) in cases.iter().enumerate() {
        code.docs(&case.docs);
        code.add(format!(
            "pub const {}: {name} = {name}(1 << {bit});",
            flag_constant(&case.name)
        ));
    }
    code.add(format!(
        "\n/// The flags, the first in the lowest bit.\npub const fn bits(self) -> {repr} {{\nself.0\n}}\n\n\
         /// Whether all of these flags are set.\npub const fn contains(self, flags: {name}) -> bool {{\n\
         self.0 & flags.0 == flags.0\n}}\n}}\n\n\
         impl ::core::ops::BitOr for {name} {{\ntype Output = {name};\n\n\
         fn bitor(self, other: {name}) -> {name} {{\n{name}(self.0 | other.0)\n}}\n}}\n\n"
    ));
    encode(
        code,
        name,
        "writer_.put(at_, self.0.to_le_bytes());\nOk(())",
        false,
    );
    decode(
        code,
        name,
        &format!(
            "let bits_ = {repr}::from_le_bytes(reader_.get(at_)?);\nif bits_ & !{name}::ALL.0 != 0 {{\n\
             return Err(satrap::wire::Malformed::Flags.into());\n}}\nOk({name}(bits_))"
        ),
    );
}

/// A flag's constant; two names are the type's own.
fn flag_constant(name: &str) -> String {
    match &*constant(name) {
        taken @ ("NONE" | "ALL") => format!("{taken}_"),
        other => other.to_owned(),
    }
}

/// By reference, and by value too; what moves, by value alone.
fn encode(code: &mut Code, name: &str, body: &str, moves: bool) {
    let signature =
        "fn encode(self, writer_: &mut satrap::wire::Writer<'_>, at_: usize) -> Result<(), satrap::Error> {";
    let reference = if moves { "" } else { "&" };
    code.add(format!(
        "impl satrap::wire::Encode for {reference}{name} {{\n{signature}\n{body}\n}}\n}}\n\n"
    ));
    if !moves {
        let forward = "satrap::wire::Encode::encode(&self, writer_, at_)";
        code.add(format!(
            "impl satrap::wire::Encode for {name} {{\n{signature}\n{forward}\n}}\n}}\n\n"
        ));
    }
}

fn decode(code: &mut Code, name: &str, body: &str) {
    let signature =
        "fn decode(reader_: &mut satrap::wire::Reader<'_>, at_: usize) -> Result<Self, satrap::Error> {";
    code.add(format!(
        "impl satrap::wire::Decode for {name} {{\n{signature}\n{body}\n}}\n}}\n\n"
    ));
}

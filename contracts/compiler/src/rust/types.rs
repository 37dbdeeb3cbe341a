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
        let form = Form::of(decl);
        let mut writes = format!("let {name} {{ {} }} = self;\n", names.join(", "));
        let mut reads = format!("Ok({name} {{\n");
        for (part, name) in fields.iter().zip(&names) {
            writes += &form.write(name, part.offset);
            reads += &format!("{name}: {}?,\n", form.read("", part.offset));
        }
        form.implement(code, name, &writes, &(reads + "})"));
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
        let repr = unsigned(tag);
        let form = Form::of(decl);
        let mut writes = String::from("match self {\n");
        let mut reads = format!("match {}? {{\n", form.read(repr, 0));
        for (number, case) in cases.iter().enumerate() {
            let case_name = pascal(&case.name);
            let put = form.write(&format!("&{number}{repr}"), 0);
            match case.ty {
                Some(_) => {
                    let value = form.write("value_", at);
                    writes += &format!("{name}::{case_name}(value_) => {{\n{put}{value}}}\n");
                    let value = form.read("", at);
                    reads += &format!("{number} => Ok({name}::{case_name}({value}?)),\n");
                }
                None => {
                    writes += &format!("{name}::{case_name} => {{\n{put}}}\n");
                    reads += &format!("{number} => Ok({name}::{case_name}),\n");
                }
            }
        }
        reads += &format!("_ => {},\n}}", form.refuse("Case"));
        form.implement(code, name, &(writes + "}\n"), &reads);
    }
}

fn enumeration(code: &mut Code, name: &str, cases: &[Case]) {
    let repr = unsigned(tag_size(cases.len()));
    code.add("#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]");
    code.add(format!("#[repr({repr})]"));
    code.add(format!("pub enum {name} {{"));
    let mut reads = format!("match {}? {{\n", Form::Plain.read(repr, 0));
    for (number, case) in cases.iter().enumerate() {
        code.docs(&case.docs);
        code.add(format!("{} = {number},", pascal(&case.name)));
        reads += &format!("{number} => Ok({name}::{}),\n", pascal(&case.name));
    }
    code.add("}\n\n");
    reads += &format!("_ => {},\n}}", Form::Plain.refuse("Case"));
    let writes = Form::Plain.write(&format!("&(*self as {repr})"), 0);
    Form::Plain.implement(code, name, &writes, &reads);
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
    let reads = format!(
        "let bits_ = {}?;\nif bits_ & !{name}::ALL.0 != 0 {{\nreturn {};\n}}\nOk({name}(bits_))",
        Form::Plain.read(repr, 0),
        Form::Plain.refuse("Flags")
    );
    Form::Plain.implement(code, name, &Form::Plain.write("&self.0", 0), &reads);
}

/// A flag's constant; two names are the type's own.
fn flag_constant(name: &str) -> String {
    match &*constant(name) {
        taken @ ("NONE" | "ALL") => format!("{taken}_"),
        other => other.to_owned(),
    }
}

/// How values of a type are written and read: by which traits of the runtime.
#[derive(Clone, Copy)]
enum Form {
    /// It is its fixed part: bytes in, bytes out.
    Plain,
    /// It has a tail.
    Tail,
    /// Handles move with it, so it is written by value alone.
    Moves,
}

impl Form {
    fn of(decl: &TypeDecl) -> Form {
        match (decl.shape.has_handles(), decl.shape.tail) {
            (true, _) => Form::Moves,
            (false, true) => Form::Tail,
            (false, false) => Form::Plain,
        }
    }

    /// The line that writes a part of a value.
    fn write(self, value: &str, offset: usize) -> String {
        match self {
            Form::Plain => format!("satrap::wire::Plain::write({value}, body_, at_ + {offset});\n"),
            _ => format!("satrap::wire::Encode::encode({value}, writer_, at_ + {offset})?;\n"),
        }
    }

    /// The call that reads a part, of a type that is named or known from what happens to it.
    fn read(self, ty: &str, offset: usize) -> String {
        let ty = if ty.is_empty() { "_" } else { ty };
        match self {
            Form::Plain => format!("<{ty} as satrap::wire::Plain>::read(body_, at_ + {offset})"),
            _ => format!("<{ty} as satrap::wire::Decode>::decode(reader_, at_ + {offset})"),
        }
    }

    /// The error of a reader.
    fn refuse(self, why: &str) -> String {
        match self {
            Form::Plain => format!("Err(satrap::wire::Malformed::{why})"),
            _ => format!("Err(satrap::wire::Malformed::{why}.into())"),
        }
    }

    /// The traits: `writes` are lines, `reads` ends with a result.
    fn implement(self, code: &mut Code, name: &str, writes: &str, reads: &str) {
        if let Form::Plain = self {
            code.add(format!(
                "impl satrap::wire::Plain for {name} {{\n\
                 #[inline]\nfn write(&self, body_: &mut [u8], at_: usize) {{\n{writes}\n}}\n\n\
                 #[inline]\n\
                 fn read(body_: &[u8], at_: usize) -> Result<Self, satrap::wire::Malformed> {{\n{reads}\n}}\n\
                 }}\n\n"
            ));
            encode(code, &format!("&{name}"), "writer_.put(at_, self);\n");
            encode(code, name, "writer_.put(at_, &self);\n");
            decode(code, name, "Ok(reader_.get(at_)?)");
            return;
        }
        if let Form::Tail = self {
            encode(code, &format!("&{name}"), writes);
            encode(
                code,
                name,
                "satrap::wire::Encode::encode(&self, writer_, at_)?;\n",
            );
        } else {
            encode(code, name, writes);
        }
        decode(code, name, reads);
    }
}

fn encode(code: &mut Code, name: &str, lines: &str) {
    code.add(format!(
        "impl satrap::wire::Encode for {name} {{\n\
         fn encode(self, writer_: &mut satrap::wire::Writer<'_>, at_: usize) -> Result<(), satrap::Error> {{\n\
         {lines}Ok(())\n}}\n}}\n\n"
    ));
}

fn decode(code: &mut Code, name: &str, body: &str) {
    code.add(format!(
        "impl satrap::wire::Decode for {name} {{\n\
         fn decode(reader_: &mut satrap::wire::Reader<'_>, at_: usize) -> Result<Self, satrap::Error> {{\n\
         {body}\n}}\n}}\n\n"
    ));
}

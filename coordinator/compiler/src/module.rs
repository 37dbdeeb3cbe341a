//! A program as its author made it: validated, taken apart into sections, not yet judged.
//!
//! Neighbours: `check` judges it, `rewrite` puts it together again.

use crate::{CompileError, PROGRAM_MAX};
use satrap_abi::artifact::engine::PROPOSALS;
use satrap_abi::call::CONTRACT_SECTION;
use wasmparser::types::Types;
use wasmparser::{
    CustomSectionReader, DataSectionReader, ElementSectionReader, Export, FuncType, FunctionBody,
    FunctionSectionReader, GlobalSectionReader, Import, KnownCustom, MemoryType, Name, Parser, Payload,
    TableSectionReader, TypeSectionReader, Validator, WasmFeatures,
};

/// The sections of a valid module.
pub(crate) struct Module<'a> {
    /// What the validator learned.
    pub types: Types,
    pub type_section: Option<TypeSectionReader<'a>>,
    pub imports: Vec<Import<'a>>,
    pub functions: Option<FunctionSectionReader<'a>>,
    pub tables: Option<TableSectionReader<'a>>,
    pub memory: Option<MemoryType>,
    pub globals: Option<GlobalSectionReader<'a>>,
    pub exports: Vec<Export<'a>>,
    pub start: Option<u32>,
    pub elements: Option<ElementSectionReader<'a>>,
    pub bodies: Vec<FunctionBody<'a>>,
    pub data: Option<DataSectionReader<'a>>,
    /// Contents of the contract sections, joined.
    pub contracts: Vec<u8>,
    /// The global that the name section calls `__stack_pointer`.
    pub named_stack_pointer: Option<u32>,
}

/// The proposals that programs may use.
pub(crate) fn features() -> WasmFeatures {
    PROPOSALS
        .iter()
        .filter(|proposal| proposal.enabled)
        .filter_map(|proposal| WasmFeatures::from_name(&proposal.name.to_ascii_uppercase()))
        .fold(WasmFeatures::empty(), WasmFeatures::union)
}

impl<'a> Module<'a> {
    /// Validates `wasm` and takes it apart.
    pub fn parse(wasm: &'a [u8]) -> Result<Module<'a>, CompileError> {
        if wasm.len() > PROGRAM_MAX {
            return Err(CompileError::TooLarge(wasm.len()));
        }
        recognise(wasm)?;
        let types = Validator::new_with_features(features()).validate_all(wasm)?;
        let mut module = Module {
            types,
            type_section: None,
            imports: Vec::new(),
            functions: None,
            tables: None,
            memory: None,
            globals: None,
            exports: Vec::new(),
            start: None,
            elements: None,
            bodies: Vec::new(),
            data: None,
            contracts: Vec::new(),
            named_stack_pointer: None,
        };
        for payload in Parser::new(0).parse_all(wasm) {
            module.take(payload?)?;
        }
        Ok(module)
    }

    fn take(&mut self, payload: Payload<'a>) -> Result<(), CompileError> {
        match payload {
            Payload::TypeSection(section) => self.type_section = Some(section),
            Payload::ImportSection(section) => {
                self.imports = section.into_imports().collect::<Result<_, _>>()?;
            }
            Payload::FunctionSection(section) => self.functions = Some(section),
            Payload::TableSection(section) => self.tables = Some(section),
            Payload::MemorySection(section) => self.memory = section.into_iter().next().transpose()?,
            Payload::GlobalSection(section) => self.globals = Some(section),
            Payload::ExportSection(section) => {
                self.exports = section.into_iter().collect::<Result<_, _>>()?
            }
            Payload::StartSection { func, .. } => self.start = Some(func),
            Payload::ElementSection(section) => self.elements = Some(section),
            Payload::CodeSectionEntry(body) => self.bodies.push(body),
            Payload::DataSection(section) => self.data = Some(section),
            Payload::CustomSection(section) => self.take_custom(&section),
            _ => {}
        }
        Ok(())
    }

    /// Custom sections are not validated: a malformed name section is one that names nothing.
    fn take_custom(&mut self, section: &CustomSectionReader<'a>) {
        if section.name() == CONTRACT_SECTION {
            self.contracts.extend_from_slice(section.data());
        }
        let KnownCustom::Name(names) = section.as_known() else {
            return;
        };
        for name in names.into_iter().map_while(Result::ok) {
            if let Name::Global(globals) = name {
                let mut named = globals.into_iter().map_while(Result::ok);
                let stack = named.find(|naming| naming.name == "__stack_pointer");
                self.named_stack_pointer = stack.map(|naming| naming.index).or(self.named_stack_pointer);
            }
        }
    }

    /// Type of a function, by its index.
    pub fn function_type(&self, index: u32) -> &FuncType {
        let types = self.types.as_ref();
        self.types[types.core_function_at(index)].unwrap_func()
    }

    /// How many functions it imports. Everything that it may import is a function (`check`).
    pub fn imported(&self) -> u32 {
        self.imports.len() as u32
    }
}

/// Tells people who hand over something else what they handed over.
fn recognise(bytes: &[u8]) -> Result<(), CompileError> {
    let text = |bytes: &[u8]| bytes.trim_ascii_start().starts_with(b"(");
    match bytes {
        _ if Parser::is_core_wasm(bytes) => Ok(()),
        _ if Parser::is_component(bytes) => Err(CompileError::NotModule("a WebAssembly component")),
        _ if text(bytes) => Err(CompileError::NotModule("WebAssembly text; assemble it first")),
        [0x7f, b'E', b'L', b'F', ..] => Err(CompileError::NotModule("a native program (ELF)")),
        [] => Err(CompileError::NotModule("an empty file")),
        // A damaged header is the validator's to describe.
        [0, b'a', b's', b'm', ..] => Ok(()),
        _ => Err(CompileError::NotModule("something else")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_proposal_is_known_to_the_validator() {
        for proposal in PROPOSALS {
            let name = proposal.name.to_ascii_uppercase();
            assert!(WasmFeatures::from_name(&name).is_some(), "{name}");
        }
    }

    #[test]
    fn a_malformed_name_section_names_nothing() {
        let mut wasm = wat::parse_str("(module (func (export \"main\")))").unwrap();
        wasm.extend_from_slice(&[0, 7, 4, b'n', b'a', b'm', b'e', 7, 0xff]);
        assert_eq!(Module::parse(&wasm).unwrap().named_stack_pointer, None);
    }
}

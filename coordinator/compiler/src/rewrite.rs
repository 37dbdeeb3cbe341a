//! The rewrite: the same program, with its memory in the kernel's hands.
//!
//! Memory instructions become kernel calls, because `memory.size` of the engine knows nothing of the window
//! (DESIGN §5) and because the kernel owns growth and limits; only short copies and fills are done in place.
//! Data segments and the start function leave the module, so that making a further instance, which every
//! thread is, has no effect on memory. The module stays valid: only function indices move, by the six imports
//! that come after the program's own.

mod body;
mod short;

use crate::check::value_type;
use crate::image::Data;
use crate::{CompileError, Module, TABLE_ELEMENTS_MAX};
use body::Shift;
use satrap_abi::artifact::calls::{CALLS, INSERTED};
use satrap_abi::artifact::export;
use satrap_abi::call::MODULE;
use short::Short;
use wasm_encoder::reencode::{self, Reencode};
use wasm_encoder::{
    CodeSection, ElementSection, EntityType, ExportKind, ExportSection, Function, FunctionSection,
    GlobalSection, ImportSection, MemorySection, MemoryType, TableSection, TypeSection,
};
use wasmparser::{ExternalKind, RefType};

/// A rewritten program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Rewritten {
    /// The module, for the code generator.
    pub wasm: Vec<u8>,
    /// What became of its data segments.
    pub data: Data,
    /// Whether it exports its stack pointer.
    pub stack_pointer: bool,
    /// Whether it exports its function table.
    pub table: bool,
    /// Whether it exports its start function.
    pub start: bool,
}

/// Rewrites a program that `check` has passed.
pub(crate) fn rewrite(
    module: &Module<'_>,
    pages_initial: u32,
    stack_pointer: Option<u32>,
) -> Result<Rewritten, CompileError> {
    let rewriter = Rewriter {
        module,
        types: module.type_section.as_ref().map_or(0, |section| section.count()),
        shift: Shift {
            imported: module.imported(),
            functions: module.types.as_ref().function_count(),
        },
        stack_pointer,
    };
    Ok(Rewritten {
        wasm: rewriter.encode(pages_initial)?,
        data: Data::evaluate(module, pages_initial)?,
        stack_pointer: stack_pointer.is_some(),
        table: rewriter.function_table(),
        start: module.start.is_some(),
    })
}

struct Rewriter<'m, 'a> {
    module: &'m Module<'a>,
    /// How many types the program has; ours follow.
    types: u32,
    shift: Shift,
    stack_pointer: Option<u32>,
}

impl Rewriter<'_, '_> {
    fn encode(&self, pages: u32) -> Result<Vec<u8>, CompileError> {
        let mut out = wasm_encoder::Module::new();
        out.section(&self.type_section()?);
        out.section(&self.imports());
        out.section(&self.functions()?);
        out.section(&self.tables()?);
        out.section(&memory(pages));
        out.section(&self.globals()?);
        out.section(&self.exports());
        out.section(&self.elements()?);
        out.section(&self.code()?);
        Ok(out.finish())
    }

    /// The program's types, then one for each inserted call, then `() -> ()` for the trap function.
    fn type_section(&self) -> Result<TypeSection, CompileError> {
        let mut types = TypeSection::new();
        if let Some(section) = &self.module.type_section {
            reencode::utils::parse_type_section(&mut self.shift.clone(), &mut types, section.clone())
                .map_err(internal)?;
        }
        let encoded = |value| match value_type(value) {
            wasmparser::ValType::I64 => wasm_encoder::ValType::I64,
            _ => wasm_encoder::ValType::I32,
        };
        for call in &CALLS[..INSERTED] {
            types
                .ty()
                .function(call.params.iter().copied().map(encoded), call.result.map(encoded));
        }
        types.ty().function([], []);
        Ok(types)
    }

    fn imports(&self) -> ImportSection {
        let mut imports = ImportSection::new();
        for import in &self.module.imports {
            if let wasmparser::TypeRef::Func(index) = import.ty {
                imports.import(import.module, import.name, EntityType::Function(index));
            }
        }
        for (index, call) in CALLS[..INSERTED].iter().enumerate() {
            imports.import(MODULE, call.name, EntityType::Function(self.types + index as u32));
        }
        imports
    }

    fn functions(&self) -> Result<FunctionSection, CompileError> {
        let mut functions = FunctionSection::new();
        for function in self.module.functions.iter().flat_map(|section| section.clone()) {
            functions.function(function?);
        }
        functions.function(self.types + INSERTED as u32);
        for short in Short::ALL {
            functions.function(self.types + short.long() as u32);
        }
        Ok(functions)
    }

    /// Tables keep their sizes, but may not grow without bound: their memory is the satellite's.
    fn tables(&self) -> Result<TableSection, CompileError> {
        let mut tables = TableSection::new();
        let Some(section) = &self.module.tables else {
            return Ok(tables);
        };
        let share = TABLE_ELEMENTS_MAX / u64::from(section.count().max(1));
        for table in section.clone() {
            let mut table = table?;
            let most = share.max(table.ty.initial);
            table.ty.maximum = Some(table.ty.maximum.map_or(most, |declared| declared.min(most)));
            self.shift
                .clone()
                .parse_table(&mut tables, table)
                .map_err(internal)?;
        }
        Ok(tables)
    }

    fn globals(&self) -> Result<GlobalSection, CompileError> {
        let mut globals = GlobalSection::new();
        if let Some(section) = &self.module.globals {
            self.shift
                .clone()
                .parse_global_section(&mut globals, section.clone())
                .map_err(internal)?;
        }
        Ok(globals)
    }

    /// The program's functions under their own names, and everything that `satrap_abi::artifact::export` lists.
    fn exports(&self) -> ExportSection {
        let mut exports = ExportSection::new();
        let functions = self
            .module
            .exports
            .iter()
            .filter(|export| export.kind == ExternalKind::Func);
        for export in functions {
            exports.export(export.name, ExportKind::Func, self.shift.function(export.index));
        }
        exports.export(export::MEMORY, ExportKind::Memory, 0);
        if let Some(global) = self.stack_pointer {
            exports.export(export::STACK, ExportKind::Global, global);
        }
        if self.function_table() {
            exports.export(export::TABLE, ExportKind::Table, 0);
        }
        if let Some(start) = self.module.start {
            exports.export(export::START, ExportKind::Func, self.shift.function(start));
        }
        exports.export(export::TRAP, ExportKind::Func, self.shift.trap());
        exports
    }

    fn elements(&self) -> Result<ElementSection, CompileError> {
        let mut elements = ElementSection::new();
        if let Some(section) = &self.module.elements {
            self.shift
                .clone()
                .parse_element_section(&mut elements, section.clone())
                .map_err(internal)?;
        }
        Ok(elements)
    }

    fn code(&self) -> Result<CodeSection, CompileError> {
        let mut code = CodeSection::new();
        for body in &self.module.bodies {
            code.function(&self.shift.clone().body(body)?);
        }
        let mut trap = Function::new([]);
        trap.instructions().unreachable().end();
        code.function(&trap);
        for short in Short::ALL {
            code.function(&short.function(&self.shift));
        }
        Ok(code)
    }

    fn function_table(&self) -> bool {
        let types = self.module.types.as_ref();
        types.table_count() > 0 && types.table_at(0).element_type == RefType::FUNCREF
    }
}

/// The memory, with no maximum: the engine would turn one into unconditional traps above it, and the window
/// is above it. The kernel knows the maximum from the header.
fn memory(pages: u32) -> MemorySection {
    let mut memories = MemorySection::new();
    memories.memory(MemoryType {
        minimum: u64::from(pages),
        maximum: None,
        memory64: false,
        shared: false,
        page_size_log2: None,
    });
    memories
}

/// A valid module can be encoded again; if not, the fault is ours, and the user gets to see where.
fn internal(error: reencode::Error) -> CompileError {
    match error {
        reencode::Error::ParseError(error) => error.into(),
        other => CompileError::CodeGeneration(other.to_string()),
    }
}

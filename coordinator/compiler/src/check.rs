//! The judgement: what a program may import, how large it may begin, how it is entered.
//!
//! Whatever passes here, `rewrite` and the satellite's engine accept; every refusal names the culprit.

use crate::{CompileError, Module, TABLE_ELEMENTS_MAX};
use satrap_abi::artifact::calls::{self, Call, Type};
use satrap_abi::artifact::{Entry, export};
use satrap_abi::call::MODULE;
use satrap_abi::limits::HEAP_PAGES_MAX;
use wasmparser::{ExternalKind, FuncType, Import, TypeRef, ValType};

/// What the judgement finds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Findings {
    pub entry: Entry,
    pub thread: bool,
    pub imports: Vec<String>,
    pub pages_initial: u32,
    pub pages_max: u32,
}

/// Judges a program.
pub(crate) fn check(module: &Module<'_>) -> Result<Findings, CompileError> {
    module
        .imports
        .iter()
        .try_for_each(|import| check_import(module, import))?;
    let (pages_initial, pages_max) = memory(module)?;
    check_tables(module)?;
    check_export_names(module)?;
    let thread = has_export(module, export::THREAD, &[ValType::I32; 2], &[], "(i32, i32)")?;
    Ok(Findings {
        entry: entry(module)?,
        thread,
        imports: imports(module),
        pages_initial,
        pages_max,
    })
}

fn check_import(module: &Module<'_>, import: &Import<'_>) -> Result<(), CompileError> {
    let (from, name) = (import.module.to_owned(), import.name.to_owned());
    if from.starts_with("wasi") {
        return Err(CompileError::Wasi { module: from, name });
    }
    if from != MODULE {
        return Err(CompileError::ForeignImport { module: from, name });
    }
    let Some(call) = calls::find(&name) else {
        return Err(CompileError::UnknownCall(name));
    };
    let mismatch = |found: String| CompileError::CallType {
        name,
        expected: signature_of_call(call),
        found,
    };
    let TypeRef::Func(index) = import.ty else {
        return Err(mismatch(kind(&import.ty).to_owned()));
    };
    let types = module.types.as_ref();
    let found = module.types[types.core_type_at_in_module(index)].unwrap_func();
    let same = found
        .params()
        .iter()
        .copied()
        .eq(call.params.iter().copied().map(value_type))
        && found.results().iter().copied().eq(call.result.map(value_type));
    if same {
        Ok(())
    } else {
        Err(mismatch(signature(found)))
    }
}

const fn kind(import: &TypeRef) -> &'static str {
    match import {
        TypeRef::Func(_) | TypeRef::FuncExact(_) => "a function",
        TypeRef::Table(_) => "a table",
        TypeRef::Memory(_) => "a memory",
        TypeRef::Global(_) => "a global",
        TypeRef::Tag(_) => "a tag",
    }
}

/// Initial and greatest number of pages. A program without memory has none, and may not grow it.
fn memory(module: &Module<'_>) -> Result<(u32, u32), CompileError> {
    let Some(memory) = &module.memory else {
        return Ok((0, 0));
    };
    if memory.initial > u64::from(HEAP_PAGES_MAX) {
        return Err(CompileError::MemoryTooLarge(memory.initial));
    }
    let most = memory.maximum.unwrap_or(u64::MAX).min(u64::from(HEAP_PAGES_MAX));
    // Both are at most HEAP_PAGES_MAX, and the validator has seen that initial <= maximum.
    Ok((memory.initial as u32, most as u32))
}

fn check_tables(module: &Module<'_>) -> Result<(), CompileError> {
    let mut elements = 0u64;
    for table in module.tables.iter().flat_map(|tables| tables.clone()) {
        elements = elements.saturating_add(table?.ty.initial);
    }
    if elements > TABLE_ELEMENTS_MAX {
        Err(CompileError::TablesTooLarge(elements))
    } else {
        Ok(())
    }
}

/// Nothing but the memory may be called `memory`, and nothing at all `satrap:...`.
fn check_export_names(module: &Module<'_>) -> Result<(), CompileError> {
    let reserved = module.exports.iter().find(|export| {
        export.name.starts_with(export::RESERVED)
            || export.name == export::MEMORY && export.kind != ExternalKind::Memory
    });
    match reserved {
        Some(export) => Err(CompileError::ReservedExport(export.name.to_owned())),
        None => Ok(()),
    }
}

fn entry(module: &Module<'_>) -> Result<Entry, CompileError> {
    for entry in Entry::ALL {
        let (params, results, expected): (&[ValType], &[ValType], _) = match entry {
            Entry::SatrapMain => (&[], &[ValType::I32], "() -> i32"),
            Entry::Start => (&[], &[], "()"),
            Entry::Main => (&[ValType::I32; 2], &[ValType::I32], "(i32, i32) -> i32"),
        };
        if has_export(module, entry.name(), params, results, expected)? {
            return Ok(entry);
        }
    }
    Err(CompileError::NoEntry)
}

/// Whether the program exports a function of that name; if it does, its type must be right.
fn has_export(
    module: &Module<'_>,
    name: &'static str,
    params: &[ValType],
    results: &[ValType],
    expected: &'static str,
) -> Result<bool, CompileError> {
    let Some(export) = module.exports.iter().find(|export| export.name == name) else {
        return Ok(false);
    };
    if export.kind != ExternalKind::Func {
        return Err(CompileError::EntryType {
            name,
            expected,
            found: "not a function".to_owned(),
        });
    }
    let found = module.function_type(export.index);
    if found.params() == params && found.results() == results {
        Ok(true)
    } else {
        Err(CompileError::EntryType {
            name,
            expected,
            found: signature(found),
        })
    }
}

fn imports(module: &Module<'_>) -> Vec<String> {
    let mut names: Vec<String> = module
        .imports
        .iter()
        .map(|import| import.name.to_owned())
        .collect();
    names.sort();
    names.dedup();
    names
}

/// The WebAssembly type of a kernel call's parameter or result.
pub(crate) const fn value_type(value: Type) -> ValType {
    match value {
        Type::I32 => ValType::I32,
        Type::I64 => ValType::I64,
    }
}

fn signature_of_call(call: &Call) -> String {
    let params = call.params.iter().copied().map(value_type);
    signature(&FuncType::new(params, call.result.map(value_type)))
}

/// A type as people write it: `(i32, i64) -> i32`.
fn signature(function: &FuncType) -> String {
    let list = |types: &[ValType]| {
        types
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let params = list(function.params());
    match function.results() {
        [] => format!("({params})"),
        [result] => format!("({params}) -> {result}"),
        results => format!("({params}) -> ({})", list(results)),
    }
}

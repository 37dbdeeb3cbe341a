//! Finding the stack pointer: the global that each thread sets to the top of its own stack. Toolchains agree
//! on what it is, but not on how to tell.

use crate::{CompileError, Module};
use wasmparser::{ExternalKind, Operator, ValType};

/// Index of the stack pointer: the exported `__stack_pointer`, else the global that the name section calls so,
/// else the first mutable `i32` with a constant value, which is where every linker puts it.
pub(crate) fn find(module: &Module<'_>) -> Result<Option<u32>, CompileError> {
    let candidates = candidates(module)?;
    let exported = module
        .exports
        .iter()
        .find(|export| export.name == "__stack_pointer" && export.kind == ExternalKind::Global)
        .map(|export| export.index);
    let mut likely = [exported, module.named_stack_pointer].into_iter().flatten();
    let first = candidates.first().copied();
    Ok(likely.find(|index| candidates.contains(index)).or(first))
}

/// Every mutable `i32` global with a constant value.
fn candidates(module: &Module<'_>) -> Result<Vec<u32>, CompileError> {
    let mut found = Vec::new();
    let globals = module.globals.iter().flat_map(|section| section.clone());
    for (index, global) in globals.enumerate() {
        let global = global?;
        let constant = matches!(
            global.init_expr.get_operators_reader().into_iter().next(),
            Some(Ok(Operator::I32Const { .. }))
        );
        if global.ty.mutable && global.ty.content_type == ValType::I32 && constant {
            found.push(index as u32);
        }
    }
    Ok(found)
}

//! Function bodies: memory instructions become calls of the kernel, or of the functions of `short`, which call
//! it for all but short ranges. Operands stand on the stack in the order of the calls' parameters already, so
//! each is replaced where it stands; those that name a data segment push its index first.

use super::internal;
use super::short::Short;
use crate::CompileError;
use satrap_abi::artifact::calls::INSERTED;
use wasm_encoder::reencode::{self, Reencode};
use wasm_encoder::{Function, Instruction};
use wasmparser::{FunctionBody, Operator};

/// The inserted calls, in the order of `satrap_abi::artifact::calls::CALLS`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Inserted {
    Size,
    Grow,
    Copy,
    Fill,
    Init,
    Drop,
}

/// Function indices after the rewrite: the inserted imports stand between the program's imports and its own
/// functions.
#[derive(Clone, Debug)]
pub(super) struct Shift {
    /// How many functions the program imports.
    pub imported: u32,
    /// How many functions it has, the imported ones included.
    pub functions: u32,
}

impl Reencode for Shift {
    type Error = std::convert::Infallible;

    fn function_index(&mut self, index: u32) -> Result<u32, reencode::Error> {
        Ok(self.function(index))
    }
}

impl Shift {
    /// New index of one of the program's functions.
    pub fn function(&self, index: u32) -> u32 {
        if index < self.imported {
            index
        } else {
            index + INSERTED as u32
        }
    }

    /// Index of an inserted call.
    pub fn inserted(&self, call: Inserted) -> u32 {
        self.imported + call as u32
    }

    /// Index of the function that only traps, the first of those that are added.
    pub fn trap(&self) -> u32 {
        self.function(self.functions)
    }

    /// Index of the function that stands for an instruction.
    fn target(&self, call: Inserted) -> u32 {
        match Short::ALL.iter().position(|short| short.long() == call) {
            Some(place) => self.trap() + 1 + place as u32,
            None => self.inserted(call),
        }
    }

    /// Encodes a body again.
    pub fn body(&mut self, body: &FunctionBody<'_>) -> Result<Function, CompileError> {
        let mut function = self.new_function_with_parsed_locals(body).map_err(internal)?;
        let mut operators = body.get_operators_reader()?;
        while !operators.eof() {
            let operator = operators.read()?;
            let Some((call, segment)) = replacement(&operator) else {
                function.instruction(&self.instruction(operator).map_err(internal)?);
                continue;
            };
            if let Some(segment) = segment {
                function.instruction(&Instruction::I32Const(segment as i32));
            }
            function.instruction(&Instruction::Call(self.target(call)));
        }
        Ok(function)
    }
}

/// The call that stands for an instruction, and the data segment that the instruction names.
fn replacement(operator: &Operator<'_>) -> Option<(Inserted, Option<u32>)> {
    Some(match operator {
        Operator::MemorySize { .. } => (Inserted::Size, None),
        Operator::MemoryGrow { .. } => (Inserted::Grow, None),
        Operator::MemoryCopy { .. } => (Inserted::Copy, None),
        Operator::MemoryFill { .. } => (Inserted::Fill, None),
        Operator::MemoryInit { data_index, .. } => (Inserted::Init, Some(*data_index)),
        Operator::DataDrop { data_index } => (Inserted::Drop, Some(*data_index)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use satrap_abi::artifact::calls::CALLS;

    #[test]
    fn inserted_calls_stand_in_the_order_of_the_abi() {
        let order = [
            (Inserted::Size, "memory_size"),
            (Inserted::Grow, "memory_grow"),
            (Inserted::Copy, "memory_copy"),
            (Inserted::Fill, "memory_fill"),
            (Inserted::Init, "memory_init"),
            (Inserted::Drop, "data_drop"),
        ];
        assert_eq!(order.len(), INSERTED);
        for (call, name) in order {
            assert_eq!(CALLS[call as usize].name, name);
        }
    }
}

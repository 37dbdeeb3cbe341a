//! Constant expressions that yield an address: `i32.const`, and the sums, differences and products of the
//! extended constant expressions.

use crate::CompileError;
use wasmparser::{ConstExpr, Operator};

/// Value of an expression of type `i32`, by the rules of WebAssembly (modulo 2^32).
pub(crate) fn evaluate(expression: &ConstExpr<'_>) -> Result<u32, CompileError> {
    let mut stack: Vec<u32> = Vec::new();
    for operator in expression.get_operators_reader() {
        let binary = |stack: &mut Vec<u32>, operation: fn(u32, u32) -> u32| {
            let (right, left) = (stack.pop(), stack.pop());
            stack.extend(left.zip(right).map(|(left, right)| operation(left, right)));
        };
        match operator? {
            Operator::I32Const { value } => stack.push(value as u32),
            Operator::I32Add => binary(&mut stack, u32::wrapping_add),
            Operator::I32Sub => binary(&mut stack, u32::wrapping_sub),
            Operator::I32Mul => binary(&mut stack, u32::wrapping_mul),
            Operator::End => {}
            // `global.get` could name only an imported global, and those are refused.
            _ => stack.clear(),
        }
    }
    // Valid expressions leave exactly one value.
    stack.pop().ok_or_else(|| CompileError::Invalid {
        message: "unsupported constant expression".to_owned(),
        offset: expression.get_binary_reader().original_position(),
    })
}

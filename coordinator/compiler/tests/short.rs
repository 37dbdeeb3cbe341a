//! Short copies and fills are done in the program itself, and do what the instructions say: every short
//! length, overlap and alignment against a model on an untouched copy, and every edge of memory.

mod common;

use common::{Running, artifact, assemble};
use std::ops::Range;
use wasmtime::Trap;

/// Beyond the longest that is done in place.
const LENGTHS: Range<usize> = 0..301;
/// The part of memory that the model knows; all that is not at an edge happens in it.
const SIZE: usize = 1024;
const PAGE: usize = 65536;

fn program() -> Running {
    Running::load(&artifact(&assemble(
        r#"(module (memory (export "memory") 1)
             (func (export "copy") (param i32 i32 i32)
               (memory.copy (local.get 0) (local.get 1) (local.get 2)))
             (func (export "fill") (param i32 i32 i32)
               (memory.fill (local.get 0) (local.get 1) (local.get 2)))
             (func (export "_start")))"#,
    )))
}

/// Bytes of which no two near each other are equal.
fn pattern() -> Vec<u8> {
    (0..SIZE).map(|i| (i % 251) as u8).collect()
}

fn copy(program: &mut Running, to: usize, from: usize, length: usize) -> Result<i32, Trap> {
    program.call("copy", &[to as i32, from as i32, length as i32])
}

fn fill(program: &mut Running, to: usize, byte: i32, length: usize) -> Result<i32, Trap> {
    program.call("fill", &[to as i32, byte, length as i32])
}

#[test]
fn copies_of_every_length_overlap_and_alignment_move_each_byte() {
    let (mut program, before) = (program(), pattern());
    for length in LENGTHS {
        for distance in -70..=70 {
            for to in [400, 401, 404, 407] {
                let from = (to as isize + distance) as usize;
                let mut model = before.clone();
                model[to..to + length].copy_from_slice(&before[from..from + length]);
                program.memory()[..SIZE].copy_from_slice(&before);
                assert_eq!(copy(&mut program, to, from, length), Ok(0));
                let same = program.memory()[..SIZE] == model;
                assert!(same, "{length} bytes from {from} to {to}");
            }
        }
    }
}

#[test]
fn copies_apart_move_each_byte() {
    let (mut program, before) = (program(), pattern());
    for length in LENGTHS {
        for (to, from) in [(10, 500), (503, 21), (400 + length, 400), (400, 400 + length)] {
            let mut model = before.clone();
            model[to..to + length].copy_from_slice(&before[from..from + length]);
            program.memory()[..SIZE].copy_from_slice(&before);
            assert_eq!(copy(&mut program, to, from, length), Ok(0));
            let same = program.memory()[..SIZE] == model;
            assert!(same, "{length} bytes from {from} to {to}");
        }
    }
}

#[test]
fn fills_of_every_length_and_alignment_set_each_byte() {
    let (mut program, before) = (program(), pattern());
    for length in LENGTHS {
        for to in 400..408 {
            for byte in [0, 0x5a, 0x1a5, -1] {
                let mut model = before.clone();
                model[to..to + length].fill(byte as u8);
                program.memory()[..SIZE].copy_from_slice(&before);
                assert_eq!(fill(&mut program, to, byte, length), Ok(0));
                let same = program.memory()[..SIZE] == model;
                assert!(same, "{length} times {byte:#x} at {to}");
            }
        }
    }
}

#[test]
fn ranges_may_end_where_memory_ends() {
    let mut program = program();
    for length in LENGTHS {
        let last = PAGE - length;
        program.memory().fill(1);
        program.memory()[last..].fill(2);
        assert_eq!(copy(&mut program, 0, last, length), Ok(0));
        assert!(program.memory()[..length].iter().all(|byte| *byte == 2));
        assert_eq!(program.memory()[length], 1);
        assert_eq!(fill(&mut program, last, 3, length), Ok(0));
        assert_eq!(copy(&mut program, last, 0, length), Ok(0));
        assert!(program.memory()[last..].iter().all(|byte| *byte == 2));
        assert_eq!(program.memory()[last - 1], 1);
    }
}

#[test]
fn ranges_that_leave_memory_trap_before_a_byte_is_written() {
    let mut program = program();
    let before: Vec<u8> = (0..PAGE).map(|i| (i % 251) as u8).collect();
    program.memory().copy_from_slice(&before);
    for length in LENGTHS {
        for beyond in [1, 2, 7, 8, 9, 31, 33, length.max(1)] {
            let wrong = PAGE - length + beyond;
            for result in [
                copy(&mut program, wrong, 600, length),
                copy(&mut program, 600, wrong, length),
                copy(&mut program, wrong, wrong - 5, length),
                fill(&mut program, wrong, 1, length),
            ] {
                assert_eq!(result, Err(Trap::MemoryOutOfBounds), "{length} bytes at {wrong}");
            }
        }
        assert!(program.memory() == before, "{length} bytes");
    }
}

#[test]
fn ranges_at_the_end_of_the_address_space_trap() {
    let mut program = program();
    for length in LENGTHS {
        for wrong in [1, 8, 16, 31, 32, 33, 64, 100, 300].map(|back| (1 << 32) - back) {
            for result in [
                copy(&mut program, wrong, 600, length),
                copy(&mut program, 600, wrong, length),
                copy(&mut program, wrong, wrong, length),
                fill(&mut program, wrong, 1, length),
            ] {
                assert_eq!(
                    result,
                    Err(Trap::MemoryOutOfBounds),
                    "{length} bytes at {wrong:#x}"
                );
            }
        }
    }
    for length in [i32::MAX as usize, 1 << 31, u32::MAX as usize] {
        assert_eq!(copy(&mut program, 0, 0, length), Err(Trap::MemoryOutOfBounds));
        assert_eq!(fill(&mut program, 0, 0, length), Err(Trap::MemoryOutOfBounds));
    }
}

#[test]
fn the_kernel_copies_and_fills_only_what_is_long() {
    let mut program = program();
    for length in 1..=256 {
        copy(&mut program, 0, 512, length).unwrap();
        fill(&mut program, 0, 7, length).unwrap();
    }
    for (length, distance) in (1..=64).flat_map(|length| (0..=length).map(move |d| (length, d))) {
        copy(&mut program, 100, 100 + distance, length).unwrap();
    }
    assert_eq!(program.copies(), 0);
    copy(&mut program, 0, 512, 257).unwrap();
    fill(&mut program, 0, 7, 257).unwrap();
    copy(&mut program, 0, 30, 65).unwrap();
    assert_eq!(program.copies(), 3);
}

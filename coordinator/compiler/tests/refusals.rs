//! What is refused, and in which words.

mod common;

use common::{KEY, assemble};
use proptest::prelude::*;
use satrap_abi::artifact::Target;
use satrap_compiler::{CompileError, Program, compile};

fn refusal(text: &str) -> String {
    refusal_of(&assemble(text))
}

fn refusal_of(wasm: &[u8]) -> String {
    Program::prepare(wasm)
        .expect_err("it should be refused")
        .to_string()
}

#[test]
fn other_files_are_recognised() {
    assert_eq!(refusal_of(b""), "not a WebAssembly module but an empty file");
    assert_eq!(
        refusal_of(b"\x7fELF\x02\x01\x01"),
        "not a WebAssembly module but a native program (ELF)"
    );
    assert_eq!(
        refusal_of(b"#!/bin/sh"),
        "not a WebAssembly module but something else"
    );
    assert_eq!(
        refusal_of(b" (module)"),
        "not a WebAssembly module but WebAssembly text; assemble it first"
    );
    assert_eq!(
        refusal_of(b"\0asm\x0d\0\x01\0"),
        "not a WebAssembly module but a WebAssembly component"
    );
}

#[test]
fn invalid_modules_are_refused_with_the_offset() {
    let mut wasm = assemble(r#"(module (func (export "_start") (drop (i32.const 1))))"#);
    let drop = wasm.iter().rposition(|byte| *byte == 0x1a).unwrap();
    wasm[drop] = 0x6a;
    let expected = format!("(at offset {drop:#x})");
    let refusal = refusal_of(&wasm);
    assert!(
        refusal.starts_with("not valid WebAssembly: type mismatch"),
        "{refusal}"
    );
    assert!(refusal.ends_with(&expected), "{refusal}, {expected}");
}

#[test]
fn proposals_that_are_off_are_refused() {
    let cases = [
        (
            "(memory 1 1 shared)",
            "threads must be enabled for shared memories",
        ),
        ("(memory i64 1)", "memory64 must be enabled for 64-bit memories"),
        ("(memory 1) (memory 1)", "multiple memories"),
        ("(tag)", "exceptions proposal not enabled"),
        ("(func (param externref))", "gc types are disallowed"),
        ("(type (struct))", "not supported without the gc feature"),
    ];
    for (text, expected) in cases {
        let refusal = refusal(&format!("(module {text} (func (export \"_start\")))"));
        assert!(
            refusal.starts_with("not valid WebAssembly: "),
            "{text}: {refusal}"
        );
        assert!(refusal.contains(expected), "{text}: {refusal}");
    }
}

#[test]
fn wasi_programs_are_told_that_they_come_too_early() {
    assert_eq!(
        refusal(
            r#"(module (import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32))))"#
        ),
        "it imports `fd_write` from `wasi_snapshot_preview1`: WASI programs are not supported yet; \
         build for wasm32-unknown-unknown with Satrap's SDK"
    );
}

#[test]
fn imports_are_named() {
    assert_eq!(
        refusal(r#"(module (import "env" "puts" (func)))"#),
        "it imports `puts` from `env`; programs may import only from `satrap:kernel@1`"
    );
    assert_eq!(
        refusal(r#"(module (import "satrap:kernel@2" "exit" (func (param i32))))"#),
        "it imports `exit` from `satrap:kernel@2`; programs may import only from `satrap:kernel@1`"
    );
    assert_eq!(
        refusal(r#"(module (import "satrap:kernel@1" "fork" (func (result i32))))"#),
        "`satrap:kernel@1` has no function `fork`"
    );
    assert_eq!(
        refusal(r#"(module (import "satrap:kernel@1" "send" (func (param i32 i32 i32) (result i32))))"#),
        "`send` of `satrap:kernel@1` is (i32, i32, i64) -> i32, but the program imports it as (i32, i32, i32) -> i32"
    );
    for (item, kind) in [
        ("memory 1", "a memory"),
        ("table 1 funcref", "a table"),
        ("global i32", "a global"),
    ] {
        let refusal = refusal(&format!(r#"(module (import "satrap:kernel@1" "null" ({item})))"#));
        assert_eq!(
            refusal,
            format!("`null` of `satrap:kernel@1` is (), but the program imports it as {kind}")
        );
    }
}

#[test]
fn sizes_are_limited() {
    assert_eq!(
        refusal(r#"(module (memory 32769) (func (export "_start")))"#),
        "it wants 2048 MiB of memory at its start; at most 2048 MiB are below the window"
    );
    assert_eq!(
        refusal(r#"(module (table 600000 funcref) (table 600000 funcref) (func (export "_start")))"#),
        "its tables hold 1200000 elements; at most 1048576 are allowed"
    );
    assert_eq!(
        refusal(
            r#"(module (memory 1) (data (i32.const 0) "a") (data (i32.const 65535) "ab") (func (export "_start")))"#
        ),
        "data segment 1 (2 bytes at 0xffff) leaves the initial memory of 0x10000 bytes"
    );
    assert_eq!(
        refusal(r#"(module (memory 1) (data (i32.const 65537) "") (func (export "_start")))"#),
        "data segment 0 (0 bytes at 0x10001) leaves the initial memory of 0x10000 bytes"
    );
}

#[test]
fn exports_must_be_right() {
    assert_eq!(
        refusal("(module (func (export \"go\")))"),
        "it exports none of `satrap_main`, `_start` and `main`, so it cannot be started"
    );
    assert_eq!(
        refusal(r#"(module (func (export "satrap_main") (param f64)))"#),
        "its export `satrap_main` must be () -> i32, but is (f64)"
    );
    assert_eq!(
        refusal(r#"(module (global (export "main") i32 (i32.const 1)))"#),
        "its export `main` must be (i32, i32) -> i32, but is not a function"
    );
    assert_eq!(
        refusal(r#"(module (func (export "satrap:start")) (func (export "_start")))"#),
        "it exports `satrap:start`, a name that is reserved for the installer"
    );
    assert_eq!(
        refusal(r#"(module (func (export "memory")) (func (export "_start")))"#),
        "it exports `memory`, a name that is reserved for the installer"
    );
    assert_eq!(
        refusal(r#"(module (func (export "_start")) (func (export "satrap_thread") (param i32 i32)))"#),
        "it exports `satrap_thread` but has no stack pointer (a mutable i32 global), \
         so its threads would share one stack"
    );
}

#[test]
fn a_program_may_not_be_endless() {
    let error = Program::prepare(&vec![0; satrap_compiler::PROGRAM_MAX + 1]).unwrap_err();
    assert_eq!(error, CompileError::TooLarge(satrap_compiler::PROGRAM_MAX + 1));
}

const PROGRAM: &str = r#"(module (import "satrap:kernel@1" "exit" (func $exit (param i32)))
    (memory (export "memory") 1 2) (data (i32.const 8) "abc") (data "passive")
    (table 2 funcref) (elem (i32.const 0) $f) (global $sp (mut i32) (i32.const 1024)) (start $f)
    (func $f (memory.init 1 (i32.const 0) (i32.const 0) (i32.const 3)) (data.drop 1))
    (func (export "satrap_main") (result i32) (call $exit (i32.const 3))
      (block (result i32) (br_if 0 (memory.size) (i32.const 1)) (drop) (memory.grow (i32.const 1)))))"#;

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_programs_never_make_it_panic(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
        whole in any::<bool>(),
    ) {
        let mut wasm = assemble(PROGRAM);
        for (place, byte) in damage {
            let place = place.index(wasm.len());
            wasm[place] = byte;
        }
        if !whole {
            wasm.truncate(cut.index(wasm.len()));
        }
        // Whatever it is now, the answer is an artifact or an error.
        let _ = compile(&wasm, Target::hosted_here(), &KEY);
    }

    #[test]
    fn noise_is_refused(noise in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut wasm = b"\0asm\x01\0\0\0".to_vec();
        wasm.extend_from_slice(&noise);
        let _ = compile(&wasm, Target::hosted_here(), &KEY);
    }
}

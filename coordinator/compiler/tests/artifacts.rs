//! What stands in the artifact: the header tells the truth about the program, for every target.

mod common;

use common::{KEY, artifact, artifact_for, assemble};
use satrap_abi::artifact::{Artifact, CpuFeatures, Entry, Header, Target, export, source_digest};
use wasmparser::{Parser, Payload};

fn header(text: &str) -> Header {
    Artifact::parse(&artifact(&assemble(text)), &KEY)
        .unwrap()
        .header()
        .clone()
}

/// The global that the rewritten module exports as its stack pointer.
fn stack_pointer(text: &str) -> Option<u32> {
    let program = satrap_compiler::Program::prepare(&assemble(text)).unwrap();
    let payloads = Parser::new(0).parse_all(program.rewritten()).map(Result::unwrap);
    let mut exports = payloads.filter_map(|payload| match payload {
        Payload::ExportSection(section) => Some(section),
        _ => None,
    });
    let exports = exports.next().unwrap().into_iter().map(Result::unwrap);
    exports
        .filter(|export| export.name == export::STACK)
        .map(|export| export.index)
        .next()
}

#[test]
fn every_target_gets_an_artifact_with_aligned_native_code() {
    let wasm = assemble(r#"(module (memory 1) (data (i32.const 0) "x") (func (export "_start")))"#);
    for target in Target::ALL {
        let file = artifact_for(&wasm, target);
        let artifact = Artifact::parse(&file, &KEY).unwrap();
        artifact.fits(target, CpuFeatures::baseline(target.isa)).unwrap();
        assert!(artifact.native().starts_with(b"\x7fELF"));
        assert_eq!(artifact.header().source, source_digest(&wasm));
    }
}

#[test]
fn the_header_describes_the_program() {
    let header = header(
        r#"(module (import "satrap:kernel@1" "null" (func)) (import "satrap:kernel@1" "exit" (func (param i32)))
             (memory 2 9) (data (i32.const 4) "abc") (data "passive") (table 1 funcref)
             (global (mut i32) (i32.const 0)) (start 2) (func)
             (func (export "main") (param i32 i32) (result i32) (i32.const 0))
             (func (export "satrap_thread") (param i32 i32)))"#,
    );
    assert_eq!((header.pages_initial, header.pages_max), (2, 9));
    assert_eq!(header.entry, Entry::Main);
    assert!(header.start && header.table && header.stack_pointer && header.thread);
    assert_eq!(header.imports, ["exit", "null"]);
    assert_eq!(header.image.len(), 1);
    assert_eq!(
        header.segments.iter().map(|span| span.length).collect::<Vec<_>>(),
        [0, 7]
    );
}

#[test]
fn a_bare_program_needs_nothing() {
    let header = header(r#"(module (func (export "_start")))"#);
    assert_eq!((header.pages_initial, header.pages_max), (0, 0));
    assert_eq!(header.entry, Entry::Start);
    assert!(!header.start && !header.table && !header.stack_pointer && !header.thread);
    assert!(header.imports.is_empty() && header.image.is_empty() && header.segments.is_empty());
}

#[test]
fn memory_without_a_maximum_ends_at_the_window() {
    assert_eq!(
        header(r#"(module (memory 1) (func (export "_start")))"#).pages_max,
        32768
    );
    assert_eq!(
        header(r#"(module (memory 1 65536) (func (export "_start")))"#).pages_max,
        32768
    );
}

#[test]
fn contract_sections_are_copied() {
    let mut wasm = assemble(r#"(module (func (export "_start")))"#);
    for part in [&b"one"[..], b"two"] {
        wasm.extend_from_slice(&[0, (1 + 15 + part.len()) as u8, 15]);
        wasm.extend_from_slice(b"satrap.contract");
        wasm.extend_from_slice(part);
    }
    let file = artifact(&wasm);
    assert_eq!(Artifact::parse(&file, &KEY).unwrap().contracts(), b"onetwo");
}

#[test]
fn the_stack_pointer_is_found_by_export_by_name_and_by_place() {
    let program = |globals: &str| format!(r#"(module {globals} (func (export "_start")))"#);
    let places =
        "(global i32 (i32.const 0)) (global (mut i64) (i64.const 0)) (global (mut i32) (i32.const 0))";
    assert_eq!(stack_pointer(&program(places)), Some(2));
    let named = "(global $other (mut i32) (i32.const 0)) (global $__stack_pointer (mut i32) (i32.const 0))";
    assert_eq!(stack_pointer(&program(named)), Some(1));
    let exported = "(global $__stack_pointer (mut i32) (i32.const 0)) (global (mut i32) (i32.const 0))
                    (global (export \"__stack_pointer\") (mut i32) (i32.const 0))";
    assert_eq!(stack_pointer(&program(exported)), Some(2));
    let wrong = "(global $__stack_pointer i32 (i32.const 0))";
    assert_eq!(stack_pointer(&program(wrong)), None);
}

#[test]
fn compiling_again_gives_the_same_bytes() {
    let wasm = assemble(
        r#"(module (memory 1) (func (export "_start") (memory.fill (i32.const 0) (i32.const 1) (i32.const 9))))"#,
    );
    assert_eq!(artifact(&wasm), artifact(&wasm));
}

//! The rewrite changes nothing that a program can see: each program runs as its author made it and as an
//! artifact, and both must agree on result, memory and kernel calls.

mod common;

use common::{Seen, same};
use proptest::prelude::*;
use wasmtime::Trap;

#[test]
fn overlapping_data_segments_are_written_in_order() {
    let seen = same(
        r#"(module (memory (export "memory") 2)
             (data (i32.const 10) "aaaaaaaa") (data (i32.const 14) "bbbbbbbb") (data (i32.const 12) "cccc")
             (data (i32.const 131071) "z") (data (i32.const 131072) "")
             (func (export "satrap_main") (result i32) (i32.load (i32.const 12))))"#,
    );
    assert_eq!(&seen.memory[10..22], b"aaccccbbbbbb");
    assert_eq!(seen.result, Ok(i32::from_le_bytes(*b"cccc")));
}

#[test]
fn data_may_stand_at_a_computed_address() {
    let seen = same(
        r#"(module (memory (export "memory") 1)
             (data (i32.add (i32.const 100) (i32.mul (i32.const 3) (i32.sub (i32.const 9) (i32.const 7)))) "x")
             (func (export "satrap_main") (result i32) (i32.load8_u (i32.const 106))))"#,
    );
    assert_eq!(seen.result, Ok(i32::from(b'x')));
}

#[test]
fn the_start_function_runs_once_before_the_entry() {
    let seen = same(
        r#"(module (import "satrap:kernel@1" "null" (func $null))
             (memory (export "memory") 1) (data (i32.const 0) "\05")
             (global $g (mut i32) (i32.const 0))
             (func $begin (call $null) (global.set $g (i32.add (global.get $g) (i32.load8_u (i32.const 0)))))
             (start $begin)
             (func (export "satrap_main") (result i32) (global.get $g)))"#,
    );
    assert_eq!((seen.result, seen.nulls), (Ok(5), 1));
}

#[test]
fn passive_segments_can_be_copied_until_they_are_dropped() {
    let seen = same(
        r#"(module (memory (export "memory") 1)
             (data $active (i32.const 0) "xy") (data $passive "hello")
             (func (export "satrap_main") (result i32)
               (memory.init $passive (i32.const 100) (i32.const 1) (i32.const 4))
               (data.drop $passive)
               (memory.init $passive (i32.const 0) (i32.const 0) (i32.const 0))
               (memory.init $active (i32.const 0) (i32.const 0) (i32.const 0))
               (i32.load (i32.const 100))))"#,
    );
    assert_eq!(seen.result, Ok(i32::from_le_bytes(*b"ello")));
}

#[test]
fn an_active_segment_counts_as_dropped() {
    let seen = same(
        r#"(module (memory (export "memory") 1) (data $active (i32.const 0) "xy")
             (func (export "satrap_main") (result i32)
               (memory.init $active (i32.const 0) (i32.const 0) (i32.const 1)) (i32.const 0)))"#,
    );
    assert_eq!(seen.result, Err(Trap::MemoryOutOfBounds));
}

#[test]
fn functions_are_still_found_by_call_by_table_and_by_reference() {
    let seen = same(
        r#"(module (import "satrap:kernel@1" "null" (func $null))
             (type $f (func (param i32) (result i32)))
             (table 4 4 funcref) (elem (i32.const 0) $inc $double)
             (elem $late funcref (ref.func $square) (ref.null func))
             (elem declare func $square)
             (memory (export "memory") 1)
             (func $inc (param i32) (result i32) (i32.add (local.get 0) (i32.const 1)))
             (func $double (param i32) (result i32) (call $null) (i32.mul (local.get 0) (i32.const 2)))
             (func $square (param i32) (result i32) (i32.mul (local.get 0) (local.get 0)))
             (func $tail (param i32) (result i32) (return_call $square (local.get 0)))
             (func (export "satrap_main") (result i32)
               (table.set (i32.const 2) (ref.func $square))
               (table.init $late (i32.const 3) (i32.const 0) (i32.const 1))
               (call $null)
               (call_indirect (type $f)
                 (call_indirect (type $f)
                   (call_indirect (type $f)
                     (call $tail (call_indirect (type $f) (i32.const 2) (i32.const 0)))
                     (i32.const 1))
                   (i32.const 2))
                 (i32.const 3))))"#,
    );
    assert_eq!((seen.result, seen.nulls), (Ok(18i32.pow(4)), 2));
}

#[test]
fn memory_grows_to_its_declared_maximum_and_no_further() {
    let seen = same(
        r#"(module (memory (export "memory") 1 3)
             (func (export "satrap_main") (result i32)
               (i32.add (i32.mul (i32.const 1000) (memory.grow (i32.const 2)))
                 (i32.add (i32.mul (i32.const 100) (memory.size))
                   (i32.add (i32.mul (i32.const 10) (memory.grow (i32.const 1))) (memory.grow (i32.const 0)))))))"#,
    );
    assert_eq!(seen.result, Ok(1000 + 300 - 10 + 3));
    assert_eq!(seen.memory.len(), 3 << 16);
}

#[test]
fn a_program_without_memory_runs() {
    let wasm = common::assemble(r#"(module (func (export "_start")))"#);
    assert_eq!(
        common::run_artifact(&common::artifact(&wasm)),
        Seen {
            result: Ok(0),
            memory: vec![],
            nulls: 0
        }
    );
}

#[test]
fn traps_are_the_same_traps() {
    let cases = [
        ("unreachable", Trap::UnreachableCodeReached),
        ("(i32.load (i32.const -1)) drop", Trap::MemoryOutOfBounds),
        (
            "(i32.load offset=0xfffffff0 (i32.const -1)) drop",
            Trap::MemoryOutOfBounds,
        ),
        (
            "(i32.load offset=0x3000000 (i32.const 0)) drop",
            Trap::MemoryOutOfBounds,
        ),
        (
            "(i32.div_s (i32.const 1) (i32.const 0)) drop",
            Trap::IntegerDivisionByZero,
        ),
        (
            "(i32.div_s (i32.const 0x80000000) (i32.const -1)) drop",
            Trap::IntegerOverflow,
        ),
        (
            "(i32.trunc_f32_s (f32.const nan)) drop",
            Trap::BadConversionToInteger,
        ),
        ("(call_indirect (i32.const 9))", Trap::TableOutOfBounds),
        ("(call_indirect (i32.const 0))", Trap::IndirectCallToNull),
        (
            "(call_indirect (param i32) (i32.const 0) (i32.const 1))",
            Trap::BadSignature,
        ),
        (
            "(memory.copy (i32.const 0) (i32.const 65535) (i32.const 2))",
            Trap::MemoryOutOfBounds,
        ),
        (
            "(memory.fill (i32.const 65535) (i32.const 0) (i32.const 2))",
            Trap::MemoryOutOfBounds,
        ),
        ("(call $deep)", Trap::StackOverflow),
    ];
    for (body, trap) in cases {
        let seen = same(&format!(
            r#"(module (memory (export "memory") 1) (table 2 funcref) (elem (i32.const 1) $deep)
                 (func $deep (call $deep) (call $deep))
                 (func (export "satrap_main") (result i32) {body} (i32.const 0)))"#
        ));
        assert_eq!(seen.result, Err(trap), "{body}");
    }
}

#[test]
fn vectors_and_floats_compute_the_same() {
    let seen = same(
        r#"(module (memory (export "memory") 1)
             (func (export "satrap_main") (result i32)
               (v128.store (i32.const 0) (f32x4.nearest (f32x4.mul (f32x4.splat (f32.const 2.5)) (f32x4.splat (f32.const 3)))))
               (f64.store (i32.const 16) (f64.floor (f64.sqrt (f64.const 200))))
               (i32.store (i32.const 24) (i32.ctz (i32.popcnt (i32.const 0xff00))))
               (i32x4.extract_lane 1 (i8x16.shuffle 4 5 6 7 0 1 2 3 0 1 2 3 0 1 2 3 (v128.load (i32.const 16)) (v128.load (i32.const 0))))))"#,
    );
    assert!(seen.result.is_ok());
}

/// One step of a generated program.
#[derive(Clone, Debug)]
enum Step {
    Size,
    Grow(u32),
    Copy(u32, u32, u32),
    Fill(u32, u32, u32),
    Init(u32, u32, u32, u32),
    Drop(u32),
    Store(u32, u32),
    Load(u32),
}

impl Step {
    /// Leaves a value on the stack, so that everything that a step yields reaches the result.
    fn text(&self) -> String {
        match self {
            Step::Size => "(memory.size)".to_owned(),
            Step::Grow(pages) => format!("(memory.grow (i32.const {pages}))"),
            Step::Copy(to, from, length) => {
                format!("(memory.copy {}) (i32.const 3)", operands(&[to, from, length]))
            }
            Step::Fill(to, value, length) => {
                format!("(memory.fill {}) (i32.const 5)", operands(&[to, value, length]))
            }
            Step::Init(segment, to, from, length) => {
                format!(
                    "(memory.init {segment} {}) (i32.const 7)",
                    operands(&[to, from, length])
                )
            }
            Step::Drop(segment) => format!("(data.drop {segment}) (i32.const 11)"),
            Step::Store(to, value) => format!("(i32.store {}) (i32.const 13)", operands(&[to, value])),
            Step::Load(from) => format!("(i32.load {})", operands(&[from])),
        }
    }
}

fn operands(values: &[&u32]) -> String {
    values
        .iter()
        .map(|value| format!("(i32.const {value})"))
        .collect()
}

/// Mostly inside the first two pages, often near an edge, sometimes far out.
fn address() -> impl Strategy<Value = u32> {
    prop_oneof![8 => 0u32..0x200, 4 => 0xff80u32..0x10080, 2 => 0x1ff00u32..0x20100, 1 => any::<u32>()]
}

fn length() -> impl Strategy<Value = u32> {
    prop_oneof![8 => 0u32..80, 4 => 0u32..320, 2 => 0u32..0x8000, 1 => any::<u32>()]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => Just(Step::Size),
        1 => (0u32..3).prop_map(Step::Grow),
        4 => (address(), address(), length()).prop_map(|(to, from, n)| Step::Copy(to, from, n)),
        3 => (address(), any::<u32>(), length()).prop_map(|(to, value, n)| Step::Fill(to, value, n)),
        3 => (0u32..3, address(), 0u32..12, 0u32..12).prop_map(|(s, to, from, n)| Step::Init(s, to, from, n)),
        1 => (0u32..3).prop_map(Step::Drop),
        4 => (address(), any::<u32>()).prop_map(|(to, value)| Step::Store(to, value)),
        4 => address().prop_map(Step::Load),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_programs_do_not_notice_the_rewrite(steps in prop::collection::vec(step(), 1..24)) {
        let body: String = steps
            .iter()
            .map(|step| format!("(local.set 0 (i32.mul (local.get 0) (i32.const 31))) {} \
                                 (local.set 0 (i32.add (local.get 0)))\n", step.text()))
            .collect();
        same(&format!(
            r#"(module (memory (export "memory") 2 4)
                 (data (i32.const 16) "active segment") (data "first passive") (data "second")
                 (func (export "satrap_main") (result i32) (local i32) {body} (local.get 0)))"#
        ));
    }
}

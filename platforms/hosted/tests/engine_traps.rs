//! Every way in which a guest can go wrong ends that guest, with the right status, and nothing else.

mod support;

use satrap_abi::{ExitStatus, Trap};
use satrap_kernel::engine::{Entry, LinearMemory as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;
use support::{Process, artifact, engine, finish, on_cpu};

/// Runs a `satrap_main` with this body, over one page of memory.
fn main_of(body: &str) -> ExitStatus {
    Process::new(&format!(
        r#"(module
            (import "satrap:kernel@1" "random" (func $random (param i32 i32) (result i32)))
            (import "satrap:kernel@1" "exit" (func $exit (param i32)))
            (memory (export "memory") 1 16)
            (table $table 2 funcref)
            (type $unary (func (param i32) (result i32)))
            (func $deep (param i32) (result i32)
                (i32.add (local.get 0) (call $deep (i32.add (local.get 0) (i32.const 1)))))
            (func (export "satrap_main") (result i32) {body}))"#
    ))
    .run()
}

fn trap(body: &str) -> Trap {
    match main_of(body) {
        ExitStatus::Trap(trap) => trap,
        other => panic!("{other:?} instead of a trap: {body}"),
    }
}

#[test]
fn a_program_that_returns_exits_with_its_result() {
    assert_eq!(main_of("(i32.const 42)"), ExitStatus::Code(42));
}

#[test]
fn exit_ends_the_program_at_once() {
    assert_eq!(
        main_of("(call $exit (i32.const 7)) unreachable"),
        ExitStatus::Code(7)
    );
}

#[test]
fn each_trap_has_its_own_status() {
    assert_eq!(trap("unreachable"), Trap::Unreachable);
    assert_eq!(
        trap("(i32.div_u (i32.const 1) (i32.load (i32.const 0)))"),
        Trap::DivisionByZero
    );
    assert_eq!(
        trap("(i32.div_s (i32.const 0x80000000) (i32.sub (i32.load (i32.const 0)) (i32.const 1)))"),
        Trap::IntegerOverflow
    );
    assert_eq!(trap("(i32.trunc_f64_s (f64.const 1e300))"), Trap::IntegerOverflow);
    assert_eq!(
        trap("(call_indirect $table (type $unary) (i32.const 0) (i32.const 1))"),
        Trap::BadIndirectCall
    );
    assert_eq!(
        trap("(call_indirect $table (type $unary) (i32.const 0) (i32.const 2))"),
        Trap::TableOutOfBounds
    );
    assert_eq!(trap("(call $deep (i32.const 0))"), Trap::StackOverflow);
}

#[test]
fn every_access_outside_memory_traps() {
    let last = "(i32.load (i32.const 65532))";
    assert_eq!(main_of(last), ExitStatus::Code(0), "the last word is inside");
    for outside in [
        "(i32.load (i32.const 65533))",
        "(i32.load8_u (i32.const 65536))",
        "(i64.store (i32.const 65535) (i64.const -1)) (i32.const 0)",
        "(i32.load offset=4 (i32.const -4))",
        "(i32.load offset=0xffffffff (i32.const 0))",
        "(i32.load offset=0xffffffff (i32.const -1))",
        "(i32.load offset=0x2000000 (i32.const 0x7fffffff))",
        "(i32.load (i32.const -1))",
        "(i32.load (i32.const 0x7fffffff))",
        "(i32.load (i32.const 0x80000000))",
        "(v128.store offset=33554432 (i32.const -16) (v128.const i64x2 0 0)) (i32.const 0)",
        "(memory.fill (i32.const 65535) (i32.const 0) (i32.const 2)) (i32.const 0)",
    ] {
        assert_eq!(trap(outside), Trap::MemoryOutOfBounds, "{outside}");
    }
}

#[test]
fn a_larger_stack_allows_deeper_recursion() {
    let text = r#"(module
        (memory (export "memory") 1)
        (func $deep (param i32) (result i32)
            (i32.store (i32.const 0) (local.get 0))
            (i32.add (local.get 0) (call $deep (i32.add (local.get 0) (i32.const 1)))))
        (func (export "satrap_main") (result i32) (call $deep (i32.const 0))))"#;
    let process = Process::new(text);
    let depths = [128 << 10, 256 << 10, 1 << 20].map(|stack| {
        let status = on_cpu(|_| finish(&mut process.thread_with(Entry::Main, stack)));
        assert_eq!(status, ExitStatus::Trap(Trap::StackOverflow));
        let mut depth = [0; 4];
        process.memory.region().read(0, &mut depth).expect("in range");
        u32::from_le_bytes(depth)
    });
    assert!(
        depths[0] * 2 < depths[1] && depths[1] * 4 < depths[2],
        "{depths:?}"
    );
}

#[test]
fn a_fault_of_the_kernel_itself_is_reported_and_fatal() {
    const CHILD: &str = "SATRAP_TEST_FAULT";
    if std::env::var_os(CHILD).is_some() {
        engine();
        // SAFETY: none: this is the fault under test, in a process of its own.
        unsafe { std::ptr::without_provenance_mut::<u8>(8).write_volatile(1) };
    }
    let here = std::env::current_exe().expect("this program has a path");
    let child = Command::new(here)
        .args(["--exact", "a_fault_of_the_kernel_itself_is_reported_and_fatal"])
        .env(CHILD, "1")
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&child.stderr);
    assert_eq!(child.status.signal(), Some(libc::SIGSEGV), "{said}");
    assert!(
        said.contains("the kernel faulted (SIGSEGV") && said.contains("address 0x8"),
        "{said}"
    );
}

#[test]
fn a_kernel_call_ends_the_thread_that_passes_a_wild_pointer() {
    let status = main_of("(call $random (i32.const 65000) (i32.const 1000))");
    assert_eq!(status, ExitStatus::Trap(Trap::MemoryOutOfBounds));
    let status = main_of("(call $random (i32.const 64000) (i32.const 1000))");
    assert_eq!(status, ExitStatus::Code(0));
}

#[test]
fn memory_grows_to_its_limit_and_not_beyond() {
    let grow = "(drop (memory.grow (i32.const 15)))
        (i32.store (i32.const 1048572) (i32.const 5))
        (i32.add (i32.mul (memory.size) (i32.const 100)) (memory.grow (i32.const 1)))";
    assert_eq!(main_of(grow), ExitStatus::Code(1600 - 1));
    let beyond = "(drop (memory.grow (i32.const 15))) (i32.load (i32.const 1048576))";
    assert_eq!(trap(beyond), Trap::MemoryOutOfBounds);
}

#[test]
fn data_stands_in_memory_and_is_private_to_each_process() {
    let text = r#"(module
        (memory (export "memory") 4)
        (data (i32.const 100) "\2a\00\00\00")
        (data (i32.const 4094) "\01\02\03\04")
        (data (i32.const 200000) "\05")
        (func (export "satrap_main") (result i32)
            (i32.store (i32.const 100) (i32.add (i32.load (i32.const 100)) (i32.const 1)))
            (i32.add
                (i32.mul (i32.load (i32.const 100)) (i32.const 1000))
                (i32.add (i32.load8_u (i32.const 4097)) (i32.load8_u (i32.const 200000))))))"#;
    let first = Process::new(text);
    assert_eq!(first.run(), ExitStatus::Code(43_009));
    assert_eq!(Process::of(&first.program).run(), ExitStatus::Code(43_009));
    assert_eq!(
        first.run(),
        ExitStatus::Code(44_009),
        "a memory outlives its thread"
    );
}

#[test]
fn an_artifact_of_another_key_or_with_a_flipped_bit_is_denied() {
    use satrap_abi::Errno;
    use satrap_kernel::engine::Engine as _;
    let good = artifact(r#"(module (memory (export "memory") 1) (func (export "_start")))"#);
    assert!(engine().load(&good).is_ok());
    let mut bad = good.clone();
    bad[70_000] ^= 1;
    assert_eq!(engine().load(&bad).err(), Some(Errno::Denied));
    assert_eq!(engine().load(&good[..100]).err(), Some(Errno::Denied));
    assert_eq!(engine().load(b"no artifact").err(), Some(Errno::Invalid));
}

//! The program `satrap-compiler` as the coordinator runs it.

mod common;

use common::{KEY, assemble};
use rustix::process::Signal;
use satrap_abi::artifact::{Artifact, CpuFeatures, Target, cache_name, source_digest};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Output};
use wasm_encoder::{
    CodeSection, ExportKind, ExportSection, Function, FunctionSection, MemArg, MemorySection, MemoryType,
    Module, TypeSection,
};

/// A folder of one test, removed with it.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("satrap-compiler-{}-{test}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("key"), KEY).unwrap();
        Folder(path)
    }

    fn program(&self, wasm: &[u8]) -> &Folder {
        fs::write(self.0.join("program.wasm"), wasm).unwrap();
        self
    }

    /// Runs the compiler in the folder.
    fn run(&self, arguments: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_satrap-compiler"));
        command
            .current_dir(&self.0)
            .args(arguments.split_whitespace())
            .output()
            .unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn hello() -> Vec<u8> {
    assemble(r#"(module (memory 1) (func (export "_start")))"#)
}

#[test]
fn artifacts_land_under_their_cache_names() {
    let folder = Folder::new("cache");
    let targets = "--target x86_64-unknown-none --target riscv64gc-unknown-none-elf";
    let output = folder
        .program(&hello())
        .run(&format!("{targets} --key-file key --output-dir . program.wasm"));
    assert!(output.status.success(), "{output:?}");
    for triple in ["x86_64-unknown-none", "riscv64gc-unknown-none-elf"] {
        let target = Target::from_triple(triple).unwrap();
        let name = cache_name(
            &source_digest(&hello()),
            target,
            CpuFeatures::baseline(target.isa),
        );
        let file = fs::read(folder.0.join(name)).unwrap();
        Artifact::parse(&file, &KEY)
            .unwrap()
            .fits(target, CpuFeatures::baseline(target.isa))
            .unwrap();
    }
}

#[test]
fn progress_is_one_object_a_line() {
    let folder = Folder::new("progress");
    let output = folder
        .program(&hello())
        .run("--json --key-file key --output out program.wasm");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let stages: Vec<&str> = lines.iter().map(|line| line["stage"].as_str().unwrap()).collect();
    assert_eq!(stages, ["validate", "rewrite", "compile", "done"]);
    assert_eq!(lines[3]["output"], "out");
    assert_eq!(
        lines[3]["bytes"],
        fs::metadata(folder.0.join("out")).unwrap().len()
    );
}

#[test]
fn a_refused_program_ends_with_1_and_says_why() {
    let folder = Folder::new("refused");
    let output = folder
        .program(b"junk")
        .run("--json --key-file key --output out program.wasm");
    assert_eq!(output.status.code(), Some(1));
    let expected = "satrap-compiler: program.wasm: not a WebAssembly module but something else\n";
    assert_eq!(String::from_utf8(output.stderr).unwrap(), expected);
    assert!(
        String::from_utf8(output.stdout)
            .unwrap()
            .contains(r#""stage":"error""#)
    );
    assert!(!folder.0.join("out").exists());
}

#[test]
fn wrong_usage_ends_with_2_and_missing_files_with_3() {
    let folder = Folder::new("usage");
    assert_eq!(folder.run("--frobnicate").status.code(), Some(2));
    assert_eq!(
        folder
            .run("--key-file key --output out absent.wasm")
            .status
            .code(),
        Some(3)
    );
    fs::write(folder.0.join("short"), [0; 31]).unwrap();
    let output = folder
        .program(&hello())
        .run("--key-file short --output out program.wasm");
    assert_eq!(output.status.code(), Some(3));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("a key has 32 bytes, not 31")
    );
    let output = folder.run("--key-file key --output no/such/folder program.wasm");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn help_and_version_succeed() {
    let folder = Folder::new("help");
    assert!(folder.run("--help").status.success());
    assert!(
        String::from_utf8(folder.run("--version").stdout)
            .unwrap()
            .contains("wasmtime 48.0.8")
    );
}

/// A valid program that keeps the code generator busy: as many functions as CPUs could ever share, each of
/// `statements` loads and stores that depend on one another.
fn laborious(statements: usize) -> Vec<u8> {
    let mut types = TypeSection::new();
    types.ty().function([], []);
    let mut memories = MemorySection::new();
    let memory = MemoryType {
        minimum: 1,
        maximum: None,
        memory64: false,
        shared: false,
        page_size_log2: None,
    };
    memories.memory(memory);
    let (mut functions, mut code, mut exports) =
        (FunctionSection::new(), CodeSection::new(), ExportSection::new());
    exports.export("_start", ExportKind::Func, 0);
    for _ in 0..64 {
        functions.function(0);
        let mut body = Function::new([]);
        let at = MemArg {
            offset: 0,
            align: 2,
            memory_index: 0,
        };
        for _ in 0..statements {
            body.instructions()
                .i32_const(0)
                .i32_const(0)
                .i32_load(at)
                .i32_load(at)
                .i32_store(at);
        }
        body.instructions().end();
        code.function(&body);
    }
    let mut module = Module::new();
    module
        .section(&types)
        .section(&functions)
        .section(&memories)
        .section(&exports)
        .section(&code);
    module.finish()
}

#[test]
fn a_program_that_needs_too_much_memory_kills_only_the_compiler() {
    let folder = Folder::new("memory");
    let program = folder.program(&laborious(20_000));
    let output = program.run("--memory-limit 96 --key-file key --output out program.wasm");
    assert_eq!(output.status.signal(), Some(Signal::ABORT.as_raw()), "{output:?}");
    assert!(!folder.0.join("out").exists());
}

#[test]
fn a_program_that_needs_too_much_time_kills_only_the_compiler() {
    let folder = Folder::new("time");
    let program = folder.program(&laborious(20_000));
    let output = program.run("--time-limit 1 --key-file key --output out program.wasm");
    assert_eq!(output.status.signal(), Some(Signal::XCPU.as_raw()), "{output:?}");
    assert!(!folder.0.join("out").exists());
}

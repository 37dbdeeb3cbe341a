//! `satrap-compiler`: the coordinator's child that compiles one program, and nothing else.
//!
//! It is a process of its own so that the code generator, which is large and reads hostile input, runs within
//! limits and can be killed. Errors go to standard error for people; `--json` reports progress on standard
//! output, one object a line, for the coordinator.

#![forbid(unsafe_code)]

mod arguments;
mod limits;
mod progress;

use arguments::{Arguments, Output, Request};
use progress::Progress;
use satrap_abi::artifact::{Key, Target, engine};
use satrap_compiler::{PROGRAM_MAX, Program, Stage};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// How the compiler ends when it does not succeed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Failure {
    /// The program was refused.
    Program = 1,
    /// The command line was wrong.
    Usage = 2,
    /// A file could not be read or written, or a limit could not be set.
    System = 3,
}

type Outcome<T> = Result<T, (Failure, String)>;

fn main() -> ExitCode {
    let arguments = match Arguments::parse(std::env::args_os()) {
        Ok(Request::Compile(arguments)) => arguments,
        Ok(Request::Help) => {
            print!("{}", arguments::HELP);
            return ExitCode::SUCCESS;
        }
        Ok(Request::Version) => {
            println!(
                "satrap-compiler {} ({})",
                env!("CARGO_PKG_VERSION"),
                engine::VERSION
            );
            return ExitCode::SUCCESS;
        }
        Err(message) => {
            eprintln!("satrap-compiler: {message}\nTry `satrap-compiler --help`.");
            return ExitCode::from(Failure::Usage as u8);
        }
    };
    let progress = Progress::new(arguments.json);
    match run(&arguments, &progress) {
        Ok(()) => ExitCode::SUCCESS,
        Err((failure, message)) => {
            progress.failed(&message);
            eprintln!("satrap-compiler: {message}");
            ExitCode::from(failure as u8)
        }
    }
}

fn run(arguments: &Arguments, progress: &Progress) -> Outcome<()> {
    limits::set(arguments.memory, arguments.seconds)
        .map_err(|error| (Failure::System, format!("cannot limit memory and time: {error}")))?;
    let key = read_key(&arguments.key)?;
    let path = &arguments.program;
    let refused =
        |error: satrap_compiler::CompileError| (Failure::Program, format!("{}: {error}", path.display()));
    let wasm = read(path, PROGRAM_MAX + 1)?;
    let program = Program::prepare_with(&wasm, |stage| progress.stage(name(stage), None)).map_err(refused)?;
    for target in &arguments.targets {
        progress.stage("compile", Some(*target));
        let artifact = program
            .compile(*target, arguments.features, &key)
            .map_err(refused)?;
        let output = output_path(arguments, &program, *target);
        write(&output, &artifact)?;
        progress.done(*target, &output, artifact.len());
    }
    Ok(())
}

const fn name(stage: Stage) -> &'static str {
    match stage {
        Stage::Validate => "validate",
        Stage::Rewrite => "rewrite",
    }
}

fn output_path(arguments: &Arguments, program: &Program, target: Target) -> PathBuf {
    match &arguments.output {
        Output::File(file) => file.clone(),
        Output::Directory(folder) => folder.join(program.cache_name(target, arguments.features)),
    }
}

fn read_key(path: &Path) -> Outcome<Key> {
    let bytes = read(path, size_of::<Key>() + 1)?;
    bytes.try_into().map_err(|bytes: Vec<u8>| {
        let wrong = format!(
            "{}: a key has {} bytes, not {}",
            path.display(),
            size_of::<Key>(),
            bytes.len()
        );
        (Failure::System, wrong)
    })
}

/// Reads at most `limit` bytes.
fn read(path: &Path, limit: usize) -> Outcome<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(limit as u64).read_to_end(&mut bytes))
        .map_err(|error| {
            (
                Failure::System,
                format!("cannot read {}: {error}", path.display()),
            )
        })?;
    Ok(bytes)
}

/// Writes a file so that whoever finds it under its name finds all of it.
fn write(path: &Path, bytes: &[u8]) -> Outcome<()> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(format!(".{}", std::process::id()));
    let partial = PathBuf::from(partial);
    let written = write_whole(&partial, bytes).and_then(|()| fs::rename(&partial, path));
    written.map_err(|error| {
        // The first error is the one to report; a partial file that cannot be removed harms nobody.
        let _ = fs::remove_file(&partial);
        (
            Failure::System,
            format!("cannot write {}: {error}", path.display()),
        )
    })
}

fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

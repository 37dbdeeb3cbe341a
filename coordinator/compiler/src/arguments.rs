//! The command line: what may be said, and what is wrong with what was said.
//!
//! Paths are not touched here; `main` opens them, so that a wrong file is no wrong usage.

use lexopt::{Arg, Parser, ValueExt};
use satrap_abi::artifact::{CpuFeature, CpuFeatures, Target};
use satrap_compiler::host_features;
use std::ffi::OsString;
use std::path::PathBuf;

/// Default limit on address space, in bytes.
const MEMORY: u64 = 4 << 30;
/// Default limit on CPU time, in seconds.
const SECONDS: u64 = 300;

pub const HELP: &str = "\
Compiles a WebAssembly program for Satrap's satellite kernels.

usage: satrap-compiler [options] --key-file FILE --output-dir FOLDER PROGRAM.wasm

  --target TRIPLE       what to compile for; may be given more than once
                        (default: a hosted satellite on this machine)
  --cpu-features LIST   `baseline` (default), `host`, or names such as avx2,bmi2
  --key-file FILE       the coordinator's key, 32 bytes
  --key-fd N            the same from an open file descriptor (a file or a pipe)
  --output-dir FOLDER   put each artifact here under its name in the cache
  --output FILE         put the artifact here (one target only)
  --json                report progress on standard output, one object a line
  --memory-limit MIB    address space that this process may use (default 4096)
  --time-limit SECONDS  CPU time that this process may use (default 300)
  --help                show this text
  --version             show the version

Targets: x86_64-unknown-linux-gnu, x86_64-unknown-none, aarch64-unknown-linux-gnu,
aarch64-unknown-none, riscv64gc-unknown-linux-gnu, riscv64gc-unknown-none-elf.

Exit status: 0 done, 1 the program was refused, 2 wrong usage, 3 a file or limit failed.
";

/// What a command line asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Request {
    Help,
    Version,
    Compile(Arguments),
}

/// Where artifacts go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output {
    /// This file.
    File(PathBuf),
    /// This folder, under the name in the cache.
    Directory(PathBuf),
}

/// What was asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arguments {
    pub targets: Vec<Target>,
    pub features: CpuFeatures,
    pub key: PathBuf,
    pub output: Output,
    pub program: PathBuf,
    pub json: bool,
    /// Bytes.
    pub memory: u64,
    pub seconds: u64,
}

/// The same while it is being read.
#[derive(Default)]
struct Draft {
    targets: Vec<Target>,
    features: CpuFeatures,
    key: Option<PathBuf>,
    output: Option<Output>,
    program: Option<PathBuf>,
    json: bool,
    memory: Option<u64>,
    seconds: Option<u64>,
}

impl Arguments {
    /// Reads the command line.
    pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Request, String> {
        let mut parser = Parser::from_iter(arguments);
        let mut draft = Draft::default();
        while let Some(argument) = parser.next().map_err(|error| error.to_string())? {
            let name = match argument {
                Arg::Long("help") | Arg::Short('h') => return Ok(Request::Help),
                Arg::Long("version") => return Ok(Request::Version),
                Arg::Long(name) => name.to_owned(),
                Arg::Value(program) if draft.program.is_none() => {
                    draft.program = Some(program.into());
                    continue;
                }
                other => return Err(other.unexpected().to_string()),
            };
            draft
                .option(&name, &mut parser)
                .map_err(|error| error.to_string())?;
        }
        draft.finish().map(Request::Compile)
    }
}

impl Draft {
    fn option(&mut self, name: &str, parser: &mut Parser) -> Result<(), lexopt::Error> {
        match name {
            "target" => self.targets.push(parser.value()?.parse_with(target)?),
            "cpu-features" => self.features = parser.value()?.parse_with(features)?,
            "key-file" => self.key = Some(parser.value()?.into()),
            "key-fd" => self.key = Some(format!("/dev/fd/{}", parser.value()?.parse::<u32>()?).into()),
            "output-dir" => self.output = Some(Output::Directory(parser.value()?.into())),
            "output" => self.output = Some(Output::File(parser.value()?.into())),
            "json" => self.json = true,
            "memory-limit" => self.memory = Some(parser.value()?.parse::<u64>()?.saturating_mul(1 << 20)),
            "time-limit" => self.seconds = Some(parser.value()?.parse()?),
            _ => return Err(Arg::Long(name).unexpected()),
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Arguments, String> {
        if self.targets.is_empty() {
            self.targets.push(Target::hosted_here());
        }
        let output = self.output.ok_or("say where to with --output-dir or --output")?;
        if matches!(output, Output::File(_)) && self.targets.len() > 1 {
            return Err("--output holds one artifact; with several targets use --output-dir".to_owned());
        }
        Ok(Arguments {
            targets: self.targets,
            features: self.features,
            key: self
                .key
                .ok_or("the coordinator's key is missing: --key-file or --key-fd")?,
            output,
            program: self.program.ok_or("which program?")?,
            json: self.json,
            memory: self.memory.unwrap_or(MEMORY),
            seconds: self.seconds.unwrap_or(SECONDS),
        })
    }
}

fn target(triple: &str) -> Result<Target, String> {
    Target::from_triple(triple).ok_or_else(|| {
        let known: Vec<&str> = Target::ALL.into_iter().map(Target::triple).collect();
        format!("no such target; there are {}", known.join(", "))
    })
}

fn features(list: &str) -> Result<CpuFeatures, String> {
    let feature = |name| CpuFeature::from_name(name).ok_or_else(|| format!("no CPU feature `{name}`"));
    match list {
        "baseline" => Ok(CpuFeatures::NONE),
        "host" => Ok(host_features()),
        names => names.split(',').map(feature).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Arguments, String> {
        let words = std::iter::once("satrap-compiler")
            .chain(line.split(' '))
            .map(OsString::from);
        Arguments::parse(words).map(|request| match request {
            Request::Compile(arguments) => arguments,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn a_short_command_line_has_defaults() {
        let arguments = parse("--key-fd 3 --output-dir cache a.wasm").unwrap();
        assert_eq!(arguments.targets, [Target::hosted_here()]);
        assert_eq!(arguments.key, PathBuf::from("/dev/fd/3"));
        assert_eq!((arguments.memory, arguments.seconds), (MEMORY, SECONDS));
    }

    #[test]
    fn wrong_usage_says_what_is_wrong() {
        let error = |line: &str| parse(line).unwrap_err();
        assert_eq!(
            error("--output-dir d a.wasm"),
            "the coordinator's key is missing: --key-file or --key-fd"
        );
        assert_eq!(
            error("--key-fd 3 a.wasm"),
            "say where to with --output-dir or --output"
        );
        assert_eq!(error("--key-fd 3 --output-dir d"), "which program?");
        assert!(error("--target z80").contains("riscv64gc-unknown-none-elf"));
        assert!(error("--cpu-features avx9000").contains("no CPU feature `avx9000`"));
        assert!(error("--loud").contains("--loud"));
        let two = "--target x86_64-unknown-none --target aarch64-unknown-none --key-fd 3 --output f a.wasm";
        assert!(error(two).contains("--output-dir"));
    }

    #[test]
    fn cpu_features_may_be_listed() {
        let arguments = parse("--cpu-features avx,avx2 --key-fd 3 --output f a.wasm").unwrap();
        assert_eq!(arguments.features.to_string(), "avx,avx2");
    }
}

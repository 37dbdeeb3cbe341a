//! `png-generate`: writes a folder of varied PNGs. Neighbour: `lib`, which makes them.
//!
//! The same seed gives the same files, on every machine; `./x demo` makes its pictures with the library
//! instead.

#![forbid(unsafe_code)]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use png_generate::Options;

const HELP: &str = "\
Writes varied PNGs into a folder, the same for the same seed.

Usage: png-generate FOLDER [--count N] [--seed N] [--largest PIXELS]

  --count N         how many files (default 30)
  --seed N          another seed, other pictures (default 1)
  --largest PIXELS  width of the largest picture (default 1600: some 4 MB)
";

/// What the command line asks for.
struct Task {
    folder: PathBuf,
    options: Options,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.is_empty()
        || arguments
            .iter()
            .any(|argument| argument == "--help" || argument == "-h")
    {
        print!("{HELP}");
        return ExitCode::from(if arguments.is_empty() { 2 } else { 0 });
    }
    match Task::parse(&arguments).and_then(|task| generate(&task)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

impl Task {
    fn parse(arguments: &[String]) -> Result<Task, Box<dyn Error + Send + Sync>> {
        let mut folder = PathBuf::new();
        let mut options = Options {
            count: 30,
            seed: 1,
            largest: 1600,
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--count" => options.count = value()?.parse()?,
                "--seed" => options.seed = value()?.parse()?,
                "--largest" => options.largest = value()?.parse()?,
                flag if flag.starts_with('-') => return Err(format!("unknown option {flag}").into()),
                name if folder.as_os_str().is_empty() => folder = name.into(),
                extra => return Err(format!("unexpected argument {extra}").into()),
            }
        }
        if folder.as_os_str().is_empty() {
            return Err("say which folder to write to".into());
        }
        if !(1..=8192).contains(&options.largest) {
            return Err("--largest is a width from 1 to 8192 pixels".into());
        }
        Ok(Task { folder, options })
    }
}

fn generate(task: &Task) -> Result<(), Box<dyn Error + Send + Sync>> {
    std::fs::create_dir_all(&task.folder)?;
    let mut total = 0;
    for file in png_generate::files(&task.options) {
        let file = file?;
        std::fs::write(task.folder.join(&file.name), &file.bytes)?;
        total += file.bytes.len();
    }
    println!(
        "{} PNGs, {} KiB, in {}",
        task.options.count,
        total >> 10,
        Path::display(&task.folder)
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_command_line_is_explained() {
        let parse = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            Task::parse(&words).err().map(|error| error.to_string())
        };
        assert_eq!(parse("out --count"), Some("--count needs a value".into()));
        assert_eq!(parse("out more"), Some("unexpected argument more".into()));
        assert_eq!(parse("out --size 3"), Some("unknown option --size".into()));
        assert_eq!(parse("out --count 3"), None);
    }
}

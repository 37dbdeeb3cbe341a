//! The command line.
//!
//! `--quick` measures less and says so; names choose benches. `main.rs` acts on it, `benches` has the names.

use crate::benches::ALL;
use crate::failure::{Failure, Result};

/// What to measure and how to print it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Names of benches or groups; none means all.
    pub only: Vec<String>,
    /// A few seconds for each, for figures that show only that all works.
    pub quick: bool,
    /// One JSON object a line instead of a table.
    pub json: bool,
    /// Only say what there is.
    pub help: bool,
}

impl Options {
    /// Reads the arguments after the program's name.
    pub fn parse(arguments: &[String]) -> Result<Options> {
        let mut options = Options::default();
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--json" => options.json = true,
                "--quick" => options.quick = true,
                "--help" | "-h" => options.help = true,
                "--only" => {
                    let name = words.next();
                    let name = name.ok_or_else(|| Failure::new("--only wants the name of a bench"))?;
                    options.only.push(known(name)?);
                }
                name if !name.starts_with('-') => options.only.push(known(name)?),
                other => {
                    return Err(Failure::new(format!(
                        "there is no option {other}; --help lists them"
                    )));
                }
            }
        }
        Ok(options)
    }

    /// Whether it asks for this bench.
    pub fn wants(&self, bench: &crate::benches::Bench) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| bench.answers_to(name))
    }
}

fn known(name: &str) -> Result<String> {
    if ALL.iter().any(|bench| bench.answers_to(name)) {
        return Ok(name.to_owned());
    }
    let names: Vec<&str> = ALL.iter().map(|bench| bench.name).collect();
    let names = names.join(", ");
    Err(Failure::new(format!(
        "there is no bench {name}; there are {names}"
    )))
}

/// The answer to `--help`.
pub fn help() -> String {
    let mut text = String::from(
        "Measures Satrap, each figure beside its baseline of the same run.\n\n\
         Usage: satrap-bench [BENCH]... [--only BENCH] [--quick] [--json]\n\n\
         \x20 --only BENCH  the same as BENCH alone\n\
         \x20 --quick       a few seconds for each bench\n\
         \x20 --json        one JSON object a line\n\nBenches:\n",
    );
    for bench in ALL {
        text.push_str(&format!("  {:<14}{}\n", bench.name, bench.summary));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options> {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        Options::parse(&words)
    }

    #[test]
    fn a_bench_is_named_with_only_or_without() {
        let options = parse("--only abi rmp/idle --json").unwrap();
        assert_eq!(options.only, ["abi", "rmp/idle"]);
        assert!(options.json && !options.quick);
    }

    #[test]
    fn an_unknown_bench_is_told_which_there_are() {
        let error = parse("--only abl").unwrap_err().to_string();
        assert!(
            error.starts_with("there is no bench abl; there are abi, lmp,"),
            "{error}"
        );
        assert!(parse("--only").is_err() && parse("--fast").is_err());
    }
}

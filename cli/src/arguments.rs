//! The command line's language: every command, flag and help text, and nothing else.
//!
//! Help is written for someone who reads only it. Neighbours: `commands` gives each variant its meaning.

use clap::{Args, ColorChoice, Parser, Subcommand, ValueHint, builder::NonEmptyStringValueParser};
use clap_complete::Shell;
use std::path::PathBuf;

/// Most satellites that may be asked for: as many as a machine may have kernels.
const SATELLITES_MAX: i64 = 64;

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    it failed; standard error says why
  2    the command line is wrong
  3    no coordinator is running
  141  whoever read the output went away

`satrap run` ends with the code of its program, or with
  70   its satellite died
  126  it could not be started
  130  Ctrl-C ended it
  134  it trapped: panic, stack overflow, access out of bounds ...
  137  it was killed

Environment:
  SATRAP_SOCKET   the coordinator's control socket (as --socket)
  SATRAP_BIN_DIR  folder of satrap-hosted and satrap-compiler, if not beside satrap
  SATRAP_CACHE    folder of compiled programs
  NO_COLOR        no colours, if set";

/// A multikernel for heterogeneous machines: run WebAssembly applications on satellite kernels.
#[derive(Parser, Debug)]
#[command(name = "satrap", version, after_help = EXIT_CODES, max_term_width = 110)]
#[command(
    propagate_version = true,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub struct Arguments {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Args, Debug)]
pub struct Global {
    /// Print JSON: one value, or one a line where the output is a stream
    #[arg(long, global = true)]
    pub json: bool,
    /// The coordinator's control socket [default: $SATRAP_SOCKET, or one of your own]
    #[arg(long, global = true, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub socket: Option<PathBuf>,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value_t = ColorChoice::Auto)]
    pub color: ColorChoice,
    /// Say on standard error where the time went
    #[arg(long, global = true, hide = true)]
    pub timings: bool,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Start a coordinator and its satellites
    Up(Up),
    /// End every process, the satellites and the coordinator
    Down,
    /// Show the whole system at a glance
    Status,
    /// Show the satellite kernels and their figures
    Kernels,
    /// Compile programs into the cache, so that they start at once
    Install(Install),
    /// Run an application or a program until it ends
    #[command(after_help = RUN_EXAMPLES)]
    Run(Run),
    /// List processes
    Ps(Ps),
    /// List the names in the namespace
    Ns(Ns),
    /// Show where an application's processes would be placed
    Place(Place),
    /// Print what processes wrote
    Logs(Logs),
    /// Kill a process, or every process of an application
    Kill(Kill),
    /// Watch satellites, processes and channels live
    Top,
    /// Work with contracts
    #[command(subcommand)]
    Contract(Contract),
    /// Print a completion script for a shell
    #[command(
        after_help = "Example: satrap completions bash > ~/.local/share/bash-completion/completions/satrap"
    )]
    Completions {
        /// The shell
        shell: Shell,
    },
}

const RUN_EXAMPLES: &str = "\
Options may stand on either side of the file. From its first argument, or `--`, on, everything is the
program's own.

Examples:
  satrap run hello.wasm
  satrap run tool.wasm input.txt --flag value
  satrap run tool.wasm -- --json
  satrap run app/Satrap.toml --affinity client.echo=-1 --satellites 2";

/// `satrap up`.
#[derive(Args, Debug)]
pub struct Up {
    #[command(flatten)]
    pub satellites: Satellites,
    /// Stay in the foreground, until Ctrl-C or `satrap down`
    #[arg(long)]
    pub foreground: bool,
    /// How `up` starts itself again, apart from the terminal; says on standard output when it is ready
    #[arg(long, hide = true)]
    pub detached: bool,
}

/// How many satellites a coordinator that this command starts will have.
#[derive(Args, Clone, Copy, Debug)]
pub struct Satellites {
    /// Start this many satellites, and share the cores among them [default: one for each NUMA node]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=SATELLITES_MAX))]
    pub satellites: Option<u16>,
}

/// `satrap install`.
#[derive(Args, Debug)]
pub struct Install {
    /// Programs (.wasm), and applications (.toml) with all their programs
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
}

/// `satrap run`.
#[derive(Args, Debug)]
pub struct Run {
    #[command(flatten)]
    pub affinity: Affinity,
    #[command(flatten)]
    pub satellites: Satellites,
    /// Leave it to the running coordinator and return once every process runs
    #[arg(long, short)]
    pub detach: bool,
    /// Say where each process is placed and why, and when it starts and ends
    #[arg(long, short)]
    pub verbose: bool,
    /// An application's manifest (.toml) or a program (.wasm)
    #[arg(value_name = "APP.toml|PROGRAM.wasm", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Arguments of the program, or of the application's first process
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub args: Vec<String>,
}

/// Affinities given at run time.
#[derive(Args, Debug)]
pub struct Affinity {
    /// Replace an affinity of the manifest; NUMBER is a channel, `self` or `platform:NAME`
    #[arg(long = "affinity", value_name = "PROCESS.NUMBER=N", value_parser = NonEmptyStringValueParser::new())]
    pub overrides: Vec<String>,
}

/// `satrap ps`.
#[derive(Args, Debug)]
pub struct Ps {
    /// Also those that have ended
    #[arg(long, short)]
    pub all: bool,
}

/// `satrap ns`.
#[derive(Args, Debug)]
pub struct Ns {
    /// Only names that begin so
    #[arg(default_value = "/")]
    pub prefix: String,
}

/// `satrap place`.
#[derive(Args, Debug)]
pub struct Place {
    /// Every candidate with its numbers, and what would change the decision
    #[arg(long)]
    pub explain: bool,
    #[command(flatten)]
    pub affinity: Affinity,
    #[command(flatten)]
    pub satellites: Satellites,
    /// An application's manifest (.toml) or a program (.wasm)
    #[arg(value_name = "APP.toml|PROGRAM.wasm", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
}

/// `satrap logs`.
#[derive(Args, Debug)]
pub struct Logs {
    /// Only of this process: its id, `name`, or `application/name`
    pub process: Option<String>,
    /// Go on as more is written
    #[arg(long, short)]
    pub follow: bool,
}

/// `satrap kill`.
#[derive(Args, Debug)]
pub struct Kill {
    /// A process (id, `name` or `application/name`) or an application's name
    #[arg(value_name = "PROCESS|APP")]
    pub target: String,
}

/// `satrap contract`.
#[derive(Subcommand, Debug)]
pub enum Contract {
    /// Check contracts and show their states, messages and hashes
    Check {
        /// Contracts (.wit)
        #[arg(required = true, value_name = "FILE.wit", value_hint = ValueHint::FilePath)]
        files: Vec<PathBuf>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn parse(line: &str) -> Result<Command, clap::Error> {
        Arguments::try_parse_from(line.split(' ')).map(|arguments| arguments.command)
    }

    #[test]
    fn the_language_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn options_may_follow_the_file_until_the_programs_own_arguments_begin() {
        let lines = [
            "satrap run a.wasm --satellites 2 x --json -y",
            "satrap run --satellites 2 a.wasm -- x --json -y",
        ];
        for line in lines {
            let Ok(Command::Run(run)) = parse(line) else {
                panic!("run is a command");
            };
            assert_eq!(run.args, ["x", "--json", "-y"], "{line}");
            assert_eq!(run.satellites.satellites, Some(2), "{line}");
        }
    }

    #[test]
    fn affinities_come_one_by_one_and_may_be_negative() {
        let Ok(Command::Run(run)) = parse("satrap run --affinity a.b=-1 --affinity c.self=2 x.toml y") else {
            panic!("run is a command");
        };
        assert_eq!(run.affinity.overrides, ["a.b=-1", "c.self=2"]);
        assert_eq!(
            (run.file, run.args),
            (PathBuf::from("x.toml"), vec!["y".to_owned()])
        );
    }

    #[test]
    fn global_options_stand_on_either_side_of_the_command() {
        for line in ["satrap --json ps", "satrap ps --json"] {
            let arguments = Arguments::try_parse_from(line.split(' ')).expect("both are good");
            assert!(arguments.global.json);
        }
    }

    #[test]
    fn a_wrong_line_ends_with_2() {
        for line in [
            "satrap",
            "satrap runn",
            "satrap run",
            "satrap up --satellites 0",
            "satrap install",
        ] {
            let error = parse(line).expect_err("the line is wrong");
            assert_eq!(error.exit_code(), 2, "{line}");
        }
    }

    #[test]
    fn the_help_tells_every_exit_code() {
        let help = Arguments::command().render_help().to_string();
        for code in ["0 ", "1 ", "2 ", "3 ", "70 ", "126", "130", "134", "137", "141"] {
            assert!(
                help.contains(&format!("\n  {code} ")),
                "{code} is not documented:\n{help}"
            );
        }
    }
}

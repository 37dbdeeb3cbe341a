//! Runs other programs: loudly for a command that is one program, quietly with a log for a step of many.
//!
//! A child never inherits what `cargo run` puts into the environment: it would make cargo rebuild things,
//! and would hand rustup's libraries to Debian's compiler.

use crate::failure::{About, Failure, Result};
use crate::ui::Progress;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A command without what `cargo run` added to the environment.
pub fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&*name);
        }
    }
    command
        .env_remove("CARGO")
        .env_remove("CARGO_PRIMARY_PACKAGE")
        .env_remove("LD_LIBRARY_PATH");
    command
}

/// Runs it on our own terminal; its failure is ours.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().about(name(command))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::child(code(status)))
    }
}

/// Runs it and returns its standard output; `None` when it cannot be started or fails.
pub fn output(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
}

/// Whether `program` can be found on the `PATH`, and where.
pub fn find(program: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

/// What is left of a logged child.
pub struct Logged {
    /// Whether it ended with status 0 in time.
    pub success: bool,
    /// Standard output and error, in the order they came.
    pub text: String,
}

/// Runs it with its output going to `log` and to `progress`; `limit` ends it.
pub fn logged(
    command: &mut Command,
    log: &mut File,
    progress: &mut Progress,
    limit: Duration,
) -> Result<Logged> {
    let title = describe(command);
    writeln!(log, "$ {title}").about("the log")?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .about(name(command))?;
    let lines = lines_of(&mut child);
    let deadline = Instant::now() + limit;
    let mut text = String::new();
    let mut late = false;
    loop {
        match lines.recv_timeout(Duration::from_secs(1)) {
            Ok(line) => {
                writeln!(log, "{line}").about("the log")?;
                progress.tick(&line);
                text += &line;
                text.push('\n');
            }
            Err(RecvTimeoutError::Timeout) => progress.tick(""),
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if !late && Instant::now() > deadline {
            late = true;
            text += &format!("x: stopped after {} s: {title}\n", limit.as_secs());
            end_tree(child.id());
        }
    }
    let status = child.wait().about(&title)?;
    Ok(Logged {
        success: status.success() && !late,
        text,
    })
}

/// Both outputs of a child, line by line, as one stream that ends when both are closed.
fn lines_of(child: &mut Child) -> std::sync::mpsc::Receiver<String> {
    let (sender, receiver) = channel();
    let outputs: [Option<Box<dyn Read + Send>>; 2] = [
        child
            .stdout
            .take()
            .map(|output| Box::new(output) as Box<dyn Read + Send>),
        child
            .stderr
            .take()
            .map(|output| Box::new(output) as Box<dyn Read + Send>),
    ];
    for output in outputs.into_iter().flatten() {
        let sender = sender.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(output).split(b'\n').map_while(|line| line.ok()) {
                if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    break;
                }
            }
        });
    }
    receiver
}

/// Ends a process and all that it started: a test that hangs is a grandchild, and cargo waits for it.
fn end_tree(process: u32) {
    let mut family = vec![process.to_string()];
    let mut next = 0;
    while let Some(parent) = family.get(next) {
        let children = format!("/proc/{parent}/task/{parent}/children");
        let children = std::fs::read_to_string(children).unwrap_or_default();
        family.extend(children.split_whitespace().map(str::to_string));
        next += 1;
    }
    // One that ended meanwhile makes `kill` complain, which is no news.
    let _ = Command::new("kill")
        .arg("-KILL")
        .args(&family)
        .stderr(Stdio::null())
        .status();
}

/// The command as one would type it.
pub fn describe(command: &Command) -> String {
    let mut words: Vec<String> = Vec::new();
    for (key, value) in command.get_envs() {
        if let Some(value) = value {
            words.push(format!(
                "{}={}",
                key.to_string_lossy(),
                quoted(&value.to_string_lossy())
            ));
        }
    }
    words.push(name(command));
    words.extend(command.get_args().map(|word| quoted(&word.to_string_lossy())));
    words.join(" ")
}

fn quoted(word: &str) -> String {
    if word.contains([' ', '*', '"']) {
        format!("'{word}'")
    } else {
        word.to_string()
    }
}

fn name(command: &Command) -> String {
    Path::new(command.get_program()).display().to_string()
}

fn code(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;
    let code = status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(name: &str) -> File {
        File::create(crate::repo::scratch(name).join("log")).expect("create the log")
    }

    #[test]
    fn both_outputs_and_the_failure_of_a_child_are_seen() {
        let mut shell = command("sh");
        shell.args(["-c", "echo out; echo err >&2; exit 3"]);
        let mut progress = Progress::start("probe");
        let done = logged(
            &mut shell,
            &mut log("both"),
            &mut progress,
            Duration::from_secs(10),
        )
        .expect("run");
        assert!(!done.success && done.text.contains("out") && done.text.contains("err"));
    }

    #[test]
    fn a_child_that_takes_too_long_is_stopped() {
        let mut sleep = command("sh");
        sleep.args(["-c", "sleep 30; echo never"]);
        let mut progress = Progress::start("probe");
        let done = logged(&mut sleep, &mut log("late"), &mut progress, Duration::ZERO).expect("run");
        assert!(!done.success && done.text.contains("stopped after"));
    }
}

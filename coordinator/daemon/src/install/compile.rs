//! One run of `satrap-compiler`: a child process with a time limit, whose progress comes as JSON lines.
//!
//! The child may be killed at any moment: what it writes counts only after it has succeeded.

use crate::api::Stage;
use satrap_abi::artifact::Target;
use serde::Deserialize;
use std::{
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

/// Longest run of the compiler on one program.
pub const COMPILE_TIMEOUT: Duration = Duration::from_secs(300);
/// Longest text that is kept of what a compiler says about a failure, in bytes.
const COMPLAINT_MAX: u64 = 16 << 10;
/// How often a running compiler is looked at.
const PATIENCE: Duration = Duration::from_millis(50);

/// Told how far a compilation is.
pub(super) type Progress<'a> = &'a dyn Fn(Stage);

/// The compiler's program.
#[derive(Clone, Debug)]
pub struct Compiler {
    program: PathBuf,
    key_file: PathBuf,
}

/// A line that the compiler prints. Fields that are not known here are passed over.
#[derive(Deserialize)]
#[serde(tag = "stage", rename_all = "kebab-case")]
enum Line {
    Validate,
    Rewrite,
    Compile,
    Done,
    Error { message: String },
}

impl Compiler {
    /// The compiler at `program`, which seals artifacts under the key in `key_file`.
    pub fn new(program: PathBuf, key_file: PathBuf) -> Compiler {
        Compiler { program, key_file }
    }

    /// Compiles `source` for `target` into `output`. The error is the compiler's own words.
    pub(super) fn run(
        &self,
        source: &Path,
        target: Target,
        output: &Path,
        progress: Progress<'_>,
        stop: &AtomicBool,
    ) -> Result<(), String> {
        let mut child = self.start(source, target, output)?;
        let (said, complaint) = listen(&mut child);
        let deadline = Instant::now() + COMPILE_TIMEOUT;
        let mut refusal = None;
        loop {
            match said.recv_timeout(PATIENCE) {
                Ok(Line::Validate) => progress(Stage::Validate),
                Ok(Line::Rewrite) => progress(Stage::Rewrite),
                Ok(Line::Compile) => progress(Stage::Compile),
                Ok(Line::Done) => progress(Stage::Done),
                Ok(Line::Error { message }) => refusal = Some(without_path(source, &message)),
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
            let stopped = stop.load(Ordering::Relaxed);
            if stopped || Instant::now() >= deadline {
                end(child);
                return Err(match stopped {
                    true => "the installation was stopped".into(),
                    false => format!("the compiler took longer than {} s", COMPILE_TIMEOUT.as_secs()),
                });
            }
        }
        let status = child
            .wait()
            .map_err(|error| format!("cannot wait for the compiler: {error}"))?;
        if status.success() {
            return Ok(());
        }
        let complaint = complaint.recv().unwrap_or_default();
        Err(refusal.unwrap_or_else(|| match complaint.trim() {
            "" => format!("the compiler failed: {status}"),
            words => words.to_owned(),
        }))
    }

    fn start(&self, source: &Path, target: Target, output: &Path) -> Result<Child, String> {
        let spawned = Command::new(&self.program)
            .args(["--target", target.triple(), "--json", "--key-file"])
            .arg(&self.key_file)
            .arg("--output")
            .arg(output)
            .arg(source)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        spawned.map_err(|error| {
            let program = self.program.display();
            format!("cannot start the compiler {program}: {error}; name its folder with SATRAP_BIN_DIR")
        })
    }
}

/// The compiler names the program, and so does whoever shows its words.
fn without_path(source: &Path, message: &str) -> String {
    let prefix = format!("{}: ", source.display());
    message.strip_prefix(&prefix).unwrap_or(message).to_owned()
}

/// Reads both streams of a compiler until they end.
fn listen(child: &mut Child) -> (mpsc::Receiver<Line>, mpsc::Receiver<String>) {
    let (lines, said) = mpsc::channel();
    let (words, complaint) = mpsc::channel();
    if let Some(out) = child.stdout.take() {
        thread::spawn(move || forward(out, &lines));
    }
    if let Some(err) = child.stderr.take() {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            // What was read before an error is still worth showing.
            let _ = err.take(COMPLAINT_MAX).read_to_end(&mut bytes);
            let _ = words.send(String::from_utf8_lossy(&bytes).into_owned());
        });
    }
    (said, complaint)
}

fn forward(out: ChildStdout, lines: &mpsc::Sender<Line>) {
    for text in BufReader::new(out).lines().map_while(Result::ok) {
        let Ok(line) = serde_json::from_str(&text) else {
            continue;
        };
        if lines.send(line).is_err() {
            return;
        }
    }
}

fn end(mut child: Child) {
    // It may have ended by itself; either way it must be reaped.
    let _ = child.kill();
    let _ = child.wait();
}

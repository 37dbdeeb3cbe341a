//! Progress for the coordinator: one JSON object a line on standard output.
//!
//! `{"stage":"validate"|"rewrite"|"compile"|"done"|"error","milliseconds":N,...}`; `compile` and `done` name the
//! `target`, `done` the `output` and its `bytes`, `error` the `message`.

use satrap_abi::artifact::Target;
use serde_json::{Value, json};
use std::io::{Write, stdout};
use std::path::Path;
use std::time::Instant;

pub struct Progress {
    json: bool,
    start: Instant,
}

impl Progress {
    pub fn new(json: bool) -> Progress {
        Progress {
            json,
            start: Instant::now(),
        }
    }

    /// A stage begins.
    pub fn stage(&self, stage: &str, target: Option<Target>) {
        let mut line = json!({ "stage": stage });
        if let Some(target) = target {
            line["target"] = json!(target.triple());
        }
        self.line(line);
    }

    /// An artifact is written.
    pub fn done(&self, target: Target, output: &Path, bytes: usize) {
        let output = output.to_string_lossy();
        self.line(json!({ "stage": "done", "target": target.triple(), "output": output, "bytes": bytes }));
    }

    /// It came to nothing.
    pub fn failed(&self, message: &str) {
        self.line(json!({ "stage": "error", "message": message }));
    }

    fn line(&self, mut line: Value) {
        if !self.json {
            return;
        }
        line["milliseconds"] = json!(self.start.elapsed().as_millis() as u64);
        // Nobody may be listening any more; that is no reason to stop.
        let _ = writeln!(stdout(), "{line}");
    }
}

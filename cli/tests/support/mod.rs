//! A world for each end-to-end test: the real programs, a socket and a cache of its own.
//!
//! Programs are in `SATRAP_BIN_DIR` or beside this test's own target folder; Wasm programs in `SATRAP_GUESTS` or
//! `target/guests`. Where they are not built, tests say so and pass, unless `SATRAP_E2E=1`.

#![allow(dead_code, reason = "each test program uses a part of it")]

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::{
    env, fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

/// Longest time for anything that must happen, on a machine with much else to do.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Programs, a socket, a cache.
pub struct World {
    programs: PathBuf,
    guests: PathBuf,
    pub folder: PathBuf,
}

impl World {
    /// A world; none where the programs are not built and nobody insists.
    pub fn new(name: &str) -> Option<World> {
        let (programs, guests) = (programs(), guests());
        let wanted = ["satrap", "satrap-hosted", "satrap-compiler"].map(|name| programs.join(name));
        let missing = wanted
            .iter()
            .chain([&guests.join("hello.wasm")])
            .find(|path| !path.exists())
            .cloned();
        if let Some(missing) = missing {
            let insists = env::var_os("SATRAP_E2E").is_some_and(|value| value == "1");
            assert!(!insists, "{} is not built", missing.display());
            eprintln!("not run: {} is not built; ./x test builds it", missing.display());
            return None;
        }
        // Short, because a socket's path has at most 107 bytes.
        let folder = env::temp_dir().join(format!("satrap-e2e-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a temporary folder can be made");
        Some(World {
            programs,
            guests,
            folder,
        })
    }

    /// A Wasm program.
    pub fn guest(&self, name: &str) -> String {
        let path = self.guests.join(name).with_extension("wasm");
        assert!(path.exists(), "{} is not built", path.display());
        path.display().to_string()
    }

    /// Writes an application's manifest, with the Wasm programs it names beside it.
    pub fn application(&self, manifest: &str, programs: &[&str]) -> String {
        for program in programs {
            let file = format!("{program}.wasm");
            fs::copy(self.guest(program), self.folder.join(file)).expect("a program can be copied");
        }
        let path = self.folder.join("Satrap.toml");
        fs::write(&path, manifest).expect("a manifest can be written");
        path.display().to_string()
    }

    /// The command, not started.
    pub fn satrap(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.programs.join("satrap"));
        command
            .args(args)
            .env("SATRAP_BIN_DIR", &self.programs)
            .env(
                "SATRAP_CACHE",
                Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"),
            )
            .env("SATRAP_SOCKET", self.folder.join("s/control.sock"))
            .env_remove("NO_COLOR")
            .stdin(Stdio::null());
        command
    }

    /// Runs it to its end.
    pub fn run(&self, args: &[&str]) -> Ended {
        Ended::from(self.satrap(args).output().expect("satrap can be started"))
    }

    /// Runs it with `--json`, and reads one value.
    pub fn json(&self, args: &[&str]) -> Value {
        let ended = self.run(&[&["--json"], args].concat());
        assert_eq!(ended.code, 0, "{args:?}: {}", ended.err);
        serde_json::from_str(&ended.out).expect("one JSON value")
    }

    /// Starts it, with its output in a pipe.
    pub fn start(&self, args: &[&str]) -> Child {
        let mut command = self.satrap(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("satrap can be started")
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // A test may have ended the coordinator itself, or failed before it was there.
        let _ = self.satrap(&["down"]).output();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The programs' folder.
fn programs() -> PathBuf {
    env::var_os("SATRAP_BIN_DIR").map_or_else(
        || {
            PathBuf::from(env!("CARGO_BIN_EXE_satrap"))
                .parent()
                .map(Path::to_owned)
                .unwrap_or_default()
        },
        PathBuf::from,
    )
}

fn guests() -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/guests");
    env::var_os("SATRAP_GUESTS").map_or(beside, PathBuf::from)
}

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Ended {
        Ended {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Waits until a command that was started has ended.
pub fn ended(mut child: Child) -> Ended {
    until("a command ends", || {
        child.try_wait().expect("a child can be waited for")
    });
    let mut rest = Ended {
        code: child.wait().expect("it has ended").code().unwrap_or(-1),
        out: String::new(),
        err: String::new(),
    };
    child
        .stdout
        .take()
        .map(|mut pipe| pipe.read_to_string(&mut rest.out));
    child
        .stderr
        .take()
        .map(|mut pipe| pipe.read_to_string(&mut rest.err));
    rest
}

/// Waits until something is there. Fails when it does not come.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let limit = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < limit, "it did not happen: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Sends a signal.
pub fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid)
        .ok()
        .and_then(Pid::from_raw)
        .expect("a process id");
    kill_process(pid, signal).expect("it is our process");
}

/// Whether a process is there and not a corpse.
pub fn lives(pid: u32) -> bool {
    let state = fs::read_to_string(format!("/proc/{pid}/stat"));
    state.is_ok_and(|state| !state.contains(") Z "))
}

/// Finds the element of an array whose `key` is `value`.
pub fn find<'a>(array: &'a Value, key: &str, value: &Value) -> Option<&'a Value> {
    array.as_array()?.iter().find(|element| element[key] == *value)
}

/// A number that must be there.
pub fn number(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("{value} is not a number"))
}

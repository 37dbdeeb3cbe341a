//! Compiles text to artifacts by `satrap-compiler`, as an installation does. The tests cannot link it: Cargo
//! would give its `std` feature to the engine under test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// The key of every test's artifacts.
pub const KEY: [u8; 32] = [7; 32];

/// The artifact of a module in text form.
pub fn artifact(text: &str) -> Vec<u8> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("engine-{}-{number}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for the program");
    let (key, wasm, output) = (
        folder.join("key"),
        folder.join("program.wasm"),
        folder.join("artifact"),
    );
    fs::write(&key, KEY).expect("the key");
    fs::write(&wasm, wat::parse_str(text).expect("a valid module")).expect("the program");
    let result = Command::new(compiler())
        .args(["--cpu-features", "host", "--key-file"])
        .arg(&key)
        .arg("--output")
        .arg(&output)
        .arg(&wasm)
        .output()
        .expect("the compiler starts");
    let complaint = String::from_utf8_lossy(&result.stderr);
    assert!(result.status.success(), "{complaint}\n{text}");
    let artifact = fs::read(&output).expect("the artifact");
    fs::remove_dir_all(&folder).expect("the folder is ours");
    artifact
}

/// The compiler in `$SATRAP_BIN_DIR`, or in this build's target folder.
fn compiler() -> PathBuf {
    let named = std::env::var_os("SATRAP_BIN_DIR").map(PathBuf::from);
    let here = std::env::current_exe().expect("this program has a path");
    let target = here.ancestors().nth(3).expect("target/PROFILE/deps/PROGRAM");
    named
        .into_iter()
        .chain(["tool", "release", "debug"].map(|profile| target.join(profile)))
        .map(|folder| folder.join("satrap-compiler"))
        .find(|program| program.exists())
        .expect("these tests need the compiler: cargo build --profile tool -p satrap-compiler")
}

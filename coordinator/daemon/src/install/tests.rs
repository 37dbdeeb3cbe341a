//! Installation with a compiler of our own making: a shell script that says and does what a test wants.
//!
//! Artifacts are real ones, sealed under the test's key; only their native code is not.

use super::*;
use crate::api::InstallResult;
use std::{
    os::unix::fs::PermissionsExt,
    time::{Duration, Instant},
};

/// A folder that is removed with its owner.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("satrap-install-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    /// An installer whose compiler is this script; `$output` and `$program` are set in it.
    fn installer(&self, script: &str) -> Installer {
        let head =
            "#!/bin/sh\nwhile [ $# -gt 1 ]; do [ $1 = --output ] && output=$2; shift; done; program=$1\n";
        let compiler = self.write("compiler", format!("{head}{script}"));
        fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).unwrap();
        let key = KeyFile::load_or_create(&self.0.join("key")).unwrap();
        let cache = Cache::open(self.0.join("cache")).unwrap();
        Installer::new(cache, key, compiler, 2)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const TARGET: Target = Target::hosted_here();

fn artifact(key: &Key) -> Vec<u8> {
    crate::testing::artifact(key, b"native code", b"")
}

fn events(installer: &Installer, paths: &[PathBuf]) -> (Vec<Event>, Result<Vec<Arc<Program>>, InstallError>) {
    let mut events = Vec::new();
    let result = installer.install(paths, &[TARGET], &mut |event| {
        events.extend(event);
        true
    });
    (events, result)
}

fn results(events: &[Event]) -> Vec<InstallResult> {
    let result = |event: &Event| match event {
        Event::InstallFinished { result, .. } => Some(result.clone()),
        _ => None,
    };
    events.iter().filter_map(result).collect()
}

#[test]
fn a_program_is_compiled_once_and_found_in_the_cache_after() {
    let folder = Folder::new("once");
    let installer = folder.installer(&format!(
        "echo '{{\"stage\":\"compile\",\"milliseconds\":4}}'; cp {}/made \"$output\"",
        folder.0.display()
    ));
    folder.write("made", artifact(&installer.key()));
    let program = folder.write("a.wasm", b"wasm");
    let (first, programs) = events(&installer, std::slice::from_ref(&program));
    assert_eq!(programs.unwrap()[0].artifacts.len(), 1);
    assert!(matches!(results(&first)[..], [InstallResult::Compiled { .. }]));
    assert!(
        first
            .iter()
            .any(|event| matches!(event, Event::InstallProgress { percent: 20, .. }))
    );
    let (second, _) = events(&installer, &[program]);
    assert_eq!(results(&second), [InstallResult::Cached]);
}

#[test]
fn a_corrupt_cache_entry_is_made_again() {
    let folder = Folder::new("corrupt");
    let installer = folder.installer(&format!("cp {}/made \"$output\"", folder.0.display()));
    folder.write("made", artifact(&installer.key()));
    let path = folder.write("a.wasm", b"wasm");
    let (_, programs) = events(&installer, std::slice::from_ref(&path));
    let kept = programs.unwrap()[0].artifacts[&TARGET].path.clone();
    let mut bytes = fs::read(&kept).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&kept, bytes).unwrap();
    let (again, programs) = events(&installer, &[path]);
    assert!(matches!(results(&again)[..], [InstallResult::Compiled { .. }]));
    assert!(programs.is_ok());
}

/// Longer than files must be unchanged before they are believed to be.
const SETTLE: Duration = Duration::from_millis(1100);

#[test]
fn a_program_is_read_again_only_when_it_or_its_artifact_has_changed() {
    let folder = Folder::new("memory");
    let installer = folder.installer(&format!("cp {}/made \"$output\"", folder.0.display()));
    folder.write("made", artifact(&installer.key()));
    let path = folder.write("a.wasm", b"wasm");
    let install = || {
        events(&installer, std::slice::from_ref(&path))
            .1
            .unwrap()
            .remove(0)
    };
    let young = install();
    assert!(!Arc::ptr_eq(&young, &install()), "it may change without a sign");
    std::thread::sleep(SETTLE);
    let known = install();
    let (again, programs) = events(&installer, std::slice::from_ref(&path));
    assert!(Arc::ptr_eq(&known, &programs.unwrap()[0]));
    assert_eq!(results(&again), [InstallResult::Cached]);
    folder.write("a.wasm", b"mswa");
    assert!(!Arc::ptr_eq(&known, &install()), "the program has changed");
    std::thread::sleep(SETTLE);
    let known = install();
    fs::remove_file(&known.artifacts[&TARGET].path).unwrap();
    let (made, _) = events(&installer, &[path]);
    assert!(matches!(results(&made)[..], [InstallResult::Compiled { .. }]));
}

#[test]
fn a_repair_makes_an_artifact_again_that_looks_right() {
    let folder = Folder::new("repair");
    let installer = folder.installer(&format!(
        "echo x >> {0}/runs; cp {0}/made \"$output\"",
        folder.0.display()
    ));
    folder.write("made", artifact(&installer.key()));
    let path = folder.write("a.wasm", b"wasm");
    let program = events(&installer, &[path]).1.unwrap().remove(0);
    installer.repair(&program).unwrap();
    assert_eq!(
        fs::read_to_string(folder.0.join("runs")).unwrap().lines().count(),
        2
    );
}

#[test]
fn programs_are_compiled_at_the_same_time_and_each_tells_how_far_it_is() {
    let folder = Folder::new("parallel");
    // Each waits for the other: one after the other they would never end.
    let installer = folder.installer(&format!(
        "cd {}; touch $program.begun; until [ -e one.wasm.begun ] && [ -e two.wasm.begun ]; do sleep 0.01; done\n\
         echo '{{\"stage\":\"compile\",\"milliseconds\":4}}'; cp made \"$output\"",
        folder.0.display()
    ));
    folder.write("made", artifact(&installer.key()));
    let programs = ["one.wasm", "two.wasm"].map(|name| folder.write(name, name));
    let (events, result) = events(&installer, &programs);
    assert_eq!(result.unwrap().len(), 2);
    for name in ["one.wasm", "two.wasm"] {
        let told = |event: &Event| match event {
            Event::InstallProgress { program, percent, .. } => program.ends_with(name) && *percent == 20,
            _ => false,
        };
        assert!(events.iter().any(told), "{name}: {events:?}");
    }
}

#[test]
fn the_compilers_own_words_reach_the_operator_and_name_the_program() {
    let folder = Folder::new("words");
    let installer = folder.installer(
        "case $program in *bad*) echo '{\"stage\":\"error\",\"message\":\"'$program': no entry point\"}'; exit 1;; *) exec sleep 20;; esac",
    );
    let good = folder.write("good.wasm", b"good");
    let bad = folder.write("bad.wasm", b"bad");
    let began = Instant::now();
    let error = events(&installer, &[good, bad.clone()]).1.unwrap_err();
    assert_eq!((error.program, error.reason.as_str()), (bad, "no entry point"));
    assert!(
        began.elapsed().as_secs() < 10,
        "the other compiler was not stopped"
    );
}

#[test]
fn an_artifact_under_another_key_is_refused() {
    let folder = Folder::new("otherkey");
    let installer = folder.installer(&format!("cp {}/made \"$output\"", folder.0.display()));
    folder.write("made", artifact(&[9; 32]));
    let error = events(&installer, &[folder.write("a.wasm", b"wasm")])
        .1
        .unwrap_err();
    assert!(error.reason.contains("not authentic"), "{error}");
}

#[test]
fn a_missing_program_and_a_missing_compiler_are_told_apart() {
    let folder = Folder::new("missing");
    let installer = folder.installer("exit 0");
    let error = events(&installer, &[folder.0.join("none.wasm")]).1.unwrap_err();
    assert!(error.to_string().contains("cannot read the program"), "{error}");
    fs::remove_file(folder.0.join("compiler")).unwrap();
    let error = events(&installer, &[folder.write("a.wasm", b"wasm")])
        .1
        .unwrap_err();
    assert!(error.reason.contains("SATRAP_BIN_DIR"), "{error}");
}

#[test]
fn a_key_is_made_once_and_an_exposed_one_is_refused() {
    let folder = Folder::new("key");
    let path = folder.0.join("state/key");
    let first = KeyFile::load_or_create(&path).unwrap();
    assert_eq!(first.key, KeyFile::load_or_create(&path).unwrap().key);
    assert_ne!(first.key, [0; 32]);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    assert!(matches!(
        KeyFile::load_or_create(&path),
        Err(KeyError::Exposed(_))
    ));
}

#[test]
fn each_satellite_reads_an_artifact_from_its_beginning() {
    let folder = Folder::new("reopen");
    let installer = folder.installer(&format!("cp {}/made \"$output\"", folder.0.display()));
    let made = artifact(&installer.key());
    folder.write("made", &made);
    let programs = events(&installer, &[folder.write("a.wasm", b"wasm")]).1.unwrap();
    let stored = &programs[0].artifacts[&TARGET];
    fs::remove_file(&stored.path).unwrap();
    for _ in 0..2 {
        let mut bytes = Vec::new();
        let mut file = fs::File::from(stored.reopen().try_clone().unwrap());
        std::io::Read::read_to_end(&mut file, &mut bytes).unwrap();
        assert!(bytes == made);
    }
}

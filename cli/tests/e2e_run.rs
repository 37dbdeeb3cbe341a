//! `satrap run` with no coordinator: what a newcomer does first.
//!
//! Output, exit codes and error texts are compared letter by letter. Neighbour: `support` has the programs.

mod support;

use rustix::process::Signal;
use serde_json::Value;
use std::{
    fs,
    io::{BufRead, BufReader},
    process::Command,
};
use support::{World, ended, find, lives, number, signal, until};

/// The two processes of `examples/echo`, to be apart.
const ECHO: &str = include_str!("../../examples/echo/Satrap.toml");

#[test]
fn hello_prints_its_line_and_nothing_else() {
    let Some(world) = World::new("hello") else { return };
    let ended = world.run(&["run", &world.guest("hello")]);
    assert_eq!((ended.code, ended.err.as_str()), (0, ""));
    assert_eq!(ended.out, "hello from satellite 1\n");
}

#[test]
fn the_exit_code_and_the_arguments_are_the_programs_own() {
    let Some(world) = World::new("code") else { return };
    let ended = world.run(&[
        "run",
        &world.guest("args-and-exit"),
        "one",
        "--json",
        "--code",
        "3",
    ]);
    assert_eq!(ended.code, 3, "{ended:?}");
    assert!(
        ended.out.contains("1: one\n2: --json\n3: --code\n4: 3\n"),
        "{ended:?}"
    );
}

#[test]
fn an_application_of_two_processes_runs_across_two_satellites() {
    let Some(world) = World::new("two") else { return };
    let manifest = world.application(ECHO, &["echo-service", "echo-client"]);
    let apart = ["--satellites", "2", "--affinity", "client.echo=-1"];
    let ended = world.run(&[&["run", "--json"], apart.as_slice(), &[&manifest]].concat());
    assert_eq!(ended.code, 0, "{ended:?}");
    let events = events(&ended.out);
    let placed = |name: &str| {
        let event = events
            .iter()
            .find(|event| event["event"] == "placed" && event["name"] == name);
        number(&event.expect("each process is placed")["kernel"])
    };
    assert_ne!(placed("client"), placed("service"));
    let said = |event: &&Value| event["event"] == "output" && event["name"] == "client";
    assert_eq!(events.iter().filter(said).count(), 3, "{ended:?}");
}

#[test]
fn lines_of_an_application_carry_the_name_of_their_process() {
    let Some(world) = World::new("lines") else { return };
    let manifest = world.application(ECHO, &["echo-service", "echo-client"]);
    let ended = world.run(&["run", &manifest]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let mut lines = ended.out.lines();
    assert!(
        lines.clone().count() >= 3 && lines.all(|line| line.starts_with("client  │ ")),
        "{ended:?}"
    );
}

#[test]
fn a_trap_is_told_in_words_and_by_the_code() {
    let Some(world) = World::new("trap") else { return };
    let ended = world.run(&["run", &world.guest("misbehave"), "oob"]);
    assert_eq!(ended.code, 134);
    assert_eq!(
        ended.err,
        "satrap: misbehave: trapped: memory access out of bounds\n"
    );
}

#[test]
fn ctrl_c_ends_a_run_and_leaves_no_process() {
    let Some(world) = World::new("ctrl-c") else { return };
    let mut child = world.start(&[
        "--json",
        "run",
        "--satellites",
        "2",
        &world.guest("misbehave"),
        "loop",
    ]);
    let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut line = String::new();
    while !line.contains("process-started") {
        line.clear();
        assert_ne!(
            output.read_line(&mut line).expect("a line"),
            0,
            "it ended before it ran"
        );
    }
    let pid = child.id();
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).expect("it lives");
    let satellites: Vec<u32> = children
        .split_whitespace()
        .filter_map(|pid| pid.parse().ok())
        .collect();
    assert_eq!(satellites.len(), 2, "{children}");
    signal(pid, Signal::INT);
    let ended = ended(child);
    assert_eq!((ended.code, ended.err.as_str()), (130, ""));
    until("the satellites end", || {
        satellites.iter().all(|pid| !lives(*pid)).then_some(())
    });
}

#[test]
fn what_cannot_be_run_is_named() {
    let Some(world) = World::new("wrong") else { return };
    let ended = world.run(&["run", "no/such.wasm"]);
    assert_eq!(ended.code, 1);
    assert_eq!(
        ended.err,
        "error: cannot read no/such.wasm: no such file or directory\n"
    );

    let garbage = world.folder.join("garbage.wasm");
    fs::write(&garbage, "garbage").expect("it can be written");
    let garbage = garbage.display().to_string();
    let ended = world.run(&["run", &garbage]);
    assert_eq!(ended.code, 1);
    assert!(
        ended
            .err
            .starts_with(&format!("error: {garbage}: not a WebAssembly module")),
        "{}",
        ended.err
    );
    assert!(!world.folder.join("s").exists(), "a run leaves no socket");
}

#[test]
fn a_wrong_manifest_is_shown_with_its_place() {
    let Some(world) = World::new("manifest") else {
        return;
    };
    let manifest = world.application("[application]\nname = 7\n", &[]);
    let ended = world.run(&["run", &manifest]);
    assert_eq!(ended.code, 1);
    assert!(ended.err.contains("Satrap.toml:2:8"), "{}", ended.err);
}

#[test]
fn an_application_that_can_go_nowhere_says_why() {
    let Some(world) = World::new("nowhere") else {
        return;
    };
    let manifest = ECHO.replace("[[process]]", "[[process]]\nplatforms = { riscv64 = 1 }");
    let manifest = world.application(&manifest, &["echo-service", "echo-client"]);
    let ended = world.run(&["run", &manifest]);
    assert_eq!((ended.code, ended.out.as_str()), (126, ""));
    let said: Vec<&str> = ended.err.lines().collect();
    assert_eq!(said.len(), 2, "{ended:?}");
    assert!(
        said[0].starts_with("satrap: cannot place `service`: it prefers riscv64"),
        "{ended:?}"
    );
}

#[test]
fn errors_are_json_where_the_output_is() {
    let Some(world) = World::new("errors") else { return };
    let expected = [
        (&["ps"][..], 3, "no coordinator runs on "),
        (&["run", "no/such.wasm"], 1, "cannot read no/such.wasm"),
        (&["run"], 2, "the following required arguments were not provided"),
    ];
    for (line, code, error) in expected {
        let ended = world.run(&[&["--json"], line].concat());
        assert_eq!((ended.code, ended.out.as_str()), (code, ""), "{ended:?}");
        let said: Value = serde_json::from_str(&ended.err).expect("one value");
        assert_eq!(said["code"], code);
        assert!(
            said["error"].as_str().is_some_and(|said| said.starts_with(error)),
            "{said}"
        );
    }
}

#[test]
fn completions_are_scripts_that_their_shells_understand() {
    let Some(world) = World::new("completions") else {
        return;
    };
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = world.run(&["completions", shell]);
        assert_eq!((script.code, script.err.as_str()), (0, ""), "{shell}");
        for word in ["satrap", "kernels", "satellites"] {
            assert!(script.out.contains(word), "{shell}: no {word}");
        }
    }
    let script = world.folder.join("satrap.bash");
    fs::write(&script, world.run(&["completions", "bash"]).out).expect("a file can be written");
    let line = "COMP_WORDS=(satrap ke); COMP_CWORD=1; _satrap satrap ke satrap; echo ${COMPREPLY[@]}";
    let completed = Command::new("bash")
        .args(["-euc", &format!("source {}; {line}", script.display())])
        .output()
        .expect("bash is there");
    assert_eq!(
        String::from_utf8_lossy(&completed.stdout),
        "kernels\n",
        "{completed:?}"
    );
}

#[test]
fn place_explains_without_starting_anything() {
    let Some(world) = World::new("place") else { return };
    let manifest = world.application(ECHO, &["echo-service", "echo-client"]);
    let options = ["--satellites", "2", "--affinity", "client.echo=-1"];
    let ended = world.run(&[&["place"], options.as_slice(), &[&manifest]].concat());
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(
        ended.out,
        "PROCESS  SATELLITE  DECIDED BY\n\
         service          1  satellite number\n\
         client           2  negative affinity\n"
    );
    let placement = world.json(&[&["place"], options.as_slice(), &[&manifest]].concat());
    let client = find(&placement["plan"]["decisions"], "process", &"client".into());
    assert_eq!(client.expect("it is placed")["kernel"], 2);
}

fn events(lines: &str) -> Vec<Value> {
    let parse = |line| serde_json::from_str(line).expect("each line is JSON");
    lines.lines().map(parse).collect()
}

//! A coordinator from `up` to `down`, seen through every command that shows it.
//!
//! Each test has a socket of its own, so that all run at once. Neighbour: `support` has the programs.

mod support;

use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::{thread::sleep, time::Duration};
use support::{World, ended, find, lives, number, signal, until};

/// A service that waits for clients who never come.
const SERVICE: &str = r#"
[application]
name = "waiter"
version = "1.0.0"

[[process]]
name = "service"
program = "echo-service.wasm"
registers = ["/example/echo"]
"#;

#[test]
fn a_system_comes_up_shows_itself_and_goes_down() {
    let Some(world) = World::new("system") else { return };
    let up = world.run(&["up", "--satellites", "2"]);
    assert_eq!(up.code, 0, "{up:?}");
    assert!(
        up.out.starts_with("2 satellites are up, registered in "),
        "{up:?}"
    );

    let status = world.json(&["status"]);
    let kernels = status["kernels"].as_array().expect("an array");
    assert!(
        kernels.iter().all(|kernel| kernel["state"] == "running"),
        "{status}"
    );
    let text = world.run(&["status"]).out;
    assert!(
        text.starts_with("coordinator ") && text.contains("hosted-"),
        "{text}"
    );
    let names = world.json(&["ns", "/kernel"]);
    let paths: Vec<&Value> = names
        .as_array()
        .expect("an array")
        .iter()
        .map(|name| &name["path"])
        .collect();
    assert_eq!(paths, ["/kernel/1", "/kernel/2"]);
    assert_eq!(world.json(&["ps"]), serde_json::json!([]));

    let again = world.run(&["up"]);
    assert_eq!(again.code, 1);
    assert!(
        again.err.contains("running already") && again.err.contains("satrap down"),
        "{again:?}"
    );

    let down = world.run(&["down"]);
    assert_eq!(down.code, 0, "{down:?}");
    let pids = kernels
        .iter()
        .map(|kernel| &kernel["pid"])
        .chain([&status["pid"]]);
    for pid in pids.map(number) {
        until("everything has ended", || (!lives(pid as u32)).then_some(()));
    }
    let gone = world.run(&["ps"]);
    assert_eq!((gone.code, gone.out.as_str()), (3, ""));
    assert!(
        gone.err.contains("no coordinator runs") && gone.err.contains("satrap up"),
        "{gone:?}"
    );
}

/// How often each CPU of the satellites slept so far. The thread that listens to the coordinator is no CPU: while
/// something runs, it is asked for figures once a second.
fn sleeps(satellites: &[u64]) -> Vec<String> {
    let threads = satellites.iter().flat_map(|pid| {
        let tasks = fs::read_dir(format!("/proc/{pid}/task"));
        tasks.expect("the process lives").flatten()
    });
    let count = |thread: fs::DirEntry| {
        let status = fs::read_to_string(thread.path().join("status")).expect("the thread lives");
        let count = status.lines().find(|line| line.starts_with("voluntary_ctxt"));
        let listens = status.starts_with("Name:\tnotifier");
        (!listens).then(|| format!("{}: {count:?}", thread.path().display()))
    };
    threads.filter_map(count).collect()
}

#[test]
fn each_cpu_of_a_satellite_is_pinned_to_the_core_that_it_was_given() {
    let Some(world) = World::new("pinned") else { return };
    let kernels = world.json(&["up", "--satellites", "2"])["kernels"].clone();
    for kernel in kernels.as_array().expect("an array") {
        let tasks = fs::read_dir(format!("/proc/{}/task", kernel["pid"]));
        let mut pinned: Vec<u64> = Vec::new();
        for thread in tasks.expect("the process lives").flatten() {
            let status = fs::read_to_string(thread.path().join("status")).expect("the thread lives");
            let allowed = status
                .lines()
                .find_map(|line| line.strip_prefix("Cpus_allowed_list:\t"));
            if !status.starts_with("Name:\tnotifier") {
                pinned.extend(allowed.and_then(|core| core.parse::<u64>().ok()));
            }
        }
        pinned.sort_unstable();
        assert_eq!(serde_json::json!(pinned), kernel["cpus"], "{kernel}");
    }
}

#[test]
fn cpus_that_have_nothing_to_do_never_wake_up() {
    let Some(world) = World::new("idle") else { return };
    let up = world.run(&["up", "--satellites", "2"]);
    assert_eq!(up.code, 0, "{up:?}");
    let manifest = world.application(SERVICE, &["echo-service"]);
    let run = world.run(&["run", "--detach", &manifest]);
    assert_eq!(run.code, 0, "{run:?}");
    let kernels = world.json(&["kernels"]);
    let kernels = kernels.as_array().expect("an array").iter();
    let pids: Vec<u64> = kernels.map(|kernel| number(&kernel["pid"])).collect();
    until("all of them sleep for two seconds", || {
        let before = sleeps(&pids);
        assert_eq!(before.len(), 2);
        sleep(Duration::from_secs(2));
        (sleeps(&pids) == before).then_some(())
    });
}

#[test]
fn a_socket_that_others_could_reach_is_refused() {
    let Some(world) = World::new("exposed") else {
        return;
    };
    let folder = world.folder.join("s");
    fs::create_dir(&folder).expect("a folder can be made");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).expect("it is ours");
    for line in [&["up"][..], &["up", "--foreground"]] {
        let up = world.run(line);
        assert_eq!((up.code, up.out.as_str()), (1, ""), "{line:?}");
        assert!(up.err.contains("mode 700"), "{up:?}");
    }
}

#[test]
fn of_two_coordinators_on_one_socket_one_comes_up() {
    let Some(world) = World::new("two") else { return };
    let both = [(), ()].map(|()| world.start(&["up", "--satellites", "1"]));
    let mut both = both.map(ended);
    both.sort_by_key(|up| up.code);
    let [first, second] = both;
    assert_eq!((first.code, second.code), (0, 1), "{first:?} {second:?}");
    assert_eq!(second.out, "");
}

#[test]
fn a_detached_application_is_listed_read_and_killed() {
    let Some(world) = World::new("detached") else {
        return;
    };
    let manifest = world.application(SERVICE, &["echo-service"]);
    assert_eq!(
        world.run(&["run", "--detach", &manifest]).code,
        3,
        "there is nobody to leave it to"
    );
    world.json(&["up", "--satellites", "2"]);
    let run = world.run(&["run", "--detach", &manifest]);
    assert_eq!(run.code, 0, "{run:?}");
    let name = until("its name appears", || {
        let names = world.json(&["ns", "/example"]);
        find(&names, "path", &"/example/echo".into()).cloned()
    });
    assert_eq!(name["contract_name"], "satrap:echo/echo@1.0.0");
    let processes = world.json(&["ps"]);
    assert_eq!(processes[0]["id"], name["process"]);
    assert!(world.run(&["ps"]).out.contains("waiter/service"));

    let wrong = world.run(&["kill", "nobody"]);
    assert_eq!(wrong.code, 1);
    assert!(
        wrong
            .err
            .starts_with("error: no process and no application is called `nobody`"),
        "{wrong:?}"
    );
    assert_eq!(world.run(&["kill", "waiter/service"]).code, 0);
    until("it has ended", || {
        (world.json(&["ps"]) == serde_json::json!([])).then_some(())
    });
    assert_eq!(world.json(&["ns", "/example"]), serde_json::json!([]));
    assert_eq!(world.json(&["ps", "--all"])[0]["exit_code"], 137);
}

#[test]
fn after_ctrl_c_an_application_can_be_started_again_at_once() {
    let Some(world) = World::new("again") else { return };
    world.json(&["up", "--satellites", "2"]);
    let manifest = world.application(SERVICE, &["echo-service"]);
    for _ in 0..3 {
        let run = world.start(&["run", &manifest]);
        until("it serves", || {
            let names = world.json(&["ns", "/example"]);
            find(&names, "path", &"/example/echo".into()).cloned()
        });
        signal(run.id(), Signal::INT);
        let run = ended(run);
        assert_eq!((run.code, run.err.as_str()), (130, ""));
        assert_eq!(world.json(&["ps"]), serde_json::json!([]));
    }
}

#[test]
fn what_a_process_wrote_is_kept() {
    let Some(world) = World::new("logs") else { return };
    world.json(&["up", "--satellites", "1"]);
    assert_eq!(world.run(&["run", &world.guest("hello")]).code, 0);
    assert_eq!(world.run(&["logs", "hello"]).out, "hello from satellite 1\n");
    assert_eq!(world.run(&["logs"]).out, "hello │ hello from satellite 1\n");
    let wrong = world.run(&["logs", "nobody"]);
    assert_eq!(wrong.code, 1);
    assert!(wrong.err.contains("there is no process `nobody`"), "{wrong:?}");
}

#[test]
fn a_number_of_satellites_that_are_not_there_is_refused() {
    let Some(world) = World::new("number") else { return };
    world.json(&["up", "--satellites", "1"]);
    let run = world.run(&["run", "--satellites", "2", &world.guest("hello")]);
    assert_eq!(run.code, 2);
    assert!(
        run.err
            .contains("--satellites 2: a coordinator with 1 is running already"),
        "{run:?}"
    );
    assert_eq!(
        world
            .run(&["run", "--satellites", "1", &world.guest("hello")])
            .code,
        0
    );
}

#[test]
fn a_closed_pipe_ends_a_command_without_a_word() {
    let Some(world) = World::new("pipe") else { return };
    let (reader, writer) = io::pipe().expect("a pipe");
    drop(reader);
    let mut command = world.satrap(&["completions", "bash"]);
    let output = command.stdout(writer).output().expect("satrap can be started");
    assert_eq!(
        (output.status.code(), output.stderr.as_slice()),
        (Some(141), b"".as_slice())
    );
}

#[test]
fn top_streams_rates_and_ends_with_its_reader() {
    let Some(world) = World::new("top") else { return };
    world.json(&["up", "--satellites", "2"]);
    let mut child = world.start(&["top", "--json"]);
    let mut line = String::new();
    let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
    output.read_line(&mut line).expect("a line comes");
    let rates: Value = serde_json::from_str(&line).expect("a line is JSON");
    assert_eq!(rates["kernels"].as_array().map(Vec::len), Some(2), "{line}");
    drop(output);
    assert_eq!(ended(child).code, 141);
}

#[test]
fn top_without_a_terminal_says_what_else_there_is() {
    let Some(world) = World::new("no-top") else { return };
    world.json(&["up", "--satellites", "1"]);
    let top = world.run(&["top"]);
    assert_eq!(top.code, 2);
    assert_eq!(
        top.err,
        "error: `top` needs a terminal\n help: --json prints the figures, a line a second\n"
    );
}

#[test]
fn installed_programs_are_in_the_cache() {
    let Some(world) = World::new("install") else {
        return;
    };
    let (hello, threads) = (world.guest("hello"), world.guest("threads"));
    assert_eq!(world.run(&["install", &hello, &threads]).code, 0);
    let again = world.run(&["install", &hello]);
    assert!(
        again.out.starts_with("hello.wasm: in the cache already, for "),
        "{again:?}"
    );
}

#[test]
fn contracts_are_checked_without_a_coordinator() {
    let Some(world) = World::new("contract") else {
        return;
    };
    let good = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/echo/echo.wit");
    let checked = world.run(&["contract", "check", good]);
    assert_eq!(checked.code, 0, "{checked:?}");
    assert!(checked.out.contains("satrap:echo/echo@1.0.0"), "{checked:?}");
    let bad = world.folder.join("bad.wit");
    fs::write(&bad, "package a:b@1.0.0;\n\ninterface c {\n  d: func(\n}\n").expect("it can be written");
    let bad = bad.display().to_string();
    let checked = world.run(&["contract", "check", &bad]);
    assert_eq!(checked.code, 1);
    assert!(checked.err.contains(&format!("--> {bad}:")), "{checked:?}");
}

//! What manifests mean: fields, defaults, instances, overrides, requests for placement.

use satrap_abi::limits::Limits;
use satrap_manifest::{Manifest, Override, Parsed, Process, Restart, Severity};

const PNG: &str = r#"
[application]
name = "png"
version = "1.2.0"
description = "Decodes PNGs"

[[process]]
name = "front"
program = "front.wasm"
args = ["--port", "8080"]
channels.decoder = "/png/decoder"

[[process]]
name = "decoder"
program = "decoder.wasm"
args = ["--number={instance}"]
instances = 3
restart = "on-failure"
restart-limit = 9
registers = ["/png/decoder", "/png/decoder/{instance}"]
platforms = { "hosted-x86_64" = 2, riscv64 = 1 }
self-affinity = -1
priority = 2

[process.limits]
memory = "64 MiB"
threads = 8
handles = 100
exchange = "1M"
names = 4
stack = 131072

[process.channels.store]
path = "/png/store"
contract = "satrap:png/store@1.0.0"
affinity = -1

[[process]]
name = "store"
program = "store.wasm"
registers = ["/png/store"]
"#;

fn parse(text: &str) -> Parsed {
    Manifest::parse("test.toml", text).unwrap_or_else(|errors| panic!("{errors}"))
}

fn png() -> Manifest {
    let parsed = parse(PNG);
    assert_eq!(parsed.warnings, []);
    parsed.manifest
}

fn changed(texts: &[&str]) -> Result<Manifest, String> {
    let mut manifest = png();
    let overrides: Vec<Override> = texts
        .iter()
        .map(|text| text.parse().map_err(|error| format!("{error}")))
        .collect::<Result<_, String>>()?;
    match manifest.apply(&overrides) {
        Ok(()) => Ok(manifest),
        Err(errors) => {
            assert_eq!(manifest, png(), "an error changes nothing");
            Err(errors
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join("\n"))
        }
    }
}

#[test]
fn every_field_is_read() {
    let manifest = png();
    assert_eq!(manifest.application.version, "1.2.0");
    let decoder = manifest.process("decoder").expect("a decoder");
    assert_eq!(
        (decoder.restart, decoder.restart_limit, decoder.priority),
        (Restart::OnFailure, 9, 2)
    );
    assert_eq!((decoder.instances, decoder.self_affinity), (3, -1));
    assert_eq!(
        decoder.platforms.clone().into_iter().collect::<Vec<_>>(),
        [("hosted-x86_64".to_string(), 2), ("riscv64".to_string(), 1)]
    );
    let limits = Limits {
        memory: 64 << 20,
        threads: 8,
        handles: 100,
        exchange: 1 << 20,
        names: 4,
        stack: 128 << 10,
    };
    assert_eq!(decoder.limits, limits);
    let store = &decoder.channels[0];
    assert_eq!(
        (store.name.as_str(), store.path.as_str(), store.affinity),
        ("store", "/png/store", -1)
    );
    assert_eq!(store.contract.as_deref(), Some("satrap:png/store@1.0.0"));
}

#[test]
fn what_is_left_out_has_the_stated_default() {
    let manifest =
        parse("application.name = \"a\"\n[[process]]\nname = \"p\"\nprogram = \"p.wasm\"").manifest;
    assert_eq!(manifest.processes, [Process::new("p", "p.wasm")]);
    assert_eq!(
        (
            manifest.application.version.as_str(),
            manifest.application.description.as_str()
        ),
        ("0.0.0", "")
    );
    assert_eq!(manifest.processes[0].limits, Limits::DEFAULT);
}

#[test]
fn instances_become_numbered_processes() {
    let instances = png().instances();
    let names: Vec<&str> = instances.iter().map(|instance| instance.name.as_str()).collect();
    assert_eq!(names, ["front", "decoder.0", "decoder.1", "decoder.2", "store"]);
    assert_eq!(instances[2].process.args, ["--number=1"]);
    assert_eq!(instances[2].process.registers, ["/png/decoder", "/png/decoder/1"]);
}

#[test]
fn requests_carry_the_affinities_of_the_file() {
    let requests = png().requests();
    assert_eq!(
        (requests[1].process.as_str(), requests[1].name.as_str()),
        ("decoder.0", "decoder")
    );
    assert_eq!(requests[1].group, "png/decoder");
    assert_eq!(
        (requests[1].self_affinity, requests[1].channels[0].affinity),
        (-1, -1)
    );
    assert_eq!(satrap_placement::order(&requests), [4, 1, 2, 3, 0]);
}

#[test]
fn a_change_that_placement_names_can_be_given_back_as_an_override() {
    use satrap_placement::{Kernel, World, plan};
    let kernel = |id| Kernel {
        id: satrap_abi::KernelId(id),
        platforms: vec!["hosted-x86_64".to_string()],
        cpus: 1,
        load: 0.0,
        fresh: 0,
    };
    let world = World {
        kernels: vec![kernel(1), kernel(2)],
        ..World::default()
    };
    let before = plan(&world, &png().requests());
    let decision = before.of("front").expect("a place");
    let change = decision.smallest_change().expect("a change");
    let after = plan(
        &world,
        &changed(&[&change.to_string()])
            .expect("a legal override")
            .requests(),
    );
    assert_eq!(
        after.of("front").map(|decision| decision.kernel),
        Some(change.kernel)
    );
    assert_ne!(change.kernel, decision.kernel);
}

#[test]
fn a_program_alone_has_a_manifest_too() {
    let manifest = Manifest::single("dir/hello world.wasm", &["x".to_string()]);
    assert_eq!(manifest.application.name, "hello-world");
    let process = &manifest.processes[0];
    assert!(process.unrestricted);
    assert_eq!(
        (process.program.as_str(), process.args.as_slice()),
        ("dir/hello world.wasm", &["x".to_string()][..])
    );
}

#[test]
fn a_program_alone_keeps_its_arguments_as_they_are() {
    let manifest = Manifest::single("echo.wasm", &["{instance}".to_string()]);
    assert_eq!(manifest.instances()[0].process.args, ["{instance}"]);
}

#[test]
fn overrides_change_numbers() {
    let manifest = changed(&[
        "decoder.store=5",
        " decoder.self = 2 ",
        "decoder.platform:riscv64=7",
        "decoder.store=6",
    ]);
    let manifest = manifest.expect("legal overrides");
    let decoder = manifest.process("decoder").expect("a decoder");
    assert_eq!(
        (
            decoder.channels[0].affinity,
            decoder.self_affinity,
            decoder.platforms["riscv64"]
        ),
        (6, 2, 7)
    );
    let without = changed(&["decoder.platform:riscv64=0", "store.platform:new=1"]).expect("legal overrides");
    assert!(
        !without
            .process("decoder")
            .expect("a decoder")
            .platforms
            .contains_key("riscv64")
    );
    assert_eq!(without.process("store").expect("a store").platforms["new"], 1);
}

#[test]
fn wrong_overrides_show_the_place_and_the_cure() {
    let cases = [
        (
            "decoder.stroe=1",
            "bad override: process `decoder` has no channel `stroe`\n  decoder.stroe=1\n          ^^^^^ did you mean `store`?",
        ),
        (
            "decodr.store=1",
            "bad override: application `png` has no process `decodr`\n  decodr.store=1\n  ^^^^^^ did you mean `decoder`?",
        ),
        (
            "store.x=1",
            "bad override: process `store` has no channel `x`\n  store.x=1\n        ^ it has nothing",
        ),
        (
            "decoder.store",
            "bad override: there is no `=`\n  decoder.store\n               ^ write `process.channel=N`, `process.self=N` or `process.platform:NAME=N`",
        ),
        (
            "store=1",
            "bad override: this names no affinity of a process\n  store=1\n  ^^^^^ write `process.channel=N`, `process.self=N` or `process.platform:NAME=N`",
        ),
        (
            "decoder.store=1.5",
            "bad override: this is not an affinity\n  decoder.store=1.5\n                ^^^ write a whole number from -1000000 to 1000000",
        ),
        (
            "decoder.platform:x=-1",
            "bad override: a platform cannot be avoided by a negative number\n  decoder.platform:x=-1\n                     ^^ prefer the other platforms instead, or write 0 to take the preference away",
        ),
    ];
    for (text, error) in cases {
        assert_eq!(changed(&[text]), Err(error.to_string()), "{text}");
    }
}

#[test]
fn all_wrong_overrides_are_told_at_once() {
    let errors = changed(&["a.b=1", "decoder.store=1", "front.c=2"]).expect_err("two errors");
    assert_eq!(errors.matches("bad override").count(), 2, "{errors}");
}

#[test]
fn oddities_are_warnings_and_the_manifest_is_used() {
    let text = PNG
        .replace("decoder = \"/png/decoder\"", "decoder = \"/png/decodr\"")
        .replace("instances = 3\n", "");
    let text = text.replace("restart = \"on-failure\"\n", "");
    let parsed = parse(&text);
    let messages: Vec<&str> = parsed
        .warnings
        .iter()
        .map(|warning| warning.message.as_str())
        .collect();
    assert_eq!(
        messages,
        [
            "no process here registers `/png/decodr`",
            "`restart-limit` has no effect without `restart`",
            "`self-affinity` counts copies, and process `decoder` has one instance",
        ]
    );
    assert!(
        parsed
            .warnings
            .iter()
            .all(|warning| warning.severity == Severity::Warning)
    );
    assert_eq!(
        parsed.warnings[0].help.as_deref(),
        Some("did you mean `/png/decoder`?")
    );
}

#[test]
fn a_system_service_need_not_be_registered_here() {
    assert_eq!(
        parse(&PNG.replace("\"/png/decoder\"\n\n", "\"/net/tcp\"\n\n")).warnings,
        []
    );
}

//! Every example, as its README runs it, on one satellite and spread over two.
//!
//! What an example prints is the same on both: where its processes run is no business of theirs. Neighbour:
//! `examples`.

mod support;

use std::fs;
use support::World;

/// An application among the examples.
struct Example {
    name: &'static str,
    programs: &'static [&'static str],
    /// What drives its processes apart.
    apart: &'static [&'static str],
    /// Lines that it prints, in whatever order.
    says: &'static [&'static str],
}

const EXAMPLES: &[Example] = &[
    Example {
        name: "echo",
        programs: &["echo-service", "echo-client"],
        apart: &["client.echo=-1"],
        says: &["one (after ", "two (after ", "three (after "],
    },
    Example {
        name: "guess",
        programs: &["guess-keeper", "guess-player"],
        apart: &["player.game=-1"],
        says: &["keeper │ found after ", "player │ satellite "],
    },
    Example {
        name: "counter",
        programs: &["counter-service", "counter-client"],
        apart: &["client.counter=-1"],
        says: &[
            "client.0 │ from satellite ",
            "client.1 │ from satellite ",
            "the total is 2000",
        ],
    },
    Example {
        name: "blocks",
        programs: &["blocks-source", "blocks-filter", "blocks-sink"],
        apart: &["source.next=-1", "filter.next=-1"],
        says: &[
            "filter │ filter: block 7 is odd and goes no further",
            "sink   │ sink: block 6, 1048576 bytes",
            "sink   │ sink: 4 blocks, 4194304 bytes",
        ],
    },
    Example {
        name: "pool",
        programs: &["pool-camera", "pool-viewer"],
        apart: &["camera.frames=-1"],
        says: &["viewer │ 100 frames, 207 MB, each seen "],
    },
    Example {
        name: "broker",
        programs: &["broker", "broker-guest"],
        apart: &["ada.broker=-1", "grace.broker=-1"],
        // Whoever comes first speaks first.
        says: &[" talk\n", ", how are you?", ": well, thank you, ", ": goodbye, "],
    },
];

impl Example {
    /// Runs it with these options.
    fn run(&self, world: &World, options: &[&str]) {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/");
        let manifest = fs::read_to_string(format!("{folder}{}/Satrap.toml", self.name));
        let manifest = manifest.expect("every example has a manifest");
        let manifest = world.application(&manifest, self.programs);
        let ended = world.run(&[&["run"], options, &[&manifest]].concat());
        assert_eq!(
            (ended.code, ended.err.as_str()),
            (0, ""),
            "{}: {ended:?}",
            self.name
        );
        for line in self.says {
            assert!(
                ended.out.contains(line),
                "{}: no {line:?} in {ended:?}",
                self.name
            );
        }
    }
}

#[test]
fn every_example_runs_on_one_satellite() {
    let Some(world) = World::new("one") else { return };
    EXAMPLES.iter().for_each(|example| example.run(&world, &[]));
}

#[test]
fn every_example_runs_across_two_satellites() {
    let Some(world) = World::new("across") else {
        return;
    };
    for example in EXAMPLES {
        let apart = example.apart.iter().flat_map(|number| ["--affinity", number]);
        let options: Vec<&str> = ["--satellites", "2"].into_iter().chain(apart).collect();
        example.run(&world, &options);
    }
}

#[test]
fn threads_of_a_process_take_turns() {
    let Some(world) = World::new("threads") else {
        return;
    };
    let ended = world.run(&["run", &world.guest("threads")]);
    assert_eq!((ended.code, ended.err.as_str()), (0, ""));
    let turns = "turns: [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]";
    assert_eq!(ended.out, format!("4203 primes below 40000\n{turns}\n"));
}

#[test]
fn the_list_of_examples_is_whole() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
    let folders = fs::read_dir(folder).expect("there are examples").flatten();
    let with_manifest = folders.filter(|each| each.path().join("Satrap.toml").exists());
    let mut found: Vec<String> = with_manifest
        .map(|each| each.file_name().to_string_lossy().into_owned())
        .collect();
    let mut listed: Vec<&str> = EXAMPLES.iter().map(|example| example.name).collect();
    found.sort();
    listed.sort();
    assert_eq!(found, listed);
}

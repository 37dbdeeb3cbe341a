//! Any text gives an answer: no panic, and diagnostics whose places are in the text.

use proptest::prelude::*;
use satrap_manifest::{Diagnostic, Manifest, Override, check_identifier, check_path, parse_size};

/// Pieces from which nearly right manifests are made, which reach deeper than noise does.
const PIECES: [&str; 44] = [
    "[application]\n",
    "[[process]]\n",
    "[process.limits]\n",
    "[process.channels.a]\n",
    "[process.channels]\n",
    "name",
    "program",
    "args",
    "instances",
    "restart",
    "restart-limit",
    "registers",
    "platforms",
    "self-affinity",
    "priority",
    "memory",
    "stack",
    "path",
    "contract",
    "affinity",
    "version",
    " = ",
    "=",
    "\n",
    "\"",
    "\"a\"",
    "\"/a\"",
    "\"{instance}\"",
    "\"64 MiB\"",
    "[",
    "]",
    "{",
    "}",
    ",",
    ".",
    "1",
    "-1",
    "1024",
    "99999999999999999999",
    "0x7f",
    "true",
    "é\u{301}漢",
    "\t\r\u{1b}\0",
    "\u{feff}",
];

fn any_text() -> impl Strategy<Value = String> {
    let pieces = proptest::collection::vec(proptest::sample::select(&PIECES), 0..60);
    prop_oneof![
        any::<String>(),
        pieces.prop_map(|pieces| pieces.concat()),
        damaged()
    ]
}

/// A right manifest with some characters replaced.
fn damaged() -> impl Strategy<Value = String> {
    let right = "[application]\nname = \"a\"\n[[process]]\nname = \"p\"\nprogram = \"p.wasm\"\ninstances = 2\n\
        registers = [\"/p/{instance}\"]\nplatforms = { x = 1 }\nlimits.memory = \"1 MiB\"\nchannels.q = \"/q\"\n";
    let places = proptest::collection::vec((0..right.chars().count(), any::<char>()), 0..4);
    places.prop_map(|places| {
        let mut characters: Vec<char> = right.chars().collect();
        places
            .into_iter()
            .for_each(|(at, character)| characters[at] = character);
        characters.into_iter().collect()
    })
}

/// The place is in the text, and it can be shown.
fn check_place(diagnostic: &Diagnostic, text: &str) {
    let line = text
        .split('\n')
        .nth(diagnostic.line - 1)
        .expect("the line is in the text");
    assert!(diagnostic.column <= line.chars().count() + 1, "{diagnostic:?}");
    assert!(diagnostic.length >= 1 && !diagnostic.message.is_empty());
    let shown = diagnostic.to_string();
    assert!(shown.contains('^'));
    assert!(
        !shown
            .lines()
            .nth(3)
            .expect("a source line")
            .contains(char::is_control),
        "{shown:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text_gives_a_checked_manifest_or_errors_with_their_places(text in any_text()) {
        match Manifest::parse("any.toml", &text) {
            Ok(parsed) => {
                parsed.warnings.iter().for_each(|warning| check_place(warning, &text));
                prop_assert!(!parsed.manifest.processes.is_empty());
                prop_assert!(check_identifier(&parsed.manifest.application.name).is_ok());
                for instance in parsed.manifest.instances() {
                    let process = &instance.process;
                    let channels = process.channels.iter().map(|channel| &channel.path);
                    prop_assert!(process.registers.iter().chain(channels).all(|path| check_path(path).is_ok()));
                    prop_assert!(!process.unrestricted);
                }
            }
            Err(errors) => {
                prop_assert!(!errors.0.is_empty());
                errors.0.iter().for_each(|error| check_place(error, &text));
            }
        }
    }

    #[test]
    fn any_override_gives_an_answer(text in any::<String>(), name in "[a-c.:=]{0,8}") {
        for text in [text, format!("{name}=1"), format!("p.platform:{name}=1")] {
            match text.parse::<Override>() {
                Ok(change) => {
                    let mut manifest = Manifest::single("p.wasm", &[]);
                    if let Err(errors) = manifest.apply(&[change]) {
                        prop_assert!(errors[0].to_string().contains('^'));
                    }
                }
                Err(error) => prop_assert!(error.to_string().contains('^')),
            }
        }
    }

    #[test]
    fn any_size_and_any_program_name_give_an_answer(text in any::<String>()) {
        let _ = parse_size(&text);
        let manifest = Manifest::single(&text, &[]);
        prop_assert!(check_identifier(&manifest.application.name).is_ok());
        prop_assert_eq!(manifest.requests().len(), 1);
    }
}

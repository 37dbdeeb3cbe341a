//! Golden tests: `diagnostics/NAME.toml` is wrong, and `diagnostics/NAME.txt` is what is said about it.
//! After a wanted change, write the new texts with `SATRAP_BLESS=1 cargo test -p satrap-manifest`, and read
//! the difference.

use std::fs;
use std::path::Path;

use satrap_manifest::{Diagnostics, Manifest};

fn diagnostics(text: &str) -> Diagnostics {
    Manifest::parse("app.toml", text).expect_err("this manifest is wrong")
}

#[test]
fn wrong_manifests_are_explained_as_written_down() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics");
    let mut seen = 0;
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let said = format!("{}\n", diagnostics(&fs::read_to_string(&path).expect("a text")));
        let golden = path.with_extension("txt");
        if std::env::var_os("SATRAP_BLESS").is_some() {
            fs::write(&golden, &said).expect("a writable folder");
        }
        let wanted = fs::read_to_string(&golden).unwrap_or_default();
        assert!(
            said == wanted,
            "{}:\n{said}\ninstead of\n{wanted}",
            path.display()
        );
        seen += 1;
    }
    assert!(seen >= 8, "the golden files are gone");
}

#[test]
fn diagnostics_come_in_the_order_of_the_text() {
    let errors = diagnostics(include_str!("diagnostics/values.toml")).0;
    assert!(errors.is_sorted_by_key(|error| (error.line, error.column)));
}

#[test]
fn diagnostics_are_plain_data_for_machines() {
    let json = serde_json::to_value(diagnostics("x = 1")).expect("plain data");
    let unknown = &json[2];
    assert_eq!(
        (&unknown["severity"], &unknown["line"], &unknown["column"]),
        (&"error".into(), &1.into(), &1.into())
    );
    assert_eq!(unknown["message"], "unknown key `x` in the manifest");
}

#[test]
fn the_longest_list_of_errors_is_bounded() {
    let text: String = (0..20_000).map(|n| format!("x{n} = 1\n")).collect();
    assert!(diagnostics(&text).0.len() <= 50);
    let one_line = format!("a = {{{}}}", text.replace('\n', ","));
    assert!(diagnostics(&one_line).to_string().len() < 20_000);
}

#[test]
fn a_manifest_that_is_too_long_is_refused_unread() {
    let errors = diagnostics(&"#".repeat(satrap_manifest::MANIFEST_MAX + 1));
    assert_eq!(
        errors.0[0].message,
        "a manifest of 1048577 bytes is longer than 1048576"
    );
}

#[test]
fn a_manifest_made_to_be_slow_is_still_answered() {
    let paths: String = (0..45_000).map(|n| format!("\"/{n}/{{instance}}\",")).collect();
    let text = format!(
        "application.name = \"a\"\n[[process]]\nname = \"p\"\nprogram = \"p\"\ninstances = 1024\nregisters = [{paths}]\nlimits.names = 4096"
    );
    assert!(
        diagnostics(&text)
            .0
            .iter()
            .any(|error| error.message.contains("registers 46080000 paths"))
    );
    assert!(Manifest::parse("app.toml", &"[".repeat(1 << 19)).is_err());
}

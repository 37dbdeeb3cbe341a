//! Draws what a command printed, colours included, as the picture that a document shows:
//! `CLICOLOR_FORCE=1 ./x demo | ./x picture docs/src/demo.svg`.
//!
//! Neighbour: `tools/xtask` builds and runs it. Screen control other than colours is not understood.

#![forbid(unsafe_code)]

use anstyle::{Color, RgbColor};
use anstyle_svg::Term;
use std::{
    env, fs,
    io::{self, Read},
    process::ExitCode,
};

/// As terminals look today: light on dark, neither of them pure.
const TEXT: Color = Color::Rgb(RgbColor(0xd4, 0xd4, 0xdc));
const GROUND: Color = Color::Rgb(RgbColor(0x1c, 0x1c, 0x26));

fn main() -> ExitCode {
    let Some(path) = env::args_os().nth(1) else {
        eprintln!("picture: name the SVG file to write; the text comes from standard input");
        return ExitCode::from(2);
    };
    let mut text = String::new();
    let drawn = io::stdin().read_to_string(&mut text).and_then(|_| {
        let terminal = Term::new().fg_color(TEXT).bg_color(GROUND);
        let picture = terminal.render_svg(text.trim_matches('\n'));
        fs::write(&path, picture)
    });
    match drawn {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("picture: {}: {error}", path.to_string_lossy());
            ExitCode::FAILURE
        }
    }
}

//! Colours, only where a person sees them: on a terminal, and not with `NO_COLOR`.
//!
//! What a colour says, a word says too, so that nothing is lost without it.

use clap::ColorChoice;
use std::{env, io::IsTerminal};

/// What a colour says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Colour {
    /// No colour.
    Plain,
    /// Headings and what matters most.
    Bold,
    /// What matters least.
    Dim,
    /// As it should be.
    Good,
    /// Changing, or worth a look.
    Warning,
    /// Not as it should be.
    Bad,
    /// The word `error`.
    Error,
    /// The Nth of things to tell apart, such as processes.
    Series(usize),
}

/// ANSI colours that can be told apart and read on dark and light ground.
const SERIES: [&str; 6] = ["36", "35", "33", "34", "32", "96"];

impl Colour {
    fn code(self) -> &'static str {
        match self {
            Colour::Plain => "",
            Colour::Bold => "1",
            Colour::Dim => "2",
            Colour::Good => "32",
            Colour::Warning => "33",
            Colour::Bad => "31",
            Colour::Error => "1;31",
            Colour::Series(index) => SERIES[index % SERIES.len()],
        }
    }
}

/// Whether colours are used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    coloured: bool,
}

impl Style {
    /// For a stream, by what the user asked for.
    pub fn of(choice: ColorChoice, stream: &impl IsTerminal) -> Style {
        let coloured = match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => stream.is_terminal() && allowed(),
        };
        Style { coloured }
    }

    /// Without colours.
    pub const fn plain() -> Style {
        Style { coloured: false }
    }

    /// With colours.
    #[cfg(test)]
    pub const fn coloured() -> Style {
        Style { coloured: true }
    }

    /// `text` in a colour.
    pub fn paint(self, colour: Colour, text: &str) -> String {
        if self.coloured && colour != Colour::Plain {
            format!("\x1b[{}m{text}\x1b[0m", colour.code())
        } else {
            text.to_owned()
        }
    }
}

/// By <https://no-color.org> and the terminal's own word.
fn allowed() -> bool {
    let set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    !set("NO_COLOR") && env::var_os("TERM").is_none_or(|term| term != "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_colours_text_is_left_as_it_is() {
        assert_eq!(Style::plain().paint(Colour::Bad, "x"), "x");
        assert_eq!(Style::coloured().paint(Colour::Bad, "x"), "\x1b[31mx\x1b[0m");
        assert_eq!(Style::coloured().paint(Colour::Plain, "x"), "x");
    }
}

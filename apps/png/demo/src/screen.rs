//! What the demo looks like: headings, aligned tables, one line of progress. Colours and moving lines only on a
//! terminal; `NO_COLOR` and `CLICOLOR_FORCE` are heeded.

use std::{
    env,
    fmt::Write as _,
    io::{self, IsTerminal, Write},
    time::Duration,
};
use unicode_width::UnicodeWidthStr;

/// Characters of a progress bar.
const BAR: usize = 30;

/// Standard output.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    terminal: bool,
    colours: bool,
}

impl Default for Screen {
    fn default() -> Screen {
        let terminal = io::stdout().is_terminal();
        let set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
        Screen {
            terminal,
            colours: (terminal || set("CLICOLOR_FORCE")) && !set("NO_COLOR"),
        }
    }
}

impl Screen {
    fn paint(&self, code: &str, text: &str) -> String {
        if self.colours {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// A line.
    pub fn line(&self, text: &str) {
        println!("{text}");
    }

    /// A step of the story.
    pub fn heading(&self, text: &str) {
        println!("\n{}", self.paint("1;36", text));
    }

    /// What matters less.
    pub fn aside(&self, text: &str) {
        println!("{}", self.paint("2", text));
    }

    /// A table; the first column to the left, the others to the right unless `left` says otherwise.
    pub fn table(&self, headings: &[&str], left: &[usize], rows: &[Vec<String>]) {
        let text = table(headings, left, rows);
        let (head, rest) = text.split_once('\n').unwrap_or((&text, ""));
        println!("{}\n{}", self.paint("2", head), rest.trim_end());
    }

    /// One line that changes; nothing where it cannot.
    pub fn progress(&self, share: f64, text: &str) {
        if !self.terminal {
            return;
        }
        let full = (share.clamp(0.0, 1.0) * BAR as f64).round() as usize;
        let (done, rest) = ("█".repeat(full), "░".repeat(BAR - full));
        print!(
            "\r\x1b[K  {}{} {text}",
            self.paint("36", &done),
            self.paint("2", &rest)
        );
        // A terminal that is gone is noticed at the next line.
        let _ = io::stdout().flush();
    }

    /// Takes the changing line away.
    pub fn end_progress(&self) {
        if self.terminal {
            print!("\r\x1b[K");
        }
    }
}

/// Columns two spaces apart.
fn table(headings: &[&str], left: &[usize], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let widest = cells.map(|cell| cell.width()).max().unwrap_or(0);
        widest.max(headings[column].width())
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let heading: Vec<String> = headings.iter().map(|&heading| heading.to_owned()).collect();
    let mut text = String::new();
    for row in std::iter::once(&heading).chain(rows) {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let blank = " ".repeat(widths[column] - cell.width());
            // Writing to a string cannot fail.
            let _ = match column == 0 || left.contains(&column) {
                true => write!(line, "  {cell}{blank}"),
                false => write!(line, "  {blank}{cell}"),
            };
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// A size with a unit.
pub fn bytes(count: f64) -> String {
    match count {
        count if count >= 1e6 => format!("{:.1} MB", count / 1e6),
        count if count >= 1e3 => format!("{:.1} kB", count / 1e3),
        count => format!("{count:.0} B"),
    }
}

/// A duration with a unit.
pub fn time(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    match micros {
        micros if micros >= 1e6 => format!("{:.2} s", micros / 1e6),
        micros if micros >= 1e3 => format!("{:.1} ms", micros / 1e3),
        micros => format!("{micros:.0} µs"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_whatever_they_hold() {
        let rows = [
            vec!["µs".to_owned(), "1".to_owned(), "why".to_owned()],
            vec!["longer".to_owned(), "100".to_owned(), "x".to_owned()],
        ];
        assert_eq!(
            table(&["what", "n", "reason"], &[2], &rows),
            "  what      n  reason\n  µs        1  why\n  longer  100  x\n"
        );
    }

    #[test]
    fn figures_have_their_units() {
        assert_eq!(bytes(1500.0), "1.5 kB");
        assert_eq!(bytes(12.0), "12 B");
        assert_eq!(time(Duration::from_micros(1234)), "1.2 ms");
        assert_eq!(time(Duration::from_millis(2340)), "2.34 s");
    }
}

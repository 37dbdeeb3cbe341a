//! Tables: aligned columns with a heading, as wide as what stands in them.
//!
//! Cells are measured before `style.rs` colours them, so that colours never shift a column.

use super::style::{Colour, Style};
use unicode_width::UnicodeWidthStr;

/// Between two columns.
const GAP: &str = "  ";

/// Which way a column leans.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// One field: text and its colour.
#[derive(Clone, Debug)]
pub struct Cell {
    text: String,
    colour: Colour,
}

impl Cell {
    /// A field with a colour.
    pub fn new(text: impl Into<String>, colour: Colour) -> Cell {
        let text = text.into();
        Cell { text, colour }
    }
}

impl<T: ToString> From<T> for Cell {
    fn from(value: T) -> Cell {
        Cell::new(value.to_string(), Colour::Plain)
    }
}

/// A field for what may not be there.
pub fn optional<T: ToString>(value: Option<T>) -> Cell {
    value.map_or_else(|| Cell::new("-", Colour::Dim), Cell::from)
}

/// Rows under headings.
pub struct Table<const N: usize> {
    columns: [(&'static str, Align); N],
    rows: Vec<[Cell; N]>,
}

impl<const N: usize> Table<N> {
    /// An empty table.
    pub fn new(columns: [(&'static str, Align); N]) -> Table<N> {
        let rows = Vec::new();
        Table { columns, rows }
    }

    /// Adds a row.
    pub fn row(&mut self, row: [Cell; N]) {
        self.rows.push(row);
    }

    /// The table as text, a line for each row.
    pub fn render(&self, style: Style) -> String {
        let headings = self.columns.map(|(heading, _)| Cell::new(heading, Colour::Bold));
        let mut widths = [0; N];
        for row in self.rows.iter().chain([&headings]) {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.text.width().max(*width);
            }
        }
        let lines = [&headings].into_iter().chain(&self.rows);
        lines.map(|row| self.line(row, &widths, style)).collect()
    }

    fn line(&self, row: &[Cell; N], widths: &[usize; N], style: Style) -> String {
        let mut line = String::new();
        for ((cell, width), (_, align)) in row.iter().zip(widths).zip(self.columns) {
            let blank = " ".repeat(width - cell.text.width());
            let painted = style.paint(cell.colour, &cell.text);
            line += &match align {
                Align::Left => painted + &blank,
                Align::Right => blank + &painted,
            };
            line += GAP;
        }
        line.trim_end().to_owned() + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table<3> {
        let mut table = Table::new([
            ("ID", Align::Right),
            ("NAME", Align::Left),
            ("STATE", Align::Left),
        ]);
        table.row([7.into(), "décoder".into(), Cell::new("running", Colour::Good)]);
        table.row([123.into(), "x".into(), optional(None::<u8>)]);
        table
    }

    #[test]
    fn words_lean_left_and_numbers_right() {
        assert_eq!(
            table().render(Style::plain()),
            " ID  NAME     STATE\n  7  décoder  running\n123  x        -\n"
        );
    }

    #[test]
    fn colours_do_not_move_columns() {
        let coloured = table().render(Style::coloured());
        assert!(
            coloured.contains("  7  décoder  \x1b[32mrunning\x1b[0m\n"),
            "{coloured}"
        );
    }
}

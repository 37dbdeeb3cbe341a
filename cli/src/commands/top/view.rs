//! The screen of `top`: satellites with load bars, processes, channels.
//!
//! Arrows select a process, and only its channels are shown then; `s` changes the order of both tables.

use super::model::{ChannelRate, ProcessRate, Rates};
use crate::{commands::kernels, ui::units};
use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::{Color, Modifier, Style, Stylize},
    text::{Line, Span, Text},
    widgets::{Block, Borders, Cell, Row, Table, TableState},
};
use satrap_coordinator::api::{Kernel, KernelState, ProcessState};
use std::cmp::Ordering;

/// Characters of a load bar.
const BAR: usize = 30;
/// Loads above these shares are worth a look.
const BUSY: f64 = 0.5;
const FULL: f64 = 0.9;

/// By what the tables are sorted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Order {
    /// CPU time; messages.
    Busy,
    /// Memory; bytes.
    Size,
    Name,
}

impl Order {
    fn next(self) -> Order {
        match self {
            Order::Busy => Order::Size,
            Order::Size => Order::Name,
            Order::Name => Order::Busy,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Order::Busy => "CPU and messages",
            Order::Size => "memory and bytes",
            Order::Name => "name",
        }
    }
}

/// What is on the screen.
pub struct View {
    rates: Rates,
    order: Order,
    /// The selected process, by id: it keeps its selection when the order changes.
    selected: Option<u64>,
    table: TableState,
}

impl View {
    /// A screen.
    pub fn new(rates: Rates) -> View {
        let mut view = View {
            rates,
            order: Order::Busy,
            selected: None,
            table: TableState::default(),
        };
        view.arrange();
        view
    }

    /// New figures.
    pub fn update(&mut self, rates: Rates) {
        self.rates = rates;
        self.arrange();
    }

    /// The next order.
    pub fn sort(&mut self) {
        self.order = self.order.next();
        self.arrange();
    }

    /// Moves the selection that many lines down.
    pub fn select(&mut self, lines: isize) {
        let Some(last) = self.rates.processes.len().checked_sub(1) else {
            return;
        };
        let place = match self.place() {
            Some(place) => place.saturating_add_signed(lines).min(last),
            None => 0,
        };
        self.selected = Some(self.rates.processes[place].id);
    }

    /// Selects nothing, which shows all channels.
    pub fn select_none(&mut self) {
        self.selected = None;
    }

    fn place(&self) -> Option<usize> {
        let selected = self.selected?;
        self.rates
            .processes
            .iter()
            .position(|process| process.id == selected)
    }

    fn arrange(&mut self) {
        let falling = |a: f64, b: f64| b.total_cmp(&a);
        let order = self.order;
        self.rates.processes.sort_by(|a, b| {
            let first = match order {
                Order::Busy => falling(a.cpu, b.cpu),
                Order::Size => b.memory.cmp(&a.memory),
                Order::Name => Ordering::Equal,
            };
            first.then_with(|| (&a.name, a.id).cmp(&(&b.name, b.id)))
        });
        self.rates.channels.sort_by(|a, b| {
            let first = match order {
                Order::Busy => falling(a.sent + a.received, b.sent + b.received),
                Order::Size => falling(a.bytes, b.bytes),
                Order::Name => Ordering::Equal,
            };
            let names = |c: &ChannelRate| (c.process_name.clone(), c.name.clone(), c.peer);
            first.then_with(|| names(a).cmp(&names(b)))
        });
        if self.place().is_none() {
            self.selected = None;
        }
    }

    /// Draws everything.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        let satellites = u16::try_from(self.rates.kernels.len()).unwrap_or(u16::MAX);
        // Satellites have at most a third of the screen; the tables share the rest.
        let satellites = satellites.min(frame.area().height / 3).max(1);
        let layout = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(satellites + 1),
            Constraint::Fill(1),
            Constraint::Fill(1),
        ]);
        let [head, top, middle, bottom] = layout.areas(frame.area());
        frame.render_widget(self.head(), head);
        self.draw_satellites(frame, top);
        self.draw_processes(frame, middle);
        self.draw_channels(frame, bottom);
    }

    fn head(&self) -> Line<'static> {
        let keys = format!("  q quit  ↑↓ select  esc all  s sort (by {})", self.order.words());
        Line::from(vec!["satrap top".bold(), keys.dim()])
    }

    fn draw_satellites(&self, frame: &mut Frame<'_>, area: Rect) {
        let block = title(format!(" satellites: {} ", self.rates.kernels.len()));
        let inside = block.inner(area);
        frame.render_widget(block, area);
        for (kernel, row) in self.rates.kernels.iter().zip(inside.rows()) {
            frame.render_widget(satellite(kernel), row);
        }
    }

    fn draw_processes(&mut self, frame: &mut Frame<'_>, area: Rect) {
        let rows: Vec<Row<'_>> = self.rates.processes.iter().map(process).collect();
        let columns = [
            figure("PROCESS", 7),
            words("NAME", 32),
            figure("SATELLITE", 9),
            words("STATE", 8),
            figure("CPU", 6),
            figure("MEMORY", 9),
            figure("THREADS", 7),
        ];
        let table = table(columns, rows)
            .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED))
            .block(title(format!(" processes: {} ", self.rates.processes.len())));
        self.table.select(self.place());
        frame.render_stateful_widget(table, area, &mut self.table);
    }

    fn draw_channels(&self, frame: &mut Frame<'_>, area: Rect) {
        let shown = |channel: &&ChannelRate| self.selected.is_none_or(|id| id == channel.process);
        let rows: Vec<Row<'_>> = self.rates.channels.iter().filter(shown).map(channel).collect();
        let whose = match self.place() {
            Some(place) => format!(" channels of {} ", self.rates.processes[place].name),
            None => format!(" channels: {} ", rows.len()),
        };
        let columns = [
            words("PROCESS", 32),
            words("CHANNEL", 20),
            figure("SATELLITES", 10),
            figure("SENT/s", 8),
            figure("RECEIVED/s", 10),
            figure("BYTES/s", 10),
            figure("COPIES/s", 8),
        ];
        frame.render_widget(table(columns, rows).block(title(whose)), area);
    }
}

fn title(text: String) -> Block<'static> {
    Block::new()
        .borders(Borders::TOP)
        .border_style(Style::new().dim())
        .title(text.bold())
}

/// A column's heading and width.
type Column = (Cell<'static>, Constraint);

/// A column of words, which gives way where the screen is narrow.
fn words(heading: &'static str, width: u16) -> Column {
    (heading.into(), Constraint::Max(width))
}

/// A column of figures. Its cells are [`number`]s.
fn figure(heading: &'static str, width: u16) -> Column {
    (number(heading), Constraint::Length(width))
}

fn number(text: impl Into<String>) -> Cell<'static> {
    Cell::from(Text::from(text.into()).right_aligned())
}

fn table<'a, const N: usize>(columns: [Column; N], rows: Vec<Row<'a>>) -> Table<'a> {
    let (headings, widths): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    Table::new(rows, widths)
        .header(Row::new(headings).style(Style::new().dim()))
        .column_spacing(2)
}

/// A line with a bar, such as `1  ███░░░  50 %  cpus 0-3  3 processes`.
fn satellite(kernel: &Kernel) -> Line<'static> {
    let load = kernel.load.clamp(0.0, 1.0);
    // At most BAR, because the load is at most 1.
    let filled = (load * BAR as f64).round() as usize;
    let colour = match load {
        _ if kernel.state != KernelState::Running => Color::DarkGray,
        load if load >= FULL => Color::Red,
        load if load >= BUSY => Color::Yellow,
        _ => Color::Green,
    };
    let mut text = format!(
        "  cpus {}  processes {}",
        units::ranges(&kernel.cpus),
        kernel.processes
    );
    if let Some(stats) = &kernel.stats {
        text += &format!("  exchange {}", units::bytes(stats.exchange_used));
    }
    if kernel.state != KernelState::Running {
        text += "  not running";
    }
    Line::from(vec![
        Span::raw(format!("{:>4}  ", kernels::number(kernel))),
        Span::styled("█".repeat(filled), colour),
        "░".repeat(BAR - filled).dim(),
        Span::raw(format!(" {:>5}", units::percent(load))),
        Span::raw(text),
    ])
}

fn process(process: &ProcessRate) -> Row<'_> {
    let state = match process.state {
        ProcessState::Running => "running".green(),
        ProcessState::Waiting => "waiting".yellow(),
        ProcessState::Starting => "starting".yellow(),
        ProcessState::Ending => "ending".yellow(),
        ProcessState::Exited => "exited".dim(),
    };
    Row::new([
        number(process.id.to_string()),
        Cell::from(process.name.as_str()),
        number(process.kernel.map_or("-".to_owned(), |kernel| kernel.to_string())),
        Cell::from(state),
        number(units::percent(process.cpu)),
        number(units::bytes(process.memory)),
        number(process.threads.to_string()),
    ])
}

fn channel(channel: &ChannelRate) -> Row<'_> {
    // An end that came in a message has no name.
    let name = match channel.name.as_str() {
        "" => "-",
        name => name,
    };
    let name = match channel.endpoints {
        0 | 1 => name.to_owned(),
        several => format!("{name} ×{several}"),
    };
    Row::new([
        Cell::from(channel.process_name.as_str()),
        Cell::from(name),
        number(format!("{} → {}", channel.kernel, channel.peer)),
        number(units::count(channel.sent)),
        number(units::count(channel.received)),
        number(units::bytes(channel.bytes as u64)),
        number(units::count(channel.copies)),
    ])
}

#[cfg(test)]
mod tests {
    use super::{super::model::tests::samples, *};
    use ratatui::{Terminal, backend::TestBackend};

    fn screen(view: &mut View) -> String {
        let mut terminal = Terminal::new(TestBackend::new(100, 16)).expect("a test screen");
        terminal.draw(|frame| view.draw(frame)).expect("a test screen");
        let cells: Vec<&str> = terminal
            .backend()
            .buffer()
            .content
            .iter()
            .map(|cell| cell.symbol())
            .collect();
        let lines = cells
            .chunks(100)
            .map(|line| line.concat().trim_end().to_owned() + "\n");
        lines.collect()
    }

    fn view() -> View {
        let (before, after) = samples();
        View::new(Rates::between(&before, &after))
    }

    #[test]
    fn satellites_processes_and_channels_are_on_one_screen() {
        let screen = screen(&mut view());
        let expected = "\
satrap top  q quit  ↑↓ select  esc all  s sort (by CPU and messages)
 satellites: 2 ─────────────────────────────────────────────────────────────────────────────────────
   1  ████████░░░░░░░░░░░░░░░░░░░░░░  25 %  cpus 0  processes 1
   2  ██████████████████████████████ 100 %  cpus 1  processes 1
 processes: 3 ──────────────────────────────────────────────────────────────────────────────────────
";
        assert!(screen.starts_with(expected), "{screen}");
        let lines: Vec<Vec<&str>> = screen
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        assert!(
            lines.iter().any(|line| line.starts_with(&["7", "app/p7"])),
            "{screen}"
        );
        let store = ["store", "×2", "1", "→", "2", "15", "0"];
        assert!(
            lines.iter().any(|line| line.get(1..8) == Some(&store)),
            "{screen}"
        );
    }

    #[test]
    fn a_selected_process_keeps_its_selection_when_the_order_changes() {
        let mut view = view();
        view.select(1);
        assert_eq!(view.selected, Some(7), "the busiest stands first");
        view.sort();
        assert_eq!(
            (view.selected, view.place()),
            (Some(7), Some(2)),
            "it has the least memory"
        );
        let screen = screen(&mut view);
        assert!(
            screen.contains(" channels of app/p7 ") && !screen.contains("front"),
            "{screen}"
        );
    }

    #[test]
    fn the_selection_stays_within_the_list() {
        let mut view = view();
        (0..9).for_each(|_| view.select(1));
        assert_eq!(view.place(), Some(2));
        (0..9).for_each(|_| view.select(-1));
        assert_eq!(view.place(), Some(0));
        view.select_none();
        assert_eq!(view.place(), None);
    }

    #[test]
    fn a_screen_too_small_for_it_all_is_still_drawn() {
        let mut terminal = Terminal::new(TestBackend::new(5, 2)).expect("a test screen");
        terminal.draw(|frame| view().draw(frame)).expect("a test screen");
    }
}

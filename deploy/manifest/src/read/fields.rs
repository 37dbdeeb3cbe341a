//! Typed access to the fields of a TOML table, each with its place in the text.
//!
//! A getter returns `None` where the field is absent or wrong; what is wrong has been reported then. What
//! nobody asked for by the time of [`Fields::finish`] is an unknown key.

use std::ops::{Range, RangeInclusive};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diagnostic::Report;
use crate::name::Illegal;
use crate::size::{parse_size, show_size};
use crate::suggest::{listed, nearest};

/// A text and where it stands.
#[derive(Clone)]
pub(crate) struct Text {
    pub text: String,
    pub at: Range<usize>,
}

/// A table being read.
pub(crate) struct Fields<'t> {
    table: &'t DeTable<'t>,
    at: Range<usize>,
    /// For messages: "process `decoder`".
    what: String,
    known: Vec<&'static str>,
}

impl<'t> Fields<'t> {
    pub(crate) fn new(table: &'t DeTable<'t>, at: Range<usize>, what: String) -> Fields<'t> {
        Fields {
            table,
            at,
            what,
            known: Vec::new(),
        }
    }

    /// Names the table for messages, once its name is known.
    pub(crate) fn call(&mut self, what: String) {
        self.what = what;
    }

    pub(crate) fn what(&self) -> &str {
        &self.what
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Where the key stands, if it is there.
    pub(crate) fn key_at(&self, key: &str) -> Option<Range<usize>> {
        self.table.get_key_value(key).map(|(key, _)| key.span())
    }

    fn get(&mut self, key: &'static str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.known.push(key);
        self.table.get(key)
    }

    /// Every key and value, for tables whose keys are names.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (Text, &'t Spanned<DeValue<'t>>)> + use<'t> {
        self.table.iter().map(|(key, value)| {
            (
                Text {
                    text: key.get_ref().to_string(),
                    at: key.span(),
                },
                value,
            )
        })
    }

    /// Reports every key that was not asked for.
    pub(crate) fn finish(self, report: &mut Report<'_>) {
        for key in self
            .table
            .keys()
            .filter(|key| !self.known.contains(&key.get_ref().as_ref()))
        {
            let name = key.get_ref();
            let near = nearest(name, self.known.iter().copied());
            let error = report.error(key.span(), format!("unknown key `{name}` in {}", self.what));
            match near {
                Some(_) => error.did_you_mean(near),
                None => error.help(format!("it has {}", listed(self.known.iter().copied()))),
            };
        }
    }

    pub(crate) fn string(&mut self, key: &'static str, report: &mut Report<'_>) -> Option<Text> {
        let value = self.get(key)?;
        as_string(value, &format!("`{key}`"), report)
    }

    /// A text that must pass `check`.
    pub(crate) fn name(
        &mut self,
        key: &'static str,
        report: &mut Report<'_>,
        check: impl Fn(&str) -> Result<(), Illegal>,
    ) -> Option<Text> {
        let text = self.string(key, report)?;
        legal(text, &format!("`{key}`"), report, check)
    }

    /// As [`Fields::name`]; absence is an error.
    pub(crate) fn required_name(
        &mut self,
        key: &'static str,
        report: &mut Report<'_>,
        check: impl Fn(&str) -> Result<(), Illegal>,
    ) -> Option<Text> {
        if !self.has(key) {
            report
                .error(self.at.clone(), format!("{} has no `{key}`", self.what))
                .help(format!("add `{key} = \"...\"`"));
        }
        self.name(key, report, check)
    }

    pub(crate) fn strings(&mut self, key: &'static str, report: &mut Report<'_>) -> Vec<Text> {
        let Some(value) = self.get(key) else {
            return Vec::new();
        };
        let what = format!("`{key}`");
        let Some(array) = value.get_ref().as_array() else {
            wrong_type(value, &what, "an array of strings", report)
                .help(format!("write `{key} = [\"...\"]`"));
            return Vec::new();
        };
        let what = format!("each of {what}");
        array
            .iter()
            .filter_map(|each| as_string(each, &what, report))
            .collect()
    }

    /// One of some words.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        key: &'static str,
        report: &mut Report<'_>,
        words: &[(&'static str, T)],
    ) -> Option<T> {
        let text = self.string(key, report)?;
        let choice = words.iter().find(|(word, _)| *word == text.text);
        if choice.is_none() {
            let names = || words.iter().map(|(word, _)| *word);
            report
                .error(text.at, format!("`{key}` is none of {}", listed(names())))
                .did_you_mean(nearest(&text.text, names()));
        }
        choice.map(|(_, value)| *value)
    }

    pub(crate) fn integer(
        &mut self,
        key: &'static str,
        report: &mut Report<'_>,
        range: RangeInclusive<i64>,
    ) -> Option<i64> {
        let value = self.get(key)?;
        as_integer(value, &format!("`{key}`"), report, range)
    }

    /// A number of bytes: an integer, or a text with a unit.
    pub(crate) fn size(
        &mut self,
        key: &'static str,
        report: &mut Report<'_>,
        range: RangeInclusive<u64>,
    ) -> Option<u64> {
        let value = self.get(key)?;
        let size = match value.get_ref() {
            DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix())
                .map_err(|_| "it is not a number of bytes".to_string()),
            DeValue::String(text) => parse_size(text),
            _ => {
                wrong_type(value, &format!("`{key}`"), "a size", report).help(SIZE_HELP);
                return None;
            }
        };
        match size {
            Ok(size) if range.contains(&size) => return Some(size),
            Ok(size) => {
                let (least, most) = (show_size(*range.start()), show_size(*range.end()));
                report
                    .error(
                        value.span(),
                        format!("`{key}` of {} is out of range", show_size(size)),
                    )
                    .label(format!("must be {least} to {most}"));
            }
            Err(why) => {
                report
                    .error(value.span(), format!("`{key}` is not a size: {why}"))
                    .help(SIZE_HELP);
            }
        }
        None
    }

    pub(crate) fn table(&mut self, key: &'static str, report: &mut Report<'_>) -> Option<Fields<'t>> {
        let value = self.get(key)?;
        let what = if self.at.is_empty() {
            format!("`{key}`")
        } else {
            format!("`{key}` of {}", self.what)
        };
        as_table(value, what, report)
    }

    /// An array of tables.
    pub(crate) fn tables(&mut self, key: &'static str, report: &mut Report<'_>) -> Vec<Fields<'t>> {
        let Some(value) = self.get(key) else {
            return Vec::new();
        };
        let Some(array) = value.get_ref().as_array() else {
            wrong_type(value, &format!("`{key}`"), "an array of tables", report)
                .help(format!("write `[[{key}]]` with two pairs of brackets"));
            return Vec::new();
        };
        array
            .iter()
            .filter_map(|each| as_table(each, format!("a `{key}`"), report))
            .collect()
    }

    /// Where the table stands.
    pub(crate) fn at(&self) -> Range<usize> {
        self.at.clone()
    }
}

const SIZE_HELP: &str = "write a size as \"64 MiB\", \"64M\" or a number of bytes";

/// The value as a table called `what`.
pub(crate) fn as_table<'t>(
    value: &'t Spanned<DeValue<'t>>,
    what: String,
    report: &mut Report<'_>,
) -> Option<Fields<'t>> {
    match value.get_ref().as_table() {
        Some(table) => Some(Fields::new(table, value.span(), what)),
        None => {
            wrong_type(value, &what, "a table", report);
            None
        }
    }
}

/// The value as an integer within `range`.
pub(crate) fn as_integer(
    value: &Spanned<DeValue<'_>>,
    what: &str,
    report: &mut Report<'_>,
    range: RangeInclusive<i64>,
) -> Option<i64> {
    let Some(number) = value.get_ref().as_integer() else {
        wrong_type(value, what, "a whole number", report);
        return None;
    };
    match i64::from_str_radix(number.as_str(), number.radix()) {
        Ok(number) if range.contains(&number) => Some(number),
        _ => {
            report
                .error(value.span(), format!("{what} is out of range"))
                .label(format!("must be {} to {}", range.start(), range.end()));
            None
        }
    }
}

/// The value as a text without NUL, which no text that reaches a program can carry.
pub(crate) fn as_string(value: &Spanned<DeValue<'_>>, what: &str, report: &mut Report<'_>) -> Option<Text> {
    let Some(text) = value.get_ref().as_str() else {
        wrong_type(value, what, "a string", report);
        return None;
    };
    if text.contains('\0') {
        report.error(value.span(), format!("{what} contains a NUL character"));
        return None;
    }
    Some(Text {
        text: text.to_string(),
        at: value.span(),
    })
}

/// The text, if it passes `check`.
pub(crate) fn legal(
    text: Text,
    what: &str,
    report: &mut Report<'_>,
    check: impl Fn(&str) -> Result<(), Illegal>,
) -> Option<Text> {
    match check(&text.text) {
        Ok(()) => Some(text),
        Err(why) => {
            report.error(text.at, format!("illegal {what}: {why}"));
            None
        }
    }
}

fn wrong_type<'r>(
    value: &Spanned<DeValue<'_>>,
    what: &str,
    wanted: &str,
    report: &'r mut Report<'_>,
) -> &'r mut crate::diagnostic::Diagnostic {
    let found = value.get_ref().type_str();
    let article = if found.starts_with(['a', 'i', 'o']) {
        "an"
    } else {
        "a"
    };
    report
        .error(value.span(), format!("{what} must be {wanted}"))
        .label(format!("this is {article} {found}"))
}

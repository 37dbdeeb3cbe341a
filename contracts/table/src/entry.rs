//! Entries of the custom section `satrap.contract`: each is a table and the canonical text behind it.
//!
//! A program carries one entry for each contract that it uses. The linker concatenates them, so each
//! begins with its own length: `entry length u32`, `table length u32`, table, text. The text lets a
//! refused bind name the first difference.

use crate::format::TableError;
use crate::table::Table;
use alloc::vec::Vec;

/// One contract of a program. Its bytes come from the program and are not yet checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry<'a> {
    /// The table; [`Table::parse`] checks it.
    pub table: &'a [u8],
    /// The canonical text; [`Entry::parse`] checks that it is the table's.
    pub text: &'a str,
}

impl Entry<'_> {
    /// Parses the table and checks that the text is the one whose digest it contains.
    ///
    /// # Errors
    ///
    /// What is wrong with the table, or [`TableError::Text`].
    pub fn parse(&self) -> Result<Table, TableError> {
        let table = Table::parse(self.table)?;
        if blake3::hash(self.text.as_bytes()).as_bytes() == &table.text_digest().0 {
            Ok(table)
        } else {
            Err(TableError::Text)
        }
    }
}

/// The entries of a section, in order. After an error it yields nothing more.
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    rest: &'a [u8],
}

/// Walks a section that a program supplied.
pub fn entries(section: &[u8]) -> Entries<'_> {
    Entries { rest: section }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<Entry<'a>, TableError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let item = split(self.rest);
        self.rest = item.as_ref().map_or(&[], |&(_, rest)| rest);
        Some(item.map(|(entry, _)| entry))
    }
}

fn split(section: &[u8]) -> Result<(Entry<'_>, &[u8]), TableError> {
    let (entry, rest) = split_length(section)?;
    let (table, text) = split_length(entry)?;
    let text = core::str::from_utf8(text).map_err(|_| TableError::Text)?;
    Ok((Entry { table, text }, rest))
}

/// Splits off as many bytes as a leading `u32` says.
fn split_length(bytes: &[u8]) -> Result<(&[u8], &[u8]), TableError> {
    let (len, rest) = bytes.split_first_chunk().ok_or(TableError::Truncated)?;
    let len = usize::try_from(u32::from_le_bytes(*len)).map_err(|_| TableError::Truncated)?;
    rest.split_at_checked(len).ok_or(TableError::Truncated)
}

/// The bytes of one entry, its leading length included.
///
/// # Panics
///
/// If table and text together reach 4 GiB; the compiler's limits keep them under 1 MiB.
pub fn encode_entry(table: &[u8], text: &str) -> Vec<u8> {
    let length = |len: usize| {
        u32::try_from(len)
            .expect("a contract is far below 4 GiB")
            .to_le_bytes()
    };
    let mut entry = Vec::new();
    entry.extend(length(4 + table.len() + text.len()));
    entry.extend(length(table.len()));
    entry.extend(table);
    entry.extend(text.as_bytes());
    entry
}

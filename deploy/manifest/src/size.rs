//! Sizes in bytes, as people write them. Units are the ones in common use, and what is shown reads back.
//! Whole numbers only, so that no rounding is ever in question.

/// Units and what they are worth. One letter means the power of 1024, as for the tools that came before.
const UNITS: [(&str, u64); 11] = [
    ("", 1),
    ("B", 1),
    ("K", 1 << 10),
    ("KiB", 1 << 10),
    ("kB", 1000),
    ("M", 1 << 20),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("G", 1 << 30),
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
];

/// Reads `64 MiB`, `64M`, `64MB` (of 1,000,000 bytes) or `67108864`; a space before the unit is free, and
/// its case does not matter.
///
/// # Errors
/// What is wrong with the text, in half a sentence.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = (&text[..digits], text[digits..].trim_start());
    if number.is_empty() {
        return Err(format!("`{text}` does not start with a whole number"));
    }
    let Some((_, worth)) = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)) else {
        return Err(format!("`{unit}` is not a unit of size"));
    };
    let size = number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(*worth));
    size.ok_or_else(|| format!("`{text}` does not fit into 64 bits"))
}

/// The size as a person would write it: the largest unit that divides it.
pub(crate) fn show_size(bytes: u64) -> String {
    let units = [("GiB", 1u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match units
        .iter()
        .find(|(_, worth)| bytes >= *worth && bytes.is_multiple_of(*worth))
    {
        Some((unit, worth)) => format!("{} {unit}", bytes / worth),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::{parse_size, show_size};

    #[test]
    fn sizes_are_read_with_and_without_units() {
        let sizes = [
            ("0", 0),
            ("12", 12),
            ("64 MiB", 64 << 20),
            ("64M", 64 << 20),
            ("64mb", 64_000_000),
        ];
        for (text, bytes) in sizes
            .into_iter()
            .chain([(" 2 g ", 2 << 30), ("1kB", 1000), ("1 k", 1024)])
        {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in [
            "",
            "M",
            "-1",
            "1.5 GiB",
            "3 parsecs",
            "99999999999 GiB",
            "18446744073709551616",
        ] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_shown_size_reads_back() {
        for bytes in [0, 1, 1023, 1024, 1 << 20, 3 << 30, (1 << 20) + 1024, u64::MAX] {
            assert_eq!(parse_size(&show_size(bytes).replace("bytes", "B")), Ok(bytes));
        }
    }
}

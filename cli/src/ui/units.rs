//! Sizes, times and shares as people read them, each at most eight characters.
//!
//! `--json` never goes through here: programs get plain numbers in base units.

use std::time::Duration;

/// Bytes, in binary units.
pub fn bytes(bytes: u64) -> String {
    scaled(bytes as f64, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB"])
}

/// A count, in thousands where it is long.
pub fn count(count: f64) -> String {
    scaled(count, 1000.0, &["", "k", "M", "G", "T"])
}

fn scaled(value: f64, base: f64, units: &[&str]) -> String {
    let mut value = value;
    let mut unit = 0;
    // 999.5 would be printed as 1000.
    while value >= base - 0.5 && unit + 1 < units.len() {
        value /= base;
        unit += 1;
    }
    let digits = if unit == 0 || value >= 99.95 { 0 } else { 1 };
    format!("{value:.digits$} {}", units[unit]).trim_end().to_owned()
}

/// A time: the two units that say most.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0 if time < Duration::from_millis(1) => format!("{} µs", time.as_micros()),
        0 if time < Duration::from_millis(10) => format!("{:.1} ms", time.as_secs_f64() * 1e3),
        0 => format!("{} ms", time.as_millis()),
        1..60 => format!("{:.1} s", time.as_secs_f64()),
        60..3600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{}h {:02}m", seconds / 3600, seconds / 60 % 60),
        _ => format!("{}d {:02}h", seconds / 86_400, seconds / 3600 % 24),
    }
}

/// A time in ms.
pub fn ms(ms: u64) -> String {
    duration(Duration::from_millis(ms))
}

/// A share, 0 to 1.
pub fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Numbers in order, as ranges: `0-3,8`.
pub fn ranges(numbers: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match parts.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => parts.push((number, number)),
        }
    }
    let words: Vec<String> = parts
        .into_iter()
        .map(|(first, last)| {
            if first == last {
                first.to_string()
            } else {
                format!("{first}-{last}")
            }
        })
        .collect();
    words.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_change_unit_before_they_grow_long() {
        let cases = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (102_400, "100 KiB"),
            (1_048_575, "1.0 MiB"),
            (5 << 30, "5.0 GiB"),
        ];
        for (size, text) in cases {
            assert_eq!(bytes(size), text);
        }
        assert_eq!((count(999.0), count(12_345.0)), ("999".into(), "12.3 k".into()));
    }

    #[test]
    fn times_are_told_by_their_two_largest_units() {
        let cases = [
            (Duration::from_micros(7), "7 µs"),
            (Duration::from_micros(1500), "1.5 ms"),
            (Duration::from_millis(250), "250 ms"),
            (Duration::from_millis(2500), "2.5 s"),
            (Duration::from_secs(125), "2m 05s"),
            (Duration::from_secs(7_500), "2h 05m"),
            (Duration::from_secs(200_000), "2d 07h"),
        ];
        for (time, text) in cases {
            assert_eq!(duration(time), text);
        }
    }

    #[test]
    fn numbers_in_a_row_become_a_range() {
        assert_eq!(ranges(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
        assert_eq!(ranges(&[]), "");
    }
}

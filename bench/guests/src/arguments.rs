//! Numbers of the command line.

/// Argument `index` (1 is the first after the program's name), or a default.
pub fn number(index: usize, default: u64) -> Result<u64, String> {
    match satrap::args().get(index) {
        None => Ok(default),
        Some(text) => text
            .parse()
            .map_err(|error| format!("argument {index}, `{text}`: {error}")),
    }
}

//! Numbers of the command line, shared by the benches' programs.
//!
//! A number that is missing has a default; one that does not parse is an error that quotes it.

/// Argument `index` (1 is the first after the program's name), or a default.
pub fn number(index: usize, default: u64) -> Result<u64, String> {
    match satrap::args().get(index) {
        None => Ok(default),
        Some(text) => text
            .parse()
            .map_err(|error| format!("argument {index}, `{text}`: {error}")),
    }
}

//! Did you mean: the nearest of some names by edit distance, where one is near enough to be a slip.
//! Used for keys, paths, and the processes and channels of overrides.

/// Longer names are not compared: the time goes with the square of the length.
const COMPARED_MAX: usize = 256;

/// The candidate that `written` was probably meant to be: at most a third of it written otherwise. Exactly
/// equal candidates count as no suggestion.
pub(crate) fn nearest<'c>(written: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    if written.len() > COMPARED_MAX {
        return None;
    }
    let lower = written.to_lowercase();
    let most = (written.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= COMPARED_MAX && *candidate != written)
        .map(|candidate| (strsim::osa_distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= most)
        .min()
        .map(|(_, candidate)| candidate)
}

/// `a`, `b` and `c`, each in backquotes.
pub(crate) fn listed<'c>(names: impl IntoIterator<Item = &'c str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => "nothing".to_string(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

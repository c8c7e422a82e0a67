//! Did you mean: the known name nearest to one that does not exist.

use strsim::levenshtein;

/// The candidate at the least edit distance, if it is near enough to be a likely slip.
#[must_use]
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = match name.chars().count() {
        0..=2 => return None,
        3..=5 => 1,
        _ => 2,
    };
    nearest(name, limit, candidates)
}

/// As [`closest`] for columns, of which there are few: as far off as PostgreSQL looks.
#[must_use]
pub fn closest_column<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest(name, (name.chars().count() / 2).min(3), candidates)
}

fn nearest<'a>(name: &str, limit: usize, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .filter(|candidate| candidate.chars().count().abs_diff(name.chars().count()) <= limit)
        .filter_map(|candidate| {
            let distance = levenshtein(name, candidate);
            (1..=limit).contains(&distance).then_some((distance, candidate))
        })
        .min_by_key(|(distance, candidate)| (*distance, candidate.len()))
        .map(|(_, candidate)| candidate)
}

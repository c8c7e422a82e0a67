//! Several paths for one scan: rows that any of them leads to (OR over different indexes), or that all of them lead to (AND). Each
//! gives a set of row keys; the rows of the keys that are left are read in the order of the keys.

use super::path::{AccessPath, PathKind};
use super::predicate::Predicate;
use crate::catalog::ColumnId;
use stoa_pg::PgResult;

/// Parts of a disjunction above which it is not taken apart.
const MOST_PARTS: usize = 16;
/// Filters, at most, that are tried as unions: each looks at all others again.
const MOST_FILTERS: usize = 16;
/// Reading a row by its key, in rows of a sequential scan; keys are in order.
const BY_KEY: f64 = 4.0;
/// Reading an entry and keeping its key.
const BY_ENTRY: f64 = 1.3;

/// See the module.
#[derive(Clone, Debug)]
pub struct Combination {
    /// Rows of any path; otherwise of all.
    pub any: bool,
    pub branches: Vec<AccessPath>,
    /// Rows expected to be read by their keys.
    pub rows: f64,
    pub cost: f64,
}

impl Combination {
    /// The keys of one path, whose rows are to pass all filters again.
    #[must_use]
    pub fn of_one(path: AccessPath, sources: &Sources<'_>, filters: &[Predicate]) -> Self {
        let rows = (sources.rows)(&path, filters);
        Self { any: true, rows, cost: seeks(&path) + rows * (BY_ENTRY + BY_KEY), branches: vec![path] }
    }
}

/// The paths of filters, and how many rows one is expected to have when filters are these.
pub struct Sources<'a> {
    pub paths: &'a dyn Fn(&[Predicate]) -> PgResult<Vec<AccessPath>>,
    pub rows: &'a dyn Fn(&AccessPath, &[Predicate]) -> f64,
    pub table_rows: f64,
}

fn narrows(path: &AccessPath) -> bool {
    path.scope.equal_parts > 0 || path.scope.narrowed || path.scope.points
}

fn seeks(path: &AccessPath) -> f64 {
    3.0 * path.scope.ranges.len() as f64
}

/// Unions for filters that are disjunctions.
///
/// # Errors
/// An index cannot be described.
pub fn unions(filters: &[Predicate], sources: &Sources<'_>) -> PgResult<Vec<Combination>> {
    let mut out = Vec::new();
    let disjunctions = filters.iter().enumerate().filter_map(|(at, filter)| match filter {
        Predicate::Or(parts) => Some((at, parts)),
        _ => None,
    });
    for (at, parts) in disjunctions.take(MOST_FILTERS) {
        if parts.len() > MOST_PARTS || parts.iter().any(|p| matches!(p, Predicate::Unknown)) {
            continue;
        }
        let mut branches = Vec::with_capacity(parts.len());
        let (mut rows, mut cost) = (0.0, 0.0);
        for part in parts {
            let mut own: Vec<Predicate> = filters.iter().enumerate().filter(|(n, _)| *n != at).map(|(_, f)| f.clone()).collect();
            match part {
                Predicate::And(list) => own.extend(list.iter().cloned()),
                other => own.push(other.clone()),
            }
            let mut best: Option<(f64, f64, AccessPath)> = None;
            for path in (sources.paths)(&own)?.into_iter().filter(narrows) {
                let own_rows = (sources.rows)(&path, &own);
                let own_cost = seeks(&path) + own_rows * BY_ENTRY;
                if best.as_ref().is_none_or(|(_, least, _)| own_cost < *least) {
                    best = Some((own_rows, own_cost, path));
                }
            }
            let Some((own_rows, own_cost, path)) = best else { break };
            rows += own_rows;
            cost += own_cost;
            branches.push(path);
        }
        // One source for all parts is a path by itself.
        let same = branches.iter().skip(1).all(|b| branches.first().is_some_and(|f| source(f) == source(b)));
        if branches.len() == parts.len() && !same {
            let rows = rows.min(sources.table_rows);
            out.push(Combination { any: true, branches, rows, cost: cost + rows * BY_KEY });
        }
    }
    Ok(out)
}

/// Intersections of indexes that different columns narrow.
///
/// # Errors
/// An index cannot be described.
pub fn intersections(filters: &[Predicate], sources: &Sources<'_>) -> PgResult<Vec<Combination>> {
    let mut found: Vec<(f64, AccessPath)> = (sources.paths)(filters)?
        .into_iter()
        .filter(|path| !path.kind.is_table() && narrows(path) && path.unique_rows().is_none())
        .map(|path| ((sources.rows)(&path, filters), path))
        .collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut chosen: Vec<(f64, AccessPath)> = Vec::new();
    let mut used: Vec<ColumnId> = Vec::new();
    for (rows, path) in found {
        let count = path.scope.equal_parts + usize::from(path.scope.narrowed);
        let columns: Vec<ColumnId> = path.key.parts.iter().take(count).map(|p| p.column).collect();
        if columns.iter().any(|c| used.contains(c)) {
            continue;
        }
        used.extend(columns);
        chosen.push((rows, path));
    }
    let mut out = Vec::new();
    for count in 2..=chosen.len().min(3) {
        let Some(list) = chosen.get(..count) else { break };
        let share: f64 = list.iter().map(|(rows, _)| rows / sources.table_rows.max(1.0)).product();
        let rows = (share * sources.table_rows).max(0.5);
        let entries: f64 = list.iter().map(|(rows, path)| seeks(path) + rows * BY_ENTRY).sum();
        let branches = list.iter().map(|(_, path)| path.clone()).collect();
        out.push(Combination { any: false, branches, rows, cost: entries + rows * BY_KEY });
    }
    Ok(out)
}

/// Where a path reads: an index, or the table.
fn source(path: &AccessPath) -> Option<usize> {
    match &path.kind {
        PathKind::Table => None,
        PathKind::Index { at, .. } => Some(*at),
    }
}

#[cfg(test)]
mod tests;

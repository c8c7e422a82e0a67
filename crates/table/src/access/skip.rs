//! Skip scans: the values of a key's leading columns are found one after the other by seeking.
//!
//! Where no filter narrows the leading columns, but one narrows a later one, each value is read with the later columns' spans
//! ([`skipping`]). Where only the first row of each value is wanted, as by DISTINCT ON, it is read, and the rest of the value's rows are
//! skipped over ([`first_of_each`]).
//!
//! Both are worth it where the leading columns have few different values.

use super::path::AccessPath;
use super::predicate::Predicate;
use super::ranges::{KeyShape, Scope, scope, spans_of};
use crate::catalog::ColumnId;
use stoa_store::KeyRange;
use stoa_store::range::prefix_successor;

/// Ranges behind the skipped parts above which it is not worth it.
const MOST_TAILS: usize = 64;

/// See the module.
#[derive(Clone, PartialEq, Debug)]
pub struct Skip {
    /// Leading parts that have one value in the path's ranges, by the filters.
    pub fixed: usize,
    /// Leading parts that are taken as they are found, the fixed ones included.
    pub parts: usize,
    /// Ranges of the parts behind those.
    pub tail: Vec<KeyRange>,
    /// Different values that the skipped parts are expected to have in each range of the path.
    pub values: f64,
    /// Of each value only the first row that passes the filters is wanted.
    pub first: bool,
    /// What it costs to begin to read at another place.
    pub seek: f64,
}

/// What it costs to begin to read at another place, in rows of a scan.
pub const SEEK: f64 = 3.0;

impl Skip {
    /// How often reading begins at another place, for each range of the path: to find a value, and for the ranges behind it.
    #[must_use]
    pub fn seeks(&self) -> f64 {
        self.values * if self.reads_all() { 1.0 } else { 1.0 + self.tail.len() as f64 }
    }

    /// Whether all rows behind a value may be read, so that the row by which it is found is the first of them.
    #[must_use]
    pub fn reads_all(&self) -> bool {
        self.first && matches!(self.tail.as_slice(), [all] if *all == KeyRange::all())
    }

    /// The beginning of a key that is skipped to: the salt, and the parts taken as found.
    #[must_use]
    pub fn prefix<'k>(&self, key: &KeyShape, bytes: &'k [u8]) -> Option<&'k [u8]> {
        let mut rest = bytes.get(usize::from(key.salt.is_some())..)?;
        for part in key.parts.iter().take(self.parts) {
            rest = part.part.skip(rest).ok()?;
        }
        bytes.get(..bytes.len() - rest.len())
    }

    /// The ranges to read behind a prefix.
    pub fn behind(&self, prefix: &[u8]) -> impl DoubleEndedIterator<Item = KeyRange> {
        let with = |tail: &[u8]| [prefix, tail].concat();
        let all: Vec<KeyRange> = self
            .tail
            .iter()
            .map(|range| {
                let end = match &range.end {
                    Some(end) => Some(with(end)),
                    None => prefix_successor(prefix),
                };
                KeyRange::new(with(&range.start), end)
            })
            .collect();
        all.into_iter()
    }
}

/// The same path as a skip scan, if filters narrow a later part of its key. `distinct` gives the number of different values of a
/// column.
#[must_use]
pub fn skipping(path: &AccessPath, filters: &[Predicate], distinct: &dyn Fn(ColumnId) -> Option<f64>) -> Option<AccessPath> {
    let Scope { equal_parts: fixed, narrowed, points, ranges, residual, .. } = &path.scope;
    if *narrowed || *points || ranges.is_empty() || ranges.len() > MOST_TAILS {
        return None;
    }
    let behind = path.key.parts.iter().skip(fixed + 1).position(|part| spans_of(filters, part.clone()).is_some())?;
    let parts = fixed + 1 + behind;
    let tail = tail(path, parts, filters)?;
    let mut values = 1.0;
    for part in path.key.parts.get(*fixed..parts)? {
        values *= distinct(part.column)?;
    }
    let residual = residual.iter().copied().filter(|f| tail.residual.contains(f)).collect();
    let skip = Skip { fixed: *fixed, parts, tail: tail.ranges, values, first: false, seek: SEEK };
    Some(AccessPath { scope: Scope { residual, ..path.scope.clone() }, skip: Some(skip), ..path.clone() })
}

/// What filters leave of the parts behind the first ones, if they narrow them to a few ranges.
fn tail(path: &AccessPath, parts: usize, filters: &[Predicate]) -> Option<Scope> {
    let key = KeyShape { parts: path.key.parts.get(parts..)?.to_vec(), salt: None, whole: false, unique: false };
    let tail = scope(&key, filters);
    let narrowed = tail.equal_parts > 0 || tail.narrowed;
    (narrowed && !tail.ranges.is_empty() && tail.ranges.len() <= MOST_TAILS).then_some(tail)
}

/// The same path for the first row of each value that some columns have together, if they are the first ones of the key, in any order,
/// beside those that filters fix. `distinct` gives the number of different values that a column has among the rows that the filters leave;
/// `seek` is what it costs to begin to read at another place.
#[must_use]
pub fn first_of_each(
    path: &AccessPath,
    filters: &[Predicate],
    columns: &[ColumnId],
    distinct: &dyn Fn(ColumnId) -> Option<f64>,
    rows: f64,
    seek: f64,
) -> Option<AccessPath> {
    let scope = &path.scope;
    let key = &path.key;
    let fixed = scope.constant_parts;
    let parts = fixed + key.parts.iter().skip(fixed).take_while(|part| columns.contains(&part.column)).count();
    let leading = key.parts.get(..parts)?;
    let all = columns.iter().all(|column| leading.iter().any(|part| part.column == *column));
    // A whole unique key has one row of each value.
    if !all || parts == 0 || scope.points || scope.ranges.is_empty() || (key.unique && parts == key.parts.len()) {
        return None;
    }
    let mut values = 1.0;
    for part in leading.iter().skip(fixed) {
        values *= distinct(part.column)?.max(1.0);
    }
    // A value has rows in each bucket, unless it decides which.
    let buckets = match &key.salt {
        Some(salt) if !scope.one_bucket && salt.parts.iter().any(|part| *part >= parts) => f64::from(salt.buckets.count()),
        _ => 1.0,
    };
    let values = (values * buckets).min(rows.max(1.0)) / scope.ranges.len() as f64;
    // What narrows the parts behind is in the ranges already where it could be.
    let behind = if scope.equal_parts + usize::from(scope.narrowed) > parts { None } else { tail(path, parts, filters) };
    let (tail, residual) = match behind {
        Some(tail) => (tail.ranges, scope.residual.iter().copied().filter(|f| tail.residual.contains(f)).collect()),
        None => (vec![KeyRange::all()], scope.residual.clone()),
    };
    let skip = Skip { fixed, parts, tail, values, first: true, seek };
    Some(AccessPath { scope: Scope { residual, ..scope.clone() }, skip: Some(skip), ..path.clone() })
}

#[cfg(test)]
mod tests;

//! Skip scans: a key whose leading columns no filter narrows, but a later one does. The values of the leading columns are found one
//! after the other by seeking, and each is read with the later columns' spans.
//!
//! Worth it where the leading columns have few different values.

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
    /// Different values that the skipped parts are expected to have.
    pub values: f64,
}

impl Skip {
    /// The cost of finding values and their ranges, for each range of the path.
    #[must_use]
    pub fn seeks(&self) -> f64 {
        self.values * (1.0 + self.tail.len() as f64)
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
    let tail = KeyShape { parts: path.key.parts.get(parts..)?.to_vec(), salt: None, whole: false, unique: false };
    let tail = scope(&tail, filters);
    if tail.ranges.is_empty() || tail.ranges.len() > MOST_TAILS || (tail.equal_parts == 0 && !tail.narrowed) {
        return None;
    }
    let mut values = 1.0;
    for part in path.key.parts.get(*fixed..parts)? {
        values *= distinct(part.column)?;
    }
    let residual = residual.iter().copied().filter(|f| tail.residual.contains(f)).collect();
    let skip = Skip { fixed: *fixed, parts, tail: tail.ranges, values };
    Some(AccessPath { scope: Scope { residual, ..path.scope.clone() }, skip: Some(skip), ..path.clone() })
}

#[cfg(test)]
mod tests;

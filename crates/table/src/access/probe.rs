//! Ways to reach the rows that have given values in some columns: a key, or an index, whose leading parts are those columns or have
//! one value by the filters. Joins read their inner side so.

use super::path::{PathKind, PathOptions, Usable, usable};
use super::predicate::Predicate;
use super::preferences::Preferences;
use super::ranges::{KeyShape, Prefix, bucket, salted, spans_of};
use super::span::Span;
use crate::catalog::{ColumnId, TableDescriptor};
use crate::row::{KeyColumn, RowCodec};
use arrow::array::ArrayRef;
use stoa_pg::PgResult;
use stoa_store::KeyRange;

/// Where a part of a probe's key comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProbePart {
    /// The joined column at this position.
    Joined(usize),
    /// The filters leave one value: its encoding.
    Constant(Vec<u8>),
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Probe {
    pub kind: PathKind,
    pub key: KeyShape,
    /// Of the key's leading parts.
    pub parts: Vec<ProbePart>,
    /// What a row costs that an index leads to, beside one next to others in memory.
    pub width: f64,
}

/// What a probe costs beside its rows, in rows of a sequential scan.
const SEEK: f64 = 8.0;

impl Probe {
    /// Whether a probe is answered by at most one row.
    #[must_use]
    pub fn is_unique(&self) -> bool {
        self.key.unique && self.parts.len() == self.key.parts.len()
    }

    /// Whether a probe is a key of the table, or of an entry: keys of unique indexes are whole unless a part is NULL.
    #[must_use]
    pub fn is_point(&self) -> bool {
        let joined = self.kind.is_table() || self.parts.iter().all(|p| matches!(p, ProbePart::Joined(_)));
        self.is_unique() && joined
    }

    /// The cost of probes that read so many rows each.
    #[must_use]
    pub fn cost(&self, probes: f64, rows: f64) -> f64 {
        let row = match &self.kind {
            PathKind::Table if self.is_point() => 1.0,
            PathKind::Table => 2.0,
            PathKind::Index { covered: true, .. } => 2.0,
            PathKind::Index { .. } => 3.0 + 5.0 * self.width,
        };
        probes * (SEEK + rows * row)
    }

    /// Opens the joined columns' values for [`Probe::ranges`].
    ///
    /// # Errors
    /// A column is of another type.
    pub fn columns(&self, joined: &[ArrayRef]) -> PgResult<Vec<Option<KeyColumn>>> {
        self.parts
            .iter()
            .zip(&self.key.parts)
            .map(|(part, codec)| match part {
                ProbePart::Joined(at) => joined.get(*at).map(|array| codec.open_sought(array)).transpose(),
                ProbePart::Constant(_) => Ok(None),
            })
            .collect()
    }

    /// Appends the ranges that hold what a row of the joined columns asks for: one, or one in each salt bucket.
    ///
    /// # Errors
    /// A value cannot be a part of a key.
    pub fn ranges(&self, columns: &[Option<KeyColumn>], row: usize, out: &mut Vec<KeyRange>) -> PgResult<()> {
        let mut prefix = Prefix::default();
        for ((part, codec), column) in self.parts.iter().zip(&self.key.parts).zip(columns) {
            match (part, column) {
                (ProbePart::Constant(bytes), _) => prefix.bytes.extend_from_slice(bytes),
                (ProbePart::Joined(_), Some(column)) if !column.is_null(row) => match codec.encode(column, row, &mut prefix.bytes) {
                    Ok(()) => {}
                    // What does not fit is in no key.
                    Err(_) if !codec.form.is_value() => return Ok(()),
                    Err(error) => return Err(error),
                },
                // NULL, or a value that the column's type does not have.
                (ProbePart::Joined(_), _) => return Ok(()),
            }
            prefix.ends.push(prefix.bytes.len());
        }
        let range = if self.is_point() { KeyRange::point(&prefix.bytes) } else { KeyRange::prefix(&prefix.bytes) };
        match &self.key.salt {
            None => out.push(range),
            Some(salt) => match bucket(&self.key, &prefix) {
                Some(bucket) => out.push(salted(bucket, &range)),
                None => out.extend(salt.buckets.iter().map(|bucket| salted(bucket, &range))),
            },
        }
        Ok(())
    }
}

/// All probes for joined columns; the table's own key is the first, if it can be one.
///
/// # Errors
/// An index cannot be described.
pub fn probes(
    table: &TableDescriptor,
    codec: &RowCodec,
    filters: &[Predicate],
    options: &PathOptions<'_>,
    preferences: &Preferences,
    joined: &[ColumnId],
) -> PgResult<Vec<Probe>> {
    let parts = |key: &KeyShape| {
        let mut out = Vec::new();
        for part in &key.parts {
            if let Some(at) = joined.iter().position(|c| *c == part.source) {
                out.push(ProbePart::Joined(at));
                continue;
            }
            let spans = spans_of(filters, part.clone());
            match spans.as_ref().map(|s| (s.len(), s.iter().next())) {
                Some((1, Some(Span::Point(bytes)))) => out.push(ProbePart::Constant(bytes.clone())),
                _ => break,
            }
        }
        // Constants at the end narrow as well, but without a joined column it is no probe.
        out.iter().any(|p| matches!(p, ProbePart::Joined(_))).then_some(out)
    };
    let mut out = Vec::new();
    if preferences.is_full() {
        return Ok(out);
    }
    let key = KeyShape::of_table(&codec.key);
    if preferences.key_ranges
        && !preferences.names_any()
        && let Some(parts) = parts(&key)
    {
        out.push(Probe { kind: PathKind::Table, key, parts, width: 1.0 });
    }
    for Usable { at, codec, covered, to_keys, unusable } in usable(table, filters, options, preferences)? {
        let named = || table.indexes.get(at).is_some_and(|i| preferences.names(&i.name));
        if to_keys || unusable.is_some() || (preferences.names_any() && !named()) {
            continue;
        }
        let key = KeyShape::of_index(&codec);
        if let Some(parts) = parts(&key) {
            out.push(Probe { kind: PathKind::Index { at, codec, covered }, key, parts, width: 1.0 });
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests;

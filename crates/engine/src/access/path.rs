//! The ways to reach a table's rows, and which is cheapest.
//!
//! Costs are in rows of a sequential scan. They need not be right, only ordered: a unique match before a prefix of an index, a
//! longer prefix before a shorter one, a covered index before one whose rows must be looked up.

use super::predicate::Predicate;
use super::ranges::{KeyShape, Scope, implies, scope};
use crate::catalog::{ColumnId, IndexState, TableDescriptor};
use crate::row::key::KeyPartCodec;
use crate::row::types::part_kind;
use crate::row::{IndexCodec, RowCodec};
use std::sync::Arc;
use stoa_encoding::keyside::{Direction, KeyPart, NullOrder};

/// Where a path reads first.
#[derive(Clone, Debug)]
pub enum PathKind {
    /// The table itself.
    Table,
    /// An index, by its position in the descriptor.
    Index { at: usize, codec: Arc<IndexCodec>, covered: bool },
}

/// One way to answer a scan.
#[derive(Clone, Debug)]
pub struct AccessPath {
    pub kind: PathKind,
    pub key: KeyShape,
    pub scope: Scope,
}

/// What a scan needs.
#[derive(Clone, Copy)]
pub struct PathOptions<'a> {
    /// Columns that the scan gives or filters on.
    pub columns: &'a [ColumnId],
    /// Predicates of partial indexes, by position of the index; `None` where there is one that is not understood.
    pub index_predicates: &'a (dyn Fn(usize) -> Option<Predicate> + Sync),
}

impl AccessPath {
    /// At most this many rows, if the path is a match of a unique key.
    #[must_use]
    pub fn unique_rows(&self) -> Option<usize> {
        let full = self.scope.equal_parts == self.key.parts.len() && !self.scope.narrowed;
        (self.key.unique && full).then_some(self.scope.ranges.len())
    }

    /// The share of the table that the ranges hold, guessed from how far the key is narrowed.
    #[must_use]
    pub fn guessed_share(&self) -> f64 {
        if self.scope.ranges.is_empty() {
            return 0.0;
        }
        let mut share = 1.0;
        for _ in 0..self.scope.equal_parts {
            share *= 0.02;
        }
        if self.scope.narrowed {
            share *= 0.25;
        }
        let buckets = self.key.salt.as_ref().filter(|_| !self.scope.one_bucket).map_or(1, |s| usize::from(s.buckets.count()));
        (share * (self.scope.ranges.len() as f64 / buckets as f64).max(1.0)).min(1.0)
    }

    /// The cost of reading `rows` rows this way.
    #[must_use]
    pub fn cost(&self, rows: f64) -> f64 {
        let seek = 3.0 * self.scope.ranges.len() as f64;
        let row = match &self.kind {
            PathKind::Table => 1.0,
            PathKind::Index { covered: true, .. } => 0.9,
            PathKind::Index { covered: false, .. } => 5.0,
        };
        seek + rows * row
    }
}

/// All paths that are worth comparing; the table itself is the first.
///
/// # Errors
/// An index cannot be described.
pub fn candidates(
    table: &TableDescriptor,
    codec: &RowCodec,
    filters: &[Predicate],
    options: &PathOptions<'_>,
) -> stoa_pg::PgResult<Vec<AccessPath>> {
    let key = KeyShape::of_table(&codec.key);
    let primary = AccessPath { scope: scope(&key, filters), key, kind: PathKind::Table };
    if primary.scope.points || primary.scope.ranges.is_empty() {
        return Ok(vec![primary]);
    }
    let mut out = vec![primary];
    let part_of = |column: ColumnId| -> Option<KeyPartCodec> {
        let column = table.column(column)?;
        let part = KeyPart::nullable(part_kind(&column.ty).ok()?, Direction::Asc, NullOrder::Last);
        Some(KeyPartCodec { column: column.id, ty: column.ty.clone(), part })
    };
    for (at, index) in table.indexes.iter().enumerate() {
        if index.state != IndexState::Readable || index.method != "btree" {
            continue;
        }
        if index.predicate.is_some() {
            let implied = (options.index_predicates)(at).is_some_and(|p| implies(filters, &p, &part_of));
            if !implied {
                continue;
            }
        }
        let codec = Arc::new(IndexCodec::new(table, index)?);
        let key = KeyShape::of_index(&codec);
        let scope = scope(&key, filters);
        let covered = options.columns.iter().all(|c| codec.covers(*c));
        if scope.equal_parts == 0 && !scope.narrowed && !(covered && index.predicate.is_some()) {
            continue;
        }
        out.push(AccessPath { kind: PathKind::Index { at, codec, covered }, key, scope });
    }
    Ok(out)
}

/// The cheapest path: its position. `rows` gives the rows of a path's ranges where the store knows, `table_rows` those of the
/// table.
#[must_use]
pub fn choose(paths: &[AccessPath], rows: &[Option<f64>], table_rows: f64) -> usize {
    let mut best = (0, f64::INFINITY);
    for (at, path) in paths.iter().enumerate() {
        let guessed = table_rows * path.guessed_share();
        let rows = match path.unique_rows() {
            Some(rows) => rows as f64,
            None => rows.get(at).copied().flatten().unwrap_or(guessed),
        };
        let cost = path.cost(rows);
        if cost < best.1 {
            best = (at, cost);
        }
    }
    best.0
}

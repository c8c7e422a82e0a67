//! The ways to reach a table's rows, and which is cheapest.
//!
//! Costs are in rows of a sequential scan. They need not be right, only ordered: a unique match before a prefix of an index, a
//! longer prefix before a shorter one, a covered index before one whose rows must be looked up.

use super::predicate::Predicate;
use super::preferences::Preferences;
use super::prefix::with_beginnings;
use super::ranges::{KeyShape, Scope, implies, scope, spans_of};
use super::skip::{SEEK, Skip, skipping};
use super::span::Spans;
use crate::catalog::Epoch;
use crate::catalog::{ColumnId, IndexDescriptor, IndexKey, IndexState, TableDescriptor};
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
    /// Leading parts of the key are found by seeking.
    pub skip: Option<Skip>,
    /// What a row costs beside others of its kind: by its bytes where an index is read from one end to the other, by the distance of the
    /// rows where it leads to them.
    pub width: f64,
}

/// What a scan needs.
#[derive(Clone, Copy)]
pub struct PathOptions<'a> {
    /// Columns that the scan gives or filters on.
    pub columns: &'a [ColumnId],
    /// Predicates of partial indexes, by position of the index; `None` where there is one that is not understood.
    pub index_predicates: &'a (dyn Fn(usize) -> Option<Predicate> + Sync),
    /// How many different values a column has, for paths that look for them, and those that read narrow indexes from end to end.
    pub distinct: Option<&'a (dyn Fn(ColumnId) -> Option<f64> + Sync)>,
}

impl AccessPath {
    /// A path over what filters leave of a key.
    #[must_use]
    pub fn new(kind: PathKind, key: KeyShape, scope: Scope) -> Self {
        Self { kind, key, scope, skip: None, width: 1.0 }
    }

    /// The parts by which what is read is ordered within a salt bucket: those of the key, and of an index whose entries end with the
    /// row key, those of the row key.
    #[must_use]
    pub fn order(&self) -> Vec<KeyPartCodec> {
        let mut out = self.key.parts.clone();
        if let PathKind::Index { codec, .. } = &self.kind
            && !codec.unique
            && codec.row_key.salt.is_none()
        {
            let more = codec.row_key.parts.iter().filter(|p| !self.key.parts.iter().any(|own| own.column == p.column));
            out.extend(more.cloned());
        }
        out
    }

    /// Whether of each value of the leading parts only the first row is wanted.
    #[must_use]
    pub fn takes_first(&self) -> bool {
        self.skip.as_ref().is_some_and(|skip| skip.first)
    }

    /// Whether everything is read.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.scope.is_full() && self.skip.is_none()
    }

    /// Whether filters narrow what is read.
    #[must_use]
    pub fn is_narrowed(&self) -> bool {
        self.scope.equal_parts > 0 || self.scope.narrowed || self.skip.is_some()
    }

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
        let seek = self.scope.ranges.len() as f64 * self.skip.as_ref().map_or(SEEK, |skip| skip.seek * skip.seeks());
        let row = match &self.kind {
            PathKind::Table => self.width,
            PathKind::Index { covered: true, .. } => 0.9 * self.width,
            PathKind::Index { covered: false, .. } => 5.0 * self.width,
        };
        seek + rows * row
    }
}

/// Paths of a scan, and why others are none.
#[derive(Clone, Debug, Default)]
pub struct Ways {
    /// The table itself is the first.
    pub paths: Vec<AccessPath>,
    /// Indexes whose entries may be of rows, or of values, that have ended: they lead to keys, and rows of these are filtered anew.
    pub to_keys: Vec<AccessPath>,
    /// Indexes that filters would narrow and that cannot be used, with the reason.
    pub rejected: Vec<(String, String)>,
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
    Ok(ways(table, codec, filters, options, &Preferences::default())?.paths)
}

/// As [`candidates`], with what the statement prefers.
///
/// # Errors
/// An index cannot be described.
pub fn ways(
    table: &TableDescriptor,
    codec: &RowCodec,
    filters: &[Predicate],
    options: &PathOptions<'_>,
    preferences: &Preferences,
) -> stoa_pg::PgResult<Ways> {
    let key = KeyShape::of_table(&codec.key);
    let narrows = preferences.key_ranges && !preferences.is_full();
    let primary = if narrows {
        AccessPath::new(PathKind::Table, key.clone(), scope(&key, filters))
    } else {
        let unknown = vec![Predicate::Unknown; filters.len()];
        AccessPath::new(PathKind::Table, key.clone(), scope(&key, &unknown))
    };
    let wanted = preferences.force_index || preferences.names_any();
    let mut out = Ways::default();
    if primary.scope.ranges.is_empty() || (primary.scope.points && !wanted) {
        out.paths.push(primary);
        return Ok(out);
    }
    let skipped = |path: &AccessPath| {
        let distinct = options.distinct.filter(|_| preferences.skip_scan)?;
        skipping(path, filters, distinct)
    };
    let skips = if narrows { skipped(&primary) } else { None };
    let full = primary.scope.is_full();
    out.paths.push(primary);
    out.paths.extend(skips);
    for found in usable(table, filters, options, preferences)? {
        let Some(index) = table.indexes.get(found.at) else { continue };
        let key = KeyShape::of_index(&found.codec);
        let scope = match with_beginnings(table, index, filters) {
            Some(filters) => scope(&key, &filters),
            None => scope(&key, filters),
        };
        let narrowed = scope.equal_parts > 0 || scope.narrowed;
        let Usable { at, codec, covered, to_keys, unusable } = found;
        if let Some(reason) = unusable {
            if narrowed || preferences.names(&index.name) {
                out.rejected.push((index.name.clone(), reason));
            }
            continue;
        }
        let path = AccessPath::new(PathKind::Index { at, codec, covered }, key, scope);
        if to_keys {
            let asked = narrowed && (!preferences.names_any() || preferences.names(&index.name));
            out.to_keys.extend(asked.then_some(path));
            continue;
        }
        out.paths.extend(skipped(&path));
        // Forced: where the key narrows nothing either, any index serves as well.
        let asked = preferences.names(&index.name) || (preferences.force_index && full);
        let narrow = full && options.distinct.is_some() && preferences.narrow_scan;
        if !narrowed && !asked && !(covered && (index.predicate.is_some() || !preferences.full_scan || narrow)) {
            continue;
        }
        out.paths.push(path);
    }
    Ok(out)
}

/// An index that is complete for the statement's snapshot.
#[derive(Clone, Debug)]
pub struct Usable {
    /// Its position in the descriptor.
    pub at: usize,
    pub codec: Arc<IndexCodec>,
    /// It has all columns wanted.
    pub covered: bool,
    /// Its entries may be of rows, or of values, that have ended: it leads to keys alone, whose rows are filtered by all filters.
    pub to_keys: bool,
    /// Why it cannot be used all the same.
    pub unusable: Option<String>,
}

/// The indexes of a table that are complete, with what speaks against using them for rows that pass the filters.
///
/// # Errors
/// An index cannot be described.
pub fn usable(
    table: &TableDescriptor,
    filters: &[Predicate],
    options: &PathOptions<'_>,
    preferences: &Preferences,
) -> stoa_pg::PgResult<Vec<Usable>> {
    let part_of = |column: ColumnId| -> Option<KeyPartCodec> {
        let column = table.column(column)?;
        let part = KeyPart::nullable(part_kind(&column.ty).ok()?, Direction::Asc, NullOrder::Last);
        Some(KeyPartCodec::of_value(column.id, column.ty.clone(), part, Epoch::Postgres))
    };
    let ages = Ages::new(table);
    let mut out = Vec::with_capacity(table.indexes.len());
    for (at, index) in table.indexes.iter().enumerate() {
        let late = preferences.snapshot.is_some_and(|at| at < index.readable_from);
        let forgotten = preferences.past && !preferences.names(&index.name);
        if index.state != IndexState::Readable || index.method != "btree" || late || forgotten {
            continue;
        }
        let codec = Arc::new(IndexCodec::new(table, index)?);
        let predicate = if index.predicate.is_some() { (options.index_predicates)(at) } else { None };
        let covered = !ages.any && preferences.covered_scan && options.columns.iter().all(|c| codec.covers(*c));
        let to_keys = !ages.allows(index, predicate.as_ref());
        let unusable = if preferences.excludes(&index.name) {
            Some("a hint excludes it")
        } else if index.predicate.is_some() && !predicate.as_ref().is_some_and(|p| implies(filters, p, &part_of)) {
            Some("the filters do not imply its predicate")
        } else if to_keys && !ages.leads_to_keys(index, predicate.as_ref(), filters, &part_of) {
            Some("its columns expire on their own")
        } else if !covered && !preferences.index_lookup && !preferences.names(&index.name) {
            Some("index lookups are switched off")
        } else {
            None
        };
        out.push(Usable { at, codec, covered, to_keys, unusable: unusable.map(str::to_owned) });
    }
    Ok(out)
}

/// Rows and cells that go by their age, which entries of an index do not follow.
struct Ages<'a> {
    table: &'a TableDescriptor,
    any: bool,
}

impl<'a> Ages<'a> {
    fn new(table: &'a TableDescriptor) -> Self {
        Self { table, any: table.values_end() }
    }

    /// Whether what an index says of a row that exists is true: its columns live as long as the row.
    fn allows(&self, index: &IndexDescriptor, predicate: Option<&Predicate>) -> bool {
        if !self.any {
            return true;
        }
        // An entry that a row left behind when it ended would be taken for one of a row that got its key since.
        if self.table.rows_end() && self.table.row_id.is_none() {
            return false;
        }
        let lives = |column: ColumnId| !self.table.ends_apart(column);
        let parts = index.parts.iter().all(|p| match &p.key {
            IndexKey::Column(id) => lives(*id),
            IndexKey::Expr(_) => false,
        });
        let mut filtered = true;
        if let Some(predicate) = predicate {
            predicate.each_column(&mut |c| filtered &= lives(c));
        }
        parts && filtered
    }

    /// Whether each row that passes the filters has an entry where they look for it. Its columns that live as long as the row are in the
    /// entry as they are in the row. One that ends apart is so as long as it has not ended: the filters must not pass NULL there.
    fn leads_to_keys(
        &self,
        index: &IndexDescriptor,
        predicate: Option<&Predicate>,
        filters: &[Predicate],
        part_of: &dyn Fn(ColumnId) -> Option<KeyPartCodec>,
    ) -> bool {
        let present = |column: ColumnId| {
            let spans = part_of(column).and_then(|part| Some((spans_of(filters, part.clone())?, Spans::null(&part))));
            !self.table.ends_apart(column) || spans.is_some_and(|(spans, null)| spans.intersect(&null).is_empty())
        };
        let all_live = !self.table.live_columns().any(|c| self.table.ends_apart(c.id));
        let parts = index.parts.iter().all(|p| match &p.key {
            IndexKey::Column(id) => present(*id),
            // Which columns it is of is not known here.
            IndexKey::Expr(_) => all_live,
        });
        let mut filtered = true;
        if let Some(predicate) = predicate {
            predicate.each_column(&mut |c| filtered &= present(c));
        }
        parts && filtered
    }
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

/// The position of the path to take: what hints and settings ask for, then what costs least.
#[must_use]
pub fn cheapest(paths: &[AccessPath], rows: &[f64], preferences: &Preferences, table: &TableDescriptor) -> usize {
    /// Added to what must be avoided.
    const LAST_RESORT: f64 = 1e12;
    let name = |path: &AccessPath| match &path.kind {
        PathKind::Table => None,
        PathKind::Index { at, .. } => table.indexes.get(*at).map(|i| i.name.as_str()),
    };
    let mut best = (0, f64::INFINITY);
    for (at, path) in paths.iter().enumerate() {
        let mut cost = path.cost(rows.get(at).copied().unwrap_or(f64::MAX));
        let avoided = if preferences.names_any() {
            !name(path).is_some_and(|n| preferences.names(n))
        } else if preferences.force_index {
            path.kind.is_table()
        } else {
            !preferences.full_scan && path.kind.is_table() && path.is_full()
        };
        if avoided {
            cost += LAST_RESORT;
        }
        if cost < best.1 {
            best = (at, cost);
        }
    }
    best.0
}

impl PathKind {
    #[must_use]
    pub fn is_table(&self) -> bool {
        matches!(self, PathKind::Table)
    }
}

//! Which cells of a row count: HBase's rules of deletions, versions and ages.

use super::cell::{self, CellKind};
use crate::catalog::CELLS;
use stoa_pg::PgResult;
use stoa_store::{CellRef, FamilyId, TableSchema, Timestamp};

/// How many versions of its cells a family keeps, and how long.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FamilyLimits {
    pub id: FamilyId,
    pub versions: u32,
    pub min_versions: u32,
    /// Milliseconds.
    pub ttl: Option<i64>,
}

/// The families of a raw table.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Limits(pub Vec<FamilyLimits>);

impl Limits {
    /// Those of the families that a table of the store has beside its cells.
    #[must_use]
    pub fn of(schema: &TableSchema) -> Self {
        let families = schema.families.iter().filter(|f| f.id != CELLS);
        Self(
            families
                .map(|f| FamilyLimits {
                    id: f.id,
                    versions: f.options.versions,
                    min_versions: f.options.min_versions,
                    ttl: f.options.ttl.map(|ttl| i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX)),
                })
                .collect(),
        )
    }
}

impl Limits {
    /// As [`Limits::of`], of families that keep all.
    #[must_use]
    pub fn none(schema: &TableSchema) -> Self {
        let families = schema.families.iter().filter(|f| f.id != CELLS);
        Self(families.map(|f| FamilyLimits { id: f.id, versions: u32::MAX, min_versions: 0, ttl: None }).collect())
    }
}

/// What a read asks of a row's cells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// Versions of a column, newest first; at most as many as its family keeps.
    pub versions: u32,
    /// Times from the first to before the second, in milliseconds.
    pub times: (i64, i64),
    /// All that is stored, deletions and what they hide included.
    pub raw: bool,
}

impl Wanted {
    /// The newest value of each column.
    #[must_use]
    pub fn newest() -> Self {
        Self { versions: 1, times: (0, i64::MAX), raw: false }
    }
}

/// A cell that counts.
#[derive(Clone, Copy, Debug)]
pub struct Visible<'a> {
    /// As [`cell::column`] writes it.
    pub column: &'a [u8],
    pub family: FamilyId,
    pub time: i64,
    pub kind: CellKind,
    pub value: &'a [u8],
    /// When it was committed.
    pub committed: Timestamp,
}

/// What was met of the family and the column that a walk over cells is in.
#[derive(Default)]
struct Deleted<'a> {
    family: Option<FamilyId>,
    of_family: Option<i64>,
    family_versions: Vec<i64>,
    column: &'a [u8],
    of_column: Option<i64>,
    versions: Vec<i64>,
    count: u32,
}

impl<'a> Deleted<'a> {
    fn enter(&mut self, family: FamilyId, column: &'a [u8]) {
        if self.family != Some(family) {
            *self = Self { family: Some(family), ..Self::default() };
        }
        if self.column != column {
            (self.column, self.of_column, self.count) = (column, None, 0);
            self.versions.clear();
        }
    }

    fn add(&mut self, kind: CellKind, time: i64) {
        let later = |known: &mut Option<i64>| *known = Some(known.map_or(time, |t| t.max(time)));
        match kind {
            CellKind::Put => {}
            CellKind::Delete => self.versions.push(time),
            CellKind::DeleteFamilyVersion => self.family_versions.push(time),
            CellKind::DeleteColumn => later(&mut self.of_column),
            CellKind::DeleteFamily => later(&mut self.of_family),
        }
    }

    fn hides(&self, time: i64) -> bool {
        self.of_family.is_some_and(|t| time <= t)
            || self.of_column.is_some_and(|t| time <= t)
            || self.versions.contains(&time)
            || self.family_versions.contains(&time)
    }
}

/// Gives the cells of one row that count at a time (milliseconds since 1970), in the order in which the store has them.
///
/// # Errors
/// XX001 for qualifiers that no cell has.
pub fn visible<'a>(
    cells: &[CellRef<'a>],
    limits: &Limits,
    wanted: &Wanted,
    now: i64,
    mut each: impl FnMut(Visible<'a>) -> PgResult<()>,
) -> PgResult<()> {
    let mut deleted = Deleted::default();
    for stored in cells {
        let parts = cell::parse(stored.qualifier)?;
        // Of a family that is gone.
        let Some(family) = limits.0.iter().find(|f| f.id == parts.family) else { continue };
        deleted.enter(parts.family, parts.column);
        let expired = family.ttl.is_some_and(|ttl| parts.time < now.saturating_sub(ttl));
        let in_time = parts.time >= wanted.times.0 && parts.time < wanted.times.1;
        let given = Visible {
            column: parts.column,
            family: parts.family,
            time: parts.time,
            kind: parts.kind,
            value: stored.value,
            committed: stored.timestamp,
        };
        if parts.kind != CellKind::Put {
            deleted.add(parts.kind, parts.time);
            // Behind the first version that is one too many nothing of a column is looked at.
            if wanted.raw && in_time && deleted.count <= wanted.versions {
                each(given)?;
            }
            continue;
        }
        if !in_time || (!wanted.raw && deleted.hides(parts.time)) {
            continue;
        }
        deleted.count = deleted.count.saturating_add(1);
        let most = if wanted.raw { wanted.versions } else { wanted.versions.min(family.versions) };
        if deleted.count <= most && (wanted.raw || !expired || deleted.count <= family.min_versions) {
            each(given)?;
        }
    }
    Ok(())
}

/// The positions of cells that no read will give any more, whatever it asks, and of deletions that hide nothing then: what a compaction
/// of all files removes. A deletion that is younger than `keep_from` stays: what is written with an earlier time is to be hidden.
///
/// # Errors
/// As [`visible`].
pub fn garbage(cells: &[CellRef<'_>], limits: &Limits, now: i64, keep_from: i64) -> PgResult<Vec<usize>> {
    let mut deleted = Deleted::default();
    let mut out = Vec::new();
    for (at, stored) in cells.iter().enumerate() {
        let parts = cell::parse(stored.qualifier)?;
        let Some(family) = limits.0.iter().find(|f| f.id == parts.family) else {
            out.push(at);
            continue;
        };
        deleted.enter(parts.family, parts.column);
        if parts.kind != CellKind::Put {
            deleted.add(parts.kind, parts.time);
            if parts.time < keep_from {
                out.push(at);
            }
            continue;
        }
        if deleted.hides(parts.time) {
            out.push(at);
            continue;
        }
        deleted.count = deleted.count.saturating_add(1);
        let expired = family.ttl.is_some_and(|ttl| parts.time < now.saturating_sub(ttl));
        if deleted.count > family.versions || (expired && deleted.count > family.min_versions) {
            out.push(at);
        }
    }
    Ok(out)
}

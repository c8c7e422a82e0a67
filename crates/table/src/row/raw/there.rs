//! What a row has already that concerns who writes to it: cells and deletions at times to come, behind which it has to be written to be seen.

use super::cell::{self, CellKind};
use super::clock;
use super::visible::{Limits, Wanted, visible};
use crate::row::named_cell::NamedCell;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_store::CellRef;

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RowOfCells {
    /// The columns that have a value, as [`cell::column`] writes them.
    columns: Vec<Box<[u8]>>,
    /// What is stored with a time of now or later.
    to_come: Vec<(Box<[u8]>, i64, CellKind)>,
}

impl RowOfCells {
    /// # Errors
    /// XX001 for qualifiers that no cell has.
    pub fn of(cells: &[CellRef<'_>], limits: &Limits, now: i64) -> PgResult<Self> {
        let mut out = Self::default();
        visible(cells, limits, &Wanted::newest(), now, |cell| {
            out.columns.push(cell.column.into());
            Ok(())
        })?;
        for stored in cells {
            let parts = cell::parse(stored.qualifier)?;
            if parts.time >= now {
                out.to_come.push((parts.column.into(), parts.time, parts.kind));
            }
        }
        Ok(out)
    }

    /// Whether SQL sees the row.
    #[must_use]
    pub fn is_there(&self) -> bool {
        !self.columns.is_empty()
    }

    /// Whether the row has a value in another column than these.
    #[must_use]
    pub fn has_others(&self, columns: &[&NamedCell]) -> bool {
        self.columns.iter().any(|own| !columns.iter().any(|column| column.qualifier == *own))
    }

    /// The time of a value that is to be seen: now, or behind what would hide it.
    ///
    /// # Errors
    /// 22008: what hides it is at the last time there is.
    pub fn time_of_put(&self, column: &NamedCell, now: i64) -> PgResult<i64> {
        let mut at = now;
        for (of, time, kind) in &self.to_come {
            let concerns = match kind {
                // One at the same time is written over.
                CellKind::Put => *of == column.qualifier && *time > at,
                CellKind::Delete | CellKind::DeleteColumn => *of == column.qualifier && *time >= at,
                CellKind::DeleteFamily | CellKind::DeleteFamilyVersion => of.get(..2) == column.qualifier.get(..2) && *time >= at,
            };
            if concerns {
                at = time.checked_add(1).filter(|at| *at < i64::MAX).ok_or_else(|| at_the_end(column))?;
            }
        }
        Ok(at)
    }

    /// The time of a deletion that hides all values of a column so far.
    #[must_use]
    pub fn time_of_delete(&self, column: &NamedCell) -> i64 {
        let puts = self.to_come.iter().filter(|(of, _, kind)| *kind == CellKind::Put && *of == column.qualifier);
        puts.map(|(_, time, _)| *time).fold(clock::time_of_delete(), i64::max)
    }
}

#[cold]
fn at_the_end(column: &NamedCell) -> PgError {
    let message = format!("a value of column \"{}\" would be hidden by a cell at the last time that there is", column.name);
    PgError::new(SqlState::DATETIME_FIELD_OVERFLOW, message)
        .hint("DELETE removes the row with all its cells; delete in stoa shell removes one.")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::catalog::Encoding;
    use stoa_pg::{PgType, SqlType};
    use stoa_store::{FamilyId, Timestamp};

    #[test]
    fn values_are_written_behind_what_would_hide_them() {
        let mapped = |family: u16, qualifier: &[u8]| NamedCell {
            name: "c".into(),
            ty: SqlType::new(PgType::Text),
            qualifier: cell::column(FamilyId(family), qualifier).into(),
            encoding: Encoding::Text,
        };
        let (a, b, other) = (mapped(1, b"a"), mapped(1, b"b"), mapped(2, b"a"));
        let now = 1000;
        let limits = Limits::default();
        let row = |cells: &[(&NamedCell, i64, CellKind)]| {
            let mut stored: Vec<Vec<u8>> = cells.iter().map(|(c, time, kind)| cell::qualifier(&c.qualifier, *time, *kind)).collect();
            stored.sort();
            let of = |qualifier: &'_ Vec<u8>| (qualifier.clone(), Timestamp(0));
            let stored: Vec<(Vec<u8>, Timestamp)> = stored.iter().map(of).collect();
            let cells: Vec<CellRef<'_>> = stored
                .iter()
                .map(|(qualifier, timestamp)| CellRef { family: crate::catalog::CELLS, qualifier, timestamp: *timestamp, value: b"" })
                .collect();
            RowOfCells::of(&cells, &limits, now).unwrap()
        };
        assert_eq!(row(&[(&a, 999, CellKind::Put)]).time_of_put(&a, now).unwrap(), 1000);
        assert_eq!(row(&[(&a, 1000, CellKind::Put)]).time_of_put(&a, now).unwrap(), 1000);
        assert_eq!(row(&[(&a, 1000, CellKind::DeleteColumn)]).time_of_put(&a, now).unwrap(), 1001);
        let later = row(&[(&a, 5000, CellKind::Put), (&a, 6000, CellKind::Delete), (&b, 9000, CellKind::Put)]);
        assert_eq!(later.time_of_put(&a, now).unwrap(), 6001);
        assert_eq!(later.time_of_put(&b, now).unwrap(), 9001);
        assert_eq!(later.time_of_delete(&b), clock::now().max(9000));
        let family = row(&[(&a, 7000, CellKind::DeleteFamily)]);
        assert_eq!(family.time_of_put(&b, now).unwrap(), 7001);
        assert_eq!(family.time_of_put(&other, now).unwrap(), 1000);
        assert!(row(&[(&a, i64::MAX - 1, CellKind::Put)]).time_of_put(&a, now).is_err());
    }
}

//! Constraints over columns whose values end before their row does, and columns that say when rows end.
//!
//! Invariant: what a constraint says goes on to hold when values of a family with a ttl become NULL, behind which nobody checks again:
//! those that could not are refused. So CHECK finds no fault in what has ended, and a dump can be restored.

use super::work::Work;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::catalog::deparse::quote_name;
use stoa_sql::typed::lost::{keeps_or_is_null, stays_not_false, stays_not_true};
use stoa_sql::typed::tree::{ColId, Expr};
use stoa_table::catalog::{ColumnId, FamilyDescriptor, IndexKey, TableDescriptor};

/// Refuses what values that end would break.
///
/// # Errors
/// 42P16.
pub(super) fn check(work: Work<'_>, table: &TableDescriptor) -> PgResult<()> {
    // A row is there as long as its first family is.
    let families: Vec<&FamilyDescriptor> = table.families.iter().skip(1).filter(|f| f.values_end()).collect();
    if families.is_empty() {
        return Ok(());
    }
    let ends = Ends { table, families };
    ends.not_null()?;
    ends.what_rows_go_by(work)?;
    ends.checks(work)?;
    ends.unique(work)?;
    ends.foreign_keys()
}

struct Ends<'a> {
    table: &'a TableDescriptor,
    families: Vec<&'a FamilyDescriptor>,
}

impl Ends<'_> {
    fn family_of(&self, column: ColumnId) -> Option<&FamilyDescriptor> {
        self.families.iter().find(|f| f.columns.contains(&column)).copied()
    }

    fn has(&self, column: ColId) -> bool {
        self.family_of(ColumnId(column.0)).is_some()
    }

    fn name(&self, column: ColumnId) -> String {
        self.table.column(column).map_or_else(String::new, |c| c.name.clone())
    }

    fn not_null(&self) -> PgResult<()> {
        for family in &self.families {
            let required = |id: &ColumnId| self.table.column(*id).filter(|column| column.not_null && !column.dropped);
            if let Some(column) = family.columns.iter().find_map(required) {
                let message = format!("column \"{}\" is NOT NULL, but its family \"{}\" has a ttl", column.name, family.name);
                return Err(PgError::new(SqlState::INVALID_TABLE_DEFINITION, message)
                    .detail("Values of a family with a ttl end by themselves, and the column would be NULL.")
                    .hint("Let the column allow NULL, or put it into the first family, with which rows end."));
            }
        }
        Ok(())
    }

    /// Columns by which rows end, or are newer.
    fn what_rows_go_by(&self, work: Work<'_>) -> PgResult<()> {
        let end = super::expiry::columns(work, self.table)?;
        let end = end.into_iter().map(|id| (id, "tells when rows end", "rows whose end is NULL never do"));
        let newer = self.table.timestamp.map(|id| (id, "tells which rows are newer", "any row is newer than NULL"));
        for (id, tells, then) in end.chain(newer) {
            if let Some(family) = self.family_of(id) {
                let message = format!("column \"{}\" {tells}, but its family \"{}\" has a ttl", self.name(id), family.name);
                return Err(PgError::new(SqlState::INVALID_TABLE_DEFINITION, message)
                    .detail(format!("Values of a family with a ttl end by themselves, and {then}."))
                    .hint("Put the column into a family without a ttl, or into the first one, with which rows end."));
            }
        }
        Ok(())
    }

    /// An expression, if one of these columns is in it.
    fn read(&self, work: Work<'_>, text: &str) -> PgResult<Option<(Expr, ColumnId)>> {
        let expr = work.read_stored(self.table, text)?;
        let found = super::builder::columns_of(&expr).into_iter().find(|id| self.family_of(*id).is_some());
        Ok(found.map(|id| (expr, id)))
    }

    fn refused(&self, what: String, column: ColumnId, detail: &str, hint: &str) -> PgError {
        let family = self.family_of(column).map_or("", |f| f.name.as_str());
        let message = format!("{what} is over column \"{}\", but its family \"{family}\" has a ttl", self.name(column));
        PgError::new(SqlState::INVALID_TABLE_DEFINITION, message).detail(detail.to_owned()).hint(hint.to_owned())
    }

    fn checks(&self, work: Work<'_>) -> PgResult<()> {
        for check in self.table.checks.iter().filter(|c| c.columns.iter().any(|id| self.family_of(*id).is_some())) {
            let Some((expr, column)) = self.read(work, &check.expr)? else { continue };
            if !stays_not_false(&expr, &|id| self.has(id)) {
                return Err(self.refused(
                    format!("check constraint \"{}\"", check.name.name),
                    column,
                    "Values of a family with a ttl end by themselves, and NULL in their place could break the constraint.",
                    "Let the constraint pass NULL, as comparisons do, or put the column into the first family, with which rows end.",
                ));
            }
        }
        Ok(())
    }

    /// Two rows may become alike by what is made of NULL, or by NULL itself where it counts as a value; and one may come under WHERE.
    fn unique(&self, work: Work<'_>) -> PgResult<()> {
        for index in self.table.indexes.iter().filter(|i| i.unique) {
            let refused = |column| {
                self.refused(
                    format!("unique index \"{}\"", index.name),
                    column,
                    "Values of a family with a ttl end by themselves, and NULL in their place could make rows alike that are not.",
                    "Let NULLs be distinct and stay NULL in expressions, or put the column into the first family, with which rows end.",
                )
            };
            for part in &index.parts {
                match &part.key {
                    IndexKey::Column(id) if index.nulls_not_distinct && self.family_of(*id).is_some() => return Err(refused(*id)),
                    IndexKey::Column(_) => {}
                    IndexKey::Expr(text) => {
                        if let Some((expr, column)) = self.read(work, text)?
                            && (index.nulls_not_distinct || !keeps_or_is_null(&expr, &|id| self.has(id)))
                        {
                            return Err(refused(column));
                        }
                    }
                }
            }
            if let Some(text) = &index.predicate
                && let Some((expr, column)) = self.read(work, text)?
                && !stays_not_true(&expr, &|id| self.has(id))
            {
                return Err(refused(column));
            }
        }
        Ok(())
    }

    /// MATCH FULL forbids NULL beside a value: its columns must end together.
    fn foreign_keys(&self) -> PgResult<()> {
        for key in self.table.foreign_keys.iter().filter(|key| key.match_full) {
            let families = |id: &ColumnId| self.table.families.iter().position(|f| f.columns.contains(id));
            let together = key.columns.windows(2).all(|pair| matches!(pair, [a, b] if families(a) == families(b)));
            if let Some(column) = key.columns.iter().find(|id| self.family_of(**id).is_some()).filter(|_| !together) {
                return Err(self.refused(
                    format!("foreign key {} with MATCH FULL", quote_name(&key.name.name)),
                    *column,
                    "Values of a family with a ttl end by themselves, and MATCH FULL takes NULL for all columns or for none.",
                    "Put all its columns into one family, or leave MATCH FULL out.",
                ));
            }
        }
        Ok(())
    }
}

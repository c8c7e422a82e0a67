//! Policies of a table on the rows that a statement writes, and on those that it finds in their place.
//!
//! They are asked before anything else is of a row, as in PostgreSQL: what a constraint says of a row that may not be written is not reported.

use super::constraint::first_failure;
use super::row_exprs::{RowExprs, Subqueries};
use super::rows::Rows;
use super::table_writer::TableWriter;
use arrow::array::{Array, ArrayRef};
use stoa_pg::sqlstate::SqlState;
use stoa_pg::{PgError, PgResult};
use stoa_sql::typed::tree::{AsksCheck, PolicyCheck, RowCheck, RowChecks};
use stoa_table::catalog::ColumnId;

/// Conditions over a table's columns, to be evaluated together.
pub struct Conditions {
    exprs: RowExprs,
    /// The column of the table for each that the conditions use.
    used: Vec<ColumnId>,
}

impl Conditions {
    #[must_use]
    pub fn new(queries: &dyn Subqueries, checks: &RowChecks, chosen: &[&RowCheck]) -> Self {
        let exprs = RowExprs::new(queries, chosen.iter().map(|check| check.condition.clone()).collect());
        let used = exprs.columns().filter_map(|col| checks.columns.iter().find(|(_, c)| *c == col).map(|(id, _)| *id)).collect();
        Self { exprs, used }
    }

    /// One column a condition.
    ///
    /// # Errors
    /// What the conditions raise.
    pub async fn evaluate(&self, writer: &TableWriter, rows: &Rows) -> PgResult<Vec<ArrayRef>> {
        let columns = self.used.iter().map(|id| rows.column(*id).cloned()).collect::<PgResult<Vec<_>>>()?;
        self.exprs.evaluate(&writer.ctx.eval, &writer.ctx.params, columns, rows.len()).await
    }
}

/// What policies ask of a statement's rows.
pub struct Policies {
    by_kind: Vec<(PolicyCheck, Asked)>,
    /// Those that ask for maps of the row, whose entries are written behind it.
    of_maps: Vec<(PolicyCheck, Asked)>,
}

struct Asked {
    conditions: Conditions,
    /// The name of the policy for each condition, where it is a restrictive one.
    names: Vec<Option<String>>,
}

impl Policies {
    /// `None` where nothing is asked.
    #[must_use]
    pub fn new(queries: &dyn Subqueries, checks: &RowChecks) -> Option<Self> {
        if checks.checks.is_empty() {
            return None;
        }
        let asked = |of_maps: bool| {
            let mut by_kind: Vec<(PolicyCheck, Vec<&RowCheck>, Vec<Option<String>>)> = Vec::new();
            for check in checks.checks.iter().filter(|check| check.of_maps == of_maps) {
                let AsksCheck::Policies { when, policy } = &check.asks else { continue };
                match by_kind.iter_mut().find(|(kind, ..)| kind == when) {
                    Some((_, chosen, names)) => {
                        chosen.push(check);
                        names.push(policy.clone());
                    }
                    None => by_kind.push((*when, vec![check], vec![policy.clone()])),
                }
            }
            let asked = |chosen: &[&RowCheck], names| Asked { conditions: Conditions::new(queries, checks, chosen), names };
            by_kind.into_iter().map(|(kind, chosen, names)| (kind, asked(&chosen, names))).collect::<Vec<_>>()
        };
        let (by_kind, of_maps) = (asked(false), asked(true));
        (!by_kind.is_empty() || !of_maps.is_empty()).then_some(Self { by_kind, of_maps })
    }

    /// The first row that may not be written or changed, and why.
    async fn first_refused(
        asked: &[(PolicyCheck, Asked)],
        writer: &TableWriter,
        when: PolicyCheck,
        rows: &Rows,
    ) -> PgResult<Option<(usize, PgError)>> {
        let Some((_, asked)) = asked.iter().find(|(kind, _)| *kind == when).filter(|_| !rows.is_empty()) else { return Ok(None) };
        let results = asked.conditions.evaluate(writer, rows).await?;
        for row in 0..rows.len() {
            for (name, passed) in asked.names.iter().zip(&results) {
                let passed = datafusion::common::cast::as_boolean_array(passed).map_err(stoa_sql::typed::from_datafusion)?;
                if !(passed.is_valid(row) && passed.value(row)) {
                    return Ok(Some((row, refusal(when, name.as_deref(), &writer.table.name))));
                }
            }
        }
        Ok(None)
    }
}

fn refusal(when: PolicyCheck, policy: Option<&str>, table: &str) -> PgError {
    let (what, part) = match when {
        PolicyCheck::Shown => {
            let message = format!("conflicting row is not visible through view \"{}\"", policy.unwrap_or(table));
            return PgError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message);
        }
        PolicyCheck::Inserted | PolicyCheck::Updated => ("new row", ""),
        PolicyCheck::Conflicting => ("new row", " (USING expression)"),
        PolicyCheck::MergeUpdates | PolicyCheck::MergeDeletes => ("target row", " (USING expression)"),
    };
    let policy = policy.map_or(String::new(), |name| format!(" \"{name}\""));
    let message = format!("{what} violates row-level security policy{policy}{part} for table \"{table}\"");
    PgError::new(SqlState::INSUFFICIENT_PRIVILEGE, message)
}

/// How many rows pass policies and constraints, and what the next one fails.
///
/// # Errors
/// What conditions raise while they are computed.
pub async fn checked(writer: &TableWriter, when: PolicyCheck, rows: &Rows) -> PgResult<(usize, Option<PgError>)> {
    let refused = match &writer.policies {
        Some(policies) => Policies::first_refused(&policies.by_kind, writer, when, rows).await?,
        None => None,
    };
    let Some((row, error)) = refused else { return first_failure(writer, rows) };
    // Of the rows behind one that fails nothing is asked.
    match first_failure(writer, &rows.at(&(0..row).collect::<Vec<_>>())?)? {
        (limit, Some(failure)) => Ok((limit, Some(failure))),
        (_, None) => Ok((row, Some(error))),
    }
}

/// Refuses rows that are there already, and that the statement may not change.
///
/// # Errors
/// 42501.
pub async fn refuse(writer: &TableWriter, when: PolicyCheck, rows: &Rows) -> PgResult<()> {
    match &writer.policies {
        Some(policies) => Policies::first_refused(&policies.by_kind, writer, when, rows).await?.map_or(Ok(()), |(_, error)| Err(error)),
        None => Ok(()),
    }
}

/// Refuses rows that were written, with the entries of their maps, by what policies ask of these; `in_place`: they have the keys that they had.
///
/// # Errors
/// 42501; 0A000 where entries have yet to follow their rows to other keys.
pub async fn refuse_by_maps(writer: &TableWriter, when: PolicyCheck, rows: &Rows, in_place: bool) -> PgResult<()> {
    let Some(policies) = writer.policies.as_ref().filter(|policies| policies.of_maps.iter().any(|(kind, _)| *kind == when)) else {
        return Ok(());
    };
    if !in_place {
        return Err(PgError::unsupported("the key of a row cannot be changed where policies ask for its maps")
            .detail("Entries follow their row when the statement has ended.")
            .hint("Insert the row with its new key, and delete the old one."));
    }
    Policies::first_refused(&policies.of_maps, writer, when, rows).await?.map_or(Ok(()), |(_, error)| Err(error))
}

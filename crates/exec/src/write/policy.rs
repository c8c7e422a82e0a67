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
        let mut by_kind: Vec<(PolicyCheck, Vec<&RowCheck>, Vec<Option<String>>)> = Vec::new();
        for check in &checks.checks {
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
        let by_kind: Vec<_> = by_kind.into_iter().map(|(kind, chosen, names)| (kind, asked(&chosen, names))).collect();
        (!by_kind.is_empty()).then_some(Self { by_kind })
    }

    /// The first row that may not be written or changed, and why.
    async fn first_refused(&self, writer: &TableWriter, when: PolicyCheck, rows: &Rows) -> PgResult<Option<(usize, PgError)>> {
        let Some((_, asked)) = self.by_kind.iter().find(|(kind, _)| *kind == when).filter(|_| !rows.is_empty()) else { return Ok(None) };
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
        Some(policies) => policies.first_refused(writer, when, rows).await?,
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
        Some(policies) => policies.first_refused(writer, when, rows).await?.map_or(Ok(()), |(_, error)| Err(error)),
        None => Ok(()),
    }
}

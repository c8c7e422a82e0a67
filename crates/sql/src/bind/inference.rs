//! ON CONFLICT with columns, expressions and a condition: which unique constraints they mean.
//!
//! What holds parameters means a constraint or none by their values: it is looked for anew in each execution ([`arbiters`]).

use super::function::same_expr;
use super::literal::substitute;
use super::{BindContext, Binder, bind_table_expr, fold};
use crate::typed::tree::{Arbiters, Expr, ExprKind, Inference, UniqueCandidate};
use datafusion_common::ScalarValue;
use std::sync::Arc;
use stoa_pg::{EvalContext, PgError, PgResult, SqlState};
use stoa_syntax::ast;
use stoa_table::catalog::{ColumnId, IndexKey, IndexState, TableDescriptor};

impl Binder<'_> {
    /// What the columns, expressions and condition of ON CONFLICT mean. They call the table `alias`.
    pub(super) fn inferred(
        &mut self,
        table: &Arc<TableDescriptor>,
        alias: &str,
        items: &[&ast::Expr],
        condition: Option<&ast::Expr>,
    ) -> PgResult<Arbiters> {
        let mut given = Inference { columns: Vec::new(), exprs: Vec::new(), condition: None, candidates: self.candidates(table)? };
        for item in items {
            match item {
                ast::Expr::Identifier(item) => {
                    let name = fold(item);
                    let found = table.column_by_name(&name).ok_or_else(|| {
                        let error = if name == table.name {
                            PgError::unsupported("whole row unique index inference specifications are not supported")
                        } else {
                            PgError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{name}\" does not exist"))
                        };
                        error.at(self.pos_span(item.span))
                    })?;
                    given.columns.push(found.id);
                }
                item => match self.of_conflict(table, alias, item)? {
                    Expr { kind: ExprKind::Column(id), .. } => given.columns.push(ColumnId(id.0)),
                    expr => given.exprs.push(expr),
                },
            }
        }
        given.condition = condition.map(|condition| self.of_conflict(table, alias, condition)).transpose()?;
        given.columns.sort_unstable_by_key(|c| c.0);
        given.columns.dedup();
        let parameters = |e: &Expr| e.any(&mut |e| matches!(e.kind, ExprKind::Param(_)));
        if given.exprs.iter().chain(&given.condition).any(parameters) {
            return Ok(Arbiters::Inferred(Box::new(given)));
        }
        found(&given).map(Arbiters::These)
    }

    /// An expression of ON CONFLICT over the columns of the table, with the parameters of the statement.
    fn of_conflict(&mut self, table: &TableDescriptor, alias: &str, item: &ast::Expr) -> PgResult<Expr> {
        let mut binder = Binder::of_row(&self.ctx, table, alias);
        binder.read_with.clone_from(&self.read_with);
        binder.params = std::mem::take(&mut self.params);
        binder.param_uses = std::mem::take(&mut self.param_uses);
        binder.unlearned = std::mem::take(&mut self.unlearned);
        let bound = binder.bind_expr(item).and_then(|bound| binder.resolve_unknown(bound));
        self.params = std::mem::take(&mut binder.params);
        self.param_uses = std::mem::take(&mut binder.param_uses);
        self.unlearned = std::mem::take(&mut binder.unlearned);
        bound.map_err(|error| error.at(self.pos(item)))
    }

    /// The unique constraints of a table.
    fn candidates(&self, table: &Arc<TableDescriptor>) -> PgResult<Vec<UniqueCandidate>> {
        let bound = |sql: &str| bind_table_expr(&BindContext { text: sql, param_types: &[], ..self.ctx.clone() }, table, sql);
        let mut out = Vec::new();
        if table.primary_key.is_some() {
            let columns = table.key_columns().map(|p| p.column).collect();
            out.push(UniqueCandidate { arbiter: 0, columns, exprs: Vec::new(), condition: None });
        }
        for index in table.indexes.iter().filter(|i| i.unique && i.state == IndexState::Readable) {
            let (mut columns, mut exprs) = (Vec::new(), Vec::new());
            for part in &index.parts {
                match &part.key {
                    IndexKey::Column(column) => columns.push(*column),
                    IndexKey::Expr(sql) => exprs.push(bound(sql)?),
                }
            }
            let condition = index.predicate.as_deref().map(bound).transpose()?;
            out.push(UniqueCandidate { arbiter: index.oid, columns, exprs, condition });
        }
        for candidate in &mut out {
            candidate.columns.sort_unstable_by_key(|c| c.0);
            candidate.columns.dedup();
        }
        Ok(out)
    }
}

/// The constraints that ON CONFLICT means, with the values of parameters: 0 is the primary key, others are the OIDs of indexes.
///
/// # Errors
/// 42P10 if there is none.
pub fn arbiters(arbiters: &Arbiters, params: &[ScalarValue], eval: &EvalContext) -> PgResult<Vec<u32>> {
    match arbiters {
        Arbiters::These(these) => Ok(these.clone()),
        Arbiters::Inferred(given) => {
            let mut given = given.as_ref().clone();
            given.exprs.iter_mut().chain(&mut given.condition).for_each(|e| {
                substitute(e, params, eval);
            });
            found(&given)
        }
    }
}

fn found(given: &Inference) -> PgResult<Vec<u32>> {
    let fits = |candidate: &&UniqueCandidate| {
        let has = |list: &[Expr], e: &Expr| list.iter().any(|other| same_expr(other, e));
        candidate.columns == given.columns
            && given.exprs.iter().all(|e| has(&candidate.exprs, e))
            && candidate.exprs.iter().all(|e| has(&given.exprs, e))
            && candidate.condition.as_ref().is_none_or(|own| given.condition.as_ref().is_some_and(|condition| implies(condition, own)))
    };
    let out: Vec<u32> = given.candidates.iter().filter(fits).map(|candidate| candidate.arbiter).collect();
    if out.is_empty() {
        return Err(PgError::new(
            SqlState::INVALID_COLUMN_REFERENCE,
            "there is no unique or exclusion constraint matching the ON CONFLICT specification",
        ));
    }
    Ok(out)
}

/// Whether each part of `wanted` is a part of `given`.
pub(super) fn implies(given: &Expr, wanted: &Expr) -> bool {
    fn parts(e: &Expr) -> &[Expr] {
        match &e.kind {
            ExprKind::And(list) => list,
            _ => std::slice::from_ref(e),
        }
    }
    parts(wanted).iter().all(|w| parts(given).iter().any(|g| same_expr(g, w)))
}

//! MERGE.

use super::Binder;
use super::assign::{Place, no_default_of_parts};
use super::dml::{is_default, names_any};
use super::insert::is_overriding;
use super::scope::{Clause, Scope};
use super::updatable::Target;
use crate::typed::tree::{Expr, JoinKind, MergeAction, MergeArm, Mutation, MutationKind, MutationTarget, Rel, RowChecks};
use std::sync::Arc;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_syntax::ast;
use stoa_table::catalog::{ColumnId, Privileges, TableDescriptor};

impl Binder<'_> {
    pub(super) fn bind_merge(&mut self, merge: &ast::Merge) -> PgResult<Mutation> {
        let ast::TableFactor::Table { name, alias, .. } = &merge.table else {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "MERGE needs the name of a table"));
        };
        let target = self.target(name, "merge into")?;
        self.undeclared_of_target(&target, alias.as_ref())?;
        self.scopes.push(Scope::new(Clause::From));
        let result = self.bind_merge_in_scope(merge, &target, alias.as_ref());
        if let Ok(Mutation { kind: MutationKind::Merge { arms, .. }, .. }) = &result {
            for arm in arms {
                let of = |list: &[(ColumnId, Expr)]| list.iter().map(|(column, _)| *column).collect::<Vec<_>>();
                match &arm.action {
                    MergeAction::DoNothing => self.note_writes(&target.levels, Privileges::NONE, &[]),
                    MergeAction::Delete => self.note_writes(&target.levels, Privileges::DELETE, &[]),
                    MergeAction::Update(list) => self.note_writes(&target.levels, Privileges::UPDATE, &of(list)),
                    MergeAction::Insert(_) => self.note_writes(&target.levels, Privileges::INSERT, &[]),
                }
            }
        }
        self.scopes.pop();
        result
    }

    fn bind_merge_in_scope(&mut self, merge: &ast::Merge, target: &Target, alias: Option<&ast::TableAlias>) -> PgResult<Mutation> {
        let table = &target.table;
        let (scan, item) = self.scan_table(table, alias)?;
        let scan_id = scan.scan_id;
        let old: Vec<_> = scan.columns.iter().copied().filter(|(id, _)| *id != crate::fulltext::SCORE).collect();
        if let Some(scope) = self.scopes.last_mut() {
            scope.add_item(item);
        }
        let source = ast::TableWithJoins { relation: merge.source.clone(), joins: Vec::new() };
        let right = self.bind_beside_target(std::slice::from_ref(&source))?;
        let on = self.in_clause(Clause::JoinOn, |b| {
            let bound = b.bind_expr(&merge.on)?;
            b.coerce_condition(bound, "JOIN/ON").map_err(|e| e.at(b.pos(merge.on.as_ref())))
        })?;
        let mut reads = names_any([&on], &old);
        let inserts = merge.clauses.iter().any(|c| !matches!(c.clause_kind, ast::MergeClauseKind::Matched));
        let kind = if inserts { JoinKind::Left } else { JoinKind::Inner };
        let rel = Rel::Join { left: Box::new(right), right: Box::new(Rel::Scan(Box::new(scan))), kind, on: Some(on), lateral: false };
        let exprs = self.passed_through(&rel, &old, table);
        let rel = Rel::Project { input: Box::new(rel), exprs };
        let mut arms = Vec::with_capacity(merge.clauses.len());
        let mut unconditional = [false; 2];
        for clause in &merge.clauses {
            let matched = match clause.clause_kind {
                ast::MergeClauseKind::Matched => true,
                ast::MergeClauseKind::NotMatched | ast::MergeClauseKind::NotMatchedByTarget => false,
                ast::MergeClauseKind::NotMatchedBySource => {
                    return Err(PgError::new(SqlState::SYNTAX_ERROR, "syntax error at or near \"BY\""));
                }
            };
            if unconditional[usize::from(matched)] {
                return Err(PgError::new(SqlState::SYNTAX_ERROR, "unreachable WHEN clause specified after unconditional WHEN clause"));
            }
            unconditional[usize::from(matched)] = clause.predicate.is_none();
            // Where nothing matched there is no target row to speak of.
            if !matched && let Some(scope) = self.scopes.last_mut() {
                scope.items[0].lateral_only = true;
            }
            let arm = self.bind_merge_arm(clause, matched, target);
            if let Some(scope) = self.scopes.last_mut() {
                scope.items[0].lateral_only = false;
            }
            let arm = arm?;
            reads |= names_any(arm_exprs(&arm), &old);
            arms.push(arm);
        }
        Ok(Mutation {
            table: MutationTarget(table.clone()),
            kind: MutationKind::Merge { old, arms },
            source: Box::new(rel),
            usage: target.usage(Some(scan_id), reads),
            returning: None,
            returning_columns: Vec::new(),
            checks: RowChecks::default(),
        })
    }

    fn bind_merge_arm(&mut self, clause: &ast::MergeClause, matched: bool, target: &Target) -> PgResult<MergeArm> {
        let condition = match &clause.predicate {
            Some(e) => Some(self.in_clause(Clause::MergeCondition, |b| {
                let bound = b.bind_expr(e)?;
                b.coerce_bool(bound, "WHEN").map_err(|err| err.at(b.pos(e)))
            })?),
            None => None,
        };
        let action = match &clause.action {
            ast::MergeAction::Delete { .. } if matched => MergeAction::Delete,
            ast::MergeAction::Update(update) if matched => {
                if update.assignments.is_empty() {
                    MergeAction::DoNothing
                } else {
                    MergeAction::Update(self.in_clause(Clause::UpdateSet, |b| b.bind_assignments(target, &update.assignments))?)
                }
            }
            ast::MergeAction::Insert(insert) if !matched => self.bind_merge_insert(insert, &target.table)?,
            _ => return Err(PgError::new(SqlState::SYNTAX_ERROR, "this action does not fit its WHEN clause")),
        };
        Ok(MergeArm { matched, condition, action })
    }

    fn bind_merge_insert(&mut self, insert: &ast::MergeInsertExpr, table: &Arc<TableDescriptor>) -> PgResult<MergeAction> {
        let ast::MergeInsertKind::Values(values) = &insert.kind else { return Ok(MergeAction::DoNothing) };
        let overriding = self.take_overriding(&insert.columns);
        let result = self.bind_merge_values(insert, values, table);
        (self.overriding_system, self.overriding_user) = overriding;
        result
    }

    fn bind_merge_values(
        &mut self,
        insert: &ast::MergeInsertExpr,
        values: &ast::Values,
        table: &Arc<TableDescriptor>,
    ) -> PgResult<MergeAction> {
        let mut targets: Vec<Place> = Vec::new();
        for name in insert.columns.iter().filter(|c| !is_overriding(c)) {
            let place = self.place_of(table, name)?;
            if targets.iter().any(|other| place.is_twice(other)) {
                let message = format!("column \"{}\" specified more than once", place.name());
                return Err(PgError::new(SqlState::DUPLICATE_COLUMN, message).at(self.pos(name)));
            }
            targets.push(place);
        }
        if targets.is_empty() {
            targets = table.visible_columns().cloned().map(Place::whole).collect();
        }
        let row = values.rows.first().map_or(&[][..], |r| r.content.as_slice());
        if row.len() > targets.len() {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "INSERT has more expressions than target columns"));
        }
        if row.len() < targets.len() && insert.columns.iter().any(|c| !is_overriding(c)) {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "INSERT has more target columns than expressions"));
        }
        let mut places: Vec<Place> = Vec::with_capacity(row.len());
        let mut values: Vec<Expr> = Vec::with_capacity(row.len());
        for (place, e) in targets.into_iter().zip(row) {
            let column = &place.column;
            let value = if is_default(e) && place.is_part() {
                return Err(no_default_of_parts().at(self.pos(e)));
            } else if is_default(e) || (self.overriding_user && column.identity.is_some()) {
                if column.generated.is_some() { continue } else { self.default_of(column)? }
            } else {
                self.check_assignable(column)?;
                let bound = self.in_clause(Clause::Values, |b| b.bind_expr(e))?;
                self.coerce_assignment(bound, &place.ty()?, place.name()).map_err(|err| err.at(self.pos(e)))?
            };
            places.push(place);
            values.push(value);
        }
        let written: Vec<ColumnId> = places.iter().map(|place| place.column.id).collect();
        let level = super::updatable::table_level(table, self.within());
        self.note_writes(&[level], Privileges::INSERT, &written);
        let mut list = self.in_clause(Clause::Values, |b| b.gathered(&places, values, false))?;
        for column in table.visible_columns() {
            if column.generated.is_none() && !list.iter().any(|(c, _)| *c == column.id) {
                let value = self.default_of(column)?;
                list.push((column.id, value));
            }
        }
        for (id, value) in &mut list {
            if let Some(column) = table.column(*id).filter(|c| c.is_map()) {
                *value = self.map_or_empty(column, value.clone())?;
            }
        }
        Ok(MergeAction::Insert(list))
    }
}

/// What an arm computes.
fn arm_exprs(arm: &MergeArm) -> impl Iterator<Item = &Expr> {
    let list: &[(ColumnId, Expr)] = match &arm.action {
        MergeAction::Update(list) | MergeAction::Insert(list) => list,
        MergeAction::DoNothing | MergeAction::Delete => &[],
    };
    arm.condition.iter().chain(list.iter().map(|(_, e)| e))
}

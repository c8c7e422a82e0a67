//! Row-level security: the policies of tables become conditions of the statement, once all its names are resolved.
//!
//! This is the one place where it is decided which rows of a table a statement sees and writes. It goes through the whole tree: a scan of
//! which nothing is said is one of SELECT. [`crate::privileges`] refuses a tree with a scan or a target that did not come by here.
//!
//! Which policies ask what, as in PostgreSQL: rows that are read pass USING of those for SELECT; rows that are locked, changed or deleted
//! that of UPDATE or DELETE, and of SELECT if the statement names their columns; rows that are written pass WITH CHECK, or fail. Of several
//! permissive policies one must hold, of restrictive ones all.

use super::expr::{and, or};
use super::function::bool_const;
use super::map::{any_stored, of_the_past, read_as_left, read_as_of};
use super::promoted::Past;
use super::scope::{Clause, FromItem, Scope, ScopeColumn};
use super::{Binder, syntax_error};
use crate::typed::barrier::tells_nothing;
use crate::typed::tree::{
    AsksCheck, BoundBody, ColId, Cte, CteBody, Expr, ExprKind, HistoryScan, MergeAction, Mutation, MutationKind, OnConflict, PolicyCheck,
    Rel, RowCheck, TableScan,
};
use crate::typed::walk;
use datafusion_common::ScalarValue;
use std::collections::HashSet;
use std::sync::Arc;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_syntax::ast;
use stoa_table::catalog::policy::{Asked, asked};
use stoa_table::catalog::{ColumnId, Oid, PolicyCommand, PolicyCondition, PolicyDescriptor, RightsOf, TableDescriptor};

/// Columns of a table with the ids by which a condition names them.
type TableColumns = [(ColumnId, ColId)];

/// What a part of a statement does with scans, if it is more than to read.
#[derive(Default)]
struct ScanUses {
    /// Rows of these are locked: FOR UPDATE and its kin.
    locked: HashSet<u32>,
    /// The one whose rows the statement changes, and how.
    target: Option<(u32, TargetScan)>,
}

#[derive(Clone, Copy)]
struct TargetScan {
    /// `None`: it is not known before an arm of MERGE is chosen.
    command: Option<PolicyCommand>,
    within: Option<Oid>,
    reads: bool,
}

/// Policies of which one must hold: the permissive ones, or one restrictive.
struct Group {
    policies: Vec<PolicyDescriptor>,
    restrictive: bool,
}

/// Which of a policy's conditions is meant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Using,
    /// WITH CHECK, or USING where there is none.
    Check,
}

/// Of which rows a condition is asked.
enum RowsOf<'e> {
    Now,
    Past(Past<'e>),
    /// Those that the statement writes: maps of theirs are what it leaves.
    Written,
}

impl Part {
    fn of(self, policy: &PolicyDescriptor) -> Option<&PolicyCondition> {
        match self {
            Part::Using => policy.using.as_ref(),
            Part::Check => policy.check.as_ref().or(policy.using.as_ref()),
        }
    }
}

impl Binder<'_> {
    /// Puts the policies into a statement, and what makes rows that have ended none ([`super::expiry`]).
    pub(super) fn apply_policies(&mut self, body: &mut BoundBody) -> PgResult<()> {
        if !self.secured {
            return Ok(());
        }
        let ctes = std::mem::take(&mut self.ctes);
        self.secure_ctes(ctes)?;
        match body {
            BoundBody::Query(query) => self.secure_rel(&mut query.rel, &mut ScanUses::default()),
            BoundBody::Mutation(mutation) => self.secure_mutation(mutation),
        }
    }

    /// CTEs, in the order in which they are computed: those of policies of their tables come before each.
    fn secure_ctes(&mut self, ctes: Vec<Cte>) -> PgResult<()> {
        for mut cte in ctes {
            match &mut cte.body {
                CteBody::Query(rel) => self.secure_rel(rel, &mut ScanUses::default())?,
                CteBody::Mutation(mutation) => self.secure_mutation(mutation)?,
            }
            self.ctes.push(cte);
        }
        Ok(())
    }

    fn secure_rel(&mut self, rel: &mut Rel, uses: &mut ScanUses) -> PgResult<()> {
        crate::typed::deeper(|| {
            if let Rel::Lock { scans, .. } = rel {
                uses.locked.extend(scans.iter().copied());
            }
            for e in walk::exprs_mut(rel) {
                self.secure_expr(e)?;
            }
            // Of the past, each version passes by itself.
            let history = if let Rel::History(history) = &*rel { Some(HistoryScan::clone(history)) } else { None };
            let scan = match rel {
                Rel::Scan(scan) => Some(&mut **scan),
                Rel::History(history) => Some(&mut history.scan),
                _ => None,
            };
            if let Some(scan) = scan {
                // Entries that are read by the map of a row are decided with it.
                if scan.rows_decided {
                    return Ok(());
                }
                let target = uses.target.filter(|(id, _)| *id == scan.scan_id).map(|(_, target)| target.within);
                let within = target.unwrap_or_else(|| self.scans_within.get(&scan.scan_id).copied().flatten());
                self.check_entries(&scan.table, within)?;
                let rows = match (&history, scan.as_of.as_deref()) {
                    (Some(history), _) => RowsOf::Past(Past::of_versions(history)?),
                    (None, Some(time)) => RowsOf::Past(Past::At(time)),
                    (None, None) => RowsOf::Now,
                };
                let conditions =
                    if scan.table.row_security.enabled && !self.all_rows { self.scan_conditions(scan, &rows, uses)? } else { Vec::new() };
                let not_ended = self.not_ended(scan)?.filter(|_| history.is_none());
                scan.rows_decided = !self.all_rows;
                let mut below = std::mem::replace(rel, Rel::One);
                if let Some(predicate) = not_ended {
                    below = Rel::Filter { input: Box::new(below), predicate };
                }
                *rel = self.seen_through(below, conditions);
                return Ok(());
            }
            walk::children_mut(rel).into_iter().try_for_each(|child| self.secure_rel(child, uses))
        })
    }

    fn secure_expr(&mut self, e: &mut Expr) -> PgResult<()> {
        let mut result = Ok(());
        walk::subqueries_mut(e, &mut |query| {
            if result.is_ok() {
                result = self.secure_rel(&mut query.rel, &mut ScanUses::default());
            }
        });
        result
    }

    /// The rows of a scan that pass conditions. What stands above must not tell of the others.
    fn seen_through(&mut self, scan: Rel, conditions: Vec<Expr>) -> Rel {
        if conditions.is_empty() {
            return scan;
        }
        // Conditions that cannot raise are computed before those that may, wherever they come from.
        let before_all = conditions.iter().all(|condition| tells_nothing(self.ctx.eval, condition));
        let filtered = Rel::Filter { input: Box::new(scan), predicate: and(conditions) };
        if before_all { filtered } else { self.barrier(filtered) }
    }

    /// A relation behind a barrier.
    pub(super) fn barrier(&mut self, rel: Rel) -> Rel {
        self.barred = true;
        Rel::Barrier { input: Box::new(rel) }
    }

    /// The role that policies of a table are about, if it is asked for any.
    fn asked_role(&mut self, table: &TableDescriptor, within: Option<Oid>) -> PgResult<Option<Oid>> {
        let (authority, system) = (self.ctx.catalog.authority(), &self.ctx.eval.system);
        let (own, on) = (system.role(), system.row_security());
        let role = within.map_or(own, |view| authority.rights(RightsOf::Relation(view)).owner);
        self.policies_of = Some((own, on));
        match asked(authority, role, table) {
            Asked::Nobody | Asked::Exempt => Ok(None),
            Asked::Policies { owner } if !on => {
                let message = format!("query would be affected by row-level security policy for table \"{}\"", table.name);
                let error = PgError::new(SqlState::INSUFFICIENT_PRIVILEGE, message);
                Err(if owner {
                    error.hint("To disable the policy for the table's owner, use ALTER TABLE NO FORCE ROW LEVEL SECURITY.")
                } else {
                    error
                })
            }
            Asked::Policies { .. } => Ok(Some(role)),
        }
    }

    /// Whether policies, or the ends of rows, are to be put into what a statement does with a table.
    pub(super) fn has_conditions(&self, table: &TableDescriptor) -> bool {
        self.ctx.catalog.rows_of(table).row_security.enabled || table.expires.is_some()
    }

    /// 42501 for the table of a map's entries where policies of the rows that they belong to are asked: no policy is about it.
    fn check_entries(&mut self, table: &TableDescriptor, within: Option<Oid>) -> PgResult<()> {
        let catalog = self.ctx.catalog;
        let rows = catalog.rows_of(table);
        if rows.oid == table.oid || !rows.row_security.enabled || self.all_rows || self.asked_role(rows, within)?.is_none() {
            return Ok(());
        }
        let message = format!("permission denied for entries of table \"{}\"", rows.name);
        Err(PgError::new(SqlState::INSUFFICIENT_PRIVILEGE, message)
            .detail(format!("Row-level security says which rows of \"{}\" are seen.", rows.name))
            .hint("Read and write them by the map of the row: m['key'], each(m), UPDATE … SET m['key'] = …"))
    }

    /// What rows of a scan must satisfy.
    fn scan_conditions(&mut self, scan: &TableScan, rows: &RowsOf<'_>, uses: &ScanUses) -> PgResult<Vec<Expr>> {
        let target = uses.target.filter(|(id, _)| *id == scan.scan_id).map(|(_, target)| target);
        let within = match target {
            Some(target) => target.within,
            None => self.scans_within.get(&scan.scan_id).copied().flatten(),
        };
        let Some(role) = self.asked_role(&scan.table, within)? else { return Ok(Vec::new()) };
        let mut commands = Vec::new();
        match target {
            Some(target) => {
                commands.extend(target.command);
                commands.extend(target.reads.then_some(PolicyCommand::Select));
            }
            None => {
                commands.extend(uses.locked.contains(&scan.scan_id).then_some(PolicyCommand::Update));
                commands.push(PolicyCommand::Select);
            }
        }
        let mut known: Vec<Vec<Oid>> = Vec::new();
        let mut out = Vec::new();
        for command in commands {
            for group in self.groups(&scan.table, role, command, Part::Using) {
                // Those for ALL are asked once.
                let oids = group.policies.iter().map(|policy| policy.oid).collect();
                if !known.contains(&oids) {
                    known.push(oids);
                    out.push(self.bind_group(&scan.table, &group, (Part::Using, rows), within, &scan.columns)?);
                }
            }
        }
        Ok(out)
    }

    /// The policies that a role is asked for, the restrictive ones first: where no permissive one is, the group of those is empty.
    fn groups(&self, table: &TableDescriptor, role: Oid, command: PolicyCommand, part: Part) -> Vec<Group> {
        let authority = self.ctx.catalog.authority();
        let asked = table.row_security.policies.iter().filter(|p| part.of(p).is_some() && p.concerns(authority, role, command));
        let (restrictive, permissive): (Vec<_>, Vec<_>) = asked.cloned().partition(|policy| policy.restrictive);
        if permissive.is_empty() {
            return vec![Group { policies: Vec::new(), restrictive: false }];
        }
        let mut out: Vec<Group> = restrictive.into_iter().map(|one| Group { policies: vec![one], restrictive: true }).collect();
        out.push(Group { policies: permissive, restrictive: false });
        out
    }

    fn bind_group(
        &mut self,
        table: &Arc<TableDescriptor>,
        group: &Group,
        (part, rows): (Part, &RowsOf<'_>),
        within: Option<Oid>,
        columns: &TableColumns,
    ) -> PgResult<Expr> {
        let others = std::mem::take(&mut self.accesses);
        let asked = group.policies.iter().filter_map(|policy| part.of(policy));
        let bound: PgResult<Vec<Expr>> = asked.map(|condition| self.bind_policy(table, condition, rows, within, columns)).collect();
        // Also behind an error: no note of what the statement does may be lost.
        let accesses = std::mem::replace(&mut self.accesses, others);
        let conditions = bound?;
        // Where one lets all rows through, the others are not asked, nor is anybody's right to read what they read: PostgreSQL computes
        // constants before it looks for rights.
        let all = |e: &Expr| matches!(e.kind, ExprKind::Const(ScalarValue::Boolean(Some(true))));
        if conditions.iter().any(all) {
            return Ok(bool_const(true));
        }
        self.accesses.add(accesses, None);
        Ok(if conditions.is_empty() { bool_const(false) } else { or(conditions) })
    }

    /// The rows of a table as a condition of a policy names them.
    ///
    /// # Errors
    /// As of a table in FROM.
    pub(crate) fn rows_of_policy(
        &mut self,
        table: &TableDescriptor,
        columns: &TableColumns,
        alias: Option<&ast::TableAlias>,
    ) -> PgResult<FromItem> {
        let mut visible: Vec<ScopeColumn> = Vec::new();
        for column in table.visible_columns() {
            let expr = self.column_of_scan(table, column, columns);
            visible.push(ScopeColumn { name: column.name.clone(), expr, origin: Some((table.oid, column.id.0)) });
        }
        let item = self.item_of_table(table, visible, alias)?;
        Ok(FromItem { table_oid: Some(table.oid), ..item })
    }

    /// A condition of a policy, over columns of its table.
    fn bind_policy(
        &mut self,
        table: &Arc<TableDescriptor>,
        condition: &PolicyCondition,
        rows: &RowsOf<'_>,
        within: Option<Oid>,
        columns: &TableColumns,
    ) -> PgResult<Expr> {
        let unreadable = || PgError::internal(format!("a policy of table \"{}\" cannot be read", table.name));
        let parsed = stoa_syntax::parse(&condition.sql).map_err(syntax_error)?;
        let (alias, selection) = parsed.first().and_then(|p| condition_of(&p.statement)).ok_or_else(unreadable)?;
        // It stands in the name of whoever the table is used for, and its names were looked up when it was made.
        self.policy_frames.push((self.views.len(), within));
        let (known, mut asked) = (self.ctes.len(), Vec::new());
        let bound = self.rows_of_policy(table, columns, Some(alias)).and_then(|mut item| {
            match rows {
                RowsOf::Past(past) => {
                    match past {
                        Past::At(time) => read_as_of(&mut item.columns, time),
                        _ => item.columns.iter_mut().for_each(|column| of_the_past(&mut column.expr)),
                    }
                    self.show_past(table, &mut item.columns, columns, past)?;
                }
                RowsOf::Written => read_as_left(&mut item.columns),
                RowsOf::Now => {}
            }
            // Whoever may use the table need not be allowed to read the columns that its policies do.
            item.columns.iter_mut().for_each(|column| column.origin = None);
            let mut scope = Scope::new(Clause::Policy);
            scope.local.extend(columns.iter().map(|(_, id)| *id));
            scope.add_item(item);
            let scopes = std::mem::replace(&mut self.scopes, vec![scope]);
            let ctes = std::mem::take(&mut self.cte_scope);
            let (no_sets, chosen) = (self.no_sets.take(), self.chosen_rows.take());
            let bound = self.bind_expr(selection).and_then(|e| self.coerce_condition(e, "POLICY"));
            // Those of WITH in its subqueries.
            asked.append(&mut self.ctes.split_off(known));
            (self.scopes, self.cte_scope, self.no_sets, self.chosen_rows) = (scopes, ctes, no_sets, chosen);
            bound
        });
        let secured = bound.and_then(|mut e| {
            let mut asks = !asked.is_empty();
            walk::visit_subqueries(&e, &mut |_| asks = true);
            if !asks {
                return Ok(e);
            }
            if self.policy_tables.contains(&table.oid) {
                let message = format!("infinite recursion detected in policy for relation \"{}\"", table.name);
                return Err(PgError::new(SqlState::INVALID_OBJECT_DEFINITION, message));
            }
            self.policy_tables.push(table.oid);
            let secured = self.secure_ctes(asked).and_then(|()| self.secure_expr(&mut e));
            self.policy_tables.pop();
            secured.map(|()| e)
        });
        self.policy_frames.pop();
        secured.map_err(|mut error| {
            error.fields_mut().position = None;
            error
        })
    }

    // Changes.

    fn secure_mutation(&mut self, mutation: &mut Mutation) -> PgResult<()> {
        let command = match &mutation.kind {
            MutationKind::Insert { .. } | MutationKind::Merge { .. } => None,
            MutationKind::Update { .. } => Some(PolicyCommand::Update),
            MutationKind::Delete { .. } => Some(PolicyCommand::Delete),
        };
        let (within, reads) = (mutation.usage.within, mutation.usage.reads);
        let target = mutation.usage.scan.map(|scan| (scan, TargetScan { command, within, reads }));
        self.secure_rel(&mut mutation.source, &mut ScanUses { target, ..ScanUses::default() })?;
        for e in walk::mutation_exprs_mut(mutation) {
            self.secure_expr(e)?;
        }
        let table = Arc::clone(&mutation.table.0);
        self.check_entries(&table, within)?;
        if !table.row_security.enabled || self.all_rows {
            return Ok(());
        }
        mutation.usage.rows_decided = true;
        let Some(role) = self.asked_role(&table, within)? else { return Ok(()) };
        if mutation.checks.columns.is_empty() {
            mutation.checks.columns = table.live_columns().map(|c| (c.id, self.new_col())).collect();
        }
        let columns = mutation.checks.columns.clone();
        for (when, command, part) in asked_of(&mutation.kind, reads) {
            let mut groups = self.groups(&table, role, command, part);
            groups.sort_by_key(|group| group.restrictive);
            for group in groups {
                let written = matches!(when, PolicyCheck::Inserted | PolicyCheck::Updated);
                let rows = if written { RowsOf::Written } else { RowsOf::Now };
                let condition = self.bind_group(&table, &group, (part, &rows), within, &columns)?;
                let policy = group.policies.first().filter(|_| group.restrictive).map(|policy| policy.name.clone());
                let of_maps = written && any_stored(&condition, &mut |_| true);
                mutation.checks.checks.push(RowCheck { asks: AsksCheck::Policies { when, policy }, condition, of_maps });
            }
        }
        Ok(())
    }
}

/// Which policies ask what of the rows that a change writes and finds; the permissive ones are asked first, then those that restrict, by
/// name.
fn asked_of(kind: &MutationKind, reads: bool) -> Vec<(PolicyCheck, PolicyCommand, Part)> {
    use PolicyCheck as When;
    use PolicyCommand as Of;
    let mut out = Vec::new();
    match kind {
        MutationKind::Insert { on_conflict, .. } => {
            out.push((When::Inserted, Of::Insert, Part::Check));
            out.extend(reads.then_some((When::Inserted, Of::Select, Part::Using)));
            match on_conflict {
                OnConflict::Error | OnConflict::DoNothing { .. } => {}
                OnConflict::DoUpdate { .. } | OnConflict::Replace { .. } => {
                    out.push((When::Conflicting, Of::Update, Part::Using));
                    out.extend(reads.then_some((When::Conflicting, Of::Select, Part::Using)));
                    out.push((When::Updated, Of::Update, Part::Check));
                    out.extend(reads.then_some((When::Updated, Of::Select, Part::Using)));
                }
            }
        }
        MutationKind::Update { .. } => {
            out.push((When::Updated, Of::Update, Part::Check));
            out.extend(reads.then_some((When::Updated, Of::Select, Part::Using)));
        }
        // What may be deleted is what the source gives.
        MutationKind::Delete { .. } => {}
        MutationKind::Merge { arms, .. } => {
            let does = |what: fn(&MergeAction) -> bool| arms.iter().any(|arm| what(&arm.action));
            if does(|action| matches!(action, MergeAction::Update(_))) {
                out.push((When::MergeUpdates, Of::Update, Part::Using));
                out.push((When::Updated, Of::Update, Part::Check));
                out.extend(reads.then_some((When::Updated, Of::Select, Part::Using)));
            }
            if does(|action| matches!(action, MergeAction::Delete)) {
                out.push((When::MergeDeletes, Of::Delete, Part::Using));
            }
            if does(|action| matches!(action, MergeAction::Insert(_))) {
                out.push((When::Inserted, Of::Insert, Part::Check));
            }
        }
    }
    out
}

/// The list of columns and the condition in the text that is kept of a policy.
#[must_use]
pub fn condition_of(statement: &ast::Statement) -> Option<(&ast::TableAlias, &ast::Expr)> {
    let ast::Statement::Query(query) = statement else { return None };
    let ast::SetExpr::Select(select) = &*query.body else { return None };
    match select.from.as_slice() {
        [ast::TableWithJoins { relation: ast::TableFactor::Table { alias: Some(alias), .. }, .. }] => {
            Some((alias, select.selection.as_ref()?))
        }
        _ => None,
    }
}

//! The target of a statement that changes rows: a table, or a view through which the rows of one table change.
//!
//! A view is updatable when its query is a plain selection of one table or updatable view. Its columns and conditions become
//! expressions over the table's columns under ids of their own ([`ViewTarget::base`]), which each use renames.

use super::access::WriteLevel;
use super::dml::{given_though_generated, twice};
use super::scope::{Clause, FromItem, Lockable, Scope, ScopeColumn};
use super::{Binder, aggregate, fold, name_parts, syntax_error};
use crate::catalog::names::is_security_barrier;
use crate::typed::tree::{AsksCheck, ColId, Expr, ExprKind, PolicyCheck, RowCheck, RowChecks, TargetUse};
use crate::typed::walk;
use std::collections::HashMap;
use std::sync::Arc;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_syntax::ast::{self, SetExpr};
use stoa_table::catalog::{ColumnDescriptor, ColumnId, Relation, TableDescriptor, ViewDescriptor};

/// See the module.
#[derive(Clone)]
pub(super) struct Target {
    pub table: Arc<TableDescriptor>,
    /// The table with the names that the statement knows: those of the view's columns, if it names a view.
    pub shape: Arc<TableDescriptor>,
    pub view: Option<Arc<ViewTarget>>,
    /// What the statement writes: the table, before it the views through which it is named.
    pub levels: Vec<WriteLevel>,
}

/// A view over one table.
pub(super) struct ViewTarget {
    pub name: String,
    oid: u32,
    /// The table's columns, as the expressions here name them.
    pub base: Vec<(ColumnId, ColId)>,
    pub columns: Vec<(String, Expr)>,
    /// What rows of the view satisfy.
    pub predicates: Vec<(String, Expr)>,
    /// It, or a view below it, is a `security_barrier`.
    pub barrier: bool,
    /// What new rows must satisfy, by the view whose check option asks for it.
    pub checks: Vec<(String, Expr)>,
    /// The defaults that the view itself has, by the table's columns.
    defaults: HashMap<ColumnId, String>,
    /// Why no row can be inserted: a column has a default that is no column of the table, or one that is generated.
    defaulted: Option<PgError>,
    /// The table and the views between, the view itself first.
    levels: Vec<WriteLevel>,
}

impl ViewTarget {
    /// The view as a FROM item over the table's columns under other ids.
    pub fn item(&self, alias: &str, columns: &[(ColumnId, ColId)]) -> FromItem {
        let map = self.renaming(columns);
        let renamed = |e: &Expr| {
            let mut e = e.clone();
            walk::rename_expr(&mut e, &map);
            e
        };
        FromItem {
            alias: alias.to_owned(),
            schema: None,
            place: None,
            columns: self
                .columns
                .iter()
                .enumerate()
                .map(|(i, (name, e))| ScopeColumn { name: name.clone(), expr: renamed(e), origin: Some((self.oid, i as u32 + 1)) })
                .collect(),
            fields: Vec::new(),
            key: None,
            lateral_only: false,
            refused: None,
            joined: false,
            nullable: false,
            found: None,
            table_oid: Some(self.oid),
            address: Vec::new(),
            scalar: false,
            lockable: Lockable::default(),
        }
    }

    /// The view's conditions over the table's columns under other ids.
    pub fn conditions(&self, columns: &[(ColumnId, ColId)]) -> Vec<Expr> {
        let map = self.renaming(columns);
        let mut out: Vec<Expr> = self.predicates.iter().map(|(_, condition)| condition.clone()).collect();
        out.iter_mut().for_each(|e| walk::rename_expr(e, &map));
        out
    }

    /// A column of the table whose default is what DEFAULT means in an assignment: that of the view's column, or NULL. (An inserted row
    /// gets the defaults of what lies below as well.)
    pub fn assigned(&self, column: &ColumnDescriptor) -> ColumnDescriptor {
        ColumnDescriptor { default: self.defaults.get(&column.id).cloned(), identity: None, ..column.clone() }
    }

    fn renaming(&self, columns: &[(ColumnId, ColId)]) -> HashMap<ColId, ColId> {
        self.base.iter().filter_map(|(id, from)| columns.iter().find(|(c, _)| c == id).map(|(_, to)| (*from, *to))).collect()
    }

    /// The table's column that a column of the view is.
    fn table_column(&self, e: &Expr) -> Option<ColumnId> {
        let ExprKind::Column(col) = e.kind else { return None };
        self.base.iter().find(|(_, c)| *c == col).map(|(id, _)| *id)
    }
}

impl Target {
    fn of_table(table: Arc<TableDescriptor>, within: Option<u32>) -> Self {
        let levels = vec![table_level(&table, within)];
        Self { shape: table.clone(), table, view: None, levels }
    }

    /// The columns that a statement without a list of columns means, in order.
    pub fn all_columns(&self, given: usize, verb: &str) -> PgResult<Vec<ColumnId>> {
        let Some(view) = &self.view else { return Ok(self.table.visible_columns().map(|c| c.id).collect()) };
        let mut out = Vec::with_capacity(view.columns.len());
        for (at, (name, e)) in view.columns.iter().enumerate() {
            match view.table_column(e) {
                Some(id) if out.contains(&id) => match self.table.column(id) {
                    Some(column) if at < given => return Err(twice(column)),
                    _ => break,
                },
                Some(id) => out.push(id),
                None if at < given => return Err(not_a_column(name, &view.name, verb)),
                None => break,
            }
        }
        Ok(out)
    }

    /// Refuses rows that would get a default where the view computes.
    pub fn check_defaults(&self) -> PgResult<()> {
        self.view.as_ref().and_then(|view| view.defaulted.clone()).map_or(Ok(()), Err)
    }

    /// What rows that are written must satisfy for the view's check options; and, where rows in the way of new ones may be changed
    /// (`replaces`), those for the view to show them.
    pub fn view_checks(&self, replaces: bool) -> RowChecks {
        let Some(view) = &self.view else { return RowChecks::default() };
        let written = |(view, condition): &(String, Expr)| RowCheck {
            asks: AsksCheck::View(view.clone()),
            condition: condition.clone(),
            of_maps: false,
        };
        let shown = |(view, condition): &(String, Expr)| {
            let asks = AsksCheck::Policies { when: PolicyCheck::Shown, policy: Some(view.clone()) };
            RowCheck { asks, condition: condition.clone(), of_maps: false }
        };
        let checks: Vec<RowCheck> = view.checks.iter().map(written).chain(view.predicates.iter().filter(|_| replaces).map(shown)).collect();
        if checks.is_empty() { RowChecks::default() } else { RowChecks { columns: view.base.clone(), checks } }
    }

    /// How a statement uses the table: `scan` gives its rows, `reads` tells that columns of them are named.
    pub fn usage(&self, scan: Option<u32>, reads: bool) -> TargetUse {
        TargetUse { scan, within: self.levels.last().and_then(|level| level.within), reads, rows_decided: false }
    }

    /// Refuses columns of a view that are no columns of its table.
    pub fn check_column(&self, name: &str, verb: &str) -> PgResult<()> {
        let Some(view) = &self.view else { return Ok(()) };
        match view.columns.iter().find(|(n, _)| n == name) {
            Some((_, e)) if view.table_column(e).is_none() => Err(not_a_column(name, &view.name, verb)),
            _ => Ok(()),
        }
    }
}

fn not_a_column(name: &str, view: &str, verb: &str) -> PgError {
    PgError::unsupported(format!("cannot {verb} column \"{name}\" of view \"{view}\""))
        .detail("View columns that are not columns of their base relation are not updatable.")
}

impl Binder<'_> {
    /// The table or view that a statement changes; `verb` as in "cannot insert into".
    pub(super) fn target(&mut self, name: &ast::ObjectName, verb: &str) -> PgResult<Target> {
        let (schema, relation, found) = self.find_relation(name)?;
        match found.as_deref() {
            Some(Relation::Table(table)) => {
                self.secured |= self.has_conditions(table);
                self.has_maps |= table.map_columns().next().is_some();
                Ok(Target::of_table(self.shared_table(table), self.within()))
            }
            Some(Relation::View(view)) if view.materialized.is_some() => {
                Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("cannot change materialized view \"{}\"", view.name))
                    .at(self.pos(name)))
            }
            Some(Relation::View(view)) if verb == "merge into" => {
                Err(PgError::unsupported(format!("cannot execute MERGE on relation \"{}\"", view.name))
                    .detail("This operation is not supported for views.")
                    .hint("Merge into the table that the view reads.")
                    .at(self.pos(name)))
            }
            Some(Relation::View(view)) => {
                let view = view.clone();
                self.note_use(view.oid, None);
                let (table, target) = self.view_target(&view, verb)?;
                self.secured |= self.has_conditions(&table);
                self.has_maps |= table.map_columns().next().is_some();
                if target.checks.iter().any(|(_, condition)| super::map::any_stored(condition, &mut |_| true)) {
                    return Err(PgError::unsupported(format!("cannot {verb} view \"{}\"", view.name))
                        .detail("Its check option asks for entries of maps, which are written behind the row."));
                }
                let mut shape = table.clone();
                shape.name.clone_from(&view.name);
                for column in &mut shape.columns {
                    let own = target.columns.iter().find(|(_, e)| target.table_column(e) == Some(column.id));
                    // A name that nobody writes, for what the view does not show.
                    column.name = own.map_or_else(|| format!("\0{}", column.name), |(name, _)| name.clone());
                }
                self.note_levels(&target.levels);
                let levels = target.levels.clone();
                Ok(Target { table: Arc::new(table), shape: Arc::new(shape), view: Some(Arc::new(target)), levels })
            }
            Some(Relation::Sequence(s)) => {
                Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("cannot change sequence \"{}\"", s.name)).at(self.pos(name)))
            }
            None if crate::system_relations::exists(&schema, &relation) => {
                Err(PgError::new(SqlState::INSUFFICIENT_PRIVILEGE, format!("permission denied: \"{relation}\" is a system catalog"))
                    .at(self.pos(name)))
            }
            None => Err(self.undefined_table(&name_parts(name)?).at(self.pos(name))),
        }
    }

    fn view_target(&mut self, view: &ViewDescriptor, verb: &str) -> PgResult<(TableDescriptor, ViewTarget)> {
        let refuse = |detail: &str| not_updatable(&view.name, verb, detail);
        let within = self.within();
        self.enter_view(view)?;
        let parsed = stoa_syntax::parse(&view.sql).map_err(syntax_error)?;
        let Some(ast::Statement::Query(query)) = parsed.first().map(|p| &p.statement) else {
            return Err(PgError::internal("the definition of a view is not a query"));
        };
        let (select, from) = match simple_selection(query) {
            Ok(found) => found,
            Err(detail) => return Err(refuse(detail)),
        };
        let ast::TableFactor::Table { name, alias, sample: None, version, .. } = from else {
            return Err(refuse("that do not select from a single table or view"));
        };
        if version.is_some() {
            return Err(refuse("that show rows as of another time"));
        }
        super::undeclared::refuse_written(alias.as_ref(), verb, &view.name)?;
        let (_, _, found) = self.find_relation(name)?;
        let (table, base, inner) = match found.as_deref() {
            Some(Relation::Table(table)) => {
                let base: Vec<(ColumnId, ColId)> = table.live_columns().map(|c| (c.id, self.new_col())).collect();
                (table.clone(), base, None)
            }
            Some(Relation::View(below)) if below.materialized.is_none() => {
                let below = below.clone();
                let (table, inner) = self.view_target(&below, verb)?;
                (table, inner.base.clone(), Some(inner))
            }
            _ => return Err(refuse("that do not select from a single table or view")),
        };
        let alias_name =
            alias.as_ref().map_or_else(|| name_parts(name).ok().and_then(|p| p.last().cloned()).unwrap_or_default(), |a| fold(&a.name));
        let mut item = match &inner {
            Some(inner) => inner.item(&alias_name, &inner.base),
            None => {
                let mut scope = Scope::new(Clause::Check);
                scope.add_table(&table, &alias_name, &|id| base.iter().find(|(c, _)| *c == id).map_or(ColId(0), |(_, c)| *c));
                scope.items.remove(0)
            }
        };
        for (column, renamed) in item.columns.iter_mut().zip(alias.iter().flat_map(|a| &a.columns)) {
            column.name = fold(&renamed.name);
        }
        let mut scope = Scope::new(Clause::SelectList);
        scope.local.extend(base.iter().map(|(_, c)| *c));
        scope.add_item(item);
        // The view knows nothing of the statement around it. What it reads, it reads only if the statement reads the view.
        let scopes = std::mem::replace(&mut self.scopes, vec![scope]);
        let ctes = std::mem::take(&mut self.cte_scope);
        let accesses = std::mem::take(&mut self.accesses);
        let below = self.within();
        let bound = self.bind_view_parts(select);
        let mut own = std::mem::replace(&mut self.accesses, accesses);
        self.scopes = scopes;
        self.cte_scope = ctes;
        self.views.pop();
        let (targets, condition) = bound.map_err(|mut e| {
            e.fields_mut().position = None;
            e
        })?;
        for (_, e) in &targets {
            if aggregate::has_aggregate(e) {
                return Err(refuse("that return aggregate functions"));
            }
            if e.any(&mut |x| matches!(x.kind, ExprKind::Window(_))) {
                return Err(refuse("that return window functions"));
            }
            if e.any(&mut |x| matches!(x.kind, ExprKind::Set(_))) {
                return Err(refuse("that return set-returning functions"));
            }
        }
        let mut table = table;
        let (mut defaulted, mut defaults) = (None, HashMap::new());
        for (declared, (_, e)) in view.columns.iter().zip(&targets) {
            if let (Some(default), ExprKind::Column(col)) = (&declared.default, &e.kind)
                && let Some((id, _)) = base.iter().find(|(_, c)| c == col)
                && let Some(column) = table.columns.iter_mut().find(|c| c.id == *id)
            {
                if column.generated.is_some() {
                    defaulted.get_or_insert_with(|| given_though_generated(column));
                } else {
                    defaults.insert(column.id, default.clone());
                    column.default = Some(default.clone());
                }
            }
        }
        let computed = |e: &Expr| !matches!(&e.kind, ExprKind::Column(col) if base.iter().any(|(_, c)| c == col));
        let no_column = view.columns.iter().zip(&targets).find(|(c, (_, e))| c.default.is_some() && computed(e));
        let defaulted = no_column.map(|(c, _)| not_a_column(&c.name, &view.name, "insert into")).or(defaulted);
        let mut levels = match &inner {
            Some(inner) => inner.levels.clone(),
            None => vec![table_level(&table, below)],
        };
        if let Some(next) = levels.first_mut() {
            next.named.clone_from(&own.of(below, next.relation).selected);
            // Subqueries of the view read other relations.
            self.accesses.add(own, Some((below, next.relation)));
        }
        levels.insert(0, view_level(view.oid, within, &targets, &base));
        let columns = view.columns.iter().zip(targets).map(|(declared, (_, e))| (declared.name.clone(), e)).collect();
        let barrier = is_security_barrier(view) || inner.as_ref().is_some_and(|inner| inner.barrier);
        let (mut predicates, mut checks) = inner.map_or_else(|| (Vec::new(), Vec::new()), |i| (i.predicates, i.checks));
        if let Some(option) = &view.check_option {
            // CASCADED asks for the conditions below too.
            if option == "cascaded" {
                checks.extend(predicates.iter().cloned());
            }
            checks.extend(condition.iter().map(|c| (view.name.clone(), c.clone())));
        }
        predicates.extend(condition.map(|condition| (view.name.clone(), condition)));
        Ok((
            table,
            ViewTarget { name: view.name.clone(), oid: view.oid, base, columns, predicates, barrier, checks, defaults, defaulted, levels },
        ))
    }

    #[allow(clippy::type_complexity)] // the select list and the condition
    fn bind_view_parts(&mut self, select: &ast::Select) -> PgResult<(Vec<(String, Expr)>, Option<Expr>)> {
        let targets = self.bind_targets(&select.projection)?;
        let mut out = Vec::with_capacity(targets.len());
        for (name, e) in targets {
            out.push((name, self.resolve_unknown(e)?));
        }
        let condition = match &select.selection {
            Some(e) => Some(self.in_clause(Clause::Where, |b| {
                let bound = b.bind_expr(e)?;
                b.coerce_condition(bound, "WHERE")
            })?),
            None => None,
        };
        Ok((out, condition))
    }
}

/// 55000 for a view that nothing can be written through: `detail` says which those are.
fn not_updatable(view: &str, verb: &str, detail: &str) -> PgError {
    let (doing, word) = match verb {
        "insert into" => ("inserting into", "INSERT"),
        "update" => ("updating", "UPDATE"),
        _ => ("deleting from", "DELETE"),
    };
    PgError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, format!("cannot {verb} view \"{view}\""))
        .detail(format!("Views {detail} are not automatically updatable."))
        .hint(format!("To enable {doing} the view, provide an INSTEAD OF {word} trigger or an unconditional ON {word} DO INSTEAD rule."))
}

/// A table that is written, whose columns are its own.
pub(super) fn table_level(table: &TableDescriptor, within: Option<u32>) -> WriteLevel {
    WriteLevel {
        relation: table.oid,
        within,
        columns: table.live_columns().chain(table.map_columns()).map(|c| (c.id, c.id)).collect(),
        named: Vec::new(),
    }
}

/// A view that is written, whose columns have numbers from 1.
fn view_level(view: u32, within: Option<u32>, targets: &[(String, Expr)], base: &[(ColumnId, ColId)]) -> WriteLevel {
    let mut columns: Vec<(ColumnId, ColumnId)> = Vec::new();
    for (number, (_, e)) in (1_u32..).zip(targets) {
        if let ExprKind::Column(col) = e.kind
            && let Some((id, _)) = base.iter().find(|(_, c)| *c == col)
        {
            columns.push((*id, ColumnId(number)));
        }
    }
    WriteLevel { relation: view, within, columns, named: Vec::new() }
}

/// The SELECT of a query and its one table; or what makes the query more than that.
fn simple_selection(query: &ast::Query) -> Result<(&ast::Select, &ast::TableFactor), &'static str> {
    let select = match &*query.body {
        SetExpr::Select(select) => select,
        SetExpr::SetOperation { .. } => return Err("containing UNION, INTERSECT, or EXCEPT"),
        _ => return Err("that do not select from a single table or view"),
    };
    if select.distinct.is_some() {
        return Err("containing DISTINCT");
    }
    if !matches!(&select.group_by, ast::GroupByExpr::Expressions(list, _) if list.is_empty()) {
        return Err("containing GROUP BY");
    }
    if select.having.is_some() {
        return Err("containing HAVING");
    }
    if query.with.is_some() {
        return Err("containing WITH");
    }
    if query.limit_clause.is_some() || query.fetch.is_some() {
        return Err("containing LIMIT or OFFSET");
    }
    match select.from.as_slice() {
        [one] if one.joins.is_empty() => Ok((select, &one.relation)),
        _ => Err("that do not select from a single table or view"),
    }
}

/// Why no rows are written through a view by itself, as a hint says it; that the views below it are no better is not looked at.
pub fn refusal(ctx: &super::BindContext<'_>, view: &ViewDescriptor) -> Option<String> {
    match Binder::new(ctx.clone()).view_target(view, "update") {
        Ok((_, target)) if target.columns.iter().all(|(_, e)| target.table_column(e).is_none()) => {
            Some("Views that have no updatable columns are not automatically updatable.".to_owned())
        }
        Ok(_) => None,
        Err(error) if error.message() == format!("cannot update view \"{}\"", view.name) => error.fields().detail.clone(),
        Err(_) => None,
    }
}

/// Whether INSERT, UPDATE and DELETE can go through a view: what `information_schema` says of it.
pub fn is_updatable(ctx: &super::BindContext<'_>, view: &ViewDescriptor) -> bool {
    view.materialized.is_none() && Binder::new(ctx.clone()).view_target(view, "update").is_ok()
}

//! Reads of stored maps: each use of such a column becomes a query of the entries that it needs.
//!
//! One entry is a point of the table of entries, all entries of a row a range behind the row's key; `each` in FROM is a join with that
//! table, so that conditions and orders of its keys are ranges and orders of the table's. Comes last, when a statement is whole.

use super::map::{Use, entries_of, is_each, reads_part, stored_args, use_of};
use super::{Binder, expr::and};
use crate::typed::barrier::tells_nothing;
use crate::typed::pull_up;
use crate::typed::tree::{
    AggregateExpr, Bound, BoundBody, ColId, CteBody, Expr, ExprKind, FuncRef, JoinKind, Mutation, Output, Query, Rel, TableScan,
};
use crate::typed::walk;
use datafusion_common::ScalarValue;
use std::collections::HashSet;
use std::sync::Arc;
use stoa_pg::registry::Registry;
use stoa_pg::types::RecordType;
use stoa_pg::{PgError, PgResult, PgType, SqlType};
use stoa_table::catalog::TableDescriptor;

/// A scan of the entries of maps.
pub(super) struct EntryScan {
    scan: TableScan,
    /// That the entries are those of the row.
    condition: Expr,
    pub key: Expr,
    pub value: Expr,
}

impl EntryScan {
    pub(super) fn table(&self) -> &TableDescriptor {
        &self.scan.table
    }
}

impl Binder<'_> {
    /// Reads the maps of a statement.
    pub(super) fn read_maps(&mut self, bound: &mut Bound) -> PgResult<()> {
        if !self.has_maps {
            return Ok(());
        }
        let passed = Passed::of(bound);
        pull_up::write_out(self.ctx.eval, bound, &|id, e| passed.is_read_in_parts(id, e));
        self.used = Used::of(bound);
        for cte in &mut bound.ctes {
            match &mut cte.body {
                CteBody::Query(rel) => self.maps_in_root(rel)?,
                CteBody::Mutation(mutation) => self.maps_in_mutation(mutation)?,
            }
        }
        match &mut bound.body {
            BoundBody::Query(query) => self.maps_in_root(&mut query.rel),
            BoundBody::Mutation(mutation) => self.maps_in_mutation(mutation),
        }
    }

    fn maps_in_root(&mut self, rel: &mut Rel) -> PgResult<()> {
        self.join_entries(rel)?;
        self.maps_in(rel)
    }

    fn maps_in_mutation(&mut self, mutation: &mut Mutation) -> PgResult<()> {
        self.maps_in_root(&mut mutation.source)?;
        for e in walk::mutation_exprs_mut(mutation) {
            self.join_in_subqueries(e)?;
            self.maps_in_expr(e)?;
        }
        Ok(())
    }

    fn maps_in(&mut self, rel: &mut Rel) -> PgResult<()> {
        crate::typed::deeper(|| {
            self.entries_joined(rel)?;
            if let Some(entries) = self.entries_from(rel)? {
                let secured = self.hides_rows(&entries.scan.table);
                let of_row = Rel::Filter { input: Box::new(Rel::Scan(Box::new(entries.scan))), predicate: entries.condition };
                *rel = if secured { self.barrier(of_row) } else { of_row };
            }
            for e in walk::exprs_mut(rel) {
                self.maps_in_expr(e)?;
            }
            for child in walk::children_mut(rel) {
                self.maps_in(child)?;
            }
            Ok(())
        })
    }

    /// A row and its entries, side by side.
    fn entries_joined(&mut self, rel: &mut Rel) -> PgResult<()> {
        let Rel::Join { left, right, kind: kind @ (JoinKind::Inner | JoinKind::Left), on, lateral } = rel else { return Ok(()) };
        let Rel::ProjectSet { input, sets, outer: false, ordinality: None } = &**right else { return Ok(()) };
        let (Rel::One, [(_, set)]) = (&**input, sets.as_slice()) else { return Ok(()) };
        let given = walk::given_columns(left);
        let mut used = Vec::new();
        set.args.iter().for_each(|e| walk::columns_of(e, &mut used));
        if !*lateral || !used.iter().all(|id| given.contains(id)) {
            return Ok(());
        }
        let Some(entries) = self.entries_from(right)? else { return Ok(()) };
        let secured = self.hides_rows(&entries.scan.table);
        // What tells of entries is asked of those of the rows that are seen.
        let mut above = None;
        if secured && on.as_ref().is_some_and(|on| !tells_nothing(self.ctx.eval, on)) {
            if *kind == JoinKind::Left {
                return Ok(());
            }
            above = on.take();
        }
        let (rows, kind, on) = (std::mem::replace(&mut **left, Rel::One), *kind, on.take());
        let joined = self.beside(rows, entries, kind, on, true);
        let joined = if secured { self.barrier(joined) } else { joined };
        *rel = match above {
            Some(predicate) => Rel::Filter { input: Box::new(joined), predicate },
            None => joined,
        };
        Ok(())
    }

    /// Rows and their entries, side by side; the entries `alone` if that may be, where nothing else is asked of the rows.
    pub(super) fn beside(&self, rows: Rel, mut entries: EntryScan, kind: JoinKind, on: Option<Expr>, alone: bool) -> Rel {
        if let (Rel::Scan(row), JoinKind::Inner, true) = (&rows, kind, alone)
            && self.is_known_by_entries(row, &entries.scan)
        {
            let key = row.table.key_columns().filter_map(|part| row.columns.iter().find(|(id, _)| *id == part.column));
            for ((_, col), (_, of_row)) in entries.scan.columns.iter_mut().zip(key) {
                *col = *of_row;
            }
            let scan = Rel::Scan(Box::new(entries.scan));
            return match on {
                Some(predicate) => Rel::Filter { input: Box::new(scan), predicate },
                None => scan,
            };
        }
        let on = Some(and([entries.condition].into_iter().chain(on).collect()));
        Rel::Join { left: Box::new(rows), right: Box::new(Rel::Scan(Box::new(entries.scan))), kind, on, lateral: false }
    }

    /// Whether policies may hide rows that have entries in a table: who asks for these must not learn of the others.
    pub(super) fn hides_rows(&self, entries: &TableDescriptor) -> bool {
        let owner = entries.entries_of.and_then(|(owner, _)| self.ctx.catalog.shared_table(owner));
        owner.is_none_or(|owner| owner.row_security.enabled)
    }

    /// Whether all that a statement wants of a table's rows is in the entries that belong to them: no entry is without its row.
    fn is_known_by_entries(&self, row: &TableScan, entries: &TableScan) -> bool {
        entries.table.entries_of.is_some_and(|(table, _)| table == row.table.oid)
            && !row.table.row_security.enabled
            && row.hints.is_empty()
            && !self.used.scans.contains(&row.scan_id)
            && row.columns.iter().all(|(id, col)| row.table.is_key(*id) || !self.used.columns.contains(col))
    }

    /// The entries that `each` in FROM gives.
    fn entries_from(&mut self, rel: &Rel) -> PgResult<Option<EntryScan>> {
        let Rel::ProjectSet { input, sets, outer: false, ordinality: None } = rel else { return Ok(None) };
        let (Rel::One, [(ids, set)]) = (&**input, sets.as_slice()) else { return Ok(None) };
        let (Some(args), [key, value]) = (entries_of(set), ids.as_slice()) else { return Ok(None) };
        self.entries(args, Some((*key, *value))).map(Some)
    }

    fn maps_in_expr(&mut self, e: &mut Expr) -> PgResult<()> {
        crate::typed::deeper(|| {
            if let Some(read) = self.map_read(e)? {
                *e = read;
                return Ok(());
            }
            for child in e.children_mut() {
                self.maps_in_expr(child)?;
            }
            match &mut e.kind {
                ExprKind::ScalarSubquery(query) | ExprKind::Exists(query) | ExprKind::ArraySubquery(query) => self.maps_in(&mut query.rel),
                ExprKind::AnyQuery { query, .. } => self.maps_in(&mut query.rel),
                _ => Ok(()),
            }
        })
    }

    fn map_read(&mut self, e: &Expr) -> PgResult<Option<Expr>> {
        // A map is there where its row is.
        if let ExprKind::IsNull(arg) | ExprKind::IsNotNull(arg) = &e.kind
            && let Some(row) = stored_args(arg).and_then(|args| args.get(2)).cloned()
        {
            let is_null = matches!(e.kind, ExprKind::IsNull(_));
            let kind = if is_null { ExprKind::IsNull(Box::new(row)) } else { ExprKind::IsNotNull(Box::new(row)) };
            return Ok(Some(Expr::new(kind, e.ty.clone())));
        }
        let Some(of) = use_of(e) else { return Ok(None) };
        Ok(Some(match of {
            Use::ContainsAny(args, keys) => {
                let entries = self.entries(args, None)?;
                let ty = entries.key.ty.clone();
                let own = self.any_array(entries.key, "=", keys.to_vec(), &ty, false)?;
                let predicate = and(vec![entries.condition, own]);
                let rel = Rel::Filter { input: Box::new(Rel::Scan(Box::new(entries.scan))), predicate };
                let query = Box::new(Query { rel, outputs: vec![output("value", &entries.value)?] });
                Expr::new(ExprKind::Exists(query), e.ty.clone())
            }
            Use::Get(args, key) | Use::Contains(args, key) => {
                let mut key = key.clone();
                self.maps_in_expr(&mut key)?;
                let entries = self.entries(args, None)?;
                let own = self.operator("=", Some(entries.key), key)?;
                let predicate = and(vec![entries.condition, own]);
                let rel = Rel::Filter { input: Box::new(Rel::Scan(Box::new(entries.scan))), predicate };
                let query = Box::new(Query { rel, outputs: vec![output("value", &entries.value)?] });
                let kind = if matches!(of, Use::Get(..)) { ExprKind::ScalarSubquery(query) } else { ExprKind::Exists(query) };
                Expr::new(kind, e.ty.clone())
            }
            Use::Size(args) => {
                let entries = self.entries(args, None)?;
                let count = self.aggregate_of("count", Vec::new())?;
                let query = self.aggregated(entries, count)?;
                self.where_row_is(args, query)
            }
            Use::Whole(args) => {
                let entries = self.entries(args, None)?;
                let (key, value) = (entries.key.clone(), entries.value.clone());
                let fields = vec![("key".to_owned(), key.ty.clone()), ("value".to_owned(), value.ty.clone())];
                let ty = SqlType::new(PgType::Record(Some(Arc::new(RecordType { fields }))));
                let rows = self.aggregate_of("array_agg", vec![Expr::new(ExprKind::Row(vec![key, value]), ty)])?;
                let rows = self.aggregated(entries, rows)?;
                let map = self.map_of_entries(rows, e.ty.clone());
                self.where_row_is(args, map)
            }
        }))
    }

    /// NULL where an outer join has found no row.
    fn where_row_is(&self, args: &[Expr], value: Expr) -> Expr {
        let Some(row) = args.get(2).filter(|_| self.outer_joins) else { return value };
        let there = Expr::new(ExprKind::IsNotNull(Box::new(row.clone())), SqlType::new(PgType::Bool));
        let ty = value.ty.clone();
        Expr::new(ExprKind::Case { whens: vec![(there, value)], otherwise: None }, ty)
    }

    fn aggregate_of(&mut self, name: &str, args: Vec<Expr>) -> PgResult<AggregateExpr> {
        let func = Registry::get().functions(name).iter().find(|f| f.args.len() == args.len()).cloned();
        let func = func.ok_or_else(|| PgError::internal(format!("there is no aggregate {name}")))?;
        let ty = match args.first() {
            Some(arg) => arg.ty.array_of(),
            None => SqlType::new(func.ret.clone()),
        };
        Ok(AggregateExpr { func: FuncRef(func), args, distinct: false, order_by: Vec::new(), filter: None, within_group: false, ty })
    }

    /// An aggregate over the entries of a row.
    fn aggregated(&mut self, entries: EntryScan, aggregate: AggregateExpr) -> PgResult<Expr> {
        let input = Rel::Filter { input: Box::new(Rel::Scan(Box::new(entries.scan))), predicate: entries.condition };
        let (id, ty) = (self.new_col(), aggregate.ty.clone());
        let name = aggregate.func.0.name;
        let rel = Rel::Aggregate {
            input: Box::new(input),
            groups: Vec::new(),
            sets: None,
            aggregates: vec![(id, aggregate)],
            grouping: Vec::new(),
        };
        let query = Query { rel, outputs: vec![output(name, &Expr::column(id, ty.clone()))?] };
        Ok(Expr::new(ExprKind::ScalarSubquery(Box::new(query)), ty))
    }

    /// A scan of the entries that belong to a stored map, its key and value under `ids` if there are some.
    pub(super) fn entries(&mut self, args: &[Expr], ids: Option<(ColId, ColId)>) -> PgResult<EntryScan> {
        let [Expr { kind: ExprKind::Const(ScalarValue::UInt32(Some(oid))), .. }, time, row @ ..] = args else {
            return Err(PgError::internal("a column of maps without a table of entries"));
        };
        let table = self.ctx.catalog.shared_table(*oid).ok_or_else(|| PgError::internal("a table of entries that does not exist"))?;
        if time.ty.ty == PgType::Text {
            let name = crate::catalog::deparse::quote_name(&table.name);
            return Err(PgError::unsupported("maps are not part of the past of their table")
                .detail("Entries are known since times of their own.")
                .hint(format!("stoa_history('{name}') and {name} FOR SYSTEM_TIME tell what they were.")));
        }
        // Who may read the column may read its entries.
        self.accesses.of(None, *oid);
        self.note_use(*oid, None);
        let names: Vec<_> = table.live_columns().map(|c| (c.id, c.ty.clone())).collect();
        let mut exprs = Vec::with_capacity(names.len());
        let mut columns = Vec::with_capacity(names.len());
        for (at, (id, ty)) in names.iter().enumerate() {
            let col = match ids {
                Some((key, _)) if at == row.len() => key,
                Some((_, value)) if at == row.len() + 1 => value,
                _ => self.new_col(),
            };
            columns.push((*id, col));
            exprs.push(Expr::column(col, ty.clone()));
        }
        let [of_row @ .., key, value] = exprs.as_slice() else { return Err(PgError::internal("a table of entries without columns")) };
        let mut conditions = Vec::with_capacity(row.len());
        for (own, given) in of_row.iter().zip(row) {
            conditions.push(self.operator("=", Some(own.clone()), given.clone())?);
        }
        let sees_own = time.ty.ty == PgType::Bool;
        let (time, until) = super::map::until_of(time).map_or((time, None), |(time, until)| (time, Some(until)));
        let as_of = (!sees_own && time.ty.ty != PgType::Unknown).then(|| Box::new(time.clone()));
        let (alias, scan_id) = (table.name.clone(), self.new_scan());
        let (key, value) = (key.clone(), value.clone());
        let scan = TableScan { table, columns, alias, as_of, until, hints: Vec::new(), scan_id, rows_decided: true, sees_own };
        Ok(EntryScan { scan, condition: and(conditions), key, value })
    }
}

/// What a statement names of its relations.
#[derive(Default)]
pub(super) struct Used {
    columns: HashSet<ColId>,
    /// Scans whose rows are locked or changed.
    scans: HashSet<u32>,
}

impl Used {
    fn of(bound: &Bound) -> Self {
        let mut used = Self::default();
        for cte in &bound.ctes {
            match &cte.body {
                CteBody::Query(rel) => used.add(rel),
                CteBody::Mutation(mutation) => used.add_mutation(mutation),
            }
        }
        match &bound.body {
            BoundBody::Query(query) => {
                used.add(&query.rel);
                used.columns.extend(query.outputs.iter().map(|output| output.col));
            }
            BoundBody::Mutation(mutation) => used.add_mutation(mutation),
        }
        used
    }

    fn add(&mut self, rel: &Rel) {
        walk::visit_all(rel, &mut |node| {
            walk::exprs_of(node).into_iter().for_each(|e| self.add_expr(e));
            match node {
                Rel::SetOp { left_columns, right_columns, .. } => self.columns.extend(left_columns.iter().chain(right_columns)),
                Rel::Recursive { base_columns, step_columns, .. } => self.columns.extend(base_columns.iter().chain(step_columns)),
                Rel::Distinct { columns, .. } => self.columns.extend(columns.iter().map(|(id, _)| *id)),
                Rel::CteScan { columns, .. } => self.columns.extend(columns.iter().map(|(_, id, _)| *id)),
                Rel::Lock { scans, .. } => self.scans.extend(scans),
                _ => {}
            }
        });
    }

    fn add_mutation(&mut self, mutation: &Mutation) {
        self.add(&mutation.source);
        self.scans.extend(mutation.usage.scan);
        walk::mutation_exprs(mutation).into_iter().for_each(|e| self.add_expr(e));
    }

    fn add_expr(&mut self, e: &Expr) {
        let mut columns = Vec::new();
        walk::columns_of(e, &mut columns);
        self.columns.extend(columns);
        // Outputs of subqueries.
        walk::visit_subqueries(e, &mut |query| self.columns.extend(query.outputs.iter().map(|output| output.col)));
    }
}

/// What a statement asks of columns that projections pass on.
#[derive(Default)]
struct Passed {
    /// Columns of which not only single entries, the number of entries, or the rows of `each` are asked.
    whole: HashSet<ColId>,
    /// Columns that stand in conditions.
    asked: HashSet<ColId>,
    /// Columns under other ids.
    renamed: Vec<(ColId, ColId)>,
}

impl Passed {
    fn of(bound: &Bound) -> Self {
        let mut passed = Self::default();
        for cte in &bound.ctes {
            match &cte.body {
                CteBody::Query(rel) => {
                    passed.add(rel);
                    passed.whole.extend(cte.columns.iter().map(|(id, _)| *id));
                }
                CteBody::Mutation(mutation) => passed.add_mutation(mutation),
            }
        }
        match &bound.body {
            BoundBody::Query(query) => {
                passed.add(&query.rel);
                passed.whole.extend(query.outputs.iter().map(|output| output.col));
            }
            BoundBody::Mutation(mutation) => passed.add_mutation(mutation),
        }
        // A column under another id comes before what it is a column of.
        for (id, of) in std::mem::take(&mut passed.renamed) {
            for set in [&mut passed.whole, &mut passed.asked] {
                if set.contains(&id) {
                    set.insert(of);
                }
            }
        }
        passed
    }

    fn add_mutation(&mut self, mutation: &Mutation) {
        self.add(&mutation.source);
        let given = walk::given_columns(&mutation.source);
        self.whole.extend(given);
        walk::mutation_exprs(mutation).into_iter().for_each(|e| self.add_expr(e, false));
    }

    fn add(&mut self, rel: &Rel) {
        walk::visit_all(rel, &mut |node| {
            let asks = matches!(node, Rel::Filter { .. } | Rel::Join { .. });
            match node {
                Rel::Project { exprs, .. } => {
                    for (id, e) in exprs {
                        match e.kind {
                            ExprKind::Column(of) if of == *id => {}
                            ExprKind::Column(of) => self.renamed.push((*id, of)),
                            _ => self.add_expr(e, false),
                        }
                    }
                }
                Rel::ProjectSet { sets, .. } => {
                    for (_, set) in sets {
                        let skipped = usize::from(is_each(set) && matches!(set.args.first().map(|e| &e.kind), Some(ExprKind::Column(_))));
                        set.args.iter().skip(skipped).for_each(|e| self.add_expr(e, false));
                    }
                }
                _ => walk::exprs_of(node).into_iter().for_each(|e| self.add_expr(e, asks)),
            }
            match node {
                Rel::SetOp { left_columns, right_columns, .. } => self.whole.extend(left_columns.iter().chain(right_columns)),
                Rel::Recursive { base_columns, step_columns, .. } => self.whole.extend(base_columns.iter().chain(step_columns)),
                Rel::Distinct { columns, .. } => self.whole.extend(columns.iter().map(|(id, _)| *id)),
                Rel::CteScan { columns, .. } => self.whole.extend(columns.iter().map(|(_, id, _)| *id)),
                _ => {}
            }
        });
    }

    fn add_expr(&mut self, e: &Expr, asks: bool) {
        if let ExprKind::Column(id) = e.kind {
            self.whole.insert(id);
            self.asked.extend(asks.then_some(id));
        }
        let skipped = usize::from(reads_part(e) && matches!(e.children().first().map(|e| &e.kind), Some(ExprKind::Column(_))));
        e.children().into_iter().skip(skipped).for_each(|child| self.add_expr(child, asks));
        match &e.kind {
            ExprKind::ScalarSubquery(query)
            | ExprKind::Exists(query)
            | ExprKind::ArraySubquery(query)
            | ExprKind::AnyQuery { query, .. } => {
                self.whole.extend(query.outputs.iter().map(|output| output.col));
            }
            _ => {}
        }
    }

    /// Whether a column of a projection is better computed where it is used: of a map only parts are asked for, or a condition asks for what
    /// is made of single entries, which the planner can then go by.
    fn is_read_in_parts(&self, id: ColId, e: &Expr) -> bool {
        if stored_args(e).is_some() {
            return !self.whole.contains(&id);
        }
        let (mut stored, mut parts) = (0, 0);
        e.any(&mut |part| {
            stored += usize::from(stored_args(part).is_some());
            parts += usize::from(matches!(use_of(part), Some(Use::Get(..) | Use::Contains(..))));
            false
        });
        stored > 0 && stored == parts && self.asked.contains(&id)
    }
}

fn output(name: &str, column: &Expr) -> PgResult<Output> {
    match column.kind {
        ExprKind::Column(col) => Ok(Output { name: name.to_owned(), col, ty: column.ty.clone(), origin: None }),
        _ => Err(PgError::internal("a column that is none")),
    }
}

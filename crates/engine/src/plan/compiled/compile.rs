//! From a statement's relation to a [`CompiledQuery`].

use super::group::Group;
use super::joins::leaf_columns;
use super::kept::Keeper;
use super::keys::Keys;
use super::query::{Asked, Combine, CompiledQuery, Node, Recursion, Sort, Step, Value};
use super::read::CompiledRead;
use super::scalar::{Computed, Projection, ScalarSource};
use super::simple_scan::{Columns, conjuncts, order_of, schema_of};
use super::sink::sunk;
use super::values_row::ValuesRow;
use super::window::Window;
use crate::plan::decorrelate::given_columns;
use arrow::compute::SortOptions;
use datafusion::common::ScalarValue;
use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use stoa_exec::fulltext::TextIndexes;
use stoa_exec::nodes::lock_rows::RowLocks;
use stoa_exec::nodes::project_set::Sets;
use stoa_exec::settings::Settings;
use stoa_pg::registry::Volatility;
use stoa_pg::types::{PgType, array_item};
use stoa_pg::{EvalContext, PgResult, SqlType};
use stoa_sql::typed::branches::raises;
use stoa_sql::typed::raises::in_turn;
use stoa_sql::typed::tree::{AggregateExpr, ColId, Cte, CteId, Expr, ExprKind, JoinKind, Rel, SetExpr, SetOp, SortKey, WindowExpr};
use stoa_sql::typed::walk::{columns_of, free_columns, rewrite_rel};
use stoa_sql::typed::walk::{is_plain, is_steady};
use stoa_table::access::Preferences;

/// Ids of columns that hold the values of subqueries; those of groups are elsewhere.
const LIFTED_COLUMNS: u32 = 0x5000_0000;

/// Rows of VALUES that are still few: more are computed faster as they are than compiled first.
const FEW_VALUES: usize = 64;

/// Grouping sets that are still few: each goes through all rows.
const FEW_SETS: usize = 16;

/// Relations that compilation looks at, beyond which a statement is left to the planner.
pub(super) const MOST_RELATIONS: usize = 1024;

/// What compilation needs.
pub(super) struct Compiler<'a> {
    pub settings: &'a Settings,
    /// `None` where a read is made for each row of another: none is a search there.
    pub text: Option<&'a TextIndexes>,
    pub eval: EvalContext,
    /// The columns that anything in the statement uses.
    pub used: &'a HashSet<ColId>,
    /// How many parameters there are, those for values of outer rows included: those of rows further in come behind them.
    pub params: usize,
    /// How many columns of subqueries' values there are.
    pub lifted: &'a Cell<u32>,
    /// How many relations may still be looked at: the ways to join nested queries are many.
    pub left: &'a Cell<usize>,
    /// The statement's CTEs.
    pub ctes: &'a [Cte],
    /// The working tables of the recursions around, with their columns.
    pub working: Vec<(CteId, Columns)>,
    /// Relations are kept instead of read by keys.
    pub keeper: Option<&'a Keeper<'a>>,
}

/// A node, and the columns that it gives.
pub(super) type Compiled = Option<(Node, Columns)>;

impl CompiledQuery {
    /// Compiles a relation whose rows are given with these columns in this order, otherwise with all that are used, if it has a shape that
    /// can be run here. With `text` it may search.
    ///
    /// # Errors
    /// What the compilation of expressions raises.
    pub(crate) fn compile(
        settings: &Settings,
        text: Option<&TextIndexes>,
        used: &HashSet<ColId>,
        rel: &Rel,
        (params, ctes): (usize, &[Cte]),
        columns: Option<&[ColId]>,
    ) -> PgResult<Option<Self>> {
        // A read gives its columns in order by itself.
        if let Some(read) = CompiledRead::compile(settings, text, used, rel, columns)? {
            return Ok(Some(Self::of(Node::read(read).0, params, None)));
        }
        // The context of one execution must not be kept: it holds the transaction.
        let eval = EvalContext { settings: Arc::clone(&settings.value), ..EvalContext::default() };
        let compiler = Compiler {
            settings,
            text,
            eval,
            used,
            params,
            lifted: &Cell::new(0),
            left: &Cell::new(MOST_RELATIONS),
            ctes,
            working: Vec::new(),
            keeper: None,
        };
        let Some((root, given)) = compiler.node(rel)? else { return Ok(None) };
        let Some(order) = order_of(&given, columns) else { return Ok(None) };
        Ok(Some(Self::of(root, params, order)))
    }

    /// Compiles one row of values.
    ///
    /// # Errors
    /// What the compilation of expressions raises.
    pub(super) fn of_row(settings: &Settings, used: &HashSet<ColId>, rel: &Rel, params: usize) -> PgResult<Option<Self>> {
        let Some((row, columns)) = ValuesRow::compile(settings, used, rel)? else { return Ok(None) };
        Ok(Some(Self::of(Node::new(Step::Row(Box::new(row)), columns).0, params, None)))
    }

    fn of(root: Node, params: usize, order: Option<Vec<usize>>) -> Self {
        Self { root, params, order, misses: AtomicU32::new(0), raises: false, kept: Vec::new() }
    }
}

impl Node {
    pub(super) fn new(step: Step, columns: Columns) -> (Self, Columns) {
        (Self { step, schema: schema_of(&columns) }, columns)
    }

    pub(super) fn read(read: CompiledRead) -> (Self, Columns) {
        let columns = read.columns().clone();
        Self::new(Step::Read(Box::new(read)), columns)
    }
}

impl Compiler<'_> {
    pub(super) fn node(&self, rel: &Rel) -> PgResult<Compiled> {
        let Some(left) = self.left.get().checked_sub(1) else { return Ok(None) };
        self.left.set(left);
        if let Some(keeper) = self.keeper {
            if let Some(kept) = self.keep(keeper, rel) {
                return Ok(Some(kept));
            }
        } else if let Some(read) = CompiledRead::compile(self.settings, self.text, self.used, rel, None)? {
            return Ok(Some(Node::read(read)));
        }
        match rel {
            Rel::Join { left, right, kind: kind @ (JoinKind::Inner | JoinKind::Left), on, lateral: true } => {
                let mut conditions = Vec::new();
                on.iter().for_each(|on| conjuncts(on, &mut conditions));
                match conditions.iter().all(|e| is_plain(e)) {
                    true => self.lateral(left, sunk((**right).clone(), conditions.into_iter().cloned()), *kind == JoinKind::Left),
                    false => Ok(None),
                }
            }
            Rel::Join { left, right, kind: JoinKind::Full, on, lateral: false } => self.full_join(left, right, on.as_ref()),
            Rel::Join { kind: JoinKind::Inner | JoinKind::Left | JoinKind::Right, lateral: false, .. } => self.join(rel, Vec::new()),
            Rel::Recursive { cte, columns, base, base_columns, step, step_columns, all } => {
                self.recursion((*cte, columns), (base, base_columns), (step, step_columns), *all)
            }
            Rel::One => Ok(Some(Node::new(Step::One, Columns::new()))),
            Rel::SetOp { op, all, left, left_columns, right, right_columns, columns } => {
                self.set_operation(*op, *all, (left, left_columns), (right, right_columns), columns)
            }
            Rel::CteScan { cte, columns } => self.cte_scan(*cte, columns),
            Rel::Values { columns, rows } if rows.len() <= FEW_VALUES => self.values(columns, rows),
            Rel::ProjectSet { input, sets, outer, ordinality } => self.project_set(input, sets, *outer, *ordinality),
            Rel::Window { input, windows } => self.window(input, windows),
            Rel::DistinctOn { input, on, order } => self.first_of_each(input, on, order),
            Rel::Filter { .. } => self.filters(rel),
            Rel::Project { input, exprs } => self.project(input, exprs),
            // Each step is done with its rows before the next one begins.
            Rel::Barrier { input } => self.node(input),
            Rel::Sort { input, keys } => {
                let Some((input, columns)) = self.node(input)? else { return Ok(None) };
                let Some(sort) = self.sort(&columns, keys)? else { return Ok(None) };
                Ok(Some(Node::new(Step::Sort(Box::new(input), sort), columns)))
            }
            Rel::Lock { input, scans, strength, wait } => {
                let locks = RowLocks::new(input, scans, *strength, *wait);
                let Some((input, columns)) = self.node(input)? else { return Ok(None) };
                Ok(Some(Node::new(Step::Lock(Box::new(input), locks, None, None), columns)))
            }
            Rel::Limit { input, offset, fetch, ties: None } => self.limit(input, offset.as_ref(), fetch.as_ref()),
            Rel::Aggregate { input, groups, sets, aggregates, grouping } => {
                self.aggregate(input, (groups, sets.as_deref(), grouping), aggregates)
            }
            Rel::Distinct { input, columns: distinct } => {
                let Some((input, columns)) = self.node(input)? else { return Ok(None) };
                self.distinct(input, &columns, distinct)
            }
            _ => Ok(None),
        }
    }

    /// A set operation; of each side the relation and the columns that take part.
    fn set_operation(
        &self,
        op: SetOp,
        all: bool,
        left: (&Rel, &[ColId]),
        right: (&Rel, &[ColId]),
        columns: &Columns,
    ) -> PgResult<Compiled> {
        let Some(left) = self.side(left.0, left.1, columns)? else { return Ok(None) };
        let Some(right) = self.side(right.0, right.1, columns)? else { return Ok(None) };
        if op == SetOp::Union {
            let (node, given) = Node::new(Step::Union(vec![left, right]), columns.clone());
            return if all { Ok(Some((node, given))) } else { self.distinct(node, &given, columns) };
        }
        let values: Vec<Expr> = columns.iter().map(|(id, ty)| Expr::column(*id, ty.clone())).collect();
        let Some(keys) = Keys::compile(&self.eval, columns, &values)? else { return Ok(None) };
        let combine = Combine { left, right, op, all, keys };
        Ok(Some(Node::new(Step::Combine(Box::new(combine)), columns.clone())))
    }

    /// The rows of a CTE, which are computed first. Of each column its id here and in the CTE.
    fn cte_scan(&self, cte: CteId, columns: &[(ColId, ColId, SqlType)]) -> PgResult<Compiled> {
        let own = match self.working.iter().find(|(working, _)| *working == cte) {
            Some((_, columns)) => columns,
            None => match self.ctes.iter().find(|own| own.id == cte) {
                Some(cte) => &cte.columns,
                None => return Ok(None),
            },
        };
        let position = |(_, source, _): &(ColId, ColId, SqlType)| own.iter().position(|(id, _)| id == source);
        let Some(positions) = columns.iter().map(position).collect() else { return Ok(None) };
        let columns = columns.iter().map(|(id, _, ty)| (*id, ty.clone())).collect();
        Ok(Some(Node::new(Step::Cte(cte, positions), columns)))
    }

    /// WITH RECURSIVE; of each term the relation and the columns that are given.
    fn recursion(
        &self,
        (cte, columns): (CteId, &Columns),
        base: (&Rel, &[ColId]),
        step: (&Rel, &[ColId]),
        all: bool,
    ) -> PgResult<Compiled> {
        if self.keeper.is_some() {
            return Ok(None);
        }
        let Some(base) = self.side(base.0, base.1, columns)? else { return Ok(None) };
        let mut rounds = self.within(0);
        rounds.working.push((cte, columns.clone()));
        let Some(step) = rounds.side(step.0, step.1, columns)? else { return Ok(None) };
        let keys = match all {
            true => None,
            false => {
                let values: Vec<Expr> = columns.iter().map(|(id, ty)| Expr::column(*id, ty.clone())).collect();
                let Some(keys) = Keys::compile(&self.eval, columns, &values)? else { return Ok(None) };
                Some(keys)
            }
        };
        Ok(Some(Node::new(Step::Recursion(Box::new(Recursion { cte, base, step, keys })), columns.clone())))
    }

    /// Functions that give rows for each row.
    fn project_set(&self, input: &Rel, sets: &[(Vec<ColId>, SetExpr)], outer: bool, ordinality: Option<ColId>) -> PgResult<Compiled> {
        let Some((input, mut columns)) = self.node(input)? else { return Ok(None) };
        if sets.iter().any(|(_, set)| set.func.0.volatility == Volatility::Volatile) {
            return Ok(None);
        }
        let args: Vec<Expr> = sets.iter().flat_map(|(_, set)| set.args.iter().cloned()).collect();
        let args = match args.is_empty() {
            true => None,
            false => match Computed::compile(&self.eval, &columns, &args)? {
                Some(args) => Some(args),
                None => return Ok(None),
            },
        };
        let Some(functions) = Sets::new(sets, outer, ordinality.is_some()) else { return Ok(None) };
        for (ids, set) in sets {
            columns.extend(ids.iter().zip(&set.columns).map(|(id, (_, ty))| (*id, ty.clone())));
        }
        columns.extend(ordinality.map(|id| (id, SqlType::new(PgType::Int8))));
        Ok(Some(Node::new(Step::Sets(Box::new(input), args, functions), columns)))
    }

    /// Window functions that are used.
    fn window(&self, input: &Rel, windows: &[(ColId, WindowExpr)]) -> PgResult<Compiled> {
        let windows: Vec<_> = windows.iter().filter(|(id, _)| self.used.contains(id)).cloned().collect();
        let Some((input, columns)) = self.node(input)? else { return Ok(None) };
        if windows.is_empty() {
            return Ok(Some((input, columns)));
        }
        let Some((window, columns)) = Window::compile(&self.eval, &columns, &windows)? else { return Ok(None) };
        Ok(Some(Node::new(Step::Window(Box::new(input), Box::new(window)), columns)))
    }

    /// The first row of each key, in an order.
    fn first_of_each(&self, input: &Rel, on: &[Expr], order: &[SortKey]) -> PgResult<Compiled> {
        let Some((mut input, columns)) = self.node(input)? else { return Ok(None) };
        if !order.is_empty() {
            let Some(sort) = self.sort(&columns, order)? else { return Ok(None) };
            (input, _) = Node::new(Step::Sort(Box::new(input), sort), columns.clone());
        }
        let Some(keys) = Keys::compile(&self.eval, &columns, on)? else { return Ok(None) };
        Ok(Some(Node::new(Step::First(Box::new(input), keys), columns)))
    }

    /// Filters, all that lie upon each other: subqueries in them are asked below them.
    fn filters(&self, rel: &Rel) -> PgResult<Compiled> {
        let mut conditions = Vec::new();
        let mut input = rel;
        while let Rel::Filter { input: below, predicate } = input {
            conjuncts(predicate, &mut conditions);
            input = below;
        }
        if let Some(keeper) = self.keeper {
            return self.filter_kept(keeper, input, &conditions);
        }
        if let Some(joined) = filtered_left(input, &mut conditions) {
            let Some((node, columns)) = self.node(&joined)? else { return Ok(None) };
            return if conditions.iter().all(|e| is_plain(e)) { self.filter(node, columns, &conditions) } else { Ok(None) };
        }
        let (plain, mut asked): (Vec<&Expr>, Vec<&Expr>) = conditions.into_iter().partition(|e| is_plain(e));
        let mut below = match input {
            Rel::Join { .. } => self.join(input, plain.iter().copied().cloned().collect())?,
            _ if asked.is_empty() => match self.node(input)? {
                Some((input, columns)) => self.filter(input, columns, &plain)?,
                None => None,
            },
            _ => {
                let filtered = |rel, e: &Expr| Rel::Filter { input: Box::new(rel), predicate: e.clone() };
                self.node(&plain.iter().copied().fold(input.clone(), filtered))?
            }
        };
        if below.is_none() {
            // There may be few values to read rows by.
            for (at, condition) in asked.iter().enumerate() {
                below = self.driven(input, &plain, condition)?;
                if below.is_some() {
                    asked.remove(at);
                    break;
                }
            }
        }
        let Some((mut node, mut columns)) = below else { return Ok(None) };
        for condition in asked {
            if let Some(probe) = self.probe(&columns, condition)? {
                (node, columns) = Node::new(Step::Probe(Box::new(node), Box::new(probe)), columns);
                continue;
            }
            let mut condition = condition.clone();
            let lifted = self.lift(node, columns, &mut condition, false)?;
            let Some((below, given)) = lifted else { return Ok(None) };
            let Some(filtered) = self.filter(below, given, &[&condition])? else { return Ok(None) };
            (node, columns) = filtered;
        }
        Ok(Some((node, columns)))
    }

    /// Expressions that are used, their subqueries below them.
    fn project(&self, input: &Rel, exprs: &[(ColId, Expr)]) -> PgResult<Compiled> {
        let mut wanted: Vec<(ColId, Expr)> = exprs.iter().filter(|(id, _)| self.used.contains(id)).cloned().collect();
        let Some((mut input, mut columns)) = self.node(input)? else { return Ok(None) };
        for (_, e) in wanted.iter_mut().filter(|(_, e)| !is_plain(e)) {
            let Some(lifted) = self.lift(input, columns, e, false)? else { return Ok(None) };
            (input, columns) = lifted;
        }
        let wanted: Vec<&(ColId, Expr)> = wanted.iter().collect();
        let Some((projection, columns)) = Projection::compile(&self.eval, &columns, &wanted)? else { return Ok(None) };
        Ok(Some(Node::new(Step::Project(Box::new(input), projection), columns)))
    }

    /// OFFSET and LIMIT: rows that are locked are counted when they have been.
    fn limit(&self, input: &Rel, offset: Option<&Expr>, fetch: Option<&Expr>) -> PgResult<Compiled> {
        let (mut skip, mut limit) = (None, None);
        for (e, place) in [(offset, &mut skip), (fetch, &mut limit)] {
            if let Some(e) = e {
                let Some(source) = ScalarSource::of(&self.eval, e)? else { return Ok(None) };
                *place = Some(source);
            }
        }
        if let Rel::Lock { input, scans, strength, wait } = input {
            let locks = RowLocks::new(input, scans, *strength, *wait);
            let Some((input, columns)) = self.node(input)? else { return Ok(None) };
            return Ok(Some(Node::new(Step::Lock(Box::new(input), locks, skip, limit), columns)));
        }
        let Some((input, columns)) = self.node(input)? else { return Ok(None) };
        Ok(Some(Node::new(Step::Limit(Box::new(input), skip, limit), columns)))
    }

    /// Groups, or all rows as one, with the aggregates that are used.
    fn aggregate(
        &self,
        input: &Rel,
        (groups, sets, grouping): (&[(ColId, Expr)], Option<&[Vec<usize>]>, &[(ColId, Vec<usize>)]),
        aggregates: &[(ColId, AggregateExpr)],
    ) -> PgResult<Compiled> {
        if sets.is_some_and(|sets| sets.len() > FEW_SETS) {
            return Ok(None);
        }
        let aggregates: Vec<_> = aggregates.iter().filter(|(id, _)| self.used.contains(id)).collect();
        if groups.is_empty()
            && sets.is_none()
            && self.keeper.is_none()
            && let Some(extremes) = self.extremes(input, &aggregates)?
        {
            return Ok(Some(extremes));
        }
        let of_groups = groups.iter().map(|(_, e)| e);
        let of_aggregates = aggregates.iter().flat_map(|(_, a)| a.args.iter().chain(&a.filter).chain(a.order_by.iter().map(|k| &k.expr)));
        let Some((input, columns)) = self.grouped(input, of_groups.chain(of_aggregates))? else { return Ok(None) };
        let Some((group, columns)) = Group::compile(&self.eval, &columns, groups, (sets, grouping), &aggregates)? else { return Ok(None) };
        Ok(Some(Node::new(Step::Group(Box::new(input), Box::new(group)), columns)))
    }

    /// A side of a set operation, with the positions of its columns.
    fn side(&self, rel: &Rel, own: &[ColId], columns: &Columns) -> PgResult<Option<(Node, Vec<usize>)>> {
        let Some((node, given)) = self.node(rel)? else { return Ok(None) };
        let position =
            |(id, (_, ty)): (&ColId, &(ColId, SqlType))| given.iter().position(|(given, of)| given == id && of.arrow == ty.arrow);
        Ok(own.iter().zip(columns).map(position).collect::<Option<Vec<usize>>>().map(|positions| (node, positions)))
    }

    fn values(&self, columns: &Columns, rows: &[Vec<Expr>]) -> PgResult<Compiled> {
        let mut compiled = Vec::with_capacity(rows.len());
        for row in rows {
            let of_row = row.iter().map(|e| ScalarSource::of(&self.eval, e)).collect::<PgResult<Option<Vec<_>>>>()?;
            let Some(of_row) = of_row.filter(|of_row| of_row.len() == columns.len()) else { return Ok(None) };
            compiled.push(of_row);
        }
        Ok(Some(Node::new(Step::Values(compiled), columns.clone())))
    }

    /// What is grouped, of which only some expressions are wanted: what its filters need alone is not given.
    fn grouped<'e>(&self, input: &Rel, wanted: impl Iterator<Item = &'e Expr>) -> PgResult<Compiled> {
        if self.keeper.is_some() {
            return self.node(input);
        }
        let mut columns = Vec::new();
        wanted.for_each(|e| columns_of(e, &mut columns));
        let mut used: HashSet<ColId> = columns.into_iter().collect();
        let mut below = input;
        while let Rel::Project { input, exprs } = below {
            let mut more = Vec::new();
            exprs.iter().filter(|(id, _)| used.contains(id)).for_each(|(_, e)| columns_of(e, &mut more));
            used.extend(more);
            below = input;
        }
        match CompiledRead::compile(self.settings, self.text, &used, input, None)? {
            Some(read) => Ok(Some(Node::read(read))),
            None => self.node(input),
        }
    }

    /// Rows that differ in some columns.
    fn distinct(&self, input: Node, columns: &Columns, distinct: &Columns) -> PgResult<Compiled> {
        let groups: Vec<(ColId, Expr)> = distinct.iter().map(|(id, ty)| (*id, Expr::column(*id, ty.clone()))).collect();
        let Some((group, columns)) = Group::compile(&self.eval, columns, &groups, (None, &[]), &[])? else { return Ok(None) };
        Ok(Some(Node::new(Step::Group(Box::new(input), Box::new(group)), columns)))
    }

    /// The least or the greatest values of columns, each from an end of a key.
    fn extremes(&self, input: &Rel, aggregates: &[&(ColId, AggregateExpr)]) -> PgResult<Compiled> {
        if aggregates.is_empty() || leaf_columns(input).is_none() {
            return Ok(None);
        }
        let (mut node, mut columns) = Node::new(Step::One, Columns::new());
        for (id, a) in aggregates {
            let descending = match a.func.0.name {
                "min" => false,
                "max" => true,
                _ => return Ok(None),
            };
            let [arg] = a.args.as_slice() else { return Ok(None) };
            let ExprKind::Column(column) = arg.kind else { return Ok(None) };
            if a.filter.is_some() || arg.ty.arrow != a.ty.arrow {
                return Ok(None);
            }
            let not_null = Expr::new(ExprKind::IsNotNull(Box::new(arg.clone())), SqlType::new(PgType::Bool));
            let key = SortKey { expr: arg.clone(), descending, nulls_first: descending };
            let sorted = Rel::Sort { input: Box::new(sunk(input.clone(), [not_null])), keys: vec![key] };
            let one = Expr::new(ExprKind::Const(ScalarValue::Int64(Some(1))), SqlType::new(PgType::Int8));
            let first = Rel::Limit { input: Box::new(sorted), offset: None, fetch: Some(one), ties: None };
            let Some(read) = CompiledRead::compile(self.settings, None, self.used, &first, None)? else { return Ok(None) };
            let Some(output) = read.columns().iter().position(|(id, _)| *id == column) else { return Ok(None) };
            let (inner, _) = Node::read(read);
            columns.push((*id, a.ty.clone()));
            let value = Value { inner, values: Vec::new(), asked: Asked::One(output) };
            (node, columns) = Node::new(Step::Value(Box::new(node), Box::new(value)), columns);
        }
        Ok(Some((node, columns)))
    }

    /// Puts columns in the place of an expression's subqueries, and below it the steps that give them. With `early` the expression may
    /// leave a subquery out.
    fn lift(&self, mut input: Node, mut columns: Columns, e: &mut Expr, early: bool) -> PgResult<Compiled> {
        if !any_as_array(e) {
            return Ok(None);
        }
        let early = early || matches!(e.kind, ExprKind::Case { .. } | ExprKind::Coalesce(_) | ExprKind::And(_) | ExprKind::Or(_));
        let query = match &e.kind {
            ExprKind::ScalarSubquery(query) | ExprKind::Exists(query) | ExprKind::ArraySubquery(query) => query,
            _ => {
                for child in e.children_mut() {
                    let Some(lifted) = self.lift(input, columns, child, early)? else { return Ok(None) };
                    (input, columns) = lifted;
                }
                return Ok(Some((input, columns)));
            }
        };
        // Rows must not be locked for nothing.
        if early && !is_steady(&query.rel) {
            return Ok(None);
        }
        if !self.looks_up() {
            return Ok(None);
        }
        let (rel, values) = self.outer_to_params(&columns, query.rel.clone());
        if !free_columns(&rel).is_empty() {
            return Ok(None);
        }
        // An error waits for a row that needs the value: the planner sees to that.
        if early && values.is_empty() && raises(&self.eval, &rel, matches!(e.kind, ExprKind::ScalarSubquery(_))) {
            return Ok(None);
        }
        let Some((inner, given)) = self.within(values.len()).node(&rel)? else { return Ok(None) };
        let output = query
            .outputs
            .first()
            .and_then(|out| (0..).zip(&given).find(|(_, (id, _))| *id == out.col).map(|(at, (_, ty))| (at, &ty.arrow)));
        let asked = match (&e.kind, output, &e.ty.arrow) {
            (ExprKind::Exists(_), ..) => Asked::Exists,
            (ExprKind::ScalarSubquery(_), Some((at, given)), ty) if given == ty => Asked::One(at),
            (ExprKind::ArraySubquery(_), Some((at, given)), ty) if given == ty || Some(given) == array_item(ty) => Asked::All(at),
            _ => return Ok(None),
        };
        self.lifted.set(self.lifted.get() + 1);
        let id = ColId(LIFTED_COLUMNS + self.lifted.get());
        columns.push((id, e.ty.clone()));
        *e = Expr::column(id, e.ty.clone());
        Ok(Some(Node::new(Step::Value(Box::new(input), Box::new(Value { inner, values, asked })), columns)))
    }

    /// The compiler of a subquery in which so many values of an outer row are parameters.
    pub(super) fn within(&self, values: usize) -> Compiler<'_> {
        let text = self.text.filter(|_| values == 0);
        Compiler { eval: self.eval.clone(), text, params: self.params + values, working: self.working.clone(), ..*self }
    }

    /// A relation in which the columns of outer rows are parameters, and the positions of those that it uses.
    pub(super) fn outer_to_params(&self, outer: &Columns, mut rel: Rel) -> (Rel, Vec<usize>) {
        let mut values: Vec<usize> = Vec::new();
        rewrite_rel(&mut rel, &mut |e| {
            let ExprKind::Column(column) = e.kind else { return None };
            let position = outer.iter().position(|(c, _)| *c == column)?;
            let at = values.iter().position(|v| *v == position).unwrap_or_else(|| {
                values.push(position);
                values.len() - 1
            });
            Some(Expr { kind: ExprKind::Param(self.params + at), ..e.clone() })
        });
        (rel, values)
    }

    /// The rows of a node that pass all conditions.
    pub(super) fn filter(&self, input: Node, columns: Columns, conditions: &[&Expr]) -> PgResult<Compiled> {
        if conditions.is_empty() {
            return Ok(Some((input, columns)));
        }
        let mut conditions = conditions.to_vec();
        in_turn(&self.eval, &mut conditions);
        let mut compiled = Vec::with_capacity(conditions.len());
        for condition in conditions {
            let Some(condition) = Computed::condition(&self.eval, &columns, condition)? else { return Ok(None) };
            compiled.push(condition);
        }
        Ok(Some(Node::new(Step::Filter(Box::new(input), compiled), columns)))
    }

    fn sort(&self, columns: &Columns, keys: &[SortKey]) -> PgResult<Option<Sort>> {
        let exprs: Vec<Expr> = keys.iter().map(|k| k.expr.clone()).collect();
        let options = keys.iter().map(|k| SortOptions { descending: k.descending, nulls_first: k.nulls_first }).collect();
        Ok(Computed::compile_keys(&self.eval, columns, &exprs)?.map(|keys| Sort { keys, options }))
    }

    /// Whether joins by key may be made.
    pub(super) fn looks_up(&self) -> bool {
        Preferences::new(|name| self.settings.raw(name), &[]).lookup_join
    }
}

/// A join with a subquery that uses columns of its left side, with those of the conditions that need this side alone on it: the others
/// are left. `None` if the relation is none, or no condition needs the left side alone.
fn filtered_left(rel: &Rel, conditions: &mut Vec<&Expr>) -> Option<Rel> {
    let Rel::Join { left, right, kind: kind @ (JoinKind::Inner | JoinKind::Left), on, lateral: true } = rel else { return None };
    let given = given_columns(left);
    let of_left = |e: &&Expr| {
        let mut columns = Vec::new();
        columns_of(e, &mut columns);
        is_plain(e) && !columns.is_empty() && columns.iter().all(|c| given.contains(c))
    };
    let (own, rest): (Vec<&Expr>, Vec<&Expr>) = conditions.iter().copied().partition(of_left);
    if own.is_empty() {
        return None;
    }
    *conditions = rest;
    let filtered = |rel, e: &Expr| Rel::Filter { input: Box::new(rel), predicate: e.clone() };
    let left = own.into_iter().fold((**left).clone(), filtered);
    Some(Rel::Join { left: Box::new(left), right: right.clone(), kind: *kind, on: on.clone(), lateral: true })
}

/// Writes a comparison with the rows of a query of one column as one with the array of them; `false` for what that cannot say.
fn any_as_array(e: &mut Expr) -> bool {
    let ExprKind::AnyQuery { left, opers, query, all } = &mut e.kind else { return true };
    let (&[_], [oper], [output]) = (&left[..], opers.as_slice(), query.outputs.as_slice()) else { return false };
    if output.ty.ty.element().is_some() {
        return false;
    }
    let ty = output.ty.array_of();
    let (oper, all) = (oper.clone(), *all);
    let Some(left) = left.pop() else { return false };
    let array = Expr::new(ExprKind::ArraySubquery(query.clone()), ty);
    e.kind = ExprKind::AnyArray { left: Box::new(left), oper, array: Box::new(array), all };
    true
}

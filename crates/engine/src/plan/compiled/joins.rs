//! The order of joins by key: each relation is read by what those before it have given.

use super::both_sides::{BothSides, Unmatched};
use super::compile::{Compiled, Compiler};
use super::query::{Join, Node, Probe, Step};
use super::read::CompiledRead;
use super::simple_scan::{Columns, conjuncts};
use super::sink::{reduced, sunk};
use crate::plan::decorrelate::given_columns;
use std::collections::HashSet;
use stoa_pg::PgResult;
use stoa_sql::typed::tree::{ColId, Expr, ExprKind, JoinKind, Query, Rel};
use stoa_sql::typed::walk::{columns_of, free_columns};
use stoa_sql::typed::walk::{is_plain, is_steady};

/// One side of some join.
struct Relation<'a> {
    rel: &'a Rel,
    columns: HashSet<ColId>,
    kind: RelationKind,
    /// The condition under which it is joined to what stands left of it, if rows without a match are kept.
    optional: Option<Vec<Expr>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RelationKind {
    /// What may be read by a key.
    Leaf,
    /// Rows that are there.
    Values,
    /// The rows of a query.
    Query,
}

impl RelationKind {
    /// `None` for what is never short.
    fn of(rel: &Rel) -> Option<Self> {
        match rel {
            Rel::Scan(_) => Some(RelationKind::Leaf),
            Rel::One | Rel::Values { .. } | Rel::CteScan { .. } => Some(RelationKind::Values),
            Rel::ProjectSet { input, .. } if matches!(**input, Rel::One) => Some(RelationKind::Values),
            Rel::Filter { input, .. } | Rel::Project { input, .. } => Self::of(input),
            Rel::ProjectSet { .. }
            | Rel::Aggregate { .. }
            | Rel::Distinct { .. }
            | Rel::DistinctOn { .. }
            | Rel::SetOp { .. }
            | Rel::Window { .. }
            | Rel::Sort { .. }
            | Rel::Recursive { .. }
            | Rel::Join { .. }
            | Rel::Barrier { .. }
            | Rel::Limit { .. } => Some(RelationKind::Query),
            Rel::Batches { .. } | Rel::History(_) | Rel::Virtual { .. } | Rel::Sample { .. } | Rel::Lock { .. } => None,
        }
    }
}

/// What is joined, and under which conditions.
#[derive(Default)]
struct Joins<'a> {
    relations: Vec<Relation<'a>>,
    conditions: Vec<Expr>,
}

impl<'a> Joins<'a> {
    /// Takes inner joins, and outer ones along the side whose rows are kept, apart; `None` if something among them is never short.
    fn flatten(&mut self, rel: &'a Rel) -> Option<()> {
        match rel {
            Rel::Filter { input, predicate } => {
                self.demand(predicate);
                self.flatten(input)
            }
            Rel::Join { left, right, kind, on, lateral: false } => {
                let (kept, other) = match reduced(*kind, left, right, &self.conditions) {
                    JoinKind::Inner => {
                        on.iter().for_each(|on| self.demand(on));
                        self.flatten(left)?;
                        return self.flatten(right);
                    }
                    JoinKind::Left => (left, right),
                    JoinKind::Right => (right, left),
                    JoinKind::Full | JoinKind::Semi | JoinKind::Anti => return self.add(rel, None),
                };
                self.flatten(kept)?;
                let mut conditions = Vec::new();
                on.iter().for_each(|on| conjuncts(on, &mut conditions));
                self.add(other, Some(conditions.into_iter().cloned().collect()))
            }
            _ => self.add(rel, None),
        }
    }

    fn demand(&mut self, predicate: &Expr) {
        let mut conditions = Vec::new();
        conjuncts(predicate, &mut conditions);
        self.conditions.extend(conditions.into_iter().cloned());
    }

    fn add(&mut self, rel: &'a Rel, optional: Option<Vec<Expr>>) -> Option<()> {
        let kind = RelationKind::of(rel)?;
        let columns = match kind {
            RelationKind::Leaf => leaf_columns(rel)?,
            _ => given_columns(rel),
        };
        self.relations.push(Relation { rel, columns, kind, optional });
        Some(())
    }
}

/// The columns of a scan, or of conditions and projections over one.
pub(super) fn leaf_columns(rel: &Rel) -> Option<HashSet<ColId>> {
    match rel {
        Rel::Scan(scan) => Some(scan.columns.iter().map(|(_, id)| *id).collect()),
        Rel::Filter { input, .. } => leaf_columns(input),
        Rel::Project { input, exprs } => leaf_columns(input).map(|_| exprs.iter().map(|(id, _)| *id).collect()),
        _ => None,
    }
}

/// What has been joined so far.
struct Joined {
    node: Node,
    columns: Columns,
}

impl Joined {
    fn has(&self, column: ColId) -> bool {
        self.columns.iter().any(|(c, _)| *c == column)
    }
}

impl Compiler<'_> {
    /// Joins under conditions.
    pub(super) fn join(&self, rel: &Rel, conditions: Vec<Expr>) -> PgResult<Compiled> {
        if !self.looks_up() || self.keeper.is_some() {
            return Ok(None);
        }
        let mut joins = Joins { conditions, ..Joins::default() };
        if joins.flatten(rel).is_none() {
            return Ok(None);
        }
        let Joins { mut relations, mut conditions } = joins;
        let of_optional = relations.iter().filter_map(|r| r.optional.as_ref()).flatten();
        if !conditions.iter().chain(of_optional).all(is_plain) {
            return Ok(None);
        }
        // A single relation is none to be joined, and shown by itself.
        if let ([only], true) = (relations.as_slice(), matches!(rel, Rel::Join { .. }))
            && std::ptr::eq(only.rel, rel)
        {
            let Some((node, columns)) = self.node(rel)? else { return Ok(None) };
            return self.filter(node, columns, &conditions.iter().collect::<Vec<_>>());
        }
        let mut joined: Option<Joined> = None;
        while !relations.is_empty() {
            let made = match self.next(joined.as_ref(), &relations, &conditions)? {
                Some((at, next, taken)) => {
                    let optional = relations.remove(at).optional.is_some();
                    for condition in taken.iter().rev() {
                        conditions.remove(*condition);
                    }
                    match joined {
                        None => Node::read(next.read),
                        Some(before) => Self::joined((before.node, before.columns), next, optional),
                    }
                }
                None => {
                    let Some((at, made)) = self.next_query(joined, &relations, &mut conditions)? else { return Ok(None) };
                    relations.remove(at);
                    made
                }
            };
            let Some(decided) = self.decided(made, &mut conditions)? else { return Ok(None) };
            joined = Some(decided);
        }
        if !conditions.is_empty() {
            return Ok(None);
        }
        Ok(joined.map(|joined| (joined.node, joined.columns)))
    }

    /// A relation whose rows are there or those of a query, joined to what was joined: where no other can be read by a key.
    fn next_query(
        &self,
        joined: Option<Joined>,
        relations: &[Relation<'_>],
        conditions: &mut Vec<Expr>,
    ) -> PgResult<Option<(usize, (Node, Columns))>> {
        // Rows that are there come first.
        let of = |kind| (0..).zip(relations).filter(move |(_, relation)| relation.kind == kind);
        for (at, relation) in of(RelationKind::Values).chain(of(RelationKind::Query)) {
            let known = |column: &ColId| relation.columns.contains(column) || joined.as_ref().is_some_and(|j| j.has(*column));
            let about = |e: &Expr| {
                let used = uses(e);
                used.iter().any(|c| relation.columns.contains(c)) && used.iter().all(known)
            };
            let on: Vec<Expr> = match &relation.optional {
                Some(_) if joined.is_none() => continue,
                Some(on) if !on.iter().all(|e| uses(e).iter().all(known)) => continue,
                Some(on) => on.clone(),
                None => conditions.iter().filter(|e| about(e)).cloned().collect(),
            };
            let made = match &joined {
                None => self.node(&sunk(relation.rel.clone(), on.iter().cloned()))?.map(Inner::Alone),
                // What locks rows or differs each time is not asked for some of its rows.
                Some(_) if !is_steady(relation.rel) => None,
                Some(before) => self.inner_query(&before.columns, relation, &on)?,
            };
            let Some(inner) = made else { continue };
            if relation.optional.is_none() {
                conditions.retain(|e| !on.contains(e));
            }
            let optional = relation.optional.is_some();
            let made = match (joined, inner) {
                (None, Inner::Alone(made)) => Some(made),
                (None, Inner::EachRow(..)) => None,
                (Some(before), Inner::EachRow((inner, given), values)) => {
                    let columns = [before.columns, given].concat();
                    Some(Node::new(Step::Join(Box::new(Join { outer: before.node, inner, values, optional })), columns))
                }
                (Some(before), Inner::Alone((inner, given))) => {
                    let rest: Vec<Expr> = on.into_iter().filter(|e| !relation.is_about_itself(e)).collect();
                    let unmatched = if optional { Unmatched::Left } else { Unmatched::None };
                    self.both_sides((before.node, before.columns), (inner, given), &rest, unmatched)?
                }
            };
            return Ok(made.map(|made| (at, made)));
        }
        Ok(None)
    }

    /// The rows of a query for each outer row, if those narrow what it reads, or all of them.
    fn inner_query(&self, outer: &Columns, relation: &Relation<'_>, on: &[Expr]) -> PgResult<Option<Inner>> {
        let each_row = match relation.kind {
            RelationKind::Query => self.for_each_row(outer, sunk(relation.rel.clone(), on.iter().cloned()))?,
            RelationKind::Leaf | RelationKind::Values => None,
        };
        if each_row.as_ref().is_some_and(|each_row| each_row.keyed) {
            return Ok(each_row.map(|each_row| Inner::EachRow(each_row.inner, each_row.values)));
        }
        let own = on.iter().filter(|e| relation.is_about_itself(e)).cloned();
        if let Some(alone) = self.node(&sunk(relation.rel.clone(), own))? {
            return Ok(Some(Inner::Alone(alone)));
        }
        Ok(each_row.map(|each_row| Inner::EachRow(each_row.inner, each_row.values)))
    }

    /// A relation in which outer columns are parameters.
    fn for_each_row(&self, outer: &Columns, rel: Rel) -> PgResult<Option<EachRow>> {
        let (rel, values) = self.outer_to_params(outer, rel);
        if values.is_empty() || !free_columns(&rel).is_empty() {
            return Ok(None);
        }
        let Some(inner) = self.within(values.len()).node(&rel)? else { return Ok(None) };
        let keyed = inner.0.is_keyed_by(&(self.params..self.params + values.len()));
        Ok(Some(EachRow { inner, values, keyed }))
    }

    /// A join of two nodes.
    fn both_sides(&self, left: (Node, Columns), right: (Node, Columns), on: &[Expr], unmatched: Unmatched) -> PgResult<Compiled> {
        let ((left, of_left), (right, of_right)) = (left, right);
        let Some(join) = BothSides::compile(&self.eval, (left, &of_left), (right, &of_right), on, unmatched)? else { return Ok(None) };
        Ok(Some(Node::new(Step::BothSides(Box::new(join)), [of_left, of_right].concat())))
    }

    /// A FULL join.
    pub(super) fn full_join(&self, left: &Rel, right: &Rel, on: Option<&Expr>) -> PgResult<Compiled> {
        let mut conditions = Vec::new();
        on.into_iter().for_each(|on| conjuncts(on, &mut conditions));
        if !self.looks_up() || self.keeper.is_some() || !conditions.iter().all(|e| is_plain(e)) {
            return Ok(None);
        }
        let Some(left) = self.node(left)? else { return Ok(None) };
        let Some(right) = self.node(right)? else { return Ok(None) };
        let conditions: Vec<Expr> = conditions.into_iter().cloned().collect();
        self.both_sides(left, right, &conditions, Unmatched::Both)
    }

    /// What was joined under the conditions that can be decided now and were not: those on rows that may be NULL, for example.
    fn decided(&self, (node, columns): (Node, Columns), conditions: &mut Vec<Expr>) -> PgResult<Option<Joined>> {
        let has = |column: &ColId| columns.iter().any(|(c, _)| c == column);
        let (ready, rest): (Vec<Expr>, Vec<Expr>) = std::mem::take(conditions).into_iter().partition(|e| uses(e).iter().all(has));
        *conditions = rest;
        let filtered = self.filter(node, columns, &ready.iter().collect::<Vec<_>>())?;
        Ok(filtered.map(|(node, columns)| Joined { node, columns }))
    }

    /// A read for each row of a node.
    fn joined((outer, mut columns): (Node, Columns), next: Next, optional: bool) -> (Node, Columns) {
        let given = next.read.columns().clone();
        columns.extend(given.iter().cloned());
        let (inner, _) = Node::read(next.read);
        Node::new(Step::Join(Box::new(Join { outer, inner, values: next.values, optional })), columns)
    }

    /// A subquery that uses columns of the relation left of it.
    pub(super) fn lateral(&self, left: &Rel, right: Rel, optional: bool) -> PgResult<Compiled> {
        if !self.looks_up() {
            return Ok(None);
        }
        let Some((outer, mut columns)) = self.node(left)? else { return Ok(None) };
        let (rel, values) = self.outer_to_params(&columns, right);
        if !free_columns(&rel).is_empty() {
            return Ok(None);
        }
        let Some((inner, given)) = self.within(values.len()).node(&rel)? else { return Ok(None) };
        columns.extend(given);
        Ok(Some(Node::new(Step::Join(Box::new(Join { outer, inner, values, optional })), columns)))
    }

    /// The rows of a relation for the values that a subquery gives, each once, where the relation is read by those.
    pub(super) fn driven(&self, rel: &Rel, plain: &[&Expr], condition: &Expr) -> PgResult<Compiled> {
        let Some((query, equal)) = equal_to_some(condition) else { return Ok(None) };
        if !self.looks_up() || leaf_columns(rel).is_none() || !equal.iter().all(is_plain) || !free_columns(&query.rel).is_empty() {
            return Ok(None);
        }
        let columns = query.outputs.iter().map(|out| (out.col, out.ty.clone())).collect();
        let Some(values) = self.node(&Rel::Distinct { input: Box::new(query.rel.clone()), columns })? else { return Ok(None) };
        let conditions: Vec<Expr> = plain.iter().map(|e| (*e).clone()).chain(equal).collect();
        let next = self.inner(&values.1, sunk(rel.clone(), conditions))?;
        Ok(next.map(|next| Self::joined(values, next, false)))
    }

    /// A relation that can be read now, with the conditions that its read answers: one that gives one row, before others.
    fn next(
        &self,
        joined: Option<&Joined>,
        relations: &[Relation<'_>],
        conditions: &[Expr],
    ) -> PgResult<Option<(usize, Next, Vec<usize>)>> {
        let mut found = None;
        for (at, relation) in relations.iter().enumerate().filter(|(_, relation)| relation.kind == RelationKind::Leaf) {
            let known = |column: &ColId| relation.columns.contains(column) || joined.is_some_and(|j| j.has(*column));
            let (own, taken): (Vec<Expr>, Vec<usize>) = match &relation.optional {
                Some(_) if joined.is_none() => continue,
                Some(on) if !on.iter().all(|e| uses(e).iter().all(known)) => continue,
                Some(on) => (on.clone(), Vec::new()),
                None => {
                    let of_it = |e: &Expr| {
                        let used = uses(e);
                        used.iter().any(|c| relation.columns.contains(c)) && used.iter().all(known)
                    };
                    let taken: Vec<usize> = (0..).zip(conditions).filter(|(_, e)| of_it(e)).map(|(n, _)| n).collect();
                    (taken.iter().filter_map(|n| conditions.get(*n).cloned()).collect(), taken)
                }
            };
            let Some(next) = self.read(joined, relation, own)? else { continue };
            if next.read.is_single() {
                return Ok(Some((at, next, taken)));
            }
            found.get_or_insert((at, next, taken));
        }
        Ok(found)
    }

    /// The read of a relation under conditions, in which columns of what was joined are parameters.
    fn read(&self, joined: Option<&Joined>, relation: &Relation<'_>, conditions: Vec<Expr>) -> PgResult<Option<Next>> {
        let none = Columns::new();
        self.inner(joined.map_or(&none, |joined| &joined.columns), sunk(relation.rel.clone(), conditions))
    }

    /// The read of a relation for a row of the outer side, whose columns are parameters there.
    fn inner(&self, outer: &Columns, rel: Rel) -> PgResult<Option<Next>> {
        let (rel, values) = self.outer_to_params(outer, rel);
        if !free_columns(&rel).is_empty() {
            return Ok(None);
        }
        let text = self.text.filter(|_| outer.is_empty());
        Ok(CompiledRead::compile(self.settings, text, self.used, &rel, None)?.map(|read| Next { read, values }))
    }

    /// What EXISTS, NOT EXISTS or IN asks of each row of a node; `None` if a condition is nothing of that kind.
    pub(super) fn probe(&self, outer: &Columns, condition: &Expr) -> PgResult<Option<Probe>> {
        let (query, anti, equal) = match &condition.kind {
            ExprKind::Exists(query) => (&**query, false, Vec::new()),
            ExprKind::Not(inner) => match &inner.kind {
                ExprKind::Exists(query) => (&**query, true, Vec::new()),
                _ => return Ok(None),
            },
            ExprKind::AnyQuery { .. } => match equal_to_some(condition) {
                Some((query, equal)) => (query, false, equal),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        if !self.looks_up() || !equal.iter().all(is_plain) {
            return Ok(None);
        }
        if leaf_columns(&query.rel).is_some() {
            let next = self.inner(outer, sunk(query.rel.clone(), equal))?;
            return Ok(next.map(|Next { read, values }| Probe { inner: Node::read(read).0, values, anti }));
        }
        // The rows of groups, for example, where the values narrow what they are made of.
        if equal.is_empty() || !is_steady(&query.rel) {
            return Ok(None);
        }
        let each_row = self.for_each_row(outer, sunk(query.rel.clone(), equal))?;
        Ok(each_row.filter(|each_row| each_row.keyed).map(|EachRow { inner: (inner, _), values, .. }| Probe { inner, values, anti }))
    }
}

/// The query of an IN, and what makes a row of it equal to the values left of it.
fn equal_to_some(condition: &Expr) -> Option<(&Query, Vec<Expr>)> {
    let ExprKind::AnyQuery { left, opers, query, all: false } = &condition.kind else { return None };
    if opers.iter().any(|o| o.0.name != "=") {
        return None;
    }
    let sides = left.iter().zip(opers).zip(&query.outputs);
    let equal = sides.map(|((left, oper), out)| {
        let args = vec![left.clone(), Expr::column(out.col, out.ty.clone())];
        Expr::new(ExprKind::Oper { oper: oper.clone(), args }, condition.ty.clone())
    });
    Some((query, equal.collect()))
}

impl Relation<'_> {
    /// Whether a condition is on its columns alone.
    fn is_about_itself(&self, e: &Expr) -> bool {
        uses(e).iter().all(|column| self.columns.contains(column))
    }
}

/// A query that is joined to what was joined before.
enum Inner {
    /// For each outer row, whose columns at these positions are parameters.
    EachRow((Node, Columns), Vec<usize>),
    /// All of its rows, under the conditions that are on it alone.
    Alone((Node, Columns)),
}

/// See [`Compiler::for_each_row`].
struct EachRow {
    inner: (Node, Columns),
    values: Vec<usize>,
    /// The parameters narrow what is read.
    keyed: bool,
}

/// A read and the outer columns that are its parameters.
struct Next {
    read: CompiledRead,
    values: Vec<usize>,
}

fn uses(e: &Expr) -> Vec<ColId> {
    let mut out = Vec::new();
    columns_of(e, &mut out);
    out
}

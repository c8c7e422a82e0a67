//! The order of joins by key: each relation is read by what those before it have given.

use super::compile::{Compiled, Compiler};
use super::query::{Join, Node, Probe, Step};
use super::read::CompiledRead;
use super::simple_scan::{Columns, conjuncts};
use crate::plan::decorrelate::given_columns;
use crate::typed::tree::{ColId, Expr, ExprKind, JoinKind, Query, Rel};
use crate::typed::walk::is_plain;
use crate::typed::walk::{columns_of, free_columns};
use std::collections::HashSet;
use stoa_pg::PgResult;

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
    /// The rows of a query, with which joins may begin.
    Query,
}

impl RelationKind {
    /// `None` for other joins, and for what is never short.
    fn of(rel: &Rel) -> Option<Self> {
        match rel {
            Rel::Scan(_) => Some(RelationKind::Leaf),
            Rel::Values { .. } | Rel::CteScan { .. } => Some(RelationKind::Values),
            Rel::ProjectSet { input, .. } if matches!(**input, Rel::One) => Some(RelationKind::Values),
            Rel::Filter { input, .. } | Rel::Project { input, .. } => Self::of(input),
            Rel::ProjectSet { .. }
            | Rel::Aggregate { .. }
            | Rel::Distinct { .. }
            | Rel::DistinctOn { .. }
            | Rel::SetOp { .. }
            | Rel::Window { .. }
            | Rel::Limit { .. } => Some(RelationKind::Query),
            _ => None,
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
    /// Takes inner and left joins apart; `None` if there is another node among them.
    fn flatten(&mut self, rel: &'a Rel) -> Option<()> {
        match rel {
            Rel::Filter { input, predicate } => {
                self.demand(predicate);
                self.flatten(input)
            }
            Rel::Join { left, right, kind: JoinKind::Inner, on, lateral: false } => {
                self.flatten(left)?;
                self.flatten(right)?;
                on.iter().for_each(|on| self.demand(on));
                Some(())
            }
            Rel::Join { left, right, kind: JoinKind::Left, on, lateral: false } => {
                self.flatten(left)?;
                let mut conditions = Vec::new();
                on.iter().for_each(|on| conjuncts(on, &mut conditions));
                self.add(right, Some(conditions.into_iter().cloned().collect()))
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
            _ if optional.is_some() => return None,
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

/// A scan under conditions: below its projections, in terms of the columns there.
pub(super) fn under(rel: &Rel, mut conditions: Vec<Expr>) -> Rel {
    match rel {
        Rel::Project { input, exprs } => {
            for condition in &mut conditions {
                substitute(condition, exprs);
            }
            Rel::Project { input: Box::new(under(input, conditions)), exprs: exprs.clone() }
        }
        _ => conditions.into_iter().fold(rel.clone(), |rel, predicate| Rel::Filter { input: Box::new(rel), predicate }),
    }
}

/// Puts the expressions of a projection in the place of its columns.
fn substitute(e: &mut Expr, exprs: &[(ColId, Expr)]) {
    if let ExprKind::Column(column) = e.kind {
        if let Some((_, below)) = exprs.iter().find(|(id, _)| *id == column) {
            *e = below.clone();
        }
        return;
    }
    e.children_mut().into_iter().for_each(|child| substitute(child, exprs));
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
        let mut joined: Option<Joined> = None;
        while !relations.is_empty() {
            let Some((at, next, taken)) = self.next(joined.as_ref(), &relations, &conditions)? else {
                let Some(at) = Self::next_rows(joined.is_none(), &relations) else { return Ok(None) };
                let relation = relations.remove(at);
                let (own, rest): (Vec<Expr>, Vec<Expr>) = conditions.into_iter().partition(|e| {
                    let used = uses(e);
                    !used.is_empty() && used.iter().all(|c| relation.columns.contains(c))
                });
                conditions = rest;
                let Some((inner, given)) = self.node(&under(relation.rel, own))? else { return Ok(None) };
                let made = match joined {
                    None => (inner, given),
                    Some(before) => {
                        let columns = [before.columns, given].concat();
                        let join = Join { outer: before.node, inner, values: Vec::new(), optional: false };
                        Node::new(Step::Join(Box::new(join)), columns)
                    }
                };
                let Some(decided) = self.decided(made, &mut conditions)? else { return Ok(None) };
                joined = Some(decided);
                continue;
            };
            let relation = relations.remove(at);
            for condition in taken.iter().rev() {
                conditions.remove(*condition);
            }
            let made = match joined {
                None => Node::read(next.read),
                Some(before) => Self::joined((before.node, before.columns), next, relation.optional.is_some()),
            };
            let Some(decided) = self.decided(made, &mut conditions)? else { return Ok(None) };
            joined = Some(decided);
        }
        if !conditions.is_empty() {
            return Ok(None);
        }
        Ok(joined.map(|joined| (joined.node, joined.columns)))
    }

    /// What was joined under the conditions that can be decided now and were not: those on rows that may be NULL, for example.
    fn decided(&self, (node, columns): (Node, Columns), conditions: &mut Vec<Expr>) -> PgResult<Option<Joined>> {
        let has = |column: &ColId| columns.iter().any(|(c, _)| c == column);
        let (ready, rest): (Vec<Expr>, Vec<Expr>) = std::mem::take(conditions).into_iter().partition(|e| uses(e).iter().all(has));
        *conditions = rest;
        let filtered = self.filter(node, columns, &ready.iter().collect::<Vec<_>>())?;
        Ok(filtered.map(|(node, columns)| Joined { node, columns }))
    }

    /// A relation whose rows are taken as they are, where no other can be read: one with values, or a query before everything else.
    fn next_rows(first: bool, relations: &[Relation<'_>]) -> Option<usize> {
        let of = |kind| relations.iter().position(|r| r.kind == kind && r.optional.is_none());
        of(RelationKind::Values).or_else(|| of(RelationKind::Query).filter(|_| first))
    }

    /// A read for each row of a node.
    fn joined((outer, mut columns): (Node, Columns), next: Next, optional: bool) -> (Node, Columns) {
        let given = next.read.columns().clone();
        columns.extend(given.iter().cloned());
        let (inner, _) = Node::read(next.read);
        Node::new(Step::Join(Box::new(Join { outer, inner, values: next.values, optional })), columns)
    }

    /// A subquery that uses columns of the relation left of it.
    pub(super) fn lateral(&self, left: &Rel, right: &Rel, optional: bool) -> PgResult<Compiled> {
        if !self.looks_up() {
            return Ok(None);
        }
        let Some((outer, mut columns)) = self.node(left)? else { return Ok(None) };
        let (rel, values) = self.outer_to_params(&columns, right.clone());
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
        let conditions = plain.iter().map(|e| (*e).clone()).chain(equal).collect();
        let next = self.inner(&values.1, under(rel, conditions))?;
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
        self.inner(joined.map_or(&none, |joined| &joined.columns), under(relation.rel, conditions))
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
        if !self.looks_up() || leaf_columns(&query.rel).is_none() || !equal.iter().all(is_plain) {
            return Ok(None);
        }
        let next = self.inner(outer, under(&query.rel, equal))?;
        Ok(next.map(|Next { read, values }| Probe { inner: read, values, anti }))
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

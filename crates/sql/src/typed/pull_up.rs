//! Columns of subqueries in FROM that may raise an error are computed where they are used, and only there.
//!
//! `SELECT x FROM (SELECT n, 10 / n AS x FROM t) q WHERE n = 0 OR x > 1` divides where the condition asks for it: PostgreSQL makes one query
//! of the two. So does this, for columns whose computation may raise: their expression takes the place of the column in all that stands
//! above within the query, and what it reads is passed through. Where rows are distinguished, counted or cut off in between, the column
//! stays what it is.
//!
//! Invariant: a relation that goes to its end without an error gives the rows that it gave before.

use crate::typed::deeper;
use crate::typed::guard::as_test;
use crate::typed::raises::may_raise;
use crate::typed::tree::{Bound, BoundBody, ColId, CteBody, Expr, ExprKind, JoinKind, Mutation, MutationKind, OnConflict, Rel};
use crate::typed::walk;
use crate::typed::walk::{given_columns, walk_volatile};
use std::collections::HashMap;
use stoa_pg::{EvalContext, SqlType};

/// Nodes of an expression beyond which it is not written out again.
const MOST_NODES: usize = 100;

/// ORs within ORs whose alternatives are compared.
const MOST_LEVELS: usize = 4;

/// What columns stand for.
type Meanings = HashMap<ColId, Expr>;

/// Writes such columns out in a statement.
pub fn pull_up(eval: &EvalContext, bound: &mut Bound) {
    PullUp { eval, only: None }.all(bound);
}

/// Writes columns of projections out where they are used, of which `only` is true, and does nothing else.
pub fn write_out(eval: &EvalContext, bound: &mut Bound, only: &dyn Fn(ColId, &Expr) -> bool) {
    PullUp { eval, only: Some(only) }.all(bound);
}

struct PullUp<'a> {
    eval: &'a EvalContext,
    /// The columns that are meant, where it is not those that may raise.
    only: Option<&'a dyn Fn(ColId, &Expr) -> bool>,
}

impl PullUp<'_> {
    fn all(&self, bound: &mut Bound) {
        for cte in &mut bound.ctes {
            match &mut cte.body {
                CteBody::Query(rel) => self.closed(rel),
                CteBody::Mutation(mutation) => self.mutation(mutation),
            }
        }
        match &mut bound.body {
            BoundBody::Query(query) => self.closed(&mut query.rel),
            BoundBody::Mutation(mutation) => self.mutation(mutation),
        }
    }

    fn mutation(&self, mutation: &mut Mutation) {
        self.closed(&mut mutation.source);
        let conditions: Vec<&mut Expr> = match &mut mutation.kind {
            MutationKind::Insert { on_conflict: OnConflict::DoUpdate { condition, .. }, .. } => condition.iter_mut().collect(),
            MutationKind::Merge { arms, .. } => arms.iter_mut().filter_map(|arm| arm.condition.as_mut()).collect(),
            _ => Vec::new(),
        };
        let checks = mutation.checks.checks.iter_mut().map(|check| &mut check.condition);
        if self.only.is_none() {
            conditions.into_iter().chain(checks).for_each(|condition| as_test(self.eval, condition));
        }
        for e in walk::mutation_exprs_mut(mutation) {
            if self.only.is_none() {
                super::branches::tell(self.eval, e);
            }
            walk::subqueries_mut(e, &mut |query| self.closed(&mut query.rel));
        }
    }

    /// A relation that keeps its columns.
    fn closed(&self, rel: &mut Rel) {
        self.rel(rel, false);
    }

    /// Goes through a relation. An open one may give more columns, and says what those stand for that may be written out above it.
    fn rel(&self, rel: &mut Rel, open: bool) -> Meanings {
        let mut meanings = match rel {
            Rel::Project { input, .. } | Rel::Aggregate { input, .. } => self.rel(input, true),
            Rel::Filter { input, .. } | Rel::Sort { input, .. } | Rel::Window { input, .. } | Rel::Lock { input, .. } => {
                self.rel(input, open)
            }
            Rel::Join { left, right, lateral, .. } => {
                let mut meanings = self.rel(left, open);
                if *lateral && !meanings.is_empty() {
                    walk::rewrite_rel(right, &mut |e| meaning(&meanings, e));
                }
                meanings.extend(self.rel(right, open));
                meanings
            }
            _ => {
                walk::children_mut(rel).into_iter().for_each(|child| self.closed(child));
                Meanings::new()
            }
        };
        let condition = self.only.is_none() && matches!(rel, Rel::Filter { .. } | Rel::Join { .. });
        for e in walk::exprs_mut(rel) {
            if condition && is_conjunction(e) {
                let mut parts = Vec::new();
                self.conjuncts(std::mem::replace(&mut e.kind, ExprKind::Row(Vec::new())), &e.ty, 0, &mut parts);
                e.kind = and(parts, &e.ty).kind;
            }
            if !meanings.is_empty() {
                walk::rewrite(e, false, &mut |e| meaning(&meanings, e));
            }
            match &mut e.kind {
                // Conjuncts without subqueries come first by themselves.
                _ if self.only.is_some() => {}
                ExprKind::And(parts) if condition => parts.iter_mut().for_each(|part| super::branches::tell(self.eval, part)),
                _ => super::branches::tell(self.eval, e),
            }
            walk::subqueries_mut(e, &mut |query| self.closed(&mut query.rel));
        }
        match rel {
            Rel::Filter { .. } | Rel::Sort { .. } | Rel::Window { .. } | Rel::Lock { .. } | Rel::Join { kind: JoinKind::Inner, .. } => {}
            // What a side without a match has is NULL, whatever it stands for.
            Rel::Join { left, right, kind, .. } => {
                let keeps = |side: &Rel, kept: bool| if kept { given_columns(side) } else { Default::default() };
                let (left, right) = (keeps(left, *kind == JoinKind::Left), keeps(right, *kind == JoinKind::Right));
                meanings.retain(|column, _| left.contains(column) || right.contains(column));
            }
            Rel::Project { input, exprs } if open => meanings = self.of_projection(input, exprs),
            _ => meanings.clear(),
        }
        meanings
    }

    /// What columns of a projection stand for; what that reads is passed through it.
    fn of_projection(&self, input: &Rel, exprs: &mut Vec<(ColId, Expr)>) -> Meanings {
        let meanings: Meanings = exprs.iter().filter(|(id, e)| self.moves(*id, e)).map(|(id, e)| (*id, e.clone())).collect();
        if meanings.is_empty() {
            return meanings;
        }
        let given = given_columns(input);
        let mut passed: Vec<(ColId, Expr)> = Vec::new();
        for e in meanings.values() {
            e.any(&mut |x| {
                if let ExprKind::Column(id) = x.kind
                    && given.contains(&id)
                    && exprs.iter().chain(&passed).all(|(known, _)| *known != id)
                {
                    passed.push((id, x.clone()));
                }
                false
            });
        }
        passed.sort_by_key(|(id, _)| *id);
        exprs.extend(passed);
        meanings
    }

    /// The conditions that all must hold: NOT of OR is that none of its operands does. `level` counts the ORs around it.
    fn conjuncts(&self, kind: ExprKind, ty: &SqlType, level: usize, out: &mut Vec<Expr>) {
        match kind {
            ExprKind::And(parts) => parts.into_iter().for_each(|part| self.conjuncts(part.kind, ty, level, out)),
            ExprKind::Not(arg) => match arg.kind {
                ExprKind::Or(parts) => parts.into_iter().for_each(|part| self.conjuncts(ExprKind::Not(Box::new(part)), ty, level, out)),
                ExprKind::Not(arg) => self.conjuncts(arg.kind, ty, level, out),
                kind => self.shared(not(Expr { kind, ty: arg.ty }, ty), ty, level, out),
            },
            kind => self.shared(Expr::new(kind, ty.clone()), ty, level, out),
        }
    }

    /// A condition that is no conjunction. What each alternative of an OR asks for is asked once, and where one asks for nothing else nothing
    /// is left of the others: as in PostgreSQL, which takes such conditions together before it plans, what they would raise is not raised.
    fn shared(&self, e: Expr, ty: &SqlType, level: usize, out: &mut Vec<Expr>) {
        let chooses = match &e.kind {
            ExprKind::Or(_) => true,
            ExprKind::Not(arg) => matches!(arg.kind, ExprKind::And(_)),
            _ => false,
        };
        if !chooses || level == MOST_LEVELS || !may_raise(self.eval, &e) || walk_volatile(&e) {
            return out.push(e);
        }
        let mut parts = Vec::new();
        alternatives(e.clone(), ty, &mut parts);
        let mut arms: Vec<Vec<Expr>> = Vec::with_capacity(parts.len());
        for part in parts {
            let mut arm = Vec::new();
            self.conjuncts(part.kind, ty, level + 1, &mut arm);
            arms.push(arm);
        }
        let mut shared: Vec<Expr> = arms.iter().min_by_key(|arm| arm.len()).cloned().unwrap_or_default();
        shared.retain(|condition| arms.iter().all(|arm| arm.contains(condition)));
        if shared.is_empty() {
            return out.push(e);
        }
        arms.iter_mut().for_each(|arm| arm.retain(|condition| !shared.contains(condition)));
        let decided = arms.iter().any(Vec::is_empty);
        out.extend(shared);
        if !decided {
            out.push(Expr::new(ExprKind::Or(arms.into_iter().map(|arm| and(arm, ty)).collect()), ty.clone()));
        }
    }

    fn moves(&self, id: ColId, e: &Expr) -> bool {
        let mut nodes = 0;
        e.any(&mut |_| {
            nodes += 1;
            nodes > MOST_NODES
        });
        nodes <= MOST_NODES
            && walk::is_plain(e)
            && !walk_volatile(e)
            && self.only.map_or_else(|| may_raise(self.eval, e), |only| only(id, e))
    }
}

/// Whether a condition may be several that all must hold, in a form other than one AND.
fn is_conjunction(e: &Expr) -> bool {
    let hidden = |e: &Expr| match &e.kind {
        ExprKind::Or(_) => true,
        ExprKind::Not(arg) => matches!(arg.kind, ExprKind::And(_) | ExprKind::Or(_) | ExprKind::Not(_)),
        _ => false,
    };
    match &e.kind {
        ExprKind::And(parts) => parts.iter().any(hidden),
        _ => hidden(e),
    }
}

/// Conditions that all must hold, as one.
fn and(mut parts: Vec<Expr>, ty: &SqlType) -> Expr {
    match (parts.pop(), parts.is_empty()) {
        (Some(only), true) => only,
        (last, _) => {
            parts.extend(last);
            Expr::new(ExprKind::And(parts), ty.clone())
        }
    }
}

fn not(e: Expr, ty: &SqlType) -> Expr {
    Expr::new(ExprKind::Not(Box::new(e)), ty.clone())
}

/// The conditions of which any must hold: NOT of AND is that one of its operands does not.
fn alternatives(e: Expr, ty: &SqlType, out: &mut Vec<Expr>) {
    deeper(|| match e.kind {
        ExprKind::Or(parts) => parts.into_iter().for_each(|part| alternatives(part, ty, out)),
        ExprKind::Not(arg) => match arg.kind {
            ExprKind::And(parts) => parts.into_iter().for_each(|part| alternatives(not(part, ty), ty, out)),
            ExprKind::Not(arg) => alternatives(*arg, ty, out),
            kind => out.push(not(Expr { kind, ty: arg.ty }, ty)),
        },
        kind => out.push(Expr { kind, ty: e.ty }),
    });
}

fn meaning(meanings: &Meanings, e: &Expr) -> Option<Expr> {
    match &e.kind {
        ExprKind::Column(id) => meanings.get(id).cloned(),
        _ => None,
    }
}

//! FULL JOIN that can be run, and outer joins that filters above make narrower.
//!
//! As in PostgreSQL, a FULL JOIN needs an equality of its sides, unless a condition above that is strict in a side's column makes a
//! LEFT, RIGHT or inner join of it (Galindo-Legaria and Rosenthal 1997). [`check`] narrows first and then refuses.

use super::Binder;
use crate::typed::sorted::type_of_column;
use crate::typed::tree::{Bound, BoundBody, ColId, CteBody, Expr, ExprKind, JoinKind, Query, Rel};
use crate::typed::walk;
use crate::typed::walk::given_columns;
use datafusion_common::ScalarValue;
use std::collections::HashSet;
use stoa_pg::{PgError, PgResult, PgType, SqlType};

impl Binder<'_> {
    /// The side of an outer join with these items, which it fills with NULLs.
    pub(super) fn fill_with_nulls(&mut self, rel: Rel, from: usize, to: usize) -> Rel {
        self.each_item(from, to, |i| i.nullable = !i.joined);
        if !self.marks_rows {
            return rel;
        }
        let columns = given_columns(&rel).into_iter().map(|c| Some((c, Expr::column(c, type_of_column(&rel, c)?)))).collect();
        let Some(mut exprs): Option<Vec<(ColId, Expr)>> = columns else { return rel };
        exprs.sort_by_key(|(c, _)| *c);
        let mark = self.new_col();
        exprs.push((mark, Expr::new(ExprKind::Const(ScalarValue::Boolean(Some(true))), SqlType::new(PgType::Bool))));
        self.each_item(from, to, |i| i.found = i.found.or(Some(mark)));
        Rel::Project { input: Box::new(rel), exprs }
    }
}

pub type Columns = HashSet<ColId>;
type Condition = (Expr, bool);

/// Narrows outer joins of a statement that has a FULL JOIN without an equality.
///
/// # Errors
/// 0A000 if such a join remains.
pub(super) fn check(bound: &mut Bound) -> PgResult<()> {
    let mut rels: Vec<&mut Rel> = Vec::new();
    for cte in &mut bound.ctes {
        match &mut cte.body {
            CteBody::Query(rel) => rels.push(rel),
            CteBody::Mutation(m) => rels.push(&mut m.source),
        }
    }
    match &mut bound.body {
        BoundBody::Query(q) => rels.push(&mut q.rel),
        BoundBody::Mutation(m) => rels.push(&mut m.source),
    }
    for rel in rels {
        if !has_unhashable(rel) {
            continue;
        }
        narrow(rel, &[]);
        if has_unhashable(rel) {
            return Err(PgError::unsupported("FULL JOIN is only supported with merge-joinable or hash-joinable join conditions"));
        }
    }
    Ok(())
}

fn has_unhashable(rel: &Rel) -> bool {
    let mut found = false;
    walk::visit_all(rel, &mut |node| {
        if let Rel::Join { left, right, kind: JoinKind::Full, on: Some(on), .. } = node {
            found |= !is_hashable(on, left, right);
        }
    });
    found
}

/// Whether a condition of FULL JOIN has an equality of the two sides, or says nothing of columns.
fn is_hashable(on: &Expr, left: &Rel, right: &Rel) -> bool {
    let (left, right) = (given_columns(left), given_columns(right));
    let of = |e: &Expr, side: &Columns| {
        let mut used = Vec::new();
        walk::columns_of(e, &mut used);
        !used.is_empty() && used.iter().all(|c| side.contains(c))
    };
    parts_of(on).iter().any(|p| match &p.kind {
        ExprKind::Oper { oper, args } if oper.0.name == "=" => match args.as_slice() {
            [a, b] => (of(a, &left) && of(b, &right)) || (of(a, &right) && of(b, &left)),
            _ => false,
        },
        _ => false,
    }) || !on.any(&mut |e| matches!(e.kind, ExprKind::Column(_)))
}

fn parts_of(e: &Expr) -> &[Expr] {
    match &e.kind {
        ExprKind::And(parts) => parts,
        _ => std::slice::from_ref(e),
    }
}

/// Makes joins of a relation narrower, given conditions that hold for the rows that stay. The flag says whether false and NULL are
/// alike to whoever asks.
pub(super) fn narrow(rel: &mut Rel, above: &[Condition]) {
    for e in walk::exprs_mut(rel) {
        walk::subqueries_mut(e, &mut |q: &mut Query| narrow(&mut q.rel, &[]));
    }
    match rel {
        Rel::Filter { input, predicate } => {
            let mut above = above.to_vec();
            above.push((predicate.clone(), true));
            narrow(input, &above);
        }
        Rel::Project { input, exprs } => {
            let below = in_terms_of(above, exprs);
            narrow(input, &below);
        }
        Rel::Aggregate { input, groups, sets: None, .. } => {
            let below = in_terms_of(above, groups);
            narrow(input, &below);
        }
        Rel::Sort { input, .. } | Rel::Lock { input, .. } | Rel::Distinct { input, .. } => narrow(input, above),
        Rel::Join { left, right, kind, on, .. } => {
            let drops = |side: &Rel| {
                let side = given_columns(side);
                above.iter().any(|(e, top)| drops(e, *top, &side))
            };
            *kind = match (*kind, drops(left), drops(right)) {
                (JoinKind::Full, true, true) => JoinKind::Inner,
                (JoinKind::Full, true, false) => JoinKind::Left,
                (JoinKind::Full, false, true) => JoinKind::Right,
                (JoinKind::Left, _, true) | (JoinKind::Right, true, _) => JoinKind::Inner,
                (kind, ..) => kind,
            };
            let own: Vec<Condition> = on.iter().map(|on| (on.clone(), true)).collect();
            let both: Vec<Condition> = above.iter().chain(&own).cloned().collect();
            let (for_left, for_right): (&[Condition], &[Condition]) = match kind {
                JoinKind::Inner | JoinKind::Semi => (&both, &both),
                JoinKind::Left | JoinKind::Anti => (above, &own),
                JoinKind::Right => (&own, above),
                JoinKind::Full => (&[], &[]),
            };
            narrow(left, for_left);
            narrow(right, for_right);
        }
        other => {
            for child in walk::children_mut(other) {
                narrow(child, &[]);
            }
        }
    }
}

/// Conditions over a node's columns as conditions over its input's.
fn in_terms_of(conditions: &[Condition], exprs: &[(ColId, Expr)]) -> Vec<Condition> {
    let mut out = conditions.to_vec();
    for (e, _) in &mut out {
        walk::rewrite(e, false, &mut |part| match part.kind {
            ExprKind::Column(c) => exprs.iter().find(|(id, _)| *id == c).map(|(_, e)| e.clone()),
            _ => None,
        });
    }
    out
}

/// Whether the expression is NULL where all columns of a side are; of a condition (`top`), NULL or false.
#[must_use]
pub fn drops(e: &Expr, top: bool, side: &Columns) -> bool {
    let any = |args: &[Expr]| args.iter().any(|a| drops(a, false, side));
    match &e.kind {
        ExprKind::Column(c) => side.contains(c),
        ExprKind::Func { func, args } if func.0.strict => any(args),
        // Concatenation of arrays is not strict.
        ExprKind::Oper { oper, args } if oper.0.name != "||" || !e.ty.ty.is_array() => any(args),
        ExprKind::Cast { arg, .. } => drops(arg, false, side),
        ExprKind::And(parts) if top => parts.iter().any(|p| drops(p, true, side)),
        ExprKind::And(parts) | ExprKind::Or(parts) => parts.iter().all(|p| drops(p, top, side)),
        ExprKind::Not(arg) => drops(arg, false, side),
        ExprKind::IsNotNull(arg) if top => drops(arg, false, side),
        ExprKind::IsBool { arg, value, negated } if top && value.is_none() == *negated => drops(arg, false, side),
        ExprKind::AnyArray { left, array, all, .. } => {
            let filled = matches!(&array.kind, ExprKind::Array(items) if !items.is_empty());
            ((top && !*all) || filled) && drops(left, false, side)
        }
        // These become semi-joins.
        ExprKind::AnyQuery { left, all: false, .. } if top => any(left),
        ExprKind::Exists(query) if top => {
            let mut rel = &query.rel;
            while let Rel::Project { input, .. } | Rel::Sort { input, .. } = rel {
                rel = input;
            }
            matches!(rel, Rel::Filter { predicate, .. } if drops(predicate, true, side))
        }
        _ => false,
    }
}

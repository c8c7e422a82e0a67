//! AND, OR and CASE whose operands may raise: an operand is computed for the rows that those before it have not decided.
//!
//! DataFusion computes both sides of AND and OR for all rows of a batch, mostly. Of its expressions CASE alone keeps to the rows of a
//! branch, so a condition with operands that may raise is written as one. Its base is the constant `true`: CASE without a base is taken
//! apart into AND and OR by its optimizer, where it gives booleans.
//!
//! Where only truth counts, as in WHERE, one CASE says it; as a value, with NULL, a condition is two of them: whether it is true, and whether
//! it is false. Operands that cannot raise come first, as one.
//!
//! The conjuncts of a whole filter are not written so, since key ranges, join keys and sides of joins are found among them: `plan::guard::InTurn`
//! does it to what is left of them in the physical plan.

use crate::typed::constant::truth;
use crate::typed::expr::{ExprPlanner, binary};
use crate::typed::raises::may_raise;
use crate::typed::tree::{Expr, ExprKind};
use crate::typed::walk::is_plain;
use crate::typed::walk::walk_volatile;
use datafusion_common::ScalarValue;
use datafusion_expr::{Case, Expr as DfExpr, Operator};
use stoa_pg::{EvalContext, PgError, PgResult};

fn boolean(value: Option<bool>) -> DfExpr {
    DfExpr::Literal(ScalarValue::Boolean(value), None)
}

/// `CASE true WHEN … THEN … ELSE … END`, which computes each part for the rows that come to it.
pub fn in_branches(whens: Vec<(DfExpr, DfExpr)>, otherwise: DfExpr) -> DfExpr {
    let whens = whens.into_iter().map(|(when, then)| (Box::new(when), Box::new(then))).collect();
    DfExpr::Case(Case::new(Some(Box::new(boolean(Some(true)))), whens, Some(Box::new(otherwise))))
}

fn is_not_true(e: DfExpr) -> DfExpr {
    DfExpr::IsNotTrue(Box::new(e))
}

/// The operands before the first volatile one, and from there on; `None` where there is nothing on one of the sides.
pub(super) fn until_volatile(parts: &[Expr]) -> Option<(&[Expr], &[Expr])> {
    let at = parts.iter().position(walk_volatile).filter(|at| *at > 0)?;
    parts.split_at_checked(at)
}

/// A condition, and whether it is to be true or false.
type Wanted<'a> = (&'a Expr, bool);

/// The conditions of a CASE as they are written for plans: those that must all be as wanted, or any of which must.
enum Parts<'a> {
    All(Vec<Wanted<'a>>),
    Any(Vec<Wanted<'a>>),
}

impl<'a> Parts<'a> {
    /// Those of AND or OR, with those of the same kind within them, as PostgreSQL takes them together.
    fn of(parts: &'a [Expr], wanted: bool, all: bool) -> Parts<'a> {
        let mut out = Vec::with_capacity(parts.len());
        parts.iter().for_each(|part| flattened(part, wanted, all, &mut out));
        if all { Parts::All(out) } else { Parts::Any(out) }
    }
}

fn flattened<'a>(e: &'a Expr, wanted: bool, all: bool, out: &mut Vec<Wanted<'a>>) {
    match &e.kind {
        ExprKind::And(parts) if all == wanted => parts.iter().for_each(|part| flattened(part, wanted, all, out)),
        ExprKind::Or(parts) if all != wanted => parts.iter().for_each(|part| flattened(part, wanted, all, out)),
        ExprKind::Not(arg) => flattened(arg, !wanted, all, out),
        _ => out.push((e, wanted)),
    }
}

impl ExprPlanner<'_> {
    /// Whether operands of AND or OR are computed only where the ones before have left it open.
    pub fn guards(&self, parts: &[Expr]) -> bool {
        let Some((first, rest)) = parts.split_first() else { return false };
        (rest.iter().any(|part| may_raise(self.eval, part)) || self.guarded(first)) && !parts.iter().any(walk_volatile)
    }

    /// What constants decide of a condition whose other operands may raise, or have effects: as in PostgreSQL these are not computed then.
    pub(super) fn settled(&self, e: &Expr) -> Option<bool> {
        let (ExprKind::And(parts) | ExprKind::Or(parts)) = &e.kind else { return None };
        parts.iter().any(|part| may_raise(self.eval, part) || walk_volatile(part)).then(|| truth(self.eval, e)).flatten()
    }

    fn guarded(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::And(parts) | ExprKind::Or(parts) => self.guards(parts),
            ExprKind::Not(arg) => self.guarded(arg),
            _ => false,
        }
    }

    /// Whether a condition is true; where it is not, NULL is as good as false.
    ///
    /// # Errors
    /// As [`ExprPlanner::expr`].
    pub fn test(&self, e: &Expr) -> PgResult<DfExpr> {
        if let Some(value) = self.settled(e) {
            return Ok(boolean(Some(value)));
        }
        match &e.kind {
            ExprKind::And(parts) if self.guards(parts) => self.decide(Parts::of(parts, true, true)),
            ExprKind::Or(parts) if self.guards(parts) => self.decide(Parts::of(parts, true, false)),
            ExprKind::Not(arg) if self.guarded(arg) => self.fails(arg),
            _ => self.expr(e),
        }
    }

    /// Whether a condition is false, likewise.
    fn fails(&self, e: &Expr) -> PgResult<DfExpr> {
        if let Some(value) = self.settled(e) {
            return Ok(boolean(Some(!value)));
        }
        match &e.kind {
            ExprKind::And(parts) if self.guards(parts) => self.decide(Parts::of(parts, false, false)),
            ExprKind::Or(parts) if self.guards(parts) => self.decide(Parts::of(parts, false, true)),
            ExprKind::Not(arg) if self.guarded(arg) => self.test(arg),
            _ => Ok(DfExpr::Not(Box::new(self.expr(e)?))),
        }
    }

    fn as_wanted(&self, (part, wanted): Wanted<'_>) -> PgResult<DfExpr> {
        if wanted { self.test(part) } else { self.fails(part) }
    }

    /// Whether all or any of some conditions are as wanted.
    fn decide(&self, parts: Parts<'_>) -> PgResult<DfExpr> {
        let (list, all) = match parts {
            Parts::All(list) => (list, true),
            Parts::Any(list) => (list, false),
        };
        // A constant that decides leaves nothing to compute, and one that does not nothing to say.
        if list.iter().any(|(part, wanted)| truth(self.eval, part).is_some_and(|value| (value == *wanted) != all)) {
            return Ok(boolean(Some(!all)));
        }
        let open = list.into_iter().filter(|(part, _)| truth(self.eval, part).is_none());
        let (raising, safe): (Vec<Wanted<'_>>, Vec<Wanted<'_>>) = open.partition(|(part, _)| may_raise(self.eval, part));
        if raising.is_empty() && safe.is_empty() {
            return Ok(boolean(Some(all)));
        }
        let mut tests = Vec::with_capacity(raising.len() + 1);
        if !safe.is_empty() {
            let safe = safe.into_iter().map(|part| self.as_wanted(part));
            tests.push(balanced(safe.collect::<PgResult<_>>()?, if all { Operator::And } else { Operator::Or })?);
        }
        for part in raising {
            tests.push(self.as_wanted(part)?);
        }
        let Some(last) = tests.pop() else { return Err(PgError::internal("a condition without parts")) };
        if tests.is_empty() {
            return Ok(last);
        }
        let decided = |test| if all { (is_not_true(test), boolean(Some(false))) } else { (test, boolean(Some(true))) };
        Ok(in_branches(tests.into_iter().map(decided).collect(), last))
    }

    /// A condition with guards as a value.
    ///
    /// # Errors
    /// As [`ExprPlanner::expr`].
    pub fn three_valued(&self, e: &Expr) -> PgResult<DfExpr> {
        let whens = vec![(self.test(e)?, boolean(Some(true))), (self.fails(e)?, boolean(Some(false)))];
        Ok(in_branches(whens, boolean(None)))
    }

    /// AND or OR whose later operands are volatile, as a value: they are computed, once, for the rows that the known ones leave open.
    ///
    /// # Errors
    /// As [`ExprPlanner::expr`].
    pub(super) fn before(&self, e: &Expr, known: &[Expr], late: &[Expr]) -> PgResult<DfExpr> {
        let all = matches!(e.kind, ExprKind::And(_));
        let together = |parts: &[Expr]| match parts {
            [one] => one.clone(),
            _ => Expr::new(if all { ExprKind::And(parts.to_vec()) } else { ExprKind::Or(parts.to_vec()) }, e.ty.clone()),
        };
        let known = together(known);
        let decided = if all { self.fails(&known)? } else { self.test(&known)? };
        let op = if all { Operator::And } else { Operator::Or };
        let value = binary(self.expr(&known)?, op, self.expr(&together(late))?);
        Ok(in_branches(vec![(decided, boolean(Some(!all)))], value))
    }

    /// Conditions that must all hold, as the filter of a plan: its parts stay apart.
    ///
    /// # Errors
    /// As [`ExprPlanner::expr`].
    pub fn all(&self, conditions: &[Expr]) -> PgResult<DfExpr> {
        let mut parts = Vec::with_capacity(conditions.len());
        conditions.iter().for_each(|condition| match walk_volatile(condition) {
            true => parts.push((condition, true)),
            false => flattened(condition, true, true, &mut parts),
        });
        balanced(parts.into_iter().map(|part| self.as_wanted(part)).collect::<PgResult<_>>()?, Operator::And)
    }
}

/// A tree of one operator that is no deeper than need be: what is below goes through trees by recursion.
pub fn balanced(mut parts: Vec<DfExpr>, op: Operator) -> PgResult<DfExpr> {
    while parts.len() > 1 {
        let mut next = Vec::with_capacity(parts.len().div_ceil(2));
        let mut it = parts.into_iter();
        while let Some(a) = it.next() {
            next.push(match it.next() {
                Some(b) => binary(a, op, b),
                None => a,
            });
        }
        parts = next;
    }
    parts.pop().ok_or_else(|| PgError::internal("a condition without parts"))
}

/// Tells that only the truth of a condition counts, and not whether it is false or NULL: then NULL decides AND.
pub fn as_test(eval: &EvalContext, condition: &mut Expr) {
    if matches!(condition.kind, ExprKind::And(_) | ExprKind::Or(_) | ExprKind::Not(_)) && may_raise(eval, condition) {
        let arg = Box::new(condition.clone());
        condition.kind = ExprKind::IsBool { arg, value: Some(true), negated: false };
    }
}

/// Lets arguments of an aggregate that may raise be computed only for the rows that its FILTER passes.
pub fn only_where(eval: &EvalContext, filter: Option<&Expr>, args: &mut [Expr]) {
    let Some(filter) = filter.filter(|f| is_plain(f) && !walk_volatile(f)) else { return };
    for arg in args.iter_mut().filter(|arg| is_plain(arg) && !walk_volatile(arg) && may_raise(eval, arg)) {
        let whens = vec![(filter.clone(), arg.clone())];
        arg.kind = ExprKind::Case { whens, otherwise: None };
    }
}

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

use crate::typed::constant::{Truth, truth};
use crate::typed::deeper;
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

/// A condition with what is known of it, and of the operands of AND, OR and NOT in it: each is looked at once, however deep it stands.
pub(super) struct Condition<'a> {
    e: &'a Expr,
    operands: Vec<Condition<'a>>,
    raises: bool,
    volatile: bool,
    /// What constants give, whatever its columns hold.
    truth: Truth,
    /// Whether operands in it are computed only where those before them have left it open.
    guarded: bool,
}

impl<'a> Condition<'a> {
    fn of(eval: &EvalContext, e: &'a Expr) -> Condition<'a> {
        deeper(|| {
            let operands: Vec<Condition<'a>> = match &e.kind {
                ExprKind::And(parts) | ExprKind::Or(parts) => parts.iter().map(|part| Condition::of(eval, part)).collect(),
                ExprKind::Not(arg) => vec![Condition::of(eval, arg)],
                _ => {
                    let (raises, volatile, truth) = (may_raise(eval, e), walk_volatile(e), truth(eval, e));
                    return Condition { e, operands: Vec::new(), raises, volatile, truth, guarded: false };
                }
            };
            let raises = operands.iter().any(|part| part.raises);
            let volatile = operands.iter().any(|part| part.volatile);
            let truth = match &e.kind {
                ExprKind::And(_) => Truth::of_all(operands.iter().map(|part| part.truth), false),
                ExprKind::Or(_) => Truth::of_all(operands.iter().map(|part| part.truth), true),
                _ => operands.first().map_or(Truth::Open, |arg| arg.truth.negated()),
            };
            let first = operands.first().is_some_and(|first| first.guarded);
            let guarded = match &e.kind {
                ExprKind::Not(_) => first,
                _ => (first || operands.iter().skip(1).any(|part| part.raises)) && !volatile,
            };
            Condition { e, operands, raises, volatile, truth, guarded }
        })
    }

    /// What constants decide where other operands may raise, or have effects: as in PostgreSQL these are not computed then.
    fn settled(&self) -> Option<bool> {
        let connects = matches!(self.e.kind, ExprKind::And(_) | ExprKind::Or(_));
        (connects && (self.raises || self.volatile)).then_some(self.truth.value()).flatten()
    }
}

/// A condition, and whether it is to be true or false.
type Wanted<'c, 'a> = (&'c Condition<'a>, bool);

/// The conditions of a CASE as they are written for plans: those that must all be as wanted, or any of which must.
enum Parts<'c, 'a> {
    All(Vec<Wanted<'c, 'a>>),
    Any(Vec<Wanted<'c, 'a>>),
}

impl<'c, 'a> Parts<'c, 'a> {
    /// Those of AND or OR, with those of the same kind within them, as PostgreSQL takes them together.
    fn of(condition: &'c Condition<'a>, wanted: bool, all: bool) -> Parts<'c, 'a> {
        let out = flattened(condition, wanted, all);
        if all { Parts::All(out) } else { Parts::Any(out) }
    }
}

fn flattened<'c, 'a>(condition: &'c Condition<'a>, wanted: bool, all: bool) -> Vec<Wanted<'c, 'a>> {
    let (mut open, mut out) = (vec![(condition, wanted)], Vec::new());
    while let Some((c, wanted)) = open.pop() {
        match &c.e.kind {
            ExprKind::And(_) if all == wanted => open.extend(c.operands.iter().rev().map(|part| (part, wanted))),
            ExprKind::Or(_) if all != wanted => open.extend(c.operands.iter().rev().map(|part| (part, wanted))),
            ExprKind::Not(_) => open.extend(c.operands.iter().map(|arg| (arg, !wanted))),
            _ => out.push((c, wanted)),
        }
    }
    out
}

impl ExprPlanner<'_> {
    pub(super) fn condition<'a>(&self, e: &'a Expr) -> Condition<'a> {
        Condition::of(self.eval, e)
    }

    /// Whether a condition is true; where it is not, NULL is as good as false.
    ///
    /// # Errors
    /// As [`ExprPlanner::expr`].
    pub fn test(&self, e: &Expr) -> PgResult<DfExpr> {
        self.holds(&self.condition(e))
    }

    fn holds(&self, c: &Condition<'_>) -> PgResult<DfExpr> {
        if let Some(value) = c.settled() {
            return Ok(boolean(Some(value)));
        }
        match (&c.e.kind, c.operands.as_slice()) {
            (ExprKind::And(_), _) if c.guarded => self.decide(Parts::of(c, true, true)),
            (ExprKind::Or(_), _) if c.guarded => self.decide(Parts::of(c, true, false)),
            (ExprKind::Not(_), [arg]) if c.guarded => deeper(|| self.fails(arg)),
            _ => self.value(c),
        }
    }

    /// Whether a condition is false, likewise.
    fn fails(&self, c: &Condition<'_>) -> PgResult<DfExpr> {
        if let Some(value) = c.settled() {
            return Ok(boolean(Some(!value)));
        }
        match (&c.e.kind, c.operands.as_slice()) {
            (ExprKind::And(_), _) if c.guarded => self.decide(Parts::of(c, false, false)),
            (ExprKind::Or(_), _) if c.guarded => self.decide(Parts::of(c, false, true)),
            (ExprKind::Not(_), [arg]) if c.guarded => deeper(|| self.holds(arg)),
            _ => Ok(DfExpr::Not(Box::new(self.value(c)?))),
        }
    }

    fn as_wanted(&self, (part, wanted): Wanted<'_, '_>) -> PgResult<DfExpr> {
        deeper(|| if wanted { self.holds(part) } else { self.fails(part) })
    }

    /// Whether all or any of some conditions are as wanted.
    fn decide(&self, parts: Parts<'_, '_>) -> PgResult<DfExpr> {
        let (list, all) = match parts {
            Parts::All(list) => (list, true),
            Parts::Any(list) => (list, false),
        };
        // A constant that decides leaves nothing to compute, and one that does not nothing to say.
        if list.iter().any(|(part, wanted)| part.truth.value().is_some_and(|value| (value == *wanted) != all)) {
            return Ok(boolean(Some(!all)));
        }
        let open = list.into_iter().filter(|(part, _)| part.truth.value().is_none());
        let (raising, safe): (Vec<Wanted<'_, '_>>, Vec<Wanted<'_, '_>>) = open.partition(|(part, _)| part.raises);
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

    /// AND, OR or NOT as a value.
    ///
    /// # Errors
    /// As [`ExprPlanner::expr`].
    pub(super) fn value(&self, c: &Condition<'_>) -> PgResult<DfExpr> {
        deeper(|| {
            let (parts, op) = match &c.e.kind {
                ExprKind::And(parts) => (parts, Operator::And),
                ExprKind::Or(parts) => (parts, Operator::Or),
                ExprKind::Not(_) => {
                    return match (self.not_in_list(c.e)?, c.operands.as_slice()) {
                        (Some(list), _) => Ok(list),
                        (None, [arg]) => Ok(DfExpr::Not(Box::new(self.value(arg)?))),
                        _ => Err(PgError::internal("NOT of nothing")),
                    };
                }
                _ => return self.expr(c.e),
            };
            if let Some(value) = c.settled() {
                return Ok(boolean(Some(value)));
            }
            if c.guarded {
                let whens = vec![(self.holds(c)?, boolean(Some(true))), (self.fails(c)?, boolean(Some(false)))];
                return Ok(in_branches(whens, boolean(None)));
            }
            if let Some(at) = c.operands.iter().position(|part| part.volatile).filter(|at| *at > 0)
                && let Some((known, late)) = parts.split_at_checked(at)
            {
                return self.before(c.e, known, late);
            }
            if op == Operator::Or
                && let Some(test) = self.in_rows(parts)?
            {
                return Ok(test);
            }
            balanced(c.operands.iter().map(|part| self.value(part)).collect::<PgResult<_>>()?, op)
        })
    }

    /// AND or OR whose later operands are volatile, as a value: they are computed, once, for the rows that the known ones leave open.
    ///
    /// # Errors
    /// As [`ExprPlanner::expr`].
    fn before(&self, e: &Expr, known: &[Expr], late: &[Expr]) -> PgResult<DfExpr> {
        let all = matches!(e.kind, ExprKind::And(_));
        let together = |parts: &[Expr]| match parts {
            [one] => one.clone(),
            _ => Expr::new(if all { ExprKind::And(parts.to_vec()) } else { ExprKind::Or(parts.to_vec()) }, e.ty.clone()),
        };
        let known = together(known);
        let decided = if all { self.fails(&self.condition(&known))? } else { self.test(&known)? };
        let op = if all { Operator::And } else { Operator::Or };
        let value = binary(self.expr(&known)?, op, self.expr(&together(late))?);
        Ok(in_branches(vec![(decided, boolean(Some(!all)))], value))
    }

    /// Conditions that must all hold, as the filter of a plan: its parts stay apart.
    ///
    /// # Errors
    /// As [`ExprPlanner::expr`].
    pub fn all(&self, conditions: &[Expr]) -> PgResult<DfExpr> {
        let conditions: Vec<Condition<'_>> = conditions.iter().map(|condition| self.condition(condition)).collect();
        let parts = conditions.iter().flat_map(|condition| match condition.volatile {
            true => vec![(condition, true)],
            false => flattened(condition, true, true),
        });
        balanced(parts.map(|part| self.as_wanted(part)).collect::<PgResult<_>>()?, Operator::And)
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

//! The expressions that an expression has as its parts.

use crate::typed::tree::{Expr, ExprKind};

impl Expr {
    /// The direct child expressions, without those inside of subqueries' relations.
    pub fn children(&self) -> Vec<&Expr> {
        let mut out: Vec<&Expr> = Vec::new();
        match &self.kind {
            ExprKind::Column(_) | ExprKind::Const(_) | ExprKind::Param(_) | ExprKind::Given(_) => {}
            ExprKind::Func { args, .. }
            | ExprKind::Oper { args, .. }
            | ExprKind::And(args)
            | ExprKind::Or(args)
            | ExprKind::Coalesce(args)
            | ExprKind::Extreme { args, .. }
            | ExprKind::Array(args)
            | ExprKind::Row(args)
            | ExprKind::Grouping(args) => out.extend(args),
            ExprKind::Cast { arg, .. }
            | ExprKind::Not(arg)
            | ExprKind::IsNull(arg)
            | ExprKind::IsNotNull(arg)
            | ExprKind::IsBool { arg, .. }
            | ExprKind::RowIsNull { arg, .. }
            | ExprKind::Field { arg, .. } => out.push(arg),
            ExprKind::IsDistinct { left, right, .. } => out.extend([&**left, &**right]),
            ExprKind::Once { value, body, .. } => out.extend([&**value, &**body]),
            ExprKind::Case { whens, otherwise } => {
                for (when, then) in whens {
                    out.extend([when, then]);
                }
                out.extend(otherwise.as_deref());
            }
            ExprKind::Subscript { array, indexes } => {
                out.push(array);
                out.extend(indexes);
            }
            ExprKind::Slice { array, bounds } => {
                out.push(array);
                for (lower, upper) in bounds {
                    out.extend(lower.iter().chain(upper));
                }
            }
            ExprKind::AnyArray { left, array, .. } => out.extend([&**left, &**array]),
            ExprKind::AnyQuery { left, .. } => out.extend(left),
            ExprKind::ScalarSubquery(_) | ExprKind::Exists(_) | ExprKind::ArraySubquery(_) => {}
            ExprKind::Aggregate(agg) => {
                out.extend(&agg.args);
                out.extend(agg.order_by.iter().map(|k| &k.expr));
                out.extend(agg.filter.as_ref());
            }
            ExprKind::Window(w) => {
                out.extend(&w.args);
                out.extend(w.filter.as_ref());
                out.extend(&w.partition_by);
                out.extend(w.order_by.iter().map(|k| &k.expr));
            }
            ExprKind::Set(s) => out.extend(&s.args),
        }
        out
    }

    /// Mutable form of [`Expr::children`].
    pub fn children_mut(&mut self) -> Vec<&mut Expr> {
        let mut out: Vec<&mut Expr> = Vec::new();
        match &mut self.kind {
            ExprKind::Column(_) | ExprKind::Const(_) | ExprKind::Param(_) | ExprKind::Given(_) => {}
            ExprKind::Func { args, .. }
            | ExprKind::Oper { args, .. }
            | ExprKind::And(args)
            | ExprKind::Or(args)
            | ExprKind::Coalesce(args)
            | ExprKind::Extreme { args, .. }
            | ExprKind::Array(args)
            | ExprKind::Row(args)
            | ExprKind::Grouping(args) => out.extend(args),
            ExprKind::Cast { arg, .. }
            | ExprKind::Not(arg)
            | ExprKind::IsNull(arg)
            | ExprKind::IsNotNull(arg)
            | ExprKind::IsBool { arg, .. }
            | ExprKind::RowIsNull { arg, .. }
            | ExprKind::Field { arg, .. } => out.push(arg),
            ExprKind::IsDistinct { left, right, .. } => out.extend([&mut **left, &mut **right]),
            ExprKind::Once { value, body, .. } => out.extend([&mut **value, &mut **body]),
            ExprKind::Case { whens, otherwise } => {
                for (when, then) in whens {
                    out.extend([when, then]);
                }
                out.extend(otherwise.as_deref_mut());
            }
            ExprKind::Subscript { array, indexes } => {
                out.push(array);
                out.extend(indexes);
            }
            ExprKind::Slice { array, bounds } => {
                out.push(array);
                for (lower, upper) in bounds {
                    out.extend(lower.iter_mut().chain(upper));
                }
            }
            ExprKind::AnyArray { left, array, .. } => out.extend([&mut **left, &mut **array]),
            ExprKind::AnyQuery { left, .. } => out.extend(left),
            ExprKind::ScalarSubquery(_) | ExprKind::Exists(_) | ExprKind::ArraySubquery(_) => {}
            ExprKind::Aggregate(agg) => {
                out.extend(&mut agg.args);
                out.extend(agg.order_by.iter_mut().map(|k| &mut k.expr));
                out.extend(agg.filter.as_mut());
            }
            ExprKind::Window(w) => {
                out.extend(&mut w.args);
                out.extend(w.filter.as_mut());
                out.extend(&mut w.partition_by);
                out.extend(w.order_by.iter_mut().map(|k| &mut k.expr));
            }
            ExprKind::Set(s) => out.extend(&mut s.args),
        }
        out
    }

    /// Whether the expression or one below it (outside subqueries) satisfies `test`.
    pub fn any(&self, test: &mut dyn FnMut(&Expr) -> bool) -> bool {
        if test(self) {
            return true;
        }
        crate::typed::deeper(|| self.children().into_iter().any(|child| child.any(test)))
    }
}

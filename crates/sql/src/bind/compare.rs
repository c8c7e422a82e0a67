//! Comparisons: of values and rows, with lists, arrays and queries.

use super::expr::{and, bool_type, is_row_syntax, not, or};
use super::resolve::can_coerce;
use super::subscript::is_reference;
use super::{Binder, row_address};
use crate::typed::once::Shared;
use crate::typed::tree::{Expr, ExprKind, OperRef, Output, Query, Rel};
use crate::typed::walk;
use datafusion_common::ScalarValue;
use stoa_pg::registry::CastContext;
use stoa_pg::types::TRIMMED;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_syntax::ast::{self, Expr as E};

impl Binder<'_> {
    /// Why rows are not compared by an operator that is none of `=`, `<` and their kin.
    pub(super) fn no_row_comparison(&self, name: &str, left: &[Expr], right: &[Expr]) -> PgError {
        for (l, r) in left.iter().zip(right) {
            match self.find_operator(name, Some(&l.ty.ty), &r.ty.ty) {
                Ok(oper) if oper.ret == PgType::Bool => {}
                Ok(oper) => {
                    let message = format!("row comparison operator must yield type boolean, not type {}", oper.ret);
                    return PgError::new(SqlState::DATATYPE_MISMATCH, message);
                }
                Err(error) => return error,
            }
        }
        PgError::unsupported(format!("could not determine interpretation of row comparison operator {name}"))
            .hint("Row comparison operators must be associated with btree operator families.")
    }

    pub(super) fn no_row_comparison_with(&mut self, name: &str, left: &[Expr], query: &ast::Query) -> PgResult<PgError> {
        let query = self.bind_subquery(query)?;
        self.same_width(left.len(), &query)?;
        let right: Vec<Expr> = query.outputs.iter().map(|o| Expr::column(o.col, o.ty.clone())).collect();
        Ok(self.no_row_comparison(name, left, &right))
    }

    /// That a subquery has a column for each of a row's.
    fn same_width(&self, left: usize, query: &Query) -> PgResult<()> {
        match query.outputs.len().cmp(&left) {
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Less => Err(PgError::new(SqlState::SYNTAX_ERROR, "subquery has too few columns")),
            std::cmp::Ordering::Greater => Err(PgError::new(SqlState::SYNTAX_ERROR, "subquery has too many columns")),
        }
    }

    /// A comparison of two values or two rows.
    pub fn compare(&mut self, op: &str, left: Expr, right: Expr, syntax: &E) -> PgResult<Expr> {
        let at = match syntax {
            E::BinaryOp { left, right, .. } => self.operator_pos(left, right),
            other => self.pos(other),
        };
        if let (true, Some((table, l)), Some((other, r))) = (op == "=", row_address::parts(&left), row_address::parts(&right))
            && table == other
        {
            return self.compare_rows(op, l.to_vec(), r.to_vec()).map_err(|e| e.at(at));
        }
        match (left.kind, right.kind) {
            // Rows of tables are values of a type of their own, in which NULLs are equal.
            (ExprKind::Row(l), ExprKind::Row(r)) if !matches!(syntax, E::BinaryOp { left, right, .. } if is_reference(left) || is_reference(right)) => {
                self.compare_rows(op, l, r).map_err(|e| e.at(at))
            }
            (l, r) => {
                let (left, right) = (Expr::new(l, left.ty), Expr::new(r, right.ty));
                self.operator(op, Some(left), right).map_err(|e| e.at(at))
            }
        }
    }

    /// Row comparison, pair by pair, as SQL defines it.
    fn compare_rows(&mut self, op: &str, left: Vec<Expr>, right: Vec<Expr>) -> PgResult<Expr> {
        if left.len() != right.len() {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "unequal number of entries in row expressions"));
        }
        if left.is_empty() {
            return Err(PgError::unsupported("cannot compare rows of zero length"));
        }
        if !matches!(op, "=" | "<>" | "<" | "<=" | ">" | ">=") {
            return Err(self.no_row_comparison(op, &left, &right));
        }
        match op {
            "=" | "<>" => {
                let pairs = left
                    .into_iter()
                    .zip(right)
                    // Rows in rows are values, in which NULLs are equal.
                    .map(|(l, r)| self.operator(op, Some(l), r))
                    .collect::<PgResult<Vec<_>>>()?;
                Ok(if op == "=" { and(pairs) } else { or(pairs) })
            }
            _ => {
                // (a, b) < (x, y)  is  a < x OR (a = x AND b < y)
                let strict = op.trim_end_matches('=');
                let last = left.len() - 1;
                let mut shared = Shared::default();
                let mut once = |side: Vec<Expr>, b: &mut Self| -> Vec<Expr> {
                    let used_again = |(at, e)| if at < last { shared.value(e, &mut || b.new_col()) } else { e };
                    side.into_iter().enumerate().map(used_again).collect()
                };
                let (left, right) = (once(left, self), once(right, self));
                let mut alternatives = Vec::with_capacity(left.len());
                for i in 0..left.len() {
                    let mut all = Vec::with_capacity(i + 1);
                    for j in 0..i {
                        all.push(self.operator("=", Some(left[j].clone()), right[j].clone())?);
                    }
                    let name = if i == last { op } else { strict };
                    all.push(self.operator(name, Some(left[i].clone()), right[i].clone())?);
                    alternatives.push(and(all));
                }
                Ok(shared.around(or(alternatives)))
            }
        }
    }

    pub(super) fn row_against_query(&mut self, row: Expr, op: &str, query: &ast::Query, syntax: &E) -> PgResult<Expr> {
        // A row compared with a subquery of one row: each column is a scalar subquery of its own position.
        let bound = self.bind_subquery(query)?;
        let ExprKind::Row(left) = row.kind else { return Err(PgError::internal("a row was expected")) };
        self.same_width(left.len(), &bound).map_err(|e| e.at(self.pos(syntax)))?;
        if chooses(&bound) {
            // Asked again for another column it might give another row.
            let types: Vec<SqlType> = bound.outputs.iter().map(|o| o.ty.clone()).collect();
            let value = self.as_one_row(bound)?;
            let id = self.new_col();
            let given = Expr::new(ExprKind::Given(id), value.ty.clone());
            let field = |(index, ty)| Expr::new(ExprKind::Field { arg: Box::new(given.clone()), index }, ty);
            let right = types.into_iter().enumerate().map(field).collect();
            let body = self.compare_rows(op, left, right).map_err(|e| e.at(self.pos(syntax)))?;
            return Ok(Expr::new(ExprKind::Once { id, value: Box::new(value), body: Box::new(body) }, bool_type()));
        }
        let mut right = Vec::with_capacity(left.len());
        for output in &bound.outputs {
            let one = Query { rel: bound.rel.clone(), outputs: vec![output.clone()] };
            right.push(Expr::new(ExprKind::ScalarSubquery(Box::new(one)), output.ty.clone()));
        }
        self.compare_rows(op, left, right).map_err(|e| e.at(self.pos(syntax)))
    }

    /// A query of one row as a value: its columns are the fields of a row.
    pub(super) fn as_one_row(&mut self, query: Query) -> PgResult<Expr> {
        let row = self.row(query.outputs.iter().map(|o| Expr::column(o.col, o.ty.clone())).collect())?;
        let (col, ty) = (self.new_col(), row.ty.clone());
        let rel = Rel::Project { input: Box::new(query.rel), exprs: vec![(col, row)] };
        let outputs = vec![Output { name: String::new(), col, ty: ty.clone(), origin: None }];
        Ok(Expr::new(ExprKind::ScalarSubquery(Box::new(Query { rel, outputs })), ty))
    }

    pub(super) fn is_distinct(&mut self, left: &E, right: &E, negated: bool) -> PgResult<Expr> {
        let (l, r) = (self.bind_expr(left)?, self.bind_expr(right)?);
        self.distinct_test(l, r, negated).map_err(|e| e.at(self.operator_pos(left, right)))
    }

    /// `IS [NOT] DISTINCT FROM`.
    pub fn distinct_test(&mut self, left: Expr, right: Expr, negated: bool) -> PgResult<Expr> {
        if let (ExprKind::Row(l), ExprKind::Row(r)) = (&left.kind, &right.kind) {
            if l.len() != r.len() {
                return Err(PgError::new(SqlState::SYNTAX_ERROR, "unequal number of entries in row expressions"));
            }
            let pairs =
                l.clone().into_iter().zip(r.clone()).map(|(a, b)| self.distinct_test(a, b, negated)).collect::<PgResult<Vec<_>>>()?;
            return Ok(if negated { and(pairs) } else { or(pairs) });
        }
        // Beside a NULL that is written it asks whether the other is NULL, also of types without an equality.
        for (one, other) in [(&right, &left), (&left, &right)] {
            if one.ty.ty == PgType::Unknown && one.is_null_const() && other.ty.ty != PgType::Unknown {
                let arg = Box::new(other.clone());
                let kind = if negated { ExprKind::IsNull(arg) } else { ExprKind::IsNotNull(arg) };
                return Ok(Expr::new(kind, bool_type()));
            }
        }
        // Not folded: NULL = NULL would not tell whether both are.
        let keep = std::mem::replace(&mut self.keep, true);
        let equal = self.operator("=", Some(left), right);
        self.keep = keep;
        let equal = equal?;
        let (oper, mut args) = match equal.kind {
            ExprKind::Oper { oper, args } => (oper, args),
            kind => {
                let arg = Box::new(Expr::new(kind, bool_type()));
                return Ok(Expr::new(ExprKind::IsBool { arg, value: Some(true), negated: !negated }, bool_type()));
            }
        };
        let (Some(right), Some(left)) = (args.pop(), args.pop()) else { return Err(PgError::internal("= has two arguments")) };
        let mut shared = Shared::default();
        let (left, right) = (shared.value(left, &mut || self.new_col()), shared.value(right, &mut || self.new_col()));
        if left.ty.ty != right.ty.ty || left.ty.arrow != right.ty.arrow {
            // Equality of two types knows nothing of NULLs.
            let null = |e: &Expr| Expr::new(ExprKind::IsNull(Box::new(e.clone())), bool_type());
            let nulls = and(vec![null(&left), null(&right)]);
            let equal = Box::new(Expr::new(ExprKind::Oper { oper, args: vec![left, right] }, bool_type()));
            let same = or(vec![nulls, Expr::new(ExprKind::IsBool { arg: equal, value: Some(true), negated: false }, bool_type())]);
            return Ok(shared.around(if negated { same } else { not(same) }));
        }
        let test = ExprKind::IsDistinct { left: Box::new(left), right: Box::new(right), equal: Box::new(oper), negated };
        Ok(shared.around(Expr::new(test, bool_type())))
    }

    pub(super) fn bind_in_list(&mut self, expr: &E, list: &[E], negated: bool, syntax: &E) -> PgResult<Expr> {
        let mut value = self.bind_expr(expr)?;
        let mut items = Vec::with_capacity(list.len());
        for item in list {
            items.push(self.bind_expr(item)?);
        }
        let out = if matches!(value.kind, ExprKind::Row(_)) {
            let tests = items.into_iter().map(|item| self.compare("=", value.clone(), item, syntax)).collect::<PgResult<Vec<_>>>()?;
            or(tests)
        } else {
            // Those that read no column are one array where all can be of one type, which is none itself; what has no type yet gets it so.
            let mut fixed: Vec<(Expr, &E)> = Vec::new();
            let mut others = Vec::new();
            for (item, at) in items.into_iter().zip(list) {
                if reads_nothing(&item) { fixed.push((item, at)) } else { others.push(item) }
            }
            let plain = fixed.iter().all(|(item, _)| matches!(item.kind, ExprKind::Const(_) | ExprKind::Param(_)));
            let untyped = fixed.iter().map(|(item, _)| item).chain([&value]).any(|e| e.ty.ty == PgType::Unknown);
            let mut common = None;
            if fixed.len() > 1 && (plain || untyped) {
                let all = || std::iter::once(&value).chain(fixed.iter().map(|(item, _)| item));
                let of_all = |ty: &PgType| !ty.is_array() && all().all(|e| can_coerce(&e.ty.ty, ty, CastContext::Implicit));
                common = self.common_type(all(), "IN").ok().filter(of_all);
            }
            let mut tests = Vec::new();
            match common {
                Some(common) => {
                    let target = SqlType::new(common);
                    let mut elements = Vec::with_capacity(fixed.len());
                    for (item, at) in fixed {
                        elements.push(self.coerce(item, &target, CastContext::Implicit).map_err(|e| e.at(self.pos(at)))?);
                    }
                    let (elements, element) = self.one_form(elements)?;
                    tests.push(self.any_array(value.clone(), "=", elements, &element, false).map_err(|e| e.at(self.pos(syntax)))?);
                    // A parameter has its type by now.
                    if matches!(value.kind, ExprKind::Param(_)) {
                        value = self.bind_expr(expr)?;
                    }
                }
                None => others.splice(0..0, fixed.into_iter().map(|(item, _)| item)).for_each(drop),
            }
            for item in others {
                tests.push(self.compare("=", value.clone(), item, syntax)?);
            }
            or(tests)
        };
        Ok(if negated { not(out) } else { out })
    }

    /// `left op ANY (ARRAY[elements])`.
    pub(super) fn any_array(&mut self, left: Expr, op: &str, elements: Vec<Expr>, element: &SqlType, all: bool) -> PgResult<Expr> {
        let array_type = SqlType { typmod: -1, ..element.array_of() };
        let array = Expr::new(ExprKind::Array(elements), array_type);
        self.quantify(left, op, array, all)
    }

    /// Resolves `left op ANY|ALL (array)`.
    fn quantify(&mut self, left: Expr, op: &str, array: Expr, all: bool) -> PgResult<Expr> {
        let array = if array.ty.ty == PgType::Unknown {
            // Its elements are what the operator takes beside the value.
            let element = match &left.ty.ty {
                PgType::Unknown => PgType::Text,
                known => Some(self.find_operator(op, Some(known), &PgType::Unknown)?.right.clone())
                    .filter(|right| !right.is_pseudo())
                    .unwrap_or_else(|| known.clone()),
            };
            if element.is_array() {
                let message = format!("could not find array type for data type {element}");
                return Err(PgError::new(SqlState::UNDEFINED_OBJECT, message));
            }
            self.coerce(array, &SqlType::new(element.array_of()), CastContext::Implicit)?
        } else {
            array
        };
        let Some(element) = array.ty.ty.element() else {
            return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, "op ANY/ALL (array) requires array on right side"));
        };
        let oper = self.find_operator(op, Some(&left.ty.ty), &element)?;
        if oper.ret != PgType::Bool {
            return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, "op ANY/ALL (array) requires operator to yield boolean"));
        }
        // Rows are compared as they are.
        let as_given = |declared: &PgType| declared.is_pseudo() || matches!(declared, PgType::Record(None));
        let declared_left = oper.left.clone().unwrap_or(PgType::Text);
        let left_target = if as_given(&declared_left) { left.ty.ty.clone() } else { declared_left };
        let right_target = if as_given(&oper.right) { element } else { oper.right.clone() };
        let left = self.coerce(left, &SqlType::new(left_target), CastContext::Implicit)?;
        let array = self.coerce(array, &SqlType::new(right_target.array_of()), CastContext::Implicit)?;
        let (left, array) = if oper.left == Some(PgType::Bpchar) && oper.right == PgType::Bpchar {
            let array = match array.kind {
                ExprKind::Array(items) => {
                    let items = items.into_iter().map(|item| self.without_blanks(item)).collect::<PgResult<Vec<_>>>()?;
                    Expr::new(ExprKind::Array(items), SqlType { typmod: TRIMMED, ..array.ty })
                }
                kind => self.without_blanks(Expr::new(kind, array.ty))?,
            };
            (self.without_blanks(left)?, array)
        } else {
            self.align_quantified(left, array)?
        };
        Ok(Expr::new(ExprKind::AnyArray { left: Box::new(left), oper: OperRef(oper), array: Box::new(array), all }, bool_type()))
    }

    /// Gives a value and the elements of an array one Arrow form.
    fn align_quantified(&mut self, left: Expr, array: Expr) -> PgResult<(Expr, Expr)> {
        if left.ty.ty != PgType::Numeric {
            return Ok((left, array));
        }
        // A list of decimal constants against a decimal column keeps decimals, so that it can become key ranges.
        if let (ExprKind::Array(items), Some((p, s))) = (&array.kind, left.ty.decimal_parts()) {
            let form = SqlType::decimal(p, s);
            let fits = items.iter().all(|i| {
                i.ty.decimal_parts().is_some_and(|(ip, is)| is <= s && i16::from(ip) - i16::from(is) <= i16::from(p) - i16::from(s))
                    || i.is_null_const()
            });
            if fits {
                let items = items.clone().into_iter().map(|i| self.in_form(i, &form)).collect::<PgResult<Vec<_>>>()?;
                let ty = form.array_of();
                return Ok((left, Expr::new(ExprKind::Array(items), ty)));
            }
        }
        let left = self.widen(left)?;
        let array = match array.kind {
            ExprKind::Array(items) => {
                let items = items.into_iter().map(|i| self.widen(i)).collect::<PgResult<Vec<_>>>()?;
                Expr::new(ExprKind::Array(items), SqlType::new(PgType::Numeric.array_of()))
            }
            kind => {
                let array = Expr::new(kind, array.ty);
                self.widen(array)?
            }
        };
        Ok((left, array))
    }

    /// `value BETWEEN SYMMETRIC low AND high`: between them in either order.
    pub(super) fn bind_between_symmetric(&mut self, value: &E, low: &E, high: &E, negated: bool, syntax: &E) -> PgResult<Expr> {
        let value = self.bind_expr(value)?;
        let (low, high) = (self.bind_expr(low)?, self.bind_expr(high)?);
        let mut shared = Shared::default();
        let [value, low, high] = [value, low, high].map(|e| shared.large(e, &mut || self.new_col()));
        let (above, below) = if negated { ("<", ">") } else { (">=", "<=") };
        let mut orders = Vec::with_capacity(2);
        for (low, high) in [(low.clone(), high.clone()), (high, low)] {
            let both = vec![
                self.compare(above, self.learned(value.clone()), low, syntax)?,
                self.compare(below, self.learned(value.clone()), high, syntax)?,
            ];
            orders.push(if negated { or(both) } else { and(both) });
        }
        Ok(shared.around(if negated { and(orders) } else { or(orders) }))
    }

    /// `left op ANY|ALL (right)`.
    pub(super) fn bind_quantified(&mut self, left: &E, op: &str, right: &E, all: bool, syntax: &E) -> PgResult<Expr> {
        let mut inner = right;
        while let E::Nested(next) = inner {
            inner = next;
        }
        if let E::Subquery(query) = inner {
            return self.bind_any_query(left, op, query, all, syntax);
        }
        let value = self.bind_expr(left)?;
        let array = self.bind_expr(right)?;
        self.quantify(value, op, array, all).map_err(|e| e.at(self.pos(right)))
    }

    /// `(left…) op ANY|ALL (query)`.
    pub(super) fn bind_any_query(&mut self, left: &E, op: &str, query: &ast::Query, all: bool, syntax: &E) -> PgResult<Expr> {
        let value = self.bind_expr(left)?;
        // A whole row of a table is one value.
        let left_items = match value.kind {
            ExprKind::Row(items) if is_row_syntax(left) => items,
            kind => vec![Expr::new(kind, value.ty)],
        };
        let mut query = self.bind_subquery(query)?;
        let keys = match left_items.as_slice() {
            [one] if op == "=" && !all => row_address::as_keys(one, &mut query, &mut || self.new_col()),
            _ => None,
        };
        let left_items = keys.unwrap_or(left_items);
        self.same_width(left_items.len(), &query).map_err(|e| e.at(self.pos(syntax)))?;
        if left_items.len() > 1 && (op != "=" || all) {
            // Rows are not compared column by column: whether the comparison of both is true, for one row or for all.
            let right = query.outputs.iter().map(|o| Expr::column(o.col, o.ty.clone())).collect();
            let test = self.compare_rows(op, left_items, right).map_err(|e| e.at(self.pos(syntax)))?;
            let query = self.project_query(query, vec![test]);
            let oper = self.find_operator("=", Some(&PgType::Bool), &PgType::Bool)?;
            let truth = Expr::new(ExprKind::Const(ScalarValue::Boolean(Some(true))), bool_type());
            let kind = ExprKind::AnyQuery { left: vec![truth], opers: vec![OperRef(oper)], query: Box::new(query), all };
            return Ok(Expr::new(kind, bool_type()));
        }
        let mut opers = Vec::with_capacity(left_items.len());
        let mut lefts = Vec::with_capacity(left_items.len());
        let mut rights = Vec::with_capacity(left_items.len());
        for (l, output) in left_items.into_iter().zip(&query.outputs) {
            let right = Expr::column(output.col, output.ty.clone());
            let oper = self.find_operator(op, Some(&l.ty.ty), &right.ty.ty).map_err(|e| e.at(self.pos(syntax)))?;
            if oper.ret != PgType::Bool {
                let message = format!("row comparison operator must yield type boolean, not type {}", oper.ret);
                return Err(PgError::new(SqlState::DATATYPE_MISMATCH, message).at(self.pos(syntax)));
            }
            let bound = self.apply_operator(oper.clone(), vec![l, right])?;
            let ExprKind::Oper { mut args, .. } = bound.kind else { return Err(PgError::internal("a comparison was folded away")) };
            let (Some(r), Some(l)) = (args.pop(), args.pop()) else { return Err(PgError::internal("a comparison has two sides")) };
            opers.push(OperRef(oper));
            lefts.push(l);
            rights.push(r);
        }
        // The subquery gives its columns in the form that the comparison takes.
        query = self.project_query(query, rights);
        Ok(Expr::new(ExprKind::AnyQuery { left: lefts, opers, query: Box::new(query), all }, bool_type()))
    }
}

/// Whether a query of several columns might give another row when it is asked again.
pub(super) fn chooses(query: &Query) -> bool {
    let mut limited = false;
    walk::visit_all(&query.rel, &mut |rel| limited |= matches!(rel, Rel::Limit { .. } | Rel::DistinctOn { .. }));
    query.outputs.len() > 1 && (limited || !walk::is_steady(&query.rel))
}

/// Whether an expression is computed from constants and parameters alone.
fn reads_nothing(e: &Expr) -> bool {
    walk::is_plain(e) && !e.any(&mut |x| matches!(x.kind, ExprKind::Column(_)))
}

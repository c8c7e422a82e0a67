//! Expressions: operators, casts, predicates, subqueries, CASE and ARRAY.

use super::scope::Clause;
use super::subscript::is_reference;
use super::{Binder, MAX_DEPTH};
use crate::typed::deeper;
use crate::typed::once::Shared;
use crate::typed::tree::{Expr, ExprKind, Query};
use datafusion_common::ScalarValue;
use std::sync::Arc;
use stoa_pg::registry::CastContext;
use stoa_pg::types::RecordType;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_syntax::ast::{self, Expr as E};

pub fn bool_type() -> SqlType {
    SqlType::new(PgType::Bool)
}

/// Joins conditions by AND, flat.
pub fn and(exprs: Vec<Expr>) -> Expr {
    let mut flat = Vec::with_capacity(exprs.len());
    for e in exprs {
        match e.kind {
            ExprKind::And(inner) => flat.extend(inner),
            _ => flat.push(e),
        }
    }
    if flat.len() == 1
        && let Some(one) = flat.pop()
    {
        return one;
    }
    Expr::new(ExprKind::And(flat), bool_type())
}

pub fn or(exprs: Vec<Expr>) -> Expr {
    let mut flat = Vec::with_capacity(exprs.len());
    for e in exprs {
        match e.kind {
            ExprKind::Or(inner) => flat.extend(inner),
            _ => flat.push(e),
        }
    }
    if flat.len() == 1
        && let Some(one) = flat.pop()
    {
        return one;
    }
    Expr::new(ExprKind::Or(flat), bool_type())
}

pub fn not(expr: Expr) -> Expr {
    Expr::new(ExprKind::Not(Box::new(expr)), bool_type())
}

/// Whether NULL is written.
fn is_null(syntax: &E) -> bool {
    matches!(unnested(syntax), E::Value(value) if value.value == ast::Value::Null)
}

/// The operator's name in `pg_operator`.
fn operator_name(op: &ast::BinaryOperator) -> String {
    match op {
        ast::BinaryOperator::Custom(name) => name.clone(),
        ast::BinaryOperator::NotEq => "<>".into(),
        ast::BinaryOperator::PGExp | ast::BinaryOperator::BitwiseXor => "^".into(),
        ast::BinaryOperator::PGBitwiseXor => "#".into(),
        other => other.to_string(),
    }
}

impl Binder<'_> {
    /// The operator's name in `pg_operator`: all operators are in `pg_catalog`, and one of another schema is not there.
    fn named_operator(&self, op: &ast::BinaryOperator) -> PgResult<String> {
        let ast::BinaryOperator::PGCustomBinaryOperator(parts) = op else { return Ok(operator_name(op)) };
        match parts.as_slice() {
            [schema, name] if schema != "pg_catalog" => match self.ctx.catalog.schema_by_name(schema) {
                Some(_) => Ok(format!("{schema}.{name}")),
                None => Err(PgError::new(SqlState::INVALID_SCHEMA_NAME, format!("schema \"{schema}\" does not exist"))),
            },
            parts => Ok(parts.last().cloned().unwrap_or_default()),
        }
    }

    /// Binds one expression in the innermost scope.
    pub fn bind_expr(&mut self, syntax: &E) -> PgResult<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.depth -= 1;
            return Err(PgError::new(SqlState::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded")
                .hint("The statement nests expressions or queries too deeply."));
        }
        let result = deeper(|| self.bind_expr_at(syntax));
        self.depth -= 1;
        result.map_err(|e| self.at_literal(e, syntax))
    }

    /// A literal that its place cannot read is the offender, rather than the operator or the call around it.
    fn at_literal(&self, mut error: PgError, syntax: &E) -> PgError {
        if !error.code().as_str().starts_with("22") {
            return error;
        }
        let offender = operands(syntax).into_iter().find_map(|e| {
            let E::Value(value) = unnested(e) else { return None };
            let ast::Value::SingleQuotedString(text) = &value.value else { return None };
            error.message().contains(&format!("\"{text}\"")).then_some(value.span)
        });
        if let Some(position) = offender.and_then(|span| self.pos_span(span)) {
            error.fields_mut().position = Some(position);
        }
        error
    }

    fn bind_expr_at(&mut self, syntax: &E) -> PgResult<Expr> {
        match syntax {
            E::Identifier(ident) if super::dml::is_default(syntax) => {
                Err(PgError::new(SqlState::SYNTAX_ERROR, "DEFAULT is not allowed in this context").at(self.pos_span(ident.span)))
            }
            E::Identifier(ident) => self.bind_column(std::slice::from_ref(ident)),
            E::CompoundIdentifier(parts) => self.bind_column(parts),
            E::Value(value) => self.bind_value(value),
            E::Nested(inner) => self.bind_expr(inner),
            E::MatchAgainst { columns, match_value, opt_search_modifier } => {
                self.bind_match(columns, match_value, opt_search_modifier.as_ref()).map_err(|e| e.at(self.pos_span(match_value.span)))
            }
            E::TypedString(typed) => {
                let target = match typed.data_type {
                    // Before a literal, no length is no limit.
                    ast::DataType::Char(None) | ast::DataType::Character(None) => SqlType::new(PgType::Bpchar),
                    ast::DataType::Bit(None) => SqlType::new(PgType::Bit),
                    _ => self.type_of(&typed.data_type)?,
                };
                let literal = self.bind_value(&typed.value)?;
                self.coerce(literal, &target, CastContext::Explicit).map_err(|e| e.at(self.pos_span(typed.value.span)))
            }
            E::Interval(interval) => self.bind_interval(interval),
            E::Cast { expr, data_type, array, format, .. } => {
                if *array || format.is_some() {
                    return Err(PgError::unsupported("this form of CAST is not supported").at(self.pos(syntax)));
                }
                self.bind_cast(expr, data_type, syntax)
            }
            E::UnaryOp { op, expr } => self.bind_unary(*op, expr, syntax),
            E::BinaryOp { left, op, right } => self.bind_binary(left, op, right, syntax),
            E::IsNull(inner) => {
                let arg = self.bind_expr(inner)?;
                self.is_null(arg, false)
            }
            E::IsNotNull(inner) => {
                let arg = self.bind_expr(inner)?;
                self.is_null(arg, true)
            }
            E::IsTrue(inner) => self.is_bool(inner, Some(true), false, "IS TRUE"),
            E::IsNotTrue(inner) => self.is_bool(inner, Some(true), true, "IS NOT TRUE"),
            E::IsFalse(inner) => self.is_bool(inner, Some(false), false, "IS FALSE"),
            E::IsNotFalse(inner) => self.is_bool(inner, Some(false), true, "IS NOT FALSE"),
            E::IsUnknown(inner) => self.is_bool(inner, None, false, "IS UNKNOWN"),
            E::IsNotUnknown(inner) => self.is_bool(inner, None, true, "IS NOT UNKNOWN"),
            E::IsDistinctFrom(left, right) => self.is_distinct(left, right, false),
            E::IsNotDistinctFrom(left, right) => self.is_distinct(left, right, true),
            E::Between { expr, negated, low, high } => self.bind_between(expr, low, high, *negated, syntax),
            E::InList { expr, list, negated } => self.bind_in_list(expr, list, *negated, syntax),
            E::InSubquery { expr, subquery, negated } => {
                let found = self.bind_any_query(expr, "=", subquery, false, syntax)?;
                Ok(if *negated { not(found) } else { found })
            }
            E::AnyOp { left, compare_op, right, .. } => self.bind_quantified(
                left,
                &self.named_operator(compare_op).map_err(|e| e.at(self.operator_pos(left, right)))?,
                right,
                false,
                syntax,
            ),
            E::AllOp { left, compare_op, right } => self.bind_quantified(
                left,
                &self.named_operator(compare_op).map_err(|e| e.at(self.operator_pos(left, right)))?,
                right,
                true,
                syntax,
            ),
            E::Like { negated, expr, pattern, escape_char, any } => {
                if *any {
                    return Err(PgError::unsupported("LIKE ANY without an array is not supported").at(self.pos(syntax)));
                }
                self.bind_like(if *negated { "!~~" } else { "~~" }, expr, pattern, escape_char.as_ref(), "like_escape", syntax)
            }
            E::ILike { negated, expr, pattern, escape_char, .. } => {
                self.bind_like(if *negated { "!~~*" } else { "~~*" }, expr, pattern, escape_char.as_ref(), "like_escape", syntax)
            }
            E::SimilarTo { .. }
            | E::AtTimeZone { .. }
            | E::Extract { .. }
            | E::Ceil { .. }
            | E::Floor { .. }
            | E::Position { .. }
            | E::Substring { .. }
            | E::Trim { .. }
            | E::Overlay { .. }
            | E::IsNormalized { .. } => self.bind_worded_call(syntax),
            E::Collate { expr, collation } => self.bind_collate(expr, collation),
            E::Function(function) => self.bind_function(function, syntax),
            E::Case { operand, conditions, else_result, .. } => {
                self.bind_case(operand.as_deref(), conditions, else_result.as_deref(), syntax)
            }
            E::Exists { subquery, negated } => self.bind_exists(subquery, *negated),
            E::Subquery(subquery) => {
                let query = self.bind_subquery(subquery)?;
                self.scalar_subquery(query).map_err(|e| e.at(self.pos(syntax)))
            }
            E::Tuple(items) => {
                let items = items.iter().map(|i| self.bind_expr(i)).collect::<PgResult<Vec<_>>>()?;
                self.row(items)
            }
            E::Array(array) => self.bind_array(&array.elem, None, syntax),
            E::CompoundFieldAccess { root, access_chain } => self.bind_access(root, access_chain, syntax),
            E::InUnnest { .. } | E::RLike { .. } => Err(PgError::new(SqlState::SYNTAX_ERROR, "syntax error").at(self.pos(syntax))),
            E::Wildcard(_) | E::QualifiedWildcard(..) => {
                Err(PgError::new(SqlState::SYNTAX_ERROR, "row expansion via \"*\" is not supported here").at(self.pos(syntax)))
            }
            E::Prefixed { prefix, value } => {
                // A prefix operator that the tree has no name for.
                let name = prefix.value.strip_prefix(stoa_syntax::marks::PREFIX_OPERATOR).unwrap_or(&prefix.value).trim();
                let arg = self.bind_expr(value)?;
                self.operator(name, None, arg).map_err(|e| e.at(self.pos_span(prefix.span)))
            }
            other => Err(PgError::unsupported(format!("expression is not supported: {other}")).at(self.pos(other))),
        }
    }

    fn bind_between(&mut self, expr: &E, low: &E, high: &E, negated: bool, syntax: &E) -> PgResult<Expr> {
        if let E::Prefixed { prefix, value: low } = low
            && prefix.value == stoa_syntax::marks::SYMMETRIC
        {
            return self.bind_between_symmetric(expr, low, high, negated, syntax);
        }
        let value = self.bind_expr(expr)?;
        let mut shared = Shared::default();
        let value = shared.large(value, &mut || self.new_col());
        let (low, high) = (self.bind_expr(low)?, self.bind_expr(high)?);
        let (above, below) = if negated { ("<", ">") } else { (">=", "<=") };
        let lower = self.compare(above, value.clone(), low, syntax)?;
        let upper = self.compare(below, self.learned(value), high, syntax)?;
        Ok(shared.around(if negated { or(vec![lower, upper]) } else { and(vec![lower, upper]) }))
    }

    fn bind_exists(&mut self, subquery: &ast::Query, negated: bool) -> PgResult<Expr> {
        let mut query = self.bind_subquery(subquery)?;
        // Nobody asks what the rows are: what their columns would do is not done.
        if let crate::typed::tree::Rel::Project { exprs, .. } = &mut query.rel {
            exprs.retain(|(_, e)| !super::aggregate::walk_effects(e));
            query.outputs.retain(|o| exprs.iter().any(|(id, _)| *id == o.col));
        }
        let exists = Expr::new(ExprKind::Exists(Box::new(query)), bool_type());
        Ok(if negated { not(exists) } else { exists })
    }

    fn bind_collate(&mut self, expr: &E, collation: &ast::ObjectName) -> PgResult<Expr> {
        let name = super::name_parts(collation)?;
        let base = name.last().map_or("", String::as_str);
        // A literal stays without a type: what is around it decides.
        let arg = self.bind_expr(expr)?;
        let at = self.pos_behind(expr);
        if arg.ty.ty != PgType::Unknown && !arg.ty.ty.is_string() && arg.ty.ty.element().is_none_or(|e| !e.is_string()) {
            return Err(PgError::new(SqlState::DATATYPE_MISMATCH, format!("collations are not supported by type {}", arg.ty.ty)).at(at));
        }
        if !matches!(base, "C" | "POSIX" | "default" | "ucs_basic") {
            return Err(PgError::new(
                SqlState::UNDEFINED_OBJECT,
                format!("collation \"{}\" for encoding \"UTF8\" does not exist", name.join(".")),
            )
            .at(at)
            .hint("Texts are ordered by their bytes: \"C\", \"POSIX\" and \"default\" exist."));
        }
        Ok(arg)
    }

    fn bind_like(
        &mut self,
        op: &str,
        expr: &E,
        pattern: &E,
        escape: Option<&ast::ValueWithSpan>,
        escaper: &str,
        syntax: &E,
    ) -> PgResult<Expr> {
        let value = self.bind_expr(expr)?;
        if let (E::Tuple(_), ExprKind::Row(items), E::Subquery(query), None) = (expr, &value.kind, pattern, escape) {
            let error = self.no_row_comparison_with(op, items, query)?;
            return Err(error.at(self.operator_pos(expr, pattern)));
        }
        // sqlparser reads LIKE ANY (…) as an expression of its own inside the pattern.
        let mut pattern_expr = self.bind_expr(pattern)?;
        if let Some(escape) = escape {
            let escape = self.bind_value(escape)?;
            pattern_expr = self.call(escaper, vec![pattern_expr, escape]).map_err(|e| e.at(self.pos(syntax)))?;
        }
        self.operator(op, Some(value), pattern_expr).map_err(|e| e.at(self.pos(syntax)))
    }

    fn bind_interval(&mut self, interval: &ast::Interval) -> PgResult<Expr> {
        let mut mask = None;
        if let Some(first) = &interval.leading_field {
            let last = interval.last_field.as_ref();
            let text = match last {
                Some(last) => format!("{first} TO {last}"),
                None => first.to_string(),
            };
            mask = Some(
                interval_fields(&text.to_uppercase())
                    .ok_or_else(|| PgError::new(SqlState::SYNTAX_ERROR, format!("syntax error at or near \"{first}\"")))?,
            );
        }
        let precision = interval.fractional_seconds_precision.or(interval.leading_precision);
        let typmod = match (mask, precision) {
            (None, None) => -1,
            (mask, p) => (mask.unwrap_or(0x7fff) << 16) | p.map_or(0xffff, |p| p.min(6) as i32),
        };
        let value = self.bind_expr(&interval.value)?;
        let target = SqlType::with_typmod(PgType::Interval, typmod);
        self.coerce(value, &target, CastContext::Explicit).map_err(|e| e.at(self.pos(interval.value.as_ref())))
    }

    fn bind_cast(&mut self, expr: &E, data_type: &ast::DataType, syntax: &E) -> PgResult<Expr> {
        let sign = self.cast_sign(expr, syntax);
        let target = self.type_of(data_type).map_err(|e| e.at(sign.map(|(_, name)| name).or_else(|| self.pos(syntax))))?;
        // ARRAY[…]::type[] gives the elements their type.
        let mut inner = expr;
        while let E::Nested(next) = inner {
            inner = next;
        }
        if let (E::Array(array), Some(element)) = (inner, target.ty.element())
            && array.named
        {
            let element = SqlType::with_typmod(element, target.typmod);
            return self.bind_array(&array.elem, Some(&element), syntax);
        }
        let arg = self.bind_expr(expr)?;
        let from = arg.ty.ty.clone();
        let value = self
            .coerce(arg, &target, CastContext::Explicit)
            .map_err(|e| {
                if e.code() == SqlState::CANNOT_COERCE {
                    PgError::new(SqlState::CANNOT_COERCE, format!("cannot cast type {from} to {}", target.ty))
                        .at(sign.map(|(sign, _)| sign).or_else(|| self.pos(syntax)))
                } else {
                    e
                }
            })
            .map_err(|e| e.at(self.pos(expr)))?;
        if target.typmod >= 0 || value.ty.typmod == -1 || value.ty.ty != target.ty {
            return Ok(value);
        }
        // A cast without a modifier takes that of its argument away.
        let ty = SqlType { typmod: -1, ..value.ty.clone() };
        Ok(self.fold(Expr::new(ExprKind::Cast { arg: Box::new(value), explicit: false }, ty)))
    }

    /// Where the `::` of a cast stands, and where its type begins.
    fn cast_sign(&self, expr: &E, syntax: &E) -> Option<(usize, usize)> {
        let E::Cast { kind: ast::CastKind::DoubleColon, .. } = syntax else { return None };
        let end = self.pos_after(expr)?;
        let mut blank = false;
        let mut sign = None;
        for (i, c) in self.ctx.text.chars().skip(end - 1).enumerate() {
            match (c, sign) {
                (':', None) => sign = Some(end + i),
                (':', Some(_)) if !blank => blank = true,
                (c, Some(sign)) if blank && !c.is_whitespace() => return Some((sign, end + i)),
                (c, None) if !c.is_whitespace() && c != ')' => return None,
                _ => {}
            }
        }
        None
    }

    fn bind_unary(&mut self, op: ast::UnaryOperator, expr: &E, syntax: &E) -> PgResult<Expr> {
        use ast::UnaryOperator as U;
        if op == U::Not {
            let arg = self.bind_expr(expr)?;
            let arg = self.coerce_bool(arg, "NOT").map_err(|e| e.at(self.pos(expr)))?;
            return Ok(not(arg));
        }
        // PostgreSQL's unary minus binds tighter than ^, the parser's does not: - a ^ b is (- a) ^ b.
        if matches!(op, U::Minus | U::Plus)
            && let E::BinaryOp { left, op: power @ (ast::BinaryOperator::PGExp | ast::BinaryOperator::BitwiseXor), right } = expr
        {
            let left = E::UnaryOp { op, expr: left.clone() };
            return self.bind_binary(&left, power, right, syntax);
        }
        // A minus before a number is part of it.
        if op == U::Minus
            && let E::Value(value) = expr
            && let ast::Value::Number(text, _) = &value.value
        {
            return self.number(&format!("-{text}")).map_err(|e| e.at(self.pos(syntax)));
        }
        let name = match op {
            U::Plus => "+",
            U::Minus => "-",
            U::BitwiseNot => "~",
            U::PGAbs => "@",
            U::PGSquareRoot => "|/",
            U::PGCubeRoot => "||/",
            other => {
                return Err(PgError::new(SqlState::UNDEFINED_FUNCTION, format!("operator does not exist: {other}")).at(self.pos(syntax)));
            }
        };
        let arg = self.bind_expr(expr)?;
        self.operator(name, None, arg).map_err(|e| e.at(self.pos(syntax)))
    }

    fn bind_binary(&mut self, left: &E, op: &ast::BinaryOperator, right: &E, syntax: &E) -> PgResult<Expr> {
        use ast::BinaryOperator as B;
        match op {
            B::And | B::Or => {
                // Long chains are flat: no recursion a link.
                let mut parts = Vec::new();
                flatten(syntax, op, &mut parts);
                let what = if *op == B::And { "AND" } else { "OR" };
                let mut out = Vec::with_capacity(parts.len());
                for part in parts {
                    let bound = self.bind_expr(part)?;
                    out.push(self.coerce_bool(bound, what).map_err(|e| e.at(self.pos(part)))?);
                }
                Ok(if *op == B::And { and(out) } else { or(out) })
            }
            B::Overlaps => {
                let mut args = self.overlapping(left, "left")?;
                args.extend(self.overlapping(right, "right")?);
                self.call("overlaps", args).map_err(|e| e.at(self.pos(syntax)))
            }
            B::Eq if self.ctx.eval.settings.null_equals && (is_null(left) || is_null(right)) => {
                let arg = self.bind_expr(if is_null(left) { right } else { left })?;
                self.is_null(arg, false)
            }
            B::Eq | B::NotEq | B::Lt | B::LtEq | B::Gt | B::GtEq => {
                let name = operator_name(op);
                let l = self.bind_expr(left)?;
                // A whole row of a table is one value.
                if let (ExprKind::Row(_), E::Subquery(query)) = (&l.kind, right)
                    && is_row_syntax(left)
                {
                    return self.row_against_query(l, &name, query, syntax);
                }
                let r = self.bind_expr(right)?;
                self.compare(&name, l, r, syntax)
            }
            _ => {
                // From the left, without recursion along the chain.
                let mut links = vec![(syntax, left, op, right)];
                let mut first = left;
                while let E::BinaryOp { left, op, right } = first
                    && !matches!(op, B::And | B::Or | B::Overlaps | B::Eq | B::NotEq | B::Lt | B::LtEq | B::Gt | B::GtEq)
                {
                    links.push((first, left, op, right));
                    first = left;
                }
                let mut out = self.bind_expr(first)?;
                while let Some((link, left, op, right)) = links.pop() {
                    out = self.bind_link(out, left, op, right).map_err(|e| self.at_literal(e, link))?;
                }
                Ok(out)
            }
        }
    }

    /// An operator whose left side is bound already.
    fn bind_link(&mut self, l: Expr, left: &E, op: &ast::BinaryOperator, right: &E) -> PgResult<Expr> {
        let name = self.named_operator(op).map_err(|e| e.at(self.operator_pos(left, right)))?;
        if let (E::Tuple(_), ExprKind::Row(items), E::Subquery(query)) = (left, &l.kind, right) {
            let error = self.no_row_comparison_with(&name, items, query)?;
            return Err(error.at(self.operator_pos(left, right)));
        }
        let r = self.bind_expr(right)?;
        if let (ExprKind::Row(l), ExprKind::Row(r)) = (&l.kind, &r.kind)
            && !is_reference(left)
            && !is_reference(right)
            && l.len() == r.len()
        {
            return Err(self.no_row_comparison(&name, l, r).at(self.operator_pos(left, right)));
        }
        self.operator(&name, Some(l), r).map_err(|e| e.at(self.operator_pos(left, right)))
    }

    /// PostgreSQL points at the operator; the syntax tree knows the ends of the operands.
    pub(super) fn operator_pos(&self, left: &E, right: &E) -> Option<usize> {
        let at = self.pos_behind(left)?;
        (at < self.pos(right)?).then_some(at)
    }

    /// Where the next word or operator behind an operand stands.
    fn pos_behind(&self, operand: &E) -> Option<usize> {
        let end = self.pos_after(operand)?;
        let skip = self.ctx.text.chars().skip(end - 1).position(|c| !c.is_whitespace() && c != ')')?;
        Some(end + skip)
    }

    fn pos_after(&self, node: &E) -> Option<usize> {
        use ast::Spanned;
        let end = node.span().end;
        self.offset(end)
    }

    /// The two ends of a period, as a row on one side of OVERLAPS.
    fn overlapping(&mut self, row: &E, side: &str) -> PgResult<Vec<Expr>> {
        let ends: Vec<&E> = match row {
            E::Tuple(items) => items.iter().collect(),
            E::Function(call) => super::function::call_args(call)?.positional,
            _ => Vec::new(),
        };
        if ends.len() != 2 {
            let message = format!("wrong number of parameters on {side} side of OVERLAPS expression");
            return Err(PgError::new(SqlState::SYNTAX_ERROR, message).at(self.pos(row)));
        }
        ends.into_iter().map(|end| self.bind_expr(end)).collect()
    }

    /// ROW(…): an anonymous record.
    pub fn row(&mut self, items: Vec<Expr>) -> PgResult<Expr> {
        let mut fields = Vec::with_capacity(items.len());
        let mut out = Vec::with_capacity(items.len());
        for (i, item) in items.into_iter().enumerate() {
            fields.push((format!("f{}", i + 1), item.ty.clone()));
            out.push(item);
        }
        Ok(Expr::new(ExprKind::Row(out), SqlType::new(PgType::Record(Some(Arc::new(RecordType { fields }))))))
    }

    fn is_null(&mut self, arg: Expr, negated: bool) -> PgResult<Expr> {
        if let ExprKind::Row(items) = arg.kind {
            // A row is NULL if all its fields are, and NOT NULL if none is. A row in a field is a value, whatever is in it.
            let tests = items.into_iter().map(|item| self.is_null_value(item, negated)).collect::<PgResult<Vec<_>>>()?;
            return Ok(if tests.is_empty() {
                Expr::new(ExprKind::Const(ScalarValue::Boolean(Some(true))), bool_type())
            } else {
                and(tests)
            });
        }
        if matches!(arg.ty.ty, PgType::Record(Some(_))) {
            return Ok(Expr::new(ExprKind::RowIsNull { arg: Box::new(arg), negated }, bool_type()));
        }
        self.is_null_value(arg, negated)
    }

    fn is_null_value(&mut self, arg: Expr, negated: bool) -> PgResult<Expr> {
        let arg = Box::new(self.resolve_any(arg)?);
        Ok(Expr::new(if negated { ExprKind::IsNotNull(arg) } else { ExprKind::IsNull(arg) }, bool_type()))
    }

    fn is_bool(&mut self, inner: &E, value: Option<bool>, negated: bool, what: &str) -> PgResult<Expr> {
        let arg = self.bind_expr(inner)?;
        let arg = self.coerce_bool(arg, what).map_err(|e| e.at(self.pos(inner)))?;
        Ok(Expr::new(ExprKind::IsBool { arg: Box::new(arg), value, negated }, bool_type()))
    }

    /// Checks that a subquery has one column and makes it a value.
    pub fn scalar_subquery(&mut self, query: Query) -> PgResult<Expr> {
        match query.outputs.as_slice() {
            [one] => {
                let ty = one.ty.clone();
                Ok(Expr::new(ExprKind::ScalarSubquery(Box::new(query)), ty))
            }
            [] => Err(PgError::new(SqlState::SYNTAX_ERROR, "subquery must return a column")),
            _ => Err(PgError::new(SqlState::SYNTAX_ERROR, "subquery must return only one column")),
        }
    }

    fn bind_case(&mut self, operand: Option<&E>, conditions: &[ast::CaseWhen], otherwise: Option<&E>, syntax: &E) -> PgResult<Expr> {
        let mut shared = Shared::default();
        let operand = match operand {
            Some(o) => {
                let bound = self.bind_expr(o)?;
                let resolved = self.resolve_unknown(bound)?;
                Some(shared.value(resolved, &mut || self.new_col()))
            }
            None => None,
        };
        let mut tests = Vec::with_capacity(conditions.len());
        let mut results = Vec::with_capacity(conditions.len() + 1);
        self.check_no_sets("CASE", |b| {
            for when in conditions {
                let condition = b.bind_expr(&when.condition)?;
                tests.push(match &operand {
                    Some(operand) => b.compare("=", operand.clone(), condition, &when.condition)?,
                    None => b.coerce_bool(condition, "CASE/WHEN").map_err(|e| e.at(b.pos(&when.condition)))?,
                });
            }
            // PostgreSQL takes ELSE first when it looks for the common type.
            for when in conditions {
                results.push(b.bind_expr(&when.result)?);
            }
            if let Some(otherwise) = otherwise {
                results.insert(0, b.bind_expr(otherwise)?);
            }
            Ok(())
        })
        .map_err(|e| e.at(self.pos(syntax)))?;
        let written: Vec<&E> = otherwise.into_iter().chain(conditions.iter().map(|when| &when.result)).collect();
        let (mut results, mut ty) = self.unify_written(results, "CASE", &|b, i| written.get(i).and_then(|e| b.pos(*e)))?;
        let otherwise = otherwise.map(|_| Box::new(results.remove(0)));
        if otherwise.is_none() {
            // The NULL of a missing ELSE has no modifier.
            ty.typmod = -1;
            results = results.into_iter().map(|result| self.in_form(result, &ty)).collect::<PgResult<_>>()?;
        }
        let whens = tests.into_iter().zip(results).collect();
        Ok(shared.around(Expr::new(ExprKind::Case { whens, otherwise }, ty)))
    }

    /// ARRAY[…], the elements of a given type or of their common one.
    pub fn bind_array(&mut self, elements: &[E], element: Option<&SqlType>, syntax: &E) -> PgResult<Expr> {
        if elements.is_empty() {
            return match element {
                Some(element) => Ok(Expr::new(ExprKind::Array(Vec::new()), element.array_of())),
                None => Err(PgError::new(SqlState::INDETERMINATE_DATATYPE, "cannot determine type of empty array")
                    .hint("Explicitly cast to the desired type, for example ARRAY[]::integer[].")
                    .at(self.pos(syntax))),
            };
        }
        let mut items = Vec::with_capacity(elements.len());
        for e in elements {
            let item = match e {
                // Inner brackets need no ARRAY.
                E::Array(inner) => self.bind_array(&inner.elem, element, e)?,
                other => self.bind_expr(other)?,
            };
            items.push(item);
        }
        // Vectors of the catalogs are elements like any other.
        let nested = items.iter().any(|i| matches!(i.ty.ty, PgType::Array(_)));
        let (items, ty) = match element {
            Some(element) => {
                let target = if nested { element.array_of() } else { element.clone() };
                let cast = items.into_iter().map(|i| self.coerce(i, &target, CastContext::Explicit)).collect::<PgResult<Vec<_>>>()?;
                self.one_form(cast)?
            }
            None => self.unify_written(items, "ARRAY", &|b, i| elements.get(i).and_then(|e| b.pos(e)))?,
        };
        // ARRAY[ARRAY[]] is an empty array.
        if nested && items.iter().all(|i| matches!(&i.kind, ExprKind::Array(inner) if inner.is_empty())) {
            return Ok(Expr::new(ExprKind::Array(Vec::new()), SqlType::new(ty.ty)));
        }
        let array_type = ty.array_of();
        Ok(Expr::new(ExprKind::Array(items), array_type))
    }

    /// Runs `f` with set-returning functions refused, as inside CASE and COALESCE.
    pub fn check_no_sets<T>(&mut self, what: &'static str, f: impl FnOnce(&mut Self) -> PgResult<T>) -> PgResult<T> {
        let before = self.no_sets.replace(what);
        let result = f(self);
        self.no_sets = before;
        result
    }

    /// The clause of the innermost scope.
    pub fn clause(&self) -> Clause {
        self.scopes.last().map_or(Clause::Default, |s| s.clause)
    }

    /// Runs `f` with another clause in the innermost scope.
    pub fn in_clause<T>(&mut self, clause: Clause, f: impl FnOnce(&mut Self) -> PgResult<T>) -> PgResult<T> {
        let Some(scope) = self.scopes.last_mut() else { return f(self) };
        let before = std::mem::replace(&mut scope.clause, clause);
        let sets = if clause == Clause::SelectList { self.no_sets.take() } else { self.no_sets };
        let result = f(self);
        self.no_sets = sets;
        if let Some(scope) = self.scopes.last_mut() {
            scope.clause = before;
        }
        result
    }
}

/// The operands of a chain of one associative operator.
fn flatten<'e>(expr: &'e E, op: &ast::BinaryOperator, out: &mut Vec<&'e E>) {
    let mut stack = vec![expr];
    while let Some(e) = stack.pop() {
        match e {
            E::BinaryOp { left, op: o, right } if o == op => {
                stack.push(right);
                stack.push(left);
            }
            other => out.push(other),
        }
    }
}

/// PostgreSQL's mask for `DAY TO SECOND` and its kin.
fn interval_fields(text: &str) -> Option<i32> {
    const MONTH: i32 = 1 << 1;
    const YEAR: i32 = 1 << 2;
    const DAY: i32 = 1 << 3;
    const HOUR: i32 = 1 << 10;
    const MINUTE: i32 = 1 << 11;
    const SECOND: i32 = 1 << 12;
    Some(match text {
        "YEAR" => YEAR,
        "MONTH" => MONTH,
        "DAY" => DAY,
        "HOUR" => HOUR,
        "MINUTE" => MINUTE,
        "SECOND" => SECOND,
        "YEAR TO MONTH" => YEAR | MONTH,
        "DAY TO HOUR" => DAY | HOUR,
        "DAY TO MINUTE" => DAY | HOUR | MINUTE,
        "DAY TO SECOND" => DAY | HOUR | MINUTE | SECOND,
        "HOUR TO MINUTE" => HOUR | MINUTE,
        "HOUR TO SECOND" => HOUR | MINUTE | SECOND,
        "MINUTE TO SECOND" => MINUTE | SECOND,
        _ => return None,
    })
}

/// Whether a row is written as one, and not as the name of a table.
pub(super) fn is_row_syntax(e: &E) -> bool {
    matches!(unnested(e), E::Tuple(_) | E::Function(_))
}

pub(super) fn unnested(mut e: &E) -> &E {
    while let E::Nested(inner) = e {
        e = inner;
    }
    e
}

/// The expressions that stand directly under one.
fn operands(syntax: &E) -> Vec<&E> {
    match syntax {
        E::BinaryOp { left, right, .. } | E::IsDistinctFrom(left, right) | E::IsNotDistinctFrom(left, right) => vec![left, right],
        E::Between { expr, low, high, .. } => vec![expr, low, high],
        E::InList { expr, list, .. } => std::iter::once(&**expr).chain(list).collect(),
        E::AnyOp { left, right, .. } | E::AllOp { left, right, .. } => vec![left, right],
        E::Array(array) => array.elem.iter().collect(),
        E::Tuple(items) => items.iter().collect(),
        E::Case { operand, conditions, else_result, .. } => operand
            .iter()
            .map(|e| &**e)
            .chain(conditions.iter().flat_map(|c| [&c.condition, &c.result]))
            .chain(else_result.iter().map(|e| &**e))
            .collect(),
        E::Function(function) => match &function.args {
            ast::FunctionArguments::List(list) => list
                .args
                .iter()
                .filter_map(|a| match a {
                    ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(e)) => Some(e),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

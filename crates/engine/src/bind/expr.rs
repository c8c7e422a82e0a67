//! Expressions: columns, operators, casts, predicates, subqueries.

use super::literal::unknown;
use super::resolve::can_coerce;
use super::scope::{Clause, Refusal, ScopeColumn, record_type};
use super::tree::{ColId, Expr, ExprKind, OperRef, Query};
use super::{Binder, MAX_DEPTH, fold, walk};
use crate::catalog::Relation;
use datafusion::common::ScalarValue;
use std::sync::Arc;
use stoa_pg::registry::CastContext;
use stoa_pg::types::{RecordType, list_of};
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_syntax::ast::{self, Expr as E};

pub(crate) fn bool_type() -> SqlType {
    SqlType::new(PgType::Bool)
}

/// Subscripts of jsonb are integers or texts.
pub(super) fn check_jsonb_subscript(ty: &PgType) -> PgResult<()> {
    if *ty == PgType::Unknown || [PgType::Int4, PgType::Text].iter().any(|target| can_coerce(ty, target, CastContext::Implicit)) {
        return Ok(());
    }
    Err(PgError::new(SqlState::DATATYPE_MISMATCH, format!("subscript type {ty} is not supported"))
        .hint("jsonb subscript must be coercible to either integer or text."))
}

/// Joins conditions by AND, flat.
pub(crate) fn and(exprs: Vec<Expr>) -> Expr {
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

pub(crate) fn or(exprs: Vec<Expr>) -> Expr {
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

pub(crate) fn not(expr: Expr) -> Expr {
    Expr::new(ExprKind::Not(Box::new(expr)), bool_type())
}

/// The operator's name in `pg_operator`.
fn operator_name(op: &ast::BinaryOperator) -> String {
    match op {
        ast::BinaryOperator::PGCustomBinaryOperator(parts) => parts.last().cloned().unwrap_or_default(),
        ast::BinaryOperator::Custom(name) => name.clone(),
        ast::BinaryOperator::NotEq => "<>".into(),
        ast::BinaryOperator::PGExp | ast::BinaryOperator::BitwiseXor => "^".into(),
        ast::BinaryOperator::PGBitwiseXor => "#".into(),
        other => other.to_string(),
    }
}

impl Binder<'_> {
    /// Binds one expression in the innermost scope.
    pub(crate) fn bind_expr(&mut self, syntax: &E) -> PgResult<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.depth -= 1;
            return Err(PgError::new(SqlState::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded")
                .hint("The statement nests expressions or queries too deeply."));
        }
        let result = self.bind_expr_at(syntax);
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
                let target = self.type_of(&typed.data_type)?;
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
            E::Between { expr, negated, low, high } => {
                if let E::Prefixed { prefix, value: low } = &**low
                    && prefix.value == stoa_syntax::marks::SYMMETRIC
                {
                    return self.bind_between_symmetric(expr, low, high, *negated, syntax);
                }
                let value = self.bind_expr(expr)?;
                let (low, high) = (self.bind_expr(low)?, self.bind_expr(high)?);
                let (lower, upper) = if *negated {
                    (self.compare("<", value.clone(), low, syntax)?, self.compare(">", value, high, syntax)?)
                } else {
                    (self.compare(">=", value.clone(), low, syntax)?, self.compare("<=", value, high, syntax)?)
                };
                Ok(if *negated { or(vec![lower, upper]) } else { and(vec![lower, upper]) })
            }
            E::InList { expr, list, negated } => self.bind_in_list(expr, list, *negated, syntax),
            E::InSubquery { expr, subquery, negated } => {
                let found = self.bind_any_query(expr, "=", subquery, false, syntax)?;
                Ok(if *negated { not(found) } else { found })
            }
            E::AnyOp { left, compare_op, right, .. } => self.bind_quantified(left, &operator_name(compare_op), right, false, syntax),
            E::AllOp { left, compare_op, right } => self.bind_quantified(left, &operator_name(compare_op), right, true, syntax),
            E::Like { negated, expr, pattern, escape_char, any } => {
                if *any {
                    return Err(PgError::unsupported("LIKE ANY without an array is not supported").at(self.pos(syntax)));
                }
                self.bind_like(if *negated { "!~~" } else { "~~" }, expr, pattern, escape_char.as_ref(), "like_escape", syntax)
            }
            E::ILike { negated, expr, pattern, escape_char, .. } => {
                self.bind_like(if *negated { "!~~*" } else { "~~*" }, expr, pattern, escape_char.as_ref(), "like_escape", syntax)
            }
            E::SimilarTo { negated, expr, pattern, escape_char } => {
                let value = self.bind_expr(expr)?;
                let pattern = self.bind_expr(pattern)?;
                let mut args = vec![pattern];
                if let Some(escape) = escape_char {
                    args.push(self.bind_value(escape)?);
                }
                let regexp = self.call("similar_to_escape", args).map_err(|e| e.at(self.pos(syntax)))?;
                self.operator(if *negated { "!~" } else { "~" }, Some(value), regexp).map_err(|e| e.at(self.pos(syntax)))
            }
            E::AtTimeZone { timestamp, time_zone } => {
                let value = self.bind_expr(timestamp)?;
                let zone = self.bind_expr(time_zone)?;
                self.call("timezone", vec![zone, value]).map_err(|e| e.at(self.pos(syntax)))
            }
            E::Extract { field, expr, .. } => {
                let name = field.to_string();
                let name = name.trim_matches(['"', '\'']).to_lowercase();
                let value = self.bind_expr(expr)?;
                self.call("extract", vec![unknown(&name), value]).map_err(|e| e.at(self.pos(expr.as_ref())))
            }
            E::Ceil { expr, field } => self.rounding("ceil", expr, field, syntax),
            E::Floor { expr, field } => self.rounding("floor", expr, field, syntax),
            E::Position { expr, r#in } => {
                let (what, string) = (self.bind_expr(expr)?, self.bind_expr(r#in)?);
                self.call("position", vec![string, what]).map_err(|e| e.at(self.pos(syntax)))
            }
            E::Substring { expr, substring_from, substring_for, .. } => {
                let mut args = vec![self.bind_expr(expr)?];
                match (substring_from, substring_for) {
                    (Some(from), for_) => {
                        args.push(self.bind_expr(from)?);
                        if let Some(for_) = for_ {
                            args.push(self.bind_expr(for_)?);
                        }
                    }
                    (None, Some(for_)) => {
                        args.push(Expr::new(ExprKind::Const(ScalarValue::Int32(Some(1))), SqlType::new(PgType::Int4)));
                        args.push(self.bind_expr(for_)?);
                    }
                    (None, None) => {}
                }
                self.call("substring", args).map_err(|e| e.at(self.pos(syntax)))
            }
            E::Trim { trim_where, trim_what, expr, trim_characters } => {
                let name = match trim_where {
                    Some(ast::TrimWhereField::Leading) => "ltrim",
                    Some(ast::TrimWhereField::Trailing) => "rtrim",
                    _ => "btrim",
                };
                let mut args = vec![self.bind_expr(expr)?];
                if let Some(what) = trim_what {
                    args.push(self.bind_expr(what)?);
                }
                for extra in trim_characters.iter().flatten() {
                    args.push(self.bind_expr(extra)?);
                }
                self.call(name, args).map_err(|e| e.at(self.pos(syntax)))
            }
            E::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
                let mut args = vec![self.bind_expr(expr)?, self.bind_expr(overlay_what)?, self.bind_expr(overlay_from)?];
                if let Some(length) = overlay_for {
                    args.push(self.bind_expr(length)?);
                }
                self.call("overlay", args).map_err(|e| e.at(self.pos(syntax)))
            }
            E::Collate { expr, collation } => {
                let name = super::name_parts(collation)?;
                let base = name.last().map_or("", String::as_str);
                let arg = self.bind_expr(expr)?;
                let arg = self.resolve_unknown(arg)?;
                let at = self.pos_behind(expr);
                if !arg.ty.ty.is_string() && arg.ty.ty.element().is_none_or(|e| !e.is_string()) {
                    return Err(
                        PgError::new(SqlState::DATATYPE_MISMATCH, format!("collations are not supported by type {}", arg.ty.ty)).at(at)
                    );
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
            E::Function(function) => self.bind_function(function, syntax),
            E::Case { operand, conditions, else_result, .. } => {
                self.bind_case(operand.as_deref(), conditions, else_result.as_deref(), syntax)
            }
            E::Exists { subquery, negated } => {
                let query = self.bind_subquery(subquery)?;
                let exists = Expr::new(ExprKind::Exists(Box::new(query)), bool_type());
                Ok(if *negated { not(exists) } else { exists })
            }
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
            E::IsNormalized { expr, form, negated } => {
                let value = self.bind_expr(expr)?;
                let form = form.as_ref().map_or_else(|| "NFC".to_owned(), ToString::to_string);
                let out = self.call("is_normalized", vec![value, unknown(&form)]).map_err(|e| e.at(self.pos(syntax)))?;
                Ok(if *negated { not(out) } else { out })
            }
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

    fn rounding(&mut self, name: &str, expr: &E, field: &ast::CeilFloorKind, syntax: &E) -> PgResult<Expr> {
        if !matches!(field, ast::CeilFloorKind::DateTimeField(ast::DateTimeField::NoDateTime)) {
            return Err(PgError::new(SqlState::UNDEFINED_FUNCTION, format!("function {name} with a second argument does not exist")));
        }
        let arg = self.bind_expr(expr)?;
        self.call(name, vec![arg]).map_err(|e| e.at(self.pos(syntax)))
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
        self.coerce(arg, &target, CastContext::Explicit)
            .map_err(|e| {
                if e.code() == SqlState::CANNOT_COERCE {
                    PgError::new(SqlState::CANNOT_COERCE, format!("cannot cast type {from} to {}", target.ty))
                        .at(sign.map(|(sign, _)| sign).or_else(|| self.pos(syntax)))
                } else {
                    e
                }
            })
            .map_err(|e| e.at(self.pos(expr)))
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
                let (left, right) = (self.row_items(left)?, self.row_items(right)?);
                let args = left.into_iter().chain(right).collect();
                self.call("overlaps", args).map_err(|e| e.at(self.pos(syntax)))
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
                let name = operator_name(op);
                let l = self.bind_expr(left)?;
                if let (E::Tuple(_), ExprKind::Row(items), E::Subquery(query)) = (left, &l.kind, right) {
                    let error = self.no_row_comparison_with(&name, items, query)?;
                    return Err(error.at(self.operator_pos(left, right)));
                }
                let r = self.bind_expr(right)?;
                if let (E::Tuple(_), E::Tuple(_), ExprKind::Row(l), ExprKind::Row(r)) = (left, right, &l.kind, &r.kind)
                    && l.len() == r.len()
                {
                    return Err(self.no_row_comparison(&name, l, r).at(self.operator_pos(left, right)));
                }
                self.operator(&name, Some(l), r).map_err(|e| e.at(self.operator_pos(left, right)))
            }
        }
    }

    /// Why rows are not compared by an operator that is none of `=`, `<` and their kin.
    fn no_row_comparison(&self, name: &str, left: &[Expr], right: &[Expr]) -> PgError {
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

    fn no_row_comparison_with(&mut self, name: &str, left: &[Expr], query: &ast::Query) -> PgResult<PgError> {
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

    /// PostgreSQL points at the operator; the syntax tree knows the ends of the operands.
    fn operator_pos(&self, left: &E, right: &E) -> Option<usize> {
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

    /// A comparison of two values or two rows.
    pub(crate) fn compare(&mut self, op: &str, left: Expr, right: Expr, syntax: &E) -> PgResult<Expr> {
        let at = match syntax {
            E::BinaryOp { left, right, .. } => self.operator_pos(left, right),
            other => self.pos(other),
        };
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
        match op {
            "=" | "<>" => {
                let pairs = left
                    .into_iter()
                    .zip(right)
                    .map(|(l, r)| match (l.kind, r.kind) {
                        (ExprKind::Row(a), ExprKind::Row(b)) => self.compare_rows(op, a, b),
                        (l_kind, r_kind) => self.operator(op, Some(Expr::new(l_kind, l.ty)), Expr::new(r_kind, r.ty)),
                    })
                    .collect::<PgResult<Vec<_>>>()?;
                Ok(if op == "=" { and(pairs) } else { or(pairs) })
            }
            _ => {
                // (a, b) < (x, y)  is  a < x OR (a = x AND b < y)
                let strict = op.trim_end_matches('=');
                let last = left.len() - 1;
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
                Ok(or(alternatives))
            }
        }
    }

    fn row_against_query(&mut self, row: Expr, op: &str, query: &ast::Query, syntax: &E) -> PgResult<Expr> {
        // A row compared with a subquery of one row: each column is a scalar subquery of its own position.
        let bound = self.bind_subquery(query)?;
        let ExprKind::Row(left) = row.kind else { return Err(PgError::internal("a row was expected")) };
        self.same_width(left.len(), &bound).map_err(|e| e.at(self.pos(syntax)))?;
        let mut right = Vec::with_capacity(left.len());
        for output in &bound.outputs {
            let one = Query { rel: bound.rel.clone(), outputs: vec![output.clone()] };
            right.push(Expr::new(ExprKind::ScalarSubquery(Box::new(one)), output.ty.clone()));
        }
        self.compare_rows(op, left, right).map_err(|e| e.at(self.pos(syntax)))
    }

    fn row_items(&mut self, syntax: &E) -> PgResult<Vec<Expr>> {
        let expr = self.bind_expr(syntax)?;
        match expr.kind {
            ExprKind::Row(items) => Ok(items),
            _ => {
                Err(PgError::new(SqlState::SYNTAX_ERROR, "wrong number of parameters on left side of OVERLAPS expression")
                    .at(self.pos(syntax)))
            }
        }
    }

    /// ROW(…): an anonymous record.
    pub(crate) fn row(&mut self, items: Vec<Expr>) -> PgResult<Expr> {
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
            // A row is NULL if all its fields are, and NOT NULL if none is.
            let tests = items.into_iter().map(|i| self.is_null(i, negated)).collect::<PgResult<Vec<_>>>()?;
            return Ok(if tests.is_empty() {
                Expr::new(ExprKind::Const(ScalarValue::Boolean(Some(true))), bool_type())
            } else {
                and(tests)
            });
        }
        let arg = Box::new(self.resolve_any(arg)?);
        Ok(Expr::new(if negated { ExprKind::IsNotNull(arg) } else { ExprKind::IsNull(arg) }, bool_type()))
    }

    fn is_bool(&mut self, inner: &E, value: Option<bool>, negated: bool, what: &str) -> PgResult<Expr> {
        let arg = self.bind_expr(inner)?;
        let arg = self.coerce_bool(arg, what).map_err(|e| e.at(self.pos(inner)))?;
        Ok(Expr::new(ExprKind::IsBool { arg: Box::new(arg), value, negated }, bool_type()))
    }

    fn is_distinct(&mut self, left: &E, right: &E, negated: bool) -> PgResult<Expr> {
        let (l, r) = (self.bind_expr(left)?, self.bind_expr(right)?);
        self.distinct_test(l, r, negated).map_err(|e| e.at(self.operator_pos(left, right)))
    }

    /// `IS [NOT] DISTINCT FROM`.
    pub(crate) fn distinct_test(&mut self, left: Expr, right: Expr, negated: bool) -> PgResult<Expr> {
        if let (ExprKind::Row(l), ExprKind::Row(r)) = (&left.kind, &right.kind) {
            if l.len() != r.len() {
                return Err(PgError::new(SqlState::SYNTAX_ERROR, "unequal number of entries in row expressions"));
            }
            let pairs =
                l.clone().into_iter().zip(r.clone()).map(|(a, b)| self.distinct_test(a, b, negated)).collect::<PgResult<Vec<_>>>()?;
            return Ok(if negated { and(pairs) } else { or(pairs) });
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
        if left.ty.ty != right.ty.ty || left.ty.arrow != right.ty.arrow {
            // Equality of two types knows nothing of NULLs.
            let null = |e: &Expr| Expr::new(ExprKind::IsNull(Box::new(e.clone())), bool_type());
            let nulls = and(vec![null(&left), null(&right)]);
            let equal = Box::new(Expr::new(ExprKind::Oper { oper, args: vec![left, right] }, bool_type()));
            let same = or(vec![nulls, Expr::new(ExprKind::IsBool { arg: equal, value: Some(true), negated: false }, bool_type())]);
            return Ok(if negated { same } else { not(same) });
        }
        Ok(Expr::new(ExprKind::IsDistinct { left: Box::new(left), right: Box::new(right), equal: Box::new(oper), negated }, bool_type()))
    }

    fn bind_in_list(&mut self, expr: &E, list: &[E], negated: bool, syntax: &E) -> PgResult<Expr> {
        let value = self.bind_expr(expr)?;
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
    fn any_array(&mut self, left: Expr, op: &str, elements: Vec<Expr>, element: &SqlType, all: bool) -> PgResult<Expr> {
        let array_type = SqlType { ty: element.ty.clone().array_of(), typmod: -1, arrow: list_of(element.arrow.clone()) };
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
        let (left, array) = self.align_quantified(left, array)?;
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
                let ty = SqlType { ty: PgType::Numeric.array_of(), typmod: -1, arrow: list_of(form.arrow.clone()) };
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
    fn bind_between_symmetric(&mut self, value: &E, low: &E, high: &E, negated: bool, syntax: &E) -> PgResult<Expr> {
        let value = self.bind_expr(value)?;
        let (low, high) = (self.bind_expr(low)?, self.bind_expr(high)?);
        let (above, below) = if negated { ("<", ">") } else { (">=", "<=") };
        let mut orders = Vec::with_capacity(2);
        for (low, high) in [(low.clone(), high.clone()), (high, low)] {
            let both = vec![self.compare(above, value.clone(), low, syntax)?, self.compare(below, value.clone(), high, syntax)?];
            orders.push(if negated { or(both) } else { and(both) });
        }
        Ok(if negated { and(orders) } else { or(orders) })
    }

    /// `left op ANY|ALL (right)`.
    fn bind_quantified(&mut self, left: &E, op: &str, right: &E, all: bool, syntax: &E) -> PgResult<Expr> {
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
    fn bind_any_query(&mut self, left: &E, op: &str, query: &ast::Query, all: bool, syntax: &E) -> PgResult<Expr> {
        let value = self.bind_expr(left)?;
        // A whole row of a table is one value.
        let left_items = match value.kind {
            ExprKind::Row(items) if is_row_syntax(left) => items,
            kind => vec![Expr::new(kind, value.ty)],
        };
        let mut query = self.bind_subquery(query)?;
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

    /// Checks that a subquery has one column and makes it a value.
    pub(crate) fn scalar_subquery(&mut self, query: Query) -> PgResult<Expr> {
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
        let operand = match operand {
            Some(o) => {
                let bound = self.bind_expr(o)?;
                Some(self.resolve_unknown(bound)?)
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
        let (mut results, ty) = self.unify_written(results, "CASE", &|b, i| written.get(i).and_then(|e| b.pos(*e)))?;
        let otherwise = otherwise.map(|_| Box::new(results.remove(0)));
        let whens = tests.into_iter().zip(results).collect();
        Ok(Expr::new(ExprKind::Case { whens, otherwise }, ty))
    }

    /// ARRAY[…], the elements of a given type or of their common one.
    pub(crate) fn bind_array(&mut self, elements: &[E], element: Option<&SqlType>, syntax: &E) -> PgResult<Expr> {
        if elements.is_empty() {
            return match element {
                Some(element) => {
                    let ty = SqlType { ty: element.ty.clone().array_of(), typmod: element.typmod, arrow: list_of(element.arrow.clone()) };
                    Ok(Expr::new(ExprKind::Array(Vec::new()), ty))
                }
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
        if let Some(vector) = items.iter().map(|i| &i.ty.ty).find(|ty| matches!(ty, PgType::Int2Vector | PgType::OidVector)) {
            return Err(PgError::unsupported(format!("arrays of {vector} are not supported")).at(self.pos(syntax)));
        }
        let nested = items.iter().any(|i| i.ty.ty.is_array());
        let (items, ty) = match element {
            Some(element) => {
                let target = if nested { SqlType::with_typmod(element.ty.clone().array_of(), element.typmod) } else { element.clone() };
                let cast = items.into_iter().map(|i| self.coerce(i, &target, CastContext::Explicit)).collect::<PgResult<Vec<_>>>()?;
                self.one_form(cast)?
            }
            None => self.unify_written(items, "ARRAY", &|b, i| elements.get(i).and_then(|e| b.pos(e)))?,
        };
        // ARRAY[ARRAY[]] is an empty array.
        if nested && items.iter().all(|i| matches!(&i.kind, ExprKind::Array(inner) if inner.is_empty())) {
            return Ok(Expr::new(ExprKind::Array(Vec::new()), SqlType::new(ty.ty)));
        }
        let array_type = SqlType { ty: ty.ty.clone().array_of(), typmod: ty.typmod, arrow: list_of(ty.arrow.clone()) };
        Ok(Expr::new(ExprKind::Array(items), array_type))
    }

    fn bind_access(&mut self, root: &E, chain: &[ast::AccessExpr], syntax: &E) -> PgResult<Expr> {
        let mut value = match (root, chain) {
            // t.* is of the table t, also where a column has that name.
            (E::Identifier(ident), [ast::AccessExpr::Dot(E::Wildcard(_))]) => {
                return self.row_of_item(&fold(ident))?.ok_or_else(|| {
                    let message = format!("missing FROM-clause entry for table \"{}\"", fold(ident));
                    PgError::new(SqlState::UNDEFINED_TABLE, message).at(self.pos_span(ident.span))
                });
            }
            _ => self.bind_expr(root)?,
        };
        let mut i = 0;
        while let Some(access) = chain.get(i) {
            match access {
                ast::AccessExpr::Dot(E::Identifier(field)) => {
                    value = self.field(value, &fold(field)).map_err(|e| e.at(self.pos_span(field.span)))?;
                    i += 1;
                }
                ast::AccessExpr::Dot(E::Wildcard(_)) if !matches!(root, E::Identifier(_)) => {
                    return Err(PgError::unsupported("row expansion via \"*\" is not supported here").at(self.pos(syntax)));
                }
                // The whole row, where a value is wanted: count(t.*).
                ast::AccessExpr::Dot(E::Wildcard(_)) if matches!(value.ty.ty, PgType::Record(_)) => i += 1,
                ast::AccessExpr::Dot(E::Wildcard(_)) => {
                    let message = format!("type {} is not composite", value.ty.ty);
                    return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, message).at(self.pos(syntax)));
                }
                ast::AccessExpr::Dot(_) => {
                    return Err(PgError::new(SqlState::SYNTAX_ERROR, "a field name was expected").at(self.pos(syntax)));
                }
                ast::AccessExpr::Subscript(_) => {
                    // All subscripts that follow one another belong together.
                    let mut subscripts = Vec::new();
                    while let Some(ast::AccessExpr::Subscript(s)) = chain.get(i) {
                        subscripts.push(s);
                        i += 1;
                    }
                    value = self.subscript(value, &subscripts, syntax)?;
                }
            }
        }
        Ok(value)
    }

    /// A field of a record.
    pub(crate) fn field(&mut self, value: Expr, name: &str) -> PgResult<Expr> {
        let PgType::Record(Some(record)) = &value.ty.ty else {
            return Err(PgError::new(
                SqlState::WRONG_OBJECT_TYPE,
                format!("column notation .{name} applied to type {}, which is not a composite type", value.ty.ty),
            ));
        };
        let Some(index) = record.fields.iter().position(|(n, _)| n == name) else {
            return Err(PgError::new(SqlState::UNDEFINED_COLUMN, format!("could not identify column \"{name}\" in record data type")));
        };
        let ty = record.fields[index].1.clone();
        match &value.kind {
            ExprKind::Row(items) => return Ok(items[index].clone()),
            // Without a row its columns are NULL, too.
            ExprKind::Case { whens, otherwise: None } => {
                if let [(_, Expr { kind: ExprKind::Row(items), .. })] = whens.as_slice() {
                    return Ok(items[index].clone());
                }
            }
            _ => {}
        }
        Ok(Expr::new(ExprKind::Field { arg: Box::new(value), index }, ty))
    }

    fn subscript(&mut self, value: Expr, subscripts: &[&ast::Subscript], syntax: &E) -> PgResult<Expr> {
        let int4 = SqlType::new(PgType::Int4);
        if value.ty.ty == PgType::Jsonb {
            // Integers for arrays, text for objects, and a number as text for either: a path.
            let mut path = Vec::with_capacity(subscripts.len());
            for s in subscripts {
                let ast::Subscript::Index { index } = s else {
                    return Err(PgError::new(SqlState::DATATYPE_MISMATCH, "jsonb subscript does not support slices").at(self.pos(syntax)));
                };
                let key = self.bind_expr(index)?;
                check_jsonb_subscript(&key.ty.ty).map_err(|e| e.at(self.pos(index)))?;
                let key = self.resolve_unknown(key)?;
                path.push(self.coerce(key, &SqlType::new(PgType::Text), CastContext::Explicit)?);
            }
            let path = Expr::new(ExprKind::Array(path), SqlType::new(PgType::Text.array_of()));
            return self.operator("#>", Some(value), path).map_err(|e| e.at(self.pos(syntax)));
        }
        if let PgType::Map(_, entry) = &value.ty.ty {
            let entry = SqlType::new((**entry).clone());
            let [ast::Subscript::Index { index }] = subscripts else {
                return Err(PgError::new(SqlState::DATATYPE_MISMATCH, "a map takes one subscript").at(self.pos(syntax)));
            };
            let key = self.bind_expr(index)?;
            let out = self.call("map_get", vec![value, key])?;
            return Ok(Expr::new(out.kind, entry));
        }
        if value.ty.ty == PgType::Name {
            return self.subscript_of_name(value, subscripts, syntax);
        }
        let Some(element) = value.ty.ty.element() else {
            return Err(PgError::new(
                SqlState::DATATYPE_MISMATCH,
                format!("cannot subscript type {} because it does not support subscripting", value.ty.ty),
            )
            .at(self.pos(syntax)));
        };
        let slice = subscripts.iter().any(|s| matches!(s, ast::Subscript::Slice { .. }));
        let index = |b: &mut Self, e: &E| -> PgResult<Expr> {
            let bound = b.bind_expr(e)?;
            b.coerce(bound, &int4, CastContext::Assignment).map_err(|err| {
                if err.code() == SqlState::CANNOT_COERCE {
                    PgError::new(SqlState::DATATYPE_MISMATCH, "array subscript must have type integer").at(b.pos(e))
                } else {
                    err.at(b.pos(e))
                }
            })
        };
        if slice {
            let mut bounds = Vec::with_capacity(subscripts.len());
            for s in subscripts {
                match s {
                    ast::Subscript::Index { index: i } => {
                        let upper = index(self, i)?;
                        bounds.push((Some(Expr::new(ExprKind::Const(ScalarValue::Int32(Some(1))), int4.clone())), Some(upper)));
                    }
                    ast::Subscript::Slice { lower_bound, upper_bound, .. } => {
                        let lower = lower_bound.as_ref().map(|e| index(self, e)).transpose()?;
                        let upper = upper_bound.as_ref().map(|e| index(self, e)).transpose()?;
                        bounds.push((lower, upper));
                    }
                }
            }
            let ty = value.ty.clone();
            let value = self.widen(value)?;
            return Ok(Expr::new(ExprKind::Slice { array: Box::new(value), bounds }, ty.widened()));
        }
        let mut indexes = Vec::with_capacity(subscripts.len());
        for s in subscripts {
            if let ast::Subscript::Index { index: i } = s {
                indexes.push(index(self, i)?);
            }
        }
        let array = self.widen(value)?;
        let ty = SqlType { ty: element.clone(), typmod: array.ty.typmod, arrow: element.arrow() };
        Ok(Expr::new(ExprKind::Subscript { array: Box::new(array), indexes }, ty))
    }

    /// A name is an array of 64 characters from 0: `typname[0]`.
    fn subscript_of_name(&mut self, value: Expr, subscripts: &[&ast::Subscript], syntax: &E) -> PgResult<Expr> {
        if subscripts.iter().any(|s| matches!(s, ast::Subscript::Slice { .. })) {
            return Err(PgError::unsupported("slices of fixed-length arrays not implemented").at(self.pos(syntax)));
        }
        let (int4, character) = (SqlType::new(PgType::Int4), SqlType::new(PgType::Char));
        let [ast::Subscript::Index { index }] = subscripts else {
            let null = ScalarValue::try_from(&character.arrow).map_err(|e| PgError::internal(e.to_string()))?;
            return Ok(Expr::new(ExprKind::Const(null), character));
        };
        let bound = self.bind_expr(index)?;
        let at = self.coerce(bound, &int4, CastContext::Assignment).map_err(|e| e.at(self.pos(index)))?;
        let number = |n: i32| Expr::new(ExprKind::Const(ScalarValue::Int32(Some(n))), int4.clone());
        let within = vec![self.operator(">=", Some(at.clone()), number(0))?, self.operator("<", Some(at.clone()), number(64))?];
        let place = self.operator("+", Some(at), number(1))?;
        let text = self.coerce(value, &SqlType::new(PgType::Text), CastContext::Explicit)?;
        let one = self.call("substr", vec![text, place, number(1)])?;
        let one = self.coerce(one, &character, CastContext::Explicit)?;
        let within = Expr::new(ExprKind::And(within), SqlType::new(PgType::Bool));
        Ok(Expr::new(ExprKind::Case { whens: vec![(within, one)], otherwise: None }, character))
    }

    /// A name of one to four parts: a column, a field, a whole row.
    pub(crate) fn bind_column(&mut self, parts: &[ast::Ident]) -> PgResult<Expr> {
        let names: Vec<String> = parts.iter().map(fold).collect();
        let position = parts.first().and_then(|p| self.pos_span(p.span));
        let result = match names.as_slice() {
            [column] => self.bind_unqualified(column, parts[0].quote_style.is_none()),
            [table, column] => self.bind_qualified(None, table, column),
            [schema, table, column] => self.bind_qualified(Some(schema), table, column),
            [database, _, _, _] if !matches!(database.as_str(), "stoa" | "postgres") => {
                Err(PgError::unsupported(format!("cross-database references are not implemented: {}", names.join("."))))
            }
            [_, schema, table, column] => self.bind_qualified(Some(schema), table, column),
            _ => Err(PgError::new(SqlState::SYNTAX_ERROR, format!("improper qualified name (too many dotted names): {}", names.join(".")))),
        };
        if let (Ok(Expr { kind: ExprKind::Column(id), .. }), Some(position)) = (&result, position) {
            self.column_positions.insert(*id, position);
        }
        result.map_err(|e| e.at(position))
    }

    /// The name of a FROM item is its whole row; of a function with one column, that column.
    fn row_of_item(&mut self, name: &str) -> PgResult<Option<Expr>> {
        for depth in (0..self.scopes.len()).rev() {
            let scope = &self.scopes[depth];
            let item = scope.items.iter().find(|i| i.alias == name && !i.lateral_only);
            if let Some(item) = item {
                if let Some(refusal) = item.refused {
                    return Err(lateral_error(name, refusal));
                }
                if item.scalar
                    && let [one] = item.columns.as_slice()
                {
                    return Ok(Some(one.expr.clone()));
                }
                let columns = item.columns.clone();
                let row = whole_row(item.nullable, item.key.as_deref(), columns.clone());
                for c in &columns {
                    self.note_origin(c.origin);
                }
                return Ok(Some(row));
            }
        }
        Ok(None)
    }

    fn bind_unqualified(&mut self, name: &str, _unquoted: bool) -> PgResult<Expr> {
        for depth in (0..self.scopes.len()).rev() {
            let scope = &self.scopes[depth];
            let mut found: Option<(Expr, Option<(u32, u32)>, Option<PgError>)> = None;
            for star in scope.star.iter().filter(|s| s.name == name) {
                if star.item.is_some_and(|i| scope.items[i].lateral_only) {
                    continue;
                }
                if found.is_some() {
                    return Err(PgError::new(SqlState::AMBIGUOUS_COLUMN, format!("column reference \"{name}\" is ambiguous")));
                }
                let item = star.item.map(|i| &scope.items[i]);
                let refused = item.and_then(|item| item.refused.map(|why| lateral_error(&item.alias, why)));
                found = Some((star.expr.clone(), star.origin, refused));
            }
            if let Some((expr, origin, refused)) = found {
                if let Some(error) = refused {
                    return Err(error);
                }
                self.note_origin(origin);
                return Ok(expr);
            }
            if name == "tableoid"
                && let Some(expr) = self.table_oid(depth)?
            {
                return Ok(expr);
            }
        }
        // What SEARCH and CYCLE add may be used in the recursion.
        let hidden = format!("{}{name}", super::search::HIDDEN);
        let added = self.scopes.iter().rev().flat_map(|s| &s.star).find(|s| s.name == hidden);
        if let Some(added) = added {
            return Ok(added.expr.clone());
        }
        // Columns, of outer queries too, go before.
        if let Some(row) = self.row_of_item(name)? {
            return Ok(row);
        }
        let error = PgError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{name}\" does not exist"));
        let known = self
            .scopes
            .iter()
            .rev()
            .flat_map(|s| s.items.iter().flat_map(|i| i.columns.iter().map(move |c| (i.alias.as_str(), c.name.as_str()))));
        let known: Vec<(&str, &str)> = known.collect();
        if let Some(better) = super::suggest::closest_column(name, known.iter().map(|(_, c)| *c)) {
            let table = known.iter().find(|(_, c)| *c == better).map_or("", |(t, _)| *t);
            let full = if table.is_empty() { better.to_owned() } else { format!("{table}.{better}") };
            return Err(error.hint(format!("Perhaps you meant to reference the column \"{full}\".")));
        }
        Err(error)
    }

    /// `tableoid` of the one table in a scope; none if no item is a table.
    fn table_oid(&self, depth: usize) -> PgResult<Option<Expr>> {
        let mut found = None;
        for item in self.scopes[depth].items.iter().filter(|i| !i.lateral_only) {
            let Some(oid) = item.table_oid.filter(|oid| self.has_system_columns(*oid)) else { continue };
            if found.is_some() {
                return Err(PgError::new(SqlState::AMBIGUOUS_COLUMN, "column reference \"tableoid\" is ambiguous"));
            }
            if let Some(why) = item.refused {
                return Err(lateral_error(&item.alias, why));
            }
            found = Some(Expr::new(ExprKind::Const(ScalarValue::UInt32(Some(oid))), SqlType::new(PgType::Oid)));
        }
        Ok(found)
    }

    /// Tables and materialized views have them, views have not.
    fn has_system_columns(&self, relation: u32) -> bool {
        match self.ctx.catalog.relation(relation).map(|r| &**r) {
            Some(Relation::Table(_)) => true,
            Some(Relation::View(view)) => view.materialized.is_some(),
            Some(Relation::Sequence(_)) => false,
            None => crate::virtual_tables::is_table(relation),
        }
    }

    fn bind_qualified(&mut self, schema: Option<&str>, table: &str, column: &str) -> PgResult<Expr> {
        let mut hidden = false;
        for depth in (0..self.scopes.len()).rev() {
            let scope = &self.scopes[depth];
            let mut items = scope.items.iter().filter(|i| i.alias == table && schema.is_none_or(|s| i.schema.as_deref() == Some(s)));
            let Some(item) = items.next() else { continue };
            if item.lateral_only {
                hidden = true;
                continue;
            }
            if items.next().is_some() {
                return Err(PgError::new(SqlState::AMBIGUOUS_ALIAS, format!("table reference \"{table}\" is ambiguous")));
            }
            if let Some(refusal) = item.refused {
                return Err(lateral_error(table, refusal));
            }
            let mut matches =
                item.columns.iter().filter(|c| c.name == column || c.name.strip_prefix(super::search::HIDDEN) == Some(column));
            if let Some(found) = matches.next() {
                if matches.next().is_some() {
                    return Err(PgError::new(SqlState::AMBIGUOUS_COLUMN, format!("column reference \"{column}\" is ambiguous")));
                }
                let (expr, origin) = (found.expr.clone(), found.origin);
                self.note_origin(origin);
                return Ok(expr);
            }
            if column == "tableoid"
                && let Some(oid) = item.table_oid.filter(|oid| self.has_system_columns(*oid))
            {
                return Ok(Expr::new(ExprKind::Const(ScalarValue::UInt32(Some(oid))), SqlType::new(PgType::Oid)));
            }
            let error = PgError::new(SqlState::UNDEFINED_COLUMN, format!("column {table}.{column} does not exist"));
            return Err(match super::suggest::closest_column(column, item.columns.iter().map(|c| c.name.as_str())) {
                Some(better) => error.hint(format!("Perhaps you meant to reference the column \"{table}.{better}\".")),
                None => error,
            });
        }
        // column.field of a composite column
        if schema.is_none() {
            for depth in (0..self.scopes.len()).rev() {
                let found = self.scopes[depth]
                    .star
                    .iter()
                    .find(|s| {
                        let fields = |record: &RecordType| record.fields.iter().any(|(name, _)| name == column);
                        s.name == table && matches!(&s.expr.ty.ty, PgType::Record(Some(record)) if fields(record))
                    })
                    .map(|s| s.expr.clone());
                if let Some(expr) = found {
                    return self.field(expr, column);
                }
            }
        }
        let invalid = || PgError::new(SqlState::UNDEFINED_TABLE, format!("invalid reference to FROM-clause entry for table \"{table}\""));
        let out_of_reach =
            || invalid().hint(format!("There is an entry for table \"{table}\", but it cannot be referenced from this part of the query."));
        if hidden {
            return Err(out_of_reach());
        }
        // A table that stands under an alias.
        let catalog = self.ctx.catalog;
        let in_schema = |schema: crate::catalog::Oid| catalog.relation_by_name(schema, table).map(|r| r.oid());
        let oid = match schema {
            Some(schema) => catalog.schema_by_name(schema).and_then(|s| in_schema(s.oid)),
            None => self.ctx.search_path.iter().find_map(|s| in_schema(*s)),
        };
        let alias = self.scopes.iter().rev().flat_map(|s| &s.items).find(|i| oid.is_some() && i.table_oid == oid).map(|i| &i.alias);
        Err(match alias {
            Some(alias) if alias == table => out_of_reach(),
            Some(alias) => invalid().hint(format!("Perhaps you meant to reference the table alias \"{alias}\".")),
            None => PgError::new(SqlState::UNDEFINED_TABLE, format!("missing FROM-clause entry for table \"{table}\"")),
        })
    }

    pub(crate) fn note_origin(&mut self, origin: Option<(u32, u32)>) {
        if let Some((table, column)) = origin {
            self.note_use(table, Some(crate::catalog::ColumnId(column)));
        }
    }

    /// Runs `f` with set-returning functions refused, as inside CASE and COALESCE.
    pub(crate) fn check_no_sets<T>(&mut self, what: &'static str, f: impl FnOnce(&mut Self) -> PgResult<T>) -> PgResult<T> {
        let before = self.no_sets.replace(what);
        let result = f(self);
        self.no_sets = before;
        result
    }

    /// The clause of the innermost scope.
    pub(crate) fn clause(&self) -> Clause {
        self.scopes.last().map_or(Clause::Default, |s| s.clause)
    }

    /// Runs `f` with another clause in the innermost scope.
    pub(crate) fn in_clause<T>(&mut self, clause: Clause, f: impl FnOnce(&mut Self) -> PgResult<T>) -> PgResult<T> {
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

fn lateral_error(table: &str, refusal: Refusal) -> PgError {
    let message = format!("invalid reference to FROM-clause entry for table \"{table}\"");
    let error = PgError::new(SqlState::INVALID_COLUMN_REFERENCE, message);
    match refusal {
        Refusal::Nullable => error.detail("The combining JOIN type must be INNER or LEFT for a LATERAL reference."),
        Refusal::Target => {
            error.hint(format!("There is an entry for table \"{table}\", but it cannot be referenced from this part of the query."))
        }
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

/// Whether an expression names something, rather than making it.
fn is_reference(syntax: &E) -> bool {
    match syntax {
        E::Nested(inner) => is_reference(inner),
        E::Identifier(_) | E::CompoundIdentifier(_) | E::CompoundFieldAccess { .. } => true,
        _ => false,
    }
}

/// The row of an item as one value; NULL where an outer join found none.
fn whole_row(nullable: bool, key: Option<&[ColId]>, columns: Vec<ScopeColumn>) -> Expr {
    let ty = record_type(&columns);
    // A column of the key tells; of what has no key, any column that is not NULL.
    let telling = columns.iter().find(|c| matches!(c.expr.kind, ExprKind::Column(id) if key.is_some_and(|key| key.contains(&id))));
    let tests = match telling {
        _ if !nullable => Vec::new(),
        Some(column) => vec![column.expr.clone()],
        None => columns.iter().map(|c| c.expr.clone()).collect(),
    };
    let found: Vec<Expr> = tests.into_iter().map(|e| Expr::new(ExprKind::IsNotNull(Box::new(e)), bool_type())).collect();
    let row = Expr::new(ExprKind::Row(columns.into_iter().map(|c| c.expr).collect()), ty.clone());
    if found.is_empty() { row } else { Expr::new(ExprKind::Case { whens: vec![(or(found), row)], otherwise: None }, ty) }
}

/// Whether a row is written as one, and not as the name of a table.
fn is_row_syntax(e: &E) -> bool {
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

/// Whether an expression is computed from constants and parameters alone.
fn reads_nothing(e: &Expr) -> bool {
    walk::is_plain(e) && !e.any(&mut |x| matches!(x.kind, ExprKind::Column(_)))
}

//! Constants: numbers and strings as written, literals read as a type, and folding of what depends on nothing.

use super::Binder;
use super::sqlparser_span::Span;
use crate::typed::raises::may_take_long;
use crate::typed::tree::{Expr, ExprKind, Rel};
use crate::typed::walk;
use datafusion_common::ScalarValue;
use std::borrow::Cow;
use std::sync::Arc;
use stoa_pg::registry::{CastContext, Volatility};
use stoa_pg::{EvalContext, PgError, PgResult, PgType, SqlState, SqlType};
use stoa_syntax::ast;

impl Binder<'_> {
    /// A literal as it is written.
    pub fn bind_value(&mut self, value: &ast::ValueWithSpan) -> PgResult<Expr> {
        use ast::Value as V;
        let position = self.pos_span(value.span);
        match &value.value {
            V::Number(text, _) => self.number(text).map_err(|e| e.at(position)),
            V::SingleQuotedString(text)
            | V::EscapedStringLiteral(text)
            | V::UnicodeStringLiteral(text)
            | V::NationalStringLiteral(text) => Ok(self.string(text, value.span)),
            V::DollarQuotedString(text) => Ok(self.string(&text.value, value.span)),
            V::Boolean(value) => Ok(Expr::new(ExprKind::Const(ScalarValue::Boolean(Some(*value))), SqlType::new(PgType::Bool))),
            V::Null => Ok(Expr::new(ExprKind::Const(ScalarValue::Utf8View(None)), SqlType::new(PgType::Unknown))),
            V::Placeholder(name) => self.parameter(name).map_err(|e| e.at(position)),
            V::SingleQuotedByteStringLiteral(text) => bits(&format!("b{text}")).map_err(|e| e.at(position)),
            V::HexStringLiteral(text) => bits(&format!("x{text}")).map_err(|e| e.at(position)),
            V::DoubleQuotedString(name) => {
                Err(PgError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{name}\" does not exist")).at(position))
            }
            other => Err(PgError::unsupported(format!("literal is not supported: {other}")).at(position)),
        }
    }

    /// A number as it is written, with a minus before it if there is one: −2147483648 is an integer, although 2147483648 is not.
    pub(super) fn number(&mut self, text: &str) -> PgResult<Expr> {
        let clean: String = text.chars().filter(|c| *c != '_').collect();
        if clean.strip_prefix('-').unwrap_or(&clean).bytes().all(|b| b.is_ascii_digit()) {
            if let Ok(n) = clean.parse::<i32>() {
                return Ok(Expr::new(ExprKind::Const(ScalarValue::Int32(Some(n))), SqlType::new(PgType::Int4)));
            }
            if let Ok(n) = clean.parse::<i64>() {
                return Ok(Expr::new(ExprKind::Const(ScalarValue::Int64(Some(n))), SqlType::new(PgType::Int8)));
            }
        }
        numeric_literal(&clean, &self.ctx)
    }

    fn parameter(&mut self, name: &str) -> PgResult<Expr> {
        let index: usize = name
            .strip_prefix('$')
            .and_then(|n| n.parse::<usize>().ok())
            .filter(|n| (1..=65_535).contains(n))
            .ok_or_else(|| PgError::new(SqlState::UNDEFINED_PARAMETER, format!("there is no parameter {name}")))?;
        if self.params.len() < index {
            self.params.resize(index, None);
        }
        self.param_uses.resize(self.params.len().max(self.param_uses.len()), 0);
        if let Some(uses) = self.param_uses.get_mut(index - 1) {
            *uses += 1;
        }
        let ty = self.params[index - 1].clone().unwrap_or_else(|| SqlType::new(PgType::Unknown));
        Ok(Expr::new(ExprKind::Param(index - 1), ty))
    }

    /// A string. In the query of a view its place goes with it, as the modifier of the unknown type.
    fn string(&mut self, text: &str, span: Span) -> Expr {
        let mut literal = unknown(text);
        let in_text = !self.in_definition();
        if let (Some(meant), true) = (&mut self.meant, in_text) {
            literal.ty.typmod = i32::try_from(meant.strings.len()).unwrap_or(-1);
            meant.strings.push(span);
        }
        literal
    }

    /// Reads the string of a view's query that has this place as a type, and notes the text that will be read so under all settings.
    pub(super) fn string_of_type(&mut self, place: i32, value: ScalarValue, target: &SqlType, explicit: bool) -> PgResult<Expr> {
        let written = match &value {
            ScalarValue::Utf8View(Some(text)) if reads_settings(&target.ty) => Some(text.clone()),
            _ => None,
        };
        let out = self.literal_of_type(value, target, explicit)?;
        let span = usize::try_from(place).ok().and_then(|place| self.meant.as_ref()?.strings.get(place).copied());
        if let (Some(span), Some(meant), PgType::Regclass) = (span, &mut self.meant, &target.ty)
            && let ExprKind::Const(ScalarValue::UInt32(Some(oid))) = out.kind
        {
            meant.named.insert(span, oid);
        }
        if let (Some(text), Some(span)) = (written, span) {
            let ty = if target.ty == PgType::Interval { target.clone() } else { SqlType::new(target.ty.clone()) };
            let read = stoa_pg::values::input_text(self.ctx.eval, &ty, &text)?;
            let stored = stoa_pg::values::output_text(&self.ctx.eval.stored_form(), &ty, &read)?;
            if let Some(meant) = &mut self.meant {
                meant.values.insert(span, stored);
            }
        }
        Ok(out)
    }

    /// Reads an unknown literal as a type.
    pub fn literal_of_type(&mut self, value: ScalarValue, target: &SqlType, explicit: bool) -> PgResult<Expr> {
        let position = match &value {
            ScalarValue::Utf8View(Some(text)) => self.literals.get(text).copied(),
            _ => None,
        };
        self.read_literal(value, target, explicit).map_err(|e| e.at(position))
    }

    fn read_literal(&mut self, value: ScalarValue, target: &SqlType, explicit: bool) -> PgResult<Expr> {
        let text = match &value {
            ScalarValue::Utf8View(Some(text)) => text.clone(),
            _ => {
                let null = ScalarValue::try_from(&target.arrow).map_err(|e| PgError::internal(e.to_string()))?;
                return Ok(Expr::new(ExprKind::Const(null), target.clone()));
            }
        };
        if matches!(target.ty, PgType::Text) || (target.typmod < 0 && target.ty == PgType::Varchar) || target.ty == PgType::Unknown {
            return Ok(Expr::new(ExprKind::Const(value), target.clone()));
        }
        if target.ty == PgType::Numeric && target.typmod == -1 {
            return numeric_literal(&text, &self.ctx);
        }
        let base = target.clone();
        if base.typmod >= 0 && base.ty != PgType::Interval {
            // Read first, then apply the modifier: an explicit cast cuts where an assignment fails, and fails when it runs.
            let plain = SqlType::new(base.ty.clone());
            let value = stoa_pg::values::input_text(&self.reading(), &plain, &text)?;
            let expr = Expr::new(ExprKind::Const(value), plain);
            return Ok(self.fold(Expr::new(ExprKind::Cast { arg: Box::new(expr), explicit }, base)));
        }
        let value = stoa_pg::values::input_text(&self.reading(), &base, &text)?;
        Ok(Expr::new(ExprKind::Const(value), base))
    }

    /// What literals are read with.
    fn reading(&self) -> Cow<'_, EvalContext> {
        match &self.read_with {
            Some(settings) => Cow::Owned(EvalContext { settings: Arc::clone(settings), ..self.ctx.eval.clone() }),
            None => Cow::Borrowed(self.ctx.eval),
        }
    }

    /// See [`folded`].
    pub fn fold(&mut self, expr: Expr) -> Expr {
        if self.keep { expr } else { folded(self.ctx.eval, expr) }
    }

    /// A count for LIMIT, OFFSET, FETCH: a bigint expression without columns.
    pub fn bind_count(&mut self, syntax: &ast::Expr, what: &'static str) -> PgResult<Expr> {
        let expr = self.bind_expr(syntax)?;
        if expr.ty.ty != PgType::Unknown && !super::resolve::can_coerce(&expr.ty.ty, &PgType::Int8, CastContext::Assignment) {
            return Err(PgError::new(
                SqlState::DATATYPE_MISMATCH,
                format!("argument of {what} must be type bigint, not type {}", expr.ty.ty),
            ));
        }
        if expr.any(&mut |e| matches!(e.kind, ExprKind::Column(c) if self.scopes.last().is_some_and(|s| s.local.contains(&c)))) {
            return Err(PgError::new(SqlState::INVALID_COLUMN_REFERENCE, format!("argument of {what} must not contain variables"))
                .at(self.pos(syntax)));
        }
        let target = SqlType::new(PgType::Int8);
        self.coerce(expr, &target, CastContext::Assignment)
    }
}

/// The bit string of a literal, whose first letter says which digits it has.
fn bits(text: &str) -> PgResult<Expr> {
    let digits = stoa_pg::values::bit::digits(text)?.into_owned();
    Ok(Expr::new(ExprKind::Const(ScalarValue::Utf8View(Some(digits))), SqlType::new(PgType::Bit)))
}

/// Evaluates a cast of a constant, or an immutable call over constants; what fails stays, and fails when it runs. Of types whose conversion
/// reads settings the conversion stays as well, and so does what may take long.
pub fn folded(eval: &EvalContext, expr: Expr) -> Expr {
    let is_const = |arg: &Expr| matches!(arg.kind, ExprKind::Const(_));
    let immutable = |volatility, args: &[Expr]| volatility == Volatility::Immutable && !args.is_empty() && args.iter().all(is_const);
    let constant = match &expr.kind {
        ExprKind::Cast { arg, .. } => is_const(arg),
        ExprKind::Oper { oper, args } => immutable(oper.0.volatility, args) && !may_take_long(&expr),
        ExprKind::Func { func, args } => immutable(func.0.volatility, args) && !may_take_long(&expr),
        _ => false,
    };
    if constant && let Ok(Some(value)) = crate::typed::constant::evaluate(eval, &expr) {
        return Expr::new(ExprKind::Const(value), expr.ty);
    }
    expr
}

/// Puts constants in the place of an expression's parameters, and folds what then is constant. Whether there was a parameter.
pub fn substitute(e: &mut Expr, values: &[ScalarValue], eval: &EvalContext) -> bool {
    if let ExprKind::Param(number) = e.kind {
        if let Some(value) = values.get(number) {
            *e = Expr::new(ExprKind::Const(value.clone()), e.ty.clone());
        }
        return true;
    }
    let found = e.children_mut().into_iter().fold(false, |found, child| substitute(child, values, eval) | found);
    match &mut e.kind {
        ExprKind::ScalarSubquery(query) | ExprKind::Exists(query) | ExprKind::ArraySubquery(query) | ExprKind::AnyQuery { query, .. } => {
            substitute_in(&mut query.rel, values, eval);
        }
        _ => {}
    }
    if found {
        let changed = std::mem::replace(e, Expr::new(ExprKind::Param(0), e.ty.clone()));
        *e = folded(eval, changed);
    }
    found
}

/// As [`substitute`], in all of a relation.
pub fn substitute_in(rel: &mut Rel, values: &[ScalarValue], eval: &EvalContext) {
    walk::exprs_mut(rel).into_iter().for_each(|e| {
        substitute(e, values, eval);
    });
    walk::children_mut(rel).into_iter().for_each(|child| substitute_in(child, values, eval));
}

/// Whether what a text means as this type depends on settings, or on the day.
fn reads_settings(ty: &PgType) -> bool {
    match ty {
        PgType::Date | PgType::Timestamp | PgType::Timestamptz | PgType::Time | PgType::Timetz | PgType::Interval => true,
        _ => ty.element().is_some_and(|element| reads_settings(&element)),
    }
}

/// A string literal whose type is not known yet.
pub fn unknown(text: &str) -> Expr {
    Expr::new(ExprKind::Const(ScalarValue::Utf8View(Some(text.to_owned()))), SqlType::new(PgType::Unknown))
}

/// A decimal number: a 128-bit decimal when its digits fit, else the sortable form.
fn numeric_literal(text: &str, ctx: &super::BindContext<'_>) -> PgResult<Expr> {
    let number = stoa_pg::values::number::trim(text);
    let plain = number.strip_prefix(['+', '-']).unwrap_or(number);
    let (whole, fraction) = plain.split_once('.').unwrap_or((plain, ""));
    let digits_only =
        !plain.is_empty() && whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) && (whole.len() + fraction.len()) > 0;
    let significant = whole.trim_start_matches('0').len() + fraction.len();
    if digits_only && significant <= 37 && fraction.len() <= 37 {
        let mut mantissa: i128 = 0;
        for b in whole.trim_start_matches('0').bytes().chain(fraction.bytes()) {
            mantissa = mantissa * 10 + i128::from(b - b'0');
        }
        if number.starts_with('-') {
            mantissa = -mantissa;
        }
        let (precision, scale) = (significant.max(1).max(fraction.len()) as u8, fraction.len() as i8);
        return Ok(Expr::new(
            ExprKind::Const(ScalarValue::Decimal128(Some(mantissa), precision, scale)),
            SqlType::decimal(precision, scale),
        ));
    }
    let ty = SqlType::new(PgType::Numeric);
    let value = stoa_pg::values::input_text(ctx.eval, &ty, text)?;
    Ok(Expr::new(ExprKind::Const(value), ty))
}

//! Calls that SQL writes with words: `EXTRACT(field FROM x)`, `SUBSTRING(x FROM n FOR m)`, `x SIMILAR TO y` and their kin.

use super::Binder;
use super::expr::not;
use super::literal::unknown;
use crate::typed::tree::{Expr, ExprKind};
use crate::typed::worded::in_words;
use datafusion_common::ScalarValue;
use stoa_pg::registry::CastContext;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_syntax::ast::{self, Expr as E};

impl Binder<'_> {
    pub(super) fn bind_worded_call(&mut self, syntax: &E) -> PgResult<Expr> {
        match syntax {
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
                self.call("timezone", vec![zone, value]).map(in_words).map_err(|e| e.at(self.pos(syntax)))
            }
            E::Extract { field, expr, .. } => {
                let name = field.to_string();
                let name = name.trim_matches(['"', '\'']).to_lowercase();
                let value = self.bind_expr(expr)?;
                self.call("extract", vec![unknown(&name), value]).map(in_words).map_err(|e| e.at(self.pos(expr.as_ref())))
            }
            E::Ceil { expr, field } => self.rounding("ceil", expr, field, syntax),
            E::Floor { expr, field } => self.rounding("floor", expr, field, syntax),
            E::Position { expr, r#in } => {
                let (what, string) = (self.bind_expr(expr)?, self.bind_expr(r#in)?);
                self.call("position", vec![string, what]).map(in_words).map_err(|e| e.at(self.pos(syntax)))
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
                        // This form alone takes whatever can be cast.
                        let length = self.bind_expr(for_)?;
                        let whole = SqlType::new(PgType::Int4);
                        args.push(self.coerce(length, &whole, CastContext::Explicit).map_err(|e| e.at(self.pos(for_.as_ref())))?);
                    }
                    (None, None) => {}
                }
                self.call("substring", args).map(in_words).map_err(|e| e.at(self.pos(syntax)))
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
                self.call(name, args).map(in_words).map_err(|e| e.at(self.pos(syntax)))
            }
            E::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
                let mut args = vec![self.bind_expr(expr)?, self.bind_expr(overlay_what)?, self.bind_expr(overlay_from)?];
                if let Some(length) = overlay_for {
                    args.push(self.bind_expr(length)?);
                }
                self.call("overlay", args).map(in_words).map_err(|e| e.at(self.pos(syntax)))
            }
            E::IsNormalized { expr, form, negated } => {
                let value = self.bind_expr(expr)?;
                let form = form.as_ref().map_or_else(|| "NFC".to_owned(), ToString::to_string);
                let out = self.call("is_normalized", vec![value, unknown(&form)]).map_err(|e| e.at(self.pos(syntax)))?;
                Ok(if *negated { not(out) } else { out })
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
}

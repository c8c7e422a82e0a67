//! Typed expressions back to SQL, as PostgreSQL prints what it stores: every operator in parentheses and every literal with its
//! type, or (pretty) only where they are needed.
//!
//! Invariant: the text binds again to the same expression.

use crate::typed::barrier::MATCH_FUNCTION;
use crate::typed::match_config::MatchConfig;
use crate::typed::once::written;
use crate::typed::tree::{ColId, Expr, ExprKind};
use crate::typed::worded::is_worded;
use datafusion_common::ScalarValue;
use std::sync::Arc;
use stoa_pg::registry::{Func, Registry};
use stoa_pg::types::{TRIMMED, format_type};
use stoa_pg::{EvalContext, PgError, PgResult, PgType, SqlType};

/// How expressions are printed.
pub struct Deparser<'a> {
    pub eval: &'a EvalContext,
    /// The SQL name of a column.
    pub column: &'a dyn Fn(ColId) -> String,
    pub pretty: bool,
    /// For what is stored: names of relations as their OIDs, which neither renaming nor the search path changes, and values whose text
    /// means the same under all settings.
    pub oids: bool,
}

/// Words that PostgreSQL quotes when they are names.
const RESERVED: &[&str] = &[
    "all",
    "analyse",
    "analyze",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "asymmetric",
    "authorization",
    "between",
    "bigint",
    "binary",
    "bit",
    "boolean",
    "both",
    "case",
    "cast",
    "char",
    "character",
    "check",
    "coalesce",
    "collate",
    "collation",
    "column",
    "concurrently",
    "constraint",
    "create",
    "cross",
    "current_catalog",
    "current_date",
    "current_role",
    "current_schema",
    "current_time",
    "current_timestamp",
    "current_user",
    "dec",
    "decimal",
    "default",
    "deferrable",
    "desc",
    "distinct",
    "do",
    "else",
    "end",
    "except",
    "exists",
    "extract",
    "false",
    "fetch",
    "float",
    "for",
    "foreign",
    "freeze",
    "from",
    "full",
    "grant",
    "greatest",
    "group",
    "grouping",
    "having",
    "ilike",
    "in",
    "initially",
    "inner",
    "inout",
    "int",
    "integer",
    "intersect",
    "interval",
    "into",
    "is",
    "isnull",
    "join",
    "lateral",
    "leading",
    "least",
    "left",
    "like",
    "limit",
    "localtime",
    "localtimestamp",
    "national",
    "natural",
    "nchar",
    "none",
    "normalize",
    "not",
    "notnull",
    "null",
    "nullif",
    "numeric",
    "offset",
    "on",
    "only",
    "or",
    "order",
    "out",
    "outer",
    "overlaps",
    "overlay",
    "placing",
    "position",
    "precision",
    "primary",
    "real",
    "references",
    "returning",
    "right",
    "row",
    "select",
    "session_user",
    "setof",
    "similar",
    "smallint",
    "some",
    "substring",
    "symmetric",
    "table",
    "tablesample",
    "then",
    "time",
    "timestamp",
    "to",
    "trailing",
    "treat",
    "trim",
    "true",
    "union",
    "unique",
    "user",
    "using",
    "values",
    "varchar",
    "variadic",
    "verbose",
    "when",
    "where",
    "window",
    "with",
    "xmlattributes",
    "xmlconcat",
    "xmlelement",
    "xmlexists",
    "xmlforest",
    "xmlnamespaces",
    "xmlparse",
    "xmlpi",
    "xmlroot",
    "xmlserialize",
    "xmltable",
];

/// An identifier with quotes where SQL needs them, as PostgreSQL's `quote_identifier`.
#[must_use]
pub fn quote_name(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if plain && RESERVED.binary_search(&name).is_err() { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// A string literal without escapes: backslashes stand for themselves.
fn quote_plain(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The arguments of COALESCE; what follows a volatile one is an expression over it.
fn in_one_list(args: &[Expr]) -> Vec<Expr> {
    let mut args = args.to_vec();
    while let Some(Expr { kind: ExprKind::Once { id, value, body }, .. }) = args.last()
        && let ExprKind::Coalesce(rest) = written(*id, value, body).kind
    {
        args.pop();
        args.extend(rest);
    }
    args
}

/// The value and the array of `x NOT IN (a, b)`, which is kept as the negation of IN.
fn not_in(expr: &Expr) -> Option<(&Expr, &Expr)> {
    let ExprKind::Not(arg) = &expr.kind else { return None };
    match &arg.kind {
        ExprKind::AnyArray { left, oper, array, all: false } if oper.0.name == "=" && matches!(array.kind, ExprKind::Array(_)) => {
            Some((left, array))
        }
        _ => None,
    }
}

/// Whether pretty printing takes an expression for one that holds together without parentheses.
fn is_one_word(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Column(_)
        | ExprKind::Const(_)
        | ExprKind::Func { .. }
        | ExprKind::Case { .. }
        | ExprKind::Coalesce(_)
        | ExprKind::Extreme { .. }
        | ExprKind::Array(_)
        | ExprKind::Row(_)
        | ExprKind::Subscript { .. }
        | ExprKind::Slice { .. } => true,
        // A cast by way of the text form is no call of a function in PostgreSQL.
        ExprKind::Cast { arg, .. } if arg.ty.ty.is_string() || expr.ty.ty.is_string() => is_one_word(arg),
        ExprKind::Cast { .. } => true,
        _ => false,
    }
}

/// A string literal.
#[must_use]
pub fn quote_text(text: &str) -> String {
    let quoted = text.replace('\'', "''");
    if text.contains('\\') { format!("E'{}'", quoted.replace('\\', "\\\\")) } else { format!("'{quoted}'") }
}

/// A type as casts print it.
pub fn type_name(ty: &SqlType) -> String {
    match &ty.ty {
        PgType::Bpchar if ty.typmod <= TRIMMED => "bpchar".to_owned(),
        PgType::Array(inner) if **inner == PgType::Bpchar && ty.typmod < 0 => "bpchar[]".to_owned(),
        // bit is bit(1).
        PgType::Bit if ty.typmod < 0 => "\"bit\"".to_owned(),
        PgType::Array(inner) if **inner == PgType::Bit && ty.typmod < 0 => "\"bit\"[]".to_owned(),
        other => format_type(other, ty.typmod),
    }
}

/// A stored text would have to follow the table.
fn row_type() -> PgError {
    PgError::unsupported("the row type of a table cannot be used in an expression that is stored")
        .hint("Compare the columns one by one, or as rows without a type.")
}

impl Deparser<'_> {
    /// The text of an expression.
    ///
    /// # Errors
    /// 0A000 for expressions that cannot be stored: subqueries, aggregates.
    pub fn print(&self, expr: &Expr) -> PgResult<String> {
        // What an assignment casts by itself is not shown at the top.
        let mut expr = expr;
        while let ExprKind::Cast { arg, explicit: false } = &expr.kind {
            expr = arg;
        }
        self.expr(expr)
    }

    /// The text as an argument: in parentheses, unless it is one word.
    ///
    /// # Errors
    /// As [`Deparser::print`].
    pub fn expr(&self, expr: &Expr) -> PgResult<String> {
        Ok(match &expr.kind {
            ExprKind::Column(id) => (self.column)(*id),
            ExprKind::Const(value) => self.constant(value, &expr.ty)?,
            ExprKind::Func { func, args } if is_spread(&func.0) => {
                let mut list: Vec<String> = args.iter().map(|a| self.expr(a)).collect::<PgResult<_>>()?;
                if let Some(array) = list.last_mut() {
                    *array = format!("VARIADIC {array}");
                }
                format!("{}({})", quote_name(func.0.name), list.join(", "))
            }
            ExprKind::Func { func, args } if self.pretty && func.0.name == MATCH_FUNCTION => self.matching(func.0.name, args)?,
            ExprKind::Func { func, args } => {
                let worded = if is_worded(&func.0) { self.worded(func.0.name, args)? } else { None };
                worded.map_or_else(|| self.function(func.0.name, args), Ok)?
            }
            ExprKind::Oper { oper, args } => {
                let text = match args.as_slice() {
                    [one] => format!("{} {}", oper.0.name, self.operand(expr, one, false)?),
                    [left, right] => {
                        format!("{} {} {}", self.operand(expr, left, true)?, oper.0.name, self.operand(expr, right, false)?)
                    }
                    _ => return Err(PgError::internal("an operator with neither one nor two operands")),
                };
                self.enclosed(text)
            }
            ExprKind::Cast { arg, explicit } => self.cast(arg, &expr.ty, *explicit)?,
            ExprKind::And(args) => self.connected(expr, args, " AND ")?,
            ExprKind::Or(args) => self.connected(expr, args, " OR ")?,
            ExprKind::Not(arg) => match not_in(expr) {
                Some((left, array)) => self.quantified(left, "<>", true, array)?,
                None => {
                    let inner = self.boolean(expr, arg)?;
                    self.enclosed(format!("NOT {inner}"))
                }
            },
            ExprKind::IsNull(arg) => {
                let inner = self.simple(arg)?;
                self.enclosed(format!("{inner} IS NULL"))
            }
            ExprKind::IsNotNull(arg) => {
                let inner = self.simple(arg)?;
                self.enclosed(format!("{inner} IS NOT NULL"))
            }
            ExprKind::IsBool { arg, value, negated } => {
                let word = match value {
                    Some(true) => "TRUE",
                    Some(false) => "FALSE",
                    None => "UNKNOWN",
                };
                let inner = self.simple(arg)?;
                self.enclosed(format!("{inner} IS {}{word}", if *negated { "NOT " } else { "" }))
            }
            ExprKind::IsDistinct { left, right, negated, .. } => {
                let text = format!("{} IS {}DISTINCT FROM {}", self.simple(left)?, if *negated { "NOT " } else { "" }, self.simple(right)?);
                self.enclosed(text)
            }
            ExprKind::Case { whens, otherwise } => {
                self.case("", whens.iter().map(|(when, then)| (when, then)), otherwise.as_deref(), &expr.ty)?
            }
            ExprKind::Once { id, value, body } => self.once(*id, value, body)?,
            ExprKind::Coalesce(args) => format!("COALESCE({})", self.list(&in_one_list(args))?),
            ExprKind::Extreme { args, greatest } => format!("{}({})", if *greatest { "GREATEST" } else { "LEAST" }, self.list(args)?),
            ExprKind::Array(args) => {
                if args.is_empty() {
                    format!("ARRAY[]::{}", type_name(&expr.ty))
                } else {
                    format!("ARRAY[{}]", self.list(args)?)
                }
            }
            ExprKind::Row(args) => format!("ROW({})", self.list(args)?),
            ExprKind::Subscript { array, indexes } => {
                let mut out = match array.kind {
                    ExprKind::Column(_) => self.expr(array)?,
                    _ => format!("({})", self.expr(array)?),
                };
                for index in indexes {
                    out.push_str(&format!("[{}]", self.expr(index)?));
                }
                out
            }
            ExprKind::Slice { array, bounds } => {
                let mut out = match array.kind {
                    ExprKind::Column(_) => self.expr(array)?,
                    _ => format!("({})", self.expr(array)?),
                };
                for (lower, upper) in bounds {
                    let side = |e: &Option<Expr>| e.as_ref().map_or_else(|| Ok(String::new()), |e| self.expr(e));
                    out.push_str(&format!("[{}:{}]", side(lower)?, side(upper)?));
                }
                out
            }
            ExprKind::AnyArray { left, oper, array, all } => self.quantified(left, oper.0.name, *all, array)?,
            ExprKind::Field { .. }
            | ExprKind::RowIsNull { .. }
            | ExprKind::Param(_)
            | ExprKind::Given(_)
            | ExprKind::ScalarSubquery(_)
            | ExprKind::Exists(_)
            | ExprKind::AnyQuery { .. }
            | ExprKind::ArraySubquery(_)
            | ExprKind::Aggregate(_)
            | ExprKind::Window(_)
            | ExprKind::Set(_)
            | ExprKind::Grouping(_) => return Err(PgError::unsupported("an expression of this kind cannot be stored")),
        })
    }

    /// `left op ANY|ALL (array)`.
    fn quantified(&self, left: &Expr, operator: &str, all: bool, array: &Expr) -> PgResult<String> {
        let word = if all { "ALL" } else { "ANY" };
        Ok(self.enclosed(format!("{} {operator} {word} ({})", self.simple(left)?, self.expr(array)?)))
    }

    fn enclosed(&self, text: String) -> String {
        if self.pretty { text } else { format!("({text})") }
    }

    /// CASE as PostgreSQL prints it, on lines of its own.
    fn case<'e>(
        &self,
        operand: &str,
        whens: impl Iterator<Item = (&'e Expr, &'e Expr)>,
        otherwise: Option<&Expr>,
        ty: &SqlType,
    ) -> PgResult<String> {
        let mut out = format!("\nCASE{operand}");
        for (when, then) in whens {
            out.push_str(&format!("\n    WHEN {} THEN {}", self.expr(when)?, self.expr(then)?));
        }
        let otherwise = match otherwise {
            Some(e) => self.expr(e)?,
            None => format!("NULL::{}", type_name(&SqlType::new(ty.ty.clone()))),
        };
        out.push_str(&format!("\n    ELSE {otherwise}\nEND"));
        Ok(out)
    }

    /// A value that is computed once, as the CASE or NULLIF that it was written as: read again, it must not be computed at each use.
    fn once(&self, id: ColId, value: &Expr, body: &Expr) -> PgResult<String> {
        let given = |e: &Expr| e.kind == ExprKind::Given(id);
        let compared = |when: &Expr| match &when.kind {
            ExprKind::Oper { oper, args } if oper.0.name == "=" => match args.as_slice() {
                [left, right] if given(left) && !right.any(&mut |e| given(e)) => Some(right.clone()),
                _ => None,
            },
            _ => None,
        };
        let ExprKind::Case { whens, otherwise } = &body.kind else { return self.expr(&written(id, value, body)) };
        let Some(values) = whens.iter().map(|(when, _)| compared(when)).collect::<Option<Vec<_>>>() else {
            return self.expr(&written(id, value, body));
        };
        match (values.as_slice(), whens.as_slice(), otherwise.as_deref()) {
            ([other], [(_, null)], Some(otherwise)) if given(otherwise) && null.is_null_const() => {
                Ok(format!("NULLIF({}, {})", self.expr(value)?, self.expr(other)?))
            }
            _ => {
                let pairs = values.iter().zip(whens).map(|(value, (_, then))| (value, then));
                self.case(&format!(" {}", self.expr(value)?), pairs, otherwise.as_deref(), &body.ty)
            }
        }
    }

    fn list(&self, args: &[Expr]) -> PgResult<String> {
        Ok(args.iter().map(|a| self.expr(a)).collect::<PgResult<Vec<_>>>()?.join(", "))
    }

    fn connected(&self, parent: &Expr, args: &[Expr], word: &str) -> PgResult<String> {
        let parts = args.iter().map(|a| self.boolean(parent, a)).collect::<PgResult<Vec<_>>>()?;
        Ok(self.enclosed(parts.join(word)))
    }

    /// An operand of AND, OR, NOT. Pretty printing encloses it where it would be read in another way.
    fn boolean(&self, parent: &Expr, expr: &Expr) -> PgResult<String> {
        let text = self.expr(expr)?;
        let encloses = match expr.kind {
            ExprKind::Or(_) => !matches!(parent.kind, ExprKind::Or(_)),
            ExprKind::Not(_) if not_in(expr).is_some() => true,
            ExprKind::And(_) | ExprKind::Not(_) => matches!(parent.kind, ExprKind::Not(_)),
            ExprKind::AnyArray { .. } => true,
            _ => false,
        };
        Ok(if self.pretty && encloses { format!("({text})") } else { text })
    }

    /// An operand that must hold together: pretty printing encloses what is not one word.
    fn simple(&self, expr: &Expr) -> PgResult<String> {
        let text = self.expr(expr)?;
        Ok(if self.pretty && !is_one_word(expr) { format!("({text})") } else { text })
    }

    /// An operand of an operator: multiplication binds before addition, and the left of equals needs no parentheses.
    fn operand(&self, parent: &Expr, child: &Expr, left: bool) -> PgResult<String> {
        if self.pretty
            && let (ExprKind::Oper { oper: p, .. }, ExprKind::Oper { oper: c, args }) = (&parent.kind, &child.kind)
        {
            let level = |name: &str| match name {
                "*" | "/" | "%" => Some(2),
                "+" | "-" => Some(1),
                _ => None,
            };
            if let (Some(p), Some(c), [_, _]) = (level(p.0.name), level(c.0.name), args.as_slice())
                && (c > p || (c == p && left))
            {
                return self.expr(child);
            }
        }
        self.simple(child)
    }

    fn cast(&self, arg: &Expr, ty: &SqlType, explicit: bool) -> PgResult<String> {
        // A length that an assignment applies to a literal of the same type.
        if !explicit && arg.ty.ty == ty.ty && matches!(arg.kind, ExprKind::Const(_)) {
            return self.expr(arg);
        }
        // Only the form in memory changes.
        if arg.ty.ty == ty.ty && (ty.typmod < 0 || arg.ty.typmod == ty.typmod || (ty.ty == PgType::Bpchar && ty.typmod == TRIMMED)) {
            return self.expr(arg);
        }
        if explicit && matches!(ty.ty, PgType::Record(Some(_))) {
            return Err(row_type());
        }
        let inner = self.expr(arg)?;
        let one = matches!(
            arg.kind,
            ExprKind::Column(_) | ExprKind::Const(_) | ExprKind::Func { .. } | ExprKind::Cast { .. } | ExprKind::Array(_)
        );
        let negative = inner.starts_with('-') || inner.starts_with("'-") && matches!(arg.kind, ExprKind::Const(_)) && !inner.contains("::");
        let name = type_name(ty);
        Ok(if self.pretty && one && !negative { format!("{inner}::{name}") } else { format!("({inner})::{name}") })
    }

    /// MATCH as it is written; how each column is cut into words, which the text does not say, is kept where nobody reads it.
    fn matching(&self, name: &str, args: &[Expr]) -> PgResult<String> {
        let constant = |e: &Expr| match &e.kind {
            ExprKind::Const(ScalarValue::Utf8View(Some(text)) | ScalarValue::Utf8(Some(text))) => Some(text.clone()),
            _ => None,
        };
        let [config, search, columns @ ..] = args else { return self.function(name, args) };
        let Some(config) = constant(config).and_then(|text| MatchConfig::read(&text).ok()) else { return self.function(name, args) };
        let search = constant(search).map_or_else(|| self.simple(search), |text| Ok(quote_text(&text)))?;
        Ok(format!("MATCH ({}) AGAINST ({search}{})", self.list(columns)?, config.mode.clause()))
    }

    fn constant(&self, value: &ScalarValue, ty: &SqlType) -> PgResult<String> {
        let plain = SqlType { typmod: -1, ..ty.clone() };
        let name = type_name(&SqlType::new(ty.ty.clone()));
        if matches!(ty.ty, PgType::Record(_)) {
            return Err(row_type());
        }
        if value.is_null() {
            return Ok(format!("NULL::{name}"));
        }
        if self.oids
            && ty.ty == PgType::Regclass
            && let ScalarValue::UInt32(Some(oid)) = value
        {
            return Ok(format!("'{oid}'::regclass"));
        }
        let text = if self.oids {
            stoa_pg::values::output_text(&self.eval.stored_form(), &plain, value)?
        } else {
            stoa_pg::values::output_text(self.eval, &plain, value)?
        };
        Ok(match ty.ty {
            PgType::Bool => if text == "t" { "true" } else { "false" }.to_owned(),
            PgType::Int4 => {
                if text.starts_with('-') {
                    format!("'{text}'::integer")
                } else {
                    text
                }
            }
            PgType::Numeric if text.bytes().all(|b| b.is_ascii_digit() || b == b'.') && text.contains('.') => text,
            PgType::Numeric if text.bytes().all(|b| b.is_ascii_digit()) => format!("'{text}'::numeric"),
            // Without padding.
            PgType::Bpchar => format!("{}::bpchar", quote_plain(text.trim_end_matches(' '))),
            PgType::Unknown => quote_plain(&text),
            _ => format!("{}::{name}", quote_plain(&text)),
        })
    }

    fn function(&self, name: &str, args: &[Expr]) -> PgResult<String> {
        if args.is_empty() && matches!(name, "current_user" | "session_user") {
            return Ok(name.to_uppercase());
        }
        Ok(format!("{}({})", quote_name(name), self.list(args)?))
    }

    /// A call that was written with words, as PostgreSQL prints it; `None` for one that is printed as others are all the same.
    fn worded(&self, name: &str, args: &[Expr]) -> PgResult<Option<String>> {
        let is_number = |e: &Expr| e.ty.ty == PgType::Int4;
        Ok(Some(match (name, args) {
            ("extract", [Expr { kind: ExprKind::Const(field), .. }, source]) => match field.try_as_str() {
                Some(Some(field)) => format!("EXTRACT({field} FROM {})", self.expr(source)?),
                _ => return Ok(None),
            },
            ("timezone", [zone, time]) => format!("({} AT TIME ZONE {})", self.simple(time)?, self.simple(zone)?),
            ("position", [string, part]) => format!("POSITION(({}) IN ({}))", self.expr(part)?, self.expr(string)?),
            ("substring", [string, from]) if is_number(from) => format!("SUBSTRING({} FROM {})", self.expr(string)?, self.expr(from)?),
            ("substring", [string, from, length]) if is_number(from) => {
                format!("SUBSTRING({} FROM {} FOR {})", self.expr(string)?, self.expr(from)?, self.expr(length)?)
            }
            ("substring", [string, pattern, escape]) => {
                format!("SUBSTRING({} SIMILAR {} ESCAPE {})", self.expr(string)?, self.expr(pattern)?, self.expr(escape)?)
            }
            ("btrim" | "ltrim" | "rtrim", [string, characters @ ..]) => {
                let side = match name {
                    "ltrim" => "LEADING",
                    "rtrim" => "TRAILING",
                    _ => "BOTH",
                };
                let characters = characters.first().map(|characters| self.expr(characters)).transpose()?;
                let characters = characters.map_or_else(String::new, |characters| format!(" {characters}"));
                format!("TRIM({side}{characters} FROM {})", self.expr(string)?)
            }
            ("overlay", [string, by, from, length @ ..]) => {
                let length = length.first().map(|length| self.expr(length)).transpose()?;
                let length = length.map_or_else(String::new, |length| format!(" FOR {length}"));
                format!("OVERLAY({} PLACING {} FROM {}{length})", self.expr(string)?, self.expr(by)?, self.expr(from)?)
            }
            _ => return Ok(None),
        }))
    }
}

/// Whether this is the form of a function that takes what varies in number as one array.
fn is_spread(func: &Arc<Func>) -> bool {
    Registry::get().spread_functions(func.name).iter().any(|form| Arc::ptr_eq(form, func))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn names_are_quoted_where_needed() {
        assert!(RESERVED.windows(2).all(|w| w[0] < w[1]));
        for (name, quoted) in
            [("a_1", "a_1"), ("A", "\"A\""), ("order", "\"order\""), ("a\"b", "\"a\"\"b\""), ("1a", "\"1a\""), ("name", "name")]
        {
            assert_eq!(quote_name(name), quoted);
        }
        assert_eq!(quote_text("it's"), "'it''s'");
        assert_eq!(quote_text("a\\b"), "E'a\\\\b'");
    }
}

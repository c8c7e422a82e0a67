//! What PostgreSQL's syntax has and sqlparser's tree has no place for: how it is put there, and how it is found again.
//!
//! Invariant: where a mark may be part of a view's query, what it prints is read as the same mark by [`grammar`](crate::grammar).

use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident, ObjectName, ObjectNamePart,
};

/// How an unquoted name, which no text can give, is told: by its quote.
pub const EXPRESSION: char = '(';
/// The condition behind the columns of ON CONFLICT.
pub const PREDICATE: char = '?';
/// Subscripts behind a column that UPDATE sets.
pub const SUBSCRIPTS: char = '[';
/// The type behind an undeclared column among those of INSERT.
pub const TYPE: char = ':';
/// OVERRIDING SYSTEM VALUE or USER VALUE among the columns of INSERT.
pub const OVERRIDING: char = '!';

/// What EXCLUDE leaves out of a frame: the last of PARTITION BY is a call of this name.
pub const EXCLUDE: [&str; 3] = ["exclude current row", "exclude group", "exclude ties"];
/// GROUP BY DISTINCT: the first of the list is a call of this name.
pub const GROUP_BY_DISTINCT: &str = "group by distinct";
/// ROWS FROM (…): a function of this name in FROM.
pub const ROWS_FROM: &str = "rows from";
/// `FOR SYSTEM_TIME FROM a TO b`, `BETWEEN a AND b`, `ALL`: the version of a table is a call of this name.
pub const PERIOD_FROM: &str = "for system_time from";
pub const PERIOD_BETWEEN: &str = "for system_time between";
pub const PERIOD_ALL: &str = "for system_time all";
/// MATCH with what sqlparser's has no place for: a call of this name, of the mode, the search string and the columns.
pub const MATCH: &str = "match against";
/// Modes of MATCH that MySQL has none of.
pub const MATCH_MODES: [&str; 2] = ["search box", "more like this"];
/// WHERE CURRENT OF: the condition is a call of this name.
pub(crate) const CURRENT_OF: &str = "current of";
/// VARIADIC: the prefix of an argument.
pub const VARIADIC: &str = "variadic";
/// BETWEEN SYMMETRIC: the prefix of the lower bound.
pub const SYMMETRIC: &str = "symmetric";
/// A prefix operator that sqlparser has no name for.
pub const PREFIX_OPERATOR: &str = "operator";
/// `JOIN … USING (…) AS name`: the name stands behind the columns, with this before it.
pub const USING_ALIAS: &str = "\u{1}AS\u{1}";
/// SEARCH and CYCLE of a CTE stand as the last columns of its alias: parts of the clause parted by this.
pub const PART: char = '\u{1}';
/// `SEARCH␁BREADTH␁column␁…␁sequence`
pub const SEARCH: &str = "SEARCH";
/// `CYCLE␁column␁…␁mark␁path␁value␁default`, the last two as SQL.
pub const CYCLE: &str = "CYCLE";

/// A call by which something is marked.
#[must_use]
pub fn call(name: &str, args: Vec<Expr>) -> Function {
    let args = args.into_iter().map(|e| FunctionArg::Unnamed(FunctionArgExpr::Expr(e))).collect();
    Function {
        name: ObjectName::from(vec![Ident::with_quote('"', name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses: Vec::new() }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    }
}

/// The name by which an expression is a mark, if it is a call with a quoted name.
#[must_use]
pub fn called(expr: &Expr) -> Option<&str> {
    let Expr::Function(function) = expr else { return None };
    match function.name.0.as_slice() {
        [ObjectNamePart::Identifier(ident)] if ident.quote_style.is_some() => Some(&ident.value),
        _ => None,
    }
}

/// The cursor of WHERE CURRENT OF, if a condition is that.
#[must_use]
pub fn cursor(condition: &Expr) -> Option<&Ident> {
    let Expr::Function(Function { args: FunctionArguments::List(list), .. }) = condition else { return None };
    match list.args.as_slice() {
        [FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Identifier(cursor)))] if called(condition) == Some(CURRENT_OF) => Some(cursor),
        _ => None,
    }
}

/// The mark's own name of an identifier whose quote is `kind`.
#[must_use]
pub fn ident(part: &ObjectNamePart, kind: char) -> Option<&str> {
    match part {
        ObjectNamePart::Identifier(ident) if ident.quote_style == Some(kind) => Some(&ident.value),
        _ => None,
    }
}

/// An identifier that is a mark.
pub(crate) fn mark(kind: char, text: impl Into<String>, span: sqlparser::tokenizer::Span) -> Ident {
    Ident { value: text.into(), quote_style: Some(kind), span }
}

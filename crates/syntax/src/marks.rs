//! What PostgreSQL's syntax has and sqlparser's tree has no field for: where it stands in the tree, and how it is found again.
//!
//! - A call, a column of an alias or the first name of a lock that is called by several words without quotes: `ROWS FROM`.
//! - A part of a name that is a function with expressions ([`part`]); sqlparser's tree has them for other dialects.
//! - An expression behind a prefix ([`Expr::Prefixed`]), likewise.
//!
//! Invariant: no text is read as a mark but by the syntax that it stands for. A name without quotes is one word, and the grammar makes the
//! two other nodes for nothing else. What [`print`](crate::print) makes of a mark is that syntax again.

use sqlparser::ast::{
    CastKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgOperator, FunctionArgumentList, FunctionArguments, Ident,
    ObjectName, ObjectNamePart, ObjectNamePartFunction, TableAliasColumnDef, Value,
};

/// What EXCLUDE leaves out of a frame: the last of PARTITION BY is a call of this name.
pub const EXCLUDE: [&str; 3] = ["EXCLUDE CURRENT ROW", "EXCLUDE GROUP", "EXCLUDE TIES"];
/// GROUP BY DISTINCT: the first of the list is a call of this name.
pub const GROUP_BY_DISTINCT: &str = "GROUP BY DISTINCT";
/// ROWS FROM (…): a function of this name in FROM. A list of columns behind one of its calls: the call's parameters ([`defines`]).
pub const ROWS_FROM: &str = "ROWS FROM";
/// `FOR SYSTEM_TIME FROM a TO b`, `BETWEEN a AND b`, `ALL`: the version of a table is a call of this name.
pub const PERIOD_FROM: &str = "FOR SYSTEM_TIME FROM";
pub const PERIOD_BETWEEN: &str = "FOR SYSTEM_TIME BETWEEN";
pub const PERIOD_ALL: &str = "FOR SYSTEM_TIME ALL";
/// MATCH with what sqlparser's has no field for: a call of this name, of the mode, the search string and the columns.
pub const MATCH: &str = "match against";
/// Modes of MATCH that MySQL has none of.
pub const MATCH_MODES: [&str; 2] = ["IN SEARCH BOX MODE", "IN MORE LIKE THIS MODE"];
/// WHERE CURRENT OF: the condition is a call of this name.
pub(crate) const CURRENT_OF: &str = "CURRENT OF";
/// SEARCH of a CTE: a column of its alias, whose type is a name of the columns searched by and the sequence.
pub const SEARCH: [&str; 2] = ["SEARCH DEPTH FIRST BY", "SEARCH BREADTH FIRST BY"];
/// CYCLE of a CTE: a column of its alias, whose type is a name of the columns compared, the mark, the path and [`VALUES`].
pub const CYCLE: &str = "CYCLE COLUMNS";

/// VARIADIC: the prefix of an argument.
pub const VARIADIC: &str = "variadic";
/// BETWEEN SYMMETRIC: the prefix of the lower bound.
pub const SYMMETRIC: &str = "symmetric";
/// A prefix operator that sqlparser has no name for.
pub const PREFIX_OPERATOR: &str = "operator";

/// Subscripts behind a column that is assigned: a part of its name, of the column with the subscripts.
pub const SUBSCRIPTS: &str = "subscripts";
/// The type behind an undeclared column among those of INSERT: a part of its name, of NULL as that type.
pub const TYPE: &str = "type";
/// OVERRIDING SYSTEM VALUE or USER VALUE: the last of the columns of INSERT, of the word.
pub const OVERRIDING: &str = "overriding";
/// `JOIN … USING (…) AS name`: the last of the columns, of the name.
pub const USING_ALIAS: &str = "as";
/// The columns and expressions of ON CONFLICT: the first part of the name of a constraint.
pub const COLUMNS: &str = "columns";
/// The condition behind them: the second.
pub const PREDICATE: &str = "where";
/// The mark's value and its default in CYCLE.
pub const VALUES: &str = "values";

/// A call by which something is marked.
pub(crate) fn call(name: &str, args: Vec<Expr>) -> Function {
    function(Ident::new(name), args)
}

/// A call of a function.
pub(crate) fn function(name: Ident, args: Vec<Expr>) -> Function {
    Function {
        name: ObjectName::from(vec![name]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args: arguments(args), clauses: Vec::new() }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    }
}

fn arguments(args: Vec<Expr>) -> Vec<FunctionArg> {
    args.into_iter().map(|e| FunctionArg::Unnamed(FunctionArgExpr::Expr(e))).collect()
}

/// Adds a list of columns with their types to a call of ROWS FROM.
pub(crate) fn define(call: &mut Function, columns: Vec<TableAliasColumnDef>) {
    let column = |column: TableAliasColumnDef| {
        let expr = Box::new(Expr::Value(Value::Null.with_empty_span()));
        let data_type = column.data_type.unwrap_or(DataType::Unspecified);
        let typed = Expr::Cast { kind: CastKind::DoubleColon, expr, data_type, array: false, format: None };
        FunctionArg::Named { name: column.name, arg: FunctionArgExpr::Expr(typed), operator: FunctionArgOperator::RightArrow }
    };
    let args = columns.into_iter().map(column).collect();
    call.parameters = FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses: Vec::new() });
}

/// The list of columns behind a call of ROWS FROM.
#[must_use]
pub fn defines(call: &Function) -> Vec<TableAliasColumnDef> {
    let FunctionArguments::List(list) = &call.parameters else { return Vec::new() };
    let column = |arg: &FunctionArg| match arg {
        FunctionArg::Named { name, arg: FunctionArgExpr::Expr(Expr::Cast { data_type, .. }), .. } => {
            Some(TableAliasColumnDef { name: name.clone(), data_type: Some(data_type.clone()) })
        }
        _ => None,
    };
    list.args.iter().filter_map(column).collect()
}

/// Whether an identifier is the mark of this name.
#[must_use]
pub fn is(ident: &Ident, mark: &str) -> bool {
    ident.quote_style.is_none() && ident.value == mark
}

/// Whether a name is the mark of this name.
#[must_use]
pub fn is_name(name: &ObjectName, mark: &str) -> bool {
    matches!(name.0.as_slice(), [ObjectNamePart::Identifier(ident)] if is(ident, mark))
}

/// The arguments of the call that is the mark of this name.
#[must_use]
pub fn called<'a>(expr: &'a Expr, mark: &str) -> Option<Vec<&'a Expr>> {
    let Expr::Function(Function { name, args: FunctionArguments::List(list), .. }) = expr else { return None };
    is_name(name, mark).then(|| plain(&list.args))
}

/// The cursor of WHERE CURRENT OF, if a condition is that.
#[must_use]
pub fn cursor(condition: &Expr) -> Option<&Ident> {
    match called(condition, CURRENT_OF)?.as_slice() {
        [Expr::Identifier(cursor)] => Some(cursor),
        _ => None,
    }
}

/// A part of a name that is a mark.
pub(crate) fn part(mark: &str, args: Vec<Expr>) -> ObjectNamePart {
    ObjectNamePart::Function(ObjectNamePartFunction { name: Ident::new(mark), args: arguments(args) })
}

/// The expressions of a part of a name, if it is the mark of this name.
#[must_use]
pub fn in_part<'a>(part: &'a ObjectNamePart, mark: &str) -> Option<Vec<&'a Expr>> {
    match part {
        ObjectNamePart::Function(function) if is(&function.name, mark) => Some(plain(&function.args)),
        _ => None,
    }
}

fn plain(args: &[FunctionArg]) -> Vec<&Expr> {
    args.iter()
        .filter_map(|arg| match arg {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) => Some(e),
            _ => None,
        })
        .collect()
}

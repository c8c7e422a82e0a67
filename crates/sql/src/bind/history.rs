//! The past of tables in FROM: `t FOR SYSTEM_TIME …`, `stoa_history('t', key…)` and `stoa_diff('t', a, b)`.
//!
//! All three are one relation, [`HistoryScan`]; a key is a condition above it. When a version begins and ends are columns that `*` does
//! not show where the clause is written, and does where the function is.

use super::expr::and;
use super::from::Bound;
use super::promoted::Past;
use super::scope::{Clause, FromItem, Scope, ScopeColumn};
use super::search::HIDDEN;
use super::sqlparser_span::Span as Place;
use super::{BindContext, Binder};
use crate::typed::tree::{Expr, HistoryScan, Rel, Span, VersionColumn};
use std::sync::Arc;
use stoa_pg::registry::CastContext;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_syntax::ast::{self, DataType, Expr as E, FunctionArg, FunctionArgExpr, TableFactor};
use stoa_syntax::marks;
use stoa_table::catalog::{Relation, TableDescriptor};

/// Whether a literal is an interval back from now: no timestamp begins with a sign, but `-infinity`.
fn is_span(time: &E) -> bool {
    let E::Value(value) = time else { return false };
    let ast::Value::SingleQuotedString(text) = &value.value else { return false };
    text.trim_start().strip_prefix('-').is_some_and(|rest| !rest.trim_start().get(..3).is_some_and(|word| word.eq_ignore_ascii_case("inf")))
}

/// A time that a statement names, as AS OF takes it.
///
/// # Errors
/// As of any expression without columns.
pub fn bind_time(ctx: &BindContext<'_>, time: &E) -> PgResult<Expr> {
    let mut binder = Binder::new(ctx.clone());
    binder.scopes.push(Scope::new(Clause::From));
    binder.bind_time(time)
}

/// Functions in FROM that give the past, by their names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum HistoryFunction {
    History,
    Difference,
}

impl HistoryFunction {
    /// What an item of FROM calls.
    pub(super) fn of(factor: &TableFactor) -> Option<Self> {
        let (TableFactor::Function { name, .. } | TableFactor::Table { name, args: Some(_), .. }) = factor else { return None };
        match super::name_parts(name).ok()?.as_slice() {
            [name] | [_, name] if name == "stoa_history" => Some(HistoryFunction::History),
            [name] | [_, name] if name == "stoa_diff" => Some(HistoryFunction::Difference),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            HistoryFunction::History => "stoa_history",
            HistoryFunction::Difference => "stoa_diff",
        }
    }
}

impl Binder<'_> {
    /// `t FOR SYSTEM_TIME FROM a TO b`, `BETWEEN a AND b` and `ALL`.
    pub(super) fn bind_period(
        &mut self,
        table: &Arc<TableDescriptor>,
        schema: String,
        alias: Option<&ast::TableAlias>,
        period: &ast::TableVersion,
        place: Place,
    ) -> PgResult<Bound> {
        let position = self.pos_span(place);
        let unknown = || {
            PgError::unsupported("this table version is not supported")
                .hint("Write FOR SYSTEM_TIME AS OF, FROM … TO, BETWEEN … AND, or ALL.")
                .at(position)
        };
        let ast::TableVersion::Function(call) = period else { return Err(unknown()) };
        let includes_end = marks::called(call, marks::PERIOD_BETWEEN);
        let between = includes_end.is_some();
        let span = match includes_end.or_else(|| marks::called(call, marks::PERIOD_FROM)).as_deref() {
            Some([from, to]) => Span::Between { from: self.bind_time(from)?, to: self.bind_time(to)?, includes_end: between },
            None if marks::called(call, marks::PERIOD_ALL).is_some() => Span::All,
            _ => return Err(unknown()),
        };
        keeps_history(table).map_err(|e| e.at(position))?;
        self.note_reading(table.oid);
        let (scan, mut item) = self.scan_table(table, alias)?;
        let maps = without_maps(&mut item);
        if alias.is_none() {
            item.schema = Some(schema);
            item.place = Some(place);
        }
        let mut history = HistoryScan { scan, version_columns: Vec::new(), span };
        self.give(&mut history, &mut item, &[VersionColumn::RowStart, VersionColumn::RowEnd], true);
        self.show_past(table, &mut item.columns, &history.scan.columns, &Past::of_versions(&history)?)?;
        item.columns.extend(maps);
        // A row is there once for each of its versions.
        item.key = None;
        self.push_item(item, position)?;
        Ok(Bound { rel: Rel::History(Box::new(history)), lateral: false })
    }

    /// A time that a clause or a function names: a timestamp, or an interval from the statement's beginning, `'-10 s'`.
    pub(super) fn bind_time(&mut self, time: &E) -> PgResult<Expr> {
        let mut bound = self.bind_expr(time)?;
        if is_span(time) {
            bound = self.coerce(bound, &SqlType::new(PgType::Interval), CastContext::Explicit)?;
        }
        if bound.ty.ty == PgType::Interval {
            let now = self.call("statement_timestamp", Vec::new())?;
            bound = self.operator("+", Some(now), bound)?;
        }
        self.coerce(bound, &SqlType::new(PgType::Timestamptz), CastContext::Explicit)
    }

    /// A call of one of the functions.
    pub(super) fn bind_history_function(&mut self, factor: &TableFactor) -> PgResult<Bound> {
        let (name, args, alias, ordinality) = match factor {
            TableFactor::Function { name, args, alias, with_ordinality, .. } => (name, args, alias.as_ref(), *with_ordinality),
            TableFactor::Table { name, args: Some(args), alias, with_ordinality, .. } => {
                (name, &args.args, alias.as_ref(), *with_ordinality)
            }
            _ => return Err(PgError::internal("a history that is no call")),
        };
        let Some(function) = HistoryFunction::of(factor) else { return Err(PgError::internal("a call of something else")) };
        let position = self.pos(name);
        if ordinality || alias.is_some_and(|alias| alias.columns.iter().any(|c| c.data_type.is_some())) {
            let message = format!("{}() takes neither WITH ORDINALITY nor a column definition list", function.name());
            return Err(PgError::unsupported(message).at(position));
        }
        let args: Vec<&E> = args.iter().map(|arg| plain(arg).ok_or_else(|| wrong_call(function).at(position))).collect::<PgResult<_>>()?;
        let Some((table, rest)) = args.split_first() else { return Err(wrong_call(function).at(position)) };
        let table = self.table_of_argument(table, function).map_err(|e| e.at(position))?;
        keeps_history(&table).map_err(|e| e.at(position))?;
        let (span, given): (_, &[VersionColumn]) = match (function, rest) {
            (HistoryFunction::History, _) => {
                (Span::Changes, &[VersionColumn::RowStart, VersionColumn::RowEnd, VersionColumn::Operation, VersionColumn::Changed])
            }
            (HistoryFunction::Difference, [from, to]) => {
                let (from, to) = (self.bind_time(from)?, self.bind_time(to)?);
                (Span::Difference { from, to }, &[VersionColumn::Operation, VersionColumn::Changed])
            }
            (HistoryFunction::Difference, _) => return Err(wrong_call(function).at(position)),
        };
        self.note_reading(table.oid);
        // Which columns have changed is known to whoever may read all of them.
        table.visible_columns().for_each(|column| self.note_read(table.oid, column.id));
        let keys = if function == HistoryFunction::History { rest } else { &[] };
        // Arguments see the items to the left, and not this one.
        let keys = keys.iter().map(|key| self.in_clause(Clause::FunctionInFrom, |b| b.bind_expr(key))).collect::<PgResult<Vec<_>>>()?;
        let (scan, mut item) = self.scan_table(&table, None)?;
        let maps = without_maps(&mut item);
        let mut history = HistoryScan { scan, version_columns: Vec::new(), span };
        self.give(&mut history, &mut item, given, false);
        self.show_past(&table, &mut item.columns, &history.scan.columns, &Past::of_versions(&history)?)?;
        let parts: Vec<_> = table.key_columns().filter(|_| table.primary_key.is_some()).collect();
        if keys.len() > parts.len() {
            let message = format!("{}() takes at most {} values of the key of table \"{}\"", function.name(), parts.len(), table.name);
            return Err(PgError::new(SqlState::UNDEFINED_FUNCTION, message).at(position));
        }
        let mut conditions = Vec::with_capacity(keys.len());
        for (key, part) in keys.into_iter().zip(parts) {
            let column = history.scan.columns.iter().find(|(id, _)| *id == part.column).zip(table.column(part.column));
            let Some(((_, id), column)) = column else { return Err(PgError::internal("a key without its column")) };
            conditions.push(self.operator("=", Some(Expr::column(*id, column.ty.clone())), key).map_err(|e| e.at(position))?);
        }
        let mut rel = Rel::History(Box::new(history));
        if !conditions.is_empty() {
            rel = Rel::Filter { input: Box::new(rel), predicate: and(conditions) };
        }
        let lateral = !crate::typed::walk::free_columns(&rel).is_empty();
        let mut named = self.aliased(std::mem::take(&mut item.columns), alias, function.name().to_owned())?;
        named.fields = item.fields;
        named.columns.extend(maps);
        self.push_item(named, alias.and_then(|a| self.pos_span(a.name.span)).or(position))?;
        Ok(Bound { rel, lateral })
    }

    /// Adds the columns that say when a version began and ended and what changed to a relation and its item.
    fn give(&mut self, history: &mut HistoryScan, item: &mut FromItem, given: &[VersionColumn], hidden: bool) {
        for what in given {
            let id = self.new_col();
            history.version_columns.push((*what, id));
            let name = if hidden { format!("{HIDDEN}{}", what.name()) } else { what.name().to_owned() };
            if !hidden && !item.fields.is_empty() {
                item.fields.push(name.clone());
            }
            item.columns.push(ScopeColumn { name, expr: Expr::column(id, what.ty()), origin: None });
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.local.extend(history.version_columns.iter().map(|(_, id)| *id));
        }
    }

    /// The table that an argument names: `'t'` or `'t'::regclass`.
    fn table_of_argument(&mut self, arg: &E, function: HistoryFunction) -> PgResult<Arc<TableDescriptor>> {
        let (text, by_oid) = match arg {
            E::Cast { expr, data_type: DataType::Regclass, .. } => (text_of(expr), true),
            E::TypedString(typed) if typed.data_type == DataType::Regclass => (typed.value.clone().into_string(), true),
            other => (text_of(other), false),
        };
        let Some(text) = text else {
            let message = format!("the first argument of {}() is the name of a table, as a constant", function.name());
            return Err(PgError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        };
        if !by_oid && (self.meant.is_some() || !self.views.is_empty()) {
            let message = format!("{}() in a view takes the table as regclass", function.name());
            return Err(PgError::new(SqlState::FEATURE_NOT_SUPPORTED, message).hint("Write 'table'::regclass."));
        }
        let parts = crate::catalog::names::parse_name(&text)?;
        let found = match text.parse::<u32>() {
            Ok(oid) if by_oid => self.ctx.catalog.relation(oid).cloned(),
            _ => {
                let idents = parts.iter().map(|part| ast::Ident::with_quote('"', part)).collect::<Vec<_>>();
                self.find_relation(&ast::ObjectName::from(idents))?.2
            }
        };
        match found.as_deref() {
            Some(Relation::Table(table)) => Ok(self.shared_table(table)),
            Some(_) => Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{text}\" is not a table"))),
            None => Err(self.undefined_table(&parts)),
        }
    }
}

/// Takes the maps away from an item: they are not part of their table's past. They come back under names that `*` does not show, so that who
/// names one gets a hint where to look.
fn without_maps(item: &mut FromItem) -> Vec<ScopeColumn> {
    let mut maps = Vec::new();
    for at in (0..item.columns.len()).rev() {
        if !item.columns.get(at).is_some_and(|c| super::map::any_stored(&c.expr, &mut |_| true)) {
            continue;
        }
        let mut column = item.columns.remove(at);
        column.name.insert(0, HIDDEN);
        super::map::of_the_past(&mut column.expr);
        maps.push(column);
        if at < item.fields.len() {
            item.fields.remove(at);
        }
    }
    maps
}

/// Only tables are read as of a time.
///
/// # Errors
/// 42809.
pub(super) fn no_past(version: Option<&ast::TableVersion>, name: &str) -> PgResult<()> {
    if version.is_none() {
        return Ok(());
    }
    Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{name}\" is not a table: its past is not known"))
        .hint("Name the time at the tables that it reads."))
}

fn plain(arg: &FunctionArg) -> Option<&E> {
    match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) => Some(e),
        _ => None,
    }
}

fn text_of(e: &E) -> Option<String> {
    match e {
        E::Value(value) => value.clone().into_string(),
        _ => None,
    }
}

fn wrong_call(function: HistoryFunction) -> PgError {
    let hint = match function {
        HistoryFunction::History => "Write stoa_history('table', key…), with some or none of the values of its primary key.",
        HistoryFunction::Difference => "Write stoa_diff('table', one time, another time).",
    };
    PgError::new(SqlState::UNDEFINED_FUNCTION, format!("{}() is not called so", function.name())).hint(hint)
}

/// A table whose rows keep one version has no history.
///
/// # Errors
/// 55000.
fn keeps_history(table: &TableDescriptor) -> PgResult<()> {
    match table.families.first() {
        _ if table.is_raw() => Err(PgError::unsupported(format!("history of \"{}\" is not supported", table.name))
            .detail("Versions of its cells are kept under times of their own, each apart.")
            .hint("scan 't', {VERSIONS => n} in stoa shell shows them.")),
        Some(family) if family.options.versions == 1 => Err(no_history(table, &family.name)),
        _ => Ok(()),
    }
}

/// 55000: a family keeps what is newest only.
#[must_use]
pub fn no_history(table: &TableDescriptor, family: &str) -> PgError {
    let family = crate::catalog::deparse::quote_name(family);
    PgError::new(SqlState(*b"55000"), format!("table \"{}\" keeps no history", table.name))
        .detail(format!("Its family {family} keeps one version of its values."))
        .hint(format!(
            "ALTER TABLE {} ALTER FAMILY {family} WITH (versions = …) keeps more from now on.",
            crate::catalog::deparse::quote_name(&table.name)
        ))
}

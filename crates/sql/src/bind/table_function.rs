//! Functions in FROM: one, or several in step.

use super::from::Bound;
use super::function::{is_unnamed, row_matches};
use super::scope::{Clause, FromItem, Lockable, ScopeColumn};
use super::{Binder, fold, name_parts};
use crate::typed::tree::{ColId, Expr, ExprKind, Rel, SetExpr};
use std::sync::Arc;
use stoa_pg::registry::{FuncKind, Registry};
use stoa_pg::types::RecordType;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_syntax::ast::{self, Expr as E, FunctionArg};

/// The columns of a definition list, whose types are looked up once it has a place.
type Definitions = [ast::TableAliasColumnDef];

/// A call in FROM.
#[derive(Clone)]
pub struct CallInFrom {
    pub name: ast::ObjectName,
    pub args: Vec<FunctionArg>,
    /// Columns that stand behind it in ROWS FROM.
    pub definitions: Vec<ast::TableAliasColumnDef>,
}

impl CallInFrom {
    #[must_use]
    pub fn new(name: &ast::ObjectName, args: &[FunctionArg]) -> Self {
        Self { name: name.clone(), args: args.to_vec(), definitions: Vec::new() }
    }
}

/// What calls in FROM give.
#[derive(Default)]
struct Calls {
    sets: Vec<(Vec<ColId>, SetExpr)>,
    /// Of functions that give one value.
    scalars: Vec<(ColId, Expr)>,
    /// Of rows that are given as values.
    fields: Vec<(ColId, Expr)>,
    visible: Vec<ScopeColumn>,
    /// One column by itself, whose name the item's alias may be.
    scalar: bool,
    of_rows: bool,
}

impl Binder<'_> {
    /// Functions in FROM, run in step when there are several.
    ///
    /// # Errors
    /// What the calls raise; 42601 for a list of column definitions that is missing, or has no place.
    pub fn bind_table_function(&mut self, calls: &[CallInFrom], alias: Option<&ast::TableAlias>, ordinality: bool) -> PgResult<Bound> {
        let several = |call: &CallInFrom| is_unnest(&call.name) && call.args.len() > 1 && call.definitions.is_empty();
        let definitions = alias.map_or(&[][..], |a| a.columns.as_slice());
        let definitions = if definitions.iter().any(|c| c.data_type.is_some()) { definitions } else { &[] };
        if calls.iter().any(several) {
            if let Some(first) = definitions.first() {
                let message = "UNNEST() with multiple arguments cannot have a column definition list";
                return Err(PgError::new(SqlState::SYNTAX_ERROR, message)
                    .hint("Use separate UNNEST() calls inside ROWS FROM(), and attach a column definition list to each one.")
                    .at(self.pos_span(first.name.span)));
            }
            // unnest of several arrays is several calls, side by side with the others.
            let each = |call: &CallInFrom| -> Vec<CallInFrom> {
                let alone = |arg| CallInFrom::new(&call.name, std::slice::from_ref(arg));
                if several(call) { call.args.iter().map(alone).collect() } else { vec![call.clone()] }
            };
            let all: Vec<_> = calls.iter().flat_map(each).collect();
            return self.bind_table_function(&all, alias, ordinality);
        }
        let single = calls.len() == 1;
        let mut default_name = String::new();
        let mut given = Calls { scalar: single && !ordinality, ..Calls::default() };
        let mut bound = Vec::with_capacity(calls.len());
        for CallInFrom { name, args, definitions: own } in calls {
            let function_name = name_parts(name)?.last().cloned().unwrap_or_default();
            if default_name.is_empty() {
                default_name.clone_from(&function_name);
            }
            let (call, returns_record) = self.bind_call_in_from(name, args, &function_name)?;
            if let (Some(first), false) = (definitions.first(), own.is_empty()) {
                let message = "multiple column definition lists are not allowed for the same function";
                return Err(PgError::new(SqlState::SYNTAX_ERROR, message).at(self.pos_span(first.name.span)));
            }
            let definitions = if definitions.is_empty() { own } else { definitions };
            bound.push((call, returns_record, function_name, (definitions, self.pos(name))));
        }
        if let Some(first) = definitions.first() {
            self.may_have_definitions(single, ordinality).map_err(|e| e.at(self.pos_span(first.name.span)))?;
        }
        for (call, returns_record, function_name, definitions) in bound {
            match call.kind {
                ExprKind::Set(set) => self.set_in_from(*set, returns_record, definitions, &mut given)?,
                kind => self.value_in_from(Expr::new(kind, call.ty), function_name, definitions, &mut given)?,
            }
        }
        let ordinality_id = ordinality.then(|| self.new_col());
        if let Some(id) = ordinality_id {
            given.visible.push(ScopeColumn { name: "ordinality".into(), expr: Expr::column(id, SqlType::new(PgType::Int8)), origin: None });
        }
        // One column of one function takes the alias' name, but of rows: FROM generate_series(1, 3) AS g.
        if let (true, Some(alias), [one, ..]) = (single && !given.of_rows, alias, given.visible.as_mut_slice()) {
            let columns_of_function = given.sets.first().map_or(1, |(c, _)| c.len());
            let unnamed = given.sets.first().is_none_or(|(_, s)| match &s.func.0.kind {
                FuncKind::Set { columns, .. } => columns.first().is_none_or(|(n, _)| n.is_empty()),
                _ => true,
            });
            if columns_of_function == 1 && given.fields.is_empty() && alias.columns.is_empty() && unnamed && definitions.is_empty() {
                one.name = fold(&alias.name);
            }
        }
        let scalar = given.scalar;
        let (rel, visible) = self.rel_of_calls(given, ordinality_id)?;
        let lateral = !crate::typed::walk::free_columns(&rel).is_empty();
        let mut item = FromItem { lockable: Lockable::No("a function"), ..self.aliased(visible, alias, default_name)? };
        item.scalar = scalar && item.columns.len() == 1;
        self.push_item(item, alias.and_then(|a| self.pos_span(a.name.span)))?;
        Ok(Bound { rel, lateral })
    }

    /// Whether a list of column definitions may stand behind calls in FROM.
    fn may_have_definitions(&self, single: bool, ordinality: bool) -> PgResult<()> {
        if !single {
            let message = "ROWS FROM() with multiple functions cannot have a column definition list";
            return Err(PgError::new(SqlState::SYNTAX_ERROR, message)
                .hint("Put a separate column definition list for each function inside ROWS FROM()."));
        }
        if ordinality {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "WITH ORDINALITY cannot be used with a column definition list")
                .hint("Put the column definition list inside ROWS FROM()."));
        }
        Ok(())
    }

    /// The columns of a list of column definitions that a function at `position` needs.
    fn defined_columns(&mut self, definitions: &Definitions, position: Option<usize>) -> PgResult<Vec<(String, SqlType)>> {
        if definitions.is_empty() {
            let message = "a column definition list is required for functions returning \"record\"";
            return Err(PgError::new(SqlState::SYNTAX_ERROR, message).at(position));
        }
        let mut out: Vec<(String, SqlType)> = Vec::with_capacity(definitions.len());
        for column in definitions {
            let Some(data_type) = &column.data_type else { continue };
            out.push((fold(&column.name), self.type_of(data_type)?.widened()));
        }
        for (i, (name, _)) in out.iter().enumerate() {
            if out[..i].iter().any(|(before, _)| before == name) {
                return Err(PgError::new(SqlState::DUPLICATE_COLUMN, format!("column name \"{name}\" specified more than once")));
            }
        }
        Ok(out)
    }

    /// What is wrong with a list of column definitions behind a function that gives `ty`, in `columns` columns.
    fn definitions_without_place(&self, definitions: &Definitions, ty: &SqlType, columns: usize, takes_row_type: bool) -> PgError {
        let message = match &ty.ty {
            PgType::Record(Some(_)) if takes_row_type => {
                "a column definition list is redundant for a function returning a named composite type"
            }
            _ if columns > 1 => "a column definition list is redundant for a function with OUT parameters",
            _ => "a column definition list is only allowed for functions returning \"record\"",
        };
        PgError::new(SqlState::SYNTAX_ERROR, message).at(definitions.first().and_then(|c| self.pos_span(c.name.span)))
    }

    /// A call, and whether it gives rows that need a list of column definitions.
    fn bind_call_in_from(&mut self, name: &ast::ObjectName, args: &[FunctionArg], function_name: &str) -> PgResult<(Expr, bool)> {
        let position = self.pos(name);
        let mut call = ast::Function {
            name: name.clone(),
            uses_odbc_syntax: false,
            parameters: ast::FunctionArguments::None,
            args: ast::FunctionArguments::List(ast::FunctionArgumentList {
                duplicate_treatment: None,
                args: args.to_vec(),
                clauses: Vec::new(),
            }),
            filter: None,
            null_treatment: None,
            over: None,
            within_group: Vec::new(),
        };
        // A record function takes its columns from the definition list.
        let registry = Registry::get();
        let returns_record = registry.functions(function_name).iter().any(|f| {
            matches!(&f.kind, FuncKind::Set { columns, .. } if columns.is_empty()) && matches!(f.ret, PgType::Record(_))
                || (matches!(f.ret, PgType::Record(None)) && matches!(f.kind, FuncKind::Scalar(_)))
        });
        if function_name.is_empty() {
            call.args = ast::FunctionArguments::None;
        }
        let syntax = E::Function(call);
        let bound = self.in_clause(Clause::FunctionInFrom, |b| b.bind_expr(&syntax)).map_err(|e| e.at(position))?;
        let is_set = |e: &Expr| e.any(&mut |e| matches!(e.kind, ExprKind::Set(_)));
        let nested = match &bound.kind {
            ExprKind::Set(set) => set.args.iter().any(is_set),
            _ => is_set(&bound),
        };
        if nested {
            return Err(PgError::unsupported("set-returning functions must appear at top level of FROM").at(position));
        }
        Ok((bound, returns_record))
    }

    /// A function that gives rows.
    fn set_in_from(
        &mut self,
        mut set: SetExpr,
        returns_record: bool,
        (definitions, position): (&Definitions, Option<usize>),
        given: &mut Calls,
    ) -> PgResult<()> {
        // Rows of an unnamed type take their columns from the definition list.
        let unnamed = match &set.ty.ty {
            PgType::Record(Some(record)) if super::function::takes_row_type(&set.func.0) => is_unnamed(record),
            _ => returns_record && set.columns.len() <= 1 && matches!(set.func.0.ret, PgType::Record(None)),
        } || (super::function::takes_row_type(&set.func.0) && matches!(set.ty.ty, PgType::Record(None)));
        if unnamed {
            set.columns = self.defined_columns(definitions, position)?;
            match &set.ty.ty {
                // The row that was given keeps its own names, and its values their form.
                PgType::Record(Some(given)) => set.columns = row_matches(given, &set.columns)?,
                _ => set.ty = SqlType::new(PgType::Record(Some(Arc::new(RecordType { fields: set.columns.clone() })))),
            }
        } else if !definitions.is_empty() {
            let takes_row_type = super::function::takes_row_type(&set.func.0);
            return Err(self.definitions_without_place(definitions, &set.ty, set.columns.len(), takes_row_type));
        }
        let ids: Vec<ColId> = set.columns.iter().map(|_| self.new_col()).collect();
        given.of_rows |= returns_record || super::function::takes_row_type(&set.func.0);
        given.scalar &= set.columns.len() == 1 && !given.of_rows;
        let only = match set.columns.as_slice() {
            [(_, SqlType { ty: PgType::Record(Some(record)), .. })] if !is_unnamed(record) => Some(record.clone()),
            _ => None,
        };
        if let (Some(record), [id]) = (only, ids.as_slice()) {
            // Rows as values, of unnest say: a column for each of their fields.
            let row = Expr::column(*id, set.columns[0].1.clone());
            for (index, (column, ty)) in record.fields.iter().enumerate() {
                let field = Expr::new(ExprKind::Field { arg: Box::new(row.clone()), index }, ty.clone());
                let id = self.new_col();
                given.fields.push((id, field));
                given.visible.push(ScopeColumn { name: column.clone(), expr: Expr::column(id, ty.clone()), origin: None });
            }
            given.scalar = false;
            given.sets.push((ids, set));
            return Ok(());
        }
        for ((column, ty), id) in set.columns.iter().zip(&ids) {
            given.visible.push(ScopeColumn { name: column.clone(), expr: Expr::column(*id, ty.clone()), origin: None });
        }
        given.sets.push((ids, set));
        Ok(())
    }

    /// A function that gives one value: a row of one column, or of the fields of a record.
    fn value_in_from(
        &mut self,
        value: Expr,
        function_name: String,
        (definitions, position): (&Definitions, Option<usize>),
        given: &mut Calls,
    ) -> PgResult<()> {
        match (&value.ty.ty, definitions.is_empty()) {
            (PgType::Record(None), _) => {
                let columns = self.defined_columns(definitions, position)?;
                let record = SqlType::new(PgType::Record(Some(Arc::new(RecordType { fields: columns.clone() }))));
                let typed = Expr::new(value.kind, record);
                for (index, (name, ty)) in columns.into_iter().enumerate() {
                    let id = self.new_col();
                    given.scalars.push((id, Expr::new(ExprKind::Field { arg: Box::new(typed.clone()), index }, ty.clone())));
                    given.visible.push(ScopeColumn { name, expr: Expr::column(id, ty), origin: None });
                }
                given.scalar = false;
            }
            (PgType::Record(Some(record)), true) if !is_unnamed(record) => {
                for (index, (column, ty)) in record.fields.iter().enumerate() {
                    let id = self.new_col();
                    given.scalars.push((id, Expr::new(ExprKind::Field { arg: Box::new(value.clone()), index }, ty.clone())));
                    given.visible.push(ScopeColumn { name: column.clone(), expr: Expr::column(id, ty.clone()), origin: None });
                }
                (given.scalar, given.of_rows) = (false, true);
            }
            (ty, false) => {
                let columns = if let PgType::Record(Some(record)) = ty { record.fields.len() } else { 1 };
                let takes_row_type = matches!(&value.kind, ExprKind::Func { func, .. } if super::function::takes_row_type(&func.0));
                return Err(self.definitions_without_place(definitions, &value.ty, columns, takes_row_type));
            }
            _ => {
                let value = self.resolve_unknown(value)?;
                let id = self.new_col();
                given.visible.push(ScopeColumn { name: function_name, expr: Expr::column(id, value.ty.clone()), origin: None });
                given.scalars.push((id, value));
            }
        }
        Ok(())
    }

    /// The relation of all calls, and the columns that it shows.
    fn rel_of_calls(&mut self, given: Calls, ordinality_id: Option<ColId>) -> PgResult<(Rel, Vec<ScopeColumn>)> {
        let Calls { sets, mut scalars, fields, visible, .. } = given;
        let mut rel = Rel::One;
        if sets.is_empty() {
            // One row of values.
            if let Some(id) = ordinality_id {
                scalars.push((id, first_ordinal()));
            }
            rel = Rel::Project { input: Box::new(rel), exprs: scalars };
        } else if scalars.is_empty() {
            rel = Rel::ProjectSet { input: Box::new(rel), sets, outer: false, ordinality: ordinality_id };
        } else {
            // A value stands in the first row, which there is even if no function gives one.
            let counter = self.new_col();
            let mut exprs: Vec<(ColId, Expr)> = Vec::new();
            for (ids, set) in &sets {
                exprs.extend(ids.iter().zip(&set.columns).map(|(id, (_, ty))| (*id, Expr::column(*id, ty.clone()))));
            }
            let number = Expr::column(counter, SqlType::new(PgType::Int8));
            let number = Expr::new(ExprKind::Coalesce(vec![number, first_ordinal()]), SqlType::new(PgType::Int8));
            let first = self.operator("=", Some(number.clone()), first_ordinal())?;
            exprs.extend(scalars.into_iter().map(|(id, value)| {
                let ty = value.ty.clone();
                (id, Expr::new(ExprKind::Case { whens: vec![(first.clone(), value)], otherwise: None }, ty))
            }));
            exprs.extend(ordinality_id.map(|id| (id, number)));
            rel = Rel::ProjectSet { input: Box::new(rel), sets, outer: true, ordinality: Some(counter) };
            rel = Rel::Project { input: Box::new(rel), exprs };
        }
        if !fields.is_empty() {
            let direct = visible.iter().filter_map(|c| match c.expr.kind {
                ExprKind::Column(id) if !fields.iter().any(|(f, _)| *f == id) => Some((id, c.expr.clone())),
                _ => None,
            });
            let exprs = direct.collect::<Vec<_>>().into_iter().chain(fields).collect();
            rel = Rel::Project { input: Box::new(rel), exprs };
        }
        Ok((rel, visible))
    }
}

fn is_unnest(name: &ast::ObjectName) -> bool {
    name_parts(name).is_ok_and(|parts| parts.last().is_some_and(|last| last == "unnest"))
}

/// The number of the first row.
fn first_ordinal() -> Expr {
    Expr::new(ExprKind::Const(datafusion_common::ScalarValue::Int64(Some(1))), SqlType::new(PgType::Int8))
}

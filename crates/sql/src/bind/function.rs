//! Calls: the choice of a function, set-returning functions, and what SQL spells like a function.

use super::expr::bool_type;
use super::resolve::{Choice, select_candidate};
use super::scope::Clause;
use super::{Binder, fold, name_parts};
use crate::typed::once::Shared;
use crate::typed::tree::{Expr, ExprKind, FuncRef, SetExpr, SortKey};
use crate::typed::walk;
use datafusion_common::ScalarValue;
use std::sync::Arc;
use stoa_pg::registry::{Called, CastContext, Func, FuncKind, Registry};
use stoa_pg::types::{RecordType, type_by_name};
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_syntax::ast::{self, Expr as E, FunctionArg, FunctionArgExpr, FunctionArguments};

/// The arguments of a call as written.
pub(super) struct CallArgs<'a> {
    pub(super) positional: Vec<&'a E>,
    pub(super) named: Vec<(String, &'a E)>,
    pub(super) star: bool,
    pub(super) distinct: bool,
    /// The last argument is an array of those that vary.
    pub(super) variadic: bool,
    /// One without a name stands behind one that has one.
    pub(super) misplaced: bool,
    pub(super) order_by: Vec<ast::OrderByExpr>,
}

/// Functions, with their numbers of arguments, that PostgreSQL has for types of other kinds as well (bit strings, addresses, xid,
/// tsvector in the place of an array): it does not choose one of them for literals without a type, and nor do we.
const MANY_MEANINGS: &[(&str, usize)] = &[("age", 1), ("bit_count", 1), ("get_bit", 2), ("set_bit", 3), ("trunc", 1), ("unnest", 1)];

impl Binder<'_> {
    pub fn bind_function(&mut self, function: &ast::Function, syntax: &E) -> PgResult<Expr> {
        let parts = name_parts(&function.name)?;
        let position = self.pos(&function.name).or_else(|| self.pos(syntax));
        let name = parts.last().cloned().unwrap_or_default();
        if let [database, _, _, rest @ ..] = parts.as_slice()
            && (!rest.is_empty() || !self.ctx.catalog.is_this_database(database))
        {
            for e in call_args(function).map_err(|e| e.at(position))?.positional {
                self.bind_expr(e)?;
            }
            let whole = parts.join(".");
            return Err(if rest.is_empty() {
                PgError::unsupported(format!("cross-database references are not implemented: {whole}"))
            } else {
                PgError::new(SqlState::SYNTAX_ERROR, format!("improper qualified name (too many dotted names): {whole}"))
            }
            .at(position));
        }
        if let Some(schema) = parts.len().checked_sub(2).and_then(|i| parts.get(i))
            && schema != "pg_catalog"
        {
            // Of information_schema are the functions that its views are made with.
            let standard = schema == "information_schema";
            let exists = self.ctx.catalog.schema_by_name(schema).is_some() || standard;
            if !standard || !name.starts_with("_pg_") {
                // Errors of the arguments come first.
                let mut given = Vec::new();
                for e in call_args(function).map_err(|e| e.at(position))?.positional {
                    given.push(self.bind_expr(e)?.ty.ty.to_string());
                }
                return Err(if exists {
                    self.no_function(&name, format!("{}({})", parts.join("."), given.join(", ")), false).at(position)
                } else {
                    PgError::new(SqlState::INVALID_SCHEMA_NAME, format!("schema \"{schema}\" does not exist")).at(position)
                });
            }
        }
        if let FunctionArguments::Subquery(query) = &function.args {
            if name != "array" {
                return Err(PgError::new(SqlState::SYNTAX_ERROR, "syntax error at or near \"SELECT\"").at(position));
            }
            let query = self.bind_subquery(query)?;
            let [one] = query.outputs.as_slice() else {
                return Err(PgError::new(SqlState::SYNTAX_ERROR, "subquery must return only one column").at(position));
            };
            let ty = one.ty.array_of();
            return Ok(Expr::new(ExprKind::ArraySubquery(Box::new(query)), ty));
        }
        if parts.len() == 1
            && let Some(special) = self.bind_special(&name, function, syntax).map_err(|e| e.at(position))?
        {
            return Ok(special);
        }
        let call = call_args(function).map_err(|e| e.at(position))?;
        self.bind_call(&name, call, function, syntax, position).map_err(|e| e.at(position))
    }

    /// COALESCE, which looks at each of its values but the last twice.
    fn coalesced(&mut self, mut list: Vec<Expr>, ty: &SqlType) -> Expr {
        let last = list.len().saturating_sub(1);
        let Some(at) = list.iter().take(last).position(walk::varies) else { return Expr::new(ExprKind::Coalesce(list), ty.clone()) };
        let rest = list.split_off(at + 1);
        let mut shared = Shared::default();
        let mut values: Vec<Expr> = list.pop().into_iter().map(|value| shared.value(value, &mut || self.new_col())).collect();
        match self.coalesced(rest, ty) {
            Expr { kind: ExprKind::Coalesce(rest), .. } => values.extend(rest),
            rest => values.push(rest),
        }
        let volatile = shared.around(Expr::new(ExprKind::Coalesce(values), ty.clone()));
        if list.is_empty() {
            return volatile;
        }
        list.push(volatile);
        Expr::new(ExprKind::Coalesce(list), ty.clone())
    }

    /// `NULLIF(a, b)`.
    fn null_if(&mut self, a: Expr, b: Expr, syntax: &E) -> PgResult<Expr> {
        // A literal without a type beside a row is one.
        let a = match b.ty.ty {
            PgType::Record(Some(_)) if a.ty.ty == PgType::Unknown => self.coerce(a, &b.ty, CastContext::Implicit)?,
            _ => a,
        };
        let oper = self.find_operator("=", Some(&a.ty.ty), &b.ty.ty).map_err(|e| e.at(self.pos(syntax)))?;
        // PostgreSQL types the result as the operator's left argument.
        let declared: Vec<PgType> = oper.left.iter().chain([&oper.right]).cloned().collect();
        let (mut both, _) = self.apply_signature(&declared, false, &PgType::Bool, vec![a, b])?;
        let (Some(b), Some(result)) = (both.pop(), both.pop()) else { return Err(PgError::internal("= has two arguments")) };
        let mut shared = Shared::default();
        let result = shared.value(result, &mut || self.new_col());
        let ty = result.ty.clone();
        let test = self.compare("=", result.clone(), b, syntax)?;
        let null = Expr::new(ExprKind::Const(ScalarValue::try_from(&ty.arrow).map_err(|e| PgError::internal(e.to_string()))?), ty.clone());
        Ok(shared.around(Expr::new(ExprKind::Case { whens: vec![(test, null)], otherwise: Some(Box::new(result)) }, ty)))
    }

    /// What the grammar of SQL gives a meaning of its own.
    fn bind_special(&mut self, name: &str, function: &ast::Function, syntax: &E) -> PgResult<Option<Expr>> {
        let quoted = matches!(function.name.0.first(), Some(ast::ObjectNamePart::Identifier(i)) if i.quote_style.is_some());
        if quoted {
            return Ok(None);
        }
        let args = |b: &mut Self, what: &'static str| -> PgResult<Vec<Expr>> {
            let call = call_args(function)?;
            b.check_no_sets(what, |b| call.positional.iter().map(|e| b.bind_expr(e)).collect())
        };
        let no_list = matches!(function.args, FunctionArguments::None);
        Ok(Some(match name {
            "coalesce" => {
                let list = args(self, "COALESCE")?;
                if list.is_empty() {
                    return Err(PgError::new(SqlState::SYNTAX_ERROR, "syntax error at or near \")\""));
                }
                let (list, ty) = self.unify_args(list, "COALESCE", function)?;
                self.coalesced(list, &ty)
            }
            "greatest" | "least" => {
                let list = call_args(function)?.positional.into_iter().map(|e| self.bind_expr(e)).collect::<PgResult<Vec<_>>>()?;
                if list.is_empty() {
                    return Err(PgError::new(SqlState::SYNTAX_ERROR, "syntax error at or near \")\""));
                }
                let what = if name == "greatest" { "GREATEST" } else { "LEAST" };
                let (list, ty) = self.unify_args(list, what, function)?;
                let fields_have_order = match &ty.ty {
                    PgType::Record(Some(record)) => record.fields.iter().all(|(_, f)| self.find_operator("<", Some(&f.ty), &f.ty).is_ok()),
                    _ => true,
                };
                if !fields_have_order || self.find_operator("<", Some(&ty.ty), &ty.ty).is_err() {
                    let message = format!("could not identify a comparison function for type {}", ty.ty);
                    return Err(PgError::new(SqlState::UNDEFINED_FUNCTION, message));
                }
                Expr::new(ExprKind::Extreme { args: list, greatest: name == "greatest" }, ty)
            }
            "nullif" => {
                let list = call_args(function)?.positional.into_iter().map(|e| self.bind_expr(e)).collect::<PgResult<Vec<_>>>()?;
                let [a, b] = <[Expr; 2]>::try_from(list).map_err(|_| PgError::new(SqlState::SYNTAX_ERROR, "NULLIF takes two arguments"))?;
                self.null_if(a, b, syntax)?
            }
            "row" => {
                let call = call_args(function)?;
                let mut list = Vec::with_capacity(call.positional.len());
                for e in &call.positional {
                    // t.* and (row).* stand for their columns.
                    match self.expanded(e)? {
                        Some(fields) => list.extend(fields.into_iter().map(|(_, field)| field)),
                        None => list.push(self.bind_expr(e)?),
                    }
                }
                self.row(list)?
            }
            "grouping" => {
                let list = args(self, "GROUPING")?;
                let mut columns = Vec::new();
                list.iter().for_each(|e| crate::typed::walk::columns_of(e, &mut columns));
                let owner = self.owner_of(&columns);
                match self.scopes.get(owner).map_or(Clause::Default, |s| s.clause) {
                    Clause::SelectList | Clause::Having | Clause::OrderBy | Clause::Window | Clause::WindowArgument => {}
                    Clause::Aggregate => {
                        let nested = PgError::new(SqlState::GROUPING_ERROR, "aggregate function calls cannot be nested");
                        let at = self.pos(syntax);
                        self.misplaced.get_or_insert(nested.at(at));
                    }
                    other => {
                        let message = format!("grouping operations are not allowed in {}", other.name());
                        return Err(PgError::new(SqlState::GROUPING_ERROR, message));
                    }
                }
                if owner + 1 == self.scopes.len() {
                    return Ok(Some(Expr::new(ExprKind::Grouping(list), SqlType::new(PgType::Int4))));
                }
                let id = self.new_col();
                self.scopes[owner].outer_groupings.push((id, list));
                self.scopes[owner].local.insert(id);
                Expr::column(id, SqlType::new(PgType::Int4))
            }
            "current_date" if no_list => {
                let now = self.call("now", Vec::new())?;
                self.coerce(now, &SqlType::new(PgType::Date), CastContext::Explicit)?
            }
            "current_timestamp" => self.current_time(function, PgType::Timestamptz)?,
            "localtimestamp" => self.current_time(function, PgType::Timestamp)?,
            "current_time" => self.current_time(function, PgType::Timetz)?,
            "localtime" => self.current_time(function, PgType::Time)?,
            "current_user" | "session_user" | "user" | "current_role" | "current_catalog" | "current_schema" if no_list => {
                let function = match name {
                    "user" | "current_role" => "current_user",
                    "current_catalog" => "current_database",
                    other => other,
                };
                self.call(function, Vec::new())?
            }
            "score"
            | "snippet"
            | "snippet_html"
            | "score_explained"
            | "contains"
            | stoa_syntax::marks::MATCH
            | crate::fulltext::matching::MATCH_FUNCTION
            | crate::fulltext::matching::SNIPPET_FUNCTION
            | crate::fulltext::matching::EXPLAINED_FUNCTION => {
                let call = call_args(function)?;
                return self.bind_text_function(name, &call.positional);
            }
            _ => return Ok(None),
        }))
    }

    /// The arguments of a call in their common type.
    fn unify_args(&mut self, args: Vec<Expr>, what: &str, function: &ast::Function) -> PgResult<(Vec<Expr>, SqlType)> {
        let written = call_args(function)?.positional;
        self.unify_written(args, what, &|b, i| written.get(i).and_then(|e| b.pos(*e)))
    }

    fn current_time(&mut self, function: &ast::Function, ty: PgType) -> PgResult<Expr> {
        let precision = match call_args(function)?.positional.as_slice() {
            [] => -1,
            [E::Value(v)] => match &v.value {
                ast::Value::Number(n, _) => n.parse::<i32>().map(|p| p.min(6)).unwrap_or(-1),
                _ => -1,
            },
            _ => return Err(PgError::new(SqlState::SYNTAX_ERROR, "a precision was expected")),
        };
        let now = self.call("now", Vec::new())?;
        self.coerce(now, &SqlType::with_typmod(ty, precision), CastContext::Explicit)
    }

    /// Calls a scalar function of the registry by name.
    pub fn call(&mut self, name: &str, args: Vec<Expr>) -> PgResult<Expr> {
        let (func, args) = self.find_function(name, args, Vec::new())?;
        self.scalar_call(func, args)
    }

    /// The arguments of `json_populate_record` and its kin: other numbers come in the place of those of the row that is given, which may
    /// have more digits where no modifier says how many.
    fn row_argument(&mut self, func: &Func, mut args: Vec<Expr>) -> PgResult<Vec<Expr>> {
        check_row_argument(func, &args)?;
        if takes_row_type(func)
            && let Some(row) = args.first_mut()
            && let PgType::Record(Some(record)) = &row.ty.ty
        {
            let wide = |ty: &SqlType| if ty.typmod == -1 { ty.widened() } else { ty.clone() };
            let fields = record.fields.iter().map(|(name, ty)| (name.clone(), wide(ty))).collect();
            let ty = SqlType::new(PgType::Record(Some(Arc::new(RecordType { fields }))));
            let given = std::mem::replace(row, bool_const(false));
            *row = if given.ty.arrow == ty.arrow { given } else { self.in_form(given, &ty)? };
        }
        Ok(args)
    }

    fn scalar_call(&mut self, func: Arc<Func>, args: Vec<Expr>) -> PgResult<Expr> {
        let args = self.row_argument(&func, args)?;
        if func.name == "pg_typeof" && args.first().is_some_and(|a| a.ty.ty == PgType::Unknown && matches!(a.kind, ExprKind::Const(_))) {
            let unknown = ScalarValue::UInt32(Some(PgType::Unknown.oid()));
            return Ok(Expr::new(ExprKind::Const(unknown), SqlType::new(PgType::Regtype)));
        }
        let (args, ret) = self.apply_signature(&func.args, func.variadic, &func.ret, args)?;
        let args = args.into_iter().map(|a| self.widen(a)).collect::<PgResult<Vec<_>>>()?;
        if func.name == "array_fill"
            && let Some(filler) = args.first().filter(|a| a.ty.ty.is_array())
        {
            let message = format!("could not find array type for data type {}", filler.ty.ty);
            return Err(PgError::new(SqlState::UNDEFINED_OBJECT, message));
        }
        let ret = ret.widened();
        Ok(self.fold(Expr::new(ExprKind::Func { func: FuncRef(func), args }, ret)))
    }

    /// Chooses a function for arguments; puts named ones and defaults into place.
    pub fn find_function(&mut self, name: &str, args: Vec<Expr>, named: Vec<(String, Expr)>) -> PgResult<(Arc<Func>, Vec<Expr>)> {
        let (func, args) = self.choose_function(name, args, named)?;
        self.note_call(&func);
        Ok((func, args))
    }

    fn choose_function(&mut self, name: &str, mut args: Vec<Expr>, named: Vec<(String, Expr)>) -> PgResult<(Arc<Func>, Vec<Expr>)> {
        let all = Registry::get().functions(name);
        // Arguments of just the declared types leave nothing to choose.
        let exact = |f: &&Arc<Func>| {
            !f.variadic && f.args.len() == args.len() && f.args.iter().zip(&args).all(|(declared, a)| *declared == a.ty.ty)
        };
        if named.is_empty()
            && let Some(func) = all.iter().find(exact)
        {
            return Ok((func.clone(), args));
        }
        let mut fits: Vec<(Arc<Func>, Vec<PgType>, Vec<Option<usize>>)> = Vec::new();
        for func in all {
            // For each declared slot: the given argument (position), or None for its default.
            let Some(slots) = slots_of(func, args.len(), &named) else { continue };
            let mut signature = Vec::new();
            for (slot, given) in slots.iter().enumerate() {
                if given.is_some() {
                    let declared = if func.variadic && slot + 1 >= func.args.len() { func.args.last() } else { func.args.get(slot) };
                    signature.push(declared.cloned().unwrap_or(PgType::Any));
                }
            }
            fits.push((func.clone(), signature, slots));
        }
        let mut given_types: Vec<PgType> = args.iter().map(|a| a.ty.ty.clone()).collect();
        given_types.extend(named.iter().map(|(_, e)| e.ty.ty.clone()));
        let (positional, names) = (args.len(), named.iter().map(|(n, _)| n.clone()).collect::<Vec<_>>());
        let describe = || {
            let by_name = |i: usize| i.checked_sub(positional).and_then(|i| names.get(i)).map_or(String::new(), |n| format!("{n} => "));
            let list: Vec<String> = given_types.iter().enumerate().map(|(i, t)| format!("{}{t}", by_name(i))).collect();
            format!("{name}({})", list.join(", "))
        };
        args.extend(named.into_iter().map(|(_, e)| e));
        if MANY_MEANINGS.contains(&(name, given_types.len())) && given_types.iter().all(|t| *t == PgType::Unknown) {
            return Err(PgError::new(SqlState::AMBIGUOUS_FUNCTION, format!("function {} is not unique", describe()))
                .hint("Could not choose a best candidate function. You might need to add explicit type casts."));
        }
        // Exact matches first, non-variadic ones before variadic ones.
        let types_for =
            |slots: &[Option<usize>]| -> Vec<PgType> { slots.iter().flatten().filter_map(|i| given_types.get(*i).cloned()).collect() };
        let exact = fits.iter().position(|(_, signature, slots)| *signature == types_for(slots));
        let chosen = match exact {
            Some(index) => index,
            None => {
                let groups: [Vec<usize>; 2] =
                    [(0..fits.len()).filter(|i| !fits[*i].0.variadic).collect(), (0..fits.len()).filter(|i| fits[*i].0.variadic).collect()];
                let mut chosen = None;
                for group in groups {
                    if group.is_empty() {
                        continue;
                    }
                    // Named notation gives candidates of one order: all slots are in the order of the declaration.
                    let signatures: Vec<Vec<PgType>> = group
                        .iter()
                        .map(|i| {
                            let (_, signature, slots) = &fits[*i];
                            let mut by_arg: Vec<(usize, PgType)> = slots.iter().flatten().copied().zip(signature.iter().cloned()).collect();
                            by_arg.sort_by_key(|(i, _)| *i);
                            by_arg.into_iter().map(|(_, t)| t).collect()
                        })
                        .collect();
                    match select_candidate(&signatures, &given_types) {
                        Choice::One(i) => {
                            chosen = Some(group[i]);
                            break;
                        }
                        Choice::Ambiguous => {
                            return Err(PgError::new(SqlState::AMBIGUOUS_FUNCTION, format!("function {} is not unique", describe()))
                                .hint("Could not choose a best candidate function. You might need to add explicit type casts."));
                        }
                        Choice::None => {}
                    }
                }
                match chosen {
                    Some(index) => index,
                    None => {
                        let nested = fits.iter().find_map(|(_, signature, slots)| array_of_arrays(signature, &types_for(slots)));
                        return Err(nested.unwrap_or_else(|| self.no_function(name, describe(), all.is_empty())));
                    }
                }
            }
        };
        let (func, _, slots) = fits.swap_remove(chosen);
        let mut args: Vec<Option<Expr>> = args.into_iter().map(Some).collect();
        let mut out = Vec::with_capacity(slots.len());
        let first_default = func.args.len() - func.defaults.len();
        for (slot, given) in slots.into_iter().enumerate() {
            match given.and_then(|i| args.get_mut(i)).and_then(Option::take) {
                Some(arg) => out.push(arg),
                None => {
                    let sql = func.defaults.get(slot.wrapping_sub(first_default)).copied().unwrap_or("NULL");
                    let syntax = stoa_syntax::parse_expression(sql).map_err(super::syntax_error)?;
                    out.push(self.bind_expr(&syntax)?);
                }
            }
        }
        Ok((func, out))
    }

    /// Chooses a function whose varying arguments come as one array, in the form that takes the array.
    fn find_variadic(&mut self, name: &str, args: Vec<Expr>) -> PgResult<(Arc<Func>, Vec<Expr>)> {
        let all = Registry::get().functions(name);
        let forms: Vec<&Arc<Func>> = Registry::get().spread_functions(name).iter().filter(|f| f.args.len() == args.len()).collect();
        let given: Vec<PgType> = args.iter().map(|a| a.ty.ty.clone()).collect();
        let signatures: Vec<Vec<PgType>> = forms.iter().map(|f| f.args.clone()).collect();
        if let (Choice::One(index), Some(last)) = (select_candidate(&signatures, &given), given.last()) {
            if !last.is_array() && *last != PgType::Unknown {
                return Err(PgError::new(SqlState::DATATYPE_MISMATCH, "VARIADIC argument must be an array"));
            }
            return Ok((Arc::clone(forms[index]), args));
        }
        let list: Vec<String> = given.iter().map(ToString::to_string).collect();
        let anything = all.iter().any(|f| f.variadic && f.args.last() == Some(&PgType::Any));
        if anything && given.last().is_some_and(|t| !t.is_array()) {
            return Err(PgError::new(SqlState::DATATYPE_MISMATCH, "VARIADIC argument must be an array"));
        }
        Err(self.no_function(name, format!("{name}({})", list.join(", ")), all.is_empty()))
    }

    fn no_function(&self, name: &str, described: String, unknown_name: bool) -> PgError {
        let error = PgError::new(SqlState::UNDEFINED_FUNCTION, format!("function {described} does not exist"));
        if unknown_name {
            let known = Registry::get().all_functions().map(|f| f.name);
            if let Some(better) = super::suggest::closest(name, known) {
                return error.hint(format!("Perhaps you meant the function \"{better}\"."));
            }
        }
        error.hint("No function matches the given name and argument types. You might need to add explicit type casts.")
    }

    fn bind_call(
        &mut self,
        name: &str,
        call: CallArgs<'_>,
        function: &ast::Function,
        syntax: &E,
        _position: Option<usize>,
    ) -> PgResult<Expr> {
        if call.misplaced {
            for e in call.positional.iter().copied().chain(call.named.iter().map(|(_, e)| *e)) {
                self.bind_expr(e)?;
            }
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "positional argument cannot follow named argument"));
        }
        if let Some(expanded) = call.positional.iter().find(|e| is_expanded_row(e)) {
            return Err(PgError::unsupported("row expansion via \"*\" is not supported here").at(self.pos(*expanded)));
        }
        let registry = Registry::get();
        let signatures = registry.functions(name);
        let is_aggregate = signatures.iter().any(|f| matches!(f.kind, FuncKind::Aggregate(_) | FuncKind::NativeAggregate(_)));
        let is_window = signatures.iter().any(|f| matches!(f.kind, FuncKind::Window(_)));
        let within_group = !function.within_group.is_empty();
        if function.over.is_some() && !signatures.is_empty() && !is_aggregate && !is_window {
            self.must_exist(name, &call)?;
            return Err(PgError::new(
                SqlState::WRONG_OBJECT_TYPE,
                format!("OVER specified, but {name} is not a window function nor an aggregate function"),
            ));
        }
        if !is_aggregate && (within_group || !signatures.is_empty()) {
            if within_group {
                let mut args = call.positional.iter().map(|e| self.bind_expr(e)).collect::<PgResult<Vec<_>>>()?;
                for key in &function.within_group {
                    args.push(self.bind_expr(&key.expr)?);
                }
                self.find_function(name, args, Vec::new())?;
                return Err(PgError::new(
                    SqlState::WRONG_OBJECT_TYPE,
                    format!("WITHIN GROUP specified, but {name} is not an aggregate function"),
                ));
            }
            if call.star || call.distinct || !call.order_by.is_empty() || function.filter.is_some() && !is_window {
                self.must_exist(name, &call)?;
            }
            if function.filter.is_some() && !is_window {
                return Err(PgError::new(
                    SqlState::WRONG_OBJECT_TYPE,
                    format!("FILTER specified, but {name} is not an aggregate function"),
                ));
            }
            if call.distinct {
                return Err(PgError::new(
                    SqlState::WRONG_OBJECT_TYPE,
                    format!("DISTINCT specified, but {name} is not an aggregate function"),
                ));
            }
            if !call.order_by.is_empty() {
                return Err(PgError::new(
                    SqlState::WRONG_OBJECT_TYPE,
                    format!("ORDER BY specified, but {name} is not an aggregate function"),
                ));
            }
            if call.star {
                return Err(PgError::new(
                    SqlState::WRONG_OBJECT_TYPE,
                    format!("{name}(*) specified, but {name} is not an aggregate function"),
                ));
            }
        }
        if is_window && !is_aggregate && function.over.is_none() {
            self.must_exist(name, &call)?;
            return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("window function {name} requires an OVER clause")));
        }
        // No aggregate and no window function has arguments with names.
        if (is_window || is_aggregate) && !call.named.is_empty() {
            self.must_exist(name, &call)?;
        }
        if is_window && !is_aggregate || (is_aggregate && function.over.is_some() && !within_group) {
            return self.bind_window_call(name, &call, function);
        }
        if is_aggregate {
            return self.bind_aggregate_call(name, &call, function);
        }
        let mut args = Vec::with_capacity(call.positional.len());
        for e in &call.positional {
            args.push(self.bind_expr(e)?);
        }
        let named = self.named_args(&call)?;
        if let (true, Some(out)) = (named.is_empty(), self.map_call(name, &args)?) {
            return Ok(out);
        }
        // A type's name called with one argument is a cast, unless a function fits better.
        if signatures.is_empty()
            && args.len() == 1
            && named.is_empty()
            && let Some(ty) = type_by_name(name).filter(|t| !t.is_pseudo() && *t != PgType::Unknown)
            && let Some(arg) = args.pop()
        {
            let given = arg.ty.ty.to_string();
            if matches!(arg.ty.ty, PgType::Record(_)) && ty.is_string() {
                return Err(self.no_function(name, format!("{name}({given})"), false));
            }
            return self.coerce(arg, &SqlType::new(ty), CastContext::Explicit).map_err(|e| match e.code() {
                SqlState::CANNOT_COERCE => self.no_function(name, format!("{name}({given})"), false),
                _ => e,
            });
        }
        // A function of a fixed number of arguments may be given its array as VARIADIC too.
        if call.variadic && signatures.iter().any(|f| f.variadic) {
            let (func, args) = self.find_variadic(name, args)?;
            return self.scalar_call(func, args);
        }
        if signatures.is_empty() && named.is_empty() && !registry.called_as(name).is_empty() {
            return self.second_name(name, args);
        }
        let cast_target = (args.len() == 1).then(|| type_by_name(name)).flatten();
        // A literal without a type is read as the type, before functions of that name are looked at.
        if let (Some(ty), [arg], true) = (&cast_target, args.as_slice(), named.is_empty())
            && arg.ty.ty == PgType::Unknown
            && matches!(arg.kind, ExprKind::Const(_))
            && !ty.is_pseudo()
            && *ty != PgType::Unknown
            && let Some(arg) = args.pop()
        {
            return self.coerce(arg, &SqlType::new(ty.clone()), CastContext::Explicit);
        }
        let to_cast = cast_target.as_ref().and(args.first().cloned());
        // f(row) is (row).f where no function fits.
        let row = match args.as_slice() {
            [row] if named.is_empty() && (names_fields(row) || self.is_whole_row(row)) && has_field(row, name) => Some(row.clone()),
            _ => None,
        };
        let (func, args) = match self.find_function(name, args, named) {
            Ok(found) => found,
            Err(error) => {
                if let (Some(ty), Some(arg)) = (cast_target, to_cast) {
                    return self.coerce(arg, &SqlType::new(ty), CastContext::Explicit).map_err(|_| error);
                }
                if let Some(row) = row {
                    return self.field(row, name);
                }
                return Err(error);
            }
        };
        self.chosen_call(func, args, syntax)
    }

    fn chosen_call(&mut self, func: Arc<Func>, args: Vec<Expr>, syntax: &E) -> PgResult<Expr> {
        match &func.kind {
            FuncKind::Scalar(_) | FuncKind::System => self.scalar_call(func, args),
            FuncKind::Set { .. } => self.set_call(func, args, syntax),
            _ => Err(PgError::internal(format!("function {} has an unexpected kind", func.name))),
        }
    }

    /// That there is no function of these arguments is reported before what is wrong with the call.
    fn must_exist(&mut self, name: &str, call: &CallArgs<'_>) -> PgResult<()> {
        let args = call.positional.iter().map(|e| self.bind_expr(e)).collect::<PgResult<Vec<_>>>()?;
        let named = self.named_args(call)?;
        self.find_function(name, args, named).map(|_| ())
    }

    /// The arguments in named notation, each name once.
    fn named_args(&mut self, call: &CallArgs<'_>) -> PgResult<Vec<(String, Expr)>> {
        let bound = call.named.iter().map(|(name, e)| Ok((name.clone(), self.bind_expr(e)?))).collect::<PgResult<Vec<_>>>()?;
        for (i, (name, e)) in call.named.iter().enumerate() {
            if call.named.iter().take(i).any(|(other, _)| other == name) {
                let message = format!("argument name \"{name}\" used more than once");
                return Err(PgError::new(SqlState::SYNTAX_ERROR, message).at(self.pos(*e)));
            }
        }
        Ok(bound)
    }

    /// A call of the function behind an operator.
    fn second_name(&mut self, name: &str, args: Vec<Expr>) -> PgResult<Expr> {
        let all = Registry::get().called_as(name);
        let given: Vec<PgType> = args.iter().map(|a| a.ty.ty.clone()).collect();
        let signatures: Vec<Vec<PgType>> = all.iter().map(Called::args).filter(|s| s.len() == given.len()).collect();
        let chosen = match select_candidate(&signatures, &given) {
            Choice::One(index) => signatures.get(index).and_then(|s| all.iter().find(|c| c.args() == *s)),
            _ => None,
        };
        match chosen {
            Some(Called::Oper(oper)) => self.apply_operator(oper.clone(), args),
            Some(Called::Func(func)) => self.scalar_call(func.clone(), args),
            None => {
                let list: Vec<String> = given.iter().map(ToString::to_string).collect();
                Err(self.no_function(name, format!("{name}({})", list.join(", ")), false))
            }
        }
    }

    /// A set-returning function in an expression.
    fn set_call(&mut self, func: Arc<Func>, args: Vec<Expr>, syntax: &E) -> PgResult<Expr> {
        let clause = self.clause();
        // Whether its arguments can be read is reported before whether it may stand here.
        let set = self.set_expr(func, args)?;
        let allowed = matches!(
            clause,
            Clause::SelectList | Clause::OrderBy | Clause::FunctionInFrom | Clause::GroupBy | Clause::Returning | Clause::Values
        );
        if matches!(clause, Clause::Aggregate) || self.no_sets.is_some_and(|what| what.ends_with("function calls")) {
            let what = self.no_sets.unwrap_or("aggregate function calls");
            let error = PgError::unsupported(format!("{what} cannot contain set-returning function calls"))
                .hint("You might be able to move the set-returning function into a LATERAL FROM item.");
            if !matches!(clause, Clause::Aggregate) {
                return Err(error);
            }
            let at = self.pos(syntax);
            self.misplaced.get_or_insert(error.at(at));
            let ty = set.ty.clone();
            return Ok(Expr::new(ExprKind::Set(Box::new(set)), ty));
        }
        if !allowed || clause == Clause::Returning {
            return Err(PgError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                format!("set-returning functions are not allowed in {}", clause.name()),
            ));
        }
        if let Some(what) = self.no_sets {
            return Err(PgError::new(SqlState::FEATURE_NOT_SUPPORTED, format!("set-returning functions are not allowed in {what}"))
                .hint("You might be able to move the set-returning function into a LATERAL FROM item."));
        }
        let ty = set.ty.clone();
        Ok(Expr::new(ExprKind::Set(Box::new(set)), ty))
    }

    /// Types a call of a set-returning function.
    pub fn set_expr(&mut self, func: Arc<Func>, args: Vec<Expr>) -> PgResult<SetExpr> {
        let FuncKind::Set { columns, .. } = &func.kind else { return Err(PgError::internal("not a set-returning function")) };
        let columns = columns.clone();
        let args = self.row_argument(&func, args)?;
        let (args, ret) = self.apply_signature(&func.args, func.variadic, &func.ret, args)?;
        let args = args.into_iter().map(|a| self.widen(a)).collect::<PgResult<Vec<_>>>()?;
        let ret = ret.widened();
        let row = match (&func.ret, &ret.ty) {
            (PgType::Record(None), PgType::Record(Some(record))) if columns.len() <= 1 => Some(record.fields.clone()),
            (_, PgType::Record(Some(record))) if takes_row_type(&func) => Some(record.fields.clone()),
            _ => None,
        };
        let given = row.is_some();
        let typed: Vec<(String, SqlType)> = match columns.as_slice() {
            // A row type given by an argument.
            _ if row.is_some() => row.unwrap_or_default(),
            [] | [_] => {
                let column_name = columns.first().map_or(func.name, |(n, _)| if n.is_empty() { func.name } else { n });
                // The elements of a nested list come out one by one, as PostgreSQL's unnest does.
                let ty = if func.name == "unnest" {
                    let element = args.first().and_then(|a| a.ty.ty.element());
                    element.map_or_else(|| ret.clone(), |element| SqlType::new(element).widened())
                } else {
                    ret.clone()
                };
                vec![(column_name.to_owned(), ty)]
            }
            many => many.iter().map(|(n, t)| ((*n).to_owned(), SqlType::new(t.clone()))).collect(),
        };
        let ty = match typed.as_slice() {
            [(_, one)] if !given => one.clone(),
            many => SqlType::new(PgType::Record(Some(Arc::new(RecordType { fields: many.to_vec() })))),
        };
        Ok(SetExpr { func: FuncRef(func), args, columns: typed, ty })
    }

    /// An ORDER BY key inside an aggregate or a window: always an expression over the input.
    pub fn bind_sort_key(&mut self, key: &ast::OrderByExpr) -> PgResult<SortKey> {
        let bound = self.bind_expr(&key.expr)?;
        let expr = self.resolve_unknown(bound)?;
        self.sort_key(expr, &key.options).map_err(|e| e.at(self.pos(&key.expr)))
    }

    /// An expression with its direction; NULLs stand as PostgreSQL puts them.
    pub fn sort_key(&self, expr: Expr, options: &ast::OrderByOptions) -> PgResult<SortKey> {
        if matches!(expr.ty.ty, PgType::Json | PgType::Jsonpath | PgType::Xid | PgType::Void | PgType::Aclitem) {
            return Err(PgError::new(
                SqlState::UNDEFINED_FUNCTION,
                format!("could not identify an ordering operator for type {}", expr.ty.ty),
            )
            .hint("Use an explicit ordering operator or modify the query."));
        }
        let descending = options.asc == Some(false);
        Ok(SortKey { expr, descending, nulls_first: options.nulls_first.unwrap_or(descending) })
    }
}

/// Whether this is `(row).*`.
fn is_expanded_row(e: &E) -> bool {
    matches!(e, E::CompoundFieldAccess { root, access_chain }
        if matches!(**root, E::Nested(_)) && matches!(access_chain.last(), Some(ast::AccessExpr::Dot(E::Wildcard(_)))))
}

/// What PostgreSQL says of an array as the element of an array whose type is still open.
fn array_of_arrays(declared: &[PgType], given: &[PgType]) -> Option<PgError> {
    let mut element = None;
    for (declared, given) in declared.iter().zip(given) {
        match declared {
            PgType::AnyArray | PgType::AnyCompatibleArray if *given != PgType::Unknown => return None,
            PgType::AnyElement | PgType::AnyCompatible if given.is_array() => element = Some(given),
            _ => {}
        }
    }
    let open = declared.iter().any(|d| matches!(d, PgType::AnyArray | PgType::AnyCompatibleArray));
    element
        .filter(|_| open && declared.len() == given.len())
        .map(|element| PgError::new(SqlState::UNDEFINED_OBJECT, format!("could not find array type for data type {element}")))
}

/// Whether a row's fields have names that PostgreSQL finds: not those of COALESCE and its kin over rows of no declared type.
fn names_fields(row: &Expr) -> bool {
    !matches!(row.kind, ExprKind::Coalesce(_) | ExprKind::Extreme { .. } | ExprKind::Case { .. })
}

/// Whether this is a row with a field of that name.
fn has_field(row: &Expr, name: &str) -> bool {
    matches!(&row.ty.ty, PgType::Record(Some(record)) if record.fields.iter().any(|(field, _)| field == name))
}

/// Whether two expressions are the same computation.
pub fn same_expr(a: &Expr, b: &Expr) -> bool {
    let (a, b) = (strip_form(a), strip_form(b));
    // Each subquery has numbers of its own.
    a == b || walk::has_subquery(a) && walk::has_subquery(b) && walk::numbered(a) == walk::numbered(b)
}

/// Without a change of form around it.
fn strip_form(e: &Expr) -> &Expr {
    match &e.kind {
        ExprKind::Cast { arg, explicit: false } if arg.ty.ty == e.ty.ty && arg.ty.keeps_blanks() == e.ty.keeps_blanks() => strip_form(arg),
        _ => e,
    }
}

/// Where each declared slot of a function gets its argument; `None` when the function does not fit.
fn slots_of(func: &Func, positional: usize, named: &[(String, Expr)]) -> Option<Vec<Option<usize>>> {
    if func.variadic {
        if !named.is_empty() || positional + 1 < func.args.len() {
            return None;
        }
        // A variadic function may get no variadic argument only when its element is "any" or it is concat-like.
        if positional < func.args.len() {
            return None;
        }
        return Some((0..positional).map(Some).collect());
    }
    let total = func.args.len();
    if positional + named.len() > total || positional + named.len() + func.defaults.len() < total {
        return None;
    }
    let mut slots: Vec<Option<usize>> = (0..total).map(|i| (i < positional).then_some(i)).collect();
    for (offset, (name, _)) in named.iter().enumerate() {
        let slot = func.arg_names.iter().position(|n| n == name)?;
        if slot < positional || slots[slot].is_some() {
            return None;
        }
        slots[slot] = Some(positional + offset);
    }
    let first_default = total - func.defaults.len();
    if slots.iter().enumerate().any(|(i, s)| s.is_none() && i < first_default) {
        return None;
    }
    Some(slots)
}

pub(super) fn call_args(function: &ast::Function) -> PgResult<CallArgs<'_>> {
    let mut out = CallArgs {
        positional: Vec::new(),
        named: Vec::new(),
        star: false,
        distinct: false,
        variadic: false,
        misplaced: false,
        order_by: Vec::new(),
    };
    let FunctionArguments::List(list) = &function.args else { return Ok(out) };
    out.distinct = matches!(list.duplicate_treatment, Some(ast::DuplicateTreatment::Distinct));
    for clause in &list.clauses {
        match clause {
            ast::FunctionArgumentClause::OrderBy(keys) => out.order_by.clone_from(keys),
            other => return Err(PgError::new(SqlState::SYNTAX_ERROR, format!("syntax error at or near \"{other}\""))),
        }
    }
    for arg in &list.args {
        match arg {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(E::Prefixed { prefix, value })) if prefix.value == stoa_syntax::marks::VARIADIC => {
                out.variadic = true;
                out.positional.push(value);
            }
            FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) => {
                out.misplaced |= !out.named.is_empty();
                out.positional.push(e);
            }
            FunctionArg::Unnamed(FunctionArgExpr::Wildcard) => out.star = true,
            FunctionArg::Named { name, arg: FunctionArgExpr::Expr(e), .. } => out.named.push((fold(name), e)),
            FunctionArg::ExprNamed { name: E::Identifier(name), arg: FunctionArgExpr::Expr(e), .. } => out.named.push((fold(name), e)),
            other => return Err(PgError::new(SqlState::SYNTAX_ERROR, format!("syntax error at or near \"{other}\""))),
        }
    }
    Ok(out)
}

/// Whether this is `json_populate_record` or its kin: the columns are those of the first argument's row type.
pub fn takes_row_type(func: &Func) -> bool {
    func.name.contains("_populate_record")
}

/// `json_populate_record` and its kin take a row whose type they give.
fn check_row_argument(func: &Func, args: &[Expr]) -> PgResult<()> {
    match (func.args.first(), args.first()) {
        (Some(_), Some(arg)) if takes_row_type(func) && arg.ty.ty == PgType::Unknown && !arg.is_null_const() => {
            Err(PgError::new(SqlState::DATATYPE_MISMATCH, "could not determine polymorphic type because input has type unknown"))
        }
        (Some(_), Some(arg)) if takes_row_type(func) && !matches!(arg.ty.ty, PgType::Record(_) | PgType::Unknown) => {
            Err(PgError::new(SqlState::DATATYPE_MISMATCH, format!("first argument of {} must be a row type", func.name)))
        }
        _ => Ok(()),
    }
}

/// Makes a boolean constant.
pub fn bool_const(value: bool) -> Expr {
    Expr::new(ExprKind::Const(ScalarValue::Boolean(Some(value))), bool_type())
}

/// The columns of a row that a function gives, by the names that the query says; an error if they are not those that it says.
pub(super) fn row_matches(given: &RecordType, said: &[(String, SqlType)]) -> PgResult<Vec<(String, SqlType)>> {
    let error = |detail: String| {
        let message = "function return row and query-specified return row do not match";
        Err(PgError::new(SqlState::DATATYPE_MISMATCH, message).detail(detail))
    };
    if given.fields.len() != said.len() {
        let s = if given.fields.len() == 1 { "" } else { "s" };
        return error(format!("Returned row contains {} attribute{s}, but query expects {}.", given.fields.len(), said.len()));
    }
    for (i, ((_, given), (_, said))) in given.fields.iter().zip(said).enumerate() {
        if given.ty != said.ty {
            return error(format!("Returned type {} at ordinal position {}, but query expects {}.", given.ty, i + 1, said.ty));
        }
    }
    Ok(given.fields.iter().zip(said).map(|((_, given), (name, _))| (name.clone(), given.clone())).collect())
}

/// Whether a row type is one of ROW(…), which names no columns.
pub(super) fn is_unnamed(record: &RecordType) -> bool {
    record.fields.iter().enumerate().all(|(i, (name, _))| name.strip_prefix('f').is_some_and(|n| n == (i + 1).to_string()))
}

//! SEARCH and CYCLE of recursive queries, as the recursion that SQL defines them to be.
//!
//! The order column, the mark and the path become columns of the recursion under names that no text can write, so that `*` inside does
//! not show them, and the names that they have outside find them.

use super::{Binder, fold, name_parts, syntax_error};
use crate::catalog::deparse::{quote_name, type_name};
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_syntax::ast::{self, SetExpr, Statement};
use stoa_syntax::marks::{self, CYCLE, SEARCH};
use stoa_syntax::print;

/// What the hidden names begin with: no text of a client has it.
pub(super) const HIDDEN: char = '\0';

struct Search {
    depth_first: bool,
    by: Vec<String>,
    sequence: String,
}

struct Cycle {
    by: Vec<String>,
    mark: String,
    path: String,
    value: String,
    default: String,
}

/// The clauses that stand as columns of a CTE's alias; the alias is left without them.
fn take_clauses(alias: &mut ast::TableAlias) -> (Option<Search>, Option<Cycle>) {
    let (mut search, mut cycle) = (None, None);
    alias.columns.retain(|column| {
        if !is_clause(column) {
            return true;
        }
        let Some(ast::DataType::Custom(name, _)) = &column.data_type else { return true };
        let mut names: Vec<String> = name.0.iter().filter_map(|part| part.as_ident().map(fold)).collect();
        let [depth_first, _] = SEARCH.map(|mark| marks::is(&column.name, mark));
        if marks::is(&column.name, CYCLE) {
            let values = name.0.last().and_then(|part| marks::in_part(part, marks::VALUES)).unwrap_or_default();
            let (Some(path), Some(mark), [value, default]) = (names.pop(), names.pop(), values.as_slice()) else { return true };
            cycle = Some(Cycle { by: names, mark, path, value: value.to_string(), default: default.to_string() });
        } else {
            let Some(sequence) = names.pop() else { return true };
            search = Some(Search { depth_first, by: names, sequence });
        }
        false
    });
    (search, cycle)
}

/// Whether a column of the alias of a CTE stands for SEARCH or CYCLE.
fn is_clause(column: &ast::TableAliasColumnDef) -> bool {
    SEARCH.iter().chain([&CYCLE]).any(|mark| marks::is(&column.name, mark))
}

fn syntax(message: String) -> PgError {
    PgError::new(SqlState::SYNTAX_ERROR, message)
}

/// A CTE as it is without SEARCH and CYCLE.
pub(super) fn without_clauses(cte: &ast::Cte) -> ast::Cte {
    let mut out = cte.clone();
    take_clauses(&mut out.alias);
    out
}

/// The columns that the clauses name are there, and those that they add are new.
///
/// # Errors
/// 42601, 42701.
fn check_names(columns: &[String], search: Option<&Search>, cycle: Option<&Cycle>) -> PgResult<()> {
    let known = |list: &[String], what: &str| {
        if let Some(missing) = list.iter().find(|c| !columns.contains(c)) {
            return Err(syntax(format!("{what} column \"{missing}\" not in WITH query column list")));
        }
        match list.iter().enumerate().find(|(i, c)| list[..*i].contains(c)) {
            Some((_, twice)) => {
                Err(PgError::new(SqlState::DUPLICATE_COLUMN, format!("{what} column \"{twice}\" specified more than once")))
            }
            None => Ok(()),
        }
    };
    let free = |new: &str, what: &str| {
        if columns.iter().any(|c| c == new) {
            return Err(syntax(format!("{what} column name \"{new}\" already used in WITH query column list")));
        }
        Ok(())
    };
    let differ = |a: &str, what: &str, b: &str, other: &str| {
        if a == b { Err(syntax(format!("{what} column name and {other} column name are the same"))) } else { Ok(()) }
    };
    if let Some(search) = search {
        known(&search.by, "search")?;
        free(&search.sequence, "search sequence")?;
    }
    let Some(cycle) = cycle else { return Ok(()) };
    known(&cycle.by, "cycle")?;
    free(&cycle.mark, "cycle mark")?;
    free(&cycle.path, "cycle path")?;
    differ(&cycle.mark, "cycle mark", &cycle.path, "cycle path")?;
    if let Some(search) = search {
        differ(&search.sequence, "search sequence", &cycle.mark, "cycle mark")?;
        differ(&search.sequence, "search sequence", &cycle.path, "cycle path")?;
    }
    Ok(())
}

impl Binder<'_> {
    /// A CTE with SEARCH or CYCLE as one without, and the names that its last columns have outside; `None` if it has neither.
    pub(super) fn without_search(&mut self, cte: &ast::Cte, recursive: bool) -> PgResult<Option<(ast::Cte, Vec<String>)>> {
        if !cte.alias.columns.iter().any(is_clause) {
            return Ok(None);
        }
        let mut out = cte.clone();
        let (search, cycle) = take_clauses(&mut out.alias);
        let name = fold(&out.alias.name);
        if !recursive || !super::with::mentions(&cte.query, &name) {
            // Errors in the query come first.
            self.bind_query(&cte.query)?;
            return Err(syntax("WITH query is not recursive".into()).at(self.pos_span(cte.alias.name.span)));
        }
        let SetExpr::SetOperation { op: ast::SetOperator::Union, set_quantifier, left, right } = &*cte.query.body else {
            return Err(super::with::no_recursive_form(&name));
        };
        let (SetExpr::Select(_), SetExpr::Select(step)) = (&**left, &**right) else {
            let side = if matches!(&**left, SetExpr::Select(_)) { "right" } else { "left" };
            // VALUES on the left is a query as good as any.
            if side == "left" && matches!((&**left, &**right), (SetExpr::Values(_), SetExpr::Select(_))) {
                return self.rewritten(out, &name, *set_quantifier, left, right, search, cycle).map(Some);
            }
            return Err(PgError::unsupported(format!("with a SEARCH or CYCLE clause, the {side} side of the UNION must be a SELECT")));
        };
        let _ = step;
        self.rewritten(out, &name, *set_quantifier, left, right, search, cycle).map(Some)
    }

    #[allow(clippy::too_many_arguments)] // the parts of the query and its clauses
    fn rewritten(
        &mut self,
        mut cte: ast::Cte,
        name: &str,
        quantifier: ast::SetQuantifier,
        left: &SetExpr,
        right: &SetExpr,
        search: Option<Search>,
        cycle: Option<Cycle>,
    ) -> PgResult<(ast::Cte, Vec<String>)> {
        let SetExpr::Select(step) = right else { return Err(PgError::internal("the right side is a SELECT")) };
        // The columns' names, where the alias does not give them, are those of the first branch.
        let mut columns: Vec<String> = cte.alias.columns.iter().map(|c| fold(&c.name)).collect();
        let base = self.bind_branch_columns(left)?;
        columns.extend(base.iter().skip(columns.len()).map(|(name, _)| name.clone()));
        if let Err(wrong) = check_names(&columns, search.as_ref(), cycle.as_ref()) {
            // Errors in the query come first.
            self.bind_recursive(&cte, name.to_owned())?;
            return Err(wrong);
        }
        let mut outside = Vec::new();
        // By added column: its hidden name, its first value and its next, over the branch's columns under the alias b.
        let mut added: Vec<(String, String, String)> = Vec::new();
        let row = |list: &[String]| format!("ROW({})", list.iter().map(|c| format!("b.{}", quote_name(c))).collect::<Vec<_>>().join(", "));
        // The rows of an array have fields of the same types: those of the first branch.
        let in_base = |list: &[String]| {
            let field = |c: &String| {
                let ty = columns.iter().position(|column| column == c).and_then(|at| base.get(at)).map(|(_, ty)| ty);
                match ty.filter(|ty| !matches!(ty.ty, PgType::Record(_))) {
                    Some(ty) => format!("CAST(b.{} AS {})", quote_name(c), type_name(ty)),
                    None => format!("b.{}", quote_name(c)),
                }
            };
            format!("ROW({})", list.iter().map(field).collect::<Vec<_>>().join(", "))
        };
        let hidden = |name: &str| quote_name(&format!("{HIDDEN}{name}"));
        if let Some(search) = &search {
            let order = hidden(&search.sequence);
            let before = format!("b.{order}");
            let keys = row(&search.by);
            added.push(if search.depth_first {
                (order, format!("ARRAY[{keys}]"), format!("array_append({before}, {})", in_base(&search.by)))
            } else {
                let deep = |depth: &str| keys.replacen("ROW(", &format!("ROW({depth}, "), 1);
                (order, deep("0::bigint"), deep(&format!("({before}).f1 + 1")))
            });
            outside.push(search.sequence.clone());
        }
        let mut condition = None;
        if let Some(cycle) = &cycle {
            let (keys, path) = (row(&cycle.by), format!("b.{}", hidden(&cycle.path)));
            // Only the first row of the path is of the first branch: the others have the types of this one.
            let again = format!("{keys} = ({path})[1] OR {} = ANY (({path})[2:])", in_base(&cycle.by));
            added.push((
                hidden(&cycle.mark),
                // Of the type that both values have.
                format!("CASE WHEN true THEN {} ELSE {} END", cycle.default, cycle.value),
                format!("CASE WHEN {again} THEN {} ELSE {} END", cycle.value, cycle.default),
            ));
            added.push((hidden(&cycle.path), format!("ARRAY[{keys}]"), format!("array_append({path}, {})", in_base(&cycle.by))));
            outside.extend([cycle.mark.clone(), cycle.path.clone()]);
            condition = Some((hidden(&cycle.mark), cycle.value.clone()));
        }
        let reference = recursive_alias(step, name).ok_or_else(|| {
            PgError::unsupported(format!(
                "with a SEARCH or CYCLE clause, the recursive reference to WITH query \"{name}\" must be at the top level of its right-hand SELECT"
            ))
        })?;
        let reference = quote_name(&reference);
        // The branch gives what the recursion had before, and stops where a cycle was found.
        let mut inner = (**step).clone();
        literals_typed(&mut inner.projection, &base)?;
        for (hidden, ..) in &added {
            let e = stoa_syntax::parse_expression(&format!("{reference}.{hidden}")).map_err(syntax_error)?;
            inner.projection.push(ast::SelectItem::UnnamedExpr(e));
        }
        if let Some((mark, value)) = condition {
            let going = stoa_syntax::parse_expression(&format!("{reference}.{mark} <> {value}")).map_err(syntax_error)?;
            inner.selection = Some(match inner.selection.take() {
                None => going,
                Some(own) => ast::Expr::BinaryOp {
                    left: Box::new(ast::Expr::Nested(Box::new(own))),
                    op: ast::BinaryOperator::And,
                    right: Box::new(ast::Expr::Nested(Box::new(going))),
                },
            });
        }
        let plain: Vec<String> = columns.iter().map(|c| quote_name(c)).collect();
        let inside: Vec<String> = outside.iter().map(|name| format!("{HIDDEN}{name}")).collect();
        let shown: Vec<String> = plain.iter().map(|c| format!("b.{c}")).collect();
        let hidden_names: Vec<&str> = added.iter().map(|(h, ..)| h.as_str()).collect();
        let first: Vec<&str> = added.iter().map(|(_, first, _)| first.as_str()).collect();
        let next: Vec<&str> = added.iter().map(|(.., next)| next.as_str()).collect();
        let all = if matches!(quantifier, ast::SetQuantifier::All) { "ALL" } else { "" };
        let (left, inner) = (print::sql(left), print::sql(&inner));
        let sql = format!(
            "SELECT {shown}, {first} FROM ({left}) AS b ({plain}) UNION {all} SELECT {shown}, {next} FROM ({inner}) AS b ({plain}, {hidden})",
            shown = shown.join(", "),
            first = first.join(", "),
            next = next.join(", "),
            plain = plain.join(", "),
            hidden = hidden_names.join(", "),
        );
        let parsed = stoa_syntax::parse(&sql).map_err(syntax_error)?;
        let Some(Statement::Query(query)) = parsed.into_iter().next().map(|p| p.statement) else {
            return Err(PgError::internal("a recursion is a query"));
        };
        cte.query.body = query.body;
        cte.alias.columns = columns
            .iter()
            .cloned()
            .chain(inside)
            .map(|name| ast::TableAliasColumnDef { name: ast::Ident::with_quote('"', name), data_type: None })
            .collect();
        Ok((cte, outside))
    }
}

/// Literals of a branch get the types of the columns of the first: within a derived table they would be text.
fn literals_typed(items: &mut [ast::SelectItem], base: &[(String, SqlType)]) -> PgResult<()> {
    for (item, (_, ty)) in items.iter_mut().zip(base) {
        let e = match item {
            ast::SelectItem::UnnamedExpr(e) | ast::SelectItem::ExprWithAlias { expr: e, .. } => e,
            // How many columns this is shows later.
            _ => return Ok(()),
        };
        let untyped = matches!(e, ast::Expr::Value(value) if matches!(value.value, ast::Value::Null | ast::Value::SingleQuotedString(_)));
        if untyped && !matches!(ty.ty, PgType::Text | PgType::Record(_)) {
            *e = stoa_syntax::parse_expression(&format!("CAST({e} AS {})", type_name(ty))).map_err(syntax_error)?;
        }
    }
    Ok(())
}

/// The name by which a SELECT reads a CTE in its own FROM.
fn recursive_alias(select: &ast::Select, name: &str) -> Option<String> {
    let own = |factor: &ast::TableFactor| match factor {
        ast::TableFactor::Table { name: table, alias, .. } if name_parts(table).is_ok_and(|p| p == [name]) => {
            Some(alias.as_ref().map_or_else(|| name.to_owned(), |a| fold(&a.name)))
        }
        _ => None,
    };
    select.from.iter().flat_map(|f| std::iter::once(&f.relation).chain(f.joins.iter().map(|j| &j.relation))).find_map(own)
}

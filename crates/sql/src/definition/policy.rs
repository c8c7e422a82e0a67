//! The text by which a condition of a policy is kept, and how it is shown.
//!
//! It is kept as a view is, as the WHERE of a query over its table: names of relations and columns may change, and columns come and go,
//! without another meaning for it (see [`super::view_text`]).

use super::Definitions;
use super::view_shown::{Parentheses, shorten};
use super::view_text::{dependencies, quoted, text_of};
use crate::bind::policy::condition_of;
use crate::bind::scope::{Clause, Scope};
use crate::bind::{BindContext, Binder, bind_view_query, fold};
use crate::catalog::deparse::{Deparser, quote_name};
use crate::catalog::names::role_name;
use crate::typed::tree::{ColId, Expr};
use crate::typed::walk;
use std::ops::ControlFlow;
use stoa_pg::{PgError, PgResult};
use stoa_syntax::ast::{self, Ident, ObjectName, VisitMut, VisitorMut};
use stoa_syntax::print;
use stoa_table::catalog::acl::PUBLIC_GRANTEE;
use stoa_table::catalog::{ColumnId, PolicyCommand, PolicyCondition, PolicyDescriptor, TableDescriptor};

/// A condition over the columns of a table, which a statement calls `name`, as it is kept; and over undeclared ones, with their types.
///
/// # Errors
/// What its binding raises: it must be boolean, without aggregates, windows and sets.
pub fn kept(
    context: &BindContext<'_>,
    table: &TableDescriptor,
    (name, undeclared): (&ObjectName, &[ast::TableAliasColumnDef]),
    condition: &ast::Expr,
) -> PgResult<PolicyCondition> {
    let named = ast::TableAlias { explicit: true, name: quoted(&table.name), columns: undeclared.to_vec(), at: None };
    let named = Some(named).filter(|_| !undeclared.is_empty());
    bind_over(context, table, named.as_ref(), condition)?;
    let unreadable = || PgError::internal("a query of our own that is not one");
    let mut parsed = stoa_syntax::parse("SELECT 1 FROM t WHERE true").map_err(crate::bind::syntax_error)?;
    let Some(ast::Statement::Query(query)) = parsed.first_mut().map(|p| &mut p.statement) else { return Err(unreadable()) };
    let ast::SetExpr::Select(select) = &mut *query.body else { return Err(unreadable()) };
    let Some(ast::TableFactor::Table { name: of, alias, .. }) = select.from.first_mut().map(|item| &mut item.relation) else {
        return Err(unreadable());
    };
    *alias = named;
    // Its place in the text tells the table from those that the condition names.
    of.clone_from(name);
    select.selection = Some(condition.clone());
    let (bound, meanings) = bind_view_query(context, query)?;
    if !bound.params.is_empty() {
        return Err(PgError::new(stoa_pg::SqlState::UNDEFINED_PARAMETER, "there is no parameter $1"));
    }
    let (sql, named) = text_of(context, query, &meanings)?;
    Ok(PolicyCondition { sql, depends_on: dependencies(&bound.uses, &named) })
}

/// Binds a condition over a table, whose columns are `ColId(column id)`.
fn bind_over(context: &BindContext<'_>, table: &TableDescriptor, alias: Option<&ast::TableAlias>, condition: &ast::Expr) -> PgResult<Expr> {
    let mut binder = Binder::new(context.clone());
    binder.keep = true;
    let columns: Vec<(ColumnId, ColId)> = table.live_columns().map(|c| (c.id, ColId(c.id.0))).collect();
    binder.start_ids_behind(table.next_column_id);
    let mut scope = Scope::new(Clause::Policy);
    scope.local.extend(columns.iter().map(|(_, id)| *id));
    binder.scopes.push(scope);
    let item = binder.rows_of_policy(table, &columns, alias)?;
    if let Some(scope) = binder.scopes.last_mut() {
        scope.add_item(item);
    }
    let bound = binder.bind_expr(condition)?;
    binder.coerce_bool(bound, "POLICY").map_err(|e| e.at(binder.pos(condition)))
}

impl Definitions<'_> {
    /// A condition of a policy as `pg_get_expr` shows it.
    ///
    /// # Errors
    /// XX000 if the stored text cannot be read.
    pub fn policy_condition(&self, table: &TableDescriptor, condition: &PolicyCondition) -> PgResult<String> {
        let mut parsed = stoa_syntax::parse(&condition.sql).map_err(crate::bind::syntax_error)?;
        let unreadable = || PgError::internal(format!("a policy of table \"{}\" cannot be read", table.name));
        let statement = parsed.first_mut().map(|p| &mut p.statement).ok_or_else(unreadable)?;
        let (alias, selection) = condition_of(statement).ok_or_else(unreadable)?;
        let context =
            BindContext { catalog: self.catalog, search_path: self.path, eval: self.eval, param_types: &[], text: &condition.sql };
        let bound = bind_over(&context, table, Some(alias), selection)?;
        let mut asks = crate::bind::names_maps(&bound);
        walk::visit_subqueries(&bound, &mut |_| asks = true);
        if !asks {
            let column = |id: ColId| table.column(ColumnId(id.0)).map_or_else(|| "?".into(), |c| quote_name(&c.name));
            return Deparser { eval: self.eval, column: &column, pretty: false, oids: false }.print(&bound);
        }
        // The table's own columns are called as they are now.
        let now: Vec<String> = table.visible_columns().map(|c| c.name.clone()).collect();
        let (undeclared, listed): (Vec<_>, Vec<_>) = alias.columns.iter().partition(|column| column.data_type.is_some());
        let mut names: Vec<(String, String)> = listed.iter().map(|column| fold(&column.name)).zip(now).collect();
        names.extend(undeclared.iter().map(|column| (fold(&column.name), fold(&column.name))));
        let mut own = OwnColumns { alias: fold(&alias.name), table: table.name.clone(), names, depth: 0 };
        let ast::Statement::Query(query) = statement else { return Err(unreadable()) };
        shorten(self.catalog, self.path, query);
        let ast::SetExpr::Select(select) = &mut *query.body else { return Err(unreadable()) };
        let selection = select.selection.as_mut().ok_or_else(unreadable)?;
        let _ = VisitMut::visit(selection, &mut own);
        let _ = VisitMut::visit(selection, &mut Parentheses);
        let text = print::sql(selection);
        Ok(if matches!(selection, ast::Expr::Nested(_)) { text } else { format!("({text})") })
    }

    /// The commands that make a table's row-level security again; `name` is the table.
    ///
    /// # Errors
    /// As [`Definitions::policy_condition`].
    pub fn row_security(&self, table: &TableDescriptor, name: &str) -> PgResult<Vec<String>> {
        let mut out = Vec::new();
        for policy in &table.row_security.policies {
            out.push(self.create_policy(table, name, policy)?);
        }
        if table.row_security.enabled {
            out.push(format!("ALTER TABLE {name} ENABLE ROW LEVEL SECURITY;"));
        }
        if table.row_security.forced {
            out.push(format!("ALTER TABLE {name} FORCE ROW LEVEL SECURITY;"));
        }
        Ok(out)
    }

    fn create_policy(&self, table: &TableDescriptor, name: &str, policy: &PolicyDescriptor) -> PgResult<String> {
        let mut out = format!("CREATE POLICY {} ON {name}", quote_name(&policy.name));
        let undeclared = undeclared_of(policy)?;
        if !undeclared.is_empty() {
            out.push_str(&format!(" ({})", undeclared.join(", ")));
        }
        if policy.restrictive {
            out.push_str(" AS RESTRICTIVE");
        }
        if policy.command != PolicyCommand::All {
            out.push_str(&format!(" FOR {}", policy.command.word()));
        }
        if !policy.roles.contains(&PUBLIC_GRANTEE) {
            let roles: Vec<String> = policy.roles.iter().map(|role| quote_name(&role_name(self.catalog, *role))).collect();
            out.push_str(&format!(" TO {}", roles.join(", ")));
        }
        for (word, condition) in [("USING", &policy.using), ("WITH CHECK", &policy.check)] {
            if let Some(condition) = condition {
                let text = self.policy_condition(table, condition)?;
                out.push_str(&format!(" {word} {}", in_parentheses(&text)));
            }
        }
        out.push(';');
        if let Some(comment) = &policy.comment {
            let comment = crate::catalog::deparse::quote_text(comment);
            out.push_str(&format!("\nCOMMENT ON POLICY {} ON {name} IS {comment};", quote_name(&policy.name)));
        }
        Ok(out)
    }
}

/// The undeclared columns that conditions of a policy name, with their types.
fn undeclared_of(policy: &PolicyDescriptor) -> PgResult<Vec<String>> {
    let mut out = Vec::new();
    for condition in policy.conditions() {
        let parsed = stoa_syntax::parse(&condition.sql).map_err(crate::bind::syntax_error)?;
        let Some((alias, _)) = parsed.first().and_then(|p| condition_of(&p.statement)) else { continue };
        for column in alias.columns.iter().filter(|column| column.data_type.is_some()) {
            let column = column.to_string();
            if !out.contains(&column) {
                out.push(column);
            }
        }
    }
    Ok(out)
}

/// What stands in parentheses already stays so.
fn in_parentheses(text: &str) -> String {
    let mut depth = 0_i32;
    let closes = text.char_indices().find_map(|(at, c)| {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        (depth == 0).then_some(at)
    });
    let whole = text.starts_with('(') && closes == Some(text.len().saturating_sub(1));
    // A quote may hold a parenthesis.
    if whole && !text.contains(['\'', '"']) { text.to_owned() } else { format!("({text})") }
}

/// The columns of the policy's own table: outside of its subqueries without the table's name, and called as they are now.
struct OwnColumns {
    /// What the table is called in the text that is kept, and is shown as.
    alias: String,
    table: String,
    /// The columns as they were called, each with its name now.
    names: Vec<(String, String)>,
    /// How many queries are around.
    depth: usize,
}

impl VisitorMut for OwnColumns {
    type Break = ();

    fn pre_visit_query(&mut self, _: &mut ast::Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut ast::Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<()> {
        if let ast::Expr::CompoundIdentifier(parts) = expr
            && let [of, column] = parts.as_slice()
            && fold(of) == self.alias
            && let Some((_, now)) = self.names.iter().find(|(was, _)| *was == fold(column))
        {
            let column: Ident = quoted(now);
            *expr = match self.depth {
                0 => ast::Expr::Identifier(column),
                _ => ast::Expr::CompoundIdentifier(vec![quoted(&self.table), column]),
            };
        }
        ControlFlow::Continue(())
    }
}

//! `pg_rewrite`: the rules that make relations views. Of what a rule does, `ev_action` tells the columns and which columns of other relations
//! they are: what clients look for there.

use super::super::builder::{Builder, V};
use super::super::objects::rule_oid;
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_sql::bind::{BindContext, bind_stored_query, syntax_error};
use stoa_sql::typed::tree::{BoundBody, Output};
use stoa_syntax::ast::Statement;
use stoa_table::catalog::{Relation, ViewDescriptor};

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for relation in ctx.catalog.relations() {
        if let Relation::View(v) = &**relation {
            if !t.wants_oid("oid", rule_oid(v)) || !t.wants_oid("ev_class", v.oid) {
                continue;
            }
            t.row(vec![
                ("oid", V::Oid(rule_oid(v))),
                ("rulename", "_RETURN".into()),
                ("ev_class", V::Oid(v.oid)),
                ("ev_type", "1".into()),
                ("ev_enabled", "O".into()),
                ("is_instead", true.into()),
                ("ev_qual", "<>".into()),
                ("ev_action", if t.reads("ev_action") { action(v, &outputs(ctx, v).unwrap_or_default()).into() } else { V::Null }),
            ]);
        }
    }
    Ok(())
}

/// The columns of a view's query.
fn outputs(ctx: &StatementContext, view: &ViewDescriptor) -> PgResult<Vec<Output>> {
    let parsed = stoa_syntax::parse(&view.sql).map_err(syntax_error)?;
    let Some(Statement::Query(query)) = parsed.into_iter().next().map(|p| p.statement) else { return Ok(Vec::new()) };
    let bind = BindContext { catalog: &ctx.catalog, search_path: &ctx.search_path, eval: &ctx.eval, param_types: &[], text: &view.sql };
    Ok(match bind_stored_query(&bind, view.oid, &query)?.body {
        BoundBody::Query(query) => query.outputs,
        BoundBody::Mutation(_) => Vec::new(),
    })
}

/// A rule's action as a tree of nodes.
fn action(view: &ViewDescriptor, outputs: &[Output]) -> String {
    let entries = view.columns.iter().zip(1..).map(|(column, number)| {
        let (table, of_table) = outputs.get(number - 1).and_then(|output| output.origin).unwrap_or((0, 0));
        let name = token(&column.name);
        format!("{{TARGETENTRY :resno {number} :resname {name} :resorigtbl {table} :resorigcol {of_table} :resjunk false}}")
    });
    format!("({{QUERY :commandType 1 :targetList ({})}})", entries.collect::<Vec<_>>().join(" "))
}

/// A name as trees of nodes hold it: what would end it or begin something else stands behind a backslash.
fn token(name: &str) -> String {
    if name.is_empty() {
        return "\"\"".into();
    }
    let mut out = String::new();
    let special_first = |c: char| matches!(c, '<' | '"') || c.is_ascii_digit();
    let signed = |c: char| matches!(c, '+' | '-') && name.chars().nth(1).is_some_and(|next| next.is_ascii_digit() || next == '.');
    for (at, c) in name.chars().enumerate() {
        if matches!(c, ' ' | '\n' | '\t' | '(' | ')' | '{' | '}' | '\\') || (at == 0 && (special_first(c) || signed(c))) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::token;

    #[test]
    fn names_are_single_tokens() {
        for (name, shown) in
            [("id", "id"), ("a b", "a\\ b"), ("1st", "\\1st"), ("-1", "\\-1"), ("-", "-"), ("f(x)", "f\\(x\\)"), ("", "\"\"")]
        {
            assert_eq!(token(name), shown);
        }
    }
}

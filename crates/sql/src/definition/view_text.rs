//! The text by which a view is kept.
//!
//! Invariant: the text names every table with its schema and, behind its alias, its columns as they were called when the view was
//! made; `*` is written out. Renaming a column therefore changes nothing, and an added column is not seen; the names of tables and
//! schemas are replaced when they change, and a dropped column leaves the list ([`change_text`]).

use super::view_relations;
use crate::bind::sqlparser_span::Span;
use crate::bind::targets::fields_star;
use crate::bind::{BindContext, ItemName, Meanings, fold, name_parts};
use crate::catalog::deparse::quote_name;
use crate::system_relations;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use stoa_pg::types::type_by_name;
use stoa_pg::{PgError, PgResult};
use stoa_syntax::ast::{self, Ident, ObjectName, ObjectNamePart, SelectItem, Spanned, TableFactor, VisitMut, VisitorMut};
use stoa_syntax::print;
use stoa_table::catalog::{CatalogSnapshot, Dependency, Oid, Relation};

/// What a query uses, and the relations that its literals name.
pub fn dependencies(uses: &[Dependency], named: &[Oid]) -> Vec<Dependency> {
    let mut out = uses.to_vec();
    for oid in named {
        if out.iter().all(|known| known.relation != *oid) {
            out.push(Dependency { relation: *oid, columns: Vec::new() });
        }
    }
    out
}

/// The text by which a query is kept, and the relations that its literals name.
pub fn text_of(context: &BindContext<'_>, query: &ast::Query, meanings: &Meanings) -> PgResult<(String, Vec<Oid>)> {
    let mut query = query.clone();
    let _ = VisitMut::visit(&mut query, &mut NaturalJoins(&meanings.natural));
    let (given, ctes) = names_given(&query);
    let mut qualifier = Qualifier { context, meanings, given, ctes, shown: Vec::new(), aliases: HashMap::new(), error: None };
    let _ = VisitMut::visit(&mut query, &mut qualifier);
    match qualifier.error {
        Some(error) => Err(error),
        None => {
            let _ = VisitMut::visit(&mut query, &mut AliasesOfColumns { meanings, aliases: &qualifier.aliases, tables: HashSet::new() });
            let _ = VisitMut::visit(&mut query, &mut Literals(&meanings.values));
            let named = view_relations::by_oid(context, &meanings.named, &mut query);
            let text = print::sql(&query);
            // A view that cannot be read again would be in the way of all that lists views.
            stoa_syntax::parse(&text).map_err(|_| {
                PgError::unsupported("views of this form are not supported")
                    .hint("The definition is kept as text, which could not be read again. Write its expressions in another form.")
            })?;
            Ok((text, named))
        }
    }
}

/// Writes NATURAL out: by columns that come later nothing is joined.
struct NaturalJoins<'a>(&'a HashMap<Span, Vec<String>>);

impl VisitorMut for NaturalJoins<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut ast::Query) -> ControlFlow<()> {
        print::each_join(query, &mut |relation, constraint| {
            if *constraint != ast::JoinConstraint::Natural {
                return;
            }
            let Some(columns) = self.0.get(&relation.span()) else { return };
            let name = |column: &String| {
                let plain = quote_name(column) == *column;
                ObjectName::from(vec![if plain { Ident::new(column) } else { Ident::with_quote('"', column) }])
            };
            *constraint = if columns.is_empty() {
                ast::JoinConstraint::On(ast::Expr::Value(ast::Value::Boolean(true).with_empty_span()))
            } else {
                ast::JoinConstraint::Using(columns.iter().map(name).collect())
            };
        });
        ControlFlow::Continue(())
    }
}

/// Writes literals so that they mean under all settings what they mean now: times and dates in ISO form, instants in UTC.
struct Literals<'a>(&'a HashMap<Span, String>);

impl VisitorMut for Literals<'_> {
    type Break = ();

    fn post_visit_expr(&mut self, e: &mut ast::Expr) -> ControlFlow<()> {
        let value = match e {
            ast::Expr::Value(value) => value,
            ast::Expr::TypedString(typed) => &mut typed.value,
            _ => return ControlFlow::Continue(()),
        };
        if let Some(text) = self.0.get(&value.span) {
            value.value = ast::Value::SingleQuotedString(text.clone());
        }
        ControlFlow::Continue(())
    }
}

/// The aliases that are written in FROM, and the names of the items of WITH.
fn names_given(query: &ast::Query) -> (HashSet<String>, HashSet<String>) {
    struct Names(HashSet<String>, HashSet<String>);
    impl ast::Visitor for Names {
        type Break = ();
        fn pre_visit_query(&mut self, query: &ast::Query) -> ControlFlow<()> {
            self.1.extend(query.with.iter().flat_map(|with| &with.cte_tables).map(|cte| fold(&cte.alias.name)));
            ControlFlow::Continue(())
        }
        fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
            let alias = match factor {
                TableFactor::Table { alias, .. }
                | TableFactor::Derived { alias, .. }
                | TableFactor::TableFunction { alias, .. }
                | TableFactor::Function { alias, .. }
                | TableFactor::UNNEST { alias, .. }
                | TableFactor::NestedJoin { alias, .. } => alias.as_ref(),
                _ => None,
            };
            self.0.extend(alias.map(|a| fold(&a.name)));
            ControlFlow::Continue(())
        }
    }
    let mut names = Names(HashSet::new(), HashSet::new());
    let _ = ast::Visit::visit(query, &mut names);
    (names.0, names.1)
}

/// Writes out what the names of a query mean now.
struct Qualifier<'a> {
    context: &'a BindContext<'a>,
    meanings: &'a Meanings,
    /// Aliases that are written in the query.
    given: HashSet<String>,
    /// Names of the items of WITH.
    ctes: HashSet<String>,
    /// Relations that have no alias in the query, and the one that the text gives them.
    shown: Vec<Shown>,
    /// The same by the place where FROM names them.
    aliases: HashMap<Span, Ident>,
    error: Option<PgError>,
}

/// A relation without an alias, by which its columns are called in the text of a view.
struct Shown {
    schema: String,
    relation: String,
    alias: String,
}

impl Qualifier<'_> {
    /// The relation's own name; another one where an alias, or a relation of another schema, is called so too.
    fn alias_of(&mut self, schema: &str, relation: &str) -> String {
        if let Some(known) = self.shown.iter().find(|s| s.schema == schema && s.relation == relation) {
            return known.alias.clone();
        }
        let taken = |alias: &str| self.given.contains(alias) || self.shown.iter().any(|s| s.alias == alias);
        let alias = if taken(relation) {
            (1..).map(|n| format!("{relation}_{n}")).find(|alias| !taken(alias)).unwrap_or_default()
        } else {
            relation.to_owned()
        };
        self.shown.push(Shown { schema: schema.to_owned(), relation: relation.to_owned(), alias: alias.clone() });
        alias
    }
}

/// In the text every relation has an alias, by which its columns and its rows are called wherever the query names them; columns that are
/// named alone get the alias, too, so that none that comes later makes them ambiguous.
struct AliasesOfColumns<'a> {
    meanings: &'a Meanings,
    aliases: &'a HashMap<Span, Ident>,
    /// Where `t.*` names a table, whatever columns are called.
    tables: HashSet<Span>,
}

impl VisitorMut for AliasesOfColumns<'_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<()> {
        if let ast::Expr::CompoundFieldAccess { root, access_chain } = expr
            && let (ast::Expr::Identifier(table), [ast::AccessExpr::Dot(ast::Expr::Wildcard(_))]) = (&**root, access_chain.as_slice())
        {
            self.tables.insert(table.span);
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<()> {
        // The columns that `*` stands for have the place of their table.
        let alias = |name: &Ident| self.aliases.get(self.meanings.names.get(&name.span).unwrap_or(&name.span)).cloned();
        match expr {
            ast::Expr::Identifier(name) => {
                let item = match self.meanings.columns.get(&name.span) {
                    Some(_) if self.tables.contains(&name.span) => None,
                    Some(ItemName::Place(place)) => self.aliases.get(place).cloned(),
                    Some(ItemName::Alias(alias)) => Some(quoted(alias)),
                    None => None,
                };
                if let Some(item) = item {
                    *expr = ast::Expr::CompoundIdentifier(vec![item, name.clone()]);
                } else if let Some(alias) = alias(name) {
                    *name = alias;
                }
            }
            ast::Expr::CompoundIdentifier(parts) => {
                if let [first, .., column] = parts.as_slice()
                    && let Some(alias) = alias(first)
                {
                    *parts = vec![alias, column.clone()];
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

pub fn quoted(name: &str) -> Ident {
    let text = crate::catalog::deparse::quote_name(name);
    if text.starts_with('"') { Ident::with_quote('"', name) } else { Ident::new(name) }
}

impl VisitorMut for Qualifier<'_> {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        let TableFactor::Table { name, alias, args: None, .. } = factor else { return ControlFlow::Continue(()) };
        let parts = match name_parts(name) {
            Ok(parts) => parts,
            Err(error) => {
                self.error = Some(error);
                return ControlFlow::Break(());
            }
        };
        // SEARCH and CYCLE are bound in other words, which have no places in the text.
        let is_item = parts.len() == 1 && parts.iter().all(|part| self.ctes.contains(part));
        if is_item && !self.meanings.relations.contains(&name.span()) {
            return ControlFlow::Continue(());
        }
        let Some((schema, relation)) = resolve(self.context.catalog, self.context.search_path, &parts) else {
            return ControlFlow::Continue(());
        };
        let columns = self.context.catalog.relation_by_name(schema.0, &relation).map(|r| columns_of(r)).unwrap_or_default();
        let place = name.span();
        *name = ObjectName(vec![ObjectNamePart::Identifier(quoted(&schema.1)), ObjectNamePart::Identifier(quoted(&relation))]);
        let given = alias.take();
        let (typed, plain): (Vec<_>, Vec<_>) = given.iter().flat_map(|a| &a.columns).partition(|c| c.data_type.is_some());
        let mut names: Vec<String> = plain.iter().map(|c| fold(&c.name)).collect();
        names.extend(columns.into_iter().skip(names.len()));
        let undeclared = typed.into_iter().map(|c| ast::TableAliasColumnDef { name: quoted(&fold(&c.name)), ..c.clone() });
        let listed = names.iter().map(|n| ast::TableAliasColumnDef { name: quoted(n), data_type: None }).chain(undeclared).collect();
        let alias_name = match &given {
            Some(given) => given.name.clone(),
            None => {
                let alias = quoted(&self.alias_of(&schema.1, &relation));
                self.aliases.insert(place, alias.clone());
                alias
            }
        };
        *alias = Some(ast::TableAlias { explicit: false, name: alias_name, columns: listed, at: None });
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<()> {
        if let Some(name) = view_relations::row_type(expr)
            && let Ok(parts) = name_parts(name)
            && type_by_name(parts.last().map_or("", String::as_str)).is_none()
            && let Some((schema, relation)) = resolve(self.context.catalog, self.context.search_path, &parts)
        {
            *name = ObjectName(vec![ObjectNamePart::Identifier(quoted(&schema.1)), ObjectNamePart::Identifier(quoted(&relation))]);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut ast::Select) -> ControlFlow<()> {
        let mut out = Vec::with_capacity(select.projection.len());
        for item in std::mem::take(&mut select.projection) {
            let span = match &item {
                SelectItem::Wildcard(options) | SelectItem::QualifiedWildcard(_, options) => Some(options.wildcard_token.0.span),
                SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => fields_star(expr),
                _ => None,
            };
            let star = span.and_then(|span| self.meanings.stars.iter().find(|(s, _)| *s == span));
            // Columns that share a name cannot be said one by one; such are never a table's, so what `*` stands for stays.
            match star.filter(|(_, exprs)| exprs.iter().collect::<HashSet<_>>().len() == exprs.len()) {
                Some((_, exprs)) => out.extend(exprs.iter().cloned().map(SelectItem::UnnamedExpr)),
                None => out.push(item),
            }
        }
        select.projection = out;
        ControlFlow::Continue(())
    }
}

/// The schema and name of what a FROM item names: a relation of the catalog or of `pg_catalog`.
fn resolve(catalog: &CatalogSnapshot, path: &[Oid], parts: &[String]) -> Option<((Oid, String), String)> {
    let relation = parts.last()?.clone();
    let exists = |oid: Oid, schema: &str| catalog.relation_by_name(oid, &relation).is_some() || system_relations::exists(schema, &relation);
    match parts {
        [_] => path.iter().find_map(|oid| {
            let schema = catalog.schema(*oid)?;
            exists(*oid, &schema.name).then(|| ((*oid, schema.name.clone()), relation.clone()))
        }),
        [.., schema, _] => {
            let schema = catalog.schema_by_name(schema)?;
            Some(((schema.oid, schema.name.clone()), relation))
        }
        [] => None,
    }
}

pub fn columns_of(relation: &Relation) -> Vec<String> {
    match relation {
        Relation::Table(table) => table.visible_columns().map(|c| c.name.clone()).collect(),
        Relation::View(view) => view.columns.iter().map(|c| c.name.clone()).collect(),
        Relation::Sequence(_) => Vec::new(),
    }
}

/// Changes FROM items of stored texts.
pub(super) struct Change<F: FnMut(&mut ObjectName, &mut Option<ast::TableAlias>)>(pub(super) F);

impl<F: FnMut(&mut ObjectName, &mut Option<ast::TableAlias>)> VisitorMut for Change<F> {
    type Break = ();
    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, alias, args: None, .. } = factor {
            (self.0)(name, alias);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<()> {
        // The types of rows are called as the tables are.
        if let Some(name) = view_relations::row_type(expr) {
            (self.0)(name, &mut None);
        }
        ControlFlow::Continue(())
    }
}

pub fn change_text(sql: &str, change: impl FnMut(&mut ObjectName, &mut Option<ast::TableAlias>)) -> PgResult<String> {
    let mut parsed = stoa_syntax::parse(sql).map_err(crate::bind::syntax_error)?;
    let Some(first) = parsed.first_mut() else { return Ok(sql.to_owned()) };
    let _ = VisitMut::visit(&mut first.statement, &mut Change(change));
    Ok(print::sql(&first.statement))
}

//! CREATE VIEW, and the text by which a view is kept.
//!
//! Invariant: the text names every table with its schema and, behind its alias, its columns as they were called when the view was
//! made; `*` is written out. Renaming a column therefore changes nothing, and an added column is not seen; the names of tables and
//! schemas are replaced when they change ([`relation_renamed`]), and a dropped column leaves the list ([`column_dropped`]).

use super::work::Work;
use crate::bind::sqlparser_span::Span;
use crate::bind::targets::fields_star;
use crate::bind::{BindContext, ItemName, Meanings, bind_view_query, fold, name_parts};
use crate::typed::tree::{BoundBody, CteBody};
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use stoa_pg::types::type_by_name;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_syntax::ast::{self, Ident, ObjectName, ObjectNamePart, SelectItem, Spanned, TableFactor, VisitMut, VisitorMut};
use stoa_syntax::ddl::{CreateView, StorageOption};
use stoa_syntax::marks;
use stoa_table::catalog::{CatalogSnapshot, Dependency, Oid, PG_CATALOG_OID, Relation, ViewColumn, ViewDescriptor};

/// CREATE VIEW.
pub(crate) async fn create(work: Work<'_>, create: &CreateView) -> PgResult<String> {
    const TAG: &str = "CREATE VIEW";
    let mut given = create.options.clone();
    if let Some(option) = &create.check_option {
        given.push(StorageOption { name: "check_option".into(), value: Some(option.clone()) });
    }
    let mut options = Vec::new();
    set_options(&mut options, &given)?;
    if matches!(&*create.query.body, ast::SetExpr::Select(select) if select.into.is_some()) {
        return Err(PgError::unsupported("views must not contain SELECT INTO"));
    }
    let path = work.path();
    let (catalog, bound, meanings) = loop {
        let catalog = work.catalog();
        let (bound, meanings) = bind_view_query(&work.bind_context(&catalog, &path), &create.query)?;
        // Nobody may change what it is made of before it is there; what was changed while that was waited for is bound again.
        for used in &bound.uses {
            if let Some(relation) = catalog.relation(used.relation) {
                work.lock(relation, stoa_table::txn::TableLockMode::AccessShare).await?;
            }
        }
        work.refresh().await?;
        if std::sync::Arc::ptr_eq(&work.catalog(), &catalog) {
            break (catalog, bound, meanings);
        }
    };
    if !bound.params.is_empty() {
        return Err(PgError::new(SqlState::UNDEFINED_PARAMETER, "there is no parameter $1"));
    }
    if bound.ctes.iter().any(|cte| matches!(cte.body, CteBody::Mutation(_))) {
        return Err(PgError::unsupported("views must not contain data-modifying statements in WITH"));
    }
    let BoundBody::Query(query) = &bound.body else { return Err(PgError::internal("a view's query that is none")) };
    // A view over temporary relations is temporary.
    let over_temporary = bound
        .uses
        .iter()
        .any(|d| catalog.relation(d.relation).and_then(|r| catalog.schema(r.schema())).is_some_and(|s| s.temporary.is_some()));
    let temporary = create.temporary || over_temporary;
    if over_temporary && !create.temporary {
        work.notice(SqlState::SUCCESSFUL_COMPLETION, format!("view \"{}\" will be a temporary view", work.split(&create.name)?.1));
    }
    let (schema, name) = work.place(&create.name, temporary).await?;
    if create.columns.len() > query.outputs.len() {
        return Err(PgError::new(SqlState::SYNTAX_ERROR, "CREATE VIEW specifies more column names than columns"));
    }
    let mut columns: Vec<ViewColumn> = Vec::with_capacity(query.outputs.len());
    for (i, output) in query.outputs.iter().enumerate() {
        let name = create.columns.get(i).map_or_else(|| output.name.clone(), fold);
        if columns.iter().any(|c| c.name == name) {
            return Err(PgError::new(SqlState::DUPLICATE_COLUMN, format!("column \"{name}\" specified more than once")));
        }
        if output.ty.ty == PgType::Void {
            let message = format!("column \"{name}\" has pseudo-type void");
            return Err(PgError::new(SqlState::INVALID_TABLE_DEFINITION, message));
        }
        let ty = if output.ty.ty == PgType::Unknown {
            SqlType::new(PgType::Text)
        } else {
            SqlType::with_typmod(output.ty.ty.clone(), output.ty.typmod)
        };
        columns.push(ViewColumn { name, ty, comment: None, default: None });
    }
    let (sql, named) = text_of(&work.bind_context(&catalog, &path), &create.query, &meanings)?;
    let depends_on = dependencies(&bound.uses, &named);
    let old = catalog.relation_by_name(schema, &name).cloned();
    let mut view = ViewDescriptor {
        oid: 0,
        schema,
        name: name.clone(),
        columns,
        sql,
        depends_on,
        comment: None,
        materialized: None,
        unpopulated: false,
        check_option: check_option(&options),
        options,
    };
    check_checkable(&work.bind_context(&catalog, &path), &view)?;
    match old.as_deref() {
        Some(Relation::View(old)) if create.or_replace && old.materialized.is_none() => {
            check_replaceable(old, &view)?;
            view.oid = old.oid;
            view.comment.clone_from(&old.comment);
            for (column, before) in view.columns.iter_mut().zip(&old.columns) {
                column.comment.clone_from(&before.comment);
                column.default.clone_from(&before.default);
            }
            work.lock(&Relation::View(old.clone()), stoa_table::txn::TableLockMode::AccessExclusive).await?;
        }
        Some(other) if create.or_replace => {
            return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is not a view", other.name())));
        }
        _ => {
            work.check_free(schema, &name)?;
            view.oid = work.next_oid().await?;
        }
    }
    work.put(Relation::View(view))?;
    Ok(TAG.into())
}

/// The options of a view. There are no privileges that `security_invoker` and `security_barrier` could be about: they are kept and shown.
///
/// # Errors
/// 22023 for an option that there is none of, or a value that it does not take.
pub(super) fn set_options(kept: &mut Vec<(String, String)>, given: &[StorageOption]) -> PgResult<()> {
    let invalid = |message: String| PgError::new(SqlState::INVALID_PARAMETER_VALUE, message);
    for option in given {
        let name = option.name.as_str();
        let value = option.value.clone().unwrap_or_else(|| "true".into());
        match name {
            "check_option" if matches!(value.as_str(), "local" | "cascaded") => {}
            "check_option" => {
                return Err(invalid(format!("invalid value for enum option \"{name}\": {value}"))
                    .detail("Valid values are \"local\" and \"cascaded\"."));
            }
            "security_barrier" | "security_invoker" => {
                if !matches!(value.to_ascii_lowercase().as_str(), "true" | "on" | "yes" | "1" | "false" | "off" | "no" | "0") {
                    return Err(invalid(format!("invalid value for boolean option \"{name}\": {value}")));
                }
            }
            _ => return Err(invalid(format!("unrecognized parameter \"{name}\""))),
        }
        kept.retain(|(known, _)| known != name);
        kept.push((name.to_owned(), value));
    }
    Ok(())
}

/// What the options of a view say of rows that are written through it.
pub(super) fn check_option(options: &[(String, String)]) -> Option<String> {
    options.iter().find(|(name, _)| name == "check_option").map(|(_, value)| value.clone())
}

/// 0A000 for a check option of a view through which no rows are written.
pub(super) fn check_checkable(context: &BindContext<'_>, view: &ViewDescriptor) -> PgResult<()> {
    if view.check_option.is_none() {
        return Ok(());
    }
    match crate::bind::updatable::refusal(context, view) {
        Some(why) => Err(PgError::unsupported("WITH CHECK OPTION is supported only on automatically updatable views").hint(why)),
        None => Ok(()),
    }
}

/// CREATE OR REPLACE VIEW: columns stay, new ones may follow.
fn check_replaceable(old: &ViewDescriptor, new: &ViewDescriptor) -> PgResult<()> {
    let invalid = |message: String| PgError::new(SqlState::INVALID_TABLE_DEFINITION, message);
    if new.columns.len() < old.columns.len() {
        return Err(invalid("cannot drop columns from view".into()));
    }
    for (before, after) in old.columns.iter().zip(&new.columns) {
        if before.name != after.name {
            return Err(invalid(format!("cannot change name of view column \"{}\" to \"{}\"", before.name, after.name))
                .hint("Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead."));
        }
        if (&before.ty.ty, before.ty.typmod) != (&after.ty.ty, after.ty.typmod) {
            let show = |ty: &SqlType| stoa_pg::types::format_type(&ty.ty, ty.typmod);
            return Err(invalid(format!(
                "cannot change data type of view column \"{}\" from {} to {}",
                before.name,
                show(&before.ty),
                show(&after.ty)
            )));
        }
    }
    Ok(())
}

/// The text by which the query of a materialized view is kept, and what it depends on.
pub(crate) fn stored_text(work: Work<'_>, query: &ast::Query) -> PgResult<(String, Vec<Dependency>)> {
    let catalog = work.catalog();
    let path = work.path();
    let context = work.bind_context(&catalog, &path);
    let (bound, meanings) = bind_view_query(&context, query)?;
    let (sql, named) = text_of(&context, query, &meanings)?;
    Ok((sql, dependencies(&bound.uses, &named)))
}

/// What a query uses, and the relations that its literals name.
fn dependencies(uses: &[Dependency], named: &[Oid]) -> Vec<Dependency> {
    let mut out = uses.to_vec();
    for oid in named {
        if out.iter().all(|known| known.relation != *oid) {
            out.push(Dependency { relation: *oid, columns: Vec::new() });
        }
    }
    out
}

/// The text by which a query is kept, and the relations that its literals name.
fn text_of(context: &BindContext<'_>, query: &ast::Query, meanings: &Meanings) -> PgResult<(String, Vec<Oid>)> {
    let mut query = query.clone();
    let (given, ctes) = names_given(&query);
    let mut qualifier = Qualifier { context, meanings, given, ctes, shown: Vec::new(), aliases: HashMap::new(), error: None };
    let _ = VisitMut::visit(&mut query, &mut qualifier);
    match qualifier.error {
        Some(error) => Err(error),
        None => {
            let _ = VisitMut::visit(&mut query, &mut AliasesOfColumns { meanings, aliases: &qualifier.aliases });
            let named = super::view_relations::by_oid(context, &mut query);
            speak(&mut query);
            let text = said(&query.to_string());
            // A view that cannot be read again would be in the way of all that lists views.
            stoa_syntax::parse(&text).map_err(|_| {
                PgError::unsupported("views of this form are not supported")
                    .hint("The definition is kept as text, which could not be read again. Write its expressions in another form.")
            })?;
            Ok((text, named))
        }
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
}

impl VisitorMut for AliasesOfColumns<'_> {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<()> {
        // The columns that `*` stands for have the place of their table.
        let alias = |name: &Ident| self.aliases.get(self.meanings.names.get(&name.span).unwrap_or(&name.span)).cloned();
        match expr {
            ast::Expr::Identifier(name) => {
                let item = match self.meanings.columns.get(&name.span) {
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

fn quoted(name: &str) -> Ident {
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
        let mut names: Vec<String> = given.iter().flat_map(|a| a.columns.iter().map(|c| fold(&c.name))).collect();
        names.extend(columns.into_iter().skip(names.len()));
        let alias_name = match &given {
            Some(given) => given.name.clone(),
            None => {
                let alias = quoted(&self.alias_of(&schema.1, &relation));
                self.aliases.insert(place, alias.clone());
                alias
            }
        };
        *alias = Some(ast::TableAlias {
            explicit: false,
            name: alias_name,
            columns: names.iter().map(|n| ast::TableAliasColumnDef { name: quoted(n), data_type: None }).collect(),
            at: None,
        });
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<()> {
        if let Some(name) = super::view_relations::row_type(expr)
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
            match span.and_then(|span| self.meanings.stars.iter().find(|(s, _)| *s == span)) {
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
    let exists =
        |oid: Oid, schema: &str| catalog.relation_by_name(oid, &relation).is_some() || crate::virtual_tables::exists(schema, &relation);
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

fn columns_of(relation: &Relation) -> Vec<String> {
    match relation {
        Relation::Table(table) => table.visible_columns().map(|c| c.name.clone()).collect(),
        Relation::View(view) => view.columns.iter().map(|c| c.name.clone()).collect(),
        Relation::Sequence(_) => Vec::new(),
    }
}

/// Changes FROM items of stored texts.
struct Change<F: FnMut(&mut ObjectName, &mut Option<ast::TableAlias>)>(F);

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
        if let Some(name) = super::view_relations::row_type(expr) {
            (self.0)(name, &mut None);
        }
        ControlFlow::Continue(())
    }
}

fn change_text(sql: &str, change: impl FnMut(&mut ObjectName, &mut Option<ast::TableAlias>)) -> PgResult<String> {
    let mut parsed = stoa_syntax::parse(sql).map_err(crate::bind::syntax_error)?;
    let Some(first) = parsed.first_mut() else { return Ok(sql.to_owned()) };
    let _ = VisitMut::visit(&mut first.statement, &mut Change(change));
    speak(&mut first.statement);
    Ok(said(&first.statement.to_string()))
}

fn change_views(
    work: Work<'_>,
    uses: impl Fn(&ViewDescriptor) -> bool,
    mut change: impl FnMut(&mut ObjectName, &mut Option<ast::TableAlias>),
) -> PgResult<()> {
    let catalog = work.catalog();
    for relation in catalog.relations() {
        let Relation::View(view) = &**relation else { continue };
        if uses(view) {
            let sql = change_text(&view.sql, &mut change)?;
            work.put(Relation::View(ViewDescriptor { sql, ..view.clone() }))?;
        }
    }
    Ok(())
}

/// A relation has another name or another schema: the views over it follow.
pub(crate) fn relation_renamed(work: Work<'_>, oid: Oid, old: (&str, &str), new: (&str, &str)) -> PgResult<()> {
    change_views(
        work,
        |view| view.depends_on.iter().any(|d| d.relation == oid),
        |name, _| {
            if name_parts(name).is_ok_and(|p| p == [old.0, old.1]) {
                *name = ObjectName(vec![ObjectNamePart::Identifier(quoted(new.0)), ObjectNamePart::Identifier(quoted(new.1))]);
            }
        },
    )
}

/// A schema has another name.
pub(crate) fn schema_renamed(work: Work<'_>, old: &str, new: &str) -> PgResult<()> {
    change_views(
        work,
        |_| true,
        |name, _| {
            if let Ok([schema, relation]) = name_parts(name).as_deref()
                && schema == old
            {
                *name = ObjectName(vec![ObjectNamePart::Identifier(quoted(new)), ObjectNamePart::Identifier(quoted(relation))]);
            }
        },
    )
}

/// The `n`-th visible column of a relation is gone, and no view uses it: the lists of columns get shorter.
pub(crate) fn column_dropped(work: Work<'_>, oid: Oid, qualified: (&str, &str), n: usize) -> PgResult<()> {
    change_views(
        work,
        |view| view.depends_on.iter().any(|d| d.relation == oid),
        |name, alias| {
            if name_parts(name).is_ok_and(|p| p == [qualified.0, qualified.1])
                && let Some(alias) = alias
                && n < alias.columns.len()
            {
                alias.columns.remove(n);
            }
        },
    )
}

/// The text that `pg_get_viewdef` shows: schemas and lists of columns only where they say something.
///
/// Operators stand in parentheses, as in all that PostgreSQL prints of what it stores; `pretty` leaves them as they were written.
pub(crate) fn definition(catalog: &CatalogSnapshot, path: &[Oid], view: &ViewDescriptor, pretty: bool) -> PgResult<String> {
    let mut parsed = stoa_syntax::parse(&view.sql).map_err(crate::bind::syntax_error)?;
    let Some(ast::Statement::Query(query)) = parsed.first_mut().map(|p| &mut p.statement) else { return Ok(view.sql.clone()) };
    super::view_relations::by_name(catalog, path, query);
    let mut known = Vec::new();
    columns_of_each(&query.body, &mut known);
    let mut change = Change(|name: &mut ObjectName, alias: &mut Option<ast::TableAlias>| {
        let Ok([schema, relation]) = <[String; 2]>::try_from(name_parts(name).unwrap_or_default()) else { return };
        let Some(found) = catalog.schema_by_name(&schema) else { return };
        let visible =
            path.iter().find(|oid| catalog.relation_by_name(**oid, &relation).is_some()) == Some(&found.oid) || found.oid == PG_CATALOG_OID;
        if visible {
            *name = ObjectName(vec![ObjectNamePart::Identifier(quoted(&relation))]);
        }
        if let (Some(a), Some(target)) = (alias.as_mut(), catalog.relation_by_name(found.oid, &relation)) {
            let now = columns_of(target);
            if a.columns.iter().zip(&now).all(|(c, n)| fold(&c.name) == *n) {
                a.columns.clear();
            }
        }
        if alias.as_ref().is_some_and(|a| a.columns.is_empty() && fold(&a.name) == relation) {
            *alias = None;
        }
    });
    let _ = VisitMut::visit(query, &mut change);
    if !pretty {
        let _ = VisitMut::visit(query, &mut Parentheses);
    }
    speak(query);
    Ok(format!("{};", spoken(&said(&lay_out(query, &view.columns, &known, pretty)))))
}

/// Puts every operation with two operands in parentheses, but what is on the left of the same AND or OR.
struct Parentheses;

impl VisitorMut for Parentheses {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<()> {
        match expr {
            ast::Expr::BinaryOp { left, op, .. } => {
                if let ast::Expr::Nested(inner) = left.as_ref()
                    && let ast::Expr::BinaryOp { op: below, .. } = inner.as_ref()
                    && below == op
                    && matches!(op, ast::BinaryOperator::And | ast::BinaryOperator::Or)
                {
                    *left = inner.clone();
                }
                *expr = ast::Expr::Nested(Box::new(expr.clone()));
            }
            ast::Expr::Nested(inner) if matches!(inner.as_ref(), ast::Expr::Nested(_)) => {
                let inner = inner.as_ref().clone();
                *expr = inner;
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// The columns of the only table in FROM, as a stored text calls them; none if there are more.
fn columns_of_single(select: &ast::Select) -> Vec<String> {
    let [ast::TableWithJoins { relation: TableFactor::Table { name, alias, .. }, joins }] = select.from.as_slice() else {
        return Vec::new();
    };
    let listed: Vec<String> = alias.iter().flat_map(|a| a.columns.iter().map(|c| fold(&c.name))).collect();
    if !joins.is_empty() || !listed.is_empty() {
        return listed;
    }
    match name_parts(name).as_deref() {
        Ok([schema, relation]) => {
            crate::virtual_tables::columns(schema, relation).into_iter().flatten().map(|(column, _)| column).collect()
        }
        _ => Vec::new(),
    }
}

/// [`columns_of_single`] of the SELECTs that set operations connect, from left to right.
fn columns_of_each(body: &ast::SetExpr, out: &mut Vec<Vec<String>>) {
    match body {
        ast::SetExpr::Select(select) => out.push(columns_of_single(select)),
        ast::SetExpr::SetOperation { left, right, .. } => {
            columns_of_each(left, out);
            columns_of_each(right, out);
        }
        _ => {}
    }
}

/// Puts the clauses that sqlparser's tree has no place for where it prints a name as it is: behind a NUL, which no text of a client
/// contains and [`said`] takes away.
fn speak(tree: &mut impl VisitMut) {
    struct Clauses;
    impl VisitorMut for Clauses {
        type Break = ();
        fn pre_visit_query(&mut self, query: &mut ast::Query) -> ControlFlow<()> {
            for cte in query.with.iter_mut().flat_map(|w| &mut w.cte_tables) {
                let mut clauses = Vec::new();
                cte.alias.columns.retain(|column| match clause_of_cte(&column.name.value) {
                    Some(clause) => {
                        clauses.push(clause);
                        false
                    }
                    None => true,
                });
                if !clauses.is_empty() {
                    cte.from = Some(Ident::new(format!("\0{}", clauses.join(" "))));
                }
            }
            for lock in &mut query.locks {
                let (strength, tables) = stoa_syntax::locking::strength_and_tables(lock);
                let mut clause = format!("\0{}", strength.clause());
                if let Some(tables) = tables {
                    let names: Vec<String> = tables.iter().map(ToString::to_string).collect();
                    clause.push_str(&format!(" OF {}", names.join(", ")));
                }
                lock.of = Some(ObjectName::from(vec![Ident::new(clause)]));
            }
            ControlFlow::Continue(())
        }
    }
    let _ = VisitMut::visit(tree, &mut Clauses);
}

/// The text of a tree that [`speak`] changed.
fn said(text: &str) -> String {
    text.replace(" FROM \0", " ").replace("FOR UPDATE OF \0", "").replace("FOR SHARE OF \0", "")
}

/// SEARCH or CYCLE, if a column of a CTE's alias stands for that.
fn clause_of_cte(column: &str) -> Option<String> {
    let quote = crate::catalog::deparse::quote_name;
    let list = |names: &[&str]| names.iter().map(|n| quote(n)).collect::<Vec<_>>().join(", ");
    let parts: Vec<&str> = column.split(marks::PART).collect();
    match parts.as_slice() {
        [marks::SEARCH, order, by @ .., sequence] => Some(format!("SEARCH {order} FIRST BY {} SET {}", list(by), quote(sequence))),
        [marks::CYCLE, by @ .., mark, path, value, default] => {
            let values = if (*value, *default) == ("true", "false") { String::new() } else { format!(" TO {value} DEFAULT {default}") };
            Some(format!("CYCLE {} SET {}{values} USING {}", list(by), quote(mark), quote(path)))
        }
        _ => None,
    }
}

/// What stands as a mark in a stored text, as it is written in SQL.
fn spoken(text: &str) -> String {
    let mut text = text.replace(&format!("\"{}\"(", marks::ROWS_FROM), "ROWS FROM(");
    text = text.replace(&format!("GROUP BY \"{}\"(), ", marks::GROUP_BY_DISTINCT), "GROUP BY DISTINCT ");
    let alias = format!(", \"{}", marks::USING_ALIAS);
    while let Some(at) = text.find(&alias)
        && let Some(length) = text[at..].find("\")")
    {
        let name = crate::catalog::deparse::quote_name(&text[at + alias.len()..at + length]);
        text.replace_range(at..at + length + 2, &format!(") AS {name}"));
    }
    for exclude in marks::EXCLUDE {
        let mark = format!("\"{exclude}\"()");
        while let Some(at) = text.find(&mark) {
            let end = at + mark.len();
            let mut depth = 0_u32;
            let close = text[end..].find(|c| {
                let closes = c == ')' && depth == 0;
                match c {
                    '(' => depth += 1,
                    ')' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                closes
            });
            let Some(close) = close else { return text };
            text.insert_str(end + close, &format!(" {}", exclude.to_uppercase()));
            // It is the last that PARTITION BY lists, or all of it.
            let before = [", ", "PARTITION BY "].into_iter().find(|before| text[..at].ends_with(before)).map_or(0, str::len);
            let space = usize::from(!text[..at].ends_with(", ") && text[end..].starts_with(' '));
            text.replace_range(at - before..end + space, "");
        }
    }
    text
}

/// A query over lines as PostgreSQL prints it, as far as its outermost SELECTs go. `known` are the columns of the only table of each.
fn lay_out(query: &ast::Query, columns: &[ViewColumn], known: &[Vec<String>], pretty: bool) -> String {
    let mut known = known.iter();
    let body = if query.with.is_some() { None } else { lay_out_body(&query.body, columns, &mut known, pretty) };
    let Some(mut out) = body else { return format!(" {query}") };
    if let Some(order) = &query.order_by {
        out.push_str(&format!("\n  {order}"));
    }
    if let Some(limit) = &query.limit_clause {
        out.push_str(&format!("\n {}", limit.to_string().trim()));
    }
    if let Some(fetch) = &query.fetch {
        out.push_str(&format!("\n {fetch}"));
    }
    for lock in &query.locks {
        out.push_str(&format!("\n {lock}"));
    }
    out
}

/// SELECTs and set operations of them; none for what else there is.
fn lay_out_body(
    body: &ast::SetExpr,
    columns: &[ViewColumn],
    known: &mut std::slice::Iter<'_, Vec<String>>,
    pretty: bool,
) -> Option<String> {
    match body {
        ast::SetExpr::Select(select) => Some(lay_out_select(select, columns, known.next().map_or(&[], Vec::as_slice), pretty)),
        ast::SetExpr::SetOperation { op, set_quantifier, left, right } => {
            let all = match set_quantifier {
                ast::SetQuantifier::All => " ALL",
                ast::SetQuantifier::None | ast::SetQuantifier::Distinct => "",
                _ => return None,
            };
            if !matches!(right.as_ref(), ast::SetExpr::Select(_)) {
                return None;
            }
            let left_text = lay_out_body(left, columns, known, pretty)?;
            let right_text = lay_out_body(right, columns, known, pretty)?;
            Some(format!("{left_text}\n{op}{all}\n{right_text}"))
        }
        _ => None,
    }
}

/// An item of FROM with its joins, one a line.
fn lay_out_joins(item: &ast::TableWithJoins, pretty: bool) -> String {
    let mut out = match &item.relation {
        // The joins on the left come first anyway.
        TableFactor::NestedJoin { table_with_joins, alias: None } => lay_out_joins(table_with_joins, pretty),
        other => other.to_string(),
    };
    for join in &item.joins {
        let (word, constraint) = match &join.join_operator {
            ast::JoinOperator::Join(c) | ast::JoinOperator::Inner(c) => ("JOIN", Some(c)),
            ast::JoinOperator::Left(c) | ast::JoinOperator::LeftOuter(c) => ("LEFT JOIN", Some(c)),
            ast::JoinOperator::Right(c) | ast::JoinOperator::RightOuter(c) => ("RIGHT JOIN", Some(c)),
            ast::JoinOperator::FullOuter(c) => ("FULL JOIN", Some(c)),
            ast::JoinOperator::CrossJoin(c) => ("CROSS JOIN", Some(c)),
            _ => ("", None),
        };
        let right = match &join.relation {
            TableFactor::NestedJoin { table_with_joins, alias: None } if pretty => {
                format!("({})", lay_out_joins(table_with_joins, pretty))
            }
            TableFactor::NestedJoin { table_with_joins, alias: None } => lay_out_joins(table_with_joins, pretty),
            other => other.to_string(),
        };
        let text = match constraint {
            Some(ast::JoinConstraint::None) => format!("{word} {right}"),
            Some(ast::JoinConstraint::On(e)) if pretty => format!("{word} {right} ON {}", unnested(e)),
            Some(ast::JoinConstraint::On(e)) => format!("{word} {right} ON ({e})"),
            Some(ast::JoinConstraint::Using(columns)) => {
                let list: Vec<String> = columns.iter().map(ToString::to_string).collect();
                format!("{word} {right} USING ({})", list.join(", "))
            }
            _ => join.to_string().trim().to_owned(),
        };
        out = if pretty { format!("{out}\n     {text}") } else { format!("({out}\n     {text})") };
    }
    out
}

fn unnested(expr: &ast::Expr) -> &ast::Expr {
    match expr {
        ast::Expr::Nested(inner) => unnested(inner),
        other => other,
    }
}

fn lay_out_select(select: &ast::Select, columns: &[ViewColumn], known: &[String], pretty: bool) -> String {
    // Columns are shown with the table's name, as PostgreSQL does.
    let single = match select.from.as_slice() {
        [ast::TableWithJoins { relation: TableFactor::Table { name, alias, .. }, joins }] if joins.is_empty() => {
            alias.as_ref().map(|a| a.name.clone()).or_else(|| name.0.last().and_then(|p| p.as_ident().cloned()))
        }
        _ => None,
    };
    let show = |expr: &ast::Expr| {
        let mut expr = expr.clone();
        if let Some(table) = &single {
            qualify(&mut expr, table, known);
        }
        expr.to_string()
    };
    // Printed without parentheses of its own, a condition that has some would gain more each time it is read again.
    let condition = |expr: &ast::Expr| {
        if pretty {
            return show(unnested(expr));
        }
        let text = show(expr);
        let plain = matches!(expr, ast::Expr::Identifier(_) | ast::Expr::CompoundIdentifier(_) | ast::Expr::Nested(_));
        if plain { text } else { format!("({text})") }
    };
    let items: Vec<String> = select
        .projection
        .iter()
        .enumerate()
        .map(|(i, item)| {
            let (text, own) = match item {
                SelectItem::UnnamedExpr(e) => (show(e), own_name(e)),
                SelectItem::ExprWithAlias { expr, alias: _ } => (show(expr), own_name(expr)),
                other => (other.to_string(), None),
            };
            match columns.get(i) {
                Some(column) if own.as_deref() != Some(&column.name) => {
                    format!("{text} AS {}", crate::catalog::deparse::quote_name(&column.name))
                }
                _ => text,
            }
        })
        .collect();
    let hints: String = select.optimizer_hints.iter().map(|h| format!("{h} ")).collect();
    let distinct = match &select.distinct {
        Some(ast::Distinct::Distinct) => "DISTINCT ".to_owned(),
        Some(ast::Distinct::On(exprs)) => format!("DISTINCT ON ({}) ", exprs.iter().map(&show).collect::<Vec<_>>().join(", ")),
        Some(ast::Distinct::All) | None => String::new(),
    };
    let mut out = format!(" SELECT {hints}{distinct}{}", items.join(",\n    "));
    if !select.from.is_empty() {
        let from: Vec<String> = select.from.iter().map(|item| lay_out_joins(item, pretty)).collect();
        out.push_str(&format!("\n   FROM {}", from.join(",\n    ")));
    }
    if let Some(selection) = &select.selection {
        out.push_str(&format!("\n  WHERE {}", condition(selection)));
    }
    match &select.group_by {
        ast::GroupByExpr::Expressions(exprs, _) if !exprs.is_empty() => {
            let list: Vec<String> = exprs.iter().map(show).collect();
            out.push_str(&format!("\n  GROUP BY {}", list.join(", ")));
        }
        _ => {}
    }
    if let Some(having) = &select.having {
        out.push_str(&format!("\n HAVING {}", condition(having)));
    }
    if !select.named_window.is_empty() {
        let mut windows = select.named_window.clone();
        if let Some(table) = &single {
            windows.iter_mut().for_each(|w| qualify(w, table, known));
        }
        let list: Vec<String> = windows.iter().map(ToString::to_string).collect();
        out.push_str(&format!("\n  WINDOW {}", list.join(", ")));
    }
    out
}

fn own_name(expr: &ast::Expr) -> Option<String> {
    match expr {
        ast::Expr::Identifier(ident) => Some(fold(ident)),
        ast::Expr::CompoundIdentifier(parts) => parts.last().map(fold),
        _ => None,
    }
}

/// Puts the table's name before the columns of it.
fn qualify(tree: &mut impl VisitMut, table: &Ident, known: &[String]) {
    struct Columns<'a>(&'a Ident, &'a [String], usize);
    impl VisitorMut for Columns<'_> {
        type Break = ();
        fn pre_visit_query(&mut self, _: &mut ast::Query) -> ControlFlow<()> {
            self.2 += 1;
            ControlFlow::Continue(())
        }
        fn post_visit_query(&mut self, _: &mut ast::Query) -> ControlFlow<()> {
            self.2 -= 1;
            ControlFlow::Continue(())
        }
        fn pre_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<()> {
            match expr {
                ast::Expr::Identifier(ident) if self.2 == 0 && self.1.contains(&fold(ident)) => {
                    *expr = ast::Expr::CompoundIdentifier(vec![self.0.clone(), ident.clone()]);
                }
                // The names of fields are no columns, and look so no more.
                ast::Expr::CompoundFieldAccess { access_chain, .. } => {
                    for access in access_chain {
                        if let ast::AccessExpr::Dot(field) = access
                            && let ast::Expr::Identifier(ident) = field
                        {
                            *field = ast::Expr::CompoundIdentifier(vec![ident.clone()]);
                        }
                    }
                }
                _ => {}
            }
            ControlFlow::Continue(())
        }
    }
    let _ = VisitMut::visit(tree, &mut Columns(table, known, 0));
}

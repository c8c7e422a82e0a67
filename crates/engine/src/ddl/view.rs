//! CREATE VIEW, and what becomes of the texts of views when what they name changes ([`stoa_sql::definition::view_text`]).

use super::work::Work;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_sql::bind::{BindContext, bind_view_query, collation, fold, name_parts};
use stoa_sql::catalog::deparse::quote_name;
use stoa_sql::definition::view_text::{change_text, dependencies, quoted, text_of};
use stoa_sql::typed::tree::{Bound, BoundBody, CteBody};
use stoa_syntax::ast::{self, ObjectName, ObjectNamePart};
use stoa_syntax::ddl::{CreateView, StorageOption};
use stoa_table::catalog::{
    CatalogSnapshot, ColumnId, Dependency, Oid, PolicyCondition, PolicyDescriptor, Relation, TableDescriptor, ViewColumn, ViewDescriptor,
};

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
    let catalog = work.catalog();
    let (bound, meanings) = bind_view_query(&work.bind_context(&catalog, &path), &create.query)?;
    // Nobody may change what it is made of before it is there.
    work.lock_used(&bound, &catalog).await?;
    if !bound.params.is_empty() {
        return Err(PgError::new(SqlState::UNDEFINED_PARAMETER, "there is no parameter $1"));
    }
    if bound.ctes.iter().any(|cte| matches!(cte.body, CteBody::Mutation(_))) {
        return Err(PgError::unsupported("views must not contain data-modifying statements in WITH"));
    }
    let BoundBody::Query(query) = &bound.body else { return Err(PgError::internal("a view's query that is none")) };
    // A view over temporary relations is temporary.
    let over_temporary = reads_temporary(&bound, &catalog);
    let temporary = create.temporary || over_temporary;
    if over_temporary && !create.temporary {
        work.notice(SqlState::SUCCESSFUL_COMPLETION, format!("view \"{}\" will be a temporary view", work.split(&create.name)?.1));
    }
    let (schema, name) = work.place(&create.name, temporary).await?;
    if create.columns.len() > query.outputs.len() {
        return Err(PgError::new(SqlState::SYNTAX_ERROR, "CREATE VIEW specifies more column names than columns"));
    }
    let outputs: Vec<_> = query.outputs.iter().map(|output| (&output.ty.ty, output.origin)).collect();
    let mut collations = collation::of_outputs(&catalog, Some(&create.query), &outputs)?.into_iter();
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
        columns.push(ViewColumn { name, ty, comment: None, default: None, collation: collations.next().flatten() });
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

/// The options of a view.
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
    match stoa_sql::bind::updatable::refusal(context, view) {
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

/// Changes the texts of views and policies that use something.
fn change_texts(
    work: Work<'_>,
    uses: impl Fn(&[Dependency]) -> bool,
    mut change: impl FnMut(&mut ObjectName, &mut Option<ast::TableAlias>),
) -> PgResult<()> {
    let catalog = work.catalog();
    for relation in catalog.relations() {
        match &**relation {
            Relation::View(view) if uses(&view.depends_on) => {
                let sql = change_text(&view.sql, &mut change)?;
                if sql != view.sql {
                    work.put(Relation::View(ViewDescriptor { sql, ..view.clone() }))?;
                }
            }
            Relation::Table(table) => {
                let mut changed = table.clone();
                for condition in changed.row_security.policies.iter_mut().flat_map(PolicyDescriptor::conditions_mut) {
                    if uses(&condition.depends_on) {
                        condition.sql = change_text(&condition.sql, &mut change)?;
                    }
                }
                if changed.row_security != table.row_security {
                    work.put(Relation::Table(changed))?;
                }
            }
            Relation::View(_) | Relation::Sequence(_) => {}
        }
    }
    Ok(())
}

/// A relation has another name or another schema: the views over it and the policies that read it follow.
pub(crate) fn relation_renamed(work: Work<'_>, oid: Oid, old: (&str, &str), new: (&str, &str)) -> PgResult<()> {
    change_texts(
        work,
        |depends_on| depends_on.iter().any(|d| d.relation == oid),
        |name, _| {
            if name_parts(name).is_ok_and(|p| p == [old.0, old.1]) {
                *name = ObjectName(vec![ObjectNamePart::Identifier(quoted(new.0)), ObjectNamePart::Identifier(quoted(new.1))]);
            }
        },
    )
}

/// A schema has another name.
pub(crate) fn schema_renamed(work: Work<'_>, old: &str, new: &str) -> PgResult<()> {
    change_texts(
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

/// A table has got a column, which may be what views and policies named with a type as an undeclared one: they depend on it then.
pub(super) fn column_added(work: Work<'_>, oid: Oid) -> PgResult<()> {
    let uses = |depends_on: &[Dependency]| depends_on.iter().any(|d| d.relation == oid);
    for relation in work.catalog().relations() {
        match &**relation {
            Relation::View(view) if uses(&view.depends_on) => {
                let depends_on = depends_now(work, view)?;
                if depends_on != view.depends_on {
                    work.put(Relation::View(ViewDescriptor { depends_on, ..view.clone() }))?;
                }
            }
            Relation::Table(table) => {
                let mut changed = table.clone();
                for policy in &mut changed.row_security.policies {
                    let named = format!("Policy {} of table {} names it with its type.", quote_name(&policy.name), quote_name(&table.name));
                    for condition in policy.conditions_mut().filter(|condition| uses(&condition.depends_on)) {
                        condition.depends_on = policy_depends_now(work, condition).map_err(|error| error.detail(named.as_str()))?;
                    }
                }
                if changed.row_security != table.row_security {
                    work.put(Relation::Table(changed))?;
                }
            }
            Relation::View(_) | Relation::Sequence(_) => {}
        }
    }
    Ok(())
}

/// A column has another name: a view or a policy that names it with a type would read an undeclared column from now on.
///
/// # Errors
/// 0A000.
pub(super) fn column_renamed(work: Work<'_>, table: &TableDescriptor, column: ColumnId) -> PgResult<()> {
    let uses = |depends_on: &[Dependency]| depends_on.iter().any(|d| d.relation == table.oid && d.columns.contains(&column));
    let refusal = |what: String, hint: &str| {
        let name = table.column(column).map_or_else(String::new, |c| quote_name(&c.name));
        PgError::unsupported(format!("cannot rename column {name} of table {}", quote_name(&table.name)))
            .detail(format!("{what} names it with its type, as an undeclared column."))
            .hint(hint)
    };
    for relation in work.catalog().relations() {
        match &**relation {
            Relation::View(view) if uses(&view.depends_on) && !uses(&depends_now(work, view)?) => {
                let what = format!("View {}", quote_name(&view.name));
                return Err(refusal(what, "Replace the view by one that reads the column as a declared one."));
            }
            Relation::Table(of) => {
                for policy in &of.row_security.policies {
                    for condition in policy.conditions().filter(|condition| uses(&condition.depends_on)) {
                        if !uses(&policy_depends_now(work, condition)?) {
                            let what = format!("Policy {} of table {}", quote_name(&policy.name), quote_name(&of.name));
                            return Err(refusal(what, "ALTER POLICY … ON … USING (…) names the column as a declared one."));
                        }
                    }
                }
            }
            Relation::View(_) | Relation::Sequence(_) => {}
        }
    }
    Ok(())
}

/// What a condition of a policy depends on, as its text is read now.
fn policy_depends_now(work: Work<'_>, condition: &PolicyCondition) -> PgResult<Vec<Dependency>> {
    let (catalog, path) = (work.catalog(), work.path());
    let parsed = stoa_syntax::parse(&condition.sql).map_err(stoa_sql::bind::syntax_error)?;
    let Some(ast::Statement::Query(query)) = parsed.into_iter().next().map(|p| p.statement) else {
        return Err(PgError::internal("a condition of a policy that is not a query"));
    };
    let bound = stoa_sql::bind::bind_kept_condition(&work.bind_context(&catalog, &path), &query)?;
    let named: Vec<Oid> = condition.depends_on.iter().map(|d| d.relation).collect();
    Ok(dependencies(&bound.uses, &named))
}

/// What a view depends on, as its text is read now.
fn depends_now(work: Work<'_>, view: &ViewDescriptor) -> PgResult<Vec<Dependency>> {
    let (catalog, path) = (work.catalog(), work.path());
    let parsed = stoa_syntax::parse(&view.sql).map_err(stoa_sql::bind::syntax_error)?;
    let Some(ast::Statement::Query(query)) = parsed.into_iter().next().map(|p| p.statement) else {
        return Err(PgError::internal(format!("the definition of view \"{}\" is not a query", view.name)));
    };
    let bound = stoa_sql::bind::bind_stored_query(&work.bind_context(&catalog, &path), view.oid, &query)?;
    let named: Vec<Oid> = view.depends_on.iter().map(|d| d.relation).collect();
    Ok(dependencies(&bound.uses, &named))
}

/// The `n`-th visible column of a relation is gone, and no view or policy uses it: the lists of columns get shorter.
pub(crate) fn column_dropped(work: Work<'_>, oid: Oid, qualified: (&str, &str), n: usize) -> PgResult<()> {
    change_texts(
        work,
        |depends_on| depends_on.iter().any(|d| d.relation == oid),
        |name, alias| {
            if name_parts(name).is_ok_and(|p| p == [qualified.0, qualified.1])
                && let Some(alias) = alias
            {
                // Undeclared columns, which have types there, are no columns of the table.
                let listed = alias.columns.iter().enumerate().filter(|(_, column)| column.data_type.is_none()).nth(n);
                if let Some((at, _)) = listed {
                    alias.columns.remove(at);
                }
            }
        },
    )
}

/// Whether a query reads what a session has for itself.
pub(super) fn reads_temporary(bound: &Bound, catalog: &CatalogSnapshot) -> bool {
    let temporary = |relation| catalog.relation(relation).and_then(|r| catalog.schema(r.schema())).is_some_and(|s| s.temporary.is_some());
    bound.uses.iter().any(|used| temporary(used.relation))
}

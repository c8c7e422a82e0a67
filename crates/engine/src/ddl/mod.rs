//! Statements that define, change and remove objects.
//!
//! [`execute`] is the entry. Descriptors are changed in the transaction's catalog and take effect for others when it commits; see
//! [`work`] for what keeps that true. Reading order: [`work`] → [`builder`] → [`rows`] → [`table`] → [`index`] → [`sequence`] →
//! [`view`] → [`dependency`] → [`undrop`] → [`alter`] → [`expiry`] → [`data_time`] → [`maintenance`]; [`stoa_sql::definition::written_time`] is a detail of defaults.

mod alter;
mod alter_column;
mod alter_constraint;
mod alter_family;
mod alter_index;
mod alter_view;
mod builder;
mod data_time;
mod database;
mod dependency;
mod dynamic;
mod entry_index;
#[cfg(test)]
mod epoch_tests;
pub(crate) mod expiry;
mod foreign;
mod foreign_key;
mod grant;
mod index;
#[cfg(test)]
pub(crate) mod index_tests;
mod large_object;
mod lifetime;
mod like;
mod maintenance;
mod map;
mod owner;
mod passes;
mod policy;
mod qualifiers;
mod raw;
mod replica_identity;
mod restore;
mod rights;
mod role;
mod row_key;
mod rows;
mod sequence;
pub(crate) mod split;
mod storage_parameters;
mod table;
pub(crate) mod undrop;
pub(crate) mod view;
mod work;

pub use maintenance::{analyze, checkpoint, drop_temporary, end_of_transaction, lock_tables, set_constraints, vacuum};

use dependency::{Dropping, Object};
use std::sync::Arc;
use stoa_exec::nodes::StatementContext;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::bind::fold;
use stoa_sql::typed::tree::Bound;
use stoa_syntax::ast::{self, ObjectName};
use stoa_syntax::ddl::{CommentTarget, CreateTableAs, Ddl, ObjectKind, SequenceOption};
use stoa_syntax::rights::RoleRef;
use stoa_table::catalog::{Relation, Rights, RightsOf, SchemaDescriptor, SequenceDescriptor, TableDescriptor};
use stoa_table::txn::TableLockMode;
use work::undefined_schema;
pub(crate) use work::{FoundIndex, Work, undefined_relation};

/// Executes a statement; gives its command tag.
///
/// # Errors
/// What PostgreSQL raises for the statement, and 0A000 for what Stoa does not do.
pub async fn execute(ctx: &StatementContext, ddl: &Ddl) -> PgResult<String> {
    run(Work { ctx }, ddl).await
}

/// Executes `SELECT … INTO`; gives its command tag.
///
/// # Errors
/// As [`execute`].
pub async fn select_into(ctx: &StatementContext, query: &ast::Query) -> PgResult<String> {
    table::select_into(Work { ctx }, query).await
}

/// Executes CREATE TABLE AS with a query that is bound; gives its command tag.
///
/// # Errors
/// As [`execute`].
pub async fn create_table_as(ctx: &StatementContext, create: &CreateTableAs, query: Bound) -> PgResult<String> {
    table::create_as(Work { ctx }, create, Some(query)).await
}

fn run<'a>(work: Work<'a>, ddl: &'a Ddl) -> futures::future::BoxFuture<'a, PgResult<String>> {
    Box::pin(async move {
        rights::check(&work, ddl)?;
        match ddl {
            Ddl::CreateSchema { name, owner, if_not_exists, elements } => {
                create_schema(work, name.as_ref(), owner.as_ref(), *if_not_exists, elements).await
            }
            Ddl::CreateTable(create) => table::create(work, create).await,
            Ddl::CreateTableAs(create) => table::create_as(work, create, None).await,
            Ddl::CreateView(create) => view::create(work, create).await,
            Ddl::CreateIndex(create) => entry_index::create(work, create).await,
            Ddl::CreateSequence(create) => sequence::create(work, create).await,
            Ddl::Alter { kind, name, if_exists, actions } => alter::alter(work, *kind, name, *if_exists, actions).await,
            Ddl::AlterSequence { name, if_exists, options } => sequence::alter(work, name, *if_exists, options).await,
            Ddl::Drop { kind, names, on, if_exists, cascade, concurrently, purge } => {
                if let (Some(on), Some(name)) = (on, names.first()) {
                    index::check_owner(work, name, on, *if_exists)?;
                }
                if *concurrently && names.len() > 1 {
                    return Err(PgError::unsupported("DROP INDEX CONCURRENTLY does not support dropping multiple objects"));
                }
                if *concurrently && *cascade {
                    return Err(PgError::unsupported("DROP INDEX CONCURRENTLY does not support CASCADE"));
                }
                drop_objects(work, *kind, names, *if_exists, (*cascade, *purge)).await
            }
            Ddl::AlterLargeObject { oid, owner } => large_object::change_owner(work, oid, owner).await,
            Ddl::Undrop { table, rename } => undrop::undrop(work, table, rename.as_ref()).await,
            Ddl::DropFullText { table, if_exists } => index::drop_full_text(work, table, *if_exists).await,
            Ddl::Truncate { names, restart_identity, cascade } => maintenance::truncate(work, names, *restart_identity, *cascade).await,
            Ddl::Comment { target, text } => comment(work, target, text.clone()).await,
            Ddl::Reindex { target, concurrently } => index::reindex(work, target, *concurrently).await,
            Ddl::Refresh { name, concurrently, with_data } => table::refresh(work, name, *concurrently, *with_data).await,
            Ddl::DropUnknown { kind, names, if_exists } => drop_unknown(&work, kind, names, *if_exists),
            Ddl::Role(statement) => role::execute(work, statement).await,
            Ddl::Database(statement) => database::execute(work, statement).await,
            Ddl::Policy(statement) => policy::execute(work, statement).await,
            Ddl::Grant(statement) => grant::execute(work, statement).await,
            Ddl::DefaultPrivileges(statement) => grant::change_defaults(work, statement).await,
            Ddl::Unsupported(words) => Err(unsupported(words)),
        }
    })
}

fn unsupported(words: &str) -> PgError {
    let error = PgError::unsupported(format!("{words} is not supported"));
    match words {
        "CREATE FUNCTION" | "CREATE PROCEDURE" | "CREATE TRIGGER" | "CREATE LANGUAGE" => error.hint("There is no procedural language."),
        "CREATE EXTENSION" | "ALTER EXTENSION" => error.hint("There are no extensions: what Stoa has is built in."),
        "CREATE TYPE" | "CREATE DOMAIN" => error.hint("Use a built-in type and a CHECK constraint."),
        _ => error,
    }
}

/// DROP of kinds of objects that there are none of.
fn drop_unknown(work: &Work<'_>, kind: &str, names: &[(String, Option<String>, Option<String>)], if_exists: bool) -> PgResult<String> {
    for (name, arguments, table) in names {
        let unquoted = name.trim_matches('"');
        let there = match kind {
            "collation" => stoa_pg::collation::named(unquoted).is_some(),
            "tablespace" => matches!(unquoted, "pg_default" | "pg_global"),
            "text search configuration" => matches!(unquoted, "simple" | "english"),
            _ => false,
        };
        if there {
            return Err(unsupported(&format!("DROP {}", kind.to_uppercase())));
        }
        let function = matches!(kind, "function" | "procedure" | "routine" | "aggregate");
        let (code, what) = match (arguments, table) {
            (Some(arguments), _) => (SqlState::UNDEFINED_FUNCTION, format!("{kind} {name}({arguments}) does not exist")),
            (None, Some(table)) => (SqlState::UNDEFINED_OBJECT, format!("{kind} \"{name}\" for table \"{table}\" does not exist")),
            (None, None) if function && !if_exists => (SqlState::UNDEFINED_FUNCTION, format!("could not find a {kind} named \"{name}\"")),
            (None, None) if function => (SqlState::UNDEFINED_FUNCTION, format!("{kind} {name}() does not exist")),
            (None, None) if kind == "statistics" => (SqlState::UNDEFINED_OBJECT, format!("statistics object \"{name}\" does not exist")),
            (None, None) if kind == "collation" => {
                (SqlState::UNDEFINED_OBJECT, format!("collation \"{name}\" for encoding \"UTF8\" does not exist"))
            }
            (None, None) if kind == "foreign data wrapper" => {
                (SqlState::UNDEFINED_OBJECT, format!("foreign-data wrapper \"{name}\" does not exist"))
            }
            (None, None) if kind == "domain" => (SqlState::UNDEFINED_OBJECT, format!("type \"{name}\" does not exist")),
            (None, None) => (SqlState::UNDEFINED_OBJECT, format!("{kind} \"{name}\" does not exist")),
        };
        if kind == "type" && stoa_pg::types::type_by_name(name).is_some() {
            return Err(PgError::new(
                SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
                format!("cannot drop type {name} because it is required by the database system"),
            ));
        }
        if !if_exists {
            return Err(PgError::new(code, what));
        }
        work.notice(SqlState::SUCCESSFUL_COMPLETION, format!("{what}, skipping"));
    }
    Ok(format!("DROP {}", kind.to_uppercase()))
}

// Schemas.

/// 42939 for names that only the system may give.
pub(crate) fn check_schema_name(name: &str) -> PgResult<()> {
    if name.starts_with("pg_") {
        return Err(PgError::new(SqlState::RESERVED_NAME, format!("unacceptable schema name \"{name}\""))
            .detail("The prefix \"pg_\" is reserved for system schemas."));
    }
    Ok(())
}

/// 2BP01 for schemas that every database has.
pub(crate) fn check_not_system(schema: &SchemaDescriptor) -> PgResult<()> {
    if matches!(schema.name.as_str(), "pg_catalog" | "information_schema") {
        return Err(PgError::new(
            SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
            format!("cannot drop schema {} because it is required by the database system", schema.name),
        ));
    }
    Ok(())
}

async fn create_schema(
    work: Work<'_>,
    name: Option<&ast::Ident>,
    owner: Option<&RoleRef>,
    if_not_exists: bool,
    elements: &[Ddl],
) -> PgResult<String> {
    const TAG: &str = "CREATE SCHEMA";
    let owner = owner.map(|role| work.role(role)).transpose()?;
    let name = name.map(fold).or_else(|| owner.as_ref().map(|role| role.name.clone())).unwrap_or_default();
    check_schema_name(&name)?;
    if if_not_exists && !elements.is_empty() {
        return Err(PgError::unsupported("CREATE SCHEMA IF NOT EXISTS cannot include schema elements"));
    }
    for element in elements {
        let named = match element {
            Ddl::CreateTable(create) => Some(&create.name),
            Ddl::CreateView(create) => Some(&create.name),
            Ddl::CreateSequence(create) => Some(&create.name),
            Ddl::CreateIndex(create) => Some(&create.table),
            _ => None,
        };
        if let Some((Some(other), _)) = named.map(|named| work.split(named)).transpose()?
            && other != name
        {
            return Err(PgError::new(
                SqlState::INVALID_SCHEMA_DEFINITION,
                format!("CREATE specifies a schema ({other}) different from the one being created ({name})"),
            ));
        }
    }
    if work.catalog().schema_by_name(&name).is_some() {
        if if_not_exists {
            work.notice(SqlState::DUPLICATE_SCHEMA, format!("schema \"{name}\" already exists, skipping"));
            return Ok(TAG.into());
        }
        return Err(PgError::new(SqlState::DUPLICATE_SCHEMA, format!("schema \"{name}\" already exists")));
    }
    let oid = work.next_oid().await?;
    work.put_schema(SchemaDescriptor { oid, name, comment: None, temporary: None })?;
    let role = owner.map_or(work.ctx.role, |owner| owner.oid);
    if role != work.ctx.role {
        work.put_rights(RightsOf::Schema(oid), Rights::of(role))?;
    }
    if elements.is_empty() {
        return Ok(TAG.into());
    }
    // Elements are made in the new schema.
    let mut path = vec![oid];
    path.extend(work.ctx.search_path.iter().copied());
    let inner = work.ctx.with_catalog(work.catalog(), path.into()).with_role(role);
    // What others need comes first, in whatever order they are written.
    let rank = |element: &&Ddl| match element {
        Ddl::CreateSequence { .. } => 0,
        Ddl::CreateTable(_) => 1,
        Ddl::CreateView(_) => 2,
        Ddl::CreateIndex(_) => 3,
        _ => 4,
    };
    let mut ordered: Vec<&Ddl> = elements.iter().collect();
    ordered.sort_by_key(rank);
    for element in ordered {
        run(Work { ctx: &inner }, element).await?;
    }
    Ok(TAG.into())
}

// DROP.

async fn drop_objects(
    work: Work<'_>,
    kind: ObjectKind,
    names: &[ObjectName],
    if_exists: bool,
    (cascade, purge): (bool, bool),
) -> PgResult<String> {
    let (tag, word) = match kind {
        ObjectKind::Table => ("DROP TABLE", "table"),
        ObjectKind::ForeignTable => ("DROP FOREIGN TABLE", "foreign table"),
        ObjectKind::View => ("DROP VIEW", "view"),
        ObjectKind::MaterializedView => ("DROP MATERIALIZED VIEW", "materialized view"),
        ObjectKind::Index => ("DROP INDEX", "index"),
        ObjectKind::Sequence => ("DROP SEQUENCE", "sequence"),
        ObjectKind::Schema => ("DROP SCHEMA", "schema"),
    };
    let mut dropping = if purge { Dropping::for_good(work) } else { Dropping::new(work) };
    let mut named: Vec<Object> = Vec::new();
    for name in names {
        let shown = Work::shown(name);
        let (schema, last) = work.split(name)?;
        if let Some(schema) = schema.as_ref().filter(|s| *s != "pg_temp" && kind != ObjectKind::Schema)
            && work.catalog().schema_by_name(schema).is_none()
        {
            if if_exists {
                work.notice(SqlState::SUCCESSFUL_COMPLETION, format!("schema \"{schema}\" does not exist, skipping"));
                continue;
            }
            return Err(undefined_schema(schema));
        }
        let object = match kind {
            ObjectKind::Schema => match work.catalog().schema_by_name(&last) {
                Some(schema) => {
                    check_not_system(schema)?;
                    Some(Object::Schema(schema.oid))
                }
                None => None,
            },
            ObjectKind::Index => match work.find_index(name)? {
                Some((table, FoundIndex::Index(index))) => {
                    let constraint =
                        work.catalog().index(index).and_then(|(t, i)| i.constraint.as_ref().map(|c| (t.name.clone(), c.name.clone())));
                    if let Some((table, constraint)) = constraint {
                        return Err(required_by(&last, &constraint, &table));
                    }
                    Some(Object::Index(table, index))
                }
                Some((table, FoundIndex::PrimaryKey)) => {
                    let table = work.catalog().table(table).map_or_else(String::new, |t| t.name.clone());
                    return Err(required_by(&last, &last, &table));
                }
                None => match work.find(name)? {
                    Some(other) => return Err(wrong_kind(&other, kind)),
                    None => None,
                },
            },
            _ => match work.find(name)? {
                Some(relation) => {
                    let right = match (&*relation, kind) {
                        (Relation::Table(t), ObjectKind::Table) => t.mapping.is_none(),
                        (Relation::Table(t), ObjectKind::ForeignTable) => t.mapping.is_some(),
                        (Relation::Sequence(_), ObjectKind::Sequence) => true,
                        (Relation::View(v), ObjectKind::View) => v.materialized.is_none(),
                        (Relation::View(v), ObjectKind::MaterializedView) => v.materialized.is_some(),
                        _ => false,
                    };
                    if !right {
                        return Err(wrong_kind(&relation, kind));
                    }
                    match &*relation {
                        Relation::Sequence(sequence) => check_sequence_free(work, sequence)?,
                        Relation::Table(table) => map::refuse_drop(&work.catalog(), table)?,
                        Relation::View(_) => {}
                    }
                    Some(Object::Relation(relation.oid()))
                }
                None => {
                    if work.find_index(name)?.is_some() {
                        return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{last}\" is not a {word}"))
                            .hint("Use DROP INDEX to remove an index."));
                    }
                    None
                }
            },
        };
        match object {
            Some(object) => {
                if !named.contains(&object) {
                    named.push(object.clone());
                }
                dropping.name(object);
            }
            None if if_exists => {
                work.notice(SqlState::SUCCESSFUL_COMPLETION, format!("{word} \"{}\" does not exist, skipping", last));
            }
            None => {
                return Err(match kind {
                    ObjectKind::Schema => undefined_schema(&last),
                    ObjectKind::Index => PgError::new(SqlState::UNDEFINED_OBJECT, format!("index \"{shown}\" does not exist")),
                    _ => match work.missing(name) {
                        refused if refused.code() == SqlState::INSUFFICIENT_PRIVILEGE => refused,
                        _ => {
                            let code =
                                if kind == ObjectKind::ForeignTable { SqlState::UNDEFINED_OBJECT } else { SqlState::UNDEFINED_TABLE };
                            PgError::new(code, format!("{word} \"{shown}\" does not exist"))
                        }
                    },
                });
            }
        }
    }
    dropping.settle().await?;
    let single = match named.as_slice() {
        [one] => Some(dropping.describe(one)),
        _ => None,
    };
    dropping.check(cascade, single)?;
    dropping.execute().await?;
    Ok(tag.into())
}

/// As in PostgreSQL, names of relations are quoted where SQL would, and that of the constraint is not.
fn required_by(index: &str, constraint: &str, table: &str) -> PgError {
    let quote = stoa_sql::catalog::deparse::quote_name;
    PgError::new(
        SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
        format!("cannot drop index {} because constraint {constraint} on table {} requires it", quote(index), quote(table)),
    )
    .hint(format!("You can drop constraint {constraint} on table {} instead.", quote(table)))
}

/// A sequence of an identity column goes with the column only.
fn check_sequence_free(work: Work<'_>, sequence: &SequenceDescriptor) -> PgResult<()> {
    let quote = stoa_sql::catalog::deparse::quote_name;
    let catalog = work.catalog();
    let Some((table, column)) = sequence.owned_by else { return Ok(()) };
    let Some(table) = catalog.table(table) else { return Ok(()) };
    match table.column(column) {
        Some(column) if column.identity.is_some() => Err(PgError::new(
            SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
            format!(
                "cannot drop sequence {} because column {} of table {} requires it",
                quote(&sequence.name),
                quote(&column.name),
                quote(&table.name)
            ),
        )
        .hint(format!("You can drop column {} of table {} instead.", quote(&column.name), quote(&table.name)))),
        _ => Ok(()),
    }
}

/// 42809 with the statement that would do.
fn wrong_kind(relation: &Relation, wanted: ObjectKind) -> PgError {
    let what = match wanted {
        ObjectKind::Table => "a table",
        ObjectKind::ForeignTable => "a foreign table",
        ObjectKind::View => "a view",
        ObjectKind::MaterializedView => "a materialized view",
        ObjectKind::Index => "an index",
        ObjectKind::Sequence => "a sequence",
        ObjectKind::Schema => "a schema",
    };
    let hint = match relation {
        Relation::Table(table) if table.mapping.is_some() => "Use DROP FOREIGN TABLE to remove a foreign table.",
        Relation::Table(_) => "Use DROP TABLE to remove a table.",
        Relation::View(v) if v.materialized.is_some() => "Use DROP MATERIALIZED VIEW to remove a materialized view.",
        Relation::View(_) => "Use DROP VIEW to remove a view.",
        Relation::Sequence(_) => "Use DROP SEQUENCE to remove a sequence.",
    };
    PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is not {what}", relation.name())).hint(hint)
}

// COMMENT.

/// The relation whose descriptor keeps a comment.
fn commented(work: Work<'_>, target: &CommentTarget) -> PgResult<Option<Arc<Relation>>> {
    match target {
        CommentTarget::Object(ObjectKind::Index, name) => {
            let table = work.find_index(name)?.map(|(table, _)| table);
            Ok(table.and_then(|oid| work.catalog().relation(oid).cloned()))
        }
        CommentTarget::Object(ObjectKind::Schema, _) => Ok(None),
        CommentTarget::Object(_, name) | CommentTarget::Constraint { table: name, .. } | CommentTarget::Policy { table: name, .. } => {
            work.find(name)
        }
        CommentTarget::Column(name) => {
            let table = name.0.split_last().map(|(_, table)| ObjectName(table.to_vec())).filter(|table| !table.0.is_empty());
            table.map_or(Ok(None), |table| work.find(&table))
        }
        CommentTarget::LargeObject(_) | CommentTarget::Other(_) => Ok(None),
    }
}

async fn comment(work: Work<'_>, target: &CommentTarget, text: Option<String>) -> PgResult<String> {
    const TAG: &str = "COMMENT";
    if let Some(relation) = commented(work, target)? {
        work.lock(&relation, TableLockMode::ShareUpdateExclusive).await?;
        // What was committed while waiting counts.
        work.refresh().await?;
    }
    // An empty comment is none.
    let text = text.filter(|t| !t.is_empty());
    match target {
        CommentTarget::Object(ObjectKind::Schema, name) => {
            let name = work.split(name)?.1;
            let schema = work.catalog().schema_by_name(&name).cloned().ok_or_else(|| undefined_schema(&name))?;
            work.put_schema(SchemaDescriptor { comment: text, ..(*schema).clone() })?;
        }
        CommentTarget::Object(ObjectKind::Index, name) => {
            let Some((table, index)) = work.find_index(name)? else {
                return Err(match work.find(name)? {
                    Some(other) => PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is not an index", other.name())),
                    None => work.missing(name),
                });
            };
            let Some(mut table) = work.catalog().table(table).cloned() else { return Ok(TAG.into()) };
            match index {
                FoundIndex::Index(oid) => {
                    for index in table.indexes.iter_mut().filter(|i| i.oid == oid) {
                        index.comment.clone_from(&text);
                    }
                }
                FoundIndex::PrimaryKey => {
                    if let Some(key) = &mut table.primary_key {
                        key.index_comment = text;
                    }
                }
            }
            work.put(Relation::Table(table))?;
        }
        CommentTarget::Object(kind, name) => {
            let relation = work.find(name)?.ok_or_else(|| work.missing(name))?;
            let mut relation = (*relation).clone();
            let right = match (&mut relation, kind) {
                (Relation::Table(t), ObjectKind::Table | ObjectKind::ForeignTable) => {
                    t.comment = text;
                    true
                }
                (Relation::View(v), ObjectKind::View) if v.materialized.is_none() => {
                    v.comment = text;
                    true
                }
                (Relation::View(v), ObjectKind::MaterializedView) if v.materialized.is_some() => {
                    v.comment = text;
                    true
                }
                (Relation::Sequence(s), ObjectKind::Sequence) => {
                    s.comment = text;
                    true
                }
                _ => false,
            };
            if !right {
                let mut error = wrong_kind(&relation, *kind);
                error.fields_mut().hint = None;
                return Err(error);
            }
            work.put(relation)?;
        }
        CommentTarget::Column(name) => {
            let mut parts = name.0.clone();
            let column = parts.pop();
            let column = work.split(&ObjectName(column.into_iter().collect()))?.1;
            if parts.is_empty() {
                return Err(PgError::new(SqlState::SYNTAX_ERROR, "column name must be qualified"));
            }
            let table_name = ObjectName(parts);
            let Some(relation) = work.find(&table_name)? else {
                if work.find_index(&table_name)?.is_some() {
                    let message = format!("cannot set comment on relation \"{}\"", work.split(&table_name)?.1);
                    return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, message).detail("This operation is not supported for indexes."));
                }
                return Err(work.missing(&table_name));
            };
            let mut relation = (*relation).clone();
            let found = match &mut relation {
                Relation::Table(t) => t.columns.iter_mut().find(|c| !c.dropped && !c.hidden && c.name == column).map(|c| c.comment = text),
                Relation::View(v) => v.columns.iter_mut().find(|c| c.name == column).map(|c| c.comment = text),
                Relation::Sequence(s) => {
                    return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("cannot set comment on relation \"{}\"", s.name))
                        .detail("This operation is not supported for sequences."));
                }
            };
            if found.is_none() {
                return Err(PgError::new(
                    SqlState::UNDEFINED_COLUMN,
                    format!("column \"{column}\" of relation \"{}\" does not exist", relation.name()),
                ));
            }
            work.put(relation)?;
        }
        CommentTarget::Constraint { name, table } => comment_on_constraint(work, &fold(name), work.table(table)?, &text)?,
        CommentTarget::Policy { name, table } => policy::comment(work, name, work.table(table)?, text)?,
        CommentTarget::LargeObject(oid) => large_object::comment(work, oid, text).await?,
        CommentTarget::Other(word) => return Err(PgError::unsupported(format!("COMMENT ON {word} is not supported"))),
    }
    Ok(TAG.into())
}

fn comment_on_constraint(work: Work<'_>, name: &str, mut table: TableDescriptor, text: &Option<String>) -> PgResult<()> {
    let mut found = false;
    let constraints = table
        .primary_key
        .iter_mut()
        .chain(table.checks.iter_mut().map(|c| &mut c.name))
        .chain(table.foreign_keys.iter_mut().map(|f| &mut f.name))
        .chain(table.indexes.iter_mut().filter_map(|i| i.constraint.as_mut()));
    for constraint in constraints.filter(|c| c.name == name) {
        constraint.comment.clone_from(text);
        found = true;
    }
    if !found {
        let message = format!("constraint \"{name}\" for table \"{}\" does not exist", table.name);
        return Err(PgError::new(SqlState::UNDEFINED_OBJECT, message));
    }
    work.put(Relation::Table(table))
}

/// The options by which a sequence would be made again.
pub(crate) fn definition_options(sequence: &SequenceDescriptor) -> Vec<SequenceOption> {
    vec![
        SequenceOption::Increment(sequence.increment.to_string()),
        SequenceOption::MinValue(Some(sequence.min.to_string())),
        SequenceOption::MaxValue(Some(sequence.max.to_string())),
        SequenceOption::Start(sequence.start.to_string()),
        SequenceOption::Cache(sequence.cache.to_string()),
        SequenceOption::Cycle(sequence.cycle),
    ]
}

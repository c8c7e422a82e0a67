//! CREATE TABLE … LIKE: what a new table takes from one that there is.

use super::builder::{TableBuilder, expression_name_or_column};
use super::work::{Work, undefined_relation};
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::catalog::names::has_constraint;
use stoa_syntax::ast::{self, ObjectName};
use stoa_syntax::ddl::SequenceOption;
use stoa_table::catalog::{CheckDescriptor, ColumnId, ConstraintName, FamilyDescriptor, IndexKey, Relation, Salt, TableDescriptor};

fn includes(options: &[(bool, String)], what: &str) -> bool {
    let mut out = false;
    for (including, name) in options {
        if name == what || name == "all" {
            out = *including;
        }
    }
    out
}

pub(super) async fn columns(
    builder: &mut TableBuilder<'_>,
    name: &ObjectName,
    options: &[(bool, String)],
) -> PgResult<Option<(TableDescriptor, Vec<(ColumnId, ColumnId)>)>> {
    let work = builder.work;
    if let Some(source) = work.find(name)? {
        work.lock(&source, stoa_table::txn::TableLockMode::AccessShare).await?;
        work.refresh().await?;
    }
    let source = match work.find(name)?.as_deref() {
        Some(Relation::Table(table)) => table.clone(),
        Some(Relation::View(view)) => {
            // Names and types are all that its columns have.
            let comments = includes(options, "comments");
            for column in &view.columns {
                let id = builder.push_column(column.name.clone(), column.ty.clone())?;
                if let Some(new) = builder.column_mut(id) {
                    new.collation.clone_from(&column.collation);
                    if comments {
                        new.comment.clone_from(&column.comment);
                    }
                }
            }
            return Ok(None);
        }
        Some(other) => return Err(invalid_in_like(other.name(), "sequences").at(work.position(name))),
        None => {
            if work.find_index(name)?.is_some() {
                return Err(invalid_in_like(&work.split(name)?.1, "indexes").at(work.position(name)));
            }
            if let Some(schema) = work.split(name)?.0.filter(|s| s != "pg_temp")
                && work.catalog().schema_by_name(&schema).is_none()
            {
                return Err(super::work::undefined_schema(&schema).at(work.position(name)));
            }
            return Err(undefined_relation(&Work::shown(name)).at(work.position(name)));
        }
    };
    let mut columns = Vec::new();
    for column in source.visible_columns() {
        let id = builder.push_column(column.name.clone(), column.ty.clone())?;
        columns.push((column.id, id));
        if let Some(identity) = column.identity.as_ref().filter(|_| includes(options, "identity")) {
            // Of bigint, as PostgreSQL makes it: the limits are those of the sequence, which may be wider than the column's type.
            let mut options = vec![SequenceOption::As(ast::DataType::BigInt(None))];
            if let Some(Relation::Sequence(s)) = work.catalog().relation(identity.sequence).map(|r| (**r).clone()) {
                options.extend(super::definition_options(&s));
            }
            builder.add_identity(id, identity.always, &options).await?;
        }
        let (default, generated) = (includes(options, "defaults"), includes(options, "generated"));
        let comment = includes(options, "comments");
        if let Some(new) = builder.table.columns.iter_mut().find(|c| c.id == id) {
            new.not_null |= column.not_null;
            new.collation.clone_from(&column.collation);
            if default && column.identity.is_none() {
                new.default.clone_from(&column.default);
            }
            if generated {
                new.generated.clone_from(&column.generated);
            }
            if comment {
                new.comment.clone_from(&column.comment);
            }
        }
    }
    Ok(Some((source, columns)))
}

fn invalid_in_like(name: &str, kind: &str) -> PgError {
    PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("relation \"{name}\" is invalid in LIKE clause"))
        .detail(format!("This operation is not supported for {kind}."))
}

/// INCLUDING STORAGE: the families, unless the table names its own.
pub(super) fn families(
    builder: &mut TableBuilder<'_>,
    source: &TableDescriptor,
    columns: &[(ColumnId, ColumnId)],
    options: &[(bool, String)],
) {
    if !includes(options, "storage") || !builder.table.families.is_empty() {
        return;
    }
    let to = |id: &ColumnId| columns.iter().find(|(from, _)| from == id).map(|(_, to)| *to);
    builder.table.families = source
        .families
        .iter()
        .map(|f| FamilyDescriptor { columns: f.columns.iter().filter_map(to).collect(), has_ended: false, ..f.clone() })
        .collect();
    builder.table.expires.clone_from(&source.expires);
    builder.table.timestamp = source.timestamp.as_ref().and_then(to);
    builder.table.dynamic = source.dynamic.as_ref().and_then(to);
}

/// INCLUDING STORAGE: how rows are spread, and whether they take the place of others, if the row key is the same.
pub(super) fn salt(builder: &mut TableBuilder<'_>, source: &TableDescriptor, columns: &[(ColumnId, ColumnId)], options: &[(bool, String)]) {
    let to = |id: ColumnId| columns.iter().find(|(from, _)| *from == id).map_or(id, |(_, to)| *to);
    let same = builder.table.key.len() == source.key.len()
        && source
            .key
            .iter()
            .zip(&builder.table.key)
            .all(|(from, own)| to(from.column) == own.column && from.descending == own.descending && from.form == own.form);
    if includes(options, "storage") && same && source.overwrites() {
        builder.table.options.push(("overwrite".into(), "true".into()));
    }
    if includes(options, "storage") && same && builder.table.salt.is_none() && builder.table.split_points.is_empty() {
        builder.table.salt =
            source.salt.as_ref().map(|s| Salt { buckets: s.buckets, columns: s.columns.iter().map(|id| to(*id)).collect() });
        builder.table.split_points.clone_from(&source.split_points);
    }
}

pub(super) async fn rest(
    builder: &mut TableBuilder<'_>,
    source: &TableDescriptor,
    columns: &[(ColumnId, ColumnId)],
    options: &[(bool, String)],
) -> PgResult<()> {
    let work = builder.work;
    let to = |id: ColumnId| columns.iter().find(|(from, _)| *from == id).map_or(id, |(_, to)| *to);
    let comments = includes(options, "comments");
    if includes(options, "constraints") {
        for check in &source.checks {
            if has_constraint(&builder.table, &check.name.name) {
                let message = format!("constraint \"{}\" for relation \"{}\" already exists", check.name.name, builder.table.name);
                return Err(PgError::new(SqlState::DUPLICATE_OBJECT, message));
            }
            let name = ConstraintName {
                oid: work.next_oid().await?,
                comment: check.name.comment.clone().filter(|_| comments),
                ..check.name.clone()
            };
            builder.table.checks.push(CheckDescriptor {
                name,
                columns: check.columns.iter().map(|c| to(*c)).collect(),
                validated: true,
                ..check.clone()
            });
        }
    }
    if includes(options, "indexes") {
        let is_keyed = |table: &TableDescriptor| table.primary_key.is_some() || table.primary_index().is_some();
        if is_keyed(source) && is_keyed(&builder.table) {
            return Err(builder.second_primary_key());
        }
        if let Some(key) = &source.primary_key {
            let name = work.choose_name(builder.table.schema, &builder.table.name, None, "pkey", &[]);
            let index_comment = key.index_comment.clone().filter(|_| comments);
            // Comments on the constraints that indexes keep stay behind.
            let constraint = ConstraintName { oid: work.next_oid().await?, name, index_comment, comment: None, ..key.clone() };
            builder.table.primary_key = Some(constraint);
            builder.table.key = source.key.iter().map(|p| stoa_table::catalog::KeyPart { column: to(p.column), ..p.clone() }).collect();
        }
        for index in &source.indexes {
            let mut new = index.clone();
            new.oid = work.next_oid().await?;
            new.storage = work.next_table_id().await?;
            for part in &mut new.parts {
                if let IndexKey::Column(id) = &mut part.key {
                    *id = to(*id);
                }
            }
            for id in &mut new.include {
                *id = to(*id);
            }
            new.comment = new.comment.filter(|_| comments);
            new.name = if new.primary {
                let taken: Vec<String> = builder.table.indexes.iter().map(|i| i.name.clone()).collect();
                work.choose_name(builder.table.schema, &builder.table.name, None, "pkey", &taken)
            } else {
                let called = |id: &ColumnId| builder.table.column(*id).map_or_else(String::new, |c| c.name.clone());
                let mut names = Vec::with_capacity(new.parts.len() + new.include.len());
                for part in &new.parts {
                    names.push(match &part.key {
                        IndexKey::Column(id) => called(id),
                        IndexKey::Expr(sql) => {
                            let syntax = stoa_syntax::parse_expression(sql).map_err(stoa_sql::bind::syntax_error)?;
                            expression_name_or_column(&syntax)
                        }
                    });
                }
                names.extend(new.include.iter().map(called));
                builder.index_name(names, new.constraint.is_some())
            };
            if let Some(constraint) = &mut new.constraint {
                constraint.oid = work.next_oid().await?;
                constraint.name.clone_from(&new.name);
                constraint.comment = None;
            }
            builder.push_index(new);
        }
    }
    Ok(())
}

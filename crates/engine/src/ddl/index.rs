//! CREATE INDEX and REINDEX.

use super::builder::{TableBuilder, column_of, columns_of, expression_name_or_column, require_boolean};
use super::row_key::check_order;
use super::rows::build_indexes;
use super::storage_parameters::{self, Of};
use super::work::{FoundIndex, Work, folded, undefined_relation};
use stoa_pg::{PgError, PgResult, SqlState, SqlType};
use stoa_sql::bind::collation;
use stoa_sql::bind::scope::Clause;
use stoa_sql::bind::{bind_stored_expr, fold};
use stoa_sql::catalog::deparse::quote_name;
use stoa_sql::fulltext::settings::{SHARDS, Settings};
use stoa_syntax::ast::{self, ObjectName};
use stoa_syntax::ddl::{CreateIndex, IndexElement, ReindexTarget};
use stoa_table::TableId;
use stoa_table::catalog::{FULLTEXT_METHOD, GIN_METHOD, IndexDescriptor, IndexKey, IndexPart, IndexState, Oid, Relation, TableDescriptor};
use stoa_table::txn::TableLockMode;

/// 42703: a part of an index that is no column.
fn no_column(table: &TableDescriptor, name: &str) -> PgError {
    let error = PgError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{name}\" does not exist"));
    match table.dynamic_column() {
        Some(_) => {
            error.hint(format!("An undeclared column is named with its type: CREATE INDEX ON {} ({name} text).", quote_name(&table.name)))
        }
        None => error,
    }
}

/// The table that an index is made on: a table, or the one that holds a materialized view's rows.
fn indexed_table(work: Work<'_>, name: &ObjectName) -> PgResult<TableDescriptor> {
    match work.find(name)?.as_deref() {
        Some(Relation::Table(table)) => super::raw::refuse(table, "create index on relation").map(|()| table.clone()),
        Some(Relation::View(view)) if view.materialized.is_some() => {
            let storage = view.materialized.and_then(|oid| work.catalog().table(oid).cloned());
            storage.ok_or_else(|| PgError::internal(format!("materialized view \"{}\" has no rows", view.name)))
        }
        Some(other) => {
            let (what, detail) = match other {
                Relation::View(_) => ("view", "This operation is not supported for views."),
                _ => ("sequence", "This operation is not supported for sequences."),
            };
            let _ = what;
            Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("cannot create index on relation \"{}\"", other.name())).detail(detail))
        }
        None => {
            if let Some((table, index)) = work.find_index(name)? {
                let catalog = work.catalog();
                let key = catalog.table(table).and_then(|t| t.primary_key.as_ref()).map(|k| k.name.clone());
                let name = match index {
                    FoundIndex::PrimaryKey => key,
                    FoundIndex::Index(oid) => catalog.index(oid).map(|(_, i)| i.name.clone()),
                };
                let message = format!("\"{}\" is an index", name.unwrap_or_default());
                return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, message));
            }
            Err(work.missing(name))
        }
    }
}

/// CREATE INDEX, of rows.
pub(super) async fn create(work: Work<'_>, create: &CreateIndex) -> PgResult<String> {
    const TAG: &str = "CREATE INDEX";
    let table = indexed_table(work, &create.table)?;
    let method = create.method.as_deref().unwrap_or("btree");
    match method {
        "btree" | stoa_exec::fulltext::METHOD => {}
        // Of documents alone: checked below.
        "gin" | "gist" if !create.elements.is_empty() => {}
        "hash" | "gin" | "gist" | "spgist" | "brin" => {
            return Err(PgError::unsupported(format!("indexes of access method \"{method}\" are not supported")).hint("Use a btree index."));
        }
        other => return Err(PgError::new(SqlState::UNDEFINED_OBJECT, format!("access method \"{other}\" does not exist"))),
    }
    if let Some(name) = &create.name {
        let name = fold(name);
        if work.catalog().is_name_taken(table.schema, &name) {
            if create.if_not_exists {
                work.notice(SqlState::DUPLICATE_TABLE, format!("relation \"{name}\" already exists, skipping"));
                return Ok(TAG.into());
            }
            return Err(PgError::new(SqlState::DUPLICATE_TABLE, format!("relation \"{name}\" already exists")));
        }
    }
    let online = create.concurrently && !table.temporary;
    let mode = if online { TableLockMode::ShareUpdateExclusive } else { TableLockMode::ShareRowExclusive };
    work.lock(&Relation::Table(table.clone()), mode).await?;
    // What was committed while waiting counts.
    work.refresh().await?;
    let table = work.catalog().table(table.oid).cloned().ok_or_else(|| undefined_relation(&table.name))?;
    let mut builder = TableBuilder::of(work, table.clone());
    let full_text = method != "btree";
    let mut salt_buckets = None;
    let mut options = Vec::new();
    if full_text {
        refuse_for_text(method, create)?;
    }
    storage_parameters::check_once(&create.options)?;
    for option in &create.options {
        match option.name.as_str() {
            name if method == GIN_METHOD && storage_parameters::is_known(name, Of::Gin) => {
                storage_parameters::check(option, Of::Gin)?;
                options.push((option.name.clone(), option.value.clone().unwrap_or_else(|| "true".into())));
            }
            name if method == GIN_METHOD && name != SHARDS => return Err(storage_parameters::unrecognized(name)),
            name if full_text => {
                options.push((name.to_owned(), option.value.clone().unwrap_or_else(|| "true".into())));
            }
            "salt_buckets" => {
                let n = option.value.as_deref().and_then(|v| v.parse::<u16>().ok()).filter(|n| (2..=256).contains(n));
                salt_buckets =
                    Some(n.ok_or_else(|| PgError::new(SqlState::INVALID_PARAMETER_VALUE, "salt_buckets must be between 2 and 256"))?);
            }
            name if storage_parameters::is_known(name, Of::Index) => {
                storage_parameters::check(option, Of::Index)?;
                options.push((option.name.clone(), option.value.clone().unwrap_or_else(|| "true".into())));
            }
            other => return Err(storage_parameters::unrecognized(other)),
        }
    }
    let mut parts = Vec::with_capacity(create.elements.len());
    for element in &create.elements {
        let (expr, said) = collation::stripped(&element.expr);
        let nulls_first = element.nulls_first.unwrap_or(element.descending);
        let (key, ty, of_key) = match column_of(expr) {
            Some(name) => {
                let column = table.column_by_name(&name).ok_or_else(|| no_column(&table, &name).at(work.position(expr)))?;
                (IndexKey::Column(column.id), column.ty.clone(), collation::of_descriptor(column))
            }
            None => {
                let bound = bind_over(work, &table, Clause::IndexKey, segmented(&table, element, expr)?)?;
                if matches!(bound.ty.ty.element().unwrap_or_else(|| bound.ty.ty.clone()), stoa_pg::PgType::Record(_)) {
                    let name = stoa_sql::bind::targets::column_name(expr).unwrap_or_else(|| "expr".into());
                    let message = format!("column \"{name}\" has pseudo-type {}", bound.ty.ty);
                    return Err(PgError::new(SqlState::INVALID_TABLE_DEFINITION, message));
                }
                (IndexKey::Expr(work.stored(&table, &bound)?), type_of_key(&bound)?, collation::of_expr(&table, &bound))
            }
        };
        let collation = collation::of_key(said, of_key, &key, &ty.ty)?;
        let class = match &element.operator_class {
            Some(class) => stoa_sql::bind::operator_class::class_of(method, class, &ty.ty)?,
            None => None,
        };
        check_type(method, &ty, &element.expr)?;
        parts.push(IndexPart { key, ty, class, collation, descending: element.descending, nulls_first });
    }
    let predicate = match &create.predicate {
        Some(syntax) => {
            let bound = bind_over(work, &table, Clause::IndexPredicate, syntax)?;
            check_predicate(&bound)?;
            Some(work.stored(&table, &bound)?)
        }
        None => None,
    };
    let include = folded(&create.include)
        .iter()
        .map(|name| {
            table
                .column_by_name(name)
                .map(|c| c.id)
                .ok_or_else(|| PgError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{name}\" does not exist")))
        })
        .collect::<PgResult<Vec<_>>>()?;
    let name = match &create.name {
        Some(name) => fold(name),
        None => {
            let parts = create.elements.iter().map(|element| expression_name_or_column(&element.expr));
            builder.index_name(parts.chain(create.include.iter().map(fold)).collect(), false)
        }
    };
    let index = IndexDescriptor {
        oid: work.next_oid().await?,
        name,
        storage: work.next_table_id().await?,
        unique: create.unique,
        nulls_not_distinct: create.nulls_not_distinct,
        primary: false,
        parts,
        include,
        predicate,
        state: if online { IndexState::DeleteOnly } else { IndexState::Readable },
        readable_from: 0,
        replaces: None,
        constraint: None,
        // A gist index is one of words.
        options: if full_text && method != GIN_METHOD { Settings::stored(&options) } else { options },
        method: if method == "gist" { FULLTEXT_METHOD.to_owned() } else { method.to_owned() },
        salt_buckets,
        comment: None,
    };
    if full_text {
        let tokenizer = Settings::read(&index.options)?.tokenizer;
        let texts = index.parts.iter().filter(|part| part.is_text());
        let columns = texts.filter_map(|p| if let IndexKey::Column(id) = &p.key { Some(*id) } else { None });
        if let Some(first) = columns.filter_map(|id| stoa_sql::fulltext::settings::words_by(&builder.table, id)).next()
            && Settings::read(&first.options)?.tokenizer != tokenizer
        {
            let message = format!("MATCH over columns of both goes by the words of index \"{}\", which is older", first.name);
            work.ctx
                .session
                .notice("NOTICE", PgError::new(SqlState::WARNING, message).hint("Drop that index to search by those of the new one."));
        }
    }
    let oid = index.oid;
    if online {
        start_online(work, table.oid, index.clone()).await?;
        stoa_exec::index::build::run(work.ctx, table.oid, oid, "CREATE INDEX CONCURRENTLY").await?;
        return Ok(TAG.into());
    }
    builder.push_index(index);
    finish(work, builder.table, &[oid], "CREATE INDEX").await?;
    Ok(TAG.into())
}

/// DROP INDEX … ON: that the index is one of the table.
///
/// # Errors
/// 42704 if it is another's; 42P01 without the table.
pub(super) fn check_owner(work: Work<'_>, index: &ObjectName, on: &ObjectName, if_exists: bool) -> PgResult<()> {
    let Some(table) = work.find(on)? else { return if if_exists { Ok(()) } else { Err(work.missing(on)) } };
    match work.find_index(index)? {
        Some((owner, _)) if owner != table.oid() => {
            let message = format!("table \"{}\" has no index \"{}\"", table.name(), Work::shown(index));
            Err(PgError::new(SqlState::UNDEFINED_OBJECT, message))
        }
        _ => Ok(()),
    }
}

/// DROP FULLTEXT INDEX ON: all full text indexes of a table go.
pub(crate) async fn drop_full_text(work: Work<'_>, name: &ObjectName, if_exists: bool) -> PgResult<String> {
    const TAG: &str = "DROP INDEX";
    if if_exists && work.find(name)?.is_none() {
        work.notice(SqlState::SUCCESSFUL_COMPLETION, format!("relation \"{}\" does not exist, skipping", work.split(name)?.1));
        return Ok(TAG.into());
    }
    let table = indexed_table(work, name)?;
    work.lock_table(&table).await?;
    work.refresh().await?;
    let mut table = work.catalog().table(table.oid).cloned().ok_or_else(|| undefined_relation(&table.name))?;
    // Indexes of items are none of words.
    let goes = |index: &IndexDescriptor| index.is_fulltext() && index.parts.iter().any(|part| part.class_of_items().is_none());
    let gone: Vec<TableId> = table.indexes.iter().filter(|i| goes(i)).map(|i| i.storage).collect();
    if gone.is_empty() {
        let message = format!("table \"{}\" has no full text index", table.name);
        if !if_exists {
            return Err(PgError::new(SqlState::UNDEFINED_OBJECT, message));
        }
        work.notice(SqlState::SUCCESSFUL_COMPLETION, format!("{message}, skipping"));
        return Ok(TAG.into());
    }
    table.indexes.retain(|i| !goes(i));
    for storage in gone {
        work.drop_storage(storage);
    }
    work.put(Relation::Table(table))?;
    Ok(TAG.into())
}

/// What a full text index cannot be.
fn refuse_for_text(method: &str, create: &CreateIndex) -> PgResult<()> {
    let refuse = |what: &str| Err(PgError::unsupported(format!("access method \"{method}\" does not support {what}")));
    if create.unique {
        return refuse("unique indexes");
    }
    if !create.include.is_empty() {
        return refuse("included columns");
    }
    if create.elements.iter().any(|e| e.descending) {
        return refuse("ASC/DESC options");
    }
    if create.elements.iter().any(|e| e.nulls_first.is_some()) {
        return refuse("NULLS FIRST/LAST options");
    }
    Ok(())
}

/// The type of an index key that is an expression.
///
/// # Errors
/// 42P17 for an expression that may give something else another time.
pub(super) fn type_of_key(expr: &stoa_sql::typed::tree::Expr) -> PgResult<SqlType> {
    if !stoa_sql::typed::volatility::is_immutable(expr) {
        return Err(PgError::new(SqlState::INVALID_OBJECT_DEFINITION, "functions in index expression must be marked IMMUTABLE"));
    }
    Ok(SqlType::new(expr.ty.ty.clone()))
}

/// # Errors
/// 42804 and 42P17 for what cannot be the condition of a partial index.
pub(super) fn check_predicate(expr: &stoa_sql::typed::tree::Expr) -> PgResult<()> {
    require_boolean(expr, "WHERE")?;
    if stoa_sql::typed::volatility::is_immutable(expr) {
        return Ok(());
    }
    Err(PgError::new(SqlState::INVALID_OBJECT_DEFINITION, "functions in index predicate must be marked IMMUTABLE"))
}

/// # Errors
/// If an index of a method cannot have keys of a type: `key` is what is indexed.
pub(super) fn check_type(method: &str, ty: &SqlType, key: &dyn std::fmt::Display) -> PgResult<()> {
    use stoa_pg::PgType;
    let fits = match method {
        "btree" => return check_order(ty),
        FULLTEXT_METHOD => {
            matches!(ty.ty, PgType::Text | PgType::Varchar | PgType::Bpchar | PgType::Name | PgType::Json | PgType::Tsvector)
        }
        GIN_METHOD if ty.ty.is_array() => {
            let element = stoa_pg::values::array::element_type(ty);
            return check_order(&element).map_err(|_| {
                let message = format!("could not identify a comparison function for type {}", element.ty);
                PgError::new(SqlState::UNDEFINED_FUNCTION, message)
            });
        }
        GIN_METHOD => matches!(ty.ty, PgType::Tsvector | PgType::Jsonb),
        _ => ty.ty == PgType::Tsvector,
    };
    match method {
        _ if fits => Ok(()),
        FULLTEXT_METHOD => {
            let message = format!("a full text index needs text, but {key} is of type {}", ty.ty);
            Err(PgError::new(SqlState::DATATYPE_MISMATCH, message).hint("Leave the column out, or index an expression that gives text."))
        }
        _ => {
            let message = format!("data type {} has no default operator class for access method \"{method}\"", ty.ty);
            Err(PgError::new(SqlState::UNDEFINED_OBJECT, message)
                .hint("You must specify an operator class for the index or define a default operator class for the data type."))
        }
    }
}

fn bind_over(
    work: Work<'_>,
    table: &TableDescriptor,
    clause: Clause,
    syntax: &stoa_syntax::ast::Expr,
) -> PgResult<stoa_sql::typed::tree::Expr> {
    let catalog = work.catalog();
    let path = work.path();
    let bound = bind_stored_expr(&work.bind_context(&catalog, &path), Some(table), clause, syntax, None)?;
    // An expression over no column is allowed, as in PostgreSQL.
    let _ = columns_of(&bound);
    Ok(bound)
}

/// Makes an empty index that writers begin to see.
async fn start_online(work: Work<'_>, table: Oid, index: IndexDescriptor) -> PgResult<()> {
    let descriptor = work.catalog().table(table).cloned().ok_or_else(|| PgError::internal("a table that is not in the catalog"))?;
    let mut with = descriptor.clone();
    with.indexes.push(index.clone());
    super::lifetime::check(work, &with)?;
    if index.is_fulltext() {
        // What cannot be described is refused before anything is there.
        work.ctx.database.text.describe(&work.catalog(), &descriptor, &index)?;
    } else {
        stoa_table::row::IndexCodec::new(&descriptor, &index)?;
        let schema = stoa_table::row::IndexCodec::table_schema(&index);
        work.ctx.database.tables.create(&schema).await?;
    }
    stoa_exec::index::build::change(work.ctx, table, move |table| table.indexes.push(index)).await
}

/// REINDEX CONCURRENTLY: a second index is built online, then takes the place of the first.
async fn reindex_online(work: Work<'_>, table: &TableDescriptor, index: Oid) -> PgResult<()> {
    work.lock(&Relation::Table(table.clone()), TableLockMode::ShareUpdateExclusive).await?;
    work.refresh().await?;
    let Some(old) = work.catalog().table(table.oid).and_then(|t| t.indexes.iter().find(|i| i.oid == index).cloned()) else { return Ok(()) };
    let mut new = old.clone();
    new.oid = work.next_oid().await?;
    new.storage = work.next_table_id().await?;
    new.name = work.choose_name(table.schema, &old.name, None, "ccnew", &[]);
    new.constraint = None;
    new.state = IndexState::DeleteOnly;
    new.replaces = Some(old.oid);
    let oid = new.oid;
    start_online(work, table.oid, new).await?;
    stoa_exec::index::build::run(work.ctx, table.oid, oid, "REINDEX CONCURRENTLY").await?;
    stoa_exec::index::build::take_place(work.ctx, table.oid, oid).await
}

/// ALTER INDEX … SET of a full text index: words are cut otherwise, so its files are made again in a new place.
pub(crate) async fn change_text_options(
    work: Work<'_>,
    table: TableDescriptor,
    index: FoundIndex,
    change: impl FnOnce(&mut Vec<(String, String)>),
) -> PgResult<()> {
    work.lock_table(&table).await?;
    work.refresh().await?;
    let mut table = work.catalog().table(table.oid).cloned().ok_or_else(|| undefined_relation(&table.name))?;
    work.check_unused(&table, "ALTER INDEX")?;
    let Some(descriptor) = table.indexes.iter_mut().find(|i| FoundIndex::Index(i.oid) == index) else { return Ok(()) };
    let oid = descriptor.oid;
    change(&mut descriptor.options);
    if descriptor.method != GIN_METHOD {
        descriptor.options = Settings::stored(&descriptor.options);
    }
    Settings::read(&descriptor.options)?;
    let old = descriptor.storage;
    descriptor.storage = work.next_table_id().await?;
    descriptor.state = IndexState::Readable;
    finish(work, table, &[oid], "ALTER INDEX").await?;
    work.drop_storage(old);
    Ok(())
}

/// Makes and fills new indexes of a table, and stores the table.
pub(crate) async fn finish(work: Work<'_>, table: TableDescriptor, indexes: &[Oid], command: &'static str) -> PgResult<()> {
    for index in table.indexes.iter().filter(|i| indexes.contains(&i.oid) && !i.is_fulltext()) {
        stoa_table::row::IndexCodec::new(&table, index)?;
        work.create_storage(&stoa_table::row::IndexCodec::table_schema(index)).await?;
    }
    build_indexes(work, &table, indexes, command).await?;
    let mut table = table;
    // Entries that were committed on the way are not seen by older snapshots.
    let now = work.ctx.database.tables.now().0;
    table.indexes.iter_mut().filter(|i| indexes.contains(&i.oid)).for_each(|i| i.readable_from = now);
    work.put(Relation::Table(table))
}

/// REINDEX: entries are made again in a new place.
pub(crate) async fn reindex(work: Work<'_>, target: &ReindexTarget, concurrently: bool) -> PgResult<String> {
    let catalog = work.catalog();
    let mut jobs: Vec<(Oid, Option<Oid>)> = Vec::new();
    match target {
        ReindexTarget::Index(name) => match work.find_index(name)? {
            Some((table, FoundIndex::Index(index))) => jobs.push((table, Some(index))),
            // The primary key is the table itself: nothing is derived from anything.
            Some((_, FoundIndex::PrimaryKey)) => {}
            None => match work.find(name)? {
                Some(other) => return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is not an index", other.name()))),
                None => return Err(work.missing(name)),
            },
        },
        ReindexTarget::Table(name) => jobs.push((indexed_table(work, name)?.oid, None)),
        ReindexTarget::Schema(name) => {
            let name = fold(name);
            let schema = catalog.schema_by_name(&name).ok_or_else(|| super::work::undefined_schema(&name))?;
            jobs.extend(tables_of(&catalog, Some(schema.oid)));
        }
        ReindexTarget::System(_) if concurrently => {
            return Err(PgError::unsupported("cannot reindex system catalogs concurrently"));
        }
        ReindexTarget::Database(name) | ReindexTarget::System(name) => {
            if let Some(name) = name.as_ref().map(fold).filter(|n| !work.ctx.catalog.is_this_database(n)) {
                return Err(PgError::unsupported(format!("can only reindex the currently open database, not \"{name}\"")));
            }
            // System relations have no indexes.
            if matches!(target, ReindexTarget::Database(_)) {
                jobs.extend(tables_of(&catalog, None));
            }
        }
    }
    for (table, index) in jobs {
        let Some(table) = work.catalog().table(table).cloned() else { continue };
        if concurrently && !table.temporary {
            let wanted = table.indexes.iter().filter(|i| index.is_none_or(|wanted| wanted == i.oid));
            for oid in wanted.map(|i| i.oid).collect::<Vec<_>>() {
                reindex_online(work, &table, oid).await?;
            }
            continue;
        }
        work.lock_table(&table).await?;
        work.refresh().await?;
        let Some(mut table) = work.catalog().table(table.oid).cloned() else { continue };
        let mut built: Vec<Oid> = Vec::new();
        let mut old: Vec<TableId> = Vec::new();
        for descriptor in &mut table.indexes {
            if index.is_none_or(|wanted| wanted == descriptor.oid) {
                old.push(descriptor.storage);
                descriptor.storage = work.next_table_id().await?;
                descriptor.state = IndexState::Readable;
                built.push(descriptor.oid);
            }
        }
        finish(work, table, &built, "REINDEX").await?;
        for storage in old {
            work.drop_storage(storage);
        }
    }
    Ok("REINDEX".into())
}

fn tables_of(catalog: &stoa_table::catalog::CatalogSnapshot, schema: Option<Oid>) -> Vec<(Oid, Option<Oid>)> {
    catalog
        .relations()
        .filter(|r| schema.is_none_or(|s| r.schema() == s))
        .filter(|r| matches!(&***r, Relation::Table(t) if !t.indexes.is_empty()))
        .map(|r| (r.oid(), None))
        .collect()
}

/// The expression of a part, which with SEGMENT LENGTH is of a column of texts.
///
/// # Errors
/// 42804 for a column of another type.
fn segmented<'e>(table: &TableDescriptor, element: &IndexElement, expr: &'e ast::Expr) -> PgResult<&'e ast::Expr> {
    let ast::Expr::Function(call) = expr else { return Ok(expr) };
    let ast::FunctionArguments::List(list) = &call.args else { return Ok(expr) };
    let Some(ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(ast::Expr::Identifier(name)))) = list.args.first() else {
        return Ok(expr);
    };
    let name = fold(name);
    match table.column_by_name(&name) {
        Some(column) if element.segment && !column.ty.ty.is_string() => {
            let message = format!("SEGMENT LENGTH is of texts, and column \"{name}\" is of type {}", column.ty.display_name());
            Err(PgError::new(SqlState::DATATYPE_MISMATCH, message).hint("Name the column alone: its entries have the whole value."))
        }
        _ => Ok(expr),
    }
}

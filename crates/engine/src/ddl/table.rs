//! CREATE TABLE, CREATE TABLE AS, SELECT INTO, CREATE MATERIALIZED VIEW and REFRESH.

use super::builder::TableBuilder;
use super::like;
use super::rows::RowWriter;
use super::split::split_points;
use super::storage_parameters::{self, Of};
use super::work::{Work, undefined_relation};
use arrow::array::ArrayRef;
use futures::StreamExt;
use std::sync::Arc;
use std::time::Duration;
use stoa_exec::environment::counters::RowChange;
use stoa_pg::values::interval::Interval;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_sql::bind::{bind_statement, bind_stored_query, collation, fold};
use stoa_sql::typed::tree::{
    Bound, BoundBody, ColId, CteBody, Expr, ExprKind, Mutation, MutationKind, MutationTarget, OnConflict, Output, Query, Rel, RowChecks,
    TargetUse,
};
use stoa_syntax::ast::{self, ObjectName};
use stoa_syntax::ddl::{Constraint, ConstraintKind, CreateTable, CreateTableAs, OnCommitAction, RowSource, StorageOption, TableElement};
use stoa_table::catalog::{
    CELLS, ColumnId, FamilyDescriptor, IndexKey, LOCATION, Oid, OnCommit, Relation, RightsOf, Salt, TableDescriptor, ViewColumn,
    ViewDescriptor,
};
use stoa_table::row::split_points::in_buckets;
use stoa_table::txn::TableLockMode;
use stoa_table::{BloomFilter, Compression, FamilyId, FamilyOptions, Layout};

/// CREATE TABLE.
pub(crate) async fn create(work: Work<'_>, create: &CreateTable) -> PgResult<String> {
    let tag = if create.foreign.is_some() { "CREATE FOREIGN TABLE" } else { "CREATE TABLE" };
    if create.partitioned {
        return Err(PgError::unsupported("partitioned tables are not supported")
            .hint("Row keys split tables into regions: see SPLIT. Rows go by their age with TTL EXPIRES AT or a ttl."));
    }
    if !create.inherits.is_empty() {
        return Err(PgError::unsupported("table inheritance is not supported"));
    }
    let (schema, name) = work.place(&create.name, create.temporary).await?;
    if work.catalog().is_name_taken(schema, &name) {
        if create.if_not_exists {
            work.notice(SqlState::DUPLICATE_TABLE, format!("relation \"{name}\" already exists, skipping"));
            return Ok(tag.into());
        }
        // That there is nothing to be like is reported first.
        for element in &create.elements {
            if let TableElement::Like { name, .. } = element
                && work.find(name)?.is_none()
            {
                return Err(undefined_relation(&Work::shown(name)).at(work.position(name)));
            }
        }
        return Err(PgError::new(SqlState::DUPLICATE_TABLE, format!("relation \"{name}\" already exists")));
    }
    let temporary = work.catalog().schema(schema).is_some_and(|s| s.temporary.is_some());
    let raw = match &create.foreign {
        Some(options) => {
            super::foreign::check_elements(create)?;
            Some((options, super::foreign::raw_table(work, create, options).await?))
        }
        None => None,
    };
    let mut builder = TableBuilder::new(work, schema, name, temporary).await?;
    builder.table.on_commit = on_commit(create.on_commit, temporary)?;
    // Columns first, then what needs all of them.
    let mut later: Vec<(Option<ColumnId>, Constraint)> = Vec::new();
    let mut copies: Vec<(TableDescriptor, Vec<(ColumnId, ColumnId)>, Vec<(bool, String)>)> = Vec::new();
    for element in &create.elements {
        match element {
            TableElement::Column(column) => {
                let id = builder.add_column(column).await?;
                comment_column(&mut builder.table, id, column);
                let rest = builder.column_constraints(id, &column.constraints).await?;
                if create.foreign.is_none() {
                    builder.column_options(id, &column.options)?;
                }
                later.extend(rest.into_iter().map(|c| (Some(id), c)));
            }
            TableElement::Constraint(constraint) => later.push((None, constraint.clone())),
            TableElement::Like { name, options } => {
                if let Some((source, columns)) = like::columns(&mut builder, name, options).await? {
                    copies.push((source, columns, options.clone()));
                }
            }
            TableElement::Family(_) => {}
        }
    }
    super::dynamic::set(&mut builder, &create.options)?;
    families(&mut builder, create)?;
    if super::raw::is_asked(&create.options)? {
        super::raw::make(&mut builder, create).await?;
    }
    for (source, columns, options) in &copies {
        like::families(&mut builder, source, columns, options);
    }
    // There are no rows that a constraint would not be valid for. Foreign keys may refer to what other constraints make.
    for (_, constraint) in &mut later {
        if matches!(constraint.kind, ConstraintKind::Check(_) | ConstraintKind::ForeignKey { .. }) {
            constraint.not_valid = false;
        }
    }
    if let Some((options, _)) = &raw {
        later.push((None, super::foreign::key(create, options)?));
    }
    merge_keys(&mut later, &builder);
    let (references, others): (Vec<_>, Vec<_>) = later.iter().partition(|(_, c)| matches!(c.kind, ConstraintKind::ForeignKey { .. }));
    for (on, constraint) in others {
        builder.add_constraint(constraint, *on).await?;
    }
    for (source, columns, options) in &copies {
        like::rest(&mut builder, source, columns, options).await?;
    }
    for (on, constraint) in references {
        builder.add_constraint(constraint, *on).await?;
    }
    builder.complete();
    if let Some((options, raw)) = &raw {
        super::foreign::make(&mut builder, create, options, raw)?;
    }
    for (source, columns, options) in &copies {
        like::salt(&mut builder, source, columns, options);
    }
    table_options(&mut builder, &create.options)?;
    builder.table.comment = create.comment.clone().filter(|text| !text.is_empty());
    if let Some(split) = &create.split {
        builder.table.split_points = split_points(work, &builder.table, split)?;
    } else if builder.table.split_points.is_empty() {
        // Each bucket is a region.
        builder.table.split_points = in_buckets(&builder.table, Vec::new());
    }
    if let Some(column) = &create.timestamp {
        super::data_time::set(&mut builder.table, column)?;
    }
    if let Some(expr) = &create.expires {
        super::expiry::set(work, &mut builder.table, expr)?;
    }
    warn_growing_key(work, &builder.table);
    warn_outliving(work, &builder.table);
    store(work, builder).await?;
    Ok(tag.into())
}

/// The comment that is given with a column; an empty one is none.
pub(super) fn comment_column(table: &mut TableDescriptor, id: ColumnId, given: &stoa_syntax::ddl::Column) {
    if let Some(column) = table.columns.iter_mut().find(|c| c.id == id) {
        column.comment = given.comment.clone().filter(|text| !text.is_empty());
    }
}

/// Of keys that are the same one stays, with the first name that is given; it is the primary key if one of them is.
fn merge_keys(constraints: &mut Vec<(Option<ColumnId>, Constraint)>, builder: &TableBuilder<'_>) {
    let signature = |on: Option<ColumnId>, constraint: &Constraint| {
        let (ConstraintKind::PrimaryKey(key) | ConstraintKind::Unique(key)) = &constraint.kind else { return None };
        let columns: Vec<(ColumnId, bool, bool)> = match on {
            Some(id) => vec![(id, false, false)],
            None => {
                let one = |e: &stoa_syntax::ddl::IndexElement| {
                    let name = super::builder::column_of(&e.expr)?;
                    builder.table.column_by_name(&name).map(|c| (c.id, e.descending, e.nulls_first.unwrap_or(e.descending)))
                };
                key.columns.iter().map(one).collect::<Option<_>>()?
            }
        };
        let include: Vec<String> = key.include.iter().map(fold).collect();
        let deferred = constraint.initially_deferred.unwrap_or(false);
        Some((columns, include, key.nulls_not_distinct, constraint.deferrable.unwrap_or(deferred), deferred))
    };
    let primary = |c: &Constraint| matches!(c.kind, ConstraintKind::PrimaryKey(_));
    // Two primary keys are an error, reported later.
    if constraints.iter().filter(|(_, c)| primary(c)).count() > 1 {
        return;
    }
    let signatures: Vec<_> = constraints.iter().map(|(on, c)| signature(*on, c)).collect();
    let mut order: Vec<usize> = (0..constraints.len()).collect();
    order.sort_by_key(|at| constraints.get(*at).is_none_or(|(_, c)| !primary(c)));
    let mut kept: Vec<usize> = Vec::new();
    let mut dropped: Vec<usize> = Vec::new();
    for at in order {
        let Some(Some(own)) = signatures.get(at) else { continue };
        let Some(same) = kept.iter().copied().find(|k| signatures.get(*k).is_some_and(|s| s.as_ref() == Some(own))) else {
            kept.push(at);
            continue;
        };
        dropped.push(at);
        let name = constraints.get(at).and_then(|(_, c)| c.name.clone());
        if let Some((_, first)) = constraints.get_mut(same)
            && first.name.is_none()
        {
            first.name = name;
        }
    }
    let mut at = 0;
    constraints.retain(|_| {
        at += 1;
        !dropped.contains(&(at - 1))
    });
}

/// Makes everything that a new table needs.
async fn store(work: Work<'_>, builder: TableBuilder<'_>) -> PgResult<TableDescriptor> {
    let mut table = builder.table;
    // What cannot be stored is refused before anything is made.
    stoa_table::row::RowCodec::new(&table)?;
    let entries = super::map::tables(work, &mut table).await?;
    for index in table.indexes.iter().filter(|i| !i.is_fulltext()) {
        stoa_table::row::IndexCodec::new(&table, index)?;
    }
    if table.mapping.is_none() {
        work.create_storage_of(&table).await?;
    }
    for sequence in builder.sequences {
        work.check_free(sequence.schema, &sequence.name)?;
        work.put(Relation::Sequence(sequence))?;
    }
    work.put(Relation::Table(table.clone()))?;
    super::map::store(work, entries).await?;
    Ok(table)
}

fn on_commit(action: Option<OnCommitAction>, temporary: bool) -> PgResult<OnCommit> {
    match action {
        None => Ok(OnCommit::PreserveRows),
        Some(_) if !temporary => Err(PgError::new(SqlState::INVALID_TABLE_DEFINITION, "ON COMMIT can only be used on temporary tables")),
        Some(OnCommitAction::PreserveRows) => Ok(OnCommit::PreserveRows),
        Some(OnCommitAction::DeleteRows) => Ok(OnCommit::DeleteRows),
        Some(OnCommitAction::Drop) => Ok(OnCommit::Drop),
    }
}

/// A first key part that grows with time sends all writes to one region.
fn warn_growing_key(work: Work<'_>, table: &TableDescriptor) {
    if table.salt.is_some() || table.temporary || table.primary_key.is_none() {
        return;
    }
    let Some(part) = table.key.first().filter(|p| p.form.holds_value()) else { return };
    let Some(first) = table.column(part.column) else { return };
    let passes =
        |expr: &str| ["now()", "CURRENT_TIMESTAMP", "LOCALTIMESTAMP", "clock_timestamp()", "nextval("].iter().any(|f| expr.contains(f));
    let time = matches!(first.ty.ty, PgType::Timestamp | PgType::Timestamptz) || (first.ty.ty == PgType::Date && table.key.len() > 1);
    let counted = table.key.len() > 1 && (first.identity.is_some() || first.default.as_deref().is_some_and(passes));
    if time || counted {
        work.ctx.session.notice(
            "NOTICE",
            PgError::new(SqlState::WARNING, format!("the row key of table \"{}\" grows with time", table.name))
                .hint("Put another column first, or HASH of one, or use SALT or WITH (salt_buckets = …)."),
        );
    }
}

/// What a family has of a row is seen no longer than the row.
pub(super) fn warn_outliving(work: Work<'_>, table: &TableDescriptor) {
    let mut families = table.families.iter();
    let Some((first, ttl)) = families.next().filter(|f| f.values_end()).and_then(|f| Some((f, f.options.ttl?))) else { return };
    if let Some(longer) = families.find(|f| !f.values_end() || f.options.ttl.is_some_and(|own| own > ttl)) {
        let message = format!("family \"{}\" of table \"{}\" is to outlive the first one, \"{}\"", longer.name, table.name, first.name);
        work.ctx.session.notice(
            "NOTICE",
            PgError::new(SqlState::WARNING, message)
                .detail("A row ends with its first family; what others have of it is not seen any more.")
                .hint("Let the family that lives longest be the first one."),
        );
    }
}

/// Options that families have, which CREATE TABLE takes for all of them at once.
pub(super) fn is_family_option(name: &str) -> bool {
    matches!(
        name,
        "versions"
            | "min_versions"
            | "retention"
            | "ttl"
            | "compression"
            | "bloom_filter"
            | "block_size"
            | "block_cache"
            | "in_memory"
            | "blob"
            | "layout"
            | "values"
    )
}

// Options.

fn bad_value(option: &StorageOption) -> PgError {
    PgError::new(
        SqlState::INVALID_PARAMETER_VALUE,
        format!("invalid value for option \"{}\": {}", option.name, option.value.as_deref().unwrap_or("")),
    )
}

pub(super) fn boolean(option: &StorageOption) -> PgResult<bool> {
    match option.value.as_deref().map(str::to_ascii_lowercase).as_deref() {
        None | Some("true" | "on" | "yes" | "1") => Ok(true),
        Some("false" | "off" | "no" | "0") => Ok(false),
        Some(_) => Err(bad_value(option)),
    }
}

fn number<T: std::str::FromStr>(option: &StorageOption) -> PgResult<T> {
    option.value.as_deref().and_then(|v| v.parse().ok()).ok_or_else(|| bad_value(option))
}

/// The options of a column family. One that its age ends no more has ended things all the same.
///
/// # Errors
/// 22023.
pub(crate) fn family_options(family: &mut FamilyDescriptor, given: &[StorageOption]) -> PgResult<()> {
    let mut changed = family.options.clone();
    let options = &mut changed;
    for option in given {
        let word = option.value.as_deref().unwrap_or("").to_ascii_lowercase();
        match option.name.as_str() {
            "layout" => {
                options.layout = match word.as_str() {
                    "packed" => Layout::Packed,
                    "cells" => Layout::Cells,
                    _ => return Err(bad_value(option)),
                }
            }
            "values" => {
                family.plain = match word.as_str() {
                    "plain" => true,
                    "own" => false,
                    _ => return Err(bad_value(option)),
                }
            }
            "versions" => options.versions = number(option)?,
            "min_versions" => options.min_versions = number(option)?,
            // All changes of that time, and the newest version for ever.
            "retention" if word == "none" => (options.versions, options.min_versions, options.ttl) = (1, 0, None),
            "retention" => {
                (options.versions, options.min_versions) = (FamilyOptions::ALL_VERSIONS, 1);
                options.ttl = Some(duration(option)?);
            }
            "ttl" if word == "none" => options.ttl = None,
            "ttl" => options.ttl = Some(duration(option)?),
            "compression" => {
                options.compression = match word.as_str() {
                    "none" => Compression::None,
                    "snappy" => Compression::Snappy,
                    "lz4" => Compression::Lz4,
                    "zstd" => Compression::Zstd,
                    _ => return Err(bad_value(option)),
                }
            }
            "bloom_filter" => {
                options.bloom_filter = match word.as_str() {
                    "none" => BloomFilter::None,
                    "row" => BloomFilter::Row,
                    "rowcol" => BloomFilter::RowCol,
                    _ => return Err(bad_value(option)),
                }
            }
            "block_size" => options.block_size = bytes(option)?,
            "block_cache" => options.block_cache = boolean(option)?,
            "in_memory" => options.in_memory = boolean(option)?,
            "blob" => options.blob = boolean(option)?,
            other => return Err(storage_parameters::unrecognized(other)),
        }
    }
    if options.versions == 0 {
        return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "versions must be at least 1"));
    }
    if options.min_versions > 0 && (options.ttl.is_none() || options.min_versions >= options.versions) {
        return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "min_versions needs a ttl and must be below versions"));
    }
    if family.plain && given.iter().any(|option| option.name == "layout") && options.layout == Layout::Packed {
        return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "plain values need the layout cells")
            .detail("A packed row is one cell, which other programs do not read.")
            .hint("values = own goes with the layout packed."));
    }
    if family.plain {
        options.layout = Layout::Cells;
    }
    family.change(changed);
    Ok(())
}

/// A duration, as an interval's text or as seconds.
fn duration(option: &StorageOption) -> PgResult<Duration> {
    let text = option.value.as_deref().unwrap_or("");
    if let Ok(seconds) = text.parse::<u64>() {
        return if seconds > 0 { Ok(Duration::from_secs(seconds)) } else { Err(bad_value(option)) };
    }
    let interval = stoa_pg::values::input_text(&stoa_pg::EvalContext::default(), &SqlType::new(PgType::Interval), text)?;
    const DAY_S: i64 = 86_400;
    match interval {
        datafusion::common::ScalarValue::IntervalMonthDayNano(Some(value)) => {
            let value = Interval::from_arrow(value);
            let seconds = i64::from(value.months)
                .checked_mul(30 * DAY_S)
                .and_then(|s| s.checked_add(i64::from(value.days) * DAY_S))
                .and_then(|s| s.checked_add(value.micros / 1_000_000))
                .and_then(|s| u64::try_from(s).ok())
                .filter(|s| *s > 0);
            seconds.map(Duration::from_secs).ok_or_else(|| bad_value(option))
        }
        _ => Err(bad_value(option)),
    }
}

fn bytes(option: &StorageOption) -> PgResult<u32> {
    let text = option.value.as_deref().unwrap_or("").trim();
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit: u32 = match text.get(digits.len()..).unwrap_or("").trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1 << 10,
        "mb" => 1 << 20,
        _ => return Err(bad_value(option)),
    };
    digits.parse::<u32>().ok().and_then(|n| n.checked_mul(unit)).ok_or_else(|| bad_value(option))
}

fn families(builder: &mut TableBuilder<'_>, create: &CreateTable) -> PgResult<()> {
    for element in &create.elements {
        let TableElement::Family(family) = element else { continue };
        let name = fold(&family.name);
        if builder.table.families.iter().any(|f| f.name == name) {
            return Err(PgError::new(SqlState::DUPLICATE_OBJECT, format!("family \"{name}\" specified more than once")));
        }
        let names: Vec<String> = family.columns.iter().map(fold).collect();
        let columns = builder.columns_named(&names, &format!("named in family \"{name}\""))?;
        for id in &columns {
            if builder.table.families.iter().any(|f| f.columns.contains(id)) {
                return Err(PgError::new(
                    SqlState::DUPLICATE_COLUMN,
                    format!("column \"{}\" is in more than one family", builder.table.column(*id).map_or("", |c| c.name.as_str())),
                ));
            }
        }
        let family = FamilyDescriptor { columns, ..new_family(&builder.table, name, &family.options)? };
        builder.table.families.push(family);
    }
    for element in &create.elements {
        let TableElement::Column(column) = element else { continue };
        if let (Some(family), Some(id)) = (&column.family, builder.table.column_by_name(&fold(&column.name)).map(|c| c.id)) {
            place_in_family(builder, id, family)?;
        }
    }
    Ok(())
}

/// A family without columns, as the next one of a table.
pub(super) fn new_family(table: &TableDescriptor, name: String, given: &[StorageOption]) -> PgResult<FamilyDescriptor> {
    let next = table.families.iter().map(|f| f.id.0).filter(|id| *id != CELLS.0).max().map_or(Some(0), |last| last.checked_add(1));
    let id = next.ok_or_else(|| PgError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "a table has too many families"))?;
    let mut family = FamilyDescriptor::new(FamilyId(id), name, Vec::new(), FamilyOptions::default());
    family_options(&mut family, given)?;
    Ok(family)
}

/// `FAMILY name` behind a new column.
pub(super) fn place_in_family(builder: &mut TableBuilder<'_>, column: ColumnId, family: &ast::Ident) -> PgResult<()> {
    let name = fold(family);
    if let Some(other) = builder.table.families.iter().find(|f| f.columns.contains(&column))
        && other.name != name
    {
        let column = builder.table.column(column).map_or("", |c| c.name.as_str());
        return Err(PgError::new(SqlState::DUPLICATE_COLUMN, format!("column \"{column}\" is in more than one family")));
    }
    let Some(found) = builder.table.families.iter_mut().find(|f| f.name == name) else {
        return Err(PgError::new(
            SqlState::UNDEFINED_OBJECT,
            format!("family \"{name}\" of relation \"{}\" does not exist", builder.table.name),
        ));
    };
    if !found.columns.contains(&column) {
        found.columns.push(column);
    }
    Ok(())
}

/// `WITH (…)` of a table: its salt; PostgreSQL's storage parameters are kept and shown, and change nothing.
fn table_options(builder: &mut TableBuilder<'_>, options: &[StorageOption]) -> PgResult<()> {
    let (mut buckets, mut columns, mut of_families) = (None, None, Vec::new());
    storage_parameters::check_once(options)?;
    for option in options {
        let value = option.value.clone().unwrap_or_else(|| "true".into());
        match option.name.as_str() {
            "salt_buckets" => {
                let n: u16 = number(option)?;
                if !(2..=256).contains(&n) {
                    return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "salt_buckets must be between 2 and 256"));
                }
                buckets = Some(n);
            }
            "salt_columns" => {
                let names: Vec<String> = value.split(',').map(|n| n.trim().to_lowercase()).collect();
                columns = Some(builder.columns_named(&names, "named in salt_columns")?);
            }
            // What they say is done.
            "raw" | super::dynamic::OPTION => {}
            LOCATION if builder.table.location().is_some() => {}
            name if storage_parameters::is_known(name, Of::Table) => {
                storage_parameters::check(option, Of::Table)?;
                builder.table.options.push((option.name.clone(), value));
            }
            "oids" => match boolean(option)? {
                false => {}
                true => return Err(PgError::unsupported("tables declared WITH OIDS are not supported")),
            },
            "overwrite" => {
                if boolean(option)? && builder.table.primary_key.is_none() {
                    return Err(PgError::new(
                        SqlState::INVALID_TABLE_DEFINITION,
                        "overwrite needs a primary key, which is no deferrable one",
                    ));
                }
                // LIKE may have said another.
                builder.table.options.retain(|(name, _)| *name != option.name);
                builder.table.options.push((option.name.clone(), boolean(option)?.to_string()));
            }
            name if is_family_option(name) => of_families.push(option.clone()),
            other => return Err(storage_parameters::unrecognized(other)),
        }
    }
    // Options of families may stand at the table; what they are together counts.
    for family in &mut builder.table.families {
        family_options(family, &of_families)?;
        // Nothing has in a new table.
        family.has_ended = false;
    }
    if builder.table.is_raw() && builder.table.families.iter().any(|family| family.plain) {
        return Err(PgError::new(SqlState::INVALID_TABLE_DEFINITION, "a raw table has no values of its own that could be plain"));
    }
    builder.name_cells()?;
    match (buckets, columns) {
        (Some(_), _) if builder.salted_by_key => {
            Err(PgError::new(SqlState::INVALID_TABLE_DEFINITION, "the primary key has a SALT already: salt_buckets is one too many"))
        }
        (Some(buckets), columns) => {
            let key: Vec<ColumnId> = builder.table.key_columns().map(|p| p.column).collect();
            let columns = columns.unwrap_or_else(|| key.clone());
            if columns.iter().any(|c| !key.contains(c)) {
                return Err(PgError::new(SqlState::INVALID_TABLE_DEFINITION, "salt_columns must be columns of the primary key"));
            }
            builder.table.salt = Some(Salt { buckets, columns });
            // Those of a table that it is like are of that one's buckets.
            builder.table.split_points = Vec::new();
            Ok(())
        }
        (None, Some(_)) => Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "salt_columns needs salt_buckets")),
        (None, None) => Ok(()),
    }
}

// CREATE TABLE AS.

/// A query's columns as a table has them.
struct TableQuery {
    bound: Bound,
    columns: Vec<(String, SqlType)>,
    /// The columns of relations that they are.
    origins: Vec<Option<(u32, u32)>>,
}

impl TableQuery {
    /// The collations of the columns; of what is not `written` here, those of the columns that they are.
    fn collations(&self, work: Work<'_>, written: &RowSource) -> PgResult<Vec<Option<String>>> {
        let written = match written {
            RowSource::Query(statement) => match &**statement {
                ast::Statement::Query(query) => Some(&**query),
                _ => None,
            },
            RowSource::Execute { .. } => None,
        };
        let columns: Vec<_> = self.columns.iter().zip(&self.origins).map(|((_, ty), origin)| (&ty.ty, *origin)).collect();
        collation::of_outputs(&work.catalog(), written, &columns)
    }
}

async fn table_query(work: Work<'_>, query: &ast::Statement, names: &[ast::Ident]) -> PgResult<TableQuery> {
    let catalog = work.catalog();
    let path = work.path();
    let bound = bind_statement(&work.bind_context(&catalog, &path), query)?;
    stoa_sql::privileges::check(&catalog, work.ctx.role, &bound)?;
    if !bound.params.is_empty() {
        return Err(PgError::unsupported("materialized views and SELECT INTO do not take parameters"));
    }
    work.lock_used(&bound, &catalog).await?;
    query_of(bound, names)
}

fn query_of(mut bound: Bound, names: &[ast::Ident]) -> PgResult<TableQuery> {
    let BoundBody::Query(query) = &mut bound.body else { return Err(PgError::internal("a query that is none")) };
    const FIRST: u32 = 1 << 20;
    let origins = query.outputs.iter().map(|output| output.origin).collect();
    let mut columns = Vec::with_capacity(query.outputs.len());
    let mut exprs = Vec::with_capacity(query.outputs.len());
    let mut outputs = Vec::with_capacity(query.outputs.len());
    for (i, output) in query.outputs.iter().enumerate() {
        let ty = if output.ty.ty == PgType::Unknown {
            SqlType::new(PgType::Text)
        } else {
            SqlType::with_typmod(output.ty.ty.clone(), output.ty.typmod)
        };
        let name = names.get(i).map_or_else(|| output.name.clone(), fold);
        let id = ColId(FIRST + u32::try_from(i).unwrap_or(0));
        let source = Expr::column(output.col, output.ty.clone());
        let expr = if ty.arrow == output.ty.arrow {
            source
        } else {
            Expr::new(ExprKind::Cast { arg: Box::new(source), explicit: false }, ty.clone())
        };
        exprs.push((id, expr));
        outputs.push(Output { name: name.clone(), col: id, ty: ty.clone(), origin: None });
        columns.push((name, ty));
    }
    let rel = std::mem::replace(&mut query.rel, Rel::One);
    *query = Query { rel: Rel::Project { input: Box::new(rel), exprs }, outputs };
    Ok(TableQuery { bound, columns, origins })
}

async fn fill(work: Work<'_>, table: &TableDescriptor, query: &TableQuery) -> PgResult<u64> {
    if table.map_columns().next().is_some() {
        return insert(work, table, query).await;
    }
    let indexes: Vec<u32> = table.indexes.iter().map(|i| i.oid).collect();
    let mut writer = RowWriter::new(work, table, true, &indexes)?;
    let ids: Vec<ColumnId> = table.visible_columns().map(|c| c.id).collect();
    let mut stream = crate::plan::execute(&work.current(), &query.bound).await?.stream;
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        let arrays: Vec<(ColumnId, ArrayRef)> = ids.iter().copied().zip(batch.columns().iter().cloned()).collect();
        writer.write(&arrays, batch.num_rows()).await?;
    }
    let count = writer.finish().await?;
    note_inserted(work, table.oid, count);
    Ok(count)
}

/// Counts rows as those of INSERT are counted.
fn note_inserted(work: Work<'_>, table: Oid, count: u64) {
    let database = &work.ctx.database;
    database.counters.note_rows(table, RowChange::Inserted, usize::try_from(count).unwrap_or(usize::MAX));
    if count > 0 {
        let (statistics, transactions) = (Arc::clone(&database.statistics), Arc::clone(&database.transactions));
        work.ctx.txn.on_commit(move || {
            statistics.note_changes(&transactions, table, count);
            Box::pin(async {})
        });
    }
}

/// Entries of maps lie in tables of their own: rows that have some are written as INSERT writes them.
async fn insert(work: Work<'_>, table: &TableDescriptor, query: &TableQuery) -> PgResult<u64> {
    let mut bound = query.bound.clone();
    let BoundBody::Query(Query { rel, outputs }) = bound.body else { return Err(PgError::internal("a query that is none")) };
    let columns = table.visible_columns().map(|c| c.id).zip(outputs.iter().map(|output| output.col)).collect();
    bound.body = BoundBody::Mutation(Mutation {
        table: MutationTarget(Arc::new(table.clone())),
        kind: MutationKind::Insert { columns, on_conflict: OnConflict::Error },
        source: Box::new(rel),
        returning: None,
        returning_columns: Vec::new(),
        usage: TargetUse { scan: None, within: None, reads: false, rows_decided: true },
        checks: RowChecks::default(),
    });
    let mut executed = crate::plan::execute(&work.current(), &bound).await?;
    while let Some(batch) = executed.stream.next().await {
        batch?;
    }
    Ok(executed.count)
}

/// CREATE TABLE AS, SELECT INTO, CREATE MATERIALIZED VIEW. `bound`: the query, if it is bound already.
pub(crate) async fn create_as(work: Work<'_>, create: &CreateTableAs, bound: Option<Bound>) -> PgResult<String> {
    let tag = if create.materialized_view { "CREATE MATERIALIZED VIEW" } else { "CREATE TABLE AS" };
    // The query's errors come before those of the name, as in PostgreSQL.
    let query = match (bound, &create.rows) {
        (Some(bound), _) => query_of(bound, &create.columns)?,
        (None, RowSource::Query(query)) => table_query(work, query, &create.columns).await?,
        (None, RowSource::Execute { .. }) => return Err(PgError::unsupported("CREATE TABLE … AS EXECUTE is not possible here")),
    };
    let (schema, name) = work.place(&create.name, create.temporary).await?;
    if work.catalog().is_name_taken(schema, &name) {
        if create.if_not_exists {
            work.notice(SqlState::DUPLICATE_TABLE, format!("relation \"{name}\" already exists, skipping"));
            return Ok(tag.into());
        }
        return Err(PgError::new(SqlState::DUPLICATE_TABLE, format!("relation \"{name}\" already exists")));
    }
    if create.columns.len() > query.columns.len() {
        return Err(PgError::new(SqlState::SYNTAX_ERROR, "too many column names were specified"));
    }
    let temporary = work.catalog().schema(schema).is_some_and(|s| s.temporary.is_some());
    let view_oid = if create.materialized_view { Some(work.next_oid().await?) } else { None };
    // The rows of a materialized view live in a table of their own, whose name no user can write.
    let table_name = match view_oid {
        Some(oid) => format!("{}{oid}", stoa_table::catalog::STORAGE_PREFIX),
        None => name.clone(),
    };
    if create.materialized_view && query.bound.ctes.iter().any(|cte| matches!(cte.body, CteBody::Mutation(_))) {
        return Err(PgError::unsupported("materialized views must not use data-modifying statements in WITH"));
    }
    if create.materialized_view && super::view::reads_temporary(&query.bound, &work.catalog()) {
        return Err(PgError::unsupported("materialized views must not use temporary tables or views"));
    }
    let mut builder = TableBuilder::new(work, schema, table_name, temporary).await?;
    builder.table.on_commit = on_commit(create.on_commit, temporary)?;
    let collations = query.collations(work, &create.rows)?;
    for ((column, ty), collation) in query.columns.iter().zip(&collations) {
        if create.materialized_view {
            super::map::check_query(column, ty)?;
        }
        let id = builder.push_column(column.clone(), ty.clone())?;
        if let Some(column) = builder.column_mut(id) {
            column.collation.clone_from(collation);
        }
    }
    builder.complete();
    table_options(&mut builder, &create.options)?;
    let table = store(work, builder).await?;
    if let (Some(oid), RowSource::Query(written)) = (view_oid, &create.rows) {
        let ast::Statement::Query(written) = &**written else { return Err(PgError::internal("a view of no query")) };
        let (sql, depends_on) = super::view::stored_text(work, written)?;
        work.put(Relation::View(ViewDescriptor {
            oid,
            schema,
            name,
            columns: query
                .columns
                .iter()
                .zip(collations)
                .map(|((name, ty), collation)| ViewColumn { name: name.clone(), ty: ty.clone(), comment: None, default: None, collation })
                .collect(),
            sql,
            depends_on,
            comment: None,
            materialized: Some(table.oid),
            unpopulated: !create.with_data,
            check_option: None,
            options: Vec::new(),
        }))?;
    }
    if !create.with_data {
        let executed = matches!(create.rows, RowSource::Execute { .. });
        return Ok(if executed { "SELECT 0" } else { tag }.into());
    }
    let count = fill(work, &table, &query).await?;
    Ok(format!("SELECT {count}"))
}

/// SELECT … INTO.
pub(crate) async fn select_into(work: Work<'_>, query: &ast::Query) -> PgResult<String> {
    let mut query = query.clone();
    let Some(into) = take_into(&mut query.body) else { return Err(PgError::internal("a query without INTO")) };
    let create = CreateTableAs {
        name: into.name,
        temporary: into.temporary,
        if_not_exists: false,
        columns: Vec::new(),
        options: Vec::new(),
        on_commit: None,
        rows: RowSource::Query(Box::new(ast::Statement::Query(Box::new(query)))),
        with_data: true,
        materialized_view: false,
    };
    create_as(work, &create, None).await
}

fn take_into(body: &mut ast::SetExpr) -> Option<ast::SelectInto> {
    match body {
        ast::SetExpr::Select(select) => select.into.take(),
        ast::SetExpr::SetOperation { left, .. } => take_into(left),
        _ => None,
    }
}

/// REFRESH MATERIALIZED VIEW: new rows in a new place. CONCURRENTLY, readers go on until the new rows are there and take the old ones' place.
pub(crate) async fn refresh(work: Work<'_>, name: &ObjectName, concurrently: bool, with_data: bool) -> PgResult<String> {
    let view = match work.find(name)?.as_deref() {
        Some(Relation::View(view)) if view.materialized.is_some() => view.clone(),
        Some(other) => {
            if let Relation::View(view) = other {
                let message = format!("\"{}\" is not a table or materialized view", view.name);
                return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, message));
            }
            return Err(PgError::unsupported(format!("\"{}\" is not a materialized view", other.name())));
        }
        None => return Err(work.missing(name)),
    };
    if concurrently && view.unpopulated {
        return Err(PgError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            "CONCURRENTLY cannot be used when the materialized view is not populated",
        ));
    }
    if concurrently && !with_data {
        return Err(PgError::new(SqlState::SYNTAX_ERROR, "CONCURRENTLY and WITH NO DATA options cannot be used together"));
    }
    if concurrently
        && let Some(rows) = view.materialized.and_then(|oid| work.catalog().table(oid).cloned())
        && !rows.indexes.iter().any(|i| i.unique && i.predicate.is_none() && i.parts.iter().all(|p| matches!(p.key, IndexKey::Column(_))))
    {
        let quote = stoa_sql::catalog::deparse::quote_name;
        let schema = work.catalog().schema(view.schema).map_or_else(String::new, |s| s.name.clone());
        return Err(PgError::new(
            SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
            format!("cannot refresh materialized view \"{}.{}\" concurrently", quote(&schema), quote(&view.name)),
        )
        .hint("Create a unique index with no WHERE clause on one or more columns of the materialized view."));
    }
    let lock = async |mode: TableLockMode| -> PgResult<()> {
        work.lock(&Relation::View(view.clone()), mode).await?;
        if let Some(rows) = view.materialized {
            // Readers have locked the table that holds the rows.
            work.lock_oid(rows, &view.name, mode, false).await?;
            work.refresh().await?;
        }
        Ok(())
    };
    // Entries of maps are written to tables that the catalog must know.
    let has_maps = |oid: Oid| work.catalog().table(oid).is_some_and(|rows| rows.map_columns().next().is_some());
    let online = concurrently && !view.materialized.is_some_and(has_maps);
    lock(if online { TableLockMode::Exclusive } else { TableLockMode::AccessExclusive }).await?;
    let Some(Relation::Table(old)) = view.materialized.and_then(|oid| work.catalog().relation(oid).map(|r| (**r).clone())) else {
        return Err(PgError::internal(format!("materialized view \"{}\" has no rows", view.name)));
    };
    let parsed = stoa_syntax::parse(&view.sql).map_err(stoa_sql::bind::syntax_error)?;
    let Some(ast::Statement::Query(syntax)) = parsed.into_iter().next().map(|p| p.statement) else {
        return Err(PgError::internal(format!("the definition of view \"{}\" is not a query", view.name)));
    };
    let catalog = work.catalog();
    let path = work.path();
    // It is the owner who reads, whoever asks for it: `current_user` in what is read is that role.
    let owner = catalog.authority().rights(RightsOf::Relation(view.oid)).owner;
    let named = work.ctx.with_role(owner);
    let bound = bind_stored_query(&Work { ctx: &named }.bind_context(&catalog, &path), view.oid, &syntax)?;
    stoa_sql::privileges::check(&catalog, owner, &bound)?;
    let query = query_of(bound, &[])?;
    let mut builder = TableBuilder::of(work, old.clone());
    builder.move_storage().await?;
    let table = builder.table;
    work.create_storage_of(&table).await?;
    if online {
        fill(Work { ctx: &named }, &table, &query).await?;
        lock(TableLockMode::AccessExclusive).await?;
    }
    work.drop_storage_of(&Relation::Table(old))?;
    work.put(Relation::Table(table.clone()))?;
    if view.unpopulated == with_data {
        work.put(Relation::View(ViewDescriptor { unpopulated: !with_data, ..view.clone() }))?;
    }
    if with_data && !online {
        fill(Work { ctx: &named }, &table, &query).await?;
    }
    Ok("REFRESH MATERIALIZED VIEW".into())
}

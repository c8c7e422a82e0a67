//! CREATE FOREIGN TABLE: cells of a raw table as columns.
//!
//! ```text
//! OPTIONS of the table    table 'ns:name', format 'bytes' | 'text' | 'phoenix', family 'f', key_format 'UNSIGNED(id, 8), REST(name)'
//! OPTIONS of a column     column 'f:qualifier' (with \x00 for bytes), format
//! ```
//!
//! Without a key format the first column is the key.

use super::builder::TableBuilder;
use super::work::Work;
use stoa_pg::types::PgType;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::bind::fold;
use stoa_syntax::ddl::{Column, Constraint, ConstraintKind, CreateTable, Ddl, StorageOption, TableElement};
use stoa_syntax::script::{Body, Piece};
use stoa_syntax::utility::Utility;
use stoa_table::catalog::{
    CELLS, ColumnId, Encoding, Epoch, FamilyDescriptor, KeyForm, LOCATION, MappedColumn, Mapping, Relation, RightsOf, TableDescriptor,
};

fn invalid(message: impl Into<String>) -> PgError {
    PgError::new(SqlState::INVALID_TABLE_DEFINITION, message)
}

/// The value of an option.
fn option<'o>(options: &'o [StorageOption], name: &str) -> Option<&'o str> {
    options.iter().find(|o| o.name == name).and_then(|o| o.value.as_deref())
}

/// HV00D, as PostgreSQL has it, for options that there are not.
fn check_names(options: &[StorageOption], known: &[&str]) -> PgResult<()> {
    super::storage_parameters::check_once(options)?;
    match options.iter().find(|o| !known.contains(&o.name.as_str())) {
        None => Ok(()),
        Some(other) => Err(PgError::new(SqlState::FDW_INVALID_OPTION_NAME, format!("invalid option \"{}\"", other.name))
            .hint(format!("Valid options in this context are: {}", known.join(", ")))),
    }
}

fn encoding(options: &[StorageOption]) -> PgResult<Option<Encoding>> {
    let Some(name) = option(options, "format") else { return Ok(None) };
    Encoding::named(&name.to_ascii_lowercase()).map(Some).ok_or_else(|| {
        PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("format \"{name}\" is not known"))
            .hint("Formats are bytes (HBase's Bytes), text, and phoenix.")
    })
}

/// What stands where a key format names a column by itself: as other programs write it.
fn form_of(encoding: Encoding, ty: &PgType, last: bool) -> Option<KeyForm> {
    const LONGEST: u32 = 32_767;
    match (encoding, ty) {
        (Encoding::Bytes, PgType::Int2) => Some(KeyForm::Unsigned(2)),
        (Encoding::Bytes, PgType::Int4) => Some(KeyForm::Unsigned(4)),
        (Encoding::Bytes, PgType::Int8) => Some(KeyForm::Unsigned(8)),
        (Encoding::Phoenix, PgType::Int2) => Some(KeyForm::Signed(2)),
        (Encoding::Phoenix, PgType::Int4) => Some(KeyForm::Signed(4)),
        (Encoding::Phoenix, PgType::Int8) => Some(KeyForm::Signed(8)),
        (_, PgType::Text | PgType::Varchar | PgType::Bytea) if last => Some(KeyForm::Rest(LONGEST)),
        // Phoenix closes texts with a byte 00.
        (Encoding::Phoenix, PgType::Text | PgType::Varchar) => Some(KeyForm::Delimited(0)),
        _ => None,
    }
}

/// The raw table that the options name, which the role owns.
pub(super) async fn raw_table(work: Work<'_>, create: &CreateTable, options: &[StorageOption]) -> PgResult<TableDescriptor> {
    check_names(options, &["table", "format", "family", "key_format"])?;
    let name = option(options, "table").ok_or_else(|| {
        PgError::new(SqlState::FDW_OPTION_NAME_NOT_FOUND, "a foreign table has an option \"table\"")
            .hint("OPTIONS (table 'name') names a raw table.")
    })?;
    if create.temporary {
        return Err(invalid("a foreign table is not temporary"));
    }
    let (schema, name) = name.split_once(':').unwrap_or((stoa_table::raw::DEFAULT_NAMESPACE, name));
    let find = || {
        let catalog = work.catalog();
        let schema = catalog.schema_by_name(stoa_table::raw::schema_of(schema))?;
        catalog.relation_by_name(schema.oid, name).cloned()
    };
    let missing = || {
        PgError::new(SqlState::UNDEFINED_TABLE, format!("raw table \"{schema}:{name}\" does not exist")).hint(match name.split_once('.') {
            // As SQL names a table of a schema.
            Some((schema, table)) if work.catalog().schema_by_name(schema).is_some() => {
                format!("A table of a schema is named with a colon: \"table\" '{schema}:{table}'.")
            }
            _ => "create 't', 'f' in stoa shell makes one, or CREATE TABLE t (FAMILY f ()) WITH (raw).".to_owned(),
        })
    };
    let found = find().ok_or_else(missing)?;
    // Nobody drops or empties it before the mapping is there.
    work.lock(&found, stoa_table::txn::TableLockMode::AccessExclusive).await?;
    work.refresh().await?;
    let found = find().ok_or_else(missing)?;
    super::owner::check_owns(&work, RightsOf::Relation(found.oid()))?;
    match &*found {
        Relation::Table(table) if table.is_raw() && table.mapping.is_none() => Ok(table.clone()),
        other => Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is not a raw table", other.name()))),
    }
}

/// The primary key that a foreign table's options, or its first column, say.
///
/// # Errors
/// 42601 for a key format that is none.
pub(super) fn key(create: &CreateTable, options: &[StorageOption]) -> PgResult<Constraint> {
    let parts = match option(options, "key_format") {
        Some(parts) => parts.to_owned(),
        None => create
            .elements
            .iter()
            .find_map(|element| match element {
                TableElement::Column(column) => Some(stoa_sql::catalog::deparse::quote_name(&fold(&column.name))),
                _ => None,
            })
            .ok_or_else(|| invalid("a foreign table has at least one column"))?,
    };
    let wrong = || {
        PgError::new(SqlState::SYNTAX_ERROR, format!("\"{parts}\" is no key format"))
            .hint("It is as in PRIMARY KEY: UNSIGNED(id, 8), DELIMITED(name, '|'), REST(rest).")
    };
    let text = format!("CREATE TABLE k (PRIMARY KEY ({parts}))");
    let mut script = stoa_syntax::parse_script(&text).map_err(|_| wrong())?;
    let Some(Piece { body: Body::Utility(utility), .. }) = script.pop().filter(|_| script.is_empty()) else { return Err(wrong()) };
    let Utility::Ddl(ddl) = *utility else { return Err(wrong()) };
    match *ddl {
        Ddl::CreateTable(mut table) if table.elements.len() == 1 => match table.elements.pop() {
            Some(TableElement::Constraint(constraint)) if matches!(constraint.kind, ConstraintKind::PrimaryKey(_)) => Ok(constraint),
            _ => Err(wrong()),
        },
        _ => Err(wrong()),
    }
}

/// Refuses what nobody could keep where other programs write.
pub(super) fn check_elements(create: &CreateTable) -> PgResult<()> {
    for element in &create.elements {
        let constraints = match element {
            TableElement::Column(column) => &column.constraints,
            _ => return Err(invalid("a foreign table has columns and nothing else").hint("Its key is the option key_format.")),
        };
        if constraints.iter().any(|c| !matches!(c.kind, ConstraintKind::Default(_) | ConstraintKind::Null)) {
            return Err(PgError::unsupported("constraints of foreign tables are not supported")
                .detail("Other programs write the cells, and know none.")
                .hint("Check what is read in a view over the foreign table."));
        }
    }
    Ok(())
}

/// Makes a new table, whose columns and key are there, one of a raw table's cells.
///
/// # Errors
/// 42704 for families that the raw table does not have; 0A000 for types that cells do not hold.
pub(super) fn make(builder: &mut TableBuilder<'_>, create: &CreateTable, options: &[StorageOption], raw: &TableDescriptor) -> PgResult<()> {
    let general = encoding(options)?.unwrap_or(Encoding::Bytes);
    let families = || raw.families.iter().filter(|f| f.id != CELLS);
    let default = match option(options, "family") {
        Some(name) => name.to_owned(),
        None => families().next().map(|f| f.name.clone()).unwrap_or_default(),
    };
    let columns: Vec<&Column> = create
        .elements
        .iter()
        .filter_map(|element| match element {
            TableElement::Column(column) => Some(column),
            _ => None,
        })
        .collect();
    let of = |id: ColumnId, table: &TableDescriptor| {
        let name = table.column(id).map(|c| c.name.clone()).unwrap_or_default();
        columns.iter().find(|c| fold(&c.name) == name).map(|c| c.options.as_slice()).unwrap_or_default()
    };
    let parts = builder.table.key.len();
    for at in 0..parts {
        let Some(part) = builder.table.key.get(at).filter(|part| part.form == KeyForm::Value).cloned() else { continue };
        let Some(column) = builder.table.column(part.column) else { continue };
        let own = encoding(of(part.column, &builder.table))?.unwrap_or(general);
        let form = form_of(own, &column.ty.ty, at + 1 == parts && !part.descending).ok_or_else(|| {
            invalid(format!("key column \"{}\" of type {} has no form in the format {}", column.name, column.ty.display_name(), own.name()))
                .hint("Say it in key_format: UNSIGNED, SIGNED, DIGITS, FIXED, DELIMITED, REST.")
        })?;
        stoa_table::row::key_form::kind(form, &column.ty)?;
        if let Some(part) = builder.table.key.get_mut(at) {
            part.form = form;
        }
    }
    if let Some(part) = builder.table.key.iter().find(|part| !part.form.gives_back()) {
        return Err(invalid(format!("{} does not give its column back", part.form.written("…"))));
    }
    let mut mapped = Vec::new();
    for column in builder.table.live_columns() {
        let given = of(column.id, &builder.table);
        if builder.table.is_key(column.id) {
            check_names(given, &["format"])?;
            continue;
        }
        check_names(given, &["column", "format"])?;
        let place = option(given, "column").map(str::to_owned).unwrap_or_else(|| format!("{default}:{}", column.name));
        let (family, qualifier) = place.split_once(':').unwrap_or((place.as_str(), ""));
        let family = families().find(|f| f.name == family).ok_or_else(|| super::alter_family::missing_family(raw, family))?;
        let own = encoding(given)?.unwrap_or(general);
        own.check(&column.ty)?;
        let qualifier = stoa_table::raw::from_binary(qualifier.as_bytes());
        mapped.push(MappedColumn { column: column.id, family: family.id.0, qualifier, encoding: own });
    }
    if mapped.is_empty() {
        return Err(invalid("a foreign table has a column beside its key"));
    }
    builder.table.storage = raw.storage;
    builder.table.options.extend(raw.location().map(|location| (LOCATION.to_owned(), location.to_owned())));
    builder.table.epoch = Epoch::Unix;
    builder.table.split_points.clone_from(&raw.split_points);
    let cells = raw.families.first().cloned().ok_or_else(|| PgError::internal("a raw table without cells"))?;
    let ids = mapped.iter().map(|m| m.column).collect();
    builder.table.families = vec![FamilyDescriptor { columns: ids, ..cells }];
    builder.table.mapping = Some(Mapping { table: raw.oid, columns: mapped });
    Ok(())
}

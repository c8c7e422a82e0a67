//! Functions about objects: definitions, comments, visibility, names, privileges, sequences, sizes.
//!
//! Called for one row each, through [`stoa_pg::context::System`]. Rights: there is one role, which may do everything, so that the
//! privilege functions say whether the object exists.

use super::definition::{Constraint, Definitions, constraint, describe};
use super::names::{class_name, class_named, is_visible, primary_index, qualified, shown_relation};
use crate::session::system::SessionSystem;
use crate::virtual_tables::updatable::Names;
use crate::virtual_tables::{DATABASE_OWNER, DATABASE_OWNER_NAME, OWNER};
use arrow::array::{Int32Array, StringViewArray};
use datafusion::common::ScalarValue;
use std::sync::Arc;
use stoa_pg::registry::{Func, Registry};
use stoa_pg::types::format_type;
use stoa_pg::values::array::array_of_elements;
use stoa_pg::{EvalContext, PgError, PgResult, PgType, SqlState, SqlType};
use stoa_table::TableId;
use stoa_table::catalog::{CatalogSnapshot, ColumnId, Numbers, Oid, Relation, SequenceDescriptor};
use stoa_table::txn::TableLockMode;

/// The OID of the only role.
const ROLE: Oid = 10;
const PG_CLASS: Oid = 1259;
const PG_CONSTRAINT: Oid = 2606;
const PG_NAMESPACE: Oid = 2615;
const PG_TYPE: Oid = 1247;

/// The relation's name as `regclass` prints it.
#[must_use]
pub fn relation_name(system: &SessionSystem, oid: u32) -> Option<String> {
    shown_relation(&system.catalog, &system.search_path, oid)
}

/// The OID of a relation named as SQL names it.
///
/// # Errors
/// 42602 for what is no name.
pub fn relation_oid(system: &SessionSystem, name: &str) -> PgResult<Option<u32>> {
    class_named(&system.catalog, &system.search_path, system.session.temporary_schema(), name)
}

/// The name of a schema.
#[must_use]
pub fn schema_name(system: &SessionSystem, oid: u32) -> Option<String> {
    system.catalog.schema(oid).map(|s| s.name.clone())
}

/// The OID of a schema.
#[must_use]
pub fn schema_oid(system: &SessionSystem, name: &str) -> Option<u32> {
    system.catalog.schema_by_name(name).map(|s| s.oid)
}

/// Answers one call.
///
/// # Errors
/// What the function raises; 0A000 for functions that nobody answers.
pub fn call(system: &SessionSystem, function: &str, args: &[ScalarValue], result: &SqlType) -> PgResult<ScalarValue> {
    let value = answer(system, function, &Args(args), result)?;
    if value.data_type() == result.arrow {
        return Ok(value);
    }
    if value.is_null() {
        return ScalarValue::try_from(&result.arrow).map_err(|e| PgError::internal(e.to_string()));
    }
    value.cast_to(&result.arrow).map_err(|e| PgError::internal(e.to_string()))
}

/// Arguments by position.
struct Args<'a>(&'a [ScalarValue]);

impl Args<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn text(&self, at: usize) -> Option<String> {
        self.0.get(at)?.try_as_str().flatten().map(str::to_owned)
    }

    fn int(&self, at: usize) -> Option<i64> {
        match self.0.get(at)? {
            ScalarValue::Int16(v) => v.map(i64::from),
            ScalarValue::Int32(v) => v.map(i64::from),
            ScalarValue::Int64(v) => *v,
            ScalarValue::UInt32(v) => v.map(i64::from),
            _ => None,
        }
    }

    fn oid(&self, at: usize) -> Option<Oid> {
        self.int(at).and_then(|v| u32::try_from(v).ok())
    }

    fn bool(&self, at: usize) -> Option<bool> {
        match self.0.get(at)? {
            ScalarValue::Boolean(v) => *v,
            _ => None,
        }
    }
}

fn text(value: impl Into<Option<String>>) -> PgResult<ScalarValue> {
    Ok(ScalarValue::Utf8View(value.into()))
}

fn truth(value: impl Into<Option<bool>>) -> PgResult<ScalarValue> {
    Ok(ScalarValue::Boolean(value.into()))
}

fn big(value: impl Into<Option<i64>>) -> PgResult<ScalarValue> {
    Ok(ScalarValue::Int64(value.into()))
}

fn oid_value(value: Option<Oid>) -> PgResult<ScalarValue> {
    Ok(ScalarValue::UInt32(value))
}

fn answer(system: &SessionSystem, function: &str, args: &Args<'_>, result: &SqlType) -> PgResult<ScalarValue> {
    let catalog = &*system.catalog;
    match function {
        // Definitions.
        "pg_get_expr" => {
            let Some(source) = args.text(0) else { return text(None) };
            let table = args.oid(1).and_then(|oid| catalog.table(oid));
            let pretty = args.bool(2).unwrap_or(false);
            with_definitions(system, |d| text(crate::ddl::clock::as_written(d.expr(table, &source, pretty), &source, pretty)))
        }
        "pg_get_constraintdef" => {
            let Some((table, constraint)) = args.oid(0).and_then(|oid| constraint(catalog, oid)) else { return text(None) };
            with_definitions(system, |d| text(d.constraint(table, &constraint, args.bool(1).unwrap_or(false))))
        }
        "pg_get_indexdef" => index_definition(system, args),
        "pg_get_viewdef" => {
            let oid = match args.text(0) {
                Some(name) => {
                    let found = relation_oid(system, &name)?;
                    Some(found.ok_or_else(|| PgError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{name}\" does not exist")))?)
                }
                None => args.oid(0),
            };
            let Some(oid) = oid else { return text(None) };
            // With a width for lines, it is as pretty.
            let pretty = args.bool(1).unwrap_or(args.int(1).is_some());
            with_definitions(system, |d| text(d.view(oid, pretty)?))
        }
        "pg_get_ruledef"
        | "pg_get_triggerdef"
        | "pg_get_partkeydef"
        | "pg_get_partition_constraintdef"
        | "pg_get_statisticsobjdef"
        | "pg_get_statisticsobjdef_columns"
        | "pg_get_function_sqlbody"
        | "pg_get_function_arg_default"
        | "pg_get_functiondef" => text(None),
        "pg_get_statisticsobjdef_expressions" => null(result),
        "pg_get_function_arguments" | "pg_get_function_identity_arguments" => {
            text(args.oid(0).and_then(function_by_oid).map(|f| arguments(f)))
        }
        "pg_get_function_result" => text(args.oid(0).and_then(function_by_oid).map(|f| {
            let set = if f.returns_set { "SETOF " } else { "" };
            format!("{set}{}", format_type(&f.ret, -1))
        })),
        "pg_get_serial_sequence" => serial_sequence(system, args),
        "pg_get_userbyid" => {
            let Some(oid) = args.oid(0) else { return text(None) };
            text(match oid {
                ROLE => owner(system),
                DATABASE_OWNER => DATABASE_OWNER_NAME.to_owned(),
                other => format!("unknown (OID={other})"),
            })
        }
        "pg_get_replica_identity_index" => {
            let table = args.oid(0).and_then(|oid| catalog.table(oid));
            oid_value(table.and_then(|t| t.primary_key.as_ref()).map(|k| k.oid | super::names::PRIMARY_INDEX_BIT))
        }
        "pg_describe_object" => {
            let (Some(class), Some(object)) = (args.oid(0), args.oid(1)) else { return text(None) };
            let column = args.int(2).and_then(|c| i32::try_from(c).ok()).unwrap_or(0);
            text(match class {
                PG_CLASS => describe(catalog, &system.search_path, object, column),
                PG_NAMESPACE => catalog.schema(object).map(|s| format!("schema {}", super::deparse::quote_name(&s.name))),
                PG_CONSTRAINT => constraint(catalog, object).map(|(table, c)| {
                    let on = shown_relation(catalog, &system.search_path, table.oid).unwrap_or_default();
                    format!("constraint {} on table {on}", super::deparse::quote_name(constraint_name(&c)))
                }),
                PG_TYPE => PgType::from_oid(object).map(|ty| format!("type {}", format_type(&ty, -1))),
                _ => None,
            })
        }
        // Comments.
        "obj_description" => {
            let Some(oid) = args.oid(0) else { return text(None) };
            let class = args.text(1);
            text(comment(catalog, oid, class.as_deref()))
        }
        "col_description" => {
            let (Some(oid), Some(column)) = (args.oid(0), args.int(1)) else { return text(None) };
            text(column_comment(catalog, oid, column))
        }
        "shobj_description" | "pg_tablespace_location" => text(match function {
            "pg_tablespace_location" => Some(String::new()),
            _ => None,
        }),
        // Storage.
        "pg_relation_filenode" => oid_value(args.oid(0).and_then(|oid| storage(catalog, oid).first().map(|t| t.0))),
        "pg_relation_filepath" => text(args.oid(0).and_then(|oid| storage(catalog, oid).first().map(|t| format!("table/{}", t.0)))),
        "pg_filenode_relation" => oid_value(args.oid(1).and_then(|node| {
            catalog.relations().find(|r| stoa_table::catalog::store::storage_of(r).contains(&TableId(node))).map(|r| r.oid())
        })),
        "pg_relation_is_publishable" => truth(false),
        "pg_relation_is_updatable" => {
            let Some(oid) = args.oid(0) else { return null(result) };
            with_definitions(system, |d| Ok(ScalarValue::Int32(Some(written(system, d.eval).events(oid)))))
        }
        "pg_column_is_updatable" => {
            let (Some(oid), Some(number)) = (args.oid(0), args.int(1)) else { return truth(None) };
            with_definitions(system, |d| truth(written(system, d.eval).column(oid, number)))
        }
        "acldefault" => default_privileges(system, args),
        "pg_index_column_has_property" | "pg_index_has_property" | "pg_indexam_has_property" => index_property(catalog, function, args),
        "pg_collation_actual_version" => text(None),
        "row_security_active" => match args.text(0) {
            Some(name) if relation_oid(system, &name)?.is_none() => {
                Err(PgError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{name}\" does not exist")))
            }
            _ => truth(false),
        },
        "pg_relation_size" => {
            let main = args.text(1).is_none_or(|fork| fork == "main");
            size(system, args.oid(0).map(|oid| if main { own_storage(catalog, oid) } else { Vec::new() }))
        }
        "pg_table_size" => size(system, args.oid(0).map(|oid| own_storage(catalog, oid))),
        "pg_total_relation_size" => size(system, args.oid(0).map(|oid| storage(catalog, oid))),
        "pg_indexes_size" => {
            size(system, args.oid(0).map(|oid| catalog.table(oid).map_or_else(Vec::new, |t| t.indexes.iter().map(|i| i.storage).collect())))
        }
        "pg_database_size" | "pg_tablespace_size" => {
            size(system, Some(catalog.relations().flat_map(|r| stoa_table::catalog::store::storage_of(r)).collect()))
        }
        // Visibility.
        "pg_table_is_visible" => truth(args.oid(0).and_then(|oid| is_visible(catalog, &system.search_path, oid))),
        "pg_type_is_visible" => truth(args.oid(0).map(|oid| PgType::from_oid(oid).is_some() || oid >= stoa_table::catalog::FIRST_USER_OID)),
        "pg_function_is_visible"
        | "pg_operator_is_visible"
        | "pg_opclass_is_visible"
        | "pg_opfamily_is_visible"
        | "pg_collation_is_visible"
        | "pg_conversion_is_visible"
        | "pg_ts_config_is_visible"
        | "pg_ts_dict_is_visible"
        | "pg_ts_parser_is_visible"
        | "pg_ts_template_is_visible" => truth(args.oid(0).map(|_| true)),
        "pg_statistics_obj_is_visible" => truth(None),
        // Names.
        "to_regclass" => match args.text(0) {
            Some(name) => oid_value(relation_oid(system, &name)?),
            None => oid_value(None),
        },
        "to_regnamespace" => oid_value(match args.text(0) {
            Some(name) => schema_oid(system, &one_name(&name)?),
            None => None,
        }),
        "to_regtype" => oid_value(match args.text(0) {
            Some(name) => found(stoa_pg::values::parse_type_name(&name), &[SqlState::UNDEFINED_OBJECT])?.map(|ty| ty.ty.oid()),
            None => None,
        }),
        "to_regrole" => oid_value(match args.text(0) {
            Some(name) => is_role(system, &one_name(&name)?).then_some(ROLE),
            None => None,
        }),
        "to_regproc" | "to_regprocedure" => {
            let Some(name) = args.text(0) else { return oid_value(None) };
            let ty = if function == "to_regproc" {
                super::names::parse_name(&name)?;
                PgType::Regproc
            } else {
                PgType::Regprocedure
            };
            let missing = [SqlState::UNDEFINED_FUNCTION, SqlState::AMBIGUOUS_FUNCTION];
            oid_value(found(stoa_pg::values::object::object_oid(&EvalContext::default(), &ty, &name), &missing)?)
        }
        // Privileges.
        name if name.starts_with("has_") || name == "pg_has_role" => privilege(system, name, args),
        // Sequences.
        "nextval" => {
            let (sequence, numbers) = locked_sequence(system, args)?;
            if !sequence.temporary {
                system.txn.require_writable("nextval()")?;
            }
            let value = next_value(system, &*numbers, &sequence)?;
            let mut values = system.session.sequences.lock();
            values.current.insert(sequence.oid, value);
            values.last = Some(sequence.oid);
            big(value)
        }
        "currval" => {
            let (sequence, _) = sequence(system, args)?;
            let value = system.session.sequences.lock().current.get(&sequence.oid).copied();
            match value {
                Some(value) => big(value),
                None => Err(PgError::new(
                    SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                    format!("currval of sequence \"{}\" is not yet defined in this session", sequence.name),
                )),
            }
        }
        "lastval" => {
            let values = system.session.sequences.lock();
            match values.last.filter(|oid| catalog.relation(*oid).is_some()).and_then(|oid| values.current.get(&oid).copied()) {
                Some(value) => big(value),
                None => Err(PgError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, "lastval is not yet defined in this session")),
            }
        }
        "setval" => {
            let (sequence, numbers) = locked_sequence(system, args)?;
            if !sequence.temporary {
                system.txn.require_writable("setval()")?;
            }
            let Some(value) = args.int(1) else { return big(None) };
            let is_called = args.bool(2).unwrap_or(true);
            system.session.wait_for(numbers.set(&sequence, value, is_called))?;
            if is_called {
                system.session.sequences.lock().current.insert(sequence.oid, value);
            }
            big(value)
        }
        "pg_sequence_last_value" => {
            let (sequence, numbers) = sequence(system, args)?;
            let state = system.session.wait_for(numbers.state(&sequence))?;
            big(state.is_called.then_some(state.last_value))
        }
        // Transactions.
        "txid_status" | "pg_xact_status" => text(args.int(0).map(|id| {
            let running = system.txn.manager().running().iter().any(|(_, running)| i64::try_from(*running) == Ok(id));
            if running { "in progress".to_owned() } else { "committed".to_owned() }
        })),
        "pg_xact_commit_timestamp" => {
            Err(PgError::unsupported(format!("{function} is not supported")).hint("Commit times of transactions are not kept."))
        }
        "stoa_commit_status" => match args.text(0) {
            Some(token) => text(system.session.wait_for(crate::session::commit_status::status(system, &token))?.word().to_owned()),
            None => text(None),
        },
        "pg_blocking_pids" => {
            let pids = match args.int(0).and_then(|pid| u64::try_from(pid).ok()) {
                Some(pid) => system.txn.manager().locks().blockers(stoa_table::txn::GroupId(pid)),
                None => Vec::new(),
            };
            let mut pids: Vec<i32> = pids.into_iter().filter_map(|group| i32::try_from(group.0).ok()).collect();
            pids.sort_unstable();
            pids.dedup();
            array_of_elements(Arc::new(Int32Array::from(pids)))
        }
        "pg_safe_snapshot_blocking_pids" => array_of_elements(Arc::new(Int32Array::from(Vec::<i32>::new()))),
        "pg_client_encoding" => text("UTF8".to_owned()),
        // Statistics: rows are counted by the store alone.
        "pg_stat_get_live_tuples" => {
            let Some(oid) = args.oid(0) else { return big(None) };
            big(rows(system, &own_storage(catalog, oid))?)
        }
        "pg_stat_get_backend_pid" => Ok(ScalarValue::Int32(args.int(0).and_then(|v| i32::try_from(v).ok()))),
        "pg_stat_get_backend_activity" => text(
            args.int(0)
                .and_then(|pid| u32::try_from(pid).ok())
                .and_then(|pid| system.database.session(pid))
                .map(|s| s.activity().query.to_string()),
        ),
        "pg_stat_get_db_numbackends" => Ok(ScalarValue::Int32(i32::try_from(system.database.sessions().len()).ok())),
        "pg_stat_get_db_stat_reset_time" => null(result),
        "pg_stat_reset" => null(result),
        name if name.starts_with("pg_stat_get_") => {
            if matches!(result.ty, PgType::Timestamptz) {
                null(result)
            } else {
                big(0)
            }
        }
        other => Err(PgError::unsupported(format!("function {other} is not supported"))),
    }
}

fn null(result: &SqlType) -> PgResult<ScalarValue> {
    ScalarValue::try_from(&result.arrow).map_err(|e| PgError::internal(e.to_string()))
}

fn owner(system: &SessionSystem) -> String {
    system.session.session_user.clone()
}

/// A name of one part, as of a role or a schema.
///
/// # Errors
/// 42602 for anything else.
fn one_name(text: &str) -> PgResult<String> {
    match <[String; 1]>::try_from(super::names::parse_name(text)?) {
        Ok([name]) => Ok(name),
        Err(_) => Err(PgError::new(SqlState::INVALID_NAME, "invalid name syntax")),
    }
}

/// What was found; `None` for an error that says that there is no such thing.
fn found<T>(result: PgResult<T>, missing: &[SqlState]) -> PgResult<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(e) if missing.contains(&e.code()) => Ok(None),
        Err(e) => Err(e),
    }
}

fn is_role(system: &SessionSystem, name: &str) -> bool {
    name == system.session.session_user || matches!(name, "stoa" | "postgres")
}

fn constraint_name<'a>(constraint: &'a Constraint<'_>) -> &'a str {
    match constraint {
        Constraint::PrimaryKey(name) | Constraint::Unique(name, _) => &name.name,
        Constraint::Check(check) => &check.name.name,
        Constraint::ForeignKey(key) => &key.name.name,
    }
}

/// Runs with what definitions are printed against: the session's own settings and names.
fn with_definitions<T>(system: &SessionSystem, run: impl FnOnce(&Definitions<'_>) -> PgResult<T>) -> PgResult<T> {
    let own = SessionSystem {
        database: Arc::clone(&system.database),
        session: Arc::clone(&system.session),
        catalog: Arc::clone(&system.catalog),
        search_path: Arc::clone(&system.search_path),
        txn: Arc::clone(&system.txn),
    };
    let eval = EvalContext { settings: system.session.settings().value.clone(), system: Arc::new(own), ..EvalContext::default() };
    run(&Definitions { catalog: &system.catalog, path: &system.search_path, eval: &eval })
}

/// What can be written of views, by the names that the session sees.
fn written<'a>(system: &'a SessionSystem, eval: &'a EvalContext) -> Names<'a> {
    Names { catalog: &system.catalog, path: &system.search_path, temporary: system.session.temporary_schema(), eval }
}

fn index_definition(system: &SessionSystem, args: &Args<'_>) -> PgResult<ScalarValue> {
    let catalog = &*system.catalog;
    let Some(oid) = args.oid(0) else { return text(None) };
    let (table, index) = match catalog.index(oid) {
        Some((table, index)) => (table, Some(index)),
        None => match primary_index(catalog, oid) {
            Some(table) => (table, None),
            None => return text(None),
        },
    };
    let pretty = args.bool(2).unwrap_or(false);
    let column = args.int(1).unwrap_or(0);
    with_definitions(system, |d| {
        if column == 0 {
            return text(d.index(table, index, pretty));
        }
        let n = usize::try_from(column - 1).unwrap_or(usize::MAX);
        text(d.index_column(table, index, n, false, pretty).unwrap_or_default())
    })
}

fn function_by_oid(oid: Oid) -> Option<&'static Arc<Func>> {
    Registry::get().all_functions().find(|f| f.oid == oid)
}

fn arguments(func: &Func) -> String {
    let last = func.args.len().saturating_sub(1);
    let args: Vec<String> = func
        .declared_args()
        .enumerate()
        .map(|(i, ty)| {
            let variadic = if func.variadic && i == last { "VARIADIC " } else { "" };
            let name = func.arg_names.get(i).map_or_else(String::new, |n| format!("{n} "));
            format!("{variadic}{name}{}", format_type(&ty, -1))
        })
        .collect();
    args.join(", ")
}

fn serial_sequence(system: &SessionSystem, args: &Args<'_>) -> PgResult<ScalarValue> {
    let catalog = &*system.catalog;
    let (Some(name), Some(column)) = (args.text(0), args.text(1)) else { return text(None) };
    let missing = || PgError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{name}\" does not exist"));
    let oid = relation_oid(system, &name)?.ok_or_else(missing)?;
    let Some(table) = catalog.table(oid) else { return text(None) };
    let column = table.column_by_name(&column).ok_or_else(|| {
        PgError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{column}\" of relation \"{}\" does not exist", table.name))
    })?;
    let sequence = catalog.relations().find_map(|r| match &**r {
        Relation::Sequence(s) if s.owned_by == Some((table.oid, column.id)) => Some(s.oid),
        _ => None,
    });
    text(sequence.and_then(|oid| qualified(catalog, oid)))
}

/// The comment of an object; `class` is the catalog that lists it.
fn comment(catalog: &CatalogSnapshot, oid: Oid, class: Option<&str>) -> Option<String> {
    let class = class.map(|c| c.trim_start_matches("pg_catalog."));
    let in_class = |name: &str| class.is_none_or(|c| c == name);
    if in_class("pg_class") {
        match catalog.relation(oid).map(|r| &**r) {
            Some(Relation::Table(t)) => return t.comment.clone(),
            Some(Relation::View(v)) => return v.comment.clone(),
            Some(Relation::Sequence(s)) => return s.comment.clone(),
            None => {}
        }
        if let Some((_, index)) = catalog.index(oid) {
            return index.comment.clone();
        }
        if let Some(key) = primary_index(catalog, oid).and_then(|table| table.primary_key.as_ref()) {
            return key.index_comment.clone();
        }
    }
    if in_class("pg_namespace")
        && let Some(schema) = catalog.schema(oid)
    {
        return schema.comment.clone();
    }
    if in_class("pg_constraint")
        && let Some((_, found)) = constraint(catalog, oid)
    {
        return match found {
            Constraint::PrimaryKey(name) | Constraint::Unique(name, _) => name.comment.clone(),
            Constraint::Check(check) => check.name.comment.clone(),
            Constraint::ForeignKey(key) => key.name.comment.clone(),
        };
    }
    if in_class("pg_proc") {
        return function_by_oid(oid).map(|f| f.doc.to_owned());
    }
    None
}

fn column_comment(catalog: &CatalogSnapshot, oid: Oid, column: i64) -> Option<String> {
    match &**catalog.relation(oid)? {
        Relation::Table(t) => t.column(ColumnId(u32::try_from(column).ok()?))?.comment.clone(),
        Relation::View(v) => v.columns.get(usize::try_from(column.checked_sub(1)?).ok()?)?.comment.clone(),
        Relation::Sequence(_) => None,
    }
}

// Storage.

/// The tables of the store that an object has, indexes included.
fn storage(catalog: &CatalogSnapshot, oid: Oid) -> Vec<TableId> {
    if let Some((_, index)) = catalog.index(oid) {
        return vec![index.storage];
    }
    match catalog.relation(oid).map(|r| &**r) {
        Some(Relation::View(view)) => view.materialized.map_or_else(Vec::new, |table| storage(catalog, table)),
        Some(relation) => stoa_table::catalog::store::storage_of(relation),
        None => Vec::new(),
    }
}

/// The table of the store that holds an object's own rows.
fn own_storage(catalog: &CatalogSnapshot, oid: Oid) -> Vec<TableId> {
    let mut all = storage(catalog, oid);
    all.truncate(1);
    all
}

fn size(system: &SessionSystem, tables: Option<Vec<TableId>>) -> PgResult<ScalarValue> {
    let Some(tables) = tables else { return big(None) };
    let mut bytes = 0_u64;
    for table in tables {
        bytes = bytes.saturating_add(measured(system, table)?.0);
    }
    big(i64::try_from(bytes).unwrap_or(i64::MAX))
}

/// The bytes and rows of what has a number in the store's numbering: a table, or the files of a full text index.
fn measured(system: &SessionSystem, storage: TableId) -> PgResult<(u64, u64)> {
    match system.database.text.get(storage) {
        Some(index) => Ok(index.files().map_or((0, 0), |files| {
            let generation = files.generation();
            (generation.bytes(), generation.documents())
        })),
        None => system.session.wait_for(system.database.tables.size(storage)),
    }
}

fn rows(system: &SessionSystem, tables: &[TableId]) -> PgResult<i64> {
    let mut count = 0_u64;
    for table in tables {
        count = count.saturating_add(measured(system, *table)?.1);
    }
    Ok(i64::try_from(count).unwrap_or(i64::MAX))
}

/// The privileges that an object of a kind has by default, its owner's behind everybody's.
fn default_privileges(system: &SessionSystem, args: &Args<'_>) -> PgResult<ScalarValue> {
    let (Some(kind), Some(oid)) = (args.text(0), args.oid(1)) else { return null(&SqlType::new(PgType::Text.array_of())) };
    let (everybody, own) = match kind.as_str() {
        "c" => ("", ""),
        "r" => ("", "arwdDxt"),
        "s" => ("", "rwU"),
        "d" => ("Tc", "CTc"),
        "f" => ("X", "X"),
        "l" | "T" => ("U", "U"),
        "L" => ("", "rw"),
        "n" => ("", "UC"),
        "t" => ("", "C"),
        "F" | "S" => ("", "U"),
        "p" => ("", "sA"),
        other => return Err(PgError::internal(format!("unrecognized objtype abbreviation: {other}"))),
    };
    let owner = if oid == ROLE { super::deparse::quote_name(&owner(system)) } else { oid.to_string() };
    let mut items = Vec::new();
    if !everybody.is_empty() {
        items.push(format!("={everybody}/{owner}"));
    }
    if !own.is_empty() {
        items.push(format!("{owner}={own}/{owner}"));
    }
    array_of_elements(Arc::new(StringViewArray::from_iter_values(items)))
}

fn index_property(catalog: &CatalogSnapshot, function: &str, args: &Args<'_>) -> PgResult<ScalarValue> {
    let property = args.text(args.len().saturating_sub(1)).unwrap_or_default();
    if function == "pg_indexam_has_property" {
        return truth(match property.as_str() {
            "can_order" | "can_unique" | "can_multi_col" | "can_include" => Some(true),
            "can_exclude" => Some(false),
            _ => None,
        });
    }
    let Some(oid) = args.oid(0) else { return truth(None) };
    let (table, index) = match catalog.index(oid) {
        Some((table, index)) => (table, Some(index)),
        None => match primary_index(catalog, oid) {
            Some(table) => (table, None),
            None => return truth(None),
        },
    };
    if function == "pg_index_has_property" {
        return truth(match property.as_str() {
            "clusterable" | "backward_scan" => Some(true),
            "index_scan" => Some(true),
            "bitmap_scan" => Some(false),
            _ => None,
        });
    }
    let n = args.int(1).and_then(|n| n.checked_sub(1)).and_then(|n| usize::try_from(n).ok());
    let order = n.and_then(|n| match index {
        Some(index) => index.parts.get(n).map(|p| (p.descending, p.nulls_first)),
        None => table.key.get(n).map(|p| (p.descending, p.descending)),
    });
    truth(match (property.as_str(), order) {
        ("asc", Some((descending, _))) => Some(!descending),
        ("desc", Some((descending, _))) => Some(descending),
        ("nulls_first", Some((_, first))) => Some(first),
        ("nulls_last", Some((_, first))) => Some(!first),
        ("orderable" | "returnable" | "search_nulls" | "search_array", Some(_)) => Some(true),
        ("distance_orderable", Some(_)) => Some(false),
        ("returnable", None) => Some(true),
        _ => None,
    })
}

// Privileges.

const TABLE_PRIVILEGES: &[&str] = &["select", "insert", "update", "delete", "truncate", "references", "trigger", "rule"];

/// The kinds of privilege that a function knows.
fn known_privileges(function: &str) -> &'static [&'static str] {
    match function {
        "has_table_privilege" => TABLE_PRIVILEGES,
        "has_any_column_privilege" | "has_column_privilege" => &["select", "insert", "update", "references"],
        "has_sequence_privilege" => &["usage", "select", "update"],
        "has_schema_privilege" => &["create", "usage"],
        "has_database_privilege" => &["create", "connect", "temporary", "temp"],
        "has_function_privilege" => &["execute"],
        "has_parameter_privilege" => &["set", "alter system"],
        "has_tablespace_privilege" => &["create"],
        "pg_has_role" => &["member", "usage"],
        _ => &["usage"],
    }
}

fn privilege(system: &SessionSystem, function: &str, args: &Args<'_>) -> PgResult<ScalarValue> {
    let held = privilege_on(system, function, args)?;
    // The role and the object are looked up before.
    let kinds = args.text(args.len().saturating_sub(1)).unwrap_or_default();
    // RULE is known, and nobody has it.
    let mut some = false;
    for kind in kinds.split(',') {
        let kind = kind.trim().to_lowercase();
        let base = kind.strip_suffix(" with grant option").or_else(|| kind.strip_suffix(" with admin option")).unwrap_or(&kind);
        if !known_privileges(function).contains(&base) {
            return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("unrecognized privilege type: \"{}\"", kind.trim())));
        }
        some |= base != "rule";
    }
    if held.is_null() || (some && !of_nobody(function, args)) { Ok(held) } else { truth(false) }
}

/// Whether the role is told by a number that no role has: not even what everybody may do.
fn of_nobody(function: &str, args: &Args<'_>) -> bool {
    const EVERYBODY: Oid = 0;
    let given = args.len() > if function == "has_column_privilege" { 3 } else { 2 };
    given && args.text(0).is_none() && args.oid(0).is_some_and(|oid| ![EVERYBODY, OWNER, DATABASE_OWNER].contains(&oid))
}

/// The columns of a relation that are there, with their numbers.
fn columns_by_number(catalog: &CatalogSnapshot, oid: Oid) -> Vec<(i64, String)> {
    let counted = |names: Vec<String>| (1..).zip(names).collect();
    match catalog.relation(oid).map(|r| &**r) {
        Some(Relation::Table(table)) => table.visible_columns().map(|c| (i64::from(c.id.0), c.name.clone())).collect(),
        Some(Relation::View(view)) => counted(view.columns.iter().map(|c| c.name.clone()).collect()),
        Some(Relation::Sequence(_)) => counted(["last_value", "log_cnt", "is_called"].map(str::to_owned).to_vec()),
        None => {
            let columns = crate::virtual_tables::by_oid(oid).and_then(|(schema, name)| crate::virtual_tables::columns(schema, name));
            counted(columns.into_iter().flatten().map(|(name, _)| name).collect())
        }
    }
}

fn privilege_on(system: &SessionSystem, function: &str, args: &Args<'_>) -> PgResult<ScalarValue> {
    let objects = if function == "has_column_privilege" { 2 } else { 1 };
    let at = args.len().saturating_sub(1 + objects);
    if at == 1
        && let Some(role) = args.text(0)
        && !is_role(system, &role)
        && role != "public"
    {
        return Err(PgError::new(SqlState::UNDEFINED_OBJECT, format!("role \"{role}\" does not exist")));
    }
    let name = args.text(at);
    match function {
        "has_table_privilege" | "has_any_column_privilege" | "has_sequence_privilege" | "has_column_privilege" => {
            let oid = match &name {
                Some(name) => relation_oid(system, name)?
                    .ok_or_else(|| PgError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{name}\" does not exist")))?,
                None => match args.oid(at) {
                    Some(oid) if class_name(&system.catalog, oid).is_some() => oid,
                    _ => return truth(None),
                },
            };
            if function == "has_column_privilege" {
                let columns = columns_by_number(&system.catalog, oid);
                match args.text(at + 1) {
                    Some(column) if !columns.iter().any(|(_, name)| *name == column) => {
                        let relation = class_name(&system.catalog, oid).map(|c| c.name).unwrap_or_default();
                        return Err(PgError::new(
                            SqlState::UNDEFINED_COLUMN,
                            format!("column \"{column}\" of relation \"{relation}\" does not exist"),
                        ));
                    }
                    None if !args.int(at + 1).is_some_and(|number| columns.iter().any(|(n, _)| *n == number)) => return truth(None),
                    _ => {}
                }
            }
            truth(true)
        }
        "has_schema_privilege" => match name {
            Some(name) => match schema_oid(system, &name) {
                Some(_) => truth(true),
                None => Err(PgError::new(SqlState::INVALID_SCHEMA_NAME, format!("schema \"{name}\" does not exist"))),
            },
            None => truth(args.oid(at).and_then(|oid| system.catalog.schema(oid)).map(|_| true)),
        },
        "has_database_privilege" => match name {
            Some(name) if name != system.session.database && name != "stoa" && name != "postgres" => {
                Err(PgError::new(SqlState::INVALID_CATALOG_NAME, format!("database \"{name}\" does not exist")))
            }
            _ => truth(true),
        },
        "has_type_privilege" => match name {
            Some(name) => stoa_pg::values::parse_type_name(&name).and_then(|_| truth(true)),
            None => truth(true),
        },
        "pg_has_role" => match name {
            Some(name) if !is_role(system, &name) => {
                Err(PgError::new(SqlState::UNDEFINED_OBJECT, format!("role \"{name}\" does not exist")))
            }
            _ => truth(true),
        },
        _ => truth(true),
    }
}

// Sequences.

fn next_value(system: &SessionSystem, numbers: &dyn Numbers, sequence: &SequenceDescriptor) -> PgResult<i64> {
    match numbers.try_next(sequence) {
        Some(value) => value,
        None => system.session.wait_for(numbers.next(sequence)),
    }
}

/// The sequence that is to be advanced or set: whoever is changing its definition is waited for.
fn locked_sequence(system: &SessionSystem, args: &Args<'_>) -> PgResult<(SequenceDescriptor, Arc<dyn Numbers>)> {
    let (before, numbers) = sequence(system, args)?;
    let (txn, mode) = (&system.txn, TableLockMode::RowExclusive);
    if before.temporary {
        return Ok((before, numbers));
    }
    if !txn.try_lock_table(before.oid, mode) {
        let work = async { txn.lock_table(before.oid, mode, false, &before.name).await.map(|_| ()) };
        system.session.wait_for_others(work, || txn.try_lock_table(before.oid, mode))?;
    }
    // What holds behind the lock may be newer than what the statement began with.
    if txn.sees(&system.catalog) {
        return Ok((before, numbers));
    }
    match txn.catalog().relation(before.oid).map(|r| &**r) {
        Some(Relation::Sequence(sequence)) => Ok((sequence.clone(), numbers)),
        _ => Err(PgError::new(SqlState::UNDEFINED_TABLE, format!("could not open relation with OID {}", before.oid))),
    }
}

fn sequence(system: &SessionSystem, args: &Args<'_>) -> PgResult<(SequenceDescriptor, Arc<dyn Numbers>)> {
    let oid = args.oid(0).unwrap_or(0);
    // A sequence that the running statement does not know yet was made by it.
    let catalog = if system.catalog.relation(oid).is_some() { Arc::clone(&system.catalog) } else { system.txn.catalog() };
    let sequence = match catalog.relation(oid).map(|r| &**r) {
        Some(Relation::Sequence(sequence)) => sequence.clone(),
        Some(other) => return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is not a sequence", other.name()))),
        None => return Err(PgError::new(SqlState::UNDEFINED_TABLE, format!("could not open relation with OID {oid}"))),
    };
    let numbers = catalog.numbers().cloned().ok_or_else(|| PgError::internal("a catalog without a store"))?;
    Ok((sequence, numbers))
}

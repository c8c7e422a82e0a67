//! System information and administration: signatures of what the engine answers through [`crate::context::System::call`], and the
//! few functions that need no engine.
//!
//! Each line of [`TABLE`] is a name, its argument lists, its result, its volatility, whether NULL arguments give NULL, and what it
//! does. Types that are not ours stand as text (`pg_node_tree`, `inet`) or bigint (`xid8`).

use super::array::ArrayArg;
use super::json::rows::Rows;
use crate::args::{Call, Int4, Kernel, Kind, Oid, Reader, Text, arg, strict1, strict1_opt};
use crate::error::{PgError, PgResult};
use crate::operators::json::TextArrays;
use crate::registry::{Func, FuncKind, NativeOp, OperKind, Registry, Volatility};
use crate::sqlstate::SqlState;
use crate::types::{PgType, RecordType, SqlType, format_type, type_by_name};
use crate::values::array::elements_of_value;
use crate::values::object;
use crate::values::writer;
use arrow::array::{ArrayRef, Int32Array, StringViewBuilder, UInt32Array};
use std::sync::Arc;

/// One function that the engine answers.
struct Entry {
    name: &'static str,
    /// Alternatives are separated by `|`, arguments by commas.
    args: &'static str,
    ret: &'static str,
    volatility: Volatility,
    strict: bool,
    doc: &'static str,
}

const fn stable(name: &'static str, args: &'static str, ret: &'static str, doc: &'static str) -> Entry {
    Entry { name, args, ret, volatility: Volatility::Stable, strict: true, doc }
}

const fn volatile(name: &'static str, args: &'static str, ret: &'static str, doc: &'static str) -> Entry {
    Entry { name, args, ret, volatility: Volatility::Volatile, strict: true, doc }
}

/// Sees NULL arguments.
const fn lax(entry: Entry) -> Entry {
    Entry { strict: false, ..entry }
}

const PRIVILEGE_ARGS: &str = "text,text | oid,text | name,text,text | name,oid,text | oid,text,text | oid,oid,text";
const COLUMN_ARGS: &str = "text,text,text | text,int2,text | oid,text,text | oid,int2,text | name,text,text,text | name,text,int2,text | \
                           name,oid,text,text | name,oid,int2,text | oid,text,text,text | oid,text,int2,text | oid,oid,text,text | \
                           oid,oid,int2,text";
const LOCK_ARGS: &str = "int8 | int4,int4";
const PRIVILEGE: &str = "Does the user have the privilege?";
const VISIBLE: &str = "Is the object visible in the search path?";
const STATISTIC: &str = "Statistics: a counter or a time of the cumulative statistics.";
const LOCK: &str = "Obtains an advisory lock, waiting if necessary.";
const TRY_LOCK: &str = "Obtains an advisory lock if it is available.";
const UNLOCK: &str = "Releases an advisory lock of the session.";
const SIZE: &str = "Disk space used, in bytes.";
const DEFINITION: &str = "Reconstructs the creating command or expression of an object.";

/// All functions that the engine answers.
const TABLE: &[Entry] = &[
    // Session.
    stable("version", "", "text", "Returns a string describing the server's version."),
    stable("current_database", "", "name", "Returns the name of the current database."),
    stable("current_catalog", "", "name", "Returns the name of the current database."),
    stable("current_schema", "", "name", "Returns the name of the schema that is first in the search path."),
    stable("current_schemas", "bool", "name[]", "Returns the names of all schemas in the effective search path."),
    stable("current_user", "", "name", "Returns the user name of the current execution context."),
    stable("current_role", "", "name", "This is equivalent to current_user."),
    stable("session_user", "", "name", "Returns the session user's name."),
    stable("user", "", "name", "This is equivalent to current_user."),
    stable("getpgusername", "", "name", "This is equivalent to current_user."),
    lax(volatile("current_query", "", "text", "Returns the text of the currently executing query, as submitted by the client.")),
    stable("current_setting", "text | text,bool", "text", "Returns the current value of a setting."),
    lax(volatile("set_config", "text,text,bool", "text", "Sets a parameter to a value and returns it.")),
    stable("pg_settings_get_flags", "text", "text[]", "Returns the flags of a setting."),
    stable("pg_backend_pid", "", "int4", "Returns the process ID of the server process attached to the current session."),
    lax(stable("inet_client_addr", "", "text", "Returns the IP address of the current client.")),
    lax(stable("inet_client_port", "", "int4", "Returns the IP port number of the current client.")),
    lax(stable("inet_server_addr", "", "text", "Returns the IP address on which the server accepted the connection.")),
    lax(stable("inet_server_port", "", "int4", "Returns the IP port number on which the server accepted the connection.")),
    stable("pg_postmaster_start_time", "", "timestamptz", "Returns the time when the server started."),
    stable("pg_conf_load_time", "", "timestamptz", "Returns the time when the server configuration files were last loaded."),
    stable("getdatabaseencoding", "", "name", "Returns the database's encoding."),
    stable("pg_my_temp_schema", "", "oid", "Returns the OID of the current session's temporary schema, or zero."),
    stable("pg_is_other_temp_schema", "oid", "bool", "Returns true if the OID is that of another session's temporary schema."),
    stable("pg_trigger_depth", "", "int4", "Returns the current nesting level of triggers."),
    volatile("pg_jit_available", "", "bool", "Returns true if a JIT compiler extension is available."),
    volatile("pg_blocking_pids", "int4", "int4[]", "Returns the process IDs of the sessions that block the given one."),
    volatile("pg_safe_snapshot_blocking_pids", "int4", "int4[]", "Returns the sessions that block a safe snapshot."),
    volatile("pg_notification_queue_usage", "", "float8", "Returns the fraction of the notification queue that is occupied."),
    lax(volatile("pg_notify", "text,text", "void", "Sends a notification event.")),
    // Definitions.
    stable(
        "pg_get_expr",
        "pg_node_tree,oid | pg_node_tree,oid,bool",
        "text",
        "Decompiles the internal form of an expression stored in the catalogs.",
    ),
    stable("stoa_get_tabledef", "oid", "text", DEFINITION),
    stable("pg_get_viewdef", "oid | oid,bool | oid,int4 | text | text,bool", "text", DEFINITION),
    stable("pg_get_ruledef", "oid | oid,bool", "text", DEFINITION),
    stable("pg_get_constraintdef", "oid | oid,bool", "text", DEFINITION),
    stable("pg_get_indexdef", "oid | oid,int4,bool", "text", DEFINITION),
    stable("pg_get_triggerdef", "oid | oid,bool", "text", DEFINITION),
    stable("pg_get_functiondef", "oid", "text", DEFINITION),
    stable("pg_get_function_arguments", "oid", "text", "Reconstructs the argument list of a function, with defaults."),
    stable("pg_get_function_identity_arguments", "oid", "text", "Reconstructs the argument list that identifies a function."),
    stable("pg_get_function_result", "oid", "text", "Reconstructs the RETURNS clause of a function."),
    stable("pg_get_function_sqlbody", "oid", "text", "Reconstructs the SQL body of a function."),
    stable("pg_get_function_arg_default", "oid,int4", "text", "Reconstructs the default of a function's argument."),
    stable("pg_get_partkeydef", "oid", "text", DEFINITION),
    stable("pg_get_partition_constraintdef", "oid", "text", DEFINITION),
    stable("pg_get_statisticsobjdef", "oid", "text", DEFINITION),
    stable("pg_get_statisticsobjdef_columns", "oid", "text", DEFINITION),
    stable("pg_get_statisticsobjdef_expressions", "oid", "text[]", DEFINITION),
    stable("pg_get_serial_sequence", "text,text", "text", "Returns the name of the sequence associated with a column."),
    stable("pg_get_userbyid", "oid", "name", "Returns a role's name given its OID."),
    stable("pg_get_replica_identity_index", "regclass", "regclass", "Returns the index that is a table's replica identity."),
    stable("pg_describe_object", "oid,oid,int4", "text", "Returns a textual description of a database object."),
    stable("obj_description", "oid,name | oid", "text", "Returns the comment of a database object."),
    stable("col_description", "oid,int4", "text", "Returns the comment of a table column."),
    stable("shobj_description", "oid,name", "text", "Returns the comment of a shared database object."),
    stable("pg_tablespace_location", "oid", "text", "Returns the file system path that a tablespace is located in."),
    stable("pg_relation_filenode", "regclass", "oid", "Returns the filenode number of a relation."),
    stable("pg_relation_filepath", "regclass", "text", "Returns the file path name of a relation."),
    stable("pg_filenode_relation", "oid,oid", "regclass", "Returns a relation's OID given its filenode."),
    stable("pg_relation_is_publishable", "regclass", "bool", "Returns true if a relation can be published."),
    stable("pg_relation_is_updatable", "regclass,bool", "int4", "Returns the events that a relation supports, as bits."),
    stable("pg_column_is_updatable", "regclass,int2,bool", "bool", "Returns true if a column can be updated."),
    stable("pg_index_column_has_property", "regclass,int4,text", "bool", "Tests whether an index column has a property."),
    stable("pg_index_has_property", "regclass,text", "bool", "Tests whether an index has a property."),
    stable("pg_indexam_has_property", "oid,text", "bool", "Tests whether an index access method has a property."),
    volatile("pg_collation_actual_version", "oid", "text", "Returns the actual version of a collation object."),
    stable("makeaclitem", "oid,oid,text,bool", "aclitem", "Makes an item of a list of privileges."),
    stable("acldefault", "char,oid", "aclitem[]", "Returns the privileges that an object of a kind has by default."),
    stable("row_security_active", "oid | text", "bool", "Is row-level security active for a table?"),
    // Visibility.
    stable("pg_table_is_visible", "oid", "bool", VISIBLE),
    stable("pg_type_is_visible", "oid", "bool", VISIBLE),
    stable("pg_function_is_visible", "oid", "bool", VISIBLE),
    stable("pg_operator_is_visible", "oid", "bool", VISIBLE),
    stable("pg_opclass_is_visible", "oid", "bool", VISIBLE),
    stable("pg_opfamily_is_visible", "oid", "bool", VISIBLE),
    stable("pg_collation_is_visible", "oid", "bool", VISIBLE),
    stable("pg_conversion_is_visible", "oid", "bool", VISIBLE),
    stable("pg_statistics_obj_is_visible", "oid", "bool", VISIBLE),
    stable("pg_ts_config_is_visible", "oid", "bool", VISIBLE),
    stable("pg_ts_dict_is_visible", "oid", "bool", VISIBLE),
    stable("pg_ts_parser_is_visible", "oid", "bool", VISIBLE),
    stable("pg_ts_template_is_visible", "oid", "bool", VISIBLE),
    // Names to OIDs.
    stable("to_regclass", "text", "regclass", "Translates a textual relation name to its OID."),
    stable("to_regtype", "text", "regtype", "Translates a textual type name to its OID."),
    stable("to_regnamespace", "text", "regnamespace", "Translates a textual schema name to its OID."),
    stable("to_regrole", "text", "regrole", "Translates a textual role name to its OID."),
    stable("to_regproc", "text", "regproc", "Translates a textual function name to its OID."),
    stable("to_regoper", "text", "regoper", "Translates a textual operator name to its OID."),
    stable("to_regoperator", "text", "regoperator", "Translates a textual operator name with argument types to its OID."),
    stable("to_regcollation", "text", "regcollation", "Translates a textual collation name to its OID."),
    stable("to_regprocedure", "text", "regprocedure", "Translates a textual function name with argument types to its OID."),
    // Privileges.
    stable("has_table_privilege", PRIVILEGE_ARGS, "bool", PRIVILEGE),
    stable("has_sequence_privilege", PRIVILEGE_ARGS, "bool", PRIVILEGE),
    stable("has_schema_privilege", PRIVILEGE_ARGS, "bool", PRIVILEGE),
    stable("has_database_privilege", PRIVILEGE_ARGS, "bool", PRIVILEGE),
    stable("has_function_privilege", PRIVILEGE_ARGS, "bool", PRIVILEGE),
    stable("has_language_privilege", PRIVILEGE_ARGS, "bool", PRIVILEGE),
    stable("has_type_privilege", PRIVILEGE_ARGS, "bool", PRIVILEGE),
    stable("has_tablespace_privilege", PRIVILEGE_ARGS, "bool", PRIVILEGE),
    stable("has_foreign_data_wrapper_privilege", PRIVILEGE_ARGS, "bool", PRIVILEGE),
    stable("has_server_privilege", PRIVILEGE_ARGS, "bool", PRIVILEGE),
    stable("has_any_column_privilege", PRIVILEGE_ARGS, "bool", PRIVILEGE),
    stable("has_column_privilege", COLUMN_ARGS, "bool", PRIVILEGE),
    stable("has_parameter_privilege", "text,text | name,text,text | oid,text,text", "bool", PRIVILEGE),
    stable("pg_has_role", "name,text | oid,text | name,name,text | name,oid,text | oid,name,text | oid,oid,text", "bool", PRIVILEGE),
    // Sequences.
    volatile("nextval", "regclass", "int8", "Advances the sequence object to its next value and returns that value."),
    volatile("currval", "regclass", "int8", "Returns the value most recently obtained by nextval in the current session."),
    volatile("setval", "regclass,int8 | regclass,int8,bool", "int8", "Sets the sequence object's current value."),
    volatile("lastval", "", "int8", "Returns the value most recently returned by nextval in the current session."),
    volatile("pg_sequence_last_value", "regclass", "int8", "Returns the last value written by a sequence."),
    // Advisory locks.
    volatile("pg_advisory_lock", LOCK_ARGS, "void", LOCK),
    volatile("pg_advisory_lock_shared", LOCK_ARGS, "void", LOCK),
    volatile("pg_advisory_xact_lock", LOCK_ARGS, "void", LOCK),
    volatile("pg_advisory_xact_lock_shared", LOCK_ARGS, "void", LOCK),
    volatile("pg_try_advisory_lock", LOCK_ARGS, "bool", TRY_LOCK),
    volatile("pg_try_advisory_lock_shared", LOCK_ARGS, "bool", TRY_LOCK),
    volatile("pg_try_advisory_xact_lock", LOCK_ARGS, "bool", TRY_LOCK),
    volatile("pg_try_advisory_xact_lock_shared", LOCK_ARGS, "bool", TRY_LOCK),
    volatile("pg_advisory_unlock", LOCK_ARGS, "bool", UNLOCK),
    volatile("pg_advisory_unlock_shared", LOCK_ARGS, "bool", UNLOCK),
    volatile("pg_advisory_unlock_all", "", "void", UNLOCK),
    // Administration.
    volatile("pg_cancel_backend", "int4", "bool", "Cancels the current query of a session."),
    volatile("pg_reload_conf", "", "bool", "Reloads the configuration files."),
    volatile("pg_sleep", "float8", "void", "Delays execution for a number of seconds."),
    volatile("pg_sleep_for", "interval", "void", "Delays execution for an interval."),
    volatile("pg_sleep_until", "timestamptz", "void", "Delays execution until a time."),
    volatile("pg_is_in_recovery", "", "bool", "Returns true if recovery is still in progress."),
    volatile("pg_is_wal_replay_paused", "", "bool", "Returns true if recovery is paused."),
    // Transactions.
    stable("txid_current", "", "int8", "Returns the current transaction's ID."),
    stable("age", "xid", "int4", "Returns the number of transactions since a transaction."),
    stable("txid_current_if_assigned", "", "int8", "Returns the current transaction's ID, or NULL if none is assigned."),
    volatile("pg_export_snapshot", "", "text", "Saves the snapshot of the transaction, and returns a name by which others can read as it."),
    volatile("txid_status", "int8", "text", "Reports the commit status of a recent transaction."),
    stable("pg_current_xact_id", "", "int8", "Returns the current transaction's ID."),
    stable("pg_current_xact_id_if_assigned", "", "int8", "Returns the current transaction's ID, or NULL if none is assigned."),
    volatile("pg_xact_status", "int8", "text", "Reports the commit status of a recent transaction."),
    volatile("pg_xact_commit_timestamp", "xid", "timestamptz", "Returns the commit time of a transaction."),
    volatile("stoa_commit_status", "text", "text", "Says whether the transaction of a commit token was committed, aborted, or is unknown."),
    // Full text.
    volatile(
        "stoa_suggest",
        "regclass,text,text",
        "text",
        "The text with words that no row of a table has replaced by like ones that rows have.",
    ),
    // Large objects.
    volatile("lo_creat", "int4", "oid", "Creates a large object with an OID of the system's choice."),
    volatile("lo_create", "oid", "oid", "Creates a large object; 0 lets the system choose its OID."),
    volatile("lo_from_bytea", "oid,bytea", "oid", "Creates a large object with a content; 0 lets the system choose its OID."),
    volatile("lo_import", "text | text,oid", "oid", "Creates a large object from a file of the server."),
    volatile("lo_export", "oid,text", "int4", "Writes a large object into a file of the server."),
    volatile("lo_unlink", "oid", "int4", "Removes a large object."),
    volatile("lo_get", "oid | oid,int8,int4", "bytea", "Returns the content of a large object, or a part of it."),
    volatile("lo_put", "oid,int8,bytea", "void", "Writes data into a large object, from an offset on."),
    volatile("lo_open", "oid,int4", "int4", "Opens a large object for as long as the transaction lasts."),
    volatile("lo_close", "int4", "int4", "Closes a large object."),
    volatile("loread", "int4,int4", "bytea", "Reads from an open large object."),
    volatile("lowrite", "int4,bytea", "int4", "Writes into an open large object."),
    volatile("lo_lseek", "int4,int4,int4", "int4", "Sets the position in an open large object."),
    volatile("lo_lseek64", "int4,int8,int4", "int8", "Sets the position in an open large object."),
    volatile("lo_tell", "int4", "int4", "Returns the position in an open large object."),
    volatile("lo_tell64", "int4", "int8", "Returns the position in an open large object."),
    volatile("lo_truncate", "int4,int4", "int4", "Makes an open large object as long as this."),
    volatile("lo_truncate64", "int4,int8", "int4", "Makes an open large object as long as this."),
    // Sizes.
    volatile("pg_relation_size", "regclass | regclass,text", "int8", SIZE),
    volatile("pg_table_size", "regclass", "int8", SIZE),
    volatile("pg_total_relation_size", "regclass", "int8", SIZE),
    volatile("pg_indexes_size", "regclass", "int8", SIZE),
    volatile("pg_database_size", "name | oid", "int8", SIZE),
    volatile("pg_tablespace_size", "name | oid", "int8", SIZE),
    // Statistics.
    stable("pg_stat_get_numscans", "oid", "int8", STATISTIC),
    stable("pg_stat_get_tuples_returned", "oid", "int8", STATISTIC),
    stable("pg_stat_get_tuples_fetched", "oid", "int8", STATISTIC),
    stable("pg_stat_get_tuples_inserted", "oid", "int8", STATISTIC),
    stable("pg_stat_get_tuples_updated", "oid", "int8", STATISTIC),
    stable("pg_stat_get_tuples_deleted", "oid", "int8", STATISTIC),
    stable("pg_stat_get_tuples_hot_updated", "oid", "int8", STATISTIC),
    stable("pg_stat_get_live_tuples", "oid", "int8", STATISTIC),
    stable("pg_stat_get_dead_tuples", "oid", "int8", STATISTIC),
    stable("pg_stat_get_mod_since_analyze", "oid", "int8", STATISTIC),
    stable("pg_stat_get_blocks_fetched", "oid", "int8", STATISTIC),
    stable("pg_stat_get_blocks_hit", "oid", "int8", STATISTIC),
    stable("pg_stat_get_last_analyze_time", "oid", "timestamptz", STATISTIC),
    stable("pg_stat_get_last_autoanalyze_time", "oid", "timestamptz", STATISTIC),
    stable("pg_stat_get_last_vacuum_time", "oid", "timestamptz", STATISTIC),
    stable("pg_stat_get_last_autovacuum_time", "oid", "timestamptz", STATISTIC),
    stable("pg_stat_get_analyze_count", "oid", "int8", STATISTIC),
    stable("pg_stat_get_autoanalyze_count", "oid", "int8", STATISTIC),
    stable("pg_stat_get_vacuum_count", "oid", "int8", STATISTIC),
    stable("pg_stat_get_autovacuum_count", "oid", "int8", STATISTIC),
    stable("pg_stat_get_backend_pid", "int4", "int4", STATISTIC),
    stable("pg_stat_get_backend_activity", "int4", "text", STATISTIC),
    stable("pg_stat_get_db_numbackends", "oid", "int4", STATISTIC),
    stable("pg_stat_get_db_xact_commit", "oid", "int8", STATISTIC),
    stable("pg_stat_get_db_xact_rollback", "oid", "int8", STATISTIC),
    stable("pg_stat_get_db_stat_reset_time", "oid", "timestamptz", STATISTIC),
    lax(volatile("pg_stat_reset", "", "void", "Resets all statistics counters of the current database.")),
];

/// A type of the table.
fn table_type(name: &str) -> PgType {
    match name.strip_suffix("[]") {
        Some(element) => table_type(element).array_of(),
        None if name == "any" => PgType::Any,
        None => type_by_name(name).unwrap_or(PgType::Text),
    }
}

/// The alternatives of an entry's argument lists.
fn alternatives(args: &str) -> Vec<Vec<PgType>> {
    args.split('|').map(|list| list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(table_type).collect()).collect()
}

/// `pg_typeof`.
fn type_of() -> Kernel {
    Arc::new(|call, _| {
        let oid = call.arg_types.first().map_or(PgType::Unknown.oid(), |ty| ty.ty.oid());
        Ok(Arc::new(UInt32Array::from(vec![oid; call.rows])))
    })
}

/// `format_type`: NULL where the type is NULL; the modifier may be NULL.
fn format_type_kernel() -> Kernel {
    Arc::new(|call, args| {
        let (oid, typmod) = (Reader::<Oid>::new(arg(args, 0)?)?, Reader::<Int4>::new(arg(args, 1)?)?);
        let mut out = Text::builder(call.rows);
        for row in 0..call.rows {
            let Some(oid) = oid.get(row)? else {
                out.append_null();
                continue;
            };
            let typmod = typmod.get(row)?;
            out.append_value(match PgType::from_oid(oid) {
                _ if oid == 0 => "-".to_owned(),
                // With a modifier that says nothing, the name is that of the type without length.
                Some(PgType::Bpchar) if typmod.is_some_and(|typmod| typmod < 0) => "bpchar".to_owned(),
                Some(PgType::Array(inner)) if *inner == PgType::Bpchar && typmod.is_some_and(|typmod| typmod < 0) => "bpchar[]".to_owned(),
                Some(PgType::Bit) if typmod.is_some_and(|typmod| typmod < 0) => "\"bit\"".to_owned(),
                Some(PgType::Array(inner)) if *inner == PgType::Bit && typmod.is_some_and(|typmod| typmod < 0) => "\"bit\"[]".to_owned(),
                Some(ty) => format_any_type(&ty, typmod.unwrap_or(-1)),
                None => object::type_name(call.ctx, oid)?.unwrap_or_else(|| "???".to_owned()),
            });
        }
        Text::finish(out, call.ret)
    })
}

/// A type with a modifier: of one that takes none, the number stands behind it.
fn format_any_type(ty: &PgType, typmod: i32) -> String {
    use PgType::{Bool, Bpchar, Float4, Float8, Int2, Int4, Int8, Interval, Numeric, Time, Timestamp, Timestamptz, Timetz, Varchar};
    match ty {
        PgType::Array(inner) => format!("{}[]", format_any_type(inner, typmod)),
        Bool | Int2 | Int4 | Int8 | Float4 | Float8 => format_type(ty, -1),
        Varchar | Bpchar | Numeric | Time | Timetz | Timestamp | Timestamptz | Interval => format_type(ty, typmod),
        _ if typmod >= 0 => format!("{}({typmod})", format_type(ty, -1)),
        _ => format_type(ty, -1),
    }
}

/// `oidvectortypes`.
fn types_of_vector() -> Kernel {
    Arc::new(|call, args| {
        let vectors = ArrayArg::open(call, args, 0)?;
        let leaf = vectors.column.leaf();
        let oids = leaf.as_any().downcast_ref::<UInt32Array>().ok_or_else(|| PgError::internal("an oidvector holds no OIDs"))?;
        let name = |oid| PgType::from_oid(oid).map_or_else(|| if oid == 0 { "-" } else { "???" }.to_owned(), |ty| format_type(&ty, -1));
        let mut out = Text::builder(call.rows);
        for row in 0..call.rows {
            match vectors.get(row) {
                Some(vector) => out.append_value((vector.start..vector.end).map(|at| name(oids.value(at))).collect::<Vec<_>>().join(", ")),
                None => out.append_null(),
            }
        }
        Text::finish(out, call.ret)
    })
}

/// `num_nulls`, `num_nonnulls`.
fn count_nulls(nulls: bool) -> Kernel {
    Arc::new(move |call, args| {
        let count = |row: usize| args.iter().filter(|arg| arg.is_null(row) == nulls).count();
        let counts = (0..call.rows).map(|row| i32::try_from(count(row)).map_err(|_| PgError::out_of_range("integer")));
        Ok(Arc::new(Int32Array::from(counts.collect::<PgResult<Vec<_>>>()?)))
    })
}

/// What tells a row from others of its table: the binary forms of the parts of its key, which follow the table's OID. It depends on no setting.
#[must_use]
pub fn row_address() -> Kernel {
    Arc::new(|call, args| {
        let parts = args.iter().zip(call.arg_types).skip(1);
        let parts = parts.map(|(arg, ty)| Ok((arg, writer(call.ctx, ty, arg.array.as_ref())?))).collect::<PgResult<Vec<_>>>()?;
        let mut out = StringViewBuilder::with_capacity(call.rows);
        let (mut bytes, mut text) = (Vec::new(), String::new());
        for row in 0..call.rows {
            text.clear();
            for (part, writer) in &parts {
                text.push(if text.is_empty() { '(' } else { ',' });
                bytes.clear();
                writer.binary(part.at(row), &mut bytes)?;
                text.extend(bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).filter_map(|digit| char::from_digit(digit.into(), 16)));
            }
            text.push(')');
            out.append_value(&text);
        }
        Ok(Arc::new(out.finish()))
    })
}

/// `pg_column_size`: the fixed length of the type, or that of the binary form.
fn column_size() -> Kernel {
    Arc::new(|call, args| {
        let value = arg(args, 0)?;
        let ty = call.arg_types.first().ok_or_else(|| PgError::internal("an argument without a type"))?;
        let fixed = i32::from(ty.ty.len());
        let writer = writer(call.ctx, ty, value.array.as_ref())?;
        let mut bytes = Vec::new();
        let mut out = Vec::with_capacity(call.rows);
        for row in 0..call.rows {
            out.push(if value.is_null(row) {
                None
            } else if fixed > 0 {
                Some(fixed)
            } else {
                bytes.clear();
                writer.binary(value.at(row), &mut bytes)?;
                // What is not in a row yet has the long header.
                let long = bytes.len() > 126 || (value.constant && ty.ty == PgType::Bytea);
                let header = if long { 4 } else { 1 };
                Some(i32::try_from(bytes.len() + header).map_err(|_| PgError::out_of_range("integer"))?)
            });
        }
        Ok(Arc::new(Int32Array::from(out)))
    })
}

/// Encodings by PostgreSQL's numbers.
const ENCODINGS: &[&str] = &[
    "SQL_ASCII",
    "EUC_JP",
    "EUC_CN",
    "EUC_KR",
    "EUC_TW",
    "EUC_JIS_2004",
    "UTF8",
    "MULE_INTERNAL",
    "LATIN1",
    "LATIN2",
    "LATIN3",
    "LATIN4",
    "LATIN5",
    "LATIN6",
    "LATIN7",
    "LATIN8",
    "LATIN9",
    "LATIN10",
    "WIN1256",
    "WIN1258",
    "WIN866",
    "WIN874",
    "KOI8R",
    "WIN1251",
    "WIN1252",
    "ISO_8859_5",
    "ISO_8859_6",
    "ISO_8859_7",
    "ISO_8859_8",
    "WIN1250",
    "WIN1253",
    "WIN1254",
    "WIN1255",
    "WIN1257",
    "KOI8U",
    "SJIS",
    "BIG5",
    "GBK",
    "UHC",
    "GB18030",
    "JOHAB",
    "SHIFT_JIS_2004",
];

fn encoding_name(_: &Call, number: i32) -> PgResult<String> {
    let name = usize::try_from(number).ok().and_then(|n| ENCODINGS.get(n));
    Ok(name.map_or_else(String::new, |name| (*name).to_owned()))
}

fn encoding_number(_: &Call, name: &str) -> PgResult<i32> {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_uppercase();
    let plain = if plain == "UNICODE" { "UTF8".to_owned() } else { plain };
    let found = ENCODINGS.iter().position(|name| name.replace('_', "") == plain);
    Ok(found.and_then(|n| i32::try_from(n).ok()).unwrap_or(-1))
}

fn set(
    name: &'static str,
    args: &[PgType],
    columns: Vec<(&'static str, PgType)>,
    open: crate::registry::SetKernel,
    doc: &'static str,
) -> Func {
    let ret = match columns.as_slice() {
        [(_, ty)] => ty.clone(),
        columns => PgType::Record(Some(Arc::new(RecordType {
            fields: columns.iter().map(|(name, ty)| ((*name).to_owned(), SqlType::new(ty.clone()))).collect(),
        }))),
    };
    let mut func = Func::set(name, args, columns, ret, open, doc).stable();
    func.strict = true;
    func
}

/// Rows of a text array that the engine gives.
fn texts_of(call: &Call, function: &str) -> PgResult<ArrayRef> {
    let texts = SqlType::new(PgType::Text.array_of());
    let value = call.ctx.system.call(function, &[], &texts)?;
    Ok(elements_of_value(&value)?.unwrap_or_else(|| arrow::array::new_empty_array(&PgType::Text.arrow())))
}

/// What an item of a list of privileges says.
struct Item {
    grantor: u32,
    grantee: u32,
    /// Each with whether it may be granted on.
    privileges: Vec<(String, bool)>,
}

fn item(call: &Call, text: &str) -> PgResult<Item> {
    let asked = [datafusion_common::ScalarValue::Utf8View(Some(text.to_owned()))];
    let texts = SqlType::new(PgType::Text.array_of());
    let parts = elements_of_value(&call.ctx.system.call("parts of an aclitem", &asked, &texts)?)?;
    let parts = parts.as_deref().and_then(|parts| parts.as_any().downcast_ref::<arrow::array::StringViewArray>());
    let parts: Vec<&str> = parts.into_iter().flat_map(|parts| parts.iter().flatten()).collect();
    let [grantor, grantee, privileges @ ..] = parts.as_slice() else {
        return Err(PgError::internal("an aclitem without roles"));
    };
    let privileges = privileges.chunks_exact(2).filter_map(|pair| Some(((*pair.first()?).to_owned(), *pair.get(1)? == "t")));
    Ok(Item { grantor: grantor.parse().unwrap_or(0), grantee: grantee.parse().unwrap_or(0), privileges: privileges.collect() })
}

/// The rows of `aclexplode`.
fn exploded(call: &Call, args: &[crate::args::Arg], row: usize) -> PgResult<Box<dyn crate::registry::RowSource>> {
    let mut items = Vec::new();
    TextArrays::new(arg(args, 0)?)?.read(row, &mut items);
    let (mut grantors, mut grantees, mut names, mut options) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for text in items.into_iter().flatten() {
        let item = item(call, text)?;
        for (name, option) in item.privileges {
            grantors.push(item.grantor);
            grantees.push(item.grantee);
            names.push(name);
            options.push(option);
        }
    }
    Rows::of(vec![
        Arc::new(UInt32Array::from(grantors)),
        Arc::new(UInt32Array::from(grantees)),
        Arc::new(arrow::array::StringViewArray::from_iter_values(names)),
        Arc::new(arrow::array::BooleanArray::from(options)),
    ])
}

/// `aclcontains`: whether one item of a list, of the same roles, gives all that another does.
fn acl_contains() -> Kernel {
    Arc::new(|call, args| {
        let (lists, wanted) = (TextArrays::new(arg(args, 0)?)?, Reader::<Text>::new(arg(args, 1)?)?);
        let mut out = arrow::array::BooleanBuilder::with_capacity(call.rows);
        let mut items = Vec::new();
        for row in 0..call.rows {
            let (Some(_), Some(wanted)) = (lists.read(row, &mut items), wanted.get(row)?) else {
                out.append_null();
                continue;
            };
            let wanted = item(call, wanted)?;
            let mut found = false;
            for text in items.iter().flatten() {
                let one = item(call, text)?;
                let has = |(name, option): &(String, bool)| one.privileges.iter().any(|(n, o)| n == name && (*o || !option));
                found |= one.grantor == wanted.grantor && one.grantee == wanted.grantee && wanted.privileges.iter().all(has);
            }
            out.append_value(found);
        }
        Ok(Arc::new(out.finish()))
    })
}

/// Registers the entries of this file.
pub fn register(r: &mut Registry) {
    use PgType::{Any, Int4 as I4, Oid as O, Regclass, Regtype, Text as T};
    for entry in TABLE {
        for args in alternatives(entry.args) {
            let mut func = Func::of_kind(entry.name, &args, table_type(entry.ret), FuncKind::System, entry.doc);
            func.volatility = entry.volatility;
            func.strict = entry.strict;
            r.add(func);
        }
    }
    let mut terminate =
        Func::of_kind("pg_terminate_backend", &[I4, PgType::Int8], PgType::Bool, FuncKind::System, "Terminates a session.").volatile();
    terminate = terminate.named(&["pid", "timeout"]).defaults(&["0"]);
    r.add(terminate);

    let text = || SqlType::new(PgType::Text);
    let fields = ["type", "schema", "name", "identity"].map(|field| (field.to_owned(), text())).to_vec();
    let doc = "Names a database object so that it is found again.";
    let identity = PgType::Record(Some(Arc::new(RecordType { fields })));
    r.add(Func::of_kind("pg_identify_object", &[O, O, I4], identity, FuncKind::System, doc).stable());

    r.add(Func::scalar("pg_typeof", &[Any], Regtype, type_of(), "Returns the type of its argument.").lax().stable());
    let doc = "Returns the SQL name for a data type that is identified by its type OID and possibly a type modifier.";
    r.add(Func::scalar("format_type", &[O, I4], T, format_type_kernel(), doc).lax().stable());
    r.add(Func::scalar("oidvectortypes", &[PgType::OidVector], T, types_of_vector(), "Lists the types of an oidvector.").stable());
    r.add(Func::scalar("num_nulls", &[Any], I4, count_nulls(true), "Returns the number of null arguments.").variadic().lax());
    r.add(Func::scalar("num_nonnulls", &[Any], I4, count_nulls(false), "Returns the number of non-null arguments.").variadic().lax());
    r.add(Func::scalar("pg_column_size", &[Any], I4, column_size(), "Shows the number of bytes used to store a value.").stable());
    let doc = "Converts an encoding number to its name.";
    r.add(Func::scalar("pg_encoding_to_char", &[I4], PgType::Name, strict1::<Int4, Text>(encoding_name), doc).stable());
    let doc = "Converts an encoding name to its number.";
    r.add(Func::scalar("pg_char_to_encoding", &[PgType::Name], I4, strict1::<Text, Int4>(encoding_number), doc).stable());
    let doc = "Returns the longest character of an encoding, in bytes.";
    let longest = strict1::<Int4, Int4>(|_, encoding| match encoding {
        0 | 8 | 16 | 22 | 24 => Ok(1),
        6 | 39 => Ok(4),
        other => Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("invalid encoding number: {other}"))),
    });
    r.scalar("pg_encoding_max_length", &[I4], I4, longest, doc);
    // There are no partitioned tables: nothing has a partition above or below it.
    r.scalar(
        "pg_partition_root",
        &[Regclass],
        Regclass,
        strict1_opt::<Oid, Oid>(|_, _| Ok(None)),
        "Returns the top-most parent of the partition tree to which a relation belongs.",
    );
    let none = |types: Vec<PgType>| -> crate::registry::SetKernel {
        Arc::new(move |_, _, _| Rows::of(types.iter().map(|ty| arrow::array::new_empty_array(&ty.arrow())).collect()))
    };
    r.add(set(
        "pg_partition_ancestors",
        &[Regclass],
        vec![("relid", Regclass)],
        none(vec![Regclass]),
        "Lists the ancestor relations of a partition.",
    ));
    r.add(set(
        "pg_partition_tree",
        &[Regclass],
        vec![("relid", Regclass), ("parentrelid", Regclass), ("isleaf", PgType::Bool), ("level", I4)],
        none(vec![Regclass, Regclass, PgType::Bool, I4]),
        "Lists the tables and indexes in a partition tree.",
    ));
    let (item, list) = (PgType::Aclitem, PgType::Aclitem.array_of());
    r.comparison("=", item.clone(), item.clone(), OperKind::Native(NativeOp::Eq), NativeOp::Eq);
    r.stable_operator("@>", list, item, PgType::Bool, OperKind::Kernel(acl_contains()));
    r.add(set(
        "aclexplode",
        &[PgType::Aclitem.array_of()],
        vec![("grantor", O), ("grantee", O), ("privilege_type", T), ("is_grantable", PgType::Bool)],
        Arc::new(exploded),
        "Returns the items of a list of privileges, a row for each privilege.",
    ));
    r.add(set(
        "pg_listening_channels",
        &[],
        vec![("", T)],
        Arc::new(|call, _, _| Rows::of(vec![texts_of(call, "pg_listening_channels")?])),
        "Returns the channels that the current session is listening to.",
    ));
    let options: crate::registry::SetKernel = Arc::new(|_, args, row| {
        let (mut names, mut values) = (Text::builder(0), Text::builder(0));
        let mut list = Vec::new();
        TextArrays::new(arg(args, 0)?)?.read(row, &mut list);
        for option in list.into_iter().flatten() {
            match option.split_once('=') {
                Some((name, value)) => {
                    names.append_value(name);
                    values.append_value(value);
                }
                None => {
                    names.append_value(option);
                    values.append_null();
                }
            }
        }
        Rows::of(vec![Arc::new(names.finish()), Arc::new(values.finish())])
    });
    r.add(set(
        "pg_options_to_table",
        &[T.array_of()],
        vec![("option_name", T), ("option_value", T)],
        options,
        "Returns the set of storage options represented by a value from the catalogs.",
    ));
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::args::Arg;
    use crate::context::EvalContext;
    use arrow::array::AsArray;

    #[test]
    fn every_type_of_the_table_is_known() {
        for entry in TABLE {
            for name in entry.args.split(['|', ',']).map(str::trim).chain([entry.ret]).filter(|name| !name.is_empty()) {
                let base = name.trim_end_matches("[]");
                assert!(base == "any" || type_by_name(base).is_some(), "{}: {name}", entry.name);
            }
        }
    }

    #[test]
    fn psql_needs() {
        let r = Registry::get();
        for name in [
            "col_description",
            "current_database",
            "current_setting",
            "format_type",
            "has_database_privilege",
            "nextval",
            "obj_description",
            "pg_char_to_encoding",
            "pg_collation_is_visible",
            "pg_conversion_is_visible",
            "pg_database_size",
            "pg_describe_object",
            "pg_encoding_to_char",
            "pg_function_is_visible",
            "pg_get_constraintdef",
            "pg_get_expr",
            "pg_get_function_arguments",
            "pg_get_function_result",
            "pg_get_function_sqlbody",
            "pg_get_functiondef",
            "pg_get_indexdef",
            "pg_get_ruledef",
            "pg_get_statisticsobjdef_columns",
            "pg_get_userbyid",
            "pg_get_viewdef",
            "stoa_get_tabledef",
            "pg_opclass_is_visible",
            "pg_operator_is_visible",
            "pg_opfamily_is_visible",
            "pg_options_to_table",
            "pg_partition_tree",
            "pg_relation_is_publishable",
            "pg_statistics_obj_is_visible",
            "pg_table_is_visible",
            "pg_table_size",
            "pg_tablespace_location",
            "pg_tablespace_size",
            "pg_ts_config_is_visible",
            "pg_type_is_visible",
            "shobj_description",
            "string_agg",
        ] {
            assert!(!r.functions(name).is_empty(), "{name}");
        }
    }

    #[test]
    fn format_type_as_postgres() {
        let ctx = EvalContext::default();
        let oids: Vec<u32> = vec![1042, 1042, 0, 99_999, 1043, 18, 1043, 1700, 1014];
        let typmods = vec![Some(-1), None, None, None, Some(20), None, Some(-1), Some(-1), Some(-1)];
        let args = [
            Arg { array: Arc::new(UInt32Array::from(oids)), constant: false },
            Arg { array: Arc::new(Int32Array::from(typmods)), constant: false },
        ];
        let (types, ret) = ([SqlType::new(PgType::Oid), SqlType::new(PgType::Int4)], SqlType::new(PgType::Text));
        let call = Call { ctx: &ctx, rows: 9, arg_types: &types, ret: &ret, explicit: false };
        let out = format_type_kernel()(&call, &args).unwrap();
        let out: Vec<&str> = out.as_string_view().iter().flatten().collect();
        assert_eq!(
            out,
            ["bpchar", "character", "-", "???", "character varying(16)", "\"char\"", "character varying", "numeric", "bpchar[]"]
        );
    }
}

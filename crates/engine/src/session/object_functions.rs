//! What functions tell of objects that only a session can: values of sequences, sizes, transactions, statistics.
//!
//! Called for one row each, through [`stoa_pg::context::System`].

use arrow::array::Int32Array;
use datafusion::common::ScalarValue;
use std::sync::Arc;
use stoa_exec::environment::SessionEnvironment;
use stoa_exec::environment::waiting;
use stoa_pg::values::array::array_of_elements;
use stoa_pg::{EvalContext, PgError, PgResult, PgType, SqlState, SqlType};
use stoa_sql::bind::dml::NEXT_OF_IDENTITY;
use stoa_sql::definition::functions::{Answer, Args, Objects, big, null, own_storage, storage, text};
use stoa_sql::privileges::{denied, undefined_database};
use stoa_table::TableId;
use stoa_table::catalog::role::READ_ALL_STATS;
use stoa_table::catalog::{CatalogSnapshot, Numbers, ObjectClass, Oid, Privileges, Relation, RightsOf, SequenceDescriptor};
use stoa_table::txn::TableLockMode;

/// The objects that a session sees.
pub(super) fn with_objects<T>(system: &SessionEnvironment, run: impl FnOnce(&Objects<'_>) -> T) -> T {
    let eval = |path: &[Oid]| EvalContext {
        settings: system.session.settings().value.clone(),
        system: Arc::new(SessionEnvironment { search_path: path.into(), ..system.clone() }),
        ..EvalContext::default()
    };
    run(&Objects {
        catalog: &system.catalog,
        path: &system.search_path,
        temporary: system.session.temporary_schema(),
        role: system.role,
        eval: &eval,
    })
}

/// Answers one call.
///
/// # Errors
/// What the function raises; 0A000 for functions that nobody answers.
pub(super) fn call(system: &SessionEnvironment, function: &str, args: &[ScalarValue], result: &SqlType) -> PgResult<ScalarValue> {
    let value = answer(system, function, args, result)?;
    if value.data_type() == result.arrow {
        return Ok(value);
    }
    if value.is_null() {
        return ScalarValue::try_from(&result.arrow).map_err(|e| PgError::internal(e.to_string()));
    }
    value.cast_to(&result.arrow).map_err(|e| PgError::internal(e.to_string()))
}

fn answer(system: &SessionEnvironment, function: &str, args: &[ScalarValue], result: &SqlType) -> PgResult<ScalarValue> {
    for group in [sequences, sizes, transactions, statistics, super::text_functions::call] {
        if let Some(value) = group(system, function, &Args(args), result)? {
            return Ok(value);
        }
    }
    let value = with_objects(system, |objects| objects.call(function, args, result))?;
    value.ok_or_else(|| PgError::unsupported(format!("function {function} is not supported")))
}

/// Sequences.
fn sequences(system: &SessionEnvironment, function: &str, args: &Args<'_>, _: &SqlType) -> Answer {
    let catalog = &*system.catalog;
    match function {
        "nextval" | NEXT_OF_IDENTITY => {
            let (sequence, numbers) = locked_sequence(system, args)?;
            // Whoever may write the table may have its identities.
            if function == "nextval" {
                check_sequence(system, &sequence, Privileges::USAGE.or(Privileges::UPDATE))?;
            }
            if !sequence.temporary {
                system.txn.require_writable("nextval()")?;
            }
            let value = match numbers.try_next(&sequence) {
                Some(value) => value?,
                None => waiting::answer(&system.session, numbers.next(&sequence))?,
            };
            let mut values = system.session.sequences.lock();
            values.current.insert(sequence.oid, value);
            values.last = Some(sequence.oid);
            big(value)
        }
        "currval" => {
            let (sequence, _) = sequence(system, args)?;
            check_sequence(system, &sequence, Privileges::USAGE.or(Privileges::SELECT))?;
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
            if let Some(Relation::Sequence(last)) = values.last.and_then(|oid| catalog.relation(oid)).map(|r| &**r) {
                check_sequence(system, last, Privileges::USAGE.or(Privileges::SELECT))?;
            }
            match values.last.filter(|oid| catalog.relation(*oid).is_some()).and_then(|oid| values.current.get(&oid).copied()) {
                Some(value) => big(value),
                None => Err(PgError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, "lastval is not yet defined in this session")),
            }
        }
        "setval" => {
            let (sequence, numbers) = locked_sequence(system, args)?;
            check_sequence(system, &sequence, Privileges::UPDATE)?;
            if !sequence.temporary {
                system.txn.require_writable("setval()")?;
            }
            let Some(value) = args.int(1) else { return big(None) };
            let is_called = args.bool(2).unwrap_or(true);
            waiting::answer(&system.session, numbers.set(&sequence, value, is_called))?;
            if is_called {
                system.session.sequences.lock().current.insert(sequence.oid, value);
            }
            big(value)
        }
        "pg_sequence_last_value" => {
            let (sequence, numbers) = sequence(system, args)?;
            check_sequence(system, &sequence, Privileges::USAGE.or(Privileges::SELECT))?;
            let state = waiting::answer(&system.session, numbers.state(&sequence))?;
            big(state.is_called.then_some(state.last_value))
        }
        _ => Ok(None),
    }
}

/// Sizes.
fn sizes(system: &SessionEnvironment, function: &str, args: &Args<'_>, _: &SqlType) -> Answer {
    let catalog = &*system.catalog;
    match function {
        "pg_relation_size" => {
            let main = args.text(1).is_none_or(|fork| fork == "main");
            size(system, args.oid(0).map(|oid| if main { own_storage(catalog, oid) } else { Vec::new() }))
        }
        "pg_table_size" => size(system, args.oid(0).map(|oid| own_storage(catalog, oid))),
        "pg_total_relation_size" => size(system, args.oid(0).map(|oid| storage(catalog, oid))),
        "pg_indexes_size" => {
            size(system, args.oid(0).map(|oid| catalog.table(oid).map_or_else(Vec::new, |t| t.indexes.iter().map(|i| i.storage).collect())))
        }
        "pg_database_size" => database_size(system, args),
        "pg_tablespace_size" => size(system, Some(stored(&system.database.tables.services().publication().all()))),
        _ => Ok(None),
    }
}

/// Transactions.
fn transactions(system: &SessionEnvironment, function: &str, args: &Args<'_>, _: &SqlType) -> Answer {
    match function {
        "txid_status" | "pg_xact_status" => text(args.int(0).map(|id| {
            let running = system.txn.transactions().running().iter().any(|(_, running)| i64::try_from(*running) == Ok(id));
            if running { "in progress".to_owned() } else { "committed".to_owned() }
        })),
        "pg_xact_commit_timestamp" => {
            Err(PgError::unsupported(format!("{function} is not supported")).hint("Commit times of transactions are not kept."))
        }
        "stoa_commit_status" => match args.text(0) {
            Some(token) => text(waiting::answer(&system.session, super::commit_status::status(system, &token))?.word().to_owned()),
            None => text(None),
        },
        "pg_blocking_pids" => {
            let pids = match args.int(0).and_then(|pid| u64::try_from(pid).ok()) {
                Some(pid) => system.txn.transactions().locks().blockers(stoa_table::txn::GroupId(pid)),
                None => Vec::new(),
            };
            let mut pids: Vec<i32> = pids.into_iter().filter_map(|group| i32::try_from(group.0).ok()).collect();
            pids.sort_unstable();
            pids.dedup();
            array_of_elements(Arc::new(Int32Array::from(pids))).map(Some)
        }
        "pg_safe_snapshot_blocking_pids" => array_of_elements(Arc::new(Int32Array::from(Vec::<i32>::new()))).map(Some),
        "pg_client_encoding" => text("UTF8".to_owned()),
        _ => Ok(None),
    }
}

/// Statistics: rows are counted by the store alone.
fn statistics(system: &SessionEnvironment, function: &str, args: &Args<'_>, result: &SqlType) -> Answer {
    let catalog = &*system.catalog;
    match function {
        "pg_stat_get_live_tuples" => {
            let Some(oid) = args.oid(0) else { return big(None) };
            big(rows(system, &own_storage(catalog, oid))?)
        }
        "pg_stat_get_backend_pid" => Ok(Some(ScalarValue::Int32(args.int(0).and_then(|v| i32::try_from(v).ok())))),
        "pg_stat_get_backend_activity" => text(
            args.int(0)
                .and_then(|pid| u32::try_from(pid).ok())
                .and_then(|pid| system.database.session(pid))
                .filter(|s| system.may_see(s))
                .map(|s| s.activity().query.to_string()),
        ),
        "pg_stat_get_db_numbackends" => {
            let sessions = args.oid(0).map_or(0, |oid| system.database.sessions_of(oid).len());
            Ok(Some(ScalarValue::Int32(i32::try_from(sessions).ok())))
        }
        "pg_stat_get_db_stat_reset_time" => null(result),
        "pg_stat_reset" => null(result),
        name if name.starts_with("pg_stat_get_") => {
            if matches!(result.ty, PgType::Timestamptz) {
                null(result)
            } else {
                big(0)
            }
        }
        _ => Ok(None),
    }
}

fn size(system: &SessionEnvironment, tables: Option<Vec<TableId>>) -> Answer {
    let Some(tables) = tables else { return big(None) };
    let mut bytes = 0_u64;
    for table in tables {
        bytes = bytes.saturating_add(measured(system, table)?.0);
    }
    big(i64::try_from(bytes).unwrap_or(i64::MAX))
}

/// What catalogs have in the store.
fn stored(catalogs: &[Arc<CatalogSnapshot>]) -> Vec<TableId> {
    catalogs.iter().flat_map(|catalog| catalog.relations()).flat_map(|relation| stoa_table::catalog::store::storage_of(relation)).collect()
}

/// What a database takes of space, for those who may connect to it.
fn database_size(system: &SessionEnvironment, args: &Args<'_>) -> Answer {
    let authority = system.catalog.authority();
    let database = match args.text(0) {
        Some(name) => Some(authority.database_to_connect_to(&name).ok_or_else(|| undefined_database(&name))?),
        None => args.oid(0).and_then(|oid| authority.database(oid)),
    };
    let Some(database) = database else { return size(system, None) };
    let may = authority.may(system.role, ObjectClass::Database, RightsOf::Database(database.oid), Privileges::CONNECT)
        || authority.has_rights_of(system.role, READ_ALL_STATS);
    if !may {
        return Err(denied("database", &database.name));
    }
    let published = system.database.tables.services().publication().of(database.oid);
    size(system, Some(stored(&published.map(|published| published.newest()).into_iter().collect::<Vec<_>>())))
}

/// The bytes and rows of what has a number in the store's numbering: a table, or the files of a full text index.
fn measured(system: &SessionEnvironment, storage: TableId) -> PgResult<(u64, u64)> {
    match system.database.text.get(storage) {
        Some(index) => Ok(index.files().map_or((0, 0), |files| {
            let generation = files.generation();
            (generation.bytes(), generation.documents())
        })),
        None => waiting::answer(&system.session, system.database.tables.size(storage)),
    }
}

fn rows(system: &SessionEnvironment, tables: &[TableId]) -> PgResult<i64> {
    let mut count = 0_u64;
    for table in tables {
        count = count.saturating_add(measured(system, *table)?.1);
    }
    Ok(i64::try_from(count).unwrap_or(i64::MAX))
}

/// 42501 unless the current role has one of these privileges on a sequence.
fn check_sequence(system: &SessionEnvironment, sequence: &SequenceDescriptor, any: Privileges) -> PgResult<()> {
    let of = RightsOf::Relation(sequence.oid);
    // It may be one that the running statement has made.
    let has = |catalog: &CatalogSnapshot| {
        !catalog.authority().privileges(system.role, ObjectClass::Sequence, of, any, Privileges::NONE).0.is_empty()
    };
    if has(&system.catalog) || has(&system.txn.catalog()) {
        return Ok(());
    }
    Err(denied("sequence", &sequence.name))
}

/// The sequence that is to be advanced or set: whoever is changing its definition is waited for.
fn locked_sequence(system: &SessionEnvironment, args: &Args<'_>) -> PgResult<(SequenceDescriptor, Arc<dyn Numbers>)> {
    let (before, numbers) = sequence(system, args)?;
    let (txn, mode) = (&system.txn, TableLockMode::RowExclusive);
    if before.temporary {
        return Ok((before, numbers));
    }
    if !txn.try_lock_table(before.oid, mode) {
        let work = async { txn.lock_table(before.oid, mode, false, &before.name).await.map(|_| ()) };
        waiting::others(&system.session, work, || txn.try_lock_table(before.oid, mode))?;
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

fn sequence(system: &SessionEnvironment, args: &Args<'_>) -> PgResult<(SequenceDescriptor, Arc<dyn Numbers>)> {
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

//! TRUNCATE, LOCK, SET CONSTRAINTS, VACUUM, ANALYZE, CHECKPOINT, and the end of temporary tables.

use super::builder::TableBuilder;
use super::dependency::owned;
use super::sequence::restart;
use super::work::{Work, undefined_relation};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use stoa_exec::environment::upkeep::Upkeep;
use stoa_exec::nodes::StatementContext;
use stoa_exec::settings::value::boolean;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::catalog::names::is_security_invoker;
use stoa_syntax::ast::ObjectName;
use stoa_syntax::utility::{MaintenanceTarget, NamedOption, OptionValue, TableLockMode};
use stoa_table::catalog::store::store_tables_of;
use stoa_table::catalog::{CatalogSnapshot, Oid, OnCommit, Privileges, Relation, RightsOf, TableDescriptor};

/// TRUNCATE: the tables get new places for their rows.
pub(crate) async fn truncate(work: Work<'_>, names: &[ObjectName], restart_identity: bool, cascade: bool) -> PgResult<String> {
    let mut tables: Vec<TableDescriptor> = Vec::new();
    for name in names {
        let table = work.table(name)?;
        if !tables.iter().any(|t| t.oid == table.oid) {
            lock_to_truncate(work, &table).await?;
            tables.push(table);
        }
    }
    // Tables that refer to these must be among them.
    let mut at = 0;
    while let Some(table) = tables.get(at).cloned() {
        at += 1;
        let catalog = work.catalog();
        let mut referring: Vec<&TableDescriptor> = catalog
            .relations()
            .filter_map(|r| match &**r {
                Relation::Table(t) => Some(t),
                _ => None,
            })
            .filter(|t| t.foreign_keys.iter().any(|f| f.referenced_table == table.oid))
            .filter(|t| !tables.iter().any(|own| own.oid == t.oid))
            .collect();
        referring.sort_by_key(|t| t.oid);
        for other in referring {
            // Entries of maps are part of their table.
            if other.entries_of.is_some_and(|(of, _)| of == table.oid) {
                lock_to_truncate(work, other).await?;
                tables.push(other.clone());
                continue;
            }
            if !cascade {
                return Err(PgError::unsupported("cannot truncate a table referenced in a foreign key constraint")
                    .detail(format!("Table \"{}\" references \"{}\".", other.name, table.name))
                    .hint(format!("Truncate table \"{}\" at the same time, or use TRUNCATE ... CASCADE.", other.name)));
            }
            work.notice(SqlState::SUCCESSFUL_COMPLETION, format!("truncate cascades to table \"{}\"", other.name));
            super::rights::on_oid(&work, other.oid, Privileges::TRUNCATE)?;
            lock_to_truncate(work, other).await?;
            tables.push(other.clone());
        }
    }
    for table in tables {
        work.check_unused(&table, "TRUNCATE")?;
        let table = work.catalog().table(table.oid).cloned().ok_or_else(|| undefined_relation(&table.name))?;
        empty(work, table.clone()).await?;
        let (database, oid) = (Arc::clone(&work.ctx.database), table.oid);
        work.ctx.txn.on_commit(move || {
            Box::pin(async move {
                if let Err(error) = database.statistics.note_emptied(&database.tables, oid).await {
                    tracing::warn!(%error, table = oid, "statistics of a table stay that was emptied");
                }
            })
        });
        if restart_identity {
            let catalog = work.catalog();
            for sequence in owned(&catalog, table.oid, None) {
                if let Some(Relation::Sequence(sequence)) = catalog.relation(sequence).map(|r| (**r).clone()) {
                    super::owner::check_owns(&work, RightsOf::Relation(sequence.oid))?;
                    // Whoever asks for a value waits until it is certain from where the sequence goes on.
                    work.lock(&Relation::Sequence(sequence.clone()), stoa_table::txn::TableLockMode::ShareRowExclusive).await?;
                    restart(work, &sequence, sequence.start).await?;
                }
            }
        }
    }
    Ok("TRUNCATE TABLE".into())
}

async fn lock_to_truncate(work: Work<'_>, table: &TableDescriptor) -> PgResult<()> {
    if table.mapping.is_some() || table.location().is_some() {
        super::raw::refuse(table, "truncate")?;
    }
    work.lock_table(table).await?;
    if table.is_raw() {
        super::raw::lock_mapped(work, table).await?;
    }
    Ok(())
}

async fn empty(work: Work<'_>, table: TableDescriptor) -> PgResult<()> {
    let mut builder = TableBuilder::of(work, table.clone());
    builder.move_storage().await?;
    // No row was written before a column was added.
    for column in &mut builder.table.columns {
        column.missing = None;
    }
    let new = builder.table;
    work.create_storage_of(&new).await?;
    work.drop_storage_of(&Relation::Table(table))?;
    super::raw::moved(work, &new)?;
    work.put(Relation::Table(new))
}

/// LOCK TABLE: of a view, what it is made of too.
///
/// # Errors
/// 42P01, 42809, 55P03, 40P01; as [`Work::lock`].
pub async fn lock_tables(ctx: &StatementContext, tables: &[ObjectName], mode: TableLockMode, nowait: bool) -> PgResult<()> {
    let work = Work { ctx };
    let refused = |name: &str, kind: &str| {
        PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("cannot lock relation \"{name}\""))
            .detail(format!("This operation is not supported for {kind}."))
    };
    let mut waiting: VecDeque<Arc<Relation>> = VecDeque::new();
    // Views may be made of each other.
    let mut seen: HashSet<Oid> = HashSet::new();
    // In whose name what views are made of is locked.
    let mut within: HashMap<Oid, Oid> = HashMap::new();
    for name in tables {
        let Some(relation) = work.find(name)? else {
            return Err(match work.find_index(name)? {
                Some(_) => refused(&work.split(name)?.1, "indexes"),
                None => work.missing(name),
            });
        };
        waiting.push_back(relation);
        while let Some(relation) = waiting.pop_front() {
            if !seen.insert(relation.oid()) {
                continue;
            }
            match &*relation {
                Relation::Sequence(_) => return Err(refused(relation.name(), "sequences")),
                Relation::View(view) if view.materialized.is_some() => return Err(refused(relation.name(), "materialized views")),
                _ => {}
            }
            let asking = within.get(&relation.oid()).copied().unwrap_or(ctx.role);
            super::rights::check_lock(&work, relation.oid(), lock_mode(mode), asking)?;
            work.lock_oid(relation.oid(), relation.name(), lock_mode(mode), nowait).await?;
            if let Relation::View(view) = &*relation {
                let below = if is_security_invoker(view) { ctx.role } else { work.authority().rights(RightsOf::Relation(view.oid)).owner };
                within.extend(view.depends_on.iter().map(|used| (used.relation, below)));
                let catalog = work.catalog();
                let used = view.depends_on.iter().filter_map(|used| catalog.relation(used.relation));
                let lockable = |used: &&Arc<Relation>| match &***used {
                    Relation::Sequence(_) => false,
                    Relation::View(view) => view.materialized.is_none(),
                    Relation::Table(_) => true,
                };
                waiting.extend(used.filter(lockable).cloned());
            }
        }
    }
    Ok(())
}

fn lock_mode(mode: TableLockMode) -> stoa_table::txn::TableLockMode {
    use stoa_table::txn::TableLockMode as M;
    match mode {
        TableLockMode::AccessShare => M::AccessShare,
        TableLockMode::RowShare => M::RowShare,
        TableLockMode::RowExclusive => M::RowExclusive,
        TableLockMode::ShareUpdateExclusive => M::ShareUpdateExclusive,
        TableLockMode::Share => M::Share,
        TableLockMode::ShareRowExclusive => M::ShareRowExclusive,
        TableLockMode::Exclusive => M::Exclusive,
        TableLockMode::AccessExclusive => M::AccessExclusive,
    }
}

/// SET CONSTRAINTS: names of deferrable constraints, or all.
///
/// # Errors
/// 42704 for unknown names, 42809 for constraints that are not deferrable; violations that become due.
pub async fn set_constraints(ctx: &StatementContext, names: Option<&[ObjectName]>, deferred: bool) -> PgResult<()> {
    let work = Work { ctx };
    let mut oids: Vec<Oid> = Vec::new();
    for name in names.unwrap_or_default() {
        let (schema, name) = work.split(name)?;
        let catalog = work.catalog();
        let path = match &schema {
            Some(schema) => vec![catalog.schema_by_name(schema).ok_or_else(|| super::undefined_schema(schema))?.oid],
            None => work.path(),
        };
        let mut found = false;
        for schema in path {
            for relation in catalog.relations().filter(|r| r.schema() == schema) {
                let Relation::Table(table) = &**relation else { continue };
                let constraints = table
                    .foreign_keys
                    .iter()
                    .map(|f| &f.name)
                    .chain(table.indexes.iter().filter_map(|i| i.constraint.as_ref()))
                    .chain(table.checks.iter().map(|c| &c.name))
                    .chain(table.primary_key.as_ref());
                for constraint in constraints.filter(|c| c.name == name) {
                    if !constraint.deferrable {
                        return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("constraint \"{name}\" is not deferrable")));
                    }
                    found = true;
                    oids.push(constraint.oid);
                }
            }
            if found {
                break;
            }
        }
        if !found {
            return Err(PgError::new(SqlState::UNDEFINED_OBJECT, format!("constraint \"{name}\" does not exist")));
        }
    }
    let chosen = names.is_some().then_some(oids.as_slice());
    ctx.txn.set_constraints(chosen, deferred);
    if !deferred {
        // What waited is due now.
        stoa_exec::write::deferred::run_constraints(&ctx.txn, chosen).await?;
    }
    Ok(())
}

/// `verb`: what is to be done to them, in messages.
fn targets(work: Work<'_>, targets: &[MaintenanceTarget], verb: &str) -> PgResult<Vec<TableDescriptor>> {
    if targets.is_empty() {
        return Ok(work
            .catalog()
            .relations()
            .filter_map(|r| match &**r {
                Relation::Table(table) => Some(table.clone()),
                _ => None,
            })
            .collect());
    }
    let mut out = Vec::new();
    for target in targets {
        let table = match work.find(&target.table)?.as_deref() {
            Some(Relation::Table(table)) => table.clone(),
            Some(Relation::View(view)) if view.materialized.is_some() => {
                match view.materialized.and_then(|oid| work.catalog().table(oid).cloned()) {
                    Some(table) => table,
                    None => continue,
                }
            }
            Some(other) => {
                work.ctx.session.warning(
                    SqlState::WARNING,
                    format!("skipping \"{}\" --- cannot {verb} non-tables or special system tables", other.name()),
                );
                continue;
            }
            None => {
                let missing = work.missing(&target.table);
                if missing.code() != SqlState::INSUFFICIENT_PRIVILEGE {
                    return Err(missing);
                }
                // The system's own, which needs no looking after: `vacuumdb` names it.
                if !work.is_superuser() {
                    let (_, name) = work.split(&target.table)?;
                    work.ctx
                        .session
                        .warning(SqlState::INSUFFICIENT_PRIVILEGE, format!("permission denied to {verb} \"{name}\", skipping it"));
                }
                continue;
            }
        };
        for column in &target.columns {
            let name = stoa_sql::bind::fold(column);
            if table.column_by_name(&name).is_none() {
                return Err(PgError::new(
                    SqlState::UNDEFINED_COLUMN,
                    format!("column \"{name}\" of relation \"{}\" does not exist", table.name),
                ));
            }
        }
        out.push(table);
    }
    Ok(out)
}

/// VACUUM: the store compacts the tables.
///
/// # Errors
/// 42P01; what the store reports.
pub async fn vacuum(ctx: &StatementContext, options: &[NamedOption], names: &[MaintenanceTarget], sweeping: Upkeep) -> PgResult<()> {
    const KNOWN: &[&str] = &[
        "full",
        "freeze",
        "verbose",
        "analyze",
        "disable_page_skipping",
        "skip_locked",
        "index_cleanup",
        "process_toast",
        "truncate",
        "parallel",
    ];
    check_options(options, KNOWN, "VACUUM")?;
    let (analyzes, full) = vacuum_options(options, names)?;
    let work = Work { ctx };
    let tables = targets(work, names, "vacuum")?;
    let verbose = verbose(options)?;
    let explicit = !names.is_empty() || full;
    for table in &tables {
        if !super::rights::may_maintain(&work, table.oid, "vacuum") {
            continue;
        }
        let shown = match full {
            true => shown_name(&work, table),
            false => format!("{}.{}", work.ctx.session.database, shown_name(&work, table)),
        };
        tell(&work, verbose, format!("vacuuming \"{shown}\""));
        if table.expires.is_some() {
            sweeping(std::sync::Arc::clone(&ctx.database), table.oid).await?;
        }
        let oid = table.oid;
        for storage in store_tables_of(&Relation::Table(table.clone())) {
            ctx.session.check_interrupt()?;
            let tables = &ctx.database.tables;
            let done = if explicit { tables.compact(storage).await } else { tables.flush(storage).await };
            // It is not locked: a definition beside this may have moved the rows elsewhere.
            let catalog = work.catalog();
            if catalog.relation(oid).is_some_and(|now| store_tables_of(now).any(|kept| kept == storage)) {
                done?;
            }
        }
        tell(&work, verbose, format!("finished vacuuming \"{shown}\""));
    }
    if analyzes {
        ctx.txn.start_statement().await?;
        analyze_tables(work, &tables, !names.is_empty(), verbose).await?;
    }
    Ok(())
}

/// Whether VERBOSE is on.
fn verbose(options: &[NamedOption]) -> PgResult<bool> {
    options.iter().filter(|option| option.name.eq_ignore_ascii_case("verbose")).try_fold(false, |_, option| boolean(option))
}

/// An INFO of VERBOSE, which no setting holds back.
fn tell(work: &Work<'_>, verbose: bool, message: String) {
    if verbose {
        work.ctx.session.notice("INFO", PgError::new(SqlState::SUCCESSFUL_COMPLETION, message));
    }
}

/// A table with its schema, in messages; of the rows of a materialized view, the view.
fn shown_name(work: &Work<'_>, table: &TableDescriptor) -> String {
    let catalog = work.catalog();
    let schema = catalog.schema(table.schema).map_or("", |schema| schema.name.as_str());
    format!("{schema}.{}", own_name(&catalog, table))
}

fn own_name<'n>(catalog: &'n CatalogSnapshot, table: &'n TableDescriptor) -> &'n str {
    catalog.view_of_rows(table.oid).map_or(&table.name, |view| &view.name)
}

/// Whether VACUUM is to analyze, and whether it is to be full.
///
/// # Errors
/// 42601 and 0A000 for values, and options that PostgreSQL does not take together.
fn vacuum_options(options: &[NamedOption], names: &[MaintenanceTarget]) -> PgResult<(bool, bool)> {
    let (mut analyzes, mut full, mut toast, mut parallel) = (false, false, true, false);
    for option in options {
        match option.name.to_ascii_lowercase().as_str() {
            "analyze" => analyzes = boolean(option)?,
            "full" => full = boolean(option)?,
            "process_toast" => toast = boolean(option)?,
            "parallel" => {
                let wrong = |message: &str| PgError::new(SqlState::SYNTAX_ERROR, message).at(Some(option.position));
                let workers = match &option.value {
                    None => return Err(wrong("parallel option requires a value between 0 and 1024")),
                    Some(OptionValue::Number(text)) => text.parse::<i64>().ok(),
                    Some(_) => None,
                };
                match workers {
                    Some(workers) if (0..=1024).contains(&workers) => parallel = workers > 0,
                    Some(_) => return Err(wrong("parallel workers for vacuum must be between 0 and 1024")),
                    None => return Err(PgError::new(SqlState::SYNTAX_ERROR, format!("{} requires an integer value", option.name))),
                }
            }
            _ => {}
        }
    }
    if full && parallel {
        return Err(PgError::unsupported("VACUUM FULL cannot be performed in parallel"));
    }
    if !analyzes && names.iter().any(|name| !name.columns.is_empty()) {
        return Err(PgError::unsupported("ANALYZE option must be specified when a column list is provided"));
    }
    if full && !toast {
        return Err(PgError::unsupported("PROCESS_TOAST required with VACUUM FULL"));
    }
    Ok((analyzes, full))
}

fn check_options(options: &[NamedOption], known: &[&str], statement: &str) -> PgResult<()> {
    match options.iter().find(|o| !known.iter().any(|k| o.name.eq_ignore_ascii_case(k))) {
        Some(unknown) => Err(PgError::new(SqlState::SYNTAX_ERROR, format!("unrecognized {statement} option \"{}\"", unknown.name))
            .at(Some(unknown.position))),
        None => Ok(()),
    }
}

/// ANALYZE: counts the rows of tables and looks at a sample of their values.
///
/// # Errors
/// 42P01, 42703; what the store reports.
pub async fn analyze(ctx: &StatementContext, options: &[NamedOption], names: &[MaintenanceTarget]) -> PgResult<()> {
    check_options(options, &["verbose", "skip_locked"], "ANALYZE")?;
    let work = Work { ctx };
    let tables = targets(work, names, "analyze")?;
    analyze_tables(work, &tables, !names.is_empty(), verbose(options)?).await
}

async fn analyze_tables(work: Work<'_>, tables: &[TableDescriptor], named: bool, verbose: bool) -> PgResult<()> {
    let ctx = work.ctx;
    for table in tables {
        if !super::rights::may_maintain(&work, table.oid, "analyze") {
            continue;
        }
        work.lock(&Relation::Table(table.clone()), stoa_table::txn::TableLockMode::ShareUpdateExclusive).await?;
        work.refresh().await?;
        // Another session may have dropped it meanwhile.
        let Some(table) = work.catalog().table(table.oid).cloned() else {
            if named {
                let message = format!("skipping analyze of \"{}\" --- relation no longer exists", table.name);
                ctx.session.warning(SqlState::UNDEFINED_TABLE, message);
            }
            continue;
        };
        tell(&work, verbose, format!("analyzing \"{}\"", shown_name(&work, &table)));
        let view = ctx.txn.read_view();
        let mut statistics =
            stoa_table::statistics::collect(&view, &table, ctx.database.tables.now_us(), &|| ctx.session.check_interrupt()).await?;
        statistics.explicit = true;
        let (name, rows) = (own_name(&work.catalog(), &table).to_owned(), statistics.rows);
        tell(&work, verbose, format!("\"{name}\": scanned {rows} rows, containing {rows} live rows"));
        ctx.database.statistics.set(&ctx.database.tables, table.oid, statistics).await?;
    }
    Ok(())
}

/// CHECKPOINT: everything that is in memory goes to files.
///
/// # Errors
/// What the store reports.
pub async fn checkpoint(ctx: &StatementContext) -> PgResult<()> {
    for catalog in ctx.database.tables.services().publication().all() {
        for storage in catalog.relations().flat_map(|relation| store_tables_of(relation)) {
            ctx.database.tables.flush(storage).await?;
        }
    }
    Ok(())
}

/// Drops the temporary objects of the session.
///
/// # Errors
/// What dropping raises.
pub async fn drop_temporary(ctx: &StatementContext) -> PgResult<()> {
    let work = Work { ctx };
    let Some(schema) = ctx.session.temporary_schema() else { return Ok(()) };
    let catalog = work.catalog();
    for relation in catalog.relations().filter(|r| r.schema() == schema) {
        work.drop_storage_of(relation)?;
        work.remove(relation.oid())?;
    }
    work.remove_schema(schema)?;
    let session = std::sync::Arc::clone(&ctx.session);
    ctx.session.set_temporary_schema(None);
    ctx.txn.on_rollback(move || {
        session.set_temporary_schema(Some(schema));
        Box::pin(async {})
    });
    Ok(())
}

/// What ON COMMIT asks of temporary tables, to be called before a transaction commits: rows go, or tables do.
///
/// # Errors
/// What the store reports.
pub async fn end_of_transaction(ctx: &StatementContext) -> PgResult<()> {
    let work = Work { ctx };
    let Some(schema) = ctx.session.temporary_schema() else { return Ok(()) };
    let catalog = work.catalog();
    for relation in catalog.relations().filter(|r| r.schema() == schema) {
        let Relation::Table(table) = &**relation else { continue };
        if table.on_commit == OnCommit::DeleteRows {
            check_emptied_together(&catalog, table)?;
        }
    }
    for relation in catalog.relations().filter(|r| r.schema() == schema) {
        let Relation::Table(table) = &**relation else { continue };
        match table.on_commit {
            OnCommit::PreserveRows => {}
            OnCommit::DeleteRows => empty(work, table.clone()).await?,
            OnCommit::Drop => {
                let mut dropping = super::Dropping::new(work);
                dropping.name(super::Object::Relation(table.oid));
                dropping.follow();
                dropping.execute().await?;
            }
        }
    }
    Ok(())
}

/// 0A000 if rows that stay would refer to a table whose rows go.
fn check_emptied_together(catalog: &CatalogSnapshot, table: &TableDescriptor) -> PgResult<()> {
    for other in catalog.referencing(table.oid).iter().filter_map(|oid| catalog.table(*oid)) {
        if other.on_commit != OnCommit::DeleteRows {
            return Err(PgError::new(SqlState::FEATURE_NOT_SUPPORTED, "unsupported ON COMMIT and foreign key combination").detail(
                format!("Table \"{}\" references \"{}\", but they do not have the same ON COMMIT setting.", other.name, table.name),
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use crate::session::write_tests::{answer, connect, database};
    use datafusion::common::ScalarValue;
    use stoa_table::access::{Comparison, Predicate};
    use stoa_table::catalog::ColumnId;

    #[tokio::test]
    async fn shares_follow_the_values() {
        let database = database().await;
        let mut s = connect(&database);
        answer(&mut s, "CREATE TABLE t (id int PRIMARY KEY, a int, b text, c int)").await;
        answer(
            &mut s,
            "INSERT INTO t SELECT n, n % 10, 'x' || n % 500, CASE WHEN n % 4 > 0 THEN 1 + n % 4 * n % 2 END FROM generate_series(1, 2000) n",
        )
        .await;
        assert_eq!(answer(&mut s, "ANALYZE t").await, "ANALYZE");
        let oid: u32 = answer(&mut s, "SELECT 't'::regclass::oid").await.parse().unwrap();
        let statistics = database.inner().statistics.of(oid).unwrap();
        let catalog = database.inner().transactions.published_catalog();
        let table = catalog.table(oid).unwrap();
        let compare = |column: u32, op, value: ScalarValue| Predicate::Compare { column: ColumnId(column), op, value };
        let int = |n: i32| ScalarValue::Int32(Some(n));
        for (predicates, low, high) in [
            (vec![compare(1, Comparison::Equal, int(7))], 0.0003, 0.0007),
            (vec![compare(1, Comparison::Less, int(501))], 0.24, 0.26),
            (vec![compare(1, Comparison::Greater, int(500)), compare(1, Comparison::LessEqual, int(1000))], 0.24, 0.26),
            (vec![compare(2, Comparison::Equal, int(3))], 0.09, 0.11),
            (vec![compare(2, Comparison::Equal, int(77))], 0.0, 0.02),
            (vec![compare(3, Comparison::Equal, ScalarValue::Utf8View(Some("x7".into())))], 0.001, 0.004),
            (vec![Predicate::IsNull(ColumnId(4))], 0.24, 0.26),
            (vec![Predicate::IsNotNull(ColumnId(4))], 0.74, 0.76),
            (vec![compare(2, Comparison::Equal, int(3)), compare(1, Comparison::Less, int(501))], 0.02, 0.03),
            (vec![Predicate::Unknown], 0.3, 0.4),
            (vec![Predicate::Never], 0.0, 0.0),
        ] {
            let all: Vec<&Predicate> = predicates.iter().collect();
            let share = statistics.share(table, &all);
            assert!((low..=high).contains(&share), "{predicates:?}: {share}");
        }
    }
}

//! A table as a scan node has it, and what the node gets when it runs.
//!
//! Invariant: nodes of plans are data. They say which table, ranges, columns and filters; the view, the transaction and the caches are the
//! task's ([`ScanContext`]). A plan can be compared with another, and run by another statement.

use super::StatementContext;
use crate::fulltext::TextIndexes;
use crate::scan_table::ScanTable;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use stoa_pg::{PgError, PgResult};
use stoa_table::Timestamp;
use stoa_table::access::{AccessPath, PathKind};
use stoa_table::catalog::TableDescriptor;
use stoa_table::column_cache::ColumnCache;
use stoa_table::failure::unknown_past;
use stoa_table::row::RowCodec;
use stoa_table::txn::{ReadView, Transaction};

/// See the module.
#[derive(Clone)]
pub struct SourceTable {
    pub table: Arc<TableDescriptor>,
    pub codec: Arc<RowCodec>,
    /// The commit up to which it is seen, if it is not the statement's snapshot.
    pub as_of: Option<Timestamp>,
    /// Whether the scan takes columns that earlier ones have left, and leaves its own.
    pub caches_columns: bool,
    /// Set where a plan is run by another program's tasks, which know no statement.
    pub context: Option<Arc<ScanContext>>,
}

impl fmt::Debug for SourceTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.table.name, self.table.oid)?;
        match self.as_of {
            Some(at) => write!(f, " as of {}", at.0),
            None => Ok(()),
        }
    }
}

impl SourceTable {
    /// At the statement's snapshot.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn new(table: Arc<TableDescriptor>) -> PgResult<Self> {
        let codec = RowCodec::of(&table)?;
        Ok(Self { table, codec, as_of: None, caches_columns: true, context: None })
    }

    /// What the node reads in a task.
    ///
    /// # Errors
    /// XX000 for a task that belongs to no statement; the store has forgotten what it was at a time.
    pub fn open(&self, task: &TaskContext) -> Result<ScanTable> {
        let own = self.context.clone().or_else(|| task.session_config().get_extension::<ScanContext>());
        let context = own.ok_or_else(|| PgError::internal("a scan without a statement"))?;
        context.open(self).map_err(DataFusionError::from)
    }

    /// As [`SourceTable::open`], for a node that reads by a path.
    ///
    /// # Errors
    /// As [`SourceTable::open`]; 55000 for an index that has not the rows of the view.
    pub fn open_path(&self, path: &AccessPath, task: &TaskContext) -> Result<ScanTable> {
        let table = self.open(task)?;
        if let PathKind::Index { at, .. } = &path.kind
            && let Some(index) = self.table.indexes.get(*at)
            && index.readable_from > table.view.timestamp().0
        {
            let error = PgError::new(stoa_pg::SqlState(*b"55000"), format!("index \"{}\" is newer than what is read", index.name));
            return Err(error.into());
        }
        Ok(table)
    }
}

/// What scans of a statement read with: an extension of its tasks.
pub struct ScanContext {
    pub view: ReadView,
    /// For recording what is read; `None` outside transactions.
    pub txn: Option<Arc<Transaction>>,
    /// Where long scans leave columns for later ones.
    pub columns: Option<Arc<ColumnCache>>,
    pub text: Option<Arc<TextIndexes>>,
}

impl fmt::Debug for ScanContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScanContext").field("timestamp", &self.view.timestamp()).finish_non_exhaustive()
    }
}

impl ScanContext {
    /// As the statement sees tables now.
    #[must_use]
    pub fn of(ctx: &StatementContext) -> Self {
        Self {
            view: ctx.txn.read_view(),
            txn: Some(Arc::clone(&ctx.txn)),
            columns: Some(Arc::clone(&ctx.database.memory.columns)),
            text: Some(Arc::clone(&ctx.database.text)),
        }
    }

    /// As tables are with what the statement has written by now.
    #[must_use]
    pub fn with_own(ctx: &StatementContext) -> Self {
        // Columns are of tables as everybody sees them.
        Self { view: ctx.txn.statement_view(), columns: None, ..Self::of(ctx) }
    }

    /// A table at this view, or at that of its own time.
    ///
    /// # Errors
    /// The store has forgotten what it was at that time.
    pub fn open(&self, source: &SourceTable) -> PgResult<ScanTable> {
        let (view, txn) = match source.as_of {
            None => (self.view.clone(), self.txn.clone()),
            Some(at) => {
                check_retention(&source.table, at, self.view.tables().now_us())?;
                (self.view.as_of(at)?, None)
            }
        };
        let columns = self.columns.as_ref().filter(|_| source.caches_columns).cloned();
        Ok(ScanTable { table: Arc::clone(&source.table), codec: Arc::clone(&source.codec), view, txn, columns })
    }
}

/// Names the time since when a table is known whose past is kept for a time.
fn check_retention(table: &TableDescriptor, at: Timestamp, now_us: i64) -> PgResult<()> {
    let kept = table.families.first().and_then(|family| family.options.retention());
    let known = kept.map(|kept| Timestamp::from_micros(u64::try_from(now_us).unwrap_or(0).saturating_sub(kept.as_micros() as u64)));
    match known.filter(|known| at < *known) {
        Some(known) => Err(unknown_past(&table.name, known)),
        None => Ok(()),
    }
}

/// The full text indexes of a task's database.
pub fn text_of(source: &SourceTable, task: &TaskContext) -> Result<Arc<TextIndexes>> {
    let own = source.context.clone().or_else(|| task.session_config().get_extension::<ScanContext>());
    let text = own.and_then(|context| context.text.clone());
    text.ok_or_else(|| PgError::internal("a search without a database").into())
}

/// The task of a statement: what its plans are run in.
pub fn task(ctx: &StatementContext) -> Arc<TaskContext> {
    let config = ctx.database.state.config().clone().with_extension(Arc::new(ScanContext::of(ctx)));
    let (runtime, none) = (Arc::clone(&ctx.database.runtime), HashMap::new());
    // Plans hold the functions that they call.
    let task = TaskContext::new(None, String::new(), config, none, HashMap::new(), HashMap::new(), HashMap::new(), runtime);
    Arc::new(task)
}

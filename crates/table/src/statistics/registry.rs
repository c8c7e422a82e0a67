//! The statistics of all tables: in memory for planning, and as rows of the catalog's table so that they survive.
//!
//! Tables whose rows changed much since are analyzed again in the background, one at a time.

use super::{TableStatistics, collect};
use crate::catalog::store::{Kind, decode, delete, encode, rows, statistics_key};
use crate::catalog::{Oid, Relation};
use crate::tables::Tables;
use crate::txn::Transactions;
use hashbrown::HashMap;
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::Duration;
use stoa_pg::{PgError, PgResult};

/// Changed rows, beside a fifth of all, after which a table is analyzed again.
const CHANGES: f64 = 500.0;
const CHANGED_SHARE: f64 = 0.2;
/// How long changes are waited for before that.
const PAUSE: Duration = Duration::from_secs(2);

/// See the module.
#[derive(Debug, Default)]
pub struct Registry {
    tables: RwLock<HashMap<Oid, Arc<TableStatistics>>>,
    /// Rows changed since the last time.
    changes: Mutex<HashMap<Oid, u64>>,
    /// Tables that wait for the background.
    due: Mutex<BTreeSet<Oid>>,
    /// Whether someone sees to them.
    running: Mutex<bool>,
}

impl Registry {
    /// Reads what is stored; statistics of tables that are gone are removed.
    ///
    /// # Errors
    /// The store failed.
    pub async fn load(tables: &Tables, exists: impl Fn(Oid) -> bool) -> PgResult<Self> {
        let store = tables.store();
        let out = Self::default();
        for (key, value, _) in rows(&**store).await? {
            let Some(table) = Kind::Statistics.id_in(&key) else { continue };
            match decode::<TableStatistics>(&value) {
                Ok(statistics) if exists(table) => {
                    out.tables.write().insert(table, Arc::new(statistics));
                }
                // A guess that cannot be read is no loss.
                _ => delete(&**store, &key).await?,
            }
        }
        Ok(out)
    }

    /// What is known of a table.
    #[must_use]
    pub fn of(&self, table: Oid) -> Option<Arc<TableStatistics>> {
        self.last(table).filter(|known| !known.outdated)
    }

    /// What was known of a table when it was last analyzed.
    #[must_use]
    pub fn last(&self, table: Oid) -> Option<Arc<TableStatistics>> {
        self.tables.read().get(&table).cloned()
    }

    /// Takes note that a table was emptied.
    ///
    /// # Errors
    /// The store failed.
    pub async fn note_emptied(&self, tables: &Tables, table: Oid) -> PgResult<()> {
        let Some(known) = self.of(table) else { return Ok(()) };
        let outdated = TableStatistics { outdated: true, ..(*known).clone() };
        tables.put_note(&statistics_key(table), &encode(&outdated)?).await?;
        self.tables.write().insert(table, Arc::new(outdated));
        Ok(())
    }

    /// Rows changed since the table was analyzed.
    #[must_use]
    pub fn changed(&self, table: Oid) -> u64 {
        self.changes.lock().get(&table).copied().unwrap_or(0)
    }

    /// Keeps new statistics.
    ///
    /// # Errors
    /// The store failed.
    pub async fn set(&self, tables: &Tables, table: Oid, statistics: TableStatistics) -> PgResult<()> {
        tables.put_note(&statistics_key(table), &encode(&statistics)?).await?;
        self.tables.write().insert(table, Arc::new(statistics));
        self.changes.lock().remove(&table);
        Ok(())
    }

    /// The tables of which something is known.
    #[must_use]
    pub fn tables(&self) -> Vec<Oid> {
        let mut out: Vec<Oid> = self.changes.lock().keys().copied().collect();
        out.extend(self.tables.read().keys());
        out
    }

    /// Forgets tables that are gone for good.
    ///
    /// # Errors
    /// The store failed.
    pub async fn forget(&self, tables: &Tables, gone: &[Oid]) -> PgResult<()> {
        for oid in gone {
            self.changes.lock().remove(oid);
            let known = self.tables.write().remove(oid).is_some();
            if known {
                delete(&**tables.store(), &statistics_key(*oid)).await?;
            }
        }
        Ok(())
    }

    /// Takes note of rows that a committed statement changed.
    pub fn note_changes(self: &Arc<Self>, transactions: &Arc<Transactions>, table: Oid, rows: u64) {
        let changed = {
            let mut changes = self.changes.lock();
            let count = changes.entry(table).or_default();
            *count += rows;
            *count as f64
        };
        let known = self.of(table).map_or(0.0, |s| s.rows);
        if changed < CHANGES + CHANGED_SHARE * known || !self.due.lock().insert(table) {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if !std::mem::replace(&mut *self.running.lock(), true) {
            runtime.spawn(run(Arc::downgrade(self), Arc::downgrade(transactions)));
        }
    }
}

/// Analyzes the tables that are due, and ends.
async fn run(registry: Weak<Registry>, transactions: Weak<Transactions>) {
    loop {
        tokio::time::sleep(PAUSE).await;
        let (Some(registry), Some(transactions)) = (registry.upgrade(), transactions.upgrade()) else { return };
        let table = {
            // Whoever adds a table looks at `running` behind `due`.
            let mut running = registry.running.lock();
            let next = registry.due.lock().pop_first();
            *running = next.is_some();
            next
        };
        let Some(table) = table else { return };
        match analyze(&registry, &transactions, table).await {
            Ok(()) => {}
            // It was given up because nobody else has the database any more.
            Err(_) if Arc::strong_count(&registry) == 1 => return,
            Err(error) => tracing::warn!(%error, table, "a table could not be analyzed"),
        }
    }
}

/// Analyzes one table at the newest snapshot.
async fn analyze(registry: &Arc<Registry>, transactions: &Transactions, table: Oid) -> PgResult<()> {
    // It is due in whichever database.
    let Some(catalog) = transactions.catalog_with(table) else { return Ok(()) };
    let Some(Relation::Table(descriptor)) = catalog.relation(table).map(|r| &**r) else { return Ok(()) };
    let tables = transactions.tables();
    let view = tables.newest();
    let gone = || PgError::internal("the database is closed");
    let _lease = tables.services().leases().take(&format!("statistics of table {table}")).await;
    let statistics =
        collect(&view, descriptor, tables.now_us(), &|| if Arc::strong_count(registry) > 1 { Ok(()) } else { Err(gone()) }).await?;
    registry.set(tables, table, statistics).await
}

//! The catalog as a transaction sees and changes it.

use super::{CatalogChange, CatalogCheck, PrivateCatalog, State, Transaction};
use crate::catalog::store::{CATALOG_FAMILY, CATALOG_TABLE, stored_key};
use crate::catalog::{CatalogSnapshot, Oid, TableDescriptor};
use crate::failure::definition_retry;
use std::sync::Arc;
use stoa_pg::PgResult;

impl State {
    /// How often the catalog was changed, and something was left to the end of the transaction.
    fn changes(&self) -> usize {
        self.catalog.as_ref().map_or(0, |private| private.changes.len()) + self.on_commit.len() + self.on_rollback.len()
    }
}

impl Transaction {
    /// The catalog as the transaction sees it: the newest, with its own changes.
    #[must_use]
    pub fn catalog(&self) -> Arc<CatalogSnapshot> {
        let published = self.transactions.published_catalog();
        let mut state = self.state.lock();
        let Some(private) = &mut state.catalog else { return published };
        if private.base != published.version {
            // Others have changed the catalog: the own changes go on top. One that does not fit any more fails at commit.
            let mut snapshot = (*published).clone();
            if private.changes.iter().all(|change| change(&mut snapshot).is_ok()) {
                private.base = published.version;
                private.snapshot = Arc::new(snapshot);
            }
        }
        Arc::clone(&private.snapshot)
    }

    /// The catalog as queries of system relations see it: that of the snapshot where the transaction keeps its first one, with the
    /// transaction's own changes. Names are looked up in the newest ([`Transaction::catalog`]).
    #[must_use]
    pub fn catalog_of_snapshot(&self) -> Arc<CatalogSnapshot> {
        let newest = self.catalog();
        let (first, changes) = {
            let state = self.state.lock();
            let Some(first) = state.catalog_of_snapshot.clone() else { return newest };
            match &state.catalog {
                None => return first,
                Some(private) if private.base == first.version => return Arc::clone(&private.snapshot),
                Some(private) => (first, private.changes.clone()),
            }
        };
        let mut snapshot = (*first).clone();
        // A change of what others have made since has no place in the older one.
        if changes.iter().all(|change| change(&mut snapshot).is_ok()) { Arc::new(snapshot) } else { newest }
    }

    /// Whether this is what [`Transaction::catalog`] would give.
    #[must_use]
    pub fn sees(&self, catalog: &Arc<CatalogSnapshot>) -> bool {
        if self.state.lock().catalog.is_none() {
            return self.transactions.is_newest(catalog);
        }
        Arc::ptr_eq(&self.catalog(), catalog)
    }

    /// Changes the catalog for this transaction, and for all when it commits. `change` is run now, and again at commit on what
    /// is the newest then: it must be a pure function of its argument.
    ///
    /// # Errors
    /// Those of `change`; nothing is changed then.
    pub fn change_catalog(&self, change: impl Fn(&mut CatalogSnapshot) -> PgResult<()> + Send + Sync + 'static) -> PgResult<()> {
        let before = self.catalog();
        let mut snapshot = (*before).clone();
        change(&mut snapshot)?;
        let change: CatalogChange = Arc::new(change);
        let mut state = self.state.lock();
        match &mut state.catalog {
            Some(private) => {
                private.snapshot = Arc::new(snapshot);
                private.changes.push(change);
            }
            None => {
                let (snapshot, base) = (Arc::new(snapshot), before.version);
                state.catalog = Some(PrivateCatalog { base, snapshot, changes: vec![change], checks: Vec::new() });
            }
        }
        Ok(())
    }

    /// A definition begins, which reads the catalog first, then locks what it is about, and then changes it.
    pub fn begin_definition(&self) {
        let mut state = self.state.lock();
        state.definition = Some(state.changes());
    }

    /// To be called behind each lock of a definition: `read` is the catalog with which it began.
    ///
    /// # Errors
    /// [`definition_retry`] if others have changed the catalog since, and the definition has changed nothing yet.
    pub fn check_definition(&self, read: &Arc<CatalogSnapshot>) -> PgResult<()> {
        let state = self.state.lock();
        let untouched = state.definition == Some(state.changes()) && state.current.is_empty();
        drop(state);
        if untouched && !self.sees(read) { Err(definition_retry()) } else { Ok(()) }
    }

    /// Has the newest catalogs of all databases looked at when the transaction commits, if it changes the catalog: what a change
    /// depends on in other databases than its own.
    pub fn check_catalogs(&self, check: impl Fn(&[Arc<CatalogSnapshot>]) -> PgResult<()> + Send + Sync + 'static) {
        let check: CatalogCheck = Arc::new(check);
        if let Some(private) = &mut self.state.lock().catalog {
            private.checks.push(check);
        }
    }

    /// Whether the place where a table keeps its rows was made since the newest savepoint, or the beginning: by CREATE TABLE, TRUNCATE
    /// and the like.
    #[must_use]
    pub fn made_rows_place(&self, table: &TableDescriptor) -> bool {
        let published = self.transactions.published_catalog();
        let state = self.state.lock();
        let at_savepoint = state.savepoints.last().and_then(|savepoint| savepoint.catalog.as_ref());
        let before = at_savepoint.map_or(&published, |catalog| &catalog.snapshot);
        before.table(table.oid).is_none_or(|before| before.storage != table.storage)
    }

    /// Whether the transaction has changed the catalog.
    #[must_use]
    pub fn has_catalog_changes(&self) -> bool {
        self.state.lock().catalog.is_some()
    }

    /// Sets or removes a row of the database's catalog, in this transaction.
    ///
    /// # Errors
    /// As [`Transaction::write`].
    pub fn add_catalog_mutation(&self, key: &[u8], value: Option<&[u8]>) -> PgResult<()> {
        self.add_catalog_mutation_in(self.transactions.database(), key, value)
    }

    /// The same of another database's catalog.
    ///
    /// # Errors
    /// As [`Transaction::write`].
    pub fn add_catalog_mutation_in(&self, database: Oid, key: &[u8], value: Option<&[u8]>) -> PgResult<()> {
        let key = stored_key(database, key);
        self.write(|set| match value {
            Some(value) => set.put(CATALOG_TABLE, &key, CATALOG_FAMILY, &[], Some(value)),
            None => set.delete(CATALOG_TABLE, &key),
        })
    }
}

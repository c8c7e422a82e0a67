//! A store that is a model and another store in step, and fails on any difference between them.
//!
//! Every call goes to the store, then to the [`ModelStore`]; commits get the store's timestamps in the model too. A difference is
//! a panic that shows both answers. The store may be more careful than the model: refuse a read of the past
//! ([`StoreError::SnapshotTooOld`]) or a commit ([`StoreError::Conflict`]) that the model would allow, never the other way
//! round. Calls that write must not overlap.
#![allow(clippy::panic)]

use crate::conformance::{Histories, Rows};
use crate::model::ModelStore;
use crate::{
    BulkLoad, CellRef, Commit, History, HistorySink, HistorySpec, KeyRange, Limits, MutationRef, Mutations, ReadSpec, Region, RowSink,
    Scan, ScanSpec, Snapshot, Store, StoreError, StoreResult, TableId, TableSchema, Timestamp, Watch,
};
use async_trait::async_trait;
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

#[derive(Debug)]
pub struct Mirror {
    model: ModelStore,
    store: Arc<dyn Store>,
}

impl Mirror {
    /// Both must be empty and take the time from the same clock.
    #[must_use]
    pub fn new(model: ModelStore, store: Arc<dyn Store>) -> Self {
        Self { model, store }
    }
}

#[derive(Debug)]
struct Pair {
    model: Arc<dyn Snapshot>,
    store: Arc<dyn Snapshot>,
}

impl Snapshot for Pair {
    fn timestamp(&self) -> Timestamp {
        self.store.timestamp()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The same read for the model and for the store.
fn both(spec: &ReadSpec) -> StoreResult<(ReadSpec, ReadSpec)> {
    let pair: &Pair = spec.snapshot.as_any().downcast_ref().ok_or_else(|| StoreError::Invalid("the snapshot is another store's".into()))?;
    let with = |snapshot: &Arc<dyn Snapshot>| ReadSpec { snapshot: Arc::clone(snapshot), ..spec.clone() };
    Ok((with(&pair.model), with(&pair.store)))
}

/// Fails unless both answers are the same, or the same kind of error.
fn same<T: PartialEq + Debug>(what: &(dyn Debug + Sync), model: StoreResult<T>, store: StoreResult<T>) -> StoreResult<T> {
    match (&model, &store) {
        (_, Err(StoreError::SnapshotTooOld)) => return store,
        (Ok(a), Ok(b)) if a == b => return store,
        (Err(a), Err(b)) if std::mem::discriminant(a) == std::mem::discriminant(b) => return store,
        _ => {}
    }
    panic!("{what:?}\nthe model says {model:?}\nthe store says {store:?}")
}

fn replay(rows: &Rows, sink: &mut dyn RowSink) {
    for (key, cells) in &rows.rows {
        let cells: Vec<_> =
            cells.iter().map(|c| CellRef { family: c.family, qualifier: &c.qualifier, timestamp: c.timestamp, value: &c.value }).collect();
        if sink.row(key, &cells).is_break() {
            break;
        }
    }
}

struct MirrorScan {
    model: Box<dyn Scan>,
    store: Box<dyn Scan>,
    spec: ScanSpec,
}

#[async_trait]
impl Scan for MirrorScan {
    fn restrict_to(&mut self, part: &KeyRange) -> StoreResult<()> {
        let model = self.model.restrict_to(part);
        same(&(&self.spec, part), model, self.store.restrict_to(part))
    }

    /// The sink must not break: the rows of a block were taken from both before it sees them.
    async fn next_block(&mut self, max_rows: usize, sink: &mut dyn RowSink) -> StoreResult<bool> {
        let (mut of_model, mut of_store) = (Rows::default(), Rows::default());
        let more = match self.store.next_block(max_rows, &mut of_store).await {
            Ok(more) => more,
            Err(error) => return same(&self.spec, Ok(true), Err(error)),
        };
        while of_model.rows.len() < of_store.rows.len() {
            if !self.model.next_block(of_store.rows.len() - of_model.rows.len(), &mut of_model).await? {
                break;
            }
        }
        if !more {
            // At the store's end the model must be at its own.
            while self.model.next_block(1000, &mut of_model).await? {}
        }
        let rows = same(&self.spec, Ok(of_model), Ok(of_store))?;
        replay(&rows, sink);
        Ok(more)
    }
}

struct MirrorHistory {
    model: Box<dyn History>,
    store: Box<dyn History>,
    spec: HistorySpec,
    /// Rows that the model has given, and the store not yet.
    ahead: Histories,
}

#[async_trait]
impl History for MirrorHistory {
    /// The store may know less of a row than the model, and leave out rows that were gone by then.
    async fn next_block(&mut self, max_rows: usize, sink: &mut dyn HistorySink) -> StoreResult<bool> {
        let mut of_store = Histories::default();
        let more = match self.store.next_block(max_rows, &mut of_store).await {
            Ok(more) => more,
            Err(error) => return same(&self.spec, Ok(true), Err(error)),
        };
        while self.model.next_block(1000, &mut self.ahead).await? {}
        for row in &of_store.rows {
            let at = self.ahead.rows.iter().position(|own| own.key == row.key);
            let Some(at) = at else { panic!("{:?}\nthe store tells of {row:?}, the model does not", self.spec) };
            for skipped in self.ahead.rows.drain(..at) {
                assert_eq!(skipped.since(Timestamp(u64::MAX)).versions, [], "{:?}: the store left out {skipped:?}", self.spec);
            }
            let own = self.ahead.rows.remove(0);
            assert_eq!(own.since(row.known_since).versions, row.since(row.known_since).versions, "{:?} of {:?}", self.spec, row);
        }
        if !more {
            for skipped in self.ahead.rows.drain(..) {
                assert_eq!(skipped.since(Timestamp(u64::MAX)).versions, [], "{:?}: the store left out {skipped:?}", self.spec);
            }
        }
        of_store.replay(sink);
        Ok(more)
    }
}

struct MirrorLoad {
    model: ModelStore,
    store: Box<dyn BulkLoad>,
    mutations: Mutations,
}

#[async_trait]
impl BulkLoad for MirrorLoad {
    fn apply(&mut self, mutation: MutationRef<'_>) -> StoreResult<()> {
        self.store.apply(mutation)?;
        self.mutations.push(mutation);
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.store.is_full()
    }

    async fn drain(&mut self) -> StoreResult<()> {
        self.store.drain().await
    }

    async fn finish(self: Box<Self>) -> StoreResult<Timestamp> {
        let at = self.store.finish().await?;
        self.model.apply_at(&self.mutations, at)?;
        Ok(at)
    }
}

#[async_trait]
impl Store for Mirror {
    async fn create_table(&self, schema: &TableSchema) -> StoreResult<()> {
        same(schema, self.model.create_table(schema).await, self.store.create_table(schema).await)
    }

    async fn alter_table(&self, schema: &TableSchema) -> StoreResult<()> {
        same(schema, self.model.alter_table(schema).await, self.store.alter_table(schema).await)
    }

    async fn drop_table(&self, table: TableId) -> StoreResult<()> {
        same(&table, self.model.drop_table(table).await, self.store.drop_table(table).await)
    }

    async fn list_tables(&self) -> StoreResult<Vec<TableSchema>> {
        same(&"tables", self.model.list_tables().await, self.store.list_tables().await)
    }

    async fn describe_table(&self, table: TableId) -> StoreResult<Option<TableSchema>> {
        same(&table, self.model.describe_table(table).await, self.store.describe_table(table).await)
    }

    /// The store's: where it cuts is its own affair.
    async fn regions(&self, table: TableId) -> StoreResult<Vec<Region>> {
        self.store.regions(table).await
    }

    async fn approximate_size(&self, table: TableId, range: &KeyRange) -> StoreResult<(u64, u64)> {
        self.store.approximate_size(table, range).await
    }

    async fn split(&self, table: TableId, at: &[u8]) -> StoreResult<()> {
        same(&at, self.model.split(table, at).await, self.store.split(table, at).await)
    }

    async fn unsplit(&self, table: TableId, at: &[u8]) -> StoreResult<()> {
        same(&at, self.model.unsplit(table, at).await, self.store.unsplit(table, at).await)
    }

    async fn flush(&self, table: TableId) -> StoreResult<()> {
        same(&table, self.model.flush(table).await, self.store.flush(table).await)
    }

    async fn compact(&self, table: TableId) -> StoreResult<()> {
        same(&table, self.model.compact(table).await, self.store.compact(table).await)
    }

    fn snapshot(&self) -> Arc<dyn Snapshot> {
        Arc::new(Pair { store: self.store.snapshot(), model: self.model.snapshot() })
    }

    fn snapshot_at(&self, timestamp: Timestamp) -> StoreResult<Arc<dyn Snapshot>> {
        let store = self.store.snapshot_at(timestamp)?;
        Ok(Arc::new(Pair { model: self.model.snapshot_at(timestamp)?, store }))
    }

    async fn get(&self, spec: &ReadSpec, keys: &[&[u8]], sink: &mut dyn RowSink) -> StoreResult<()> {
        let (model, store) = both(spec)?;
        let (mut of_model, mut of_store) = (Rows::default(), Rows::default());
        let model = self.model.get(&model, keys, &mut of_model).await.map(|()| of_model);
        let store = self.store.get(&store, keys, &mut of_store).await.map(|()| of_store);
        replay(&same(&(spec, keys), model, store)?, sink);
        Ok(())
    }

    async fn scan(&self, spec: ScanSpec) -> StoreResult<Box<dyn Scan>> {
        let (model, store) = both(&spec.read)?;
        let model = self.model.scan(ScanSpec { read: model, ..spec.clone() }).await;
        let store = self.store.scan(ScanSpec { read: store, ..spec.clone() }).await;
        match (model, store) {
            (Ok(model), Ok(store)) => Ok(Box::new(MirrorScan { model, store, spec })),
            (model, Err(error)) => same(&spec, model.map(|_| ()), Err(error)).map(|()| panic!("an error became none")),
            (Err(error), Ok(_)) => same(&spec, Err(error), Ok(())).map(|()| panic!("an error became none")),
        }
    }

    async fn history(&self, spec: HistorySpec) -> StoreResult<Box<dyn History>> {
        let pair: &Pair =
            spec.snapshot.as_any().downcast_ref().ok_or_else(|| StoreError::Invalid("the snapshot is another store's".into()))?;
        let with = |snapshot: &Arc<dyn Snapshot>| HistorySpec { snapshot: Arc::clone(snapshot), ..spec.clone() };
        match (self.model.history(with(&pair.model)).await, self.store.history(with(&pair.store)).await) {
            (Ok(model), Ok(store)) => Ok(Box::new(MirrorHistory { model, store, spec, ahead: Histories::default() })),
            (model, Err(error)) => same(&spec, model.map(|_| ()), Err(error)).map(|()| panic!("an error became none")),
            (Err(error), Ok(_)) => same(&spec, Err(error), Ok(())).map(|()| panic!("an error became none")),
        }
    }

    /// The store's; the model is more generous.
    fn watch(&self, table: TableId, range: &KeyRange, snapshot: &Arc<dyn Snapshot>) -> Option<Arc<Watch>> {
        let pair: &Pair = snapshot.as_any().downcast_ref()?;
        self.store.watch(table, range, &pair.store)
    }

    async fn commit(&self, commit: Commit<'_>) -> StoreResult<Timestamp> {
        let conflict = self.model.would_conflict(&commit);
        let Commit { mutations, snapshot, validate, durability } = commit;
        let answer = self.store.commit(Commit { mutations, snapshot, validate, durability }).await;
        match (&answer, conflict) {
            (Err(StoreError::Conflict), _) => answer,
            (Ok(at), false) => same(&mutations, self.model.apply_at(mutations, *at).map(|()| *at), Ok(*at)),
            (Ok(_), true) => panic!("the store missed a conflict of {mutations:?} at {snapshot:?}, {validate:?}"),
            (Err(_), _) => same(&mutations, self.model.check_tables(mutations, validate).map(|()| Timestamp::default()), answer),
        }
    }

    fn rows_changed_since(&self, rows: &mut dyn Iterator<Item = (TableId, &[u8])>, since: Timestamp) -> bool {
        let rows: Vec<_> = rows.collect();
        let store = self.store.rows_changed_since(&mut rows.iter().copied(), since);
        let model = self.model.rows_changed_since(&mut rows.iter().copied(), since);
        assert!(store || !model, "rows {rows:?} changed since {since:?}, the store says not");
        store
    }

    async fn bulk_load(&self, tables: &[TableId]) -> StoreResult<Box<dyn BulkLoad>> {
        let store = self.store.bulk_load(tables).await?;
        Ok(Box::new(MirrorLoad { model: self.model.clone(), store, mutations: Mutations::new() }))
    }

    async fn backup(&self, directory: &std::path::Path) -> StoreResult<Timestamp> {
        self.store.backup(directory).await
    }

    fn limits(&self) -> Limits {
        self.store.limits()
    }

    fn metrics(&self) -> Vec<(String, u64)> {
        self.store.metrics()
    }
}

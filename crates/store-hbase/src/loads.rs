//! Bulk loads: collected in memory and committed in one piece, so that they are bounded. A larger one is refused.

use crate::commit::{COMMIT_BYTES, Core, count};
use crate::keys::LIMITS;
use crate::tables::Table;
use async_trait::async_trait;
use std::sync::Arc;
use stoa_store::model::LoadOrder;
use stoa_store::{BulkLoad, MutationRef, Mutations, StoreError, StoreResult, TableId, Timestamp};

pub(crate) struct HbaseLoad {
    core: Arc<Core>,
    tables: Vec<Arc<Table>>,
    order: LoadOrder,
    mutations: Mutations,
}

impl HbaseLoad {
    /// # Errors
    /// [`StoreError::NoSuchTable`].
    pub fn new(core: &Arc<Core>, tables: &[TableId]) -> StoreResult<HbaseLoad> {
        let of = tables.iter().map(|id| core.table(*id)).collect::<StoreResult<Vec<_>>>()?;
        Ok(HbaseLoad { core: Arc::clone(core), tables: of, order: LoadOrder::new(tables), mutations: Mutations::new() })
    }
}

#[async_trait]
impl BulkLoad for HbaseLoad {
    fn apply(&mut self, mutation: MutationRef<'_>) -> StoreResult<()> {
        let (id, key) = mutation.row();
        self.order.next(id, key)?;
        let table = self.tables.iter().find(|table| table.id() == id).ok_or(StoreError::NoSuchTable(id.0))?;
        LIMITS.check_mutation(&table.schema, &mutation)?;
        self.mutations.push(mutation);
        if self.mutations.bytes() > COMMIT_BYTES {
            let (size, limit) = (self.mutations.bytes() as u64, COMMIT_BYTES as u64);
            return Err(StoreError::TooLarge { what: "a bulk load on HBase", size, limit });
        }
        Ok(())
    }

    async fn finish(self: Box<Self>) -> StoreResult<Timestamp> {
        count(&self.core.counters.loads, 1);
        // Until its end nobody else may write its rows: there is nothing to check.
        self.core.commit(&self.mutations, None, &[], None).await
    }
}

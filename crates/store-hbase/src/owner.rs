//! Whether a namespace has an owner that is alive, and whether there is such a store at all.

use crate::failure::read_error;
use crate::log::ROWS;
use crate::options::HbaseOptions;
use std::time::Duration;
use stoa_hbase_client::{Admin, Client, Get, Table, TableName};
use stoa_store::{StoreError, StoreResult};

/// How long an owner is waited for to show itself: it writes into each row of the log every second.
const PATIENCE: Duration = Duration::from_millis(2500);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(200);

/// How long the cluster may be silent at the start.
const SILENCE: Duration = Duration::from_secs(20);

/// Whether there is a namespace, which is the first question to a cluster: one that is not there says so soon.
pub(crate) async fn has_namespace(admin: &Admin, namespace: &str) -> StoreResult<bool> {
    Ok(admin.timeout(SILENCE).list_namespaces().await.map_err(read_error)?.iter().any(|name| name == namespace))
}

/// When the owner wrote last into each row, by the servers' clocks.
async fn written(table: &Table) -> StoreResult<Vec<Option<i64>>> {
    let mut out = Vec::with_capacity(ROWS);
    for number in 0..ROWS {
        let row = table.get(&Get::new(vec![number as u8]).column("e", "l")).await.map_err(read_error)?;
        out.push(row.and_then(|row| row.cells().iter().map(|cell| cell.timestamp()).max()));
    }
    Ok(out)
}

/// Refuses to go on while another process has the store and works.
pub(crate) async fn refuse_if_alive(table: &Table, namespace: &str) -> StoreResult<()> {
    let began = std::time::Instant::now();
    let first = written(table).await?;
    if first.iter().all(Option::is_none) {
        return Ok(());
    }
    while began.elapsed() < PATIENCE {
        tokio::time::sleep(PAUSE).await;
        if written(table).await? != first {
            return Err(StoreError::Locked(format!("another process has the namespace \"{namespace}\" open")));
        }
    }
    Ok(())
}

/// Whether a store was made in the namespace.
///
/// # Errors
/// [`StoreError::Unavailable`] if the cluster does not answer.
pub(crate) async fn is_there(options: &HbaseOptions) -> StoreResult<bool> {
    let client = Client::connect(options.client.clone()).map_err(read_error)?;
    let log = TableName::new(&options.namespace, "log").map_err(|e| StoreError::Invalid(e.to_string()))?;
    let admin = client.admin();
    if !has_namespace(&admin, &options.namespace).await? {
        return Ok(false);
    }
    admin.table_exists(&log).await.map_err(read_error)
}

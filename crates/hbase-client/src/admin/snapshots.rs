//! Snapshots of tables: files that stay, and tables made of them.

use super::{Admin, LONGEST_LOOK};
use crate::call::Repeat;
use crate::error::Error;
use crate::messages::master::{
    GetCompletedSnapshotsResponse, IsSnapshotDoneResponse, ProcedureStarted, SnapshotDescription, SnapshotRequest, SnapshotResponse,
};
use crate::messages::registry::Empty;
use crate::names::TableName;
use tokio::time::Instant;

/// A snapshot that is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub name: String,
    pub table: TableName,
    /// When it was taken, in milliseconds.
    pub created: i64,
}

fn description(name: &str, table: Option<&TableName>) -> SnapshotDescription {
    SnapshotDescription { name: name.to_owned(), table: table.map(|table| table.as_str().to_owned()), ..SnapshotDescription::default() }
}

impl Admin {
    /// Takes a snapshot of a table under this name, flushing it first: each region by itself, at about the same time.
    ///
    /// # Errors
    /// `SnapshotExistsException`, `SnapshotCreationException`, `TableNotFoundException`.
    pub async fn snapshot(&self, name: &str, table: &TableName) -> Result<(), Error> {
        let deadline = self.deadline();
        let (nonce_group, nonce) = self.nonces();
        let mut snapshot = description(name, Some(table));
        snapshot.r#type = Some(if self.is_table_enabled(table).await? { 1 } else { 0 });
        let request = SnapshotRequest { snapshot, nonce_group, nonce };
        let started: SnapshotResponse = match self.call("Snapshot", &request, Repeat::Never, deadline).await {
            // The answer was lost: whether it is there is asked below.
            Err(error) if error.is_unknown() && !error.is_deadline() => SnapshotResponse::default(),
            other => other?,
        };
        if let Some(id) = started.proc_id.and_then(|id| u64::try_from(id).ok()) {
            return self.wait_for("Snapshot", id, deadline).await;
        }
        let began = Instant::now();
        loop {
            let asked: IsSnapshotDoneResponse = self.call("IsSnapshotDone", &request, Repeat::Read, deadline).await?;
            if asked.done.unwrap_or(false) {
                return Ok(());
            }
            if Instant::now() + LONGEST_LOOK >= deadline {
                let cause = Error::Deadline { what: "snapshot".to_owned(), waited: began.elapsed(), last: None };
                return Err(Error::Unknown { cause: Box::new(cause) });
            }
            self.core.pause(LONGEST_LOOK).await;
        }
    }

    /// Makes a table of a snapshot. Its files are shared.
    ///
    /// # Errors
    /// `SnapshotDoesNotExistException`, `TableExistsException`.
    pub async fn clone_snapshot(&self, name: &str, table: &TableName) -> Result<(), Error> {
        if self.table_exists(table).await? {
            return Err(Error::Argument(format!("table {table} exists: a snapshot is cloned to a new table")));
        }
        self.restore(name, table).await
    }

    /// Makes a table that is disabled be as it was when the snapshot was taken.
    ///
    /// # Errors
    /// `SnapshotDoesNotExistException`, `TableNotDisabledException` (as `UnsupportedOperationException`).
    pub async fn restore_snapshot(&self, name: &str, table: &TableName) -> Result<(), Error> {
        if !self.table_exists(table).await? {
            return Err(Error::TableNotFound(table.clone()));
        }
        self.restore(name, table).await
    }

    async fn restore(&self, name: &str, table: &TableName) -> Result<(), Error> {
        let deadline = self.deadline();
        let (nonce_group, nonce) = self.nonces();
        let request = SnapshotRequest { snapshot: description(name, Some(table)), nonce_group, nonce };
        let started: ProcedureStarted = self.call("RestoreSnapshot", &request, Repeat::Harmless, deadline).await?;
        if let Some(id) = started.proc_id {
            self.wait_for("RestoreSnapshot", id, deadline).await?;
        }
        self.core.locator.table(table).clear();
        Ok(())
    }

    /// Removes a snapshot.
    ///
    /// # Errors
    /// `SnapshotDoesNotExistException`.
    pub async fn delete_snapshot(&self, name: &str) -> Result<(), Error> {
        let request = SnapshotRequest { snapshot: description(name, None), nonce_group: None, nonce: None };
        self.call::<Empty>("DeleteSnapshot", &request, Repeat::Harmless, self.deadline()).await.map(drop)
    }

    /// The snapshots that are complete.
    ///
    /// # Errors
    /// Of the master, or the timeout.
    pub async fn list_snapshots(&self) -> Result<Vec<Snapshot>, Error> {
        let found: GetCompletedSnapshotsResponse = self.call("GetCompletedSnapshots", &Empty {}, Repeat::Read, self.deadline()).await?;
        let snapshots = found.snapshots.into_iter().map(|snapshot| {
            let table = snapshot.table.as_deref().unwrap_or_default().parse()?;
            Ok(Snapshot { name: snapshot.name, table, created: snapshot.creation_time.unwrap_or(0) })
        });
        snapshots.collect()
    }
}

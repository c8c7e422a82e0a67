//! Backups: snapshots of HBase's, one of each table, and what of the log brings them all to one moment.
//!
//! Snapshots of tables are of different moments. The log is not trimmed from before the first one on, so that what was committed until the
//! last one has been taken can be laid over them: each change at its own time, whether the snapshot has it or not. Restoring clones the
//! snapshots, and opening rolls the log forward as after a crash. What the log does not tell of waits meanwhile ([`Core::quiet`]).
//!
//! In the directory are `manifest.json` and `log`; the snapshots stay on the cluster, and share files with the tables.

use crate::commit::Core;
use crate::failure::{read_error, write_error};
use crate::log::{self, LogCell};
use crate::options::HbaseOptions;
use crate::ticks::Tick;
use bytes::{Buf, BufMut, Bytes};
use futures::StreamExt;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use stoa_hbase_client::{Client, TableName};
use stoa_store::{Certainty, StoreError, StoreResult, Timestamp};

const FORMAT: u32 = 1;
/// Snapshots that are taken or cloned at once.
const AT_ONCE: usize = 4;
/// How long one may take.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(300);
/// Cells of the log that are put back at once.
const CELLS: usize = 64;
/// Row, family, time and the lengths of a cell in the file.
const HEAD: usize = 18;

#[derive(Serialize, Deserialize)]
struct Manifest {
    format: u32,
    namespace: String,
    /// The time that it is of, and the one up to which the snapshots have all.
    tick: u64,
    applied: u64,
    tables: Vec<OneTable>,
}

#[derive(Serialize, Deserialize)]
struct OneTable {
    /// Without the namespace.
    name: String,
    snapshot: String,
}

fn io(path: &Path, error: &std::io::Error) -> StoreError {
    StoreError::Io { message: format!("{}: {error}", path.display()), certainty: Certainty::NotDone }
}

/// The log is trimmed again, however the backup ends.
struct Held<'a>(&'a Core);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.trimmed_to.store(u64::MAX, Ordering::Release);
    }
}

/// See [`stoa_store::Store::backup`].
pub(crate) async fn backup(core: Arc<Core>, directory: PathBuf) -> StoreResult<Timestamp> {
    let empty = match std::fs::read_dir(&directory) {
        Ok(mut entries) => entries.next().is_none(),
        Err(_) => std::fs::create_dir_all(&directory).map(|()| true).map_err(|error| io(&directory, &error))?,
    };
    if !empty {
        return Err(StoreError::Invalid(format!("{} is not empty", directory.display())));
    }
    let _quiet = core.quiet.write().await;
    core.check_owner()?;
    // First the hold: whoever trims now may still use a time from before.
    core.trimmed_to.store(core.applied().0, Ordering::Release);
    let _held = Held(&core);
    let applied = Tick(core.trimmed_to.load(Ordering::Acquire));
    let mut tables: Vec<_> = core.tables().0.values().cloned().collect();
    tables.sort_by_key(|table| table.id());
    let admin = core.admin.timeout(PATIENCE);
    let snapshots = tables.iter().map(|table| {
        let name = table.handle.name().clone();
        let snapshot = format!("stoa_{}_{}_{}", core.options.namespace, applied.0, table.id().0);
        let admin = &admin;
        async move {
            admin.snapshot(&snapshot, &name).await.map_err(write_error)?;
            Ok(OneTable { name: name.table().to_owned(), snapshot })
        }
    });
    let taken: Vec<StoreResult<OneTable>> = futures::stream::iter(snapshots.collect::<Vec<_>>()).buffered(AT_ONCE).collect().await;
    let mut snapshots = Vec::with_capacity(taken.len());
    let mut failed = None;
    for one in taken {
        one.map_or_else(|error| failed = Some(error), |table| snapshots.push(table));
    }
    let upto = core.view().tick;
    let manifest =
        Manifest { format: FORMAT, namespace: core.options.namespace.clone(), tick: upto.0, applied: applied.0, tables: snapshots };
    let written = match failed {
        None => write(&core, &directory, &manifest, applied, upto).await,
        Some(error) => Err(error),
    };
    if let Err(error) = written {
        for table in &manifest.tables {
            let _ = admin.delete_snapshot(&table.snapshot).await;
        }
        return Err(error);
    }
    Ok(upto.timestamp())
}

async fn write(core: &Core, directory: &Path, manifest: &Manifest, applied: Tick, upto: Tick) -> StoreResult<()> {
    let path = directory.join("log");
    let mut file = BufWriter::new(File::create_new(&path).map_err(|error| io(&path, &error))?);
    core.log.copy(applied, upto, |cell| write_cell(&mut file, &cell).map_err(|error| io(&path, &error))).await?;
    // A process that was taken over in the meantime has read what the next one trims.
    core.check_owner()?;
    if !core.log.trim(0, applied).await.map_err(write_error)? {
        core.lose();
        return core.check_owner();
    }
    file.into_inner().map_err(|error| io(&path, error.error()))?.sync_all().map_err(|error| io(&path, &error))?;
    // Last: a backup without it is none.
    let path = directory.join("manifest.json");
    let text = serde_json::to_vec_pretty(manifest).map_err(|error| StoreError::Invalid(error.to_string()))?;
    let mut file = File::create_new(&path).map_err(|error| io(&path, &error))?;
    file.write_all(&text).and_then(|()| file.sync_all()).map_err(|error| io(&path, &error))?;
    File::open(directory).and_then(|directory| directory.sync_all()).map_err(|error| io(directory, &error))
}

/// See [`crate::HbaseStore::restore`].
pub(crate) async fn restore(options: &HbaseOptions, directory: &Path) -> StoreResult<()> {
    let path = directory.join("manifest.json");
    let text = std::fs::read(&path).map_err(|error| StoreError::Invalid(format!("{} is no backup: {error}", directory.display())))?;
    let manifest: Manifest =
        serde_json::from_slice(&text).map_err(|error| StoreError::Corruption(format!("{}: {error}", path.display())))?;
    if manifest.format > FORMAT {
        return Err(StoreError::Invalid("the backup was made by a later version of this program".into()));
    }
    let client = Client::connect(options.client.clone()).map_err(read_error)?;
    let admin = client.admin();
    let name = |table: &str| TableName::new(&options.namespace, table).map_err(|error| StoreError::Invalid(error.to_string()));
    if crate::owner::has_namespace(&admin, &options.namespace).await? {
        if !admin.list_tables(&options.namespace).await.map_err(read_error)?.is_empty() {
            return Err(StoreError::Invalid(format!(
                "namespace \"{}\" has tables: a backup is restored to one that has none",
                options.namespace
            )));
        }
    } else {
        admin.create_namespace(&options.namespace).await.map_err(write_error)?;
    }
    let log_name = name("log")?;
    log::ensure_table(&client, &log_name).await?;
    let log_table = client.table(log_name.as_str()).map_err(read_error)?;
    log::begin_restoring(&log_table, Tick(manifest.applied)).await?;
    let admin = admin.timeout(PATIENCE);
    let mut clones = Vec::with_capacity(manifest.tables.len());
    for table in &manifest.tables {
        let (to, admin) = (name(&table.name)?, &admin);
        clones.push(async move { admin.clone_snapshot(&table.snapshot, &to).await.map_err(write_error) });
    }
    let mut clones = futures::stream::iter(clones).buffer_unordered(AT_ONCE);
    while let Some(cloned) = clones.next().await {
        cloned?;
    }
    let path = directory.join("log");
    let mut file = BufReader::new(File::open(&path).map_err(|error| io(&path, &error))?);
    let mut cells = Vec::new();
    while let Some(cell) = read_cell(&mut file).map_err(|error| io(&path, &error))? {
        cells.push(cell);
        if cells.len() >= CELLS {
            log::restore_cells(&log_table, &cells).await?;
            cells.clear();
        }
    }
    log::restore_cells(&log_table, &cells).await?;
    log::end_restoring(&log_table).await
}

fn write_cell(file: &mut impl Write, cell: &LogCell) -> std::io::Result<()> {
    let mut head = Vec::with_capacity(HEAD);
    head.put_u8(cell.row);
    head.put_u8(cell.family);
    head.put_i64(cell.time);
    head.put_u32(cell.qualifier.len() as u32);
    head.put_u32(cell.value.len() as u32);
    file.write_all(&head)?;
    file.write_all(&cell.qualifier)?;
    file.write_all(&cell.value)
}

/// The next cell; `None` at the end of the file.
fn read_cell(file: &mut impl Read) -> std::io::Result<Option<LogCell>> {
    let mut head = [0; HEAD];
    if file.read(&mut head[..1])? == 0 {
        return Ok(None);
    }
    file.read_exact(&mut head[1..])?;
    let mut rest = &head[..];
    let (row, family, time) = (rest.get_u8(), rest.get_u8(), rest.get_i64());
    let mut bytes = |len: u32| {
        let mut read = Vec::new();
        file.take(u64::from(len)).read_to_end(&mut read)?;
        if read.len() == len as usize { Ok(Bytes::from(read)) } else { Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof)) }
    };
    let (qualifier, value) = (rest.get_u32(), rest.get_u32());
    Ok(Some(LogCell { row, family, time, qualifier: bytes(qualifier)?, value: bytes(value)? }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn cells_come_back_and_files_that_end_early_do_not() {
        let cell =
            |row, value: &'static [u8]| LogCell { row, family: b'g', time: 7, qualifier: Bytes::from_static(b"q"), value: value.into() };
        let cells = [cell(0, b"one"), cell(3, b"")];
        let mut file = Vec::new();
        cells.iter().for_each(|cell| write_cell(&mut file, cell).unwrap());
        let mut read = &file[..];
        assert_eq!([read_cell(&mut read).unwrap().unwrap(), read_cell(&mut read).unwrap().unwrap()], cells);
        assert_eq!(read_cell(&mut read).unwrap(), None);
        for end in 1..HEAD + 4 {
            assert!(read_cell(&mut &file[..end]).is_err(), "{end}");
        }
    }
}

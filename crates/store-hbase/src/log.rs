//! The log: where commits become durable, and whose they are to make.
//!
//! It is a table of a few rows, a region each. A row bears the owner (`e:o`: epoch and node), the time up to which all commits are in
//! their tables (`e:a`), a sign that the owner is alive (`e:l`), records (`g:<time><part>`), one for each group of commits, and bulk loads
//! (`e:b<time>`: [`StoredLoad`]). Whoever writes does so on condition that the owner is still itself: a store that was taken over finds that out by its next write, and cannot commit any more. Rows are several so that
//! several groups can be under way: HBase holds the lock of a row while it writes.
//!
//! ```text
//! record   version u8 = 1 | flags u8 = 0 | epoch u64 | tick u64 | entries u32 | entry… | xxh3 u64     little-endian
//! entry    kind u8 = 0 | tick u64 | node u64 | sequence u64 | length u32 | body
//! ```
//! A body is `changes`' form of a commit. An entry has a time of its own, which is its record's unless it was written again later.

use crate::changes::{RowChange, decode};
use crate::failure::{read_error, write_error};
use crate::ticks::Tick;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use futures::future::{Either, select};
use futures::stream::{FuturesUnordered, StreamExt};
use hashbrown::HashSet;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use stoa_hbase_client::{
    CellKind, CheckAndMutate, Client, Condition, Error, FamilyDescriptor, Filter, Get, Mutation, Table, TableDescriptor, TableName,
};
use stoa_store::{StoreError, StoreResult, TableId};

/// How many rows it has: groups of commits under way at once.
pub(crate) const ROWS: usize = 4;
const VERSION: u8 = 1;
/// Of a cell: records are cut into such parts, which the servers' memory takes without waste.
const PART_BYTES: usize = 128 << 10;
/// Parts that are read at once.
const PARTS_READ: i32 = 64;
/// A record is sent to a second row if the first one's server has not answered by then, and this much later for each 20 KB.
const PATIENCE: Duration = Duration::from_millis(100);
const BYTES_PER_MS: usize = 20_000;
/// Between two tries of a record.
const PAUSE: Duration = Duration::from_millis(200);
/// How often a store tries to become the owner while others do so too.
const TRIES: usize = 20;

const ENTRY_COMMIT: u8 = 0;

/// What is in a record for one commit.
pub(crate) struct Entry<'a> {
    pub tick: Tick,
    pub sequence: u64,
    pub body: &'a Bytes,
}

/// How writing a record ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Appended {
    Written,
    /// Another store is the owner. `certain`: nothing of the record will ever be in the log.
    NotOwner {
        certain: bool,
    },
}

/// The log, as its owner has it.
#[derive(Debug)]
pub(crate) struct Log {
    table: Table,
    /// What `e:o` holds as long as the log is this store's.
    owner: Bytes,
    pub epoch: u64,
    pub node: u64,
}

/// Changes by the times of their commits, each with the time of the record that it was found in.
pub(crate) type Commits = BTreeMap<Tick, Vec<(Tick, Arc<RowChange>)>>;

/// What a new owner finds.
#[derive(Debug)]
pub(crate) struct Found {
    /// Commits that may not be in their tables yet, by their times.
    pub commits: Commits,
    /// No time at or below was ever given to a commit that is not in the log or in the tables.
    pub last: Tick,
    pub loads: Vec<StoredLoad>,
}

/// What the log says of a bulk load: rows of these tables at its time are none of anybody's before it has ended.
///
/// ```text
/// e:b<begin u64>   state u8 | end u64 | tables u16 | table u32…     big-endian; at the time of its state
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct StoredLoad {
    pub begin: Tick,
    /// The time of the commit that it became.
    pub end: Option<Tick>,
    pub tables: Arc<[TableId]>,
}

/// States of a load; a later one hides an earlier one.
const LOAD_BEGUN: u8 = 1;
const LOAD_ENDED: u8 = 2;
/// Of a qualifier.
const LOAD: u8 = b'b';
/// Of `e`, in the first row: a restore has not ended.
const RESTORING: &[u8] = b"r";

impl StoredLoad {
    fn qualifier(begin: Tick) -> [u8; 9] {
        let mut out = [LOAD; 9];
        out[1..].copy_from_slice(&begin.0.to_be_bytes());
        out
    }

    /// Adds what is said of the load.
    fn set(&self, put: Mutation) -> Mutation {
        let state = if self.end.is_some() { LOAD_ENDED } else { LOAD_BEGUN };
        let mut value = BytesMut::with_capacity(11 + 4 * self.tables.len());
        value.put_u8(state);
        value.put_u64(self.end.unwrap_or_default().0);
        value.put_u16(self.tables.len() as u16);
        self.tables.iter().for_each(|table| value.put_u32(table.0));
        put.set_at("e", StoredLoad::qualifier(self.begin), i64::from(state), value)
    }

    /// Of a cell of `e`; `None` if that says something else.
    fn read(qualifier: &[u8], mut value: &[u8]) -> StoreResult<Option<StoredLoad>> {
        let Some((&LOAD, begin)) = qualifier.split_first() else { return Ok(None) };
        let begin = Tick(u64_of(begin, "the time of a load")?);
        let wrong = |_| StoreError::Corruption(format!("what the log says of load {} ends early", begin.0));
        let state = value.try_get_u8().map_err(wrong)?;
        let end = Tick(value.try_get_u64().map_err(wrong)?);
        let mut tables = Vec::new();
        for _ in 0..value.try_get_u16().map_err(wrong)? {
            tables.push(TableId(value.try_get_u32().map_err(wrong)?));
        }
        match state {
            LOAD_BEGUN | LOAD_ENDED => Ok(Some(StoredLoad { begin, end: (state == LOAD_ENDED).then_some(end), tables: tables.into() })),
            _ => Err(StoreError::Corruption(format!("the log says {state} of load {}", begin.0))),
        }
    }
}

fn row(number: usize) -> Bytes {
    Bytes::copy_from_slice(&[number as u8 % ROWS as u8])
}

fn column(tick: Tick, part: usize) -> [u8; 10] {
    let mut out = [0; 10];
    out[..8].copy_from_slice(&tick.0.to_be_bytes());
    out[8..].copy_from_slice(&(part as u16).to_be_bytes());
    out
}

/// Makes the log's table if there is none.
pub(crate) async fn ensure_table(client: &Client, name: &TableName) -> StoreResult<()> {
    let admin = client.admin();
    if admin.table_exists(name).await.map_err(read_error)? {
        return Ok(());
    }
    let descriptor = TableDescriptor::new(name.clone())
        .family(FamilyDescriptor::new("e").versions(1))
        .family(FamilyDescriptor::new("g").versions(1).block_cache(false));
    let splits: Vec<Bytes> = (1..ROWS).map(row).collect();
    match admin.create_table(&descriptor, &splits).await {
        Err(error) if !error.is_exception("TableExistsException") => Err(write_error(error)),
        _ => Ok(()),
    }
}

impl Log {
    /// Becomes the owner: no store that was it before can write from then on.
    ///
    /// # Errors
    /// [`StoreError::Locked`] if others try the same all the time; what HBase says.
    pub async fn take(table: Table, node: u64) -> StoreResult<Log> {
        for _ in 0..TRIES {
            let mut found = Vec::with_capacity(ROWS);
            for number in 0..ROWS {
                found.push(owner_of(&table, number).await?);
            }
            let epoch = 1 + found.iter().flatten().map(epoch_of).max().unwrap_or(0);
            let mut owner = BytesMut::with_capacity(16);
            owner.put_u64(epoch);
            owner.put_u64(node);
            let log = Log { table: table.clone(), owner: owner.freeze(), epoch, node };
            if log.take_rows(found).await? {
                return Ok(log);
            }
        }
        Err(StoreError::Locked("other processes take the store over again and again".into()))
    }

    /// Whether all rows are this store's now.
    async fn take_rows(&self, found: Vec<Option<Bytes>>) -> StoreResult<bool> {
        for (number, before) in found.into_iter().enumerate() {
            let condition = before.clone().map_or_else(|| Condition::absent("e", "o"), |owner| Condition::equal("e", "o", owner));
            let put = Mutation::put(row(number)).set("e", "o", &self.owner);
            let failed = match self.table.check_and_mutate(&CheckAndMutate::new(condition, put)).await {
                Ok(true) => continue,
                Ok(false) => None,
                // It may have been done all the same.
                Err(error) if error.is_unknown() => Some(error),
                Err(error) => return Err(read_error(error)),
            };
            let now = owner_of(&self.table, number).await?;
            match failed {
                _ if now.as_ref() == Some(&self.owner) => {}
                Some(error) if now == before => return Err(StoreError::Unavailable(format!("HBase does not take the log over: {error}"))),
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// All that is in the log and may not be in the tables.
    ///
    /// # Errors
    /// [`StoreError::Corruption`] for a record that is damaged.
    pub async fn read(&self) -> StoreResult<Found> {
        let mut applied = Tick::default();
        let mut loads: BTreeMap<Tick, StoredLoad> = BTreeMap::new();
        for number in 0..ROWS {
            let found = self.table.get(&Get::new(row(number)).family("e")).await.map_err(read_error)?;
            for cell in found.iter().flat_map(|row| row.cells()) {
                if cell.qualifier() == RESTORING {
                    let what = "the namespace is being restored from a backup, or that was cut off: drop its tables and begin again";
                    return Err(StoreError::Invalid(what.into()));
                } else if cell.qualifier() == b"a" {
                    applied = applied.max(Tick(u64_of(cell.value(), "the time up to which commits are applied")?));
                } else if let Some(load) = StoredLoad::read(cell.qualifier(), cell.value())? {
                    // Each row may say how it stood at another time.
                    let known = loads.entry(load.begin).or_insert_with(|| load.clone());
                    known.end = known.end.or(load.end);
                }
            }
        }
        let mut commits = BTreeMap::new();
        // A record may stand in two rows.
        let mut seen = HashSet::new();
        let mut last = loads.values().map(|load| load.end.unwrap_or(load.begin)).fold(applied, Tick::max);
        for number in 0..ROWS {
            let mut from = column(Tick(applied.0 + 1), 0).to_vec();
            let mut record: Option<(Tick, usize, BytesMut)> = None;
            loop {
                let filter = Filter::column_pagination_from(PARTS_READ, from.clone());
                let get = Get::new(row(number)).family("g").filter(filter).uncached();
                let cells = self.table.get(&get).await.map_err(read_error)?.map(|row| row.into_cells()).unwrap_or_default();
                for cell in &cells {
                    let (tick, part) = column_of(cell.qualifier())?;
                    match &mut record {
                        Some((of, parts, bytes)) if *of == tick && *parts == part => {
                            *parts += 1;
                            bytes.extend_from_slice(cell.value());
                        }
                        _ if part == 0 => {
                            if let Some((of, _, bytes)) = record.replace((tick, 1, BytesMut::from(cell.value())))
                                && seen.insert(of)
                            {
                                read_record(of, bytes.freeze(), &mut commits)?;
                            }
                        }
                        _ => return Err(StoreError::Corruption(format!("a part of record {} of the log is missing", tick.0))),
                    }
                    last = last.max(tick);
                }
                let Some(end) = cells.last() else { break };
                from = [end.qualifier(), &[0]].concat();
            }
            if let Some((of, _, bytes)) = record
                && seen.insert(of)
            {
                read_record(of, bytes.freeze(), &mut commits)?;
            }
        }
        Ok(Found { commits, last, loads: loads.into_values().collect() })
    }

    /// All cells of records behind a time, and of what is said of loads, as they stand.
    ///
    /// # Errors
    /// What HBase says, or the caller.
    pub async fn copy(&self, behind: Tick, upto: Tick, mut each: impl FnMut(LogCell) -> StoreResult<()>) -> StoreResult<()> {
        for number in 0..ROWS {
            let found = self.table.get(&Get::new(row(number)).family("e")).await.map_err(read_error)?;
            for cell in found.iter().flat_map(|row| row.cells()).filter(|cell| cell.qualifier().first() == Some(&LOAD)) {
                each(LogCell::of(number, cell))?;
            }
            let mut from = column(Tick(behind.0 + 1), 0).to_vec();
            loop {
                let filter = Filter::column_pagination_from(PARTS_READ, from.clone());
                let get = Get::new(row(number)).family("g").filter(filter).uncached();
                let cells = self.table.get(&get).await.map_err(read_error)?.map(|row| row.into_cells()).unwrap_or_default();
                for cell in &cells {
                    if column_of(cell.qualifier())?.0 <= upto {
                        each(LogCell::of(number, cell))?;
                    }
                }
                let Some(end) = cells.last() else { break };
                from = [end.qualifier(), &[0]].concat();
            }
        }
        Ok(())
    }

    /// A record of commits.
    pub fn encode(&self, tick: Tick, entries: &[Entry<'_>]) -> Bytes {
        let bytes: usize = entries.iter().map(|entry| entry.body.len() + 32).sum();
        let mut out = BytesMut::with_capacity(bytes + 40);
        out.put_u8(VERSION);
        out.put_u8(0);
        out.put_u64_le(self.epoch);
        out.put_u64_le(tick.0);
        out.put_u32_le(entries.len() as u32);
        for entry in entries {
            out.put_u8(ENTRY_COMMIT);
            out.put_u64_le(entry.tick.0);
            out.put_u64_le(self.node);
            out.put_u64_le(entry.sequence);
            out.put_u32_le(entry.body.len() as u32);
            out.extend_from_slice(entry.body);
        }
        let sum = xxhash_rust::xxh3::xxh3_64(&out);
        out.put_u64_le(sum);
        out.freeze()
    }

    /// Writes a record, beginning with some row, and that these loads have ended with it: returns once it is durable or the owner is
    /// another, however long that takes.
    pub async fn append(&self, first: usize, tick: Tick, record: Bytes, loads: Vec<StoredLoad>) -> Appended {
        let patience = PATIENCE + Duration::from_millis((record.len() / BYTES_PER_MS) as u64);
        let loads = &loads[..];
        let mut running = FuturesUnordered::new();
        let mut number = first;
        running.push(self.write(number, tick, record.clone(), loads, Duration::ZERO));
        let mut uncertain = false;
        loop {
            let ended = if running.len() > 1 {
                running.next().await
            } else {
                match select(running.next(), Box::pin(tokio::time::sleep(patience))).await {
                    Either::Left((ended, _)) => ended,
                    Either::Right(_) => {
                        // One success is enough, and a second copy is the same.
                        number += 1;
                        running.push(self.write(number, tick, record.clone(), loads, Duration::ZERO));
                        continue;
                    }
                }
            };
            match ended {
                Some(Ok(true)) => return Appended::Written,
                Some(Ok(false)) => return Appended::NotOwner { certain: !uncertain && running.is_empty() },
                Some(Err(error)) => {
                    tracing::warn!("a record of the log is written again: {error}");
                    uncertain = true;
                }
                None => {}
            }
            number += 1;
            running.push(self.write(number, tick, record.clone(), loads, PAUSE));
        }
    }

    async fn write(&self, number: usize, tick: Tick, record: Bytes, loads: &[StoredLoad], pause: Duration) -> Result<bool, Error> {
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        let parts = record.chunks(PART_BYTES).enumerate();
        let put = parts.fold(Mutation::put(row(number)), |put, (part, bytes)| put.set_at("g", column(tick, part), tick.0 as i64, bytes));
        self.write_as_owner(loads.iter().fold(put, |put, load| load.set(put))).await
    }

    /// Says what is known of a load, in whichever row takes it; whether the log is still this store's.
    pub async fn write_load(&self, load: &StoredLoad) -> Result<bool, Error> {
        let mut failed = Error::Closed;
        for number in 0..ROWS {
            match self.write_as_owner(load.set(Mutation::put(row(number)))).await {
                Ok(owned) => return Ok(owned),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    /// Removes all that is said of a load; whether the log is still this store's.
    pub async fn forget_load(&self, begin: Tick) -> Result<bool, Error> {
        for number in 0..ROWS {
            let delete = Mutation::delete(row(number)).column_at("e", StoredLoad::qualifier(begin), i64::from(LOAD_ENDED));
            if !self.write_as_owner(delete).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Says up to which time all is in the tables, and removes the records up to there; whether the log is still this store's.
    pub async fn trim(&self, number: usize, applied: Tick) -> Result<bool, Error> {
        let time = applied.0 as i64;
        // The time of the servers in `e:l` says that the owner is alive, though nothing be committed.
        let put = Mutation::put(row(number)).set_at("e", "a", time, applied.0.to_be_bytes()).set("e", "l", "");
        self.write_as_owner(put.cell(CellKind::DeleteFamily, "g", [], time, [])).await
    }

    async fn write_as_owner(&self, mutation: Mutation) -> Result<bool, Error> {
        let owned = Condition::equal("e", "o", self.owner.clone());
        self.table.check_and_mutate(&CheckAndMutate::new(owned, mutation).repeatable()).await
    }

    /// The servers' clock, in milliseconds since 1970.
    ///
    /// # Errors
    /// What HBase says.
    pub async fn server_clock(&self) -> StoreResult<u64> {
        self.table.mutate(&Mutation::put(row(0)).set("e", "c", "")).await.map_err(write_error)?;
        let found = self.table.get(&Get::new(row(0)).column("e", "c")).await.map_err(read_error)?;
        let time = found.as_ref().and_then(|row| row.cell(b"e", b"c")).map(stoa_hbase_client::Cell::timestamp);
        Ok(time.map_or(0, |time| u64::try_from(time).unwrap_or(0)))
    }
}

/// A cell of the log, as it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LogCell {
    pub row: u8,
    pub family: u8,
    pub time: i64,
    pub qualifier: Bytes,
    pub value: Bytes,
}

impl LogCell {
    fn of(number: usize, cell: &stoa_hbase_client::Cell) -> LogCell {
        LogCell {
            row: number as u8,
            family: cell.family().first().copied().unwrap_or_default(),
            time: cell.timestamp(),
            qualifier: Bytes::copy_from_slice(cell.qualifier()),
            value: cell.value_bytes(),
        }
    }
}

/// Begins to make a log from what another one had: nobody opens it before [`end_restoring`].
///
/// # Errors
/// What HBase says.
pub(crate) async fn begin_restoring(table: &Table, applied: Tick) -> StoreResult<()> {
    let put = Mutation::put(row(0)).set_at("e", RESTORING, 1, "").set_at("e", "a", applied.0 as i64, applied.0.to_be_bytes());
    table.mutate(&put).await.map_err(write_error)
}

/// # Errors
/// What HBase says.
pub(crate) async fn restore_cells(table: &Table, cells: &[LogCell]) -> StoreResult<()> {
    for cell in cells {
        let put = Mutation::put(row(usize::from(cell.row))).set_at([cell.family], &cell.qualifier, cell.time, &cell.value);
        table.mutate(&put).await.map_err(write_error)?;
    }
    Ok(())
}

/// # Errors
/// What HBase says.
pub(crate) async fn end_restoring(table: &Table) -> StoreResult<()> {
    table.mutate(&Mutation::delete(row(0)).column_at("e", RESTORING, 1)).await.map_err(write_error)
}

async fn owner_of(table: &Table, number: usize) -> StoreResult<Option<Bytes>> {
    let found = table.get(&Get::new(row(number)).column("e", "o")).await.map_err(read_error)?;
    Ok(found.and_then(|row| row.cells().first().map(stoa_hbase_client::Cell::value_bytes)))
}

fn epoch_of(owner: &Bytes) -> u64 {
    owner.first_chunk::<8>().map_or(0, |epoch| u64::from_be_bytes(*epoch))
}

fn u64_of(bytes: &[u8], what: &str) -> StoreResult<u64> {
    let bytes: [u8; 8] = bytes.try_into().map_err(|_| StoreError::Corruption(format!("{what} has {} bytes", bytes.len())))?;
    Ok(u64::from_be_bytes(bytes))
}

fn column_of(qualifier: &[u8]) -> StoreResult<(Tick, usize)> {
    let wrong = || StoreError::Corruption(format!("the log has a column {qualifier:?}"));
    let (tick, part) = qualifier.split_first_chunk::<8>().ok_or_else(wrong)?;
    let part: [u8; 2] = part.try_into().map_err(|_| wrong())?;
    Ok((Tick(u64::from_be_bytes(*tick)), usize::from(u16::from_be_bytes(part))))
}

/// Adds the commits of a record that was written to the column of a time.
fn read_record(tick: Tick, record: Bytes, commits: &mut Commits) -> StoreResult<()> {
    let wrong = |what: &str| StoreError::Corruption(format!("record {} of the log: {what}", tick.0));
    let early = |_| wrong("it ends early");
    let Some((content, sum)) = record.split_last_chunk::<8>() else { return Err(wrong("it is too short")) };
    if xxhash_rust::xxh3::xxh3_64(content) != u64::from_le_bytes(*sum) {
        return Err(wrong("its checksum is not that of its bytes"));
    }
    let mut rest = record.slice(..content.len());
    if rest.try_get_u8().map_err(early)? > VERSION {
        return Err(StoreError::Invalid("the log was written by a later version of this program".into()));
    }
    let flags = rest.try_get_u8().map_err(early)?;
    let _epoch = rest.try_get_u64_le().map_err(early)?;
    if flags != 0 || rest.try_get_u64_le().map_err(early)? != tick.0 {
        return Err(wrong("it is another one"));
    }
    for _ in 0..rest.try_get_u32_le().map_err(early)? {
        let kind = rest.try_get_u8().map_err(early)?;
        let of = Tick(rest.try_get_u64_le().map_err(early)?);
        let _node = rest.try_get_u64_le().map_err(early)?;
        let _sequence = rest.try_get_u64_le().map_err(early)?;
        let length = rest.try_get_u32_le().map_err(early)? as usize;
        if kind != ENTRY_COMMIT || length > rest.len() {
            return Err(wrong("an entry is none"));
        }
        let rows = decode(&rest.split_to(length)).map_err(|e| wrong(&e))?;
        commits.entry(of).or_default().extend(rows.into_iter().map(|row| (tick, Arc::new(row))));
    }
    if rest.is_empty() { Ok(()) } else { Err(wrong("there is more than its entries")) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use stoa_hbase_client::ClientConfig;

    #[test]
    fn records_are_checked_when_they_are_read() {
        let client = Client::connect(ClientConfig::rpc(["localhost:1"])).unwrap();
        let log = Log { table: client.table("n:log").unwrap(), owner: Bytes::new(), epoch: 3, node: 4 };
        // One row without families, of table 1 and key "k".
        let body = Bytes::from_static(&[1, 1, b'k', 0]);
        let entries = [Entry { tick: Tick(8), sequence: 1, body: &body }, Entry { tick: Tick(6), sequence: 2, body: &body }];
        let record = log.encode(Tick(8), &entries);
        let read = |tick, record: &Bytes| {
            let mut commits = BTreeMap::new();
            read_record(tick, record.clone(), &mut commits).map(|()| commits)
        };
        let commits = read(Tick(8), &record).unwrap();
        assert_eq!(commits.keys().copied().collect::<Vec<_>>(), [Tick(6), Tick(8)]);
        assert_eq!((commits[&Tick(6)][0].0, &commits[&Tick(6)][0].1.key[..]), (Tick(8), &b"k"[..]));
        assert!(matches!(read(Tick(9), &record), Err(StoreError::Corruption(_))), "of another time");
        for at in 0..record.len() {
            let mut broken = record.to_vec();
            broken[at] ^= 1;
            assert!(matches!(read(Tick(8), &broken.into()), Err(StoreError::Corruption(_))), "byte {at}");
            assert!(matches!(read(Tick(8), &record.slice(..at)), Err(StoreError::Corruption(_))), "{at} bytes");
        }
        assert_eq!(column_of(&column(Tick(7), 300)).unwrap(), (Tick(7), 300));
        assert!(column_of(b"short").is_err());
    }

    #[test]
    fn what_is_said_of_loads_comes_back() {
        for end in [None, Some(Tick(12))] {
            let load = StoredLoad { begin: Tick(8), end, tables: Arc::new([TableId(1), TableId(70_000)]) };
            let put = load.set(Mutation::put("r"));
            assert!(put.size() > 0);
            let mut value = vec![1 + u8::from(end.is_some())];
            value.extend(end.map_or(0, |end| end.0).to_be_bytes());
            value.extend([0, 2, 0, 0, 0, 1, 0, 1, 0x11, 0x70]);
            let qualifier = StoredLoad::qualifier(Tick(8));
            assert_eq!(StoredLoad::read(&qualifier, &value).unwrap(), Some(load));
            assert!(StoredLoad::read(&qualifier, &value[..value.len() - 1]).is_err());
        }
        assert_eq!(StoredLoad::read(b"a", b"").unwrap(), None);
        assert!(StoredLoad::read(b"b", b"").is_err());
    }
}

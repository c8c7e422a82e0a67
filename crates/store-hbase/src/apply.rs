//! The applier: brings what is committed into HBase's tables, by plain puts, behind the answers to commits; and trims the log.
//!
//! A put at a time goes with a marker a millisecond before it, which says when the version that it replaces ended: HBase removes nothing
//! else by itself, and removes that once the marker is older than the retention. All is at times of its own, so that doing it twice, late,
//! or in another order does the same.

use crate::changes::FamilyChange;
use crate::commit::{Core, count};
use crate::log::ROWS;
use crate::options::Markers;
use crate::pending::{Batch, BatchSize, Changes};
use crate::tables::{Family, Table};
use crate::ticks::Tick;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use hashbrown::HashMap;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use stoa_hbase_client::{Action, CellKind, Error, Mutation};
use stoa_store::TableId;

const BATCH: BatchSize = BatchSize { rows: 1000, bytes: 2 << 20, at_once: 2 };
/// Batches under way.
const AT_ONCE: usize = 6;
/// How long a batch waits for regions that do not answer, before what was answered counts.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Before a row that was not taken is sent again.
const PAUSE: Duration = Duration::from_secs(1);
const TRIM: Duration = Duration::from_secs(1);

/// Applies until the store is lost.
pub(crate) async fn run(core: Arc<Core>) {
    let mut busy: HashMap<TableId, usize> = HashMap::new();
    let mut running = FuturesUnordered::new();
    while !core.is_lost() {
        let mut wake = None;
        while running.len() < AT_ONCE {
            let next = core.pending.write().next_batch(BATCH, core.options.faults.apply_after, &busy);
            match next {
                Ok((table, batch)) => {
                    *busy.entry(table).or_default() += 1;
                    running.push(core.handle.spawn(send(Arc::clone(&core), table, batch)));
                }
                Err(when) => {
                    wake = when;
                    break;
                }
            }
        }
        tokio::select! {
            Some(ended) = running.next(), if !running.is_empty() => {
                if let Ok(table) = ended
                    && let Some(of) = busy.get_mut(&table)
                {
                    *of -= 1;
                    if *of == 0 {
                        busy.remove(&table);
                    }
                }
            }
            () = core.arrived.notified() => {}
            () = tokio::time::sleep_until(wake.unwrap_or_else(Instant::now).into()), if wake.is_some() => {}
        }
    }
}

/// Sends the changes of some rows of a table.
async fn send(core: Arc<Core>, id: TableId, batch: Batch) -> TableId {
    let table = core.table(id).ok();
    let (mut actions, mut sent) = (Vec::with_capacity(batch.len()), Vec::with_capacity(batch.len()));
    let mut done = Vec::new();
    for (key, changes) in batch {
        let upto = changes.last().map(|(tick, _)| *tick).unwrap_or_default();
        // A table that is gone, or families that are: nothing is left to do.
        match table.as_ref().and_then(|table| to_mutation(table, &key, &changes, core.options.faults.markers)) {
            Some(mutation) => {
                actions.push(Action::Mutate(mutation));
                sent.push((key, upto));
            }
            None => done.push((key, upto)),
        }
    }
    let answers = match &table {
        Some(table) if !actions.is_empty() => table.handle.timeout(TIMEOUT).batch(&actions).await,
        _ => Vec::new(),
    };
    count(&core.counters.apply_calls, u64::from(!actions.is_empty()));
    count(&core.counters.applied_rows, actions.len() as u64);
    let mut failed = Vec::new();
    for ((key, upto), answer) in sent.into_iter().zip(answers) {
        match answer {
            Ok(_) => done.push((key, upto)),
            Err(error) => failed.push((key, error)),
        }
    }
    if let Some((_, error)) = failed.first() {
        count(&core.counters.apply_failures, failed.len() as u64);
        report(&core, id, failed.len(), error);
    }
    {
        let mut pending = core.pending.write();
        for (key, upto) in &done {
            pending.done(id, key, *upto);
        }
        let again = Instant::now() + PAUSE;
        for (key, _) in failed {
            pending.failed(id, key, again);
        }
    }
    core.left.notify_waiters();
    core.room.notify_one();
    core.arrived.notify_one();
    id
}

fn report(core: &Core, table: TableId, rows: usize, error: &Error) {
    let namespace = &core.options.namespace;
    tracing::warn!("{rows} rows of table {} in {namespace} are not taken by HBase yet, and are sent again: {error}", table.0);
}

/// What goes to HBase for the changes of a row; `None` if that is nothing.
pub(crate) fn to_mutation(table: &Table, key: &Bytes, changes: &Changes, markers: Markers) -> Option<Mutation> {
    let mut cells = Cells { list: Vec::new(), markers };
    for (tick, change) in changes.iter().filter(|(tick, _)| tick.0 > table.stored.since) {
        for of in &change.families {
            let Some(family) = table.families.iter().find(|family| family.id == of.family && tick.0 > family.since) else { continue };
            cells.add(family, tick.0, of);
        }
    }
    if cells.list.is_empty() {
        return None;
    }
    let is_put = cells.list.iter().any(|cell| cell.kind == CellKind::Put);
    let empty = if is_put { Mutation::put(key.clone()) } else { Mutation::delete(key.clone()) };
    let add = |mutation: Mutation, cell: &OneCell<'_>| mutation.cell(cell.kind, cell.family, &cell.qualifier, cell.time as i64, cell.value);
    Some(cells.list.iter().fold(empty, add))
}

struct OneCell<'a> {
    kind: CellKind,
    family: &'a Bytes,
    qualifier: Cow<'a, [u8]>,
    time: u64,
    value: &'a [u8],
}

struct Cells<'a> {
    list: Vec<OneCell<'a>>,
    markers: Markers,
}

impl<'a> Cells<'a> {
    fn push(&mut self, kind: CellKind, family: &'a Family, qualifier: Cow<'a, [u8]>, time: u64, value: &'a [u8]) {
        self.list.push(OneCell { kind, family: &family.hbase, qualifier, time, value });
    }

    /// Says that what was there ended where a put at `time` stands.
    fn push_end(&mut self, kind: CellKind, family: &'a Family, qualifier: Cow<'a, [u8]>, time: u64) {
        match self.markers {
            Markers::Before => self.push(kind, family, qualifier, time - 1, &[]),
            Markers::AtEvenTime => self.push(kind, family, qualifier, time - 2, &[]),
            Markers::LeftOut => {}
        }
    }

    fn add(&mut self, family: &'a Family, time: u64, change: &'a FamilyChange) {
        let sets = change.cells.iter().any(|cell| cell.value.is_some());
        let clears_all = change.cleared && !family.is_packed();
        if clears_all && sets {
            self.push_end(CellKind::DeleteFamily, family, Cow::Borrowed(&[]), time);
        } else if clears_all {
            self.push(CellKind::DeleteFamily, family, Cow::Borrowed(&[]), time, &[]);
        } else if change.cleared && !sets {
            self.push(CellKind::DeleteColumn, family, family.to_hbase(&[]), time, &[]);
        }
        for cell in &change.cells {
            let qualifier = family.to_hbase(&cell.qualifier);
            match &cell.value {
                Some(value) => {
                    self.push(CellKind::Put, family, qualifier.clone(), time, value);
                    if !clears_all && (change.cleared || cell.replaced || family.marks_what_is_replaced()) {
                        self.push_end(CellKind::DeleteColumn, family, qualifier, time);
                    }
                }
                None if change.cleared => {}
                None => self.push(CellKind::DeleteColumn, family, qualifier, time, &[]),
            }
        }
    }
}

/// Trims the log each second, one row after the other, and finds out so whether it is still this store's.
pub(crate) async fn trim(core: Arc<Core>) {
    let mut every = tokio::time::interval(TRIM / ROWS as u32);
    let mut number = 0;
    loop {
        every.tick().await;
        if core.is_lost() {
            return;
        }
        let upto = core.applied().min(Tick(core.trimmed_to.load(Ordering::Acquire)));
        match core.log.trim(number, upto).await {
            Ok(true) => {}
            Ok(false) => core.lose(),
            Err(error) => tracing::warn!("the log of {} cannot be trimmed now: {error}", core.options.namespace),
        }
        number = (number + 1) % ROWS;
    }
}

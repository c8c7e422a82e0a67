//! Reading rows by key.
//!
//! Plain families are read by pinned gets (many at once for larger batches), versioned ones by an iterator that stays inside
//! the row, so that the bloom filter on rows is used.

use crate::database::Value;
use crate::iterator::{IteratorOptions, OwnedIterator};
use crate::keys::{Form, push_row_bound};
use crate::scan::{VersionedCursor, Visibility, recycle};
use crate::view::{Family, LsmSnapshot, Table};
use stoa_store::{CellRef, ReadSpec, RowSink, StoreResult};

/// Keys that RocksDB is asked for at once.
const BATCH_KEYS: usize = 128;
/// Fewer keys are asked for one by one.
const MIN_BATCH_KEYS: usize = 4;

enum Source<'a> {
    Plain { family: &'a Family, visibility: Visibility },
    Versioned(Box<VersionedCursor>),
}

pub(crate) fn get(spec: &ReadSpec, snapshot: &LsmSnapshot, table: &Table, keys: &[&[u8]], sink: &mut dyn RowSink) -> StoreResult<()> {
    if let [id] = spec.families.as_slice()
        && keys.len() < MIN_BATCH_KEYS
    {
        let family = table.family(*id)?;
        if family.form == Form::Plain {
            return get_few(spec, snapshot, table, family, keys, sink);
        }
    }
    let mut sources = Vec::with_capacity(spec.families.len());
    for id in &spec.families {
        let family = table.family(*id)?;
        let visibility = Visibility::new(spec, snapshot, table, family)?;
        sources.push(match family.form {
            Form::Plain => Source::Plain { family, visibility },
            Form::PackedVersions | Form::Cells => {
                let options = IteratorOptions { snapshot: Some(&snapshot.view.snapshot), one_row: true, ..IteratorOptions::default() };
                Source::Versioned(Box::new(VersionedCursor::new(OwnedIterator::new(&family.home, options), visibility, false)))
            }
        });
    }
    let mut cells: Vec<CellRef<'static>> = Vec::new();
    let batch = if keys.len() < MIN_BATCH_KEYS { 1 } else { BATCH_KEYS };
    let mut physical = Vec::new();
    for keys in keys.chunks(batch) {
        let mut values = Vec::with_capacity(sources.len());
        for source in &sources {
            values.push(match source {
                Source::Plain { family, .. } => read_plain(snapshot, family, keys, &mut physical)?,
                Source::Versioned(_) => Vec::new(),
            });
        }
        for (i, key) in keys.iter().enumerate() {
            for source in &mut sources {
                if let Source::Versioned(cursor) = source {
                    cursor.get(key)?;
                }
            }
            let mut row = recycle(std::mem::take(&mut cells));
            for (source, values) in sources.iter().zip(&values) {
                match source {
                    Source::Plain { visibility, .. } => {
                        if let Some(Some(value)) = values.get(i) {
                            row.extend(visibility.plain(value)?);
                        }
                    }
                    Source::Versioned(cursor) => cursor.push_cells(&mut row),
                }
            }
            let stop = !row.is_empty() && sink.row(key, &row).is_break();
            cells = recycle(row);
            if stop {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The most common read, without anything that it does not need: some keys of one plain family.
fn get_few(
    spec: &ReadSpec,
    snapshot: &LsmSnapshot,
    table: &Table,
    family: &Family,
    keys: &[&[u8]],
    sink: &mut dyn RowSink,
) -> StoreResult<()> {
    let visibility = Visibility::new(spec, snapshot, table, family)?;
    let mut physical = Vec::with_capacity(64);
    for key in keys {
        physical.clear();
        push_row_bound(&mut physical, family.storage, Form::Plain, key);
        let value = snapshot.view.snapshot.get(&family.home, &physical)?;
        if let Some(value) = value
            && let Some(cell) = visibility.plain(&value)?
            && sink.row(key, &[cell]).is_break()
        {
            break;
        }
    }
    Ok(())
}

/// The values of a plain family for some keys; `physical` is memory to build keys in.
fn read_plain<'a>(
    snapshot: &'a LsmSnapshot,
    family: &Family,
    keys: &[&[u8]],
    physical: &mut Vec<u8>,
) -> StoreResult<Vec<Option<Value<'a>>>> {
    physical.clear();
    if let [key] = keys {
        push_row_bound(physical, family.storage, family.form, key);
        return Ok(vec![snapshot.view.snapshot.get(&family.home, physical)?]);
    }
    let mut ends = Vec::with_capacity(keys.len());
    for key in keys {
        push_row_bound(physical, family.storage, family.form, key);
        ends.push(physical.len());
    }
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let physical_keys: Vec<&[u8]> = starts.zip(&ends).map(|(start, end)| physical.get(start..*end).unwrap_or_default()).collect();
    let sorted = keys.is_sorted();
    snapshot.view.snapshot.get_many(&family.home, &physical_keys, sorted)
}

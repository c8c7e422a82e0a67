//! Regions and sizes: virtual cuts that let scans run in parallel, and estimates for planning.
//!
//! A table is cut at its given split points, and then by size where it is large: a point that divides a range is searched
//! by bisection over the bytes of the keys, with RocksDB's sizes of ranges (files and memory) as the measure.

use crate::commit::Core;
use crate::database::RangeSize;
use crate::iterator::{IteratorOptions, OwnedIterator};
use crate::keys::{Form, STORAGE_ID_BYTES, VersionedKey, push_unescaped, row_range, storage_bounds};
use crate::view::{Family, Table};
use std::collections::VecDeque;
use std::sync::Arc;
use stoa_store::model::split_ranges;
use stoa_store::{KeyRange, Region, StoreError, StoreResult};

/// Rows that are counted one by one before sizes are trusted.
const COUNTED_ROWS: u64 = 1000;
/// Ranges of more bytes than that are not counted.
const COUNTED_BYTES: u64 = 1 << 20;
/// Rows looked at to learn the size of one: enough for several blocks of a file.
const SAMPLED_ROWS: u64 = 5000;
/// A count of fewer rows is made again: that is soon done, and the estimate of their bytes says little.
const KEPT_ROWS: u64 = 64;
/// Counts that are kept of a table.
const KEPT_COUNTS: usize = 16;
const BISECTION_STEPS: usize = 24;
/// RocksDB's own bytes beside key and value of an entry in memory.
const MEMORY_ENTRY_BYTES: f64 = 12.0;

/// How many bytes a row of a table's first family takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Density {
    file_bytes_per_row: f64,
    memory_bytes_per_row: f64,
}

/// A range of one table, measured.
#[derive(Clone, Copy, Debug, Default)]
struct Measure {
    bytes: u64,
    rows: u64,
}

/// Ranges of a table that were counted, the oldest first: each plan asks for the same ones.
#[derive(Debug, Default)]
pub(crate) struct Counts(VecDeque<Count>);

#[derive(Debug)]
struct Count {
    range: KeyRange,
    /// By RocksDB's estimate when it was counted, and the rows that had been written to the table by then.
    bytes: u64,
    writes: u64,
    measure: Measure,
    ended: bool,
}

impl Counts {
    /// What was counted of a range that has about as many bytes now. They may be as many by chance, where RocksDB estimates them and rows
    /// were deleted: after many writes it is counted again.
    fn find(&self, range: &KeyRange, bytes: u64, writes: u64) -> Option<&Count> {
        let holds =
            |count: &&Count| bytes.abs_diff(count.bytes) <= count.bytes / 32 && writes.abs_diff(count.writes) <= count.measure.rows / 4;
        self.0.iter().find(|count| count.range == *range).filter(holds)
    }

    fn keep(&mut self, count: Count) {
        self.0.retain(|other| other.range != count.range);
        if self.0.len() == KEPT_COUNTS {
            self.0.pop_front();
        }
        self.0.push_back(count);
    }
}

impl Core {
    pub fn approximate_size(&self, table: &Table, range: &KeyRange) -> StoreResult<(u64, u64)> {
        let measure = self.measure(table, range)?;
        Ok((measure.bytes, measure.rows))
    }

    pub fn approximate_bytes(&self, table: &Table, range: &KeyRange) -> StoreResult<u64> {
        if range.is_empty() { Ok(0) } else { self.bytes_of(table, range) }
    }

    pub fn regions(&self, table: &Table) -> StoreResult<Vec<Region>> {
        let mut regions = Vec::new();
        let given = split_ranges(&table.schema.split_points);
        let measures = given.iter().map(|range| self.measure(table, range)).collect::<StoreResult<Vec<_>>>()?;
        let total = measures.iter().fold(Measure::default(), |a, b| Measure { bytes: a.bytes + b.bytes, rows: a.rows + b.rows });
        let cuts = self.size_splits(table, &given, &measures, total)?;
        for (range, measure) in given.into_iter().zip(measures) {
            let inside: Vec<_> = cuts.iter().filter(|cut| range.contains(cut) && **cut != range.start).cloned().collect();
            let parts = split_ranges(&inside);
            let share = parts.len() as u64;
            for part in parts {
                let range = part.intersect(&range);
                regions.push(Region {
                    range,
                    approximate_bytes: measure.bytes / share,
                    approximate_rows: measure.rows.div_ceil(share),
                    server: None,
                    traffic: None,
                });
            }
        }
        let ranges: Vec<_> = regions.iter().map(|region| region.range.clone()).collect();
        let traffic = table.traffic.of_regions(&ranges, self.options.clock.now_us());
        for (number, region) in regions.iter_mut().enumerate() {
            region.traffic = traffic.of(number);
        }
        Ok(regions)
    }

    /// Cut points by size; those found before stay while the table's size is about the same.
    fn size_splits(&self, table: &Table, given: &[KeyRange], measures: &[Measure], total: Measure) -> StoreResult<Arc<Vec<Vec<u8>>>> {
        let mut known = table.size_splits.lock();
        if let Some((bytes, cuts)) = &*known
            && total.bytes <= bytes + bytes / 4
            && total.bytes >= bytes - bytes / 4
        {
            return Ok(Arc::clone(cuts));
        }
        let mut wanted = total.bytes.div_ceil(self.options.region_bytes.max(1));
        if total.rows >= self.options.min_rows_to_split {
            // Regions are as large as each other, and scans of them run beside each other: none is left over for one of the threads.
            wanted = wanted.next_multiple_of(self.options.min_regions.max(1) as u64);
        }
        let mut cuts = Vec::new();
        if wanted > given.len() as u64 {
            for (range, measure) in given.iter().zip(measures) {
                let parts = (u128::from(wanted) * u128::from(measure.bytes) / u128::from(total.bytes.max(1))) as u64;
                if parts > 1 {
                    self.cut(table, range, parts.min(1024), &mut cuts)?;
                }
            }
        }
        let cuts = Arc::new(cuts);
        *known = Some((total.bytes, Arc::clone(&cuts)));
        Ok(cuts)
    }

    /// Cuts a range into about equal parts.
    fn cut(&self, table: &Table, range: &KeyRange, parts: u64, cuts: &mut Vec<Vec<u8>>) -> StoreResult<()> {
        let (before, behind) = (parts / 2, parts.div_ceil(2));
        let Some(at) = self.cut_point(table, range, before as f64 / parts as f64)? else { return Ok(()) };
        let (left, right) = (KeyRange::new(range.start.clone(), Some(at.clone())), KeyRange::new(at.clone(), range.end.clone()));
        if before > 1 {
            self.cut(table, &left, before, cuts)?;
        }
        cuts.push(at);
        if behind > 1 {
            self.cut(table, &right, behind, cuts)?;
        }
        Ok(())
    }

    /// A row key before which this share of a range's bytes lies; `None` if there is none inside.
    fn cut_point(&self, table: &Table, range: &KeyRange, share: f64) -> StoreResult<Option<Vec<u8>>> {
        let Some(family) = table.families.first() else { return Ok(None) };
        let (Some(first), Some(last)) = (edge(family, range, false)?, edge(family, range, true)?) else { return Ok(None) };
        let common = first.iter().zip(&last).take_while(|(a, b)| a == b).count();
        let digits = |key: &[u8]| {
            let mut digits = [0; 8];
            for (digit, byte) in digits.iter_mut().zip(key.iter().skip(common)) {
                *digit = *byte;
            }
            u64::from_be_bytes(digits)
        };
        let key_at = |digits: u64| {
            let mut key = first.get(..common).unwrap_or_default().to_vec();
            key.extend_from_slice(&digits.to_be_bytes());
            while key.len() > common + 1 && key.last() == Some(&0) {
                key.pop();
            }
            key
        };
        let (mut low, mut high) = (digits(&first), digits(&last));
        let wanted = (self.bytes_of(table, range)? as f64 * share) as u64;
        for _ in 0..BISECTION_STEPS {
            if high - low < 2 {
                break;
            }
            let middle = low + (high - low) / 2;
            if self.bytes_of(table, &KeyRange::new(range.start.clone(), Some(key_at(middle))))? < wanted {
                low = middle;
            } else {
                high = middle;
            }
        }
        let middle = key_at(high);
        Ok((range.contains(&middle) && middle > first && middle <= last).then_some(middle))
    }

    fn bytes_of(&self, table: &Table, range: &KeyRange) -> StoreResult<u64> {
        let mut bytes = 0;
        for family in &table.families {
            let (lower, upper) = row_range(family.storage, family.form, &range.start, range.end.as_deref());
            bytes += family.column_family.approximate_bytes(&lower, &upper)?;
        }
        Ok(bytes)
    }

    /// Counts a small range; estimates a large one by its bytes and the size of the rows at its start and middle.
    fn measure(&self, table: &Table, range: &KeyRange) -> StoreResult<Measure> {
        if range.is_empty() {
            return Ok(Measure::default());
        }
        let mut out = Measure { bytes: self.bytes_of(table, range)?, rows: 0 };
        let Some(family) = table.families.first() else { return Ok(out) };
        let (lower, upper) = row_range(family.storage, family.form, &range.start, range.end.as_deref());
        if out.bytes < COUNTED_BYTES {
            let writes = table.traffic.writes();
            let known = table.counted.lock().find(range, out.bytes, writes).map(|count| (count.measure, count.ended));
            let (counted, ended) = match known {
                Some(known) => known,
                None => {
                    let found = sample(family, &lower, &upper, COUNTED_ROWS)?;
                    let measure = Measure { bytes: found.bytes, rows: found.rows };
                    if found.rows >= KEPT_ROWS {
                        let count = Count { range: range.clone(), bytes: out.bytes, writes, measure, ended: found.ended };
                        table.counted.lock().keep(count);
                    }
                    (measure, found.ended)
                }
            };
            out.bytes = out.bytes.max(counted.bytes);
            out.rows = counted.rows;
            if ended {
                return Ok(out);
            }
        }
        let sizes = family.column_family.approximate_sizes(&[(&lower, &upper)])?.first().copied().unwrap_or_default();
        let density = density(table, family)?;
        let rows = sizes.file_bytes as f64 / density.file_bytes_per_row + sizes.memory_bytes as f64 / density.memory_bytes_per_row;
        out.rows = out.rows.max(rows as u64);
        Ok(out)
    }
}

/// Learns from rows at the start and in the middle of the table what a row takes; what was learnt before stays while the table's
/// size is about the same.
fn density(table: &Table, family: &Family) -> StoreResult<Density> {
    let (lower, upper) = storage_bounds(family.storage);
    let sizes = family.column_family.approximate_sizes(&[(&lower, &upper)])?.first().copied().unwrap_or_default();
    let bytes = sizes.file_bytes + sizes.memory_bytes;
    let mut known = table.density.lock();
    if let Some((known_bytes, density)) = &*known
        && bytes <= known_bytes + known_bytes / 2
        && bytes >= known_bytes / 2
    {
        return Ok(*density);
    }
    let mut starts = vec![lower];
    let cut = table.size_splits.lock().as_ref().and_then(|(_, cuts)| cuts.get(cuts.len() / 2).cloned());
    starts.extend(cut.map(|cut| row_range(family.storage, family.form, &cut, None).0));
    let (mut rows, mut raw, mut entries, mut sampled) = (0.0, 0.0, 0.0, RangeSize::default());
    for start in starts {
        let seen = sample(family, &start, &upper, SAMPLED_ROWS)?;
        let end = if seen.ended { upper.clone() } else { seen.next };
        let size = family.column_family.approximate_sizes(&[(&start, &end)])?.first().copied().unwrap_or_default();
        sampled.file_bytes += size.file_bytes;
        sampled.memory_bytes += size.memory_bytes;
        rows += seen.rows as f64;
        raw += seen.bytes as f64;
        entries += seen.entries as f64;
    }
    let rows = f64::max(rows, 1.0);
    let memory_bytes_per_row = ((raw + entries * MEMORY_ENTRY_BYTES) / rows).max(1.0);
    let file_rows = rows - sampled.memory_bytes as f64 / memory_bytes_per_row;
    let file_bytes_per_row = if sampled.file_bytes > 0 && file_rows > rows / 10.0 {
        sampled.file_bytes as f64 / file_rows
    } else {
        raw / rows * family.column_family.compression_ratio().unwrap_or(0.6).clamp(0.05, 1.5)
    };
    let density = Density { file_bytes_per_row: file_bytes_per_row.max(0.1), memory_bytes_per_row };
    *known = Some((bytes, density));
    Ok(density)
}

#[derive(Clone, Debug, Default)]
struct Sample {
    rows: u64,
    bytes: u64,
    entries: u64,
    /// Whether the range has no more; otherwise where the sample stopped.
    ended: bool,
    next: Vec<u8>,
}

/// Looks at the first rows of a physical range.
fn sample(family: &Family, lower: &[u8], upper: &[u8], rows: u64) -> StoreResult<Sample> {
    let bounds = Some((lower.to_vec(), upper.to_vec()));
    let mut iterator =
        OwnedIterator::new(&family.column_family, IteratorOptions { bounds, total_order: true, ..IteratorOptions::default() });
    iterator.seek_to_first();
    let mut out = Sample::default();
    let mut row = Vec::new();
    while iterator.check()? {
        let (key, value) = iterator.item().unwrap_or_default();
        let this = if family.form == Form::Plain { key } else { crate::keys::row_prefix(key) };
        if this != row.as_slice() {
            if out.rows == rows || out.entries >= 8 * rows {
                out.next = this.to_vec();
                return Ok(out);
            }
            row.clear();
            row.extend_from_slice(this);
            out.rows += 1;
        }
        out.entries += 1;
        out.bytes += (key.len() + value.len()) as u64;
        iterator.next();
    }
    out.ended = true;
    Ok(out)
}

/// The first or last row key in a range.
fn edge(family: &Family, range: &KeyRange, last: bool) -> StoreResult<Option<Vec<u8>>> {
    let bounds = Some(row_range(family.storage, family.form, &range.start, range.end.as_deref()));
    let mut iterator =
        OwnedIterator::new(&family.column_family, IteratorOptions { bounds, total_order: true, ..IteratorOptions::default() });
    if last {
        iterator.seek_to_last()
    } else {
        iterator.seek_to_first()
    }
    if !iterator.check()? {
        return Ok(None);
    }
    let key = iterator.key().unwrap_or_default();
    let escaped = match family.form {
        Form::Plain => return Ok(Some(key.get(STORAGE_ID_BYTES..).unwrap_or_default().to_vec())),
        form => VersionedKey::parse(key, form).ok_or_else(|| StoreError::Corruption("an entry can't be read".into()))?.row,
    };
    let mut out = Vec::new();
    push_unescaped(&mut out, escaped.get(STORAGE_ID_BYTES..).unwrap_or_default());
    Ok(Some(out))
}

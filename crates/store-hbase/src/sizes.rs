//! How large tables are: asked of the servers seldom, since plans ask often; small tables are counted.

use crate::commit::Core;
use crate::failure::read_error;
use crate::keys::range_from_hbase;
use crate::scan::HbaseScan;
use crate::tables::Table;
use hashbrown::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use stoa_hbase_client::RegionSize;
use stoa_store::{CellRef, KeyRange, ReadSpec, Region, Scan, ScanSpec, Snapshot, StoreResult, Traffic};

/// How long what the servers said counts.
const FRESH: Duration = Duration::from_secs(30);
pub(crate) const MIB: u64 = 1 << 20;
/// Of regions up to this size, which may be nearly nothing since servers round up, few are counted.
const SMALL: u64 = 2 * MIB;
const FEW: usize = 16;
/// Rows that are read to count a range; those behind are estimated.
const COUNTED_ROWS: u64 = 10_000;
/// Rows that tell how large a row is.
const SAMPLE: u64 = 200;
/// How much longer than a count took it is good for, though the table changes.
const PART: u32 = 20;
/// Counted ranges that are remembered.
const REMEMBERED: usize = 1000;

/// What is known of a table's size.
#[derive(Debug, Default)]
pub(crate) struct Known {
    regions: Option<(Instant, Arc<Vec<RegionBytes>>)>,
    counted: Counted,
    /// Bytes of a row, by a sample, and of the table when it was taken.
    row_bytes: Option<(u64, u64)>,
}

/// Bytes and rows of ranges as they were counted.
#[derive(Debug, Default)]
struct Counted {
    /// The last change of the table by then.
    change: u64,
    ranges: HashMap<KeyRange, (u64, u64)>,
    /// Counting takes a small part of the time at most: until then it is not done again, though the table has changed.
    good_until: Option<Instant>,
}

impl Counted {
    fn get(&self, change: u64, range: &KeyRange) -> Option<(u64, u64)> {
        let good = self.change == change || self.good_until.is_some_and(|until| Instant::now() < until);
        self.ranges.get(range).filter(|_| good).copied()
    }

    fn add(&mut self, change: u64, took: Duration, range: &KeyRange, counted: (u64, u64)) {
        if self.change != change || self.ranges.len() >= REMEMBERED {
            self.ranges.clear();
            self.change = change;
        }
        self.ranges.insert(range.clone(), counted);
        self.good_until = Some(Instant::now() + took * PART);
    }
}

impl Known {
    /// Regions are others now.
    pub fn forget(&mut self) {
        self.regions = None;
    }
}

#[derive(Debug)]
pub(crate) struct RegionBytes {
    pub range: KeyRange,
    pub bytes: u64,
    pub server: String,
    pub traffic: Traffic,
}

impl RegionBytes {
    pub fn of(size: &RegionSize, range: KeyRange) -> Self {
        let mib = size.files_mib.max(size.uncompressed_mib) + size.memory_mib;
        // Since the region was opened there.
        let traffic = Traffic { reads: size.reads, writes: size.writes, since_us: None };
        Self { range, bytes: u64::from(mib) * MIB, server: size.region.server().to_string(), traffic }
    }
}

impl Core {
    async fn sized(&self, table: &Table) -> StoreResult<Arc<Vec<RegionBytes>>> {
        if let Some((at, regions)) = &table.sizes.lock().regions
            && at.elapsed() < FRESH
        {
            return Ok(Arc::clone(regions));
        }
        let sizes = self.admin.region_sizes(table.handle.name()).await.map_err(read_error)?;
        let sized = sizes.iter().map(|size| RegionBytes::of(size, range_from_hbase(size.region.start_key(), size.region.end_key())));
        let sized = Arc::new(sized.collect::<Vec<_>>());
        table.sizes.lock().regions = Some((Instant::now(), Arc::clone(&sized)));
        Ok(sized)
    }

    pub async fn regions(self: &Arc<Self>, table: &Arc<Table>) -> StoreResult<Vec<Region>> {
        let sized = self.sized(table).await?;
        let mut regions = Vec::with_capacity(sized.len());
        for region in sized.iter() {
            let (approximate_bytes, approximate_rows) = self.approximate_size(table, &region.range).await?;
            let (server, traffic) = (Some(region.server.clone()), Some(region.traffic));
            regions.push(Region { range: region.range.clone(), approximate_bytes, approximate_rows, server, traffic });
        }
        Ok(regions)
    }

    /// Bytes and rows of a range.
    pub async fn approximate_size(self: &Arc<Self>, table: &Arc<Table>, range: &KeyRange) -> StoreResult<(u64, u64)> {
        let sized = self.sized(table).await?;
        let total: u64 = sized.iter().map(|region| region.bytes).sum();
        let mut touched = sized.iter().filter(|region| region.range.overlaps(range));
        if touched.clone().count() <= FEW && touched.all(|region| region.bytes <= SMALL) {
            let change = table.last_change.load(Ordering::Acquire);
            let known = table.sizes.lock().counted.get(change, range);
            if let Some(counted) = known {
                return Ok(counted);
            }
            let began = Instant::now();
            let (bytes, rows, whole) = self.count(table, range, COUNTED_ROWS).await?;
            if whole {
                table.sizes.lock().counted.add(change, began.elapsed(), range, (bytes, rows));
                return Ok((bytes, rows));
            }
        }
        let bytes = overlap(&sized, range);
        let known = table.sizes.lock().row_bytes;
        let row_bytes = match known {
            Some((row_bytes, of)) if total <= of * 2 => row_bytes,
            _ => {
                let (bytes, rows, _) = self.count(table, &KeyRange::all(), SAMPLE).await?;
                let row_bytes = bytes.checked_div(rows).unwrap_or(0).max(1);
                table.sizes.lock().row_bytes = Some((row_bytes, total));
                row_bytes
            }
        };
        Ok((bytes, bytes / row_bytes))
    }

    /// Bytes of a range by what the servers said last.
    pub async fn approximate_bytes(&self, table: &Table, range: &KeyRange) -> StoreResult<u64> {
        Ok(overlap(&self.sized(table).await?, range))
    }

    /// Bytes and rows of a range as of now, up to so many rows; whether that is all.
    async fn count(self: &Arc<Self>, table: &Arc<Table>, range: &KeyRange, most: u64) -> StoreResult<(u64, u64, bool)> {
        let snapshot: Arc<dyn Snapshot> = Arc::new(self.snapshot());
        let families = table.families.iter().map(|family| family.id).collect();
        let read = ReadSpec { table: table.id(), families, qualifiers: None, versions: 1, time_range: None, snapshot };
        let spec = ScanSpec { read, range: range.clone(), reverse: false, limit: Some(most), fill_cache: true };
        let mut scan = HbaseScan::open(self, &spec, None)?;
        let (mut bytes, mut rows) = (0u64, 0u64);
        let mut sink = |key: &[u8], cells: &[CellRef<'_>]| {
            bytes += cells.iter().map(|cell| key.len() + cell.qualifier.len() + cell.value.len()).sum::<usize>() as u64;
            rows += 1;
            ControlFlow::Continue(())
        };
        while scan.next_block(1000, &mut sink).await? {}
        Ok((bytes, rows, rows < most))
    }
}

/// The bytes of a range: whole regions, and of others as much as their keys tell.
pub(crate) fn overlap(regions: &[RegionBytes], range: &KeyRange) -> u64 {
    let of_region = |region: &RegionBytes| {
        let part = region.range.intersect(range);
        if part.is_empty() {
            return 0;
        }
        // What the servers count in MiB is not nothing.
        let bytes = region.bytes.max(MIB / 4);
        (bytes as f64 * share(&region.range, &part)) as u64
    };
    regions.iter().map(of_region).sum()
}

/// Which part of a range another one in it is, if keys are spread evenly.
fn share(whole: &KeyRange, part: &KeyRange) -> f64 {
    let common = whole.end.as_ref().map_or(0, |end| whole.start.iter().zip(end).take_while(|(a, b)| a == b).count());
    let position = |key: &[u8]| {
        let mut bytes = [0; 8];
        for (to, from) in bytes.iter_mut().zip(key.iter().skip(common)) {
            *to = *from;
        }
        u64::from_be_bytes(bytes) as f64
    };
    let end = |end: &Option<Vec<u8>>| end.as_ref().map_or(u64::MAX as f64, |end| position(end));
    let length = end(&whole.end) - position(&whole.start);
    if length <= 0.0 { 1.0 } else { ((end(&part.end) - position(&part.start)) / length).clamp(0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_its_share_of_its_regions() {
        let range = |from: &[u8], to: Option<&[u8]>| KeyRange::new(from.to_vec(), to.map(<[u8]>::to_vec));
        let region = |range, bytes| RegionBytes { range, bytes, server: String::new(), traffic: Traffic::default() };
        let regions = [
            region(range(b"", Some(b"a\x00")), 8 * MIB),
            region(range(b"a\x00", Some(b"a\x80")), 4 * MIB),
            region(range(b"a\x80", None), 0),
        ];
        assert_eq!(overlap(&regions, &KeyRange::all()), 12 * MIB + MIB / 4);
        assert_eq!(overlap(&regions, &range(b"a\x00", Some(b"a\x40"))), 2 * MIB);
        assert_eq!(overlap(&regions, &range(b"a\x20", Some(b"a\x60"))), 2 * MIB);
        assert_eq!(overlap(&regions, &KeyRange::empty()), 0);
    }
}

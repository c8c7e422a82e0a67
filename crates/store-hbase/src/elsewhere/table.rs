//! A table of other programs: its families, and how large it is.

use super::read::ScanElsewhere;
use crate::failure::read_error;
use crate::schema::StoredTable;
use crate::sizes::{MIB, RegionBytes, overlap};
use bytes::Bytes;
use parking_lot::Mutex;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stoa_hbase_client::{Admin, Client, Table, TableName};
use stoa_store::{
    CellRef, FamilyId, FamilyOptions, FamilySchema, KeyRange, Layout, Region, Scan, StoreError, StoreResult, TableId, TableSchema,
};

/// How long what the servers said counts.
const FRESH: Duration = Duration::from_secs(30);
/// Rows that tell how large a row is.
const SAMPLE: u64 = 200;

#[derive(Debug)]
pub(super) struct Elsewhere {
    /// Its families keep all: what HBase does not keep, it does not give.
    pub schema: TableSchema,
    pub table: Table,
    admin: Admin,
    /// What the cells are given as.
    pub cells: FamilyId,
    /// The families, by the names that they have there.
    pub families: Vec<(FamilyId, Bytes)>,
    sizes: Mutex<Sizes>,
}

#[derive(Debug, Default)]
struct Sizes {
    regions: Option<(Instant, Arc<Vec<RegionBytes>>)>,
    /// Bytes of a row, by a sample.
    row_bytes: Option<(Instant, u64)>,
}

impl Elsewhere {
    /// `schema`: of the raw table, its first family the one of the cells.
    pub fn new(client: &Client, name: &TableName, schema: &TableSchema) -> StoreResult<Self> {
        let mut schema = schema.clone();
        let (cells, families) = schema.families.split_first_mut().ok_or_else(|| StoreError::Invalid("a table without families".into()))?;
        for family in families.iter_mut() {
            family.options = FamilyOptions { versions: FamilyOptions::ALL_VERSIONS, min_versions: 0, ttl: None, ..family.options.clone() };
        }
        let (cells, families) = (cells.id, families.iter().map(|f| (f.id, Bytes::copy_from_slice(f.name.as_bytes()))).collect());
        let table = client.table(name.as_str()).map_err(read_error)?;
        Ok(Self { table, admin: client.admin(), cells, families, schema, sizes: Mutex::default() })
    }

    /// The number of a family.
    pub fn family(&self, name: &[u8]) -> Option<FamilyId> {
        self.families.iter().find(|(_, known)| known == name).map(|(id, _)| *id)
    }

    async fn region_bytes(&self) -> StoreResult<Arc<Vec<RegionBytes>>> {
        if let Some((at, regions)) = &self.sizes.lock().regions
            && at.elapsed() < FRESH
        {
            return Ok(Arc::clone(regions));
        }
        let sizes = self.admin.region_sizes(self.table.name()).await.map_err(read_error)?;
        let end = |key: &Bytes| (!key.is_empty()).then(|| key.to_vec());
        let range = |region: &stoa_hbase_client::Region| KeyRange::new(region.start_key().to_vec(), end(region.end_key()));
        let sized: Vec<_> = sizes.iter().map(|size| RegionBytes::of(size, range(&size.region))).collect();
        let sized = Arc::new(sized);
        self.sizes.lock().regions = Some((Instant::now(), Arc::clone(&sized)));
        Ok(sized)
    }

    async fn row_bytes(self: &Arc<Self>) -> StoreResult<u64> {
        let known = self.sizes.lock().row_bytes.filter(|(at, _)| at.elapsed() < FRESH);
        if let Some((_, bytes)) = known {
            return Ok(bytes);
        }
        let mut scan = ScanElsewhere::newest(Arc::clone(self), KeyRange::all(), SAMPLE);
        let (mut bytes, mut rows) = (0u64, 0u64);
        let mut sink = |key: &[u8], cells: &[CellRef<'_>]| {
            bytes += cells.iter().map(|cell| key.len() + cell.qualifier.len() + cell.value.len()).sum::<usize>() as u64;
            rows += 1;
            ControlFlow::Continue(())
        };
        while scan.next_block(SAMPLE as usize, &mut sink).await? {}
        // A table of a few rows is as small as they are, whatever the servers round it to.
        let of_row = if rows < SAMPLE { MIB / 4 / rows.max(1) } else { bytes / rows };
        self.sizes.lock().row_bytes = Some((Instant::now(), of_row.max(1)));
        Ok(of_row.max(1))
    }

    /// Approximate bytes and rows of a range.
    pub async fn size(self: &Arc<Self>, range: &KeyRange) -> StoreResult<(u64, u64)> {
        let bytes = self.bytes(range).await?;
        Ok((bytes, bytes / self.row_bytes().await?))
    }

    /// Of some ranges together.
    pub async fn sizes(self: &Arc<Self>, ranges: &[KeyRange]) -> StoreResult<(u64, u64)> {
        let regions = self.region_bytes().await?;
        let bytes = ranges.iter().map(|range| overlap(&regions, range)).fold(0, u64::saturating_add);
        Ok((bytes, bytes / self.row_bytes().await?))
    }

    pub async fn bytes(&self, range: &KeyRange) -> StoreResult<u64> {
        Ok(overlap(&self.region_bytes().await?, range))
    }

    pub async fn regions(self: &Arc<Self>) -> StoreResult<Vec<Region>> {
        let of_row = self.row_bytes().await?;
        let region = |region: &RegionBytes| Region {
            range: region.range.clone(),
            approximate_bytes: region.bytes,
            approximate_rows: overlap(std::slice::from_ref(region), &region.range) / of_row,
            server: Some(region.server.clone()),
            traffic: Some(region.traffic),
        };
        Ok(self.region_bytes().await?.iter().map(region).collect())
    }
}

/// See [`stoa_store::Store::describe_elsewhere`].
pub(super) async fn describe(client: &Client, name: &TableName, cells: FamilyId) -> StoreResult<Option<TableSchema>> {
    let admin = client.admin();
    let Some(descriptor) = admin.describe_table(name).await.map_err(read_error)? else { return Ok(None) };
    // Whoever writes its cells past its log breaks a store.
    if StoredTable::of(&descriptor)?.is_some() {
        return Err(StoreError::Unsupported(format!("{name} is a table of a Stoa store, which its server alone reads and writes")));
    }
    let all = FamilyOptions { layout: Layout::Cells, ..FamilyOptions::default() };
    let mut families = vec![FamilySchema { id: cells, name: String::new(), options: all }];
    let mut named: Vec<_> = descriptor.families.iter().collect();
    named.sort_by(|a, b| a.name.cmp(&b.name));
    for (at, family) in named.into_iter().enumerate() {
        let name = std::str::from_utf8(&family.name);
        let name = name.map_err(|_| StoreError::Unsupported(format!("the family {:?} has no name in UTF-8", family.name)))?;
        let id = u16::try_from(at).map_err(|_| StoreError::Unsupported("a table of so many families".into()))?;
        let number =
            |attribute: &str| family.attributes.get(attribute.as_bytes()).and_then(|v| std::str::from_utf8(v).ok()?.parse::<u32>().ok());
        let options = FamilyOptions {
            versions: number("VERSIONS").unwrap_or(1).clamp(1, FamilyOptions::ALL_VERSIONS),
            min_versions: number("MIN_VERSIONS").unwrap_or(0),
            ttl: number("TTL").filter(|seconds| *seconds < i32::MAX as u32).map(|seconds| Duration::from_secs(u64::from(seconds))),
            ..FamilyOptions::default()
        };
        families.push(FamilySchema { id: FamilyId(id), name: name.to_owned(), options });
    }
    let regions = admin.regions(name).await.map_err(read_error)?;
    let split_points = regions.iter().map(|region| region.start_key().to_vec()).filter(|key| !key.is_empty()).collect();
    Ok(Some(TableSchema { id: TableId(0), name: name.to_string(), families, split_points }))
}

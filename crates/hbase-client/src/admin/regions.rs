//! Regions: which there are and how large, splits, merges, moves, flushes, compactions, and the balancer.

use super::Admin;
use crate::call::{Repeat, Tries};
use crate::client::Table;
use crate::connection::{Lane, Service};
use crate::error::Error;
use crate::messages::admin::{
    CompactRegionRequest, FlushRegionRequest, GetRegionInfoRequest, GetRegionInfoResponse, GetRegionLoadRequest, GetRegionLoadResponse,
};
use crate::messages::master::{
    GetClusterStatusRequest, GetClusterStatusResponse, IsBalancerEnabledResponse, MergeTableRegionsRequest, MoveRegionRequest,
    SetBalancerRunningRequest, SetBalancerRunningResponse, SplitTableRegionRequest,
};
use crate::messages::region::RegionSpecifier;
use crate::messages::registry::Empty;
use crate::names::{ServerName, TableName};
use crate::regions::Region;
use crate::regions::meta::{Found, first_row, last_row, read_regions};
use crate::row::Row;
use crate::scanner::Scan;
use crate::wire::frame::Request;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use hashbrown::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How many regions are flushed or compacted at once.
const AT_ONCE: usize = 16;
/// Between two looks at whether a compaction has ended.
const LOOK: Duration = Duration::from_millis(50);

/// A region and how large it is, as its server counts: whole MiB.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegionSize {
    pub region: Region,
    /// MiB of its files; 0 also if its server could not be asked.
    pub files_mib: u32,
    /// MiB of its files without compression.
    pub uncompressed_mib: u32,
    /// MiB in memory that are in no file yet.
    pub memory_mib: u32,
    pub files: u32,
    /// Since it was opened.
    pub reads: u64,
    pub writes: u64,
}

impl Admin {
    fn table(&self, table: &TableName) -> Table {
        Table { core: Arc::clone(&self.core), target: self.core.target(table), timeout: self.timeout }
    }

    /// The regions of a table in order, from hbase:meta; those that are on no server at the moment are waited for.
    ///
    /// # Errors
    /// [`Error::TableNotFound`]; [`Error::RegionUnavailable`] at the timeout; [`Error::RegionHole`] for keys without a region.
    pub async fn regions(&self, table: &TableName) -> Result<Vec<Region>, Error> {
        let mut tries = Tries::new("list regions", Repeat::Read, self.deadline());
        loop {
            match self.read_regions(table).await {
                Ok(regions) => return Ok(regions),
                Err(error) => {
                    let pause = tries.next(error, &self.core.config)?;
                    self.core.pause(pause).await;
                }
            }
        }
    }

    async fn read_regions(&self, table: &TableName) -> Result<Vec<Region>, Error> {
        let meta = self.table(&TableName::META.parse()?);
        let rows = meta.scan_all(Scan::range(first_row(table), last_row(table)).family("info")).await?;
        let mut regions: Vec<Region> = Vec::new();
        for found in read_regions(rows.iter().map(Row::cells), table)? {
            match found {
                Found::Served(region) => regions.push(region),
                Found::NotServed(region, reason) => return Err(Error::RegionUnavailable { region, reason }),
            }
        }
        if regions.is_empty() {
            return Err(Error::TableNotFound(table.clone()));
        }
        regions.sort_by(|a, b| a.start.cmp(&b.start));
        let mut next = Bytes::new();
        for (number, region) in regions.iter().enumerate() {
            if region.start != next || (next.is_empty() && number > 0) {
                return Err(Error::RegionHole { table: table.clone(), key: next });
            }
            next = region.end.clone();
        }
        if next.is_empty() { Ok(regions) } else { Err(Error::RegionHole { table: table.clone(), key: next }) }
    }

    /// The regions of a table with their sizes: one call to each of their servers.
    ///
    /// # Errors
    /// As [`Admin::regions`]; that a server does not tell sizes is none.
    pub async fn region_sizes(&self, table: &TableName) -> Result<Vec<RegionSize>, Error> {
        let regions = self.regions(table).await?;
        let deadline = self.deadline();
        let servers: HashSet<ServerName> = regions.iter().map(|region| region.server.clone()).collect();
        let request = Request::new("GetRegionLoad", &GetRegionLoadRequest { table_name: Some(table.to_message()) });
        let mut asked: FuturesUnordered<_> = servers.iter().map(|server| self.load_of(server, &request, deadline)).collect();
        let mut loads = HashMap::new();
        while let Some(answer) = asked.next().await {
            for load in answer.map(|answer| answer.region_loads).unwrap_or_default() {
                loads.insert(load.region_specifier.value.clone(), load);
            }
        }
        let sizes = regions.into_iter().map(|region| {
            let load = loads.remove(&region.name).unwrap_or_default();
            RegionSize {
                files_mib: load.storefile_size_mb.unwrap_or(0),
                uncompressed_mib: load.store_uncompressed_size_mb.unwrap_or(0),
                memory_mib: load.mem_store_size_mb.unwrap_or(0),
                files: load.storefiles.unwrap_or(0),
                reads: load.read_requests_count.unwrap_or(0),
                writes: load.write_requests_count.unwrap_or(0),
                region,
            }
        });
        Ok(sizes.collect())
    }

    async fn load_of(&self, server: &ServerName, request: &Request, deadline: Instant) -> Result<GetRegionLoadResponse, Error> {
        self.core.pool.call(server, Service::Admin, Lane::Short, request, deadline).await?.read()
    }

    /// Parts the region that holds `key` there: `key` becomes the first of the second half.
    ///
    /// # Errors
    /// `DoNotRetryIOException` where the region cannot be split: at its first key, or while it has files that it shares with its parent
    /// (after an earlier split: until it is compacted and the servers have put the old files away).
    pub async fn split(&self, table: &TableName, key: &[u8]) -> Result<(), Error> {
        let of = self.table(table);
        of.forget_regions();
        let region = of.region_of(key).await?;
        let (nonce_group, nonce) = self.nonces();
        let split_row = Some(Bytes::copy_from_slice(key));
        let request = SplitTableRegionRequest { region_info: region.info(), split_row, nonce_group, nonce };
        self.run("SplitRegion", &request).await?;
        of.forget_regions();
        Ok(())
    }

    /// Makes one region of several that are neighbours.
    ///
    /// # Errors
    /// `MergeRegionException` and others where they cannot be merged.
    pub async fn merge(&self, regions: &[Region]) -> Result<(), Error> {
        let Some(first) = regions.first() else { return Ok(()) };
        let (nonce_group, nonce) = self.nonces();
        let region = regions.iter().map(|region| RegionSpecifier::encoded(Bytes::copy_from_slice(region.encoded_name()))).collect();
        let request = MergeTableRegionsRequest { region, forcible: Some(false), nonce_group, nonce };
        self.run("MergeTableRegions", &request).await?;
        self.core.locator.table(&first.table).clear();
        Ok(())
    }

    /// Moves a region to a server of [`Admin::servers`], or to one that the master chooses.
    ///
    /// # Errors
    /// `UnknownRegionException`, `HBaseIOException` for a server that is not there.
    pub async fn move_region(&self, region: &Region, to: Option<&ServerName>) -> Result<(), Error> {
        let request = MoveRegionRequest {
            region: RegionSpecifier::encoded(Bytes::copy_from_slice(region.encoded_name())),
            dest_server_name: to.map(ServerName::to_message),
        };
        self.call::<Empty>("MoveRegion", &request, Repeat::Harmless, self.deadline()).await.map(drop)
    }

    /// Writes what regions of a table have in memory to files.
    ///
    /// # Errors
    /// As [`Admin::regions`], or of a server.
    pub async fn flush(&self, table: &TableName) -> Result<(), Error> {
        let of = self.table(table);
        self.each_region(table, |region: Region| {
            let of = of.clone();
            async move {
                let tries = Tries::new("flush", Repeat::Harmless, of.deadline());
                let call = of.core.call_region(&of.target, &region.start, Service::Admin, tries, |region: &Region| {
                    Request::new("FlushRegion", &FlushRegionRequest { region: region.specifier() })
                });
                call.await.map(drop)
            }
        })
        .await
    }

    /// Makes one file of those of each region and family, without what is deleted or too old, and waits for it.
    ///
    /// # Errors
    /// As [`Admin::regions`], or of a server; at the timeout the compaction goes on.
    pub async fn compact(&self, table: &TableName) -> Result<(), Error> {
        let of = self.table(table);
        self.each_region(table, |region: Region| compact_region(of.clone(), region)).await
    }

    async fn each_region<F: Future<Output = Result<(), Error>>>(&self, table: &TableName, work: impl Fn(Region) -> F) -> Result<(), Error> {
        let regions = self.regions(table).await?;
        let mut done = futures::stream::iter(regions).map(work).buffer_unordered(AT_ONCE);
        while let Some(result) = done.next().await {
            result?;
        }
        Ok(())
    }

    /// The region servers that are alive.
    ///
    /// # Errors
    /// Of the master, or the timeout.
    pub async fn servers(&self) -> Result<Vec<ServerName>, Error> {
        let request = GetClusterStatusRequest { options: vec![2] };
        let found: GetClusterStatusResponse = self.call("GetClusterStatus", &request, Repeat::Read, self.deadline()).await?;
        found.cluster_status.live_servers.iter().map(|live| ServerName::from_message(&live.server)).collect()
    }

    /// The version of HBase that the master runs.
    ///
    /// # Errors
    /// Of the master, or the timeout.
    pub async fn version(&self) -> Result<String, Error> {
        let request = GetClusterStatusRequest { options: vec![0] };
        let found: GetClusterStatusResponse = self.call("GetClusterStatus", &request, Repeat::Read, self.deadline()).await?;
        Ok(found.cluster_status.hbase_version.unwrap_or_default().version)
    }

    /// Switches the balancer, which moves regions by itself; answers whether it was on.
    ///
    /// # Errors
    /// Of the master, or the timeout.
    pub async fn set_balancer(&self, on: bool) -> Result<bool, Error> {
        let request = SetBalancerRunningRequest { on, synchronous: Some(true) };
        let answer: SetBalancerRunningResponse = self.call("SetBalancerRunning", &request, Repeat::Harmless, self.deadline()).await?;
        Ok(answer.prev_balance_value.unwrap_or(false))
    }

    /// Whether the balancer is on.
    ///
    /// # Errors
    /// Of the master, or the timeout.
    pub async fn is_balancer_on(&self) -> Result<bool, Error> {
        let answer: IsBalancerEnabledResponse = self.call("IsBalancerEnabled", &Empty {}, Repeat::Read, self.deadline()).await?;
        Ok(answer.enabled)
    }
}

async fn compact_region(of: Table, region: Region) -> Result<(), Error> {
    let deadline = of.deadline();
    let core = &of.core;
    let tries = Tries::new("compact", Repeat::Harmless, deadline);
    let call = core.call_region(&of.target, &region.start, Service::Admin, tries, |region: &Region| {
        let request = CompactRegionRequest { region: region.specifier(), major: Some(true), family: None };
        Request::new("CompactRegion", &request)
    });
    call.await?;
    let started = Instant::now();
    loop {
        let tries = Tries::new("compaction state", Repeat::Read, deadline);
        let call = core.call_region(&of.target, &region.start, Service::Admin, tries, |region: &Region| {
            let request = GetRegionInfoRequest { region: region.specifier(), compaction_state: Some(true), best_split_row: None };
            Request::new("GetRegionInfo", &request)
        });
        let info: GetRegionInfoResponse = call.await?.read()?;
        if info.compaction_state.unwrap_or(0) == 0 {
            return Ok(());
        }
        if Instant::now() + LOOK >= deadline {
            return Err(Error::Deadline { what: "compact".to_owned(), waited: started.elapsed(), last: None });
        }
        core.pause(LOOK).await;
    }
}

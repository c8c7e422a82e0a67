//! A scan's conversation with the servers, region after region.
//!
//! Invariant: a `next` is sent once, with its number in the sequence: when its answer is lost nobody knows what it held, so the scanner is
//! given up and another one is opened behind the last whole row. Every batch has its deadline. A scanner that waits for its reader is kept
//! alive at a third of its lease.

use super::assemble::Assembler;
use super::spec::Scan;
use crate::call::{Core, Repeat, Target, Tries};
use crate::client::Table;
use crate::connection::{Lane, Service};
use crate::error::{Class, Error};
use crate::messages::client::{ScanRequest, ScanResponse};
use crate::metrics::add;
use crate::names::ServerName;
use crate::regions::meta::compare_rows;
use crate::regions::{Region, Side};
use crate::row::{Row, read_parts};
use crate::wire::frame::Request;
use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

#[derive(Debug)]
pub(crate) struct Fetch {
    core: Arc<Core>,
    target: Target,
    scan: Scan,
    timeout: Duration,
    rows: Assembler,
    /// Where the next scanner begins.
    position: Bytes,
    include_position: bool,
    /// Rows that the limit leaves.
    remaining: Option<u64>,
    open: Option<Open>,
    done: bool,
}

/// A scanner at a server.
#[derive(Debug)]
struct Open {
    id: u64,
    /// The number of the next call.
    sequence: u64,
    region: Arc<Region>,
    lease: Duration,
    used: Instant,
}

impl Fetch {
    pub(crate) fn new(table: &Table, scan: Scan) -> Fetch {
        let rows = Assembler::new(&scan, table.core.config.largest_row);
        let rows = if table.target.name.is_meta() { rows.ordered_by(compare_rows) } else { rows };
        Fetch {
            core: Arc::clone(&table.core),
            target: table.target.clone(),
            timeout: table.timeout,
            rows,
            position: scan.start.clone(),
            include_position: scan.include_start,
            remaining: scan.limit,
            open: None,
            done: scan.limit == Some(0) || is_empty(&scan),
            scan,
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.done
    }

    /// Reads on until there is a row; `None` behind the last.
    pub(crate) async fn next_batch(&mut self) -> Result<Option<Vec<Row>>, Error> {
        let mut tries = Tries::new("scan", Repeat::Read, Instant::now() + self.timeout);
        let mut rows = Vec::new();
        while !self.done {
            match self.step(&tries, &mut rows).await {
                Ok(()) => {
                    if !rows.is_empty() {
                        return Ok(Some(rows));
                    }
                    // Heartbeats and empty regions: a deadline ends them as well.
                    if Instant::now() >= tries.deadline {
                        self.close();
                        let (what, waited) = ("scan: no row".to_owned(), self.timeout);
                        return Err(Error::Deadline { what, waited, last: None });
                    }
                }
                Err(error) => {
                    self.reopen();
                    // What came before it is given first; if the error stays it comes again.
                    if !rows.is_empty() && error.class() != Class::Final {
                        return Ok(Some(rows));
                    }
                    let pause = tries.next(error, &self.core.config)?;
                    self.core.pause(pause).await;
                }
            }
        }
        Ok(if rows.is_empty() { None } else { Some(rows) })
    }

    /// One call: opens a scanner, or asks it for more.
    async fn step(&mut self, tries: &Tries, rows: &mut Vec<Row>) -> Result<(), Error> {
        let (region, request, opens) = match &mut self.open {
            Some(open) => {
                let request = ScanRequest { scanner_id: Some(open.id), next_call_seq: Some(open.sequence), ..self.scan_request() };
                let open = self.open.as_mut().ok_or(Error::Closed)?;
                open.sequence += 1;
                open.used = Instant::now();
                (Arc::clone(&open.region), request, false)
            }
            None => {
                let side = if self.scan.reversed && (self.position.is_empty() || !self.include_position) { Side::Below } else { Side::At };
                let locator = &self.core.locator;
                let region = locator.locate(&self.target.name, &self.target.regions, &self.position, side, tries.deadline).await?;
                if tries.again() {
                    self.core.pool.count_retry(&region.server);
                }
                let scan = self.scan.to_message(&self.position, self.include_position);
                let request = ScanRequest { region: Some(region.specifier()), scan: Some(scan), ..self.scan_request() };
                (region, request, true)
            }
        };
        let request = Request::new("Scan", &request);
        let called = self.core.pool.call(&region.server, Service::Client, self.lane(), &request, tries.deadline).await;
        let response = called.inspect_err(|error| self.core.locator.learn(&self.target.regions, &region, error))?;
        let message: ScanResponse = response.read()?;
        if opens {
            let id = message.scanner_id.ok_or_else(|| Error::Protocol("a scanner was opened without a number".to_owned()))?;
            let lease = Duration::from_millis(u64::from(message.ttl.unwrap_or(60_000)).max(1));
            self.open = Some(Open { id, sequence: 0, region: Arc::clone(&region), lease, used: Instant::now() });
        }
        let before = rows.len();
        for part in read_parts(&message, response.cells)? {
            self.rows.take(part, rows)?;
        }
        // What a server keeps apart, `more_results` for the scan and for the region, is absent from old ones.
        let more = message.more_results.unwrap_or(true);
        let more_here = message.more_results_in_region.unwrap_or(more);
        if (!more || !more_here) && self.rows.has_part() {
            self.rows.finish(rows)?;
        }
        if let Some(remaining) = &mut self.remaining {
            let given = (rows.len() - before) as u64;
            if given > *remaining {
                rows.truncate(before + *remaining as usize);
            }
            *remaining = remaining.saturating_sub(given);
        }
        if let Some(last) = self.rows.last()
            && rows.len() > before
        {
            self.position = last.clone();
            self.include_position = false;
        }
        if !more {
            self.open = None;
            self.done = true;
        } else if !more_here {
            self.open = None;
            self.next_region(&region);
        } else if self.remaining == Some(0) {
            self.close();
            self.done = true;
        }
        if self.remaining == Some(0) {
            self.done = true;
        }
        Ok(())
    }

    fn scan_request(&self) -> ScanRequest {
        let limit = self.remaining.map(|rows| u32::try_from(rows).unwrap_or(u32::MAX >> 1).min(u32::MAX >> 1));
        ScanRequest {
            number_of_rows: Some(limit.map_or(self.scan.batch_rows, |limit| limit.min(self.scan.batch_rows))),
            close_scanner: Some(false),
            client_handles_partials: Some(true),
            client_handles_heartbeats: Some(true),
            limit_of_rows: limit,
            ..ScanRequest::default()
        }
    }

    fn lane(&self) -> Lane {
        if self.scan.limit.is_some_and(|rows| rows <= 100) { Lane::Short } else { Lane::Long }
    }

    /// Goes on behind a region, or ends.
    fn next_region(&mut self, region: &Region) {
        let stop = &self.scan.stop;
        if self.scan.reversed {
            self.done = region.start.is_empty() || (!stop.is_empty() && region.start <= *stop);
            self.position = region.start.clone();
            self.include_position = false;
        } else {
            let past = if self.scan.include_stop { region.end > *stop } else { region.end >= *stop };
            self.done = region.end.is_empty() || (!stop.is_empty() && past);
            self.position = region.end.clone();
            self.include_position = true;
        }
    }

    /// Gives the scanner up; the next one begins behind the last whole row.
    fn reopen(&mut self) {
        if self.open.is_some() {
            add(&self.core.counts.scanners_reopened, 1);
        }
        self.rows.drop_part();
        self.close();
    }

    /// Tells the server that the scanner is not needed any more, without waiting for it.
    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let message =
            ScanRequest { scanner_id: Some(open.id), number_of_rows: Some(0), close_scanner: Some(true), ..ScanRequest::default() };
        let (pool, server, lane) = (Arc::clone(&self.core.pool), open.region.server.clone(), self.lane());
        self.core.timers().spawn(async move {
            let request = Request::new("Scan", &message);
            // A server that has lost it says so; that is as good.
            let _ = pool.call(&server, Service::Client, lane, &request, Instant::now() + Duration::from_secs(5)).await;
        });
    }

    /// Keeps the scanner alive. It is a call as any other: if it fails, the scanner is given up.
    async fn renew(&mut self) {
        let Some(open) = &mut self.open else { return };
        let message = ScanRequest {
            scanner_id: Some(open.id),
            number_of_rows: Some(0),
            next_call_seq: Some(open.sequence),
            renew: Some(true),
            client_handles_partials: Some(true),
            client_handles_heartbeats: Some(true),
            ..ScanRequest::default()
        };
        open.sequence += 1;
        open.used = Instant::now();
        let (server, deadline): (ServerName, Instant) = (open.region.server.clone(), Instant::now() + self.timeout);
        let request = Request::new("Scan", &message);
        if self.core.pool.call(&server, Service::Client, self.lane(), &request, deadline).await.is_err() {
            self.reopen();
        }
    }

    /// When the lease is to be renewed: far away without a scanner.
    fn renew_at(&self) -> Instant {
        match &self.open {
            Some(open) => open.used + open.lease / 3,
            None => Instant::now() + Duration::from_secs(3_600),
        }
    }

    /// Reads the rest on the client's runtime, one batch ahead of who takes them.
    pub(crate) fn run(mut self: Box<Self>) -> mpsc::Receiver<Result<Vec<Row>, Error>> {
        let (batches, reader) = mpsc::channel(1);
        let timers = self.core.timers().clone();
        timers.spawn(async move {
            loop {
                let next = tokio::select! {
                    next = self.next_batch() => next,
                    () = batches.closed() => break,
                };
                let Some(next) = next.transpose() else { break };
                let failed = next.is_err();
                let room = loop {
                    tokio::select! {
                        room = batches.reserve() => break room,
                        () = tokio::time::sleep_until(self.renew_at()) => self.renew().await,
                    }
                };
                let Ok(room) = room else { break };
                room.send(next);
                if failed {
                    break;
                }
            }
        });
        reader
    }
}

impl Drop for Fetch {
    fn drop(&mut self) {
        self.close();
    }
}

/// Whether no key can lie in the range.
fn is_empty(scan: &Scan) -> bool {
    if scan.start.is_empty() || scan.stop.is_empty() {
        return false;
    }
    let (low, high) = if scan.reversed { (&scan.stop, &scan.start) } else { (&scan.start, &scan.stop) };
    low > high || (low == high && !(scan.include_start && scan.include_stop))
}

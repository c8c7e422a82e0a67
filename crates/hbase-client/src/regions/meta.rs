//! hbase:meta: a row for each region, by table, first key and id.
//!
//! Invariant: one question is one call, without a retry: [`super::locate`] bounds and repeats.

use super::Region;
use crate::connection::{Lane, Pool, Service};
use crate::error::Error;
use crate::messages::client::{Column, Get, GetRequest, GetResponse, Scan, ScanRequest, ScanResponse};
use crate::messages::region::{RegionInfo, RegionSpecifier, TableState};
use crate::names::{ServerName, TableName};
use crate::regions::Side;
use crate::row::{read_parts, read_result};
use crate::wire::cell::{Cell, Cells};
use crate::wire::frame::Request;
use bytes::Bytes;
use prost::Message;
use std::cmp::Ordering;
use tokio::time::Instant;

/// The name of the region of hbase:meta, which is never split.
pub(crate) const META_REGION: &[u8] = b"hbase:meta,,1";

/// How many rows are read: parents of splits may stand before the region that is wanted.
const ROWS: u32 = 4;

/// The region of hbase:meta itself.
pub(crate) fn meta_region(server: ServerName) -> Result<Region, Error> {
    Ok(Region {
        name: Bytes::from_static(META_REGION),
        table: TableName::META.parse()?,
        id: 1,
        start: Bytes::new(),
        end: Bytes::new(),
        server,
        sequence: 0,
        hinted: false,
    })
}

/// What is known of a region, and whether it can be asked.
#[derive(Debug)]
pub(crate) enum Found {
    Served(Region),
    /// With the reason.
    NotServed(String, String),
}

/// Looks a region up: the one of a key, or the one that ends with it.
pub(crate) async fn look_up(
    pool: &Pool,
    meta: &ServerName,
    table: &TableName,
    key: &Bytes,
    side: Side,
    deadline: Instant,
) -> Result<Found, Error> {
    let response = pool.call(meta, Service::Client, Lane::Short, &question(table, key, side), deadline).await?;
    let message: ScanResponse = response.read()?;
    let mut any = false;
    for part in read_parts(&message, response.cells)? {
        let Some(entry) = read_entry(&part.cells)? else { continue };
        if entry.info_table != *table {
            continue;
        }
        any = true;
        if entry.parent {
            continue;
        }
        let region = match &entry.found {
            Found::Served(region) => region,
            Found::NotServed(..) => return Ok(entry.found),
        };
        let right = match side {
            Side::At => region.holds(key),
            Side::Below => region.holds_below(key),
        };
        if right {
            return Ok(entry.found);
        }
        break;
    }
    if any { Err(Error::RegionHole { table: table.clone(), key: key.clone() }) } else { Err(Error::TableNotFound(table.clone())) }
}

/// Downwards from where the region must stand.
fn question(table: &TableName, key: &Bytes, side: Side) -> Request {
    let mut start = table.as_str().as_bytes().to_vec();
    if side == Side::Below && key.is_empty() {
        // Behind all of the table: '-' follows ','.
        start.push(b'-');
    } else {
        start.push(b',');
        // A row of hbase:meta holds a first key with more around it than stands here: what is cut off decides nothing.
        let room = (i16::MAX as usize).saturating_sub(start.len() + 2);
        start.extend_from_slice(&key[..key.len().min(room)]);
        start.push(b',');
        if side == Side::At {
            // Behind all ids: ':' follows '9'.
            start.push(b':');
        }
    }
    let scan = Scan {
        column: vec![Column { family: Bytes::from_static(b"info"), qualifier: Vec::new() }],
        start_row: Some(start.into()),
        stop_row: Some(first_row(table)),
        reversed: Some(true),
        include_start_row: Some(true),
        include_stop_row: Some(true),
        max_versions: Some(1),
        caching: Some(ROWS),
        read_type: Some(2),
        ..Scan::default()
    };
    let request = ScanRequest {
        region: Some(RegionSpecifier::name(Bytes::from_static(META_REGION))),
        scan: Some(scan),
        number_of_rows: Some(ROWS),
        limit_of_rows: Some(ROWS),
        close_scanner: Some(true),
        ..ScanRequest::default()
    };
    Request::new("Scan", &request)
}

/// Where a table's rows begin.
pub(crate) fn first_row(table: &TableName) -> Bytes {
    format!("{table},,").into()
}

/// Behind a table's rows.
pub(crate) fn last_row(table: &TableName) -> Bytes {
    format!("{table}-").into()
}

/// The order of hbase:meta's rows: by table, then by first key, then by id; the commas between them are no bytes among others.
pub(crate) fn compare_rows(a: &[u8], b: &[u8]) -> Ordering {
    fn parts(row: &[u8]) -> (&[u8], Option<(&[u8], &[u8])>) {
        let Some(first) = row.iter().position(|byte| *byte == b',') else { return (row, None) };
        let (table, rest) = (&row[..first], &row[first + 1..]);
        let last = rest.iter().rposition(|byte| *byte == b',');
        (table, Some(last.map_or((rest, &[]), |last| (&rest[..last], &rest[last + 1..]))))
    }
    parts(a).cmp(&parts(b))
}

struct Entry {
    info_table: TableName,
    /// Its daughters have taken its place.
    parent: bool,
    found: Found,
}

/// A row of hbase:meta; `None` if it describes no region.
fn read_entry(cells: &[Cell]) -> Result<Option<Entry>, Error> {
    let column = |name: &[u8]| cells.iter().find(|cell| cell.family() == b"info" && cell.qualifier() == name);
    let Some(info) = column(b"regioninfo") else { return Ok(None) };
    let name = info.row_bytes();
    let shown = || name.escape_ascii().to_string();
    let wrong = |what: &str| Error::Protocol(format!("hbase:meta, {}: {what}", shown()));
    let message = info.value_bytes();
    let message = message.strip_prefix(b"PBUF").map(Bytes::copy_from_slice).ok_or_else(|| wrong("its region is not described"))?;
    let info = RegionInfo::decode(message).map_err(|e| wrong(&e.to_string()))?;
    let table = TableName::from_message(&info.table_name)?;
    let number = |name: &[u8]| column(name).and_then(|cell| cell.value().try_into().ok()).map(u64::from_be_bytes);
    let state = column(b"state").map(Cell::value).unwrap_or(b"OPEN");
    let server = column(b"server").and_then(|cell| std::str::from_utf8(cell.value()).ok()).and_then(ServerName::parse);
    let parent = info.split.unwrap_or(false) || state == b"SPLIT" || state == b"MERGED";
    let found = match server {
        // A region that closes still answers, or says where it went.
        Some(server) if matches!(state, b"OPEN" | b"CLOSING" | b"SPLITTING" | b"MERGING") => Found::Served(Region {
            name: name.clone(),
            table: table.clone(),
            id: info.region_id,
            start: info.start_key.unwrap_or_default(),
            end: info.end_key.unwrap_or_default(),
            server: ServerName { start_code: number(b"serverstartcode").unwrap_or(0), ..server },
            sequence: number(b"seqnumDuringOpen").unwrap_or(0),
            hinted: false,
        }),
        Some(_) => Found::NotServed(shown(), format!("it is {}", state.escape_ascii())),
        None => Found::NotServed(shown(), "it has no server".to_owned()),
    };
    Ok(Some(Entry { info_table: table, parent, found }))
}

/// The regions among rows of hbase:meta, parents of splits left out.
pub(crate) fn read_regions<'a>(rows: impl Iterator<Item = &'a [Cell]>, table: &TableName) -> Result<Vec<Found>, Error> {
    let mut regions = Vec::new();
    for cells in rows {
        if let Some(entry) = read_entry(cells)?
            && entry.info_table == *table
            && !entry.parent
        {
            regions.push(entry.found);
        }
    }
    Ok(regions)
}

/// Whether a table is disabled, or on its way there.
pub(crate) async fn is_disabled(pool: &Pool, meta: &ServerName, table: &TableName, deadline: Instant) -> Result<bool, Error> {
    let get = Get {
        row: Bytes::copy_from_slice(table.as_str().as_bytes()),
        column: vec![Column { family: Bytes::from_static(b"table"), qualifier: vec![Bytes::from_static(b"state")] }],
        ..Get::default()
    };
    let request = GetRequest { region: RegionSpecifier::name(Bytes::from_static(META_REGION)), get };
    let response = pool.call(meta, Service::Client, Lane::Short, &Request::new("Get", &request), deadline).await?;
    let message: GetResponse = response.read()?;
    let cells = read_result(&message.result.unwrap_or_default(), &mut Cells::new(response.cells))?;
    let Some(cell) = cells.first() else { return Ok(false) };
    let state = TableState::decode(cell.value()).map_err(|e| Error::Protocol(format!("the state of table {table}: {e}")))?;
    Ok(matches!(state.state, 1 | 2))
}

#[cfg(test)]
mod tests {
    use super::compare_rows;

    #[test]
    fn rows_are_in_the_order_of_tables_keys_and_ids() {
        let rows: [&[u8]; 9] = [b"t", b"t,,1", b"t,,2", b"t,\x00,1", b"t,a,1", b"t,a\x00,1", b"t,a,b,1", b"t-", b"t-x,,1"];
        for (n, row) in rows.iter().enumerate() {
            for (m, other) in rows.iter().enumerate() {
                assert_eq!(compare_rows(row, other), n.cmp(&m), "{} and {}", row.escape_ascii(), other.escape_ascii());
            }
        }
    }
}

//! Large objects as rows of a table of the store, which all databases share: a description of each, and pages of its bytes.
//!
//! ```text
//! key    00 database u32 be, object u32 be                   a description
//!        01 database u32 be, object u32 be, page u32 be      a page
//! cell   of a description: version u8 = 1 | JSON
//!        of a page: its bytes, 0 to 2048
//! ```
//!
//! Invariant: what is not there is zeros: a page that is missing, and the end of a page with a later one behind it. The last page says how
//! long the object is.

use super::acl::ObjectClass;
use super::authority::{Authority, Rights};
use super::descriptor::Oid;
use super::store::LARGE_OBJECT_TABLE;
use super::{Acl, Privileges, acl};
use crate::failure::store_error;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use stoa_pg::PgResult;
use stoa_store::{
    CellRef, Commit, Durability, FamilyId, FamilyOptions, FamilySchema, KeyRange, Mutations, ReadSpec, ScanSpec, Store, TableSchema,
};

/// The one family of the table.
pub const LARGE_OBJECT_FAMILY: FamilyId = FamilyId(0);
/// Bytes of a page, PostgreSQL's `LOBLKSIZE`.
pub const PAGE_BYTES: usize = 2048;
/// The bytes that an object has at most.
pub const MAX_LARGE_OBJECT_BYTES: i64 = i32::MAX as i64 * PAGE_BYTES as i64;

const DESCRIPTION: u8 = 0;
const PAGE: u8 = 1;

/// What is known of a large object besides its bytes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LargeObject {
    pub rights: Rights,
    pub comment: Option<String>,
}

impl LargeObject {
    /// One of a role of which nothing else is said.
    #[must_use]
    pub fn of(owner: Oid) -> Self {
        Self { rights: Rights::of(owner), comment: None }
    }

    /// Whether a role has a privilege on it.
    #[must_use]
    pub fn allows(&self, authority: &Authority, role: Oid, wanted: Privileges) -> bool {
        let list: Acl = self.rights.effective(ObjectClass::LargeObject);
        let has_rights_of = |other: Oid| authority.has_rights_of(role, other);
        authority.is_superuser(role) || acl::granted(&list, self.rights.owner, role, wanted, Privileges::NONE, &has_rights_of).0.has(wanted)
    }

    /// Whether a role has the rights of its owner.
    #[must_use]
    pub fn is_owned_by(&self, authority: &Authority, role: Oid) -> bool {
        authority.is_superuser(role) || authority.has_rights_of(role, self.rights.owner)
    }
}

fn key(kind: u8, database: Oid, numbers: &[u32]) -> Vec<u8> {
    let mut out = vec![kind];
    out.extend(database.to_be_bytes());
    numbers.iter().for_each(|number| out.extend(number.to_be_bytes()));
    out
}

/// The key of a description.
#[must_use]
pub fn description_key(database: Oid, object: Oid) -> Vec<u8> {
    key(DESCRIPTION, database, &[object])
}

/// The descriptions of a database's objects, or of all.
#[must_use]
pub fn descriptions(database: Option<Oid>) -> KeyRange {
    KeyRange::prefix(&database.map_or_else(|| vec![DESCRIPTION], |database| key(DESCRIPTION, database, &[])))
}

/// The key of a page.
#[must_use]
pub fn page_key(database: Oid, object: Oid, page: u32) -> Vec<u8> {
    key(PAGE, database, &[object, page])
}

/// The pages of an object from one on, or those of all objects of the database.
#[must_use]
pub fn pages(database: Oid, object: Option<Oid>, from: u32) -> KeyRange {
    match object {
        Some(object) => KeyRange::new(page_key(database, object, from), KeyRange::prefix(&key(PAGE, database, &[object])).end),
        None => KeyRange::prefix(&key(PAGE, database, &[])),
    }
}

/// The database, the object and the number of a page's key.
#[must_use]
pub fn of_page_key(bytes: &[u8]) -> Option<(Oid, Oid, u32)> {
    let (database, object) = of_key(bytes, PAGE)?;
    Some((database, object, number(bytes, 9)?))
}

/// The database and the object of a description's key.
#[must_use]
pub fn of_description_key(bytes: &[u8]) -> Option<(Oid, Oid)> {
    of_key(bytes, DESCRIPTION)
}

fn of_key(bytes: &[u8], kind: u8) -> Option<(Oid, Oid)> {
    if bytes.first() != Some(&kind) {
        return None;
    }
    Some((number(bytes, 1)?, number(bytes, 5)?))
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Makes the table, if the store does not have it.
pub(super) async fn make_table(store: &dyn Store) -> PgResult<()> {
    if store.describe_table(LARGE_OBJECT_TABLE).await.map_err(store_error)?.is_some() {
        return Ok(());
    }
    let options = FamilyOptions { block_size: 64 << 10, ..FamilyOptions::default() };
    let family = FamilySchema { id: LARGE_OBJECT_FAMILY, name: "o".into(), options };
    let schema = TableSchema { id: LARGE_OBJECT_TABLE, name: "large_objects".into(), families: vec![family], split_points: Vec::new() };
    store.create_table(&schema).await.map_err(store_error)
}

/// Removes the objects of databases that `gone` names.
pub(crate) async fn remove(store: &dyn Store, gone: &(dyn Fn(Oid) -> bool + Send + Sync)) -> PgResult<()> {
    for kind in [DESCRIPTION, PAGE] {
        let range = KeyRange::prefix(&[kind]);
        let mut from = Some(range.start);
        while let Some(start) = from {
            from = remove_some(store, KeyRange::new(start, range.end.clone()), gone).await?;
        }
    }
    Ok(())
}

/// Removes what comes first in a range, as far as it is to be removed; where to go on. One row is read of a database that stays.
async fn remove_some(store: &dyn Store, range: KeyRange, gone: &(dyn Fn(Oid) -> bool + Send + Sync)) -> PgResult<Option<Vec<u8>>> {
    const BATCH: usize = 4096;
    let read = ReadSpec {
        table: LARGE_OBJECT_TABLE,
        families: vec![LARGE_OBJECT_FAMILY],
        qualifiers: None,
        versions: 1,
        time_range: None,
        snapshot: store.snapshot(),
    };
    let spec = ScanSpec { read, range, reverse: false, limit: Some(BATCH as u64), fill_cache: false };
    let mut scan = store.scan(spec).await.map_err(store_error)?;
    let (mut next, mut mutations) = (None, Mutations::new());
    let mut sink = |key: &[u8], _: &[CellRef<'_>]| {
        if number(key, 1).is_some_and(gone) {
            mutations.delete_row(LARGE_OBJECT_TABLE, key);
            next = KeyRange::point(key).end;
            return ControlFlow::Continue(());
        }
        next = KeyRange::prefix(key.get(..5).unwrap_or(key)).end;
        ControlFlow::Break(())
    };
    scan.next_block(BATCH, &mut sink).await.map_err(store_error)?;
    if !mutations.is_empty() {
        let commit = Commit { mutations: &mutations, snapshot: None, validate: &[], durability: Durability::Relaxed };
        store.commit(commit).await.map_err(store_error)?;
    }
    Ok(next)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn keys_are_as_the_document_says() {
        assert_eq!(description_key(1, 0x0102), [0, 0, 0, 0, 1, 0, 0, 1, 2]);
        assert_eq!(page_key(1, 0x0102, 3), [1, 0, 0, 0, 1, 0, 0, 1, 2, 0, 0, 0, 3]);
        assert_eq!(of_page_key(&page_key(7, 8, 9)), Some((7, 8, 9)));
        assert_eq!(of_description_key(&page_key(7, 8, 9)), None);
        assert_eq!(of_description_key(&description_key(7, 8)), Some((7, 8)));
        let of_one = pages(1, Some(u32::MAX), 5);
        assert!(of_one.contains(&page_key(1, u32::MAX, 5)) && of_one.contains(&page_key(1, u32::MAX, u32::MAX)));
        assert!(!of_one.contains(&page_key(1, u32::MAX, 4)) && !of_one.contains(&page_key(2, 0, 0)));
    }
}

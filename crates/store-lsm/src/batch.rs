//! From mutations to the bytes of a RocksDB write batch.
//!
//! Callers encode their commits on their own threads, with gaps for the timestamp; the commit thread fills the gaps
//! and joins the records of a group, so that the one thread that owns writes has little to do for each.
//!
//! ```text
//! batch  = 8 bytes sequence (RocksDB's), u32 little-endian count, records
//! record = 05 │ varint column family │ varint key length │ key │ varint value length │ value      (put)
//!          04 │ varint column family │ varint key length │ key                                    (delete)
//! ```
//!
//! A test compares these bytes with those that RocksDB's own batch has.

use crate::database::ColumnFamily;
use crate::keys::{Form, TIMESTAMP_BYTES, VALUE_DELETED, VALUE_PUT, VALUE_PUT_AFTER_DELETE, push_escaped, push_row_bound};
use crate::view::{Family, Table, Tables};
use hashbrown::HashMap;
use std::sync::Arc;
use stoa_store::commit_window::WrittenRows;
use stoa_store::limits::{MAX_BLOB_BYTES, check_mutation};
use stoa_store::{FamilyId, MutationRef, Mutations, StoreError, StoreResult, TableId, Timestamp};

pub(crate) const HEADER_BYTES: usize = 12;
const PUT: u8 = 5;
const DELETE: u8 = 4;
/// Larger commits are refused: offsets are 32 bits wide. One cell more than the second still fits.
const MAX_COMMIT_BYTES: usize = 2 << 30;
const MAX_ENCODED_BYTES: usize = (4 << 30) - MAX_BLOB_BYTES - (1 << 20);

/// A commit without its timestamp.
#[derive(Debug, Default)]
pub(crate) struct EncodedCommit {
    /// Begins with room for the header.
    bytes: Vec<u8>,
    count: u32,
    /// Where timestamps go as they are, and inverted.
    stamps: Vec<u32>,
    inverted_stamps: Vec<u32>,
    pub written: WrittenRows,
    /// Where entries are deleted by RocksDB's own deletions.
    pub deleted: Vec<(Arc<ColumnFamily>, u32)>,
    /// Whether it makes room on the disk.
    pub frees: bool,
    /// The tables as they were when this was encoded.
    pub tables: Vec<Arc<Table>>,
}

impl EncodedCommit {
    /// # Errors
    /// [`StoreError::NoSuchTable`], [`StoreError::Invalid`], [`StoreError::TooLarge`].
    pub fn encode(mutations: &Mutations, tables: &Tables) -> StoreResult<Self> {
        if mutations.bytes() > MAX_COMMIT_BYTES {
            return Err(StoreError::TooLarge { what: "commit", size: mutations.bytes() as u64, limit: MAX_COMMIT_BYTES as u64 });
        }
        let mut out = Self { bytes: Vec::with_capacity(mutations.bytes() + 64), frees: mutations.makes_room(), ..Self::default() };
        out.bytes.resize(HEADER_BYTES, 0);
        let deletions = Deletions::find(mutations, tables);
        for (i, mutation) in mutations.iter().enumerate() {
            let (id, key) = mutation.row();
            let at = match out.tables.iter().position(|t| t.schema.id == id) {
                Some(at) => at,
                None => {
                    out.tables.push(Arc::clone(tables.map.get(&id).ok_or(StoreError::NoSuchTable(id.0))?));
                    out.tables.len() - 1
                }
            };
            let Some(table) = out.tables.get(at).map(Arc::clone) else { continue };
            check_mutation(&table.schema, &mutation)?;
            if out.bytes.len() > MAX_ENCODED_BYTES {
                return Err(StoreError::TooLarge { what: "commit", size: out.bytes.len() as u64, limit: MAX_ENCODED_BYTES as u64 });
            }
            out.written.push(id, key);
            out.frees |= !matches!(mutation, MutationRef::Put { .. });
            match mutation {
                MutationRef::Put { family, qualifier, value, .. } => match deletions.place(i, id, key, family, qualifier) {
                    Place::Before => {}
                    Place::None => out.put(table.family(family)?, key, qualifier, Some(value), VALUE_PUT),
                    Place::After => out.put(table.family(family)?, key, qualifier, Some(value), VALUE_PUT_AFTER_DELETE),
                },
                MutationRef::DeleteCell { family, qualifier, .. } => {
                    if deletions.place(i, id, key, family, qualifier) != Place::Before {
                        out.put(table.family(family)?, key, qualifier, None, VALUE_DELETED);
                    }
                }
                MutationRef::DeleteFamily { family, .. } => out.delete_family(table.family(family)?, key),
                MutationRef::DeleteRow { .. } => table.families.iter().for_each(|family| out.delete_family(family, key)),
            }
        }
        Ok(out)
    }

    pub fn bytes(&self) -> usize {
        self.bytes.len() + self.written.bytes()
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Fills in the timestamp.
    pub fn stamp(&mut self, at: Timestamp) {
        for (places, digits) in [(&self.stamps, at.0.to_be_bytes()), (&self.inverted_stamps, crate::keys::inverted(at))] {
            for place in places {
                if let Some(gap) = self.bytes.get_mut(*place as usize..*place as usize + TIMESTAMP_BYTES) {
                    gap.copy_from_slice(&digits);
                }
            }
        }
    }

    /// A cell, or its deletion.
    fn put(&mut self, family: &Family, key: &[u8], qualifier: &[u8], value: Option<&[u8]>, kind: u8) {
        match (family.form, value) {
            (Form::Plain, Some(value)) => {
                self.begin(PUT, family, 4 + key.len());
                push_row_bound(&mut self.bytes, family.storage, Form::Plain, key);
                push_varint(&mut self.bytes, TIMESTAMP_BYTES + value.len());
                self.stamps.push(self.bytes.len() as u32);
                self.bytes.extend_from_slice(&[0; TIMESTAMP_BYTES]);
                self.bytes.extend_from_slice(value);
            }
            (Form::Plain, None) => {
                self.delete(family, key);
            }
            (Form::PackedVersions | Form::Cells, value) => {
                let mut suffix = Vec::new();
                if family.form == Form::Cells {
                    push_escaped(&mut suffix, qualifier);
                }
                self.put_version(family, key, &suffix, value, kind);
            }
        }
    }

    fn put_version(&mut self, family: &Family, key: &[u8], suffix: &[u8], value: Option<&[u8]>, kind: u8) {
        let mut row = Vec::with_capacity(key.len() + 8);
        push_row_bound(&mut row, family.storage, family.form, key);
        self.begin(PUT, family, row.len() + suffix.len() + TIMESTAMP_BYTES);
        self.bytes.extend_from_slice(&row);
        self.bytes.extend_from_slice(suffix);
        self.inverted_stamps.push(self.bytes.len() as u32);
        self.bytes.extend_from_slice(&[0; TIMESTAMP_BYTES]);
        push_varint(&mut self.bytes, 1 + value.map_or(0, <[u8]>::len));
        self.bytes.push(kind);
        self.bytes.extend_from_slice(value.unwrap_or_default());
    }

    fn delete_family(&mut self, family: &Family, key: &[u8]) {
        match family.form {
            Form::Plain | Form::PackedVersions => self.put(family, key, &[], None, VALUE_DELETED),
            Form::Cells => self.put_version(family, key, &[0, 0], None, VALUE_DELETED),
        }
    }

    /// The entry of a row in a plain family.
    fn delete(&mut self, family: &Family, key: &[u8]) {
        self.begin(DELETE, family, 4 + key.len());
        push_row_bound(&mut self.bytes, family.storage, Form::Plain, key);
        if self.deleted.last().is_none_or(|(_, last)| *last != family.storage)
            && self.deleted.iter().all(|(_, other)| *other != family.storage)
        {
            self.deleted.push((Arc::clone(&family.column_family), family.storage));
        }
    }

    fn begin(&mut self, kind: u8, family: &Family, key_len: usize) {
        self.count += 1;
        self.bytes.push(kind);
        push_varint(&mut self.bytes, family.column_family.number as usize);
        push_varint(&mut self.bytes, key_len);
    }
}

/// The deletions of a commit in versioned families. All entries of a commit have one timestamp, so what is set before a deletion
/// of its family must not be written (at equal timestamps a cell counts as set after it), and what is set after one must
/// say that it hides older versions, since it takes the place of the deletion.
#[derive(Default)]
struct Deletions<'a> {
    /// The first and the last deletion of a cell; without a qualifier, of a family.
    places: HashMap<(TableId, &'a [u8], FamilyId, Option<&'a [u8]>), (usize, usize)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// Before the last deletion of its family.
    Before,
    /// After a deletion.
    After,
    None,
}

impl<'a> Deletions<'a> {
    fn find(mutations: &'a Mutations, tables: &Tables) -> Self {
        let mut out = Self::default();
        for (i, mutation) in mutations.iter().enumerate() {
            let (only, qualifier) = match mutation {
                MutationRef::DeleteFamily { family, .. } => (Some(family), None),
                MutationRef::DeleteRow { .. } => (None, None),
                MutationRef::DeleteCell { family, qualifier, .. } => (Some(family), Some(qualifier)),
                MutationRef::Put { .. } => continue,
            };
            let (table, key) = mutation.row();
            let families = tables.map.get(&table).map(|t| t.families.as_slice()).unwrap_or_default();
            for family in families.iter().filter(|f| f.form != Form::Plain && only.is_none_or(|only| only == f.id)) {
                out.places.entry((table, key, family.id, qualifier)).or_insert((i, i)).1 = i;
            }
        }
        out
    }

    fn place(&self, i: usize, table: TableId, key: &[u8], family: FamilyId, qualifier: &[u8]) -> Place {
        if self.places.is_empty() {
            return Place::None;
        }
        let of_family = self.places.get(&(table, key, family, None));
        if of_family.is_some_and(|(_, last)| i < *last) {
            return Place::Before;
        }
        let of_cell = self.places.get(&(table, key, family, Some(qualifier)));
        let after = of_family.is_some() || of_cell.is_some_and(|(first, _)| *first < i);
        if after { Place::After } else { Place::None }
    }
}

/// The records of a group of commits, as one batch.
#[derive(Debug, Default)]
pub(crate) struct GroupBatch {
    bytes: Vec<u8>,
    count: u32,
}

impl GroupBatch {
    pub fn add(&mut self, commit: EncodedCommit) {
        self.count += commit.count;
        if self.bytes.is_empty() {
            self.bytes = commit.bytes;
        } else {
            self.bytes.extend_from_slice(commit.bytes.get(HEADER_BYTES..).unwrap_or_default());
        }
    }

    /// Sets an entry of the default column family.
    pub fn put_metadata(&mut self, key: &[u8], value: &[u8]) {
        if self.bytes.is_empty() {
            self.bytes.resize(HEADER_BYTES, 0);
        }
        self.count += 1;
        self.bytes.push(1);
        push_varint(&mut self.bytes, key.len());
        self.bytes.extend_from_slice(key);
        push_varint(&mut self.bytes, value.len());
        self.bytes.extend_from_slice(value);
    }

    pub fn finish(mut self) -> rocksdb::WriteBatch {
        if let Some(place) = self.bytes.get_mut(8..HEADER_BYTES) {
            place.copy_from_slice(&self.count.to_le_bytes());
        }
        rocksdb::WriteBatch::from_data(&self.bytes)
    }
}

fn push_varint(out: &mut Vec<u8>, mut n: usize) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn metadata_records_are_those_of_rocksdb() {
        let mut group = GroupBatch::default();
        let long = vec![b'x'; 300];
        group.put_metadata(b"key", &long);
        let mut expected = rocksdb::WriteBatch::default();
        expected.put(b"key", &long);
        assert_eq!(group.finish().data(), expected.data());
    }
}

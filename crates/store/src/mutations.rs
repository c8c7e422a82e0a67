//! A set of changes to rows, kept in one arena: no allocation a row or a cell.

use crate::schema::{FamilyId, TableId};

/// One change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MutationRef<'a> {
    /// Sets one cell.
    Put { table: TableId, key: &'a [u8], family: FamilyId, qualifier: &'a [u8], value: &'a [u8] },
    /// Removes one cell.
    DeleteCell { table: TableId, key: &'a [u8], family: FamilyId, qualifier: &'a [u8] },
    /// Removes all cells of a family of a row.
    DeleteFamily { table: TableId, key: &'a [u8], family: FamilyId },
    /// Removes a row.
    DeleteRow { table: TableId, key: &'a [u8] },
}

impl<'a> MutationRef<'a> {
    #[must_use]
    pub fn row(&self) -> (TableId, &'a [u8]) {
        match *self {
            MutationRef::Put { table, key, .. }
            | MutationRef::DeleteCell { table, key, .. }
            | MutationRef::DeleteFamily { table, key, .. }
            | MutationRef::DeleteRow { table, key } => (table, key),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Put,
    DeleteCell,
    DeleteFamily,
    DeleteRow,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    kind: Kind,
    table: TableId,
    family: FamilyId,
    /// Start of the key in the arena; qualifier and value follow it.
    at: usize,
    key_len: u32,
    qualifier_len: u32,
    value_len: u32,
}

/// Changes in the order in which they were added; a later one of the same cell wins. A deletion hides all that earlier commits
/// left, even if the cell is set again after it.
#[derive(Clone, Debug, Default)]
pub struct Mutations {
    arena: Vec<u8>,
    entries: Vec<Entry>,
    makes_room: bool,
}

impl Mutations {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets a store make these changes, if they are few, though its disk is nearly full: they make room, or let others do so. Deletions
    /// need not say it.
    pub fn make_room(&mut self) {
        self.makes_room = true;
    }

    /// See [`Mutations::make_room`].
    #[must_use]
    pub fn makes_room(&self) -> bool {
        self.makes_room
    }

    pub fn put(&mut self, table: TableId, key: &[u8], family: FamilyId, qualifier: &[u8], value: &[u8]) {
        self.add(Kind::Put, table, key, family, qualifier, value);
    }

    pub fn delete_cell(&mut self, table: TableId, key: &[u8], family: FamilyId, qualifier: &[u8]) {
        self.add(Kind::DeleteCell, table, key, family, qualifier, &[]);
    }

    pub fn delete_family(&mut self, table: TableId, key: &[u8], family: FamilyId) {
        self.add(Kind::DeleteFamily, table, key, family, &[], &[]);
    }

    pub fn delete_row(&mut self, table: TableId, key: &[u8]) {
        self.add(Kind::DeleteRow, table, key, FamilyId(0), &[], &[]);
    }

    pub fn push(&mut self, mutation: MutationRef<'_>) {
        match mutation {
            MutationRef::Put { table, key, family, qualifier, value } => self.put(table, key, family, qualifier, value),
            MutationRef::DeleteCell { table, key, family, qualifier } => self.delete_cell(table, key, family, qualifier),
            MutationRef::DeleteFamily { table, key, family } => self.delete_family(table, key, family),
            MutationRef::DeleteRow { table, key } => self.delete_row(table, key),
        }
    }

    fn add(&mut self, kind: Kind, table: TableId, key: &[u8], family: FamilyId, qualifier: &[u8], value: &[u8]) {
        let at = self.arena.len();
        self.arena.extend_from_slice(key);
        self.arena.extend_from_slice(qualifier);
        self.arena.extend_from_slice(value);
        self.entries.push(Entry {
            kind,
            table,
            family,
            at,
            key_len: key.len() as u32,
            qualifier_len: qualifier.len() as u32,
            value_len: value.len() as u32,
        });
    }

    pub fn iter(&self) -> impl Iterator<Item = MutationRef<'_>> {
        self.entries.iter().map(|e| {
            let (key, rest) = self.arena[e.at..].split_at(e.key_len as usize);
            let (qualifier, rest) = rest.split_at(e.qualifier_len as usize);
            let value = &rest[..e.value_len as usize];
            let (table, family) = (e.table, e.family);
            match e.kind {
                Kind::Put => MutationRef::Put { table, key, family, qualifier, value },
                Kind::DeleteCell => MutationRef::DeleteCell { table, key, family, qualifier },
                Kind::DeleteFamily => MutationRef::DeleteFamily { table, key, family },
                Kind::DeleteRow => MutationRef::DeleteRow { table, key },
            }
        })
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.arena.len() + self.entries.len() * std::mem::size_of::<Entry>()
    }

    pub fn clear(&mut self) {
        self.arena.clear();
        self.entries.clear();
    }
}

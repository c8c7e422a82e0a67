//! What a commit changes, row by row: as it stands in the log, in memory until HBase has it, and as it goes to HBase.
//!
//! A commit's mutations are brought into this form once, before it is queued: of several changes of one cell the last one stays, and what
//! was removed before it. The bytes of the log are read back into [`RowChange`]s that are slices of them, both for a new commit and after
//! a restart.

use crate::keys::LIMITS;
use crate::tables::{Table, Tables};
use bytes::{Buf, Bytes};
use hashbrown::HashMap;
use std::sync::Arc;
use stoa_store::commit_window::WrittenRows;
use stoa_store::{FamilyId, MutationRef, Mutations, StoreError, StoreResult, TableId};

/// The changes of one row by one commit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RowChange {
    pub table: TableId,
    pub key: Bytes,
    pub families: Vec<FamilyChange>,
    /// The same as it stands in the log.
    pub encoded: Bytes,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FamilyChange {
    pub family: FamilyId,
    /// All that earlier commits left is removed first.
    pub cleared: bool,
    /// By qualifier, each once.
    pub cells: Vec<CellChange>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CellChange {
    pub qualifier: Bytes,
    /// `None` removes the cell.
    pub value: Option<Bytes>,
    /// Its older versions are removed before it is set.
    pub replaced: bool,
}

/// Of a family's byte.
const CLEARED: u8 = 1;
/// Of a cell's byte.
const HAS_VALUE: u8 = 1;
const REPLACED: u8 = 2;

impl RowChange {
    /// Memory that it takes, about.
    pub fn size(&self) -> usize {
        let cell = |cell: &CellChange| 80 + cell.qualifier.len() + cell.value.as_ref().map_or(0, Bytes::len);
        self.key.len() + 200 + self.families.iter().map(|family| 48 + family.cells.iter().map(cell).sum::<usize>()).sum::<usize>()
    }
}

/// A commit that is ready to be queued.
pub(crate) struct EncodedCommit {
    /// As it stands in the log.
    pub body: Bytes,
    pub rows: Vec<Arc<RowChange>>,
    pub tables: Vec<Arc<Table>>,
    pub written: WrittenRows,
}

impl EncodedCommit {
    /// # Errors
    /// [`StoreError::NoSuchTable`], or what the table does not take.
    pub fn new(mutations: &Mutations, tables: &Tables) -> StoreResult<EncodedCommit> {
        let mut rows = RowsBeingBuilt::default();
        let mut written = WrittenRows::default();
        let mut of: Vec<Arc<Table>> = Vec::new();
        for mutation in mutations.iter() {
            let (id, key) = mutation.row();
            let table = match of.iter().rev().find(|table| table.schema.id == id) {
                Some(table) => Arc::clone(table),
                None => {
                    let table = tables.existing(id)?;
                    of.push(Arc::clone(table));
                    Arc::clone(table)
                }
            };
            LIMITS.check_mutation(&table.schema, &mutation)?;
            written.push(id, key);
            rows.row(id, key).apply(&table, &mutation);
        }
        let body = rows.encode();
        let rows = decode(&body).map_err(StoreError::Corruption)?.into_iter().map(Arc::new).collect();
        Ok(EncodedCommit { body, rows, tables: of, written })
    }
}

#[derive(Default)]
struct RowsBeingBuilt<'a> {
    rows: Vec<RowBeingBuilt<'a>>,
    places: HashMap<(TableId, &'a [u8]), usize>,
}

struct RowBeingBuilt<'a> {
    table: TableId,
    key: &'a [u8],
    families: Vec<FamilyBeingBuilt<'a>>,
}

struct FamilyBeingBuilt<'a> {
    family: FamilyId,
    cleared: bool,
    cells: Vec<CellBeingBuilt<'a>>,
}

struct CellBeingBuilt<'a> {
    qualifier: &'a [u8],
    value: Option<&'a [u8]>,
    replaced: bool,
}

impl<'a> RowsBeingBuilt<'a> {
    fn row(&mut self, table: TableId, key: &'a [u8]) -> &mut RowBeingBuilt<'a> {
        let last = self.rows.len().checked_sub(1).filter(|at| self.rows[*at].table == table && self.rows[*at].key == key);
        let at = last.unwrap_or_else(|| {
            let rows = &mut self.rows;
            *self.places.entry((table, key)).or_insert_with(|| {
                rows.push(RowBeingBuilt { table, key, families: Vec::new() });
                rows.len() - 1
            })
        });
        &mut self.rows[at]
    }

    fn encode(&self) -> Bytes {
        let mut out = Vec::new();
        for row in &self.rows {
            push_varint(&mut out, u64::from(row.table.0));
            push_bytes(&mut out, row.key);
            push_varint(&mut out, row.families.len() as u64);
            for family in &row.families {
                push_varint(&mut out, u64::from(family.family.0));
                out.push(if family.cleared { CLEARED } else { 0 });
                push_varint(&mut out, family.cells.len() as u64);
                for cell in &family.cells {
                    out.push(if cell.value.is_some() { HAS_VALUE } else { 0 } | if cell.replaced { REPLACED } else { 0 });
                    push_bytes(&mut out, cell.qualifier);
                    if let Some(value) = cell.value {
                        push_bytes(&mut out, value);
                    }
                }
            }
        }
        out.into()
    }
}

impl<'a> RowBeingBuilt<'a> {
    fn family(&mut self, family: FamilyId) -> &mut FamilyBeingBuilt<'a> {
        let at = self.families.iter().position(|known| known.family == family).unwrap_or_else(|| {
            self.families.push(FamilyBeingBuilt { family, cleared: false, cells: Vec::new() });
            self.families.len() - 1
        });
        &mut self.families[at]
    }

    fn apply(&mut self, table: &Table, mutation: &MutationRef<'a>) {
        match *mutation {
            MutationRef::Put { family, qualifier, value, .. } => self.family(family).set(qualifier, Some(value)),
            MutationRef::DeleteCell { family, qualifier, .. } => self.family(family).set(qualifier, None),
            MutationRef::DeleteFamily { family, .. } => self.family(family).clear(),
            MutationRef::DeleteRow { .. } => table.families.iter().for_each(|family| self.family(family.id).clear()),
        }
    }
}

impl<'a> FamilyBeingBuilt<'a> {
    fn set(&mut self, qualifier: &'a [u8], value: Option<&'a [u8]>) {
        match self.cells.binary_search_by(|cell| cell.qualifier.cmp(qualifier)) {
            Ok(at) => {
                let cell = &mut self.cells[at];
                cell.replaced |= cell.value.is_none();
                cell.value = value;
            }
            Err(at) => self.cells.insert(at, CellBeingBuilt { qualifier, value, replaced: false }),
        }
    }

    fn clear(&mut self) {
        self.cleared = true;
        self.cells.clear();
    }
}

fn push_varint(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    push_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// The rows of a body.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn decode(body: &Bytes) -> Result<Vec<RowChange>, String> {
    let mut rest = Reader(body.clone());
    let mut rows = Vec::new();
    while !rest.0.is_empty() {
        let whole = rest.0.clone();
        let table = TableId(rest.number()?);
        let key = rest.bytes()?;
        let mut families = Vec::new();
        for _ in 0..rest.number::<u16>()? {
            let family = FamilyId(rest.number()?);
            let cleared = rest.byte()? & CLEARED != 0;
            let mut cells = Vec::new();
            for _ in 0..rest.number::<u32>()? {
                let flags = rest.byte()?;
                let qualifier = rest.bytes()?;
                let value = if flags & HAS_VALUE != 0 { Some(rest.bytes()?) } else { None };
                cells.push(CellChange { qualifier, value, replaced: flags & REPLACED != 0 });
            }
            families.push(FamilyChange { family, cleared, cells });
        }
        let encoded = whole.slice(..whole.len() - rest.0.len());
        rows.push(RowChange { table, key, families, encoded });
    }
    Ok(rows)
}

/// Takes a body apart; what it gives are slices of it.
struct Reader(Bytes);

impl Reader {
    fn byte(&mut self) -> Result<u8, String> {
        self.0.try_get_u8().map_err(|_| "it ends early".to_owned())
    }

    fn number<N: TryFrom<u64>>(&mut self) -> Result<N, String> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return N::try_from(number).map_err(|_| format!("{number} is too large"));
            }
        }
        Err("a number is too long".to_owned())
    }

    fn bytes(&mut self) -> Result<Bytes, String> {
        let length: usize = self.number()?;
        if length > self.0.len() { Err("it ends early".to_owned()) } else { Ok(self.0.split_to(length)) }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn rows_come_back_as_they_were_encoded() {
        let long = vec![7; 300];
        let mut rows = RowsBeingBuilt::default();
        let (t, f, g) = (TableId(300), FamilyId(0), FamilyId(1000));
        let a = rows.row(t, b"a").family(f);
        a.set(b"", Some(b"1"));
        a.set(b"", Some(&long));
        let b = rows.row(t, b"").family(g);
        b.set(b"y", Some(b"gone"));
        b.clear();
        b.set(b"z", None);
        b.set(b"z", Some(b""));
        b.set(b"x", None);
        rows.row(t, b"a").family(g).set(b"q", None);
        let cell = |qualifier: &'static [u8], value: Option<&[u8]>, replaced| CellChange {
            qualifier: Bytes::from_static(qualifier),
            value: value.map(Bytes::copy_from_slice),
            replaced,
        };
        let expected = [
            RowChange {
                table: t,
                key: Bytes::from_static(b"a"),
                families: vec![
                    FamilyChange { family: f, cleared: false, cells: vec![cell(b"", Some(&long), false)] },
                    FamilyChange { family: g, cleared: false, cells: vec![cell(b"q", None, false)] },
                ],
                encoded: Bytes::new(),
            },
            RowChange {
                table: t,
                key: Bytes::new(),
                families: vec![FamilyChange {
                    family: g,
                    cleared: true,
                    cells: vec![cell(b"x", None, false), cell(b"z", Some(b""), true)],
                }],
                encoded: Bytes::new(),
            },
        ];
        let body = rows.encode();
        let decoded = decode(&body).unwrap();
        assert_eq!(decoded, expected.map(|row| RowChange { encoded: decoded[usize::from(row.key.is_empty())].encoded.clone(), ..row }));
        // Each row stands for itself.
        assert!(decoded.iter().all(|row| decode(&row.encoded).unwrap() == std::slice::from_ref(row)));
        for len in 1..body.len() {
            // What ends early is an error, or ends behind a row.
            assert!(decode(&body.slice(..len)).is_ok_and(|rows| rows == decoded[..1]) || decode(&body.slice(..len)).is_err());
        }
        assert!(decode(&Bytes::from_static(&[0xff; 12])).is_err());
    }
}

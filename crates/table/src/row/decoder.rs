//! Rows to columns: a sink that reads only the wanted columns, straight from the store's bytes.
//!
//! Invariant: every wanted column gets exactly one value per row; after an error nothing more is taken and the error is kept for
//! [`ScanDecoder::take_error`].

use super::builder::ColumnBuilder;
use super::corrupt;
use super::index::{INDEX_FAMILY, IndexCodec, ROW_KEY_COLUMN};
use super::key::{KeyCodec, KeyList, KeyPartCodec};
use super::named_cell::NamedCell;
use super::table::{Place, RowCodec, qualifier};
use super::types::key_is_lossless;
use crate::catalog::{ColumnId, Epoch};
use arrow::array::ArrayRef;
use std::ops::ControlFlow;
use std::sync::Arc;
use stoa_encoding::DecodeError;
use stoa_encoding::packed_row::{Cell, Projection};
use stoa_encoding::valueside::{TypeTag, decode_cell};
use stoa_pg::{PgError, PgResult, SqlState, SqlType};
use stoa_store::{CellRef, CellTest, Enough, FamilyId, Layout, RowSink};

/// A column as it is read: the id stays when a table is altered, the rest may change.
#[derive(Clone, PartialEq, Debug)]
pub struct ColumnKey {
    pub id: ColumnId,
    pub ty: SqlType,
    /// What a row without the column reads as.
    pub missing: Option<Arc<[u8]>>,
}

/// What a scan reads: a table or one of its indexes.
#[derive(Clone, Debug)]
pub enum ColumnSource {
    Table(Arc<RowCodec>),
    Index(Arc<IndexCodec>),
}

impl ColumnSource {
    /// How a column is read.
    #[must_use]
    pub fn column_key(&self, id: ColumnId) -> Option<ColumnKey> {
        match self {
            ColumnSource::Table(codec) => {
                let column = codec.column(id)?;
                Some(ColumnKey { id, ty: column.ty.clone(), missing: column.missing.clone() })
            }
            ColumnSource::Index(codec) => index_place(codec, id).map(|(ty, _)| ColumnKey { id, ty: ty.clone(), missing: None }),
        }
    }

    /// Where rows of the source are.
    #[must_use]
    pub fn storage(&self) -> stoa_store::TableId {
        match self {
            ColumnSource::Table(codec) => codec.storage,
            ColumnSource::Index(codec) => codec.storage,
        }
    }
}

/// A walk over the parts of a key: each part goes to a column or is passed over.
#[derive(Debug, Default)]
struct KeyWalk {
    /// Bytes before the first part.
    skip: usize,
    steps: Vec<(KeyPartCodec, Option<usize>)>,
}

impl KeyWalk {
    /// `slots` gives the column for a part; the walk ends behind the last one that has one, or goes to the end if `whole`.
    fn new(salted: bool, parts: &[KeyPartCodec], slots: impl Fn(usize, &KeyPartCodec) -> Option<usize>, whole: bool) -> Self {
        let mut steps: Vec<(KeyPartCodec, Option<usize>)> = parts.iter().enumerate().map(|(i, p)| (p.clone(), slots(i, p))).collect();
        while !whole && steps.last().is_some_and(|(_, slot)| slot.is_none()) {
            steps.pop();
        }
        Self { skip: usize::from(salted), steps }
    }

    #[inline]
    fn run<'k>(&self, key: &'k [u8], columns: &mut [ColumnBuilder], scratch: &mut Vec<u8>) -> PgResult<&'k [u8]> {
        let mut rest = key.get(self.skip..).ok_or_else(|| corrupt(DecodeError::Truncated { what: "key" }))?;
        for (part, slot) in &self.steps {
            rest = match slot.and_then(|slot| columns.get_mut(slot)) {
                Some(column) => part.decode(rest, column, scratch)?,
                None => part.part.skip(rest).map_err(corrupt)?,
            };
        }
        Ok(rest)
    }
}

/// What a missing column reads as.
type Missing = Option<Arc<[u8]>>;

#[derive(Debug)]
struct FamilyDecoder {
    id: FamilyId,
    layout: Layout,
    projection: Projection,
    /// By slot of the projection: the column and what it reads as where it is missing.
    slots: Vec<(usize, Missing)>,
    /// By slot, for layout cells.
    qualifiers: Vec<[u8; 2]>,
    /// By slot, where other programs read or write the cells.
    named: Option<Vec<NamedCell>>,
}

/// Where the data row's key is in an entry of an index.
#[derive(Debug)]
enum RowKeyPlace {
    /// The key itself: a table.
    Whole,
    /// Behind the index's parts.
    Suffix,
    /// In the cell: the slot of the projection.
    Cell(usize),
}

/// Bytes of cells from which on a batch is large enough, however few its rows.
const BATCH_BYTES: usize = 4 << 20;

/// Collects rows as columns.
#[derive(Debug)]
pub struct ScanDecoder {
    columns: Vec<ColumnBuilder>,
    /// From when timestamps count in what is read.
    epoch: Epoch,
    key: KeyWalk,
    /// The walk over the data row's key, in an entry of an index.
    row_key: Option<KeyWalk>,
    row_key_place: RowKeyPlace,
    families: Vec<FamilyDecoder>,
    keys: Option<KeyList>,
    /// The family without whose cells a row is not there: those of others may live longer.
    existence: Option<FamilyId>,
    /// Of a foreign table.
    is_foreign: bool,
    /// Of a foreign table, unless all of its columns are wanted: their cells.
    enough: Option<Arc<[Box<[u8]>]>>,
    /// What the rows are filtered by afterwards, as far as the bytes of cells tell.
    tests: Arc<[CellTest]>,
    rows: usize,
    max_rows: usize,
    /// Of the cells taken.
    bytes: usize,
    /// Of all that was read, keys included, for who explains.
    bytes_read: usize,
    scratch: Vec<u8>,
    error: Option<PgError>,
}

/// Where a column's values come from while decoding.
enum Wanted {
    KeyPart(usize),
    RowKeyPart(usize),
    Cell { family: usize, column: ColumnId, missing: Missing },
}

impl ScanDecoder {
    /// A decoder of these columns, in this order, with the type of each.
    ///
    /// # Errors
    /// The source does not have a column.
    pub fn new(source: &ColumnSource, columns: &[ColumnId], rows: usize) -> PgResult<Self> {
        match source {
            ColumnSource::Table(codec) => Self::for_table(codec, columns, rows),
            ColumnSource::Index(codec) => Self::for_index(codec, columns, rows),
        }
    }

    fn for_table(codec: &RowCodec, wanted: &[ColumnId], rows: usize) -> PgResult<Self> {
        let mut builders = Vec::with_capacity(wanted.len());
        let mut places = Vec::with_capacity(wanted.len());
        for id in wanted {
            let column = codec.column(*id).ok_or_else(|| PgError::internal(format!("column {} is not stored", id.0)))?;
            builders.push(match codec.named_cell(*id) {
                Some(cell) => cell.builder(rows)?,
                None => ColumnBuilder::new(&column.ty, rows)?,
            });
            places.push(match column.place {
                Place::Key(n) => Wanted::KeyPart(n),
                Place::Family(family) => Wanted::Cell { family, column: *id, missing: column.missing.clone() },
            });
        }
        let key = key_walk(&codec.key, &places, codec.is_foreign);
        let mut families = Vec::new();
        for (at, family) in codec.families.iter().enumerate() {
            let mut decoder = family_decoder(family.id, family.layout, at, &places, None);
            if family.named.is_some() {
                let cell = |id: &u32| {
                    let found = codec.named_cell(ColumnId(*id)).cloned();
                    found.ok_or_else(|| PgError::internal(format!("column {id} has no cell")))
                };
                decoder.named = Some(decoder.projection.column_ids().iter().map(cell).collect::<PgResult<_>>()?);
            }
            // The first family says whether the row exists.
            if at == 0 || !decoder.slots.is_empty() {
                families.push(decoder);
            }
        }
        let named = families.first().and_then(|family| family.named.as_ref()).filter(|_| codec.is_foreign);
        let some = named.filter(|named| codec.families.first().is_some_and(|family| named.len() < family.columns.len()));
        let enough = some.map(|named| named.iter().map(|cell| cell.qualifier.clone()).collect());
        Ok(Self {
            columns: builders,
            epoch: codec.epoch,
            key,
            row_key: None,
            row_key_place: RowKeyPlace::Whole,
            families,
            keys: None,
            existence: codec.families.first().map(|family| family.id),
            is_foreign: codec.is_foreign,
            enough,
            tests: Arc::default(),
            rows: 0,
            max_rows: rows,
            bytes: 0,
            bytes_read: 0,
            scratch: Vec::new(),
            error: None,
        })
    }

    fn for_index(codec: &IndexCodec, wanted: &[ColumnId], rows: usize) -> PgResult<Self> {
        let mut builders = Vec::with_capacity(wanted.len());
        let mut places = Vec::with_capacity(wanted.len());
        for id in wanted {
            let (ty, place) = index_place(codec, *id).ok_or_else(|| PgError::internal(format!("column {} is not in the index", id.0)))?;
            builders.push(ColumnBuilder::new(ty, rows)?);
            places.push(place);
        }
        let row_key_wanted = places.iter().any(|p| matches!(p, Wanted::RowKeyPart(_)));
        let in_suffix = !codec.unique;
        let key = KeyWalk::new(
            codec.salt.is_some(),
            &codec.parts,
            |n, _| places.iter().position(|p| matches!(p, Wanted::KeyPart(m) if *m == n)),
            in_suffix && row_key_wanted,
        );
        let row_key = row_key_wanted.then(|| {
            KeyWalk::new(
                codec.row_key.salt.is_some(),
                &codec.row_key.parts,
                |n, _| places.iter().position(|p| matches!(p, Wanted::RowKeyPart(m) if *m == n)),
                false,
            )
        });
        let (decoder, place) = if in_suffix {
            (family_decoder(INDEX_FAMILY, Layout::Packed, 0, &places, None), RowKeyPlace::Suffix)
        } else {
            let decoder = family_decoder(INDEX_FAMILY, Layout::Packed, 0, &places, row_key_wanted.then_some(ROW_KEY_COLUMN));
            let slot = decoder.slots.len();
            (decoder, RowKeyPlace::Cell(slot))
        };
        Ok(Self {
            columns: builders,
            epoch: codec.epoch,
            key,
            row_key,
            row_key_place: place,
            families: vec![decoder],
            keys: None,
            existence: None,
            is_foreign: false,
            enough: None,
            tests: Arc::default(),
            rows: 0,
            max_rows: rows,
            bytes: 0,
            bytes_read: 0,
            scratch: Vec::new(),
            error: None,
        })
    }

    /// Also collects the key of each data row: for an index, the key it points to.
    ///
    /// # Errors
    /// None at present; the signature leaves room.
    pub fn collect_row_keys(mut self, source: &ColumnSource) -> PgResult<Self> {
        self.keys = Some(KeyList::new());
        if let ColumnSource::Index(codec) = source {
            match self.row_key_place {
                RowKeyPlace::Suffix => {
                    // The walk must end where the row key begins.
                    let have = self.key.steps.len();
                    self.key.steps.extend(codec.parts.iter().skip(have).map(|p| (p.clone(), None)));
                }
                RowKeyPlace::Cell(slot) => {
                    if let Some(family) = self.families.first_mut()
                        && family.projection.column_ids().len() == slot
                    {
                        let mut ids = family.projection.column_ids().to_vec();
                        ids.push(ROW_KEY_COLUMN);
                        family.projection = Projection::new(ids);
                    }
                }
                RowKeyPlace::Whole => {}
            }
        }
        Ok(self)
    }

    /// The families that the read must ask for.
    #[must_use]
    pub fn families(&self) -> Vec<FamilyId> {
        self.families.iter().map(|f| f.id).collect()
    }

    /// Whether keys say all that is wanted: a row may be given without cells.
    #[must_use]
    pub fn is_of_keys(&self) -> bool {
        self.families.iter().all(|f| f.slots.is_empty())
    }

    /// Rows taken since the last [`ScanDecoder::finish`].
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many rows a batch may have. Without a limit a batch may have any number of bytes as well.
    pub fn set_max_rows(&mut self, rows: usize) {
        self.max_rows = rows;
    }

    /// Rows that do not pass these need not be given to it: a filter drops them afterwards.
    pub fn set_tests(&mut self, tests: &Arc<[CellTest]>) {
        self.tests = Arc::clone(tests);
    }

    #[must_use]
    pub fn is_full(&self) -> bool {
        self.rows >= self.max_rows || (self.bytes >= BATCH_BYTES && self.max_rows != usize::MAX)
    }

    /// The error that ended the scan, if one did.
    pub fn take_error(&mut self) -> Option<PgError> {
        self.error.take()
    }

    /// Bytes of keys and values that were read since this was asked last.
    pub fn take_bytes_read(&mut self) -> usize {
        std::mem::take(&mut self.bytes_read)
    }

    /// The columns so far; the decoder is empty afterwards.
    ///
    /// # Errors
    /// What a row gave while it was read.
    pub fn finish(&mut self) -> PgResult<Vec<ArrayRef>> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        (self.rows, self.bytes) = (0, 0);
        let epoch = self.epoch;
        self.columns.iter_mut().map(|column| column.finish_in(epoch)).collect()
    }

    /// The row keys collected since the last call.
    pub fn take_keys(&mut self) -> KeyList {
        self.keys.as_mut().map(std::mem::take).unwrap_or_default()
    }

    #[inline]
    fn decode(&mut self, key: &[u8], cells: &[CellRef<'_>]) -> PgResult<()> {
        let Self { columns, key: walk, row_key, row_key_place, families, keys, is_foreign, scratch, .. } = self;
        let suffix = match walk.run(key, columns, scratch) {
            // Keys that other programs wrote are theirs.
            Err(_) if *is_foreign => return Err(misfit(key)),
            Ok(suffix) if *is_foreign && !suffix.is_empty() => return Err(misfit(key)),
            suffix => suffix?,
        };
        let mut pointed: Option<&[u8]> = match row_key_place {
            RowKeyPlace::Whole => Some(key),
            RowKeyPlace::Suffix => Some(suffix),
            RowKeyPlace::Cell(_) => None,
        };
        let mut rest = cells;
        for family in families.iter_mut() {
            // Cells come in the order in which families were asked for.
            let end = rest.iter().position(|c| c.family != family.id).unwrap_or(rest.len());
            let (own, after) = rest.split_at(end);
            rest = after;
            if let Some(named) = &family.named {
                for ((slot, _), cell) in family.slots.iter().zip(named) {
                    let Some(column) = columns.get_mut(*slot) else { continue };
                    match own.iter().find(|c| c.qualifier == &*cell.qualifier) {
                        Some(found) => cell
                            .encoding
                            .decode(&cell.ty, &cell.name, found.value, column)
                            .map_err(|error| if *is_foreign { error } else { damaged(&error) })?,
                        None => column.push_null(),
                    }
                }
                continue;
            }
            match family.layout {
                Layout::Packed => {
                    let Some(cell) = own.first() else {
                        for (slot, missing) in &family.slots {
                            push_missing(columns, *slot, missing)?;
                        }
                        continue;
                    };
                    if family.projection.column_ids().is_empty() {
                        continue;
                    }
                    let view = family.projection.view(cell.value).map_err(corrupt)?;
                    for (at, (slot, missing)) in family.slots.iter().enumerate() {
                        match view.get(at).map_err(corrupt)? {
                            Cell::Value(body) => {
                                if let Some(column) = columns.get_mut(*slot) {
                                    column.push_body(body)?;
                                }
                            }
                            Cell::Null => {
                                if let Some(column) = columns.get_mut(*slot) {
                                    column.push_null();
                                }
                            }
                            Cell::Absent => push_missing(columns, *slot, missing)?,
                        }
                    }
                    if let RowKeyPlace::Cell(slot) = row_key_place
                        && let Cell::Value(body) = view.get(*slot).map_err(corrupt)?
                    {
                        pointed = Some(body);
                    }
                }
                Layout::Cells => {
                    for ((slot, missing), qualifier) in family.slots.iter().zip(&family.qualifiers) {
                        match own.iter().find(|c| c.qualifier == qualifier) {
                            None => push_missing(columns, *slot, missing)?,
                            Some(cell) => {
                                let (tag, body) = decode_cell(cell.value).map_err(corrupt)?;
                                let Some(column) = columns.get_mut(*slot) else { continue };
                                if tag == TypeTag::Null { column.push_null() } else { column.push_body(body)? }
                            }
                        }
                    }
                }
            }
        }
        if let Some(walk) = row_key {
            let pointed = pointed.ok_or_else(|| corrupt(DecodeError::Truncated { what: "index entry" }))?;
            walk.run(pointed, columns, scratch)?;
        }
        if let Some(keys) = keys {
            keys.push(pointed.ok_or_else(|| corrupt(DecodeError::Truncated { what: "index entry" }))?);
        }
        Ok(())
    }
}

impl RowSink for ScanDecoder {
    #[inline]
    fn row(&mut self, key: &[u8], cells: &[CellRef<'_>]) -> ControlFlow<()> {
        if self.error.is_some() {
            return ControlFlow::Break(());
        }
        // Cells come in the order in which families were asked for.
        if self.existence.is_some_and(|family| cells.first().is_none_or(|cell| cell.family != family)) {
            return ControlFlow::Continue(());
        }
        self.take(key, cells)
    }

    fn enough(&self) -> Enough {
        Enough { cells: self.enough.clone(), rows: None, tests: Arc::clone(&self.tests) }
    }
}

impl ScanDecoder {
    /// A row that is known to be there, and of which the key is all that is wanted.
    pub fn known(&mut self, key: &[u8]) -> ControlFlow<()> {
        self.take(key, &[])
    }

    #[inline]
    fn take(&mut self, key: &[u8], cells: &[CellRef<'_>]) -> ControlFlow<()> {
        match self.decode(key, cells) {
            Ok(()) => {
                self.rows += 1;
                let bytes = cells.iter().map(|c| c.value.len()).sum::<usize>();
                self.bytes += bytes;
                self.bytes_read += key.len() + bytes;
                if self.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            }
            Err(error) => {
                self.error = Some(error);
                ControlFlow::Break(())
            }
        }
    }
}

#[inline]
fn push_missing(columns: &mut [ColumnBuilder], slot: usize, missing: &Missing) -> PgResult<()> {
    if let Some(column) = columns.get_mut(slot) {
        match missing {
            None => column.push_null(),
            Some(body) => column.push_body(body)?,
        }
    }
    Ok(())
}

/// A cell of a table's own that holds no value of its column.
#[cold]
fn damaged(error: &PgError) -> PgError {
    PgError::new(SqlState::DATA_CORRUPTED, error.message().to_owned())
        .hint("Other programs may read the cells of the table, and must not write them.")
}

/// A row key that is not of a foreign table's format.
#[cold]
fn misfit(key: &[u8]) -> PgError {
    let shown: String = key.iter().take(64).map(|b| format!("\\x{b:02X}")).collect();
    PgError::new(SqlState::INVALID_BINARY_REPRESENTATION, format!("the row key {shown} is not of the foreign table's key format"))
        .hint("Another key_format may fit, or a filter that leaves such rows out; stoa inspect shows what keys there are.")
}

fn key_walk(key: &KeyCodec, places: &[Wanted], whole: bool) -> KeyWalk {
    KeyWalk::new(key.salt.is_some(), &key.parts, |n, _| places.iter().position(|p| matches!(p, Wanted::KeyPart(m) if *m == n)), whole)
}

/// Where an index entry has a column, and its type.
fn index_place(codec: &IndexCodec, id: ColumnId) -> Option<(&SqlType, Wanted)> {
    if let Some((_, ty)) = codec.values.iter().find(|(c, _)| *c == id) {
        return Some((ty, Wanted::Cell { family: 0, column: id, missing: None }));
    }
    if let Some(n) = codec.parts.iter().position(|p| p.column == id && key_is_lossless(&p.ty)) {
        return codec.parts.get(n).map(|p| (&p.ty, Wanted::KeyPart(n)));
    }
    let n = codec.row_key.parts.iter().position(|p| p.source == id && p.gives_back())?;
    codec.row_key.parts.get(n).map(|p| (&p.ty, Wanted::RowKeyPart(n)))
}

fn family_decoder(id: FamilyId, layout: Layout, at: usize, places: &[Wanted], row_key: Option<u32>) -> FamilyDecoder {
    let mut ids = Vec::new();
    let mut slots = Vec::new();
    let mut qualifiers = Vec::new();
    for (slot, place) in places.iter().enumerate() {
        if let Wanted::Cell { family, column, missing } = place
            && *family == at
        {
            ids.push(column.0);
            slots.push((slot, missing.clone()));
            qualifiers.push(qualifier(*column));
        }
    }
    ids.extend(row_key);
    FamilyDecoder { id, layout, projection: Projection::new(ids), slots, qualifiers, named: None }
}

//! How the rows of a table are stored: its key, its families, and where each column lies.

use super::key::{KeyCodec, KeyColumn, KeyList, check_key_len, encode_key};
use super::named_cell::{CellValues, NamedCell};
use super::raw::RowOfCells;
use super::raw::cell::{self, CellKind};
use super::raw::clock;
use super::types::{type_tag, value_kind};
use super::unencodable;
use super::value::ValueColumn;
use crate::catalog::{CELLS, ColumnDescriptor, ColumnId, Epoch, FamilyDescriptor, Mapping, TableDescriptor};
use arrow::array::ArrayRef;
use hashbrown::HashMap;
use parking_lot::Mutex;
use std::sync::{Arc, LazyLock, Weak};
use stoa_encoding::packed_row::{RowBuilder, RowShape};
use stoa_encoding::valueside::{TypeTag, encode_cell, lengthen_decimal};
use stoa_pg::{EvalContext, PgError, PgResult, SqlState, SqlType};
use stoa_store::{FamilyId, FamilySchema, Layout, TableId, TableSchema};

/// Where a column's value is read from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The n-th part of the key.
    Key(usize),
    /// A column of the n-th family.
    Family(usize),
}

/// A column as it is stored.
#[derive(Clone, Debug)]
pub struct StoredColumn {
    pub ty: SqlType,
    pub place: Place,
    /// The body that a row without the column stands for; `None` is NULL.
    pub missing: Option<Arc<[u8]>>,
}

/// One family of a table.
#[derive(Clone, Debug)]
pub struct FamilyCodec {
    pub id: FamilyId,
    pub layout: Layout,
    /// By ascending id: what its cells hold.
    pub columns: Vec<(ColumnId, SqlType)>,
    pub shape: Arc<RowShape>,
    /// By column, where other programs read or write the cells.
    pub named: Option<Arc<[NamedCell]>>,
}

/// All that is needed to write and read rows of one version of a table.
#[derive(Debug)]
pub struct RowCodec {
    pub storage: TableId,
    pub key: KeyCodec,
    /// The first one always has a cell.
    pub families: Vec<FamilyCodec>,
    /// From when timestamps count.
    pub epoch: Epoch,
    /// Whether rows are those of another program's table, or of a raw one.
    pub is_foreign: bool,
    columns: HashMap<ColumnId, StoredColumn>,
}

/// The qualifier of the empty cell that each row has in a first family with layout cells: no column is called so.
const MARKER: &[u8] = &[];

/// The qualifier of a column in a family with layout cells.
#[must_use]
pub fn qualifier(column: ColumnId) -> [u8; 2] {
    // PostgreSQL's limit of 1600 columns, and ours, is below 2¹⁶.
    (column.0 as u16).to_be_bytes()
}

static CACHE: LazyLock<Mutex<HashMap<usize, (Weak<TableDescriptor>, Arc<RowCodec>)>>> = LazyLock::new(Mutex::default);

impl RowCodec {
    /// # Errors
    /// A column has a type that cannot be stored.
    pub fn new(table: &TableDescriptor) -> PgResult<Self> {
        let key = KeyCodec::new(table)?;
        let mut columns = HashMap::with_capacity(table.columns.len());
        for (at, part) in key.parts.iter().enumerate().filter(|(_, part)| part.form.gives_back()) {
            columns.insert(part.source, StoredColumn { ty: part.ty.clone(), place: Place::Key(at), missing: None });
        }
        let mut families = Vec::with_capacity(table.families.len());
        for (at, family) in table.families.iter().enumerate() {
            let members = members(table, &key, at, family);
            let mut shape = Vec::with_capacity(members.len());
            for column in &members {
                shape.push((column.id.0, value_kind(&column.ty)?));
                let missing = column.missing.as_deref().map(|text| missing_body(table.epoch, &column.ty, text)).transpose()?;
                columns.insert(column.id, StoredColumn { ty: column.ty.clone(), place: Place::Family(at), missing });
            }
            let named = match &table.mapping {
                Some(mapping) => Some(members.iter().map(|c| mapped_cell(mapping, c)).collect::<PgResult<_>>()?),
                None if family.plain => Some(members.iter().map(|c| NamedCell::plain(c)).collect::<PgResult<_>>()?),
                None => None,
            };
            families.push(FamilyCodec {
                id: family.id,
                layout: family.options.layout,
                columns: members.iter().map(|c| (c.id, c.ty.clone())).collect(),
                shape: Arc::new(RowShape::new(shape).map_err(unencodable)?),
                named,
            });
        }
        if families.is_empty() {
            return Err(PgError::internal(format!("table \"{}\" has no column family", table.name)));
        }
        Ok(Self { storage: table.storage, key, families, epoch: table.epoch, is_foreign: table.mapping.is_some(), columns })
    }

    /// The cell of a column, where other programs read or write it.
    #[must_use]
    pub fn named_cell(&self, id: ColumnId) -> Option<&NamedCell> {
        let Place::Family(at) = self.columns.get(&id)?.place else { return None };
        let family = self.families.get(at)?;
        family.named.as_ref()?.get(family.columns.iter().position(|(column, _)| *column == id)?)
    }

    /// The codec of a descriptor, made once for as long as the descriptor lives.
    ///
    /// # Errors
    /// As [`RowCodec::new`].
    pub fn of(table: &Arc<TableDescriptor>) -> PgResult<Arc<Self>> {
        const SWEEP_AT: usize = 1024;
        let address = Arc::as_ptr(table) as usize;
        if let Some((owner, codec)) = CACHE.lock().get(&address)
            && owner.upgrade().is_some_and(|owner| Arc::ptr_eq(&owner, table))
        {
            return Ok(Arc::clone(codec));
        }
        let codec = Arc::new(Self::new(table)?);
        let mut cache = CACHE.lock();
        if cache.len() >= SWEEP_AT {
            cache.retain(|_, (owner, _)| owner.strong_count() > 0);
        }
        cache.insert(address, (Arc::downgrade(table), Arc::clone(&codec)));
        Ok(codec)
    }

    /// The row keys of those of `rows` rows that are `present`, or of all; `columns` are the key's columns, each once.
    ///
    /// # Errors
    /// A key column is NULL or of another type.
    pub fn encode_keys(&self, columns: &[ArrayRef], rows: usize, present: Option<&[bool]>) -> PgResult<KeyList> {
        let array = |column: ColumnId| self.key.columns.iter().position(|c| *c == column).and_then(|at| columns.get(at));
        let missing = || PgError::internal("a row without a column of its key");
        let opened = self.key.parts.iter().map(|part| part.open(array(part.source).ok_or_else(missing)?)).collect::<PgResult<Vec<_>>>()?;
        let mut keys = KeyList::with_capacity(rows, 16);
        for row in (0..rows).filter(|row| present.is_none_or(|present| present.get(*row).copied().unwrap_or(false))) {
            keys.push_with(|out| self.key.encode(&opened, row, out))?;
        }
        Ok(keys)
    }

    #[must_use]
    pub fn column(&self, id: ColumnId) -> Option<&StoredColumn> {
        self.columns.get(&id)
    }

    /// What the store must be told to create the table.
    #[must_use]
    pub fn table_schema(table: &TableDescriptor) -> TableSchema {
        TableSchema {
            id: table.storage,
            name: table.name.clone(),
            families: table.families.iter().map(|f| FamilySchema { id: f.id, name: f.name.clone(), options: f.options.clone() }).collect(),
            split_points: table.split_points.clone(),
        }
    }
}

/// The columns whose values are in cells of a family, the n-th one: its own, and of the first one those of the key that keys do not give back.
fn members<'t>(table: &'t TableDescriptor, key: &KeyCodec, at: usize, family: &FamilyDescriptor) -> Vec<&'t ColumnDescriptor> {
    let own = family.columns.iter().filter_map(|id| table.column(*id));
    let mut out: Vec<_> = own.filter(|c| !c.dropped && !c.is_map() && key.position(c.id).is_none()).collect();
    if at == 0 {
        out.extend(table.key_columns().filter(|p| !key.gives_back(p.column)).filter_map(|p| table.column(p.column)));
    }
    out.sort_by_key(|c| c.id);
    out
}

/// The columns of each family with plain values.
///
/// # Errors
/// The key has a type that no key has.
pub fn plain_columns(table: &TableDescriptor) -> PgResult<Vec<(&FamilyDescriptor, Vec<ColumnId>)>> {
    let mut families = table.families.iter().enumerate().filter(|(_, family)| family.plain).peekable();
    if families.peek().is_none() {
        return Ok(Vec::new());
    }
    let key = KeyCodec::new(table)?;
    Ok(families.map(|(at, family)| (family, members(table, &key, at, family).iter().map(|c| c.id).collect())).collect())
}

fn mapped_cell(mapping: &Mapping, column: &ColumnDescriptor) -> PgResult<NamedCell> {
    let place = NamedCell::of(&mapping.columns, column.id);
    let place = place.ok_or_else(|| PgError::internal(format!("column {} is not mapped", column.id.0)))?;
    Ok(NamedCell::of_raw(&column.name, &column.ty, place))
}

/// The body of a value given as text, as rows that lack the column have it.
fn missing_body(epoch: Epoch, ty: &SqlType, text: &str) -> PgResult<Arc<[u8]>> {
    let mut builder = stoa_pg::values::builder(ty)?;
    builder.text(&EvalContext::default(), text)?;
    let column = ValueColumn::new(ty, &epoch.to_stored(&builder.finish()?)?)?;
    let mut body = Vec::new();
    column.append(0, &mut body)?;
    Ok(body.into())
}

/// What a batch has for a family, by its columns; `None` where it has no such column: NULL.
#[derive(Debug)]
enum FamilyValues {
    Own(Vec<Option<ValueColumn>>),
    Named(Vec<Option<CellValues>>),
}

/// Encodes rows of one batch.
#[derive(Debug)]
pub struct RowEncoder<'a> {
    codec: &'a RowCodec,
    key: Vec<KeyColumn>,
    /// By family.
    families: Vec<FamilyValues>,
    /// No row with these keys is there.
    new_rows: bool,
    /// Of a foreign table: the columns to write, if not all.
    assigned: Option<Vec<bool>>,
    /// Of a foreign table: what each row has already.
    there: Vec<RowOfCells>,
    builder: RowBuilder,
    scratch: Vec<u8>,
}

impl<'a> RowEncoder<'a> {
    /// Opens the columns of a batch. All key columns must be there; `column` gives the batch's column by id.
    ///
    /// # Errors
    /// A key column is missing, or a column is of another type than the table's.
    pub fn new(codec: &'a RowCodec, column: impl Fn(ColumnId) -> Option<ArrayRef>) -> PgResult<Self> {
        let key = codec
            .key
            .parts
            .iter()
            .map(|part| {
                let array = column(part.source).ok_or_else(|| PgError::internal("a key column is missing from the rows to write"))?;
                part.open(&array)
            })
            .collect::<PgResult<Vec<_>>>()?;
        let families = codec
            .families
            .iter()
            .map(|family| match &family.named {
                Some(named) => {
                    let open = |(cell, (id, _)): (&NamedCell, &(ColumnId, SqlType))| {
                        column(*id).map(|array| CellValues::new(cell, codec.epoch, &array)).transpose()
                    };
                    named.iter().zip(&family.columns).map(open).collect::<PgResult<_>>().map(FamilyValues::Named)
                }
                None => {
                    let open = |(id, ty): &(ColumnId, SqlType)| {
                        column(*id).map(|array| ValueColumn::new(ty, &codec.epoch.to_stored(&array)?)).transpose()
                    };
                    family.columns.iter().map(open).collect::<PgResult<_>>().map(FamilyValues::Own)
                }
            })
            .collect::<PgResult<Vec<_>>>()?;
        Ok(Self {
            codec,
            key,
            families,
            new_rows: false,
            assigned: None,
            there: Vec::new(),
            builder: RowBuilder::new(),
            scratch: Vec::new(),
        })
    }

    /// No rows with the keys of these are there: NULLs have nothing to take away.
    pub fn of_new_rows(&mut self) {
        self.new_rows = true;
    }

    /// Others than these columns keep the cells that they have, where each has its own under another program's rules.
    pub fn of_columns(&mut self, assigned: impl Fn(ColumnId) -> bool) {
        if let Some(family) = self.codec.families.first().filter(|_| self.codec.is_foreign) {
            self.assigned = Some(family.columns.iter().map(|(id, _)| assigned(*id)).collect());
        }
    }

    /// What the rows have already, by row, under the rules of another program: values are written behind what would hide them.
    pub fn over(&mut self, there: Vec<RowOfCells>) {
        self.there = there;
    }

    /// Appends the row key.
    ///
    /// # Errors
    /// A key column is NULL, or the key is too long.
    pub fn key(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        let from = out.len();
        encode_key(&self.codec.key.parts, self.codec.key.salt.as_ref(), &self.key, row, out)?;
        check_key_len(out.get(from..).unwrap_or_default())
    }

    #[must_use]
    pub fn key_columns(&self) -> &[KeyColumn] {
        &self.key
    }

    /// Calls `put(family, qualifier, value)` for each cell of the row; `None` removes a cell that an older row may have.
    /// `wanted` says which families to write, by position.
    ///
    /// # Errors
    /// A value cannot be stored.
    pub fn cells(
        &mut self,
        row: usize,
        wanted: impl Fn(usize) -> bool,
        mut put: impl FnMut(FamilyId, &[u8], Option<&[u8]>) -> PgResult<()>,
    ) -> PgResult<()> {
        for (at, (family, values)) in self.codec.families.iter().zip(&self.families).enumerate() {
            if !wanted(at) {
                continue;
            }
            let columns = match (values, &family.named) {
                (FamilyValues::Own(columns), _) => columns,
                (FamilyValues::Named(values), Some(cells)) if self.codec.is_foreign => {
                    let there = self.there.get(row).ok_or_else(|| PgError::internal("cells of a row that was not looked for"))?;
                    mapped_cells(cells, values, self.assigned.as_deref(), row, self.new_rows, there, &mut put)?;
                    continue;
                }
                (FamilyValues::Named(values), Some(cells)) => {
                    if at == 0 {
                        put(family.id, MARKER, Some(&[]))?;
                    }
                    for (cell, column) in cells.iter().zip(values) {
                        self.scratch.clear();
                        let present = column.as_ref().map_or(Ok(false), |column| column.append(row, &mut self.scratch))?;
                        put(family.id, &cell.qualifier, present.then_some(&self.scratch))?;
                    }
                    continue;
                }
                (FamilyValues::Named(_), None) => return Err(PgError::internal("values of cells without names")),
            };
            match family.layout {
                Layout::Packed => {
                    self.builder.start(&family.shape);
                    for column in columns {
                        match column {
                            Some(column) => column.push(row, &mut self.builder, &mut self.scratch)?,
                            None => self.builder.push_null(),
                        }
                    }
                    self.scratch.clear();
                    self.builder.finish(&mut self.scratch).map_err(unencodable)?;
                    put(family.id, &[], Some(&self.scratch))?;
                }
                Layout::Cells => {
                    if at == 0 {
                        // The row exists even if all its columns are NULL.
                        put(family.id, MARKER, Some(&[]))?;
                    }
                    for ((id, ty), column) in family.columns.iter().zip(columns) {
                        let column = column.as_ref().filter(|c| !c.is_null(row));
                        let has_default = self.codec.column(*id).is_some_and(|c| c.missing.is_some());
                        self.scratch.clear();
                        match column {
                            Some(column) => {
                                let mut body = Vec::new();
                                column.append(row, &mut body)?;
                                widen_decimal(ty, &mut body);
                                encode_cell(&mut self.scratch, type_tag(&ty.ty, &ty.arrow)?, &body).map_err(unencodable)?;
                                put(family.id, &qualifier(*id), Some(&self.scratch))?;
                            }
                            None if has_default => {
                                encode_cell(&mut self.scratch, TypeTag::Null, &[]).map_err(unencodable)?;
                                put(family.id, &qualifier(*id), Some(&self.scratch))?;
                            }
                            None => put(family.id, &qualifier(*id), None)?,
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The columns of the families, for text forms of rows.
    #[must_use]
    pub fn codec(&self) -> &RowCodec {
        self.codec
    }
}

/// The cells of a row of a foreign table: values are put, NULLs hide what was there.
fn mapped_cells(
    cells: &[NamedCell],
    values: &[Option<CellValues>],
    assigned: Option<&[bool]>,
    row: usize,
    new_row: bool,
    there: &RowOfCells,
    mut put: impl FnMut(FamilyId, &[u8], Option<&[u8]>) -> PgResult<()>,
) -> PgResult<()> {
    let mut value = Vec::new();
    let mut has_value = false;
    let mut hidden: Vec<&NamedCell> = Vec::new();
    let now = clock::time_of_put();
    for (at, (cell, column)) in cells.iter().zip(values).enumerate() {
        if assigned.is_some_and(|assigned| assigned.get(at) == Some(&false)) {
            continue;
        }
        value.clear();
        let present = match column {
            Some(column) => column.append(row, &mut value)?,
            None => false,
        };
        if present {
            has_value = true;
            put(CELLS, &cell::qualifier(&cell.qualifier, there.time_of_put(cell, now)?, CellKind::Put), Some(&value))?;
        } else if !new_row {
            hidden.push(cell);
            put(CELLS, &cell::qualifier(&cell.qualifier, there.time_of_delete(cell), CellKind::DeleteColumn), Some(&[]))?;
        }
    }
    if has_value || there.has_others(&hidden) {
        return Ok(());
    }
    let error = PgError::new(SqlState::NOT_NULL_VIOLATION, "a row of a foreign table has a value beside its key")
        .detail("A raw table has no rows without cells.");
    Err(if new_row { error } else { error.hint("DELETE removes a row.") })
}

/// Cells hold decimals of any precision in 16 bytes.
fn widen_decimal(ty: &SqlType, body: &mut Vec<u8>) {
    if matches!(ty.arrow, arrow::datatypes::DataType::Decimal128(..))
        && let Ok(short) = <[u8; 8]>::try_from(body.as_slice())
    {
        *body = lengthen_decimal(i64::from_le_bytes(short)).to_le_bytes().to_vec();
    }
}

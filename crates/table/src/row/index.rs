//! Index entries: keys that sort as the index is declared, and what a covered scan needs beside them.
//!
//! ```text
//! key    salt? | tag part | … | row key        row key: absent when the index is unique and the entry is the only one of its
//!                                              parts (no part is NULL, or NULLS NOT DISTINCT)
//! cell   packed row: 0 = row key (only unique indexes) | columns by id
//! ```
//!
//! Invariant: two rows that a unique index forbids beside each other have entries with one key.

use super::key::{KeyCodec, KeyColumn, KeyPartCodec, SaltCodec, check_key_len, encode_key, null_order};
use super::types::{key_is_lossless, part_kind, value_kind};
use super::unencodable;
use super::value::ValueColumn;
use crate::catalog::{ColumnId, Epoch, IndexDescriptor, IndexKey, TableDescriptor};
use arrow::array::ArrayRef;
use std::sync::Arc;
use stoa_encoding::keyside::{Direction, KeyLayout, KeyPart, SaltBuckets};
use stoa_encoding::packed_row::{RowBuilder, RowShape, ValueKind};
use stoa_pg::{PgError, PgResult, SqlType};
use stoa_store::{FamilyId, FamilyOptions, FamilySchema, TableId, TableSchema};

/// The one family of index tables.
pub const INDEX_FAMILY: FamilyId = FamilyId(0);

/// The column of an index cell that holds the row key.
pub const ROW_KEY_COLUMN: u32 = 0;

/// How the entries of an index are stored.
#[derive(Clone, Debug)]
pub struct IndexCodec {
    pub storage: TableId,
    pub unique: bool,
    pub nulls_not_distinct: bool,
    /// The index's own parts; the column of a part that is an expression is [`expression_column`].
    pub parts: Vec<KeyPartCodec>,
    /// Of `parts` alone.
    pub layout: KeyLayout,
    pub salt: Option<SaltCodec>,
    /// How the row key in an entry is cut.
    pub row_key: KeyCodec,
    /// Columns in the cell, by ascending id.
    pub values: Vec<(ColumnId, SqlType)>,
    pub shape: Arc<RowShape>,
    /// From when timestamps count.
    pub epoch: Epoch,
}

/// What stands for an index's part that is an expression: an id that no column has.
#[must_use]
pub fn expression_column(index: &IndexDescriptor, part: usize) -> ColumnId {
    /// Columns of tables are numbered from 1; the score of a search is the largest id.
    const FIRST: u32 = 0x8000_0000;
    // An index has 32 parts at most.
    ColumnId(FIRST | (index.storage.0 & 0x00ff_ffff) << 5 | (part as u32 & 31))
}

impl IndexCodec {
    /// # Errors
    /// A part has a type without an order.
    pub fn new(table: &TableDescriptor, index: &IndexDescriptor) -> PgResult<Self> {
        let mut parts = Vec::with_capacity(index.parts.len());
        let mut values: Vec<(ColumnId, SqlType)> = Vec::new();
        for (at, part) in index.parts.iter().enumerate() {
            let direction = if part.descending { Direction::Desc } else { Direction::Asc };
            let column = match &part.key {
                IndexKey::Column(id) => *id,
                IndexKey::Expr(_) => expression_column(index, at),
            };
            if matches!(part.key, IndexKey::Column(_)) && !key_is_lossless(&part.ty) {
                values.push((column, part.ty.clone()));
            }
            let key_part = KeyPart::nullable(part_kind(&part.ty)?, direction, null_order(part.nulls_first));
            parts.push(KeyPartCodec::of_value(column, part.ty.clone(), key_part, table.epoch));
        }
        let row_key = KeyCodec::new(table)?;
        for id in &index.include {
            if let Some(column) = table.column(*id) {
                values.push((*id, column.ty.clone()));
            }
        }
        values.sort_by_key(|(id, _)| *id);
        values.dedup_by_key(|(id, _)| *id);
        let mut shape = Vec::with_capacity(values.len() + 1);
        let unique = index.unique && !index.is_deferrable();
        if unique {
            shape.push((ROW_KEY_COLUMN, ValueKind::Variable));
        }
        for (id, ty) in &values {
            shape.push((id.0, value_kind(ty)?));
        }
        let salt = index.salt_buckets.and_then(SaltBuckets::new);
        let layout = KeyLayout::new(salt.is_some(), parts.iter().map(|p| p.part).collect());
        Ok(Self {
            storage: index.storage,
            unique,
            nulls_not_distinct: index.nulls_not_distinct,
            salt: salt.map(|buckets| SaltCodec { buckets, parts: (0..parts.len()).collect() }),
            parts,
            layout,
            row_key,
            values,
            shape: Arc::new(RowShape::new(shape).map_err(unencodable)?),
            epoch: table.epoch,
        })
    }

    /// What the store must be told to create the index table.
    #[must_use]
    pub fn table_schema(index: &IndexDescriptor) -> TableSchema {
        TableSchema {
            id: index.storage,
            name: index.name.clone(),
            families: vec![FamilySchema { id: INDEX_FAMILY, name: "i".into(), options: FamilyOptions::default() }],
            split_points: Vec::new(),
        }
    }

    /// Whether an entry gives the column's value: as a part, in the cell, or in the row key.
    #[must_use]
    pub fn covers(&self, column: ColumnId) -> bool {
        self.values.iter().any(|(id, _)| *id == column)
            || self.parts.iter().any(|p| p.column == column && key_is_lossless(&p.ty))
            || self.row_key.gives_back(column)
    }
}

/// Encodes the entries of one batch of rows.
#[derive(Debug)]
pub struct IndexEncoder<'a> {
    codec: &'a IndexCodec,
    parts: Vec<KeyColumn>,
    values: Vec<ValueColumn>,
    builder: RowBuilder,
    scratch: Vec<u8>,
}

impl<'a> IndexEncoder<'a> {
    /// Opens the columns: `part(n)` gives the values of the n-th part, `column` those of a table column.
    ///
    /// # Errors
    /// A column is missing or of another type.
    pub fn new(
        codec: &'a IndexCodec,
        part: impl Fn(usize) -> Option<ArrayRef>,
        column: impl Fn(ColumnId) -> Option<ArrayRef>,
    ) -> PgResult<Self> {
        let missing = || PgError::internal("a column of an index is missing from the rows to write");
        let parts = codec.parts.iter().enumerate().map(|(n, p)| p.open(&part(n).ok_or_else(missing)?)).collect::<PgResult<Vec<_>>>()?;
        let value = |(id, ty): &(ColumnId, SqlType)| ValueColumn::new(ty, &codec.epoch.to_stored(&column(*id).ok_or_else(missing)?)?);
        let values = codec.values.iter().map(value).collect::<PgResult<Vec<_>>>()?;
        Ok(Self { codec, parts, values, builder: RowBuilder::new(), scratch: Vec::new() })
    }

    /// Whether the entry's key is the parts alone, so that another row with equal parts would meet it.
    #[must_use]
    pub fn is_exclusive(&self, row: usize) -> bool {
        self.codec.unique && self.excludes(row)
    }

    /// Whether no other row may have equal parts, be it at once or later.
    #[must_use]
    pub fn excludes(&self, row: usize) -> bool {
        self.codec.nulls_not_distinct || !self.has_null(row)
    }

    /// Appends the entry's parts: what the keys of all entries with equal parts begin with.
    ///
    /// # Errors
    /// A value cannot be stored in a key.
    pub fn parts(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        encode_key(&self.codec.parts, self.codec.salt.as_ref(), &self.parts, row, out)
    }

    fn has_null(&self, row: usize) -> bool {
        self.parts.iter().any(|p| p.is_null(row))
    }

    /// Appends the entry's key.
    ///
    /// # Errors
    /// The key is too long.
    pub fn key(&self, row: usize, row_key: &[u8], out: &mut Vec<u8>) -> PgResult<()> {
        let from = out.len();
        encode_key(&self.codec.parts, self.codec.salt.as_ref(), &self.parts, row, out)?;
        if !self.is_exclusive(row) {
            out.extend_from_slice(row_key);
        }
        check_key_len(out.get(from..).unwrap_or_default())
    }

    /// The entry's cell; the bytes live until the next call.
    ///
    /// # Errors
    /// A value cannot be stored.
    pub fn cell(&mut self, row: usize, row_key: &[u8]) -> PgResult<&[u8]> {
        self.builder.start(&self.codec.shape);
        if self.codec.unique {
            self.builder.push_variable(row_key);
        }
        for value in &self.values {
            value.push(row, &mut self.builder, &mut self.scratch)?;
        }
        self.scratch.clear();
        self.builder.finish(&mut self.scratch).map_err(unencodable)?;
        Ok(&self.scratch)
    }
}

//! Values in cells that other programs read, and write: those of a raw table that a foreign table maps, and those of families with plain values.
//!
//! Invariant: what [`Encoding::encode`] writes, HBase's own `Bytes` reads, or Phoenix's types do, and it is read as the same value. A text form
//! depends on no setting of a session.

use super::builder::{ColumnBuilder, TextColumn};
use super::raw::cell;
use super::value::ValueColumn;
use crate::catalog::{ColumnDescriptor, ColumnId, Encoding, Epoch, MappedColumn};
use arrow::array::{Array, ArrayRef};
use std::fmt::Write;
use stoa_pg::types::PgType;
use stoa_pg::{EvalContext, PgError, PgResult, SqlState, SqlType};
use stoa_store::FamilyId;

/// Under which qualifier the values of a column are, and how.
#[derive(Clone, Debug)]
pub struct NamedCell {
    /// The column, for messages.
    pub name: Box<str>,
    pub ty: SqlType,
    /// As the store has it; of a raw table without time and kind, as [`cell::column`] writes it.
    pub qualifier: Box<[u8]>,
    pub encoding: Encoding,
}

impl NamedCell {
    /// The cell of a foreign table's column.
    #[must_use]
    pub fn of_raw(name: &str, ty: &SqlType, mapped: &MappedColumn) -> Self {
        Self {
            name: name.into(),
            ty: ty.clone(),
            qualifier: cell::column(FamilyId(mapped.family), &mapped.qualifier).into(),
            encoding: mapped.encoding,
        }
    }

    /// The cell of a column in a family with plain values.
    ///
    /// # Errors
    /// XX000 for one that has no qualifier.
    pub fn plain(column: &ColumnDescriptor) -> PgResult<Self> {
        let qualifier = column.qualifier.as_ref().ok_or_else(|| PgError::internal(format!("column {} has no qualifier", column.id.0)))?;
        let ty = &column.ty;
        // Names of objects are others tomorrow: what refers to one is written as its number.
        let ty = if ty.ty.is_oid_like() { SqlType::new(PgType::Oid) } else { ty.clone() };
        Ok(Self { name: column.name.as_str().into(), qualifier: qualifier.as_bytes().into(), encoding: Encoding::plain(&ty), ty })
    }

    /// The place of a column among the mapped ones.
    #[must_use]
    pub fn of(columns: &[MappedColumn], id: ColumnId) -> Option<&MappedColumn> {
        columns.iter().find(|m| m.column == id)
    }

    /// A builder for what is read of the cells.
    ///
    /// # Errors
    /// 0A000 for types that cannot be stored.
    pub fn builder(&self, rows: usize) -> PgResult<ColumnBuilder> {
        self.encoding.builder(&self.ty, rows)
    }
}

/// A column of values that are to be written to cells.
#[derive(Debug)]
pub enum CellValues {
    Bytes(Encoding, SqlType, ValueColumn),
    /// Their text forms.
    Text(Vec<Option<Vec<u8>>>),
}

impl CellValues {
    /// # Errors
    /// The array is not of the type; a time that the table's form does not hold.
    pub fn new(cell: &NamedCell, epoch: Epoch, array: &ArrayRef) -> PgResult<Self> {
        if cell.encoding != Encoding::Text {
            return Ok(Self::Bytes(cell.encoding, cell.ty.clone(), ValueColumn::new(&cell.ty, &epoch.to_stored(array)?)?));
        }
        let context = EvalContext::default();
        let writer = stoa_pg::values::writer(&context, &cell.ty, array.as_ref())?;
        let text = |row: usize| {
            if array.is_null(row) {
                return Ok(None);
            }
            let mut out = Vec::new();
            writer.text(row, &mut out)?;
            if cell.ty.ty == PgType::Bool {
                out = if out == b"t" { b"true".to_vec() } else { b"false".to_vec() };
            }
            Ok(Some(out))
        };
        Ok(Self::Text((0..array.len()).map(text).collect::<PgResult<_>>()?))
    }

    /// The bytes of a row's value; false if it is NULL.
    ///
    /// # Errors
    /// As [`Encoding::encode`].
    pub fn append(&self, row: usize, out: &mut Vec<u8>) -> PgResult<bool> {
        match self {
            CellValues::Bytes(_, _, column) if column.is_null(row) => Ok(false),
            CellValues::Bytes(encoding, ty, column) => encoding.encode(ty, column, row, out).map(|()| true),
            CellValues::Text(values) => match values.get(row).and_then(Option::as_ref) {
                Some(text) => {
                    out.extend_from_slice(text);
                    Ok(true)
                }
                None => Ok(false),
            },
        }
    }
}

impl Encoding {
    /// That of plain values: HBase's own where it has one, else the text.
    #[must_use]
    pub fn plain(ty: &SqlType) -> Self {
        let own =
            matches!(ty.ty, PgType::Int2 | PgType::Int4 | PgType::Int8 | PgType::Float4 | PgType::Float8 | PgType::Bool | PgType::Bytea);
        if own || ty.ty.is_string() { Encoding::Bytes } else { Encoding::Text }
    }

    /// A builder for values that [`Encoding::decode`] reads.
    ///
    /// # Errors
    /// 0A000 for types that cannot be stored.
    pub fn builder(self, ty: &SqlType, rows: usize) -> PgResult<ColumnBuilder> {
        match (self, &ty.ty) {
            (Encoding::Bytes | Encoding::Phoenix, _) | (Encoding::Text, PgType::Text | PgType::Varchar) => ColumnBuilder::new(ty, rows),
            (Encoding::Text, _) => Ok(ColumnBuilder::Read(Box::new(TextColumn::new(ty)?))),
        }
    }

    /// # Errors
    /// 0A000 for a type that has no such form.
    pub fn check(self, ty: &SqlType) -> PgResult<()> {
        let plain = matches!(
            ty.ty,
            PgType::Int2
                | PgType::Int4
                | PgType::Int8
                | PgType::Float4
                | PgType::Float8
                | PgType::Bool
                | PgType::Text
                | PgType::Varchar
                | PgType::Bytea
        );
        let takes = match self {
            Encoding::Text => true,
            Encoding::Bytes => plain,
            Encoding::Phoenix => plain || matches!(ty.ty, PgType::Date | PgType::Timestamp),
        };
        if takes {
            return Ok(());
        }
        let message = format!("a value of type {} has no form in the format {}", ty.display_name(), self.name());
        Err(PgError::unsupported(message).hint("Use the format text for the column, or type bytea."))
    }

    /// The bytes of a value that is not NULL.
    ///
    /// # Errors
    /// 22008 for a time beyond what the format holds.
    pub fn encode(self, ty: &SqlType, column: &ValueColumn, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        let turned = self == Encoding::Phoenix;
        match (self, column) {
            (_, ValueColumn::Text(a)) => out.extend_from_slice(a.value(row).as_bytes()),
            (Encoding::Bytes | Encoding::Phoenix, ValueColumn::Bytes(a)) => out.extend_from_slice(a.value(row)),
            (Encoding::Bytes | Encoding::Phoenix, ValueColumn::Bool(a)) => {
                out.push(if !a.value(row) {
                    0
                } else if turned {
                    1
                } else {
                    0xff
                });
            }
            (Encoding::Bytes | Encoding::Phoenix, ValueColumn::Int16(a)) => {
                out.extend_from_slice(&(a.value(row) ^ if turned { i16::MIN } else { 0 }).to_be_bytes());
            }
            (Encoding::Bytes | Encoding::Phoenix, ValueColumn::Int32(a)) => {
                out.extend_from_slice(&(a.value(row) ^ if turned { i32::MIN } else { 0 }).to_be_bytes());
            }
            (Encoding::Bytes | Encoding::Phoenix, ValueColumn::Int64(a)) => {
                out.extend_from_slice(&(a.value(row) ^ if turned { i64::MIN } else { 0 }).to_be_bytes());
            }
            (Encoding::Bytes, ValueColumn::Float32(a)) => out.extend_from_slice(&a.value(row).to_bits().to_be_bytes()),
            (Encoding::Bytes, ValueColumn::Float64(a)) => out.extend_from_slice(&a.value(row).to_bits().to_be_bytes()),
            (Encoding::Phoenix, ValueColumn::Float32(a)) => {
                let bits = a.value(row).to_bits() as i32;
                // Phoenix adds one to the turned bits.
                out.extend_from_slice(&((bits ^ ((bits >> 31) | i32::MIN)).wrapping_add(1)).to_be_bytes());
            }
            (Encoding::Phoenix, ValueColumn::Float64(a)) => {
                let bits = a.value(row).to_bits() as i64;
                out.extend_from_slice(&((bits ^ ((bits >> 63) | i64::MIN)).wrapping_add(1)).to_be_bytes());
            }
            (Encoding::Phoenix, ValueColumn::Date(a)) => {
                out.extend_from_slice(&((i64::from(a.value(row)) * MS_OF_DAY) ^ i64::MIN).to_be_bytes());
            }
            (Encoding::Phoenix, ValueColumn::Timestamp(a)) => {
                let us = a.value(row);
                out.extend_from_slice(&(us.div_euclid(1000) ^ i64::MIN).to_be_bytes());
                out.extend_from_slice(&(us.rem_euclid(1000) as i32 * 1000).to_be_bytes());
            }
            _ => return Err(PgError::internal(format!("a value of type {} in the format {}", ty.ty, self.name()))),
        }
        Ok(())
    }

    /// Adds the value that some bytes hold.
    ///
    /// # Errors
    /// 22P03: they hold none; the text forms raise what their types raise.
    pub fn decode(self, ty: &SqlType, name: &str, bytes: &[u8], into: &mut ColumnBuilder) -> PgResult<()> {
        let wrong = || undecodable(self, ty, name, bytes);
        let turned = self == Encoding::Phoenix;
        match (self, &mut *into) {
            (_, ColumnBuilder::Text(_)) => {
                std::str::from_utf8(bytes).map_err(|_| wrong())?;
                into.push_body(bytes)
            }
            (Encoding::Bytes | Encoding::Phoenix, ColumnBuilder::Bytes(_)) => into.push_body(bytes),
            (Encoding::Bytes | Encoding::Phoenix, ColumnBuilder::Bool(b)) => match bytes {
                [0] => {
                    b.append_value(false);
                    Ok(())
                }
                // `Bytes.toBoolean` takes anything but 0.
                [_] => {
                    b.append_value(true);
                    Ok(())
                }
                _ => Err(wrong()),
            },
            (Encoding::Bytes | Encoding::Phoenix, ColumnBuilder::Int16(b)) => {
                let value = i16::from_be_bytes(bytes.try_into().map_err(|_| wrong())?);
                b.append_value(value ^ if turned { i16::MIN } else { 0 });
                Ok(())
            }
            (Encoding::Bytes | Encoding::Phoenix, ColumnBuilder::Int32(b)) => {
                let value = i32::from_be_bytes(bytes.try_into().map_err(|_| wrong())?);
                b.append_value(value ^ if turned { i32::MIN } else { 0 });
                Ok(())
            }
            (Encoding::Bytes | Encoding::Phoenix, ColumnBuilder::Int64(b)) => {
                let value = i64::from_be_bytes(bytes.try_into().map_err(|_| wrong())?);
                b.append_value(value ^ if turned { i64::MIN } else { 0 });
                Ok(())
            }
            (Encoding::Bytes, ColumnBuilder::Float32(b)) => {
                b.append_value(f32::from_be_bytes(bytes.try_into().map_err(|_| wrong())?));
                Ok(())
            }
            (Encoding::Bytes, ColumnBuilder::Float64(b)) => {
                b.append_value(f64::from_be_bytes(bytes.try_into().map_err(|_| wrong())?));
                Ok(())
            }
            (Encoding::Phoenix, ColumnBuilder::Float32(b)) => {
                let bits = i32::from_be_bytes(bytes.try_into().map_err(|_| wrong())?).wrapping_sub(1);
                b.append_value(f32::from_bits((bits ^ ((!bits >> 31) | i32::MIN)) as u32));
                Ok(())
            }
            (Encoding::Phoenix, ColumnBuilder::Float64(b)) => {
                let bits = i64::from_be_bytes(bytes.try_into().map_err(|_| wrong())?).wrapping_sub(1);
                b.append_value(f64::from_bits((bits ^ ((!bits >> 63) | i64::MIN)) as u64));
                Ok(())
            }
            (Encoding::Phoenix, ColumnBuilder::Date(b)) => {
                let ms = i64::from_be_bytes(bytes.try_into().map_err(|_| wrong())?) ^ i64::MIN;
                b.append_value(i32::try_from(ms.div_euclid(MS_OF_DAY)).map_err(|_| wrong())?);
                Ok(())
            }
            (Encoding::Phoenix, ColumnBuilder::Timestamp(b)) => {
                let (ms, nanos) = bytes.split_first_chunk::<8>().ok_or_else(wrong)?;
                let nanos = match nanos {
                    // A DATE or TIME of Phoenix.
                    [] => 0,
                    nanos => i32::from_be_bytes(nanos.try_into().map_err(|_| wrong())?),
                };
                let us = (i64::from_be_bytes(*ms) ^ i64::MIN).checked_mul(1000).and_then(|us| us.checked_add(i64::from(nanos) / 1000));
                b.append_value(us.ok_or_else(wrong)?);
                Ok(())
            }
            (Encoding::Text, ColumnBuilder::Read(values)) => {
                let text = std::str::from_utf8(bytes).map_err(|_| wrong())?;
                values.push(text).map_err(|e| wrong().detail(e.message().to_owned()))
            }
            _ => Err(PgError::internal(format!("a value of type {} in the format {}", ty.ty, self.name()))),
        }
    }
}

const MS_OF_DAY: i64 = 86_400_000;

#[cold]
fn undecodable(encoding: Encoding, ty: &SqlType, name: &str, bytes: &[u8]) -> PgError {
    let mut shown = String::new();
    for byte in bytes.iter().take(32) {
        let _ = write!(shown, "\\x{byte:02X}");
    }
    let more = if bytes.len() > 32 { "…" } else { "" };
    let message = format!(
        "the {} bytes {shown}{more} of column \"{name}\" hold no {} in the format {}",
        bytes.len(),
        ty.display_name(),
        encoding.name()
    );
    PgError::new(SqlState::INVALID_BINARY_REPRESENTATION, message)
        .hint("Map the column as bytea to see what it holds, or give it another format.")
}

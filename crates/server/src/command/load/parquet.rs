//! Files of Parquet. A column is one of the schema's own; what is nested in it is an array or a document.

use super::value::{DELIMITER, NULL, write_json, write_text};
use super::{Column, FileError, Records};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, FieldRef, TimeUnit};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use serde_json::{Map, Number, Value};
use std::fmt::Write;
use std::fs::File;
use std::path::Path;

const BATCH_ROWS: usize = 4096;

/// Reads a file's rows as records of COPY's text format.
pub(super) struct ParquetFile {
    reader: ParquetRecordBatchReader,
    columns: Vec<Column>,
    batch: Option<RecordBatch>,
    /// The batch's records, and where each ends; made when the first is asked for.
    text: Vec<u8>,
    ends: Vec<usize>,
    /// The next row of the batch.
    row: usize,
    rows: u64,
    total: u64,
}

fn wrong(error: impl std::fmt::Display) -> FileError {
    FileError::Content(error.to_string())
}

/// The columns of a file, or those of them that are wanted, with the types that a table has for them.
pub(super) fn columns(path: &Path, wanted: Option<&[String]>) -> Result<Vec<(String, String)>, FileError> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?).map_err(wrong)?;
    let fields = builder.schema().fields().iter().filter(|field| wanted.is_none_or(|wanted| wanted.contains(field.name())));
    fields.map(|field| Ok((field.name().clone(), sql_type(field)?))).collect()
}

/// The type of a table's column that takes the values of a field.
fn sql_type(field: &FieldRef) -> Result<String, FileError> {
    Ok(match field.data_type() {
        DataType::Null | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "text".into(),
        DataType::Boolean => "boolean".into(),
        DataType::Int8 | DataType::Int16 | DataType::UInt8 => "smallint".into(),
        DataType::Int32 | DataType::UInt16 => "integer".into(),
        DataType::Int64 | DataType::UInt32 => "bigint".into(),
        DataType::UInt64 => "numeric(20,0)".into(),
        DataType::Float16 | DataType::Float32 => "real".into(),
        DataType::Float64 => "double precision".into(),
        DataType::Decimal32(p, s) | DataType::Decimal64(p, s) | DataType::Decimal128(p, s) | DataType::Decimal256(p, s) => {
            format!("numeric({p},{s})")
        }
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => "bytea".into(),
        DataType::Date32 | DataType::Date64 => "date".into(),
        DataType::Time32(_) | DataType::Time64(_) => "time".into(),
        DataType::Timestamp(_, None) => "timestamp".into(),
        DataType::Timestamp(_, Some(_)) => "timestamptz".into(),
        DataType::Dictionary(_, value) => sql_type(&FieldRef::new(field.as_ref().clone().with_data_type((**value).clone())))?,
        DataType::List(inner) | DataType::LargeList(inner) | DataType::FixedSizeList(inner, _) => match inner.data_type() {
            DataType::Struct(_) | DataType::Map(..) => "jsonb".into(),
            _ => format!("{}[]", sql_type(inner)?),
        },
        DataType::Struct(_) | DataType::Map(..) => "jsonb".into(),
        other => return Err(FileError::Content(format!("column {} is of type {other}, which no column of a table takes", field.name()))),
    })
}

impl ParquetFile {
    /// Opens a file to read some of its columns.
    pub(super) fn open(path: &Path, columns: Vec<Column>) -> Result<Self, FileError> {
        let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?).map_err(wrong)?;
        let schema = builder.schema();
        let mut roots = Vec::new();
        for column in &columns {
            let found = schema.fields().iter().position(|field| *field.name() == column.name);
            let at = found.ok_or_else(|| FileError::Content(format!("it has no column {}", column.name)))?;
            // A type that no table has is reported before a row is read.
            sql_type(&schema.fields()[at])?;
            roots.push(at);
        }
        let total = u64::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0);
        let mask = ProjectionMask::roots(builder.parquet_schema(), roots);
        let reader = builder.with_projection(mask).with_batch_size(BATCH_ROWS).build().map_err(wrong)?;
        Ok(Self { reader, columns, batch: None, text: Vec::new(), ends: Vec::new(), row: 0, rows: 0, total })
    }

    /// Goes to the next row; false at the end of the file.
    fn advance(&mut self) -> Result<bool, FileError> {
        while self.batch.as_ref().is_none_or(|batch| self.row >= batch.num_rows()) {
            let Some(batch) = self.reader.next() else { return Ok(false) };
            self.batch = Some(batch.map_err(wrong)?);
            self.ends.clear();
            self.row = 0;
        }
        self.row += 1;
        self.rows += 1;
        Ok(true)
    }

    fn write_batch(&mut self) -> Result<(), FileError> {
        let Some(batch) = &self.batch else { return Ok(()) };
        let mut sources = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            let array = batch.column_by_name(&column.name).ok_or_else(|| wrong(format!("it has no column {}", column.name)))?;
            sources.push(prepared(array)?);
        }
        let options = FormatOptions::default();
        let mut writers = Vec::with_capacity(sources.len());
        for (source, column) in sources.iter().zip(&self.columns) {
            writers.push(Writer { array: source, shown: ArrayFormatter::try_new(source, &options).map_err(wrong)?, column });
        }
        self.text.clear();
        let mut shown = String::new();
        for row in 0..batch.num_rows() {
            for (at, writer) in writers.iter().enumerate() {
                if at > 0 {
                    self.text.push(DELIMITER);
                }
                writer.write(row, &mut shown, &mut self.text)?;
            }
            self.text.push(b'\n');
            self.ends.push(self.text.len());
        }
        Ok(())
    }
}

/// An array in the form in which it is shown: without a dictionary, and times with a zone as times of UTC.
fn prepared(array: &ArrayRef) -> Result<ArrayRef, FileError> {
    match array.data_type() {
        DataType::Dictionary(_, value) => prepared(&cast(array, value).map_err(wrong)?),
        DataType::Timestamp(unit, Some(_)) => utc(array, *unit),
        _ => Ok(ArrayRef::clone(array)),
    }
}

fn utc(array: &ArrayRef, unit: TimeUnit) -> Result<ArrayRef, FileError> {
    // By way of the numbers: a cast from a zone to none would be to that zone's time.
    let numbers = cast(array, &DataType::Int64).map_err(wrong)?;
    cast(&numbers, &DataType::Timestamp(unit, Some("+00:00".into()))).map_err(wrong)
}

struct Writer<'a> {
    array: &'a ArrayRef,
    shown: ArrayFormatter<'a>,
    column: &'a Column,
}

impl Writer<'_> {
    fn write(&self, row: usize, shown: &mut String, out: &mut Vec<u8>) -> Result<(), FileError> {
        if self.array.is_null(row) {
            out.extend_from_slice(NULL.as_bytes());
            return Ok(());
        }
        let ty = self.array.data_type();
        if is_nested(ty) {
            write_json(&json(self.array, row)?, &self.column.ty, out);
            return Ok(());
        }
        if let Some(texts) = self.array.as_string_view_opt() {
            write_text(texts.value(row).as_bytes(), out);
            return Ok(());
        }
        if let Some(texts) = self.array.as_string_opt::<i32>() {
            write_text(texts.value(row).as_bytes(), out);
            return Ok(());
        }
        if is_binary(ty) {
            out.extend_from_slice(b"\\\\x");
        }
        shown.clear();
        write!(shown, "{}", self.shown.value(row)).map_err(wrong)?;
        write_text(shown.as_bytes(), out);
        Ok(())
    }
}

fn is_nested(ty: &DataType) -> bool {
    matches!(ty, DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) | DataType::Struct(_) | DataType::Map(..))
}

fn is_binary(ty: &DataType) -> bool {
    matches!(ty, DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_))
}

/// A value as part of a document.
fn json(array: &ArrayRef, row: usize) -> Result<Value, FileError> {
    if array.is_null(row) {
        return Ok(Value::Null);
    }
    let list = |values: &ArrayRef| (0..values.len()).map(|at| json(values, at)).collect::<Result<_, _>>().map(Value::Array);
    match array.data_type() {
        DataType::Boolean => Ok(Value::Bool(array.as_boolean().value(row))),
        DataType::List(_) => list(&array.as_list::<i32>().value(row)),
        DataType::LargeList(_) => list(&array.as_list::<i64>().value(row)),
        DataType::FixedSizeList(..) => list(&array.as_fixed_size_list().value(row)),
        DataType::Struct(fields) => {
            let columns = fields.iter().zip(array.as_struct().columns());
            let pairs = columns.map(|(field, column)| Ok((field.name().clone(), json(column, row)?)));
            pairs.collect::<Result<Map<_, _>, FileError>>().map(Value::Object)
        }
        DataType::Map(..) => {
            let entries = array.as_map().value(row);
            let (keys, values) = (prepared(entries.column(0))?, entries.column(1));
            let pairs = (0..entries.len()).map(|at| Ok((shown(&keys, at)?, json(values, at)?)));
            pairs.collect::<Result<Map<_, _>, FileError>>().map(Value::Object)
        }
        ty => {
            let array = prepared(array)?;
            let text = shown(&array, row)?;
            // NaN and the infinities are no numbers of a document.
            let number = if ty.is_numeric() { serde_json::from_str::<Number>(&text).ok() } else { None };
            Ok(match number {
                Some(number) => Value::Number(number),
                None if is_binary(ty) => Value::String(format!("\\x{text}")),
                None => Value::String(text),
            })
        }
    }
}

fn shown(array: &ArrayRef, row: usize) -> Result<String, FileError> {
    Ok(ArrayFormatter::try_new(array, &FormatOptions::default()).map_err(wrong)?.value(row).to_string())
}

impl Records for ParquetFile {
    fn record(&mut self, out: &mut Vec<u8>) -> Result<bool, FileError> {
        if !self.advance()? {
            return Ok(false);
        }
        if self.ends.is_empty() {
            self.write_batch()?;
        }
        let at = self.row - 1;
        let start = if at == 0 { 0 } else { self.ends.get(at - 1).copied().unwrap_or(0) };
        let end = self.ends.get(at).copied().unwrap_or(start);
        out.extend_from_slice(self.text.get(start..end).unwrap_or_default());
        Ok(true)
    }

    fn skip(&mut self) -> Result<bool, FileError> {
        self.advance()
    }

    fn place(&self) -> u64 {
        self.rows
    }

    fn unit(&self) -> &'static str {
        "row"
    }

    fn done(&self) -> u64 {
        self.rows
    }

    fn total(&self) -> u64 {
        self.total
    }

    fn counts_rows(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use arrow::array::{
        BinaryArray, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float64Array, Int32Array, ListArray, StringArray,
        StructArray, TimestampMillisecondArray, UInt64Array,
    };
    use arrow::datatypes::{Field, Int32Type};
    use parquet::arrow::ArrowWriter;
    use std::sync::Arc;
    use stoa_pg::types::PgType;

    #[test]
    fn rows_of_every_type_are_records() {
        let strings: DictionaryArray<Int32Type> = [Some("a\tb"), None].into_iter().collect();
        let structs = StructArray::from(vec![(
            Arc::new(Field::new("x", DataType::Float64, true)),
            Arc::new(Float64Array::from(vec![Some(1.5), Some(f64::NAN)])) as ArrayRef,
        )]);
        let arrays: Vec<(&str, ArrayRef, PgType, &str, [&str; 2])> = vec![
            ("i", Arc::new(Int32Array::from(vec![Some(-1), None])), PgType::Int4, "integer", ["-1", "\\N"]),
            ("u", Arc::new(UInt64Array::from(vec![u64::MAX, 0])), PgType::Numeric, "numeric(20,0)", ["18446744073709551615", "0"]),
            ("b", Arc::new(BooleanArray::from(vec![true, false])), PgType::Bool, "boolean", ["true", "false"]),
            (
                "n",
                Arc::new(Decimal128Array::from(vec![12345, -5]).with_precision_and_scale(10, 2).unwrap()),
                PgType::Numeric,
                "numeric(10,2)",
                ["123.45", "-0.05"],
            ),
            ("f", Arc::new(Float64Array::from(vec![0.1, f64::INFINITY])), PgType::Float8, "double precision", ["0.1", "inf"]),
            ("t", Arc::new(StringArray::from(vec!["a\\b", ""])), PgType::Text, "text", ["a\\\\b", ""]),
            ("d", Arc::new(strings), PgType::Text, "text", ["a\\tb", "\\N"]),
            ("y", Arc::new(BinaryArray::from(vec![&b"\x01\xff"[..], b""])), PgType::Bytea, "bytea", ["\\\\x01ff", "\\\\x"]),
            ("day", Arc::new(Date32Array::from(vec![0, 19_000])), PgType::Date, "date", ["1970-01-01", "2022-01-08"]),
            (
                "at",
                Arc::new(TimestampMillisecondArray::from(vec![0, 1_500])),
                PgType::Timestamp,
                "timestamp",
                ["1970-01-01T00:00:00", "1970-01-01T00:00:01.500"],
            ),
            (
                "tz",
                Arc::new(TimestampMillisecondArray::from(vec![0, 1_500]).with_timezone("+02:00")),
                PgType::Timestamptz,
                "timestamptz",
                ["1970-01-01T00:00:00Z", "1970-01-01T00:00:01.500Z"],
            ),
            (
                "l",
                Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1), None]), Some(vec![])])),
                PgType::Array(Box::new(PgType::Int4)),
                "integer[]",
                ["{\"1\",NULL}", "{}"],
            ),
            ("s", Arc::new(structs), PgType::Jsonb, "jsonb", ["{\"x\":1.5}", "{\"x\":\"NaN\"}"]),
        ];
        let batch =
            RecordBatch::try_from_iter_with_nullable(arrays.iter().map(|(name, array, ..)| (*name, Arc::clone(array), true))).unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut writer = ArrowWriter::try_new(file.reopen().unwrap(), batch.schema(), None).unwrap();
        for _ in 0..3 {
            writer.write(&batch).unwrap();
        }
        writer.close().unwrap();

        let types: Vec<_> = arrays.iter().map(|(name, _, _, ty, _)| ((*name).to_owned(), (*ty).to_owned())).collect();
        assert_eq!(columns(file.path(), None).unwrap(), types);
        assert_eq!(columns(file.path(), Some(&["u".to_owned()])).unwrap(), types[1..2]);
        // Backwards: the order asked for is not that of the file.
        let wanted = arrays.iter().rev().map(|(name, _, ty, ..)| Column { name: (*name).into(), ty: ty.clone() }).collect();
        let mut reader = ParquetFile::open(file.path(), wanted).unwrap();
        assert_eq!(reader.total(), 6);
        assert!(reader.skip().unwrap());
        for row in 1..6 {
            let mut out = Vec::new();
            assert!(reader.record(&mut out).unwrap());
            let wanted: Vec<&str> = arrays.iter().rev().map(|(.., values)| values[row % 2]).collect();
            assert_eq!(String::from_utf8(out).unwrap(), wanted.join("\t") + "\n");
        }
        assert!(!reader.record(&mut Vec::new()).unwrap());
        let missing = vec![Column { name: "nosuch".into(), ty: PgType::Text }];
        assert_eq!(ParquetFile::open(file.path(), missing).err().unwrap().to_string(), "it has no column nosuch");
    }
}

//! Packed rows and cells: what was written is read, by every reader; hostile bytes are errors.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use stoa_encoding::packed_row::{Cell, Projection, RowBuilder, RowReader, RowShape, ValueKind};
use stoa_encoding::valueside::{
    ArrayReader, Dimension, Interval, MapReader, SequenceBuilder, SequenceReader, StructBuilder, StructReader, TimeTz, TypeTag, Value,
    encode_array, encode_cell, encode_map,
};
use stoa_encoding::{DecodeError, EncodeError};

/// Columns by id, each with its kind and a value.
type Columns = BTreeMap<u32, (ValueKind, Option<Vec<u8>>)>;

fn kind() -> impl Strategy<Value = ValueKind> {
    prop_oneof![prop::sample::select(vec![1u8, 2, 4, 8, 12, 16, 31]).prop_map(ValueKind::Fixed), Just(ValueKind::Variable)]
}

fn column_id() -> impl Strategy<Value = u32> {
    prop_oneof![8 => 0u32..40, 1 => any::<u32>(), 1 => Just(u32::MAX), 1 => Just(u32::MAX - 1)]
}

fn body(kind: ValueKind) -> BoxedStrategy<Option<Vec<u8>>> {
    let len = match kind {
        ValueKind::Fixed(width) => usize::from(width)..usize::from(width) + 1,
        ValueKind::Variable => 0..12,
    };
    prop_oneof![1 => Just(None), 2 => prop::collection::vec(any::<u8>(), len).prop_map(Some)].boxed()
}

fn shape() -> impl Strategy<Value = BTreeMap<u32, ValueKind>> {
    prop::collection::btree_map(column_id(), kind(), 0..30)
}

fn values(shape: BTreeMap<u32, ValueKind>) -> BoxedStrategy<Columns> {
    let columns: Vec<_> = shape.into_iter().map(|(id, kind)| (Just(id), Just(kind), body(kind))).collect();
    columns.prop_map(|columns| columns.into_iter().map(|(id, kind, body)| (id, (kind, body))).collect()).boxed()
}

/// Rows of up to three shapes, interleaved.
fn rows() -> impl Strategy<Value = Vec<Columns>> {
    prop::collection::vec(shape(), 1..4)
        .prop_flat_map(|shapes| prop::collection::vec(prop::sample::select(shapes).prop_flat_map(values), 1..8))
}

fn write(columns: &Columns) -> Vec<u8> {
    let shape = RowShape::new(columns.iter().map(|(id, (kind, _))| (*id, *kind)).collect()).unwrap();
    let mut builder = RowBuilder::new();
    builder.start(&Arc::new(shape));
    columns.values().for_each(|(_, body)| builder.push(body.as_deref()));
    let mut row = Vec::new();
    builder.finish(&mut row).unwrap();
    assert_eq!(row.len(), builder.encoded_len());
    row
}

fn expected(columns: &Columns, id: u32) -> Cell<'_> {
    match columns.get(&id) {
        None => Cell::Absent,
        Some((_, None)) => Cell::Null,
        Some((_, Some(body))) => Cell::Value(body),
    }
}

/// Reads a row in every way there is; all ways must agree on whether a value is there.
fn read_everything(row: &[u8], projection: &mut Projection) -> Result<(), DecodeError> {
    let reader = RowReader::new(row);
    let mut cells = Vec::new();
    let projected = projection.project(row, |_, cell| cells.push(cell));
    if let Ok(reader) = &reader {
        projected.unwrap();
        for (slot, id) in projection.column_ids().iter().enumerate() {
            assert_eq!(cells[slot], reader.get(*id));
        }
        for (id, _, cell) in reader.iter() {
            assert_eq!(reader.get(id), cell);
        }
        stoa_encoding::dump::dump_row(row).unwrap();
    }
    reader.map(|_| ())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rows_of_many_shapes_come_back(rows in rows(), wanted in prop::collection::vec(column_id(), 0..12)) {
        let mut projection = Projection::new(wanted.clone());
        for columns in &rows {
            let row = write(columns);
            let reader = RowReader::new(&row).unwrap();
            prop_assert_eq!(reader.column_count(), columns.len());
            for id in columns.keys().chain(&wanted) {
                prop_assert_eq!(reader.get(*id), expected(columns, *id));
            }
            let all: Vec<_> = reader.iter().map(|(id, kind, cell)| (id, (kind, cell.value().map(<[u8]>::to_vec)))).collect();
            prop_assert_eq!(all, columns.clone().into_iter().collect::<Vec<_>>());
            let mut slots = Vec::new();
            projection.project(&row, |slot, cell| slots.push((slot, cell))).unwrap();
            let want: Vec<_> = wanted.iter().enumerate().map(|(slot, id)| (slot, expected(columns, *id))).collect();
            prop_assert_eq!(slots, want);
            for cut in 0..row.len() {
                prop_assert!(RowReader::new(&row[..cut]).is_err(), "a row cut short was read");
                prop_assert!(projection.view(&row[..cut]).is_err(), "a row cut short was projected");
            }
            let longer = [row.as_slice(), &[0]].concat();
            prop_assert!(RowReader::new(&longer).is_err() && projection.view(&longer).is_err());
        }
    }

    #[test]
    fn corrupt_rows_are_no_danger(rows in rows(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut projection = Projection::new((0..40).collect());
        for columns in &rows {
            let mut row = write(columns);
            read_everything(&row, &mut projection).unwrap();
            for (at, to) in &changes {
                let position = at.index(row.len());
                row[position] = *to;
                let _ = read_everything(&row, &mut projection);
            }
        }
    }

    #[test]
    fn arbitrary_bytes_are_no_danger(mut bytes in prop::collection::vec(prop_oneof![Just(0u8), Just(1), 0u8..40, any::<u8>()], 0..80), versioned: bool) {
        if versioned && !bytes.is_empty() {
            bytes[0] = 1;
        }
        let _ = read_everything(&bytes, &mut Projection::new((0..40).collect()));
        let _ = Value::decode_cell(&bytes);
        let _ = stoa_encoding::dump::dump_cell(&bytes);
        for tag in [TypeTag::Array, TypeTag::Struct, TypeTag::Map] {
            let cell = [&[1, tag as u8], bytes.as_slice()].concat();
            let _ = stoa_encoding::dump::dump_cell(&cell);
        }
    }

    #[test]
    fn composites_come_back(
        tag in prop::sample::select(vec![TypeTag::Int32, TypeTag::Text, TypeTag::Uuid, TypeTag::Bool, TypeTag::Null]),
        nulls in prop::collection::vec(any::<bool>(), 0..20),
        seed: u8, at: prop::sample::Index, to: u8,
    ) {
        let bodies: Vec<Option<Vec<u8>>> = nulls.iter().enumerate().map(|(i, null)| {
            (!null && tag != TypeTag::Null).then(|| vec![seed.wrapping_add(i as u8); tag.width().unwrap_or(i % 5)])
        }).collect();
        let mut sequence = SequenceBuilder::new(tag);
        let mut keys = SequenceBuilder::new(TypeTag::Int16);
        let mut fields = StructBuilder::new();
        for (i, body) in bodies.iter().enumerate() {
            sequence.push(body.as_deref());
            keys.push(Some(&(i as i16).to_le_bytes()));
            fields.push(tag, body.as_deref());
        }
        let (mut flat, mut array, mut map, mut record) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        sequence.finish(&mut flat).unwrap();
        let dimensions = if bodies.is_empty() { vec![] } else { vec![Dimension { len: 1, lower_bound: -1 }, Dimension::new(bodies.len() as u32)] };
        encode_array(&mut array, &dimensions, &sequence).unwrap();
        encode_map(&mut map, &keys, &sequence).unwrap();
        fields.finish(&mut record).unwrap();
        let same = |reader: SequenceReader<'_>| reader.iter().map(|v| v.unwrap().map(<[u8]>::to_vec)).collect::<Vec<_>>() == bodies;
        prop_assert!(same(SequenceReader::new(&flat).unwrap()));
        let array_reader = ArrayReader::new(&array).unwrap();
        prop_assert!(same(array_reader.elements()));
        prop_assert_eq!(array_reader.dimensions().collect::<Vec<_>>(), dimensions);
        let map_reader = MapReader::new(&map).unwrap();
        prop_assert!(same(map_reader.values()));
        prop_assert_eq!(map_reader.len(), bodies.len());
        let record_reader = StructReader::new(&record).unwrap();
        for (i, body) in bodies.iter().enumerate() {
            prop_assert_eq!(record_reader.get(i).unwrap(), Some((tag, body.as_deref())));
        }
        prop_assert_eq!(record_reader.get(bodies.len()).unwrap(), None);
        for (tag, body) in [(TypeTag::Array, array), (TypeTag::Map, map), (TypeTag::Struct, record)] {
            let mut cell = Vec::new();
            encode_cell(&mut cell, tag, &body).unwrap();
            for cut in 2..cell.len() {
                prop_assert!(stoa_encoding::dump::dump_cell(&cell[..cut]).is_err(), "a composite cut short was read");
            }
            let position = at.index(cell.len());
            cell[position] = to;
            let _ = stoa_encoding::dump::dump_cell(&cell);
        }
    }
}

#[test]
fn values_come_back() {
    let values = [
        Value::Null,
        Value::Bool(true),
        Value::Int16(-2),
        Value::Int32(i32::MIN),
        Value::Int64(i64::MAX),
        Value::UInt32(u32::MAX),
        Value::Float32(-0.0),
        Value::Float64(1e300),
        Value::Date(-1),
        Value::Time(1),
        Value::TimeTz(TimeTz { micros: i64::MIN, zone_seconds: -3600 }),
        Value::Timestamp(i64::MIN),
        Value::TimestampTz(5),
        Value::Interval(Interval { months: -1, days: i32::MIN, micros: -3_000_000_000_000 }),
        Value::Uuid([7; 16]),
        Value::Decimal128(-170_141_183_460_469_231_731_687_303_715_884_105_728),
        Value::Text("é"),
        Value::Json("{}"),
        Value::Jsonb("[1]"),
        Value::Bytes(&[0xff]),
        Value::Numeric(&[0x80]),
        Value::Array(&[1]),
        Value::Struct(&[2]),
        Value::Map(&[3]),
        Value::Other(&[]),
    ];
    for (value, tag) in values.iter().zip(TypeTag::ALL.iter().filter(|_| true)) {
        let mut cell = Vec::new();
        value.encode_cell(&mut cell);
        assert_eq!(Value::decode_cell(&cell).unwrap(), *value);
        if tag.width().is_some_and(|w| w > 0) {
            assert!(Value::decode_cell(&cell[..cell.len() - 1]).is_err());
        }
    }
    let seen: std::collections::BTreeSet<u8> = values.iter().map(|value| value.tag() as u8).collect();
    assert_eq!(seen.len(), TypeTag::ALL.len(), "every type has a value here");
    for (byte, tag) in TypeTag::ALL.iter().enumerate() {
        assert_eq!(*tag as usize, byte);
    }
}

#[test]
fn hostile_cells_are_errors() {
    assert_eq!(Value::decode_cell(&[2, 1, 1]), Err(DecodeError::UnknownVersion { what: "cell", version: 2 }));
    assert!(Value::decode_cell(&[]).is_err());
    assert!(Value::decode_cell(&[1]).is_err());
    assert!(Value::decode_cell(&[1, 0xee]).is_err());
    assert!(Value::decode_cell(&[1, TypeTag::Bool as u8, 2]).is_err());
    assert!(Value::decode_cell(&[1, TypeTag::Text as u8, 0xff]).is_err());
    assert_eq!(encode_cell(&mut Vec::new(), TypeTag::Int32, &[1]), Err(EncodeError::WrongWidth { expected: 4, found: 1 }));
    // Four billion values in six bytes; dimensions whose product overflows, or of which one is empty.
    assert!(SequenceReader::new(&[0xff, 0xff, 0xff, 0xff, TypeTag::Null as u8, 0]).is_err());
    assert!(SequenceReader::new(&[0xff, 0xff, 0xff, 0xff, TypeTag::Text as u8, 0]).is_err());
    // A bit in a null bitmap beyond the last value.
    assert!(SequenceReader::new(&[1, 0, 0, 0, TypeTag::Bool as u8, 1, 0b10, 0]).is_err());
    assert!(StructReader::new(&[1, 0, TypeTag::Bool as u8, 0b10, 1, 0, 0, 0, 0]).is_err());
    assert!(RowReader::new(&[1, 0, 1, 0, 1, 0b10, 0]).is_err());
    assert!(RowReader::new(&[1, 0, 1, 0, 1, 0b00, 0]).is_ok());
    let huge = [&[6][..], &[0xff; 48], &[0, 0, 0, 0, TypeTag::Int32 as u8, 0]].concat();
    assert!(ArrayReader::new(&huge).is_err());
    let empty = [&[2, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0][..], &[0; 8], &[0, 0, 0, 0, TypeTag::Int32 as u8, 0]].concat();
    assert!(ArrayReader::new(&empty).is_err());
}

#[test]
fn a_builder_reports_misuse() {
    let shape = Arc::new(RowShape::new(vec![(1, ValueKind::Fixed(4)), (3, ValueKind::Variable)]).unwrap());
    let mut builder = RowBuilder::new();
    assert!(builder.finish(&mut Vec::new()).is_err(), "not started");
    let mut finish = |push: &dyn Fn(&mut RowBuilder)| {
        builder.start(&shape);
        push(&mut builder);
        builder.finish(&mut Vec::new())
    };
    assert_eq!(finish(&|b| b.push_fixed([1])), Err(EncodeError::WrongWidth { expected: 4, found: 1 }));
    assert_eq!(finish(&|b| b.push_null()), Err(EncodeError::WrongCount { expected: 2, found: 1 }));
    assert_eq!(finish(&|b| (0..9).for_each(|_| b.push_null())), Err(EncodeError::WrongCount { expected: 2, found: 9 }));
    assert!(finish(&|b| (b.push_variable(b"abcd"), b.push_null()).0).is_err());
    assert!(finish(&|b| (b.push_null(), b.push_fixed([1, 2, 3, 4])).0).is_err());
    // A mistake in one row is forgotten in the next.
    assert_eq!(finish(&|b| (b.push_fixed(1i32.to_le_bytes()), b.push_variable(b"")).0), Ok(()));
    assert!(RowShape::new(vec![(2, ValueKind::Variable), (2, ValueKind::Variable)]).is_err());
    assert!(RowShape::new(vec![(1, ValueKind::Fixed(0))]).is_err());
    assert!(RowShape::new(vec![(1, ValueKind::Fixed(32))]).is_err());
}

#[test]
fn more_than_64_kib_take_wide_ends() {
    let shape = Arc::new(RowShape::new(vec![(1, ValueKind::Variable), (2, ValueKind::Fixed(2)), (3, ValueKind::Variable)]).unwrap());
    let mut projection = Projection::new(vec![3, 1]);
    for len in [65535 - 3, 65536 - 3, 70_000] {
        let long = vec![7; len];
        let mut builder = RowBuilder::new();
        builder.start(&shape);
        builder.push_variable(&long);
        builder.push_fixed([1, 2]);
        builder.push_variable(b"end");
        let mut row = Vec::new();
        builder.finish(&mut row).unwrap();
        assert_eq!(row[1], u8::from(len > 65532));
        let reader = RowReader::new(&row).unwrap();
        assert_eq!((reader.get(1), reader.get(3)), (Cell::Value(&long), Cell::Value(b"end")));
        let view = projection.view(&row).unwrap();
        assert_eq!((view.get(0), view.get(1), view.get(2)), (Ok(Cell::Value(b"end")), Ok(Cell::Value(&long)), Ok(Cell::Absent)));
    }
}

#[test]
fn more_shapes_than_are_kept() {
    let mut projection = Projection::new(vec![1, 50]);
    for round in 0..3u8 {
        for columns in 1..30u32 {
            let columns: Columns = (1..=columns).map(|id| (id, (ValueKind::Fixed(1), Some(vec![round])))).collect();
            let row = write(&columns);
            assert_eq!(projection.view(&row).unwrap().get(0), Ok(Cell::Value(&[round])));
            assert_eq!(projection.view(&row).unwrap().get(1), Ok(Cell::Absent));
        }
    }
}

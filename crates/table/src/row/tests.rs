//! Rows of every type through the store's form and back; columns added later; both layouts; index entries.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::samples::{column, table};
use super::*;
use crate::catalog::{ColumnId, IndexDescriptor, IndexKey, IndexPart, IndexState, Salt};
use crate::catalog::{Epoch, TableDescriptor};
use arrow::array::ArrayRef;
use std::collections::HashMap;
use std::sync::Arc;
use stoa_pg::SqlType;
use stoa_pg::types::{PgType, numeric_typmod_of};
use stoa_store::{CellRef, FamilyId, Layout, RowSink, TableId, Timestamp};

fn types() -> Vec<(SqlType, Vec<Option<&'static str>>)> {
    let of = |ty: PgType| SqlType::new(ty);
    let decimal = |p, s| SqlType::with_typmod(PgType::Numeric, numeric_typmod_of(p, s));
    vec![
        (of(PgType::Bool), vec![Some("t"), None, Some("f")]),
        (of(PgType::Int2), vec![Some("-32768"), None, Some("7")]),
        (of(PgType::Int4), vec![Some("-1"), None, Some("2147483647")]),
        (of(PgType::Int8), vec![Some("-9223372036854775808"), None, Some("7")]),
        (of(PgType::Float4), vec![Some("-0"), None, Some("NaN")]),
        (of(PgType::Float8), vec![Some("-1.5"), None, Some("Infinity")]),
        (of(PgType::Numeric), vec![Some("1.00"), None, Some("-123456789012345678901234567890123456789012.5")]),
        (decimal(10, 2), vec![Some("-12345678.90"), None, Some("0.01")]),
        (decimal(38, 10), vec![Some("-1234567890123456789012345678.0123456789"), None, Some("0")]),
        (of(PgType::Text), vec![Some(""), None, Some("a longer text than twelve bytes, é")]),
        (of(PgType::Bytea), vec![Some("\\x"), None, Some("\\x00ff00")]),
        (of(PgType::Date), vec![Some("infinity"), None, Some("0044-03-15 BC")]),
        (of(PgType::Time), vec![Some("00:00:00"), None, Some("24:00:00")]),
        (of(PgType::Timetz), vec![Some("10:00:00+02"), None, Some("23:59:59.999999-11:30")]),
        (of(PgType::Timestamp), vec![Some("-infinity"), None, Some("2024-02-29 12:34:56.789")]),
        (of(PgType::Timestamptz), vec![Some("1999-12-31 23:59:59+00"), None, Some("infinity")]),
        (of(PgType::Interval), vec![Some("1 mon -3 days 04:05:06.7"), None, Some("30 days")]),
        (of(PgType::Uuid), vec![Some("00000000-0000-0000-0000-000000000001"), None, Some("ffffffff-ffff-ffff-ffff-ffffffffffff")]),
        (of(PgType::Jsonb), vec![Some("{\"a\": [1, 2.50]}"), None, Some("null")]),
        (of(PgType::Json), vec![Some("{ \"a\":1}"), None, Some("[]")]),
        (of(PgType::Int4.array_of()), vec![Some("{1,NULL,3}"), None, Some("{}")]),
        (of(PgType::Timestamp.array_of()), vec![Some("{2024-02-29,NULL,infinity}"), None, Some("{1969-12-31 BC}")]),
        (of(PgType::Text.array_of()), vec![Some("[0:0][2:3]={{a,\"b c\"}}"), None, Some("{NULL}")]),
        (of(PgType::Oid), vec![Some("4294967295"), None, Some("0")]),
    ]
}

type Cells = Vec<(FamilyId, Vec<u8>, Vec<u8>)>;

fn encode(codec: &RowCodec, columns: &HashMap<ColumnId, ArrayRef>, rows: usize) -> Vec<(Vec<u8>, Cells)> {
    let mut encoder = RowEncoder::new(codec, |id| columns.get(&id).cloned()).unwrap();
    (0..rows)
        .map(|row| {
            let mut key = Vec::new();
            encoder.key(row, &mut key).unwrap();
            let mut cells = Cells::new();
            encoder
                .cells(
                    row,
                    |_| true,
                    |family, qualifier, value| {
                        if let Some(value) = value {
                            cells.push((family, qualifier.to_vec(), value.to_vec()));
                        }
                        Ok(())
                    },
                )
                .unwrap();
            cells.sort();
            (key, cells)
        })
        .collect()
}

fn feed(decoder: &mut ScanDecoder, rows: &[(Vec<u8>, Cells)]) {
    let wanted = decoder.families();
    for (key, cells) in rows {
        let cells: Vec<CellRef<'_>> = cells
            .iter()
            .filter(|(family, _, _)| wanted.contains(family))
            .map(|(family, qualifier, value)| CellRef { family: *family, qualifier, timestamp: Timestamp(1), value })
            .collect();
        let _ = decoder.row(key, &cells);
    }
    if let Some(error) = decoder.take_error() {
        panic!("{error}");
    }
}

fn make_plain(table: &mut TableDescriptor) {
    table.families.iter_mut().for_each(|family| family.plain = true);
    table.columns.iter_mut().for_each(|column| column.qualifier = Some(format!("{}!", column.name)));
}

#[test]
fn plain_values_are_what_other_programs_read() {
    let int = SqlType::new(PgType::Int4);
    for (ty, text, bytes) in [
        (PgType::Int2, "-2", &b"\xff\xfe"[..]),
        (PgType::Int4, "258", b"\0\0\x01\x02"),
        (PgType::Int8, "-1", &[0xff; 8]),
        (PgType::Float4, "-1.5", b"\xbf\xc0\0\0"),
        (PgType::Float8, "20.5", b"\x40\x34\x80\0\0\0\0\0"),
        (PgType::Bool, "t", b"\xff"),
        (PgType::Bool, "f", b"\0"),
        (PgType::Text, "ä", b"\xc3\xa4"),
        (PgType::Text, "", b""),
        (PgType::Name, "n", b"n"),
        (PgType::Bytea, "\\x00ff", b"\0\xff"),
        (PgType::Numeric, "12.50", b"12.50"),
        (PgType::Date, "2024-02-29", b"2024-02-29"),
        (PgType::Timestamptz, "2024-02-29 12:00:00.5+00", b"2024-02-29 12:00:00.5+00"),
        (PgType::Interval, "1 day 02:00:00", b"1 day 02:00:00"),
        (PgType::Uuid, "00000000-0000-0000-0000-00000000000a", b"00000000-0000-0000-0000-00000000000a"),
        (PgType::Jsonb, "{\"a\": 1}", b"{\"a\": 1}"),
        (PgType::Int4.array_of(), "{1,NULL}", b"{1,NULL}"),
        (PgType::Oid, "4294967295", b"4294967295"),
        // The number, since its name may be another's tomorrow.
        (PgType::Regtype, "integer", b"23"),
    ] {
        let ty = SqlType::new(ty);
        let mut t = table(&[("k", int.clone()), ("v", ty.clone())], &[(0, false)], &[(Layout::Cells, &[1])]);
        make_plain(&mut t);
        let codec = RowCodec::new(&t).unwrap();
        let columns =
            HashMap::from([(ColumnId(1), column(&int, &[Some("1"), Some("2")])), (ColumnId(2), column(&ty, &[Some(text), None]))]);
        let rows = encode(&codec, &columns, 2);
        let marker = (FamilyId(0), Vec::new(), Vec::new());
        assert_eq!(rows[0].1, [marker.clone(), (FamilyId(0), b"v!".to_vec(), bytes.to_vec())], "{ty} {text}");
        assert_eq!(rows[1].1, [marker], "NULL is no cell");
    }
}

#[test]
fn what_keys_do_not_give_back_is_a_plain_value_too() {
    let ty = SqlType::new(PgType::Numeric);
    let mut t = table(&[("k", ty.clone())], &[(0, false)], &[(Layout::Cells, &[])]);
    make_plain(&mut t);
    let codec = Arc::new(RowCodec::new(&t).unwrap());
    let k = column(&ty, &[Some("1.0"), Some("1.00")]);
    let rows = encode(&codec, &HashMap::from([(ColumnId(1), k.clone())]), 2);
    assert_eq!(rows[1].1[1], (FamilyId(0), b"k!".to_vec(), b"1.00".to_vec()));
    let mut decoder = ScanDecoder::new(&ColumnSource::Table(codec), &[ColumnId(1)], 10).unwrap();
    feed(&mut decoder, &rows);
    assert_eq!(&decoder.finish().unwrap()[0], &k);
}

#[test]
fn plain_cells_that_hold_no_value_are_reported() {
    let int = SqlType::new(PgType::Int4);
    let mut t = table(&[("k", int.clone()), ("v", int.clone())], &[(0, false)], &[(Layout::Cells, &[1])]);
    make_plain(&mut t);
    let codec = Arc::new(RowCodec::new(&t).unwrap());
    let one = column(&int, &[Some("1")]);
    let mut rows = encode(&codec, &HashMap::from([(ColumnId(1), one.clone()), (ColumnId(2), one)]), 1);
    rows[0].1[1].2.pop();
    let mut decoder = ScanDecoder::new(&ColumnSource::Table(codec), &[ColumnId(2)], 10).unwrap();
    let cells: Vec<CellRef<'_>> =
        rows[0].1.iter().map(|(family, qualifier, value)| CellRef { family: *family, qualifier, timestamp: Timestamp(1), value }).collect();
    let _ = decoder.row(&rows[0].0, &cells);
    let error = decoder.take_error().unwrap();
    assert!(error.message().contains("column \"v\" hold no integer"), "{}", error.message());
}

#[test]
fn every_type_comes_back_in_both_layouts() {
    let layouts = [
        (Layout::Packed, false, Epoch::Postgres),
        (Layout::Cells, false, Epoch::Postgres),
        (Layout::Packed, false, Epoch::Unix),
        (Layout::Cells, true, Epoch::Postgres),
        (Layout::Cells, true, Epoch::Unix),
    ];
    for (layout, plain, epoch) in layouts {
        for (ty, values) in types() {
            let of_version = table(&[("k", SqlType::new(PgType::Int4)), ("v", ty.clone())], &[(0, false)], &[(layout, &[1])]);
            let mut t = TableDescriptor { epoch, ..of_version };
            if plain {
                make_plain(&mut t);
            }
            let codec = Arc::new(RowCodec::new(&t).unwrap());
            let k = column(&SqlType::new(PgType::Int4), &[Some("1"), Some("2"), Some("3")]);
            let v = column(&ty, &values);
            let columns = HashMap::from([(ColumnId(1), k.clone()), (ColumnId(2), v.clone())]);
            let rows = encode(&codec, &columns, 3);
            let mut decoder = ScanDecoder::new(&ColumnSource::Table(codec), &[ColumnId(2), ColumnId(1)], 10).unwrap();
            feed(&mut decoder, &rows);
            let out = decoder.finish().unwrap();
            assert_eq!(&out[0], &v, "{ty} {layout:?}");
            assert_eq!(&out[1], &k);
        }
    }
}

#[test]
fn every_type_comes_back_from_keys_in_the_order_of_its_values() {
    for (descending, epoch) in [(false, Epoch::Postgres), (true, Epoch::Postgres), (true, Epoch::Unix)] {
        for (ty, values) in types() {
            if ty.ty == PgType::Json {
                continue;
            }
            let of_version = table(&[("k", ty.clone()), ("v", SqlType::new(PgType::Int4))], &[(0, descending)], &[(Layout::Packed, &[1])]);
            let t = TableDescriptor { epoch, ..of_version };
            let codec = Arc::new(RowCodec::new(&t).unwrap());
            let present: Vec<Option<&str>> = values.iter().copied().flatten().map(Some).collect();
            let k = column(&ty, &present);
            let v = column(&SqlType::new(PgType::Int4), &[Some("1"), None]);
            let columns = HashMap::from([(ColumnId(1), k.clone()), (ColumnId(2), v.clone())]);
            let rows = encode(&codec, &columns, 2);
            let mut decoder = ScanDecoder::new(&ColumnSource::Table(codec), &[ColumnId(1), ColumnId(2)], 10).unwrap();
            feed(&mut decoder, &rows);
            let out = decoder.finish().unwrap();
            assert_eq!(&out[0], &k, "{ty}");
            assert_eq!(&out[1], &v);
            let sort = stoa_pg::values::sort_key(&ty, &k).unwrap();
            let ordering = arrow::array::make_comparator(&sort, &sort, arrow::compute::SortOptions::default()).unwrap()(0, 1);
            assert_eq!(rows[0].0.cmp(&rows[1].0), if descending { ordering.reverse() } else { ordering }, "{ty}");
        }
    }
}

#[test]
fn equal_numbers_are_one_key_and_keep_their_scale() {
    let ty = SqlType::new(PgType::Numeric);
    let t = table(&[("k", ty.clone())], &[(0, false)], &[(Layout::Packed, &[])]);
    let codec = Arc::new(RowCodec::new(&t).unwrap());
    let k = column(&ty, &[Some("1.0"), Some("1.00")]);
    let rows = encode(&codec, &HashMap::from([(ColumnId(1), k.clone())]), 2);
    assert_eq!(rows[0].0, rows[1].0);
    let mut decoder = ScanDecoder::new(&ColumnSource::Table(codec), &[ColumnId(1)], 10).unwrap();
    feed(&mut decoder, &rows);
    assert_eq!(&decoder.finish().unwrap()[0], &k);
}

#[test]
fn columns_added_later_read_as_they_were_declared_and_dropped_ones_are_gone() {
    let int = SqlType::new(PgType::Int4);
    let before = table(&[("k", int.clone()), ("a", int.clone())], &[(0, false)], &[(Layout::Packed, &[1])]);
    let codec = RowCodec::new(&before).unwrap();
    let one = column(&int, &[Some("1")]);
    let rows = encode(&codec, &HashMap::from([(ColumnId(1), one.clone()), (ColumnId(2), one.clone())]), 1);
    let text = SqlType::new(PgType::Text);
    let mut after = table(
        &[("k", int.clone()), ("a", int.clone()), ("b", text.clone()), ("c", int.clone())],
        &[(0, false)],
        &[(Layout::Packed, &[2, 3])],
    );
    after.columns[1].dropped = true;
    after.columns[2].missing = Some("x".into());
    let codec = Arc::new(RowCodec::new(&after).unwrap());
    let mut decoder = ScanDecoder::new(&ColumnSource::Table(codec), &[ColumnId(3), ColumnId(4)], 10).unwrap();
    feed(&mut decoder, &rows);
    let out = decoder.finish().unwrap();
    assert_eq!(&out[0], &column(&text, &[Some("x")]));
    assert_eq!(&out[1], &column(&int, &[None]));
}

fn index(parts: &[(u32, SqlType, bool, bool)], include: &[u32], unique: bool) -> IndexDescriptor {
    IndexDescriptor {
        oid: 30_000,
        name: "i".into(),
        storage: TableId(101),
        unique,
        nulls_not_distinct: false,
        primary: false,
        parts: parts
            .iter()
            .map(|(id, ty, descending, nulls_first)| IndexPart {
                key: IndexKey::Column(ColumnId(*id)),
                ty: ty.clone(),
                class: None,
                collation: None,
                descending: *descending,
                nulls_first: *nulls_first,
            })
            .collect(),
        include: include.iter().map(|id| ColumnId(*id)).collect(),
        predicate: None,
        state: IndexState::Readable,
        readable_from: 0,
        replaces: None,
        constraint: None,
        method: "btree".into(),
        options: Vec::new(),
        salt_buckets: None,
        comment: None,
    }
}

#[test]
fn index_entries_point_to_their_rows_and_give_what_they_cover() {
    let (int, text) = (SqlType::new(PgType::Int4), SqlType::new(PgType::Text));
    for unique in [false, true] {
        for salted in [false, true] {
            let mut t = table(&[("k", text.clone()), ("a", int.clone()), ("b", int.clone())], &[(0, true)], &[(Layout::Packed, &[1, 2])]);
            t.salt = salted.then(|| Salt { buckets: 4, columns: Vec::new() });
            let codec = Arc::new(RowCodec::new(&t).unwrap());
            let index = index(&[(2, int.clone(), true, true)], &[3], unique);
            let entries = Arc::new(IndexCodec::new(&t, &index).unwrap());
            let columns = HashMap::from([
                (ColumnId(1), column(&text, &[Some("x"), Some("y"), Some("z")])),
                (ColumnId(2), column(&int, &[Some("1"), None, Some("5")])),
                (ColumnId(3), column(&int, &[Some("10"), Some("20"), None])),
            ]);
            let rows = encode(&codec, &columns, 3);
            let mut encoder = IndexEncoder::new(&entries, |_| columns.get(&ColumnId(2)).cloned(), |id| columns.get(&id).cloned()).unwrap();
            let stored: Vec<(Vec<u8>, Cells)> = (0..3)
                .map(|row| {
                    let mut key = Vec::new();
                    encoder.key(row, &rows[row].0, &mut key).unwrap();
                    (key, vec![(INDEX_FAMILY, Vec::new(), encoder.cell(row, &rows[row].0).unwrap().to_vec())])
                })
                .collect();
            // NULLS FIRST, then descending.
            assert!(stored[1].0 < stored[2].0 && stored[2].0 < stored[0].0);
            assert_eq!(encoder.is_exclusive(0), unique);
            assert!(!encoder.is_exclusive(1));
            let source = ColumnSource::Index(entries);
            let mut decoder =
                ScanDecoder::new(&source, &[ColumnId(3), ColumnId(1), ColumnId(2)], 10).unwrap().collect_row_keys(&source).unwrap();
            feed(&mut decoder, &stored);
            let keys = decoder.take_keys();
            assert!((0..3).all(|row| keys.get(row) == rows[row].0));
            let out = decoder.finish().unwrap();
            for (array, id) in out.iter().zip([3, 1, 2]) {
                assert_eq!(array, &columns[&ColumnId(id)], "unique {unique}");
            }
            let mut bare = ScanDecoder::new(&source, &[], 10).unwrap().collect_row_keys(&source).unwrap();
            feed(&mut bare, &stored);
            let keys = bare.take_keys();
            assert!((0..3).all(|row| keys.get(row) == rows[row].0));
        }
    }
}

#[test]
fn corrupt_rows_are_errors() {
    let int = SqlType::new(PgType::Int4);
    let t = table(&[("k", int.clone()), ("v", int)], &[(0, false)], &[(Layout::Packed, &[1])]);
    let codec = Arc::new(RowCodec::new(&t).unwrap());
    for (key, value) in [(&b"\x80\0\0\x01"[..], &b"\x01\x00"[..]), (b"\x80", b"\x01\x00\x00\x00"), (b"\x80\0\0\x01", b"")] {
        let mut decoder = ScanDecoder::new(&ColumnSource::Table(Arc::clone(&codec)), &[ColumnId(1), ColumnId(2)], 10).unwrap();
        let cells = [CellRef { family: FamilyId(0), qualifier: b"", timestamp: Timestamp(1), value }];
        let _ = decoder.row(key, &cells);
        assert_eq!(decoder.take_error().unwrap().code(), stoa_pg::SqlState::DATA_CORRUPTED);
    }
}

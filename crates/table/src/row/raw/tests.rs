//! Cells of raw tables: their form, and which of them count.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::cell::{self, CellKind};
use super::visible::{FamilyLimits, Limits, Wanted, garbage, visible};
use crate::catalog::{CELLS, ColumnId, Encoding, Epoch, MappedColumn};
use crate::row::named_cell::{CellValues, NamedCell};
use CellKind::{Delete, DeleteColumn, DeleteFamily, DeleteFamilyVersion, Put};
use stoa_pg::types::PgType;
use stoa_pg::{EvalContext, SqlType};
use stoa_store::{CellRef, FamilyId, Timestamp};

const F: FamilyId = FamilyId(0);
const G: FamilyId = FamilyId(3);

fn limits() -> Limits {
    Limits(vec![
        FamilyLimits { id: F, versions: 2, min_versions: 0, ttl: None },
        FamilyLimits { id: G, versions: 3, min_versions: 1, ttl: Some(100) },
    ])
}

/// Stored cells: value and qualifier, as a store sorts them.
fn stored(cells: &[(FamilyId, &str, i64, CellKind)]) -> Vec<Vec<u8>> {
    let mut out: Vec<Vec<u8>> =
        cells.iter().map(|(family, q, time, kind)| cell::qualifier(&cell::column(*family, q.as_bytes()), *time, *kind)).collect();
    out.sort();
    out
}

fn refs(stored: &[Vec<u8>]) -> Vec<CellRef<'_>> {
    stored.iter().map(|qualifier| CellRef { family: CELLS, qualifier, timestamp: Timestamp(0), value: b"" }).collect()
}

/// What counts, as `family/qualifier@time`, deletions with their names.
fn seen(cells: &[(FamilyId, &str, i64, CellKind)], wanted: &Wanted, now: i64) -> String {
    let stored = stored(cells);
    let mut out = Vec::new();
    visible(&refs(&stored), &limits(), wanted, now, |cell| {
        let kind = if cell.kind == Put { "" } else { cell.kind.name() };
        let qualifier = cell::qualifier_of(cell.column).unwrap().into_owned();
        out.push(format!("{}/{}@{}{kind}", cell.family.0, String::from_utf8(qualifier).unwrap(), cell.time));
        Ok(())
    })
    .unwrap();
    out.join(" ")
}

#[test]
fn a_qualifier_holds_family_column_time_and_kind() {
    for qualifier in [&b""[..], b"q", b"a\0b", b"\xff"] {
        for kind in [Put, Delete, DeleteFamilyVersion, DeleteColumn, DeleteFamily] {
            for time in [0, 1, 1_700_000_000_000, i64::MAX] {
                let column = cell::column(FamilyId(0x0102), qualifier);
                let stored = cell::qualifier(&column, time, kind);
                let parts = cell::parse(&stored).unwrap();
                assert_eq!((parts.column, parts.family, parts.time, parts.kind), (column.as_slice(), FamilyId(0x0102), time, kind));
                assert_eq!(&*cell::qualifier_of(parts.column).unwrap(), qualifier);
            }
        }
    }
    // The bytes are a promise.
    let stored = cell::qualifier(&cell::column(FamilyId(1), b"q"), 2, Put);
    assert_eq!(stored, [0, 1, b'q', 0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfd, 0xfb]);
    for bad in [&b""[..], &stored[..stored.len() - 1], b"0123456789ab"] {
        assert_eq!(cell::parse(bad).unwrap_err().code(), stoa_pg::SqlState::DATA_CORRUPTED, "{bad:?}");
    }
}

#[test]
fn the_newest_sorts_first_and_deletions_before_what_they_hide() {
    let at = |q: &str, time, kind| cell::qualifier(&cell::column(F, q.as_bytes()), time, kind);
    assert!(at("q", 2, Put) < at("q", 1, DeleteColumn));
    assert!(at("q", 1, DeleteColumn) < at("q", 1, Delete) && at("q", 1, Delete) < at("q", 1, Put));
    assert!(at("", 1, DeleteFamily) < at("a", 9, Put) && at("q", 0, Put) < at("qq", 9, Put));
}

#[test]
fn versions_times_and_deletions_follow_hbase() {
    let all = Wanted { versions: 9, ..Wanted::newest() };
    let cells = [(F, "a", 1, Put), (F, "a", 2, Put), (F, "a", 3, Put), (F, "b", 1, Put), (FamilyId(9), "gone", 1, Put)];
    assert_eq!(seen(&cells, &Wanted::newest(), 0), "0/a@3 0/b@1");
    assert_eq!(seen(&cells, &all, 0), "0/a@3 0/a@2 0/b@1");
    assert_eq!(seen(&cells, &Wanted { times: (1, 3), ..all.clone() }, 0), "0/a@2 0/a@1 0/b@1");
    let with = |more: (FamilyId, &'static str, i64, CellKind)| [&cells[..], &[more]].concat();
    assert_eq!(seen(&with((F, "a", 3, Delete)), &all, 0), "0/a@2 0/a@1 0/b@1");
    assert_eq!(seen(&with((F, "a", 4, Delete)), &all, 0), "0/a@3 0/a@2 0/b@1");
    assert_eq!(seen(&with((F, "a", 2, DeleteColumn)), &all, 0), "0/a@3 0/b@1");
    assert_eq!(seen(&with((F, "", 2, DeleteFamily)), &all, 0), "0/a@3");
    assert_eq!(seen(&with((F, "", 1, DeleteFamilyVersion)), &all, 0), "0/a@3 0/a@2");
    // A deletion behind the time range hides as well.
    assert_eq!(seen(&with((F, "a", 5, DeleteColumn)), &Wanted { times: (1, 3), ..all.clone() }, 0), "0/b@1");
    let raw = Wanted { raw: true, ..all };
    assert_eq!(seen(&with((F, "a", 2, DeleteColumn)), &raw, 0), "0/a@3 0/a@2DeleteColumn 0/a@2 0/a@1 0/b@1");
    assert_eq!(seen(&with((F, "a", 2, DeleteColumn)), &Wanted { versions: 1, ..raw }, 0), "0/a@3 0/a@2DeleteColumn 0/b@1");
}

#[test]
fn ages_end_values_but_for_the_least_versions() {
    let cells = [(G, "a", 1, Put), (G, "a", 50, Put), (G, "a", 60, Put)];
    let all = Wanted { versions: 9, ..Wanted::newest() };
    assert_eq!(seen(&cells, &all, 100), "3/a@60 3/a@50 3/a@1");
    assert_eq!(seen(&cells, &all, 101), "3/a@60 3/a@50 3/a@1");
    assert_eq!(seen(&cells, &all, 102), "3/a@60 3/a@50");
    assert_eq!(seen(&cells, &all, 1000), "3/a@60");
    assert_eq!(seen(&cells, &Wanted { raw: true, ..all }, 1000), "3/a@60 3/a@50 3/a@1");
}

#[test]
fn garbage_is_what_no_read_gives_any_more() {
    let cells = [
        (F, "a", 1, Put),
        (F, "a", 2, Put),
        (F, "a", 3, Put),
        (F, "b", 4, Put),
        (F, "b", 5, DeleteColumn),
        (F, "b", 6, Put),
        (FamilyId(9), "gone", 1, Put),
    ];
    let stored = stored(&cells);
    let left = |keep_from: i64| {
        let gone = garbage(&refs(&stored), &limits(), 0, keep_from).unwrap();
        let rest: Vec<Vec<u8>> = stored.iter().enumerate().filter(|(at, _)| !gone.contains(at)).map(|(_, q)| q.clone()).collect();
        let mut out = Vec::new();
        let raw = Wanted { versions: 9, raw: true, ..Wanted::newest() };
        visible(&refs(&rest), &limits(), &raw, 0, |cell| {
            out.push(format!("{}@{}", String::from_utf8(cell::qualifier_of(cell.column)?.into_owned()).unwrap(), cell.time));
            Ok(())
        })
        .unwrap();
        out.join(" ")
    };
    assert_eq!(left(0), "a@3 a@2 b@6 b@5");
    assert_eq!(left(10), "a@3 a@2 b@6");
}

fn bytes_of(encoding: Encoding, ty: PgType, text: &str) -> Vec<u8> {
    let ty = SqlType::new(ty);
    let mut values = stoa_pg::values::builder(&ty).unwrap();
    values.text(&EvalContext::default(), text).unwrap();
    let mapped = MappedColumn { column: ColumnId(1), family: 0, qualifier: b"q".to_vec(), encoding };
    let cell = NamedCell::of_raw("c", &ty, &mapped);
    let mut out = Vec::new();
    assert!(CellValues::new(&cell, Epoch::Unix, &values.finish().unwrap()).unwrap().append(0, &mut out).unwrap());
    // What was written is read.
    let mut column = cell.builder(1).unwrap();
    encoding.decode(&ty, "c", &out, &mut column).unwrap();
    let array = column.finish_in(Epoch::Unix).unwrap();
    let context = EvalContext::default();
    let mut back = Vec::new();
    stoa_pg::values::writer(&context, &ty, array.as_ref()).unwrap().text(0, &mut back).unwrap();
    assert_eq!(String::from_utf8(back).unwrap(), text);
    out
}

#[test]
fn values_lie_as_other_programs_write_them() {
    for (encoding, ty, text, hex) in [
        (Encoding::Bytes, PgType::Int2, "-2", "fffe"),
        (Encoding::Bytes, PgType::Int4, "258", "00000102"),
        (Encoding::Bytes, PgType::Int8, "-1", "ffffffffffffffff"),
        (Encoding::Bytes, PgType::Float4, "-1.5", "bfc00000"),
        (Encoding::Bytes, PgType::Float8, "1", "3ff0000000000000"),
        (Encoding::Bytes, PgType::Bool, "t", "ff"),
        (Encoding::Bytes, PgType::Bool, "f", "00"),
        (Encoding::Bytes, PgType::Text, "ä", "c3a4"),
        (Encoding::Bytes, PgType::Bytea, "\\x00ff", "00ff"),
        (Encoding::Text, PgType::Int4, "-7", "2d37"),
        (Encoding::Text, PgType::Bool, "t", "74727565"),
        (Encoding::Text, PgType::Date, "2024-02-29", "323032342d30322d3239"),
        (Encoding::Text, PgType::Timestamp, "2024-02-29 12:00:00.5", "323032342d30322d32392031323a30303a30302e35"),
        (Encoding::Phoenix, PgType::Int2, "-1", "7fff"),
        (Encoding::Phoenix, PgType::Int4, "1", "80000001"),
        (Encoding::Phoenix, PgType::Int8, "-1", "7fffffffffffffff"),
        (Encoding::Phoenix, PgType::Bool, "t", "01"),
        (Encoding::Phoenix, PgType::Float4, "1", "bf800001"),
        (Encoding::Phoenix, PgType::Float8, "1", "bff0000000000001"),
        (Encoding::Phoenix, PgType::Float8, "-1", "4010000000000000"),
        (Encoding::Phoenix, PgType::Date, "1970-01-02", "8000000005265c00"),
        (Encoding::Phoenix, PgType::Timestamp, "1970-01-01 00:00:00.001002", "8000000000000001000007d0"),
    ] {
        let shown: String = bytes_of(encoding, ty.clone(), text).iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(shown, hex, "{encoding:?} {ty:?} {text}");
    }
}

#[test]
fn bytes_that_hold_no_value_are_reported() {
    let cases: [(Encoding, PgType, &[u8]); 5] = [
        (Encoding::Bytes, PgType::Int4, b"123"),
        (Encoding::Bytes, PgType::Bool, b""),
        (Encoding::Bytes, PgType::Text, b"\xff"),
        (Encoding::Text, PgType::Int4, b"1x"),
        (Encoding::Phoenix, PgType::Timestamp, b"1234567"),
    ];
    for (encoding, ty, bytes) in cases {
        let ty = SqlType::new(ty);
        let mut column = encoding.builder(&ty, 1).unwrap();
        let error = encoding.decode(&ty, "c", bytes, &mut column).unwrap_err();
        assert_eq!(error.code(), stoa_pg::SqlState::INVALID_BINARY_REPRESENTATION, "{encoding:?} {bytes:?}");
        assert!(error.message().contains("column \"c\""), "{}", error.message());
    }
}

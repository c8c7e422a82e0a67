//! What COPY FROM makes of data, by pieces of any size.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::Encoder;
use super::decode::*;
use super::options::CopyOptions;
use crate::session::api::OutputColumn;
use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::datatypes::{Field, Schema};
use std::sync::Arc;
use stoa_pg::{EvalContext, PgError, PgType, SqlType};

fn options(text: &str) -> CopyOptions {
    match stoa_syntax::parse_script(&format!("COPY t {text}")).unwrap().remove(0).body {
        stoa_syntax::Body::Utility(utility) => match *utility {
            stoa_syntax::utility::Utility::Copy(copy) => CopyOptions::read(&copy.options, copy.from).unwrap(),
            other => panic!("{other:?}"),
        },
        stoa_syntax::Body::Sql(_) => panic!(),
    }
}

fn columns() -> Vec<TargetColumn> {
    [("a", PgType::Int4), ("b", PgType::Text)]
        .map(|(name, ty)| TargetColumn { name: name.into(), ty: SqlType::new(ty), undeclared: false })
        .to_vec()
}

/// Rows as `a|b`, from data in pieces of `size` bytes.
fn read(text: &str, data: &[u8], size: usize) -> Result<String, PgError> {
    let mut decoder = Decoder::new("t".into(), options(text), columns(), EvalContext::default()).unwrap();
    for piece in data.chunks(size) {
        decoder.push(piece);
        decoder.decode(100, false)?;
    }
    decoder.decode(100, true)?;
    let Piece { rows, columns: arrays, .. } = decoder.take()?;
    let mut out = Vec::new();
    for row in 0..rows {
        let values: Vec<String> = arrays
            .iter()
            .map(|a| {
                if a.is_null(row) {
                    return "NULL".into();
                }
                datafusion::common::ScalarValue::try_from_array(a, row).unwrap().to_string()
            })
            .collect();
        out.push(values.join("|"));
    }
    Ok(out.join(";"))
}

/// A line of a table without columns is a row if it is empty.
#[test]
fn rows_without_columns() {
    for text in ["FROM STDIN", "FROM STDIN (FORMAT csv)"] {
        let mut decoder = Decoder::new("t".into(), options(text), Vec::new(), EvalContext::default()).unwrap();
        decoder.push(b"\n\n");
        decoder.decode(100, true).unwrap();
        assert_eq!(decoder.take().unwrap().rows, 2, "{text}");
        decoder.push(b"x\n");
        assert_eq!(decoder.decode(100, true).unwrap_err().message(), "extra data after last expected column", "{text}");
    }
}

/// Data and what PostgreSQL 15 makes of it.
#[test]
fn rows_of_text_and_csv() {
    for (text, data, expected) in [
        ("FROM STDIN", &b"1\tx\n2\t\\N\n"[..], "1|x;2|NULL"),
        ("FROM STDIN", b"1\ta\\tb\\nc\\\\d\\x41\\101\\q\n", "1|a\tb\nc\\dAAq"),
        ("FROM STDIN", b"1\ta\\\nb\n2\tc", "1|a\nb;2|c"),
        ("FROM STDIN", b"1\tx\r\n2\ty\r\n", "1|x;2|y"),
        ("FROM STDIN", b"1\tx\r2\ty\r", "1|x;2|y"),
        ("FROM STDIN", b"1\tx\n\\.\nignored", "1|x"),
        ("FROM STDIN", b"1\tx\n2\ty\\.\nignored\n", "1|x;2|y"),
        ("FROM STDIN (DELIMITER '|')", b"1|\\.\n3|z\n", "1|"),
        ("FROM STDIN", b"1\tx\\\\.y\n", "1|x\\.y"),
        ("FROM STDIN", b"\\N\t\n", "NULL|"),
        ("FROM STDIN (DELIMITER '|', NULL 'null')", b"null|null\n3|\\null\n", "NULL|NULL;3|\null"),
        ("FROM STDIN (FORMAT csv)", b"1,x\n2,\n3,\"\"\n", "1|x;2|NULL;3|"),
        ("FROM STDIN (FORMAT csv)", b"1,\"a,\"\"b\"\"\nc\"\n2,x\"y\"z\n", "1|a,\"b\"\nc;2|xyz"),
        ("FROM STDIN (FORMAT csv)", b"1,\"x\r\ny\"\r\n2,z\r\n", "1|x\r\ny;2|z"),
        ("FROM STDIN (FORMAT csv, HEADER)", b"one,two\n1,x\n", "1|x"),
        ("FROM STDIN (FORMAT csv, HEADER match)", b"a,b\n1,x\n", "1|x"),
        ("FROM STDIN (FORMAT csv, QUOTE '''', ESCAPE '\\')", b"1,'it\\'s\\\\'\n", "1|it's\\"),
        ("FROM STDIN (FORMAT csv, FORCE_NULL (b))", b"1,\"\"\n", "1|NULL"),
        ("FROM STDIN (FORMAT csv, FORCE_NOT_NULL (b))", b"1,\n", "1|"),
    ] {
        for size in [1, 2, 3, data.len()] {
            assert_eq!(read(text, data, size).as_deref(), Ok(expected), "{text} {} by {size}", String::from_utf8_lossy(data));
        }
    }
}

#[test]
fn errors_with_their_place() {
    for (text, data, code, message, context) in [
        ("FROM STDIN", &b"1\tx\n2\n"[..], "22P04", "missing data for column \"b\"", "COPY t, line 2: \"2\""),
        ("FROM STDIN", b"1\tx\ty\n", "22P04", "extra data after last expected column", "COPY t, line 1: \"1\tx\ty\""),
        ("FROM STDIN", b"z\tx\n", "22P02", "invalid input syntax for type integer: \"z\"", "COPY t, line 1, column a: \"z\""),
        ("FROM STDIN", b"1\t\xff\n", "22021", "invalid byte sequence for encoding \"UTF8\": 0xff", "COPY t, line 1"),
        ("FROM STDIN", b"1\tx\n2\ty\rz\n", "22P04", "literal carriage return found in data", "COPY t, line 2"),
        ("FROM STDIN", b"1\tx\n2\ty\\.z\n", "22P04", "end-of-copy marker corrupt", "COPY t, line 2"),
        ("FROM STDIN", b"1\\.\tx\n", "22P04", "end-of-copy marker corrupt", "COPY t, line 1"),
        ("FROM STDIN (FORMAT csv)", b"1,\"x\n", "22P04", "unterminated CSV quoted field", "COPY t, line 1: \"1,\"x\n\""),
        ("FROM STDIN (FORMAT csv)", b"1,x\n2,y\rz\n", "22P04", "unquoted carriage return found in data", "COPY t, line 2"),
        (
            "FROM STDIN (FORMAT csv, HEADER match)",
            b"a,c\n",
            "22P04",
            "column name mismatch in header line field 2: got \"c\", expected \"b\"",
            "COPY t, line 1: \"a,c\"",
        ),
        ("FROM STDIN (FORMAT binary)", b"nonsense here", "22P04", "COPY file signature not recognized", ""),
    ] {
        let error = read(text, data, data.len()).unwrap_err();
        let fields = error.fields();
        assert_eq!((error.code().as_str(), error.message()), (code, message));
        assert_eq!(fields.context.as_deref().unwrap_or(""), context, "{message}");
    }
}

#[test]
fn what_is_written_is_read_again() {
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(arrow::array::Int32Array::from(vec![Some(1), None, Some(-3)])),
        Arc::new(arrow::array::StringViewArray::from(vec![Some("a\t\"b\"\n,\\c\r"), Some(""), None])),
    ];
    let schema =
        Schema::new(vec![Field::new("a", arrays[0].data_type().clone(), true), Field::new("b", arrays[1].data_type().clone(), true)]);
    let batch = RecordBatch::try_new(Arc::new(schema), arrays).unwrap();
    let answered: Arc<[OutputColumn]> =
        columns().into_iter().map(|c| OutputColumn { name: c.name, ty: c.ty, table_oid: 0, attnum: 0 }).collect();
    for text in ["", "(FORMAT csv)", "(FORMAT binary)", "(FORMAT csv, HEADER, DELIMITER ';')"] {
        let encoder = Encoder::new(options(&format!("TO STDOUT {text}")), answered.clone(), EvalContext::default()).unwrap();
        let mut data = Vec::new();
        encoder.start(&mut data);
        let mut rows = encoder.batch(&batch).unwrap();
        for row in 0..3 {
            rows.row(row, &mut data).unwrap();
        }
        encoder.end(&mut data);
        for size in [1, 7, data.len()] {
            let read = read(&format!("FROM STDIN {text}"), &data, size).unwrap();
            assert_eq!(read, "1|a\t\"b\"\n,\\c\r;NULL|;-3|NULL", "{text} by {size}");
        }
    }
}

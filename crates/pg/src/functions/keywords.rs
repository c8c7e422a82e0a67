//! `pg_get_keywords`: the key words of PostgreSQL 15, and where each may stand as a name. `keywords.tsv` was asked of a server.

use super::json::rows::Rows;
use crate::args::{Kind, Text};
use crate::registry::{Func, Registry, SetKernel};
use crate::types::{PgType, RecordType, SqlType};
use arrow::array::{ArrayRef, BooleanBuilder};
use std::sync::Arc;

const WORDS: &str = include_str!("keywords.tsv");

/// What a class of key words is called.
fn class(code: &str) -> &'static str {
    match code {
        "U" => "unreserved",
        "C" => "unreserved (cannot be function or type name)",
        "T" => "reserved (can be function or type name)",
        _ => "reserved",
    }
}

/// Registers the entry of this file.
pub fn register(r: &mut Registry) {
    let columns = vec![
        ("word", PgType::Text),
        ("catcode", PgType::Char),
        ("barelabel", PgType::Bool),
        ("catdesc", PgType::Text),
        ("baredesc", PgType::Text),
    ];
    let fields = columns.iter().map(|(name, ty)| ((*name).to_owned(), SqlType::new(ty.clone()))).collect();
    let open: SetKernel = Arc::new(|_, _, _| {
        let [mut words, mut codes, mut classes, mut labels] = [Text::builder(0), Text::builder(0), Text::builder(0), Text::builder(0)];
        let mut bare = BooleanBuilder::new();
        for line in WORDS.lines() {
            let mut parts = line.split('\t');
            let (word, code) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
            let label = parts.next() == Some("t");
            words.append_value(word);
            codes.append_value(code);
            bare.append_value(label);
            classes.append_value(class(code));
            labels.append_value(if label { "can be bare label" } else { "requires AS" });
        }
        let columns: Vec<ArrayRef> = vec![
            Arc::new(words.finish()),
            Arc::new(codes.finish()),
            Arc::new(bare.finish()),
            Arc::new(classes.finish()),
            Arc::new(labels.finish()),
        ];
        Rows::of(columns)
    });
    let ret = PgType::Record(Some(Arc::new(RecordType { fields })));
    let doc = "Returns the key words of SQL, and where each may stand as a name.";
    let mut func = Func::set("pg_get_keywords", &[], columns, ret, open, doc).stable();
    func.strict = true;
    r.add(func);
}

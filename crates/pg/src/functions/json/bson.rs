//! BSON documents as jsonb and back: `bson_to_jsonb`, `jsonb_to_bson`.
//!
//! Types that JSON lacks are objects of MongoDB's relaxed Extended JSON, version 2 (`{"$oid": "…"}`, `{"$date": "…"}`); the bytes are
//! those of bsonspec.org, version 1.1. [`read`] takes documents apart, [`mod@write`] makes them, [`decimal`] is the one number that needs more.

mod decimal;
mod read;
mod write;

use crate::args::{Bytes, strict1};
use crate::error::PgResult;
use crate::registry::Registry;
use crate::types::PgType;
use crate::values::json::binary::{Builder, Node};

const DOUBLE: u8 = 0x01;
const STRING: u8 = 0x02;
const DOCUMENT: u8 = 0x03;
const ARRAY: u8 = 0x04;
const BINARY: u8 = 0x05;
const UNDEFINED: u8 = 0x06;
const OBJECT_ID: u8 = 0x07;
const BOOLEAN: u8 = 0x08;
const DATE: u8 = 0x09;
const NULL: u8 = 0x0a;
const REGULAR_EXPRESSION: u8 = 0x0b;
const DB_POINTER: u8 = 0x0c;
const CODE: u8 = 0x0d;
const SYMBOL: u8 = 0x0e;
const CODE_WITH_SCOPE: u8 = 0x0f;
const INT32: u8 = 0x10;
const TIMESTAMP: u8 = 0x11;
const INT64: u8 = 0x12;
const DECIMAL128: u8 = 0x13;
const MIN_KEY: u8 = 0xff;
const MAX_KEY: u8 = 0x7f;

/// The subtype of binary values whose bytes begin with their length once more.
const OLD_BINARY: u8 = 0x02;
const UUID_BINARY: u8 = 0x04;

/// A document as the text of its jsonb.
///
/// # Errors
/// Those of `bson_to_jsonb`: 22P03 for bytes that are no document, 22P05 for texts with the character 0, 54001 for nesting that is too deep.
pub fn to_text(document: &[u8]) -> PgResult<String> {
    let mut out = Builder::new();
    read::document(document, &mut out)?;
    Ok(Node::root(&out.finish()?).to_text())
}

/// Registers the entries of this file.
pub fn register(r: &mut Registry) {
    use PgType::{Bytea, Jsonb};
    let to_jsonb = strict1::<Bytes, Bytes>(|_, bytes| {
        let mut out = Builder::new();
        read::document(bytes, &mut out)?;
        out.finish()
    });
    r.scalar("bson_to_jsonb", &[Bytea], Jsonb, to_jsonb, "A BSON document as jsonb, by MongoDB's relaxed Extended JSON.");
    let to_bson = strict1::<Bytes, Bytes>(|_, value| {
        let mut out = Vec::new();
        write::root(&Node::root(value), &mut out)?;
        Ok(out)
    });
    r.scalar("jsonb_to_bson", &[Jsonb], Bytea, to_bson, "A jsonb object, of Extended JSON too, as a BSON document.");
}

#[cfg(test)]
mod tests;

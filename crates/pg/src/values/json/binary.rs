//! The bytes of jsonb: readable in place, keys sorted, no parsing.
//!
//! ```text
//! document  := version(1) node
//! node      := tag body                      the low four bits of the tag say the kind; a node's length comes from its container
//! null 0 | false 1 | true 2                  no body
//! number 3                                   canonical decimal text
//! string 4                                   UTF-8
//! array 5   := count end[count] node*        count and ends are 1, 2 or 4 bytes little endian; bits 4-5 of the tag say which
//! object 6  := count keyend[count] end[count] key* node*
//! ```
//! Ends count from the first byte after the last end. Keys are sorted by length, then bytes, and unique. A reader never fails:
//! damaged bytes read as null or empty.

use super::number;
use super::text::{self, JsonKind, MAX_DEPTH, Sink, too_deep, write_string};
use crate::error::{PgError, PgResult};
use crate::memory::{process, reserve};
use crate::sqlstate::SqlState;
use std::cmp::Ordering;

/// The first byte of every document.
pub const VERSION: u8 = 1;

const NULL: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;
const NUMBER: u8 = 3;
const STRING: u8 = 4;
const ARRAY: u8 = 5;
const OBJECT: u8 = 6;

/// A value inside a document.
#[derive(Clone, Copy, Debug)]
pub enum Node<'a> {
    Null,
    Bool(bool),
    /// Canonical decimal text.
    Number(&'a str),
    String(&'a str),
    Array(Array<'a>),
    Object(Object<'a>),
}

/// The ends of a container's parts, and the bytes they point into.
#[derive(Clone, Copy, Debug)]
struct Ends<'a> {
    width: usize,
    table: &'a [u8],
    data: &'a [u8],
}

impl<'a> Ends<'a> {
    /// The end of part `index`; the end of part −1 is 0.
    fn end(&self, index: usize) -> usize {
        let at = index * self.width;
        self.table.get(at..at + self.width).map_or(0, |bytes| bytes.iter().rev().fold(0, |value, byte| (value << 8) | usize::from(*byte)))
    }

    fn part(&self, index: usize) -> &'a [u8] {
        let from = if index == 0 { 0 } else { self.end(index - 1) };
        self.data.get(from..self.end(index)).unwrap_or(&[])
    }
}

/// Reads count and ends; `per_item` is 1 for arrays, 2 for objects.
fn container(bytes: &[u8], per_item: usize) -> (usize, Ends<'_>) {
    let empty = Ends { width: 1, table: &[], data: &[] };
    let Some((tag, body)) = bytes.split_first() else { return (0, empty) };
    let width = 1 << ((tag >> 4) & 3).min(2);
    let Some((count, rest)) = body.split_at_checked(width) else { return (0, empty) };
    let count = count.iter().rev().fold(0usize, |value, byte| (value << 8) | usize::from(*byte));
    match rest.split_at_checked(count.saturating_mul(per_item).saturating_mul(width)) {
        Some((table, data)) => (count, Ends { width, table, data }),
        None => (0, empty),
    }
}

/// An array in place.
#[derive(Clone, Copy, Debug)]
pub struct Array<'a> {
    bytes: &'a [u8],
    len: usize,
    ends: Ends<'a>,
}

impl<'a> Array<'a> {
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The element's bytes, readable by [`Node::read`].
    #[must_use]
    pub fn bytes(&self, index: usize) -> Option<&'a [u8]> {
        (index < self.len).then(|| self.ends.part(index))
    }

    #[must_use]
    pub fn get(&self, index: usize) -> Option<Node<'a>> {
        self.bytes(index).map(Node::read)
    }

    /// The element at an index, counted from the end if negative.
    #[must_use]
    pub fn at(&self, index: i64) -> Option<Node<'a>> {
        let index = if index < 0 { (self.len as i64).checked_add(index)? } else { index };
        self.get(usize::try_from(index).ok()?)
    }

    pub fn iter(&self) -> impl Iterator<Item = Node<'a>> + use<'a> {
        let array = *self;
        (0..array.len).map(move |i| Node::read(array.ends.part(i)))
    }
}

/// An object in place.
#[derive(Clone, Copy, Debug)]
pub struct Object<'a> {
    bytes: &'a [u8],
    len: usize,
    ends: Ends<'a>,
}

impl<'a> Object<'a> {
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[must_use]
    pub fn key(&self, index: usize) -> &'a str {
        std::str::from_utf8(self.ends.part(index)).unwrap_or("")
    }

    #[must_use]
    pub fn value(&self, index: usize) -> Node<'a> {
        Node::read(self.ends.part(self.len + index))
    }

    /// The value's bytes, readable by [`Node::read`].
    #[must_use]
    pub fn value_bytes(&self, index: usize) -> &'a [u8] {
        self.ends.part(self.len + index)
    }

    /// Where a key is.
    #[must_use]
    pub fn position(&self, key: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.len);
        while low < high {
            let middle = usize::midpoint(low, high);
            match key_order(self.ends.part(middle), key.as_bytes()) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    /// How far into the value `root` this object begins, if it lies in there.
    #[must_use]
    pub fn offset_in(&self, root: &Node) -> Option<usize> {
        let whole = match root {
            Node::Array(array) => array.bytes,
            Node::Object(object) => object.bytes,
            _ => return None,
        };
        let offset = (self.bytes.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
        (offset < whole.len()).then_some(offset)
    }

    #[must_use]
    pub fn get(&self, key: &str) -> Option<Node<'a>> {
        self.position(key).map(|i| self.value(i))
    }

    pub fn iter(&self) -> impl Iterator<Item = (&'a str, Node<'a>)> + use<'a> {
        let object = *self;
        (0..object.len).map(move |i| (object.key(i), object.value(i)))
    }
}

/// The order of keys in an object: length, then bytes.
fn key_order(a: &[u8], b: &[u8]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

impl<'a> Node<'a> {
    /// Reads a node's bytes.
    #[must_use]
    pub fn read(bytes: &'a [u8]) -> Node<'a> {
        let Some((tag, body)) = bytes.split_first() else { return Node::Null };
        match tag & 15 {
            FALSE => Node::Bool(false),
            TRUE => Node::Bool(true),
            NUMBER => Node::Number(std::str::from_utf8(body).unwrap_or("0")),
            STRING => Node::String(std::str::from_utf8(body).unwrap_or("")),
            ARRAY => {
                let (len, ends) = container(bytes, 1);
                Node::Array(Array { bytes, len, ends })
            }
            OBJECT => {
                let (len, ends) = container(bytes, 2);
                Node::Object(Object { bytes, len, ends })
            }
            _ => Node::Null,
        }
    }

    /// The root of a document.
    #[must_use]
    pub fn root(document: &'a [u8]) -> Node<'a> {
        Node::read(document.get(1..).unwrap_or(&[]))
    }

    #[must_use]
    pub fn kind(&self) -> JsonKind {
        match self {
            Node::Null => JsonKind::Null,
            Node::Bool(_) => JsonKind::Bool,
            Node::Number(_) => JsonKind::Number,
            Node::String(_) => JsonKind::String,
            Node::Array(_) => JsonKind::Array,
            Node::Object(_) => JsonKind::Object,
        }
    }

    #[must_use]
    pub fn is_scalar(&self) -> bool {
        !matches!(self, Node::Array(_) | Node::Object(_))
    }

    /// The node as a document of its own.
    #[must_use]
    pub fn document(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        self.append(&mut out);
        out
    }

    /// Appends the node's bytes.
    pub fn append(&self, out: &mut Vec<u8>) {
        match self {
            Node::Null => out.push(NULL),
            Node::Bool(value) => out.push(if *value { TRUE } else { FALSE }),
            Node::Number(digits) => {
                out.push(NUMBER);
                out.extend_from_slice(digits.as_bytes());
            }
            Node::String(value) => {
                out.push(STRING);
                out.extend_from_slice(value.as_bytes());
            }
            Node::Array(array) => out.extend_from_slice(array.bytes),
            Node::Object(object) => out.extend_from_slice(object.bytes),
        }
    }

    /// As `->>` gives it: NULL for null, a string without quotes, anything else as printed.
    #[must_use]
    pub fn as_text(&self) -> Option<String> {
        match self {
            Node::Null => None,
            Node::String(value) => Some((*value).to_owned()),
            other => Some(other.to_text()),
        }
    }

    /// As `jsonb` prints it.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = Vec::new();
        self.write(&mut out);
        String::from_utf8(out).unwrap_or_default()
    }

    /// Appends the text as `jsonb` prints it.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Node::Null => out.extend_from_slice(b"null"),
            Node::Bool(true) => out.extend_from_slice(b"true"),
            Node::Bool(false) => out.extend_from_slice(b"false"),
            Node::Number(digits) => out.extend_from_slice(digits.as_bytes()),
            Node::String(value) => write_string(value, out),
            Node::Array(array) => {
                out.push(b'[');
                for (i, element) in array.iter().enumerate() {
                    if i > 0 {
                        out.extend_from_slice(b", ");
                    }
                    element.write(out);
                }
                out.push(b']');
            }
            Node::Object(object) => {
                out.push(b'{');
                for (i, (key, value)) in object.iter().enumerate() {
                    if i > 0 {
                        out.extend_from_slice(b", ");
                    }
                    write_string(key, out);
                    out.extend_from_slice(b": ");
                    value.write(out);
                }
                out.push(b'}');
            }
        }
    }

    /// Appends the text as `jsonb_pretty` prints it.
    pub fn write_pretty(&self, level: usize, out: &mut Vec<u8>) {
        let line = |level: usize, out: &mut Vec<u8>| {
            out.push(b'\n');
            out.extend(std::iter::repeat_n(b' ', level * 4));
        };
        match self {
            Node::Array(array) => {
                out.push(b'[');
                for (i, element) in array.iter().enumerate() {
                    if i > 0 {
                        out.push(b',');
                    }
                    line(level + 1, out);
                    element.write_pretty(level + 1, out);
                }
                line(level, out);
                out.push(b']');
            }
            Node::Object(object) => {
                out.push(b'{');
                for (i, (key, value)) in object.iter().enumerate() {
                    if i > 0 {
                        out.push(b',');
                    }
                    line(level + 1, out);
                    write_string(key, out);
                    out.extend_from_slice(b": ");
                    value.write_pretty(level + 1, out);
                }
                line(level, out);
                out.push(b'}');
            }
            other => other.write(out),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Node::Null => 2,
            Node::String(_) => 3,
            Node::Number(_) => 4,
            Node::Bool(_) => 5,
            Node::Array(_) => 6,
            Node::Object(_) => 7,
        }
    }

    fn order(&self, other: &Node) -> Ordering {
        match (self, other) {
            (Node::Bool(a), Node::Bool(b)) => a.cmp(b),
            (Node::Number(a), Node::Number(b)) => number::compare(a, b),
            (Node::String(a), Node::String(b)) => a.cmp(b),
            (Node::Array(a), Node::Array(b)) => a
                .len
                .cmp(&b.len)
                .then_with(|| a.iter().zip(b.iter()).map(|(a, b)| a.order(&b)).find(|o| *o != Ordering::Equal).unwrap_or(Ordering::Equal)),
            (Node::Object(a), Node::Object(b)) => a.len.cmp(&b.len).then_with(|| {
                a.iter()
                    .zip(b.iter())
                    .map(|((ka, va), (kb, vb))| ka.cmp(kb).then_with(|| va.order(&vb)))
                    .find(|o| *o != Ordering::Equal)
                    .unwrap_or(Ordering::Equal)
            }),
            (a, b) => a.rank().cmp(&b.rank()),
        }
    }

    /// Whether the two are equal as jsonb: numbers by value.
    #[must_use]
    pub fn equals(&self, other: &Node) -> bool {
        self.order(other) == Ordering::Equal
    }

    fn sort_key(&self, out: &mut Vec<u8>) {
        out.push(self.rank());
        let count = |len: usize, out: &mut Vec<u8>| out.extend_from_slice(&u32::try_from(len).unwrap_or(u32::MAX).to_be_bytes());
        match self {
            Node::Null => {}
            Node::Bool(value) => out.push(u8::from(*value)),
            Node::Number(digits) => number::sort_key(digits, out),
            Node::String(value) => string_key(value, out),
            Node::Array(array) => {
                count(array.len, out);
                array.iter().for_each(|element| element.sort_key(out));
            }
            Node::Object(object) => {
                count(object.len, out);
                for (key, value) in object.iter() {
                    string_key(key, out);
                    value.sort_key(out);
                }
            }
        }
    }

    /// `@>`: whether `other` is contained in this value, below the top level.
    fn contains_inner(&self, other: &Node) -> bool {
        match (self, other) {
            (Node::Object(a), Node::Object(b)) => {
                b.len <= a.len && b.iter().all(|(key, wanted)| a.get(key).is_some_and(|value| value.contains_inner(&wanted)))
            }
            (Node::Array(a), Node::Array(b)) => b.iter().all(|wanted| {
                if wanted.is_scalar() {
                    a.iter().any(|element| element.is_scalar() && element.equals(&wanted))
                } else {
                    a.iter().any(|element| element.kind() == wanted.kind() && element.contains_inner(&wanted))
                }
            }),
            (a, b) => a.is_scalar() && b.is_scalar() && a.equals(b),
        }
    }

    /// `@>`. An array contains a scalar that is one of its elements.
    #[must_use]
    pub fn contains(&self, other: &Node) -> bool {
        match (self, other) {
            (Node::Array(array), wanted) if wanted.is_scalar() => array.iter().any(|element| element.is_scalar() && element.equals(wanted)),
            (a, b) => a.contains_inner(b),
        }
    }

    /// `?`: whether the text is a key of the object, a string element of the array, or the string itself.
    #[must_use]
    pub fn exists(&self, key: &str) -> bool {
        match self {
            Node::Object(object) => object.position(key).is_some(),
            Node::Array(array) => array.iter().any(|element| matches!(element, Node::String(value) if value == key)),
            Node::String(value) => *value == key,
            _ => false,
        }
    }
}

fn string_key(value: &str, out: &mut Vec<u8>) {
    // Strings of jsonb have no zero character.
    out.extend_from_slice(value.as_bytes());
    out.push(0);
}

/// PostgreSQL's order of two documents: Object > Array > Boolean > Number > String > Null, sizes first; an empty array at the top
/// is less than anything else.
#[must_use]
pub fn compare(a: &[u8], b: &[u8]) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    let (a, b) = (Node::root(a), Node::root(b));
    let empty = |node: &Node| matches!(node, Node::Array(array) if array.is_empty());
    match (empty(&a), empty(&b)) {
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        _ => a.order(&b),
    }
}

/// Appends bytes that compare as [`compare`] says; equal documents give equal bytes.
pub fn sort_key_bytes(document: &[u8], out: &mut Vec<u8>) {
    match Node::root(document) {
        Node::Array(array) if array.is_empty() => out.push(1),
        node => node.sort_key(out),
    }
}

/// Parses JSON text into a document.
pub fn from_text(value: &str) -> PgResult<Vec<u8>> {
    let mut builder = Builder::new();
    text::parse(value, &mut builder)?;
    builder.finish()
}

#[derive(Debug)]
struct Frame {
    object: bool,
    start: usize,
    first_item: usize,
}

#[derive(Clone, Copy, Debug)]
struct Item {
    key: usize,
    value: usize,
    end: usize,
}

/// Writes a document from events. Values outside a container replace nothing: exactly one is expected.
#[derive(Debug)]
pub struct Builder {
    out: Vec<u8>,
    frames: Vec<Frame>,
    items: Vec<Item>,
    scratch: Vec<u8>,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    #[must_use]
    pub fn new() -> Self {
        Self { out: vec![VERSION], frames: Vec::new(), items: Vec::new(), scratch: Vec::new() }
    }

    /// The document; the builder is empty afterwards.
    pub fn finish(&mut self) -> PgResult<Vec<u8>> {
        if !self.frames.is_empty() {
            return Err(PgError::internal("a jsonb document was left open"));
        }
        self.items.clear();
        Ok(std::mem::replace(&mut self.out, vec![VERSION]))
    }

    /// Makes room for a part of so many bytes; what is much is asked for.
    fn room(&mut self, bytes: usize) -> PgResult<()> {
        if self.items.len() == self.items.capacity() {
            process().claim(self.items.capacity() * size_of::<Item>())?;
        }
        // A tag, and the width of ends.
        reserve(&mut self.out, bytes + 16)
    }

    fn value_done(&mut self) {
        let end = self.out.len();
        if let Some(frame) = self.frames.last() {
            if frame.object {
                if let Some(item) = self.items.last_mut() {
                    item.end = end;
                }
            } else {
                self.items.push(Item { key: 0, value: 0, end });
            }
        }
    }

    /// A value that stands in another document.
    pub fn node(&mut self, node: &Node) {
        node.append(&mut self.out);
        self.value_done();
    }

    /// A number that is canonical already.
    pub fn canonical_number(&mut self, digits: &str) {
        self.node(&Node::Number(digits));
    }

    fn open(&mut self, object: bool) -> PgResult<()> {
        if self.frames.len() >= MAX_DEPTH {
            return Err(too_deep());
        }
        self.frames.push(Frame { object, start: self.out.len(), first_item: self.items.len() });
        Ok(())
    }

    fn close(&mut self) -> PgResult<()> {
        let Some(frame) = self.frames.pop() else { return Err(PgError::internal("a jsonb container was closed twice")) };
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        let parts = (self.items.len() - frame.first_item) * if frame.object { 2 } else { 1 };
        reserve(&mut scratch, self.out.len() - frame.start + 4 * parts + 16)?;
        let data = self.out.get(frame.start..).unwrap_or(&[]);
        let slice = |from: usize, to: usize| data.get(from - frame.start..to - frame.start).unwrap_or(&[]);
        let items = self.items.get_mut(frame.first_item..).unwrap_or(&mut []);
        if frame.object {
            items.sort_by(|a, b| key_order(slice(a.key, a.value), slice(b.key, b.value)));
            // The sort is stable, so of equal keys the one written last is the last of its run.
            process().claim(size_of_val(items))?;
            let mut kept: Vec<Item> = Vec::with_capacity(items.len());
            for item in items {
                match kept.last_mut() {
                    Some(last) if slice(last.key, last.value) == slice(item.key, item.value) => *last = *item,
                    _ => kept.push(*item),
                }
            }
            let total = kept.iter().map(|item| item.end - item.key).sum::<usize>();
            let width = header(OBJECT, kept.len(), total, &mut scratch)?;
            let mut end = 0;
            for item in &kept {
                end += item.value - item.key;
                push_end(end, width, &mut scratch);
            }
            for item in &kept {
                end += item.end - item.value;
                push_end(end, width, &mut scratch);
            }
            for item in &kept {
                scratch.extend_from_slice(slice(item.key, item.value));
            }
            for item in &kept {
                scratch.extend_from_slice(slice(item.value, item.end));
            }
        } else {
            let width = header(ARRAY, items.len(), data.len(), &mut scratch)?;
            for item in items.iter() {
                push_end(item.end - frame.start, width, &mut scratch);
            }
            scratch.extend_from_slice(data);
        }
        self.items.truncate(frame.first_item);
        self.out.truncate(frame.start);
        reserve(&mut self.out, scratch.len())?;
        self.out.extend_from_slice(&scratch);
        self.scratch = scratch;
        self.value_done();
        Ok(())
    }
}

/// Writes tag and count; gives the width of the ends.
fn header(kind: u8, count: usize, total: usize, out: &mut Vec<u8>) -> PgResult<usize> {
    let largest = count.max(total);
    let power = if largest <= 0xff {
        0
    } else if largest <= 0xffff {
        1
    } else if u32::try_from(largest).is_ok() {
        2
    } else {
        return Err(PgError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "total size of jsonb elements exceeds the maximum of 4294967295 bytes"));
    };
    out.push(kind | (power << 4));
    let width = 1usize << power;
    push_end(count, width, out);
    Ok(width)
}

fn push_end(value: usize, width: usize, out: &mut Vec<u8>) {
    out.extend(value.to_le_bytes().into_iter().take(width));
}

impl Sink for Builder {
    const DECODES: bool = true;
    fn null(&mut self) -> PgResult<()> {
        self.room(0)?;
        self.node(&Node::Null);
        Ok(())
    }
    fn bool(&mut self, value: bool) -> PgResult<()> {
        self.room(0)?;
        self.node(&Node::Bool(value));
        Ok(())
    }
    fn number(&mut self, text: &str) -> PgResult<()> {
        self.room(text.len())?;
        self.out.push(NUMBER);
        number::canonical(text, &mut self.out)?;
        self.value_done();
        Ok(())
    }
    fn string(&mut self, value: &str) -> PgResult<()> {
        self.room(value.len())?;
        self.node(&Node::String(value));
        Ok(())
    }
    fn begin_array(&mut self) -> PgResult<()> {
        self.open(false)
    }
    fn end_array(&mut self) -> PgResult<()> {
        self.close()
    }
    fn begin_object(&mut self) -> PgResult<()> {
        self.open(true)
    }
    fn key(&mut self, key: &str) -> PgResult<()> {
        self.room(key.len())?;
        let at = self.out.len();
        self.out.extend_from_slice(key.as_bytes());
        let value = self.out.len();
        self.items.push(Item { key: at, value, end: value });
        Ok(())
    }
    fn end_object(&mut self) -> PgResult<()> {
        self.close()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    fn doc(text: &str) -> Vec<u8> {
        from_text(text).unwrap()
    }

    #[test]
    fn prints_as_postgres() {
        for (given, wanted) in [
            ("{\"bb\":1, \"a\" : [1,2.50,{}],\"c\":null,\"a\":[]}", "{\"a\": [], \"c\": null, \"bb\": 1}"),
            ("\"tab\\tnl\\n\\u0001\\/\"", "\"tab\\tnl\\n\\u0001/\""),
            ("[[], {}, true, false, -0.0, 1e2]", "[[], {}, true, false, 0.0, 100]"),
            (" 5 ", "5"),
        ] {
            assert_eq!(Node::root(&doc(given)).to_text(), wanted);
        }
        let mut out = Vec::new();
        Node::root(&doc("{\"a\":[1,{}],\"b\":[]}")).write_pretty(0, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "{\n    \"a\": [\n        1,\n        {\n        }\n    ],\n    \"b\": [\n    ]\n}");
    }

    #[test]
    fn wide_containers() {
        let big = format!("[{}]", vec!["\"0123456789\""; 30_000].join(","));
        let bytes = doc(&big);
        let Node::Array(array) = Node::root(&bytes) else { panic!() };
        assert_eq!(array.len(), 30_000);
        assert!(matches!(array.at(-1), Some(Node::String("0123456789"))));
        let object = format!("{{{}}}", (0..500).map(|i| format!("\"k{i}\":{i}")).collect::<Vec<_>>().join(","));
        let bytes = doc(&object);
        let Node::Object(object) = Node::root(&bytes) else { panic!() };
        for i in 0..500 {
            assert!(matches!(object.get(&format!("k{i}")), Some(Node::Number(n)) if n == i.to_string()));
        }
        assert!(object.get("k500").is_none());
    }

    /// The bytes are a promise.
    #[test]
    fn golden_bytes() {
        assert_eq!(doc("{\"b\":[1,\"x\"],\"a\":null}"), b"\x01\x06\x02\x01\x02\x03\x0bab\x00\x05\x02\x02\x04\x031\x04x".to_vec());
    }

    #[test]
    fn damaged_bytes_do_not_panic() {
        let good = doc("{\"b\":[1,\"x\",{\"y\":2}],\"a\":null}");
        for at in 0..good.len() {
            for value in [0u8, 5, 6, 0x25, 0x36, 0xff] {
                let mut bad = good.clone();
                bad[at] = value;
                let _ = Node::root(&bad).to_text();
                let _ = Node::root(&bad[..at]).to_text();
            }
        }
    }

    /// The order is what PostgreSQL 15 gives for `ORDER BY`.
    #[test]
    fn order() {
        let sorted = [
            "[]",
            "null",
            "\"\"",
            "\"a\"",
            "\"ab\"",
            "\"b\"",
            "-1",
            "0",
            "1.5",
            "2",
            "10",
            "false",
            "true",
            "[null]",
            "[[]]",
            "[{}]",
            "[1, 2]",
            "[2, 1]",
            "[0, 0, 0]",
            "{}",
            "{\"a\": 1}",
            "{\"a\": 2}",
            "{\"b\": 1}",
            "{\"a\": 1, \"b\": 1}",
        ];
        let key = |text: &str| {
            let mut out = Vec::new();
            sort_key_bytes(&doc(text), &mut out);
            out
        };
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                assert_eq!(compare(&doc(a), &doc(b)), i.cmp(&j), "{a} {b}");
                assert_eq!(key(a).cmp(&key(b)), i.cmp(&j), "keys of {a} {b}");
            }
        }
        assert_eq!(compare(&doc("[1.0]"), &doc("[1.00]")), Ordering::Equal);
        assert_eq!(key("[1.0]"), key("[1.00]"));
    }

    #[test]
    fn containment() {
        for (a, b, wanted) in [
            ("{\"a\":1,\"b\":2}", "{\"b\":2.0}", true),
            ("[1,2,3]", "[3,1,1]", true),
            ("[1,2,[3]]", "[3]", false),
            ("[1,2]", "1", true),
            ("1", "[1]", false),
            ("{\"a\":[1,2]}", "{\"a\":[1]}", true),
            ("{\"a\":[1,2]}", "{\"a\":1}", false),
            ("[{\"a\":1,\"b\":2}]", "[{\"a\":1}]", true),
            ("{\"a\":1}", "{}", true),
            ("[]", "{}", false),
            ("[[1,2]]", "[[1]]", true),
            ("\"a\"", "\"a\"", true),
        ] {
            assert_eq!(Node::root(&doc(a)).contains(&Node::root(&doc(b))), wanted, "{a} @> {b}");
        }
    }
}

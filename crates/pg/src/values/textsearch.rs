//! Text and binary forms of `tsvector` and `tsquery`. Columns hold the text form.

use crate::args::{Kind, Text};
use crate::context::EvalContext;
use crate::error::{PgError, PgResult};
use crate::types::{PgType, SqlType};
use crate::values::{ValueBuilder, ValueWriter, short_binary};
use arrow::array::{Array, ArrayRef, AsArray, StringViewArray};
use stoa_text::textsearch::query::{Node, Query};
use stoa_text::textsearch::vector::{Position, Vector};

struct Writer<'a> {
    array: &'a StringViewArray,
    query: bool,
}

impl ValueWriter for Writer<'_> {
    fn text(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        out.extend_from_slice(self.array.value(row).as_bytes());
        Ok(())
    }

    fn binary(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        let text = self.array.value(row);
        let size = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).to_be_bytes();
        if self.query {
            let query = Query::parse(text)?;
            out.extend(size(query.nodes()));
            query.0.iter().for_each(|node| write_node(node, out));
            return Ok(());
        }
        let vector = Vector::stored(text)?;
        out.extend(size(vector.lexemes.len()));
        for (lexeme, positions) in &vector.lexemes {
            out.extend_from_slice(lexeme.as_bytes());
            out.push(0);
            out.extend(u16::try_from(positions.len()).unwrap_or(u16::MAX).to_be_bytes());
            positions.iter().for_each(|p| out.extend((p.at | (u16::from(p.weight) << 14)).to_be_bytes()));
        }
        Ok(())
    }
}

/// Operators come before their operands, the right one first.
fn write_node(node: &Node, out: &mut Vec<u8>) {
    let mut operator = |code: u8, distance: Option<u16>, operands: &[&Node]| {
        out.extend([2, code]);
        out.extend(distance.map(u16::to_be_bytes).into_iter().flatten());
        operands.iter().for_each(|n| write_node(n, out));
    };
    match node {
        Node::Stop => {}
        Node::Lexeme { text, weights, prefix } => {
            out.extend([1, *weights, u8::from(*prefix)]);
            out.extend_from_slice(text.as_bytes());
            out.push(0);
        }
        Node::Not(a) => operator(1, None, &[a]),
        Node::And(a, b) => operator(2, None, &[b, a]),
        Node::Or(a, b) => operator(3, None, &[b, a]),
        Node::Phrase(a, b, distance) => operator(4, Some(*distance), &[b, a]),
    }
}

/// A writer for either type.
pub fn writer<'a>(ty: &SqlType, array: &'a dyn Array) -> PgResult<Box<dyn ValueWriter + 'a>> {
    let array =
        array.as_string_view_opt().ok_or_else(|| PgError::internal(format!("a column of type {ty} came as {}", array.data_type())))?;
    Ok(Box::new(Writer { array, query: ty.ty == PgType::Tsquery }))
}

struct Builder {
    out: <Text as Kind>::Builder,
    len: usize,
    query: bool,
}

impl ValueBuilder for Builder {
    fn text(&mut self, _: &EvalContext, value: &str) -> PgResult<()> {
        let text = if self.query { Query::parse(value)?.to_string() } else { Vector::parse(value)?.to_string() };
        self.out.append_value(text);
        self.len += 1;
        Ok(())
    }

    fn binary(&mut self, ctx: &EvalContext, value: &[u8]) -> PgResult<()> {
        let text = if self.query { read_query(value) } else { read_vector(value) };
        let text = text.ok_or_else(short_binary)?;
        self.text(ctx, &text)
    }

    fn null(&mut self) {
        self.out.append_null();
        self.len += 1;
    }

    fn len(&self) -> usize {
        self.len
    }

    fn finish(&mut self) -> PgResult<ArrayRef> {
        self.len = 0;
        Ok(std::sync::Arc::new(self.out.finish()))
    }
}

fn word(rest: &[u8]) -> Option<(&str, &[u8])> {
    let end = rest.iter().position(|b| *b == 0)?;
    Some((std::str::from_utf8(rest.get(..end)?).ok()?, rest.get(end + 1..)?))
}

fn read_vector(bytes: &[u8]) -> Option<String> {
    let (count, mut rest) = bytes.split_first_chunk::<4>()?;
    let mut out = Vector::default();
    for _ in 0..u32::from_be_bytes(*count) {
        let (lexeme, after) = word(rest)?;
        let (positions, mut after) = after.split_first_chunk::<2>()?;
        out.add(lexeme, None);
        for _ in 0..u16::from_be_bytes(*positions) {
            let (position, next) = after.split_first_chunk::<2>()?;
            let position = u16::from_be_bytes(*position);
            out.add(lexeme, Some(Position { at: position & 0x3fff, weight: (position >> 14) as u8 }));
            after = next;
        }
        rest = after;
    }
    rest.is_empty().then(|| out.to_string())
}

fn read_query(bytes: &[u8]) -> Option<String> {
    let (count, mut rest) = bytes.split_first_chunk::<4>()?;
    if u32::from_be_bytes(*count) == 0 {
        return rest.is_empty().then(String::new);
    }
    let node = read_node(&mut rest, 0)?;
    rest.is_empty().then(|| Query(Some(node)).to_string())
}

fn read_node(rest: &mut &[u8], depth: usize) -> Option<Node> {
    let (kind, after) = rest.split_first()?;
    if depth > 500 {
        return None;
    }
    match kind {
        1 => {
            let ([weights, prefix], after) = after.split_first_chunk::<2>()?;
            let (text, after) = word(after)?;
            *rest = after;
            Some(Node::Lexeme { text: text.to_owned(), weights: *weights, prefix: *prefix != 0 })
        }
        2 => {
            let (code, after) = after.split_first()?;
            *rest = after;
            if *code == 1 {
                return Some(Node::Not(Box::new(read_node(rest, depth + 1)?)));
            }
            let distance = if *code == 4 {
                let (distance, after) = rest.split_first_chunk::<2>()?;
                *rest = after;
                u16::from_be_bytes(*distance)
            } else {
                0
            };
            let (right, left) = (Box::new(read_node(rest, depth + 1)?), Box::new(read_node(rest, depth + 1)?));
            match code {
                2 => Some(Node::And(left, right)),
                3 => Some(Node::Or(left, right)),
                4 => Some(Node::Phrase(left, right, distance)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// A builder for either type.
#[must_use]
pub fn builder(ty: &SqlType) -> Box<dyn ValueBuilder> {
    Box::new(Builder { out: Text::builder(0), len: 0, query: ty.ty == PgType::Tsquery })
}

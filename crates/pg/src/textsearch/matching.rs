//! `tsvector @@ tsquery`, as PostgreSQL defines it: phrases by the positions of their ends, negation within phrases included.

use super::query::{Node, Query};
use super::vector::{Position, Vector};

/// Whether a document fits.
#[must_use]
pub fn matches(vector: &Vector, query: &Query) -> bool {
    query.0.as_ref().is_some_and(|node| fits(node, vector))
}

fn fits(node: &Node, vector: &Vector) -> bool {
    match node {
        Node::Stop => false,
        Node::Lexeme { text, weights, prefix } => found(vector, text, *weights, *prefix),
        Node::Not(inner) => !fits(inner, vector),
        Node::And(a, b) => fits(a, vector) && fits(b, vector),
        Node::Or(a, b) => fits(a, vector) || fits(b, vector),
        Node::Phrase(..) => within(node, vector).is_some(),
    }
}

/// The lexemes of a document that an operand stands for.
pub(super) fn entries<'a>(vector: &'a Vector, text: &'a str, prefix: bool) -> impl Iterator<Item = (&'a String, &'a Vec<Position>)> {
    let range = vector.lexemes.range::<str, _>((std::ops::Bound::Included(text), std::ops::Bound::Unbounded));
    range.take_while(move |(lexeme, _)| if prefix { lexeme.starts_with(text) } else { lexeme.as_str() == text })
}

fn found(vector: &Vector, text: &str, weights: u8, prefix: bool) -> bool {
    // A lexeme without positions has no weight, and is as good as any.
    let fits = |positions: &[Position]| weights == 0 || positions.is_empty() || positions.iter().any(|p| weights & (1 << p.weight) != 0);
    entries(vector, text, prefix).any(|(_, positions)| fits(positions))
}

/// Where a part of a phrase ends, or (negated) does not; `width` is its length less one.
#[derive(Default)]
struct Ends {
    at: Vec<u32>,
    negated: bool,
    width: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Both,
    Left,
    Right,
    All,
}

/// `None`: it fits nowhere.
fn within(node: &Node, vector: &Vector) -> Option<Ends> {
    match node {
        Node::Stop => None,
        Node::Lexeme { text, weights, prefix } => {
            let mut at: Vec<u32> = entries(vector, text, *prefix)
                .flat_map(|(_, positions)| positions)
                .filter(|p| *weights == 0 || weights & (1 << p.weight) != 0)
                .map(|p| u32::from(p.at))
                .collect();
            at.sort_unstable();
            at.dedup();
            // Without positions there are no phrases.
            (!at.is_empty()).then_some(Ends { at, ..Ends::default() })
        }
        Node::Not(inner) => match within(inner, vector) {
            None => Some(Ends { negated: true, ..Ends::default() }),
            Some(ends) if ends.at.is_empty() && ends.negated => None,
            Some(ends) => Some(Ends { negated: !ends.negated, ..ends }),
        },
        Node::And(a, b) => {
            let (left, right) = (within(a, vector)?, within(b, vector)?);
            let width = left.width.max(right.width);
            let shifts = (width - left.width, width - right.width);
            both(&left, &right, shifts, width)
        }
        Node::Phrase(a, b, distance) => {
            let (left, right) = (within(a, vector)?, within(b, vector)?);
            let shift = u32::from(*distance) + right.width;
            let width = u32::from(*distance) + left.width + right.width;
            both(&left, &right, (shift, 0), width)
        }
        Node::Or(a, b) => {
            let (left, right) = (within(a, vector), within(b, vector));
            if left.is_none() && right.is_none() {
                return None;
            }
            let (left, right) = (left.unwrap_or_default(), right.unwrap_or_default());
            let width = left.width.max(right.width);
            let shifts = (width - left.width, width - right.width);
            match (left.negated, right.negated) {
                (true, true) => merged(&left, &right, shifts, width, Keep::Both, true),
                (true, false) => merged(&left, &right, shifts, width, Keep::Left, true),
                (false, true) => merged(&left, &right, shifts, width, Keep::Right, true),
                (false, false) => merged(&left, &right, shifts, width, Keep::All, false),
            }
        }
    }
}

fn both(left: &Ends, right: &Ends, shifts: (u32, u32), width: u32) -> Option<Ends> {
    match (left.negated, right.negated) {
        (true, true) => merged(left, right, shifts, width, Keep::All, true),
        (true, false) => merged(left, right, shifts, width, Keep::Right, false),
        (false, true) => merged(left, right, shifts, width, Keep::Left, false),
        (false, false) => merged(left, right, shifts, width, Keep::Both, false),
    }
}

fn merged(left: &Ends, right: &Ends, (l_shift, r_shift): (u32, u32), width: u32, keep: Keep, negated: bool) -> Option<Ends> {
    let (mut l, mut r) = (left.at.iter().map(|p| p + l_shift).peekable(), right.at.iter().map(|p| p + r_shift).peekable());
    let mut at = Vec::new();
    loop {
        let (side, position) = match (l.peek().copied(), r.peek().copied()) {
            (None, None) => break,
            (Some(a), Some(b)) if a == b => {
                l.next();
                r.next();
                (Keep::Both, b)
            }
            (Some(a), b) if b.is_none_or(|b| a < b) => {
                l.next();
                (Keep::Left, a)
            }
            (_, Some(b)) => {
                r.next();
                (Keep::Right, b)
            }
            (Some(_), None) => break,
        };
        if keep == Keep::All || keep == side {
            at.push(position);
        }
    }
    (negated || !at.is_empty()).then_some(Ends { at, negated, width })
}

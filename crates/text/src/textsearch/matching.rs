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
        Node::Phrase(..) => matches!(within(node, vector), Within::Places(_)),
    }
}

/// The lexemes of a document that an operand stands for.
pub fn entries<'a>(vector: &'a Vector, text: &'a str, prefix: bool) -> impl Iterator<Item = (&'a String, &'a Vec<Position>)> {
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

/// How a part of a phrase fits.
enum Within {
    Nowhere,
    /// It may: a lexeme of it has no positions.
    Perhaps,
    Places(Ends),
}

impl From<Option<Ends>> for Within {
    fn from(ends: Option<Ends>) -> Self {
        ends.map_or(Within::Nowhere, Within::Places)
    }
}

fn within(node: &Node, vector: &Vector) -> Within {
    match node {
        Node::Stop => Within::Nowhere,
        Node::Lexeme { text, weights, prefix } => {
            if entries(vector, text, *prefix).any(|(_, positions)| positions.is_empty()) {
                return Within::Perhaps;
            }
            let mut at: Vec<u32> = entries(vector, text, *prefix)
                .flat_map(|(_, positions)| positions)
                .filter(|p| *weights == 0 || weights & (1 << p.weight) != 0)
                .map(|p| u32::from(p.at))
                .collect();
            at.sort_unstable();
            at.dedup();
            (!at.is_empty()).then_some(Ends { at, ..Ends::default() }).into()
        }
        Node::Not(inner) => match within(inner, vector) {
            Within::Nowhere => Within::Places(Ends { negated: true, ..Ends::default() }),
            Within::Perhaps => Within::Perhaps,
            Within::Places(ends) if ends.at.is_empty() && ends.negated => Within::Nowhere,
            Within::Places(ends) => Within::Places(Ends { negated: !ends.negated, ..ends }),
        },
        Node::And(a, b) | Node::Phrase(a, b, _) => {
            let (left, right) = match (within(a, vector), within(b, vector)) {
                (Within::Nowhere, _) | (_, Within::Nowhere) => return Within::Nowhere,
                (Within::Places(left), Within::Places(right)) => (left, right),
                _ => return Within::Perhaps,
            };
            let (shifts, width) = if let Node::Phrase(_, _, distance) = node {
                let distance = u32::from(*distance);
                ((distance + right.width, 0), distance + left.width + right.width)
            } else {
                let width = left.width.max(right.width);
                ((width - left.width, width - right.width), width)
            };
            both(&left, &right, shifts, width).into()
        }
        Node::Or(a, b) => {
            let (left, right) = match (within(a, vector), within(b, vector)) {
                (Within::Nowhere, Within::Nowhere) => return Within::Nowhere,
                (Within::Perhaps, _) | (_, Within::Perhaps) => return Within::Perhaps,
                (Within::Places(left), Within::Nowhere) => (left, Ends::default()),
                (Within::Nowhere, Within::Places(right)) => (Ends::default(), right),
                (Within::Places(left), Within::Places(right)) => (left, right),
            };
            let width = left.width.max(right.width);
            let shifts = (width - left.width, width - right.width);
            let merged = match (left.negated, right.negated) {
                (true, true) => merged(&left, &right, shifts, width, Keep::Both, true),
                (true, false) => merged(&left, &right, shifts, width, Keep::Left, true),
                (false, true) => merged(&left, &right, shifts, width, Keep::Right, true),
                (false, false) => merged(&left, &right, shifts, width, Keep::All, false),
            };
            merged.into()
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

//! Spans of one key part, as intervals of its encoded bytes.
//!
//! Invariant: spans of a set are ascending and apart. Since encodings are prefix-free, a value is the interval of all byte strings
//! that begin with its encoding, and sets of values are sets of such intervals, whatever the direction of the part.

use super::constant::{Fitted, fit};
use super::predicate::Comparison;
use crate::catalog::KeyForm;
use crate::row::key::KeyPartCodec;
use crate::row::key_form;
use datafusion_common::ScalarValue;
use stoa_encoding::keyside::{self, Direction, NullOrder, PartKind, encode_null, encode_present};
use stoa_pg::PgType;
use stoa_store::range::prefix_successor;

/// An interval of the encoded bytes of one part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Span {
    /// One value (or NULL): its encoding.
    Point(Vec<u8>),
    /// From `start` (inclusive) to `end` (exclusive; `None`: to the end of the part's domain).
    Range { start: Vec<u8>, end: Option<Vec<u8>> },
}

impl Span {
    fn start(&self) -> &[u8] {
        match self {
            Span::Point(bytes) | Span::Range { start: bytes, .. } => bytes,
        }
    }

    fn end(&self) -> Option<Vec<u8>> {
        match self {
            Span::Point(bytes) => prefix_successor(bytes),
            Span::Range { end, .. } => end.clone(),
        }
    }
}

/// A set of values of one part.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Spans(Vec<Span>);

impl Spans {
    #[must_use]
    pub fn none() -> Self {
        Self(Vec::new())
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Span> {
        self.0.iter()
    }

    /// Whether each span is one value.
    #[must_use]
    pub fn all_points(&self) -> bool {
        self.0.iter().all(|s| matches!(s, Span::Point(_)))
    }

    fn of(span: Span) -> Self {
        match &span {
            Span::Range { start, end: Some(end) } if end <= start => Self::none(),
            _ => Self(vec![span]),
        }
    }

    /// Sorts and joins.
    fn normalized(mut spans: Vec<Span>) -> Self {
        spans.sort_by(|a, b| a.start().cmp(b.start()));
        let mut out: Vec<Span> = Vec::with_capacity(spans.len());
        for span in spans {
            let Some(last) = out.last_mut() else {
                out.push(span);
                continue;
            };
            if *last == span {
                continue;
            }
            let last_end = last.end();
            let touches = last_end.as_deref().is_none_or(|end| span.start() <= end);
            let both_points = matches!((&*last, &span), (Span::Point(_), Span::Point(_)));
            if !touches || both_points {
                out.push(span);
                continue;
            }
            let end = match (last_end, span.end()) {
                (Some(a), Some(b)) => Some(a.max(b)),
                _ => None,
            };
            *last = Span::Range { start: last.start().to_vec(), end };
        }
        Self(out)
    }

    #[must_use]
    pub fn union(&self, other: &Spans) -> Spans {
        Self::normalized(self.0.iter().chain(&other.0).cloned().collect())
    }

    #[must_use]
    pub fn intersect(&self, other: &Spans) -> Spans {
        let mut out = Vec::new();
        let (mut i, mut j) = (0, 0);
        while let (Some(a), Some(b)) = (self.0.get(i), other.0.get(j)) {
            let (a_end, b_end) = (a.end(), b.end());
            let start = a.start().max(b.start()).to_vec();
            let end = match (&a_end, &b_end) {
                (Some(x), Some(y)) => Some(x.min(y).clone()),
                (Some(x), None) | (None, Some(x)) => Some(x.clone()),
                (None, None) => None,
            };
            if end.as_ref().is_none_or(|end| start < *end) {
                out.push(match (a, b) {
                    // An encoding is prefix-free: a point that overlaps a span lies in it.
                    (Span::Point(p), _) | (_, Span::Point(p)) => Span::Point(p.clone()),
                    _ => Span::Range { start, end },
                });
            }
            let a_first = match (&a_end, &b_end) {
                (Some(x), Some(y)) => x <= y,
                (Some(_), None) => true,
                _ => false,
            };
            if a_first { i += 1 } else { j += 1 }
        }
        Self(out)
    }

    /// Whether every value of `self` is in `other`.
    #[must_use]
    pub fn is_subset(&self, other: &Spans) -> bool {
        self.intersect(other) == *self
    }

    /// All values that are not NULL.
    #[must_use]
    pub fn not_null(part: &KeyPartCodec) -> Spans {
        if part.part.nulls.is_none() {
            return Self(vec![Span::Range { start: Vec::new(), end: None }]);
        }
        let start = present(part.part.direction);
        let end = prefix_successor(&start);
        Self(vec![Span::Range { start, end }])
    }

    /// NULL; nothing if the part cannot be NULL.
    #[must_use]
    pub fn null(part: &KeyPartCodec) -> Spans {
        match part.part.nulls {
            None => Self::none(),
            Some(nulls) => Self(vec![Span::Point(null(part.part.direction, nulls))]),
        }
    }

    /// The values that compare so with a constant; `None` when that is not known.
    #[must_use]
    pub fn compare(part: &KeyPartCodec, op: Comparison, value: &ScalarValue) -> Option<Spans> {
        let (op, value) = match fit(&part.ty, op, value) {
            Fitted::Compare(op, value) => (op, value),
            Fitted::All => return Some(Self::not_null(part)),
            Fitted::None => return Some(Self::none()),
            Fitted::Unknown => return None,
        };
        let (op, value) = match within(part, op, value) {
            Fitted::Compare(op, value) => (op, value),
            Fitted::All => return Some(Self::not_null(part)),
            Fitted::None => return Some(Self::none()),
            Fitted::Unknown => return None,
        };
        let Some(point) = encode(part, &value) else {
            // A value that the part's form does not take is in no key.
            return (op == Comparison::Equal && !part.form.is_value()).then(Self::none);
        };
        if op == Comparison::Equal {
            return Some(Self(vec![one(part, point)]));
        }
        if part.is_derived() {
            return None;
        }
        let (from, to) = match Self::not_null(part).0.into_iter().next() {
            Some(Span::Range { start, end }) => (start, end),
            _ => return None,
        };
        let descending = part.part.direction == Direction::Desc;
        let op = if descending { op.flipped() } else { op };
        Some(match op {
            Comparison::Less => Self::of(Span::Range { start: from, end: Some(point) }),
            Comparison::LessEqual => {
                // Without a successor the domain ends with the point.
                let end = behind(part, &point).or(to);
                Self::of(Span::Range { start: from, end })
            }
            Comparison::Greater => match behind(part, &point) {
                Some(start) => Self::of(Span::Range { start, end: to }),
                None => Self::none(),
            },
            Comparison::GreaterEqual => Self::of(Span::Range { start: point, end: to }),
            Comparison::Equal => Self(vec![one(part, point)]),
        })
    }

    /// Whether all values are the ends of keys, each of one key.
    #[must_use]
    pub fn are_ends_of_keys(&self, part: &KeyPartCodec) -> bool {
        let single =
            |span: &Span| matches!(span, Span::Range { start, end: Some(end) } if end.strip_prefix(start.as_slice()) == Some(&[0]));
        part.part.kind == PartKind::Rest && self.0.iter().all(single)
    }

    /// One of the constants.
    #[must_use]
    pub fn any_of(part: &KeyPartCodec, values: &[ScalarValue]) -> Option<Spans> {
        let mut spans = Vec::with_capacity(values.len());
        for value in values {
            spans.extend(Self::compare(part, Comparison::Equal, value)?.0);
        }
        Some(Self::normalized(spans))
    }

    /// Texts that begin with a prefix.
    #[must_use]
    pub fn prefix(part: &KeyPartCodec, prefix: &str) -> Option<Spans> {
        if !part.ty.ty.is_string() {
            return None;
        }
        let direction = part.part.direction;
        let mut start = if part.part.nulls.is_some() { present(direction) } else { Vec::new() };
        match part.form {
            KeyForm::Value if part.part.kind == PartKind::Escaped => keyside::encode_text_prefix(&mut start, prefix, direction),
            // No text of the part begins so.
            KeyForm::Fixed(width) if prefix.len() > width as usize => return Some(Self::none()),
            KeyForm::Delimited(by) if !keyside::raw::fits_delimited(prefix.as_bytes(), by) => return Some(Self::none()),
            KeyForm::Fixed(_) | KeyForm::Delimited(_) | KeyForm::Rest(_) => start.extend(prefix.bytes().map(|b| b ^ direction.mask())),
            _ => return None,
        }
        let end = prefix_successor(&start);
        Some(Self::of(Span::Range { start, end }))
    }
}

/// A comparison with a number that the part's form does not take: all that it takes pass it, or none.
fn within(part: &KeyPartCodec, op: Comparison, value: ScalarValue) -> Fitted {
    let number = match value {
        ScalarValue::Int16(Some(n)) => i128::from(n),
        ScalarValue::Int32(Some(n)) => i128::from(n),
        ScalarValue::Int64(Some(n)) => i128::from(n),
        _ => return Fitted::Compare(op, value),
    };
    let Some((least, most)) = key_form::limits(part.form).filter(|_| part.ty.ty != PgType::Date) else {
        return Fitted::Compare(op, value);
    };
    match op {
        _ if (least..=most).contains(&number) => Fitted::Compare(op, value),
        Comparison::Less | Comparison::LessEqual if number > most => Fitted::All,
        Comparison::Greater | Comparison::GreaterEqual if number < least => Fitted::All,
        _ => Fitted::None,
    }
}

/// One value. What ends a key is no whole beginning of one, as others may begin with it: such a value is one key.
fn one(part: &KeyPartCodec, point: Vec<u8>) -> Span {
    match part.part.kind {
        PartKind::Rest => {
            let end = behind(part, &point);
            Span::Range { start: point, end }
        }
        _ => Span::Point(point),
    }
}

/// The first bytes behind a value's.
fn behind(part: &KeyPartCodec, point: &[u8]) -> Option<Vec<u8>> {
    match part.part.kind {
        PartKind::Rest => Some([point, &[0]].concat()),
        _ => prefix_successor(point),
    }
}

/// The encoding of a constant of the part's type, tag included, if it has one.
fn encode(part: &KeyPartCodec, value: &ScalarValue) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    part.encode_sought(value, &mut out).ok()?.then_some(out)
}

fn present(direction: Direction) -> Vec<u8> {
    let mut out = Vec::new();
    encode_present(&mut out, direction);
    out
}

fn null(direction: Direction, nulls: NullOrder) -> Vec<u8> {
    let mut out = Vec::new();
    encode_null(&mut out, direction, nulls);
    out
}

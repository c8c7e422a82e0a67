//! Predicates to key ranges over a composite key.
//!
//! A predicate becomes a union of **boxes**, each a set of spans for some of the key's parts. A box becomes key ranges by walking
//! the parts from the first: parts with single values multiply prefixes; the first part with intervals ends the walk.
//!
//! `(a, b) > (1, 2)` arrives as `a > 1 OR (a = 1 AND b > 2)`: two boxes whose ranges touch and become one.

use super::predicate::{Comparison, Predicate};
use super::span::{Span, Spans};
use crate::catalog::ColumnId;
use crate::row::IndexCodec;
use crate::row::key::{KeyCodec, KeyPartCodec, SaltCodec};
use stoa_encoding::keyside;
use stoa_store::KeyRange;
use stoa_store::range::{normalize, prefix_successor};

/// The parts of the keys that ranges are made for.
#[derive(Clone, Debug)]
pub struct KeyShape {
    pub parts: Vec<KeyPartCodec>,
    pub salt: Option<SaltCodec>,
    /// The parts are the whole key, so that a value for each is one row.
    pub whole: bool,
    /// A value for each part (none of them NULL) is at most one row.
    pub unique: bool,
}

impl KeyShape {
    #[must_use]
    pub fn of_table(key: &KeyCodec) -> Self {
        Self { parts: key.parts.clone(), salt: key.salt.clone(), whole: true, unique: true }
    }

    #[must_use]
    pub fn of_index(index: &IndexCodec) -> Self {
        Self { parts: index.parts.clone(), salt: index.salt.clone(), whole: false, unique: index.unique }
    }

    /// Whether a part is computed of the column.
    fn derives(&self, column: ColumnId) -> bool {
        self.parts.iter().any(|p| p.is_derived() && p.source == column)
    }
}

/// Boxes beyond this are given up for a coarser superset.
const MAX_BOXES: usize = 4096;
/// Key ranges of one scan.
const MAX_RANGES: usize = 16_384;

type KeyBox = Vec<Option<Spans>>;

/// A union of boxes that holds all rows of a predicate.
struct Boxes {
    boxes: Vec<KeyBox>,
    /// The boxes hold nothing else.
    exact: bool,
}

impl Boxes {
    fn all(parts: usize, exact: bool) -> Self {
        Self { boxes: vec![vec![None; parts]], exact }
    }

    fn none() -> Self {
        Self { boxes: Vec::new(), exact: true }
    }

    fn of(predicate: &Predicate, key: &KeyShape) -> Self {
        let parts = key.parts.len();
        let leaf = |column: ColumnId, make: &dyn Fn(&KeyPartCodec) -> Option<Spans>, exact: bool| {
            let mut key_box: KeyBox = vec![None; parts];
            let (mut narrows, mut held, mut empty) = (false, false, false);
            for (slot, part) in key_box.iter_mut().zip(&key.parts).filter(|(_, part)| part.source == column) {
                *slot = make(part);
                narrows |= slot.is_some();
                empty |= slot.as_ref().is_some_and(Spans::is_empty);
                held |= slot.is_some() && (!part.is_derived() || part.form.tells_apart());
            }
            match (narrows, empty) {
                (false, _) => Self::all(parts, false),
                // No value of the column passes.
                (true, true) => Self { boxes: Vec::new(), exact },
                (true, false) => Self { boxes: vec![key_box], exact: exact && held },
            }
        };
        match predicate {
            Predicate::Always => Self::all(parts, true),
            Predicate::Never => Self::none(),
            Predicate::Unknown => Self::all(parts, false),
            Predicate::Compare { column, op, value } => leaf(*column, &|p| Spans::compare(p, *op, value), true),
            // What is computed of a value goes with that value alone.
            Predicate::In { column, values } if key.derives(*column) => {
                if values.len() > MAX_BOXES {
                    return Self::all(parts, false);
                }
                let mut out = Self::none();
                for value in values {
                    let next = leaf(*column, &|p| Spans::compare(p, Comparison::Equal, value), true);
                    out.exact &= next.exact;
                    out.boxes.extend(next.boxes);
                }
                out
            }
            Predicate::In { column, values } => leaf(*column, &|p| Spans::any_of(p, values), true),
            Predicate::IsNull(column) => leaf(*column, &|p| Some(Spans::null(p)), true),
            Predicate::IsNotNull(column) => match key.parts.iter().find(|part| part.source == *column) {
                // No NULLs there: true, and not worth a span.
                Some(part) if part.part.nulls.is_none() => Self::all(parts, true),
                _ => leaf(*column, &|p| Some(Spans::not_null(p)), true),
            },
            Predicate::Prefix { column, prefix, exact } => leaf(*column, &|p| Spans::prefix(p, prefix), *exact),
            Predicate::And(list) => list.iter().fold(Self::all(parts, true), |all, p| all.and(Self::of(p, key))),
            Predicate::Or(list) => {
                let mut out = Self::none();
                for p in list {
                    let next = Self::of(p, key);
                    out.exact &= next.exact;
                    out.boxes.extend(next.boxes);
                    if out.boxes.len() > MAX_BOXES {
                        return Self::all(parts, false);
                    }
                }
                if out.boxes.iter().any(|b| b.iter().all(Option::is_none)) {
                    return Self::all(parts, out.exact);
                }
                out.merged()
            }
        }
    }

    /// Boxes that constrain one part only, and the same, become one.
    fn merged(self) -> Self {
        let mut out: Vec<KeyBox> = Vec::with_capacity(self.boxes.len());
        for key_box in self.boxes {
            let single = |b: &KeyBox| {
                let mut used = b.iter().enumerate().filter(|(_, s)| s.is_some());
                let first = used.next().map(|(i, _)| i);
                if used.next().is_none() { first } else { None }
            };
            if let Some(at) = single(&key_box)
                && let Some(last) = out.last_mut()
                && single(last) == Some(at)
                && let (Some(Some(a)), Some(Some(b))) = (last.get(at), key_box.get(at))
            {
                let union = a.union(b);
                if let Some(slot) = last.get_mut(at) {
                    *slot = Some(union);
                }
                continue;
            }
            out.push(key_box);
        }
        Self { boxes: out, exact: self.exact }
    }

    fn and(self, other: Self) -> Self {
        if self.boxes.len().saturating_mul(other.boxes.len()) > MAX_BOXES {
            // Either side alone is a superset.
            let keep = if self.boxes.len() <= other.boxes.len() { self } else { other };
            return Self { exact: false, ..keep };
        }
        let mut boxes = Vec::with_capacity(self.boxes.len() * other.boxes.len());
        for a in &self.boxes {
            'pair: for b in &other.boxes {
                let mut both: KeyBox = Vec::with_capacity(a.len());
                for (x, y) in a.iter().zip(b) {
                    let spans = match (x, y) {
                        (Some(x), Some(y)) => {
                            let spans = x.intersect(y);
                            if spans.is_empty() {
                                continue 'pair;
                            }
                            Some(spans)
                        }
                        (Some(x), None) | (None, Some(x)) => Some(x.clone()),
                        (None, None) => None,
                    };
                    both.push(spans);
                }
                boxes.push(both);
            }
        }
        Self { boxes, exact: self.exact && other.exact }
    }
}

/// What filters leave of a key space.
#[derive(Clone, PartialEq, Debug)]
pub struct Scope {
    /// Ascending and apart.
    pub ranges: Vec<KeyRange>,
    /// Positions of the filters that rows of the ranges must still pass.
    pub residual: Vec<usize>,
    /// Each range is one key, and they are the keys of at most as many rows.
    pub points: bool,
    /// How many leading parts are narrowed to single values in every range, which need not be the same values.
    pub equal_parts: usize,
    /// How many leading parts have one value in all ranges: such parts are constant. Ranges of neighbouring values become one range, so
    /// that their number does not tell.
    pub constant_parts: usize,
    /// Whether the part behind those is narrowed to an interval.
    pub narrowed: bool,
    /// The ranges lie in one salt bucket (or there is no salt), so that their order is the order of the parts.
    pub one_bucket: bool,
}

impl Scope {
    /// Whether the filters narrow the ranges at all.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.equal_parts == 0
            && !self.narrowed
            && self.ranges.len() == 1
            && self.ranges.first().is_some_and(|r| r.start.is_empty() && r.end.is_none())
    }
}

/// Ranges of a key for filters that must all be true.
#[must_use]
pub fn scope(key: &KeyShape, filters: &[Predicate]) -> Scope {
    let parts = key.parts.len();
    let each: Vec<Boxes> = filters.iter().map(|f| Boxes::of(f, key)).collect();
    let exact: Vec<bool> = each.iter().map(|b| b.exact).collect();
    // Which parts each filter constrains: it is answered where all of them are consumed.
    let uses: Vec<Vec<bool>> = each
        .iter()
        .map(|b| (0..parts).map(|i| b.boxes.iter().any(|key_box| key_box.get(i).is_some_and(Option::is_some))).collect())
        .collect();
    let mut widened = false;
    let mut all = Boxes::all(parts, true);
    for boxes in each {
        let before = (all.boxes.len(), boxes.boxes.len());
        widened |= before.0.saturating_mul(before.1) > MAX_BOXES;
        all = all.and(boxes);
    }

    let mut ranges = Vec::new();
    // Parts that some box narrows and its ranges do not.
    let mut left_over = vec![false; parts];
    let mut equal_parts = parts;
    let mut narrowed = false;
    let mut points = key.whole && !all.boxes.is_empty();
    let mut one_bucket = true;
    for key_box in &all.boxes {
        let walk = walk(key, key_box);
        for (part, spans) in key_box.iter().enumerate().skip(walk.consumed) {
            if let Some(slot) = left_over.get_mut(part) {
                *slot |= spans.is_some();
            }
        }
        equal_parts = equal_parts.min(walk.equal_parts);
        narrowed |= walk.consumed > walk.equal_parts;
        points &= walk.equal_parts == parts;
        one_bucket &= walk.one_bucket;
        ranges.extend(walk.ranges);
        if ranges.len() > MAX_RANGES {
            return Scope {
                ranges: vec![KeyRange::all()],
                residual: (0..filters.len()).collect(),
                points: false,
                equal_parts: 0,
                constant_parts: 0,
                narrowed: false,
                one_bucket: key.salt.is_none(),
            };
        }
    }
    if all.boxes.is_empty() {
        equal_parts = 0;
    }
    let constant_parts = (0..equal_parts).take_while(|part| single_value(&all.boxes, *part)).count();
    let residual = (0..filters.len())
        .filter(|f| {
            let answered = !widened
                && exact.get(*f).copied().unwrap_or(false)
                && uses.get(*f).is_some_and(|uses| uses.iter().zip(&left_over).all(|(used, left)| !(*used && *left)));
            !answered
        })
        .collect();
    let ranges = if points {
        let mut ranges = ranges;
        ranges.sort();
        ranges.dedup();
        ranges
    } else {
        normalize(ranges)
    };
    if key.salt.is_some() && one_bucket {
        // One bucket a box, but are they the same?
        let first = ranges.first().and_then(|r| r.start.first().copied());
        one_bucket = ranges.iter().all(|r| r.start.first().copied() == first);
    }
    Scope { ranges, residual, points, equal_parts, constant_parts, narrowed, one_bucket }
}

/// Whether all boxes have the same single value of a part.
fn single_value(boxes: &[KeyBox], part: usize) -> bool {
    let value = |key_box: &'_ KeyBox| -> Option<Vec<u8>> {
        let spans = key_box.get(part)?.as_ref().filter(|spans| spans.len() == 1)?;
        match spans.iter().next()? {
            Span::Point(bytes) => Some(bytes.clone()),
            Span::Range { .. } => None,
        }
    };
    let Some(first) = boxes.first().and_then(value) else { return false };
    boxes.iter().skip(1).all(|key_box| value(key_box).as_ref() == Some(&first))
}

struct Walk {
    ranges: Vec<KeyRange>,
    /// Leading parts whose spans the ranges answer exactly.
    consumed: usize,
    equal_parts: usize,
    one_bucket: bool,
}

/// A key's beginning, with the encodings of its parts so far (for the salt).
#[derive(Clone, Default)]
pub(super) struct Prefix {
    pub bytes: Vec<u8>,
    pub ends: Vec<usize>,
}

fn walk(key: &KeyShape, key_box: &KeyBox) -> Walk {
    let mut prefixes = vec![Prefix { bytes: Vec::new(), ends: Vec::new() }];
    let mut equal_parts = 0;
    let mut tail: Option<&Spans> = None;
    for spans in key_box {
        let Some(spans) = spans else { break };
        let fits = prefixes.len().saturating_mul(spans.len()) <= MAX_RANGES;
        if !fits {
            break;
        }
        if !spans.all_points() {
            tail = Some(spans);
            break;
        }
        let mut next = Vec::with_capacity(prefixes.len() * spans.len());
        for prefix in &prefixes {
            for span in spans.iter() {
                let mut longer = prefix.clone();
                longer.bytes.extend_from_slice(match span {
                    Span::Point(bytes) | Span::Range { start: bytes, .. } => bytes,
                });
                longer.ends.push(longer.bytes.len());
                next.push(longer);
            }
        }
        prefixes = next;
        equal_parts += 1;
    }
    let consumed = equal_parts + usize::from(tail.is_some());
    // Values that end keys are intervals of one key each.
    if tail.zip(key.parts.get(equal_parts)).is_some_and(|(spans, part)| spans.are_ends_of_keys(part)) {
        equal_parts += 1;
    }
    let whole = key.whole && equal_parts == key.parts.len();
    if consumed == 0 {
        return Walk { ranges: vec![KeyRange::all()], consumed, equal_parts, one_bucket: key.salt.is_none() };
    }
    let mut unsalted: Vec<(Option<u8>, KeyRange)> = Vec::new();
    for prefix in &prefixes {
        let bucket = bucket(key, prefix);
        match tail {
            None if whole => unsalted.push((bucket, KeyRange::point(&prefix.bytes))),
            None => unsalted.push((bucket, KeyRange::prefix(&prefix.bytes))),
            Some(spans) => {
                for span in spans.iter() {
                    unsalted.push((bucket, within(&prefix.bytes, span)));
                }
            }
        }
    }
    let Some(salt) = &key.salt else {
        return Walk { ranges: unsalted.into_iter().map(|(_, r)| r).collect(), consumed, equal_parts, one_bucket: true };
    };
    let mut ranges = Vec::new();
    let mut one_bucket = salt.buckets.count() == 1;
    let known = unsalted.iter().all(|(bucket, _)| bucket.is_some());
    if known {
        let first = unsalted.first().and_then(|(b, _)| *b);
        one_bucket |= unsalted.iter().all(|(b, _)| *b == first);
    }
    for (bucket, range) in unsalted {
        match bucket {
            Some(bucket) => ranges.push(salted(bucket, &range)),
            None => ranges.extend(salt.buckets.iter().map(|bucket| salted(bucket, &range))),
        }
    }
    Walk { ranges, consumed, equal_parts, one_bucket }
}

/// A range within the keys that begin with `prefix`.
fn within(prefix: &[u8], span: &Span) -> KeyRange {
    let joined = |tail: &[u8]| {
        let mut key = prefix.to_vec();
        key.extend_from_slice(tail);
        key
    };
    match span {
        Span::Point(bytes) => KeyRange::prefix(&joined(bytes)),
        Span::Range { start, end } => {
            let end = match end {
                Some(end) => Some(joined(end)),
                None => prefix_successor(prefix),
            };
            KeyRange::new(joined(start), end)
        }
    }
}

pub(super) fn salted(bucket: u8, range: &KeyRange) -> KeyRange {
    let with = |bytes: &[u8]| {
        let mut key = Vec::with_capacity(bytes.len() + 1);
        key.push(bucket);
        key.extend_from_slice(bytes);
        key
    };
    let end = match &range.end {
        Some(end) => Some(with(end)),
        None => prefix_successor(&[bucket]),
    };
    KeyRange::new(with(&range.start), end)
}

/// The bucket of keys with this beginning, if it decides that.
pub(super) fn bucket(key: &KeyShape, prefix: &Prefix) -> Option<u8> {
    let salt = key.salt.as_ref()?;
    let mut hashed = Vec::new();
    for part in &salt.parts {
        let end = *prefix.ends.get(*part)?;
        let start = if *part == 0 { 0 } else { *prefix.ends.get(part - 1)? };
        hashed.extend_from_slice(prefix.bytes.get(start..end)?);
    }
    Some(keyside::salt(salt.buckets, &hashed))
}

/// Whether `filters` together imply `predicate` (of a partial index), as far as spans can tell.
#[must_use]
pub fn implies(filters: &[Predicate], predicate: &Predicate, part_of: &dyn Fn(ColumnId) -> Option<KeyPartCodec>) -> bool {
    match predicate {
        Predicate::Always => true,
        Predicate::Unknown | Predicate::Never => false,
        Predicate::And(parts) => parts.iter().all(|p| implies(filters, p, part_of)),
        other if filters.iter().any(|f| f == other || matches!(f, Predicate::And(parts) if parts.contains(other))) => true,
        other => {
            let mut columns = Vec::new();
            other.each_column(&mut |c| columns.push(c));
            columns.dedup();
            let [column] = columns.as_slice() else { return false };
            let Some(part) = part_of(*column) else { return false };
            let key = KeyShape { parts: vec![part], salt: None, whole: false, unique: false };
            let wanted = Boxes::of(other, &key);
            if !wanted.exact {
                return false;
            }
            let wanted = union(&wanted);
            let have = filters.iter().fold(Boxes::all(1, true), |all, f| all.and(Boxes::of(f, &key)));
            match (union(&have), wanted) {
                (Some(have), Some(wanted)) => have.is_subset(&wanted),
                (None, Some(_)) => false,
                (_, None) => true,
            }
        }
    }
}

/// What predicates that must all be true leave of one column; `None`: everything, NULL included.
#[must_use]
pub fn spans_of(filters: &[Predicate], part: KeyPartCodec) -> Option<Spans> {
    let key = KeyShape { parts: vec![part], salt: None, whole: false, unique: false };
    union(&filters.iter().fold(Boxes::all(1, true), |all, f| all.and(Boxes::of(f, &key))))
}

/// The spans of boxes over one part; `None`: everything, NULL included.
fn union(boxes: &Boxes) -> Option<Spans> {
    let mut out = Spans::none();
    for key_box in &boxes.boxes {
        match key_box.first() {
            Some(Some(spans)) => out = out.union(spans),
            _ => return None,
        }
    }
    Some(out)
}

/// A predicate for a key given as values, for tests and for the fast path.
#[must_use]
pub fn equal(column: ColumnId, value: datafusion_common::ScalarValue) -> Predicate {
    Predicate::Compare { column, op: Comparison::Equal, value }
}

#[cfg(test)]
mod tests;

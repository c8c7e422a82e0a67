//! Intervals of row keys: always `[start, end)`.

use std::fmt;

/// Row keys from `start` (inclusive) to `end` (exclusive; `None`: to the last).
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyRange {
    pub start: Vec<u8>,
    pub end: Option<Vec<u8>>,
}

impl KeyRange {
    /// All keys.
    #[must_use]
    pub fn all() -> Self {
        Self { start: Vec::new(), end: None }
    }

    #[must_use]
    pub fn new(start: Vec<u8>, end: Option<Vec<u8>>) -> Self {
        Self { start, end }
    }

    /// Exactly one key.
    #[must_use]
    pub fn point(key: &[u8]) -> Self {
        let mut end = key.to_vec();
        end.push(0);
        Self { start: key.to_vec(), end: Some(end) }
    }

    /// All keys that begin with these bytes.
    #[must_use]
    pub fn prefix(prefix: &[u8]) -> Self {
        Self { start: prefix.to_vec(), end: prefix_successor(prefix) }
    }

    /// No keys.
    #[must_use]
    pub fn empty() -> Self {
        Self { start: Vec::new(), end: Some(Vec::new()) }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.end.as_ref().is_some_and(|end| *end <= self.start)
    }

    #[must_use]
    pub fn contains(&self, key: &[u8]) -> bool {
        key >= self.start.as_slice() && self.end.as_ref().is_none_or(|end| key < end.as_slice())
    }

    #[must_use]
    pub fn intersect(&self, other: &KeyRange) -> KeyRange {
        let start = self.start.clone().max(other.start.clone());
        let end = match (&self.end, &other.end) {
            (Some(a), Some(b)) => Some(a.clone().min(b.clone())),
            (Some(a), None) | (None, Some(a)) => Some(a.clone()),
            (None, None) => None,
        };
        KeyRange { start, end }
    }

    #[must_use]
    pub fn overlaps(&self, other: &KeyRange) -> bool {
        !self.intersect(other).is_empty()
    }

    /// The one key of a range made by [`KeyRange::point`].
    #[must_use]
    pub fn as_point(&self) -> Option<&[u8]> {
        let end = self.end.as_ref()?;
        (end.len() == self.start.len() + 1 && end.last() == Some(&0) && end.starts_with(&self.start)).then_some(&self.start)
    }
}

impl fmt::Debug for KeyRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
        write!(f, "[{}, {})", hex(&self.start), self.end.as_ref().map_or_else(|| "∞".into(), |e| hex(e)))
    }
}

/// The least byte string above all that begin with `prefix`; `None` when there is none (empty, or all `ff`).
#[must_use]
pub fn prefix_successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|b| *b != 0xff)?;
    let mut successor = prefix[..=last].to_vec();
    successor[last] += 1;
    Some(successor)
}

/// Sorts ranges and joins those that touch or overlap; empty ones go.
#[must_use]
pub fn normalize(mut ranges: Vec<KeyRange>) -> Vec<KeyRange> {
    ranges.retain(|r| !r.is_empty());
    ranges.sort();
    let mut out: Vec<KeyRange> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match out.last_mut() {
            Some(last) if last.end.as_ref().is_none_or(|end| *end >= range.start) => {
                last.end = match (last.end.take(), range.end) {
                    (Some(a), Some(b)) => Some(a.max(b)),
                    _ => None,
                };
            }
            _ => out.push(range),
        }
    }
    out
}

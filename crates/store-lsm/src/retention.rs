//! What may go at compaction: versions beyond VERSIONS, cells past their TTL.
//!
//! Reads hide such cells at once (`crate::scan`); this filter frees their bytes. It must never take what a live view
//! can see, so it counts only entries at or below the oldest live view, and measures age by the time at which that view was
//! published. A filter sees the entries of one compaction only, never more of a cell than there is: it may keep too much.
//!
//! An entry goes if VERSIONS newer ones of its cell (deletions count) were seen, or if it is past the TTL: its own age
//! decides where MIN_VERSIONS is 0, the age of the next newer one where it is not (so that reads of the past within the TTL
//! stay exact). What had expired when the TTL became longer goes whatever it is now.

use crate::keys::{Form, STORAGE_ID_BYTES, TIMESTAMP_BYTES, VersionedKey};
use crate::view::{LOAD_COUNTER, LiveView, Tracker};
use parking_lot::RwLock;
use rocksdb::CompactionDecision;
use rocksdb::compaction_filter::CompactionFilter;
use rocksdb::compaction_filter_factory::{CompactionFilterContext, CompactionFilterFactory};
use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::Arc;
use stoa_store::Timestamp;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rule {
    pub versions: u32,
    pub min_versions: u32,
    pub ttl_us: Option<u64>,
    /// See [`crate::metadata::StoredTable::expired_us`].
    pub expired_us: u64,
    /// Views before it read by another rule, which may let them see more.
    pub since: Timestamp,
}

/// The rules by storage id. An id without a rule keeps everything.
#[derive(Debug, Default)]
pub(crate) struct SharedRetention {
    pub tracker: Arc<Tracker>,
    pub rules: RwLock<Arc<HashMap<u32, Rule>>>,
    pub loads: RwLock<Arc<crate::view::Loads>>,
}

pub(crate) struct RetentionFilterFactory {
    shared: Arc<SharedRetention>,
    form: Form,
}

impl RetentionFilterFactory {
    pub fn new(shared: Arc<SharedRetention>, form: Form) -> Self {
        Self { shared, form }
    }
}

impl CompactionFilterFactory for RetentionFilterFactory {
    type Filter = RetentionFilter;

    fn create(&mut self, _context: CompactionFilterContext) -> RetentionFilter {
        RetentionFilter {
            form: self.form,
            oldest: self.shared.tracker.oldest(),
            rules: Arc::clone(&self.shared.rules.read()),
            loads: Arc::clone(&self.shared.loads.read()),
            row: Vec::new(),
            qualifier: None,
            marks: Vec::new(),
            newer: 0,
            next_newer: None,
        }
    }

    fn name(&self) -> &CStr {
        c"stoa.retention"
    }
}

pub(crate) struct RetentionFilter {
    form: Form,
    oldest: Option<LiveView>,
    rules: Arc<HashMap<u32, Rule>>,
    loads: Arc<crate::view::Loads>,
    /// The row of the last entry, the timestamps of its marks, newest first.
    row: Vec<u8>,
    marks: Vec<Timestamp>,
    /// The cell of the last entry, and how many of its entries were seen.
    qualifier: Option<Vec<u8>>,
    newer: u32,
    next_newer: Option<Timestamp>,
}

impl RetentionFilter {
    fn visible_since(&self, stored: Timestamp) -> Timestamp {
        if stored.0 & LOAD_COUNTER == LOAD_COUNTER { self.loads.get(&stored).copied().unwrap_or(stored) } else { stored }
    }

    /// Whether an entry may go; `None` for what can't be read, which stays.
    fn goes(&mut self, key: &[u8], value: &[u8]) -> Option<bool> {
        let oldest = self.oldest?;
        let storage = u32::from_be_bytes(key.get(..STORAGE_ID_BYTES)?.try_into().ok()?);
        let rule = *self.rules.get(&storage)?;
        if oldest.timestamp < rule.since {
            return Some(false);
        }
        let expired = |at: Timestamp| rule.ttl_us.is_some_and(|ttl| at.micros().saturating_add(ttl) <= oldest.published_us);
        if self.form == Form::Plain {
            let stored = Timestamp(u64::from_be_bytes(value.get(..TIMESTAMP_BYTES)?.try_into().ok()?));
            let at = self.visible_since(stored);
            return Some(expired(at) || at.micros() <= rule.expired_us);
        }
        let parsed = VersionedKey::parse(key, self.form)?;
        let at = self.visible_since(parsed.timestamp);
        if parsed.row != self.row {
            self.row.clear();
            self.row.extend_from_slice(parsed.row);
            self.marks.clear();
            self.qualifier = None;
        }
        let Some(qualifier) = parsed.qualifier else {
            let newer = self.marks.len() as u32;
            let next_newer = self.marks.last().copied();
            if at <= oldest.timestamp {
                self.marks.push(at);
            }
            return Some(self.decide(rule, at, newer, next_newer, &oldest, expired));
        };
        if self.qualifier.as_deref() != Some(qualifier) {
            let place = self.qualifier.get_or_insert_default();
            place.clear();
            place.extend_from_slice(qualifier);
            self.newer = 0;
            self.next_newer = None;
        }
        let mark = self.marks.iter().rev().find(|mark| **mark > at).copied();
        let newer_marks = self.marks.iter().filter(|mark| **mark > at).count() as u32;
        let next_newer = match (self.next_newer, mark) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let goes = self.decide(rule, at, self.newer + newer_marks, next_newer, &oldest, expired);
        if at <= oldest.timestamp {
            self.newer += 1;
            self.next_newer = Some(at);
        }
        Some(goes)
    }

    fn decide(
        &self,
        rule: Rule,
        at: Timestamp,
        newer: u32,
        next_newer: Option<Timestamp>,
        oldest: &LiveView,
        expired: impl Fn(Timestamp) -> bool,
    ) -> bool {
        if at > oldest.timestamp {
            return false;
        }
        if newer >= rule.versions || at.micros() <= rule.expired_us {
            return true;
        }
        if rule.min_versions == 0 { expired(at) } else { newer >= rule.min_versions && next_newer.is_some_and(expired) }
    }
}

impl CompactionFilter for RetentionFilter {
    fn filter(&mut self, _level: u32, key: &[u8], value: &[u8]) -> CompactionDecision {
        if self.goes(key, value) == Some(true) { CompactionDecision::Remove } else { CompactionDecision::Keep }
    }

    fn name(&self) -> &CStr {
        c"stoa.retention"
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::keys::{inverted, push_escaped};

    const ALL: Rule = Rule { versions: 1, min_versions: 0, ttl_us: None, expired_us: 0, since: Timestamp(0) };

    fn filter(rule: Rule, oldest: Timestamp, published_us: u64) -> RetentionFilter {
        RetentionFilter {
            form: Form::Cells,
            oldest: Some(LiveView { timestamp: oldest, published_us }),
            rules: Arc::new(HashMap::from([(1, rule)])),
            loads: Arc::default(),
            row: Vec::new(),
            marks: Vec::new(),
            qualifier: None,
            newer: 0,
            next_newer: None,
        }
    }

    /// Which of the entries (qualifier, µs) of one row stay; no qualifier: a mark.
    fn stay(filter: &mut RetentionFilter, entries: &[(Option<&str>, u64)]) -> Vec<u64> {
        let key = |(qualifier, us): &(Option<&str>, u64)| {
            let mut key = 1u32.to_be_bytes().to_vec();
            push_escaped(&mut key, b"row");
            match qualifier {
                Some(q) => push_escaped(&mut key, q.as_bytes()),
                None => key.extend_from_slice(&[0, 0]),
            }
            key.extend_from_slice(&inverted(Timestamp::from_micros(*us)));
            key
        };
        entries.iter().filter(|e| filter.goes(&key(e), &[0]) != Some(true)).map(|(_, us)| *us).collect()
    }

    #[test]
    fn versions_beyond_the_limit_go_unless_a_view_may_see_them() {
        let rule = Rule { versions: 2, ..ALL };
        let entries = [(Some("a"), 9), (Some("a"), 7), (Some("a"), 5), (Some("a"), 3), (Some("b"), 1)];
        assert_eq!(stay(&mut filter(rule, Timestamp::from_micros(10), 0), &entries), [9, 7, 1]);
        assert_eq!(stay(&mut filter(rule, Timestamp::from_micros(7), 0), &entries), [9, 7, 5, 1]);
    }

    #[test]
    fn marks_count_as_a_version_of_every_cell() {
        let rule = Rule { versions: 2, ..ALL };
        let entries = [(None, 6), (Some("a"), 7), (Some("a"), 5), (Some("a"), 3), (Some("b"), 1)];
        assert_eq!(stay(&mut filter(rule, Timestamp::from_micros(10), 0), &entries), [6, 7, 1]);
    }

    #[test]
    fn age_is_measured_by_the_oldest_view() {
        let entries = [(Some("a"), 90), (Some("a"), 50), (Some("a"), 30), (Some("a"), 20)];
        let pure = Rule { versions: 9, ttl_us: Some(50), ..ALL };
        assert_eq!(stay(&mut filter(pure, Timestamp::from_micros(100), 100), &entries), [90]);
        assert_eq!(stay(&mut filter(pure, Timestamp::from_micros(100), 75), &entries), [90, 50, 30]);
        let kept = Rule { versions: 9, min_versions: 1, ttl_us: Some(50), ..ALL };
        assert_eq!(stay(&mut filter(kept, Timestamp::from_micros(100), 100), &entries), [90, 50], "50 was in force 50 µs ago");
        let longer = Rule { expired_us: 30, ..kept };
        assert_eq!(stay(&mut filter(Rule { ttl_us: None, ..longer }, Timestamp::from_micros(100), 100), &entries), [90, 50]);
        assert_eq!(stay(&mut filter(longer, Timestamp::from_micros(100), 40), &entries), [90, 50]);
    }

    #[test]
    fn nothing_goes_that_a_view_reads_by_another_rule() {
        let entries = [(Some("a"), 9), (Some("a"), 7), (Some("a"), 5)];
        let rule = Rule { expired_us: 5, since: Timestamp::from_micros(12), ..ALL };
        assert_eq!(stay(&mut filter(rule, Timestamp::from_micros(11), 11), &entries), [9, 7, 5]);
        assert_eq!(stay(&mut filter(rule, Timestamp::from_micros(12), 12), &entries), [9]);
    }
}

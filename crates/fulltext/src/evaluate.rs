//! A query on one document without an index: rows that changed since the index was built, tables that have none.
//!
//! Invariant: a document fits here if and only if it fits in [`crate::index`], for queries that are exact there; its score is the
//! one that it would have there, but for tantivy's rounding.

use crate::analyzer::{Analyzer, Words};
use crate::query::{FieldId, Query};
use levenshtein_automata::{DFA, Distance, LevenshteinAutomatonBuilder};
use std::collections::HashMap;
use std::ops::Bound;
use std::sync::{Arc, LazyLock};
use tantivy::fieldnorm::FieldNormReader;
use tantivy_fst::Automaton;

/// BM25's parameters, as tantivy has them.
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// The text of one field of a document.
#[derive(Clone, Copy, Debug, Default)]
pub enum FieldText<'a> {
    #[default]
    Nothing,
    Text(&'a str),
    /// Words that were cut before: lexemes.
    Words(&'a Words),
}

/// What scores depend on besides the document.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    pub documents: u64,
    /// Words of all documents, by field.
    pub words: Vec<u64>,
    pub frequency: HashMap<(FieldId, String), u64>,
}

impl Statistics {
    fn idf(&self, field: FieldId, word: &str) -> f32 {
        let n = self.frequency.get(&(field, word.to_owned())).copied().unwrap_or(0).min(self.documents);
        (1.0 + ((self.documents - n) as f32 + 0.5) / (n as f32 + 0.5)).ln()
    }

    fn average(&self, field: FieldId) -> f32 {
        let words = self.words.get(field).copied().unwrap_or(0);
        if self.documents == 0 || words == 0 { 1.0 } else { words as f32 / self.documents as f32 }
    }
}

static FUZZY: LazyLock<[LevenshteinAutomatonBuilder; 2]> =
    LazyLock::new(|| [LevenshteinAutomatonBuilder::new(1, true), LevenshteinAutomatonBuilder::new(2, true)]);

enum Pattern {
    Prefix(String),
    Fuzzy(Box<DFA>),
    Regex(Box<tantivy_fst::Regex>),
    Range(Bound<String>, Bound<String>),
}

impl Pattern {
    fn fits(&self, word: &str) -> bool {
        match self {
            Pattern::Prefix(start) => word.starts_with(start.as_str()),
            Pattern::Fuzzy(dfa) => matches!(dfa.eval(word), Distance::Exact(_)),
            Pattern::Regex(regex) => {
                let mut state = regex.start();
                for byte in word.bytes() {
                    if !regex.can_match(&state) {
                        return false;
                    }
                    state = regex.accept(&state, byte);
                }
                regex.is_match(&state)
            }
            Pattern::Range(lower, upper) => {
                let above = match lower {
                    Bound::Unbounded => true,
                    Bound::Included(l) => word >= l.as_str(),
                    Bound::Excluded(l) => word > l.as_str(),
                };
                above
                    && match upper {
                        Bound::Unbounded => true,
                        Bound::Included(u) => word <= u.as_str(),
                        Bound::Excluded(u) => word < u.as_str(),
                    }
            }
        }
    }
}

/// The tree with slots in place of words.
enum Node {
    Nothing,
    All,
    Term { field: FieldId, slot: usize, weight: f32 },
    Phrase { field: FieldId, slots: Vec<(u32, usize)>, slop: u32, weight: f32 },
    Pattern(usize),
    Bool { must: Vec<Node>, should: Vec<Node>, must_not: Vec<Node> },
    Boost(Box<Node>, f32),
}

#[derive(Default)]
struct Field {
    words: HashMap<String, usize>,
    /// Slots whose positions a phrase needs are kept; the number is of the slot.
    patterns: Vec<(usize, Pattern)>,
    /// What lengths make of scores, by tantivy's code for lengths.
    norms: Vec<f32>,
}

/// A query ready for documents.
pub struct Evaluator {
    root: Node,
    analyzers: Vec<Arc<Analyzer>>,
    fields: Vec<Field>,
    /// By slot: where the word is in the document.
    positions: Vec<Vec<u32>>,
    lengths: Vec<u32>,
    words: Words,
}

impl std::fmt::Debug for Evaluator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Evaluator").field("slots", &self.positions.len()).finish_non_exhaustive()
    }
}

impl Evaluator {
    /// Without statistics all scores are 0 or what patterns give.
    #[must_use]
    pub fn new(query: &Query, analyzers: &[Arc<Analyzer>], statistics: Option<&Statistics>) -> Self {
        let mut fields: Vec<Field> = analyzers.iter().map(|_| Field::default()).collect();
        let mut slots = 0;
        let root = build(query, &mut fields, &mut slots, statistics);
        if let Some(statistics) = statistics {
            for (at, field) in fields.iter_mut().enumerate() {
                let average = statistics.average(at);
                let norm = |id: u8| K1 * (1.0 - B + B * FieldNormReader::id_to_fieldnorm(id) as f32 / average);
                field.norms = (0..=u8::MAX).map(norm).collect();
            }
        }
        Self {
            root,
            analyzers: analyzers.to_vec(),
            lengths: vec![0; fields.len()],
            fields,
            positions: vec![Vec::new(); slots],
            words: Words::default(),
        }
    }

    /// The score of a document that fits.
    pub fn evaluate(&mut self, texts: &[FieldText<'_>]) -> Option<f32> {
        self.positions.iter_mut().for_each(Vec::clear);
        for (at, field) in self.fields.iter().enumerate() {
            let Some(length) = self.lengths.get_mut(at) else { continue };
            *length = 0;
            let words = match texts.get(at).copied().unwrap_or_default() {
                FieldText::Nothing => continue,
                FieldText::Words(words) => words,
                FieldText::Text(text) => {
                    let Some(analyzer) = self.analyzers.get(at) else { continue };
                    analyzer.analyze(text, &mut self.words);
                    &self.words
                }
            };
            *length = u32::try_from(words.len()).unwrap_or(u32::MAX);
            for (word, position, _) in words.iter() {
                if let Some(positions) = field.words.get(word).and_then(|slot| self.positions.get_mut(*slot)) {
                    positions.push(position);
                }
                for (slot, pattern) in &field.patterns {
                    let Some(found) = self.positions.get_mut(*slot) else { continue };
                    if found.is_empty() && pattern.fits(word) {
                        found.push(position);
                    }
                }
            }
        }
        self.score(&self.root)
    }

    fn norm(&self, field: FieldId) -> f32 {
        let id = FieldNormReader::fieldnorm_to_id(self.lengths.get(field).copied().unwrap_or(0));
        self.fields.get(field).and_then(|f| f.norms.get(usize::from(id))).copied().unwrap_or(1.0)
    }

    fn weighted(&self, field: FieldId, weight: f32, count: u32) -> f32 {
        let count = count as f32;
        weight * (count / (count + self.norm(field)))
    }

    fn score(&self, node: &Node) -> Option<f32> {
        match node {
            Node::Nothing => None,
            Node::All => Some(0.0),
            Node::Term { field, slot, weight } => {
                let count = self.positions.get(*slot).map_or(0, Vec::len);
                (count > 0).then(|| self.weighted(*field, *weight, u32::try_from(count).unwrap_or(u32::MAX)))
            }
            Node::Phrase { field, slots, slop, weight } => {
                let positions: Vec<(u32, &[u32])> =
                    slots.iter().map(|(offset, slot)| (*offset, self.positions.get(*slot).map_or(&[][..], Vec::as_slice))).collect();
                let count = phrase_count(&positions, *slop);
                (count > 0).then(|| self.weighted(*field, *weight, count))
            }
            Node::Pattern(slot) => self.positions.get(*slot).is_some_and(|p| !p.is_empty()).then_some(1.0),
            Node::Bool { must, should, must_not } => {
                let mut sum = 0.0;
                for node in must {
                    sum += self.score(node)?;
                }
                if must_not.iter().any(|n| self.score(n).is_some()) {
                    return None;
                }
                let mut found = !must.is_empty();
                for score in should.iter().filter_map(|n| self.score(n)) {
                    found = true;
                    sum += score;
                }
                found.then_some(sum)
            }
            Node::Boost(inner, by) => self.score(inner).map(|s| s * by),
        }
    }

    /// Counts the document that was evaluated last.
    pub fn count_into(&self, statistics: &mut Statistics) {
        statistics.documents += 1;
        statistics.words.resize(self.fields.len(), 0);
        for ((at, field), sum) in self.fields.iter().enumerate().zip(&mut statistics.words) {
            *sum += u64::from(self.lengths.get(at).copied().unwrap_or(0));
            for (word, slot) in &field.words {
                if self.positions.get(*slot).is_some_and(|p| !p.is_empty()) {
                    *statistics.frequency.entry((at, word.clone())).or_default() += 1;
                }
            }
        }
    }

    /// The words of a text that the query asks for (not those that it excludes), as byte ranges: for highlighting.
    pub fn highlight(&mut self, field: FieldId, text: FieldText<'_>) -> Vec<std::ops::Range<usize>> {
        let Some(own) = self.fields.get(field) else { return Vec::new() };
        let words = match text {
            FieldText::Nothing => return Vec::new(),
            FieldText::Words(words) => words,
            FieldText::Text(text) => {
                let Some(analyzer) = self.analyzers.get(field) else { return Vec::new() };
                analyzer.analyze(text, &mut self.words);
                &self.words
            }
        };
        let mut wanted = vec![false; self.positions.len()];
        mark_wanted(&self.root, &mut wanted);
        let is_wanted = |slot: usize| wanted.get(slot).copied().unwrap_or(false);
        let fits = |word: &str| {
            own.words.get(word).is_some_and(|slot| is_wanted(*slot))
                || own.patterns.iter().any(|(slot, p)| is_wanted(*slot) && p.fits(word))
        };
        words.iter().filter(|(word, _, _)| fits(word)).map(|(_, _, place)| place).collect()
    }
}

fn mark_wanted(node: &Node, wanted: &mut [bool]) {
    let mut mark = |slot: usize| {
        if let Some(w) = wanted.get_mut(slot) {
            *w = true;
        }
    };
    match node {
        Node::Nothing | Node::All => {}
        Node::Term { slot, .. } | Node::Pattern(slot) => mark(*slot),
        Node::Phrase { slots, .. } => slots.iter().for_each(|(_, slot)| mark(*slot)),
        Node::Bool { must, should, .. } => must.iter().chain(should).for_each(|n| mark_wanted(n, wanted)),
        Node::Boost(inner, _) => mark_wanted(inner, wanted),
    }
}

fn build(query: &Query, fields: &mut [Field], slots: &mut usize, statistics: Option<&Statistics>) -> Node {
    let weight = |field: FieldId, word: &str| statistics.map_or(0.0, |s| s.idf(field, word));
    match query {
        Query::Nothing => Node::Nothing,
        Query::All => Node::All,
        Query::Term { field, word } => match slot_of(fields, slots, *field, word) {
            Some(slot) => Node::Term { field: *field, slot, weight: weight(*field, word) * (1.0 + K1) },
            None => Node::Nothing,
        },
        Query::Phrase { field, words, slop } => {
            let mut of = Vec::with_capacity(words.len());
            let mut sum = 0.0;
            for (offset, word) in words {
                let Some(slot) = slot_of(fields, slots, *field, word) else { return Node::Nothing };
                of.push((*offset, slot));
                sum += weight(*field, word);
            }
            Node::Phrase { field: *field, slots: of, slop: *slop, weight: sum * (1.0 + K1) }
        }
        Query::Prefix { field, start } => pattern_slot(fields, slots, *field, Pattern::Prefix(start.clone())),
        Query::Fuzzy { field, word, distance } => {
            let Some(builder) = FUZZY.get(usize::from(*distance).saturating_sub(1)) else { return Node::Nothing };
            pattern_slot(fields, slots, *field, Pattern::Fuzzy(Box::new(builder.build_dfa(word))))
        }
        Query::Regex { field, pattern } => match tantivy_fst::Regex::new(pattern) {
            Ok(regex) => pattern_slot(fields, slots, *field, Pattern::Regex(Box::new(regex))),
            Err(_) => Node::Nothing,
        },
        Query::Range { field, lower, upper } => pattern_slot(fields, slots, *field, Pattern::Range(lower.clone(), upper.clone())),
        Query::Bool { must, should, must_not } => {
            let mut all = |of: &[Query]| of.iter().map(|q| build(q, fields, slots, statistics)).collect();
            Node::Bool { must: all(must), should: all(should), must_not: all(must_not) }
        }
        Query::Boost(inner, by) => Node::Boost(Box::new(build(inner, fields, slots, statistics)), *by),
        Query::Superset(inner) => build(inner, fields, slots, statistics),
    }
}

fn slot_of(fields: &mut [Field], slots: &mut usize, field: FieldId, word: &str) -> Option<usize> {
    let field = fields.get_mut(field)?;
    Some(*field.words.entry(word.to_owned()).or_insert_with(|| {
        *slots += 1;
        *slots - 1
    }))
}

fn pattern_slot(fields: &mut [Field], slots: &mut usize, field: FieldId, pattern: Pattern) -> Node {
    let Some(field) = fields.get_mut(field) else { return Node::Nothing };
    field.patterns.push((*slots, pattern));
    *slots += 1;
    Node::Pattern(*slots - 1)
}

/// How often words stand at their distances, out of place by `slop` in all.
fn phrase_count(words: &[(u32, &[u32])], slop: u32) -> u32 {
    let Some(((first, start), rest)) = words.split_first() else { return 0 };
    // Where the phrase would begin by each word, with what it is out of place so far.
    let mut reached: Vec<(i64, u32)> = start.iter().map(|p| (i64::from(*p) - i64::from(*first), 0)).collect();
    for (offset, positions) in rest {
        let mut next: Vec<(i64, u32)> = Vec::new();
        let mut low = 0;
        for position in *positions {
            let here = i64::from(*position) - i64::from(*offset);
            while reached.get(low).is_some_and(|(at, _)| *at < here - i64::from(slop)) {
                low += 1;
            }
            let near = reached.iter().skip(low).take_while(|(at, _)| *at <= here + i64::from(slop));
            let best = near.map(|(at, cost)| cost.saturating_add(u32::try_from(at.abs_diff(here)).unwrap_or(u32::MAX))).min();
            if let Some(cost) = best.filter(|c| *c <= slop) {
                next.push((here, cost));
            }
        }
        if next.is_empty() {
            return 0;
        }
        reached = next;
    }
    u32::try_from(reached.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::analyzer::TokenizerOptions;
    use crate::parse::{SearchField, parse};

    fn fits(query: &str, text: &str) -> bool {
        let analyzer = Analyzer::new(&TokenizerOptions::default()).unwrap();
        let query = parse(query, &[SearchField { name: "b".into(), analyzer: Arc::clone(&analyzer) }]).unwrap();
        Evaluator::new(&query, &[analyzer], None).evaluate(&[FieldText::Text(text)]).is_some()
    }

    #[test]
    fn documents_fit_or_not() {
        let text = "The quick brown fox jumps over the lazy dog";
        for (query, wanted) in [
            ("quick", true),
            ("slow", false),
            ("slow fox", true),
            ("+slow fox", false),
            ("fox -dog", false),
            ("-cat", true),
            ("\"quick brown\"", true),
            ("\"brown quick\"", false),
            ("\"quick fox\"", false),
            ("\"quick fox\"~1", true),
            ("\"fox quick\"~2", false),
            ("\"fox quick\"~3", true),
            ("\"quick jumps dog\"~5", true),
            ("\"quick jumps dog\"~4", false),
            ("qu*", true),
            ("qwick~1", true),
            ("qiuck~1", true),
            ("xxick~1", false),
            ("/ju.ps/", true),
            ("/ju/", false),
            ("[ja TO jz]", true),
            ("[x TO z]", false),
            ("*", true),
            ("", false),
        ] {
            assert_eq!(fits(query, text), wanted, "{query}");
        }
    }
}

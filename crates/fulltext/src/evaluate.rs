//! A query on one document without an index: rows that changed since the index was built, tables that have none.
//!
//! Invariant: a document fits here if and only if it fits in [`crate::index`], for queries that are exact there; its score is the
//! one that it would have there, but for tantivy's rounding.

use crate::analyzer::{Analyzer, Words, lowered};
use crate::query::{FieldId, Query};
use levenshtein_automata::{DFA, Distance, LevenshteinAutomatonBuilder};
use std::collections::{HashMap, HashSet};
use std::ops::{Bound, Range};
use std::sync::{Arc, LazyLock};
use tantivy::fieldnorm::FieldNormReader;
use tantivy_fst::Automaton;

pub mod explain;

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
    /// Words of all documents, by channel.
    pub words: Vec<u64>,
    pub frequency: HashMap<(usize, String), u64>,
}

/// What is counted apart: the words of each field, and what is written.
#[must_use]
pub fn channel(field: FieldId, written: bool) -> usize {
    2 * field + usize::from(written)
}

impl Statistics {
    fn idf(&self, channel: usize, word: &str) -> f32 {
        let n = self.frequency.get(&(channel, word.to_owned())).copied().unwrap_or(0).min(self.documents);
        (1.0 + ((self.documents - n) as f32 + 0.5) / (n as f32 + 0.5)).ln()
    }

    fn average(&self, channel: usize) -> f32 {
        let words = self.words.get(channel).copied().unwrap_or(0);
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

/// An expression over a text; what it is about is its first group, or all of it.
struct TextPattern {
    regex: regex::Regex,
    lowered: bool,
}

impl TextPattern {
    fn fits(&self, text: &str) -> bool {
        if !self.lowered {
            return self.regex.is_match(text);
        }
        self.regex.is_match(&lowered(text).collect::<String>())
    }

    /// Where it fits in a text.
    fn places(&self, text: &str) -> Vec<Range<usize>> {
        // A letter in lower case may have another length: each byte knows the letter that it comes from.
        let (mut folded, mut origins) = (String::with_capacity(text.len()), Vec::with_capacity(text.len()));
        for (at, c) in text.char_indices() {
            if self.lowered {
                folded.extend(c.to_lowercase())
            } else {
                folded.push(c)
            }
            origins.resize(folded.len(), at..at + c.len_utf8());
        }
        let mut out = Vec::new();
        let mut from = 0;
        // What bounds one place may bound the next: each is looked for from the end of the one before.
        while let Some(found) = self.regex.captures_at(&folded, from)
            && let Some(found) = found.get(1).or_else(|| found.get(0)).filter(|found| found.end() > from)
        {
            from = found.end();
            if let (Some(first), Some(last)) = (origins.get(found.start()), origins.get(from - 1)) {
                out.push(first.start..last.end);
            }
        }
        out
    }
}

/// The tree with slots in place of words; a slot is of a word in one channel.
enum Node {
    Nothing,
    All,
    Term { channel: usize, slot: usize, weight: f32 },
    Phrase { channel: usize, slots: Vec<(u32, usize)>, slop: u32, weight: f32 },
    Pattern(usize),
    AtLeast(usize, Vec<Node>),
    Bool { must: Vec<Node>, should: Vec<Node>, must_not: Vec<Node> },
    Boost(Box<Node>, f32),
}

#[derive(Default)]
struct Channel {
    words: HashMap<String, usize>,
    /// Slots whose positions a phrase needs are kept; the number is of the slot.
    patterns: Vec<(usize, Pattern)>,
    /// Expressions that the text fits as a whole; they are of the words' channel.
    texts: Vec<(usize, TextPattern)>,
    /// What lengths make of scores, by tantivy's code for lengths.
    norms: Vec<f32>,
}

/// A query ready for documents.
pub struct Evaluator {
    root: Node,
    analyzers: Vec<Arc<Analyzer>>,
    channels: Vec<Channel>,
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
        let mut channels: Vec<Channel> = (0..channel(analyzers.len(), false)).map(|_| Channel::default()).collect();
        let mut slots = 0;
        let root = build(query, &mut Building { channels: &mut channels, slots: &mut slots, statistics, analyzers });
        if let Some(statistics) = statistics {
            for (at, channel) in channels.iter_mut().enumerate() {
                let average = statistics.average(at);
                let norm = |id: u8| K1 * (1.0 - B + B * FieldNormReader::id_to_fieldnorm(id) as f32 / average);
                channel.norms = (0..=u8::MAX).map(norm).collect();
            }
        }
        Self {
            root,
            analyzers: analyzers.to_vec(),
            lengths: vec![0; channels.len()],
            channels,
            positions: vec![Vec::new(); slots],
            words: Words::default(),
        }
    }

    /// The score of a document that fits.
    pub fn evaluate(&mut self, texts: &[FieldText<'_>]) -> Option<f32> {
        self.positions.iter_mut().for_each(Vec::clear);
        for (at, channel) in self.channels.iter().enumerate() {
            let Some(length) = self.lengths.get_mut(at) else { continue };
            *length = 0;
            let written = at % 2 == 1;
            if written && channel.words.is_empty() && channel.patterns.is_empty() {
                continue;
            }
            let words = match texts.get(at / 2).copied().unwrap_or_default() {
                FieldText::Nothing => continue,
                FieldText::Words(_) if written => continue,
                FieldText::Words(words) => words,
                FieldText::Text(text) => {
                    let Some(analyzer) = self.analyzers.get(at / 2) else { continue };
                    for (slot, pattern) in &channel.texts {
                        if pattern.fits(text)
                            && let Some(found) = self.positions.get_mut(*slot)
                        {
                            found.push(0);
                        }
                    }
                    if written {
                        analyzer.written(text, &mut self.words)
                    } else {
                        analyzer.analyze(text, &mut self.words)
                    }
                    &self.words
                }
            };
            *length = u32::try_from(words.len()).unwrap_or(u32::MAX);
            for (word, position, _) in words.iter() {
                if let Some(positions) = channel.words.get(word).and_then(|slot| self.positions.get_mut(*slot)) {
                    positions.push(position);
                }
                for (slot, pattern) in &channel.patterns {
                    let Some(found) = self.positions.get_mut(*slot) else { continue };
                    if found.is_empty() && pattern.fits(word) {
                        found.push(position);
                    }
                }
            }
        }
        self.score(&self.root)
    }

    fn norm(&self, channel: usize) -> f32 {
        let id = FieldNormReader::fieldnorm_to_id(self.lengths.get(channel).copied().unwrap_or(0));
        self.channels.get(channel).and_then(|c| c.norms.get(usize::from(id))).copied().unwrap_or(1.0)
    }

    fn weighted(&self, channel: usize, weight: f32, count: u32) -> f32 {
        let count = count as f32;
        weight * (count / (count + self.norm(channel)))
    }

    fn score(&self, node: &Node) -> Option<f32> {
        match node {
            Node::Nothing => None,
            Node::All => Some(0.0),
            Node::Term { channel, slot, weight } => {
                let count = self.positions.get(*slot).map_or(0, Vec::len);
                (count > 0).then(|| self.weighted(*channel, *weight, u32::try_from(count).unwrap_or(u32::MAX)))
            }
            Node::Phrase { channel, slots, slop, weight } => {
                let count = phrase_count(&phrase_words(slots, &self.positions), *slop);
                (count > 0).then(|| self.weighted(*channel, *weight, count))
            }
            Node::Pattern(slot) => self.positions.get(*slot).is_some_and(|p| !p.is_empty()).then_some(1.0),
            Node::AtLeast(least, of) => {
                let scores: Vec<f32> = of.iter().filter_map(|n| self.score(n)).collect();
                (scores.len() >= *least && !scores.is_empty()).then(|| scores.iter().sum())
            }
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
        statistics.words.resize(self.channels.len(), 0);
        for ((at, channel), sum) in self.channels.iter().enumerate().zip(&mut statistics.words) {
            *sum += u64::from(self.lengths.get(at).copied().unwrap_or(0));
            for (word, slot) in &channel.words {
                if self.positions.get(*slot).is_some_and(|p| !p.is_empty()) {
                    *statistics.frequency.entry((at, word.clone())).or_default() += 1;
                }
            }
        }
    }

    /// The words of a text that the query asks for (not those that it excludes), as byte ranges: for highlighting. Those of a phrase are
    /// marked where the phrase is.
    pub fn highlight(&mut self, field: FieldId, text: FieldText<'_>) -> Vec<std::ops::Range<usize>> {
        let mut out = Vec::new();
        for written in [false, true] {
            let channel = channel(field, written);
            let Some(own) = self.channels.get(channel) else { continue };
            if written && own.words.is_empty() && own.patterns.is_empty() {
                continue;
            }
            let words = match text {
                FieldText::Nothing => continue,
                FieldText::Words(_) if written => continue,
                FieldText::Words(words) => words,
                FieldText::Text(text) => {
                    let Some(analyzer) = self.analyzers.get(field) else { continue };
                    if written {
                        analyzer.written(text, &mut self.words)
                    } else {
                        analyzer.analyze(text, &mut self.words)
                    }
                    &self.words
                }
            };
            self.positions.iter_mut().for_each(Vec::clear);
            for (word, position, _) in words.iter() {
                if let Some(positions) = own.words.get(word).and_then(|slot| self.positions.get_mut(*slot)) {
                    positions.push(position);
                }
            }
            let mut wanted = Wanted { slots: vec![false; self.positions.len()], places: HashSet::new() };
            wanted.mark(&self.root, channel, &self.positions);
            let is_wanted = |slot: usize| wanted.slots.get(slot).copied().unwrap_or(false);
            let fits = |word: &str, position: u32| match own.words.get(word) {
                Some(slot) if is_wanted(*slot) || wanted.places.contains(&(*slot, position)) => true,
                _ => own.patterns.iter().any(|(slot, p)| is_wanted(*slot) && p.fits(word)),
            };
            out.extend(words.iter().filter(|(word, position, _)| fits(word, *position)).map(|(_, _, place)| place));
            if let FieldText::Text(text) = text {
                out.extend(own.texts.iter().filter(|(slot, _)| is_wanted(*slot)).flat_map(|(_, pattern)| pattern.places(text)));
            }
        }
        out
    }
}

/// What is to be marked in a text: words wherever they are, and words at some places.
struct Wanted {
    slots: Vec<bool>,
    places: HashSet<(usize, u32)>,
}

impl Wanted {
    fn mark(&mut self, node: &Node, in_channel: usize, positions: &[Vec<u32>]) {
        match node {
            Node::Nothing | Node::All => {}
            Node::Term { slot, .. } | Node::Pattern(slot) => {
                if let Some(wanted) = self.slots.get_mut(*slot) {
                    *wanted = true;
                }
            }
            Node::Phrase { channel, slots, slop, .. } if *channel == in_channel => {
                let steps = phrase_steps(&phrase_words(slots, positions), *slop).unwrap_or_default();
                for last in 0..steps.last().map_or(0, Vec::len) {
                    let mut at = last;
                    for ((_, slot), steps) in slots.iter().zip(&steps).rev() {
                        let Some(step) = steps.get(at) else { break };
                        self.places.insert((*slot, step.position));
                        at = step.before;
                    }
                }
            }
            Node::Phrase { .. } => {}
            Node::AtLeast(_, of) => of.iter().for_each(|n| self.mark(n, in_channel, positions)),
            Node::Bool { must, should, .. } => must.iter().chain(should).for_each(|n| self.mark(n, in_channel, positions)),
            Node::Boost(inner, _) => self.mark(inner, in_channel, positions),
        }
    }
}

/// What a tree is made with.
struct Building<'a> {
    channels: &'a mut [Channel],
    slots: &'a mut usize,
    statistics: Option<&'a Statistics>,
    analyzers: &'a [Arc<Analyzer>],
}

impl Building<'_> {
    fn weight(&self, channel: usize, word: &str) -> f32 {
        self.statistics.map_or(0.0, |s| s.idf(channel, word))
    }

    fn new_slot(&mut self) -> usize {
        *self.slots += 1;
        *self.slots - 1
    }

    fn slot_of(&mut self, channel: usize, word: &str) -> Option<usize> {
        let words = &mut self.channels.get_mut(channel)?.words;
        Some(*words.entry(word.to_owned()).or_insert_with(|| {
            *self.slots += 1;
            *self.slots - 1
        }))
    }

    fn pattern(&mut self, field: FieldId, pattern: Pattern) -> Node {
        let written = self.analyzers.get(field).is_some_and(|a| a.has_stems());
        let slot = self.new_slot();
        let Some(words) = self.channels.get_mut(channel(field, written)) else { return Node::Nothing };
        words.patterns.push((slot, pattern));
        Node::Pattern(slot)
    }
}

fn build(query: &Query, to: &mut Building<'_>) -> Node {
    match query {
        Query::Nothing => Node::Nothing,
        Query::All => Node::All,
        Query::Term { field, word } => {
            let channel = channel(*field, false);
            match to.slot_of(channel, word) {
                Some(slot) => Node::Term { channel, slot, weight: to.weight(channel, word) * (1.0 + K1) },
                None => Node::Nothing,
            }
        }
        Query::Phrase { field, letters, words, slop } => {
            let channel = channel(*field, *letters);
            let mut of = Vec::with_capacity(words.len());
            let mut sum = 0.0;
            for (offset, word) in words {
                let Some(slot) = to.slot_of(channel, word) else { return Node::Nothing };
                of.push((*offset, slot));
                sum += to.weight(channel, word);
            }
            Node::Phrase { channel, slots: of, slop: *slop, weight: sum * (1.0 + K1) }
        }
        Query::Prefix { field, start } => to.pattern(*field, Pattern::Prefix(start.clone())),
        Query::Fuzzy { field, word, distance } => {
            let Some(builder) = FUZZY.get(usize::from(*distance).saturating_sub(1)) else { return Node::Nothing };
            to.pattern(*field, Pattern::Fuzzy(Box::new(builder.build_dfa(word))))
        }
        Query::Regex { field, pattern } => match tantivy_fst::Regex::new(pattern) {
            Ok(regex) => to.pattern(*field, Pattern::Regex(Box::new(regex))),
            Err(_) => Node::Nothing,
        },
        Query::Range { field, lower, upper } => to.pattern(*field, Pattern::Range(lower.clone(), upper.clone())),
        Query::Text { field, expression, .. } => {
            let (Ok(regex), Some(analyzer)) = (regex::Regex::new(expression), to.analyzers.get(*field)) else { return Node::Nothing };
            let pattern = TextPattern { regex, lowered: analyzer.folds_case() };
            let slot = to.new_slot();
            let Some(words) = to.channels.get_mut(channel(*field, false)) else { return Node::Nothing };
            words.texts.push((slot, pattern));
            Node::Pattern(slot)
        }
        Query::AtLeast { least, of } => Node::AtLeast(*least, of.iter().map(|q| build(q, to)).collect()),
        Query::Bool { must, should, must_not } => {
            let mut all = |of: &[Query]| of.iter().map(|q| build(q, to)).collect();
            Node::Bool { must: all(must), should: all(should), must_not: all(must_not) }
        }
        Query::Boost(inner, by) => Node::Boost(Box::new(build(inner, to)), *by),
        Query::Superset(inner) => build(inner, to),
    }
}

/// The positions of a phrase's words, with their offsets in it.
fn phrase_words<'a>(slots: &[(u32, usize)], positions: &'a [Vec<u32>]) -> Vec<(u32, &'a [u32])> {
    slots.iter().map(|(offset, slot)| (*offset, positions.get(*slot).map_or(&[][..], Vec::as_slice))).collect()
}

/// A word of a phrase that is in its place, or not too far from it.
#[derive(Clone, Copy)]
struct Step {
    position: u32,
    /// Where the phrase would begin by this word, and what it is out of place so far.
    start: i64,
    cost: u32,
    /// The word before, among its steps.
    before: usize,
}

/// By word, where it goes on with a phrase; `None` without any. Words are out of place by `slop` in all.
fn phrase_steps(words: &[(u32, &[u32])], slop: u32) -> Option<Vec<Vec<Step>>> {
    let ((first, at), rest) = words.split_first()?;
    let starting = |p: &u32| Step { position: *p, start: i64::from(*p) - i64::from(*first), cost: 0, before: 0 };
    let mut steps: Vec<Vec<Step>> = vec![at.iter().map(starting).collect()];
    for (offset, positions) in rest {
        let reached = steps.last()?;
        let mut next: Vec<Step> = Vec::new();
        let mut low = 0;
        for position in *positions {
            let start = i64::from(*position) - i64::from(*offset);
            while reached.get(low).is_some_and(|before| before.start < start - i64::from(slop)) {
                low += 1;
            }
            let near = reached.iter().enumerate().skip(low).take_while(|(_, before)| before.start <= start + i64::from(slop));
            let costs =
                near.map(|(n, before)| (before.cost.saturating_add(u32::try_from(before.start.abs_diff(start)).unwrap_or(u32::MAX)), n));
            if let Some((cost, before)) = costs.min().filter(|(cost, _)| *cost <= slop) {
                next.push(Step { position: *position, start, cost, before });
            }
        }
        if next.is_empty() {
            return None;
        }
        steps.push(next);
    }
    Some(steps)
}

/// How often a phrase is there.
fn phrase_count(words: &[(u32, &[u32])], slop: u32) -> u32 {
    let found = phrase_steps(words, slop).and_then(|steps| steps.last().map(Vec::len)).unwrap_or(0);
    u32::try_from(found).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::analyzer::TokenizerOptions;
    use crate::parse::{SearchField, parse};

    fn fits(query: &str, text: &str) -> bool {
        let analyzer = Analyzer::new(&TokenizerOptions::default()).unwrap();
        let query = parse(query, &[SearchField { name: "b".into(), analyzer: Arc::clone(&analyzer) }], &[]).unwrap();
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

    /// The places of a text that are marked.
    fn marked(tokenizer: &str, query: &str, text: &str) -> String {
        let mut options = TokenizerOptions::default();
        options.set("tokenizer", tokenizer).unwrap();
        let analyzer = Analyzer::new(&options).unwrap();
        let query = parse(query, &[SearchField { name: "b".into(), analyzer: Arc::clone(&analyzer) }], &[]).unwrap();
        let mut places = Evaluator::new(&query, &[analyzer], None).highlight(0, FieldText::Text(text));
        places.sort_by_key(|p| p.start);
        places.into_iter().map(|p| &text[p]).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn words_of_a_phrase_are_marked_where_it_is() {
        assert_eq!(marked("unicode", "\"brown fox\" dog", "a fox, a brown fox and a dog"), "brown|fox|dog");
        assert_eq!(marked("unicode", "\"brown dog\"~1", "dog brown, brown big dog"), "brown|dog");
        assert_eq!(marked("jieba", "\"人民共和国\"", "国人，中华人民共和国"), "人|民|共|和|国");
    }

    #[test]
    fn chinese_phrases_are_found_wherever_they_are_written() {
        for (query, text, wanted) in [
            ("\"人民共和国\"", "中华人民共和国", true),
            ("人民共和国", "中华人民共和国万岁", true),
            ("\"市长江\"", "南京市长江大桥", true),
            ("\"北京天安门\"", "我爱 北京，天安门", true),
            ("\"大学计算机\"", "清华大学计算机系", true),
            ("\"人民共和国\"", "人民和共和国", false),
            ("\"民共和\"", "人民共和国", true),
            ("国", "人民共和国", true),
            ("\"国\"", "人民共和国", true),
            ("\"with from\"~2", "test with slop different from zero", true),
            ("\"with from\"~1", "test with slop different from zero", false),
            ("\"hello world\"", "Hello, world", true),
            ("\"hello wor\"", "Hello, world", false),
        ] {
            let mut options = TokenizerOptions::default();
            options.set("tokenizer", "jieba").unwrap();
            let analyzer = Analyzer::new(&options).unwrap();
            let parsed = parse(query, &[SearchField { name: "b".into(), analyzer: Arc::clone(&analyzer) }], &[]).unwrap();
            let found = Evaluator::new(&parsed, &[analyzer], None).evaluate(&[FieldText::Text(text)]).is_some();
            assert_eq!(found, wanted, "{query} in {text}");
        }
    }
}

//! A search over one generation of an index's files: what was committed up to a time.

use crate::error::{Error, Result};
use crate::evaluate::{Statistics, channel};
use crate::index::KeyForm;
use crate::query::{FieldId, Query};
use std::ops::Bound;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tantivy::collector::{Collector, Count, SegmentCollector, TopDocs};
use tantivy::columnar::Column;
use tantivy::query::{
    AllQuery, Bm25StatisticsProvider, BooleanQuery, BoostQuery, ConstScoreQuery, EmptyQuery, FuzzyTermQuery, Occur, PhraseQuery,
    RangeQuery, RegexQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, DocId, Score, Searcher, SegmentOrdinal, SegmentReader, Term};

/// What is wanted of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Want {
    Count,
    All {
        scores: bool,
    },
    /// The best, by score; with `ties`, all that are as good as the last of them too.
    Top {
        limit: usize,
        ties: bool,
    },
}

/// The keys found; with their scores if those were wanted, else without.
#[derive(Clone, Debug, Default)]
pub struct Hits {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    pub scores: Vec<f32>,
    /// How many documents fit: of all for a count, else as many as there are keys.
    pub count: u64,
}

impl Hits {
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The n-th key; empty beyond the last.
    #[must_use]
    pub fn key(&self, n: usize) -> &[u8] {
        let Some(end) = self.ends.get(n) else { return &[] };
        let start = if n == 0 { 0 } else { self.ends.get(n - 1).copied().unwrap_or(0) };
        self.bytes.get(start..*end).unwrap_or_default()
    }

    pub fn keys(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.len()).map(|n| self.key(n))
    }
}

/// The files of one shard with the columns that hold keys.
pub(crate) struct ShardView {
    pub searcher: Searcher,
    pub keys: Vec<Column<u64>>,
}

/// What an index has at one time. Stays readable whatever is committed after.
pub struct Generation {
    pub(crate) shards: Vec<ShardView>,
    pub(crate) fields: Arc<[Field]>,
    /// By field: where what is written is, if that is kept.
    pub(crate) written: Arc<[Option<Field>]>,
    /// By field: where patterns look.
    pub(crate) patterns: Arc<[Field]>,
    pub(crate) form: KeyForm,
    /// Everything up to here is in it.
    pub timestamp: u64,
}

impl std::fmt::Debug for Generation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Generation").field("timestamp", &self.timestamp).field("shards", &self.shards.len()).finish_non_exhaustive()
    }
}

impl Generation {
    /// Documents.
    #[must_use]
    pub fn documents(&self) -> u64 {
        self.shards.iter().map(|s| s.searcher.num_docs()).sum()
    }

    /// Segments of all shards.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.shards.iter().map(|s| s.searcher.segment_readers().len()).sum()
    }

    /// Bytes of all files.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.shards.iter().filter_map(|s| s.searcher.space_usage().ok()).map(|u| u.total().get_bytes()).sum()
    }

    /// How many documents have one of the words of the query, at most: what a plan is made with.
    ///
    /// # Errors
    /// The files cannot be read.
    pub fn estimate(&self, query: &Query) -> Result<u64> {
        let all = self.documents();
        Ok(match query {
            Query::Nothing => 0,
            Query::All => all,
            Query::Term { field, word } => self.frequency(*field, false, word)?,
            Query::Phrase { field, letters, words, .. } => {
                let mut least = all;
                for (_, word) in words {
                    least = least.min(self.frequency(*field, *letters, word)?);
                }
                if words.len() > 1 { least.div_ceil(4) } else { least }
            }
            Query::Prefix { field, start } => self.matching(*field, Some(start), None, all)?,
            Query::Regex { field, pattern } => self.matching(*field, None, Some(pattern), all)?,
            Query::Fuzzy { .. } | Query::Range { .. } => all.div_ceil(20),
            Query::Bool { must, should, .. } => {
                let mut least = all;
                for q in must {
                    least = least.min(self.estimate(q)?);
                }
                if must.is_empty() {
                    let mut sum = 0u64;
                    for q in should {
                        sum = sum.saturating_add(self.estimate(q)?);
                    }
                    least = least.min(sum);
                }
                least
            }
            Query::AtLeast { of, .. } => {
                let mut sum = 0u64;
                for q in of {
                    sum = sum.saturating_add(self.estimate(q)?);
                }
                sum.min(all)
            }
            Query::Boost(inner, _) | Query::Superset(inner) | Query::Text { within: inner, .. } => self.estimate(inner)?,
        })
    }

    /// In how many documents the words are that begin so, or fit a pattern, a document once a word; `most` at most.
    fn matching(&self, field: FieldId, start: Option<&str>, pattern: Option<&str>, most: u64) -> Result<u64> {
        let Some(field) = self.patterns.get(field) else { return Ok(0) };
        guarded(|| {
            let mut sum = 0u64;
            for segment in self.shards.iter().flat_map(|s| s.searcher.segment_readers()) {
                let index = segment.inverted_index(*field)?;
                let mut count = |frequency: u32| {
                    sum = sum.saturating_add(u64::from(frequency));
                    sum < most
                };
                if let Some(pattern) = pattern {
                    let automaton = tantivy_fst::Regex::new(pattern).map_err(|e| Error::Failed(e.to_string()))?;
                    let mut words = index.terms().search(automaton).into_stream()?;
                    while words.advance() && count(words.value().doc_freq) {}
                } else if let Some(start) = start {
                    let mut words = index.terms().range().ge(start);
                    let end = after_prefix(start);
                    if let Some(end) = &end {
                        words = words.lt(end);
                    }
                    let mut words = words.into_stream()?;
                    while words.advance() && count(words.value().doc_freq) {}
                }
            }
            Ok(sum.min(most))
        })
    }

    /// Where the words of a field are, or what is written.
    pub(crate) fn place(&self, field: FieldId, written: bool) -> Option<Field> {
        if written { self.written.get(field).copied().flatten() } else { self.fields.get(field).copied() }
    }

    fn frequency(&self, field: FieldId, letters: bool, word: &str) -> Result<u64> {
        let Some(field) = self.place(field, letters) else { return Ok(0) };
        guarded(|| Ok(self.doc_freq(&Term::from_field_text(field, word))?))
    }

    /// What scores of documents outside of the index depend on.
    ///
    /// # Errors
    /// The files cannot be read.
    pub fn statistics(&self, query: &Query) -> Result<Statistics> {
        let mut out = Statistics { documents: self.total_num_docs()?, ..Statistics::default() };
        for field in 0..self.fields.len() {
            for letters in [false, true] {
                let place = self.place(field, letters);
                out.words.push(place.map_or(Ok(0), |place| self.total_num_tokens(place))?);
            }
        }
        let mut words: Vec<(FieldId, bool, String)> = Vec::new();
        query.leaves(&mut |leaf| match leaf {
            Query::Term { field, word } => words.push((*field, false, word.clone())),
            Query::Phrase { field, letters, words: of, .. } => words.extend(of.iter().map(|(_, w)| (*field, *letters, w.clone()))),
            _ => {}
        });
        for (field, letters, word) in words {
            let frequency = self.frequency(field, letters, &word)?;
            out.frequency.insert((channel(field, letters), word), frequency);
        }
        Ok(out)
    }

    /// Finds documents.
    ///
    /// # Errors
    /// [`Error::Damaged`] and [`Error::Failed`].
    pub fn search(&self, query: &Query, want: Want) -> Result<Hits> {
        guarded(|| self.run(query, want))
    }

    fn run(&self, query: &Query, want: Want) -> Result<Hits> {
        let query = self.translate(query)?;
        let mut hits = Hits::default();
        match want {
            Want::Count => {
                for shard in &self.shards {
                    hits.count += shard.searcher.search(&*query, &Count)? as u64;
                }
            }
            Want::All { scores } => {
                for shard in &self.shards {
                    let found = shard.searcher.search_with_statistics_provider(&*query, &Documents { scores }, self)?;
                    for segment in found {
                        let Some(column) = shard.keys.get(segment.ordinal as usize) else { continue };
                        self.read_keys(column, &segment.documents, &mut hits)?;
                        hits.scores.extend(segment.scores);
                    }
                }
                hits.count = hits.len() as u64;
            }
            Want::Top { limit: 0, .. } => {}
            Want::Top { limit, ties } => {
                for (score, shard, at) in self.best(&*query, limit, ties)? {
                    let column = self.shards.get(shard).and_then(|s| s.keys.get(at.segment_ord as usize));
                    let Some(column) = column else { continue };
                    self.read_keys(column, &[at.doc_id], &mut hits)?;
                    hits.scores.push(score);
                }
                hits.count = hits.len() as u64;
            }
        }
        Ok(hits)
    }

    /// The best documents, with their shards: so many, and with `ties` all that are as good as the last of those.
    fn best(&self, query: &dyn tantivy::query::Query, limit: usize, ties: bool) -> Result<Vec<(Score, usize, DocAddress)>> {
        // tantivy reserves room for all that is asked for.
        let all = usize::try_from(self.documents()).unwrap_or(usize::MAX).max(1);
        let mut asked = limit.saturating_add(usize::from(ties)).min(all);
        loop {
            let mut best: Vec<(Score, usize, DocAddress)> = Vec::new();
            for (n, shard) in self.shards.iter().enumerate() {
                let collector = TopDocs::with_limit(asked).order_by_score();
                let top = shard.searcher.search_with_statistics_provider(query, &collector, self)?;
                best.extend(top.into_iter().map(|(score, at)| (score, n, at)));
            }
            best.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
            best.truncate(asked);
            let Some(least) = best.get(limit - 1).map(|last| last.0).filter(|_| ties) else { return Ok(best) };
            if asked == all || best.len() < asked || best.last().is_some_and(|last| last.0 < least) {
                best.retain(|one| one.0 >= least);
                return Ok(best);
            }
            asked = asked.saturating_mul(8).min(all);
        }
    }

    fn read_keys(&self, column: &Column<u64>, documents: &[DocId], hits: &mut Hits) -> Result<()> {
        let broken = || Error::Damaged("a document without a key".into());
        match self.form {
            KeyForm::EightBytes => {
                hits.bytes.reserve(documents.len() * 8);
                hits.ends.reserve(documents.len());
                for document in documents {
                    let word = column.first(*document).ok_or_else(broken)?;
                    hits.bytes.extend_from_slice(&word.to_be_bytes());
                    hits.ends.push(hits.bytes.len());
                }
            }
            KeyForm::Words => {
                for document in documents {
                    let mut words = column.values_for_doc(*document);
                    let length = words.next().and_then(|n| usize::try_from(n).ok()).ok_or_else(broken)?;
                    let from = hits.bytes.len();
                    for word in words {
                        hits.bytes.extend_from_slice(&word.to_be_bytes());
                    }
                    if hits.bytes.len() - from < length {
                        return Err(broken());
                    }
                    hits.bytes.truncate(from + length);
                    hits.ends.push(hits.bytes.len());
                }
            }
        }
        Ok(())
    }

    fn translate(&self, query: &Query) -> Result<Box<dyn tantivy::query::Query>> {
        let missing = || Error::Failed("a field that the index does not have".into());
        let field = |id: FieldId| self.patterns.get(id).copied().ok_or_else(missing);
        let all = || -> Box<dyn tantivy::query::Query> { Box::new(ConstScoreQuery::new(Box::new(AllQuery), 0.0)) };
        Ok(match query {
            Query::Nothing => Box::new(EmptyQuery),
            Query::All => all(),
            Query::Term { field: id, word } => {
                let field = self.place(*id, false).ok_or_else(missing)?;
                Box::new(TermQuery::new(Term::from_field_text(field, word), IndexRecordOption::WithFreqs))
            }
            Query::Phrase { field: id, letters, words, slop } => {
                let field = self.place(*id, *letters).ok_or_else(missing)?;
                let mut terms: Vec<(usize, Term)> =
                    words.iter().map(|(offset, word)| (*offset as usize, Term::from_field_text(field, word))).collect();
                terms.sort();
                terms.dedup();
                if terms.len() == 1
                    && let Some((_, term)) = terms.pop()
                {
                    return Ok(Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs)));
                }
                if query.is_exact() {
                    Box::new(PhraseQuery::new_with_offset_and_slop(terms, *slop))
                } else {
                    // Documents with all the words: each is looked at again.
                    let all = terms.into_iter().map(|(_, term)| -> Box<dyn tantivy::query::Query> {
                        Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))
                    });
                    Box::new(BooleanQuery::intersection(all.collect()))
                }
            }
            Query::Prefix { field: id, start } => {
                let field = field(*id)?;
                let lower = Bound::Included(Term::from_field_text(field, start));
                let upper = match after_prefix(start) {
                    Some(end) => Bound::Excluded(Term::from_field_text(field, &end)),
                    None => Bound::Unbounded,
                };
                Box::new(RangeQuery::new(lower, upper))
            }
            Query::Fuzzy { field: id, word, distance } => {
                Box::new(FuzzyTermQuery::new(Term::from_field_text(field(*id)?, word), *distance, true))
            }
            Query::Regex { field: id, pattern } => Box::new(RegexQuery::from_pattern(pattern, field(*id)?)?),
            Query::Range { field: id, lower, upper } => {
                let field = field(*id)?;
                let bound = |b: &Bound<String>| match b {
                    Bound::Unbounded => Bound::Unbounded,
                    Bound::Included(word) => Bound::Included(Term::from_field_text(field, word)),
                    Bound::Excluded(word) => Bound::Excluded(Term::from_field_text(field, word)),
                };
                match (bound(lower), bound(upper)) {
                    // A range needs an end to know its field.
                    (Bound::Unbounded, Bound::Unbounded) => {
                        Box::new(RangeQuery::new(Bound::Included(Term::from_field_text(field, "")), Bound::Unbounded))
                    }
                    (lower, upper) => Box::new(RangeQuery::new(lower, upper)),
                }
            }
            Query::Bool { must, should, must_not } => {
                let mut clauses = Vec::with_capacity(must.len() + should.len() + must_not.len());
                for (occur, of) in [(Occur::Must, must), (Occur::Should, should), (Occur::MustNot, must_not)] {
                    for q in of {
                        // What may be found too much must not be excluded.
                        if occur != Occur::MustNot || q.is_exact() {
                            clauses.push((occur, self.translate(q)?));
                        }
                    }
                }
                Box::new(BooleanQuery::new(clauses))
            }
            Query::AtLeast { least, of } => {
                let clauses = of.iter().map(|q| Ok((Occur::Should, self.translate(q)?))).collect::<Result<Vec<_>>>()?;
                Box::new(BooleanQuery::with_minimum_required_clauses(clauses, *least))
            }
            Query::Boost(inner, by) => Box::new(BoostQuery::new(self.translate(inner)?, *by)),
            Query::Superset(inner) | Query::Text { within: inner, .. } => self.translate(inner)?,
        })
    }
}

/// Over all shards: a word is as rare as it is in the whole index.
impl Bm25StatisticsProvider for Generation {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        self.shards.iter().map(|s| s.searcher.total_num_tokens(field)).sum()
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        self.shards.iter().map(|s| s.searcher.total_num_docs()).sum()
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        self.shards.iter().map(|s| s.searcher.doc_freq(term)).sum()
    }
}

/// The first text behind all that start with `prefix`.
fn after_prefix(prefix: &str) -> Option<String> {
    let mut chars: Vec<char> = prefix.chars().collect();
    while let Some(last) = chars.pop() {
        let next = (u32::from(last) + 1..=u32::from(char::MAX)).find_map(char::from_u32);
        if let Some(next) = next {
            chars.push(next);
            return Some(chars.into_iter().collect());
        }
    }
    None
}

/// tantivy trusts its files: what it does with damaged ones must not end the process.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    match std::panic::catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done,
        Err(_) => Err(Error::Damaged("reading its files failed".into())),
    }
}

/// Collects all documents.
struct Documents {
    scores: bool,
}

struct SegmentDocuments {
    ordinal: SegmentOrdinal,
    documents: Vec<DocId>,
    scores: Vec<Score>,
    with_scores: bool,
}

impl Collector for Documents {
    type Fruit = Vec<SegmentDocuments>;
    type Child = SegmentDocuments;

    fn for_segment(&self, ordinal: SegmentOrdinal, _: &SegmentReader) -> tantivy::Result<SegmentDocuments> {
        Ok(SegmentDocuments { ordinal, documents: Vec::new(), scores: Vec::new(), with_scores: self.scores })
    }

    fn requires_scoring(&self) -> bool {
        self.scores
    }

    fn merge_fruits(&self, segments: Vec<SegmentDocuments>) -> tantivy::Result<Vec<SegmentDocuments>> {
        Ok(segments)
    }
}

impl SegmentCollector for SegmentDocuments {
    type Fruit = SegmentDocuments;

    fn collect(&mut self, document: DocId, score: Score) {
        self.documents.push(document);
        if self.with_scores {
            self.scores.push(score);
        }
    }

    fn collect_block(&mut self, documents: &[DocId]) {
        self.documents.extend_from_slice(documents);
    }

    fn harvest(self) -> SegmentDocuments {
        self
    }
}

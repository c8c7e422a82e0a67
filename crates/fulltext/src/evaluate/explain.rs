//! Where a score comes from.

use super::{Evaluator, FieldText, Node, Statistics, channel, phrase_count, phrase_words};
use crate::query::Query;

/// What a word, phrase or pattern gives to a score.
#[derive(Clone, Debug)]
pub struct Share {
    pub score: f32,
    /// The word, phrase or pattern.
    pub what: Query,
    /// How often it is in the document.
    pub times: u32,
    /// How many words the document has in that field.
    pub words: u32,
    /// How many documents have it, of a word.
    pub documents: Option<u64>,
}

impl Evaluator {
    /// The score of a document that fits, and what makes it up. `query` and `statistics` are those that the evaluator was made with.
    pub fn explain(&mut self, query: &Query, statistics: &Statistics, texts: &[FieldText<'_>]) -> Option<(f32, Vec<Share>)> {
        let score = self.evaluate(texts)?;
        let mut out = Vec::new();
        self.shares(query, &self.root, 1.0, statistics, &mut out);
        Some((score, out))
    }

    fn shares(&self, query: &Query, node: &Node, factor: f32, statistics: &Statistics, out: &mut Vec<Share>) {
        // What does not fit as a whole counts nothing.
        let Some(score) = self.score(node) else { return };
        match (query, node) {
            (Query::Superset(query), node) => self.shares(query, node, factor, statistics, out),
            (Query::Boost(query, _), Node::Boost(node, by)) => self.shares(query, node, factor * by, statistics, out),
            (Query::Bool { must, should, .. }, Node::Bool { must: all, should: some, .. }) => {
                for (query, node) in must.iter().zip(all).chain(should.iter().zip(some)) {
                    self.shares(query, node, factor, statistics, out);
                }
            }
            (Query::AtLeast { of, .. }, Node::AtLeast(_, nodes)) => {
                for (query, node) in of.iter().zip(nodes) {
                    self.shares(query, node, factor, statistics, out);
                }
            }
            (Query::Nothing | Query::All, _) => {}
            (leaf, node) => {
                let count = |slot: &usize| self.positions.get(*slot).map_or(0, Vec::len);
                let times = match node {
                    Node::Term { slot, .. } => u32::try_from(count(slot)).unwrap_or(u32::MAX),
                    Node::Phrase { slots, slop, .. } => phrase_count(&phrase_words(slots, &self.positions), *slop),
                    _ => 1,
                };
                let documents = match leaf {
                    Query::Term { field, word } => statistics.frequency.get(&(channel(*field, false), word.clone())).copied(),
                    _ => None,
                };
                let words = leaf.field().and_then(|field| self.lengths.get(channel(field, false))).copied().unwrap_or(0);
                out.push(Share { score: score * factor, what: leaf.clone(), times, words, documents });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::parse::{SearchField, parse};
    use crate::{Analyzer, TokenizerOptions};
    use std::sync::Arc;

    #[test]
    fn shares_add_up_to_the_score() {
        let analyzer = Analyzer::new(&TokenizerOptions::default()).unwrap();
        let fields = [SearchField { name: "b".into(), analyzer: Arc::clone(&analyzer) }];
        let query = parse("quick^2 \"brown fox\" (dog cat) (+quick +zebra) jum* -lion", &fields, &[]).unwrap();
        let text = "the quick quick brown fox jumps over the dog";
        let mut statistics = Statistics { documents: 10, words: vec![80, 0], ..Statistics::default() };
        for (word, n) in [("quick", 3), ("brown", 2), ("fox", 2), ("dog", 5)] {
            statistics.frequency.insert((0, word.into()), n);
        }
        let mut evaluator = Evaluator::new(&query, &[analyzer], Some(&statistics));
        let (score, shares) = evaluator.explain(&query, &statistics, &[FieldText::Text(text)]).unwrap();
        let shown: Vec<String> = shares.iter().map(|s| format!("{} {} {} {:?}", s.what, s.times, s.words, s.documents)).collect();
        assert_eq!(shown, ["0:quick 2 9 Some(3)", "0:\"brown fox\" 1 9 None", "0:dog 1 9 Some(5)", "0:jum* 1 9 None"]);
        assert!((shares.iter().map(|s| s.score).sum::<f32>() - score).abs() < 1e-5);
        assert!(evaluator.explain(&query, &statistics, &[FieldText::Text("a lion quick")]).is_none());
    }
}

//! Words that mean the same: rules of an index, applied to what is asked, so that texts need not be indexed again for them.
//!
//! ```text
//! rules   rule { (';' | newline) rule }
//! rule    words { '=' words }         each finds the others
//!         words => words { ',' words }    what is on the left finds what is on the right, too
//! ```
//!
//! Words of a rule may be several, `united states = usa`, and are then found as a phrase.

use crate::analyzer::{Analyzer, Words};
use crate::error::{Error, Result};
use crate::parse::phrase_of;
use crate::query::{FieldId, Query};
use std::collections::HashMap;

/// What a word counts that means the same as the one asked for.
const WEIGHT: f32 = 0.8;
/// Words that one finds, at most.
const MOST: usize = 64;

/// See the module.
#[derive(Default, Debug)]
pub struct Synonyms {
    /// By words, joined by a sign that none has: what they find.
    rules: HashMap<String, Vec<Query>>,
    /// Words of the longest left side.
    longest: usize,
}

/// The words of a text; of words within words, the longest.
fn key<'a>(words: impl Iterator<Item = (&'a str, u32)>) -> (String, usize) {
    let (mut out, mut last, mut count) = (String::new(), None, 0);
    for (word, at) in words {
        if last == Some(at) {
            continue;
        }
        last = Some(at);
        count += 1;
        out.push_str(word);
        out.push('\u{1}');
    }
    (out, count)
}

impl Synonyms {
    /// # Errors
    /// A rule has a side without a word, or no sign between its sides; a word has too many others.
    pub(crate) fn read(rules: &str, analyzer: &Analyzer) -> Result<Self> {
        let mut out = Self::default();
        let mut words = Words::default();
        for rule in rules.split([';', '\n']).map(str::trim).filter(|rule| !rule.is_empty()) {
            let wrong = || Error::Option(format!("\"{rule}\" is no rule of synonyms: write a = b, or a => b, c"));
            let sides: Vec<(&str, Vec<&str>)> = match rule.split_once("=>") {
                Some((left, right)) => vec![(left, right.split(',').collect())],
                None => {
                    let all: Vec<&str> = rule.split('=').collect();
                    let others = |n: usize| all.iter().enumerate().filter(|(m, _)| *m != n).map(|(_, side)| *side).collect();
                    (0..all.len()).filter_map(|n| Some((*all.get(n)?, others(n)))).collect()
                }
            };
            if sides.iter().any(|(_, others)| others.is_empty()) {
                return Err(wrong());
            }
            for (left, others) in sides {
                analyzer.analyze(left, &mut words);
                let (left, count) = key(words.iter().map(|(word, at, _)| (word, at)));
                if count == 0 {
                    return Err(wrong());
                }
                out.longest = out.longest.max(count);
                let found = out.rules.entry(left).or_default();
                for other in others {
                    analyzer.analyze(other, &mut words);
                    let query = phrase_of(analyzer, 0, other, 0, false, &mut words).ok_or_else(wrong)?;
                    if !found.contains(&query) {
                        found.push(query);
                    }
                }
                if found.len() > MOST {
                    return Err(Error::Option(format!("a word has more than {MOST} synonyms")));
                }
            }
        }
        Ok(out)
    }

    fn found(&self, key: &str, field: FieldId) -> impl Iterator<Item = Query> {
        let of = move |query: &Query| match query.clone() {
            Query::Term { word, .. } => Query::Term { field, word },
            Query::Phrase { letters, words, slop, .. } => Query::Phrase { field, letters, words, slop },
            other => other,
        };
        self.rules.get(key).into_iter().flatten().map(move |query| Query::Boost(Box::new(of(query)), WEIGHT))
    }

    /// What all of some words find, taken together.
    pub(crate) fn of(&self, words: &Words, field: FieldId) -> Vec<Query> {
        if self.rules.is_empty() {
            return Vec::new();
        }
        self.found(&key(words.iter().map(|(word, at, _)| (word, at))).0, field).collect()
    }

    /// What words of a text find, wherever they stand in it: one by one and some together.
    pub(crate) fn within(&self, words: &Words, field: FieldId) -> Vec<Query> {
        let mut out = Vec::new();
        if self.rules.is_empty() {
            return out;
        }
        let mut whole: Vec<(&str, u32)> = words.iter().map(|(word, at, _)| (word, at)).collect();
        whole.dedup_by_key(|(_, at)| *at);
        for from in 0..whole.len() {
            for to in from + 1..=(from + self.longest).min(whole.len()) {
                let (key, _) = key(whole.get(from..to).unwrap_or_default().iter().copied());
                for query in self.found(&key, field) {
                    if !out.contains(&query) {
                        out.push(query);
                    }
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use crate::analyzer::{Analyzer, TokenizerOptions};
    use crate::parse::{SearchField, parse};
    use crate::parse_words;

    fn options(tokenizer: &str, name: &str, value: &str) -> TokenizerOptions {
        let mut options = TokenizerOptions::default();
        options.set("tokenizer", tokenizer).unwrap();
        options.set(name, value).unwrap();
        options
    }

    #[test]
    fn words_find_those_that_mean_the_same() {
        let rules = "TV = television = telly; notebook => laptop, portable computer\nunited states = usa";
        let fields = [SearchField { name: "b".into(), analyzer: Analyzer::new(&options("unicode", "synonyms", rules)).unwrap() }];
        for (text, wanted) in [
            ("tv", "(0:tv 0:television^0.8 0:telly^0.8)"),
            ("\"tv\"", "0:tv"),
            ("notebook", "(0:notebook 0:laptop^0.8 0:\"portable computer\"^0.8)"),
            ("laptop", "0:laptop"),
            ("united-states", "(0:\"united states\" 0:usa^0.8)"),
        ] {
            assert_eq!(parse(text, &fields, &[]).unwrap().to_string(), wanted, "{text}");
        }
        let wanted = "(0:in 0:states 0:the 0:united 0:usa^0.8)";
        assert_eq!(parse_words("in the united states", &fields, false).unwrap().to_string(), wanted);
        for bad in ["tv", "tv =", "=> tv", "a => ,", "a = b = "] {
            assert!(options("unicode", "synonyms", bad).check().is_err(), "{bad}");
        }
    }

    #[test]
    fn chinese_words_of_a_user_are_cut_and_found() {
        let text = "石墨烯电池的研究";
        let cut = |options: &TokenizerOptions| {
            let mut words = crate::Words::default();
            Analyzer::new(options).unwrap().analyze(text, &mut words);
            words.iter().map(|(word, _, _)| word.to_owned()).collect::<Vec<_>>()
        };
        let mut plain = TokenizerOptions::default();
        plain.set("tokenizer", "jieba").unwrap();
        assert!(!cut(&plain).contains(&"墨烯电池".to_owned()));
        assert!(cut(&options("jieba", "dictionary", "石墨烯电池, 墨烯电池")).contains(&"石墨烯电池".to_owned()));
        for (tokenizer, words) in [("jieba", "a b"), ("jieba", "国"), ("unicode", "石墨烯")] {
            assert!(options(tokenizer, "dictionary", words).check().is_err(), "{words}");
        }
        let fields =
            [SearchField { name: "b".into(), analyzer: Analyzer::new(&options("jieba", "synonyms", "电脑 = 计算机")).unwrap() }];
        let found = parse("电脑", &fields, &[]).unwrap().to_string();
        assert!(found.contains("计") && found.contains("^0.8"), "{found}");
    }
}

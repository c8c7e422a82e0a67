//! Texts without signs as queries: words of a sentence, what people write into a search box, a text that others should be like.
//!
//! Invariant: [`parse_box`] and [`parse_like`] have an answer for whatever is written.

use crate::analyzer::{Analyzer, TokenizerKind, Words, stands_alone};
use crate::error::{Error, Result};
use crate::parse::{MAX_CLAUSES, SearchField, phrase_of, words_of};
use crate::query::{FieldId, Query};
use std::collections::HashMap;

/// To find words like one takes a walk through all words.
const MOST_SIMILAR: usize = 32;
/// What words like one count, and words that begin with one.
const SIMILAR: f32 = 0.2;
const BEGUN: f32 = 0.3;
/// What a Chinese word within a longer one counts, and a character beside words.
const MINOR: f32 = 0.3;
/// Words of a search box that are looked for.
const MOST_IN_BOX: usize = 64;
/// Of a text that others should be like: words that are looked for; the share of them that others must have; bytes that are looked at.
const MOST_LIKE: usize = 25;
const LEAST_LIKE: usize = 30;
const MAX_LIKE_BYTES: usize = 1 << 20;

/// Reads a text without signs: rows with any of its words; with `similar`, also with words that are one letter apart from one of four
/// letters or more, two from one of eight, which count less.
///
/// # Errors
/// [`Error::TooMuch`].
pub fn parse_words(text: &str, fields: &[SearchField], similar: bool) -> Result<Query> {
    let mut words = Words::default();
    let mut of = Vec::new();
    for (id, field) in fields.iter().enumerate() {
        let analyzer = &*field.analyzer;
        analyzer.analyze(text, &mut words);
        let same = analyzer.synonyms().within(&words, id);
        if words.len() == 1 {
            of.extend(phrase_of(analyzer, id, text, 0, false, &mut words));
        } else {
            let mut own: Vec<&str> = words.iter().map(|(word, _, _)| word).collect();
            own.sort_unstable();
            own.dedup();
            of.extend(own.into_iter().map(|word| Query::Term { field: id, word: word.to_owned() }));
        }
        of.extend(same);
        if similar {
            of.extend(similar_words(analyzer, id, text, &mut words));
        }
    }
    if of.len() > MAX_CLAUSES {
        return Err(Error::TooMuch(format!("the search string has more than {MAX_CLAUSES} words")));
    }
    Ok(Query::any(of))
}

/// Words that are like those of a text. `words` is used.
fn similar_words(analyzer: &Analyzer, field: FieldId, text: &str, words: &mut Words) -> Vec<Query> {
    if matches!(analyzer.options().kind, TokenizerKind::Ngram { .. } | TokenizerKind::Raw | TokenizerKind::Lexemes) {
        return Vec::new();
    }
    if analyzer.has_stems() {
        analyzer.written(text, words)
    } else {
        analyzer.analyze(text, words)
    }
    let mut own: Vec<&str> = words.iter().map(|(word, _, _)| word).collect();
    own.sort_unstable();
    own.dedup();
    own.into_iter()
        .take(MOST_SIMILAR)
        .filter_map(|word| {
            // Another number is no slip, and Chinese words differ by a character from most others.
            if word.chars().any(|c| c.is_numeric() || stands_alone(c)) {
                return None;
            }
            let distance = match word.chars().count() {
                0..4 => return None,
                4..8 => 1,
                _ => 2,
            };
            Some(Query::Boost(Box::new(Query::Fuzzy { field, word: word.to_owned(), distance }), SIMILAR))
        })
        .collect()
}

/// A part of what is written into a search box.
enum Part {
    Words(String),
    Phrase(String),
}

/// What is written: parts, and whether each is to be left out.
fn parts_of(text: &str) -> Vec<(Part, bool)> {
    let closing = |c: char| match c {
        '"' | '＂' => Some(c),
        '“' | '„' => Some('”'),
        '「' => Some('」'),
        '『' => Some('』'),
        _ => None,
    };
    let mut out = Vec::new();
    let mut rest = text;
    let mut begins = true;
    let mut plain = String::new();
    while let Some(c) = rest.chars().next() {
        let behind = rest.get(c.len_utf8()..).unwrap_or_default();
        let next = behind.chars().next();
        let leaves_out = begins && matches!(c, '-' | '－') && next.is_some_and(|n| n.is_alphanumeric() || closing(n).is_some());
        let (quote, inside) = if leaves_out { (next.and_then(closing), behind) } else { (closing(c), rest) };
        let quoted = quote.and_then(|end| {
            let inside = inside.get(inside.chars().next()?.len_utf8()..)?;
            let at = inside.find(end)?;
            Some((inside.get(..at)?, inside.get(at + end.len_utf8()..)?))
        });
        if (leaves_out || quoted.is_some()) && !plain.trim().is_empty() {
            out.push((Part::Words(std::mem::take(&mut plain)), false));
        }
        match quoted {
            Some((phrase, after)) => {
                out.push((Part::Phrase(phrase.to_owned()), leaves_out));
                (rest, begins) = (after, true);
            }
            None if leaves_out => {
                let end = behind.find(char::is_whitespace).unwrap_or(behind.len());
                out.push((Part::Phrase(behind.get(..end).unwrap_or_default().to_owned()), true));
                rest = behind.get(end..).unwrap_or_default();
            }
            None => {
                plain.push(c);
                begins = c.is_whitespace() || c == '(';
                rest = behind;
            }
        }
    }
    if !plain.trim().is_empty() {
        out.push((Part::Words(plain), false));
    }
    out
}

/// Reads what somebody wrote into a search box, whatever it is: rows with any of the words, those with more and rarer words first; words
/// that are like them and words that begin with the last count less. What stands in quotes is a phrase that must be there, what has a
/// minus before it must not. More words than a box has are passed over.
#[must_use]
pub fn parse_box(text: &str, fields: &[SearchField]) -> Query {
    let (mut must, mut should, mut must_not) = (Vec::new(), Vec::new(), Vec::new());
    let mut words = Words::default();
    let shortened: String = {
        let mut count = 0;
        text.split_inclusive(char::is_whitespace)
            .take_while(|w| {
                count += usize::from(!w.trim().is_empty());
                count <= MOST_IN_BOX
            })
            .collect()
    };
    // A Chinese text has no blanks.
    const MAX_CHARS: usize = 4096;
    let shortened: String = shortened.chars().take(MAX_CHARS).collect();
    let ends_open = shortened.chars().next_back().is_some_and(char::is_alphanumeric);
    let parts = parts_of(&shortened);
    let last = parts.len().saturating_sub(1);
    for (n, (part, leave_out)) in parts.iter().enumerate() {
        let each = |make: &mut dyn FnMut(FieldId, &Analyzer) -> Vec<Query>| {
            Query::any(fields.iter().enumerate().flat_map(|(id, field)| make(id, &field.analyzer)).collect())
        };
        match part {
            Part::Phrase(phrase) => {
                let query = each(&mut |id, analyzer| words_of(analyzer, id, phrase, 0, true, &mut words).into_iter().collect());
                match (query, leave_out) {
                    (Query::Nothing, _) => {}
                    (query, true) => must_not.push(query),
                    (query, false) => must.push(query),
                }
            }
            Part::Words(text) => {
                let query = each(&mut |id, analyzer| {
                    let mut of = words_in_box(analyzer, id, text, &mut words);
                    of.extend(similar_words(analyzer, id, text, &mut words));
                    if n == last && ends_open {
                        of.extend(begun(analyzer, id, text, &mut words));
                    }
                    of
                });
                if query != Query::Nothing {
                    should.push(query);
                }
            }
        }
    }
    if must.is_empty() && should.is_empty() && !must_not.is_empty() {
        must.push(Query::All);
    }
    match (must.len(), should.len(), must_not.len()) {
        (0, 0, 0) => Query::Nothing,
        (0, 1, 0) => should.pop().unwrap_or(Query::Nothing),
        _ => Query::Bool { must, should, must_not },
    }
}

/// Each word of a text, and those that mean the same; of Chinese, what stands together as well.
fn words_in_box(analyzer: &Analyzer, field: FieldId, text: &str, words: &mut Words) -> Vec<Query> {
    analyzer.analyze(text, words);
    let mut of = analyzer.synonyms().within(words, field);
    let mut own: Vec<(String, bool)> = Vec::new();
    let mut last = None;
    for (word, at, _) in words.iter() {
        // A Chinese word within a longer one says little beside that, and so does a character beside words.
        let within = last.replace(at) == Some(at);
        let minor = analyzer.has_letters() && (within || (words.len() > 1 && word.chars().count() == 1 && word.chars().all(stands_alone)));
        if !own.iter().any(|(known, _)| known == word) && own.len() < MOST_IN_BOX {
            own.push((word.to_owned(), minor));
        }
    }
    if analyzer.has_letters() {
        for chunk in text.split_whitespace().take(MOST_IN_BOX) {
            analyzer.analyze(chunk, words);
            of.extend(phrase_of(analyzer, field, chunk, 0, false, words).filter(|q| matches!(q, Query::Phrase { .. })));
        }
    } else if own.is_empty() {
        of.extend(analyzer.shorter_than_pieces(field, text.trim()));
    }
    of.extend(own.into_iter().map(|(word, minor)| {
        let word = Query::Term { field, word };
        if minor { Query::Boost(Box::new(word), MINOR) } else { word }
    }));
    of
}

/// Words that begin with the last of a text, which may not be written to its end.
fn begun(analyzer: &Analyzer, field: FieldId, text: &str, words: &mut Words) -> Option<Query> {
    let last = text.split_whitespace().next_back()?;
    if analyzer.has_stems() {
        analyzer.written(last, words)
    } else {
        analyzer.analyze(last, words)
    }
    let (word, _, place) = words.get(words.len().checked_sub(1)?)?;
    if place.end != last.len() || word.chars().count() < 2 || matches!(analyzer.options().kind, TokenizerKind::Ngram { .. }) {
        return None;
    }
    Some(Query::Boost(Box::new(Query::Prefix { field, start: word.to_owned() }), BEGUN))
}

/// Texts like this one: they have some of the words that are long and come often in it. Rare words count more in scores.
#[must_use]
pub fn parse_like(text: &str, fields: &[SearchField]) -> Query {
    let mut end = text.len().min(MAX_LIKE_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = text.get(..end).unwrap_or_default();
    let mut words = Words::default();
    let mut of: Vec<Query> = Vec::new();
    let mut done: Vec<&Analyzer> = Vec::new();
    for field in fields {
        let analyzer = &*field.analyzer;
        if done.iter().any(|a| a.options() == analyzer.options()) {
            continue;
        }
        done.push(analyzer);
        analyzer.analyze(text, &mut words);
        let mut counts: HashMap<&str, usize> = HashMap::new();
        words.iter().for_each(|(word, _, _)| *counts.entry(word).or_default() += 1);
        let mut weighed: Vec<(usize, &str, usize)> = counts
            .into_iter()
            .filter_map(|(word, count)| {
                // A Chinese character says as much as three letters.
                let length: usize = word.chars().map(|c| if stands_alone(c) { 3 } else { 1 }).sum();
                let least = match analyzer.options().kind {
                    TokenizerKind::Ngram { .. } => 1,
                    // Those that say nothing are left out already.
                    TokenizerKind::Stemmer { .. } => 3,
                    _ => 4,
                };
                (length >= least).then(|| (count.min(8) * length.min(12), word, count))
            })
            .collect();
        weighed.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
        let same: Vec<FieldId> =
            fields.iter().enumerate().filter(|(_, f)| f.analyzer.options() == analyzer.options()).map(|(id, _)| id).collect();
        of.extend(weighed.into_iter().take(MOST_LIKE).map(|(_, word, count)| {
            let found = Query::any(same.iter().map(|id| Query::Term { field: *id, word: word.to_owned() }).collect());
            if count == 1 { found } else { Query::Boost(Box::new(found), 1.0 + (count.min(8) as f32).ln()) }
        }));
    }
    let least = (of.len() * LEAST_LIKE / 100).max(1);
    if of.len() <= 1 { Query::any(of) } else { Query::AtLeast { least, of } }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::analyzer::TokenizerOptions;
    use crate::evaluate::{Evaluator, FieldText};
    use std::sync::Arc;

    fn fields(tokenizers: &[&str]) -> Vec<SearchField> {
        let field = |tokenizer: &&str| {
            let mut options = TokenizerOptions::default();
            options.set("tokenizer", tokenizer).unwrap();
            SearchField { name: "b".into(), analyzer: Analyzer::new(&options).unwrap() }
        };
        tokenizers.iter().map(field).collect()
    }

    fn finds(query: &Query, field: &SearchField, text: &str) -> bool {
        Evaluator::new(query, &[Arc::clone(&field.analyzer)], None).evaluate(&[FieldText::Text(text)]).is_some()
    }

    #[test]
    fn words_are_taken_without_signs_and_with_what_is_like_them() {
        let own = fields(&["unicode"]);
        assert_eq!(parse_words("phone (new ~", &own, false).unwrap().to_string(), "(0:new 0:phone)");
        let wanted = "(0:new 0:phone 0:telephone 0:phone~1^0.2 0:telephone~2^0.2)";
        assert_eq!(parse_words("phone (new telephone", &own, true).unwrap().to_string(), wanted);
        // Stems are too short to be like anything.
        assert_eq!(parse_words("runing", &fields(&["english"]), true).unwrap().to_string(), "(0:rune 0:runing~1^0.2)");
    }

    #[test]
    fn a_search_box_takes_what_people_write() {
        let own = fields(&["unicode"]);
        for (text, wanted) in [
            ("", "nothing"),
            ("  \"\" - !? (", "nothing"),
            ("Quick ", "(0:quick 0:quick~1^0.2)"),
            ("a fo", "(0:a 0:fo 0:fo*^0.3)"),
            ("\"brown fox\" dog ", "(+0:\"brown fox\" 0:dog)"),
            ("fox \"brown ", "(0:fox 0:brown 0:brown~1^0.2)"),
            ("fox -dog ", "(0:fox -0:dog)"),
            ("wi-fi ", "(0:wi 0:fi)"),
            ("-dog", "(+* -0:dog)"),
            ("“brown fox” -\"a dog\"", "(+0:\"brown fox\" -0:\"a dog\")"),
            ("price:[1 TO ", "(0:price 0:1 0:to 0:price~1^0.2)"),
            ("c++ /x/ \\ ^ ~2 ", "(0:c 0:x 0:2)"),
        ] {
            assert_eq!(parse_box(text, &own).to_string(), wanted, "{text}");
        }
        let long = parse_box(&"word\u{301} ".repeat(100_000), &own);
        assert!(long.to_string().len() < 200, "{long}");
    }

    #[test]
    fn nothing_that_is_written_fails() {
        let signs: Vec<char> = "ab\"()+-!~^:*?/[]{}<>=\\ \u{e9}TOANDR1.|&“”「」－国人民".chars().collect();
        let mut seed = 11u64;
        let all = fields(&["unicode", "english", "ngram(2,3)", "jieba", "whitespace", "raw"]);
        for _ in 0..3_000 {
            let text: String = (0..14)
                .map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    signs[(seed >> 33) as usize % signs.len()]
                })
                .collect();
            let analyzers: Vec<Arc<Analyzer>> = all.iter().map(|f| Arc::clone(&f.analyzer)).collect();
            for query in [parse_box(&text, &all), parse_like(&text, &all)] {
                let _ = Evaluator::new(&query, &analyzers, None).evaluate(&[FieldText::Text("some text"); 6]);
            }
        }
    }

    #[test]
    fn chinese_of_a_search_box_is_found_as_people_mean_it() {
        let own = fields(&["jieba"]);
        for (query, text, wanted) in [
            ("清华大学计算机", "清华大学计算机系", true),
            ("计算机 清华", "清华大学的计算机", true),
            ("茶", "我喜欢喝绿茶", true),
            ("王小明", "王小明天来吗", true),
            ("市长", "南京市长江大桥", false),
            ("长江大桥 -南京", "南京市长江大桥", false),
            ("“长江大桥”", "南京市长江大桥", true),
        ] {
            assert_eq!(finds(&parse_box(query, &own), &own[0], text), wanted, "{query} in {text}");
        }
    }

    #[test]
    fn texts_like_one_have_some_of_its_words() {
        let own = fields(&["unicode"]);
        let query = parse_like("The quick brown foxes jumped over lazy sleeping dogs and foxes", &own);
        assert!(finds(&query, &own[0], "sleeping foxes jumped"));
        assert!(!finds(&query, &own[0], "quick databases") && !finds(&query, &own[0], "the and over"));
        assert_eq!(parse_like("", &own), Query::Nothing);
        assert!(parse_like(&"many words of it ".repeat(200_000), &own).to_string().len() < 1000);
    }
}

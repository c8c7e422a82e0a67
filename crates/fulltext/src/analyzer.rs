//! Text to words: one analysis for what is indexed, what is asked, and rows that no index has.
//!
//! Invariant: the words of a text depend on the options alone, which are stored with the index, [`VERSION`] among them. Positions
//! never go down within a text; a phrase is words whose positions have the distances that they have in the search string.

use crate::error::{Error, Result};
use crate::synonyms::Synonyms;
use jieba_rs::{Jieba, TokenizeMode};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::sync::{Arc, LazyLock};
use tantivy::tokenizer::{TextAnalyzer, TokenStream};

/// Of what this module makes of a text. An index of another version is built again.
pub const VERSION: u32 = 4;

/// Longer words are left out; tantivy takes up to 65,530 bytes.
pub const MAX_WORD_BYTES: usize = 32 << 10;

/// What stands in place of a word that was left out: no text has a word like it otherwise.
pub const LEFT_OUT: &str = "\u{0}";

static JIEBA: LazyLock<Jieba> = LazyLock::new(Jieba::new);

/// Analyzers that are costly to make, the latest last.
static KEPT: Mutex<Vec<Arc<Analyzer>>> = Mutex::new(Vec::new());
/// Of those at most: a dictionary takes some tens of megabytes.
const MOST_KEPT: usize = 8;
/// Bytes of the words of a user.
const MAX_DICTIONARY: usize = 256 << 10;

/// How text is cut into words.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum TokenizerKind {
    /// Runs of letters and digits, in lower case.
    #[default]
    Unicode,
    /// Whatever is between blanks.
    Whitespace,
    /// The text is one word.
    Raw,
    /// All pieces of `min` to `max` characters.
    Ngram { min: u32, max: u32 },
    /// Chinese words by dictionary, in lower case.
    Jieba,
    /// Words of a language without stop words, reduced to stems.
    Stemmer { language: String },
    /// Words come cut: the lexemes of a `tsvector`.
    Lexemes,
    /// What values have that are no texts, each as a word without a place. An index of another version is built again.
    Items { version: u32 },
}

/// A tokenizer with what can be set about it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct TokenizerOptions {
    pub kind: TokenizerKind,
    /// `None`: as is usual for the kind.
    #[serde(default)]
    pub lowercase: Option<bool>,
    #[serde(default)]
    pub stop_words: Option<bool>,
    /// Words that Chinese is cut into besides those of the dictionary, parted by blanks or commas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dictionary: Option<String>,
    /// Words that mean the same: see [`crate::synonyms`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synonyms: Option<String>,
}

/// The names of all options.
pub const OPTIONS: &[&str] = &["tokenizer", "lowercase", "stop_words", "min_gram", "max_gram", "dictionary", "synonyms"];

/// Languages that have a stemmer, with tantivy's name for their stop words.
const LANGUAGES: &[&str] = &[
    "arabic",
    "danish",
    "dutch",
    "english",
    "finnish",
    "french",
    "german",
    "greek",
    "hungarian",
    "italian",
    "norwegian",
    "portuguese",
    "romanian",
    "russian",
    "spanish",
    "swedish",
    "tamil",
    "turkish",
];

impl TokenizerOptions {
    /// Reads the options of an index by name; gives `None` for a name that is none of ours.
    ///
    /// # Errors
    /// A value has no meaning.
    pub fn set(&mut self, name: &str, value: &str) -> Result<bool> {
        let flag = |value: &str| match value.trim().to_ascii_lowercase().as_str() {
            "true" | "on" | "yes" | "1" => Ok(true),
            "false" | "off" | "no" | "0" => Ok(false),
            other => Err(Error::Option(format!("invalid value for boolean option \"{name}\": {other}"))),
        };
        let number = |value: &str| {
            value
                .trim()
                .parse::<u32>()
                .ok()
                .filter(|n| (1..=32).contains(n))
                .ok_or_else(|| Error::Option(format!("value {value} out of bounds for option \"{name}\": from 1 to 32")))
        };
        match name {
            "tokenizer" => self.kind = Self::kind_named(value)?,
            "lowercase" => self.lowercase = Some(flag(value)?),
            "stop_words" => self.stop_words = Some(flag(value)?),
            "dictionary" | "synonyms" => {
                if value.len() > MAX_DICTIONARY {
                    return Err(Error::Option(format!("option \"{name}\" is longer than {MAX_DICTIONARY} bytes")));
                }
                let value = Some(value.to_owned()).filter(|v| !v.trim().is_empty());
                if name == "dictionary" { self.dictionary = value } else { self.synonyms = value }
            }
            "min_gram" | "max_gram" => {
                let n = number(value)?;
                let (mut min, mut max) = match self.kind {
                    TokenizerKind::Ngram { min, max } => (min, max),
                    _ => return Err(Error::Option(format!("option \"{name}\" belongs to the tokenizer ngram"))),
                };
                if name == "min_gram" {
                    min = n
                } else {
                    max = n
                }
                self.kind = TokenizerKind::Ngram { min, max };
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// What the options say together.
    ///
    /// # Errors
    /// They contradict each other.
    pub fn check(&self) -> Result<()> {
        if self.dictionary.is_some() && self.kind != TokenizerKind::Jieba {
            return Err(Error::Option("a dictionary belongs to the tokenizer jieba".into()));
        }
        if self.dictionary.is_some() || self.synonyms.is_some() {
            Analyzer::new(self)?;
        }
        match self.kind {
            TokenizerKind::Ngram { min, max } if min > max => Err(Error::Option(format!("min_gram {min} is greater than max_gram {max}"))),
            TokenizerKind::Stemmer { .. } => Ok(()),
            _ if self.stop_words == Some(true) => Err(Error::Option("stop words belong to the tokenizer of a language".into())),
            _ => Ok(()),
        }
    }

    fn kind_named(value: &str) -> Result<TokenizerKind> {
        let value = value.trim().to_ascii_lowercase();
        if let Some(inside) = value.strip_prefix("ngram(").and_then(|v| v.strip_suffix(')')) {
            let numbers: Vec<Option<u32>> = inside.split(',').map(|n| n.trim().parse().ok().filter(|n| (1..=32).contains(n))).collect();
            return match numbers.as_slice() {
                [Some(n)] => Ok(TokenizerKind::Ngram { min: *n, max: *n }),
                [Some(min), Some(max)] => Ok(TokenizerKind::Ngram { min: *min, max: *max }),
                _ => Err(Error::Option(format!("tokenizer \"{value}\": ngram takes one or two numbers from 1 to 32"))),
            };
        }
        Ok(match value.as_str() {
            "unicode" | "default" | "standard" | "simple" => TokenizerKind::Unicode,
            "whitespace" => TokenizerKind::Whitespace,
            "raw" | "keyword" => TokenizerKind::Raw,
            "ngram" => TokenizerKind::Ngram { min: 2, max: 3 },
            "jieba" | "chinese" => TokenizerKind::Jieba,
            language if LANGUAGES.contains(&language) => TokenizerKind::Stemmer { language: language.to_owned() },
            other => {
                return Err(Error::Option(format!(
                    "unknown tokenizer \"{other}\": there are unicode, whitespace, raw, ngram(min,max), jieba, {}",
                    LANGUAGES.join(", ")
                )));
            }
        })
    }
}

/// One word of a text: a large text has millions of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Word {
    /// Its end in the buffer's text; it begins where the one before ends.
    to: u32,
    position: u32,
    /// In the text that was analyzed, in bytes.
    start: u32,
    end: u32,
}

/// The words of one text. Reused from text to text.
#[derive(Clone, Debug, Default)]
pub struct Words {
    text: String,
    words: Vec<Word>,
}

impl Words {
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The words in order: text, position, and where they are in the analyzed text, in bytes.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, u32, std::ops::Range<usize>)> {
        let mut from = 0;
        self.words.iter().map(move |w| {
            let word = self.text.get(from..w.to as usize).unwrap_or_default();
            from = w.to as usize;
            (word, w.position, w.start as usize..w.end as usize)
        })
    }

    /// The n-th word.
    #[must_use]
    pub fn get(&self, n: usize) -> Option<(&str, u32, std::ops::Range<usize>)> {
        let w = self.words.get(n)?;
        let from = n.checked_sub(1).and_then(|before| self.words.get(before)).map_or(0, |before| before.to as usize);
        Some((self.text.get(from..w.to as usize).unwrap_or_default(), w.position, w.start as usize..w.end as usize))
    }

    /// Forgets the words; the room of many is given back.
    pub fn clear(&mut self) {
        const KEPT: usize = 4 << 20;
        self.words.clear();
        self.text.clear();
        if self.text.capacity() + self.words.capacity() * size_of::<Word>() > KEPT {
            *self = Self::default();
        }
    }

    /// Adds a word; positions must not go down. Words behind four gigabytes of them are left out.
    pub fn push(&mut self, word: &str, position: u32, start: usize, end: usize) {
        let from = self.text.len();
        self.text.push_str(if word.len() <= MAX_WORD_BYTES { word } else { LEFT_OUT });
        self.end_word(from, position, start, end);
    }

    fn push_lower(&mut self, word: &str, lower: bool, position: u32, start: usize) {
        let end = start + word.len();
        let word = if word.len() <= MAX_WORD_BYTES { word } else { LEFT_OUT };
        let from = self.text.len();
        if !lower {
            self.text.push_str(word);
        } else if word.is_ascii() {
            self.text.extend(word.bytes().map(|b| char::from(b.to_ascii_lowercase())));
        } else {
            self.text.extend(lowered(word));
        }
        self.end_word(from, position, start, end);
    }

    fn end_word(&mut self, from: usize, position: u32, start: usize, end: usize) {
        match (u32::try_from(self.text.len()), u32::try_from(start), u32::try_from(end)) {
            (Ok(to), Ok(start), Ok(end)) => self.words.push(Word { to, position, start, end }),
            _ => self.text.truncate(from),
        }
    }
}

/// Options ready to be used. Cheap to share.
pub struct Analyzer {
    options: TokenizerOptions,
    lowercase: bool,
    /// Cuts and leaves stop words out, before a stemmer.
    filter: Option<TextAnalyzer>,
    stemmer: Option<frostem::Stemmer>,
    /// With words of the user.
    dictionary: Option<Jieba>,
    synonyms: Synonyms,
}

impl std::fmt::Debug for Analyzer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Analyzer").field(&self.options).finish()
    }
}

impl Analyzer {
    /// # Errors
    /// A language has no stemmer; a word of the dictionary or a synonym is none.
    pub fn new(options: &TokenizerOptions) -> Result<Arc<Self>> {
        if options.dictionary.is_none() && options.synonyms.is_none() {
            return Self::made(options).map(Arc::new);
        }
        let kept = KEPT.lock().iter().find(|a| a.options == *options).map(Arc::clone);
        if let Some(kept) = kept {
            return Ok(kept);
        }
        let mut made = Self::made(options)?;
        if let Some(rules) = &options.synonyms {
            made.synonyms = Synonyms::read(rules, &made)?;
        }
        let made = Arc::new(made);
        let mut all = KEPT.lock();
        if all.len() >= MOST_KEPT {
            all.remove(0);
        }
        all.push(Arc::clone(&made));
        Ok(made)
    }

    fn made(options: &TokenizerOptions) -> Result<Self> {
        let lowercase = options.lowercase.unwrap_or(!matches!(options.kind, TokenizerKind::Whitespace | TokenizerKind::Raw));
        let (mut filter, mut stemmer) = (None, None);
        if let TokenizerKind::Stemmer { language } = &options.kind {
            stemmer = Some(
                frostem::Stemmer::try_from_name(language)
                    .map_err(|_| Error::Option(format!("there is no stemmer for the language \"{language}\"")))?,
            );
            if options.stop_words.unwrap_or(true) {
                let cut = Arc::new(Self::made(&TokenizerOptions::default())?);
                let tokenizer = StoaTokenizer { analyzer: cut, written: false, words: Words::default() };
                filter = crate::stop_words::of(language).map(|f| TextAnalyzer::builder(tokenizer).filter(f).build());
            }
        }
        let dictionary = options.dictionary.as_deref().map(with_words).transpose()?;
        Ok(Self { options: options.clone(), lowercase, filter, stemmer, dictionary, synonyms: Synonyms::default() })
    }

    #[must_use]
    pub fn options(&self) -> &TokenizerOptions {
        &self.options
    }

    /// Whether words are in lower case.
    #[must_use]
    pub fn folds_case(&self) -> bool {
        self.lowercase
    }

    /// The words of a text, in place of those that were there.
    pub fn analyze(&self, text: &str, out: &mut Words) {
        out.clear();
        match &self.options.kind {
            TokenizerKind::Unicode => {
                let mut position = 0;
                words(text, |start, word| {
                    out.push_lower(word, self.lowercase, position, start);
                    position += 1;
                });
            }
            TokenizerKind::Stemmer { .. } => {
                let stem = |word: &str, position: usize, start: usize, end: usize, out: &mut Words| {
                    let position = u32::try_from(position).unwrap_or(u32::MAX);
                    match &self.stemmer {
                        Some(stemmer) => out.push(&stemmer.stem(word), position, start, end),
                        None => out.push(word, position, start, end),
                    }
                };
                match &self.filter {
                    Some(filter) => {
                        let mut filter = filter.clone();
                        let mut stream = filter.token_stream(text);
                        while let Some(token) = stream.next() {
                            stem(&token.text, token.position, token.offset_from, token.offset_to, out);
                        }
                    }
                    None => {
                        let (mut position, mut lower) = (0, String::new());
                        words(text, |start, word| {
                            lower.clear();
                            lower.extend(word.chars().flat_map(char::to_lowercase));
                            stem(&lower, position, start, start + word.len(), out);
                            position += 1;
                        });
                    }
                }
            }
            TokenizerKind::Whitespace | TokenizerKind::Lexemes | TokenizerKind::Items { .. } => {
                for (position, word) in (0..).zip(text.split_whitespace()) {
                    let start = word.as_ptr() as usize - text.as_ptr() as usize;
                    out.push_lower(word, self.lowercase, position, start);
                }
            }
            TokenizerKind::Raw => out.push_lower(text, self.lowercase, 0, 0),
            TokenizerKind::Ngram { min, max } => {
                let (min, max) = (*min as usize, *max as usize);
                for (position, (start, _)) in (0..).zip(text.char_indices()) {
                    let rest = text.get(start..).unwrap_or_default();
                    for (at, c) in rest.char_indices().take(max).skip(min.saturating_sub(1)) {
                        out.push_lower(rest.get(..at + c.len_utf8()).unwrap_or_default(), self.lowercase, position, start);
                    }
                }
            }
            TokenizerKind::Jieba => self.chinese(text, out),
        }
    }

    fn jieba(&self) -> &Jieba {
        self.dictionary.as_ref().unwrap_or(&JIEBA)
    }

    /// Words within a longer one stand at its place, behind it: places count words as people do.
    fn chinese(&self, text: &str, out: &mut Words) {
        let mut tokens = self.jieba().tokenize(text, TokenizeMode::Search, true);
        tokens.retain(|t| t.word.chars().any(char::is_alphanumeric));
        tokens.sort_by_key(|t| (t.byte_start, Reverse(t.byte_end)));
        let (mut position, mut reached) = (0u32, 0usize);
        for token in tokens {
            if token.byte_start >= reached {
                position += u32::from(reached > 0);
                reached = token.byte_end;
            }
            out.push_lower(token.word, self.lowercase, position, token.byte_start);
        }
    }

    /// Whether phrases are of letters: words that a dictionary finds depend on what stands around, so that those of a piece of a text
    /// need not be among those of the text.
    #[must_use]
    pub fn has_letters(&self) -> bool {
        self.options.kind == TokenizerKind::Jieba
    }

    /// Whether words are stems, so that prefixes and patterns are of what is written instead.
    #[must_use]
    pub fn has_stems(&self) -> bool {
        matches!(self.options.kind, TokenizerKind::Stemmer { .. })
    }

    /// Whether a word, the only one of a text, may be cut otherwise within another text: a Chinese character by itself, what is not in
    /// the dictionary, and what is too long to be found in longer words.
    #[must_use]
    pub fn depends_on_place(&self, word: &str) -> bool {
        self.has_letters() && word.chars().all(stands_alone) && (!matches!(word.chars().count(), 2..=3) || !self.jieba().has_word(word))
    }

    /// Words that mean the same, each as words with their places.
    pub(crate) fn synonyms(&self) -> &Synonyms {
        &self.synonyms
    }

    /// What is written in a text, in place of the words that were there: letters or the words without stems. See
    /// [`Analyzer::has_letters`] and [`Analyzer::has_stems`].
    pub fn written(&self, text: &str, out: &mut Words) {
        if self.has_letters() {
            return self.letters(text, out);
        }
        out.clear();
        let mut position = 0;
        words(text, |start, word| {
            out.push_lower(word, self.lowercase, position, start);
            position += 1;
        });
    }

    /// The letters of a text, in place of the words that were there: each character of Chinese, Japanese and Korean by itself, and runs
    /// of other letters and digits whole. A piece of a text, cut at such bounds, has the letters of that piece.
    fn letters(&self, text: &str, out: &mut Words) {
        out.clear();
        let mut position = 0;
        words(text, |start, word| {
            let mut rest = 0;
            for (at, c) in word.char_indices().filter(|(_, c)| stands_alone(*c)) {
                let end = at + c.len_utf8();
                for (from, to) in [(rest, at), (at, end)].into_iter().filter(|(from, to)| from < to) {
                    out.push_lower(word.get(from..to).unwrap_or_default(), self.lowercase, position, start + from);
                    position += 1;
                }
                rest = end;
            }
            if rest < word.len() {
                out.push_lower(word.get(rest..).unwrap_or_default(), self.lowercase, position, start + rest);
                position += 1;
            }
        });
    }

    /// The form that a piece of a word has in the index: for prefixes, patterns, bounds. Not cut, not stemmed.
    #[must_use]
    pub fn normalize(&self, word: &str) -> String {
        if self.lowercase { word.to_lowercase() } else { word.to_owned() }
    }

    /// Whether all positions of a text differ, so that a word of the search string never becomes several.
    #[must_use]
    pub fn is_raw(&self) -> bool {
        self.options.kind == TokenizerKind::Raw
    }
}

/// A word in lower case, as the index has it: letter by letter, whatever stands around.
pub(crate) fn lowered(word: &str) -> impl Iterator<Item = char> {
    word.chars().flat_map(char::to_lowercase)
}

/// Runs of letters and digits; marks that combine with a letter belong to it, all else parts words.
pub(crate) fn words(text: &str, mut found: impl FnMut(usize, &str)) {
    let mut start = None;
    for (at, c) in text.char_indices() {
        let inside = c.is_alphanumeric() || (start.is_some() && is_combining(c));
        match (inside, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                found(from, text.get(from..at).unwrap_or_default());
                start = None;
            }
            _ => {}
        }
    }
    if let Some(from) = start {
        found(from, text.get(from..).unwrap_or_default());
    }
}

/// The dictionary with words of a user.
fn with_words(text: &str) -> Result<Jieba> {
    let mut out = JIEBA.clone();
    for word in text.split(|c: char| c.is_whitespace() || matches!(c, ',' | '，' | '、')).filter(|word| !word.is_empty()) {
        if word.chars().count() < 2 || !word.chars().all(stands_alone) {
            return Err(Error::Option(format!("\"{word}\" cannot be in a dictionary: words of it are two Chinese characters or more")));
        }
        out.add_word(word, None, None);
    }
    Ok(out)
}

/// Characters of writings that put no blanks between words.
pub(crate) fn stands_alone(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3040}'..='\u{30ff}' | '\u{3105}'..='\u{312f}'
        | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}')
}

pub(crate) fn is_combining(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}' | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}'
        | '\u{900}'..='\u{903}' | '\u{93a}'..='\u{94f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// An analyzer as tantivy takes it.
#[derive(Clone)]
pub(crate) struct StoaTokenizer {
    pub analyzer: Arc<Analyzer>,
    /// It gives what is written, not words.
    pub written: bool,
    pub words: Words,
}

impl tantivy::tokenizer::Tokenizer for StoaTokenizer {
    type TokenStream<'a> = StoaTokenStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> StoaTokenStream<'a> {
        match self.written {
            true => self.analyzer.written(text, &mut self.words),
            false => self.analyzer.analyze(text, &mut self.words),
        }
        StoaTokenStream { words: &mut self.words, at: 0, token: tantivy::tokenizer::Token::default() }
    }
}

pub(crate) struct StoaTokenStream<'a> {
    words: &'a mut Words,
    at: usize,
    token: tantivy::tokenizer::Token,
}

impl tantivy::tokenizer::TokenStream for StoaTokenStream<'_> {
    fn advance(&mut self) -> bool {
        let Some((word, position, place)) = self.words.get(self.at) else {
            // A tokenizer may not be used again for long.
            self.words.clear();
            return false;
        };
        self.at += 1;
        self.token.text.clear();
        self.token.text.push_str(word);
        self.token.position = position as usize;
        self.token.offset_from = place.start;
        self.token.offset_to = place.end;
        true
    }

    fn token(&self) -> &tantivy::tokenizer::Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut tantivy::tokenizer::Token {
        &mut self.token
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    fn cut(tokenizer: &str, text: &str) -> String {
        let mut options = TokenizerOptions::default();
        assert!(options.set("tokenizer", tokenizer).unwrap());
        let mut words = Words::default();
        Analyzer::new(&options).unwrap().analyze(text, &mut words);
        words.iter().map(|(w, p, _)| format!("{w}@{p}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_tokenizer_cuts_as_it_says() {
        for (tokenizer, text, wanted) in [
            ("unicode", "The Quick-brown FÖX, 42x!", "the@0 quick@1 brown@2 föx@3 42x@4"),
            ("unicode", "  ", ""),
            ("whitespace", "The Quick-brown  FÖX", "The@0 Quick-brown@1 FÖX@2"),
            ("raw", "The Quick", "The Quick@0"),
            ("ngram(2,3)", "Abcd", "ab@0 abc@0 bc@1 bcd@1 cd@2"),
            ("english", "The cats are running", "cat@1 run@3"),
            ("german", "die Häuser", "haus@1"),
            ("jieba", "我来到北京清华大学", "我@0 来到@1 北京@2 清华大学@3 清华@3 华大@3 大学@3"),
            ("jieba", "Hello,  World 你好", "hello@0 world@1 你好@2"),
        ] {
            assert_eq!(cut(tokenizer, text), wanted, "{tokenizer}: {text}");
        }
    }

    #[test]
    fn letters_are_those_of_any_piece_of_a_text() {
        let mut options = TokenizerOptions::default();
        assert!(options.set("tokenizer", "jieba").unwrap());
        let analyzer = Analyzer::new(&options).unwrap();
        let letters = |text: &str| {
            let mut words = Words::default();
            analyzer.written(text, &mut words);
            words.iter().map(|(w, p, place)| format!("{w}@{p}:{}", &text[place])).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(letters("我爱 Design.PNG，2008年！"), "我@0:我 爱@1:爱 design@2:Design png@3:PNG 2008@4:2008 年@5:年");
        assert_eq!(letters("かなA한글"), "か@0:か な@1:な a@2:A 한@3:한 글@4:글");
        assert_eq!(letters(" ，"), "");
    }

    #[test]
    fn the_room_of_many_words_is_given_back() {
        let mut options = TokenizerOptions::default();
        options.set("tokenizer", "ngram(2,3)").unwrap();
        let mut tokenizer = StoaTokenizer { analyzer: Analyzer::new(&options).unwrap(), written: false, words: Words::default() };
        use tantivy::tokenizer::{TokenStream, Tokenizer};
        for (characters, kept) in [(1_000_000, false), (100, true)] {
            let text = "xy".repeat(characters / 2);
            let mut stream = tokenizer.token_stream(&text);
            let mut words = 0;
            while stream.advance() {
                words += 1;
            }
            assert_eq!(words, 2 * characters - 3);
            assert_eq!(tokenizer.words.words.capacity() > 0, kept);
        }
    }

    #[test]
    fn options_that_mean_nothing_are_reported() {
        let mut options = TokenizerOptions::default();
        assert!(options.set("tokenizer", "klingon").is_err());
        assert!(options.set("tokenizer", "ngram(0,2)").is_err());
        assert!(options.set("min_gram", "2").is_err());
        assert!(!options.set("shards", "2").unwrap());
        options.set("tokenizer", "ngram(5,2)").unwrap();
        assert!(options.check().is_err());
    }
}

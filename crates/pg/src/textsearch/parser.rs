//! Cuts a text into words, numbers, hosts, addresses and paths, as PostgreSQL's default parser does for everyday texts.

use regex::Regex;
use std::sync::LazyLock;

/// What a piece of text is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Letters alone, also as a part of a compound.
    Word,
    /// A compound with hyphens, letters alone.
    Compound,
    /// Letters and digits, also in compounds.
    NumWord,
    Number,
    Host,
    Url,
    UrlPath,
    Email,
    File,
}

impl Kind {
    /// Whether dictionaries of a language look at it.
    #[must_use]
    pub fn is_word(self) -> bool {
        matches!(self, Kind::Word | Kind::Compound)
    }
}

fn regex(pattern: &str) -> Option<Regex> {
    Regex::new(pattern).ok()
}

/// Patterns at a place where a piece begins, in the order in which they are tried.
struct Patterns {
    skip: Option<Regex>,
    email: Option<Regex>,
    host: Option<Regex>,
    number: Option<Regex>,
    file: Option<Regex>,
    compound: Option<Regex>,
    word: Option<Regex>,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| Patterns {
    skip: regex(r"^(?:<!--(?s:.*?)-->|</?[A-Za-z][^<>]*>|&(?:#[0-9]+|#[xX][0-9A-Fa-f]+|[A-Za-z][A-Za-z0-9]*);|[A-Za-z]+://)"),
    email: regex(r"^[A-Za-z0-9][A-Za-z0-9._+-]*@(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z]{2,}"),
    host: regex(
        r#"^((?:[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?\.)+[A-Za-z](?:[A-Za-z0-9_-]*[A-Za-z0-9])(?::[0-9]+)?)(/[A-Za-z0-9_.,~%&=?;:@/+#!*'$()-]*)?"#,
    ),
    number: regex(r"^(?:[0-9]+(?:\.[0-9]+){2,}|[-+]?[0-9]+(?:\.[0-9]+)?[eE][-+]?[0-9]+|[-+]?[0-9]+\.[0-9]+|[-+]?[0-9]+)"),
    file: regex(r"^(?:\.{0,2}/|~/)?[A-Za-z0-9_](?:[A-Za-z0-9_.+-]*[A-Za-z0-9_])?(?:/[A-Za-z0-9_](?:[A-Za-z0-9_.+-]*[A-Za-z0-9_])?)*"),
    compound: regex(r"^[\p{Alphabetic}][\p{Alphabetic}\p{N}\p{M}]*(?:-[\p{Alphabetic}][\p{Alphabetic}\p{N}\p{M}]*)+"),
    word: regex(r"^[\p{Alphabetic}\p{N}][\p{Alphabetic}\p{N}\p{M}]*"),
});

fn matched(pattern: Option<&Regex>, text: &str) -> Option<usize> {
    pattern?.find(text).map(|m| m.end())
}

/// Calls `found` for each piece that counts, in order; parts of a piece follow it.
pub fn parse(text: &str, found: &mut dyn FnMut(Kind, &str, std::ops::Range<usize>)) {
    let patterns = &*PATTERNS;
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|r| !r.is_empty()) {
        let Some(first) = rest.chars().next() else { break };
        let starts_sign = matches!(first, '-' | '+' | '/' | '.' | '~' | '<' | '&');
        if !first.is_alphanumeric() && !starts_sign && first != '_' {
            at += first.len_utf8();
            continue;
        }
        if let Some(end) = matched(patterns.skip.as_ref(), rest) {
            at += end;
            continue;
        }
        let free = |end: usize| rest.get(end..).and_then(|r| r.chars().next()).is_none_or(|c| !c.is_alphanumeric());
        if first.is_ascii_alphanumeric() {
            if let Some(end) = matched(patterns.email.as_ref(), rest).filter(|end| free(*end)) {
                found(Kind::Email, rest.get(..end).unwrap_or_default(), at..at + end);
                at += end;
                continue;
            }
            if let Some(captures) = patterns.host.as_ref().and_then(|p| p.captures(rest)) {
                let host = captures.get(1).map_or(0, |m| m.end());
                let end = captures.get(0).map_or(0, |m| m.end());
                let is_path = end > host + 1;
                if host > 0 && (is_path || free(host)) {
                    let host_text = rest.get(..host).unwrap_or_default();
                    if is_path {
                        found(Kind::Url, rest.get(..end).unwrap_or_default(), at..at + end);
                    }
                    found(Kind::Host, host_text, at..at + host);
                    if is_path {
                        found(Kind::UrlPath, rest.get(host..end).unwrap_or_default(), at + host..at + end);
                    }
                    at += if is_path { end } else { host };
                    continue;
                }
            }
        }
        let number = matched(patterns.number.as_ref(), rest).filter(|end| free(*end));
        let file = matched(patterns.file.as_ref(), rest).filter(|end| free(*end) && rest.get(..*end).is_some_and(is_path));
        if let Some(end) = number.filter(|n| file.is_none_or(|f| f <= *n)) {
            found(Kind::Number, rest.get(..end).unwrap_or_default(), at..at + end);
            at += end;
            continue;
        }
        if let Some(end) = file {
            found(Kind::File, rest.get(..end).unwrap_or_default(), at..at + end);
            at += end;
            continue;
        }
        if let Some(end) = matched(patterns.compound.as_ref(), rest) {
            let whole = rest.get(..end).unwrap_or_default();
            found(kind_of(whole, Kind::Compound), whole, at..at + end);
            let mut from = 0;
            for part in whole.split('-') {
                found(kind_of(part, Kind::Word), part, at + from..at + from + part.len());
                from += part.len() + 1;
            }
            at += end;
            continue;
        }
        match matched(patterns.word.as_ref(), rest) {
            Some(end) => {
                let word = rest.get(..end).unwrap_or_default();
                found(kind_of(word, Kind::Word), word, at..at + end);
                at += end;
            }
            None => at += first.len_utf8(),
        }
    }
}

fn kind_of(word: &str, letters: Kind) -> Kind {
    if word.chars().any(char::is_numeric) { Kind::NumWord } else { letters }
}

/// Whether a piece that could be a path is one: it has a slash, or a dot between letters.
fn is_path(piece: &str) -> bool {
    let has_letter = piece.chars().any(|c| c.is_ascii_alphabetic());
    has_letter && (piece.contains('/') || piece.contains('.'))
}

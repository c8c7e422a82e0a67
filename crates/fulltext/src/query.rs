//! What is looked for: a tree of words, phrases and patterns, combined.
//!
//! [`parse`](crate::parse::parse) makes it from a search string; a `tsquery` becomes one as well. [`index`](crate::index) runs it
//! on the files, [`evaluate`](crate::evaluate) on one row: both must find the same.

use std::fmt;
use std::ops::Bound;

/// A field of an index, by position.
pub type FieldId = usize;

/// See the module.
#[derive(Clone, PartialEq, Debug)]
pub enum Query {
    /// Nothing fits.
    Nothing,
    /// Everything fits, with score 0.
    All,
    Term {
        field: FieldId,
        word: String,
    },
    /// Words at distances, up to `slop` out of place in all.
    Phrase {
        field: FieldId,
        /// Of the letters of a text ([`Analyzer::written`](crate::Analyzer::written)), not of its words.
        letters: bool,
        words: Vec<(u32, String)>,
        slop: u32,
    },
    /// Patterns, as those that follow, are of words, and of what is written where words are stems
    /// ([`Analyzer::has_stems`](crate::Analyzer::has_stems)).
    Prefix {
        field: FieldId,
        start: String,
    },
    Fuzzy {
        field: FieldId,
        word: String,
        distance: u8,
    },
    /// The whole word fits the expression.
    Regex {
        field: FieldId,
        pattern: String,
    },
    Range {
        field: FieldId,
        lower: Bound<String>,
        upper: Bound<String>,
    },
    /// All of `must`, none of `must_not`, and one of `should` unless there is a `must`.
    Bool {
        must: Vec<Query>,
        should: Vec<Query>,
        must_not: Vec<Query>,
    },
    /// So many of several, at least.
    AtLeast {
        least: usize,
        of: Vec<Query>,
    },
    Boost(Box<Query>, f32),
    /// The text fits an expression, which is of what is written, in lower case where words are. The index finds such texts by `within`,
    /// and looks at them again.
    Text {
        field: FieldId,
        expression: String,
        /// What is to be shown of it.
        shown: String,
        within: Box<Query>,
    },
    /// The index may find more than fits: what it finds is looked at again.
    Superset(Box<Query>),
}

impl Query {
    /// One of several.
    #[must_use]
    pub fn any(mut of: Vec<Query>) -> Query {
        of.retain(|q| *q != Query::Nothing);
        match of.len() {
            0 => Query::Nothing,
            1 => of.swap_remove(0),
            _ => Query::Bool { must: Vec::new(), should: of, must_not: Vec::new() },
        }
    }

    /// All of several.
    #[must_use]
    pub fn all(mut of: Vec<Query>) -> Query {
        if of.contains(&Query::Nothing) {
            return Query::Nothing;
        }
        of.retain(|q| *q != Query::All);
        match of.len() {
            0 => Query::All,
            1 => of.swap_remove(0),
            _ => Query::Bool { must: of, should: Vec::new(), must_not: Vec::new() },
        }
    }

    /// Whether the index answers the query exactly. tantivy's distances in phrases of three words and more are not ours.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        match self {
            Query::Phrase { words, slop, .. } => *slop == 0 || words.len() <= 2,
            Query::Bool { must, should, must_not } => must.iter().chain(should).chain(must_not).all(Query::is_exact),
            Query::AtLeast { of, .. } => of.iter().all(Query::is_exact),
            Query::Boost(inner, _) => inner.is_exact(),
            Query::Superset(_) | Query::Text { .. } => false,
            _ => true,
        }
    }

    /// Whether the index gives the scores that rows get which are looked at one by one: tantivy counts words out of place otherwise.
    #[must_use]
    pub fn has_exact_scores(&self) -> bool {
        let mut exact = self.is_exact();
        self.leaves(&mut |leaf| exact &= !matches!(leaf, Query::Phrase { slop: 1.., .. }));
        exact
    }

    /// The query for files that may have more words than documents have by now, in fields of which `ends` is true: what they find is
    /// looked at again, and what is without a word there is not left out.
    #[must_use]
    pub fn over_ending(self, ends: &dyn Fn(FieldId) -> bool) -> Query {
        let all = |of: Vec<Query>| of.into_iter().map(|q| q.over_ending(ends)).collect();
        match self {
            Query::Bool { must, should, must_not } => Query::Bool { must: all(must), should: all(should), must_not: all(must_not) },
            Query::AtLeast { least, of } => Query::AtLeast { least, of: all(of) },
            Query::Boost(inner, by) => Query::Boost(Box::new(inner.over_ending(ends)), by),
            leaf if leaf.field().is_some_and(ends) => Query::Superset(Box::new(leaf)),
            other => other,
        }
    }

    /// The field of a word, phrase or pattern.
    #[must_use]
    pub fn field(&self) -> Option<FieldId> {
        match self {
            Query::Term { field, .. }
            | Query::Phrase { field, .. }
            | Query::Prefix { field, .. }
            | Query::Fuzzy { field, .. }
            | Query::Regex { field, .. }
            | Query::Text { field, .. }
            | Query::Range { field, .. } => Some(*field),
            Query::Nothing | Query::All | Query::Bool { .. } | Query::AtLeast { .. } | Query::Boost(..) | Query::Superset(_) => None,
        }
    }

    /// Calls `f` on each node that is a word, phrase or pattern.
    pub fn leaves<'a>(&'a self, f: &mut dyn FnMut(&'a Query)) {
        match self {
            Query::Bool { must, should, must_not } => must.iter().chain(should).chain(must_not).for_each(|q| q.leaves(f)),
            Query::AtLeast { of, .. } => of.iter().for_each(|q| q.leaves(f)),
            Query::Boost(inner, _) | Query::Superset(inner) => inner.leaves(f),
            leaf => f(leaf),
        }
    }
}

/// A query in words, with the names of its fields.
pub struct Shown<'a> {
    query: &'a Query,
    names: &'a dyn Fn(FieldId) -> String,
}

impl Query {
    /// As EXPLAIN shows it.
    #[must_use]
    pub fn shown<'a>(&'a self, names: &'a dyn Fn(FieldId) -> String) -> Shown<'a> {
        Shown { query: self, names }
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shown(&|field| field.to_string()).fmt(f)
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, sign: &str, of: &[Query], first: &mut bool| -> fmt::Result {
            for q in of {
                write!(f, "{}{sign}{}", if *first { "" } else { " " }, q.shown(self.names))?;
                *first = false;
            }
            Ok(())
        };
        match self.query {
            Query::Nothing => f.write_str("nothing"),
            Query::All => f.write_str("*"),
            Query::Term { field, word } if word == crate::analyzer::LEFT_OUT => write!(f, "{}:(too long)", (self.names)(*field)),
            Query::Term { field, word } => write!(f, "{}:{word}", (self.names)(*field)),
            Query::Phrase { field, words, slop, .. } => {
                write!(f, "{}:\"", (self.names)(*field))?;
                let mut at = words.first().map_or(0, |(o, _)| *o);
                for (n, (offset, word)) in words.iter().enumerate() {
                    let gap = offset.saturating_sub(at);
                    match (n, gap) {
                        (0, _) => write!(f, "{word}")?,
                        (_, 1) => write!(f, " {word}")?,
                        _ => write!(f, " +{gap} {word}")?,
                    }
                    at = *offset;
                }
                f.write_str("\"")?;
                if *slop > 0 { write!(f, "~{slop}") } else { Ok(()) }
            }
            Query::Prefix { field, start } => write!(f, "{}:{start}*", (self.names)(*field)),
            Query::Fuzzy { field, word, distance } => write!(f, "{}:{word}~{distance}", (self.names)(*field)),
            Query::Regex { field, pattern } => write!(f, "{}:/{pattern}/", (self.names)(*field)),
            Query::Range { field, lower, upper } => {
                write!(f, "{}:", (self.names)(*field))?;
                match lower {
                    Bound::Unbounded => f.write_str("{*")?,
                    Bound::Included(word) => write!(f, "[{word}")?,
                    Bound::Excluded(word) => write!(f, "{{{word}")?,
                }
                f.write_str(" TO ")?;
                match upper {
                    Bound::Unbounded => f.write_str("*}"),
                    Bound::Included(word) => write!(f, "{word}]"),
                    Bound::Excluded(word) => write!(f, "{word}}}"),
                }
            }
            Query::Bool { must, should, must_not } => {
                f.write_str("(")?;
                let mut first = true;
                list(f, "+", must, &mut first)?;
                list(f, "", should, &mut first)?;
                list(f, "-", must_not, &mut first)?;
                f.write_str(")")
            }
            Query::AtLeast { least, of } => {
                write!(f, "{least} of (")?;
                list(f, "", of, &mut true)?;
                f.write_str(")")
            }
            Query::Text { field, shown, .. } => write!(f, "{}:{shown}", (self.names)(*field)),
            // What has no part in the score is shown as it is.
            Query::Boost(inner, by) if *by == 0.0 => inner.shown(self.names).fmt(f),
            Query::Boost(inner, by) => write!(f, "{}^{by}", inner.shown(self.names)),
            Query::Superset(inner) => write!(f, "at most {}", inner.shown(self.names)),
        }
    }
}

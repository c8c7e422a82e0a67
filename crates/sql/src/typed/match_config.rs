//! How a MATCH reads its columns and its search string: the first argument of the function that it becomes.
//!
//! Invariant: a stored text of it is read by every later version. What it means is in [`crate::fulltext::matching`].

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use stoa_fulltext::TokenizerOptions;
use stoa_pg::{PgError, PgResult};

/// One column of a MATCH.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MatchColumn {
    pub name: String,
    #[serde(default)]
    pub tokenizer: TokenizerOptions,
}

/// How the columns of a MATCH are read.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct MatchConfig {
    pub columns: Vec<MatchColumn>,
    /// The names of the table's other columns, which a search string may not name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
    #[serde(default)]
    pub mode: Mode,
}

/// What the search string is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Mode {
    /// IN BOOLEAN MODE: words and signs.
    #[default]
    SearchString,
    /// IN NATURAL LANGUAGE MODE: words, without signs.
    Words,
    /// WITH QUERY EXPANSION: and words that are much like them.
    SimilarWords,
    /// IN SEARCH BOX MODE: whatever people write.
    SearchBox,
    /// IN MORE LIKE THIS MODE: a text that rows should be like.
    MoreLikeThis,
}

impl Mode {
    /// As it stands behind a search string.
    #[must_use]
    pub fn clause(self) -> &'static str {
        match self {
            Mode::SearchString => "",
            Mode::Words => " IN NATURAL LANGUAGE MODE",
            Mode::SimilarWords => " WITH QUERY EXPANSION",
            Mode::SearchBox => " IN SEARCH BOX MODE",
            Mode::MoreLikeThis => " IN MORE LIKE THIS MODE",
        }
    }
}

impl MatchConfig {
    /// As an argument of the function.
    #[must_use]
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// # Errors
    /// XX000 for what [`MatchConfig::to_text`] did not write.
    pub fn read(text: &str) -> PgResult<Self> {
        serde_json::from_str(text).map_err(|e| PgError::internal(format!("the configuration of a MATCH cannot be read: {e}")))
    }

    /// A text of calls without what is the first argument of those of MATCH, which nobody has written.
    #[must_use]
    pub fn left_out(text: &str) -> Cow<'_, str> {
        const BEGIN: &str = "({\"columns\":";
        if !text.contains(BEGIN) {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(BEGIN) {
            let (before, from) = rest.split_at(at + 1);
            out.push_str(before);
            let mut read = serde_json::Deserializer::from_str(from).into_iter::<Self>();
            let end = matches!(read.next(), Some(Ok(_))).then(|| read.byte_offset());
            rest = end.and_then(|end| from.get(end..)).map_or(from, |after| after.strip_prefix(", ").unwrap_or(after));
        }
        out.push_str(rest);
        Cow::Owned(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_are_left_out_of_calls() {
        let column = MatchColumn { name: "b)".into(), tokenizer: TokenizerOptions::default() };
        let config = MatchConfig { columns: vec![column], others: vec!["({".into()], mode: Mode::Words }.to_text();
        assert_eq!(MatchConfig::left_out(&format!("f({config}, a (b, c) OR f({config}, x)")), "f(a (b, c) OR f(x)");
        assert_eq!(MatchConfig::left_out("f({\"columns\":1}, x)"), "f({\"columns\":1}, x)");
    }
}

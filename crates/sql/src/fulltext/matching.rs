//! MATCH as a function: what it says, and its value for rows that are looked at one by one.
//!
//! `match_against(configuration, search string, column, …)`: the configuration says how each column is cut into words, so that the
//! answer is the same whether an index gives it or the text does.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, StringViewBuilder};
use std::sync::{Arc, LazyLock};
use stoa_fulltext::{Analyzer, Evaluator, FieldText, Query, SearchField, SnippetOptions};
use stoa_pg::args::{Arg, Call, Kernel, arg};
use stoa_pg::registry::{Func, FuncKind, Volatility};
use stoa_pg::{PgError, PgResult, PgType, SqlState};
use stoa_table::txn::DISK_FULL_HINT;

pub use crate::typed::barrier::MATCH_FUNCTION;
pub use crate::typed::match_config::{MatchColumn, MatchConfig, Mode};
/// The name of the function that a snippet becomes.
pub const SNIPPET_FUNCTION: &str = "match_snippet";

/// The name of the function that tells where a score comes from.
pub const EXPLAINED_FUNCTION: &str = "match_explained";

const MATCH_OID: u32 = 9_990;
const SNIPPET_OID: u32 = 9_991;
const EXPLAINED_OID: u32 = 9_992;

impl MatchConfig {
    /// Reads a search string.
    ///
    /// # Errors
    /// 42601 and 54001.
    pub fn query(&self, search: &str, fields: &[SearchField]) -> PgResult<Query> {
        let query = match self.mode {
            Mode::SearchString => stoa_fulltext::parse(search, fields, &self.others),
            Mode::Words => stoa_fulltext::parse_words(search, fields, false),
            Mode::SimilarWords => stoa_fulltext::parse_words(search, fields, true),
            Mode::SearchBox => return Ok(stoa_fulltext::parse_box(search, fields)),
            Mode::MoreLikeThis => return Ok(stoa_fulltext::parse_like(search, fields)),
        };
        query.map_err(text_error)
    }

    /// # Errors
    /// 22023 for a tokenizer that does not exist any more.
    pub fn fields(&self) -> PgResult<Vec<SearchField>> {
        self.columns
            .iter()
            .map(|c| Ok(SearchField { name: c.name.clone(), analyzer: Analyzer::new(&c.tokenizer).map_err(text_error)? }))
            .collect()
    }
}

/// A user's error from one of the full text crate's.
#[must_use]
pub fn text_error(error: stoa_fulltext::Error) -> PgError {
    use stoa_fulltext::Error as E;
    match error {
        E::Syntax { message, position } => {
            PgError::new(SqlState::SYNTAX_ERROR, message).detail(format!("At character {position} of the search string."))
        }
        E::TooMuch(message) => PgError::new(SqlState::STATEMENT_TOO_COMPLEX, message),
        E::Option(message) => PgError::new(SqlState::INVALID_PARAMETER_VALUE, message),
        E::Damaged(_) => PgError::new(SqlState::INDEX_CORRUPTED, error.to_string()).hint("REINDEX builds it again from the table."),
        E::Full(_) => PgError::new(SqlState::DISK_FULL, error.to_string()).hint(DISK_FULL_HINT),
        E::Failed(_) => PgError::new(SqlState::IO_ERROR, error.to_string()),
    }
}

/// The function that MATCH becomes; it gives NULL for a search string that is NULL, and reads columns that are NULL as empty.
pub static MATCH: LazyLock<Arc<Func>> = LazyLock::new(|| {
    let kernel: Kernel = Arc::new(match_rows);
    let mut func = Func::of_kind(
        MATCH_FUNCTION,
        &[PgType::Text, PgType::Text, PgType::Text],
        PgType::Bool,
        FuncKind::Scalar(kernel),
        "whether a search string finds a row",
    )
    .lax()
    .variadic();
    func.oid = MATCH_OID;
    Arc::new(func)
});

/// `match_snippet(configuration, search string, column's number, text, length, before, after, whether the text is escaped for HTML)`.
pub static SNIPPET: LazyLock<Arc<Func>> = LazyLock::new(|| {
    let kernel: Kernel = Arc::new(snippet_rows);
    let args = [PgType::Text, PgType::Text, PgType::Int4, PgType::Text, PgType::Int4, PgType::Text, PgType::Text, PgType::Bool];
    let mut func =
        Func::of_kind(SNIPPET_FUNCTION, &args, PgType::Text, FuncKind::Scalar(kernel), "the piece of a text that shows why it was found");
    func.oid = SNIPPET_OID;
    Arc::new(func)
});

/// `match_explained(configuration, search string, index, places of the columns in it, column, …)`: what the score of a row comes from. What
/// several MATCHes give to it stands one behind the other.
pub static EXPLAINED: LazyLock<Arc<Func>> = LazyLock::new(|| {
    let args = [PgType::Text, PgType::Text, PgType::Text, PgType::Text, PgType::Text];
    let mut func =
        Func::of_kind(EXPLAINED_FUNCTION, &args, PgType::Text, FuncKind::System, "what the score of a row comes from").lax().variadic();
    func.volatility = Volatility::Volatile;
    func.oid = EXPLAINED_OID;
    Arc::new(func)
});

/// Evaluators by search string: rows mostly share one.
struct Compiled {
    config: MatchConfig,
    fields: Vec<SearchField>,
    analyzers: Vec<Arc<Analyzer>>,
    last: Option<(String, Evaluator)>,
}

impl Compiled {
    fn new(config: &str) -> PgResult<Self> {
        let config = MatchConfig::read(config)?;
        let fields = config.fields()?;
        let analyzers = fields.iter().map(|f| Arc::clone(&f.analyzer)).collect();
        Ok(Self { config, fields, analyzers, last: None })
    }

    fn evaluator(&mut self, search: &str) -> PgResult<&mut Evaluator> {
        if self.last.as_ref().is_none_or(|(text, _)| text != search) {
            let query = self.config.query(search, &self.fields)?;
            self.last = Some((search.to_owned(), Evaluator::new(&query, &self.analyzers, None)));
        }
        self.last.as_mut().map(|(_, e)| e).ok_or_else(|| PgError::internal("a MATCH without a search string"))
    }
}

fn text_at(arg: &Arg, row: usize) -> PgResult<Option<&str>> {
    let strings = arg.array.as_string_view_opt().ok_or_else(|| PgError::internal("MATCH over what is no text"))?;
    let at = arg.at(row);
    Ok(if strings.is_null(at) { None } else { Some(strings.value(at)) })
}

fn match_rows(call: &Call<'_>, args: &[Arg]) -> PgResult<ArrayRef> {
    let Some(config) = text_at(arg(args, 0)?, 0)? else { return Err(PgError::internal("a MATCH without a configuration")) };
    let mut compiled = Compiled::new(config)?;
    let search = arg(args, 1)?;
    let columns = args.get(2..).unwrap_or_default();
    let mut out = Vec::with_capacity(call.rows);
    let mut texts: Vec<FieldText<'_>> = Vec::with_capacity(columns.len());
    for row in 0..call.rows {
        let Some(search) = text_at(search, row)? else {
            out.push(None);
            continue;
        };
        texts.clear();
        for column in columns {
            texts.push(text_at(column, row)?.map_or(FieldText::Nothing, FieldText::Text));
        }
        out.push(Some(compiled.evaluator(search)?.evaluate(&texts).is_some()));
    }
    Ok(Arc::new(BooleanArray::from(out)))
}

fn snippet_rows(call: &Call<'_>, args: &[Arg]) -> PgResult<ArrayRef> {
    use arrow::datatypes::Int32Type;
    let number = |n: usize, row: usize| -> PgResult<Option<i32>> {
        let arg = arg(args, n)?;
        let numbers = arg.array.as_primitive_opt::<Int32Type>().ok_or_else(|| PgError::internal("a snippet's number of another type"))?;
        let at = arg.at(row);
        Ok(if numbers.is_null(at) { None } else { Some(numbers.value(at)) })
    };
    let mut compiled: Option<Compiled> = None;
    let mut out = StringViewBuilder::with_capacity(call.rows);
    for row in 0..call.rows {
        let (config, search, field) = (text_at(arg(args, 0)?, row)?, text_at(arg(args, 1)?, row)?, number(2, row)?);
        let (text, length) = (text_at(arg(args, 3)?, row)?, number(4, row)?);
        let (before, after) = (text_at(arg(args, 5)?, row)?, text_at(arg(args, 6)?, row)?);
        let (Some(config), Some(search), Some(field), Some(text), Some(length), Some(before), Some(after)) =
            (config, search, field, text, length, before, after)
        else {
            out.append_null();
            continue;
        };
        let compiled = match &mut compiled {
            Some(compiled) => compiled,
            None => compiled.insert(Compiled::new(config)?),
        };
        let length = usize::try_from(length).ok().filter(|n| *n > 0);
        let length = length.ok_or_else(|| PgError::new(SqlState::INVALID_PARAMETER_VALUE, "the length of a snippet must be positive"))?;
        let escape = arg(args, 7)?;
        let html = escape.array.as_boolean_opt().is_some_and(|flags| flags.is_valid(escape.at(row)) && flags.value(escape.at(row)));
        let options = SnippetOptions { before: before.to_owned(), after: after.to_owned(), length, html };
        let field = usize::try_from(field).unwrap_or(0);
        out.append_value(stoa_fulltext::snippet(compiled.evaluator(search)?, field, text, &options));
    }
    Ok(Arc::new(out.finish()))
}

/// A query over the columns of a MATCH, as one over other fields: those of an index.
#[must_use]
pub fn renumbered(query: &Query, field: &dyn Fn(usize) -> usize) -> Query {
    match query {
        Query::Nothing => Query::Nothing,
        Query::All => Query::All,
        Query::Term { field: f, word } => Query::Term { field: field(*f), word: word.clone() },
        Query::Phrase { field: f, letters, words, slop } => {
            Query::Phrase { field: field(*f), letters: *letters, words: words.clone(), slop: *slop }
        }
        Query::Prefix { field: f, start } => Query::Prefix { field: field(*f), start: start.clone() },
        Query::Fuzzy { field: f, word, distance } => Query::Fuzzy { field: field(*f), word: word.clone(), distance: *distance },
        Query::Regex { field: f, pattern } => Query::Regex { field: field(*f), pattern: pattern.clone() },
        Query::Range { field: f, lower, upper } => Query::Range { field: field(*f), lower: lower.clone(), upper: upper.clone() },
        Query::Bool { must, should, must_not } => {
            let all = |of: &[Query]| of.iter().map(|q| renumbered(q, field)).collect();
            Query::Bool { must: all(must), should: all(should), must_not: all(must_not) }
        }
        Query::AtLeast { least, of } => Query::AtLeast { least: *least, of: of.iter().map(|q| renumbered(q, field)).collect() },
        Query::Text { field: f, expression, shown, within } => Query::Text {
            field: field(*f),
            expression: expression.clone(),
            shown: shown.clone(),
            within: Box::new(renumbered(within, field)),
        },
        Query::Boost(inner, by) => Query::Boost(Box::new(renumbered(inner, field)), *by),
        Query::Superset(inner) => Query::Superset(Box::new(renumbered(inner, field))),
    }
}

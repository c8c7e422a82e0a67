//! The choice of a full text index for a scan: which filters it answers, and what that costs.

use super::TextIndexes;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, Operator};
use std::fmt;
use std::sync::Arc;
use stoa_fulltext::{Query, SearchField};
use stoa_pg::{PgError, PgResult, PgType};
pub use stoa_sql::fulltext::SCORE;
use stoa_sql::fulltext::matching::{MATCH_FUNCTION, MatchConfig, renumbered, text_error};
use stoa_table::TableId;
use stoa_table::access::Predicate;
use stoa_table::catalog::{ColumnId, IndexDescriptor, IndexKey, IndexPart, IndexState, TableDescriptor};

/// What reading a row costs that a search has found, in rows of a sequential scan; and what the search costs itself.
const ROW_COST: f64 = 5.0;
const SEARCH_COST: f64 = 20.0;
/// What it costs to find a key and look it up among others.
const KEY_COST: f64 = 0.3;
/// What it costs to cut the text of a row into words and look at them.
pub const LOOK_COST: f64 = 15.0;

/// What is searched, and how.
#[derive(Debug)]
pub struct Search {
    pub what: IndexSearch,
    /// Rows that it is expected to find.
    pub rows: f64,
}

/// A query over one index, or several of them together.
#[derive(Debug)]
pub enum IndexSearch {
    Index(IndexQuery),
    All(Vec<IndexSearch>),
    Any(Vec<IndexSearch>),
}

/// What is looked for in an index.
#[derive(Debug)]
pub struct IndexQuery {
    /// The index, by its number among the tables of the store.
    pub index: TableId,
    pub query: Arc<Query>,
    /// The index's name, and those of its fields.
    pub name: String,
    pub fields: Vec<String>,
    /// Rows that it is expected to find.
    rows: f64,
}

impl Search {
    /// The names of the indexes, each once, in the order in which they come.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        self.what.leaves(&mut |leaf| {
            if !names.contains(&leaf.name.as_str()) {
                names.push(&leaf.name);
            }
        });
        names
    }

    /// Whether the indexes answer it exactly.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        let mut exact = true;
        self.what.leaves(&mut |leaf| exact &= leaf.query.is_exact());
        exact
    }
}

impl IndexSearch {
    fn leaves<'a>(&'a self, each: &mut dyn FnMut(&'a IndexQuery)) {
        match self {
            IndexSearch::Index(leaf) => each(leaf),
            IndexSearch::All(of) | IndexSearch::Any(of) => of.iter().for_each(|part| part.leaves(each)),
        }
    }

    /// All of several, or one of them: what is looked for in one index is one query.
    fn of(all: bool, parts: Vec<IndexSearch>) -> IndexSearch {
        let mut out: Vec<IndexSearch> = Vec::with_capacity(parts.len());
        for part in parts {
            let same = |known: &&mut IndexSearch| matches!((&**known, &part), (IndexSearch::Index(a), IndexSearch::Index(b)) if a.index == b.index);
            match (out.iter_mut().find(same), part) {
                (Some(IndexSearch::Index(known)), IndexSearch::Index(part)) => {
                    let both = vec![(*known.query).clone(), (*part.query).clone()];
                    known.query = Arc::new(if all { Query::all(both) } else { Query::any(both) });
                    known.rows = if all { known.rows.min(part.rows) } else { known.rows + part.rows };
                }
                (_, part) => out.push(part),
            }
        }
        match (out.len(), out.pop()) {
            (1, Some(one)) => one,
            (_, last) => {
                out.extend(last);
                if all { IndexSearch::All(out) } else { IndexSearch::Any(out) }
            }
        }
    }

    /// Rows that are expected.
    fn rows(&self) -> f64 {
        match self {
            IndexSearch::Index(leaf) => leaf.rows,
            IndexSearch::All(of) => of.iter().map(IndexSearch::rows).fold(f64::MAX, f64::min),
            IndexSearch::Any(of) => of.iter().map(IndexSearch::rows).sum(),
        }
    }

    /// Keys that are found on the way.
    fn keys(&self) -> f64 {
        let mut keys = 0.0;
        self.leaves(&mut |leaf| keys += leaf.rows);
        keys
    }
}

impl fmt::Display for IndexSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IndexSearch::Index(leaf) => {
                let names = |field: usize| leaf.fields.get(field).cloned().unwrap_or_default();
                write!(f, "{}", leaf.query.shown(&names))
            }
            IndexSearch::All(of) | IndexSearch::Any(of) => {
                let between = if matches!(self, IndexSearch::All(_)) { " AND " } else { " OR " };
                for (at, part) in of.iter().enumerate() {
                    write!(f, "{}({part})", if at > 0 { between } else { "" })?;
                }
                Ok(())
            }
        }
    }
}

/// A search that answers some filters of a scan.
#[derive(Debug)]
pub struct TextPath {
    pub search: Search,
    /// Positions of the filters that it answers.
    pub answered: Vec<usize>,
    /// How many filters it uses.
    queries: usize,
    /// Whether filters that it answers are costly to evaluate row by row.
    pub looks: bool,
}

impl TextPath {
    /// As costs of paths are.
    #[must_use]
    pub fn cost(&self) -> f64 {
        match &self.search.what {
            IndexSearch::Index(_) => SEARCH_COST + ROW_COST * self.search.rows,
            several => SEARCH_COST + KEY_COST * several.keys() + ROW_COST * self.search.rows,
        }
    }

    /// What it costs if only the rows found are read that are among others, a share of all, whose keys cost something themselves.
    #[must_use]
    pub fn cost_among(&self, share: f64, keys: f64) -> f64 {
        SEARCH_COST + KEY_COST * self.search.what.keys() + keys + ROW_COST * self.search.rows * share
    }
}

/// A MATCH over columns of one table.
#[derive(Debug)]
pub struct Match {
    config: MatchConfig,
    fields: Vec<SearchField>,
    /// `None` for one that is computed.
    columns: Vec<Option<ColumnId>>,
}

impl Match {
    /// From the configuration that the function has; of its columns, some may be computed.
    ///
    /// # Errors
    /// The configuration cannot be read.
    pub fn new(config: &str, columns: Vec<Option<ColumnId>>) -> PgResult<Self> {
        let config = MatchConfig::read(config)?;
        Ok(Self { fields: config.fields()?, config, columns })
    }

    /// Where its columns are in an index, if that has all of them, cut into the same words. `computed` tells for one that is computed
    /// whether a part of the index is.
    #[must_use]
    pub fn places(
        &self,
        index: &IndexDescriptor,
        fields: &[stoa_fulltext::FieldDefinition],
        computed: &dyn Fn(usize, usize) -> bool,
    ) -> Option<Vec<usize>> {
        let place = |(column, (id, own)): (usize, (&Option<ColumnId>, &stoa_sql::fulltext::matching::MatchColumn))| {
            let fits = |n: usize| fields.get(n).is_some_and(|f| f.tokenizer == own.tokenizer);
            index.parts.iter().enumerate().position(|(n, p)| match (&p.key, id) {
                (IndexKey::Column(c), Some(id)) => c == id && fits(n),
                (IndexKey::Expr(_), None) => fits(n) && computed(column, n),
                _ => false,
            })
        };
        self.columns.iter().zip(&self.config.columns).enumerate().map(place).collect()
    }

    /// The query over an index whose fields are at these places. A search string that is NULL finds nothing.
    ///
    /// # Errors
    /// The search string is malformed.
    pub fn query(&self, search: Option<&str>, places: &[usize]) -> PgResult<Query> {
        let Some(search) = search else { return Ok(Query::Nothing) };
        let query = self.config.query(search, &self.fields)?;
        Ok(renumbered(&query, &|field| places.get(field).copied().unwrap_or(usize::MAX)))
    }
}

/// A MATCH among the filters.
struct MatchFilter {
    filter: usize,
    found: Match,
    search: Option<String>,
    /// The columns, over the table's columns by their ids.
    columns: Vec<Expr>,
}

/// The filters of a scan.
pub struct Filters<'a> {
    pub exprs: &'a [Expr],
    /// What is understood of each; those on columns of an index narrow a search down.
    pub predicates: &'a [Predicate],
    /// Whether they are a search if there is none to be narrowed down.
    pub alone: bool,
    /// Whether the score is asked for.
    pub scored: bool,
}

/// The index that answers most of the filters, if one answers any. `usable` says whether a partial index has all rows wanted.
///
/// # Errors
/// A search string is malformed, or the files cannot be read.
pub fn choose(
    indexes: &TextIndexes,
    table: &TableDescriptor,
    filters: &Filters<'_>,
    column: &dyn Fn(&str) -> Option<ColumnId>,
    usable: &dyn Fn(usize) -> bool,
    computed: &dyn Fn(usize, usize) -> Option<Expr>,
) -> PgResult<Option<TextPath>> {
    if !table.indexes.iter().any(IndexDescriptor::is_fulltext) {
        return Ok(None);
    }
    let exprs = filters.exprs;
    let matches: Vec<MatchFilter> = exprs.iter().enumerate().filter_map(|(n, f)| read_match(n, f, column)).collect::<PgResult<_>>()?;
    let mut best: Option<TextPath> = None;
    for (at, index) in table.indexes.iter().enumerate() {
        if !index.is_fulltext() || index.state != IndexState::Readable || !usable(at) {
            continue;
        }
        let Some(text) = indexes.get(index.storage) else { continue };
        let Some(ending) = text.texts.ending(table) else { continue };
        let mut answered = Vec::new();
        let mut queries = Vec::new();
        for (n, filter) in exprs.iter().enumerate() {
            let of_lexemes = |part: &IndexPart| part.ty.ty == PgType::Tsvector;
            let part = |document: &Expr| part_of(document, index, &of_lexemes, &|part| computed(at, part), column);
            let Some((query, exact)) = super::tsquery::answer(filter, &part) else { continue };
            // A filter that stays is applied to the rows found.
            queries.push(query);
            if exact {
                answered.push(n);
            }
        }
        for m in &matches {
            let is_part = |n: usize, part: usize| m.columns.get(n).is_some_and(|e| computed(at, part).is_some_and(|own| own == *e));
            if let Some(places) = m.found.places(index, &text.definition.fields, &is_part) {
                queries.push(m.found.query(m.search.as_deref(), &places)?);
                answered.push(m.filter);
            }
        }
        let ends = |field: usize| ending.get(field).copied().unwrap_or(false);
        queries = queries.into_iter().map(|query| query.over_ending(&ends)).collect();
        let looks = !queries.is_empty();
        let files = text.files();
        if (looks || filters.alone)
            && let Some(files) = &files
        {
            let field = |id: ColumnId| {
                // Texts of other types are not compared by their bytes.
                table.column(id).filter(|c| matches!(c.ty.ty, PgType::Text | PgType::Varchar))?;
                let at = index.parts.iter().position(|p| matches!(&p.key, IndexKey::Column(c) if *c == id))?;
                Some((at, files.analyzers().get(at).map(|a| &**a)?))
            };
            let fields = super::columns::Fields { field: &field, column };
            let answers = exprs.iter().zip(filters.predicates).enumerate().filter(|(n, _)| !answered.contains(n));
            let of_items = |value: &Expr| {
                let place = part_of(value, index, &|part| !part.is_text(), &|part| computed(at, part), column)?;
                Some((place, index.parts.get(place)?.class_of_items()?))
            };
            let narrowing = answers.filter_map(|(_, (filter, predicate))| {
                super::columns::answer(filter, predicate, &fields).or_else(|| super::items::answer(filter, &of_items))
            });
            // Looking through all words costs more than it saves beside a search. None of them says how well a row fits.
            let worth = |query: &Query| {
                let mut words = true;
                query.leaves(&mut |leaf| words &= matches!(leaf, Query::Term { .. }));
                !looks || words
            };
            let narrowing: Vec<Query> = narrowing.filter(worth).collect();
            queries.extend(narrowing.into_iter().map(|query| Query::Boost(Box::new(query), 0.0)));
        }
        if queries.is_empty() || best.as_ref().is_some_and(|b| b.queries > queries.len() || (looks && b.queries == queries.len())) {
            continue;
        }
        let count = queries.len();
        let query = Query::all(queries);
        let rows = match files {
            Some(files) => files.generation().estimate(&query).map_err(text_error).unwrap_or(1000) as f64,
            None => 1000.0,
        };
        // Of indexes that answer as many conditions, the first has the score; without one, it is that which finds the fewest rows.
        if best.as_ref().is_some_and(|b| b.queries == count && (b.looks || b.search.rows <= rows)) {
            continue;
        }
        let fields = index.parts.iter().map(|p| part_name(table, &p.key)).collect();
        let what = IndexSearch::Index(IndexQuery { index: index.storage, query: Arc::new(query), name: index.name.clone(), fields, rows });
        best = Some(TextPath { search: Search { what, rows }, answered, queries: count, looks });
    }
    let asked = exprs.iter().filter(|e| holds_match(e)).count();
    let answered = |path: &TextPath| path.answered.iter().filter(|n| exprs.get(**n).is_some_and(holds_match)).count();
    if best.as_ref().map_or(0, &answered) == asked {
        return Ok(best);
    }
    let Some(several) = of_several(indexes, table, exprs, column, usable, computed)? else { return Ok(best) };
    // Where rows are few, they are looked at; a score is that of all that is asked for.
    let looked_at = |path: &TextPath| path.cost() + LOOK_COST * path.search.rows * (asked - answered(path)) as f64;
    let better = |path: &TextPath| answered(&several) > answered(path) && (filters.scored || looked_at(&several) < looked_at(path));
    Ok(if best.as_ref().is_none_or(better) { Some(several) } else { best })
}

/// The search for all MATCHes, and AND and OR of them, that indexes answer, each by the first that can.
fn of_several(
    indexes: &TextIndexes,
    table: &TableDescriptor,
    exprs: &[Expr],
    column: &dyn Fn(&str) -> Option<ColumnId>,
    usable: &dyn Fn(usize) -> bool,
    computed: &dyn Fn(usize, usize) -> Option<Expr>,
) -> PgResult<Option<TextPath>> {
    let of_index = |m: &MatchFilter| -> PgResult<Option<IndexSearch>> {
        for (at, index) in table.indexes.iter().enumerate() {
            if !index.is_fulltext() || index.state != IndexState::Readable || !usable(at) {
                continue;
            }
            let Some(text) = indexes.get(index.storage) else { continue };
            let Some(ending) = text.texts.ending(table) else { continue };
            let is_part = |n: usize, part: usize| m.columns.get(n).is_some_and(|e| computed(at, part).is_some_and(|own| own == *e));
            let Some(places) = m.found.places(index, &text.definition.fields, &is_part) else { continue };
            let query = m.found.query(m.search.as_deref(), &places)?;
            let query = query.over_ending(&|field| ending.get(field).copied().unwrap_or(false));
            let rows = text.files().map_or(1000, |files| files.generation().estimate(&query).unwrap_or(1000)) as f64;
            let fields = index.parts.iter().map(|p| part_name(table, &p.key)).collect();
            let query = Arc::new(query);
            return Ok(Some(IndexSearch::Index(IndexQuery { index: index.storage, query, name: index.name.clone(), fields, rows })));
        }
        Ok(None)
    };
    let (mut parts, mut answered) = (Vec::new(), Vec::new());
    for (n, filter) in exprs.iter().enumerate().filter(|(_, filter)| holds_match(filter)) {
        if let Some(part) = sought_by(filter, column, &of_index)? {
            parts.push(part);
            answered.push(n);
        }
    }
    if parts.is_empty() {
        return Ok(None);
    }
    let queries = parts.len();
    let what = IndexSearch::of(true, parts);
    let rows = what.rows();
    Ok(Some(TextPath { search: Search { what, rows }, answered, queries, looks: true }))
}

/// What a filter looks for that is a MATCH, or AND and OR of such; `None` if an index does not answer one of them.
fn sought_by(
    filter: &Expr,
    column: &dyn Fn(&str) -> Option<ColumnId>,
    of_index: &dyn Fn(&MatchFilter) -> PgResult<Option<IndexSearch>>,
) -> PgResult<Option<IndexSearch>> {
    if let Some((all, parts)) = parts_of_condition(filter) {
        let mut sought = Vec::with_capacity(parts.len());
        for part in parts {
            let Some(part) = sought_by(part, column, of_index)? else { return Ok(None) };
            sought.push(part);
        }
        return Ok(Some(IndexSearch::of(all, sought)));
    }
    match read_match(0, filter, column).transpose()? {
        Some(found) => of_index(&found),
        None => Ok(None),
    }
}

/// The conditions that must hold, all or one of them: those of AND and OR, and of what [`stoa_sql::typed::guard`] makes of these.
pub(super) fn parts_of_condition(filter: &Expr) -> Option<(bool, Vec<&Expr>)> {
    let boolean = |e: &Expr| if let Expr::Literal(ScalarValue::Boolean(value), _) = e { *value } else { None };
    match filter {
        Expr::BinaryExpr(both) if matches!(both.op, Operator::And | Operator::Or) => {
            Some((both.op == Operator::And, vec![&both.left, &both.right]))
        }
        Expr::Case(case) if case.expr.as_deref().and_then(boolean) == Some(true) => {
            let mut parts = Vec::with_capacity(case.when_then_expr.len() + 1);
            let mut all = None;
            for (when, then) in &case.when_then_expr {
                let decides = boolean(then)?;
                let part = match (decides, &**when) {
                    (true, part) => part,
                    (false, Expr::IsNotTrue(part)) => part,
                    _ => return None,
                };
                if *all.get_or_insert(!decides) == decides {
                    return None;
                }
                parts.push(part);
            }
            parts.push(case.else_expr.as_deref()?);
            Some((all?, parts))
        }
        _ => None,
    }
}

/// Whether a filter asks for a MATCH somewhere.
fn holds_match(filter: &Expr) -> bool {
    filter.exists(|e| Ok(matches!(e, Expr::ScalarFunction(call) if is_match(call)))).unwrap_or(false)
}

fn is_match(call: &ScalarFunction) -> bool {
    call.func.name().split('#').next() == Some(MATCH_FUNCTION)
}

/// The part of an index that is a value, among those that `fit`.
fn part_of(
    value: &Expr,
    index: &IndexDescriptor,
    fits: &dyn Fn(&IndexPart) -> bool,
    computed: &dyn Fn(usize) -> Option<Expr>,
    column: &dyn Fn(&str) -> Option<ColumnId>,
) -> Option<usize> {
    if let Expr::Column(c) = value {
        let id = column(&c.name)?;
        return index.parts.iter().position(|p| fits(p) && matches!(&p.key, IndexKey::Column(own) if *own == id));
    }
    let value = by_id(value, column)?;
    (0..index.parts.len()).find(|part| index.parts.get(*part).is_some_and(fits) && computed(*part).is_some_and(|own| own == value))
}

/// An expression over columns that are called by their ids in the table, as those of indexes are.
fn by_id(expr: &Expr, column: &dyn Fn(&str) -> Option<ColumnId>) -> Option<Expr> {
    let transformed = expr.clone().transform(|e| match &e {
        Expr::Column(c) => Ok(match column(&c.name) {
            Some(id) => Transformed::yes(Expr::Column(Column::new_unqualified(format!("c{}", id.0)))),
            None => Transformed::no(e),
        }),
        _ => Ok(Transformed::no(e)),
    });
    transformed.ok().map(|transformed| transformed.data)
}

fn part_name(table: &TableDescriptor, key: &IndexKey) -> String {
    match key {
        IndexKey::Column(id) => table.column(*id).map_or_else(String::new, |c| c.name.clone()),
        IndexKey::Expr(sql) => sql.clone(),
    }
}

fn read_match(filter: usize, expr: &Expr, column: &dyn Fn(&str) -> Option<ColumnId>) -> Option<PgResult<MatchFilter>> {
    let Expr::ScalarFunction(call) = expr else { return None };
    if !is_match(call) {
        return None;
    }
    let text = |e: &Expr| match e {
        Expr::Literal(ScalarValue::Utf8View(text) | ScalarValue::Utf8(text), _) => Some(text.clone()),
        _ => None,
    };
    let mut columns = Vec::with_capacity(call.args.len());
    let mut own = Vec::with_capacity(call.args.len());
    for arg in call.args.get(2..)? {
        columns.push(match arg {
            Expr::Column(c) => Some(column(&c.name)?),
            _ => None,
        });
        own.push(by_id(arg, column)?);
    }
    let config = text(call.args.first()?)??;
    let search = text(call.args.get(1)?)?;
    Some(Match::new(&config, columns).map(|found| MatchFilter { filter, found, search, columns: own }))
}

/// 0A000 for a score that no index gives.
pub fn no_score(table: &str) -> PgError {
    PgError::unsupported(format!("score({table}) needs a MATCH in WHERE that a full text index answers"))
        .hint("MATCH must stand alone or be joined by AND and OR with others, each over columns that one index has.")
}

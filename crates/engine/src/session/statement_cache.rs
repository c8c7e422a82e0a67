//! Statements of the simple protocol that differ from earlier ones in their literals only: they need not be parsed, bound and compiled anew.
//!
//! When a text comes whose [`Fingerprint`] has been seen before, its statement is bound a second time, with parameters in the place of its
//! literals. If that gives the same typed tree, but for the parameters, and takes little, it is kept: the next text of this fingerprint runs it
//! with its own literals as values. Whatever is unusual (a literal that its type does not take, another catalog, a failed transaction)
//! goes the ordinary way, which tells of it.

use super::api::Prepared;
use super::prepared::{BoundStatement, PreparedStatement};
use super::session_impl::Session;
use crate::plan::is_inline;
use datafusion::common::ScalarValue;
use indexmap::IndexMap;
use parking_lot::Mutex;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use stoa_exec::environment::SessionEnvironment;
use stoa_pg::EvalContext;
use stoa_pg::registry::Volatility;
use stoa_pg::types::PgType;
use stoa_pg::values::input_text;
use stoa_sql::bind::literal::{substitute, substitute_in};
use stoa_sql::typed::constant;
use stoa_sql::typed::raises::may_raise;
use stoa_sql::typed::tree::{Bound, BoundBody, Expr, ExprKind, Rel};
use stoa_sql::typed::walk;
use stoa_syntax::{Body, Fingerprint, LiteralKind};

/// Statements that a session keeps.
const KEPT: usize = 32;
/// Fingerprints that it remembers having seen.
const SEEN: usize = 64;

/// The statements that a session keeps by their fingerprints.
pub(super) struct StatementCache {
    /// That of the text that came last; buffers are used again.
    last: Fingerprint,
    kept: IndexMap<Box<[u8]>, Kept>,
    /// How often one was wanted.
    wanted: u64,
    /// Hashes of fingerprints, each at a place that follows from it.
    seen: [Seen; SEEN],
}

impl Default for StatementCache {
    fn default() -> Self {
        Self { last: Fingerprint::default(), kept: IndexMap::new(), wanted: 0, seen: [Seen::default(); SEEN] }
    }
}

struct Kept {
    body: Arc<Body>,
    bound: Arc<BoundStatement>,
    /// Parts of it that read no rows and fail for some literals: they fail before rows are read.
    constants: Arc<[Expr]>,
    /// Of those that are kept the one with the lowest number has not been wanted for longest.
    wanted: u64,
}

#[derive(Clone, Copy, Default)]
struct Seen {
    hash: u64,
    /// It has been found not to be one to keep.
    refused: bool,
}

impl Session {
    /// A statement of an earlier text of the same fingerprint, with the values of this one's literals.
    #[must_use]
    pub fn recall(&mut self, text: &str) -> Option<(Prepared, Vec<ScalarValue>)> {
        if !self.statement_cache.last.read(text) || self.block.failed {
            return None;
        }
        self.statement_cache.wanted += 1;
        let kept = self.statement_cache.kept.get_mut(self.statement_cache.last.key())?;
        kept.wanted = self.statement_cache.wanted;
        let (body, bound, constants) = (Arc::clone(&kept.body), Arc::clone(&kept.bound), Arc::clone(&kept.constants));
        self.begin_text(1);
        // What this raises is raised again on the ordinary way.
        let system = self.environment().ok()?;
        let values = self.shared.settings().value.clone();
        if !bound.holds(&system, &values) {
            // Nor will the others, most likely, and each holds a catalog.
            self.statement_cache.kept.retain(|_, kept| kept.bound.holds(&system, &values));
            return None;
        }
        let params = self.literals_of(text, &bound, Arc::clone(&system))?;
        if !constants.is_empty() {
            let context = self.eval_context(system);
            constants.iter().try_for_each(|e| constant::evaluate_with(&context, &params, e).map(drop)).ok()?;
        }
        let whole: Arc<str> = Arc::from(text);
        let statement_text = match text.get(self.statement_cache.last.start()..self.statement_cache.last.end()) {
            Some(statement) if statement.len() < text.len() => Arc::from(statement),
            _ => Arc::clone(&whole),
        };
        let bound = Mutex::new(Some(bound));
        let statement = PreparedStatement {
            text: whole,
            statement_text,
            body: Some(body),
            declared: Vec::new(),
            bound,
            described: AtomicBool::new(false),
            recalled: true,
        };
        Some((Prepared { inner: Arc::new(statement) }, params))
    }

    /// What the literals of the last text are as parameters of a statement; `None` if its types do not take one.
    fn literals_of(&self, text: &str, bound: &BoundStatement, system: Arc<SessionEnvironment>) -> Option<Vec<ScalarValue>> {
        let literals = self.statement_cache.last.literals();
        if literals.len() != bound.params.len() {
            return None;
        }
        let context = self.eval_context(system);
        let values = literals.iter().zip(bound.params.iter()).map(|(literal, ty)| {
            let value = literal.value(text);
            Some(match (literal.kind, &ty.ty) {
                (LiteralKind::Int4, PgType::Int4) => ScalarValue::Int32(Some(value.parse().ok()?)),
                (LiteralKind::Int8, PgType::Int8) => ScalarValue::Int64(Some(value.parse().ok()?)),
                (LiteralKind::Text, PgType::Text) => ScalarValue::Utf8View(Some(value.into_owned())),
                (LiteralKind::Int4 | LiteralKind::Int8, _) => return None,
                _ => input_text(&context, ty, &value).ok()?,
            })
        });
        values.collect()
    }

    /// After the ordinary way: keeps what was prepared of the last text, alone in it, if texts of its fingerprint come again and again.
    pub fn keep_statement(&mut self, text: &str, prepared: &Prepared) {
        let literal = prepared.inner.bound.lock().clone();
        let Some(literal) = literal.filter(|_| matches!(prepared.inner.body.as_deref(), Some(Body::Sql(_)))) else { return };
        if self.statement_cache.last.key().is_empty() || !self.statement_cache.comes_again() {
            return;
        }
        match self.with_parameters(text, &literal) {
            Some(kept) => {
                let all = &mut self.statement_cache.kept;
                if all.len() >= KEPT
                    && let Some(oldest) = (0..all.len()).min_by_key(|at| all.get_index(*at).map(|(_, kept)| kept.wanted))
                {
                    all.swap_remove_index(oldest);
                }
                all.insert(self.statement_cache.last.key().into(), kept);
            }
            None => self.statement_cache.refuse(),
        }
    }

    /// The statement of a text with parameters in the place of its literals, if it means the same and takes little.
    fn with_parameters(&mut self, text: &str, literal: &BoundStatement) -> Option<Kept> {
        let declared = self.statement_cache.last.literals().iter().map(|literal| match literal.kind {
            LiteralKind::Int4 => Some(PgType::Int4),
            LiteralKind::Int8 => Some(PgType::Int8),
            LiteralKind::Numeric => Some(PgType::Numeric),
            LiteralKind::Text => None,
        });
        let declared = declared.collect();
        let changed: Arc<str> = self.statement_cache.last.with_parameters(text).into();
        let [piece] = <[_; 1]>::try_from(stoa_syntax::parse_script(&changed).ok()?).ok()?;
        let body = Arc::new(piece.body);
        let statement_text = Arc::clone(&changed);
        let statement = PreparedStatement {
            text: changed,
            statement_text,
            body: Some(Arc::clone(&body)),
            declared,
            bound: Mutex::default(),
            described: AtomicBool::new(false),
            recalled: false,
        };
        let bound = self.bound(&statement).ok()?;
        let system = self.environment().ok()?;
        let settings = self.shared.settings();
        let values = self.literals_of(text, &bound, Arc::clone(&system))?;
        let same = literal.columns == bound.columns
            && literal.holds(&system, &settings.value)
            && literal.bound.warnings.is_empty()
            && with_values(&bound.bound, &values, &self.eval_context(Arc::clone(&system))) == literal.bound;
        let keep = same
            && !fields_of_intervals(&bound.bound)
            && !bound.params.iter().any(|ty| is_row(&ty.ty))
            && !depends_on_constants(&bound.bound)
            && is_inline(&bound.bound, &bound.plan, settings, &self.database.text, &system.catalog);
        let constants = constants_that_raise(&bound.bound, &self.eval_context(system)).into();
        keep.then_some(Kept { body, bound, constants, wanted: self.statement_cache.wanted })
    }
}

impl StatementCache {
    fn seen(&mut self) -> (&mut Seen, u64) {
        let mut hasher = DefaultHasher::new();
        self.last.key().hash(&mut hasher);
        let hash = hasher.finish();
        let place = usize::try_from(hash).unwrap_or(0) % SEEN;
        (&mut self.seen[place], hash)
    }

    /// Whether the last text's fingerprint was seen before, and not refused.
    fn comes_again(&mut self) -> bool {
        let (seen, hash) = self.seen();
        if seen.hash != hash {
            *seen = Seen { hash, refused: false };
            return false;
        }
        !seen.refused
    }

    fn refuse(&mut self) {
        self.seen().0.refused = true;
    }
}

/// A statement with constants in the place of its parameters, as the binder has them.
fn with_values(bound: &Bound, values: &[ScalarValue], eval: &EvalContext) -> Bound {
    let mut out = bound.clone();
    out.params.clear();
    match &mut out.body {
        BoundBody::Query(query) => substitute_in(&mut query.rel, values, eval),
        BoundBody::Mutation(mutation) => {
            substitute_in(&mut mutation.source, values, eval);
            walk::mutation_exprs_mut(mutation).into_iter().for_each(|e| {
                substitute(e, values, eval);
            });
        }
    }
    out
}

/// The largest parts of a statement that read nothing but parameters and may raise, outside subqueries in expressions. Rows of VALUES are
/// computed in any case.
fn constants_that_raise(bound: &Bound, eval: &EvalContext) -> Vec<Expr> {
    fn gather(e: &Expr, eval: &EvalContext, out: &mut Vec<Expr>) {
        let mut parameter = false;
        let reads = e.any(&mut |x| match &x.kind {
            ExprKind::Param(_) => {
                parameter = true;
                false
            }
            ExprKind::Func { func, .. } => func.0.volatility != Volatility::Immutable,
            ExprKind::Oper { oper, .. } => oper.0.volatility != Volatility::Immutable,
            ExprKind::Const(_) | ExprKind::Cast { .. } => false,
            _ => true,
        });
        if !reads && parameter && may_raise(eval, e) {
            out.push(e.clone());
        } else if reads {
            e.children().into_iter().for_each(|child| gather(child, eval, out));
        }
    }
    let mut out = Vec::new();
    let source = match &bound.body {
        BoundBody::Query(query) => &query.rel,
        BoundBody::Mutation(mutation) => {
            walk::kind_exprs(&mutation.kind).into_iter().for_each(|e| gather(e, eval, &mut out));
            &*mutation.source
        }
    };
    walk::visit_all(source, &mut |rel| {
        if !matches!(rel, Rel::Values { .. }) {
            walk::exprs_of(rel).into_iter().for_each(|e| gather(e, eval, &mut out));
        }
    });
    out
}

/// Whether a literal of this type may be taken where a value is not: of rows without a name an empty array alone is.
fn is_row(ty: &PgType) -> bool {
    matches!(ty, PgType::Record(_)) || ty.element().is_some_and(|element| is_row(&element))
}

/// Whether a parameter is given the fields of an interval: a literal is read by them (`'5'::interval hour`), a value is cut to them.
fn fields_of_intervals(bound: &Bound) -> bool {
    let fields = |e: &Expr| e.any(&mut |e| !matches!(e.kind, ExprKind::Param(_)) && e.ty.ty == PgType::Interval && e.ty.typmod >= 0);
    let source = match &bound.body {
        BoundBody::Query(query) => &query.rel,
        BoundBody::Mutation(mutation) => &*mutation.source,
    };
    let mut found = bound.params.iter().any(|ty| ty.ty == PgType::Interval);
    if found {
        found = match &bound.body {
            BoundBody::Query(_) => false,
            BoundBody::Mutation(mutation) => walk::mutation_exprs(mutation).into_iter().any(fields),
        };
        walk::visit_all(source, &mut |rel| found |= walk::exprs_of(rel).into_iter().any(fields));
    }
    found
}

/// Whether a way to the rows may be open to constants only: an index with a condition that follows from them, a time in the past.
fn depends_on_constants(bound: &Bound) -> bool {
    let rel = match &bound.body {
        BoundBody::Query(query) => &query.rel,
        BoundBody::Mutation(mutation) => &*mutation.source,
    };
    let mut found = false;
    walk::visit_all(rel, &mut |rel| {
        found |= matches!(rel, Rel::History(_));
        if let Rel::Scan(scan) = rel {
            found |= scan.as_of.is_some() || scan.table.indexes.iter().any(|index| index.predicate.is_some());
        }
    });
    found
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::session::{Execution, SessionOptions};
    use crate::{Database, DatabaseOptions};
    use arrow::util::display::{ArrayFormatter, FormatOptions};
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};
    use stoa_pg::PgResult;

    /// What clients see: names and types of columns, rows, the tag; or the error.
    async fn execute(session: &mut Session, prepared: &Prepared, params: Vec<ScalarValue>) -> PgResult<String> {
        let out = match session.execute(prepared, params).await? {
            Execution::Rows(given) => {
                let columns: Vec<String> = given.columns.iter().map(|c| format!("{} {:?}", c.name, c.ty.ty)).collect();
                match given.collect().await {
                    Ok(batch) => {
                        let options = FormatOptions::default().with_null("NULL");
                        let values: Vec<_> = batch.columns().iter().map(|c| ArrayFormatter::try_new(c, &options).unwrap()).collect();
                        let row = |row| values.iter().map(|c| c.value(row).to_string()).collect::<Vec<_>>().join(",");
                        format!("{columns:?}: {}", (0..batch.num_rows()).map(row).collect::<Vec<_>>().join("; "))
                    }
                    Err(error) => {
                        session.fail().await;
                        return Err(error);
                    }
                }
            }
            Execution::Done(tag) => tag,
            _ => "nothing".into(),
        };
        session.finish().await?;
        Ok(out)
    }

    /// As the simple protocol does, with fingerprints or without; whether one was recalled.
    async fn run(session: &mut Session, text: &str, fingerprints: bool) -> (String, bool) {
        let mut recalled = false;
        let out = async {
            if fingerprints && let Some((prepared, params)) = session.recall(text) {
                recalled = true;
                return execute(session, &prepared, params).await;
            }
            let mut out = String::new();
            let pieces = session.parse(text)?;
            session.begin_text(pieces.len());
            let only = pieces.len() == 1;
            for piece in pieces {
                let prepared = session.prepare(Some(piece), text.into(), Vec::new())?;
                if fingerprints && only {
                    session.keep_statement(text, &prepared);
                }
                out = execute(session, &prepared, Vec::new()).await?;
            }
            Ok(out)
        };
        let out = match out.await {
            Ok(out) => out,
            Err(error) => {
                session.fail().await;
                // The error of a statement without a block ends its transaction.
                let _ = session.finish().await;
                format!("error {} {error} {:?} {:?}", error.code().as_str(), error.fields().position, error.fields().detail)
            }
        };
        (out, recalled)
    }

    async fn database(script: &str) -> (Database, Session) {
        let database = Database::open(stoa_table::Tables::in_memory(), DatabaseOptions::default()).await.unwrap();
        let mut session = database.connect(SessionOptions::default()).unwrap();
        for text in script.split_inclusive(';') {
            let (out, _) = run(&mut session, text, false).await;
            assert!(!out.starts_with("error"), "{text}: {out}");
        }
        (database, session)
    }

    const TABLES: &str =
        "CREATE TABLE a (id int PRIMARY KEY, big int8, name text, code varchar(4), n numeric(8,2), d date, flag bool, c char(3), h interval hour to minute);
        CREATE INDEX a_name ON a (name);
        CREATE TABLE p (x int, y text, z int, PRIMARY KEY (x, y))";

    fn statement(rng: &mut StdRng) -> String {
        let id = |rng: &mut StdRng| if rng.random_bool(0.03) { 3_000_000_000_i64 } else { rng.random_range(-3..30) };
        let word = |rng: &mut StdRng| ["a", "bb", "it''s", "%", "12345", "2020-02-30", "ä", ""][rng.random_range(0..8)];
        let day = |rng: &mut StdRng| format!("2020-0{}-1{}", rng.random_range(0..4), rng.random_range(0..9));
        let (i, j, k, w, v, d) = (id(rng), id(rng), id(rng), word(rng), word(rng), day(rng));
        match rng.random_range(0..28) {
            0 => format!("SELECT * FROM a WHERE id = {i}"),
            1 => format!("SELECT id, big + {j} FROM a WHERE id >= {i} AND id < {i} + 5 ORDER BY id"),
            2 => format!("SELECT name, n FROM a WHERE name = '{w}' ORDER BY id"),
            3 => format!("SELECT id FROM a WHERE id IN ({i}, {j}, {k}) ORDER BY id"),
            4 => format!("SELECT id, '{w}' AS w, {j} FROM a WHERE id BETWEEN {i} AND {j} ORDER BY id LIMIT {}", k.abs()),
            5 => format!("SELECT id FROM a WHERE id = '{i}'"),
            6 => format!("SELECT id FROM a WHERE id = '{w}'"),
            7 => format!("INSERT INTO a (id, big, name, n, d) VALUES ({i}, {j}, '{w}', {k}.5, '{d}')"),
            8 => format!(
                "INSERT INTO a VALUES ({i}, {j}, '{w}', '{v}', {k}, '{d}', true, '{w}') ON CONFLICT (id) DO UPDATE SET big = a.big + {j}"
            ),
            9 => format!("UPDATE a SET big = big + {j}, name = '{w}' WHERE id = {i} RETURNING id, big, name"),
            10 => format!("UPDATE a SET code = '{w}', c = '{v}' WHERE id = {i}"),
            11 => format!("DELETE FROM a WHERE id = {i}"),
            12 => format!("SELECT x, z FROM p WHERE x = {i} AND y >= '{w}' ORDER BY y"),
            13 => format!("INSERT INTO p VALUES ({i}, '{w}', {j}), ({k}, '{v}', -{}) ON CONFLICT DO NOTHING", j.abs()),
            14 => format!("SELECT {i} + {j}, '{w}' || {k}, pg_typeof({i}), -{}", k.abs()),
            15 => format!("SELECT a.id, p.z FROM a JOIN p ON p.x = a.id WHERE a.id = {i} ORDER BY 2"),
            16 => format!("SELECT id, n FROM a WHERE id > {i} ORDER BY {} LIMIT 3", rng.random_range(1..4)),
            17 => format!("SELECT id FROM a WHERE d = '{d}' AND id = {i}"),
            18 => format!("SELECT id FROM a WHERE id = {i} AND d > '{d}' - interval '{j} day'"),
            19 => format!("SELECT count(*), {i} FROM a WHERE name = 'b' || '{w}' GROUP BY {}", rng.random_range(1..3)),
            20 => format!("SELECT id, {i} / {j} FROM a WHERE id = {k}"),
            21 => format!("SELECT code::varchar(2), n * {i}.25 FROM a WHERE id = {j} AND name LIKE '{w}%'"),
            22 => format!("SELECT CASE WHEN id > {i} THEN '{w}' ELSE '{v}' END FROM a WHERE id = {j};"),
            23 => format!("SELECT id, -{}::int, - {} FROM a WHERE id = {k}", i.abs(), j.abs()),
            24 => format!("SELECT coalesce(name, '{w}'), current_query() FROM a WHERE id = {i} OR id = {j}"),
            25 => format!("SELECT '{}'::interval hour", if k > 9 { "1:2" } else { "-2" }),
            26 => format!("UPDATE a SET h = '{}' WHERE id = {i}", if k > 9 { "1:30" } else { "90" }),
            _ => format!("SELECT id FROM a WHERE (id, name) >= ({i}, '{w}') AND id < {j} ORDER BY id DESC LIMIT 2"),
        }
    }

    #[tokio::test]
    async fn recalled_statements_do_what_others_do() {
        let mut rng = StdRng::seed_from_u64(7);
        let (_plain, mut plain) = database(TABLES).await;
        let (_other, mut other) = database(TABLES).await;
        let mut recalled = 0;
        for number in 0..4_000 {
            let text = statement(&mut rng);
            let (expected, _) = run(&mut plain, &text, false).await;
            let (found, again) = run(&mut other, &text, true).await;
            assert_eq!(found, expected, "statement {number}, recalled {again}: {text}");
            recalled += usize::from(again);
        }
        assert!(recalled > 1_900, "{recalled} of 4,000");
    }

    /// Runs it until it is recalled, then once more with another value.
    async fn recalls(session: &mut Session, text: &str) -> bool {
        for _ in 0..2 {
            run(session, text, true).await;
        }
        run(session, text, true).await.1
    }

    #[tokio::test]
    async fn what_takes_little_is_recalled() {
        let (_database, mut session) = database(TABLES).await;
        for text in [
            "SELECT * FROM a WHERE id = 5",
            "SELECT id FROM a WHERE id >= -5 AND id < -5 + 100",
            "SELECT id FROM a WHERE name = 'c' || 5",
            "INSERT INTO p (x, y, z) VALUES (1, 'a', -5) ON CONFLICT DO NOTHING",
            "UPDATE a SET big = big + -4999 WHERE id = 5",
            "DELETE FROM a WHERE id = 77",
            "SELECT a.id FROM p JOIN a ON a.id = p.z WHERE p.x = 1 AND p.y = 'a'",
        ] {
            assert!(recalls(&mut session, text).await, "{text}");
        }
        for text in [
            "SELECT count(*) FROM a",
            "SELECT id FROM a ORDER BY 1",
            "BEGIN",
            "SELECT 1; SELECT 2",
            "SELECT id FROM a WHERE id = 5 -- five",
            "CREATE TABLE IF NOT EXISTS a (id int)",
        ] {
            assert!(!recalls(&mut session, text).await, "{text}");
        }
    }

    #[tokio::test]
    async fn what_has_changed_is_noticed() {
        let (_database, mut session) = database(TABLES).await;
        let text = "SELECT * FROM p WHERE x = 1 AND y = 'a'";
        run(&mut session, "INSERT INTO p VALUES (1, 'a', 3)", true).await;
        assert!(recalls(&mut session, text).await);
        for (change, recalled, expected) in [
            ("SELECT 1", true, r#"["x Int4", "y Text", "z Int4"]: 1,a,3"#),
            ("ALTER TABLE p ADD COLUMN w int DEFAULT 9", false, r#"["x Int4", "y Text", "z Int4", "w Int4"]: 1,a,3,9"#),
            ("SELECT 1", true, r#"["x Int4", "y Text", "z Int4", "w Int4"]: 1,a,3,9"#),
            ("UPDATE p SET z = 4", true, r#"["x Int4", "y Text", "z Int4", "w Int4"]: 1,a,4,9"#),
            ("BEGIN; SELECT nosuch", false, "25P02"),
            ("ROLLBACK", true, r#"["x Int4", "y Text", "z Int4", "w Int4"]: 1,a,4,9"#),
            ("SET search_path = pg_catalog", false, "42P01"),
            ("SET search_path = public", false, r#"["x Int4", "y Text", "z Int4", "w Int4"]: 1,a,4,9"#),
            ("DROP TABLE p", false, "42P01"),
        ] {
            run(&mut session, change, true).await;
            let (found, again) = run(&mut session, text, true).await;
            assert_eq!(again, recalled, "after {change}: {found}");
            assert!(found.contains(expected), "after {change}: {found}");
        }
        assert_eq!(run(&mut session, text, true).await.0, run(&mut session, text, false).await.0, "the place of the error");
    }

    #[tokio::test]
    async fn few_are_kept() {
        let (_database, mut session) = database(TABLES).await;
        for round in 0..3 {
            for n in 0..100 {
                run(&mut session, &format!("SELECT id AS c{n} FROM a WHERE id = {round}"), true).await;
                assert!(session.statement_cache.kept.len() <= KEPT);
            }
        }
        assert!(!session.statement_cache.kept.is_empty());
    }
}

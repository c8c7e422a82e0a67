//! From a statement's relation to a [`CompiledRead`].

use super::search::TextRead;
use super::{AccessMethod, Comparing, CompiledRead, Range, Test, Values};
use crate::plan::compiled::scalar::{Computed, Projection, ScalarSource, comparable};
use crate::plan::compiled::simple_scan::{Base, Columns, SimpleScan, conjuncts, order_of, schema_of, simple_scan};
use parking_lot::Mutex;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use stoa_encoding::keyside::{Direction, NullOrder, PartKind};
use stoa_exec::fulltext::TextIndexes;
use stoa_exec::fulltext::read::RowOrder;
use stoa_exec::fulltext::scan::SCORE;
use stoa_exec::settings::Settings;
use stoa_pg::{EvalContext, PgResult, PgType, SqlType};
use stoa_sql::typed::raises::in_turn;
use stoa_sql::typed::tree::{ColId, Expr, ExprKind, Rel, SortKey, TableScan};
use stoa_sql::typed::walk::columns_of;
use stoa_table::access::{Comparison, KeyShape, Preferences};
use stoa_table::catalog::{ColumnId, IndexDescriptor, IndexKey, IndexState, TableDescriptor};
use stoa_table::row::key::KeyPartCodec;
use stoa_table::row::table::StoredColumn;
use stoa_table::row::{ColumnSource, IndexCodec, RowCodec};

/// A filter that asks something of a column that keys can answer.
struct Bound {
    /// Of alternatives the first column that all of them compare.
    column: ColumnId,
    test: Test,
    /// Its position among the filters.
    filter: usize,
}

impl Bound {
    /// The one value that the column has.
    fn equal(&self) -> Option<&ScalarSource> {
        match &self.test {
            Test::Compare(Comparison::Equal, value) => Some(value),
            _ => None,
        }
    }
}

impl CompiledRead {
    /// Compiles a relation, if it is such a read. `used` are the columns that anything in the statement uses; `columns` are those
    /// to be given in this order, otherwise all of the relation that are used. With `text` it may be a search.
    ///
    /// # Errors
    /// What the compilation of expressions raises.
    pub(in crate::plan) fn compile(
        settings: &Settings,
        text: Option<&TextIndexes>,
        used: &HashSet<ColId>,
        rel: &Rel,
        columns: Option<&[ColId]>,
    ) -> PgResult<Option<Self>> {
        let Some(simple) = simple_scan(rel) else { return Ok(None) };
        let Base::Scan(scan) = simple.base else { return Ok(None) };
        let preferences = Preferences::new(|name| settings.raw(name), &scan.hints);
        if preferences.force_index || !preferences.key_ranges || !scan.hints.is_empty() || scan.table.key.is_empty() {
            return Ok(None);
        }
        // The context of one execution must not be kept: it holds the transaction.
        let eval = EvalContext { settings: Arc::clone(&settings.value), ..EvalContext::default() };
        let (mut offset, mut limit) = (None, None);
        if let Some((skip, fetch)) = simple.limit {
            for (e, place) in [(skip, &mut offset), (fetch, &mut limit)] {
                if let Some(e) = e {
                    let Some(source) = ScalarSource::of(&eval, e)? else { return Ok(None) };
                    *place = Some(source);
                }
            }
        }
        let codec = RowCodec::of(&scan.table)?;
        let way = match text.filter(|_| preferences == Preferences::default()) {
            Some(text) => AccessMethod::search(&eval, text, scan, &simple, &codec)?,
            None => None,
        };
        let way = match way {
            None => AccessMethod::of(scan, &simple, &codec, bounds(&eval, scan, &codec, &simple.filters)?, &preferences)?,
            searched => searched,
        };
        let Some((way, answered)) = way else { return Ok(None) };
        // One row is a matter of a limit only if that is computed.
        let way_limits = !matches!(way, AccessMethod::Row(_));
        if !way_limits && !limits_nothing(&simple) {
            return Ok(None);
        }
        if !way_limits {
            limit = None;
        }
        let mut rest: Vec<&Expr> = simple.filters.iter().enumerate().filter(|(at, _)| !answered.contains(at)).map(|(_, e)| *e).collect();
        in_turn(&eval, &mut rest);

        // What only the key answers need not be read.
        let mut needed: HashSet<ColId> = match simple.projections.first() {
            None => match columns {
                Some(columns) => columns.iter().copied().collect(),
                None => used.clone(),
            },
            Some(exprs) => {
                let mut needed = Vec::new();
                exprs.iter().filter(|(id, _)| used.contains(id)).for_each(|(_, e)| columns_of(e, &mut needed));
                needed.into_iter().collect()
            }
        };
        for e in &rest {
            let mut more = Vec::new();
            columns_of(e, &mut more);
            needed.extend(more);
        }
        let mut read = Vec::new();
        let mut given = Columns::new();
        for (id, col) in scan.columns.iter().filter(|(_, col)| needed.contains(col)) {
            let ty = match scan.table.column(*id) {
                Some(column) => column.ty.clone(),
                // Only a search has it.
                None if *id == SCORE && matches!(way, AccessMethod::Search(_)) => SqlType::new(PgType::Float4),
                None => return Ok(None),
            };
            read.push(*id);
            given.push((*col, ty));
        }
        let read_schema = schema_of(&given);
        let mut conditions = Vec::with_capacity(rest.len());
        for e in rest {
            let Some(condition) = Computed::condition(&eval, &given, e)? else { return Ok(None) };
            conditions.push(condition);
        }
        let mut projections = Vec::with_capacity(simple.projections.len());
        for exprs in &simple.projections {
            let wanted: Vec<&(ColId, Expr)> = exprs.iter().filter(|(id, _)| used.contains(id)).collect();
            let Some((projection, out)) = Projection::compile(&eval, &given, &wanted)? else { return Ok(None) };
            given = out;
            projections.push(projection);
        }
        let Some(order) = order_of(&given, columns) else { return Ok(None) };
        let way = way.covering(&read);
        Ok(Some(Self {
            table: Arc::clone(&scan.table),
            codec,
            way,
            read: read.into(),
            read_schema,
            conditions,
            projections,
            given,
            order,
            offset,
            limit,
            decoder: Mutex::default(),
            entries: Mutex::default(),
        }))
    }
}

/// Whether a limit, if there is one, lets one row pass.
fn limits_nothing(simple: &SimpleScan<'_>) -> bool {
    use datafusion::common::ScalarValue;
    match simple.limit {
        None => true,
        Some((Some(_), _)) => false,
        Some((None, fetch)) => fetch.is_none_or(|f| matches!(f.kind, ExprKind::Const(ScalarValue::Int64(Some(1..) | None)))),
    }
}

impl AccessMethod {
    /// A search, if a full text index answers one of the filters, in the order that is asked for.
    fn search(
        eval: &EvalContext,
        text: &TextIndexes,
        scan: &TableScan,
        simple: &SimpleScan<'_>,
        codec: &RowCodec,
    ) -> PgResult<Option<(Self, Vec<usize>)>> {
        let order = match simple.sort {
            [] => RowOrder::Any,
            [key] if key.descending && sorted_column(scan, simple, key) == Some(SCORE) => RowOrder::Score,
            [key, rest @ ..] if key.descending && sorted_column(scan, simple, key) == Some(SCORE) => {
                let parts = if codec.key.salt.is_none() { codec.key.parts.as_slice() } else { &[] };
                let is_part = |(key, part): (&SortKey, &KeyPartCodec)| {
                    sorted_column(scan, simple, key) == Some(part.column)
                        && key.descending == (part.part.direction == Direction::Desc)
                        && part.part.nulls.is_none_or(|nulls| (nulls == NullOrder::First) == key.nulls_first)
                };
                if rest.len() > parts.len() || !rest.iter().zip(parts).all(is_part) {
                    return Ok(None);
                }
                RowOrder::ScoreAndKey
            }
            _ => return Ok(None),
        };
        let found = TextRead::of(eval, text, scan, &simple.filters, order)?;
        Ok(found.map(|(search, answered)| (AccessMethod::Search(Box::new(search)), answered)))
    }

    /// The way to the rows, if it does not depend on sizes, with the filters that it answers.
    fn of(
        scan: &TableScan,
        simple: &SimpleScan<'_>,
        codec: &Arc<RowCodec>,
        bounds: Vec<Bound>,
        preferences: &Preferences,
    ) -> PgResult<Option<(Self, Vec<usize>)>> {
        let ordered_by_columns = simple.sort.iter().all(|k| matches!(k.expr.kind, ExprKind::Column(_)));
        if let Some((key, answered)) = whole_key(codec, &bounds) {
            return Ok(ordered_by_columns.then_some((AccessMethod::Row(key), answered)));
        }
        if *preferences != Preferences::default() {
            return Ok(None);
        }
        if bounds.iter().all(|b| matches!(b.test, Test::NotNull)) {
            let first = Range::first(scan, simple, codec, &bounds)?;
            return Ok(first.map(|(range, answered)| (AccessMethod::Range(Box::new(range)), answered)));
        }
        let Some(range) = Range::of(&scan.table, codec, bounds)? else { return Ok(None) };
        let (mut range, answered) = range;
        if !simple.sort.is_empty() && !range.gives_order(scan, simple) {
            return Ok(None);
        }
        Ok(Some((AccessMethod::Range(Box::new(range)), answered)))
    }

    /// An index that has all columns needs no rows.
    fn covering(mut self, read: &[ColumnId]) -> Self {
        if let AccessMethod::Range(range) = &mut self
            && let ColumnSource::Index(index) = &range.source
        {
            range.looks_up = !read.iter().all(|id| index.covers(*id));
        }
        self
    }
}

/// The value of each part of the row key, if there is one for each.
fn whole_key(codec: &RowCodec, bounds: &[Bound]) -> Option<(Vec<ScalarSource>, Vec<usize>)> {
    let mut key = Vec::with_capacity(codec.key.parts.len());
    let mut answered = Vec::with_capacity(codec.key.parts.len());
    for part in &codec.key.parts {
        // Values that are computed may fail where no row needs them.
        let equal = |b: &Bound| {
            let value = b.equal().filter(|value| !matches!(value, ScalarSource::Call(_) | ScalarSource::Computed(_)))?;
            (b.column == part.source).then(|| (value.clone(), b.filter))
        };
        let (value, filter) = bounds.iter().find_map(equal)?;
        key.push(value);
        answered.push(filter);
    }
    Some((key, answered))
}

impl Range {
    /// The only key that the bounds narrow, or that of a unique index which they match whole.
    fn of(table: &TableDescriptor, codec: &Arc<RowCodec>, bounds: Vec<Bound>) -> PgResult<Option<(Self, Vec<usize>)>> {
        let expires = table.values_end();
        let mut found: Option<(ColumnSource, KeyShape, u64, bool)> = None;
        let mut narrowing = 0;
        let key = KeyShape::of_table(&codec.key);
        if narrows(&key, &bounds) {
            narrowing += 1;
            found = Some((ColumnSource::Table(Arc::clone(codec)), key, 0, false));
        }
        for index in table.indexes.iter().filter(|i| i.state == IndexState::Readable && i.method == "btree") {
            let columns = index.parts.iter().all(|p| matches!(p.key, IndexKey::Column(_)));
            let index_codec = IndexCodec::new(table, index)?;
            let key = KeyShape::of_index(&index_codec);
            if !narrows(&key, &bounds) {
                continue;
            }
            // What else must hold for it is the planner's business.
            if expires || !columns || index.predicate.is_some() {
                return Ok(None);
            }
            let unique = key.unique && key.parts.iter().all(|p| is_equal(p, &bounds));
            let this = (ColumnSource::Index(Arc::new(index_codec)), key, index.readable_from, unique);
            if unique {
                (found, narrowing) = (Some(this), 1);
                break;
            }
            narrowing += 1;
            found = Some(this);
        }
        let Some((source, key, readable_from, unique)) = found.filter(|_| narrowing == 1) else { return Ok(None) };
        let answering: Vec<&Bound> = answering(&key, &bounds);
        let answered = answering.iter().map(|b| b.filter).collect();
        Ok(Some((Self::new(key, source, &answering, unique, readable_from), answered)))
    }

    fn new(key: KeyShape, source: ColumnSource, bounds: &[&Bound], unique: bool, readable_from: u64) -> Self {
        let equals = if key.salt.is_none() { equal_prefix(&key, bounds) } else { None };
        let bounds = bounds.iter().map(|b| (b.column, b.test.clone())).collect();
        let looks_up = matches!(source, ColumnSource::Index(_));
        Self { key, source, bounds, equals, looks_up, unique, readable_from, ordered: false, reverse: false, misses: AtomicU32::new(0) }
    }

    /// The first or the last rows by the key or an index that has the statement's order, where nothing but that narrows them down.
    fn first(scan: &TableScan, simple: &SimpleScan<'_>, codec: &Arc<RowCodec>, bounds: &[Bound]) -> PgResult<Option<(Self, Vec<usize>)>> {
        let table = &scan.table;
        if !matches!(simple.limit, Some((_, Some(_)))) {
            return Ok(None);
        }
        let mut sources = vec![(ColumnSource::Table(Arc::clone(codec)), KeyShape::of_table(&codec.key), 0)];
        let plain = |i: &&IndexDescriptor| i.parts.iter().all(|p| matches!(p.key, IndexKey::Column(_))) && i.predicate.is_none();
        let expires = table.values_end();
        for index in table.indexes.iter().filter(|i| !expires && i.state == IndexState::Readable && i.method == "btree").filter(plain) {
            let codec = IndexCodec::new(table, index)?;
            let key = KeyShape::of_index(&codec);
            sources.push((ColumnSource::Index(Arc::new(codec)), key, index.readable_from));
        }
        for (source, key, readable_from) in sources {
            let first = key.parts.first().map(|part| part.column);
            let of_it: Vec<&Bound> = bounds.iter().filter(|b| Some(b.column) == first).collect();
            let answered: Vec<usize> = of_it.iter().map(|b| b.filter).collect();
            let mut range = Self::new(key, source, &of_it, false, readable_from);
            if answered.len() == simple.filters.len() && range.gives_order(scan, simple) {
                return Ok(Some((range, answered)));
            }
        }
        Ok(None)
    }

    /// Turns the range so that its rows come in the statement's order, if it can.
    fn gives_order(&mut self, scan: &TableScan, simple: &SimpleScan<'_>) -> bool {
        if self.unique {
            return simple.sort.iter().all(|k| matches!(k.expr.kind, ExprKind::Column(_)));
        }
        let mut parts = self.key.parts.clone();
        if let ColumnSource::Index(index) = &self.source
            && !index.unique
            && index.row_key.salt.is_none()
        {
            parts.extend(index.row_key.parts.iter().cloned());
        }
        let is_constant =
            |column: ColumnId| self.bounds.iter().any(|(c, test)| *c == column && matches!(test, Test::Compare(Comparison::Equal, _)));
        let narrowed = |column: ColumnId| self.bounds.iter().any(|(c, _)| *c == column);
        let mut parts = parts.iter().filter(|p| !is_constant(p.source));
        let mut reverse = None;
        for key in simple.sort {
            let Some(column) = sorted_column(scan, simple, key) else { return false };
            if is_constant(column) {
                continue;
            }
            let Some(part) = parts.next().filter(|p| p.column == column) else { return false };
            let backwards = (part.part.direction == Direction::Desc) != key.descending;
            let nulls_first = part.part.nulls.map(|nulls| (nulls == NullOrder::First) != backwards);
            if nulls_first.is_some_and(|first| first != key.nulls_first) && !narrowed(column) {
                return false;
            }
            if reverse.is_some_and(|reverse| reverse != backwards) {
                return false;
            }
            reverse = Some(backwards);
        }
        self.ordered = reverse.is_some();
        self.reverse = reverse.unwrap_or(false);
        true
    }
}

/// The table's column by which a key sorts, if it is one.
fn sorted_column(scan: &TableScan, simple: &SimpleScan<'_>, key: &SortKey) -> Option<ColumnId> {
    let ExprKind::Column(mut column) = key.expr.kind else { return None };
    for exprs in simple.projections.iter().rev() {
        let (_, from) = exprs.iter().find(|(id, _)| *id == column)?;
        let ExprKind::Column(below) = from.kind else { return None };
        column = below;
    }
    scan.columns.iter().find(|(_, col)| *col == column).map(|(id, _)| *id)
}

/// The values of a key's leading parts, if the bounds are one value for each column of these and nothing else.
fn equal_prefix(key: &KeyShape, bounds: &[&Bound]) -> Option<Vec<ScalarSource>> {
    let mut out = Vec::with_capacity(bounds.len());
    let mut used: Vec<ColumnId> = Vec::with_capacity(bounds.len());
    for part in &key.parts {
        let mut own = bounds.iter().filter(|b| b.column == part.source);
        let Some(bound) = own.next() else { break };
        // The bytes of what ends a key may be the beginning of another's.
        if own.next().is_some() || part.part.kind == PartKind::Rest {
            return None;
        }
        out.push(bound.equal()?.clone());
        if !used.contains(&bound.column) {
            used.push(bound.column);
        }
    }
    (used.len() == bounds.len()).then_some(out)
}

fn is_equal(part: &KeyPartCodec, bounds: &[Bound]) -> bool {
    bounds.iter().any(|b| b.column == part.source && b.equal().is_some())
}

/// Whether a bound narrows a part: one that is computed of its column by single values alone.
fn narrows_part(part: &KeyPartCodec, bound: &Bound) -> bool {
    bound.column == part.source
        && match bound.test {
            Test::NotNull => false,
            Test::Compare(Comparison::Equal, _) | Test::In(_) => true,
            _ => !part.is_derived(),
        }
}

fn narrows(key: &KeyShape, bounds: &[Bound]) -> bool {
    key.parts.first().is_some_and(|first| bounds.iter().any(|b| narrows_part(first, b)))
}

/// The bounds that the key answers: one value for each of its leading parts, then at most an interval of the next.
fn answering<'a>(key: &KeyShape, bounds: &'a [Bound]) -> Vec<&'a Bound> {
    let mut out: Vec<&Bound> = Vec::new();
    for part in &key.parts {
        let own = || bounds.iter().filter(|b| b.column == part.source);
        if !out.iter().any(|b| b.column == part.source) {
            out.extend(own());
        }
        if !own().any(|b| matches!(b.test, Test::Compare(Comparison::Equal, _) | Test::In(_))) {
            break;
        }
    }
    out
}

/// What filters compare with the columns of one table.
struct Filters<'a> {
    eval: &'a EvalContext,
    scan: &'a TableScan,
    codec: &'a RowCodec,
}

impl Filters<'_> {
    fn column(&self, e: &Expr) -> Option<(ColumnId, &StoredColumn)> {
        let column = column_of(e)?;
        let (id, _) = self.scan.columns.iter().find(|(_, col)| *col == column)?;
        self.codec.column(*id).map(|own| (*id, own))
    }

    /// A column beside a value, in the order of keys.
    fn comparing(&self, e: &Expr) -> PgResult<Option<Comparing>> {
        let ExprKind::Oper { oper, args } = &e.kind else { return Ok(None) };
        let [left, right] = args.as_slice() else { return Ok(None) };
        let op = match oper.0.name {
            "=" => Comparison::Equal,
            "<" => Comparison::Less,
            "<=" => Comparison::LessEqual,
            ">" => Comparison::Greater,
            ">=" => Comparison::GreaterEqual,
            _ => return Ok(None),
        };
        let ((column, own), op, value) = match (self.column(left), self.column(right)) {
            (Some(column), None) => (column, op, right),
            (None, Some(column)) => (column, op.flipped(), left),
            _ => return Ok(None),
        };
        if !comparable(&own.ty, &value.ty) {
            return Ok(None);
        }
        Ok(ScalarSource::of(self.eval, value)?.map(|value| Comparing { column, op, value }))
    }

    /// Conjunctions of comparisons, and a column that all of them compare. `None` if there is anything else among them: then the key
    /// could not answer the whole.
    fn alternatives(&self, parts: &[Expr]) -> PgResult<Option<(ColumnId, Vec<Vec<Comparing>>)>> {
        let mut out = Vec::with_capacity(parts.len());
        for part in parts {
            let mut all = Vec::new();
            conjuncts(part, &mut all);
            match all.into_iter().map(|e| self.comparing(e)).collect::<PgResult<Option<Vec<_>>>>()? {
                Some(all) => out.push(all),
                None => return Ok(None),
            }
        }
        let in_all = |column: ColumnId| out.iter().all(|all| all.iter().any(|one| one.column == column));
        let column = out.first().and_then(|all| all.iter().map(|one| one.column).find(|column| in_all(*column)));
        Ok(column.map(|column| (column, out)))
    }
}

/// The filters that ask something of columns, in the order of keys.
fn bounds(eval: &EvalContext, scan: &TableScan, codec: &RowCodec, filters: &[&Expr]) -> PgResult<Vec<Bound>> {
    let asked = Filters { eval, scan, codec };
    let own = |e: &Expr| asked.column(e);
    let mut out = Vec::new();
    for (at, filter) in filters.iter().enumerate() {
        match &filter.kind {
            ExprKind::Oper { .. } => {
                let comparing = asked.comparing(filter)?;
                out.extend(comparing.map(|c| Bound { column: c.column, test: Test::Compare(c.op, c.value), filter: at }));
            }
            ExprKind::Or(parts) => {
                let alternatives = asked.alternatives(parts)?;
                out.extend(alternatives.map(|(column, any)| Bound { column, test: Test::Any(any), filter: at }));
            }
            ExprKind::AnyArray { left, oper, array, all: false } if oper.0.name == "=" => {
                let Some((column, own)) = own(left) else { continue };
                let sources = match &array.kind {
                    ExprKind::Array(items) if items.iter().all(|item| comparable(&own.ty, &item.ty)) => {
                        items.iter().map(|item| ScalarSource::of(eval, item)).collect::<PgResult<Option<Vec<_>>>>()?.map(Values::Each)
                    }
                    ExprKind::Param(_) | ExprKind::Const(_) if element(&array.ty).is_some_and(|ty| comparable(&own.ty, &ty)) => {
                        ScalarSource::of(eval, array)?.map(Values::Array)
                    }
                    _ => None,
                };
                out.extend(sources.map(|values| Bound { column, test: Test::In(values), filter: at }));
            }
            ExprKind::IsNotNull(e) => out.extend(own(e).map(|(column, _)| Bound { column, test: Test::NotNull, filter: at })),
            _ => {}
        }
    }
    Ok(out)
}

/// The type of an array's elements.
fn element(array: &SqlType) -> Option<SqlType> {
    array.ty.element().map(SqlType::new)
}

/// The column, where a cast does not change how it compares.
fn column_of(e: &Expr) -> Option<ColId> {
    use stoa_pg::types::PgType;
    match &e.kind {
        ExprKind::Column(column) => Some(*column),
        ExprKind::Cast { arg, .. } if arg.ty.ty == PgType::Varchar && e.ty.ty == PgType::Text && e.ty.typmod < 0 => column_of(arg),
        _ => e.relabelled().and_then(column_of),
    }
}

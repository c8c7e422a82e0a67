//! What a statement wants of one table, and the nodes that can give it.
//!
//! The table provider chooses a path when it is asked for a scan. What it was asked for stays with the node, so that a rule that
//! knows more of the plan (a join's other side, a limit above a sort) can choose another way to answer the same.

use super::index_lookup::IndexLookupExec;
use super::key_range_scan::KeyRangeScanExec;
use super::key_set::KeySetExec;
use super::point_get::PointGetExec;
use super::scan_output::{Estimate, ScanOutput, sort_options};
use super::source::SourceTable;
use crate::scan_table::ScanTable;
use arrow::compute::SortOptions;
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::physical_expr::expressions::{Column, IsNotNullExpr};
use datafusion::physical_expr::utils::{collect_columns, reassign_expr_columns};
use datafusion::physical_expr::{PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::{ExecutionPlan, SortOrderPushdownResult, replace_children_if_necessary};
use std::fmt;
use std::sync::Arc;
use stoa_pg::{PgResult, SqlType};
use stoa_table::access::combine::{Combination, Sources, intersections, unions};
use stoa_table::access::{
    AccessPath, KeyShape, PathKind, PathOptions, Predicate, Preferences, Probe, ProbePart, Usable, Ways, cell_tests, cheapest,
    first_of_each, scope, usable, ways,
};
use stoa_table::catalog::{ColumnId, IndexDescriptor, IndexKey};
use stoa_table::row::ColumnSource;
use stoa_table::statistics::TableStatistics;
use stoa_table::{KeyRange, Region, TableId};

/// Rows below which a scan is not cut into partitions.
const PARALLEL_ROWS: f64 = 20_000.0;
/// Ranges whose sizes the store is asked for before a path is chosen.
const SIZED_RANGES: usize = 64;
/// Bytes of a range that is read as it is, without a look at what else the table holds.
const SHORT_BYTES: u64 = 256 << 10;
/// The same of a range of an index that leads to rows.
const SHORT_LOOKUP_BYTES: u64 = 8 << 10;
/// Bytes from which a scan does not keep what it reads in the cache.
const UNCACHED_BYTES: u64 = 64 << 20;
/// What a row costs whose columns earlier scans have left, beside one that is read.
const KEPT_COST: f64 = 0.1;
/// What a row costs that lies in a block of its own, beside one that does not.
const SCATTERED: f64 = 3.2;
/// The share of the rows that are taken to be of values that have no row which passes the filters.
const VAIN: f64 = 0.1;
/// The share of the rows that pass from which it costs more to try cells than to fetch the rows that do not.
const MOST_TESTED: f64 = 0.2;
/// Tests of cells that a scan makes: they are sent along with it, and each row goes through all of them.
const MOST_TESTS: usize = 16;
/// Rows of a table from which a narrow index is read instead of it.
const NARROW_ROWS: f64 = 2000.0;

/// See the module.
#[derive(Clone)]
pub struct ScanRequest {
    pub scan: SourceTable,
    /// The columns that the scan can give, with the names of their fields.
    pub columns: Arc<[(ColumnId, String, SqlType)]>,
    /// Of those.
    pub schema: SchemaRef,
    /// Positions of what is given.
    pub projected: Vec<usize>,
    /// Over the schema; all must be true.
    pub filters: Vec<Arc<dyn PhysicalExpr>>,
    /// What the filters say, by position.
    pub predicates: Vec<Predicate>,
    /// By index: what the predicate of a partial index says.
    pub index_predicates: Arc<[Option<Predicate>]>,
    pub preferences: Preferences,
    pub statistics: Option<Arc<TableStatistics>>,
    /// Columns that are given or filtered on.
    pub needed: Vec<ColumnId>,
    /// Rows of the table, and their bytes.
    pub table_rows: f64,
    pub table_bytes: u64,
    /// Parallel pieces of a statement.
    pub parallelism: usize,
    /// Whether nothing is planned around the scan, so that sizes need not be known well.
    pub alone: bool,
    /// What it costs to go on at another place, in rows read one behind the other.
    pub seek_cost: f64,
}

/// What is asked for: what is known of the table, and since when, is another matter.
impl fmt::Debug for ScanRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.projected.iter().filter_map(|at| self.columns.get(*at)).map(|(id, ..)| *id).collect::<Vec<_>>();
        f.debug_struct("ScanRequest")
            .field("scan", &self.scan)
            .field("columns", &columns)
            .field("predicates", &self.predicates)
            .finish_non_exhaustive()
    }
}

/// What the store says of the paths of a scan.
struct PathExtents {
    regions: Vec<(TableId, Vec<Region>)>,
    /// By path: bytes and rows of its ranges, where the store can tell.
    sizes: Vec<Option<(u64, f64)>>,
}

impl PathExtents {
    fn regions_of(&self, storage: TableId) -> &[Region] {
        self.regions.iter().find(|(own, _)| *own == storage).map_or(&[], |(_, regions)| regions)
    }
}

/// How a scan is answered.
#[derive(Clone, Debug)]
pub enum Choice {
    Path(AccessPath),
    Set(Combination),
}

impl Choice {
    /// The filters, of so many, that the rows must still pass.
    #[must_use]
    pub fn residual(&self, filters: usize) -> Vec<usize> {
        match self {
            Choice::Path(path) => path.scope.residual.clone(),
            Choice::Set(_) => (0..filters).collect(),
        }
    }

    /// Whether nothing is read, or rows of single keys.
    #[must_use]
    pub fn is_single(&self) -> bool {
        matches!(self, Choice::Path(path) if path.scope.points || path.scope.ranges.is_empty())
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self, Choice::Path(path) if path.scope.ranges.is_empty())
    }

    /// The keys of the rows that it reads, for those that are found otherwise to be among, and what it costs to have them.
    #[must_use]
    pub fn as_keys(&self, sizes: &Sizes) -> Option<(AmongKeys, f64)> {
        match self {
            Choice::Path(path) if path.skip.is_some() || !path.is_narrowed() => None,
            Choice::Path(path) if path.kind.is_table() => Some((AmongKeys::Ranges(path.scope.ranges.clone()), 0.0)),
            Choice::Path(path) => {
                let paths = Combination { any: true, branches: vec![path.clone()], rows: sizes.rows, cost: sizes.rows };
                Some((AmongKeys::Paths(Arc::new(paths)), sizes.rows))
            }
            Choice::Set(set) => Some((AmongKeys::Paths(Arc::new(set.clone())), set.cost)),
        }
    }

    #[must_use]
    pub fn cost(&self, rows: f64) -> f64 {
        match self {
            Choice::Path(path) => path.cost(rows),
            Choice::Set(set) => set.cost,
        }
    }
}

/// What is expected of a path.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    pub rows: f64,
    pub bytes: u64,
    pub regions: Vec<Region>,
    /// Indexes that were not chosen, and why.
    pub rejected: Vec<(String, String)>,
}

/// What says of keys that are found, before their rows are read, that other filters do not pass them.
#[derive(Clone, Debug)]
pub struct Among {
    pub keys: AmongKeys,
    /// The share of the table's rows that is left, as far as statistics tell.
    pub share: f64,
}

#[derive(Clone, Debug)]
pub enum AmongKeys {
    /// They lie in none of these ranges.
    Ranges(Vec<KeyRange>),
    /// Indexes do not lead to them.
    Paths(Arc<Combination>),
}

/// A path that is followed for its order.
#[derive(Clone, Debug)]
pub struct Walk {
    pub path: Arc<AccessPath>,
    pub reverse: bool,
}

impl ScanRequest {
    /// What the predicate of a partial index says.
    fn index_predicate(&self, at: usize) -> Option<Predicate> {
        self.index_predicates.get(at).cloned().flatten()
    }

    /// How many different values a column has, as far as that is known.
    fn distinct(&self, column: ColumnId) -> Option<f64> {
        let known = self.statistics.as_ref().and_then(|s| Some(s.column_values(column)?.distinct_of(s.rows)));
        known.or((self.preferences.force_index || self.preferences.names_any()).then_some(10.0))
    }

    /// All ways by one path for some filters.
    fn ways(&self, filters: &[Predicate], simple: bool) -> PgResult<Ways> {
        let understood = |at: usize| self.index_predicate(at);
        let distinct = |column: ColumnId| self.distinct(column);
        let options =
            PathOptions { columns: &self.needed, index_predicates: &understood, distinct: if simple { None } else { Some(&distinct) } };
        ways(&self.scan.table, &self.scan.codec, filters, &options, &self.preferences)
    }

    /// Chooses how to read what is read; with it what is expected.
    ///
    /// # Errors
    /// The store failed.
    pub async fn choose(&mut self, read: &ScanTable) -> PgResult<(Choice, Sizes)> {
        let Ways { mut paths, to_keys, mut rejected } = self.ways(&self.predicates, false)?;
        if paths.len() == 1 && paths.first().is_some_and(|p| p.scope.points || p.scope.ranges.is_empty()) {
            let path = paths.swap_remove(0);
            let rows = path.scope.ranges.len() as f64;
            return Ok((Choice::Path(path), Sizes { rows, bytes: 0, regions: Vec::new(), rejected }));
        }
        if self.alone
            && let Some((at, bytes)) = self.short_path(read, &paths).await?
        {
            let rows = (bytes / 64).max(1) as f64;
            return Ok((Choice::Path(paths.swap_remove(at)), Sizes { rows, bytes, regions: Vec::new(), rejected }));
        }
        let extents = self.extents(read, &paths).await?;
        let regions = extents.regions_of(self.scan.codec.storage).to_vec();
        let table_rows: u64 = regions.iter().map(|r| r.approximate_rows).sum();
        let table_bytes: u64 = regions.iter().map(|r| r.approximate_bytes).sum();
        // Nothing is known of a table that was just made: be prepared for a middling one.
        self.table_rows = if table_rows == 0 { 1000.0 } else { table_rows as f64 };
        self.table_bytes = table_bytes;
        let mut sizes = Vec::with_capacity(paths.len());
        for (path, size) in paths.iter_mut().zip(extents.sizes.iter().copied()) {
            match &path.kind {
                PathKind::Index { covered: true, .. } if !path.is_narrowed() => {
                    // Rows of small tables keep their order; it makes no difference to the cost.
                    let small = (table_rows as f64) < NARROW_ROWS;
                    path.width = match size {
                        Some((bytes, _)) if !small && table_bytes > 0 => (1.2 * bytes as f64 / table_bytes as f64).clamp(0.1, 2.0),
                        _ => 2.0,
                    };
                }
                PathKind::Index { covered: false, .. } => path.width = self.scatter(&path.key),
                _ => {}
            }
            let bytes = size.map_or(table_bytes, |(bytes, _)| bytes);
            path.width *= 1.0 - (1.0 - KEPT_COST) * self.kept_share(read, path, bytes);
            sizes.push(size);
        }
        let rows: Vec<f64> = paths.iter().zip(&sizes).map(|(path, size)| self.path_rows(path, size.map(|(_, rows)| rows))).collect();
        let at = cheapest(&paths, &rows, &self.preferences, &self.scan.table);
        let cost = |at: usize| Some(paths.get(at)?.cost(rows.get(at).copied()?));
        let mut least = cost(at).unwrap_or(f64::MAX);
        let last_resort = paths.get(at).is_some_and(|path| {
            let forced = self.preferences.force_index || self.preferences.names_any();
            path.kind.is_table() && (forced || (!self.preferences.full_scan && path.is_full()))
        });
        let set = self.combination(&paths, to_keys)?;
        let set = set.filter(|set| {
            let better = set.cost < least || last_resort;
            if !better {
                rejected.push((self.names(set), format!("costs {:.0}, what was chosen {least:.0}", set.cost)));
            }
            better
        });
        if let Some(set) = &set {
            least = set.cost;
        }
        for (other, path) in paths.iter().enumerate() {
            if let PathKind::Index { at: index, .. } = &path.kind
                && (other != at || set.is_some())
                && let (Some(index), Some(own)) = (self.scan.table.indexes.get(*index), cost(other))
                && (path.is_narrowed() || self.preferences.names(&index.name))
            {
                let how = if path.skip.is_some() { "a skip scan " } else { "" };
                rejected.push((index.name.clone(), format!("{how}costs {own:.0}, what was chosen {least:.0}")));
            }
        }
        if let Some(set) = set {
            let rows = set.rows;
            return Ok((Choice::Set(set), Sizes { rows, bytes: 0, regions: Vec::new(), rejected }));
        }
        let expected = rows.get(at).copied().unwrap_or(self.table_rows);
        let known = sizes.get(at).copied().flatten();
        let path = paths.swap_remove(at);
        let bytes = known.map_or_else(|| (table_bytes as f64 * path.guessed_share()) as u64, |(bytes, _)| bytes);
        let regions = match &path.kind {
            PathKind::Table => regions,
            PathKind::Index { codec, covered: true, .. } => extents.regions_of(codec.storage).to_vec(),
            PathKind::Index { .. } => Vec::new(),
        };
        Ok((Choice::Path(path), Sizes { rows: expected, bytes, regions, rejected }))
    }

    /// How much more a row costs that an index leads to than one next to others in memory: a block is read for each in a large table
    /// whose rows are not in the order of the index.
    #[must_use]
    pub fn scatter(&self, key: &KeyShape) -> f64 {
        let large = (self.table_bytes as f64 / UNCACHED_BYTES as f64).min(1.0);
        let values = key.parts.first().and_then(|part| self.statistics.as_ref()?.column_values(part.column));
        let order = values.and_then(|values| values.correlation).unwrap_or(0.0);
        1.0 + (SCATTERED - 1.0) * large * (1.0 - order * order)
    }

    /// The share of a source's rows of which earlier scans have left the columns that are needed; 0 for a path that does not look there.
    fn kept_share(&self, read: &ScanTable, path: &AccessPath, bytes: u64) -> f64 {
        let Some(columns) = read.columns.as_ref().filter(|_| self.preferences.column_cache.is_some_and(|least| bytes >= least)) else {
            return 0.0;
        };
        let source = match &path.kind {
            PathKind::Table => ColumnSource::Table(Arc::clone(&self.scan.codec)),
            PathKind::Index { codec, covered: true, .. } => ColumnSource::Index(Arc::clone(codec)),
            PathKind::Index { .. } => return 0.0,
        };
        if path.skip.is_some() || path.scope.points {
            return 0.0;
        }
        let Some(keys) = self.needed.iter().map(|id| source.column_key(*id)).collect::<Option<Vec<_>>>() else { return 0.0 };
        let rows = columns.kept_rows(source.storage(), &keys, read.view.timestamp());
        (rows as f64 / self.table_rows).min(1.0)
    }

    /// The same request, were there these indexes as well.
    #[must_use]
    pub fn with_indexes(&self, indexes: &[IndexDescriptor]) -> Self {
        let mut table = (*self.scan.table).clone();
        table.indexes.extend(indexes.iter().cloned());
        let mut out = self.clone();
        out.scan.table = Arc::new(table);
        out
    }

    /// What the cheapest way costs, as far as statistics tell; the store is not asked.
    ///
    /// # Errors
    /// An index cannot be described.
    pub fn least_cost(&self) -> PgResult<f64> {
        let Ways { paths, to_keys, .. } = self.ways(&self.predicates, false)?;
        let single = paths.iter().map(|path| path.cost(self.path_rows(path, None)));
        let set = self.combination(&paths, to_keys)?.map(|set| set.cost);
        Ok(single.chain(set).fold(f64::MAX, f64::min))
    }

    /// The cheapest combination of several paths, or path to keys.
    fn combination(&self, paths: &[AccessPath], to_keys: Vec<AccessPath>) -> PgResult<Option<Combination>> {
        if self.preferences.is_full() || paths.iter().any(|p| p.scope.ranges.is_empty() || p.unique_rows().is_some()) {
            return Ok(None);
        }
        let sources = Sources {
            paths: &|filters| {
                let mut paths = self.ways(filters, true)?.paths;
                let named = |path: &AccessPath| self.index_of(path).is_some_and(|name| self.preferences.names(name));
                paths.retain(|path| !self.preferences.names_any() || named(path));
                Ok(paths)
            },
            rows: &|path, filters| self.rows_of(path, None, filters),
            table_rows: self.known_rows(),
        };
        let mut all: Vec<Combination> = to_keys.into_iter().map(|path| Combination::of_one(path, &sources, &self.predicates)).collect();
        if self.preferences.index_union && self.predicates.iter().any(|p| matches!(p, Predicate::Or(_))) {
            all.extend(unions(&self.predicates, &sources)?);
        }
        if self.preferences.index_intersection && paths.iter().filter(|p| !p.kind.is_table()).count() > 1 {
            all.extend(intersections(&self.predicates, &sources)?);
        }
        Ok(all.into_iter().min_by(|a, b| a.cost.total_cmp(&b.cost)))
    }

    /// The name of a path's index.
    fn index_of(&self, path: &AccessPath) -> Option<&str> {
        match &path.kind {
            PathKind::Table => None,
            PathKind::Index { at, .. } => self.scan.table.indexes.get(*at).map(|i| i.name.as_str()),
        }
    }

    fn names(&self, set: &Combination) -> String {
        let names: Vec<&str> = set.branches.iter().map(|path| self.index_of(path).unwrap_or("primary key")).collect();
        names.join(if set.any { " or " } else { " and " })
    }

    /// The one path that reads a few rows where all others read the table, with the bytes that it reads.
    async fn short_path(&self, read: &ScanTable, paths: &[AccessPath]) -> PgResult<Option<(usize, u64)>> {
        if self.preferences.force_index || !self.preferences.hints.is_empty() {
            return Ok(None);
        }
        let mut narrow = paths.iter().enumerate().filter(|(_, p)| p.scope.narrowed || p.scope.equal_parts > 0);
        let (Some((at, path)), None) = (narrow.next(), narrow.next()) else { return Ok(None) };
        let (storage, most) = match &path.kind {
            PathKind::Table => (self.scan.codec.storage, SHORT_BYTES),
            PathKind::Index { codec, covered: true, .. } => (codec.storage, SHORT_BYTES),
            PathKind::Index { codec, .. } => (codec.storage, SHORT_LOOKUP_BYTES),
        };
        if path.scope.ranges.len() > SIZED_RANGES {
            return Ok(None);
        }
        let bytes = read.view.approximate_bytes(storage, &path.scope.ranges).await?;
        Ok((bytes < most).then_some((at, bytes)))
    }

    /// What the store says of all paths, asked once: the regions of what a path may read as a whole, and the sizes of ranges.
    async fn extents(&self, read: &ScanTable, paths: &[AccessPath]) -> PgResult<PathExtents> {
        let own = self.scan.codec.storage;
        let mut tables = vec![own];
        let mut asked = Vec::new();
        let mut positions = Vec::new();
        for (at, path) in paths.iter().enumerate() {
            let storage = match &path.kind {
                PathKind::Table => own,
                PathKind::Index { codec, covered, .. } => {
                    if *covered && !tables.contains(&codec.storage) {
                        tables.push(codec.storage);
                    }
                    codec.storage
                }
            };
            if path.scope.ranges.len() <= SIZED_RANGES && path.skip.is_none() {
                asked.push((storage, path.scope.ranges.as_slice()));
                positions.push(at);
            }
        }
        let extents = read.view.tables().extents(&tables, &asked).await?;
        let mut sizes = vec![None; paths.len()];
        for (at, (bytes, rows)) in positions.into_iter().zip(extents.sizes) {
            if let Some(size) = sizes.get_mut(at).filter(|_| rows > 0) {
                *size = Some((bytes, rows as f64));
            }
        }
        Ok(PathExtents { regions: tables.into_iter().zip(extents.regions).collect(), sizes })
    }

    /// How many rows a path's ranges are expected to hold: of a match of a unique key one each; what the store says of ranges that
    /// are large enough for it to know; else what the statistics say; else a guess.
    #[must_use]
    pub fn path_rows(&self, path: &AccessPath, known: Option<f64>) -> f64 {
        self.rows_of(path, known, &self.predicates)
    }

    fn rows_of(&self, path: &AccessPath, known: Option<f64>, filters: &[Predicate]) -> f64 {
        /// Rows below which the store's answer is that of a block.
        const RESOLUTION: f64 = 2000.0;
        if let Some(rows) = path.unique_rows() {
            return rows as f64;
        }
        match known {
            Some(rows) if rows >= RESOLUTION => return rows,
            _ => {}
        }
        let estimate = self.statistics.as_ref().filter(|_| path.is_narrowed()).map(|statistics| {
            let used = match &path.skip {
                Some(skip) => skip.parts + 1,
                None => path.scope.equal_parts + usize::from(path.scope.narrowed),
            };
            let share: f64 = path.key.parts.iter().take(used).map(|part| statistics.share_of_column(part, filters)).product();
            (statistics.rows * share).max(1.0)
        });
        match (estimate, known) {
            (Some(estimate), Some(known)) => estimate.min(known.max(1.0) * 4.0),
            (Some(estimate), None) => estimate,
            (None, Some(known)) => known,
            (None, None) => self.table_rows * path.guessed_share(),
        }
    }

    /// Rows of the table: by its statistics, else as the store guesses.
    #[must_use]
    pub fn known_rows(&self) -> f64 {
        self.statistics.as_ref().map_or(self.table_rows, |s| s.rows.max(1.0))
    }

    /// How many rows a probe by values of the joined columns is expected to read.
    #[must_use]
    pub fn rows_per_probe(&self, probe: &Probe, joined: &[ColumnId]) -> f64 {
        if probe.is_unique() {
            return 1.0;
        }
        let Some(statistics) = &self.statistics else {
            return (self.table_rows * 0.02f64.powi(i32::try_from(probe.parts.len()).unwrap_or(1))).max(1.0);
        };
        let mut share = 1.0;
        for (part, codec) in probe.parts.iter().zip(&probe.key.parts) {
            share *= match part {
                ProbePart::Joined(_) if !codec.form.gives_back() => 1.0,
                ProbePart::Joined(at) => joined
                    .get(*at)
                    .and_then(|column| statistics.column_values(*column))
                    .map_or(0.02, |values| (1.0 - values.null_share) / values.distinct_of(statistics.rows)),
                ProbePart::Constant(_) => statistics.share_of_column(codec, &self.predicates),
            };
        }
        (statistics.rows * share).max(0.1)
    }

    /// What the scan is expected to give: the rows that filters leave of those in the ranges, and the values of its columns.
    fn estimate(&self, residual: &[usize], rows: f64) -> Estimate {
        let Some(statistics) = &self.statistics else { return Estimate::default() };
        let residual: Vec<&Predicate> = residual.iter().filter_map(|n| self.predicates.get(*n)).collect();
        let share = statistics.share(&self.scan.table, &residual);
        let columns = self
            .projected
            .iter()
            .filter_map(|n| self.columns.get(*n))
            .map(|(id, _, ty)| statistics.column(*id, ty, rows * share))
            .collect();
        Estimate { share: Some(share), columns }
    }

    /// What is decoded, filtered and given when these filters remain, of an expected number of rows read.
    ///
    /// # Errors
    /// A filter is over other columns.
    pub fn output(&self, residual: &[usize], rows: f64) -> Result<ScanOutput> {
        // Decode what is given, then what only the remaining filters need.
        let mut read = self.projected.clone();
        let filters: Vec<&Arc<dyn PhysicalExpr>> = residual.iter().filter_map(|n| self.filters.get(*n)).collect();
        for filter in &filters {
            let mut columns: Vec<usize> = collect_columns(filter).iter().map(|c| c.index()).collect();
            columns.sort_unstable();
            for position in columns {
                if !read.contains(&position) {
                    read.push(position);
                }
            }
        }
        let read_schema = Arc::new(self.schema.project(&read)?);
        let filters = filters.into_iter().map(|f| reassign_expr_columns(Arc::clone(f), &read_schema)).collect::<Result<Vec<_>>>()?;
        let estimate = self.estimate(residual, rows);
        let (mut pushed, mut tests) = (Vec::new(), Vec::new());
        let worth = self.preferences.cell_tests && estimate.share.is_none_or(|share| share < MOST_TESTED);
        for (predicate, filter) in residual.iter().filter_map(|n| self.predicates.get(*n)).zip(&filters) {
            let own = if worth { cell_tests(&self.scan.codec, predicate) } else { Vec::new() };
            if !own.is_empty() && tests.len() + own.len() <= MOST_TESTS {
                pushed.push(Arc::clone(filter));
                tests.extend(own);
            }
        }
        Ok(ScanOutput {
            read: read.iter().filter_map(|n| self.columns.get(*n)).map(|(id, _, _)| *id).collect(),
            read_schema,
            filters: ScanOutput::ordered(filters),
            projection: (0..self.projected.len()).collect(),
            schema: Arc::new(self.schema.project(&self.projected)?),
            dynamic: Vec::new(),
            pushed: pushed.into(),
            tests: tests.into(),
            fetch: None,
            estimate,
            rejected: Arc::from([]),
            request: None,
        })
    }

    /// The node that reads what was chosen; what filters remain is in `output`. Ordered: each partition is in the order of the key.
    #[must_use]
    pub fn node(&self, choice: Choice, sizes: &Sizes, output: ScanOutput, ordered: bool) -> Arc<dyn ExecutionPlan> {
        let scan = self.scan.clone();
        let path = match choice {
            Choice::Set(set) => return Arc::new(KeySetExec::new(scan, Arc::new(set), output)),
            Choice::Path(path) => Arc::new(path),
        };
        match &path.kind {
            PathKind::Table if path.scope.points => Arc::new(PointGetExec::new(scan, path, output)),
            PathKind::Index { codec, covered: false, .. } => {
                let index = Arc::clone(codec);
                if ordered {
                    let partitions = partitions(&path, sizes, 1);
                    return Arc::new(IndexLookupExec::of_partitions(scan, path, index, partitions, output, sizes.rows));
                }
                Arc::new(IndexLookupExec::new(scan, path, index, output, sizes.rows))
            }
            _ => {
                let partitions = partitions(&path, sizes, if ordered { 1 } else { self.parallelism });
                // Cells expire, or other programs write them: no watch is closed by that.
                let columns = !self.scan.codec.is_foreign && self.preferences.column_cache.is_some_and(|least| sizes.bytes >= least);
                let scan = SourceTable { caches_columns: scan.caches_columns && columns, ..scan };
                Arc::new(KeyRangeScanExec::new(scan, path, partitions, output, sizes.rows, sizes.bytes < UNCACHED_BYTES))
            }
        }
    }

    /// The cheapest node that gives its first rows in an order without a sort, with its cost if so many are wanted.
    ///
    /// # Errors
    /// A filter or an index cannot be described.
    pub fn ordered(&self, order: &[(ColumnId, SortOptions)], limit: usize) -> Result<Option<(Arc<dyn ExecutionPlan>, f64)>> {
        let Some((first, _)) = order.first() else { return Ok(None) };
        let paths = self.ordered_paths()?;
        let positions: Option<Vec<usize>> =
            order.iter().map(|(c, _)| self.projected.iter().position(|p| self.columns.get(*p).is_some_and(|(id, ..)| id == c))).collect();
        let Some(positions) = positions else { return Ok(None) };
        let mut best: Option<(Arc<dyn ExecutionPlan>, f64)> = None;
        for path in paths {
            // Behind parts of one value.
            let fixed = path.scope.constant_parts;
            if path.scope.points || !path.key.parts.iter().take(fixed + 1).any(|p| p.column == *first) {
                continue;
            }
            let rows = self.path_rows(&path, None);
            let buckets = path.key.salt.as_ref().filter(|_| !path.scope.one_bucket).map_or(1.0, |s| f64::from(s.buckets.count()));
            let output = self.output(&path.scope.residual, rows)?;
            let wanted = (limit as f64 / output.selectivity().max(1e-6) * buckets).min(rows);
            let mut cost = 3.0 * buckets + path.cost(wanted);
            if self.preferences.force_index && path.kind.is_table() {
                cost += 1e12;
            }
            if best.as_ref().is_some_and(|(_, least)| *least <= cost) {
                continue;
            }
            let keys: Vec<PhysicalSortExpr> =
                order.iter().zip(&positions).map(|((_, options), at)| sort_key(&output, *at, *options)).collect();
            let node = self.node(Choice::Path(path), &Sizes { rows, ..Sizes::default() }, output, true);
            if let SortOrderPushdownResult::Exact { inner } = node.try_pushdown_sort(&keys)? {
                best = Some((inner, cost));
            }
        }
        Ok(best)
    }

    /// The paths that have an order, with how an output of the request is sorted by them, and their rows.
    ///
    /// # Errors
    /// A filter or an index cannot be described.
    pub fn walks(&self, order: &[(ColumnId, SortOptions)]) -> Result<Vec<(Walk, Vec<PhysicalSortExpr>, f64)>> {
        let position = |c: &ColumnId| self.projected.iter().position(|p| self.columns.get(*p).is_some_and(|(id, ..)| id == c));
        let positions: Option<Vec<usize>> = order.iter().map(|(c, _)| position(c)).collect();
        let (Some(positions), true) = (positions, self.preferences.index_order && !self.preferences.is_full()) else {
            return Ok(Vec::new());
        };
        let mut out = Vec::new();
        for path in self.ordered_paths()?.into_iter().filter(|path| !path.scope.points) {
            // Buckets would have to be followed together.
            if path.key.salt.is_some() {
                continue;
            }
            let rows = self.path_rows(&path, None);
            let output = self.output(&path.scope.residual, rows)?;
            let keys: Vec<PhysicalSortExpr> =
                order.iter().zip(&positions).map(|((_, options), at)| sort_key(&output, *at, *options)).collect();
            for reverse in [false, true] {
                let properties = output.properties(&path.order(), path.scope.constant_parts, reverse, 1);
                if properties.equivalence_properties().ordering_satisfy(keys.iter().cloned())? {
                    out.push((Walk { path: Arc::new(path), reverse }, keys, rows));
                    break;
                }
            }
        }
        Ok(out)
    }

    /// The paths that may be read for the sake of their order: the table's key, and the indexes that can be used.
    fn ordered_paths(&self) -> PgResult<Vec<AccessPath>> {
        let understood = |at: usize| self.index_predicate(at);
        let options = PathOptions { columns: &self.needed, index_predicates: &understood, distinct: None };
        let mut paths = Vec::new();
        if self.preferences.key_ranges && !self.preferences.names_any() {
            let key = KeyShape::of_table(&self.scan.codec.key);
            paths.push(AccessPath::new(PathKind::Table, key.clone(), scope(&key, &self.predicates)));
        }
        for found in usable(&self.scan.table, &self.predicates, &options, &self.preferences)? {
            let Usable { at, codec, covered, to_keys: false, unusable: None } = found else { continue };
            let key = KeyShape::of_index(&codec);
            paths.push(AccessPath::new(PathKind::Index { at, codec, covered }, key.clone(), scope(&key, &self.predicates)));
        }
        let named = |path: &AccessPath| self.index_of(path).is_some_and(|name| self.preferences.names(name));
        paths.retain(|path| !self.preferences.names_any() || named(path));
        Ok(paths)
    }

    /// The cheapest node that gives, of each value that some columns have together, the first row in an order, and skips over others; with
    /// its cost. There may be more rows of a value, one for each partition.
    ///
    /// The rest of a value's rows is not read but sought over: a place for each value, and again one where the order's column is narrowed.
    /// What a place costs beside a row is the store's to say ([`stoa_table::Tables::seek_cost`]), so that where each is a call
    /// over a network only values of very many rows are skipped over.
    ///
    /// # Errors
    /// A filter or an index cannot be described.
    pub fn first_of_each(&self, columns: &[ColumnId], order: &[(ColumnId, SortOptions)]) -> Result<Option<(Arc<dyn ExecutionPlan>, f64)>> {
        if !self.preferences.skip_scan || self.preferences.is_full() || self.projected.is_empty() {
            return Ok(None);
        }
        let position = |c: &ColumnId| self.projected.iter().position(|p| self.columns.get(*p).is_some_and(|(id, ..)| id == c));
        let seek = self.seek_cost;
        let mut best: Option<(Arc<dyn ExecutionPlan>, f64)> = None;
        for path in self.ordered_paths()? {
            let rows = self.path_rows(&path, None);
            let distinct = |column: ColumnId| {
                let part = path.key.parts.iter().find(|part| part.column == column)?;
                let share = self.statistics.as_ref().map_or(1.0, |s| s.share_of_column(part, &self.predicates));
                Some(self.distinct(column)? * share)
            };
            let Some(mut skipping) = first_of_each(&path, &self.predicates, columns, &distinct, rows, seek) else { continue };
            let Some(skip) = &skipping.skip else { continue };
            let values = skip.values * skipping.scope.ranges.len() as f64;
            let output = self.output(&skipping.scope.residual, rows)?;
            if let PathKind::Index { covered: false, .. } = &path.kind {
                // Entries are taken as they are: whether their rows pass, or have ended, would be known too late.
                if !output.is_unfiltered() || self.scan.table.rows_end() {
                    continue;
                }
                skipping.width = self.scatter(&path.key);
            }
            // As many rows of a value as it takes until one passes; some values may have none, and are read to their ends.
            let (wanted, vain) = match output.is_unfiltered() {
                true => (values, 0.0),
                false => ((values / output.selectivity().max(1e-6)).min(rows).max(values), VAIN * rows),
            };
            let mut cost = skipping.cost(wanted + vain);
            if self.preferences.force_index && path.kind.is_table() {
                cost += 1e12;
            }
            if best.as_ref().is_some_and(|(_, least)| *least <= cost) {
                continue;
            }
            // The columns in whichever direction the key has them, then the order; a whole key leaves nothing to be ordered.
            let leading = path.key.parts.get(skip.fixed..skip.parts).unwrap_or_default();
            let mut open: Vec<ColumnId> = path.key.parts.iter().skip(skip.parts).map(|part| part.column).collect();
            let whole = path.key.whole;
            let mut behind = Vec::new();
            for (column, options) in order.iter().filter(|(column, _)| !columns.contains(column)) {
                if whole && open.is_empty() {
                    break;
                }
                open.retain(|c| c != column);
                let Some(at) = position(column) else { return Ok(None) };
                behind.push(sort_key(&output, at, *options));
            }
            let Some(places) = leading.iter().map(|part| position(&part.column)).collect::<Option<Vec<_>>>() else { return Ok(None) };
            let node = self.node(Choice::Path(path.clone()), &Sizes { rows, ..Sizes::default() }, output.clone(), true);
            for reverse in [false, true] {
                let keys = leading.iter().zip(&places).map(|(part, at)| sort_key(&output, *at, sort_options(part, reverse)));
                let keys: Vec<PhysicalSortExpr> = keys.chain(behind.iter().cloned()).collect();
                let inner = if keys.is_empty() {
                    Arc::clone(&node)
                } else if let SortOrderPushdownResult::Exact { inner } = node.try_pushdown_sort(&keys)? {
                    inner
                } else {
                    continue;
                };
                let path = Arc::new(skipping.clone());
                let inner: Arc<dyn ExecutionPlan> = if let Some(scan) = inner.downcast_ref::<KeyRangeScanExec>() {
                    Arc::new(scan.with_path(path, wanted))
                } else if let Some(scan) = inner.downcast_ref::<IndexLookupExec>() {
                    Arc::new(scan.with_path(path, wanted))
                } else {
                    continue;
                };
                best = Some((inner, cost));
                break;
            }
        }
        Ok(best)
    }

    /// The indexes that begin with the first column of an order.
    #[must_use]
    pub fn ordering_indexes(&self, order: &[(ColumnId, SortOptions)]) -> Vec<String> {
        let first = |index: &IndexDescriptor| match (index.parts.first().map(|p| &p.key), order.first()) {
            (Some(IndexKey::Column(own)), Some((wanted, _))) => own == wanted,
            _ => false,
        };
        self.scan.table.indexes.iter().filter(|i| first(i)).map(|i| i.name.clone()).collect()
    }

    /// The same request for rows in which a column is not NULL.
    #[must_use]
    pub fn without_null(&self, column: ColumnId) -> Self {
        let mut out = self.clone();
        if let Some(at) = self.columns.iter().position(|(id, ..)| *id == column) {
            let value = Arc::new(Column::new(self.schema.field(at).name(), at));
            out.filters.push(Arc::new(IsNotNullExpr::new(value)));
            out.predicates.push(Predicate::IsNotNull(column));
        }
        out
    }
}

/// What is given at a position, as a key of an order.
fn sort_key(output: &ScanOutput, at: usize, options: SortOptions) -> PhysicalSortExpr {
    PhysicalSortExpr::new(Arc::new(Column::new(output.schema.field(at).name(), at)), options)
}

/// What the scan node of a plan gives.
fn output_of(plan: &Arc<dyn ExecutionPlan>) -> Option<&ScanOutput> {
    if let Some(scan) = plan.downcast_ref::<KeyRangeScanExec>() {
        Some(scan.output())
    } else if let Some(scan) = plan.downcast_ref::<KeySetExec>() {
        Some(scan.output())
    } else {
        plan.downcast_ref::<IndexLookupExec>().map(IndexLookupExec::output)
    }
}

/// What the scan node of a plan was asked for, if there may be other ways to answer it.
#[must_use]
pub fn request_of(plan: &Arc<dyn ExecutionPlan>) -> Option<&Arc<ScanRequest>> {
    output_of(plan)?.request.as_ref()
}

/// What a scan node is expected to cost.
#[must_use]
pub fn scan_cost(plan: &Arc<dyn ExecutionPlan>) -> Option<f64> {
    if let Some(scan) = plan.downcast_ref::<KeyRangeScanExec>() {
        Some(scan.cost())
    } else if let Some(scan) = plan.downcast_ref::<KeySetExec>() {
        Some(scan.cost())
    } else {
        plan.downcast_ref::<IndexLookupExec>().map(IndexLookupExec::cost)
    }
}

/// A plan whose scan, below projections, also tells of other ways that were not taken.
///
/// # Errors
/// A node does not take its children back.
pub fn with_rejected(plan: &Arc<dyn ExecutionPlan>, more: Vec<(String, String)>) -> Result<Arc<dyn ExecutionPlan>> {
    if more.is_empty() {
        return Ok(Arc::clone(plan));
    }
    if let Some(output) = output_of(plan) {
        let rejected = output.rejected.iter().cloned().chain(more).collect();
        let output = ScanOutput { rejected, ..output.clone() };
        if let Some(scan) = plan.downcast_ref::<KeyRangeScanExec>() {
            return Ok(Arc::new(scan.with_output(output)));
        }
        if let Some(scan) = plan.downcast_ref::<IndexLookupExec>() {
            return Ok(Arc::new(scan.with_output(output)));
        }
        if let Some(scan) = plan.downcast_ref::<KeySetExec>() {
            return Ok(Arc::new(scan.with_output(output)));
        }
        return Ok(Arc::clone(plan));
    }
    match plan.children().as_slice() {
        [child] => {
            let child = with_rejected(child, more)?;
            replace_children_if_necessary(Arc::clone(plan), vec![child])
        }
        _ => Ok(Arc::clone(plan)),
    }
}

/// Cuts a path's ranges at the borders of regions and spreads the pieces over partitions: neighbours stay together, and salt
/// buckets apart so that each partition is in key order.
fn partitions(path: &AccessPath, sizes: &Sizes, target: usize) -> Vec<Vec<KeyRange>> {
    let ranges = &path.scope.ranges;
    let salted = path.key.salt.is_some() && !path.scope.one_bucket;
    if salted {
        let count = path.key.salt.as_ref().map_or(1, |s| s.buckets.count());
        let mut out: Vec<Vec<KeyRange>> = Vec::new();
        for bucket in 0..count {
            // The last bucket of 256 is 255.
            let whole = KeyRange::prefix(&[bucket as u8]);
            let own: Vec<KeyRange> = ranges.iter().map(|r| r.intersect(&whole)).filter(|r| !r.is_empty()).collect();
            if !own.is_empty() {
                out.push(own);
            }
        }
        return out;
    }
    if target == 1 || sizes.rows < PARALLEL_ROWS || sizes.regions.len() < 2 {
        return vec![ranges.clone()];
    }
    let mut pieces: Vec<(KeyRange, u64)> = Vec::new();
    for range in ranges {
        for region in &sizes.regions {
            let piece = range.intersect(&region.range);
            if !piece.is_empty() {
                pieces.push((piece, region.approximate_bytes.max(1)));
            }
        }
    }
    pieces.sort_by(|a, b| a.0.cmp(&b.0));
    let total: u64 = pieces.iter().map(|(_, bytes)| bytes).sum();
    let share = (total / target as u64).max(1);
    let mut out: Vec<Vec<KeyRange>> = vec![Vec::new()];
    let mut filled = 0;
    for (piece, bytes) in pieces {
        if filled >= share && out.len() < target {
            out.push(Vec::new());
            filled = 0;
        }
        filled += bytes;
        if let Some(last) = out.last_mut() {
            last.push(piece);
        }
    }
    out
}

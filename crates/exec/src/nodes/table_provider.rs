//! A table as DataFusion sees it in one scan of a statement: filters come in, an access path goes out.
//!
//! Every filter that can be evaluated is taken as exact: those that the key ranges do not answer are applied by the scan node
//! itself, so that limits can be pushed down beside them. Rows are changed by `write` alone: DataFusion's own hooks for that are
//! refused, because they lose filters.

use super::request::{Among, ScanRequest};
use super::source::{ScanContext, SourceTable};
use super::text_search::TextSearchExec;
use crate::environment::SessionShared;
use crate::filter::{ScanColumns, predicate};
use crate::fulltext::scan::{SCORE, TextPath};
use arrow::datatypes::{Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, DataFusionError, Result};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use std::sync::Arc;
use stoa_pg::{PgError, PgResult, SqlState, SqlType};
use stoa_table::Timestamp;
use stoa_table::access::{Predicate, Preferences};
use stoa_table::catalog::{ColumnId, Epoch, IndexDescriptor, TableDescriptor};
use stoa_table::statistics::TableStatistics;

/// See the module.
#[derive(Debug)]
pub struct StoaTable {
    scan: SourceTable,
    /// What paths are chosen by; the nodes get theirs when they run.
    context: Arc<ScanContext>,
    /// The columns that the scan can give, with the names of their fields.
    columns: Arc<[(ColumnId, String, SqlType)]>,
    schema: SchemaRef,
    /// By index: what the predicate of a partial index says.
    index_predicates: Arc<[Option<Predicate>]>,
    /// Parts of indexes that are expressions, over the scan's columns, and what stands for each.
    index_exprs: Vec<(Expr, ColumnId, SqlType)>,
    /// Who is told of hints that cannot be followed.
    session: Option<Arc<SessionShared>>,
    preferences: Preferences,
    statistics: Option<Arc<TableStatistics>>,
    /// By index and part: what is computed for a full text index.
    text_parts: Vec<Vec<Option<Expr>>>,
    alone: bool,
}

impl StoaTable {
    /// A table with the columns that a scan may give under the names of its fields.
    ///
    /// # Errors
    /// The table does not have a column.
    pub fn new(table: Arc<TableDescriptor>, columns: &[(ColumnId, String)], context: Arc<ScanContext>) -> PgResult<Self> {
        let scan = SourceTable::new(Arc::clone(&table))?;
        let mut fields = Vec::with_capacity(columns.len());
        let mut list = Vec::with_capacity(columns.len());
        for (id, name) in columns {
            if *id == SCORE {
                let ty = SqlType::new(stoa_pg::PgType::Float4);
                fields.push(Field::new(name, ty.arrow.clone(), false));
                list.push((*id, name.clone(), ty));
                continue;
            }
            let column = table.column(*id).ok_or_else(|| PgError::internal("a scan of a column that does not exist"))?;
            fields.push(Field::new(name, column.ty.arrow.clone(), table.stores_null(column)));
            list.push((*id, name.clone(), column.ty.clone()));
        }
        Ok(Self {
            scan,
            context,
            columns: list.into(),
            schema: Arc::new(Schema::new(fields)),
            index_predicates: Arc::from([]),
            index_exprs: Vec::new(),
            session: None,
            preferences: Preferences::default(),
            statistics: None,
            text_parts: Vec::new(),
            alone: false,
        })
    }

    /// Tells that the scan is all there is: a short range is not measured before it is read.
    #[must_use]
    pub fn alone(mut self) -> Self {
        self.alone = true;
        self
    }

    /// Tells the time that is read, where it is not the statement's.
    #[must_use]
    pub fn as_of(mut self, at: Option<Timestamp>) -> Self {
        self.scan.as_of = at;
        self
    }

    /// For plans that another program runs: the nodes take what they read with from here.
    #[must_use]
    pub fn in_its_context(mut self) -> Self {
        self.scan.context = Some(Arc::clone(&self.context));
        self
    }

    /// Tells what is computed for full text indexes.
    #[must_use]
    pub fn with_text_parts(mut self, parts: Vec<Vec<Option<Expr>>>) -> Self {
        self.text_parts = parts;
        self
    }

    /// The search that answers some of the filters best; with `alone` one that only narrows them down will do.
    fn choose_text(&self, filters: &[Expr], predicates: &[Predicate], alone: bool, scored: bool) -> PgResult<Option<TextPath>> {
        let Some(text) = &self.context.text else { return Ok(None) };
        let table = &self.scan.table;
        let part_of = |column: ColumnId| -> Option<stoa_table::row::key::KeyPartCodec> {
            let column = table.column(column)?;
            let part = stoa_encoding::keyside::KeyPart::nullable(
                stoa_table::row::types::part_kind(&column.ty).ok()?,
                stoa_encoding::keyside::Direction::Asc,
                stoa_encoding::keyside::NullOrder::Last,
            );
            Some(stoa_table::row::key::KeyPartCodec::of_value(column.id, column.ty.clone(), part, Epoch::Postgres))
        };
        let named = self.named_text().is_some();
        let asked = |index: &IndexDescriptor| !self.preferences.excludes(&index.name) && (!named || self.preferences.names(&index.name));
        let usable = |at: usize| match table.indexes.get(at).filter(|i| asked(i)).map(|i| i.predicate.is_some()) {
            Some(true) => {
                let predicate = self.index_predicates.get(at).cloned().flatten();
                predicate.is_some_and(|p| stoa_table::access::ranges::implies(predicates, &p, &part_of))
            }
            other => other == Some(false),
        };
        crate::fulltext::scan::choose(
            text,
            table,
            &crate::fulltext::scan::Filters {
                exprs: filters,
                predicates: if self.preferences.is_full() || (self.preferences.names_any() && !named) { &[] } else { predicates },
                alone,
                scored,
            },
            &|name| ScanColumns::column(self, name).map(|(id, _)| id),
            &usable,
            &|index, part| self.text_parts.get(index).and_then(|i| i.get(part)).cloned().flatten(),
        )
    }

    /// A full text index that a hint asks for.
    fn named_text(&self) -> Option<&IndexDescriptor> {
        self.scan.table.indexes.iter().find(|i| i.is_fulltext() && self.preferences.names(&i.name))
    }

    /// Tells who hears of hints that cannot be followed.
    #[must_use]
    pub fn with_session(mut self, session: &Arc<SessionShared>) -> Self {
        self.session = Some(Arc::clone(session));
        self
    }

    /// Tells what the predicates of partial indexes say, by position of the index.
    #[must_use]
    pub fn with_index_predicates(mut self, predicates: Vec<Option<Predicate>>) -> Self {
        self.index_predicates = predicates.into();
        self
    }

    /// Tells which expressions are parts of indexes; they come over columns called by their ids. One over a column that the scan
    /// does not have can be in none of its filters.
    #[must_use]
    pub fn with_index_exprs(mut self, exprs: Vec<(Expr, ColumnId, SqlType)>) -> Self {
        let table = Arc::clone(&self.scan.table);
        let own = OwnColumns(&table);
        let columns = Arc::clone(&self.columns);
        let named = |expr: Expr| {
            let mut whole = true;
            let renamed = expr.transform(|e| match &e {
                Expr::Column(column) => {
                    let id = own.column(&column.name).map(|(id, _)| id);
                    match columns.iter().find(|(c, _, _)| Some(*c) == id) {
                        Some((_, name, _)) => Ok(Transformed::yes(Expr::Column(Column::new_unqualified(name)))),
                        None => {
                            whole = false;
                            Ok(Transformed::no(e))
                        }
                    }
                }
                _ => Ok(Transformed::no(e)),
            });
            renamed.ok().map(|t| t.data).filter(|_| whole)
        };
        self.index_exprs = exprs.into_iter().filter_map(|(expr, id, ty)| Some((named(expr)?, id, ty))).collect();
        self
    }

    /// Tells what is known of the table's values.
    #[must_use]
    pub fn with_statistics(mut self, statistics: Option<Arc<TableStatistics>>) -> Self {
        self.statistics = statistics;
        self
    }

    /// Tells which paths the statement prefers.
    #[must_use]
    pub fn with_preferences(mut self, preferences: Preferences) -> Self {
        self.preferences = preferences;
        self.preferences.past = self.scan.as_of.is_some();
        self.preferences.snapshot = Some(self.scan.as_of.unwrap_or_else(|| self.context.view.timestamp()).0);
        self
    }

    /// The columns of a filter, by position.
    fn positions_in(&self, filter: &Expr) -> Vec<usize> {
        filter.column_refs().into_iter().filter_map(|c| self.columns.iter().position(|(_, name, _)| *name == c.name)).collect()
    }
}

impl ScanColumns for StoaTable {
    fn column(&self, name: &str) -> Option<(ColumnId, &SqlType)> {
        self.columns.iter().find(|(_, n, _)| n == name).map(|(id, _, ty)| (*id, ty))
    }

    fn expression(&self, expr: &Expr) -> Option<(ColumnId, &SqlType)> {
        self.index_exprs.iter().find(|(own, _, _)| own == expr).map(|(_, id, ty)| (*id, ty))
    }
}

#[async_trait]
impl TableProvider for StoaTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    // DataFusion takes a key for one above joins and groupings as well and drops sort keys behind it.
    fn constraints(&self) -> Option<&datafusion::common::Constraints> {
        None
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        filters
            .iter()
            .map(|filter| {
                Ok(if is_evaluable(filter)? { TableProviderFilterPushDown::Exact } else { TableProviderFilterPushDown::Unsupported })
            })
            .collect()
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let projected: Vec<usize> = projection.cloned().unwrap_or_else(|| (0..self.columns.len()).collect());
        let predicates: Vec<Predicate> = filters.iter().map(|f| predicate(f, self)).collect();
        let mut needed = projected.clone();
        needed.extend(filters.iter().flat_map(|f| self.positions_in(f)));
        needed.sort_unstable();
        needed.dedup();
        let needed: Vec<ColumnId> = needed.iter().filter_map(|n| self.columns.get(*n)).map(|(id, _, _)| *id).collect();
        let scored = needed.contains(&SCORE);
        let mut text = self.choose_text(filters, &predicates, false, scored).map_err(DataFusionError::from)?;
        if scored && text.is_none() {
            return Err(crate::fulltext::scan::no_score(&self.scan.table.name).into());
        }
        let needed: Vec<ColumnId> = needed.into_iter().filter(|id| *id != SCORE).collect();
        let read = self.context.open(&self.scan).map_err(DataFusionError::from)?;
        let mut request = ScanRequest {
            scan: self.scan.clone(),
            columns: Arc::clone(&self.columns),
            schema: Arc::clone(&self.schema),
            projected,
            filters: Vec::new(),
            predicates,
            index_predicates: Arc::clone(&self.index_predicates),
            preferences: self.preferences.clone(),
            statistics: self.statistics.clone(),
            needed,
            table_rows: 1000.0,
            table_bytes: 0,
            parallelism: state.config().target_partitions().max(1),
            alone: self.alone,
            seek_cost: read.view.tables().seek_cost(),
        };
        let (choice, sizes) = request.choose(&read).await.map_err(DataFusionError::from)?;
        if text.is_none() && (choice.cost(sizes.rows) > NARROWED_COST || self.named_text().is_some()) {
            text = self.choose_text(filters, &request.predicates, true, scored).map_err(DataFusionError::from)?;
        }
        let mut among = None;
        if let Some(t) = &text {
            let looks = if t.looks { sizes.rows * crate::fulltext::scan::LOOK_COST } else { 0.0 };
            let other = choice.cost(sizes.rows) + looks;
            let (least, found) = match choice.as_keys(&sizes) {
                Some((keys, cost)) => {
                    let share = (sizes.rows / request.table_rows.max(1.0)).min(1.0);
                    let both = t.cost_among(share, cost);
                    if both < t.cost().min(other) * 0.8 { (both, Some(Among { keys, share })) } else { (t.cost(), None) }
                }
                None => (t.cost(), None),
            };
            let asked = t.search.names().iter().any(|name| self.preferences.names(name));
            if !scored && (choice.is_empty() || (other <= least && !asked)) {
                text = None;
            } else {
                among = found;
            }
        }
        if let (None, Some(index), Some(session)) = (&text, self.named_text(), &self.session) {
            let message = format!("full text index \"{}\" answers no condition here: the hint was ignored", index.name);
            session.warning(SqlState::WARNING, message);
        }
        let residual: Vec<usize> = match &text {
            Some(text) => (0..filters.len()).filter(|n| !text.answered.contains(n)).collect(),
            None => choice.residual(filters.len()),
        };
        // A match of the key has no other way worth keeping.
        let single = text.is_some() || choice.is_single();
        if !residual.is_empty() || !single {
            let df_schema = DFSchema::try_from(Arc::clone(&self.schema))?;
            request.filters = filters
                .iter()
                .map(|f| state.create_physical_expr(f.clone(), &df_schema))
                .collect::<Result<Vec<Arc<dyn PhysicalExpr>>>>()?;
        }
        let mut output = request.output(&residual, sizes.rows)?;
        output.fetch = limit;
        output.rejected = sizes.rejected.clone().into();
        if let Some(text) = text {
            // A limit without an order says nothing about the best.
            return Ok(Arc::new(TextSearchExec::new(Arc::new(request), Arc::new(text.search), among, output)));
        }
        let request = Arc::new(request);
        output.request = (!single).then(|| Arc::clone(&request));
        Ok(request.node(choice, &sizes, output, false))
    }
}

/// What a scan must cost before a full text index is asked whether it could narrow it down: the answer costs something itself.
const NARROWED_COST: f64 = 2000.0;

/// Whether a scan can evaluate a filter by itself: nothing in it stands for what another node computes.
pub fn is_evaluable(filter: &Expr) -> Result<bool> {
    let mut evaluable = true;
    filter.apply(|e| {
        evaluable = !matches!(
            e,
            Expr::ScalarSubquery(_)
                | Expr::InSubquery(_)
                | Expr::Exists(_)
                | Expr::SetComparison(_)
                | Expr::OuterReferenceColumn(..)
                | Expr::Placeholder(_)
                | Expr::AggregateFunction(_)
                | Expr::WindowFunction(_)
        );
        Ok(if evaluable { TreeNodeRecursion::Continue } else { TreeNodeRecursion::Stop })
    })?;
    Ok(evaluable)
}

/// A table's own columns, called `c` and their id: how its expressions are bound.
pub struct OwnColumns<'a>(pub &'a TableDescriptor);

impl ScanColumns for OwnColumns<'_> {
    fn column(&self, name: &str) -> Option<(ColumnId, &SqlType)> {
        let id = ColumnId(name.strip_prefix('c')?.parse().ok()?);
        self.0.column(id).map(|c| (id, &c.ty))
    }
}

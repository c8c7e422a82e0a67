//! The tables of a database in somebody else's DataFusion.
//!
//! [`StoaCatalog`] shows schemas and tables to a `SessionContext`. Filters become key ranges there as they do here, and
//! `INSERT INTO` goes through the one write path, with constraints and indexes, as one transaction. What a statement says is
//! DataFusion's meaning then: for PostgreSQL's, use a [`Session`] of the database. Each scan reads what is committed when
//! it is planned; [`StoaCatalog::at_snapshot`] gives all scans one and the same moment.
//!
//! Columns come in the Arrow form of their types (`docs/embedding.md`).
//! DELETE and UPDATE are refused: DataFusion hands over filters that it could not translate as if there were none.
//!
//! [`Session`]: crate::session::Session

/// The DataFusion that these providers are made for: a context of another version does not know them.
pub use datafusion;

use crate::database::Database;
use crate::session::{SessionOptions, copy::BatchInsert};
use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{CatalogProvider, SchemaProvider, Session as ForeignSession, TableProvider};
use datafusion::common::{DFSchema, DataFusionError, Result, not_impl_err};
use datafusion::datasource::sink::{DataSink, DataSinkExec};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::dml::InsertOp;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan};
use futures::StreamExt;
use std::fmt;
use std::sync::Arc;
use stoa_exec::nodes::foreign_form;
use stoa_exec::nodes::source::ScanContext;
use stoa_exec::nodes::table_provider::StoaTable;
use stoa_pg::{PgError, PgResult};
use stoa_sql::typed::from_datafusion;
use stoa_table::catalog::{ColumnId, Relation, TableDescriptor};
use stoa_table::txn::ReadView;

/// A batch of a session's answer as other programs read Arrow: timestamps count from 1970, intervals end with nanoseconds.
///
/// # Errors
/// 22008 for timestamps and intervals beyond what Arrow holds, 22003 for a NaN of `numeric(p, s)`.
pub fn to_arrow(batch: &RecordBatch) -> PgResult<RecordBatch> {
    foreign_form::to_foreign(batch)
}

/// The way back, for [`Session::insert_batches`].
///
/// [`Session::insert_batches`]: crate::session::Session::insert_batches
///
/// # Errors
/// 22008 for timestamps before 4714 BC.
pub fn from_arrow(batch: &RecordBatch) -> PgResult<RecordBatch> {
    let columns = batch.columns().iter().map(foreign_form::to_own).collect::<PgResult<Vec<_>>>()?;
    Ok(RecordBatch::try_new(batch.schema(), columns)?)
}

/// The schemas of a database, as of now or as of one moment.
#[derive(Clone, Debug)]
pub struct StoaCatalog {
    database: Database,
    moment: Option<ReadView>,
}

impl StoaCatalog {
    /// Each scan sees what is committed when it is planned.
    #[must_use]
    pub fn new(database: &Database) -> Self {
        Self { database: database.clone(), moment: None }
    }

    /// All scans see what is committed now, whatever is written later, inserts through this catalog included. The past is kept
    /// for as long as the catalog or one of its tables lives.
    #[must_use]
    pub fn at_snapshot(database: &Database) -> Self {
        Self { database: database.clone(), moment: Some(database.inner().tables.newest()) }
    }
}

impl CatalogProvider for StoaCatalog {
    fn schema_names(&self) -> Vec<String> {
        self.database.inner().transactions.published_catalog().schemas().map(|s| s.name.clone()).collect()
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        self.database.inner().transactions.published_catalog().schema_by_name(name)?;
        Some(Arc::new(StoaSchema { catalog: self.clone(), name: name.to_owned() }))
    }
}

#[derive(Debug)]
struct StoaSchema {
    catalog: StoaCatalog,
    name: String,
}

impl StoaSchema {
    fn descriptor(&self, table: &str) -> Option<Arc<TableDescriptor>> {
        let catalog = self.catalog.database.inner().transactions.published_catalog();
        let schema = catalog.schema_by_name(&self.name)?;
        match &**catalog.relation_by_name(schema.oid, table)? {
            Relation::Table(found) => catalog.shared_table(found.oid),
            _ => None,
        }
    }
}

#[async_trait]
impl SchemaProvider for StoaSchema {
    fn table_names(&self) -> Vec<String> {
        let catalog = self.catalog.database.inner().transactions.published_catalog();
        let Some(schema) = catalog.schema_by_name(&self.name) else { return Vec::new() };
        let tables = catalog.relations().filter(|r| r.schema() == schema.oid && matches!(&***r, Relation::Table(_)));
        tables.map(|r| r.name().to_owned()).collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let Some(table) = self.descriptor(name) else { return Ok(None) };
        Ok(Some(Arc::new(ForeignTable::new(self.catalog.clone(), self.name.clone(), table))))
    }

    fn table_exist(&self, name: &str) -> bool {
        self.descriptor(name).is_some()
    }
}

/// A table with its columns under their own names.
#[derive(Debug)]
struct ForeignTable {
    catalog: StoaCatalog,
    schema_name: String,
    table: Arc<TableDescriptor>,
    columns: Vec<(ColumnId, String)>,
    schema: SchemaRef,
}

impl ForeignTable {
    fn new(catalog: StoaCatalog, schema_name: String, table: Arc<TableDescriptor>) -> Self {
        let mut columns = Vec::new();
        let mut fields = Vec::new();
        for column in table.live_columns().filter(|c| !c.hidden) {
            let nullable = table.stores_null(column);
            fields.push(Field::new(&column.name, column.ty.arrow.clone(), nullable));
            columns.push((column.id, column.name.clone()));
        }
        Self { catalog, schema_name, schema: Arc::new(Schema::new(fields)), columns, table }
    }

    /// A condition in our form, if it has one.
    fn own_filter(&self, filter: &Expr) -> Result<Option<Expr>> {
        // Conditions name the columns by the name that the table has in the statement.
        let relation = filter.column_refs().into_iter().find_map(|column| column.relation.clone());
        let columns = match relation {
            Some(relation) => DFSchema::try_from_qualified_schema(relation, &self.schema)?,
            None => DFSchema::try_from(Arc::clone(&self.schema))?,
        };
        Ok(foreign_form::own_filter(filter, &columns))
    }

    /// The table at the catalog's moment.
    fn at_view(&self) -> PgResult<StoaTable> {
        let database = self.catalog.database.inner();
        let view = self.catalog.moment.clone().unwrap_or_else(|| database.tables.newest());
        let statistics = database.statistics.of(self.table.oid);
        let context = ScanContext { view, txn: None, columns: Some(Arc::clone(&database.memory.columns)), text: None };
        let table = StoaTable::new(Arc::clone(&self.table), &self.columns, Arc::new(context))?;
        Ok(table.in_its_context().with_statistics(statistics))
    }
}

#[async_trait]
impl TableProvider for ForeignTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let mut supported = self.at_view()?.supports_filters_pushdown(filters)?;
        for (filter, supported) in filters.iter().zip(&mut supported) {
            if self.own_filter(filter)?.is_none() {
                *supported = TableProviderFilterPushDown::Unsupported;
            }
        }
        Ok(supported)
    }

    async fn scan(
        &self,
        state: &dyn ForeignSession,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if self.table.expires.is_some() {
            return not_impl_err!("reading table {} through DataFusion: its rows end by themselves (TTL EXPIRES AT)", self.table.name);
        }
        // Only those are here that can be ours.
        let filters = filters.iter().filter_map(|filter| self.own_filter(filter).transpose()).collect::<Result<Vec<_>>>()?;
        Ok(foreign_form::wrap(self.at_view()?.scan(state, projection, &filters, limit).await?))
    }

    async fn insert_into(&self, _: &dyn ForeignSession, input: Arc<dyn ExecutionPlan>, op: InsertOp) -> Result<Arc<dyn ExecutionPlan>> {
        if op != InsertOp::Append {
            return not_impl_err!("{op} into a table of Stoa: use INSERT INTO");
        }
        let sink = Inserts {
            database: self.catalog.database.clone(),
            schema_name: self.schema_name.clone(),
            table: self.table.name.clone(),
            columns: input.schema().fields().iter().map(|f| f.name().clone()).collect(),
            schema: input.schema(),
        };
        Ok(Arc::new(DataSinkExec::new(input, Arc::new(sink), None)))
    }

    async fn delete_from(&self, _: &dyn ForeignSession, _: Vec<Expr>) -> Result<Arc<dyn ExecutionPlan>> {
        not_impl_err!("DELETE from a table of Stoa through DataFusion: execute it in a session of the database")
    }

    async fn update(&self, _: &dyn ForeignSession, _: Vec<(String, Expr)>, _: Vec<Expr>) -> Result<Arc<dyn ExecutionPlan>> {
        not_impl_err!("UPDATE of a table of Stoa through DataFusion: execute it in a session of the database")
    }
}

/// Writes what a plan gives as one transaction.
#[derive(Debug)]
struct Inserts {
    database: Database,
    schema_name: String,
    table: String,
    columns: Vec<String>,
    schema: SchemaRef,
}

impl DisplayAs for Inserts {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoaInsert: table={}.{}", self.schema_name, self.table)
    }
}

impl Inserts {
    async fn write(&self, target: &mut BatchInsert, mut data: SendableRecordBatchStream) -> PgResult<u64> {
        let mut rows = 0;
        while let Some(batch) = data.next().await {
            let batch = batch.map_err(from_datafusion)?;
            let columns = batch.columns().iter().zip(target.schema().fields());
            let arrays = columns
                .map(|(array, field)| foreign_form::to_own(&arrow::compute::cast(array, field.data_type())?))
                .collect::<PgResult<Vec<_>>>()?;
            rows += target.write(RecordBatch::try_new(Arc::clone(target.schema()), arrays)?).await?;
        }
        Ok(rows)
    }
}

#[async_trait]
impl DataSink for Inserts {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    async fn write_all(&self, data: SendableRecordBatchStream, _: &Arc<TaskContext>) -> Result<u64> {
        let mut session = self.database.connect(SessionOptions::default()).map_err(DataFusionError::from)?;
        let outcome = match session.insert_batches(&self.schema_name, &self.table, Some(&self.columns)).await {
            Ok(mut target) => self.write(&mut target, data).await,
            Err(error) => Err(error),
        };
        let outcome: Result<u64, PgError> = match outcome {
            Ok(rows) => session.finish().await.map(|()| rows),
            Err(error) => {
                session.fail().await;
                Err(error)
            }
        };
        session.close().await;
        outcome.map_err(DataFusionError::from)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::DatabaseOptions;
    use arrow::datatypes::{DataType, IntervalMonthDayNano};
    use datafusion::common::{JoinType, ScalarValue};
    use datafusion::dataframe::DataFrameWriteOptions;
    use datafusion::functions_aggregate::expr_fn::min;
    use datafusion::logical_expr::{LogicalPlanBuilder, cast};
    use datafusion::prelude::{DataFrame, SessionContext, col, lit};
    use futures::FutureExt;
    use stoa_pg::SqlState;

    async fn database(script: &str) -> (Database, SessionContext) {
        let database = Database::open(stoa_table::Tables::in_memory(), DatabaseOptions::default()).await.unwrap();
        let mut session = database.connect(SessionOptions::default()).unwrap();
        for piece in session.parse(script).unwrap() {
            let prepared = session.prepare(Some(piece), script.into(), Vec::new()).unwrap();
            session.execute(&prepared, Vec::new()).await.unwrap();
        }
        session.finish().await.unwrap();
        session.close().await;
        let context = SessionContext::new();
        context.register_catalog("stoa", Arc::new(StoaCatalog::new(&database)));
        (database, context)
    }

    async fn table(context: &SessionContext, name: &str) -> DataFrame {
        context.table(name).await.unwrap()
    }

    async fn shown(frame: DataFrame) -> Result<String> {
        Ok(arrow::util::pretty::pretty_format_batches(&frame.collect().await?)?.to_string())
    }

    async fn rows(context: &SessionContext, name: &str) -> usize {
        table(context, name).await.count().await.unwrap()
    }

    /// Inserts rows of three columns.
    async fn insert(context: &SessionContext, values: &[(i32, &str, i32)]) -> Result<Vec<RecordBatch>> {
        let rows = values.iter().map(|(a, b, c)| vec![lit(*a), lit(*b), lit(*c)]).collect();
        let plan = LogicalPlanBuilder::values(rows)?
            .project(vec![col("column1").alias("a"), col("column2").alias("b"), col("column3").alias("c")])?
            .build()?;
        DataFrame::new(context.state(), plan).write_table("stoa.public.t", DataFrameWriteOptions::new()).await
    }

    const TABLE: &str = "CREATE TABLE t (a int, b text, c int CHECK (c > 0), PRIMARY KEY (a, b)); CREATE UNIQUE INDEX ON t (c); \
                         INSERT INTO t SELECT n, 'x' || n, n * 10 FROM generate_series(1, 9) n";

    #[tokio::test]
    async fn filters_become_key_ranges() {
        let (_database, context) = database(TABLE).await;
        let frame = table(&context, "stoa.public.t").await.filter(col("a").eq(lit(3)).and(col("b").gt_eq(lit("x")))).unwrap();
        let plan = shown(frame.clone().explain(false, false).unwrap()).await.unwrap();
        assert!(plan.contains("ranges=") && !plan.contains("FilterExec"), "{plan}");
        assert_eq!(frame.count().await.unwrap(), 1);
        let rows = shown(table(&context, "stoa.public.t").await.filter(col("a").gt(lit(7))).unwrap()).await.unwrap();
        assert!(rows.contains("x8") && rows.contains("90") && !rows.contains("x7"), "{rows}");
    }

    #[tokio::test]
    async fn inserts_are_one_transaction_with_constraints() {
        let (_database, context) = database(TABLE).await;
        insert(&context, &[(20, "y", 1000), (21, "z", 2000)]).await.unwrap();
        let broken = insert(&context, &[(30, "y", 3000), (31, "z", -1)]).await.unwrap_err();
        assert!(from_datafusion(broken).to_string().contains("check constraint"));
        let twice = insert(&context, &[(40, "y", 1000)]).await.unwrap_err();
        assert!(from_datafusion(twice).to_string().contains("duplicate key"));
        assert_eq!(rows(&context, "stoa.public.t").await, 11);
    }

    #[tokio::test]
    async fn rows_are_not_deleted_or_changed_from_outside() {
        let (_database, context) = database(TABLE).await;
        let provider = context.table_provider("stoa.public.t").await.unwrap();
        let state = context.state();
        assert!(provider.delete_from(&state, vec![]).await.is_err());
        assert!(provider.delete_from(&state, vec![col("a").eq(lit(1))]).await.is_err());
        assert!(provider.update(&state, vec![("c".into(), lit(1))], vec![]).await.is_err());
        assert_eq!(rows(&context, "stoa.public.t").await, 9);
    }

    #[tokio::test]
    async fn a_snapshot_stays() {
        let (database, context) = database(TABLE).await;
        context.register_catalog("earlier", Arc::new(StoaCatalog::at_snapshot(&database)));
        insert(&context, &[(20, "y", 1000)]).await.unwrap();
        assert_eq!(rows(&context, "stoa.public.t").await, 10);
        assert_eq!(rows(&context, "earlier.public.t").await, 9);
    }

    #[tokio::test]
    async fn intervals_are_nanoseconds_and_what_arrow_has_not_is_refused() {
        let (_database, context) = database(
            "CREATE TABLE i (k int PRIMARY KEY, i interval, n numeric(10,2)); CREATE TABLE j (k int PRIMARY KEY, i interval, n numeric(10,2)); \
             INSERT INTO i VALUES (1, '1 month 2 days 3 us', 1.5), (2, '2500000000 hours', 2), (3, '1 hour', 'NaN')",
        )
        .await;
        let of = |k: i32| table(&context, "stoa.public.i").map(move |frame| frame.filter(col("k").eq(lit(k))).unwrap());
        let batches = of(1).await.select_columns(&["i"]).unwrap().collect().await.unwrap();
        let value = ScalarValue::try_from_array(batches[0].column(0), 0).unwrap();
        assert_eq!(value, ScalarValue::IntervalMonthDayNano(Some(IntervalMonthDayNano::new(1, 2, 3000))));
        let beyond = of(2).await.select_columns(&["i"]).unwrap().collect().await.unwrap_err();
        assert_eq!(from_datafusion(beyond).code(), SqlState::DATETIME_FIELD_OVERFLOW);
        let nan = of(3).await.select_columns(&["n"]).unwrap().collect().await.unwrap_err();
        assert_eq!(from_datafusion(nan).code(), SqlState::NUMERIC_VALUE_OUT_OF_RANGE);
        // A condition on an interval is the foreign program's.
        let short = lit(ScalarValue::IntervalMonthDayNano(Some(IntervalMonthDayNano::new(1, 2, 3000))));
        assert_eq!(of(1).await.filter(col("i").eq(short)).unwrap().count().await.unwrap(), 1);
        of(1).await.write_table("stoa.public.j", DataFrameWriteOptions::new()).await.unwrap();
        let batches = table(&context, "stoa.public.j").await.select_columns(&["i"]).unwrap().collect().await.unwrap();
        assert_eq!(ScalarValue::try_from_array(batches[0].column(0), 0).unwrap(), value);
    }

    #[tokio::test]
    async fn timestamps_count_from_1970_there() {
        let (database, context) = database(
            "CREATE TABLE h (k timestamp PRIMARY KEY, z timestamptz, a timestamp[]); CREATE TABLE w (k timestamp PRIMARY KEY, z timestamptz, a timestamp[]); \
             INSERT INTO h VALUES ('1970-01-01 00:00:01', '2001-02-03 04:05:06+00', '{1970-01-02}'), ('infinity', '-infinity', NULL); ANALYZE h",
        )
        .await;
        let at = |us: i64| lit(ScalarValue::TimestampMicrosecond(Some(us), None));
        let named = || table(&context, "stoa.public.h");
        let of = |frame: DataFrame| async move { shown(frame.sort(vec![col("k").sort(true, true)]).unwrap()).await.unwrap() };
        let all = of(named().await.filter(col("k").lt(at(i64::MAX))).unwrap()).await;
        assert!(
            all.contains("1970-01-01T00:00:01") && all.contains("2001-02-03T04:05:06Z") && all.contains("1970-01-02T00:00:00"),
            "{all}"
        );
        // Comparisons are the table's to make, other conditions are not.
        let found = named().await.filter(col("k").eq(at(1_000_000)).and(col("z").is_not_null())).unwrap();
        let plan = shown(found.clone().explain(false, false).unwrap()).await.unwrap();
        assert!(plan.contains("ranges=") && !plan.contains("FilterExec"), "{plan}");
        assert_eq!(found.count().await.unwrap(), 1);
        assert_eq!(named().await.filter(col("k").in_list(vec![at(1_000_000), at(5)], false)).unwrap().count().await.unwrap(), 1);
        assert_eq!(named().await.filter(col("k").lt(at(1_000_000)).or(col("k").gt(at(1_000_000)))).unwrap().count().await.unwrap(), 1);
        let number = cast(col("k"), DataType::Int64).eq(lit(1_000_000_i64));
        assert_eq!(named().await.filter(number).unwrap().count().await.unwrap(), 1);
        let least = named().await.aggregate(vec![], vec![min(col("k"))]).unwrap();
        assert!(shown(least).await.unwrap().contains("1970-01-01T00:00:01"));
        let other = named().await.select(vec![col("k").alias("l"), col("z").alias("y")]).unwrap();
        let joined = named().await.join(other, JoinType::Inner, &["k"], &["l"], None).unwrap();
        assert_eq!(joined.filter(col("y").gt(col("z")).or(col("l").eq(at(1_000_000)))).unwrap().count().await.unwrap(), 1);
        named().await.write_table("stoa.public.w", DataFrameWriteOptions::new()).await.unwrap();
        let mut session = database.connect(SessionOptions::default()).unwrap();
        let same = "SELECT count(*) FROM h JOIN w USING (k) WHERE h.z = w.z AND h.a IS NOT DISTINCT FROM w.a";
        assert_eq!(crate::session::write_tests::answer(&mut session, same).await, "2");
        // Batches of a session turned, and back.
        let batches = named().await.collect().await.unwrap();
        for batch in batches {
            assert_eq!(to_arrow(&from_arrow(&batch).unwrap()).unwrap(), batch);
        }
        crate::session::write_tests::answer(&mut session, "INSERT INTO h VALUES ('294260-01-01')").await;
        session.close().await;
        let beyond = named().await.collect().await.unwrap_err();
        assert_eq!(from_datafusion(beyond).code(), SqlState::DATETIME_FIELD_OVERFLOW);
        assert_eq!(named().await.filter(col("k").lt(at(5_000_000))).unwrap().count().await.unwrap(), 1);
    }
}

//! A database in this process: SQL with PostgreSQL's meaning, and the same tables in a DataFusion context.
//!
//! Run it with `cargo run --release --example embed [DIRECTORY]`; it leaves the database there, for `stoa serve --data DIRECTORY`.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use stoa_engine::embed::StoaCatalog;
use stoa_engine::embed::datafusion::common::{DataFusionError, ScalarValue};
use stoa_engine::embed::datafusion::dataframe::DataFrameWriteOptions;
use stoa_engine::embed::datafusion::functions_aggregate::expr_fn::max;
use stoa_engine::embed::datafusion::logical_expr::LogicalPlanBuilder;
use stoa_engine::embed::datafusion::prelude::{DataFrame, SessionContext, col, lit};
use stoa_engine::{Database, DatabaseOptions, Execution, Session, SessionOptions, Tables};
use stoa_store_lsm::{LsmOptions, LsmStore};

/// Executes a text of statements, each in a transaction of its own, and prints the rows that they give.
async fn run(session: &mut Session, sql: &str) -> Result<(), Box<dyn Error>> {
    for piece in session.parse(sql)? {
        let prepared = session.prepare(Some(piece), sql.into(), Vec::new())?;
        match session.execute(&prepared, Vec::new()).await? {
            Execution::Rows(rows) => println!("{}", arrow::util::pretty::pretty_format_batches(&[rows.collect().await?])?),
            Execution::Done(tag) => println!("{tag}"),
            _ => {}
        }
        session.finish().await?;
    }
    Ok(())
}

/// Inserts a row through DataFusion: a frame is written to a table of the database.
async fn insert(context: &SessionContext, sensor: &str, celsius: f64) -> Result<(), DataFusionError> {
    let at = lit(ScalarValue::TimestampMicrosecond(Some(1_769_904_000_000_000), None));
    let row = LogicalPlanBuilder::values(vec![vec![lit(sensor), at, lit(celsius)]])?;
    let names = ["sensor", "at", "celsius"];
    let named = (1..).zip(names).map(|(n, name)| col(format!("column{n}")).alias(name));
    let frame = DataFrame::new(context.state(), row.project(named)?.build()?);
    frame.write_table("stoa.public.readings", DataFrameWriteOptions::new()).await?;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let directory = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "embed-data".into()));
    std::fs::create_dir_all(&directory)?;
    let store = LsmStore::open(directory.join("store"), LsmOptions::default())?;
    let options = DatabaseOptions { text_directory: Some(directory.join("text")), ..DatabaseOptions::default() };
    let database = Database::open(Tables::new(Arc::new(store)), options).await?;

    // SQL: what psql would send.
    let mut session = database.connect(SessionOptions::default())?;
    run(
        &mut session,
        "CREATE TABLE IF NOT EXISTS readings (
             sensor text, at timestamp, celsius double precision CHECK (celsius > -274),
             PRIMARY KEY (sensor, at));
         INSERT INTO readings
             SELECT 's' || n % 3, timestamp '2026-01-01' + n * interval '1 minute', 20 + n % 7 FROM generate_series(1, 1000) n
             ON CONFLICT DO NOTHING;
         SELECT sensor, count(*), avg(celsius)::numeric(5, 2) FROM readings GROUP BY sensor ORDER BY sensor;",
    )
    .await?;

    // The same table in DataFusion: beside files, frames and other people's sources.
    let context = SessionContext::new();
    context.register_catalog("stoa", Arc::new(StoaCatalog::new(&database)));
    let readings = context.table("stoa.public.readings").await?;
    let warm =
        readings.filter(col("sensor").gt_eq(lit("s1")))?.aggregate(vec![col("sensor")], vec![max(col("celsius")).alias("warmest")])?;
    warm.show().await?;
    insert(&context, "s9", 31.5).await?;
    run(&mut session, "SELECT * FROM readings WHERE sensor = 's9'").await?;

    // Constraints hold from there too.
    let refused = insert(&context, "s9", -300.0).await;
    println!("refused: {}", refused.err().ok_or("an impossible temperature was accepted")?);
    session.close().await;
    Ok(())
}

//! A database in this process: SQL with PostgreSQL's meaning, and the same tables in a DataFusion context.
//!
//! Run it with `cargo run --release --example embed [DIRECTORY]`; it leaves the database there, for `stoa serve --data DIRECTORY`.

use datafusion::prelude::SessionContext;
use futures::StreamExt;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use stoa_engine::embed::StoaCatalog;
use stoa_engine::{Database, DatabaseOptions, Execution, Session, SessionOptions};
use stoa_store_lsm::{LsmOptions, LsmStore};

/// Executes a text of statements, each in a transaction of its own, and prints the rows that they give.
async fn run(session: &mut Session, sql: &str) -> Result<(), Box<dyn Error>> {
    for piece in session.parse(sql)? {
        let prepared = session.prepare(Some(piece), sql.into(), Vec::new())?;
        match session.execute(&prepared, Vec::new()).await? {
            Execution::Rows(mut rows) => {
                let mut batches = Vec::new();
                while let Some(batch) = rows.stream.next().await {
                    batches.push(batch?);
                }
                println!("{}", arrow::util::pretty::pretty_format_batches(&batches)?);
            }
            Execution::Done(tag) => println!("{tag}"),
            _ => {}
        }
        session.finish().await?;
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let directory = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "embed-data".into()));
    std::fs::create_dir_all(&directory)?;
    let store = LsmStore::open(directory.join("store"), LsmOptions::default())?;
    let options = DatabaseOptions { text_directory: Some(directory.join("text")), ..DatabaseOptions::default() };
    let database = Database::open(Arc::new(store), options).await?;

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
    let warm = context
        .sql("SELECT sensor, max(celsius) AS warmest FROM stoa.public.readings WHERE sensor >= 's1' GROUP BY sensor ORDER BY sensor")
        .await?;
    warm.show().await?;
    context.sql("INSERT INTO stoa.public.readings VALUES ('s9', timestamp '2026-02-01 00:00:00', 31.5)").await?.show().await?;
    run(&mut session, "SELECT * FROM readings WHERE sensor = 's9'").await?;

    // Constraints hold from there too.
    let refused =
        context.sql("INSERT INTO stoa.public.readings VALUES ('s9', timestamp '2026-02-02 00:00:00', -300)").await?.collect().await;
    println!("refused: {}", refused.err().ok_or("an impossible temperature was accepted")?);
    session.close().await;
    Ok(())
}

//! sqlx's migrations: up, down, by two at once, with what goes wrong. They leave the tables that `checked` is compiled against.

use sqlx::migrate::{Migrate, MigrateError, Migrator};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Connection, Executor, PgConnection, PgPool};

static MIGRATOR: Migrator = sqlx::migrate!("./migrations");

/// What is written down of migrations, and what is there.
async fn look(db: &PgPool) -> Result<(), sqlx::Error> {
    let applied: Vec<(i64, String, bool, i32, bool)> =
        sqlx::query_as("SELECT version, description, success, length(checksum), execution_time > 0 FROM _sqlx_migrations ORDER BY version")
            .fetch_all(db)
            .await?;
    println!("applied: {applied:?}");
    let there: Vec<(String, String)> =
        sqlx::query_as("SELECT relname::text, relkind::text FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1")
            .fetch_all(db)
            .await?;
    println!("there: {there:?}");
    Ok(())
}

fn told(result: Result<(), MigrateError>) {
    match result {
        Ok(()) => println!("done"),
        Err(MigrateError::ExecuteMigration(error, version)) => {
            println!("migration {version}: {:?}", error.as_database_error().map(|e| (e.code(), e.message())));
        }
        Err(error) => println!("{error}"),
    }
}

/// Over a connection of its own: one whose migration failed keeps the lock.
async fn fails(migrations: &Migrator) -> Result<(), sqlx::Error> {
    let mut c = PgConnection::connect_with(&PgConnectOptions::new()).await?;
    told(migrations.run(&mut c).await);
    c.close().await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let db = PgPoolOptions::new().max_connections(4).connect_with(PgConnectOptions::new()).await?;
    println!("== up");
    told(MIGRATOR.run_to(1, &db).await);
    look(&db).await?;
    told(MIGRATOR.run(&db).await);
    told(MIGRATOR.run(&db).await);
    look(&db).await?;
    println!("== down");
    told(MIGRATOR.undo(&db, 1).await);
    look(&db).await?;
    told(MIGRATOR.undo(&db, 0).await);
    look(&db).await?;
    println!("== two at once");
    let both = futures::future::join(MIGRATOR.run(&db), MIGRATOR.run(&db)).await;
    told(both.0);
    told(both.1);
    look(&db).await?;
    println!("== one that fails");
    let scratch = std::env::temp_dir().join(format!("migrations-{}", std::process::id()));
    let write = |name: &str, sql: &str| std::fs::write(scratch.join(name), sql);
    std::fs::create_dir_all(&scratch)?;
    // Not where it was compiled: compiled files outlive a checkout.
    for file in std::fs::read_dir(std::env::var("MIGRATIONS")?)? {
        let file = file?;
        std::fs::copy(file.path(), scratch.join(file.file_name()))?;
    }
    write("4_bad.up.sql", "CREATE TABLE half (a int); INSERT INTO half VALUES (1); SELECT 1 / a - 1 / 0 FROM half;")?;
    write("4_bad.down.sql", "")?;
    fails(&Migrator::new(scratch.as_path()).await?).await?;
    look(&db).await?;
    println!("== one that changed, one that is missing");
    write("4_bad.up.sql", "SELECT 1")?;
    write("2_items.up.sql", "SELECT 2")?;
    fails(&Migrator::new(scratch.as_path()).await?).await?;
    std::fs::remove_file(scratch.join("2_items.up.sql"))?;
    std::fs::remove_file(scratch.join("2_items.down.sql"))?;
    fails(&Migrator::new(scratch.as_path()).await?).await?;
    std::fs::remove_dir_all(&scratch)?;
    println!("== one that was left half way");
    db.execute("UPDATE _sqlx_migrations SET success = false WHERE version = 3").await?;
    fails(&MIGRATOR).await?;
    db.execute("UPDATE _sqlx_migrations SET success = true WHERE version = 3").await?;
    println!("== the lock");
    let mut holder = PgConnection::connect_with(&PgConnectOptions::new()).await?;
    holder.lock().await?;
    let another = db.clone();
    let waits = tokio::spawn(async move { MIGRATOR.run(&another).await });
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    println!("waits: {}", !waits.is_finished());
    holder.unlock().await?;
    told(waits.await?);
    look(&db).await?;
    Ok(())
}

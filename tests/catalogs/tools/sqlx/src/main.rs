//! What sqlx asks at compile time and while it runs, of the tables and views that there are, and tokio-postgres of types that it does not know.

use sqlx::postgres::{PgAdvisoryLock, PgConnectOptions, PgListener, PgPoolOptions};
use sqlx::{Connection, Executor, SqlSafeStr};

// Compiled anew for each database.
const _: Option<&str> = option_env!("DATABASE_URL");

/// The row of a table, whose type has a name on the server.
#[derive(sqlx::Type, Debug)]
#[sqlx(type_name = "app.keyless")]
struct Keyless {
    a: Option<i32>,
    b: Option<String>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let db = PgPoolOptions::new().max_connections(2).connect_with(PgConnectOptions::new()).await?;
    let customers = sqlx::query!("SELECT * FROM app.customer WHERE id = $1 OR name = ANY ($2)", 1, &["Ann".to_owned()][..]).fetch_all(&db).await?;
    let joined = sqlx::query!(
        "SELECT c.name, o.id, o.total, l.amount FROM app.customer c LEFT JOIN app.orders o ON o.customer_id = c.id \
         LEFT JOIN app.order_line l ON l.order_id = o.id WHERE c.balance >= $1",
        rust_decimal::Decimal::ZERO
    )
    .fetch_all(&db)
    .await?;
    let open = sqlx::query!("SELECT id, customer, placed FROM app.open_orders ORDER BY id").fetch_all(&db).await?;
    let totals = sqlx::query!("SELECT customer_id, total, count(*) OVER () AS \"of!\" FROM app.totals").fetch_all(&db).await?;
    let mixed = sqlx::query!(r#"SELECT "Id", "select", after_gone FROM app."Mixed Case""#).fetch_optional(&db).await?;
    let added = sqlx::query!(
        "INSERT INTO app.customer (name, tags, doc, birth, code, raw) VALUES ($1, $2, $3, $4, $5, $6) RETURNING id, created, kind",
        "Carol",
        &["a".to_owned()][..],
        serde_json::json!({"n": 1}),
        chrono::NaiveDate::from_ymd_opt(2000, 2, 29),
        uuid::Uuid::nil(),
        &b"\0\x01"[..]
    )
    .fetch_one(&db)
    .await?;
    let changed = sqlx::query!("UPDATE app.orders SET total = total + $1 WHERE customer_id = $2 RETURNING total", rust_decimal::Decimal::ONE, added.id)
        .fetch_all(&db)
        .await?;
    let gone = sqlx::query!("DELETE FROM app.customer WHERE id = $1", added.id).execute(&db).await?.rows_affected();
    let scalar = sqlx::query_scalar!("SELECT relname FROM pg_class WHERE oid = 'app.customer'::regclass").fetch_one(&db).await?;
    println!("{} {} {} {} {} {} {gone} {scalar:?}", customers.len(), joined.len(), open.len(), totals.len(), mixed.is_some(), changed.len());
    // Types by name, arrays of them, and values of them.
    let row: (Keyless,) = sqlx::query_as("SELECT $1").bind(Keyless { a: Some(1), b: Some("x".into()) }).fetch_one(&db).await?;
    let rows: (Vec<Keyless>,) = sqlx::query_as("SELECT array_agg(k) FROM app.keyless k WHERE k = ANY ($1) OR k.a IS NOT NULL").bind(Vec::<Keyless>::new()).fetch_one(&db).await.unwrap_or((vec![],));
    println!("{row:?} {rows:?}");
    for statement in ["SELECT o, o.* FROM app.orders o", "SELECT array_agg(c) FROM app.customer c", "SELECT app.ticket, k FROM app.ticket, app.keyless k", "SELECT '{}'::app.keyless[]"] {
        match db.describe(sqlx::AssertSqlSafe(statement).into_sql_str()).await {
            Ok(of) => println!("{} columns, nullable {:?}", of.columns().len(), (0..of.columns().len()).map(|i| of.nullable(i)).collect::<Vec<_>>()),
            Err(error) => println!("{error}"),
        }
    }
    let mut listener = PgListener::connect_with(&db).await?;
    listener.listen_all(["app", "other"]).await?;
    let lock = PgAdvisoryLock::new("a lock");
    let held = lock.acquire(db.acquire().await?).await?;
    drop(held.release_now().await?);
    // A second run finds what the first has done.
    for _ in 0..2 {
        sqlx::migrate!("./migrations").run(&db).await?;
    }
    db.acquire().await?.detach().close().await?;
    drop(listener);
    db.close().await;

    let var = |name| std::env::var(name).expect(name);
    let mut how = tokio_postgres::Config::new();
    how.host(var("PGHOST")).port(var("PGPORT").parse()?).user(var("PGUSER")).password(var("PGPASSWORD")).dbname(var("PGDATABASE"));
    let (client, connection) = how.connect(tokio_postgres::NoTls).await?;
    tokio::spawn(connection);
    for statement in [
        "SELECT * FROM app.customer WHERE id = $1",
        "SELECT o, c FROM app.orders o JOIN app.customer c ON c.id = o.customer_id",
        "SELECT array_agg(l) FROM app.order_line l",
        "SELECT $1::app.keyless, $2::app.keyless[]",
        "SELECT indkey, indclass, indoption FROM pg_index",
        "SELECT relacl FROM pg_class WHERE relname = $1 AND relkind = ANY ($2)",
        "SELECT p FROM pg_namespace p",
    ] {
        match client.prepare(statement).await {
            Ok(prepared) => println!("{:?} {:?}", prepared.params(), prepared.columns().iter().map(|c| c.type_().name().to_owned()).collect::<Vec<_>>()),
            Err(error) => println!("{error:?}"),
        }
    }
    println!("{:?}", client.query("SELECT nspname, oid FROM pg_namespace WHERE nspname = $1", &[&"app"]).await?.len());
    Ok(())
}

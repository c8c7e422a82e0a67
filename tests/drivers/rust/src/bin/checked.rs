//! sqlx with queries that the database checks while this is compiled: types of columns and parameters, what may be NULL. Then the same
//! queries run, and what else sqlx does. `migrate` makes the tables.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use futures::TryStreamExt;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use sqlx::postgres::types::PgInterval;
use sqlx::postgres::{PgAdvisoryLock, PgConnectOptions, PgListener, PgPoolOptions};
use sqlx::{Column, Connection, Executor, PgConnection, PgPool, Row, Statement, TypeInfo};
use std::time::Duration;
use uuid::Uuid;

type Done = Result<(), Box<dyn std::error::Error>>;

// A build is of one database and one time: both are new for each run.
const _: (Option<&str>, Option<&str>) = (option_env!("DATABASE_URL"), option_env!("SQLX_OFFLINE_DIR"));

#[derive(Debug)]
#[allow(dead_code)]
struct Person {
    id: i32,
    name: String,
    nick: Option<String>,
    tags: Vec<String>,
    balance: Decimal,
    born: Option<NaiveDate>,
}

#[derive(Debug)]
#[allow(dead_code)]
struct Named {
    name: Option<String>,
    title: Option<String>,
}

fn error(result: Result<impl Sized, sqlx::Error>) {
    match result {
        Ok(_) => println!("no error"),
        Err(sqlx::Error::Database(e)) => {
            let pg = e.downcast_ref::<sqlx::postgres::PgDatabaseError>();
            println!(
                "error: {:?} {} {:?} {:?} {:?} {:?} {:?}",
                e.kind(),
                pg.code(),
                pg.message(),
                pg.detail(),
                e.table(),
                pg.column(),
                e.constraint()
            );
            println!("  {:?} {:?} {:?} {:?}", pg.severity(), pg.position(), pg.schema(), pg.data_type());
        }
        Err(other) => println!("other error: {other}"),
    }
}

async fn columns(db: &PgPool) -> Done {
    let people = sqlx::query_as!(Person, "SELECT id, name, nick, tags, balance, born FROM person WHERE id < 3 ORDER BY id");
    println!("{:#?}", people.fetch_all(db).await?);
    let rest = sqlx::query!(
        r#"SELECT born, wakes, left_at, extra, plain, code, data, score, weight, small, big, active, letter, fixed, span, many AS "many: Vec<Option<i32>>", ids
           FROM person WHERE id = $1"#,
        1
    );
    println!("{:#?}", rest.fetch_one(db).await?);
    let seen: Option<DateTime<Utc>> = sqlx::query_scalar!("SELECT seen FROM person WHERE name = $1", "Ann").fetch_one(db).await?;
    println!("{seen:?}");
    let odd = sqlx::query!("SELECT score, weight, data, letter, fixed, ids FROM person WHERE id = 3").fetch_one(db).await?;
    println!("{odd:?}");
    // Anything that is none of a table's columns may be NULL.
    let made = sqlx::query!(
        r#"SELECT 1 AS one, 'x' AS text, NULL::int AS nothing, now() IS NOT NULL AS "now!", ARRAY[1, 2] AS list, 1.5 AS number, current_date > '2000-01-01' AS after, count(*) OVER () AS n"#
    );
    println!("{:?}", made.fetch_one(db).await?);
    println!("{:?}", sqlx::query!("SELECT * FROM item ORDER BY id").fetch_all(db).await?);
    println!("{:?}", sqlx::query!("SELECT * FROM belongings WHERE name = $1 ORDER BY price", "Ann").fetch_all(db).await?);
    println!(
        "{:?}",
        sqlx::query!("SELECT id AS \"id?\", note AS \"note!\" FROM item WHERE note IS NOT NULL ORDER BY id").fetch_all(db).await?
    );
    Ok(())
}

/// Rows in the order of what they print.
fn sorted<T: std::fmt::Debug>(rows: Vec<T>) {
    let mut rows: Vec<String> = rows.iter().map(|row| format!("{row:?}")).collect();
    rows.sort();
    rows.iter().for_each(|row| println!("{row}"));
}

async fn joins(db: &PgPool) -> Done {
    println!("left");
    sorted(
        sqlx::query!("SELECT p.name, i.title, i.note FROM person p LEFT JOIN item i ON i.owner = p.id WHERE p.id = $1", 3)
            .fetch_all(db)
            .await?,
    );
    println!("left of more");
    let deep = sqlx::query!(
        "SELECT p.name, i.title, pt.label, i.price * 2 AS twice FROM person p LEFT JOIN item i ON i.owner = p.id LEFT JOIN part pt ON pt.item = i.id WHERE p.id = $1",
        1
    );
    sorted(deep.fetch_all(db).await?);
    println!("inner");
    sorted(sqlx::query!("SELECT p.name, i.title FROM person p JOIN item i ON i.owner = p.id WHERE p.id = $1", 1).fetch_all(db).await?);
    println!("full");
    let full = sqlx::query_as!(Named, r#"SELECT p.name, i.title FROM person p FULL JOIN item i ON i.owner = p.id AND i.price > 1"#);
    sorted(full.fetch_all(db).await?);
    println!("lateral");
    let lateral = sqlx::query!(
        r#"SELECT p.name, dear.title AS "title?" FROM person p LEFT JOIN LATERAL (SELECT title FROM item WHERE owner = p.id ORDER BY price DESC LIMIT 1) dear ON true"#
    );
    sorted(lateral.fetch_all(db).await?);
    println!("aggregates");
    println!("{:?}", sqlx::query_file!("queries/spending.sql", 0).fetch_all(db).await?);
    println!("{:?}", sqlx::query_scalar!("SELECT count(*) FROM item").fetch_one(db).await?);
    println!(
        "{:?}",
        sqlx::query_scalar!(r#"SELECT sum(price) AS "sum!" FROM item WHERE owner = ANY($1)"#, &[1, 2][..]).fetch_one(db).await?
    );
    println!("with");
    let with = sqlx::query!(
        "WITH dear AS (SELECT owner, max(price) AS most FROM item GROUP BY owner) SELECT p.name, d.most FROM person p JOIN dear d ON d.owner = p.id WHERE d.most > $1 ORDER BY 1",
        Decimal::ONE
    );
    println!("{:?}", with.fetch_all(db).await?);
    let windowed = sqlx::query!(
        "SELECT title, rank() OVER (PARTITION BY owner ORDER BY price) AS place, lag(title) OVER (ORDER BY id) AS before FROM item ORDER BY id"
    );
    println!("{:?}", windowed.fetch_all(db).await?);
    let either = sqlx::query_scalar!("SELECT name FROM person WHERE id = 1 UNION ALL SELECT title FROM item WHERE id = $1", 1_i64);
    println!("{:?}", either.fetch_all(db).await?);
    let chosen = sqlx::query!(
        "SELECT CASE WHEN price > $1 THEN 'dear' ELSE 'cheap' END AS what, coalesce(note, 'none') AS note FROM item ORDER BY id",
        Decimal::TEN
    );
    println!("{:?}", chosen.fetch_all(db).await?);
    Ok(())
}

async fn changes(db: &PgPool) -> Done {
    let at = DateTime::from_timestamp(1_700_000_000, 123_000).ok_or("a time")?;
    let span = PgInterval { months: 1, days: 2, microseconds: 3 };
    let dee = sqlx::query!(
        "INSERT INTO person (name, nick, tags, balance, born, seen, wakes, left_at, extra, plain, code, data, score, weight, small, big, active, span, many, ids)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20) RETURNING id, name, balance",
        "Dee",
        None::<String>,
        &["x".to_owned(), String::new()][..],
        Decimal::new(-12345, 2),
        NaiveDate::from_ymd_opt(1999, 12, 31),
        at,
        NaiveTime::from_hms_micro_opt(23, 59, 59, 999_999),
        NaiveDateTime::default(),
        json!({"k": [1, 2.5, null, "s"]}),
        json!("text"),
        Uuid::from_u128(7),
        &b"\x00\x01"[..],
        0.25_f32,
        -1e300_f64,
        i16::MIN,
        i64::MAX,
        false,
        span,
        &[1, 2][..],
        &[Uuid::nil()][..]
    );
    println!("{:?}", dee.fetch_one(db).await?);
    let back = sqlx::query!(
        r#"SELECT tags, seen, wakes, left_at, extra AS "extra: Value", plain, code, data, score, weight, small, big, span, ids
           FROM person WHERE name = 'Dee'"#
    );
    println!("{:?}", back.fetch_one(db).await?);
    let named = sqlx::query_scalar!("SELECT balance FROM person WHERE name = ANY($1) ORDER BY name", &["Ann".to_owned(), "Dee".into()][..]);
    println!("{:?}", named.fetch_all(db).await?);
    let (owners, titles, prices) = ([1, 1, 2], ["p".to_owned(), "q".into(), "r".into()], [Decimal::ONE, Decimal::TWO, Decimal::TEN]);
    let many = sqlx::query!(
        "INSERT INTO item (owner, title, price) SELECT * FROM unnest($1::int[], $2::text[], $3::numeric[]) RETURNING title, note",
        &owners[..],
        &titles[..],
        &prices[..]
    );
    println!("{:?}", many.fetch_all(db).await?);
    println!(
        "{}",
        sqlx::query!("UPDATE item SET note = $2, price = price + $1 WHERE length(title) = 1", Decimal::ONE, "new")
            .execute(db)
            .await?
            .rows_affected()
    );
    let upsert = sqlx::query_scalar!(
        "INSERT INTO person (name, balance) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET balance = person.balance + excluded.balance RETURNING balance",
        "Bob",
        Decimal::new(5, 1)
    );
    println!("{:?}", upsert.fetch_one(db).await?);
    println!("{:?}", sqlx::query!("DELETE FROM item WHERE length(title) = 1 RETURNING title, price").fetch_all(db).await?.len());
    println!("{:?}", sqlx::query!("DELETE FROM person WHERE name = 'Dee'").execute(db).await?);
    Ok(())
}

async fn errors(db: &PgPool) -> Done {
    error(sqlx::query!("INSERT INTO person (name) VALUES ($1)", "Ann").execute(db).await);
    error(sqlx::query!("INSERT INTO item (owner, title, price) VALUES (99, 'x', 1)").execute(db).await);
    error(sqlx::query!("INSERT INTO item (owner, title, price) VALUES (1, 'x', -1)").execute(db).await);
    error(sqlx::query!("UPDATE item SET title = $1", None::<String>).execute(db).await);
    error(sqlx::query!("UPDATE person SET nick = $1", "longer than twelve").execute(db).await);
    error(sqlx::query_scalar!("SELECT 1 / $1", 0).fetch_one(db).await);
    error(sqlx::query_scalar!("SELECT id FROM item WHERE id < 0").fetch_one(db).await);
    error(sqlx::query("SELECT nothing FROM item").fetch_one(db).await);
    error(sqlx::query("SELEC 1").execute(db).await);
    error(sqlx::raw_sql("SELECT 1; SELECT * FROM nowhere").execute(db).await);
    Ok(())
}

async fn transactions(db: &PgPool) -> Done {
    let count = async || sqlx::query_scalar!(r#"SELECT count(*) AS "n!" FROM item"#).fetch_one(db).await;
    println!("before {}", count().await?);
    let mut outer = db.begin().await?;
    sqlx::query!("INSERT INTO item (owner, title, price) VALUES (1, 'outer', 1)").execute(&mut *outer).await?;
    let mut inner = outer.begin().await?;
    sqlx::query!("INSERT INTO item (owner, title, price) VALUES (1, 'inner', 1)").execute(&mut *inner).await?;
    error(sqlx::query_scalar!("SELECT 1 / $1", 0).fetch_one(&mut *inner).await);
    error(sqlx::query!("SELECT 1 AS one").fetch_one(&mut *inner).await);
    inner.rollback().await?;
    outer.commit().await?;
    println!("committed {}", count().await?);
    {
        let mut dropped = db.begin().await?;
        sqlx::query!("DELETE FROM item WHERE title = 'outer'").execute(&mut *dropped).await?;
    }
    println!("dropped {}", count().await?);
    let mut reader = db.begin_with("BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE").await?;
    println!("{:?}", sqlx::query_scalar!("SELECT current_setting('transaction_isolation')").fetch_one(&mut *reader).await?);
    error(sqlx::query!("DELETE FROM item").execute(&mut *reader).await);
    reader.rollback().await?;
    println!("{}", sqlx::query!("DELETE FROM item WHERE title = 'outer'").execute(db).await?.rows_affected());
    Ok(())
}

async fn messages(db: &PgPool) -> Done {
    let mut listener = PgListener::connect_with(db).await?;
    listener.listen_all(["one", "Two words"]).await?;
    let mut sender = db.begin().await?;
    sqlx::query!("SELECT pg_notify('Two words', $1)", "späť").execute(&mut *sender).await?;
    sqlx::query("NOTIFY one").execute(&mut *sender).await?;
    println!("{}", tokio::time::timeout(Duration::from_millis(100), listener.recv()).await.is_err());
    sender.commit().await?;
    for _ in 0..2 {
        let message = tokio::time::timeout(Duration::from_secs(20), listener.recv()).await??;
        println!("{:?} {:?}", message.channel(), message.payload());
    }
    listener.unlisten_all().await?;
    Ok(())
}

async fn copies(db: &PgPool) -> Done {
    let mut c = db.acquire().await?;
    let mut into = c.copy_in_raw("COPY item (owner, title, price) FROM STDIN WITH (FORMAT csv)").await?;
    for n in 0..1000 {
        into.send(format!("1,\"copied, {n}\",{n}.5\n").into_bytes()).await?;
    }
    println!("in {}", into.finish().await?);
    let out: Vec<_> = c
        .copy_out_raw("COPY (SELECT title, price FROM item WHERE title LIKE 'copied, 99%' ORDER BY price) TO STDOUT")
        .await?
        .try_collect()
        .await?;
    println!("{:?}", String::from_utf8(out.concat())?);
    let mut refused = c.copy_in_raw("COPY item (owner, title, price) FROM STDIN").await?;
    refused.send(&b"1\tx\t-1\n"[..]).await?;
    error(refused.finish().await);
    let aborted = c.copy_in_raw("COPY item (owner, title, price) FROM STDIN").await?;
    error(aborted.abort("enough").await);
    println!("{}", sqlx::query!("DELETE FROM item WHERE title LIKE 'copied%'").execute(&mut *c).await?.rows_affected());
    Ok(())
}

async fn many(db: &PgPool) -> Done {
    let asked = (0..60).map(|n| {
        let db = db.clone();
        tokio::spawn(async move { sqlx::query_scalar!(r#"SELECT $1::int * 2 AS "n!" FROM pg_sleep(0.002)"#, n).fetch_one(&db).await })
    });
    let mut total = 0;
    for task in asked.collect::<Vec<_>>() {
        total += task.await??;
    }
    println!("{total} over {} connections", db.size());
    let mut rows = sqlx::query!(r#"SELECT g AS "g!", repeat('x', 100) AS "x!" FROM generate_series(1, $1) g"#, 100_000).fetch(db);
    let mut sum = 0_i64;
    while let Some(row) = rows.try_next().await? {
        sum += i64::from(row.g) + row.x.len() as i64;
    }
    println!("{sum}");
    let lock = PgAdvisoryLock::new("a lock of its own");
    let held = lock.acquire(db.acquire().await?).await?;
    println!("{}", lock.try_acquire(db.acquire().await?).await?.is_left());
    drop(held.release_now().await?);
    println!("{}", lock.try_acquire(db.acquire().await?).await?.is_left());
    Ok(())
}

/// Statements without the macros: what the server tells of them.
async fn described(c: &mut PgConnection) -> Done {
    for sql in [
        "SELECT p.*, p.tags AS again, 1 AS one FROM person p WHERE name = $1 AND many = $2",
        "INSERT INTO person (name, ids, nick) VALUES ($1, $2, $3)",
        "SELECT $1::interval, $2 || 'x', ARRAY[$3::uuid], ROW(1, 'x'), $4",
        "EXPLAIN SELECT 1",
        "SET TimeZone = 'UTC'",
    ] {
        let statement = c.prepare(sqlx::SqlStr::from_static(sql)).await?;
        let columns: Vec<_> = statement.columns().iter().map(|c| (c.name(), c.type_info().name().to_owned())).collect();
        println!("{:?} {columns:?}", statement.parameters().map(|p| p.map_left(|p| p.iter().map(ToString::to_string).collect::<Vec<_>>())));
    }
    let row = sqlx::query("SELECT nick, tags FROM person WHERE id = 1").fetch_one(&mut *c).await?;
    println!("{:?} {:?}", row.try_get::<i32, _>(0).map_err(|e| e.to_string()), row.try_get::<Vec<String>, _>("tags")?);
    // A statement that is prepared, and its table changed.
    c.execute("CREATE TEMP TABLE changing (a int); INSERT INTO changing VALUES (1)").await?;
    for ddl in ["SELECT 1", "ALTER TABLE changing ADD b text", "ALTER TABLE changing ALTER a TYPE bigint"] {
        c.execute(sqlx::SqlStr::from_static(ddl)).await?;
        error(sqlx::query("SELECT * FROM changing").fetch_one(&mut *c).await);
    }
    c.ping().await?;
    Ok(())
}

#[tokio::main]
async fn main() -> Done {
    let options = PgConnectOptions::new().application_name("checked").options([("TimeZone", "UTC")]);
    let db = PgPoolOptions::new().max_connections(3).connect_with(options.clone()).await?;
    println!("== columns");
    columns(&db).await?;
    println!("== joins");
    joins(&db).await?;
    println!("== changes");
    changes(&db).await?;
    println!("== errors");
    errors(&db).await?;
    println!("== transactions");
    transactions(&db).await?;
    println!("== messages");
    messages(&db).await?;
    println!("== copies");
    copies(&db).await?;
    println!("== many");
    many(&db).await?;
    println!("== described");
    described(&mut PgConnection::connect_with(&options).await?).await?;
    db.close().await;
    Ok(())
}

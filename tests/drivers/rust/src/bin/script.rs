//! The drivers' script with tokio-postgres: everything prepared and in binary, over TLS by rustls.

use bytes::{Bytes, BytesMut};
use futures::{SinkExt, StreamExt, TryStreamExt};
use rust_clients::{config, connect, tls, trusting, without_tls};
use std::error::Error;
use std::time::Duration;
use tokio_postgres::Client;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

type Done = Result<(), Box<dyn Error + Send + Sync>>;

/// A value of any type in its binary form, as it came: what is sent back is what was received.
#[derive(Debug, Clone)]
struct Raw(Vec<u8>);

impl<'a> FromSql<'a> for Raw {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Raw(raw.to_vec()))
    }
    fn accepts(_: &Type) -> bool {
        true
    }
}

impl ToSql for Raw {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.extend_from_slice(&self.0);
        Ok(IsNull::No)
    }
    fn accepts(_: &Type) -> bool {
        true
    }
    to_sql_checked!();
}

fn equal<T: PartialEq + std::fmt::Debug>(found: T, wanted: T, what: &str) -> Done {
    if found == wanted { Ok(()) } else { Err(format!("{what}: wanted {wanted:?}, found {found:?}").into()) }
}

fn code<T>(result: Result<T, tokio_postgres::Error>) -> String {
    result.err().and_then(|e| e.code().map(|c| c.code().to_owned())).unwrap_or_default()
}

/// The server is who it says to be, and so is the client, on this very channel.
async fn encrypted(c: &Client) -> Done {
    let row = c.query_one("SELECT ssl, version FROM pg_stat_ssl WHERE pid = pg_backend_pid()", &[]).await?;
    equal((row.get(0), row.get(1)), (true, "TLSv1.3"), "pg_stat_ssl")?;
    let stranger = config().connect(trusting(rustls::RootCertStore::empty())).await.map(|_| ());
    equal(stranger.err().map(|e| e.to_string().contains("TLS handshake")), Some(true), "an unknown authority")?;
    let mut wrong = config();
    wrong.password("another");
    equal(code(wrong.connect(tls()).await), "28P01".to_owned(), "a wrong password")?;
    equal(code(without_tls().await), "28000".to_owned(), "without TLS")
}

async fn types(c: &Client, file: &str) -> Done {
    for line in std::fs::read_to_string(file)?.lines() {
        let (ty, text) = line.split_once('\t').ok_or("a line without a tab")?;
        let value: Raw = c.query_one(&format!("SELECT $1::text::{ty}"), &[&text]).await?.get(0);
        let row = c.query_one(&format!("SELECT ($1::{ty})::text, $2::{ty}"), &[&value, &None::<Raw>]).await?;
        let wanted = if ty == "char(5)" { text.trim_end() } else { text };
        equal(row.get::<_, String>(0), wanted.to_owned(), ty)?;
        equal(row.get::<_, Option<Raw>>(1).is_none(), true, ty)?;
    }
    // Rust's own values.
    let row =
        c.query_one("SELECT $1 + 1, $2 || 'x', $3::float8, $4::bool, $5::bytea", &[&1_i32, &"a", &1.5_f64, &true, &&b"z"[..]]).await?;
    equal((row.get(0), row.get(1), row.get(2), row.get(3)), (2_i32, "ax", 1.5_f64, true), "values")?;
    equal(row.get::<_, Vec<u8>>(4), b"z".to_vec(), "bytea")
}

async fn batch(c: &mut Client) -> Done {
    c.batch_execute("DROP TABLE IF EXISTS rust_t; CREATE TABLE rust_t (id int PRIMARY KEY, name text, n float8)").await?;
    let insert = c.prepare("INSERT INTO rust_t VALUES ($1, $2, $3)").await?;
    let rows: Vec<(i32, Option<String>, f64)> = (0..1000).map(|i| (i, (i % 2 == 0).then(|| format!("n{i}")), f64::from(i))).collect();
    let sent = rows.iter().map(|(i, name, n)| {
        let (c, insert) = (&*c, &insert);
        async move { c.execute(insert, &[i, name, n]).await }
    });
    futures::future::try_join_all(sent).await?;
    let row = c.query_one("SELECT count(*), count(name), sum(n) FROM rust_t", &[]).await?;
    equal((row.get(0), row.get(1), row.get(2)), (1000_i64, 500_i64, 499_500_f64), "sums")
}

async fn copy(c: &Client) -> Done {
    let sink = c.copy_in("COPY rust_t FROM STDIN").await?;
    futures::pin_mut!(sink);
    sink.send(Bytes::from_static(b"5000\ta\\tb\t1\n5001\t\\N\t2\n")).await?;
    equal(sink.finish().await?, 2, "copied")?;
    let out = c.copy_out("COPY (SELECT id, name FROM rust_t WHERE id >= 5000 ORDER BY id) TO STDOUT").await?;
    let out: Vec<Bytes> = out.try_collect().await?;
    equal(out.concat(), b"5000\ta\\tb\n5001\t\\N\n".to_vec(), "copy out")
}

async fn errors(c: &mut Client) -> Done {
    let error = c.execute("INSERT INTO rust_t VALUES ($1)", &[&1_i32]).await.err().ok_or("no error")?;
    let error = error.as_db_error().ok_or("not the server's error")?;
    equal((error.code().code(), error.constraint()), ("23505", Some("rust_t_pkey")), "duplicate")?;
    for (wanted, sql) in
        [("22012", "SELECT 1 / 0"), ("42P01", "SELECT * FROM nowhere"), ("42601", "SELEC 1"), ("23502", "INSERT INTO rust_t VALUES (NULL)")]
    {
        equal(code(c.execute(sql, &[]).await), wanted.to_owned(), sql)?;
    }
    let mut transaction = c.transaction().await?;
    transaction.execute("INSERT INTO rust_t VALUES (-1)", &[]).await?;
    let inner = transaction.transaction().await?;
    equal(code(inner.execute("SELECT 1 / 0", &[]).await), "22012".to_owned(), "in a transaction")?;
    equal(code(inner.execute("SELECT 1", &[]).await), "25P02".to_owned(), "failed")?;
    inner.rollback().await?;
    transaction.commit().await?;
    equal(c.query("SELECT id FROM rust_t WHERE id < 0", &[]).await?.len(), 1, "committed")
}

async fn prepared(c: &mut Client) -> Done {
    let statement = c.prepare("SELECT n::int + $1 FROM rust_t WHERE id = $2").await?;
    equal(statement.params(), &[Type::INT4, Type::INT4][..], "types of parameters")?;
    for i in 0..20_i32 {
        equal(c.query_one(&statement, &[&i, &7_i32]).await?.get::<_, i32>(0), 7 + i, "prepared")?;
    }
    let transaction = c.transaction().await?;
    let portal = transaction.bind("SELECT id FROM rust_t WHERE id BETWEEN 0 AND 999 ORDER BY id", &[]).await?;
    let mut found = Vec::new();
    loop {
        let rows = transaction.query_portal(&portal, 100).await?;
        if rows.is_empty() {
            break;
        }
        found.extend(rows.iter().map(|r| r.get::<_, i32>(0)));
    }
    equal(found, (0..1000).collect(), "portions")?;
    transaction.commit().await?;
    let rows = c.query_raw("SELECT id FROM rust_t WHERE id < $1 AND id >= 0", &[10_i32]).await?;
    futures::pin_mut!(rows);
    let mut count = 0;
    while let Some(row) = rows.next().await {
        row?;
        count += 1;
    }
    equal(count, 10, "streamed")
}

async fn cancel(c: &Client) -> Done {
    let token = c.cancel_token();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(300)).await;
        token.cancel_query(tls()).await
    });
    let sql = "SELECT count(*) FROM generate_series(1, 100000000) a, generate_series(1, 1000) b";
    equal(code(c.query(sql, &[]).await), "57014".to_owned(), "cancel")?;
    equal(c.query_one("SELECT 1", &[]).await?.get::<_, i32>(0), 1, "after cancel")
}

#[tokio::main]
async fn main() {
    let args: Vec<String> = std::env::args().collect();
    let file = &args[2];
    let mut failed = false;
    for name in ["encrypted", "types", "batch", "copy", "errors", "prepared", "cancel"] {
        let mut c = connect().await.expect("no connection");
        let done = match name {
            "encrypted" => encrypted(&c).await,
            "types" => types(&c, file).await,
            "batch" => batch(&mut c).await,
            "copy" => copy(&c).await,
            "errors" => errors(&mut c).await,
            "prepared" => prepared(&mut c).await,
            _ => cancel(&c).await,
        };
        match done {
            Ok(()) => println!("ok {name}"),
            Err(error) => {
                failed = true;
                println!("FAIL {name}: {error:?}");
            }
        }
    }
    std::process::exit(i32::from(failed));
}

//! tokio-postgres: what it asks of types, values of Rust's own in and out, pipelines, binary COPY, errors with their fields, definitions behind
//! prepared statements, notices and notifications, portals, cancels.

use bytes::Bytes;
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use futures::{SinkExt, StreamExt, TryStreamExt};
use rust_clients::{config, connect, tls};
use std::error::Error;
use std::fmt::Debug;
use std::time::Duration;
use tokio_postgres::binary_copy::{BinaryCopyInWriter, BinaryCopyOutStream};
use tokio_postgres::types::{FromSql, Kind, ToSql, Type};
use tokio_postgres::{AsyncMessage, Client, IsolationLevel, SimpleQueryMessage};
use uuid::Uuid;

type Done = Result<(), Box<dyn Error + Send + Sync>>;

/// Hints are left out: Stoa suggests tables as well.
fn error<T>(result: Result<T, tokio_postgres::Error>) {
    match result {
        Ok(_) => println!("no error"),
        Err(e) => match e.as_db_error() {
            Some(d) => println!(
                "error: {} {} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
                d.code().code(),
                d.severity(),
                d.message(),
                d.detail(),
                d.position(),
                d.schema(),
                d.table(),
                d.column(),
                d.datatype(),
                d.constraint()
            ),
            None => println!("other error: {e}"),
        },
    }
}

/// A type without its number, which differs from server to server.
fn told(ty: &Type) -> String {
    let kind = match ty.kind() {
        Kind::Array(of) => format!("array of {}", told(of)),
        Kind::Range(of) => format!("range of {}", told(of)),
        Kind::Domain(of) => format!("domain of {}", told(of)),
        Kind::Composite(fields) => format!("{:?}", fields.iter().map(|f| (f.name(), told(f.type_()))).collect::<Vec<_>>()),
        other => format!("{other:?}"),
    };
    format!("{}.{} {kind}", ty.schema(), ty.name())
}

async fn both<T>(c: &Client, ty: &str, values: &[T]) -> Done
where
    T: ToSql + Sync + Debug,
    for<'a> Option<T>: FromSql<'a>,
{
    for value in values {
        let row = c.query_one(&format!("SELECT $1::{ty}, ($1::{ty})::text, NULL::{ty}"), &[value]).await?;
        let (back, nothing): (Option<T>, Option<T>) = (row.get(0), row.get(2));
        println!("{ty}: {back:?} {:?} {nothing:?}", row.get::<_, &str>(1));
    }
    Ok(())
}

async fn types(c: &Client) -> Done {
    let at = NaiveDate::from_ymd_opt(2024, 2, 29).and_then(|d| d.and_hms_micro_opt(1, 2, 3, 4)).ok_or("a time")?;
    both(c, "bool", &[true, false]).await?;
    both(c, "int2", &[i16::MIN]).await?;
    both(c, "int4", &[i32::MAX]).await?;
    both(c, "int8", &[i64::MIN]).await?;
    both(c, "oid", &[4_000_000_000_u32]).await?;
    both(c, "float4", &[1.5_f32, f32::NAN]).await?;
    both(c, "float8", &[0.1_f64, f64::NEG_INFINITY]).await?;
    both(c, "text", &["größe 'x' \"y\" \\".to_owned(), String::new()]).await?;
    both(c, "varchar(3)", &["abcdef".to_owned()]).await?;
    both(c, "char(5)", &["ab".to_owned()]).await?;
    both(c, "\"char\"", &[120_i8]).await?;
    both(c, "name", &["n".to_owned()]).await?;
    both(c, "bytea", &[vec![0_u8, 255], Vec::new()]).await?;
    both(c, "date", &[at.date()]).await?;
    both(c, "time", &[NaiveTime::from_hms_micro_opt(23, 59, 59, 999_999).ok_or("a time")?]).await?;
    both(c, "timestamp", &[at, NaiveDateTime::default()]).await?;
    both(c, "timestamptz", &[DateTime::<Utc>::from_naive_utc_and_offset(at, Utc)]).await?;
    both(c, "uuid", &[Uuid::from_u128(0x6ecd_8c99)]).await?;
    both(c, "json", &[serde_json::json!({"a": [1, null], "b": 1.5})]).await?;
    both(c, "jsonb", &[serde_json::json!({"a": [1, null], "b": 1.5})]).await?;
    both(c, "int4[]", &[vec![Some(1), None], Vec::new()]).await?;
    both(c, "text[]", &[vec!["a".to_owned(), "b\"c,d".into()]]).await?;
    both(c, "uuid[]", &[vec![Uuid::nil()]]).await?;
    both(c, "timestamptz[]", &[vec![DateTime::<Utc>::from_naive_utc_and_offset(at, Utc)]]).await?;
    let wrong = c.query_one("SELECT $1::int4", &[&"x"]).await;
    println!("{}", wrong.map(|_| ()).err().map_or(String::new(), |e| format!("{e} {:?}", e.source().map(ToString::to_string))));
    Ok(())
}

async fn described(c: &Client) -> Done {
    c.batch_execute(
        "CREATE TABLE own (id int PRIMARY KEY, v varchar(7), l \"char\", n numeric(5, 2), i interval, a int[], u uuid[], j jsonb, o oid)",
    )
    .await?;
    let statement = c.prepare("INSERT INTO own VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING *").await?;
    statement.params().iter().for_each(|ty| println!("parameter {}", told(ty)));
    for column in statement.columns() {
        println!("column {} {} {:?}", column.name(), told(column.type_()), (column.table_oid().is_some(), column.column_id()));
    }
    let statement =
        c.prepare("SELECT ROW(1, 'x'), a[1], v || '' AS joined, current_user, id::regclass, now() - now(), NULL FROM own").await?;
    for column in statement.columns() {
        println!("column {} {} {:?}", column.name(), told(column.type_()), (column.table_oid().is_some(), column.column_id()));
    }
    error(c.prepare("SELECT $1").await);
    error(c.prepare("SELECT $1 + $2").await);
    error(c.prepare("SELECT $1::int, $3::int").await);
    Ok(())
}

async fn pipelines_and_copies(c: &mut Client) -> Done {
    c.batch_execute("CREATE TABLE t (id int PRIMARY KEY, name text, n float8, tags text[])").await?;
    let insert = c.prepare("INSERT INTO t VALUES ($1, $2, $3)").await?;
    let sent = (0..500).map(|n| {
        let (c, insert) = (&*c, &insert);
        async move { c.execute(insert, &[&n, &format!("n{n}"), &f64::from(n)]).await }
    });
    println!("sent {}", futures::future::try_join_all(sent).await?.iter().sum::<u64>());
    // One of many fails alone.
    let some = [1000, 1, 1001].map(|n: i32| {
        let c = &*c;
        async move { c.execute("INSERT INTO t (id) VALUES ($1)", &[&n]).await }
    });
    futures::future::join_all(some).await.into_iter().for_each(error);
    let sink = c.copy_in("COPY t (id, name, tags) FROM STDIN BINARY").await?;
    let writer = BinaryCopyInWriter::new(sink, &[Type::INT4, Type::TEXT, Type::TEXT_ARRAY]);
    futures::pin_mut!(writer);
    for n in 0..1000 {
        writer.as_mut().write(&[&(2000 + n), &None::<&str>, &vec!["a".to_owned(), n.to_string()]]).await?;
    }
    println!("copied {}", writer.finish().await?);
    let out = c.copy_out("COPY (SELECT id, name, tags FROM t WHERE id IN (3, 2999) ORDER BY id) TO STDOUT BINARY").await?;
    let out = BinaryCopyOutStream::new(out, &[Type::INT4, Type::TEXT, Type::TEXT_ARRAY]);
    futures::pin_mut!(out);
    while let Some(row) = out.next().await {
        let row = row?;
        println!("{} {:?} {:?}", row.try_get::<i32>(0)?, row.try_get::<Option<&str>>(1)?, row.try_get::<Option<Vec<String>>>(2)?);
    }
    let sink = c.copy_in("COPY t (id) FROM STDIN").await?;
    futures::pin_mut!(sink);
    sink.send(Bytes::from_static(b"5000\n1\n")).await?;
    error(sink.finish().await);
    {
        // One that is dropped is taken back.
        let sink = c.copy_in::<_, Bytes>("COPY t (id) FROM STDIN").await?;
        drop(sink);
    }
    let out: Vec<Bytes> = c.copy_out("COPY (SELECT count(*) FROM t) TO STDOUT CSV HEADER").await?.try_collect().await?;
    println!("{:?}", String::from_utf8(out.concat())?);
    Ok(())
}

async fn errors(c: &Client) -> Done {
    for (sql, with) in [
        ("INSERT INTO t (id) VALUES ($1)", Some(1)),
        ("SELECT 1 / $1", Some(0)),
        ("SELECT * FROM nowhere", None),
        ("SELEC 1", None),
        ("INSERT INTO t (name) VALUES ('x')", None),
        ("SELECT nofunction($1)", Some(1)),
        ("SELECT nothing FROM t", None),
        ("SELECT 'x'::int", None),
    ] {
        let with: Vec<&(dyn ToSql + Sync)> = with.iter().map(|n: &i32| n as &(dyn ToSql + Sync)).collect();
        match c.prepare(sql).await {
            Ok(statement) if statement.params().len() == with.len() => error(c.query(&statement, &with).await),
            Ok(statement) => println!("{:?}", statement.params()),
            Err(e) => error::<()>(Err(e)),
        }
        error(c.simple_query(&sql.replace("$1", "1")).await);
    }
    for message in
        c.simple_query("SELECT 1 AS a, NULL AS b; UPDATE t SET n = 0 WHERE id < 3; CREATE TEMP TABLE tt (); SELECT 2 WHERE false").await?
    {
        match message {
            SimpleQueryMessage::Row(row) => println!("row {:?} {:?}", row.get(0), row.get(1)),
            SimpleQueryMessage::CommandComplete(n) => println!("complete {n}"),
            SimpleQueryMessage::RowDescription(columns) => {
                println!("columns {:?}", columns.iter().map(|c| c.name().to_owned()).collect::<Vec<_>>())
            }
            _ => println!("other"),
        }
    }
    Ok(())
}

async fn transactions(c: &mut Client) -> Done {
    for (level, read_only) in
        [(IsolationLevel::ReadCommitted, false), (IsolationLevel::RepeatableRead, true), (IsolationLevel::Serializable, true)]
    {
        let transaction = c.build_transaction().isolation_level(level).read_only(read_only).deferrable(read_only).start().await?;
        let row = transaction
            .query_one("SELECT current_setting('transaction_isolation'), current_setting('transaction_deferrable')", &[])
            .await?;
        println!("in {} {}", row.get::<_, &str>(0), row.get::<_, &str>(1));
        error(transaction.execute("INSERT INTO t (id) VALUES (9000)", &[]).await);
        transaction.rollback().await?;
    }
    let mut outer = c.transaction().await?;
    let inner = outer.savepoint("a_name").await?;
    error(inner.query("SELECT 1 / 0", &[]).await);
    error(inner.query("SELECT 1", &[]).await);
    inner.rollback().await?;
    let portal = outer.bind("SELECT g FROM generate_series(1, $1) g", &[&25]).await?;
    let mut sizes = Vec::new();
    loop {
        let rows = outer.query_portal(&portal, 10).await?;
        sizes.push(rows.len());
        if rows.is_empty() {
            break;
        }
    }
    println!("portions {sizes:?}");
    {
        let dropped = outer.transaction().await?;
        dropped.execute("DELETE FROM t", &[]).await?;
    }
    println!("{}", outer.query_one("SELECT count(*) FROM t", &[]).await?.get::<_, i64>(0));
    outer.commit().await?;
    Ok(())
}

async fn definitions(c: &Client) -> Done {
    c.batch_execute("CREATE TABLE d (a int, b text); INSERT INTO d VALUES (1, 'x')").await?;
    let kept = c.prepare("SELECT * FROM d WHERE a = $1").await?;
    for ddl in [
        "SELECT 1",
        "CREATE INDEX ON d (a)",
        "ALTER TABLE d ADD c int DEFAULT 5",
        "ALTER TABLE d DROP c",
        "ALTER TABLE d ALTER b TYPE varchar(7)",
        "ALTER TABLE d RENAME b TO bb",
        "DROP TABLE d",
    ] {
        c.batch_execute(ddl).await?;
        println!("after {ddl}");
        error(c.query(&kept, &[&1]).await);
        error(c.query("SELECT * FROM d WHERE a = $1", &[&1]).await);
    }
    Ok(())
}

async fn messages(c: &Client) -> Done {
    let (loud, mut connection) = config().connect(tls()).await?;
    let (to, mut from) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(message) = futures::future::poll_fn(|context| connection.poll_message(context)).await {
            if to.send(message).is_err() {
                break;
            }
        }
    });
    loud.batch_execute(
        "LISTEN rust; DROP TABLE IF EXISTS rust_nowhere; DO $$ BEGIN IF 1 < 2 THEN RAISE WARNING '100%% sure'; END IF; END $$",
    )
    .await?;
    c.execute("SELECT pg_notify('rust', $1)", &[&"wörd"]).await?;
    for _ in 0..3 {
        match tokio::time::timeout(Duration::from_secs(20), from.recv()).await?.ok_or("closed")?? {
            AsyncMessage::Notice(n) => println!("notice {} {} {:?}", n.severity(), n.code().code(), n.message()),
            AsyncMessage::Notification(n) => println!("notified {} {:?}", n.channel(), n.payload()),
            _ => println!("other"),
        }
    }
    Ok(())
}

async fn cancels(c: &Client) -> Done {
    let token = c.cancel_token();
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        token.cancel_query(tls()).await
    };
    let (asked, cancelled) =
        futures::future::join(c.query("SELECT count(*) FROM generate_series(1, 100000000) a, generate_series(1, 1000) b", &[]), cancel)
            .await;
    cancelled?;
    error(asked);
    println!("{}", c.query_one("SELECT 1", &[]).await?.get::<_, i32>(0));
    let rows = c.query_raw("SELECT g, repeat('x', 100) FROM generate_series(1, $1) g", [200_000_i32]).await?;
    futures::pin_mut!(rows);
    let mut total = 0_i64;
    while let Some(row) = rows.try_next().await? {
        total += i64::from(row.get::<_, i32>(0)) + row.get::<_, &str>(1).len() as i64;
    }
    println!("{total}");
    println!("{}", c.query_one("SELECT decode(repeat('ab', 3000000), 'hex')", &[]).await?.get::<_, &[u8]>(0).len());
    Ok(())
}

#[tokio::main]
async fn main() {
    let mut failed = false;
    for name in ["types", "descriptions", "pipelines and copies", "errors", "transactions", "definitions", "messages", "cancels"] {
        println!("== {name}");
        let mut c = connect().await.expect("no connection");
        let done = match name {
            "types" => types(&c).await,
            "descriptions" => described(&c).await,
            "pipelines and copies" => pipelines_and_copies(&mut c).await,
            "errors" => errors(&c).await,
            "transactions" => transactions(&mut c).await,
            "definitions" => definitions(&c).await,
            "messages" => messages(&c).await,
            _ => cancels(&c).await,
        };
        if let Err(error) = done {
            failed = true;
            println!("FAIL {name}: {error:?}");
        }
    }
    std::process::exit(i32::from(failed));
}

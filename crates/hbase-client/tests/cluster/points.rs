//! Gets, mutations, conditions and batches.

use super::harness::Cluster;
use futures::executor::block_on;
use std::time::{Duration, Instant};
use stoa_hbase_client::{
    Action, CellKind, CheckAndMutate, Client, ClientConfig, Comparator, Compare, Condition, Durability, Error, Filter, Get, Mutation, Row,
    Table,
};

async fn values(table: &Table, get: Get) -> Vec<(String, i64, String)> {
    let row = table.get(&get).await.unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let cells = row.map(Row::into_cells).unwrap_or_default();
    cells.iter().map(|cell| (text(cell.qualifier()), cell.timestamp(), text(cell.value()))).collect()
}

fn cell(qualifier: &str, time: i64, value: &str) -> (String, i64, String) {
    (qualifier.to_owned(), time, value.to_owned())
}

pub fn every_kind_of_mutation(cluster: &Cluster) {
    let client = cluster.client();
    let table = cluster.fresh_table(&client, "points", &["m"]);
    block_on(async {
        let all = |row: &'static str| Get::new(row).versions(10);
        for time in 1..=4 {
            let put = Mutation::put("a").set_at("f", "x", time, format!("x{time}")).set_at("f", "y", time, format!("y{time}"));
            table.mutate(&put).await.unwrap();
        }
        assert_eq!(values(&table, Get::new("a")).await, [cell("x", 4, "x4"), cell("y", 4, "y4")]);
        assert_eq!(values(&table, all("a").column("f", "x").time_range(2..4)).await, [cell("x", 3, "x3"), cell("x", 2, "x2")]);
        // One version, a column up to a time, the versions of a time, a family up to one.
        table.mutate(&Mutation::delete("a").version_at("f", "x", 3).column_at("f", "y", 2)).await.unwrap();
        let expected = [cell("x", 4, "x4"), cell("x", 2, "x2"), cell("x", 1, "x1"), cell("y", 4, "y4"), cell("y", 3, "y3")];
        assert_eq!(values(&table, all("a")).await, expected);
        table.mutate(&Mutation::delete("a").family_version_at("f", 4)).await.unwrap();
        assert_eq!(values(&table, all("a")).await, [cell("x", 2, "x2"), cell("x", 1, "x1"), cell("y", 3, "y3")]);
        table.mutate(&Mutation::delete("a").family_at("f", 1)).await.unwrap();
        assert_eq!(values(&table, all("a")).await, [cell("x", 2, "x2"), cell("y", 3, "y3")]);
        table.mutate(&Mutation::delete("a").newest_version("f", "x")).await.unwrap();
        assert_eq!(values(&table, all("a")).await, [cell("y", 3, "y3")]);
        table.mutate(&Mutation::delete_at("a", 3)).await.unwrap();
        assert_eq!(table.get(&all("a")).await.unwrap(), None);
        // A put that bears the marker of what it replaces.
        table.mutate(&Mutation::put("b").set_at("f", "p", 10, "old")).await.unwrap();
        table.mutate(&Mutation::put("b").set_at("f", "p", 20, "new").cell(CellKind::DeleteColumn, "f", "p", 19, "")).await.unwrap();
        assert_eq!(values(&table, all("b")).await, [cell("p", 20, "new")]);
        assert_eq!(values(&table, all("b").time_range(0..19)).await, [cell("p", 10, "old")]);
        // Without times: whole columns, families, rows.
        let put = Mutation::put("c").set("f", "x", "1").set("f", "y", "2").set("g", "z", "3").durability(Durability::FsyncWal);
        table.mutate(&put).await.unwrap();
        table.mutate(&Mutation::delete("c").column("f", "x")).await.unwrap();
        assert_eq!(values(&table, Get::new("c")).await.len(), 2);
        table.mutate(&Mutation::delete("c").family("g")).await.unwrap();
        assert_eq!(values(&table, Get::new("c").family("g")).await, []);
        assert!(table.exists(&Get::new("c")).await.unwrap());
        table.mutate(&Mutation::delete("c")).await.unwrap();
        assert!(!table.exists(&Get::new("c")).await.unwrap());
        // Together.
        let both = [Mutation::put("d").set_at("f", "x", 5, "5"), Mutation::delete("d").column_at("f", "y", 5)];
        table.mutate_row(&both).await.unwrap();
        assert_eq!(values(&table, Get::new("d")).await, [cell("x", 5, "5")]);
        // Filters and bounds of a get; a row key of the greatest length; bytes that are no text.
        let wide = (0..20).fold(Mutation::put("e"), |put, n| put.set_at("f", format!("q{n:02}"), 1, n.to_string()));
        table.mutate(&wide).await.unwrap();
        assert_eq!(values(&table, Get::new("e").filter(Filter::column_prefix("q1"))).await.len(), 10);
        assert_eq!(values(&table, Get::new("e").per_family(3, 2)).await[0], cell("q02", 1, "2"));
        let long = vec![0xff_u8; 32_767];
        table.mutate(&Mutation::put(long.clone()).set("f", [0, 1, 255], [0, 255])).await.unwrap();
        let row = table.get(&Get::new(long.clone())).await.unwrap().unwrap();
        assert_eq!((row.key(), row.value(b"f", &[0, 1, 255])), (&long[..], Some(&[0, 255][..])));
    });
    let metrics = client.metrics();
    assert!(metrics.servers.iter().map(|server| server.calls).sum::<u64>() > 30, "{metrics:?}");
    assert!(metrics.servers.iter().all(|server| server.under_way == 0), "{metrics:?}");
}

pub fn conditions(cluster: &Cluster) {
    let client = cluster.client();
    let table = cluster.fresh_table(&client, "conditions", &[]);
    block_on(async {
        let put = |value: &'static str| Mutation::put("r").set("f", "q", value);
        let check = async |condition: Condition, mutation: Mutation| {
            table.check_and_mutate(&CheckAndMutate::new(condition, mutation)).await.unwrap()
        };
        assert!(!check(Condition::equal("f", "q", "5"), put("x")).await);
        assert!(check(Condition::absent("f", "q"), put("5")).await);
        assert!(!check(Condition::absent("f", "q"), put("x")).await);
        // The value stands left.
        for (compare, with, holds) in [
            (Compare::Less, "6", true),
            (Compare::Less, "5", false),
            (Compare::LessOrEqual, "5", true),
            (Compare::Greater, "4", true),
            (Compare::Greater, "6", false),
            (Compare::GreaterOrEqual, "5", true),
            (Compare::NotEqual, "5", false),
        ] {
            let condition = Condition::value("f", "q", compare, Comparator::binary(with));
            assert_eq!(check(condition, put("5")).await, holds, "5 {compare:?} {with}");
        }
        let filter = Filter::single_column_value("f", "q", Compare::Equal, &Comparator::prefix("5"), false);
        assert!(check(Condition::filter(filter), put("7")).await);
        assert!(check(Condition::equal("f", "q", "7"), Mutation::delete("r").column("f", "q")).await);
        assert_eq!(table.get(&Get::new("r")).await.unwrap(), None);
        // Several mutations together.
        table.mutate(&Mutation::put("s").set_at("f", "q", 1, "1").set_at("f", "old", 1, "1")).await.unwrap();
        let two = |value: &'static str| {
            let first = Mutation::put("s").set_at("f", "q", 2, "2");
            CheckAndMutate::new(Condition::equal("f", "q", value), first).and(Mutation::delete("s").column_at("f", "old", 2))
        };
        assert!(!table.check_and_mutate(&two("9")).await.unwrap());
        assert!(table.exists(&Get::new("s").column("f", "old")).await.unwrap());
        assert!(table.check_and_mutate(&two("1").repeatable()).await.unwrap());
        assert!(!table.exists(&Get::new("s").column("f", "old")).await.unwrap());
    });
    // Sixteen at once: each number is taken by one.
    let taken: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(|| count_up(&table))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let value = block_on(table.get(&Get::new("n"))).unwrap().unwrap();
    assert_eq!(value.value(b"f", b"n"), Some(taken.iter().sum::<u64>().to_string().as_bytes()));
}

fn count_up(table: &Table) -> u64 {
    let mut won = 0;
    for _ in 0..20 {
        block_on(async {
            let row = table.get(&Get::new("n").column("f", "n")).await.unwrap();
            let old = row.as_ref().and_then(|row| row.value(b"f", b"n")).map(<[u8]>::to_vec);
            let number: u64 = old.as_ref().map_or(0, |text| std::str::from_utf8(text).unwrap().parse().unwrap());
            let condition = old.map_or_else(|| Condition::absent("f", "n"), |old| Condition::equal("f", "n", old));
            let next = Mutation::put("n").set("f", "n", (number + 1).to_string());
            won += u64::from(table.check_and_mutate(&CheckAndMutate::new(condition, next)).await.unwrap());
        });
    }
    won
}

pub fn batches_fail_in_parts(cluster: &Cluster) {
    let client = cluster.client();
    let table = cluster.fresh_table(&client, "batches", &["2", "4", "6", "8"]);
    let key = |n: u32| format!("{:01}-{n:05}", n % 10);
    block_on(async {
        let puts = (0..5_000).map(|n| Mutation::put(key(n)).set_at("f", "q", 1, n.to_string()));
        table.mutate_many(puts).await.unwrap();
        let rows = table.get_many((0..5_000).rev().map(|n| Get::new(key(n)))).await.unwrap();
        for (n, row) in (0..5_000_u32).rev().zip(rows) {
            assert_eq!(row.unwrap().value(b"f", b"q"), Some(n.to_string().as_bytes()));
        }
        let mut actions = Vec::new();
        for n in 0..300 {
            actions.push(match n % 5 {
                0 => Action::Get(Get::new(key(n))),
                1 => Action::Mutate(Mutation::put(key(n)).set("nofamily", "q", "v")),
                2 => Action::Mutate(Mutation::put(key(n))),
                3 => Action::Get(Get::new(format!("{}-none", n % 10))),
                _ => Action::Mutate(Mutation::put(key(n)).set_at("f", "q", 2, "changed")),
            });
        }
        for (n, answer) in table.batch(&actions).await.into_iter().enumerate() {
            match n % 5 {
                0 => assert_eq!(answer.unwrap().unwrap().value(b"f", b"q"), Some(n.to_string().as_bytes())),
                1 => assert!(answer.unwrap_err().is_exception("NoSuchColumnFamilyException")),
                2 => assert!(matches!(answer.unwrap_err(), Error::Argument(_))),
                _ => assert_eq!(answer.unwrap(), None),
            }
        }
        let row = table.get(&Get::new(key(4))).await.unwrap().unwrap();
        assert_eq!(row.value(b"f", b"q"), Some(&b"changed"[..]));
    });
}

pub fn limits_and_errors(cluster: &Cluster) {
    let client = cluster.client();
    let table = cluster.fresh_table(&client, "limits", &[]);
    block_on(async {
        let large = vec![7_u8; 8 << 20];
        table.mutate(&Mutation::put("r").set("f", "q", &large)).await.unwrap();
        assert_eq!(table.get(&Get::new("r")).await.unwrap().unwrap().value(b"f", b"q"), Some(&large[..]));
        // Over the servers' limit for a cell.
        let over = table.mutate(&Mutation::put("r").set("f", "q", vec![7_u8; 11 << 20])).await.unwrap_err();
        assert!(over.is_exception("DoNotRetryIOException"), "{over}");
        let none = table.get(&Get::new("r").family("nofamily")).await.unwrap_err();
        assert!(none.is_exception("NoSuchColumnFamilyException"), "{none}");
        let absent = client.table("nosuchtable").unwrap();
        assert!(matches!(absent.get(&Get::new("r")).await, Err(Error::TableNotFound(_))));
        let answers = absent.batch(&[Action::Get(Get::new("r"))]).await;
        assert!(matches!(answers[0], Err(Error::TableNotFound(_))));
        client.admin().disable_table(table.name()).await.unwrap();
        let began = Instant::now();
        let disabled = table.timeout(Duration::from_secs(20)).get(&Get::new("r")).await.unwrap_err();
        assert!(matches!(disabled, Error::TableDisabled(_)), "{disabled}");
        assert!(began.elapsed() < Duration::from_secs(10));
        client.admin().enable_table(table.name()).await.unwrap();
        assert!(table.exists(&Get::new("r")).await.unwrap());
    });
    let small = Client::connect(cluster.config().largest_response(1 << 20)).unwrap().table("limits").unwrap();
    let refused = block_on(small.get(&Get::new("r"))).unwrap_err();
    assert!(matches!(refused, Error::TooLarge { .. }), "{refused}");
    // Nobody is there.
    let nobody = Client::connect(ClientConfig::zookeeper("127.0.0.1:1").operation_timeout(Duration::from_secs(2))).unwrap();
    let began = Instant::now();
    assert!(block_on(nobody.cluster_id()).is_err());
    assert!(block_on(nobody.table("t").unwrap().get(&Get::new("r"))).unwrap_err().is_deadline());
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

pub fn the_rpc_registry(cluster: &Cluster) {
    let table = cluster.fresh_table(&cluster.client(), "registry", &[]);
    block_on(table.mutate(&Mutation::put("r").set("f", "q", "v"))).unwrap();
    let port = cluster.master_port();
    for nodes in [vec![port], vec![port + 1], vec![1, port + 2]] {
        let nodes: Vec<String> = nodes.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        let client = Client::connect(ClientConfig::rpc(nodes)).unwrap();
        block_on(async {
            assert_eq!(client.cluster_id().await.unwrap(), cluster.client().cluster_id().await.unwrap());
            assert!(client.table("registry").unwrap().exists(&Get::new("r")).await.unwrap());
            assert_eq!(client.admin().servers().await.unwrap().len(), 3);
            assert!(client.admin().version().await.unwrap().starts_with("2."));
        });
    }
}

//! Scans: ranges, limits, filters, times, large rows, leases.

use super::harness::Cluster;
use bytes::Bytes;
use futures::executor::block_on;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::time::Duration;
use stoa_hbase_client::{Comparator, Compare, Filter, Mutation, Row, RowRange, Scan, Table};

fn key(n: u32) -> String {
    format!("{n:05}")
}

async fn fill(table: &Table, rows: u32) {
    let put = |n| Mutation::put(key(n)).set_at("f", "n", 1, n.to_string()).set_at("g", "odd", 1, (n % 2).to_string());
    table.mutate_many((0..rows).map(put)).await.unwrap();
}

async fn keys(table: &Table, scan: Scan) -> Vec<u32> {
    let rows = table.scan_all(scan).await.unwrap();
    rows.iter().map(|row| std::str::from_utf8(row.key()).unwrap().parse().unwrap()).collect()
}

pub fn ranges_and_limits(cluster: &Cluster) {
    let client = cluster.client();
    let table = cluster.fresh_table(&client, "ranges", &["00100", "00250", "00777"]);
    let mut random = StdRng::seed_from_u64(7);
    block_on(async {
        fill(&table, 1_000).await;
        assert_eq!(keys(&table, Scan::all()).await, (0..1_000).collect::<Vec<_>>());
        assert_eq!(keys(&table, Scan::all().reversed()).await, (0..1_000).rev().collect::<Vec<_>>());
        for _ in 0..300 {
            let (mut low, mut high) = (random.random_range(0..1_050), random.random_range(0..1_050));
            if random.random_bool(0.3) {
                // At the edges of regions.
                (low, high) = ([0, 100, 250, 777][random.random_range(0..4)], [100, 250, 777, 1_000][random.random_range(0..4)]);
            }
            let (first, last, reversed) = (random.random_bool(0.5), random.random_bool(0.5), random.random_bool(0.5));
            let mut expected: Vec<u32> =
                (0..1_000).filter(|n| (*n > low || (first && *n == low)) && (*n < high || (last && *n == high))).collect();
            let mut scan = Scan::range(key(low), key(high));
            if reversed {
                expected = (0..1_000).filter(|n| (*n < high || (first && *n == high)) && (*n > low || (last && *n == low))).rev().collect();
                scan = Scan::range(key(high), key(low)).reversed();
            }
            if !first {
                scan = scan.exclude_start();
            }
            if last {
                scan = scan.include_stop();
            }
            if random.random_bool(0.3) {
                let limit = random.random_range(0..200);
                scan = scan.limit(limit);
                expected.truncate(limit as usize);
            }
            if random.random_bool(0.3) {
                scan = scan.batch_rows(random.random_range(1..50)).batch_bytes(random.random_range(1..5_000));
            }
            let shown = format!("{scan:?}");
            assert_eq!(keys(&table, scan).await, expected, "{shown}");
        }
        // One call for what one region and one batch hold.
        let calls = || client.metrics().servers.iter().map(|server| server.calls).sum::<u64>();
        let before = calls();
        assert_eq!(keys(&table, Scan::range(key(300), key(400)).limit(10)).await.len(), 10);
        assert_eq!(keys(&table, Scan::range(key(300), key(310))).await.len(), 10);
        assert_eq!(calls() - before, 2);
        // Given up in the middle.
        for _ in 0..20 {
            let mut scanner = table.scan(Scan::all().batch_rows(3));
            assert!(scanner.next().await.unwrap().is_some());
        }
    });
}

pub fn filters(cluster: &Cluster) {
    let client = cluster.client();
    let table = cluster.fresh_table(&client, "filters", &["00100", "00300"]);
    block_on(async {
        fill(&table, 500).await;
        let run = async |filter: Filter| keys(&table, Scan::all().filter(filter)).await;
        let equal = |value: &'static str| Comparator::binary(value);
        let ranges = [RowRange::new("00290", "00310"), RowRange::new("00010", "00012"), RowRange::key("00444"), RowRange::key("09")];
        let expected: Vec<u32> = [10, 11].into_iter().chain(290..310).chain([444]).collect();
        assert_eq!(run(Filter::multi_row_range(ranges)).await, expected);
        let odd = || Filter::single_column_value("g", "odd", Compare::Equal, &equal("1"), false);
        assert_eq!(run(odd()).await, (0..500).filter(|n| n % 2 == 1).collect::<Vec<_>>());
        let less = Filter::single_column_value("f", "n", Compare::Less, &equal("2"), false);
        assert_eq!(run(less).await, (0..500).filter(|n| n.to_string().as_str() < "2").collect::<Vec<_>>());
        assert_eq!(run(Filter::single_column_value("f", "none", Compare::Equal, &equal("1"), true)).await.len(), 500);
        assert_eq!(run(Filter::single_column_value("f", "none", Compare::Equal, &equal("1"), false)).await.len(), 0);
        let keys_only = table.scan_all(Scan::all().filter(Filter::all_of([Filter::first_key_only(), Filter::key_only()]))).await.unwrap();
        assert!(keys_only.len() == 500 && keys_only.iter().all(|row| row.cells().len() == 1 && row.cells()[0].value().is_empty()));
        assert_eq!(run(Filter::prefix("0012")).await, (120..130).collect::<Vec<_>>());
        assert_eq!(run(Filter::row(Compare::GreaterOrEqual, &equal("00490"))).await, (490..500).collect::<Vec<_>>());
        assert_eq!(run(Filter::row(Compare::Equal, &Comparator::regex("^0.*99$"))).await, [99, 199, 299, 399, 499]);
        assert_eq!(
            run(Filter::row(Compare::Equal, &Comparator::substring("049"))).await,
            [49].into_iter().chain(490..500).collect::<Vec<_>>()
        );
        assert_eq!(run(Filter::inclusive_stop("00003")).await, [0, 1, 2, 3]);
        // By region: in the next one it begins again.
        let until_five = Filter::while_match(&Filter::row(Compare::NotEqual, &equal("00005")));
        let expected: Vec<u32> = (0..5).chain(100..500).collect();
        assert_eq!(run(until_five).await, expected);
        let either = Filter::any_of([Filter::row(Compare::Equal, &equal("00001")), Filter::row(Compare::Equal, &equal("00450"))]);
        assert_eq!(run(either).await, [1, 450]);
        let fuzzy = Filter::fuzzy_row([(Bytes::from_static(b"000?7"), Bytes::from_static(&[0, 0, 0, 1, 0]))]);
        assert_eq!(run(fuzzy).await, [7, 17, 27, 37, 47, 57, 67, 77, 87, 97]);
        assert_eq!(run(Filter::skip(&Filter::value(Compare::NotEqual, &equal("0")))).await.len(), 250);
        assert_eq!(run(Filter::timestamps([2, 3])).await.len(), 0);
        assert_eq!(run(Filter::timestamps([1])).await.len(), 500);
        assert_eq!(run(Filter::family(Compare::Equal, &equal("g"))).await.len(), 500);
        assert_eq!(run(Filter::qualifier(Compare::Equal, &equal("none"))).await.len(), 0);
        assert_eq!(run(Filter::column_value("f", "n", Compare::Equal, &equal("77"))).await, [77]);
        let excluded = Filter::single_column_value_exclude("g", "odd", Compare::Equal, &equal("1"), false);
        let rows = table.scan_all(Scan::all().filter(excluded)).await.unwrap();
        assert!(rows.len() == 250 && rows.iter().all(|row| row.value(b"g", b"odd").is_none()));
        assert!(run(Filter::random_row(0.5)).await.len() < 500);
        assert_eq!(keys(&table, Scan::all().filter(Filter::page(7)).limit(7)).await, (0..7).collect::<Vec<_>>());
        let wide = (0..100).fold(Mutation::put("09000"), |put, n| put.set_at("f", format!("w{n:02}"), 1, "v"));
        table.mutate(&wide).await.unwrap();
        let of_wide = async |filter: Filter| table.scan_all(Scan::range("09000", "09001").filter(filter)).await.unwrap()[0].cells().len();
        assert_eq!(of_wide(Filter::column_range(Some("w10".into()), Some("w15".into()))).await, 5);
        assert_eq!(of_wide(Filter::column_pagination(7, 90)).await, 7);
        assert_eq!(of_wide(Filter::column_pagination_from(3, "w50")).await, 3);
        assert_eq!(of_wide(Filter::column_prefixes(["w1".into(), "w3".into()])).await, 20);
    });
}

pub fn versions_and_times(cluster: &Cluster) {
    let client = cluster.client();
    let table = cluster.fresh_table(&client, "times", &["00005"]);
    block_on(async {
        for time in 1..=5 {
            let put = |n: u32| Mutation::put(key(n)).set_at("f", "q", time, time.to_string()).set_at("g", "q", time, time.to_string());
            table.mutate_many((0..10).map(put)).await.unwrap();
        }
        let shape = async |scan: Scan| -> Vec<(String, i64)> {
            let rows = table.scan_all(scan).await.unwrap();
            assert_eq!(rows.len(), 10);
            let of = |row: &Row| {
                row.cells().iter().map(|c| (String::from_utf8(c.family().to_vec()).unwrap(), c.timestamp())).collect::<Vec<_>>()
            };
            assert!(rows.iter().all(|row| of(row) == of(&rows[0])));
            of(&rows[0])
        };
        let f = |time| ("f".to_owned(), time);
        let g = |time| ("g".to_owned(), time);
        assert_eq!(shape(Scan::all()).await, [f(5), g(5)]);
        assert_eq!(shape(Scan::all().time_range(0..4).family("f")).await, [f(3)]);
        assert_eq!(shape(Scan::all().time_range(0..4).family("f").versions(2)).await, [f(3), f(2)]);
        assert_eq!(shape(Scan::all().family_time_range("f", 2..3).versions(9)).await, [f(2), g(5)]);
        // A deletion, and the snapshot before it.
        table.mutate_many((0..10).map(|n| Mutation::delete(key(n)).family_at("f", 6))).await.unwrap();
        assert_eq!(shape(Scan::all()).await, [g(5)]);
        assert_eq!(shape(Scan::all().time_range(0..6).family("f")).await, [f(5)]);
    });
}

pub fn rows_of_many_mebibytes(cluster: &Cluster) {
    let client = cluster.client();
    let table = cluster.fresh_table(&client, "large", &[]);
    let value = |n: usize| vec![n as u8; 512 << 10];
    block_on(async {
        table.mutate(&Mutation::put("a").set("f", "q", "small")).await.unwrap();
        // 50 MiB in one row.
        for part in 0..10 {
            let put = (0..10).map(|n| part * 10 + n).fold(Mutation::put("b"), |put, n| put.set("f", format!("{n:03}"), value(n)));
            table.mutate(&put).await.unwrap();
        }
        table.mutate(&Mutation::put("c").set("f", "q", "small")).await.unwrap();
        for scan in [Scan::all(), Scan::all().reversed(), Scan::all().batch_bytes(700_000)] {
            let rows = table.scan_all(scan).await.unwrap();
            assert_eq!(rows.iter().map(|row| row.cells().len()).collect::<Vec<_>>(), [1, 100, 1]);
            assert!(rows[1].cells().iter().enumerate().all(|(n, cell)| cell.value() == value(n)));
        }
    });
    let small = stoa_hbase_client::Client::connect(cluster.config().largest_row(20 << 20)).unwrap().table("large").unwrap();
    let refused = block_on(small.scan_all(Scan::all())).unwrap_err();
    assert!(matches!(refused, stoa_hbase_client::Error::TooLarge { .. }), "{refused}");
}

pub fn leases_outlived(cluster: &Cluster) {
    let client = cluster.client();
    let table = cluster.fresh_table(&client, "leases", &["00500"]);
    block_on(async {
        fill(&table, 1_000).await;
        let mut scanner = table.scan(Scan::all().batch_rows(50));
        let mut seen = Vec::new();
        for _ in 0..5 {
            seen.extend(scanner.next_batch().await.unwrap().unwrap());
        }
        // The servers keep a scanner for 6 s.
        std::thread::sleep(Duration::from_secs(15));
        while let Some(batch) = scanner.next_batch().await.unwrap() {
            seen.extend(batch);
        }
        assert_eq!(seen.len(), 1_000);
    });
    assert_eq!(client.metrics().scanners_reopened, 0);
}

//! Another program's view: rows that HBase's own Java client writes are read here, and the other way round.

use super::harness::Cluster;
use futures::executor::block_on;
use stoa_hbase_client::{Get, Mutation, Scan};

const ROWS: usize = 500;

/// The text that both sides make of a row.
fn expected(n: usize) -> (String, Vec<(&'static str, String, i64, Vec<u8>)>) {
    let value = |salt: usize| (0..n % 50).map(|at| ((at * salt + n) % 256) as u8).collect::<Vec<u8>>();
    let mut cells = vec![("f", format!("q{}", n % 7), 1_000 + n as i64, value(3))];
    if n.is_multiple_of(3) {
        cells.push(("g", "z".to_owned(), 5, value(5)));
    }
    (format!("{n:05}"), cells)
}

pub fn reads_and_writes_the_same(cluster: &Cluster) {
    let client = cluster.client();
    let rows = ROWS.to_string();
    // Java writes, we read.
    let table = cluster.fresh_table(&client, "of_java", &["00200"]);
    assert!(cluster.java("Rows", &["write", "of_java", &rows]).contains("written 500"));
    let found = block_on(table.scan_all(Scan::all())).unwrap();
    assert_eq!(found.len(), ROWS);
    for (n, row) in found.iter().enumerate() {
        let (key, cells) = expected(n);
        assert_eq!(row.key(), key.as_bytes());
        let seen = row.cells().iter().map(|cell| (cell.family(), cell.qualifier(), cell.timestamp(), cell.value()));
        let wanted = cells.iter().map(|(family, qualifier, time, value)| (family.as_bytes(), qualifier.as_bytes(), *time, &value[..]));
        assert!(seen.eq(wanted), "{row:?}");
    }
    // We write, Java reads and compares.
    let table = cluster.fresh_table(&client, "of_rust", &["00200"]);
    let put = |n| {
        let (key, cells) = expected(n);
        cells.iter().fold(Mutation::put(key), |put, (family, qualifier, time, value)| put.set_at(family, qualifier, *time, value))
    };
    block_on(async {
        table.mutate_many((0..ROWS).map(put)).await.unwrap();
        // What is deleted again is gone for Java as well.
        table.mutate(&Mutation::put("x").set("f", "q", "v")).await.unwrap();
        table.mutate(&Mutation::delete("x")).await.unwrap();
        assert!(!table.exists(&Get::new("x")).await.unwrap());
    });
    assert!(cluster.java("Rows", &["check", "of_rust", &rows]).contains("equal 500"));
    // Both at once into one table: Java deletes every second of our rows.
    assert!(cluster.java("Rows", &["thin", "of_rust", &rows]).contains("deleted 250"));
    let left = block_on(table.scan_all(Scan::all())).unwrap();
    assert_eq!(left.len(), ROWS / 2);
}

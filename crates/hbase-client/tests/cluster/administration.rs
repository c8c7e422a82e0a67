//! Tables, namespaces, regions and snapshots.

use super::harness::Cluster;
use bytes::Bytes;
use futures::executor::block_on;
use std::time::{Duration, Instant};
use stoa_hbase_client::{Admin, FamilyDescriptor, Get, Mutation, Scan, Table, TableDescriptor, TableName};

fn key(n: u32) -> String {
    format!("{n:06}")
}

async fn fill(table: &Table, rows: u32) {
    table.mutate_many((0..rows).map(|n| Mutation::put(key(n)).set("f", "q", vec![7_u8; 100]))).await.unwrap();
}

async fn count(table: &Table) -> usize {
    table.scan_all(Scan::all()).await.unwrap().len()
}

pub fn tables(cluster: &Cluster) {
    let client = cluster.client();
    let admin = client.admin();
    block_on(async {
        let name: TableName = "space:table".parse().unwrap();
        if admin.list_namespaces().await.unwrap().iter().any(|space| space == "space") {
            for table in admin.list_tables("space").await.unwrap() {
                admin.drop_table(&table).await.unwrap();
            }
            admin.delete_namespace("space").await.unwrap();
        }
        admin.create_namespace("space").await.unwrap();
        assert!(admin.create_namespace("space").await.unwrap_err().is_exception("NamespaceExistException"));
        let family = FamilyDescriptor::new("f").versions(5).min_versions(1).ttl(86_400).keep_deleted_cells("TTL");
        let family = family.data_block_encoding("FAST_DIFF").compression("SNAPPY").bloom_filter("ROW").block_size(32_768);
        let family = family.configuration("hbase.hstore.time.to.purge.deletes", "3600000").block_cache(false).in_memory(true);
        let described = TableDescriptor::new(name.clone()).family(family).family(FamilyDescriptor::new("m").mob(1_000));
        let described = described.attribute("owner.of.it", "somebody");
        let began = Instant::now();
        admin.create_table(&described, &[Bytes::from_static(b"k"), Bytes::from_static(b"t")]).await.unwrap();
        println!("  create_table of 3 regions: {:?}", began.elapsed());
        assert!(admin.create_table(&described, &[]).await.unwrap_err().is_exception("TableExistsException"));
        let found = admin.describe_table(&name).await.unwrap().unwrap();
        assert_eq!(found.attributes.get(&b"owner.of.it"[..]), Some(&Bytes::from_static(b"somebody")));
        let f = found.families.iter().find(|family| family.name == "f").unwrap();
        for (attribute, value) in [("VERSIONS", "5"), ("TTL", "86400"), ("KEEP_DELETED_CELLS", "TTL"), ("COMPRESSION", "SNAPPY")] {
            assert_eq!(f.attributes.get(attribute.as_bytes()), Some(&Bytes::from(value)), "{attribute}");
        }
        assert_eq!(f.configuration.get("hbase.hstore.time.to.purge.deletes").unwrap(), "3600000");
        assert_eq!(admin.list_tables("space").await.unwrap(), std::slice::from_ref(&name));
        assert_eq!(admin.describe_tables("space").await.unwrap().len(), 1);
        assert!(admin.describe_table(&"space:none".parse().unwrap()).await.unwrap().is_none());
        let table = client.table("space:table").unwrap();
        table.mutate_many(["a", "l", "z"].map(|row| Mutation::put(row).set("f", "q", "v").set("m", "q", vec![1; 5_000]))).await.unwrap();
        assert_eq!(count(&table).await, 3);
        let began = Instant::now();
        admin.alter_table(&found.family(FamilyDescriptor::new("added"))).await.unwrap();
        println!("  alter_table of 3 regions: {:?}", began.elapsed());
        table.mutate(&Mutation::put("a").set("added", "q", "v")).await.unwrap();
        admin.disable_table(&name).await.unwrap();
        assert!(!admin.is_table_enabled(&name).await.unwrap());
        admin.truncate_table(&name, true).await.unwrap();
        assert!(admin.is_table_enabled(&name).await.unwrap());
        assert_eq!(count(&table).await, 0);
        assert_eq!(admin.regions(&name).await.unwrap().len(), 3);
        admin.disable_table(&name).await.unwrap();
        admin.enable_table(&name).await.unwrap();
        assert!(admin.delete_table(&name).await.unwrap_err().is_exception("TableNotDisabledException"));
        assert!(admin.delete_namespace("space").await.is_err());
        admin.drop_table(&name).await.unwrap();
        assert!(!admin.table_exists(&name).await.unwrap());
        admin.delete_namespace("space").await.unwrap();
        // A codec that the servers lack is refused at once.
        let lacking = TableDescriptor::new("lacking".parse().unwrap()).family(FamilyDescriptor::new("f").compression("LZO"));
        let began = Instant::now();
        assert!(admin.create_table(&lacking, &[]).await.is_err());
        assert!(began.elapsed() < Duration::from_secs(30));
    });
}

/// Splits, once the region can be.
async fn split(admin: &Admin, table: &TableName, at: &str) {
    let until = Instant::now() + Duration::from_secs(120);
    while let Err(error) = admin.split(table, at.as_bytes()).await {
        assert!(Instant::now() < until, "{error}");
        admin.compact(table).await.unwrap();
        std::thread::sleep(Duration::from_secs(1));
    }
}

pub fn regions(cluster: &Cluster) {
    let client = cluster.client();
    let table = cluster.fresh_table(&client, "regions", &[]);
    let (admin, name) = (client.admin(), table.name().clone());
    block_on(async {
        fill(&table, 20_000).await;
        let sizes = admin.region_sizes(&name).await.unwrap();
        assert!(sizes.len() == 1 && sizes[0].memory_mib > 0 && sizes[0].writes >= 20_000, "{sizes:?}");
        admin.flush(&name).await.unwrap();
        let files = admin.region_sizes(&name).await.unwrap();
        assert!(files[0].files >= 1 && files[0].files_mib > 0, "{files:?}");
        split(&admin, &name, &key(10_000)).await;
        assert_eq!(count(&table).await, 20_000);
        split(&admin, &name, &key(15_000)).await;
        let regions = admin.regions(&name).await.unwrap();
        assert_eq!(regions.iter().map(|region| &region.start_key()[..]).collect::<Vec<_>>(), [&b""[..], b"010000", b"015000"]);
        assert_eq!(count(&table).await, 20_000);
        // One that this client knows elsewhere.
        let other = cluster.client().table("regions").unwrap();
        assert!(other.exists(&Get::new(key(12_000))).await.unwrap());
        let servers = admin.servers().await.unwrap();
        for server in &servers {
            admin.move_region(&regions[1], Some(server)).await.unwrap();
            let at = admin.regions(&name).await.unwrap();
            assert_eq!(at[1].server(), server);
            assert!(other.exists(&Get::new(key(12_000))).await.unwrap());
        }
        admin.merge(&regions[1..]).await.unwrap();
        assert_eq!(admin.regions(&name).await.unwrap().len(), 2);
        assert_eq!(count(&table).await, 20_000);
        assert_eq!(count(&other).await, 20_000);
        admin.compact(&name).await.unwrap();
        let on = admin.set_balancer(false).await.unwrap();
        assert!(!admin.is_balancer_on().await.unwrap());
        admin.set_balancer(on).await.unwrap();
        assert_eq!(admin.is_balancer_on().await.unwrap(), on);
    });
}

pub fn snapshots(cluster: &Cluster) {
    let client = cluster.client();
    let table = cluster.fresh_table(&client, "snapped", &[&key(500)]);
    let (admin, name, copy) = (client.admin(), table.name().clone(), client.table("snapped_copy").unwrap());
    block_on(async {
        for snapshot in admin.list_snapshots().await.unwrap() {
            admin.delete_snapshot(&snapshot.name).await.unwrap();
        }
        if admin.table_exists(copy.name()).await.unwrap() {
            admin.drop_table(copy.name()).await.unwrap();
        }
        fill(&table, 1_000).await;
        admin.snapshot("of_thousand", &name).await.unwrap();
        assert!(admin.snapshot("of_thousand", &name).await.is_err());
        fill(&table, 1_500).await;
        let known = admin.list_snapshots().await.unwrap();
        assert_eq!((known.len(), &known[0].name[..], &known[0].table), (1, "of_thousand", &name));
        admin.clone_snapshot("of_thousand", copy.name()).await.unwrap();
        assert_eq!((count(&copy).await, count(&table).await), (1_000, 1_500));
        admin.disable_table(&name).await.unwrap();
        admin.restore_snapshot("of_thousand", &name).await.unwrap();
        admin.enable_table(&name).await.unwrap();
        assert_eq!(count(&table).await, 1_000);
        admin.delete_snapshot("of_thousand").await.unwrap();
        assert!(admin.list_snapshots().await.unwrap().is_empty());
        assert!(admin.clone_snapshot("of_thousand", &"other".parse().unwrap()).await.is_err());
    });
}

//! Writes, reads and scans rows of a table that it makes: `cargo run -p stoa-hbase-client --example rows -- zk1:2181`.

use futures::executor::block_on;
use stoa_hbase_client::{Client, ClientConfig, Error, FamilyDescriptor, Get, Mutation, Scan, TableDescriptor};

fn main() -> Result<(), Error> {
    let quorum = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:2181".to_owned());
    // The client has a runtime of its own: any executor will do, also this one.
    block_on(run(Client::connect(ClientConfig::zookeeper(&quorum))?))
}

async fn run(client: Client) -> Result<(), Error> {
    let table = client.table("client_example")?;
    let admin = client.admin();
    if !admin.table_exists(table.name()).await? {
        let family = FamilyDescriptor::new("f").versions(3).data_block_encoding("FAST_DIFF");
        admin.create_table(&TableDescriptor::new(table.name().clone()).family(family), &[]).await?;
    }
    // Many at once: one call a server.
    table.mutate_many((0..1_000).map(|n| Mutation::put(format!("row{n:04}")).set("f", "n", n.to_string()))).await?;
    if let Some(row) = table.get(&Get::new("row0042").column("f", "n")).await? {
        println!("{:?}", row.cells());
    }
    let mut scanner = table.scan(Scan::range("row0990", "row1").family("f"));
    while let Some(row) = scanner.next().await? {
        println!("{} = {}", row.key().escape_ascii(), row.value(b"f", b"n").unwrap_or_default().escape_ascii());
    }
    for server in client.metrics().servers {
        println!("{}: {} calls, {} bytes sent, {} received", server.server, server.calls, server.bytes_sent, server.bytes_received);
    }
    Ok(())
}

//! Commands about regions: where they begin and lie, and where a table is split. Moving and joining them is the store's business, or SQL's.

use super::arguments::{Failure, TableName, check_count, failure};
use super::commands::Shell;
use super::ruby::Value;
use super::text;
use std::collections::BTreeMap;
use stoa_engine::raw::Region;

/// The server of regions that are in this process.
const HERE: &str = "stoa";

impl Shell {
    pub async fn list_regions(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        check_count(arguments.len(), 1, 2)?;
        let (name, table) = self.table(arguments)?;
        let server = match arguments.get(1) {
            None => None,
            Some(given) => match given.text() {
                Some(server) => Some(server),
                None => return failure("The server's name, or a beginning of it, must be of type String"),
            },
        };
        let mut lines = vec![["SERVER_NAME", "REGION_NAME", "START_KEY", "END_KEY", "SIZE", "REQ"].map(str::to_owned)];
        for region in table.cells.regions().await? {
            let on = server_of(&region).to_owned();
            if server.as_ref().is_some_and(|wanted| !on.starts_with(wanted.as_str())) {
                continue;
            }
            let (start, end) = bounds(&region);
            let requests = region.traffic.map_or(0, |traffic| traffic.reads.saturating_add(traffic.writes)).to_string();
            lines.push([on, format!("{},{start}", name.shown()), start, end, text::bytes(region.approximate_bytes), requests]);
        }
        let widths =
            [0, 1, 2, 3, 4, 5].map(|at| lines.iter().filter_map(|line| line.get(at)).map(|t| t.chars().count()).max().unwrap_or(0));
        let row = |line: &[String; 6]| -> String { line.iter().zip(widths).map(|(text, width)| format!(" {text:>width$} |")).collect() };
        for (at, line) in lines.iter().enumerate() {
            self.out.line(&row(line))?;
            if at == 0 {
                self.out.line(&widths.map(|width| format!(" {} |", "-".repeat(width))).concat())?;
            }
        }
        self.out.line(&format!("{} rows", lines.len() - 1))?;
        Ok(())
    }

    pub async fn locate_region(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        check_count(arguments.len(), 2, 2)?;
        let (name, table) = self.table(arguments)?;
        let Some(key) = arguments.get(1).and_then(Value::bytes) else { return failure("Row key must be of type String") };
        let regions = table.cells.regions().await?;
        let Some(region) = regions.iter().find(|region| region.range.contains(&key)) else {
            return failure(format!("No region of {} has that row", name.shown()));
        };
        let (start, end) = bounds(region);
        self.out.header("HOST", "REGION")?;
        let shown = format!("{{NAME => '{},{start}', STARTKEY => '{start}', ENDKEY => '{end}'}}", name.shown());
        self.out.row(server_of(region), &shown)?;
        self.out.line("1 row(s)")?;
        Ok(())
    }

    pub async fn split(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        check_count(arguments.len(), 1, 2)?;
        let (name, table) = self.table(arguments)?;
        let Some(given) = arguments.get(1) else {
            return failure("A table is split at a key that is given: split 't', 'key'. ALTER TABLE … SPLIT INTO n of SQL parts it evenly");
        };
        let Some(key) = given.bytes().filter(|key| !key.is_empty()) else {
            return failure("The split key must be a String that is not empty");
        };
        if table.split_points().contains(&key) {
            return failure(format!("Table {} is split at that key already", name.shown()));
        }
        let hex: String = key.iter().map(|b| format!("{b:02x}")).collect();
        self.sql(&format!("ALTER TABLE {} SPLIT AT (X'{hex}')", name.sql())).await
    }

    pub async fn status(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        check_count(arguments.len(), 0, 1)?;
        let how = arguments.first().map(|given| given.text().unwrap_or_default());
        let mut servers: BTreeMap<String, (usize, u64)> = BTreeMap::new();
        for namespace in self.database.namespaces() {
            for name in self.database.tables_of(&namespace) {
                let Some(table) = self.database.open_table(&namespace, &name) else { continue };
                for region in table.cells.regions().await? {
                    let (count, bytes) = servers.entry(server_of(&region).to_owned()).or_default();
                    *count += 1;
                    *bytes += region.approximate_bytes;
                }
            }
        }
        let regions: usize = servers.values().map(|(count, _)| count).sum();
        let live = servers.len().max(1);
        match how.as_deref() {
            None | Some("summary") => {
                let load = regions as f64 / live as f64;
                self.out.line(&format!("1 active master, 0 backup masters, {live} servers, 0 dead, {load:.4} average load"))?;
            }
            Some("simple") => {
                self.out.line("active master:  stoa")?;
                self.out.line("0 backup masters")?;
                self.out.line(&format!("{live} live servers"))?;
                if servers.is_empty() {
                    servers.insert(HERE.to_owned(), (0, 0));
                }
                for (server, (count, bytes)) in &servers {
                    self.out.line(&format!("    {server}"))?;
                    self.out.line(&format!("        numberOfOnlineRegions={count}, storefileSizeMB={}", bytes >> 20))?;
                }
                self.out.line("0 dead servers")?;
                self.out.line(&format!("Aggregate load: 0, regions: {regions}"))?;
            }
            Some("detailed") => {
                return failure(
                    "status 'detailed' is not done here: list_regions 't' shows the regions of a table, pg_stat_regions and pg_stat_hot_regions of SQL those of all",
                );
            }
            Some("replication") => return failure("status 'replication' is not done here: nothing is replicated"),
            Some(other) => return failure(format!("status '{other}' is not known: 'summary' or 'simple'")),
        }
        Ok(())
    }

    /// An alteration is done when its command ends.
    pub fn alter_status(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        check_count(arguments.len(), 1, 1)?;
        let (_, table) = self.table(arguments)?;
        self.updated(table.split_points().len() + 1)?;
        Ok(())
    }

    pub fn updated(&mut self, regions: usize) -> std::io::Result<()> {
        self.out.line(&format!("{regions}/{regions} regions updated."))?;
        self.out.line("Done.")
    }

    /// A table with the families and the splits of another one.
    pub async fn clone_table_schema(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        check_count(arguments.len(), 2, 3)?;
        let (name, table) = self.table(arguments)?;
        if !table.is_raw() {
            return failure(format!("Table {} belongs to SQL: use CREATE TABLE … (LIKE … INCLUDING ALL)", name.shown()));
        }
        let Some(given) = arguments.get(1).and_then(Value::text) else { return failure("Table name must be of type String") };
        let new = TableName::parse(&given)?;
        let Some(splits) = arguments.get(2).map_or(Some(true), Value::bool) else {
            return failure("preserve_splits must be true or false");
        };
        self.check_new(&new)?;
        let families: Vec<String> = table.families().iter().map(|(name, options)| super::tables::written(name, options)).collect();
        let points: &[Vec<u8>] = if splits { table.split_points() } else { &[] };
        self.create_raw(&new, &families, points).await
    }
}

fn server_of(region: &Region) -> &str {
    region.server.as_deref().unwrap_or(HERE)
}

/// The keys between which a region lies, as HBase shows them.
fn bounds(region: &Region) -> (String, String) {
    (text::binary(&region.range.start), region.range.end.as_deref().map(text::binary).unwrap_or_default())
}

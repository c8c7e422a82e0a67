//! Commands about tables and namespaces: statements of SQL, and what the catalog says.

use super::arguments::{Arguments, Failure, TableName, bytes_literal, check_count, failure, literal, quoted};
use super::commands::Shell;
use super::ruby::Value;
use super::text;
use regex::Regex;
use stoa_engine::raw::{BloomFilter, Compression, DEFAULT_NAMESPACE, FamilyOptions, SNAPSHOTS, schema_of};

impl Shell {
    pub async fn create(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        check_count(arguments.len(), 2, usize::MAX)?;
        let (first, rest) = arguments.split_first().ok_or(Failure::Message(String::new()))?;
        let Some(name) = first.text() else { return failure("Table name must be of type String") };
        let table = TableName::parse(&name)?;
        self.check_new(&table)?;
        let (mut families, mut splits) = (Vec::new(), Vec::new());
        for argument in rest {
            match argument {
                Value::Text(_) | Value::Name(_) => families.push(family(argument, &[], true)?),
                Value::Hash(options) if options.iter().any(|(key, _)| key == "NAME") => families.push(family(argument, options, true)?),
                Value::Hash(options) => splits.extend(split_points(options)?),
                _ => return failure("Expected a Hash or a String of a column family"),
            }
        }
        if families.is_empty() {
            return failure("Table must have at least one column family");
        }
        self.create_raw(&table, &families, &splits).await?;
        self.out.line(&format!("Created table {}", table.shown()))?;
        self.value = Some(format!("Hbase::Table - {}", table.shown()));
        Ok(())
    }

    /// An error for a table that is there, or whose namespace is not.
    pub fn check_new(&self, table: &TableName) -> Result<(), Failure> {
        if self.database.open_table(&table.namespace, &table.name).is_some() {
            return failure(format!("Table already exists: {}!", table.shown()));
        }
        if !self.database.namespaces().contains(&table.namespace) {
            return failure(format!("Unknown namespace {}!", table.namespace));
        }
        Ok(())
    }

    /// Makes a table of families as [`family`] writes them.
    pub async fn create_raw(&mut self, table: &TableName, families: &[String], splits: &[Vec<u8>]) -> Result<(), Failure> {
        self.sql(&create_statement(table, families, splits)).await
    }

    pub async fn alter(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        check_count(arguments.len(), 2, usize::MAX)?;
        let (name, table) = self.table(arguments)?;
        if !table.is_raw() {
            return failure(format!("Table {} belongs to SQL: change it with ALTER TABLE", name.shown()));
        }
        let mut known: Vec<String> = table.families().into_iter().map(|(family, _)| family).collect();
        let mut actions: Vec<String> = Vec::new();
        for argument in arguments.iter().skip(1) {
            let options = match argument {
                Value::Hash(options) => options.clone(),
                text => vec![("NAME".to_owned(), text.clone())],
            };
            let get = |key: &str| options.iter().find(|(name, _)| name == key).and_then(|(_, value)| value.text());
            let deleted = match (get("delete"), get("METHOD").as_deref()) {
                (Some(family), _) => Some(family),
                (None, Some("delete")) => Some(get("NAME").unwrap_or_default()),
                (None, Some(method)) => {
                    let option = options.iter().map(|(name, _)| name).find(|name| *name != "METHOD");
                    return match option {
                        Some(option) if method.starts_with("table_") => failure(no_table_option(option)),
                        _ => failure(format!("Unknown method: {method}")),
                    };
                }
                (None, None) => None,
            };
            match deleted {
                // HBase passes over the deletion of what is not there, so that a script can be run again.
                Some(family) if !known.contains(&family) => {}
                Some(family) => {
                    actions.push(format!("DROP FAMILY {}", quoted(&family)));
                    known.retain(|name| *name != family);
                }
                None => {
                    let Some(family) = get("NAME") else {
                        return match options.first() {
                            Some((option, _)) => failure(no_table_option(option)),
                            None => failure("NAME of a column family is missing"),
                        };
                    };
                    let new = !known.contains(&family);
                    let written = self::family(&Value::Text(family.clone().into_bytes()), &options, new)?;
                    if new {
                        actions.push(format!("ADD {written}"));
                        known.push(family);
                    } else if written.contains(" WITH ") {
                        actions.push(format!("ALTER {}", written.replacen(" ()", "", 1)));
                    }
                }
            }
        }
        if !actions.is_empty() {
            // All at once, or nothing.
            self.sql(&format!("ALTER TABLE {} {}", name.sql(), actions.join(", "))).await?;
        }
        self.out.line("Updating all regions with the new schema...")?;
        self.updated(table.split_points().len() + 1)?;
        Ok(())
    }

    pub fn describe(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        check_count(arguments.len(), 1, 1)?;
        let (name, table) = self.table(arguments)?;
        self.out.line(&format!("Table {} is {}", name.shown(), if table.is_enabled() { "ENABLED" } else { "DISABLED" }))?;
        self.out.line(&name.shown())?;
        self.out.line("COLUMN FAMILIES DESCRIPTION")?;
        let families = table.families();
        for (name, options) in &families {
            self.out.line(&description(name, options))?;
        }
        self.out.line(&format!("\n{} row(s)", families.len()))?;
        self.out.line("Quota is disabled")?;
        Ok(())
    }

    /// All tables that a pattern finds, as HBase names them.
    fn matching(&self, arguments: &[Value]) -> Result<Vec<String>, Failure> {
        check_count(arguments.len(), 0, 1)?;
        let pattern = arguments.first().and_then(Value::text).unwrap_or_else(|| ".*".into());
        let pattern =
            Regex::new(&format!("^(?:{pattern})$")).map_err(|e| Failure::Message(format!("Incorrect regular expression: {e}")))?;
        let mut out = Vec::new();
        for namespace in self.database.namespaces() {
            for name in self.database.tables_of(&namespace) {
                let shown = TableName { namespace: namespace.clone(), name }.shown();
                if pattern.is_match(&shown) {
                    out.push(shown);
                }
            }
        }
        out.sort();
        Ok(out)
    }

    pub fn list(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        let names = self.matching(arguments)?;
        self.names("TABLE", &names)?;
        self.value = Some(format!("[{}]", names.iter().map(|n| format!("\"{n}\"")).collect::<Vec<_>>().join(", ")));
        Ok(())
    }

    fn names(&mut self, header: &str, names: &[String]) -> Result<(), Failure> {
        self.out.line(header)?;
        for name in names {
            self.out.line(name)?;
        }
        self.out.line(&format!("{} row(s)", names.len()))?;
        Ok(())
    }

    pub fn exists(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        check_count(arguments.len(), 1, 1)?;
        let Some(name) = arguments.first().and_then(Value::text) else { return failure("Table name must be of type String") };
        let table = TableName::parse(&name)?;
        let there = self.database.open_table(&table.namespace, &table.name).is_some();
        self.out.line(&format!("Table {name} does {}exist", if there { "" } else { "not " }))?;
        self.value = Some(there.to_string());
        Ok(())
    }

    /// As [`Shell::table`], with the message that commands of the master have.
    fn existing(&self, arguments: &[Value]) -> Result<(TableName, stoa_engine::raw::OpenTable), Failure> {
        check_count(arguments.len(), 1, 1)?;
        match (self.table(arguments), arguments.first().and_then(Value::text)) {
            (Err(Failure::Message(message)), Some(name)) if message.starts_with("Unknown table") => {
                failure(format!("Table {name} does not exist."))
            }
            (found, _) => found,
        }
    }

    pub async fn enable(&mut self, arguments: &[Value], enabled: bool) -> Result<(), Failure> {
        let (name, table) = self.existing(arguments)?;
        if !table.is_raw() {
            return failure(format!("Table {} belongs to SQL, and is always enabled", name.shown()));
        }
        if table.is_enabled() != enabled {
            self.sql(&format!("ALTER TABLE {} SET (enabled = {enabled})", name.sql())).await?;
        }
        Ok(())
    }

    pub fn is_enabled(&mut self, arguments: &[Value], enabled: bool) -> Result<(), Failure> {
        check_count(arguments.len(), 1, 1)?;
        let (_, table) = self.table(arguments)?;
        let is = table.is_enabled() == enabled;
        self.out.line(&is.to_string())?;
        self.value = Some(is.to_string());
        Ok(())
    }

    /// A command for each table that a pattern finds; those of SQL are left out. Asked for before.
    pub async fn all(&mut self, arguments: &[Value], what: &str) -> Result<(), Failure> {
        check_count(arguments.len(), 1, 1)?;
        let mut names = Vec::new();
        for name in self.matching(arguments)? {
            let argument = [Value::Text(name.clone().into_bytes())];
            if self.table(&argument)?.1.is_raw() {
                names.push((name, argument));
            }
        }
        let (asked, done) = match what {
            "drop" => ("Drop", "dropped"),
            "enable" => ("Enable", "enabled"),
            _ => ("Disable", "disabled"),
        };
        if !self.confirmed {
            for (name, _) in &names {
                self.out.line(name)?;
            }
            if !names.is_empty() {
                return Err(Failure::Asks(format!("{asked} the above {} tables (y/n)?", names.len())));
            }
            let regex = arguments.first().and_then(Value::text).unwrap_or_default();
            self.out.line(&format!("No tables matched the regex {regex}"))?;
            return Ok(());
        }
        let mut failed = Vec::new();
        for (name, argument) in &names {
            let tried = match what {
                "drop" => self.drop(argument).await,
                _ => self.enable(argument, what == "enable").await,
            };
            match tried {
                Ok(()) => {}
                Err(Failure::Message(_)) => failed.push(name.as_str()),
                Err(other) => return Err(other),
            }
        }
        self.out.line(&format!("{} tables successfully {done}", names.len() - failed.len()))?;
        if !failed.is_empty() {
            self.out.line(&format!("{} tables not {done} due to an exception: {}", failed.len(), failed.join(",")))?;
        }
        Ok(())
    }

    pub async fn drop(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        let (name, table) = self.existing(arguments)?;
        if !table.is_raw() {
            return failure(format!("Table {} belongs to SQL: remove it with DROP TABLE", name.shown()));
        }
        if table.is_enabled() {
            return failure(format!("Table {} is enabled. Disable it first.", name.shown()));
        }
        self.sql(&format!("DROP TABLE {}", name.sql())).await
    }

    pub async fn truncate(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        check_count(arguments.len(), 1, 1)?;
        let (name, table) = self.table(arguments)?;
        if !table.is_raw() {
            return failure(format!("Table {} belongs to SQL: empty it with TRUNCATE", name.shown()));
        }
        self.out.line(&format!("Truncating '{}' table (it may take a while):", name.shown()))?;
        self.out.line("Disabling table...")?;
        self.out.line("Truncating table...")?;
        self.sql(&format!("TRUNCATE {}", name.sql())).await?;
        self.sql(&format!("ALTER TABLE {} SET (enabled = true)", name.sql())).await
    }

    pub fn get_splits(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        check_count(arguments.len(), 1, 1)?;
        let (_, table) = self.table(arguments)?;
        let points: Vec<String> = table.split_points().iter().map(|key| text::binary(key)).collect();
        self.out.line(&format!("Total number of splits = {}", points.len() + 1))?;
        for point in &points {
            self.out.line(point)?;
        }
        self.value = Some(format!("[{}]", points.iter().map(|p| format!("\"{p}\"")).collect::<Vec<_>>().join(", ")));
        Ok(())
    }

    fn namespace(&self, arguments: &[Value]) -> Result<String, Failure> {
        check_count(arguments.len(), 1, 1)?;
        let Some(name) = arguments.first().and_then(Value::text) else { return failure("Namespace name must be of type String") };
        if !self.database.namespaces().contains(&name) {
            return failure(format!("Unknown namespace {name}!"));
        }
        Ok(name)
    }

    pub async fn create_namespace(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        check_count(arguments.len(), 1, 2)?;
        Arguments::new(arguments, 1, 1)?.finish()?;
        let Some(name) = arguments.first().and_then(Value::text) else { return failure("Namespace name must be of type String") };
        if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
            return failure(format!("Illegal namespace name: {name}"));
        }
        // SQL's own schemas have names that a namespace cannot have as well.
        if self.database.namespaces().contains(&name) || name == schema_of(DEFAULT_NAMESPACE) || name == SNAPSHOTS {
            return failure(format!("Namespace already exists: {name}!"));
        }
        self.sql(&format!("CREATE SCHEMA {}", quoted(&name))).await
    }

    pub async fn drop_namespace(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        let name = self.namespace(arguments)?;
        if name == DEFAULT_NAMESPACE {
            return failure("Reserved namespace default cannot be removed.");
        }
        let tables = self.database.tables_of(&name).len();
        if tables > 0 {
            return failure(format!("Only empty namespaces can be removed. Namespace {name} has {tables} tables"));
        }
        self.sql(&format!("DROP SCHEMA {}", quoted(&name))).await
    }

    pub fn list_namespace(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        check_count(arguments.len(), 0, 1)?;
        let pattern = arguments.first().and_then(Value::text).unwrap_or_else(|| ".*".into());
        let pattern =
            Regex::new(&format!("^(?:{pattern})$")).map_err(|e| Failure::Message(format!("Incorrect regular expression: {e}")))?;
        let mut names = self.database.namespaces();
        names.retain(|name| pattern.is_match(name));
        self.names("NAMESPACE", &names)
    }

    pub fn list_namespace_tables(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        let name = self.namespace(arguments)?;
        let names = self.database.tables_of(&name);
        self.names("TABLE", &names)
    }

    pub fn describe_namespace(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        let name = self.namespace(arguments)?;
        self.out.line("DESCRIPTION")?;
        self.out.line(&format!("{{NAME => '{name}'}}"))?;
        self.out.line("Quota is disabled")?;
        Ok(())
    }

    pub async fn flush(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        check_count(arguments.len(), 1, 1)?;
        self.table(arguments)?;
        self.sql("CHECKPOINT").await
    }

    pub async fn compact(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        check_count(arguments.len(), 1, 1)?;
        let (_, table) = self.enabled(arguments)?;
        if table.is_raw() {
            table.cells.compact().await?;
        }
        Ok(())
    }
}

/// The statement that makes a table of families as [`family`] writes them.
pub fn create_statement(table: &TableName, families: &[String], splits: &[Vec<u8>]) -> String {
    let split = match splits.is_empty() {
        true => String::new(),
        false => format!(" SPLIT AT ({})", splits.iter().map(|key| bytes_literal(key)).collect::<Vec<_>>().join(", ")),
    };
    format!("CREATE TABLE {} ({}) WITH (raw){split}", table.sql(), families.join(", "))
}

/// `FAMILY f () WITH (…)` of a family's options; a new one has HBase's defaults.
fn family(name: &Value, options: &[(String, Value)], new: bool) -> Result<String, Failure> {
    let find = |key: &str| options.iter().find(|(name, _)| name == key).map(|(_, value)| value);
    let Some(name) = find("NAME").unwrap_or(name).text().filter(|name| !name.is_empty()) else {
        return failure("Column family name must be a String");
    };
    if name.contains(':') {
        return failure(format!("Illegal character <58>. Family names cannot contain control characters or colons: {name}"));
    }
    let mut out: Vec<(&str, String)> = Vec::new();
    if new {
        out.extend([("compression", "none".to_owned()), ("block_size", "65536".to_owned())]);
    }
    for (key, value) in options {
        if matches!(key.as_str(), "CONFIGURATION" | "METADATA") {
            return failure(format!("{key} of a column family is not supported: what it says is Hadoop's, or an option by itself"));
        }
        let Some(given) = value.text() else { return failure(format!("{key} must be a String or a number")) };
        let upper = given.to_ascii_uppercase();
        let mut set = |name: &'static str, value: &str| {
            out.retain(|(known, _)| *known != name);
            out.push((name, value.to_owned()));
        };
        match (key.as_str(), upper.as_str()) {
            ("NAME" | "METHOD", _) => {}
            ("VERSIONS", _) => set("versions", &given),
            ("MIN_VERSIONS", _) => set("min_versions", &given),
            ("TTL", "FOREVER" | "2147483647") => set("ttl", "none"),
            ("TTL", _) => match text::seconds_of(&given) {
                Some(2_147_483_647) => set("ttl", "none"),
                Some(seconds) => set("ttl", &seconds.to_string()),
                None => return failure(format!("TTL => '{given}' is no time: write seconds, or '2 DAYS 3 HOURS'")),
            },
            ("COMPRESSION", "NONE" | "SNAPPY" | "LZ4" | "ZSTD") => set("compression", &given.to_ascii_lowercase()),
            ("COMPRESSION", "GZ" | "GZIP") => {
                return failure(format!(
                    "Compression algorithm {given} is not supported: ZSTD makes files as small, and reads them sooner"
                ));
            }
            ("COMPRESSION", _) => {
                return failure(format!("Compression algorithm {given} is not supported: NONE, SNAPPY, LZ4 and ZSTD are"));
            }
            ("BLOOMFILTER", "NONE" | "ROW" | "ROWCOL") => set("bloom_filter", &given.to_ascii_lowercase()),
            ("BLOOMFILTER", _) => return failure(format!("BloomFilter type {given} is not supported. Use one of NONE ROW ROWCOL")),
            ("BLOCKSIZE", _) => match text::bytes_of(&given) {
                Some(bytes) => set("block_size", &bytes.to_string()),
                None => return failure(format!("BLOCKSIZE => '{given}' is no size: write bytes, or '64 KB'")),
            },
            ("BLOCKCACHE", _) => set("block_cache", &given.to_ascii_lowercase()),
            ("IN_MEMORY", _) => set("in_memory", &given.to_ascii_lowercase()),
            ("IS_MOB", _) => set("blob", &given.to_ascii_lowercase()),
            // What these values say is so, or shows in no result.
            ("KEEP_DELETED_CELLS", "FALSE") | ("REPLICATION_SCOPE", "0") => {}
            ("DATA_BLOCK_ENCODING", "NONE" | "PREFIX" | "DIFF" | "FAST_DIFF" | "ROW_INDEX_V1") | ("INDEX_BLOCK_ENCODING", "NONE") => {}
            ("MOB_THRESHOLD", _) => {
                return failure(
                    "MOB_THRESHOLD is not supported: with IS_MOB => true values of 4096 bytes and more lie apart from their keys",
                );
            }
            ("KEEP_DELETED_CELLS", _) => {
                return failure(format!(
                    "KEEP_DELETED_CELLS => '{given}' is not supported: scan 't', {{RAW => true, VERSIONS => n}} shows what deletions hide until \
                     major_compact"
                ));
            }
            _ => return failure(format!("{key} => '{given}' of a column family is not supported")),
        }
    }
    // A number of versions may need a ttl, and the other way round.
    out.sort_by_key(|(name, _)| *name == "min_versions");
    let with: Vec<String> = out.iter().map(|(name, value)| format!("{name} = {}", literal(value))).collect();
    let with = if with.is_empty() { String::new() } else { format!(" WITH ({})", with.join(", ")) };
    Ok(format!("FAMILY {} (){with}", quoted(&name)))
}

/// A family as [`family`] writes it, of its options.
pub fn written(name: &str, options: &FamilyOptions) -> String {
    let ttl = options.ttl.map_or_else(|| "none".to_owned(), |ttl| ttl.as_secs().to_string());
    let compression = match options.compression {
        Compression::None => "none",
        Compression::Snappy => "snappy",
        Compression::Lz4 => "lz4",
        Compression::Zstd => "zstd",
    };
    let bloom = match options.bloom_filter {
        BloomFilter::None => "none",
        BloomFilter::Row => "row",
        BloomFilter::RowCol => "rowcol",
    };
    format!(
        "FAMILY {} () WITH (versions = {}, ttl = '{ttl}', min_versions = {}, compression = '{compression}', bloom_filter = '{bloom}', \
         block_size = {}, block_cache = {}, in_memory = {}, blob = {})",
        quoted(name),
        options.versions,
        options.min_versions,
        options.block_size,
        options.block_cache,
        options.in_memory,
        options.blob,
    )
}

/// That a table has no such option, and what does the same.
fn no_table_option(option: &str) -> String {
    let instead = match option {
        "MAX_FILESIZE" | "SPLIT_POLICY" | "SPLIT_ENABLED" | "MERGE_ENABLED" | "NORMALIZATION_ENABLED" => {
            "a table is split where split 't', 'key' or ALTER TABLE … SPLIT of SQL says"
        }
        "MEMSTORE_FLUSHSIZE" | "FLUSH_POLICY" => "memory is shared by all tables (--memory-limit), and flush 't' writes it out",
        "COMPACTION_ENABLED" => "files are compacted in the background, and major_compact 't' removes what is hidden",
        "READONLY" => "REVOKE of SQL takes rights away, and disable 't' closes a table",
        "DURABILITY" | "DEFERRED_LOG_FLUSH" => "a change is on disk when its command ends",
        "OWNER" => "ALTER TABLE … OWNER TO of SQL changes it",
        "REGION_REPLICATION" => "regions have no replicas",
        "VERSIONS" | "TTL" | "COMPRESSION" | "BLOOMFILTER" | "BLOCKSIZE" | "BLOCKCACHE" | "IN_MEMORY" | "MIN_VERSIONS" | "IS_MOB" => {
            "it is an option of column families: {NAME => 'f', …}"
        }
        _ => "a table has families and splits, and nothing else",
    };
    format!("{option} of a table is not supported: {instead}")
}

fn split_points(options: &[(String, Value)]) -> Result<Vec<Vec<u8>>, Failure> {
    let find = |key: &str| options.iter().find(|(name, _)| name == key).map(|(_, value)| value);
    if let Some((key, _)) = options.iter().find(|(key, _)| !matches!(key.as_str(), "SPLITS" | "SPLITS_FILE" | "NUMREGIONS" | "SPLITALGO")) {
        return failure(no_table_option(key));
    }
    let mut out = match (find("SPLITS"), find("SPLITS_FILE").and_then(Value::text), find("NUMREGIONS")) {
        (Some(Value::List(keys)), _, _) => {
            let keys = keys.iter().map(Value::bytes).collect::<Option<Vec<_>>>();
            keys.ok_or_else(|| Failure::Message("SPLITS must be an Array of Strings".into()))?
        }
        (Some(_), _, _) => return failure("SPLITS must be an Array of Strings"),
        (None, Some(path), _) => {
            let text = std::fs::read_to_string(&path).map_err(|e| Failure::Message(format!("cannot read {path}: {e}")))?;
            text.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| line.as_bytes().to_vec()).collect()
        }
        (None, None, Some(count)) => {
            let Some(count) = count.int().and_then(|n| u32::try_from(n).ok()).filter(|n| (2..=65_536).contains(n)) else {
                return failure("Number of regions must be greater than 1");
            };
            let Some(algorithm) = find("SPLITALGO").and_then(Value::text) else {
                return failure("Split algorithm should be specified");
            };
            uniform(&algorithm, u128::from(count))?
        }
        (None, None, None) => return failure("NUMREGIONS is missing beside SPLITALGO"),
    };
    out.sort();
    if out.windows(2).any(|pair| pair.first() == pair.last()) {
        return failure("All split keys must be unique");
    }
    Ok(out)
}

/// The keys that part so many regions alike.
fn uniform(algorithm: &str, count: u128) -> Result<Vec<Vec<u8>>, Failure> {
    let points = |range: u128| (1..count).map(move |n| range / count * n);
    match algorithm {
        "HexStringSplit" => Ok(points(1 << 32).map(|n| format!("{n:08x}").into_bytes()).collect()),
        "DecimalStringSplit" => Ok(points(100_000_000).map(|n| format!("{n:08}").into_bytes()).collect()),
        "UniformSplit" => Ok(points(1 << 64).map(|n| (n as u64).to_be_bytes().to_vec()).collect()),
        other => failure(format!("Split algorithm {other} is not known: HexStringSplit, DecimalStringSplit, UniformSplit")),
    }
}

/// A family as `describe` shows it.
fn description(name: &str, options: &FamilyOptions) -> String {
    let compression = match options.compression {
        Compression::None => "NONE",
        Compression::Snappy => "SNAPPY",
        Compression::Lz4 => "LZ4",
        Compression::Zstd => "ZSTD",
    };
    let bloom = match options.bloom_filter {
        BloomFilter::None => "NONE",
        BloomFilter::Row => "ROW",
        BloomFilter::RowCol => "ROWCOL",
    };
    let ttl = options.ttl.map_or_else(|| "FOREVER".to_owned(), |ttl| text::ttl(ttl.as_secs()));
    let blob = if options.blob { ", IS_MOB => 'true'" } else { "" };
    format!(
        "{{NAME => '{name}', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '{}', KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', \
         TTL => '{ttl}', MIN_VERSIONS => '{}', REPLICATION_SCOPE => '0', BLOOMFILTER => '{bloom}', IN_MEMORY => '{}'{blob}, COMPRESSION => \
         '{compression}', BLOCKCACHE => '{}', BLOCKSIZE => '{}'}}",
        options.versions,
        options.min_versions,
        options.in_memory,
        options.block_cache,
        text::bytes(u64::from(options.block_size)),
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use std::time::Duration;

    #[test]
    fn splits_are_those_of_hbase() {
        let of = |algorithm: &str, count: u128| {
            let points = uniform(algorithm, count).unwrap_or_else(|_| panic!("{algorithm}"));
            points.iter().map(|key| text::binary(key)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(of("HexStringSplit", 4), "40000000 80000000 c0000000");
        assert_eq!(of("HexStringSplit", 7), "24924924 49249248 6db6db6c 92492490 b6db6db4 db6db6d8");
        assert_eq!(of("DecimalStringSplit", 7), "14285714 28571428 42857142 57142856 71428570 85714284");
        assert_eq!(of("UniformSplit", 2), r"\x80\x00\x00\x00\x00\x00\x00\x00");
        assert!(of("UniformSplit", 7).ends_with(r"\xDBm\xB6\xDBm\xB6\xDBl"));
        assert!(uniform("NoSplit", 2).is_err());
    }

    #[test]
    fn families_are_described_as_hbase_describes_them() {
        let options = FamilyOptions {
            versions: 3,
            min_versions: 1,
            ttl: Some(Duration::from_secs(18_000)),
            compression: Compression::Snappy,
            bloom_filter: BloomFilter::RowCol,
            block_size: 131_072,
            block_cache: false,
            in_memory: true,
            blob: true,
            ..FamilyOptions::default()
        };
        assert_eq!(
            description("g", &options),
            "{NAME => 'g', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '3', KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', \
             TTL => '18000 SECONDS (5 HOURS)', MIN_VERSIONS => '1', REPLICATION_SCOPE => '0', BLOOMFILTER => 'ROWCOL', IN_MEMORY => 'true', \
             IS_MOB => 'true', COMPRESSION => 'SNAPPY', BLOCKCACHE => 'false', BLOCKSIZE => '131072 B (128KB)'}"
        );
    }
}

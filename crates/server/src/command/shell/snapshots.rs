//! Commands about snapshots: copies of raw tables, each a table by itself in the schema [`SNAPSHOTS`], closed to programs, whose comment says of
//! which table it is and when it was taken. A snapshot is there as a whole or not at all: it is one transaction.

use super::arguments::{Arguments, Failure, TableName, check_count, failure, literal};
use super::commands::Shell;
use super::ruby::Value;
use super::text;
use regex::Regex;
use std::time::{SystemTime, UNIX_EPOCH};
use stoa_engine::raw::{OpenTable, SNAPSHOTS};

/// Names of relations have so many bytes.
const LONGEST_NAME: usize = 63;

/// A snapshot that is there.
struct Taken {
    name: String,
    /// The table as HBase names it, and when it was taken.
    of: String,
    at: String,
    table: OpenTable,
}

impl Shell {
    pub async fn snapshot(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        let mut given = Arguments::new(arguments, 2, 2)?;
        // There is nothing that is not in it without a flush.
        given.take(&["SKIP_FLUSH"]);
        if given.take(&["TTL"]).is_some() {
            return failure("TTL of a snapshot is not supported: it is there until delete_snapshot");
        }
        given.finish()?;
        let (of, table) = self.table(arguments)?;
        if !table.is_raw() {
            return failure(format!(
                "Table {} belongs to SQL: CREATE TABLE … AS TABLE copies it, and a table that keeps its past goes back with ALTER TABLE … RESTORE TO",
                of.shown()
            ));
        }
        let name = snapshot_name(arguments.get(1))?;
        if self.database.open_table(SNAPSHOTS, &name).is_some() {
            return failure(format!("Snapshot '{name}' already exists"));
        }
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let comment = format!("snapshot of {}, {}", of.shown(), text::moment(i64::try_from(seconds).unwrap_or(0)));
        let copy = TableName { namespace: SNAPSHOTS.to_owned(), name };
        let mut statements = vec![format!("CREATE SCHEMA IF NOT EXISTS {SNAPSHOTS}")];
        statements.extend(copied(&copy, &of, &table));
        statements.push(format!("ALTER TABLE {} SET (enabled = false)", copy.sql()));
        statements.push(format!("COMMENT ON TABLE {} IS {}", copy.sql(), literal(&comment)));
        self.together(&statements).await
    }

    pub async fn clone_snapshot(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        let mut given = Arguments::new(arguments, 2, 2)?;
        refuse_rights(&mut given)?;
        given.finish()?;
        let taken = self.taken(arguments.first())?;
        let Some(name) = arguments.get(1).and_then(Value::text) else { return failure("Table name must be of type String") };
        self.cloned(&taken, &TableName::parse(&name)?).await
    }

    async fn cloned(&mut self, taken: &Taken, new: &TableName) -> Result<(), Failure> {
        self.check_new(new)?;
        self.together(&copied(new, &taken.name(), &taken.table)).await
    }

    /// The table has the families and cells of the snapshot again, and stays as it is otherwise; one that is gone is made.
    pub async fn restore_snapshot(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        let mut given = Arguments::new(arguments, 1, 1)?;
        refuse_rights(&mut given)?;
        given.finish()?;
        let taken = self.taken(arguments.first())?;
        let of = TableName::parse(&taken.of)?;
        let Some(table) = self.database.open_table(&of.namespace, &of.name) else { return self.cloned(&taken, &of).await };
        if !table.is_raw() {
            return failure(format!("Table {} belongs to SQL by now: clone_snapshot '{}', 'new'", of.shown(), taken.name));
        }
        if table.is_enabled() {
            return failure(format!("Table {} should be disabled before restoring snapshot {}", of.shown(), taken.name));
        }
        self.sql(&format!("ALTER TABLE {} RESTORE FROM {}", of.sql(), taken.name().sql())).await
    }

    pub fn list_snapshots(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        check_count(arguments.len(), 0, 1)?;
        let found = self.snapshots(None, arguments.first())?;
        self.listed(&found)
    }

    pub fn list_table_snapshots(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        check_count(arguments.len(), 1, 2)?;
        let found = self.snapshots(arguments.first(), arguments.get(1))?;
        self.listed(&found)
    }

    pub async fn delete_snapshot(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        check_count(arguments.len(), 1, 1)?;
        let taken = self.taken(arguments.first())?;
        self.delete_taken(&taken).await
    }

    pub async fn delete_all_snapshot(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        check_count(arguments.len(), 1, 1)?;
        let found = self.snapshots(None, arguments.first())?;
        let regex = arguments.first().and_then(Value::text).unwrap_or_default();
        self.delete_all_taken(&found, &format!("the regex {regex}")).await
    }

    pub async fn delete_table_snapshots(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        check_count(arguments.len(), 1, 2)?;
        let found = self.snapshots(arguments.first(), arguments.get(1))?;
        let text = |at: usize| arguments.get(at).and_then(Value::text).unwrap_or_else(|| ".*".into());
        let wanted = format!("the table name regular expression {} and the snapshot name regular expression {}", text(0), text(1));
        self.delete_all_taken(&found, &wanted).await
    }

    /// Those that are gone need no room any more, as HBase's: a table that is dropped comes back, a snapshot does not.
    async fn delete_taken(&mut self, taken: &Taken) -> Result<(), Failure> {
        self.sql(&format!("DROP TABLE {} PURGE", taken.name().sql())).await
    }

    async fn delete_all_taken(&mut self, found: &[Taken], wanted: &str) -> Result<(), Failure> {
        if !self.confirmed {
            self.rows_of(found)?;
            if !found.is_empty() {
                return Err(Failure::Asks(format!("Delete the above {} snapshots (y/n)?", found.len())));
            }
            self.out.line(&format!("No snapshots matched {wanted}"))?;
            return Ok(());
        }
        for taken in found {
            self.delete_taken(taken).await?;
        }
        self.out.line(&format!("{} snapshots successfully deleted.", found.len()))?;
        Ok(())
    }

    fn rows_of(&mut self, found: &[Taken]) -> Result<(), Failure> {
        self.out.header("SNAPSHOT", "TABLE + CREATION TIME")?;
        for taken in found {
            self.out.row(&taken.name, &format!("{} ({})", taken.of, taken.at))?;
        }
        Ok(())
    }

    fn listed(&mut self, found: &[Taken]) -> Result<(), Failure> {
        self.rows_of(found)?;
        self.out.line(&format!("{} row(s)", found.len()))?;
        self.value = Some(format!("[{}]", found.iter().map(|taken| format!("\"{}\"", taken.name)).collect::<Vec<_>>().join(", ")));
        Ok(())
    }

    /// The snapshots of tables, and of names, that patterns find.
    fn snapshots(&self, tables: Option<&Value>, names: Option<&Value>) -> Result<Vec<Taken>, Failure> {
        let (tables, names) = (pattern(tables)?, pattern(names)?);
        let mut found: Vec<Taken> = self.database.tables_of(SNAPSHOTS).into_iter().filter_map(|name| self.find_taken(name)).collect();
        found.retain(|taken| tables.is_match(&taken.of) && names.is_match(&taken.name));
        Ok(found)
    }

    fn find_taken(&self, name: String) -> Option<Taken> {
        let table = self.database.open_table(SNAPSHOTS, &name)?;
        let (of, at) = table.snapshot_of().map(|(of, at)| (of.to_owned(), at.to_owned()))?;
        Some(Taken { name, of, at, table })
    }

    fn taken(&self, name: Option<&Value>) -> Result<Taken, Failure> {
        let name = snapshot_name(name)?;
        match self.find_taken(name.clone()) {
            Some(taken) => Ok(taken),
            None => failure(format!("Snapshot '{name}' doesn't exist")),
        }
    }

    /// Executes statements in one transaction.
    async fn together(&mut self, statements: &[String]) -> Result<(), Failure> {
        self.sql("BEGIN ISOLATION LEVEL READ COMMITTED").await?;
        for statement in statements {
            if let Err(error) = self.sql(statement).await {
                self.sql("ROLLBACK").await?;
                return Err(error);
            }
        }
        self.sql("COMMIT").await
    }
}

impl Taken {
    fn name(&self) -> TableName {
        TableName { namespace: SNAPSHOTS.to_owned(), name: self.name.clone() }
    }
}

/// The statements that make a table with the families, the splits and the cells of another one.
fn copied(new: &TableName, of: &TableName, table: &OpenTable) -> [String; 2] {
    let families: Vec<String> = table.families().iter().map(|(name, options)| super::tables::written(name, options)).collect();
    [super::tables::create_statement(new, &families, table.split_points()), format!("ALTER TABLE {} RESTORE FROM {}", new.sql(), of.sql())]
}

fn snapshot_name(given: Option<&Value>) -> Result<String, Failure> {
    let Some(name) = given.and_then(Value::text) else { return failure("Snapshot name must be of type String") };
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.is_empty() || !name.chars().all(legal) || name.starts_with(['.', '-']) || name.len() > LONGEST_NAME {
        return failure(format!("Illegal snapshot name: {name}. It has letters, digits, '_', '-' and '.', up to {LONGEST_NAME} of them"));
    }
    Ok(name)
}

/// Rights are those that the table has.
fn refuse_rights(given: &mut Arguments) -> Result<(), Failure> {
    match given.take(&["RESTORE_ACL"]).map(|value| value.bool()) {
        None | Some(Some(false)) => Ok(()),
        Some(_) => failure("RESTORE_ACL is not supported: rights stay as they are, and GRANT of SQL gives others"),
    }
}

fn pattern(given: Option<&Value>) -> Result<Regex, Failure> {
    let text = match given {
        None => ".*".to_owned(),
        Some(value) => match value.text() {
            Some(text) => text,
            None => return failure("A regular expression must be of type String"),
        },
    };
    Regex::new(&format!("^(?:{text})$")).map_err(|e| Failure::Message(format!("Incorrect regular expression: {e}")))
}

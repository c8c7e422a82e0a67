//! Commands about rows and cells.

use super::arguments::{Arguments, Column, Failure, check_count, failure};
use super::commands::Shell;
use super::filter::Filter;
use super::ruby::Value;
use super::text;
use stoa_engine::raw::{CellKind, Change, KeyRange, OpenTable, Row, RowCell, Wanted};

/// What `get` and `scan` ask for.
struct Query {
    columns: Vec<Column>,
    wanted: Wanted,
    /// After the filter.
    versions: u32,
    filter: Option<Filter>,
    max_length: Option<usize>,
}

impl Query {
    fn new(arguments: &mut Arguments) -> Result<Self, Failure> {
        let mut columns = Vec::new();
        match arguments.take(&["COLUMNS", "COLUMN"]) {
            None => {}
            Some(Value::List(many)) => {
                for column in many {
                    columns.push(parse_column(&column)?);
                }
            }
            Some(one) => columns.push(parse_column(&one)?),
        }
        let versions = match arguments.take_int("VERSIONS")? {
            None => 1,
            Some(n) => match u32::try_from(n) {
                Ok(n) if n > 0 => n,
                _ => return failure("Number of versions must be positive"),
            },
        };
        let mut times = (0, i64::MAX);
        if let Some(at) = arguments.take_int("TIMESTAMP")? {
            times = (at, at.saturating_add(1));
        }
        match arguments.take(&["TIMERANGE"]) {
            None => {}
            Some(Value::List(range)) => match range.iter().map(Value::int).collect::<Vec<_>>().as_slice() {
                [Some(from), Some(to)] if from <= to => times = (*from, *to),
                _ => return failure("TIMERANGE must be an Array of two timestamps, the smaller one first"),
            },
            Some(_) => return failure("TIMERANGE must be an Array of two timestamps"),
        }
        let raw = arguments.take(&["RAW"]).and_then(|v| v.bool()).unwrap_or(false);
        let filter = match arguments.take(&["FILTER"]) {
            None => None,
            Some(text) => {
                let Some(bytes) = text.bytes() else { return failure("FILTER must be a String") };
                Some(Filter::parse(&bytes).map_err(Failure::Message)?)
            }
        };
        let max_length = arguments.take_int("MAXLENGTH")?.and_then(|n| usize::try_from(n).ok());
        // How rows travel shows in no result.
        let _ = arguments.take(&["CACHE", "READ_TYPE"]);
        let _ = arguments.take(&["CACHE_BLOCKS"]);
        // A filter sees as many versions as are kept.
        let wanted = Wanted { versions: if filter.is_some() { u32::MAX } else { versions }, times, raw };
        Ok(Self { columns, wanted, versions, filter, max_length })
    }

    fn check(&self, table: &OpenTable) -> Result<(), Failure> {
        let families = table.families();
        match self.columns.iter().find(|column| !families.iter().any(|(name, _)| *name == column.family)) {
            None => Ok(()),
            Some(_) => Err(unknown_family(table)),
        }
    }

    /// What is asked for of a row.
    fn select(&mut self, mut row: Row) -> Option<Row> {
        if !self.columns.is_empty() {
            let asked = asked(&self.columns);
            row.cells.retain(|cell| match asked.iter().find(|(family, _)| *family == cell.family) {
                None => false,
                Some((_, None)) => true,
                Some((_, Some(qualifiers))) => qualifiers.contains(&cell.qualifier.as_slice()) || is_of_family(cell),
            });
        }
        if let Some(filter) = &mut self.filter {
            row = filter.apply(row, self.versions)?;
        }
        (!row.cells.is_empty()).then_some(row)
    }

    fn is_done(&self) -> bool {
        self.filter.as_ref().is_some_and(Filter::is_done)
    }

    /// `timestamp=…, value=…`
    fn shown(&self, cell: &RowCell) -> Result<String, Failure> {
        let time = text::time(cell.time);
        let out = match cell.kind {
            CellKind::Put => {
                let own = |c: &&Column| c.family == cell.family && c.qualifier.as_ref() == Some(&cell.qualifier) && c.converter.is_some();
                let converter = self.columns.iter().find(own).and_then(|c| c.converter.as_deref());
                format!("timestamp={time}, value={}", convert(converter, &cell.value)?)
            }
            kind => format!("timestamp={time}, type={}", kind.name()),
        };
        Ok(match self.max_length {
            Some(most) => out.chars().take(most).collect(),
            None => out,
        })
    }
}

/// The families that columns name, with the qualifiers of each or all of them. A family replaces the columns of it that stand before it, and a
/// column the family: as HBase's `Scan` takes them.
fn asked(columns: &[Column]) -> Vec<(&str, Option<Vec<&[u8]>>)> {
    let mut out: Vec<(&str, Option<Vec<&[u8]>>)> = Vec::new();
    for Column { family, qualifier, .. } in columns {
        let at = out.iter().position(|(known, _)| known == family).unwrap_or(out.len());
        if at == out.len() {
            out.push((family, None));
        }
        if let Some((_, qualifiers)) = out.get_mut(at) {
            match qualifier {
                None => *qualifiers = None,
                Some(qualifier) => qualifiers.get_or_insert_default().push(qualifier),
            }
        }
    }
    out
}

/// Whether a deletion is of the whole family.
fn is_of_family(cell: &RowCell) -> bool {
    matches!(cell.kind, CellKind::DeleteFamily | CellKind::DeleteFamilyVersion)
}

fn parse_column(value: &Value) -> Result<Column, Failure> {
    match value.bytes() {
        Some(bytes) => Column::parse(&bytes),
        None => failure("COLUMNS must be specified as a String or an Array"),
    }
}

fn unknown_family(table: &OpenTable) -> Failure {
    let valid: Vec<String> = table.families().iter().map(|(name, _)| format!("{name}:*")).collect();
    Failure::Message(format!("Unknown column family! Valid column names: {}", valid.join(", ")))
}

/// A value as a method of HBase's `Bytes` shows it.
fn convert(converter: Option<&str>, value: &[u8]) -> Result<String, Failure> {
    let wrong = || Failure::Message(format!("Wrong length: {} bytes are no {}", value.len(), converter.unwrap_or_default()));
    macro_rules! number {
        ($ty:ty) => {
            Ok(<$ty>::from_be_bytes(value.try_into().map_err(|_| wrong())?).to_string())
        };
    }
    match converter {
        None | Some("toStringBinary") => Ok(text::binary(value)),
        Some("toString") => Ok(String::from_utf8_lossy(value).into_owned()),
        Some("toInt") => number!(i32),
        Some("toLong") => number!(i64),
        Some("toShort") => number!(i16),
        Some("toFloat") => number!(f32),
        Some("toDouble") => number!(f64),
        Some("toBoolean") => match value {
            [byte] => Ok((*byte != 0).to_string()),
            _ => Err(wrong()),
        },
        Some("toHex") => Ok(value.iter().map(|b| format!("{b:02x}")).collect()),
        Some(other) => failure(format!("undefined method '{other}' for class Bytes")),
    }
}

fn column_name(cell: &RowCell) -> String {
    format!("{}:{}", cell.family, text::binary(&cell.qualifier))
}

/// `(id => 1, name => 'x')`: a row of SQL beside its bytes.
fn typed(values: &[(String, String)]) -> String {
    let values: Vec<String> = values.iter().map(|(name, value)| format!("{name} => {value}")).collect();
    format!("row=({})", values.join(", "))
}

/// A timestamp that a command has as an argument.
fn timestamp(value: Option<&Value>) -> Result<Option<i64>, Failure> {
    match value {
        None | Some(Value::Nil) => Ok(None),
        Some(value) => match value.int().filter(|n| *n >= 0) {
            Some(n) => Ok(Some(n)),
            None => failure("Timestamp must be a number that is not negative"),
        },
    }
}

impl Shell {
    pub async fn put(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        let given = Arguments::new(arguments, 4, 5)?;
        let (_, table) = self.writable(arguments)?;
        let (row, column) = (row_key(given.bytes(1, "Row")?)?, Column::parse(&given.bytes(2, "Column")?)?);
        let (value, time) = (given.bytes(3, "Value")?, timestamp(given.plain.get(4))?);
        given.finish()?;
        check_family(&table, &column)?;
        let put = Change::Put { family: column.family, qualifier: column.qualifier.unwrap_or_default(), time, value };
        table.cells.change(&row, |_| Ok((vec![put], ()))).await?;
        Ok(())
    }

    pub async fn get(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        let mut given = Arguments::new(arguments, 2, usize::MAX)?;
        let (_, table) = self.enabled(arguments)?;
        let row = row_key(given.bytes(1, "Row")?)?;
        let mut query = Query::new(&mut given)?;
        for column in given.plain.iter().skip(2) {
            match column {
                Value::List(many) => {
                    for one in many {
                        query.columns.push(parse_column(one)?);
                    }
                }
                one => query.columns.push(parse_column(one)?),
            }
        }
        given.finish()?;
        query.check(&table)?;
        let found = table.cells.get(&row, &query.wanted).await?.and_then(|row| query.select(row));
        self.out.header("COLUMN", "CELL")?;
        let count = u32::from(found.is_some());
        if let Some(row) = found {
            for cell in &row.cells {
                self.out.row(&column_name(cell), &query.shown(cell)?)?;
            }
            if !table.is_raw() {
                self.out.row("", &typed(&table.values(&row.key).await?))?;
            }
        }
        self.out.line(&format!("{count} row(s)"))?;
        Ok(())
    }

    pub async fn scan(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        let mut given = Arguments::new(arguments, 1, 1)?;
        let (_, table) = self.enabled(arguments)?;
        let mut query = Query::new(&mut given)?;
        let reverse = given.take(&["REVERSED"]).and_then(|v| v.bool()).unwrap_or(false);
        let limit = given.take_int("LIMIT")?.filter(|n| *n > 0);
        query.filter = query.filter.map(|filter| filter.reversed(reverse));
        let range = range(&mut given, reverse)?;
        given.finish()?;
        query.check(&table)?;
        self.out.header("ROW", "COLUMN+CELL")?;
        let mut count = 0_i64;
        let mut scan = table.cells.scan(range, reverse, &query.wanted).await?;
        'blocks: while let Some(rows) = scan.next_block().await? {
            for row in rows {
                let done = query.is_done() || limit.is_some_and(|limit| count >= limit);
                if done {
                    break 'blocks;
                }
                let Some(row) = query.select(row) else { continue };
                let key = text::binary(&row.key);
                for cell in &row.cells {
                    self.out.row(&key, &format!("column={}, {}", column_name(cell), query.shown(cell)?))?;
                }
                if !table.is_raw() {
                    self.out.row(&key, &typed(&table.values(&row.key).await?))?;
                }
                count += 1;
            }
        }
        self.out.line(&format!("{count} row(s)"))?;
        Ok(())
    }

    pub async fn delete(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        let given = Arguments::new(arguments, 3, 4)?;
        let (_, table) = self.writable(arguments)?;
        let (row, column) = (row_key(given.bytes(1, "Row")?)?, Column::parse(&given.bytes(2, "Column")?)?);
        let time = timestamp(given.plain.get(3))?;
        given.finish()?;
        check_family(&table, &column)?;
        let Column { family, qualifier, .. } = column;
        let qualifier = qualifier.unwrap_or_default();
        let decide = |found: Option<Row>| {
            let own = |cell: &&RowCell| cell.family == family && cell.qualifier == qualifier;
            let newest = found.as_ref().and_then(|row| row.cells.iter().find(own)).map(|cell| cell.time);
            // Without a time it is the newest version that goes.
            let delete =
                |time| Change::Delete { family: family.clone(), qualifier: qualifier.clone(), time: Some(time), kind: CellKind::Delete };
            Ok((time.or(newest).map(delete).into_iter().collect(), ()))
        };
        table.cells.change(&row, decide).await?;
        Ok(())
    }

    pub async fn delete_all(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        let mut given = Arguments::new(arguments, 1, 4)?;
        let (_, table) = self.writable(arguments)?;
        let column = given.plain.get(2).map(parse_column).transpose()?;
        if let Some(column) = &column {
            check_family(&table, column)?;
        }
        let time = timestamp(given.plain.get(3))?;
        let prefix = given.take(&["ROWPREFIXFILTER"]);
        let _ = given.take(&["CACHE"]);
        let families: Vec<String> = table.families().into_iter().map(|(name, _)| name).collect();
        let changes: Vec<Change> = match column {
            Some(Column { family, qualifier: Some(qualifier), .. }) => {
                vec![Change::Delete { family, qualifier, time, kind: CellKind::DeleteColumn }]
            }
            Some(Column { family, qualifier: None, .. }) => {
                vec![Change::Delete { family, qualifier: Vec::new(), time, kind: CellKind::DeleteFamily }]
            }
            None => families
                .into_iter()
                .map(|family| Change::Delete { family, qualifier: Vec::new(), time, kind: CellKind::DeleteFamily })
                .collect(),
        };
        match prefix {
            Some(prefix) => {
                let Some(prefix) = prefix.bytes() else { return failure("ROWPREFIXFILTER must be a String") };
                given.finish()?;
                let mut scan = table.cells.scan(KeyRange::prefix(&prefix), false, &Wanted::newest()).await?;
                while let Some(rows) = scan.next_block().await? {
                    for row in rows {
                        table.cells.change(&row.key, |_| Ok((changes.clone(), ()))).await?;
                    }
                }
            }
            None => {
                let row = row_key(given.bytes(1, "Row")?)?;
                given.finish()?;
                table.cells.change(&row, |_| Ok((changes, ()))).await?;
            }
        }
        Ok(())
    }

    pub async fn incr(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        let given = Arguments::new(arguments, 3, 4)?;
        let (_, table) = self.writable(arguments)?;
        let (row, column) = (row_key(given.bytes(1, "Row")?)?, Column::parse(&given.bytes(2, "Column")?)?);
        let by = match given.plain.get(3) {
            None | Some(Value::Nil) => 1,
            Some(value) => match value.int() {
                Some(n) => n,
                None => return failure("The increment must be a number"),
            },
        };
        given.finish()?;
        check_family(&table, &column)?;
        let (family, qualifier) = (column.family, column.qualifier.unwrap_or_default());
        let counted = table
            .cells
            .change(&row, |found| {
                let old = match value_of(found.as_ref(), &family, &qualifier) {
                    None => 0,
                    Some(bytes) => match <[u8; 8]>::try_from(bytes) {
                        Ok(bytes) => i64::from_be_bytes(bytes),
                        Err(_) => return Ok((Vec::new(), Err(bytes.len()))),
                    },
                };
                // Counters wrap around, as HBase's do.
                let new = old.wrapping_add(by);
                let put =
                    Change::Put { family: family.clone(), qualifier: qualifier.clone(), time: None, value: new.to_be_bytes().to_vec() };
                Ok((vec![put], Ok(new)))
            })
            .await?;
        match counted {
            Ok(new) => {
                self.out.line(&format!("COUNTER VALUE = {new}"))?;
                self.value = Some(new.to_string());
                Ok(())
            }
            Err(length) => failure(format!("Field is not a long, it's {length} bytes wide")),
        }
    }

    pub async fn append(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        let given = Arguments::new(arguments, 4, 4)?;
        let (_, table) = self.writable(arguments)?;
        let (row, column) = (row_key(given.bytes(1, "Row")?)?, Column::parse(&given.bytes(2, "Column")?)?);
        let more = given.bytes(3, "Value")?;
        given.finish()?;
        check_family(&table, &column)?;
        let (family, qualifier) = (column.family, column.qualifier.unwrap_or_default());
        let value = table
            .cells
            .change(&row, |found| {
                let mut value = value_of(found.as_ref(), &family, &qualifier).map(<[u8]>::to_vec).unwrap_or_default();
                value.extend_from_slice(&more);
                let put = Change::Put { family: family.clone(), qualifier: qualifier.clone(), time: None, value: value.clone() };
                Ok((vec![put], value))
            })
            .await?;
        self.out.line(&format!("CURRENT VALUE = {}", text::binary(&value)))?;
        Ok(())
    }

    pub async fn count(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        let mut given = Arguments::new(arguments, 1, 2)?;
        let (_, table) = self.enabled(arguments)?;
        let interval = match given.plain.get(1).and_then(Value::int) {
            Some(n) => Some(n),
            None => given.take_int("INTERVAL")?,
        };
        let interval = interval.unwrap_or(1000).max(1);
        let mut query = Query::new(&mut given)?;
        query.filter = query.filter.map(Filter::of_first_cells);
        let range = range(&mut given, false)?;
        given.finish()?;
        query.check(&table)?;
        let mut count = 0_i64;
        let mut scan = table.cells.scan(range, false, &query.wanted).await?;
        'blocks: while let Some(rows) = scan.next_block().await? {
            for row in rows {
                if query.is_done() {
                    break 'blocks;
                }
                let Some(row) = query.select(row) else { continue };
                count += 1;
                if count % interval == 0 {
                    self.out.line(&format!("Current count: {count}, row: {}", text::binary(&row.key)))?;
                }
            }
        }
        self.out.line(&format!("{count} row(s)"))?;
        self.value = Some(count.to_string());
        Ok(())
    }

    pub async fn get_counter(&mut self, arguments: &[Value]) -> Result<(), Failure> {
        check_count(arguments.len(), 3, 3)?;
        let given = Arguments::new(arguments, 3, 3)?;
        let (_, table) = self.enabled(arguments)?;
        let (row, column) = (row_key(given.bytes(1, "Row")?)?, Column::parse(&given.bytes(2, "Column")?)?);
        check_family(&table, &column)?;
        let found = table.cells.get(&row, &Wanted::newest()).await?;
        let value = value_of(found.as_ref(), &column.family, column.qualifier.as_deref().unwrap_or_default());
        match value {
            None => self.out.line("No counter found at specified coordinates")?,
            Some(bytes) => {
                let Ok(bytes) = <[u8; 8]>::try_from(bytes) else {
                    return failure(format!("offset (0) + length (8) exceed the capacity of the array: {}", bytes.len()));
                };
                self.out.line(&format!("COUNTER VALUE = {}", i64::from_be_bytes(bytes)))?;
            }
        }
        Ok(())
    }
}

fn row_key(key: Vec<u8>) -> Result<Vec<u8>, Failure> {
    match key.len() {
        0 => failure("Row length 0 is not allowed"),
        1..=32_767 => Ok(key),
        n => failure(format!("Row length {n} is > 32767")),
    }
}

fn check_family(table: &OpenTable, column: &Column) -> Result<(), Failure> {
    if table.families().iter().any(|(name, _)| *name == column.family) { Ok(()) } else { Err(unknown_family(table)) }
}

fn value_of<'r>(row: Option<&'r Row>, family: &str, qualifier: &[u8]) -> Option<&'r [u8]> {
    row?.cells.iter().find(|cell| cell.family == family && cell.qualifier == qualifier).map(|cell| cell.value.as_slice())
}

/// The rows that a scan goes over: from the first, included, to the last, not included, whichever way.
fn range(given: &mut Arguments, reverse: bool) -> Result<KeyRange, Failure> {
    let mut bytes = |names: &[&str]| match given.take(names) {
        None => Ok(None),
        Some(value) => match value.bytes() {
            Some(bytes) => Ok(Some(bytes)),
            None => failure(format!("{} must be a String", names.first().copied().unwrap_or_default())),
        },
    };
    let (start, stop, prefix) = (bytes(&["STARTROW"])?, bytes(&["STOPROW", "ENDROW"])?, bytes(&["ROWPREFIXFILTER"])?);
    if let Some(prefix) = prefix {
        return Ok(KeyRange::prefix(&prefix));
    }
    let start = start.filter(|key| !key.is_empty());
    let stop = stop.filter(|key| !key.is_empty());
    if let Some(key) = start.as_ref().filter(|start| stop.as_ref() == Some(*start)) {
        // One row, as HBase has it.
        return Ok(KeyRange::point(key));
    }
    let behind = |mut key: Vec<u8>| {
        key.push(0);
        key
    };
    Ok(match reverse {
        false => KeyRange::new(start.unwrap_or_default(), stop),
        true => KeyRange::new(stop.map(behind).unwrap_or_default(), start.map(behind)),
    })
}

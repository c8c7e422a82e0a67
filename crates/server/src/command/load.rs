//! `stoa load`: a file of values into a table, by COPY and so by the one write path.
//!
//! Rows are committed in parts of `--commit-rows`; the error says what a failed load has committed, and `--skip`
//! goes on behind it. A file that fits into one part is loaded whole or not at all. A part's commit leaves a token of the load, so that
//! one that was killed is gone on with by its number, `--resume`. Reading order: [`Records`] (what a file gives) → [`text`] → [`documents`] →
//! [`extended`] → [`parquet`] → [`value`] → [`types`].

mod documents;
mod extended;
mod parquet;
mod text;
mod types;
mod value;

use super::CommandError;
use super::dump::{command, start};
use super::open::{DataOptions, open, open_existing};
use indicatif::{ProgressBar, ProgressStyle};
use std::hash::{Hash, Hasher};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use stoa_engine::session::{Execution, TransactionStatus};
use stoa_engine::{Session, SessionOptions};
use stoa_pg::types::PgType;
use stoa_pg::{PgError, SqlState};
use thiserror::Error;

/// Bytes that are handed to COPY at a time.
const PIECE_BYTES: usize = 256 << 10;
const COMMIT_ROWS: u64 = 100_000;

#[derive(clap::Args, Debug)]
pub struct Load {
    #[command(flatten)]
    data: DataOptions,
    /// The database, of those that the directory has; the first one without it.
    #[arg(long, value_name = "NAME")]
    database: Option<String>,
    /// The table, with its schema if need be.
    #[arg(long, value_name = "NAME")]
    table: String,
    /// What the file is. By default what its name ends in.
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The character between values of csv and tsv.
    #[arg(long, value_name = "CHARACTER")]
    delimiter: Option<char>,
    /// What stands for NULL in csv and tsv.
    #[arg(long, value_name = "TEXT")]
    null: Option<String>,
    /// The columns: of csv and tsv in the order of the file, whose first line is a row then and not their names; of others those to load.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    columns: Option<Vec<String>>,
    /// A column that gets the whole documents of json and bson, rather than columns the values of their keys.
    #[arg(long, value_name = "NAME", conflicts_with = "columns")]
    document: Option<String>,
    /// Make the table first; the types of columns are those that all values of the file have.
    #[arg(long)]
    create: bool,
    /// The primary key of a table that is made.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', requires = "create")]
    key: Vec<String>,
    /// Rows to commit at a time: 100,000 without it.
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u64).range(1..))]
    commit_rows: Option<u64>,
    /// Rows at the start of the file that are there already.
    #[arg(long, value_name = "ROWS", default_value_t = 0)]
    skip: u64,
    /// Go on with a load of this file that did not end, behind what it has committed; it told its number when it began.
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["create", "commit_rows", "skip"])]
    resume: Option<LoadNumber>,
    /// The file.
    file: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Format {
    /// Values between commas, quoted where need be; empty is NULL. The first line names the columns.
    Csv,
    /// PostgreSQL's text format: tabs, `\N` for NULL, backslashes before special characters. The first line names the columns.
    Tsv,
    /// Objects, a line each or one array of them; keys are columns.
    Json,
    /// Documents of BSON, one behind the other, as mongodump writes them; keys are columns.
    Bson,
    /// Apache Parquet.
    Parquet,
}

impl Format {
    fn of(path: &Path) -> Self {
        match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("tsv" | "tab" | "txt" | "tbl") => Format::Tsv,
            Some("json" | "jsonl" | "ndjson") => Format::Json,
            Some("bson") => Format::Bson,
            Some("parquet" | "pq") => Format::Parquet,
            _ => Format::Csv,
        }
    }

    fn delimiter(self) -> char {
        if self == Format::Csv { ',' } else { char::from(value::DELIMITER) }
    }

    /// How documents stand in the file, where it has such.
    fn documents(self) -> Option<documents::Form> {
        match self {
            Format::Json => Some(documents::Form::Json),
            Format::Bson => Some(documents::Form::Bson),
            Format::Csv | Format::Tsv | Format::Parquet => None,
        }
    }

    /// Whether values are those of COPY as they stand in the file.
    fn is_text(self) -> bool {
        matches!(self, Format::Csv | Format::Tsv)
    }
}

/// A column of the table that the file has values for.
#[derive(Clone, Debug)]
struct Column {
    name: String,
    ty: PgType,
}

/// What is wrong with a file.
#[derive(Debug, Error)]
enum FileError {
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("{0}")]
    Content(String),
}

impl FileError {
    fn of(self, path: &Path) -> CommandError {
        match self {
            FileError::Io(error) => CommandError::Io { what: format!("cannot read {}", path.display()), error },
            FileError::Content(what) => CommandError::Usage(format!("{}: {what}", path.display())),
        }
    }
}

impl From<FileError> for PgError {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Io(error) => PgError::new(SqlState::IO_ERROR, format!("could not read the file: {error}")),
            FileError::Content(what) => PgError::new(SqlState::INVALID_TEXT_REPRESENTATION, what),
        }
    }
}

/// The rows of a file, as COPY takes them.
trait Records: Send {
    /// Appends the next record, with what ends it; false at the end of the file.
    fn record(&mut self, out: &mut Vec<u8>) -> Result<bool, FileError>;

    /// Passes over a record; false at the end of the file.
    fn skip(&mut self) -> Result<bool, FileError> {
        self.record(&mut Vec::new())
    }

    /// How many lines or rows were read: where a person finds the last one.
    fn place(&self) -> u64;

    /// What [`Records::place`] counts.
    fn unit(&self) -> &'static str;

    /// How much of [`Records::total`] was read: bytes, or rows.
    fn done(&self) -> u64;

    fn total(&self) -> u64;

    fn counts_rows(&self) -> bool {
        false
    }
}

/// By which a load is known to the commits of its parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct LoadNumber {
    random: u32,
    commit_rows: u64,
    /// Rows that were there before it.
    skip: u64,
    /// Of the table's name and the file's size: another load is not gone on with.
    what: u32,
}

impl std::fmt::Display for LoadNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:08x}-{}-{}-{:08x}", self.random, self.commit_rows, self.skip, self.what)
    }
}

impl std::str::FromStr for LoadNumber {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WRONG: &str = "not the number of a load, such as 01ab23cd-100000-0-45ef6789";
        let parts: Vec<&str> = text.split('-').collect();
        let [random, commit_rows, skip, what] = parts.as_slice() else { return Err(WRONG) };
        let hexadecimal = |text: &str| u32::from_str_radix(text, 16).map_err(|_| WRONG);
        let (random, what) = (hexadecimal(random)?, hexadecimal(what)?);
        let commit_rows = commit_rows.parse().ok().filter(|rows| *rows > 0).ok_or(WRONG)?;
        Ok(Self { random, commit_rows, skip: skip.parse().map_err(|_| WRONG)?, what })
    }
}

impl LoadNumber {
    /// The token of the part that begins behind so many rows of the file.
    fn token(self, rows: u64) -> String {
        format!("stoa load {self} from {rows}")
    }

    /// Rows of the file that are committed.
    async fn committed(self, session: &mut Session) -> Result<u64, PgError> {
        let mut rows = self.skip;
        loop {
            let Execution::Rows(answer) = start(session, &format!("SELECT stoa_commit_status({})", literal(&self.token(rows)))).await?
            else {
                return Err(PgError::internal("a query without rows"));
            };
            let batch = answer.collect().await?;
            session.finish().await?;
            let status = arrow::util::display::array_value_to_string(batch.column(0), 0)?;
            if status != "committed" {
                return Ok(rows);
            }
            rows = rows.saturating_add(self.commit_rows);
        }
    }
}

/// How far a load has come.
#[derive(Default)]
struct Progress {
    /// Rows that are committed, those skipped included.
    committed: u64,
    /// [`Records::place`] before the part that is written now.
    place: u64,
}

impl Load {
    pub(super) async fn run(self) -> Result<ExitCode, CommandError> {
        let began = Instant::now();
        let (format, delimiter) = self.form()?;
        let wrong = |error: FileError| error.of(&self.file);
        let mut text = if format.is_text() { Some(text::TextFile::open(&self.file, format).map_err(wrong)?) } else { None };
        // Types are looked for where they are wanted, or names are not known without.
        let (names, types) = match (&mut text, &self.columns, &self.document) {
            (Some(file), columns, _) => {
                let names = match columns {
                    Some(names) => names.clone(),
                    None => file.header(delimiter).map_err(wrong)?,
                };
                let types = match self.create {
                    true => text::infer(&self.file, format, delimiter, self.null(format), names.len(), columns.is_none()).map_err(wrong)?,
                    false => Vec::new(),
                };
                (names, types)
            }
            (None, _, Some(column)) => (vec![column.clone()], vec!["jsonb".to_owned()]),
            (None, Some(names), None) if !self.create => (names.clone(), Vec::new()),
            (None, columns, None) => {
                let found = match format.documents() {
                    Some(form) => documents::infer(&self.file, form),
                    None => parquet::columns(&self.file, columns.as_deref()),
                };
                let found = found.map_err(wrong)?;
                match columns {
                    None => found.into_iter().unzip(),
                    Some(names) => {
                        let ty = |name: &String| found.iter().find(|(n, _)| n == name).map(|(_, ty)| ty.clone());
                        let ty = |name| ty(name).ok_or_else(|| wrong(FileError::Content(format!("it has no column {name}"))));
                        (names.clone(), names.iter().map(ty).collect::<Result<_, _>>()?)
                    }
                }
            }
        };
        if names.is_empty() {
            return Err(wrong(FileError::Content("it has no columns".into())));
        }
        let database = if self.create { open(&self.data).await? } else { open_existing(&self.data).await? };
        let name = self.database.clone().unwrap_or_default();
        let options = SessionOptions { database: name, application_name: "stoa load".into(), ..SessionOptions::default() };
        let mut session = database.connect(options)?;
        if self.create {
            // It ends with the first part: the table is there with its first rows, or not at all.
            command(&mut session, "BEGIN").await?;
            command(&mut session, &self.definition(&names, &types)).await?;
        }
        let mut records: Box<dyn Records> = match (text, format.documents()) {
            (Some(file), _) => Box::new(file),
            (None, None) => {
                let columns = self.described(&mut session, names.clone()).await?;
                Box::new(parquet::ParquetFile::open(&self.file, columns).map_err(wrong)?)
            }
            (None, Some(form)) => {
                let mut file = documents::DocumentFile::open(&self.file, form).map_err(wrong)?;
                file.set_columns(self.described(&mut session, names.clone()).await?, self.document.is_some());
                Box::new(file)
            }
        };
        let what = self.hash().map_err(wrong)?;
        let (number, skip) = match self.resume {
            Some(number) if number.what != what => {
                return Err(CommandError::Usage(format!("load {number} was of another table, or of a file of another size")));
            }
            Some(number) => {
                let committed = number.committed(&mut session).await?;
                if committed == number.skip {
                    return Err(CommandError::Usage(format!("nothing is committed of load {number}: load the file without --resume")));
                }
                (number, committed)
            }
            None => {
                let commit_rows = self.commit_rows.unwrap_or(COMMIT_ROWS);
                (LoadNumber { random: rand::random(), commit_rows, skip: self.skip, what }, self.skip)
            }
        };
        eprintln!("load {number}: if it is interrupted, go on with --resume {number}");
        let mut progress = Progress::default();
        let done = self.load(&mut session, &mut *records, &self.copy(&names, format, delimiter), number, skip, &mut progress).await;
        session.close().await;
        let loaded = progress.committed.saturating_sub(skip);
        match done {
            Ok(()) => {
                let seconds = began.elapsed().as_secs_f64();
                eprintln!("{loaded} rows in {seconds:.1} s ({:.0} rows/s)", loaded as f64 / seconds.max(0.001));
                Ok(ExitCode::SUCCESS)
            }
            Err(error) => {
                let fields = error.fields();
                eprintln!("ERROR:  {}: {}", fields.code, fields.message);
                if let Some(detail) = &fields.detail {
                    eprintln!("DETAIL:  {detail}");
                }
                if let Some(hint) = &fields.hint {
                    eprintln!("HINT:  {hint}");
                } else if fields.code == SqlState::CHARACTER_NOT_IN_REPERTOIRE && format.is_text() {
                    eprintln!("HINT:  The file is not UTF-8: {}.", text::LATIN1);
                } else if fields.code == SqlState::UNDEFINED_COLUMN && format.is_text() && self.columns.is_none() {
                    eprintln!(
                        "HINT:  The first line of the file is taken for the names of its columns; --columns names those of a file without."
                    );
                }
                if let Some(context) = &fields.context {
                    eprintln!("CONTEXT:  {}", in_file(context, records.unit(), progress.place));
                }
                eprintln!(
                    "{loaded} rows were loaded, nothing behind them.{}",
                    if progress.committed > 0 { format!(" Go on with --skip {}.", progress.committed) } else { String::new() }
                );
                Ok(ExitCode::FAILURE)
            }
        }
    }

    /// What the file is, and what stands between its values; an error where options do not go together.
    fn form(&self) -> Result<(Format, char), CommandError> {
        let format = self.format.unwrap_or_else(|| Format::of(&self.file));
        let delimiter = self.delimiter.unwrap_or(format.delimiter());
        if !delimiter.is_ascii() {
            return Err(CommandError::Usage("--delimiter must be one ASCII character".into()));
        }
        if !format.is_text() && (self.delimiter.is_some() || self.null.is_some()) {
            return Err(CommandError::Usage("--delimiter and --null are for csv and tsv".into()));
        }
        if self.document.is_some() && format.documents().is_none() {
            return Err(CommandError::Usage("--document is for json and bson".into()));
        }
        Ok((format, delimiter))
    }

    /// What tells loads of other tables and files apart.
    fn hash(&self) -> Result<u32, FileError> {
        let mut hasher = std::hash::DefaultHasher::new();
        (self.table.as_str(), std::fs::metadata(&self.file)?.len()).hash(&mut hasher);
        if let Some(database) = &self.database {
            database.hash(&mut hasher);
        }
        Ok((hasher.finish() >> 32) as u32)
    }

    fn null(&self, format: Format) -> &str {
        self.null.as_deref().unwrap_or(if format == Format::Csv { "" } else { value::NULL })
    }

    /// The columns with the types that the table has for them.
    async fn described(&self, session: &mut Session, names: Vec<String>) -> Result<Vec<Column>, PgError> {
        let list: Vec<String> = names.iter().map(|n| identifier(n)).collect();
        let sql = format!("SELECT {} FROM {}", list.join(", "), self.table);
        let mut pieces = session.parse(&sql)?;
        let piece = if pieces.len() == 1 { pieces.pop() } else { None };
        let prepared = session.prepare(piece, sql.into(), Vec::new())?;
        let described = session.describe(&prepared)?;
        session.finish().await?;
        let types = described.columns.iter().flat_map(|columns| columns.iter()).map(|column| column.ty.ty.clone());
        Ok(names.into_iter().zip(types).map(|(name, ty)| Column { name, ty }).collect())
    }

    fn copy(&self, names: &[String], format: Format, delimiter: char) -> String {
        let names: Vec<String> = names.iter().map(|n| identifier(n)).collect();
        let word = if format == Format::Csv { "csv" } else { "text" };
        format!(
            "COPY {} ({}) FROM STDIN WITH (FORMAT {word}, DELIMITER {}, NULL {})",
            self.table,
            names.join(", "),
            literal(&delimiter.to_string()),
            literal(self.null(format))
        )
    }

    fn definition(&self, names: &[String], types: &[String]) -> String {
        let mut lines: Vec<String> = names.iter().zip(types).map(|(name, ty)| format!("{} {ty}", identifier(name))).collect();
        if !self.key.is_empty() {
            let key: Vec<String> = self.key.iter().map(|n| identifier(n)).collect();
            lines.push(format!("PRIMARY KEY ({})", key.join(", ")));
        }
        format!("CREATE TABLE {} ({})", self.table, lines.join(", "))
    }

    async fn load(
        &self,
        session: &mut Session,
        records: &mut dyn Records,
        copy: &str,
        number: LoadNumber,
        skip: u64,
        progress: &mut Progress,
    ) -> Result<(), PgError> {
        let bar = if std::io::stderr().is_terminal() {
            let template = match records.counts_rows() {
                true => "{bar:30} {pos}/{len} rows  {per_sec}  {eta} left",
                false => "{bar:30} {bytes}/{total_bytes}  {binary_bytes_per_sec}  {eta} left  {msg}",
            };
            let style = ProgressStyle::with_template(template);
            ProgressBar::new(records.total()).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        } else {
            ProgressBar::hidden()
        };
        let mut piece = Vec::with_capacity(PIECE_BYTES * 2);
        let mut rows = 0;
        while rows < skip && records.skip()? {
            rows += 1;
        }
        progress.committed = rows;
        progress.place = records.place();
        loop {
            command(session, &format!("SET stoa.commit_token = {}", literal(&number.token(progress.committed)))).await?;
            let Execution::CopyIn(mut sink) = start(session, copy).await? else {
                return Err(PgError::internal("COPY FROM that takes no rows"));
            };
            let mut part = 0;
            let mut more = true;
            let written = loop {
                let mut failed = None;
                while part < number.commit_rows && piece.len() < PIECE_BYTES && more {
                    match records.record(&mut piece) {
                        Ok(found) => more = found,
                        Err(error) => {
                            failed = Some(PgError::from(error));
                            break;
                        }
                    }
                    part += u64::from(more);
                }
                if let Some(error) = failed {
                    break Err(error);
                }
                if piece.is_empty() {
                    break sink.finish().await.map(|_| ());
                }
                let given = sink.data(&piece).await;
                piece.clear();
                bar.set_position(records.done());
                if let Err(error) = given {
                    break Err(error);
                }
            };
            if let Err(error) = written {
                session.fail().await;
                // The failed part is rolled back; its error is what counts.
                let _ = session.finish().await;
                bar.abandon();
                return Err(error);
            }
            session.finish().await?;
            if session.transaction_status() == TransactionStatus::InTransaction {
                command(session, "COMMIT").await?;
            }
            progress.committed += part;
            progress.place = records.place();
            bar.set_message(format!("{} rows", progress.committed));
            if !more {
                bar.finish_and_clear();
                return Ok(());
            }
        }
    }
}

/// A context of COPY with the line's number in the file, or the row's.
fn in_file(context: &str, unit: &str, before: u64) -> String {
    let Some((head, rest)) = context.split_once(", line ") else { return context.to_owned() };
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (number, tail) = rest.split_at(digits);
    match number.parse::<u64>() {
        Ok(number) => format!("{head}, {unit} {}{tail}", number + before),
        Err(_) => context.to_owned(),
    }
}

fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn literal(text: &str) -> String {
    if text.contains('\\') || text == "\t" {
        format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "''").replace('\t', "\\t"))
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_known_by_their_numbers() {
        let number = LoadNumber { random: 0xab, commit_rows: 100, skip: 7, what: 0xcd };
        assert_eq!(number.to_string().parse(), Ok(number));
        for wrong in ["", "ab", "ab-100-0", "ab-0-0-0", "ab-1-0-0-0", "xy-1-0-0", "ab-1--0", "ab-1-0-xy"] {
            assert!(wrong.parse::<LoadNumber>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn lines_are_those_of_the_file() {
        for (context, wanted) in [
            ("COPY t, line 3, column a: \"x, line 9\"", "COPY t, line 103, column a: \"x, line 9\""),
            ("COPY t, line 1", "COPY t, line 101"),
            ("COPY t", "COPY t"),
        ] {
            assert_eq!(in_file(context, "line", 100), wanted);
        }
    }
}

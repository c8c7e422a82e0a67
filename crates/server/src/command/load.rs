//! `stoa load`: a file of values into a table, by COPY and so by the one write path.
//!
//! Rows are committed in parts of `--commit-rows`; what a failed load has committed is told with the error, and `--skip`
//! goes on behind it. A file that fits into one part is loaded whole or not at all.

use super::CommandError;
use super::dump::{command, start};
use super::load_file::{Format, RecordReader, infer};
use super::open::{DataOptions, open};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;
use stoa_engine::session::Execution;
use stoa_engine::{Session, SessionOptions};
use stoa_pg::PgError;

/// Bytes that are handed to COPY at a time.
const PIECE_BYTES: usize = 256 << 10;

#[derive(clap::Args, Debug)]
pub struct Load {
    #[command(flatten)]
    data: DataOptions,
    /// The table, with its schema if need be.
    #[arg(long, value_name = "NAME")]
    table: String,
    /// What the file is: `csv`, or `tsv` (tabs, `\N` for NULL, backslashes before special characters). By default what its name ends in.
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The character between values.
    #[arg(long, value_name = "CHARACTER")]
    delimiter: Option<char>,
    /// What stands for NULL.
    #[arg(long, value_name = "TEXT")]
    null: Option<String>,
    /// The columns in the order of the file, whose first line is a row then and not their names.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    columns: Option<Vec<String>>,
    /// Make the table first; the types of columns are those that all values of the file have.
    #[arg(long)]
    create: bool,
    /// The primary key of a table that is made.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', requires = "create")]
    key: Vec<String>,
    /// Rows to commit at a time.
    #[arg(long, value_name = "ROWS", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    commit_rows: u64,
    /// Rows at the start of the file that are there already.
    #[arg(long, value_name = "ROWS", default_value_t = 0)]
    skip: u64,
    /// The file, whose first line names its columns.
    file: PathBuf,
}

/// How far a load has come.
#[derive(Default)]
struct Progress {
    /// Rows that are committed, those skipped included.
    committed: u64,
    /// Lines of the file before the part that is written now.
    lines: u64,
}

impl Load {
    pub(super) async fn run(self) -> Result<ExitCode, CommandError> {
        let format = self.format.unwrap_or_else(|| Format::of(&self.file));
        let mut reader = RecordReader::open(&self.file, format)?;
        let delimiter = self.delimiter.unwrap_or(format.delimiter());
        if !delimiter.is_ascii() {
            return Err(CommandError::Usage("--delimiter must be one ASCII character".into()));
        }
        let names = match &self.columns {
            Some(names) => names.clone(),
            None => reader.header(delimiter)?,
        };
        let mut session =
            open(&self.data).await?.connect(SessionOptions { application_name: "stoa load".into(), ..SessionOptions::default() })?;
        if self.create {
            let types = infer(&self.file, format, delimiter, self.null(format), names.len(), self.columns.is_none())?;
            command(&mut session, &self.definition(&names, &types)).await?;
        }
        let began = Instant::now();
        let mut progress = Progress::default();
        let done = self.load(&mut session, &mut reader, &self.copy(&names, format, delimiter), &mut progress).await;
        session.close().await;
        let loaded = progress.committed.saturating_sub(self.skip);
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
                if let Some(context) = &fields.context {
                    eprintln!("CONTEXT:  {}", in_file(context, progress.lines));
                }
                eprintln!(
                    "{loaded} rows were loaded, nothing behind them.{}",
                    if progress.committed > 0 { format!(" Go on with --skip {}.", progress.committed) } else { String::new() }
                );
                Ok(ExitCode::FAILURE)
            }
        }
    }

    fn null(&self, format: Format) -> &str {
        self.null.as_deref().unwrap_or(match format {
            Format::Csv => "",
            Format::Tsv => "\\N",
        })
    }

    fn copy(&self, names: &[String], format: Format, delimiter: char) -> String {
        let names: Vec<String> = names.iter().map(|n| identifier(n)).collect();
        let word = match format {
            Format::Csv => "csv",
            Format::Tsv => "text",
        };
        format!(
            "COPY {} ({}) FROM STDIN WITH (FORMAT {word}, DELIMITER {}, NULL {})",
            self.table,
            names.join(", "),
            literal(&delimiter.to_string()),
            literal(self.null(format))
        )
    }

    fn definition(&self, names: &[String], types: &[&str]) -> String {
        let mut lines: Vec<String> = names.iter().zip(types).map(|(name, ty)| format!("{} {ty}", identifier(name))).collect();
        if !self.key.is_empty() {
            let key: Vec<String> = self.key.iter().map(|n| identifier(n)).collect();
            lines.push(format!("PRIMARY KEY ({})", key.join(", ")));
        }
        format!("CREATE TABLE {} ({})", self.table, lines.join(", "))
    }

    async fn load(&self, session: &mut Session, reader: &mut RecordReader, copy: &str, progress: &mut Progress) -> Result<(), PgError> {
        let bar = if std::io::stderr().is_terminal() {
            let style = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes}  {binary_bytes_per_sec}  {eta} left  {msg}");
            ProgressBar::new(reader.total_bytes()).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        } else {
            ProgressBar::hidden()
        };
        let read = |error: std::io::Error| PgError::new(stoa_pg::SqlState::IO_ERROR, format!("could not read the file: {error}"));
        let mut piece = Vec::with_capacity(PIECE_BYTES * 2);
        let mut rows = 0;
        while rows < self.skip {
            if !reader.record(&mut piece).map_err(read)? {
                break;
            }
            piece.clear();
            rows += 1;
        }
        progress.committed = rows;
        progress.lines = reader.lines();
        loop {
            let Execution::CopyIn(mut sink) = start(session, copy).await? else {
                return Err(PgError::internal("COPY FROM that takes no rows"));
            };
            let mut part = 0;
            let mut more = true;
            let written = loop {
                while part < self.commit_rows && piece.len() < PIECE_BYTES && more {
                    more = reader.record(&mut piece).map_err(read)?;
                    part += u64::from(more);
                }
                if piece.is_empty() {
                    break sink.finish().await.map(|_| ());
                }
                let given = sink.data(&piece).await;
                piece.clear();
                bar.set_position(reader.bytes());
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
            progress.committed += part;
            progress.lines = reader.lines();
            bar.set_message(format!("{} rows", progress.committed));
            if !more {
                bar.finish_and_clear();
                return Ok(());
            }
        }
    }
}

/// A context of COPY with the line's number in the file.
fn in_file(context: &str, before: u64) -> String {
    let Some((head, rest)) = context.split_once(", line ") else { return context.to_owned() };
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (number, tail) = rest.split_at(digits);
    match number.parse::<u64>() {
        Ok(number) => format!("{head}, line {}{tail}", number + before),
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
    fn lines_are_those_of_the_file() {
        for (context, wanted) in [
            ("COPY t, line 3, column a: \"x, line 9\"", "COPY t, line 103, column a: \"x, line 9\""),
            ("COPY t, line 1", "COPY t, line 101"),
            ("COPY t", "COPY t"),
        ] {
            assert_eq!(in_file(context, 100), wanted);
        }
    }
}

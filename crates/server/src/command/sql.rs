//! `stoa sql`: statements executed in this process, without a server.

use super::CommandError;
use super::open::{DataOptions, open};
use super::table_text::Table;
use futures::StreamExt;
use std::io::{BufRead, IsTerminal, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use stoa_engine::session::{Execution, Rows, RowsTag};
use stoa_engine::{Session, SessionOptions};
use stoa_pg::PgError;
use stoa_pg::values::writer;

#[derive(clap::Args, Debug)]
pub struct Sql {
    #[command(flatten)]
    data: DataOptions,
    /// The database, of those that the directory has; the first one without it.
    #[arg(long, value_name = "NAME")]
    database: Option<String>,
    /// Statements to execute.
    #[arg(short, long = "command", value_name = "SQL", conflicts_with = "file", allow_hyphen_values = true)]
    command: Option<String>,
    /// A file of statements; the standard input without it.
    file: Option<PathBuf>,
    /// Values parted by tabs, without headers and counts.
    #[arg(long)]
    plain: bool,
}

impl Sql {
    pub(super) async fn run(self) -> Result<ExitCode, CommandError> {
        let database = open(&self.data).await?;
        let name = self.database.clone().unwrap_or_default();
        let options = SessionOptions { database: name, application_name: "stoa sql".into(), ..SessionOptions::default() };
        let mut shell = Shell { session: database.connect(options)?, plain: self.plain };
        let io = |what: String| move |error| CommandError::Io { what, error };
        let good = match (&self.command, &self.file) {
            (Some(text), _) => shell.execute(text).await,
            (None, Some(path)) => {
                let text = std::fs::read_to_string(path).map_err(io(format!("cannot read {}", path.display())))?;
                shell.execute(&text).await
            }
            (None, None) if std::io::stdin().is_terminal() => shell.interact().await.map_err(io("cannot read".into()))?,
            (None, None) => {
                let mut text = String::new();
                std::io::stdin().read_to_string(&mut text).map_err(io("cannot read the standard input".into()))?;
                shell.execute(&text).await
            }
        };
        shell.session.close().await;
        Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// A session whose answers are printed.
pub(super) struct Shell {
    pub(super) session: Session,
    pub(super) plain: bool,
}

impl Shell {
    /// Reads statements up to their semicolons; an empty line of input ends nothing.
    async fn interact(&mut self) -> std::io::Result<bool> {
        let mut pending = String::new();
        loop {
            print!("{}", if pending.is_empty() { "stoa=> " } else { "stoa-> " });
            std::io::stdout().flush()?;
            let mut line = String::new();
            if std::io::stdin().lock().read_line(&mut line)? == 0 {
                println!();
                return Ok(true);
            }
            if pending.is_empty() && matches!(line.trim(), "\\q" | "quit" | "exit") {
                return Ok(true);
            }
            pending.push_str(&line);
            if pending.trim_end().ends_with(';') {
                self.execute(&std::mem::take(&mut pending)).await;
            }
        }
    }

    /// Executes a text; stops at the first error and prints it. Gives whether all went well.
    pub(super) async fn execute(&mut self, text: &str) -> bool {
        let done = self.run(text).await;
        if let Err(error) = &done {
            self.session.fail().await;
            let _ = self.session.finish().await;
            self.tell_notices();
            tell("ERROR", error, text);
        }
        done.is_ok()
    }

    async fn run(&mut self, text: &str) -> Result<(), PgError> {
        let text = &*self.session.in_postgresql(text);
        let shared: Arc<str> = Arc::from(text);
        self.session.message_arrived();
        for piece in self.session.parse(text)? {
            let prepared = self.session.prepare(Some(piece), shared.clone(), Vec::new())?;
            let tag = match self.session.execute(&prepared, Vec::new()).await? {
                Execution::Rows(rows) => Some(self.print_rows(rows).await?),
                Execution::Done(tag) => Some(tag),
                Execution::Empty => None,
                Execution::CopyIn(_) => {
                    return Err(PgError::unsupported("COPY FROM STDIN needs a client").hint("Use stoa load, or psql's \\copy."));
                }
                Execution::CopyOut(mut copy) => {
                    let mut out = Vec::new();
                    copy.encoder.start(&mut out);
                    while let Some(batch) = copy.next().await {
                        let batch = batch?;
                        let mut encoder = copy.encoder.batch(&batch)?;
                        for row in 0..encoder.rows() {
                            encoder.row(row, &mut out)?;
                        }
                        print_bytes(&out);
                        out.clear();
                    }
                    copy.encoder.end(&mut out);
                    print_bytes(&out);
                    None
                }
            };
            self.session.finish().await?;
            self.tell_notices();
            if let Some(tag) = tag.filter(|_| !self.plain) {
                println!("{tag}");
            }
        }
        Ok(())
    }

    /// Prints rows; gives the command tag.
    async fn print_rows(&self, mut rows: Rows) -> Result<String, PgError> {
        let names = rows.columns.iter().map(|c| c.name.clone()).collect();
        let right = rows.columns.iter().map(|c| c.ty.ty.category() == 'N').collect();
        let mut table = Table::new(names, right, self.plain);
        let mut count = 0_u64;
        while let Some(batch) = rows.stream.next().await {
            let batch = batch?;
            let writers = rows
                .columns
                .iter()
                .zip(batch.columns())
                .map(|(column, array)| writer(&rows.context, &column.ty, array.as_ref()))
                .collect::<Result<Vec<_>, _>>()?;
            for row in 0..batch.num_rows() {
                let mut values = Vec::with_capacity(writers.len());
                for (writer, array) in writers.iter().zip(batch.columns()) {
                    values.push(if arrow::array::Array::is_null(array.as_ref(), row) {
                        None
                    } else {
                        let mut text = Vec::new();
                        writer.text(row, &mut text)?;
                        Some(String::from_utf8_lossy(&text).into_owned())
                    });
                }
                table.row(values);
            }
            count += batch.num_rows() as u64;
        }
        table.finish();
        Ok(match rows.tag {
            RowsTag::Counted(word) => format!("{word} {count}"),
            RowsTag::Fixed(tag) => tag,
        })
    }

    fn tell_notices(&self) {
        for notice in self.session.shared().take_notices() {
            eprintln!("{}:  {}", notice.severity, notice.error.message());
        }
    }
}

fn print_bytes(bytes: &[u8]) {
    // A closed pipe is not our error.
    let _ = std::io::stdout().write_all(bytes);
}

/// An error as psql tells it, with the line and a mark under the place.
fn tell(severity: &str, error: &PgError, text: &str) {
    let fields = error.fields();
    eprintln!("{severity}:  {}: {}", fields.code, fields.message);
    if let Some(position) = fields.position {
        let before: String = text.chars().take(position.saturating_sub(1)).collect();
        let number = before.matches('\n').count();
        let column = before.chars().rev().take_while(|c| *c != '\n').count();
        let head = format!("LINE {}: ", number + 1);
        eprintln!("{head}{}", text.lines().nth(number).unwrap_or_default());
        eprintln!("{}^", " ".repeat(head.len() + column));
    }
    for (name, value) in [("DETAIL", &fields.detail), ("HINT", &fields.hint), ("CONTEXT", &fields.context)] {
        if let Some(value) = value {
            eprintln!("{name}:  {value}");
        }
    }
}

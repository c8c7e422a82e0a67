//! `stoa dump`: a database as SQL text that psql restores.
//!
//! Everything is read in one transaction, so that the dump is of one moment. What is dumped: schemas, tables with their keys,
//! families, salt and splits, indexes, constraints, sequences, views, comments, rows as COPY, and large objects.

use super::CommandError;
use super::open::{DataOptions, open_existing};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use stoa_engine::session::Execution;
use stoa_engine::{Session, SessionOptions};
use stoa_pg::PgError;

/// What makes the restoring session read the text as it was written.
const HEAD: &str = "-- Stoa's dump of a database; restore it with psql --set ON_ERROR_STOP=1 --file FILE\n\n\
    SET statement_timeout = 0;\n\
    SET client_encoding = 'UTF8';\n\
    SET standard_conforming_strings = on;\n\
    SELECT pg_catalog.set_config('search_path', '', false);\n";

#[derive(clap::Args, Debug)]
pub struct Dump {
    #[command(flatten)]
    data: DataOptions,
    /// The database, of those that the directory has; the first one without it.
    #[arg(long, value_name = "NAME")]
    database: Option<String>,
    /// Where to write; the standard output without it.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Definitions without rows.
    #[arg(long, conflicts_with = "rows_only")]
    schema_only: bool,
    /// Rows without definitions.
    #[arg(long)]
    rows_only: bool,
}

impl Dump {
    pub(super) async fn run(self) -> Result<ExitCode, CommandError> {
        let database = open_existing(&self.data).await?;
        // Values in the forms that every session reads alike.
        let settings = [
            ("TimeZone", "UTC"),
            ("DateStyle", "ISO, MDY"),
            ("IntervalStyle", "postgres"),
            ("extra_float_digits", "1"),
            // So that names in values and defaults are qualified, as the restoring session needs them.
            ("search_path", ""),
        ];
        let options = SessionOptions {
            application_name: "stoa dump".into(),
            database: self.database.clone().unwrap_or_default(),
            settings: settings.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect(),
            ..SessionOptions::default()
        };
        let mut session = database.connect(options)?;
        let what = self.output.as_ref().map_or_else(|| "cannot write".to_owned(), |p| format!("cannot write {}", p.display()));
        let io = |error| CommandError::Io { what: what.clone(), error };
        let path = self.output.as_ref().map(|p| p.canonicalize().unwrap_or_else(|_| p.clone()));
        let partial = path.as_deref().and_then(beside);
        let mut out: Box<dyn Write + Send> = match partial.as_ref().or(path.as_ref()) {
            Some(path) => Box::new(BufWriter::new(File::create(path).map_err(io)?)),
            None => Box::new(BufWriter::new(std::io::stdout())),
        };
        let done = self.write(&mut session, &mut *out, &io).await;
        session.close().await;
        let done = done.and_then(|()| out.flush().map_err(io));
        drop(out);
        if let (Some(partial), Some(path)) = (partial, path) {
            match done {
                // A power loss leaves the old file or all of the new one.
                Ok(()) => {
                    File::open(&partial).and_then(|file| file.sync_all()).map_err(io)?;
                    std::fs::rename(&partial, &path).map_err(io)?;
                    path.parent().map_or(Ok(()), stoa_store_lsm::sync_directory).map_err(io)?;
                }
                // The error that is reported is the one that ended the dump.
                Err(_) => drop(std::fs::remove_file(&partial)),
            }
        }
        done?;
        Ok(ExitCode::SUCCESS)
    }

    async fn write(
        &self,
        session: &mut Session,
        out: &mut (dyn Write + Send),
        io: &(impl Fn(std::io::Error) -> CommandError + Sync),
    ) -> Result<(), CommandError> {
        command(session, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
        let script = session.dump_script().await?;
        writeln!(out, "{HEAD}").map_err(io)?;
        if !self.rows_only {
            for statement in &script.before {
                writeln!(out, "{statement}\n").map_err(io)?;
            }
        }
        if !self.schema_only {
            for table in &script.tables {
                writeln!(out, "{} FROM stdin;", table.copy).map_err(io)?;
                self.rows(session, &format!("{} TO STDOUT", table.copy), out, io).await?;
                writeln!(out, "\\.\n").map_err(io)?;
            }
            large_objects(session, out, io).await?;
        }
        if !self.rows_only {
            for statement in &script.after {
                writeln!(out, "{statement}\n").map_err(io)?;
            }
        }
        command(session, "COMMIT").await?;
        Ok(())
    }

    async fn rows(
        &self,
        session: &mut Session,
        sql: &str,
        out: &mut (dyn Write + Send),
        io: &(impl Fn(std::io::Error) -> CommandError + Sync),
    ) -> Result<(), CommandError> {
        let Execution::CopyOut(mut copy) = start(session, sql).await? else {
            return Err(PgError::internal("COPY TO that gives no rows").into());
        };
        let mut bytes = Vec::new();
        copy.encoder.start(&mut bytes);
        while let Some(batch) = copy.next().await {
            let batch = batch?;
            let mut encoder = copy.encoder.batch(&batch)?;
            for row in 0..encoder.rows() {
                encoder.row(row, &mut bytes)?;
            }
            out.write_all(&bytes).map_err(io)?;
            bytes.clear();
        }
        copy.encoder.end(&mut bytes);
        out.write_all(&bytes).map_err(io)?;
        session.finish().await?;
        Ok(())
    }
}

/// Large objects, as pg_dump writes them.
async fn large_objects(
    session: &mut Session,
    out: &mut (dyn Write + Send),
    io: &(impl Fn(std::io::Error) -> CommandError + Sync),
) -> Result<(), CommandError> {
    /// Bytes of a statement.
    const PART: usize = 16 << 10;
    for oid in session.large_objects().await? {
        for statement in session.large_object_definition(oid).await? {
            writeln!(out, "{statement}\n").map_err(io)?;
        }
        writeln!(out, "BEGIN;\n\nSELECT pg_catalog.lo_open('{oid}', 131072);").map_err(io)?;
        let mut offset = 0;
        loop {
            let part = session.large_object_part(oid, offset, PART).await?;
            if part.is_empty() {
                break;
            }
            let hex: String =
                part.iter().flat_map(|byte| [byte >> 4, byte & 15]).filter_map(|half| char::from_digit(half.into(), 16)).collect();
            writeln!(out, "SELECT pg_catalog.lowrite(0, '\\x{hex}');").map_err(io)?;
            offset += i64::try_from(part.len()).unwrap_or(i64::MAX);
        }
        writeln!(out, "SELECT pg_catalog.lo_close(0);\n\nCOMMIT;\n").map_err(io)?;
    }
    Ok(())
}

/// Where a dump stands until it is complete, so that an error leaves no part of one, and what was there before; `None` for a pipe or a
/// device, which is written as it is.
fn beside(path: &Path) -> Option<PathBuf> {
    if path.metadata().is_ok_and(|m| !m.is_file()) {
        return None;
    }
    let mut name = path.file_name()?.to_owned();
    name.push(".partial");
    Some(path.with_file_name(name))
}

/// Starts one statement.
pub(super) async fn start(session: &mut Session, sql: &str) -> Result<Execution, PgError> {
    let text: Arc<str> = sql.into();
    let mut pieces = session.parse(sql)?;
    let piece = if pieces.len() == 1 { pieces.pop() } else { None };
    let prepared = session.prepare(piece, text, Vec::new())?;
    session.execute(&prepared, Vec::new()).await
}

/// Executes one statement that gives no rows; its tag.
pub(super) async fn command(session: &mut Session, sql: &str) -> Result<String, PgError> {
    match start(session, sql).await? {
        Execution::Done(tag) => {
            session.finish().await?;
            Ok(tag)
        }
        _ => Err(PgError::internal("a command that gives rows")),
    }
}

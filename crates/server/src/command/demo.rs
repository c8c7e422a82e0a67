//! `stoa demo`: a small database, and queries on it with a word on what each shows.
//!
//! A topic is a file of SQL: comments are printed as text, statements are printed and executed. What it makes stays in the directory,
//! to be looked at with `stoa serve`.

mod packages;

use super::CommandError;
use super::dump::start;
use super::open::{DataOptions, open};
use super::sql::Shell;
use std::process::ExitCode;
use stoa_engine::session::Execution;
use stoa_engine::{Session, SessionOptions};

#[derive(clap::Args, Debug)]
pub struct Demo {
    #[command(flatten)]
    data: DataOptions,
    /// What to show.
    #[arg(value_enum, default_value_t = Topic::Metrics)]
    topic: Topic,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Topic {
    /// Measurements of devices: row keys, key ranges, families, an index.
    Metrics,
    /// The descriptions of Debian's packages: full text.
    Search,
}

impl Topic {
    fn script(self) -> &'static str {
        match self {
            Topic::Metrics => include_str!("demo/metrics.sql"),
            Topic::Search => include_str!("demo/search.sql"),
        }
    }
}

impl Demo {
    pub(super) async fn run(self) -> Result<ExitCode, CommandError> {
        let database = open(&self.data).await?;
        let options = SessionOptions { application_name: "stoa demo".into(), ..SessionOptions::default() };
        let mut shell = Shell { session: database.connect(options)?, plain: false };
        if is_of_others(&mut shell.session).await? {
            return Err(CommandError::Usage(
                "the database has a schema demo that was not made by this command, which would drop it".into(),
            ));
        }
        let mut good = true;
        for step in steps(self.topic.script()) {
            match step {
                Step::Text(text) => println!("\n{text}"),
                Step::Statement("\\load packages") => good = packages::load(&mut shell).await?,
                Step::Statement(sql) => {
                    println!("\n{sql}\n");
                    good = shell.execute(sql).await;
                }
            }
            if !good {
                break;
            }
        }
        shell.session.close().await;
        if good {
            println!("\nLook around: stoa serve --data {}, then psql -h 127.0.0.1 -p 5433 -U stoa stoa", self.data.data.display());
        }
        Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Whether there is a schema of the demo's name that is somebody else's.
async fn is_of_others(session: &mut Session) -> Result<bool, CommandError> {
    const SQL: &str = "SELECT 1 FROM pg_namespace WHERE nspname = 'demo' AND obj_description(oid) IS DISTINCT FROM 'made by stoa demo'";
    let Execution::Rows(rows) = start(session, SQL).await? else { return Ok(false) };
    let found = rows.collect().await?.num_rows() > 0;
    session.finish().await?;
    Ok(found)
}

#[derive(PartialEq, Debug)]
enum Step<'a> {
    Text(String),
    Statement(&'a str),
}

/// Paragraphs of a script: those that begin with `--` are text, the others statements.
fn steps(script: &str) -> Vec<Step<'_>> {
    let paragraphs = script.split("\n\n").map(str::trim).filter(|p| !p.is_empty());
    paragraphs
        .map(|p| {
            if p.starts_with("--") {
                let lines: Vec<&str> = p.lines().map(|l| l.trim_start_matches("--").trim()).collect();
                Step::Text(lines.join("\n"))
            } else {
                Step::Statement(p)
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_text() {
        let script = "-- One.\n-- Two.\n\nSELECT 1;\n\n\n-- Three.\n";
        assert_eq!(steps(script), [Step::Text("One.\nTwo.".into()), Step::Statement("SELECT 1;"), Step::Text("Three.".into())]);
    }
}

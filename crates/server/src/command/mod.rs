//! The commands of the command line, one file each.

mod backup;
mod certificate;
mod demo;
mod dump;
mod inspect;
mod load;
mod open;
mod password;
mod restore;
mod running;
mod serve;
mod shell;
mod size;
mod sql;
mod table_text;

use std::process::ExitCode;
use thiserror::Error;

/// What `stoa` can do.
#[derive(clap::Subcommand, Debug)]
pub enum Command {
    /// Serve a database to clients that speak PostgreSQL's protocol.
    Serve(serve::Serve),
    /// Execute statements without a server: from the command line, a file, or the standard input.
    Sql(sql::Sql),
    /// HBase's shell: tables of cells, by its commands.
    Shell(shell::HbaseShell),
    /// Look at rows of a raw table, and print the foreign table that would map them.
    Inspect(inspect::Inspect),
    /// Load a file of values into a table.
    Load(load::Load),
    /// Write a database as SQL text that psql restores.
    Dump(dump::Dump),
    /// Copy a database's files, as of one moment.
    Backup(backup::Backup),
    /// Make a database on a cluster from a backup.
    Restore(restore::Restore),
    /// Set a role's password.
    Password(password::Password),
    /// Make a certificate for a start, so that clients can use TLS.
    Certificate(certificate::Certificate),
    /// Make a small database and run queries on it, each with a word on what it shows.
    Demo(demo::Demo),
}

/// Why a command ended.
#[derive(Debug, Error)]
pub enum CommandError {
    #[error("{0}")]
    Usage(String),
    #[error("{what}: {error}")]
    Io { what: String, error: std::io::Error },
    #[error("{0}")]
    Store(#[from] stoa_store::StoreError),
    #[error("{0}")]
    Access(#[from] crate::access::AccessError),
    #[error("{}", .0.message())]
    Database(#[from] stoa_pg::PgError),
}

impl Command {
    /// Runs the command to its end.
    ///
    /// # Errors
    /// What keeps it from being done.
    pub fn run(self) -> Result<ExitCode, CommandError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .thread_stack_size(crate::wire::event_loops::STACK_BYTES)
            .build()
            .map_err(|error| CommandError::Io { what: "cannot start threads".into(), error })?;
        if !matches!(self, Command::Serve(_)) {
            // Whoever reads the output may have enough of it: the command then ends, as others do.
            // SAFETY: sets what the system does with a signal, before there is anything that it could interrupt.
            unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
        }
        // Statements recurse on this thread as well, and the system has given it little stack.
        let work = move || match self {
            Command::Serve(command) => runtime.block_on(command.run()),
            Command::Sql(command) => runtime.block_on(command.run()),
            Command::Shell(command) => runtime.block_on(command.run()),
            Command::Inspect(command) => runtime.block_on(command.run()),
            Command::Load(command) => runtime.block_on(command.run()),
            Command::Dump(command) => runtime.block_on(command.run()),
            Command::Backup(command) => runtime.block_on(command.run()),
            Command::Restore(command) => runtime.block_on(command.run()),
            Command::Certificate(command) => command.run(),
            Command::Password(command) => runtime.block_on(command.run()),
            Command::Demo(command) => runtime.block_on(command.run()),
        };
        let thread = std::thread::Builder::new().stack_size(crate::wire::event_loops::STACK_BYTES).spawn(work);
        let thread = thread.map_err(|error| CommandError::Io { what: "cannot start a thread".into(), error })?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

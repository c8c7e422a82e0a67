//! `stoa backup`: a consistent copy of a database's files, which `stoa serve --data` opens. Of tables on a cluster it takes snapshots there,
//! which `stoa restore` needs beside the copy.

use super::CommandError;
use super::open::{DataOptions, open_existing};
use crate::access::make_once;
use std::path::PathBuf;
use std::process::ExitCode;

/// What tells who is let in.
pub(super) const OWN_FILES: [&str; 3] = ["pg_hba.conf", "pg_ident.conf", "mock_secret"];

#[derive(clap::Args, Debug)]
pub struct Backup {
    #[command(flatten)]
    data: DataOptions,
    /// A directory that does not exist, or is empty.
    to: PathBuf,
}

impl Backup {
    pub(super) async fn run(self) -> Result<ExitCode, CommandError> {
        let database = open_existing(&self.data).await?;
        stoa_store_lsm::make_directory(&self.to)
            .map_err(|error| CommandError::Io { what: format!("cannot make the directory {}", self.to.display()), error })?;
        let at = database.inner().tables.backup(&self.to.join("store")).await?;
        // Who is let in belongs to a database; certificates belong to a machine.
        for name in OWN_FILES {
            let from = self.data.data.join(name);
            if from.exists() {
                let bytes =
                    std::fs::read(&from).map_err(|error| CommandError::Io { what: format!("cannot copy {}", from.display()), error })?;
                make_once(&self.to.join(name), &bytes)?;
            }
        }
        eprintln!("a copy as of {} µs since 1970 is in {}", at.micros(), self.to.display());
        Ok(ExitCode::SUCCESS)
    }
}

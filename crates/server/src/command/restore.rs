//! `stoa restore`: the tables of a backup in another namespace of their cluster. A backup of a directory needs no restoring.

use super::CommandError;
use super::backup::OWN_FILES;
use crate::access::make_once;
use std::path::PathBuf;
use std::process::ExitCode;
use stoa_store_hbase::{HbaseStore, HbaseUrl};

#[derive(clap::Args, Debug)]
pub struct Restore {
    /// The directory that the database will have; made if there is none.
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// The namespace that its tables will have, on the cluster that the backup is of; made if there is none.
    #[arg(long, value_name = "URL")]
    store: HbaseUrl,
    /// The directory of the backup.
    from: PathBuf,
}

impl Restore {
    pub(super) async fn run(self) -> Result<ExitCode, CommandError> {
        let copy = self.from.join("store");
        if copy.is_dir() && !copy.join("manifest.json").exists() {
            let from = self.from.display();
            return Err(CommandError::Usage(format!(
                "{from} is not a backup of tables on a cluster: `stoa serve --data` opens it as it is"
            )));
        }
        stoa_store_lsm::make_directory(&self.data)
            .map_err(|error| CommandError::Io { what: format!("cannot make the directory {}", self.data.display()), error })?;
        HbaseStore::restore(&self.store.options(), &copy).await?;
        for name in OWN_FILES {
            let from = self.from.join(name);
            if from.exists() {
                let bytes =
                    std::fs::read(&from).map_err(|error| CommandError::Io { what: format!("cannot copy {}", from.display()), error })?;
                make_once(&self.data.join(name), &bytes)?;
            }
        }
        eprintln!("restored: stoa serve --data {} --store {}", self.data.display(), self.store);
        Ok(ExitCode::SUCCESS)
    }
}

//! `stoa certificate`: a certificate that nobody vouches for, so that there is TLS.

use super::CommandError;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::SystemTime;
use stoa_auth::tls::SelfSigned;

#[derive(clap::Args, Debug)]
pub struct Certificate {
    /// The directory of the database: server.crt and server.key go there.
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Names and addresses by which clients reach the server; this machine's name and localhost unless given.
    #[arg(long = "name", value_name = "NAME")]
    names: Vec<String>,
    /// How long it is good for.
    #[arg(long, value_name = "DAYS", default_value_t = 365, value_parser = clap::value_parser!(u32).range(1..=36_500))]
    days: u32,
}

impl Certificate {
    pub(super) fn run(mut self) -> Result<ExitCode, CommandError> {
        if self.names.is_empty() {
            self.names.extend(own_name());
            self.names.extend(["localhost", "127.0.0.1", "::1"].map(str::to_owned));
        }
        stoa_store_lsm::make_directory(&self.data)
            .map_err(|error| CommandError::Io { what: format!("cannot make the directory {}", self.data.display()), error })?;
        let (certificate, key) = (self.data.join("server.crt"), self.data.join("server.key"));
        let made =
            SelfSigned::make(&self.names, SystemTime::now(), self.days).map_err(|refusal| CommandError::Usage(refusal.to_string()))?;
        made.write(&certificate, &key).map_err(|refusal| CommandError::Usage(refusal.to_string()))?;
        eprintln!("{} is for {}, {} days", certificate.display(), self.names.join(", "), self.days);
        eprintln!("A server that runs serves it after SELECT pg_reload_conf() or SIGHUP. Clients verify it by");
        eprintln!(
            "  psql \"host={} port=5433 sslmode=verify-full sslrootcert={}\"",
            self.names.first().map_or("", String::as_str),
            certificate.display()
        );
        Ok(ExitCode::SUCCESS)
    }
}

/// This machine's name.
fn own_name() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

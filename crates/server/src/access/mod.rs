//! Who gets in: the rules and certificates that are in force and how they are exchanged, the places of those who have proven nothing yet,
//! and the memory of failed attempts. [`crate::wire`] has the sockets and asks here.
//!
//! What of a file cannot be used leaves what was in force, and the log says where it is broken.

pub mod audit;
mod names;
mod places;

pub use names::{own_user_name, user_name};
pub use places::{Place, Places};

use audit::Audit;
use names::Environment;
use parking_lot::{Mutex, RwLock};
use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};
use stoa_auth::Refusal;
use stoa_auth::attempts::Attempts;
use stoa_auth::hosts::{Address, Connection, DEFAULT_IDENT, DEFAULT_RULES, Kind, LineError, Maps, Method, OnDisk, Rule, Rules};
use stoa_auth::scram::MockSecret;
use stoa_auth::tls::{Keeper, Paths, Served};
use stoa_engine::Database;
use stoa_engine::environment::DatabaseInner;
use stoa_engine::environment::server::{HostRule, NameMap, ServerControl};
use stoa_pg::{PgError, PgResult, SqlState};

/// How it is set up.
#[derive(Clone, Debug)]
pub struct AccessOptions {
    /// Where the files of rules are; without, the rules are those of a new directory.
    pub directory: Option<PathBuf>,
    /// Where certificate, key and authorities are, if they are not in the directory.
    pub certificate: Option<PathBuf>,
    pub key: Option<PathBuf>,
    pub authorities: Option<PathBuf>,
    /// Connections that have proven nothing yet.
    pub half_open: usize,
    pub authentication_timeout: Duration,
    pub audit: Option<PathBuf>,
    /// Whether others than this machine can connect.
    pub reaches_others: bool,
}

impl Default for AccessOptions {
    fn default() -> Self {
        Self {
            directory: None,
            certificate: None,
            key: None,
            authorities: None,
            half_open: 200,
            authentication_timeout: Duration::from_secs(60),
            audit: None,
            reaches_others: false,
        }
    }
}

/// The rules and maps of one moment.
#[derive(Debug)]
pub struct InForce {
    pub rules: Rules,
    pub maps: Maps,
    /// Whether a rule names an address: then a resolver may be asked.
    asks_resolver: bool,
}

/// See the module.
#[derive(Debug)]
pub struct Access {
    options: AccessOptions,
    in_force: RwLock<Arc<InForce>>,
    certificates: RwLock<Option<Arc<Keeper>>>,
    pub places: Arc<Places>,
    attempts: Mutex<Attempts>,
    began: Instant,
    mock: MockSecret,
    audit: Option<Audit>,
    /// Not held: it holds this.
    database: OnceLock<Weak<DatabaseInner>>,
}

/// Why a server cannot begin with these files.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Lines(Vec<LineError>),
    #[error("{0}")]
    Refused(#[from] Refusal),
    #[error("{0}")]
    Open(String),
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
}

impl From<Vec<LineError>> for AccessError {
    fn from(lines: Vec<LineError>) -> Self {
        Self::Lines(lines)
    }
}

impl Access {
    /// Reads the files, and makes those that a new directory has.
    ///
    /// # Errors
    /// What is wrong with a file; for a server that reaches others, rules that let anybody in, or that nobody could satisfy.
    pub fn open(options: AccessOptions) -> Result<Self, AccessError> {
        let mock = match &options.directory {
            Some(directory) => {
                make_once(&directory.join("pg_hba.conf"), DEFAULT_RULES.as_bytes())?;
                make_once(&directory.join("pg_ident.conf"), DEFAULT_IDENT.as_bytes())?;
                kept_secret(&directory.join("mock_secret"))?
            }
            None => MockSecret::generate()?,
        };
        let certificates = match options.paths() {
            Some(paths) => Some(Arc::new(Keeper::new(paths)?)),
            None => None,
        };
        let in_force = options.load(certificates.is_some())?;
        let audit = match &options.audit {
            Some(path) => Some(Audit::open(path).map_err(|error| AccessError::Io { path: path.clone(), error })?),
            None => None,
        };
        Ok(Self {
            in_force: RwLock::new(Arc::new(in_force)),
            certificates: RwLock::new(certificates),
            places: Arc::new(Places::new(options.half_open, options.authentication_timeout)),
            attempts: Mutex::new(Attempts::new()),
            began: Instant::now(),
            mock,
            audit,
            database: OnceLock::new(),
            options,
        })
    }

    /// The rules and maps that hold now.
    #[must_use]
    pub fn in_force(&self) -> Arc<InForce> {
        Arc::clone(&self.in_force.read())
    }

    /// What a connection that comes now is served with, if there is TLS.
    #[must_use]
    pub fn tls(&self) -> Option<Arc<Served>> {
        self.certificates.read().as_ref().map(|keeper| keeper.current())
    }

    #[must_use]
    pub fn mock(&self) -> &MockSecret {
        &self.mock
    }

    #[must_use]
    pub fn audit(&self) -> Option<&Audit> {
        self.audit.as_ref()
    }

    /// Whether `log_connections` is on.
    #[must_use]
    pub fn log_connections(&self) -> bool {
        let database = self.database.get().and_then(Weak::upgrade);
        database.is_some_and(|database| database.base_settings.read().raw("log_connections") == Some("on"))
    }

    /// The time of day, as sessions have it.
    #[must_use]
    pub fn now_us(&self) -> i64 {
        self.database.get().and_then(Weak::upgrade).map_or(0, |database| database.tables.now_us())
    }

    /// The first rule that fits a connection. May take a resolver's time, on another thread.
    ///
    /// # Errors
    /// 28000.
    pub async fn decide(&self, in_force: &Arc<InForce>, connection: Connection<'_>, database: &Database) -> Result<Rule, Refusal> {
        if !in_force.asks_resolver {
            return in_force.rules.decide(&connection, &Environment { database }).cloned();
        }
        let (in_force, roles) = (Arc::clone(in_force), database.clone());
        let (peer, replication) = (connection.peer, connection.replication);
        let (database, role) = (connection.database.to_owned(), connection.role.to_owned());
        let (of_database, of_role) = (database.clone(), role.clone());
        let decided = tokio::task::spawn_blocking(move || {
            let connection = Connection { peer, database: &database, role: &role, replication };
            in_force.rules.decide(&connection, &Environment { database: &roles }).cloned()
        });
        // A thread that is gone has decided nothing: no rule fits.
        decided.await.unwrap_or_else(|_| {
            let nobody = Connection { peer, database: &of_database, role: &of_role, replication };
            Err(nobody.refused())
        })
    }

    /// How long an attempt by password has to wait; see [`Attempts::begin`].
    ///
    /// # Errors
    /// 53300.
    pub fn begin_attempt(&self, address: Option<IpAddr>, role: &str) -> Result<Duration, Refusal> {
        self.attempts.lock().begin(counted(address), role, self.began.elapsed())
    }

    /// An attempt by password has ended.
    pub fn end_attempt(&self, address: Option<IpAddr>, role: &str, proven: bool) {
        let (now, mut attempts) = (self.began.elapsed(), self.attempts.lock());
        match proven {
            true => attempts.succeeded(counted(address), role, now),
            false => attempts.failed(counted(address), role, now),
        }
    }

    /// Makes statements of a database find this server.
    pub fn serve(self: &Arc<Self>, database: &Arc<DatabaseInner>) {
        // A second server on one database is not what it is asked about.
        let _ = database.server.set(Arc::clone(self) as Arc<dyn ServerControl>);
        let _ = self.database.set(Arc::downgrade(database));
        self.tell_database();
    }

    /// What settings and functions tell of the files.
    fn tell_database(&self) {
        let Some(database) = self.database.get().and_then(Weak::upgrade) else { return };
        database.configured_us.store(database.tables.now_us(), Ordering::Relaxed);
        let mut facts = vec![("ssl", (if self.certificates.read().is_some() { "on" } else { "off" }).to_owned())];
        for (setting, file) in [("hba_file", "pg_hba.conf"), ("ident_file", "pg_ident.conf")] {
            facts.extend(self.options.file(file).map(|path| (setting, path.display().to_string())));
        }
        if let Some(paths) = self.options.paths() {
            facts.push(("ssl_cert_file", paths.certificate.display().to_string()));
            facts.push(("ssl_key_file", paths.key.display().to_string()));
            facts.extend(paths.authorities.map(|path| ("ssl_ca_file", path.display().to_string())));
        }
        for (setting, value) in facts {
            if let Err(error) = database.set_base(setting, &value) {
                tracing::warn!(%error, setting, "a setting cannot tell what it is");
            }
        }
    }

    /// Reads the certificates again if their files have changed. Takes calls of the file system.
    pub fn reload_changed_certificates(&self) {
        let keeper = self.certificates.read().clone();
        match keeper.map(|keeper| keeper.reload_if_changed()) {
            Some(Ok(true)) => tracing::info!("new certificates are served"),
            Some(Err(error)) => tracing::error!(%error, "the new certificates cannot be served: those before them are"),
            Some(Ok(false)) | None => {}
        }
    }

    fn reload_certificates(&self) {
        let Some(paths) = self.options.paths() else {
            if self.certificates.write().take().is_some() {
                tracing::warn!("there is no certificate any more: TLS is not served");
            }
            return;
        };
        // Authorities may have come or gone, so a new one is made of the paths as they are.
        match Keeper::new(paths) {
            Ok(keeper) => *self.certificates.write() = Some(Arc::new(keeper)),
            Err(error) => tracing::error!(%error, "certificates cannot be served: what was served is served on"),
        }
    }
}

impl ServerControl for Access {
    fn reload(&self) {
        self.reload_certificates();
        match self.options.load(self.certificates.read().is_some()) {
            Ok(read) => {
                for warning in read.rules.warnings() {
                    tracing::warn!("{warning}");
                }
                *self.in_force.write() = Arc::new(read);
                tracing::info!("configuration files were read again");
            }
            Err(AccessError::Lines(lines)) => {
                for line in lines {
                    tracing::error!(hint = line.hint.as_deref(), "{line}");
                }
                tracing::error!("the rules of hosts stay as they were");
            }
            Err(error) => tracing::error!("the rules of hosts stay as they were: {error}"),
        }
        if let Some(Err(error)) = self.audit.as_ref().map(Audit::reopen) {
            tracing::error!(%error, "the audit log cannot be opened anew: the old one is written on");
        }
        self.tell_database();
    }

    fn host_rules(&self) -> PgResult<Vec<HostRule>> {
        let tls = self.certificates.read().is_some();
        let rows = match self.options.file("pg_hba.conf") {
            Some(path) => Rules::file_rows(&path, tls).map_err(unreadable)?,
            None => Rules::rows(Path::new("pg_hba.conf"), DEFAULT_RULES, tls, &OnDisk),
        };
        let row = |row: stoa_auth::hosts::RuleRow| HostRule {
            line_number: row.line_number,
            kind: row.kind,
            database: row.database,
            user_name: row.user_name,
            address: row.address,
            netmask: row.netmask,
            auth_method: row.auth_method,
            options: row.options,
            error: row.error,
        };
        Ok(rows.into_iter().map(row).collect())
    }

    fn name_maps(&self) -> PgResult<Vec<NameMap>> {
        let rows = match self.options.file("pg_ident.conf") {
            Some(path) => Maps::file_rows(&path).map_err(unreadable)?,
            None => Vec::new(),
        };
        let row = |row: stoa_auth::hosts::IdentRow| NameMap {
            line_number: row.line_number,
            map_name: row.map_name,
            sys_name: row.sys_name,
            pg_username: row.pg_username,
            error: row.error,
        };
        Ok(rows.into_iter().map(row).collect())
    }
}

impl AccessOptions {
    fn file(&self, name: &str) -> Option<PathBuf> {
        self.directory.as_ref().map(|directory| directory.join(name))
    }

    /// Where the certificates are, if there are any: named, or in the directory.
    fn paths(&self) -> Option<Paths> {
        let there = |named: &Option<PathBuf>, name: &str| named.clone().or_else(|| self.file(name).filter(|path| path.exists()));
        let certificate = there(&self.certificate, "server.crt")?;
        let key = self.key.clone().or_else(|| self.file("server.key")).unwrap_or_else(|| certificate.with_extension("key"));
        Some(Paths { certificate, key, authorities: there(&self.authorities, "root.crt") })
    }

    fn load(&self, tls: bool) -> Result<InForce, AccessError> {
        let rules = match self.file("pg_hba.conf") {
            Some(path) => Rules::load(&path, tls)?,
            None => Rules::parse(Path::new("pg_hba.conf"), DEFAULT_RULES, tls, &OnDisk)?,
        };
        let maps = match self.file("pg_ident.conf") {
            Some(path) => Maps::load(&path)?,
            None => Maps::default(),
        };
        if self.reaches_others {
            check_for_others(&rules, tls)?;
        }
        let asks_resolver = rules.all().iter().any(|rule| matches!(rule.address, Address::Name(_)));
        Ok(InForce { rules, maps: maps.with_owner(own_user_name()), asks_resolver })
    }
}

/// Whether rules are fit for a server that others reach: nobody comes in without a proof, and somebody can come in at all.
fn check_for_others(rules: &Rules, tls: bool) -> Result<(), AccessError> {
    if let Some(rule) = rules.open_to_others().next() {
        let what = format!(
            "line {} of pg_hba.conf lets anybody in from other machines (method trust): ask for scram-sha-256 or a certificate there, \
             or listen on addresses of this machine only",
            rule.line
        );
        return Err(AccessError::Open(what));
    }
    let without_tls = |rule: &Rule| rule.is_for_others() && rule.kind != Kind::HostSsl && rule.method != Method::Reject;
    if !tls && !rules.all().iter().any(without_tls) {
        let what = "pg_hba.conf asks other machines for TLS, and there is no certificate: make one with `stoa certificate`, or say `host` \
                    in place of `hostssl` there";
        return Err(AccessError::Open(what.to_owned()));
    }
    Ok(())
}

/// By which place attempts are counted; those by the socket are one.
fn counted(address: Option<IpAddr>) -> IpAddr {
    address.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED))
}

fn unreadable(error: LineError) -> PgError {
    PgError::new(SqlState(*b"58P01"), error.message)
}

/// Makes a file for the server's user alone, unless it is there. It is there whole or not at all, and stays after a power loss.
///
/// # Errors
/// What the file system says.
pub(crate) fn make_once(path: &Path, text: &[u8]) -> Result<(), AccessError> {
    let write = || {
        if path.try_exists()? {
            return Ok(());
        }
        let unfinished = path.with_extension("unfinished");
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
        file.write_all(text)?;
        file.sync_all()?;
        std::fs::rename(&unfinished, path)?;
        stoa_store_lsm::sync_directory(path.parent().unwrap_or(Path::new("")))
    };
    write().map_err(|error| AccessError::Io { path: path.to_owned(), error })
}

/// The secret of a directory, made at its first start.
fn kept_secret(path: &Path) -> Result<MockSecret, AccessError> {
    make_once(path, MockSecret::generate()?.expose())?;
    let mut bytes = Vec::with_capacity(64);
    let read = std::fs::File::open(path).and_then(|file| file.take(64).read_to_end(&mut bytes));
    read.map_err(|error| AccessError::Io { path: path.to_owned(), error })?;
    Ok(MockSecret::from_bytes(bytes).map_err(|refusal| Refusal { detail: Some(format!("The file is {}.", path.display())), ..refusal })?)
}

/// A refusal as the protocol tells it.
#[must_use]
pub fn error_of(refusal: &Refusal) -> PgError {
    let code = refusal.code.sqlstate().as_bytes().first_chunk::<5>().map_or(SqlState::INTERNAL_ERROR, |code| SqlState(*code));
    let mut error = PgError::new(code, refusal.message.clone());
    if let Some(detail) = &refusal.detail {
        error = error.detail(detail.clone());
    }
    if let Some(hint) = &refusal.hint {
        error = error.hint(hint.clone());
    }
    error
}

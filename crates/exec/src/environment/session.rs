//! The part of a session that others may see: functions of its statements, `pg_stat_activity`, cancel requests.

use super::server::ClientInfo;
use crate::memory::admission::{Admission, Slot};
use crate::settings::{ChosenRole, Levels, LogStatement, Settings, severity_level};
use datafusion::common::ScalarValue;
use futures::future::BoxFuture;
use futures::task::AtomicWaker;
use hashbrown::HashMap;
use parking_lot::{Mutex, RwLock};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};
use std::task::Waker;
use std::time::{Duration, Instant};
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_table::catalog::Oid;
use stoa_table::services::notifications::Outgoing;
use stoa_table::services::{SessionHandle, Signal};

/// A message to the client that is no answer.
#[derive(Clone, Debug)]
pub struct Notice {
    /// `NOTICE`, `WARNING`, `INFO`, `LOG`, `DEBUG`.
    pub severity: &'static str,
    pub error: PgError,
}

/// What `pg_stat_activity.state` says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ActivityState {
    #[default]
    Idle,
    Active,
    IdleInTransaction,
    IdleInFailedTransaction,
}

impl ActivityState {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ActivityState::Idle => "idle",
            ActivityState::Active => "active",
            ActivityState::IdleInTransaction => "idle in transaction",
            ActivityState::IdleInFailedTransaction => "idle in transaction (aborted)",
        }
    }
}

/// What a session does. Times are microseconds since 1970 UTC, 0 where there is none.
#[derive(Clone, Debug, Default)]
pub struct Activity {
    pub state: ActivityState,
    pub query: Arc<str>,
    pub state_change_us: i64,
    pub query_start_us: i64,
    pub transaction_start_us: i64,
}

/// Values that sequences gave to this session: `currval`, `lastval`.
#[derive(Clone, Debug, Default)]
pub struct SequenceValues {
    pub current: HashMap<Oid, i64>,
    pub last: Option<Oid>,
}

/// A row of `pg_prepared_statements`.
#[derive(Clone, Debug)]
pub struct PreparedInfo {
    pub name: String,
    pub statement: Arc<str>,
    pub prepare_time_us: i64,
    pub parameter_types: Vec<stoa_pg::SqlType>,
    pub from_sql: bool,
}

/// The row that a cursor stands on.
pub trait CursorPosition: std::fmt::Debug + Send + Sync {
    /// A part of the key of the row of a table, which has an OID and a name; `cursor` is the cursor's name, for errors.
    ///
    /// # Errors
    /// 24000 if the cursor stands on no row, or its rows are not those of the table.
    fn key_part(&self, cursor: &str, table: Oid, name: &str, part: u64) -> PgResult<ScalarValue>;
}

/// A row of `pg_cursors`.
#[derive(Clone, Debug)]
pub struct CursorInfo {
    pub name: String,
    pub statement: Arc<str>,
    pub is_holdable: bool,
    pub is_binary: bool,
    pub is_scrollable: bool,
    pub creation_time_us: i64,
    /// What it reads; empty when all is read.
    pub tables: Box<[stoa_table::catalog::Oid]>,
    /// Its transaction is over.
    pub held: bool,
    pub position: Arc<dyn CursorPosition>,
}

/// One session as everybody may see it.
#[derive(Debug)]
pub struct SessionShared {
    pub pid: u32,
    /// What a cancel request must know.
    pub secret: u32,
    /// Who has logged in.
    pub login: ChosenRole,
    /// The database, as it was called when the session began; it is not renamed as long as there are sessions.
    pub database: String,
    pub database_oid: Oid,
    /// Whether no client has asked for it.
    pub in_background: bool,
    pub client: ClientInfo,
    pub started_us: i64,
    settings: RwLock<Arc<Settings>>,
    levels: Mutex<Levels>,
    notices: Mutex<Vec<Notice>>,
    has_notices: AtomicBool,
    interrupt: AtomicU8,
    terminate: AtomicBool,
    /// When the running statement must end, in milliseconds since [`CLOCK`]; 0 for never.
    deadline_ms: AtomicU64,
    waker: AtomicWaker,
    activity: Mutex<Activity>,
    pub sequences: Mutex<SequenceValues>,
    /// The schema of temporary tables; 0 until there is one.
    temporary_schema: AtomicU32,
    /// `NOTIFY` of the current transaction, sent at commit.
    pub outgoing: Mutex<Outgoing>,
    /// Values of `transaction_isolation`, `transaction_read_only`, `transaction_deferrable`.
    transaction_settings: Mutex<(&'static str, bool, bool)>,
    pub prepared: Mutex<Vec<PreparedInfo>>,
    pub cursors: Mutex<Vec<CursorInfo>>,
    /// Whether its client does not take what is sent.
    sending: AtomicBool,
    /// Changes whenever a setting does.
    settings_version: AtomicU64,
    /// See [`SessionShared::set_before_blocking`].
    before_blocking: OnceLock<BeforeBlocking>,
    admission: Admission,
    /// That of the statement that works, once it has asked for one.
    slot: Mutex<Option<Slot>>,
}

/// What is waited for before work that may take long.
struct BeforeBlocking(Box<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>);

impl std::fmt::Debug for BeforeBlocking {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BeforeBlocking")
    }
}

/// What deadlines count from.
static CLOCK: LazyLock<Instant> = LazyLock::new(Instant::now);

const NO_INTERRUPT: u8 = 0;
const CANCEL: u8 = 1;

impl SessionHandle for SessionShared {
    fn pid(&self) -> u32 {
        self.pid
    }

    fn database(&self) -> Oid {
        self.database_oid
    }

    fn signal(&self, signal: Signal) {
        match signal {
            Signal::Cancel => self.cancel(),
            Signal::CancelWith(secret) if secret == self.secret => self.cancel(),
            Signal::CancelWith(_) => {}
            Signal::Terminate => self.terminate(),
        }
    }
}

impl SessionShared {
    pub fn new(
        pid: u32,
        secret: u32,
        login: ChosenRole,
        (database_oid, database): (Oid, String),
        client: ClientInfo,
        started_us: i64,
        settings: Settings,
    ) -> Self {
        let settings = Arc::new(settings);
        Self {
            pid,
            secret,
            login,
            database,
            database_oid,
            in_background: false,
            client,
            started_us,
            settings: RwLock::new(settings.clone()),
            levels: Mutex::new(Levels::new(settings)),
            notices: Mutex::default(),
            has_notices: AtomicBool::new(false),
            interrupt: AtomicU8::new(NO_INTERRUPT),
            terminate: AtomicBool::new(false),
            deadline_ms: AtomicU64::new(0),
            waker: AtomicWaker::new(),
            activity: Mutex::default(),
            sequences: Mutex::default(),
            temporary_schema: AtomicU32::new(0),
            outgoing: Mutex::default(),
            transaction_settings: Mutex::new(("read committed", false, false)),
            prepared: Mutex::default(),
            cursors: Mutex::default(),
            sending: AtomicBool::new(false),
            settings_version: AtomicU64::new(0),
            before_blocking: OnceLock::new(),
            admission: Admission::default(),
            slot: Mutex::default(),
        }
    }

    /// It is one that no client has asked for.
    pub fn in_background(mut self) -> Self {
        self.in_background = true;
        self
    }

    /// Statements wait for a slot among these.
    pub fn with_admission(mut self, admission: Admission) -> Self {
        self.admission = admission;
        self
    }

    /// Whether its statements wait for slots.
    pub fn waits_for_slots(&self) -> bool {
        self.admission.is_limited()
    }

    /// To be waited for before a statement is planned: see [`Admission`].
    pub async fn admit(&self) {
        if self.waits_for_slots() && self.slot.lock().is_none() {
            let slot = self.admission.slot(|bytes| !stoa_pg::memory::process().exceeded_by(bytes)).await;
            *self.slot.lock() = Some(slot);
        }
    }

    /// The statement that worked has ended, or waits for a lock: another one may have its slot.
    pub fn release_slot(&self) {
        if self.waits_for_slots() {
            self.slot.lock().take();
        }
    }

    /// Statements wait for this before work that may take more than a moment: a server that polls sessions on threads which others
    /// share lets the session go on elsewhere. May be said once.
    pub fn set_before_blocking(&self, hook: impl Fn() -> BoxFuture<'static, ()> + Send + Sync + 'static) {
        // A second one changes nothing.
        let _ = self.before_blocking.set(BeforeBlocking(Box::new(hook)));
    }

    /// To be waited for before work that may take long.
    pub async fn before_blocking(&self) {
        if let Some(hook) = self.before_blocking.get() {
            (hook.0)().await;
        }
    }

    /// The values that hold now.
    #[must_use]
    pub fn settings(&self) -> Arc<Settings> {
        self.settings.read().clone()
    }

    /// Whether these values hold now.
    #[must_use]
    pub fn has_settings(&self, settings: &Arc<Settings>) -> bool {
        Arc::ptr_eq(&self.settings.read(), settings)
    }

    /// What RESET goes back to.
    #[must_use]
    pub fn reset_settings(&self) -> Arc<Settings> {
        self.levels.lock().reset_values().clone()
    }

    /// Changes when settings may have changed.
    #[must_use]
    pub fn settings_version(&self) -> u64 {
        self.settings_version.load(Ordering::Acquire)
    }

    /// Changes the levels of settings, and what holds now with them.
    pub fn change_settings<T>(&self, change: impl FnOnce(&mut Levels) -> T) -> T {
        let mut levels = self.levels.lock();
        let out = change(&mut levels);
        let effective = levels.effective();
        if !Arc::ptr_eq(effective, &self.settings.read()) {
            *self.settings.write() = effective.clone();
            self.settings_version.fetch_add(1, Ordering::AcqRel);
        }
        out
    }

    /// The role whose rights count: SET ROLE, or the session's user.
    #[must_use]
    pub fn current_role(&self) -> Oid {
        self.role_of(|settings| settings.role.as_ref().or(settings.authorization.as_ref()), |role| role.oid)
    }

    /// The session's user: SET SESSION AUTHORIZATION, or who has logged in.
    #[must_use]
    pub fn session_role(&self) -> Oid {
        self.role_of(|settings| settings.authorization.as_ref(), |role| role.oid)
    }

    /// The name that [`SessionShared::current_role`] had when it was chosen.
    #[must_use]
    pub fn current_user(&self) -> String {
        self.role_of(|settings| settings.role.as_ref().or(settings.authorization.as_ref()), |role| role.name.clone())
    }

    /// The name that [`SessionShared::session_role`] had when it was chosen.
    #[must_use]
    pub fn session_user(&self) -> String {
        self.role_of(|settings| settings.authorization.as_ref(), |role| role.name.clone())
    }

    fn role_of<T>(&self, chosen: impl Fn(&Settings) -> Option<&Arc<ChosenRole>>, tell: impl Fn(&ChosenRole) -> T) -> T {
        let settings = self.settings.read();
        chosen(&settings).map_or_else(|| tell(&self.login), |role| tell(role))
    }

    /// Sends a message to the client, if its level is one that the client wants.
    pub fn notice(&self, severity: &'static str, error: PgError) {
        if severity == "INFO" || severity_level(severity) >= self.settings.read().client_min_messages {
            self.notices.lock().push(Notice { severity, error });
            self.has_notices.store(true, Ordering::Release);
        }
    }

    /// `WARNING` with a code.
    pub fn warning(&self, code: SqlState, message: impl Into<String>) {
        self.notice("WARNING", PgError::new(code, message));
    }

    /// Takes the messages that wait.
    pub fn take_notices(&self) -> Vec<Notice> {
        if !self.has_notices.swap(false, Ordering::AcqRel) {
            return Vec::new();
        }
        std::mem::take(&mut self.notices.lock())
    }

    /// Ends the running statement with 57014; without effect on an idle session.
    pub fn cancel(&self) {
        if self.activity.lock().state == ActivityState::Active {
            self.interrupt.store(CANCEL, Ordering::Release);
            self.waker.wake();
        }
    }

    /// Ends the session with 57P01.
    pub fn terminate(&self) {
        self.terminate.store(true, Ordering::Release);
        self.waker.wake();
    }

    /// Wakes whoever said [`SessionShared::watch_interrupt`] last.
    pub fn wake(&self) {
        self.waker.wake();
    }

    /// Says whether it waits for its client to take what is sent.
    pub fn set_sending(&self, waits: bool) {
        self.sending.store(waits, Ordering::Relaxed);
    }

    /// Whether it waits for its client to take what is sent.
    #[must_use]
    pub fn is_sending(&self) -> bool {
        self.sending.load(Ordering::Relaxed)
    }

    #[must_use]
    pub fn is_terminated(&self) -> bool {
        self.terminate.load(Ordering::Acquire)
    }

    /// For loops that run long without waiting.
    ///
    /// # Errors
    /// 57014 when the statement was cancelled or has run too long, 57P01 when the session was ended.
    #[inline]
    pub fn check_interrupt(&self) -> PgResult<()> {
        if self.terminate.load(Ordering::Acquire) {
            return Err(terminated());
        }
        if self.interrupt.load(Ordering::Acquire) == CANCEL {
            return Err(PgError::new(SqlState::QUERY_CANCELED, "canceling statement due to user request"));
        }
        if self.deadline().is_some_and(|at| Instant::now() >= at) {
            return Err(PgError::new(SqlState::QUERY_CANCELED, "canceling statement due to statement timeout"));
        }
        Ok(())
    }

    /// When the running statement must end.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        match self.deadline_ms.load(Ordering::Acquire) {
            0 => None,
            ms => Some(*CLOCK + Duration::from_millis(ms)),
        }
    }

    /// Wakes this task when the session is cancelled or ended.
    pub fn watch_interrupt(&self, waker: &Waker) {
        self.waker.register(waker);
    }

    /// A statement begins: cancel requests count from now on, and so does `statement_timeout`. Gives what `log_statement` is.
    pub fn begin_statement(&self, text: Arc<str>, now_us: i64, transaction_start_us: i64) -> LogStatement {
        self.interrupt.store(NO_INTERRUPT, Ordering::Release);
        let (timeout_ms, log) = {
            let settings = self.settings.read();
            (settings.statement_timeout_ms, settings.log_statement)
        };
        let deadline_ms = match timeout_ms {
            0 => 0,
            timeout_ms => u64::try_from(CLOCK.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(timeout_ms).max(1),
        };
        self.deadline_ms.store(deadline_ms, Ordering::Release);
        let mut activity = self.activity.lock();
        activity.state = ActivityState::Active;
        activity.query = text;
        activity.query_start_us = now_us;
        activity.state_change_us = now_us;
        activity.transaction_start_us = transaction_start_us;
        log
    }

    pub fn set_state(&self, state: ActivityState, now_us: i64, transaction_start_us: i64) {
        self.deadline_ms.store(0, Ordering::Release);
        let mut activity = self.activity.lock();
        activity.state = state;
        activity.state_change_us = now_us;
        activity.transaction_start_us = transaction_start_us;
    }

    #[must_use]
    pub fn is_quiet_for(&self, time: Duration, now_us: i64) -> bool {
        let activity = self.activity.lock();
        let since = u64::try_from(now_us - activity.state_change_us).unwrap_or(0);
        activity.state != ActivityState::Active && Duration::from_micros(since) >= time
    }

    #[must_use]
    pub fn activity(&self) -> Activity {
        self.activity.lock().clone()
    }

    #[must_use]
    pub fn temporary_schema(&self) -> Option<Oid> {
        Some(self.temporary_schema.load(Ordering::Acquire)).filter(|oid| *oid != 0)
    }

    /// `None` when an abort took the schema away.
    pub fn set_temporary_schema(&self, oid: Option<Oid>) {
        self.temporary_schema.store(oid.unwrap_or(0), Ordering::Release);
    }

    /// `transaction_isolation`, `transaction_read_only`, `transaction_deferrable` as SHOW prints the first.
    #[must_use]
    pub fn transaction_settings(&self) -> (&'static str, bool, bool) {
        *self.transaction_settings.lock()
    }

    pub fn set_transaction_settings(&self, isolation: &'static str, read_only: bool, deferrable: bool) {
        *self.transaction_settings.lock() = (isolation, read_only, deferrable);
    }

    /// The value of any setting as SHOW prints it, those of the transaction and the user included.
    #[must_use]
    pub fn show(&self, name: &str) -> Option<String> {
        let on_off = |value: bool| Some(if value { "on" } else { "off" }.to_owned());
        let (isolation, read_only, deferrable) = self.transaction_settings();
        match name.to_ascii_lowercase().as_str() {
            "transaction_isolation" => Some(isolation.to_owned()),
            "transaction_read_only" => on_off(read_only),
            "transaction_deferrable" => on_off(deferrable),
            "session_authorization" => Some(self.session_user()),
            "is_superuser" => {
                on_off(self.role_of(|settings| settings.role.as_ref().or(settings.authorization.as_ref()), |role| role.superuser))
            }
            _ => self.settings().show(name),
        }
    }
}

/// 57P01.
#[must_use]
pub fn terminated() -> PgError {
    PgError::new(SqlState::ADMIN_SHUTDOWN, "terminating connection due to administrator command")
}

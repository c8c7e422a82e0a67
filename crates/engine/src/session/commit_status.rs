//! `stoa_commit_status`: what became of the transaction that a [commit token](stoa_table::txn::commit_token) names.

use stoa_exec::environment::SessionEnvironment;
use stoa_exec::environment::session::ActivityState;
use stoa_exec::settings::COMMIT_TOKEN;
use stoa_pg::PgResult;
use stoa_table::txn::commit_token::is_committed;

/// What became of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CommitStatus {
    Committed,
    /// It is not there, and no session is about to commit it.
    Aborted,
    /// A session may still commit it.
    Unknown,
}

impl CommitStatus {
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            CommitStatus::Committed => "committed",
            CommitStatus::Aborted => "aborted",
            CommitStatus::Unknown => "unknown",
        }
    }
}

/// What became of the transaction of a token.
///
/// # Errors
/// What the store reports.
pub async fn status(system: &SessionEnvironment, token: &str) -> PgResult<CommitStatus> {
    // Sessions first: one that commits in between has left its row.
    let open = system.database.sessions().into_iter().any(|session| {
        session.pid != system.session.pid
            && session.activity().state != ActivityState::Idle
            && session.settings().raw(COMMIT_TOKEN) == Some(token)
    });
    Ok(match (is_committed(&system.database.tables, token).await?, open) {
        (true, _) => CommitStatus::Committed,
        (false, true) => CommitStatus::Unknown,
        (false, false) => CommitStatus::Aborted,
    })
}

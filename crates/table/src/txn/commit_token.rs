//! Idempotent commits: a client names its transaction, and can ask later what became of it.
//!
//! `SET stoa.commit_token = 'T'` names the next transaction of the session that commits with changes. Its commit writes a row with the
//! token together with the changes: either both are there or neither. After a lost connection `stoa_commit_status('T')` says what
//! happened; a second commit with a token that has been committed fails with 40002 and changes nothing, so that a client may simply
//! do its work again. Tokens are kept for [`TOKENS_KEPT`](crate::catalog::store::TOKENS_KEPT).
//!
//! Invariant: the token's row is written behind a lock on it, after it was not found: two transactions of one token cannot both
//! commit.

use super::transaction::Transaction;
use crate::catalog::store::TOKEN_TABLE;
use crate::failure::store_error;
use crate::services::locks::{LockId, Mode, Wait};
use crate::tables::Tables;
use std::ops::ControlFlow;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_store::{CellRef, FamilyId, ReadSpec};

const FAMILY: FamilyId = FamilyId(0);
const MAX_BYTES: usize = 255;

/// Whether a transaction with this token is committed.
///
/// # Errors
/// What the store reports.
pub async fn is_committed(tables: &Tables, token: &str) -> PgResult<bool> {
    let store = tables.store();
    let spec = ReadSpec {
        table: TOKEN_TABLE,
        families: vec![FAMILY],
        qualifiers: None,
        versions: 1,
        time_range: None,
        snapshot: store.snapshot(),
    };
    let mut found = false;
    let mut sink = |_: &[u8], _: &[CellRef<'_>]| {
        found = true;
        ControlFlow::Continue(())
    };
    store.get(&spec, &[token.as_bytes()], &mut sink).await.map_err(store_error)?;
    Ok(found)
}

/// Puts the token among what a transaction writes, to be called when it is about to commit.
///
/// # Errors
/// 40002 if a transaction with this token is committed; 22023 for a token that is too long; what a lock that is not granted raises.
pub async fn write(txn: &Transaction, token: &str) -> PgResult<()> {
    if token.len() > MAX_BYTES {
        return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("commit tokens have at most {MAX_BYTES} bytes")));
    }
    let id = LockId::row(TOKEN_TABLE, token.as_bytes());
    txn.lock_id(id, Mode::UPDATE, Wait::Until(None), || "commit token".to_owned()).await?;
    if is_committed(txn.transactions().tables(), token).await? {
        return Err(PgError::new(SqlState(*b"40002"), format!("a transaction with the commit token \"{token}\" is committed already"))
            .hint("What it was to do has been done; choose another token for other work."));
    }
    txn.write(|set| set.put(TOKEN_TABLE, token.as_bytes(), FAMILY, &[], Some(&[1])))
}

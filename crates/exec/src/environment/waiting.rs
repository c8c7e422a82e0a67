//! Waiting where a function cannot.
//!
//! Kernels compute the values of a batch in one go. What a function asks of others is answered at once where that is possible: values of a
//! sequence are made durable before a statement takes them, a free lock is taken without asking. What is left waits here, and holds
//! its thread: other tasks move to other threads meanwhile, where there are any. An event loop has none: what is waited for there must not be
//! done by a task, whose turn would never come. This is the one place of its kind.

use super::guard::interruptible;
use super::session::SessionShared;
use std::future::Future;
use std::time::{Duration, Instant};
use stoa_pg::PgResult;
use tokio::runtime::{Handle, RuntimeFlavor};

/// How long until it is asked again, where there is but one thread.
const STEP: Duration = Duration::from_millis(5);

fn has_other_threads() -> Option<Handle> {
    Handle::try_current().ok().filter(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread)
}

/// Waits for an answer that comes from another thread or node.
///
/// # Errors
/// Those of the future; where there are other threads, 57014 and 57P01.
pub fn answer<T>(session: &SessionShared, work: impl Future<Output = PgResult<T>>) -> PgResult<T> {
    match has_other_threads() {
        Some(handle) => tokio::task::block_in_place(|| handle.block_on(interruptible(session, work))),
        None => futures::executor::block_on(work),
    }
}

/// Waits for what other statements do; `retry` is asked instead where there is but one thread.
///
/// # Errors
/// Those of the future; 57014, 57P01.
pub fn others(session: &SessionShared, work: impl Future<Output = PgResult<()>>, mut retry: impl FnMut() -> bool) -> PgResult<()> {
    match has_other_threads() {
        Some(handle) => tokio::task::block_in_place(|| handle.block_on(interruptible(session, work))),
        None => loop {
            session.check_interrupt()?;
            if retry() {
                return Ok(());
            }
            std::thread::sleep(STEP);
        },
    }
}

/// Waits for a time.
///
/// # Errors
/// 57014, 57P01.
pub fn sleep(session: &SessionShared, time: Duration) -> PgResult<()> {
    let until = Instant::now().checked_add(time);
    let slept = async {
        tokio::time::sleep(time).await;
        Ok(())
    };
    others(session, slept, || {
        let left = until.map_or(STEP, |at| at.saturating_duration_since(Instant::now()));
        if left < STEP {
            std::thread::sleep(left);
        }
        left < STEP
    })
}

//! Work that can be stopped: by a cancel request, by `statement_timeout`, by the end of the session.

use super::shared::SessionShared;
use arrow::array::RecordBatch;
use futures::Stream;
use futures::stream::BoxStream;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use stoa_pg::{PgError, PgResult, SqlState};
use tokio::time::{Instant, Sleep, sleep_until};

/// When a statement must have ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// 0 is no deadline.
    #[must_use]
    pub fn after_ms(ms: u64) -> Self {
        Self((ms > 0).then(|| Instant::now() + Duration::from_millis(ms)))
    }
}

/// Runs a future until it is done or must stop. Stopping drops it.
///
/// # Errors
/// Those of the future; 57014, 57P01.
pub async fn interruptible<T>(session: &SessionShared, deadline: Deadline, work: impl Future<Output = PgResult<T>>) -> PgResult<T> {
    let mut work = pin!(work);
    let mut timer = deadline.0.map(|at| Box::pin(sleep_until(at)));
    std::future::poll_fn(|cx| {
        if let Poll::Ready(out) = work.as_mut().poll(cx) {
            return Poll::Ready(out);
        }
        poll_stop(session, timer.as_mut(), cx).map(Err)
    })
    .await
}

fn poll_stop(session: &SessionShared, timer: Option<&mut Pin<Box<Sleep>>>, cx: &mut Context<'_>) -> Poll<PgError> {
    // Registered before the flags are read, so that no request is lost between.
    session.watch_interrupt(cx.waker());
    if let Err(error) = session.check_interrupt() {
        return Poll::Ready(error);
    }
    match timer.map(|timer| timer.as_mut().poll(cx)) {
        Some(Poll::Ready(())) => Poll::Ready(PgError::new(SqlState::QUERY_CANCELED, "canceling statement due to statement timeout")),
        _ => Poll::Pending,
    }
}

/// A stream of rows that can be stopped.
pub struct GuardedRows {
    inner: Option<BoxStream<'static, PgResult<RecordBatch>>>,
    session: Arc<SessionShared>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl GuardedRows {
    #[must_use]
    pub fn new(inner: BoxStream<'static, PgResult<RecordBatch>>, session: Arc<SessionShared>, deadline: Deadline) -> Self {
        Self { inner: Some(inner), session, timer: deadline.0.map(|at| Box::pin(sleep_until(at))) }
    }
}

impl Stream for GuardedRows {
    type Item = PgResult<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let Some(inner) = &mut this.inner else { return Poll::Ready(None) };
        // A stream that is always ready must be stoppable too.
        if let Err(error) = this.session.check_interrupt() {
            this.inner = None;
            return Poll::Ready(Some(Err(error)));
        }
        if let Poll::Ready(item) = inner.as_mut().poll_next(cx) {
            if !matches!(item, Some(Ok(_))) {
                this.inner = None;
                return Poll::Ready(item);
            }
            // Rows that come without pause reach their deadline all the same.
            if this.timer.as_ref().is_some_and(|t| t.is_elapsed() || Instant::now() >= t.deadline()) {
                this.inner = None;
                let error = PgError::new(SqlState::QUERY_CANCELED, "canceling statement due to statement timeout");
                return Poll::Ready(Some(Err(error)));
            }
            return Poll::Ready(item);
        }
        match poll_stop(&this.session, this.timer.as_mut(), cx) {
            Poll::Ready(error) => {
                this.inner = None;
                Poll::Ready(Some(Err(error)))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

//! Work that can be stopped: by a cancel request, by `statement_timeout`, by the end of the session.

use super::session::SessionShared;
use arrow::array::RecordBatch;
use futures::Stream;
use futures::stream::BoxStream;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;
use stoa_pg::{PgError, PgResult};
use tokio::time::{Sleep, sleep_until};

/// Runs a future until it is done or must stop. Stopping drops it.
///
/// # Errors
/// Those of the future; 57014, 57P01.
pub async fn interruptible<T>(session: &SessionShared, work: impl Future<Output = PgResult<T>>) -> PgResult<T> {
    let mut work = pin!(work);
    let mut stop = Stop::default();
    std::future::poll_fn(|cx| {
        if let Poll::Ready(out) = work.as_mut().poll(cx) {
            return Poll::Ready(out);
        }
        stop.poll(session, cx).map(Err)
    })
    .await
}

/// Waits for a reason to stop.
#[derive(Default)]
struct Stop {
    /// Wakes at the deadline of the statement that runs: a stream may outlive the one that made it.
    timer: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl Stop {
    fn poll(&mut self, session: &SessionShared, cx: &mut Context<'_>) -> Poll<PgError> {
        // Registered before the flags are read, so that no request is lost between.
        session.watch_interrupt(cx.waker());
        if let Err(error) = session.check_interrupt() {
            return Poll::Ready(error);
        }
        let deadline = session.deadline();
        if self.timer.as_ref().map(|(at, _)| *at) != deadline {
            self.timer = deadline.map(|at| (at, Box::pin(sleep_until(at.into()))));
        }
        if let Some((_, timer)) = &mut self.timer
            && timer.as_mut().poll(cx).is_ready()
            && let Err(error) = session.check_interrupt()
        {
            return Poll::Ready(error);
        }
        Poll::Pending
    }
}

/// A stream of rows that can be stopped.
pub struct GuardedRows {
    inner: Option<BoxStream<'static, PgResult<RecordBatch>>>,
    session: Arc<SessionShared>,
    stop: Stop,
}

impl GuardedRows {
    #[must_use]
    pub fn new(inner: BoxStream<'static, PgResult<RecordBatch>>, session: Arc<SessionShared>) -> Self {
        Self { inner: Some(inner), session, stop: Stop::default() }
    }
}

impl Stream for GuardedRows {
    type Item = PgResult<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let Some(inner) = &mut this.inner else { return Poll::Ready(None) };
        // Rows that come without pause must be stoppable too.
        let item = match this.session.check_interrupt() {
            Err(error) => Some(Err(error)),
            Ok(()) => match inner.as_mut().poll_next(cx) {
                Poll::Ready(item) => item,
                Poll::Pending => match this.stop.poll(&this.session, cx) {
                    Poll::Ready(error) => Some(Err(error)),
                    Poll::Pending => return Poll::Pending,
                },
            },
        };
        if !matches!(item, Some(Ok(_))) {
            this.inner = None;
        }
        Poll::Ready(item)
    }
}

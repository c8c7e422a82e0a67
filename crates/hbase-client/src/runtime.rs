//! The threads that read and write sockets, look regions up and renew leases.
//!
//! Invariant: whoever calls the client needs no runtime of its own: timers are made here, and what is waited for can be polled anywhere.

use crate::error::Error;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;
use tokio::time::{Instant, Sleep};

/// The client's own runtime. It ends without waiting when it is dropped, wherever that is.
#[derive(Debug)]
pub(crate) struct OwnRuntime {
    runtime: Option<Runtime>,
    timers: Timers,
}

/// Makes tasks and timers of the client's runtime, without keeping it alive.
#[derive(Debug, Clone)]
pub(crate) struct Timers {
    handle: Handle,
}

impl OwnRuntime {
    pub(crate) fn start(threads: usize) -> Result<OwnRuntime, Error> {
        let number = Arc::new(AtomicUsize::new(0));
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_name_fn(move || format!("hbase-client-{}", number.fetch_add(1, Ordering::Relaxed)))
            .enable_all()
            .build()
            .map_err(|e| Error::Argument(format!("the client's threads do not start: {e}")))?;
        let timers = Timers { handle: runtime.handle().clone() };
        Ok(OwnRuntime { runtime: Some(runtime), timers })
    }

    pub(crate) fn timers(&self) -> &Timers {
        &self.timers
    }
}

impl Drop for OwnRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Timers {
    pub(crate) fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.spawn(future)
    }

    pub(crate) fn sleep_until(&self, at: Instant) -> Sleep {
        let _entered = self.handle.enter();
        tokio::time::sleep_until(at)
    }

    pub(crate) fn sleep(&self, time: Duration) -> Sleep {
        self.sleep_until(Instant::now() + time)
    }

    /// `None` if the deadline came first.
    pub(crate) async fn within<F: Future>(&self, deadline: Instant, future: F) -> Option<F::Output> {
        let sleep = self.sleep_until(deadline);
        futures::pin_mut!(sleep);
        futures::pin_mut!(future);
        match futures::future::select(future, sleep).await {
            futures::future::Either::Left((output, _)) => Some(output),
            futures::future::Either::Right(_) => None,
        }
    }
}

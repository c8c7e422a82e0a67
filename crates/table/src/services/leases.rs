//! Leases of background jobs: what must be done by one node at a time.

use async_trait::async_trait;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Arc;
use tokio::sync::Notify;

/// The right to do a job, until it is dropped.
pub struct Lease(Option<Box<dyn FnOnce() + Send + Sync>>);

impl Lease {
    /// `end` is called when the lease is given up.
    #[must_use]
    pub fn new(end: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self(Some(Box::new(end)))
    }
}

impl Debug for Lease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lease")
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(end) = self.0.take() {
            end();
        }
    }
}

/// See the module.
#[async_trait]
pub trait Leases: Send + Sync {
    /// Waits until nobody else has the lease of a job.
    async fn take(&self, job: &str) -> Lease;
}

/// The jobs of one process.
#[derive(Debug, Default)]
pub struct LocalLeases {
    taken: Arc<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    jobs: Mutex<BTreeSet<String>>,
    given_up: Notify,
}

#[async_trait]
impl Leases for LocalLeases {
    async fn take(&self, job: &str) -> Lease {
        loop {
            let given_up = self.taken.given_up.notified();
            let mut given_up = std::pin::pin!(given_up);
            given_up.as_mut().enable();
            if self.taken.jobs.lock().insert(job.to_owned()) {
                let (taken, job) = (Arc::clone(&self.taken), job.to_owned());
                return Lease::new(move || {
                    taken.jobs.lock().remove(&job);
                    taken.given_up.notify_waiters();
                });
            }
            given_up.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_job_has_one_owner() {
        let leases = LocalLeases::default();
        let first = leases.take("a").await;
        let _other = leases.take("b").await;
        let mut second = leases.take("a");
        assert!(futures::poll!(&mut second).is_pending());
        drop(first);
        drop(second.await);
        leases.take("a").await;
    }
}

//! Calls over several tries.
//!
//! Invariant: every call ends by its deadline, whatever servers do. A mutation that could do harm if it were done twice is not tried again
//! once a server may have done it; the error says so. Tries are spread: pauses grow and vary.

use crate::config::ClientConfig;
use crate::connection::{Lane, Pool, Service};
use crate::error::{Class, Error};
use crate::metrics::Counts;
use crate::names::{ServerName, TableName};
use crate::regions::{Locator, Region, Side, TableRegions};
use crate::registry::Registry;
use crate::runtime::{OwnRuntime, Timers};
use crate::wire::frame::{Request, Response};
use rand::Rng;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// After so many lookups a hole in the region map is believed.
const HOLE_TRIES: u32 = 5;

/// What all handles of a client share.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) config: Arc<ClientConfig>,
    pub(crate) counts: Arc<Counts>,
    pub(crate) pool: Arc<Pool>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) locator: Arc<Locator>,
    /// The master, where it is known.
    pub(crate) master: parking_lot::Mutex<Option<ServerName>>,
    pub(crate) nonce_group: u64,
    /// Last, so that the rest goes before its threads.
    pub(crate) runtime: OwnRuntime,
}

/// A table of a call: its name and what is known of its regions.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) name: TableName,
    pub(crate) regions: Arc<TableRegions>,
}

/// Whether a call may be sent again though a server may have carried it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// It reads.
    Read,
    /// It writes, and twice is as good as once.
    Harmless,
    /// It writes, and the second time would do or answer something else.
    Never,
}

/// The tries of one call.
#[derive(Debug)]
pub(crate) struct Tries {
    what: &'static str,
    repeat: Repeat,
    started: Instant,
    pub(crate) deadline: Instant,
    number: u32,
    /// A server may have done it.
    unknown: bool,
}

impl Tries {
    pub(crate) fn new(what: &'static str, repeat: Repeat, deadline: Instant) -> Tries {
        Tries { what, repeat, started: Instant::now(), deadline, number: 0, unknown: false }
    }

    /// Whether this is not the first try.
    pub(crate) fn again(&self) -> bool {
        self.number > 0
    }

    /// The error of a call that is not tried again.
    pub(crate) fn end(&self, error: Error) -> Error {
        if self.unknown && !error.is_unknown() { Error::Unknown { cause: Box::new(error) } } else { error }
    }

    fn over(&self, last: Error) -> Error {
        self.end(Error::Deadline { what: self.what.to_owned(), waited: self.started.elapsed(), last: Some(Box::new(last)) })
    }

    /// How long to wait before the next try.
    ///
    /// # Errors
    /// What the call ends with, if there is no next try.
    pub(crate) fn next(&mut self, error: Error, config: &ClientConfig) -> Result<Duration, Error> {
        let class = error.class();
        if self.repeat != Repeat::Read && error.leaves_unknown() {
            self.unknown = true;
        }
        if class == Class::Final || (self.unknown && self.repeat == Repeat::Never) {
            return Err(self.end(error));
        }
        self.number = self.number.saturating_add(1);
        if matches!(error, Error::RegionHole { .. }) && self.number >= HOLE_TRIES {
            return Err(self.end(error));
        }
        let overloaded = error.exception().is_some_and(|exception| exception.overloaded);
        let pause = match class {
            Class::LookUp { .. } | Class::AtOnce | Class::Reopen if self.number == 1 => Duration::ZERO,
            Class::Later { pause: Some(asked) } => asked.max(config.first_pause),
            _ => backoff(self.number, config, overloaded),
        };
        if Instant::now() + pause >= self.deadline { Err(self.over(error)) } else { Ok(pause) }
    }
}

/// The pause before a try: it doubles, and is spread by a quarter to either side.
pub(crate) fn backoff(number: u32, config: &ClientConfig, overloaded: bool) -> Duration {
    let doubled = config.first_pause.saturating_mul(1 << number.saturating_sub(1).min(16));
    let pause = doubled.saturating_mul(if overloaded { 3 } else { 1 }).min(config.longest_pause);
    pause.mul_f64(rand::rng().random_range(0.75..1.25))
}

impl Core {
    pub(crate) fn timers(&self) -> &Timers {
        self.runtime.timers()
    }

    pub(crate) async fn pause(&self, pause: Duration) {
        if !pause.is_zero() {
            self.timers().sleep(pause).await;
        }
    }

    pub(crate) fn target(&self, name: &TableName) -> Target {
        Target { name: name.clone(), regions: self.locator.table(name) }
    }

    /// A call to the region of a key: looked up, sent, tried again as its errors say.
    pub(crate) async fn call_region(
        &self,
        target: &Target,
        key: &[u8],
        service: Service,
        mut tries: Tries,
        build: impl Fn(&Region) -> Request,
    ) -> Result<Response, Error> {
        loop {
            let error = match self.try_region(target, key, service, &tries, &build).await {
                Ok(response) => return Ok(response),
                Err(error) => error,
            };
            let pause = tries.next(error, &self.config)?;
            self.pause(pause).await;
        }
    }

    async fn try_region(
        &self,
        target: &Target,
        key: &[u8],
        service: Service,
        tries: &Tries,
        build: &impl Fn(&Region) -> Request,
    ) -> Result<Response, Error> {
        let region = self.locator.locate(&target.name, &target.regions, key, Side::At, tries.deadline).await?;
        if tries.again() {
            self.pool.count_retry(&region.server);
        }
        let request = build(&region);
        let lane = if request.len() > 256 << 10 { Lane::Long } else { Lane::Short };
        let called = match service {
            Service::Admin => self.pool.patient_call(&region.server, service, lane, &request, tries.deadline, ADMIN_PATIENCE).await,
            _ => self.pool.call(&region.server, service, lane, &request, tries.deadline).await,
        };
        called.inspect_err(|error| self.locator.learn(&target.regions, &region, error))
    }
}

/// How long servers may take over what is large by nature: a flush, a move.
pub(crate) const ADMIN_PATIENCE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::{Repeat, Tries, backoff};
    use crate::config::ClientConfig;
    use crate::error::{Error, Exception};
    use crate::messages::rpc::NameBytesPair;
    use std::time::Duration;
    use tokio::time::Instant;

    fn config() -> ClientConfig {
        ClientConfig::zookeeper("h").pauses(Duration::from_millis(10), Duration::from_millis(400))
    }

    fn exception(name: &str) -> Error {
        Exception::from_pair(&NameBytesPair { name: name.to_owned(), value: None }).into()
    }

    fn lost(sent: bool) -> Error {
        Error::Connection { server: "h:1".to_owned(), reason: "closed".to_owned(), sent }
    }

    #[test]
    fn pauses_grow_to_a_bound() {
        let mut last = Duration::ZERO;
        for number in 1..40 {
            let pause = backoff(number, &config(), false);
            assert!(pause <= Duration::from_millis(500), "{pause:?}");
            assert!(number > 5 || pause > last.mul_f64(1.1), "{number} {pause:?} {last:?}");
            last = pause;
        }
    }

    #[test]
    fn what_may_have_been_done_is_not_repeated_unless_that_is_harmless() {
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut never = Tries::new("check and mutate", Repeat::Never, deadline);
        assert!(never.next(lost(false), &config()).is_ok());
        assert!(never.next(exception("NotServingRegionException"), &config()).is_ok());
        assert!(never.next(lost(true), &config()).is_err_and(|e| e.is_unknown()));
        let mut harmless = Tries::new("put", Repeat::Harmless, deadline);
        assert!(harmless.next(lost(true), &config()).is_ok());
        // The first try may have done it all the same.
        assert!(harmless.next(exception("AccessDeniedException"), &config()).is_err_and(|e| e.is_unknown()));
        let mut read = Tries::new("get", Repeat::Read, deadline);
        assert!(read.next(lost(true), &config()).is_ok());
        assert!(read.next(exception("AccessDeniedException"), &config()).is_err_and(|e| !e.is_unknown()));
    }

    #[test]
    fn no_try_begins_behind_the_deadline() {
        let mut tries = Tries::new("get", Repeat::Read, Instant::now() + Duration::from_millis(5));
        let over = tries.next(exception("RegionTooBusyException"), &config());
        assert!(over.is_err_and(|e| e.is_deadline() && e.is_exception("RegionTooBusyException")));
    }
}

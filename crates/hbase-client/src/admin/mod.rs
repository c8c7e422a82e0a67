//! What changes tables, regions and snapshots: calls of the master, and the procedures that they start.
//!
//! Invariant: a request that starts a procedure bears a nonce, so that sending it again starts nothing twice; a call returns when its
//! procedure has ended, by short polls. [`descriptor`] says what tables look like, [`tables`], [`regions`] and [`snapshots`] are the calls.

mod descriptor;
mod regions;
mod snapshots;
mod tables;

pub use descriptor::{FamilyDescriptor, TableDescriptor};
pub use regions::RegionSize;
pub use snapshots::Snapshot;

use crate::call::{ADMIN_PATIENCE, Core, Repeat, Tries};
use crate::connection::{Lane, Service};
use crate::error::{Class, Error, Exception};
use crate::messages::master::{GetProcedureResultRequest, GetProcedureResultResponse, ProcedureStarted};
use crate::messages::rpc::ForeignExceptionMessage;
use crate::names::ServerName;
use crate::wire::frame::Request;
use prost::Message;
use rand::Rng;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long a procedure is waited for if nothing else is said.
const TIMEOUT: Duration = Duration::from_secs(180);
/// The first pause between two looks at a procedure, and the longest.
const FIRST_LOOK: Duration = Duration::from_millis(5);
const LONGEST_LOOK: Duration = Duration::from_millis(50);

/// The administration of a cluster. Cheap to clone.
///
/// Every call returns when what it asked for is done, or at its timeout (three minutes unless [`Admin::timeout`] says otherwise): the
/// master may then still be at it.
#[derive(Debug, Clone)]
pub struct Admin {
    core: Arc<Core>,
    timeout: Duration,
}

impl Admin {
    pub(crate) fn new(core: Arc<Core>) -> Admin {
        Admin { core, timeout: TIMEOUT }
    }

    /// The same with another timeout.
    #[must_use]
    pub fn timeout(&self, timeout: Duration) -> Admin {
        Admin { core: Arc::clone(&self.core), timeout }
    }

    fn deadline(&self) -> Instant {
        Instant::now() + self.timeout
    }

    /// Two numbers by which the master knows a request again.
    fn nonces(&self) -> (Option<u64>, Option<u64>) {
        // 0 stands for none.
        (Some(self.core.nonce_group | 1), Some(rand::rng().random_range(1..u64::MAX)))
    }

    /// A call of the master, tried again while there is none, or while it starts.
    async fn call<M: Message + Default>(
        &self,
        method: &'static str,
        message: &impl Message,
        repeat: Repeat,
        deadline: Instant,
    ) -> Result<M, Error> {
        let request = Request::new(method, message);
        let mut tries = Tries::new(method, repeat, deadline);
        loop {
            let error = match self.try_call(&request, deadline).await {
                Ok(response) => return response.read(),
                Err(error) => error,
            };
            // An exception of the work itself is not one of the way there: the master says itself whether to come again.
            let passes = match &error {
                Error::Exception(exception) => exception.do_not_retry != Some(true) && self.is_of_the_way(exception),
                _ => true,
            };
            if !passes {
                return Err(tries.end(error));
            }
            let pause = tries.next(error, &self.core.config)?;
            self.core.pause(pause).await;
        }
    }

    fn is_of_the_way(&self, exception: &Exception) -> bool {
        match exception.class() {
            Class::NewConnection | Class::AtOnce => true,
            Class::Later { .. } => matches!(
                exception.name(),
                "PleaseHoldException"
                    | "CallQueueTooBigException"
                    | "CallDroppedException"
                    | "RpcThrottlingException"
                    | "RegionTooBusyException"
            ),
            Class::LookUp { .. } | Class::Reopen | Class::Final => false,
        }
    }

    async fn try_call(&self, request: &Request, deadline: Instant) -> Result<crate::wire::frame::Response, Error> {
        let master = self.master(deadline).await?;
        let called = self.core.pool.patient_call(&master, Service::Master, Lane::Short, request, deadline, ADMIN_PATIENCE).await;
        called.inspect_err(|error| {
            if matches!(error.class(), Class::NewConnection) {
                let mut known = self.core.master.lock();
                if known.as_ref() == Some(&master) {
                    *known = None;
                }
            }
        })
    }

    async fn master(&self, deadline: Instant) -> Result<ServerName, Error> {
        if let Some(master) = self.core.master.lock().clone() {
            return Ok(master);
        }
        let registry = Arc::clone(&self.core.registry);
        let asked = self.core.timers().spawn(async move { registry.master(deadline).await });
        let master = asked.await.unwrap_or(Err(Error::Closed))?;
        *self.core.master.lock() = Some(master.clone());
        Ok(master)
    }

    /// Starts a procedure and waits for its end.
    async fn run(&self, method: &'static str, message: &impl Message) -> Result<(), Error> {
        let deadline = self.deadline();
        // The nonce makes a second request the same as the first.
        let started: ProcedureStarted = self.call(method, message, Repeat::Harmless, deadline).await?;
        match started.proc_id {
            Some(id) => self.wait_for(method, id, deadline).await,
            None => Ok(()),
        }
    }

    async fn wait_for(&self, method: &'static str, id: u64, deadline: Instant) -> Result<(), Error> {
        let started = Instant::now();
        let mut pause = FIRST_LOOK;
        loop {
            let request = GetProcedureResultRequest { proc_id: id };
            let result: GetProcedureResultResponse = self.call("getProcedureResult", &request, Repeat::Read, deadline).await?;
            // What the master does not know any more is long done.
            if result.state != 1 {
                return match &result.exception {
                    Some(exception) => Err(failure(exception).into()),
                    None => Ok(()),
                };
            }
            if Instant::now() + pause >= deadline {
                let cause = Error::Deadline { what: method.to_owned(), waited: started.elapsed(), last: None };
                return Err(Error::Unknown { cause: Box::new(cause) });
            }
            self.core.pause(pause).await;
            pause = (pause * 2).min(LONGEST_LOOK);
        }
    }
}

/// Why a procedure failed.
fn failure(message: &ForeignExceptionMessage) -> Exception {
    let cause = message.generic_exception.clone().unwrap_or_default();
    Exception {
        class: cause.class_name.unwrap_or_else(|| "unknown".to_owned()),
        message: cause.message.unwrap_or_default(),
        do_not_retry: Some(true),
        overloaded: false,
        moved_to: None,
    }
}

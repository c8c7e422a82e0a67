//! The client, and the tables that it opens: where calls begin.

use crate::admin::Admin;
use crate::call::{Core, Repeat, Target, Tries};
use crate::config::ClientConfig;
use crate::connection::{Pool, Service};
use crate::error::{Error, Exception};
use crate::get::Get;
use crate::messages::client::{
    Action as ActionMessage, CoprocessorServiceCall, CoprocessorServiceRequest, CoprocessorServiceResponse, GetRequest, GetResponse,
    MultiRequest, MultiResponse, MutateRequest, MutateResponse, RegionAction,
};
use crate::metrics::{Counts, Metrics};
use crate::multi::{Action, multi};
use crate::mutation::{CheckAndMutate, Mutation};
use crate::names::TableName;
use crate::regions::{Locator, Region, Side};
use crate::registry::Registry;
use crate::row::{Row, read_result};
use crate::runtime::OwnRuntime;
use crate::scanner::{Scan, Scanner};
use crate::wire::cell::Cells;
use crate::wire::frame::Request;
use bytes::Bytes;
use rand::Rng;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// A client of one cluster. Cheap to clone; all clones and their tables share connections and what is known of regions. Connections are
/// made when they are needed, and closed with the last clone.
///
/// Its futures can be awaited in any runtime, and in none: `futures::executor::block_on` will do.
#[derive(Debug, Clone)]
pub struct Client {
    core: Arc<Core>,
}

impl Client {
    /// A client of the cluster that `config` names. Nothing is sent yet: [`Client::cluster_id`] tells whether the cluster is there.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for Kerberos and TLS, [`Error::Argument`] for addresses that are none.
    pub fn connect(config: ClientConfig) -> Result<Client, Error> {
        config.check()?;
        let runtime = OwnRuntime::start(config.threads)?;
        let config = Arc::new(config);
        let counts = Arc::new(Counts::default());
        let timers = runtime.timers().clone();
        let pool = Arc::new(Pool::new(Arc::clone(&config), timers.clone(), Arc::clone(&counts)));
        let registry = Arc::new(Registry::new(&config, &pool)?);
        let locator = Locator::new(Arc::clone(&pool), Arc::clone(&registry), timers, Arc::clone(&counts), config.rpc_timeout);
        let core = Core {
            config,
            counts,
            pool,
            registry,
            locator: Arc::new(locator),
            master: parking_lot::Mutex::new(None),
            nonce_group: rand::rng().random(),
            runtime,
        };
        Ok(Client { core: Arc::new(core) })
    }

    /// The cluster's id, as it says it now: also whether it can be reached.
    ///
    /// # Errors
    /// [`Error::Registry`] if nobody answers before the operation timeout.
    pub async fn cluster_id(&self) -> Result<String, Error> {
        let registry = Arc::clone(&self.core.registry);
        let deadline = Instant::now() + self.core.config.operation_timeout;
        let asked = self.core.timers().spawn(async move { registry.cluster_id(deadline).await });
        asked.await.unwrap_or(Err(Error::Closed))
    }

    /// A table, whether it exists or not. Nothing is sent.
    ///
    /// # Errors
    /// [`Error::Argument`] for what cannot be a table's name.
    pub fn table(&self, name: &str) -> Result<Table, Error> {
        let target = self.core.target(&name.parse()?);
        Ok(Table { core: Arc::clone(&self.core), target, timeout: self.core.config.operation_timeout })
    }

    /// What changes tables, regions and snapshots.
    #[must_use]
    pub fn admin(&self) -> Admin {
        Admin::new(Arc::clone(&self.core))
    }

    /// Counts of calls, retries and bytes by server, up to now.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        self.core.counts.read()
    }
}

/// A table of a client. Cheap to clone.
///
/// Every call ends within the timeout, over all its tries, also while regions move or their servers die. A call that is dropped before it
/// ends may still be carried out.
#[derive(Debug, Clone)]
pub struct Table {
    pub(crate) core: Arc<Core>,
    pub(crate) target: Target,
    pub(crate) timeout: Duration,
}

impl Table {
    #[must_use]
    pub fn name(&self) -> &TableName {
        &self.target.name
    }

    /// The same table with another timeout for its calls than the client's. A scan's timeout is that of each batch.
    #[must_use]
    pub fn timeout(&self, timeout: Duration) -> Table {
        Table { timeout, ..self.clone() }
    }

    pub(crate) fn deadline(&self) -> Instant {
        Instant::now() + self.timeout
    }

    fn tries(&self, what: &'static str, repeat: Repeat) -> Tries {
        Tries::new(what, repeat, self.deadline())
    }

    /// Reads a row; `None` if nothing of it is found.
    ///
    /// # Errors
    /// A server's exception, or [`Error::Deadline`].
    pub async fn get(&self, get: &Get) -> Result<Option<Row>, Error> {
        let response = self.get_call(get).await?;
        let message: GetResponse = response.read()?;
        let Some(result) = message.result else { return Ok(None) };
        let row = Row::new(read_result(&result, &mut Cells::new(response.cells))?)?;
        match row {
            Some(row) if row.key() != get.row => Err(Error::Protocol("a get is answered with another row".to_owned())),
            row => Ok(row),
        }
    }

    /// Whether a get would find something.
    ///
    /// # Errors
    /// As [`Table::get`].
    pub async fn exists(&self, get: &Get) -> Result<bool, Error> {
        let message: GetResponse = self.get_call(&get.clone().existence()).await?.read()?;
        Ok(message.result.and_then(|result| result.exists).unwrap_or(false))
    }

    async fn get_call(&self, get: &Get) -> Result<crate::wire::frame::Response, Error> {
        let message = get.to_message();
        let call = self.core.call_region(&self.target, &get.row, Service::Client, self.tries("get", Repeat::Read), |region: &Region| {
            Request::new("Get", &GetRequest { region: region.specifier(), get: message.clone() })
        });
        call.await
    }

    /// Carries a put or a delete out. It is done when this returns, as durable as it says.
    ///
    /// # Errors
    /// A server's exception; [`Error::Unknown`] if a server may have done it, or may still do it, but did not say so before the deadline.
    pub async fn mutate(&self, mutation: &Mutation) -> Result<(), Error> {
        mutation.check()?;
        let (message, block) = (mutation.to_message(), mutation.to_block());
        let repeat = if mutation.is_harmless() { Repeat::Harmless } else { Repeat::Never };
        let call = self.core.call_region(&self.target, &mutation.row, Service::Client, self.tries("mutate", repeat), |region: &Region| {
            let request = MutateRequest { region: region.specifier(), mutation: message.clone(), condition: None };
            Request::with_cells("Mutate", &request, vec![block.clone()])
        });
        call.await.map(drop)
    }

    /// Carries mutations of one row out together: all or none.
    ///
    /// # Errors
    /// As [`Table::mutate`].
    pub async fn mutate_row(&self, mutations: &[Mutation]) -> Result<(), Error> {
        let Some(first) = mutations.first() else { return Ok(()) };
        mutations.iter().try_for_each(Mutation::check)?;
        if mutations.iter().any(|mutation| mutation.row != first.row) {
            return Err(Error::Argument("mutations that happen together are of one row".to_owned()));
        }
        let harmless = mutations.iter().all(Mutation::is_harmless);
        let repeat = if harmless { Repeat::Harmless } else { Repeat::Never };
        self.atomic(&first.row, mutations, None, repeat).await.map(drop)
    }

    /// Carries mutations of a row out if a condition holds; answers whether it did.
    ///
    /// # Errors
    /// As [`Table::mutate`]. Where no answer comes it is not sent again, unless [`CheckAndMutate::repeatable`] allows it.
    pub async fn check_and_mutate(&self, check: &CheckAndMutate) -> Result<bool, Error> {
        check.check()?;
        let repeat = if check.harmless { Repeat::Harmless } else { Repeat::Never };
        let condition = check.condition.to_message(check.row.clone());
        let [mutation] = &*check.mutations else {
            return self.atomic(&check.row, &check.mutations, Some(condition), repeat).await;
        };
        let (message, block) = (mutation.to_message(), mutation.to_block());
        let tries = self.tries("check and mutate", repeat);
        let call = self.core.call_region(&self.target, &check.row, Service::Client, tries, |region: &Region| {
            let request = MutateRequest { region: region.specifier(), mutation: message.clone(), condition: Some(condition.clone()) };
            Request::with_cells("Mutate", &request, vec![block.clone()])
        });
        let response: MutateResponse = call.await?.read()?;
        Ok(response.processed.unwrap_or(false))
    }

    /// Mutations of one row in one region, all or none.
    async fn atomic(
        &self,
        row: &Bytes,
        mutations: &[Mutation],
        condition: Option<crate::messages::client::Condition>,
        repeat: Repeat,
    ) -> Result<bool, Error> {
        let conditional = condition.is_some();
        let actions = mutations.iter().enumerate().map(|(index, mutation)| ActionMessage {
            index: Some(index as u32),
            mutation: Some(mutation.to_message()),
            get: None,
        });
        let action = RegionAction { atomic: Some(true), action: actions.collect(), condition, ..RegionAction::default() };
        let blocks: Vec<Bytes> = mutations.iter().map(Mutation::to_block).collect();
        let mut tries = self.tries("mutate row", repeat);
        loop {
            let region = self.core.locator.locate(&self.target.name, &self.target.regions, row, Side::At, tries.deadline).await;
            let error = match region {
                Ok(region) => {
                    let action = RegionAction { region: region.specifier(), ..action.clone() };
                    let request = Request::with_cells("Multi", &MultiRequest { region_action: vec![action] }, blocks.clone());
                    let lane = crate::connection::Lane::Short;
                    let called = self.core.pool.call(&region.server, Service::Client, lane, &request, tries.deadline).await;
                    match called.and_then(|response| read_atomic(&response.read()?, conditional)) {
                        Ok(processed) => return Ok(processed),
                        Err(error) => {
                            self.core.locator.learn(&self.target.regions, &region, &error);
                            error
                        }
                    }
                }
                Err(error) => error,
            };
            let pause = tries.next(error, &self.core.config)?;
            self.core.pause(pause).await;
        }
    }

    /// Carries many gets and mutations out, in no order: one call a server and thousand or so, in parallel. Answers stand in the order of
    /// the actions, each with its own error; those of mutations are `None`. Each mutation is atomic, all together are not.
    pub async fn batch(&self, actions: &[Action]) -> Vec<Result<Option<Row>, Error>> {
        multi(&self.core, &self.target, actions, self.deadline()).await
    }

    /// Reads many rows.
    ///
    /// # Errors
    /// The first error of any.
    pub async fn get_many(&self, gets: impl IntoIterator<Item = Get>) -> Result<Vec<Option<Row>>, Error> {
        let actions: Vec<Action> = gets.into_iter().map(Action::Get).collect();
        self.batch(&actions).await.into_iter().collect()
    }

    /// Carries many mutations out.
    ///
    /// # Errors
    /// The first error of any; others may have been carried out.
    pub async fn mutate_many(&self, mutations: impl IntoIterator<Item = Mutation>) -> Result<(), Error> {
        let actions: Vec<Action> = mutations.into_iter().map(Action::Mutate).collect();
        self.batch(&actions).await.into_iter().try_for_each(|answer| answer.map(drop))
    }

    /// Opens a scanner. Nothing is sent before the first batch is asked for.
    #[must_use]
    pub fn scan(&self, scan: Scan) -> Scanner {
        Scanner::new(self, scan)
    }

    /// Reads all rows of a scan into memory.
    ///
    /// # Errors
    /// As [`Scanner::next_batch`].
    pub async fn scan_all(&self, scan: Scan) -> Result<Vec<Row>, Error> {
        let mut scanner = self.scan(scan);
        let mut rows = Vec::new();
        while let Some(batch) = scanner.next_batch().await? {
            rows.extend(batch);
        }
        Ok(rows)
    }

    /// The region of a key, as far as is known: from the cache, or looked up.
    ///
    /// # Errors
    /// [`Error::TableNotFound`], [`Error::TableDisabled`], [`Error::RegionHole`], or the deadline.
    pub async fn region_of(&self, key: &[u8]) -> Result<Arc<Region>, Error> {
        let mut tries = self.tries("look up a region", Repeat::Read);
        loop {
            match self.core.locator.locate(&self.target.name, &self.target.regions, key, Side::At, tries.deadline).await {
                Ok(region) => return Ok(region),
                Err(error) => {
                    let pause = tries.next(error, &self.core.config)?;
                    self.core.pause(pause).await;
                }
            }
        }
    }

    /// Forgets all regions of the table: the next calls look them up.
    pub fn forget_regions(&self) {
        self.target.regions.clear();
    }

    /// Calls a coprocessor's service at the region of a row; the messages are the service's, in bytes. It must be one that reads: it is sent
    /// again when no answer comes.
    ///
    /// # Errors
    /// A server's exception, or [`Error::Deadline`].
    pub async fn call_service(&self, row: &[u8], service: &str, method: &str, request: Bytes) -> Result<Bytes, Error> {
        let call = CoprocessorServiceCall {
            row: Bytes::copy_from_slice(row),
            service_name: service.to_owned(),
            method_name: method.to_owned(),
            request,
        };
        let called = self.core.call_region(&self.target, row, Service::Client, self.tries("service", Repeat::Read), |region: &Region| {
            Request::new("ExecService", &CoprocessorServiceRequest { region: region.specifier(), call: call.clone() })
        });
        let response: CoprocessorServiceResponse = called.await?.read()?;
        Ok(response.value.value.unwrap_or_default())
    }
}

/// Whether mutations of one region were carried out.
fn read_atomic(message: &MultiResponse, conditional: bool) -> Result<bool, Error> {
    let none = || Error::Protocol("an answer to mutations of a row is empty".to_owned());
    let result = message.region_action_result.first().ok_or_else(none)?;
    let exception = result.exception.as_ref().or_else(|| result.result_or_exception.iter().find_map(|one| one.exception.as_ref()));
    if let Some(pair) = exception {
        return Err(Exception::from_pair(pair).into());
    }
    Ok(!conditional || result.processed.or(message.processed).unwrap_or(false))
}

//! Which connections there are: by server, service and lane.
//!
//! Invariant: at most one connection is being made for a place at a time, on the client's runtime, whoever waits for it. After a failure
//! calls fail at once for a moment: that moment is when the caller looks the region up again.

use super::channel::Channel;
use crate::config::ClientConfig;
use crate::error::Error;
use crate::metrics::{Counts, ServerCounts, add};
use crate::names::ServerName;
use crate::runtime::Timers;
use crate::wire::frame::{Request, Response};
use hashbrown::HashMap;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;

/// For how long a server that could not be reached is not tried again.
const NOT_AGAIN_FOR: Duration = Duration::from_millis(100);

/// What a connection serves: a server reads it when the connection opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Service {
    Client,
    Admin,
    Master,
    Registry,
}

impl Service {
    fn name(self) -> &'static str {
        match self {
            Service::Client => "ClientService",
            Service::Admin => "AdminService",
            Service::Master => "MasterService",
            Service::Registry => "ClientMetaService",
        }
    }
}

/// Short answers do not wait behind long ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    Short,
    Long,
}

#[derive(Debug)]
pub(crate) struct Pool {
    config: Arc<ClientConfig>,
    timers: Timers,
    counts: Arc<Counts>,
    places: Mutex<HashMap<(Arc<str>, u16, Service), Arc<Place>>>,
}

#[derive(Debug)]
struct Place {
    server: ServerName,
    service: Service,
    /// Room for bytes of requests.
    room: Arc<Semaphore>,
    counts: Arc<ServerCounts>,
    lanes: [Mutex<State>; 2],
}

type Made = Option<Result<Arc<Channel>, Error>>;

#[derive(Debug)]
enum State {
    None,
    Making(watch::Receiver<Made>),
    Open(Arc<Channel>),
    Failed { error: Error, at: Instant },
}

impl Pool {
    pub(crate) fn new(config: Arc<ClientConfig>, timers: Timers, counts: Arc<Counts>) -> Pool {
        Pool { config, timers, counts, places: Mutex::new(HashMap::new()) }
    }

    /// One try of a call: it ends with the answer, after `rpc_timeout`, at the deadline, or with the connection.
    pub(crate) async fn call(
        &self,
        server: &ServerName,
        service: Service,
        lane: Lane,
        request: &Request,
        deadline: Instant,
    ) -> Result<Response, Error> {
        self.patient_call(server, service, lane, request, deadline, self.config.rpc_timeout).await
    }

    /// The same, with another time than `rpc_timeout`: for what takes a server long.
    pub(crate) async fn patient_call(
        &self,
        server: &ServerName,
        service: Service,
        lane: Lane,
        request: &Request,
        deadline: Instant,
        patience: Duration,
    ) -> Result<Response, Error> {
        let place = self.place(server, service);
        let until = deadline.min(Instant::now() + patience);
        let channel = self.channel(&place, lane, until).await?;
        channel.call(request, until, &self.timers, &place.room, self.config.bytes_under_way, patience).await
    }

    /// Counts a try that is not the first.
    pub(crate) fn count_retry(&self, server: &ServerName) {
        add(&self.counts.server(server).retries, 1);
    }

    fn place(&self, server: &ServerName, service: Service) -> Arc<Place> {
        let mut places = self.places.lock();
        let place = places.entry((Arc::clone(&server.host), server.port, service)).or_insert_with(|| {
            Arc::new(Place {
                server: server.clone(),
                service,
                room: Arc::new(Semaphore::new(self.config.bytes_under_way)),
                counts: self.counts.server(server),
                lanes: [Mutex::new(State::None), Mutex::new(State::None)],
            })
        });
        Arc::clone(place)
    }

    async fn channel(&self, place: &Arc<Place>, lane: Lane, until: Instant) -> Result<Arc<Channel>, Error> {
        let index = if self.config.connections_per_server > 1 && lane == Lane::Long { 1 } else { 0 };
        let mut made = {
            let mut state = place.lanes[index].lock();
            match &*state {
                State::Open(channel) if !channel.is_closed() => return Ok(Arc::clone(channel)),
                State::Failed { error, at } if at.elapsed() < NOT_AGAIN_FOR => return Err(error.clone()),
                State::Making(made) => made.clone(),
                _ => {
                    let made = self.make(place, index);
                    *state = State::Making(made.clone());
                    made
                }
            }
        };
        let not_in_time = || Error::Connection { server: place.server.to_string(), reason: "not made in time".to_owned(), sent: false };
        let waited = self.timers.within(until, made.wait_for(Option::is_some)).await.ok_or_else(not_in_time)?;
        match waited {
            Ok(result) => result.clone().unwrap_or(Err(Error::Closed)),
            Err(_) => Err(Error::Closed),
        }
    }

    fn make(&self, place: &Arc<Place>, index: usize) -> watch::Receiver<Made> {
        let (tell, made) = watch::channel(None);
        let (place, config) = (Arc::clone(place), Arc::clone(&self.config));
        self.timers.spawn(async move {
            let connected = Channel::connect(place.server.clone(), place.service.name(), &config, Arc::clone(&place.counts)).await;
            let connected = connected.map(Arc::new);
            *place.lanes[index].lock() = match &connected {
                Ok(channel) => State::Open(Arc::clone(channel)),
                Err(error) => State::Failed { error: error.clone(), at: Instant::now() },
            };
            let _ = tell.send(Some(connected));
        });
        made
    }
}

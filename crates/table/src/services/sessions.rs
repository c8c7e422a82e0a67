//! The registry of sessions: signals to them by number, and what they LISTEN to.

use super::notifications::{Notification, NotificationBus, Outgoing};
use crate::catalog::Oid;
use async_trait::async_trait;
use parking_lot::RwLock;
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use stoa_pg::{PgError, PgResult, SqlState};
use tokio::sync::mpsc::UnboundedReceiver;

/// What a session is asked to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    /// The running statement ends with 57014.
    Cancel,
    /// As [`Signal::Cancel`], from a client that must know the secret.
    CancelWith(u32),
    /// The session ends with 57P01.
    Terminate,
}

/// A session of this node.
pub trait SessionHandle: Any + Send + Sync + Debug {
    fn pid(&self) -> u32;

    /// The database that it is connected to.
    fn database(&self) -> Oid;

    fn signal(&self, signal: Signal);
}

/// See the module.
#[async_trait]
pub trait Sessions: Send + Sync {
    /// A number that no session has had.
    fn next_pid(&self) -> u32;

    /// How many numbers were given.
    fn begun(&self) -> u32;

    /// A session of this node begins; messages of channels that it listens to arrive at what is returned. A node has at most so many.
    ///
    /// # Errors
    /// 53300.
    fn register(&self, session: Arc<dyn SessionHandle>, most: usize) -> PgResult<UnboundedReceiver<Notification>>;

    fn unregister(&self, pid: u32);

    /// The sessions of this node, by number.
    fn local(&self) -> Vec<Arc<dyn SessionHandle>>;

    /// The session of this node with a number.
    fn of(&self, pid: u32) -> Option<Arc<dyn SessionHandle>>;

    /// Sends a signal to a session of any node; whether there is one.
    async fn signal(&self, pid: u32, signal: Signal) -> bool;

    /// Does what a committed transaction asked for: LISTEN, then NOTIFY, which the sessions of its database hear.
    async fn publish(&self, pid: u32, outgoing: Outgoing);

    /// The channels that a session of this node listens to.
    fn channels(&self, pid: u32) -> Vec<String>;
}

/// The sessions of one process.
#[derive(Debug)]
pub struct LocalSessions {
    sessions: RwLock<BTreeMap<u32, Arc<dyn SessionHandle>>>,
    next_pid: AtomicU32,
    notifications: NotificationBus,
}

impl Default for LocalSessions {
    fn default() -> Self {
        Self { sessions: RwLock::default(), next_pid: AtomicU32::new(1), notifications: NotificationBus::default() }
    }
}

#[async_trait]
impl Sessions for LocalSessions {
    fn next_pid(&self) -> u32 {
        self.next_pid.fetch_add(1, Ordering::Relaxed)
    }

    fn begun(&self) -> u32 {
        self.next_pid.load(Ordering::Relaxed)
    }

    fn register(&self, session: Arc<dyn SessionHandle>, most: usize) -> PgResult<UnboundedReceiver<Notification>> {
        let (pid, database) = (session.pid(), session.database());
        let mut sessions = self.sessions.write();
        if sessions.len() >= most {
            return Err(PgError::new(SqlState::TOO_MANY_CONNECTIONS, "sorry, too many clients already"));
        }
        sessions.insert(pid, session);
        Ok(self.notifications.register(pid, database))
    }

    fn unregister(&self, pid: u32) {
        self.sessions.write().remove(&pid);
        self.notifications.unregister(pid);
    }

    fn local(&self) -> Vec<Arc<dyn SessionHandle>> {
        self.sessions.read().values().cloned().collect()
    }

    fn of(&self, pid: u32) -> Option<Arc<dyn SessionHandle>> {
        self.sessions.read().get(&pid).cloned()
    }

    async fn signal(&self, pid: u32, signal: Signal) -> bool {
        let session = self.of(pid);
        if let Some(session) = &session {
            session.signal(signal);
        }
        session.is_some()
    }

    async fn publish(&self, pid: u32, outgoing: Outgoing) {
        self.notifications.publish(pid, outgoing);
    }

    fn channels(&self, pid: u32) -> Vec<String> {
        self.notifications.channels(pid)
    }
}

//! LISTEN, NOTIFY: a bus within the process. Messages of a transaction are delivered when it commits.

use crate::catalog::Oid;
use hashbrown::{HashMap, HashSet};
use parking_lot::Mutex;
use stoa_pg::{PgError, PgResult, SqlState};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A message to a session that listens.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Notification {
    /// The session that sent it.
    pub pid: u32,
    pub channel: String,
    pub payload: String,
}

/// What a transaction will do to the bus when it commits.
#[derive(Clone, Debug, Default)]
pub struct Outgoing {
    pub messages: Vec<(String, String)>,
    pub changes: Vec<ListenChange>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ListenChange {
    Listen(String),
    Unlisten(String),
    UnlistenAll,
}

impl Outgoing {
    /// Adds a message; one that the transaction sends already is sent once.
    ///
    /// # Errors
    /// 22023 for channels and payloads that are too long or empty.
    pub fn notify(&mut self, channel: &str, payload: &str) -> PgResult<()> {
        let error = |text: &str| Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, text));
        if channel.is_empty() {
            return error("channel name cannot be empty");
        }
        if channel.len() >= 64 {
            return error("channel name too long");
        }
        if payload.len() >= 8000 {
            return error("payload string too long");
        }
        let message = (channel.to_owned(), payload.to_owned());
        if !self.messages.contains(&message) {
            self.messages.push(message);
        }
        Ok(())
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.changes.is_empty()
    }
}

#[derive(Debug)]
struct Listener {
    /// Channels are of a database.
    database: Oid,
    channels: HashSet<String>,
    sender: UnboundedSender<Notification>,
}

/// Who listens to what.
#[derive(Debug, Default)]
pub struct NotificationBus {
    listeners: Mutex<HashMap<u32, Listener>>,
}

impl NotificationBus {
    /// Adds a session that listens to nothing yet.
    pub fn register(&self, pid: u32, database: Oid) -> UnboundedReceiver<Notification> {
        let (sender, receiver) = unbounded_channel();
        self.listeners.lock().insert(pid, Listener { database, channels: HashSet::new(), sender });
        receiver
    }

    pub fn unregister(&self, pid: u32) {
        self.listeners.lock().remove(&pid);
    }

    /// Does what a committed transaction asked for: changes first, so that a session hears its own messages.
    pub fn publish(&self, pid: u32, outgoing: Outgoing) {
        if outgoing.is_empty() {
            return;
        }
        let mut listeners = self.listeners.lock();
        let database = listeners.get(&pid).map(|listener| listener.database);
        if let Some(listener) = listeners.get_mut(&pid) {
            for change in outgoing.changes {
                match change {
                    ListenChange::Listen(channel) => {
                        listener.channels.insert(channel);
                    }
                    ListenChange::Unlisten(channel) => {
                        listener.channels.remove(&channel);
                    }
                    ListenChange::UnlistenAll => listener.channels.clear(),
                }
            }
        }
        for (channel, payload) in outgoing.messages {
            for listener in listeners.values().filter(|l| Some(l.database) == database && l.channels.contains(&channel)) {
                // A receiver that is gone has nothing to hear.
                let _ = listener.sender.send(Notification { pid, channel: channel.clone(), payload: payload.clone() });
            }
        }
    }

    /// `pg_listening_channels()`.
    #[must_use]
    pub fn channels(&self, pid: u32) -> Vec<String> {
        let listeners = self.listeners.lock();
        let mut out: Vec<String> = listeners.get(&pid).map(|l| l.channels.iter().cloned().collect()).unwrap_or_default();
        out.sort();
        out
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn messages_reach_listeners_once() {
        let bus = NotificationBus::default();
        let mut one = bus.register(1, 1);
        let mut two = bus.register(2, 1);
        let mut other = bus.register(3, 7);
        bus.publish(3, Outgoing { changes: vec![ListenChange::Listen("a".into())], ..Outgoing::default() });
        bus.publish(1, Outgoing { changes: vec![ListenChange::Listen("a".into())], ..Outgoing::default() });
        let mut out = Outgoing::default();
        out.notify("a", "x").unwrap();
        out.notify("a", "x").unwrap();
        out.notify("a", "y").unwrap();
        bus.publish(2, out);
        assert_eq!(one.try_recv().unwrap(), Notification { pid: 2, channel: "a".into(), payload: "x".into() });
        assert_eq!(one.try_recv().unwrap().payload, "y");
        assert!(one.try_recv().is_err() && two.try_recv().is_err());
        assert!(other.try_recv().is_err(), "of another database");
        assert_eq!(Outgoing::default().notify("", "").unwrap_err().code().as_str(), "22023");
    }
}

//! Connections that have not proven anything yet: a bound on how many there are, and on how long each may be one.
//!
//! When all places are taken, a newcomer gets that of the oldest connection of whoever holds most places, by address; if that is
//! the newcomer's own address, it is refused. So ten thousand connections from one address take places from each other and from nobody else.
//! Time is handed in, as what has passed since any fixed moment.

use crate::attempts::place;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::net::IpAddr;
use std::time::Duration;

/// Names a connection while it is half open.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ticket(u64);

/// What becomes of a newcomer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Admission {
    /// It has a place.
    Admitted(Ticket),
    /// It has the place of another, which is to be closed and has none any more.
    Instead { of: Ticket, ticket: Ticket },
    /// It is to be closed.
    Refused,
}

/// Where a connection comes from; the Unix socket is one place.
type Place = Option<IpAddr>;

/// The places. One for the server, behind a lock: each call costs a logarithm.
#[derive(Debug)]
pub struct HalfOpen {
    limit: usize,
    time: Duration,
    next: u64,
    /// In the order in which they came, which is that of their deadlines.
    all: BTreeMap<Ticket, (Place, Duration)>,
    by_place: HashMap<Place, VecDeque<Ticket>>,
    /// Whoever holds most is last.
    counts: BTreeSet<(usize, Place)>,
}

impl HalfOpen {
    /// At most `limit` connections, each for at most `time` (PostgreSQL's `authentication_timeout` is a minute).
    #[must_use]
    pub fn new(limit: usize, time: Duration) -> Self {
        Self { limit: limit.max(1), time, next: 0, all: BTreeMap::new(), by_place: HashMap::new(), counts: BTreeSet::new() }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// A connection has come; `None` is the Unix socket.
    pub fn admit(&mut self, address: Option<IpAddr>, now: Duration) -> Admission {
        let place = address.map(place);
        let mut instead = None;
        if self.all.len() >= self.limit {
            let own = self.by_place.get(&place).map_or(0, VecDeque::len);
            let Some(&(most, greedy)) = self.counts.last() else { return Admission::Refused };
            if own >= most || greedy == place {
                return Admission::Refused;
            }
            instead = self.by_place.get(&greedy).and_then(|tickets| tickets.front().copied());
            match instead {
                Some(oldest) => self.done(oldest),
                None => return Admission::Refused,
            }
        }
        let ticket = Ticket(self.next);
        self.next = self.next.wrapping_add(1);
        self.all.insert(ticket, (place, now.saturating_add(self.time)));
        let tickets = self.by_place.entry(place).or_default();
        self.counts.remove(&(tickets.len(), place));
        tickets.push_back(ticket);
        self.counts.insert((tickets.len(), place));
        match instead {
            Some(of) => Admission::Instead { of, ticket },
            None => Admission::Admitted(ticket),
        }
    }

    /// A connection has proven who it is, or is closed. Of one that has no place, nothing.
    pub fn done(&mut self, ticket: Ticket) {
        let Some((place, _)) = self.all.remove(&ticket) else { return };
        let Some(tickets) = self.by_place.get_mut(&place) else { return };
        self.counts.remove(&(tickets.len(), place));
        tickets.retain(|&other| other != ticket);
        if tickets.is_empty() {
            self.by_place.remove(&place);
        } else {
            self.counts.insert((tickets.len(), place));
        }
    }

    /// Those whose time is over: they are to be closed, and have no place any more.
    pub fn overdue(&mut self, now: Duration) -> Vec<Ticket> {
        let over: Vec<Ticket> = self.all.iter().take_while(|(_, (_, deadline))| *deadline <= now).map(|(&ticket, _)| ticket).collect();
        over.iter().for_each(|&ticket| self.done(ticket));
        over
    }

    /// When [`overdue`](Self::overdue) is to be asked next; not at all while there is none.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Duration> {
        self.all.first_key_value().map(|(_, &(_, deadline))| deadline)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{Admission, HalfOpen, Ticket};
    use std::net::IpAddr;
    use std::time::Duration;

    fn ip(n: u8) -> Option<IpAddr> {
        Some(IpAddr::from([10, 0, 0, n]))
    }

    fn s(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    #[test]
    fn ten_thousand_from_one_address_take_places_from_each_other_only() {
        let mut half_open = HalfOpen::new(100, s(60));
        let mut refused = 0;
        for _ in 0..10_000 {
            refused += usize::from(half_open.admit(ip(1), s(0)) == Admission::Refused);
        }
        assert_eq!((half_open.len(), refused), (100, 9_900));
        for n in 2..40 {
            assert!(matches!(half_open.admit(ip(n), s(1)), Admission::Instead { of, .. } if of == Ticket(u64::from(n) - 2)));
        }
        assert!(matches!(half_open.admit(None, s(1)), Admission::Instead { .. }));
        assert_eq!(half_open.len(), 100);
        assert_eq!(half_open.overdue(s(60)).len(), 61);
        assert_eq!(half_open.next_deadline(), Some(s(61)));
        assert_eq!(half_open.overdue(s(61)).len(), 39);
        assert!(half_open.is_empty() && half_open.counts.is_empty() && half_open.by_place.is_empty());
        assert_eq!(half_open.next_deadline(), None);
    }

    #[test]
    fn a_place_that_is_given_back_is_free() {
        let mut half_open = HalfOpen::new(1, s(60));
        let Admission::Admitted(ticket) = half_open.admit(ip(1), s(0)) else { unreachable!() };
        assert_eq!(half_open.admit(ip(1), s(0)), Admission::Refused);
        half_open.done(ticket);
        half_open.done(ticket);
        assert!(matches!(half_open.admit(ip(1), s(0)), Admission::Admitted(_)));
    }
}

//! Guesses are slowed down: how long a proof by password has to wait, by where it comes from and for which role.
//!
//! **The curve.** From one address (of IPv6, one net of 64 bits), five failures cost nothing; after them each attempt waits 100 ms, 200,
//! 400, …, at most 30 s, and attempts wait in line: in parallel they are no faster. A minute without failure takes one back. A
//! role that fails from many addresses is slowed as well, after twenty failures, by 50 ms, 100, …, at most one second, not in line; ten
//! seconds take one back.
//!
//! **Nobody is locked out.** Who has proven a role from an address within a day is counted apart from all others, by that role and
//! address: neither guesses from elsewhere nor those for other roles slow him down. For everybody else a role's wait ends at a second.
//!
//! Memory is fixed when it is made. Among too many addresses those with the fewest failures are forgotten first. Time is handed
//! in, as what has passed since any fixed moment.

use crate::{Code, Refusal};
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::IpAddr;
use std::time::Duration;

/// Who waits in line for longer is refused at once.
pub const LONGEST_WAIT: Duration = Duration::from_secs(60);
const KNOWN_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// Slots of a table: a few that a key may be in, many of them.
const WAYS: usize = 8;
const SETS: usize = 1024;

/// From how many failures on, by how much, up to how much, and how fast they are forgotten.
struct Curve {
    free: u32,
    first: Duration,
    most: Duration,
    forgotten: Duration,
}

const OF_ADDRESS: Curve =
    Curve { free: 5, first: Duration::from_millis(100), most: Duration::from_secs(30), forgotten: Duration::from_secs(60) };
const OF_ROLE: Curve =
    Curve { free: 20, first: Duration::from_millis(50), most: Duration::from_secs(1), forgotten: Duration::from_secs(10) };

impl Curve {
    fn delay(&self, failures: u32) -> Duration {
        match failures.checked_sub(self.free + 1) {
            None => Duration::ZERO,
            Some(doublings) => self.first.saturating_mul(1_u32.checked_shl(doublings.min(31)).unwrap_or(u32::MAX)).min(self.most),
        }
    }
}

/// What is remembered of a key.
#[derive(Clone, Copy, Default)]
struct Entry {
    /// A hash of the key by a secret of this process; 0 is nobody.
    key: u64,
    failures: u32,
    /// When failures were last forgotten.
    at: Duration,
    /// Of known pairs, when they were proven.
    proven_at: Duration,
    /// When the next in line may go on.
    free_at: Duration,
}

impl Entry {
    fn forget(&mut self, curve: &Curve, now: Duration) {
        let passed = now.saturating_sub(self.at).as_nanos() / curve.forgotten.as_nanos().max(1);
        let passed = u32::try_from(passed).unwrap_or(u32::MAX);
        if passed > 0 {
            self.failures = self.failures.saturating_sub(passed);
            self.at = self.at.saturating_add(curve.forgotten.saturating_mul(passed)).min(now);
        }
        if self.failures == 0 {
            self.at = now;
        }
    }
}

/// A table of fixed size.
struct Table(Vec<[Entry; WAYS]>);

impl Table {
    fn new() -> Self {
        Self(vec![[Entry::default(); WAYS]; SETS])
    }

    fn set(&mut self, key: u64) -> Option<&mut [Entry; WAYS]> {
        let sets = u64::try_from(self.0.len()).ok().filter(|&sets| sets > 0)?;
        self.0.get_mut(usize::try_from(key % sets).ok()?)
    }

    fn find(&mut self, key: u64) -> Option<&mut Entry> {
        self.set(key)?.iter_mut().find(|entry| entry.key == key)
    }

    /// The key's entry, in place of that with the fewest failures, and among these the oldest, if it has none.
    fn find_or_make(&mut self, key: u64, curve: &Curve, now: Duration) -> Option<&mut Entry> {
        let set = self.set(key)?;
        if !set.iter().any(|entry| entry.key == key) {
            for entry in set.iter_mut() {
                entry.forget(curve, now);
            }
            let loser = set.iter_mut().min_by_key(|entry| (entry.key != 0, entry.failures, entry.proven_at, entry.free_at, entry.at))?;
            *loser = Entry { key, at: now, ..Entry::default() };
        }
        set.iter_mut().find(|entry| entry.key == key)
    }
}

/// The memory of failed attempts. One for the server, behind a lock: each call is a few hashes.
pub struct Attempts {
    hasher: RandomState,
    addresses: Table,
    roles: Table,
    /// By role and address together: those that were proven, with the failures that came since.
    known: Table,
}

impl std::fmt::Debug for Attempts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Attempts").finish_non_exhaustive()
    }
}

impl Default for Attempts {
    fn default() -> Self {
        Self::new()
    }
}

/// The net that is counted as one: of IPv6, whoever has an address has 64 bits of them.
pub(crate) fn place(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6((u128::from(v6) & !u128::from(u64::MAX)).into()),
        v4 => v4,
    }
}

impl Attempts {
    /// Takes its memory, about a megabyte, and never more.
    #[must_use]
    pub fn new() -> Self {
        Self { hasher: RandomState::new(), addresses: Table::new(), roles: Table::new(), known: Table::new() }
    }

    fn key(&self, of: impl Hash) -> u64 {
        self.hasher.hash_one(of).max(1)
    }

    fn keys(&self, address: IpAddr, role: &str) -> (u64, u64, u64) {
        let place = place(address);
        (self.key(place), self.key(role), self.key((place, role)))
    }

    fn is_known(&mut self, pair: u64, now: Duration) -> bool {
        self.known.find(pair).is_some_and(|entry| now.saturating_sub(entry.proven_at) < KNOWN_FOR)
    }

    /// How long an attempt has to wait before its proof is looked at. Each call takes a place in line.
    ///
    /// # Errors
    /// 53300 if that would be longer than [`LONGEST_WAIT`].
    pub fn begin(&mut self, address: IpAddr, role: &str, now: Duration) -> Result<Duration, Refusal> {
        let (place, role, pair) = self.keys(address, role);
        let known = self.is_known(pair, now);
        let line = if known { self.known.find(pair) } else { self.addresses.find(place) };
        let mut wait = Duration::ZERO;
        if let Some(entry) = line {
            entry.forget(&OF_ADDRESS, now);
            let delay = OF_ADDRESS.delay(entry.failures);
            if !delay.is_zero() {
                let free_at = entry.free_at.max(now).saturating_add(delay);
                wait = free_at.saturating_sub(now);
                if wait > LONGEST_WAIT {
                    let refusal = Refusal::new(Code::TooManyConnections, "too many failed attempts to log in from this address");
                    return Err(refusal.hint("Wait a minute before the next attempt."));
                }
                entry.free_at = free_at;
            }
        }
        if let Some(entry) = self.roles.find(role).filter(|_| !known) {
            entry.forget(&OF_ROLE, now);
            wait = wait.max(OF_ROLE.delay(entry.failures));
        }
        Ok(wait)
    }

    /// The proof was wrong, or was not given.
    pub fn failed(&mut self, address: IpAddr, role: &str, now: Duration) {
        let (place, role, pair) = self.keys(address, role);
        if self.is_known(pair, now) {
            return count(self.known.find(pair), &OF_ADDRESS, now);
        }
        count(self.addresses.find_or_make(place, &OF_ADDRESS, now), &OF_ADDRESS, now);
        count(self.roles.find_or_make(role, &OF_ROLE, now), &OF_ROLE, now);
    }

    /// The role is proven. What others from there have failed is not forgotten: who has one password could guess another by it.
    pub fn succeeded(&mut self, address: IpAddr, role: &str, now: Duration) {
        let (_, _, pair) = self.keys(address, role);
        if let Some(entry) = self.known.find_or_make(pair, &OF_ADDRESS, now) {
            *entry = Entry { key: pair, failures: 0, at: now, proven_at: now, free_at: now };
        }
    }
}

fn count(entry: Option<&mut Entry>, curve: &Curve, now: Duration) {
    if let Some(entry) = entry {
        entry.forget(curve, now);
        // More than this many make no difference, and would take longer to forget.
        entry.failures = entry.failures.saturating_add(1).min(curve.free + 16);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{Attempts, LONGEST_WAIT};
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
    use std::time::Duration;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    const THERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2));

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn failures_from_an_address_double_the_wait_to_a_limit_and_are_forgotten() {
        let mut attempts = Attempts::new();
        let mut now = ms(1_000_000);
        let mut waits = Vec::new();
        for n in 0..16 {
            let wait = attempts.begin(HERE, &format!("role{n}"), now).unwrap();
            waits.push(u64::try_from(wait.as_millis()).unwrap());
            now += wait;
            attempts.failed(HERE, &format!("role{n}"), now);
        }
        assert_eq!(waits, [0, 0, 0, 0, 0, 0, 100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 30000]);
        assert_eq!(attempts.begin(THERE, "role1", now).unwrap(), Duration::ZERO);
        let later = now + ms(60_000 * 30);
        assert_eq!(attempts.begin(HERE, "role1", later).unwrap(), Duration::ZERO);
    }

    #[test]
    fn attempts_in_parallel_wait_in_line_and_are_refused_when_it_is_long() {
        let mut attempts = Attempts::new();
        let now = ms(5);
        (0..12).for_each(|_| attempts.failed(HERE, "a", now));
        let waits: Vec<_> = (0..40).map_while(|_| attempts.begin(HERE, "a", now).ok()).collect();
        assert_eq!(waits.len(), 9);
        assert!(waits.windows(2).all(|pair| pair[0] < pair[1]) && waits.iter().all(|&wait| wait <= LONGEST_WAIT));
        assert_eq!(attempts.begin(HERE, "a", now).unwrap_err().code.sqlstate(), "53300");
    }

    #[test]
    fn a_role_under_attack_is_slowed_but_never_locked_out_and_not_for_those_who_are_known() {
        let mut attempts = Attempts::new();
        let now = ms(77);
        attempts.succeeded(HERE, "anna", now);
        for n in 0..100_000_u32 {
            attempts.failed(IpAddr::V4(Ipv4Addr::from(0x0a00_0000 + n)), "anna", now);
        }
        assert_eq!(attempts.begin(HERE, "anna", now).unwrap(), Duration::ZERO);
        assert_eq!(attempts.begin(THERE, "anna", now).unwrap(), ms(1000));
        assert_eq!(attempts.begin(THERE, "bob", now).unwrap(), Duration::ZERO);
        // Neighbours who guess slow themselves down, not those who are known; who is known is slowed by his own failures.
        (0..30).for_each(|_| attempts.failed(HERE, "bob", now));
        assert_eq!(attempts.begin(HERE, "anna", now).unwrap(), Duration::ZERO);
        (0..7).for_each(|_| attempts.failed(HERE, "anna", now));
        assert_eq!(attempts.begin(HERE, "anna", now).unwrap(), ms(200));
        // A proof of one role does not clear guesses of another.
        attempts.succeeded(HERE, "anna", now);
        assert!(attempts.begin(HERE, "bob", now).unwrap() > ms(10_000));
    }

    #[test]
    fn a_net_of_ipv6_is_one_address_and_a_flood_of_nets_does_not_hide_the_worst() {
        let mut attempts = Attempts::new();
        let v6 = |net: u128, host: u128| IpAddr::V6(Ipv6Addr::from((net << 64) | host));
        (0..20).for_each(|host| attempts.failed(v6(0x2001_0db8, host), "r", ms(1)));
        for net in 0..50_000 {
            attempts.failed(v6(0x3000_0000 + net, 1), "s", ms(2));
        }
        assert!(attempts.begin(v6(0x2001_0db8, 99), "t", ms(3)).unwrap() > ms(20_000));
    }
}

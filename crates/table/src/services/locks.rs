//! Locks on rows, tables and advisory keys, in memory: modes, queues, deadlocks.
//!
//! A lock is held by a **group**: one session, with its transaction. Waiters stand in a queue, first come first served; a group
//! that strengthens a lock it holds goes before them. One that has waited a while looks for itself in the wait-for graph.
//!
//! A transaction that locks very many rows keeps most of those locks as hashes alone ([`ManyRows`]), at about ten bytes each. Nothing
//! less exact would do: two transactions that each lock a million rows ask for a million rows of the other, and one wrong "yes" in each
//! direction is a deadlock between strangers.
//!
//! Invariants: two groups never hold conflicting modes of one lock. A waiter is in its lock's queue for exactly as long as its
//! future lives: a cancelled statement leaves no trace.

mod modes;

use async_trait::async_trait;
use hashbrown::{HashMap, HashTable};
use modes::conflicts;
pub use modes::{LockId, LockStrength, LockWait, Mode, TableLockMode};
use parking_lot::{Mutex, RwLock};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use stoa_pg::{PgError, SqlState};
use tokio::sync::oneshot;

/// Who holds and waits for locks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct GroupId(pub u64);

/// A lock that is held or waited for, as `pg_locks` tells it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LockInfo {
    pub id: LockId,
    pub group: GroupId,
    pub mode: Mode,
    pub granted: bool,
}

impl LockInfo {
    /// The mode as `pg_locks` names it.
    #[must_use]
    pub fn mode_name(&self) -> &'static str {
        match self.id {
            LockId::Row(_) => "ShareLock",
            LockId::Table(_) => TableLockMode::ALL.get(usize::from(self.mode.0)).map_or("AccessExclusiveLock", |m| m.name()),
            LockId::Advisory(..) => {
                if self.mode == Mode::ADVISORY_SHARED {
                    "ShareLock"
                } else {
                    "ExclusiveLock"
                }
            }
        }
    }
}

/// Whether and how long to wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// For at most this long.
    Until(Option<Duration>),
    Never,
}

/// How an acquisition ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Acquired {
    /// The group holds the mode now; `new`: it held none of the lock before.
    Granted {
        new: bool,
    },
    /// [`Wait::Never`], and others are in the way.
    Busy,
    TimedOut,
    /// The groups of the cycle, this one first.
    Deadlock(Vec<GroupId>),
}

/// What a lock that was not granted means to the user; `what` is the thing in words: `relation "t"`.
#[must_use]
pub fn lock_failure(outcome: &Acquired, what: &str) -> PgError {
    match outcome {
        Acquired::TimedOut => PgError::new(SqlState::LOCK_NOT_AVAILABLE, "canceling statement due to lock timeout"),
        Acquired::Deadlock(cycle) => {
            let mut detail = String::new();
            for (at, group) in cycle.iter().enumerate() {
                let next = cycle.get(at + 1).or_else(|| cycle.first()).map_or(group.0, |g| g.0);
                if at > 0 {
                    detail.push('\n');
                }
                detail.push_str(&format!("Process {} waits for a lock on {what}; blocked by process {next}.", group.0));
            }
            PgError::new(SqlState::DEADLOCK_DETECTED, "deadlock detected").detail(detail).hint("See server log for query details.")
        }
        Acquired::Busy | Acquired::Granted { .. } => PgError::new(SqlState::LOCK_NOT_AVAILABLE, format!("could not obtain lock on {what}")),
    }
}

/// What a group held of a lock before it was granted a mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grant {
    /// Nothing.
    New,
    /// Other modes.
    Stronger,
    /// The mode.
    Held,
}

/// What [`Locks::try_acquire`] says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tried {
    Granted(Grant),
    /// Others are in the way.
    Busy,
    /// It is not known here: [`Locks::acquire`] asks.
    Unknown,
}

/// What a group wants of locks.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub group: GroupId,
    pub mode: Mode,
    pub wait: Wait,
    /// How long the group waits before it looks for a deadlock.
    pub deadlock_timeout: Duration,
    /// With [`Wait::Never`]: goes on behind locks that others have.
    pub skip: bool,
}

/// Locks on rows, tables and advisory keys.
#[async_trait]
pub trait Locks: Send + Sync {
    /// How long a group waits before it looks for a deadlock, unless it says otherwise.
    fn deadlock_timeout(&self) -> Duration;

    /// Takes a lock, if it is known at once whether nobody is in the way.
    fn try_acquire(&self, group: GroupId, id: LockId, mode: Mode) -> Tried;

    /// Takes locks in their order, waiting for those in the way. `taken` is called for each when it is held, with its position and whether the
    /// group held none of it before; and for each that was skipped, with `None`. Who gives up waiting holds the locks for which `taken` was called.
    ///
    /// # Errors
    /// Why the lock at a position was not granted. Those before it are held.
    async fn acquire(&self, wanted: Wanted, ids: &[LockId], taken: &mut (dyn FnMut(usize, Option<bool>) + Send)) -> Result<(), Acquired>;

    /// Whether a group holds a lock in other modes than this one: it would be strengthened.
    fn strengthens(&self, group: GroupId, id: LockId, mode: Mode) -> bool;

    /// Whether others hold a lock in a mode.
    fn others_hold(&self, group: GroupId, id: LockId, mode: Mode) -> bool;

    /// Keeps locks of many rows of a group in little memory; gives back those that are kept one by one.
    fn gather(&self, group: GroupId, locks: Vec<LockId>) -> Vec<LockId>;

    /// Where the sets of [`Locks::gather`] stand now: locks that are gathered later go into others.
    fn seal(&self, group: GroupId) -> usize;

    /// Gives up gathered locks, but for the first sets.
    fn release_many(&self, group: GroupId, keep: usize);

    /// Gives up all modes of locks.
    fn release(&self, group: GroupId, ids: &[LockId]);

    /// Gives up one mode of a lock; whether the group has others of it.
    fn release_mode(&self, group: GroupId, id: LockId, mode: Mode) -> bool;

    /// Every lock of tables and advisory keys that is held, and every lock that is waited for, of this node: for `pg_locks`.
    fn overview(&self) -> Vec<LockInfo>;

    /// What a group of this node waits for.
    fn waits_for(&self, group: GroupId) -> Option<LockId>;

    /// The groups in the way of a waiting group.
    fn blockers(&self, group: GroupId) -> Vec<GroupId>;
}

#[async_trait]
impl Locks for LockManager {
    fn deadlock_timeout(&self) -> Duration {
        self.deadlock_timeout
    }

    #[inline]
    fn try_acquire(&self, group: GroupId, id: LockId, mode: Mode) -> Tried {
        LockManager::try_acquire(self, group, id, mode).map_or(Tried::Busy, Tried::Granted)
    }

    async fn acquire(&self, wanted: Wanted, ids: &[LockId], taken: &mut (dyn FnMut(usize, Option<bool>) + Send)) -> Result<(), Acquired> {
        for (at, id) in ids.iter().enumerate() {
            match self.acquire_watchful(wanted.group, *id, wanted.mode, wanted.wait, wanted.deadlock_timeout).await {
                Acquired::Granted { new } => taken(at, Some(new)),
                Acquired::Busy if wanted.skip => taken(at, None),
                other => return Err(other),
            }
        }
        Ok(())
    }

    fn strengthens(&self, group: GroupId, id: LockId, mode: Mode) -> bool {
        LockManager::strengthens(self, group, id, mode)
    }

    fn others_hold(&self, group: GroupId, id: LockId, mode: Mode) -> bool {
        LockManager::others_hold(self, group, id, mode)
    }

    fn gather(&self, group: GroupId, locks: Vec<LockId>) -> Vec<LockId> {
        LockManager::gather(self, group, locks)
    }

    fn seal(&self, group: GroupId) -> usize {
        LockManager::seal(self, group)
    }

    fn release_many(&self, group: GroupId, keep: usize) {
        LockManager::release_many(self, group, keep);
    }

    fn release(&self, group: GroupId, ids: &[LockId]) {
        ids.iter().for_each(|id| LockManager::release(self, group, *id));
    }

    fn release_mode(&self, group: GroupId, id: LockId, mode: Mode) -> bool {
        LockManager::release_mode(self, group, id, mode)
    }

    fn overview(&self) -> Vec<LockInfo> {
        LockManager::overview(self)
    }

    fn waits_for(&self, group: GroupId) -> Option<LockId> {
        LockManager::waits_for(self, group)
    }

    fn blockers(&self, group: GroupId) -> Vec<GroupId> {
        LockManager::blockers(self, group)
    }
}

#[derive(Clone, Copy, Debug)]
struct Holder {
    group: GroupId,
    /// Bits of the modes held.
    modes: u8,
}

#[derive(Debug)]
struct Waiter {
    group: GroupId,
    mode: Mode,
    ticket: u64,
    grant: oneshot::Sender<()>,
}

#[derive(Debug, Default)]
struct Entry {
    /// The first holder lies in the entry: nearly all locks have one.
    first: Option<Holder>,
    more: Vec<Holder>,
    queue: VecDeque<Waiter>,
}

impl Entry {
    fn holders(&self) -> impl Iterator<Item = &Holder> {
        self.first.iter().chain(&self.more)
    }

    fn held_by(&mut self, group: GroupId) -> Option<&mut Holder> {
        self.first.iter_mut().chain(&mut self.more).find(|h| h.group == group)
    }

    fn add(&mut self, group: GroupId, mode: Mode) -> Grant {
        if let Some(holder) = self.held_by(group) {
            let grant = if holder.modes & mode.bit() == 0 { Grant::Stronger } else { Grant::Held };
            holder.modes |= mode.bit();
            return grant;
        }
        let holder = Holder { group, modes: mode.bit() };
        if self.first.is_none() {
            self.first = Some(holder)
        } else {
            self.more.push(holder)
        }
        Grant::New
    }

    fn remove(&mut self, group: GroupId) {
        if self.first.is_some_and(|h| h.group == group) {
            self.first = self.more.pop();
        } else {
            self.more.retain(|h| h.group != group);
        }
    }

    /// Modes that other groups hold.
    fn others(&self, group: GroupId) -> u8 {
        self.holders().filter(|h| h.group != group).fold(0, |all, h| all | h.modes)
    }

    /// Whether one group alone holds it, and nobody waits.
    fn is_plain(&self, group: GroupId) -> Option<Mode> {
        let holder = self.first.filter(|h| h.group == group && self.more.is_empty() && self.queue.is_empty())?;
        Mode::OF_ROWS.into_iter().rev().find(|mode| holder.modes & mode.bit() != 0)
    }

    /// Who waits for this group already, and would be waited for. With rows it is a search that tells, as in PostgreSQL, where one waits
    /// for the other's transaction.
    fn faces(&self, group: GroupId, id: LockId, mode: Mode) -> Option<GroupId> {
        if matches!(id, LockId::Row(_)) {
            return None;
        }
        let held = |group| self.holders().find(|h| h.group == group).map_or(0, |h| h.modes);
        let (own, against) = (held(group), conflicts(id, mode));
        let faces = |w: &&Waiter| conflicts(id, w.mode) & own != 0 && held(w.group) & against != 0;
        self.queue.iter().find(faces).map(|w| w.group)
    }

    fn is_free(&self) -> bool {
        self.first.is_none() && self.queue.is_empty()
    }

    /// Gives the lock to waiters that nothing is in the way of, in their order.
    fn grant(&mut self, id: LockId, many: &ManyLocks) {
        if self.queue.is_empty() {
            return;
        }
        let mut ahead = 0u8;
        let mut at = 0;
        while let Some(waiter) = self.queue.get(at) {
            let (group, mode) = (waiter.group, waiter.mode);
            let against = conflicts(id, mode);
            let upgrade = self.holders().any(|h| h.group == group);
            if (self.others(group) | many.others(group, id)) & against != 0 || (!upgrade && ahead & against != 0) {
                ahead |= mode.bit();
                at += 1;
                continue;
            }
            if let Some(waiter) = self.queue.remove(at) {
                let grant = self.add(group, mode);
                if waiter.grant.send(()).is_err() && grant == Grant::New {
                    // Its statement was cancelled in this moment.
                    self.remove(group);
                }
            }
        }
    }
}

/// Locks of many rows of one group in one mode; full ones are followed by larger ones.
#[derive(Debug)]
struct ManyRows {
    mode: Mode,
    hashes: HashTable<u64>,
    /// Rows that still go in.
    room: usize,
}

impl ManyRows {
    fn new(mode: Mode, room: usize) -> Self {
        Self { mode, hashes: HashTable::with_capacity(room), room }
    }

    fn contains(&self, hash: u64) -> bool {
        self.hashes.find(spread(hash), |own| *own == hash).is_some()
    }

    fn insert(&mut self, hash: u64) {
        if let hashbrown::hash_table::Entry::Vacant(place) = self.hashes.entry(spread(hash), |own| *own == hash, |own| spread(*own)) {
            place.insert(hash);
        }
        self.room -= 1;
    }
}

#[derive(Debug, Default)]
struct ManyLocks {
    any: AtomicBool,
    /// The only group that has some, if there is one: it need not look for others. Groups are numbered from 1.
    only: AtomicU64,
    groups: RwLock<Vec<(GroupId, Vec<ManyRows>)>>,
}

/// Rows of the first set of a group, as many as a table of 2¹⁶ places takes; each next one takes twice as many.
const FIRST_SET: usize = 7 << 13;
const LARGEST_SET: usize = 7 << 19;

/// Bits of a row's hash that its table's shard does not use up.
fn spread(hash: u64) -> u64 {
    hash.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl ManyLocks {
    /// Modes in which other groups may hold a row.
    fn others(&self, group: GroupId, id: LockId) -> u8 {
        let LockId::Row(hash) = id else { return 0 };
        if !self.any.load(Ordering::Acquire) || self.only.load(Ordering::Acquire) == group.0 {
            return 0;
        }
        let groups = self.groups.read();
        let others = groups.iter().filter(|(g, _)| *g != group).flat_map(|(_, sets)| sets);
        others.filter(|f| f.contains(hash)).fold(0, |all, f| all | f.mode.bit())
    }

    /// The other groups that may hold a row in a mode of `against`.
    fn holders(&self, group: GroupId, id: LockId, against: u8) -> Vec<GroupId> {
        let LockId::Row(hash) = id else { return Vec::new() };
        if !self.any.load(Ordering::Acquire) {
            return Vec::new();
        }
        let may = |f: &ManyRows| f.mode.bit() & against != 0 && f.contains(hash);
        let groups = self.groups.read();
        groups.iter().filter(|(g, sets)| *g != group && sets.iter().any(may)).map(|(g, _)| *g).collect()
    }

    fn add(&self, group: GroupId, rows: &[(u64, Mode)]) {
        let mut groups = self.groups.write();
        let at = match groups.iter().position(|(g, _)| *g == group) {
            Some(at) => at,
            None => {
                groups.push((group, Vec::new()));
                groups.len() - 1
            }
        };
        let Some((_, sets)) = groups.get_mut(at) else { return };
        for (hash, mode) in rows {
            let open = match sets.iter().position(|f| f.mode == *mode && f.room > 0) {
                Some(open) => open,
                None => {
                    let of_mode = sets.iter().filter(|f| f.mode == *mode).count().min(16);
                    let room = (FIRST_SET << of_mode).min(LARGEST_SET);
                    sets.push(ManyRows::new(*mode, room));
                    sets.len() - 1
                }
            };
            if let Some(open) = sets.get_mut(open) {
                open.insert(*hash);
            }
        }
        self.tell(&groups);
    }

    /// Says to those who do not look which groups there are; the list is locked.
    fn tell(&self, groups: &[(GroupId, Vec<ManyRows>)]) {
        let only = match groups {
            [(group, _)] => group.0,
            _ => 0,
        };
        self.only.store(only, Ordering::Release);
        self.any.store(!groups.is_empty(), Ordering::Release);
    }
}

const SHARDS: usize = 64;

/// How often one that goes on waiting looks for a cycle that another one has closed.
const LATER_LOOKS: Duration = Duration::from_secs(30);

/// All locks of a database.
#[derive(Debug)]
pub struct LockManager {
    shards: Vec<Mutex<HashMap<LockId, Entry>>>,
    /// What each waiting group waits for.
    waiting: Mutex<HashMap<GroupId, (LockId, Mode)>>,
    /// One search at a time: of two groups in one cycle, one finds it and leaves.
    search: Mutex<()>,
    tickets: AtomicU64,
    deadlock_timeout: Duration,
    many: ManyLocks,
}

impl Default for LockManager {
    fn default() -> Self {
        Self::new(Duration::from_millis(100))
    }
}

impl LockManager {
    /// `deadlock_timeout`: how long a group waits before it looks for a deadlock.
    #[must_use]
    pub fn new(deadlock_timeout: Duration) -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            waiting: Mutex::default(),
            search: Mutex::default(),
            tickets: AtomicU64::new(0),
            deadlock_timeout,
            many: ManyLocks::default(),
        }
    }

    fn shard(&self, id: LockId) -> &Mutex<HashMap<LockId, Entry>> {
        let hash = match id {
            LockId::Row(hash) => hash,
            LockId::Table(oid) => u64::from(oid).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32,
            LockId::Advisory(kind, database, key) => {
                (key ^ u64::from(kind) ^ (u64::from(database) << 8)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
            }
        };
        // There are SHARDS of them.
        &self.shards[(hash % SHARDS as u64) as usize]
    }

    /// Takes a lock if nobody is in the way; `None` if somebody is.
    #[must_use]
    pub fn try_acquire(&self, group: GroupId, id: LockId, mode: Mode) -> Option<Grant> {
        let mut shard = self.shard(id).lock();
        let entry = shard.entry(id).or_default();
        let acquired = self.try_entry(entry, group, id, mode);
        if entry.is_free() {
            shard.remove(&id);
        }
        acquired
    }

    fn try_entry(&self, entry: &mut Entry, group: GroupId, id: LockId, mode: Mode) -> Option<Grant> {
        let against = conflicts(id, mode);
        let held = entry.held_by(group).map(|h| h.modes);
        if held.is_some_and(|modes| modes & mode.bit() != 0) {
            return Some(Grant::Held);
        }
        if (entry.others(group) | self.many.others(group, id)) & against != 0 {
            return None;
        }
        // Who shares a row with its holders goes before those who wait for it alone, as in PostgreSQL.
        let fair = !matches!(id, LockId::Row(_));
        let queued = entry.queue.iter().fold(0u8, |all, w| all | w.mode.bit());
        if fair && held.is_none() && queued & against != 0 {
            return None;
        }
        Some(entry.add(group, mode))
    }

    /// Whether a group holds a lock in other modes than this one: it would be strengthened.
    #[must_use]
    pub fn strengthens(&self, group: GroupId, id: LockId, mode: Mode) -> bool {
        let mut shard = self.shard(id).lock();
        shard.get_mut(&id).and_then(|entry| entry.held_by(group)).is_some_and(|holder| holder.modes & mode.bit() == 0)
    }

    /// Whether others hold a lock in a mode.
    #[must_use]
    pub fn others_hold(&self, group: GroupId, id: LockId, mode: Mode) -> bool {
        let shard = self.shard(id).lock();
        let single = shard.get(&id).map_or(0, |entry| entry.others(group));
        (single | self.many.others(group, id)) & mode.bit() != 0
    }

    /// Takes a lock, waiting for those in the way.
    pub async fn acquire(&self, group: GroupId, id: LockId, mode: Mode, wait: Wait) -> Acquired {
        self.acquire_watchful(group, id, mode, wait, self.deadlock_timeout).await
    }

    /// As [`LockManager::acquire`], looking for a deadlock after the group's own `deadlock_timeout`.
    pub async fn acquire_watchful(&self, group: GroupId, id: LockId, mode: Mode, wait: Wait, deadlock_timeout: Duration) -> Acquired {
        let (ticket, granted, held_before) = {
            let mut shard = self.shard(id).lock();
            let entry = shard.entry(id).or_default();
            if let Some(grant) = self.try_entry(entry, group, id, mode) {
                return Acquired::Granted { new: grant == Grant::New };
            }
            if wait == Wait::Never {
                if entry.is_free() {
                    shard.remove(&id);
                }
                return Acquired::Busy;
            }
            if let Some(other) = entry.faces(group, id, mode) {
                return Acquired::Deadlock(vec![group, other]);
            }
            let ticket = self.tickets.fetch_add(1, Ordering::Relaxed);
            let (grant, granted) = oneshot::channel();
            let waiter = Waiter { group, mode, ticket, grant };
            // Asked here, not later: as soon as the shard is let go the lock may be granted.
            let held_before = entry.held_by(group).is_some();
            entry.queue.push_back(waiter);
            (ticket, granted, held_before)
        };
        self.waiting.lock().insert(group, (id, mode));
        let mut place = InQueue { locks: self, group, id, mode, ticket, granted: false };
        let outcome = self.wait(&mut place, granted, wait, deadlock_timeout).await;
        match outcome {
            Ok(()) => {
                place.granted = true;
                Acquired::Granted { new: !held_before }
            }
            Err(other) => other,
        }
    }

    async fn wait(
        &self,
        place: &mut InQueue<'_>,
        mut granted: oneshot::Receiver<()>,
        wait: Wait,
        deadlock_timeout: Duration,
    ) -> Result<(), Acquired> {
        let deadline = match wait {
            Wait::Until(Some(timeout)) => Instant::now().checked_add(timeout),
            _ => None,
        };
        let mut pause = deadlock_timeout.max(Duration::from_millis(1));
        let (mut first, mut closed) = (true, false);
        loop {
            let step = deadline.map_or(pause, |d| d.saturating_duration_since(Instant::now()).min(pause));
            if let Ok(result) = tokio::time::timeout(step, &mut granted).await {
                return result.map_err(|_| Acquired::Busy);
            }
            if deadline.is_some_and(|d| Instant::now() >= d) {
                return Err(Acquired::TimedOut);
            }
            // Cycles that are closed later are found by those who close them, as in PostgreSQL. Should one stay for long, this one ends it all the same.
            let before = std::mem::replace(&mut closed, !first && self.cycle_of(place.group).is_some());
            if (first || (before && closed))
                && let Some(cycle) = self.find_cycle(place)
            {
                return Err(Acquired::Deadlock(cycle));
            }
            first = false;
            pause = deadlock_timeout.max(LATER_LOOKS);
        }
    }

    /// Moves locks of rows that nobody waits for into sets of hashes; gives back the others.
    #[must_use]
    pub fn gather(&self, group: GroupId, locks: Vec<LockId>) -> Vec<LockId> {
        let plain = |id: &LockId| match id {
            LockId::Row(hash) => self.shard(*id).lock().get(id).and_then(|e| e.is_plain(group)).map(|mode| (*hash, mode)),
            _ => None,
        };
        let rows: Vec<(u64, Mode)> = locks.iter().filter_map(plain).collect();
        // They are in both places for a moment: never in none.
        self.many.add(group, &rows);
        let mut shrunk = 0;

        locks
            .into_iter()
            .filter(|id| {
                let mut shard = self.shard(*id).lock();
                let goes = matches!(id, LockId::Row(_)) && shard.get(id).is_some_and(|e| e.is_plain(group).is_some());
                if goes {
                    shard.remove(id);
                    if shard.is_empty() && shrunk < SHARDS {
                        shrunk += 1;
                        shard.shrink_to(64);
                    }
                }
                !goes
            })
            .collect()
    }

    /// Where the sets of a group stand now: locks that are gathered later go into others.
    #[must_use]
    pub fn seal(&self, group: GroupId) -> usize {
        if !self.many.any.load(Ordering::Acquire) {
            return 0;
        }
        let mut groups = self.many.groups.write();
        let Some((_, sets)) = groups.iter_mut().find(|(g, _)| *g == group) else { return 0 };
        sets.iter_mut().for_each(|f| f.room = 0);
        sets.len()
    }

    /// Gives up the locks of many rows, but for the first sets.
    pub fn release_many(&self, group: GroupId, keep: usize) {
        if !self.many.any.load(Ordering::Acquire) {
            return;
        }
        {
            let mut groups = self.many.groups.write();
            let Some(at) = groups.iter().position(|(g, _)| *g == group) else { return };
            if keep == 0 {
                groups.swap_remove(at);
            } else if let Some((_, sets)) = groups.get_mut(at) {
                sets.truncate(keep);
            }
            self.many.tell(&groups);
        }
        for shard in &self.shards {
            let mut shard = shard.lock();
            shard.retain(|id, entry| {
                entry.grant(*id, &self.many);
                !entry.is_free()
            });
        }
    }

    /// Gives up all modes of a lock.
    pub fn release(&self, group: GroupId, id: LockId) {
        let mut shard = self.shard(id).lock();
        if let Some(entry) = shard.get_mut(&id) {
            entry.remove(group);
            entry.grant(id, &self.many);
            if entry.is_free() {
                shard.remove(&id);
            }
        }
    }

    /// Gives up one mode of a lock; whether the group has others of it.
    pub fn release_mode(&self, group: GroupId, id: LockId, mode: Mode) -> bool {
        let mut shard = self.shard(id).lock();
        let mut left = 0;
        if let Some(entry) = shard.get_mut(&id) {
            if let Some(holder) = entry.held_by(group) {
                holder.modes &= !mode.bit();
                left = holder.modes;
                if left == 0 {
                    entry.remove(group);
                }
            }
            entry.grant(id, &self.many);
            if entry.is_free() {
                shard.remove(&id);
            }
        }
        left != 0
    }

    /// Every lock of tables and advisory keys that is held, and every lock that is waited for: for `pg_locks`.
    #[must_use]
    pub fn overview(&self) -> Vec<LockInfo> {
        let mut out = Vec::new();
        for shard in &self.shards {
            for (id, entry) in shard.lock().iter() {
                if !matches!(id, LockId::Row(_)) {
                    for holder in entry.holders() {
                        let held = (0..8).map(Mode).filter(|mode| holder.modes & mode.bit() != 0);
                        out.extend(held.map(|mode| LockInfo { id: *id, group: holder.group, mode, granted: true }));
                    }
                }
                out.extend(entry.queue.iter().map(|w| LockInfo { id: *id, group: w.group, mode: w.mode, granted: false }));
            }
        }
        out
    }

    /// What a group waits for.
    #[must_use]
    pub fn waits_for(&self, group: GroupId) -> Option<LockId> {
        self.waiting.lock().get(&group).map(|(id, _)| *id)
    }

    /// The groups in the way of a waiting group.
    #[must_use]
    pub fn blockers(&self, group: GroupId) -> Vec<GroupId> {
        let Some((id, mode)) = self.waiting.lock().get(&group).copied() else { return Vec::new() };
        let against = conflicts(id, mode);
        let shard = self.shard(id).lock();
        let Some(entry) = shard.get(&id) else { return Vec::new() };
        let mut out = self.many.holders(group, id, against);
        out.extend(entry.holders().filter(|h| h.group != group && h.modes & against != 0).map(|h| h.group));
        if !entry.holders().any(|h| h.group == group) {
            out.extend(entry.queue.iter().take_while(|w| w.group != group).filter(|w| w.mode.bit() & against != 0).map(|w| w.group));
        }
        out
    }

    /// A cycle through the group that waits at `place`. The group leaves the graph at once if there is one that no other order of
    /// waiters undoes.
    fn find_cycle(&self, place: &InQueue<'_>) -> Option<Vec<GroupId>> {
        let _one = self.search.lock();
        let mut moved = Vec::new();
        loop {
            let cycle = self.cycle_of(place.group)?;
            // The one who looks goes before others last, as in PostgreSQL.
            let edges: Vec<_> = cycle.iter().copied().zip(cycle.iter().copied().cycle().skip(1)).collect();
            let undone = edges.into_iter().rev().find(|edge| !moved.contains(edge) && self.overtake(edge.0, edge.1));
            match undone {
                // It does not go back behind the one that it has overtaken.
                Some((waiter, ahead)) => moved.extend([(waiter, ahead), (ahead, waiter)]),
                None => {
                    place.leave();
                    return Some(cycle);
                }
            }
        }
    }

    /// Lets a group that waits for a lock go before another one that waits for it and does not hold it; whether it is so.
    fn overtake(&self, group: GroupId, ahead: GroupId) -> bool {
        let Some((id, mode)) = self.waiting.lock().get(&group).copied() else { return false };
        let mut shard = self.shard(id).lock();
        let Some(entry) = shard.get_mut(&id) else { return false };
        let against = conflicts(id, mode);
        if entry.holders().any(|h| h.group == ahead && h.modes & against != 0) || self.many.holders(group, id, against).contains(&ahead) {
            return false;
        }
        let place = |entry: &Entry, group| entry.queue.iter().position(|w| w.group == group);
        let (Some(own), Some(other)) = (place(entry, group), place(entry, ahead)) else { return false };
        if own < other {
            return false;
        }
        if let Some(waiter) = entry.queue.remove(own) {
            entry.queue.insert(other, waiter);
        }
        entry.grant(id, &self.many);
        true
    }

    /// A cycle of groups that wait for each other, the first of them this one. Holders are followed before those who wait, and these in
    /// their order.
    fn cycle_of(&self, start: GroupId) -> Option<Vec<GroupId>> {
        let blockers = |group| self.blockers(group).into_iter().rev().collect::<Vec<_>>();
        let mut path = vec![(start, blockers(start))];
        let mut seen = std::collections::HashSet::from([start]);
        while let Some((_, next)) = path.last_mut() {
            match next.pop() {
                None => {
                    path.pop();
                }
                Some(group) if group == start => {
                    return Some(path.into_iter().map(|(group, _)| group).collect());
                }
                Some(group) => {
                    if seen.insert(group) {
                        path.push((group, blockers(group)));
                    }
                }
            }
        }
        None
    }
}

/// A place in a queue, given up when it is dropped.
struct InQueue<'a> {
    locks: &'a LockManager,
    group: GroupId,
    id: LockId,
    mode: Mode,
    ticket: u64,
    granted: bool,
}

impl InQueue<'_> {
    fn leave(&self) {
        self.locks.waiting.lock().remove(&self.group);
        let mut shard = self.locks.shard(self.id).lock();
        if let Some(entry) = shard.get_mut(&self.id) {
            let queued = entry.queue.len();
            entry.queue.retain(|w| w.ticket != self.ticket);
            // Not in the queue: granted in the moment in which the wait ended otherwise. The mode was not held before.
            if entry.queue.len() == queued
                && let Some(holder) = entry.held_by(self.group)
            {
                holder.modes &= !self.mode.bit();
                if holder.modes == 0 {
                    entry.remove(self.group);
                }
            }
            entry.grant(self.id, &self.locks.many);
            if entry.is_free() {
                shard.remove(&self.id);
            }
        }
    }
}

impl Drop for InQueue<'_> {
    fn drop(&mut self) {
        if self.granted {
            self.locks.waiting.lock().remove(&self.group);
        } else {
            self.leave();
        }
    }
}

#[cfg(test)]
mod tests;

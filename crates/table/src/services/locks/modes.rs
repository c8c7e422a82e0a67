//! What can be locked, in which modes, and which of them conflict: PostgreSQL's tables.

use stoa_store::TableId;

/// What is locked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum LockId {
    /// A row, by the hash of its table and key: two rows of one hash share a lock, which costs waiting and nothing else.
    Row(u64),
    /// A table, by OID.
    Table(u32),
    /// An advisory key: the number of keys (one bigint or two integers), their database and their bits. 3: the hash of a name that is
    /// being made.
    Advisory(u8, u32, u64),
}

impl LockId {
    #[must_use]
    pub fn row(table: TableId, key: &[u8]) -> Self {
        LockId::Row(xxhash_rust::xxh3::xxh3_64_with_seed(key, u64::from(table.0)))
    }
}

/// A mode as a number within its kind of lock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Mode(pub(super) u8);

impl Mode {
    pub const KEY_SHARE: Mode = Mode(0);
    pub const SHARE: Mode = Mode(1);
    pub const NO_KEY_UPDATE: Mode = Mode(2);
    pub const UPDATE: Mode = Mode(3);
    pub const KEY: Mode = Mode(4);
    /// The weakest first.
    pub(super) const OF_ROWS: [Mode; 5] = [Mode::KEY_SHARE, Mode::SHARE, Mode::NO_KEY_UPDATE, Mode::UPDATE, Mode::KEY];

    pub const ADVISORY_SHARED: Mode = Mode(0);
    pub const ADVISORY_EXCLUSIVE: Mode = Mode(1);

    pub(super) fn bit(self) -> u8 {
        1 << self.0
    }
}

/// The strength of a lock of a row: `FOR UPDATE` and the others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LockStrength {
    KeyShare,
    Share,
    NoKeyUpdate,
    Update,
    /// Beside the four of PostgreSQL's rows, with the conflicts of `Update`: whoever inserts, deletes or changes a key has it. Only while somebody
    /// has it, it is not settled whether there is a row of the key.
    Key,
}

/// What is done about a row that another transaction has locked. Where two things are asked for, the greater is done.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LockWait {
    Wait,
    SkipLocked,
    /// 55P03.
    NoWait,
}

impl From<LockStrength> for Mode {
    fn from(strength: LockStrength) -> Self {
        match strength {
            LockStrength::KeyShare => Mode::KEY_SHARE,
            LockStrength::Share => Mode::SHARE,
            LockStrength::NoKeyUpdate => Mode::NO_KEY_UPDATE,
            LockStrength::Update => Mode::UPDATE,
            LockStrength::Key => Mode::KEY,
        }
    }
}

/// PostgreSQL's table-level locks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TableLockMode {
    AccessShare,
    RowShare,
    RowExclusive,
    ShareUpdateExclusive,
    Share,
    ShareRowExclusive,
    Exclusive,
    AccessExclusive,
}

impl TableLockMode {
    pub(super) const ALL: [TableLockMode; 8] = [
        TableLockMode::AccessShare,
        TableLockMode::RowShare,
        TableLockMode::RowExclusive,
        TableLockMode::ShareUpdateExclusive,
        TableLockMode::Share,
        TableLockMode::ShareRowExclusive,
        TableLockMode::Exclusive,
        TableLockMode::AccessExclusive,
    ];

    /// As `pg_locks` names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            TableLockMode::AccessShare => "AccessShareLock",
            TableLockMode::RowShare => "RowShareLock",
            TableLockMode::RowExclusive => "RowExclusiveLock",
            TableLockMode::ShareUpdateExclusive => "ShareUpdateExclusiveLock",
            TableLockMode::Share => "ShareLock",
            TableLockMode::ShareRowExclusive => "ShareRowExclusiveLock",
            TableLockMode::Exclusive => "ExclusiveLock",
            TableLockMode::AccessExclusive => "AccessExclusiveLock",
        }
    }
}

impl From<TableLockMode> for Mode {
    fn from(mode: TableLockMode) -> Self {
        Mode(mode as u8)
    }
}

/// By mode, the modes that it conflicts with.
const ROW_CONFLICTS: [u8; 5] = [0b1_1000, 0b1_1100, 0b1_1110, 0b1_1111, 0b1_1111];
const TABLE_CONFLICTS: [u8; 8] = [0b1000_0000, 0b1100_0000, 0b1111_0000, 0b1111_1000, 0b1110_1100, 0b1111_1100, 0b1111_1110, 0b1111_1111];
const ADVISORY_CONFLICTS: [u8; 2] = [0b10, 0b11];

pub(super) fn conflicts(id: LockId, mode: Mode) -> u8 {
    let table: &[u8] = match id {
        LockId::Row(_) => &ROW_CONFLICTS,
        LockId::Table(_) => &TABLE_CONFLICTS,
        LockId::Advisory(..) => &ADVISORY_CONFLICTS,
    };
    table.get(usize::from(mode.0)).copied().unwrap_or(u8::MAX)
}

//! FOR UPDATE and its kin: the rows of which tables a query locks, and where in it.
//!
//! As in PostgreSQL a clause reaches through the subqueries and views that FROM has, down to the tables, but not into WITH nor into a
//! view's UNION. A row is locked when all conditions above it have let it pass; only where a subquery counts its rows, below a LIMIT, or
//! locks rows itself, are they locked there.

use super::outer_join::narrow;
use super::scope::Lockable;
use super::select::{hand_on, key_columns};
use super::{Binder, fold};
use crate::typed::tree::{ColId, Expr, JoinKind, Rel};
use crate::typed::walk;
use std::collections::{BTreeMap, HashSet};
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_syntax::ast;
use stoa_syntax::locking::{Strength, strength_and_tables};
use stoa_table::catalog::Relation;
use stoa_table::services::locks::{LockStrength, LockWait};

/// How the rows of scans are locked.
pub(super) type Locks = BTreeMap<u32, (LockStrength, LockWait)>;

impl Binder<'_> {
    /// The locks that are taken above a relation, which is FROM with its condition: `through` gets the row keys that they need. Those
    /// that are taken within the relation are put there.
    ///
    /// # Errors
    /// 42P01 for a name that FROM does not have, 42501, 42809 for a materialized view, 0A000 for what is not made of rows of tables.
    pub(super) fn locks_of(&mut self, rel: &mut Rel, through: &mut Vec<(ColId, Expr)>, clauses: &[ast::LockClause]) -> PgResult<Locks> {
        let mut locks = Locks::new();
        for clause in clauses {
            self.add_clause(rel, clause, &mut locks)?;
        }
        if !locks.is_empty() {
            lock_within(rel, &mut locks);
            through.extend(hand_up(rel, &locks));
        }
        Ok(locks)
    }

    /// Adds the scans that a clause names.
    fn add_clause(&mut self, rel: &Rel, clause: &ast::LockClause, locks: &mut Locks) -> PgResult<()> {
        let (written, names) = strength_and_tables(clause);
        let word = written.clause();
        let strength = match written {
            Strength::KeyShare => LockStrength::KeyShare,
            Strength::Share => LockStrength::Share,
            Strength::NoKeyUpdate => LockStrength::NoKeyUpdate,
            Strength::Update => LockStrength::Update,
        };
        let wait = match clause.nonblock {
            None => LockWait::Wait,
            Some(ast::NonBlock::Nowait) => LockWait::NoWait,
            Some(ast::NonBlock::SkipLocked) => LockWait::SkipLocked,
        };
        let is_view = |oid: &u32| matches!(self.ctx.catalog.relation(*oid).map(|r| &**r), Some(Relation::View(_)));
        let (mut ranges, mut views) = (Vec::new(), Vec::new());
        for name in names.iter().flatten() {
            let (alias, position) = (fold(name), self.pos_span(name.span));
            let Some(item) = self.scope().items.iter().find(|item| item.alias == alias) else {
                let message = format!("relation \"{alias}\" in {word} clause not found in FROM clause");
                return Err(PgError::new(SqlState::UNDEFINED_TABLE, message).at(position));
            };
            match item.lockable {
                Lockable::No(what) => return Err(PgError::unsupported(format!("{word} cannot be applied to {what}")).at(position)),
                Lockable::Scans(after, last) => ranges.push((after, last)),
                Lockable::Unknown => return Err(PgError::internal(format!("nothing is known of what \"{alias}\" reads"))),
            }
            views.extend(item.table_oid.filter(is_view));
        }
        if names.is_none() {
            ranges.push((0, u32::MAX));
            views.extend(self.scope().items.iter().filter_map(|item| item.table_oid).filter(is_view));
        }
        let wanted = Wanted { ranges, all: names.is_none(), unions: &self.unions_of_views };
        if let Some(what) = wanted.refused(rel) {
            return Err(PgError::unsupported(format!("{word} is not allowed with {what}")));
        }
        if wanted.filled_with_nulls(rel, false) {
            let mut narrowed = rel.clone();
            narrow(&mut narrowed, &[]);
            if wanted.filled_with_nulls(&narrowed, false) {
                return Err(PgError::unsupported(format!("{word} cannot be applied to the nullable side of an outer join")));
            }
        }
        let (mut scans, mut past, mut materialized) = (Vec::new(), false, None);
        wanted.visit(rel, &mut |node| match node {
            Rel::Scan(scan) if wanted.has(scan.scan_id) => {
                scans.push((scan.scan_id, scan.table.oid));
                past |= scan.as_of.is_some();
                materialized = materialized.or_else(|| self.ctx.catalog.view_of_rows(scan.table.oid));
            }
            Rel::History(history) => past |= wanted.has(history.scan.scan_id),
            _ => {}
        });
        if past {
            return Err(PgError::unsupported(format!("{word} cannot be applied to rows as of another time"))
                .detail("What is locked are rows as they are now."));
        }
        if let Some(view) = materialized {
            let message = format!("cannot lock rows in materialized view \"{}\"", view.name);
            return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, message));
        }
        self.note_locks(&scans, &views);
        scans.into_iter().for_each(|(scan, _)| add(locks, scan, (strength, wait)));
        Ok(())
    }
}

/// What a clause names.
struct Wanted<'a> {
    /// Ids of scans, as in [`Lockable::Scans`].
    ranges: Vec<(u32, u32)>,
    all: bool,
    unions: &'a HashSet<ColId>,
}

impl Wanted<'_> {
    fn has(&self, scan: u32) -> bool {
        self.ranges.iter().any(|(after, last)| scan > *after && scan <= *last)
    }

    /// Calls `f` on each relation that a clause reaches.
    fn visit<'r>(&self, rel: &'r Rel, f: &mut dyn FnMut(&'r Rel)) {
        if self.is_union_of_view(rel) {
            return;
        }
        f(rel);
        walk::children(rel).into_iter().for_each(|child| self.visit(child, f));
    }

    fn is_union_of_view(&self, rel: &Rel) -> bool {
        matches!(rel, Rel::SetOp { columns, .. } if columns.first().is_some_and(|(column, _)| self.unions.contains(column)))
    }

    fn is_within(&self, rel: &Rel) -> bool {
        let mut found = false;
        self.visit(rel, &mut |node| found |= matches!(node, Rel::Scan(scan) if self.has(scan.scan_id)));
        found
    }

    /// What keeps the rows that are named from being those of tables.
    fn refused(&self, rel: &Rel) -> Option<&'static str> {
        let mut found: Option<(u8, &str)> = None;
        self.visit(rel, &mut |node| {
            // In the order in which PostgreSQL looks for them.
            let what = match node {
                Rel::SetOp { .. } => (0, "UNION/INTERSECT/EXCEPT"),
                Rel::Distinct { .. } | Rel::DistinctOn { .. } => (1, "DISTINCT clause"),
                Rel::Aggregate { groups, .. } if !groups.is_empty() => (2, "GROUP BY clause"),
                Rel::Filter { input, .. } if matches!(**input, Rel::Aggregate { .. }) => (3, "HAVING clause"),
                Rel::Aggregate { .. } => (4, "aggregate functions"),
                Rel::Window { .. } => (5, "window functions"),
                Rel::ProjectSet { input, .. } if self.is_within(input) => (6, "set-returning functions in the target list"),
                _ => return,
            };
            if self.all || self.is_within(node) {
                found = Some(found.map_or(what, |known| known.min(what)));
            }
        });
        found.map(|(_, what)| what)
    }

    /// Whether an outer join of FROM may fill one of the named scans with NULLs.
    fn filled_with_nulls(&self, rel: &Rel, nullable: bool) -> bool {
        match rel {
            Rel::Scan(scan) => nullable && self.has(scan.scan_id),
            Rel::Join { left, right, kind, .. } => {
                let (on_left, on_right) = match kind {
                    JoinKind::Left => (false, true),
                    JoinKind::Right => (true, false),
                    JoinKind::Full => (true, true),
                    _ => (false, false),
                };
                self.filled_with_nulls(left, nullable || on_left) || self.filled_with_nulls(right, nullable || on_right)
            }
            _ if self.is_union_of_view(rel) => false,
            _ => walk::children(rel).into_iter().any(|child| self.filled_with_nulls(child, nullable)),
        }
    }
}

/// Two clauses for one scan are one, with the stronger lock and the greater haste.
fn add(locks: &mut Locks, scan: u32, (strength, wait): (LockStrength, LockWait)) {
    let lock = locks.entry(scan).or_insert((strength, wait));
    *lock = (lock.0.max(strength), lock.1.max(wait));
}

/// Puts locks below the limits of subqueries, and to those that subqueries take themselves; `locks` keeps the others.
fn lock_within(rel: &mut Rel, locks: &mut Locks) {
    let (place, mut here) = match rel {
        Rel::Lock { .. } => {
            let here = take_locks(rel);
            (rel, here)
        }
        Rel::Limit { input, .. } => {
            let here = take_locks(input);
            (&mut **input, here)
        }
        _ => return walk::children_mut(rel).into_iter().for_each(|child| lock_within(child, locks)),
    };
    lock_within(place, locks);
    walk::visit_rel(place, &mut |node| {
        if let Rel::Scan(scan) = node
            && let Some(lock) = locks.remove(&scan.scan_id)
        {
            add(&mut here, scan.scan_id, lock);
        }
    });
    hand_up(place, &here);
    *place = locked(std::mem::replace(place, Rel::One), &here);
}

/// Takes away the locks on top of a relation.
fn take_locks(rel: &mut Rel) -> Locks {
    let mut taken = Locks::new();
    while let Rel::Lock { input, scans, strength, wait } = rel {
        scans.iter().for_each(|scan| add(&mut taken, *scan, (*strength, *wait)));
        *rel = std::mem::replace(&mut **input, Rel::One);
    }
    taken
}

/// Lets the row keys of the locked tables go up to the top of a relation: the columns that they are.
fn hand_up(rel: &mut Rel, locks: &Locks) -> Vec<(ColId, Expr)> {
    let mut keys = Vec::new();
    walk::visit_rel(rel, &mut |node| {
        if let Rel::Scan(scan) = node
            && locks.contains_key(&scan.scan_id)
        {
            keys.extend(key_columns(scan));
        }
    });
    keys.iter().for_each(|(id, expr)| _ = hand_on(rel, *id, expr));
    keys
}

/// A relation whose rows are locked as they are read.
pub(super) fn locked(mut rel: Rel, locks: &Locks) -> Rel {
    let mut kinds: Vec<((LockStrength, LockWait), Vec<u32>)> = Vec::new();
    for (scan, lock) in locks {
        match kinds.iter_mut().find(|(kind, _)| kind == lock) {
            Some((_, scans)) => scans.push(*scan),
            None => kinds.push((*lock, vec![*scan])),
        }
    }
    for ((strength, wait), scans) in kinds {
        rel = Rel::Lock { input: Box::new(rel), scans, strength, wait };
    }
    rel
}

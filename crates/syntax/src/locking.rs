//! `FOR UPDATE` and its kin, of which sqlparser's tree knows two strengths and one table.
//!
//! PostgreSQL has four strengths and lists of tables behind OF. The grammar keeps them in the name behind OF, whose first part is the
//! strength, one of our [`marks`]; [`strength_and_tables`] reads them back.

use crate::marks;
use sqlparser::ast::{LockClause, LockType, ObjectNamePart};

/// How strongly rows are locked, from the weakest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Strength {
    KeyShare,
    Share,
    NoKeyUpdate,
    Update,
}

impl Strength {
    /// The clause as PostgreSQL's messages name it.
    #[must_use]
    pub fn clause(self) -> &'static str {
        match self {
            Strength::KeyShare => "FOR KEY SHARE",
            Strength::Share => "FOR SHARE",
            Strength::NoKeyUpdate => "FOR NO KEY UPDATE",
            Strength::Update => "FOR UPDATE",
        }
    }

    const ALL: [Strength; 4] = [Strength::KeyShare, Strength::Share, Strength::NoKeyUpdate, Strength::Update];
}

/// What a locking clause says: its strength, and the tables behind OF as they were written (`None` without OF).
#[must_use]
pub fn strength_and_tables(lock: &LockClause) -> (Strength, Option<Vec<sqlparser::ast::Ident>>) {
    let names = lock.of.as_ref().map(|name| {
        name.0
            .iter()
            .filter_map(|part| match part {
                ObjectNamePart::Identifier(ident) => Some(ident.clone()),
                ObjectNamePart::Function(_) => None,
            })
            .collect::<Vec<_>>()
    });
    if let Some(names) = &names
        && let Some((first, tables)) = names.split_first()
        && let Some(strength) = Strength::ALL.into_iter().find(|s| marks::is(first, s.clause()))
    {
        return (strength, (!tables.is_empty()).then(|| tables.to_vec()));
    }
    (if lock.lock_type == LockType::Share { Strength::Share } else { Strength::Update }, names)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use sqlparser::ast::{NonBlock, Statement};

    fn locks(sql: &str) -> Vec<(Strength, Option<Vec<String>>, Option<NonBlock>)> {
        let mut parsed = crate::parse(sql).unwrap_or_else(|e| panic!("{sql}: {e:?}"));
        let Statement::Query(query) = parsed.pop().unwrap().statement else { panic!("{sql}") };
        query
            .locks
            .iter()
            .map(|lock| {
                let (strength, tables) = strength_and_tables(lock);
                (strength, tables.map(|t| t.into_iter().map(|i| i.value).collect()), lock.nonblock)
            })
            .collect()
    }

    #[test]
    fn strengths_tables_and_waits() {
        let t = |names: &[&str]| Some(names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>());
        for (sql, wanted) in [
            ("SELECT * FROM t FOR UPDATE", vec![(Strength::Update, None, None)]),
            ("SELECT * FROM t FOR NO KEY UPDATE NOWAIT", vec![(Strength::NoKeyUpdate, None, Some(NonBlock::Nowait))]),
            ("SELECT * FROM t FOR SHARE OF t, u SKIP LOCKED", vec![(Strength::Share, t(&["t", "u"]), Some(NonBlock::SkipLocked))]),
            (
                "SELECT * FROM t, u FOR KEY SHARE OF t FOR UPDATE OF \"U\" NOWAIT",
                vec![(Strength::KeyShare, t(&["t"]), None), (Strength::Update, t(&["U"]), Some(NonBlock::Nowait))],
            ),
            ("SELECT * FROM t FOR UPDATE LIMIT 1 OFFSET 2", vec![(Strength::Update, None, None)]),
            ("SELECT * FROM t ORDER BY a LIMIT 1 FOR UPDATE", vec![(Strength::Update, None, None)]),
        ] {
            assert_eq!(locks(sql), wanted, "{sql}");
        }
    }

    #[test]
    fn limits_behind_a_clause_count() {
        for sql in ["SELECT * FROM t FOR UPDATE SKIP LOCKED LIMIT 3", "SELECT * FROM t FOR UPDATE FETCH FIRST 3 ROWS ONLY"] {
            let mut parsed = crate::parse(sql).unwrap();
            let Statement::Query(query) = parsed.pop().unwrap().statement else { panic!() };
            assert!(query.limit_clause.is_some() || query.fetch.is_some(), "{sql}");
            assert_eq!(query.locks.len(), 1, "{sql}");
        }
        assert!(crate::parse("UPDATE t SET a = 1 WHERE id = (SELECT id FROM t FOR NO KEY UPDATE LIMIT 1) RETURNING id").is_ok());
        assert!(crate::parse("SELECT substring('abc' from 1 for 2)").is_ok());
    }

    #[test]
    fn qualified_tables_are_refused() {
        let error = crate::parse("SELECT * FROM s.t FOR UPDATE OF s.t").unwrap_err();
        assert_eq!(error.message, "FOR UPDATE must specify unqualified relation names");
    }
}

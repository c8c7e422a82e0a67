//! Hints in comments behind SELECT, UPDATE and DELETE: which scan each is about.

use super::Binder;
use crate::access::Hint;
use crate::access::preferences::read_hints;
use crate::catalog::TableDescriptor;
use stoa_syntax::ast::OptimizerHint;

/// The hints of one query, and the warnings of all.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    /// The table that each names, what it says, and whether a scan took it.
    current: Vec<(String, Hint, bool)>,
    warnings: Vec<String>,
}

impl Hints {
    /// A query begins: gives the hints of the one around it, for [`Hints::leave`].
    pub fn enter(&mut self, written: &[OptimizerHint]) -> Vec<(String, Hint, bool)> {
        let mut own = Vec::new();
        for hint in written.iter().filter(|h| h.prefix.is_empty()) {
            let (hints, unknown) = read_hints(&hint.text);
            own.extend(hints.into_iter().map(|(table, hint)| (table, hint, false)));
            self.warnings.extend(unknown.into_iter().map(|text| format!("hint \"{text}\" is not known and was ignored")));
        }
        std::mem::replace(&mut self.current, own)
    }

    /// A query ends: hints that no scan took are told.
    pub fn leave(&mut self, outer: Vec<(String, Hint, bool)>) {
        let own = std::mem::replace(&mut self.current, outer);
        let lost = own.into_iter().filter(|(_, _, taken)| !taken);
        self.warnings.extend(lost.map(|(table, ..)| format!("a hint names table \"{table}\", which the query does not read")));
    }

    pub fn into_warnings(self) -> Vec<String> {
        self.warnings
    }
}

impl Binder<'_> {
    /// What hints say about a table that the query calls `alias`.
    pub(crate) fn hints_of(&mut self, alias: &str, table: &TableDescriptor) -> Vec<Hint> {
        let mut out = Vec::new();
        let mut missing = Vec::new();
        for (name, hint, taken) in self.hints.current.iter_mut().filter(|(name, ..)| name == alias) {
            let _ = name;
            *taken = true;
            if let Hint::Index(names) | Hint::NoIndex(names) = &*hint {
                let exists = |name: &String| table.indexes.iter().any(|i| i.name == *name);
                missing.extend(
                    names
                        .iter()
                        .filter(|n| !exists(n))
                        .map(|n| format!("index \"{n}\" of table \"{}\" does not exist: the hint was ignored", table.name)),
                );
            }
            out.push(hint.clone());
        }
        self.hints.warnings.extend(missing);
        out
    }
}

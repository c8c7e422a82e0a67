//! Hints in comments behind SELECT, UPDATE and DELETE: which scan each is about.

use super::Binder;
use stoa_syntax::ast::OptimizerHint;
use stoa_table::access::Hint;
use stoa_table::catalog::TableDescriptor;

/// The hints of one query, and the warnings of all.
#[derive(Debug, Default)]
pub struct Hints {
    /// The table that each names, what it says, and whether a scan took it.
    current: Vec<(String, Hint, bool)>,
    warnings: Vec<String>,
    /// USE_BULKLOAD was written: what the INSERT around it writes is loaded.
    pub loads: bool,
}

impl Hints {
    /// A query begins: gives the hints of the one around it, for [`Hints::leave`].
    pub fn enter(&mut self, written: &[OptimizerHint]) -> Vec<(String, Hint, bool)> {
        let mut own = Vec::new();
        for hint in written.iter().filter(|h| h.prefix.is_empty()) {
            let (hints, unknown) = read_hints(&hint.text, &mut self.loads);
            own.extend(hints.into_iter().map(|(table, hint)| (table, hint, false)));
            self.warnings.extend(unknown.into_iter().map(|text| format!("hint \"{text}\" is not known and was ignored")));
        }
        std::mem::replace(&mut self.current, own)
    }

    /// A query ends: hints that no scan took are reported.
    pub fn leave(&mut self, outer: Vec<(String, Hint, bool)>) {
        let own = std::mem::replace(&mut self.current, outer);
        let lost = own.into_iter().filter(|(_, _, taken)| !taken);
        self.warnings.extend(lost.map(|(table, ..)| format!("a hint names table \"{table}\", which the query does not read")));
    }

    pub fn into_warnings(mut self) -> Vec<String> {
        if self.loads {
            self.warnings.push("USE_BULKLOAD is a hint of INSERT and was ignored".into());
        }
        self.warnings
    }
}

impl Binder<'_> {
    /// What hints say about a table that the query calls `alias`.
    pub fn hints_of(&mut self, alias: &str, table: &TableDescriptor) -> Vec<Hint> {
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

/// The hints of one comment, with the name of the table that each is about: `INDEX(t i)`, `NO_INDEX(t)`, `FULL(t)`,
/// `USE_INDEX(t USING i)`, `USE_INDEX(t i)`, and so NOT_USE_INDEX. What is not one of these, nor USE_BULKLOAD, is given back as it stands.
#[must_use]
fn read_hints(text: &str, loads: &mut bool) -> (Vec<(String, Hint)>, Vec<String>) {
    const LOAD: &str = "use_bulkload";
    const BLANKS: [char; 4] = [' ', ',', '\t', '\n'];
    let (mut hints, mut unknown) = (Vec::new(), Vec::new());
    let mut rest = text.trim();
    while !rest.is_empty() {
        if rest.get(..LOAD.len()).is_some_and(|word| word.eq_ignore_ascii_case(LOAD)) {
            let after = rest.get(LOAD.len()..).unwrap_or_default();
            if after.is_empty() || after.starts_with(BLANKS) {
                *loads = true;
                rest = after.trim_start_matches(BLANKS);
                continue;
            }
        }
        let Some((word, after)) = rest.split_once('(') else {
            unknown.push(rest.to_owned());
            break;
        };
        let Some((inside, after)) = after.split_once(')') else {
            unknown.push(rest.to_owned());
            break;
        };
        let written = format!("{}({inside})", word.trim());
        let fold = |name: &str| match name.strip_prefix('"').and_then(|n| n.strip_suffix('"')) {
            Some(quoted) => quoted.to_owned(),
            None => name.to_lowercase(),
        };
        let mut words: Vec<String> = inside.split([' ', ',', '\t', '\n']).filter(|w| !w.is_empty()).map(fold).collect();
        let table = if words.is_empty() { None } else { Some(words.remove(0)) };
        let hint = match word.trim().to_lowercase().as_str() {
            "use_index" => {
                words.retain(|w| w != "using");
                (!words.is_empty()).then_some(Hint::Index(words))
            }
            "index" => (!words.is_empty()).then_some(Hint::Index(words)),
            "not_use_index" => {
                words.retain(|w| w != "using");
                (!words.is_empty()).then_some(Hint::NoIndex(words))
            }
            "no_index" => Some(Hint::NoIndex(words)),
            "full" if words.is_empty() => Some(Hint::Full),
            _ => None,
        };
        match (table, hint) {
            (Some(table), Some(hint)) => hints.push((table, hint)),
            _ => unknown.push(written),
        }
        rest = after.trim_start_matches(BLANKS);
    }
    (hints, unknown)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn hints_are_read() {
        let mut loads = false;
        let (hints, unknown) =
            read_hints(" INDEX(t i, j) no_index(\"T\") FULL(a), USE_INDEX(b USING Ix) HASH(x) INDEX(t) oops", &mut loads);
        assert_eq!(
            hints,
            [
                ("t".to_owned(), Hint::Index(vec!["i".into(), "j".into()])),
                ("T".to_owned(), Hint::NoIndex(vec![])),
                ("a".to_owned(), Hint::Full),
                ("b".to_owned(), Hint::Index(vec!["ix".into()])),
            ]
        );
        assert_eq!(unknown, ["HASH(x)", "INDEX(t)", "oops"]);
        assert!(!loads);
        let (hints, unknown) = read_hints("use_bulkload INDEX(t i), USE_BULKLOAD", &mut loads);
        assert_eq!((hints.len(), unknown.len(), loads), (1, 0, true));
        loads = false;
        assert_eq!(read_hints("use_bulkloads", &mut loads).1, ["use_bulkloads"]);
        assert!(!loads);
    }
}

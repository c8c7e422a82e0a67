//! Rules about the inside of crates: which module may use which, and how long crates, files and functions are.
//!
//! What breaks a rule today stands in `tidy_debts.tsv` with a number that only goes down: more is a complaint, and so is less, until the file
//! says it (`STOA_UPDATE_TIDY=1` writes it; numbers that went up are complaints even then).

use super::{root, rust_files};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The modules of crates from the bottom up: each may use those before it. `ARCHITECTURE.md` has a sentence for each.
const ORDERS: &[(&str, &[&str])] = &[
    (
        "pg",
        &[
            "collation",
            "memory",
            "types",
            "settings",
            "type_functions",
            "context",
            "args",
            "registry",
            "values",
            "casts",
            "operators",
            "functions",
            "items",
        ],
    ),
    ("table", &["clock", "failure", "catalog", "row", "services", "tables", "feed", "txn", "raw", "column_cache", "access", "statistics"]),
    ("sql", &["typed", "system_relations", "catalog", "privileges", "fulltext", "bind", "definition"]),
    (
        "exec",
        &[
            "settings",
            "memory",
            "filter",
            "scan_table",
            "fulltext",
            "environment",
            "node",
            "datafusion_faults",
            "groups",
            "nodes",
            "write",
            "index",
            "virtual_tables",
        ],
    ),
    ("engine", &["plan", "ddl", "session", "database", "raw", "embed"]),
];

/// Lines from which on a file or a function is long, and a crate.
const LONG_FILE: usize = 900;
const LONG_FUNCTION: usize = 120;
const LONG_CRATE: usize = 40_000;

type Debts = BTreeMap<String, usize>;

/// A file without its tests, comments and texts.
fn code(text: &str) -> String {
    let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let line = line.trim_start();
        if !line.starts_with("//") {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// The modules of its own crate that a file names: `crate::x`, `use crate::{x, y::z}`.
fn used(text: &str) -> BTreeSet<String> {
    let text = code(text);
    let mut out = BTreeSet::new();
    for (at, _) in text.match_indices("crate::") {
        // The end of another word, as in `$crate` of a macro, is none.
        if text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        let rest = &text[at + "crate::".len()..];
        let name = |s: &str| s.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
        match rest.strip_prefix('{') {
            None => {
                out.insert(name(rest));
            }
            Some(list) => {
                let mut depth = 0;
                let mut item = String::new();
                for c in list.chars() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => {
                            out.insert(name(std::mem::take(&mut item).trim()));
                            continue;
                        }
                        _ => {}
                    }
                    item.push(c);
                }
                out.insert(name(item.trim()));
            }
        }
    }
    out
}

/// Arrows from a file's module to modules above it.
fn upward(order: &[&str], module: &str, text: &str) -> Result<Vec<String>, String> {
    let place = |name: &str| order.iter().position(|m| *m == name);
    let own = place(module).ok_or_else(|| format!("{module} has no place in the order"))?;
    Ok(used(text).into_iter().filter(|name| place(name).is_some_and(|at| at > own)).collect())
}

/// The functions of a file that are long, with their lines: as rustfmt writes them.
fn long_functions(text: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let words: Vec<&str> = line.trim_start().split([' ', '(', '<']).collect();
        let Some(function) = words.iter().position(|w| *w == "fn") else { continue };
        let qualifiers = ["pub", "async", "const", "unsafe", "crate)", "super)", "extern", "\"C\""];
        if !words[..function].iter().all(|w| qualifiers.contains(w)) {
            continue;
        }
        let end = format!("{}}}", " ".repeat(indent));
        let Some(length) = lines[at..].iter().position(|l| **l == *end) else { continue };
        if length + 1 > LONG_FUNCTION {
            out.push((words.get(function + 1).copied().unwrap_or_default().to_owned(), length + 1));
        }
    }
    out
}

/// The debt of a crate that is long, in thousands of lines: a number that not every change alters.
fn long_crate(name: &str, lines: usize) -> Option<(String, usize)> {
    (lines > LONG_CRATE).then(|| (format!("thousand lines\tcrates/{name}"), lines.div_ceil(1000)))
}

/// What differs between what is written down and what there is.
fn compare(known: &Debts, now: &Debts) -> Vec<String> {
    let mut complaints = Vec::new();
    for (debt, count) in now {
        match known.get(debt) {
            None => complaints.push(format!("{debt}\t{count} is new")),
            Some(known) if count > known => complaints.push(format!("{debt} has gone up from {known} to {count}")),
            Some(known) if count < known => complaints.push(format!("{debt} has gone down from {known} to {count}: write it down")),
            Some(_) => {}
        }
    }
    complaints.extend(known.keys().filter(|debt| !now.contains_key(*debt)).map(|debt| format!("{debt} is gone: take it off the list")));
    complaints
}

#[test]
fn an_arrow_that_goes_up_is_reported() {
    let order = ["low", "middle", "high"];
    assert_eq!(upward(&order, "middle", "use crate::high::X;\nuse crate::low::Y;\n").unwrap(), ["high"]);
    assert_eq!(upward(&order, "low", "use crate::{\n    high,\n    middle::{A, B},\n};\n").unwrap(), ["high", "middle"]);
    assert_eq!(upward(&order, "low", "fn f() { crate::middle::g() }\n").unwrap(), ["middle"]);
    assert!(upward(&order, "high", "use crate::low::X;\n").unwrap().is_empty());
    assert!(upward(&order, "low", "//! See [`crate::high`].\n#[cfg(test)]\nmod tests {\n    use super::*;\n}\n").unwrap().is_empty());
    assert!(upward(&order, "low", "x\n#[cfg(test)]\nmod tests {\n    use crate::high::X;\n}\n").unwrap().is_empty());
    assert!(upward(&order, "nowhere", "").is_err());
}

#[test]
fn a_long_function_is_reported() {
    let body = "        let x = 1;\n".repeat(LONG_FUNCTION);
    let text = format!("impl X {{\n    pub(crate) async fn long<T>(&self) {{\n{body}    }}\n\n    fn short() {{\n    }}\n}}\n");
    assert_eq!(long_functions(&text), [("long".to_owned(), LONG_FUNCTION + 2)]);
}

#[test]
fn a_long_crate_is_reported() {
    assert_eq!(long_crate("x", LONG_CRATE), None);
    assert_eq!(long_crate("x", LONG_CRATE + 1), Some(("thousand lines\tcrates/x".to_owned(), LONG_CRATE / 1000 + 1)));
}

#[test]
fn debts_only_go_down() {
    let of = |entries: &[(&str, usize)]| entries.iter().map(|(debt, n)| ((*debt).to_owned(), *n)).collect::<Debts>();
    assert!(compare(&of(&[("a", 2)]), &of(&[("a", 2)])).is_empty());
    for now in [&[("a", 3)][..], &[("a", 1)], &[], &[("a", 2), ("b", 1)]] {
        assert_eq!(compare(&of(&[("a", 2)]), &of(now)).len(), 1, "{now:?}");
    }
}

#[test]
fn modules_use_those_below_them_and_nothing_grows() {
    let root = root();
    let mut now = Debts::new();
    for entry in fs::read_dir(root.join("crates")).unwrap() {
        let source = entry.unwrap().path().join("src");
        let crate_name = source.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
        let order = ORDERS.iter().find(|(name, _)| *name == crate_name).map(|(_, order)| *order);
        let mut files = Vec::new();
        rust_files(&source, &mut files);
        let mut of_crate = 0;
        for path in files {
            let text = fs::read_to_string(&path).unwrap();
            let inside = path.strip_prefix(&source).unwrap();
            let shown = path.strip_prefix(&root).unwrap().display().to_string();
            let tests = shown.ends_with("tests.rs") || inside.iter().any(|part| part == "tests");
            let lines = text.lines().count();
            of_crate += lines;
            if lines > LONG_FILE {
                now.insert(format!("lines\t{shown}"), lines);
            }
            if !tests {
                for (name, lines) in long_functions(&text) {
                    now.insert(format!("function\t{shown} {name}"), lines);
                }
            }
            let module = Path::new(inside.iter().next().unwrap()).file_stem().unwrap().to_string_lossy().into_owned();
            if let Some(order) = order.filter(|_| !tests && !["lib", "main"].contains(&module.as_str())) {
                for above in upward(order, &module, &text).unwrap_or_else(|e| panic!("{shown}: {e}")) {
                    *now.entry(format!("arrow\t{crate_name} {module} > {above}")).or_default() += 1;
                }
            }
        }
        now.extend(long_crate(&crate_name, of_crate));
    }
    let path = root.join("crates/server/tests/tidy_debts.tsv");
    let text = fs::read_to_string(&path).unwrap_or_default();
    let known: Debts = text
        .lines()
        .filter_map(|line| line.rsplit_once('\t'))
        .filter_map(|(debt, count)| Some((debt.to_owned(), count.parse().ok()?)))
        .collect();
    if std::env::var_os("STOA_UPDATE_TIDY").is_some() {
        // The first list has what there is; afterwards nothing is added and nothing goes up.
        let written = now.iter().filter_map(|(debt, count)| match known.get(debt) {
            Some(known) => Some((debt, known.min(count))),
            None => known.is_empty().then_some((debt, count)),
        });
        fs::write(&path, written.map(|(debt, count)| format!("{debt}\t{count}\n")).collect::<String>()).unwrap();
        return;
    }
    let complaints = compare(&known, &now);
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

//! Rules about the tree that no compiler checks: how files open, what they are called, who may depend on whom.
//!
//! Each rule is a function from text to complaints, and a test shows it a text that breaks it; the last two tests hold the tree
//! itself against all of them. The tables below are `ARCHITECTURE.md` in the form that is checked: change both or neither.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod modules;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Our crates from the bottom up, each with those of ours that it may depend on.
const CRATES: &[(&str, &[&str])] = &[
    ("stoa-auth", &[]),
    ("stoa-encoding", &[]),
    ("stoa-error", &[]),
    ("stoa-store", &[]),
    ("stoa-syntax", &[]),
    ("stoa-text", &["stoa-error"]),
    ("stoa-pg", &["stoa-encoding", "stoa-error", "stoa-text"]),
    ("stoa-table", &["stoa-encoding", "stoa-pg", "stoa-store"]),
    ("stoa-store-lsm", &["stoa-store"]),
    ("stoa-fulltext", &[]),
    ("stoa-hbase-client", &[]),
    ("stoa-store-hbase", &["stoa-encoding", "stoa-hbase-client", "stoa-store"]),
    ("stoa-sql", &["stoa-fulltext", "stoa-pg", "stoa-syntax", "stoa-table", "stoa-text"]),
    ("stoa-exec", &["stoa-encoding", "stoa-fulltext", "stoa-pg", "stoa-sql", "stoa-syntax", "stoa-table", "stoa-text"]),
    ("stoa-engine", &["stoa-auth", "stoa-encoding", "stoa-exec", "stoa-fulltext", "stoa-pg", "stoa-sql", "stoa-syntax", "stoa-table"]),
    ("stoa-server", &["stoa-auth", "stoa-engine", "stoa-pg", "stoa-store", "stoa-store-hbase", "stoa-store-lsm", "stoa-syntax"]),
];

/// Libraries and stores, and the only crates that may depend on them. `x*` is `x` and whatever is called `x-…` or `x_…`; the first
/// line that fits a name counts.
const DOORS: &[(&str, &[&str])] = &[
    ("sqlparser*", &["stoa-syntax"]),
    ("datafusion-expr", &["stoa-engine", "stoa-exec", "stoa-pg", "stoa-sql"]),
    ("datafusion-physical-expr", &["stoa-engine", "stoa-exec", "stoa-sql"]),
    ("datafusion-common", &["stoa-engine", "stoa-error", "stoa-exec", "stoa-pg", "stoa-sql", "stoa-table"]),
    ("datafusion-execution", &["stoa-engine", "stoa-exec", "stoa-table"]),
    ("datafusion*", &["stoa-engine", "stoa-exec"]),
    ("arrow*", &["stoa-engine", "stoa-error", "stoa-exec", "stoa-pg", "stoa-server", "stoa-sql", "stoa-table"]),
    ("rocksdb", &["stoa-store-lsm"]),
    ("tantivy*", &["stoa-fulltext"]),
    ("jieba-rs", &["stoa-fulltext"]),
    ("librocksdb-sys", &["stoa-store-lsm"]),
    ("pgwire", &["stoa-server"]),
    ("rustls*", &["stoa-auth", "stoa-server"]),
    ("rcgen", &["stoa-auth"]),
    ("x509-parser", &["stoa-auth"]),
    ("hmac", &["stoa-auth"]),
    ("pbkdf2", &["stoa-auth"]),
    ("stringprep", &["stoa-auth"]),
    ("parquet*", &["stoa-server"]),
    ("prost*", &["stoa-hbase-client"]),
    ("zookeeper-client", &["stoa-hbase-client"]),
    ("stoa-store-lsm", &["stoa-server"]),
    ("stoa-store-hbase", &["stoa-server"]),
    ("stoa-hbase-client", &["stoa-store-hbase"]),
];

/// Names that say nothing of what is inside.
const VAGUE: &[&str] = &["utils", "common", "helpers", "misc"];

/// Where Rust is written.
const FOLDERS: &[&str] = &["crates", "benches", "examples", "sql-tests", "tests"];

// ---------------------------------------------------------------------------------------------------------------------------------
// Rules

/// Files that a document names by their crate (`engine/plan/execute.rs`) are there. `exists` is asked for paths from the root.
fn named_files(text: &str, exists: &dyn Fn(&str) -> bool) -> Vec<String> {
    let crates: BTreeSet<&str> = CRATES.iter().filter_map(|(package, _)| package.strip_prefix("stoa-")).collect();
    // Every second piece stands in backquotes.
    let quoted = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    let named = quoted.filter(|name| !name.contains(char::is_whitespace)).filter_map(|name| {
        let (folder, rest) = name.split_once('/')?;
        let path = format!("crates/{folder}/src/{}", rest.trim_end_matches('/'));
        (crates.contains(folder) && !exists(&path)).then(|| format!("`{name}` is no file"))
    });
    named.collect()
}

/// Every file opens with `//!`.
fn opening(path: &Path, text: &str) -> Option<String> {
    (!text.starts_with("//!")).then(|| format!("{} does not open with //!", path.display()))
}

/// No file and no folder has a vague name.
fn naming(path: &Path) -> Option<String> {
    let mut stems = path.iter().filter_map(|part| Path::new(part).file_stem()?.to_str());
    let vague = stems.find(|stem| VAGUE.contains(stem))?;
    Some(format!("{} is called {vague}, which says nothing", path.display()))
}

/// A package is called after its folder.
fn calling(folder: &str, package: &str) -> Option<String> {
    (package != format!("stoa-{folder}")).then(|| format!("crates/{folder} holds a package called {package}"))
}

/// One door per giant; only the server names a concrete store.
fn doors(package: &str, dependencies: &BTreeSet<String>) -> Vec<String> {
    let mut complaints = Vec::new();
    for name in dependencies {
        let Some((_, may)) = DOORS.iter().find(|(pattern, _)| fits(name, pattern)) else { continue };
        if !may.contains(&package) {
            complaints.push(format!("{package} depends on {name}; only {} may", may.join(", ")));
        }
    }
    complaints
}

fn fits(name: &str, pattern: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_'])),
        None => name == pattern,
    }
}

/// Arrows go down.
fn arrows(package: &str, dependencies: &BTreeSet<String>) -> Vec<String> {
    let Some((_, below)) = CRATES.iter().find(|(name, _)| *name == package) else {
        return vec![format!("{package} has no place among the crates: give it a line in tidy.rs and in ARCHITECTURE.md")];
    };
    let ours = dependencies.iter().filter(|name| name.starts_with("stoa-"));
    ours.filter(|name| !below.contains(&name.as_str())).map(|name| format!("{package} depends on {name}, which is not below it")).collect()
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Manifests

/// What the rules need of a `Cargo.toml`.
#[derive(Debug, Default)]
struct Manifest {
    package: String,
    /// (table, key) to the package that it names: of all kinds and targets, and of the workspace.
    dependencies: BTreeMap<(String, String), String>,
}

/// Reads a manifest line by line. What this reading could get wrong is refused.
fn read_manifest(text: &str) -> Result<Manifest, String> {
    let mut manifest = Manifest::default();
    let mut header = Vec::new();
    for line in logical_lines(text)? {
        if line.starts_with('[') {
            header = key_path(line.trim_start_matches('[').trim_end_matches(']'));
            continue;
        }
        let Some((at, _)) = bare(&line).find(|&(_, c)| c == '=') else { return Err(format!("no key: {line}")) };
        let (key, value) = (&line[..at], &line[at + 1..]);
        let path: Vec<String> = header.iter().cloned().chain(key_path(key)).collect();
        let words: Vec<&str> = path.iter().map(String::as_str).collect();
        let rest = match words.as_slice() {
            ["package", "name"] => {
                manifest.package = quoted(value).ok_or_else(|| format!("no name: {line}"))?;
                continue;
            }
            ["workspace", "dependencies", rest @ ..] => rest,
            ["dependencies" | "dev-dependencies" | "build-dependencies", rest @ ..] => rest,
            ["target", _, "dependencies" | "dev-dependencies" | "build-dependencies", rest @ ..] => rest,
            _ => continue,
        };
        let table = words[..words.len() - rest.len()].join(".");
        match rest {
            [] => return Err(format!("dependencies belong into a table: {line}")),
            [key] => {
                let package = package_of(value).unwrap_or_else(|| (*key).to_owned());
                manifest.dependencies.insert((table, (*key).to_owned()), package);
            }
            [key, "package"] => {
                let package = quoted(value).ok_or_else(|| format!("no package: {line}"))?;
                manifest.dependencies.insert((table, (*key).to_owned()), package);
            }
            [key, ..] => {
                manifest.dependencies.entry((table, (*key).to_owned())).or_insert_with(|| (*key).to_owned());
            }
        }
    }
    Ok(manifest)
}

/// The packages that a crate depends on, whatever it calls them.
fn packages(manifest: &Manifest, workspace: &Manifest) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for ((_, key), package) in &manifest.dependencies {
        out.insert(package.clone());
        if let Some(inherited) = workspace.dependencies.get(&("workspace.dependencies".to_owned(), key.clone())) {
            out.insert(inherited.clone());
        }
    }
    out
}

/// Lines without comments and blanks around them; those that are one by their brackets are joined.
fn logical_lines(text: &str) -> Result<Vec<String>, String> {
    if text.contains("\"\"\"") || text.contains("'''") {
        return Err("strings of several lines are not read here".to_owned());
    }
    let (mut lines, mut pending, mut depth) = (Vec::new(), String::new(), 0_i32);
    for line in text.lines() {
        let end = bare(line).find(|&(_, c)| c == '#').map_or(line.len(), |(at, _)| at);
        let line = line[..end].trim();
        for (_, c) in bare(line) {
            depth += match c {
                '[' | '{' => 1,
                ']' | '}' => -1,
                _ => 0,
            };
        }
        pending.push_str(line);
        if depth == 0 && !pending.is_empty() {
            lines.push(std::mem::take(&mut pending));
        }
    }
    if depth == 0 { Ok(lines) } else { Err("brackets do not close".to_owned()) }
}

/// `a.'b.c'.d` to its words.
fn key_path(text: &str) -> Vec<String> {
    let dots: Vec<usize> = bare(text).filter(|&(_, c)| c == '.').map(|(at, _)| at).collect();
    let starts = std::iter::once(0).chain(dots.iter().map(|dot| dot + 1));
    let ends = dots.iter().copied().chain(std::iter::once(text.len()));
    starts.zip(ends).map(|(start, end)| text[start..end].trim().trim_matches(['"', '\'']).to_owned()).collect()
}

/// The package of `{ package = "name", … }`.
fn package_of(value: &str) -> Option<String> {
    bare(value).find_map(|(at, _)| {
        let inside = value[..at].ends_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_');
        let rest = value[at..].strip_prefix("package")?.trim_start().strip_prefix('=')?;
        if inside { None } else { quoted(rest) }
    })
}

/// The string that a text begins with.
fn quoted(text: &str) -> Option<String> {
    let text = text.trim_start();
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    text[1..].split_once(quote).map(|(inside, _)| inside.to_owned())
}

/// The characters of a line that are not in quotes, with their places.
fn bare(line: &str) -> impl Iterator<Item = (usize, char)> {
    let (mut quote, mut escaped) = (None, false);
    line.char_indices().filter(move |&(_, c)| match quote {
        Some('"') if escaped => {
            escaped = false;
            false
        }
        Some('"') if c == '\\' => {
            escaped = true;
            false
        }
        Some(q) => {
            if c == q {
                quote = None;
            }
            false
        }
        None if c == '"' || c == '\'' => {
            quote = Some(c);
            false
        }
        None => true,
    })
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Each rule shown what breaks it

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn a_file_that_is_not_there_is_reported() {
    let exists = |path: &str| path == "crates/sql/src/bind/mod.rs";
    assert_eq!(named_files("see `sql/bind/gone.rs`, `sql/bind/mod.rs`,\n`a/b`, `sql / x`", &exists), ["`sql/bind/gone.rs` is no file"]);
}

#[test]
fn a_file_without_a_description_is_reported() {
    let path = Path::new("crates/x/src/a.rs");
    for text in ["", "use std::fs;\n", "// a comment\n", "/// an item's\n", "#![allow(x)]\n//! too late\n", "\n//! too late\n"] {
        assert!(opening(path, text).is_some(), "{text:?}");
    }
    assert_eq!(opening(path, "//! What it is.\n"), None);
}

#[test]
fn a_vague_name_is_reported() {
    for path in ["crates/x/src/utils.rs", "crates/x/tests/common/mod.rs", "crates/helpers/src/lib.rs", "crates/x/src/misc.rs"] {
        assert!(naming(Path::new(path)).is_some(), "{path}");
    }
    for path in ["crates/x/src/common_table.rs", "crates/x/src/utility.rs", "crates/x/src/lib.rs"] {
        assert_eq!(naming(Path::new(path)), None);
    }
}

#[test]
fn a_package_called_otherwise_than_its_folder_is_reported() {
    assert_eq!(calling("store-lsm", "stoa-store-lsm"), None);
    assert!(calling("store-lsm", "stoa-lsm").is_some());
    assert!(calling("store-lsm", "store-lsm").is_some());
}

#[test]
fn a_second_door_is_reported() {
    for (package, dependency) in [
        ("stoa-engine", "sqlparser"),
        ("stoa-pg", "sqlparser_derive"),
        ("stoa-pg", "datafusion"),
        ("stoa-pg", "datafusion-physical-plan"),
        ("stoa-server", "datafusion"),
        ("stoa-sql", "datafusion"),
        ("stoa-server", "datafusion-common"),
        ("stoa-syntax", "datafusion-expr"),
        ("stoa-store", "arrow"),
        ("stoa-encoding", "arrow-array"),
        ("stoa-text", "arrow"),
        ("stoa-error", "datafusion-expr"),
        ("stoa-engine", "rocksdb"),
        ("stoa-server", "librocksdb-sys"),
        ("stoa-engine", "pgwire"),
        ("stoa-engine", "stoa-store-lsm"),
    ] {
        let complaints = doors(package, &names(&["serde", dependency]));
        assert_eq!(complaints.len(), 1, "{package} and {dependency}");
        assert!(complaints[0].contains(dependency));
    }
    for (package, dependencies) in [
        ("stoa-syntax", &["sqlparser", "thiserror"][..]),
        ("stoa-pg", &["arrow", "datafusion-common", "datafusion-expr"][..]),
        ("stoa-engine", &["arrow", "datafusion", "datafusion-common", "arrowhead"][..]),
        ("stoa-store-lsm", &["librocksdb-sys", "rocksdb"][..]),
        ("stoa-server", &["arrow", "pgwire", "stoa-store-lsm"][..]),
    ] {
        assert!(doors(package, &names(dependencies)).is_empty(), "{package}");
    }
}

#[test]
fn an_arrow_that_goes_up_or_aside_is_reported() {
    for (package, dependency) in [
        ("stoa-store", "stoa-encoding"),
        ("stoa-pg", "stoa-engine"),
        ("stoa-text", "stoa-pg"),
        ("stoa-error", "stoa-text"),
        ("stoa-pg", "stoa-syntax"),
        ("stoa-syntax", "stoa-pg"),
        ("stoa-store-lsm", "stoa-engine"),
        ("stoa-engine", "stoa-server"),
        ("stoa-engine", "stoa-store"),
        ("stoa-table", "stoa-syntax"),
        ("stoa-sql", "stoa-engine"),
        ("stoa-sql", "stoa-exec"),
        ("stoa-exec", "stoa-engine"),
        ("stoa-table", "stoa-sql"),
        ("stoa-engine", "stoa-store-lsm"),
        ("stoa-server", "stoa-unheard-of"),
    ] {
        assert_eq!(arrows(package, &names(&["serde", dependency])).len(), 1, "{package} and {dependency}");
    }
    assert_eq!(arrows("stoa-unheard-of", &names(&[])).len(), 1);
    assert!(arrows("stoa-engine", &names(&["serde", "stoa-encoding", "stoa-pg", "stoa-syntax", "stoa-table"])).is_empty());
}

#[test]
fn the_table_of_crates_goes_down_itself() {
    for (at, (name, below)) in CRATES.iter().enumerate() {
        for lower in *below {
            assert!(CRATES[..at].iter().any(|(earlier, _)| earlier == lower), "{name} stands before {lower}");
        }
    }
}

#[test]
fn manifests_are_read_in_all_their_forms() {
    let workspace = read_manifest("[workspace.dependencies]\nparser = { package = \"sqlparser\", version = \"1\" } # under another name\n");
    let manifest = read_manifest(
        r#"
        [package]
        name = "stoa-x" # "not this"
        description = "[dependencies] = # no comment"
        [dependencies]
        a.workspace = true
        b = "1"
        "c" = { version = "1", features = [
            "x", # a comment ]
            "package",
        ] }
        d = { version = "1", package = "real-d" }
        e.version = "1"
        e.package = "real-e"
        parser.workspace = true
        [dependencies.f]
        version = "1"
        package = 'real-f'
        [dev-dependencies]
        g = "1"
        d = "1"
        [build-dependencies]
        h = "1"
        [target.'cfg(any(unix, target_os = "x.y"))'.dependencies]
        i = "1"
        [[bin]]
        name = "not-a-package"
        [features]
        dependencies = []
        [package.metadata.dependencies]
        j = "1"
        "#,
    )
    .unwrap();
    assert_eq!(manifest.package, "stoa-x");
    let expected = names(&["a", "b", "c", "real-d", "d", "real-e", "parser", "sqlparser", "real-f", "g", "h", "i"]);
    assert_eq!(packages(&manifest, &workspace.unwrap()), expected);
    for refused in ["dependencies = { a = '1' }", "[dependencies]\na = [", "[package]\nname = \"\"\"x\"\"\"", "[dependencies]\nnonsense"] {
        assert!(read_manifest(refused).is_err(), "{refused:?}");
    }
}

// ---------------------------------------------------------------------------------------------------------------------------------
// The tree

fn root() -> PathBuf {
    // Asked while the test runs: what was compiled may serve another checkout as well.
    Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).ancestors().nth(2).unwrap().to_owned()
}

fn rust_files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if kind.is_dir() && !hidden && !path.ends_with("target") {
            rust_files(&path, out);
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "rs") {
            out.push(path);
        }
    }
}

#[test]
fn files_say_what_they_are() {
    let root = root();
    let mut files = Vec::new();
    for folder in FOLDERS.iter().map(|folder| root.join(folder)).filter(|folder| folder.is_dir()) {
        rust_files(&folder, &mut files);
    }
    assert!(files.contains(&root.join("crates/server/tests/tidy.rs")), "not every file was found");
    let mut complaints = Vec::new();
    for path in &files {
        let shown = path.strip_prefix(&root).unwrap();
        complaints.extend(opening(shown, &fs::read_to_string(path).unwrap()));
        complaints.extend(naming(shown));
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn documents_name_files_that_are_there() {
    let root = root();
    let mut documents = vec![root.join("ARCHITECTURE.md"), root.join("CONTRIBUTING.md"), root.join("README.md")];
    let listed = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    documents.extend(listed.filter(|path| path.extension().is_some_and(|e| e == "md")));
    let mut complaints = Vec::new();
    for document in documents {
        let text = fs::read_to_string(&document).unwrap();
        let missing = named_files(&text, &|path| root.join(path).exists());
        complaints.extend(missing.into_iter().map(|complaint| format!("{}: {complaint}", document.display())));
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn crates_depend_on_what_they_may() {
    let root = root();
    let read = |path: &Path| read_manifest(&fs::read_to_string(path).unwrap()).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let workspace = read(&root.join("Cargo.toml"));
    let (mut crates, mut used, mut complaints) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    for entry in fs::read_dir(root.join("crates")).unwrap() {
        let folder = entry.unwrap();
        let path = folder.path().join("Cargo.toml");
        if !path.is_file() {
            continue;
        }
        let manifest = read(&path);
        let dependencies = packages(&manifest, &workspace);
        complaints.extend(calling(&folder.file_name().to_string_lossy(), &manifest.package));
        complaints.extend(doors(&manifest.package, &dependencies));
        complaints.extend(arrows(&manifest.package, &dependencies));
        crates.insert(manifest.package);
        used.extend(dependencies);
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
    // A reading that finds nothing would find nothing wrong.
    assert_eq!(crates, CRATES.iter().map(|(name, _)| (*name).to_owned()).collect::<BTreeSet<String>>());
    for giant in ["arrow", "datafusion", "pgwire", "rocksdb", "sqlparser", "stoa-store-lsm"] {
        assert!(used.contains(giant), "no crate depends on {giant}");
    }
}

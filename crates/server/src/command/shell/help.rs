//! `help`, and the names of commands that are not done here.

use super::text::Printer;

const COMMANDS: &[(&str, &str, &str)] = &[
    ("general", "status", "status ['summary' | 'simple']"),
    ("general", "version", "version"),
    ("general", "whoami", "whoami"),
    ("general", "table_help", "table_help"),
    ("general", "help", "help ['command']"),
    ("general", "exit", "exit"),
    (
        "ddl",
        "create",
        "create 't', 'f1', {NAME => 'f2', VERSIONS => 3, TTL => 18000}, SPLITS => ['10', '20']\n\
        create 't', 'f', {NUMREGIONS => 16, SPLITALGO => 'HexStringSplit'}\n\
        options of families: VERSIONS, MIN_VERSIONS, TTL, COMPRESSION, BLOOMFILTER, BLOCKSIZE, BLOCKCACHE, IN_MEMORY, IS_MOB",
    ),
    ("ddl", "alter", "alter 't', NAME => 'f', VERSIONS => 5\nalter 't', {NAME => 'f', METHOD => 'delete'}\nalter 't', 'delete' => 'f'"),
    ("ddl", "describe", "describe 't'"),
    ("ddl", "list", "list ['regular expression']"),
    ("ddl", "exists", "exists 't'"),
    ("ddl", "enable", "enable 't'"),
    ("ddl", "disable", "disable 't'"),
    ("ddl", "enable_all", "enable_all 'regular expression'"),
    ("ddl", "disable_all", "disable_all 'regular expression'"),
    ("ddl", "drop_all", "drop_all 'regular expression'"),
    ("ddl", "alter_status", "alter_status 't'"),
    ("ddl", "clone_table_schema", "clone_table_schema 't', 'new'\nclone_table_schema 't', 'new', false      without its splits"),
    ("ddl", "list_regions", "list_regions 't' [, 'server']"),
    ("ddl", "locate_region", "locate_region 't', 'r'"),
    ("ddl", "show_filters", "show_filters"),
    ("ddl", "is_enabled", "is_enabled 't'"),
    ("ddl", "is_disabled", "is_disabled 't'"),
    ("ddl", "drop", "drop 't'      the table must be disabled"),
    ("ddl", "get_table", "t = get_table 't'\nt.put 'r', 'f:q', 'v'"),
    ("namespace", "create_namespace", "create_namespace 'ns'"),
    ("namespace", "describe_namespace", "describe_namespace 'ns'"),
    ("namespace", "drop_namespace", "drop_namespace 'ns'"),
    ("namespace", "list_namespace", "list_namespace ['regular expression']"),
    ("namespace", "list_namespace_tables", "list_namespace_tables 'ns'"),
    ("dml", "put", "put 't', 'r', 'f:q', 'value' [, timestamp]"),
    (
        "dml",
        "get",
        "get 't', 'r'\nget 't', 'r', 'f:a', 'f:b'\n\
        get 't', 'r', {COLUMN => ['f:a:toInt'], VERSIONS => 4, TIMERANGE => [ts1, ts2], FILTER => \"ValueFilter(=, 'binary:x')\"}",
    ),
    (
        "dml",
        "scan",
        "scan 't'\nscan 't', {STARTROW => 'a', STOPROW => 'b', LIMIT => 10, COLUMNS => ['f:a', 'g'], REVERSED => true}\n\
        scan 't', {ROWPREFIXFILTER => 'a', FILTER => \"PageFilter(3) AND KeyOnlyFilter()\"}\n\
        scan 't', {RAW => true, VERSIONS => 10}\n\
        further: TIMESTAMP, TIMERANGE, MAXLENGTH; CACHE, CACHE_BLOCKS and READ_TYPE change nothing here",
    ),
    ("dml", "delete", "delete 't', 'r', 'f:q' [, timestamp]"),
    ("dml", "deleteall", "deleteall 't', 'r' [, 'f:q' [, timestamp]]\ndeleteall 't', {ROWPREFIXFILTER => 'prefix'}"),
    ("dml", "incr", "incr 't', 'r', 'f:q' [, by]"),
    ("dml", "append", "append 't', 'r', 'f:q', 'value'"),
    ("dml", "count", "count 't' [, INTERVAL => 1000] [, FILTER => \"…\"]"),
    ("dml", "get_counter", "get_counter 't', 'r', 'f:q'"),
    ("dml", "get_splits", "get_splits 't'"),
    ("dml", "truncate", "truncate 't'"),
    ("snapshots", "snapshot", "snapshot 't', 'name'      a copy of the cells, which takes their room"),
    ("snapshots", "clone_snapshot", "clone_snapshot 'name', 'new'      a new table"),
    ("snapshots", "restore_snapshot", "restore_snapshot 'name'      the families and cells that the table had; it is disabled before"),
    ("snapshots", "list_snapshots", "list_snapshots ['regular expression']"),
    ("snapshots", "list_table_snapshots", "list_table_snapshots 'tables' [, 'snapshots']      regular expressions"),
    ("snapshots", "delete_snapshot", "delete_snapshot 'name'"),
    ("snapshots", "delete_all_snapshot", "delete_all_snapshot 'regular expression'"),
    ("snapshots", "delete_table_snapshots", "delete_table_snapshots 'tables' [, 'snapshots']      regular expressions"),
    ("tools", "flush", "flush 't'"),
    ("tools", "compact", "compact 't'"),
    ("tools", "split", "split 't', 'key'"),
    ("tools", "major_compact", "major_compact 't'      removes what deletions and versions hide"),
];

/// Commands of HBase's shell that people will try, and what does the same here.
const ELSEWHERE: &[(&[&str], &str)] = &[
    (&["snapshot_cleanup_switch", "snapshot_cleanup_enabled"], "a snapshot is there until delete_snapshot"),
    (&["merge_region"], "ALTER TABLE … UNSPLIT of SQL joins the regions of a table"),
    (
        &["move", "assign", "unassign", "balancer", "balance_switch", "balancer_enabled", "normalize", "splitormerge_switch"],
        "regions have no servers to move between, or are the cluster's business",
    ),
    (&["grant", "revoke", "user_permission"], "GRANT and REVOKE of SQL give rights and take them, and \\dp of psql shows them"),
    (
        &["add_peer", "remove_peer", "list_peers", "enable_peer", "disable_peer", "enable_table_replication", "disable_table_replication"],
        "nothing is replicated; changes of tables of SQL can be followed from other programs",
    ),
    (&["set_quota", "list_quotas"], "ALTER ROLE … CONNECTION LIMIT and SET statement_timeout of SQL limit what a role may take"),
    (&["alter_namespace"], "a namespace has no properties; ALTER SCHEMA of SQL gives it another name or owner"),
    (&["processlist", "list_procedures", "list_locks"], "pg_stat_activity and pg_locks of SQL show what goes on"),
    (&["zk_dump", "wal_roll", "trace", "update_config", "update_all_config"], "there is no such process"),
];

/// What does the same as a command of HBase's shell that is not done here.
pub fn elsewhere(name: &str) -> Option<&'static str> {
    ELSEWHERE.iter().find(|(names, _)| names.contains(&name)).map(|(_, way)| *way)
}

/// Names of options that commands take.
const OPTIONS: &[&str] = &[
    "BLOCKCACHE",
    "BLOCKSIZE",
    "BLOOMFILTER",
    "COLUMN",
    "COLUMNS",
    "COMPRESSION",
    "FILTER",
    "INTERVAL",
    "IN_MEMORY",
    "IS_MOB",
    "LIMIT",
    "MAXLENGTH",
    "METHOD",
    "MIN_VERSIONS",
    "NAME",
    "NUMREGIONS",
    "RAW",
    "REVERSED",
    "ROWPREFIXFILTER",
    "SPLITALGO",
    "SPLITS",
    "SPLITS_FILE",
    "STARTROW",
    "STOPROW",
    "TIMERANGE",
    "TIMESTAMP",
    "TTL",
    "VERSIONS",
];

/// From which byte on the end of a text may become something else, and what: a command at the beginning, an option behind it.
pub fn completions(before: &str) -> (usize, Vec<String>) {
    let from = before.char_indices().rfind(|(_, c)| !c.is_ascii_alphanumeric() && *c != '_').map_or(0, |(at, c)| at + c.len_utf8());
    let word = before.get(from..).unwrap_or_default();
    // Within a string nothing is known.
    let quoted = |quote: char| before.matches(quote).count() % 2 == 1;
    if word.is_empty() || quoted('\'') || quoted('"') {
        return (before.len(), Vec::new());
    }
    let at_start = before.get(..from).is_none_or(|text| text.trim().is_empty() || text.trim_end().ends_with(['.', ';', '=']));
    let names: Vec<&str> = if at_start { COMMANDS.iter().map(|(_, name, _)| *name).collect() } else { OPTIONS.to_vec() };
    let mut out: Vec<String> = names.into_iter().filter(|name| name.starts_with(word)).map(str::to_owned).collect();
    out.sort();
    (from, out)
}

pub fn print(out: &mut Printer, command: Option<&str>) -> std::io::Result<()> {
    if let Some(command) = command {
        let Some((_, _, usage)) = COMMANDS.iter().find(|(_, name, _)| *name == command) else {
            return out.line(&format!("Command '{command}' does not exist."));
        };
        for line in usage.lines() {
            out.line(&format!("  stoa> {}", line.trim_start()))?;
        }
        return Ok(());
    }
    out.line("Stoa's shell, with the commands of HBase 2.5's. 'help \"command\"' shows how one is used.\n")?;
    for group in ["general", "ddl", "namespace", "dml", "tools"] {
        let names: Vec<&str> = COMMANDS.iter().filter(|(of, ..)| *of == group).map(|(_, name, _)| *name).collect();
        out.line(&format!("  Group name: {group}\n  Commands: {}\n", names.join(", ")))?;
    }
    out.line("Names and values are quoted: 't', \"\\x00\\x01\" for bytes. Options are hashes: {NAME => 'f', VERSIONS => 3}.")
}

/// How commands are called by a variable that holds a table.
pub fn of_tables(out: &mut Printer) -> std::io::Result<()> {
    out.line("A table that was created or found is kept in a variable, and commands about it are called by that:")?;
    for line in ["t = create 't', 'f'", "t = get_table 't'", "t.put 'r', 'f:q', 'v'", "t.scan", "t.describe", "t.disable", "t.drop"] {
        out.line(&format!("  stoa> {line}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::completions;

    #[test]
    fn words_become_commands_and_options() {
        assert_eq!(completions("trunc"), (0, vec!["truncate".into()]));
        assert_eq!(completions("list_n").1, ["list_namespace", "list_namespace_tables"]);
        assert_eq!(completions("scan 't', {STAR"), (11, vec!["STARTROW".into()]));
        assert_eq!(completions("t.ge").1, ["get", "get_counter", "get_splits", "get_table"]);
        assert_eq!(completions("put 'li"), (7, vec![]));
        assert_eq!(completions("put 'ä', LIM"), (10, vec!["LIMIT".into()]));
        assert_eq!(completions(""), (0, vec![]));
    }
}

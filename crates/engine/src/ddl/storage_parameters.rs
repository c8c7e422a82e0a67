//! PostgreSQL's storage parameters of tables and indexes: kept, shown, and without effect.

use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::definition::TOAST;
use stoa_syntax::ddl::StorageOption;

/// What has a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Of {
    Table,
    Index,
    /// An index by gin.
    Gin,
}

enum Values {
    Bool,
    Integer(i64, i64),
    Real(f64, f64),
    Words(&'static [&'static str]),
}

struct Parameter {
    name: &'static str,
    values: Values,
    table: bool,
    index: bool,
    gin: bool,
    /// Of what PostgreSQL keeps of large values beside the table, as `toast.name`.
    toast: bool,
}

const INT_MAX: i64 = i32::MAX as i64;

#[rustfmt::skip]
const PARAMETERS: &[Parameter] = {
    use Values::{Bool, Integer, Real, Words};
    const fn of_table(name: &'static str, values: Values) -> Parameter { Parameter { name, values, table: true, index: false, gin: false, toast: false } }
    const fn of_toast(name: &'static str, values: Values) -> Parameter { Parameter { name, values, table: true, index: false, gin: false, toast: true } }
    &[
        Parameter { name: "fillfactor", values: Integer(10, 100), table: true, index: true, gin: false, toast: false },
        Parameter { name: "deduplicate_items", values: Bool, table: false, index: true, gin: false, toast: false },
        Parameter { name: "fastupdate", values: Bool, table: false, index: false, gin: true, toast: false },
        Parameter { name: "gin_pending_list_limit", values: Integer(64, INT_MAX), table: false, index: false, gin: true, toast: false },
        of_table("parallel_workers", Integer(0, 1024)),
        of_table("toast_tuple_target", Integer(128, 8160)),
        of_table("user_catalog_table", Bool),
        of_table("autovacuum_analyze_scale_factor", Real(0.0, 100.0)),
        of_table("autovacuum_analyze_threshold", Integer(0, INT_MAX)),
        of_toast("autovacuum_enabled", Bool),
        of_toast("autovacuum_freeze_max_age", Integer(100_000, 2_000_000_000)),
        of_toast("autovacuum_freeze_min_age", Integer(0, 1_000_000_000)),
        of_toast("autovacuum_freeze_table_age", Integer(0, 2_000_000_000)),
        of_toast("autovacuum_multixact_freeze_max_age", Integer(10_000, 2_000_000_000)),
        of_toast("autovacuum_multixact_freeze_min_age", Integer(0, 1_000_000_000)),
        of_toast("autovacuum_multixact_freeze_table_age", Integer(0, 2_000_000_000)),
        of_toast("autovacuum_vacuum_cost_delay", Real(0.0, 100.0)),
        of_toast("autovacuum_vacuum_cost_limit", Integer(1, 10_000)),
        of_toast("autovacuum_vacuum_insert_scale_factor", Real(0.0, 100.0)),
        of_toast("autovacuum_vacuum_insert_threshold", Integer(-1, INT_MAX)),
        of_toast("autovacuum_vacuum_scale_factor", Real(0.0, 100.0)),
        of_toast("autovacuum_vacuum_threshold", Integer(0, INT_MAX)),
        of_toast("log_autovacuum_min_duration", Integer(-1, INT_MAX)),
        of_toast("vacuum_index_cleanup", Words(&["on", "off", "auto"])),
        of_toast("vacuum_truncate", Bool),
    ]
};

fn found(name: &str, of: Of) -> Option<&'static Parameter> {
    let (name, toast) = name.strip_prefix(TOAST).map_or((name, false), |name| (name, true));
    PARAMETERS.iter().find(|p| {
        p.name == name
            && match (of, toast) {
                (Of::Table, true) => p.toast,
                (Of::Table, false) => p.table,
                (Of::Index, toast) => p.index && !toast,
                (Of::Gin, toast) => p.gin && !toast,
            }
    })
}

/// Whether a table or an index has such a parameter in PostgreSQL.
pub(crate) fn is_known(name: &str, of: Of) -> bool {
    found(name, of).is_some()
}

fn invalid(message: impl Into<String>) -> PgError {
    PgError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

/// 22023 for a parameter that there is not.
pub(crate) fn unrecognized(name: &str) -> PgError {
    match name.split_once('.') {
        None => invalid(format!("unrecognized parameter \"{name}\"")),
        Some(("toast", name)) => invalid(format!("unrecognized parameter \"{name}\"")),
        Some((namespace, _)) => invalid(format!("unrecognized parameter namespace \"{namespace}\"")),
    }
}

/// # Errors
/// 22023 for an option that stands twice in a list.
pub(crate) fn check_once(options: &[StorageOption]) -> PgResult<()> {
    let twice = options.iter().enumerate().find(|(at, option)| options.iter().take(*at).any(|before| before.name == option.name));
    twice.map_or(Ok(()), |(_, option)| Err(invalid(format!("parameter \"{}\" specified more than once", option.name))))
}

/// # Errors
/// 42601 for `RESET (name = value)`.
pub(crate) fn check_reset(options: &[StorageOption]) -> PgResult<()> {
    match options.iter().any(|option| option.value.is_some()) {
        true => Err(PgError::new(SqlState::SYNTAX_ERROR, "RESET must not include values for parameters")),
        false => Ok(()),
    }
}

/// # Errors
/// 22023 for a parameter that there is not, or a value that it does not take.
pub(crate) fn check(option: &StorageOption, of: Of) -> PgResult<()> {
    let parameter = found(&option.name, of).ok_or_else(|| unrecognized(&option.name))?;
    let (name, value) = (parameter.name, option.value.as_deref().unwrap_or("true"));
    let outside = |low: String, high: String| {
        Err(invalid(format!("value {value} out of bounds for option \"{name}\""))
            .detail(format!("Valid values are between \"{low}\" and \"{high}\".")))
    };
    let boolean = stoa_exec::settings::value::parse_bool(value).is_some();
    match parameter.values {
        Values::Bool if boolean => Ok(()),
        Values::Bool => Err(invalid(format!("invalid value for boolean option \"{name}\": {value}"))),
        Values::Words(words) if boolean || words.iter().any(|word| word.eq_ignore_ascii_case(value)) => Ok(()),
        Values::Words(words) => {
            let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
            let (last, rest) = quoted.split_last().map_or((String::new(), String::new()), |(last, rest)| (last.clone(), rest.join(", ")));
            Err(invalid(format!("invalid value for enum option \"{name}\": {value}"))
                .detail(format!("Valid values are {rest}, and {last}.")))
        }
        Values::Integer(low, high) => match value.parse::<f64>().map(f64::round_ties_even) {
            Ok(n) if n >= low as f64 && n <= high as f64 => Ok(()),
            Ok(n) if n.is_finite() => outside(low.to_string(), high.to_string()),
            _ => Err(invalid(format!("invalid value for integer option \"{name}\": {value}"))),
        },
        Values::Real(low, high) => match value.parse::<f64>() {
            Ok(n) if n >= low && n <= high => Ok(()),
            Ok(n) if n.is_finite() => outside(format!("{low:.6}"), format!("{high:.6}")),
            _ => Err(invalid(format!("invalid value for floating point option \"{name}\": {value}"))),
        },
    }
}

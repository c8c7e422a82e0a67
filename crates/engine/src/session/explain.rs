//! EXPLAIN: its options, and its lines as rows.

use super::api::{OutputColumn, Rows, RowsTag};
use super::show::text_rows;
use crate::plan::explain::{ExplainFormat, ExplainOptions};
use std::sync::Arc;
use stoa_exec::settings::value::boolean;
use stoa_pg::types::{PgType, SqlType};
use stoa_pg::{EvalContext, PgError, PgResult, SqlState};
use stoa_syntax::utility::{NamedOption, OptionValue};

/// The options as PostgreSQL reads them.
///
/// # Errors
/// 42601 and 22023 as PostgreSQL raises them; 0A000 for formats and details that are not done.
pub fn options(given: &[NamedOption]) -> PgResult<ExplainOptions> {
    let mut out = ExplainOptions {
        analyze: false,
        verbose: false,
        costs: true,
        timing: false,
        summary: false,
        advise: false,
        format: ExplainFormat::Text,
    };
    let (mut timing, mut summary) = (None, None);
    for option in given {
        match option.name.as_str() {
            "analyze" | "analyse" => out.analyze = boolean(option)?,
            "verbose" => out.verbose = boolean(option)?,
            "advise" => out.advise = boolean(option)?,
            "costs" => out.costs = boolean(option)?,
            "timing" => timing = Some(boolean(option)?),
            "summary" => summary = Some(boolean(option)?),
            name @ ("buffers" | "settings" | "wal") => {
                if boolean(option)? {
                    let mut error = PgError::unsupported(format!("EXPLAIN option {} is not supported", name.to_uppercase()));
                    if name == "wal" && !out.analyze {
                        error = PgError::new(SqlState::INVALID_PARAMETER_VALUE, "EXPLAIN option WAL requires ANALYZE");
                    }
                    return Err(error.at(Some(option.position)));
                }
            }
            "format" => out.format = format(option)?,
            other => {
                return Err(
                    PgError::new(SqlState::SYNTAX_ERROR, format!("unrecognized EXPLAIN option \"{other}\"")).at(Some(option.position))
                );
            }
        }
    }
    if timing == Some(true) && !out.analyze {
        return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "EXPLAIN option TIMING requires ANALYZE"));
    }
    out.timing = timing.unwrap_or(out.analyze);
    out.summary = summary.unwrap_or(out.analyze);
    Ok(out)
}

fn format(option: &NamedOption) -> PgResult<ExplainFormat> {
    let text = match &option.value {
        Some(OptionValue::Word(text) | OptionValue::Text(text)) => text.to_ascii_lowercase(),
        _ => return Err(PgError::new(SqlState::SYNTAX_ERROR, "format requires a parameter")),
    };
    match text.as_str() {
        "text" => Ok(ExplainFormat::Text),
        "json" => Ok(ExplainFormat::Json),
        "xml" => Ok(ExplainFormat::Xml),
        "yaml" => Ok(ExplainFormat::Yaml),
        other => {
            Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("unrecognized value for EXPLAIN option \"format\": \"{other}\""))
                .at(Some(option.position)))
        }
    }
}

pub(crate) fn columns(given: &[NamedOption]) -> PgResult<Arc<[OutputColumn]>> {
    let ty = match options(given)?.format {
        ExplainFormat::Json => PgType::Json,
        // There is no type xml.
        ExplainFormat::Text | ExplainFormat::Xml | ExplainFormat::Yaml => PgType::Text,
    };
    Ok(Arc::from([OutputColumn { name: "QUERY PLAN".into(), ty: SqlType::new(ty), table_oid: 0, attnum: 0 }]))
}

/// What is meant for programs is one value; text is a row a line.
pub(crate) fn rows(given: &[NamedOption], lines: Vec<String>, context: EvalContext) -> PgResult<Rows> {
    let rows = match options(given)?.format {
        ExplainFormat::Text => lines.into_iter().map(|line| vec![Some(line)]).collect(),
        ExplainFormat::Json | ExplainFormat::Xml | ExplainFormat::Yaml => vec![vec![Some(lines.join("\n"))]],
    };
    text_rows(columns(given)?, rows, RowsTag::Fixed("EXPLAIN".into()), context)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    fn read(text: &str) -> PgResult<ExplainOptions> {
        match stoa_syntax::parse_script(&format!("EXPLAIN {text} SELECT 1")).unwrap().remove(0).body {
            stoa_syntax::Body::Utility(utility) => match *utility {
                stoa_syntax::utility::Utility::Explain(explain) => options(&explain.options),
                other => panic!("{other:?}"),
            },
            stoa_syntax::Body::Sql(_) => panic!(),
        }
    }

    #[test]
    fn options_and_errors() {
        let all = read("(ANALYZE, VERBOSE on, COSTS off, FORMAT JSON, TIMING 0)").unwrap();
        assert_eq!(
            all,
            ExplainOptions {
                analyze: true,
                verbose: true,
                costs: false,
                timing: false,
                summary: true,
                advise: false,
                format: ExplainFormat::Json
            }
        );
        for (text, code) in
            [("(foo)", "42601"), ("(format foo)", "22023"), ("(analyze maybe)", "42601"), ("(timing)", "22023"), ("(wal)", "22023")]
        {
            assert_eq!(read(text).unwrap_err().code().as_str(), code, "{text}");
        }
    }
}

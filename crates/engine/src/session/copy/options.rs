//! The options of COPY, checked as PostgreSQL checks them.

use crate::session::api::CopyFormat;
use stoa_exec::settings::value::{client_encoding, parse_bool};
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_syntax::utility::{NamedOption, OptionValue};
use stoa_table::catalog::TableDescriptor;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Header {
    #[default]
    No,
    Yes,
    /// The first line must name the columns.
    Match,
}

/// Which columns an option is for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum ColumnSet {
    #[default]
    None,
    All,
    Named(Vec<String>),
}

impl ColumnSet {
    /// The set as a flag a column.
    ///
    /// # Errors
    /// 42P10 for columns that are not copied.
    pub fn flags(&self, option: &str, columns: &[String]) -> PgResult<Vec<bool>> {
        match self {
            ColumnSet::None => Ok(vec![false; columns.len()]),
            ColumnSet::All => Ok(vec![true; columns.len()]),
            ColumnSet::Named(names) => {
                if let Some(name) = names.iter().find(|n| !columns.contains(n)) {
                    return Err(PgError::new(
                        SqlState::INVALID_COLUMN_REFERENCE,
                        format!("{option} column \"{name}\" not referenced by COPY"),
                    ));
                }
                Ok(columns.iter().map(|c| names.contains(c)).collect())
            }
        }
    }
}

/// How data looks outside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CopyOptions {
    pub format: CopyFormat,
    pub delimiter: u8,
    pub null: String,
    pub header: Header,
    pub quote: u8,
    pub escape: u8,
    pub force_quote: ColumnSet,
    pub force_not_null: ColumnSet,
    pub force_null: ColumnSet,
    /// Rows are as old as can be: nothing here tells their age, but the table must be new.
    pub freeze: bool,
}

impl CopyOptions {
    /// Whether the table has the columns that options name.
    ///
    /// # Errors
    /// 42703 for one that it does not have.
    pub fn check_columns(&self, table: &TableDescriptor) -> PgResult<()> {
        for set in [&self.force_quote, &self.force_not_null, &self.force_null] {
            let ColumnSet::Named(names) = set else { continue };
            if let Some(name) = names.iter().find(|name| table.column_by_name(name).is_none()) {
                let message = format!("column \"{name}\" of relation \"{}\" does not exist", table.name);
                return Err(PgError::new(SqlState::UNDEFINED_COLUMN, message));
            }
        }
        Ok(())
    }

    /// Reads the options of a COPY FROM, or of a COPY TO.
    ///
    /// # Errors
    /// As PostgreSQL: 42601, 22023, 0A000.
    pub fn read(given: &[NamedOption], from: bool) -> PgResult<Self> {
        let mut format = None;
        let (mut delimiter, mut null, mut quote, mut escape, mut header) = (None, None, None, None, None);
        let (mut force_quote, mut force_not_null, mut force_null) = (None, None, None);
        let (mut freeze, mut encoding) = (None, None);
        for option in given {
            let repeated = match option.name.as_str() {
                "format" => format.replace(read_format(option)?).is_some(),
                "delimiter" => delimiter.replace(text(option)?).is_some(),
                "null" => null.replace(text(option)?).is_some(),
                "header" => header.replace(read_header(option, from)?).is_some(),
                "quote" => quote.replace(text(option)?).is_some(),
                "escape" => escape.replace(text(option)?).is_some(),
                "force_quote" => force_quote.replace(columns(option, true)?).is_some(),
                "force_not_null" => force_not_null.replace(columns(option, false)?).is_some(),
                "force_null" => force_null.replace(columns(option, false)?).is_some(),
                "freeze" => freeze.replace(boolean(option)?).is_some(),
                "encoding" => encoding.replace(read_encoding(option)?).is_some(),
                other => return Err(syntax(format!("option \"{other}\" not recognized")).at(Some(option.position))),
            };
            if repeated {
                return Err(syntax("conflicting or redundant options").at(Some(option.position)));
            }
        }
        let format = format.unwrap_or(CopyFormat::Text);
        let csv = format == CopyFormat::Csv;
        let binary = format == CopyFormat::Binary;
        if binary && delimiter.is_some() {
            return Err(syntax("cannot specify DELIMITER in BINARY mode"));
        }
        if binary && null.is_some() {
            return Err(syntax("cannot specify NULL in BINARY mode"));
        }
        let delimiter = match delimiter {
            Some(text) => one_byte(&text, "delimiter")?,
            None if csv => b',',
            None => b'\t',
        };
        let null = null.unwrap_or_else(|| if csv { String::new() } else { "\\N".into() });
        if matches!(delimiter, b'\n' | b'\r') {
            return Err(invalid("COPY delimiter cannot be newline or carriage return"));
        }
        if null.contains(['\n', '\r']) {
            return Err(invalid("COPY null representation cannot use newline or carriage return"));
        }
        if !csv && (delimiter.is_ascii_lowercase() || delimiter.is_ascii_digit() || matches!(delimiter, b'\\' | b'.')) {
            return Err(invalid(format!("COPY delimiter cannot be \"{}\"", char::from(delimiter))));
        }
        if binary && header.is_some_and(|h| h != Header::No) {
            return Err(PgError::unsupported("cannot specify HEADER in BINARY mode"));
        }
        for (given, word) in [
            (quote.is_some(), "quote"),
            (escape.is_some(), "escape"),
            (force_quote.is_some(), "force quote"),
            (force_not_null.is_some(), "force not null"),
            (force_null.is_some(), "force null"),
        ] {
            if given && !csv {
                return Err(PgError::unsupported(format!("COPY {word} available only in CSV mode")));
            }
        }
        let quote = quote.map_or(Ok(b'"'), |text| one_byte(&text, "quote"))?;
        if csv && delimiter == quote {
            return Err(invalid("COPY delimiter and quote must be different"));
        }
        let escape = escape.map_or(Ok(quote), |text| one_byte(&text, "escape"))?;
        if force_quote.is_some() && from {
            return Err(PgError::unsupported("COPY force quote only available using COPY TO"));
        }
        if force_not_null.is_some() && !from {
            return Err(PgError::unsupported("COPY force not null only available using COPY FROM"));
        }
        if force_null.is_some() && !from {
            return Err(PgError::unsupported("COPY force null only available using COPY FROM"));
        }
        if null.as_bytes().contains(&delimiter) {
            return Err(PgError::unsupported("COPY delimiter must not appear in the NULL specification"));
        }
        if csv && null.as_bytes().contains(&quote) {
            return Err(PgError::unsupported("CSV quote character must not appear in the NULL specification"));
        }
        Ok(Self {
            format,
            delimiter,
            null,
            header: header.unwrap_or_default(),
            quote,
            escape,
            force_quote: force_quote.unwrap_or_default(),
            force_not_null: force_not_null.unwrap_or_default(),
            force_null: force_null.unwrap_or_default(),
            freeze: freeze.unwrap_or_default(),
        })
    }
}

fn syntax(message: impl Into<String>) -> PgError {
    PgError::new(SqlState::SYNTAX_ERROR, message)
}

fn invalid(message: impl Into<String>) -> PgError {
    PgError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

fn text(option: &NamedOption) -> PgResult<String> {
    match &option.value {
        Some(OptionValue::Word(text) | OptionValue::Text(text) | OptionValue::Number(text)) => Ok(text.clone()),
        Some(OptionValue::Star) => Ok("*".into()),
        _ => Err(syntax(format!("{} requires a parameter", option.name))),
    }
}

fn boolean(option: &NamedOption) -> PgResult<bool> {
    match &option.value {
        None => Ok(true),
        Some(OptionValue::Word(text) | OptionValue::Text(text) | OptionValue::Number(text)) if parse_bool(text).is_some() => {
            Ok(parse_bool(text).unwrap_or(false))
        }
        _ => Err(syntax(format!("{} requires a Boolean value", option.name))),
    }
}

fn read_format(option: &NamedOption) -> PgResult<CopyFormat> {
    match text(option)?.as_str() {
        "text" => Ok(CopyFormat::Text),
        "csv" => Ok(CopyFormat::Csv),
        "binary" => Ok(CopyFormat::Binary),
        other => Err(invalid(format!("COPY format \"{other}\" not recognized")).at(Some(option.position))),
    }
}

fn read_header(option: &NamedOption, from: bool) -> PgResult<Header> {
    if let Some(OptionValue::Word(word) | OptionValue::Text(word)) = &option.value
        && word.eq_ignore_ascii_case("match")
    {
        return if from { Ok(Header::Match) } else { Err(PgError::unsupported("cannot use \"match\" with HEADER in COPY TO")) };
    }
    match boolean(option) {
        Ok(true) => Ok(Header::Yes),
        Ok(false) => Ok(Header::No),
        Err(_) => Err(syntax("header requires a Boolean value or \"match\"")),
    }
}

fn read_encoding(option: &NamedOption) -> PgResult<()> {
    client_encoding(&text(option)?).map(|_| ()).map_err(|error| {
        if error.code() == SqlState::FEATURE_NOT_SUPPORTED {
            return error;
        }
        invalid("argument to option \"encoding\" must be a valid encoding name").at(Some(option.position))
    })
}

fn columns(option: &NamedOption, star: bool) -> PgResult<ColumnSet> {
    match &option.value {
        Some(OptionValue::Star) if star => Ok(ColumnSet::All),
        Some(OptionValue::List(names)) => Ok(ColumnSet::Named(names.clone())),
        _ => Err(invalid(format!("argument to option \"{}\" must be a list of column names", option.name)).at(Some(option.position))),
    }
}

fn one_byte(text: &str, what: &str) -> PgResult<u8> {
    match text.as_bytes() {
        [byte] => Ok(*byte),
        _ => Err(PgError::unsupported(format!("COPY {what} must be a single one-byte character"))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    fn read(text: &str) -> PgResult<CopyOptions> {
        match stoa_syntax::parse_script(&format!("COPY t {text}")).unwrap().remove(0).body {
            stoa_syntax::Body::Utility(utility) => match *utility {
                stoa_syntax::utility::Utility::Copy(copy) => CopyOptions::read(&copy.options, copy.from),
                other => panic!("{other:?}"),
            },
            stoa_syntax::Body::Sql(_) => panic!(),
        }
    }

    #[test]
    fn errors_as_postgresql_has_them() {
        for (text, code, message) in [
            ("FROM STDIN (FORMAT json)", "22023", "COPY format \"json\" not recognized"),
            ("FROM STDIN (nosuch 1)", "42601", "option \"nosuch\" not recognized"),
            ("FROM STDIN (FORMAT csv, FORMAT csv)", "42601", "conflicting or redundant options"),
            ("FROM STDIN (DELIMITER 'ab')", "0A000", "COPY delimiter must be a single one-byte character"),
            ("FROM STDIN (DELIMITER 'a')", "22023", "COPY delimiter cannot be \"a\""),
            ("FROM STDIN (FORMAT csv, DELIMITER '\"')", "22023", "COPY delimiter and quote must be different"),
            ("FROM STDIN (QUOTE 'x')", "0A000", "COPY quote available only in CSV mode"),
            ("FROM STDIN (FORMAT csv, FORCE_QUOTE *)", "0A000", "COPY force quote only available using COPY TO"),
            ("TO STDOUT (FORMAT csv, FORCE_NULL (a))", "0A000", "COPY force null only available using COPY FROM"),
            ("TO STDOUT (FORMAT binary, HEADER)", "0A000", "cannot specify HEADER in BINARY mode"),
            ("TO STDOUT (HEADER match)", "0A000", "cannot use \"match\" with HEADER in COPY TO"),
            ("TO STDOUT (HEADER maybe)", "42601", "header requires a Boolean value or \"match\""),
            ("TO STDOUT (FORMAT binary, NULL 'x')", "42601", "cannot specify NULL in BINARY mode"),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!((error.code().as_str(), error.message()), (code, message), "{text}");
        }
        let all = read("FROM STDIN CSV HEADER DELIMITER '|' NULL 'x'").unwrap();
        assert_eq!((all.format, all.header, all.delimiter, all.null.as_str()), (CopyFormat::Csv, Header::Yes, b'|', "x"));
    }
}

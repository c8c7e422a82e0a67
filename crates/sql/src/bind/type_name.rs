//! Types as SQL writes them: `varchar(10)`, `numeric(8,2)[]`, `timestamp(3) with time zone`, `pg_catalog.int4`.

use super::scope::Clause;
use super::{Binder, name_parts};
use std::sync::Arc;
use stoa_pg::types::{RecordType, numeric_typmod_of, type_by_name};
use stoa_pg::values::bit::bit_typmod;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_syntax::ast::{ArrayElemTypeDef, CharacterLength, DataType, ExactNumberInfo, IntervalFields, TimezoneInfo};
use stoa_table::catalog::{ColumnId, Oid};

impl Binder<'_> {
    /// The type that a syntax node names.
    ///
    /// # Errors
    /// 42704 for unknown names; 0A000 for the row type of a table in an expression that is stored, whose text has no name for it.
    pub fn type_of(&mut self, data_type: &DataType) -> PgResult<SqlType> {
        let error = match sql_type(data_type) {
            Ok(ty) => return Ok(ty),
            Err(error) => error,
        };
        let Some((relation, columns, ty)) = self.row_type(data_type) else { return Err(self.no_schema(data_type).unwrap_or(error)) };
        let stored = |clause| !matches!(clause, Clause::Transform) && Clause::without_queries(clause).is_some();
        if self.keep && self.scopes.first().is_some_and(|scope| stored(scope.clause)) {
            return Err(PgError::unsupported(format!(
                "the row type of table \"{data_type}\" in an expression that is stored is not supported"
            ))
            .hint("Compare the columns one by one, or as rows without a type."));
        }
        self.note_use(relation, None);
        columns.into_iter().for_each(|column| self.note_use(relation, Some(column)));
        Ok(ty)
    }

    /// That the schema which a type's name begins with does not exist.
    fn no_schema(&self, data_type: &DataType) -> Option<PgError> {
        let DataType::Custom(name, _) = data_type else { return None };
        let parts = name_parts(name).ok()?;
        let [schema, _] = parts.as_slice() else { return None };
        let exists = matches!(schema.as_str(), "pg_catalog" | "information_schema") || self.ctx.catalog.schema_by_name(schema).is_some();
        (!exists).then(|| PgError::new(SqlState::INVALID_SCHEMA_NAME, format!("schema \"{schema}\" does not exist")))
    }

    /// The row type of a table, which has the table's name.
    fn row_type(&self, data_type: &DataType) -> Option<(Oid, Vec<ColumnId>, SqlType)> {
        let DataType::Custom(name, modifiers) = data_type else { return None };
        if !modifiers.is_empty() {
            return None;
        }
        let parts = name_parts(name).ok()?;
        let relation = match parts.as_slice() {
            [table] => self.ctx.search_path.iter().find_map(|s| self.ctx.catalog.relation_by_name(*s, table)),
            [schema, table] => self.ctx.catalog.relation_by_name(self.ctx.catalog.schema_by_name(schema)?.oid, table),
            _ => None,
        }?;
        let table = self.ctx.catalog.table(relation.oid())?;
        let fields = table.visible_columns().map(|c| (c.name.clone(), c.ty.widened())).collect();
        let ty = SqlType::new(PgType::Record(Some(Arc::new(RecordType { fields }))));
        Some((table.oid, table.visible_columns().map(|c| c.id).collect(), ty))
    }
}

/// How many `[]` a type is written with, if others than one for an array.
#[must_use]
pub fn declared_dimensions(data_type: &DataType) -> Option<u16> {
    let (mut count, mut inner) = (0_u16, data_type);
    while let DataType::Array(ArrayElemTypeDef::SquareBracket(element, _)) = inner {
        (count, inner) = (count.saturating_add(1), element);
    }
    (count > 1).then_some(count)
}

/// The type that a syntax node names.
///
/// # Errors
/// 42704 for unknown names, 22023 for modifiers out of range.
pub fn sql_type(data_type: &DataType) -> PgResult<SqlType> {
    use DataType as D;
    let plain = |ty: PgType| Ok(SqlType::new(ty));
    match data_type {
        D::Bool | D::Boolean => plain(PgType::Bool),
        D::SmallInt(_) | D::Int2(_) | D::TinyInt(_) => plain(PgType::Int2),
        D::Int(_) | D::Integer(_) | D::Int4(_) => plain(PgType::Int4),
        D::BigInt(_) | D::Int8(_) => plain(PgType::Int8),
        D::Real | D::Float4 => plain(PgType::Float4),
        D::Double(_) | D::DoublePrecision | D::Float8 => plain(PgType::Float8),
        D::Float(info) => match info {
            ExactNumberInfo::None => plain(PgType::Float8),
            ExactNumberInfo::Precision(p) if (1..=24).contains(p) => plain(PgType::Float4),
            ExactNumberInfo::Precision(p) if (25..=53).contains(p) => plain(PgType::Float8),
            ExactNumberInfo::Precision(0) => {
                Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "precision for type float must be at least 1 bit"))
            }
            _ => Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "precision for type float must be less than 54 bits")),
        },
        D::Numeric(info) | D::Decimal(info) | D::Dec(info) => numeric(info),
        D::Text | D::String(None) => plain(PgType::Text),
        D::Varchar(len) | D::CharacterVarying(len) | D::CharVarying(len) | D::Nvarchar(len) => {
            character(PgType::Varchar, len.as_ref(), None)
        }
        D::Char(len) | D::Character(len) => character(PgType::Bpchar, len.as_ref(), Some(1)),
        D::Bytea => plain(PgType::Bytea),
        D::Bit(length) => bits(PgType::Bit, Some(length.unwrap_or(1))),
        D::BitVarying(length) | D::VarBit(length) => bits(PgType::Varbit, *length),
        D::Date => plain(PgType::Date),
        D::Time(p, zone) => match zone {
            TimezoneInfo::WithTimeZone | TimezoneInfo::Tz => precision(PgType::Timetz, *p),
            _ => precision(PgType::Time, *p),
        },
        D::Timestamp(p, zone) => match zone {
            TimezoneInfo::WithTimeZone | TimezoneInfo::Tz => precision(PgType::Timestamptz, *p),
            _ => precision(PgType::Timestamp, *p),
        },
        D::Interval { fields, precision } => {
            let range = fields.as_ref().map_or(0x7fff, interval_mask);
            let typmod = match (fields, precision) {
                (None, None) => -1,
                (_, p) => (range << 16) | p.map_or(0xffff, |p| p.min(6) as i32),
            };
            Ok(SqlType::with_typmod(PgType::Interval, typmod))
        }
        D::Uuid => plain(PgType::Uuid),
        D::JSON => plain(PgType::Json),
        D::JSONB => plain(PgType::Jsonb),
        D::Regclass => plain(PgType::Regclass),
        D::TsVector => plain(PgType::Tsvector),
        D::TsQuery => plain(PgType::Tsquery),
        D::Array(
            ArrayElemTypeDef::SquareBracket(inner, _) | ArrayElemTypeDef::AngleBracket(inner) | ArrayElemTypeDef::Parenthesis(inner),
        ) => {
            // However many brackets there are and whatever is in them: each value has dimensions of its own.
            let inner = sql_type(inner)?;
            Ok(SqlType::with_typmod(inner.ty.array_of(), inner.typmod))
        }
        D::Map(key, value) => {
            let (key, value) = (sql_type(key)?, sql_type(value)?);
            super::map::map_type(&key, &value)
        }
        D::Struct(fields, _) => {
            let mut out = Vec::with_capacity(fields.len());
            for (i, field) in fields.iter().enumerate() {
                let name = field.field_name.as_ref().map_or_else(|| format!("f{}", i + 1), super::fold);
                out.push((name, sql_type(&field.field_type)?));
            }
            plain(PgType::Record(Some(Arc::new(RecordType { fields: out }))))
        }
        D::Custom(name, modifiers) => {
            let parts = name_parts(name)?;
            let (schema, base) = match parts.as_slice() {
                [base] => (None, base.as_str()),
                [schema, base] => (Some(schema.as_str()), base.as_str()),
                _ => return Err(undefined_type(&parts.join("."))),
            };
            if schema == Some("information_schema")
                && modifiers.is_empty()
                && let Some(ty) = crate::system_relations::domain(base)
            {
                return Ok(ty);
            }
            if schema.is_some_and(|s| s != "pg_catalog") {
                return Err(undefined_type(&parts.join(".")));
            }
            let ty = type_by_name(base).filter(|ty| !matches!(ty, PgType::Unknown)).ok_or_else(|| undefined_type(&parts.join(".")))?;
            if !modifiers.is_empty() && !takes_modifiers(&ty) {
                return Err(PgError::new(SqlState::SYNTAX_ERROR, format!("type modifier is not allowed for type \"{base}\"")));
            }
            let words = modifiers.iter().map(|m| simple_modifier(m.trim())).collect::<PgResult<Vec<String>>>()?;
            let numbers = words.into_iter().map(|m| m.parse().map_err(|_| PgError::invalid_text("integer", &m)));
            let numbers = numbers.collect::<PgResult<Vec<i64>>>()?;
            with_modifiers(ty, &numbers)
        }
        other => {
            // Types that sqlparser knows and PostgreSQL does not.
            let name = other.to_string().to_lowercase();
            match type_by_name(&name) {
                Some(ty) => plain(ty),
                None => Err(undefined_type(&name)),
            }
        }
    }
}

fn with_modifiers(ty: PgType, numbers: &[i64]) -> PgResult<SqlType> {
    match (&ty, numbers) {
        (_, []) => Ok(SqlType::new(ty)),
        (PgType::Numeric, [p]) => numeric_of(*p, 0),
        (PgType::Numeric, [p, s]) => numeric_of(*p, *s),
        (PgType::Varchar | PgType::Bpchar, [n]) => character_of(ty, *n),
        (PgType::Bit | PgType::Varbit, [n]) => bits(ty, Some(u64::try_from(*n).unwrap_or(0))),
        (PgType::Time | PgType::Timetz | PgType::Timestamp | PgType::Timestamptz, [p]) => {
            let Ok(p) = u64::try_from(*p) else { return Err(negative_precision(&ty, *p)) };
            precision(ty, Some(p))
        }
        // A type that takes modifiers takes no such number of them.
        (PgType::Numeric, _) => Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "invalid NUMERIC type modifier")),
        (ty, _) if takes_modifiers(ty) && *ty != PgType::Interval => {
            Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "invalid type modifier"))
        }
        _ => Err(PgError::new(SqlState::SYNTAX_ERROR, format!("type modifier is not allowed for type \"{}\"", ty.name()))),
    }
}

fn takes_modifiers(ty: &PgType) -> bool {
    matches!(
        ty,
        PgType::Numeric
            | PgType::Varchar
            | PgType::Bpchar
            | PgType::Bit
            | PgType::Varbit
            | PgType::Time
            | PgType::Timetz
            | PgType::Timestamp
            | PgType::Timestamptz
            | PgType::Interval
    )
}

/// The text of a modifier, which is a constant or a name.
fn simple_modifier(text: &str) -> PgResult<String> {
    if let Some(number) = number_modifier(text) {
        return Ok(number);
    }
    let mut text = text.trim();
    while let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        text = inner.trim();
    }
    if let Some(quoted) = text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')) {
        return Ok(quoted.to_owned());
    }
    let name = !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_');
    if name && !matches!(text.to_ascii_lowercase().as_str(), "true" | "false" | "null") {
        return Ok(text.to_owned());
    }
    Err(PgError::new(SqlState::SYNTAX_ERROR, "type modifiers must be simple constants or identifiers"))
}

/// A number, to which signs belong: 2, -2, - 2.5, -(2), -(-2).
fn number_modifier(text: &str) -> Option<String> {
    let text = text.trim();
    if let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        return number_modifier(inner);
    }
    if let Some(negated) = text.strip_prefix('-') {
        let number = number_modifier(negated)?;
        return Some(number.strip_prefix('-').map_or_else(|| format!("-{number}"), str::to_owned));
    }
    (text.starts_with(|c: char| c.is_ascii_digit() || c == '.') && text.parse::<f64>().is_ok()).then(|| text.to_owned())
}

fn undefined_type(name: &str) -> PgError {
    let known = stoa_pg::types::BASE_TYPES.iter().flat_map(|(_, info)| [info.name, info.sql_name]);
    let error = PgError::new(SqlState::UNDEFINED_OBJECT, format!("type \"{name}\" does not exist"));
    match super::suggest::closest(name, known) {
        Some(better) => error.hint(format!("Perhaps you meant the type \"{better}\".")),
        None => error,
    }
}

fn numeric(info: &ExactNumberInfo) -> PgResult<SqlType> {
    match info {
        ExactNumberInfo::None => Ok(SqlType::new(PgType::Numeric)),
        ExactNumberInfo::Precision(p) => numeric_of(*p as i64, 0),
        ExactNumberInfo::PrecisionAndScale(p, s) => numeric_of(*p as i64, *s),
    }
}

fn numeric_of(p: i64, s: i64) -> PgResult<SqlType> {
    if !(1..=1000).contains(&p) {
        return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("NUMERIC precision {p} must be between 1 and 1000")));
    }
    if !(-1000..=1000).contains(&s) {
        return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("NUMERIC scale {s} must be between -1000 and 1000")));
    }
    Ok(SqlType::with_typmod(PgType::Numeric, numeric_typmod_of(p as u16, s as i32)))
}

fn character(ty: PgType, len: Option<&CharacterLength>, default: Option<i64>) -> PgResult<SqlType> {
    match len {
        Some(CharacterLength::IntegerLength { length, .. }) => character_of(ty, i64::try_from(*length).unwrap_or(i64::MAX)),
        Some(CharacterLength::Max) => Ok(SqlType::new(ty)),
        None => match default {
            Some(n) => character_of(ty, n),
            None => Ok(SqlType::new(ty)),
        },
    }
}

fn character_of(ty: PgType, n: i64) -> PgResult<SqlType> {
    const MAX: i64 = 10_485_760;
    let name = if ty == PgType::Varchar { "varchar" } else { "char" };
    if n < 1 {
        return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("length for type {name} must be at least 1")));
    }
    if n > MAX {
        return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("length for type {name} cannot exceed {MAX}")));
    }
    Ok(SqlType::with_typmod(ty, n as i32 + 4))
}

/// Bit strings of a length.
fn bits(ty: PgType, length: Option<u64>) -> PgResult<SqlType> {
    let Some(length) = length else { return Ok(SqlType::new(ty)) };
    let typmod = bit_typmod(&ty, i64::try_from(length).unwrap_or(i64::MAX))?;
    Ok(SqlType::with_typmod(ty, typmod))
}

fn negative_precision(ty: &PgType, p: i64) -> PgError {
    let word = if matches!(ty, PgType::Time | PgType::Timetz) { "TIME" } else { "TIMESTAMP" };
    let zone = if matches!(ty, PgType::Timetz | PgType::Timestamptz) { " WITH TIME ZONE" } else { "" };
    let message = format!("{word}({p}){zone} precision must not be negative");
    PgError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

fn precision(ty: PgType, p: Option<u64>) -> PgResult<SqlType> {
    Ok(match p {
        // PostgreSQL warns and reduces a precision above 6.
        Some(p) => SqlType::with_typmod(ty, p.min(6) as i32),
        None => SqlType::new(ty),
    })
}

/// PostgreSQL's bit mask of interval fields.
fn interval_mask(fields: &IntervalFields) -> i32 {
    const MONTH: i32 = 1 << 1;
    const YEAR: i32 = 1 << 2;
    const DAY: i32 = 1 << 3;
    const HOUR: i32 = 1 << 10;
    const MINUTE: i32 = 1 << 11;
    const SECOND: i32 = 1 << 12;
    match fields {
        IntervalFields::Year => YEAR,
        IntervalFields::Month => MONTH,
        IntervalFields::Day => DAY,
        IntervalFields::Hour => HOUR,
        IntervalFields::Minute => MINUTE,
        IntervalFields::Second => SECOND,
        IntervalFields::YearToMonth => YEAR | MONTH,
        IntervalFields::DayToHour => DAY | HOUR,
        IntervalFields::DayToMinute => DAY | HOUR | MINUTE,
        IntervalFields::DayToSecond => DAY | HOUR | MINUTE | SECOND,
        IntervalFields::HourToMinute => HOUR | MINUTE,
        IntervalFields::HourToSecond => HOUR | MINUTE | SECOND,
        IntervalFields::MinuteToSecond => MINUTE | SECOND,
    }
}

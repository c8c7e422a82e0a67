//! Types as they are written.

use super::{Parse, Parser};
use crate::ast::{
    ArrayElemTypeDef, CharacterLength, DataType, DateTimeField, ExactNumberInfo, Ident, IntervalFields, ObjectName, StructBracketKind,
    StructField, TimezoneInfo,
};
use sqlparser::tokenizer::Token;

/// A type before a string literal.
pub(super) enum LiteralType {
    /// With the precision of `INTERVAL(p) '…'`.
    Interval(Option<u64>),
    Other(DataType),
}

/// Words that begin a type with a grammar of its own.
const KEYWORD_TYPES: &[&str] = &[
    "int",
    "integer",
    "smallint",
    "bigint",
    "real",
    "float",
    "double",
    "decimal",
    "dec",
    "numeric",
    "boolean",
    "bit",
    "character",
    "char",
    "varchar",
    "national",
    "nchar",
    "timestamp",
    "time",
    "interval",
];

/// A type by a name that is no key word; known ones have nodes of their own.
pub(super) fn named(name: ObjectName, modifiers: Vec<String>) -> DataType {
    let text = match name.0.as_slice() {
        [part] => part.as_ident().filter(|i| i.quote_style.is_none()).map(|i| i.value.to_ascii_lowercase()),
        _ => None,
    };
    if modifiers.is_empty() {
        match text.as_deref() {
            Some("text" | "string") => return DataType::Text,
            Some("uuid") => return DataType::Uuid,
            Some("date") => return DataType::Date,
            Some("json") => return DataType::JSON,
            Some("jsonb") => return DataType::JSONB,
            Some("bytea") => return DataType::Bytea,
            Some("bool") => return DataType::Bool,
            Some("int2") => return DataType::Int2(None),
            Some("tinyint") => return DataType::TinyInt(None),
            Some("int4") => return DataType::Int4(None),
            Some("int8") => return DataType::Int8(None),
            Some("float4") => return DataType::Float4,
            Some("float8" | "double") => return DataType::Float8,
            Some("regclass") => return DataType::Regclass,
            Some("timestamptz") => return DataType::Timestamp(None, TimezoneInfo::Tz),
            Some("timetz") => return DataType::Time(None, TimezoneInfo::Tz),
            _ => {}
        }
    }
    DataType::Custom(name, modifiers)
}

impl Parser<'_> {
    /// A type with its modifiers and array bounds.
    pub(crate) fn data_type(&mut self) -> Parse<DataType> {
        if self.peek_keyword(0, "setof") {
            return Err(self.unexpected());
        }
        let mut out = self.simple_type()?;
        if self.keyword("array") {
            let bound = if self.token(&Token::LBracket) { self.bound()? } else { None };
            return Ok(DataType::Array(ArrayElemTypeDef::SquareBracket(Box::new(out), bound)));
        }
        while self.token(&Token::LBracket) {
            let bound = self.bound()?;
            out = DataType::Array(ArrayElemTypeDef::SquareBracket(Box::new(out), bound));
        }
        Ok(out)
    }

    fn bound(&mut self) -> Parse<Option<u64>> {
        let bound = self.unsigned();
        self.expect_token(&Token::RBracket)?;
        Ok(bound)
    }

    fn unsigned(&mut self) -> Option<u64> {
        let Some(Token::Number(text, _)) = self.peek(0) else { return None };
        let value = text.parse().ok()?;
        self.at += 1;
        Some(value)
    }

    /// `(n)`
    fn length(&mut self) -> Parse<Option<u64>> {
        if !self.token(&Token::LParen) {
            return Ok(None);
        }
        let Some(value) = self.unsigned() else { return Err(self.unexpected()) };
        self.expect_token(&Token::RParen)?;
        Ok(Some(value))
    }

    fn zone(&mut self) -> TimezoneInfo {
        if self.keywords(&["with", "time", "zone"]) {
            TimezoneInfo::WithTimeZone
        } else if self.keywords(&["without", "time", "zone"]) {
            TimezoneInfo::WithoutTimeZone
        } else {
            TimezoneInfo::None
        }
    }

    fn simple_type(&mut self) -> Parse<DataType> {
        if let Some(found) = self.keyword_type()? {
            return Ok(found);
        }
        if self.peek_keyword(0, "interval") {
            self.at += 1;
            return self.interval_type();
        }
        if self.peek_keyword(0, "map") && self.peek(1) == Some(&Token::LParen) {
            self.at += 2;
            let key = self.data_type()?;
            self.expect_token(&Token::Comma)?;
            let value = self.data_type()?;
            self.expect_token(&Token::RParen)?;
            return Ok(DataType::Map(Box::new(key), Box::new(value)));
        }
        // As Hyperdrive has them.
        if self.peek(1) == Some(&Token::Lt) && self.peek_any(0, &["struct", "map", "array"]) {
            return self.angled_type();
        }
        if self.peek_keyword(0, "struct") && self.peek(1) == Some(&Token::LParen) {
            self.at += 2;
            let fields = self.list(|p| {
                let name = p.ident()?;
                p.token(&Token::Colon);
                Ok(StructField { field_name: Some(name), field_type: p.data_type()?, options: None })
            })?;
            self.expect_token(&Token::RParen)?;
            return Ok(DataType::Struct(fields, StructBracketKind::Parentheses));
        }
        if !self.is_function_id(0) {
            return Err(self.unexpected());
        }
        let mut parts = vec![self.label()?];
        while self.token(&Token::Period) {
            parts.push(self.label()?);
        }
        let mut modifiers = Vec::new();
        if self.token(&Token::LParen) {
            modifiers = self.list(|p| Ok(p.expr()?.to_string()))?;
            self.expect_token(&Token::RParen)?;
        }
        Ok(named(ObjectName::from(parts), modifiers))
    }

    /// `STRUCT<a: INT>`, `MAP<STRING, INT>`, `ARRAY<INT>`.
    fn angled_type(&mut self) -> Parse<DataType> {
        let word = self.label()?.value.to_ascii_lowercase();
        self.expect_token(&Token::Lt)?;
        let out = match word.as_str() {
            "struct" => {
                let fields = self.list(|p| {
                    let name = p.ident()?;
                    p.token(&Token::Colon);
                    Ok(StructField { field_name: Some(name), field_type: p.data_type()?, options: None })
                })?;
                DataType::Struct(fields, StructBracketKind::AngleBrackets)
            }
            "map" => {
                let key = self.data_type()?;
                self.expect_token(&Token::Comma)?;
                DataType::Map(Box::new(key), Box::new(self.data_type()?))
            }
            _ => DataType::Array(ArrayElemTypeDef::SquareBracket(Box::new(self.data_type()?), None)),
        };
        self.close_angle()?;
        Ok(out)
    }

    /// `>`, or the next one of several that are one operator elsewhere.
    fn close_angle(&mut self) -> Parse<()> {
        let text = self.peek(0).map(ToString::to_string).filter(|text| !text.is_empty() && text.bytes().all(|c| c == b'>'));
        let Some(text) = text else { return Err(self.unexpected()) };
        self.closed += 1;
        if self.closed >= text.len() {
            self.closed = 0;
            self.at += 1;
        }
        Ok(())
    }

    /// A type whose name is a key word, INTERVAL aside.
    fn keyword_type(&mut self) -> Parse<Option<DataType>> {
        let start = self.at;
        Ok(Some(if self.keyword("int") || self.keyword("integer") {
            DataType::Integer(None)
        } else if self.keyword("smallint") {
            DataType::SmallInt(None)
        } else if self.keyword("bigint") {
            DataType::BigInt(None)
        } else if self.keyword("real") {
            DataType::Real
        } else if self.keyword("boolean") {
            DataType::Boolean
        } else if self.keyword("float") {
            DataType::Float(self.length()?.map_or(ExactNumberInfo::None, ExactNumberInfo::Precision))
        } else if self.peek_keyword(0, "double") && self.peek_keyword(1, "precision") {
            self.at += 2;
            DataType::DoublePrecision
        } else if self.peek_any(0, &["decimal", "dec", "numeric"]) {
            self.at += 1;
            return self.numeric_type().map(Some);
        } else if self.keyword("bit") {
            let varying = self.keyword("varying");
            let length = self.length()?;
            if varying { DataType::BitVarying(length) } else { DataType::Bit(length) }
        } else if self.keyword("varchar") {
            DataType::Varchar(self.character_length()?)
        } else if self.keyword("national") {
            if !(self.keyword("character") || self.keyword("char")) {
                return Err(self.unexpected());
            }
            self.character_type()?
        } else if self.peek_any(0, &["character", "char", "nchar"]) {
            self.at += 1;
            self.character_type()?
        } else if self.keyword("timestamp") {
            let precision = self.length()?;
            DataType::Timestamp(precision, self.zone())
        } else if self.keyword("time") {
            let precision = self.length()?;
            DataType::Time(precision, self.zone())
        } else {
            self.at = start;
            return Ok(None);
        }))
    }

    fn numeric_type(&mut self) -> Parse<DataType> {
        if !self.token(&Token::LParen) {
            return Ok(DataType::Numeric(ExactNumberInfo::None));
        }
        let start = self.at;
        if let Some(info) = self.precision_and_scale()
            && self.token(&Token::RParen)
        {
            return Ok(DataType::Numeric(info));
        }
        // Other modifiers are refused once they are read.
        self.at = start;
        let modifiers = self.list(|p| Ok(p.expr()?.to_string()))?;
        self.expect_token(&Token::RParen)?;
        Ok(DataType::Custom(ObjectName::from(vec![Ident::new("numeric")]), modifiers))
    }

    fn precision_and_scale(&mut self) -> Option<ExactNumberInfo> {
        let precision = self.unsigned()?;
        if !self.token(&Token::Comma) {
            return Some(ExactNumberInfo::Precision(precision));
        }
        let negative = self.token(&Token::Minus);
        let scale = i64::try_from(self.unsigned()?).ok()?;
        Some(ExactNumberInfo::PrecisionAndScale(precision, if negative { -scale } else { scale }))
    }

    fn character_length(&mut self) -> Parse<Option<CharacterLength>> {
        Ok(self.length()?.map(|length| CharacterLength::IntegerLength { length, unit: None }))
    }

    fn character_type(&mut self) -> Parse<DataType> {
        if self.keyword("varying") {
            return Ok(DataType::CharacterVarying(self.character_length()?));
        }
        Ok(DataType::Character(self.character_length()?))
    }

    fn interval_type(&mut self) -> Parse<DataType> {
        if let Some(precision) = self.length()? {
            return Ok(DataType::Interval { fields: None, precision: Some(precision) });
        }
        let Some((first, last, precision)) = self.interval_fields()? else {
            return Ok(DataType::Interval { fields: None, precision: None });
        };
        use DateTimeField as D;
        use IntervalFields as F;
        let fields = match (first, last) {
            (D::Year, None) => F::Year,
            (D::Month, None) => F::Month,
            (D::Day, None) => F::Day,
            (D::Hour, None) => F::Hour,
            (D::Minute, None) => F::Minute,
            (D::Second, None) => F::Second,
            (D::Year, Some(_)) => F::YearToMonth,
            (D::Day, Some(D::Hour)) => F::DayToHour,
            (D::Day, Some(D::Minute)) => F::DayToMinute,
            (D::Day, Some(_)) => F::DayToSecond,
            (D::Hour, Some(D::Minute)) => F::HourToMinute,
            (D::Hour, Some(_)) => F::HourToSecond,
            _ => F::MinuteToSecond,
        };
        Ok(DataType::Interval { fields: Some(fields), precision })
    }

    /// `DAY TO SECOND(3)`: the first field, the last, and the digits of the seconds.
    #[allow(clippy::type_complexity)] // the three parts
    pub(super) fn interval_fields(&mut self) -> Parse<Option<(DateTimeField, Option<DateTimeField>, Option<u64>)>> {
        use DateTimeField as D;
        const FIELDS: [(&str, D); 6] =
            [("year", D::Year), ("month", D::Month), ("day", D::Day), ("hour", D::Hour), ("minute", D::Minute), ("second", D::Second)];
        let Some(first) = FIELDS.iter().position(|(word, _)| self.keyword(word)) else { return Ok(None) };
        let mut last = None;
        if self.peek_keyword(0, "to") {
            let allowed: &[usize] = match first {
                0 => &[1],
                2 => &[3, 4, 5],
                3 => &[4, 5],
                4 => &[5],
                _ => return Err(self.unexpected()),
            };
            self.at += 1;
            match allowed.iter().find(|i| FIELDS.get(**i).is_some_and(|(word, _)| self.peek_keyword(0, word))) {
                Some(found) => last = Some(*found),
                None => return Err(self.unexpected()),
            }
            self.at += 1;
        }
        let precision = if last.unwrap_or(first) == 5 { self.length()? } else { None };
        let field = |i: usize| FIELDS.get(i).map(|(_, f)| f.clone());
        Ok(field(first).map(|f| (f, last.and_then(field), precision)))
    }

    /// A type that a string literal follows; the place does not move if there is none.
    pub(super) fn literal_type(&mut self) -> Parse<Option<LiteralType>> {
        if !self.peek_any(0, KEYWORD_TYPES) {
            return Ok(None);
        }
        let start = self.at;
        let found = if self.keyword("interval") {
            self.length().ok().map(LiteralType::Interval)
        } else {
            self.keyword_type().ok().flatten().map(LiteralType::Other)
        };
        if found.is_some()
            && matches!(
                self.peek(0),
                Some(
                    Token::SingleQuotedString(_)
                        | Token::EscapedStringLiteral(_)
                        | Token::DollarQuotedString(_)
                        | Token::UnicodeStringLiteral(_)
                )
            )
        {
            return Ok(found);
        }
        self.at = start;
        Ok(None)
    }
}

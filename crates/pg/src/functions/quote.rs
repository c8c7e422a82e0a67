//! Text for SQL: quoting of identifiers and literals, `format`, and identifiers taken apart.

use super::text::{TextArguments, push, text1, utf8};
use crate::args::{Arg, Bool, Call, Kernel, Reader, Text, arg};
use crate::error::{PgError, PgResult};
use crate::registry::{Func, Registry};
use crate::sqlstate::SqlState;
use crate::types::PgType;
use arrow::array::StringViewBuilder;
use std::sync::Arc;
use stoa_text::names::is_plain_identifier;

/// Registers the entries of this file.
pub fn register(r: &mut Registry) {
    use PgType::{Any, AnyElement, Bool as Boolean, Text as T};
    r.scalar("quote_ident", &[T], T, text1::<Text>(|_, s, out| quote_identifier(s, out)), "quoted where an identifier needs it");
    let literal = "quoted as a literal";
    r.scalar("quote_literal", &[T], T, text1::<Text>(|_, s, out| quote_literal(s, out)), literal);
    r.add(Func::scalar("quote_literal", &[AnyElement], T, literal_kernel(), literal).stable());
    let nullable = "quoted as a literal, or NULL";
    r.add(Func::scalar("quote_nullable", &[T], T, nullable_kernel(), nullable).lax());
    r.add(Func::scalar("quote_nullable", &[AnyElement], T, nullable_kernel(), nullable).stable().lax());
    let doc = "arguments put into a pattern, as text (%s), identifier (%I) or literal (%L)";
    r.add(Func::scalar("format", &[T], T, format_kernel(false), doc).stable().lax());
    r.add(Func::scalar("format", &[T, Any], T, format_kernel(false), doc).variadic().stable().lax());
    r.add(
        Func::scalar("parse_ident", &[T, Boolean], T.array_of(), parse_ident_kernel(), "the parts of a qualified identifier")
            .named(&["str", "strict"])
            .defaults(&["true"]),
    );
}

/// Appends an identifier, quoted if it needs quotes.
pub fn quote_identifier(name: &str, out: &mut String) -> PgResult<()> {
    if is_plain_identifier(name) {
        return push(out, name);
    }
    out.push('"');
    for c in name.chars() {
        if c == '"' {
            out.push('"');
        }
        out.push(c);
    }
    out.push('"');
    Ok(())
}

/// Appends a string literal; with backslashes as an escape string.
pub fn quote_literal(text: &str, out: &mut String) -> PgResult<()> {
    if text.contains('\\') {
        out.push('E');
    }
    out.push('\'');
    for c in text.chars() {
        if matches!(c, '\'' | '\\') {
            out.push(c);
        }
        out.push(c);
    }
    out.push('\'');
    Ok(())
}

fn quoted(null: Option<&'static str>) -> Kernel {
    Arc::new(move |call, args| {
        let texts = TextArguments::open(call, args, 0, false)?;
        let argument = arg(args, 0)?;
        let boolean = call.arg_types.first().is_some_and(|ty| ty.ty == crate::types::PgType::Bool);
        let mut out = StringViewBuilder::with_capacity(call.rows);
        let (mut text, mut literal) = (Vec::new(), String::new());
        for row in 0..call.rows {
            text.clear();
            literal.clear();
            if texts.text((0, argument.at(row)), &mut text)? {
                // The value is cast to text, which writes booleans in full.
                if boolean {
                    let full: &[u8] = if text == b"t" { b"true" } else { b"false" };
                    text.splice(.., full.iter().copied());
                }
                quote_literal(utf8(&text)?, &mut literal)?;
                out.append_value(&literal);
            } else {
                out.append_option(null);
            }
        }
        Ok(Arc::new(out.finish()))
    })
}

fn literal_kernel() -> Kernel {
    quoted(None)
}

fn nullable_kernel() -> Kernel {
    quoted(Some("NULL"))
}

// ---------------------------------------------------------------------------------------------------------------------------------
// format

fn invalid(message: impl Into<String>) -> PgError {
    PgError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

fn unterminated() -> PgError {
    invalid("unterminated format() type specifier").hint("For a single \"%\" use \"%%\".")
}

/// One `%…` of a pattern.
#[derive(Clone, Copy, Debug, Default)]
struct Specifier {
    /// Which argument, from 1; `None` is the next.
    argument: Option<usize>,
    left: bool,
    width: usize,
    /// The width is an argument: this one, or the next (`Some(None)`).
    width_argument: Option<Option<usize>>,
}

/// A pattern that is read.
struct Pattern<'a> {
    rest: &'a str,
}

impl Pattern<'_> {
    fn take(&mut self, c: char) -> bool {
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn number(&mut self) -> PgResult<Option<usize>> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return Ok(None);
        }
        let (number, rest) = self.rest.split_at(digits);
        self.rest = rest;
        if rest.is_empty() {
            return Err(unterminated());
        }
        let number: i32 = number.parse().map_err(|_| PgError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "number is out of range"))?;
        Ok(usize::try_from(number).ok())
    }

    /// What stands between `%` and the type.
    fn specifier(&mut self) -> PgResult<Specifier> {
        let first_argument = || invalid("format specifies argument 0, but arguments are numbered from 1");
        let mut specifier = Specifier::default();
        if let Some(number) = self.number()? {
            if !self.take('$') {
                specifier.width = number;
                return Ok(specifier);
            }
            if number == 0 {
                return Err(first_argument());
            }
            specifier.argument = Some(number);
        }
        while self.take('-') {
            specifier.left = true;
        }
        if self.take('*') {
            specifier.width_argument = Some(match self.number()? {
                None => None,
                Some(_) if !self.take('$') => return Err(invalid("width argument position must be ended by \"$\"")),
                Some(0) => return Err(first_argument()),
                Some(number) => Some(number),
            });
        } else if let Some(number) = self.number()? {
            specifier.width = number;
        }
        Ok(specifier)
    }
}

/// `format`; with `spread` the last argument is the array of a call with `VARIADIC`.
pub(crate) fn format_kernel(spread: bool) -> Kernel {
    Arc::new(move |call, args| {
        let patterns = Reader::<Text>::new(arg(args, 0)?)?;
        let texts = TextArguments::open(call, args, 1, spread)?;
        let mut out = StringViewBuilder::with_capacity(call.rows);
        let mut formatted = Formatted { texts: &texts, places: Vec::new(), out: String::new(), text: Vec::new(), piece: String::new() };
        for row in 0..call.rows {
            let Some(pattern) = patterns.get(row)? else {
                out.append_null();
                continue;
            };
            if texts.row(row, &mut formatted.places).is_none() {
                // VARIADIC NULL has no arguments.
                formatted.places.clear();
            }
            formatted.out.clear();
            formatted.write(pattern)?;
            out.append_value(&formatted.out);
        }
        Ok(Arc::new(out.finish()))
    })
}

struct Formatted<'a> {
    texts: &'a TextArguments<'a>,
    places: Vec<(usize, usize)>,
    out: String,
    text: Vec<u8>,
    piece: String,
}

impl Formatted<'_> {
    /// Reads the text of the argument with this number, or of the next, into `self.text`; `false` for NULL.
    fn argument(&mut self, number: Option<usize>, next: &mut usize) -> PgResult<bool> {
        let number = number.unwrap_or(*next);
        *next = number + 1;
        let place = self.places.get(number - 1).copied().ok_or_else(|| invalid("too few arguments for format()"))?;
        self.text.clear();
        self.texts.text(place, &mut self.text)
    }

    fn write(&mut self, pattern: &str) -> PgResult<()> {
        let mut next = 1;
        let mut pattern = Pattern { rest: pattern };
        while let Some((before, after)) = pattern.rest.split_once('%') {
            self.out.push_str(before);
            pattern.rest = after;
            if pattern.take('%') {
                self.out.push('%');
                continue;
            }
            if pattern.rest.is_empty() {
                return Err(unterminated());
            }
            let mut specifier = pattern.specifier()?;
            let Some(kind) = pattern.rest.chars().next() else { return Err(unterminated()) };
            if !matches!(kind, 's' | 'I' | 'L') {
                return Err(invalid(format!("unrecognized format() type specifier \"{kind}\"")).hint("For a single \"%\" use \"%%\"."));
            }
            pattern.rest = pattern.rest.get(1..).unwrap_or("");
            if let Some(number) = specifier.width_argument {
                let width = if self.argument(number, &mut next)? { integer(utf8(&self.text)?)? } else { 0 };
                specifier.left |= width < 0;
                specifier.width = width.unsigned_abs() as usize;
            }
            let present = self.argument(specifier.argument, &mut next)?;
            self.piece.clear();
            match kind {
                's' if present => push(&mut self.piece, utf8(&self.text)?)?,
                'I' if present => quote_identifier(utf8(&self.text)?, &mut self.piece)?,
                'L' if present => quote_literal(utf8(&self.text)?, &mut self.piece)?,
                'I' => {
                    return Err(PgError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "null values cannot be formatted as an SQL identifier"));
                }
                'L' => self.piece.push_str("NULL"),
                _ => {}
            }
            let padding = specifier.width.saturating_sub(self.piece.chars().count());
            if !specifier.left {
                self.out.extend(std::iter::repeat_n(' ', padding));
            }
            self.out.push_str(&self.piece);
            if specifier.left {
                self.out.extend(std::iter::repeat_n(' ', padding));
            }
        }
        push(&mut self.out, pattern.rest)
    }
}

fn integer(text: &str) -> PgResult<i32> {
    text.trim()
        .parse::<i64>()
        .map_err(|_| PgError::invalid_text("integer", text))
        .and_then(|n| i32::try_from(n).ok().filter(|n| *n != i32::MIN).ok_or_else(|| PgError::value_out_of_range("integer", text)))
}

// ---------------------------------------------------------------------------------------------------------------------------------
// parse_ident

fn parse_ident_kernel() -> Kernel {
    Arc::new(|call: &Call, args: &[Arg]| {
        let text = Reader::<Text>::new(arg(args, 0)?)?;
        let strict = Reader::<Bool>::new(arg(args, 1)?)?;
        let mut parts = StringViewBuilder::new();
        let mut count = 0;
        let mut ends = Vec::with_capacity(call.rows);
        for row in 0..call.rows {
            ends.push(match (text.get(row)?, strict.get(row)?) {
                (Some(text), Some(strict)) => {
                    each_part(text, strict, |part| {
                        parts.append_value(part);
                        count += 1;
                    })?;
                    Some(count)
                }
                _ => None,
            });
        }
        super::array::lines(&parts.finish(), &ends)
    })
}

fn each_part(text: &str, strict: bool, mut f: impl FnMut(&str)) -> PgResult<()> {
    let bad = || invalid(format!("string is not a valid identifier: \"{text}\""));
    let blanks = |c: char| c.is_ascii_whitespace() || c == '\u{b}';
    let mut rest = text.trim_start_matches(blanks);
    let mut after_dot = false;
    loop {
        if let Some(inner) = rest.strip_prefix('"') {
            let mut name = String::new();
            let mut chars = inner.char_indices().peekable();
            let end = loop {
                match chars.next() {
                    None => return Err(bad().detail("String has unclosed double quotes.")),
                    Some((at, '"')) => match chars.peek() {
                        Some((_, '"')) => {
                            name.push('"');
                            chars.next();
                        }
                        _ => break at + 1,
                    },
                    Some((_, c)) => name.push(c),
                }
            };
            if name.is_empty() {
                return Err(bad().detail("Quoted identifier must not be empty."));
            }
            f(&name);
            rest = inner.get(end..).unwrap_or("");
        } else {
            let starts = |c: char| c.is_ascii_alphabetic() || c == '_' || !c.is_ascii();
            let length = if rest.starts_with(starts) {
                rest.find(|c: char| !(starts(c) || c.is_ascii_digit() || c == '$')).unwrap_or(rest.len())
            } else {
                0
            };
            if length == 0 {
                return Err(if rest.starts_with('.') {
                    bad().detail("No valid identifier before \".\".")
                } else if after_dot {
                    bad().detail("No valid identifier after \".\".")
                } else {
                    bad()
                });
            }
            let (name, after) = rest.split_at(length);
            f(&name.to_ascii_lowercase());
            rest = after;
        }
        rest = rest.trim_start_matches(blanks);
        match rest.strip_prefix('.') {
            Some(after) => {
                after_dot = true;
                rest = after.trim_start_matches(blanks);
            }
            None if rest.is_empty() || !strict => return Ok(()),
            None => return Err(bad()),
        }
    }
}

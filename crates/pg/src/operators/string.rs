//! Operators on strings, bytea and uuid: comparisons, `||`, and the LIKE family.
//!
//! Strings compare by bytes (collation C). A `char(n)` is kept without trailing blanks, so that comparing needs nothing more; LIKE
//! sees the blanks. A constant pattern is taken apart once a batch.

use super::number::{COMPARISONS, holds};
use crate::args::{Arg, Bool, Bytes, Kernel, Kind, Reader, Text, arg, strict2};
use crate::error::{PgError, PgResult};
use crate::memory::{append_bytes, append_text, process};
use crate::registry::{Func, OperKind, Registry};
use crate::sqlstate::SqlState;
use crate::types::{PgType, length_typmod};
use crate::values::string::padded;
use arrow::array::{ArrayRef, BinaryViewBuilder, BooleanArray, StringViewBuilder};
use std::borrow::Cow;
use std::sync::Arc;

/// What a LIKE pattern asks for, taken apart.
#[derive(Debug)]
enum Like {
    /// No wildcard.
    Exact(Vec<u8>),
    /// `abc%`
    Prefix(Vec<u8>),
    /// `%abc`
    Suffix(Vec<u8>),
    /// `%abc%`
    Contains(Vec<u8>),
    /// `%`
    Anything,
    General(Vec<Part>),
}

#[derive(Clone, PartialEq, Debug)]
enum Part {
    Bytes(Vec<u8>),
    /// `_`: one character.
    One,
    /// `%`
    Many,
    /// An escape character with nothing behind it: an error for the value whose match comes to it.
    LoneEscape,
}

impl Like {
    /// A pattern with backslash as the escape character.
    fn new(pattern: &[u8]) -> Like {
        let mut parts: Vec<Part> = Vec::new();
        let mut bytes = pattern.iter();
        while let Some(&byte) = bytes.next() {
            let byte = match byte {
                b'%' => {
                    if parts.last() != Some(&Part::Many) {
                        parts.push(Part::Many);
                    }
                    continue;
                }
                b'_' => {
                    parts.push(Part::One);
                    continue;
                }
                b'\\' => match bytes.next() {
                    Some(byte) => *byte,
                    None => {
                        parts.push(Part::LoneEscape);
                        break;
                    }
                },
                byte => byte,
            };
            match parts.last_mut() {
                Some(Part::Bytes(run)) => run.push(byte),
                _ => parts.push(Part::Bytes(vec![byte])),
            }
        }
        match parts.as_mut_slice() {
            [] => Like::Exact(Vec::new()),
            [Part::Many] => Like::Anything,
            [Part::Bytes(run)] => Like::Exact(std::mem::take(run)),
            [Part::Bytes(run), Part::Many] => Like::Prefix(std::mem::take(run)),
            [Part::Many, Part::Bytes(run)] => Like::Suffix(std::mem::take(run)),
            [Part::Many, Part::Bytes(run), Part::Many] => Like::Contains(std::mem::take(run)),
            _ => Like::General(parts),
        }
    }

    /// Whether a value matches. With `wide`, `_` is a UTF-8 character, else a byte.
    ///
    /// # Errors
    /// 22025 when the match comes to an escape character that ends the pattern.
    fn matches(&self, value: &[u8], wide: bool) -> PgResult<bool> {
        Ok(match self {
            Like::Anything => true,
            Like::Exact(text) => value == text,
            Like::Prefix(text) => value.starts_with(text),
            Like::Suffix(text) => value.ends_with(text),
            Like::Contains(text) => contains(value, text),
            Like::General(parts) => return matches_parts(parts, value, wide),
        })
    }
}

fn contains(value: &[u8], text: &[u8]) -> bool {
    match (std::str::from_utf8(value), std::str::from_utf8(text)) {
        // The standard library's two-way search.
        (Ok(value), Ok(text)) => value.contains(text),
        _ => text.is_empty() || value.windows(text.len()).any(|window| window == text),
    }
}

/// Bytes of the character that begins with this byte.
fn width(first: u8, wide: bool) -> usize {
    match first {
        _ if !wide => 1,
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0.. => 4,
        _ => 1,
    }
}

/// Matches part by part; on a mismatch, the last `%` takes one character more.
fn matches_parts(parts: &[Part], value: &[u8], wide: bool) -> PgResult<bool> {
    let (mut part, mut at) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let rest = value.get(at..).unwrap_or(&[]);
        let advanced = match parts.get(part) {
            None if rest.is_empty() => return Ok(true),
            None => None,
            Some(Part::Many) => {
                if part + 1 == parts.len() {
                    return Ok(true);
                }
                retry = Some((part, at));
                Some(0)
            }
            Some(Part::One) => rest.first().map(|first| width(*first, wide)),
            Some(Part::Bytes(run)) => rest.starts_with(run).then_some(run.len()),
            // At the end of the value PostgreSQL sees it only if a `%` before it was met with something left.
            Some(Part::LoneEscape) if rest.is_empty() && !takes_behind_many(parts.get(..part).unwrap_or(&[])) => None,
            Some(Part::LoneEscape) => {
                return Err(PgError::new(SqlState::INVALID_ESCAPE_SEQUENCE, "LIKE pattern must not end with escape character"));
            }
        };
        match (advanced, retry) {
            (Some(step), _) => {
                part += 1;
                at += step;
            }
            (None, Some((many, from))) => {
                let Some(first) = value.get(from) else { return Ok(false) };
                let from = from + width(*first, wide);
                retry = Some((many, from));
                (part, at) = (many + 1, from);
            }
            (None, None) => return Ok(false),
        }
    }
}

/// Whether parts end with wildcards of which a `_` stands behind a `%`.
fn takes_behind_many(parts: &[Part]) -> bool {
    let mut wildcards =
        parts.iter().rev().take_while(|part| matches!(part, Part::One | Part::Many)).skip_while(|part| **part == Part::Many);
    wildcards.next().is_some() && wildcards.any(|part| *part == Part::Many)
}

/// Lower case, for ILIKE.
fn folded(value: &str) -> Cow<'_, str> {
    if value.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        Cow::Borrowed(value)
    } else {
        Cow::Owned(value.to_lowercase())
    }
}

/// A LIKE kernel over text; `fold` ignores case.
fn like(fold: bool, negate: bool) -> Kernel {
    Arc::new(move |call, args| {
        // LIKE sees the blanks of a char(n).
        let blanks = match call.arg_types.first() {
            Some(ty) if ty.ty == PgType::Bpchar => length_typmod(ty.typmod).unwrap_or(0),
            _ => 0,
        };
        let (value, pattern) = (Reader::<Text>::new(arg(args, 0)?)?, Reader::<Text>::new(arg(args, 1)?)?);
        let compile = |pattern: &str| Like::new(if fold { folded(pattern) } else { Cow::Borrowed(pattern) }.as_bytes());
        let constant = if arg(args, 1)?.constant { pattern.get(0)?.map(compile) } else { None };
        let mut out = Vec::with_capacity(call.rows);
        for row in 0..call.rows {
            let (Some(value), Some(text)) = (value.get(row)?, pattern.get(row)?) else {
                out.push(None);
                continue;
            };
            let value = padded(value, blanks);
            let value = if fold { Cow::Owned(folded(&value).into_owned()) } else { value };
            let found = match &constant {
                Some(pattern) => pattern.matches(value.as_bytes(), true)?,
                None => compile(text).matches(value.as_bytes(), true)?,
            };
            out.push(Some(found != negate));
        }
        Ok(Arc::new(BooleanArray::from(out)))
    })
}

fn bytea_like(negate: bool) -> Kernel {
    strict2::<Bytes, Bytes, Bool>(move |_, value, pattern| Ok(Like::new(pattern).matches(value, false)? != negate))
}

/// A LIKE pattern with another escape character as one with backslash: what `LIKE … ESCAPE …` passes through.
///
/// # Errors
/// 22025 when the escape is longer than a character.
pub fn like_escape(pattern: &str, escape: &str) -> PgResult<String> {
    let mut chars = escape.chars();
    let escape = chars.next();
    if chars.next().is_some() {
        return Err(
            PgError::new(SqlState::INVALID_ESCAPE_SEQUENCE, "invalid escape string").hint("Escape string must be empty or one character.")
        );
    }
    let mut out = String::with_capacity(pattern.len());
    let mut escaped = false;
    for c in pattern.chars() {
        if Some(c) == escape && !escaped {
            // The pattern is checked for an escape at its end when it is used.
            out.push('\\');
            escaped = true;
        } else {
            if c == '\\' && !escaped {
                out.push('\\');
            }
            out.push(c);
            escaped = false;
        }
    }
    Ok(out)
}

/// As [`like_escape`], over bytes.
pub fn like_escape_bytes(pattern: &[u8], escape: &[u8]) -> PgResult<Vec<u8>> {
    if escape.len() > 1 {
        return Err(
            PgError::new(SqlState::INVALID_ESCAPE_SEQUENCE, "invalid escape string").hint("Escape string must be empty or one character.")
        );
    }
    let mut out = Vec::with_capacity(pattern.len());
    let mut escaped = false;
    for byte in pattern {
        if escape.first() == Some(byte) && !escaped {
            out.push(b'\\');
            escaped = true;
        } else {
            if *byte == b'\\' && !escaped {
                out.push(b'\\');
            }
            out.push(*byte);
            escaped = false;
        }
    }
    Ok(out)
}

/// The strings of an argument as `||` sees them: through the type's text form unless it is one.
fn texts(call: &crate::args::Call, args: &[Arg], index: usize) -> PgResult<Arg> {
    let input = arg(args, index)?;
    let Some(ty) = call.arg_types.get(index) else { return Ok(input.clone()) };
    let text = crate::SqlType::new(PgType::Text);
    match crate::casts::cast_kernel(ty, &text, true)? {
        None => Ok(input.clone()),
        Some(kernel) => {
            let array: ArrayRef = crate::casts::apply(call.ctx, &kernel, ty, &text, true, Arc::clone(&input.array))?;
            Ok(Arg { array, constant: input.constant })
        }
    }
}

/// `||` of text with text or with anything that has a text form.
fn concat() -> Kernel {
    Arc::new(|call, args| {
        let (a, b) = (texts(call, args, 0)?, texts(call, args, 1)?);
        let (left, right) = (Reader::<Text>::new(&a)?, Reader::<Text>::new(&b)?);
        let mut out = StringViewBuilder::with_capacity(call.rows);
        let mut scratch = String::new();
        for row in 0..call.rows {
            match (left.get(row)?, right.get(row)?) {
                (Some(a), Some(b)) => {
                    scratch.clear();
                    process().claim(a.len() + b.len())?;
                    scratch.push_str(a);
                    scratch.push_str(b);
                    append_text(&mut out, &mut scratch)?;
                }
                _ => out.append_null(),
            }
        }
        Text::finish(out, call.ret)
    })
}

fn concat_bytes() -> Kernel {
    Arc::new(|call, args| {
        let (left, right) = (Reader::<Bytes>::new(arg(args, 0)?)?, Reader::<Bytes>::new(arg(args, 1)?)?);
        let mut out = BinaryViewBuilder::with_capacity(call.rows);
        for row in 0..call.rows {
            match (left.get(row)?, right.get(row)?) {
                (Some(a), Some(b)) => {
                    process().claim(a.len() + b.len())?;
                    append_bytes(&mut out, [a, b].concat())?;
                }
                _ => out.append_null(),
            }
        }
        Bytes::finish(out, call.ret)
    })
}

/// Registers the entries of this file.
pub fn register(r: &mut Registry) {
    use PgType::{AnyNonArray, Bpchar, Bytea, Char, Name, Uuid};
    let (text, boolean) = (PgType::Text, PgType::Bool);
    for (name, op) in COMPARISONS {
        for (left, right) in [(&text, &text), (&Bpchar, &Bpchar), (&Name, &Name), (&Name, &text), (&text, &Name), (&Char, &Char)] {
            r.comparison(name, left.clone(), right.clone(), OperKind::Native(op), op);
        }
        r.comparison(name, Bytea, Bytea, OperKind::Native(op), op);
        r.comparison(name, Uuid, Uuid, OperKind::Native(op), op);
    }
    // Comparisons by bytes, whatever the collation.
    for (name, op) in COMPARISONS {
        let name = match name {
            "<" => "~<~",
            "<=" => "~<=~",
            ">" => "~>~",
            ">=" => "~>=~",
            _ => continue,
        };
        for ty in [&text, &Bpchar] {
            let kernel = strict2::<Text, Text, Bool>(move |_, a, b| Ok(holds(op, a.cmp(b))));
            r.operator(name, ty.clone(), ty.clone(), boolean.clone(), OperKind::Kernel(kernel));
        }
    }

    r.operator("||", text.clone(), text.clone(), text.clone(), OperKind::Kernel(concat()));
    r.stable_operator("||", text.clone(), AnyNonArray, text.clone(), OperKind::Kernel(concat()));
    r.stable_operator("||", AnyNonArray, text.clone(), text.clone(), OperKind::Kernel(concat()));
    r.operator("||", Bytea, Bytea, Bytea, OperKind::Kernel(concat_bytes()));

    for (name, fold, negate) in [("~~", false, false), ("!~~", false, true), ("~~*", true, false), ("!~~*", true, true)] {
        for left in [&text, &Bpchar, &Name] {
            r.operator(name, left.clone(), text.clone(), boolean.clone(), OperKind::Kernel(like(fold, negate)));
        }
        if !fold {
            r.operator(name, Bytea, Bytea, boolean.clone(), OperKind::Kernel(bytea_like(negate)));
        }
    }
    for (name, fold, negate) in [
        ("like", false, false),
        ("textlike", false, false),
        ("notlike", false, true),
        ("textnlike", false, true),
        ("texticlike", true, false),
        ("texticnlike", true, true),
    ] {
        r.scalar(name, &[text.clone(), text.clone()], boolean.clone(), like(fold, negate), "Whether a string matches a LIKE pattern.");
    }
    for (name, negate) in [("like", false), ("notlike", true)] {
        r.scalar(name, &[Bytea, Bytea], boolean.clone(), bytea_like(negate), "Whether a binary string matches a LIKE pattern.");
    }
    r.scalar(
        "like_escape",
        &[Bytea, Bytea],
        Bytea,
        strict2::<Bytes, Bytes, Bytes>(|_, pattern, escape| like_escape_bytes(pattern, escape)),
        "A LIKE pattern with another escape byte as one with backslash.",
    );
    r.add(Func::scalar(
        "like_escape",
        &[text.clone(), text.clone()],
        text,
        strict2::<Text, Text, Text>(|_, pattern, escape| like_escape(pattern, escape)),
        "A LIKE pattern with another escape character as one with backslash.",
    ));
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn patterns() {
        for (value, pattern, expected) in [
            ("abc", "abc", true),
            ("abc", "a%", true),
            ("abc", "%c", true),
            ("abc", "%b%", true),
            ("abc", "_b_", true),
            ("abc", "a_", false),
            ("äöü", "_ö_", true),
            ("", "", true),
            ("", "%", true),
            ("", "_", false),
            ("a%c", "a\\%c", true),
            ("abc", "a\\%c", false),
            ("abc", "a\\bc", true),
            ("aXbXc", "a%X%c", true),
            ("mississippi", "m%iss%ip_i", true),
            ("mississippi", "m%iss%ip__i", false),
            ("aaaaab", "%a%a%b_", false),
            ("abc", "%%c", true),
            ("a", "a%_", false),
        ] {
            assert_eq!(Like::new(pattern.as_bytes()).matches(value.as_bytes(), true).unwrap(), expected, "{value} LIKE {pattern}");
        }
        // Only a value whose match comes to the lone escape is at fault.
        assert_eq!(Like::new(b"ab\\").matches(b"abc", true).unwrap_err().code().as_str(), "22025");
        assert!(!Like::new(b"ab\\").matches(b"ab", true).unwrap());
        assert!(!Like::new(b"ab\\").matches(b"x", true).unwrap());
        // A `%` that finds nothing left comes to no escape behind it, one that finds something does.
        assert!(!Like::new(b"a%\\").matches(b"a", true).unwrap());
        assert!(Like::new(b"a%\\").matches(b"ab", true).is_err());
        assert_eq!(like_escape("A!%C\\", "!").unwrap(), "A\\%C\\\\");
        assert_eq!(like_escape("a!!b", "!").unwrap(), "a\\!b");
        assert_eq!(like_escape("a\\%", "").unwrap(), "a\\\\%");
        assert_eq!(like_escape("x", "!!").unwrap_err().code().as_str(), "22025");
    }
}

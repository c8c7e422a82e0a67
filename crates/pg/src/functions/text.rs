//! Functions of text: lengths, case, parts, padding, replacement.
//!
//! Positions count characters from 1. Case mapping is one character to one, as in PostgreSQL's C.UTF-8. Quoting, `format` and
//! identifiers are in [`super::quote`], encodings and digests in [`super::bytea`].

use super::array::{ColumnRows, NoRows, split_fields};
use crate::args::{Arg, Bool, Call, Int4, Int8, Kernel, Kind, Reader, Text, Uuid, arg, each_row, strict1, strict2};
use crate::error::{PgError, PgResult};
use crate::memory::{SMALL_BYTES, append_text, process};
use crate::registry::{Func, OperKind, Registry};
use crate::sqlstate::SqlState;
use crate::types::{PgType, length_typmod};
use crate::values::ValueWriter;
use crate::values::array::ArrayColumn;
use arrow::array::{Array, ArrayRef, StringViewBuilder};
use std::sync::Arc;
use unicode_normalization::UnicodeNormalization;

/// Registers the entries of this file.
pub fn register(r: &mut Registry) {
    use PgType::{Any, Bool as Boolean, Int4 as Int, Int8 as Big, Name, Text as T};
    lengths(r);

    r.scalar("lower", &[T], T, text1::<Text>(|_, s, out| change_case(s, out, lower)), "in lower case");
    r.scalar("upper", &[T], T, text1::<Text>(|_, s, out| change_case(s, out, upper)), "in upper case");
    r.scalar("initcap", &[T], T, text1::<Text>(|_, s, out| initcap(s, out)), "each word with a capital");

    for name in ["substr", "substring"] {
        r.scalar(
            name,
            &[T, Int],
            T,
            text2::<Text, Int4>(|_, s, from, out| push(out, substring(s, from, None)?)),
            "the part from a position",
        );
        r.scalar(
            name,
            &[T, Int, Int],
            T,
            text3::<Text, Int4, Int4>(|_, s, from, count, out| push(out, substring(s, from, Some(count))?)),
            "the part from a position, of a length",
        );
    }
    r.scalar("left", &[T, Int], T, text2::<Text, Int4>(|_, s, n, out| push(out, left(s, n))), "the first n characters");
    r.scalar("right", &[T, Int], T, text2::<Text, Int4>(|_, s, n, out| push(out, right(s, n))), "the last n characters");
    r.scalar("position", &[T, T], Int, strict2::<Text, Text, Int4>(|_, s, part| position(s, part)), "where a part begins");
    r.scalar("strpos", &[T, T], Int, strict2::<Text, Text, Int4>(|_, s, part| position(s, part)), "where a part begins");
    r.scalar(
        "starts_with",
        &[T, T],
        Boolean,
        strict2::<Text, Text, Bool>(|_, s, p| Ok(s.starts_with(p))),
        "whether it begins with a prefix",
    );
    r.operator("^@", T, T, Boolean, OperKind::Kernel(strict2::<Text, Text, Bool>(|_, s, p| Ok(s.starts_with(p)))));
    r.scalar(
        "overlay",
        &[T, T, Int],
        T,
        text3::<Text, Text, Int4>(|_, s, new, from, out| overlay(s, new, from, char_count(new), out)),
        "replace a part by position",
    );
    r.scalar(
        "overlay",
        &[T, T, Int, Int],
        T,
        text4::<Text, Text, Int4, Int4>(|_, s, new, from, count, out| overlay(s, new, from, count, out)),
        "replace a part by position",
    );
    r.scalar("split_part", &[T, T, Int], T, text3::<Text, Text, Int4>(|_, s, d, n, out| push(out, split_part(s, d, n)?)), "the nth field");

    r.scalar("lpad", &[T, Int], T, text2::<Text, Int4>(|_, s, n, out| pad(s, n, " ", true, out)), "pad on the left");
    r.scalar("lpad", &[T, Int, T], T, text3::<Text, Int4, Text>(|_, s, n, fill, out| pad(s, n, fill, true, out)), "pad on the left");
    r.scalar("rpad", &[T, Int], T, text2::<Text, Int4>(|_, s, n, out| pad(s, n, " ", false, out)), "pad on the right");
    r.scalar("rpad", &[T, Int, T], T, text3::<Text, Int4, Text>(|_, s, n, fill, out| pad(s, n, fill, false, out)), "pad on the right");
    for (name, start, end) in [("btrim", true, true), ("ltrim", true, false), ("rtrim", false, true)] {
        let doc = "without characters of a set at the ends";
        r.scalar(name, &[T], T, text1::<Text>(move |_, s, out| push(out, trim(s, " ", start, end))), "without blanks at the ends");
        r.scalar(name, &[T, T], T, text2::<Text, Text>(move |_, s, set, out| push(out, trim(s, set, start, end))), doc);
    }

    r.scalar(
        "replace",
        &[T, T, T],
        T,
        text3::<Text, Text, Text>(|_, s, old, new, out| replace(s, old, new, out)),
        "replace all occurrences",
    );
    r.scalar(
        "translate",
        &[T, T, T],
        T,
        text3::<Text, Text, Text>(|_, s, from, to, out| translate(s, from, to, out)),
        "replace characters one by one",
    );
    r.scalar("repeat", &[T, Int], T, text2::<Text, Int4>(|_, s, n, out| repeat(s, n, out)), "repeat n times");
    r.scalar("reverse", &[T], T, text1::<Text>(|_, s, out| reverse(s, out)), "in reverse order");

    r.scalar("chr", &[Int], T, text1::<Int4>(|_, code, out| chr(code).map(|c| out.push(c))), "the character of a code point");
    r.scalar(
        "ascii",
        &[T],
        Int,
        strict1::<Text, Int4>(|_, s| Ok(s.chars().next().map_or(0, |c| c as i32))),
        "the code point of the first character",
    );
    r.scalar("to_hex", &[Int], T, text1::<Int4>(|_, n, out| push(out, &format!("{n:x}"))), "in hexadecimal");
    r.scalar("to_hex", &[Big], T, text1::<Int8>(|_, n, out| push(out, &format!("{n:x}"))), "in hexadecimal");
    r.scalar("unistr", &[T], T, text1::<Text>(|_, s, out| unistr(s, out)), "evaluate Unicode escapes");
    r.add(
        Func::scalar("normalize", &[T, T], T, text2::<Text, Text>(|_, s, form, out| normalize(s, form, out)), "in a Unicode normal form")
            .defaults(&["'NFC'"]),
    );
    r.add(
        Func::scalar(
            "is_normalized",
            &[T, T],
            Boolean,
            strict2::<Text, Text, Bool>(|_, s, form| {
                let mut normal = String::new();
                normalize(s, form, &mut normal)?;
                Ok(normal == s)
            }),
            "whether it is in a Unicode normal form",
        )
        .defaults(&["'NFC'"]),
    );

    r.add(Func::scalar("concat", &[Any], T, concat_kernel(), "the text forms of all arguments").variadic().stable().lax());
    r.add(
        Func::scalar("concat_ws", &[T, Any], T, concat_ws_kernel(), "the text forms of all arguments but the first, which separates them")
            .variadic()
            .stable()
            .lax(),
    );
    let table = "split a string at a delimiter into rows";
    for args in [vec![T, T], vec![T, T, T]] {
        r.add(Func::set("string_to_table", &args, vec![("", T)], T, Arc::new(string_to_table), table));
    }

    r.add(
        Func::scalar("gen_random_uuid", &[], PgType::Uuid, each_row::<Uuid>(|_| Ok(*uuid::Uuid::new_v4().as_bytes())), "a random uuid")
            .volatile(),
    );
    r.add(Func::scalar("pg_client_encoding", &[], Name, each_row::<Text>(|_| Ok("UTF8".into())), "the client's encoding").stable());
}

fn lengths(r: &mut Registry) {
    use PgType::{Bpchar, Int4 as Int, Text as T};
    for name in ["length", "char_length", "character_length"] {
        r.scalar(name, &[T], Int, strict1::<Text, Int4>(|_, s| Ok(char_count(s))), "number of characters");
        let kernel = strict1::<Text, Int4>(|_, s| Ok(char_count(s.trim_end_matches(' '))));
        r.scalar(name, &[Bpchar], Int, kernel, "number of characters");
    }
    r.scalar("octet_length", &[T], Int, strict1::<Text, Int4>(|_, s| Ok(s.len() as i32)), "number of bytes");
    r.scalar("octet_length", &[Bpchar], Int, strict1::<Text, Int4>(|call, s| Ok(padded_length(call, s))), "number of bytes, with padding");
    r.scalar("bit_length", &[T], Int, strict1::<Text, Int4>(|_, s| Ok((s.len() as i32).saturating_mul(8))), "number of bits");
}

/// The bytes of a `char(n)` value with the blanks that it is kept without.
fn padded_length(call: &Call, s: &str) -> i32 {
    let width = call.arg_types.first().and_then(|ty| length_typmod(ty.typmod)).unwrap_or(0) as i32;
    s.len() as i32 + (width - char_count(s)).max(0)
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Kernels that write text

/// What a batch may take before it is asked whether there is room for more.
const LOOK_BYTES: usize = 4 << 20;

macro_rules! text_adapters {
    ($($name:ident, $($k:ident $v:ident $i:tt),+;)*) => {
        $(
            /// A strict kernel whose function appends its result to an empty buffer, which is used again for each row.
            pub(crate) fn $name<$($k: Kind),+>(
                f: impl for<'a> Fn(&Call, $($k::In<'a>,)+ &mut String) -> PgResult<()> + Send + Sync + 'static,
            ) -> Kernel {
                Arc::new(move |call, args| {
                    $(let $v = Reader::<$k>::new(arg(args, $i)?)?;)+
                    let mut out = StringViewBuilder::with_capacity(call.rows);
                    let mut scratch = String::new();
                    let mut made = 0;
                    for row in 0..call.rows {
                        if let ($(Some($v),)+) = ($($v.get(row)?,)+) {
                            scratch.clear();
                            f(call, $($v,)+ &mut scratch)?;
                            made += scratch.len();
                            if made >= LOOK_BYTES {
                                process().check()?;
                                made = 0;
                            }
                            append_text(&mut out, &mut scratch)?;
                        } else {
                            out.append_null();
                        }
                    }
                    Ok(Arc::new(out.finish()))
                })
            }
        )*
    };
}

text_adapters! {
    text1, A a 0;
    text2, A a 0, B b 1;
    text3, A a 0, B b 1, C c 2;
    text4, A a 0, B b 1, C c 2, D d 3;
}

pub(crate) fn push(out: &mut String, text: &str) -> PgResult<()> {
    out.push_str(text);
    Ok(())
}

/// PostgreSQL's limit on the bytes of one value.
const MAX_BYTES: usize = 0x3fff_ffff;

fn too_long() -> PgError {
    PgError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "requested length too large")
}

/// `negative substring length not allowed`, 22011.
pub(crate) fn negative_length() -> PgError {
    PgError::new(SqlState::SUBSTRING_ERROR, "negative substring length not allowed")
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Parts

pub(crate) fn char_count(s: &str) -> i32 {
    s.chars().count() as i32
}

/// The byte at which character `n`, counted from 0, begins; the end if there are fewer.
pub(crate) fn char_start(s: &str, n: usize) -> usize {
    if n >= s.len() {
        return s.len();
    }
    if s.is_ascii() {
        return n;
    }
    s.char_indices().nth(n).map_or(s.len(), |(at, _)| at)
}

/// The first position (from 0) and the length of `substring(… from start for count)`; the length is `None` to the end.
pub(crate) fn substring_range(start: i32, count: Option<i32>) -> PgResult<(usize, Option<usize>)> {
    let first = usize::try_from(i64::from(start) - 1).unwrap_or(0);
    let Some(count) = count else { return Ok((first, None)) };
    if count < 0 {
        return Err(negative_length());
    }
    let end = usize::try_from(i64::from(start) + i64::from(count) - 1).unwrap_or(0);
    Ok((first, Some(end.saturating_sub(first))))
}

fn substring(s: &str, start: i32, count: Option<i32>) -> PgResult<&str> {
    let (first, count) = substring_range(start, count)?;
    let rest = s.get(char_start(s, first)..).unwrap_or("");
    Ok(match count {
        Some(count) => rest.get(..char_start(rest, count)).unwrap_or(""),
        None => rest,
    })
}

fn left(s: &str, n: i32) -> &str {
    let kept = if n < 0 { i64::from(char_count(s)) + i64::from(n) } else { i64::from(n) };
    s.get(..char_start(s, usize::try_from(kept).unwrap_or(0))).unwrap_or("")
}

fn right(s: &str, n: i32) -> &str {
    let skipped = if n < 0 { -i64::from(n) } else { i64::from(char_count(s)) - i64::from(n) };
    s.get(char_start(s, usize::try_from(skipped).unwrap_or(0))..).unwrap_or("")
}

fn position(s: &str, part: &str) -> PgResult<i32> {
    Ok(s.find(part).map_or(0, |at| char_count(s.get(..at).unwrap_or("")) + 1))
}

fn overlay(s: &str, new: &str, start: i32, count: i32, out: &mut String) -> PgResult<()> {
    if start <= 0 {
        return Err(negative_length());
    }
    let rest = start.checked_add(count).ok_or_else(|| PgError::out_of_range("integer"))?;
    out.push_str(substring(s, 1, Some(start - 1))?);
    out.push_str(new);
    push(out, substring(s, rest, None)?)
}

fn split_part<'t>(s: &'t str, delimiter: &str, n: i32) -> PgResult<&'t str> {
    if n == 0 {
        return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "field position must not be zero"));
    }
    if delimiter.is_empty() {
        return Ok(if n == 1 || n == -1 { s } else { "" });
    }
    // Fields are found from the left, also when they are counted from the right: delimiters may overlap.
    let place = n.unsigned_abs() as usize;
    let from_left = if n > 0 { Some(place) } else { (s.split(delimiter).count() + 1).checked_sub(place) };
    let field = from_left.and_then(|place| place.checked_sub(1)).and_then(|skipped| s.split(delimiter).nth(skipped));
    Ok(field.unwrap_or(""))
}

fn trim<'t>(s: &'t str, set: &str, start: bool, end: bool) -> &'t str {
    let mut s = s;
    if let ([byte], true) = (set.as_bytes(), set.is_ascii()) {
        let c = char::from(*byte);
        s = if start { s.trim_start_matches(c) } else { s };
        return if end { s.trim_end_matches(c) } else { s };
    }
    let within = |c: char| set.contains(c);
    s = if start { s.trim_start_matches(within) } else { s };
    if end { s.trim_end_matches(within) } else { s }
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Changes

/// The capital of a letter that has a single one.
fn upper(c: char) -> char {
    let mut mapped = c.to_uppercase();
    match (mapped.next(), mapped.next()) {
        (Some(one), None) => one,
        // Letters with several capitals may still have a title form that stands for one.
        _ => match c {
            '\u{1f80}'..='\u{1f87}' | '\u{1f90}'..='\u{1f97}' | '\u{1fa0}'..='\u{1fa7}' => char::from_u32(c as u32 + 8).unwrap_or(c),
            '\u{1fb3}' | '\u{1fc3}' | '\u{1ff3}' => char::from_u32(c as u32 + 9).unwrap_or(c),
            _ => c,
        },
    }
}

/// The small letter of a capital.
fn lower(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

fn change_case(s: &str, out: &mut String, map: fn(char) -> char) -> PgResult<()> {
    out.reserve(s.len());
    out.extend(s.chars().map(map));
    Ok(())
}

fn initcap(s: &str, out: &mut String) -> PgResult<()> {
    let mut inside = false;
    for c in s.chars() {
        out.push(if inside { lower(c) } else { upper(c) });
        inside = c.is_alphanumeric();
    }
    Ok(())
}

fn pad(s: &str, width: i32, fill: &str, on_left: bool, out: &mut String) -> PgResult<()> {
    let width = usize::try_from(width).unwrap_or(0);
    let length = char_count(s) as usize;
    if fill.is_empty() && length < width {
        return push(out, s);
    }
    if width > MAX_BYTES / 4 {
        return Err(too_long());
    }
    if length >= width {
        return push(out, s.get(..char_start(s, width)).unwrap_or(""));
    }
    process().claim(s.len() + (width - length) * fill.len().div_ceil(char_count(fill).max(1) as usize))?;
    let padding = fill.chars().cycle().take(width - length);
    if on_left {
        out.extend(padding);
        out.push_str(s);
    } else {
        out.push_str(s);
        out.extend(padding);
    }
    Ok(())
}

fn replace(s: &str, old: &str, new: &str, out: &mut String) -> PgResult<()> {
    if old.is_empty() {
        return push(out, s);
    }
    let mut rest = s;
    let mut asked = s.len();
    while let Some((before, after)) = rest.split_once(old) {
        out.push_str(before);
        out.push_str(new);
        if out.len() > MAX_BYTES {
            return Err(too_long());
        }
        if out.len() > asked {
            asked = asked.max(SMALL_BYTES) * 2;
            process().claim(asked)?;
        }
        rest = after;
    }
    push(out, rest)
}

fn translate(s: &str, from: &str, to: &str, out: &mut String) -> PgResult<()> {
    for c in s.chars() {
        match from.chars().position(|f| f == c) {
            None => out.push(c),
            Some(at) => out.extend(to.chars().nth(at)),
        }
    }
    Ok(())
}

fn repeat(s: &str, count: i32, out: &mut String) -> PgResult<()> {
    let count = usize::try_from(count).unwrap_or(0);
    let bytes = s.len().checked_mul(count).filter(|bytes| *bytes <= MAX_BYTES).ok_or_else(too_long)?;
    process().claim(bytes)?;
    out.reserve(bytes);
    for _ in 0..if s.is_empty() { 0 } else { count } {
        out.push_str(s);
    }
    Ok(())
}

fn reverse(s: &str, out: &mut String) -> PgResult<()> {
    out.extend(s.chars().rev());
    Ok(())
}

fn chr(code: i32) -> PgResult<char> {
    let limit = |message: String| PgError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message);
    match u32::try_from(code) {
        Err(_) => Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "character number must be positive")),
        Ok(0) => Err(limit("null character not permitted".into())),
        Ok(code) if code > 0x0010_ffff => Err(limit(format!("requested character too large for encoding: {code}"))),
        Ok(code) => char::from_u32(code).ok_or_else(|| limit(format!("requested character not valid for encoding: {code}"))),
    }
}

fn unistr(s: &str, out: &mut String) -> PgResult<()> {
    let bad_pair = || PgError::new(SqlState::SYNTAX_ERROR, "invalid Unicode surrogate pair");
    let mut rest = s;
    let mut high: Option<u32> = None;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        if high.is_some() && !before.is_empty() {
            return Err(bad_pair());
        }
        out.push_str(before);
        let escape = escape.get(1..).unwrap_or("");
        if let Some(after) = escape.strip_prefix('\\') {
            if high.is_some() {
                return Err(bad_pair());
            }
            out.push('\\');
            rest = after;
            continue;
        }
        let (prefix, digits) = match escape.as_bytes().first() {
            Some(b'+') => (1, 6),
            Some(b'u') => (1, 4),
            Some(b'U') => (1, 8),
            _ => (0, 4),
        };
        let code = escape
            .get(prefix..prefix + digits)
            .filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()))
            .and_then(|hex| u32::from_str_radix(hex, 16).ok())
            .ok_or_else(|| {
                PgError::new(SqlState::SYNTAX_ERROR, "invalid Unicode escape")
                    .hint("Unicode escapes must be \\XXXX, \\+XXXXXX, \\uXXXX, or \\UXXXXXXXX.")
            })?;
        rest = escape.get(prefix + digits..).unwrap_or("");
        match (high.take(), code) {
            (Some(first), 0xdc00..=0xdfff) => {
                out.extend(char::from_u32(0x10000 + ((first & 0x3ff) << 10) + (code & 0x3ff)));
            }
            (Some(_), _) | (None, 0xdc00..=0xdfff) => return Err(bad_pair()),
            (None, 0xd800..=0xdbff) => high = Some(code),
            (None, code) => {
                let c = char::from_u32(code).filter(|c| *c != '\0');
                out.push(
                    c.ok_or_else(|| PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("invalid Unicode code point: {code:04X}")))?,
                );
            }
        }
    }
    if high.is_some() {
        return Err(bad_pair());
    }
    push(out, rest)
}

fn normalize(s: &str, form: &str, out: &mut String) -> PgResult<()> {
    if s.is_ascii() && ["nfc", "nfd", "nfkc", "nfkd"].iter().any(|f| form.eq_ignore_ascii_case(f)) {
        return push(out, s);
    }
    match form.to_ascii_uppercase().as_str() {
        "NFC" => out.extend(s.nfc()),
        "NFD" => out.extend(s.nfd()),
        "NFKC" => out.extend(s.nfkc()),
        "NFKD" => out.extend(s.nfkd()),
        _ => return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("invalid normalization form: {form}"))),
    }
    Ok(())
}

// ---------------------------------------------------------------------------------------------------------------------------------
// concat

/// The arguments of a variadic function of any types, as texts by row.
pub(crate) struct TextArguments<'a> {
    arguments: Vec<TextArgument<'a>>,
}

struct TextArgument<'a> {
    writer: Box<dyn ValueWriter + 'a>,
    nulls: ArrayRef,
    /// For `VARIADIC array`: the arrays whose elements are the arguments.
    arrays: Option<ArrayColumn>,
    constant: bool,
}

impl<'a> TextArguments<'a> {
    /// The arguments from `first` on; `spread` says that the last is the array of a call with `VARIADIC`.
    pub(crate) fn open(call: &Call<'a>, args: &'a [Arg], first: usize, spread: bool) -> PgResult<Self> {
        let mut arguments = Vec::with_capacity(args.len());
        for (index, argument) in args.iter().enumerate().skip(first) {
            let ty = super::array::arg_type(call, index)?;
            let spread = spread && index + 1 == args.len();
            arguments.push(if spread {
                let arrays = ArrayColumn::open(&argument.array)?;
                let leaf = crate::values::array::elements_of(argument.array.as_ref())?;
                let element = crate::values::array::element_type(ty);
                let writer = crate::values::writer(call.ctx, &element, leaf.as_ref())?;
                TextArgument { writer, nulls: Arc::clone(leaf), arrays: Some(arrays), constant: argument.constant }
            } else {
                let writer = crate::values::writer(call.ctx, ty, argument.array.as_ref())?;
                TextArgument { writer, nulls: Arc::clone(&argument.array), arrays: None, constant: argument.constant }
            });
        }
        Ok(Self { arguments })
    }

    /// Where the arguments of a row are, in order; `None` if the array of `VARIADIC` is NULL.
    pub(crate) fn row(&self, row: usize, places: &mut Vec<(usize, usize)>) -> Option<()> {
        places.clear();
        for (index, argument) in self.arguments.iter().enumerate() {
            let at = if argument.constant { 0 } else { row };
            match &argument.arrays {
                None => places.push((index, at)),
                Some(arrays) => {
                    let value = arrays.get(at)?;
                    places.extend((value.start..value.end).map(|at| (index, at)));
                }
            }
        }
        Some(())
    }

    /// Appends the text of an argument; `false`, and nothing appended, if it is NULL.
    pub(crate) fn text(&self, place: (usize, usize), out: &mut Vec<u8>) -> PgResult<bool> {
        let argument = self.arguments.get(place.0).ok_or_else(|| PgError::internal("no such argument"))?;
        if argument.nulls.is_null(place.1) {
            return Ok(false);
        }
        argument.writer.text(place.1, out)?;
        Ok(true)
    }
}

pub(crate) fn utf8(bytes: &[u8]) -> PgResult<&str> {
    std::str::from_utf8(bytes).map_err(|_| PgError::internal("a text form is not UTF-8"))
}

fn concat(separated: bool, spread: bool) -> Kernel {
    Arc::new(move |call, args| {
        let separator = if separated { Some(Reader::<Text>::new(arg(args, 0)?)?) } else { None };
        let texts = TextArguments::open(call, args, usize::from(separated), spread)?;
        let mut out = StringViewBuilder::with_capacity(call.rows);
        let (mut scratch, mut places) = (Vec::new(), Vec::new());
        for row in 0..call.rows {
            let separator = match &separator {
                None => Some(""),
                Some(reader) => reader.get(row)?,
            };
            let Some(separator) = separator.filter(|_| texts.row(row, &mut places).is_some()) else {
                out.append_null();
                continue;
            };
            scratch.clear();
            let mut first = true;
            for &place in &places {
                let from = scratch.len();
                if !first {
                    scratch.extend_from_slice(separator.as_bytes());
                }
                if texts.text(place, &mut scratch)? {
                    first = false;
                } else {
                    scratch.truncate(from);
                }
            }
            out.append_value(utf8(&scratch)?);
        }
        Ok(Arc::new(out.finish()))
    })
}

fn concat_kernel() -> Kernel {
    concat(false, false)
}

fn concat_ws_kernel() -> Kernel {
    concat(true, false)
}

/// The kernel of a `VARIADIC "any"` function when the call itself says `VARIADIC`: the last argument is an array, whose elements are
/// the remaining arguments. `None` for functions that are not of this kind.
#[must_use]
pub fn spread_kernel(function: &str) -> Option<Kernel> {
    match function {
        "concat" => Some(concat(false, true)),
        "concat_ws" => Some(concat(true, true)),
        "format" => Some(super::quote::format_kernel(true)),
        _ => None,
    }
}

fn string_to_table(_: &Call, args: &[Arg], row: usize) -> PgResult<Box<dyn crate::registry::RowSource>> {
    let text = |index| -> PgResult<Option<&str>> {
        match args.get(index) {
            Some(arg) => Reader::<Text>::new(arg)?.get(row),
            None => Ok(None),
        }
    };
    let Some(input) = text(0)? else { return Ok(Box::new(NoRows)) };
    let mut fields = StringViewBuilder::new();
    split_fields(input, text(1)?, text(2)?, |field| fields.append_option(field));
    let fields = fields.finish();
    let count = fields.len();
    Ok(ColumnRows::boxed(Arc::new(fields), 0, count))
}

//! Regular expressions: `~`, `SIMILAR TO`, and the functions `regexp_…`.
//!
//! A pattern is compiled once per batch, and kept by the thread. Next: [`stoa_text::regexp`].

use super::array::{ColumnRows, NoRows, lines};
use super::text::{char_count, char_start, text2};
use crate::args::{Arg, Bool, Call, Int4, Kernel, Kind, Reader, Text, arg};
use crate::context::EvalContext;
use crate::error::{PgError, PgResult};
use crate::registry::{Func, OperKind, Registry, RowSource, SetKernel};
use crate::sqlstate::SqlState;
use crate::types::{PgType, length_typmod};
use crate::values::string::padded;
use arrow::array::{Array, ArrayRef, StringViewBuilder};
use std::sync::Arc;
use stoa_text::regexp::{Options, Regexp, Searcher, Span, compiled, similar_escape};

/// Registers the entries of this file.
pub fn register(r: &mut Registry) {
    use PgType::{Bool as Boolean, Bpchar, Int4 as Int, Name, Text as T};
    for (name, ignore_case, wanted) in [("~", false, true), ("~*", true, true), ("!~", false, false), ("!~*", true, false)] {
        for left in [T, Bpchar, Name] {
            r.operator(name, left, T, Boolean, OperKind::Kernel(matches_kernel(ignore_case, wanted)));
        }
    }

    let matches = |count: usize| vec![T; count];
    let doc = "whether a pattern matches";
    r.scalar("regexp_like", &matches(2), Boolean, like_kernel(), doc);
    r.scalar("regexp_like", &matches(3), Boolean, like_kernel(), doc);
    let doc = "the groups of the first match";
    r.scalar("regexp_match", &matches(2), T.array_of(), match_kernel(), doc);
    r.scalar("regexp_match", &matches(3), T.array_of(), match_kernel(), doc);
    let doc = "the groups of the first match, or of all (flag g), as rows";
    for count in [2, 3] {
        r.add(Func::set("regexp_matches", &matches(count), vec![("", T.array_of())], T.array_of(), matches_rows(), doc));
    }
    let doc = "split at the matches of a pattern";
    for count in [2, 3] {
        r.scalar("regexp_split_to_array", &matches(count), T.array_of(), split_kernel(), doc);
        r.add(Func::set("regexp_split_to_table", &matches(count), vec![("", T)], T, split_rows(), doc));
    }
    let doc = "replace the matches of a pattern";
    r.scalar("regexp_replace", &[T, T, T], T, replace_kernel(None, None, None), doc);
    r.scalar("regexp_replace", &[T, T, T, T], T, replace_kernel(None, None, Some(3)), doc);
    r.scalar("regexp_replace", &[T, T, T, Int], T, replace_kernel(Some(3), None, None), doc);
    r.scalar("regexp_replace", &[T, T, T, Int, Int], T, replace_kernel(Some(3), Some(4), None), doc);
    r.scalar("regexp_replace", &[T, T, T, Int, Int, T], T, replace_kernel(Some(3), Some(4), Some(5)), doc);
    // (string, pattern, start, n, endoption, flags, subexpression), of which the last ones may be left out.
    let doc = "number of matches";
    for args in [vec![T, T], vec![T, T, Int], vec![T, T, Int, T]] {
        r.scalar("regexp_count", &args, Int, count_kernel(), doc);
    }
    let all = [T, T, Int, Int, Int, T, Int];
    for count in 2..=all.len() {
        r.scalar("regexp_instr", all.get(..count).unwrap_or(&[]), Int, position_kernel(), "position of the nth match");
    }
    let all = [T, T, Int, Int, T, Int];
    for count in 2..=all.len() {
        r.scalar("regexp_substr", all.get(..count).unwrap_or(&[]), T, part_kernel(), "the nth match");
    }
    r.scalar("substring", &[T, T], T, substring_kernel(false), "the first match, or its first group");
    r.scalar("substring", &[T, T, T], T, substring_kernel(true), "the marked part of a match of an SQL pattern");
    let doc = "the regular expression of a SIMILAR TO pattern";
    r.scalar("similar_to_escape", &[T], T, super::text::text1::<Text>(|_, s, out| similar(s, None, out)), doc);
    r.scalar("similar_to_escape", &[T, T], T, text2::<Text, Text>(|_, s, escape, out| similar(s, Some(escape), out)), doc);
    let lax = crate::args::lax2::<Text, Text, Text>(|_, s, escape| s.map(|s| similar_escape(s, escape)).transpose());
    r.add(Func::scalar("similar_escape", &[T, T], T, lax, doc).lax());
}

fn similar(pattern: &str, escape: Option<&str>, out: &mut String) -> PgResult<()> {
    out.push_str(&similar_escape(pattern, escape)?);
    Ok(())
}

fn invalid(message: impl Into<String>) -> PgError {
    PgError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

/// The flags of a call, and whether all matches are asked for.
fn flags(text: &str) -> PgResult<(Options, bool)> {
    let (mut options, mut global) = (Options::default(), false);
    for letter in text.chars() {
        if letter == 'g' {
            global = true;
        // PostgreSQL's own `e` leaves a basic expression: it takes away what it adds.
        } else if !options.set(if letter == 'e' { 'b' } else { letter }) {
            return Err(invalid(format!("invalid regular expression option: \"{letter}\"")));
        }
    }
    Ok((options, global))
}

fn flags_without_global(function: &str, text: &str) -> PgResult<Options> {
    match flags(text)? {
        (options, false) => Ok(options),
        _ => {
            let error = invalid(format!("{function}() does not support the \"global\" option"));
            Err(if function == "regexp_match" { error.hint("Use the regexp_matches function instead.") } else { error })
        }
    }
}

/// Compiled patterns of a column: the last one is kept.
struct Patterns<'c> {
    ctx: &'c EvalContext,
    last: Option<(String, Options, Arc<Regexp>)>,
}

impl<'c> Patterns<'c> {
    fn new(ctx: &'c EvalContext) -> Self {
        Self { ctx, last: None }
    }

    fn get(&mut self, pattern: &str, options: Options) -> PgResult<Searcher<'c>> {
        if let Some((text, with, regexp)) = &self.last
            && *with == options
            && text == pattern
        {
            return Ok(Searcher::new(Some(self.ctx), Arc::clone(regexp)));
        }
        let regexp = compiled(pattern, options)?;
        self.last = Some((pattern.to_string(), options, Arc::clone(&regexp)));
        Ok(Searcher::new(Some(self.ctx), regexp))
    }
}

/// Calls `f` with each match from byte `from` on, the first only unless `global`, until it says `false`.
fn each_match(
    regexp: &Searcher<'_>,
    text: &str,
    from: usize,
    global: bool,
    mut f: impl FnMut(&[Option<Span>]) -> PgResult<bool>,
) -> PgResult<()> {
    let mut spans = Vec::new();
    let (mut from, mut found) = (from, 0_u32);
    while from <= text.len() && regexp.find(text, from, &mut spans)? {
        if !f(&spans)? || !global {
            return Ok(());
        }
        found = found.wrapping_add(1);
        if found.is_multiple_of(4096) {
            regexp.check_interrupt()?;
        }
        let (start, end) = spans.first().copied().flatten().unwrap_or((from, from));
        from = if start == end { after(text, end) } else { end };
    }
    Ok(())
}

/// The byte behind the character at a byte; beyond the end at the end.
fn after(text: &str, at: usize) -> usize {
    at + text.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
}

fn part(text: &str, span: Span) -> &str {
    text.get(span.0..span.1).unwrap_or("")
}

fn span(spans: &[Option<Span>], group: usize) -> Option<Span> {
    spans.get(group).copied().flatten()
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Optional arguments

/// The arguments of one of the functions with many optional ones.
struct Columns<'a> {
    args: &'a [Arg],
}

impl<'a> Columns<'a> {
    /// The text argument at `index`; `Some(None)` is NULL, `None` that there is no such argument.
    fn text(&self, index: Option<usize>, row: usize) -> PgResult<Option<Option<&'a str>>> {
        match index.and_then(|index| self.args.get(index)) {
            Some(arg) => Reader::<Text>::new(arg)?.get(row).map(Some),
            None => Ok(None),
        }
    }

    fn int(&self, index: Option<usize>, row: usize) -> PgResult<Option<Option<i32>>> {
        match index.and_then(|index| self.args.get(index)) {
            Some(arg) => Reader::<Int4>::new(arg)?.get(row).map(Some),
            None => Ok(None),
        }
    }

    /// Whether an argument is NULL in a row.
    fn any_null(&self, row: usize) -> bool {
        self.args.iter().any(|arg| arg.is_null(row))
    }

    /// A number that must not be below `least`; `default` if it is left out.
    fn number(&self, index: Option<usize>, row: usize, name: &str, least: i32, default: i32) -> PgResult<i32> {
        let value = self.int(index, row)?.flatten().unwrap_or(default);
        if value < least {
            return Err(invalid(format!("invalid value for parameter \"{name}\": {value}")));
        }
        Ok(value)
    }
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Tests

fn matches_kernel(ignore_case: bool, wanted: bool) -> Kernel {
    let options = Options { ignore_case, ..Options::default() };
    Arc::new(move |call, args| {
        let text = Reader::<Text>::new(arg(args, 0)?)?;
        let pattern = Reader::<Text>::new(arg(args, 1)?)?;
        let width = call.arg_types.first().filter(|ty| ty.ty == PgType::Bpchar).and_then(|ty| length_typmod(ty.typmod)).unwrap_or(0);
        let mut patterns = Patterns::new(call.ctx);
        let mut out = Bool::builder(call.rows);
        for row in 0..call.rows {
            out.push(match (text.get(row)?, pattern.get(row)?) {
                (Some(text), Some(pattern)) => Some(patterns.get(pattern, options)?.is_match(&padded(text, width))? == wanted),
                _ => None,
            });
        }
        Bool::finish(out, call.ret)
    })
}

fn like_kernel() -> Kernel {
    by_row::<Bool>("regexp_like", 2, |regexp, text| regexp.is_match(text).map(Some))
}

/// A kernel over (text, pattern, flags) whose flags do not have `g`.
fn by_row<R: Kind>(
    function: &'static str,
    flags_at: usize,
    f: impl Fn(&Searcher<'_>, &str) -> PgResult<Option<R::Out>> + Send + Sync + 'static,
) -> Kernel {
    Arc::new(move |call, args| {
        let columns = Columns { args };
        let mut patterns = Patterns::new(call.ctx);
        let mut out = R::builder(call.rows);
        for row in 0..call.rows {
            let (text, pattern) = (columns.text(Some(0), row)?.flatten(), columns.text(Some(1), row)?.flatten());
            let value = match (text, pattern, columns.text(Some(flags_at), row)?) {
                (Some(text), Some(pattern), flags) if flags != Some(None) => {
                    let options = flags_without_global(function, flags.flatten().unwrap_or(""))?;
                    f(&patterns.get(pattern, options)?, text)?
                }
                _ => None,
            };
            R::push(&mut out, value)?;
        }
        R::finish(out, call.ret)
    })
}

fn substring_kernel(sql_pattern: bool) -> Kernel {
    let find = |regexp: &Searcher<'_>, text: &str, out: &mut StringViewBuilder| -> PgResult<()> {
        let mut spans = Vec::new();
        let found = regexp.find(text, 0, &mut spans)?;
        let group = usize::from(regexp.groups() > 0);
        out.append_option(span(&spans, group).filter(|_| found).map(|span| part(text, span)));
        Ok(())
    };
    Arc::new(move |call, args| {
        let columns = Columns { args };
        let mut patterns = Patterns::new(call.ctx);
        let mut out = StringViewBuilder::with_capacity(call.rows);
        for row in 0..call.rows {
            let (Some(Some(text)), Some(Some(pattern)), false) =
                (columns.text(Some(0), row)?, columns.text(Some(1), row)?, columns.any_null(row))
            else {
                out.append_null();
                continue;
            };
            if sql_pattern {
                let pattern = similar_escape(pattern, columns.text(Some(2), row)?.flatten())?;
                find(&patterns.get(&pattern, Options::default())?, text, &mut out)?;
            } else {
                find(&patterns.get(pattern, Options::default())?, text, &mut out)?;
            }
        }
        Ok(Arc::new(out.finish()))
    })
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Groups

/// Appends what `regexp_match` returns of a match: its groups, or the whole when there are none. The result is how many.
fn append_groups(regexp: &Searcher<'_>, text: &str, spans: &[Option<Span>], out: &mut StringViewBuilder) -> usize {
    let groups = if regexp.groups() == 0 { 0..=0 } else { 1..=regexp.groups() };
    let count = regexp.groups().max(1);
    for group in groups {
        out.append_option(span(spans, group).map(|span| part(text, span)));
    }
    count
}

fn match_kernel() -> Kernel {
    Arc::new(|call, args| {
        let columns = Columns { args };
        let mut patterns = Patterns::new(call.ctx);
        let mut spans = Vec::new();
        let mut parts = StringViewBuilder::new();
        let mut count = 0;
        let mut ends = Vec::with_capacity(call.rows);
        for row in 0..call.rows {
            let (Some(Some(text)), Some(Some(pattern)), false) =
                (columns.text(Some(0), row)?, columns.text(Some(1), row)?, columns.any_null(row))
            else {
                ends.push(None);
                continue;
            };
            let options = flags_without_global("regexp_match", columns.text(Some(2), row)?.flatten().unwrap_or(""))?;
            let regexp = patterns.get(pattern, options)?;
            ends.push(if regexp.find(text, 0, &mut spans)? {
                count += append_groups(&regexp, text, &spans, &mut parts);
                Some(count)
            } else {
                None
            });
        }
        lines(&parts.finish(), &ends)
    })
}

fn matches_rows() -> SetKernel {
    Arc::new(|call, args, row| {
        let columns = Columns { args };
        let (Some(Some(text)), Some(Some(pattern)), false) =
            (columns.text(Some(0), row)?, columns.text(Some(1), row)?, columns.any_null(row))
        else {
            return Ok(Box::new(NoRows));
        };
        let (options, global) = flags(columns.text(Some(2), row)?.flatten().unwrap_or(""))?;
        let regexp = Searcher::new(Some(call.ctx), compiled(pattern, options)?);
        let mut parts = StringViewBuilder::new();
        let mut count = 0;
        let mut ends = Vec::new();
        each_match(&regexp, text, 0, global, |spans| {
            count += append_groups(&regexp, text, spans, &mut parts);
            ends.push(Some(count));
            Ok(true)
        })?;
        Ok(ColumnRows::boxed(lines(&parts.finish(), &ends)?, 0, ends.len()))
    })
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Splitting

/// Calls `f` for the parts between matches. Empty matches at either end, or just behind another match, do not split.
fn each_part<'t>(regexp: &Searcher<'_>, text: &'t str, mut f: impl FnMut(&'t str)) -> PgResult<()> {
    let (mut begin, mut previous_end) = (0, 0);
    each_match(regexp, text, 0, true, |spans| {
        let (start, end) = span(spans, 0).unwrap_or((0, 0));
        if start < text.len() && end > previous_end {
            f(part(text, (begin, start)));
            begin = end;
        }
        previous_end = end;
        Ok(true)
    })?;
    f(part(text, (begin, text.len())));
    Ok(())
}

fn split_kernel() -> Kernel {
    Arc::new(|call, args| {
        let columns = Columns { args };
        let mut patterns = Patterns::new(call.ctx);
        let mut parts = StringViewBuilder::new();
        let mut count = 0;
        let mut ends = Vec::with_capacity(call.rows);
        for row in 0..call.rows {
            let (Some(Some(text)), Some(Some(pattern)), false) =
                (columns.text(Some(0), row)?, columns.text(Some(1), row)?, columns.any_null(row))
            else {
                ends.push(None);
                continue;
            };
            let options = flags_without_global("regexp_split_to_array", columns.text(Some(2), row)?.flatten().unwrap_or(""))?;
            each_part(&patterns.get(pattern, options)?, text, |part| {
                parts.append_value(part);
                count += 1;
            })?;
            ends.push(Some(count));
        }
        lines(&parts.finish(), &ends)
    })
}

fn split_rows() -> SetKernel {
    Arc::new(|call: &Call, args: &[Arg], row: usize| -> PgResult<Box<dyn RowSource>> {
        let columns = Columns { args };
        let (Some(Some(text)), Some(Some(pattern)), false) =
            (columns.text(Some(0), row)?, columns.text(Some(1), row)?, columns.any_null(row))
        else {
            return Ok(Box::new(NoRows));
        };
        let options = flags_without_global("regexp_split_to_table", columns.text(Some(2), row)?.flatten().unwrap_or(""))?;
        let mut parts = StringViewBuilder::new();
        each_part(&Searcher::new(Some(call.ctx), compiled(pattern, options)?), text, |part| parts.append_value(part))?;
        let parts: ArrayRef = Arc::new(parts.finish());
        let count = parts.len();
        Ok(ColumnRows::boxed(parts, 0, count))
    })
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Replacement

/// The kernel of `regexp_replace` with its optional arguments where they are.
fn replace_kernel(start_at: Option<usize>, number_at: Option<usize>, flags_at: Option<usize>) -> Kernel {
    Arc::new(move |call, args| {
        let columns = Columns { args };
        let mut patterns = Patterns::new(call.ctx);
        let mut out = StringViewBuilder::with_capacity(call.rows);
        let mut scratch = String::new();
        for row in 0..call.rows {
            let (Some(Some(text)), Some(Some(pattern)), Some(Some(new)), false) =
                (columns.text(Some(0), row)?, columns.text(Some(1), row)?, columns.text(Some(2), row)?, columns.any_null(row))
            else {
                out.append_null();
                continue;
            };
            let start = columns.number(start_at, row, "start", 1, 1)?;
            let letters = columns.text(flags_at, row)?.flatten().unwrap_or("");
            if start_at.is_none() && letters.starts_with(|c: char| c.is_ascii_digit()) {
                let first = letters.get(..1).unwrap_or("");
                return Err(invalid(format!("invalid regular expression option: \"{first}\""))
                    .hint("If you meant to use regexp_replace() with a start parameter, cast the fourth argument to integer explicitly."));
            }
            let number = columns.number(number_at, row, "n", 0, 1)?;
            let (options, global) = flags(letters)?;
            // Without a number, the flag says whether all are replaced.
            let number = if number_at.is_none() && global { 0 } else { number as usize };
            scratch.clear();
            let regexp = patterns.get(pattern, options)?;
            replace(&regexp, text, new, char_start(text, start as usize - 1), number, start as usize - 1, &mut scratch)?;
            crate::memory::append_text(&mut out, &mut scratch)?;
        }
        Ok(Arc::new(out.finish()))
    })
}

/// Replaces the match of this number, or all for 0.
fn replace(regexp: &Searcher<'_>, text: &str, new: &str, from: usize, number: usize, skipped: usize, out: &mut String) -> PgResult<()> {
    let mut copied = 0;
    let mut count = 0;
    // A start behind the end finds nothing, not even an empty match.
    if skipped <= char_count(text) as usize {
        each_match(regexp, text, from, true, |spans| {
            count += 1;
            if number > 0 && count != number {
                return Ok(true);
            }
            let (start, end) = span(spans, 0).unwrap_or((0, 0));
            out.push_str(part(text, (copied, start)));
            append_replacement(new, text, spans, out);
            copied = end;
            Ok(number == 0)
        })?;
    }
    out.push_str(part(text, (copied, text.len())));
    Ok(())
}

/// Appends a replacement, in which `\&` is the match, `\1` to `\9` are groups and `\\` is a backslash.
fn append_replacement(new: &str, text: &str, spans: &[Option<Span>], out: &mut String) {
    let mut rest = new;
    while let Some((before, escape)) = rest.split_once('\\') {
        out.push_str(before);
        let mut chars = escape.chars();
        let group = match chars.next() {
            Some('&') => Some(0),
            Some(digit @ '1'..='9') => Some(digit as usize - '0' as usize),
            Some('\\') => {
                out.push('\\');
                rest = chars.as_str();
                continue;
            }
            _ => None,
        };
        match group {
            Some(group) => {
                out.push_str(span(spans, group).map_or("", |span| part(text, span)));
                rest = chars.as_str();
            }
            None => {
                out.push('\\');
                rest = escape;
            }
        }
    }
    out.push_str(rest);
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Counting and finding

fn count_kernel() -> Kernel {
    Arc::new(|call, args| {
        let columns = Columns { args };
        let mut patterns = Patterns::new(call.ctx);
        let mut out = Int4::builder(call.rows);
        for row in 0..call.rows {
            let (Some(Some(text)), Some(Some(pattern)), false) =
                (columns.text(Some(0), row)?, columns.text(Some(1), row)?, columns.any_null(row))
            else {
                out.push(None);
                continue;
            };
            let start = columns.number(Some(2), row, "start", 1, 1)? as usize - 1;
            let options = flags_without_global("regexp_count", columns.text(Some(3), row)?.flatten().unwrap_or(""))?;
            let regexp = patterns.get(pattern, options)?;
            let mut count = 0;
            if start <= char_count(text) as usize {
                each_match(&regexp, text, char_start(text, start), true, |_| {
                    count += 1;
                    Ok(true)
                })?;
            }
            out.push(Some(count));
        }
        Int4::finish(out, call.ret)
    })
}

/// Which part of which match is asked for.
struct Wanted {
    start: usize,
    number: usize,
    group: usize,
}

/// The span of the wanted group of the wanted match.
fn wanted_span(regexp: &Searcher<'_>, text: &str, wanted: &Wanted) -> PgResult<Option<Span>> {
    // Without groups, the match itself is the first one.
    if wanted.group > regexp.groups().max(1) || wanted.start > char_count(text) as usize {
        return Ok(None);
    }
    let group = wanted.group.min(regexp.groups());
    let (mut count, mut found) = (0, None);
    each_match(regexp, text, char_start(text, wanted.start), true, |spans| {
        count += 1;
        if count == wanted.number {
            found = span(spans, group);
        }
        Ok(count < wanted.number)
    })?;
    Ok(found)
}

fn position_kernel() -> Kernel {
    Arc::new(|call, args| {
        let columns = Columns { args };
        let mut patterns = Patterns::new(call.ctx);
        let mut out = Int4::builder(call.rows);
        for row in 0..call.rows {
            let (Some(Some(text)), Some(Some(pattern)), false) =
                (columns.text(Some(0), row)?, columns.text(Some(1), row)?, columns.any_null(row))
            else {
                out.push(None);
                continue;
            };
            let start = columns.number(Some(2), row, "start", 1, 1)? as usize - 1;
            let number = columns.number(Some(3), row, "n", 1, 1)? as usize;
            let end = columns.number(Some(4), row, "endoption", 0, 0)?;
            if end > 1 {
                return Err(invalid(format!("invalid value for parameter \"endoption\": {end}")));
            }
            let letters = columns.text(Some(5), row)?.flatten().unwrap_or("");
            let group = columns.number(Some(6), row, "subexpr", 0, 0)? as usize;
            let options = flags_without_global("regexp_instr", letters)?;
            let regexp = patterns.get(pattern, options)?;
            let found = wanted_span(&regexp, text, &Wanted { start, number, group })?;
            out.push(Some(found.map_or(0, |(from, to)| char_count(part(text, (0, if end == 1 { to } else { from }))) + 1)));
        }
        Int4::finish(out, call.ret)
    })
}

fn part_kernel() -> Kernel {
    Arc::new(|call, args| {
        let columns = Columns { args };
        let mut patterns = Patterns::new(call.ctx);
        let mut out = StringViewBuilder::with_capacity(call.rows);
        for row in 0..call.rows {
            let (Some(Some(text)), Some(Some(pattern)), false) =
                (columns.text(Some(0), row)?, columns.text(Some(1), row)?, columns.any_null(row))
            else {
                out.append_null();
                continue;
            };
            let start = columns.number(Some(2), row, "start", 1, 1)? as usize - 1;
            let number = columns.number(Some(3), row, "n", 1, 1)? as usize;
            let letters = columns.text(Some(4), row)?.flatten().unwrap_or("");
            let group = columns.number(Some(5), row, "subexpr", 0, 0)? as usize;
            let options = flags_without_global("regexp_substr", letters)?;
            let regexp = patterns.get(pattern, options)?;
            let found = wanted_span(&regexp, text, &Wanted { start, number, group })?;
            out.append_option(found.map(|span| part(text, span)));
        }
        Ok(Arc::new(out.finish()))
    })
}

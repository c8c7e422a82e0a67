//! Regular expressions of maps: PostgreSQL's, as far as another engine can match them with the same answer; the rest is refused.
//!
//! The pattern is rewritten piece by piece, and what has no piece here is an error of its line: a name that is matched by a wrong
//! reading would be somebody else's. `\d`, `\s` and `\w` mean ASCII, as they do in PostgreSQL's maps. PostgreSQL takes the longest
//! match, the engine the first: where the two could give another `\1`, the pattern is refused together with `\1`.

use regex::{Regex, RegexBuilder};
use std::iter::Peekable;
use std::str::CharIndices;

/// How much memory a compiled expression may take: maps have many.
const MAX_SIZE: usize = 1 << 20;

/// Compiles an expression; `captures` says that its first group is asked for.
pub(super) fn compile(pattern: &str, captures: bool) -> Result<Regex, String> {
    let mut translation = Translation { out: String::new(), rest: pattern.char_indices().peekable(), shape: Shape::default() };
    translation.whole(pattern)?;
    let Translation { out, shape, .. } = translation;
    if captures && shape.is_ambiguous(pattern) {
        return Err("alternatives, non-greedy quantifiers and repetitions of a group beside \\1 are not supported".to_owned());
    }
    let made = RegexBuilder::new(&out).dot_matches_new_line(true).size_limit(MAX_SIZE).build();
    made.map_err(|e| match e {
        regex::Error::CompiledTooBig(_) => "regular expression is too complex".to_owned(),
        _ => "quantifier operand invalid or parentheses () not balanced".to_owned(),
    })
}

/// What tells whether the longest match may have another first group than the first one.
#[derive(Default)]
struct Shape {
    depth: usize,
    /// Depth inside the first group, once it is open; 0 when it is closed.
    first_group: Option<usize>,
    first_group_closed: bool,
    bar_before: bool,
    bar_after: bool,
    bar_outside: bool,
    lazy: bool,
    /// The numbers of the groups that are open, capturing or not, and of the first that captures.
    open: Vec<usize>,
    opened: usize,
    first_number: Option<usize>,
    /// Whether the first group, or one that holds it, is repeated, and so matched several times.
    repeated: bool,
}

impl Shape {
    fn bar(&mut self) {
        self.bar_outside |= self.depth == 0;
        if self.first_group_closed {
            self.bar_after = true;
        } else {
            self.bar_before = true;
        }
    }

    fn is_ambiguous(&self, pattern: &str) -> bool {
        let anchored = pattern.ends_with('$') && !pattern.ends_with("\\$");
        self.lazy || self.repeated || self.bar_before || self.bar_outside || (self.bar_after && !anchored)
    }
}

struct Translation<'a> {
    out: String,
    rest: Peekable<CharIndices<'a>>,
    shape: Shape,
}

impl Translation<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest.peek().map(|&(_, c)| c)
    }

    fn next(&mut self) -> Option<char> {
        self.rest.next().map(|(_, c)| c)
    }

    /// Whether a bound comes now, `{1,2}`.
    fn is_bound(&mut self) -> bool {
        self.peek() == Some('{') && self.rest.clone().nth(1).is_some_and(|(_, next)| next.is_ascii_digit())
    }

    /// A character as itself.
    fn literal(&mut self, c: char) {
        if c.is_ascii_punctuation() {
            self.out.push('\\');
        }
        self.out.push(c);
    }

    fn whole(&mut self, pattern: &str) -> Result<(), String> {
        if pattern.starts_with("***") {
            return Err("directors (***) are not supported".to_owned());
        }
        while let Some(c) = self.next() {
            match c {
                '\\' => self.escape(false)?,
                '[' => self.bracket()?,
                '(' => self.open()?,
                ')' => {
                    self.out.push(c);
                    let number = self.shape.open.pop();
                    let holds_first = self.shape.first_number.is_some() && number <= self.shape.first_number;
                    self.shape.repeated |= holds_first && matches!(self.peek(), Some('*' | '+' | '?' | '{'));
                    if self.shape.first_group == Some(self.shape.depth) && !self.shape.first_group_closed {
                        self.shape.first_group_closed = true;
                    }
                    self.shape.depth = self.shape.depth.checked_sub(1).ok_or("parentheses () not balanced")?;
                }
                '|' => {
                    self.shape.bar();
                    self.out.push(c);
                }
                '{' if !self.peek().is_some_and(|next| next.is_ascii_digit()) => self.literal(c),
                '*' | '+' | '?' | '{' => self.quantifier(c)?,
                '^' | '$' => {
                    self.out.push(c);
                    if matches!(self.peek(), Some('*' | '+' | '?')) || self.is_bound() {
                        return Err("quantifier operand invalid".to_owned());
                    }
                }
                '.' => self.out.push(c),
                _ => self.literal(c),
            }
        }
        if self.shape.depth > 0 { Err("parentheses () not balanced".to_owned()) } else { Ok(()) }
    }

    fn open(&mut self) -> Result<(), String> {
        self.shape.depth += 1;
        self.shape.opened += 1;
        self.shape.open.push(self.shape.opened);
        self.out.push('(');
        if self.peek() == Some('?') {
            self.next();
            if self.next() != Some(':') {
                return Err("lookaround and embedded options are not supported".to_owned());
            }
            self.out.push_str("?:");
        } else if self.shape.first_group.is_none() {
            self.shape.first_group = Some(self.shape.depth);
            self.shape.first_number = Some(self.shape.opened);
        }
        if matches!(self.peek(), Some('*' | '+')) {
            return Err("quantifier operand invalid".to_owned());
        }
        Ok(())
    }

    fn quantifier(&mut self, c: char) -> Result<(), String> {
        self.out.push(c);
        if c == '{' {
            loop {
                match self.next() {
                    Some(digit) if digit.is_ascii_digit() || digit == ',' => self.out.push(digit),
                    Some('}') => break self.out.push('}'),
                    _ => return Err("invalid repetition count(s)".to_owned()),
                }
            }
        }
        if self.peek() == Some('?') {
            self.next();
            self.out.push('?');
            self.shape.lazy = true;
        }
        // The engine would take a second one, PostgreSQL does not.
        let again = match self.peek() {
            Some('*' | '+' | '?') => true,
            _ => self.is_bound(),
        };
        if again { Err("quantifier operand invalid".to_owned()) } else { Ok(()) }
    }

    fn escape(&mut self, in_bracket: bool) -> Result<(), String> {
        // A range cannot begin with a class.
        let mut ahead = self.rest.clone();
        let is_class = matches!(ahead.next(), Some((_, 'd' | 'w' | 's')));
        if in_bracket && is_class && ahead.next().is_some_and(|(_, c)| c == '-') && ahead.next().is_none_or(|(_, c)| c != ']') {
            return Err("invalid character range".to_owned());
        }
        let class = |inside: &'static str, outside: &'static str| Ok::<_, String>(if in_bracket { inside } else { outside });
        let text = match self.next() {
            None => return Err("invalid escape \\ sequence".to_owned()),
            Some('d') => class("0-9", "[0-9]")?,
            Some('w') => class("A-Za-z0-9_", "[A-Za-z0-9_]")?,
            Some('s') => class(" \\t\\n\\r\\x0b\\x0c", "[ \\t\\n\\r\\x0b\\x0c]")?,
            Some('D') if !in_bracket => "[^0-9]",
            Some('W') if !in_bracket => "[^A-Za-z0-9_]",
            Some('S') if !in_bracket => "[^ \\t\\n\\r\\x0b\\x0c]",
            Some('t') => "\\t",
            Some('n') => "\\n",
            Some('r') => "\\r",
            Some(c) if c.is_ascii_alphanumeric() => return Err(format!("the escape \\{c} is not supported")),
            Some(c) => {
                self.literal(c);
                return Ok(());
            }
        };
        self.out.push_str(text);
        Ok(())
    }

    fn bracket(&mut self) -> Result<(), String> {
        self.out.push('[');
        if self.peek() == Some('^') {
            self.next();
            self.out.push('^');
        }
        let mut first = true;
        loop {
            match self.next() {
                None => return Err("brackets [] not balanced".to_owned()),
                Some(']') if !first => break,
                Some('\\') => self.escape(true)?,
                Some('[') if matches!(self.peek(), Some('.' | '=')) => {
                    return Err("collating elements are not supported".to_owned());
                }
                Some('[') if self.peek() == Some(':') => {
                    let mut name = String::new();
                    while let Some(c) = self.next().filter(|&c| c != ']') {
                        name.push(c);
                    }
                    let known = [
                        ":alpha:", ":upper:", ":lower:", ":digit:", ":xdigit:", ":alnum:", ":space:", ":blank:", ":punct:", ":print:",
                        ":graph:", ":cntrl:",
                    ];
                    if !known.contains(&name.as_str()) {
                        return Err("invalid character class".to_owned());
                    }
                    self.out.push_str(&format!("[{name}]"));
                    if self.peek() == Some('-') && self.rest.clone().nth(1).is_none_or(|(_, c)| c != ']') {
                        return Err("invalid character range".to_owned());
                    }
                }
                // A range, unless it is the first or the last.
                Some('-') if !first && self.peek() != Some(']') => self.out.push('-'),
                Some(c) => self.literal(c),
            }
            first = false;
        }
        self.out.push(']');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing)]
    use super::compile;

    #[test]
    fn what_could_match_otherwise_is_refused() {
        for (pattern, captures, compiles) in [
            ("^(.*)@example\\.com$", true, true),
            ("^(.*)@(example|foo)\\.com$", true, true),
            ("^(.*)@(example|foo)", true, false),
            ("^(a|ab)", true, false),
            ("^(a|ab)", false, true),
            ("^(a.*?)$", true, false),
            ("^(a)$|^b$", true, false),
            ("(?=a)", false, false),
            ("(?i)a", false, false),
            ("a\\y", false, false),
            ("(a)\\1", false, false),
            ("***=a", false, false),
            ("(", false, false),
            (")", false, false),
            ("a**", false, false),
            ("*a", false, false),
            ("[a", false, false),
            ("[[:alpha:]]+", false, true),
            ("[[:foo:]]+", false, false),
            ("a{2,3}", false, true),
            ("a{", false, true),
            ("a{2", false, false),
            ("\\", false, false),
            ("((((((((((a{99}){99}){99}){99}))))))", false, false),
        ] {
            assert_eq!(compile(pattern, captures).is_ok(), compiles, "{pattern}");
        }
    }

    #[test]
    fn classes_are_ascii_and_brackets_literal() {
        for (pattern, text, matches) in [
            ("^\\d$", "7", true),
            ("^\\d$", "٧", false),
            ("^\\w+$", "aé", false),
            ("^[[]$", "[", true),
            ("^[]]$", "]", true),
            ("^[a&&b]+$", "&", true),
            ("^[a-c-]+$", "-b", true),
            ("^.$", "\n", true),
            ("^a$", "a\n", false),
            ("^a{$", "a{", true),
        ] {
            assert_eq!(compile(pattern, false).is_ok_and(|r| r.is_match(text)), matches, "{pattern} {text:?}");
        }
    }

    /// Whatever compiles here matches as in PostgreSQL, with the same first group; what is refused may be anything.
    #[test]
    fn what_compiles_matches_as_in_postgresql() {
        let value: serde_json::Value = serde_json::from_str(include_str!("cases/patterns.json")).unwrap_or_default();
        let (mut compared, mut groups, mut differ) = (0, 0, Vec::new());
        for case in value.get("cases").and_then(|cases| cases.as_array()).into_iter().flatten() {
            let [Some(pattern), Some(text)] = [case[0].as_str(), case[1].as_str()] else { continue };
            let theirs = &case[2];
            for captures in [false, true] {
                let Ok(expression) = compile(pattern, captures) else { continue };
                compared += 1;
                let found = expression.captures(text);
                let group = found.as_ref().and_then(|found| found.get(1)).map(|group| group.as_str());
                let same = match (&found, theirs.as_array()) {
                    (None, None) => theirs.is_null(),
                    (Some(_), Some(array)) if captures && expression.captures_len() > 1 => {
                        groups += 1;
                        array.first().and_then(|group| group.as_str()) == group
                    }
                    (Some(_), Some(_)) => true,
                    _ => false,
                };
                if !same {
                    differ.push(format!("{pattern:?} {text:?} {captures}: {group:?} of {found:?}, not {theirs}"));
                }
            }
        }
        assert!(differ.is_empty(), "{} of {compared} differ:\n{}", differ.len(), differ.join("\n"));
        assert!(compared > 1000 && groups > 50, "{compared}, {groups} with groups");
    }
}

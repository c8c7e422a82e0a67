//! Text of a configuration file to lines of fields of tokens, as PostgreSQL cuts them: blanks, commas, quotes, comments,
//! continuations and `@file`.
//!
//! A field is a list: `a,b, c` is one field of three tokens. A token that opens with a quote is never a keyword. An error ends its
//! line and no other.

use std::fmt;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The longest token, in bytes: PostgreSQL's number.
const MAX_TOKEN: usize = 10_240 - 1;
/// How deep `@file` may nest: PostgreSQL 15 ends by running out of files, its successors at this.
const MAX_DEPTH: usize = 10;
/// How many tokens included files may give a line: files that include each other twice at each depth would fill memory.
const MAX_TOKENS: usize = 1_000_000;
/// The largest file that is read.
const MAX_FILE: u64 = 64 << 20;

/// Where files are read from.
pub trait Files {
    /// The whole file.
    ///
    /// # Errors
    /// If it cannot be read.
    fn read(&self, path: &Path) -> io::Result<String>;
}

/// The file system. What is no UTF-8 is replaced by U+FFFD, which no name of a role holds that anybody can type.
#[derive(Clone, Copy, Debug)]
pub struct OnDisk;

impl Files for OnDisk {
    fn read(&self, path: &Path) -> io::Result<String> {
        use std::io::Read;
        let mut bytes = Vec::new();
        std::fs::File::open(path)?.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
        if u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_FILE) {
            return Err(io::Error::other("file is too large"));
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// A word of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Token {
    pub text: String,
    /// Whether it opens with a quote: then it is a name, whatever it says.
    pub quoted: bool,
}

impl Token {
    /// Whether it is this keyword, unquoted.
    #[must_use]
    pub fn is_keyword(&self, keyword: &str) -> bool {
        !self.quoted && self.text == keyword
    }
}

/// What is wrong with a line, or, as line 0, with a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LineError {
    pub file: PathBuf,
    pub line: usize,
    pub message: String,
    pub hint: Option<String>,
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if self.line > 0 {
            write!(f, " (line {} of configuration file \"{}\")", self.line, self.file.display())?;
        }
        Ok(())
    }
}

impl std::error::Error for LineError {}

/// A line that is not empty, after continuations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Line {
    /// Of its first physical line, from 1.
    pub(super) number: usize,
    /// None is empty, and none of its lists is, but that a list of an empty included file is left out.
    pub(super) fields: Vec<Vec<Token>>,
    pub(super) error: Option<String>,
}

/// All lines of a text with something on them.
pub(super) fn lines(name: &Path, text: &str, files: &dyn Files) -> Vec<Line> {
    Reader { files, tokens: 0 }.lines(name, text, 0)
}

struct Reader<'a> {
    files: &'a dyn Files,
    /// How many tokens the included files have given so far.
    tokens: usize,
}

impl Reader<'_> {
    fn lines(&mut self, name: &Path, text: &str, depth: usize) -> Vec<Line> {
        let mut out = Vec::new();
        let mut number = 1;
        let mut physical = text.split_inclusive('\n');
        while let Some((line, count)) = joined(&mut physical) {
            let (mut fields, mut error, mut rest) = (Vec::new(), None, line.as_str());
            while !rest.is_empty() && error.is_none() {
                let field = self.field(name, &mut rest, depth, &mut error);
                if !field.is_empty() {
                    fields.push(field);
                }
            }
            if !fields.is_empty() || error.is_some() {
                out.push(Line { number, fields, error });
            }
            number += count;
        }
        out
    }

    fn field(&mut self, name: &Path, rest: &mut &str, depth: usize, error: &mut Option<String>) -> Vec<Token> {
        let mut out = Vec::new();
        loop {
            let (token, comma) = match next_token(rest) {
                Ok(Some(found)) => found,
                Ok(None) => return out,
                Err(message) => {
                    *error = Some(message);
                    return out;
                }
            };
            match token.text.strip_prefix('@').filter(|file| !token.quoted && !file.is_empty()) {
                Some(file) => {
                    if let Err(message) = self.include(name, file, depth, &mut out) {
                        *error = Some(message);
                    }
                }
                None => out.push(token),
            }
            if !comma || error.is_some() {
                return out;
            }
        }
    }

    fn include(&mut self, outer: &Path, file: &str, depth: usize, out: &mut Vec<Token>) -> Result<(), String> {
        let path = canonical(&outer.parent().unwrap_or(Path::new("")).join(file));
        if depth >= MAX_DEPTH {
            return Err(format!("could not open file \"{}\": maximum nesting depth exceeded", path.display()));
        }
        let text = self
            .files
            .read(&path)
            .map_err(|e| format!("could not open secondary authentication file \"@{file}\" as \"{}\": {}", path.display(), reason(&e)))?;
        for line in self.lines(&path, &text, depth + 1) {
            if let Some(message) = line.error {
                return Err(message);
            }
            let tokens = line.fields.into_iter().flatten();
            let before = out.len();
            out.extend(tokens);
            self.tokens = self.tokens.saturating_add(out.len() - before);
            if self.tokens > MAX_TOKENS {
                return Err(format!("included files hold more than {MAX_TOKENS} names"));
            }
        }
        Ok(())
    }
}

/// The system's words for a failure, without Rust's number behind them.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text.get(..end).unwrap_or_default().to_owned(),
        None => text,
    }
}

/// A path without `.` and, where they are not links, `..`: by its text, as PostgreSQL does.
fn canonical(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            Component::ParentDir if out.has_root() => {}
            part => out.push(part),
        }
    }
    out
}

/// The next line with its continuations, and of how many physical lines it is.
fn joined<'a>(physical: &mut impl Iterator<Item = &'a str>) -> Option<(String, usize)> {
    let (mut line, mut last_backslash, mut count) = (String::new(), 0, 0);
    for piece in physical {
        line.push_str(piece);
        count += 1;
        line.truncate(line.trim_end_matches(['\r', '\n']).len());
        // A backslash that came to the end because the next line is empty continues nothing.
        if line.len() > last_backslash && line.ends_with('\\') {
            line.pop();
            last_backslash = line.len();
            continue;
        }
        break;
    }
    (count > 0).then_some((line, count))
}

const fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r')
}

/// The next token and whether a comma ended it; `None` at the end of the line.
fn next_token(rest: &mut &str) -> Result<Option<(Token, bool)>, String> {
    let start = rest.trim_start_matches(|c| is_blank(c) || c == ',');
    let mut token = Token { text: String::new(), quoted: false };
    let (mut in_quote, mut was_quote, mut saw_quote) = (false, false, false);
    let mut characters = start.char_indices();
    loop {
        let Some((at, c)) = characters.next() else {
            *rest = "";
            return Ok((saw_quote || !token.text.is_empty()).then_some((token, false)));
        };
        if is_blank(c) && !in_quote {
            *rest = start.get(at..).unwrap_or_default();
            return Ok((saw_quote || !token.text.is_empty()).then_some((token, false)));
        }
        if c == '#' && !in_quote {
            *rest = "";
            return Ok((saw_quote || !token.text.is_empty()).then_some((token, false)));
        }
        if token.text.len() >= MAX_TOKEN {
            *rest = "";
            return Err("authentication file token too long".to_owned());
        }
        if c == ',' && !in_quote {
            // The comma stays: it is skipped before the next token.
            *rest = start.get(at..).unwrap_or_default();
            return Ok((saw_quote || !token.text.is_empty()).then_some((token, true)));
        }
        // Two quotes within quotes are one.
        if c != '"' || was_quote {
            token.text.push(c);
        }
        was_quote = in_quote && c == '"' && !was_quote;
        if c == '"' {
            in_quote = !in_quote;
            saw_quote = true;
            if token.text.is_empty() {
                token.quoted = true;
            }
        }
    }
}

//! `SIMILAR TO`: SQL's regular expressions, rewritten as advanced ones.

use stoa_error::{PgError, PgResult, SqlState};

/// The regular expression for a pattern of `SIMILAR TO`. `escape` is the text after ESCAPE; without one a backslash escapes, and the
/// empty text means that nothing does.
///
/// # Errors
/// 22025 for an escape of several characters, 2200C for more than two of `escape"`, which mark the part that `substring` returns.
pub fn similar_escape(pattern: &str, escape: Option<&str>) -> PgResult<String> {
    let mut chars = escape.unwrap_or("\\").chars();
    let escape = match (chars.next(), chars.next()) {
        (escape, None) => escape,
        _ => {
            return Err(PgError::new(SqlState::INVALID_ESCAPE_SEQUENCE, "invalid escape string")
                .hint("Escape string must be empty or one character."));
        }
    };
    let mut out = String::with_capacity(pattern.len() + 8);
    out.push_str("^(?:");
    let (mut escaped, mut marks) = (false, 0);
    // Bracket expressions that are open, and whether a `]` would stand for itself: it does at the beginning, also behind a caret.
    let (mut depth, mut beginning) = (0u32, Beginning::Past);
    for c in pattern.chars() {
        if escaped {
            escaped = false;
            if c == '"' && depth == 0 {
                // The parts before, between and behind the marks; the first as short as possible, the middle one captured.
                out.push_str(match marks {
                    0 => "){1,1}?(",
                    1 => "){1,1}(?:",
                    _ => {
                        return Err(PgError::new(
                            SqlState::INVALID_USE_OF_ESCAPE_CHARACTER,
                            "SQL regular expression may not contain more than two escape-double-quote separators",
                        ));
                    }
                });
                marks += 1;
            } else {
                out.push('\\');
                out.push(c);
                beginning = Beginning::Past;
            }
        } else if Some(c) == escape {
            escaped = true;
        } else if depth > 0 {
            if c == '\\' {
                out.push('\\');
            }
            out.push(c);
            match c {
                ']' if beginning == Beginning::Past => depth -= 1,
                '[' => depth += 1,
                _ => {}
            }
            beginning = if c == '^' && beginning == Beginning::Bracket { Beginning::Caret } else { Beginning::Past };
        } else {
            match c {
                '[' => {
                    (depth, beginning) = (1, Beginning::Bracket);
                    out.push(c);
                }
                '%' => out.push_str(".*"),
                '_' => out.push('.'),
                '(' => out.push_str("(?:"),
                '\\' | '.' | '^' | '$' => {
                    out.push('\\');
                    out.push(c);
                }
                _ => out.push(c),
            }
        }
    }
    out.push_str(")$");
    Ok(out)
}

/// Where in a bracket expression the pattern is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beginning {
    Bracket,
    Caret,
    Past,
}

//! The words that SQL has for the time, in defaults: `CURRENT_TIMESTAMP`, `CURRENT_DATE` and their kin.
//!
//! Bound expressions call `now()` for all of them. PostgreSQL keeps the words, which migration tools compare with what they wrote.
//! Invariant: the text with the words binds to the same expression as the text without.

/// A text printed from an expression, with the words that `written` has. What calls `now` itself stays as it is, since nothing tells
/// the one from the other.
pub fn as_written(printed: String, written: &str, pretty: bool) -> String {
    let written = written.to_ascii_lowercase();
    if !printed.contains("now()") || written.contains("now(") {
        return printed;
    }
    let cast = |ty: &str| if pretty { format!("now()::{ty}") } else { format!("(now())::{ty}") };
    let mut out = printed;
    let mut replace = |word: &str, form: &str| {
        if has_word(&written, word) {
            out = out.replace(form, &word.to_uppercase());
        }
    };
    for precision in 0..=6 {
        for (word, kind, zone) in [
            ("current_timestamp", "timestamp", "with"),
            ("localtimestamp", "timestamp", "without"),
            ("current_time", "time", "with"),
            ("localtime", "time", "without"),
        ] {
            replace(&format!("{word}({precision})"), &cast(&format!("{kind}({precision}) {zone} time zone")));
        }
    }
    replace("current_date", &cast("date"));
    replace("localtimestamp", &cast("timestamp without time zone"));
    replace("current_time", &cast("time with time zone"));
    replace("localtime", &cast("time without time zone"));
    replace("current_timestamp", "now()");
    out
}

/// Whether a text has a word, and not as a part of a longer one or with a precision that the word does not have.
fn has_word(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|t| t.chars().next());
        !before.is_some_and(part) && !after.is_some_and(|c| part(c) || c == '(')
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::as_written;

    #[test]
    fn words_come_back_where_they_were_written() {
        for (printed, written, wanted) in [
            ("now()", "current_timestamp", "CURRENT_TIMESTAMP"),
            ("now()", "now()", "now()"),
            ("(now())::date", "CURRENT_DATE", "CURRENT_DATE"),
            ("(now())::date", "CURRENT_TIMESTAMP::date", "(CURRENT_TIMESTAMP)::date"),
            ("((now())::date + 1)", "CURRENT_DATE + 1", "(CURRENT_DATE + 1)"),
            ("(now())::timestamp(3) with time zone", "CURRENT_TIMESTAMP(3)", "CURRENT_TIMESTAMP(3)"),
            ("(now())::time with time zone", "CURRENT_TIMESTAMP::timetz", "(CURRENT_TIMESTAMP)::time with time zone"),
            ("(now())::time with time zone", "CURRENT_TIME", "CURRENT_TIME"),
            ("(now())::date", "now()::date", "(now())::date"),
        ] {
            assert_eq!(as_written(printed.to_owned(), written, false), wanted);
        }
        assert_eq!(as_written("now()::date + 1".to_owned(), "(CURRENT_DATE + 1)", true), "CURRENT_DATE + 1");
    }
}

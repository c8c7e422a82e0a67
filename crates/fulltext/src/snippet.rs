//! The piece of a text that shows why it was found, with the words marked.

use crate::evaluate::{Evaluator, FieldText};
use crate::query::FieldId;
use std::ops::Range;

/// How a snippet looks.
#[derive(Clone, Debug)]
pub struct SnippetOptions {
    pub before: String,
    pub after: String,
    /// Characters of the text, roughly.
    pub length: usize,
    /// Signs of HTML in the text, not in the marks, are written as entities.
    pub html: bool,
}

impl Default for SnippetOptions {
    fn default() -> Self {
        Self { before: "<b>".into(), after: "</b>".into(), length: 150, html: false }
    }
}

/// The piece with most different words of the query. Without any, the beginning of the text.
pub fn snippet(evaluator: &mut Evaluator, field: FieldId, text: &str, options: &SnippetOptions) -> String {
    let mut marks = evaluator.highlight(field, FieldText::Text(text));
    marks.sort_by_key(|m| (m.start, m.end));
    let window = window(text, &marks, options.length.max(10));
    let mut out = String::with_capacity(window.len() + 32);
    if window.start > 0 {
        out.push('…');
    }
    let mut at = window.start;
    // Words that overlap are marked together.
    let mut open: Option<Range<usize>> = None;
    let push = |place: Range<usize>, out: &mut String| {
        let text = text.get(place).unwrap_or_default();
        if options.html { text.chars().for_each(|c| push_escaped(c, out)) } else { out.push_str(text) }
    };
    let flush = |mark: Range<usize>, at: &mut usize, out: &mut String| {
        push(*at..mark.start, out);
        out.push_str(&options.before);
        push(mark.clone(), out);
        out.push_str(&options.after);
        *at = mark.end;
    };
    for mark in marks.into_iter().filter(|m| m.start >= window.start && m.end <= window.end) {
        open = Some(match open.take() {
            Some(before) if mark.start <= before.end => before.start..before.end.max(mark.end),
            Some(before) => {
                flush(before, &mut at, &mut out);
                mark
            }
            None => mark,
        });
    }
    if let Some(last) = open {
        flush(last, &mut at, &mut out);
    }
    push(at..window.end, &mut out);
    if window.end < text.len() {
        out.push('…');
    }
    out
}

/// A character as it is written in HTML, within an attribute too.
fn push_escaped(c: char, out: &mut String) {
    match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        '\'' => out.push_str("&#39;"),
        c => out.push(c),
    }
}

/// Bytes of the piece: it begins and ends at blanks where there are some.
fn window(text: &str, marks: &[Range<usize>], length: usize) -> Range<usize> {
    let size = length.min(text.len());
    if size == text.len() {
        return 0..size;
    }
    let (mut best, mut most) = (0, 0);
    let mut end = 0;
    for (n, mark) in marks.iter().enumerate() {
        end = end.max(n);
        while marks.get(end).is_some_and(|m| m.end <= mark.start + size) {
            end += 1;
        }
        let mut words: Vec<&str> = marks.get(n..end).unwrap_or_default().iter().filter_map(|m| text.get(m.clone())).collect();
        let all = words.len();
        words.sort_unstable();
        words.dedup();
        let worth = words.len() * 16 + all.min(15);
        if worth > most {
            (best, most) = (mark.start, worth);
        }
    }
    // Something of what stands before the first word.
    let lead = if most == 0 { 0 } else { size / 5 };
    let mut start = floor(text, best.saturating_sub(lead));
    if start > 0
        && let Some(blank) = text.get(start..best).and_then(|t| t.find(char::is_whitespace))
    {
        start += blank + 1;
    }
    let mut stop = floor(text, (start + size).min(text.len()));
    if stop < text.len()
        && let Some(blank) = text.get(start..stop).and_then(|t| t.rfind(char::is_whitespace)).filter(|b| *b > size / 2)
    {
        stop = start + blank;
    }
    start..stop
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::analyzer::{Analyzer, TokenizerOptions};
    use crate::parse::{SearchField, parse};
    use std::sync::Arc;

    fn shown(query: &str, text: &str, length: usize) -> String {
        let analyzer = Analyzer::new(&TokenizerOptions::default()).unwrap();
        let query = parse(query, &[SearchField { name: "b".into(), analyzer: Arc::clone(&analyzer) }], &[]).unwrap();
        let mut evaluator = Evaluator::new(&query, &[analyzer], None);
        snippet(&mut evaluator, 0, text, &SnippetOptions { length, ..SnippetOptions::default() })
    }

    #[test]
    fn words_are_marked_and_the_best_piece_is_shown() {
        assert_eq!(shown("fox dog -cat", "The fox, the dog and the cat", 100), "The <b>fox</b>, the <b>dog</b> and the cat");
        assert_eq!(shown("zebra", "The fox and the dog", 10), "The fox…");
        let long = format!("{}the quick zebra crosses {}", "a fox runs. ".repeat(30), "the road. ".repeat(30));
        let piece = shown("zebra quick", &long, 40);
        assert!(piece.contains("<b>quick</b> <b>zebra</b>") && piece.starts_with('…') && piece.ends_with('…'), "{piece}");
        assert_eq!(shown("ö", "ä ö ü", 12), "ä <b>ö</b> ü");
        assert_eq!(shown("x", "", 12), "");
    }

    #[test]
    fn texts_can_be_escaped_for_html() {
        let analyzer = Analyzer::new(&TokenizerOptions::default()).unwrap();
        let query = parse("bold", &[SearchField { name: "b".into(), analyzer: Arc::clone(&analyzer) }], &[]).unwrap();
        let mut evaluator = Evaluator::new(&query, &[analyzer], None);
        let options = SnippetOptions { html: true, ..SnippetOptions::default() };
        let text = "<i>bold</i> & 'it'";
        assert_eq!(snippet(&mut evaluator, 0, text, &options), "&lt;i&gt;<b>bold</b>&lt;/i&gt; &amp; &#39;it&#39;");
    }
}

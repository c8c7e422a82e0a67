//! The piece of a text that shows why it was found, with the words marked.

use crate::evaluate::{Evaluator, FieldText};
use crate::query::FieldId;
use std::ops::Range;

/// How a snippet looks.
#[derive(Clone, Debug)]
pub struct SnippetOptions {
    pub before: String,
    pub after: String,
    /// Characters of the text: fewer where it ends at a blank.
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

/// Bytes of the piece, `length` characters of the text: it begins and ends at blanks where there are some, and cuts no run of marks that
/// fits into it.
fn window(text: &str, marks: &[Range<usize>], length: usize) -> Range<usize> {
    if text.char_indices().nth(length).is_none() {
        return 0..text.len();
    }
    let runs = runs(text, marks);
    let place = best_run(text, marks, &runs, length);
    let best = runs.get(place).cloned().unwrap_or(0..0);
    // Something of what stands before the first word, if there is room beside it.
    let own = text.get(best.clone()).map_or(0, |t| t.chars().take(length).count());
    let lead = if best.is_empty() { 0 } else { (length / 5).min(length - own) };
    let mut start = back(text, best.start, lead);
    if start > 0
        && let Some(blank) = text.get(start..best.start).and_then(behind_blank)
    {
        start += blank;
    }
    // What is before is shown as a whole, too, or not at all.
    if let Some(cut) = place.checked_sub(1).and_then(|before| runs.get(before)).filter(|run| run.end > start) {
        start = cut.end;
    }
    let mut stop = ahead(text, start, length);
    let blank_follows = text.get(stop..).is_none_or(|rest| rest.chars().next().is_none_or(char::is_whitespace));
    if !blank_follows
        && let Some(blank) = text.get(start..stop).and_then(|t| t.rfind(char::is_whitespace)).filter(|b| *b > (stop - start) / 2)
    {
        stop = start + blank;
    }
    match runs.iter().find(|run| run.start < stop && run.end > stop) {
        Some(cut) if cut.start > best.start => stop = cut.start,
        // The blank was within the words that are wanted.
        Some(cut) if cut.start == best.start => stop = cut.end.min(ahead(text, start, length)),
        _ => {}
    }
    start..stop
}

/// Marks that follow each other with nothing but a blank or a sign between them: words of a phrase, characters of a word.
fn runs(text: &str, marks: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for mark in marks {
        match runs.last_mut() {
            Some(run) if mark.start <= run.end || is_gap(text.get(run.end..mark.start)) => run.end = run.end.max(mark.end),
            _ => runs.push(mark.clone()),
        }
    }
    runs
}

fn is_gap(between: Option<&str>) -> bool {
    between.is_some_and(|between| between.chars().count() <= 2 && !between.chars().any(char::is_alphanumeric))
}

/// The run with which the piece begins that has most different words.
fn best_run(text: &str, marks: &[Range<usize>], runs: &[Range<usize>], length: usize) -> usize {
    let ends = places(text, marks.iter().map(|m| m.end));
    let starts = places(text, marks.iter().map(|m| m.start));
    let (mut best, mut most, mut end, mut first) = (0, 0, 0, 0);
    for (place, run) in runs.iter().enumerate() {
        while marks.get(first).is_some_and(|m| m.start < run.start) {
            first += 1;
        }
        let Some(from) = starts.get(first) else { break };
        end = end.max(first);
        while ends.get(end).is_some_and(|at| *at <= from + length) {
            end += 1;
        }
        let mut words: Vec<&str> = marks.get(first..end).unwrap_or_default().iter().filter_map(|m| text.get(m.clone())).collect();
        let all = words.len();
        words.sort_unstable();
        words.dedup();
        let worth = words.len() * 16 + all.min(15);
        if worth > most {
            (best, most) = (place, worth);
        }
    }
    best
}

/// How many characters stand before each of some places of a text, which are its bytes.
fn places(text: &str, bytes: impl Iterator<Item = usize>) -> Vec<usize> {
    let bytes: Vec<usize> = bytes.collect();
    let mut order: Vec<usize> = (0..bytes.len()).collect();
    order.sort_by_key(|n| bytes.get(*n));
    let mut out = vec![0; bytes.len()];
    let (mut at, mut characters) = (0, 0);
    for n in order {
        let byte = bytes.get(n).copied().unwrap_or_default();
        characters += text.get(at..byte).map_or(0, |between| between.chars().count());
        at = byte;
        if let Some(place) = out.get_mut(n) {
            *place = characters;
        }
    }
    out
}

/// Behind the first blank of a text.
fn behind_blank(text: &str) -> Option<usize> {
    text.char_indices().find(|(_, c)| c.is_whitespace()).map(|(at, c)| at + c.len_utf8())
}

/// So many characters before a place.
fn back(text: &str, at: usize, characters: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    characters.checked_sub(1).map_or(at, |n| before.char_indices().rev().nth(n).map_or(0, |(at, _)| at))
}

/// So many characters behind a place.
fn ahead(text: &str, at: usize, characters: usize) -> usize {
    text.get(at..).and_then(|rest| rest.char_indices().nth(characters)).map_or(text.len(), |(n, _)| at + n)
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
    fn lengths_are_characters_and_phrases_are_whole() {
        let shown = |query: &str, text: &str, length| {
            let options = TokenizerOptions { kind: crate::analyzer::TokenizerKind::Jieba, ..TokenizerOptions::default() };
            let analyzer = Analyzer::new(&options).unwrap();
            let query = parse(query, &[SearchField { name: "b".into(), analyzer: Arc::clone(&analyzer) }], &[]).unwrap();
            let mut evaluator = Evaluator::new(&query, &[analyzer], None);
            let options = SnippetOptions { length, before: "[".into(), after: "]".into(), html: false };
            snippet(&mut evaluator, 0, text, &options)
        };
        assert_eq!(shown("\"北京天安门\"", "我爱北京天安门", 20), "我爱[北京天安门]");
        assert_eq!(shown("天安门", "我爱北京天安门", 10), "我爱北京[天安门]");
        let long = format!("{}我爱北京天安门{}", "今天天气很好。".repeat(9), "明天也会很好。".repeat(9));
        for length in 10..30 {
            let piece = shown("天安门", &long, length);
            assert!(piece.contains("[天安门]"), "{piece}");
            let plain = piece.trim_matches('…').replace(['[', ']'], "");
            assert_eq!(plain.chars().count(), length, "{piece}");
        }
        let two = format!("天安门{}天安门", "很".repeat(6));
        assert_eq!(shown("天安门", &two, 11), format!("[天安门]{}…", "很".repeat(6)), "what does not fit is left out as a whole");
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

//! Functions and operators of text search.

use crate::args::{Bool, Bytes, Call, Float4, Int4, Kernel, Oid, Text, strict1, strict2, strict3};
use crate::error::{PgError, PgResult};
use crate::registry::{Func, OperKind, Registry};
use crate::settings::Config;
use crate::sqlstate::SqlState;
use crate::types::PgType;
use crate::values::json::binary as json;
use crate::values::json::text::{Sink, parse};
use stoa_text::textsearch::matching::{entries, matches};
use stoa_text::textsearch::query::{Node, Query, clean};
use stoa_text::textsearch::vector::{MAX_POSITION, Position, Vector};

fn of(node: Node) -> String {
    Query(clean(node).0).to_string()
}

fn phrase(left: Node, right: Node, distance: u16) -> Node {
    Node::Phrase(Box::new(left), Box::new(right), distance)
}

fn and(left: Node, right: Node) -> Node {
    Node::And(Box::new(left), Box::new(right))
}

/// The strings of a jsonb in the order in which it is written, without keys.
fn vector_of_jsonb(config: Config, document: &[u8]) -> String {
    let (mut strings, mut ahead) = (Vec::new(), vec![json::Node::root(document)]);
    while let Some(node) = ahead.pop() {
        match node {
            json::Node::String(text) => strings.push(text),
            json::Node::Array(items) => ahead.extend(items.iter().collect::<Vec<_>>().into_iter().rev()),
            json::Node::Object(fields) => ahead.extend(fields.iter().map(|(_, value)| value).collect::<Vec<_>>().into_iter().rev()),
            _ => {}
        }
    }
    config.vector_of(strings).to_string()
}

/// The strings of a json in its order.
fn vector_of_json(config: Config, document: &str) -> PgResult<String> {
    let mut strings = Strings(Vec::new());
    parse(document, &mut strings)?;
    Ok(config.vector_of(strings.0.iter().map(String::as_str)).to_string())
}

/// The strings of a document that is read, without keys.
struct Strings(Vec<String>);

impl Sink for Strings {
    const DECODES: bool = true;
    fn string(&mut self, value: &str) -> PgResult<()> {
        self.0.push(value.to_owned());
        Ok(())
    }
}

/// `to_tsquery`: operators as written, operands through the configuration.
fn to_query(config: Config, text: &str) -> PgResult<String> {
    let query = Query::parse_with(text, &mut |word, weights, prefix| Ok(config.joined(word, weights, prefix, phrase)))?;
    Ok(query.0.map_or_else(String::new, of))
}

fn plain(config: Config, text: &str) -> String {
    of(config.joined(text, 0, false, |l, r, _| and(l, r)))
}

fn phrases(config: Config, text: &str) -> String {
    of(config.joined(text, 0, false, phrase))
}

/// `websearch_to_tsquery`: never an error. Words end at spaces, quotes, colons and the operators of other queries, which mean nothing.
fn web(config: Config, text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let is_operator = |c: char| matches!(c, '!' | '&' | '|' | '(' | ')');
    let is_delimiter = |c: char| c.is_whitespace() || is_operator(c) || matches!(c, '"' | ':');
    let (mut at, mut either): (usize, Vec<Node>) = (0, Vec::new());
    let mut all: Option<Node> = None;
    loop {
        if all.is_some() && is_or(&chars, &mut at) {
            either.extend(all.take());
        }
        // An operand, which any number of minus signs may negate.
        let mut negations = 0_usize;
        while let Some(c) = chars.get(at).filter(|c| c.is_whitespace() || is_operator(**c) || **c == '-') {
            negations += usize::from(*c == '-');
            at += 1;
        }
        let node = match chars.get(at) {
            None => break,
            Some('"') => {
                let end = chars.iter().skip(at + 1).position(|c| *c == '"').map_or(chars.len(), |n| at + 1 + n);
                let inside: String = chars.iter().take(end).skip(at + 1).collect();
                at = end + 1;
                config.joined(&inside, 0, false, phrase)
            }
            Some(_) => {
                // A colon may begin a word.
                let end = chars.iter().skip(at + 1).position(|c| is_delimiter(*c)).map_or(chars.len(), |n| at + 1 + n);
                let word: String = chars.iter().take(end).skip(at).collect();
                at = end;
                config.joined(&word, 0, false, phrase)
            }
        };
        let node = (0..negations.min(100)).fold(node, |n, _| Node::Not(Box::new(n)));
        all = Some(match all.take() {
            None => node,
            Some(before) => and(before, node),
        });
        while chars.get(at).is_some_and(|c| c.is_whitespace() || is_operator(*c)) {
            at += 1;
        }
    }
    either.extend(all);
    let mut parts = either.into_iter();
    let Some(first) = parts.next() else { return String::new() };
    of(parts.fold(first, |l, r| Node::Or(Box::new(l), Box::new(r))))
}

/// Whether OR stands here, as a word of its own before whatever may be an operand; passes over it.
fn is_or(chars: &[char], at: &mut usize) -> bool {
    let letters = chars.iter().skip(*at).take(2);
    if !letters.map(char::to_ascii_lowercase).eq(['o', 'r']) {
        return false;
    }
    let of_a_word = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let found = chars.get(*at + 2).is_some_and(|c| !of_a_word(c)) && chars.iter().skip(*at + 3).any(|c| !c.is_whitespace());
    *at += if found { 2 } else { 0 };
    found
}

const WEIGHTS: [f32; 4] = [0.1, 0.2, 0.4, 1.0];

/// The operands of a query, each once.
fn operands(node: &Node, out: &mut Vec<(String, bool)>) {
    match node {
        Node::Stop => {}
        Node::Lexeme { text, prefix, .. } => {
            if !out.iter().any(|(t, _)| t == text) {
                out.push((text.clone(), *prefix));
            }
        }
        Node::Not(a) => operands(a, out),
        Node::And(a, b) | Node::Or(a, b) | Node::Phrase(a, b, _) => {
            operands(a, out);
            operands(b, out);
        }
    }
}

/// `ts_rank`: how often words stand, and how near to each other where all are asked for.
fn rank(weights: [f32; 4], vector: &Vector, query: &Query, method: i32) -> f32 {
    let Some(node) = &query.0 else { return 0.0 };
    let mut words = Vec::new();
    operands(node, &mut words);
    words.sort();
    if words.is_empty() || vector.lexemes.is_empty() {
        return 0.0;
    }
    let of_all = matches!(node, Node::And(..) | Node::Phrase(..)) && words.len() > 1;
    let mut rank = if of_all { rank_near(weights, vector, &words) } else { rank_each(weights, vector, &words) };
    if rank < 0.0 {
        rank = 1e-20;
    }
    let length: usize = vector.lexemes.values().map(|p| p.len().max(1)).sum();
    let unique = vector.lexemes.len();
    let log2 = |n: usize| ((n + 1) as f64).ln() / std::f64::consts::LN_2;
    if method & 1 != 0 {
        rank = (f64::from(rank) / log2(length)) as f32;
    }
    if method & 2 != 0 {
        rank /= length as f32;
    }
    if method & 8 != 0 {
        rank /= unique as f32;
    }
    if method & 16 != 0 {
        rank = (f64::from(rank) / log2(unique)) as f32;
    }
    if method & 32 != 0 {
        rank /= rank + 1.0;
    }
    rank
}

fn rank_each(weights: [f32; 4], vector: &Vector, words: &[(String, bool)]) -> f32 {
    let nowhere = [Position { at: 1, weight: 0 }];
    let mut rank = 0.0f32;
    for (text, prefix) in words {
        for (_, positions) in entries(vector, text, *prefix) {
            let positions = if positions.is_empty() { &nowhere[..] } else { positions.as_slice() };
            let (mut sum, mut best, mut best_at) = (0.0f32, -1.0f32, 0usize);
            for (n, p) in positions.iter().enumerate() {
                let weight = weights.get(usize::from(p.weight)).copied().unwrap_or(0.0);
                sum += weight / ((n + 1) * (n + 1)) as f32;
                if weight > best {
                    (best, best_at) = (weight, n);
                }
            }
            rank = (f64::from(rank) + f64::from(best + sum - best / ((best_at + 1) * (best_at + 1)) as f32) / 1.644_934_066_85) as f32;
        }
    }
    rank / words.len() as f32
}

fn rank_near(weights: [f32; 4], vector: &Vector, words: &[(String, bool)]) -> f32 {
    const FAR: u32 = 1 << 14;
    let near = |distance: u32| {
        if distance > 100 { 1e-30 } else { (1.0 / (1.005 + 0.05 * (f64::from(distance) / 1.5 - 2.0).exp())) as f32 }
    };
    let nowhere = vec![Position { at: MAX_POSITION, weight: 0 }];
    let mut found: Vec<Option<(Vec<Position>, bool)>> = vec![None; words.len()];
    let mut rank = -1.0f32;
    for (i, (text, prefix)) in words.iter().enumerate() {
        for (_, positions) in entries(vector, text, *prefix) {
            let (own, unknown) = if positions.is_empty() { (nowhere.clone(), true) } else { (positions.clone(), false) };
            for (other, other_unknown) in found.iter().take(i).flatten() {
                for l in &own {
                    for p in other {
                        let mut distance = u32::from(l.at.abs_diff(p.at));
                        if distance == 0 && !(unknown || *other_unknown) {
                            continue;
                        }
                        if distance == 0 {
                            distance = FAR;
                        }
                        let weight = |p: &Position| weights.get(usize::from(p.weight)).copied().unwrap_or(0.0);
                        let current = f64::from(weight(l) * weight(p) * near(distance)).sqrt() as f32;
                        rank = if rank < 0.0 { current } else { (1.0 - (1.0 - f64::from(rank)) * (1.0 - f64::from(current))) as f32 };
                    }
                }
            }
            if let Some(slot) = found.get_mut(i) {
                *slot = Some((own, unknown));
            }
        }
    }
    rank
}

/// `ts_headline`: the piece of a text with most of the words asked for, those marked.
fn headline(config: Config, text: &str, query: &Query, options: &str) -> PgResult<String> {
    let (mut start, mut stop, mut most, mut all) = ("<b>".to_owned(), "</b>".to_owned(), 35usize, false);
    let (mut least, mut delimiter, mut fragments) = (15usize, " ... ".to_owned(), 0usize);
    for option in options.split(',').filter(|o| !o.trim().is_empty()) {
        let (name, value) = option
            .split_once('=')
            .ok_or_else(|| PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("invalid parameter list format: \"{options}\"")))?;
        let value = value.trim().trim_matches('"').to_owned();
        let number = || {
            value.parse::<usize>().map_err(|_| {
                PgError::new(SqlState::INVALID_TEXT_REPRESENTATION, format!("invalid input syntax for type integer: \"{value}\""))
            })
        };
        match name.trim().to_lowercase().as_str() {
            "startsel" => start.clone_from(&value),
            "stopsel" => stop.clone_from(&value),
            "maxwords" => most = number()?,
            "minwords" => least = number()?,
            "shortword" => {
                number()?;
            }
            "maxfragments" => fragments = number()?,
            "fragmentdelimiter" => delimiter.clone_from(&value),
            "highlightall" => all = matches!(value.to_lowercase().as_str(), "1" | "on" | "true" | "t" | "y" | "yes"),
            other => return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("unrecognized headline parameter: \"{other}\""))),
        }
    }
    if !all {
        if least >= most {
            return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "MinWords should be less than MaxWords"));
        }
        if least == 0 {
            return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "MinWords should be positive"));
        }
    }
    let mut words = Vec::new();
    query.0.iter().for_each(|n| operands(n, &mut words));
    // Words of the text: where they are, and whether the query asks for them.
    let mut pieces: Vec<(std::ops::Range<usize>, bool)> = Vec::new();
    config.each(text, |_, lexeme, _, place| {
        let wanted = lexeme.is_some_and(|l| words.iter().any(|(w, prefix)| if *prefix { l.starts_with(w.as_str()) } else { l == *w }));
        match pieces.last_mut() {
            // Parts of a compound.
            Some((last, marked)) if place.start < last.end => *marked |= wanted && place == *last,
            _ => pieces.push((place, wanted)),
        }
    });
    let windows: Vec<std::ops::Range<usize>> =
        if all || pieces.len() <= most { std::iter::once(0..pieces.len()).collect() } else { best_windows(&pieces, most, fragments) };
    let whole = all || pieces.len() <= most;
    let mut out = String::new();
    for (n, window) in windows.iter().enumerate() {
        if n > 0 {
            out.push_str(&delimiter);
        }
        let shown = pieces.get(window.clone()).unwrap_or_default();
        let (Some(first), Some(last)) = (shown.first(), shown.last()) else {
            out.push_str(if whole { text } else { "" });
            continue;
        };
        let mut at = if whole { 0 } else { first.0.start };
        for (place, marked) in shown.iter().filter(|(_, marked)| *marked) {
            debug_assert!(*marked);
            out.push_str(text.get(at..place.start).unwrap_or_default());
            out.push_str(&start);
            out.push_str(text.get(place.clone()).unwrap_or_default());
            out.push_str(&stop);
            at = place.end;
        }
        out.push_str(text.get(at..if whole { text.len() } else { last.0.end }).unwrap_or_default());
    }
    Ok(out)
}

fn best_windows(pieces: &[(std::ops::Range<usize>, bool)], most: usize, fragments: usize) -> Vec<std::ops::Range<usize>> {
    let wanted = fragments.max(1);
    let mut taken: Vec<std::ops::Range<usize>> = Vec::new();
    for _ in 0..wanted {
        let mut best: Option<(usize, usize)> = None;
        for (start, _) in pieces.iter().enumerate().filter(|(_, (_, marked))| *marked) {
            let end = (start + most).min(pieces.len());
            if taken.iter().any(|t| start < t.end && t.start < end) {
                continue;
            }
            let marks = pieces.get(start..end).unwrap_or_default().iter().filter(|(_, m)| *m).count();
            if best.is_none_or(|(_, b)| marks > b) {
                best = Some((start, marks));
            }
        }
        match best {
            Some((start, _)) => taken.push(start..(start + most).min(pieces.len())),
            None => break,
        }
    }
    if taken.is_empty() {
        taken.push(0..most.min(pieces.len()));
    }
    taken.sort_by_key(|w| w.start);
    taken
}

fn set_weight(vector: &str, weight: &str) -> PgResult<String> {
    let weight = match weight {
        "A" | "a" => 3,
        "B" | "b" => 2,
        "C" | "c" => 1,
        "D" | "d" => 0,
        other => {
            // PostgreSQL takes the first byte for it, and shows it as `"char"` is shown.
            let first = match other.bytes().next().unwrap_or(0) {
                byte @ (0 | 0x80..) => format!("\\{byte:03o}"),
                byte => char::from(byte).to_string(),
            };
            return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("unrecognized weight: \"{first}\"")));
        }
    };
    let mut vector = Vector::stored(vector)?;
    vector.lexemes.values_mut().flatten().for_each(|p| p.weight = weight);
    Ok(vector.to_string())
}

fn joined_queries(left: &str, right: &str, join: impl Fn(Node, Node) -> Node) -> PgResult<String> {
    let (left, right) = (Query::parse(left)?, Query::parse(right)?);
    Ok(Query(match (left.0, right.0) {
        (Some(l), Some(r)) => Some(join(l, r)),
        (l, r) => l.or(r),
    })
    .to_string())
}

/// `vector @@ query`; a query is the same for all rows mostly.
fn match_kernel(query_first: bool) -> Kernel {
    let last: parking::Last = parking::Last::default();
    strict2::<Text, Text, Bool>(move |_: &Call, a: &str, b: &str| {
        let (vector, query) = if query_first { (b, a) } else { (a, b) };
        last.with(query, |query| Ok(matches(&Vector::stored(vector)?, query)))
    })
}

/// The query that was read last.
mod parking {
    use super::{PgError, PgResult, Query};
    use std::sync::{Arc, Mutex};

    #[derive(Default)]
    pub struct Last(Mutex<Option<(String, Arc<Query>)>>);

    impl Last {
        pub fn with<T>(&self, text: &str, f: impl FnOnce(&Query) -> PgResult<T>) -> PgResult<T> {
            let query = {
                let mut last = self.0.lock().map_err(|_| PgError::internal("a query cannot be read"))?;
                match &*last {
                    Some((known, query)) if known == text => Arc::clone(query),
                    _ => {
                        let query = Arc::new(Query::parse(text)?);
                        *last = Some((text.to_owned(), Arc::clone(&query)));
                        query
                    }
                }
            };
            f(&query)
        }
    }
}

/// What makes documents and conditions of texts, and documents of json.
fn register_makers(r: &mut Registry) {
    use PgType::{Regconfig as C, Text as T, Tsquery as Q, Tsvector as V};
    type Maker = fn(Config, &str) -> PgResult<String>;
    let makers: [(&'static str, PgType, Maker, &'static str); 5] = [
        ("to_tsvector", V, |c, t| Ok(c.vector(t).to_string()), "the lexemes of a text with their positions"),
        ("to_tsquery", Q, to_query, "a condition with operators, its words as lexemes"),
        ("plainto_tsquery", Q, |c, t| Ok(plain(c, t)), "all words of a text"),
        ("phraseto_tsquery", Q, |c, t| Ok(phrases(c, t)), "the words of a text in their order"),
        ("websearch_to_tsquery", Q, |c, t| Ok(web(c, t)), "what people write into a search box"),
    ];
    for (name, ret, make, doc) in makers {
        let one = strict1::<Text, Text>(move |call: &Call, text: &str| make(call.ctx.settings.text_search, text));
        let two = strict2::<Oid, Text, Text>(move |_: &Call, config, text: &str| make(Config::known(config)?, text));
        r.add(Func::scalar(name, &[T], ret.clone(), one, doc).stable());
        r.add(Func::scalar(name, &[C, T], ret, two, doc));
    }
    let doc = "the lexemes of a document's strings, its keys aside, with their positions";
    let one = strict1::<Bytes, Text>(|call: &Call, document: &[u8]| Ok(vector_of_jsonb(call.ctx.settings.text_search, document)));
    let two = strict2::<Oid, Bytes, Text>(|_: &Call, config, document: &[u8]| Ok(vector_of_jsonb(Config::known(config)?, document)));
    r.add(Func::scalar("to_tsvector", &[PgType::Jsonb], V, one, doc).stable());
    r.add(Func::scalar("to_tsvector", &[C, PgType::Jsonb], V, two, doc));
    let one = strict1::<Text, Text>(|call: &Call, document: &str| vector_of_json(call.ctx.settings.text_search, document));
    let two = strict2::<Oid, Text, Text>(|_: &Call, config, document: &str| vector_of_json(Config::known(config)?, document));
    r.add(Func::scalar("to_tsvector", &[PgType::Json], V, one, doc).stable());
    r.add(Func::scalar("to_tsvector", &[C, PgType::Json], V, two, doc));
}

/// Registers functions and operators.
pub fn register(r: &mut Registry) {
    use PgType::{Bool as B, Float4 as F4, Int4 as I4, Regconfig as C, Text as T, Tsquery as Q, Tsvector as V};
    register_makers(r);
    r.scalar(
        "length",
        &[V],
        I4,
        strict1::<Text, Int4>(|_, v: &str| Ok(i32::try_from(Vector::stored(v)?.lexemes.len()).unwrap_or(i32::MAX))),
        "lexemes of a document",
    );
    r.scalar(
        "strip",
        &[V],
        V,
        strict1::<Text, Text>(|_, v: &str| {
            let mut vector = Vector::stored(v)?;
            vector.lexemes.values_mut().for_each(Vec::clear);
            Ok(vector.to_string())
        }),
        "a document without positions",
    );
    r.scalar("setweight", &[V, T], V, strict2::<Text, Text, Text>(|_, v: &str, w: &str| set_weight(v, w)), "a document with one weight");
    r.scalar(
        "numnode",
        &[Q],
        I4,
        strict1::<Text, Int4>(|_, q: &str| Ok(i32::try_from(Query::parse(q)?.nodes()).unwrap_or(i32::MAX))),
        "lexemes and operators of a condition",
    );
    let ranked = |weights: [f32; 4]| move |_: &Call, v: &str, q: &str| Ok(rank(weights, &Vector::stored(v)?, &Query::parse(q)?, 0));
    r.scalar("ts_rank", &[V, Q], F4, strict2::<Text, Text, Float4>(ranked(WEIGHTS)), "how well a document fits");
    r.scalar(
        "ts_rank",
        &[V, Q, I4],
        F4,
        strict3::<Text, Text, Int4, Float4>(|_, v: &str, q: &str, method| {
            Ok(rank(WEIGHTS, &Vector::stored(v)?, &Query::parse(q)?, method))
        }),
        "how well a document fits, normalized",
    );
    let shown = |call: &Call, text: &str, q: &str| headline(call.ctx.settings.text_search, text, &Query::parse(q)?, "");
    r.scalar("ts_headline", &[T, Q], T, strict2::<Text, Text, Text>(shown), "the piece of a text that fits, words marked");
    r.scalar(
        "ts_headline",
        &[C, T, Q],
        T,
        strict3::<Oid, Text, Text, Text>(|_, config, text: &str, q: &str| headline(Config::known(config)?, text, &Query::parse(q)?, "")),
        "the piece of a text that fits, words marked",
    );
    r.scalar(
        "ts_headline",
        &[T, Q, T],
        T,
        strict3::<Text, Text, Text, Text>(|call, text: &str, q: &str, options: &str| {
            headline(call.ctx.settings.text_search, text, &Query::parse(q)?, options)
        }),
        "the piece of a text that fits, words marked",
    );
    r.scalar(
        "ts_headline",
        &[C, T, Q, T],
        T,
        crate::args::strict4::<Oid, Text, Text, Text, Text>(|_, config, text: &str, q: &str, options: &str| {
            headline(Config::known(config)?, text, &Query::parse(q)?, options)
        }),
        "the piece of a text that fits, words marked",
    );
    for name in ["@@", "@@@"] {
        r.operator(name, V, Q, B, OperKind::Kernel(match_kernel(false)));
        r.operator(name, Q, V, B, OperKind::Kernel(match_kernel(true)));
    }
    r.operator(
        "@@",
        T,
        Q,
        B,
        OperKind::Kernel(strict2::<Text, Text, Bool>(|call, t: &str, q: &str| {
            Ok(matches(&call.ctx.settings.text_search.vector(t), &Query::parse(q)?))
        })),
    );
    r.operator(
        "@@",
        T,
        T,
        B,
        OperKind::Kernel(strict2::<Text, Text, Bool>(|call, t: &str, q: &str| {
            let config = call.ctx.settings.text_search;
            Ok(matches(&config.vector(t), &Query::parse(&plain(config, q))?))
        })),
    );
    r.operator(
        "||",
        V,
        V,
        V,
        OperKind::Kernel(strict2::<Text, Text, Text>(|_, a: &str, b: &str| Ok(Vector::stored(a)?.concat(&Vector::stored(b)?).to_string()))),
    );
    r.operator("&&", Q, Q, Q, OperKind::Kernel(strict2::<Text, Text, Text>(|_, a: &str, b: &str| joined_queries(a, b, and))));
    r.operator(
        "||",
        Q,
        Q,
        Q,
        OperKind::Kernel(strict2::<Text, Text, Text>(|_, a: &str, b: &str| {
            joined_queries(a, b, |l, r| Node::Or(Box::new(l), Box::new(r)))
        })),
    );
    r.operator(
        "<->",
        Q,
        Q,
        Q,
        OperKind::Kernel(strict2::<Text, Text, Text>(|_, a: &str, b: &str| joined_queries(a, b, |l, r| phrase(l, r, 1)))),
    );
    r.prefix_operator(
        "!!",
        Q,
        Q,
        OperKind::Kernel(strict1::<Text, Text>(|_, a: &str| Ok(Query(Query::parse(a)?.0.map(|n| Node::Not(Box::new(n)))).to_string()))),
    );
    for ty in [V, Q] {
        r.operator("=", ty.clone(), ty.clone(), B, OperKind::Kernel(strict2::<Text, Text, Bool>(|_, a: &str, b: &str| Ok(a == b))));
        r.operator("<>", ty.clone(), ty, B, OperKind::Kernel(strict2::<Text, Text, Bool>(|_, a: &str, b: &str| Ok(a != b))));
    }
}

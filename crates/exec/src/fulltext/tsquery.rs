//! `document @@ query` as a search: what an index of lexemes can say of a `tsquery`.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::Expr;
use stoa_fulltext::Query;
use stoa_text::textsearch::matching::matches;
use stoa_text::textsearch::query::{Node, Query as TsQuery};
use stoa_text::textsearch::vector::Vector;

/// The search that a filter `document @@ constant` asks for, and whether it finds nothing else. `part` says which part of the index
/// holds the document.
pub(super) fn answer(filter: &Expr, part: &dyn Fn(&Expr) -> Option<usize>) -> Option<(Query, bool)> {
    let Expr::ScalarFunction(call) = filter else { return None };
    if !matches!(call.func.name().split('#').next(), Some("@@" | "@@@")) {
        return None;
    }
    let [a, b] = call.args.as_slice() else { return None };
    let (document, query) = match (a, b) {
        (Expr::Literal(..), document) => (document, a),
        (document, Expr::Literal(..)) => (document, b),
        _ => return None,
    };
    let field = part(document)?;
    let Expr::Literal(ScalarValue::Utf8View(text) | ScalarValue::Utf8(text), _) = query else { return None };
    of_field(text.as_deref(), field)
}

/// The search in one field that a `tsquery` asks for, and whether it finds nothing else.
pub fn of_field(text: Option<&str>, field: usize) -> Option<(Query, bool)> {
    let Some(text) = text else { return Some((Query::Nothing, true)) };
    let query = TsQuery::parse(text).ok()?;
    let Some(node) = &query.0 else { return Some((Query::Nothing, true)) };
    let (found, exact) = translate(node, field);
    // A document that is NULL fits nothing, but has no words either.
    Some((found, exact && !matches(&Vector::default(), &query)))
}

/// A query that finds at least what fits, and whether it finds nothing else.
fn translate(node: &Node, field: usize) -> (Query, bool) {
    match node {
        Node::Stop => (Query::Nothing, true),
        Node::Lexeme { text, weights, prefix } => {
            let query = if *prefix { Query::Prefix { field, start: text.clone() } } else { Query::Term { field, word: text.clone() } };
            (query, *weights == 0)
        }
        Node::Not(inner) => match translate(inner, field) {
            (query, true) => (Query::Bool { must: vec![Query::All], should: Vec::new(), must_not: vec![query] }, true),
            _ => (Query::All, false),
        },
        Node::And(a, b) => {
            let ((a, a_exact), (b, b_exact)) = (translate(a, field), translate(b, field));
            (Query::all(vec![a, b]), a_exact && b_exact)
        }
        Node::Or(a, b) => {
            let ((a, a_exact), (b, b_exact)) = (translate(a, field), translate(b, field));
            let query = if a == Query::All || b == Query::All { Query::All } else { Query::any(vec![a, b]) };
            (query, a_exact && b_exact)
        }
        Node::Phrase(a, b, _) => {
            let mut words = Vec::new();
            if chain(node, &mut words).is_some() {
                return (Query::Phrase { field, letters: false, words, slop: 0 }, true);
            }
            // Both sides must be there; where, is looked at again.
            (Query::all(vec![present(a, field), present(b, field)]), false)
        }
    }
}

/// What must be in a document for a part of a phrase to be.
fn present(node: &Node, field: usize) -> Query {
    match node {
        Node::Not(_) => Query::All,
        other => translate(other, field).0,
    }
}

/// The words of a phrase of plain words, with their places; gives that of the last.
fn chain(node: &Node, words: &mut Vec<(u32, String)>) -> Option<u32> {
    match node {
        Node::Lexeme { text, weights: 0, prefix: false } => {
            words.push((0, text.clone()));
            Some(0)
        }
        Node::Phrase(left, right, distance) => {
            let last = chain(left, words)?;
            let Node::Lexeme { text, weights: 0, prefix: false } = &**right else { return None };
            let place = last + u32::from(*distance);
            words.push((place, text.clone()));
            Some(place)
        }
        _ => None,
    }
}

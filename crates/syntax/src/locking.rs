//! `FOR UPDATE` and its kin, of which sqlparser knows two strengths, one table and one place.
//!
//! PostgreSQL has four strengths (`FOR UPDATE`, `FOR NO KEY UPDATE`, `FOR SHARE`, `FOR KEY SHARE`), lists of tables behind OF, and
//! takes LIMIT, OFFSET and FETCH behind the clauses as well. Before a statement is parsed, its locking clauses are written anew in a
//! form that sqlparser reads: `FOR UPDATE OF "STRENGTH"."table"."table"`, behind the limits. [`strength_and_tables`] reads them back.
//!
//! Invariant: the name that holds the strength begins with a NUL, which no text of a client contains.

use sqlparser::ast::{LockClause, LockType, ObjectNamePart};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

use crate::SyntaxError;

/// How strongly rows are locked, from the weakest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Strength {
    KeyShare,
    Share,
    NoKeyUpdate,
    Update,
}

impl Strength {
    /// The clause as PostgreSQL's messages name it.
    #[must_use]
    pub fn clause(self) -> &'static str {
        match self {
            Strength::KeyShare => "FOR KEY SHARE",
            Strength::Share => "FOR SHARE",
            Strength::NoKeyUpdate => "FOR NO KEY UPDATE",
            Strength::Update => "FOR UPDATE",
        }
    }

    const ALL: [Strength; 4] = [Strength::KeyShare, Strength::Share, Strength::NoKeyUpdate, Strength::Update];
}

/// What a locking clause says: its strength, and the tables behind OF as they were written (`None` without OF).
#[must_use]
pub fn strength_and_tables(lock: &LockClause) -> (Strength, Option<Vec<sqlparser::ast::Ident>>) {
    let names = lock.of.as_ref().map(|name| {
        name.0
            .iter()
            .filter_map(|part| match part {
                ObjectNamePart::Identifier(ident) => Some(ident.clone()),
                ObjectNamePart::Function(_) => None,
            })
            .collect::<Vec<_>>()
    });
    if let Some(names) = &names
        && let Some((first, tables)) = names.split_first()
        && let Some(word) = first.value.strip_prefix('\0')
        && let Some(strength) = Strength::ALL.into_iter().find(|s| s.clause() == word)
    {
        return (strength, (!tables.is_empty()).then(|| tables.to_vec()));
    }
    (if lock.lock_type == LockType::Share { Strength::Share } else { Strength::Update }, names)
}

/// The statement's tokens with its locking clauses as sqlparser reads them; `None` if it has none.
///
/// # Errors
/// 42601 for a qualified name behind OF.
pub(crate) fn rewrite(sql: &str, piece: &[TokenWithSpan]) -> Result<Option<Vec<TokenWithSpan>>, SyntaxError> {
    if !(0..piece.len()).any(|at| clause(piece, at).is_some()) {
        return Ok(None);
    }
    let mut out: Vec<TokenWithSpan> = Vec::with_capacity(piece.len() + 16);
    // By depth of parentheses, the clauses that wait for the limits behind them.
    let mut held: Vec<Vec<TokenWithSpan>> = vec![Vec::new()];
    let mut at = 0;
    while let Some(token) = piece.get(at) {
        if let Some((strength, next)) = clause(piece, at) {
            let mut words = vec![word("FOR", Keyword::FOR), word("UPDATE", Keyword::UPDATE), word("OF", Keyword::OF)];
            words.push(quoted(format!("\0{}", strength.clause())));
            let mut next = next;
            if let Some(mut name) = keyword(piece, next, Keyword::OF) {
                loop {
                    let Some((place, Token::Word(table))) = solid(piece, name) else {
                        return Err(near(sql, piece, name));
                    };
                    words.push(Token::Period);
                    words.push(Token::Word(table.clone()));
                    next = place + 1;
                    match solid(piece, next) {
                        Some((_, Token::Period)) => {
                            let mut error = near(sql, piece, place);
                            error.message = format!("{} must specify unqualified relation names", strength.clause());
                            return Err(error);
                        }
                        Some((comma, Token::Comma)) => name = comma + 1,
                        _ => break,
                    }
                }
            }
            if let Some(after) = keyword(piece, next, Keyword::NOWAIT) {
                words.push(word("NOWAIT", Keyword::NOWAIT));
                next = after;
            } else if let Some(locked) = keyword(piece, next, Keyword::SKIP).and_then(|p| keyword(piece, p, Keyword::LOCKED)) {
                words.push(word("SKIP", Keyword::SKIP));
                words.push(word("LOCKED", Keyword::LOCKED));
                next = locked;
            }
            if let Some(waiting) = held.last_mut() {
                // All have the place of the clause, for messages.
                for token_ in words {
                    waiting.push(TokenWithSpan { token: token_, span: token.span });
                    waiting.push(TokenWithSpan { token: Token::Whitespace(sqlparser::tokenizer::Whitespace::Space), span: token.span });
                }
            }
            at = next;
            continue;
        }
        match &token.token {
            Token::LParen => held.push(Vec::new()),
            Token::RParen => {
                let waiting = if held.len() > 1 { held.pop() } else { held.last_mut().map(std::mem::take) };
                out.extend(waiting.unwrap_or_default());
            }
            Token::Word(w)
                if w.quote_style.is_none()
                    && matches!(w.keyword, Keyword::ON | Keyword::RETURNING | Keyword::UNION | Keyword::INTERSECT | Keyword::EXCEPT) =>
            {
                out.extend(held.last_mut().map(std::mem::take).unwrap_or_default());
            }
            _ => {}
        }
        out.push(token.clone());
        at += 1;
    }
    for waiting in held {
        out.push(TokenWithSpan::wrap(Token::Whitespace(sqlparser::tokenizer::Whitespace::Space)));
        out.extend(waiting);
    }
    Ok(Some(out))
}

/// The clause that begins at a token: its strength, and the place behind its first words.
fn clause(piece: &[TokenWithSpan], at: usize) -> Option<(Strength, usize)> {
    match piece.get(at).map(|t| &t.token) {
        Some(Token::Word(w)) if w.keyword == Keyword::FOR && w.quote_style.is_none() => {}
        _ => return None,
    }
    let first = at + 1;
    if let Some(next) = keyword(piece, first, Keyword::UPDATE) {
        return Some((Strength::Update, next));
    }
    if let Some(next) = keyword(piece, first, Keyword::SHARE) {
        return Some((Strength::Share, next));
    }
    if let Some(next) = keyword(piece, first, Keyword::KEY) {
        return keyword(piece, next, Keyword::SHARE).map(|next| (Strength::KeyShare, next));
    }
    let next = keyword(piece, first, Keyword::NO)?;
    let next = keyword(piece, next, Keyword::KEY)?;
    keyword(piece, next, Keyword::UPDATE).map(|next| (Strength::NoKeyUpdate, next))
}

/// The first token from `at` on that is no space, with its place.
fn solid(piece: &[TokenWithSpan], at: usize) -> Option<(usize, &Token)> {
    (at..).map_while(|place| piece.get(place).map(|t| (place, &t.token))).find(|(_, t)| !matches!(t, Token::Whitespace(_)))
}

/// The place behind a keyword, if it comes next.
fn keyword(piece: &[TokenWithSpan], at: usize, wanted: Keyword) -> Option<usize> {
    match solid(piece, at) {
        Some((place, Token::Word(w))) if w.keyword == wanted && w.quote_style.is_none() => Some(place + 1),
        _ => None,
    }
}

fn word(text: &str, keyword: Keyword) -> Token {
    Token::Word(Word { value: text.to_owned(), quote_style: None, keyword })
}

fn quoted(value: String) -> Token {
    Token::Word(Word { value, quote_style: Some('"'), keyword: Keyword::NoKeyword })
}

fn near(sql: &str, piece: &[TokenWithSpan], at: usize) -> SyntaxError {
    match (at..).map_while(|place| piece.get(place)).find(|t| !matches!(t.token, Token::Whitespace(_))) {
        Some(token) => SyntaxError::near(sql, token),
        None => SyntaxError::near(sql, &TokenWithSpan::wrap(Token::EOF)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use sqlparser::ast::{NonBlock, Statement};

    fn locks(sql: &str) -> Vec<(Strength, Option<Vec<String>>, Option<NonBlock>)> {
        let mut parsed = crate::parse(sql).unwrap_or_else(|e| panic!("{sql}: {e:?}"));
        let Statement::Query(query) = parsed.pop().unwrap().statement else { panic!("{sql}") };
        query
            .locks
            .iter()
            .map(|lock| {
                let (strength, tables) = strength_and_tables(lock);
                (strength, tables.map(|t| t.into_iter().map(|i| i.value).collect()), lock.nonblock)
            })
            .collect()
    }

    #[test]
    fn strengths_tables_and_waits() {
        let t = |names: &[&str]| Some(names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>());
        for (sql, wanted) in [
            ("SELECT * FROM t FOR UPDATE", vec![(Strength::Update, None, None)]),
            ("SELECT * FROM t FOR NO KEY UPDATE NOWAIT", vec![(Strength::NoKeyUpdate, None, Some(NonBlock::Nowait))]),
            ("SELECT * FROM t FOR SHARE OF t, u SKIP LOCKED", vec![(Strength::Share, t(&["t", "u"]), Some(NonBlock::SkipLocked))]),
            (
                "SELECT * FROM t, u FOR KEY SHARE OF t FOR UPDATE OF \"U\" NOWAIT",
                vec![(Strength::KeyShare, t(&["t"]), None), (Strength::Update, t(&["U"]), Some(NonBlock::Nowait))],
            ),
            ("SELECT * FROM t FOR UPDATE LIMIT 1 OFFSET 2", vec![(Strength::Update, None, None)]),
            ("SELECT * FROM t ORDER BY a LIMIT 1 FOR UPDATE", vec![(Strength::Update, None, None)]),
        ] {
            assert_eq!(locks(sql), wanted, "{sql}");
        }
    }

    #[test]
    fn limits_behind_a_clause_count() {
        for sql in ["SELECT * FROM t FOR UPDATE SKIP LOCKED LIMIT 3", "SELECT * FROM t FOR UPDATE FETCH FIRST 3 ROWS ONLY"] {
            let mut parsed = crate::parse(sql).unwrap();
            let Statement::Query(query) = parsed.pop().unwrap().statement else { panic!() };
            assert!(query.limit_clause.is_some() || query.fetch.is_some(), "{sql}");
            assert_eq!(query.locks.len(), 1, "{sql}");
        }
        assert!(crate::parse("UPDATE t SET a = 1 WHERE id = (SELECT id FROM t FOR NO KEY UPDATE LIMIT 1) RETURNING id").is_ok());
        assert!(crate::parse("SELECT substring('abc' from 1 for 2)").is_ok());
    }

    #[test]
    fn qualified_tables_are_refused() {
        let error = crate::parse("SELECT * FROM s.t FOR UPDATE OF s.t").unwrap_err();
        assert_eq!(error.message, "FOR UPDATE must specify unqualified relation names");
    }
}

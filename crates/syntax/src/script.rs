//! A text of several statements, with the statements that concern the session distinguished from those that concern data.
//!
//! [`utility`](crate::utility) statements are read by a parser of our own: their grammar is PostgreSQL's, word for word, and
//! their meaning needs no names to be resolved. Everything else is read by [`grammar`](crate::grammar).

use crate::grammar::Parser;
use crate::utility::Utility;
use crate::{SyntaxError, ast, char_offset, lexer};
use sqlparser::tokenizer::{Span, Token, TokenWithSpan};

/// What a statement is.
#[derive(Clone, Debug)]
pub enum Body {
    /// Queries, changes of data, and DDL.
    Sql(Box<ast::Statement>),
    /// Transactions, settings, cursors, prepared statements, COPY, EXPLAIN and the like.
    Utility(Box<Utility>),
}

/// One statement of a text.
#[derive(Clone, Debug)]
pub struct Piece {
    pub body: Body,
    /// The statement's own text, without the semicolon.
    pub text: String,
    /// Where it starts in the whole text, in characters from 0; positions inside are relative to the whole text.
    pub offset: usize,
}

/// Parses a text of any number of statements, parted by semicolons. An empty text gives none.
///
/// # Errors
/// The first syntax error with its position, in characters from 1; nothing of the text must then be executed. 22021 for a NUL.
pub fn parse_script(sql: &str) -> Result<Vec<Piece>, SyntaxError> {
    // Names with a NUL are ours.
    if sql.contains('\0') {
        return Err(SyntaxError::new(b"22021", "invalid byte sequence for encoding \"UTF8\": 0x00", None));
    }
    let mut tokens = Vec::new();
    let Some((unread, at)) = lexer::read(sql, &mut tokens) else { return statements(sql, &tokens) };
    // What is wrong with the statements before is found before, whatever stands there.
    tokens.push(TokenWithSpan { token: Token::SingleQuotedString(String::new()), span: Span { start: at, end: at } });
    Err(match statements(sql, &tokens) {
        Err(before) if before.code == *b"42601" && before.position < unread.position => before,
        _ => unread,
    })
}

fn statements(sql: &str, tokens: &[TokenWithSpan]) -> Result<Vec<Piece>, SyntaxError> {
    let mut out = Vec::new();
    for (piece, end) in pieces(tokens) {
        let (Some(first), Some(last)) = (piece.first(), piece.last()) else { continue };
        let start = char_offset(sql, first.span.start);
        let length = char_offset(sql, last.span.end) - start;
        let mut parser = Parser::new(sql, piece, end);
        let body = if parser.at_statement() {
            Body::Sql(Box::new(parser.whole_statement()?))
        } else if let Some(query) = parser.describing()? {
            let tokens = lexer::tokens(&query)?;
            Body::Sql(Box::new(Parser::new(&query, &tokens, None).whole_statement()?))
        } else {
            match parser.utility()? {
                Some(utility) => Body::Utility(Box::new(utility)),
                None => return Err(parser.unexpected()),
            }
        };
        out.push(Piece { body, text: sql.chars().skip(start).take(length).collect(), offset: start });
    }
    Ok(out)
}

/// The tokens of each statement, with the semicolon behind it.
pub(crate) fn pieces(tokens: &[TokenWithSpan]) -> impl Iterator<Item = (&[TokenWithSpan], Option<&TokenWithSpan>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = tokens.get(at..).filter(|r| !r.is_empty())?;
        let length = if is_rule(rest) { end_of_rule(rest) } else { rest.iter().position(|t| t.token == Token::SemiColon) };
        at += length.map_or(rest.len(), |l| l + 1);
        Some(match length {
            Some(length) => (rest.get(..length).unwrap_or_default(), rest.get(length)),
            None => (rest, None),
        })
    })
}

/// CREATE RULE, whose commands may stand in parentheses and are parted by semicolons there.
fn is_rule(tokens: &[TokenWithSpan]) -> bool {
    let word = |n: usize, expected: &str| matches!(tokens.get(n).map(|t| &t.token), Some(Token::Word(w)) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(expected));
    word(0, "create") && (word(1, "rule") || (word(1, "or") && word(2, "replace") && word(3, "rule")))
}

fn end_of_rule(tokens: &[TokenWithSpan]) -> Option<usize> {
    let mut depth = 0_usize;
    tokens.iter().position(|t| {
        match t.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && t.token == Token::SemiColon
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn statements_are_parted_and_placed() {
        let pieces = parse_script(" SELECT 1 ; ;BEGIN;\nSET x.y = 'ä;b' -- end\n;").unwrap();
        let shown: Vec<(&str, usize, bool)> =
            pieces.iter().map(|p| (p.text.as_str(), p.offset, matches!(p.body, Body::Utility(_)))).collect();
        assert_eq!(shown, [("SELECT 1", 1, false), ("BEGIN", 13, true), ("SET x.y = 'ä;b'", 20, true)]);
        assert!(parse_script(" -- nothing").unwrap().is_empty());
    }

    #[test]
    fn the_commands_of_a_rule_are_parts_of_one_statement() {
        let tokens = lexer::tokens("CREATE OR REPLACE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2;); SELECT 3").unwrap();
        assert_eq!(pieces(&tokens).map(|(piece, _)| piece.len()).collect::<Vec<_>>(), [19, 2]);
    }

    #[test]
    fn errors_are_placed_in_the_whole_text() {
        for (sql, position, message) in [
            ("SELECT 1; BEGIN nonsense", 17, "syntax error at or near \"nonsense\""),
            ("FETCH FORWARD FROM", 19, "syntax error at end of input"),
            ("SET x", 6, "syntax error at end of input"),
            ("COMMIT AND", 11, "syntax error at end of input"),
            ("DECLARE c CURSOR FOR SELEC 1", 22, "syntax error at or near \"SELEC\""),
            // Before what is no token.
            ("COMMENT ON TABLE rc IS 'it's users'", 28, "syntax error at or near \"s\""),
            ("SELEC 1; SELECT 'a", 1, "syntax error at or near \"SELEC\""),
            ("SELECT 1 +; SELECT \"a", 11, "syntax error at or near \";\""),
            ("SELECT 1 FROM t WHERE 'a", 23, "unterminated quoted string at or near \"'a\""),
            ("SELECT 'a' 'b", 12, "unterminated quoted string at or near \"'b\""),
            ("CREATE TABLE t (a \"int", 19, "unterminated quoted identifier at or near \"\"int\""),
            ("SELECT 1 /* FROM", 10, "unterminated /* comment at or near \"/* FROM\""),
        ] {
            let error = parse_script(sql).unwrap_err();
            assert_eq!((error.position, error.message.as_str()), (Some(position), message), "{sql}");
        }
    }
}

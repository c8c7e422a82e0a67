//! Expressions that sqlparser does not read as PostgreSQL does: TRIM in all its forms, `INTERVAL(p) '…'`, VARIADIC arguments.

use sqlparser::ast::{Expr, Ident, Interval, TrimWhereField, Value};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

/// The prefix under which a VARIADIC argument stands in the tree (`Expr::Prefixed`).
pub const VARIADIC: &str = "variadic";

/// Reads an expression that starts with one of these words; `None` leaves it to sqlparser.
pub(crate) fn parse_prefix(parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
    let (Token::Word(word), span) = (&parser.peek_token_ref().token, parser.peek_token_ref().span) else { return None };
    if word.quote_style.is_some() {
        return None;
    }
    let word = word.value.clone();
    if word.eq_ignore_ascii_case("trim") && parser.peek_nth_token_ref(1).token == Token::LParen {
        parser.next_token();
        return Some(trim(parser));
    }
    if word.eq_ignore_ascii_case("interval")
        && parser.peek_nth_token_ref(1).token == Token::LParen
        && let Token::Number(digits, _) = &parser.peek_nth_token_ref(2).token
        && let Ok(precision) = digits.parse::<u64>()
        && parser.peek_nth_token_ref(3).token == Token::RParen
        && matches!(parser.peek_nth_token_ref(4).token, Token::SingleQuotedString(_) | Token::EscapedStringLiteral(_))
    {
        for _ in 0..4 {
            parser.next_token();
        }
        return Some(parser.parse_value().map(|value| {
            Expr::Interval(Interval {
                value: Box::new(Expr::Value(value)),
                leading_field: None,
                leading_precision: None,
                last_field: None,
                fractional_seconds_precision: Some(precision),
            })
        }));
    }
    if word.eq_ignore_ascii_case(VARIADIC) {
        parser.next_token();
        let prefix = Ident::with_span(span, VARIADIC);
        return Some(parser.parse_expr().map(|value| Expr::Prefixed { prefix, value: Box::new(value) }));
    }
    None
}

/// `TRIM([BOTH|LEADING|TRAILING] [[what] FROM] string [, …])`, after the word.
fn trim(parser: &mut Parser) -> Result<Expr, ParserError> {
    parser.expect_token(&Token::LParen)?;
    let trim_where = match &parser.peek_token_ref().token {
        Token::Word(w) if w.quote_style.is_none() => match w.keyword {
            Keyword::BOTH => Some(TrimWhereField::Both),
            Keyword::LEADING => Some(TrimWhereField::Leading),
            Keyword::TRAILING => Some(TrimWhereField::Trailing),
            _ => None,
        },
        _ => None,
    };
    if trim_where.is_some() {
        parser.next_token();
    }
    let mut trim_what = None;
    let mut list = if parser.parse_keyword(Keyword::FROM) {
        parser.parse_comma_separated(Parser::parse_expr)?
    } else {
        let first = parser.parse_expr()?;
        if parser.parse_keyword(Keyword::FROM) {
            trim_what = Some(Box::new(first));
            parser.parse_comma_separated(Parser::parse_expr)?
        } else {
            let mut list = vec![first];
            while parser.consume_token(&Token::Comma) {
                list.push(parser.parse_expr()?);
            }
            list
        }
    };
    parser.expect_token(&Token::RParen)?;
    let characters = list.split_off(1);
    let expr = list.pop().map_or_else(|| Expr::Value(Value::Null.with_empty_span()), |e| e);
    Ok(Expr::Trim { expr: Box::new(expr), trim_where, trim_what, trim_characters: (!characters.is_empty()).then_some(characters) })
}

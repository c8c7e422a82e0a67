//! What PostgreSQL's grammar says about operators and sqlparser's does not.
//!
//! - An operator of several characters does not end in `+` or `-`, unless it has a character that SQL's own operators have not:
//!   `a>-1` compares, `a@-1` is an operator called `@-`.
//! - `BETWEEN SYMMETRIC`, `LIKE ANY (array)` and their kin.

use sqlparser::ast::{BinaryOperator, Expr, Ident};
use sqlparser::dialect::{Dialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Span, Token, TokenWithSpan, Tokenizer, TokenizerError};

/// What marks the lower bound of BETWEEN SYMMETRIC: [`Expr::Prefixed`] with this prefix, which nothing else in PostgreSQL's dialect
/// makes.
pub const SYMMETRIC: &str = "symmetric";

/// The tokens of a text.
///
/// # Errors
/// Those of the tokenizer.
pub(crate) fn tokenize(dialect: &dyn Dialect, sql: &str) -> Result<Vec<TokenWithSpan>, TokenizerError> {
    let tokens = Tokenizer::new(dialect, sql).tokenize_with_location()?;
    if !tokens.iter().any(|t| matches!(&t.token, Token::CustomBinaryOperator(name) if cut(name) < name.len())) {
        return Ok(tokens);
    }
    let mut out = Vec::with_capacity(tokens.len() + 8);
    for token in tokens {
        let Token::CustomBinaryOperator(name) = &token.token else {
            out.push(token);
            continue;
        };
        let at = cut(name);
        let (operator, signs) = name.split_at(at);
        let mut start = token.span.start;
        for inner in Tokenizer::new(dialect, operator).tokenize()? {
            let mut end = start;
            end.column += inner.to_string().chars().count() as u64;
            out.push(TokenWithSpan { token: inner, span: Span::new(start, end) });
            start = end;
        }
        for sign in signs.chars() {
            let mut end = start;
            end.column += 1;
            out.push(TokenWithSpan { token: if sign == '+' { Token::Plus } else { Token::Minus }, span: Span::new(start, end) });
            start = end;
        }
    }
    Ok(out)
}

/// Where an operator ends within a run of operator characters.
fn cut(run: &str) -> usize {
    if run.contains(['~', '!', '@', '#', '%', '^', '&', '|', '`', '?']) {
        return run.len();
    }
    let operator = run.trim_end_matches(['+', '-']);
    // A run of signs alone begins with one that is the operator.
    if operator.is_empty() { run.len().min(1) } else { operator.len() }
}

/// Infix forms behind `expr` that sqlparser does not know; `None` if there is none.
pub(crate) fn parse_infix(dialect: &dyn Dialect, parser: &mut Parser, expr: &Expr) -> Option<Result<Expr, ParserError>> {
    let keyword = |parser: &Parser, n: usize| match &parser.peek_nth_token_ref(n).token {
        Token::Word(word) if word.quote_style.is_none() => word.keyword,
        _ => Keyword::NoKeyword,
    };
    let negated = keyword(parser, 0) == Keyword::NOT;
    let at = usize::from(negated);
    match (keyword(parser, at), keyword(parser, at + 1)) {
        (Keyword::BETWEEN, Keyword::SYMMETRIC | Keyword::ASYMMETRIC) => {
            let symmetric = keyword(parser, at + 1) == Keyword::SYMMETRIC;
            (0..at + 2).for_each(|_| parser.advance_token());
            Some(between(dialect, parser, expr, negated, symmetric))
        }
        (like @ (Keyword::LIKE | Keyword::ILIKE), quantifier @ (Keyword::ANY | Keyword::SOME | Keyword::ALL)) => {
            (0..at + 2).for_each(|_| parser.advance_token());
            let op = match (like == Keyword::ILIKE, negated) {
                (false, false) => BinaryOperator::PGLikeMatch,
                (false, true) => BinaryOperator::PGNotLikeMatch,
                (true, false) => BinaryOperator::PGILikeMatch,
                (true, true) => BinaryOperator::PGNotILikeMatch,
            };
            Some(quantified(dialect, parser, expr, op, quantifier))
        }
        _ => None,
    }
}

fn between(dialect: &dyn Dialect, parser: &mut Parser, expr: &Expr, negated: bool, symmetric: bool) -> Result<Expr, ParserError> {
    let precedence = dialect.prec_value(Precedence::Between);
    let low = parser.parse_subexpr(precedence)?;
    parser.expect_keyword(Keyword::AND)?;
    let high = parser.parse_subexpr(precedence)?;
    let low = if symmetric { Expr::Prefixed { prefix: Ident::new(SYMMETRIC), value: Box::new(low) } } else { low };
    Ok(Expr::Between { expr: Box::new(expr.clone()), negated, low: Box::new(low), high: Box::new(high) })
}

fn quantified(
    dialect: &dyn Dialect,
    parser: &mut Parser,
    expr: &Expr,
    op: BinaryOperator,
    quantifier: Keyword,
) -> Result<Expr, ParserError> {
    parser.expect_token(&Token::LParen)?;
    let query =
        matches!(&parser.peek_token_ref().token, Token::Word(w) if matches!(w.keyword, Keyword::SELECT | Keyword::WITH | Keyword::VALUES));
    let right = if query {
        parser.prev_token();
        parser.parse_subexpr(dialect.prec_value(Precedence::Like))?
    } else {
        let right = parser.parse_expr()?;
        parser.expect_token(&Token::RParen)?;
        right
    };
    let (left, right) = (Box::new(expr.clone()), Box::new(right));
    Ok(match quantifier {
        Keyword::ALL => Expr::AllOp { left, compare_op: op, right },
        other => Expr::AnyOp { left, compare_op: op, right, is_some: other == Keyword::SOME },
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn operators_end_before_signs() {
        for (run, operator) in [(">-", ">"), (">=-", ">="), ("<>-+", "<>"), ("@-", "@-"), ("||-", "||-"), ("->", "->"), ("--", "-")] {
            assert_eq!(&run[..cut(run)], operator, "{run}");
        }
        for sql in ["a>-1", "a>=-1", "a<>-1", "a>+1", "a*-1", "a=-b", "a>-+1"] {
            let text = crate::parse_expression(sql).unwrap().to_string();
            assert!(text.contains(' ') && !text.contains(">-"), "{sql}: {text}");
        }
    }

    #[test]
    fn forms_of_between_and_like() {
        for (sql, printed) in [
            ("k BETWEEN ASYMMETRIC 1 AND 2 AND true", "k BETWEEN 1 AND 2 AND true"),
            ("k NOT BETWEEN SYMMETRIC 1 AND 2 + 1 OR b", "k NOT BETWEEN symmetric 1 AND 2 + 1 OR b"),
            ("k LIKE ANY (ARRAY['a']) AND b", "k ~~ ANY(ARRAY['a']) AND b"),
            ("k NOT ILIKE ALL (x)", "k !~~* ALL(x)"),
        ] {
            assert_eq!(crate::parse_expression(sql).unwrap().to_string(), printed);
        }
    }
}

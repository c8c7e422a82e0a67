//! Expressions: operators by precedence, predicates, and what stands between operators.

use super::call::is_row;
use super::{Parse, Parser};
use crate::ast::{self, AccessExpr, BinaryOperator, Expr, Ident, Subscript, UnaryOperator, Value, ValueWithSpan};
use crate::keywords::Class;
use crate::marks;
use sqlparser::tokenizer::{Span, Token, TokenWithSpan};

/// How tightly operators bind, from the loosest.
mod binding {
    pub const OR: u8 = 1;
    pub const AND: u8 = 2;
    pub const NOT: u8 = 3;
    pub const IS: u8 = 4;
    pub const COMPARISON: u8 = 5;
    pub const PREDICATE: u8 = 6;
    pub const OTHER: u8 = 8;
    pub const ADDITION: u8 = 9;
    pub const MULTIPLICATION: u8 = 10;
    pub const POWER: u8 = 11;
    pub const AT: u8 = 12;
    pub const COLLATE: u8 = 13;
    pub const SIGN: u8 = 14;
}

/// Reserved words that follow a select list.
const BEHIND_SELECT_LIST: &[&str] =
    &["except", "fetch", "for", "from", "group", "having", "intersect", "into", "limit", "offset", "order", "union", "where", "window"];

/// ANDs and ORs of more links than this become a balanced tree, which nests less deep than it is long.
const LONG_CHAIN: usize = 64;
/// Other operators in a row: they are applied from the left, one in the other.
const MAX_CHAIN: usize = 10_000;

/// A chain of ANDs or ORs, and what it begins with, as a balanced tree.
fn balanced(e: Expr) -> Expr {
    let Expr::BinaryOp { op: chain @ (BinaryOperator::And | BinaryOperator::Or), .. } = &e else { return e };
    let chain = chain.clone();
    let mut level = Vec::new();
    let mut first = e;
    first = loop {
        match first {
            Expr::BinaryOp { left, op, right } if op == chain => {
                level.push(*right);
                first = *left;
            }
            other => break balanced(other),
        }
    };
    level.push(first);
    level.reverse();
    while level.len() > 1 {
        let mut next = Vec::with_capacity(level.len().div_ceil(2));
        let mut parts = level.into_iter();
        while let Some(left) = parts.next() {
            next.push(match parts.next() {
                Some(right) => Expr::BinaryOp { left: Box::new(left), op: chain.clone(), right: Box::new(right) },
                None => left,
            });
        }
        level = next;
    }
    level.pop().unwrap_or(Expr::Value(ValueWithSpan { value: Value::Null, span: Span::empty() }))
}

/// An operator between two operands, as the next tokens give it.
struct Infix {
    op: BinaryOperator,
    binding: u8,
    /// Tokens that it takes.
    length: usize,
}

/// A pattern with what ESCAPE says.
enum Escaped {
    /// The pattern, and the literal behind ESCAPE if there is one.
    Pattern(Expr, Option<ValueWithSpan>),
    /// A call of the pattern and the expression behind ESCAPE.
    Called(Expr),
}

impl Parser<'_> {
    /// `a_expr` of PostgreSQL's grammar.
    pub(crate) fn expr(&mut self) -> Parse<Expr> {
        self.expr_from(0, false)
    }

    /// `b_expr`: without AND, OR, NOT, IN, LIKE, BETWEEN and most of IS.
    pub(crate) fn b_expr(&mut self) -> Parse<Expr> {
        self.expr_from(0, true)
    }

    pub(crate) fn exprs(&mut self) -> Parse<Vec<Expr>> {
        self.list(Self::expr)
    }

    fn expr_from(&mut self, min: u8, restricted: bool) -> Parse<Expr> {
        self.nested(|p| {
            let left = p.prefix(restricted)?;
            p.infix(left, min, restricted)
        })
    }

    fn prefix(&mut self, restricted: bool) -> Parse<Expr> {
        match self.peek(0) {
            Some(Token::Plus) => self.signed(UnaryOperator::Plus, restricted),
            Some(Token::Minus) => self.signed(UnaryOperator::Minus, restricted),
            Some(Token::CustomBinaryOperator(op)) if op != ".." => {
                let op = op.clone();
                let span = self.span();
                self.at += 1;
                self.prefix_operator(&op, span, restricted)
            }
            Some(Token::Word(w)) if w.quote_style.is_none() => {
                if !restricted && self.peek_keyword(0, "not") {
                    self.at += 1;
                    let operand = self.expr_from(binding::NOT, false)?;
                    return Ok(Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(operand) });
                }
                if self.peek_keyword(0, "operator") && self.peek(1) == Some(&Token::LParen) {
                    let span = self.span();
                    let (parts, length) = self.named_operator()?;
                    self.at += length;
                    let op = parts.last().cloned().unwrap_or_default();
                    return match op.as_str() {
                        "+" => self.signed_operand(UnaryOperator::Plus, binding::OTHER + 1, restricted),
                        "-" => self.signed_operand(UnaryOperator::Minus, binding::OTHER + 1, restricted),
                        other => self.prefix_operator(other, span, restricted),
                    };
                }
                self.operand_or_overlaps(restricted)
            }
            _ => self.operand_or_overlaps(restricted),
        }
    }

    fn signed(&mut self, op: UnaryOperator, restricted: bool) -> Parse<Expr> {
        self.at += 1;
        self.signed_operand(op, binding::SIGN, restricted)
    }

    fn signed_operand(&mut self, op: UnaryOperator, min: u8, restricted: bool) -> Parse<Expr> {
        let operand = self.expr_from(min, restricted)?;
        Ok(Expr::UnaryOp { op, expr: Box::new(operand) })
    }

    fn prefix_operator(&mut self, op: &str, span: Span, restricted: bool) -> Parse<Expr> {
        let operand = Box::new(self.expr_from(binding::OTHER + 1, restricted)?);
        let known = match op {
            "~" => Some(UnaryOperator::BitwiseNot),
            "@" => Some(UnaryOperator::PGAbs),
            "|/" => Some(UnaryOperator::PGSquareRoot),
            "||/" => Some(UnaryOperator::PGCubeRoot),
            _ => None,
        };
        Ok(match known {
            Some(op) => Expr::UnaryOp { op, expr: operand },
            None => Expr::Prefixed {
                prefix: Ident { value: format!("{} {op}", marks::PREFIX_OPERATOR), quote_style: None, span },
                value: operand,
            },
        })
    }

    /// `OPERATOR(schema.+)`: its parts, and how many tokens it takes.
    fn named_operator(&self) -> Parse<(Vec<String>, usize)> {
        let mut at = 2;
        let mut parts = Vec::new();
        loop {
            match (self.peek(at), self.peek(at + 1)) {
                (Some(Token::Word(w)), Some(Token::Period)) => {
                    let reserved = || matches!(crate::keywords::keyword(&w.value), Some((Class::Reserved | Class::TypeOrFunction, _)));
                    match w.quote_style {
                        Some(_) => parts.push(w.value.clone()),
                        None if reserved() => break,
                        None => parts.push(w.value.to_lowercase()),
                    }
                    at += 2;
                }
                (Some(token), Some(Token::RParen)) => {
                    let Some(op) = operator_text(token) else { break };
                    parts.push(op.to_owned());
                    return Ok((parts, at + 2));
                }
                _ => break,
            }
        }
        Err(self.tokens.get(self.at + at).map_or_else(|| self.unexpected(), |t| crate::SyntaxError::near(self.sql, t)))
    }

    /// The operator that comes next, with AND and OR.
    fn next_infix(&self, restricted: bool) -> Parse<Option<Infix>> {
        use BinaryOperator as B;
        let infix = |op, binding| Some(Infix { op, binding, length: 1 });
        Ok(match self.peek(0) {
            Some(Token::Plus) => infix(B::Plus, binding::ADDITION),
            Some(Token::Minus) => infix(B::Minus, binding::ADDITION),
            Some(Token::Mul) => infix(B::Multiply, binding::MULTIPLICATION),
            Some(Token::Div) => infix(B::Divide, binding::MULTIPLICATION),
            Some(Token::Mod) => infix(B::Modulo, binding::MULTIPLICATION),
            Some(Token::Caret) => infix(B::PGExp, binding::POWER),
            Some(Token::Eq) => infix(B::Eq, binding::COMPARISON),
            Some(Token::Neq) => infix(B::NotEq, binding::COMPARISON),
            Some(Token::Lt) => infix(B::Lt, binding::COMPARISON),
            Some(Token::Gt) => infix(B::Gt, binding::COMPARISON),
            Some(Token::LtEq) => infix(B::LtEq, binding::COMPARISON),
            Some(Token::GtEq) => infix(B::GtEq, binding::COMPARISON),
            Some(Token::CustomBinaryOperator(op)) if op == "||" => infix(B::StringConcat, binding::OTHER),
            Some(Token::CustomBinaryOperator(op)) if op != ".." => infix(B::Custom(op.clone()), binding::OTHER),
            Some(Token::Word(w)) if w.quote_style.is_none() => {
                if !restricted && w.value.eq_ignore_ascii_case("and") {
                    infix(B::And, binding::AND)
                } else if !restricted && w.value.eq_ignore_ascii_case("or") {
                    infix(B::Or, binding::OR)
                } else if w.value.eq_ignore_ascii_case("operator") && self.peek(1) == Some(&Token::LParen) {
                    let (parts, length) = self.named_operator()?;
                    Some(Infix { op: B::PGCustomBinaryOperator(parts), binding: binding::OTHER, length })
                } else {
                    None
                }
            }
            _ => None,
        })
    }

    fn infix(&mut self, left: Expr, min: u8, restricted: bool) -> Parse<Expr> {
        let mut links = 0;
        let out = self.links(left, min, restricted, &mut links)?;
        Ok(if links > LONG_CHAIN { balanced(out) } else { out })
    }

    /// Operators and what they are applied to, from the left; `links` are the ANDs and ORs among them.
    fn links(&mut self, mut left: Expr, min: u8, restricted: bool, links: &mut usize) -> Parse<Expr> {
        let mut operators = 0;
        // The level whose operators do not associate, when the last one was of it.
        let mut single = 0;
        loop {
            if self.at_label() {
                let binding = self.binding_of_word();
                if binding == single && single != 0 {
                    return Err(self.unexpected());
                }
                if min > 0 && binding >= min {
                    self.at += 1;
                    return Err(self.unexpected());
                }
                if self.labels {
                    return Ok(left);
                }
                self.label_met = true;
            }
            if self.peek(0) == Some(&Token::DoubleColon) {
                self.at += 1;
                let data_type = self.data_type()?;
                left = Expr::Cast { kind: ast::CastKind::DoubleColon, expr: Box::new(left), data_type, array: false, format: None };
                continue;
            }
            if let Some(infix) = self.next_infix(restricted)? {
                if infix.binding < min {
                    return Ok(left);
                }
                if infix.binding == single {
                    return Err(self.unexpected());
                }
                let quantified = !matches!(infix.op, BinaryOperator::And | BinaryOperator::Or) && self.quantifier(infix.length);
                self.at += infix.length;
                if quantified {
                    left = self.quantified(left, infix.op)?;
                    single = 0;
                    continue;
                }
                let right = self.expr_from(infix.binding + 1, restricted)?;
                match infix.op {
                    BinaryOperator::And | BinaryOperator::Or => *links += 1,
                    _ => operators += 1,
                }
                if operators > MAX_CHAIN {
                    return Err(crate::SyntaxError::too_deep());
                }
                single = if infix.binding == binding::COMPARISON { binding::COMPARISON } else { 0 };
                left = Expr::BinaryOp { left: Box::new(left), op: infix.op, right: Box::new(right) };
                continue;
            }
            let Some(Token::Word(w)) = self.peek(0) else { return Ok(left) };
            if w.quote_style.is_some() {
                return Ok(left);
            }
            let negated = !restricted && self.peek_keyword(0, "not");
            let ahead = usize::from(negated);
            if !negated && min <= binding::IS && self.peek_any(0, &["is", "isnull", "notnull"]) {
                if restricted && !(self.peek_keyword(0, "is") && (self.peek_keyword(1, "distinct") || self.peek_keyword(2, "distinct"))) {
                    return Ok(left);
                }
                if single == binding::IS {
                    return Err(self.unexpected());
                }
                single = 0;
                left = self.is_test(left, restricted, &mut single)?;
                continue;
            }
            if !negated && min <= binding::AT && self.peek_keyword(0, "at") && self.peek_keyword(1, "time") && self.peek_keyword(2, "zone")
            {
                self.at += 3;
                let zone = self.expr_from(binding::AT + 1, restricted)?;
                left = Expr::AtTimeZone { timestamp: Box::new(left), time_zone: Box::new(zone) };
                continue;
            }
            if !negated && min <= binding::COLLATE && self.keyword("collate") {
                let collation = self.object_name()?;
                left = Expr::Collate { expr: Box::new(left), collation };
                continue;
            }
            if restricted || min > binding::PREDICATE || !self.peek_any(ahead, &["between", "in", "like", "ilike", "similar"]) {
                return Ok(left);
            }
            // substring(text SIMILAR pattern ESCAPE character) has no TO.
            if self.peek_keyword(ahead, "similar") && !self.peek_keyword(ahead + 1, "to") && !negated {
                return Ok(left);
            }
            if single == binding::PREDICATE {
                return Err(self.unexpected());
            }
            (left, single) = self.predicate(left, negated)?;
        }
    }

    /// Whether a key word that may be a label ends the select item.
    fn at_label(&self) -> bool {
        self.is_word(0)
            && (matches!(self.peek(1), Some(Token::Comma | Token::RParen | Token::SemiColon) | None)
                || self.peek_any(1, BEHIND_SELECT_LIST))
            && self.class(0).is_some_and(|(_, bare)| bare)
    }

    /// The level of a word that may be a label and is an operator; 0 if it is none. One that binds what stands behind another operator, as
    /// in `a * b COLLATE, c`, or may not follow it, as in `a BETWEEN b AND c IN, d`, is no label.
    fn binding_of_word(&self) -> u8 {
        let Some(Token::Word(word)) = self.peek(0).filter(|token| matches!(token, Token::Word(word) if word.quote_style.is_none())) else {
            return 0;
        };
        match word.value.to_ascii_lowercase().as_str() {
            "or" => binding::OR,
            "and" => binding::AND,
            "is" => binding::IS,
            "between" | "in" | "like" | "ilike" | "similar" => binding::PREDICATE,
            "operator" => binding::OTHER,
            "at" => binding::AT,
            "collate" => binding::COLLATE,
            _ => 0,
        }
    }

    /// Whether ANY, SOME or ALL with a parenthesis stands there.
    fn quantifier(&self, ahead: usize) -> bool {
        self.peek_any(ahead, &["any", "some", "all"]) && self.peek(ahead + 1) == Some(&Token::LParen)
    }

    /// `op ANY|ALL (…)`, behind the operator.
    fn quantified(&mut self, left: Expr, op: BinaryOperator) -> Parse<Expr> {
        let all = self.peek_keyword(0, "all");
        let is_some = self.peek_keyword(0, "some");
        self.at += 1;
        let right = if self.query_in_parens(0) {
            Expr::Subquery(self.query_with_parens()?)
        } else {
            self.expect_token(&Token::LParen)?;
            let right = self.expr()?;
            self.expect_token(&Token::RParen)?;
            Expr::Nested(Box::new(right))
        };
        let (left, right) = (Box::new(left), Box::new(right));
        Ok(if all { Expr::AllOp { left, compare_op: op, right } } else { Expr::AnyOp { left, compare_op: op, right, is_some } })
    }

    /// IS …, ISNULL, NOTNULL.
    fn is_test(&mut self, left: Expr, restricted: bool, single: &mut u8) -> Parse<Expr> {
        let left = Box::new(left);
        if self.keyword("isnull") {
            return Ok(Expr::IsNull(left));
        }
        if self.keyword("notnull") {
            return Ok(Expr::IsNotNull(left));
        }
        self.expect("is")?;
        let negated = self.keyword("not");
        if self.keyword("null") {
            return Ok(if negated { Expr::IsNotNull(left) } else { Expr::IsNull(left) });
        }
        if self.keyword("true") {
            return Ok(if negated { Expr::IsNotTrue(left) } else { Expr::IsTrue(left) });
        }
        if self.keyword("false") {
            return Ok(if negated { Expr::IsNotFalse(left) } else { Expr::IsFalse(left) });
        }
        if self.keyword("unknown") {
            return Ok(if negated { Expr::IsNotUnknown(left) } else { Expr::IsUnknown(left) });
        }
        if self.keyword("distinct") {
            self.expect("from")?;
            let right = Box::new(self.expr_from(binding::IS + 1, restricted)?);
            *single = binding::IS;
            return Ok(if negated { Expr::IsNotDistinctFrom(left, right) } else { Expr::IsDistinctFrom(left, right) });
        }
        if self.keyword("document") {
            return Err(self.unsupported("XML is not supported"));
        }
        let form = self.normalization_form();
        if self.keyword("normalized") {
            return Ok(Expr::IsNormalized { expr: left, form, negated });
        }
        Err(self.unexpected())
    }

    pub(super) fn normalization_form(&mut self) -> Option<ast::NormalizationForm> {
        use ast::NormalizationForm as F;
        [("nfc", F::NFC), ("nfd", F::NFD), ("nfkc", F::NFKC), ("nfkd", F::NFKD)]
            .into_iter()
            .find_map(|(word, form)| self.keyword(word).then_some(form))
    }

    /// `[NOT]` BETWEEN, IN, LIKE, ILIKE, SIMILAR TO. Also the level that must not follow.
    fn predicate(&mut self, left: Expr, negated: bool) -> Parse<(Expr, u8)> {
        let start = self.at;
        self.at += usize::from(negated);
        let boxed = Box::new(left);
        if self.keyword("between") {
            let symmetric = self.keyword("symmetric");
            if !symmetric {
                self.keyword("asymmetric");
            }
            let mut low = self.b_expr()?;
            self.expect("and")?;
            let high = Box::new(self.expr_from(binding::PREDICATE + 1, false)?);
            if symmetric {
                low = Expr::Prefixed { prefix: Ident::new(marks::SYMMETRIC), value: Box::new(low) };
            }
            return Ok((Expr::Between { expr: boxed, negated, low: Box::new(low), high }, binding::PREDICATE));
        }
        if self.keyword("in") {
            if self.query_in_parens(0) {
                let subquery = self.query_with_parens()?;
                return Ok((Expr::InSubquery { expr: boxed, subquery, negated }, 0));
            }
            self.expect_token(&Token::LParen)?;
            let list = self.exprs()?;
            self.expect_token(&Token::RParen)?;
            return Ok((Expr::InList { expr: boxed, list, negated }, 0));
        }
        let like = self.peek_keyword(0, "like");
        if like || self.peek_keyword(0, "ilike") {
            self.at += 1;
            if self.quantifier(0) {
                let op = match (like, negated) {
                    (true, false) => "~~",
                    (true, true) => "!~~",
                    (false, false) => "~~*",
                    (false, true) => "!~~*",
                };
                return Ok((self.quantified(*boxed, BinaryOperator::Custom(op.into()))?, 0));
            }
            let pattern = self.expr_from(binding::PREDICATE + 1, false)?;
            let (pattern, escape_char) = match self.escape(pattern, "like_escape")? {
                Escaped::Called(pattern) => (pattern, None),
                Escaped::Pattern(pattern, escape) => (pattern, escape),
            };
            let pattern = Box::new(pattern);
            let out = if like {
                Expr::Like { negated, any: false, expr: boxed, pattern, escape_char }
            } else {
                Expr::ILike { negated, any: false, expr: boxed, pattern, escape_char }
            };
            return Ok((out, binding::PREDICATE));
        }
        if self.keyword("similar") {
            self.expect("to")?;
            let pattern = self.expr_from(binding::PREDICATE + 1, false)?;
            let out = match self.escape(pattern, "similar_to_escape")? {
                // With an escape that is no literal the call gives a regular expression.
                Escaped::Called(regexp) => {
                    let op = if negated { BinaryOperator::PGRegexNotMatch } else { BinaryOperator::PGRegexMatch };
                    Expr::BinaryOp { left: boxed, op, right: Box::new(regexp) }
                }
                Escaped::Pattern(pattern, escape_char) => Expr::SimilarTo { negated, expr: boxed, pattern: Box::new(pattern), escape_char },
            };
            return Ok((out, binding::PREDICATE));
        }
        self.at = start;
        Err(self.unexpected())
    }

    /// ESCAPE: a literal stays one; anything else becomes a call around the pattern.
    fn escape(&mut self, pattern: Expr, call: &str) -> Parse<Escaped> {
        if !self.keyword("escape") {
            return Ok(Escaped::Pattern(pattern, None));
        }
        Ok(match self.expr_from(binding::PREDICATE + 1, false)? {
            Expr::Value(value) => Escaped::Pattern(pattern, Some(value)),
            other => Escaped::Called(super::call::plain_call(Ident::with_quote('"', call), vec![pattern, other])),
        })
    }

    fn value(&mut self, value: Value, span: Span) -> Expr {
        Expr::Value(ValueWithSpan { value, span })
    }

    /// A string literal, if one comes next.
    pub(super) fn string_value(&mut self) -> Option<ValueWithSpan> {
        let token = self.tokens.get(self.at)?;
        let value = match &token.token {
            Token::SingleQuotedString(s) => Value::SingleQuotedString(s.clone()),
            Token::EscapedStringLiteral(s) => Value::EscapedStringLiteral(s.clone()),
            Token::UnicodeStringLiteral(s) => Value::UnicodeStringLiteral(s.clone()),
            Token::NationalStringLiteral(s) => Value::NationalStringLiteral(s.clone()),
            Token::DollarQuotedString(s) => Value::DollarQuotedString(s.clone()),
            _ => return None,
        };
        self.at += 1;
        Some(ValueWithSpan { value, span: token.span })
    }

    /// What stands between operators (`c_expr`).
    pub(crate) fn operand(&mut self) -> Parse<Expr> {
        let Some(TokenWithSpan { token, span }) = self.tokens.get(self.at) else { return Err(self.unexpected()) };
        let span = *span;
        match token {
            Token::Number(text, _) => {
                self.at += 1;
                Ok(self.value(Value::Number(text.clone(), false), span))
            }
            Token::Placeholder(text) => {
                self.at += 1;
                let value = self.value(Value::Placeholder(text.clone()), span);
                self.indirection(value)
            }
            // N'…' is short for NCHAR '…'.
            Token::NationalStringLiteral(text) => {
                self.at += 1;
                let value = ValueWithSpan { value: Value::SingleQuotedString(text.clone()), span };
                let data_type = super::types::named(ast::ObjectName::from(vec![Ident::new("bpchar")]), Vec::new());
                Ok(Expr::TypedString(ast::TypedString { data_type, value, uses_odbc_syntax: false }))
            }
            Token::HexStringLiteral(text) => {
                self.at += 1;
                Ok(self.value(Value::HexStringLiteral(text.clone()), span))
            }
            Token::SingleQuotedByteStringLiteral(text) => {
                self.at += 1;
                Ok(self.value(Value::SingleQuotedByteStringLiteral(text.clone()), span))
            }
            Token::LParen => {
                let inner = self.parenthesized()?;
                // A row's own parentheses are not those that a field may be taken of.
                if is_row(&inner) { Ok(inner) } else { self.indirection(inner) }
            }
            Token::Word(w) if w.quote_style.is_some() => self.name_or_call(),
            Token::Word(w) => match crate::keywords::keyword(&w.value) {
                None | Some((Class::Unreserved, _)) => self.name_or_call(),
                Some((Class::TypeOrFunction, _)) => self.type_or_function(),
                Some((Class::ColumnName, _)) => self.special(),
                Some((Class::Reserved, _)) => self.reserved(span),
            },
            _ => match self.string_value() {
                Some(value) => Ok(Expr::Value(value)),
                None => Err(self.unexpected()),
            },
        }
    }

    /// A query, a row or an expression in parentheses.
    pub(super) fn parenthesized(&mut self) -> Parse<Expr> {
        if self.query_in_parens(0) {
            return Ok(Expr::Subquery(self.query_with_parens()?));
        }
        self.expect_token(&Token::LParen)?;
        let first = self.expr()?;
        if self.peek(0) == Some(&Token::Comma) {
            let mut items = vec![first];
            while self.token(&Token::Comma) {
                items.push(self.expr()?);
            }
            self.expect_token(&Token::RParen)?;
            return Ok(Expr::Tuple(items));
        }
        self.expect_token(&Token::RParen)?;
        Ok(Expr::Nested(Box::new(first)))
    }

    /// `.field`, `.*` and `[…]` behind a value.
    pub(super) fn indirection(&mut self, root: Expr) -> Parse<Expr> {
        let mut chain = Vec::new();
        loop {
            if self.peek(0) == Some(&Token::Period) {
                self.at += 1;
                if self.peek(0) == Some(&Token::Mul) {
                    let token = self.attached(self.at);
                    self.at += 1;
                    chain.push(AccessExpr::Dot(Expr::Wildcard(token)));
                    break;
                }
                chain.push(AccessExpr::Dot(Expr::Identifier(self.label()?)));
            } else if self.peek(0) == Some(&Token::LBracket) {
                chain.push(AccessExpr::Subscript(self.subscript()?));
            } else {
                break;
            }
        }
        Ok(if chain.is_empty() { root } else { Expr::CompoundFieldAccess { root: Box::new(root), access_chain: chain } })
    }

    /// `[i]`, `[i:j]`, `[:]`.
    pub(super) fn subscript(&mut self) -> Parse<Subscript> {
        self.expect_token(&Token::LBracket)?;
        let lower = if self.peek(0) == Some(&Token::Colon) { None } else { Some(self.expr()?) };
        let out = if self.token(&Token::Colon) {
            let upper = if self.peek(0) == Some(&Token::RBracket) { None } else { Some(self.expr()?) };
            Subscript::Slice { lower_bound: lower, upper_bound: upper, stride: None }
        } else {
            match lower {
                Some(index) => Subscript::Index { index },
                None => return Err(self.unexpected()),
            }
        };
        self.expect_token(&Token::RBracket)?;
        Ok(out)
    }

    /// A name with points: a column, a call, a literal of a type.
    fn name_or_call(&mut self) -> Parse<Expr> {
        if self.peek_keyword(0, "double") && self.peek_keyword(1, "precision") {
            let start = self.at;
            let data_type = self.data_type()?;
            if let Some(value) = self.string_value() {
                return Ok(Expr::TypedString(ast::TypedString { data_type, value, uses_odbc_syntax: false }));
            }
            self.at = start;
        }
        if self.peek_keyword(0, "match")
            && self.peek(1) == Some(&Token::LParen)
            && let Some(close) = self.closing_of(self.at + 1)
            && self.peek_keyword(close + 1 - self.at, "against")
        {
            return self.match_against();
        }
        let mut parts = vec![self.label()?];
        loop {
            if self.peek(0) == Some(&Token::Period) {
                match self.peek(1) {
                    Some(Token::Word(_)) => {
                        self.at += 1;
                        parts.push(self.label()?);
                    }
                    _ => break,
                }
            } else {
                break;
            }
        }
        if self.peek(0) == Some(&Token::LParen) {
            return self.call(parts);
        }
        if let [one] = parts.as_slice()
            && one.quote_style.is_none()
            && one.value.eq_ignore_ascii_case("map")
            && self.peek(0) == Some(&Token::LBracket)
            && let Some(map) = self.map(one)?
        {
            return self.indirection(map);
        }
        if let Some(value) = self.string_value() {
            let data_type = super::types::named(ast::ObjectName::from(parts), Vec::new());
            return Ok(Expr::TypedString(ast::TypedString { data_type, value, uses_odbc_syntax: false }));
        }
        let root = match <[Ident; 1]>::try_from(parts) {
            Ok([one]) => Expr::Identifier(one),
            Err(parts) => Expr::CompoundIdentifier(parts),
        };
        self.indirection(root)
    }

    /// `map[key => value, …]`, which is a call; what is not written so is a subscript of a column called `map`.
    fn map(&mut self, name: &Ident) -> Parse<Option<Expr>> {
        let start = self.at;
        self.at += 1;
        let first = self.expr();
        let (Ok(key), true) = (first, self.token(&Token::RArrow)) else {
            self.at = start;
            return Ok(None);
        };
        let mut args = vec![key, self.expr()?];
        while self.token(&Token::Comma) {
            args.push(self.expr()?);
            self.expect_token(&Token::RArrow)?;
            args.push(self.expr()?);
        }
        self.expect_token(&Token::RBracket)?;
        let unnamed = |e| ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(e));
        let list =
            ast::FunctionArgumentList { duplicate_treatment: None, args: args.into_iter().map(unnamed).collect(), clauses: Vec::new() };
        Ok(Some(Expr::Function(ast::Function {
            name: ast::ObjectName::from(vec![name.clone()]),
            uses_odbc_syntax: false,
            parameters: ast::FunctionArguments::None,
            args: ast::FunctionArguments::List(list),
            filter: None,
            null_treatment: None,
            over: None,
            within_group: Vec::new(),
        })))
    }

    /// LEFT, RIGHT and others that name functions and types only.
    fn type_or_function(&mut self) -> Parse<Expr> {
        if self.peek_keyword(0, "current_schema") && self.peek(1) != Some(&Token::LParen) {
            return self.bare_call();
        }
        if self.peek_keyword(0, "collation") && self.peek_keyword(1, "for") {
            self.at += 2;
            self.expect_token(&Token::LParen)?;
            let arg = self.expr()?;
            self.expect_token(&Token::RParen)?;
            return Ok(super::call::plain_call(Ident::new("pg_collation_for"), vec![arg]));
        }
        let at = self.at;
        let name = self.label()?;
        if self.peek(0) == Some(&Token::LParen) || self.peek(0) == Some(&Token::Period) {
            let mut parts = vec![name];
            while self.token(&Token::Period) {
                parts.push(self.label()?);
            }
            return self.call(parts);
        }
        if let Some(value) = self.string_value() {
            let data_type = super::types::named(ast::ObjectName::from(vec![name]), Vec::new());
            return Ok(Expr::TypedString(ast::TypedString { data_type, value, uses_odbc_syntax: false }));
        }
        // What cannot go on is the error, unless the word itself could not begin.
        if self.at < self.tokens.len() && !matches!(self.peek(0), Some(Token::Word(_) | Token::Number(..))) {
            self.at = at;
        }
        self.at = at;
        Err(self.unexpected())
    }

    /// A call without parentheses, of a key word.
    pub(super) fn bare_call(&mut self) -> Parse<Expr> {
        let name = self.label()?;
        let mut call = marks::function(name, Vec::new());
        call.args = ast::FunctionArguments::None;
        Ok(Expr::Function(call))
    }

    fn reserved(&mut self, span: Span) -> Parse<Expr> {
        let at = self.at;
        if self.keyword("null") {
            return Ok(self.value(Value::Null, span));
        }
        if self.keyword("true") {
            return Ok(self.value(Value::Boolean(true), span));
        }
        if self.keyword("false") {
            return Ok(self.value(Value::Boolean(false), span));
        }
        if self.peek_keyword(0, "default") {
            // Where a value is assigned; elsewhere the binder refuses it.
            return Ok(Expr::Identifier(self.label()?));
        }
        if self.keyword("case") {
            return self.case(at);
        }
        if self.keyword("cast") {
            self.expect_token(&Token::LParen)?;
            let expr = Box::new(self.expr()?);
            self.expect("as")?;
            let data_type = self.data_type()?;
            self.expect_token(&Token::RParen)?;
            return Ok(Expr::Cast { kind: ast::CastKind::Cast, expr, data_type, array: false, format: None });
        }
        if self.keyword("array") {
            if self.peek(0) == Some(&Token::LParen) {
                if !self.query_in_parens(0) {
                    return Err(self.unexpected_behind_paren());
                }
                let query = self.query_with_parens()?;
                let mut call = marks::function(Ident::with_span(span, "array"), Vec::new());
                call.args = ast::FunctionArguments::Subquery(query);
                return Ok(Expr::Function(call));
            }
            return self.array_elements(true);
        }
        if self.peek_any(
            0,
            &[
                "current_date",
                "current_time",
                "current_timestamp",
                "localtime",
                "localtimestamp",
                "current_user",
                "current_role",
                "session_user",
                "user",
                "current_catalog",
            ],
        ) {
            let precise = self.peek_any(0, &["current_time", "current_timestamp", "localtime", "localtimestamp"]);
            let mut call = self.bare_call()?;
            if precise && self.token(&Token::LParen) {
                let Some(Token::Number(digits, _)) = self.peek(0) else { return Err(self.unexpected()) };
                let digits = digits.clone();
                let span = self.span();
                self.at += 1;
                self.expect_token(&Token::RParen)?;
                if let Expr::Function(f) = &mut call {
                    let value = self.value(Value::Number(digits, false), span);
                    f.args = marks::function(Ident::new(""), vec![value]).args;
                }
            }
            return Ok(call);
        }
        Err(self.unexpected())
    }

    /// `ARRAY (x)`: the token that is no query.
    fn unexpected_behind_paren(&mut self) -> crate::SyntaxError {
        self.at += 1;
        self.unexpected()
    }

    /// `[a, b]` with or without ARRAY before it; inner brackets need none.
    pub(super) fn array_elements(&mut self, named: bool) -> Parse<Expr> {
        self.expect_token(&Token::LBracket)?;
        let mut elem = Vec::new();
        if !self.token(&Token::RBracket) {
            let brackets = self.peek(0) == Some(&Token::LBracket);
            elem = self.list(|p| if brackets { p.nested(|p| p.array_elements(false)) } else { p.expr() })?;
            self.expect_token(&Token::RBracket)?;
        }
        Ok(Expr::Array(ast::Array { elem, named }))
    }

    fn case(&mut self, start: usize) -> Parse<Expr> {
        let case_token = self.attached(start);
        let operand = if self.peek_keyword(0, "when") { None } else { Some(Box::new(self.expr()?)) };
        let mut conditions = Vec::new();
        while self.keyword("when") {
            let condition = self.expr()?;
            self.expect("then")?;
            conditions.push(ast::CaseWhen { condition, result: self.expr()? });
        }
        if conditions.is_empty() {
            return Err(self.unexpected());
        }
        let else_result = if self.keyword("else") { Some(Box::new(self.expr()?)) } else { None };
        let end_token = self.attached(self.at);
        self.expect("end")?;
        Ok(Expr::Case { case_token, end_token, operand, conditions, else_result })
    }
}

/// An operator's text.
fn operator_text(token: &Token) -> Option<&str> {
    Some(match token {
        Token::Plus => "+",
        Token::Minus => "-",
        Token::Mul => "*",
        Token::Div => "/",
        Token::Mod => "%",
        Token::Caret => "^",
        Token::Eq => "=",
        Token::Neq => "<>",
        Token::Lt => "<",
        Token::Gt => ">",
        Token::LtEq => "<=",
        Token::GtEq => ">=",
        Token::CustomBinaryOperator(op) if op != ".." => op,
        _ => return None,
    })
}

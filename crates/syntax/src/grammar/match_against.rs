//! MATCH … AGAINST.

use super::{Parse, Parser};
use crate::marks;
use sqlparser::ast::{self, Expr, Ident};
use sqlparser::tokenizer::Token;

impl Parser<'_> {
    /// `MATCH (columns) AGAINST ('words' [IN BOOLEAN MODE])`. Columns may be expressions, and so may the words: one operand.
    pub(super) fn match_against(&mut self) -> Parse<Expr> {
        self.at += 2;
        let start = self.at;
        let columns = self.object_names().ok().filter(|_| self.token(&Token::RParen));
        let exprs = match columns {
            Some(_) => Vec::new(),
            None => {
                self.at = start;
                let mut exprs = vec![self.expr()?];
                while self.token(&Token::Comma) {
                    exprs.push(self.expr()?);
                }
                self.expect_token(&Token::RParen)?;
                exprs
            }
        };
        self.expect("against")?;
        self.expect_token(&Token::LParen)?;
        let search = self.operand()?;
        let mut own_mode = None;
        let opt_search_modifier = if self.keywords(&["in", "natural", "language", "mode"]) {
            let expansion = self.keywords(&["with", "query", "expansion"]);
            Some(if expansion {
                ast::SearchModifier::InNaturalLanguageModeWithQueryExpansion
            } else {
                ast::SearchModifier::InNaturalLanguageMode
            })
        } else if self.keywords(&["with", "query", "expansion"]) {
            Some(ast::SearchModifier::WithQueryExpansion)
        } else if self.keywords(&["in", "boolean", "mode"]) {
            Some(ast::SearchModifier::InBooleanMode)
        } else {
            let [search_box, like_this] = marks::MATCH_MODES;
            own_mode = if self.keywords(&["in", "search", "box", "mode"]) {
                Some(search_box)
            } else if self.keywords(&["in", "more", "like", "this", "mode"]) {
                Some(like_this)
            } else {
                None
            };
            None
        };
        self.expect_token(&Token::RParen)?;
        match (columns, search, own_mode) {
            (Some(columns), Expr::Value(match_value), None) => Ok(Expr::MatchAgainst { columns, match_value, opt_search_modifier }),
            (columns, search, own_mode) => {
                let mode = match (own_mode, opt_search_modifier) {
                    (Some(mode), _) => mode.to_owned(),
                    (None, Some(modifier)) => modifier.to_string(),
                    (None, None) => String::new(),
                };
                let named = columns.into_iter().flatten().map(column_of).collect::<Option<Vec<Expr>>>().ok_or_else(|| self.unexpected())?;
                let mut args = vec![Expr::Value(ast::Value::SingleQuotedString(mode).into()), search];
                args.extend(named);
                args.extend(exprs);
                Ok(Expr::Function(marks::call(marks::MATCH, args)))
            }
        }
    }
}

/// A column by its name.
fn column_of(name: ast::ObjectName) -> Option<Expr> {
    let ident = |part| match part {
        ast::ObjectNamePart::Identifier(ident) => Some(ident),
        ast::ObjectNamePart::Function(_) => None,
    };
    let mut parts = name.0.into_iter().map(ident).collect::<Option<Vec<Ident>>>()?;
    if parts.len() == 1 { parts.pop().map(Expr::Identifier) } else { Some(Expr::CompoundIdentifier(parts)) }
}

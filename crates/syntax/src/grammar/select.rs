//! Queries: SELECT, VALUES, set operations, ORDER BY, limits and locks.

use super::from::table_factor;
use super::{Parse, Parser};
use crate::SyntaxError;
use crate::ast::{self, Expr, Ident, ObjectName, Query, Select, SelectItem, SetExpr, TableWithJoins};
use crate::locking::Strength;
use crate::marks;
use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::tokenizer::Token;

/// A query that is only a body.
pub(super) fn plain_query(body: SetExpr) -> Query {
    Query {
        with: None,
        body: Box::new(body),
        order_by: None,
        limit_clause: None,
        fetch: None,
        locks: Vec::new(),
        for_clause: None,
        settings: None,
        format_clause: None,
        pipe_operators: Vec::new(),
    }
}

fn plain_select(select_token: AttachedToken) -> Select {
    Select {
        select_token,
        optimizer_hints: Vec::new(),
        distinct: None,
        select_modifiers: None,
        top: None,
        top_before_distinct: false,
        projection: Vec::new(),
        exclude: None,
        into: None,
        from: Vec::new(),
        lateral_views: Vec::new(),
        prewhere: None,
        selection: None,
        connect_by: Vec::new(),
        group_by: ast::GroupByExpr::Expressions(Vec::new(), Vec::new()),
        cluster_by: Vec::new(),
        distribute_by: Vec::new(),
        sort_by: Vec::new(),
        having: None,
        named_window: Vec::new(),
        qualify: None,
        window_before_qualify: false,
        value_table_mode: None,
        flavor: ast::SelectFlavor::Standard,
    }
}

fn wildcard(token: AttachedToken) -> ast::WildcardAdditionalOptions {
    ast::WildcardAdditionalOptions { wildcard_token: token, ..Default::default() }
}

/// Branches longer than this become a balanced tree.
const LONG_CHAIN: usize = 64;

/// `left UNION a UNION b …`
fn joined(left: SetExpr, chain: Vec<SetExpr>, set_quantifier: ast::SetQuantifier) -> SetExpr {
    let union = |left: SetExpr, right: SetExpr| SetExpr::SetOperation {
        op: ast::SetOperator::Union,
        set_quantifier,
        left: Box::new(left),
        right: Box::new(right),
    };
    if chain.len() <= LONG_CHAIN {
        return chain.into_iter().fold(left, union);
    }
    let mut level: Vec<SetExpr> = std::iter::once(left).chain(chain).collect();
    loop {
        let mut next = Vec::with_capacity(level.len().div_ceil(2));
        let mut branches = level.into_iter();
        while let Some(first) = branches.next() {
            next.push(match branches.next() {
                Some(second) => union(first, second),
                None => first,
            });
        }
        if let ([_], Some(_)) = (next.as_slice(), next.first())
            && let Some(one) = next.pop()
        {
            return one;
        }
        level = next;
    }
}

impl Parser<'_> {
    /// A query up to where it ends, with WITH.
    pub(crate) fn query(&mut self) -> Parse<Box<Query>> {
        let with = self.with_clause()?;
        let mut query = self.query_body()?;
        query.with = with;
        Ok(Box::new(query))
    }

    /// `(query)`, the parentheses taken off.
    pub(super) fn query_with_parens(&mut self) -> Parse<Box<Query>> {
        self.nested(|p| {
            p.expect_token(&Token::LParen)?;
            let query = if p.peek(0) == Some(&Token::LParen) && p.closes_behind() { p.query_with_parens()? } else { p.query()? };
            p.expect_token(&Token::RParen)?;
            Ok(query)
        })
    }

    /// Whether the parenthesis here is closed just before the one around it is.
    fn closes_behind(&mut self) -> bool {
        let Some(close) = self.closing_of(self.at) else { return false };
        matches!(self.tokens.get(close + 1).map(|t| &t.token), Some(Token::RParen))
    }

    /// Set operations with ORDER BY, limits and locks.
    pub(super) fn query_body(&mut self) -> Parse<Query> {
        self.nested(|p| {
            let body = p.set_expr(0)?;
            // Parentheses around a whole query stay: they part its ORDER BY from the one outside.
            let mut query = plain_query(body);
            if p.peek_keyword(0, "order") {
                query.order_by = Some(ast::OrderBy { kind: ast::OrderByKind::Expressions(p.order_by()?), interpolate: None });
            }
            p.limits_and_locks(&mut query)?;
            Ok(query)
        })
    }

    fn set_expr(&mut self, min: u8) -> Parse<SetExpr> {
        let mut left = self.simple_select()?;
        // Branches of one operator that wait to be joined: UNION associates, so that a long chain need not nest as deep as it is long.
        let mut chain: Vec<SetExpr> = Vec::new();
        let mut of = ast::SetQuantifier::None;
        loop {
            let (op, binding) = if self.peek_keyword(0, "union") {
                (ast::SetOperator::Union, 1)
            } else if self.peek_keyword(0, "except") {
                (ast::SetOperator::Except, 1)
            } else if self.peek_keyword(0, "intersect") {
                (ast::SetOperator::Intersect, 2)
            } else {
                return Ok(joined(left, chain, of));
            };
            if binding < min {
                return Ok(joined(left, chain, of));
            }
            self.at += 1;
            let set_quantifier = if self.keyword("all") {
                ast::SetQuantifier::All
            } else if self.keyword("distinct") {
                ast::SetQuantifier::Distinct
            } else {
                ast::SetQuantifier::None
            };
            let right = self.nested(|p| p.set_expr(binding + 1))?;
            if op == ast::SetOperator::Union && (chain.is_empty() || of == set_quantifier) {
                of = set_quantifier;
                chain.push(right);
                continue;
            }
            left = joined(left, std::mem::take(&mut chain), of);
            if op == ast::SetOperator::Union {
                of = set_quantifier;
                chain.push(right);
                continue;
            }
            left = SetExpr::SetOperation { op, set_quantifier, left: Box::new(left), right: Box::new(right) };
        }
    }

    fn simple_select(&mut self) -> Parse<SetExpr> {
        if self.peek(0) == Some(&Token::LParen) {
            return Ok(SetExpr::Query(self.query_with_parens()?));
        }
        let start = self.at;
        if self.keyword("select") {
            return Ok(SetExpr::Select(Box::new(self.select(start)?)));
        }
        if self.keyword("values") {
            let rows = self.list(Self::values_row)?;
            return Ok(SetExpr::Values(ast::Values { explicit_row: false, value_keyword: false, rows }));
        }
        if self.keyword("table") {
            let name = self.relation_name()?;
            let mut select = plain_select(self.attached(start));
            select.projection = vec![SelectItem::Wildcard(wildcard(self.attached(start)))];
            select.from = vec![TableWithJoins { relation: table_factor(name, None), joins: Vec::new() }];
            return Ok(SetExpr::Select(Box::new(select)));
        }
        Err(self.unexpected())
    }

    pub(super) fn values_row(&mut self) -> Parse<ast::Parens<Vec<Expr>>> {
        let opening_token = self.attached(self.at);
        self.expect_token(&Token::LParen)?;
        let content = self.exprs()?;
        let closing_token = self.attached(self.at);
        self.expect_token(&Token::RParen)?;
        Ok(ast::Parens { opening_token, content, closing_token })
    }

    fn select(&mut self, start: usize) -> Parse<Select> {
        let mut select = plain_select(self.attached(start));
        select.optimizer_hints = self.hints_behind(start);
        if self.keyword("distinct") {
            select.distinct = Some(if self.keyword("on") {
                self.expect_token(&Token::LParen)?;
                let on = self.exprs()?;
                self.expect_token(&Token::RParen)?;
                ast::Distinct::On(on)
            } else {
                ast::Distinct::Distinct
            });
        } else {
            self.keyword("all");
        }
        let empty = self.at == self.tokens.len()
            || matches!(self.peek(0), Some(Token::RParen))
            || self.peek_any(
                0,
                &[
                    "from",
                    "into",
                    "where",
                    "group",
                    "having",
                    "window",
                    "union",
                    "intersect",
                    "except",
                    "order",
                    "limit",
                    "offset",
                    "fetch",
                    "for",
                ],
            );
        if !empty || select.distinct.is_some() {
            select.projection = self.select_list()?;
        }
        if self.keyword("into") {
            let mut temporary = false;
            self.keyword("local");
            if self.keyword("temp") || self.keyword("temporary") {
                temporary = true;
            }
            let unlogged = self.keyword("unlogged");
            let table = self.keyword("table");
            select.into = Some(ast::SelectInto { temporary, unlogged, table, name: self.object_name()? });
        }
        if self.keyword("from") {
            select.from = self.table_list()?;
        }
        if self.keyword("where") {
            select.selection = Some(self.expr()?);
        }
        if self.keyword("group") {
            self.expect("by")?;
            let mut list = Vec::new();
            if self.keyword("distinct") {
                list.push(Expr::Function(marks::call(marks::GROUP_BY_DISTINCT, Vec::new())));
            } else {
                self.keyword("all");
            }
            list.extend(self.list(Self::grouping_item)?);
            select.group_by = ast::GroupByExpr::Expressions(list, Vec::new());
        }
        if self.keyword("having") {
            select.having = Some(self.expr()?);
        }
        if self.keyword("window") {
            select.named_window = self.list(|p| {
                let name = p.ident()?;
                p.expect("as")?;
                Ok(ast::NamedWindowDefinition(name, ast::NamedWindowExpr::WindowSpec(p.window_spec()?)))
            })?;
        }
        Ok(select)
    }

    /// The items of a select list or of RETURNING.
    pub(super) fn select_list(&mut self) -> Parse<Vec<SelectItem>> {
        self.list(Self::select_item)
    }

    fn select_item(&mut self) -> Parse<SelectItem> {
        if self.peek(0) == Some(&Token::Mul) {
            let token = self.attached(self.at);
            self.at += 1;
            return Ok(SelectItem::Wildcard(wildcard(token)));
        }
        let start = self.at;
        // Queries in the item tell nothing of it: each level above would read what is wrong below once more.
        let around = std::mem::replace(&mut self.label_met, false);
        let read = self.expr();
        let met = std::mem::replace(&mut self.label_met, around);
        let expr = match read {
            // What is too deep is so with labels too.
            Err(error) if met && !self.labels && !error.is_too_deep() => {
                self.at = start;
                self.labels = true;
                let again = self.expr();
                self.labels = false;
                again.map_err(|_| error)?
            }
            read => read?,
        };
        // name.* is a column reference of its own kind.
        if let Expr::CompoundFieldAccess { root, access_chain } = &expr
            && let [ast::AccessExpr::Dot(Expr::Wildcard(token))] = access_chain.as_slice()
        {
            let parts = match &**root {
                Expr::Identifier(one) => Some(vec![one.clone()]),
                Expr::CompoundIdentifier(parts) => Some(parts.clone()),
                _ => None,
            };
            if let Some(parts) = parts {
                let kind = ast::SelectItemQualifiedWildcardKind::ObjectName(ObjectName::from(parts));
                let columns = SelectItem::QualifiedWildcard(kind, wildcard(token.clone()));
                // A label may stand here, and names nothing.
                let _ = self.column_label()?;
                return Ok(columns);
            }
        }
        Ok(match self.column_label()? {
            Some(alias) => SelectItem::ExprWithAlias { expr, alias },
            None => SelectItem::UnnamedExpr(expr),
        })
    }

    /// `[AS] label` behind an entry of a select list.
    fn column_label(&mut self) -> Parse<Option<Ident>> {
        if self.keyword("as") {
            return self.label().map(Some);
        }
        let bare = match self.peek(0) {
            Some(Token::Word(w)) => w.quote_style.is_some() || self.class(0).is_none_or(|(_, bare)| bare),
            _ => false,
        };
        if bare { self.label().map(Some) } else { Ok(None) }
    }

    fn grouping_item(&mut self) -> Parse<Expr> {
        if self.peek(0) == Some(&Token::LParen) && self.peek(1) == Some(&Token::RParen) {
            self.at += 2;
            return Ok(Expr::Tuple(Vec::new()));
        }
        if self.peek(1) == Some(&Token::LParen) && self.peek_any(0, &["rollup", "cube"]) {
            let rollup = self.peek_keyword(0, "rollup");
            self.at += 2;
            let parts = self.list(|p| {
                Ok(match p.expr()? {
                    Expr::Tuple(items) => items,
                    Expr::Nested(inner) => vec![*inner],
                    other => vec![other],
                })
            })?;
            self.expect_token(&Token::RParen)?;
            return Ok(if rollup { Expr::Rollup(parts) } else { Expr::Cube(parts) });
        }
        if self.peek_keyword(0, "grouping") && self.peek_keyword(1, "sets") {
            self.at += 2;
            self.expect_token(&Token::LParen)?;
            let parts = self.nested(|p| {
                p.list(|p| {
                    // As sqlparser prints them: in parentheses of their own.
                    let sets = p.peek_any(1, &["rollup", "cube"]) || p.peek_keyword(1, "grouping") && p.peek_keyword(2, "sets");
                    if p.peek(0) == Some(&Token::LParen) && sets {
                        let start = p.at;
                        p.at += 1;
                        let inner = p.grouping_item()?;
                        if p.peek(0) == Some(&Token::RParen) {
                            p.at += 1;
                            return Ok(vec![inner]);
                        }
                        // A function of that name among columns.
                        p.at = start;
                    }
                    Ok(match p.grouping_item()? {
                        Expr::Tuple(items) => items,
                        Expr::Nested(inner) => vec![*inner],
                        other => vec![other],
                    })
                })
            })?;
            self.expect_token(&Token::RParen)?;
            return Ok(Expr::GroupingSets(parts));
        }
        self.expr()
    }

    pub(super) fn order_by(&mut self) -> Parse<Vec<ast::OrderByExpr>> {
        self.expect("order")?;
        self.expect("by")?;
        self.list(|p| {
            let expr = p.expr()?;
            let mut asc = if p.keyword("asc") {
                Some(true)
            } else if p.keyword("desc") {
                Some(false)
            } else {
                None
            };
            if asc.is_none() && p.keyword("using") {
                asc = match p.peek(0) {
                    Some(Token::Lt) => Some(true),
                    Some(Token::Gt) => Some(false),
                    Some(
                        Token::Word(_)
                        | Token::Number(..)
                        | Token::SingleQuotedString(_)
                        | Token::LParen
                        | Token::RParen
                        | Token::Comma
                        | Token::DoubleColon
                        | Token::Period,
                    )
                    | None => return Err(p.unexpected()),
                    Some(operator) => {
                        if matches!(p.peek(1), Some(Token::Number(..) | Token::SingleQuotedString(_) | Token::LParen)) {
                            p.at += 1;
                            return Err(p.unexpected());
                        }
                        let message = format!("operator {operator} is not a valid ordering operator");
                        let at = crate::char_offset(p.sql, p.span().start) + 1;
                        return Err(SyntaxError::new(b"42809", message, Some(at)).with_hint("Ordering operators are \"<\" and \">\"."));
                    }
                };
                p.at += 1;
            }
            let nulls_first = p.nulls_first()?;
            Ok(ast::OrderByExpr { expr, options: ast::OrderByOptions { asc, nulls_first }, with_fill: None })
        })
    }

    pub(crate) fn nulls_first(&mut self) -> Parse<Option<bool>> {
        if self.peek_keyword(0, "nulls") && self.peek_any(1, &["first", "last"]) {
            let first = self.peek_keyword(1, "first");
            self.at += 2;
            return Ok(Some(first));
        }
        Ok(None)
    }

    fn limits_and_locks(&mut self, query: &mut Query) -> Parse<()> {
        let (mut limit, mut offset, mut limited) = (None, None, false);
        loop {
            let at = self.span().start;
            if self.peek_keyword(0, "limit") {
                if limited {
                    return Err(SyntaxError::at(self.sql, "multiple LIMIT clauses not allowed", at));
                }
                self.at += 1;
                limited = true;
                if !self.keyword("all") {
                    limit = Some(self.expr()?);
                }
                if self.peek(0) == Some(&Token::Comma) {
                    return Err(SyntaxError::at(self.sql, "LIMIT #,# syntax is not supported", at)
                        .with_hint("Use separate LIMIT and OFFSET clauses."));
                }
            } else if self.peek_keyword(0, "offset") {
                if offset.is_some() {
                    return Err(SyntaxError::at(self.sql, "multiple OFFSET clauses not allowed", at));
                }
                self.at += 1;
                let value = self.expr()?;
                let _ = self.keyword("row") || self.keyword("rows");
                offset = Some(ast::Offset { value, rows: ast::OffsetRows::None });
            } else if self.peek_keyword(0, "fetch") {
                if limited {
                    return Err(SyntaxError::at(self.sql, "multiple LIMIT clauses not allowed", at));
                }
                self.at += 1;
                limited = true;
                if !(self.keyword("first") || self.keyword("next")) {
                    return Err(self.unexpected());
                }
                let counted = !self.peek_any(0, &["row", "rows"]) || self.peek(1) == Some(&Token::LParen);
                let quantity = if counted { Some(self.fetch_count()?) } else { None };
                if !(self.keyword("row") || self.keyword("rows")) {
                    return Err(self.unexpected());
                }
                let with_ties = if self.keyword("only") {
                    false
                } else {
                    self.expect("with")?;
                    self.expect("ties")?;
                    true
                };
                query.fetch = Some(ast::Fetch { with_ties, percent: false, quantity });
            } else if self.keyword("for") {
                self.locking(query)?;
            } else {
                break;
            }
        }
        if limit.is_some() || offset.is_some() {
            query.limit_clause = Some(ast::LimitClause::LimitOffset { limit, offset, limit_by: Vec::new() });
        }
        Ok(())
    }

    fn fetch_count(&mut self) -> Parse<Expr> {
        let negative = self.peek(0) == Some(&Token::Minus);
        let signed = negative || self.peek(0) == Some(&Token::Plus);
        if signed {
            self.at += 1;
        }
        let span = self.span();
        match self.peek(0) {
            Some(Token::Number(text, _)) => {
                let value = Expr::Value(ast::ValueWithSpan { value: ast::Value::Number(text.clone(), false), span });
                self.at += 1;
                Ok(if negative { Expr::UnaryOp { op: ast::UnaryOperator::Minus, expr: Box::new(value) } } else { value })
            }
            _ if signed => Err(self.unexpected()),
            _ => self.operand(),
        }
    }

    /// Behind FOR.
    fn locking(&mut self, query: &mut Query) -> Parse<()> {
        let span = self.span();
        if self.keywords(&["read", "only"]) {
            return Ok(());
        }
        let strength = if self.keyword("update") {
            Strength::Update
        } else if self.keyword("share") {
            Strength::Share
        } else if self.keywords(&["no", "key", "update"]) {
            Strength::NoKeyUpdate
        } else if self.keywords(&["key", "share"]) {
            Strength::KeyShare
        } else {
            return Err(self.unexpected());
        };
        let lock_type = if strength <= Strength::Share { ast::LockType::Share } else { ast::LockType::Update };
        let mut parts = vec![Ident::with_span(span, strength.clause())];
        if self.keyword("of") {
            let names = self.list(|p| {
                let at = p.span().start;
                let name = p.object_name()?;
                if name.0.len() > 1 {
                    return Err(SyntaxError::at(p.sql, &format!("{} must specify unqualified relation names", strength.clause()), at));
                }
                Ok(name)
            })?;
            parts.extend(names.into_iter().flat_map(|n| n.0).filter_map(|p| p.as_ident().cloned()));
        }
        let nonblock = if self.keyword("nowait") {
            Some(ast::NonBlock::Nowait)
        } else if self.keywords(&["skip", "locked"]) {
            Some(ast::NonBlock::SkipLocked)
        } else {
            None
        };
        query.locks.push(ast::LockClause { lock_type, of: Some(ObjectName::from(parts)), nonblock });
        Ok(())
    }
}

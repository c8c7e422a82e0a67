//! Queries: WITH, SELECT, VALUES, set operations, FROM, ORDER BY, limits and locks.

use super::alias::with_undeclared;
use super::{Parse, Parser};
use crate::SyntaxError;
use crate::ast::{self, Expr, Ident, ObjectName, Query, Select, SelectItem, SetExpr, TableFactor, TableWithJoins};
use crate::keywords::Class;
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

/// A table by name, without anything else.
pub(super) fn table_factor(name: ObjectName, alias: Option<ast::TableAlias>) -> TableFactor {
    TableFactor::Table {
        name,
        alias,
        args: None,
        with_hints: Vec::new(),
        version: None,
        with_ordinality: false,
        partitions: Vec::new(),
        json_path: None,
        sample: None,
        index_hints: Vec::new(),
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

    /// A literal, of a type or of none.
    fn constant(&mut self) -> Parse<Expr> {
        let start = self.at;
        let out = self.operand()?;
        if matches!(out, Expr::Value(_) | Expr::TypedString(_) | Expr::Interval(_)) {
            return Ok(out);
        }
        // A name may begin one; what is behind it does not go on.
        self.at = start + usize::from(matches!(self.peek(0), Some(Token::Word(_))));
        Err(self.unexpected())
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
                    if p.peek(0) == Some(&Token::LParen) && (p.peek_any(1, &["rollup", "cube"]) || p.peek_keyword(1, "grouping")) {
                        p.at += 1;
                        let inner = p.grouping_item()?;
                        return p.expect_token(&Token::RParen).map(|_| vec![inner]);
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

    pub(super) fn table_list(&mut self) -> Parse<Vec<TableWithJoins>> {
        self.list(Self::table_ref)
    }

    pub(super) fn table_ref(&mut self) -> Parse<TableWithJoins> {
        self.nested(|p| {
            let relation = p.table_factor()?;
            p.joins(relation)
        })
    }

    fn at_join(&self) -> bool {
        self.peek_any(0, &["cross", "join", "inner", "left", "right", "full", "natural"])
    }

    /// The joins behind a table.
    fn joins(&mut self, relation: TableFactor) -> Parse<TableWithJoins> {
        let mut out = TableWithJoins { relation, joins: Vec::new() };
        while self.at_join() {
            out.joins.push(self.join()?);
        }
        Ok(out)
    }

    /// One join: its words, its right side and its condition.
    fn join(&mut self) -> Parse<ast::Join> {
        use ast::JoinOperator as J;
        if self.keyword("cross") {
            self.expect("join")?;
            let relation = self.table_factor()?;
            return Ok(ast::Join { relation, global: false, join_operator: J::CrossJoin(ast::JoinConstraint::None) });
        }
        let natural = self.keyword("natural");
        let kind: fn(ast::JoinConstraint) -> J = if self.keyword("left") {
            self.keyword("outer");
            J::LeftOuter
        } else if self.keyword("right") {
            self.keyword("outer");
            J::RightOuter
        } else if self.keyword("full") {
            self.keyword("outer");
            J::FullOuter
        } else {
            self.keyword("inner");
            J::Inner
        };
        self.expect("join")?;
        let mut relation = self.table_factor()?;
        if natural {
            return Ok(ast::Join { relation, global: false, join_operator: kind(ast::JoinConstraint::Natural) });
        }
        // a JOIN b JOIN c ON … ON …: the right side is a join itself.
        while self.at_join() {
            let inner = self.nested(Self::join)?;
            let joined = TableWithJoins { relation, joins: vec![inner] };
            relation = TableFactor::NestedJoin { table_with_joins: Box::new(joined), alias: None };
        }
        let constraint = if self.keyword("on") {
            ast::JoinConstraint::On(self.expr()?)
        } else if self.keyword("using") {
            self.expect_token(&Token::LParen)?;
            let mut columns: Vec<ObjectName> = self.idents()?.into_iter().map(ObjectName::from).collect();
            self.expect_token(&Token::RParen)?;
            if self.keyword("as") {
                let name = self.ident()?;
                columns.push(ObjectName(vec![marks::part(marks::USING_ALIAS, vec![Expr::Identifier(name)])]));
            }
            ast::JoinConstraint::Using(columns)
        } else {
            return Err(self.unexpected());
        };
        Ok(ast::Join { relation, global: false, join_operator: kind(constraint) })
    }

    /// `name`, `name *`, `ONLY name`, `ONLY (name)`: there is no inheritance, all mean the same.
    pub(super) fn relation_name(&mut self) -> Parse<ObjectName> {
        if self.keyword("only") {
            let parens = self.token(&Token::LParen);
            let name = self.object_name()?;
            if parens {
                self.expect_token(&Token::RParen)?;
            }
            return Ok(name);
        }
        let name = self.object_name()?;
        self.token(&Token::Mul);
        Ok(name)
    }

    fn table_factor(&mut self) -> Parse<TableFactor> {
        let lateral = self.keyword("lateral");
        if self.peek(0) == Some(&Token::LParen) {
            let paren = self.span();
            if self.query_in_parens(0) {
                let subquery = self.query_with_parens()?;
                let alias = self.alias(false)?;
                if alias.is_none() {
                    return Err(SyntaxError::at(
                        self.sql,
                        if matches!(&*subquery.body, SetExpr::Values(_)) {
                            "VALUES in FROM must have an alias"
                        } else {
                            "subquery in FROM must have an alias"
                        },
                        paren.start,
                    )
                    .with_hint(if matches!(&*subquery.body, SetExpr::Values(_)) {
                        "For example, FROM (VALUES ...) [AS] foo."
                    } else {
                        "For example, FROM (SELECT ...) [AS] foo."
                    }));
                }
                return Ok(TableFactor::Derived { lateral, subquery, alias, sample: None });
            }
            if lateral {
                self.at += 1;
                return Err(self.unexpected());
            }
            self.at += 1;
            let joined = self.table_ref()?;
            if joined.joins.is_empty() && !matches!(joined.relation, TableFactor::NestedJoin { .. }) {
                return Err(self.unexpected());
            }
            self.expect_token(&Token::RParen)?;
            let alias = self.alias(false)?;
            return Ok(TableFactor::NestedJoin { table_with_joins: Box::new(joined), alias });
        }
        if self.peek_keyword(0, "rows") && self.peek_keyword(1, "from") && self.peek(2) == Some(&Token::LParen) {
            return self.rows_from(lateral);
        }
        if self.peek_keyword(0, "only") {
            let name = self.relation_name()?;
            let alias = self.alias(false)?;
            return Ok(table_factor(name, alias));
        }
        // A function's name may be a word that no table may have.
        let start = self.at;
        let function = self.is_function_name();
        self.at = start;
        let named = if function && !lateral { self.table_with_undeclared() } else { None };
        if (lateral || function) && named.is_none() {
            let call = self.expr_call()?;
            return self.function_factor(call, lateral);
        }
        let (name, undeclared) = match named {
            Some(named) => named,
            None => (self.object_name()?, Vec::new()),
        };
        self.token(&Token::Mul);
        let mut version = self.version()?;
        let alias = self.table_alias()?;
        let alias = with_undeclared(&name, alias, undeclared);
        // Behind the alias is where sqlparser prints it.
        if version.is_none() {
            version = self.version()?;
        }
        let mut factor = table_factor(name, alias);
        if let TableFactor::Table { version: v, sample, .. } = &mut factor {
            *v = version;
            if self.keyword("tablesample") {
                *sample = Some(ast::TableSampleKind::AfterTableAlias(Box::new(self.sample()?)));
            }
        }
        Ok(factor)
    }

    /// Whether a name with a parenthesis behind it comes next, or a function that needs none.
    fn is_function_name(&self) -> bool {
        if self.peek_any(
            0,
            &[
                "current_date",
                "current_time",
                "current_timestamp",
                "localtime",
                "localtimestamp",
                "current_user",
                "session_user",
                "user",
                "current_role",
                "current_catalog",
            ],
        ) {
            return true;
        }
        if self.peek_keyword(0, "collation") && self.peek_keyword(1, "for") {
            return true;
        }
        let mut at = 0;
        loop {
            if !self.is_word(at) {
                return false;
            }
            match self.peek(at + 1) {
                Some(Token::LParen) => return true,
                Some(Token::Period) => at += 2,
                _ => return false,
            }
        }
    }

    /// A call in FROM.
    fn expr_call(&mut self) -> Parse<Expr> {
        match self.class(0) {
            Some((Class::ColumnName, _)) => {
                let spelt = ["coalesce", "extract", "greatest", "least", "normalize", "nullif", "overlay", "position", "substring", "trim"];
                if !self.peek_any(0, &spelt) || self.peek(1) != Some(&Token::LParen) {
                    self.at += 1;
                    return Err(self.unexpected());
                }
                self.special()
            }
            _ => self.expr_operand(),
        }
    }

    fn expr_operand(&mut self) -> Parse<Expr> {
        // An operand that is a call: what is not is an error at its name.
        let at = self.at;
        let out = self.operand()?;
        if matches!(
            out,
            Expr::Function(_)
                | Expr::Extract { .. }
                | Expr::Substring { .. }
                | Expr::Trim { .. }
                | Expr::Overlay { .. }
                | Expr::Position { .. }
        ) {
            return Ok(out);
        }
        self.at = at;
        Err(self.unexpected())
    }

    fn function_factor(&mut self, call: Expr, lateral: bool) -> Parse<TableFactor> {
        let with_ordinality = self.keywords(&["with", "ordinality"]);
        let alias = self.alias(true)?;
        let Some(function) = plain_function(call) else {
            return Err(self.unsupported("this function is not supported in FROM"));
        };
        let args = match function.args {
            ast::FunctionArguments::List(list) if list.clauses.is_empty() && list.duplicate_treatment.is_none() => list.args,
            ast::FunctionArguments::None => Vec::new(),
            _ => return Err(self.unsupported("aggregate functions are not allowed in FROM")),
        };
        if function.over.is_some() || function.filter.is_some() || !function.within_group.is_empty() {
            return Err(self.unexpected());
        }
        Ok(TableFactor::Function { lateral, name: function.name, args, with_ordinality, alias })
    }

    fn rows_from(&mut self, lateral: bool) -> Parse<TableFactor> {
        self.at += 3;
        let calls = self.list(|p| {
            let call = p.expr_call()?;
            if p.keyword("as") {
                return Err(p.unsupported("a column definition list in ROWS FROM is not supported"));
            }
            let Some(call) = plain_function(call) else {
                return Err(p.unsupported("this function is not supported in FROM"));
            };
            Ok(ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(Expr::Function(call))))
        })?;
        self.expect_token(&Token::RParen)?;
        let with_ordinality = self.keywords(&["with", "ordinality"]);
        let alias = self.alias(true)?;
        let name = ObjectName::from(vec![Ident::new(marks::ROWS_FROM)]);
        Ok(TableFactor::Function { lateral, name, args: calls, with_ordinality, alias })
    }

    fn sample(&mut self) -> Parse<ast::TableSample> {
        let at = self.span().start;
        let name = self.object_name()?;
        let method = match name.to_string().to_lowercase().as_str() {
            "bernoulli" => ast::TableSampleMethod::Bernoulli,
            "system" => ast::TableSampleMethod::System,
            other => {
                return Err(SyntaxError::new(
                    b"42704",
                    format!("tablesample method {other} does not exist"),
                    Some(crate::char_offset(self.sql, at) + 1),
                ));
            }
        };
        self.expect_token(&Token::LParen)?;
        let mut args = self.exprs()?;
        self.expect_token(&Token::RParen)?;
        if args.len() != 1 {
            let message = format!("tablesample method {name} requires 1 argument, not {}", args.len());
            return Err(SyntaxError::new(b"2202H", message, Some(crate::char_offset(self.sql, at) + 1)));
        }
        let seed = if self.keyword("repeatable") {
            self.expect_token(&Token::LParen)?;
            let negative = self.token(&Token::Minus);
            let value = match self.expr()? {
                Expr::Value(mut value) => {
                    if let (true, ast::Value::Number(n, _)) = (negative, &mut value.value) {
                        n.insert(0, '-');
                    }
                    value
                }
                _ => return Err(self.unsupported("REPEATABLE takes a constant")),
            };
            self.expect_token(&Token::RParen)?;
            Some(ast::TableSampleSeed { modifier: ast::TableSampleSeedModifier::Repeatable, value })
        } else {
            None
        };
        Ok(ast::TableSample {
            modifier: ast::TableSampleModifier::TableSample,
            name: Some(method),
            quantity: Some(ast::TableSampleQuantity { parenthesized: true, value: args.remove(0), unit: None }),
            seed,
            bucket: None,
            offset: None,
        })
    }

    pub(super) fn with_clause(&mut self) -> Parse<Option<ast::With>> {
        let start = self.at;
        if !self.keyword("with") {
            return Ok(None);
        }
        // WITH recursive [(a)] AS …: a query of that name.
        let named = self.peek(1) == Some(&Token::LParen) || self.peek_keyword(1, "as");
        let recursive = !named && self.keyword("recursive");
        let cte_tables = self.list(|p| p.nested(Self::cte))?;
        Ok(Some(ast::With { with_token: self.attached(start), recursive, cte_tables }))
    }

    fn cte(&mut self) -> Parse<ast::Cte> {
        let name = self.ident()?;
        let mut columns = if self.peek(0) == Some(&Token::LParen) { self.alias_columns(false)? } else { Vec::new() };
        self.expect("as")?;
        let materialized = if self.keywords(&["not", "materialized"]) {
            Some(ast::CteAsMaterialized::NotMaterialized)
        } else if self.keyword("materialized") {
            Some(ast::CteAsMaterialized::Materialized)
        } else {
            None
        };
        self.expect_token(&Token::LParen)?;
        if !self.at_statement() {
            return Err(self.unexpected());
        }
        let query = match self.preparable()? {
            ast::Statement::Query(query) => query,
            other => Box::new(plain_query(super::dml::as_set_expr(other))),
        };
        let closing_paren_token = self.attached(self.at);
        self.expect_token(&Token::RParen)?;
        let mut mark = |name: &str, parts: ObjectName| {
            let data_type = Some(ast::DataType::Custom(parts, Vec::new()));
            columns.push(ast::TableAliasColumnDef { name: Ident::new(name), data_type });
        };
        if self.peek_keyword(0, "search") {
            self.at += 1;
            let [depth, breadth] = marks::SEARCH;
            let order = if self.keyword("depth") {
                depth
            } else {
                self.expect("breadth")?;
                breadth
            };
            self.expect("first")?;
            self.expect("by")?;
            let mut parts = self.idents()?;
            self.expect("set")?;
            parts.push(self.ident()?);
            mark(order, ObjectName::from(parts));
        }
        if self.peek_keyword(0, "cycle") {
            self.at += 1;
            let mut parts = self.idents()?;
            self.expect("set")?;
            parts.push(self.ident()?);
            let boolean = |value| Expr::Value(ast::Value::Boolean(value).with_empty_span());
            let (mut value, mut default) = (boolean(true), boolean(false));
            if self.keyword("to") {
                value = self.constant()?;
                self.expect("default")?;
                default = self.constant()?;
            }
            self.expect("using")?;
            parts.push(self.ident()?);
            let mut parts = ObjectName::from(parts);
            parts.0.push(marks::part(marks::VALUES, vec![value, default]));
            mark(marks::CYCLE, parts);
        }
        Ok(ast::Cte {
            // AS stands behind it; sqlparser would print one before it, too.
            alias: ast::TableAlias { explicit: false, name, columns, at: None },
            query,
            from: None,
            materialized,
            closing_paren_token,
        })
    }
}

/// What SQL spells in its own way, as the call that it stands for.
fn plain_function(call: Expr) -> Option<ast::Function> {
    let (name, args) = match call {
        Expr::Function(function) => return Some(function),
        Expr::Extract { field: ast::DateTimeField::Custom(field), expr, .. } => {
            let field = ast::Value::SingleQuotedString(field.value.to_lowercase());
            ("extract", vec![Expr::Value(field.into()), *expr])
        }
        Expr::Position { expr, r#in } => ("position", vec![*r#in, *expr]),
        Expr::Substring { expr, substring_from: Some(from), substring_for, .. } => {
            ("substring", [Some(*expr), Some(*from), substring_for.map(|n| *n)].into_iter().flatten().collect())
        }
        Expr::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
            let args = [Some(*expr), Some(*overlay_what), Some(*overlay_from), overlay_for.map(|n| *n)];
            ("overlay", args.into_iter().flatten().collect())
        }
        Expr::Trim { trim_where, trim_what, expr, trim_characters } => {
            let name = match trim_where {
                Some(ast::TrimWhereField::Leading) => "ltrim",
                Some(ast::TrimWhereField::Trailing) => "rtrim",
                _ => "btrim",
            };
            (name, std::iter::once(*expr).chain(trim_what.map(|w| *w)).chain(trim_characters.into_iter().flatten()).collect())
        }
        _ => return None,
    };
    match super::call::plain_call(Ident::with_quote('"', name), args) {
        Expr::Function(function) => Some(function),
        _ => None,
    }
}

//! FROM: tables, joins, subqueries and functions, with what stands behind their names.

use super::alias::with_undeclared;
use super::{Parse, Parser};
use crate::SyntaxError;
use crate::ast::{self, Expr, Ident, ObjectName, SetExpr, TableFactor, TableWithJoins};
use crate::keywords::Class;
use crate::marks;
use sqlparser::tokenizer::Token;

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
            // ALL is what there is without a word, also where nothing is aggregated.
            ast::FunctionArguments::List(list)
                if list.clauses.is_empty() && list.duplicate_treatment != Some(ast::DuplicateTreatment::Distinct) =>
            {
                list.args
            }
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
            let columns = if p.keyword("as") { p.column_definitions()? } else { Vec::new() };
            let Some(mut call) = plain_function(call) else {
                return Err(p.unsupported("this function is not supported in FROM"));
            };
            if !columns.is_empty() {
                marks::define(&mut call, columns);
            }
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

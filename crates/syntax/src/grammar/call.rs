//! Calls: arguments, FILTER, WITHIN GROUP, OVER; and the functions whose arguments SQL spells with words.

use super::{Parse, Parser};
use crate::ast::{
    self, BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArguments, Ident, ObjectName,
    Value, ValueWithSpan,
};
use crate::marks;
use sqlparser::tokenizer::Token;

fn argument(expr: Expr) -> FunctionArg {
    FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))
}

/// A call of a function by an unquoted name.
pub(crate) fn plain_call(name: Ident, args: Vec<Expr>) -> Expr {
    Expr::Function(marks::function(name, args))
}

fn listed_call(name: Ident, args: Vec<FunctionArg>) -> Expr {
    let mut call = marks::function(name, Vec::new());
    call.args = FunctionArguments::List(ast::FunctionArgumentList { duplicate_treatment: None, args, clauses: Vec::new() });
    Expr::Function(call)
}

/// Whether it is written as a row.
pub(super) fn is_row(expr: &Expr) -> bool {
    match expr {
        Expr::Tuple(_) => true,
        Expr::Function(call) => {
            matches!(call.name.0.as_slice(), [ast::ObjectNamePart::Identifier(name)] if name.quote_style.is_none() && name.value.eq_ignore_ascii_case("row"))
        }
        _ => false,
    }
}

impl Parser<'_> {
    /// An operand, or two rows with OVERLAPS between them, which bind closer than any operator.
    pub(super) fn operand_or_overlaps(&mut self, restricted: bool) -> Parse<Expr> {
        let left = self.operand()?;
        if restricted || !is_row(&left) || !self.keyword("overlaps") {
            return Ok(left);
        }
        let start = self.at;
        let right = if self.peek(0) == Some(&Token::LParen) { self.parenthesized()? } else { self.operand()? };
        if !is_row(&right) {
            self.at = start;
            return Err(self.unexpected());
        }
        Ok(Expr::BinaryOp { left: Box::new(left), op: BinaryOperator::Overlaps, right: Box::new(right) })
    }

    /// Behind the name of a function, at the parenthesis.
    pub(super) fn call(&mut self, parts: Vec<Ident>) -> Parse<Expr> {
        self.nested(|p| p.call_of(parts))
    }

    fn call_of(&mut self, parts: Vec<Ident>) -> Parse<Expr> {
        let mut name = ObjectName::from(parts);
        // Hyperdrive's structs are objects.
        if let [ast::ObjectNamePart::Identifier(only)] = name.0.as_mut_slice()
            && only.quote_style.is_none()
            && only.value.eq_ignore_ascii_case("named_struct")
        {
            only.value = "jsonb_build_object".into();
        }
        self.expect_token(&Token::LParen)?;
        let mut list = ast::FunctionArgumentList { duplicate_treatment: None, args: Vec::new(), clauses: Vec::new() };
        if self.peek(0) == Some(&Token::Mul) {
            self.at += 1;
            list.args.push(FunctionArg::Unnamed(FunctionArgExpr::Wildcard));
        } else if self.peek(0) != Some(&Token::RParen) {
            if self.keyword("distinct") {
                list.duplicate_treatment = Some(ast::DuplicateTreatment::Distinct);
            } else if self.keyword("all") {
                list.duplicate_treatment = Some(ast::DuplicateTreatment::All);
            }
            loop {
                let variadic = list.duplicate_treatment.is_none() && self.keyword("variadic");
                let mut arg = self.function_argument()?;
                if variadic {
                    arg = match arg {
                        FunctionArg::Unnamed(FunctionArgExpr::Expr(value)) => {
                            argument(Expr::Prefixed { prefix: Ident::new(marks::VARIADIC), value: Box::new(value) })
                        }
                        _ => return Err(self.unsupported("VARIADIC with a named argument is not supported")),
                    };
                }
                list.args.push(arg);
                if variadic || !self.token(&Token::Comma) {
                    break;
                }
            }
            if self.peek_keyword(0, "order") {
                list.clauses.push(FunctionArgumentClause::OrderBy(self.order_by()?));
            }
        }
        self.expect_token(&Token::RParen)?;
        let listed = |arg: &FunctionArg| !matches!(arg, FunctionArg::Unnamed(FunctionArgExpr::Wildcard));
        let plain = list.clauses.is_empty() && list.duplicate_treatment.is_none();
        if plain && !list.args.is_empty() && list.args.iter().all(listed) && self.is_string() {
            // numeric(4,2) '1.5'
            return self.typed_literal(name, &list);
        }
        let mut function = Function {
            name,
            uses_odbc_syntax: false,
            parameters: FunctionArguments::None,
            args: FunctionArguments::List(list),
            filter: None,
            null_treatment: None,
            over: None,
            within_group: Vec::new(),
        };
        if self.peek_keyword(0, "within") && self.peek_keyword(1, "group") {
            self.at += 2;
            self.expect_token(&Token::LParen)?;
            function.within_group = self.order_by()?;
            self.expect_token(&Token::RParen)?;
        }
        if self.peek_keyword(0, "filter") && self.peek(1) == Some(&Token::LParen) {
            self.at += 2;
            self.expect("where")?;
            function.filter = Some(Box::new(self.expr()?));
            self.expect_token(&Token::RParen)?;
        }
        if self.peek_keyword(0, "over") && (self.peek(1) == Some(&Token::LParen) || self.is_column_id(1)) {
            self.at += 1;
            function.over = Some(if self.peek(0) == Some(&Token::LParen) {
                ast::WindowType::WindowSpec(self.window_spec()?)
            } else {
                ast::WindowType::NamedWindow(self.ident()?)
            });
        }
        Ok(Expr::Function(function))
    }

    fn is_string(&self) -> bool {
        matches!(self.peek(0), Some(Token::SingleQuotedString(_) | Token::EscapedStringLiteral(_) | Token::DollarQuotedString(_)))
    }

    fn typed_literal(&mut self, name: ObjectName, list: &ast::FunctionArgumentList) -> Parse<Expr> {
        let modifiers = list.args.iter().map(ToString::to_string).collect();
        match self.string_value() {
            Some(value) => {
                Ok(Expr::TypedString(ast::TypedString { data_type: super::types::named(name, modifiers), value, uses_odbc_syntax: false }))
            }
            None => Err(self.unexpected()),
        }
    }

    pub(super) fn function_argument(&mut self) -> Parse<FunctionArg> {
        let operator = match self.peek(1) {
            Some(Token::RArrow) => Some(ast::FunctionArgOperator::RightArrow),
            Some(Token::Assignment) => Some(ast::FunctionArgOperator::Assignment),
            _ => None,
        };
        if let Some(operator) = operator
            && self.is_function_id(0)
        {
            let name = self.label()?;
            self.at += 1;
            return Ok(FunctionArg::Named { name, arg: FunctionArgExpr::Expr(self.expr()?), operator });
        }
        Ok(argument(self.expr()?))
    }

    /// `(existing PARTITION BY … ORDER BY … frame)`
    pub(super) fn window_spec(&mut self) -> Parse<ast::WindowSpec> {
        self.expect_token(&Token::LParen)?;
        let mut spec = ast::WindowSpec { window_name: None, partition_by: Vec::new(), order_by: Vec::new(), window_frame: None };
        if self.is_column_id(0) && !self.peek_any(0, &["partition", "range", "rows", "groups"]) {
            spec.window_name = Some(self.ident()?);
        }
        if self.keyword("partition") {
            self.expect("by")?;
            spec.partition_by = self.exprs()?;
        }
        if self.peek_keyword(0, "order") {
            spec.order_by = self.order_by()?;
        }
        let units = if self.keyword("rows") {
            Some(ast::WindowFrameUnits::Rows)
        } else if self.keyword("range") {
            Some(ast::WindowFrameUnits::Range)
        } else if self.keyword("groups") {
            Some(ast::WindowFrameUnits::Groups)
        } else {
            None
        };
        if let Some(units) = units {
            let (start_bound, end_bound) = if self.keyword("between") {
                let start = self.frame_bound()?;
                self.expect("and")?;
                (start, Some(self.frame_bound()?))
            } else {
                (self.frame_bound()?, None)
            };
            spec.window_frame = Some(ast::WindowFrame { units, start_bound, end_bound });
            if self.keyword("exclude") {
                let [row, group, ties] = marks::EXCLUDE;
                let what = if self.keywords(&["current", "row"]) {
                    Some(row)
                } else if self.keyword("group") {
                    Some(group)
                } else if self.keyword("ties") {
                    Some(ties)
                } else {
                    self.expect("no")?;
                    self.expect("others")?;
                    None
                };
                if let Some(what) = what {
                    spec.partition_by.push(Expr::Function(marks::call(what, Vec::new())));
                }
            }
        }
        self.expect_token(&Token::RParen)?;
        Ok(spec)
    }

    fn frame_bound(&mut self) -> Parse<ast::WindowFrameBound> {
        use ast::WindowFrameBound as B;
        if self.keywords(&["current", "row"]) {
            return Ok(B::CurrentRow);
        }
        let offset = if self.peek_keyword(0, "unbounded") && self.peek_any(1, &["preceding", "following"]) {
            self.at += 1;
            None
        } else {
            Some(Box::new(self.expr()?))
        };
        if self.keyword("preceding") {
            Ok(B::Preceding(offset))
        } else {
            self.expect("following")?;
            Ok(B::Following(offset))
        }
    }

    /// Words that are a column's name, or begin what SQL spells in its own way.
    pub(super) fn special(&mut self) -> Parse<Expr> {
        let next_is_paren = self.peek(1) == Some(&Token::LParen);
        if let Some(data_type) = self.literal_type()? {
            let data_type = match data_type {
                super::types::LiteralType::Interval(precision) => return self.interval_literal(precision),
                super::types::LiteralType::Other(data_type) => data_type,
            };
            return match self.string_value() {
                Some(value) => Ok(Expr::TypedString(ast::TypedString { data_type, value, uses_odbc_syntax: false })),
                None => Err(self.unexpected()),
            };
        }
        if next_is_paren {
            let name = self.label()?;
            return self.nested(|p| p.special_call(name));
        }
        let name = self.label()?;
        let mut parts = vec![name];
        while self.peek(0) == Some(&Token::Period) && matches!(self.peek(1), Some(Token::Word(_))) {
            self.at += 1;
            parts.push(self.label()?);
        }
        if parts.len() > 1 && self.peek(0) == Some(&Token::LParen) {
            return self.call(parts);
        }
        let root = match <[Ident; 1]>::try_from(parts) {
            Ok([one]) => Expr::Identifier(one),
            Err(parts) => Expr::CompoundIdentifier(parts),
        };
        self.indirection(root)
    }

    fn interval_literal(&mut self, precision: Option<u64>) -> Parse<Expr> {
        let Some(value) = self.string_value() else { return Err(self.unexpected()) };
        let mut interval = ast::Interval {
            value: Box::new(Expr::Value(value)),
            leading_field: None,
            leading_precision: precision,
            last_field: None,
            fractional_seconds_precision: None,
        };
        if precision.is_none()
            && let Some((first, last, seconds)) = self.interval_fields()?
        {
            interval.leading_field = Some(first);
            interval.last_field = last;
            interval.fractional_seconds_precision = seconds;
        }
        Ok(Expr::Interval(interval))
    }

    fn special_call(&mut self, name: Ident) -> Parse<Expr> {
        let word = name.value.to_ascii_lowercase();
        match word.as_str() {
            "exists" => {
                if !self.query_in_parens(0) {
                    self.at += 1;
                    return Err(self.unexpected());
                }
                Ok(Expr::Exists { subquery: self.query_with_parens()?, negated: false })
            }
            "extract" => {
                self.expect_token(&Token::LParen)?;
                let field = match self.peek(0) {
                    Some(Token::Word(_))
                        if self.class(0).is_none() || self.peek_any(0, &["year", "month", "day", "hour", "minute", "second"]) =>
                    {
                        self.label()?
                    }
                    Some(Token::Word(_)) => return Err(self.unexpected()),
                    _ => match self.string_value() {
                        Some(ValueWithSpan { value, span }) => {
                            Ident { value: value.into_string().unwrap_or_default(), quote_style: Some('\''), span }
                        }
                        None => return Err(self.unexpected()),
                    },
                };
                self.expect("from")?;
                let expr = Box::new(self.expr()?);
                self.expect_token(&Token::RParen)?;
                Ok(Expr::Extract { field: ast::DateTimeField::Custom(field), syntax: ast::ExtractSyntax::From, expr })
            }
            "position" => {
                self.expect_token(&Token::LParen)?;
                let expr = Box::new(self.b_expr()?);
                self.expect("in")?;
                let inside = Box::new(self.b_expr()?);
                self.expect_token(&Token::RParen)?;
                Ok(Expr::Position { expr, r#in: inside })
            }
            "substring" => self.substring(name),
            "overlay" => self.overlay(name),
            "trim" => self.trim(),
            "normalize" => {
                self.expect_token(&Token::LParen)?;
                let mut name = name;
                let mut args = vec![self.expr()?];
                if self.token(&Token::Comma) {
                    // Printed with a literal for the form, this is a call of the function, which needs its name in quotes.
                    name.quote_style = Some('"');
                    let span = self.span();
                    let Some(form) = self.normalization_form() else { return Err(self.unexpected()) };
                    args.push(Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(form.to_string()), span }));
                }
                self.expect_token(&Token::RParen)?;
                Ok(plain_call(name, args))
            }
            "treat" => Err(self.unsupported("TREAT is not supported")),
            "coalesce" | "greatest" | "least" | "grouping" | "nullif" => {
                self.expect_token(&Token::LParen)?;
                let mut args = vec![self.expr()?];
                while (word != "nullif" || args.len() < 2) && self.token(&Token::Comma) {
                    args.push(self.expr()?);
                }
                if word == "nullif" && args.len() < 2 {
                    return Err(self.unexpected());
                }
                self.expect_token(&Token::RParen)?;
                Ok(plain_call(name, args))
            }
            "row" => {
                self.expect_token(&Token::LParen)?;
                let args = if self.peek(0) == Some(&Token::RParen) { Vec::new() } else { self.exprs()? };
                self.expect_token(&Token::RParen)?;
                Ok(plain_call(name, args))
            }
            _ if word.starts_with("xml") => Err(self.unsupported("XML is not supported")),
            // BETWEEN (, INT (, VALUES ( and the like name no function.
            _ => Err(self.unexpected()),
        }
    }

    fn substring(&mut self, name: Ident) -> Parse<Expr> {
        self.expect_token(&Token::LParen)?;
        if self.token(&Token::RParen) {
            return Ok(plain_call(name, Vec::new()));
        }
        let first = match self.function_argument()? {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(first)) => first,
            named => return self.rest_of_list(name, named),
        };
        if self.keyword("similar") {
            let pattern = self.expr()?;
            self.expect("escape")?;
            let escape = self.expr()?;
            self.expect_token(&Token::RParen)?;
            return Ok(plain_call(name, vec![first, pattern, escape]));
        }
        if !self.peek_any(0, &["from", "for"]) {
            return self.rest_of_list(name, argument(first));
        }
        let (mut from, mut length) = (None, None);
        loop {
            if from.is_none() && self.keyword("from") {
                from = Some(Box::new(self.expr()?));
            } else if length.is_none() && self.keyword("for") {
                length = Some(Box::new(self.expr()?));
            } else {
                break;
            }
        }
        self.expect_token(&Token::RParen)?;
        Ok(Expr::Substring { expr: Box::new(first), substring_from: from, substring_for: length, special: false, shorthand: false })
    }

    /// What follows the first argument of a call whose arguments are listed after all.
    fn rest_of_list(&mut self, name: Ident, first: FunctionArg) -> Parse<Expr> {
        let mut args = vec![first];
        while self.token(&Token::Comma) {
            args.push(self.function_argument()?);
        }
        self.expect_token(&Token::RParen)?;
        Ok(listed_call(name, args))
    }

    fn overlay(&mut self, name: Ident) -> Parse<Expr> {
        self.expect_token(&Token::LParen)?;
        let first = match self.function_argument()? {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(first)) => first,
            named => return self.rest_of_list(name, named),
        };
        if !self.keyword("placing") {
            return self.rest_of_list(name, argument(first));
        }
        let what = Box::new(self.expr()?);
        self.expect("from")?;
        let from = Box::new(self.expr()?);
        let length = if self.keyword("for") { Some(Box::new(self.expr()?)) } else { None };
        self.expect_token(&Token::RParen)?;
        Ok(Expr::Overlay { expr: Box::new(first), overlay_what: what, overlay_from: from, overlay_for: length })
    }

    fn trim(&mut self) -> Parse<Expr> {
        self.expect_token(&Token::LParen)?;
        let trim_where = if self.keyword("both") {
            Some(ast::TrimWhereField::Both)
        } else if self.keyword("leading") {
            Some(ast::TrimWhereField::Leading)
        } else if self.keyword("trailing") {
            Some(ast::TrimWhereField::Trailing)
        } else {
            None
        };
        let mut list = if self.keyword("from") {
            self.exprs()?
        } else {
            let first = self.expr()?;
            if self.keyword("from") {
                let mut list = self.exprs()?;
                list.push(first);
                list
            } else {
                let mut list = vec![first];
                while self.token(&Token::Comma) {
                    list.push(self.expr()?);
                }
                list
            }
        };
        self.expect_token(&Token::RParen)?;
        let expr = Box::new(list.remove(0));
        Ok(Expr::Trim { trim_where, trim_what: None, expr, trim_characters: (!list.is_empty()).then_some(list) })
    }
}

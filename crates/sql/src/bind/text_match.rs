//! MATCH … AGAINST, score, snippet and contains: what they mean in a statement.

use super::expr::{and, or};
use super::{Binder, bind_table_expr, fold, name_parts};
use crate::catalog::deparse::quote_name;
use crate::fulltext::contains::Condition;
use crate::fulltext::matching::{
    EXPLAINED, EXPLAINED_FUNCTION, MATCH, MATCH_FUNCTION, MatchColumn, MatchConfig, Mode, SNIPPET, SNIPPET_FUNCTION,
};
use crate::fulltext::settings::Settings;
use crate::typed::tree::{ColId, Expr, ExprKind, FuncRef};
use crate::typed::walk::columns_of;
use datafusion_common::ScalarValue;
use std::ops::ControlFlow;
use stoa_pg::registry::CastContext;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_syntax::ast::{self, Expr as E};
use stoa_syntax::marks;
use stoa_table::catalog::FULLTEXT_METHOD as METHOD;
use stoa_table::catalog::{ColumnId, IndexDescriptor, IndexKey, IndexPart, IndexState, TableDescriptor};

/// A MATCH of the statement: what a snippet marks.
#[derive(Clone, Debug)]
pub struct MatchUse {
    config: String,
    search: Expr,
    columns: Vec<Expr>,
    /// The index that says what words are, and where in it the columns are.
    index: Option<(u32, Vec<usize>)>,
}

fn text(value: &str) -> Expr {
    Expr::new(ExprKind::Const(ScalarValue::Utf8View(Some(value.to_owned()))), SqlType::new(PgType::Text))
}

fn constant_text(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Const(ScalarValue::Utf8View(Some(text)) | ScalarValue::Utf8(Some(text))) => Some(text),
        _ => None,
    }
}

/// What a search string may call a column of a MATCH: its name, or the last name on the way to it in a document.
fn name_of(column: &E) -> String {
    match column {
        E::Identifier(ident) => fold(ident),
        E::CompoundIdentifier(parts) => parts.last().map(fold).unwrap_or_default(),
        E::Nested(inner) | E::Cast { expr: inner, .. } => name_of(inner),
        E::BinaryOp { right, .. } => name_of(right),
        E::Value(value) => match &value.value {
            ast::Value::SingleQuotedString(text) => text.trim_matches(['{', '}']).rsplit(',').next().unwrap_or_default().to_owned(),
            _ => "?".into(),
        },
        _ => "?".into(),
    }
}

/// Whether a table has a full text index that can be searched.
pub fn is_searchable(table: &TableDescriptor) -> bool {
    table.indexes.iter().any(|i| i.is_fulltext() && i.state == IndexState::Readable)
}

/// Whether a select list calls what shows why a row was found.
pub fn has_snippet(list: &[ast::SelectItem]) -> bool {
    struct Finder;

    impl ast::Visitor for Finder {
        type Break = ();

        fn pre_visit_expr(&mut self, expr: &E) -> ControlFlow<()> {
            match expr {
                E::Function(call) => match call.name.0.as_slice() {
                    [ast::ObjectNamePart::Identifier(name)]
                        if matches!(fold(name).as_str(), "snippet" | "snippet_html" | "score_explained") =>
                    {
                        ControlFlow::Break(())
                    }
                    _ => ControlFlow::Continue(()),
                },
                _ => ControlFlow::Continue(()),
            }
        }
    }

    list.iter().any(|item| ast::Visit::visit(item, &mut Finder).is_break())
}

impl Binder<'_> {
    /// `MATCH (column, …) AGAINST ('search string' [mode])`.
    pub fn bind_match(
        &mut self,
        columns: &[ast::ObjectName],
        search: &ast::ValueWithSpan,
        modifier: Option<&ast::SearchModifier>,
    ) -> PgResult<Expr> {
        let mode = match modifier {
            None | Some(ast::SearchModifier::InBooleanMode) => Mode::SearchString,
            Some(ast::SearchModifier::InNaturalLanguageMode) => Mode::Words,
            Some(ast::SearchModifier::InNaturalLanguageModeWithQueryExpansion | ast::SearchModifier::WithQueryExpansion) => {
                Mode::SimilarWords
            }
        };
        let mut bound = Vec::with_capacity(columns.len());
        let mut names = Vec::with_capacity(columns.len());
        for name in columns {
            let idents: Vec<ast::Ident> = name
                .0
                .iter()
                .filter_map(|part| match part {
                    ast::ObjectNamePart::Identifier(ident) => Some(ident.clone()),
                    ast::ObjectNamePart::Function(_) => None,
                })
                .collect();
            bound.push(self.bind_column(&idents)?);
            names.push(name_parts(name)?.pop().unwrap_or_default());
        }
        let search = self.bind_value(search)?;
        self.match_call(bound, names, search, mode)
    }

    /// MATCH of expressions, of a search string that is one, or in a mode of ours: see [`marks::MATCH`].
    fn bind_match_mark(&mut self, args: &[&E]) -> PgResult<Option<Expr>> {
        let [E::Value(mode), search, columns @ ..] = args else { return Ok(None) };
        let [search_box, more_like_this] = marks::MATCH_MODES;
        let mode = match &mode.value {
            ast::Value::SingleQuotedString(mode) if mode == search_box => Mode::SearchBox,
            ast::Value::SingleQuotedString(mode) if mode == more_like_this => Mode::MoreLikeThis,
            ast::Value::SingleQuotedString(mode) if mode.ends_with("WITH QUERY EXPANSION") => Mode::SimilarWords,
            ast::Value::SingleQuotedString(mode) if mode == "IN NATURAL LANGUAGE MODE" => Mode::Words,
            _ => Mode::SearchString,
        };
        let mut bound = Vec::with_capacity(columns.len());
        let mut names = Vec::with_capacity(columns.len());
        for column in columns {
            let expr = self.bind_expr(column)?;
            bound.push(self.resolve_unknown(expr)?);
            names.push(name_of(column));
        }
        let position = self.pos(*search);
        let search = self.bind_expr(search)?;
        self.match_call(bound, names, search, mode).map(Some).map_err(|e| e.at(position))
    }

    fn match_call(&mut self, columns: Vec<Expr>, names: Vec<String>, search: Expr, mode: Mode) -> PgResult<Expr> {
        let text_type = SqlType::new(PgType::Text);
        let search = self.coerce(search, &text_type, CastContext::Assignment)?;
        let mut args = Vec::with_capacity(columns.len());
        for (column, name) in columns.into_iter().zip(&names) {
            let is_text =
                matches!(column.ty.ty, PgType::Text | PgType::Varchar | PgType::Bpchar | PgType::Name | PgType::Unknown | PgType::Json);
            if !is_text || column.ty.arrow != text_type.arrow {
                return Err(PgError::new(
                    SqlState::DATATYPE_MISMATCH,
                    format!("MATCH needs text, but \"{name}\" is of type {}", column.ty.ty),
                )
                .hint("Cast the column, or search in a column of type text."));
            }
            args.push(column);
        }
        let (config, index) = self.match_config(&args, names, mode);
        // Constants are checked where they are written.
        if let Some(constant) = constant_text(&search) {
            config.query(constant, &config.fields()?)?;
        }
        let config = config.to_text();
        self.matches.push(MatchUse { config: config.clone(), search: search.clone(), columns: args.clone(), index });
        let mut all = vec![text(&config), search];
        all.append(&mut args);
        Ok(Expr::new(ExprKind::Func { func: FuncRef(MATCH.clone()), args: all }, SqlType::new(PgType::Bool)))
    }

    /// How the columns are cut into words: as the first index says that has all of them, else as is known of each, else as is usual.
    fn match_config(&self, columns: &[Expr], names: Vec<String>, mode: Mode) -> (MatchConfig, Option<(u32, Vec<usize>)>) {
        let unknown = |names: Vec<String>| {
            let columns = names.into_iter().map(|name| MatchColumn { name, tokenizer: Default::default() }).collect();
            (MatchConfig { columns, others: Vec::new(), mode }, None)
        };
        let mut oid = None;
        let own: Option<Vec<Expr>> = columns.iter().map(|column| self.own_form(column, &mut oid)).collect();
        let table = oid.and_then(|oid| self.ctx.catalog.table(oid));
        let (Some(own), Some(table)) = (own, table) else { return unknown(names) };
        let is_of = |part: &IndexPart, column: &Expr| match (&part.key, &column.kind) {
            (IndexKey::Column(id), ExprKind::Column(own)) => id.0 == own.0,
            (IndexKey::Expr(sql), kind) if !matches!(kind, ExprKind::Column(_)) => {
                bind_table_expr(&self.ctx, table, sql).is_ok_and(|part| super::function::same_expr(&part, column))
            }
            _ => false,
        };
        let places = |i: &IndexDescriptor| -> Option<Vec<usize>> {
            let place = |column: &Expr| i.parts.iter().position(|part| part.is_text() && is_of(part, column));
            own.iter().map(place).collect()
        };
        let mut searchable = table.indexes.iter().filter(|i| i.is_fulltext() && i.state == IndexState::Readable);
        let index = searchable.find_map(|i| Some((i, places(i)?)));
        // The column's own name in the table is what search strings may use.
        let tokenizer = index.as_ref().and_then(|(i, _)| Settings::read(&i.options).ok()).map(|s| s.tokenizer);
        let id_of = |column: &Expr| if let ExprKind::Column(id) = column.kind { Some(ColumnId(id.0)) } else { None };
        let known = |column: &Expr| Some(Settings::read(&table.column(id_of(column)?)?.words).ok()?.tokenizer);
        let ids: Vec<Option<ColumnId>> = own.iter().map(id_of).collect();
        let others =
            table.visible_columns().filter(|c| !ids.contains(&Some(c.id)) && !names.contains(&c.name)).map(|c| c.name.clone()).collect();
        let of = |(name, column)| MatchColumn { tokenizer: tokenizer.clone().or_else(|| known(column)).unwrap_or_default(), name };
        let columns = names.into_iter().zip(&own).map(of).collect();
        (MatchConfig { columns, others, mode }, index.map(|(i, places)| (i.oid, places)))
    }

    /// An expression over the columns of one table of FROM, by their ids there; `None` if it is of anything else.
    fn own_form(&self, expr: &Expr, table: &mut Option<u32>) -> Option<Expr> {
        let mut out = expr.clone();
        if let ExprKind::Column(_) = expr.kind {
            let (oid, id) = self.scopes.iter().rev().flat_map(|s| &s.star).find(|s| s.expr == *expr)?.origin?;
            if table.is_some_and(|known| known != oid) {
                return None;
            }
            *table = Some(oid);
            out.kind = ExprKind::Column(ColId(id));
            return Some(out);
        }
        for child in out.children_mut() {
            *child = self.own_form(child, table)?;
        }
        Some(out)
    }

    /// The functions of this module; `None` for other names and for what is not meant for them.
    pub fn bind_text_function(&mut self, name: &str, args: &[&E]) -> PgResult<Option<Expr>> {
        match (name, args) {
            (marks::MATCH, args) => self.bind_match_mark(args),
            ("score", []) | ("score", [_]) => self.bind_score(args.first().copied()),
            ("score_explained", [table]) => self.bind_score_explained(table).map(Some),
            ("snippet" | "snippet_html", [column, rest @ ..]) => self.bind_snippet(column, rest, name == "snippet_html").map(Some),
            ("contains", [column, E::Identifier(condition)]) if condition.quote_style == Some('"') => {
                self.bind_contains(column, &condition.value).map(Some)
            }
            ("contains", [column, E::Value(value)]) => {
                let bound = self.bind_value(value)?;
                match constant_text(&bound).map(str::to_owned) {
                    Some(condition) => self.bind_contains(column, &condition).map(Some),
                    None => Ok(None),
                }
            }
            (MATCH_FUNCTION | SNIPPET_FUNCTION | EXPLAINED_FUNCTION, _) => {
                let (func, fewest) = match name {
                    MATCH_FUNCTION => (MATCH.clone(), 3),
                    SNIPPET_FUNCTION => (SNIPPET.clone(), 8),
                    _ => (EXPLAINED.clone(), 5),
                };
                let mut bound = Vec::with_capacity(args.len());
                for (n, arg) in args.iter().enumerate() {
                    let expr = self.bind_expr(arg)?;
                    let ty = SqlType::new(func.args.get(n.min(func.args.len() - 1)).cloned().unwrap_or(PgType::Text));
                    bound.push(if expr.ty.arrow == ty.arrow && expr.ty.ty != PgType::Unknown {
                        expr
                    } else {
                        self.coerce(expr, &ty, CastContext::Assignment)?
                    });
                }
                if bound.len() < fewest {
                    return Ok(None);
                }
                let ret = SqlType::new(func.ret.clone());
                Ok(Some(Expr::new(ExprKind::Func { func: FuncRef(func), args: bound }, ret)))
            }
            _ => Ok(None),
        }
    }

    /// `score(t)`: how well a row of t fits the MATCH.
    fn bind_score(&mut self, table: Option<&E>) -> PgResult<Option<Expr>> {
        let alias = match table {
            Some(E::Identifier(ident)) => Some((fold(ident), self.pos_span(ident.span))),
            Some(_) => return Ok(None),
            None => None,
        };
        for scope in self.scopes.iter().rev() {
            let mut items = scope.items.iter().filter(|i| match &alias {
                Some((alias, _)) => i.alias == *alias,
                None => i.table_oid.is_some(),
            });
            let Some(item) = items.next() else { continue };
            if item.columns.iter().any(|c| c.name == "score") && alias.is_some() {
                return Ok(None);
            }
            let id = item.columns.iter().find_map(|c| match c.expr.kind {
                ExprKind::Column(id) => self.scores.get(&id).copied(),
                _ => None,
            });
            return match id {
                Some(id) => Ok(Some(Expr::column(id, SqlType::new(PgType::Float4)))),
                None => {
                    let table = item.table_oid.and_then(|oid| self.ctx.catalog.relation(oid)).map(|r| quote_name(r.name()));
                    let error = PgError::unsupported(format!("score({}) needs a full text index", item.alias));
                    Err(match table {
                        Some(table) => error.hint(format!("CREATE INDEX ON {table} USING {METHOD} (column).")),
                        None => error,
                    })
                }
            };
        }
        match alias {
            Some((alias, position)) => {
                Err(PgError::new(SqlState::UNDEFINED_TABLE, format!("missing FROM-clause entry for table \"{alias}\"")).at(position))
            }
            None => Ok(None),
        }
    }

    /// Gives a scan a column for its score; `columns` are those of the table.
    pub fn add_score(&mut self, table: &TableDescriptor, columns: &mut Vec<(ColumnId, ColId)>) {
        if !is_searchable(table) {
            return;
        }
        let score = self.new_col();
        self.scores.extend(columns.iter().map(|(_, id)| (*id, score)));
        columns.push((crate::fulltext::SCORE, score));
    }

    /// `score_explained(t)`: what the score of a row of t comes from.
    fn bind_score_explained(&mut self, table: &E) -> PgResult<Expr> {
        let position = self.pos(table);
        let alias = if let E::Identifier(ident) = table { fold(ident) } else { String::new() };
        let item = self.scopes.iter().rev().flat_map(|s| &s.items).find(|i| i.alias == alias);
        let is_of = |used: &MatchUse| {
            let mut columns = Vec::new();
            used.columns.iter().for_each(|c| columns_of(c, &mut columns));
            item.is_some_and(|item| {
                columns.iter().all(|id| item.columns.iter().any(|c| matches!(c.expr.kind, ExprKind::Column(own) if own == *id)))
            })
        };
        let mut args = Vec::new();
        for (used, (index, places)) in self.matches.iter().filter(|used| is_of(used)).filter_map(|used| Some((used, used.index.as_ref()?)))
        {
            let places: Vec<String> = places.iter().map(ToString::to_string).collect();
            args.extend([text(&used.config), used.search.clone(), text(&index.to_string()), text(&places.join(","))]);
            args.extend(used.columns.iter().cloned());
        }
        if args.is_empty() {
            return Err(PgError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                "score_explained() needs a MATCH in WHERE over columns of the same FROM item that a full text index has",
            )
            .at(position));
        }
        Ok(Expr::new(ExprKind::Func { func: FuncRef(EXPLAINED.clone()), args }, SqlType::new(PgType::Text)))
    }

    /// `snippet(column [, length [, before, after]])`: the piece of the text that shows why MATCH found it; `snippet_html`, for a page.
    fn bind_snippet(&mut self, column: &E, rest: &[&E], html: bool) -> PgResult<Expr> {
        let bound = self.bind_expr(column)?;
        let found = self.matches.iter().rev().find_map(|m| m.columns.iter().position(|c| *c == bound).map(|n| (m.clone(), n)));
        let Some((used, field)) = found else {
            return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "snippet() needs a MATCH over the same column in WHERE")
                .at(self.pos(column)));
        };
        let int = |n: i32| Expr::new(ExprKind::Const(ScalarValue::Int32(Some(n))), SqlType::new(PgType::Int4));
        let mut args = vec![text(&used.config), used.search, int(i32::try_from(field).unwrap_or(0)), bound];
        let mut given = rest.iter();
        args.push(match given.next() {
            Some(length) => {
                let length = self.bind_expr(length)?;
                self.coerce(length, &SqlType::new(PgType::Int4), CastContext::Assignment)?
            }
            None => int(150),
        });
        for usual in ["<b>", "</b>"] {
            args.push(match given.next() {
                Some(mark) => {
                    let mark = self.bind_expr(mark)?;
                    self.coerce(mark, &SqlType::new(PgType::Text), CastContext::Assignment)?
                }
                None => text(usual),
            });
        }
        if given.next().is_some() {
            return Err(PgError::new(SqlState::UNDEFINED_FUNCTION, "snippet() takes a column, a length and two marks"));
        }
        args.push(Expr::new(ExprKind::Const(ScalarValue::Boolean(Some(html))), SqlType::new(PgType::Bool)));
        Ok(Expr::new(ExprKind::Func { func: FuncRef(SNIPPET.clone()), args }, SqlType::new(PgType::Text)))
    }

    /// A condition of `contains` over a column.
    fn contains(&mut self, column: &Expr, name: &str, condition: Condition) -> PgResult<Expr> {
        let each =
            |b: &mut Self, list: Vec<Condition>| list.into_iter().map(|part| b.contains(column, name, part)).collect::<PgResult<Vec<_>>>();
        Ok(match condition {
            Condition::Search(search) => self.match_call(vec![column.clone()], vec![name.to_owned()], text(&search), Mode::SearchString)?,
            Condition::Compare(operator, value) => self.operator(operator, Some(column.clone()), super::literal::unknown(&value))?,
            Condition::In(values) => {
                let equal = |value: &String| self.operator("=", Some(column.clone()), super::literal::unknown(value));
                or(values.iter().map(equal).collect::<PgResult<Vec<_>>>()?)
            }
            Condition::And(list) => and(each(self, list)?),
            Condition::Or(list) => or(each(self, list)?),
            Condition::Not(inner) => {
                let inner = self.contains(column, name, *inner)?;
                Expr::new(ExprKind::Not(Box::new(inner)), SqlType::new(PgType::Bool))
            }
        })
    }

    /// Hyperdrive's `contains(column, "term 'x' and prefix 'y'")`.
    fn bind_contains(&mut self, column: &E, condition: &str) -> PgResult<Expr> {
        let name = match column {
            E::Identifier(ident) => fold(ident),
            E::CompoundIdentifier(parts) => parts.last().map(fold).unwrap_or_default(),
            _ => "?".into(),
        };
        let bound = self.bind_expr(column)?;
        self.contains(&bound, &name, crate::fulltext::contains::condition(condition)?)
    }
}

//! The select list: what stands for several columns, and the names of columns.

use super::scope::FromItem;
use super::select::Target;
use super::sqlparser_span::Span;
use super::{Binder, fold, name_parts};
use crate::typed::tree::{Expr, ExprKind};
use stoa_pg::types::type_by_name;
use stoa_pg::{PgError, PgResult, PgType, SqlState};
use stoa_syntax::ast::{self, Expr as E, SelectItem};

impl Binder<'_> {
    /// A list of named expressions.
    pub fn bind_targets(&mut self, items: &[SelectItem]) -> PgResult<Vec<(String, Expr)>> {
        Ok(self.bind_select_list(items)?.into_iter().map(|t| (t.name, t.expr)).collect())
    }

    pub(super) fn bind_select_list(&mut self, items: &[SelectItem]) -> PgResult<Vec<Target>> {
        let mut out = Vec::with_capacity(items.len());
        for item in items {
            match item {
                // (row).* has the names of the fields, whatever it is called.
                SelectItem::UnnamedExpr(e) | SelectItem::ExprWithAlias { expr: e, .. } if self.expand_access(e, &mut out)? => {}
                SelectItem::UnnamedExpr(e) => {
                    let expr = self.bind_expr(e)?;
                    let name = column_name(e).unwrap_or_else(|| match &expr.kind {
                        ExprKind::ScalarSubquery(q) => q.outputs.first().map_or_else(|| "?column?".into(), |o| o.name.clone()),
                        _ => "?column?".into(),
                    });
                    let origin = self.origin_of_item(e, &expr);
                    out.push(Target { name, expr, origin });
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    let bound = self.bind_expr(expr)?;
                    let origin = self.origin_of_item(expr, &bound);
                    out.push(Target { name: fold(alias), expr: bound, origin });
                }
                SelectItem::Wildcard(options) => {
                    let stars: Vec<_> =
                        self.scope().star.iter().filter(|s| s.item.is_none_or(|i| !self.scope().items[i].lateral_only)).cloned().collect();
                    if stars.is_empty() && self.scope().items.is_empty() {
                        return Err(PgError::new(SqlState::SYNTAX_ERROR, "SELECT * with no tables specified is not valid")
                            .at(self.pos_span(options.wildcard_token.0.span)));
                    }
                    let stars: Vec<_> = stars.into_iter().filter(|s| !s.name.starts_with(super::search::HIDDEN)).collect();
                    let names = stars.iter().map(|s| star_expr(s.item.map(|i| &self.scope().items[i]), &s.name)).collect();
                    self.stars.push((options.wildcard_token.0.span, names));
                    for star in stars {
                        self.note_origin(star.origin);
                        out.push(self.target_of(star.name, star.expr));
                    }
                }
                SelectItem::QualifiedWildcard(kind, options) => match kind {
                    ast::SelectItemQualifiedWildcardKind::ObjectName(name) => {
                        let parts = name_parts(name)?;
                        let (schema, table) = match parts.as_slice() {
                            [table] => (None, table.clone()),
                            [.., schema, table] => (Some(schema.clone()), table.clone()),
                            [] => continue,
                        };
                        let mut found = None;
                        for scope in self.scopes.iter().rev() {
                            found = scope.items.iter().find(|i| {
                                i.alias == table && !i.lateral_only && schema.as_ref().is_none_or(|s| i.schema.as_ref() == Some(s))
                            });
                            if found.is_some() {
                                break;
                            }
                        }
                        match found {
                            Some(item) => {
                                let item = item.clone();
                                let shown = item.columns.iter().filter(|c| !c.name.starts_with(super::search::HIDDEN));
                                let columns: Vec<_> = shown.cloned().collect();
                                let names = columns.iter().map(|c| star_expr(Some(&item), &c.name)).collect();
                                self.stars.push((options.wildcard_token.0.span, names));
                                for column in columns {
                                    self.note_origin(column.origin);
                                    out.push(self.target_of(column.name, column.expr));
                                }
                            }
                            None => {
                                // composite.* of a column
                                if schema.is_none()
                                    && self.scope().star.iter().any(|s| s.name == table && matches!(s.expr.ty.ty, PgType::Record(_)))
                                {
                                    let root = star_expr(None, &table);
                                    let first = out.len();
                                    self.expand_record(&root, &mut out)?;
                                    let names = out.iter().skip(first).map(|t| field_expr(&root, &[], &t.name)).collect();
                                    self.stars.push((options.wildcard_token.0.span, names));
                                } else {
                                    return Err(PgError::new(
                                        SqlState::UNDEFINED_TABLE,
                                        format!("missing FROM-clause entry for table \"{table}\""),
                                    )
                                    .at(self.pos(name)));
                                }
                            }
                        }
                    }
                    ast::SelectItemQualifiedWildcardKind::Expr(e) => self.expand_record(e, &mut out)?,
                },
                SelectItem::ExprWithAliases { .. } => return Err(PgError::new(SqlState::SYNTAX_ERROR, "syntax error in the select list")),
            }
        }
        Ok(out)
    }

    fn target_of(&self, name: String, expr: Expr) -> Target {
        let origin = self.origin_of(&expr);
        Target { name, expr, origin }
    }

    /// Adds what `(row).*` stands for, if this is one.
    fn expand_access(&mut self, e: &E, out: &mut Vec<Target>) -> PgResult<bool> {
        let Some(fields) = self.expanded(e)? else { return Ok(false) };
        if let Some(span) = fields_star(e)
            && let E::CompoundFieldAccess { root, access_chain } = super::expr::unnested(e)
        {
            let way = access_chain.split_last().map_or(&[][..], |(_, way)| way);
            let names = fields.iter().map(|(name, _)| field_expr(root, way, name)).collect();
            self.stars.push((span, names));
        }
        out.extend(fields.into_iter().map(|(name, expr)| self.target_of(name, expr)));
        Ok(true)
    }

    /// The fields that `(row).*`, `(row).field.*` and `(t.*)` stand for; `None` for other expressions.
    pub(super) fn expanded(&mut self, e: &E) -> PgResult<Option<Vec<(String, Expr)>>> {
        let access = super::expr::unnested(e);
        let E::CompoundFieldAccess { root, access_chain } = access else { return Ok(None) };
        let Some((ast::AccessExpr::Dot(E::Wildcard(_)), way)) = access_chain.split_last() else { return Ok(None) };
        let value = match (&**root, way) {
            // The table of that name, rather than a column; a function's one column is no row.
            (E::Identifier(ident), []) => {
                let value = self.bind_expr(access)?;
                let alias = fold(ident);
                let item = self.scopes.iter().rev().flat_map(|s| &s.items).find(|i| i.alias == alias && !i.lateral_only);
                match item {
                    Some(item) if item.scalar && item.columns.len() == 1 => {
                        return Ok(item.columns.first().map(|column| vec![(column.name.clone(), value)]));
                    }
                    // The columns as they are called here.
                    Some(item) => {
                        let name = |name: &str| name.trim_start_matches(super::alias::LATER).to_owned();
                        let shown = item.columns.iter().filter(|c| !c.name.starts_with(super::search::HIDDEN));
                        return Ok(Some(shown.map(|c| (name(&c.name), c.expr.clone())).collect()));
                    }
                    None => value,
                }
            }
            (root, []) => self.bind_expr(root)?,
            (root, way) => self.bind_expr(&E::CompoundFieldAccess { root: Box::new(root.clone()), access_chain: way.to_vec() })?,
        };
        self.fields_of(value, root).map(Some)
    }

    /// `(record).*`
    fn expand_record(&mut self, root: &E, out: &mut Vec<Target>) -> PgResult<()> {
        let value = self.bind_expr(root)?;
        let fields = self.fields_of(value, root)?;
        out.extend(fields.into_iter().map(|(name, expr)| self.target_of(name, expr)));
        Ok(())
    }

    fn fields_of(&mut self, value: Expr, root: &E) -> PgResult<Vec<(String, Expr)>> {
        let PgType::Record(Some(record)) = value.ty.ty.clone() else {
            return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("type {} is not composite", value.ty.ty)).at(self.pos(root)));
        };
        // By their places: two may have one name.
        record.fields.iter().enumerate().map(|(at, (name, _))| Ok((name.clone(), self.field_at(value.clone(), at)?))).collect()
    }
}

/// A column that `*` stands for, as it may be written.
fn star_expr(item: Option<&FromItem>, name: &str) -> E {
    let ident = |name: &str| {
        let plain = !crate::catalog::deparse::quote_name(name).starts_with('"');
        if plain { ast::Ident::new(name) } else { ast::Ident::with_quote('"', name) }
    };
    match item {
        // The table's name stands where FROM names it.
        Some(FromItem { alias, place, .. }) if !alias.is_empty() => {
            let table = ast::Ident { span: place.unwrap_or_else(Span::empty), ..ident(alias) };
            E::CompoundIdentifier(vec![table, ident(name)])
        }
        _ => E::Identifier(ident(name)),
    }
}

/// The place of the `*` in `(row).*`.
pub fn fields_star(e: &E) -> Option<super::sqlparser_span::Span> {
    let E::CompoundFieldAccess { access_chain, .. } = super::expr::unnested(e) else { return None };
    match access_chain.last() {
        Some(ast::AccessExpr::Dot(E::Wildcard(token))) => Some(token.0.span),
        _ => None,
    }
}

/// A field that `(row).*` stands for.
fn field_expr(root: &E, way: &[ast::AccessExpr], name: &str) -> E {
    // A name without parentheses would be a table's.
    let root = if matches!(root, E::Identifier(_)) { E::Nested(Box::new(root.clone())) } else { root.clone() };
    let access_chain = way.iter().cloned().chain([ast::AccessExpr::Dot(star_expr(None, name))]).collect();
    E::CompoundFieldAccess { root: Box::new(root), access_chain }
}

/// The name that PostgreSQL gives a column without an alias; `None` for `?column?` and for a subquery of `*`.
pub fn column_name(e: &E) -> Option<String> {
    named(e).map(|(name, _)| name)
}

/// The name, and whether it gives way to a better one: those of casts and CASE do.
fn named(e: &E) -> Option<(String, bool)> {
    let strong = |name: &(String, bool)| !name.1;
    match e {
        E::CompoundFieldAccess { root, access_chain } => {
            let field = access_chain.iter().rev().find_map(|a| match a {
                ast::AccessExpr::Dot(E::Identifier(i)) => Some(fold(i)),
                _ => None,
            });
            field.map_or_else(|| named(root), |name| Some((name, false)))
        }
        E::Nested(inner) => named(inner),
        E::Collate { expr: inner, .. } => named(inner).map(|(name, _)| (name, false)),
        E::Cast { expr, data_type, .. } => match named(expr).filter(strong) {
            Some(name) => Some(name),
            None => type_column_name(data_type).map(|name| (name, true)),
        },
        E::Case { else_result, .. } => else_result.as_ref().and_then(|e| named(e)).filter(strong).or_else(|| Some(("case".into(), true))),
        E::TypedString(typed) => type_column_name(&typed.data_type).map(|name| (name, true)),
        E::Interval(_) => Some(("interval".into(), true)),
        other => own_name(other).map(|name| (name, false)),
    }
}

/// The name of an expression that takes none from another.
fn own_name(e: &E) -> Option<String> {
    match e {
        E::Identifier(i) => Some(fold(i)),
        E::CompoundIdentifier(parts) => parts.last().map(fold),
        E::Subquery(query) => subquery_column(&query.body),
        E::Function(f) => f.name.0.last().map(|p| match p {
            ast::ObjectNamePart::Identifier(i) => fold(i),
            ast::ObjectNamePart::Function(f) => fold(&f.name),
        }),
        E::Exists { .. } => Some("exists".into()),
        E::Array(_) => Some("array".into()),
        E::Tuple(_) => Some("row".into()),
        E::AtTimeZone { .. } => Some("timezone".into()),
        E::Extract { .. } => Some("extract".into()),
        E::Ceil { .. } => Some("ceil".into()),
        E::Floor { .. } => Some("floor".into()),
        E::Position { .. } => Some("position".into()),
        E::Substring { shorthand, .. } => Some(if *shorthand { "substr".into() } else { "substring".into() }),
        E::Overlay { .. } => Some("overlay".into()),
        E::Trim { trim_where, .. } => Some(
            match trim_where {
                Some(ast::TrimWhereField::Leading) => "ltrim",
                Some(ast::TrimWhereField::Trailing) => "rtrim",
                _ => "btrim",
            }
            .into(),
        ),
        E::IsNormalized { negated: false, .. } => Some("is_normalized".into()),
        E::BinaryOp { op: ast::BinaryOperator::Overlaps, .. } => Some("overlaps".into()),
        _ => None,
    }
}

/// The name of a subquery's first column, which has one, even if it is none.
fn subquery_column(body: &ast::SetExpr) -> Option<String> {
    match body {
        ast::SetExpr::Select(select) => match select.projection.first()? {
            SelectItem::UnnamedExpr(e) => Some(column_name(e).unwrap_or_else(|| "?column?".into())),
            SelectItem::ExprWithAlias { alias, .. } => Some(fold(alias)),
            _ => None,
        },
        ast::SetExpr::SetOperation { left, .. } => subquery_column(left),
        ast::SetExpr::Query(query) => subquery_column(&query.body),
        ast::SetExpr::Values(_) => Some("column1".into()),
        _ => None,
    }
}

fn type_column_name(data_type: &ast::DataType) -> Option<String> {
    if let ast::DataType::Array(ast::ArrayElemTypeDef::SquareBracket(inner, _)) = data_type {
        return type_column_name(inner);
    }
    super::type_name::sql_type(data_type)
        .ok()
        .map(|t| t.ty.name())
        .or_else(|| type_by_name(&data_type.to_string().to_lowercase()).map(|t| t.name()))
}

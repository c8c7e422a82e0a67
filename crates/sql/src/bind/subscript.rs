//! Parts of values: fields of rows, elements and slices of arrays, subscripts of json.

use super::resolve::can_coerce;
use super::{Binder, fold};
use crate::typed::tree::{Expr, ExprKind};
use datafusion_common::ScalarValue;
use stoa_pg::registry::CastContext;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_syntax::ast::{self, Expr as E};

impl Binder<'_> {
    pub(super) fn bind_access(&mut self, root: &E, chain: &[ast::AccessExpr], syntax: &E) -> PgResult<Expr> {
        // The columns of an item's row are called as the item calls them.
        if let (E::Identifier(ident), [ast::AccessExpr::Dot(E::Identifier(field)), rest @ ..]) = (super::expr::unnested(root), chain)
            && self.names_row(&fold(ident))
        {
            let position = self.pos_span(ident.span);
            let column = self.bind_qualified(None, &fold(ident), &fold(field), ident.span).map_err(|e| e.at(position))?;
            return self.bind_parts(column, root, rest, syntax);
        }
        let value = match (root, chain) {
            // t.* is of the table t, also where a column has that name.
            (E::Identifier(ident), [ast::AccessExpr::Dot(E::Wildcard(_))]) => {
                return self.row_of_item(&fold(ident), ident.span)?.ok_or_else(|| {
                    let message = format!("missing FROM-clause entry for table \"{}\"", fold(ident));
                    PgError::new(SqlState::UNDEFINED_TABLE, message).at(self.pos_span(ident.span))
                });
            }
            _ => self.bind_expr(root)?,
        };
        self.bind_parts(value, root, chain, syntax)
    }

    /// Fields, elements and slices of a value.
    fn bind_parts(&mut self, mut value: Expr, root: &E, chain: &[ast::AccessExpr], syntax: &E) -> PgResult<Expr> {
        let mut i = 0;
        while let Some(access) = chain.get(i) {
            match access {
                ast::AccessExpr::Dot(E::Identifier(field)) => {
                    value = self.field(value, &fold(field)).map_err(|e| e.at(self.pos_span(field.span)))?;
                    i += 1;
                }
                ast::AccessExpr::Dot(E::Wildcard(_)) if !matches!(root, E::Identifier(_)) => {
                    return Err(PgError::unsupported("row expansion via \"*\" is not supported here").at(self.pos(syntax)));
                }
                // The whole row, where a value is wanted: count(t.*).
                ast::AccessExpr::Dot(E::Wildcard(_)) if matches!(value.ty.ty, PgType::Record(_)) => i += 1,
                ast::AccessExpr::Dot(E::Wildcard(_)) => {
                    let message = format!("type {} is not composite", value.ty.ty);
                    return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, message).at(self.pos(syntax)));
                }
                ast::AccessExpr::Dot(_) => {
                    return Err(PgError::new(SqlState::SYNTAX_ERROR, "a field name was expected").at(self.pos(syntax)));
                }
                ast::AccessExpr::Subscript(_) => {
                    // All subscripts that follow one another belong together.
                    let mut subscripts = Vec::new();
                    while let Some(ast::AccessExpr::Subscript(s)) = chain.get(i) {
                        subscripts.push(s);
                        i += 1;
                    }
                    value = self.subscript(value, &subscripts, syntax)?;
                }
            }
        }
        Ok(value)
    }

    /// A field of a record.
    pub fn field(&mut self, value: Expr, name: &str) -> PgResult<Expr> {
        let PgType::Record(Some(record)) = &value.ty.ty else {
            return Err(PgError::new(
                SqlState::WRONG_OBJECT_TYPE,
                format!("column notation .{name} applied to type {}, which is not a composite type", value.ty.ty),
            ));
        };
        let Some(index) = record.fields.iter().position(|(n, _)| n == name) else {
            return Err(PgError::new(SqlState::UNDEFINED_COLUMN, format!("could not identify column \"{name}\" in record data type")));
        };
        if record.fields[index + 1..].iter().any(|(other, _)| other == name) && self.is_whole_row(&value) {
            return Err(PgError::new(SqlState::AMBIGUOUS_COLUMN, format!("column reference \"{name}\" is ambiguous")));
        }
        self.field_at(value, index)
    }

    /// A field of a record by its place, from 0.
    pub(super) fn field_at(&self, value: Expr, index: usize) -> PgResult<Expr> {
        let field = match &value.ty.ty {
            PgType::Record(Some(record)) => record.fields.get(index),
            _ => None,
        };
        let Some((_, ty)) = field else { return Err(PgError::internal("a record without that field")) };
        let ty = ty.clone();
        match &value.kind {
            ExprKind::Row(items) => return Ok(items[index].clone()),
            // Where an outer join found no row, its columns are NULL, too.
            ExprKind::Case { whens, otherwise: None } => {
                if let [(_, Expr { kind: ExprKind::Row(items), .. })] = whens.as_slice()
                    && self.is_whole_row(&value)
                {
                    return Ok(items[index].clone());
                }
            }
            _ => {}
        }
        Ok(Expr::new(ExprKind::Field { arg: Box::new(value), index }, ty))
    }

    fn subscript(&mut self, value: Expr, subscripts: &[&ast::Subscript], syntax: &E) -> PgResult<Expr> {
        let int4 = SqlType::new(PgType::Int4);
        if value.ty.ty == PgType::Jsonb {
            // Integers for arrays, text for objects, and a number as text for either: a path.
            let mut path = Vec::with_capacity(subscripts.len());
            for s in subscripts {
                let ast::Subscript::Index { index } = s else {
                    return Err(PgError::new(SqlState::DATATYPE_MISMATCH, "jsonb subscript does not support slices").at(self.pos(syntax)));
                };
                let key = self.bind_expr(index)?;
                check_jsonb_subscript(&key.ty.ty).map_err(|e| e.at(self.pos(index)))?;
                let key = self.resolve_unknown(key)?;
                path.push(self.coerce(key, &SqlType::new(PgType::Text), CastContext::Explicit)?);
            }
            let path = Expr::new(ExprKind::Array(path), SqlType::new(PgType::Text.array_of()));
            return self.operator("#>", Some(value), path).map_err(|e| e.at(self.pos(syntax)));
        }
        if let PgType::Map(..) = &value.ty.ty {
            let [ast::Subscript::Index { index }] = subscripts else {
                return Err(PgError::new(SqlState::DATATYPE_MISMATCH, "a map takes one subscript").at(self.pos(syntax)));
            };
            let key = self.bind_expr(index)?;
            let got = self.map_call("map_get", &[value, key]).map_err(|e| e.at(self.pos(index)))?;
            return got.ok_or_else(|| PgError::internal("a map without entries"));
        }
        if value.ty.ty == PgType::Name {
            return self.subscript_of_name(value, subscripts, syntax);
        }
        let Some(element) = value.ty.ty.element() else {
            return Err(PgError::new(
                SqlState::DATATYPE_MISMATCH,
                format!("cannot subscript type {} because it does not support subscripting", value.ty.ty),
            )
            .at(self.pos(syntax)));
        };
        let slice = subscripts.iter().any(|s| matches!(s, ast::Subscript::Slice { .. }));
        let index = |b: &mut Self, e: &E| -> PgResult<Expr> {
            let bound = b.bind_expr(e)?;
            b.coerce(bound, &int4, CastContext::Assignment).map_err(|err| {
                if err.code() == SqlState::CANNOT_COERCE {
                    PgError::new(SqlState::DATATYPE_MISMATCH, "array subscript must have type integer").at(b.pos(e))
                } else {
                    err.at(b.pos(e))
                }
            })
        };
        if slice {
            let mut bounds = Vec::with_capacity(subscripts.len());
            for s in subscripts {
                match s {
                    ast::Subscript::Index { index: i } => {
                        let upper = index(self, i)?;
                        bounds.push((Some(Expr::new(ExprKind::Const(ScalarValue::Int32(Some(1))), int4.clone())), Some(upper)));
                    }
                    ast::Subscript::Slice { lower_bound, upper_bound, .. } => {
                        let lower = lower_bound.as_ref().map(|e| index(self, e)).transpose()?;
                        let upper = upper_bound.as_ref().map(|e| index(self, e)).transpose()?;
                        bounds.push((lower, upper));
                    }
                }
            }
            let ty = value.ty.clone();
            let value = self.widen(value)?;
            return Ok(Expr::new(ExprKind::Slice { array: Box::new(value), bounds }, ty.widened()));
        }
        let mut indexes = Vec::with_capacity(subscripts.len());
        for s in subscripts {
            if let ast::Subscript::Index { index: i } = s {
                indexes.push(index(self, i)?);
            }
        }
        let array = self.widen(value)?;
        let ty = SqlType { ty: element.clone(), typmod: array.ty.typmod, arrow: element.arrow() };
        Ok(Expr::new(ExprKind::Subscript { array: Box::new(array), indexes }, ty))
    }

    /// A name is an array of 64 characters from 0: `typname[0]`.
    fn subscript_of_name(&mut self, value: Expr, subscripts: &[&ast::Subscript], syntax: &E) -> PgResult<Expr> {
        if subscripts.iter().any(|s| matches!(s, ast::Subscript::Slice { .. })) {
            return Err(PgError::unsupported("slices of fixed-length arrays not implemented").at(self.pos(syntax)));
        }
        let (int4, character) = (SqlType::new(PgType::Int4), SqlType::new(PgType::Char));
        let [ast::Subscript::Index { index }] = subscripts else {
            let null = ScalarValue::try_from(&character.arrow).map_err(|e| PgError::internal(e.to_string()))?;
            return Ok(Expr::new(ExprKind::Const(null), character));
        };
        let bound = self.bind_expr(index)?;
        let at = self.coerce(bound, &int4, CastContext::Assignment).map_err(|e| e.at(self.pos(index)))?;
        let number = |n: i32| Expr::new(ExprKind::Const(ScalarValue::Int32(Some(n))), int4.clone());
        let within = vec![self.operator(">=", Some(at.clone()), number(0))?, self.operator("<", Some(at.clone()), number(64))?];
        let place = self.operator("+", Some(at), number(1))?;
        let text = self.coerce(value, &SqlType::new(PgType::Text), CastContext::Explicit)?;
        let one = self.call("substr", vec![text, place, number(1)])?;
        let one = self.coerce(one, &character, CastContext::Explicit)?;
        let within = Expr::new(ExprKind::And(within), SqlType::new(PgType::Bool));
        Ok(Expr::new(ExprKind::Case { whens: vec![(within, one)], otherwise: None }, character))
    }
}

/// Subscripts of jsonb are integers or texts.
pub(super) fn check_jsonb_subscript(ty: &PgType) -> PgResult<()> {
    if *ty == PgType::Unknown || [PgType::Int4, PgType::Text].iter().any(|target| can_coerce(ty, target, CastContext::Implicit)) {
        return Ok(());
    }
    Err(PgError::new(SqlState::DATATYPE_MISMATCH, format!("subscript type {ty} is not supported"))
        .hint("jsonb subscript must be coercible to either integer or text."))
}

/// Whether an expression names something, rather than making it.
pub(super) fn is_reference(syntax: &E) -> bool {
    match syntax {
        E::Nested(inner) => is_reference(inner),
        E::Identifier(_) | E::CompoundIdentifier(_) | E::CompoundFieldAccess { .. } => true,
        _ => false,
    }
}

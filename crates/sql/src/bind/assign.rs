//! Assignments to a part of a value: `SET a[1] = x`, `SET a[2:3] = y`, `SET doc['key'] = z`.

use super::{Binder, dml::null_of, undeclared::Undeclared};
use crate::typed::tree::{Expr, ExprKind, FuncRef};
use datafusion_common::ScalarValue;
use std::sync::Arc;
use stoa_pg::functions::map::Change;
use stoa_pg::functions::subscript::{assign_slice_kernel, assign_subscript_kernel};
use stoa_pg::registry::{CastContext, Func, FuncKind};
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_syntax::ast::{self, AccessExpr, Expr as E, Subscript};
use stoa_syntax::marks;
use stoa_table::catalog::{ColumnDescriptor, ColumnId};

/// OIDs of functions that only the binder calls: no catalog gives them.
const ASSIGN_SUBSCRIPT: u32 = u32::MAX;
const ASSIGN_JSONB: u32 = u32::MAX - 1;
/// The bounds that are written stand in the low bits.
const ASSIGN_SLICE: u32 = u32::MAX - 0x1_0000;

/// Where a value goes: a column, or the part of one behind subscripts.
pub(super) struct Place {
    pub column: ColumnDescriptor,
    pub subscripts: Vec<Subscript>,
    /// The value is that of an undeclared column, which `column` has among others.
    pub undeclared: Option<Undeclared>,
}

impl Place {
    /// A column as a whole.
    pub fn whole(column: ColumnDescriptor) -> Self {
        Self { column, subscripts: Vec::new(), undeclared: None }
    }

    /// The type of what is assigned.
    ///
    /// # Errors
    /// 42804 where the column has no parts.
    pub fn ty(&self) -> PgResult<SqlType> {
        match &self.undeclared {
            Some(undeclared) => Ok(undeclared.ty.clone()),
            None => part_type(&self.column.ty, &self.subscripts),
        }
    }

    /// Whether it is not the whole of its column.
    pub fn is_part(&self) -> bool {
        !self.subscripts.is_empty() || self.undeclared.is_some()
    }

    /// As errors name it.
    pub fn name(&self) -> &str {
        self.undeclared.as_ref().map_or(&self.column.name, |undeclared| &undeclared.name)
    }

    /// 42701 if two places are the same column, and not two parts of one.
    pub fn is_twice(&self, other: &Place) -> bool {
        let same_name = self.undeclared.is_some() && self.undeclared == other.undeclared;
        self.column.id == other.column.id && (!self.is_part() || !other.is_part() || same_name)
    }
}

/// The type that the part of a value behind subscripts has; without any, that of the value.
///
/// # Errors
/// 42804 for types without parts.
pub(super) fn part_type(ty: &SqlType, subscripts: &[Subscript]) -> PgResult<SqlType> {
    if subscripts.is_empty() || ty.ty == PgType::Jsonb {
        return Ok(ty.clone());
    }
    if let Some((_, value)) = super::map::parts(&ty.ty) {
        return match subscripts {
            [Subscript::Index { .. }] => Ok(value),
            _ => Err(PgError::new(SqlState::DATATYPE_MISMATCH, "a map takes one subscript")),
        };
    }
    let element = ty.ty.element().ok_or_else(|| no_parts(ty))?;
    let slice = subscripts.iter().any(|s| matches!(s, Subscript::Slice { .. }));
    Ok(if slice { ty.clone() } else { SqlType::with_typmod(element, ty.typmod) })
}

/// 0A000: a part has no default.
pub(super) fn no_default_of_parts() -> PgError {
    PgError::unsupported("cannot set an array element to DEFAULT")
}

impl Binder<'_> {
    /// The column that an assignment names, and the subscripts behind it.
    pub(super) fn subscripts_of(&self, name: &ast::ObjectName) -> PgResult<(ast::ObjectName, Vec<Subscript>)> {
        let Some((last, parts)) = name.0.split_last() else { return Ok((name.clone(), Vec::new())) };
        let Some(args) = marks::in_part(last, marks::SUBSCRIPTS) else { return Ok((name.clone(), Vec::new())) };
        let [E::CompoundFieldAccess { access_chain, .. }] = args.as_slice() else {
            return Err(PgError::internal("subscripts that are none"));
        };
        let subscripts =
            access_chain.iter().filter_map(|a| if let AccessExpr::Subscript(s) = a { Some(s.clone()) } else { None }).collect();
        Ok((ast::ObjectName(parts.to_vec()), subscripts))
    }

    /// The values of the columns that places belong to, each of the type of its place. Parts of one column are put together over NULL; as
    /// `changes`, what is put into maps leaves the other entries that a row has.
    pub(super) fn gathered(&mut self, places: &[Place], values: Vec<Expr>, changes: bool) -> PgResult<Vec<(ColumnId, Expr)>> {
        let mut out: Vec<(ColumnId, Expr)> = Vec::with_capacity(places.len());
        for (place, mut value) in places.iter().zip(values) {
            let column = &place.column;
            if place.is_part() {
                let base = match out.iter().position(|(id, _)| *id == column.id) {
                    Some(at) => out.remove(at).1,
                    None if changes && column.is_map() => super::map::no_change(&column.ty)?,
                    None => null_of(&column.ty)?,
                };
                value = self.assign_place(place, base, value)?;
            }
            out.push((column.id, value));
        }
        Ok(out)
    }

    /// The value of a column whose part at a place is assigned.
    pub(super) fn assign_place(&mut self, place: &Place, base: Expr, value: Expr) -> PgResult<Expr> {
        let Some(undeclared) = &place.undeclared else { return self.assign_part(&place.column, base, &place.subscripts, value) };
        let value = self.kept_undeclared(value)?;
        let name = self.coerce(super::literal::unknown(&undeclared.name), &SqlType::new(PgType::Text), CastContext::Implicit)?;
        Ok(self.map_changed(base, Change::Set, vec![name, value]))
    }

    /// The value of a column of which a part is assigned; `base` is its value before, `value` has the type of the part.
    pub(super) fn assign_part(
        &mut self,
        column: &ColumnDescriptor,
        mut base: Expr,
        subscripts: &[Subscript],
        value: Expr,
    ) -> PgResult<Expr> {
        let unplaced = |mut e: PgError| {
            e.fields_mut().position = None;
            e
        };
        if column.ty.ty == PgType::Jsonb {
            let mut path = Vec::with_capacity(subscripts.len());
            for s in subscripts {
                let Subscript::Index { index } = s else {
                    return Err(PgError::new(SqlState::DATATYPE_MISMATCH, "jsonb subscript does not support slices"));
                };
                let key = self.bind_expr(index).map_err(unplaced)?;
                super::subscript::check_jsonb_subscript(&key.ty.ty)?;
                if path.is_empty() {
                    // NULL becomes an array or an object, as its first subscript asks.
                    let array = matches!(key.ty.ty, PgType::Int2 | PgType::Int4 | PgType::Int8);
                    let empty = self.coerce(super::literal::unknown(if array { "[]" } else { "{}" }), &column.ty, CastContext::Explicit)?;
                    base = Expr::new(ExprKind::Coalesce(vec![base, empty]), column.ty.clone());
                }
                path.push(self.coerce(key, &SqlType::new(PgType::Text), CastContext::Explicit).map_err(unplaced)?);
            }
            let path = Expr::new(ExprKind::Array(path), SqlType::new(PgType::Text.array_of()));
            let kernel = stoa_pg::functions::json::access::assign_kernel();
            return Ok(internal_call(ASSIGN_JSONB, "jsonb_assign", kernel, vec![base, path, value], column.ty.clone()));
        }
        if let (Some((key, _)), [Subscript::Index { index }]) = (super::map::parts(&column.ty.ty), subscripts) {
            let bound = self.bind_expr(index).map_err(unplaced)?;
            let key = self.coerce(bound, &key, CastContext::Assignment).map_err(unplaced)?;
            return Ok(self.map_changed(base, Change::Put, vec![key, value]));
        }
        let int4 = SqlType::new(PgType::Int4);
        let bound_of = |b: &mut Self, e: &E| -> PgResult<Expr> {
            let bound = b.bind_expr(e).map_err(unplaced)?;
            b.coerce(bound, &int4, CastContext::Assignment).map_err(|e| {
                if e.code() == SqlState::CANNOT_COERCE {
                    PgError::new(SqlState::DATATYPE_MISMATCH, "array subscript must have type integer")
                } else {
                    unplaced(e)
                }
            })
        };
        let slice = subscripts.iter().any(|s| matches!(s, Subscript::Slice { .. }));
        let (base, value) = (self.widen(base)?, self.widen(value)?);
        let mut args = vec![base, value];
        let ty = column.ty.widened();
        let out = if slice {
            let mut written = Vec::with_capacity(subscripts.len());
            let mut code = 0;
            for s in subscripts {
                let (lower, upper) = match s {
                    // Beside slices, a subscript is one that begins at 1.
                    Subscript::Index { index } => {
                        let one = Expr::new(ExprKind::Const(ScalarValue::Int32(Some(1))), int4.clone());
                        (Some(one), Some(bound_of(self, index)?))
                    }
                    Subscript::Slice { lower_bound, upper_bound, .. } => {
                        let mut bound = |e: &Option<E>| e.as_ref().map(|e| bound_of(self, e)).transpose();
                        (bound(lower_bound)?, bound(upper_bound)?)
                    }
                };
                written.push((lower.is_some(), upper.is_some()));
                code = code << 2 | u32::from(lower.is_some()) << 1 | u32::from(upper.is_some());
                args.extend(lower.into_iter().chain(upper));
            }
            internal_call(ASSIGN_SLICE + (code & 0x7fff), "array_assign_slice", assign_slice_kernel(written), args, ty)
        } else {
            for s in subscripts {
                if let Subscript::Index { index } = s {
                    args.push(bound_of(self, index)?);
                }
            }
            internal_call(ASSIGN_SUBSCRIPT, "array_assign", assign_subscript_kernel(), args, ty)
        };
        self.coerce_assignment(out, &column.ty, &column.name)
    }
}

/// A call of a kernel that no name leads to.
pub(super) fn internal_call(oid: u32, name: &'static str, kernel: stoa_pg::args::Kernel, args: Vec<Expr>, ty: SqlType) -> Expr {
    let types: Vec<PgType> = args.iter().map(|a| a.ty.ty.clone()).collect();
    let mut func = Func::of_kind(name, &types, ty.ty.clone(), FuncKind::Scalar(kernel), "");
    func.oid = oid;
    func.strict = false;
    Expr::new(ExprKind::Func { func: FuncRef(Arc::new(func)), args }, ty)
}

fn no_parts(ty: &SqlType) -> PgError {
    let message = format!("cannot subscript type {} because it does not support subscripting", ty.ty);
    PgError::new(SqlState::DATATYPE_MISMATCH, message)
}

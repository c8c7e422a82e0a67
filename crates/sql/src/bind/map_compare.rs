//! What a map has of another map or of names: `@>`, `<@`, `?|`, `?&`, as hstore's operators.
//!
//! Where what is asked for is known, they are conditions on single entries, which are read one by one and found by indexes. Else the whole map
//! is compared.

use super::Binder;
use super::expr::{and, bool_type, or};
use super::function::bool_const;
use super::map::{any_key, parts, stored_args};
use crate::typed::constant;
use crate::typed::from_datafusion;
use crate::typed::tree::{Expr, ExprKind};
use datafusion_common::ScalarValue;
use stoa_pg::registry::CastContext;
use stoa_pg::values::array::elements_of_value;
use stoa_pg::values::map::entries;
use stoa_pg::{PgError, PgResult, PgType, SqlType};

/// Names that are asked for beyond which the whole map is compared.
const MOST: usize = 100;

impl Binder<'_> {
    /// `left operator right` where one side is a map; `None` if it is no such operator.
    ///
    /// # Errors
    /// 42804 for a right side that has not the map's types.
    pub(super) fn map_compared(&mut self, name: &str, left: &Expr, right: &Expr) -> PgResult<Option<Expr>> {
        match name {
            "@>" if parts(&left.ty.ty).is_some() => self.map_has_entries(left, right).map(Some),
            "<@" if parts(&right.ty.ty).is_some() => self.map_has_entries(right, left).map(Some),
            "<@" if parts(&left.ty.ty).is_some() => {
                let other = self.coerce(right.clone(), &left.ty.clone(), CastContext::Implicit)?;
                self.map_has_entries(&other, left).map(Some)
            }
            "?|" | "?&" if parts(&left.ty.ty).is_some() => self.map_has_keys(left, right, name == "?&").map(Some),
            _ => Ok(None),
        }
    }

    /// Whether a map has all entries of another.
    fn map_has_entries(&mut self, map: &Expr, other: &Expr) -> PgResult<Expr> {
        let other = self.coerce(other.clone(), &map.ty.clone(), CastContext::Implicit)?;
        if other.is_null_const() {
            return Ok(Expr::new(ExprKind::Const(ScalarValue::Boolean(None)), bool_type()));
        }
        let known = known_entries(constant::evaluate(self.ctx.eval, &other).ok().flatten())?;
        let (Some(asked), Some((key, value))) = (known.filter(|asked| (1..=MOST).contains(&asked.len())), parts(&map.ty.ty)) else {
            let merged = self.operator("||", Some(map.clone()), other)?;
            return self.operator("=", Some(merged), map.clone());
        };
        let mut conditions = Vec::with_capacity(asked.len() * 2);
        for (k, v) in asked {
            let at = Expr::new(ExprKind::Const(k), key.clone());
            let read = self.operator("->", Some(map.clone()), at.clone())?;
            if v.is_null() {
                conditions.push(self.operator("?", Some(map.clone()), at)?);
                conditions.push(Expr::new(ExprKind::IsNull(Box::new(read)), bool_type()));
            } else {
                // False, not NULL, where the entry is not there.
                conditions.push(Expr::new(ExprKind::IsNotNull(Box::new(read.clone())), bool_type()));
                conditions.push(self.operator("=", Some(read), Expr::new(ExprKind::Const(v), value.clone()))?);
            }
        }
        Ok(and(conditions))
    }

    /// Whether a map has any, or all, of some keys.
    fn map_has_keys(&mut self, map: &Expr, keys: &Expr, all: bool) -> PgResult<Expr> {
        let key = parts(&map.ty.ty).map_or_else(|| keys.ty.clone(), |(key, _)| key);
        let keys = self.coerce(keys.clone(), &key.array_of(), CastContext::Implicit)?;
        let keys = self.widen(keys)?;
        let known = known_elements(constant::evaluate(self.ctx.eval, &keys).ok().flatten(), &key)?.filter(|known| known.len() <= MOST);
        match known {
            Some(known) if known.is_empty() => Ok(bool_const(all)),
            Some(known) if all => {
                let has = known.into_iter().map(|at| self.operator("?", Some(map.clone()), at)).collect::<PgResult<Vec<_>>>()?;
                Ok(and(has))
            }
            Some(known) if stored_args(map).is_some() => Ok(any_key(map.clone(), known)),
            Some(known) => {
                let has = known.into_iter().map(|at| self.operator("?", Some(map.clone()), at)).collect::<PgResult<Vec<_>>>()?;
                Ok(or(has))
            }
            None => {
                let null = Expr::new(ExprKind::Const(ScalarValue::Null), SqlType::new(PgType::Unknown));
                let asked = self.call("array_remove", vec![keys, null])?;
                let own = self.map_call("map_keys", std::slice::from_ref(map))?.ok_or_else(|| PgError::internal("a map without keys"))?;
                self.operator(if all { "@>" } else { "&&" }, Some(own), asked)
            }
        }
    }
}

/// The entries of a map that is known; `None` for NULL.
fn known_entries(map: Option<ScalarValue>) -> PgResult<Option<Vec<(ScalarValue, ScalarValue)>>> {
    let Some(ScalarValue::Map(column)) = map.filter(|map| !map.is_null()) else { return Ok(None) };
    let of = |array, at| ScalarValue::try_from_array(array, at).map_err(from_datafusion);
    let known = entries(&column, 0).map(|at| Ok((of(column.keys().as_ref(), at)?, of(column.values().as_ref(), at)?)));
    known.collect::<PgResult<_>>().map(Some)
}

/// The elements of an array that is known, without NULLs; `None` for NULL.
fn known_elements(array: Option<ScalarValue>, ty: &SqlType) -> PgResult<Option<Vec<Expr>>> {
    let Some(elements) = array.map(|array| elements_of_value(&array)).transpose()?.flatten() else { return Ok(None) };
    let values = (0..elements.len()).map(|at| ScalarValue::try_from_array(&elements, at).map_err(from_datafusion));
    let values: Vec<ScalarValue> = values.collect::<PgResult<_>>()?;
    let known = values.into_iter().filter(|value| !value.is_null());
    Ok(Some(known.map(|value| Expr::new(ExprKind::Const(value), ty.clone())).collect()))
}

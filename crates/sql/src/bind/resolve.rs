//! Types of expressions: coercion, the common type of several expressions, and the choice of a signature by PostgreSQL's rules
//! ("Functions and Operators: Type Conversion").

use super::Binder;
use super::common_row::{common_row, is_row, no_common_row};
use crate::typed::condition::{flat, settled};
use crate::typed::tree::{Expr, ExprKind, OperRef};
use arrow::datatypes::DataType;
use datafusion_common::ScalarValue;
use std::sync::Arc;
use stoa_pg::registry::{CastContext, Oper, Registry};
use stoa_pg::types::{TRIMMED, array_arrow, array_item};
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};

/// Whether a value of one type may stand where the other is wanted, in a context.
#[must_use]
pub fn can_coerce(from: &PgType, to: &PgType, context: CastContext) -> bool {
    if from == to || *from == PgType::Unknown || *to == PgType::Any {
        return true;
    }
    match (from, to) {
        (_, PgType::AnyElement | PgType::AnyCompatible) => return true,
        (PgType::Array(_) | PgType::Int2Vector | PgType::OidVector, PgType::AnyArray | PgType::AnyCompatibleArray) => return true,
        (_, PgType::AnyArray | PgType::AnyCompatibleArray) => return false,
        (f, PgType::AnyNonArray) => return !f.is_array(),
        (PgType::Record(_), PgType::Record(_)) => return true,
        (PgType::Array(a), PgType::Array(b)) => return can_coerce(a, b, context),
        (PgType::Map(key, value), PgType::Map(to_key, to_value)) => {
            return can_coerce(key, to_key, context) && can_coerce(value, to_value, context);
        }
        (PgType::Json | PgType::Jsonb, PgType::Map(..)) | (PgType::Map(..), PgType::Json | PgType::Jsonb) => {
            return context >= CastContext::Explicit;
        }
        (PgType::Int2Vector, PgType::Array(b)) => return can_coerce(&PgType::Int2, b, context),
        (PgType::OidVector, PgType::Array(b)) => return can_coerce(&PgType::Oid, b, context),
        _ => {}
    }
    if let Some(cast) = Registry::get().cast(from, to) {
        return cast.context <= context;
    }
    // Through the text form: to a string type by assignment, from one explicitly.
    if to.is_string() {
        return context >= CastContext::Assignment;
    }
    from.is_string() && context >= CastContext::Explicit && !to.is_pseudo()
}

fn name_of_op(op: &str) -> &str {
    op
}

impl Binder<'_> {
    /// The expression as a value of a type: unknown literals are read, parameters learn their type, others are cast.
    pub fn coerce(&mut self, expr: Expr, target: &SqlType, context: CastContext) -> PgResult<Expr> {
        let explicit = context == CastContext::Explicit;
        if expr.ty.ty == PgType::Unknown {
            let row = matches!(target.ty, PgType::Record(_)) || target.ty.element().is_some_and(|e| matches!(e, PgType::Record(_)));
            let empty =
                |value: &ScalarValue| matches!(value, ScalarValue::Utf8View(Some(text)) if text.trim() == "{}") && target.ty.is_array();
            if row && context == CastContext::Implicit && matches!(&expr.kind, ExprKind::Const(value) if !value.is_null() && !empty(value))
            {
                return Err(PgError::unsupported("input of anonymous composite types is not implemented"));
            }
            return self.coerce_unknown(expr, target, explicit);
        }
        // A row is a record, with the fields that it has.
        let is_row = matches!(expr.ty.ty, PgType::Record(_)) && target.ty == PgType::Record(None);
        if expr.ty == *target || is_row {
            return Ok(expr);
        }
        if expr.ty.ty != target.ty && !can_coerce(&expr.ty.ty, &target.ty, context) {
            return Err(PgError::new(SqlState::CANNOT_COERCE, format!("cannot cast type {} to {}", expr.ty.ty, target.ty)));
        }
        match (&expr.ty.ty, &target.ty) {
            (PgType::Map(..), PgType::Map(..)) => {
                if let Some(pairs) = self.pairs_as(&expr, target, context)? {
                    return Ok(pairs);
                }
            }
            (PgType::Map(..), PgType::Jsonb) => return self.call("to_jsonb", vec![expr]),
            (PgType::Map(..), PgType::Json) => return self.call("to_json", vec![expr]),
            _ => {}
        }
        // Without a modifier in the target, the value keeps its own, and a numeric its decimal form.
        if expr.ty.ty == target.ty
            && target.typmod == -1
            && target.arrow == target.ty.arrow()
            && (expr.ty.arrow == target.arrow || same_shape(&expr.ty.arrow, &target.arrow))
        {
            return Ok(expr);
        }
        let target = cast_result_type(&expr.ty, target);
        if expr.ty == target {
            return Ok(expr);
        }
        Ok(self.fold(Expr::new(ExprKind::Cast { arg: Box::new(expr), explicit }, target)))
    }

    fn coerce_unknown(&mut self, expr: Expr, target: &SqlType, explicit: bool) -> PgResult<Expr> {
        match expr.kind {
            ExprKind::Const(value) if expr.ty.typmod >= 0 => self.string_of_type(expr.ty.typmod, value, target, explicit),
            ExprKind::Const(value) => self.literal_of_type(value, target, explicit),
            ExprKind::Param(index) => {
                let mut ty = SqlType::new(target.ty.clone());
                ty.typmod = -1;
                // Another place has given it a type since this one was read.
                if let Some(known) = self.params.get(index).and_then(Option::as_ref).filter(|known| known.ty != ty.ty) {
                    return Err(PgError::new(SqlState(*b"42P08"), format!("inconsistent types deduced for parameter ${}", index + 1))
                        .detail(format!("{} versus {}", known.ty, ty.ty)));
                }
                self.params[index] = Some(ty.clone());
                let param = Expr::new(ExprKind::Param(index), ty);
                // What does not fit is cut off by a cast that is written, and refused where it is assigned.
                let context = if explicit { CastContext::Explicit } else { CastContext::Assignment };
                if target.typmod >= 0 { self.coerce(param, target, context) } else { Ok(param) }
            }
            kind => {
                // An unknown that is no literal is text.
                let text = Expr::new(kind, SqlType::new(PgType::Text));
                self.coerce(text, target, CastContext::Explicit)
            }
        }
    }

    /// A parameter that stands in a statement twice, with the type that its first place has given it.
    pub(super) fn learned(&self, expr: Expr) -> Expr {
        match (&expr.ty.ty, &expr.kind) {
            (PgType::Unknown, ExprKind::Param(index)) => match self.params.get(*index).and_then(Option::as_ref) {
                Some(known) => Expr::new(expr.kind, known.clone()),
                None => expr,
            },
            _ => expr,
        }
    }

    /// Unknown literals and parameters that nothing gave a type are text.
    pub fn resolve_unknown(&mut self, expr: Expr) -> PgResult<Expr> {
        if expr.ty.ty == PgType::Unknown { self.coerce_unknown(expr, &SqlType::new(PgType::Text), false) } else { Ok(expr) }
    }

    /// The expression where any type will do: of a parameter nothing is learned, and if nothing tells its type elsewhere, it has none.
    pub fn resolve_any(&mut self, expr: Expr) -> PgResult<Expr> {
        if let (PgType::Unknown, ExprKind::Param(index)) = (&expr.ty.ty, &expr.kind) {
            self.unlearned.push(*index);
        }
        self.resolve_unknown(expr)
    }

    /// Casts for an assignment to a column.
    pub fn coerce_assignment(&mut self, expr: Expr, target: &SqlType, column: &str) -> PgResult<Expr> {
        if expr.ty.ty != PgType::Unknown && expr.ty.ty != target.ty && !can_coerce(&expr.ty.ty, &target.ty, CastContext::Assignment) {
            return Err(PgError::new(
                SqlState::DATATYPE_MISMATCH,
                format!("column \"{column}\" is of type {} but expression is of type {}", target.ty, expr.ty.ty),
            )
            .hint("You will need to rewrite or cast the expression."));
        }
        let out = self.coerce(expr, target, CastContext::Assignment)?;
        if out.ty.arrow == target.arrow {
            if is_character(&target.ty) { self.in_form(out, target) } else { Ok(out) }
        } else {
            Ok(Expr::new(ExprKind::Cast { arg: Box::new(out), explicit: false }, target.clone()))
        }
    }

    /// The expression as a boolean, for WHERE and its kin.
    pub fn coerce_bool(&mut self, expr: Expr, what: &str) -> PgResult<Expr> {
        if expr.ty.ty != PgType::Unknown && expr.ty.ty != PgType::Bool {
            return Err(PgError::new(
                SqlState::DATATYPE_MISMATCH,
                format!("argument of {what} must be type boolean, not type {}", expr.ty.ty),
            ));
        }
        self.coerce(expr, &SqlType::new(PgType::Bool), CastContext::Implicit)
    }

    /// As [`Self::coerce_bool`], of a condition that rows pass or do not: WHERE, HAVING, ON.
    pub(crate) fn coerce_condition(&mut self, expr: Expr, what: &str) -> PgResult<Expr> {
        let condition = self.coerce_bool(expr, what)?;
        // A query around this one may find that it groups, and that a column of its own must not stand here.
        let local = self.scopes.last().map(|scope| &scope.local);
        let outer = self.scopes.len() > 1
            && condition.any(&mut |e| matches!(e.kind, ExprKind::Column(column) if local.is_some_and(|local| !local.contains(&column))));
        Ok(if outer { flat(condition) } else { settled(condition) })
    }

    /// The type that UNION, CASE, COALESCE, VALUES and ARRAY give to several expressions.
    pub fn common_type<'e>(&self, exprs: impl IntoIterator<Item = &'e Expr>, what: &str) -> PgResult<PgType> {
        Self::common_type_written(exprs, what, &|_| None)
    }

    /// The common type; an error is at the expression that does not fit, of which `written` tells the position.
    fn common_type_written<'e>(
        exprs: impl IntoIterator<Item = &'e Expr>,
        what: &str,
        written: &dyn Fn(usize) -> Option<usize>,
    ) -> PgResult<PgType> {
        let mut candidate: Option<PgType> = None;
        for (i, expr) in exprs.into_iter().enumerate() {
            let ty = &expr.ty.ty;
            if *ty == PgType::Unknown {
                continue;
            }
            match &candidate {
                None => candidate = Some(ty.clone()),
                Some(current) if current == ty => {}
                Some(current) if is_row(current) && is_row(ty) => {
                    candidate = Some(common_row(current, ty).ok_or_else(|| no_common_row(what).at(written(i)))?);
                }
                Some(current) => {
                    if current.category() != ty.category() {
                        return Err(PgError::new(
                            SqlState::DATATYPE_MISMATCH,
                            format!("{what} types {current} and {ty} cannot be matched"),
                        )
                        .at(written(i)));
                    }
                    if !current.is_preferred()
                        && can_coerce(current, ty, CastContext::Implicit)
                        && !can_coerce(ty, current, CastContext::Implicit)
                    {
                        candidate = Some(ty.clone());
                    }
                }
            }
        }
        Ok(candidate.unwrap_or(PgType::Text))
    }

    /// Casts several expressions to their common type, in one Arrow form.
    pub fn unify(&mut self, exprs: Vec<Expr>, what: &str) -> PgResult<(Vec<Expr>, SqlType)> {
        self.unify_written(exprs, what, &|_, _| None)
    }

    /// Casts several expressions to their common type; an error is at the expression that it is about, of which `written` tells the
    /// position.
    pub fn unify_written(
        &mut self,
        exprs: Vec<Expr>,
        what: &str,
        written: &dyn Fn(&Self, usize) -> Option<usize>,
    ) -> PgResult<(Vec<Expr>, SqlType)> {
        let ty = Self::common_type_written(&exprs, what, &|i| written(self, i))?;
        let mut out = Vec::with_capacity(exprs.len());
        for (i, expr) in exprs.into_iter().enumerate() {
            let from = expr.ty.ty.clone();
            let cast = self.coerce(expr, &SqlType::new(ty.clone()), CastContext::Implicit).map_err(|e| {
                let e = if e.code() == SqlState::CANNOT_COERCE {
                    PgError::new(SqlState::CANNOT_COERCE, format!("{what} could not convert type {from} to {ty}"))
                } else {
                    e
                };
                e.at(written(self, i))
            })?;
            out.push(cast);
        }
        self.one_form(out)
    }

    /// Gives expressions of one SQL type one Arrow form and one modifier.
    pub fn one_form(&mut self, exprs: Vec<Expr>) -> PgResult<(Vec<Expr>, SqlType)> {
        let Some(ty) = common_form(exprs.iter().map(|e| (&e.ty, e.is_null_const()))) else {
            return Err(PgError::internal("no expressions to unify"));
        };
        let mut out = Vec::with_capacity(exprs.len());
        for expr in exprs {
            out.push(self.in_form(expr, &ty)?);
        }
        Ok((out, ty))
    }

    /// The same value in another Arrow form of its type; the modifier is only relabelled.
    pub fn in_form(&mut self, mut expr: Expr, ty: &SqlType) -> PgResult<Expr> {
        if expr.ty.arrow == ty.arrow {
            // Blanks of a length go into the value where the type does not tell it.
            if expr.ty.typmod != ty.typmod && is_character(&ty.ty) {
                return Ok(self.fold(Expr::new(ExprKind::Cast { arg: Box::new(expr), explicit: false }, ty.clone())));
            }
            // What a cast has cut off stays cut off.
            if matches!(expr.kind, ExprKind::Cast { .. }) && expr.ty.typmod != ty.typmod {
                return Ok(Expr::new(ExprKind::Cast { arg: Box::new(expr), explicit: false }, ty.clone()));
            }
            expr.ty = ty.clone();
            return Ok(expr);
        }
        let target = SqlType { ty: ty.ty.clone(), typmod: -1, arrow: ty.arrow.clone() };
        let mut cast = self.fold(Expr::new(ExprKind::Cast { arg: Box::new(expr), explicit: false }, target));
        cast.ty = ty.clone();
        Ok(cast)
    }

    /// Finds the operator for argument types; `left` is `None` for prefix operators.
    pub fn find_operator(&self, name: &str, left: Option<&PgType>, right: &PgType) -> PgResult<Arc<Oper>> {
        let all = Registry::get().operators(name);
        // One unknown argument is taken to be of the other's type first.
        if let Some(left) = left
            && (*left == PgType::Unknown) != (*right == PgType::Unknown)
        {
            let known = if *left == PgType::Unknown { right } else { left };
            if let Some(exact) = all.iter().find(|o| o.left.as_ref() == Some(known) && o.right == *known) {
                return Ok(exact.clone());
            }
        }
        if let Some(exact) = all.iter().find(|o| o.left.as_ref() == left && o.right == *right) {
            return Ok(exact.clone());
        }
        // PostgreSQL takes the unknown side of an element for a range or for several of them.
        if let Some(left) = left
            && let Some(known) = match (name, left, right) {
                ("<@", known, PgType::Unknown) | ("@>", PgType::Unknown, known) => Some(known),
                _ => None,
            }
            && !known.is_array()
            && *known != PgType::Unknown
        {
            return Err(PgError::new(SqlState::AMBIGUOUS_FUNCTION, format!("operator is not unique: {left} {name} {right}"))
                .hint("Could not choose a best candidate operator. You might need to add explicit type casts."));
        }
        let candidates: Vec<&Arc<Oper>> = all.iter().filter(|o| o.left.is_some() == left.is_some()).collect();
        let given: Vec<PgType> = left.into_iter().chain([right]).cloned().collect();
        let signatures: Vec<Vec<PgType>> = candidates.iter().map(|o| o.left.iter().chain([&o.right]).cloned().collect()).collect();
        let describe = || match left {
            Some(left) => format!("{left} {} {right}", name_of_op(name)),
            None => format!("{} {right}", name_of_op(name)),
        };
        match select_candidate(&signatures, &given) {
            Choice::One(index) => Ok(candidates[index].clone()),
            Choice::Ambiguous => Err(PgError::new(SqlState::AMBIGUOUS_FUNCTION, format!("operator is not unique: {}", describe()))
                .hint("Could not choose a best candidate operator. You might need to add explicit type casts.")),
            Choice::None => Err(PgError::new(SqlState::UNDEFINED_FUNCTION, format!("operator does not exist: {}", describe())).hint(
                if left.is_some() {
                    "No operator matches the given name and argument types. You might need to add explicit type casts."
                } else {
                    "No operator matches the given name and argument type. You might need to add an explicit type cast."
                },
            )),
        }
    }

    /// Builds `left op right` (or a prefix operator): resolves, casts the arguments, finds the result's form.
    pub fn operator(&mut self, name: &str, left: Option<Expr>, right: Expr) -> PgResult<Expr> {
        if let Some(left) = &left
            && let Some(out) = self.map_operator(name, left, &right)?
        {
            return Ok(out);
        }
        let oper = self.find_operator(name, left.as_ref().map(|l| &l.ty.ty), &right.ty.ty)?;
        let args: Vec<Expr> = left.into_iter().chain([right]).collect();
        self.apply_operator(oper, args)
    }

    /// Casts the arguments of a resolved operator and types the result.
    pub fn apply_operator(&mut self, oper: Arc<Oper>, args: Vec<Expr>) -> PgResult<Expr> {
        let declared: Vec<PgType> = oper.left.iter().chain([&oper.right]).cloned().collect();
        let (args, ret) = self.apply_signature(&declared, false, &oper.ret, args)?;
        let (mut args, ret) = self.decimal_form(&oper, args, ret)?;
        // Blanks at the end do not count where both sides are characters.
        if declared.iter().all(|ty| *ty == PgType::Bpchar) {
            args = args.into_iter().map(|arg| self.without_blanks(arg)).collect::<PgResult<_>>()?;
        }
        Ok(self.fold(Expr::new(ExprKind::Oper { oper: OperRef(oper), args }, ret)))
    }

    /// A `character`, or an array of them, in the form that compares by its text.
    pub(super) fn without_blanks(&mut self, expr: Expr) -> PgResult<Expr> {
        if expr.ty.typmod >= 0 {
            return Ok(expr);
        }
        let ty = SqlType { typmod: TRIMMED, ..expr.ty.clone() };
        self.in_form(expr, &ty)
    }

    /// Numeric arithmetic and comparison stay on 128-bit decimals when both scales are fixed and the result fits; otherwise
    /// the arguments take the sortable form.
    fn decimal_form(&mut self, oper: &Oper, args: Vec<Expr>, ret: SqlType) -> PgResult<(Vec<Expr>, SqlType)> {
        if args.iter().all(|a| a.ty.ty != PgType::Numeric) {
            return Ok((args, ret));
        }
        if let [a, b] = args.as_slice()
            && let (Some((p1, s1)), Some((p2, s2))) = (a.ty.decimal_parts(), b.ty.decimal_parts())
        {
            let scale = s1.max(s2);
            let whole = (i16::from(p1) - i16::from(s1)).max(i16::from(p2) - i16::from(s2));
            match oper.name {
                "=" | "<>" | "<" | "<=" | ">" | ">=" if whole + i16::from(scale) <= 38 => {
                    let form = SqlType::decimal((whole + i16::from(scale)) as u8, scale);
                    let args = args.into_iter().map(|a| self.in_form(a, &form)).collect::<PgResult<_>>()?;
                    return Ok((args, ret));
                }
                "+" | "-" if whole + i16::from(scale) < 38 => {
                    return Ok((args, SqlType::decimal((whole + i16::from(scale) + 1) as u8, scale)));
                }
                "*" if u16::from(p1) + u16::from(p2) < 38 => {
                    return Ok((args, SqlType::decimal(p1 + p2 + 1, s1 + s2)));
                }
                _ => {}
            }
        }
        if let [a] = args.as_slice()
            && a.ty.decimal_parts().is_some()
            && oper.name == "-"
        {
            let ret = SqlType { ty: PgType::Numeric, typmod: -1, arrow: a.ty.arrow.clone() };
            return Ok((args, ret));
        }
        let args = args.into_iter().map(|a| self.widen(a)).collect::<PgResult<_>>()?;
        Ok((args, ret))
    }

    /// The expression in the widest Arrow form of its type, which kernels take.
    pub fn widen(&mut self, expr: Expr) -> PgResult<Expr> {
        let wide = expr.ty.widened();
        if wide.arrow == expr.ty.arrow { Ok(expr) } else { self.in_form(expr, &wide) }
    }

    /// Casts arguments to a declared signature, resolving polymorphic types; gives the result type.
    pub fn apply_signature(
        &mut self,
        declared: &[PgType],
        variadic: bool,
        ret: &PgType,
        args: Vec<Expr>,
    ) -> PgResult<(Vec<Expr>, SqlType)> {
        let declared_at = |i: usize| if variadic && i >= declared.len() { declared.last() } else { declared.get(i) };
        let mut element: Option<PgType> = None;
        let mut compatible: Vec<Expr> = Vec::new();
        let mut element_form: Option<DataType> = None;
        for (i, arg) in args.iter().enumerate() {
            match declared_at(i) {
                Some(PgType::AnyElement | PgType::AnyNonArray) if arg.ty.ty != PgType::Unknown => {
                    merge_element(&mut element, arg.ty.ty.clone(), "anyelement")?;
                    element_form.get_or_insert_with(|| arg.ty.arrow.clone());
                }
                Some(PgType::AnyArray) if arg.ty.ty != PgType::Unknown => {
                    merge_element(&mut element, arg.ty.ty.element().unwrap_or(PgType::Text), "anyarray")?;
                }
                Some(PgType::AnyCompatible) => compatible.push(arg.clone()),
                Some(PgType::AnyCompatibleArray) => {
                    if let Some(inner) = arg.ty.ty.element() {
                        compatible.push(Expr::new(ExprKind::Const(ScalarValue::Null), SqlType::new(inner)));
                    }
                }
                _ => {}
            }
        }
        let compatible_type = if compatible.is_empty() { None } else { Some(self.common_type(&compatible, "arguments")?) };
        let polymorphic = declared.iter().any(|d| matches!(d, PgType::AnyElement | PgType::AnyArray | PgType::AnyNonArray));
        if polymorphic && element.is_none() {
            return Err(PgError::new(SqlState::DATATYPE_MISMATCH, "could not determine polymorphic type because input has type unknown"));
        }
        let mut out = Vec::with_capacity(args.len());
        for (i, arg) in args.into_iter().enumerate() {
            let target = match declared_at(i) {
                Some(PgType::AnyElement | PgType::AnyNonArray) => element.clone().unwrap_or(PgType::Text),
                Some(PgType::AnyArray) => match &arg.ty.ty {
                    PgType::Int2Vector | PgType::OidVector => arg.ty.ty.clone(),
                    _ => element.clone().unwrap_or(PgType::Text).array_of(),
                },
                Some(PgType::AnyCompatible) => compatible_type.clone().unwrap_or(PgType::Text),
                Some(PgType::AnyCompatibleArray) => match &arg.ty.ty {
                    PgType::Int2Vector | PgType::OidVector => arg.ty.ty.clone(),
                    _ => compatible_type.clone().unwrap_or(PgType::Text).array_of(),
                },
                Some(PgType::Any) | None => {
                    let arg = self.resolve_any(arg)?;
                    out.push(self.widen(arg)?);
                    continue;
                }
                Some(PgType::Record(_)) => {
                    if arg.ty.ty == PgType::Unknown && matches!(arg.kind, ExprKind::Const(_)) && !arg.is_null_const() {
                        return Err(PgError::unsupported("input of anonymous composite types is not implemented"));
                    }
                    out.push(arg);
                    continue;
                }
                Some(other) => other.clone(),
            };
            let keep_decimal = target == PgType::Numeric;
            let generic = declared_at(i).is_some_and(PgType::is_pseudo);
            let mut cast = self.coerce(arg, &SqlType::new(target), CastContext::Implicit)?;
            // The result's type tells no length.
            if generic && is_character(&cast.ty.ty) && cast.ty.typmod >= 0 {
                let plain = SqlType { typmod: -1, ..cast.ty.clone() };
                cast = self.in_form(cast, &plain)?;
            }
            out.push(if keep_decimal { cast } else { self.widen(cast)? });
        }
        let ret_type = match ret {
            PgType::AnyElement | PgType::AnyNonArray => element.unwrap_or(PgType::Text),
            PgType::AnyArray => element.unwrap_or(PgType::Text).array_of(),
            PgType::AnyCompatible => compatible_type.unwrap_or(PgType::Text),
            PgType::AnyCompatibleArray => compatible_type.unwrap_or(PgType::Text).array_of(),
            other => other.clone(),
        };
        let mut ret_type = SqlType::new(ret_type);
        // Records keep their fields.
        if let PgType::Record(None) = ret_type.ty
            && let Some(arg) = out.iter().find(|a| matches!(a.ty.ty, PgType::Record(Some(_))))
        {
            ret_type = arg.ty.clone();
        }
        Ok((out, ret_type))
    }
}

/// Whether values are characters whose length may be in the type alone, or arrays of such.
fn is_character(ty: &PgType) -> bool {
    *ty == PgType::Bpchar || matches!(ty, PgType::Array(inner) if **inner == PgType::Bpchar)
}

/// Whether values of one SQL type may travel in either form.
fn same_shape(a: &DataType, b: &DataType) -> bool {
    match (array_item(a), array_item(b)) {
        (Some(a), Some(b)) => a == b || same_shape(a, b),
        _ => matches!((a, b), (DataType::Decimal128(..), DataType::BinaryView)),
    }
}

fn merge_element(element: &mut Option<PgType>, ty: PgType, what: &str) -> PgResult<()> {
    match element {
        None => {
            *element = Some(ty);
            Ok(())
        }
        Some(current) if *current == ty => Ok(()),
        Some(current) => Err(PgError::new(SqlState::DATATYPE_MISMATCH, format!("arguments declared \"{what}\" are not all alike"))
            .detail(format!("{current} versus {ty}"))),
    }
}

/// The type that a cast from `from` to `target` gives: integers become decimals of fixed scale.
fn cast_result_type(from: &SqlType, target: &SqlType) -> SqlType {
    if target.ty == PgType::Numeric && target.typmod == -1 && target.arrow == DataType::BinaryView {
        let digits = match from.ty {
            PgType::Int2 => Some(5),
            PgType::Int4 => Some(10),
            PgType::Int8 => Some(19),
            _ => None,
        };
        if let Some(digits) = digits {
            return SqlType::decimal(digits, 0);
        }
    }
    target.clone()
}

/// One form for values of one SQL type: the same modifier if all have it, decimals if all have one scale.
#[must_use]
pub fn common_form<'t>(types: impl Iterator<Item = (&'t SqlType, bool)>) -> Option<SqlType> {
    let types: Vec<(&SqlType, bool)> = types.collect();
    let meaningful: Vec<&SqlType> = types.iter().filter(|(_, is_null)| !is_null).map(|(t, _)| *t).collect();
    let considered = if meaningful.is_empty() { types.iter().map(|(t, _)| *t).collect() } else { meaningful };
    let first = considered.first()?;
    let mut modifiers = types.iter().map(|(t, _)| t.typmod);
    let typmod = modifiers.next().filter(|one| modifiers.all(|m| m == *one)).unwrap_or(-1);
    let mut arrow = first.arrow.clone();
    for t in &considered {
        if t.arrow == arrow {
            continue;
        }
        arrow = common_arrow(&arrow, &t.arrow);
    }
    Some(SqlType { ty: first.ty.clone(), typmod, arrow })
}

/// A form that holds the values of two forms of one type.
fn common_arrow(a: &DataType, b: &DataType) -> DataType {
    if let (Some(a), Some(b)) = (array_item(a), array_item(b)) {
        return array_arrow(common_arrow(a, b));
    }
    match (a, b) {
        (DataType::Decimal128(p1, s1), DataType::Decimal128(p2, s2)) if s1 == s2 => DataType::Decimal128(*p1.max(p2), *s1),
        (DataType::Decimal128(..) | DataType::BinaryView, DataType::Decimal128(..) | DataType::BinaryView) => DataType::BinaryView,
        _ => a.clone(),
    }
}

/// The outcome of choosing among signatures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    One(usize),
    Ambiguous,
    None,
}

/// PostgreSQL's `func_select_candidate` over signatures of the right number of arguments.
#[must_use]
pub fn select_candidate(signatures: &[Vec<PgType>], given: &[PgType]) -> Choice {
    let mut live: Vec<usize> = (0..signatures.len())
        .filter(|i| {
            signatures[*i].len() == given.len()
                && signatures[*i].iter().zip(given).all(|(want, have)| can_coerce(have, want, CastContext::Implicit))
                && is_consistent(&signatures[*i], given)
        })
        .collect();
    match live.as_slice() {
        [] => return Choice::None,
        [one] => return Choice::One(*one),
        _ => {}
    }
    // Domains aside: the most exact matches on known arguments.
    let exact = |i: usize| signatures[i].iter().zip(given).filter(|(want, have)| **have != PgType::Unknown && want == have).count();
    keep_best(&mut live, exact);
    if let [one] = live.as_slice() {
        return Choice::One(*one);
    }
    // The most preferred types where a cast is needed.
    let preferred = |i: usize| {
        signatures[i]
            .iter()
            .zip(given)
            .filter(|(want, have)| {
                **have != PgType::Unknown && (want == have || (want.is_preferred() && want.category() == have.category()))
            })
            .count()
    };
    keep_best(&mut live, preferred);
    if let [one] = live.as_slice() {
        return Choice::One(*one);
    }
    if given.iter().all(|g| *g != PgType::Unknown) {
        return Choice::Ambiguous;
    }
    // Unknown arguments: a category that all candidates share there, string if one has it.
    let mut resolved = true;
    let mut slot_category: Vec<Option<char>> = vec![None; given.len()];
    let mut slot_preferred = vec![false; given.len()];
    for (at, have) in given.iter().enumerate() {
        if *have != PgType::Unknown {
            continue;
        }
        let mut category: Option<char> = None;
        let mut conflict = false;
        let mut has_preferred = false;
        for i in &live {
            let want = &signatures[*i][at];
            let c = want.category();
            match category {
                None => {
                    category = Some(c);
                    has_preferred = want.is_preferred();
                }
                Some(existing) if existing == c => has_preferred |= want.is_preferred(),
                Some(_) if c == 'S' => {
                    category = Some('S');
                    has_preferred = want.is_preferred();
                    conflict = false;
                }
                Some('S') => {}
                Some(_) => conflict = true,
            }
        }
        if conflict && category != Some('S') {
            resolved = false;
        } else {
            slot_category[at] = category;
            slot_preferred[at] = has_preferred;
        }
    }
    if resolved {
        let fits: Vec<usize> = live
            .iter()
            .copied()
            .filter(|i| {
                slot_category.iter().enumerate().all(|(at, category)| {
                    category.is_none_or(|c| {
                        let want = &signatures[*i][at];
                        want.category() == c && (!slot_preferred[at] || want.is_preferred())
                    })
                })
            })
            .collect();
        if !fits.is_empty() {
            live = fits;
        }
        if let [one] = live.as_slice() {
            return Choice::One(*one);
        }
    }
    // All known arguments of one type: take the unknown ones to be of it.
    let mut known = given.iter().filter(|g| **g != PgType::Unknown);
    if let Some(first) = known.next()
        && known.all(|k| k == first)
    {
        let all_alike = vec![first.clone(); given.len()];
        let fits: Vec<usize> = live
            .iter()
            .copied()
            .filter(|i| {
                signatures[*i].iter().all(|want| can_coerce(first, want, CastContext::Implicit))
                    && is_consistent(&signatures[*i], &all_alike)
            })
            .collect();
        if let [one] = fits.as_slice() {
            return Choice::One(*one);
        }
    }
    Choice::Ambiguous
}

/// Whether the polymorphic types of a signature can stand for these arguments: one element type for `anyelement` and its kin, a common
/// type for `anycompatible` and its kin.
fn is_consistent(signature: &[PgType], given: &[PgType]) -> bool {
    let mut element: Option<PgType> = None;
    let mut compatible: Vec<PgType> = Vec::new();
    for (want, have) in signature.iter().zip(given) {
        if *have == PgType::Unknown {
            continue;
        }
        match want {
            PgType::AnyElement | PgType::AnyNonArray | PgType::AnyArray => {
                let one = if *want == PgType::AnyArray { have.element() } else { Some(have.clone()) };
                let Some(one) = one else { return false };
                if element.get_or_insert_with(|| one.clone()) != &one {
                    return false;
                }
            }
            PgType::AnyCompatible => compatible.push(have.clone()),
            PgType::AnyCompatibleArray => match have.element() {
                Some(one) => compatible.push(one),
                None => return false,
            },
            _ => {}
        }
    }
    // The element of an array cannot be an array; a vector of the catalogs can be one.
    let is_array = |ty: &PgType| matches!(ty, PgType::Array(_));
    let arrays = signature.contains(&PgType::AnyArray) && element.as_ref().is_some_and(is_array);
    let compatible_arrays = signature.contains(&PgType::AnyCompatibleArray) && compatible.iter().any(is_array);
    if arrays || compatible_arrays {
        return false;
    }
    common_of(&compatible).is_none_or(|common| compatible.iter().all(|t| can_coerce(t, &common, CastContext::Implicit)))
        && compatible.first().is_none_or(|first| compatible.iter().all(|t| t.category() == first.category()))
}

/// The type that PostgreSQL chooses for several, if they are of one category.
fn common_of(types: &[PgType]) -> Option<PgType> {
    let mut candidate: Option<PgType> = None;
    for ty in types {
        match &candidate {
            None => candidate = Some(ty.clone()),
            Some(current) if current == ty => {}
            Some(current) if is_row(current) && is_row(ty) => candidate = common_row(current, ty).or(candidate),
            Some(current) => {
                if !current.is_preferred()
                    && can_coerce(current, ty, CastContext::Implicit)
                    && !can_coerce(ty, current, CastContext::Implicit)
                {
                    candidate = Some(ty.clone());
                }
            }
        }
    }
    candidate
}

fn keep_best(live: &mut Vec<usize>, score: impl Fn(usize) -> usize) {
    let best = live.iter().map(|i| score(*i)).max().unwrap_or(0);
    live.retain(|i| score(*i) == best);
}

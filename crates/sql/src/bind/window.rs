//! Calls of window functions, windows and their frames.

use super::aggregate_call::count_of_nothing;
use super::function::CallArgs;
use super::resolve::can_coerce;
use super::scope::Clause;
use super::{Binder, fold};
use crate::typed::tree::{AggregateExpr, Expr, ExprKind, Frame, FrameBound, FrameExclusion, FrameUnits, FuncRef, SortKey, WindowExpr};
use stoa_pg::registry::{CastContext, FuncKind, NativeWindow};
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_syntax::ast::{self, Expr as E};
use stoa_syntax::marks;

impl Binder<'_> {
    pub(super) fn bind_window_call(&mut self, name: &str, call: &CallArgs<'_>, function: &ast::Function) -> PgResult<Expr> {
        let clause = self.clause();
        if clause == Clause::Aggregate {
            let message = "aggregate function calls cannot contain window function calls";
            let at = self.pos(&function.name);
            self.misplaced.get_or_insert(PgError::new(SqlState::GROUPING_ERROR, message).at(at));
        }
        if clause == Clause::WindowArgument {
            return Err(PgError::new(SqlState::WINDOWING_ERROR, "window function calls cannot be nested"));
        }
        if matches!(clause, Clause::Window | Clause::Frame(_)) {
            return Err(PgError::new(SqlState::WINDOWING_ERROR, "window functions are not allowed in window definitions"));
        }
        if !matches!(clause, Clause::SelectList | Clause::OrderBy | Clause::Aggregate) {
            return Err(PgError::new(SqlState::WINDOWING_ERROR, format!("window functions are not allowed in {}", clause.name())));
        }
        if call.positional.is_empty() && !call.star && name == "count" {
            return Err(count_of_nothing());
        }
        if call.distinct {
            return Err(PgError::unsupported("DISTINCT is not implemented for window functions"));
        }
        if !call.order_by.is_empty() {
            return Err(PgError::unsupported("aggregate ORDER BY is not implemented for window functions"));
        }
        let (args, filter) = self.in_clause(Clause::WindowArgument, |b| {
            b.check_no_sets("window function calls", |b| {
                let args = call.positional.iter().map(|e| b.bind_expr(e)).collect::<PgResult<Vec<_>>>()?;
                let filter = match &function.filter {
                    Some(filter) => {
                        let bound = b.bind_expr(filter)?;
                        Some(b.coerce_bool(bound, "FILTER")?)
                    }
                    None => None,
                };
                Ok((args, filter))
            })
        })?;
        let (func, args) = self.find_function(name, args, Vec::new())?;
        let definition = match &function.over {
            Some(ast::WindowType::NamedWindow(ident)) => {
                let window = fold(ident);
                self.named_window(&window).map_err(|e| e.at(self.pos_span(ident.span)))?
            }
            Some(ast::WindowType::WindowSpec(spec)) => self.window_spec(spec),
            None => return Err(PgError::internal("a window call without OVER")),
        };
        if function.null_treatment.is_some() {
            return Err(PgError::unsupported("IGNORE NULLS and RESPECT NULLS are not supported"));
        }
        let aggregate = match func.kind {
            FuncKind::Window(native) => {
                if filter.is_some() {
                    return Err(PgError::unsupported("FILTER is not implemented for non-aggregate window functions"));
                }
                let (args, mut ret) = self.apply_signature(&func.args, func.variadic, &func.ret, args)?;
                let mut args = args;
                if matches!(native, NativeWindow::Lag | NativeWindow::Lead) && args.len() == 3 {
                    // The value and its default in one form.
                    let default = args.remove(2);
                    let offset = args.remove(1);
                    let value = args.remove(0);
                    let (mut both, _) = self.one_form(vec![value, default])?;
                    let default = both.remove(1);
                    args = vec![both.remove(0), offset, default];
                }
                if matches!(
                    native,
                    NativeWindow::Lag | NativeWindow::Lead | NativeWindow::FirstValue | NativeWindow::LastValue | NativeWindow::NthValue
                ) && let Some(arg) = args.first()
                {
                    // In the form of the argument; a call has no modifier.
                    ret = SqlType { typmod: -1, ..arg.ty.clone() };
                }
                AggregateExpr {
                    func: FuncRef(func),
                    args,
                    distinct: false,
                    order_by: Vec::new(),
                    filter: None,
                    within_group: false,
                    ty: ret,
                }
            }
            _ => self.aggregate_expr(func, args, false, filter)?,
        };
        let window = WindowExpr {
            func: aggregate.func,
            args: aggregate.args,
            filter: aggregate.filter,
            partition_by: definition.partition_by,
            order_by: definition.order_by,
            frame: definition.frame,
            ty: aggregate.ty,
        };
        let ty = window.ty.clone();
        Ok(Expr::new(ExprKind::Window(Box::new(window)), ty))
    }

    fn named_window(&self, name: &str) -> PgResult<WindowDefinition> {
        self.scopes
            .last()
            .and_then(|s| s.named_windows.iter().find(|(n, _)| n == name))
            .map(|(_, d)| d.clone())
            .ok_or_else(|| PgError::new(SqlState::UNDEFINED_OBJECT, format!("window \"{name}\" does not exist")))
    }

    /// Binds `OVER (…)` or the right side of `WINDOW w AS (…)`. PostgreSQL reads them behind all other clauses: an error in them waits in
    /// the scope.
    pub fn window_spec(&mut self, spec: &ast::WindowSpec) -> WindowDefinition {
        self.bind_window_spec(spec).unwrap_or_else(|error| {
            if let Some(scope) = self.scopes.last_mut() {
                scope.window_error.get_or_insert(error);
            }
            WindowDefinition::default()
        })
    }

    fn bind_window_spec(&mut self, spec: &ast::WindowSpec) -> PgResult<WindowDefinition> {
        let base = match &spec.window_name {
            Some(ident) => Some((fold(ident), self.named_window(&fold(ident)).map_err(|e| e.at(self.pos_span(ident.span)))?)),
            None => None,
        };
        let (mut partition_by, mut order_by) = self.in_clause(Clause::Window, |b| {
            let mut partition_by = Vec::with_capacity(spec.partition_by.len());
            for e in spec.partition_by.iter().filter(|e| exclusion(e).is_none()) {
                let bound = b.bind_expr(e)?;
                partition_by.push(b.resolve_unknown(bound)?);
            }
            let mut order_by = Vec::with_capacity(spec.order_by.len());
            for key in &spec.order_by {
                order_by.push(b.bind_sort_key(key)?);
            }
            Ok((partition_by, order_by))
        })?;
        let base = match base {
            Some((name, base)) => {
                if spec.partition_by.iter().any(|e| exclusion(e).is_none()) {
                    return Err(PgError::new(
                        SqlState::WINDOWING_ERROR,
                        format!("cannot override PARTITION BY clause of window \"{name}\""),
                    ));
                }
                if !base.order_by.is_empty() && !spec.order_by.is_empty() {
                    return Err(PgError::new(SqlState::WINDOWING_ERROR, format!("cannot override ORDER BY clause of window \"{name}\"")));
                }
                if base.frame.is_some() {
                    return Err(PgError::new(
                        SqlState::WINDOWING_ERROR,
                        format!("cannot copy window \"{name}\" because it has a frame clause"),
                    ));
                }
                Some(base)
            }
            None => None,
        };
        if let Some(base) = base {
            partition_by = base.partition_by;
            if order_by.is_empty() {
                order_by = base.order_by;
            }
        }
        let frame = match &spec.window_frame {
            Some(frame) => {
                let mut frame = self.bind_frame(frame, &order_by)?;
                frame.exclusion = spec.partition_by.last().and_then(exclusion).unwrap_or(FrameExclusion::None);
                Some(frame)
            }
            None => None,
        };
        Ok(WindowDefinition { partition_by, order_by, frame })
    }

    fn bind_frame(&mut self, frame: &ast::WindowFrame, order_by: &[SortKey]) -> PgResult<Frame> {
        let units = match frame.units {
            ast::WindowFrameUnits::Rows => FrameUnits::Rows,
            ast::WindowFrameUnits::Range => FrameUnits::Range,
            ast::WindowFrameUnits::Groups => FrameUnits::Groups,
        };
        // What no frame can be is reported before the offsets are looked at.
        let error = |message: &str| Err(PgError::new(SqlState::WINDOWING_ERROR, message));
        {
            use ast::WindowFrameBound as B;
            match (&frame.start_bound, &frame.end_bound) {
                (B::Following(None), _) => return error("frame start cannot be UNBOUNDED FOLLOWING"),
                (_, Some(B::Preceding(None))) => return error("frame end cannot be UNBOUNDED PRECEDING"),
                (B::CurrentRow, Some(B::Preceding(_))) => return error("frame starting from current row cannot have preceding rows"),
                (B::Following(_), Some(B::Preceding(_) | B::CurrentRow)) => {
                    return error("frame starting from following row cannot have preceding rows");
                }
                (B::Following(_), None) => return error("frame starting from following row cannot end with current row"),
                _ => {}
            }
        }
        let by_distance = |bound: &ast::WindowFrameBound| {
            matches!(bound, ast::WindowFrameBound::Preceding(Some(_)) | ast::WindowFrameBound::Following(Some(_)))
        };
        if units == FrameUnits::Range
            && order_by.len() != 1
            && (by_distance(&frame.start_bound) || frame.end_bound.as_ref().is_some_and(by_distance))
        {
            return Err(PgError::new(
                SqlState::WINDOWING_ERROR,
                "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column",
            ));
        }
        let start = self.bind_bound(&frame.start_bound, units, order_by, true)?;
        let end = match &frame.end_bound {
            Some(end) => self.bind_bound(end, units, order_by, false)?,
            None => FrameBound::CurrentRow,
        };
        let error = |message: &str| Err(PgError::new(SqlState::WINDOWING_ERROR, message));
        let has_offset = matches!(start, FrameBound::Preceding(_) | FrameBound::Following(_))
            || matches!(end, FrameBound::Preceding(_) | FrameBound::Following(_));
        if units == FrameUnits::Range && has_offset && order_by.len() != 1 {
            return error("RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column");
        }
        if units == FrameUnits::Groups && order_by.is_empty() {
            return error("GROUPS mode requires an ORDER BY clause");
        }
        Ok(Frame { units, start, end, exclusion: FrameExclusion::None })
    }

    fn bind_bound(&mut self, bound: &ast::WindowFrameBound, units: FrameUnits, order_by: &[SortKey], _start: bool) -> PgResult<FrameBound> {
        let (offset, following) = match bound {
            ast::WindowFrameBound::CurrentRow => return Ok(FrameBound::CurrentRow),
            ast::WindowFrameBound::Preceding(None) => return Ok(FrameBound::UnboundedPreceding),
            ast::WindowFrameBound::Following(None) => return Ok(FrameBound::UnboundedFollowing),
            ast::WindowFrameBound::Preceding(Some(e)) => (e, false),
            ast::WindowFrameBound::Following(Some(e)) => (e, true),
        };
        let (word, clause) = match units {
            FrameUnits::Rows => ("ROWS", "window ROWS"),
            FrameUnits::Groups => ("GROUPS", "window GROUPS"),
            FrameUnits::Range => ("RANGE", "window RANGE"),
        };
        let expr = self.in_clause(Clause::Frame(clause), |b| b.bind_expr(offset))?;
        let target = match units {
            FrameUnits::Rows | FrameUnits::Groups => PgType::Int8,
            FrameUnits::Range => match order_by.first().map(|k| &k.expr.ty.ty) {
                Some(PgType::Date | PgType::Timestamp | PgType::Timestamptz | PgType::Time | PgType::Interval) => PgType::Interval,
                Some(PgType::Int2 | PgType::Int4 | PgType::Int8) => PgType::Int8,
                Some(PgType::Numeric) => PgType::Numeric,
                Some(PgType::Float4 | PgType::Float8) => PgType::Float8,
                Some(other) => {
                    return Err(PgError::unsupported(format!(
                        "RANGE with offset PRECEDING/FOLLOWING is not supported for column type {other}"
                    )));
                }
                None => PgType::Int8,
            },
        };
        if units == FrameUnits::Range && expr.ty.ty != PgType::Unknown && !can_coerce(&expr.ty.ty, &target, CastContext::Implicit) {
            let key = order_by.first().map_or(&PgType::Unknown, |k| &k.expr.ty.ty);
            return Err(PgError::unsupported(format!(
                "RANGE with offset PRECEDING/FOLLOWING is not supported for column type {key} and offset type {}",
                expr.ty.ty
            ))
            .hint("Cast the offset value to an appropriate type."));
        }
        let mut columns = Vec::new();
        crate::typed::walk::columns_of(&expr, &mut columns);
        if columns.iter().any(|c| self.scopes.last().is_some_and(|s| s.local.contains(c))) {
            return Err(PgError::new(SqlState::INVALID_COLUMN_REFERENCE, format!("argument of {word} must not contain variables"))
                .at(self.pos(offset.as_ref())));
        }
        // A count is assigned, as that of LIMIT; a distance is an operand.
        let context = if units == FrameUnits::Range { CastContext::Implicit } else { CastContext::Assignment };
        if expr.ty.ty != PgType::Unknown && !can_coerce(&expr.ty.ty, &target, context) {
            return Err(PgError::new(
                SqlState::DATATYPE_MISMATCH,
                format!("argument of {word} must be type {target}, not type {}", expr.ty.ty),
            )
            .at(self.pos(offset.as_ref())));
        }
        let expr = Box::new(self.coerce(expr, &SqlType::new(target), context)?);
        Ok(if following { FrameBound::Following(expr) } else { FrameBound::Preceding(expr) })
    }
}

/// A window as defined by `WINDOW w AS (…)` or `OVER (…)`.
#[derive(Clone, Debug, Default)]
pub struct WindowDefinition {
    pub partition_by: Vec<Expr>,
    pub order_by: Vec<SortKey>,
    pub frame: Option<Frame>,
}

/// What EXCLUDE says, where an entry of PARTITION BY is its mark.
fn exclusion(e: &E) -> Option<FrameExclusion> {
    let at = marks::EXCLUDE.iter().position(|mark| marks::called(e, mark).is_some())?;
    [FrameExclusion::CurrentRow, FrameExclusion::Group, FrameExclusion::Ties].get(at).copied()
}

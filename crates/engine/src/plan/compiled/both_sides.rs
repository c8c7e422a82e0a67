//! Joins whose sides are read each on its own: rows are paired by equal values, and by the other conditions.
//!
//! What a join by key cannot say is this: FULL joins, and joins with rows that are there, of a CTE or of groups.

use super::keys::Keys;
use super::query::Node;
use super::scalar::{Computed, EvalArgs, comparable};
use super::simple_scan::Columns;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::compute::{filter, filter_record_batch, take};
use arrow::datatypes::{SchemaRef, UInt32Type};
use std::collections::HashMap;
use stoa_pg::{EvalContext, PgError, PgResult, PgType, SqlType};
use stoa_sql::typed::tree::{ColId, Expr, ExprKind};
use stoa_sql::typed::walk::columns_of;

/// Pairs of rows that are looked at, above which a join is left to the planner.
const MOST_PAIRS: usize = 1 << 14;

/// Which rows without a partner are given, with NULLs in the columns of the other side.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unmatched {
    None,
    Left,
    Both,
}

/// See the module.
pub(super) struct BothSides {
    pub(super) left: Node,
    pub(super) right: Node,
    pub(super) unmatched: Unmatched,
    pairing: Pairing,
}

/// What makes two rows a pair.
struct Pairing {
    /// Values of each side that are equal in a pair; none if any two rows may be one.
    keys: Option<(Keys, Keys)>,
    /// All conditions, over the columns of both sides.
    conditions: Vec<Computed>,
}

impl BothSides {
    /// `None` if a condition cannot be computed here.
    pub(super) fn compile(
        eval: &EvalContext,
        (left, of_left): (Node, &Columns),
        (right, of_right): (Node, &Columns),
        conditions: &[Expr],
        unmatched: Unmatched,
    ) -> PgResult<Option<Self>> {
        let (mut left_keys, mut right_keys) = (Vec::new(), Vec::new());
        for (own, other) in conditions.iter().filter_map(|e| equal_values(e, of_left, of_right)) {
            left_keys.push(own);
            right_keys.push(other);
        }
        let keys = Keys::compile(eval, of_left, &left_keys)?.zip(Keys::compile(eval, of_right, &right_keys)?);
        let both: Columns = of_left.iter().chain(of_right).cloned().collect();
        let mut compiled = Vec::with_capacity(conditions.len());
        for condition in conditions {
            let Some(condition) = Computed::condition(eval, &both, condition)? else { return Ok(None) };
            compiled.push(condition);
        }
        Ok(Some(Self { left, right, unmatched, pairing: Pairing { keys, conditions: compiled } }))
    }

    /// The rows of the join; `None` if there are too many pairs to look at.
    ///
    /// # Errors
    /// What the conditions raise.
    pub(super) fn joined(
        &self,
        left: &RecordBatch,
        right: &RecordBatch,
        schema: &SchemaRef,
        known: EvalArgs<'_>,
    ) -> PgResult<Option<RecordBatch>> {
        let Some((of_left, of_right)) = self.pairing.pairs(left, right, schema, known)? else { return Ok(None) };
        let mut rows: Vec<(Option<u32>, Option<u32>)> = Vec::with_capacity(of_left.len() + left.num_rows());
        let mut pairs = of_left.values().iter().zip(of_right.values()).peekable();
        let mut matched = vec![false; if self.unmatched == Unmatched::Both { right.num_rows() } else { 0 }];
        for row in (0u32..).take(left.num_rows()) {
            let before = rows.len();
            while let Some((_, other)) = pairs.next_if(|(own, _)| **own == row) {
                rows.push((Some(row), Some(*other)));
                if let Some(matched) = matched.get_mut(*other as usize) {
                    *matched = true;
                }
            }
            if rows.len() == before && self.unmatched != Unmatched::None {
                rows.push((Some(row), None));
            }
        }
        rows.extend((0u32..).zip(&matched).filter(|(_, matched)| !**matched).map(|(row, _)| (None, Some(row))));
        let of_left: UInt32Array = rows.iter().map(|(own, _)| *own).collect();
        let of_right: UInt32Array = rows.iter().map(|(_, other)| *other).collect();
        pair_batch(left, right, &of_left, &of_right, schema).map(Some)
    }
}

impl Pairing {
    /// The numbers of the rows that are pairs, of the left and of the right, by the left's order; `None` if there are too many to look at.
    fn pairs(
        &self,
        left: &RecordBatch,
        right: &RecordBatch,
        schema: &SchemaRef,
        known: EvalArgs<'_>,
    ) -> PgResult<Option<(UInt32Array, UInt32Array)>> {
        let (mut of_left, mut of_right): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        if left.num_rows() > 0 && right.num_rows() > 0 {
            match &self.keys {
                Some((left_keys, right_keys)) => {
                    let (own, other) = (left_keys.of(left, known)?, right_keys.of(right, known)?);
                    let mut rows: HashMap<&[u8], Vec<u32>> = HashMap::with_capacity(right.num_rows());
                    for (number, row) in (0u32..).zip(0..right.num_rows()) {
                        rows.entry(other.row(row).data()).or_default().push(number);
                    }
                    for (number, row) in (0u32..).zip(0..left.num_rows()) {
                        let Some(equal) = rows.get(own.row(row).data()) else { continue };
                        if of_left.len() + equal.len() > MOST_PAIRS {
                            return Ok(None);
                        }
                        of_left.extend(std::iter::repeat_n(number, equal.len()));
                        of_right.extend_from_slice(equal);
                    }
                }
                None if left.num_rows().saturating_mul(right.num_rows()) > MOST_PAIRS => return Ok(None),
                None => {
                    for number in (0u32..).take(left.num_rows()) {
                        of_left.extend(std::iter::repeat_n(number, right.num_rows()));
                        of_right.extend((0u32..).take(right.num_rows()));
                    }
                }
            }
        }
        let (mut of_left, mut of_right) = (UInt32Array::from(of_left), UInt32Array::from(of_right));
        if of_left.is_empty() || self.conditions.is_empty() {
            return Ok(Some((of_left, of_right)));
        }
        let mut batch = pair_batch(left, right, &of_left, &of_right, schema)?;
        for condition in &self.conditions {
            if batch.num_rows() == 0 {
                break;
            }
            let arrays = condition.evaluate(batch.columns(), batch.num_rows(), known)?;
            let mask =
                arrays.first().and_then(|a| a.as_boolean_opt()).ok_or_else(|| PgError::internal("a condition that is no boolean"))?;
            if mask.null_count() == 0 && mask.true_count() == mask.len() {
                continue;
            }
            batch = filter_record_batch(&batch, mask)?;
            of_left = filter(&of_left, mask)?.as_primitive::<UInt32Type>().clone();
            of_right = filter(&of_right, mask)?.as_primitive::<UInt32Type>().clone();
        }
        Ok(Some((of_left, of_right)))
    }
}

/// The columns of both sides for pairs of rows, of which one may be none.
fn pair_batch(
    left: &RecordBatch,
    right: &RecordBatch,
    of_left: &UInt32Array,
    of_right: &UInt32Array,
    schema: &SchemaRef,
) -> PgResult<RecordBatch> {
    let mut columns: Vec<ArrayRef> = Vec::with_capacity(schema.fields().len());
    for (batch, rows) in [(left, of_left), (right, of_right)] {
        for column in batch.columns() {
            columns.push(take(column, rows, None)?);
        }
    }
    let options = RecordBatchOptions::new().with_row_count(Some(of_left.len()));
    Ok(RecordBatch::try_new_with_options(SchemaRef::clone(schema), columns, &options)?)
}

/// The values of the left and of the right that a condition demands to be equal, in one form.
fn equal_values(e: &Expr, left: &Columns, right: &Columns) -> Option<(Expr, Expr)> {
    let ExprKind::Oper { oper, args } = &e.kind else { return None };
    let [one, other] = args.as_slice() else { return None };
    let of = |e: &Expr, side: &Columns| {
        let mut used: Vec<ColId> = Vec::new();
        columns_of(e, &mut used);
        !used.is_empty() && used.iter().all(|column| side.iter().any(|(own, _)| own == column))
    };
    let (one, other) = match (of(one, left) && of(other, right), of(other, left) && of(one, right)) {
        (true, _) => (one, other),
        (_, true) => (other, one),
        _ => return None,
    };
    if oper.0.name != "=" {
        return None;
    }
    let integer = |ty: &SqlType| matches!(ty.ty, PgType::Int2 | PgType::Int4 | PgType::Int8);
    if integer(&one.ty) && integer(&other.ty) {
        let wide = |e: &Expr| match e.ty.ty {
            PgType::Int8 => e.clone(),
            _ => Expr::new(ExprKind::Cast { arg: Box::new(e.clone()), explicit: false }, SqlType::new(PgType::Int8)),
        };
        return Some((wide(one), wide(other)));
    }
    (comparable(&one.ty, &other.ty) && one.ty.arrow == other.ty.arrow).then(|| (one.clone(), other.clone()))
}

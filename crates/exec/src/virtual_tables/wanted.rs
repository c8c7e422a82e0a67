//! What a query asks of a system relation: which columns it reads, and which values of some of them can pass its filters.
//!
//! Invariant: a row that is not admitted passes none of the filters that the restrictions were made from; the filters themselves still
//! run over the rows that are made.

use super::builder::V;
use datafusion::common::ScalarValue;
use std::collections::{HashMap, HashSet};
use stoa_table::access::{Comparison, Predicate};
use stoa_table::catalog::ColumnId;

/// A value by which rows are distinguished.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Value {
    Int(i64),
    Text(String),
}

impl Value {
    fn of(value: &ScalarValue) -> Option<Self> {
        Some(match value {
            ScalarValue::UInt32(Some(n)) => Self::Int(i64::from(*n)),
            ScalarValue::Int64(Some(n)) => Self::Int(*n),
            ScalarValue::Int32(Some(n)) => Self::Int(i64::from(*n)),
            ScalarValue::Int16(Some(n)) => Self::Int(i64::from(*n)),
            ScalarValue::Utf8View(Some(s)) | ScalarValue::Utf8(Some(s)) => Self::Text(s.clone()),
            _ => return None,
        })
    }
}

/// The values of a column that can pass: of a set, and within bounds.
#[derive(Clone, Debug, Default)]
struct Restriction {
    values: Option<HashSet<Value>>,
    least: Option<i64>,
    most: Option<i64>,
}

impl Restriction {
    fn admits(&self, value: &V) -> bool {
        let value = match value {
            V::Oid(n) => Value::Int(i64::from(*n)),
            V::Int(n) => Value::Int(*n),
            V::Text(s) => Value::Text(s.clone()),
            // No comparison is true of NULL.
            V::Null => return false,
            _ => return true,
        };
        if self.values.as_ref().is_some_and(|values| !values.contains(&value)) {
            return false;
        }
        match value {
            Value::Int(n) => self.least.is_none_or(|least| n >= least) && self.most.is_none_or(|most| n <= most),
            Value::Text(_) => true,
        }
    }

    fn keep(&mut self, values: HashSet<Value>) {
        self.values = Some(match self.values.take() {
            Some(old) => old.intersection(&values).cloned().collect(),
            None => values,
        });
    }
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    restrictions: HashMap<ColumnId, Restriction>,
    never: bool,
}

impl Wanted {
    /// What all of these predicates together leave; columns are numbered from 1 in the order of the relation's definition.
    pub fn of(predicates: &[Predicate]) -> Self {
        let mut wanted = Self::default();
        predicates.iter().for_each(|p| wanted.add(p));
        wanted
    }

    fn add(&mut self, predicate: &Predicate) {
        match predicate {
            Predicate::Never => self.never = true,
            Predicate::And(parts) => parts.iter().for_each(|p| self.add(p)),
            Predicate::Compare { column, op, value } if *op != Comparison::Equal => {
                // Names are compared in an order that is not asked about here.
                let Some(Value::Int(n)) = Value::of(value) else { return };
                let restriction = self.restrictions.entry(*column).or_default();
                match op {
                    Comparison::Greater | Comparison::GreaterEqual => {
                        restriction.least = Some(restriction.least.map_or(n, |least| least.max(n)))
                    }
                    Comparison::Less | Comparison::LessEqual => restriction.most = Some(restriction.most.map_or(n, |most| most.min(n))),
                    Comparison::Equal => {}
                }
            }
            other => {
                let mut values = HashSet::new();
                if let Some(column) = points(other, &mut values) {
                    self.restrictions.entry(column).or_default().keep(values);
                }
            }
        }
    }

    /// Whether any row will do.
    pub fn is_everything(&self) -> bool {
        !self.never && self.restrictions.is_empty()
    }

    /// Whether a row with this value in a column can be wanted.
    pub fn admits(&self, column: ColumnId, value: &V) -> bool {
        !self.never && self.restrictions.get(&column).is_none_or(|r| r.admits(value))
    }

    /// The only numbers that a column of wanted rows can have, if there are not many.
    pub fn numbers(&self, column: ColumnId) -> Option<Vec<u32>> {
        if self.never {
            return Some(Vec::new());
        }
        let values = self.restrictions.get(&column)?.values.as_ref()?;
        let mut numbers: Vec<u32> =
            values.iter().filter_map(|v| if let Value::Int(n) = v { u32::try_from(*n).ok() } else { None }).collect();
        numbers.sort_unstable();
        Some(numbers)
    }

    /// The share of a relation's rows that is wanted, by a guess: one in a hundred for each column whose values are listed.
    pub fn share(&self) -> f64 {
        if self.never {
            return 0.0;
        }
        let listed = self.restrictions.values().filter(|r| r.values.is_some()).count();
        0.01f64.powi(i32::try_from(listed.min(3)).unwrap_or(3))
    }
}

/// The column and the values of a predicate that is true of some values of one column alone.
fn points(predicate: &Predicate, values: &mut HashSet<Value>) -> Option<ColumnId> {
    match predicate {
        Predicate::Compare { column, op: Comparison::Equal, value } => {
            values.insert(Value::of(value)?);
            Some(*column)
        }
        Predicate::In { column, values: list } => {
            for value in list.iter().filter(|v| !v.is_null()) {
                values.insert(Value::of(value)?);
            }
            Some(*column)
        }
        Predicate::Or(parts) => {
            let mut column = None;
            for part in parts {
                let own = points(part, values)?;
                if column.is_some_and(|c| c != own) {
                    return None;
                }
                column = Some(own);
            }
            column
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    fn compare(column: u32, op: Comparison, value: u32) -> Predicate {
        Predicate::Compare { column: ColumnId(column), op, value: ScalarValue::UInt32(Some(value)) }
    }

    #[test]
    fn conditions_together_leave_what_each_of_them_does() {
        let listed = Predicate::In {
            column: ColumnId(1),
            values: vec![ScalarValue::UInt32(Some(3)), ScalarValue::UInt32(Some(9)), ScalarValue::UInt32(None)],
        };
        let either = Predicate::Or(vec![compare(1, Comparison::Equal, 9), compare(1, Comparison::Equal, 4)]);
        let wanted = Wanted::of(&[Predicate::And(vec![listed, compare(2, Comparison::Less, 7)]), either]);
        let admitted = |column: u32, n: i64| wanted.admits(ColumnId(column), &V::Int(n));
        assert!(admitted(1, 9) && !admitted(1, 3) && !admitted(1, 4));
        assert!(admitted(2, 6) && !admitted(2, 8) && admitted(3, 0));
        assert!(!wanted.admits(ColumnId(1), &V::Null));
        assert_eq!(wanted.numbers(ColumnId(1)), Some(vec![9]));
        assert!(!wanted.is_everything());
    }

    #[test]
    fn what_is_not_understood_restricts_nothing() {
        let across = Predicate::Or(vec![compare(1, Comparison::Equal, 9), compare(2, Comparison::Equal, 9)]);
        let flag = Predicate::Compare { column: ColumnId(1), op: Comparison::Equal, value: ScalarValue::Boolean(Some(true)) };
        assert!(Wanted::of(&[across, flag, Predicate::Unknown, Predicate::Always]).is_everything());
        assert!(!Wanted::of(&[Predicate::Never]).admits(ColumnId(1), &V::Int(1)));
    }
}

//! A filter as access paths see it: comparisons of columns with constants, and what is between them.

use crate::catalog::ColumnId;
use datafusion_common::ScalarValue;

/// How a column is compared with a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    Equal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Comparison {
    /// `c op x` for `x op c`.
    #[must_use]
    pub fn flipped(self) -> Self {
        match self {
            Comparison::Equal => Comparison::Equal,
            Comparison::Less => Comparison::Greater,
            Comparison::LessEqual => Comparison::GreaterEqual,
            Comparison::Greater => Comparison::Less,
            Comparison::GreaterEqual => Comparison::LessEqual,
        }
    }

    /// The one that an operator is called by.
    #[must_use]
    pub fn named(operator: &str) -> Option<Self> {
        Some(match operator {
            "=" => Comparison::Equal,
            "<" => Comparison::Less,
            "<=" => Comparison::LessEqual,
            ">" => Comparison::Greater,
            ">=" => Comparison::GreaterEqual,
            _ => return None,
        })
    }

    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Comparison::Equal => "=",
            Comparison::Less => "<",
            Comparison::LessEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterEqual => ">=",
        }
    }
}

/// True for a row, or not (false and NULL are one).
///
/// Where the values are not known yet, of a statement that is compiled for any parameters, `V` is where they come from;
/// [`Predicate::with_values`] makes the predicate of an execution.
#[derive(Clone, PartialEq, Debug)]
pub enum Predicate<V = ScalarValue> {
    /// The constant is not NULL and of the column's type or one that [`super::constant`] can fit to it.
    Compare {
        column: ColumnId,
        op: Comparison,
        value: V,
    },
    /// The column is one of the constants; NULLs among them are left out.
    In {
        column: ColumnId,
        values: Vec<V>,
    },
    IsNull(ColumnId),
    IsNotNull(ColumnId),
    /// The text column begins with this; `exact`: and that is all the filter asks.
    Prefix {
        column: ColumnId,
        prefix: String,
        exact: bool,
    },
    And(Vec<Predicate<V>>),
    Or(Vec<Predicate<V>>),
    Always,
    Never,
    /// Anything else.
    Unknown,
}

/// What becomes of values that were not known.
pub trait ReadValue<V> {
    type Error;

    /// The value that something stands for.
    ///
    /// # Errors
    /// What its computation raises.
    fn value(&self, of: &V) -> Result<ScalarValue, Self::Error>;

    /// The same as a member of a list, where it may stand for several.
    ///
    /// # Errors
    /// As [`ReadValue::value`].
    fn members(&self, of: &V, out: &mut Vec<ScalarValue>) -> Result<(), Self::Error> {
        out.push(self.value(of)?);
        Ok(())
    }
}

impl<V> Predicate<V> {
    /// A conjunction without needless levels.
    #[must_use]
    pub fn and(parts: Vec<Self>) -> Self {
        let mut out = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Predicate::Always => {}
                Predicate::Never => return Predicate::Never,
                Predicate::And(inner) => out.extend(inner),
                other => out.push(other),
            }
        }
        match out.len() {
            0 => Predicate::Always,
            1 => out.swap_remove(0),
            _ => Predicate::And(out),
        }
    }

    /// A disjunction without needless levels.
    #[must_use]
    pub fn or(parts: Vec<Self>) -> Self {
        let mut out = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Predicate::Never => {}
                Predicate::Always => return Predicate::Always,
                Predicate::Or(inner) => out.extend(inner),
                other => out.push(other),
            }
        }
        match out.len() {
            0 => Predicate::Never,
            1 => out.swap_remove(0),
            _ => Predicate::Or(out),
        }
    }

    /// With the values that are known now.
    ///
    /// # Errors
    /// What the computation of a value raises.
    pub fn with_values<R: ReadValue<V>>(&self, read: &R) -> Result<Predicate, R::Error> {
        let each = |parts: &[Self]| parts.iter().map(|part| part.with_values(read)).collect::<Result<Vec<_>, _>>();
        Ok(match self {
            Predicate::Compare { column, op, value } => Predicate::compare(*column, *op, read.value(value)?),
            Predicate::In { column, values } => {
                let mut members = Vec::with_capacity(values.len());
                for value in values {
                    read.members(value, &mut members)?;
                }
                Predicate::one_of(*column, members)
            }
            Predicate::IsNull(column) => Predicate::IsNull(*column),
            Predicate::IsNotNull(column) => Predicate::IsNotNull(*column),
            Predicate::Prefix { column, prefix, exact } => Predicate::Prefix { column: *column, prefix: prefix.clone(), exact: *exact },
            Predicate::And(parts) => Predicate::and(each(parts)?),
            Predicate::Or(parts) => Predicate::or(each(parts)?),
            Predicate::Always => Predicate::Always,
            Predicate::Never => Predicate::Never,
            Predicate::Unknown => Predicate::Unknown,
        })
    }

    /// Calls `f` for each column that a comparison is about.
    pub fn each_column(&self, f: &mut dyn FnMut(ColumnId)) {
        match self {
            Predicate::Compare { column, .. }
            | Predicate::In { column, .. }
            | Predicate::IsNull(column)
            | Predicate::IsNotNull(column)
            | Predicate::Prefix { column, .. } => f(*column),
            Predicate::And(parts) | Predicate::Or(parts) => parts.iter().for_each(|p| p.each_column(f)),
            Predicate::Always | Predicate::Never | Predicate::Unknown => {}
        }
    }
}

impl Predicate {
    /// `column op value`, which nothing is of NULL.
    #[must_use]
    pub fn compare(column: ColumnId, op: Comparison, value: ScalarValue) -> Self {
        if value.is_null() { Predicate::Never } else { Predicate::Compare { column, op, value } }
    }

    /// `column IN (values)`.
    #[must_use]
    pub fn one_of(column: ColumnId, mut values: Vec<ScalarValue>) -> Self {
        values.retain(|value| !value.is_null());
        if values.is_empty() { Predicate::Never } else { Predicate::In { column, values } }
    }

    /// `column <> value`.
    #[must_use]
    pub fn not_equal(column: ColumnId, value: ScalarValue) -> Self {
        Predicate::Or(vec![
            Predicate::Compare { column, op: Comparison::Less, value: value.clone() },
            Predicate::Compare { column, op: Comparison::Greater, value },
        ])
    }
}

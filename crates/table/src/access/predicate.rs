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
#[derive(Clone, PartialEq, Debug)]
pub enum Predicate {
    /// The constant is not NULL and of the column's type or one that [`super::constant`] can fit to it.
    Compare {
        column: ColumnId,
        op: Comparison,
        value: ScalarValue,
    },
    /// The column is one of the constants; NULLs among them are left out.
    In {
        column: ColumnId,
        values: Vec<ScalarValue>,
    },
    IsNull(ColumnId),
    IsNotNull(ColumnId),
    /// The text column begins with this; `exact`: and that is all the filter asks.
    Prefix {
        column: ColumnId,
        prefix: String,
        exact: bool,
    },
    And(Vec<Predicate>),
    Or(Vec<Predicate>),
    Always,
    Never,
    /// Anything else.
    Unknown,
}

impl Predicate {
    /// A conjunction without needless levels.
    #[must_use]
    pub fn and(parts: Vec<Predicate>) -> Predicate {
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
    pub fn or(parts: Vec<Predicate>) -> Predicate {
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

    /// `column <> value`.
    #[must_use]
    pub fn not_equal(column: ColumnId, value: ScalarValue) -> Predicate {
        Predicate::Or(vec![
            Predicate::Compare { column, op: Comparison::Less, value: value.clone() },
            Predicate::Compare { column, op: Comparison::Greater, value },
        ])
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

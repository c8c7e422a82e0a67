//! Items: the short texts by which an index finds jsonb documents and arrays, as words are those by which it finds texts.
//!
//! A [`Class`] says which items a value has ([`Class::items`]), and which items a value must have for a condition to hold
//! ([`Class::sought`]). They are those of PostgreSQL's operator classes of gin: [`jsonb`] and [`jsonpath`] of `jsonb_ops` and
//! `jsonb_path_ops`, [`mod@array`] of `array_ops`.
//!
//! Invariant: for every value that a condition holds for, the items of the value are as the condition seeks them. The reverse does
//! not hold: long items are cut off and told apart by a hash, and what a condition says of the place of an item may be left out.
//!
//! What items are is part of the files of indexes: whoever changes it counts up [`VERSION`].

mod array;
mod jsonb;
mod jsonpath;
#[cfg(test)]
mod tests;

use crate::error::PgResult;
use crate::types::{PgType, SqlType};
use arrow::array::{Array, AsArray};
use datafusion_common::ScalarValue;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Of what this module makes of values.
pub const VERSION: u32 = 1;

/// Bytes of an item that are kept as they are.
const MOST_BYTES: usize = 80;
/// Items of which a value must have all; more would find hardly less.
const MOST_OF_ALL: usize = 32;
/// Items of which a value must have one.
const MOST_OF_ANY: usize = 1024;

/// Which items values of a type have.
#[derive(Clone, PartialEq, Debug)]
pub enum Class {
    /// `jsonb_ops`: keys, and values without their places.
    Keys,
    /// `jsonb_path_ops`: values with the keys that lead to them.
    Paths,
    /// `array_ops`: elements of a type.
    Elements(SqlType),
}

/// Which items a value must have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sought {
    /// No value will do.
    Nothing,
    Item(String),
    All(Vec<Sought>),
    Any(Vec<Sought>),
}

impl Sought {
    /// All of several. `None` stands for what items say nothing about.
    fn all(of: impl IntoIterator<Item = Option<Sought>>) -> Option<Sought> {
        let mut of: Vec<Sought> = of.into_iter().flatten().take(MOST_OF_ALL).collect();
        match of.len() {
            0 => None,
            1 => of.pop(),
            _ => Some(Sought::All(of)),
        }
    }

    /// One of several.
    fn any(of: impl IntoIterator<Item = Option<Sought>>) -> Option<Sought> {
        let mut of: Vec<Sought> = of.into_iter().collect::<Option<_>>()?;
        match of.len() {
            0 => Some(Sought::Nothing),
            1 => of.pop(),
            2..=MOST_OF_ANY => Some(Sought::Any(of)),
            _ => None,
        }
    }
}

impl Class {
    /// The class of values of a type under a name; without a name, that of an index that names none. `None` for types that are not
    /// found by items.
    #[must_use]
    pub fn of(ty: &SqlType, name: Option<&str>) -> Option<Class> {
        match &ty.ty {
            PgType::Jsonb => Some(if name == Some("jsonb_path_ops") { Class::Paths } else { Class::Keys }),
            ty_ if ty_.is_array() => Some(Class::Elements(crate::values::array::element_type(ty))),
            _ => None,
        }
    }

    /// The items of each value of a column, each once; `None` for NULL.
    ///
    /// # Errors
    /// XX000 for a column of another type; 42883 for arrays whose elements have no order.
    pub fn items(&self, values: &dyn Array) -> PgResult<Vec<Option<Vec<String>>>> {
        let mut out = match self {
            Class::Elements(ty) => array::items(ty, values)?,
            Class::Keys | Class::Paths => {
                let documents = values.as_binary_view_opt();
                let documents = documents.ok_or_else(|| crate::PgError::internal(format!("documents came as {}", values.data_type())))?;
                documents.iter().map(|document| document.map(|document| jsonb::items(self, document))).collect()
            }
        };
        for items in out.iter_mut().flatten() {
            items.sort_unstable();
            items.dedup();
        }
        Ok(out)
    }

    /// Whether items can say something about `value OPERATOR constant`, or with `= any` about `constant = ANY (value)`.
    #[must_use]
    pub fn knows(&self, operator: &str) -> bool {
        match self {
            Class::Elements(_) => matches!(operator, "@>" | "<@" | "&&" | "=" | "= any"),
            Class::Keys => matches!(operator, "@>" | "?" | "?|" | "?&" | "@?" | "@@"),
            Class::Paths => matches!(operator, "@>" | "@?" | "@@"),
        }
    }

    /// The items that a value must have for `value OPERATOR constant` to be true. `None`: items say nothing about it.
    #[must_use]
    pub fn sought(&self, operator: &str, constant: &ScalarValue) -> Option<Sought> {
        if constant.is_null() {
            return Some(Sought::Nothing);
        }
        match self {
            Class::Elements(ty) => array::sought(ty, operator, constant),
            Class::Keys | Class::Paths => jsonb::sought(self, operator, constant),
        }
    }

    /// The items that an array must have for `constant = ANY (array)` to be true.
    #[must_use]
    pub fn sought_element(&self, constant: &ScalarValue) -> Option<Sought> {
        match self {
            Class::Elements(ty) => array::sought_element(ty, constant),
            Class::Keys | Class::Paths => None,
        }
    }
}

/// An item that is being written, part by part: each has a mark that says what it is.
#[derive(Clone, Debug, Default)]
struct Item {
    text: String,
    /// Of all parts.
    hash: u64,
    /// Whether the text lacks something.
    cut: bool,
}

impl Item {
    fn then(&self, mark: char, part: &str) -> Item {
        let mut out = self.clone();
        out.hash = xxh3_64_with_seed(part.as_bytes(), out.hash ^ u64::from(u32::from(mark)));
        if out.cut {
            return out;
        }
        let room = MOST_BYTES.saturating_sub(out.text.len() + mark.len_utf8());
        out.cut = part.len() > room;
        out.text.push(mark);
        out.text.push_str(part.get(..part.floor_char_boundary(room)).unwrap_or_default());
        out
    }

    fn finish(self) -> String {
        if self.cut { format!("{}…{:016x}", self.text, self.hash) } else { self.text }
    }
}

//! Puts and deletes, and the conditions under which they happen.
//!
//! Invariant: a [`Mutation`] is written once, as the bytes that travel; what does not fit is remembered and refused when it is sent.

use crate::error::Error;
use crate::filter::{Comparator, Compare, Filter};
use crate::messages::client::{self, MutationProto};
use crate::messages::region::TimeRange;
use crate::messages::rpc::NameBytesPair;
use crate::wire::cell::{CellKind, LATEST, write_cell};
use bytes::Bytes;
use std::ops::Range;

/// When a write counts as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// As the table says: in the log of the region server, unless it says otherwise.
    #[default]
    Table,
    /// In memory alone: gone if the region server dies.
    SkipWal,
    /// Behind the answer.
    AsyncWal,
    /// In the memory of all data nodes that hold the log.
    SyncWal,
    /// On their disks.
    FsyncWal,
}

/// A change of one row, atomic: all of its cells or none. Times are milliseconds; without one the server takes its clock's.
///
/// ```
/// # use stoa_hbase_client::Mutation;
/// let put = Mutation::put("row").set("f", "name", "value").set_at("f", "other", 1_700_000_000_000, "value");
/// let delete = Mutation::delete("row").column("f", "name").family_at("g", 1_700_000_000_000);
/// ```
#[derive(Debug, Clone)]
pub struct Mutation {
    pub(crate) row: Bytes,
    put: bool,
    block: Vec<u8>,
    cells: usize,
    time: Option<i64>,
    durability: Durability,
    attributes: Vec<NameBytesPair>,
    /// Whether doing it twice is as good as once.
    harmless: bool,
    refused: Option<Error>,
}

impl Mutation {
    fn new(row: Bytes, put: bool) -> Mutation {
        Mutation {
            row,
            put,
            block: Vec::new(),
            cells: 0,
            time: None,
            durability: Durability::Table,
            attributes: Vec::new(),
            harmless: true,
            refused: None,
        }
    }

    /// A put; it wants at least one cell.
    #[must_use]
    pub fn put(row: impl Into<Bytes>) -> Mutation {
        Mutation::new(row.into(), true)
    }

    /// A delete; without more it hides the whole row.
    #[must_use]
    pub fn delete(row: impl Into<Bytes>) -> Mutation {
        Mutation::new(row.into(), false)
    }

    /// A delete of all of the row that is not newer than `time`.
    #[must_use]
    pub fn delete_at(row: impl Into<Bytes>, time: i64) -> Mutation {
        Mutation { time: Some(time), ..Mutation::new(row.into(), false) }
    }

    /// Adds a cell of any kind: a put may bear markers, which take effect with it and atomically. A delete bears no values.
    #[must_use]
    pub fn cell(
        mut self,
        kind: CellKind,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        time: i64,
        value: impl AsRef<[u8]>,
    ) -> Mutation {
        if !self.put && kind == CellKind::Put {
            self.refused.get_or_insert(Error::Argument("a delete cannot set a value".to_owned()));
        }
        // It hides the newest version: twice, the one before as well.
        if kind == CellKind::Delete && time == LATEST {
            self.harmless = false;
        }
        let (family, qualifier) = (family.as_ref(), qualifier.as_ref());
        if let Err(error) = write_cell(&mut self.block, &self.row, family, qualifier, time, kind.code(), value.as_ref()) {
            self.refused.get_or_insert(error);
        }
        self.cells += 1;
        self
    }

    /// Sets a column, at the server's time.
    #[must_use]
    pub fn set(self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Mutation {
        self.cell(CellKind::Put, family, qualifier, LATEST, value)
    }

    /// Sets a column's version of this time.
    #[must_use]
    pub fn set_at(self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>, time: i64, value: impl AsRef<[u8]>) -> Mutation {
        self.cell(CellKind::Put, family, qualifier, time, value)
    }

    /// Hides all versions of a column.
    #[must_use]
    pub fn column(self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Mutation {
        self.cell(CellKind::DeleteColumn, family, qualifier, LATEST, [])
    }

    /// Hides the versions of a column that are not newer than `time`.
    #[must_use]
    pub fn column_at(self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>, time: i64) -> Mutation {
        self.cell(CellKind::DeleteColumn, family, qualifier, time, [])
    }

    /// Hides the newest version of a column. It is sent once: where no answer comes the outcome is [`Error::Unknown`].
    #[must_use]
    pub fn newest_version(self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Mutation {
        self.cell(CellKind::Delete, family, qualifier, LATEST, [])
    }

    /// Hides the version of a column at `time`.
    #[must_use]
    pub fn version_at(self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>, time: i64) -> Mutation {
        self.cell(CellKind::Delete, family, qualifier, time, [])
    }

    /// Hides all of a family.
    #[must_use]
    pub fn family(self, family: impl AsRef<[u8]>) -> Mutation {
        self.cell(CellKind::DeleteFamily, family, [], LATEST, [])
    }

    /// Hides all of a family that is not newer than `time`.
    #[must_use]
    pub fn family_at(self, family: impl AsRef<[u8]>, time: i64) -> Mutation {
        self.cell(CellKind::DeleteFamily, family, [], time, [])
    }

    /// Hides the versions of a family at `time`.
    #[must_use]
    pub fn family_version_at(self, family: impl AsRef<[u8]>, time: i64) -> Mutation {
        self.cell(CellKind::DeleteFamilyVersion, family, [], time, [])
    }

    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Mutation {
        self.durability = durability;
        self
    }

    /// An attribute for coprocessors, or `TTL` of HBase.
    #[must_use]
    pub fn attribute(mut self, name: &str, value: impl Into<Bytes>) -> Mutation {
        self.attributes.push(NameBytesPair { name: name.to_owned(), value: Some(value.into()) });
        self
    }

    /// The row.
    #[must_use]
    pub fn row(&self) -> &Bytes {
        &self.row
    }

    /// Bytes of the cells as they travel.
    #[must_use]
    pub fn size(&self) -> usize {
        self.block.len()
    }

    pub(crate) fn is_harmless(&self) -> bool {
        self.harmless
    }

    /// # Errors
    /// What made it impossible.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if let Some(error) = &self.refused {
            return Err(error.clone());
        }
        if self.row.is_empty() || self.row.len() > i16::MAX as usize {
            return Err(Error::Argument(format!("a row key has 1 to {} bytes, not {}", i16::MAX, self.row.len())));
        }
        if self.put && self.cells == 0 {
            return Err(Error::Argument("a put sets nothing".to_owned()));
        }
        Ok(())
    }

    pub(crate) fn to_message(&self) -> MutationProto {
        MutationProto {
            row: Some(self.row.clone()),
            mutate_type: Some(if self.put { 2 } else { 3 }),
            timestamp: Some(self.time.unwrap_or(LATEST) as u64),
            attribute: self.attributes.clone(),
            durability: Some(match self.durability {
                Durability::Table => 0,
                Durability::SkipWal => 1,
                Durability::AsyncWal => 2,
                Durability::SyncWal => 3,
                Durability::FsyncWal => 4,
            }),
            associated_cell_count: Some(i32::try_from(self.cells).unwrap_or(i32::MAX)),
        }
    }

    /// The cells as they travel.
    pub(crate) fn to_block(&self) -> Bytes {
        Bytes::copy_from_slice(&self.block)
    }
}

/// What must hold of a row for a mutation of it to happen.
#[derive(Debug, Clone)]
pub struct Condition {
    test: Test,
    time_range: Option<TimeRange>,
}

#[derive(Debug, Clone)]
enum Test {
    Value { family: Bytes, qualifier: Bytes, compare: Compare, comparator: Comparator },
    Filter(Filter),
}

impl Condition {
    /// That the newest value of a column compares so: the value stands left of the operator, what is given right of it. A column that is
    /// not there fulfils no comparison but [`Compare::NotEqual`].
    #[must_use]
    pub fn value(family: impl Into<Bytes>, qualifier: impl Into<Bytes>, compare: Compare, comparator: Comparator) -> Condition {
        // HBase compares from the other side: what is given against the value.
        let compare = compare.turned();
        let test = Test::Value { family: family.into(), qualifier: qualifier.into(), compare, comparator };
        Condition { test, time_range: None }
    }

    /// That a column has this value.
    #[must_use]
    pub fn equal(family: impl Into<Bytes>, qualifier: impl Into<Bytes>, value: impl Into<Bytes>) -> Condition {
        Condition::value(family, qualifier, Compare::Equal, Comparator::binary(value))
    }

    /// That a column is not there. HBase takes an empty value for none.
    #[must_use]
    pub fn absent(family: impl Into<Bytes>, qualifier: impl Into<Bytes>) -> Condition {
        Condition::equal(family, qualifier, Bytes::new())
    }

    /// That the filter lets a cell of the row through.
    #[must_use]
    pub fn filter(filter: Filter) -> Condition {
        Condition { test: Test::Filter(filter), time_range: None }
    }

    /// Looks at cells of these times alone.
    #[must_use]
    pub fn time_range(mut self, times: Range<u64>) -> Condition {
        self.time_range = Some(TimeRange { from: Some(times.start), to: Some(times.end) });
        self
    }

    pub(crate) fn to_message(&self, row: Bytes) -> client::Condition {
        let message = client::Condition { row, time_range: self.time_range.clone(), ..client::Condition::default() };
        match &self.test {
            Test::Value { family, qualifier, compare, comparator } => client::Condition {
                family: Some(family.clone()),
                qualifier: Some(qualifier.clone()),
                compare_type: Some(compare.code()),
                comparator: Some(comparator.to_message()),
                ..message
            },
            Test::Filter(filter) => client::Condition { filter: Some(filter.to_message()), ..message },
        }
    }
}

/// Mutations of a row that happen together if a condition holds.
#[derive(Debug, Clone)]
pub struct CheckAndMutate {
    pub(crate) row: Bytes,
    pub(crate) condition: Condition,
    pub(crate) mutations: Vec<Mutation>,
    pub(crate) harmless: bool,
}

impl CheckAndMutate {
    /// `mutation` of its row, if `condition` holds there.
    #[must_use]
    pub fn new(condition: Condition, mutation: Mutation) -> CheckAndMutate {
        CheckAndMutate { row: mutation.row.clone(), condition, mutations: vec![mutation], harmless: false }
    }

    /// A further mutation of the same row, done together with the first.
    #[must_use]
    pub fn and(mut self, mutation: Mutation) -> CheckAndMutate {
        self.mutations.push(mutation);
        self
    }

    /// Says that the mutation leaves the condition as it is, so that doing it twice is as good as once: where no answer comes it is sent
    /// again. Otherwise the outcome is then [`Error::Unknown`].
    #[must_use]
    pub fn repeatable(mut self) -> CheckAndMutate {
        self.harmless = true;
        self
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        self.mutations.iter().try_for_each(Mutation::check)?;
        if self.mutations.iter().any(|mutation| mutation.row != self.row) {
            return Err(Error::Argument("mutations of a check-and-mutate are of one row".to_owned()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{CheckAndMutate, Condition, Mutation};
    use crate::wire::cell::{CellKind, Cells};

    #[test]
    fn a_mutation_bears_its_cells_in_order() {
        let put = Mutation::put("r").set_at("f", "a", 7, "v").cell(CellKind::DeleteColumn, "f", "a", 6, "");
        assert!(put.check().is_ok() && put.is_harmless());
        assert_eq!(put.to_message().associated_cell_count, Some(2));
        let mut cells = Cells::new(put.to_block());
        assert_eq!(cells.take().unwrap().timestamp(), 7);
        assert_eq!(cells.take().unwrap().kind(), CellKind::DeleteColumn);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert!(Mutation::put("r").check().is_err());
        assert!(Mutation::delete("").check().is_err());
        assert!(Mutation::delete("r").check().is_ok());
        assert!(Mutation::delete("r").set("f", "q", "v").check().is_err());
        assert!(Mutation::put(vec![0; 32_768]).set("f", "q", "v").check().is_err());
        assert!(!Mutation::delete("r").newest_version("f", "q").is_harmless());
        let two = CheckAndMutate::new(Condition::absent("f", "q"), Mutation::delete("r")).and(Mutation::delete("s"));
        assert!(two.check().is_err());
    }
}

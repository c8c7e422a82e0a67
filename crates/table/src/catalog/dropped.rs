//! Tables that were dropped and can come back.
//!
//! Invariant: such a table is no relation. Nobody sees it, its name is free, and what referred to it is gone; only its rows, its indexes
//! and the states of its sequences stay in the store, until its time is over.

use super::authority::{Rights, RightsOf};
use super::descriptor::{Oid, Relation, SequenceDescriptor, TableDescriptor};
use super::role::FIRST_SUPERUSER;
use super::snapshot::CatalogSnapshot;
use super::store::storage_of;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use stoa_store::TableId;

/// A table as it was when it was dropped.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct DroppedTable {
    pub table: TableDescriptor,
    /// What its schema was called: policies name the table with it, and the schema itself may be gone.
    pub schema: String,
    /// Those that its columns own.
    pub sequences: Vec<SequenceDescriptor>,
    /// The tables of entries of its maps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<TableDescriptor>,
    /// Of the table, its sequences and its entries, where anything was said.
    pub rights: Vec<(Oid, Rights)>,
    /// Both in microseconds since 1970.
    pub dropped_us: i64,
    pub kept_until_us: i64,
}

impl DroppedTable {
    /// A table as it is in a catalog, with the sequences that its columns own and the entries of its maps; the times are when it is dropped
    /// and until when it is kept.
    #[must_use]
    pub fn new(
        catalog: &CatalogSnapshot,
        table: TableDescriptor,
        entries: Vec<TableDescriptor>,
        schema: &str,
        sequences: &[Oid],
        times: (i64, i64),
    ) -> Self {
        let sequence = |oid: &Oid| match catalog.relation(*oid).map(|relation| &**relation) {
            Some(Relation::Sequence(sequence)) => Some(sequence.clone()),
            _ => None,
        };
        let authority = catalog.authority();
        let tables = entries.iter().chain([&table]).map(|table| &table.oid);
        let said = sequences.iter().chain(tables).filter(|oid| authority.says_of(RightsOf::Relation(**oid)));
        let rights = said.map(|oid| (*oid, (*authority.rights(RightsOf::Relation(*oid))).clone())).collect();
        let sequences = sequences.iter().filter_map(sequence).collect();
        Self { table, schema: schema.to_owned(), sequences, entries, rights, dropped_us: times.0, kept_until_us: times.1 }
    }

    #[must_use]
    pub fn oid(&self) -> Oid {
        self.table.oid
    }

    /// The table, its sequences and its entries as they come back to a schema under a name. What belongs to the table has the names that it had, but with
    /// the new one in front, and a number behind if they are taken; `cut` makes one of a name and what stands behind it, `tell` hears of kinds
    /// of parts that are called otherwise, with their old and new names.
    #[must_use]
    pub fn called(
        &self,
        catalog: &CatalogSnapshot,
        schema: Oid,
        name: String,
        cut: &dyn Fn(&str, Option<&str>, &str) -> String,
        tell: &dyn Fn(&str, &str, &str),
    ) -> (TableDescriptor, Vec<SequenceDescriptor>, Vec<TableDescriptor>) {
        let (mut table, mut sequences, mut entries) = (self.table.clone(), self.sequences.clone(), self.entries.clone());
        let (old, new) = (&self.table.name, &name);
        let mut given = BTreeSet::from([name.clone()]);
        let mut free = |kind: &str, name: &mut String| {
            let behind = name.strip_prefix(old).and_then(|behind| behind.strip_prefix('_')).filter(|_| old != new);
            let wanted = behind.map_or_else(|| name.clone(), |behind| cut(new, None, behind));
            let is_free = |name: &String| !catalog.is_name_taken(schema, name) && !given.contains(name);
            let mut numbers = 1_u32..;
            let mut chosen = wanted.clone();
            while !is_free(&chosen) {
                chosen = cut(&wanted, None, &numbers.next().unwrap_or_default().to_string());
            }
            if chosen != *name {
                tell(kind, name, &chosen);
            }
            given.insert(chosen.clone());
            *name = chosen;
        };
        for table in &mut entries {
            table.schema = schema;
            free("table", &mut table.name);
        }
        for table in std::iter::once(&mut table).chain(&mut entries) {
            if let Some(key) = &mut table.primary_key {
                free("primary key", &mut key.name);
            }
            for index in &mut table.indexes {
                free("index", &mut index.name);
                if let Some(constraint) = &mut index.constraint {
                    constraint.name.clone_from(&index.name);
                }
            }
        }
        for sequence in &mut sequences {
            sequence.schema = schema;
            free("sequence", &mut sequence.name);
        }
        (table.schema, table.name) = (schema, name);
        (table, sequences, entries)
    }

    /// The table, and those of its entries.
    pub fn tables(&self) -> impl Iterator<Item = &TableDescriptor> {
        std::iter::once(&self.table).chain(&self.entries)
    }

    /// What was said of the table, of one of its sequences, or of entries.
    #[must_use]
    pub fn rights(&self, oid: Oid) -> Option<&Rights> {
        self.rights.iter().find(|(of, _)| *of == oid).map(|(_, rights)| rights)
    }

    /// Whose it was.
    #[must_use]
    pub fn owner(&self) -> Oid {
        self.rights(self.oid()).map_or(FIRST_SUPERUSER, |rights| rights.owner)
    }

    /// The stored ids of tables that it has.
    #[must_use]
    pub fn storage(&self) -> Vec<TableId> {
        self.tables().flat_map(|table| storage_of(&Relation::Table(table.clone()))).collect()
    }
}

//! Tables and columns for tests, here and above.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use crate::catalog::{ColumnDescriptor, ColumnId, Epoch, FamilyDescriptor, KeyForm, KeyPart, OnCommit, RowSecurity, TableDescriptor};
use arrow::array::ArrayRef;
use stoa_pg::{EvalContext, SqlType};
use stoa_store::{FamilyId, FamilyOptions, Layout, TableId};

/// A table of these columns; `key`: positions of the key's, with DESC.
pub fn table(columns: &[(&str, SqlType)], key: &[(usize, bool)], families: &[(Layout, &[usize])]) -> TableDescriptor {
    let id = |n: usize| ColumnId(n as u32 + 1);
    TableDescriptor {
        oid: 20_000,
        schema: crate::catalog::PUBLIC_OID,
        name: "t".into(),
        storage: TableId(100),
        columns: columns
            .iter()
            .enumerate()
            .map(|(n, (name, ty))| ColumnDescriptor {
                not_null: key.iter().any(|(k, _)| *k == n),
                ..ColumnDescriptor::new(id(n), (*name).into(), ty.clone())
            })
            .collect(),
        key: key.iter().map(|(n, descending)| KeyPart { column: id(*n), descending: *descending, form: KeyForm::Value }).collect(),
        primary_key: None,
        row_id: None,
        families: families
            .iter()
            .enumerate()
            .map(|(n, (layout, members))| {
                let options = FamilyOptions { layout: *layout, ..FamilyOptions::default() };
                FamilyDescriptor::new(FamilyId(n as u16), format!("f{n}"), members.iter().map(|m| id(*m)).collect(), options)
            })
            .collect(),
        salt: None,
        split_points: Vec::new(),
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        indexes: Vec::new(),
        comment: None,
        options: Vec::new(),
        temporary: false,
        on_commit: OnCommit::PreserveRows,
        next_column_id: columns.len() as u32 + 1,
        epoch: Epoch::Postgres,
        row_security: RowSecurity::default(),
        mapping: None,
        expires: None,
        timestamp: None,
        entries_of: None,
        dynamic: None,
        replica_identity: crate::catalog::ReplicaIdentity::default(),
    }
}

/// A column from text forms.
pub fn column(ty: &SqlType, values: &[Option<&str>]) -> ArrayRef {
    let mut builder = stoa_pg::values::builder(ty).unwrap();
    for value in values {
        match value {
            Some(text) => builder.text(&EvalContext::default(), text).unwrap(),
            None => builder.null(),
        }
    }
    builder.finish().unwrap()
}

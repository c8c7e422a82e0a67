//! Statements about row-level security: plain data, as written. Names are not resolved.

use crate::ast::{Expr, ObjectName, TableAliasColumnDef};
use crate::rights::RoleRef;

/// What stands behind FOR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PolicyWord {
    All,
    Select,
    Insert,
    Update,
    Delete,
}

/// A statement about a policy.
#[derive(Clone, PartialEq, Debug)]
pub enum PolicyStatement {
    Create {
        /// Folded, as all names of policies here.
        name: String,
        table: ObjectName,
        /// Undeclared columns that the conditions name, with their types.
        undeclared: Vec<TableAliasColumnDef>,
        restrictive: bool,
        command: PolicyWord,
        /// PUBLIC, where none are named.
        roles: Vec<RoleRef>,
        using: Option<Expr>,
        check: Option<Expr>,
    },
    /// What is not said stays as it is.
    Alter {
        name: String,
        table: ObjectName,
        /// As of `Create`, of the conditions that are given.
        undeclared: Vec<TableAliasColumnDef>,
        roles: Option<Vec<RoleRef>>,
        using: Option<Expr>,
        check: Option<Expr>,
    },
    Rename {
        name: String,
        table: ObjectName,
        new: String,
    },
    Drop {
        name: String,
        table: ObjectName,
        if_exists: bool,
    },
}

impl PolicyStatement {
    /// The table that it is about.
    #[must_use]
    pub fn table(&self) -> &ObjectName {
        match self {
            Self::Create { table, .. } | Self::Alter { table, .. } | Self::Rename { table, .. } | Self::Drop { table, .. } => table,
        }
    }
}

/// What ALTER TABLE does with row-level security.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowSecurityChange {
    Enable,
    Disable,
    Force,
    NoForce,
}

impl RowSecurityChange {
    /// As SQL has it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Enable => "ENABLE ROW SECURITY",
            Self::Disable => "DISABLE ROW SECURITY",
            Self::Force => "FORCE ROW SECURITY",
            Self::NoForce => "NO FORCE ROW SECURITY",
        }
    }
}

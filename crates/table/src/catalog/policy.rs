//! Row-level security: what is said of a table about which of its rows a role sees and writes.
//!
//! Policies are part of their table's descriptor: what changes them changes the table, and statements are bound again. What a policy asks
//! for is kept as the text of a query over the table, as views are: see [`PolicyCondition`].

use super::acl::PUBLIC_GRANTEE;
use super::authority::{Authority, RightsOf};
use super::descriptor::{Dependency, Oid, TableDescriptor};
use super::snapshot::CatalogSnapshot;
use serde::{Deserialize, Serialize};

/// What a table says of its rows.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct RowSecurity {
    /// ENABLE ROW LEVEL SECURITY: without it nobody asks the policies.
    pub enabled: bool,
    /// FORCE ROW LEVEL SECURITY: the owner is asked, too.
    pub forced: bool,
    /// In the order of their names.
    pub policies: Vec<PolicyDescriptor>,
}

impl RowSecurity {
    /// Whether nothing is said.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    #[must_use]
    pub fn policy(&self, name: &str) -> Option<&PolicyDescriptor> {
        self.policies.iter().find(|policy| policy.name == name)
    }
}

/// A policy.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PolicyDescriptor {
    pub oid: Oid,
    pub name: String,
    /// AS RESTRICTIVE: it must hold besides a permissive one.
    pub restrictive: bool,
    pub command: PolicyCommand,
    /// Whom it is about; 0 alone: everybody.
    pub roles: Vec<Oid>,
    /// Which rows are there for the command.
    pub using: Option<PolicyCondition>,
    /// Which rows it may write; without one, those that are there for it.
    pub check: Option<PolicyCondition>,
    pub comment: Option<String>,
}

/// The condition of a policy.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PolicyCondition {
    /// A query over the table whose WHERE is the condition: all names are qualified, and the table's columns are listed as they were called.
    pub sql: String,
    /// Relations that it reads, its own table among them.
    pub depends_on: Vec<Dependency>,
}

/// What a policy is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum PolicyCommand {
    All,
    Select,
    Insert,
    Update,
    Delete,
}

impl PolicyCommand {
    /// As `pg_policy` has it.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::All => "*",
            Self::Select => "r",
            Self::Insert => "a",
            Self::Update => "w",
            Self::Delete => "d",
        }
    }

    /// As SQL has it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::All => "ALL",
            Self::Select => "SELECT",
            Self::Insert => "INSERT",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }
}

impl PolicyDescriptor {
    /// Whether it is about what a role does.
    #[must_use]
    pub fn concerns(&self, authority: &Authority, role: Oid, command: PolicyCommand) -> bool {
        (self.command == PolicyCommand::All || self.command == command)
            && self.roles.iter().any(|of| *of == PUBLIC_GRANTEE || authority.has_rights_of(role, *of))
    }

    /// Its conditions.
    pub fn conditions(&self) -> impl Iterator<Item = &PolicyCondition> {
        self.using.iter().chain(&self.check)
    }

    /// Its conditions, to be changed.
    pub fn conditions_mut(&mut self) -> impl Iterator<Item = &mut PolicyCondition> {
        self.using.iter_mut().chain(&mut self.check)
    }
}

/// Whether a role is asked for policies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    /// The table has no row-level security.
    Nobody,
    /// The role is above it: a superuser, BYPASSRLS, the owner.
    Exempt,
    /// What its policies do not let through is not there. `owner`: the table is the role's own.
    Policies { owner: bool },
}

/// Whether a role is asked for the policies of a table. A table without row-level security costs no look into the catalog.
#[must_use]
pub fn asked(authority: &Authority, role: Oid, table: &TableDescriptor) -> Asked {
    if !table.row_security.enabled {
        return Asked::Nobody;
    }
    if authority.role(role).is_some_and(|found| found.superuser || found.bypass_rls) {
        return Asked::Exempt;
    }
    let owner = authority.owns(role, RightsOf::Relation(table.oid));
    if owner && !table.row_security.forced { Asked::Exempt } else { Asked::Policies { owner } }
}

/// Whether some rows of a table, or entries of its rows, may be hidden from a role: then messages and statistics tell no values.
#[must_use]
pub fn hides_rows(catalog: &CatalogSnapshot, role: Oid, table: &TableDescriptor) -> bool {
    matches!(asked(catalog.authority(), role, catalog.rows_of(table)), Asked::Policies { .. })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::super::authority::Rights;
    use super::super::role::{Membership, RoleDescriptor};
    use super::*;

    #[test]
    fn who_is_asked() {
        let mut authority = Authority::default();
        for (oid, name) in [(100, "owner"), (101, "member"), (102, "other"), (103, "bypasses"), (104, "super")] {
            let mut role = RoleDescriptor::new(oid, name);
            role.bypass_rls = name == "bypasses";
            role.superuser = name == "super";
            if name == "member" {
                role.member_of.push(Membership { role: 100, grantor: 100, admin: false });
            }
            authority.put_role(role);
        }
        let mut table = crate::row::samples::table(&[], &[], &[]);
        authority.put_rights(RightsOf::Relation(table.oid), Rights::of(100));
        let all = |authority: &Authority, table: &TableDescriptor| [100, 101, 102, 103, 104].map(|role| asked(authority, role, table));
        assert_eq!(all(&authority, &table), [Asked::Nobody; 5]);
        table.row_security.enabled = true;
        let other = Asked::Policies { owner: false };
        assert_eq!(all(&authority, &table), [Asked::Exempt, Asked::Exempt, other, Asked::Exempt, Asked::Exempt]);
        table.row_security.forced = true;
        let own = Asked::Policies { owner: true };
        assert_eq!(all(&authority, &table), [own, own, other, Asked::Exempt, Asked::Exempt]);
    }
}

//! Lists of who may do what with an object: PostgreSQL's `aclitem[]`, as plain data.
//!
//! Nothing here knows what a role is but its OID; who has the rights of whom is asked of a function.

use super::descriptor::Oid;
use serde::{Deserialize, Serialize};

/// The grantee that stands for everybody.
pub const PUBLIC_GRANTEE: Oid = 0;

/// A set of privileges.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Privileges(pub u32);

impl Privileges {
    pub const NONE: Self = Self(0);
    pub const INSERT: Self = Self(1);
    pub const SELECT: Self = Self(1 << 1);
    pub const UPDATE: Self = Self(1 << 2);
    pub const DELETE: Self = Self(1 << 3);
    pub const TRUNCATE: Self = Self(1 << 4);
    pub const REFERENCES: Self = Self(1 << 5);
    pub const TRIGGER: Self = Self(1 << 6);
    pub const EXECUTE: Self = Self(1 << 7);
    pub const USAGE: Self = Self(1 << 8);
    pub const CREATE: Self = Self(1 << 9);
    pub const TEMPORARY: Self = Self(1 << 10);
    pub const CONNECT: Self = Self(1 << 11);

    /// Each with its letter and its name, in the order in which PostgreSQL prints them.
    pub const ALL: [(Self, char, &'static str); 12] = [
        (Self::INSERT, 'a', "INSERT"),
        (Self::SELECT, 'r', "SELECT"),
        (Self::UPDATE, 'w', "UPDATE"),
        (Self::DELETE, 'd', "DELETE"),
        (Self::TRUNCATE, 'D', "TRUNCATE"),
        (Self::REFERENCES, 'x', "REFERENCES"),
        (Self::TRIGGER, 't', "TRIGGER"),
        (Self::EXECUTE, 'X', "EXECUTE"),
        (Self::USAGE, 'U', "USAGE"),
        (Self::CREATE, 'C', "CREATE"),
        (Self::TEMPORARY, 'T', "TEMPORARY"),
        (Self::CONNECT, 'c', "CONNECT"),
    ];

    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of the others are among these.
    #[must_use]
    pub const fn has(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// One by one.
    pub fn each(self) -> impl Iterator<Item = (Self, char, &'static str)> {
        Self::ALL.into_iter().filter(move |(one, ..)| self.has(*one))
    }

    /// The privilege with a name as GRANT writes it, in any case.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("temp") {
            return Some(Self::TEMPORARY);
        }
        Self::ALL.into_iter().find(|(.., known)| known.eq_ignore_ascii_case(name)).map(|(one, ..)| one)
    }
}

/// What kind of thing is granted on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum ObjectClass {
    /// Tables, views and materialized views.
    Table,
    Column,
    Sequence,
    Database,
    Function,
    Schema,
    Language,
    Type,
    LargeObject,
}

impl ObjectClass {
    /// What `GRANT ALL` means.
    #[must_use]
    pub const fn all(self) -> Privileges {
        use Privileges as P;
        match self {
            Self::Table => P(P::INSERT.0 | P::SELECT.0 | P::UPDATE.0 | P::DELETE.0 | P::TRUNCATE.0 | P::REFERENCES.0 | P::TRIGGER.0),
            Self::Column => P(P::INSERT.0 | P::SELECT.0 | P::UPDATE.0 | P::REFERENCES.0),
            Self::Sequence => P(P::SELECT.0 | P::UPDATE.0 | P::USAGE.0),
            Self::Database => P(P::CREATE.0 | P::TEMPORARY.0 | P::CONNECT.0),
            Self::Function => P::EXECUTE,
            Self::Schema => P(P::USAGE.0 | P::CREATE.0),
            Self::Language | Self::Type => P::USAGE,
            Self::LargeObject => P(P::SELECT.0 | P::UPDATE.0),
        }
    }

    /// What everybody may do unless something else was said.
    #[must_use]
    pub const fn of_public(self) -> Privileges {
        match self {
            Self::Table | Self::Column | Self::Sequence | Self::Schema | Self::LargeObject => Privileges::NONE,
            Self::Database => Privileges::TEMPORARY.or(Privileges::CONNECT),
            Self::Function => Privileges::EXECUTE,
            Self::Language | Self::Type => Privileges::USAGE,
        }
    }
}

/// What one role has granted to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AclItem {
    /// [`PUBLIC_GRANTEE`] or a role.
    pub grantee: Oid,
    pub grantor: Oid,
    pub privileges: Privileges,
    /// Those of the privileges that may be granted on.
    pub options: Privileges,
}

/// Who may do what.
pub type Acl = Vec<AclItem>;

/// What an object has whose list was never changed: everybody's part, then the owner's.
#[must_use]
pub fn default_acl(class: ObjectClass, owner: Oid) -> Acl {
    let mut out = Acl::new();
    let (public, own) = (class.of_public(), class.all());
    // Columns have no list of their own until somebody writes one.
    if matches!(class, ObjectClass::Column) {
        return out;
    }
    if !public.is_empty() {
        out.push(AclItem { grantee: PUBLIC_GRANTEE, grantor: owner, privileges: public, options: Privileges::NONE });
    }
    out.push(AclItem { grantee: owner, grantor: owner, privileges: own, options: Privileges::NONE });
    out
}

/// Which of the wanted privileges and of the wanted options a role has. `has_rights_of` says whether the role has those of another.
#[must_use]
pub fn granted(
    acl: &[AclItem],
    owner: Oid,
    role: Oid,
    wanted: Privileges,
    wanted_options: Privileges,
    has_rights_of: &dyn Fn(Oid) -> bool,
) -> (Privileges, Privileges) {
    let (mut privileges, mut options) = (Privileges::NONE, Privileges::NONE);
    if !wanted_options.is_empty() && has_rights_of(owner) {
        // The owner may grant whatever the list says.
        options = wanted_options;
    }
    for item in acl {
        let news =
            !wanted.and(item.privileges).without(privileges).is_empty() || !wanted_options.and(item.options).without(options).is_empty();
        if news && (item.grantee == PUBLIC_GRANTEE || item.grantee == role || has_rights_of(item.grantee)) {
            privileges = privileges.or(item.privileges.and(wanted));
            options = options.or(item.options.and(wanted_options));
        }
    }
    (privileges, options)
}

/// The list with more granted: to the item of the same grantee and grantor.
pub fn add(acl: &mut Acl, grantee: Oid, grantor: Oid, privileges: Privileges, options: Privileges) {
    match acl.iter_mut().find(|i| i.grantee == grantee && i.grantor == grantor) {
        None if privileges.is_empty() => {}
        Some(item) => {
            item.privileges = item.privileges.or(privileges);
            item.options = item.options.or(options);
        }
        None => acl.push(AclItem { grantee, grantor, privileges, options }),
    }
}

/// Whether a grant with options would let a role have its options from itself, by way of others: PostgreSQL refuses circles.
#[must_use]
pub fn makes_circle(acl: &[AclItem], owner: Oid, grantee: Oid, grantor: Oid, options: Privileges) -> bool {
    if grantor == owner {
        return false;
    }
    // Without what the grantee gives, the grantor must still have its options.
    let mut left = acl.to_vec();
    let mut gone = vec![grantee];
    while let Some(role) = gone.pop() {
        let given: Vec<Oid> = left.iter().filter(|i| i.grantor == role && i.grantee != role).map(|i| i.grantee).collect();
        left.retain(|i| i.grantor != role);
        for other in given {
            let keeps = left.iter().any(|i| i.grantee == other && i.options.has(options));
            if !keeps && other != owner {
                gone.push(other);
            }
        }
    }
    let own = left.iter().filter(|i| i.grantee == grantor && i.grantee != grantee).fold(Privileges::NONE, |all, i| all.or(i.options));
    !own.has(options)
}

/// The list with less granted. What the grantee has granted on by lost options goes too with `cascade`; without it, that there is
/// something is `Err`.
///
/// # Errors
/// If privileges depend on those that are revoked.
pub fn remove(
    acl: &mut Acl,
    owner: Oid,
    (grantee, grantor): (Oid, Oid),
    privileges: Privileges,
    options: Privileges,
    cascade: bool,
) -> Result<(), Dependent> {
    let mut lost = Privileges::NONE;
    let had: Privileges = options_of(acl, grantee);
    if let Some(item) = acl.iter_mut().find(|i| i.grantee == grantee && i.grantor == grantor) {
        item.privileges = item.privileges.without(privileges);
        item.options = item.options.without(options.or(privileges));
    }
    acl.retain(|i| !i.privileges.is_empty() || !i.options.is_empty());
    if grantee != owner {
        lost = had.without(options_of(acl, grantee));
    }
    if lost.is_empty() {
        return Ok(());
    }
    let on: Vec<AclItem> = acl.iter().filter(|i| i.grantor == grantee && !i.privileges.and(lost).is_empty()).copied().collect();
    for item in on {
        if !cascade {
            return Err(Dependent);
        }
        remove(acl, owner, (item.grantee, item.grantor), item.privileges.and(lost), item.options.and(lost), cascade)?;
    }
    Ok(())
}

/// Privileges depend on those that would be revoked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dependent;

fn options_of(acl: &[AclItem], role: Oid) -> Privileges {
    acl.iter().filter(|i| i.grantee == role).fold(Privileges::NONE, |all, i| all.or(i.options))
}

/// The list of an object whose owner is another now: what the old one had and granted is the new one's, and what is said twice by that,
/// once.
#[must_use]
pub fn with_owner(acl: &[AclItem], old: Oid, new: Oid) -> Acl {
    let swap = |role: Oid| if role == old { new } else { role };
    let mut out = Acl::new();
    for item in acl {
        add(&mut out, swap(item.grantee), swap(item.grantor), item.privileges, item.options);
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    const R: Privileges = Privileges::SELECT;

    fn item(grantee: Oid, grantor: Oid, privileges: Privileges, options: Privileges) -> AclItem {
        AclItem { grantee, grantor, privileges, options }
    }

    #[test]
    fn what_was_granted_on_goes_only_with_cascade() {
        let start = vec![
            item(1, 1, ObjectClass::Table.all(), Privileges::NONE),
            item(2, 1, R, R),
            item(3, 2, R, R),
            item(4, 3, R, Privileges::NONE),
        ];
        let mut acl = start.clone();
        assert_eq!(remove(&mut acl, 1, (2, 1), R, Privileges::NONE, false), Err(Dependent));
        let mut acl = start.clone();
        remove(&mut acl, 1, (2, 1), R, Privileges::NONE, true).unwrap();
        assert_eq!(acl, start[..1]);
        // The option alone: the privilege stays.
        let mut acl = start.clone();
        remove(&mut acl, 1, (2, 1), Privileges::NONE, R, true).unwrap();
        assert_eq!(acl, [start[0], item(2, 1, R, Privileges::NONE)]);
        // Who has the option from another as well loses nothing.
        let mut acl = start;
        acl.push(item(3, 1, R, R));
        remove(&mut acl, 1, (2, 1), R, Privileges::NONE, true).unwrap();
        assert!(acl.contains(&item(4, 3, R, Privileges::NONE)));
    }

    #[test]
    fn options_do_not_come_back_in_a_circle() {
        let acl = [item(1, 1, R, Privileges::NONE), item(2, 1, R, R), item(3, 2, R, R)];
        assert!(makes_circle(&acl, 1, 2, 3, R));
        assert!(!makes_circle(&acl, 1, 4, 3, R));
        assert!(!makes_circle(&acl, 1, 3, 1, R));
        assert!(makes_circle(&acl, 1, 2, 2, R));
    }

    #[test]
    fn who_has_what() {
        let acl = [item(PUBLIC_GRANTEE, 1, R, Privileges::NONE), item(5, 1, Privileges::INSERT, Privileges::INSERT)];
        let of =
            |role: Oid, member: Oid| granted(&acl, 1, role, R.or(Privileges::INSERT), Privileges::INSERT, &|r| r == role || r == member);
        assert_eq!(of(7, 7), (R, Privileges::NONE));
        assert_eq!(of(7, 5), (R.or(Privileges::INSERT), Privileges::INSERT));
        assert_eq!(of(1, 1), (R, Privileges::INSERT));
    }

    #[test]
    fn a_new_owner_has_what_the_old_one_had() {
        let acl = [item(1, 1, R, Privileges::NONE), item(2, 1, Privileges::INSERT, Privileges::NONE)];
        assert_eq!(with_owner(&acl, 1, 2), [item(2, 2, R.or(Privileges::INSERT), Privileges::NONE)]);
    }
}

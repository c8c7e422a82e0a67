//! The roles as those who ask for a proof need them.

use std::fmt::Debug;

/// What of a role decides whether it gets in.
#[derive(Clone, Debug)]
pub struct LoginRole {
    pub can_login: bool,
    /// What its password is proven against, in text; none if it has no password.
    pub verifier: Option<String>,
    /// When its password ends, in microseconds since 1970.
    pub valid_until_us: Option<i64>,
}

/// The roles of the database.
pub trait LoginRoles: Send + Sync + Debug {
    fn find(&self, name: &str) -> Option<LoginRole>;

    /// Whether a role is, directly or by others, a member of a group, or is it. Being a superuser is not enough.
    fn is_member(&self, role: &str, group: &str) -> bool;
}

/// Roles of a database that has none: every name is one, without a password.
#[derive(Debug)]
pub struct Everybody;

impl LoginRoles for Everybody {
    fn find(&self, _: &str) -> Option<LoginRole> {
        Some(LoginRole { can_login: true, verifier: None, valid_until_us: None })
    }

    fn is_member(&self, role: &str, group: &str) -> bool {
        role == group
    }
}

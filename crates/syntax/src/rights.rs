//! Statements about roles and privileges: plain data, as written. Names are not resolved.

use crate::ast::{DataType, Ident, ObjectName};
use crate::utility::SetValue;
use std::fmt;

/// A role as a statement names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RoleRef {
    /// Folded.
    Name(String),
    CurrentRole,
    CurrentUser,
    SessionUser,
    Public,
}

/// What stands behind PASSWORD. Silent in `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(pub String);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(..)")
    }
}

/// An option of CREATE and ALTER ROLE.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RoleOption {
    Superuser(bool),
    Inherit(bool),
    CreateRole(bool),
    CreateDb(bool),
    Login(bool),
    Replication(bool),
    BypassRls(bool),
    ConnectionLimit(i64),
    /// `None`: PASSWORD NULL.
    Password(Option<Password>),
    ValidUntil(String),
    /// IN ROLE: the new role becomes a member of these.
    InRole(Vec<RoleRef>),
    /// ROLE and USER: these become members of the role.
    Members(Vec<RoleRef>),
    /// ADMIN: the same, with the right to make others members.
    Admins(Vec<RoleRef>),
    Sysid,
}

/// Which of the three words a statement used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RoleWord {
    Role,
    User,
    Group,
}

/// What ALTER ROLE and ALTER DATABASE do with settings that sessions begin with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SettingChange {
    Set(String, SetValue),
    /// SET … FROM CURRENT.
    FromCurrent(String),
    Reset(String),
    ResetAll,
}

/// A statement about roles.
#[derive(Clone, PartialEq, Debug)]
pub enum RoleStatement {
    Create {
        name: RoleRef,
        word: RoleWord,
        options: Vec<RoleOption>,
    },
    Alter {
        role: RoleRef,
        options: Vec<RoleOption>,
    },
    /// `None` for ALL, of the role.
    AlterSettings {
        role: Option<RoleRef>,
        database: Option<String>,
        change: SettingChange,
    },
    Rename {
        role: RoleRef,
        new: String,
    },
    Drop {
        names: Vec<RoleRef>,
        if_exists: bool,
    },
    /// GRANT roles, and ALTER GROUP … ADD USER.
    Grant {
        roles: Vec<String>,
        to: Vec<RoleRef>,
        admin: bool,
        granted_by: Option<RoleRef>,
        alter_group: bool,
    },
    /// REVOKE roles, and ALTER GROUP … DROP USER; `admin_only`: ADMIN OPTION FOR.
    Revoke {
        roles: Vec<String>,
        from: Vec<RoleRef>,
        admin_only: bool,
        granted_by: Option<RoleRef>,
        alter_group: bool,
    },
    ReassignOwned {
        from: Vec<RoleRef>,
        to: RoleRef,
    },
    DropOwned {
        by: Vec<RoleRef>,
        cascade: bool,
    },
    Comment {
        role: RoleRef,
        text: Option<String>,
    },
}

impl RoleStatement {
    /// Whether a password stands in it: its text must not be shown to others, or logged.
    #[must_use]
    pub fn has_password(&self) -> bool {
        match self {
            Self::Create { options, .. } | Self::Alter { options, .. } => {
                options.iter().any(|option| matches!(option, RoleOption::Password(Some(_))))
            }
            _ => false,
        }
    }
}

/// A privilege with the columns that it is about.
#[derive(Clone, PartialEq, Debug)]
pub struct PrivilegeItem {
    /// In lower case; `None` for ALL.
    pub name: Option<String>,
    pub columns: Vec<Ident>,
}

/// A function as GRANT names it.
#[derive(Clone, PartialEq, Debug)]
pub struct FunctionRef {
    pub name: ObjectName,
    /// `None` where no parentheses stand.
    pub arguments: Option<Vec<DataType>>,
}

/// Kinds of objects of which ALL … IN SCHEMA and default privileges speak.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Many {
    Tables,
    Sequences,
    Functions,
    Types,
    Schemas,
}

/// What privileges are granted on.
#[derive(Clone, PartialEq, Debug)]
pub enum GrantTarget {
    /// `TABLE` or nothing: sequences may be named so too.
    Tables(Vec<ObjectName>),
    Sequences(Vec<ObjectName>),
    Functions(Vec<FunctionRef>),
    Databases(Vec<Ident>),
    Schemas(Vec<Ident>),
    Languages(Vec<Ident>),
    Types(Vec<ObjectName>),
    AllIn(Many, Vec<Ident>),
    /// By their numbers, as written.
    LargeObjects(Vec<String>),
    /// Kinds of objects that there are none of, by their words: FOREIGN SERVER.
    Other(String),
}

/// GRANT, or REVOKE, of privileges.
#[derive(Clone, PartialEq, Debug)]
pub struct GrantStatement {
    pub grant: bool,
    /// WITH GRANT OPTION, or GRANT OPTION FOR.
    pub option: bool,
    pub privileges: Vec<PrivilegeItem>,
    pub target: GrantTarget,
    pub grantees: Vec<RoleRef>,
    pub granted_by: Option<RoleRef>,
    pub cascade: bool,
}

/// ALTER DEFAULT PRIVILEGES.
#[derive(Clone, PartialEq, Debug)]
pub struct DefaultPrivilegesStatement {
    pub roles: Vec<RoleRef>,
    pub schemas: Vec<Ident>,
    pub grant: bool,
    pub option: bool,
    pub privileges: Vec<PrivilegeItem>,
    pub on: Many,
    pub grantees: Vec<RoleRef>,
    pub cascade: bool,
}

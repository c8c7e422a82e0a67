//! Statements about databases: plain data, as written.

use crate::rights::{RoleRef, SettingChange};

/// A statement about databases. Names are folded.
#[derive(Clone, PartialEq, Debug)]
pub enum DatabaseStatement {
    Create { name: String, options: Vec<DatabaseOption> },
    Alter { name: String, options: Vec<DatabaseOption> },
    Rename { name: String, new: String },
    Owner { name: String, owner: RoleRef },
    Settings { name: String, change: SettingChange },
    Tablespace { name: String, tablespace: String },
    RefreshCollationVersion { name: String },
    Drop { name: String, if_exists: bool, force: bool },
    Comment { name: String, text: Option<String> },
}

/// An option of CREATE and ALTER DATABASE: its name in lower case (`connection_limit` for the two words) and its value.
#[derive(Clone, PartialEq, Debug)]
pub struct DatabaseOption {
    pub name: String,
    pub value: OptionValue,
}

/// What stands behind the name of an option.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OptionValue {
    Default,
    Integer(i64),
    /// A word, folded, or a string.
    Text(String),
}

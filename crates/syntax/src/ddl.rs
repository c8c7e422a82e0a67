//! Statements that define objects: plain data, as written. Names are not resolved, types and expressions are sqlparser's.

use crate::ast::{DataType, Expr, Ident, ObjectName, Query, Statement};
use crate::database::DatabaseStatement;
use crate::policy::{PolicyStatement, RowSecurityChange};
use crate::rights::{DefaultPrivilegesStatement, GrantStatement, RoleRef, RoleStatement};

/// What an object is called in a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ObjectKind {
    Table,
    ForeignTable,
    View,
    MaterializedView,
    Index,
    Sequence,
    Schema,
}

/// A value of `WITH (name = value)`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StorageOption {
    pub name: String,
    /// As written, strings without quotes; `None` where there is no `=`.
    pub value: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnCommitAction {
    PreserveRows,
    DeleteRows,
    Drop,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReferenceAction {
    NoAction,
    Restrict,
    Cascade,
    SetNull,
    SetDefault,
}

#[derive(Clone, PartialEq, Debug)]
pub struct References {
    pub table: ObjectName,
    /// Empty: the primary key.
    pub columns: Vec<Ident>,
    pub match_full: bool,
    pub on_delete: ReferenceAction,
    /// The columns that SET NULL and SET DEFAULT name; empty: all of the key.
    pub on_delete_columns: Vec<Ident>,
    pub on_update: ReferenceAction,
}

/// An option of CREATE or ALTER SEQUENCE.
#[derive(Clone, PartialEq, Debug)]
pub enum SequenceOption {
    As(DataType),
    Increment(String),
    /// `None`: NO MINVALUE.
    MinValue(Option<String>),
    MaxValue(Option<String>),
    Start(String),
    Restart(Option<String>),
    Cache(String),
    Cycle(bool),
    /// `None`: OWNED BY NONE.
    OwnedBy(Option<ObjectName>),
    Name(ObjectName),
}

/// A column of an index or of PRIMARY KEY or UNIQUE.
#[derive(Clone, PartialEq, Debug)]
pub struct IndexElement {
    pub expr: Expr,
    pub descending: bool,
    /// `None` where it is not said.
    pub nulls_first: Option<bool>,
    pub operator_class: Option<ObjectName>,
    /// The expression is the beginning of a text, of SEGMENT LENGTH.
    pub segment: bool,
}

/// Columns of PRIMARY KEY and UNIQUE.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct KeyColumns {
    /// Empty for the constraint of one column.
    pub columns: Vec<IndexElement>,
    pub include: Vec<Ident>,
    pub using_index: Option<Ident>,
    pub nulls_not_distinct: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub enum ConstraintKind {
    NotNull,
    Null,
    Default(Expr),
    Check(Expr),
    PrimaryKey(KeyColumns),
    Unique(KeyColumns),
    /// The referring columns are empty for the constraint of one column.
    ForeignKey {
        columns: Vec<Ident>,
        references: References,
    },
    Identity {
        always: bool,
        options: Vec<SequenceOption>,
    },
    Generated(Expr),
    Exclude,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Constraint {
    pub name: Option<Ident>,
    pub kind: ConstraintKind,
    pub deferrable: Option<bool>,
    pub initially_deferred: Option<bool>,
    pub not_valid: bool,
    pub no_inherit: bool,
    /// In characters from 1.
    pub position: usize,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Column {
    pub name: Ident,
    pub data_type: DataType,
    /// `COLLATE name`.
    pub collation: Option<ObjectName>,
    /// `FAMILY name`.
    pub family: Option<Ident>,
    /// `OPTIONS (…)`, of foreign tables.
    pub options: Vec<StorageOption>,
    /// `COMMENT '…'`, as Hyperdrive has it.
    pub comment: Option<String>,
    pub constraints: Vec<Constraint>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Family {
    pub name: Ident,
    pub columns: Vec<Ident>,
    pub options: Vec<StorageOption>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum TableElement {
    Column(Column),
    Constraint(Constraint),
    /// INCLUDING and EXCLUDING in their order.
    Like {
        name: ObjectName,
        options: Vec<(bool, String)>,
    },
    Family(Family),
}

#[derive(Clone, PartialEq, Debug)]
pub enum Split {
    /// Values of the first key parts.
    At(Vec<Vec<Expr>>),
    /// So many pieces alike, of keys that are written with an alphabet.
    Into { pieces: u32, alphabet: Option<String> },
}

#[derive(Clone, PartialEq, Debug)]
pub struct CreateTable {
    pub name: ObjectName,
    pub temporary: bool,
    pub if_not_exists: bool,
    pub elements: Vec<TableElement>,
    pub options: Vec<StorageOption>,
    pub on_commit: Option<OnCommitAction>,
    pub split: Option<Split>,
    /// TTL EXPIRES AT.
    pub expires: Option<Expr>,
    /// TIMESTAMP FROM.
    pub timestamp: Option<Ident>,
    pub inherits: Vec<ObjectName>,
    pub partitioned: bool,
    /// CREATE FOREIGN TABLE: its `OPTIONS (…)`.
    pub foreign: Option<Vec<StorageOption>>,
    /// `COMMENT '…'`, as Hyperdrive has it.
    pub comment: Option<String>,
}

/// Where the rows of CREATE TABLE AS come from.
#[derive(Clone, PartialEq, Debug)]
pub enum RowSource {
    /// The statement is a query.
    Query(Box<Statement>),
    /// What a prepared query gives.
    Execute { name: String, args: Vec<Expr> },
}

#[derive(Clone, PartialEq, Debug)]
pub struct CreateTableAs {
    pub name: ObjectName,
    pub temporary: bool,
    pub if_not_exists: bool,
    pub columns: Vec<Ident>,
    pub options: Vec<StorageOption>,
    pub on_commit: Option<OnCommitAction>,
    pub rows: RowSource,
    pub with_data: bool,
    /// CREATE MATERIALIZED VIEW.
    pub materialized_view: bool,
}

/// A table that was dropped.
#[derive(Clone, PartialEq, Debug)]
pub enum DroppedName {
    /// The last one of the name.
    Name(ObjectName),
    Oid(u32),
}

#[derive(Clone, PartialEq, Debug)]
pub struct CreateView {
    pub name: ObjectName,
    pub or_replace: bool,
    pub temporary: bool,
    pub columns: Vec<Ident>,
    pub options: Vec<StorageOption>,
    pub query: Box<Query>,
    /// `local` or `cascaded`.
    pub check_option: Option<String>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct CreateIndex {
    pub name: Option<Ident>,
    pub table: ObjectName,
    pub unique: bool,
    pub concurrently: bool,
    pub if_not_exists: bool,
    pub method: Option<String>,
    pub elements: Vec<IndexElement>,
    pub include: Vec<Ident>,
    pub nulls_not_distinct: bool,
    pub options: Vec<StorageOption>,
    pub predicate: Option<Expr>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct CreateSequence {
    pub name: ObjectName,
    pub temporary: bool,
    pub if_not_exists: bool,
    pub options: Vec<SequenceOption>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum AlterAction {
    AddColumn {
        column: Column,
        if_not_exists: bool,
    },
    /// `ADD COLUMN … FROM DYNAMIC`: an undeclared column becomes a declared one.
    PromoteColumn(Column),
    DropColumn {
        name: Ident,
        if_exists: bool,
        cascade: bool,
    },
    SetDefault {
        column: Ident,
        value: Expr,
    },
    DropDefault {
        column: Ident,
    },
    SetNotNull {
        column: Ident,
    },
    DropNotNull {
        column: Ident,
    },
    SetType {
        column: Ident,
        data_type: DataType,
        collation: Option<ObjectName>,
        using: Option<Expr>,
    },
    AddIdentity {
        column: Ident,
        always: bool,
        options: Vec<SequenceOption>,
    },
    /// SET GENERATED and options of the sequence.
    AlterIdentity {
        column: Ident,
        always: Option<bool>,
        options: Vec<SequenceOption>,
    },
    DropIdentity {
        column: Ident,
        if_exists: bool,
    },
    DropExpression {
        column: Ident,
        if_exists: bool,
    },
    /// SET (…) and RESET (…) of a column.
    ColumnOptions {
        column: Ident,
        options: Vec<StorageOption>,
        set: bool,
    },
    /// SET STATISTICS, STORAGE, COMPRESSION: nothing that Stoa has.
    ColumnStorage {
        column: Ident,
        what: String,
    },
    /// ENABLE ROW LEVEL SECURITY and its kin.
    RowSecurity(RowSecurityChange),
    AddConstraint(Constraint),
    DropConstraint {
        name: Ident,
        if_exists: bool,
        cascade: bool,
    },
    ValidateConstraint {
        name: Ident,
    },
    AlterConstraint {
        name: Ident,
        deferrable: Option<bool>,
        initially_deferred: Option<bool>,
    },
    RenameColumn {
        old: Ident,
        new: Ident,
    },
    RenameConstraint {
        old: Ident,
        new: Ident,
    },
    Rename(Ident),
    SetSchema(Ident),
    OwnerTo(RoleRef),
    SetOptions(Vec<StorageOption>),
    ResetOptions(Vec<StorageOption>),
    AddFamily {
        family: Family,
        if_not_exists: bool,
    },
    AlterFamily {
        name: Ident,
        options: Vec<StorageOption>,
    },
    DropFamily {
        name: Ident,
        if_exists: bool,
    },
    Split(Split),
    /// Values of the first key parts; `None`: all.
    Unsplit(Option<Vec<Vec<Expr>>>),
    /// Buckets, and columns of the hash; `None`: no salt.
    Salt(Option<(u32, Vec<Ident>)>),
    /// By which column rows are newer than others; `None`: by none.
    TimestampFrom(Option<Ident>),
    /// When rows end by themselves; `None`: they do not.
    Expires(Option<Expr>),
    /// All rows as they were at a time.
    RestoreTo(Expr),
    /// The families and cells of another raw table.
    RestoreFrom(ObjectName),
    ReplicaIdentity(ReplicaIdentity),
    Unsupported(String),
}

/// Behind REPLICA IDENTITY.
#[derive(Clone, PartialEq, Debug)]
pub enum ReplicaIdentity {
    Default,
    Nothing,
    Full,
    Index(Ident),
}

#[derive(Clone, PartialEq, Debug)]
pub enum CommentTarget {
    Object(ObjectKind, ObjectName),
    /// The last part is the column.
    Column(ObjectName),
    Constraint {
        name: Ident,
        table: ObjectName,
    },
    /// The name is folded.
    Policy {
        name: String,
        table: ObjectName,
    },
    /// Its number, as written.
    LargeObject(String),
    Other(String),
}

#[derive(Clone, PartialEq, Debug)]
pub enum ReindexTarget {
    Index(ObjectName),
    Table(ObjectName),
    Schema(Ident),
    Database(Option<Ident>),
    /// The system catalogs of a database.
    System(Option<Ident>),
}

/// A statement that defines, changes or removes objects.
#[derive(Clone, PartialEq, Debug)]
pub enum Ddl {
    CreateSchema {
        name: Option<Ident>,
        /// AUTHORIZATION.
        owner: Option<RoleRef>,
        if_not_exists: bool,
        elements: Vec<Ddl>,
    },
    CreateTable(CreateTable),
    CreateTableAs(CreateTableAs),
    CreateView(CreateView),
    CreateIndex(CreateIndex),
    CreateSequence(CreateSequence),
    Alter {
        kind: ObjectKind,
        name: ObjectName,
        if_exists: bool,
        actions: Vec<AlterAction>,
    },
    AlterSequence {
        name: ObjectName,
        if_exists: bool,
        options: Vec<SequenceOption>,
    },
    Drop {
        kind: ObjectKind,
        names: Vec<ObjectName>,
        /// The table of an index, where it is said.
        on: Option<ObjectName>,
        if_exists: bool,
        cascade: bool,
        concurrently: bool,
        /// PURGE: tables cannot come back.
        purge: bool,
    },
    /// ALTER LARGE OBJECT; its number as written.
    AlterLargeObject {
        oid: String,
        owner: RoleRef,
    },
    /// UNDROP TABLE.
    Undrop {
        table: DroppedName,
        /// What it is called from now on, if not as before.
        rename: Option<Ident>,
    },
    /// DROP of a kind of object that there is none of; with arguments of functions, and tables of triggers.
    DropUnknown {
        kind: String,
        names: Vec<(String, Option<String>, Option<String>)>,
        if_exists: bool,
    },
    /// Hyperdrive's `DROP FULLTEXT INDEX ON t`.
    DropFullText {
        table: ObjectName,
        if_exists: bool,
    },
    Truncate {
        names: Vec<ObjectName>,
        restart_identity: bool,
        cascade: bool,
    },
    Comment {
        target: CommentTarget,
        text: Option<String>,
    },
    Reindex {
        target: ReindexTarget,
        concurrently: bool,
    },
    Refresh {
        name: ObjectName,
        concurrently: bool,
        with_data: bool,
    },
    Role(RoleStatement),
    Database(DatabaseStatement),
    Grant(GrantStatement),
    Policy(PolicyStatement),
    DefaultPrivileges(DefaultPrivilegesStatement),
    /// Something that PostgreSQL has and Stoa has not: the words of the statement.
    Unsupported(String),
}

//! Statements about the session rather than about data: plain data, one variant a statement.

use crate::ast;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Isolation {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

/// What BEGIN and SET TRANSACTION may say; what is not said stays.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TransactionModes {
    pub isolation: Option<Isolation>,
    pub read_only: Option<bool>,
    pub deferrable: Option<bool>,
}

/// One value of a SET.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SetItem {
    /// Numbers with their sign, words in lower case, strings without quotes.
    pub text: String,
    /// A string literal or quoted identifier: a name with these characters as they are.
    pub quoted: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SetValue {
    Default,
    Values(Vec<SetItem>),
    /// `SET TIME ZONE INTERVAL '…' [fields]`: the interval's text with its fields' words.
    Interval {
        text: String,
        fields: String,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiscardTarget {
    All,
    Plans,
    Sequences,
    Temp,
}

/// Where FETCH and MOVE go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FetchDirection {
    /// `i64::MAX` is ALL; negative counts go the other way.
    Forward(i64),
    Backward(i64),
    Absolute(i64),
    Relative(i64),
}

#[derive(Clone, PartialEq, Debug)]
pub struct Declare {
    pub name: String,
    pub binary: bool,
    /// INSENSITIVE, which all cursors are; only FOR UPDATE does not go with the word.
    pub insensitive: bool,
    /// `None` where neither SCROLL nor NO SCROLL is said.
    pub scroll: Option<bool>,
    pub hold: bool,
    pub query: Box<ast::Statement>,
    pub query_text: String,
}

#[derive(Clone, PartialEq, Debug)]
pub enum CopySource {
    /// A column with a type is one that the table need not declare.
    Table {
        name: ast::ObjectName,
        columns: Vec<ast::TableAliasColumnDef>,
    },
    Query(Box<ast::Statement>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CopyTarget {
    /// STDIN or STDOUT: the client.
    Client,
    File(String),
    Program(String),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OptionValue {
    Word(String),
    Text(String),
    Number(String),
    Star,
    List(Vec<String>),
}

/// An option in parentheses, or of the old forms without them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedOption {
    pub name: String,
    pub value: Option<OptionValue>,
    /// In characters from 1.
    pub position: usize,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Copy {
    pub source: CopySource,
    /// FROM rather than TO.
    pub from: bool,
    pub target: CopyTarget,
    pub options: Vec<NamedOption>,
    pub filter: Option<Box<ast::Expr>>,
}

#[derive(Clone, Debug)]
pub struct Explain {
    pub options: Vec<NamedOption>,
    pub body: Box<crate::Body>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TableLockMode {
    AccessShare,
    RowShare,
    RowExclusive,
    ShareUpdateExclusive,
    Share,
    ShareRowExclusive,
    Exclusive,
    AccessExclusive,
}

#[derive(Clone, PartialEq, Debug)]
pub struct MaintenanceTarget {
    pub table: ast::ObjectName,
    pub columns: Vec<ast::Ident>,
}

#[derive(Clone, Debug)]
pub enum Utility {
    Begin(TransactionModes),
    Commit {
        chain: bool,
    },
    Rollback {
        chain: bool,
    },
    Savepoint(String),
    Release(String),
    RollbackTo(String),
    PrepareTransaction(String),
    /// COMMIT PREPARED, or ROLLBACK PREPARED.
    FinishPrepared {
        gid: String,
        commit: bool,
    },
    Set {
        name: String,
        value: SetValue,
        local: bool,
    },
    SetTransaction {
        modes: TransactionModes,
        snapshot: Option<String>,
        characteristics: bool,
    },
    SetConstraints {
        names: Option<Vec<ast::ObjectName>>,
        deferred: bool,
    },
    SetRole {
        role: Option<String>,
        local: bool,
    },
    SetSessionAuthorization {
        user: Option<String>,
        local: bool,
    },
    Reset(Option<String>),
    Show(Option<String>),
    Discard(DiscardTarget),
    Declare(Declare),
    Fetch {
        name: String,
        direction: FetchDirection,
        move_only: bool,
    },
    Close(Option<String>),
    Prepare {
        name: String,
        types: Vec<ast::DataType>,
        statement: Box<ast::Statement>,
        text: String,
    },
    Execute {
        name: String,
        args: Vec<ast::Expr>,
    },
    Deallocate(Option<String>),
    Copy(Copy),
    Explain(Explain),
    Listen(String),
    Notify {
        channel: String,
        payload: String,
    },
    Unlisten(Option<String>),
    Lock {
        tables: Vec<ast::ObjectName>,
        mode: TableLockMode,
        nowait: bool,
    },
    Vacuum {
        options: Vec<NamedOption>,
        targets: Vec<MaintenanceTarget>,
    },
    Analyze {
        options: Vec<NamedOption>,
        targets: Vec<MaintenanceTarget>,
    },
    /// `CHECK INDEX | TABLE name [WHERE condition] [REPAIR]`.
    Check {
        table: bool,
        name: ast::ObjectName,
        /// As it is written.
        condition: Option<String>,
        repair: bool,
    },
    Checkpoint,
    Do {
        language: Option<String>,
        code: String,
    },
    Call(Box<ast::Expr>),
    /// Definitions of objects.
    Ddl(Box<crate::ddl::Ddl>),
}

//! The typed tree: what a statement means once every name, type and function is resolved.
//!
//! Every column that a relational node gives has a [`ColId`] of its own, unique in the statement: expressions refer to columns
//! by id and never by name. Casts are explicit; nothing below coerces again. A reference to a column that no input of the
//! node gives is an outer reference: the node stands in a correlated subquery or a LATERAL item.

use datafusion_common::ScalarValue;
use std::sync::Arc;
use stoa_pg::registry::{Func, Oper};
use stoa_pg::{PgType, SqlType};
use stoa_table::catalog::{ColumnId, Oid, Privileges, TableDescriptor};
use stoa_table::services::locks::{LockStrength, LockWait};

/// A column of some relational node, unique in the statement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ColId(pub u32);

/// A typed expression.
#[derive(PartialEq, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: SqlType,
}

impl Clone for Expr {
    fn clone(&self) -> Self {
        crate::typed::deeper(|| Self { kind: self.kind.clone(), ty: self.ty.clone() })
    }
}

/// A signature used by identity.
#[derive(Clone, Debug)]
pub struct FuncRef(pub Arc<Func>);

impl PartialEq for FuncRef {
    fn eq(&self, other: &Self) -> bool {
        self.0.oid == other.0.oid
    }
}

/// An operator used by identity.
#[derive(Clone, Debug)]
pub struct OperRef(pub Arc<Oper>);

impl PartialEq for OperRef {
    fn eq(&self, other: &Self) -> bool {
        self.0.oid == other.0.oid
    }
}

#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    Column(ColId),
    /// In the Arrow form of the expression's type.
    Const(ScalarValue),
    /// From 0.
    Param(usize),
    Func {
        func: FuncRef,
        args: Vec<Expr>,
    },
    /// One argument for prefix operators.
    Oper {
        oper: OperRef,
        args: Vec<Expr>,
    },
    /// The modifier and Arrow form are the expression's type.
    Cast {
        arg: Box<Expr>,
        explicit: bool,
    },
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Not(Box<Expr>),
    IsNull(Box<Expr>),
    IsNotNull(Box<Expr>),
    /// `IS NULL` or `IS NOT NULL` of a record that is computed: that all its fields are NULL, or that none is.
    RowIsNull {
        arg: Box<Expr>,
        negated: bool,
    },
    /// `IS [NOT] TRUE`, `FALSE`, `UNKNOWN`: which value, and whether negated.
    IsBool {
        arg: Box<Expr>,
        value: Option<bool>,
        negated: bool,
    },
    /// Both sides of one type.
    IsDistinct {
        left: Box<Expr>,
        right: Box<Expr>,
        equal: Box<OperRef>,
        negated: bool,
    },
    /// Conditions are boolean; branches of one type.
    Case {
        whens: Vec<(Expr, Expr)>,
        otherwise: Option<Box<Expr>>,
    },
    Coalesce(Vec<Expr>),
    /// `body` with a value that is computed once, however often [`ExprKind::Given`] of its id stands there.
    Once {
        id: ColId,
        value: Box<Expr>,
        body: Box<Expr>,
    },
    /// The value of the [`ExprKind::Once`] of this id around it.
    Given(ColId),
    /// GREATEST and LEAST; the operator is `>` or `<` of the type.
    Extreme {
        args: Vec<Expr>,
        greatest: bool,
    },
    Array(Vec<Expr>),
    Row(Vec<Expr>),
    /// A field of a record, by position.
    Field {
        arg: Box<Expr>,
        index: usize,
    },
    Subscript {
        array: Box<Expr>,
        indexes: Vec<Expr>,
    },
    Slice {
        array: Box<Expr>,
        bounds: Vec<(Option<Expr>, Option<Expr>)>,
    },
    /// `left op ANY|ALL (array)`.
    AnyArray {
        left: Box<Expr>,
        oper: OperRef,
        array: Box<Expr>,
        all: bool,
    },
    ScalarSubquery(Box<Query>),
    Exists(Box<Query>),
    /// `(left…) op ANY|ALL (query)`: one operator a column. IN is `= ANY`; NOT IN is the negation of it.
    AnyQuery {
        left: Vec<Expr>,
        opers: Vec<OperRef>,
        query: Box<Query>,
        all: bool,
    },
    ArraySubquery(Box<Query>),
    /// Only until the aggregate node is built; then a column.
    Aggregate(Box<AggregateExpr>),
    /// Only until the window node is built; then a column.
    Window(Box<WindowExpr>),
    /// Only until the ProjectSet node is built; then a column.
    Set(Box<SetExpr>),
    /// GROUPING(…): positions of its arguments among the grouping expressions.
    Grouping(Vec<Expr>),
}

#[derive(Clone, PartialEq, Debug)]
pub struct AggregateExpr {
    pub func: FuncRef,
    pub args: Vec<Expr>,
    pub distinct: bool,
    pub order_by: Vec<SortKey>,
    pub filter: Option<Expr>,
    /// WITHIN GROUP (ORDER BY …): the aggregate is an ordered-set one and `order_by` is this.
    pub within_group: bool,
    pub ty: SqlType,
}

#[derive(Clone, PartialEq, Debug)]
pub struct WindowExpr {
    pub func: FuncRef,
    pub args: Vec<Expr>,
    pub filter: Option<Expr>,
    pub partition_by: Vec<Expr>,
    pub order_by: Vec<SortKey>,
    pub frame: Option<Frame>,
    pub ty: SqlType,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameUnits {
    Rows,
    Range,
    Groups,
}

#[derive(Clone, PartialEq, Debug)]
pub enum FrameBound {
    UnboundedPreceding,
    Preceding(Box<Expr>),
    CurrentRow,
    Following(Box<Expr>),
    UnboundedFollowing,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameExclusion {
    None,
    CurrentRow,
    Group,
    Ties,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Frame {
    pub units: FrameUnits,
    pub start: FrameBound,
    pub end: FrameBound,
    pub exclusion: FrameExclusion,
}

/// A call of a set-returning function.
#[derive(Clone, PartialEq, Debug)]
pub struct SetExpr {
    pub func: FuncRef,
    pub args: Vec<Expr>,
    /// Types of the columns that it returns.
    pub columns: Vec<(String, SqlType)>,
    pub ty: SqlType,
}

#[derive(Clone, PartialEq, Debug)]
pub struct SortKey {
    pub expr: Expr,
    pub descending: bool,
    pub nulls_first: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JoinKind {
    Inner,
    Left,
    Right,
    Full,
    /// Rows of the left that have a match.
    Semi,
    Anti,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SetOp {
    Union,
    Intersect,
    Except,
}

/// A table in a query.
#[derive(Clone, Debug)]
pub struct TableScan {
    pub table: Arc<TableDescriptor>,
    /// All live columns, hidden ones included, in the order of the descriptor: plans read only what is used.
    pub columns: Vec<(ColumnId, ColId)>,
    /// The name by which the statement knows it.
    pub alias: String,
    /// `AS OF SYSTEM TIME`, as an expression without columns.
    pub as_of: Option<Box<Expr>>,
    /// A time in microseconds since 1970: as of this one, and of later ones, it gives no rows, and need not know the past.
    pub until: Option<u64>,
    /// What hints say about it.
    pub hints: Vec<stoa_table::access::Hint>,
    /// Which scan of the statement this is: DML names its target by it.
    pub scan_id: u32,
    /// It was decided which of the table's rows are seen: see [`crate::bind::policy`].
    pub rows_decided: bool,
    /// What the statement itself has written is seen, too: for RETURNING.
    pub sees_own: bool,
}

impl PartialEq for TableScan {
    fn eq(&self, other: &Self) -> bool {
        self.scan_id == other.scan_id
    }
}

/// A column of a version of a row, beside those of the row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum VersionColumn {
    /// When it was committed.
    RowStart,
    /// When something else was; `infinity` if nothing was yet.
    RowEnd,
    /// `insert`, `update` or `delete`; NULL for the oldest version that is known.
    Operation,
    /// The names of the columns that an update changed.
    Changed,
}

impl VersionColumn {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            VersionColumn::RowStart => "row_start",
            VersionColumn::RowEnd => "row_end",
            VersionColumn::Operation => "operation",
            VersionColumn::Changed => "changed",
        }
    }

    #[must_use]
    pub fn ty(self) -> SqlType {
        match self {
            VersionColumn::RowStart | VersionColumn::RowEnd => SqlType::new(PgType::Timestamptz),
            VersionColumn::Operation => SqlType::new(PgType::Text),
            VersionColumn::Changed => SqlType::new(PgType::Text.array_of()),
        }
    }
}

/// Which versions of rows are given; the times are expressions without columns.
#[derive(Clone, PartialEq, Debug)]
pub enum Span {
    /// Those that were there after one time and before another, or at it if `includes_end`.
    Between { from: Expr, to: Expr, includes_end: bool },
    /// All that are kept.
    All,
    /// The same, and deletions: a row for each change.
    Changes,
    /// What differs between two times, as of the second.
    Difference { from: Expr, to: Expr },
}

impl Span {
    pub fn times(&self) -> impl Iterator<Item = &Expr> {
        let (from, to) = match self {
            Span::Between { from, to, .. } | Span::Difference { from, to } => (Some(from), Some(to)),
            Span::All | Span::Changes => (None, None),
        };
        from.into_iter().chain(to)
    }

    pub fn times_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let (from, to) = match self {
            Span::Between { from, to, .. } | Span::Difference { from, to } => (Some(from), Some(to)),
            Span::All | Span::Changes => (None, None),
        };
        from.into_iter().chain(to)
    }
}

/// The past of a table's rows in a query.
#[derive(Clone, PartialEq, Debug)]
pub struct HistoryScan {
    pub scan: TableScan,
    pub version_columns: Vec<(VersionColumn, ColId)>,
    pub span: Span,
}

impl HistoryScan {
    /// All columns that it gives.
    pub fn columns(&self) -> impl Iterator<Item = ColId> {
        self.scan.columns.iter().map(|(_, id)| *id).chain(self.version_columns.iter().map(|(_, id)| *id))
    }
}

/// Relational algebra over [`ColId`]s.
#[derive(Clone, PartialEq, Debug)]
pub enum Rel {
    /// One row without columns.
    One,
    Values {
        columns: Vec<(ColId, SqlType)>,
        rows: Vec<Vec<Expr>>,
    },
    /// Rows that come from outside in the Arrow form of their columns: COPY.
    Batches {
        columns: Vec<(ColId, SqlType)>,
        batches: Vec<arrow::array::RecordBatch>,
    },
    Scan(Box<TableScan>),
    History(Box<HistoryScan>),
    /// A relation of `pg_catalog`, `information_schema`, `stoa_catalog`, computed by name.
    Virtual {
        schema: String,
        name: String,
        columns: Vec<(ColId, String, SqlType)>,
    },
    Filter {
        input: Box<Rel>,
        predicate: Expr,
    },
    /// The rows of the input, of which others may know nothing yet: what stands above and may raise, or has an effect, is computed for
    /// no rows but these.
    Barrier {
        input: Box<Rel>,
    },
    /// Only the listed columns go on. An entry whose expression is `Column(c)` with the same id passes a column through.
    Project {
        input: Box<Rel>,
        exprs: Vec<(ColId, Expr)>,
    },
    /// With `lateral`, the right side may refer to columns of the left.
    Join {
        left: Box<Rel>,
        right: Box<Rel>,
        kind: JoinKind,
        on: Option<Expr>,
        lateral: bool,
    },
    /// `sets`: grouping sets as positions in `groups`; `grouping`: columns that hold GROUPING(…) of positions.
    Aggregate {
        input: Box<Rel>,
        groups: Vec<(ColId, Expr)>,
        sets: Option<Vec<Vec<usize>>>,
        aggregates: Vec<(ColId, AggregateExpr)>,
        grouping: Vec<(ColId, Vec<usize>)>,
    },
    /// Adds columns.
    Window {
        input: Box<Rel>,
        windows: Vec<(ColId, WindowExpr)>,
    },
    /// Adds the columns of set-returning functions, run in step (NULLs after the shorter ones' end). `outer`: a row of the
    /// input for which no function gives a row is kept with NULLs. `ordinality`: one more column, from 1.
    ProjectSet {
        input: Box<Rel>,
        sets: Vec<(Vec<ColId>, SetExpr)>,
        outer: bool,
        ordinality: Option<ColId>,
    },
    Sort {
        input: Box<Rel>,
        keys: Vec<SortKey>,
    },
    /// `ties`: rows equal to the last by these keys come too; the input is sorted by them.
    Limit {
        input: Box<Rel>,
        offset: Option<Expr>,
        fetch: Option<Expr>,
        ties: Option<Vec<SortKey>>,
    },
    /// Duplicates by all columns of the input.
    Distinct {
        input: Box<Rel>,
        columns: Vec<(ColId, SqlType)>,
    },
    /// The first row of each group in the order of the input; `order`: the keys by which the input is sorted.
    DistinctOn {
        input: Box<Rel>,
        on: Vec<Expr>,
        order: Vec<SortKey>,
    },
    /// Columns by position: `columns[i]` is `left[i]` with `right[i]`, all of one type.
    SetOp {
        op: SetOp,
        all: bool,
        left: Box<Rel>,
        left_columns: Vec<ColId>,
        right: Box<Rel>,
        right_columns: Vec<ColId>,
        columns: Vec<(ColId, SqlType)>,
    },
    /// Reads a CTE of [`Bound::ctes`] that is materialised, or the working table of the recursion it stands in.
    CteScan {
        cte: CteId,
        columns: Vec<(ColId, ColId, SqlType)>,
    },
    /// WITH RECURSIVE: the columns by position in both terms.
    Recursive {
        cte: CteId,
        columns: Vec<(ColId, SqlType)>,
        base: Box<Rel>,
        base_columns: Vec<ColId>,
        step: Box<Rel>,
        step_columns: Vec<ColId>,
        all: bool,
    },
    /// A random part of a scan.
    Sample {
        input: Box<Rel>,
        percent: Expr,
        system: bool,
        seed: Option<Expr>,
    },
    /// FOR UPDATE and its kin over the named scans of the input.
    Lock {
        input: Box<Rel>,
        scans: Vec<u32>,
        strength: LockStrength,
        wait: LockWait,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CteId(pub u32);

/// A CTE that is computed once: referenced several times, MATERIALIZED, or data-modifying.
#[derive(Clone, PartialEq, Debug)]
pub struct Cte {
    pub id: CteId,
    pub name: String,
    pub body: CteBody,
    pub columns: Vec<(ColId, SqlType)>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum CteBody {
    Query(Box<Rel>),
    Mutation(Box<Mutation>),
}

/// A column of a result, as clients see it.
#[derive(Clone, PartialEq, Debug)]
pub struct Output {
    pub name: String,
    pub col: ColId,
    pub ty: SqlType,
    /// The column that it is, for RowDescription: the relation's OID and the column's number; 0 is the whole row, and numbers of system
    /// columns, which are negative, are here in two's complement.
    pub origin: Option<(u32, u32)>,
}

/// A query with the order, names and types of its columns. `rel` may give more columns.
#[derive(Clone, PartialEq, Debug)]
pub struct Query {
    pub rel: Rel,
    pub outputs: Vec<Output>,
}

/// The unique constraints whose conflicts ON CONFLICT deals with.
#[derive(Clone, PartialEq, Debug)]
pub enum Arbiters {
    /// The primary key is 0, indexes go by OID.
    These(Vec<u32>),
    /// Those that are meant by the values of parameters: [`crate::bind::inference::arbiters`] finds them.
    Inferred(Box<Inference>),
}

/// What ON CONFLICT says of the constraints that it means. Columns of the table are called by their own ids.
#[derive(Clone, PartialEq, Debug)]
pub struct Inference {
    /// In the order of their ids, each once.
    pub columns: Vec<ColumnId>,
    pub exprs: Vec<Expr>,
    pub condition: Option<Expr>,
    pub candidates: Vec<UniqueCandidate>,
}

/// A unique constraint that may be meant.
#[derive(Clone, PartialEq, Debug)]
pub struct UniqueCandidate {
    /// As in [`Arbiters::These`].
    pub arbiter: u32,
    /// In the order of their ids, each once.
    pub columns: Vec<ColumnId>,
    pub exprs: Vec<Expr>,
    pub condition: Option<Expr>,
}

/// How an INSERT deals with keys that exist.
#[derive(Clone, PartialEq, Debug)]
pub enum OnConflict {
    /// 23505.
    Error,
    /// `None`: any unique constraint.
    DoNothing { arbiters: Option<Arbiters> },
    /// Assignments and the condition refer to the existing row by `existing` and to the new row by `excluded`.
    DoUpdate {
        arbiters: Arbiters,
        existing: Vec<(ColumnId, ColId)>,
        excluded: Vec<(ColumnId, ColId)>,
        assignments: Vec<(ColumnId, Expr)>,
        condition: Option<Expr>,
    },
    /// UPSERT: these columns of the row with the same key are replaced, or all of them.
    Replace { columns: Option<Vec<ColumnId>> },
}

/// One arm of MERGE.
#[derive(Clone, PartialEq, Debug)]
pub struct MergeArm {
    pub matched: bool,
    pub condition: Option<Expr>,
    pub action: MergeAction,
}

#[derive(Clone, PartialEq, Debug)]
pub enum MergeAction {
    DoNothing,
    Delete,
    Update(Vec<(ColumnId, Expr)>),
    Insert(Vec<(ColumnId, Expr)>),
}

/// What a mutation does to each row of its source.
#[derive(Clone, PartialEq, Debug)]
pub enum MutationKind {
    /// `columns`: each column of the table that is stored, with the source's column for it (defaults and generated columns are
    /// computed in the source already).
    Insert {
        columns: Vec<(ColumnId, ColId)>,
        on_conflict: OnConflict,
    },
    /// `old`: the target's columns in the source (all live ones); `new`: the assigned columns.
    Update {
        old: Vec<(ColumnId, ColId)>,
        new: Vec<(ColumnId, ColId)>,
    },
    Delete {
        old: Vec<(ColumnId, ColId)>,
    },
    /// The source is target ⟕ source (or a full form); `old` NULL in the key where nothing matched.
    Merge {
        old: Vec<(ColumnId, ColId)>,
        arms: Vec<MergeArm>,
    },
}

/// The column of `returning_columns` that tells which transaction has updated a row in place of inserting it; 0 of one that is new.
pub const XMAX: ColumnId = ColumnId(u32::MAX);

/// A statement that changes rows of one table: a query yields the rows, and this node writes them.
#[derive(Clone, PartialEq, Debug)]
pub struct Mutation {
    pub table: MutationTarget,
    pub kind: MutationKind,
    pub source: Box<Rel>,
    /// RETURNING: expressions over `returning_columns` (the new row; the old one for DELETE) and the source's columns.
    pub returning: Option<Vec<(Output, Expr)>>,
    pub returning_columns: Vec<(ColumnId, ColId)>,
    /// How the statement uses its target.
    pub usage: TargetUse,
    /// What the rows that it writes, and those that it finds in their place, must satisfy.
    pub checks: RowChecks,
}

/// How a statement uses its target: by this policies of the table are chosen.
#[derive(Clone, PartialEq, Debug)]
pub struct TargetUse {
    /// The scan of the source that gives the target's rows.
    pub scan: Option<u32>,
    /// The view in whose owner's name the table is used; `None`: in that of the current role.
    pub within: Option<Oid>,
    /// The statement names columns of the rows, as in WHERE or RETURNING: it needs to be allowed to see them.
    pub reads: bool,
    /// It was decided which rows may be changed: see [`crate::bind::policy`].
    pub rows_decided: bool,
}

/// Conditions on rows that a statement writes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RowChecks {
    /// The columns of the table, as the conditions name them.
    pub columns: Vec<(ColumnId, ColId)>,
    pub checks: Vec<RowCheck>,
}

/// A condition that must be true.
#[derive(Clone, PartialEq, Debug)]
pub struct RowCheck {
    pub asks: AsksCheck,
    pub condition: Expr,
    /// It asks for maps of the row that is written: it is computed when their entries are.
    pub of_maps: bool,
}

/// Who asks for a check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AsksCheck {
    /// WITH CHECK OPTION of a view with this name, when the row is written.
    View(String),
    /// Policies of the table, before anything else is asked of a row; of a restrictive one its name.
    Policies { when: PolicyCheck, policy: Option<String> },
}

/// Which rows policies look at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PolicyCheck {
    /// Those that are to be inserted.
    Inserted,
    /// Those that an update makes.
    Updated,
    /// Those that are there already and that ON CONFLICT DO UPDATE would change.
    Conflicting,
    /// The same, through a view: one that the view of this name, in the place of a policy's, must show.
    Shown,
    /// Those that an arm of MERGE would update.
    MergeUpdates,
    /// Those that an arm of MERGE would delete.
    MergeDeletes,
}

#[derive(Clone, Debug)]
pub struct MutationTarget(pub Arc<TableDescriptor>);

impl PartialEq for MutationTarget {
    fn eq(&self, other: &Self) -> bool {
        self.0.oid == other.0.oid
    }
}

/// What a statement does with a relation.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Access {
    /// A table, a view, a sequence, a relation of the system.
    pub relation: Oid,
    /// The view whose owner must be allowed to; `None`: the current role must.
    pub within: Option<Oid>,
    pub privileges: Privileges,
    /// The columns that are read; none where no column is named, as by `count(*)`.
    pub selected: Vec<ColumnId>,
    pub inserted: Vec<ColumnId>,
    pub updated: Vec<ColumnId>,
}

/// A bound statement with rows: the CTEs in the order in which they must be computed, then the body.
#[derive(Clone, PartialEq, Debug)]
pub struct Bound {
    pub ctes: Vec<Cte>,
    pub body: BoundBody,
    /// Types of `$1`, `$2`, …
    pub params: Vec<SqlType>,
    /// Relations used, with the columns used: for views, privileges and plan invalidation.
    pub uses: Vec<stoa_table::catalog::Dependency>,
    /// What it does with relations, in the order in which it names them.
    pub accesses: Vec<Access>,
    /// Functions that it calls and that not everybody may call.
    pub functions: Vec<FuncRef>,
    /// Schemas that it names.
    pub schemas: Vec<Oid>,
    /// Hints that could not be understood.
    pub warnings: Vec<String>,
    /// It holds the key of the row that a cursor stood on: it may run once.
    pub names_cursor: bool,
    /// What it writes is ingested as sorted runs when the transaction commits (`/*+ USE_BULKLOAD */`).
    pub loads: bool,
    /// The name of a materialized view that it reads and that has no data: it may not run.
    pub unpopulated: Option<Box<str>>,
    /// The role whose policies are in it, and whether `row_security` was on; `None` where no table has row-level security.
    pub policies_of: Option<(Oid, bool)>,
}

impl Bound {
    /// A statement of its body alone, which uses nothing that is looked after.
    #[must_use]
    pub fn new(body: BoundBody) -> Self {
        Self {
            ctes: Vec::new(),
            body,
            params: Vec::new(),
            uses: Vec::new(),
            accesses: Vec::new(),
            functions: Vec::new(),
            schemas: Vec::new(),
            warnings: Vec::new(),
            names_cursor: false,
            loads: false,
            unpopulated: None,
            policies_of: None,
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub enum BoundBody {
    Query(Query),
    Mutation(Mutation),
}

impl Expr {
    #[must_use]
    pub fn new(kind: ExprKind, ty: SqlType) -> Self {
        Self { kind, ty }
    }

    #[must_use]
    pub fn column(id: ColId, ty: SqlType) -> Self {
        Self { kind: ExprKind::Column(id), ty }
    }

    /// The expression with its values in the form in memory that a type has: that of an index part, of a branch.
    #[must_use]
    pub fn in_form_of(self, ty: &SqlType) -> Self {
        if self.ty.arrow == ty.arrow {
            return self;
        }
        Self { kind: ExprKind::Cast { arg: Box::new(self), explicit: false }, ty: ty.clone() }
    }

    /// What is inside a cast that changes the modifier of a type and not one value.
    #[must_use]
    pub fn relabelled(&self) -> Option<&Self> {
        match &self.kind {
            ExprKind::Cast { arg, .. } if arg.ty.ty == self.ty.ty && arg.ty.arrow == self.ty.arrow => {
                let blanks = self.ty.keeps_blanks() || self.ty.ty.element() == Some(PgType::Bpchar);
                (arg.ty.typmod == self.ty.typmod || self.ty.typmod == -1 && !blanks).then_some(arg)
            }
            _ => None,
        }
    }

    /// Whether this is the constant NULL.
    #[must_use]
    pub fn is_null_const(&self) -> bool {
        matches!(&self.kind, ExprKind::Const(value) if value.is_null())
    }
}

//! What names mean inside one query: its FROM items, the columns that `*` stands for, and what the clause allows.

use super::map::stored;
use super::row_address;
use super::sqlparser_span::Span;
use crate::typed::tree::{AggregateExpr, ColId, Expr, ExprKind};
use std::collections::HashSet;
use stoa_pg::SqlType;
use stoa_table::catalog::{ColumnId, TableDescriptor};

/// Where an expression stands: decides whether aggregates, windows and set-returning functions may appear.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clause {
    From,
    JoinOn,
    Where,
    GroupBy,
    Having,
    SelectList,
    OrderBy,
    Window,
    /// Inside the arguments of a window function.
    WindowArgument,
    /// The offset of a frame, with its name.
    Frame(&'static str),
    Limit,
    Values,
    Returning,
    UpdateSet,
    Check,
    /// USING and WITH CHECK of a policy.
    Policy,
    /// What a generated column is computed from.
    Generation,
    /// TTL EXPIRES AT.
    Expiry,
    /// USING of ALTER COLUMN … TYPE.
    Transform,
    /// A key of an index.
    IndexKey,
    /// The condition of a partial index.
    IndexPredicate,
    Default,
    /// Inside the arguments of an aggregate.
    Aggregate,
    /// FILTER of an aggregate.
    Filter,
    FunctionInFrom,
    MergeCondition,
    ExecuteArgument,
}

impl Clause {
    /// Whether what stands there is computed of the rows of a table, one by one, whenever they are written or shown.
    pub fn is_of_stored_rows(self) -> bool {
        matches!(
            self,
            Clause::Check
                | Clause::Policy
                | Clause::Generation
                | Clause::Expiry
                | Clause::Transform
                | Clause::IndexKey
                | Clause::IndexPredicate
        )
    }

    /// As PostgreSQL names it in "… are not allowed in WHERE".
    pub fn name(self) -> &'static str {
        match self {
            Clause::From => "FROM",
            Clause::JoinOn => "JOIN conditions",
            Clause::Where => "WHERE",
            Clause::GroupBy => "GROUP BY",
            Clause::Having => "HAVING",
            Clause::SelectList => "SELECT",
            Clause::OrderBy => "ORDER BY",
            Clause::Window | Clause::WindowArgument => "window definitions",
            Clause::Frame(name) => name,
            Clause::Limit => "LIMIT",
            Clause::Values => "VALUES",
            Clause::Returning => "RETURNING",
            Clause::UpdateSet => "UPDATE",
            Clause::Check => "check constraints",
            Clause::Policy => "policy expressions",
            Clause::Generation => "column generation expressions",
            Clause::Expiry => "TTL EXPIRES AT",
            Clause::Transform => "transform expressions",
            Clause::IndexKey => "index expressions",
            Clause::IndexPredicate => "index predicates",
            Clause::Default => "DEFAULT expressions",
            Clause::Aggregate => "aggregate function calls",
            Clause::Filter => "FILTER",
            Clause::FunctionInFrom => "functions in FROM",
            Clause::MergeCondition => "MERGE WHEN conditions",
            Clause::ExecuteArgument => "EXECUTE parameters",
        }
    }

    /// As PostgreSQL names it in "cannot use subquery in …", if no query may stand there.
    pub fn without_queries(self) -> Option<&'static str> {
        match self {
            Clause::Check => Some("check constraint"),
            Clause::Generation => Some("column generation expression"),
            Clause::Expiry => Some("TTL EXPIRES AT"),
            Clause::Transform => Some("transform expression"),
            Clause::IndexKey => Some("index expression"),
            Clause::IndexPredicate => Some("index predicate"),
            Clause::Default => Some("DEFAULT expression"),
            Clause::ExecuteArgument => Some("EXECUTE parameter"),
            _ => None,
        }
    }
}

/// One column of a FROM item.
#[derive(Clone, Debug)]
pub struct ScopeColumn {
    pub name: String,
    pub expr: Expr,
    /// As of [`Output`](crate::typed::tree::Output::origin).
    pub origin: Option<(u32, u32)>,
}

/// A table, subquery, function or join with an alias.
#[derive(Clone, Debug)]
pub struct FromItem {
    pub alias: String,
    /// For tables that are named without an alias: `schema.table.column` may be written.
    pub schema: Option<String>,
    /// Where such a table is named in the text.
    pub place: Option<Span>,
    pub columns: Vec<ScopeColumn>,
    /// What a relation calls its columns, where an alias calls them otherwise: its whole row has these names.
    pub fields: Vec<String>,
    /// Whether the item is a table whose columns hang on its primary key (for GROUP BY).
    pub key: Option<Vec<ColId>>,
    /// Not visible from a LATERAL item's inside although it stands to the left, or from where a RIGHT or FULL join forbids it.
    pub lateral_only: bool,
    /// Why references are refused, when they are.
    pub refused: Option<Refusal>,
    /// A join under a name of its own: its row is made of its columns, also where an outer join around it has none.
    pub joined: bool,
    /// On the side of an outer join that is filled with NULLs.
    pub nullable: bool,
    /// A column that is not NULL where that join found a row; see `Binder::marks_rows`.
    pub found: Option<ColId>,
    pub table_oid: Option<u32>,
    /// The columns of a table's key, of which `ctid` is made.
    pub address: Vec<Expr>,
    /// Whether a function in FROM with one scalar column: `SELECT g FROM generate_series(…) g`.
    pub scalar: bool,
    pub lockable: Lockable,
}

/// What FOR UPDATE and its kin lock when they name an item.
#[derive(Clone, Copy, Default, Debug)]
pub enum Lockable {
    #[default]
    Unknown,
    /// Rows of the scans with ids above the first number and up to the second.
    Scans(u32, u32),
    /// Nothing, and no clause may name it: it is what the words say.
    No(&'static str),
}

/// Why an item may not be referred to (42P10) from where it can be seen.
#[derive(Clone, Copy, Debug)]
pub enum Refusal {
    /// A RIGHT or FULL join extends it with NULLs.
    Nullable,
    /// It is the target of a change, and what refers to it stands in FROM.
    Target,
}

/// One query's name space.
#[derive(Clone, Debug)]
pub struct Scope {
    pub clause: Clause,
    pub items: Vec<FromItem>,
    /// Unqualified names in the order of `*`: `(item, column)`; merged columns of USING belong to no item.
    pub star: Vec<StarColumn>,
    /// Columns that this query's FROM gives: tells local references from outer ones.
    pub local: HashSet<ColId>,
    /// Aggregates that an inner query's expression put here because their arguments are ours.
    pub outer_aggregates: Vec<(ColId, AggregateExpr)>,
    /// GROUPING of an inner query whose arguments are ours.
    pub outer_groupings: Vec<(ColId, Vec<Expr>)>,
    /// Windows of the WINDOW clause.
    pub named_windows: Vec<(String, super::window::WindowDefinition)>,
    /// The names of items before this one do not clash: a join with an alias of its own is being read.
    pub names_from: usize,
    /// The first error in what a window is made of, which is reported when the rest of the query was read.
    pub window_error: Option<stoa_pg::PgError>,
}

#[derive(Clone, Debug)]
pub struct StarColumn {
    pub name: String,
    pub expr: Expr,
    pub item: Option<usize>,
    pub origin: Option<(u32, u32)>,
}

impl Scope {
    pub fn new(clause: Clause) -> Self {
        Self {
            clause,
            items: Vec::new(),
            star: Vec::new(),
            local: HashSet::new(),
            outer_aggregates: Vec::new(),
            outer_groupings: Vec::new(),
            named_windows: Vec::new(),
            names_from: 0,
            window_error: None,
        }
    }

    /// Adds an item and shows its columns unqualified.
    pub fn add_item(&mut self, item: FromItem) {
        let index = self.items.len();
        for column in &item.columns {
            self.star.push(StarColumn { name: column.name.clone(), expr: column.expr.clone(), item: Some(index), origin: column.origin });
        }
        self.items.push(item);
    }

    /// Adds a table's visible columns under the ids that `id_of` gives.
    /// The table that was added last has no alias: columns of it may be named with its schema.
    pub fn set_schema(&mut self, schema: Option<String>) {
        if let Some(item) = self.items.last_mut() {
            item.schema = schema;
        }
    }

    pub fn add_table(&mut self, table: &TableDescriptor, alias: &str, id_of: &dyn Fn(ColumnId) -> ColId) {
        let columns = table
            .visible_columns()
            .map(|c| {
                let expr = if c.is_map() { stored(table, c, id_of) } else { Expr::column(id_of(c.id), c.ty.clone()) };
                ScopeColumn { name: c.name.clone(), expr, origin: Some((table.oid, c.id.0)) }
            })
            .collect();
        for column in table.live_columns() {
            self.local.insert(id_of(column.id));
        }
        let key = table.primary_key.as_ref().map(|_| table.key_columns().map(|p| id_of(p.column)).collect());
        self.add_item(FromItem {
            alias: alias.to_owned(),
            schema: None,
            place: None,
            columns,
            fields: Vec::new(),
            key,
            lateral_only: false,
            refused: None,
            joined: false,
            nullable: false,
            found: None,
            table_oid: Some(table.oid),
            address: row_address::key_of(table, |id| Some(id_of(id))),
            scalar: false,
            lockable: Lockable::default(),
        });
    }
}

impl FromItem {
    /// The columns of relations that its own are made of: most are one, and a column of maps is called by its row's key.
    pub fn made_of(&self) -> Vec<(ColId, SqlType)> {
        let mut out = Vec::new();
        for column in &self.columns {
            column.expr.any(&mut |e| {
                if let ExprKind::Column(id) = e.kind {
                    out.push((id, e.ty.clone()));
                }
                false
            });
        }
        out
    }
}

impl Scope {
    /// The columns of maps of the table that was added last are values of a row that is being written.
    pub fn give_maps(&mut self, table: &TableDescriptor, columns: &[(ColumnId, ColId)]) {
        let Some(at) = self.items.len().checked_sub(1) else { return };
        for (id, col) in columns {
            let Some(column) = table.map_columns().find(|c| c.id == *id) else { continue };
            let value = Expr::column(*col, column.ty.clone());
            let of_item = self.items.get_mut(at).and_then(|item| item.columns.iter_mut().find(|c| c.origin == Some((table.oid, id.0))));
            if let Some(found) = of_item {
                found.expr = value.clone();
            }
            if let Some(star) = self.star.iter_mut().find(|s| s.item == Some(at) && s.origin == Some((table.oid, id.0))) {
                star.expr = value;
            }
            self.local.insert(*col);
        }
    }
}

/// The type of a whole row of an item; `names`: what the relation calls its columns, unless they are called so here.
pub fn record_type(columns: &[ScopeColumn], names: &[String]) -> SqlType {
    // Columns that a view's table got later are hidden from its names, not from whole rows.
    let own = |c: &ScopeColumn| c.name.trim_start_matches(super::alias::LATER).to_owned();
    let fields = columns.iter().enumerate().map(|(at, c)| (names.get(at).cloned().unwrap_or_else(|| own(c)), c.expr.ty.clone())).collect();
    SqlType::new(stoa_pg::PgType::Record(Some(std::sync::Arc::new(stoa_pg::types::RecordType { fields }))))
}

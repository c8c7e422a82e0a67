//! Syntax tree and catalog to typed tree: names, types, functions, parameters, and errors with positions.
//!
//! [`bind_statement`] is the entry. Reading order: [`crate::typed::tree`] → [`scope`] → [`resolve`] (types and signatures) → [`expr`] →
//! [`function`] → [`from`] → [`select`] → [`query`] → [`dml`] →
//! [`policy`] → [`expiry`].

mod access;
pub mod aggregate;
mod aggregate_call;
mod alias;
mod assign;
mod behind_views;
pub mod collation;
mod column;
mod common_row;
mod compare;
pub mod dml;
pub mod expiry;
pub mod expr;
pub mod from;
pub mod function;
mod group_by;
mod hint;
pub mod history;
pub mod inference;
mod insert;
pub mod literal;
mod locking;
mod map;
mod map_compare;
mod map_joins;
mod map_reads;
mod merge;
pub mod operator_class;
mod origin;
pub mod outer_join;
pub mod policy;
mod promoted;
pub mod query;
pub mod resolve;
pub mod row_address;
pub mod scope;
mod search;
pub mod select;
mod select_clauses;
mod struct_field;
mod subscript;
pub mod suggest;
mod table_function;
pub mod targets;
pub mod text_match;
pub mod type_name;
pub mod undeclared;
pub mod updatable;
mod window;
mod with;
mod worded_call;

use crate::typed::tree::{Bound, BoundBody, ColId, Cte, CteId, Expr};
use scope::{Clause, FromItem, Scope};
use sqlparser_span::Span;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use stoa_pg::settings::ValueSettings;
use stoa_pg::{EvalContext, PgError, PgResult, PgType, SqlState, SqlType};
use stoa_syntax::ast;
use stoa_table::catalog::{CatalogSnapshot, ColumnDescriptor, ColumnId, Dependency, Oid, TableDescriptor};

/// What binding may look at.
#[derive(Clone, Debug)]
pub struct BindContext<'a> {
    pub catalog: &'a CatalogSnapshot,
    /// Schemas for unqualified names, in order.
    pub search_path: &'a [Oid],
    pub eval: &'a EvalContext,
    /// Types that the client declared for `$1`, `$2`, …
    pub param_types: &'a [Option<PgType>],
    /// The whole text, for positions.
    pub text: &'a str,
}

/// A CTE in scope.
#[derive(Clone)]
pub struct CteEntry {
    pub name: String,
    pub id: CteId,
    pub columns: Vec<CteColumn>,
    /// Data-modifying without RETURNING: cannot be read.
    pub readable: bool,
}

/// A column of a CTE, as it is read.
#[derive(Clone)]
pub struct CteColumn {
    pub name: String,
    pub ty: SqlType,
    pub origin: Option<origin::Origin>,
}

/// The state of binding one statement.
pub struct Binder<'a> {
    pub ctx: BindContext<'a>,
    next_col: u32,
    next_scan: u32,
    next_cte: u32,
    /// Parameter types, as far as known.
    pub params: Vec<Option<SqlType>>,
    /// How often each is named.
    pub param_uses: Vec<usize>,
    /// Rows that subqueries choose for several columns of an UPDATE; `None` where nothing computes them.
    pub chosen_rows: Option<Vec<(ColId, Expr)>>,
    /// Those that stand where any type will do, once for each place.
    pub unlearned: Vec<usize>,
    /// Enclosing queries, the innermost last.
    pub scopes: Vec<Scope>,
    /// CTEs in scope, later ones hide earlier ones.
    pub cte_scope: Vec<CteEntry>,
    /// Names of the WITH clause that are defined behind the query being bound.
    pub later_ctes: Vec<String>,
    /// Where literals without a type stand, by their text: for errors of reading them.
    pub literals: HashMap<String, usize>,
    /// Where columns were named.
    pub column_positions: HashMap<ColId, usize>,
    /// All CTEs of the statement, in order of definition.
    pub ctes: Vec<Cte>,
    /// Columns of a view's or table's relation used by the statement.
    uses: BTreeMap<Oid, Vec<ColumnId>>,
    /// What the statement must be allowed to do.
    accesses: access::Accesses,
    /// In whose name each scan reads.
    scans_within: HashMap<u32, Option<Oid>>,
    /// A table with row-level security is used.
    secured: bool,
    /// All rows of tables are meant, whoever asks.
    all_rows: bool,
    /// The tree has barriers.
    barred: bool,
    /// See [`Bound::policies_of`].
    policies_of: Option<(Oid, bool)>,
    /// Policies that are being bound, from the outside in: how many views were being expanded around each, and in whose name it reads.
    policy_frames: Vec<(usize, Option<Oid>)>,
    /// Tables whose policies ask what is being bound.
    policy_tables: Vec<Oid>,
    /// A materialized view without data that is read.
    unpopulated: Option<Box<str>>,
    /// CTEs written MATERIALIZED, and NOT MATERIALIZED.
    pub materialized: Vec<CteId>,
    pub not_materialized: Vec<CteId>,
    /// Columns of select lists that are literals without a type of their own, with the modifier of the unknown type.
    pub untyped: HashMap<ColId, i32>,
    /// Recursions being bound, with the columns of their working tables.
    pub recursing: Vec<(CteId, Vec<ColId>)>,
    /// OVERRIDING SYSTEM VALUE was written.
    pub overriding_system: bool,
    /// OVERRIDING USER VALUE was written.
    pub overriding_user: bool,
    /// Undeclared columns of the table that the statement changes.
    undeclared: Vec<undeclared::Undeclared>,
    /// The statement has a FULL JOIN.
    pub full_joins: bool,
    /// The set operations in definitions of views, each by the first of its columns: what they read is not locked through the view.
    unions_of_views: HashSet<ColId>,
    /// It has an outer join of any kind.
    pub outer_joins: bool,
    /// A table with columns of maps is used.
    has_maps: bool,
    /// What the statement names, once that is whole.
    used: map_reads::Used,
    /// The views that are being expanded, from the outside in.
    pub views: Vec<Oid>,
    /// The lines of the text, once a place is asked for.
    lines: std::cell::OnceCell<stoa_syntax::Lines>,
    /// The error of an aggregate or a set-returning function in the arguments of the aggregate being bound.
    pub misplaced: Option<PgError>,
    /// Where set-returning functions are refused: CASE, COALESCE, aggregate arguments.
    pub no_sets: Option<&'static str>,
    /// Queries nested in one another.
    pub depth: usize,
    /// The expression will be stored as text: constants are not folded.
    pub keep: bool,
    /// The column of the score by any column of its table.
    pub scores: std::collections::HashMap<ColId, ColId>,
    /// The MATCHes so far.
    pub matches: Vec<text_match::MatchUse>,
    /// For views: what names and literals mean.
    pub meant: Option<Meanings>,
    /// The settings by which literals are read, if they are not the session's.
    read_with: Option<Arc<ValueSettings>>,
    /// For views: what each `*` stood for, by its place in the text.
    pub stars: Vec<(Span, Vec<ast::Expr>)>,
    /// Hints of the query being bound, and what could not be understood of any.
    pub hints: hint::Hints,
    /// See [`Bound::names_cursor`].
    pub names_cursor: bool,
    /// Whether sides that outer joins fill with NULLs get a column that tells their rows: for whole rows of what has no key.
    marks_rows: bool,
    /// Whether it turned out that they need it.
    wants_marks: bool,
    /// See [`Bound::loads`].
    loads: bool,
    /// In RETURNING of INSERT into a table: what `xmax` of the table's rows is.
    returned_xmax: Option<(Oid, Expr)>,
}

/// How deep queries, subqueries and expressions may nest before 54001.
pub const MAX_DEPTH: usize = 6000;
/// The same of views.
pub const MAX_VIEWS: usize = 150;

/// Binds SELECT, VALUES, TABLE, WITH, INSERT, UPDATE, DELETE and MERGE.
///
/// # Errors
/// What PostgreSQL's parse analysis raises; 0A000 for other statements.
pub fn bind_statement(ctx: &BindContext<'_>, statement: &ast::Statement) -> PgResult<Bound> {
    bind_again(ctx, statement, None)
}

/// As [`bind_statement`], of a statement whose literals have been read before, with these settings: their values stay.
///
/// # Errors
/// As [`bind_statement`].
pub fn bind_again(ctx: &BindContext<'_>, statement: &ast::Statement, read_with: Option<Arc<ValueSettings>>) -> PgResult<Bound> {
    with_marks(ctx, |binder| {
        binder.read_with.clone_from(&read_with);
        Ok(match statement {
            ast::Statement::Query(query) => binder.bind_top_query(query)?,
            ast::Statement::Insert(_) | ast::Statement::Update { .. } | ast::Statement::Delete(_) | ast::Statement::Merge { .. } => {
                BoundBody::Mutation(binder.bind_mutation(statement, true)?)
            }
            other => return Err(PgError::unsupported(format!("statement is not a query: {}", first_word(&other.to_string())))),
        })
    })
}

/// Binds; a second time, with marks of rows, what turns out to need them.
fn with_marks(ctx: &BindContext<'_>, bind: impl Fn(&mut Binder<'_>) -> PgResult<BoundBody>) -> PgResult<Bound> {
    let mut binder = Binder::new(ctx.clone());
    let body = bind(&mut binder)?;
    if !binder.wants_marks {
        return binder.finish(body);
    }
    let mut binder = Binder::new(ctx.clone());
    binder.marks_rows = true;
    let body = bind(&mut binder)?;
    binder.finish(body)
}

/// As [`bind_statement`], over all rows of its tables: for constraints, which hold for rows that policies hide as well. The statement is
/// nobody's, and is not shown to [`crate::privileges`].
///
/// # Errors
/// As [`bind_statement`].
pub fn bind_over_all_rows(ctx: &BindContext<'_>, query: &ast::Query) -> PgResult<Bound> {
    with_marks(ctx, |binder| {
        binder.all_rows = true;
        binder.bind_top_query(query)
    })
}

/// Binds the query as which a condition of a policy is kept, as of no role: for what it depends on.
///
/// # Errors
/// As [`bind_statement`].
pub fn bind_kept_condition(ctx: &BindContext<'_>, query: &ast::Query) -> PgResult<Bound> {
    with_marks(ctx, |binder| {
        binder.all_rows = true;
        binder.policy_frames.push((0, None));
        binder.bind_top_query(query)
    })
}

/// Binds the query of a materialized view from the text that is kept of it.
///
/// # Errors
/// As [`bind_statement`].
pub fn bind_stored_query(ctx: &BindContext<'_>, view: Oid, query: &ast::Query) -> PgResult<Bound> {
    with_marks(ctx, |binder| {
        binder.views.push(view);
        binder.bind_top_query(query)
    })
}

/// Binds an expression over the columns of a table: CHECK, generated columns, index expressions and predicates.
///
/// Returns the expression and the columns that it may refer to, each as `ColId(column id)`.
pub fn bind_table_expr(ctx: &BindContext<'_>, table: &TableDescriptor, sql: &str) -> PgResult<Expr> {
    let syntax = stoa_syntax::parse_expression(sql).map_err(syntax_error)?;
    bind_table_syntax(ctx, table, &syntax)
}

/// As [`bind_table_expr`], from syntax.
pub fn bind_table_syntax(ctx: &BindContext<'_>, table: &TableDescriptor, syntax: &ast::Expr) -> PgResult<Expr> {
    let mut binder = Binder::of_row(ctx, table, &table.name);
    let expr = binder.bind_expr(syntax)?;
    binder.resolve_unknown(expr)
}

/// The value of a generated column, assigned to it; `None` for a column that is none.
pub fn bind_generated(ctx: &BindContext<'_>, table: &TableDescriptor, column: &ColumnDescriptor) -> PgResult<Option<Expr>> {
    let Some(sql) = &column.generated else { return Ok(None) };
    let syntax = stoa_syntax::parse_expression(sql).map_err(syntax_error)?;
    let mut binder = Binder::of_row(&BindContext { text: sql, param_types: &[], ..ctx.clone() }, table, &table.name);
    let expr = binder.bind_expr(&syntax)?;
    let expr = binder.resolve_unknown(expr)?;
    binder.coerce_assignment(expr, &column.ty, &column.name).map(Some)
}

/// Binds an expression without columns (a DEFAULT, an argument of EXECUTE: `clause` says which) and casts it to a type as an
/// assignment does.
pub fn bind_constant_expr(ctx: &BindContext<'_>, clause: Clause, syntax: &ast::Expr, target: &SqlType, column: &str) -> PgResult<Expr> {
    refuse_queries(clause, syntax)?;
    let mut binder = Binder::new(ctx.clone());
    binder.scopes.push(Scope::new(clause));
    let expr = binder.bind_expr(syntax)?;
    binder.coerce_assignment(expr, target, column)
}

/// An item of FROM: by the place where FROM names its relation, or by its alias.
#[derive(Clone, Debug)]
pub enum ItemName {
    Place(Span),
    Alias(String),
}

/// What the names of a query mean.
#[derive(Default)]
pub struct Meanings {
    /// What each `*` stands for, by its place in the text.
    pub stars: Vec<(Span, Vec<ast::Expr>)>,
    /// The places where FROM names relations, and not items of WITH.
    pub relations: HashSet<Span>,
    /// Where names stand for relations without an alias, each with the place where FROM names the relation.
    pub names: HashMap<Span, Span>,
    /// Where columns are named alone, each with the item that has it.
    pub columns: HashMap<Span, ItemName>,
    /// The columns by which NATURAL joins, by the place of the right side.
    pub natural: HashMap<Span, Vec<String>>,
    /// Strings that name relations where nothing but what stands around them says so.
    pub named: HashMap<Span, Oid>,
    /// The places of its strings.
    pub strings: Vec<Span>,
    /// Of strings whose meaning depends on settings, the text that means the same under all.
    pub values: HashMap<Span, String>,
}

/// Binds a query for a view: the typed tree, and what its names mean.
///
/// # Errors
/// As [`bind_statement`].
pub fn bind_view_query(ctx: &BindContext<'_>, query: &ast::Query) -> PgResult<(Bound, Meanings)> {
    let mut binder = Binder::new(ctx.clone());
    // A definition is kept as it is written, and is run by others.
    binder.all_rows = true;
    binder.meant = Some(Meanings::default());
    let body = binder.bind_top_query(query)?;
    let meanings = Meanings { stars: std::mem::take(&mut binder.stars), ..binder.meant.take().unwrap_or_default() };
    Ok((binder.finish(body)?, meanings))
}

pub use map::names_maps;

/// 0A000 if there is a query in an expression of a clause that can have none.
fn refuse_queries(clause: Clause, syntax: &ast::Expr) -> PgResult<()> {
    match clause.without_queries() {
        Some(what) if contains_query(syntax) => Err(PgError::unsupported(format!("cannot use subquery in {what}"))),
        _ => Ok(()),
    }
}

/// Whether a query stands somewhere in an expression.
pub fn contains_query(syntax: &ast::Expr) -> bool {
    struct AnyQuery;
    impl ast::Visitor for AnyQuery {
        type Break = ();

        fn pre_visit_query(&mut self, _: &ast::Query) -> std::ops::ControlFlow<()> {
            std::ops::ControlFlow::Break(())
        }
    }
    ast::Visit::visit(syntax, &mut AnyQuery).is_break()
}

/// Binds an expression that will be stored as text, without folding: over the columns of `table` if there is one, cast to `target`
/// (of the column named) as an assignment does. `clause` says what it is the text of, and thereby what may not stand in it.
pub fn bind_stored_expr(
    ctx: &BindContext<'_>,
    table: Option<&TableDescriptor>,
    clause: Clause,
    syntax: &ast::Expr,
    target: Option<(&SqlType, &str)>,
) -> PgResult<Expr> {
    refuse_queries(clause, syntax)?;
    let mut binder = Binder::new(ctx.clone());
    binder.keep = true;
    match table {
        Some(table) => {
            let mut scope = Scope::new(clause);
            scope.add_table(table, &table.name, &|id: ColumnId| ColId(id.0));
            binder.start_ids_behind(table.next_column_id);
            binder.scopes.push(scope);
        }
        None => binder.scopes.push(Scope::new(clause)),
    }
    let expr = binder.bind_expr(syntax)?;
    map::refuse_stored(clause, &expr)?;
    match target {
        Some((target, column)) => binder.coerce_assignment(expr, target, column),
        None => binder.resolve_unknown(expr),
    }
}

pub fn syntax_error(error: stoa_syntax::SyntaxError) -> PgError {
    let mut out = PgError::new(SqlState(error.code), error.message).at(error.position);
    if let Some(detail) = error.detail {
        out = out.detail(detail);
    }
    match error.hint {
        Some(hint) => out.hint(hint),
        None => out,
    }
}

pub fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or("")
}

impl<'a> Binder<'a> {
    #[must_use]
    /// Of an expression over one row of a table, which it calls `alias`, and whose columns are called by their own ids.
    fn of_row(ctx: &BindContext<'a>, table: &TableDescriptor, alias: &str) -> Self {
        let mut binder = Self::new(ctx.clone());
        let mut scope = Scope::new(Clause::Check);
        scope.add_table(table, alias, &|id: ColumnId| ColId(id.0));
        binder.start_ids_behind(table.next_column_id);
        binder.scopes.push(scope);
        binder
    }

    pub fn new(ctx: BindContext<'a>) -> Self {
        let params = ctx.param_types.iter().map(|p| p.clone().filter(|t| *t != PgType::Unknown).map(SqlType::new)).collect();
        Self {
            ctx,
            next_col: 1,
            next_scan: 0,
            next_cte: 0,
            params,
            param_uses: Vec::new(),
            unlearned: Vec::new(),
            read_with: None,
            chosen_rows: None,
            scopes: Vec::new(),
            cte_scope: Vec::new(),
            later_ctes: Vec::new(),
            literals: HashMap::new(),
            column_positions: HashMap::new(),
            ctes: Vec::new(),
            uses: BTreeMap::new(),
            accesses: access::Accesses::default(),
            scans_within: HashMap::new(),
            secured: false,
            all_rows: false,
            barred: false,
            policies_of: None,
            policy_frames: Vec::new(),
            policy_tables: Vec::new(),
            unpopulated: None,
            materialized: Vec::new(),
            not_materialized: Vec::new(),
            untyped: HashMap::new(),
            recursing: Vec::new(),
            undeclared: Vec::new(),
            overriding_system: false,
            overriding_user: false,
            full_joins: false,
            unions_of_views: HashSet::new(),
            outer_joins: false,
            has_maps: false,
            used: map_reads::Used::default(),
            views: Vec::new(),
            lines: std::cell::OnceCell::new(),
            misplaced: None,
            no_sets: None,
            depth: 0,
            keep: false,
            scores: std::collections::HashMap::new(),
            matches: Vec::new(),
            meant: None,
            stars: Vec::new(),
            hints: hint::Hints::default(),
            names_cursor: false,
            marks_rows: false,
            wants_marks: false,
            loads: false,
            returned_xmax: None,
        }
    }

    pub fn new_col(&mut self) -> ColId {
        let id = ColId(self.next_col);
        self.next_col += 1;
        id
    }

    /// Columns of a table have the numbers below: those that are made come behind.
    pub fn start_ids_behind(&mut self, last: u32) {
        self.next_col = last + 1;
    }

    /// The id that the newest scan has.
    pub(super) fn last_scan(&self) -> u32 {
        self.next_scan
    }

    pub fn new_scan(&mut self) -> u32 {
        self.next_scan += 1;
        let within = self.within();
        if within.is_some() {
            self.scans_within.insert(self.next_scan, within);
        }
        self.next_scan
    }

    pub fn new_cte(&mut self) -> CteId {
        self.next_cte += 1;
        CteId(self.next_cte)
    }

    /// A name in the text of a view stands for an item.
    pub fn note_meaning(&mut self, name: Span, item: &FromItem) {
        let in_text = !self.in_definition();
        if let (Some(meant), Some(place), true) = (&mut self.meant, item.place, in_text)
            && name != Span::empty()
        {
            meant.names.insert(name, place);
        }
    }

    /// A name in the text of a view is a column of an item of the scope at a depth.
    pub fn note_column(&mut self, name: Span, depth: usize, item: usize) {
        let in_text = !self.in_definition();
        let (Some(meant), true) = (&mut self.meant, in_text) else { return };
        let Some(item) = self.scopes.get(depth).and_then(|scope| scope.items.get(item)) else { return };
        // Others of its name would be found before it.
        let called = |scope: &Scope| scope.items.iter().filter(|other| other.alias == item.alias && !other.lateral_only).count();
        if name == Span::empty() || item.alias.is_empty() || self.scopes.iter().skip(depth).map(called).sum::<usize>() != 1 {
            return;
        }
        let item = item.place.map_or_else(|| ItemName::Alias(item.alias.clone()), ItemName::Place);
        meant.columns.insert(name, item);
    }

    pub fn note_use(&mut self, relation: Oid, column: Option<ColumnId>) {
        let columns = self.uses.entry(relation).or_default();
        if let Some(column) = column
            && !columns.contains(&column)
        {
            columns.push(column);
        }
    }

    fn finish(mut self, mut body: BoundBody) -> PgResult<Bound> {
        self.apply_policies(&mut body)?;
        origin::tell_views(self.ctx.catalog, &mut body);
        let mut bound = Bound {
            ctes: std::mem::take(&mut self.ctes),
            names_cursor: self.names_cursor,
            loads: self.loads,
            unpopulated: self.unpopulated.take(),
            policies_of: self.policies_of,
            ..Bound::new(body)
        };
        with::inline_ctes(&mut bound, self.next_col, &self.materialized, &self.not_materialized);
        self.read_maps(&mut bound)?;
        let unknown =
            |code: SqlState, index: usize| PgError::new(code, format!("could not determine data type of parameter ${}", index + 1));
        // How many of a parameter's places say nothing of its type.
        let silent = |index: usize| self.unlearned.iter().filter(|one| **one == index).count();
        let uses = |index: usize| self.param_uses.get(index).copied().unwrap_or(0);
        if let Some(index) = self.unlearned.iter().find(|index| silent(**index) < uses(**index)) {
            return Err(unknown(SqlState(*b"42P08"), *index));
        }
        for (index, param) in self.params.iter().enumerate() {
            match param {
                Some(ty) if silent(index) == 0 => bound.params.push(ty.clone()),
                _ => return Err(unknown(SqlState::INDETERMINATE_DATATYPE, index)),
            }
        }
        if self.full_joins {
            outer_join::check(&mut bound)?;
        }
        crate::typed::pull_up::pull_up(self.ctx.eval, &mut bound);
        if self.barred {
            crate::typed::barrier::let_through(self.ctx.eval, &mut bound);
        }
        bound.uses = self.uses.into_iter().map(|(relation, columns)| Dependency { relation, columns }).collect();
        (bound.accesses, bound.functions, bound.schemas) = self.accesses.finish();
        bound.warnings = self.hints.into_warnings();
        Ok(bound)
    }

    /// The position of a syntax node, in characters from 1.
    pub fn pos(&self, node: &impl ast::Spanned) -> Option<usize> {
        self.pos_span(node.span())
    }

    pub fn pos_span(&self, span: sqlparser_span::Span) -> Option<usize> {
        self.offset(span.start)
    }

    /// A place in the text, in characters from 1.
    fn offset(&self, at: stoa_syntax::Location) -> Option<usize> {
        (at.line > 0).then(|| self.lines.get_or_init(|| stoa_syntax::Lines::new(self.ctx.text)).char_offset(at) + 1)
    }

    /// Finds a relation by a name of one to three parts.
    pub fn find_relation(&mut self, name: &ast::ObjectName) -> PgResult<(String, String, Option<Arc<stoa_table::catalog::Relation>>)> {
        let parts = name_parts(name)?;
        let (schema, relation) = match parts.as_slice() {
            [relation] => (None, relation.clone()),
            [schema, relation] => (Some(schema.clone()), relation.clone()),
            [database, schema, relation] => {
                if !self.ctx.catalog.is_this_database(database) {
                    return Err(PgError::unsupported(format!("cross-database references are not implemented: \"{}\"", parts.join("."))));
                }
                (Some(schema.clone()), relation.clone())
            }
            _ => {
                return Err(PgError::new(
                    SqlState::SYNTAX_ERROR,
                    format!("improper qualified name (too many dotted names): {}", parts.join(".")),
                ));
            }
        };
        match schema {
            Some(schema) if schema == "pg_temp" => {
                let temporary = |oid: &&Oid| self.ctx.catalog.schema(**oid).is_some_and(|s| s.temporary.is_some());
                let own = self.ctx.search_path.iter().find(temporary);
                let found = own.and_then(|own| self.ctx.catalog.relation_by_name(*own, &relation)).cloned();
                Ok((schema, relation, found))
            }
            Some(schema) => {
                let found = self.ctx.catalog.schema_by_name(&schema);
                // Names in views were looked up by those who made them.
                if let (Some(found), true) = (found, !self.in_definition()) {
                    if !self.ctx.eval.system.may_use_schema(found.oid) {
                        return Err(PgError::new(SqlState::INSUFFICIENT_PRIVILEGE, format!("permission denied for schema {schema}")));
                    }
                    self.accesses.note_schema(found.oid);
                }
                let found = found.and_then(|s| self.ctx.catalog.relation_by_name(s.oid, &relation)).cloned();
                Ok((schema, relation, found))
            }
            None => {
                for oid in self.ctx.search_path {
                    let Some(schema) = self.ctx.catalog.schema(*oid) else { continue };
                    if let Some(found) = self.ctx.catalog.relation_by_name(*oid, &relation) {
                        return Ok((schema.name.clone(), relation, Some(found.clone())));
                    }
                    if crate::system_relations::exists(&schema.name, &relation) {
                        return Ok((schema.name.clone(), relation, None));
                    }
                }
                Ok((String::new(), relation, None))
            }
        }
    }
}

/// The parts of a dotted name, folded.
pub fn name_parts(name: &ast::ObjectName) -> PgResult<Vec<String>> {
    name.0
        .iter()
        .map(|part| match part {
            ast::ObjectNamePart::Identifier(ident) => Ok(fold(ident)),
            ast::ObjectNamePart::Function(_) => Err(PgError::new(SqlState::SYNTAX_ERROR, "syntax error in name")),
        })
        .collect()
}

/// An identifier as SQL means it: lower case unless quoted, cut to 63 bytes.
#[must_use]
pub fn fold(ident: &ast::Ident) -> String {
    let mut name = if ident.quote_style.is_some() { ident.value.clone() } else { ident.value.to_ascii_lowercase() };
    if name.len() > 63 {
        let mut end = 63;
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        name.truncate(end);
    }
    name
}

pub mod sqlparser_span {
    pub use stoa_syntax::Span;
}

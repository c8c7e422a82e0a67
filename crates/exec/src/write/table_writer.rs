//! A table prepared for writing: its codec, its indexes, its checks and generated columns, compiled once a statement.

use super::expiry::Expiry;
use super::policy::Policies;
use super::rows::Rows;
use crate::environment::counters::RowChange;
use crate::nodes::StatementContext;
use arrow::array::{Array, ArrayRef, BooleanArray, FixedSizeBinaryBuilder, Int64Array, new_null_array};
use arrow::datatypes::DataType;
use hashbrown::{HashMap, HashSet};
use parking_lot::Mutex;
use std::sync::{Arc, LazyLock, Weak};
use stoa_pg::{EvalContext, PgError, PgResult, SqlState};
use stoa_sql::bind::{BindContext, bind_generated, bind_table_expr};
use stoa_sql::typed::evaluator::TableEvaluator;
use stoa_sql::typed::guard::{as_test, only_where};
use stoa_sql::typed::raises::may_raise;
use stoa_sql::typed::tree::{ColId, Expr};
use stoa_sql::typed::walk;
use stoa_sql::typed::walk::is_lasting;
use stoa_table::catalog::{ColumnId, ConstraintName, IndexDescriptor, IndexKey, IndexState, TableDescriptor};
use stoa_table::row::raw::RowOfCells;
use stoa_table::row::{IndexCodec, IndexEncoder, RowCodec, next_row_id};

/// Expressions over a table's own columns.
pub struct Compiled {
    columns: Vec<ColumnId>,
    evaluator: TableEvaluator,
}

impl Compiled {
    pub(super) fn new(eval: &EvalContext, table: &TableDescriptor, exprs: &[Expr]) -> PgResult<Self> {
        let mut used: Vec<ColId> = Vec::new();
        exprs.iter().for_each(|e| walk::columns_of(e, &mut used));
        used.sort_unstable();
        used.dedup();
        let mut columns = Vec::with_capacity(used.len());
        let mut typed = Vec::with_capacity(used.len());
        for col in used {
            let column =
                table.column(ColumnId(col.0)).ok_or_else(|| PgError::internal("an expression over a column that does not exist"))?;
            columns.push(column.id);
            typed.push((col, column.ty.arrow.clone()));
        }
        Ok(Self { columns, evaluator: TableEvaluator::new(eval, &[], &typed, exprs)? })
    }

    /// One column an expression.
    ///
    /// # Errors
    /// What the expressions raise.
    pub fn evaluate(&self, rows: &Rows) -> PgResult<Vec<ArrayRef>> {
        let columns = self.columns.iter().map(|id| rows.column(*id).cloned()).collect::<PgResult<Vec<_>>>()?;
        self.evaluator.evaluate(columns, rows.len())
    }
}

/// A CHECK constraint.
pub struct Check {
    pub name: ConstraintName,
    pub compiled: Compiled,
}

/// One index.
pub struct IndexWriter {
    pub descriptor: IndexDescriptor,
    pub codec: Arc<IndexCodec>,
    /// Parts that are expressions, in order.
    exprs: Option<Compiled>,
    predicate: Option<Compiled>,
    /// Columns on which entries depend.
    uses: HashSet<ColumnId>,
}

impl IndexWriter {
    fn new(binding: &mut Binding<'_>, table: &TableDescriptor, descriptor: &IndexDescriptor) -> PgResult<Self> {
        let codec = Arc::new(IndexCodec::new(table, descriptor)?);
        let mut uses: HashSet<ColumnId> = descriptor.include.iter().copied().collect();
        let mut exprs = Vec::new();
        for part in &descriptor.parts {
            match &part.key {
                IndexKey::Column(id) => {
                    uses.insert(*id);
                }
                IndexKey::Expr(sql) => exprs.push(bind(binding.ctx, table, sql)?.in_form_of(&part.ty)),
            }
        }
        let mut predicate = descriptor.predicate.as_deref().map(|sql| bind(binding.ctx, table, sql)).transpose()?;
        if let Some(predicate) = &mut predicate {
            as_test(&binding.ctx.eval, predicate);
            only_where(&binding.ctx.eval, Some(predicate), &mut exprs);
        }
        let exprs = if exprs.is_empty() { None } else { Some(binding.compiled(table, &exprs)?) };
        let predicate = predicate.map(|predicate| binding.compiled(table, &[predicate])).transpose()?;
        uses.extend(exprs.iter().chain(&predicate).flat_map(|c| c.columns.iter().copied()));
        Ok(Self { descriptor: descriptor.clone(), codec, exprs, predicate, uses })
    }

    /// New rows get entries.
    #[must_use]
    pub fn takes_puts(&self) -> bool {
        matches!(self.descriptor.state, IndexState::Readable | IndexState::WriteOnly)
    }

    /// The name that a violation tells.
    #[must_use]
    pub fn constraint_name(&self) -> &str {
        self.descriptor.constraint.as_ref().map_or(&self.descriptor.name, |c| &c.name)
    }

    #[must_use]
    pub fn is_deferrable(&self) -> bool {
        self.descriptor.is_deferrable()
    }

    /// Columns on which entries depend.
    pub fn columns(&self) -> impl Iterator<Item = ColumnId> {
        self.uses.iter().copied()
    }

    #[must_use]
    pub fn depends_on(&self, assigned: &HashSet<ColumnId>) -> bool {
        self.uses.iter().any(|c| assigned.contains(c))
    }

    /// The entries of some rows.
    ///
    /// # Errors
    /// What expressions of the index raise.
    pub fn entries(&self, rows: &Rows) -> PgResult<Entries<'_>> {
        let mask = match &self.predicate {
            None => None,
            Some(predicate) => {
                let out = predicate.evaluate(rows)?;
                let array = out.first().ok_or_else(|| PgError::internal("a predicate without a value"))?;
                Some(datafusion::common::cast::as_boolean_array(array).map_err(stoa_sql::typed::from_datafusion)?.clone())
            }
        };
        let mut computed = match &self.exprs {
            Some(exprs) => exprs.evaluate(rows)?.into_iter(),
            None => Vec::new().into_iter(),
        };
        let mut parts = Vec::with_capacity(self.descriptor.parts.len());
        for part in &self.descriptor.parts {
            parts.push(match &part.key {
                IndexKey::Column(id) => rows.column(*id)?.clone(),
                IndexKey::Expr(_) => computed.next().ok_or_else(|| PgError::internal("an index part without a value"))?,
            });
        }
        let encoder = IndexEncoder::new(&self.codec, |n| parts.get(n).cloned(), |id| rows.get(id).cloned())?;
        Ok(Entries { encoder, mask, parts })
    }
}

/// The entries of a batch of rows in one index.
pub struct Entries<'a> {
    pub encoder: IndexEncoder<'a>,
    mask: Option<BooleanArray>,
    /// The values of the parts, for messages.
    pub parts: Vec<ArrayRef>,
}

impl Entries<'_> {
    /// Whether the index has an entry for a row.
    #[must_use]
    pub fn includes(&self, row: usize) -> bool {
        self.mask.as_ref().is_none_or(|m| m.is_valid(row) && m.value(row))
    }

    /// Whether the row's entry excludes others of equal parts.
    #[must_use]
    pub fn is_exclusive(&self, row: usize) -> bool {
        self.includes(row) && self.encoder.is_exclusive(row)
    }
}

/// See the module.
pub struct TableWriter {
    pub ctx: StatementContext,
    pub table: Arc<TableDescriptor>,
    pub codec: Arc<RowCodec>,
    pub indexes: Arc<[IndexWriter]>,
    pub checks: Arc<[Check]>,
    /// What indexes of items compute of a row, where that may raise: they are written when it is too late to refuse the row.
    pub items: Option<Arc<Compiled>>,
    generated: Option<Arc<Generated>>,
    /// When rows end by themselves.
    pub expiry: Option<Arc<Expiry>>,
    /// What policies ask of the statement's rows; nothing where the rows are not the statement's own, as in actions of foreign keys.
    pub policies: Option<Arc<Policies>>,
}

/// The generated columns.
struct Generated {
    columns: Vec<ColumnId>,
    /// By column: those that it is computed of.
    uses: Vec<HashSet<ColumnId>>,
    compiled: Compiled,
}

/// What is compiled of a table, for all statements that write to it.
#[derive(Clone)]
struct Shape {
    indexes: Arc<[IndexWriter]>,
    checks: Arc<[Check]>,
    items: Option<Arc<Compiled>>,
    generated: Option<Arc<Generated>>,
    expiry: Option<Arc<Expiry>>,
}

/// Shapes whose expressions mean the same to every statement, by the address of the descriptor.
static SHAPES: LazyLock<Mutex<HashMap<usize, (Weak<TableDescriptor>, Shape)>>> = LazyLock::new(Mutex::default);

/// Binds a table's expressions, and knows whether all of them mean the same to every statement.
struct Binding<'a> {
    ctx: &'a StatementContext,
    lasting: bool,
}

impl Binding<'_> {
    fn compile(&mut self, table: &TableDescriptor, texts: &[&str]) -> PgResult<Compiled> {
        let exprs = texts.iter().map(|sql| bind(self.ctx, table, sql)).collect::<PgResult<Vec<_>>>()?;
        self.compiled(table, &exprs)
    }

    fn compiled(&mut self, table: &TableDescriptor, exprs: &[Expr]) -> PgResult<Compiled> {
        if exprs.iter().any(|e| e.any(&mut |x| !is_lasting(x))) {
            self.lasting = false;
            return Compiled::new(&self.ctx.eval, table, exprs);
        }
        // The context of one statement must not be kept: it holds the transaction.
        Compiled::new(&EvalContext::default(), table, exprs)
    }
}

impl Shape {
    fn of(ctx: &StatementContext, table: &Arc<TableDescriptor>) -> PgResult<Self> {
        const SWEEP_AT: usize = 1024;
        let address = Arc::as_ptr(table) as usize;
        if let Some((owner, shape)) = SHAPES.lock().get(&address)
            && owner.upgrade().is_some_and(|owner| Arc::ptr_eq(&owner, table))
        {
            return Ok(shape.clone());
        }
        let mut binding = Binding { ctx, lasting: true };
        let shape = Self::new(&mut binding, table)?;
        if binding.lasting {
            let mut shapes = SHAPES.lock();
            if shapes.len() >= SWEEP_AT {
                shapes.retain(|_, (owner, _)| owner.strong_count() > 0);
            }
            shapes.insert(address, (Arc::downgrade(table), shape.clone()));
        }
        Ok(shape)
    }

    fn new(binding: &mut Binding<'_>, table: &TableDescriptor) -> PgResult<Self> {
        let btree = table.indexes.iter().filter(|i| i.method == "btree");
        let indexes = btree.map(|i| IndexWriter::new(binding, table, i)).collect::<PgResult<Vec<_>>>()?;
        let mut checks = Vec::with_capacity(table.checks.len());
        for check in &table.checks {
            checks.push(Check { name: check.name.clone(), compiled: binding.compile(table, &[check.expr.as_str()])? });
        }
        // PostgreSQL checks them by name.
        checks.sort_by(|a, b| a.name.name.cmp(&b.name.name));
        let mut items = Vec::new();
        for index in table.indexes.iter().filter(|i| i.is_fulltext() && i.parts.iter().any(|part| part.class_of_items().is_some())) {
            let exprs = index.parts.iter().filter_map(|part| if let IndexKey::Expr(sql) = &part.key { Some(sql) } else { None });
            let mut exprs = exprs.map(|sql| bind(binding.ctx, table, sql)).collect::<PgResult<Vec<_>>>()?;
            let predicate = index.predicate.as_deref().map(|sql| bind(binding.ctx, table, sql)).transpose()?;
            only_where(&binding.ctx.eval, predicate.as_ref(), &mut exprs);
            items.extend(exprs.into_iter().chain(predicate).filter(|expr| may_raise(&binding.ctx.eval, expr)));
        }
        let items = if items.is_empty() { None } else { Some(Arc::new(binding.compiled(table, &items)?)) };
        let (mut columns, mut exprs, mut uses) = (Vec::new(), Vec::new(), Vec::new());
        for column in table.live_columns() {
            if let Some(expr) = bind_generated(&bind_context(binding.ctx), table, column)? {
                let mut used = Vec::new();
                walk::columns_of(&expr, &mut used);
                columns.push(column.id);
                uses.push(used.into_iter().map(|col| ColumnId(col.0)).collect());
                exprs.push(expr);
            }
        }
        let generated =
            if columns.is_empty() { None } else { Some(Arc::new(Generated { columns, uses, compiled: binding.compiled(table, &exprs)? })) };
        let expiry = Expiry::of(&binding.ctx.catalog, table)?.map(Arc::new);
        Ok(Self { indexes: indexes.into(), checks: checks.into(), items, generated, expiry })
    }
}

impl TableWriter {
    /// # Errors
    /// An expression of the table cannot be bound.
    pub fn new(ctx: &StatementContext, table: &Arc<TableDescriptor>) -> PgResult<Self> {
        if table.is_raw() && table.mapping.is_none() {
            return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("cannot change raw table \"{}\"", table.name))
                .detail("It has cells under names of their own, and no columns.")
                .hint("Use stoa shell, or CREATE FOREIGN TABLE to map its cells to columns."));
        }
        let codec = RowCodec::of(table)?;
        let Shape { indexes, checks, items, generated, expiry } = Shape::of(ctx, table)?;
        Ok(Self { ctx: ctx.clone(), table: Arc::clone(table), codec, indexes, checks, items, generated, expiry, policies: None })
    }

    /// Adds what a source does not give: row ids, NULLs.
    pub fn complete(&self, rows: &mut Rows) -> PgResult<()> {
        for column in self.table.live_columns() {
            if rows.get(column.id).is_some() {
                continue;
            }
            let array = if self.table.row_id == Some(column.id) {
                row_ids(&column.ty.arrow, rows.len())?
            } else {
                new_null_array(&column.ty.arrow, rows.len())
            };
            rows.set(column.id, array);
        }
        Ok(())
    }

    /// Computes the generated columns anew.
    ///
    /// # Errors
    /// What their expressions raise.
    pub fn regenerate(&self, rows: &mut Rows) -> PgResult<()> {
        if let Some(generated) = self.generated.as_deref() {
            for (id, array) in generated.columns.iter().zip(generated.compiled.evaluate(rows)?) {
                rows.set(*id, array);
            }
        }
        Ok(())
    }

    /// The generated columns.
    pub fn generated_columns(&self) -> impl Iterator<Item = ColumnId> {
        self.generated.iter().flat_map(|g| g.columns.iter().copied())
    }

    /// Generated columns among `assigned` of which no other that they are computed of is.
    pub fn unaffected<'a>(&'a self, assigned: &'a HashSet<ColumnId>) -> impl Iterator<Item = ColumnId> + 'a {
        let all = self.generated.iter().flat_map(|g| g.columns.iter().zip(&g.uses));
        all.filter(|(id, uses)| assigned.contains(*id) && uses.is_disjoint(assigned)).map(|(id, _)| *id)
    }

    #[must_use]
    pub fn assigns_key(&self, assigned: &HashSet<ColumnId>) -> bool {
        self.table.key.iter().any(|p| assigned.contains(&p.column))
    }

    /// What rows of a foreign table have already, in the order of their keys, which are locked; nothing of other tables.
    ///
    /// # Errors
    /// The store failed.
    pub async fn cells_there(&self, keys: &[&[u8]]) -> PgResult<Vec<RowOfCells>> {
        if self.table.mapping.is_none() {
            return Ok(Vec::new());
        }
        self.ctx.txn.newest_view().rows_of_cells(self.codec.storage, keys).await
    }

    /// Takes note of rows that were written, for who watches.
    pub(super) fn note(&self, change: RowChange, rows: usize) {
        self.ctx.database.counters.note_rows(self.table.oid, change, rows);
    }

    /// The schema's name, for errors.
    #[must_use]
    pub fn schema_name(&self) -> String {
        self.ctx.catalog.schema(self.table.schema).map(|s| s.name.clone()).unwrap_or_default()
    }
}

fn bind(ctx: &StatementContext, table: &TableDescriptor, sql: &str) -> PgResult<Expr> {
    bind_table_expr(&bind_context(ctx), table, sql)
}

fn bind_context(ctx: &StatementContext) -> BindContext<'_> {
    BindContext { catalog: &ctx.catalog, search_path: &ctx.search_path, eval: &ctx.eval, param_types: &[], text: "" }
}

fn row_ids(ty: &DataType, rows: usize) -> PgResult<ArrayRef> {
    match ty {
        DataType::Int64 => Ok(Arc::new((0..rows).map(|_| next_row_id()).collect::<Int64Array>())),
        DataType::FixedSizeBinary(16) => {
            let mut builder = FixedSizeBinaryBuilder::with_capacity(rows, 16);
            for _ in 0..rows {
                let mut id = [0u8; 16];
                id[..8].copy_from_slice(&next_row_id().to_be_bytes());
                id[8..].copy_from_slice(&rand::random::<[u8; 8]>());
                builder.append_value(id)?;
            }
            Ok(Arc::new(builder.finish()))
        }
        other => Err(PgError::internal(format!("row ids of type {other}"))),
    }
}

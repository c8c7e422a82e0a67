//! COPY between a client and a table or a query.
//!
//! [`CopyIn`] is fed with the client's bytes, in pieces of any size; [`CopyOut`] gives rows to send. Both belong to the statement
//! that made them: its transaction ends when they are done.

pub mod decode;
#[cfg(test)]
mod decode_tests;
pub mod encode;
pub mod options;

pub use decode::{Decoder, Piece, TargetColumn};
pub use encode::{BatchEncoder, Encoder};
pub use options::{ColumnSet, CopyOptions, Header};

use super::api::{CopyFormat, Execution, Rows};
use super::prepared::PreparedStatement;
use super::session_impl::Session;
use crate::session::table_locks::table_locks;
use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field, Schema, SchemaRef};
use futures::StreamExt;
use std::sync::Arc;
use stoa_exec::environment::guard::interruptible;
use stoa_exec::nodes::StatementContext;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::catalog::deparse::{quote_name, type_name};
use stoa_sql::typed::tree::{Bound, BoundBody, ColId, Expr, ExprKind, Rel};
use stoa_syntax::utility::{Copy, CopySource, CopyTarget};
use stoa_syntax::{Body, ast};
use stoa_table::catalog::policy::hides_rows;
use stoa_table::catalog::{Relation, TableDescriptor};
use stoa_table::txn::TableLockMode;

/// Rows that are written together.
const BATCH_ROWS: usize = 8_192;

/// Bytes that are decoded together, beside the writing of those before.
const PIECE_BYTES: usize = 1 << 20;

/// A COPY FROM STDIN that waits for data. Long ones are decoded on a thread of their own: while it reads a piece of the data, the rows of
/// the piece before are written.
pub struct CopyIn {
    pub format: CopyFormat,
    /// How many columns a row has.
    pub columns: usize,
    decoding: Decoding,
    /// What has come and is not being decoded.
    piece: Vec<u8>,
    target: BatchInsert,
    rows: u64,
}

enum Decoding {
    /// Nothing has been given to a thread that is not back.
    Here(Box<Decoder>),
    There(tokio::task::JoinHandle<Decoded>),
    /// Decoding has failed.
    Ended,
}

/// What a thread gives back.
struct Decoded {
    decoder: Box<Decoder>,
    pieces: Vec<Piece>,
    /// Of what comes behind the pieces.
    result: PgResult<()>,
}

/// Where rows go: an INSERT whose source is a batch.
pub struct BatchInsert {
    context: StatementContext,
    bound: Bound,
    schema: SchemaRef,
    table: String,
    /// A condition leaves rows out.
    filtered: bool,
}

/// A COPY TO STDOUT that has rows to send.
pub struct CopyOut {
    pub format: CopyFormat,
    pub columns: usize,
    pub encoder: Encoder,
    rows: Rows,
}

impl CopyIn {
    /// Takes a piece of the client's data; rows that are whole may be written.
    ///
    /// # Errors
    /// 22P04, what values and constraints raise; the statement has failed then.
    pub async fn data(&mut self, bytes: &[u8]) -> PgResult<()> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() < PIECE_BYTES {
            return Ok(());
        }
        let Decoded { mut decoder, pieces, result } = self.decoded().await?;
        if result.is_ok() {
            let piece = std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE_BYTES));
            self.decoding = Decoding::There(tokio::task::spawn_blocking(move || {
                decoder.push(&piece);
                let mut pieces = Vec::new();
                let result = decode(&mut decoder, false, &mut pieces);
                Decoded { decoder, pieces, result }
            }));
        }
        self.write(pieces, result).await
    }

    /// The client has sent everything: writes the rest and gives the command tag.
    ///
    /// # Errors
    /// As [`CopyIn::data`].
    pub async fn finish(mut self) -> PgResult<String> {
        let Decoded { mut decoder, mut pieces, result } = self.decoded().await?;
        let result = result.and_then(|()| {
            decoder.push(&self.piece);
            decode(&mut decoder, true, &mut pieces)?;
            pieces.push(decoder.take()?);
            Ok(())
        });
        self.write(pieces, result).await?;
        let session = Arc::clone(&self.target.context.session);
        interruptible(&session, stoa_exec::write::finish(&self.target.context, true)).await?;
        Ok(format!("COPY {}", self.rows))
    }

    /// What was decoded since this was asked last.
    async fn decoded(&mut self) -> PgResult<Decoded> {
        match std::mem::replace(&mut self.decoding, Decoding::Ended) {
            Decoding::Here(decoder) => Ok(Decoded { decoder, pieces: Vec::new(), result: Ok(()) }),
            Decoding::There(thread) => thread.await.or_else(|error| match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(error) => Err(PgError::new(SqlState::ADMIN_SHUTDOWN, error.to_string())),
            }),
            Decoding::Ended => Err(PgError::internal("a COPY that has failed goes on")),
        }
    }

    /// Writes pieces. If what comes behind them cannot be read, the last one are the rows that stand before the error.
    async fn write(&mut self, mut pieces: Vec<Piece>, result: PgResult<()>) -> PgResult<()> {
        let last = if result.is_err() { pieces.pop() } else { None };
        for piece in pieces {
            self.write_piece(piece).await?;
        }
        if let Some(piece) = last
            && let Err(error) = self.write_piece(piece).await
            && matches!(error.code(), SqlState::NOT_NULL_VIOLATION | SqlState::CHECK_VIOLATION)
        {
            // Each row is checked when it is read; keys are looked up for many rows together.
            return Err(error);
        }
        result
    }

    async fn write_piece(&mut self, piece: Piece) -> PgResult<()> {
        let Piece { rows, columns, places } = piece;
        if rows == 0 {
            return Ok(());
        }
        self.target.context.session.check_interrupt()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(self.target.schema.clone(), columns, &options).map_err(PgError::from)?;
        let session = Arc::clone(&self.target.context.session);
        // A lock may be waited for.
        let written = interruptible(&session, self.target.write(batch)).await.map_err(|error| {
            if error.fields().context.is_some() || error.code() == SqlState::FOREIGN_KEY_VIOLATION {
                return error;
            }
            let with_text = error.code() != SqlState::UNIQUE_VIOLATION;
            let row = error.fields().row.filter(|_| !self.target.filtered);
            let place = row.and_then(|row| places.of_row(row, with_text)).map_or(String::new(), |line| format!(", {line}"));
            let place = format!("COPY {}{place}", self.target.table);
            error.context(place)
        })?;
        self.rows += written;
        Ok(())
    }
}

/// Adds the pieces that are full; other rows stay in the decoder, unless there is an error behind them.
fn decode(decoder: &mut Decoder, last: bool, pieces: &mut Vec<Piece>) -> PgResult<()> {
    loop {
        match decoder.decode(BATCH_ROWS, last) {
            Ok(true) => pieces.push(decoder.take()?),
            Ok(false) => return Ok(()),
            Err(error) => {
                pieces.push(decoder.take()?);
                return Err(error);
            }
        }
    }
}

impl BatchInsert {
    /// The columns that batches have, in the Arrow form of their types.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Inserts the rows of a batch of [`BatchInsert::schema`]; how many.
    ///
    /// # Errors
    /// What constraints raise; the transaction must be rolled back then.
    pub async fn write(&mut self, batch: RecordBatch) -> PgResult<u64> {
        if let BoundBody::Mutation(mutation) = &mut self.bound.body {
            set_batch(&mut mutation.source, &batch);
        }
        // Each batch is a statement of its own to the transaction: one that runs again must not take the others with it. What must wait
        // for rows of later batches waits for the end.
        self.context.txn.start_statement().await?;
        Ok(crate::plan::execute_part(&self.context, &self.bound).await?.count)
    }
}

impl CopyOut {
    /// The next rows; encode them with [`CopyOut::encoder`]. `None` at the end.
    ///
    /// # Errors
    /// What the query raises.
    pub async fn next(&mut self) -> Option<PgResult<RecordBatch>> {
        self.rows.stream.next().await
    }
}

impl Session {
    pub(crate) async fn copy(&mut self, copy: &Copy, statement: &Arc<PreparedStatement>) -> PgResult<Execution> {
        let options = CopyOptions::read(&copy.options, copy.from)?;
        match &copy.target {
            CopyTarget::Client => {}
            CopyTarget::File(_) | CopyTarget::Program(_) => return Err(no_server_files(&copy.target, copy.from)),
        }
        if copy.from { self.copy_from(copy, options, statement).await } else { self.copy_to(copy, options, statement).await }
    }

    async fn copy_to(&mut self, copy: &Copy, options: CopyOptions, outer: &Arc<PreparedStatement>) -> PgResult<Execution> {
        self.start_query().await?;
        let query = match &copy.source {
            CopySource::Query(query) if !crate::session::prepared::is_bindable(query) => {
                return Err(PgError::unsupported("COPY (SELECT INTO) is not supported"));
            }
            CopySource::Query(query) => (**query).clone(),
            CopySource::Table { name, columns } => {
                let context = self.statement_context(outer.text.clone(), Arc::from([]))?;
                let table = copied_table(&context, name, false)?;
                let columns = copied_columns(&table, columns)?;
                options.check_columns(&table)?;
                let list: Vec<String> = columns.iter().map(|c| quote_name(&c.name)).collect();
                let undeclared: Vec<String> = columns.iter().filter(|c| c.undeclared).map(with_type).collect();
                let undeclared = if undeclared.is_empty() { String::new() } else { format!(" ({})", undeclared.join(", ")) };
                one_statement(&format!("SELECT {} FROM {name}{undeclared}", list.join(", ")))?
            }
        };
        if copy.filter.is_some() {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "WHERE clause not allowed with COPY TO"));
        }
        let prepared = self.prepare_query(&query, outer)?;
        let bound = self.bound_and_allowed(&prepared).await?;
        let Execution::Rows(rows) = self.run_bound(&bound, Arc::from([]), outer.text.clone()).await? else {
            return Err(PgError::unsupported("COPY query must have a RETURNING clause"));
        };
        let columns = rows.columns.len();
        let format = options.format;
        let encoder = Encoder::new(options, rows.columns.clone(), rows.context.clone())?;
        Ok(Execution::CopyOut(Box::new(CopyOut { format, columns, encoder, rows })))
    }

    async fn copy_from(&mut self, copy: &Copy, options: CopyOptions, outer: &Arc<PreparedStatement>) -> PgResult<Execution> {
        let CopySource::Table { name, columns } = &copy.source else {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "COPY FROM takes a table"));
        };
        self.start_query().await?;
        let mut context = self.statement_context(outer.text.clone(), Arc::from([]))?;
        let mut table = copied_table(&context, name, true)?;
        if !table.temporary {
            self.check_writable("COPY FROM")?;
            loop {
                let waited = context.txn.lock_table(table.oid, TableLockMode::RowExclusive, false, &table.name).await?;
                if waited {
                    context.txn.start_statement().await?;
                }
                if Arc::ptr_eq(&context.catalog, &context.txn.catalog()) {
                    break;
                }
                // The table was changed before the lock was taken.
                context = self.statement_context(outer.text.clone(), Arc::from([]))?;
                table = copied_table(&context, name, true)?;
            }
        }
        let columns = copied_columns(&table, columns)?;
        options.check_columns(&table)?;
        if options.freeze && !context.txn.made_rows_place(&table) {
            return Err(PgError::new(
                SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                "cannot perform COPY FREEZE because the table was not created or truncated in the current subtransaction",
            ));
        }
        let target = self.batch_insert(context, &name.to_string(), &table, &columns, copy.filter.as_deref()).await?;
        let format = options.format;
        let count = columns.len();
        let decoder = Decoder::new(table.name.clone(), options, columns, target.context.eval.clone())?;
        let decoding = Decoding::Here(Box::new(decoder));
        Ok(Execution::CopyIn(Box::new(CopyIn { format, columns: count, decoding, piece: Vec::new(), target, rows: 0 })))
    }

    /// Opens a table for rows in batches, in the session's transaction: [`Session::finish`] commits them. Without a list, all
    /// columns that can be written are given.
    ///
    /// # Errors
    /// The table or a column does not exist, or may not be written.
    pub async fn insert_batches(&mut self, schema: &str, table: &str, columns: Option<&[String]>) -> PgResult<BatchInsert> {
        self.message_arrived();
        let name = format!("{}.{}", quote_name(schema), quote_name(table));
        let text: Arc<str> = format!("INSERT INTO {name}").into();
        self.open_implicit();
        self.shared.begin_statement(text.clone(), self.statement_us, self.block.started_us);
        self.start_query().await?;
        self.check_writable("INSERT")?;
        let context = self.statement_context(text, Arc::from([]))?;
        let found = context.catalog.schema_by_name(schema).and_then(|s| context.catalog.relation_by_name(s.oid, table));
        let Some(Relation::Table(descriptor)) = found.map(|r| &**r) else {
            return Err(PgError::new(SqlState::UNDEFINED_TABLE, format!("table {name} does not exist")));
        };
        let named = |c: &String| ast::TableAliasColumnDef { name: ast::Ident::with_quote('"', c), data_type: None };
        let list: Vec<_> = columns.unwrap_or_default().iter().map(named).collect();
        let columns = copied_columns(descriptor, &list)?;
        let descriptor = descriptor.clone();
        self.batch_insert(context, &name, &descriptor, &columns, None).await
    }

    /// Binds the statement by which rows of these columns are inserted; `name` is the table as SQL writes it.
    async fn batch_insert(
        &mut self,
        context: StatementContext,
        name: &str,
        table: &TableDescriptor,
        columns: &[TargetColumn],
        filter: Option<&ast::Expr>,
    ) -> PgResult<BatchInsert> {
        if filter.is_some_and(stoa_sql::bind::contains_query) {
            return Err(PgError::unsupported("cannot use subquery in COPY FROM WHERE condition"));
        }
        let mut generated = AnyGenerated(table, None);
        if filter.is_some_and(|filter| ast::Visit::visit(filter, &mut generated).is_break()) {
            let error =
                PgError::new(SqlState::INVALID_COLUMN_REFERENCE, "generated columns are not supported in COPY FROM WHERE conditions");
            return Err(error.detail(format!("Column \"{}\" is a generated column.", generated.1.unwrap_or_default())));
        }
        if let Some(column) = columns.iter().find(|c| c.undeclared && filter.is_some()) {
            return Err(PgError::unsupported(format!("WHERE of COPY into the undeclared column \"{}\" is not supported", column.name))
                .hint("Copy into a table that declares it, and INSERT … SELECT."));
        }
        let names: Vec<String> = columns.iter().map(|c| if c.undeclared { with_type(c) } else { quote_name(&c.name) }).collect();
        // Under a condition they are columns of a table of values, which have the types that are written there.
        let param = |(n, column): (usize, &TargetColumn)| match filter {
            Some(_) => format!("CAST(${n} AS {})", type_name(&column.ty)),
            None => format!("${n}"),
        };
        let params: Vec<String> = (1..).zip(columns).map(param).collect();
        let names = names.join(", ");
        // The statement that a row is inserted by; with a condition, the values are columns that it may refer to.
        let text = match filter {
            None if columns.is_empty() => format!("INSERT INTO {name} DEFAULT VALUES"),
            // COPY gives identity columns what the file says, as PostgreSQL's does.
            None => format!("INSERT INTO {name} ({names}) OVERRIDING SYSTEM VALUE VALUES ({})", params.join(", ")),
            Some(filter) => {
                let (names, values, all) = conditional_row(table, columns, &params);
                let (source, alias) = (format!("VALUES ({values})"), quote_name(&table.name));
                format!(
                    "INSERT INTO {name} ({names}) OVERRIDING SYSTEM VALUE SELECT {names} FROM ({source}) AS {alias} ({all}) WHERE {filter}"
                )
            }
        };
        let insert = one_statement(&text)?;
        let declared = columns.iter().map(|c| Some(c.ty.ty.clone())).collect::<Vec<_>>();
        let bind = stoa_sql::bind::BindContext {
            catalog: &context.catalog,
            search_path: &context.search_path,
            eval: &context.eval,
            param_types: &declared,
            text: &text,
        };
        // Positions would be those of a text that nobody wrote.
        let mut bound = stoa_sql::bind::bind_statement(&bind, &insert).map_err(|mut error| {
            error.fields_mut().position = None;
            error
        })?;
        stoa_sql::privileges::check(&context.catalog, context.role, &bound)?;
        if hides_rows(&context.catalog, context.role, table) {
            return Err(PgError::unsupported("COPY FROM not supported with row-level security").hint("Use INSERT statements instead."));
        }
        let BoundBody::Mutation(mutation) = &mut bound.body else { return Err(PgError::internal("an INSERT that is none")) };
        if !replace_params(&mut mutation.source, columns) && !columns.is_empty() {
            return Err(PgError::internal("an INSERT without values"));
        }
        self.lock_tables(&table_locks(&bound)).await?;
        bound.params.clear();
        let schema = Arc::new(Schema::new(columns.iter().map(|c| Field::new(&c.name, c.ty.arrow.clone(), true)).collect::<Vec<_>>()));
        Ok(BatchInsert { context, bound, schema, table: table.name.clone(), filtered: filter.is_some() })
    }
}

/// A row that a condition looks at: the names of the columns that are written, values for all columns (`params` for those that are
/// copied, the others' defaults), and the names of all. Generated columns are not computed yet, and not looked at.
fn conditional_row(table: &TableDescriptor, columns: &[TargetColumn], params: &[String]) -> (String, String, String) {
    let (mut written, mut values, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for column in table.visible_columns() {
        let name = quote_name(&column.name);
        if column.generated.is_none() {
            written.push(name.clone());
        }
        let param = columns.iter().position(|c| c.name == column.name).and_then(|at| params.get(at)).cloned();
        values.push(match (param, &column.identity, &column.default) {
            (Some(param), ..) => param,
            (None, Some(identity), _) => format!("nextval({}::oid::regclass)", identity.sequence),
            (None, None, Some(default)) if column.generated.is_none() => format!("({default})"),
            _ => format!("CAST(NULL AS {})", type_name(&column.ty)),
        });
        all.push(name);
    }
    (written.join(", "), values.join(", "), all.join(", "))
}

/// Ids of the columns that the copied values are, far from those of the statement and of planning.
const FIRST_COLUMN: u32 = 0x6000_0000;

/// Puts the copied batch in the place of the parameters; whether there was such a place.
fn replace_params(rel: &mut Rel, columns: &[TargetColumn]) -> bool {
    let input =
        || Rel::Batches { columns: (FIRST_COLUMN..).zip(columns).map(|(id, c)| (ColId(id), c.ty.clone())).collect(), batches: Vec::new() };
    match rel {
        Rel::Values { columns: ids, rows } if rows.len() == 1 => {
            let mut row = rows.pop().unwrap_or_default();
            for expr in &mut row {
                param_to_column(expr, columns);
            }
            let exprs = ids.iter().map(|(id, _)| *id).zip(row).collect();
            *rel = Rel::Project { input: Box::new(input()), exprs };
            true
        }
        Rel::One => {
            *rel = input();
            true
        }
        Rel::Project { input, exprs } => {
            for (_, expr) in exprs.iter_mut() {
                param_to_column(expr, columns);
            }
            replace_params(input, columns)
        }
        Rel::Filter { input, predicate } => {
            param_to_column(predicate, columns);
            replace_params(input, columns)
        }
        _ => false,
    }
}

/// A parameter is the column of the batch; it has the target's type already, so that its cast to it falls away.
fn param_to_column(expr: &mut Expr, columns: &[TargetColumn]) {
    let param = match &expr.kind {
        ExprKind::Param(number) => Some(*number),
        ExprKind::Cast { arg, .. } => match &arg.kind {
            ExprKind::Param(number) if columns.get(*number).is_some_and(|c| c.ty == expr.ty) => Some(*number),
            _ => None,
        },
        _ => None,
    };
    if let Some((number, column)) = param.and_then(|n| Some((n, columns.get(n)?))) {
        let id = ColId(FIRST_COLUMN + u32::try_from(number).unwrap_or(0));
        *expr = Expr::column(id, column.ty.clone());
        return;
    }
    for child in expr.children_mut() {
        param_to_column(child, columns);
    }
}

fn set_batch(rel: &mut Rel, batch: &RecordBatch) {
    match rel {
        Rel::Batches { batches, .. } => *batches = vec![batch.clone()],
        Rel::Project { input, .. } | Rel::Filter { input, .. } => set_batch(input, batch),
        _ => {}
    }
}

fn one_statement(text: &str) -> PgResult<ast::Statement> {
    let mut pieces = stoa_syntax::parse_script(text).map_err(super::prepared::syntax_error)?;
    match pieces.pop().map(|p| p.body) {
        Some(Body::Sql(statement)) if pieces.is_empty() => Ok(*statement),
        _ => Err(PgError::internal("a statement of our own that is not one")),
    }
}

/// The table that is copied.
fn copied_table(context: &StatementContext, name: &ast::ObjectName, from: bool) -> PgResult<TableDescriptor> {
    let wrong = |kind: &str, name: &str| {
        let (verb, hint) = if from {
            ("to", "To enable copying to a view, provide an INSTEAD OF INSERT trigger.")
        } else {
            ("from", "Try the COPY (SELECT ...) TO variant.")
        };
        let error = PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("cannot copy {verb} {kind} \"{name}\""));
        if kind == "sequence" { error } else { error.hint(hint) }
    };
    match &*find_relation(context, name)? {
        Relation::Table(table) => Ok(table.clone()),
        Relation::View(view) if view.materialized.is_some() => Err(wrong("materialized view", &view.name)),
        Relation::View(view) => Err(wrong("view", &view.name)),
        Relation::Sequence(sequence) => Err(wrong("sequence", &sequence.name)),
    }
}

fn find_relation(context: &StatementContext, name: &ast::ObjectName) -> PgResult<Arc<Relation>> {
    let parts = stoa_sql::bind::name_parts(name)?;
    let catalog = &context.catalog;
    let found = match parts.as_slice() {
        [relation] => context.search_path.iter().find_map(|schema| catalog.relation_by_name(*schema, relation)),
        [.., schema, relation] => {
            let Some(schema) = catalog.schema_by_name(schema) else {
                return Err(PgError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{}\" does not exist", parts.join("."))));
            };
            catalog.relation_by_name(schema.oid, relation)
        }
        [] => None,
    };
    found.cloned().ok_or_else(|| PgError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{}\" does not exist", parts.join("."))))
}

/// The columns that are copied: those named, or all that are stored and not generated.
/// A column with its type.
fn with_type(column: &TargetColumn) -> String {
    format!("{} {}", quote_name(&column.name), type_name(&column.ty))
}

fn copied_columns(table: &TableDescriptor, named: &[ast::TableAliasColumnDef]) -> PgResult<Vec<TargetColumn>> {
    let target = |c: &stoa_table::catalog::ColumnDescriptor| TargetColumn { name: c.name.clone(), ty: c.ty.clone(), undeclared: false };
    if named.is_empty() {
        return Ok(table.visible_columns().filter(|c| c.generated.is_none()).map(target).collect());
    }
    let mut out: Vec<TargetColumn> = Vec::new();
    for ast::TableAliasColumnDef { name: ident, data_type } in named {
        let name = stoa_sql::bind::fold(ident);
        // What is wrong with it the statement that is made of it tells.
        let ty = data_type.as_ref().map(stoa_sql::bind::type_name::sql_type).transpose()?;
        if let Some(ty) = ty.filter(|ty| table.column_by_name(&name).is_none_or(|declared| declared.ty != *ty)) {
            out.push(TargetColumn { name, ty, undeclared: true });
            continue;
        }
        let Some(column) = table.column_by_name(&name) else {
            return Err(PgError::new(
                SqlState::UNDEFINED_COLUMN,
                format!("column \"{name}\" of relation \"{}\" does not exist", table.name),
            ));
        };
        if column.generated.is_some() {
            return Err(PgError::new(SqlState::INVALID_COLUMN_REFERENCE, format!("column \"{name}\" is a generated column"))
                .detail("Generated columns cannot be used in COPY."));
        }
        if out.iter().any(|c| c.name == name) {
            return Err(PgError::new(SqlState::DUPLICATE_COLUMN, format!("column \"{name}\" specified more than once")));
        }
        out.push(target(column));
    }
    Ok(out)
}

fn no_server_files(target: &CopyTarget, from: bool) -> PgError {
    let (what, role) = match (target, from) {
        (CopyTarget::Program(_), true) => ("COPY from an external program", "pg_execute_server_program"),
        (CopyTarget::Program(_), false) => ("COPY to an external program", "pg_execute_server_program"),
        (_, true) => ("COPY from a file", "pg_read_server_files"),
        (_, false) => ("COPY to a file", "pg_write_server_files"),
    };
    PgError::new(SqlState::INSUFFICIENT_PRIVILEGE, format!("must be superuser or have privileges of the {role} role to {what}"))
        .hint("Anyone can COPY to stdout or from stdin. psql's \\copy command also works for anyone.")
}

/// Finds a generated column of a table within an expression, and its name.
struct AnyGenerated<'t>(&'t TableDescriptor, Option<String>);

impl ast::Visitor for AnyGenerated<'_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &ast::Expr) -> std::ops::ControlFlow<()> {
        let name = match expr {
            ast::Expr::Identifier(name) => Some(name),
            ast::Expr::CompoundIdentifier(names) => names.last(),
            _ => None,
        };
        let column = name.and_then(|name| self.0.column_by_name(&stoa_sql::bind::fold(name))).filter(|c| c.generated.is_some());
        match column {
            Some(column) => {
                self.1 = Some(column.name.clone());
                std::ops::ControlFlow::Break(())
            }
            None => std::ops::ControlFlow::Continue(()),
        }
    }
}

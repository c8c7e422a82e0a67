//! What every statement of this module does to the catalog and the store.
//!
//! Invariant: a change of the catalog is made in the transaction's own snapshot and as a row that the transaction writes; tables of
//! the store are made at once and removed when the transaction is rolled back, and removed only when it has committed.

use arrow::array::RecordBatch;
use futures::StreamExt;
use std::sync::Arc;
use stoa_exec::nodes::StatementContext;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_sql::bind::{BindContext, fold, name_parts};
use stoa_sql::catalog::deparse::Deparser;
use stoa_sql::catalog::names::has_constraint;
use stoa_sql::typed::tree::{Bound, BoundBody, ColId, Expr, Output, Query, Rel, TableScan};
use stoa_syntax::ast::{self, ObjectName};
use stoa_table::catalog::store::{encode, relation_key, schema_key, storage_of};
use stoa_table::catalog::{
    CatalogSnapshot, ColumnId, Numbers, ObjectClass, Oid, PG_CATALOG_OID, Privileges, Relation, RightsOf, SchemaDescriptor, TableDescriptor,
};
use stoa_table::failure::concurrent_update;
use stoa_table::txn::TableLockMode;
use stoa_table::{TableId, TableSchema};

/// One statement at work.
#[derive(Clone, Copy)]
pub(crate) struct Work<'a> {
    pub ctx: &'a StatementContext,
}

/// The longest name.
const NAME_BYTES: usize = 63;

impl<'a> Work<'a> {
    /// The catalog as the statement has left it so far.
    pub fn catalog(&self) -> Arc<CatalogSnapshot> {
        self.ctx.txn.catalog()
    }

    fn numbers(&self) -> PgResult<Arc<dyn Numbers>> {
        self.catalog().numbers().cloned().ok_or_else(|| PgError::internal("a catalog without a store"))
    }

    pub async fn next_oid(&self) -> PgResult<Oid> {
        self.numbers()?.next_id().await
    }

    pub async fn next_table_id(&self) -> PgResult<TableId> {
        self.numbers()?.next_table_id().await
    }

    // The catalog.

    /// Stores a relation, new or changed. Names are checked again when the transaction commits.
    pub fn put(&self, mut relation: Relation) -> PgResult<()> {
        if let Relation::Table(table) = &mut relation {
            super::lifetime::check(*self, table)?;
            if let Some(old) = self.catalog().table(table.oid) {
                let was = |id: ColumnId| old.column(id).is_some_and(|column| column.not_null);
                table.columns.iter_mut().filter(|own| own.not_null && !was(own.id)).for_each(|own| own.not_null_later = true);
            }
        }
        self.ctx.put_relation(relation)
    }

    pub fn remove(&self, oid: Oid) -> PgResult<()> {
        self.ctx.remove_rights(RightsOf::Relation(oid))?;
        self.ctx.txn.add_catalog_mutation(&relation_key(oid), None)?;
        self.ctx.txn.change_catalog(move |catalog| {
            catalog.remove_relation(oid);
            Ok(())
        })
    }

    pub fn put_schema(&self, schema: SchemaDescriptor) -> PgResult<()> {
        if schema.temporary.is_none() && self.catalog().schema(schema.oid).is_none() {
            self.ctx.put_rights_of_new(RightsOf::Schema(schema.oid), 0, ObjectClass::Schema)?;
        }
        self.ctx.txn.add_catalog_mutation(&schema_key(schema.oid), Some(&encode(&schema)?))?;
        self.ctx.txn.change_catalog(move |catalog| {
            if catalog.schema_by_name(&schema.name).is_some_and(|other| other.oid != schema.oid) {
                return Err(PgError::new(SqlState::DUPLICATE_SCHEMA, format!("schema \"{}\" already exists", schema.name)));
            }
            catalog.put_schema(schema.clone());
            Ok(())
        })
    }

    pub fn remove_schema(&self, oid: Oid) -> PgResult<()> {
        self.ctx.remove_rights(RightsOf::Schema(oid))?;
        for defaults in self.catalog().authority().defaults().filter(|d| d.of.schema == oid) {
            self.put_defaults(defaults.of, None)?;
        }
        self.ctx.txn.add_catalog_mutation(&schema_key(oid), None)?;
        self.ctx.txn.change_catalog(move |catalog| {
            if let Some(left) = catalog.relations().find(|r| r.schema() == oid) {
                return Err(PgError::new(
                    SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
                    format!("cannot drop the schema because \"{}\" was created in it by another transaction", left.name()),
                ));
            }
            catalog.remove_schema(oid);
            Ok(())
        })
    }

    // The store.

    /// Makes a table of the store, which goes if the transaction does.
    pub async fn create_storage(&self, schema: &TableSchema) -> PgResult<()> {
        let tables = self.ctx.database.tables.clone();
        tables.create(schema).await?;
        let id = schema.id;
        self.ctx.txn.on_rollback(move || Box::pin(async move { tables.drop(id).await }));
        Ok(())
    }

    /// Removes a table of the store when the transaction has committed.
    pub fn drop_storage(&self, id: TableId) {
        self.ctx.txn.forget_table(id);
        let tables = self.ctx.database.tables.clone();
        let text = Arc::clone(&self.ctx.database.text);
        self.ctx.txn.on_commit(move || {
            Box::pin(async move {
                text.forget(id).await;
                tables.drop(id).await;
            })
        });
    }

    /// Removes everything that a relation keeps in the store when the transaction has committed.
    pub fn drop_storage_of(&self, relation: &Relation) -> PgResult<()> {
        for id in storage_of(relation) {
            self.drop_storage(id);
        }
        if let Relation::Sequence(sequence) = relation {
            let (numbers, oid) = (self.numbers()?, sequence.oid);
            self.ctx.txn.on_commit(move || Box::pin(async move { numbers.forget(oid).await }));
        }
        Ok(())
    }

    /// Makes the tables of a new or rewritten table and its indexes.
    pub async fn create_storage_of(&self, table: &TableDescriptor) -> PgResult<()> {
        let schema = stoa_table::row::RowCodec::table_schema(table);
        match table.location() {
            Some(location) => {
                let tables = self.ctx.database.tables.clone();
                tables.attach(&schema, location)?;
                let id = schema.id;
                self.ctx.txn.on_rollback(move || Box::pin(async move { tables.drop(id).await }));
            }
            None => self.create_storage(&schema).await?,
        }
        for index in &table.indexes {
            if index.is_fulltext() {
                self.build_text(table, index, &|_| ()).await?;
            } else {
                self.create_storage(&stoa_table::row::IndexCodec::table_schema(index)).await?;
            }
        }
        Ok(())
    }

    /// Makes the files of a full text index from the rows that its table has in the store; they go if the transaction does. Rows that
    /// the transaction has written itself reach them when it commits. `progress` hears how many rows were read.
    pub async fn build_text(
        &self,
        table: &TableDescriptor,
        index: &stoa_table::catalog::IndexDescriptor,
        progress: &(dyn Fn(u64) + Sync),
    ) -> PgResult<()> {
        let text = &self.ctx.database.text;
        let index = match text.get(index.storage) {
            Some(known) => known,
            None => {
                let index = text.describe(&self.catalog(), table, index)?;
                text.admit(&index).await?;
                let (text, storage) = (Arc::clone(text), index.storage);
                self.ctx.txn.on_rollback(move || Box::pin(async move { text.forget(storage).await }));
                index
            }
        };
        let interrupt = || {
            progress(index.progress());
            self.ctx.session.check_interrupt()
        };
        stoa_exec::fulltext::follow::build(text, &index, &interrupt).await
    }

    // Names.

    /// The relation that a name stands for.
    pub fn find(&self, name: &ObjectName) -> PgResult<Option<Arc<Relation>>> {
        let (schema, name) = self.split(name)?;
        let catalog = self.catalog();
        match schema {
            Some(schema) => Ok(self.schema_to_look_in(&catalog, &schema)?.and_then(|oid| catalog.relation_by_name(oid, &name).cloned())),
            None => Ok(self.path().iter().find_map(|oid| catalog.relation_by_name(*oid, &name).cloned())),
        }
    }

    /// The index that a name stands for: a secondary index with its table, or a primary key.
    pub fn find_index(&self, name: &ObjectName) -> PgResult<Option<(Oid, FoundIndex)>> {
        let (schema, name) = self.split(name)?;
        let catalog = self.catalog();
        let look = |schema: Oid| {
            if let Some(index) = catalog.index_by_name(schema, &name) {
                return catalog.table_of_index(index).map(|t| (t.oid, FoundIndex::Index(index)));
            }
            catalog.primary_key_named(schema, &name).map(|t| (t.oid, FoundIndex::PrimaryKey))
        };
        match schema {
            Some(schema) => Ok(self.schema_to_look_in(&catalog, &schema)?.and_then(look)),
            None => Ok(self.path().iter().find_map(|oid| look(*oid))),
        }
    }

    /// The search path, with a temporary schema that this statement made.
    pub fn path(&self) -> Vec<Oid> {
        let mut path = self.ctx.search_path.to_vec();
        if let Some(temporary) = self.ctx.session.temporary_schema()
            && !path.contains(&temporary)
        {
            path.insert(0, temporary);
        }
        path
    }

    /// The schema with a name, which the current role must be allowed to look into.
    fn schema_to_look_in(&self, catalog: &CatalogSnapshot, name: &str) -> PgResult<Option<Oid>> {
        let found = self.schema_oid(catalog, name);
        if let Some(oid) = found.filter(|_| name != "pg_temp") {
            stoa_sql::privileges::check_schema(catalog, self.ctx.role, oid, Privileges::USAGE)?;
        }
        Ok(found)
    }

    fn schema_oid(&self, catalog: &CatalogSnapshot, name: &str) -> Option<Oid> {
        match name {
            "pg_temp" => self.ctx.session.temporary_schema(),
            name => catalog.schema_by_name(name).map(|s| s.oid),
        }
    }

    /// The schema and the name of a possibly qualified name.
    pub fn split(&self, name: &ObjectName) -> PgResult<(Option<String>, String)> {
        let parts = name_parts(name)?;
        match parts.as_slice() {
            [name] => Ok((None, name.clone())),
            [schema, name] => Ok((Some(schema.clone()), name.clone())),
            [database, schema, name] if self.ctx.catalog.is_this_database(database) => Ok((Some(schema.clone()), name.clone())),
            [_, _, _] => Err(PgError::unsupported(format!("cross-database references are not implemented: {name}"))),
            _ => Err(PgError::new(SqlState::SYNTAX_ERROR, format!("improper relation name (too many dotted names): {}", parts.join(".")))),
        }
    }

    /// As error messages name it: as written, folded.
    pub fn shown(name: &ObjectName) -> String {
        name_parts(name).map(|parts| parts.join(".")).unwrap_or_default()
    }

    /// A relation that must exist and be a table.
    pub fn table(&self, name: &ObjectName) -> PgResult<TableDescriptor> {
        match self.find(name)?.as_deref() {
            Some(Relation::Table(table)) => Ok(table.clone()),
            Some(other) => Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is not a table", other.name()))),
            None => Err(self.missing(name)),
        }
    }

    /// Why a name that is to be changed is not found: 42P01, 3F000 where there is no such schema, or 42501 where it is one of the
    /// system's own.
    pub fn missing(&self, name: &ObjectName) -> PgError {
        let parts = name_parts(name).unwrap_or_default();
        let (schema, relation) = match parts.as_slice() {
            [.., schema, relation] => (schema.as_str(), relation.as_str()),
            [relation] => ("pg_catalog", relation.as_str()),
            [] => ("", ""),
        };
        if stoa_sql::system_relations::exists(schema, relation) {
            let message = format!("permission denied: \"{relation}\" is a system catalog");
            return PgError::new(SqlState::INSUFFICIENT_PRIVILEGE, message);
        }
        if parts.len() > 1 && schema != "pg_temp" && self.catalog().schema_by_name(schema).is_none() {
            return undefined_schema(schema);
        }
        undefined_relation(&Self::shown(name)).at(self.position(name))
    }

    /// The position of a name in the statement's text.
    pub fn position(&self, node: &impl ast::Spanned) -> Option<usize> {
        self.position_of(node.span())
    }

    /// The position of a span in the statement's text.
    pub fn position_of(&self, span: stoa_syntax::Span) -> Option<usize> {
        (span.start.line > 0).then(|| stoa_syntax::char_offset(&self.ctx.text, span.start) + 1)
    }

    /// Where a new object goes, and its name.
    pub async fn place(&self, name: &ObjectName, temporary: bool) -> PgResult<(Oid, String)> {
        let (schema, name_) = self.split(name)?;
        let catalog = self.catalog();
        let oid = match schema {
            Some(schema) if schema == "pg_temp" => self.temporary_schema().await?,
            Some(schema) => {
                let found = catalog.schema_by_name(&schema).ok_or_else(|| undefined_schema(&schema).at(self.position(name)))?;
                self.check_own_if_temporary(found)?;
                if temporary && found.temporary.is_none() {
                    return Err(PgError::new(
                        SqlState::INVALID_TABLE_DEFINITION,
                        "cannot create temporary relation in non-temporary schema",
                    ));
                }
                found.oid
            }
            None if temporary => self.temporary_schema().await?,
            None => self.creation_schema()?,
        };
        if matches!(oid, PG_CATALOG_OID | stoa_table::catalog::INFORMATION_SCHEMA_OID) {
            let schema = catalog.schema(oid).map_or_else(String::new, |s| s.name.clone());
            return Err(PgError::new(SqlState::INSUFFICIENT_PRIVILEGE, format!("permission denied to create \"{schema}.{name_}\""))
                .detail("System catalog modifications are currently disallowed."));
        }
        if catalog.schema(oid).is_none_or(|s| s.temporary.is_none()) {
            self.ctx.txn.lock_name(oid, &name_).await?;
        }
        Ok((oid, name_))
    }

    /// Nobody makes anything in a temporary schema of another session, which would find it first of all.
    fn check_own_if_temporary(&self, schema: &SchemaDescriptor) -> PgResult<()> {
        if schema.temporary.is_none_or(|pid| pid == self.ctx.session.pid) {
            return Ok(());
        }
        Err(if self.is_superuser() {
            PgError::new(SqlState::INVALID_TABLE_DEFINITION, "cannot create relations in temporary schemas of other sessions")
        } else {
            PgError::new(SqlState::INSUFFICIENT_PRIVILEGE, format!("permission denied for schema {}", schema.name))
        })
    }

    /// The first schema of the path in which objects are made.
    pub fn creation_schema(&self) -> PgResult<Oid> {
        let temporary = self.ctx.session.temporary_schema();
        self.ctx
            .search_path
            .iter()
            .copied()
            .find(|oid| *oid != PG_CATALOG_OID && Some(*oid) != temporary)
            .ok_or_else(|| PgError::new(SqlState::INVALID_SCHEMA_NAME, "no schema has been selected to create in"))
    }

    async fn temporary_schema(&self) -> PgResult<Oid> {
        if let Some(oid) = self.ctx.session.temporary_schema() {
            return Ok(oid);
        }
        let oid = self.next_oid().await?;
        let pid = self.ctx.session.pid;
        self.put_schema(SchemaDescriptor { oid, name: format!("pg_temp_{pid}"), comment: None, temporary: Some(pid) })?;
        let session = Arc::clone(&self.ctx.session);
        session.set_temporary_schema(Some(oid));
        self.ctx.txn.on_rollback(move || {
            session.set_temporary_schema(None);
            Box::pin(async {})
        });
        Ok(oid)
    }

    /// 42P07 if a relation or an index has the name.
    pub fn check_free(&self, schema: Oid, name: &str) -> PgResult<()> {
        if self.catalog().is_name_taken(schema, name) {
            return Err(PgError::new(SqlState::DUPLICATE_TABLE, format!("relation \"{name}\" already exists")));
        }
        Ok(())
    }

    /// A name of the form `name1_name2_label` that no relation of the schema, no constraint and none of `others` has.
    pub fn choose_name(&self, schema: Oid, name1: &str, name2: Option<&str>, label: &str, others: &[String]) -> String {
        let catalog = self.catalog();
        let mut pass = 0_u32;
        loop {
            let numbered = if pass == 0 { label.to_owned() } else { format!("{label}{pass}") };
            let name = object_name(name1, name2, &numbered);
            let taken = others.contains(&name) || catalog.is_name_taken(schema, &name) || constraint_exists(&catalog, schema, &name);
            if !taken {
                return name;
            }
            pass += 1;
        }
    }

    // Expressions and rows.

    /// What expressions of the statement are bound against.
    pub fn bind_context<'b>(&'b self, catalog: &'b CatalogSnapshot, path: &'b [Oid]) -> BindContext<'b> {
        BindContext { catalog, search_path: path, eval: &self.ctx.eval, param_types: &[], text: &self.ctx.text }
    }

    /// An expression over a table's columns as it is stored.
    pub fn stored(&self, table: &TableDescriptor, expr: &Expr) -> PgResult<String> {
        let column = |id: ColId| column_sql(table, id);
        Deparser { eval: &self.ctx.eval, column: &column, pretty: false, oids: true }.print(expr)
    }

    /// Reads a stored expression over a table's columns.
    pub fn read_stored(&self, table: &TableDescriptor, text: &str) -> PgResult<Expr> {
        let catalog = self.catalog();
        stoa_sql::bind::bind_table_expr(&self.bind_context(&catalog, &self.path()), table, text)
    }

    /// The statement's context with the catalog as it is now.
    pub fn current(&self) -> StatementContext {
        self.ctx.with_catalog(self.catalog(), self.path().into())
    }

    /// Evaluates expressions over all rows of a table, those that have ended among them, read from end to end; columns of the table are
    /// `ColId(column id)`.
    pub async fn scan(
        &self,
        table: &TableDescriptor,
        exprs: Vec<Expr>,
        filter: Option<Expr>,
    ) -> PgResult<futures::stream::BoxStream<'static, PgResult<RecordBatch>>> {
        self.scan_by(table, exprs, filter, vec![stoa_table::access::Hint::NoIndex(Vec::new())]).await
    }

    /// As [`Work::scan`], by an index if one is good for the filter.
    pub async fn scan_by_any_path(
        &self,
        table: &TableDescriptor,
        exprs: Vec<Expr>,
        filter: Option<Expr>,
    ) -> PgResult<futures::stream::BoxStream<'static, PgResult<RecordBatch>>> {
        self.scan_by(table, exprs, filter, Vec::new()).await
    }

    async fn scan_by(
        &self,
        table: &TableDescriptor,
        exprs: Vec<Expr>,
        filter: Option<Expr>,
        hints: Vec<stoa_table::access::Hint>,
    ) -> PgResult<futures::stream::BoxStream<'static, PgResult<RecordBatch>>> {
        let columns: Vec<(ColumnId, ColId)> = table.live_columns().map(|c| (c.id, ColId(c.id.0))).collect();
        let scan = TableScan {
            table: Arc::new(table.clone()),
            columns,
            alias: table.name.clone(),
            as_of: None,
            until: None,
            hints,
            scan_id: 1,
            // Constraints and indexes are about all rows.
            rows_decided: true,
            sees_own: false,
        };
        let mut rel = Rel::Scan(Box::new(scan));
        if let Some(predicate) = filter {
            rel = Rel::Filter { input: Box::new(rel), predicate };
        }
        self.rows_of(rel, exprs).await
    }

    /// Evaluates expressions over the rows of a relation.
    pub async fn rows_of(&self, rel: Rel, exprs: Vec<Expr>) -> PgResult<futures::stream::BoxStream<'static, PgResult<RecordBatch>>> {
        // Above all ids that tables have.
        const FIRST: u32 = 1 << 21;
        let mut outputs = Vec::with_capacity(exprs.len());
        let mut projected = Vec::with_capacity(exprs.len());
        for (i, expr) in (FIRST..).zip(exprs) {
            outputs.push(Output { name: String::new(), col: ColId(i), ty: expr.ty.clone(), origin: None });
            projected.push((ColId(i), expr));
        }
        let rel = Rel::Project { input: Box::new(rel), exprs: projected };
        let bound = Bound::new(BoundBody::Query(Query { rel, outputs }));
        Ok(crate::plan::execute(&self.current(), &bound).await?.stream)
    }

    /// What the rows of a table satisfy that have not ended.
    pub fn not_ended(&self, table: &TableDescriptor) -> PgResult<Option<Expr>> {
        let (catalog, path) = (self.catalog(), self.path());
        stoa_sql::bind::expiry::not_ended(&self.bind_context(&catalog, &path), table)
    }

    /// Whether any row of a table satisfies a condition.
    pub async fn any_row(&self, table: &TableDescriptor, filter: Option<Expr>) -> PgResult<bool> {
        let conditions: Vec<Expr> = filter.into_iter().chain(self.not_ended(table)?).collect();
        let filter = (!conditions.is_empty()).then(|| stoa_sql::typed::walk::conjunction(conditions));
        let one =
            Expr::new(stoa_sql::typed::tree::ExprKind::Const(datafusion::common::ScalarValue::Int32(Some(1))), SqlType::new(PgType::Int4));
        let mut stream = self.scan(table, vec![one], filter).await?;
        while let Some(batch) = stream.next().await {
            if batch?.num_rows() > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What was written so far becomes an earlier statement's, and what others committed while a lock was waited for is seen.
    pub async fn refresh(&self) -> PgResult<()> {
        self.ctx.txn.end_statement();
        self.ctx.txn.start_statement().await?;
        self.ctx.txn.read_newest();
        Ok(())
    }

    // Locks and messages.

    /// Locks a relation; others wait until the transaction ends. What the statement has read of the catalog holds behind the lock: if
    /// others have changed the catalog since, it begins again.
    ///
    /// # Errors
    /// 55P03, 40P01; [`stoa_table::txn::is_definition_retry`], which is for [`Session`](crate::session::Session) alone.
    pub async fn lock(&self, relation: &Relation, mode: TableLockMode) -> PgResult<()> {
        self.lock_oid(relation.oid(), relation.name(), mode, false).await
    }

    /// As [`Work::lock`], for a table: the strongest lock.
    pub async fn lock_table(&self, table: &TableDescriptor) -> PgResult<()> {
        self.lock_oid(table.oid, &table.name, TableLockMode::AccessExclusive, false).await
    }

    /// As [`Work::lock`]. With `nowait` nothing is waited for: 55P03.
    pub async fn lock_oid(&self, oid: Oid, name: &str, mode: TableLockMode, nowait: bool) -> PgResult<()> {
        self.ctx.txn.lock_table(oid, mode, nowait, name).await?;
        self.ctx.txn.check_definition(&self.ctx.catalog)
    }

    /// Locks what a query that is bound to a catalog reads: nobody may change it before the query is kept, or its rows are.
    ///
    /// # Errors
    /// As [`Work::lock`]; 40001 if it was changed before it was locked, and the statement cannot begin again.
    pub async fn lock_used(&self, query: &Bound, catalog: &CatalogSnapshot) -> PgResult<()> {
        for relation in query.uses.iter().filter_map(|used| catalog.relation(used.relation)) {
            self.lock(relation, TableLockMode::AccessShare).await?;
            if !self.catalog().relation(relation.oid()).is_some_and(|now| Arc::ptr_eq(now, relation)) {
                return Err(concurrent_update());
            }
        }
        Ok(())
    }

    /// 55006 while the session's own cursors or checks that wait are about the table as it is. `command` is its name in the message.
    pub fn check_unused(&self, table: &TableDescriptor, command: &str) -> PgResult<()> {
        let in_use =
            |why: &str| Err(PgError::new(SqlState::OBJECT_IN_USE, format!("cannot {command} \"{}\" because it {why}", table.name)));
        if self.ctx.session.cursors.lock().iter().any(|cursor| cursor.tables.contains(&table.oid)) {
            return in_use("is being used by active queries in this session");
        }
        if self.ctx.txn.has_deferred_on(table.oid) {
            return in_use("has pending trigger events");
        }
        Ok(())
    }

    pub fn notice(&self, code: SqlState, message: impl Into<String>) {
        self.ctx.session.notice("NOTICE", PgError::new(code, message));
    }
}

/// What a name of an index stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FoundIndex {
    Index(Oid),
    PrimaryKey,
}

/// A column's name in expressions.
pub(crate) fn column_sql(table: &TableDescriptor, id: ColId) -> String {
    table.column(ColumnId(id.0)).map_or_else(|| "?".into(), |c| stoa_sql::catalog::deparse::quote_name(&c.name))
}

/// Whether a constraint of a table in the schema has this name.
pub(crate) fn constraint_exists(catalog: &CatalogSnapshot, schema: Oid, name: &str) -> bool {
    catalog.relations().filter(|r| r.schema() == schema).any(|r| match &**r {
        Relation::Table(table) => has_constraint(table, name),
        _ => false,
    })
}

/// PostgreSQL's `makeObjectName`: the longer of the two names is cut until all fits.
pub(crate) fn object_name(name1: &str, name2: Option<&str>, label: &str) -> String {
    let overhead = label.len() + 1 + usize::from(name2.is_some());
    let room = NAME_BYTES.saturating_sub(overhead);
    let (mut first, mut second) = (name1.len(), name2.map_or(0, str::len));
    while first + second > room {
        if first > second { first -= 1 } else { second -= 1 }
    }
    let cut = |text: &str, mut len: usize| {
        while !text.is_char_boundary(len) {
            len -= 1;
        }
        text.get(..len).unwrap_or_default().to_owned()
    };
    match name2 {
        Some(name2) => format!("{}_{}_{label}", cut(name1, first), cut(name2, second)),
        None => format!("{}_{label}", cut(name1, first)),
    }
}

pub(crate) fn undefined_relation(name: &str) -> PgError {
    PgError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{name}\" does not exist"))
}

pub(crate) fn undefined_schema(name: &str) -> PgError {
    PgError::new(SqlState::INVALID_SCHEMA_NAME, format!("schema \"{name}\" does not exist"))
}

/// The names of identifiers.
pub(crate) fn folded(idents: &[ast::Ident]) -> Vec<String> {
    idents.iter().map(fold).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn names_are_cut_as_postgres_cuts_them() {
        assert_eq!(object_name("t", Some("a"), "key"), "t_a_key");
        assert_eq!(object_name("t", None, "pkey"), "t_pkey");
        let long = "x".repeat(63);
        assert_eq!(object_name(&long, Some("column_name"), "check").len(), 63);
        assert_eq!(object_name(&long, Some("abc"), "key"), format!("{}_abc_key", "x".repeat(55)));
    }
}

//! Tables as CREATE TABLE and ALTER TABLE build them: columns, then what is said about them.
//!
//! Invariant: what a [`TableBuilder`] holds is a table that could be stored; nothing is written before [`super::table`] or
//! [`super::alter`] does it.

use super::row_key::{self, check_key_type};
use super::sequence::{self, SequencePlan};
use super::work::{Work, folded};
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_sql::bind::collation;
use stoa_sql::bind::scope::Clause;
use stoa_sql::bind::targets::column_name;
use stoa_sql::bind::{bind_stored_expr, fold, type_name};
use stoa_sql::catalog::names::has_constraint;
use stoa_sql::typed::tree::{Expr, ExprKind};
use stoa_syntax::ast;
use stoa_syntax::ddl::{Column, Constraint, ConstraintKind, KeyColumns};
use stoa_table::catalog::{
    CheckDescriptor, ColumnDescriptor, ColumnId, ConstraintName, Epoch, FamilyDescriptor, Identity, IndexDescriptor, IndexKey, IndexPart,
    IndexState, KeyForm, KeyPart, Oid, OnCommit, RowSecurity, SequenceDescriptor, TableDescriptor,
};
use stoa_table::row::{KeyCodec, epoch::counted_from_2000};
use stoa_table::{FamilyId, FamilyOptions, TableId};

/// The hidden column of tables without PRIMARY KEY: far above the columns that a table may have.
pub(crate) const ROW_ID: ColumnId = ColumnId(60_000);
/// The most columns that a table may have, as in PostgreSQL.
const MAX_COLUMNS: u32 = 1600;

/// A table under construction.
pub(crate) struct TableBuilder<'a> {
    pub work: Work<'a>,
    pub table: TableDescriptor,
    /// Sequences that columns own.
    pub sequences: Vec<SequenceDescriptor>,
    /// Sequences' values that `setval` gives when the statement succeeds.
    pub new_indexes: Vec<Oid>,
    pub new_checks: Vec<Oid>,
    pub new_foreign_keys: Vec<Oid>,
    /// Names that were chosen and are not in the catalog yet.
    names: Vec<String>,
    /// NULL was written.
    nullable: Vec<ColumnId>,
    /// A generation expression was written.
    generated: Vec<ColumnId>,
    /// A qualifier was written.
    pub(super) qualified: Vec<ColumnId>,
    /// PRIMARY KEY says SALT.
    pub salted_by_key: bool,
}

impl<'a> TableBuilder<'a> {
    pub async fn new(work: Work<'a>, schema: Oid, name: String, temporary: bool) -> PgResult<Self> {
        let oid = work.next_oid().await?;
        let storage = work.next_table_id().await?;
        let names = vec![name.clone()];
        let table = TableDescriptor {
            oid,
            schema,
            name,
            storage,
            columns: Vec::new(),
            key: Vec::new(),
            primary_key: None,
            row_id: None,
            families: Vec::new(),
            salt: None,
            split_points: Vec::new(),
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            indexes: Vec::new(),
            comment: None,
            options: Vec::new(),
            temporary,
            on_commit: OnCommit::PreserveRows,
            next_column_id: 1,
            epoch: Epoch::Postgres,
            row_security: RowSecurity::default(),
            mapping: None,
            expires: None,
            timestamp: None,
            entries_of: None,
            dynamic: None,
            replica_identity: stoa_table::catalog::ReplicaIdentity::default(),
        };
        Ok(Self::over(work, table, names))
    }

    /// Changes a table that exists.
    pub fn of(work: Work<'a>, table: TableDescriptor) -> Self {
        Self::over(work, table, Vec::new())
    }

    fn over(work: Work<'a>, table: TableDescriptor, names: Vec<String>) -> Self {
        Self {
            work,
            table,
            sequences: Vec::new(),
            new_indexes: Vec::new(),
            new_checks: Vec::new(),
            new_foreign_keys: Vec::new(),
            names,
            nullable: Vec::new(),
            generated: Vec::new(),
            qualified: Vec::new(),
            salted_by_key: false,
        }
    }

    fn choose(&mut self, column: Option<&str>, label: &str) -> String {
        let mut others = self.names.clone();
        for check in &self.table.checks {
            others.push(check.name.name.clone());
        }
        for key in &self.table.foreign_keys {
            others.push(key.name.name.clone());
        }
        for index in &self.table.indexes {
            others.push(index.name.clone());
        }
        others.extend(self.table.primary_key.as_ref().map(|k| k.name.clone()));
        // The rows of a materialized view are in a table whose name is nobody's.
        let catalog = self.work.catalog();
        let view = catalog.view_of_rows(self.table.oid).map(|view| view.name.as_str());
        let name = self.work.choose_name(self.table.schema, view.unwrap_or(&self.table.name), column, label, &others);
        self.names.push(name.clone());
        name
    }

    /// The name of a constraint: as given, if it is free, or chosen.
    pub(super) fn constraint_name(&mut self, given: Option<&ast::Ident>, column: Option<&str>, label: &str) -> PgResult<String> {
        let Some(given) = given else { return Ok(self.choose(column, label)) };
        let name = fold(given);
        if has_constraint(&self.table, &name) {
            return Err(PgError::new(
                SqlState::DUPLICATE_OBJECT,
                format!("constraint \"{name}\" for relation \"{}\" already exists", self.table.name),
            ));
        }
        Ok(name)
    }

    /// Adds a column without what is said about it, with a type that no declaration says.
    pub fn push_column(&mut self, name: String, ty: SqlType) -> PgResult<ColumnId> {
        if self.table.visible_columns().any(|c| c.name == name) {
            let exists = !self.names.contains(&self.table.name);
            return Err(PgError::new(
                SqlState::DUPLICATE_COLUMN,
                if exists {
                    format!("column \"{name}\" of relation \"{}\" already exists", self.table.name)
                } else {
                    format!("column \"{name}\" specified more than once")
                },
            ));
        }
        if is_system_column(&name) {
            return Err(PgError::new(SqlState::DUPLICATE_COLUMN, format!("column name \"{name}\" conflicts with a system column name")));
        }
        if ty.ty.is_pseudo() || matches!(ty.ty, PgType::Record(_) | PgType::Unknown) {
            return Err(PgError::new(SqlState::INVALID_TABLE_DEFINITION, format!("column \"{name}\" has pseudo-type {}", ty.ty)));
        }
        if self.table.next_column_id > MAX_COLUMNS {
            return Err(PgError::new(SqlState::TOO_MANY_COLUMNS, format!("tables can have at most {MAX_COLUMNS} columns")));
        }
        let id = ColumnId(self.table.next_column_id);
        self.table.next_column_id += 1;
        let mut column = ColumnDescriptor::new(id, name, ty);
        column.dims = (column.dimensions() > 0).then_some(0);
        // The hidden column stays last: ids are in order.
        let at = self.table.columns.iter().position(|c| c.id > id).unwrap_or(self.table.columns.len());
        self.table.columns.insert(at, column);
        Ok(id)
    }

    /// Adds a column as written; what is said about it follows with [`TableBuilder::column_constraints`].
    pub async fn add_column(&mut self, column: &Column) -> PgResult<ColumnId> {
        let name = fold(&column.name);
        if let Some(ty) = serial_type(&column.data_type) {
            collation::of_column(column.collation.as_ref(), &ty)?;
            let id = self.push_column(name.clone(), SqlType::new(ty.clone()))?;
            let plan = SequencePlan::new(&ty);
            let sequence = self.own_sequence(id, None, plan).await?;
            if let Some(column) = self.column_mut(id) {
                column.not_null = true;
                column.default = Some(format!("nextval('{sequence}'::regclass)"));
            }
            return Ok(id);
        }
        let ty = row_key::type_of_column(&column.data_type).map_err(|e| e.at(self.work.position_of(column.name.span)))?;
        let said = collation::of_column(column.collation.as_ref(), &ty.ty)?;
        let dims = type_name::declared_dimensions(&column.data_type);
        let id = self.push_column(name.clone(), ty)?;
        if let Some(column) = self.column_mut(id) {
            column.collation = said;
            column.dims = dims;
        }
        if let Some((constraint, check)) = row_key::check_of_type(&name, &column.data_type)? {
            self.add_check(&constraint, &check).await?;
        }
        Ok(id)
    }

    pub(super) fn column_mut(&mut self, id: ColumnId) -> Option<&mut ColumnDescriptor> {
        self.table.columns.iter_mut().find(|c| c.id == id)
    }

    pub(super) fn column_name(&self, id: ColumnId) -> String {
        self.table.column(id).map_or_else(String::new, |c| c.name.clone())
    }

    /// Makes the sequence of a column; gives its OID.
    async fn own_sequence(&mut self, column: ColumnId, name: Option<String>, plan: SequencePlan) -> PgResult<Oid> {
        let name = match name {
            Some(name) => name,
            None => {
                let column = self.column_name(column);
                self.choose(Some(&column), "seq")
            }
        };
        let oid = self.work.next_oid().await?;
        self.sequences.push(SequenceDescriptor {
            oid,
            schema: self.table.schema,
            name,
            ty: plan.ty.clone(),
            start: plan.start,
            increment: plan.increment,
            min: plan.min,
            max: plan.max,
            cache: plan.cache,
            cycle: plan.cycle,
            owned_by: Some((self.table.oid, column)),
            comment: None,
            temporary: self.table.temporary,
        });
        Ok(oid)
    }

    /// Applies what is said about one column, constraints that need all columns excepted: those come back.
    pub async fn column_constraints(&mut self, id: ColumnId, constraints: &[Constraint]) -> PgResult<Vec<Constraint>> {
        let mut later = Vec::new();
        let (mut has_default, mut has_identity, mut has_generated) =
            (self.table.column(id).is_some_and(|c| c.default.is_some()), false, false);
        let table_name = self.table.name.clone();
        for constraint in constraints {
            let name = self.column_name(id);
            let both = |what: &str| {
                PgError::new(SqlState::SYNTAX_ERROR, format!("{what} specified for column \"{name}\" of table \"{table_name}\""))
                    .at(Some(constraint.position))
            };
            match &constraint.kind {
                ConstraintKind::NotNull => {
                    if self.nullable.contains(&id) {
                        return Err(PgError::new(
                            SqlState::SYNTAX_ERROR,
                            format!("conflicting NULL/NOT NULL declarations for column \"{name}\" of table \"{table_name}\""),
                        )
                        .at(Some(constraint.position)));
                    }
                    if let Some(column) = self.column_mut(id) {
                        column.not_null = true;
                    }
                }
                ConstraintKind::Null => {
                    if self.table.column(id).is_some_and(|c| c.not_null) {
                        return Err(PgError::new(
                            SqlState::SYNTAX_ERROR,
                            format!("conflicting NULL/NOT NULL declarations for column \"{name}\" of table \"{table_name}\""),
                        )
                        .at(Some(constraint.position)));
                    }
                    self.nullable.push(id);
                }
                ConstraintKind::Default(expr) => {
                    if has_default {
                        return Err(both("multiple default values"));
                    }
                    if has_identity {
                        return Err(both("both default and identity"));
                    }
                    if has_generated {
                        return Err(both("both default and generation expression"));
                    }
                    has_default = true;
                    self.set_default(id, expr)?;
                }
                ConstraintKind::Identity { always, options } => {
                    if has_identity {
                        return Err(PgError::new(
                            SqlState::SYNTAX_ERROR,
                            format!("multiple identity specifications for column \"{name}\" of table \"{table_name}\""),
                        )
                        .at(Some(constraint.position)));
                    }
                    if has_default {
                        return Err(both("both default and identity"));
                    }
                    if has_generated {
                        return Err(both("both identity and generation expression"));
                    }
                    if self.nullable.contains(&id) {
                        return Err(PgError::new(
                            SqlState::SYNTAX_ERROR,
                            format!("conflicting NULL/NOT NULL declarations for column \"{name}\" of table \"{table_name}\""),
                        ));
                    }
                    has_identity = true;
                    self.add_identity(id, *always, options).await?;
                }
                ConstraintKind::Generated(_) => {
                    if has_default {
                        return Err(both("both default and generation expression"));
                    }
                    if has_identity {
                        return Err(both("both identity and generation expression"));
                    }
                    if has_generated {
                        return Err(both("multiple generation clauses"));
                    }
                    has_generated = true;
                    self.generated.push(id);
                    later.push(constraint.clone());
                }
                _ => later.push(constraint.clone()),
            }
        }
        Ok(later)
    }

    /// Makes a column an identity.
    pub async fn add_identity(&mut self, id: ColumnId, always: bool, options: &[stoa_syntax::ddl::SequenceOption]) -> PgResult<()> {
        let ty = self.table.column(id).map(|c| c.ty.ty.clone()).unwrap_or(PgType::Int8);
        check_identity_type(&ty)?;
        let mut plan = SequencePlan::new(&ty);
        let name = sequence::apply(&mut plan, options, true)?.name.map(|n| fold_last(&n));
        let sequence = self.own_sequence(id, name, plan).await?;
        if let Some(column) = self.column_mut(id) {
            column.not_null = true;
            column.identity = Some(Identity { always, sequence });
        }
        Ok(())
    }

    /// Sets a default.
    pub fn set_default(&mut self, id: ColumnId, expr: &ast::Expr) -> PgResult<()> {
        let Some(column) = self.table.column(id) else { return Ok(()) };
        let (ty, name) = (column.ty.clone(), column.name.clone());
        let text = default_text(self.work, expr, &ty, &name)?;
        if let Some(column) = self.column_mut(id) {
            column.default = text;
        }
        Ok(())
    }

    /// Sets a generation expression.
    pub fn set_generated(&mut self, id: ColumnId, syntax: &ast::Expr) -> PgResult<()> {
        let Some(column) = self.table.column(id).cloned() else { return Ok(()) };
        let catalog = self.work.catalog();
        let path = self.work.path();
        let context = self.work.bind_context(&catalog, &path);
        let expr = bind_stored_expr(&context, Some(&self.table), Clause::Generation, syntax, Some((&column.ty, &column.name)))?;
        for used in columns_of(&expr) {
            if used == id || self.generated.contains(&used) || self.table.column(used).is_some_and(|c| c.generated.is_some()) {
                return Err(PgError::new(
                    SqlState::INVALID_OBJECT_DEFINITION,
                    format!("cannot use generated column \"{}\" in column generation expression", self.column_name(used)),
                )
                .detail("A generated column cannot reference another generated column."));
            }
        }
        if !stoa_sql::typed::volatility::is_immutable(&expr) {
            return Err(PgError::new(SqlState::INVALID_OBJECT_DEFINITION, "generation expression is not immutable"));
        }
        // The assignment's cast must not be lost: the text is bound without it, and cast again.
        let text = self.work.stored(&self.table, &expr)?;
        if let Some(column) = self.column_mut(id) {
            column.generated = Some(text);
        }
        Ok(())
    }

    /// Applies a constraint of the table, or of the one column `on`.
    pub async fn add_constraint(&mut self, constraint: &Constraint, on: Option<ColumnId>) -> PgResult<()> {
        self.check_characteristics(constraint)?;
        match &constraint.kind {
            ConstraintKind::Check(expr) => self.add_check(constraint, expr).await,
            ConstraintKind::PrimaryKey(key) => self.add_primary_key(constraint, key, on).await,
            ConstraintKind::Unique(key) => self.add_unique(constraint, key, on).await,
            ConstraintKind::ForeignKey { columns, references } => self.add_foreign_key(constraint, (on, columns), references).await,
            ConstraintKind::Generated(expr) => match on {
                Some(id) => self.set_generated(id, expr),
                None => Ok(()),
            },
            ConstraintKind::Exclude => Err(PgError::unsupported("exclusion constraints are not supported")),
            ConstraintKind::NotNull | ConstraintKind::Null | ConstraintKind::Default(_) | ConstraintKind::Identity { .. } => Ok(()),
        }
    }

    fn check_characteristics(&self, constraint: &Constraint) -> PgResult<()> {
        let deferrable = constraint.deferrable.is_some() || constraint.initially_deferred.is_some();
        if constraint.initially_deferred == Some(true) && constraint.deferrable == Some(false) {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "constraint declared INITIALLY DEFERRED must be DEFERRABLE")
                .at(Some(constraint.position)));
        }
        let kind = match constraint.kind {
            ConstraintKind::PrimaryKey(_) => "PRIMARY KEY",
            ConstraintKind::Unique(_) => "UNIQUE",
            _ => "FOREIGN KEY",
        };
        match constraint.kind {
            ConstraintKind::PrimaryKey(_) | ConstraintKind::Unique(_) | ConstraintKind::ForeignKey { .. } if constraint.no_inherit => {
                let message = format!("{kind} constraints cannot be marked NO INHERIT");
                Err(PgError::unsupported(message).at(Some(constraint.position)))
            }
            ConstraintKind::Check(_) if deferrable && constraint.deferrable != Some(false) => {
                Err(PgError::unsupported("CHECK constraints cannot be marked DEFERRABLE"))
            }
            ConstraintKind::PrimaryKey(_) | ConstraintKind::Unique(_) if constraint.not_valid => {
                Err(PgError::unsupported(format!("{kind} constraints cannot be marked NOT VALID")).at(Some(constraint.position)))
            }
            _ => Ok(()),
        }
    }

    pub(super) async fn name_of(&self, constraint: &Constraint, name: String) -> PgResult<ConstraintName> {
        let initially_deferred = constraint.initially_deferred.unwrap_or(false);
        Ok(ConstraintName {
            oid: self.work.next_oid().await?,
            name,
            deferrable: constraint.deferrable.unwrap_or(initially_deferred),
            initially_deferred,
            comment: None,
            index_comment: None,
        })
    }

    async fn add_check(&mut self, constraint: &Constraint, syntax: &ast::Expr) -> PgResult<()> {
        let catalog = self.work.catalog();
        let path = self.work.path();
        let context = self.work.bind_context(&catalog, &path);
        // A literal of no type is a boolean here.
        let boolean = SqlType::new(PgType::Bool);
        let target = if is_untyped(syntax) { Some((&boolean, "check")) } else { None };
        let expr = bind_stored_expr(&context, Some(&self.table), Clause::Check, syntax, target)?;
        require_boolean(&expr, "CHECK")?;
        let columns = columns_of(&expr);
        let text = self.work.stored(&self.table, &expr)?;
        let column = match columns.as_slice() {
            [one] => Some(self.column_name(*one)),
            _ => None,
        };
        let name = self.constraint_name(constraint.name.as_ref(), column.as_deref(), "check")?;
        let name = self.name_of(constraint, name).await?;
        self.new_checks.push(name.oid);
        self.table.checks.push(CheckDescriptor {
            name,
            expr: text,
            columns,
            validated: !constraint.not_valid,
            no_inherit: constraint.no_inherit,
        });
        Ok(())
    }

    /// The ids of columns by name.
    pub fn columns_named(&self, names: &[String], what: &str) -> PgResult<Vec<ColumnId>> {
        names
            .iter()
            .map(|name| {
                self.table
                    .column_by_name(name)
                    .map(|c| c.id)
                    .ok_or_else(|| PgError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{name}\" {what} does not exist")))
            })
            .collect()
    }

    pub(super) fn key_columns(&self, key: &KeyColumns, on: Option<ColumnId>, what: &str) -> PgResult<Vec<(ColumnId, bool, bool)>> {
        if key.using_index.is_some() {
            return Err(PgError::unsupported("cannot use an existing index in CREATE TABLE"));
        }
        if let Some(id) = on {
            return Ok(vec![(id, false, false)]);
        }
        let mut out: Vec<(ColumnId, bool, bool)> = Vec::with_capacity(key.columns.len());
        for element in &key.columns {
            let Some(name) = column_of(&element.expr) else {
                return Err(PgError::unsupported(format!("a {what} constraint takes columns, not expressions")));
            };
            let column = self.table.column_by_name(&name).ok_or_else(|| {
                PgError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{name}\" named in key does not exist"))
                    .at(self.work.position(&element.expr))
            })?;
            if out.iter().any(|(id, _, _)| *id == column.id) {
                return Err(PgError::new(SqlState::DUPLICATE_COLUMN, format!("column \"{name}\" appears twice in {what} constraint"))
                    .at(self.work.position(&element.expr)));
            }
            out.push((column.id, element.descending, element.nulls_first.unwrap_or(element.descending)));
        }
        Ok(out)
    }

    /// ADD CONSTRAINT … USING INDEX: a unique index becomes the constraint's. Of a primary key its columns become the row key, and the
    /// index, which nothing is left for, goes.
    pub async fn constraint_over_index(&mut self, constraint: &Constraint, index: &ast::Ident, primary: bool) -> PgResult<()> {
        let given = fold(index);
        let found = self.table.indexes.iter().position(|i| i.name == given);
        let Some((at, index)) = found.and_then(|at| self.table.indexes.get(at).cloned().map(|index| (at, index))) else {
            let elsewhere = self.work.catalog().index_by_name(self.table.schema, &given).is_some();
            if self.table.primary_key.as_ref().is_some_and(|k| k.name == given) {
                return Err(PgError::new(
                    SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                    format!("index \"{given}\" is already associated with a constraint"),
                ));
            }
            return Err(if elsewhere {
                PgError::new(
                    SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                    format!("index \"{given}\" does not belong to table \"{}\"", self.table.name),
                )
            } else {
                PgError::new(SqlState::UNDEFINED_OBJECT, format!("index \"{given}\" does not exist"))
            }
            .at(Some(constraint.position)));
        };
        let place = Some(constraint.position);
        let unready = |message: String| PgError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message).at(place);
        let unfit = |message: String| {
            PgError::new(SqlState::WRONG_OBJECT_TYPE, message)
                .detail("Cannot create a primary key or unique constraint using such an index.")
                .at(place)
        };
        if index.constraint.is_some() {
            return Err(unready(format!("index \"{given}\" is already associated with a constraint")));
        }
        if index.state != IndexState::Readable {
            return Err(unready(format!("index \"{given}\" is not valid")));
        }
        if !index.unique {
            return Err(unfit(format!("\"{given}\" is not a unique index")));
        }
        if index.parts.iter().any(|p| matches!(p.key, IndexKey::Expr(_))) {
            return Err(unfit(format!("index \"{given}\" contains expressions")));
        }
        if index.predicate.is_some() {
            return Err(unfit(format!("\"{given}\" is a partial index")));
        }
        if let Some(at) = index.parts.iter().position(|p| p.descending || p.nulls_first || p.class.is_some()) {
            return Err(unfit(format!("index \"{given}\" column number {} does not have default sorting behavior", at + 1)));
        }
        let name = match &constraint.name {
            Some(name) if fold(name) != given => {
                let name = self.constraint_name(Some(name), None, "key")?;
                self.work.check_free(self.table.schema, &name)?;
                let words = format!("ALTER TABLE / ADD CONSTRAINT USING INDEX will rename index \"{given}\" to \"{name}\"");
                self.work.notice(SqlState::SUCCESSFUL_COMPLETION, words);
                name
            }
            _ => given,
        };
        if !primary {
            let owner = self.name_of(constraint, name.clone()).await?;
            if let Some(index) = self.table.indexes.get_mut(at) {
                index.name = name;
                index.constraint = Some(owner);
            }
            return Ok(());
        }
        let parts = index.parts.iter().filter_map(|p| match p.key {
            IndexKey::Column(column) => Some(KeyPart { column, descending: false, form: KeyForm::Value }),
            IndexKey::Expr(_) => None,
        });
        let parts = parts.collect();
        self.check_no_primary_key(constraint)?;
        self.table.indexes.remove(at);
        self.work.drop_storage(index.storage);
        self.make_primary_key(constraint, name, parts).await
    }

    fn check_no_primary_key(&self, constraint: &Constraint) -> PgResult<()> {
        if self.table.primary_key.is_none() && self.table.primary_index().is_none() {
            return Ok(());
        }
        Err(self.second_primary_key().at(Some(constraint.position)))
    }

    /// 42P16
    pub fn second_primary_key(&self) -> PgError {
        let message = format!("multiple primary keys for table \"{}\" are not allowed", self.table.name);
        PgError::new(SqlState::INVALID_TABLE_DEFINITION, message)
    }

    async fn add_primary_key(&mut self, constraint: &Constraint, key: &KeyColumns, on: Option<ColumnId>) -> PgResult<()> {
        // As in PostgreSQL, keys of a new table are counted before their columns are looked for.
        let is_new = self.work.catalog().table(self.table.oid).is_none();
        if is_new {
            self.check_no_primary_key(constraint)?;
        }
        if !key.include.is_empty() {
            return Err(PgError::unsupported("INCLUDE in a primary key is not supported")
                .hint("The primary key is the table: it holds all columns."));
        }
        let parts = row_key::parts(self, key, on)?;
        if !is_new {
            self.check_no_primary_key(constraint)?;
        }
        for KeyPart { column: id, .. } in &parts {
            check_key_type(self.table.column(*id))?;
        }
        let name = match &constraint.name {
            Some(_) => self.constraint_name(constraint.name.as_ref(), None, "pkey")?,
            None => self.choose(None, "pkey"),
        };
        if constraint.name.is_some() {
            self.work.check_free(self.table.schema, &name)?;
        }
        self.make_primary_key(constraint, name, parts).await
    }

    async fn make_primary_key(&mut self, constraint: &Constraint, name: String, parts: Vec<KeyPart>) -> PgResult<()> {
        for part in &parts {
            if let Some(column) = self.column_mut(part.column) {
                column.not_null = true;
            }
        }
        let constraint_name = self.name_of(constraint, name.clone()).await?;
        if constraint_name.deferrable {
            if parts.iter().any(|p| !p.form.is_value()) || self.salted_by_key {
                return Err(PgError::unsupported("a deferrable primary key takes columns alone").hint("It is no row key, but an index."));
            }
            let columns = parts.into_iter().map(|p| (p.column, p.descending, p.descending)).collect();
            // Rows that have one key for a while need places of their own: the key is an index.
            return self.push_unique(constraint_name, name, columns, Vec::new(), false, true).await;
        }
        self.table.primary_key = Some(constraint_name);
        self.table.key = parts;
        Ok(())
    }

    async fn add_unique(&mut self, constraint: &Constraint, key: &KeyColumns, on: Option<ColumnId>) -> PgResult<()> {
        let columns = self.key_columns(key, on, "unique")?;
        let include = self.columns_named(&folded(&key.include), "named in key")?;
        let names = distinct(columns.iter().map(|(id, _, _)| id).chain(&include).map(|id| self.column_name(*id)));
        if let Some(given) = &constraint.name {
            // Its index is a relation, which comes first.
            self.work.check_free(self.table.schema, &fold(given))?;
        }
        let name = self.constraint_name(constraint.name.as_ref(), Some(&names.join("_")), "key")?;
        let constraint_name = self.name_of(constraint, name.clone()).await?;
        self.push_unique(constraint_name, name, columns, include, key.nulls_not_distinct, false).await
    }

    async fn push_unique(
        &mut self,
        constraint: ConstraintName,
        name: String,
        columns: Vec<(ColumnId, bool, bool)>,
        include: Vec<ColumnId>,
        nulls_not_distinct: bool,
        primary: bool,
    ) -> PgResult<()> {
        let mut parts = Vec::with_capacity(columns.len());
        for (id, descending, nulls_first) in columns {
            check_key_type(self.table.column(id))?;
            let ty = self.table.column(id).map_or_else(|| SqlType::new(PgType::Text), |c| c.ty.clone());
            parts.push(IndexPart { key: IndexKey::Column(id), ty, class: None, collation: None, descending, nulls_first });
        }
        self.push_index(IndexDescriptor {
            oid: self.work.next_oid().await?,
            name,
            storage: self.work.next_table_id().await?,
            unique: true,
            nulls_not_distinct,
            primary,
            parts,
            include,
            predicate: None,
            state: IndexState::Readable,
            readable_from: 0,
            replaces: None,
            constraint: Some(constraint),
            method: "btree".into(),
            options: Vec::new(),
            salt_buckets: None,
            comment: None,
        });
        Ok(())
    }

    /// Adds an index that is to be built.
    pub fn push_index(&mut self, index: IndexDescriptor) {
        self.names.push(index.name.clone());
        self.new_indexes.push(index.oid);
        self.table.indexes.push(index);
    }

    /// A name for an index without one, whose columns are called so.
    pub fn index_name(&mut self, columns: Vec<String>, unique_constraint: bool) -> String {
        self.choose(Some(&distinct(columns).join("_")), if unique_constraint { "key" } else { "idx" })
    }

    /// Gives a table its key and families if it has none: to be called when all columns and constraints are there.
    pub fn complete(&mut self) {
        if self.table.key.is_empty() {
            self.add_row_id();
        }
        if self.table.families.is_empty() {
            self.table.families.push(FamilyDescriptor::new(FamilyId(0), "f".into(), Vec::new(), FamilyOptions::default()));
        }
        let placed: Vec<ColumnId> = self.table.families.iter().flat_map(|f| f.columns.iter().copied()).collect();
        let missing: Vec<ColumnId> =
            self.table.live_columns().map(|c| c.id).filter(|id| !placed.contains(id) && !self.table.is_key(*id)).collect();
        if let Some(first) = self.table.families.first_mut() {
            first.columns.extend(missing);
        }
        let key: Vec<ColumnId> = self.table.key.iter().map(|p| p.column).collect();
        for family in &mut self.table.families {
            family.columns.retain(|id| !key.contains(id));
            family.columns.sort();
        }
    }

    /// The hidden column that stands for a primary key.
    pub fn add_row_id(&mut self) {
        self.table.columns.retain(|c| c.id != ROW_ID);
        let hidden = ColumnDescriptor::new(ROW_ID, "stoa_row_id".into(), SqlType::new(PgType::Int8));
        self.table.columns.push(ColumnDescriptor { not_null: true, hidden: true, ..hidden });
        self.table.row_id = Some(ROW_ID);
        self.table.key = vec![KeyPart { column: ROW_ID, descending: false, form: KeyForm::Value }];
    }

    /// A new place for the rows and all index entries, in the form of this version.
    pub async fn move_storage(&mut self) -> PgResult<()> {
        self.table.storage = self.work.next_table_id().await?;
        // What is left of what has ended is not written.
        self.table.families.iter_mut().for_each(|family| family.has_ended = false);
        // Nor are cells of columns that are gone.
        self.table.columns.iter_mut().filter(|column| column.dropped).for_each(|column| column.qualifier = None);
        if self.table.epoch != Epoch::Postgres {
            let key = KeyCodec::new(&self.table)?;
            self.table.split_points = self.table.split_points.iter().map(|point| counted_from_2000(&key, point)).collect();
            self.table.epoch = Epoch::Postgres;
        }
        for index in &mut self.table.indexes {
            index.storage = fresh(self.work).await?;
        }
        Ok(())
    }
}

async fn fresh(work: Work<'_>) -> PgResult<TableId> {
    work.next_table_id().await
}

fn fold_last(name: &ast::ObjectName) -> String {
    stoa_sql::bind::name_parts(name).ok().and_then(|p| p.last().cloned()).unwrap_or_default()
}

/// The text of a DEFAULT as it is stored; `None` for NULL.
pub(crate) fn default_text(work: Work<'_>, syntax: &ast::Expr, ty: &SqlType, column: &str) -> PgResult<Option<String>> {
    let catalog = work.catalog();
    let path = work.path();
    let context = work.bind_context(&catalog, &path);
    let expr = bind_stored_expr(&context, None, Clause::Default, syntax, Some((ty, column))).map_err(|mut e| {
        // A name in a string that becomes a `regclass` is no column.
        let relation = e.code() == SqlState::UNDEFINED_TABLE && e.message().starts_with("relation ");
        if e.code() == SqlState::DATATYPE_MISMATCH {
            let words = e.message().replacen(" but expression is of type ", " but default expression is of type ", 1);
            e.fields_mut().message = words;
            return e;
        }
        if e.code() == SqlState::UNDEFINED_COLUMN || (e.code() == SqlState::UNDEFINED_TABLE && !relation) {
            let position = e.fields_mut().position;
            PgError::unsupported("cannot use column reference in DEFAULT expression").at(position)
        } else {
            e
        }
    })?;
    if expr.is_null_const() {
        return Ok(None);
    }
    let none = |_| String::new();
    let printer = stoa_sql::catalog::deparse::Deparser { eval: &work.ctx.eval, column: &none, pretty: false, oids: true };
    let printed = printer.print(&expr)?;
    let written = stoa_sql::definition::written_time::as_written(printed.clone(), &syntax.to_string(), false);
    if written == printed {
        return Ok(Some(printed));
    }
    // The words are kept if they mean the same.
    let again = stoa_syntax::parse_expression(&written)
        .map_err(stoa_sql::bind::syntax_error)
        .and_then(|syntax| bind_stored_expr(&context, None, Clause::Default, &syntax, Some((ty, column))))
        .and_then(|expr| printer.print(&expr));
    Ok(Some(if again.is_ok_and(|text| text == printed) { written } else { printed }))
}

/// Whether an expression is a literal whose type is what it is used as.
fn is_untyped(syntax: &ast::Expr) -> bool {
    match syntax {
        ast::Expr::Nested(inner) => is_untyped(inner),
        ast::Expr::Value(v) => matches!(v.value, ast::Value::Null | ast::Value::SingleQuotedString(_)),
        _ => false,
    }
}

/// 42804 unless the expression is boolean.
pub(crate) fn require_boolean(expr: &Expr, what: &str) -> PgResult<()> {
    if expr.ty.ty == PgType::Bool {
        return Ok(());
    }
    Err(PgError::new(SqlState::DATATYPE_MISMATCH, format!("argument of {what} must be type boolean, not type {}", expr.ty.ty)))
}

/// Whether PostgreSQL gives every table a column of this name.
pub(super) fn is_system_column(name: &str) -> bool {
    matches!(name, "tableoid" | "xmin" | "cmin" | "xmax" | "cmax" | "ctid")
}

/// The table's columns that an expression uses, each once, in order.
pub(crate) fn columns_of(expr: &Expr) -> Vec<ColumnId> {
    let mut out: Vec<ColumnId> = Vec::new();
    expr.any(&mut |e| {
        if let ExprKind::Column(id) = e.kind {
            out.push(ColumnId(id.0));
        }
        false
    });
    out.sort();
    out.dedup();
    out
}

/// The column that an index element names, if it is no expression.
pub(crate) fn column_of(expr: &ast::Expr) -> Option<String> {
    match expr {
        ast::Expr::Identifier(ident) => Some(fold(ident)),
        _ => None,
    }
}

/// What PostgreSQL calls the column of an index.
pub(super) fn expression_name_or_column(expr: &ast::Expr) -> String {
    column_name(expr).unwrap_or_else(|| "expr".into())
}

/// `serial` and its kin.
fn serial_type(ty: &ast::DataType) -> Option<PgType> {
    let ast::DataType::Custom(name, _) = ty else { return None };
    Some(match fold_last(name).as_str() {
        "serial" | "serial4" => PgType::Int4,
        "bigserial" | "serial8" => PgType::Int8,
        "smallserial" | "serial2" => PgType::Int2,
        _ => return None,
    })
}

/// # Errors
/// 22023 for a type that numbers are not.
pub(crate) fn check_identity_type(ty: &PgType) -> PgResult<()> {
    match ty {
        PgType::Int2 | PgType::Int4 | PgType::Int8 => Ok(()),
        _ => Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "identity column type must be smallint, integer, or bigint")),
    }
}

/// Names of an index's columns for the name of the index: one that is there already gets a number.
fn distinct(columns: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for base in columns {
        let mut name = base.clone();
        let mut n = 0;
        while names.contains(&name) {
            n += 1;
            name = format!("{base}{n}");
        }
        names.push(name);
    }
    names
}

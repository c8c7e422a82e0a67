//! Prepared statements: the syntax tree, kept; the typed tree, bound again when what it was bound against has changed.

use super::api::{OutputColumn, Prepared};
use super::session_impl::Session;
use super::table_locks::{TableLock, table_locks};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use stoa_exec::environment::SessionEnvironment;
use stoa_exec::settings::{LogStatement, SETTINGS, unrecognized};
use stoa_pg::settings::ValueSettings;
use stoa_pg::types::{PgType, SqlType};
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::typed::tree::{Bound, BoundBody};
use stoa_syntax::ddl::{CreateTableAs, Ddl, RowSource};
use stoa_syntax::secrets::without_passwords;
use stoa_syntax::utility::Utility;
use stoa_syntax::{Body, Piece, ast};
use stoa_table::catalog::{CatalogSnapshot, Oid};
use stoa_table::txn::Transaction;

/// A statement that was parsed once.
#[derive(Debug)]
pub struct PreparedStatement {
    /// The whole text that the statement was a part of: positions of errors count in it.
    pub text: Arc<str>,
    /// The statement's own text.
    pub statement_text: Arc<str>,
    /// `None` for an empty text.
    pub(crate) body: Option<Arc<Body>>,
    /// Types that the client declared; `None` where it left them open.
    pub(crate) declared: Vec<Option<PgType>>,
    pub(super) bound: Mutex<Option<Arc<BoundStatement>>>,
    /// Its columns were described to a client, or a client may count on them: they must stay.
    pub(super) described: AtomicBool,
    /// Its literals were read as parameters, see [`super::statement_cache`]: what they are is known for that typed tree alone.
    pub(super) recalled: bool,
}

impl Prepared {
    /// Whether executing it commits or rolls back: such work must not be dropped half way.
    #[must_use]
    pub fn ends_transaction(&self) -> bool {
        ends_block(self.inner.body.as_deref())
    }
}

/// A typed tree with what is described of it to clients, and what it was bound against.
#[derive(Debug)]
pub(crate) struct BoundStatement {
    pub(crate) bound: Bound,
    pub(crate) columns: Option<Arc<[OutputColumn]>>,
    pub(crate) params: Arc<[SqlType]>,
    pub(crate) locks: Box<[TableLock]>,
    pub(crate) plan: crate::plan::PlanCache,
    catalog: Arc<CatalogSnapshot>,
    search_path: Arc<[Oid]>,
    values: Arc<ValueSettings>,
    /// The settings by which its literals were read when it was bound for the first time.
    read_with: Arc<ValueSettings>,
    /// The role that was found to be allowed to run it, on the catalog that it was bound against; 0 for none yet.
    allowed: AtomicU32,
}

impl BoundStatement {
    /// Whether a role may run it. What was found is kept: rights are part of the catalog.
    ///
    /// # Errors
    /// 42501.
    pub(crate) fn check(&self, role: Oid) -> PgResult<()> {
        if self.allowed.load(Ordering::Relaxed) == role {
            return Ok(());
        }
        stoa_sql::privileges::check(&self.catalog, role, &self.bound)?;
        self.allowed.store(role, Ordering::Relaxed);
        Ok(())
    }

    /// The same with another tree, whose first columns are those of this one.
    pub(crate) fn with_tree(&self, bound: Bound) -> Self {
        Self {
            bound,
            columns: self.columns.clone(),
            params: Arc::clone(&self.params),
            locks: self.locks.clone(),
            plan: crate::plan::PlanCache::default(),
            catalog: Arc::clone(&self.catalog),
            search_path: Arc::clone(&self.search_path),
            values: Arc::clone(&self.values),
            read_with: Arc::clone(&self.read_with),
            allowed: AtomicU32::new(0),
        }
    }

    /// Whether it would be bound in the same way now.
    pub(super) fn holds(&self, system: &SessionEnvironment, values: &Arc<ValueSettings>) -> bool {
        Arc::ptr_eq(&self.catalog, &system.catalog)
            && Arc::ptr_eq(&self.values, values)
            && (Arc::ptr_eq(&self.search_path, &system.search_path) || self.search_path == system.search_path)
            && self.bound.policies_of.is_none_or(|(role, on)| role == system.role && on == system.session.settings().row_security)
            && !self.bound.names_cursor
    }

    /// Whether it was bound against the catalog that a transaction sees.
    pub(crate) fn is_seen_by(&self, txn: &Transaction) -> bool {
        txn.sees(&self.catalog)
    }
}

/// What Describe answers.
#[derive(Clone, Debug)]
pub struct Description {
    pub params: Arc<[SqlType]>,
    /// `None` where the statement gives no rows.
    pub columns: Option<Arc<[OutputColumn]>>,
}

impl PreparedStatement {
    /// The statement's own text, as others may see it.
    pub(crate) fn shown_text(&self) -> Arc<str> {
        let secret = match self.body.as_deref() {
            Some(Body::Utility(utility)) => {
                matches!(&**utility, Utility::Ddl(ddl) if matches!(&**ddl, Ddl::Role(role) if role.has_password()))
            }
            _ => false,
        };
        if secret { without_passwords(&self.statement_text).into() } else { Arc::clone(&self.statement_text) }
    }

    /// The query or change of data in it, which has parameters and is bound.
    pub(crate) fn bindable(&self) -> Option<&ast::Statement> {
        match self.body.as_deref()? {
            Body::Sql(statement) => is_bindable(statement).then_some(&**statement),
            Body::Utility(utility) => match &**utility {
                Utility::Declare(declare) => Some(&*declare.query),
                Utility::Ddl(ddl) => match &**ddl {
                    Ddl::CreateTableAs(CreateTableAs { rows: RowSource::Query(query), materialized_view: false, .. }) => Some(query),
                    _ => None,
                },
                Utility::Explain(explain) => match &*explain.body {
                    Body::Sql(statement) => is_bindable(statement).then_some(&**statement),
                    Body::Utility(_) => None,
                },
                _ => None,
            },
        }
    }
}

/// From which `log_statement` on a statement is logged.
pub(crate) fn log_class(body: &Body) -> LogStatement {
    match body {
        Body::Sql(statement) => match &**statement {
            ast::Statement::Insert(_) | ast::Statement::Update(_) | ast::Statement::Delete(_) | ast::Statement::Merge(_) => {
                LogStatement::Mod
            }
            _ => LogStatement::All,
        },
        Body::Utility(utility) => match &**utility {
            Utility::Ddl(ddl) => match &**ddl {
                Ddl::Truncate { .. } => LogStatement::Mod,
                _ => LogStatement::Ddl,
            },
            Utility::Copy(copy) if copy.from => LogStatement::Mod,
            // It may change data, and it may not.
            Utility::Execute { .. } => LogStatement::Mod,
            Utility::Explain(explain) if explain.options.iter().any(|o| matches!(o.name.as_str(), "analyze" | "analyse")) => {
                log_class(&explain.body)
            }
            _ => LogStatement::All,
        },
    }
}

/// Whether a statement goes to the binder, rather than to DDL.
pub(crate) fn is_bindable(statement: &ast::Statement) -> bool {
    match statement {
        ast::Statement::Query(query) => !selects_into(&query.body),
        ast::Statement::Insert(_) | ast::Statement::Update(_) | ast::Statement::Delete(_) | ast::Statement::Merge(_) => true,
        _ => false,
    }
}

/// `SELECT … INTO` makes a table.
fn selects_into(body: &ast::SetExpr) -> bool {
    match body {
        ast::SetExpr::Select(select) => select.into.is_some(),
        ast::SetExpr::SetOperation { left, .. } => selects_into(left),
        _ => false,
    }
}

impl Session {
    /// A text that a client has written, in the dialect that everything here is in. Positions count in what comes back.
    #[must_use]
    pub fn in_postgresql<'t>(&self, text: &'t str) -> std::borrow::Cow<'t, str> {
        if self.shared.settings().hyperdrive { stoa_syntax::hyperdrive::to_postgresql(text) } else { text.into() }
    }

    /// Parses a text of several statements.
    ///
    /// # Errors
    /// 42601 with the position; nothing of the text must be executed then.
    pub fn parse(&self, text: &str) -> PgResult<Vec<Piece>> {
        stoa_syntax::parse_script(text).map_err(|error| match self.check_not_failed() {
            // In a failed block only the grammar is looked at.
            Err(failed) if error.is_of_meaning() => failed,
            _ => syntax_error(error),
        })
    }

    /// Makes a prepared statement of a parsed one; `None` is an empty text. Queries and changes of data are bound at once.
    ///
    /// # Errors
    /// What binding raises; 25P02 in a failed block unless the statement may end it.
    pub fn prepare(&mut self, piece: Option<Piece>, text: Arc<str>, declared: Vec<Option<PgType>>) -> PgResult<Prepared> {
        let (body, statement_text) = match piece {
            Some(piece) => (Some(Arc::new(piece.body)), if piece.text.len() == text.len() { text.clone() } else { Arc::from(piece.text) }),
            None => (None, text.clone()),
        };
        let prepared = PreparedStatement {
            text,
            statement_text,
            body,
            declared,
            bound: Mutex::default(),
            described: AtomicBool::new(false),
            recalled: false,
        };
        self.check_startable(&prepared)?;
        if prepared.bindable().is_some() {
            self.bound(&prepared)?;
        }
        if let Some(Body::Utility(utility)) = prepared.body.as_deref()
            && let Utility::Show(Some(name)) = &**utility
            && self.shared.show(name).is_none()
        {
            return Err(unrecognized(name));
        }
        Ok(Prepared { inner: Arc::new(prepared) })
    }

    /// Whether Bind and Describe may be answered: 25P02 in a failed block unless the statement may end it.
    ///
    /// # Errors
    /// 25P02.
    pub fn check_bind(&self, prepared: &Prepared) -> PgResult<()> {
        if ends_block(prepared.inner.body.as_deref()) { Ok(()) } else { self.check_not_failed() }
    }

    fn check_startable(&self, statement: &PreparedStatement) -> PgResult<()> {
        if statement.body.is_none() || ends_block(statement.body.as_deref()) { Ok(()) } else { self.check_not_failed() }
    }

    /// Keeps a prepared statement under a name; the empty name is replaced without complaint.
    ///
    /// # Errors
    /// 42P05 if the name is taken.
    pub fn store_prepared(&mut self, name: &str, prepared: Prepared, from_sql: bool) -> PgResult<()> {
        prepared.inner.described.store(true, Ordering::Relaxed);
        if name.is_empty() {
            self.unnamed = Some(prepared);
            return Ok(());
        }
        if self.prepared.contains_key(name) {
            return Err(PgError::new(SqlState::DUPLICATE_PREPARED_STATEMENT, format!("prepared statement \"{name}\" already exists")));
        }
        self.shared.prepared.lock().push(stoa_exec::environment::session::PreparedInfo {
            name: name.to_owned(),
            statement: if from_sql { prepared.inner.text.clone() } else { prepared.inner.shown_text() },
            prepare_time_us: self.statement_us,
            parameter_types: prepared.inner.bound.lock().as_ref().map(|b| b.params.to_vec()).unwrap_or_default(),
            from_sql,
        });
        self.prepared.insert(name.to_owned(), prepared);
        Ok(())
    }

    /// The prepared statement with this name.
    ///
    /// # Errors
    /// 26000.
    pub fn prepared(&self, name: &str) -> PgResult<&Prepared> {
        let found = if name.is_empty() { self.unnamed.as_ref() } else { self.prepared.get(name) };
        found.ok_or_else(|| {
            let text = if name.is_empty() {
                "unnamed prepared statement does not exist".to_owned()
            } else {
                format!("prepared statement \"{name}\" does not exist")
            };
            PgError::new(SqlState::INVALID_SQL_STATEMENT_NAME, text)
        })
    }

    /// Forgets a prepared statement; whether there was one.
    pub fn close_prepared(&mut self, name: &str) -> bool {
        if name.is_empty() {
            return self.unnamed.take().is_some();
        }
        self.shared.prepared.lock().retain(|p| p.name != name);
        self.prepared.shift_remove(name).is_some()
    }

    pub(crate) fn close_all_prepared(&mut self) {
        self.prepared.clear();
        self.shared.prepared.lock().clear();
    }

    /// The types of parameters and columns.
    ///
    /// # Errors
    /// What binding raises; 0A000 when the statement's columns are no longer those that were described.
    pub fn describe(&mut self, prepared: &Prepared) -> PgResult<Description> {
        let statement = &prepared.inner;
        if statement.bindable().is_some() {
            let bound = self.bound(statement)?;
            let columns = match statement.body.as_deref() {
                Some(Body::Sql(_)) => bound.columns.clone(),
                Some(Body::Utility(utility)) => self.utility_columns(utility)?,
                None => None,
            };
            return Ok(Description { params: bound.params.clone(), columns });
        }
        let columns = match statement.body.as_deref() {
            Some(Body::Utility(utility)) => self.utility_columns(utility)?,
            _ => None,
        };
        // Declared parameters of statements that have none are described as declared.
        let params: Arc<[SqlType]> = if statement.declared.is_empty() {
            Arc::from([])
        } else {
            statement.declared.iter().map(|ty| SqlType::new(ty.clone().unwrap_or(PgType::Text))).collect()
        };
        Ok(Description { params, columns })
    }

    fn utility_columns(&mut self, utility: &Utility) -> PgResult<Option<Arc<[OutputColumn]>>> {
        Ok(match utility {
            Utility::Show(None) => Some(super::show::all_columns()),
            Utility::Show(Some(name)) => {
                let name = SETTINGS.iter().find(|s| s.name.eq_ignore_ascii_case(name)).map_or(name.as_str(), |s| s.name);
                Some(Arc::from([text_column(name)]))
            }
            Utility::Check { .. } => Some(super::check::columns()),
            Utility::Explain(explain) => Some(super::explain::columns(&explain.options)?),
            // One that is not there is an error of the execution.
            Utility::Fetch { name, move_only: false, .. } => self.cursor_columns(name).ok(),
            Utility::Execute { name, .. } => {
                let Ok(prepared) = self.prepared(name).cloned() else { return Ok(None) };
                if matches!(prepared.inner.body.as_deref(), Some(Body::Sql(_))) && prepared.inner.bindable().is_some() {
                    self.bound(&prepared.inner)?.columns.clone()
                } else {
                    None
                }
            }
            _ => None,
        })
    }

    /// The typed tree of a statement, bound against what holds now.
    pub(crate) fn bound(&mut self, statement: &PreparedStatement) -> PgResult<Arc<BoundStatement>> {
        let Some(mut syntax) = statement.bindable() else { return Err(PgError::internal("a statement that is not bound")) };
        let system = self.environment()?;
        let (catalog, search_path) = (&system.catalog, &system.search_path);
        let settings = self.shared.settings();
        let mut old = statement.bound.lock().clone();
        if let Some(old) = &old
            && old.holds(&system, &settings.value)
        {
            return Ok(old.clone());
        }
        let anew;
        if statement.recalled {
            // Without parameters: the types of its literals follow from what holds now.
            anew = self.parse(&statement.text)?;
            old = None;
            syntax = match anew.first().map(|piece| &piece.body) {
                Some(Body::Sql(sql)) => sql,
                _ => return Err(PgError::internal("a text that was a statement")),
            };
        }
        let eval = self.eval_context(Arc::clone(&system));
        // Bound again, parameters keep the types that were described.
        let kept: Vec<Option<PgType>>;
        let param_types = match &old {
            Some(old) => {
                kept = old.params.iter().map(|ty| Some(ty.ty.clone())).collect();
                &kept
            }
            None => &statement.declared,
        };
        let context = stoa_sql::bind::BindContext { catalog, search_path, eval: &eval, param_types, text: &statement.text };
        let read_with = old.as_ref().map(|old| Arc::clone(&old.read_with));
        let bound = stoa_sql::bind::bind_again(&context, syntax, read_with.clone())?;
        let columns = output_columns(&bound);
        // Of DECLARE, CREATE TABLE AS and EXPLAIN no columns of the query were described.
        if let (Some(old), Some(Body::Sql(_))) = (&old, statement.body.as_deref())
            && statement.described.load(Ordering::Relaxed)
        {
            let described = |c: &Option<Arc<[OutputColumn]>>| {
                c.as_ref().map(|c| c.iter().map(|c| (c.name.clone(), c.ty.ty.clone(), c.ty.typmod)).collect::<Vec<_>>())
            };
            if described(&old.columns) != described(&columns) {
                return Err(PgError::unsupported("cached plan must not change result type"));
            }
        }
        let params = bound.params.clone().into();
        let locks = table_locks(&bound);
        let out = Arc::new(BoundStatement {
            bound,
            columns,
            params,
            locks,
            plan: crate::plan::PlanCache::default(),
            catalog: Arc::clone(catalog),
            search_path: Arc::clone(search_path),
            values: settings.value.clone(),
            read_with: read_with.unwrap_or_else(|| settings.value.clone()),
            allowed: AtomicU32::new(0),
        });
        *statement.bound.lock() = Some(out.clone());
        Ok(out)
    }
}

/// The columns that a typed tree gives to clients.
pub(crate) fn output_columns(bound: &Bound) -> Option<Arc<[OutputColumn]>> {
    let column = |o: &stoa_sql::typed::tree::Output| OutputColumn {
        name: o.name.clone(),
        ty: o.ty.clone(),
        table_oid: o.origin.map_or(0, |(table, _)| table),
        attnum: o.origin.map_or(0, |(_, column)| i16::try_from(column.cast_signed()).unwrap_or(0)),
    };
    match &bound.body {
        BoundBody::Query(query) => Some(query.outputs.iter().map(column).collect()),
        BoundBody::Mutation(mutation) => mutation.returning.as_ref().map(|r| r.iter().map(|(o, _)| column(o)).collect()),
    }
}

/// A column of type text.
pub(crate) fn text_column(name: &str) -> OutputColumn {
    OutputColumn { name: name.to_owned(), ty: SqlType::new(PgType::Text), table_oid: 0, attnum: 0 }
}

/// Whether a statement may run in a failed block.
pub(crate) fn ends_block(body: Option<&Body>) -> bool {
    matches!(body, Some(Body::Utility(utility)) if matches!(
        **utility,
        Utility::Commit { .. } | Utility::Rollback { .. } | Utility::RollbackTo(_) | Utility::PrepareTransaction(_)
    ))
}

pub(crate) fn syntax_error(error: stoa_syntax::SyntaxError) -> PgError {
    let mut out = PgError::new(SqlState(error.code), error.message).at(error.position);
    if let Some(detail) = error.detail {
        out = out.detail(detail);
    }
    match error.hint {
        Some(hint) => out.hint(hint),
        None => out,
    }
}

//! One statement: queries to the planner, DDL to its executor, everything about the session done here.

use super::api::{Execution, Rows, RowsTag};
use super::prepared::{BoundStatement, PreparedStatement, is_bindable, output_columns};
use super::session_impl::Session;
use super::{explain, show};
use crate::plan::Executed;
use datafusion::common::ScalarValue;
use futures::StreamExt;
use std::sync::Arc;
use stoa_exec::environment::guard::GuardedRows;
use stoa_exec::environment::session::SequenceValues;
use stoa_exec::settings::{self, isolation_of, value};
use stoa_pg::types::{PgType, SqlType};
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::bind::scope::Clause;
use stoa_sql::typed::tree::{Bound, BoundBody, ColId, CteBody, Expr, MutationKind, Output, Query, Rel};
use stoa_syntax::database::DatabaseStatement;
use stoa_syntax::ddl::{CreateTableAs, Ddl, RowSource};
use stoa_syntax::utility::{DiscardTarget, Isolation, SetValue, TableLockMode, TransactionModes, Utility};
use stoa_syntax::{Body, ast};
use stoa_table::services::notifications::ListenChange;
use stoa_table::txn::is_definition_retry;

impl Session {
    pub(crate) async fn dispatch(
        &mut self,
        statement: &Arc<PreparedStatement>,
        body: &Body,
        params: Vec<ScalarValue>,
    ) -> PgResult<Execution> {
        if !is_brief(body) {
            self.shared.before_blocking().await;
            self.shared.admit().await;
        }
        match body {
            Body::Sql(sql) if is_bindable(sql) => {
                let bound = self.bound_and_allowed(statement).await?;
                let params = if statement.recalled && bound.params.is_empty() { Vec::new() } else { params };
                self.run_bound(&bound, params.into(), statement.text.clone()).await
            }
            // Boxed, so that the future of queries stays small.
            Body::Sql(sql) => match &**sql {
                ast::Statement::Query(query) => Box::pin(self.run_ddl(DdlStatement::Into(query), statement, params)).await,
                _ => Err(PgError::unsupported(format!("{} is not supported", ddl_word(&statement.statement_text)))),
            },
            Body::Utility(utility) if matches!(**utility, Utility::Ddl(_)) => match &**utility {
                Utility::Ddl(ddl) => Box::pin(self.run_ddl(DdlStatement::Other(ddl), statement, params)).await,
                _ => Err(PgError::internal("a definition that is none")),
            },
            Body::Utility(utility) => {
                self.check_utility(utility)?;
                // Two boxes: that of the rare ones takes pages, and would be copied for each transaction.
                match Box::pin(self.run_transaction_command(utility, statement)).await? {
                    Some(done) => Ok(done),
                    None => Box::pin(self.run_utility(utility, statement, params)).await,
                }
            }
        }
    }

    /// A statement that needs a snapshot begins: a new one under READ COMMITTED.
    pub(crate) async fn start_query(&mut self) -> PgResult<()> {
        let txn = self.transaction()?;
        self.refresh_transaction_settings();
        let modes = self.modes();
        if modes.deferrable && modes.read_only && modes.isolation == Isolation::Serializable {
            txn.wait_for_safe_snapshot().await;
        }
        txn.start_statement().await?;
        self.block.queried = true;
        Ok(())
    }

    pub(crate) async fn run_bound(
        &mut self,
        statement: &BoundStatement,
        params: Arc<[ScalarValue]>,
        text: Arc<str>,
    ) -> PgResult<Execution> {
        check_params(statement, &params)?;
        if let Some(command) = writes(&statement.bound)
            && !writes_temporary_only(&statement.bound)
        {
            self.check_writable(command)?;
        }
        let context = self.statement_context(text, params)?;
        statement.bound.warnings.iter().for_each(|w| self.shared.warning(SqlState::WARNING, w.as_str()));
        if statement.bound.loads {
            context.txn.load_at_commit();
        }
        let executed = crate::plan::execute_cached(&context, &statement.bound, &statement.plan).await?;
        Ok(self.rows_or_done(&statement.bound, statement.columns.clone(), executed, context.eval))
    }

    fn rows_or_done(
        &self,
        bound: &Bound,
        columns: Option<Arc<[super::OutputColumn]>>,
        executed: Executed,
        context: stoa_pg::EvalContext,
    ) -> Execution {
        let word = tag_word(bound);
        match columns {
            Some(columns) => Execution::Rows(Rows {
                columns,
                context,
                stream: GuardedRows::new(executed.stream, self.shared.clone()).boxed(),
                tag: RowsTag::Counted(word),
                is_binary: false,
            }),
            None => Execution::Done(format!("{word} {}", executed.count)),
        }
    }

    async fn run_ddl(&mut self, ddl: DdlStatement<'_>, statement: &PreparedStatement, params: Vec<ScalarValue>) -> PgResult<Execution> {
        if let DdlStatement::Other(ddl) = ddl
            && let Some(words) = outside_of_blocks(ddl)
        {
            self.check_not_in_block(words)?;
        }
        self.start_query().await?;
        self.check_writable(&ddl_word(&statement.statement_text))?;
        if let DdlStatement::Other(Ddl::CreateTableAs(create)) = ddl
            && !create.materialized_view
        {
            return self.create_table_as(create, statement, params).await;
        }
        let params: Arc<[ScalarValue]> = params.into();
        loop {
            let context = self.statement_context(statement.text.clone(), params.clone())?;
            context.txn.begin_definition();
            let done = match &ddl {
                DdlStatement::Into(query) => crate::ddl::select_into(&context, query).await,
                DdlStatement::Other(ddl) => crate::ddl::execute(&context, ddl).await,
            };
            match done {
                Err(error) if is_definition_retry(&error) => self.start_query().await?,
                done => return done.map(Execution::Done),
            }
        }
    }

    /// LOCK TABLE. It takes no snapshot: the first query behind it sees what was committed before the locks were there, and the
    /// modes of the transaction may still be set.
    async fn lock_statement(
        &mut self,
        statement: &PreparedStatement,
        tables: &[ast::ObjectName],
        mode: TableLockMode,
        nowait: bool,
    ) -> PgResult<()> {
        self.check_shares_transaction("LOCK TABLE")?;
        let txn = self.transaction()?;
        self.refresh_transaction_settings();
        loop {
            let context = self.statement_context(statement.text.clone(), Arc::from([]))?;
            txn.begin_definition();
            match crate::ddl::lock_tables(&context, tables, mode, nowait).await {
                Err(error) if is_definition_retry(&error) => {}
                done => return done,
            }
        }
    }

    async fn create_table_as(
        &mut self,
        create: &CreateTableAs,
        statement: &PreparedStatement,
        params: Vec<ScalarValue>,
    ) -> PgResult<Execution> {
        let target;
        let (query, params) = match &create.rows {
            RowSource::Query(_) => (statement, params),
            RowSource::Execute { name, args } => {
                let (prepared, values) = self.execute_arguments(name, args, statement).await?;
                target = prepared;
                (&*target, values)
            }
        };
        let bound = self.bound_and_allowed(query).await?;
        if !matches!(bound.bound.body, BoundBody::Query(_)) {
            return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, "prepared statement is not a SELECT"));
        }
        check_params(&bound, &params)?;
        let context = self.statement_context(query.text.clone(), params.into())?;
        let tag = crate::ddl::create_table_as(&context, create, bound.bound.clone()).await?;
        Ok(Execution::Done(tag))
    }

    /// A statement that begins or ends a transaction or a part of one; `None` for any other.
    async fn run_transaction_command(&mut self, utility: &Utility, statement: &PreparedStatement) -> PgResult<Option<Execution>> {
        let tag = match utility {
            Utility::Begin(modes) => {
                let tag = self.begin(*modes)?;
                match statement.statement_text.get(..5).is_some_and(|w| w.eq_ignore_ascii_case("start")) {
                    true => "START TRANSACTION".to_owned(),
                    false => tag,
                }
            }
            Utility::Commit { chain } => self.commit(*chain).await?,
            Utility::Rollback { chain } => self.rollback(*chain).await?,
            Utility::Savepoint(name) => self.savepoint(name.clone())?,
            Utility::Release(name) => self.release(name)?,
            Utility::RollbackTo(name) => self.rollback_to(name).await?,
            _ => return Ok(None),
        };
        Ok(Some(Execution::Done(tag)))
    }

    async fn run_utility(
        &mut self,
        utility: &Utility,
        statement: &Arc<PreparedStatement>,
        params: Vec<ScalarValue>,
    ) -> PgResult<Execution> {
        let done = |tag: &str| Ok(Execution::Done(tag.to_owned()));
        match utility {
            Utility::PrepareTransaction(_) if !self.block.explicit || self.block.failed => Ok(Execution::Done(self.rollback(false).await?)),
            Utility::PrepareTransaction(_) => {
                self.abort_block().await;
                Err(two_phase())
            }
            Utility::FinishPrepared { gid, .. } => {
                self.check_not_in_block(&ddl_word(&statement.statement_text))?;
                Err(PgError::new(SqlState::UNDEFINED_OBJECT, format!("prepared transaction with identifier \"{gid}\" does not exist")))
            }
            Utility::Set { name, value, local } => {
                self.set(name, value, *local)?;
                done("SET")
            }
            Utility::SetTransaction { modes, snapshot, characteristics } => {
                self.set_transaction_statement(*modes, snapshot.as_deref(), *characteristics)?;
                done("SET")
            }
            Utility::SetConstraints { names, deferred } => {
                if !self.block.explicit {
                    self.shared.warning(SqlState::NO_ACTIVE_SQL_TRANSACTION, "SET CONSTRAINTS can only be used in transaction blocks");
                }
                let context = self.statement_context(statement.text.clone(), Arc::from([]))?;
                crate::ddl::set_constraints(&context, names.as_deref(), *deferred).await?;
                done("SET CONSTRAINTS")
            }
            Utility::SetRole { role, local } => {
                self.set_role(role.as_deref(), *local)?;
                done(set_or_reset(statement))
            }
            Utility::SetSessionAuthorization { user, local } => {
                self.set_session_authorization(user.as_deref(), *local)?;
                done(set_or_reset(statement))
            }
            Utility::Reset(name) => {
                self.reset(name.as_deref())?;
                done("RESET")
            }
            Utility::Show(name) => Ok(Execution::Rows(match name {
                Some(name) => show::one(&self.shared, self.seen_catalog().authority(), name, self.value_context())?,
                None => show::all(&self.shared, self.seen_catalog().authority(), self.value_context())?,
            })),
            Utility::Discard(target) => self.discard(*target).await,
            Utility::Declare(declare) => self.declare(declare, statement, params).await,
            Utility::Fetch { name, direction, move_only } => self.fetch(name, *direction, *move_only).await,
            Utility::Close(None) => {
                self.close_all_cursors();
                done("CLOSE CURSOR ALL")
            }
            Utility::Close(Some(name)) => {
                self.close_cursor(name)?;
                done("CLOSE CURSOR")
            }
            Utility::Prepare { name, types, statement: inner, .. } => {
                self.sql_prepare(name, types, inner, statement).await?;
                done("PREPARE")
            }
            Utility::Execute { name, args } => {
                let (target, values) = self.execute_arguments(name, args, statement).await?;
                let bound = self.bound_and_allowed(&target).await?;
                self.run_bound(&bound, values.into(), target.text.clone()).await
            }
            Utility::Deallocate(None) => {
                self.close_all_prepared();
                done("DEALLOCATE ALL")
            }
            Utility::Deallocate(Some(name)) => {
                self.prepared(name)?;
                self.close_prepared(name);
                done("DEALLOCATE")
            }
            Utility::Copy(copy) => self.copy(copy, statement).await,
            Utility::Explain(explain) => self.explain(explain, statement, params).await,
            Utility::Listen(channel) => {
                self.listen(ListenChange::Listen(channel.clone()));
                done("LISTEN")
            }
            Utility::Unlisten(channel) => {
                self.listen(channel.clone().map_or(ListenChange::UnlistenAll, ListenChange::Unlisten));
                done("UNLISTEN")
            }
            Utility::Notify { channel, payload } => {
                self.shared.outgoing.lock().notify(channel, payload)?;
                done("NOTIFY")
            }
            Utility::Lock { tables, mode, nowait } => {
                self.lock_statement(statement, tables, *mode, *nowait).await?;
                done("LOCK TABLE")
            }
            Utility::Vacuum { options, targets } => {
                self.check_not_in_block("VACUUM")?;
                let context = self.statement_context(statement.text.clone(), Arc::from([]))?;
                crate::ddl::vacuum(&context, options, targets, super::background::background_sweep).await?;
                done("VACUUM")
            }
            Utility::Analyze { options, targets } => {
                self.start_query().await?;
                let context = self.statement_context(statement.text.clone(), Arc::from([]))?;
                crate::ddl::analyze(&context, options, targets).await?;
                done("ANALYZE")
            }
            Utility::Check { table, name, condition, repair } => {
                self.start_query().await?;
                if *repair {
                    self.check_writable("CHECK")?;
                }
                let context = self.statement_context(statement.text.clone(), Arc::from([]))?;
                Ok(Execution::Rows(Box::pin(super::check::run(&context, *table, name, condition.as_deref(), *repair)).await?))
            }
            Utility::Checkpoint => {
                let context = self.statement_context(statement.text.clone(), Arc::from([]))?;
                crate::ddl::checkpoint(&context).await?;
                done("CHECKPOINT")
            }
            Utility::Do { language, code } => {
                self.run_block(language.as_deref(), code).await?;
                done("DO")
            }
            Utility::Begin(_)
            | Utility::Commit { .. }
            | Utility::Rollback { .. }
            | Utility::Savepoint(_)
            | Utility::Release(_)
            | Utility::RollbackTo(_)
            | Utility::Ddl(_) => Err(PgError::internal("a statement that is run elsewhere")),
            Utility::Call(call) => Err(self.undefined_procedure(call, statement)),
        }
    }

    /// There are no procedures: 42883 with the types of the arguments, 42809 for functions.
    fn undefined_procedure(&mut self, call: &ast::Expr, outer: &PreparedStatement) -> PgError {
        let ast::Expr::Function(function) = call else {
            return PgError::new(SqlState::SYNTAX_ERROR, "CALL takes a procedure and its arguments");
        };
        let types = match &function.args {
            ast::FunctionArguments::List(list) if !list.args.is_empty() => {
                let args: Vec<String> = list.args.iter().map(stoa_syntax::print::sql).collect();
                let query = stoa_syntax::parse(&format!("SELECT {}", args.join(", ")));
                let bound = query.map_err(super::prepared::syntax_error).and_then(|mut parsed| match parsed.pop() {
                    Some(parsed) => self.prepare_query(&parsed.statement, outer),
                    None => Err(PgError::internal("arguments of a procedure")),
                });
                match bound.and_then(|prepared| self.bound(&prepared)) {
                    Ok(bound) => columns_of(&bound.bound).iter().map(|c| c.ty.ty.to_string()).collect::<Vec<_>>().join(", "),
                    Err(mut error) => {
                        error.fields_mut().position = None;
                        return error;
                    }
                }
            }
            _ => String::new(),
        };
        let query = stoa_syntax::parse(&format!("SELECT {}", stoa_syntax::print::sql(call))).ok().and_then(|mut parsed| parsed.pop());
        if query.is_some_and(|parsed| self.prepare_query(&parsed.statement, outer).is_ok()) {
            return PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("{}({types}) is not a procedure", function.name))
                .hint("To call a function, use SELECT.");
        }
        PgError::new(SqlState::UNDEFINED_FUNCTION, format!("procedure {}({types}) does not exist", function.name))
            .hint("No procedure matches the given name and argument types. You might need to add explicit type casts.")
    }

    // Settings.

    fn set(&mut self, name: &str, new: &SetValue, local: bool) -> PgResult<()> {
        let text = value::text_of(name, new)?;
        if local && !self.block.explicit {
            self.shared.warning(SqlState::NO_ACTIVE_SQL_TRANSACTION, "SET LOCAL can only be used in transaction blocks");
        }
        self.set_text(&name.to_ascii_lowercase(), name, text.as_deref(), local)
    }

    fn set_text(&mut self, lower: &str, name: &str, text: Option<&str>, local: bool) -> PgResult<()> {
        match lower {
            "transaction_isolation" | "transaction_read_only" | "transaction_deferrable" => {
                let Some(setting) = settings::find(lower) else { return Err(settings::unrecognized(name)) };
                let modes = match text {
                    None => TransactionModes::default(),
                    Some(text) => {
                        let raw = value::canonical(setting, name, text)?;
                        match lower {
                            "transaction_isolation" => {
                                TransactionModes { isolation: Some(isolation_of(&raw)), ..TransactionModes::default() }
                            }
                            "transaction_read_only" => TransactionModes { read_only: Some(raw == "on"), ..TransactionModes::default() },
                            _ => TransactionModes { deferrable: Some(raw == "on"), ..TransactionModes::default() },
                        }
                    }
                };
                self.set_transaction(modes)
            }
            "role" => self.set_role(text, local),
            "session_authorization" => self.set_session_authorization(text, local),
            _ => {
                settings::levels::check_allowed(name, self.is_superuser())?;
                self.shared.change_settings(|levels| levels.set(name, text, local))
            }
        }
    }

    fn set_transaction_statement(&mut self, modes: TransactionModes, snapshot: Option<&str>, characteristics: bool) -> PgResult<()> {
        if characteristics {
            let change = |name: &str, value: &str| self.shared.change_settings(|levels| levels.set(name, Some(value), false));
            let on_off = |value: bool| if value { "on" } else { "off" };
            if let Some(isolation) = modes.isolation {
                change("default_transaction_isolation", settings::isolation_name(isolation))?;
            }
            if let Some(read_only) = modes.read_only {
                change("default_transaction_read_only", on_off(read_only))?;
            }
            if let Some(deferrable) = modes.deferrable {
                change("default_transaction_deferrable", on_off(deferrable))?;
            }
            return Ok(());
        }
        if !self.block.explicit {
            self.shared.warning(SqlState::NO_ACTIVE_SQL_TRANSACTION, "SET TRANSACTION can only be used in transaction blocks");
        }
        if let Some(id) = snapshot {
            if self.block.queried || self.block.depth() > 0 {
                return Err(PgError::new(SqlState::ACTIVE_SQL_TRANSACTION, "SET TRANSACTION SNAPSHOT must be called before any query"));
            }
            return self.transaction()?.borrow_snapshot(id);
        }
        self.set_transaction(modes)
    }

    fn reset(&mut self, name: Option<&str>) -> PgResult<()> {
        let Some(name) = name else {
            self.shared.change_settings(settings::Levels::reset_all);
            return Ok(());
        };
        let own = settings::find(name).is_none();
        let known = self.shared.settings().raw(&name.to_ascii_lowercase()).is_some();
        if own && !known && !value::is_custom_name(name) {
            return Err(settings::unrecognized(name));
        }
        // One of the session's own stays known, and is empty.
        let text = if own && known { Some("") } else { None };
        self.set_text(&name.to_ascii_lowercase(), name, text, false)
    }

    async fn discard(&mut self, target: DiscardTarget) -> PgResult<Execution> {
        let tag = match target {
            DiscardTarget::Plans => "DISCARD PLANS",
            DiscardTarget::Sequences => {
                *self.shared.sequences.lock() = SequenceValues::default();
                "DISCARD SEQUENCES"
            }
            DiscardTarget::Temp => {
                self.discard_temporary().await?;
                "DISCARD TEMP"
            }
            DiscardTarget::All => {
                self.check_not_in_block("DISCARD ALL")?;
                self.close_all_cursors();
                self.set_session_authorization(None, false)?;
                self.shared.change_settings(settings::Levels::reset_all);
                self.close_all_prepared();
                self.listen(ListenChange::UnlistenAll);
                *self.shared.sequences.lock() = SequenceValues::default();
                let txn = self.transaction()?;
                txn.release_session_locks();
                self.discard_temporary().await?;
                "DISCARD ALL"
            }
        };
        Ok(Execution::Done(tag.to_owned()))
    }

    async fn discard_temporary(&mut self) -> PgResult<()> {
        if self.shared.temporary_schema().is_some() {
            let context = self.statement_context("DISCARD TEMP".into(), Arc::from([]))?;
            crate::ddl::drop_temporary(&context).await?;
        }
        Ok(())
    }

    fn listen(&mut self, change: ListenChange) {
        self.shared.outgoing.lock().changes.push(change);
    }

    // Prepared statements of SQL.

    async fn sql_prepare(
        &mut self,
        name: &str,
        types: &[ast::DataType],
        inner: &ast::Statement,
        outer: &PreparedStatement,
    ) -> PgResult<()> {
        if !is_bindable(inner) {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, format!("syntax error at or near \"{}\"", first_word(&inner.to_string())))
                .detail("PREPARE takes SELECT, INSERT, UPDATE, DELETE, MERGE and VALUES."));
        }
        if self.prepared(name).is_ok() {
            return Err(PgError::new(SqlState::DUPLICATE_PREPARED_STATEMENT, format!("prepared statement \"{name}\" already exists")));
        }
        let mut declared = Vec::with_capacity(types.len());
        for ty in types {
            declared.push(Some(stoa_sql::bind::type_name::sql_type(ty)?.ty));
        }
        let piece = stoa_syntax::Piece { body: Body::Sql(Box::new(inner.clone())), text: outer.statement_text.to_string(), offset: 0 };
        self.start_query().await?;
        let prepared = self.prepare(Some(piece), outer.text.clone(), declared)?;
        self.bound_and_locked(&prepared.inner).await?;
        self.store_prepared(name, prepared, true)
    }

    /// The statement that EXECUTE names, and its arguments' values.
    pub(crate) async fn execute_arguments(
        &mut self,
        name: &str,
        args: &[ast::Expr],
        outer: &PreparedStatement,
    ) -> PgResult<(Arc<PreparedStatement>, Vec<ScalarValue>)> {
        let target = self.prepared(name)?.inner.clone();
        if !matches!(target.body.as_deref(), Some(Body::Sql(sql)) if is_bindable(sql)) {
            return Err(PgError::unsupported("EXECUTE of a statement that is no query and no change of data"));
        }
        let params = self.bound(&target)?.params.clone();
        // As in PostgreSQL, a statement without parameters does not look at them.
        if params.is_empty() {
            return Ok((target, Vec::new()));
        }
        if params.len() != args.len() {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, format!("wrong number of parameters for prepared statement \"{name}\""))
                .detail(format!("Expected {} parameters but got {}.", params.len(), args.len())));
        }
        self.start_query().await?;
        let context = self.statement_context(outer.text.clone(), Arc::from([]))?;
        let mut exprs = Vec::with_capacity(args.len());
        for (number, (arg, ty)) in args.iter().zip(params.iter()).enumerate() {
            let bind = stoa_sql::bind::BindContext {
                catalog: &context.catalog,
                search_path: &context.search_path,
                eval: &context.eval,
                param_types: &[],
                text: &outer.text,
            };
            let expr = stoa_sql::bind::bind_constant_expr(&bind, Clause::ExecuteArgument, arg, ty, &format!("${}", number + 1))
                .map_err(|e| argument_error(e, number + 1, ty))?;
            exprs.push(expr);
        }
        let values = evaluate(&context, exprs).await?;
        Ok((target, values))
    }

    async fn explain(
        &mut self,
        explain: &stoa_syntax::utility::Explain,
        outer: &Arc<PreparedStatement>,
        params: Vec<ScalarValue>,
    ) -> PgResult<Execution> {
        let options = explain::options(&explain.options)?;
        let (bound, params, text) = match &*explain.body {
            Body::Sql(sql) if is_bindable(sql) => (self.bound_and_allowed(outer).await?, params, outer.text.clone()),
            Body::Utility(utility) => match &**utility {
                Utility::Execute { name, args } => {
                    let target = self.prepared(name)?.inner.clone();
                    // EXPLAIN of a statement without its arguments shows the plan for any.
                    let (target, mut values) = if args.is_empty() && !options.analyze {
                        (target, Vec::new())
                    } else {
                        self.execute_arguments(name, args, outer).await?
                    };
                    let bound = self.bound_and_allowed(&target).await?;
                    if !options.analyze && self.shared.settings().raw("plan_cache_mode") == Some("force_generic_plan") {
                        values.clear();
                    }
                    (bound, values, target.text.clone())
                }
                Utility::Declare(_) => {
                    let Utility::Declare(declare) = &**utility else { return Err(PgError::internal("DECLARE")) };
                    let prepared = self.prepare_query(&declare.query, outer)?;
                    (self.bound_and_allowed(&prepared).await?, params, outer.text.clone())
                }
                Utility::Ddl(ddl) => {
                    let query = match &**ddl {
                        Ddl::CreateTableAs(CreateTableAs { rows: RowSource::Query(query), .. }) if !options.analyze => query,
                        Ddl::CreateTableAs(_) => {
                            return Err(PgError::unsupported("EXPLAIN ANALYZE of CREATE TABLE AS is not supported")
                                .hint("Use EXPLAIN ANALYZE of its query."));
                        }
                        _ => return Err(PgError::unsupported("EXPLAIN of this statement is not supported")),
                    };
                    let prepared = self.prepare_query(query, outer)?;
                    (self.bound_and_allowed(&prepared).await?, params, outer.text.clone())
                }
                _ => return Err(PgError::unsupported("EXPLAIN of this statement is not supported")),
            },
            Body::Sql(_) => {
                return Err(PgError::unsupported("EXPLAIN of this statement is not supported")
                    .hint("EXPLAIN takes SELECT, INSERT, UPDATE, DELETE, MERGE, VALUES and EXECUTE."));
            }
        };
        if options.analyze
            && let Some(command) = writes(&bound.bound)
        {
            self.check_writable(command)?;
        }
        let context = self.statement_context(text, params.into())?;
        bound.bound.warnings.iter().for_each(|w| self.shared.warning(SqlState::WARNING, w.as_str()));
        let lines = crate::plan::explain(&context, &bound.bound, &options).await?;
        Ok(Execution::Rows(explain::rows(&explain.options, lines, context.eval)?))
    }

    /// A query inside of another statement, as a statement of its own.
    pub(crate) fn prepare_query(&mut self, query: &ast::Statement, outer: &PreparedStatement) -> PgResult<Arc<PreparedStatement>> {
        let piece = stoa_syntax::Piece { body: Body::Sql(Box::new(query.clone())), text: outer.statement_text.to_string(), offset: 0 };
        Ok(self.prepare(Some(piece), outer.text.clone(), outer.declared.clone())?.inner)
    }
}

/// The values of expressions without columns.
pub(crate) async fn evaluate(context: &stoa_exec::nodes::StatementContext, exprs: Vec<Expr>) -> PgResult<Vec<ScalarValue>> {
    // Ids far from those of the statement, and from those that planning adds (from 0x4000_0000).
    const FIRST: u32 = 0x6000_0000;
    let mut outputs = Vec::with_capacity(exprs.len());
    let mut columns = Vec::with_capacity(exprs.len());
    for (number, expr) in (FIRST..).zip(exprs) {
        outputs.push(Output { name: format!("${}", number - FIRST + 1), col: ColId(number), ty: expr.ty.clone(), origin: None });
        columns.push((ColId(number), expr));
    }
    let bound = Bound::new(BoundBody::Query(Query { rel: Rel::Project { input: Box::new(Rel::One), exprs: columns }, outputs }));
    let mut stream = crate::plan::execute(context, &bound).await?.stream;
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        if batch.num_rows() > 0 {
            return batch
                .columns()
                .iter()
                .map(|c| ScalarValue::try_from_array(c, 0).map_err(|e| PgError::internal(e.to_string())))
                .collect();
        }
    }
    Err(PgError::internal("a row of constants gave no row"))
}

/// The command that writes, if one does.
pub(crate) fn writes(bound: &Bound) -> Option<&'static str> {
    if let BoundBody::Mutation(mutation) = &bound.body {
        return Some(mutation_word(&mutation.kind));
    }
    bound.ctes.iter().find_map(|cte| match &cte.body {
        CteBody::Mutation(mutation) => Some(mutation_word(&mutation.kind)),
        CteBody::Query(_) => None,
    })
}

/// Temporary tables may be written in read-only transactions.
fn writes_temporary_only(bound: &Bound) -> bool {
    let body = match &bound.body {
        BoundBody::Mutation(mutation) => mutation.table.0.temporary,
        BoundBody::Query(_) => true,
    };
    body && bound.ctes.iter().all(|cte| match &cte.body {
        CteBody::Mutation(mutation) => mutation.table.0.temporary,
        CteBody::Query(_) => true,
    })
}

fn mutation_word(kind: &MutationKind) -> &'static str {
    match kind {
        MutationKind::Insert { .. } => "INSERT",
        MutationKind::Update { .. } => "UPDATE",
        MutationKind::Delete { .. } => "DELETE",
        MutationKind::Merge { .. } => "MERGE",
    }
}

/// The command tag in front of the count.
fn tag_word(bound: &Bound) -> &'static str {
    match &bound.body {
        BoundBody::Query(_) => "SELECT",
        BoundBody::Mutation(mutation) => match mutation_word(&mutation.kind) {
            "INSERT" => "INSERT 0",
            word => word,
        },
    }
}

/// As many values as parameters.
fn check_params(statement: &BoundStatement, params: &[ScalarValue]) -> PgResult<()> {
    if params.is_empty() && !statement.params.is_empty() {
        return Err(PgError::new(SqlState::UNDEFINED_PARAMETER, "there is no parameter $1"));
    }
    if params.len() != statement.params.len() {
        return Err(PgError::new(
            SqlState::PROTOCOL_VIOLATION,
            format!("bind message supplies {} parameters, but prepared statement requires {}", params.len(), statement.params.len()),
        ));
    }
    Ok(())
}

enum DdlStatement<'a> {
    /// `SELECT … INTO`.
    Into(&'a ast::Query),
    Other(&'a stoa_syntax::ddl::Ddl),
}

/// Whether a statement takes little, or tells by itself when what follows takes long.
fn is_brief(body: &Body) -> bool {
    match body {
        Body::Sql(sql) => is_bindable(sql),
        Body::Utility(utility) => matches!(
            **utility,
            Utility::Begin(_)
                | Utility::Commit { .. }
                | Utility::Rollback { .. }
                | Utility::Savepoint(_)
                | Utility::Release(_)
                | Utility::RollbackTo(_)
                | Utility::Set { .. }
                | Utility::SetTransaction { .. }
                | Utility::Reset(_)
                | Utility::Show(Some(_))
                | Utility::Execute { .. }
        ),
    }
}

/// What PostgreSQL runs in transactions of its own.
fn outside_of_blocks(ddl: &Ddl) -> Option<&'static str> {
    match ddl {
        Ddl::CreateIndex(create) if create.concurrently => Some("CREATE INDEX CONCURRENTLY"),
        Ddl::Drop { concurrently: true, .. } => Some("DROP INDEX CONCURRENTLY"),
        Ddl::Reindex { concurrently: true, .. } => Some("REINDEX CONCURRENTLY"),
        Ddl::Reindex { target: stoa_syntax::ddl::ReindexTarget::Schema(_), .. } => Some("REINDEX SCHEMA"),
        Ddl::Reindex { target: stoa_syntax::ddl::ReindexTarget::Database(_), .. } => Some("REINDEX DATABASE"),
        Ddl::Database(DatabaseStatement::Create { .. }) => Some("CREATE DATABASE"),
        Ddl::Database(DatabaseStatement::Drop { .. }) => Some("DROP DATABASE"),
        Ddl::Database(DatabaseStatement::Tablespace { .. }) => Some("ALTER DATABASE SET TABLESPACE"),
        _ => None,
    }
}

/// The first words of a DDL statement as PostgreSQL names the command: `CREATE TABLE`.
fn ddl_word(text: &str) -> String {
    const SKIPPED: &[&str] = &["TEMP", "TEMPORARY", "UNIQUE", "OR", "REPLACE", "GLOBAL", "LOCAL", "UNLOGGED", "RECURSIVE"];
    let words: Vec<String> =
        text.split_whitespace().map(str::to_ascii_uppercase).filter(|w| !SKIPPED.contains(&w.as_str())).take(3).collect();
    match words.as_slice() {
        [first, second, third] if second == "MATERIALIZED" => format!("{first} {second} {third}"),
        [first, second, ..] if matches!(first.as_str(), "CREATE" | "ALTER" | "DROP" | "REFRESH" | "IMPORT") => format!("{first} {second}"),
        [first, second, ..] if second == "PREPARED" => format!("{first} {second}"),
        [first, ..] if first == "TRUNCATE" || first == "UNDROP" => format!("{first} TABLE"),
        [first, ..] => first.clone(),
        [] => String::new(),
    }
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or("")
}

/// Arguments of EXECUTE are coerced as assignments are, but complain in words of their own.
fn argument_error(mut error: PgError, number: usize, ty: &SqlType) -> PgError {
    if error.code() == SqlState::DATATYPE_MISMATCH {
        let given = error.message().rsplit(" is of type ").next().map(str::to_owned).unwrap_or_default();
        let fields = error.fields_mut();
        fields.message = format!("parameter ${number} of type {given} cannot be coerced to the expected type {ty}");
        fields.hint = Some("You will need to rewrite or cast the expression.".into());
    }
    error
}

fn set_or_reset(statement: &PreparedStatement) -> &'static str {
    if first_word(&statement.statement_text).eq_ignore_ascii_case("reset") { "RESET" } else { "SET" }
}

fn two_phase() -> PgError {
    PgError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, "prepared transactions are disabled")
        .hint("Two-phase commit is not done; use COMMIT.")
}

/// The typed columns of a typed tree, for cursors.
pub(crate) fn columns_of(bound: &Bound) -> Arc<[super::OutputColumn]> {
    output_columns(bound).unwrap_or_else(|| Arc::from([]))
}

/// Used where a parameter's type is not known.
#[must_use]
pub fn unknown_as_text(ty: Option<&PgType>) -> SqlType {
    SqlType::new(ty.cloned().unwrap_or(PgType::Text))
}

//! DO: the steps of a block, one after the other, in the transaction of the statement.

use super::api::{Execution, Rows};
use super::prepared::{ends_block, syntax_error};
use super::session_impl::Session;
use datafusion::common::ScalarValue;
use futures::StreamExt;
use futures::future::BoxFuture;
use std::sync::Arc;
use stoa_pg::types::PgType;
use stoa_pg::values::number::parse_bool;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::typed::from_datafusion;
use stoa_syntax::block::{Level, Step, parse_block};
use stoa_syntax::utility::Utility;
use stoa_syntax::{Body, Piece, ast};

impl Session {
    /// Runs a block of a language.
    ///
    /// # Errors
    /// 42704 if there is no such language; what reading the block and its steps raise.
    pub(super) async fn run_block(&mut self, language: Option<&str>, code: &str) -> PgResult<()> {
        if let Some(other) = language.filter(|name| *name != "plpgsql") {
            return Err(PgError::new(SqlState::UNDEFINED_OBJECT, format!("language \"{other}\" does not exist")));
        }
        let steps = parse_block(code).map_err(syntax_error)?;
        // What has a transaction of its own cannot run in a block.
        self.start_query().await?;
        self.run_steps(&steps).await.map_err(|mut error| {
            // It would be one in the text of the step.
            error.fields_mut().position = None;
            error
        })
    }

    fn run_steps<'a>(&'a mut self, steps: &'a [Step]) -> BoxFuture<'a, PgResult<()>> {
        Box::pin(async move {
            for step in steps {
                match step {
                    Step::Sql(piece) => match self.run_step(piece).await? {
                        Execution::Done(_) | Execution::Empty => {}
                        Execution::Rows(_) => {
                            let error = PgError::new(SqlState::SYNTAX_ERROR, "query has no destination for result data");
                            let selects = matches!(&piece.body, Body::Sql(sql) if matches!(**sql, ast::Statement::Query(_)));
                            let hint = "If you want to discard the results of a SELECT, use PERFORM instead.";
                            return Err(if selects { error.hint(hint) } else { error });
                        }
                        Execution::CopyIn(_) | Execution::CopyOut(_) => {
                            return Err(PgError::unsupported("cannot COPY to/from client in PL/pgSQL"));
                        }
                    },
                    Step::Perform(piece) => {
                        let mut rows = self.rows_of(piece).await?;
                        while let Some(batch) = rows.stream.next().await {
                            batch?;
                        }
                    }
                    Step::If { branches, otherwise } => {
                        let mut chosen = otherwise;
                        for (condition, steps) in branches {
                            if self.holds(condition).await? {
                                chosen = steps;
                                break;
                            }
                        }
                        self.run_steps(chosen).await?;
                    }
                    Step::Raise { level, message } => self.raise(*level, message)?,
                    Step::Block(steps) => self.run_steps(steps).await?,
                }
            }
            Ok(())
        })
    }

    async fn run_step(&mut self, piece: &Piece) -> PgResult<Execution> {
        let transaction = |utility: &Utility| matches!(utility, Utility::Begin(_) | Utility::Savepoint(_) | Utility::Release(_));
        if ends_block(Some(&piece.body)) || matches!(&piece.body, Body::Utility(utility) if transaction(utility)) {
            return Err(PgError::unsupported("unsupported transaction command in PL/pgSQL"));
        }
        let prepared = self.prepare(Some(piece.clone()), Arc::from(piece.text.as_str()), Vec::new())?.inner;
        let Some(body) = prepared.body.clone() else { return Ok(Execution::Empty) };
        Box::pin(self.dispatch(&prepared, &body, Vec::new())).await
    }

    async fn rows_of(&mut self, piece: &Piece) -> PgResult<Rows> {
        match self.run_step(piece).await? {
            Execution::Rows(rows) => Ok(rows),
            _ => Err(PgError::internal("a query without rows")),
        }
    }

    /// Whether a condition gives true: no row and NULL are false.
    async fn holds(&mut self, condition: &Piece) -> PgResult<bool> {
        let mut rows = self.rows_of(condition).await?;
        let [column] = &*rows.columns else {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, format!("query returned {} columns", rows.columns.len())));
        };
        let ty = column.ty.ty.clone();
        let mut value = ScalarValue::Null;
        let mut count = 0;
        while let Some(batch) = rows.stream.next().await {
            let batch = batch?;
            count += batch.num_rows();
            if count > 1 {
                return Err(PgError::new(SqlState::CARDINALITY_VIOLATION, "query returned more than one row"));
            }
            if batch.num_rows() == 1 {
                value = ScalarValue::try_from_array(batch.column(0), 0).map_err(from_datafusion)?;
            }
        }
        match (&ty, value) {
            (_, value) if value.is_null() => Ok(false),
            (PgType::Bool, ScalarValue::Boolean(Some(value))) => Ok(value),
            // Other values are read from their text.
            (PgType::Text | PgType::Int2 | PgType::Int4 | PgType::Int8, value) => parse_bool(&value.to_string()),
            _ => Err(PgError::unsupported(format!("conditions of type {ty} are not supported")).hint("Compare the value.")),
        }
    }

    fn raise(&self, level: Level, message: &str) -> PgResult<()> {
        let (severity, code) = match level {
            Level::Exception => return Err(PgError::new(SqlState(*b"P0001"), message)),
            Level::Debug => ("DEBUG", SqlState::SUCCESSFUL_COMPLETION),
            Level::Log => ("LOG", SqlState::SUCCESSFUL_COMPLETION),
            Level::Info => ("INFO", SqlState::SUCCESSFUL_COMPLETION),
            Level::Notice => ("NOTICE", SqlState::SUCCESSFUL_COMPLETION),
            Level::Warning => ("WARNING", SqlState::WARNING),
        };
        self.shared.notice(severity, PgError::new(code, message));
        Ok(())
    }
}

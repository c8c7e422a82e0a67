//! The simple protocol: a text of statements, executed one after another as one transaction unless it says otherwise.

use super::connection::{Connection, Failure};
use super::frame::{Body, Frame};
use super::rows::{RowsInProgress, Sent};
use std::sync::Arc;
use stoa_engine::session::{Execution, ParamValue, Prepared, TransactionStatus};
use stoa_pg::PgError;

impl Connection {
    pub(super) async fn query(&mut self, frame: &Frame) -> Result<(), Failure> {
        // Both unnamed are gone, the portal not where nothing can begin.
        if self.session.transaction_status() != TransactionStatus::Failed {
            self.portals.remove("");
        }
        self.session.close_prepared("");
        let mut body = Body::new(frame);
        let text = body.string().and_then(|text| body.end().map(|()| text)).map_err(Failure::from);
        let done = match text {
            Ok(text) => self.run_text(text).await,
            Err(failure) => Err(failure),
        };
        if let Err(failure) = done {
            self.text_failed(failure).await?;
        }
        self.ready().await;
        Ok(())
    }

    async fn run_text(&mut self, text: &str) -> Result<(), Failure> {
        let text = &*self.session.in_postgresql(text);
        if let Some((prepared, params)) = self.session.recall(text) {
            return self.run_prepared(&prepared, params, true).await;
        }
        let pieces = self.session.parse(text)?;
        if pieces.is_empty() {
            self.session.finish().await?;
            self.output.empty_query();
            return Ok(());
        }
        let text: Arc<str> = Arc::from(text);
        let last = pieces.len() - 1;
        self.session.begin_text(pieces.len());
        for (number, piece) in pieces.into_iter().enumerate() {
            let prepared = self.session.prepare(Some(piece), text.clone(), Vec::new())?;
            if last == 0 {
                self.session.keep_statement(&text, &prepared);
            }
            self.run_prepared(&prepared, Vec::new(), number == last).await?;
        }
        Ok(())
    }

    async fn run_prepared(&mut self, prepared: &Prepared, params: Vec<ParamValue>, last: bool) -> Result<(), Failure> {
        let execution = self.run_statement(prepared, params).await?;
        match execution {
            Execution::Rows(rows) => {
                let formats: &[i16] = if rows.is_binary { &[1] } else { &[] };
                let mut progress = RowsInProgress::new(rows);
                self.output.row_description(progress.columns(), formats);
                let sent = match self.send_rows(&mut progress, formats, None).await? {
                    Sent::All(sent) => sent,
                    Sent::Limit => return Err(PgError::internal("rows without a limit reached it").into()),
                };
                let tag = progress.tag().clone();
                drop(progress);
                self.finish_last(last).await?;
                self.complete_rows(&tag, sent);
            }
            Execution::Done(tag) => {
                self.finish_last(last).await?;
                self.complete(&tag);
            }
            Execution::Empty => {
                self.finish_last(last).await?;
                self.output.empty_query();
            }
            Execution::CopyIn(copy) => {
                let tag = Box::pin(self.copy_in(*copy, false)).await?;
                self.finish_last(last).await?;
                self.output.command_complete(&tag);
            }
            Execution::CopyOut(copy) => {
                let tag = Box::pin(self.copy_out(*copy)).await?;
                self.finish_last(last).await?;
                self.output.command_complete(&tag);
            }
        }
        Ok(())
    }

    /// The commit comes before the last statement's tag: what it raises must be reported instead.
    async fn finish_last(&mut self, last: bool) -> Result<(), Failure> {
        if last {
            self.session.finish().await?;
        }
        self.send_notices();
        Ok(())
    }
}

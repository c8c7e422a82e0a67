//! The extended protocol: Parse, Bind, Describe, Execute, Close.

use super::connection::{Connection, Failure, watched};
use super::frame::{Body, Frame, kind, violation};
use super::params::{self, Of};
use super::rows::{RowsInProgress, Sent};
use std::sync::Arc;
use stoa_engine::session::{Description, Execution, ParamValue, Prepared, RowsTag, TransactionStatus};
use stoa_pg::types::PgType;
use stoa_pg::{PgError, SqlState};

/// A statement with its parameters, and what of it has been executed.
pub struct Portal {
    prepared: Prepared,
    params: Vec<ParamValue>,
    formats: Vec<i16>,
    state: State,
    /// The transaction that it belongs to.
    pub(super) generation: u64,
}

enum State {
    Bound,
    Rows(Box<RowsInProgress>),
    /// Rows were read to the end.
    Exhausted(RowsTag),
    Done,
}

impl Connection {
    pub(super) async fn extended(&mut self, frame: &Frame) -> Result<(), Failure> {
        match frame.kind {
            kind::PARSE => self.parse(frame).await,
            kind::BIND => self.bind(frame),
            kind::DESCRIBE => self.describe(frame),
            kind::EXECUTE => self.execute(frame).await,
            _ => self.close_named(frame),
        }
    }

    async fn parse(&mut self, frame: &Frame) -> Result<(), Failure> {
        let mut body = Body::new(frame);
        let name = body.string()?;
        let text = body.string()?;
        let count = body.int16()?.cast_unsigned();
        let mut declared = Vec::with_capacity(usize::from(count).min(64));
        for _ in 0..count {
            declared.push(match body.int32()?.cast_unsigned() {
                0 | 705 => None,
                oid => Some(
                    PgType::from_oid(oid)
                        .ok_or_else(|| PgError::new(SqlState::UNDEFINED_OBJECT, format!("type with OID {oid} does not exist")))?,
                ),
            });
        }
        body.end()?;
        if name.is_empty() {
            self.session.close_prepared("");
        }
        let text = &*self.session.in_postgresql(text);
        let mut pieces = self.session.parse(text)?;
        if pieces.len() > 1 {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "cannot insert multiple commands into a prepared statement").into());
        }
        let prepared = self.session.prepare(pieces.pop(), Arc::from(text), declared)?;
        watched(&mut self.transport, &mut self.input, self.session.settle(&prepared)).await??;
        self.session.store_prepared(name, prepared, false)?;
        self.output.parse_complete();
        Ok(())
    }

    fn bind(&mut self, frame: &Frame) -> Result<(), Failure> {
        let mut body = Body::new(frame);
        let portal = body.string()?;
        let name = body.string()?;
        let formats = int16s(&mut body)?;
        let count = usize::from(body.int16()?.cast_unsigned());
        if formats.len() > 1 && formats.len() != count {
            return Err(violation(format!("bind message has {} parameter formats but {count} parameters", formats.len())).into());
        }
        let prepared = self.session.prepared(name)?.clone();
        self.session.check_bind(&prepared)?;
        let Description { params: types, columns } = self.session.describe(&prepared)?;
        if types.len() != count {
            let name = if name.is_empty() { String::new() } else { name.to_owned() };
            return Err(violation(format!(
                "bind message supplies {count} parameters, but prepared statement \"{name}\" requires {}",
                types.len()
            ))
            .into());
        }
        if !portal.is_empty() && (self.portals.contains_key(portal) || self.session.cursor_columns(portal).is_ok()) {
            return Err(PgError::new(SqlState::DUPLICATE_CURSOR, format!("portal \"{portal}\" already exists")).into());
        }
        let values = match count {
            0 => Vec::new(),
            _ => params::read(&mut body, &self.session.parameter_context()?, &types, &formats, Of::Bind)?,
        };
        let formats = int16s(&mut body)?;
        body.end()?;
        if let Some(code) = formats.iter().find(|code| !matches!(code, 0 | 1)) {
            return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("unsupported format code: {code}")).into());
        }
        if let Some(columns) = &columns {
            check_formats(&formats, columns.len())?;
        }
        let generation = self.session.transaction_generation();
        self.portals.insert(portal.to_owned(), Portal { prepared, params: values, formats, state: State::Bound, generation });
        self.output.bind_complete();
        Ok(())
    }

    fn describe(&mut self, frame: &Frame) -> Result<(), Failure> {
        let mut body = Body::new(frame);
        let what = body.byte()?;
        let name = body.string()?;
        body.end()?;
        match what {
            b'S' => {
                let prepared = self.session.prepared(name)?.clone();
                let description = self.session.describe(&prepared)?;
                if description.columns.is_some() {
                    self.session.check_bind(&prepared)?;
                }
                self.output.parameter_description(&description.params);
                match description.columns {
                    Some(columns) => self.output.row_description(&columns, &[]),
                    None => self.output.no_data(),
                }
            }
            b'P' => {
                let (columns, formats) = match self.portals.get(name) {
                    Some(portal) => {
                        let (prepared, formats) = (portal.prepared.clone(), portal.formats.clone());
                        (self.session.describe(&prepared)?.columns, formats)
                    }
                    // Cursors of SQL are portals too.
                    None => (Some(self.session.cursor_columns(name).map_err(|_| undefined_portal(name))?), Vec::new()),
                };
                match columns {
                    Some(columns) => {
                        check_formats(&formats, columns.len())?;
                        self.output.row_description(&columns, &formats);
                    }
                    None => self.output.no_data(),
                }
            }
            other => return Err(violation(format!("invalid DESCRIBE message subtype {other}")).into()),
        }
        Ok(())
    }

    async fn execute(&mut self, frame: &Frame) -> Result<(), Failure> {
        let mut body = Body::new(frame);
        let name = body.string()?;
        let max_rows = body.int32()?;
        body.end()?;
        let limit = u64::try_from(max_rows).ok().filter(|n| *n > 0);
        let portal = self.portals.get(name).ok_or_else(|| undefined_portal(name))?;
        self.session.check_bind(&portal.prepared)?;
        // The portal is taken out while it runs, and put back unless its transaction has ended; one that failed is not run again.
        let mut portal = self.portals.remove(name).ok_or_else(|| undefined_portal(name))?;
        let done = self.run_portal(name, &mut portal, limit).await;
        if done.is_err() {
            portal.state = State::Done;
        }
        if portal.prepared.ends_transaction() && self.session.transaction_status() == TransactionStatus::Idle {
            // COMMIT and its kin end what the Binds before it began, which the session may not know yet.
            self.portals.clear();
        } else if portal.generation == self.session.transaction_generation() {
            self.portals.insert(name.to_owned(), portal);
        }
        done
    }

    async fn run_portal(&mut self, name: &str, portal: &mut Portal, limit: Option<u64>) -> Result<(), Failure> {
        match &mut portal.state {
            State::Exhausted(tag) => {
                let tag = tag.clone();
                self.complete_rows(&tag, 0);
                return Ok(());
            }
            State::Done => {
                return Err(PgError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, format!("portal \"{name}\" cannot be run")).into());
            }
            State::Rows(_) => {
                self.task.offload().await;
                self.session.resume();
            }
            State::Bound => {
                let params = std::mem::take(&mut portal.params);
                let execution = self.run_statement(&portal.prepared, params).await?;
                portal.state = State::Done;
                match execution {
                    Execution::Rows(rows) => {
                        check_formats(&portal.formats, rows.columns.len())?;
                        portal.state = State::Rows(Box::new(RowsInProgress::new(rows)));
                    }
                    Execution::Done(tag) => {
                        self.send_notices();
                        self.complete(&tag);
                        return Ok(());
                    }
                    Execution::Empty => {
                        self.output.empty_query();
                        return Ok(());
                    }
                    Execution::CopyIn(copy) => {
                        let tag = Box::pin(self.copy_in(*copy, true)).await?;
                        self.output.command_complete(&tag);
                        return Ok(());
                    }
                    Execution::CopyOut(copy) => {
                        let tag = Box::pin(self.copy_out(*copy)).await?;
                        self.output.command_complete(&tag);
                        return Ok(());
                    }
                }
            }
        }
        let State::Rows(progress) = &mut portal.state else { return Ok(()) };
        match self.send_rows(progress, &portal.formats, limit).await? {
            Sent::Limit => {
                self.send_notices();
                self.output.portal_suspended();
            }
            Sent::All(sent) => {
                let tag = progress.tag().clone();
                self.send_notices();
                self.complete_rows(&tag, sent);
                portal.state = State::Exhausted(tag);
            }
        }
        Ok(())
    }

    fn close_named(&mut self, frame: &Frame) -> Result<(), Failure> {
        let mut body = Body::new(frame);
        let what = body.byte()?;
        let name = body.string()?;
        body.end()?;
        match what {
            b'S' => {
                self.session.close_prepared(name);
            }
            b'P' => {
                if self.portals.remove(name).is_none() {
                    self.session.close_cursor_if_open(name);
                }
            }
            other => return Err(violation(format!("invalid CLOSE message subtype {other}")).into()),
        }
        self.output.close_complete();
        Ok(())
    }
}

pub(super) fn int16s(body: &mut Body<'_>) -> stoa_pg::PgResult<Vec<i16>> {
    let count = body.int16()?.cast_unsigned();
    (0..count).map(|_| body.int16()).collect()
}

fn check_formats(formats: &[i16], columns: usize) -> Result<(), Failure> {
    if formats.len() > 1 && formats.len() != columns {
        return Err(violation(format!("bind message has {} result formats but query has {columns} columns", formats.len())).into());
    }
    Ok(())
}

fn undefined_portal(name: &str) -> PgError {
    PgError::new(SqlState::INVALID_CURSOR_NAME, format!("portal \"{name}\" does not exist"))
}

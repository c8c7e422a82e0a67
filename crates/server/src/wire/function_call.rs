//! The function call message: a function by its OID with its arguments, as libpq's functions on large objects send it.
//!
//! It is executed as the statement that calls the function; only how arguments come and the value goes is its own.

use super::connection::{Connection, Failure, watched};
use super::extended::int16s;
use super::frame::{Body, Frame, violation};
use super::params::{self, Of};
use std::sync::Arc;
use stoa_engine::session::{Execution, Prepared};
use stoa_pg::registry::{Func, FuncKind, Registry};
use stoa_pg::values::writer;
use stoa_pg::{PgError, SqlState};

impl Connection {
    pub(super) async fn function_call(&mut self, frame: &Frame) -> Result<(), Failure> {
        match self.call(frame).await {
            Ok(value) => {
                self.send_notices();
                let message = self.output.begin(b'V');
                match value {
                    Some(value) => {
                        self.output.uint32(u32::try_from(value.len()).unwrap_or(u32::MAX));
                        self.output.bytes.extend_from_slice(&value);
                    }
                    None => self.output.int32(-1),
                }
                self.output.end(message);
            }
            Err(failure) => self.text_failed(failure).await?,
        }
        self.ready().await;
        Ok(())
    }

    /// Calls a function; its value in the format that was asked for.
    async fn call(&mut self, frame: &Frame) -> Result<Option<Vec<u8>>, Failure> {
        let mut body = Body::new(frame);
        let oid = body.int32()?.cast_unsigned();
        self.session.check_not_failed()?;
        let prepared = self.called(oid)?;
        let types = self.session.describe(&prepared)?.params;
        let formats = int16s(&mut body)?;
        let count = usize::from(body.int16()?.cast_unsigned());
        if count != types.len() {
            let message = format!("function call message contains {count} arguments but function requires {}", types.len());
            return Err(violation(message).into());
        }
        if formats.len() > 1 && formats.len() != count {
            let message = format!("function call message contains {} argument formats but {count} arguments", formats.len());
            return Err(violation(message).into());
        }
        let values = params::read(&mut body, &self.session.parameter_context()?, &types, &formats, Of::Call)?;
        let format = body.int16()?;
        body.end()?;
        if !matches!(format, 0 | 1) {
            return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("unsupported format code: {format}")).into());
        }
        let Execution::Rows(rows) = self.run_statement(&prepared, values).await? else {
            return Err(PgError::internal("a function call that gives no value").into());
        };
        let (context, columns) = (rows.context.clone(), Arc::clone(&rows.columns));
        let batch = watched(&mut self.transport, &mut self.input, Box::pin(rows.collect())).await??;
        let (Some(column), Some(value)) = (columns.first(), batch.columns().first().filter(|value| !value.is_empty())) else {
            return Err(PgError::internal("a function call that gives no value").into());
        };
        let mut out = None;
        if !value.is_null(0) {
            let (writer, bytes) = (writer(&context, &column.ty, value.as_ref())?, out.insert(Vec::new()));
            if format == 1 { writer.binary(0, bytes)? } else { writer.text(0, bytes)? }
        }
        self.session.finish().await?;
        Ok(out)
    }

    /// The statement that calls a function.
    fn called(&mut self, oid: u32) -> Result<Prepared, Failure> {
        if let Some(known) = self.called.get(&oid) {
            return Ok(known.clone());
        }
        let func = Registry::get().all_functions().find(|func| func.oid == oid);
        let missing = || PgError::new(SqlState::UNDEFINED_FUNCTION, format!("function with OID {oid} does not exist"));
        let func = func.ok_or_else(missing)?;
        if !is_plain(func) {
            let message = format!("cannot call function \"{}\" via fastpath interface", func.name);
            return Err(PgError::unsupported(message).into());
        }
        let arguments: Vec<String> = (1..=func.args.len()).map(|number| format!("${number}")).collect();
        let text: Arc<str> = format!("SELECT pg_catalog.\"{}\"({})", func.name, arguments.join(", ")).into();
        let piece = self.session.parse(&text)?.pop();
        let prepared = self.session.prepare(piece, text, func.declared_args().map(Some).collect())?;
        self.called.insert(oid, prepared.clone());
        Ok(prepared)
    }
}

/// Whether a function gives one value of its arguments.
fn is_plain(func: &Func) -> bool {
    !func.returns_set && !matches!(func.kind, FuncKind::Aggregate(_) | FuncKind::NativeAggregate(_) | FuncKind::Window(_))
}

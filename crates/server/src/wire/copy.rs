//! COPY over the wire, in both protocols.

use super::connection::{Connection, Failure, watched};
use super::frame::{Body, kind, violation};
use super::rows::WRITE_BYTES;
use arrow::array::RecordBatch;
use stoa_engine::session::CopyFormat;
use stoa_engine::session::copy::{CopyIn, CopyOut};
use stoa_pg::{PgError, PgResult, SqlState};

impl Connection {
    /// Takes the client's data; gives the command tag.
    pub(super) async fn copy_in(&mut self, mut copy: CopyIn, extended: bool) -> Result<String, Failure> {
        self.send_notices();
        self.output.copy_response(b'G', copy.format, copy.columns);
        self.write().await?;
        loop {
            let frame = self.next_copy_frame().await?;
            match frame.kind {
                kind::COPY_DATA => {
                    watched(&mut self.transport, &mut self.input, copy.data(&frame.body)).await??;
                }
                kind::COPY_DONE => {
                    return Ok(watched(&mut self.transport, &mut self.input, copy.finish()).await??);
                }
                kind::COPY_FAIL => {
                    let mut body = Body::new(&frame);
                    let reason = body.string().unwrap_or_default();
                    return Err(PgError::new(SqlState::QUERY_CANCELED, format!("COPY from stdin failed: {reason}")).into());
                }
                // Clients of the extended protocol may send these without waiting.
                kind::FLUSH | kind::SYNC => {}
                kind::TERMINATE => return Err(Failure::Closed),
                other => {
                    let error = violation(format!("unexpected message type 0x{other:02X} during COPY from stdin"));
                    // In the extended protocol the client will send Sync, in the simple one it will not.
                    return Err(if extended { Failure::Statement(error) } else { Failure::Fatal(error) });
                }
            }
        }
    }

    /// Sends rows, a message each; gives the command tag.
    pub(super) async fn copy_out(&mut self, mut copy: CopyOut) -> Result<String, Failure> {
        self.send_notices();
        self.output.copy_response(b'H', copy.format, copy.columns);
        // The head of the binary format goes with the first row: clients take a message for a row.
        let mut head = Vec::new();
        if copy.encoder.start(&mut head) && copy.format != CopyFormat::Binary {
            self.data(|out| {
                out.append(&mut head);
                Ok(true)
            })?;
        }
        let mut rows = 0_u64;
        while let Some(batch) = watched(&mut self.transport, &mut self.input, copy.next()).await? {
            let batch = batch?;
            let mut done = 0;
            while done < batch.num_rows() {
                done = self.copy_rows(&copy, &batch, done, &mut head)?;
                if self.output.len() >= WRITE_BYTES {
                    self.write().await?;
                }
            }
            rows += batch.num_rows() as u64;
        }
        self.data(|out| {
            out.append(&mut head);
            Ok(copy.encoder.end(out))
        })?;
        self.output.empty(b'c');
        Ok(format!("COPY {rows}"))
    }

    /// Rows from `start` on until the output is large enough to be written; where it stopped.
    fn copy_rows(&mut self, copy: &CopyOut, batch: &RecordBatch, start: usize, head: &mut Vec<u8>) -> PgResult<usize> {
        let mut encoder = copy.encoder.batch(batch)?;
        let mut row = start;
        while row < batch.num_rows() && self.output.len() < WRITE_BYTES {
            self.data(|out| {
                out.append(head);
                encoder.row(row, out).map(|()| true)
            })?;
            row += 1;
        }
        Ok(row)
    }

    /// A CopyData message with what `write` appends; none if it has nothing to say or fails.
    fn data(&mut self, write: impl FnOnce(&mut Vec<u8>) -> PgResult<bool>) -> PgResult<()> {
        let start = self.output.begin(b'd');
        match write(&mut self.output.bytes) {
            Ok(true) => {
                self.output.end(start);
                Ok(())
            }
            nothing => {
                self.output.bytes.truncate(start - 1);
                nothing.map(|_| ())
            }
        }
    }
}

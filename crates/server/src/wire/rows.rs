//! Rows of a statement, encoded from Arrow into DataRow messages as they come.

use super::connection::{Connection, Failure, Stop, watched};
use super::output::Output;
use arrow::array::{Array, RecordBatch};
use futures::StreamExt;
use stoa_engine::session::{OutputColumn, Rows, RowsTag};
use stoa_pg::memory::{SMALL_BYTES, reserve, value_bytes};
use stoa_pg::values::{ValueWriter, writer};
use stoa_pg::{EvalContext, PgResult};

/// Room for what a value's form has around it.
const SPARE_BYTES: usize = 64;

/// The output is written when it has grown to this.
pub const WRITE_BYTES: usize = 16 << 10;

/// Rows of a portal, some of them sent.
pub struct RowsInProgress {
    rows: Rows,
    /// The batch whose rows are being sent, and how many of them have been.
    batch: Option<(RecordBatch, usize)>,
    at_end: bool,
}

/// Why sending stopped.
pub enum Sent {
    /// All rows; how many this time.
    All(u64),
    /// As many as were asked for.
    Limit,
}

/// The format of a column: none given is text, one is for all.
pub fn format_of(formats: &[i16], column: usize) -> i16 {
    match formats {
        [] => 0,
        [one] => *one,
        many => many.get(column).copied().unwrap_or(0),
    }
}

impl RowsInProgress {
    pub fn new(rows: Rows) -> Self {
        Self { rows, batch: None, at_end: false }
    }

    pub fn columns(&self) -> &[OutputColumn] {
        &self.rows.columns
    }

    pub fn tag(&self) -> &RowsTag {
        &self.rows.tag
    }
}

impl Connection {
    /// Sends rows until there are no more, or `limit` of them.
    pub(super) async fn send_rows(&mut self, progress: &mut RowsInProgress, formats: &[i16], limit: Option<u64>) -> Result<Sent, Failure> {
        let mut sent = 0;
        loop {
            if limit == Some(sent) {
                return Ok(Sent::Limit);
            }
            if progress.batch.is_none() {
                if progress.at_end {
                    return Ok(Sent::All(sent));
                }
                match watched(&mut self.transport, &mut self.input, progress.rows.stream.next()).await? {
                    Some(batch) => progress.batch = Some((batch?, 0)),
                    None => {
                        progress.at_end = true;
                        continue;
                    }
                }
                self.send_notices();
            }
            if let Some((batch, done)) = &mut progress.batch {
                let wanted = limit.map_or(usize::MAX, |limit| usize::try_from(limit - sent).unwrap_or(usize::MAX));
                let rows = encode(&mut self.output, &progress.rows.columns, &progress.rows.context, formats, batch, *done, wanted)?;
                *done += rows;
                sent += rows as u64;
                if *done >= batch.num_rows() {
                    progress.batch = None;
                }
            }
            if self.output.len() >= WRITE_BYTES {
                self.write().await?;
            }
        }
    }

    /// The command tag of rows that were sent.
    pub(super) fn complete_rows(&mut self, tag: &RowsTag, rows: u64) {
        match tag {
            RowsTag::Counted(word) => self.output.command_complete_counted(word, rows),
            RowsTag::Fixed(tag) => self.output.command_complete(tag),
        }
    }
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Closed => Failure::Closed,
        }
    }
}

/// Appends rows from `start` on, at most `wanted`, until the output is large enough to be written; how many.
fn encode(
    output: &mut Output,
    columns: &[OutputColumn],
    context: &EvalContext,
    formats: &[i16],
    batch: &RecordBatch,
    start: usize,
    wanted: usize,
) -> PgResult<usize> {
    let writers: Vec<(Box<dyn ValueWriter + '_>, bool, &dyn Array)> = columns
        .iter()
        .zip(batch.columns())
        .enumerate()
        .map(|(number, (column, array))| {
            Ok((writer(context, &column.ty, array.as_ref())?, format_of(formats, number) == 1, array.as_ref()))
        })
        .collect::<PgResult<_>>()?;
    let end = batch.num_rows().min(start.saturating_add(wanted));
    let columns = u16::try_from(writers.len()).unwrap_or(u16::MAX);
    let large: Vec<bool> = writers.iter().map(|(_, _, array)| array.get_buffer_memory_size() >= SMALL_BYTES).collect();
    for row in start..end {
        if output.len() >= WRITE_BYTES {
            return Ok(row - start);
        }
        let message = output.begin(b'D');
        let bytes = &mut output.bytes;
        bytes.extend_from_slice(&columns.to_be_bytes());
        for ((writer, binary, array), large) in writers.iter().zip(&large) {
            if array.is_null(row) {
                bytes.extend_from_slice(&(-1_i32).to_be_bytes());
                continue;
            }
            let place = bytes.len();
            bytes.extend_from_slice(&[0; 4]);
            let room = if *large { reserve(bytes, value_bytes(array.slice(row, 1).as_ref()) + SPARE_BYTES) } else { Ok(()) };
            let written = room.and_then(|()| if *binary { writer.binary(row, bytes) } else { writer.text(row, bytes) });
            if let Err(error) = written {
                // Half a message must not be sent.
                bytes.truncate(message - 1);
                return Err(error);
            }
            let length = u32::try_from(bytes.len() - place - 4).unwrap_or(u32::MAX);
            if let Some(field) = bytes.get_mut(place..place + 4) {
                field.copy_from_slice(&length.to_be_bytes());
            }
        }
        output.end(message);
    }
    Ok(end - start)
}

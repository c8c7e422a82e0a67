//! Scanners: many rows in order, batch by batch, whatever happens to regions and servers meanwhile.
//!
//! [`spec`] says what is read, [`assemble`] makes rows of parts, [`fetch`] asks the servers, and here the rows are handed out: the first
//! batch by the caller itself, so that a short scan costs one call, the following ones by a task that reads one ahead.

mod assemble;
mod fetch;
mod spec;

pub use spec::Scan;

use crate::client::Table;
use crate::error::Error;
use crate::row::Row;
use fetch::Fetch;
use tokio::sync::mpsc;

/// The rows of a scan. To drop it ends the scan.
///
/// Rows come in the order of their keys, each once, each whole. Without a time range a row may be newer than one that came before it; with
/// one that ends in the past a scan sees the table as it was, also when it is opened again underneath.
#[derive(Debug)]
pub struct Scanner {
    state: State,
    /// Rows that [`Scanner::next`] has not given yet.
    rows: std::vec::IntoIter<Row>,
}

#[derive(Debug)]
enum State {
    /// The first batch is not read yet.
    New(Box<Fetch>),
    /// A task reads ahead.
    Running(mpsc::Receiver<Result<Vec<Row>, Error>>),
    Ended,
}

impl Scanner {
    pub(crate) fn new(table: &Table, scan: Scan) -> Scanner {
        Scanner { state: State::New(Box::new(Fetch::new(table, scan))), rows: Vec::new().into_iter() }
    }

    /// The next rows, at least one, about as many as the scan's batch holds; `None` behind the last. After an error the scan is over.
    ///
    /// # Errors
    /// A server's exception; [`Error::Deadline`] if no row came within the table's timeout, which is counted for each batch from when it is
    /// read, not from when it is asked for; [`Error::TooLarge`] for a row over the client's limit.
    pub async fn next_batch(&mut self) -> Result<Option<Vec<Row>>, Error> {
        let rest = std::mem::take(&mut self.rows);
        if rest.len() > 0 {
            return Ok(Some(rest.collect()));
        }
        match std::mem::replace(&mut self.state, State::Ended) {
            State::New(mut fetch) => {
                let Some(batch) = fetch.next_batch().await? else { return Ok(None) };
                if !fetch.is_done() {
                    self.state = State::Running(fetch.run());
                }
                Ok(Some(batch))
            }
            State::Running(mut batches) => match batches.recv().await {
                Some(Ok(batch)) => {
                    self.state = State::Running(batches);
                    Ok(Some(batch))
                }
                Some(Err(error)) => Err(error),
                None => Ok(None),
            },
            State::Ended => Ok(None),
        }
    }

    /// The next row; `None` behind the last.
    ///
    /// # Errors
    /// As [`Scanner::next_batch`].
    pub async fn next(&mut self) -> Result<Option<Row>, Error> {
        loop {
            if let Some(row) = self.rows.next() {
                return Ok(Some(row));
            }
            match self.next_batch().await? {
                Some(batch) => self.rows = batch.into_iter(),
                None => return Ok(None),
            }
        }
    }
}

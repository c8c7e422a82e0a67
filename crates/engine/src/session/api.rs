//! The surface that the wire protocol, the embedded API and the tests use.

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field, Schema};
use datafusion::common::ScalarValue;
use futures::StreamExt;
use futures::stream::BoxStream;
use std::sync::Arc;
use stoa_exec::environment::server::ClientInfo;
use stoa_pg::{EvalContext, PgResult, SqlType};

/// Who connects.
#[derive(Clone, Debug, Default)]
pub struct SessionOptions {
    pub user: String,
    pub database: String,
    pub application_name: String,
    pub client: ClientInfo,
    /// Settings of the startup message.
    pub settings: Vec<(String, String)>,
    /// Work that no client has asked for: whether clients may connect is not asked.
    pub in_background: bool,
}

/// A column of a result as RowDescription tells it.
#[derive(Clone, PartialEq, Debug)]
pub struct OutputColumn {
    pub name: String,
    pub ty: SqlType,
    pub table_oid: u32,
    /// 0 for what is no column, and for a table's whole row; system columns have negative ones.
    pub attnum: i16,
}

/// The `I`, `T`, `E` of ReadyForQuery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TransactionStatus {
    Idle,
    InTransaction,
    Failed,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CopyFormat {
    Text,
    Csv,
    Binary,
}

/// A parsed and bound statement; cheap to clone.
#[derive(Clone)]
pub struct Prepared {
    pub inner: Arc<super::prepared::PreparedStatement>,
}

/// Rows in batches; dropping it ends the work.
pub struct Rows {
    pub columns: Arc<[OutputColumn]>,
    /// For encoding values: settings and names as of the statement.
    pub context: EvalContext,
    pub stream: BoxStream<'static, PgResult<RecordBatch>>,
    /// The command tag without the count: `SELECT`, `FETCH`, `INSERT 0`, `UPDATE`.
    pub tag: RowsTag,
    /// The client that named no format gets values in binary form: they are of a BINARY cursor.
    pub is_binary: bool,
}

impl Rows {
    /// All rows, under the names that the statement gives its columns.
    ///
    /// # Errors
    /// What the statement raises.
    pub async fn collect(mut self) -> PgResult<RecordBatch> {
        let fields: Vec<Field> = self.columns.iter().map(|c| Field::new(&c.name, c.ty.arrow.clone(), true)).collect();
        let schema = Arc::new(Schema::new(fields));
        let mut batches = Vec::new();
        while let Some(batch) = self.stream.next().await {
            let batch = batch?;
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            batches.push(RecordBatch::try_new_with_options(Arc::clone(&schema), batch.columns().to_vec(), &options)?);
        }
        Ok(arrow::compute::concat_batches(&schema, &batches)?)
    }
}

/// How the command tag of a statement with rows is made.
#[derive(Clone, PartialEq, Debug)]
pub enum RowsTag {
    /// The word, a blank, the number of rows sent.
    Counted(&'static str),
    Fixed(String),
}

/// What a statement gave.
pub enum Execution {
    Rows(Rows),
    /// The command tag.
    Done(String),
    /// An empty query string.
    Empty,
    /// The client must send data; feed it to [`super::copy::CopyIn`].
    CopyIn(Box<super::copy::CopyIn>),
    CopyOut(Box<super::copy::CopyOut>),
}

/// A parameter's value: the Arrow form of its type.
pub type ParamValue = ScalarValue;

pub use super::session_impl::Session;

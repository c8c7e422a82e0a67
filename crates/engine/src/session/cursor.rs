//! Cursors: DECLARE, FETCH, MOVE, CLOSE.
//!
//! A cursor reads its rows as they are asked for. Rows that were read are kept when the cursor may go back: always with SCROLL or
//! WITH HOLD, never with NO SCROLL or FOR UPDATE and its kin, and otherwise as long as they are few. A cursor shows what was there when it
//! was declared: its plan reads the view of that time, the transaction's own writes included, whatever is written later. Of the rows that
//! it locks, those that the transaction has changed since then are passed over.

use super::api::{Execution, OutputColumn, Rows, RowsTag};
use super::cursor_row::{self, BaseRows, CursorPosition};
use super::dispatch::{columns_of, writes};
use super::prepared::PreparedStatement;
use super::session_impl::Session;
use arrow::array::{Array, ArrayRef, BooleanArray, RecordBatch, UInt32Array};
use arrow::compute::{filter_record_batch, take_record_batch};
use datafusion::common::ScalarValue;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use std::collections::VecDeque;
use std::sync::Arc;
use stoa_exec::environment::session::CursorInfo;
use stoa_pg::{EvalContext, PgError, PgResult, SqlState};
use stoa_syntax::ast;
use stoa_syntax::utility::{Declare, FetchDirection};
use stoa_table::catalog::TableDescriptor;
use stoa_table::row::RowCodec;
use stoa_table::txn::{Overlay, Transaction};
use tokio::sync::Mutex;

/// What a cursor without SCROLL or NO SCROLL keeps to go back.
const CASUAL_HISTORY_BYTES: usize = 8 << 20;

/// An open cursor.
pub(crate) struct Cursor {
    columns: Arc<[OutputColumn]>,
    context: EvalContext,
    hold: bool,
    is_binary: bool,
    /// Savepoints that were open at DECLARE.
    depth: usize,
    /// Declared in a transaction that was committed.
    held: bool,
    state: Arc<Mutex<CursorRows>>,
}

/// How a cursor keeps its rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum History {
    All,
    /// All, until it is too much.
    Casual,
    None,
}

/// Rows of a cursor: some read and kept, the rest in a stream.
pub(super) struct CursorRows {
    /// Columns that are shown: behind them come the keys of rows.
    shown: usize,
    rest: Option<BoxStream<'static, PgResult<RecordBatch>>>,
    kept: VecDeque<RecordBatch>,
    /// Rows before the first that is kept.
    dropped: u64,
    kept_rows: u64,
    kept_bytes: usize,
    reservation: MemoryReservation,
    history: History,
    /// It was declared to go forward only.
    no_scroll: bool,
    locked: Option<LockedRows>,
    /// A fetch failed: there is no more to be had.
    failed: bool,
    /// Rows are numbered from 1; 0 is before the first, one more than there are is behind the last.
    position: u64,
}

impl CursorRows {
    /// The number of rows, once all are read.
    fn total(&self) -> Option<u64> {
        self.rest.is_none().then_some(self.dropped + self.kept_rows)
    }

    /// Reads until row `number` is kept; false if there is none.
    async fn reach(&mut self, number: u64) -> PgResult<bool> {
        loop {
            while self.dropped + self.kept_rows < number
                && let Some(rest) = &mut self.rest
            {
                match rest.next().await {
                    Some(Ok(batch)) => self.keep(batch)?,
                    Some(Err(error)) => {
                        self.rest = None;
                        self.failed = true;
                        return Err(error);
                    }
                    None => self.rest = None,
                }
            }
            self.pass_changed(number)?;
            let reached = self.dropped + self.kept_rows >= number;
            if reached || self.rest.is_none() {
                return Ok(reached);
            }
        }
    }

    /// Takes away rows behind the position, up to row `last`, that the transaction has changed.
    fn pass_changed(&mut self, last: u64) -> PgResult<()> {
        // Those that come in their place are looked at, too.
        while self.pass_changed_once(last)? {}
        Ok(())
    }

    /// Whether there were any.
    fn pass_changed_once(&mut self, last: u64) -> PgResult<bool> {
        let Some(locked) = &self.locked else { return Ok(false) };
        let (mut before, mut gone) = (self.dropped, 0);
        for batch in &mut self.kept {
            let rows = batch.num_rows() as u64;
            let from = self.position.clamp(before, before + rows) - before;
            let to = last.clamp(before, before + rows) - before;
            before += rows;
            if from >= to {
                continue;
            }
            let left = locked.unchanged(batch, usize::try_from(from).unwrap_or(0), usize::try_from(to).unwrap_or(0))?;
            if left.true_count() < left.len() {
                gone += (left.len() - left.true_count()) as u64;
                *batch = filter_record_batch(batch, &left)?;
            }
        }
        self.kept_rows -= gone;
        Ok(gone > 0)
    }

    fn keep(&mut self, batch: RecordBatch) -> PgResult<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        self.forget();
        let bytes = batch.get_array_memory_size();
        self.reservation
            .try_grow(bytes)
            .map_err(|e| PgError::new(SqlState::OUT_OF_MEMORY, "out of memory").detail(format!("A cursor's rows do not fit: {e}")))?;
        self.kept_bytes += bytes;
        self.kept_rows += batch.num_rows() as u64;
        self.kept.push_back(batch);
        Ok(())
    }

    /// Drops batches that lie behind the position and will not be asked for again.
    fn forget(&mut self) {
        if self.history == History::Casual && self.kept_bytes > CASUAL_HISTORY_BYTES {
            self.history = History::None;
        }
        if self.history != History::None {
            return;
        }
        while let Some(first) = self.kept.front() {
            let rows = first.num_rows() as u64;
            // The row that the cursor stands on stays: FETCH RELATIVE 0 asks for it.
            if self.dropped + rows >= self.position {
                return;
            }
            let bytes = first.get_array_memory_size();
            self.reservation.shrink(bytes.min(self.reservation.size()));
            self.kept_bytes = self.kept_bytes.saturating_sub(bytes);
            self.dropped += rows;
            self.kept_rows -= rows;
            self.kept.pop_front();
        }
    }

    async fn read_all(&mut self) -> PgResult<()> {
        self.reach(u64::MAX).await.map(|_| ())
    }

    /// The kept batch with row `number`, and the row's place in it.
    fn locate(&self, number: u64) -> Option<(&RecordBatch, usize)> {
        let mut before = self.dropped;
        for batch in &self.kept {
            let rows = batch.num_rows() as u64;
            if number > before && number <= before + rows {
                return Some((batch, (number - before - 1) as usize));
            }
            before += rows;
        }
        None
    }

    /// Up to `count` rows behind the position, in one piece of a batch; moves behind them. `None` at the end.
    async fn forward(&mut self, count: u64) -> PgResult<Option<RecordBatch>> {
        if count == 0 {
            return Ok(None);
        }
        if !self.reach(self.position + 1).await? {
            self.position = self.total().unwrap_or(self.position) + 1;
            return Ok(None);
        }
        let wanted = usize::try_from(count).unwrap_or(usize::MAX);
        let Some((batch, start)) = self.locate(self.position + 1) else { return Ok(None) };
        let rows = (batch.num_rows() - start).min(wanted);
        self.pass_changed(self.position + rows as u64)?;
        let Some((batch, start)) = self.locate(self.position + 1) else { return Ok(None) };
        let rows = (batch.num_rows() - start).min(rows);
        let out = self.show(&batch.slice(start, rows))?;
        self.position += rows as u64;
        Ok(Some(out))
    }

    /// Up to `count` rows before the position, the nearest first.
    fn backward(&mut self, count: u64) -> PgResult<Vec<RecordBatch>> {
        let mut out = Vec::new();
        let mut left = count;
        while left > 0 {
            if self.position <= 1 {
                self.position = 0;
                break;
            }
            let Some((batch, at)) = self.locate(self.position - 1) else { return Err(forward_only()) };
            let rows = (at + 1).min(usize::try_from(left).unwrap_or(usize::MAX));
            let indices: UInt32Array = (0..rows).map(|i| u32::try_from(at - i).unwrap_or(0)).collect();
            let piece = take_record_batch(batch, &indices).map_err(PgError::from)?;
            out.push(self.show(&piece)?);
            self.position -= rows as u64;
            left -= rows as u64;
        }
        Ok(out)
    }

    /// The columns of rows that are shown.
    fn show(&self, batch: &RecordBatch) -> PgResult<RecordBatch> {
        let shown: Vec<usize> = (0..self.shown).collect();
        batch.project(&shown).map_err(PgError::from)
    }

    /// The row that the cursor stands on, with its key.
    pub(super) fn current(&self) -> Option<RecordBatch> {
        self.locate(self.position).map(|(batch, at)| batch.slice(at, 1))
    }

    fn check_backward(&self) -> PgResult<()> {
        if self.history == History::None { Err(forward_only()) } else { Ok(()) }
    }
}

/// The rows of tables that a cursor locks.
struct LockedRows {
    txn: Arc<Transaction>,
    /// What the transaction had written when the cursor was declared.
    before: Overlay,
    /// Each table with the columns of its keys in the cursor's batches.
    tables: Vec<(Arc<RowCodec>, Vec<usize>)>,
}

impl LockedRows {
    /// Which rows of a batch are as they were; only those from one to another are looked at.
    fn unchanged(&self, batch: &RecordBatch, from: usize, to: usize) -> PgResult<BooleanArray> {
        let mut left = vec![true; batch.num_rows()];
        let part = batch.slice(from, to - from);
        for (codec, columns) in &self.tables {
            let columns: Vec<ArrayRef> = columns.iter().filter_map(|at| part.columns().get(*at).cloned()).collect();
            // The null-extended side of an outer join has no row.
            let present: Vec<bool> = (0..part.num_rows()).map(|row| columns.first().is_some_and(|c| c.is_valid(row))).collect();
            let keys = codec.encode_keys(&columns, part.num_rows(), Some(&present))?;
            let rows = present.iter().enumerate().filter(|(_, present)| **present).map(|(row, _)| row);
            for (row, key) in rows.zip(keys.iter()) {
                if self.txn.changed_since(&self.before, codec.storage, key)?
                    && let Some(left) = left.get_mut(from + row)
                {
                    *left = false;
                }
            }
        }
        Ok(left.into())
    }
}

fn forward_only() -> PgError {
    PgError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, "cursor can only scan forward")
        .hint("Declare it with SCROLL option to enable backward scan.")
}

fn undefined_cursor(name: &str) -> PgError {
    PgError::new(SqlState::INVALID_CURSOR_NAME, format!("cursor \"{name}\" does not exist"))
}

/// A FETCH in simpler terms.
enum Motion {
    Forward(u64),
    Backward(u64),
    Current,
    /// To the row with this number, which is fetched if there is one.
    To(u64),
    /// The same, counted from the end.
    ToLast(u64),
}

fn motion(direction: FetchDirection, position: u64) -> Motion {
    let count = |n: i64| if n == i64::MAX { u64::MAX } else { n.unsigned_abs() };
    match direction {
        FetchDirection::Forward(0) | FetchDirection::Backward(0) | FetchDirection::Relative(0) => Motion::Current,
        FetchDirection::Forward(n) | FetchDirection::Backward(n) => {
            let forward = matches!(direction, FetchDirection::Forward(_)) == (n > 0);
            if forward { Motion::Forward(count(n)) } else { Motion::Backward(count(n)) }
        }
        FetchDirection::Absolute(n) if n >= 0 => Motion::To(count(n)),
        FetchDirection::Absolute(n) => Motion::ToLast(count(n)),
        FetchDirection::Relative(n) => Motion::To(position.saturating_add_signed(n)),
    }
}

/// A cursor whose query locks rows is none that is kept, moves back or sees nothing of later changes.
fn check_locking(declare: &Declare) -> PgResult<()> {
    let ast::Statement::Query(query) = &*declare.query else { return Ok(()) };
    let Some(lock) = query.locks.first() else { return Ok(()) };
    let clause = stoa_syntax::locking::strength_and_tables(lock).0.clause();
    if declare.hold {
        return Err(PgError::unsupported(format!("DECLARE CURSOR WITH HOLD ... {clause} is not supported"))
            .detail("Holdable cursors must be READ ONLY."));
    }
    if declare.scroll == Some(true) {
        return Err(PgError::unsupported(format!("DECLARE SCROLL CURSOR ... {clause} is not supported"))
            .detail("Scrollable cursors must be READ ONLY."));
    }
    if declare.insensitive {
        return Err(PgError::new(SqlState::INVALID_CURSOR_DEFINITION, format!("DECLARE INSENSITIVE CURSOR ... {clause} is not valid"))
            .detail("Insensitive cursors must be READ ONLY."));
    }
    Ok(())
}

impl Session {
    pub(crate) async fn declare(
        &mut self,
        declare: &Declare,
        statement: &Arc<PreparedStatement>,
        params: Vec<ScalarValue>,
    ) -> PgResult<Execution> {
        if !declare.hold {
            self.check_shares_transaction("DECLARE CURSOR")?;
        }
        if self.cursors.contains_key(&declare.name) {
            return Err(PgError::new(SqlState::DUPLICATE_CURSOR, format!("cursor \"{}\" already exists", declare.name)));
        }
        let bound = self.bound_and_allowed(statement).await?;
        if matches!(bound.bound.body, stoa_sql::typed::tree::BoundBody::Mutation(_)) {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "DECLARE CURSOR takes a query"));
        }
        if writes(&bound.bound).is_some() {
            return Err(PgError::unsupported("DECLARE CURSOR must not contain data-modifying statements in WITH"));
        }
        check_locking(declare)?;
        let columns = columns_of(&bound.bound);
        let (keyed, base) = match cursor_row::with_keys(&bound.bound) {
            Some((tree, base)) => (Some(bound.with_tree(tree)), base),
            None => (None, BaseRows::default()),
        };
        let read = keyed.as_ref().unwrap_or(&bound);
        let txn = self.transaction()?;
        let Execution::Rows(rows) = self.run_bound(read, params.into(), statement.text.clone()).await? else {
            return Err(PgError::internal("a query gave no rows"));
        };
        let locked = match keyed.as_ref().map(|keyed| base.locked_tables(&keyed.bound)).filter(|tables| !tables.is_empty()) {
            Some(tables) => Some(LockedRows { before: txn.read_view().overlay, txn, tables: tables_of_keys(tables)? }),
            None => None,
        };
        let history = match (declare.scroll, declare.hold) {
            (Some(true), _) => History::All,
            (Some(false), _) => History::None,
            (None, _) if locked.is_some() => History::None,
            (None, _) => History::Casual,
        };
        let reservation = MemoryConsumer::new(format!("cursor {}", declare.name)).register(&self.database.runtime.memory_pool);
        let state = CursorRows {
            shown: columns.len(),
            rest: Some(rows.stream),
            kept: VecDeque::new(),
            dropped: 0,
            kept_rows: 0,
            kept_bytes: 0,
            reservation,
            history,
            no_scroll: history == History::None,
            locked,
            failed: false,
            position: 0,
        };
        let state = Arc::new(Mutex::new(state));
        self.shared.cursors.lock().push(CursorInfo {
            name: declare.name.clone(),
            statement: statement.statement_text.clone(),
            is_holdable: declare.hold,
            is_binary: declare.binary,
            is_scrollable: declare.scroll != Some(false),
            creation_time_us: self.statement_us,
            tables: bound.locks.iter().map(|lock| lock.table).collect(),
            held: false,
            position: Arc::new(CursorPosition { base, rows: Arc::downgrade(&state) }),
        });
        let cursor = Cursor {
            columns,
            context: rows.context,
            hold: declare.hold,
            is_binary: declare.binary,
            depth: self.block.depth(),
            held: false,
            state,
        };
        self.cursors.insert(declare.name.clone(), cursor);
        Ok(Execution::Done("DECLARE CURSOR".into()))
    }

    /// The columns of a cursor, as Describe of a portal with its name answers.
    ///
    /// # Errors
    /// 34000.
    pub fn cursor_columns(&self, name: &str) -> PgResult<Arc<[OutputColumn]>> {
        self.cursors.get(name).map(|c| c.columns.clone()).ok_or_else(|| undefined_cursor(name))
    }

    pub(crate) async fn fetch(&mut self, name: &str, direction: FetchDirection, move_only: bool) -> PgResult<Execution> {
        let Some(cursor) = self.cursors.get(name) else { return Err(undefined_cursor(name)) };
        let (columns, shared, is_binary) = (cursor.columns.clone(), cursor.state.clone(), cursor.is_binary);
        // Values are shown with the settings that hold now.
        let context = EvalContext { settings: self.shared.settings().value.clone(), ..cursor.context.clone() };
        let mut state = shared.lock().await;
        if state.failed {
            return Err(PgError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, format!("portal \"{name}\" cannot be run")));
        }
        let position = state.position;
        let batches: Vec<RecordBatch> = match motion(direction, position) {
            Motion::Forward(count) if !move_only => {
                drop(state);
                let stream = forward_stream(shared, count);
                return Ok(Execution::Rows(Rows { columns, context, stream, tag: RowsTag::Counted("FETCH"), is_binary }));
            }
            Motion::Forward(count) => {
                let mut left = count;
                while let Some(batch) = state.forward(left).await? {
                    left -= batch.num_rows() as u64;
                    state.forget();
                }
                return Ok(Execution::Done(format!("MOVE {}", count - left)));
            }
            Motion::Backward(count) => {
                state.check_backward()?;
                state.backward(count)?
            }
            // The row is fetched anew, which takes a step back.
            Motion::Current if state.no_scroll && !move_only && state.current().is_some() => return Err(forward_only()),
            Motion::Current => state.current().map(|row| state.show(&row)).transpose()?.into_iter().collect(),
            Motion::To(number) => {
                if number <= position && number != 0 && number != position {
                    state.check_backward()?;
                }
                fetch_at(&mut state, number).await?
            }
            Motion::ToLast(_) if state.no_scroll => return Err(forward_only()),
            Motion::ToLast(back) => {
                state.read_all().await?;
                let total = state.total().unwrap_or(0);
                if total + 1 > back { fetch_at(&mut state, total + 1 - back).await? } else { fetch_at(&mut state, 0).await? }
            }
        };
        let count: usize = batches.iter().map(RecordBatch::num_rows).sum();
        if move_only {
            return Ok(Execution::Done(format!("MOVE {count}")));
        }
        let stream = stream::iter(batches.into_iter().map(Ok)).boxed();
        Ok(Execution::Rows(Rows { columns, context, stream, tag: RowsTag::Counted("FETCH"), is_binary }))
    }

    pub(crate) fn close_cursor(&mut self, name: &str) -> PgResult<()> {
        self.cursors.shift_remove(name).ok_or_else(|| undefined_cursor(name))?;
        self.shared.cursors.lock().retain(|c| c.name != name);
        Ok(())
    }

    pub(crate) fn close_all_cursors(&mut self) {
        self.cursors.clear();
        self.shared.cursors.lock().clear();
    }

    fn close_cursors_if(&mut self, gone: impl Fn(&Cursor) -> bool) {
        if self.cursors.is_empty() {
            return;
        }
        self.cursors.retain(|_, cursor| !gone(cursor));
        let cursors = &self.cursors;
        self.shared.cursors.lock().retain(|c| cursors.contains_key(&c.name));
    }

    /// ROLLBACK TO a savepoint: cursors that are younger are gone.
    pub(crate) fn close_cursors_above(&mut self, depth: usize) {
        self.close_cursors_if(|cursor| !cursor.held && cursor.depth > depth);
    }

    /// RELEASE: younger cursors now belong to what is around the savepoint.
    pub(crate) fn release_cursors(&mut self, depth: usize) {
        for cursor in self.cursors.values_mut() {
            cursor.depth = cursor.depth.min(depth);
        }
    }

    /// Before a commit: cursors WITH HOLD are read to their end.
    pub(crate) async fn hold_cursors(&mut self) -> PgResult<()> {
        let open: Vec<_> = self.cursors.values().filter(|c| c.hold && !c.held).map(|c| c.state.clone()).collect();
        for state in open {
            state.lock().await.read_all().await?;
        }
        Ok(())
    }

    /// The transaction ended: held cursors stay.
    pub(crate) fn end_cursors(&mut self, commit: bool) {
        self.close_cursors_if(|cursor| !(cursor.held || commit && cursor.hold));
        for cursor in self.cursors.values_mut() {
            cursor.held = true;
        }
        for info in self.shared.cursors.lock().iter_mut() {
            info.tables = Box::default();
            info.held = true;
        }
    }
}

/// How the keys of tables are made of the columns of a cursor's batches.
fn tables_of_keys(tables: Vec<(Arc<TableDescriptor>, Vec<usize>)>) -> PgResult<Vec<(Arc<RowCodec>, Vec<usize>)>> {
    tables.into_iter().map(|(table, columns)| Ok((RowCodec::of(&table)?, columns))).collect()
}

/// Goes to a row; gives it if there is one.
async fn fetch_at(state: &mut CursorRows, number: u64) -> PgResult<Vec<RecordBatch>> {
    if number == 0 {
        state.position = 0;
        return Ok(Vec::new());
    }
    while state.dropped + state.kept_rows < number || !state.reach(number).await? {
        state.pass_changed(u64::MAX)?;
        // The rows passed by are dropped as they come.
        state.position = state.dropped + state.kept_rows;
        if !state.reach(state.position + 1).await? {
            state.position = state.total().unwrap_or(state.position) + 1;
            return Ok(Vec::new());
        }
    }
    state.position = number;
    match state.current() {
        Some(row) => Ok(vec![state.show(&row)?]),
        None => Err(forward_only()),
    }
}

/// Reads a cursor as the stream is read.
fn forward_stream(state: Arc<Mutex<CursorRows>>, count: u64) -> BoxStream<'static, PgResult<RecordBatch>> {
    stream::try_unfold((state, count), |(state, left)| async move {
        let mut rows = state.lock().await;
        rows.forget();
        let Some(batch) = rows.forward(left).await? else { return Ok(None) };
        drop(rows);
        let left = left - batch.num_rows() as u64;
        Ok(Some((batch, (state, left))))
    })
    .boxed()
}

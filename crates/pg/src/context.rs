//! What a kernel may know besides its arguments: settings, the two clocks, and the system it runs in.

use crate::error::{PgError, PgResult};
use crate::settings::ValueSettings;
use datafusion_common::ScalarValue;
use std::fmt::Debug;
use std::sync::{Arc, LazyLock};
use stoa_text::regexp::Interrupt;

/// The statement's environment. Cheap to clone.
#[derive(Clone, Debug)]
pub struct EvalContext {
    pub settings: Arc<ValueSettings>,
    /// When the transaction began, as a timestamptz: `now()`.
    pub transaction_time: i64,
    /// When the statement began, as a timestamptz.
    pub statement_time: i64,
    pub system: Arc<dyn System>,
}

/// The database around a kernel: names of catalog objects, sessions, sequences.
pub trait System: Send + Sync + Debug {
    /// The relation's name as `regclass` prints it: qualified if the search path does not find it, quoted where needed.
    fn relation_name(&self, oid: u32) -> Option<String>;
    /// The OID of a relation named as SQL names it; `None` if there is none.
    fn relation_oid(&self, name: &str) -> PgResult<Option<u32>>;
    /// The name of a schema.
    fn schema_name(&self, oid: u32) -> Option<String>;
    /// The role whose rights count; 0 where there is none.
    fn role(&self) -> u32 {
        0
    }
    /// Whether rows that policies hide are left out, rather than being an error: `row_security`.
    fn row_security(&self) -> bool {
        true
    }
    /// Whether the role whose rights count may look into a schema.
    fn may_use_schema(&self, _: u32) -> bool {
        true
    }
    /// For loops that may run long.
    ///
    /// # Errors
    /// 57014 when the statement was cancelled or has run too long.
    fn check_interrupt(&self) -> PgResult<()> {
        Ok(())
    }
    /// A function that only the engine can answer, called for one row: `nextval`, `pg_get_viewdef`, `current_setting`.
    fn call(&self, function: &str, args: &[ScalarValue], result: &crate::SqlType) -> PgResult<ScalarValue>;
}

/// A system without objects: for tests and for folding constants.
#[derive(Debug)]
pub struct NoSystem;

impl System for NoSystem {
    fn relation_name(&self, _: u32) -> Option<String> {
        None
    }
    fn relation_oid(&self, _: &str) -> PgResult<Option<u32>> {
        Ok(None)
    }
    fn schema_name(&self, _: u32) -> Option<String> {
        None
    }
    fn call(&self, function: &str, _: &[ScalarValue], _: &crate::SqlType) -> PgResult<ScalarValue> {
        Err(PgError::unsupported(format!("function {function} needs a session")))
    }
}

impl EvalContext {
    /// The same with the settings by which values are printed where their text is stored: ISO dates, intervals of PostgreSQL's own style,
    /// times in UTC, all digits of floats. What is printed so is read as the same value whatever the settings are then.
    #[must_use]
    pub fn stored_form(&self) -> Self {
        Self { settings: Self::default().settings, ..self.clone() }
    }
}

impl Interrupt for EvalContext {
    fn check_interrupt(&self) -> PgResult<()> {
        self.system.check_interrupt()
    }
}

impl Default for EvalContext {
    fn default() -> Self {
        static NOTHING: LazyLock<(Arc<ValueSettings>, Arc<NoSystem>)> = LazyLock::new(|| (Arc::default(), Arc::new(NoSystem)));
        let (settings, system) = &*NOTHING;
        Self { settings: Arc::clone(settings), transaction_time: 0, statement_time: 0, system: system.clone() }
    }
}

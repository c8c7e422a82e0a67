//! The typed tree, and what its expressions mean: kernels, constants, errors that may be raised, DataFusion's expressions of them.
//!
//! The binder makes the tree; planning, writing and the search for words read it. Nothing here looks at a catalog or runs a plan.
//! Reading order: [`tree`] → [`children`] → [`walk`] → [`lost`] → [`kernel`] → [`constant`] → [`udf`] → [`raises`] → [`guard`] → [`barrier`] → [`match_config`] → [`worded`] → [`expr`] → [`evaluator`].

pub mod barrier;
pub mod branches;
pub mod children;
pub mod condition;
pub mod constant;
pub mod error;
pub mod evaluator;
pub mod expr;
pub mod guard;
pub mod kernel;
pub mod lost;
pub mod match_config;
pub mod once;
pub mod pull_up;
pub mod raises;
pub mod sorted;
pub mod tree;
pub mod udf;
pub mod volatility;
pub mod walk;
pub mod worded;

pub use error::from_datafusion;
use tree::ColId;

/// Runs a step of a recursion, on more stack if there is little left.
pub fn deeper<T>(step: impl FnOnce() -> T) -> T {
    /// What a step takes at most, and by how much the stack grows.
    const STEP_BYTES: usize = 256 << 10;
    const STACK_BYTES: usize = 4 << 20;
    stacker::maybe_grow(STEP_BYTES, STACK_BYTES, step)
}

/// The name of a column in plans.
#[must_use]
pub fn column_name(id: ColId) -> String {
    let mut name = String::with_capacity(11);
    write_column_name(id, &mut name);
    name
}

/// Appends [`column_name`].
pub fn write_column_name(id: ColId, out: &mut String) {
    let mut name = [b'c'; 11];
    let (mut at, mut left) = (name.len(), id.0);
    loop {
        at -= 1;
        if let Some(digit) = name.get_mut(at) {
            *digit = b'0' + (left % 10) as u8;
        }
        left /= 10;
        if left == 0 {
            break;
        }
    }
    out.push_str(name.get(at - 1..).and_then(|name| std::str::from_utf8(name).ok()).unwrap_or_default());
}

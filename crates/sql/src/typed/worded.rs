//! Calls that SQL writes with words, `TRIM(BOTH FROM a)`, beside those by name, `btrim(a)`: each is a form of a function that differs in
//! nothing but how it is printed.
//!
//! Invariant: a form has the OID of its function, so that expressions of both are equal.

use crate::typed::tree::{Expr, ExprKind};
use std::sync::{Arc, LazyLock};
use stoa_pg::registry::{Func, Registry};

/// What the words call.
const NAMES: [&str; 8] = ["btrim", "extract", "ltrim", "overlay", "position", "rtrim", "substring", "timezone"];

static FORMS: LazyLock<Vec<Arc<Func>>> = LazyLock::new(|| {
    let functions = NAMES.iter().flat_map(|name| Registry::get().functions(name));
    functions.map(|func| Arc::new(Func::clone(func))).collect()
});

/// A call as one that was written with words.
#[must_use]
pub fn in_words(mut call: Expr) -> Expr {
    if let ExprKind::Func { func, .. } = &mut call.kind
        && let Some(form) = FORMS.iter().find(|form| form.oid == func.0.oid)
    {
        func.0 = Arc::clone(form);
    }
    call
}

/// Whether a call was written with words.
#[must_use]
pub fn is_worded(func: &Arc<Func>) -> bool {
    FORMS.iter().any(|form| Arc::ptr_eq(form, func))
}

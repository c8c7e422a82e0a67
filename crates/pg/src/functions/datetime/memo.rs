//! Kernels whose text argument names something that is looked up: a unit, a zone, a template. It is looked up once a batch when it
//! is constant, and again only when it changes when it is not.

use crate::args::{Call, Kernel, Kind, Reader, Text, arg};
use crate::error::PgResult;
use std::sync::Arc;

/// The last name and what it means.
#[derive(Debug)]
pub struct Memo<T> {
    last: Option<(String, T)>,
}

impl<T> Memo<T> {
    #[must_use]
    pub fn new() -> Self {
        Memo { last: None }
    }

    /// What a name means.
    pub fn get(&mut self, name: &str, find: impl FnOnce(&str) -> PgResult<T>) -> PgResult<&T> {
        if self.last.as_ref().is_none_or(|(last, _)| last != name) {
            self.last = None;
            self.last = Some((name.to_string(), find(name)?));
        }
        match &self.last {
            Some((_, found)) => Ok(found),
            None => Err(crate::error::PgError::internal("a memo without value")),
        }
    }
}

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Memo::new()
    }
}

/// A strict kernel of a name and a value, which stand at these places among the arguments.
pub fn named<M, V: Kind, R: Kind>(
    name_at: usize,
    value_at: usize,
    find: impl Fn(&Call, &str) -> PgResult<M> + Send + Sync + 'static,
    f: impl for<'a> Fn(&Call, &M, V::In<'a>) -> PgResult<Option<R::Out>> + Send + Sync + 'static,
) -> Kernel {
    Arc::new(move |call, args| {
        let names = Reader::<Text>::new(arg(args, name_at)?)?;
        let values = Reader::<V>::new(arg(args, value_at)?)?;
        let mut memo = Memo::new();
        let mut out = R::builder(call.rows);
        for row in 0..call.rows {
            let result = match (names.get(row)?, values.get(row)?) {
                (Some(name), Some(value)) => f(call, memo.get(name, |name| find(call, name))?, value)?,
                _ => None,
            };
            R::push(&mut out, result)?;
        }
        R::finish(out, call.ret)
    })
}

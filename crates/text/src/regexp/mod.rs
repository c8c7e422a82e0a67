//! PostgreSQL's regular expressions, and those of `SIMILAR TO`.
//!
//! Reading order: [`syntax`] (pattern to tree) → [`class`] (sets of characters) → [`engine`] (searching) → [`program`] and [`dissect`]
//! (PostgreSQL's choice among matches). A pattern that was used lately is kept compiled by the thread.

mod class;
mod dissect;
mod engine;
mod program;
mod similar;
mod syntax;

pub use dissect::Span;
pub use engine::{Regexp, Searcher, compiled};
pub use similar::similar_escape;
pub use syntax::{Mode, Options};

use std::fmt::Debug;
use stoa_error::PgResult;

/// Who searches: a search that takes long asks again and again whether it is to go on.
pub trait Interrupt: Debug + Send + Sync {
    /// # Errors
    /// 57014 when the statement was cancelled or has run too long.
    fn check_interrupt(&self) -> PgResult<()>;
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use stoa_error::{PgError, SqlState};

    /// A statement that is cancelled while it is asked for the third time.
    #[derive(Debug, Default)]
    struct Cancelled(AtomicU32);

    impl Interrupt for Cancelled {
        fn check_interrupt(&self) -> PgResult<()> {
            if self.0.fetch_add(1, Ordering::Relaxed) < 2 {
                return Ok(());
            }
            Err(PgError::new(SqlState::QUERY_CANCELED, "canceling statement due to user request"))
        }
    }

    #[test]
    fn a_search_that_takes_long_ends_with_its_statement() {
        // Only an odd number of letters tells that nothing matches, which takes a look at every pair of lengths.
        let regexp = compiled(r"^(a+)(a+)\1\2b$", Options::default()).unwrap();
        let (odd, even) = ("a".repeat(201) + "b", "aaaaaab");
        let statement = Cancelled::default();
        let searcher = Searcher::new(Some(&statement), regexp);
        let mut spans = Vec::new();
        assert!(searcher.find(even, 0, &mut spans).unwrap());
        assert_eq!(spans, [Some((0, 7)), Some((0, 2)), Some((2, 3))]);
        assert_eq!(statement.0.load(Ordering::Relaxed), 0, "a short search asked");
        assert_eq!(searcher.find(&odd, 0, &mut spans).unwrap_err().code(), SqlState::QUERY_CANCELED);
        assert_eq!(statement.0.load(Ordering::Relaxed), 3);
    }
}

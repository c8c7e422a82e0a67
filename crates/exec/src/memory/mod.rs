//! The memory of the process: one governor with one policy.
//!
//! | question | who asks | who answers |
//! |---|---|---|
//! | how much may this part have? | who opens a store, a pool, a cache | [`shares`], once |
//! | may this statement begin to work? | sessions, before they plan | [`admission`] |
//! | may this operator keep so much more? | operators, write sets, sorters, cursors | [`pool`] |
//! | may this value be made? | kernels, what is sent to clients | [`stoa_pg::memory`], the account of the process |
//!
//! The account is below all of them, for kernels ask it; the pool asks it too, so that nobody is given what the process does not have.
//! Decisions 10, 12 and 40 (`docs/decisions`) say why. Reading order: [`shares`] → [`governor`] → [`pool`] → [`admission`].

pub mod admission;
pub mod governor;
pub mod pool;
pub mod shares;

pub use governor::Governor;
pub use pool::StatementPool;
pub use shares::Shares;

//! What DataFusion does otherwise than we need, a file each, and what we do about it.
//!
//! Each file names the issue of DataFusion that it is about, where there is one, and the test that says when it may go: one of those called
//! `still_…` fails when DataFusion does what we need, or the statements that fail without the file are named. Rules of DataFusion that are
//! not used at all are listed in [`crate::settings::planner_rules`]; decision 16 says why.
//!
//! | file | what DataFusion does |
//! |---|---|
//! | [`dependencies`] | takes what determines one column for a key of all |
//! | [`effects`] | leaves out what nobody reads, values of sequences included |
//! | [`filter_barrier`] | moves conditions without columns below aggregates that give a row of no rows |
//! | [`forget_properties`] | takes what is constant below an outer join or GROUPING SETS for constant above |
//! | [`in_order`] | gives the rows of partitions as they come |
//! | [`joins_that_wait`] | waits for parts of a join that nobody asks for rows |
//! | [`merged_comparisons`] | merges comparisons with NULL, from two sides and of zeros |
//! | [`nested_keys`] | tells scans the wrong columns of keys that are parts of others |
//! | [`options`] | filters and checks that go wrong |
//! | [`restore_sorts`] | leaves sort keys out that are missed above |
//! | [`skip_rows`] | counts OFFSET in an order that its rules change |
//! | [`sliding`] | wants rows taken back of aggregates that cannot |
//! | [`top_groups`] | hands limits down to groups that windows and other groups read |

pub mod dependencies;
pub mod effects;
pub mod filter_barrier;
pub mod forget_properties;
pub mod in_order;
pub mod joins_that_wait;
pub mod merged_comparisons;
pub mod nested_keys;
pub mod options;
pub mod restore_sorts;
pub mod skip_rows;
pub mod sliding;
pub mod top_groups;

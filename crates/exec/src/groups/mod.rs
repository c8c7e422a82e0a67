//! What is computed over the rows of a group or of a frame, where DataFusion does otherwise than PostgreSQL: aggregates and functions of windows.

pub mod array_agg;
pub mod decimal_sum;
pub mod distinct;
pub mod frame;

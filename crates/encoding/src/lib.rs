//! Bytes that sort as SQL sorts, and bytes that are small

pub mod numeric;

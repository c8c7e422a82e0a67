//! Here is a statement: do it

//! Syntax tree and catalog to typed tree: names, types, functions, parameters, and errors with positions.

pub mod tree;

//! Values: array.

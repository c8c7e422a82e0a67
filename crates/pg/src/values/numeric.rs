//! Values: numeric.

//! Values: number.

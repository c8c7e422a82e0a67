//! Values: string.

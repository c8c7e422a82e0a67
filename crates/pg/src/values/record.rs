//! Values: record.

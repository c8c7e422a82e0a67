//! Values: json.

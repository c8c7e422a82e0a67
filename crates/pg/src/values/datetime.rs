//! Values: datetime.

//! Values: timezone.

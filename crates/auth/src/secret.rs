//! Bytes that nobody is to see: wiped when dropped, and silent in `Debug`.

use std::fmt;
use zeroize::Zeroizing;

/// A password or a key in memory. It has no `Display`, and its `Debug` does not even tell its length.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<Vec<u8>>);

impl Secret {
    /// Takes the bytes; whoever had them before is to wipe their own copies.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// The bytes, for those who work with them.
    #[must_use]
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::new(text.as_bytes().to_vec())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn debug_tells_nothing() {
        assert_eq!(format!("{:?}", Secret::from("pencil")), "Secret(..)");
    }
}

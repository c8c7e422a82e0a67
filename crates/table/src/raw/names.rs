//! Names and bytes as HBase's shell writes them.

use crate::catalog::TableDescriptor;

/// HBase's name of the schema `public`.
pub const DEFAULT_NAMESPACE: &str = "default";

/// The schema of snapshots, which is no namespace.
pub const SNAPSHOTS: &str = "stoa_snapshots";

/// Of a snapshot: the table that it is of, as HBase names it, and when it was taken, which its comment says.
#[must_use]
pub fn snapshot_of(table: &TableDescriptor) -> Option<(&str, &str)> {
    let comment = table.comment.as_deref().filter(|_| table.is_raw() && !table.is_enabled())?;
    comment.strip_prefix("snapshot of ")?.rsplit_once(", ")
}

/// The schema of a namespace.
#[must_use]
pub fn schema_of(namespace: &str) -> &str {
    if namespace == DEFAULT_NAMESPACE { "public" } else { namespace }
}

/// The bytes that HBase's `toStringBinary` shows, with `\x00` for one; a backslash that begins no byte is one.
#[must_use]
pub fn from_binary(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        if let ([b'\\', b'x', high, low, ..], Some(more)) = (rest, rest.get(4..))
            && let (Some(high), Some(low)) = (char::from(*high).to_digit(16), char::from(*low).to_digit(16))
        {
            out.push((high * 16 + low) as u8);
            rest = more;
            continue;
        }
        out.push(*first);
        rest = after;
    }
    out
}

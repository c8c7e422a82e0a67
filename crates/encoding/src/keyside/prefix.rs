//! Ends of key ranges: the first key after all keys with a prefix.
//!
//! Invariant: a half-open range `[prefix, prefix_successor(prefix))` holds exactly the byte strings that begin with `prefix`.

/// The least byte string above all that begin with `prefix`; `None` when there is none (empty, or all `FF`): the range then
/// has no end.
#[must_use]
pub fn prefix_successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut successor = prefix.to_vec();
    advance_to_prefix_successor(&mut successor).then_some(successor)
}

/// Turns a prefix into its successor in place; `false` (and an empty buffer) when there is none.
pub fn advance_to_prefix_successor(prefix: &mut Vec<u8>) -> bool {
    while let Some(last) = prefix.last_mut() {
        if let Some(next) = last.checked_add(1) {
            *last = next;
            return true;
        }
        prefix.pop();
    }
    false
}

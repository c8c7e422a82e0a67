//! SASLprep of passwords, in PostgreSQL's order of steps.
//!
//! RFC 4013 asks for what is prohibited after normalization, PostgreSQL and its clients before it: U+0340 is prohibited to them, though it
//! would have become U+0300. Whoever did it the RFC's way would not know their passwords again. What may not be prepared is hashed as it came.

use crate::Secret;
use std::borrow::Cow;
use stringprep::tables;
use unicode_normalization::UnicodeNormalization;
use zeroize::Zeroizing;

/// The password as it is hashed: prepared, or as it is if it is no UTF-8 or may not be prepared.
pub(super) fn prepare(password: &Secret) -> Cow<'_, Secret> {
    match std::str::from_utf8(password.expose()).ok().filter(|text| !text.is_ascii()).and_then(saslprep) {
        Some(prepared) => Cow::Owned(prepared),
        None => Cow::Borrowed(password),
    }
}

fn saslprep(text: &str) -> Option<Secret> {
    // Room for all of it at once, so that no copy stays behind where it grew.
    let mut mapped = Zeroizing::new(Vec::with_capacity(text.len()));
    for c in text.chars() {
        if tables::non_ascii_space_character(c) {
            mapped.push(' ');
        } else if !tables::commonly_mapped_to_nothing(c) {
            mapped.push(c);
        }
    }
    let (&first, &last) = (mapped.first()?, mapped.last()?);
    if mapped.iter().any(|&c| is_prohibited(c)) {
        return None;
    }
    let right_to_left = tables::bidi_r_or_al;
    if mapped.iter().any(|&c| right_to_left(c))
        && (!right_to_left(first) || !right_to_left(last) || mapped.iter().any(|&c| tables::bidi_l(c)))
    {
        return None;
    }
    // One character of NFKC is at most eighteen, each of at most four bytes.
    let mut bytes = Vec::with_capacity(mapped.len().saturating_mul(72));
    for c in mapped.iter().copied().nfkc() {
        bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
    Some(Secret::new(bytes))
}

fn is_prohibited(c: char) -> bool {
    tables::non_ascii_space_character(c)
        || tables::ascii_control_character(c)
        || tables::non_ascii_control_character(c)
        || tables::private_use(c)
        || tables::non_character_code_point(c)
        || tables::surrogate_code(c)
        || tables::inappropriate_for_plain_text(c)
        || tables::inappropriate_for_canonical_representation(c)
        || tables::change_display_properties_or_deprecated(c)
        || tables::tagging_character(c)
        || tables::unassigned_code_point(c)
}

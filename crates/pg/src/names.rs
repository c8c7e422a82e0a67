//! Names in strings, as the types of objects read them.

use crate::error::{PgError, PgResult};
use crate::sqlstate::SqlState;

/// The parts of a name in a string, as `regclass` reads them.
///
/// # Errors
/// 42602 for what is no name.
pub fn parse_name(text: &str) -> PgResult<Vec<String>> {
    let invalid = || PgError::new(SqlState::INVALID_NAME, "invalid name syntax");
    let mut parts = Vec::new();
    let mut chars = text.trim().chars().peekable();
    loop {
        while chars.next_if(|c| c.is_whitespace()).is_some() {}
        let mut part = String::new();
        if chars.next_if_eq(&'"').is_some() {
            loop {
                match chars.next() {
                    Some('"') if chars.next_if_eq(&'"').is_some() => part.push('"'),
                    Some('"') => break,
                    Some(c) => part.push(c),
                    None => return Err(invalid()),
                }
            }
        } else {
            // As PostgreSQL: anything up to a dot or white space.
            while let Some(c) = chars.next_if(|c| *c != '.' && !c.is_whitespace()) {
                part.extend(c.to_lowercase());
            }
        }
        if part.is_empty() {
            return Err(invalid());
        }
        parts.push(part);
        while chars.next_if(|c| c.is_whitespace()).is_some() {}
        match chars.next() {
            None => return Ok(parts),
            Some('.') => {}
            Some(_) => return Err(invalid()),
        }
    }
}

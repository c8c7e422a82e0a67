//! The type of rows that come together: in ARRAY, VALUES, UNION, CASE, COALESCE.
//!
//! PostgreSQL calls each of them `record`, and a value keeps the types of its own fields. Here they have one type, so that its fields must be able to
//! hold those of each row without a change that could be seen: without modifiers where these differ, and as the wider type of the same family.

use super::resolve::common_form;
use std::sync::Arc;
use stoa_pg::types::RecordType;
use stoa_pg::{PgError, PgType, SqlType};

/// Whether values are rows, or arrays of rows.
pub(super) fn is_row(ty: &PgType) -> bool {
    match ty {
        PgType::Record(Some(_)) => true,
        PgType::Array(element) => is_row(element),
        _ => false,
    }
}

/// The type of both kinds of rows, named as the first; none if there is no such type.
pub(super) fn common_row(a: &PgType, b: &PgType) -> Option<PgType> {
    match (a, b) {
        (PgType::Array(a), PgType::Array(b)) => common_row(a, b).map(|element| element.array_of()),
        (PgType::Record(Some(a)), PgType::Record(Some(b))) if a.fields.len() == b.fields.len() => {
            let fields = a.fields.iter().zip(&b.fields).map(|((name, a), (_, b))| Some((name.clone(), common_field(a, b)?)));
            Some(PgType::Record(Some(Arc::new(RecordType { fields: fields.collect::<Option<_>>()? }))))
        }
        _ => None,
    }
}

fn common_field(a: &SqlType, b: &SqlType) -> Option<SqlType> {
    const NUMBERS: [PgType; 4] = [PgType::Int2, PgType::Int4, PgType::Int8, PgType::Numeric];
    const TEXTS: [PgType; 2] = [PgType::Varchar, PgType::Text];
    if is_row(&a.ty) && is_row(&b.ty) {
        return common_row(&a.ty, &b.ty).map(SqlType::new);
    }
    if a.ty == b.ty {
        return common_form([(a, false), (b, false)].into_iter());
    }
    match (&a.ty, &b.ty) {
        (PgType::Unknown, _) => return Some(b.clone()),
        (_, PgType::Unknown) => return Some(a.clone()),
        _ => {}
    }
    // The same digits, the same characters.
    [&NUMBERS[..], &TEXTS[..]].into_iter().find_map(|family| {
        let place = |ty: &SqlType| family.iter().position(|other| *other == ty.ty);
        family.get(place(a)?.max(place(b)?)).cloned().map(SqlType::new)
    })
}

/// 0A000: rows whose fields have no types together.
pub(super) fn no_common_row(what: &str) -> PgError {
    PgError::unsupported(format!("{what} of rows whose fields have different types is not supported"))
        .hint("Cast the fields to the same types.")
}

//! Casts among the string types, and from numbers and truth values that have a text of their own in casts.

use crate::args::{Bool, Int4, Kernel, Kind, Reader, Text, arg, strict1};
use crate::error::PgError;
use crate::registry::{CastContext, CastKind, Registry};
use crate::types::{PgType, SqlType};
use crate::values::object;
use crate::values::string::Shape;
use arrow::array::StringViewBuilder;
use std::sync::Arc;

/// Fits strings to what the target keeps, lengths aside.
fn shaped(to: &PgType) -> CastKind {
    let shape = Shape::of(&SqlType::new(to.clone()));
    let kernel: Kernel = Arc::new(move |call, args| {
        let input = Reader::<Text>::new(arg(args, 0)?)?;
        let mut out = StringViewBuilder::with_capacity(call.rows);
        for row in 0..call.rows {
            match input.get(row)? {
                Some(value) => out.append_value(shape.fit(value, true)?),
                None => out.append_null(),
            }
        }
        Text::finish(out, call.ret)
    });
    CastKind::Kernel(kernel)
}

/// Registers the entries of this file.
pub fn register(r: &mut Registry) {
    use CastContext::{Assignment, Explicit, Implicit};
    use PgType::{Bpchar, Char, Name, Varchar};
    let text = PgType::Text;
    // What is shown of an expression is its text.
    r.add_cast(PgType::PgNodeTree, PgType::Text, Implicit, CastKind::Relabel);
    for (from, to, context) in [
        (&text, &Varchar, Implicit),
        (&text, &Bpchar, Implicit),
        (&text, &Name, Implicit),
        (&text, &Char, Assignment),
        (&Varchar, &text, Implicit),
        (&Varchar, &Bpchar, Implicit),
        (&Varchar, &Name, Implicit),
        (&Varchar, &Char, Assignment),
        (&Bpchar, &text, Implicit),
        (&Bpchar, &Varchar, Implicit),
        (&Bpchar, &Name, Implicit),
        (&Bpchar, &Char, Assignment),
        (&Name, &text, Implicit),
        (&Name, &Varchar, Assignment),
        (&Name, &Bpchar, Assignment),
        (&Char, &text, Implicit),
        (&Char, &Varchar, Assignment),
        (&Char, &Bpchar, Assignment),
    ] {
        let kind = match to {
            Name | Char => shaped(to),
            _ => CastKind::Relabel,
        };
        r.add_cast(from.clone(), to.clone(), context, kind);
    }

    let words = || strict1::<Bool, Text>(|_, value| Ok(if value { "true" } else { "false" }.to_owned()));
    for to in [text.clone(), Varchar, Bpchar] {
        r.add_cast(PgType::Bool, to, Assignment, CastKind::Kernel(words()));
    }

    for from in [text, Varchar] {
        // PostgreSQL has the first alone. Configurations were texts in definitions once.
        for to in [PgType::Regclass, PgType::Regconfig] {
            let ty = to.clone();
            let named = strict1::<Text, crate::args::Oid>(move |call, name| match ty {
                PgType::Regclass => object::relation_named(call.ctx, name),
                _ => object::object_oid(call.ctx, &ty, name),
            });
            r.add_cast(from.clone(), to, Implicit, CastKind::Kernel(named));
        }
    }

    // "char" is a signed byte to integers; characters beyond ASCII have no single byte in our encoding.
    let code = strict1::<Text, Int4>(|_, value| {
        Ok(match value.chars().next() {
            None => 0,
            Some(c) if c.is_ascii() => c as i32,
            Some(c) => i32::from(c.to_string().as_bytes().first().map_or(0, |byte| *byte as i8)),
        })
    });
    r.add_cast(Char, PgType::Int4, Explicit, CastKind::Kernel(code));
    let character = strict1::<Int4, Text>(|_, code| match code {
        0 => Ok(String::new()),
        1..=127 => Ok(char::from(code as u8).to_string()),
        -128..=-1 => Err(PgError::unsupported("a \"char\" beyond ASCII").hint("Use text for characters beyond ASCII.")),
        _ => Err(PgError::out_of_range("\"char\"")),
    });
    r.add_cast(PgType::Int4, Char, Explicit, CastKind::Kernel(character));
}
